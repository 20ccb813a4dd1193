#include "space/order.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_UNARY = 4096 }; // values of a parameter that are filtered by the rules of it alone

struct facts {
    uint64_t *reads;   // of each rule, or of all with the same
    double *log_share; // that these permit
    int rules;
    double log_size[SPACE_MAX_PARAMS]; // of the values that rules of this parameter alone permit
};

// Returns the logarithm of the number of nodes once the slots `assigned` are chosen: the values of
// the slots that later rules read, as far as the rules that are decided permit them.
static double log_nodes(const struct rules *r, const struct facts *f, uint64_t assigned)
{
    uint64_t frontier = 0;
    double sum = 0;
    for (int i = 0; i < f->rules; i++)
        if (f->reads[i] & ~assigned)
            frontier |= f->reads[i] & assigned;
    for (int i = 0; i < r->space->param_count; i++) {
        const struct param *p = &r->space->param[i];
        int live = 0;
        for (int k = 0; k < p->width; k++)
            live += (int)(frontier >> (p->offset + k) & 1);
        sum += f->log_size[i] * live / p->width;
    }
    for (int i = 0; i < f->rules; i++)
        sum += f->reads[i] & ~frontier ? 0 : f->log_share[i];
    return fmax(sum, 0);
}

// Chooses the parameter that leaves the fewest nodes, of those that share a rule with chosen ones
// while there are such.
static struct order order_from(const struct rules *r, const struct facts *f, uint64_t read,
                               int start)
{
    struct order o = {.count = 0};
    uint64_t assigned = 0;
    for (int next = start; next >= 0;) {
        const struct param *p = &r->space->param[next];
        o.work += exp(fmin(log_nodes(r, f, assigned) + f->log_size[next], 600));
        o.param[o.count++] = next;
        assigned |= param_slots(p);
        uint64_t joined = 0;
        for (int i = 0; i < f->rules; i++)
            if (f->reads[i] & assigned && f->reads[i] & ~assigned)
                joined |= f->reads[i];
        double least = INFINITY;
        next = -1;
        for (int i = 0; i < r->space->param_count; i++) {
            uint64_t mine = param_slots(&r->space->param[i]);
            if (!(mine & read) || mine & assigned || (joined && !(mine & joined)))
                continue;
            double nodes = log_nodes(r, f, assigned | mine) + 1e-3 * f->log_size[i];
            if (nodes < least) {
                least = nodes;
                next = i;
            }
        }
    }
    return o;
}

// Filters the values of a parameter by the rules that read nothing else.
static double log_permitted(struct rules *r, int param)
{
    const struct param *p = &r->space->param[param];
    struct config c;
    uint64_t permitted = 0;
    if (p->size > MOST_UNARY)
        return log((double)p->size);
    space_point(r->space, 0, &c);
    for (uint64_t v = 0; v < p->size; v++) {
        bool ok = true;
        param_value(p, v, c.slot + p->offset);
        for (int i = 0; i < r->count && ok; i++)
            if (!(r->rule[i].reads & ~param_slots(p)))
                ok = rules_judge(r, i, &c) != RULE_FORBIDS;
        permitted += ok;
    }
    return log((double)(permitted ? permitted : 1));
}

static bool is_unary(const struct rules *r, uint64_t reads)
{
    for (int i = 0; i < r->space->param_count; i++)
        if (!(reads & ~param_slots(&r->space->param[i])))
            return r->space->param[i].size <= MOST_UNARY;
    return false;
}

struct order order_choose(struct rules *r)
{
    struct order best = {.work = INFINITY};
    const size_t count = (size_t)r->count + 1;
    struct facts f = {.reads = mem_zero(count, sizeof *f.reads),
                      .log_share = mem_zero(count, sizeof *f.log_share)};
    uint64_t read = 0;
    for (int i = 0; i < r->count; i++) {
        uint64_t reads = r->rule[i].reads;
        int same = 0;
        read |= r->rule[i].left_out ? 0 : reads;
        while (same < f.rules && f.reads[same] != reads)
            same++;
        if (r->rule[i].left_out)
            continue;
        f.rules += same == f.rules;
        f.reads[same] = reads;
        if (!is_unary(r, reads)) // else it is in the size
            f.log_share[same] += log(rules_share(r, i));
    }
    for (int i = 0; i < r->space->param_count; i++)
        f.log_size[i] = read & param_slots(&r->space->param[i]) ? log_permitted(r, i) : 0;
    for (int i = 0; i < r->space->param_count; i++) {
        if (!(read & param_slots(&r->space->param[i])))
            continue;
        struct order o = order_from(r, &f, read, i);
        if (o.work < best.work)
            best = o;
    }
    free(f.reads);
    free(f.log_share);
    return best;
}
