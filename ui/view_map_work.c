#include "view_map.h"

#include "base/number.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLICE_TRIALS   500
#define SLICE_JUDGED   16
#define ENOUGH_TO_RANK 30   // ok trials from which the chosen axes stay
#define MUCH_BETTER    0.02 // of the variance: another pair must explain so much more
#define FIRST_SAMPLE   4000 // trials that are looked at before axes are chosen

static void forget_cell(struct map *m)
{
    for (int i = 0; i < m->cell.count; i++)
        projection_finish(&m->cell.bar[i]);
    m->cell.count = 0;
    m->cell.layout = -1;
}

void map_forget(struct app *app, void *state)
{
    (void)app;
    struct map *m = state, keep = *m;
    forget_cell(m);
    importance_finish(&m->importance);
    projection_finish(&m->grid);
    for (int i = 0; i < m->factors; i++)
        projection_finish(&m->along[i]);
    *m = (struct map){.statistic = keep.statistic, .by_rank = keep.by_rank, .page = keep.page};
}

// --- axes ---

void map_restart(struct app *app, struct map *m)
{
    const struct trial *best = m->is_slice ? model_best(&app->model) : NULL;
    forget_cell(m);
    projection_finish(&m->grid);
    projection_init(&m->grid, m->space, m->factor[m->x], m->y >= 0 ? &m->factor[m->y] : NULL);
    for (int i = 0; i < m->factors; i++) {
        projection_finish(&m->along[i]);
        projection_init(&m->along[i], m->space, m->factor[i], NULL);
    }
    m->held_ask = m->is_slice ? app->model.open.record.best_ask : 0;
    m->grid.is_held = best && best->has_config;
    if (m->grid.is_held)
        m->grid.held = best->config;
    m->front.count = 0;
    scan_start(&m->scan, &app->model);
    m->races = scan_races(&app->model);
    m->filled = m->idle = false;
    m->layout = m->grid.layout;
    app->dirty = true;
}

static void set_axes(struct app *app, struct map *m, int x, int y)
{
    m->x = x;
    m->y = y;
    m->row = m->col = m->top = m->left = 0;
    m->row_low = m->col_low = 0;
    m->moved = false;
    map_restart(app, m);
}

struct pair {
    int x, y;
    double share;
};

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *p = a, *q = b;
    if (p->share != q->share)
        return p->share > q->share ? -1 : 1;
    return p->y != q->y ? p->y - q->y : p->x - q->x;
}

// Lists all pairs of factors by the share that both explain, the largest first (heap). `*at` is the
// place of the axes among them, or -1.
static struct pair *list_pairs(const struct map *m, int *count, int *at)
{
    struct pair *pair = mem_alloc((size_t)(m->factors * m->factors) * sizeof *pair);
    *count = 0;
    for (int y = 0; y < m->factors; y++)
        for (int x = y + 1; x < m->factors; x++) {
            double share = 0;
            if (m->importance.used)
                share = importance_of(&m->importance, m->factor[x]) +
                        importance_of(&m->importance, m->factor[y]);
            pair[(*count)++] = (struct pair){x, y, share};
        }
    qsort(pair, (size_t)*count, sizeof *pair, compare_pairs);
    *at = -1;
    for (int i = 0; i < *count && *at < 0; i++)
        if ((pair[i].x == m->x && pair[i].y == m->y) || (pair[i].x == m->y && pair[i].y == m->x))
            *at = i;
    return pair;
}

void map_step_pair(struct app *app, struct map *m, int by)
{
    int count, at;
    struct pair *pair = list_pairs(m, &count, &at);
    if (m->better_pair && by > 0)
        at = -1;
    if (count) {
        at = (at + by + count) % count;
        set_axes(app, m, pair[at].x, pair[at].y);
    }
    m->by_user = true;
    m->better_pair = false;
    free(pair);
}

static bool is_axis(const struct map *m, int factor)
{
    return factor < m->factors || m->has_statistic[factor - m->factors];
}

int map_axes(const struct map *m)
{
    int count = 0;
    for (int i = 0; i < m->factors + STATISTIC_KIND_COUNT; i++)
        count += is_axis(m, i);
    return count;
}

void map_step_axis(struct app *app, struct map *m, bool is_x)
{
    int other = is_x ? m->y : m->x, next = is_x ? m->x : m->y;
    do
        next = (next + 1) % (m->factors + STATISTIC_KIND_COUNT);
    while (next == other || !is_axis(m, next));
    set_axes(app, m, is_x ? next : m->x, is_x ? m->y : next);
    m->by_user = true;
    m->better_pair = false;
}

bool map_sync(struct app *app, struct map *m)
{
    const struct opened *o = &app->model.open;
    if (m->session == o->record.id && m->space == o->space) {
        if (m->space && m->factors && m->races != scan_races(&app->model))
            map_restart(app, m);
        return m->space && m->factors;
    }
    map_forget(app, m);
    m->session = o->record.id;
    m->space = o->record.id ? o->space : NULL;
    if (!m->space)
        return false;
    m->factors = factor_list(m->space, m->factor);
    for (int k = 0; k < STATISTIC_KIND_COUNT; k++)
        m->factor[m->factors + k] = (struct factor){FACTOR_STATISTIC, k};
    importance_init(&m->importance, m->space);
    scan_start(&m->sample, &app->model);
    if (m->factors)
        set_axes(app, m, m->factors > 1, m->factors > 1 ? 0 : -1);
    return m->factors;
}

// --- the cursor ---

const struct map_cell *map_here(const struct map *m)
{
    bool inside =
        m->space && m->factors && m->row < projection_rows(&m->grid) && m->col < m->grid.x.count;
    return inside ? projection_at(&m->grid, m->row, m->col) : NULL;
}

void map_put_cursor(struct map *m, int row, int col)
{
    m->row = int_clamp(row, 0, projection_rows(&m->grid) - 1);
    m->col = int_clamp(col, 0, m->grid.x.count - 1);
    m->row_low = m->grid.is_flat ? 0 : m->grid.y.low[m->row];
    m->col_low = m->grid.x.low[m->col];
}

// --- slices of work ---

static void map_add_sample(void *context, const struct trial *t)
{
    struct map *m = context;
    for (int k = 0; k < STATISTIC_KIND_COUNT; k++)
        m->has_statistic[k] |= t->outcome == OUTCOME_OK && !isnan(t->statistic[k]);
    if (t->outcome == OUTCOME_OK && t->has_config && t->seconds > 0)
        importance_add(&m->importance, &t->config, 1 / t->seconds);
}

struct map_scan { // context of map_add_cell and map_add_bars
    struct app *app;
    struct map *map;
};

// A trial whose result was wrong in a race counts as wrong.
static void add_to(const struct map_scan *to, struct projection *p, const struct trial *t)
{
    bool wrong = t->raced && !t->race_verified;
    projection_add(p, &(struct map_trial){.config = &t->config,
                                          .statistics = t->statistic,
                                          .ask = t->ask,
                                          .outcome = wrong ? OUTCOME_WRONG : t->outcome,
                                          .speed = trial_shown_speed(&to->app->model, t),
                                          .raced = t->raced});
}

// A point that the new one beats leaves, with its place.
static void add_to_front(struct map_front *f, const struct trial *t)
{
    struct map_place *new = &f->place[f->count];
    if (!(t->joules > 0) || t->outcome != OUTCOME_OK || (t->raced && !t->race_verified))
        return;
    *new = (struct map_place){.ask = t->ask, .config = t->config};
    memcpy(new->statistic, t->statistic, sizeof new->statistic);
    f->point[f->count] = (struct pareto_point){t->ask, t->run_s, t->joules};
    int places = f->count + 1, kept = pareto_front(f->point, places);
    f->count = int_min(kept, MAP_MOST_FRONT);
    for (int i = 0; i < f->count; i++) // the places are put in the order of the points
        for (int k = i; k < places; k++)
            if (f->place[k].ask == f->point[i].ask) {
                struct map_place here = f->place[i];
                f->place[i] = f->place[k];
                f->place[k] = here;
            }
}

static void map_add_cell(void *context, const struct trial *t)
{
    const struct map_scan *to = context;
    struct map *m = to->map;
    if (!t->has_config)
        return;
    add_to(to, &m->grid, t);
    add_to_front(&m->front, t);
    for (int i = 0; i < m->factors; i++)
        add_to(to, &m->along[i], t);
}

// Adds trials of the cell under the cursor, whatever the slice holds.
static void map_add_bars(void *context, const struct trial *t)
{
    const struct map_scan *to = context;
    struct map *m = to->map;
    const struct projection *g = &m->grid;
    if (!t->has_config || axis_place(&g->x, &t->config, t->statistic) != m->cell.col ||
        (!g->is_flat && axis_place(&g->y, &t->config, t->statistic) != m->cell.row))
        return;
    for (int i = 0; i < m->cell.count; i++)
        add_to(to, &m->cell.bar[i], t);
}

// Does a slice of one scan; sets `*all` at its end. Returns true when there is more to do now.
static bool step(struct app *app, struct scan *s, bool *all,
                 void (*add)(void *context, const struct trial *t), void *context)
{
    int64_t before = s->taken;
    bool more = scan_step(s, &app->model, SLICE_TRIALS, add, context);
    *all |= !more;
    app->dirty |= s->taken != before;
    return more;
}

// Does a slice of importance, and chooses the axes by it as long as the user has not.
static bool step_importance(struct app *app, struct map *m)
{
    bool first = m->importance.used == 0 && !m->sampled && m->sample.taken < FIRST_SAMPLE;
    int64_t before = m->importance.used;
    int count, at;
    if (!first && importance_step(&m->importance))
        return true;
    app->dirty |= m->importance.used != before;
    if (m->better_from == m->importance.used)
        return false;
    struct pair *pair = list_pairs(m, &count, &at);
    if (!m->by_user && m->importance.used && m->chosen_from < ENOUGH_TO_RANK) {
        m->chosen_from = m->importance.used;
        if (count && (pair[0].x != m->x || pair[0].y != m->y)) {
            set_axes(app, m, pair[0].x, pair[0].y);
            at = 0;
        }
    }
    // Well-founded axes stay, whatever importance finds later; the user sees that a pair is better.
    m->better_pair = !m->by_user && at > 0 && pair[0].share > pair[at].share + MUCH_BETTER;
    m->better_from = m->importance.used;
    free(pair);
    return false;
}

// Does the first slice that has something to do, so that a key waits for one only.
static bool work(struct app *app, struct map *m)
{
    const struct opened *o = &app->model.open;
    struct map_scan to = {app, m};
    bool first = m->importance.used == 0 && m->sample.taken < FIRST_SAMPLE;
    if (m->is_slice && m->held_ask != o->record.best_ask)
        map_restart(app, m);
    if (first && !m->sampled && step(app, &m->sample, &m->sampled, map_add_sample, m))
        return true;
    if (m->importance.used == 0 && step_importance(app, m))
        return true;
    if (step(app, &m->scan, &m->filled, map_add_cell, &to))
        return true;
    // When trials move places, the cursor stays with its values; until the user moves it, it is on
    // the best cell.
    const struct trial *best = m->moved ? NULL : model_best(&app->model);
    int row, col;
    if (best && best->has_config &&
        projection_find(&m->grid, &best->config, best->statistic, &row, &col))
        map_put_cursor(m, row, col);
    else if (m->layout != m->grid.layout)
        map_put_cursor(m, m->grid.is_flat ? 0 : axis_last_place(&m->grid.y, m->row_low),
                       axis_last_place(&m->grid.x, m->col_low));
    m->layout = m->grid.layout;
    if (step(app, &m->sample, &m->sampled, map_add_sample, m) || step_importance(app, m))
        return true;
    if (map_here(m)) {
        struct map_cell_scan *cell = &m->cell;
        bool all = false;
        if (cell->layout != m->grid.layout || cell->row != m->row || cell->col != m->col) {
            forget_cell(m);
            cell->row = m->row;
            cell->col = m->col;
            cell->layout = m->grid.layout;
            for (int i = 0; i < m->factors; i++)
                if (i != m->x && i != m->y)
                    projection_init(&cell->bar[cell->count++], m->space, m->factor[i], NULL);
            scan_start(&cell->scan, &app->model);
        }
        if (step(app, &cell->scan, &all, map_add_bars, &to))
            return true;
    }
    return projection_judge(&m->grid, o->has_limits ? &o->limits : NULL, SLICE_JUDGED);
}

bool map_tick(struct app *app, void *state)
{
    struct map *m = state;
    if (!map_sync(app, m) || (m->idle && m->version == app->model.open.version))
        return false;
    m->version = app->model.open.version;
    m->idle = !work(app, m);
    app->dirty = true;
    return !m->idle;
}

// --- cells in order ---

static int compare_ordered(const void *a, const void *b)
{
    const struct map_ordered *x = a, *y = b;
    if (x->raced != y->raced)
        return x->raced ? -1 : 1;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return x->row != y->row ? x->row - y->row : x->col - y->col;
}

static struct map_ordered ordered(const struct map *m, const struct map_cell *c)
{
    return (struct map_ordered){.value = cell_value(c, m->statistic),
                                .raced = m->statistic == STATISTIC_BEST && c->best_raced};
}

void map_order_cells(const struct map *m, struct map_order *out)
{
    out->count = 0;
    for (int row = 0; row < projection_rows(&m->grid); row++)
        for (int col = 0; col < m->grid.x.count; col++) {
            struct map_ordered cell = ordered(m, projection_at(&m->grid, row, col));
            cell.row = row;
            cell.col = col;
            if (!isnan(cell.value)) {
                out->most = out->count ? fmax(out->most, cell.value) : cell.value;
                out->least = out->count ? fmin(out->least, cell.value) : cell.value;
                out->cell[out->count++] = cell;
            }
        }
    qsort(out->cell, (size_t)out->count, sizeof *out->cell, compare_ordered);
}

double map_share(const struct map *m, const struct map_order *order, const struct map_cell *c)
{
    struct map_ordered cell = ordered(m, c);
    if (order->count < 2 || order->most <= order->least)
        return 1;
    if (!m->by_rank)
        return (cell.value - order->least) / (order->most - order->least);
    int low = 0, high = order->count; // to the number of better cells
    cell.row = cell.col = -1;         // before its equals
    while (low < high) {
        int middle = (low + high) / 2;
        if (compare_ordered(&order->cell[middle], &cell) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 1 - (double)low / (order->count - 1);
}
