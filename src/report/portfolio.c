#include "report/portfolio.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

struct finder {
    const struct portfolio_problem *problem;
    double best[PORTFOLIO_MOST_SHAPES];
};

static bool has(uint32_t set, int shape)
{
    return set >> shape & 1;
}

double portfolio_best(const struct portfolio_problem *p, int shape)
{
    double best = 0;
    for (int c = 0; c < p->candidates; c++) {
        double s = p->seconds[shape * p->candidates + c];
        if (s > 0 && (best <= 0 || s < best))
            best = s;
    }
    return best;
}

// Compares costs; differences that come from the order of summation do not count.
static bool is_less(const double a[2], const double b[2])
{
    const double rounding = 1e-9;
    return isfinite(a[0]) && (a[0] < b[0] * (1 - rounding) ||
                              (a[0] <= b[0] * (1 + rounding) && a[1] < b[1] - rounding));
}

// Adds the cost of another shape or set of shapes.
static void add_cost(const struct finder *f, const double other[2], double cost[2])
{
    cost[0] = f->problem->by_worst ? fmax(cost[0], other[0]) : cost[0] + other[0];
    cost[1] += other[1];
}

static void find_cost(const struct finder *f, uint32_t set, int candidate, double cost[2])
{
    const struct portfolio_problem *p = f->problem;
    cost[0] = cost[1] = 0;
    for (int i = 0; i < p->shapes; i++) {
        double s = p->seconds[i * p->candidates + candidate];
        if (!has(set, i))
            continue;
        if (s <= 0) {
            cost[0] = INFINITY;
            return;
        }
        const double of_time[2] = {p->weight[i] * s, 0},
                     of_ratio[2] = {s / f->best[i], p->weight[i] * log(s / f->best[i])};
        add_cost(f, p->by_worst ? of_ratio : of_time, cost);
    }
}

// Appends the nodes of one rule to another; returns the index of the first.
static int append(struct portfolio *to, const struct portfolio *from)
{
    int first = to->nodes;
    for (int i = 0; i < from->nodes; i++) {
        struct portfolio_node *n = &to->node[to->nodes++];
        *n = from->node[i];
        n->below += first;
        n->above += first;
    }
    return first;
}

struct cut {
    int axis;
    double most;
    uint32_t below;
};

// Returns the cut of a set at the size of a shape. `below` is 0 when this cuts nothing, or repeats
// the cut of an earlier shape.
static struct cut cut_at(const struct finder *f, uint32_t set, int axis, int shape)
{
    const struct portfolio_problem *p = f->problem;
    struct cut cut = {.axis = axis, .most = p->size[shape * p->axes + axis]};
    for (int i = 0; i < p->shapes; i++) {
        double size = p->size[i * p->axes + axis];
        bool is_known = i < shape && size >= cut.most && size <= cut.most;
        if (!has(set, i))
            continue;
        if (is_known)
            return (struct cut){.below = 0};
        if (size <= cut.most)
            cut.below |= UINT32_C(1) << i;
    }
    if (!has(set, shape) || cut.below == set)
        cut.below = 0;
    return cut;
}

// Finds the best rule with at most `most` configurations for the shapes of a set.
static void find(const struct finder *f, uint32_t set, int most, struct portfolio *out)
{
    struct portfolio below, above, joined;
    if (most == 1) {
        double cost[2];
        *out = (struct portfolio){.nodes = 1, .node[0].axis = -1, .cost[0] = INFINITY};
        for (int c = 0; c < f->problem->candidates; c++) {
            find_cost(f, set, c, cost);
            if (!is_less(cost, out->cost))
                continue;
            memcpy(out->cost, cost, sizeof cost);
            out->node[0].candidate = c;
        }
        for (int i = 0; i < f->problem->shapes; i++)
            if (has(set, i))
                out->candidate[i] = out->node[0].candidate;
    } else
        find(f, set, most - 1, out);
    for (int axis = 0; most > 1 && axis < f->problem->axes; axis++)
        for (int i = 0; i < f->problem->shapes; i++) {
            struct cut cut = cut_at(f, set, axis, i);
            for (int few = 1; cut.below && few < most; few++) {
                find(f, cut.below, few, &below);
                find(f, set & ~cut.below, most - few, &above);
                joined = (struct portfolio){.nodes = 1};
                memcpy(joined.cost, below.cost, sizeof joined.cost);
                add_cost(f, above.cost, joined.cost);
                joined.node[0] = (struct portfolio_node){.axis = cut.axis, .most = cut.most};
                joined.node[0].below = append(&joined, &below);
                joined.node[0].above = append(&joined, &above);
                for (int j = 0; j < f->problem->shapes; j++)
                    joined.candidate[j] =
                        has(cut.below, j) ? below.candidate[j] : above.candidate[j];
                if (is_less(joined.cost, out->cost))
                    *out = joined;
            }
        }
}

bool portfolio_find(const struct portfolio_problem *p, int most, struct portfolio *out)
{
    struct finder f = {.problem = p};
    for (int i = 0; i < p->shapes; i++)
        f.best[i] = portfolio_best(p, i);
    find(&f, (uint32_t)((UINT64_C(1) << p->shapes) - 1), most, out);
    return isfinite(out->cost[0]);
}
