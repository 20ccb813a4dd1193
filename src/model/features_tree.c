#include "model/feature_kind.h"

#include <string.h>

// The itervar columns, for what is made from them. Internal to this folder.

// Columns of a loop: these, then those of every access that it surrounds.
enum {
    LENGTH,
    LEVEL,
    TOP_DOWN,
    BOTTOM_UP,
    KIND,
    ADD = KIND + NEST_LOOP_KINDS,
    MULTIPLY,
    DIVIDE,
    OF_LOOP
};

enum { STRIDE, COUNT, REUSE, THREAD_COUNT, THREAD_REUSE, OF_ACCESS };

int itervar_measure(struct features *f); // sets f->column; returns the width, options aside

// Where the columns of a loop begin, and in them those of the first access of a statement.
static int itervar_at_loop(const struct features *f, int loop)
{
    return f->column[loop];
}

static int *at_accesses(const struct features *f, int statement, int loop)
{
    return f->column + (statement + 1) * f->space->nest->loop_count + loop;
}

static int itervar_at_accesses(const struct features *f, int statement, int loop)
{
    return *at_accesses(f, statement, loop);
}

static bool surrounds(const struct nest_statement *s, int loop)
{
    for (int i = 0; i < s->loop_count; i++)
        if (s->loop[i] == loop)
            return true;
    return false;
}

int itervar_measure(struct features *f)
{
    const struct nest *n = f->space->nest;
    f->column = mem_zero((size_t)(n->loop_count * (n->statement_count + 1)), sizeof *f->column);
    int width = 0;
    for (int loop = 0; loop < n->loop_count; loop++) {
        f->column[loop] = width;
        width += OF_LOOP;
        for (int i = 0; i < n->statement_count; i++) {
            if (!surrounds(&n->statement[i], loop))
                continue;
            *at_accesses(f, i, loop) = width;
            width += n->statement[i].access_count * OF_ACCESS;
        }
    }
    return width;
}

// How parallel: loops of one level belong together.
static int level_of(const struct nest_loop *l)
{
    if (l->kind <= NEST_BLOCK_Z)
        return 2;
    return l->kind <= NEST_THREAD_Z || l->kind == NEST_PARALLEL;
}

static void put_access(const struct features *f, int statement, int access, float *out)
{
    const struct nest *n = f->space->nest;
    const int *path = nest_path(&f->point, statement);
    const double *stride = nest_strides(&f->point, statement, access);
    double count = 1, reuse = 1, base_count = 0, base_reuse = 0;
    int level = 0;
    for (int i = n->statement[statement].loop_count - 1; i >= 0; i--) {
        int own_level = level_of(&n->loop[path[i]]);
        bool is_innermost = i == n->statement[statement].loop_count - 1;
        if (own_level > level && !is_innermost) {
            base_count = count;
            base_reuse = reuse;
        }
        level = own_level;
        *(stride[i] != 0 ? &count : &reuse) *= f->point.length[path[i]];

        float *x = out + itervar_at_accesses(f, statement, path[i]) + access * OF_ACCESS;
        x[STRIDE] = (float)stride[i];
        x[COUNT] = (float)count;
        x[REUSE] = (float)reuse;
        if (level > 0 && base_count > 0) {
            x[THREAD_COUNT] = (float)(count / base_count);
            x[THREAD_REUSE] = (float)(reuse / base_reuse);
        }
    }
}

static void itervar_fill(const struct features *f, int width, float *out)
{
    const struct nest *n = f->space->nest;
    memset(out, 0, (size_t)width * sizeof *out);
    for (int i = 0; i < n->statement_count; i++) {
        if (!f->point.present[i])
            continue;
        const struct nest_statement *s = &f->space->nest->statement[i];
        const int *path = nest_path(&f->point, i);
        double outside = 1, inside = 1;
        for (int k = 0; k < s->loop_count; k++) {
            float *x = out + itervar_at_loop(f, path[k]);
            outside *= f->point.length[path[k]];
            if (x[LEVEL] > 0) // an earlier statement stands in it too
                continue;
            x[LENGTH] = (float)f->point.length[path[k]];
            x[LEVEL] = (float)(k + 1);
            x[TOP_DOWN] = (float)outside;
            x[KIND + (int)f->space->nest->loop[path[k]].kind] = 1;
        }
        for (int k = s->loop_count - 1; k >= 0; k--) {
            float *x = out + itervar_at_loop(f, path[k]);
            inside *= f->point.length[path[k]];
            x[BOTTOM_UP] = x[BOTTOM_UP] < (float)inside ? (float)inside : x[BOTTOM_UP];
        }
        if (s->loop_count > 0) {
            float *x = out + itervar_at_loop(f, path[s->loop_count - 1]);
            x[ADD] += (float)f->point.value[s->add];
            x[MULTIPLY] += (float)f->point.value[s->multiply];
            x[DIVIDE] += (float)f->point.value[s->divide];
        }
        for (int j = 0; j < n->statement[i].access_count; j++)
            put_access(f, i, j, out);
    }
    feature_log(width, out);
}

static void features_itervar_measure(struct features *f)
{
    f->most_rows = 1;
    f->width = itervar_measure(f) + feature_params_width(f->space, FEATURE_OPTIONS);
}

static int features_itervar_fill(struct features *f, const struct config *c, float *out)
{
    int options = f->width - feature_params_width(f->space, FEATURE_OPTIONS);
    itervar_fill(f, options, out);
    feature_params_fill(f->space, FEATURE_OPTIONS, c, out + options);
    return 1;
}

static bool statements_are_like(const struct nest *a, const struct nest *b, int i)
{
    const struct nest_statement *s = &a->statement[i], *t = &b->statement[i];
    if (s->loop_count != t->loop_count || s->access_count != t->access_count ||
        memcmp(s->loop, t->loop, (size_t)s->loop_count * sizeof *s->loop) != 0)
        return false;
    for (int j = 0; j < s->access_count; j++)
        if (strcmp(a->buffer[s->access[j].buffer].name, b->buffer[t->access[j].buffer].name) != 0)
            return false;
    return true;
}

static bool features_itervar_are_like(const struct features *f, const struct features *g)
{
    const struct nest *a = f->space->nest, *b = g->space->nest;
    if (a->loop_count != b->loop_count || a->statement_count != b->statement_count)
        return false;
    for (int i = 0; i < a->loop_count; i++)
        if (strcmp(a->loop[i].name, b->loop[i].name) != 0 || a->loop[i].kind != b->loop[i].kind)
            return false;
    for (int i = 0; i < a->statement_count; i++)
        if (!statements_are_like(a, b, i))
            return false;
    return feature_params_are_like(f->space, g->space, FEATURE_OPTIONS);
}

const struct feature_methods features_itervar = {
    .name = "itervar",
    .needs_nest = true,
    .measure = features_itervar_measure,
    .fill = features_itervar_fill,
    .are_like = features_itervar_are_like,
};

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
