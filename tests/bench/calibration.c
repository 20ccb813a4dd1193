#include "calibration.h"

#include "bench.h"
#include "search/strategy.h"
#include "simulate/simulate.h"

#include <math.h>

struct calibration {
    double half, nine_in_ten, sum, squares; // sums over the results
    int results, failed;
};

static bool is_legal(void *context, const struct config *c)
{
    return simulate_is_trial(recording_find(context, c));
}

static void add(struct calibration *out, const struct forecast *f, double fitness)
{
    double z = forecast_z_score(f, fitness);
    if (fitness == 0) {
        out->failed++;
        return;
    }
    out->results++;
    out->half += fabs(z) < f->half;
    out->nine_in_ten += fabs(z) < f->nine_in_ten;
    out->sum += z;
    out->squares += z * z;
}

static void run(const char *spec, struct recording *r, int trials, uint64_t seed,
                struct calibration *out)
{
    struct err e;
    struct config c;
    const struct search_problem problem = {.space = r->space, .legal = is_legal, .context = r};
    struct strategy *s = strategy_create(spec, &problem, seed, &e);
    if (!s)
        bench_fail("no strategy", &e);
    for (int n = 0; n < trials && strategy_ask(s, &c) == ASK_NEW; n++) {
        struct forecast f;
        const struct record_entry *entry = recording_find(r, &c);
        double fitness = entry->outcome == OUTCOME_OK ? 1 / entry->seconds : 0;
        if (strategy_forecast(s, &f))
            add(out, &f, fitness);
        strategy_tell(s, &c, entry->outcome, fitness);
    }
    strategy_destroy(s);
}

static void print(const char *name, const struct calibration *c)
{
    double n = fmax(c->results, 1);
    printf("| %s | %.1f %% | %.1f %% | %+.2f | %.2f | %.1f %% |\n", name, 100 * c->half / n,
           100 * c->nine_in_ten / n, c->sum / n, sqrt(c->squares / n),
           100.0 * c->failed / fmax(c->results + c->failed, 1));
}

void calibration_on_recordings(const char *spec, struct recording *const *recording, int recordings,
                               int trials, int repeats)
{
    struct calibration all = {0};
    printf("\nWhere the results of %s were, %d trials, %d repeats\n\n", spec, trials, repeats);
    printf("| recording | within 50 %% | within 90 %% | mean | deviation | failed |\n"
           "|---|---:|---:|---:|---:|---:|\n");
    for (int i = 0; i < recordings; i++) {
        struct calibration c = {0};
        for (int k = 1; k <= repeats; k++)
            run(spec, recording[i], trials, (uint64_t)k, &c);
        print(recording[i]->name, &c);
        all.half += c.half;
        all.nine_in_ten += c.nine_in_ten;
        all.sum += c.sum;
        all.squares += c.squares;
        all.results += c.results;
        all.failed += c.failed;
    }
    print("all", &all);
}
