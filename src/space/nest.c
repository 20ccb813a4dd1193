#include "space/nest.h"

#include "base/number.h"

#include <math.h>
#include <stdlib.h>

// --- formulas ---

void formulas_finish(struct formulas *f)
{
    free(f->node);
    free(f->bucket);
    *f = (struct formulas){0};
}

// Returns the bucket that holds the node, or the empty one for it.
static int find(const struct formulas *f, const struct formula_node *n)
{
    uint64_t mask = (uint64_t)f->buckets - 1;
    double key[5] = {n->constant + 0.0, (double)n->op, n->a, n->b, n->c};
    for (uint64_t at = hash_bytes(key, sizeof key) & mask;; at = (at + 1) & mask) {
        const struct formula_node *m = f->bucket[at] ? &f->node[f->bucket[at] - 1] : NULL;
        if (!m || (m->op == n->op && m->a == n->a && m->b == n->b && m->c == n->c &&
                   m->constant == n->constant))
            return (int)at;
    }
}

static int node(struct formulas *f, struct formula_node n)
{
    if (2 * f->count >= f->buckets) {
        free(f->bucket);
        f->buckets = f->buckets ? 2 * f->buckets : 64;
        f->bucket = mem_zero((size_t)f->buckets, sizeof *f->bucket);
        for (int i = 0; i < f->count; i++)
            f->bucket[find(f, &f->node[i])] = i + 1;
    }
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

#define DIVISOR_MOST 65536 // the root of 2^32: enough for every size

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
    case FORMULA_DIVISOR: {
        // Divisors come in pairs: d and a / d, for d up to the root of a.
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

// Returns a node that has the same value as the operation, or -1.
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

int formulas_add(struct formulas *f, enum formula_op op, int a, int b, int c)
{
    b = op == FORMULA_NOT ? 0 : b;
    c = op == FORMULA_CHOOSE ? c : 0;
    int known = simpler(f, op, a, b, c);
    if (known >= 0)
        return known;
    bool is_symmetric = op == FORMULA_ADD || op == FORMULA_MULTIPLY || op == FORMULA_MIN ||
                        op == FORMULA_MAX || op == FORMULA_EQUAL || op == FORMULA_AND ||
                        op == FORMULA_OR;
    bool swap = is_symmetric && a > b;
    return node(f, (struct formula_node){.op = op, .a = swap ? b : a, .b = swap ? a : b, .c = c});
}

void formulas_evaluate(const struct formulas *f, const struct space *s, const struct config *c,
                       double *value)
{
    for (int i = 0; i < f->count; i++) {
        const struct formula_node *n = &f->node[i];
        bool is_of_param = n->op == FORMULA_NUMBER || n->op == FORMULA_PLACE;
        const struct param *p = is_of_param ? &s->param[n->a] : NULL;
        int at = 0;
        switch (n->op) {
        case FORMULA_CONSTANT: value[i] = n->constant; break;
        case FORMULA_SLOT: value[i] = c->slot[n->a]; break;
        case FORMULA_NUMBER: value[i] = p->number[c->slot[p->offset]]; break;
        case FORMULA_PLACE:
            while (at < p->count - 1 && c->slot[p->offset + at] != n->b)
                at++;
            value[i] = at;
            break;
        default: value[i] = combine(n->op, value[n->a], value[n->b], value[n->c]); break;
        }
    }
}

// --- nests ---

static const char *const kind_names[NEST_LOOP_KINDS] = {
    [NEST_BLOCK_X] = "block_x",   [NEST_BLOCK_Y] = "block_y",       [NEST_BLOCK_Z] = "block_z",
    [NEST_THREAD_X] = "thread_x", [NEST_THREAD_Y] = "thread_y",     [NEST_THREAD_Z] = "thread_z",
    [NEST_UNROLLED] = "unrolled", [NEST_VECTORIZED] = "vectorized", [NEST_PARALLEL] = "parallel",
    [NEST_SERIAL] = "serial",     [NEST_VIRTUAL] = "virtual",
};

const char *nest_loop_kind_name(enum nest_loop_kind k)
{
    return kind_names[k];
}

// Blocks, threads and parallel loops do not run in turn.
static bool is_launched(enum nest_loop_kind k)
{
    return k <= NEST_THREAD_Z || k == NEST_PARALLEL;
}

const char *nest_memory_name(enum nest_memory m)
{
    static const char *const names[] = {"global", "shared", "registers"};
    return names[m];
}

struct nest *nest_create(void)
{
    struct nest *n = mem_zero(1, sizeof *n);
    arena_init(&n->arena);
    n->loop = arena_zero(&n->arena, NEST_MAX_LOOPS, sizeof *n->loop);
    n->buffer = arena_zero(&n->arena, NEST_MAX_BUFFERS, sizeof *n->buffer);
    n->statement = arena_zero(&n->arena, NEST_MAX_STATEMENTS, sizeof *n->statement);
    n->unroll = -1;
    return n;
}

void nest_seal(struct nest *n)
{
    n->path_total = n->stride_total = n->most_path = 0;
    for (int i = 0; i < n->statement_count; i++) {
        struct nest_statement *s = &n->statement[i];
        s->first_path = n->path_total;
        s->first_stride = n->stride_total;
        n->path_total += s->loop_count;
        n->stride_total += s->loop_count * s->access_count;
        n->most_path = s->loop_count > n->most_path ? s->loop_count : n->most_path;
    }
}

void nest_destroy(struct nest *n)
{
    if (!n)
        return;
    formulas_finish(&n->formulas);
    arena_finish(&n->arena);
    free(n);
}

// --- points ---

void nest_point_init(struct nest_point *p, const struct nest *n)
{
    *p = (struct nest_point){
        .nest = n,
        .value = mem_zero((size_t)n->formulas.count, sizeof *p->value),
        .length = mem_zero((size_t)n->loop_count, sizeof *p->length),
        .present = mem_zero((size_t)n->statement_count, sizeof *p->present),
        .path = mem_zero((size_t)n->path_total, sizeof *p->path),
        .stride = mem_zero((size_t)n->stride_total, sizeof *p->stride),
        .position = mem_zero((size_t)n->loop_count, sizeof *p->position),
    };
}

void nest_point_finish(struct nest_point *p)
{
    free(p->value);
    free(p->length);
    free(p->present);
    free(p->path);
    free(p->stride);
    free(p->position);
    *p = (struct nest_point){0};
}

void nest_evaluate(const struct nest *n, const struct space *space, const struct config *c,
                   struct nest_point *p)
{
    formulas_evaluate(&n->formulas, space, c, p->value);
    for (int i = 0; i < n->loop_count; i++) {
        double length = p->value[n->loop[i].length];
        p->length[i] = length > 1 ? length : 1;
    }
    for (int i = 0; i < n->statement_count; i++) {
        const struct nest_statement *s = &n->statement[i];
        int *path = p->path + s->first_path;
        p->present[i] = p->value[s->when] != 0;
        // Copy the declared path; sort each run of loops that have a place by it (insertion sort,
        // stable).
        for (int j = 0; j < s->loop_count; j++) {
            int loop = s->loop[j], place = p->nest->loop[loop].place, at = j;
            for (; place >= 0 && at > 0; at--) {
                int before = p->nest->loop[path[at - 1]].place;
                if (before < 0 || p->value[before] <= p->value[place])
                    break;
                path[at] = path[at - 1];
            }
            path[at] = loop;
        }
        for (int at = 0; at < s->loop_count; at++)
            p->position[path[at]] = at;
        const double *value = p->value;
        for (int a = 0; a < s->access_count; a++) {
            const struct nest_access *access = &s->access[a];
            const struct nest_buffer *b = &p->nest->buffer[access->buffer];
            double *stride = p->stride + s->first_stride + a * s->loop_count, unit = 1;
            for (int k = 0; k < s->loop_count; k++)
                stride[k] = 0;
            for (int d = b->dim_count - 1; d >= 0; d--) {
                for (int t = 0; t < access->dim[d].count; t++) {
                    const struct nest_term *term = &access->dim[d].term[t];
                    stride[p->position[term->loop]] += value[term->coefficient] * unit;
                }
                unit *= value[b->dim[d]];
            }
        }
    }
}

double nest_touched(const struct nest_point *p, int statement, int access, int count)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    const struct nest_access *a = &s->access[access];
    const struct nest_buffer *b = &p->nest->buffer[a->buffer];
    const int *path = nest_path(p, statement);
    double touched = 1;
    for (int d = 0; d < b->dim_count; d++) {
        double span = 1, iterations = 1;
        for (int t = 0; t < a->dim[d].count; t++) {
            const struct nest_term *term = &a->dim[d].term[t];
            double coefficient = p->value[term->coefficient], length = p->length[term->loop];
            bool runs = false;
            for (int i = s->loop_count - count; i < s->loop_count && !runs; i++)
                runs = path[i] == term->loop;
            if (!runs || coefficient == 0)
                continue;
            span += (coefficient < 0 ? -coefficient : coefficient) * (length - 1);
            iterations *= length;
        }
        touched *= double_min(double_min(span, iterations), p->value[b->dim[d]]);
    }
    return touched;
}

double nest_buffer_bytes(const struct nest_point *p, int buffer)
{
    const struct nest_buffer *b = &p->nest->buffer[buffer];
    if (p->value[b->used] == 0)
        return 0;
    double bytes = b->bytes * p->value[b->copies];
    for (int d = 0; d < b->dim_count; d++)
        bytes *= p->value[b->dim[d]];
    return bytes;
}

double nest_executions(const struct nest_point *p, int statement)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    double count = p->present[statement];
    for (int i = 0; i < s->loop_count; i++)
        if (!is_launched(p->nest->loop[s->loop[i]].kind))
            count *= p->length[s->loop[i]];
    return count;
}

double nest_all_executions(const struct nest_point *p, int statement)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    double count = p->present[statement];
    for (int i = 0; i < s->loop_count; i++)
        count *= p->length[s->loop[i]];
    return count;
}

double nest_memory_bytes(const struct nest_point *p, enum nest_memory m)
{
    double bytes = 0;
    for (int i = 0; i < p->nest->buffer_count; i++)
        if (p->nest->buffer[i].memory == m)
            bytes += nest_buffer_bytes(p, i);
    return bytes;
}

double nest_flops(const struct nest_point *p)
{
    double flops = 0;
    for (int i = 0; i < p->nest->statement_count; i++) {
        const struct nest_statement *s = &p->nest->statement[i];
        flops += nest_all_executions(p, i) *
                 (p->value[s->add] + p->value[s->multiply] + p->value[s->divide] +
                  p->value[s->compare] + p->value[s->special]);
    }
    return flops;
}

double nest_product(const struct nest_point *p, int statement, enum nest_loop_kind first,
                    enum nest_loop_kind last)
{
    const int *path = nest_path(p, statement);
    double product = 1;
    for (int i = 0; i < p->nest->statement[statement].loop_count; i++) {
        enum nest_loop_kind kind = p->nest->loop[path[i]].kind;
        if (kind >= first && kind <= last)
            product *= p->length[path[i]];
    }
    return product;
}

int nest_common_loops(const struct nest_point *p, int one, int other)
{
    const struct nest_statement *a = &p->nest->statement[one], *b = &p->nest->statement[other];
    const int *x = nest_path(p, one), *y = nest_path(p, other);
    int common = 0;
    while (common < a->loop_count && common < b->loop_count && x[common] == y[common])
        common++;
    return common;
}

double nest_trips(const struct nest_point *p)
{
    double trips = 0;
    for (int i = 0; i < p->nest->statement_count; i++) {
        if (!p->present[i])
            continue;
        int counted = 0; // loops that an earlier statement shares
        for (int j = 0; j < i; j++) {
            int common = p->present[j] ? nest_common_loops(p, i, j) : 0;
            counted = common > counted ? common : counted;
        }
        double runs = 1;
        for (int at = 0; at < p->nest->statement[i].loop_count; at++) {
            int loop = nest_path(p, i)[at];
            enum nest_loop_kind kind = p->nest->loop[loop].kind;
            runs *= is_launched(kind) ? 1 : p->length[loop];
            if (at >= counted && kind == NEST_SERIAL && p->length[loop] > 1)
                trips += runs;
        }
    }
    return trips;
}
