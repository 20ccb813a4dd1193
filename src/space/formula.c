#include "space/formula.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void formulas_finish(struct formulas *f)
{
    free(f->node);
    free(f->bucket);
    *f = (struct formulas){0};
}

static bool is_same(const struct formula_node *x, const struct formula_node *y)
{
    return x->op == y->op && x->a == y->a && x->b == y->b && x->c == y->c &&
           x->constant == y->constant;
}

// The bucket that holds the node, or the empty one that it belongs into.
static int find(const struct formulas *f, const struct formula_node *n)
{
    uint64_t mask = (uint64_t)f->buckets - 1;
    double key[5] = {n->constant + 0.0, (double)n->op, n->a, n->b, n->c};
    uint64_t at = hash_bytes(key, sizeof key) & mask;
    while (f->bucket[at] && !is_same(&f->node[f->bucket[at] - 1], n))
        at = (at + 1) & mask;
    return (int)at;
}

static void widen(struct formulas *f)
{
    free(f->bucket);
    f->buckets = f->buckets ? 2 * f->buckets : 64;
    f->bucket = mem_zero((size_t)f->buckets, sizeof *f->bucket);
    for (int i = 0; i < f->count; i++)
        f->bucket[find(f, &f->node[i])] = i + 1;
}

static int node(struct formulas *f, struct formula_node n)
{
    if (2 * f->count >= f->buckets)
        widen(f);
    int at = find(f, &n);
    if (f->bucket[at])
        return f->bucket[at] - 1;
    MEM_GROW(f->node, f->count, f->capacity);
    f->node[f->count++] = n;
    f->bucket[at] = f->count;
    return f->count - 1;
}

int formulas_constant(struct formulas *f, double constant)
{
    // + 0.0: no negative zero
    return node(f, (struct formula_node){.op = FORMULA_CONSTANT, .constant = constant + 0.0});
}

int formulas_slot(struct formulas *f, int slot)
{
    return node(f, (struct formula_node){.op = FORMULA_SLOT, .a = slot});
}

int formulas_number(struct formulas *f, int param)
{
    return node(f, (struct formula_node){.op = FORMULA_NUMBER, .a = param});
}

int formulas_place(struct formulas *f, int param, int item)
{
    return node(f, (struct formula_node){.op = FORMULA_PLACE, .a = param, .b = item});
}

static int operands(enum formula_op op)
{
    return op == FORMULA_NOT ? 1 : op == FORMULA_CHOOSE ? 3 : 2;
}

#define DIVISOR_MOST 65536 // the root of what fits 32 bits: enough for every size

// In pairs: d and a / d, for d up to the root of a.
static double divisor(double a, double b)
{
    double best = 1;
    if (!(a < 9007199254740992.0) || b < 2)
        return best;
    int64_t n = (int64_t)a, most = b < a ? (int64_t)b : n;
    for (int64_t d = 1; d * d <= n && d <= DIVISOR_MOST; d++)
        if (n % d == 0) {
            if (d <= most && (double)d > best)
                best = (double)d;
            if (n / d <= most && (double)(n / d) > best)
                best = (double)(n / d);
        }
    return best;
}

static double combine(enum formula_op op, double a, double b, double c)
{
    switch (op) {
    case FORMULA_ADD: return a + b;
    case FORMULA_SUBTRACT: return a - b;
    case FORMULA_MULTIPLY: return a * b;
    case FORMULA_DIVIDE: return b == 0 ? 0 : floor(a / b);
    case FORMULA_MODULO: return b == 0 ? 0 : a - b * floor(a / b);
    case FORMULA_CEIL_DIVIDE: return b == 0 ? 0 : ceil(a / b);
    case FORMULA_MIN: return a < b ? a : b;
    case FORMULA_MAX: return a > b ? a : b;
    case FORMULA_DIVISOR: return divisor(a, b);
    case FORMULA_EQUAL: return a == b;
    case FORMULA_LESS: return a < b;
    case FORMULA_NOT: return a == 0;
    case FORMULA_AND: return a != 0 && b != 0;
    case FORMULA_OR: return a != 0 || b != 0;
    case FORMULA_CHOOSE: return a != 0 ? b : c;
    case FORMULA_CONSTANT:
    case FORMULA_SLOT:
    case FORMULA_NUMBER:
    case FORMULA_PLACE: break;
    }
    return 0;
}

bool formulas_is_constant(const struct formulas *f, int n, double constant)
{
    return f->node[n].op == FORMULA_CONSTANT && f->node[n].constant == constant;
}

// The node that the operation comes down to, or -1.
static int simpler(struct formulas *f, enum formula_op op, int a, int b, int c)
{
    const struct formula_node *n = f->node;
    if (op == FORMULA_CHOOSE)
        return b == c ? b : n[a].op == FORMULA_CONSTANT ? (n[a].constant != 0 ? b : c) : -1;
    if (n[a].op == FORMULA_CONSTANT && (op == FORMULA_NOT || n[b].op == FORMULA_CONSTANT))
        return formulas_constant(f, combine(op, n[a].constant, n[b].constant, 0));
    if (op == FORMULA_ADD && formulas_is_constant(f, a, 0))
        return b;
    if ((op == FORMULA_ADD || op == FORMULA_SUBTRACT) && formulas_is_constant(f, b, 0))
        return a;
    if (op == FORMULA_MULTIPLY && (formulas_is_constant(f, a, 1) || formulas_is_constant(f, b, 0)))
        return b;
    if (op == FORMULA_MULTIPLY && (formulas_is_constant(f, b, 1) || formulas_is_constant(f, a, 0)))
        return a;
    if ((op == FORMULA_DIVIDE || op == FORMULA_CEIL_DIVIDE) && formulas_is_constant(f, b, 1))
        return a;
    return -1;
}

static bool is_symmetric(enum formula_op op)
{
    return op == FORMULA_ADD || op == FORMULA_MULTIPLY || op == FORMULA_MIN || op == FORMULA_MAX ||
           op == FORMULA_EQUAL || op == FORMULA_AND || op == FORMULA_OR;
}

int formulas_add(struct formulas *f, enum formula_op op, int a, int b, int c)
{
    int count = operands(op);
    b = count > 1 ? b : 0;
    c = count > 2 ? c : 0;
    int known = simpler(f, op, a, b, c);
    if (known >= 0)
        return known;
    if (is_symmetric(op) && a > b) {
        int first = b;
        b = a;
        a = first;
    }
    return node(f, (struct formula_node){.op = op, .a = a, .b = b, .c = c});
}

static double place(const struct param *p, const int32_t *order, int item)
{
    int at = 0;
    while (at < p->count - 1 && order[at] != item)
        at++;
    return at;
}

void formulas_evaluate(const struct formulas *f, const struct space *s, const struct config *c,
                       double *value)
{
    for (int i = 0; i < f->count; i++) {
        const struct formula_node *n = &f->node[i];
        switch (n->op) {
        case FORMULA_CONSTANT: value[i] = n->constant; break;
        case FORMULA_SLOT: value[i] = c->slot[n->a]; break;
        case FORMULA_NUMBER:
            value[i] = s->param[n->a].number[c->slot[s->param[n->a].offset]];
            break;
        case FORMULA_PLACE:
            value[i] = place(&s->param[n->a], c->slot + s->param[n->a].offset, n->b);
            break;
        default: value[i] = combine(n->op, value[n->a], value[n->b], value[n->c]); break;
        }
    }
}
