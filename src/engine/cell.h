// The test matrix of kernels: every preset in every type, layout and the like is an entry, a cell;
// and random operations of a cell.
//
//     struct cells all;
//     cells_list(&limits, &all, e);
//     struct script *s = cell_draw(&all.cell[i], "cpu", &limits, &rng, &set, e);
//     sample_take(...)                                       random configurations of it (sample.h)
//     cells_finish(&all);
//
// The settings of the presets are read (script_settings), so that a preset that is added is tested
// without being named here. A size whose name is not known is an error: it needs a range
// (cell.c).
#ifndef TILEWALK_ENGINE_CELL_H
#define TILEWALK_ENGINE_CELL_H

#include "base/rng.h"
#include "script/script.h"

#define CELL_MAX_AXES 8

struct cell {
    const char *preset;
    int axes;
    struct setting axis[CELL_MAX_AXES]; // "type=f16", "layout=nt"
};

struct cells {
    struct cell *cell;
    int count, capacity;
    struct arena arena;
};

// Lists those that a device of these limits can run. To be finished in any case.
bool cells_list(const struct limits *l, struct cells *out, struct err *e);
void cells_finish(struct cells *c);

// "gemm type=f16 layout=nt"
void cell_add_text(const struct cell *c, struct str *out);

// Draws a random operation: sizes, often ragged, strides and choices. `set` gets the settings. NULL
// and `e`: the preset does not load with them.
struct script *cell_draw(const struct cell *c, const char *device_type, const struct limits *l,
                         struct rng *r, struct str *set, struct err *e);

#endif
