#include "play.h"

#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static enum ask note_ask(struct strategy *base, struct config *out)
{
    struct noter *n = (struct noter *)base;
    if (n->asked == n->count)
        return ASK_EXHAUSTED;
    if (n->batch && n->asked % n->batch == 0 && n->told < n->asked)
        return ASK_WAIT;
    *out = (struct config){.slot = {++n->asked}};
    sprintf(n->log + strlen(n->log), "a%d ", n->asked);
    return ASK_NEW;
}

static void note_tell(struct strategy *base, const struct config *c, enum outcome o, double fitness)
{
    struct noter *n = (struct noter *)base;
    assert_true((fitness > 0) == (o == OUTCOME_OK));
    n->told++;
    sprintf(n->log + strlen(n->log), "t%d ", c->slot[0]);
}

static bool note_is_async(const struct strategy *base)
{
    return ((const struct noter *)base)->is_async;
}

static void note_destroy(struct strategy *base)
{
    (void)base; // the test's
}

const struct strategy_kind noter_kind = {
    .name = "noter",
    .is_async = note_is_async,
    .ask = note_ask,
    .tell = note_tell,
    .destroy = note_destroy,
};

struct noter noter(bool is_async, int count)
{
    return (struct noter){.base = {&noter_kind}, .is_async = is_async, .count = count};
}

void play_begin(struct play *p, struct noter strategy, const enum outcome *outcome, int64_t budget)
{
    *p = (struct play){.strategy = strategy, .outcome = outcome, .budget = budget};
    p->cycle = (struct cycle){.strategy = &p->strategy.base, .work = 1, .unit = 1};
}

// The later it is asked, the faster; every third as fast as the one before.
double play_seconds(int64_t ask)
{
    return 10 - (double)(ask - (ask % 3 == 0)) / PLAY_MOST;
}

static void tell_all(struct play *p)
{
    struct cycle_trial *t;
    while ((t = cycle_next(&p->cycle))) {
        double before = p->cycle.best.ask ? p->cycle.best.seconds : 11;
        bool is_ok = t->outcome == OUTCOME_OK;
        assert_true(cycle_tell(&p->cycle, t) == (is_ok && t->seconds < before));
    }
}

void play_advance(struct play *p)
{
    struct cycle *c = &p->cycle;
    enum ask asked = ASK_NEW;
    struct err e = {0};
    tell_all(p);
    while (asked == ASK_NEW && p->in_flight < PLAY_ROOM && cycle_may_ask(c, p->budget)) {
        struct cycle_trial *t = &p->trial[c->asked];
        if (!cycle_ask(c, t, &asked, &e))
            fail_msg("%s", e.text);
        if (asked == ASK_NEW && !t->answered)
            p->flying[p->in_flight++] = (int)t->ask;
        assert_true(c->trials + c->pending <= p->budget || (t->recorded && asked == ASK_NEW));
        tell_all(p);
    }
}

void play_answer(struct play *p, int which)
{
    int ask = p->flying[which];
    struct cycle_trial *t = cycle_find(&p->cycle, ask);
    assert_true(t == &p->trial[ask - 1]);
    cycle_answer(&p->cycle, t, p->outcome[ask - 1], play_seconds(ask));
    assert_null(cycle_find(&p->cycle, ask)); // who brings it again finds that nobody waits
    p->flying[which] = p->flying[--p->in_flight];
}

static int drawn(uint64_t seed, int at, int among)
{
    uint64_t key[] = {seed, (uint64_t)at};
    return (int)(hash_bytes(key, sizeof key) % (uint64_t)among);
}

static int choose(struct order *o, int at, int among)
{
    if (at >= o->count)
        o->choice[at] = o->seed ? drawn(o->seed, at, among) : 0;
    o->count = at >= o->count ? at + 1 : o->count;
    o->among[at] = among;
    return o->choice[at];
}

bool next_order(struct order *o)
{
    while (o->count && o->choice[o->count - 1] + 1 == o->among[o->count - 1])
        o->count--;
    if (!o->count)
        return false;
    o->choice[o->count - 1]++;
    return true;
}

void play_order(struct play *p, struct order *o, int *came)
{
    int at = 0;
    for (play_advance(p); p->in_flight > 0; play_advance(p)) {
        int which = choose(o, at, p->in_flight);
        if (came)
            came[at] = p->flying[which];
        at++;
        play_answer(p, which);
    }
}

void play_drawn(struct play *p, uint64_t seed)
{
    play_order(p, &(struct order){.seed = seed}, NULL);
}

void draw_outcomes(long pattern, int count, enum outcome *out)
{
    static const enum outcome fates[] = {OUTCOME_OK, OUTCOME_CRASH, OUTCOME_REJECTED};
    for (int i = 0; i < count; i++, pattern /= 3)
        out[i] = fates[pattern % 3];
}
