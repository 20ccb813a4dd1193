#include "projection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void projection_init(struct projection *p, const struct space *s, struct factor x,
                     const struct factor *y)
{
    *p = (struct projection){.space = s, .is_flat = !y};
    axis_init(&p->x, s, x);
    if (y)
        axis_init(&p->y, s, *y);
    p->place = mem_zero((size_t)AXIS_MOST * (y ? AXIS_MOST : 1), sizeof *p->place);
    rng_seed(&p->rng, 1);
}

void projection_finish(struct projection *p)
{
    free(p->place);
    *p = (struct projection){0};
}

void projection_hold(struct projection *p, const struct config *c)
{
    p->is_held = true;
    p->held = *c;
}

int projection_rows(const struct projection *p)
{
    return p->is_flat ? 1 : p->y.count;
}

int projection_cols(const struct projection *p)
{
    return p->x.count;
}

const struct place *projection_at(const struct projection *p, int row, int col)
{
    return &p->place[row * AXIS_MOST + col];
}

// --- trials ---

static bool on_axis(const struct projection *p, int param)
{
    return param == p->x.factor.param || (!p->is_flat && param == p->y.factor.param);
}

static bool is_like_held(const struct projection *p, const struct config *c)
{
    for (int i = 0; p->is_held && i < p->space->param_count; i++) {
        const struct param *q = &p->space->param[i];
        if (!on_axis(p, i) && memcmp(c->slot + q->offset, p->held.slot + q->offset,
                                     (size_t)q->width * sizeof *c->slot) != 0)
            return false;
    }
    return true;
}

static void take_best(struct place *into, const struct place *c)
{
    bool better = c->best_raced != into->best_raced ? c->best_raced : c->best > into->best;
    if (!c->best_ask || (into->best_ask && !better))
        return;
    into->best = c->best;
    into->best_ask = c->best_ask;
    into->best_raced = c->best_raced;
}

// Two places become one.
static void merge(struct place *into, const struct place *c)
{
    for (int i = 0; i < OUTCOME_COUNT; i++)
        into->outcome[i] += c->outcome[i];
    take_best(into, c);
    if (c->best_ask && (into->worst == 0 || c->worst < into->worst))
        into->worst = c->worst;
    into->sum += c->sum;
    into->legal |= c->legal;
}

// What was judged before holds for a whole range only if it was legal.
static void move_places(struct projection *p, int rows, int cols, const int *row_to,
                        const int *col_to)
{
    size_t count = (size_t)AXIS_MOST * (p->is_flat ? 1 : AXIS_MOST);
    struct place *moved = mem_zero(count, sizeof *moved);
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < cols; col++)
            merge(&moved[row_to[row] * AXIS_MOST + col_to[col]], projection_at(p, row, col));
    free(p->place);
    p->place = moved;
    p->layout++;
    p->judged_to = 0;
}

static struct place *make_place(struct projection *p, const struct seen *s)
{
    int rows = projection_rows(p), cols = projection_cols(p);
    int row_to[AXIS_MOST] = {0}, col_to[AXIS_MOST], row = 0;
    enum axis_kind kind = p->x.kind, y_kind = p->y.kind;
    int col = axis_make_place(&p->x, s->config, s->told, col_to);
    if (!p->is_flat)
        row = axis_make_place(&p->y, s->config, s->told, row_to);
    if (rows != projection_rows(p) || cols != projection_cols(p) || kind != p->x.kind ||
        y_kind != p->y.kind)
        move_places(p, rows, cols, row_to, col_to);
    return &p->place[row * AXIS_MOST + col];
}

void projection_add(struct projection *p, const struct seen *s)
{
    if (!is_like_held(p, s->config) || !axis_has_value(&p->x, s->told) ||
        (!p->is_flat && !axis_has_value(&p->y, s->told)))
        return;
    struct place *at = make_place(p, s);
    p->taken++;
    at->outcome[s->outcome]++;
    if (s->outcome != OUTCOME_OK)
        return;
    at->sum += s->speed;
    take_best(at, &(struct place){.best = s->speed, .best_ask = s->ask, .best_raced = s->raced});
    if (at->outcome[OUTCOME_OK] == 1 || s->speed < at->worst)
        at->worst = s->speed;
}

bool projection_find(const struct projection *p, const struct config *c, const double *told,
                     int *row, int *col)
{
    *col = axis_place(&p->x, c, told);
    *row = p->is_flat ? 0 : axis_place(&p->y, c, told);
    return *row >= 0 && *col >= 0 && is_like_held(p, c);
}

// --- places ---

int64_t place_trials(const struct place *c)
{
    int64_t count = 0;
    for (int i = 0; i < OUTCOME_COUNT; i++)
        count += i == OUTCOME_REJECTED ? 0 : c->outcome[i];
    return count;
}

int64_t place_failed(const struct place *c)
{
    return place_trials(c) - c->outcome[OUTCOME_OK];
}

enum place_kind place_kind(const struct place *c)
{
    if (c->outcome[OUTCOME_OK])
        return PLACE_MEASURED;
    if (place_trials(c))
        return PLACE_FAILED;
    bool excluded = c->impossible || c->judged >= JUDGED_ENOUGH || c->outcome[OUTCOME_REJECTED];
    return excluded && !c->legal ? PLACE_EXCLUDED : PLACE_UNVISITED;
}

double place_value(const struct place *c, enum statistic s)
{
    int64_t ok = c->outcome[OUTCOME_OK];
    if (s == STATISTIC_COUNT)
        return place_trials(c) ? (double)place_trials(c) : NAN;
    return !ok ? NAN : s == STATISTIC_BEST ? c->best : c->sum / (double)ok;
}

// --- what could be there ---

// The value of a parameter with one part bound (or two of them): the others share what is left of
// the product, uniformly. False: nothing is left to share.
static bool draw_parts(struct projection *p, const struct param *q, const int *bound,
                       const int32_t *value, int count, int32_t *out)
{
    int32_t left = q->product, rest[PARAM_MAX_WIDTH];
    for (int i = 0; i < count; left /= value[i++])
        if (left % value[i])
            return false;
    if (count == q->width)
        for (int i = 0; i < count; i++)
            out[bound[i]] = value[i];
    if (count == q->width)
        return left == 1;
    struct arena a;
    struct param others;
    arena_init(&a);
    bool ok = param_factorization(&others, &a, q->name, left, q->width - count, NULL);
    if (ok)
        param_sample(&others, &p->rng, rest);
    arena_finish(&a);
    for (int slot = 0, next = 0; ok && slot < q->width; slot++) {
        int which = slot == bound[0] ? 0 : count > 1 && slot == bound[1] ? 1 : -1;
        out[slot] = which >= 0 ? value[which] : rest[next++];
    }
    return ok;
}

// A value of a place; of a part, the first (the divisors of a range are neighbours).
static uint64_t draw_value(struct projection *p, const struct axis *a, int place)
{
    bool is_range = a->kind == AXIS_RANGES && a->param->kind != PARAM_FACTORIZATION;
    uint64_t end = place + 1 < a->count ? a->low[place + 1] : param_size(a->param);
    return a->low[place] + (is_range ? rng_below(&p->rng, end - a->low[place]) : 0);
}

// Puts the value of one axis (or the two of the same parameter) into `c`.
static bool draw_axis(struct projection *p, const struct axis *a, int place, const struct axis *b,
                      int other_place, struct config *c)
{
    const struct param *q = a->param;
    int32_t *out = c->slot + q->offset;
    uint64_t value = draw_value(p, a, place);
    if (q->kind != PARAM_FACTORIZATION) {
        param_value(q, value, out);
        return true;
    }
    int bound[2] = {a->factor.slot, b ? b->factor.slot : -1};
    int32_t parts[2] = {(int32_t)value, b ? (int32_t)draw_value(p, b, other_place) : 0};
    return draw_parts(p, q, bound, parts, b ? 2 : 1, out);
}

static bool draw_config(struct projection *p, int row, int col, struct config *c)
{
    bool same = !p->is_flat && p->x.factor.param == p->y.factor.param;
    if (p->is_held)
        *c = p->held;
    else
        space_sample(p->space, &p->rng, c);
    bool drawn = draw_axis(p, &p->x, col, same ? &p->y : NULL, row, c) &&
                 (p->is_flat || same || draw_axis(p, &p->y, row, NULL, 0, c));
    if (p->space->chooser >= 0 && on_axis(p, p->space->chooser))
        space_settle(p->space, c); // other parameters are live there
    return drawn;
}

static bool in_doubt(const struct place *c)
{
    return !c->legal && !c->impossible && c->judged < JUDGED_ENOUGH && place_trials(c) == 0;
}

// Whether every draw for a place is the same one.
static bool draws_alike(const struct projection *p)
{
    const struct axis *axes[2] = {&p->x, &p->y};
    bool alike = p->is_held;
    for (int i = 0; i < (p->is_flat ? 1 : 2); i++)
        alike &= axes[i]->kind != AXIS_RANGES && axes[i]->param->kind != PARAM_FACTORIZATION;
    return alike;
}

static void judge(struct projection *p, const struct limits *l, int row, int col)
{
    struct place *at = &p->place[row * AXIS_MOST + col];
    struct config c;
    struct verdict v = {.constraint = -1};
    bool is_range = p->x.kind == AXIS_RANGES || (!p->is_flat && p->y.kind == AXIS_RANGES);
    if (!draw_config(p, row, col, &c)) { // of a range only the values drawn are impossible
        at->impossible = !is_range;
        at->judged++;
        return;
    }
    at->judged += draws_alike(p) ? JUDGED_ENOUGH : 1;
    at->legal = space_judge(p->space, l, &c, &v, NULL) && v.legal;
    at->constraint = v.constraint;
    at->limits = v.limits;
}

bool projection_judge(struct projection *p, const struct limits *l, int most)
{
    int cols = projection_cols(p), places = projection_rows(p) * cols;
    if (!p->x.param || (!p->is_flat && !p->y.param))
        return false;
    for (int settled = 0; settled < places && most > 0;) { // in a row
        int at = p->judged_to++ % places;
        if (in_doubt(projection_at(p, at / cols, at % cols))) {
            judge(p, l, at / cols, at % cols);
            settled = 0;
            most--;
        } else {
            settled++;
        }
    }
    return most == 0 && places > 0;
}
