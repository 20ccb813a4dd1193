// An expression with some of its axes replaced by numbers, and what numbers decide computed.
#include "define/arithmetic.h"

#include <stdlib.h>

static bool is_number(const struct definition *d, int node, double number)
{
    return d->node[node].op == NODE_NUMBER && d->node[node].number == number;
}

// Of the kind of the node that it stands for.
static int as_kind(struct definition *d, int node, bool is_real)
{
    if (node < 0 || d->node[node].is_real == is_real)
        return node;
    return d->node[node].op == NODE_NUMBER ? definition_number(d, d->node[node].number, is_real)
                                           : definition_cast(d, node, ELEMENT_F32);
}

static bool are_numbers(const struct definition *d, const int *operand, int count)
{
    for (int i = 0; i < count; i++)
        if (d->node[operand[i]].op != NODE_NUMBER)
            return false;
    return count > 0;
}

static double number_at(const struct definition *d, const int *operand, int i)
{
    return operand[i] < 0 ? 0 : d->node[operand[i]].number;
}

// The operand that a sum, difference or product is, where the other one is a 0 or a 1; else -1.
static int remaining(struct definition *d, enum node_op op, int a, int b, bool is_real)
{
    bool adds = op == NODE_ADD || op == NODE_SUBTRACT;
    if (op == NODE_MULTIPLY && (is_number(d, a, 0) || is_number(d, b, 0)))
        return definition_number(d, 0, is_real);
    if (is_number(d, b, adds ? 0 : 1) && (adds || op == NODE_MULTIPLY))
        return as_kind(d, a, is_real);
    if ((op == NODE_ADD && is_number(d, a, 0)) || (op == NODE_MULTIPLY && is_number(d, a, 1)))
        return as_kind(d, b, is_real);
    return -1;
}

// a + -1 * b is a - b: of -1 * b, b; -1: of another.
static int negative_of(const struct definition *d, int node)
{
    const struct node *n = &d->node[node];
    if (n->op != NODE_MULTIPLY)
        return -1;
    return is_number(d, n->b, -1) ? n->a : is_number(d, n->a, -1) ? n->b : -1;
}

static int folded_op(struct definition *d, const struct node *n, const int *operand)
{
    int count = node_operands(n->op), a = operand[0], b = operand[1];
    for (int i = 0; i < count; i++)
        if (operand[i] < 0)
            return -1;
    double number =
        node_value(n, number_at(d, operand, 0), number_at(d, operand, 1), number_at(d, operand, 2));
    if (are_numbers(d, operand, count) && fabs(number) <= INT32_MAX)
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

int definition_fold_two(struct definition *d, enum node_op op, int a, int b)
{
    const struct node n = {.op = op, .is_real = d->node[a].is_real || d->node[b].is_real};
    return folded_op(d, &n, (int[]){a, b, -1});
}

static int folded_read(struct definition *d, const struct node *n, const int *made)
{
    int index[DEFINE_MAX_RANK], rank = d->tensor[n->tensor].rank;
    for (int i = 0; i < rank; i++)
        index[i] = made[d->index[n->index + i]];
    return definition_read(d, n->tensor, index, rank);
}

int definition_fold(struct definition *d, int node, const int *axis)
{
    int *order = mem_alloc(((size_t)node + 1) * sizeof *order);
    int *made = mem_alloc(((size_t)node + 1) * sizeof *made), last = 0;
    int count = definition_nodes_of(d, node, order);
    for (int k = 0; k < count && last >= 0; k++) {
        int i = order[k];
        const struct node n = d->node[i]; // the pool moves
        const int operand[] = {n.a < 0 ? -1 : made[n.a], n.b < 0 ? -1 : made[n.b],
                               n.c < 0 ? -1 : made[n.c]};
        made[i] = last = n.op == NODE_NUMBER ? i
                         : n.op == NODE_AXIS ? axis[n.axis]
                         : n.op == NODE_READ ? folded_read(d, &n, made)
                                             : folded_op(d, &n, operand);
    }
    free(order);
    free(made);
    return last;
}
