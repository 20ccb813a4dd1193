// pause, stop, set: what may be changed of a session, also while another process runs it.
#include "cli/common.h"
#include "engine/session.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define MOST_TRIALS  (INT64_MAX / 2)
#define LEAST_WEIGHT 0.01
#define MOST_WEIGHT  100.0

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
static bool stop_session(struct store *s, const struct session_record *r, struct err *e)
{
    struct arena arena;
    struct session_record now;
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

static int run_control(const struct command *self, const struct arguments *a)
{
    struct err e;
    int64_t id;
    struct arena arena;
    struct session_record record;
    struct store *s =
        common_session_id(a->operand[0], &id, &e) ? common_open(a, STORE_WRITE, &e) : NULL;
    arena_init(&arena);
    bool ok = s && common_take_network(s, &id, &e) && store_get_session(s, id, &arena, &record, &e);
    if (ok)
        ok = str_equal(self->name, "stop") ? stop_session(s, &record, &e)
                                           : pause_session(s, &record, a, &e);
    arena_finish(&arena);
    store_close(s);
    return common_exit(ok, &e);
}

// --- set ---

struct change {
    struct store *store;             // NULL: the value is only checked
    int64_t id;                      // as the user named it
    const struct session_record *of; // its network, or itself
    struct arena *arena;
    const struct key *key;
    const char *value;
};

struct key {
    const char *name, *command; // the command that it was once
    bool (*set)(const struct change *c, struct err *e);
};

static bool set_trials(const struct change *c, struct err *e)
{
    const struct session_record *r = c->of;
    int64_t trials;
    if (!str_to_int(c->value, 1, MOST_TRIALS, &trials))
        return err_usage(e, "'%s' is not a number of trials", c->value);
    if (!c->store)
        return true;
    if (!session_check_budget(r, trials, e))
        return false;
    if (store_runner(c->store, r->id))
        return ask_runner(c->store, r->id, "budget", c->value, "changing the budget of", e);
    if (!store_set_budget(c->store, r->id, trials, r->budget_seconds, e))
        return false;
    printf("session %" PRId64 " has a budget of %" PRId64 " trial%s\n", r->id, trials,
           trials == 1 ? "" : "s");
    return true;
}

static bool set_note(const struct change *c, struct err *e)
{
    for (const char *at = c->value; *at; at++) // it is printed in lists, and a terminal would obey
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            return err_usage(e, "a note is one line of text, without control characters");
    if (!c->store)
        return true;
    if (!store_set_note(c->store, c->id, *c->value ? c->value : NULL, e))
        return false;
    if (*c->value)
        printf("session %" PRId64 ": %s\n", c->id, c->value);
    else
        printf("session %" PRId64 " has no note\n", c->id);
    return true;
}

static const char *task_at(const void *context, size_t i)
{
    const struct task_record *task = context;
    return task[i].name;
}

// Finds the position by which the runner knows a task of a network; `name` NULL: none.
static bool find_position(const struct change *c, const char *name, int64_t *position,
                          struct err *e)
{
    struct task_record *task;
    int count;
    const struct session_record *r = c->of;
    if (!r->scheduler)
        return err_usage(e, "session %" PRId64 " is no network: it has no tasks to %s", r->id,
                         c->key->command);
    if (!name)
        return true;
    if (!store_get_tasks(c->store, r->id, c->arena, &task, &count, e))
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

static bool set_pin(const struct change *c, struct err *e)
{
    int64_t position = 0;
    bool off = !*c->value;
    if (!c->store)
        return true;
    if (!find_position(c, off ? NULL : c->value, &position, e))
        return false;
    if (!store_runner(c->store, c->of->id))
        return err_set(e, "session %" PRId64 " is not running (a pin holds while it runs)",
                       c->of->id);
    return ask_runner(
        c->store, c->of->id, "pin", arena_printf(c->arena, "%" PRId64, position),
        off ? "unpinning the tasks of" : arena_printf(c->arena, "pinning task %s of", c->value), e);
}

static bool set_weight(const struct change *c, struct err *e)
{
    int64_t position;
    double weight;
    const char *colon = strrchr(c->value, ':');
    if (!colon)
        return err_usage(e, "weight=%s: expected weight=TASK:WEIGHT", c->value);
    if (!str_to_real(colon + 1, &weight) || weight < LEAST_WEIGHT || weight > MOST_WEIGHT)
        return err_usage(e, "'%s' is not a weight (%g to %g; 1 is the standard)", colon + 1,
                         LEAST_WEIGHT, MOST_WEIGHT);
    const char *task = arena_printf(c->arena, "%.*s", (int)(colon - c->value), c->value);
    if (!c->store)
        return true;
    if (!find_position(c, task, &position, e))
        return false;
    if (store_runner(c->store, c->of->id))
        return ask_runner(c->store, c->of->id, "weigh",
                          arena_printf(c->arena, "%" PRId64 " %g", position, weight),
                          arena_printf(c->arena, "weighing task %s of", task), e);
    if (!store_put_weight(c->store, c->of->id, position, weight, e))
        return false;
    printf("session %" PRId64 ": task %s has weight %g\n", c->of->id, task, weight);
    return true;
}

static const struct key keys[] = {
    {"trials", "budget", set_trials},
    {"note", "note", set_note},
    {"pin", "pin", set_pin},
    {"weight", "weigh", set_weight},
};

// Reads a change and checks its value: the operand KEY=VALUE, or what a command that `set` replaces
// has as operands.
static bool read_change(const struct command *self, const struct arguments *a, int operand,
                        struct change *out, struct err *e)
{
    bool old = self->hidden;
    const char *given = old ? self->name : a->operand[operand];
    size_t length = strcspn(given, "=");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *name = old ? keys[i].command : keys[i].name;
        if (strlen(name) == length && !strncmp(name, given, length) && (old || given[length]))
            out->key = &keys[i];
    }
    if (!out->key)
        return err_usage(
            e, "set: '%s' is none of trials=N, note=TEXT, pin=TASK and weight=TASK:WEIGHT", given);
    if (old && arguments_flag(a, "off") == (a->operand_count > 1))
        return err_usage(e, "%s: name a task, or --off", self->name);
    out->value = !old                    ? given + length + 1
                 : a->operand_count == 1 ? ""
                 : a->operand_count == 2
                     ? a->operand[1]
                     : arena_printf(out->arena, "%s:%s", a->operand[1], a->operand[2]);
    return out->key->set(out, e);
}

static int run_set(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct arena arena;
    struct session_record record = {.id = 0};
    int64_t id, network;
    int count = self->hidden ? 1 : a->operand_count - 1;
    arena_init(&arena);
    struct change *change = arena_zero(&arena, (size_t)count, sizeof *change);
    bool ok = common_session_id(a->operand[0], &id, &e);
    network = id;
    for (int i = 0; ok && i < count; i++) {
        change[i] = (struct change){.id = id, .of = &record, .arena = &arena};
        ok = read_change(self, a, i + 1, &change[i], &e);
    }
    struct store *s = ok ? common_open(a, STORE_WRITE, &e) : NULL;
    ok = s != NULL;
    for (int i = 0; ok && i < count; i++) {
        // A damaged session may get a note: it is not read for that.
        bool reads = change[i].key->set != set_note && !record.id;
        change[i].store = s;
        ok = (!reads || (common_take_network(s, &network, &e) &&
                         store_get_session(s, network, &arena, &record, &e))) &&
             change[i].key->set(&change[i], &e);
    }
    arena_finish(&arena);
    store_close(s);
    return common_exit(ok, &e);
}

static const struct option pause_options[] = {
    {"off", OPTION_FLAG, .hidden = true}, // what resume does
    OPTION_DB,
    OPTION_END,
};

static const struct option control_options[] = {OPTION_DB, OPTION_END};

const struct command cmd_pause = {
    .name = "pause",
    .operands = "ID",
    .help = "ask the runner of a session to pause it (resume continues it)",
    .least = 1,
    .most = 1,
    .options = pause_options,
    .run = run_control,
};

const struct command cmd_stop = {
    .name = "stop",
    .operands = "ID",
    .help = "stop a session and keep its results (resume continues it)",
    .least = 1,
    .most = 1,
    .options = control_options,
    .run = run_control,
};

const struct command cmd_set = {
    .name = "set",
    .operands = "ID KEY=VALUE...",
    .help = "change a session, also while it runs: trials=N, its budget; note=TEXT, which ls and "
            "show print; of a network, pin=TASK, which gets every round (pin= none), and "
            "weight=TASK:WEIGHT, by which its uses count when rounds are allotted",
    .least = 2,
    .most = INT_MAX,
    .options = control_options,
    .run = run_set,
};

// The commands that `set` replaces.
#define REPLACED(word, form, fewest, maximum, table)                                               \
    {                                                                                              \
        .name = word, .operands = form, .help = "tilewalk set does this", .least = fewest,         \
        .most = maximum, .options = table, .run = run_set, .hidden = true                          \
    }
const struct command cmd_budget = REPLACED("budget", "ID TRIALS", 2, 2, control_options);
const struct command cmd_note = REPLACED("note", "ID TEXT", 2, 2, control_options);
const struct command cmd_pin = REPLACED("pin", "ID [TASK]", 1, 2, pause_options);
const struct command cmd_weigh = REPLACED("weigh", "ID TASK WEIGHT", 3, 3, control_options);
