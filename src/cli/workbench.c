#include "cli/workbench.h"

#include "cli/common.h"
#include "cli/confine.h"
#include "cli/fleet.h"
#include "cli/follow.h"
#include "ui/ui.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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
