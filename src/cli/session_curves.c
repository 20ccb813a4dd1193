#include "cli/session_curves.h"

#include "engine/network_summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

// --- reading ---

bool session_curves_parse_axis(const struct arguments *a, bool *seconds, struct err *e)
{
    const char *against = arguments_text(a, "against");
    *seconds = str_equal(against, "time");
    return !against || *seconds || str_equal(against, "trials") ||
           err_usage(e, "--against wants trials or time, not '%s'", against);
}

static bool parse_sessions(const struct arguments *a, int64_t *id, struct err *e)
{
    for (int i = 0; i < a->operand_count; i++) {
        if (!common_session_id(a->operand[i], &id[i], e))
            return false;
        for (int k = 0; k < i; k++)
            if (id[k] == id[i])
                return err_usage(e, "session %" PRId64 " is named twice", id[i]);
    }
    return true;
}

struct reader {
    struct plot_point *point;
    int count, capacity;
    double flop;
    bool seconds;
};

static bool take_step(void *context, const struct best_step *s)
{
    struct reader *r = context;
    MEM_GROW(r->point, r->count, r->capacity);
    r->point[r->count++] = (struct plot_point){
        .x = r->seconds ? s->elapsed_s : (double)s->number,
        .y = s->seconds > 0 ? r->flop / s->seconds : 0,
    };
    return true;
}

// As it was measured each time: what was faster before may have met a faster machine.
static bool take_whole(void *context, const struct whole_record *w)
{
    const struct best_step step = {
        .number = w->all_trials, .seconds = whole_seconds(w), .elapsed_s = w->elapsed_s};
    return step.seconds <= 0 || take_step(context, &step);
}

static bool read_curve(struct store *store, struct session_curves *c, struct session_curve *out,
                       struct err *e)
{
    struct reader r = {.flop = out->record.flop, .seconds = c->seconds};
    bool ok = out->whole ? store_each_whole(store, out->record.id, take_whole, &r, e)
                         : session_each_best(store, &out->record, take_step, &r, e);
    struct plot_point *kept = arena_zero(&c->arena, (size_t)r.count + 1, sizeof *kept);
    for (int i = 0; i < r.count; i++)
        kept[i] = r.point[i];
    free(r.point);
    out->steps = (struct steps){kept, r.count};
    out->end = c->seconds ? out->record.ran_seconds : (double)out->record.trials;
    if (r.count)
        out->end = fmax(out->end, kept[r.count - 1].x); // told since, or not counted yet
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

static bool read_all(const struct arguments *a, const int64_t *id, struct session_curves *c,
                     struct err *e)
{
    struct store *store = common_open_session(a, id[0], e);
    bool ok = store != NULL;
    c->curve = arena_zero(&c->arena, (size_t)a->operand_count * 2, sizeof *c->curve);
    for (int i = 0; ok && i < a->operand_count; i++)
        ok = read_session(store, id[i], c, e);
    store_close(store);
    return ok;
}

bool session_curves_read(const struct arguments *a, bool wholes, struct session_curves *out,
                         struct err *e)
{
    *out = (struct session_curves){.wholes = wholes};
    arena_init(&out->arena);
    int64_t *id = arena_zero(&out->arena, (size_t)a->operand_count, sizeof *id);
    bool ok = session_curves_parse_axis(a, &out->seconds, e) && parse_sessions(a, id, e) &&
              read_all(a, id, out, e);
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
    return str_equal(r->source, "device") ? r->device : r->source;
}

struct curve_grid session_curves_grid(double horizon, bool seconds)
{
    enum { MOST = 1000 }; // more than a chart has points
    if (!(horizon > 0))
        return (struct curve_grid){.step = 1};
    double step = seconds ? horizon / MOST : ceil(horizon / MOST);
    return (struct curve_grid){seconds ? 0 : 1, step, (int)ceil(horizon / step - 1e-9)};
}

struct plot_axis session_curves_axis(double horizon, bool seconds)
{
    if (seconds)
        return (struct plot_axis){0, horizon, PLOT_SECONDS, "running time", 0};
    return (struct plot_axis){1, 1 + horizon, PLOT_WHOLE, "trials", 0};
}

struct curve_scale session_curves_scale(const struct session_curves *c)
{
    struct curve_scale s = {.horizon = 0};
    for (int i = 0; i < c->count; i++) {
        const struct steps *steps = &c->curve[i].steps;
        s.horizon = fmax(s.horizon, c->curve[i].end);
        s.highest = fmax(s.highest, steps->count ? steps->point[steps->count - 1].y : 0);
    }
    s.unit = speed_unit(&c->curve[0].record, s.highest, &s.unit_name);
    return s;
}

struct chart_line session_curves_line(const struct session_curves *c, int i,
                                      const struct curve_scale *s, struct arena *arena)
{
    const struct session_curve *curve = &c->curve[i];
    struct curve_grid grid = session_curves_grid(s->horizon, c->seconds);
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
