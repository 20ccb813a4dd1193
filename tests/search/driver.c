#include "driver.h"

#include <assert.h>
#include <string.h>

enum { MAX_WORKERS = 64 };

struct drive drive_create(const char *spec, const struct search_problem *problem, uint64_t seed)
{
    struct err e = {0};
    struct drive d = {
        .strategy = strategy_create(spec, problem, seed, &e),
        .workers = 1,
        .asked = {.slots = problem->space->slots},
    };
    assert(d.strategy);
    return d;
}

void drive_destroy(struct drive *d)
{
    strategy_destroy(d->strategy);
    config_set_finish(&d->asked);
}

static void tell(struct drive *d, const struct config *c)
{
    double fitness = d->measure ? d->measure(d->context, c) : 0;
    enum outcome o = fitness > 0 ? OUTCOME_OK : fitness < 0 ? OUTCOME_REJECTED : OUTCOME_TIMEOUT;
    fitness = fitness > 0 ? fitness : 0;
    if (d->takes && d->strategy->kind->took)
        d->strategy->kind->took(d->strategy, c, d->takes(c));
    strategy_tell(d->strategy, c, o, fitness);
    d->best = fitness > d->best ? fitness : d->best;
    d->tells++;
}

static void tell_one(struct drive *d, struct config *open, int *count)
{
    int which = d->backward ? *count - 1 : 0;
    tell(d, &open[which]);
    (*count)--;
    memmove(&open[which], &open[which + 1], (size_t)(*count - which) * sizeof *open);
}

// Models are waited for.
static enum ask ask(struct drive *d, struct config *out)
{
    enum ask asked;
    while ((asked = strategy_ask(d->strategy, out)) == ASK_WAIT && strategy_wait(d->strategy)) {
    }
    return asked;
}

bool drive_run(struct drive *d, int trials)
{
    struct config open[MAX_WORKERS];
    int count = 0;
    bool exhausted = false;
    assert(d->workers <= MAX_WORKERS);
    while (!exhausted && d->asked.count < trials) {
        enum ask asked = count < d->workers ? ask(d, &open[count]) : ASK_WAIT;
        if (asked == ASK_NEW) {
            bool is_new;
            config_set_add(&d->asked, &open[count++], &is_new);
            assert(is_new);
        } else if (asked == ASK_WAIT) {
            assert(count > 0);
            tell_one(d, open, &count);
        }
        exhausted = asked == ASK_EXHAUSTED;
    }
    while (count > 0)
        tell_one(d, open, &count);
    return exhausted;
}
