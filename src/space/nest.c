#include "space/nest.h"

#include "base/minmax.h"

#include <stdlib.h>

static const char *const kind_names[NEST_LOOP_KINDS] = {
    [NEST_BLOCK_X] = "block_x",   [NEST_BLOCK_Y] = "block_y",       [NEST_BLOCK_Z] = "block_z",
    [NEST_THREAD_X] = "thread_x", [NEST_THREAD_Y] = "thread_y",     [NEST_THREAD_Z] = "thread_z",
    [NEST_UNROLLED] = "unrolled", [NEST_VECTORIZED] = "vectorized", [NEST_PARALLEL] = "parallel",
    [NEST_SERIAL] = "serial",     [NEST_VIRTUAL] = "virtual",
};

const char *nest_loop_kind_name(enum nest_loop_kind k)
{
    return kind_names[k];
}

bool nest_is_launched(enum nest_loop_kind k)
{
    return k <= NEST_THREAD_Z || k == NEST_PARALLEL;
}

const char *nest_memory_name(enum nest_memory m)
{
    static const char *const names[] = {"global", "shared", "registers"};
    return names[m];
}

struct nest *nest_create(void)
{
    struct nest *n = mem_zero(1, sizeof *n);
    arena_init(&n->arena);
    n->loop = arena_zero(&n->arena, NEST_MAX_LOOPS, sizeof *n->loop);
    n->buffer = arena_zero(&n->arena, NEST_MAX_BUFFERS, sizeof *n->buffer);
    n->statement = arena_zero(&n->arena, NEST_MAX_STATEMENTS, sizeof *n->statement);
    n->unroll = -1;
    return n;
}

void nest_seal(struct nest *n)
{
    n->path_total = n->stride_total = n->most_path = 0;
    for (int i = 0; i < n->statement_count; i++) {
        struct nest_statement *s = &n->statement[i];
        s->first_path = n->path_total;
        s->first_stride = n->stride_total;
        n->path_total += s->loop_count;
        n->stride_total += s->loop_count * s->access_count;
        n->most_path = s->loop_count > n->most_path ? s->loop_count : n->most_path;
    }
}

void nest_destroy(struct nest *n)
{
    if (!n)
        return;
    formulas_finish(&n->formulas);
    arena_finish(&n->arena);
    free(n);
}

void nest_point_init(struct nest_point *p, const struct nest *n)
{
    *p = (struct nest_point){
        .nest = n,
        .value = mem_zero((size_t)n->formulas.count, sizeof *p->value),
        .length = mem_zero((size_t)n->loop_count, sizeof *p->length),
        .present = mem_zero((size_t)n->statement_count, sizeof *p->present),
        .path = mem_zero((size_t)n->path_total, sizeof *p->path),
        .stride = mem_zero((size_t)n->stride_total, sizeof *p->stride),
        .position = mem_zero((size_t)n->loop_count, sizeof *p->position),
    };
}

void nest_point_finish(struct nest_point *p)
{
    free(p->value);
    free(p->length);
    free(p->present);
    free(p->path);
    free(p->stride);
    free(p->position);
    *p = (struct nest_point){0};
}

// The declared path with each run of loops that have a place sorted by it, by insertion: stable.
static void order_path(const struct nest_point *p, const struct nest_statement *s, int *path)
{
    for (int i = 0; i < s->loop_count; i++) {
        int loop = s->loop[i], place = p->nest->loop[loop].place, at = i;
        for (; place >= 0 && at > 0; at--) {
            int before = p->nest->loop[path[at - 1]].place;
            if (before < 0 || p->value[before] <= p->value[place])
                break;
            path[at] = path[at - 1];
        }
        path[at] = loop;
    }
}

static void find_strides(struct nest_point *p, const struct nest_statement *s)
{
    const double *value = p->value;
    for (int a = 0; a < s->access_count; a++) {
        const struct nest_access *access = &s->access[a];
        const struct nest_buffer *b = &p->nest->buffer[access->buffer];
        double *stride = p->stride + s->first_stride + a * s->loop_count, unit = 1;
        for (int i = 0; i < s->loop_count; i++)
            stride[i] = 0;
        for (int d = b->dim_count - 1; d >= 0; d--) {
            for (int t = 0; t < access->dim[d].count; t++) {
                const struct nest_term *term = &access->dim[d].term[t];
                stride[p->position[term->loop]] += value[term->coefficient] * unit;
            }
            unit *= value[b->dim[d]];
        }
    }
}

void nest_evaluate(const struct nest *n, const struct space *space, const struct config *c,
                   struct nest_point *p)
{
    formulas_evaluate(&n->formulas, space, c, p->value);
    for (int i = 0; i < n->loop_count; i++) {
        double length = p->value[n->loop[i].length];
        p->length[i] = length > 1 ? length : 1;
    }
    for (int i = 0; i < n->statement_count; i++) {
        const struct nest_statement *s = &n->statement[i];
        int *path = p->path + s->first_path;
        p->present[i] = p->value[s->when] != 0;
        order_path(p, s, path);
        for (int at = 0; at < s->loop_count; at++)
            p->position[path[at]] = at;
        find_strides(p, s);
    }
}

double nest_touched(const struct nest_point *p, int statement, int access, int count)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    const struct nest_access *a = &s->access[access];
    const struct nest_buffer *b = &p->nest->buffer[a->buffer];
    const int *path = nest_path(p, statement);
    double touched = 1;
    for (int d = 0; d < b->dim_count; d++) {
        double span = 1, iterations = 1;
        for (int t = 0; t < a->dim[d].count; t++) {
            const struct nest_term *term = &a->dim[d].term[t];
            double coefficient = p->value[term->coefficient], length = p->length[term->loop];
            bool runs = false;
            for (int i = s->loop_count - count; i < s->loop_count && !runs; i++)
                runs = path[i] == term->loop;
            if (!runs || coefficient == 0)
                continue;
            span += (coefficient < 0 ? -coefficient : coefficient) * (length - 1);
            iterations *= length;
        }
        touched *= double_min(double_min(span, iterations), p->value[b->dim[d]]);
    }
    return touched;
}

double nest_buffer_bytes(const struct nest_point *p, int buffer)
{
    const struct nest_buffer *b = &p->nest->buffer[buffer];
    if (p->value[b->used] == 0)
        return 0;
    double bytes = b->bytes * p->value[b->copies];
    for (int d = 0; d < b->dim_count; d++)
        bytes *= p->value[b->dim[d]];
    return bytes;
}

static double executions(const struct nest_point *p, int statement, bool all)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    double count = p->present[statement];
    for (int i = 0; i < s->loop_count; i++)
        if (all || !nest_is_launched(p->nest->loop[s->loop[i]].kind))
            count *= p->length[s->loop[i]];
    return count;
}

double nest_executions(const struct nest_point *p, int statement)
{
    return executions(p, statement, false);
}

double nest_all_executions(const struct nest_point *p, int statement)
{
    return executions(p, statement, true);
}

double nest_memory_bytes(const struct nest_point *p, enum nest_memory m)
{
    double bytes = 0;
    for (int i = 0; i < p->nest->buffer_count; i++)
        if (p->nest->buffer[i].memory == m)
            bytes += nest_buffer_bytes(p, i);
    return bytes;
}

double nest_flops(const struct nest_point *p)
{
    double flops = 0;
    for (int i = 0; i < p->nest->statement_count; i++) {
        const struct nest_statement *s = &p->nest->statement[i];
        flops += nest_all_executions(p, i) *
                 (p->value[s->add] + p->value[s->multiply] + p->value[s->divide] +
                  p->value[s->compare] + p->value[s->special]);
    }
    return flops;
}

double nest_product(const struct nest_point *p, int statement, enum nest_loop_kind first,
                    enum nest_loop_kind last)
{
    const int *path = nest_path(p, statement);
    double product = 1;
    for (int i = 0; i < p->nest->statement[statement].loop_count; i++) {
        enum nest_loop_kind kind = p->nest->loop[path[i]].kind;
        if (kind >= first && kind <= last)
            product *= p->length[path[i]];
    }
    return product;
}

int nest_common_loops(const struct nest_point *p, int one, int other)
{
    const struct nest_statement *a = &p->nest->statement[one], *b = &p->nest->statement[other];
    const int *x = nest_path(p, one), *y = nest_path(p, other);
    int common = 0;
    while (common < a->loop_count && common < b->loop_count && x[common] == y[common])
        common++;
    return common;
}

double nest_trips(const struct nest_point *p)
{
    double trips = 0;
    for (int i = 0; i < p->nest->statement_count; i++) {
        if (!p->present[i])
            continue;
        int counted = 0; // loops that an earlier statement shares
        for (int j = 0; j < i; j++) {
            int common = p->present[j] ? nest_common_loops(p, i, j) : 0;
            counted = common > counted ? common : counted;
        }
        double runs = 1;
        for (int at = 0; at < p->nest->statement[i].loop_count; at++) {
            int loop = nest_path(p, i)[at];
            enum nest_loop_kind kind = p->nest->loop[loop].kind;
            runs *= nest_is_launched(kind) ? 1 : p->length[loop];
            if (at >= counted && kind == NEST_SERIAL && p->length[loop] > 1)
                trips += runs;
        }
    }
    return trips;
}
