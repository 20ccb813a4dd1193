#include "made.h"

#include "report/score.h"
#include "simulate/curve.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_RUNS = 8 };

// Returns a number below `n`, another one for each purpose.
static uint64_t drawn(const struct config *c, uint64_t purpose, uint64_t n)
{
    uint64_t key[2] = {config_hash(c), purpose};
    return hash_bytes(key, sizeof key) % n;
}

enum purpose { RECORDED, FATE, TIME, WHICH_FAILURE, RUN };

static void add_valid(struct recording *r, const struct made *m, const struct config *c,
                      struct record_entry *entry)
{
    double run[MOST_RUNS], mean = 1e-3 * exp2((double)drawn(c, TIME, 65) / 16), sum = 0;
    bool was_new;
    assert_true(m->runs <= MOST_RUNS);
    for (int i = 0; i < m->runs; i++) {
        run[i] = mean * (0.75 + 0.5 * (double)drawn(c, RUN + (uint64_t)i, 1000) / 1000);
        sum += run[i];
    }
    entry->seconds = m->runs ? sum / m->runs : mean;
    entry->runs = run;
    entry->run_count = m->runs;
    recording_add(r, c, entry, &was_new);
    assert_true(was_new);
}

static void add_point(struct recording *r, const struct made *m, const struct config *c)
{
    static const enum outcome failures[] = {OUTCOME_COMPILE, OUTCOME_CRASH, OUTCOME_WRONG};
    int fate = (int)drawn(c, FATE, 100);
    struct record_entry entry = {.compile_s = m->costs ? 0.5 : NAN,
                                 .benchmark_s = m->costs ? 0.25 : NAN};
    bool was_new;
    if (fate >= m->failing + m->rejected) {
        add_valid(r, m, c, &entry);
        return;
    }
    entry.outcome = fate < m->rejected ? OUTCOME_REJECTED : failures[drawn(c, WHICH_FAILURE, 3)];
    recording_add(r, c, &entry, &was_new);
}

static void add_share(struct recording *r, const struct made *m)
{
    for (uint64_t i = 0; i < m->space->size; i++) {
        struct config c;
        space_point(m->space, i, &c);
        if (drawn(&c, RECORDED, 100) < (uint64_t)m->recorded)
            add_point(r, m, &c);
    }
}

static void add_sampled(struct recording *r, const struct made *m)
{
    struct rng rng;
    rng_seed(&rng, 1);
    while (r->count < m->sampled) {
        struct config c;
        space_sample(m->space, &rng, &c);
        if (!recording_find(r, &c))
            add_point(r, m, &c);
    }
}

struct recording *made_recording(const struct made *m, const char *name)
{
    struct err e;
    struct recording *r = recording_create(name, "tilewalk");
    assert_true(recording_add_params(r, m->space, &e));
    assert_true(recording_seal_space(r, &e));
    if (m->sampled)
        add_sampled(r, m);
    else
        add_share(r, m);
    assert_true(recording_finish(r, &e));
    space_destroy(m->space);
    return r;
}

void run_simulation(struct simulation *s, int threads)
{
    struct err e = {0};
    struct simulate_options o = {.threads = threads};
    if (!simulate(s, 1, &o, &e))
        fail_msg("%s", e.text);
}

void check_random(const struct recording *r)
{
    static const int64_t after[] = {10, 50, 200};
    struct simulation s = {
        .recording = r, .strategy = "random", .trials = 200, .repeats = 1000, .seed = 1};
    struct simulated_curve curve;
    double *time = simulated_times(r);
    int64_t size = simulated_size(r);
    run_simulation(&s, 0);
    simulated_curve_make(&s, &curve);
    for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
        int64_t trials = after[i] < size ? after[i] : size;
        double expected = score_random_fraction(time, r->outcomes[OUTCOME_OK], size, trials);
        double off = curve.fraction[after[i] - 1] - expected;
        double error = curve.deviation[after[i] - 1] / sqrt(s.repeats);
        if (fabs(off) >= 4 * error + 1e-9)
            fail_msg("%s after %d: %.6f instead of %.6f +- %.6f", r->name, (int)after[i],
                     expected + off, expected, error);
    }
    simulated_curve_finish(&curve);
    simulation_finish(&s);
    free(time);
}
