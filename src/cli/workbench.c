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

// watch, and the workbench of other commands.

// --- watch --plain: a session that another process runs, in the lines of `tune --plain` ---
//
// New rows of the database become events of a front (front.h), as the engine would send them.

struct follow {
    struct store *store;
    struct front front;
    struct session_record record; // as it was when it was last read
    struct arena arena;           // of the record, emptied before each reading
    enum session_state state;     // sent last: running or paused
    int64_t trial, message;       // numbers of the last trial and message that were sent
    pid_t runner;                 // 0: nobody
};

static void send_event(struct follow *f, struct event event)
{
    event.session = &f->record;
    front_on_event(&f->front, &event);
}

static bool read_session(struct follow *f, int64_t id, struct err *e)
{
    arena_finish(&f->arena);
    arena_init(&f->arena);
    f->runner = store_runner(f->store, id); // before the rows, which then are complete
    if (!store_get_session(f->store, id, &f->arena, &f->record, e))
        return false;
    if (!f->runner && f->record.state == STATE_RUNNING)
        f->record.state = STATE_PAUSED;
    return true;
}

static bool skip_message(void *context, const struct message_record *m)
{
    struct follow *f = context;
    f->message = m->id;
    return true;
}

// Begins with the stored trials, which the front counts, and a line for the best of them, as the
// next line may take long.
static bool follow_begin(struct follow *f, struct err *e)
{
    struct trial_record best;
    struct session_record record = f->record;
    f->state = record.state = STATE_RUNNING; // its present state comes next
    front_on_event(&f->front, &(struct event){.kind = EVENT_SESSION, .session = &record});
    f->trial = f->front.started_trials;
    if (!store_each_message(f->store, record.id, 0, skip_message, f, e) ||
        !store_get_trial(f->store, record.id, record.best_ask, &f->arena, &best, e))
        return false;
    if (f->runner && best.ask)
        send_event(f, (struct event){.kind = EVENT_BEST, .trial = &best});
    return true;
}

static bool send_trial(void *context, const struct trial_record *t)
{
    struct follow *f = context;
    double best = f->front.best_seconds;
    f->trial = t->number;
    send_event(f, (struct event){.kind = EVENT_TRIAL, .trial = t});
    if (f->front.best_seconds != best)
        send_event(f, (struct event){.kind = EVENT_BEST, .trial = t});
    return true;
}

static bool send_message(void *context, const struct message_record *m)
{
    // Messages of a state, "done: all 30 trials are done", are left out: a state is an event.
    static const char *const states[] = {
        "running: ", "paused: ", "done: ", "stopped: ", "failed: "};
    struct follow *f = context;
    bool is_state = false;
    f->message = m->id;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        is_state |= str_starts(m->text, states[i]);
    if (!is_state)
        send_event(f, (struct event){.kind = EVENT_MESSAGE, .level = m->level, .text = m->text});
    return true;
}

static bool send_new(struct follow *f, struct err *e)
{
    int64_t id = f->record.id;
    if (!store_each_numbered(f->store, id, f->trial + 1, send_trial, f, e) ||
        !store_each_message(f->store, id, f->message, send_message, f, e))
        return false;
    enum session_state now = f->record.state == STATE_PAUSED ? STATE_PAUSED : STATE_RUNNING;
    if (f->runner && now != f->state)
        send_event(f, (struct event){.kind = EVENT_STATE});
    f->state = now;
    return true;
}

static bool follow_end(struct follow *f, struct err *e)
{
    struct trial_record best;
    struct retime_record race;
    int64_t id = f->record.id, ask = f->record.best_ask;
    if (!store_get_trial(f->store, id, ask, &f->arena, &best, e) ||
        !store_get_race(f->store, id, ask, &f->arena, &race, e))
        return false;
    send_event(f, (struct event){.kind = EVENT_END,
                                 .trial = best.ask ? &best : NULL,
                                 .retime = race.ask ? &race : NULL});
    return true;
}

// Follows a session to its end. A line that cannot be printed ends it: main reports that.
static bool follow_to_end(struct follow *f, int64_t id, struct err *e)
{
    const struct timespec pause = {.tv_nsec = 100 * 1000 * 1000};
    if (!read_session(f, id, e) || !follow_begin(f, e))
        return false;
    while (send_new(f, e)) {
        if (!f->runner)
            return follow_end(f, e);
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

// Follows session `id` until nobody runs it any more, or prints the state of one that nobody runs.
// Changes nothing. Returns the exit code, which for a session that has ended is that of its own
// run.
static int follow_run(const struct arguments *a, int64_t id)
{
    struct err e;
    struct follow f = {.store = common_open_session(a, id, &e)};
    arena_init(&f.arena);
    bool ok = f.store != NULL;
    if (ok) {
        front_init(&f.front, a, f.store);
        ok = follow_to_end(&f, id, &e);
    }
    arena_finish(&f.arena);
    store_close(f.store);
    return ok ? front_code(&f.front) : fail_with(&e, EXIT_FAILED);
}

// --- the workbench ---

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
        fprintf(stderr, "tilewalk: %s: tilewalk prints lines instead of the workbench\n", why.text);
    return false;
}

static void workbench_confine(const void *context)
{
    confine_workbench(context);
}

static int workbench_show(const struct arguments *a, struct ui_options *o)
{
    char *path = common_database(a);
    o->database = path;
    o->charset = arguments_text(a, "charset");
    o->color = arguments_text(a, "color");
    o->theme = arguments_text(a, "theme");
    o->confine = workbench_confine;
    o->context = a;
    int code = ui_run(o);
    free(path);
    return code;
}

int workbench_run(const struct arguments *a, const char *const *words)
{
    struct err e;
    struct fleet fleet;
    struct ui_options o = {.run = &words, .runs = 1};
    bool waited = false;
    if (str_equal(words[0], "resume") && !common_continue(a, &waited, &e))
        return fail_with(&e, EXIT_FAILED);
    if (waited && common_session_id(a->operand[0], &o.session, &e))
        o.runs = 0; // its process has it
    if (!fleet_wanted(a))
        return workbench_show(a, &o);
    int code =
        fleet_init(&fleet, a, &e)
            ? workbench_show(a, &(struct ui_options){.run = fleet.words, .runs = fleet.count})
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
    *code = workbench_show(&none, &(struct ui_options){0});
    return true;
}

static int fail_without_terminal(const struct err *why)
{
    struct err e;
    err_set(&e, "%s (tilewalk ls, show and watch --plain print text)",
            why->text[0] ? why->text : "the workbench needs a terminal");
    return fail_with(&e, EXIT_FAILED);
}

int workbench_demo(const struct arguments *a, const char *const *words)
{
    struct err why;
    return ui_is_possible(&why)
               ? workbench_show(a, &(struct ui_options){.run = &words, .runs = 1, .is_demo = true})
               : fail_without_terminal(&why);
}

static int run_browse(const struct command *self, const struct arguments *a)
{
    struct err why;
    (void)self;
    return ui_is_possible(&why) ? workbench_show(a, &(struct ui_options){0})
                                : fail_without_terminal(&why);
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

// Returns the newest session that runs; 0: none, or nothing can be read yet.
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

static int run_watch(const struct command *self, const struct arguments *a)
{
    struct err e, why;
    struct ui_options o = {.view = arguments_text(a, "view")};
    (void)self;
    if (a->operand_count && !common_session_id(a->operand[0], &o.session, &e))
        return fail_with(&e, EXIT_USAGE);
    if (arguments_flag(a, "plain")) {
        int64_t id = o.session ? o.session : newest_running(a);
        err_set(&e, "no session is running (tilewalk ls lists all of them)");
        return id ? follow_run(a, id) : fail_with(&e, EXIT_FAILED);
    }
    if (!ui_is_possible(&why))
        return fail_without_terminal(&why);
    if (!a->operand_count)
        o.session = newest_running(a);
    else if (!check_session(a, o.session, &e))
        return fail_with(&e, EXIT_FAILED);
    return workbench_show(a, &o);
}

static const struct option watch_options[] = {
    OPTION_DB,
    {"view", OPTION_TEXT, "main|map|trials|network|sessions|space|log|kernel",
     "screen that is shown first"},
    {"plain", OPTION_FLAG, NULL, "print lines of text, like tune --plain, until the session ends"},
    OPTION_LOOKS(false),
    OPTION_SANDBOX,
    OPTION_END,
};

const struct command cmd_watch = {
    .name = "watch",
    .operands = "[ID]",
    .help = "show sessions of any process in the workbench, and control them (default: the newest "
            "one that runs)",
    .most = 1,
    .options = watch_options,
    .draws = true,
    .run = run_watch,
};

static const struct option browse_options[] = {OPTION_DB, OPTION_LOOKS(false), OPTION_SANDBOX,
                                               OPTION_END};

// `tilewalk` with options and no command.
const struct command cmd_browse = {
    .name = "(none)",
    .help = "show all sessions in the workbench",
    .options = browse_options,
    .draws = true,
    .run = run_browse,
};
