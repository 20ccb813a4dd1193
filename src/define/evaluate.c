// The reference results. An expression is computed node by node, each for up to 256 points along
// one axis at once: these points are the lanes.
#include "define/evaluate.h"

#include "base/mem.h"
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 256 };

struct evaluation {
    const struct definition *d;
    const struct define_stage *s;
    double *const *tensor;       // the elements of each tensor
    int order[DEFINE_MAX_NODES]; // nodes of the body, operands first
    int count;
    bool is_vector[DEFINE_MAX_NODES]; // nodes that depend on the axis of the lanes
    double *value; // LANES numbers for each node; other nodes have one, the first
    int axis;      // the axis of the lanes; -1: the stage has no axes, and there is one lane
    unsigned space, reduced; // the other axes, a bit each
    int lanes;
    int64_t at[DEFINE_MAX_AXES]; // the point of the first lane
};

static double *value_at(const struct evaluation *v, int node)
{
    return v->value + (size_t)node * LANES;
}

// Returns the distance in the tensor from one lane's element to the next; -1: it is not constant,
// or some elements lie outside. `place` becomes the offset of the first lane's element.
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

// Reads an element for each lane. An element outside of the tensor is 0: its select chooses the
// other branch.
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

// Computes the body for all lanes.
static const double *compute_lanes(const struct evaluation *v)
{
    for (int i = 0; i < v->count; i++) {
        int node = v->order[i];
        const struct node *n = &v->d->node[node];
        double *out = value_at(v, node);
        int lanes = v->is_vector[node] ? v->lanes : 1, operands = node_kinds[n->op].operands;
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
            if (n->op == NODE_MULTIPLY && !by_a && by_b) // the most frequent case
                for (int j = 0; j < lanes; j++)
                    out[j] = a[0] * b[j];
            else
                for (int j = 0; j < lanes; j++)
                    out[j] = node_value(n, a[by_a ? j : 0], b[by_b ? j : 0], c[by_c ? j : 0]);
        }
    }
    return value_at(v, v->s->body);
}

// Reduces the body over the reduction axes. `sum` has an accumulator for each lane, or a single one
// where the lanes lie along a reduction axis.
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
                    double *to = &sum[is_reduced ? 0 : i], one = x[by_lane ? i : 0];
                    *to = s->reduction == REDUCE_SUM       ? *to + one
                          : s->reduction == REDUCE_PRODUCT ? *to * one
                          : s->reduction == REDUCE_MAX     ? fmax(*to, one)
                          : s->reduction == REDUCE_MIN     ? fmin(*to, one)
                                                           : one;
                }
        }
    } while (stage_next_point(s, v->reduced, v->at));
}

void definition_evaluate(const struct definition *d, const void *const *inputs, void *output)
{
    double *tensor[DEFINE_MAX_TENSORS];
    int last = d->stage[d->stage_count - 1].tensor;
    for (int i = 0; i < d->tensor_count; i++) {
        int64_t count = define_tensor_count(&d->tensor[i]);
        tensor[i] = mem_alloc((size_t)count * sizeof **tensor);
        for (int64_t k = 0; i < d->inputs && k < count; k++)
            tensor[i][k] = element_get(inputs[i], d->tensor[i].element, k);
    }
    for (int i = 0; i < d->stage_count; i++) {
        // The lanes lie along the last space axis, whose elements are neighbours, or along the last
        // reduction axis where that is longer.
        const struct define_stage *s = &d->stage[i];
        int space = s->space - 1, reduced = space + s->reduce;
        bool by_space = s->reduce == 0 ||
                        (s->space > 0 && s->extent[space] >= int64_min(LANES, s->extent[reduced]));
        struct evaluation v = {
            .d = d, .s = s, .tensor = tensor, .axis = by_space ? space : reduced};
        unsigned other = v.axis < 0 ? ~0U : ~(1U << v.axis), bits = (1U << s->space) - 1;
        v.space = other & bits;
        v.reduced = other & ~bits;
        v.value = mem_alloc(((size_t)s->body + 1) * LANES * sizeof *v.value);
        v.count = definition_list(d, s->body, NODES_ALL, v.order);
        for (int j = 0; j < v.count; j++)
            v.is_vector[v.order[j]] = v.axis >= 0 && definition_depends(d, v.order[j], v.axis);
        double *out = tensor[s->tensor];
        double sum[LANES];
        bool by_lane = v.axis >= 0 && v.axis < s->space;
        do {
            int64_t end = by_lane ? s->extent[v.axis] : 1;
            for (int64_t from = 0; from < end; from += LANES) {
                v.lanes = 1;
                if (by_lane) {
                    v.at[v.axis] = from;
                    v.lanes = (int)int64_min(LANES, end - from);
                }
                int lanes = v.lanes;
                for (int l = 0; l < LANES; l++)
                    sum[l] = reduction_identity(s->reduction);
                reduce_lanes(&v, sum);
                int64_t place = 0;
                for (int l = 0; l < s->space; l++)
                    place = place * s->extent[l] + v.at[l];
                memcpy(out + place, sum, (size_t)lanes * sizeof *sum);
                if (by_lane)
                    v.at[v.axis] = 0;
            }
        } while (stage_next_point(s, v.space, v.at));
        free(v.value);
    }
    for (int64_t k = 0; k < define_tensor_count(&d->tensor[last]); k++)
        element_put(output, d->tensor[last].element, k, tensor[last][k]);
    for (int i = 0; i < d->tensor_count; i++)
        free(tensor[i]);
}
