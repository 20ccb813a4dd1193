#include "view_map.h"

#include "base/number.h"
#include "text.h"
#include "view_trials.h"

#include <stdlib.h>

// --- keys ---

static bool move(struct map *m, int down, int right)
{
    m->moved = true;
    m->idle = false; // the bars are another cell's now
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

static const char *view_map_disabled(struct app *app, void *state, enum action a)
{
    struct map *m = state;
    bool ours = a == ACT_COLOUR || a == ACT_STATISTIC || a == ACT_AXIS_X || a == ACT_AXIS_Y ||
                a == ACT_NEXT_PAIR || a == ACT_PREVIOUS_PAIR || a == ACT_SLICE || a == ACT_PARALLEL;
    bool pairs = a == ACT_NEXT_PAIR || a == ACT_PREVIOUS_PAIR;
    bool axes = a == ACT_AXIS_X || a == ACT_AXIS_Y;
    if (ours && !map_sync(app, m))
        return app->model.open.record.id ? "the space of this session cannot be mapped"
                                         : "no session is open";
    if ((pairs && m->factors < 3) || (axes && map_axes(m) < 3))
        return "there are no other parameters";
    if (ours && a != ACT_PARALLEL && m->page == PAGE_PARALLEL)
        return "parallel coordinates have no cells";
    if (a == ACT_PARALLEL && m->factors < 2)
        return "there are no other parameters";
    if (a == ACT_SLICE && !app->model.open.record.best_ask)
        return "there is no best trial yet";
    return NULL;
}

static bool view_map_act(struct app *app, void *state, enum action a)
{
    struct map *m = state;
    if (!map_sync(app, m) || view_map_disabled(app, state, a))
        return false;
    if (a == ACT_PARALLEL || (a == ACT_BACK && m->page == PAGE_PARALLEL)) {
        m->page = m->page == PAGE_PARALLEL ? PAGE_BOTH : PAGE_PARALLEL;
        return true;
    }
    if (m->page == PAGE_PARALLEL && a != ACT_NEXT_PANE && a != ACT_PREVIOUS_PANE)
        return false;
    int down = (int)list_step(&(struct list){.rows = m->at.rows}, a);
    if (down)
        return move(m, down, 0);
    switch (a) {
    case ACT_LEFT: return move(m, 0, -1);
    case ACT_RIGHT: return move(m, 0, 1);
    case ACT_OPEN: {
        // Shows the trials of the cell on the trials screen, with its best one under the cursor.
        const struct map_cell *here = map_here(m);
        if (here) {
            struct str filter = {0};
            bool exact = m->grid.is_flat || axis_add_term(&m->grid.y, m->row, &filter);
            if (!m->grid.is_flat && exact)
                str_add_char(&filter, ' ');
            exact &= axis_add_term(&m->grid.x, m->col, &filter);
            // The trials screen leaves out rejected configurations unless the filter names them.
            if (cell_trials(here) == 0 && here->outcome[OUTCOME_REJECTED])
                str_add(&filter, " outcome=rejected");
            if (here->best_ask)
                app_select(app, here->best_ask);
            view_trials_filter(app, exact ? str_text(&filter) : "");
            if (!exact)
                app_say(app, STYLE_WARN, "no filter can say this range: all trials are shown");
            app_show(app, VIEW_TRIALS);
            str_finish(&filter);
        }
    } break;
    case ACT_COPY: {
        const struct map_cell *here = map_here(m);
        app_copy_config(app, here ? model_trial(&app->model, here->best_ask) : NULL);
    } break;
    case ACT_NEXT_PANE: m->page = m->page < PAGES - 1 ? m->page + 1 : PAGE_BOTH; break;
    case ACT_PREVIOUS_PANE: m->page = m->page > PAGE_BOTH ? m->page - 1 : PAGES - 1; break;
    case ACT_COLOUR: m->by_rank = !m->by_rank; break;
    case ACT_STATISTIC: m->statistic = (m->statistic + 1) % STATISTICS; break;
    case ACT_AXIS_X: map_step_axis(app, m, true); break;
    case ACT_AXIS_Y: map_step_axis(app, m, false); break;
    case ACT_NEXT_PAIR: map_step_pair(app, m, 1); break;
    case ACT_PREVIOUS_PAIR: map_step_pair(app, m, -1); break;
    case ACT_SLICE:
        m->is_slice = !m->is_slice;
        map_restart(app, m);
        break;
    default: return false;
    }
    return true;
}

static void view_map_click(struct app *app, void *state, int row, int col)
{
    struct map *m = state;
    if (!map_sync(app, m) || m->is_list || m->at.high == 0 || m->at.width == 0 || row < m->at.row ||
        col < m->at.col)
        return;
    int down = ((row - m->at.row + 1) * m->at.rows - 1) / m->at.high;
    int right = (col - m->at.col) / m->at.width;
    if (down >= m->at.rows || right >= m->at.cols)
        return;
    m->moved = true;
    m->idle = false;
    map_put_cursor(m, m->top + down, m->left + right);
}

// --- drawing ---

static void view_map_draw(struct app *app, void *state, const struct pane *body)
{
    struct map *m = state;
    m->at.high = m->at.width = m->at.rows = m->at.cols = 0;
    m->is_list = body->rows < MAP_LIST_ROWS || body->cols < MAP_LIST_COLS;
    if (!map_sync(app, m)) {
        const struct opened *o = &app->model.open;
        const char *why =
            !o->record.id ? "No session is open." : "The map needs the session's space.";
        if (m->space)
            why = "Every parameter of this space has one value only: there is nothing to map.";
        pane_line(body, 0, 1, STYLE_TEXT, "%s", why);
        if (o->record.id && !m->space)
            pane_line(body, 1, 1, STYLE_DIM, "%s", o->trouble.text);
    } else if (m->page == PAGE_PARALLEL && m->factors > 1) {
        map_draw_parallel(app, m, body);
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
    .size = sizeof(struct map),
    .finish = map_forget,
    .draw = view_map_draw,
    .act = view_map_act,
    .disabled = view_map_disabled,
    .tick = map_tick,
    .opened = map_forget,
    .click = view_map_click,
};
