#include "model/features_itervar.h"

#include <string.h>

enum {
    PARENT,
    CONTEXT,
    TOUCHED = CONTEXT + OF_LOOP, // for each kind of memory
    OPTIONS = TOUCHED + (NEST_REGISTERS + 1) * OF_ACCESS
};

static void measure(struct features *f)
{
    f->scratch_width = itervar_measure(f);
    f->scratch = mem_zero((size_t)f->scratch_width, sizeof *f->scratch);
    f->most_rows = 1 + f->space->nest->path_total;
    f->width = OPTIONS + feature_params_width(f->space, FEATURE_OPTIONS);
}

struct tree {
    int rows;
    int loop[1 + NEST_MAX_STATEMENTS * NEST_MAX_PATH];
};

// The row of a loop below another row: there already, or new.
static int row_below(const struct features *f, struct tree *t, int parent, int loop, float *out)
{
    for (int i = parent + 1; i < t->rows; i++)
        if (t->loop[i] == loop && out[i * f->width + PARENT] == (float)parent)
            return i;
    float *row = out + t->rows * f->width;
    memset(row, 0, (size_t)f->width * sizeof *row);
    row[PARENT] = (float)parent;
    memcpy(row + CONTEXT, f->scratch + itervar_at_loop(f, loop), OF_LOOP * sizeof *row);
    t->loop[t->rows] = loop;
    return t->rows++;
}

static void add_accesses(const struct features *f, int statement, int loop, float *row)
{
    const struct nest *n = f->space->nest;
    const struct nest_statement *s = &n->statement[statement];
    const float *from = f->scratch + itervar_at_accesses(f, statement, loop);
    for (int i = 0; i < s->access_count; i++) {
        int memory = (int)n->buffer[s->access[i].buffer].memory;
        for (int j = 0; j < OF_ACCESS; j++)
            row[TOUCHED + memory * OF_ACCESS + j] += *from++;
    }
}

static int fill(struct features *f, const struct config *c, float *out)
{
    const struct nest *n = f->space->nest;
    struct tree t = {.rows = 1, .loop = {-1}};
    itervar_fill(f, f->scratch_width, f->scratch);
    memset(out, 0, (size_t)f->width * sizeof *out);
    out[PARENT] = -1;
    feature_params_fill(f->space, FEATURE_OPTIONS, c, out + OPTIONS);
    for (int i = 0; i < n->statement_count; i++) {
        const int *path = nest_path(&f->point, i), loops = n->statement[i].loop_count;
        for (int j = 0, row = 0; f->point.present[i] && j < loops; j++) {
            if (f->point.length[path[j]] == 1 && j < loops - 1)
                continue;
            row = row_below(f, &t, row, path[j], out);
            add_accesses(f, i, path[j], out + row * f->width);
        }
    }
    return t.rows;
}

static bool are_like(const struct features *a, const struct features *b)
{
    return feature_params_are_like(a->space, b->space, FEATURE_OPTIONS);
}

const struct feature_methods features_tree = {
    .name = "tree",
    .needs_nest = true,
    .measure = measure,
    .fill = fill,
    .are_like = are_like,
};
