#include "search/cycle.h"

#include <assert.h>
#include <inttypes.h>

static bool counts(const struct cycle *c, const struct cycle_trial *t)
{
    return !t->answered || t->outcome != OUTCOME_REJECTED || c->count_rejected;
}

// What the past holds was paid for.
static bool is_spent(const struct cycle *c, int64_t budget)
{
    return c->trials + c->pending >= budget && !past_find(c->past, c->asked + 1);
}

bool cycle_is_over(const struct cycle *c, int64_t budget)
{
    return c->exhausted || c->rejected_in_row >= CYCLE_MOST_REJECTED || is_spent(c, budget);
}

// So that what a strategy knows does not depend on how much is open at once.
static bool must_tell(const struct cycle *c)
{
    return c->open && c->open->answered && cycle_next(c);
}

bool cycle_may_ask(const struct cycle *c, int64_t budget)
{
    return !cycle_is_over(c, budget) && !must_tell(c) && c->open_count < CYCLE_MOST_OPEN &&
           (!strategy_is_async(c->strategy) || past_may_ask(c->past, c->asked + 1, c->told));
}

// --- ask ---

static bool take_answer(struct cycle_trial *t, const struct past_trial *known, struct err *e)
{
    if (!known)
        return true;
    if (!config_equal(&known->config, &t->config))
        return err_set(
            e,
            "the search proposes another configuration for ask %" PRId64 " than the database holds "
            "(made by another version of tilewalk? its results can still be shown and exported)",
            t->ask);
    t->recorded = true;
    t->stored = t->answered = known->answered;
    t->outcome = known->outcome;
    t->seconds = known->seconds;
    t->took_s = known->took_s;
    return true;
}

static void open_trial(struct cycle *c, struct cycle_trial *t)
{
    if (c->last)
        c->last->next = t;
    else
        c->open = t;
    c->last = t;
    c->open_count++;
    c->pending += counts(c, t);
}

bool cycle_ask(struct cycle *c, struct cycle_trial *t, enum ask *asked, struct err *e)
{
    struct config config;
    *asked = strategy_ask(c->strategy, &config);
    c->exhausted |= *asked == ASK_EXHAUSTED;
    if (*asked == ASK_WAIT && !c->open && strategy_wait_fd(c->strategy) < 0)
        return err_set(e, "strategy '%s' waits although everything was told (a bug in it)",
                       c->strategy->kind->name);
    if (*asked != ASK_NEW)
        return true;
    *t = (struct cycle_trial){.ask = ++c->asked, .asked_after = c->told, .config = config};
    if (!take_answer(t, past_find(c->past, t->ask), e))
        return false;
    open_trial(c, t);
    return true;
}

// --- answer ---

struct cycle_trial *cycle_find(const struct cycle *c, int64_t ask)
{
    struct cycle_trial *t = c->open;
    while (t && (t->ask != ask || t->answered))
        t = t->next;
    return t;
}

void cycle_answer(struct cycle *c, struct cycle_trial *t, enum outcome o, double seconds)
{
    assert(!t->answered);
    t->answered = true;
    t->outcome = o;
    t->seconds = o == OUTCOME_OK ? seconds : 0;
    c->pending -= !counts(c, t);
}

// --- tell ---

struct cycle_trial *cycle_next(const struct cycle *c)
{
    struct cycle_trial *t = c->open;
    if (!strategy_is_async(c->strategy))
        return t && t->answered ? t : NULL;
    while (t && !(t->answered && past_may_tell(c->past, t->ask, c->asked, c->told)))
        t = t->next;
    return t;
}

static void close_trial(struct cycle *c, struct cycle_trial *t)
{
    struct cycle_trial *before = NULL;
    for (struct cycle_trial *at = c->open; at != t; at = at->next)
        before = at;
    if (before)
        before->next = t->next;
    else
        c->open = t->next;
    if (c->last == t)
        c->last = before;
    c->open_count--;
    c->pending -= counts(c, t);
}

static void count(struct cycle *c, const struct cycle_trial *t)
{
    bool is_rejected = t->outcome == OUTCOME_REJECTED;
    c->told++;
    c->trials += counts(c, t);
    c->rejected += is_rejected;
    c->ok += t->outcome == OUTCOME_OK;
    c->rejected_in_row = is_rejected ? c->rejected_in_row + 1 : 0;
}

static bool take_best(struct cycle *c, const struct cycle_trial *t)
{
    if (t->outcome != OUTCOME_OK || (c->best.ask && t->seconds >= c->best.seconds))
        return false;
    c->best = (struct cycle_best){t->ask, t->seconds, t->config};
    return true;
}

double cycle_fitness(const struct cycle *c, const struct cycle_trial *t)
{
    return t->outcome == OUTCOME_OK ? c->work / t->seconds / c->unit : 0;
}

bool cycle_tell(struct cycle *c, struct cycle_trial *t)
{
    double fitness = cycle_fitness(c, t);
    close_trial(c, t);
    count(c, t);
    bool better = take_best(c, t);
    strategy_took(c->strategy, &t->config, t->took_s);
    strategy_tell(c->strategy, &t->config, t->outcome, fitness);
    return better;
}

bool cycle_is_replaying(const struct cycle *c)
{
    return !past_is_over(c->past, c->told);
}

void cycle_finish(struct cycle *c)
{
    strategy_destroy(c->strategy);
    past_destroy(c->past);
    c->strategy = NULL;
    c->past = NULL;
}
