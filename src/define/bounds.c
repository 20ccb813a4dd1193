#include "define/bounds.h"

#include "define/arithmetic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- ranges ---

static struct range product(struct range a, struct range b)
{
    const double corner[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
    struct range r = {INFINITY, -INFINITY};
    for (int i = 0; i < 4; i++) {
        double x = isnan(corner[i]) ? 0 : corner[i]; // 0 * infinity
        r.low = fmin(r.low, x);
        r.high = fmax(r.high, x);
    }
    return r;
}

static struct range modulo(struct range a, double b)
{
    bool stays = floor(a.low / b) == floor(a.high / b);
    double low = a.low - b * floor(a.low / b), high = a.high - b * floor(a.high / b);
    return stays ? (struct range){low, high} : (struct range){0, b - 1};
}

static struct range whole_of(enum element e)
{
    return e == ELEMENT_I8    ? (struct range){-128, 127}
           : e == ELEMENT_I32 ? (struct range){INT32_MIN, INT32_MAX}
                              : (struct range){-INFINITY, INFINITY};
}

static struct range of_node(const struct definition *d, const struct define_stage *s,
                            const struct node *n, const struct range *r, const struct range *tensor)
{
    const struct range all = {-INFINITY, INFINITY};
    struct range a = n->a >= 0 ? r[n->a] : all, b = n->b >= 0 ? r[n->b] : all;
    double by = n->b >= 0 && d->node[n->b].op == NODE_NUMBER ? d->node[n->b].number : 0;
    switch (n->op) {
    case NODE_NUMBER: return (struct range){n->number, n->number};
    case NODE_AXIS: return (struct range){0, (double)s->extent[n->axis] - 1};
    case NODE_READ: return tensor ? tensor[n->tensor] : whole_of(d->tensor[n->tensor].element);
    case NODE_ADD: return (struct range){a.low + b.low, a.high + b.high};
    case NODE_SUBTRACT: return (struct range){a.low - b.high, a.high - b.low};
    case NODE_MULTIPLY: return product(a, b);
    case NODE_FLOOR_DIVIDE:
        return by > 0 ? (struct range){floor(a.low / by), floor(a.high / by)} : all;
    case NODE_MODULO: return by > 0 ? modulo(a, by) : all;
    case NODE_MIN: return (struct range){fmin(a.low, b.low), fmin(a.high, b.high)};
    case NODE_MAX: return (struct range){fmax(a.low, b.low), fmax(a.high, b.high)};
    case NODE_LESS:
    case NODE_AT_MOST:
    case NODE_EQUAL: return (struct range){0, 1};
    case NODE_SELECT: return (struct range){fmin(b.low, r[n->c].low), fmax(b.high, r[n->c].high)};
    case NODE_CAST:
        return n->is_real ? a : (struct range){ceil(fmin(a.low, 0)), floor(fmax(a.high, 0))};
    default: return all;
    }
}

struct range bounds_range(const struct definition *d, const struct define_stage *s, int node,
                          const struct range *tensor)
{
    struct range *r = mem_alloc(((size_t)node + 1) * sizeof *r), result;
    for (int i = 0; i <= node; i++) // what another stage's expression is made of does no harm
        r[i] = d->node[i].op == NODE_AXIS && d->node[i].axis >= s->space + s->reduce
                   ? (struct range){0, 0}
                   : of_node(d, s, &d->node[i], r, tensor);
    result = r[node];
    free(r);
    return result;
}

// --- by trying ---

enum { MOST_GUARDS = 64 };
#define MOST_WORK 1e8 // nodes that are looked at: shared parts are met again and again

struct guard { // a condition around a read, and whether it holds there
    int condition;
    bool holds;
};

struct search {
    const struct definition *d;
    const struct define_stage *s;
    struct guard guard[MOST_GUARDS];
    int guards;
    bool *seen; // nodes that were checked with no guard around them
    int64_t at[DEFINE_MAX_AXES];
    double work;
    struct misread *out;
};

// Of an index or condition; NAN where it depends on what is read, and where it takes too long.
static double value_of(struct search *x, int node)
{
    const struct node *n = &x->d->node[node];
    if (n->op == NODE_READ || ++x->work > MOST_WORK)
        return NAN;
    if (n->op == NODE_NUMBER || n->op == NODE_AXIS)
        return n->op == NODE_NUMBER ? n->number : (double)x->at[n->axis];
    double a = value_of(x, n->a);
    if (isnan(a))
        return NAN;
    if (n->op == NODE_SELECT)
        return value_of(x, a != 0 ? n->b : n->c);
    double b = n->b >= 0 ? value_of(x, n->b) : 0;
    return isnan(b) ? NAN : node_value(n, a, b, 0);
}

static bool is_guarded_off(struct search *x)
{
    for (int i = 0; i < x->guards; i++) {
        double value = value_of(x, x->guard[i].condition);
        if (!isnan(value) && (value != 0) != x->guard[i].holds)
            return true;
    }
    return false;
}

static int axes_of(const struct search *x, int node, bool *uses)
{
    int added = 0;
    for (int i = 0; i < x->s->space + x->s->reduce; i++) {
        bool depends = !uses[i] && definition_depends(x->d, node, i);
        uses[i] = uses[i] || depends;
        added += depends;
    }
    return added;
}

// The next point of the axes in use; false: it was the last one.
static bool advance(struct search *x, const bool *uses)
{
    for (int i = x->s->space + x->s->reduce - 1; i >= 0; i--) {
        if (!uses[i])
            continue;
        if (++x->at[i] < x->s->extent[i])
            return true;
        x->at[i] = 0;
    }
    return false;
}

static bool complain(struct search *x, int read, int dimension, double index, bool is_certain)
{
    *x->out = (struct misread){read, dimension, is_certain, index, {0}};
    memcpy(x->out->at, x->at, sizeof x->at);
    return false;
}

static bool try_all(struct search *x, int read, int dimension)
{
    const struct node *n = &x->d->node[read];
    int index = x->d->index[n->index + dimension];
    double size = (double)x->d->tensor[n->tensor].size[dimension];
    struct range r = bounds_range(x->d, x->s, index, NULL);
    bool uses[DEFINE_MAX_AXES] = {false};
    if (r.low >= 0 && r.high < size)
        return true;
    axes_of(x, index, uses);
    for (int i = 0; i < x->guards; i++)
        axes_of(x, x->guard[i].condition, uses);
    memset(x->at, 0, sizeof x->at);
    double points = 1;
    for (int i = 0; i < x->s->space + x->s->reduce; i++)
        points *= uses[i] ? (double)x->s->extent[i] : 1;
    if (points > BOUNDS_MOST_TRIES)
        return complain(x, read, dimension, r.low < 0 ? r.low : r.high, false);
    do {
        double value = value_of(x, index);
        if (isnan(value))
            return complain(x, read, dimension, value, false);
        if ((value < 0 || value >= size) && !is_guarded_off(x))
            return complain(x, read, dimension, value, true);
    } while (advance(x, uses));
    return true;
}

static bool visit(struct search *x, int node);

static bool visit(struct search *x, int node)
{
    const struct node *n = &x->d->node[node];
    if (x->guards == 0) {
        if (x->seen[node])
            return true;
        x->seen[node] = true;
    }
    if (++x->work > MOST_WORK)
        return complain(x, -1, 0, 0, false);
    if (n->op == NODE_SELECT) {
        if (!visit(x, n->a))
            return false;
        if (x->guards == MOST_GUARDS)
            return visit(x, n->b) && visit(x, n->c);
        x->guard[x->guards++] = (struct guard){n->a, true};
        bool ok = visit(x, n->b);
        x->guard[x->guards - 1].holds = false;
        ok = ok && visit(x, n->c);
        x->guards--;
        return ok;
    }
    for (int i = 0; n->op == NODE_READ && i < x->d->tensor[n->tensor].rank; i++)
        if (!visit(x, x->d->index[n->index + i]) || !try_all(x, node, i))
            return false;
    return (n->a < 0 || visit(x, n->a)) && (n->b < 0 || visit(x, n->b)) &&
           (n->c < 0 || visit(x, n->c));
}

bool bounds_check(const struct definition *d, const struct define_stage *s, struct misread *out)
{
    struct search x = {.d = d, .s = s, .out = out};
    x.seen = mem_zero((size_t)d->node_count, sizeof *x.seen);
    bool ok = visit(&x, s->body);
    free(x.seen);
    return ok;
}
