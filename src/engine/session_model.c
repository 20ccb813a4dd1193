// A session and its strategy's model: the results of other sessions that the model begins with,
// which are chosen when the session is made and stored with it; and how good the model was each
// time it was fitted.
#include "base/os.h"
#include "engine/session.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// --- what the model begins with ---

static void take(struct session *s)
{
    const struct transfer *t = &s->transfer;
    struct str text = {0};
    transfer_add_text(t, &text);
    s->record.history = t->count ? arena_strdup(&s->arena, str_text(&text)) : NULL;
    str_finish(&text);
    if (t->count)
        s->transfer_told = arena_printf(
            &s->arena, "the model begins with %" PRId64 " results of %d other session%s",
            transfer_results(t), t->count, t->count == 1 ? "" : "s");
    else if (str_equal(s->transfer_wish.wanted, "auto"))
        s->transfer_told = "no earlier session is like this one: the model begins with nothing";
}

// For a strategy that does not learn from other sessions. A user who asked for that is told so;
// what was asked for must be valid all the same.
static bool take_nothing(struct session *s, struct err *e)
{
    const char *wanted = s->transfer_wish.wanted;
    s->record.history = NULL;
    if (wanted && !str_equal(wanted, "none"))
        s->transfer_told =
            arena_printf(&s->arena, "strategy '%.*s' learns nothing from other sessions",
                         (int)strcspn(s->record.strategy, ":"), s->record.strategy);
    return transfer_check(s->store, wanted, &s->arena, e);
}

static bool choose(struct session *s, struct err *e)
{
    s->transfer_wish.record = &s->record;
    s->transfer_wish.space = s->space;
    if (!transfer_choose(s->store, &s->transfer_wish, &s->arena, &s->transfer, e))
        return false;
    take(s);
    return true;
}

bool session_take_history(struct session *s, struct search_problem *problem, struct err *e)
{
    const struct transfer_wish *wish = &s->transfer_wish;
    if (!strategy_has_model(s->record.strategy))
        return take_nothing(s, e);
    if (!(wish->wanted || wish->earlier
              ? choose(s, e)
              : transfer_parse(s->store, s->record.history, &s->arena, &s->transfer, e)))
        return false;
    problem->history = s->transfer.history;
    problem->history_count = s->transfer.count;
    return true;
}

void session_say_transfer(struct session *s)
{
    if (s->transfer_told)
        session_message(s, "info", "%s", s->transfer_told);
}

// --- how good the model is ---

static void say(struct session *s, const struct refit *r)
{
    struct str text = {0};
    str_printf(&text, "model %sfitted to ", s->refits > 1 ? "re" : "");
    if (r->told > 0)
        str_printf(&text, "%" PRId64 " results", r->told);
    else
        str_add(&text, "results of other sessions");
    if (r->batch > 0)
        str_add(&text, ": ");
    if (r->batch > 0 && isfinite(r->correlation))
        str_printf(&text, "rank correlation %.2f, ", r->correlation);
    if (r->batch > 0 && isfinite(r->recall))
        str_printf(&text, "recall %.0f of %d, ", r->recall * r->k, r->k);
    if (r->batch > 0)
        str_printf(&text, "on the %d measured since", r->batch);
    str_printf(&text, ", %.2g s", r->seconds);
    session_message(s, "info", "%s", str_text(&text));
    str_finish(&text);
}

static bool keep(struct session *s, const struct refit *r, struct err *e)
{
    struct refit_record record = {
        .number = s->refits,
        .told = r->told,
        .rows = r->rows,
        .correlation = r->correlation,
        .recall = r->recall,
        .k = r->k,
        .batch = r->batch,
        .seconds = r->seconds,
        .bytes = r->bytes,
        .elapsed_s = session_ran_seconds(s),
        .at = os_unix_time(),
    };
    kill_point("refit");
    return session_stored(s, store_put_refit(s->store, s->record.id, &record, e), e);
}

// Stores the refits that the strategy has made since the last call, and tells of them. In a resumed
// session the first ones are those that the database has: replaying the session made them again.
bool session_keep_refits(struct session *s, struct err *e)
{
    struct refit r;
    while (strategy_take_refit(s->strategy, &r)) {
        if (++s->refits <= s->refits_stored)
            continue;
        if (!keep(s, &r, e))
            return false;
        say(s, &r);
    }
    return true;
}
