#include "search/cycle.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#define WIDEST_GAP 65536 // between known asks: far more than are ever open at once

// --- the replay log ---

struct replay_log {
    struct replay_trial *trial; // trial[ask - 1]; ask 0: unknown
    int64_t count, capacity;
    int64_t *tell; // asks in the order told
    int64_t told;
};

struct replay_log *replay_log_create(void)
{
    return mem_zero(1, sizeof(struct replay_log));
}

bool replay_log_add(struct replay_log *p, const struct replay_trial *t, struct err *e)
{
    if (t->ask - p->count > WIDEST_GAP)
        return err_set(e, "ask %" PRId64 " follows ask %" PRId64 ": trials are missing", t->ask,
                       p->count);
    int64_t count = t->ask;
    if (count > p->capacity) {
        p->capacity = count > 2 * p->capacity ? count : 2 * p->capacity;
        p->trial = mem_resize(p->trial, (size_t)p->capacity, sizeof *p->trial);
    }
    while (p->count < count)
        p->trial[p->count++].ask = 0;
    p->trial[t->ask - 1] = *t;
    p->told += t->answered;
    return true;
}

bool replay_log_close(struct replay_log *p)
{
    p->tell = mem_zero((size_t)p->told + 1, sizeof *p->tell);
    for (int64_t i = 0; i < p->count; i++) {
        const struct replay_trial *t = &p->trial[i];
        if (!t->ask || !t->answered)
            continue;
        if (t->told < 1 || t->told > p->told || p->tell[t->told - 1])
            return false;
        p->tell[t->told - 1] = t->ask;
    }
    return true;
}

void replay_log_destroy(struct replay_log *p)
{
    if (!p)
        return;
    free(p->trial);
    free(p->tell);
    free(p);
}

const struct replay_trial *replay_log_find(const struct replay_log *p, int64_t ask)
{
    return p && ask <= p->count && p->trial[ask - 1].ask ? &p->trial[ask - 1] : NULL;
}

bool replay_log_may_tell(const struct replay_log *p, int64_t ask, int64_t asked, int64_t told)
{
    const struct replay_trial *next_ask = replay_log_find(p, asked + 1);
    if (next_ask && told >= next_ask->asked_after)
        return false; // that ask came first
    return !p || told >= p->told || p->tell[told] == ask;
}

// --- the budget ---

// Returns true if a trial counts against the budget.
static bool counts(const struct cycle *c, const struct cycle_trial *t)
{
    return !t->answered || t->outcome != OUTCOME_REJECTED || c->count_rejected;
}

bool cycle_is_over(const struct cycle *c, int64_t budget)
{
    bool is_spent = c->trials + c->pending >= budget;
    return c->exhausted || c->rejected_in_row >= CYCLE_MOST_REJECTED ||
           (is_spent && !replay_log_find(c->replay, c->asked + 1)); // asks of the log are paid for
}

bool cycle_may_ask(const struct cycle *c, int64_t budget)
{
    // Answers are told first, so that the strategy's knowledge does not depend on how many trials
    // are open at once.
    bool must_tell = c->open && c->open->answered && cycle_next(c);
    const struct replay_trial *next = replay_log_find(c->replay, c->asked + 1);
    return !cycle_is_over(c, budget) && !must_tell && c->open_count < CYCLE_MOST_OPEN &&
           (!next || !strategy_is_async(c->strategy) || c->told >= next->asked_after);
}

// --- ask ---

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
    const struct replay_trial *known = replay_log_find(c->replay, t->ask);
    if (known && !config_equal(&known->config, &config))
        return err_set(
            e,
            "the search proposes another configuration for ask %" PRId64 " than the database holds "
            "(made by another version of tilewalk? its results can still be shown and exported)",
            t->ask);
    if (known) {
        t->recorded = true;
        t->stored = t->answered = known->answered;
        t->outcome = known->outcome;
        t->seconds = known->seconds;
        t->took_s = known->took_s;
    }
    if (c->last)
        c->last->next = t;
    else
        c->open = t;
    c->last = t;
    c->open_count++;
    c->pending += counts(c, t);
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
    while (t && !(t->answered && replay_log_may_tell(c->replay, t->ask, c->asked, c->told)))
        t = t->next;
    return t;
}

double cycle_fitness(const struct cycle *c, const struct cycle_trial *t)
{
    return t->outcome == OUTCOME_OK ? c->work / t->seconds / c->unit : 0;
}

bool cycle_tell(struct cycle *c, struct cycle_trial *t)
{
    double fitness = cycle_fitness(c, t);
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
    bool is_rejected = t->outcome == OUTCOME_REJECTED, is_ok = t->outcome == OUTCOME_OK;
    c->told++;
    c->trials += counts(c, t);
    c->rejected += is_rejected;
    c->ok += is_ok;
    c->rejected_in_row = is_rejected ? c->rejected_in_row + 1 : 0;
    bool better = is_ok && (!c->best.ask || t->seconds < c->best.seconds);
    if (better) {
        c->best = (struct cycle_best){t->ask, t->seconds, t->config};
        c->trials_at_gain = c->trials;
    }
    if (c->strategy->kind->took)
        c->strategy->kind->took(c->strategy, &t->config, t->took_s);
    strategy_tell(c->strategy, &t->config, t->outcome, fitness);
    return better;
}

bool cycle_is_replaying(const struct cycle *c)
{
    return c->replay && c->told < c->replay->told;
}

void cycle_finish(struct cycle *c)
{
    strategy_destroy(c->strategy);
    replay_log_destroy(c->replay);
    c->strategy = NULL;
    c->replay = NULL;
}
