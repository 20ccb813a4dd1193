#include "model/feature_kind.h"

#include <string.h>

// --- ITERVAR ---

// The columns of a loop; those of the accesses inside it follow.
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

// Returns the place of the first column of a statement's first access inside a loop. The first
// column of a loop itself is f->column[loop].
static int *at_accesses(const struct features *f, int statement, int loop)
{
    return f->column + (statement + 1) * f->space->nest->loop_count + loop;
}

// Sets f->column and the width.
static void itervar_measure(struct features *f)
{
    const struct nest *n = f->space->nest;
    f->column = mem_zero((size_t)(n->loop_count * (n->statement_count + 1)), sizeof *f->column);
    int width = 0;
    for (int loop = 0; loop < n->loop_count; loop++) {
        f->column[loop] = width;
        width += OF_LOOP;
        for (int i = 0; i < n->statement_count; i++) {
            const struct nest_statement *s = &n->statement[i];
            int at = 0;
            while (at < s->loop_count && s->loop[at] != loop)
                at++;
            if (at == s->loop_count)
                continue;
            *at_accesses(f, i, loop) = width;
            width += s->access_count * OF_ACCESS;
        }
    }
    f->own_width = width;
}

static void put_access(const struct features *f, int statement, int access, float *out)
{
    const struct nest *n = f->space->nest;
    const int *path = nest_path(&f->point, statement);
    const double *stride = nest_strides(&f->point, statement, access);
    double count = 1, reuse = 1, base_count = 0, base_reuse = 0;
    int level = 0;
    for (int i = n->statement[statement].loop_count - 1; i >= 0; i--) {
        enum nest_loop_kind kind = n->loop[path[i]].kind;
        int own_level = // how parallel: loops of one level belong together
            kind <= NEST_BLOCK_Z ? 2 : kind <= NEST_THREAD_Z || kind == NEST_PARALLEL;
        bool is_innermost = i == n->statement[statement].loop_count - 1;
        if (own_level > level && !is_innermost) {
            base_count = count;
            base_reuse = reuse;
        }
        level = own_level;
        *(stride[i] != 0 ? &count : &reuse) *= f->point.length[path[i]];

        float *x = out + *at_accesses(f, statement, path[i]) + access * OF_ACCESS;
        x[STRIDE] = (float)stride[i];
        x[COUNT] = (float)count;
        x[REUSE] = (float)reuse;
        if (level > 0 && base_count > 0) {
            x[THREAD_COUNT] = (float)(count / base_count);
            x[THREAD_REUSE] = (float)(reuse / base_reuse);
        }
    }
}

static void itervar_put(const struct features *f, int width, float *out)
{
    const struct nest *n = f->space->nest;
    memset(out, 0, (size_t)width * sizeof *out);
    for (int i = 0; i < n->statement_count; i++) {
        if (!f->point.present[i])
            continue;
        const struct nest_statement *s = &n->statement[i];
        const int *path = nest_path(&f->point, i);
        double outside = 1, inside = 1;
        for (int k = 0; k < s->loop_count; k++) {
            float *x = out + f->column[path[k]];
            outside *= f->point.length[path[k]];
            if (x[LEVEL] > 0) // an earlier statement is in it too
                continue;
            x[LENGTH] = (float)f->point.length[path[k]];
            x[LEVEL] = (float)(k + 1);
            x[TOP_DOWN] = (float)outside;
            x[KIND + (int)n->loop[path[k]].kind] = 1;
        }
        for (int k = s->loop_count - 1; k >= 0; k--) {
            float *x = out + f->column[path[k]];
            inside *= f->point.length[path[k]];
            x[BOTTOM_UP] = x[BOTTOM_UP] < (float)inside ? (float)inside : x[BOTTOM_UP];
        }
        if (s->loop_count > 0) {
            float *x = out + f->column[path[s->loop_count - 1]];
            x[ADD] += (float)f->point.value[s->add];
            x[MULTIPLY] += (float)f->point.value[s->multiply];
            x[DIVIDE] += (float)f->point.value[s->divide];
        }
        for (int j = 0; j < s->access_count; j++)
            put_access(f, i, j, out);
    }
    feature_log(width, out);
}

static int itervar_fill(struct features *f, float *out)
{
    itervar_put(f, f->own_width, out);
    return 1;
}

static bool itervar_are_like(const struct features *f, const struct features *g)
{
    const struct nest *a = f->space->nest, *b = g->space->nest;
    if (a->loop_count != b->loop_count || a->statement_count != b->statement_count)
        return false;
    for (int i = 0; i < a->loop_count; i++)
        if (strcmp(a->loop[i].name, b->loop[i].name) != 0 || a->loop[i].kind != b->loop[i].kind)
            return false;
    for (int i = 0; i < a->statement_count; i++) {
        const struct nest_statement *s = &a->statement[i], *t = &b->statement[i];
        if (s->loop_count != t->loop_count || s->access_count != t->access_count ||
            memcmp(s->loop, t->loop, (size_t)s->loop_count * sizeof *s->loop) != 0)
            return false;
        for (int j = 0; j < s->access_count; j++)
            if (strcmp(a->buffer[s->access[j].buffer].name, b->buffer[t->access[j].buffer].name))
                return false;
    }
    return true;
}

const struct feature_methods features_itervar = {
    .name = "itervar",
    .needs_nest = true,
    .params = FEATURE_OPTIONS,
    .measure = itervar_measure,
    .fill = itervar_fill,
    .are_like = itervar_are_like,
};

// --- TREE ---

enum {
    PARENT,
    CONTEXT,
    TOUCHED = CONTEXT + OF_LOOP, // for each kind of memory
    OPTIONS = TOUCHED + (NEST_REGISTERS + 1) * OF_ACCESS
};

static void tree_measure(struct features *f)
{
    itervar_measure(f);
    f->scratch_width = f->own_width;
    f->scratch = mem_zero((size_t)f->scratch_width, sizeof *f->scratch);
    f->most_rows = 1 + f->space->nest->path_total;
    f->own_width = OPTIONS;
}

struct tree {
    int rows;
    int loop[1 + NEST_MAX_STATEMENTS * NEST_MAX_PATH];
};

// Returns the row of a loop below the row `parent`; adds it if it is not there.
static int row_below(const struct features *f, struct tree *t, int parent, int loop, float *out)
{
    for (int i = parent + 1; i < t->rows; i++)
        if (t->loop[i] == loop && out[i * f->width + PARENT] == (float)parent)
            return i;
    float *row = out + t->rows * f->width;
    memset(row, 0, (size_t)f->width * sizeof *row);
    row[PARENT] = (float)parent;
    memcpy(row + CONTEXT, f->scratch + f->column[loop], OF_LOOP * sizeof *row);
    t->loop[t->rows] = loop;
    return t->rows++;
}

static int tree_fill(struct features *f, float *out)
{
    const struct nest *n = f->space->nest;
    struct tree t = {.rows = 1, .loop = {-1}};
    itervar_put(f, f->scratch_width, f->scratch);
    out[PARENT] = -1;
    for (int i = 0; i < n->statement_count; i++) {
        const struct nest_statement *s = &n->statement[i];
        const int *path = nest_path(&f->point, i);
        for (int j = 0, row = 0; f->point.present[i] && j < s->loop_count; j++) {
            if (f->point.length[path[j]] == 1 && j < s->loop_count - 1)
                continue;
            row = row_below(f, &t, row, path[j], out);
            const float *from = f->scratch + *at_accesses(f, i, path[j]);
            for (int a = 0; a < s->access_count; a++, from += OF_ACCESS) {
                int memory = (int)n->buffer[s->access[a].buffer].memory;
                float *x = out + row * f->width + TOUCHED + memory * OF_ACCESS;
                for (int k = 0; k < OF_ACCESS; k++)
                    x[k] += from[k];
            }
        }
    }
    return t.rows;
}

const struct feature_methods features_tree = {
    .name = "tree",
    .needs_nest = true,
    .params = FEATURE_OPTIONS,
    .measure = tree_measure,
    .fill = tree_fill,
};
