#include "trial/token.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

void token_init(struct token *t, const struct token_wish *w)
{
    *t = (struct token){.is_cpu = w->is_cpu,
                        .workers = w->workers,
                        .most_compiling = w->is_cpu ? w->cores : w->workers,
                        .cards = w->is_cpu ? 1 : w->cards,
                        .first_warmer = w->workers - w->warmers,
                        .hold = mem_zero((size_t)w->workers, sizeof *t->hold),
                        .place = mem_zero((size_t)w->workers, sizeof *t->place)};
}

void token_finish(struct token *t)
{
    free(t->hold);
    free(t->place);
    *t = (struct token){0};
}

static int count(const struct token *t, enum hold hold)
{
    int n = 0;
    for (int i = 0; i < t->workers; i++)
        n += t->hold[i] == hold;
    return n;
}

static int card_of(const struct token *t, int worker)
{
    return (worker < t->first_warmer ? worker : worker - t->first_warmer) % t->cards;
}

static bool is_held(const struct token *t, int card, enum hold hold)
{
    for (int i = 0; i < t->workers; i++)
        if (t->hold[i] == hold && card_of(t, i) == card)
            return true;
    return false;
}

static bool is_card_free(const struct token *t, int worker)
{
    return !is_held(t, card_of(t, worker), HOLD_DEVICE);
}

bool token_may_start(const struct token *t, int worker)
{
    return is_card_free(t, worker);
}

bool token_may_compile(const struct token *t)
{
    if (count(t, HOLD_COMPILE) >= t->most_compiling)
        return false;
    return !t->is_cpu || (count(t, HOLD_DEVICE) == 0 && !(t->late_compiles >= 2 * t->workers));
}

void token_compile(struct token *t, int worker)
{
    assert(token_may_compile(t) && t->hold[worker] == HOLD_NOTHING);
    t->late_compiles += count(t, HOLD_WAITING) > 0;
    t->hold[worker] = HOLD_COMPILE;
}

void token_wait(struct token *t, int worker)
{
    t->hold[worker] = HOLD_WAITING;
    t->place[worker] = t->next_place++;
}

int token_grant(struct token *t)
{
    bool disturbed = t->is_cpu && count(t, HOLD_COMPILE) > 0;
    int worker = -1;
    for (int i = 0; i < t->workers; i++)
        if (t->hold[i] == HOLD_WAITING && is_card_free(t, i) &&
            (worker < 0 || t->place[i] < t->place[worker]))
            worker = i;
    if (worker < 0 || disturbed)
        return -1;
    t->hold[worker] = HOLD_DEVICE;
    t->late_compiles = 0;
    return worker;
}

void token_release(struct token *t, int worker)
{
    t->hold[worker] = HOLD_NOTHING;
    if (count(t, HOLD_WAITING) == 0)
        t->late_compiles = 0;
}

bool token_is_wanted(const struct token *t, int warmer)
{
    return is_held(t, card_of(t, warmer), HOLD_WAITING);
}

bool token_may_warm(const struct token *t, int warmer)
{
    return is_card_free(t, warmer) && !token_is_wanted(t, warmer);
}

void token_warm(struct token *t, int warmer)
{
    assert(token_may_warm(t, warmer));
    t->hold[warmer] = HOLD_DEVICE;
}
