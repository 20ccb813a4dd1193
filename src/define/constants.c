#include "define/constants.h"

#include "define/arithmetic.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OPERATIONS = 2048, TENSORS = DEFINE_MAX_INPUTS + DEFINE_MAX_STAGES };

// --- folding ---

// Returns the node as a real or a whole one.
static int as_kind(struct definition *d, int node, bool is_real)
{
    if (node < 0 || d->node[node].is_real == is_real)
        return node;
    return d->node[node].op == NODE_NUMBER ? definition_number(d, d->node[node].number, is_real)
                                           : definition_cast(d, node, ELEMENT_F32);
}

// Returns the operand that a sum, difference or product equals where the other operand is 0 or 1;
// -1: there is none.
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

// Returns b where the node is -1 * b, for which a + node is a - b; else -1.
static int negative_of(const struct definition *d, int node)
{
    const struct node *n = &d->node[node];
    if (n->op != NODE_MULTIPLY)
        return -1;
    return definition_is_number(d, n->b, -1) ? n->a : definition_is_number(d, n->a, -1) ? n->b : -1;
}

static int folded_op(struct definition *d, const struct node *n, const int *operand)
{
    int count = node_operands(n->op), a = operand[0], b = operand[1], numbers = 0;
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
    for (int of; (op == NODE_ADD || op == NODE_SUBTRACT) && (of = negative_of(d, b)) >= 0; b = of)
        op = op == NODE_ADD ? NODE_SUBTRACT : NODE_ADD;
    return n->op == NODE_CAST ? definition_cast(d, a, n->element)
                              : definition_op(d, op, a, b, operand[2]);
}

// Returns the expression with its axes replaced, and with everything computed that numbers decide:
// choices by numbers, sums with 0, products with 0 (which are 0) and 1.
static int fold(struct definition *d, int node, const int *axis)
{
    int *order = mem_alloc(((size_t)node + 1) * sizeof *order);
    int *made = mem_alloc(((size_t)node + 1) * sizeof *made), last = 0;
    int count = definition_nodes_of(d, node, order);
    for (int k = 0; k < count && last >= 0; k++) {
        int i = order[k];
        const struct node n = d->node[i]; // the pool moves
        const int operand[] = {n.a < 0 ? -1 : made[n.a], n.b < 0 ? -1 : made[n.b],
                               n.c < 0 ? -1 : made[n.c]};
        int index[DEFINE_MAX_RANK], rank = n.op == NODE_READ ? d->tensor[n.tensor].rank : 0;
        for (int j = 0; j < rank; j++)
            index[j] = made[d->index[n.index + j]];
        made[i] = last = n.op == NODE_NUMBER ? i
                         : n.op == NODE_AXIS ? axis[n.axis]
                         : n.op == NODE_READ ? definition_read(d, n.tensor, index, rank)
                                             : folded_op(d, &n, operand);
    }
    free(order);
    free(made);
    return last;
}

// --- constant tensors ---

unsigned constant_choosers(const struct definition *d, int node)
{
    unsigned axes = 0;
    int *order = mem_alloc(((size_t)node + 1) * sizeof *order);
    int count = definition_nodes_of(d, node, order);
    bool chooses = d->node[node].op == NODE_SELECT;
    for (int i = 0; i < count; i++) {
        const struct node *n = &d->node[order[i]];
        const struct node *condition = n->op == NODE_SELECT ? &d->node[n->a] : NULL;
        int axis = -1; // of a condition axis == number
        if (condition && condition->op == NODE_EQUAL) {
            const struct node *a = &d->node[condition->a], *b = &d->node[condition->b];
            axis = a->op == NODE_AXIS && b->op == NODE_NUMBER   ? a->axis
                   : b->op == NODE_AXIS && a->op == NODE_NUMBER ? b->axis
                                                                : -1;
        }
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
    int count = definition_value_nodes(d, s->body, order), operations = 1;
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

// Sets the axes of constant tensors among `count` axes from `first` on to the numbers of a point.
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

// Returns the reduction at the point where the space axes stand.
static int reduced(struct definition *d, const struct define_stage *s, unsigned axes, int *axis)
{
    static const enum node_op ops[] = {[REDUCE_SUM] = NODE_ADD,
                                       [REDUCE_MAX] = NODE_MAX,
                                       [REDUCE_MIN] = NODE_MIN,
                                       [REDUCE_PRODUCT] = NODE_MULTIPLY};
    int all = -1;
    int64_t points =
        stage_points_of(s, axes >> s->space << s->space); // no more than are written out
    for (int64_t i = 0; i < points; i++) {
        place_axes(d, s, axes, s->space, s->reduce, i, axis);
        int one = fold(d, s->body, axis);
        if (i > 0 && all >= 0 && one >= 0) {
            const struct node n = {.op = ops[s->reduction],
                                   .is_real = d->node[all].is_real || d->node[one].is_real};
            all = folded_op(d, &n, (int[]){all, one, -1});
        } else {
            all = i == 0 ? one : -1;
        }
    }
    return all;
}

bool constants_write_out(struct definition *d, const struct define_stage *s, int epilogue,
                         const int *once, struct constants *out)
{
    int axis[DEFINE_MAX_AXES], own[DEFINE_MAX_AXES], expression[TENSORS];
    *out = (struct constants){.axes = constant_axes(d, s)};
    out->whole = definition_substitute(d, s->body, NULL, once);
    bool ok = out->whole >= 0;
    out->values = (int)stage_points_of(s, out->axes & ((1U << s->space) - 1));
    out->value = arena_zero(&d->arena, (size_t)out->values, sizeof *out->value);
    for (int a = 0; a < DEFINE_MAX_AXES; a++)
        axis[a] = own[a] = definition_axis(d, a);
    for (int i = 0; i < TENSORS; i++)
        expression[i] = -1;
    for (int i = 0; i < out->values && ok; i++) {
        place_axes(d, s, out->axes, 0, s->space, i, axis);
        int value = expression[s->tensor] = reduced(d, s, out->axes, axis);
        if (epilogue >= 0 && value >= 0) { // it is stored in place of the value
            value = definition_substitute(d, epilogue, axis, expression);
            value = value < 0 ? value : fold(d, value, own);
        }
        out->value[i] = value;
        ok = value >= 0;
    }
    if (ok) {
        // Each unconditional read of all values, once. Reads in choices stay where they are.
        size_t nodes = (size_t)d->node_count;
        bool *is_read = mem_zero(nodes, sizeof *is_read);
        int *order = mem_alloc(nodes * sizeof *order);
        for (int i = 0; i < out->values; i++) {
            int count = definition_unconditional_reads(d, out->value[i], order);
            for (int k = 0; k < count; k++) {
                out->reads += !is_read[order[k]];
                is_read[order[k]] = true;
            }
        }
        out->read = arena_zero(&d->arena, (size_t)out->reads + 1, sizeof *out->read);
        out->computed = arena_zero(&d->arena, (size_t)out->reads + 1, sizeof *out->computed);
        out->reads = 0;
        for (size_t i = 0; i < nodes; i++)
            if (is_read[i])
                out->read[out->reads++] = (int)i;
        for (int i = 0; i < out->reads; i++) {
            const struct node n = d->node[out->read[i]]; // adding nodes moves the pool
            int index[DEFINE_MAX_RANK], computed = once[n.tensor];
            memcpy(index, d->index + n.index, (size_t)d->tensor[n.tensor].rank * sizeof *index);
            out->computed[i] = computed < 0 ? -1 : fold(d, computed, index);
        }
        free(is_read);
        free(order);
    }
    for (int i = 0; i < out->reads && ok; i++)
        ok = out->computed[i] >= 0 || once[d->node[out->read[i]].tensor] < 0;
    return ok;
}
