// fleet: the machines that measure, or measured, for sessions.
#include "cli/common.h"

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

static int run_fleet(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct arena arena;
    struct machine_record *list;
    int64_t id = 0;
    int count;
    (void)self;
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

static const struct option options[] = {OPTION_JSON, OPTION_DB, OPTION_HELP, OPTION_END};

const struct command cmd_fleet = {
    .name = "fleet",
    .operands = "[ID]",
    .help = "list the machines that measure for sessions (tune --on), or for session ID",
    .most = 1,
    .options = options,
    .run = run_fleet,
};
