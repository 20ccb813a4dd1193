#include "define/constants.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OPERATIONS = 2048, TENSORS = DEFINE_MAX_INPUTS + DEFINE_MAX_STAGES };

// Of "axis == number", the axis; -1: it is another condition.
static int compared_axis(const struct definition *d, int node)
{
    const struct node *n = &d->node[node];
    if (n->op != NODE_EQUAL)
        return -1;
    const struct node *a = &d->node[n->a], *b = &d->node[n->b];
    return a->op == NODE_AXIS && b->op == NODE_NUMBER   ? a->axis
           : b->op == NODE_AXIS && a->op == NODE_NUMBER ? b->axis
                                                        : -1;
}

unsigned constant_choosers(const struct definition *d, int node)
{
    unsigned axes = 0;
    int *order = mem_alloc(((size_t)node + 1) * sizeof *order);
    int count = definition_nodes_of(d, node, order);
    bool chooses = d->node[node].op == NODE_SELECT;
    for (int i = 0; i < count; i++) {
        const struct node *n = &d->node[order[i]];
        int axis = n->op == NODE_SELECT ? compared_axis(d, n->a) : -1;
        bool has_leaves =
            axis >= 0 && d->node[n->b].op != NODE_AXIS && d->node[n->c].op != NODE_AXIS;
        axes |= has_leaves ? 1U << axis : 0;
        chooses = chooses &&
                  (has_leaves || n->op == NODE_NUMBER || n->op == NODE_AXIS || n->op == NODE_EQUAL);
    }
    free(order);
    return chooses ? axes : 0;
}

unsigned constant_axes(const struct definition *d, const struct define_stage *s)
{
    unsigned axes = 0, reduced = ((1U << s->reduce) - 1) << s->space;
    int *order = mem_alloc(((size_t)s->body + 1) * sizeof *order);
    int count = definition_computed(d, s->body, order), operations = 1;
    for (int i = 0; i < count; i++) {
        axes |= constant_choosers(d, order[i]);
        operations += d->node[order[i]].op != NODE_SELECT && d->node[order[i]].op != NODE_NUMBER;
    }
    free(order);
    double points = operations;
    for (int a = 0; a < s->space + s->reduce; a++)
        points *= axes >> a & 1 ? (double)s->extent[a] : 1;
    bool is_short = points <= MOST_OPERATIONS;
    return s->reduce && (axes & reduced) == reduced && is_short ? axes : 0;
}

// --- writing out ---

// The axes as nodes: those of constant tensors, among `count` from `first` on, stand at a point.
static void place_axes(struct definition *d, const struct define_stage *s, unsigned axes, int first,
                       int count, int64_t point, int *axis)
{
    for (int a = first + count - 1; a >= first; a--) {
        if (!(axes >> a & 1))
            continue;
        axis[a] = definition_number(d, (double)(point % s->extent[a]), false);
        point /= s->extent[a];
    }
}

static int points_of(const struct define_stage *s, unsigned axes, int first, int count)
{
    int64_t points = 1;
    for (int a = first; a < first + count; a++)
        points *= axes >> a & 1 ? s->extent[a] : 1;
    return (int)points; // no more than are written out
}

static int combine(struct definition *d, enum reduction r, int a, int b)
{
    static const enum node_op ops[] = {[REDUCE_SUM] = NODE_ADD,
                                       [REDUCE_MAX] = NODE_MAX,
                                       [REDUCE_MIN] = NODE_MIN,
                                       [REDUCE_PRODUCT] = NODE_MULTIPLY};
    return a < 0 || b < 0 ? -1 : definition_fold_two(d, ops[r], a, b);
}

// The reduction at the point where the space axes stand.
static int reduced(struct definition *d, const struct define_stage *s, unsigned axes, int *axis)
{
    int all = -1, points = points_of(s, axes, s->space, s->reduce);
    for (int i = 0; i < points; i++) {
        place_axes(d, s, axes, s->space, s->reduce, i, axis);
        int one = definition_fold(d, s->body, axis);
        all = i == 0 ? one : combine(d, s->reduction, all, one);
    }
    return all;
}

static int stored(struct definition *d, const struct define_stage *s, int epilogue, int value,
                  const int *axis)
{
    int expression[TENSORS], own[DEFINE_MAX_AXES];
    if (epilogue < 0 || value < 0)
        return value;
    for (int i = 0; i < TENSORS; i++)
        expression[i] = i == s->tensor ? value : -1;
    for (int a = 0; a < s->space; a++)
        own[a] = definition_axis(d, a);
    int node = definition_substitute(d, epilogue, axis, expression);
    return node < 0 ? node : definition_fold(d, node, own);
}

static int plain_of(struct definition *d, const struct node *read, const int *once)
{
    int index[DEFINE_MAX_RANK];
    if (once[read->tensor] < 0)
        return -1;
    for (int i = 0; i < d->tensor[read->tensor].rank; i++)
        index[i] = d->index[read->index + i];
    return definition_fold(d, once[read->tensor], index);
}

bool constants_write_out(struct definition *d, const struct define_stage *s, int epilogue,
                         const int *once, struct constants *out)
{
    int axis[DEFINE_MAX_AXES];
    *out = (struct constants){.axes = constant_axes(d, s)};
    out->whole = definition_substitute(d, s->body, NULL, once);
    bool ok = out->whole >= 0;
    out->values = points_of(s, out->axes, 0, s->space);
    out->value = arena_zero(&d->arena, (size_t)out->values, sizeof *out->value);
    for (int a = 0; a < DEFINE_MAX_AXES; a++)
        axis[a] = definition_axis(d, a);
    for (int i = 0; i < out->values && ok; i++) {
        place_axes(d, s, out->axes, 0, s->space, i, axis);
        int value = reduced(d, s, out->axes, axis);
        out->value[i] = stored(d, s, epilogue, value, axis);
        ok = out->value[i] >= 0;
    }
    if (ok) {
        // Of all values, each once. What a choice stands around is read where it stands.
        size_t nodes = (size_t)d->node_count;
        bool *is_read = mem_zero(nodes, sizeof *is_read);
        int *order = mem_alloc(nodes * sizeof *order);
        for (int i = 0; i < out->values; i++) {
            int count = definition_plain_reads(d, out->value[i], order);
            for (int k = 0; k < count; k++) {
                out->reads += !is_read[order[k]];
                is_read[order[k]] = true;
            }
        }
        out->read = arena_zero(&d->arena, (size_t)out->reads + 1, sizeof *out->read);
        out->plain = arena_zero(&d->arena, (size_t)out->reads + 1, sizeof *out->plain);
        out->reads = 0;
        for (size_t i = 0; i < nodes; i++)
            if (is_read[i])
                out->read[out->reads++] = (int)i;
        for (int i = 0; i < out->reads; i++) {
            const struct node n = d->node[out->read[i]]; // the pool moves
            out->plain[i] = plain_of(d, &n, once);
        }
        free(is_read);
        free(order);
    }
    for (int i = 0; i < out->reads && ok; i++)
        ok = out->plain[i] >= 0 || once[d->node[out->read[i]].tensor] < 0;
    return ok;
}
