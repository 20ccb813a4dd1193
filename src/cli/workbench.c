#include "cli/workbench.h"

#include "cli/command.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "cli/fleet.h"
#include "cli/front.h"
#include "ui/ui.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// A session that another process runs, as the lines that `tune --plain` prints of one: what the
// database gains is told to a front (front.h) as the engine would tell it.

struct follow {
    struct store *store;
    struct front front;
    struct session_record record; // as it was when it was last read
    struct arena arena;           // of it, emptied before each reading
    enum session_state state;     // that was told last: running or paused
    int64_t told, message;        // numbers of the last trial and of the last message told
    pid_t runner;                 // 0: nobody
};

static void tell(struct follow *f, struct event event)
{
    event.session = &f->record;
    front_on_event(&f->front, &event);
}

static bool read_session(struct follow *f, int64_t id, struct err *e)
{
    arena_finish(&f->arena);
    arena_init(&f->arena);
    f->runner = store_runner(f->store, id); // before the rows: what is read then is all it did
    if (!store_get_session(f->store, id, &f->arena, &f->record, e))
        return false;
    if (!f->runner && f->record.state == STATE_RUNNING)
        f->record.state = STATE_PAUSED;
    return true;
}

// --- how it begins ---

static bool skip_message(void *context, const struct message_record *m)
{
    struct follow *f = context;
    f->message = m->id;
    return true;
}

// The front counts what is there already; the best of that is a line, or nothing might be said for
// long.
static bool begin(struct follow *f, struct err *e)
{
    struct trial_record best;
    struct session_record record = f->record;
    f->state = record.state = STATE_RUNNING; // whatever it is now comes next
    front_on_event(&f->front, &(struct event){.kind = EVENT_SESSION, .session = &record});
    f->told = f->front.started_trials;
    if (!store_each_message(f->store, record.id, 0, skip_message, f, e) ||
        !store_get_trial(f->store, record.id, record.best_ask, &f->arena, &best, e))
        return false;
    if (f->runner && best.ask)
        tell(f, (struct event){.kind = EVENT_BEST, .trial = &best});
    return true;
}

// --- what is new ---

static bool tell_trial(void *context, const struct trial_record *t)
{
    struct follow *f = context;
    double best = f->front.best_seconds;
    f->told = t->number;
    tell(f, (struct event){.kind = EVENT_TRIAL, .trial = t});
    if (f->front.best_seconds != best)
        tell(f, (struct event){.kind = EVENT_BEST, .trial = t});
    return true;
}

// The log has the states too, "done: all 30 trials are done": those are told as what they are.
static bool is_of_state(const char *text)
{
    static const char *const states[] = {
        "running: ", "paused: ", "done: ", "stopped: ", "failed: "};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (str_starts(text, states[i]))
            return true;
    return false;
}

static bool tell_message(void *context, const struct message_record *m)
{
    struct follow *f = context;
    f->message = m->id;
    if (!is_of_state(m->text))
        tell(f, (struct event){.kind = EVENT_MESSAGE, .level = m->level, .text = m->text});
    return true;
}

static bool tell_new(struct follow *f, struct err *e)
{
    int64_t id = f->record.id;
    if (!store_each_numbered(f->store, id, f->told + 1, tell_trial, f, e) ||
        !store_each_message(f->store, id, f->message, tell_message, f, e))
        return false;
    enum session_state now = f->record.state == STATE_PAUSED ? STATE_PAUSED : STATE_RUNNING;
    if (f->runner && now != f->state)
        tell(f, (struct event){.kind = EVENT_STATE});
    f->state = now;
    return true;
}

static bool end(struct follow *f, struct err *e)
{
    struct trial_record best;
    struct retime_record race;
    int64_t id = f->record.id, ask = f->record.best_ask;
    if (!store_get_trial(f->store, id, ask, &f->arena, &best, e) ||
        !store_get_race(f->store, id, ask, &f->arena, &race, e))
        return false;
    tell(f, (struct event){.kind = EVENT_END,
                           .trial = best.ask ? &best : NULL,
                           .retime = race.ask ? &race : NULL});
    return true;
}

// A line that cannot be printed is the end: main says so.
static bool follow(struct follow *f, int64_t id, struct err *e)
{
    const struct timespec pause = {.tv_nsec = 100 * 1000 * 1000};
    if (!read_session(f, id, e) || !begin(f, e))
        return false;
    while (tell_new(f, e)) {
        if (!f->runner)
            return end(f, e);
        do {
            if (ferror(stdout))
                return true;
            nanosleep(&pause, NULL);
        } while (!store_changed(f->store) && store_runner(f->store, id));
        if (!read_session(f, id, e))
            return false;
    }
    return false;
}

// Until nobody runs session `id` any more; of one that nobody runs, how it stands. Changes nothing.
// Returns the exit code, which of a session that has ended is that of its own run.
static int follow_run(const struct arguments *a, int64_t id)
{
    struct err e;
    struct follow f = {.store = common_open_session(a, id, &e)};
    if (!f.store)
        return fail_with(&e, EXIT_FAILED);
    arena_init(&f.arena);
    front_init(&f.front, a, f.store);
    bool ok = follow(&f, id, &e);
    arena_finish(&f.arena);
    store_close(f.store);
    if (!ok)
        return fail_with(&e, EXIT_FAILED);
    return front_code(&f.front);
}

bool workbench_wanted(const struct arguments *a)
{
    static const char *const others[] = {"plain", "json", "detach", "attached"};
    struct err why;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (arguments_flag(a, others[i]))
            return false;
    if (ui_is_possible(&why))
        return true;
    if (why.text[0])
        fprintf(stderr, "tilewalk: %s: lines instead of the workbench\n", why.text);
    return false;
}

static void confine(const void *context)
{
    confine_workbench(context);
}

static int show(const struct arguments *a, struct ui_options *o)
{
    char *path = common_database(a);
    o->database = path;
    o->charset = arguments_text(a, "charset");
    o->color = arguments_text(a, "color");
    o->theme = arguments_text(a, "theme");
    o->confine = confine;
    o->context = a;
    int code = ui_run(o);
    free(path);
    return code;
}

int workbench_run(const struct arguments *a, const char *const *words)
{
    struct err e;
    struct fleet fleet;
    if (!fleet_wanted(a))
        return show(a, &(struct ui_options){.run = &words, .runs = 1});
    int code = fleet_init(&fleet, a, &e)
                   ? show(a, &(struct ui_options){.run = fleet.words, .runs = fleet.count})
                   : fail_with(&e, EXIT_FAILED);
    fleet_finish(&fleet);
    return code;
}

bool workbench_browse(int *code)
{
    struct err why;
    struct arguments none = {0};
    if (!ui_is_possible(&why))
        return false;
    *code = show(&none, &(struct ui_options){0});
    return true;
}

static int need_terminal(const struct err *why)
{
    struct err e;
    err_set(&e, "%s (tilewalk ls, show and watch --plain print what there is to see)",
            why->text[0] ? why->text : "the workbench needs a terminal");
    return fail_with(&e, EXIT_FAILED);
}

static int run_browse(const struct command *self, const struct arguments *a)
{
    struct err why;
    (void)self;
    return ui_is_possible(&why) ? show(a, &(struct ui_options){0}) : need_terminal(&why);
}

// --- watch ---

static bool check_session(const struct arguments *a, int64_t id, struct err *e)
{
    struct session_record record;
    struct arena arena;
    struct store *s = common_open_session(a, id, e);
    arena_init(&arena);
    bool ok = s && store_get_session(s, id, &arena, &record, e);
    arena_finish(&arena);
    store_close(s);
    return ok;
}

// The session that was made last among those that run; 0: none, also when nothing can be read yet.
static int64_t newest_running(const struct arguments *a)
{
    struct err ignored;
    struct arena arena;
    struct session_record *list;
    int64_t newest = 0;
    int count;
    struct store *s = common_nothing_yet(a) ? NULL : common_open(a, STORE_READ, &ignored);
    arena_init(&arena);
    if (s && store_list_sessions(s, &arena, &list, &count, &ignored))
        for (int i = 0; i < count; i++)
            if (list[i].id > newest && store_runner(s, list[i].id))
                newest = list[i].id;
    arena_finish(&arena);
    store_close(s);
    return newest;
}

static int watch_in_lines(const struct arguments *a, int64_t id)
{
    struct err e;
    if (!id)
        id = newest_running(a);
    if (id)
        return follow_run(a, id);
    err_set(&e, "no session is running (tilewalk ls lists all of them)");
    return fail_with(&e, EXIT_FAILED);
}

static int run_watch(const struct command *self, const struct arguments *a)
{
    struct err e, why;
    struct ui_options o = {.view = arguments_text(a, "view")};
    (void)self;
    if (a->operand_count && !common_session_id(a->operand[0], &o.session, &e))
        return fail_with(&e, EXIT_USAGE);
    if (arguments_flag(a, "plain"))
        return watch_in_lines(a, o.session);
    if (!ui_is_possible(&why))
        return need_terminal(&why);
    if (!a->operand_count)
        o.session = newest_running(a);
    else if (!check_session(a, o.session, &e))
        return fail_with(&e, EXIT_FAILED);
    return show(a, &o);
}

static const struct option watch_options[] = {
    OPTION_DB,
    {"view", OPTION_TEXT, "main|map|trials|network|sessions|space|log|kernel",
     "screen shown first"},
    {"plain", OPTION_FLAG, NULL,
     "lines of text as tune --plain prints them, until the session ends"},
    OPTION_LOOKS,
    OPTION_SANDBOX,
    OPTION_HELP,
    OPTION_END,
};

const struct command cmd_watch = {
    .name = "watch",
    .operands = "[ID]",
    .help = "show sessions in the workbench, whoever runs them, and steer them (default: the "
            "newest one that runs)",
    .least = 0,
    .most = 1,
    .options = watch_options,
    .draws = true,
    .run = run_watch,
};

static const struct option browse_options[] = {OPTION_DB, OPTION_LOOKS, OPTION_SANDBOX, OPTION_HELP,
                                               OPTION_END};

// `tilewalk` with options and no command.
const struct command cmd_browse = {
    .name = "(none)",
    .help = "all sessions, in the workbench",
    .options = browse_options,
    .draws = true,
    .run = run_browse,
};
