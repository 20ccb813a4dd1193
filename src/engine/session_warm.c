// A session's strategy, with the configurations that it begins with: read once, when the session is
// made, and stored with it, so that it is resumed from the same ones whatever became of the source.
#include "engine/session.h"
#include "engine/warm.h"

static void take(struct session *s, const struct warm_start *w)
{
    struct str keys = {0};
    warm_add_keys(s->space, w, &keys);
    s->record.warm = arena_strdup(&s->arena, str_text(&keys));
    str_finish(&keys);
    struct str told = {0};
    str_printf(&told, "warm start: begins with %d configuration%s of %s", w->count,
               w->count == 1 ? "" : "s", s->warm_from);
    if (w->moved)
        str_printf(&told, ", %d moved to the nearest here", w->moved);
    if (w->left_out)
        str_printf(&told, ", %d left out that nothing here is like", w->left_out);
    s->warm_told = arena_strdup(&s->arena, str_text(&told));
    str_finish(&told);
}

bool session_make_strategy(struct session *s, struct search_problem *problem, struct err *e)
{
    struct warm_start warm;
    if (!s->warm_from) {
        if (!warm_parse(s->space, s->record.warm, &s->arena, &warm, e))
            return false;
    } else if (warm_read(s->store, s->warm_from, problem, &s->arena, &warm, e)) {
        take(s, &warm);
    } else {
        return false;
    }
    problem->warm = warm.config;
    problem->warm_count = warm.count;
    if (!session_take_history(s, problem, e))
        return false;
    s->strategy = strategy_create(s->record.strategy, problem, s->record.seed, e);
    return s->strategy != NULL;
}

void session_say_warm(struct session *s)
{
    if (s->warm_told)
        session_message(s, "info", "%s", s->warm_told);
}
