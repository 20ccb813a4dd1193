#include "define/product.h"

#include <stdlib.h>

enum { LEAST_LENGTH = 8 };

// What a number is before a choice says what it is taken with: 0 and 1 are of any type.
#define ANY_ELEMENT ELEMENT_COUNT

static enum element plain_element(const struct node *n)
{
    return n->is_real ? ELEMENT_F32 : ELEMENT_I32;
}

static enum element element_of(const struct definition *d, int node);

static enum element element_read(const struct definition *d, const struct node *n)
{
    if (n->tensor < d->inputs)
        return d->tensor[n->tensor].element;
    const struct define_stage *s = &d->stage[n->tensor - d->inputs];
    return s->reduction == REDUCE_NONE ? element_of(d, s->body) : plain_element(n);
}

// The narrowest type that holds all that the expression can be.
static enum element element_of(const struct definition *d, int node)
{
    const struct node *n = &d->node[node];
    if (n->op == NODE_READ)
        return element_read(d, n);
    if (n->op == NODE_NUMBER && (n->number == 0 || n->number == 1))
        return ANY_ELEMENT;
    if (n->op == NODE_CAST && n->element == ELEMENT_F16)
        return ELEMENT_F16;
    if (n->op == NODE_CAST && n->element == ELEMENT_F32 && d->node[n->a].is_real)
        return element_of(d, n->a);
    if (n->op != NODE_SELECT)
        return plain_element(n);
    enum element a = element_of(d, n->b), b = element_of(d, n->c);
    bool alike = d->node[n->b].is_real == d->node[n->c].is_real;
    return !alike             ? plain_element(n)
           : a == ANY_ELEMENT ? b
           : b == ANY_ELEMENT ? a
           : a == b           ? a
                              : plain_element(n);
}

static unsigned axes_of(const struct definition *d, const struct define_stage *s, int node)
{
    unsigned axes = 0;
    for (int a = 0; a < s->space + s->reduce; a++)
        axes |= s->extent[a] > 1 && definition_depends(d, node, a) ? 1U << a : 0;
    return axes;
}

static int64_t points(const struct define_stage *s, unsigned axes)
{
    int64_t n = 1;
    for (int a = 0; a < s->space + s->reduce; a++)
        n *= axes >> a & 1 ? s->extent[a] : 1;
    return n;
}

// Whether numbers that are neighbours in memory are so along the last of the axes; of several reads
// the first one tells.
static bool runs_along(const struct definition *d, int node, const struct define_stage *s,
                       unsigned axes)
{
    int *order = mem_alloc(((size_t)node + 1) * sizeof *order), last = s->space + s->reduce - 1;
    int count = definition_nodes_of(d, node, order);
    bool along = false;
    while (last > 0 && !(axes >> last & 1 && s->extent[last] > 1))
        last--;
    for (int i = 0; i < count; i++) {
        const struct node *n = &d->node[order[i]];
        double place[DEFINE_AFFINE] = {0};
        if (n->op != NODE_READ)
            continue;
        definition_affine_place(d, order[i], place);
        along = place[last] == 1;
        break;
    }
    free(order);
    return along;
}

bool product_find(const struct definition *d, const struct define_stage *s, struct product *out)
{
    const struct node *body = &d->node[s->body];
    if (s->reduction != REDUCE_SUM || body->op != NODE_MULTIPLY || !s->reduce)
        return false;
    unsigned all = (1U << s->space) - 1;
    unsigned a = axes_of(d, s, body->a) & all, b = axes_of(d, s, body->b) & all;
    *out = (struct product){.axes = {all & ~(a ^ b), a & ~b, b & ~a},
                            .reduced = ((1U << s->reduce) - 1) << s->space,
                            .factor = {body->a, body->b},
                            .element = element_of(d, body->a)};
    if (out->axes[PRODUCT_ROWS] > out->axes[PRODUCT_COLUMNS]) // neighbours are in a row
        *out = (struct product){.axes = {out->axes[PRODUCT_BATCH], b & ~a, a & ~b},
                                .reduced = out->reduced,
                                .factor = {body->b, body->a},
                                .element = out->element};
    for (int i = 0; i < 2; i++)
        out->along[i] = runs_along(d, out->factor[i], s, out->reduced);
    return out->element != ANY_ELEMENT && out->element == element_of(d, body->b) &&
           body->is_real == d->node[body->a].is_real && body->is_real == d->node[body->b].is_real &&
           points(s, out->axes[PRODUCT_ROWS]) >= LEAST_LENGTH &&
           points(s, out->axes[PRODUCT_COLUMNS]) >= LEAST_LENGTH &&
           points(s, out->reduced) >= LEAST_LENGTH;
}

bool product_fits(const struct product *p, bool is_real, const struct matrix_shape *shape)
{
    return str_equal(shape->input, element_name(p->element)) &&
           str_equal(shape->sum, is_real ? "f32" : "i32");
}
