// pause, stop, budget, pin, weigh: what can be asked of a session that another process runs.
#include "cli/common.h"
#include "engine/session_setup.h"

#include <inttypes.h>
#include <stdio.h>

#define MOST_TRIALS  (INT64_MAX / 2)
#define LEAST_WEIGHT 0.01
#define MOST_WEIGHT  100.0

static int with_session(const struct arguments *a,
                        bool (*act)(struct store *s, const struct session_record *r,
                                    const struct arguments *a, struct err *e))
{
    struct err e;
    int64_t id;
    struct arena arena;
    struct session_record record;
    if (!common_session_id(a->operand[0], &id, &e))
        return fail_with(&e, EXIT_USAGE);
    struct store *s = common_open(a, STORE_WRITE, &e);
    if (!s)
        return fail_with(&e, EXIT_FAILED);
    arena_init(&arena);
    bool ok = common_take_network(s, &id, &e) && store_get_session(s, id, &arena, &record, &e) &&
              act(s, &record, a, &e);
    arena_finish(&arena);
    store_close(s);
    return ok ? EXIT_OK : fail_with(&e, EXIT_FAILED);
}

static bool ask_runner(struct store *s, int64_t id, const char *verb, const char *argument,
                       struct err *e)
{
    if (!store_push_command(s, id, verb, argument, e))
        return false;
    printf("session %" PRId64 ": told its runner: %s%s%s\n", id, verb, *argument ? " " : "",
           argument);
    return true;
}

static bool pause_session(struct store *s, const struct session_record *r,
                          const struct arguments *a, struct err *e)
{
    if (!store_runner(s, r->id))
        return err_set(e,
                       "session %" PRId64
                       " is not running (nothing to pause; tilewalk resume %" PRId64 "%s runs it)",
                       r->id, r->id, store_option(s));
    return ask_runner(s, r->id, arguments_flag(a, "off") ? "resume" : "pause", "", e);
}

// One that has ended stays as it is. Its lock is held.
static bool stop_locked(struct store *s, struct session_record *r, struct err *e)
{
    if (r->state == STATE_DONE || r->state == STATE_STOPPED) {
        printf("session %" PRId64 " is %s already\n", r->id, state_name(r->state));
        return true;
    }
    common_take_ran(s, r); // its last runner died
    if (!store_set_state(s, r->id, STATE_STOPPED, "stopped by the user", r->ran_seconds, e))
        return false;
    printf("session %" PRId64 " is stopped\n", r->id);
    return true;
}

// A session without a runner is stopped right here. What was read of it before it was locked may
// be old: its last runner may have ended in between.
static bool stop_session(struct store *s, const struct session_record *r, const struct arguments *a,
                         struct err *e)
{
    struct arena arena;
    struct session_record now;
    (void)a;
    if (!store_lock_session(s, r->id, e))
        return store_runner(s, r->id) && ask_runner(s, r->id, "stop", "", e);
    arena_init(&arena);
    bool ok = store_get_session(s, r->id, &arena, &now, e) && stop_locked(s, &now, e);
    arena_finish(&arena);
    return ok;
}

static bool change_budget(struct store *s, const struct session_record *r,
                          const struct arguments *a, struct err *e)
{
    int64_t trials = 0;
    str_to_int(a->operand[1], 1, MOST_TRIALS, &trials); // checked before
    if (!session_check_budget(r, trials, e))
        return false;
    if (store_runner(s, r->id))
        return ask_runner(s, r->id, "budget", a->operand[1], e);
    if (!store_set_budget(s, r->id, trials, r->budget_seconds, e))
        return false;
    printf("session %" PRId64 ": budget %" PRId64 " trial%s\n", r->id, trials,
           trials == 1 ? "" : "s");
    return true;
}

static const char *task_at(const void *context, size_t i)
{
    const struct task_record *task = context;
    return task[i].name;
}

// Tasks are told by their position to the runner.
static bool find_position(struct store *s, const struct session_record *r, const char *name,
                          struct arena *a, int64_t *position, struct err *e)
{
    struct task_record *task;
    int count;
    if (!store_get_tasks(s, r->id, a, &task, &count, e))
        return false;
    for (int i = 0; i < count; i++)
        if (str_equal(task[i].name, name)) {
            *position = task[i].position;
            return task[i].known_s <= 0 ||
                   err_set(e, "%s is known: it gets no rounds (tune --again tunes it too)", name);
        }
    const char *near = str_suggest(name, (size_t)count, task_at, task);
    return near ? err_usage(e, "%s has no task '%s' (did you mean '%s'?)", r->name, name, near)
                : err_usage(e, "%s has no task '%s'", r->name, name);
}

static bool pin_task(struct store *s, const struct session_record *r, const struct arguments *a,
                     struct err *e)
{
    struct arena arena;
    int64_t position = 0;
    char text[24];
    bool off = arguments_flag(a, "off");
    if (!r->scheduler)
        return err_usage(e, "session %" PRId64 " is no network: it has no tasks to pin", r->id);
    if (off != (a->operand_count == 1))
        return err_usage(e, "pin: name a task of %s, or --off", r->name);
    if (!store_runner(s, r->id))
        return err_set(e, "session %" PRId64 " is not running (a pin holds while it runs)", r->id);
    arena_init(&arena);
    bool ok = off || find_position(s, r, a->operand[1], &arena, &position, e);
    arena_finish(&arena);
    snprintf(text, sizeof text, "%" PRId64, position);
    return ok && ask_runner(s, r->id, "pin", text, e);
}

static int run_pin(const struct command *self, const struct arguments *a)
{
    (void)self;
    return with_session(a, pin_task);
}

static bool weigh_task(struct store *s, const struct session_record *r, const struct arguments *a,
                       struct err *e)
{
    struct arena arena;
    int64_t position;
    double weight = 1;
    char text[64];
    str_to_real(a->operand[2], &weight); // checked before
    if (!r->scheduler)
        return err_usage(e, "session %" PRId64 " is no network: it has no tasks to weigh", r->id);
    arena_init(&arena);
    bool ok = find_position(s, r, a->operand[1], &arena, &position, e);
    arena_finish(&arena);
    if (!ok)
        return false;
    snprintf(text, sizeof text, "%" PRId64 " %g", position, weight);
    if (store_runner(s, r->id))
        return ask_runner(s, r->id, "weigh", text, e);
    if (!store_put_weight(s, r->id, position, weight, e))
        return false;
    printf("session %" PRId64 ": %s weighs %g\n", r->id, a->operand[1], weight);
    return true;
}

static int run_weigh(const struct command *self, const struct arguments *a)
{
    struct err e;
    double weight;
    (void)self;
    if (str_to_real(a->operand[2], &weight) && weight >= LEAST_WEIGHT && weight <= MOST_WEIGHT)
        return with_session(a, weigh_task);
    err_set(&e, "'%s' is not a weight (%g to %g; 1 is the standard)", a->operand[2], LEAST_WEIGHT,
            MOST_WEIGHT);
    return fail_with(&e, EXIT_USAGE);
}

static int run_pause(const struct command *self, const struct arguments *a)
{
    (void)self;
    return with_session(a, pause_session);
}

static int run_stop(const struct command *self, const struct arguments *a)
{
    (void)self;
    return with_session(a, stop_session);
}

static int run_budget(const struct command *self, const struct arguments *a)
{
    struct err e;
    int64_t trials;
    (void)self;
    if (str_to_int(a->operand[1], 1, MOST_TRIALS, &trials))
        return with_session(a, change_budget);
    err_set(&e, "'%s' is not a number of trials", a->operand[1]);
    return fail_with(&e, EXIT_USAGE);
}

static const struct option pause_options[] = {
    {"off", OPTION_FLAG, NULL, "let a paused session that still has its runner go on"},
    OPTION_DB,
    OPTION_HELP,
    OPTION_END,
};

static const struct option control_options[] = {OPTION_DB, OPTION_HELP, OPTION_END};

const struct command cmd_pause = {
    .name = "pause",
    .operands = "ID",
    .help = "ask the runner of a session to pause it",
    .least = 1,
    .most = 1,
    .options = pause_options,
    .run = run_pause,
};

const struct command cmd_stop = {
    .name = "stop",
    .operands = "ID",
    .help = "end a session, keeping what it found (resume takes it up again)",
    .least = 1,
    .most = 1,
    .options = control_options,
    .run = run_stop,
};

const struct command cmd_budget = {
    .name = "budget",
    .operands = "ID TRIALS",
    .help = "change how many trials a session may spend, in all; not fewer than it has spent",
    .least = 2,
    .most = 2,
    .options = control_options,
    .run = run_budget,
};

static const struct option pin_options[] = {
    {"off", OPTION_FLAG, NULL, "let the scheduler give the rounds again"},
    OPTION_DB,
    OPTION_HELP,
    OPTION_END,
};

const struct command cmd_pin = {
    .name = "pin",
    .operands = "ID [TASK]",
    .help = "let one task of a network that runs get every round",
    .least = 1,
    .most = 2,
    .options = pin_options,
    .run = run_pin,
};

const struct command cmd_weigh = {
    .name = "weigh",
    .operands = "ID TASK WEIGHT",
    .help = "let a task of a network count so many times its uses when rounds are given",
    .least = 3,
    .most = 3,
    .options = control_options,
    .run = run_weigh,
};
