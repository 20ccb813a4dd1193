// Sessions on a recording: space and search come from there, there is no script.
#include "engine/session_setup.h"

static bool is_legal(void *context, const struct config *c)
{
    const struct session *s = context;
    return recording_find(s->recorded.recording, c) != NULL;
}

static void draw(void *context, struct rng *rng, struct config *out)
{
    const struct session *s = context;
    recorded_draw(s->recorded.recording, rng, out);
}

bool session_assemble_recorded(struct session *s, struct err *e)
{
    const struct recording *r = s->recorded.recording;
    recorded_describe(&s->recorded, &s->arena, &s->record);
    s->space = r->space;
    struct search_problem problem = {.space = s->space,
                                     .legal = is_legal,
                                     .context = s,
                                     .draw = recorded_is_sparse(r) ? draw : NULL};
    return session_make_strategy(s, &problem, e);
}

void session_say_scale(struct session *s)
{
    if (s->recorded.recording && recorded_is_relative(s->recorded.recording))
        session_message(s, "info",
                        "FLOP are not known: speeds are per cent of the fastest recorded");
}
