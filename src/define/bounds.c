#include "define/bounds.h"

#include "define/evaluate.h"

#include <stdlib.h>
#include <string.h>

// --- ranges ---

static struct range range_of_element(enum element e)
{
    bool is_real = element_is_real(e);
    return (struct range){is_real ? -INFINITY : element_least(e),
                          is_real ? INFINITY : element_most(e)};
}

// Returns the range of a node; `r` has the ranges of its operands.
static struct range range_of(const struct definition *d, const struct define_stage *s,
                             const struct node *n, const struct range *r,
                             const struct range *tensor)
{
    static const struct range all = {-INFINITY, INFINITY};
    struct range a = n->a >= 0 ? r[n->a] : all, b = n->b >= 0 ? r[n->b] : all;
    double by = n->b >= 0 && d->node[n->b].op == NODE_NUMBER ? d->node[n->b].number : 0;
    switch (n->op) {
    case NODE_NUMBER: return (struct range){n->number, n->number};
    case NODE_AXIS: return (struct range){0, (double)s->extent[n->axis] - 1};
    case NODE_READ:
        return tensor ? tensor[n->tensor] : range_of_element(d->tensor[n->tensor].element);
    case NODE_ADD: return (struct range){a.low + b.low, a.high + b.high};
    case NODE_SUBTRACT: return (struct range){a.low - b.high, a.high - b.low};
    case NODE_MULTIPLY: {
        const double corner[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
        struct range range = {INFINITY, -INFINITY};
        for (int i = 0; i < 4; i++) {
            double x = isnan(corner[i]) ? 0 : corner[i]; // 0 * infinity
            range.low = fmin(range.low, x);
            range.high = fmax(range.high, x);
        }
        return range;
    }
    case NODE_FLOOR_DIVIDE:
        return by > 0 ? (struct range){floor(a.low / by), floor(a.high / by)} : all;
    case NODE_MODULO:
        if (by <= 0)
            return all;
        return floor(a.low / by) == floor(a.high / by)
                   ? (struct range){a.low - by * floor(a.low / by),
                                    a.high - by * floor(a.high / by)}
                   : (struct range){0, by - 1};
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

void bounds_ranges(const struct definition *d, const struct define_stage *s, int node,
                   const struct range *tensor, struct range *out)
{
    for (int i = 0; i <= node; i++) // axes of other stages' expressions count as 0
        out[i] = d->node[i].op == NODE_AXIS && d->node[i].axis >= s->space + s->reduce
                     ? (struct range){0, 0}
                     : range_of(d, s, &d->node[i], out, tensor);
}

struct range bounds_range(const struct definition *d, const struct define_stage *s, int node,
                          const struct range *tensor)
{
    struct range r[DEFINE_MAX_NODES];
    bounds_ranges(d, s, node, tensor, r);
    return r[node];
}

// --- checking reads ---

enum { MOST_GUARDS = 64 };
#define MOST_WORK 1e8 // visits of nodes: shared nodes are visited once for each path to them

struct guard { // a select around a read: its condition, and which branch has the read
    int condition;
    bool holds;
};

struct check {
    const struct definition *d;
    const struct define_stage *s;
    struct guard guard[MOST_GUARDS];
    int guards;
    bool *checked; // nodes that were visited without a guard around them
    int64_t at[DEFINE_MAX_AXES];
    double work;
    struct bad_read *out;
};

// Returns the value of an index or condition at the point; NAN where it depends on a read or takes
// too long.
static double value_of(struct check *x, int node)
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

static bool report(struct check *x, int read, int dimension, double index, bool is_certain)
{
    *x->out = (struct bad_read){read, dimension, is_certain, index, {0}};
    memcpy(x->out->at, x->at, sizeof x->at);
    return false;
}

// Tries an index of a read at all points of the axes that it and the guards depend on.
static bool check_index(struct check *x, int read, int dimension)
{
    const struct node *n = &x->d->node[read];
    int index = x->d->index[n->index + dimension];
    double size = (double)x->d->tensor[n->tensor].size[dimension], points = 1;
    struct range r = bounds_range(x->d, x->s, index, NULL);
    unsigned axes = 0;
    if (r.low >= 0 && r.high < size)
        return true;
    for (int i = 0; i < x->s->space + x->s->reduce; i++) {
        bool is_used = definition_depends(x->d, index, i);
        for (int k = 0; k < x->guards && !is_used; k++)
            is_used = definition_depends(x->d, x->guard[k].condition, i);
        axes |= is_used ? 1U << i : 0;
        points *= is_used ? (double)x->s->extent[i] : 1;
    }
    memset(x->at, 0, sizeof x->at);
    if (points > BOUNDS_MOST_TRIES)
        return report(x, read, dimension, r.low < 0 ? r.low : r.high, false);
    do {
        double value = value_of(x, index);
        bool is_selected = true;
        if (isnan(value))
            return report(x, read, dimension, value, false);
        if (value >= 0 && value < size)
            continue;
        for (int i = 0; i < x->guards && is_selected; i++) {
            double holds = value_of(x, x->guard[i].condition);
            is_selected = isnan(holds) || (holds != 0) == x->guard[i].holds;
        }
        if (is_selected)
            return report(x, read, dimension, value, true);
    } while (stage_next_point(x->s, axes, x->at));
    return true;
}

static bool visit(struct check *x, int node)
{
    const struct node *n = &x->d->node[node];
    if (x->guards == 0) {
        if (x->checked[node])
            return true;
        x->checked[node] = true;
    }
    if (++x->work > MOST_WORK)
        return report(x, -1, 0, 0, false);
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
        if (!visit(x, x->d->index[n->index + i]) || !check_index(x, node, i))
            return false;
    return (n->a < 0 || visit(x, n->a)) && (n->b < 0 || visit(x, n->b)) &&
           (n->c < 0 || visit(x, n->c));
}

bool bounds_check(const struct definition *d, const struct define_stage *s, struct bad_read *out)
{
    struct check x = {.d = d, .s = s, .out = out};
    x.checked = mem_zero((size_t)d->node_count, sizeof *x.checked);
    bool ok = visit(&x, s->body);
    free(x.checked);
    return ok;
}
