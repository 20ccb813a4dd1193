// fleet: the machines that measure, or measured, for sessions; and what can be said to one of a
// pool.

#include "base/mem.h"
#include "base/os.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/on.h"
#include "store/machine.h"
#include "trial/message.h"
#include "trial/remote.h"

#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// fleet drain: a worker of a pool is asked to leave.

// A worker that puts its results into the pool may wait five seconds for the server with each: half
// of the time after which it would be given up is enough, 15 s.
static double answer_s(void)
{
    return remote_patience_s() / 2;
}

// Names are words of subjects.
static bool is_name(const char *text)
{
    return *text && strlen(text) < QUEUE_ID && !strpbrk(text, ".*> \t\r\n");
}

static bool says_that_it_leaves(const struct letter *l)
{
    struct message m;
    if (l->kind != LETTER_SAID || !message_parse(l->text, &m, NULL))
        return false;
    bool leaves = m.type == MESSAGE_MEMBER && m.member.leaves;
    message_finish(&m);
    return leaves;
}

static bool wait_for_answer(struct queue *q, const char *machine, struct err *e)
{
    int64_t end_ns = os_now_ns() + (int64_t)(answer_s() * 1e9);
    while (os_now_ns() < end_ns) {
        struct pollfd fd = {.fd = queue_fd(q), .events = POLLIN};
        struct letter *l;
        poll(&fd, 1, 100);
        while ((l = queue_next(q))) {
            bool leaves = says_that_it_leaves(l), closed = l->kind == LETTER_CLOSED;
            if (closed)
                err_set(e, "the pool's server: %s", l->text);
            letter_free(l);
            if (leaves || closed)
                return leaves;
        }
    }
    return err_set(e,
                   "no worker '%s' has answered in %.4g s (tilewalk doctor --pool says which are "
                   "there)",
                   machine, answer_s());
}

// Asks, waits until it says that it leaves, and gives the exit status.
static int drain_machine(const struct arguments *a, const char *machine)
{
    struct err e;
    struct queue_options o;
    char here[QUEUE_ID + 16], leave[QUEUE_ID + 16];
    if (!on_pool_options(a, &o, &e) ||
        !(is_name(machine) || err_usage(&e, "'%s' is no machine's name", machine)))
        return fail_with(&e, EXIT_USAGE);
    snprintf(here, sizeof here, "tw.here.%s", machine);
    snprintf(leave, sizeof leave, "tw.leave.%s", machine);
    struct queue *q = queue_open(&o, &e);
    bool ok = q && queue_hear(q, here, &e);
    if (ok)
        queue_say(q, leave, "");
    ok = ok && wait_for_answer(q, machine, &e);
    queue_close(q);
    if (ok)
        printf("%s finishes what it measures, and leaves the pool\n", machine);
    return ok ? EXIT_OK : fail_with(&e, EXIT_FAILED);
}

static const char *drift_text(const struct machine_record *m, char out[24])
{
    bool known = m->fixed_s > 0 && isfinite(m->drift);
    snprintf(out, 24, known ? "%+.1f %%" : "-", 100 * m->drift);
    return out;
}

// What other machines say of themselves is shown within its line.
static void print_text(struct store *s, struct arena *a, const struct machines *list)
{
    if (!list->count) {
        printf("no machines yet (tilewalk tune gemm --on ssh:HOST measures on another one)\n");
        return;
    }
    printf("%-24s  %-16s  %7s  %-7s  %6s  %4s  %5s  %7s  %s\n", "machine", "place", "session",
           "state", "trials", "lost", "rate", "drift", "device");
    for (int i = 0; i < list->count; i++) {
        const struct machine_record *m = &list->of[i];
        char drift[24];
        printf("%-24s  %-16s  %7" PRId64 "  %-7s  %6" PRId64 "  %4" PRId64 "  %5.3g  %7s  %s%s%s\n",
               shown_text(a, m->name), shown_text(a, m->place), m->session,
               store_machine_state(s, m), m->trials, m->lost, m->rate, drift_text(m, drift),
               shown_text(a, m->device), m->why ? "  " : "", m->why ? shown_text(a, m->why) : "");
    }
}

static void print(const struct arguments *a, struct store *s, struct arena *arena,
                  const struct machines *list)
{
    if (arguments_flag(a, "json")) {
        struct str out = {0};
        struct json_writer w = json_begin(&out);
        json_begin_list(&w, "machines");
        for (int i = 0; i < list->count; i++) {
            const struct machine_record *m = &list->of[i];
            json_begin_object(&w, NULL);
            json_add_text(&w, "name", m->name);
            json_add_text(&w, "place", m->place);
            json_add_int(&w, "session", m->session);
            json_add_text(&w, "device", m->device);
            json_add_text(&w, "driver", m->driver);
            json_add_text(&w, "state", store_machine_state(s, m));
            json_add_text(&w, "message", m->why);
            json_add_int(&w, "trials", m->trials);
            json_add_int(&w, "lost", m->lost);
            json_add_real(&w, "rate", m->rate);
            json_add_real(&w, "calibration_ms", m->fixed_s > 0 ? m->fixed_s * 1e3 : NAN);
            json_add_real(&w, "drift", m->fixed_s > 0 ? m->drift : NAN);
            json_add_real(&w, "at", m->at);
            json_end(&w);
        }
        json_print(&w);
    } else
        print_text(s, arena, list);
}

// One that measures now is not forgotten: it would only be put down again.
static bool may_be_forgotten(struct store *s, const char *name, struct err *e)
{
    struct arena arena;
    struct machines list = {0};
    int met = 0;
    int64_t busy = 0;
    arena_init(&arena);
    bool ok = store_list_machines(s, 0, os_unix_time(), &arena, &list, e);
    for (int i = 0; ok && i < list.count; i++) {
        const struct machine_record *m = &list.of[i];
        bool is_it = str_equal(m->name, name);
        met += is_it;
        const char *state = is_it ? store_machine_state(s, m) : "";
        if (str_equal(state, "up") || str_equal(state, "stuck"))
            busy = m->session;
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
    struct machines list = {0};
    int64_t id = 0;
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
    bool ok = nothing || (s && store_list_machines(s, id, os_unix_time(), &arena, &list, &e));
    if (ok)
        print(a, s, &arena, &list);
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
