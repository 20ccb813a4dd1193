#include "search/chains.h"

#include "search/visited.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Bit i: parameter i has a value in `c` that none of those picked has.
static uint32_t without_known(const struct space *s, uint32_t new, const struct config *c,
                              const struct config *picked)
{
    for (int i = 0; i < s->param_count; i++)
        if (memcmp(c->slot + s->param[i].offset, picked->slot + s->param[i].offset,
                   (size_t)s->param[i].width * sizeof *c->slot) == 0)
            new &= ~(UINT32_C(1) << i);
    return new;
}

static int bits(uint32_t set)
{
    int count = 0;
    for (; set; set &= set - 1)
        count++;
    return count;
}

int diversity_pick(const struct space *s, const struct scored *candidate, int count, double alpha,
                   int most, int *pick)
{
    uint32_t *new = mem_alloc((size_t)count * sizeof *new);
    bool *taken = mem_zero((size_t)count, sizeof *taken);
    int picked = 0;
    for (int i = 0; i < count; i++)
        new[i] = UINT32_MAX >> (32 - s->param_count);
    for (; picked < most && picked < count; picked++) {
        int best = -1;
        double best_gain = 0;
        for (int i = 0; i < count; i++) {
            double gain = (double)candidate[i].score + alpha * bits(new[i]);
            if (!taken[i] && (best < 0 || gain > best_gain)) {
                best = i;
                best_gain = gain;
            }
        }
        pick[picked] = best;
        taken[best] = true;
        for (int i = 0; i < count; i++)
            new[i] = without_known(s, new[i], &candidate[i].config, &candidate[best].config);
    }
    free(new);
    free(taken);
    return picked;
}

enum {
    DISTINCT_TRIES = 100, // to begin at points that differ
    LEGAL_TRIES = 10      // moves of a chain before it takes a draw, where legal points are rare
};

// The best so far, in no order; `worst` is the least of them, once it is full.
struct top {
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

// Draws one parameter anew until it differs.
static void step(const struct chains *c, struct rng *r, const struct config *from,
                 struct config *out)
{
    *out = *from;
    if (c->movables == 0)
        return;
    const struct space *s = c->problem->space;
    int which;
    do
        which = c->movable[rng_below(r, (uint64_t)c->movables)];
    while (!space_is_live(s, from, which));
    const struct param *p = &s->param[which];
    while (config_equal(out, from))
        param_sample(p, r, out->slot + p->offset);
    space_settle(s, out);
}

static void move(const struct chains *c, struct rng *r, const struct config *from,
                 struct config *out)
{
    const struct search_problem *p = c->problem;
    step(c, r, from, out);
    if (!p->draw)
        return;
    for (int n = 1; !p->legal(p->context, out); n++) {
        if (n == LEGAL_TRIES) {
            visited_sample(p, r, out);
            return;
        }
        step(c, r, from, out);
    }
}

static bool top_has(const struct top *t, const struct config *c)
{
    for (int i = 0; i < t->count; i++)
        if (config_equal(&t->item[i].config, c))
            return true;
    return false;
}

// Whether it is among the best now.
static bool top_take(struct top *t, const struct chains_goal *goal, const struct config *c,
                     float score)
{
    bool is_full = t->count == t->most;
    if ((is_full && score <= t->item[t->worst].score) || top_has(t, c) ||
        !goal->allows(goal->context, c))
        return false;
    int place = is_full ? t->worst : t->count++;
    t->item[place] = (struct scored){*c, score, t->met++};
    t->worst = 0;
    for (int i = 1; i < t->count; i++)
        if (t->item[i].score < t->item[t->worst].score)
            t->worst = i;
    return true;
}

static bool top_take_all(struct top *t, const struct chains_goal *goal, const struct config *c,
                         const float *score, int count)
{
    bool any = false;
    for (int i = 0; i < count; i++)
        any = top_take(t, goal, &c[i], score[i]) || any;
    return any;
}

static int best_first(const void *a, const void *b)
{
    const struct scored *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->met - y->met;
}

static void anneal(struct chains *c, const struct chains_goal *goal, struct rng *r,
                   const atomic_bool *stop, struct top *top, struct config *next, float *score)
{
    int count = c->settings.count, steps = c->settings.steps;
    float *new_score = score + count;
    goal->score(goal->context, c->here, count, score);
    top_take_all(top, goal, c->here, score, count);
    for (int k = 1, last = 0; k <= steps && k <= last + c->settings.patience; k++) {
        if (atomic_load(stop))
            return;
        double heat = 1 - (double)(k - 1) / (steps + 1) + 1e-5;
        for (int i = 0; i < count; i++)
            move(c, r, &c->here[i], &next[i]);
        goal->score(goal->context, next, count, new_score);
        if (top_take_all(top, goal, next, new_score, count))
            last = k;
        for (int i = 0; i < count; i++)
            if (rng_real(r) < exp((double)(new_score[i] - score[i]) / heat)) {
                c->here[i] = next[i];
                score[i] = new_score[i];
            }
    }
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
                visited_sample(c->problem, r, &c->here[i]);
                config_set_add(&seen, &c->here[i], &is_new);
            }
        }
        config_set_finish(&seen);
        c->started = true;
    }
    anneal(c, goal, r, stop, &top, next, score);
    free(next);
    free(score);
    qsort(best, (size_t)top.count, sizeof *best, best_first);
    return top.count;
}
