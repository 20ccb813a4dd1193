// fleet: the machines that measure, or measured, for sessions; and what can be said to one of a
// pool.
#include "cli/common.h"
#include "cli/drain.h"
#include "cli/on.h"

#include <inttypes.h>
#include <stdio.h>

// One whose session nobody runs is at nothing.
static const char *state_now(struct store *s, const struct machine_record *m)
{
    bool up = str_equal(m->state, "up");
    return up && !store_runner(s, m->session) ? "left" : m->state;
}

static void print_json(struct store *s, const struct machine_record *list, int count)
{
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    json_begin_list(&w, "machines");
    for (int i = 0; i < count; i++) {
        const struct machine_record *m = &list[i];
        json_begin_object(&w, NULL);
        json_add_text(&w, "name", m->name);
        json_add_text(&w, "place", m->place);
        json_add_int(&w, "session", m->session);
        json_add_text(&w, "device", m->device);
        json_add_text(&w, "driver", m->driver);
        json_add_text(&w, "state", state_now(s, m));
        json_add_text(&w, "message", m->why);
        json_add_int(&w, "trials", m->trials);
        json_add_int(&w, "lost", m->lost);
        json_add_real(&w, "at", m->at);
        json_end(&w);
    }
    json_print(&w);
}

// What other machines say of themselves is shown within its line.
static void print_text(struct store *s, struct arena *a, const struct machine_record *list,
                       int count)
{
    if (!count) {
        printf("no machines yet (tilewalk tune gemm --on ssh:HOST measures on another one)\n");
        return;
    }
    printf("%-24s  %-16s  %7s  %-7s  %6s  %4s  %s\n", "machine", "place", "session", "state",
           "trials", "lost", "device");
    for (int i = 0; i < count; i++) {
        const struct machine_record *m = &list[i];
        printf("%-24s  %-16s  %7" PRId64 "  %-7s  %6" PRId64 "  %4" PRId64 "  %s%s%s\n",
               shown_text(a, m->name), shown_text(a, m->place), m->session, state_now(s, m),
               m->trials, m->lost, shown_text(a, m->device), m->why ? "  " : "",
               m->why ? shown_text(a, m->why) : "");
    }
}

static void print(const struct arguments *a, struct store *s, struct arena *arena,
                  const struct machine_record *list, int count)
{
    if (arguments_flag(a, "json"))
        print_json(s, list, count);
    else
        print_text(s, arena, list, count);
}

// One that measures now is not forgotten: it would only be put down again.
static bool may_be_forgotten(struct store *s, const char *name, struct err *e)
{
    struct arena arena;
    struct machine_record *list;
    int count, met = 0;
    int64_t busy = 0;
    arena_init(&arena);
    bool ok = store_list_machines(s, 0, &arena, &list, &count, e);
    for (int i = 0; ok && i < count; i++) {
        bool is_it = str_equal(list[i].name, name);
        met += is_it;
        if (is_it && str_equal(state_now(s, &list[i]), "up"))
            busy = list[i].session;
    }
    if (ok && !met)
        ok = err_usage(e, "there is no machine '%s' (tilewalk fleet lists them)", name);
    else if (ok && busy)
        ok = err_set(e, "'%s' measures for session %" PRId64 " now", name, busy);
    arena_finish(&arena);
    return ok;
}

static int forget(const struct arguments *a, const char *name)
{
    struct err e;
    struct store *s = common_open(a, STORE_WRITE, &e);
    bool ok = s && may_be_forgotten(s, name, &e) && store_forget_machine(s, name, &e);
    store_close(s);
    return ok ? EXIT_OK : fail_with(&e, EXIT_FAILED);
}

// "drain" and "forget" with a machine; no session has such a number.
static int command_machine(const struct arguments *a)
{
    struct err e;
    bool forgets = str_equal(a->operand[0], "forget");
    if (!forgets && !str_equal(a->operand[0], "drain"))
        err_usage(&e, "'%s' is neither drain nor forget (tilewalk fleet drain MACHINE)",
                  a->operand[0]);
    else if (forgets && arguments_text(a, "pool"))
        err_usage(&e, "fleet forget is about the database, not a pool (leave --pool out)");
    else
        return forgets ? forget(a, a->operand[1]) : drain_machine(a, a->operand[1]);
    return fail_with(&e, EXIT_USAGE);
}

static int run_fleet(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct arena arena;
    struct machine_record *list;
    int64_t id = 0;
    int count;
    (void)self;
    if (a->operand_count == 2)
        return command_machine(a);
    if (arguments_text(a, "pool"))
        return fail_with((err_usage(&e, "--pool is for fleet drain MACHINE"), &e), EXIT_USAGE);
    if (a->operand_count && !common_session_id(a->operand[0], &id, &e))
        return fail_with(&e, EXIT_USAGE);
    arena_init(&arena);
    bool nothing = !id && common_nothing_yet(a);
    struct store *s = nothing ? NULL
                      : id    ? common_open_session(a, id, &e)
                              : common_open(a, STORE_READ, &e);
    bool ok = nothing || (s && store_list_machines(s, id, &arena, &list, &count, &e));
    if (nothing)
        print(a, NULL, &arena, NULL, 0);
    else if (ok)
        print(a, s, &arena, list, count);
    store_close(s);
    arena_finish(&arena);
    return ok ? EXIT_OK : fail_with(&e, EXIT_FAILED);
}

static const struct option options[] = {OPTION_POOL("of drain: the pool, by its server"),
                                        OPTION_JSON, OPTION_DB, OPTION_HELP, OPTION_END};

const struct command cmd_fleet = {
    .name = "fleet",
    .operands = "[ID | drain MACHINE | forget MACHINE]",
    .help = "list the machines that measure for sessions (tune --on), or for session ID; drain: a "
            "pool's worker finishes what it measures and leaves; forget: one that is gone is not "
            "listed any more",
    .most = 2,
    .options = options,
    .run = run_fleet,
};
