#include "cli/contest.h"

#include "base/shown.h"
#include "cli/common.h"
#include "engine/stored.h"
#include "simulate/curve.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// --- what it is, in words ---

static const char *members_of(const struct simulate_plan *p, struct arena *arena)
{
    struct str out = {0};
    struct json_writer w = {.out = &out};
    json_begin_list(&w, "recordings");
    for (int i = 0; i < p->recordings; i++) {
        const struct recording *r = p->recording[i];
        json_begin_object(&w, NULL);
        json_add_text(&w, "name", r->name);
        json_add_text(&w, "file", r->path);
        json_add_text(&w, "kernel", r->kernel);
        json_add_text(&w, "device", r->device);
        json_add_int(&w, "size", simulated_size(r));
        json_add_int(&w, "valid", r->outcomes[OUTCOME_OK]);
        json_add_text(&w, "unit", r->unit);
        json_add_real(&w, "optimum", r->entry[r->best].seconds);
        json_end(&w);
    }
    json_end(&w);
    json_add_int(&w, "trials", p->list[0].trials);
    json_add_int(&w, "repeats", p->list[0].repeats);
    json_add_count(&w, "seed", p->list[0].seed);
    const char *kept = arena_strdup(arena, str_text(&out));
    str_finish(&out);
    return kept;
}

static enum comparison_unit unit_of(const struct recording *r)
{
    if (str_equal(r->unit, "s"))
        return COMPARISON_RATE;
    return recorded_is_relative(r) ? COMPARISON_PLAIN : COMPARISON_FLOPS;
}

// --- the runs ---

static bool show_progress(void *context, int64_t done, int64_t runs)
{
    if (!*(const bool *)context)
        return true;
    shown_clear_line();
    if (done < runs)
        fprintf(stderr, "%3d %%", (int)(100 * done / runs));
    return true;
}

static bool run_all(struct simulate_plan *p, struct err *e)
{
    bool on_terminal = isatty(STDERR_FILENO) && !str_equal(getenv("TERM"), "dumb");
    struct simulate_options o = {.tick = show_progress, .context = &on_terminal};
    return simulate(p->list, p->count, &o, e);
}

static const char *title_of(const struct simulate_plan *p, struct arena *arena)
{
    struct str out = {0};
    const char **name = arena_zero(arena, (size_t)p->recordings, sizeof *name);
    for (int i = 0; i < p->recordings; i++)
        name[i] = p->recording[i]->name;
    chart_add_names(name, p->recordings, &out);
    const char *kept = arena_strdup(arena, str_text(&out));
    str_finish(&out);
    return kept;
}

static void describe(const struct simulate_plan *p, struct contest *c)
{
    c->unit = unit_of(p->recording[0]);
    struct str out = {0};
    const struct recording *first = p->recording[0];
    if (p->recordings == 1) {
        str_printf(&out, "%s: %" PRId64 " configurations, %d valid, optimum ", first->name,
                   simulated_size(first), first->outcomes[OUTCOME_OK]);
        char text[32];
        double best = first->entry[first->best].seconds;
        if (str_equal(first->unit, "s"))
            str_add(&out, text_time(best, text));
        else if (!recorded_is_relative(first))
            str_add(&out, text_speed(recorded_flop(first), best, text));
        else
            str_printf(&out, "%.4g %s", best, first->unit);
    } else {
        for (int i = 0; i < p->recordings; i++)
            str_printf(&out, "%s%s", i ? ", " : "", p->recording[i]->name);
    }
    str_printf(&out, "; %" PRId64 " trials, seed %" PRIu64, p->list[0].trials, p->list[0].seed);
    const char *kept = arena_strdup(&c->arena, str_text(&out));
    str_finish(&out);
    c->heading = kept;
    c->members = members_of(p, &c->arena);
    c->title = title_of(p, &c->arena);
}

bool contest_of_recordings(const struct arguments *a, struct contest *c, struct err *e)
{
    struct simulate_plan plan;
    enum comparison_axis axis;
    if (!session_curves_parse_axis(a, &axis, e))
        return false;
    struct simulate_words words = common_simulation(a);
    words.costs_for = axis == COMPARISON_SECONDS ? "--against time" : NULL;
    bool ok = simulate_plan_make(&words, &plan, e) && run_all(&plan, e);
    if (ok) {
        simulated_comparison_make(plan.list, plan.recordings, plan.strategies, axis, &c->simulated);
        char text[STRATEGY_TEXT];
        const char **name = arena_zero(&c->arena, (size_t)plan.strategies, sizeof *name);
        const char **title = arena_zero(&c->arena, (size_t)plan.strategies, sizeof *title);
        for (int i = 0; i < plan.strategies; i++) {
            name[i] = arena_strdup(&c->arena, plan.strategy[i]);
            title[i] = arena_strdup(&c->arena, strategy_text(plan.strategy[i], false, text));
        }
        c->setup = c->simulated.setup;
        c->setup.group_name = name; // outlive the plan
        c->setup.group_title = title;
        describe(&plan, c);
    }
    simulate_plan_finish(&plan);
    return ok;
}

static bool check_same(const struct session_curves *c, struct err *e)
{
    const struct session_record *first = &c->curve[0].record;
    for (int i = 1; i < c->count; i++) {
        const struct session_record *r = &c->curve[i].record;
        const char *what, *of[2];
        // What forbids comparing two sessions, with each one's; false: nothing.
        const char *const pairs[][3] = {
            {"problems", first->title, r->title},
            {"devices", first->device, r->device},
            {"drivers", first->device_id, r->device_id},
            {"sources", first->source, r->source},
            {"spaces", first->name, r->name},
            {"settings", first->settings, r->settings},
            {"timings", first->cold ? "--cold" : "without --cold",
             r->cold ? "--cold" : "without --cold"},
            {"versions of the space's files", first->text_hash, r->text_hash},
        };
        for (size_t j = 0; j < sizeof pairs / sizeof *pairs; j++) {
            if (str_equal(pairs[j][1], pairs[j][2]))
                continue;
            what = pairs[j][0];
            of[0] = pairs[j][1] ? pairs[j][1] : "none";
            of[1] = pairs[j][2] ? pairs[j][2] : "none";
            return err_set(e,
                           "sessions %" PRId64 " and %" PRId64
                           " cannot be compared: they have different %s (%s and %s%s)",
                           first->id, r->id, what, of[0], of[1],
                           str_equal(what, "devices")
                               ? "; compare --portability runs the best of each on both"
                               : "");
        }
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

static void contest_sessions_set_up(struct contest *c)
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
    struct str out = {0};
    struct json_writer w = {.out = &out};
    json_add_text(&w, "title", stored->title);
    json_add_text(&w, "space", stored->name);
    json_add_text(&w, "device", stored->device);
    json_add_text(&w, "source", stored->source);
    if (stored->declared)
        json_add_raw(&w, "declared", stored->declared);
    const char *kept = arena_strdup(&c->arena, str_text(&out));
    str_finish(&out);
    c->members = kept;
    contest_sessions_set_up(c);
    return true;
}

void contest_finish(struct contest *c)
{
    session_curves_finish(&c->curves);
    simulated_comparison_finish(&c->simulated);
    arena_finish(&c->arena);
    *c = (struct contest){.session = NULL};
}

// Pictures of a contest: curves or boxes, of speeds or of costs.

struct drawing {
    struct contest *contest;
    const struct contest_picture *how;
    struct curve_grid grid;
    double scale; // what a share of the best known is drawn as; with `cost` what its inverse is
    const char *y_name;
};

// Where shares are drawn; costs as multiples of the least.
static double shown(const struct drawing *d, double share)
{
    if (!d->how->cost)
        return d->scale * share;
    return share > 0 ? d->scale / share : 0;
}

// Of sessions the unit that suits the best known; of recordings shares.
static void choose_unit(struct drawing *d)
{
    struct contest *c = d->contest;
    double best = c->result.best[0];
    const struct session_record *r = c->session ? &c->curves.curve[0].record : NULL;
    d->scale = 1;
    d->y_name = d->how->cost ? "best so far / optimum" : "optimum / best so far";
    if (r && d->how->cost) {
        bool ms = best > 0 && r->flop / best >= 1e-3;
        d->scale = best > 0 ? r->flop / best * (ms ? 1e3 : 1e6) : 1;
        d->y_name = ms ? "ms" : "us";
    } else if (r) {
        d->scale = best / speed_unit(r, best, &d->y_name);
    }
}

static const struct comparison_group *contest_draw_group_of(const struct drawing *d, int group)
{
    return &d->contest->result.group[group];
}

static struct chart_line begin_line(const struct drawing *d, int group)
{
    const struct comparison_group *g = contest_draw_group_of(d, group);
    return (struct chart_line){
        .letter = g->letter,
        .label = g->runs > 1 ? arena_printf(&d->contest->arena, "%s  (%d runs)", g->title, g->runs)
                             : g->title,
    };
}

// --- curves ---

// A group's runs as they are drawn.
static struct steps *take_steps(const struct drawing *d, int group)
{
    const struct comparison_group *g = contest_draw_group_of(d, group);
    struct arena *arena = &d->contest->arena;
    struct steps *steps = arena_zero(arena, (size_t)g->runs + 1, sizeof *steps);
    for (int i = 0; i < g->runs; i++) {
        const struct steps *share = &d->contest->result.share[g->first + i];
        struct plot_point *point = arena_zero(arena, (size_t)share->count + 1, sizeof *point);
        for (int k = 0; k < share->count; k++)
            point[k] = (struct plot_point){share->point[k].x, shown(d, share->point[k].y)};
        steps[i] = (struct steps){point, share->count};
    }
    return steps;
}

static struct chart_line draw_curve(const struct drawing *d, int group)
{
    const struct comparison_group *g = contest_draw_group_of(d, group);
    const struct curve_grid *grid = &d->grid;
    struct spread *at = arena_zero(&d->contest->arena, (size_t)grid->count + 1, sizeof *at);
    struct chart_line line = begin_line(d, group);
    steps_spread(take_steps(d, group), g->runs, grid->step, grid->step, at, grid->count);
    // A cost begins where all runs have one.
    int unknown = 0;
    while (d->how->cost && unknown < d->grid.count && !(at[unknown].least > 0))
        unknown++;
    line.at = at + unknown;
    line.count = grid->count - unknown;
    line.from = grid->from + unknown * grid->step;
    line.step = grid->step;
    line.end = grid->from + d->contest->result.horizon;
    line.band = g->runs > 1;
    line.most = d->how->cost ? INFINITY : d->scale;
    return line;
}

// The highest mean after a twentieth of the axis: what was slow at first would press all else down.
static double top_of_costs(const struct chart *c, const struct curve_grid *grid)
{
    double early = grid->from + grid->count * grid->step / 20, top = 0;
    for (int i = 0; i < c->line_count; i++) {
        const struct chart_line *l = &c->line[i];
        int k = (int)fmax(0, ceil((early - l->from) / l->step));
        if (k < l->count)
            top = fmax(top, l->at[k].mean);
    }
    return 1.05 * top;
}

// --- boxes ---

static struct chart_line draw_box(const struct drawing *d, int group)
{
    const struct comparison_result *r = &d->contest->result;
    const struct comparison_group *g = contest_draw_group_of(d, group);
    double *x = arena_zero(&d->contest->arena, (size_t)g->runs + 1, sizeof *x);
    struct chart_box *box = arena_zero(&d->contest->arena, 1, sizeof *box);
    struct chart_line line = begin_line(d, group);
    for (int i = 0; i < g->runs; i++)
        x[i] = shown(d, steps_at(&r->share[g->first + i], r->at[r->at_count - 1]));
    *box = chart_box_of(x, g->runs);
    line.box = box;
    line.from = group + 1;
    line.step = 1;
    return line;
}

static struct plot_axis axis_of_boxes(const struct drawing *d)
{
    const struct comparison_result *r = &d->contest->result;
    static const char *const units[] = {
        [COMPARISON_TRIALS] = " trials",
        [COMPARISON_SECONDS] = " s",
        [COMPARISON_SPACE] = " % of the space",
    };
    const char *name = arena_printf(&d->contest->arena, "after %.4g%s", r->at[r->at_count - 1],
                                    units[d->contest->setup.axis]);
    return (struct plot_axis){0.5, r->group_count + 0.5, PLOT_WHOLE, name, 0};
}

// --- the picture ---

bool contest_draw(struct contest *c, const struct contest_picture *how, const char *path,
                  struct err *e)
{
    const struct comparison_result *r = &c->result;
    struct drawing d = {
        .contest = c, .how = how, .grid = session_curves_grid(r->horizon, c->setup.axis)};
    struct chart_line *line = arena_zero(&c->arena, (size_t)r->group_count, sizeof *line);
    bool boxes = how->boxes && r->at_count > 0;
    choose_unit(&d);
    for (int g = 0; g < r->group_count; g++)
        line[g] = boxes ? draw_box(&d, g) : draw_curve(&d, g);
    struct chart chart = {
        .title = c->title,
        .x = boxes ? axis_of_boxes(&d) : session_curves_axis(r->horizon, c->setup.axis),
        .y_name = d.y_name,
        .line = line,
        .line_count = r->group_count,
    };
    chart.top = how->cost && !boxes ? top_of_costs(&chart, &d.grid) : 0;
    return chart_write(&chart, path, e);
}
