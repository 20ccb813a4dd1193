// An expression is computed for many points of one axis at once, node by node.

#include "define/evaluate.h"

#include "base/mem.h"
#include "base/number.h"
#include "define/arithmetic.h"
#include "space/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// An expression with some of its axes replaced by numbers, and what numbers decide computed.

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

enum { LANES = 256 };

struct evaluation {
    const struct definition *d;
    const struct define_stage *s;
    double *const *tensor;
    int *order; // the nodes of the body, operands first
    int count;
    bool *is_vector; // of each node: it depends on the axis of the lanes
    double *value;   // LANES of each node; the first one counts where it is no vector
    int axis;        // of the lanes; -1: the stage has no axes, and there is one lane
    int lanes;
    int64_t at[DEFINE_MAX_AXES]; // of `axis`: the first lane's
};

static double *value_at(const struct evaluation *v, int node)
{
    return v->value + (size_t)node * LANES;
}

// The most frequent read: neighbouring lanes are so many numbers apart, all of them in the tensor.
// -1: it is another.
static int64_t steady_stride(const struct evaluation *v, const struct node *n, int64_t *place)
{
    const struct define_tensor *t = &v->d->tensor[n->tensor];
    int64_t stride = 0;
    *place = 0;
    for (int k = 0; k < t->rank; k++) {
        int node = v->d->index[n->index + k];
        bool moves = v->is_vector[node];
        int64_t first = (int64_t)value_at(v, node)[0], last = first + (moves ? v->lanes - 1 : 0);
        if ((moves && v->d->node[node].op != NODE_AXIS) || first < 0 || last >= t->size[k])
            return -1;
        *place = *place * t->size[k] + first;
        stride = stride * t->size[k] + moves;
    }
    return stride;
}

// What is not selected may lie outside: it is 0.
static void read_lanes(const struct evaluation *v, const struct node *n, int lanes, double *out)
{
    const struct define_tensor *t = &v->d->tensor[n->tensor];
    const double *from = v->tensor[n->tensor];
    int64_t first, stride = steady_stride(v, n, &first);
    for (int i = 0; stride >= 0 && i < lanes; i++)
        out[i] = from[first + i * stride];
    for (int i = 0; stride < 0 && i < lanes; i++) {
        int64_t place = 0;
        bool inside = true;
        for (int k = 0; k < t->rank; k++) {
            int node = v->d->index[n->index + k];
            int64_t index = (int64_t)value_at(v, node)[v->is_vector[node] ? i : 0];
            inside = inside && index >= 0 && index < t->size[k];
            place = inside ? place * t->size[k] + index : 0;
        }
        out[i] = inside ? from[place] : 0;
    }
}

static const double *compute_lanes(const struct evaluation *v)
{
    for (int i = 0; i < v->count; i++) {
        int node = v->order[i];
        const struct node *n = &v->d->node[node];
        double *out = value_at(v, node);
        int lanes = v->is_vector[node] ? v->lanes : 1, operands = node_operands(n->op);
        if (n->op == NODE_NUMBER) {
            out[0] = n->number;
        } else if (n->op == NODE_AXIS) {
            for (int j = 0; j < lanes; j++)
                out[j] = (double)(v->at[n->axis] + j);
        } else if (n->op == NODE_READ) {
            read_lanes(v, n, lanes, out);
        } else {
            int b_node = operands > 1 ? n->b : n->a, c_node = operands > 2 ? n->c : n->a;
            const double *a = value_at(v, n->a), *b = value_at(v, b_node), *c = value_at(v, c_node);
            bool by_a = v->is_vector[n->a], by_b = v->is_vector[b_node],
                 by_c = v->is_vector[c_node];
            if (n->op == NODE_MULTIPLY && !by_a && by_b) // of most that is computed
                for (int j = 0; j < lanes; j++)
                    out[j] = a[0] * b[j];
            else
                for (int j = 0; j < lanes; j++)
                    out[j] = node_value(n, a[by_a ? j : 0], b[by_b ? j : 0], c[by_c ? j : 0]);
        }
    }
    return value_at(v, v->s->body);
}

static double combine(enum reduction r, double x, double y)
{
    switch (r) {
    case REDUCE_SUM: return x + y;
    case REDUCE_PRODUCT: return x * y;
    case REDUCE_MAX: return fmax(x, y);
    case REDUCE_MIN: return fmin(x, y);
    default: return y;
    }
}

// The next point of the axes first ... first + count - 1, that of the lanes aside.
static bool advance(struct evaluation *v, int first, int count)
{
    for (int i = first + count - 1; i >= first; i--) {
        if (i == v->axis)
            continue;
        if (++v->at[i] < v->s->extent[i])
            return true;
        v->at[i] = 0;
    }
    return false;
}

// All points of the reduction, of as many lanes as there are: `sum` has one number each, or one in
// all when the axis of the lanes is reduced.
static void reduce_lanes(struct evaluation *v, double *sum)
{
    const struct define_stage *s = v->s;
    bool is_reduced = v->axis >= s->space, by_lane = v->is_vector[s->body];
    do {
        int64_t end = is_reduced ? s->extent[v->axis] : 1;
        for (int64_t from = 0; from < end; from += LANES) {
            if (is_reduced) {
                v->at[v->axis] = from;
                v->lanes = (int)int64_min(LANES, end - from);
            }
            const double *x = compute_lanes(v);
            if (s->reduction == REDUCE_SUM && by_lane && !is_reduced)
                for (int i = 0; i < v->lanes; i++)
                    sum[i] += x[i];
            else
                for (int i = 0; i < v->lanes; i++) {
                    double *to = &sum[is_reduced ? 0 : i];
                    *to = combine(s->reduction, *to, x[by_lane ? i : 0]);
                }
        }
    } while (advance(v, s->space, s->reduce));
}

static void compute_stage(struct evaluation *v, double *out)
{
    const struct define_stage *s = v->s;
    double sum[LANES];
    bool by_lane = v->axis >= 0 && v->axis < s->space;
    do {
        int64_t end = by_lane ? s->extent[v->axis] : 1;
        for (int64_t from = 0; from < end; from += LANES) {
            v->lanes = 1;
            if (by_lane) {
                v->at[v->axis] = from;
                v->lanes = (int)int64_min(LANES, end - from);
            }
            int lanes = v->lanes;
            for (int i = 0; i < LANES; i++)
                sum[i] = reduction_identity(v->s->reduction);
            reduce_lanes(v, sum);
            int64_t place = 0;
            for (int i = 0; i < v->s->space; i++)
                place = place * v->s->extent[i] + v->at[i];
            memcpy(out + place, sum, (size_t)lanes * sizeof *sum);
            if (by_lane)
                v->at[v->axis] = 0;
        }
    } while (advance(v, 0, s->space));
}

// The last space axis, whose elements lie side by side, unless the reduction has a longer one.
static int axis_of_lanes(const struct define_stage *s)
{
    int space = s->space - 1, reduced = s->space + s->reduce - 1;
    if (s->reduce == 0 ||
        (s->space > 0 && s->extent[space] >= int64_min(LANES, s->extent[reduced])))
        return space;
    return reduced;
}

void definition_evaluate(const struct definition *d, const void *const *inputs, void *output)
{
    double *tensor[DEFINE_MAX_INPUTS + DEFINE_MAX_STAGES];
    int last = d->stage[d->stage_count - 1].tensor;
    for (int i = 0; i < d->tensor_count; i++) {
        int64_t count = define_tensor_count(&d->tensor[i]);
        tensor[i] = mem_alloc((size_t)count * sizeof **tensor);
        for (int64_t k = 0; i < d->inputs && k < count; k++)
            tensor[i][k] = element_get(inputs[i], d->tensor[i].element, k);
    }
    for (int i = 0; i < d->stage_count; i++) {
        struct evaluation v = {
            .d = d, .s = (&d->stage[i]), .tensor = tensor, .axis = axis_of_lanes(&d->stage[i])};
        size_t nodes = (size_t)d->stage[i].body + 1;
        v.is_vector = mem_zero(nodes, sizeof *v.is_vector);
        v.value = mem_alloc(nodes * LANES * sizeof *v.value);
        v.order = mem_alloc(nodes * sizeof *v.order);
        v.count = definition_nodes_of(d, d->stage[i].body, v.order);
        for (int j = 0; j < v.count; j++)
            v.is_vector[v.order[j]] = v.axis >= 0 && definition_depends(d, v.order[j], v.axis);
        compute_stage(&v, tensor[d->stage[i].tensor]);
        free(v.is_vector);
        free(v.value);
        free(v.order);
    }
    for (int64_t k = 0; k < define_tensor_count(&d->tensor[last]); k++)
        element_put(output, d->tensor[last].element, k, tensor[last][k]);
    for (int i = 0; i < d->tensor_count; i++)
        free(tensor[i]);
}
