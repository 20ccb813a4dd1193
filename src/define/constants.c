// Constant tensors: which axes choose their elements, and stages that are unrolled over those axes
// (TVM unrolls them too: RuleSimplifyComputeWithConstTensor).
#include "define/sketch.h"

#include "define/evaluate.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OPERATIONS = 2048 };

// --- constant folding ---

// Returns the node as a floating-point number, or as an integer.
static int as_kind(struct definition *d, int node, bool is_real)
{
    if (node < 0 || d->node[node].is_real == is_real)
        return node;
    return d->node[node].op == NODE_NUMBER ? definition_number(d, d->node[node].number, is_real)
                                           : definition_cast(d, node, ELEMENT_F32);
}

// Returns what is left of a + 0, a - 0, a * 1 or a * 0; -1: the operation is none of these.
static int remaining(struct definition *d, enum node_op op, int a, int b, bool is_real)
{
    bool adds = op == NODE_ADD || op == NODE_SUBTRACT;
    if (op == NODE_MULTIPLY && (definition_is_number(d, a, 0) || definition_is_number(d, b, 0)))
        return definition_number(d, 0, is_real);
    if (definition_is_number(d, b, adds ? 0 : 1) && (adds || op == NODE_MULTIPLY))
        return as_kind(d, a, is_real);
    if ((op == NODE_ADD && definition_is_number(d, a, 0)) ||
        (op == NODE_MULTIPLY && definition_is_number(d, a, 1)))
        return as_kind(d, b, is_real);
    return -1;
}

static int fold_op(struct definition *d, const struct node *n, const int *operand)
{
    int count = node_kinds[n->op].operands, a = operand[0], b = operand[1], numbers = 0;
    double value[3] = {0};
    for (int i = 0; i < count; i++) {
        if (operand[i] < 0)
            return -1;
        numbers += d->node[operand[i]].op == NODE_NUMBER;
        value[i] = d->node[operand[i]].number;
    }
    double number = node_value(n, value[0], value[1], value[2]);
    if (count > 0 && numbers == count && fabs(number) <= INT32_MAX)
        return definition_number(d, number, n->is_real);
    if (n->op == NODE_SELECT && d->node[a].op == NODE_NUMBER)
        return as_kind(d, operand[d->node[a].number != 0 ? 1 : 2], n->is_real);
    int left = count == 2 ? remaining(d, n->op, a, b, n->is_real) : -1;
    if (left >= 0)
        return left;
    enum node_op op = n->op;
    while (op == NODE_ADD || op == NODE_SUBTRACT) { // a + -1 * b is a - b
        const struct node *second = &d->node[b];
        if (second->op != NODE_MULTIPLY ||
            (!definition_is_number(d, second->a, -1) && !definition_is_number(d, second->b, -1)))
            break;
        b = definition_is_number(d, second->b, -1) ? second->a : second->b;
        op = op == NODE_ADD ? NODE_SUBTRACT : NODE_ADD;
    }
    return n->op == NODE_CAST ? definition_cast(d, a, n->element)
                              : definition_op(d, op, a, b, operand[2]);
}

// Returns the expression with each axis i replaced by node axis[i], and constants folded: selects
// by known conditions, sums with 0, products with 1 and 0. A product with 0 is 0.
static int fold(struct definition *d, int node, const int *axis)
{
    int order[DEFINE_MAX_NODES], made[DEFINE_MAX_NODES], last = 0;
    int count = definition_list(d, node, NODES_ALL, order);
    for (int k = 0; k < count && last >= 0; k++) {
        const struct node n = d->node[order[k]]; // a copy: adding nodes moves the pool
        const int operand[] = {n.a < 0 ? -1 : made[n.a], n.b < 0 ? -1 : made[n.b],
                               n.c < 0 ? -1 : made[n.c]};
        int index[DEFINE_MAX_RANK], rank = n.op == NODE_READ ? d->tensor[n.tensor].rank : 0;
        for (int j = 0; j < rank; j++)
            index[j] = made[d->index[n.index + j]];
        made[order[k]] = last = n.op == NODE_NUMBER ? order[k]
                                : n.op == NODE_AXIS ? axis[n.axis]
                                : n.op == NODE_READ ? definition_read(d, n.tensor, index, rank)
                                                    : fold_op(d, &n, operand);
    }
    return last;
}

// --- constant tensors ---

unsigned constant_element_axes(const struct definition *d, int node)
{
    unsigned axes = 0;
    int order[DEFINE_MAX_NODES], count = definition_list(d, node, NODES_ALL, order);
    bool is_element = d->node[node].op == NODE_SELECT;
    for (int i = 0; i < count; i++) {
        const struct node *n = &d->node[order[i]];
        const struct node *condition = n->op == NODE_SELECT ? &d->node[n->a] : NULL;
        int axis = -1; // the axis of a condition axis == number
        if (condition && condition->op == NODE_EQUAL) {
            const struct node *a = &d->node[condition->a], *b = &d->node[condition->b];
            axis = a->op == NODE_AXIS && b->op == NODE_NUMBER   ? a->axis
                   : b->op == NODE_AXIS && a->op == NODE_NUMBER ? b->axis
                                                                : -1;
        }
        bool chooses = axis >= 0 && d->node[n->b].op != NODE_AXIS && d->node[n->c].op != NODE_AXIS;
        axes |= chooses ? 1U << axis : 0;
        is_element = is_element &&
                     (chooses || n->op == NODE_NUMBER || n->op == NODE_AXIS || n->op == NODE_EQUAL);
    }
    return is_element ? axes : 0;
}

unsigned constant_stage_axes(const struct definition *d, const struct define_stage *s)
{
    unsigned axes = 0, reduced = ((1U << s->reduce) - 1) << s->space;
    int node[DEFINE_MAX_NODES], count = definition_list(d, s->body, NODES_VALUES, node);
    double operations = 1;
    for (int i = 0; i < count; i++) {
        axes |= constant_element_axes(d, node[i]);
        operations += d->node[node[i]].op != NODE_SELECT && d->node[node[i]].op != NODE_NUMBER;
    }
    for (int a = 0; a < s->space + s->reduce; a++)
        operations *= axes >> a & 1 ? (double)s->extent[a] : 1;
    return s->reduce && (axes & reduced) == reduced && operations <= MOST_OPERATIONS ? axes : 0;
}

// --- unrolling ---

// Sets axis[i], for `count` axes from `first` on that are constant tensors', to the coordinates of
// a point: number `point` of them, the last axis fastest.
static void set_point(struct definition *d, const struct define_stage *s, unsigned axes, int first,
                      int count, int64_t point, int *axis)
{
    for (int a = first + count - 1; a >= first; a--) {
        if (!(axes >> a & 1))
            continue;
        axis[a] = definition_number(d, (double)(point % s->extent[a]), false);
        point /= s->extent[a];
    }
}

// Returns the reduction, one term for each point of the reduction axes; -1: too many nodes.
static int unrolled_reduction(struct definition *d, const struct define_stage *s, unsigned axes,
                              int *axis)
{
    static const enum node_op ops[] = {[REDUCE_SUM] = NODE_ADD,
                                       [REDUCE_MAX] = NODE_MAX,
                                       [REDUCE_MIN] = NODE_MIN,
                                       [REDUCE_PRODUCT] = NODE_MULTIPLY};
    int all = -1;
    int64_t points = stage_points_of(s, axes >> s->space << s->space);
    for (int64_t i = 0; i < points; i++) {
        set_point(d, s, axes, s->space, s->reduce, i, axis);
        int term = fold(d, s->body, axis);
        if (i > 0 && all >= 0 && term >= 0) {
            const struct node n = {.op = ops[s->reduction],
                                   .is_real = d->node[all].is_real || d->node[term].is_real};
            all = fold_op(d, &n, (int[]){all, term, -1});
        } else {
            all = i == 0 ? term : -1;
        }
    }
    return all;
}

bool constants_unroll(struct definition *d, const struct define_stage *s, int epilogue,
                      const int *once, struct unrolled *out)
{
    int axis[DEFINE_MAX_AXES], own[DEFINE_MAX_AXES], expression[DEFINE_MAX_TENSORS];
    *out = (struct unrolled){.axes = constant_stage_axes(d, s)};
    out->body = definition_substitute(d, s->body, NULL, once);
    out->values = (int)stage_points_of(s, out->axes & ((1U << s->space) - 1));
    out->value = arena_zero(&d->arena, (size_t)out->values, sizeof *out->value);
    for (int a = 0; a < DEFINE_MAX_AXES; a++)
        axis[a] = own[a] = definition_axis(d, a);
    for (int i = 0; i < DEFINE_MAX_TENSORS; i++)
        expression[i] = -1;
    for (int i = 0; i < out->values; i++) {
        set_point(d, s, out->axes, 0, s->space, i, axis);
        int value = expression[s->tensor] = unrolled_reduction(d, s, out->axes, axis);
        if (epilogue >= 0 && value >= 0) {
            value = definition_substitute(d, epilogue, axis, expression);
            value = value < 0 ? value : fold(d, value, own);
        }
        if (value < 0)
            return false;
        out->value[i] = value;
    }
    // The unconditional reads of all values are computed once. Reads in selects stay in place.
    bool is_read[DEFINE_MAX_NODES] = {false};
    int read[DEFINE_MAX_NODES], nodes = d->node_count;
    for (int i = 0; i < out->values; i++) {
        int count = definition_list(d, out->value[i], NODES_UNCONDITIONAL, read);
        for (int k = 0; k < count; k++)
            is_read[read[k]] = true;
    }
    out->read = arena_zero(&d->arena, (size_t)nodes, sizeof *out->read);
    out->computed = arena_zero(&d->arena, (size_t)nodes, sizeof *out->computed);
    for (int i = 0; i < nodes; i++) {
        if (!is_read[i])
            continue;
        const struct node n = d->node[i]; // a copy: adding nodes moves the pool
        int index[DEFINE_MAX_RANK], computed = once[n.tensor];
        memcpy(index, d->index + n.index, (size_t)d->tensor[n.tensor].rank * sizeof *index);
        out->read[out->reads] = i;
        out->computed[out->reads++] = computed < 0 ? -1 : fold(d, computed, index);
        if (computed >= 0 && out->computed[out->reads - 1] < 0)
            return false;
    }
    return out->body >= 0;
}
