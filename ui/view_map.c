#include "view_map.h"

#include "base/number.h"
#include "trial_text.h"
#include "view_trials.h"

#include <math.h>
#include <stdlib.h>

// The map's work: what it reads, in slices, and which axes and which cell that is for.

#define SLICE_TRIALS   500
#define SLICE_JUDGED   16
#define ENOUGH_TO_RANK 30   // ok trials from which the choice of axes is kept: they stand still
#define MUCH_BETTER    0.02 // of the variance: what another pair must explain beyond this one
#define FIRST_SAMPLE   4000 // trials that are looked at before axes are chosen

static void forget_cell(struct map *m)
{
    for (int i = 0; i < m->cell.count; i++)
        projection_finish(&m->cell.bar[i]);
    m->cell.count = 0;
    m->cell.layout = -1;
}

void map_forget(struct map *m)
{
    struct map keep = *m;
    forget_cell(m);
    importance_finish(&m->importance);
    projection_finish(&m->grid);
    *m = (struct map){.statistic = keep.statistic, .by_rank = keep.by_rank, .page = keep.page};
}

// --- axes ---

// From the first trial on.
void map_restart(struct app *app, struct map *m)
{
    const struct trial *best = m->is_slice ? model_best(&app->model) : NULL;
    forget_cell(m);
    projection_finish(&m->grid);
    projection_init(&m->grid, m->space, m->factor[m->x], m->y >= 0 ? &m->factor[m->y] : NULL);
    m->held_ask = m->is_slice ? app->model.open.record.best_ask : 0;
    if (best && best->has_config)
        projection_hold(&m->grid, &best->config);
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

// All pairs of factors by what both explain; heap.
static struct pair *list_pairs(const struct map *m, int *count)
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
    return pair;
}

// Where the axes are among the pairs; -1: nowhere.
static int find_pair(const struct map *m, const struct pair *pair, int count)
{
    for (int i = 0; i < count; i++)
        if ((pair[i].x == m->x && pair[i].y == m->y) || (pair[i].x == m->y && pair[i].y == m->x))
            return i;
    return -1;
}

void map_step_pair(struct app *app, struct map *m, int by)
{
    int count;
    struct pair *pair = list_pairs(m, &count);
    int at = m->better_pair && by > 0 ? -1 : find_pair(m, pair, count);
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
    return factor < m->factors || m->told[factor - m->factors];
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
    map_forget(m);
    m->session = o->record.id;
    m->space = o->record.id ? o->space : NULL;
    if (!m->space)
        return false;
    m->factors = factor_list(m->space, m->factor);
    for (int k = 0; k < STATISTIC_KIND_COUNT; k++)
        m->factor[m->factors + k] = (struct factor){FACTOR_TOLD, k};
    importance_init(&m->importance, m->space);
    scan_start(&m->sample, &app->model);
    if (m->factors)
        set_axes(app, m, m->factors > 1, m->factors > 1 ? 0 : -1);
    return m->factors;
}

// --- the cursor ---

const struct place *map_here(const struct map *m)
{
    bool inside = m->space && m->factors && m->row < projection_rows(&m->grid) &&
                  m->col < projection_cols(&m->grid);
    return inside ? projection_at(&m->grid, m->row, m->col) : NULL;
}

void map_put_cursor(struct map *m, int row, int col)
{
    m->row = int_clamp(row, 0, projection_rows(&m->grid) - 1);
    m->col = int_clamp(col, 0, projection_cols(&m->grid) - 1);
    m->row_low = m->grid.is_flat ? 0 : m->grid.y.low[m->row];
    m->col_low = m->grid.x.low[m->col];
}

static int place_from(const struct axis *a, uint64_t low)
{
    int place = 0;
    while (place + 1 < a->count && a->low[place + 1] <= low)
        place++;
    return place;
}

// --- slices of work ---

static void take_sample(void *context, const struct trial *t)
{
    struct map *m = context;
    for (int k = 0; k < STATISTIC_KIND_COUNT; k++)
        m->told[k] |= t->outcome == OUTCOME_OK && !isnan(t->statistic[k]);
    if (t->outcome == OUTCOME_OK && t->has_config && t->seconds > 0)
        importance_add(&m->importance, &t->config, 1 / t->seconds);
}

struct taking {
    struct app *app;
    struct map *map;
};

// Who was wrong in a race is so here.
static void add_to(const struct taking *to, struct projection *p, const struct trial *t)
{
    bool wrong = t->raced && !t->race_verified;
    projection_add(p, &(struct seen){.config = &t->config,
                                     .told = t->statistic,
                                     .ask = t->ask,
                                     .outcome = wrong ? OUTCOME_WRONG : t->outcome,
                                     .speed = trial_shown_speed(&to->app->model, t),
                                     .raced = t->raced});
}

static void take_place(void *context, const struct trial *t)
{
    const struct taking *to = context;
    if (t->has_config)
        add_to(to, &to->map->grid, t);
}

// Of the cell under the cursor, whatever the slice holds.
static void take_bars(void *context, const struct trial *t)
{
    const struct taking *to = context;
    struct map *m = to->map;
    const struct projection *g = &m->grid;
    if (!t->has_config || axis_place(&g->x, &t->config, t->statistic) != m->cell.col ||
        (!g->is_flat && axis_place(&g->y, &t->config, t->statistic) != m->cell.row))
        return;
    for (int i = 0; i < m->cell.count; i++)
        add_to(to, &m->cell.bar[i], t);
}

// A slice of one scan; `*all` once it has come to the end. True when there is more to do now.
static bool step(struct app *app, struct scan *s, bool *all,
                 void (*take)(void *context, const struct trial *t), void *context)
{
    int64_t before = s->taken;
    bool more = scan_step(s, &app->model, SLICE_TRIALS, take, context);
    *all |= !more;
    app->dirty |= s->taken != before;
    return more;
}

// Importance, and the axes by it as long as the user has none.
static bool step_importance(struct app *app, struct map *m)
{
    bool first = m->importance.used == 0 && !m->sampled && m->sample.taken < FIRST_SAMPLE;
    int64_t before = m->importance.used;
    if (!first && importance_step(&m->importance))
        return true;
    app->dirty |= m->importance.used != before;
    if (!m->by_user && m->importance.used && m->chosen_from < ENOUGH_TO_RANK &&
        m->importance.used != m->chosen_from) {
        int count;
        struct pair *pair = list_pairs(m, &count);
        m->chosen_from = m->importance.used;
        if (count && (pair[0].x != m->x || pair[0].y != m->y))
            set_axes(app, m, pair[0].x, pair[0].y);
        free(pair);
    }
    if (m->better_from != m->importance.used) {
        // Axes stay once they are well founded, whatever importance says later; but then it is
        // told.
        int count;
        struct pair *pair = list_pairs(m, &count);
        int at = find_pair(m, pair, count);
        m->better_pair = !m->by_user && at > 0 && pair[0].share > pair[at].share + MUCH_BETTER;
        m->better_from = m->importance.used;
        free(pair);
    }
    return false;
}

static bool step_bars(struct app *app, struct map *m)
{
    struct taking to = {app, m};
    bool all = false;
    if (!map_here(m))
        return false;
    if (m->cell.layout != m->grid.layout || m->cell.row != m->row || m->cell.col != m->col) {
        forget_cell(m);
        m->cell.row = m->row;
        m->cell.col = m->col;
        m->cell.layout = m->grid.layout;
        for (int i = 0; i < m->factors; i++)
            if (i != m->x && i != m->y)
                projection_init(&m->cell.bar[m->cell.count++], m->space, m->factor[i], NULL);
        scan_start(&m->cell.scan, &app->model);
    }
    return step(app, &m->cell.scan, &all, take_bars, &to);
}

// The first slices that have something to do, so that a key waits for one only.
static bool work(struct app *app, struct map *m)
{
    const struct opened *o = &app->model.open;
    struct taking to = {app, m};
    bool first = m->importance.used == 0 && m->sample.taken < FIRST_SAMPLE;
    if (m->is_slice && m->held_ask != o->record.best_ask)
        map_restart(app, m);
    if (first && !m->sampled && step(app, &m->sample, &m->sampled, take_sample, m))
        return true;
    if (m->importance.used == 0 && step_importance(app, m))
        return true;
    if (step(app, &m->scan, &m->filled, take_place, &to))
        return true;
    // Where trials made places move, the cursor stays with its values; until the user moves it, it
    // is on the best cell.
    const struct trial *best = m->moved ? NULL : model_best(&app->model);
    int row, col;
    if (best && best->has_config &&
        projection_find(&m->grid, &best->config, best->statistic, &row, &col))
        map_put_cursor(m, row, col);
    else if (m->layout != m->grid.layout)
        map_put_cursor(m, m->grid.is_flat ? 0 : place_from(&m->grid.y, m->row_low),
                       place_from(&m->grid.x, m->col_low));
    m->layout = m->grid.layout;
    if (step(app, &m->sample, &m->sampled, take_sample, m) || step_importance(app, m) ||
        step_bars(app, m))
        return true;
    return projection_judge(&m->grid, o->has_limits ? &o->limits : NULL, SLICE_JUDGED);
}

bool map_tick(struct app *app, struct map *m)
{
    if (!map_sync(app, m) || (m->idle && m->version == app->model.open.version))
        return false;
    m->version = app->model.open.version;
    m->idle = !work(app, m);
    app->dirty = true;
    return !m->idle;
}

// --- life ---

static void *create(struct app *app)
{
    (void)app;
    struct map *m = mem_zero(1, sizeof *m);
    return m;
}

static void destroy(void *state)
{
    map_forget(state);
    free(state);
}

static void opened(struct app *app, void *state)
{
    (void)app;
    map_forget(state);
}

static bool tick(struct app *app, void *state)
{
    return map_tick(app, state);
}

// --- keys ---

static bool move(struct map *m, int down, int right)
{
    m->moved = true;
    m->idle = false; // another cell's bars
    if (!m->is_list) {
        map_put_cursor(m, m->row + down, m->col + right);
        return true;
    }
    struct map_order *order = mem_alloc(sizeof *order);
    map_order_cells(m, order);
    int at = -1;
    for (int i = 0; i < order->count; i++)
        if (order->cell[i].row == m->row && order->cell[i].col == m->col)
            at = i;
    at = int_clamp(at + down, 0, order->count - 1);
    if (order->count)
        map_put_cursor(m, order->cell[at].row, order->cell[at].col);
    free(order);
    return true;
}

static void copy_best(struct app *app, const struct map *m)
{
    const struct place *here = map_here(m);
    const struct trial *t = here ? model_trial(&app->model, here->best_ask) : NULL;
    struct str text = {0};
    if (!t || !t->has_config)
        return;
    config_add_difference(m->space, &t->config, NULL, NULL, &text);
    app_copy(app, str_text(&text));
    str_finish(&text);
}

static bool act_move(struct app *app, struct map *m, enum action a)
{
    int half = int_max(m->at.rows / 2, 1), page = int_max(m->at.rows - 1, 1);
    switch (a) {
    case ACT_UP: return move(m, -1, 0);
    case ACT_DOWN: return move(m, 1, 0);
    case ACT_LEFT: return move(m, 0, -1);
    case ACT_RIGHT: return move(m, 0, 1);
    case ACT_FIRST: return move(m, -AXIS_MOST * AXIS_MOST, 0);
    case ACT_LAST: return move(m, AXIS_MOST * AXIS_MOST, 0);
    case ACT_PAGE_UP: return move(m, -page, 0);
    case ACT_PAGE_DOWN: return move(m, page, 0);
    case ACT_HALF_UP: return move(m, -half, 0);
    case ACT_HALF_DOWN: return move(m, half, 0);
    case ACT_OPEN: {
        // The trials of the cell on the trials screen, its best one under the cursor.
        const struct place *here = map_here(m);
        struct str filter = {0};
        if (here) {
            bool said = m->grid.is_flat || axis_add_term(&m->grid.y, m->row, &filter);
            if (!m->grid.is_flat && said)
                str_add_char(&filter, ' ');
            said &= axis_add_term(&m->grid.x, m->col, &filter);
            if (place_trials(here) == 0 && here->outcome[OUTCOME_REJECTED])
                str_add(&filter, " outcome=rejected");
            // else the trials screen leaves them out
            if (here->best_ask)
                app_select(app, here->best_ask);
            view_trials_filter(app, said ? str_text(&filter) : "");
            if (!said)
                app_say(app, STYLE_WARN, "no filter can say this range: all trials are shown");
            app_show(app, VIEW_TRIALS);
            str_finish(&filter);
        }
    }
        return true;
    case ACT_COPY: copy_best(app, m); return true;
    case ACT_NEXT_PANE: m->page = (m->page + 1) % PAGES; return true;
    case ACT_PREVIOUS_PANE: m->page = (m->page + PAGES - 1) % PAGES; return true;
    default: return false;
    }
}

static const char *disabled(struct app *app, void *state, enum action a)
{
    struct map *m = state;
    bool ours = a == ACT_COLOUR || a == ACT_STATISTIC || a == ACT_AXIS_X || a == ACT_AXIS_Y ||
                a == ACT_NEXT_PAIR || a == ACT_PREVIOUS_PAIR || a == ACT_SLICE;
    bool pairs = a == ACT_NEXT_PAIR || a == ACT_PREVIOUS_PAIR;
    bool axes = a == ACT_AXIS_X || a == ACT_AXIS_Y;
    if (ours && !map_sync(app, m))
        return app->model.open.record.id ? "the space of this session cannot be mapped"
                                         : "no session is open";
    if ((pairs && m->factors < 3) || (axes && map_axes(m) < 3))
        return "there are no other parameters";
    if (a == ACT_SLICE && !app->model.open.record.best_ask)
        return "there is no best trial yet";
    return NULL;
}

static bool act(struct app *app, void *state, enum action a)
{
    struct map *m = state;
    if (!map_sync(app, m) || disabled(app, state, a))
        return false;
    if (act_move(app, m, a))
        return true;
    switch (a) {
    case ACT_COLOUR: m->by_rank = !m->by_rank; return true;
    case ACT_STATISTIC: m->statistic = (m->statistic + 1) % STATISTICS; return true;
    case ACT_AXIS_X: map_step_axis(app, m, true); return true;
    case ACT_AXIS_Y: map_step_axis(app, m, false); return true;
    case ACT_NEXT_PAIR: map_step_pair(app, m, 1); return true;
    case ACT_PREVIOUS_PAIR: map_step_pair(app, m, -1); return true;
    case ACT_SLICE:
        m->is_slice = !m->is_slice;
        map_restart(app, m);
        return true;
    default: return false;
    }
}

static void click(struct app *app, void *state, int row, int col)
{
    struct map *m = state;
    if (!map_sync(app, m) || m->is_list || m->at.height == 0 || m->at.width == 0 ||
        row < m->at.row || col < m->at.col)
        return;
    int down = (row - m->at.row) / m->at.height, right = (col - m->at.col) / m->at.width;
    if (down >= m->at.rows || right >= m->at.cols)
        return;
    m->moved = true;
    m->idle = false;
    map_put_cursor(m, m->top + down, m->left + right);
}

// --- drawing ---

static void draw(struct app *app, void *state, const struct pane *body)
{
    struct map *m = state;
    m->at.height = m->at.width = m->at.rows = m->at.cols = 0;
    m->is_list = body->rows < MAP_LIST_ROWS || body->cols < MAP_LIST_COLS;
    if (!map_sync(app, m)) {
        const struct opened *o = &app->model.open;
        const char *why =
            !o->record.id ? "No session is open." : "The map needs the session's space.";
        if (m->space)
            why = "Every parameter of this space has one value only: there is nothing to map.";
        pane_text_cut(body, 0, 1, body->cols - 1, STYLE_TEXT, why);
        if (o->record.id && !m->space)
            pane_text_cut(body, 1, 1, body->cols - 1, STYLE_DIM, o->trouble.text);
    } else if (m->is_list) {
        map_draw_list(app, m, body);
    } else if (body->rows >= MAP_PANEL_ROWS && body->cols >= MAP_PANEL_COLS) {
        int wide = body->cols * 2 / 5;
        wide = int_clamp(wide, 36, 60);
        struct pane left = pane_part(body, 0, 0, body->rows, body->cols - wide);
        struct pane right = pane_part(body, 0, body->cols - wide, body->rows, wide);
        map_draw_grid(app, m, &left, true);
        map_draw_panel(app, m, &right);
    } else if (m->page == PAGE_BOTH) {
        map_draw_grid(app, m, body, true);
    } else {
        map_draw_panel(app, m, body);
    }
}

const struct view view_map = {
    .name = "map",
    .title = "Map",
    .tab = "Map",
    .create = create,
    .destroy = destroy,
    .draw = draw,
    .act = act,
    .disabled = disabled,
    .tick = tick,
    .opened = opened,
    .click = click,
};
