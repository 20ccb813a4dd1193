// Pictures of a contest: curves or boxes, of speeds or of costs.
#include "cli/contest.h"

#include <math.h>

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

static const struct comparison_group *group_of(const struct drawing *d, int group)
{
    return &d->contest->result.group[group];
}

static struct chart_line begin_line(const struct drawing *d, int group)
{
    const struct comparison_group *g = group_of(d, group);
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
    const struct comparison_group *g = group_of(d, group);
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

// A cost begins where all runs have one.
static int count_unknown(const struct drawing *d, const struct spread *at)
{
    int unknown = 0;
    while (d->how->cost && unknown < d->grid.count && !(at[unknown].least > 0))
        unknown++;
    return unknown;
}

static struct chart_line draw_curve(const struct drawing *d, int group)
{
    const struct comparison_group *g = group_of(d, group);
    const struct curve_grid *grid = &d->grid;
    struct spread *at = arena_zero(&d->contest->arena, (size_t)grid->count + 1, sizeof *at);
    struct chart_line line = begin_line(d, group);
    steps_spread(take_steps(d, group), g->runs, grid->step, grid->step, at, grid->count);
    int unknown = count_unknown(d, at);
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
    const struct comparison_group *g = group_of(d, group);
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
