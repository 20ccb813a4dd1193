// pause, stop, set: what may be changed of a session, also while another process runs it.
#include "cli/common.h"
#include "engine/session_setup.h"

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

static bool ask_running(struct store *s, const struct session_record *r, const char *verb,
                        const char *doing, struct err *e)
{
    return store_runner(s, r->id)
               ? ask_runner(s, r->id, verb, "", doing, e)
               : err_set(e,
                         "session %" PRId64
                         " is not running (nothing to pause; tilewalk resume %" PRId64
                         "%s runs it)",
                         r->id, r->id, store_option(s));
}

static bool pause_session(struct store *s, const struct session_record *r, struct err *e)
{
    return ask_running(s, r, "pause", "pausing", e);
}

static bool continue_session(struct store *s, const struct session_record *r, struct err *e)
{
    return ask_running(s, r, "resume", "resuming", e);
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

static int with_session(const struct arguments *a,
                        bool (*act)(struct store *s, const struct session_record *r, struct err *e))
{
    struct err e;
    int64_t id;
    struct arena arena;
    struct session_record record;
    struct store *s =
        common_session_id(a->operand[0], &id, &e) ? common_open(a, STORE_WRITE, &e) : NULL;
    arena_init(&arena);
    bool ok = s && common_take_network(s, &id, &e) &&
              store_get_session(s, id, &arena, &record, &e) && act(s, &record, &e);
    arena_finish(&arena);
    store_close(s);
    return common_exit(ok, &e);
}

static int run_pause(const struct command *self, const struct arguments *a)
{
    (void)self;
    return with_session(a, arguments_flag(a, "off") ? continue_session : pause_session);
}

static int run_stop(const struct command *self, const struct arguments *a)
{
    (void)self;
    return with_session(a, stop_session);
}

// --- set ---

struct change {
    struct store *store;
    int64_t id;                      // as the user named it
    const struct session_record *of; // its network, or itself
    struct arena *arena;
    char *key, *value;
    int64_t trials;
    char *task; // of weight=TASK:WEIGHT
    double weight;
};

static bool set_trials(const struct change *c, struct err *e)
{
    const struct session_record *r = c->of;
    if (!session_check_budget(r, c->trials, e))
        return false;
    if (store_runner(c->store, r->id))
        return ask_runner(c->store, r->id, "budget", c->value, "changing the budget of", e);
    if (!store_set_budget(c->store, r->id, c->trials, r->budget_seconds, e))
        return false;
    printf("session %" PRId64 " has a budget of %" PRId64 " trial%s\n", r->id, c->trials,
           c->trials == 1 ? "" : "s");
    return true;
}

static bool set_note(const struct change *c, struct err *e)
{
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

// Finds the position by which the runner knows a task.
static bool find_position(const struct change *c, const char *name, int64_t *position,
                          struct err *e)
{
    struct task_record *task;
    int count;
    const struct session_record *r = c->of;
    if (!r->scheduler)
        return err_usage(e, "session %" PRId64 " is no network: it has no tasks to %s", r->id,
                         str_equal(c->key, "pin") ? "pin" : "weigh");
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
    int64_t position = 0, id = c->of->id;
    bool off = !*c->value;
    if (!off && !find_position(c, c->value, &position, e))
        return false;
    if (!store_runner(c->store, id))
        return err_set(e, "session %" PRId64 " is not running (a pin holds while it runs)", id);
    return ask_runner(
        c->store, id, "pin", arena_printf(c->arena, "%" PRId64, position),
        off ? "unpinning the tasks of" : arena_printf(c->arena, "pinning task %s of", c->value), e);
}

static bool set_weight(const struct change *c, struct err *e)
{
    int64_t position, id = c->of->id;
    if (!find_position(c, c->task, &position, e))
        return false;
    if (store_runner(c->store, id))
        return ask_runner(c->store, id, "weigh",
                          arena_printf(c->arena, "%" PRId64 " %g", position, c->weight),
                          arena_printf(c->arena, "weighing task %s of", c->task), e);
    if (!store_put_weight(c->store, id, position, c->weight, e))
        return false;
    printf("session %" PRId64 ": task %s has weight %g\n", id, c->task, c->weight);
    return true;
}

static const struct key {
    const char *name, *command; // the command that it was once
    bool (*set)(const struct change *c, struct err *e);
} keys[] = {
    {"trials", "budget", set_trials},
    {"note", "note", set_note},
    {"pin", "pin", set_pin},
    {"weight", "weigh", set_weight},
};
enum { KEYS = sizeof keys / sizeof *keys };

// Checks the value and parses it, before anything is opened.
static bool check_change(struct change *c, struct err *e)
{
    if (str_equal(c->key, "trials"))
        return str_to_int(c->value, 1, MOST_TRIALS, &c->trials) ||
               err_usage(e, "'%s' is not a number of trials", c->value);
    // A note is printed in lists, and a terminal would obey it.
    for (const char *at = c->value; str_equal(c->key, "note") && *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            return err_usage(e, "a note is one line of text, without control characters");
    if (!str_equal(c->key, "weight"))
        return true;
    char *weight = strrchr(c->value, ':');
    if (!weight)
        return err_usage(e, "weight=%s: expected weight=TASK:WEIGHT", c->value);
    c->task = arena_printf(c->arena, "%.*s", (int)(weight - c->value), c->value);
    return (str_to_real(weight + 1, &c->weight) && c->weight >= LEAST_WEIGHT &&
            c->weight <= MOST_WEIGHT) ||
           err_usage(e, "'%s' is not a weight (%g to %g; 1 is the standard)", weight + 1,
                     LEAST_WEIGHT, MOST_WEIGHT);
}

static const struct key *find_key(const char *name)
{
    const struct key *k = keys;
    while (k < keys + KEYS && !str_equal(k->name, name))
        k++;
    return k < keys + KEYS ? k : NULL;
}

// Reads the changes behind ID. A command that `set` replaces has one, in words of its own.
static bool read_changes(const struct command *self, const struct arguments *a, struct arena *arena,
                         struct change *out, int *count, struct err *e)
{
    struct str joined = {0};
    const char *lead = "=";
    *count = self->hidden ? 1 : a->operand_count - 1;
    for (int k = 0; k < KEYS && self->hidden; k++)
        if (str_equal(self->name, keys[k].command))
            str_add(&joined, keys[k].name);
    for (int i = 1; i < a->operand_count && self->hidden; i++, lead = ":")
        str_printf(&joined, "%s%s", lead, a->operand[i]);
    if (self->hidden && arguments_flag(a, "off") == (a->operand_count > 1))
        return err_usage(e, "%s: name a task, or --off", self->name);
    const char *old = common_keep(arena, &joined);
    for (int i = 0; i < *count; i++) {
        out[i].arena = arena;
        out[i].key = arena_strdup(arena, self->hidden ? old : a->operand[i + 1]);
        char *equals = out[i].key + strcspn(out[i].key, "=");
        out[i].value = *equals ? equals + 1 : equals;
        bool named = self->hidden || *equals;
        *equals = '\0';
        if (!named || !find_key(out[i].key))
            return err_usage(e,
                             "set: '%s' is none of trials=N, note=TEXT, pin=TASK and "
                             "weight=TASK:WEIGHT",
                             a->operand[i + 1]);
        if (!check_change(&out[i], e))
            return false;
    }
    return true;
}

static int run_set(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct arena arena;
    struct session_record record = {.id = 0};
    int64_t id, network;
    int count;
    bool ok = true;
    arena_init(&arena);
    struct change *change = arena_zero(&arena, (size_t)a->operand_count, sizeof *change);
    struct store *s = common_session_id(a->operand[0], &id, &e) &&
                              read_changes(self, a, &arena, change, &count, &e)
                          ? common_open(a, STORE_WRITE, &e)
                          : NULL;
    network = id;
    for (int i = 0; ok && s && i < count; i++) {
        const struct key *key = find_key(change[i].key);
        bool reads = key->set != set_note && !record.id; // a damaged session may get a note
        change[i].store = s;
        change[i].id = id;
        change[i].of = &record;
        ok = (!reads || (common_take_network(s, &network, &e) &&
                         store_get_session(s, network, &arena, &record, &e))) &&
             key->set(&change[i], &e);
    }
    ok = ok && s;
    arena_finish(&arena);
    store_close(s);
    return common_exit(ok, &e);
}

static const struct option pause_options[] = {
    {"off", OPTION_FLAG, .hidden = true}, // what resume does
    OPTION_DB,
    OPTION_HELP,
    OPTION_END,
};

static const struct option control_options[] = {OPTION_DB, OPTION_HELP, OPTION_END};

const struct command cmd_pause = {
    .name = "pause",
    .operands = "ID",
    .help = "ask the runner of a session to pause it (resume continues it)",
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
