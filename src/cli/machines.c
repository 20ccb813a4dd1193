// agent, worker, fleet: the processes that measure for a run elsewhere, and the machines that
// measure, or measured, for sessions.
#include "base/os.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "cli/on.h"
#include "engine/agent.h"
#include "fleet/pool.h"
#include "store/machine.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// --- agent: measures over stdin and stdout (engine/agent.h) ---

static int run_agent(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct sandbox s;
    struct queue_options o;
    struct on on = {.words = 0};
    const char *pool = arguments_text(a, "pool");
    (void)self;
    if (isatty(STDIN_FILENO)) {
        err_usage(&e, "agent: another tilewalk talks to it over stdin and stdout (tilewalk tune "
                      "... --on ssh:HOST starts it)");
        return fail_with(&e, EXIT_USAGE);
    }
    if (pool) { // has to reach the pool's server, and reads nothing but messages
        bool ok = on_pool_options(&on, a, pool, &o, &e) &&
                  broker_run(STDIN_FILENO, STDOUT_FILENO, &o, &e);
        on_end(&on);
        return common_exit(ok, &e);
    }
    confine_begin(&s);
    confine_enter(&s);
    return common_exit(agent_run(STDIN_FILENO, STDOUT_FILENO, &e), &e);
}

static const struct option agent_options[] = {
    {"pool", OPTION_TEXT, "nats://HOST[:PORT]",
     "measure with the workers of a pool (tune --on nats://HOST starts it)"},
    OPTION_ACCESS,
    OPTION_GLSLANG,
    OPTION_SANDBOX,
    OPTION_END,
};

const struct command cmd_agent = {
    .name = "agent",
    .help = "measure for a tilewalk elsewhere, over stdin and stdout (tune --on starts it)",
    .options = agent_options,
    .run = run_agent,
    .hidden = true,
};

// --- worker: measures for the runs of a pool (fleet/pool.h) ---

static int run_worker(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct device_choice chosen = {.count = 0};
    struct worker_options o = {.workers = (int)arguments_integer(a, "workers", 0),
                               .idle_s = arguments_real(a, "idle-exit", 0),
                               .lifetime_s = arguments_real(a, "lifetime", 0)};
    struct on on = {.words = 0};
    const char *url = a->operand_count ? a->operand[0] : arguments_text(a, "pool");
    (void)self;
    bool ok = on_pool_options(&on, a, url, &o.queue, &e) && common_choose_device(a, &chosen, &e);
    o.device = chosen.device;
    if (ok && o.device && !gpu_can_run(o.device, &e)) {
        ok = !arguments_text(a, "device"); // no device is fine, but not one that was asked for
        o.device = NULL;
    }
    if (ok)
        on_warn_of_pool(&o.queue);
    ok = ok && worker_run(&o, &e);
    free(chosen.list);
    on_end(&on);
    return common_exit(ok, &e);
}

static const struct option worker_options[] = {
    {"pool", OPTION_TEXT, .hidden = true},
    OPTION_ACCESS,
    {"device", OPTION_TEXT, "DEVICE",
     "index or part of a name (default: the best one); none: synthetic landscapes alone"},
    {"workers", OPTION_INTEGER, "N", "trials at once (default: as fits the device)", 1,
     MOST_WORKERS},
    {"idle-exit", OPTION_REAL, "SECONDS", "leave after so long without a trial", 0.001, 1e9},
    {"lifetime", OPTION_REAL, "SECONDS",
     "leave after so long, as after SIGTERM: within 20 s, with what is finished then", 0.001, 1e9},
    OPTION_GLSLANG,
    OPTION_SANDBOX,
    OPTION_END,
};

const struct command cmd_worker = {
    .name = "worker",
    .operands = "nats://HOST[:PORT]",
    .help = "measure for the runs of a pool (tune --on nats://HOST), until it is ended",
    .most = 1,
    .options = worker_options,
    .run = run_worker,
};

// --- fleet drain: asks a worker of a pool to leave ---

static bool drain_machine(const struct arguments *a, const char *machine, struct err *e)
{
    struct queue_options o;
    struct on on = {.words = 0};
    bool ok = on_pool_options(&on, a, arguments_text(a, "on"), &o, e);
    if (ok)
        on_warn_of_pool(&o);
    ok = ok && worker_drain(&o, machine, e);
    on_end(&on);
    if (ok)
        printf("%s finishes what it measures, and leaves the pool\n", machine);
    return ok;
}

// --- fleet: the machines ---

// Prints the machines. Their own texts are escaped.
static void machines_print_text(struct store *s, struct arena *a, const struct machines *list)
{
    if (!list->count) {
        printf("There are no remote workers yet (tilewalk tune gemm --on ssh:HOST adds some).\n");
        return;
    }
    printf("%-24s  %-16s  %7s  %-7s  %6s  %4s  %5s  %7s  %s\n", "machine", "place", "session",
           "state", "trials", "lost", "rate", "drift", "device");
    for (int i = 0; i < list->count; i++) {
        const struct machine_record *m = &list->of[i];
        bool known = m->fixed_s > 0 && isfinite(m->drift);
        char drift[24];
        snprintf(drift, sizeof drift, known ? "%+.1f %%" : "-", 100 * m->drift);
        printf("%-24s  %-16s  %7" PRId64 "  %-7s  %6" PRId64 "  %4" PRId64 "  %5.3g  %7s  %s%s%s\n",
               shown_text(a, m->name), shown_text(a, m->place), m->session,
               store_machine_state(s, m), m->trials, m->lost, m->rate, drift,
               shown_text(a, m->device), m->why ? "  " : "", m->why ? shown_text(a, m->why) : "");
    }
}

static void machines_print_json(struct store *s, const struct machines *list)
{
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
}

// Forgets a machine. One that measures now is kept: it would only be listed again.
static bool forget_machine(const struct arguments *a, const char *name, struct err *e)
{
    struct arena arena;
    struct machines list = {0};
    bool met = false;
    int64_t busy = 0;
    if (arguments_text(a, "on"))
        return err_usage(e, "fleet forget changes the database, not a pool (leave --on out)");
    struct store *s = common_open(a, STORE_WRITE, e);
    arena_init(&arena);
    bool ok = s && store_list_machines(s, 0, os_unix_time(), &arena, &list, e);
    for (int i = 0; ok && i < list.count; i++) {
        const struct machine_record *m = &list.of[i];
        if (!str_equal(m->name, name))
            continue;
        met = true;
        const char *state = store_machine_state(s, m);
        if (str_equal(state, "up") || str_equal(state, "stuck"))
            busy = m->session;
    }
    if (ok && !met)
        ok = err_usage(e, "there is no machine '%s' (tilewalk fleet lists them)", name);
    else if (ok && busy)
        ok = err_set(e, "'%s' measures for session %" PRId64 " now", name, busy);
    ok = ok && store_forget_machine(s, name, e);
    arena_finish(&arena);
    store_close(s);
    return ok;
}

static int run_fleet(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct arena arena;
    struct machines list = {0};
    int64_t id = 0;
    const char *verb = a->operand[0];
    (void)self;
    if (a->operand_count == 2) // no session has such a number
        return common_exit(str_equal(verb, "forget")  ? forget_machine(a, a->operand[1], &e)
                           : str_equal(verb, "drain") ? drain_machine(a, a->operand[1], &e)
                                                      : err_usage(&e,
                                                                  "'%s' is neither drain nor "
                                                                  "forget (tilewalk fleet drain "
                                                                  "MACHINE)",
                                                                  verb),
                           &e);
    if (arguments_text(a, "on"))
        return common_exit(err_usage(&e, "--on is for fleet drain MACHINE"), &e);
    if (a->operand_count && !common_session_id(verb, &id, &e))
        return fail_with(&e, EXIT_USAGE);
    arena_init(&arena);
    bool nothing = !id && common_nothing_yet(a);
    struct store *s = nothing ? NULL
                      : id    ? common_open_session(a, id, &e)
                              : common_open(a, STORE_READ, &e);
    bool ok = nothing || (s && store_list_machines(s, id, os_unix_time(), &arena, &list, &e));
    if (ok && arguments_flag(a, "json"))
        machines_print_json(s, &list);
    else if (ok)
        machines_print_text(s, &arena, &list);
    store_close(s);
    arena_finish(&arena);
    return common_exit(ok, &e);
}

static const struct option fleet_options[] = {
    {"on", OPTION_TEXT, "nats://HOST[:PORT]", "for drain: server of the pool"},
    {"pool", OPTION_TEXT, .hidden = true, .now = "on=*"},
    OPTION_ACCESS,
    OPTION_JSON,
    OPTION_DB,
    OPTION_END};

const struct command cmd_fleet = {
    .name = "fleet",
    .operands = "[ID | drain MACHINE | forget MACHINE]",
    .help = "list the machines that measure for sessions (tune --on); drain lets a pool's worker "
            "finish and leave, forget takes a machine off the list",
    .most = 2,
    .options = fleet_options,
    .run = run_fleet,
};
