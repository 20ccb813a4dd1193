#include "search/chains.h"

#include "search/archive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    DISTINCT_TRIES = 100, // to begin at different points
    LEGAL_TRIES = 10      // moves of a chain before a draw, where legal points are rare
};

struct top { // the best points so far, in no order
    struct scored *item;
    int count, most, worst, met;
};

void chains_init(struct chains *c, const struct search_problem *problem,
                 const struct chains_settings *settings)
{
    *c = (struct chains){.problem = problem, .settings = *settings};
    const struct space *s = problem->space;
    if (s->size < (uint64_t)c->settings.count)
        c->settings.count = (int)s->size;
    c->here = mem_zero((size_t)c->settings.count, sizeof *c->here);
    for (int i = 0; i < s->param_count; i++)
        if (s->param[i].size > 1)
            c->movable[c->movables++] = i;
}

void chains_finish(struct chains *c)
{
    free(c->here);
}

// Moves from a point: draws one parameter anew until it differs.
static void step(const struct chains *c, struct rng *r, const struct config *from,
                 struct config *out)
{
    const struct space *s = c->problem->space;
    int which;
    *out = *from;
    if (c->movables == 0)
        return;
    do
        which = c->movable[rng_below(r, (uint64_t)c->movables)];
    while (!space_is_live(s, from, which));
    const struct param *p = &s->param[which];
    while (config_equal(out, from))
        param_sample(p, r, out->slot + p->offset);
    space_settle(s, out);
}

// Offers points to the list of the best ones. Returns true if it took one.
static bool offer(struct top *t, const struct chains_goal *goal, const struct config *c,
                  const float *score, int count)
{
    bool any = false;
    for (int i = 0; i < count; i++) {
        bool is_full = t->count == t->most, known = false;
        if (is_full && score[i] <= t->item[t->worst].score)
            continue;
        for (int k = 0; k < t->count && !known; k++)
            known = config_equal(&t->item[k].config, &c[i]);
        if (known || !goal->allows(goal->context, &c[i]))
            continue;
        t->item[is_full ? t->worst : t->count++] = (struct scored){c[i], score[i], t->met++};
        t->worst = 0;
        for (int k = 1; k < t->count; k++)
            if (t->item[k].score < t->item[t->worst].score)
                t->worst = k;
        any = true;
    }
    return any;
}

static void anneal(struct chains *c, const struct chains_goal *goal, struct rng *r,
                   const atomic_bool *stop, struct top *top, struct config *next, float *score)
{
    const struct search_problem *p = c->problem;
    int count = c->settings.count, steps = c->settings.steps;
    float *new_score = score + count;
    goal->score(goal->context, c->here, count, score);
    offer(top, goal, c->here, score, count);
    for (int k = 1, last = 0; k <= steps && k <= last + c->settings.patience; k++) {
        if (atomic_load(stop))
            return;
        double heat = 1 - (double)(k - 1) / (steps + 1) + 1e-5;
        for (int i = 0; i < count; i++) {
            step(c, r, &c->here[i], &next[i]);
            for (int n = 1; search_is_sparse(p) && !p->legal(p->context, &next[i]); n++) {
                if (n == LEGAL_TRIES) {
                    archive_sample(p, r, &next[i]);
                    break;
                }
                step(c, r, &c->here[i], &next[i]);
            }
        }
        goal->score(goal->context, next, count, new_score);
        if (offer(top, goal, next, new_score, count))
            last = k;
        for (int i = 0; i < count; i++)
            if (rng_real(r) < exp((double)(new_score[i] - score[i]) / heat)) {
                c->here[i] = next[i];
                score[i] = new_score[i];
            }
    }
}

static int chains_best_first(const void *a, const void *b)
{
    const struct scored *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->met - y->met;
}

int chains_search(struct chains *c, const struct chains_goal *goal, struct rng *r,
                  const atomic_bool *stop, int most, struct scored *best)
{
    struct top top = {.item = best, .most = most};
    if (most == 0)
        return 0;
    struct config *next = mem_alloc((size_t)c->settings.count * sizeof *next);
    float *score = mem_alloc(2 * (size_t)c->settings.count * sizeof *score);
    if (!c->started) {
        struct config_set seen = {.slots = c->problem->space->slots};
        for (int i = 0; i < c->settings.count; i++) {
            bool is_new = false;
            for (int n = 0; n < DISTINCT_TRIES && !is_new; n++) {
                archive_sample(c->problem, r, &c->here[i]);
                config_set_add(&seen, &c->here[i], &is_new);
            }
        }
        config_set_finish(&seen);
        c->started = true;
    }
    anneal(c, goal, r, stop, &top, next, score);
    free(next);
    free(score);
    qsort(best, (size_t)top.count, sizeof *best, chains_best_first);
    return top.count;
}

// --- diversity ---

int diversity_pick(const struct space *s, const struct scored *candidate, int count, double alpha,
                   int most, int *pick)
{
    // Bit i of `new`: the candidate's value of parameter i is in none of those picked.
    uint32_t *new = mem_alloc((size_t)count * sizeof *new);
    bool *taken = mem_zero((size_t)count, sizeof *taken);
    int picked = 0;
    for (int i = 0; i < count; i++)
        new[i] = UINT32_MAX >> (32 - s->param_count);
    for (; picked < most && picked < count; picked++) {
        int best = -1;
        double best_gain = 0;
        for (int i = 0; i < count; i++) {
            int bits = 0;
            for (uint32_t set = new[i]; set; set &= set - 1)
                bits++;
            double gain = (double)candidate[i].score + alpha * bits;
            if (!taken[i] && (best < 0 || gain > best_gain)) {
                best = i;
                best_gain = gain;
            }
        }
        pick[picked] = best;
        taken[best] = true;
        for (int i = 0; i < count; i++)
            for (int k = 0; k < s->param_count; k++) {
                const struct param *p = &s->param[k];
                if (memcmp(candidate[i].config.slot + p->offset,
                           candidate[best].config.slot + p->offset,
                           (size_t)p->width * sizeof *candidate->config.slot) == 0)
                    new[i] &= ~(UINT32_C(1) << k);
            }
    }
    free(new);
    free(taken);
    return picked;
}
