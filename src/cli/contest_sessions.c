#include "cli/contest.h"

#include "cli/common.h"

#include <inttypes.h>

// What forbids comparing two sessions, with each one's; false: nothing.
static bool differ(const struct session_record *a, const struct session_record *b,
                   const char **what, const char *of[2])
{
    const char *const pairs[][3] = {
        {"problems", a->title, b->title},
        {"devices", a->device, b->device},
        {"drivers", a->device_id, b->device_id},
        {"sources", a->source, b->source},
        {"spaces", a->name, b->name},
        {"settings", a->settings, b->settings},
        {"timings", a->cold ? "--cold" : "without --cold", b->cold ? "--cold" : "without --cold"},
        {"versions of the space's files", a->text_hash, b->text_hash},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (str_equal(pairs[i][1], pairs[i][2]))
            continue;
        *what = pairs[i][0];
        of[0] = pairs[i][1] ? pairs[i][1] : "none";
        of[1] = pairs[i][2] ? pairs[i][2] : "none";
        return true;
    }
    return false;
}

static bool check_same(const struct session_curves *c, struct err *e)
{
    const struct session_record *first = &c->curve[0].record;
    for (int i = 1; i < c->count; i++) {
        const struct session_record *r = &c->curve[i].record;
        const char *what, *of[2];
        if (differ(first, r, &what, of))
            return err_set(e,
                           "sessions %" PRId64 " and %" PRId64
                           " cannot be compared: they have different %s (%s and %s%s)",
                           first->id, r->id, what, of[0], of[1],
                           str_equal(what, "devices")
                               ? "; compare --portability runs the best of each on both"
                               : "");
    }
    return true;
}

// Those of one strategy that began alike are a group.
struct groups {
    const char **name, **title;
};

static int group_of(struct contest *c, const struct groups *g, const struct session_record *r)
{
    char text[STRATEGY_TEXT], scheduler[STRATEGY_TEXT] = "";
    const char *spec = shown_text(&c->arena, r->strategy), *beginning = stored_beginning(r);
    if (r->scheduler) // of a network
        beginning = arena_printf(
            &c->arena, ", %s%s",
            strategy_text(shown_text(&c->arena, r->scheduler), false, scheduler), beginning);
    const char *name = arena_printf(&c->arena, "%s%s", spec, beginning);
    int count = c->setup.group_count;
    for (int i = 0; i < count; i++)
        if (str_equal(g->name[i], name))
            return i;
    g->name[count] = name;
    g->title[count] = arena_printf(&c->arena, "%s%s", strategy_text(spec, false, text), beginning);
    return c->setup.group_count++;
}

static const char *members_of(const struct session_record *r, struct arena *arena)
{
    struct str out = {0};
    struct json_writer w = {.out = &out};
    json_add_text(&w, "title", r->title);
    json_add_text(&w, "space", r->name);
    json_add_text(&w, "device", r->device);
    json_add_text(&w, "source", r->source);
    if (r->declared)
        json_add_raw(&w, "declared", r->declared);
    const char *kept = arena_strdup(arena, str_text(&out));
    str_finish(&out);
    return kept;
}

static void set_up(struct contest *c)
{
    const struct session_curves *curves = &c->curves;
    const struct session_record *first = &curves->curve[0].record;
    size_t count = (size_t)curves->count;
    struct groups groups = {arena_zero(&c->arena, count, sizeof *groups.name),
                            arena_zero(&c->arena, count, sizeof *groups.title)};
    struct comparison_run *run = arena_zero(&c->arena, count, sizeof *run);
    struct comparison_problem *problem = arena_zero(&c->arena, 1, sizeof *problem);
    int64_t *session = arena_zero(&c->arena, count, sizeof *session);
    c->setup.group_name = groups.name;
    c->setup.group_title = groups.title;
    for (int i = 0; i < curves->count; i++) {
        const struct session_curve *s = &curves->curve[i];
        const struct session_record *r = &s->record;
        session[i] = r->id;
        run[i] = (struct comparison_run){
            .group = group_of(c, &groups, r),
            .pair = s->record.seed,
            .curve = s->steps,
            .end = s->end,
        };
    }
    problem->work = first->flop;
    c->setup.problem = problem;
    c->setup.problem_count = 1;
    c->setup.run = run;
    c->setup.run_count = curves->count;
    c->setup.axis = curves->axis;
    c->session = session;
}

bool contest_of_sessions(const struct arguments *a, struct contest *c, struct err *e)
{
    if (!session_curves_read(a, false, &c->curves, e) || !check_same(&c->curves, e))
        return false;
    const struct session_record *stored = &c->curves.curve[0].record;
    struct session_record shown = *stored, *first = &shown;
    common_show_record(&c->arena, &shown);
    const char *place = session_curves_place(first);
    c->unit = speed_is_relative(first) ? COMPARISON_SHARE : COMPARISON_FLOPS;
    c->title = arena_printf(&c->arena, "%s on %s", first->title, place);
    c->heading =
        arena_printf(&c->arena, "%s (%s%s%s) on %s", first->title, first->name,
                     first->reduced ? ", " : "", first->reduced ? first->reduced : "", place);
    c->members = members_of(stored, &c->arena);
    set_up(c);
    return true;
}

void contest_finish(struct contest *c)
{
    session_curves_finish(&c->curves);
    simulated_comparison_finish(&c->simulated);
    arena_finish(&c->arena);
    *c = (struct contest){.session = NULL};
}
