// The map screen, for its own files and its tests: all trials projected on two parameters.
//
//   view_map_work.c   what the map knows: axes, cells, importance, the cursor, in slices of work
//   view_map_draw.c   the grid of cells, the list of cells
//   view_map_panel.c  the panel beside it: one cell, the importance of parameters and their slices
//   view_map_parallel.c  parallel coordinates
//   view_map.c        the view: keys, who gets which rows
//
// Work comes in slices (map_tick): a scan of trials for the importance of each parameter, which
// chooses the axes until the user does; a scan for the cells; one for the cell under the cursor,
// along every other parameter; and judging what could be in empty cells. New trials only add.
// The keys for the next axis also choose compiler statistics, where the driver reports any.
#ifndef TILEWALK_UI_VIEW_MAP_H
#define TILEWALK_UI_VIEW_MAP_H

#include "app.h"
#include "landscape.h"
#include "report/pareto.h"

// Tab goes through the first ones: beside the map where there is room, else instead of it. Parallel
// coordinates are instead of both.
enum map_page { PAGE_BOTH, PAGE_BARS, PAGE_IMPORTANCE, PAGES, PAGE_PARALLEL = PAGES };

// Bodies from here on have the panel beside the map; below LIST sizes cells are listed.
#define MAP_PANEL_ROWS 20
#define MAP_PANEL_COLS 80
#define MAP_LIST_ROWS  6
#define MAP_LIST_COLS  30

struct map_cell_scan { // trials of one cell, along every factor that is no axis
    struct scan scan;
    int row, col, layout; // of the grid; layout -1: not started
    int count;
    struct projection bar[SPACE_MAX_SLOTS];
};

// Trials that no other one beats in both time and energy (report/pareto.h).
#define MAP_MOST_FRONT 64
struct map_front {
    int count;
    struct pareto_point point[MAP_MOST_FRONT + 1];
    struct map_place { // of point i, in any order
        int64_t ask;
        struct config config;
        double statistic[STATISTIC_KIND_COUNT];
    } place[MAP_MOST_FRONT + 1];
};

struct map {
    int64_t session;
    const struct space *space; // NULL: nothing below is there
    struct factor factor[SPACE_MAX_SLOTS + STATISTIC_KIND_COUNT];
    int factors;                              // those of parameters; then statistics
    bool has_statistic[STATISTIC_KIND_COUNT]; // an ok trial has it
    struct importance importance;
    struct scan sample;
    bool sampled;        // the scan has come to the end once
    int x, y;            // of `factor`; y -1: there is only one
    bool by_user;        // the user chose them
    int64_t chosen_from; // ok trials that importance had then
    int64_t better_from; // and when `better_pair` was computed
    bool better_pair;    // another pair explains more by now than the one that was chosen
    int64_t races;       // scan_races when the cells were begun

    struct projection grid;
    struct projection
        along[SPACE_MAX_SLOTS]; // all trials, whatever a slice holds, along each factor
    struct map_front front;     // of trials in the grid that have joules
    struct scan scan;
    bool filled;     // the scan has come to the end once
    bool idle;       // there was nothing to do
    int64_t version; // of the model then
    struct map_cell_scan cell;
    int row, col;              // the cursor
    uint64_t row_low, col_low; // the values there, which places may move under
    int layout;                // of the grid, for which row and col are
    bool moved;                // by the user; else it stays on the best
    bool is_slice;
    int64_t held_ask; // of the configuration that a slice holds
    enum statistic statistic;
    bool by_rank; // shades are by rank, else by value
    enum map_page page;

    // As it was drawn last: for keys and clicks.
    bool is_list;
    int top, left; // first row and column of cells shown
    struct {
        int row, col, high, width, rows, cols;
    } at; // the cells on the body: `rows` of them share `high` rows, each has `width` columns
};

struct map_order { // cells that have a value of the statistic, best first
    int count;
    double most, least; // values
    struct map_ordered {
        double value;
        bool raced;
        int row, col;
    } cell[AXIS_MOST * AXIS_MOST];
};

// Makes the state that of the open session, before anything else is done with it. False: there is
// nothing to map.
bool map_sync(struct app *app, struct map *m);
void map_forget(struct app *app, void *map);
bool map_tick(struct app *app, void *map);        // a slice of work; true: there is more
void map_restart(struct app *app, struct map *m); // cells from the first trial on
void map_step_pair(struct app *app, struct map *m, int by);
void map_step_axis(struct app *app, struct map *m, bool is_x);
int map_axes(const struct map *m); // number of factors that X and Y come to
void map_put_cursor(struct map *m, int row, int col);

const struct map_cell *map_here(const struct map *m); // under the cursor; NULL: there is no cell
void map_order_cells(const struct map *m, struct map_order *out);
// Returns where a cell that has a value stands between the lowest (0) and the highest (1).
double map_share(const struct map *m, const struct map_order *order, const struct map_cell *c);

// Appends "tile_n[2]=128 order=n,m".
void map_add_cell_name(const struct map *m, int row, int col, struct str *out);
// Writes the label of a place into `out`, which is emptied first; returns its columns.
int map_label(const struct axis *a, int place, struct str *out);
void map_draw_grid(struct app *app, struct map *m, const struct pane *box, bool focused);
void map_draw_list(struct app *app, struct map *m, const struct pane *p);
void map_draw_panel(struct app *app, struct map *m, const struct pane *box);
void map_draw_parallel(struct app *app, struct map *m, const struct pane *box);

#endif
