// pause, stop, budget, pin, weigh: requests to a session that another process runs.
#include "cli/common.h"
#include "engine/session.h"

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
    struct store *s =
        common_session_id(a->operand[0], &id, &e) ? common_open(a, STORE_WRITE, &e) : NULL;
    arena_init(&arena);
    bool ok = s && common_take_network(s, &id, &e) &&
              store_get_session(s, id, &arena, &record, &e) && act(s, &record, a, &e);
    arena_finish(&arena);
    store_close(s);
    return common_exit(ok, &e);
}

// Sends a command to the runner. `doing` is the sentence that is printed: "pausing".
static bool ask_runner(struct store *s, int64_t id, const char *verb, const char *argument,
                       const char *doing, struct err *e)
{
    bool ok = store_push_command(s, id, verb, argument, e);
    if (ok)
        printf("%s session %" PRId64 "\n", doing, id);
    return ok;
}

static bool pause_session(struct store *s, const struct session_record *r,
                          const struct arguments *a, struct err *e)
{
    if (!store_runner(s, r->id))
        return err_set(e,
                       "session %" PRId64
                       " is not running (nothing to pause; tilewalk resume %" PRId64 "%s runs it)",
                       r->id, r->id, store_option(s));
    bool off = arguments_flag(a, "off");
    return ask_runner(s, r->id, off ? "resume" : "pause", "", off ? "resuming" : "pausing", e);
}

// Stops a session. One without a runner is stopped right here, one that has ended stays as it is.
// The record was read before the lock was taken, and its last runner may have ended in between.
static bool stop_session(struct store *s, const struct session_record *r, const struct arguments *a,
                         struct err *e)
{
    struct arena arena;
    struct session_record now;
    (void)a;
    if (!store_lock_session(s, r->id, e))
        return store_runner(s, r->id) && ask_runner(s, r->id, "stop", "", "stopping", e);
    arena_init(&arena);
    bool ok = store_get_session(s, r->id, &arena, &now, e);
    if (ok && (now.state == STATE_DONE || now.state == STATE_STOPPED)) {
        printf("session %" PRId64 " is %s already\n", now.id, state_name(now.state));
    } else if (ok) {
        common_take_ran(s, &now); // its last runner died
        ok = store_set_state(s, now.id, STATE_STOPPED, "stopped by the user", now.ran_seconds, e);
        if (ok)
            printf("session %" PRId64 " is stopped\n", now.id);
    }
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
        return ask_runner(s, r->id, "budget", a->operand[1], "changing the budget of", e);
    if (!store_set_budget(s, r->id, trials, r->budget_seconds, e))
        return false;
    printf("session %" PRId64 " has a budget of %" PRId64 " trial%s\n", r->id, trials,
           trials == 1 ? "" : "s");
    return true;
}

static const char *task_at(const void *context, size_t i)
{
    const struct task_record *task = context;
    return task[i].name;
}

// Finds the position by which the runner knows a task.
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
                   err_set(
                       e,
                       "%s has a known best kernel: it gets no rounds (tune --again tunes it too)",
                       name);
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
    char text[24], doing[160];
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
    snprintf(doing, sizeof doing, off ? "unpinning the tasks of" : "pinning task %s of",
             a->operand[1]);
    return ok && ask_runner(s, r->id, "pin", text, doing, e);
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
    char text[64], doing[160];
    str_to_real(a->operand[2], &weight); // checked before
    if (!r->scheduler)
        return err_usage(e, "session %" PRId64 " is no network: it has no tasks to weigh", r->id);
    arena_init(&arena);
    bool ok = find_position(s, r, a->operand[1], &arena, &position, e);
    arena_finish(&arena);
    if (!ok)
        return false;
    snprintf(text, sizeof text, "%" PRId64 " %g", position, weight);
    snprintf(doing, sizeof doing, "weighing task %s of", a->operand[1]);
    if (store_runner(s, r->id))
        return ask_runner(s, r->id, "weigh", text, doing, e);
    if (!store_put_weight(s, r->id, position, weight, e))
        return false;
    printf("session %" PRId64 ": task %s has weight %g\n", r->id, a->operand[1], weight);
    return true;
}

static int run_weigh(const struct command *self, const struct arguments *a)
{
    struct err e;
    double weight;
    (void)self;
    if (str_to_real(a->operand[2], &weight) && weight >= LEAST_WEIGHT && weight <= MOST_WEIGHT)
        return with_session(a, weigh_task);
    err_usage(&e, "'%s' is not a weight (%g to %g; 1 is the standard)", a->operand[2], LEAST_WEIGHT,
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
    err_usage(&e, "'%s' is not a number of trials", a->operand[1]);
    return fail_with(&e, EXIT_USAGE);
}

static const struct option pause_options[] = {
    {"off", OPTION_FLAG, NULL, "resume a paused session that still has its runner"},
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
    .help = "stop a session and keep its results (resume continues it)",
    .least = 1,
    .most = 1,
    .options = control_options,
    .run = run_stop,
};

const struct command cmd_budget = {
    .name = "budget",
    .operands = "ID TRIALS",
    .help = "change the number of trials that a session may spend in all; not below those that are "
            "spent",
    .least = 2,
    .most = 2,
    .options = control_options,
    .run = run_budget,
};

static const struct option pin_options[] = {
    {"off", OPTION_FLAG, NULL, "let the scheduler allot the rounds again"},
    OPTION_DB,
    OPTION_HELP,
    OPTION_END,
};

const struct command cmd_pin = {
    .name = "pin",
    .operands = "ID [TASK]",
    .help = "give every round of a running network to one of its tasks",
    .least = 1,
    .most = 2,
    .options = pin_options,
    .run = run_pin,
};

const struct command cmd_weigh = {
    .name = "weigh",
    .operands = "ID TASK WEIGHT",
    .help = "weigh a task of a network: its uses count so many times when rounds are allotted",
    .least = 3,
    .most = 3,
    .options = control_options,
    .run = run_weigh,
};
