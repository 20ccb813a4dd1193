// The asks and results of every search are the same, byte for byte, as when sequences.txt was
// written. Sessions on synthetic landscapes and on a recording, with one worker and with several,
// undisturbed and killed and resumed; and simulated searches, with noise and without.
//
// A line of the file is a search: hashes of its asks, of its tells (outcome and exact fitness), and
// of what is left of it: the rows of the database and the events, or the simulated run.
// TILEWALK_UPDATE_GOLDEN=1 writes it anew: a difference means that stored sessions of earlier
// versions cannot be resumed any more.
#include "base/file.h"
#include "group.h"
#include "made.h"
#include "run.h"
#include "simulate/simulate.h"
#include "spaces.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { TRIALS = 40, SIMULATED = SIMULATED_RACE_FROM + 10, WORKERS = 3 };

#define RUGGED   "synthetic:rugged:seed=3:invalid=0.2"
#define MACHINE  "synthetic:machine:seed=2:invalid=0.1"
#define RECORDED "replay:"

static const char *const strategies[] = {
    "opevo",
    "random",
    "local",
    "annealing",
    "ga:pop=10",
    "de:pop=8",
    "grid",
    "gbfs",
    "na2c:hidden=8:minibatch=8",
    "rnn:hidden=8:embedding=4",
    "tpe:candidates=4:starts=8",
    "autotvm:plan=12:chains=8:steps=10",
    "walk:starts=6:points=30:leave=0:cost=0:surprise=0:climb=0",
    "ansor:plan=12:pop=64:generations=2:warmup=12",
    "forest:plan=8:trees=10:starts=4:near=8",
    "opevo:async=1:legal=1",
    "walk:starts=6:points=30:ahead=2:leave=0:cost=0:surprise=0:climb=0",
    "local:batch=4",
    "tpe:batch=5",
    "walk:starts=6:points=30:cost=0:surprise=0:climb=0",
    "walk:starts=6:points=30:ahead=2:cost=0:surprise=0:climb=0",
    "lfbo:trees=10",
    "portfolio",
    "feasible:starts=6:points=30:trees=10",
    "feasible:starts=6:points=30:trees=10:ahead=2",
    "walk:starts=6:points=30:cost=1:chance=1:surprise=0:climb=0",
    "walk:starts=6:points=30:cost=1:chance=1:ahead=2:surprise=0:climb=0",
    "walk:starts=6:points=30:leave=0.01:cost=2:climb=0",
    "walk:starts=6:points=30:leave=0.01:ahead=2:cost=2:climb=0",
    "walk:starts=6:points=30"};
static const char *const with_nests[] = {
    "walk:starts=6:points=30:leave=0:cost=0:surprise=0:climb=0",
    "walk:starts=6:points=30:profile=0:leave=0:cost=0:surprise=0:climb=0",
    "autotvm:plan=12:chains=8:steps=10:features=itervar",
    "ansor:plan=12:pop=64:generations=2:warmup=12"};

#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

// --- asks and results, seen between searches and strategies ---

enum ask __real_strategy_ask(struct strategy *s, struct config *out);
void __real_strategy_tell(struct strategy *s, const struct config *c, enum outcome o,
                          double fitness);
enum ask __wrap_strategy_ask(struct strategy *s, struct config *out);
void __wrap_strategy_tell(struct strategy *s, const struct config *c, enum outcome o,
                          double fitness);

static struct heard {
    struct str asks, tells;
    bool mixed; // asks say how much was told before: not so with several workers
    int told;
} heard;

static void add_config(struct str *out, const struct config *c)
{
    str_printf(out, "%016" PRIx64, config_hash(c));
}

enum ask __wrap_strategy_ask(struct strategy *s, struct config *out)
{
    enum ask asked = __real_strategy_ask(s, out);
    if (asked == ASK_WAIT) // how often depends on when a model is ready
        return asked;
    str_printf(&heard.asks, "%d ", heard.mixed ? heard.told : 0);
    if (asked == ASK_NEW)
        add_config(&heard.asks, out);
    return asked;
}

void __wrap_strategy_tell(struct strategy *s, const struct config *c, enum outcome o,
                          double fitness)
{
    add_config(&heard.tells, c);
    str_printf(&heard.tells, " %d %a ", (int)o, fitness);
    heard.told++;
    __real_strategy_tell(s, c, o, fitness);
}

static void listen(bool mixed)
{
    str_finish(&heard.asks);
    str_finish(&heard.tells);
    heard.told = 0;
    heard.mixed = mixed;
}

static uint64_t hash_of(const struct str *s)
{
    return hash_bytes(str_text(s), s->length);
}

// A build without XGBoost has no line of the strategies that need it, which the file has.
static const char *skip_missing(const char *lines)
{
    enum { COLUMN = 37 };
    char strategy[STRATEGY_TEXT];
    while (strcspn(lines, "\n") > COLUMN && sscanf(lines + COLUMN, "%255s", strategy) == 1 &&
           !strategy_possible(strategy, NULL))
        lines += strcspn(lines, "\n") + 1;
    return lines;
}

static void add_line(struct str *out, const char *what, const char *strategy, uint64_t seed,
                     const struct str *left)
{
    str_printf(out,
               "%-36s %-52s seed %" PRIu64 ": %3d told, asks %016" PRIx64 " tells %016" PRIx64
               " left %016" PRIx64 "\n",
               what, strategy, seed, heard.told, hash_of(&heard.asks), hash_of(&heard.tells),
               hash_of(left));
}

// --- sessions ---

struct scene {
    struct run run;
    struct recording *recording;
    char *recorded; // "replay:FILE"
    struct str lines;
};

static bool add_row(void *context, const struct trial_record *t)
{
    str_printf(context, "%" PRId64 " %" PRId64 " %" PRId64 " %d %s %s %.17g %s %s %s\n", t->ask,
               t->told, t->number, t->generation, t->key,
               t->outcome == OUTCOME_OPEN ? "open" : outcome_name(t->outcome), t->seconds,
               t->samples, t->reason ? t->reason : "-", t->origin ? t->origin : "-");
    return true;
}

static void add_rows(struct scene *s, int64_t id, struct str *out)
{
    struct err e;
    struct arena a;
    arena_init(&a);
    run_must(store_each_trial(s->run.store, id, 1, add_row, out, &e), &e);
    const struct session_record r = run_record(&s->run, id, &a);
    str_printf(out, "%s %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %.17g %d %s",
               state_name(r.state), r.message, r.trials, r.rejected, r.ok, r.best_ask,
               r.best_seconds, r.best_raced, r.population ? r.population : "-");
    arena_finish(&a);
}

static struct session_options options(const struct scene *s, const char *source,
                                      const char *strategy, uint64_t seed, int workers)
{
    struct session_options o = run_options(TRIALS);
    bool recorded = str_equal(source, RECORDED);
    o.space = recorded ? NULL : str_equal(source, MACHINE) ? "mm1" : o.space;
    o.source = recorded ? s->recorded : source;
    o.strategy = strategy;
    o.seed = seed;
    o.workers = workers;
    return o;
}

static void on_event(void *context, const struct event *event)
{
    const struct session_record *r = event->session;
    if (event->kind == EVENT_MESSAGE) // may say how long a fit took
        str_printf(context, "%s\n", event->level);
    else
        str_printf(context, "%d %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %.17g %d\n",
                   (int)event->kind, state_name(r->state), r->trials, r->rejected, r->ok,
                   r->best_ask, r->best_seconds, r->best_raced);
}

static void tune(struct scene *s, const char *source, const char *strategy, uint64_t seed)
{
    if (!strategy_possible(strategy, NULL))
        return;
    struct err e;
    int64_t id;
    struct str left = {0};
    struct session_options o = options(s, source, strategy, seed, 1);
    o.count_rejected = seed == 2;
    listen(true);
    struct engine *g = engine_create(s->run.store, on_event, &left);
    run_must(engine_start(g, &o, &id, &e) && engine_run(g, &e), &e);
    engine_destroy(g);
    add_rows(s, id, &left);
    add_line(&s->lines, source, strategy, seed, &left);
    str_finish(&left);
}

// A session that is killed twice has the line of one that was not, but for the events.
static void tune_killed(struct scene *s, const char *source, const char *strategy, uint64_t seed)
{
    if (!strategy_possible(strategy, NULL))
        return;
    struct str left = {0};
    struct session_options o = options(s, source, strategy, seed, WORKERS);
    struct arena a;
    int64_t id = 1;
    arena_init(&a);
    run_killed(&s->run, "told:13", 0, &o);
    while (id < INT64_MAX) { // the newest
        struct err ignored;
        struct session_record r;
        if (!store_get_session(s->run.store, id + 1, &a, &r, &ignored))
            break;
        id++;
    }
    arena_finish(&a);
    run_killed(&s->run, "put:9", id, NULL);
    listen(false);
    run_resume(&s->run, id, 0);
    add_rows(s, id, &left);
    add_line(&s->lines, "killed", strategy, seed, &left);
    str_finish(&left);
}

static void tune_workers(struct scene *s, const char *source, const char *strategy, uint64_t seed)
{
    if (!strategy_possible(strategy, NULL))
        return;
    struct str left = {0};
    struct session_options o = options(s, source, strategy, seed, WORKERS);
    listen(false);
    int64_t id = run_tune(&s->run, &o);
    add_rows(s, id, &left);
    add_line(&s->lines, "3 workers", strategy, seed, &left);
    str_finish(&left);
}

// Starts a session with the results of two others: good configurations, and a training set.
static void tune_on(struct scene *s, const char *source, const char *strategy, uint64_t seed)
{
    if (!strategy_possible(strategy, NULL))
        return;
    struct str left = {0};
    struct session_options o = options(s, source, strategy, seed, 1);
    o.warm = "1";
    o.transfer = "1,5";
    listen(true);
    int64_t id = run_tune(&s->run, &o);
    add_rows(s, id, &left);
    add_line(&s->lines, "after others", strategy, seed, &left);
    str_finish(&left);
}

static void all_sessions(struct scene *s)
{
    for (int i = 0; i < COUNT(strategies); i++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            tune(s, RUGGED, strategies[i], seed);
            tune(s, RECORDED, strategies[i], seed);
        }
    for (int i = 0; i < COUNT(strategies); i++) {
        tune_workers(s, RUGGED, strategies[i], 1);
        tune_killed(s, RUGGED, strategies[i], 1);
        tune_on(s, RUGGED, strategies[i], 1);
    }
    for (int i = 0; i < COUNT(with_nests); i++)
        for (uint64_t seed = 1; seed <= 2; seed++)
            tune(s, MACHINE, with_nests[i], seed);
}

// --- simulated searches ---

static void add_run(const struct simulated_run *r, struct str *out)
{
    for (int i = 0; i < r->count; i++)
        str_printf(out, "%" PRId64 " %a\n", r->step[i].trial, r->step[i].seconds);
    str_printf(out, "%" PRId64 " %" PRId64 " %a %a %a", r->trials, r->asks, r->returned_s,
               r->best_s, r->recorded_s);
}

static void simulate_one(struct scene *s, const char *strategy, uint64_t seed, bool noise)
{
    if (!strategy_possible(strategy, NULL))
        return;
    struct str left = {0};
    struct simulation one = {.recording = s->recording,
                             .strategy = strategy,
                             .trials = SIMULATED,
                             .repeats = 1,
                             .seed = seed,
                             .noise = noise};
    listen(true);
    run_simulation(&one, 1);
    add_run(&one.run[0], &left);
    add_line(&s->lines, noise ? "simulated, noise" : "simulated", strategy, seed, &left);
    simulation_finish(&one);
    str_finish(&left);
}

static void all_simulations(struct scene *s)
{
    for (int i = 0; i < COUNT(strategies); i++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            simulate_one(s, strategies[i], seed, false);
            simulate_one(s, strategies[i], seed, true);
        }
}

// --- against the file ---

static int setup(void **state)
{
    struct err e;
    struct scene *s = mem_zero(1, sizeof *s);
    struct made made = {.space = space_mixed(),
                        .recorded = 50,
                        .failing = 20,
                        .rejected = 10,
                        .runs = 5,
                        .costs = true};
    run_init(&s->run);
    s->recording = made_recording(&made, "made");
    char *path = path_join(s->run.folder, "made.json");
    run_must(recording_write(s->recording, "tilewalk", path, &e), &e);
    s->recorded = mem_printf(RECORDED "%s", path);
    free(path);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct scene *s = *state;
    run_finish(&s->run);
    recording_destroy(s->recording);
    free(s->recorded);
    str_finish(&s->lines);
    listen(false);
    free(s);
    return 0;
}

static void compare(const char *wanted, char *found)
{
    int line = 0, wrong = 0;
    for (char *rest, *at = strtok_r(found, "\n", &rest); at; at = strtok_r(NULL, "\n", &rest)) {
        wanted = skip_missing(wanted);
        size_t length = strcspn(wanted, "\n");
        line++;
        if (length != strlen(at) || memcmp(wanted, at, length) != 0) {
            print_error("line %d\n wanted %.*s\n found  %s\n", line, (int)length, wanted, at);
            wrong++;
        }
        wanted += length + (wanted[length] == '\n');
    }
    if (wrong || *skip_missing(wanted))
        fail_msg("%d of %d searches go another way", wrong, line);
}

static void every_search_is_reproduced(void **state)
{
    struct scene *s = *state;
    struct err e;
    size_t length;
    char *wanted, *path = path_join(getenv("TILEWALK_DATA"), "tests/engine/sequences.txt");
    all_sessions(s);
    all_simulations(s);
    if (getenv("TILEWALK_UPDATE_GOLDEN"))
        run_must(file_write(path, str_text(&s->lines), s->lines.length, &e), &e);
    run_must(file_read(path, &wanted, &length, &e), &e);
    char *found = str_take(&s->lines);
    compare(wanted, found);
    free(found);
    free(wanted);
    free(path);
}

static bool count_chosen(void *context, const struct trial_record *t)
{
    *(int64_t *)context += t->number > 10 && t->outcome == OUTCOME_OK;
    return true;
}

// Every result of a trial that walk's model chose counts once, failed ones and its ten starts do
// not; an interrupted session counts as if it had not been interrupted.
static void predictions_are_compared_with_results(void **state)
{
    enum { CHOSEN_TRIALS = 40 };
    (void)state;
    struct run run, *r = &run;
    run_init(r);
    struct session_options o = run_options(CHOSEN_TRIALS);
    struct calibration_record c, again;
    struct err e;
    int64_t chosen = 0;
    o.strategy = "walk";
    int64_t one = run_tune(r, &o);
    run_must(store_each_trial(r->store, one, 1, count_chosen, &chosen, &e), &e);
    run_must(store_get_calibration(r->store, one, &c, &e), &e);
    assert_true(chosen > 0 && c.results == chosen);
    assert_true(0 < c.within_50 && c.within_50 <= c.within_90 && c.within_90 <= c.results);
    o.trials = CHOSEN_TRIALS / 2;
    int64_t other = run_tune(r, &o);
    run_resume(r, other, CHOSEN_TRIALS);
    run_must(store_get_calibration(r->store, other, &again, &e), &e);
    assert_memory_equal(&c, &again, sizeof c);
    o.strategy = "local";
    run_must(store_get_calibration(r->store, run_tune(r, &o), &c, &e), &e);
    assert_int_equal(c.results, 0);
    run_finish(r);
}

TEST_GROUP(sequences)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_are_compared_with_results),
        cmocka_unit_test_setup_teardown(every_search_is_reproduced, setup, teardown),
    };
    return cmocka_run_group_tests_name("sequences", tests, NULL, NULL);
}
