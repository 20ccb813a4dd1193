#include "cli/session_curves.h"

#include "engine/network_summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- reading ---

static const char *const axes[] = {
    [COMPARISON_TRIALS] = "trials", [COMPARISON_SECONDS] = "time", [COMPARISON_SPACE] = "space"};

enum comparison_axis session_curves_axis_of(const struct arguments *a)
{
    const char *against = arguments_text(a, "against");
    enum comparison_axis axis = COMPARISON_TRIALS;
    while (against && !str_equal(against, axes[axis]))
        axis++;
    return axis;
}

const char *session_curves_axis_word(enum comparison_axis axis)
{
    return axes[axis];
}

struct reader {
    struct plot_point *point;
    int count, capacity;
    double flop;
    enum comparison_axis axis;
    double trial;       // on the axis
    const double *cost; // [number]: recorded seconds of the trials up to it; NULL: none
    int64_t costs;      // the last number that has one
};

static bool take_step(void *context, const struct best_step *s)
{
    struct reader *r = context;
    MEM_GROW(r->point, r->count, r->capacity);
    r->point[r->count++] = (struct plot_point){
        .x = r->axis != COMPARISON_SECONDS ? r->trial * (double)s->number
             : r->cost ? s->elapsed_s + r->cost[s->number < r->costs ? s->number : r->costs]
                       : s->elapsed_s,
        .y = s->seconds > 0 ? r->flop / s->seconds : 0,
    };
    return true;
}

// Adds a whole run as it was measured. An earlier run may be faster.
static bool take_whole(void *context, const struct whole_record *w)
{
    const struct best_step step = {
        .number = w->all_trials, .seconds = whole_seconds(w), .elapsed_s = w->elapsed_s};
    return step.seconds <= 0 || take_step(context, &step);
}

// The recorded times of the trials of a session on a recording, added up: the trials take no time
// themselves.
struct costs {
    double *sum; // [number]
    int64_t trials;
};

static bool take_cost(void *context, const struct trial_record *t)
{
    struct costs *c = context;
    if (t->number <= c->trials)
        c->sum[t->number] = c->sum[t->number - 1] + t->compile_s + t->device_s;
    return true;
}

static bool read_curve(struct store *store, struct session_curves *c, struct session_curve *out,
                       struct err *e)
{
    bool seconds = c->axis == COMPARISON_SECONDS;
    struct reader r = {.flop = out->record.flop, .axis = c->axis, .trial = 1};
    if (c->axis == COMPARISON_SPACE)
        r.trial = 100 / strtod(out->record.size, NULL);
    const char *source = out->record.source;
    if (seconds && str_starts(source, "replay:") && !strstr(source, ":speed=")) {
        int64_t trials = out->record.trials;
        struct costs costs = {arena_zero(&c->arena, (size_t)trials + 1, sizeof *costs.sum), trials};
        r.cost = costs.sum;
        r.costs = trials;
        if (!store_each_numbered(store, out->record.id, 1, take_cost, &costs, e))
            return false;
    }
    bool ok = out->whole ? store_each_whole(store, out->record.id, take_whole, &r, e)
                         : session_each_best(store, &out->record, take_step, &r, e);
    struct plot_point *kept = arena_zero(&c->arena, (size_t)r.count + 1, sizeof *kept);
    for (int i = 0; i < r.count; i++)
        kept[i] = r.point[i];
    free(r.point);
    out->steps = (struct steps){kept, r.count};
    out->end = seconds ? out->record.ran_seconds + (r.cost ? r.cost[out->record.trials] : 0)
                       : r.trial * (double)out->record.trials;
    if (r.count)
        out->end = fmax(out->end, kept[r.count - 1].x); // it has results that are not counted yet
    return ok;
}

static bool read_session(struct store *store, int64_t id, struct session_curves *c, struct err *e)
{
    struct session_curve *parts = &c->curve[c->count++], *whole = &c->curve[c->count];
    if (!store_get_session(store, id, &c->arena, &parts->record, e))
        return false;
    common_take_ran(store, &parts->record);
    if (!read_curve(store, c, parts, e))
        return false;
    if (!c->wholes || !parts->record.scheduler || c->count == PLOT_MOST_SERIES)
        return true;
    *whole = (struct session_curve){.record = parts->record, .whole = true};
    bool ok = read_curve(store, c, whole, e);
    c->count += ok && whole->steps.count > 0;
    return ok;
}

bool session_curves_read(const struct arguments *a, bool wholes, struct session_curves *out,
                         struct err *e)
{
    *out = (struct session_curves){.wholes = wholes, .axis = session_curves_axis_of(a)};
    arena_init(&out->arena);
    int64_t *id = arena_zero(&out->arena, (size_t)a->operand_count, sizeof *id);
    bool ok = true;
    for (int i = 0; ok && i < a->operand_count; i++) {
        ok = common_session_id(a->operand[i], &id[i], e);
        for (int k = 0; ok && k < i; k++)
            ok = id[k] != id[i] || err_usage(e, "session %" PRId64 " is named twice", id[i]);
    }
    struct store *store = ok ? common_open_session(a, id[0], e) : NULL;
    ok = store != NULL;
    out->curve = arena_zero(&out->arena, (size_t)a->operand_count * 2, sizeof *out->curve);
    for (int i = 0; ok && i < a->operand_count; i++)
        ok = read_session(store, id[i], out, e);
    store_close(store);
    if (!ok)
        session_curves_finish(out);
    return ok;
}

void session_curves_finish(struct session_curves *c)
{
    arena_finish(&c->arena);
    *c = (struct session_curves){.count = 0};
}

// --- drawing ---

const char *session_curves_place(const struct session_record *r)
{
    return str_equal(r->source, "device") ? r->device : recorded_without_folder(r->source);
}

struct curve_grid session_curves_grid(double horizon, enum comparison_axis axis)
{
    enum { MOST = 400 }; // a chart is 700 points wide
    if (!(horizon > 0))
        return (struct curve_grid){.step = 1};
    bool whole = axis == COMPARISON_TRIALS;
    double step = whole ? ceil(horizon / MOST) : horizon / MOST;
    return (struct curve_grid){whole, step, (int)ceil(horizon / step - 1e-9)};
}

struct plot_axis session_curves_axis(double horizon, enum comparison_axis axis)
{
    if (axis == COMPARISON_SECONDS)
        return (struct plot_axis){0, horizon, PLOT_SECONDS, "running time", 0};
    if (axis == COMPARISON_SPACE)
        return (struct plot_axis){0, horizon, PLOT_REAL, "% of the space", 0};
    return (struct plot_axis){1, 1 + horizon, PLOT_WHOLE, "trials", 0};
}

struct curve_scale session_curves_scale(const struct session_curves *c)
{
    struct curve_scale s = {.horizon = 0};
    double best = 0; // of the sessions, as it stands in what is printed of them
    for (int i = 0; i < c->count; i++) {
        const struct steps *steps = &c->curve[i].steps;
        s.horizon = fmax(s.horizon, c->curve[i].end);
        s.highest = fmax(s.highest, steps->count ? steps->point[steps->count - 1].y : 0);
        const struct session_record *r = &c->curve[i].record;
        best = fmax(best, r->best_seconds > 0 ? r->flop / r->best_seconds : 0);
    }
    s.is_inverse = speed_is_inverse(&c->curve[0].record);
    s.unit = speed_unit(&c->curve[0].record, best > 0 ? best : s.highest, &s.unit_name);
    return s;
}

struct chart_line session_curves_line(const struct session_curves *c, int i,
                                      const struct curve_scale *s, struct arena *arena)
{
    const struct session_curve *curve = &c->curve[i];
    struct curve_grid grid = session_curves_grid(s->horizon, c->axis);
    struct spread *at = arena_zero(arena, (size_t)grid.count + 1, sizeof *at);
    steps_spread(&curve->steps, 1, grid.step, grid.step, at, grid.count);
    for (int k = 0; k < grid.count; k++)
        at[k].mean /= s->unit;
    return (struct chart_line){
        .letter = (char)('A' + i),
        .at = at,
        .count = grid.count,
        .from = grid.from,
        .step = grid.step,
        .end = grid.from + curve->end,
    };
}
