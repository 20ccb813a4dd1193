#include "simulate/simulate.h"

#include "base/os.h"
#include "engine/stored.h"
#include "trial/source.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TICK_NS      100000000
#define MOST_THREADS 256

// --- the final re-ranking ---
//
// The best few of a search with noise are measured again, and the search returns the fastest of
// them, not one that was lucky once (engine/session_race.c does this on devices). A measurement
// here is a single run, so there are more racers than on devices: each is measured once more, and
// then the fastest of them several times, in turns.

#define RACERS    10
#define FINALISTS 3
#define FINAL     5 // rounds
_Static_assert(RACERS + FINALISTS * FINAL == SIMULATED_RACE_TRIALS, "all are spent");

struct race {
    int count;
    const struct record_entry *racer[RACERS]; // fastest first
    double seconds[RACERS];                   // as measured in the search
};

static void race_enter(struct race *r, const struct record_entry *entry, double seconds)
{
    int place = r->count;
    while (place > 0 && seconds < r->seconds[place - 1])
        place--;
    if (place == RACERS)
        return;
    if (r->count < RACERS)
        r->count++;
    for (int i = r->count - 1; i > place; i--) {
        r->racer[i] = r->racer[i - 1];
        r->seconds[i] = r->seconds[i - 1];
    }
    r->racer[place] = entry;
    r->seconds[place] = seconds;
}

static int fastest(const double *sum, int count)
{
    int best = 0;
    for (int i = 1; i < count; i++)
        if (sum[i] < sum[best])
            best = i;
    return best;
}

// Returns the fastest configuration of the re-ranking; NULL: nothing was valid.
static const struct record_entry *race_winner(const struct race *r,
                                              double (*measure)(void *context,
                                                                const struct record_entry *entry),
                                              void *context)
{
    double sum[RACERS], total[FINALISTS];
    int finalist[FINALISTS], finalists = 0;
    for (int i = 0; i < r->count; i++)
        sum[i] = measure(context, r->racer[i]);
    for (; finalists < FINALISTS && finalists < r->count; finalists++) {
        int i = fastest(sum, r->count);
        finalist[finalists] = i;
        total[finalists] = sum[i];
        sum[i] = INFINITY; // not again
    }
    for (int round = 0; round < FINAL; round++)
        for (int i = 0; i < finalists; i++)
            total[i] += measure(context, r->racer[finalist[i]]);
    return finalists ? r->racer[finalist[fastest(total, finalists)]] : NULL;
}

bool simulate_is_trial(const struct record_entry *entry)
{
    return entry && entry->outcome != OUTCOME_REJECTED;
}

// --- one run ---

struct judge { // the context of a search problem
    const struct recording *recording;
};

static bool simulated_is_legal(void *context, const struct config *c)
{
    const struct judge *judge = context;
    return simulate_is_trial(recording_find(judge->recording, c));
}

static void simulated_draw(void *context, struct rng *rng, struct config *out)
{
    const struct judge *judge = context;
    recorded_draw(judge->recording, rng, out);
}

static struct search_problem problem_of(struct judge *judge)
{
    return (struct search_problem){.space = judge->recording->space,
                                   .legal = simulated_is_legal,
                                   .context = judge,
                                   .draw = recorded_is_sparse(judge->recording) ? simulated_draw
                                                                                : NULL};
}

struct search { // a run under way
    const struct simulation *simulation;
    struct cycle cycle;
    struct rng noise;
    double started_s; // CPU time of the thread then
    double fitted_s;  // CPU time of fitting models, on a thread of the strategy's own
    struct race race;
    struct simulated_run *out;
};

static double own_seconds(const struct search *s)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec - s->started_s + s->fitted_s;
}

static void take_lead(struct search *s, const struct record_entry *entry)
{
    struct simulated_run *out = s->out;
    MEM_GROW(out->step, out->count, out->capacity);
    out->step[out->count++] = (struct simulated_step){
        .trial = out->trials,
        .seconds = entry->seconds,
        .at_s = out->recorded_s + own_seconds(s),
    };
}

// Spends a trial on a recorded configuration. Returns its time: the mean or, with noise, one of its
// runs; 0: it failed.
static double spend(void *search, const struct record_entry *entry)
{
    struct search *s = search;
    s->out->trials++;
    s->out->failed += entry->outcome != OUTCOME_OK;
    s->out->recorded_s += replay_source_cost(entry);
    if (entry->outcome != OUTCOME_OK)
        return 0;
    if (!s->simulation->noise || entry->run_count == 0)
        return entry->seconds;
    double run = entry->runs[rng_below(&s->noise, (uint64_t)entry->run_count)];
    return run > 0 ? run : entry->seconds;
}

static int64_t race_trials(const struct simulation *s)
{
    return s->noise && s->trials >= SIMULATED_RACE_FROM ? SIMULATED_RACE_TRIALS : 0;
}

static void answer(struct search *s, struct cycle_trial *t, const struct record_entry *entry)
{
    struct simulated_run *out = s->out;
    if (!simulate_is_trial(entry)) {
        cycle_answer(&s->cycle, t, OUTCOME_REJECTED, 0);
        return;
    }
    t->took_s = replay_source_cost(entry);
    cycle_answer(&s->cycle, t, entry->outcome, spend(s, entry));
    if (t->outcome != OUTCOME_OK)
        return;
    race_enter(&s->race, entry, t->seconds);
    if (out->best_s == 0 || entry->seconds < out->best_s)
        out->best_s = entry->seconds;
}

static bool search(struct search *s, atomic_bool *stop, struct err *e)
{
    struct strategy *strategy = s->cycle.strategy;
    struct cycle_trial t;
    struct refit refit;
    enum ask asked = ASK_NEW;
    bool ok;
    int64_t trials = s->simulation->trials - race_trials(s->simulation);
    while (cycle_may_ask(&s->cycle, trials) && !atomic_load_explicit(stop, memory_order_relaxed)) {
        while ((ok = cycle_ask(&s->cycle, &t, &asked, e)) && asked == ASK_WAIT)
            strategy_wait(strategy); // for its model
        while (strategy_take_refit(strategy, &refit))
            s->fitted_s += refit.seconds;
        if (!ok)
            return false;
        if (asked == ASK_EXHAUSTED)
            break;
        const struct record_entry *entry = recording_find(s->simulation->recording, &t.config);
        answer(s, &t, entry);
        if (cycle_tell(&s->cycle, &t))
            take_lead(s, entry);
    }
    s->out->asks = s->cycle.asked;
    return true;
}

static bool run_once(const struct simulation *simulation, int repeat, atomic_bool *stop,
                     struct err *e)
{
    const char *seeded_as = simulation->seeded_as;
    char *canonical = strategy_canonical(seeded_as ? seeded_as : simulation->strategy, e);
    if (!canonical)
        return false;
    struct judge judge = {simulation->recording};
    struct search_problem problem = problem_of(&judge);
    struct rng seeds;
    struct str text = {0};
    str_printf(&text, "%llu\n%s\n%s\n%d", (unsigned long long)simulation->seed,
               simulation->recording->name, canonical, repeat);
    uint64_t seed = hash_bytes(str_text(&text), text.length);
    str_finish(&text);
    rng_seed(&seeds, seed);
    free(canonical);
    struct search s = {
        .simulation = simulation,
        // Fitness 1 is the median of the recording: the strategies do not know what is possible.
        .cycle = {.work = simulation->recording->median, .unit = 1},
        .noise = rng_split(&seeds),
        .out = &simulation->run[repeat],
    };
    s.started_s = own_seconds(&s);
    s.cycle.strategy = strategy_create(simulation->strategy, &problem, rng_next(&seeds), e);
    bool ok = s.cycle.strategy && search(&s, stop, e);
    if (s.out->count && race_trials(simulation))
        take_lead(&s, race_winner(&s.race, spend, &s));
    if (s.out->count)
        s.out->returned_s = s.out->step[s.out->count - 1].seconds;
    cycle_finish(&s.cycle);
    s.out->own_s = own_seconds(&s);
    return ok;
}

// --- many runs, many threads ---

struct pool {
    struct simulation *list;
    int count;
    int64_t runs;
    atomic_bool stop;
    pthread_mutex_t mutex; // guards all below
    pthread_cond_t over;
    int next, next_repeat; // the run that is given out next
    int *left;             // [count]: runs of each that have not ended
    int64_t done;
    bool failed;
    struct err failure; // the first
};

static void *work(void *context)
{
    struct pool *p = context;
    pthread_mutex_lock(&p->mutex);
    while (!atomic_load(&p->stop) && p->next < p->count) {
        const int index = p->next, repeat = p->next_repeat++;
        struct err e = {0};
        if (p->next_repeat == p->list[index].repeats) {
            p->next++;
            p->next_repeat = 0;
        }
        pthread_mutex_unlock(&p->mutex);
        bool ok = run_once(&p->list[index], repeat, &p->stop, &e);
        pthread_mutex_lock(&p->mutex);
        if (!ok && !p->failed)
            p->failure = e;
        p->failed |= !ok;
        if (p->failed)
            atomic_store(&p->stop, true);
        p->left[index] -= !atomic_load(&p->stop); // a run that was stopped is not complete
        if (++p->done == p->runs || p->failed)
            pthread_cond_signal(&p->over);
    }
    pthread_mutex_unlock(&p->mutex);
    return NULL;
}

// Calls back without the mutex: those functions may take their time.
static void report(struct pool *p, const struct simulate_options *o, int *finished)
{
    while (*finished < p->count && p->left[*finished] == 0) {
        int index = (*finished)++;
        pthread_mutex_unlock(&p->mutex);
        if (o->finished)
            o->finished(o->context, index);
        pthread_mutex_lock(&p->mutex);
    }
    int64_t done = p->done;
    pthread_mutex_unlock(&p->mutex);
    if (o->tick && !o->tick(o->context, done, p->runs))
        atomic_store(&p->stop, true);
    pthread_mutex_lock(&p->mutex);
}

static bool run_pool(struct pool *p, const struct simulate_options *o, struct err *e)
{
    pthread_t thread[MOST_THREADS];
    int wanted = o->threads ? o->threads : os_cores();
    int threads = 0;
    if (wanted > MOST_THREADS)
        wanted = MOST_THREADS;
    while (threads < wanted && threads < p->runs &&
           pthread_create(&thread[threads], NULL, work, p) == 0)
        threads++;
    if (threads == 0)
        return err_set(e, "no thread can be started: %s", strerror(errno));
    int finished = 0;
    pthread_mutex_lock(&p->mutex);
    report(p, o, &finished);
    while (finished < p->count && !atomic_load(&p->stop)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TICK_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        while (p->done < p->runs && !p->failed &&
               pthread_cond_timedwait(&p->over, &p->mutex, &until) == 0) {
        }
        report(p, o, &finished);
    }
    pthread_mutex_unlock(&p->mutex);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    if (p->failed && e)
        *e = p->failure;
    return !p->failed;
}

bool simulate(struct simulation *list, int count, const struct simulate_options *o, struct err *e)
{
    struct pool p = {.list = list, .count = count};
    // An error of a strategy is one in every repeat: it is reported before anything runs.
    for (int i = 0; i < count; i++) {
        struct judge judge = {list[i].recording};
        struct search_problem problem = problem_of(&judge);
        struct strategy *s = strategy_create(list[i].strategy, &problem, 0, e);
        if (!s)
            return false;
        strategy_destroy(s);
    }
    p.left = mem_zero((size_t)count + 1, sizeof *p.left);
    for (int i = 0; i < count; i++) {
        list[i].run = mem_zero((size_t)list[i].repeats, sizeof *list[i].run);
        p.left[i] = list[i].repeats;
        p.runs += list[i].repeats;
    }
    atomic_init(&p.stop, false);
    pthread_mutex_init(&p.mutex, NULL);
    pthread_cond_init(&p.over, NULL);
    bool ok = p.runs == 0 || run_pool(&p, o, e);
    pthread_cond_destroy(&p.over);
    pthread_mutex_destroy(&p.mutex);
    free(p.left);
    return ok;
}

void simulation_finish(struct simulation *s)
{
    for (int i = 0; s->run && i < s->repeats; i++)
        free(s->run[i].step);
    free(s->run);
    s->run = NULL;
}

// --- the plan of a command ---

bool simulate_plan_make(const struct simulate_words *words, struct simulate_plan *out,
                        struct err *e)
{
    *out = (struct simulate_plan){.count = 0};
    if (!spec_list_parse(words->strategies, strategy_canonical, &out->strategy, &out->strategies,
                         e))
        return false;
    out->recording = mem_zero((size_t)words->paths + 1, sizeof *out->recording);
    for (int i = 0; i < words->paths; i++) {
        struct recording *r;
        if (!recording_read(words->path[i], &r, e))
            return false;
        out->recording[out->recordings++] = r;
        if (r->count == 0)
            return err_at(e, r->path, 0, "only declarations, no recorded times: nothing to replay");
        if (words->costs_for && !recording_has_costs(r))
            return err_at(e, r->path, 0,
                          "neither compile nor benchmark times are recorded, which %s needs",
                          words->costs_for);
    }
    out->list = mem_zero((size_t)(out->recordings * out->strategies), sizeof *out->list);
    for (int i = 0; i < out->recordings; i++)
        for (int k = 0; k < out->strategies; k++)
            out->list[out->count++] = (struct simulation){
                .recording = out->recording[i],
                .strategy = out->strategy[k],
                .trials = words->trials,
                .repeats = words->repeats,
                .seed = words->seed,
                .noise = words->noise,
            };
    return true;
}

void simulate_plan_finish(struct simulate_plan *p)
{
    for (int i = 0; i < p->count; i++)
        simulation_finish(&p->list[i]);
    for (int i = 0; i < p->recordings; i++)
        recording_destroy(p->recording[i]);
    for (int i = 0; i < p->strategies; i++)
        free(p->strategy[i]);
    free(p->list);
    free(p->recording);
    free(p->strategy);
    *p = (struct simulate_plan){.count = 0};
}
