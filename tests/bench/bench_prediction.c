// bench prediction: how well cost models tell which of two configurations is the faster one.
//
// Pairwise accuracy: of all pairs of configurations that ran, of different speed and held out from
// the fit, the share whose order the model gets right; half of a pair counts where it predicts the
// same for both. 0.5 is a coin. After `--samples` (64) random samples, twice and four times as
// many, failed ones among them as a search has them too, as long as a third is left to hold out, at
// most 1000; the mean of `--splits` random splits.
//
// Trees by XGBoost as AutoTVM and Ansor set them, the packed loss at one row a program for knob
// features; and the network over loop trees. On the recordings of recordings.h, which know
// parameters alone, and on random sessions of `--trials` here, whose presets declare loop nests,
// or, where TILEWALK_SESSIONS names a database, on its sessions. Tables are Markdown; the last
// column is CPU time of a fit to the most samples.
#include "base/os.h"
#include "bench.h"
#include "measured.h"
#include "model/features.h"
#include "model/tree_gru.h"
#include "model/trees.h"
#include "recordings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_HELD_OUT = 1000, SIZES = 3 };

struct plan {
    int trials, splits, samples;
};

struct learner {
    const char *features, *loss;
    enum feature_kind kind;
    enum booster_objective objective; // of the network too, which knows two of them
};

static const struct learner learners[] = {
    {"knob", "rank", FEATURES_KNOB, BOOSTER_PAIRWISE},
    {"knob", "squared", FEATURES_KNOB, BOOSTER_SQUARED},
    {"knob", "packed", FEATURES_KNOB, BOOSTER_PACKED},
    {"itervar", "rank", FEATURES_ITERVAR, BOOSTER_PAIRWISE},
    {"itervar", "squared", FEATURES_ITERVAR, BOOSTER_SQUARED},
    {"curve", "rank", FEATURES_CURVE, BOOSTER_PAIRWISE},
    {"curve", "squared", FEATURES_CURVE, BOOSTER_SQUARED},
    {"statement", "packed", FEATURES_STATEMENTS, BOOSTER_PACKED},
    {"tree (network)", "rank", FEATURES_TREE, BOOSTER_PAIRWISE},
    {"tree (network)", "squared", FEATURES_TREE, BOOSTER_SQUARED},
};
enum { LEARNERS = sizeof learners / sizeof learners[0] };

// AutoTVM's and Ansor's.
static struct booster_options options_of(enum booster_objective objective)
{
    if (objective == BOOSTER_PACKED)
        return (struct booster_options){.objective = objective,
                                        .depth = 10,
                                        .eta = 0.2,
                                        .gamma = 0.001,
                                        .lambda = 1,
                                        .most_rounds = 10000,
                                        .patience = 50,
                                        .look_every = 2,
                                        .seed = 43,
                                        .hist = true};
    return (struct booster_options){.objective = objective,
                                    .depth = 3,
                                    .eta = 0.3,
                                    .gamma = 1e-4,
                                    .child_weight = 1,
                                    .lambda = 1,
                                    .recall_at = 64,
                                    .most_rounds = 8000,
                                    .patience = 20,
                                    .look_every = 2,
                                    .hist = true};
}

// --- rows ---

struct rows {
    float *x, *y;
    int *first, programs, rows, width;
};

static void take_rows(const struct measured *m, struct features *f, const int *index, int count,
                      struct rows *out)
{
    size_t width = (size_t)features_width(f), most = (size_t)features_most_rows(f);
    double best = 0;
    for (int i = 0; i < count; i++)
        best = fmax(best, m->speed[index[i]]);
    *out = (struct rows){.x = mem_zero((size_t)count * most * width, sizeof(float)),
                         .y = mem_zero((size_t)count, sizeof(float)),
                         .first = mem_zero((size_t)count + 1, sizeof(int)),
                         .programs = count,
                         .width = (int)width};
    for (int i = 0; i < count; i++) {
        out->first[i] = out->rows;
        out->rows += features_fill(f, &m->config[index[i]], out->x + (size_t)out->rows * width);
        out->y[i] = best > 0 ? (float)(m->speed[index[i]] / best) : 0;
    }
    out->first[count] = out->rows;
}

static void forget_rows(struct rows *r)
{
    free(r->x);
    free(r->y);
    free(r->first);
}

// --- one fit ---

// Scores of `unknown` programs; returns the CPU seconds of the fit.
static double fit_network(const struct learner *l, const struct booster_rows *known,
                          const struct rows *unknown, float *score)
{
    struct err e;
    int64_t start = os_process_cpu_ns(getpid());
    struct tree_gru *t = tree_gru_fit(
        &(struct tree_gru_options){.rank = l->objective == BOOSTER_PAIRWISE}, known, NULL, &e);
    double seconds = (double)(os_process_cpu_ns(getpid()) - start) / 1e9;
    if (!t)
        bench_fail("no model", &e);
    tree_gru_predict(t, unknown->x, unknown->first, unknown->programs, score);
    tree_gru_destroy(t);
    return seconds;
}

static double fit_trees(const struct learner *l, struct booster_rows known,
                        const struct rows *unknown, float *score)
{
    struct err e;
    struct booster_options o = options_of(l->objective);
    float *of_row = mem_zero((size_t)unknown->rows + 1, sizeof *of_row);
    if (l->objective != BOOSTER_PACKED)
        known.first = NULL; // one row each
    int64_t start = os_process_cpu_ns(getpid());
    struct booster *b = booster_fit(&o, &known, NULL, &e);
    double seconds = (double)(os_process_cpu_ns(getpid()) - start) / 1e9;
    if (!b)
        bench_fail("no model", &e);
    booster_predict(b, unknown->x, unknown->rows, of_row);
    for (int i = 0; i < unknown->programs; i++) {
        score[i] = 0;
        for (int j = unknown->first[i]; j < unknown->first[i + 1]; j++)
            score[i] += of_row[j];
    }
    booster_destroy(b);
    free(of_row);
    return seconds;
}

static double pairwise_accuracy(int count, const float *y, const float *predicted)
{
    double right = 0, pairs = 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++) {
            if (y[i] == y[j])
                continue;
            double order = (predicted[i] - predicted[j]) * (y[i] > y[j] ? 1 : -1);
            right += order > 0 ? 1 : order == 0 ? 0.5 : 0;
            pairs++;
        }
    return pairs > 0 ? right / pairs : NAN;
}

struct result {
    double accuracy, seconds;
};

static struct result fit(const struct measured *m, const struct learner *l, const int *sample,
                         int samples, const int *held_out, int held)
{
    struct err e;
    struct rows known, unknown;
    struct features *f = features_create(m->space, l->kind, &e);
    if (!f)
        bench_fail("no features", &e);
    take_rows(m, f, sample, samples, &known);
    take_rows(m, f, held_out, held, &unknown);
    const struct booster_rows r = {.x = known.x,
                                   .y = known.y,
                                   .first = known.first,
                                   .rows = known.rows,
                                   .width = known.width,
                                   .programs = known.programs};
    float *score = mem_zero((size_t)held, sizeof *score);
    double seconds = l->kind == FEATURES_TREE ? fit_network(l, &r, &unknown, score)
                                              : fit_trees(l, r, &unknown, score);
    double accuracy = pairwise_accuracy(held, unknown.y, score);
    free(score);
    forget_rows(&known);
    forget_rows(&unknown);
    features_destroy(f);
    return (struct result){accuracy, seconds};
}

// --- splits ---

static void shuffle(int *index, int count, struct rng *r)
{
    for (int i = 0; i < count; i++) {
        int j = (int)rng_below(r, (uint64_t)i + 1);
        index[i] = index[j];
        index[j] = i;
    }
}

// The first ones are the samples, of what comes behind them those that ran are held out.
static int hold_out(const struct measured *m, const int *index, int from, int *out)
{
    int held = 0;
    for (int i = from; i < m->count && held < MOST_HELD_OUT; i++)
        if (m->speed[index[i]] > 0)
            out[held++] = index[i];
    return held;
}

// How many of the sizes leave a third to hold out.
static int sizes_of(const struct plan *p, const struct measured *m)
{
    int sizes = 0;
    while (sizes < SIZES && 3 * (p->samples << sizes) <= 2 * m->count)
        sizes++;
    return sizes;
}

// Means over the splits; NAN where there are too few.
static void judge(const struct plan *p, const struct measured *m, const struct learner *l,
                  struct result out[SIZES])
{
    int *index = mem_zero((size_t)m->count, sizeof *index), held_out[MOST_HELD_OUT];
    int sizes = sizes_of(p, m);
    struct rng rng;
    rng_seed(&rng, 1);
    for (int i = 0; i < SIZES; i++)
        out[i] = i < sizes ? (struct result){0, 0} : (struct result){NAN, NAN};
    for (int i = 0; i < p->splits && sizes > 0; i++) {
        shuffle(index, m->count, &rng);
        int held = hold_out(m, index, p->samples << (sizes - 1), held_out);
        for (int j = 0; j < sizes; j++) {
            struct result r = fit(m, l, index, p->samples << j, held_out, held);
            out[j].accuracy += r.accuracy / p->splits;
            out[j].seconds += r.seconds / p->splits;
        }
    }
    free(index);
}

// --- tables ---

static void print_head(const struct plan *p)
{
    printf("\n\n| features | loss |");
    for (int i = 0; i < SIZES; i++)
        printf(" %d |", p->samples << i);
    printf(" a fit, s |\n|---|---|---|---|---|---|\n");
}

static void print_number(double x, int decimals)
{
    if (isnan(x))
        printf(" - |");
    else
        printf(" %.*f |", decimals, x);
}

static void print_row(const struct learner *l, const struct result r[SIZES])
{
    double seconds = NAN;
    printf("| %s | %s |", l->features, l->loss);
    for (int i = 0; i < SIZES; i++) {
        print_number(r[i].accuracy, 3);
        seconds = isnan(r[i].seconds) ? seconds : r[i].seconds;
    }
    print_number(seconds, 2);
    printf("\n");
    fflush(stdout);
}

// A table for one space; `out` (may be NULL) keeps what it says.
static void compare(const struct plan *p, const struct measured *m, struct result (*out)[SIZES])
{
    int ran = 0;
    for (int i = 0; i < m->count; i++)
        ran += m->speed[i] > 0;
    printf("\n%s: %d configurations, %d of them ran", m->name, m->count, ran);
    print_head(p);
    for (int i = 0; i < LEARNERS; i++) {
        struct result r[SIZES];
        if (learners[i].kind != FEATURES_KNOB && !m->space->nest)
            continue;
        judge(p, m, &learners[i], r);
        print_row(&learners[i], r);
        if (out)
            memcpy(out[i], r, sizeof r);
    }
}

static void compare_on_recordings(const struct plan *p)
{
    int count;
    struct recording **recording = recordings_gather(&count);
    struct result sum[LEARNERS][SIZES] = {{{0}}}, r[LEARNERS][SIZES] = {{{0}}};
    for (int i = 0; i < count; i++) {
        struct measured m;
        measured_read(&m, recording[i]);
        compare(p, &m, r);
        for (int j = 0; j < LEARNERS; j++)
            for (int k = 0; k < SIZES; k++) {
                sum[j][k].accuracy += r[j][k].accuracy / count;
                sum[j][k].seconds += r[j][k].seconds / count;
            }
        measured_finish(&m);
    }
    printf("\nmean of the %d recordings", count);
    print_head(p);
    for (int j = 0; j < LEARNERS; j++)
        if (learners[j].kind == FEATURES_KNOB)
            print_row(&learners[j], sum[j]);
    recordings_forget(recording, count);
}

static void compare_here(const struct plan *p, const char *preset, const char *const *set)
{
    struct measured m;
    measured_run(&m, preset, set, p->trials);
    compare(p, &m, NULL);
    measured_finish(&m);
}

static void compare_stored(const struct plan *p, const char *db)
{
    int count;
    struct measured *list = measured_stored(db, &count);
    for (int i = 0; i < count; i++) {
        compare(p, &list[i], NULL);
        measured_finish(&list[i]);
    }
    free(list);
}

int main(int argc, char **argv)
{
    struct plan p = {.trials = 500, .splits = 5, .samples = 64};
    const struct bench_option options[] = {{"trials", &p.trials, 100000},
                                           {"splits", &p.splits, 1000},
                                           {"samples", &p.samples, 100000}};
    const char *db = getenv("TILEWALK_SESSIONS");
    bench_options(argc, argv, options, 3);
    compare_on_recordings(&p);
    if (db) {
        compare_stored(&p, db);
        return EXIT_SUCCESS;
    }
    compare_here(&p, "mm1", (const char *const[]){"N=128", "M=256", "K=256", NULL});
    compare_here(&p, "gemm", (const char *const[]){"N=256", "M=256", "K=256", NULL});
    return EXIT_SUCCESS;
}
