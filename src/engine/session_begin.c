// A session's strategy and what it begins with: configurations that are known to be good, and, for
// a model, the results of other sessions. Both are chosen once, when the session is made, and
// stored with it, so that it is resumed from the same ones whatever became of where they are from.
#include "engine/session_setup.h"

#include <inttypes.h>
#include <string.h>

// --- its configurations ---

static void take_warm(struct session *s, const struct warm_start *w)
{
    struct str keys = {0};
    warm_add_keys(s->space, w, &keys);
    s->record.warm = arena_strdup(&s->arena, str_text(&keys));
    str_finish(&keys);
    struct str told = {0};
    str_printf(&told, "warm start: begins with %d configuration%s of %s", w->count,
               w->count == 1 ? "" : "s",
               s->beginning.at_baselines ? WARM_BASELINE : s->beginning.warm_from);
    if (w->moved)
        str_printf(&told, ", %d moved to the nearest here", w->moved);
    if (w->left_out)
        str_printf(&told, ", %d left out that nothing here is like", w->left_out);
    s->beginning.warm = arena_strdup(&s->arena, str_text(&told));
    str_finish(&told);
}

// --- its model ---

static void take_history(struct session *s)
{
    const struct transfer *t = &s->beginning.transfer;
    struct str text = {0};
    transfer_add_text(t, &text);
    s->record.history = t->count ? arena_strdup(&s->arena, str_text(&text)) : NULL;
    str_finish(&text);
    if (t->count)
        s->beginning.transferred = arena_printf(
            &s->arena, "the model begins with %" PRId64 " results of %d other session%s%s",
            transfer_results(t), t->count, t->count == 1 ? "" : "s",
            s->beginning.wish.unasked ? " on this device (--transfer none: with nothing)" : "");
    else if (str_equal(s->beginning.wish.wanted, "auto") && !s->beginning.wish.unasked)
        s->beginning.transferred =
            "no earlier session is like this one: the model begins with nothing";
}

// For a strategy that does not learn from other sessions. A user who asked for that is told so;
// what was asked for must be valid all the same.
static bool take_nothing(struct session *s, struct err *e)
{
    const char *wanted = s->beginning.wish.wanted;
    s->record.history = NULL;
    if (wanted && !s->beginning.wish.unasked && !str_equal(wanted, "none"))
        s->beginning.transferred =
            arena_printf(&s->arena, "strategy '%.*s' learns nothing from other sessions",
                         (int)strcspn(s->record.strategy, ":"), s->record.strategy);
    return transfer_check(s->host.store, wanted, &s->arena, e);
}

static bool choose(struct session *s, struct err *e)
{
    s->beginning.wish.record = &s->record;
    s->beginning.wish.space = s->space;
    if (!transfer_choose(s->host.store, &s->beginning.wish, &s->arena, &s->beginning.transfer, e))
        return false;
    take_history(s);
    return true;
}

static bool give_history(struct session *s, struct search_problem *problem, struct err *e)
{
    struct transfer_wish *wish = &s->beginning.wish;
    enum strategy_learns learns = strategy_learns(s->record.strategy);
    if (learns == LEARNS_NOTHING)
        return take_nothing(s, e);
    if (wish->unasked && learns != LEARNS_WEIGHED)
        wish->wanted = NULL;
    wish->any_device = learns == LEARNS_WEIGHED && !wish->unasked;
    if (learns == LEARNS_WEIGHED && !wish->wanted && wish->earlier)
        wish->wanted = "none"; // in a network only where it was asked for
    if (!(wish->wanted || wish->earlier ? choose(s, e)
                                        : transfer_parse(s->host.store, s->record.history,
                                                         &s->arena, &s->beginning.transfer, e)))
        return false;
    problem->history = s->beginning.transfer.history;
    problem->history_count = s->beginning.transfer.count;
    return true;
}

// --- the strategy ---

static bool choose_warm(struct session *s, const struct search_problem *problem, struct err *e)
{
    const struct beginning *b = &s->beginning;
    struct warm_start *warm = &s->beginning.begun_with;
    if (!b->warm_from && !b->at_baselines)
        return warm_parse(s->space, s->record.warm, &s->arena, warm, e);
    if (str_equal(b->warm_from, WARM_NONE))
        return true;
    if (b->at_baselines)
        warm_take_baselines(problem, &s->arena, warm);
    else if (!warm_read(s->host.store, b->warm_from, problem, &s->arena, warm, e))
        return false;
    if (warm->count)
        take_warm(s, warm);
    return true;
}

bool session_make_strategy(struct session *s, struct search_problem *problem, struct err *e)
{
    struct warm_start *warm = &s->beginning.begun_with;
    if (!choose_warm(s, problem, e))
        return false;
    problem->warm = warm->config;
    problem->warm_count = warm->count;
    if (!give_history(s, problem, e))
        return false;
    s->cycle.strategy = strategy_create(s->record.strategy, problem, s->record.seed, e);
    s->cycle.work = s->record.flop;
    s->cycle.unit = 1e12;
    s->cycle.count_rejected = s->record.count_rejected;
    return s->cycle.strategy != NULL;
}

void session_say_beginning(struct session *s)
{
    if (s->beginning.warm)
        session_message(s, "info", "%s", s->beginning.warm);
    if (s->beginning.transferred)
        session_message(s, "info", "%s", s->beginning.transferred);
}
