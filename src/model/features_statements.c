#include "model/features_statements.h"

#include "base/number.h"
#include "model/feature_kind.h"

#include <string.h>

static const double line_bytes = 64;

// The elements that nest_touched counts, for every number of innermost loops at once; returns how
// many of them lie side by side when all loops run.
static double trace_touched(const struct nest_point *p, int statement, int access, const int *place,
                            double *touched)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    const struct nest_access *a = &s->access[access];
    const struct nest_buffer *b = &p->nest->buffer[a->buffer];
    const int *path = nest_path(p, statement);
    double run = 1, by[NEST_MAX_PATH];
    bool is_whole = true; // of the dimensions inside this one, all is touched
    for (int i = 0; i <= s->loop_count; i++)
        touched[i] = 1;
    for (int d = b->dim_count - 1; d >= 0; d--) {
        double span = 1, iterations = 1, extent = 1, size = p->value[b->dim[d]];
        // How the index of one dimension moves: by which coefficient with each loop of the path.
        // `place`: of each loop of the nest on it.
        for (int i = 0; i < s->loop_count; i++)
            by[i] = 0;
        for (int i = 0; i < a->dim[d].count; i++)
            by[place[a->dim[d].term[i].loop]] += p->value[a->dim[d].term[i].coefficient];
        for (int i = 0; i < s->loop_count; i++)
            by[i] = by[i] < 0 ? -by[i] : by[i];
        for (int i = 1; i <= s->loop_count && a->dim[d].count > 0; i++) {
            double length = p->length[path[s->loop_count - i]];
            span += by[s->loop_count - i] * (length - 1);
            iterations *= by[s->loop_count - i] != 0 ? length : 1;
            extent = double_min(double_min(span, iterations), size);
            touched[i] *= extent;
        }
        run *= is_whole ? extent : 1;
        is_whole = is_whole && extent == size;
    }
    return run;
}

static double count_lines(const struct nest_point *p, int statement, int access, double executions)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    const int *path = nest_path(p, statement);
    const double *stride = nest_strides(p, statement, access);
    int i = s->loop_count - 1;
    while (i >= 0 && (stride[i] == 0 || p->length[path[i]] == 1))
        executions /= p->length[path[i--]];
    if (i < 0)
        return 1;
    double step =
        (stride[i] < 0 ? -stride[i] : stride[i]) * p->nest->buffer[s->access[access].buffer].bytes;
    return double_max(1, executions * double_min(1, step / line_bytes));
}

static int accesses_to(const struct nest_statement *s, int buffer)
{
    int found = 0;
    for (int i = 0; i < s->access_count; i++)
        found += s->access[i].buffer == buffer;
    return found;
}

static void find_reuse(const struct nest_point *p, int statement, int access,
                       struct access_use *use)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    const int *path = nest_path(p, statement);
    const double *stride = nest_strides(p, statement, access);
    struct access_use *u = &use[access];
    int beside[NEST_MAX_PATH + 1];
    double inside = 1;
    // count[n]: the other accesses to a buffer of `statement` that stand in its first `n` loops
    // too.
    int buffer = s->access[access].buffer;
    for (int i = 0; i <= p->nest->statement[statement].loop_count; i++)
        beside[i] = 0;
    for (int i = 0; i < p->nest->statement_count; i++) {
        int found = accesses_to(&p->nest->statement[i], buffer) - (i == statement);
        int common = found > 0 && p->present[i] ? nest_common_loops(p, statement, i) : -1;
        for (int n = 0; n <= common; n++)
            beside[n] += found;
    }
    u->reuse = REUSE_NONE;
    for (int i = s->loop_count - 1; i >= 0 && u->reuse == REUSE_NONE; i--) {
        double length = p->length[path[i]];
        if (length == 1)
            continue;
        if (stride[i] == 0 || beside[i + 1] > 0) {
            u->reuse = stride[i] == 0 ? REUSE_LOOP : REUSE_SERIAL;
            u->reuse_count = stride[i] == 0 ? length : beside[i + 1];
            u->distance = inside;
            for (int j = 0; j < s->access_count; j++)
                u->distance_bytes += use[j].touched[s->loop_count - 1 - i];
        }
        inside *= length;
    }
}

void access_uses(const struct nest_point *p, int statement, struct access_use *use)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    double executions = nest_all_executions(p, statement);
    int place[NEST_MAX_LOOPS];
    for (int i = 0; i < s->loop_count; i++)
        place[nest_path(p, statement)[i]] = i;
    for (int i = 0; i < s->access_count; i++) {
        double size = p->nest->buffer[s->access[i].buffer].bytes;
        struct access_use *u = &use[i];
        double run = trace_touched(p, statement, i, place, u->touched);
        for (int j = 0; j <= s->loop_count; j++)
            u->touched[j] *= size;
        u->bytes = executions * size;
        u->unique_bytes = u->touched[s->loop_count];
        u->lines = count_lines(p, statement, i, executions);
        u->unique_lines = double_max(1, u->unique_bytes / double_min(line_bytes, run * size));
        u->stride = s->loop_count > 0 ? nest_strides(p, statement, i)[s->loop_count - 1] : 0;
        u->reuse_count = u->distance = u->distance_bytes = 0;
    }
    for (int i = 0; i < s->access_count; i++)
        find_reuse(p, statement, i, use);
}

// Ansor's 164, in its order.
enum {
    FLOAT, // multiply-add (never), add, multiply, divide, compare, mathematical call, other (never)
    INTEGER = FLOAT + 7, // likewise; those that there are count as additions
    BOOLEAN = INTEGER + 7,
    SELECT,
    VECTORIZED,
    OF_ANNOTATION = 11, // loops, product and innermost of their lengths, where (one of eight)
    UNROLLED = VECTORIZED + OF_ANNOTATION,
    PARALLEL = UNROLLED + OF_ANNOTATION,
    IS_GPU = PARALLEL + OF_ANNOTATION,
    LAUNCHED, // blocks and threads in x, y, z
    VIRTUAL = LAUNCHED + 6,
    ACCESSES,
    MOST_ACCESSES = 5,
    OF_ACCESS = 18,
    INTENSITY = ACCESSES + MOST_ACCESSES * OF_ACCESS,
    SAMPLES = 10,
    ALLOCATION = INTENSITY + SAMPLES,
    OUTER = ALLOCATION + 4,
    LOOPS,
    UNROLL_LIMIT,
    WIDTH
};
enum { NOWHERE, MIXED = 7 }; // of the eight places
_Static_assert(WIDTH == 164, "Ansor's 164 numbers of a store statement");

static void measure(struct features *f)
{
    f->most_rows = f->space->nest->statement_count;
    f->width = WIDTH;
}

static void put_annotation(const struct nest_point *p, int statement, enum nest_loop_kind kind,
                           float *out)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    const int *path = nest_path(p, statement);
    double product = 1;
    for (int i = 0; i < s->loop_count; i++) {
        double length = p->length[path[i]];
        if (p->nest->loop[path[i]].kind != kind || length == 1)
            continue;
        product *= length;
        out[0]++;
        out[1] = (float)product;
        out[2] = (float)length;
    }
    out[3 + (out[0] > 0 ? MIXED : NOWHERE)] = 1;
}

static void put_access(const struct nest_access *a, const struct access_use *u, float *out)
{
    out[a->write ? (a->read ? 2 : 1) : 0] = 1;
    const double amounts[4] = {u->bytes, u->unique_bytes, u->lines, u->unique_lines};
    double share =
        u->reuse == REUSE_NONE ? 0.5 : u->reuse_count; // Ansor doubles what is not reused
    for (int i = 0; i < 4; i++) {
        out[3 + i] = (float)amounts[i];
        out[13 + i] = (float)(amounts[i] / share);
    }
    out[7 + (int)u->reuse] = 1;
    out[10] = (float)u->distance;
    out[11] = (float)u->distance_bytes;
    out[12] = (float)u->reuse_count;
    out[17] = (float)u->stride;
}

static bool comes_before(const struct access_use *a, const struct access_use *b)
{
    return a->lines > b->lines || (a->lines == b->lines && a->bytes > b->bytes);
}

// Those with the most lines, then bytes, first.
static void put_accesses(const struct nest_statement *s, const struct access_use *use, float *out)
{
    int order[NEST_MAX_ACCESSES];
    for (int i = 0; i < s->access_count; i++) {
        int at = i;
        for (; at > 0 && comes_before(&use[i], &use[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int i = 0; i < s->access_count && i < MOST_ACCESSES; i++)
        put_access(&s->access[order[i]], &use[order[i]], out + i * OF_ACCESS);
}

// Operations for each byte touched, from a single execution to all of them, loop by loop: sampled
// on a logarithmic scale of operations, straight lines between the loops.
static void put_intensity(const struct nest_point *p, int statement, const struct access_use *use,
                          float *out)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    const int *path = nest_path(p, statement), loops = s->loop_count;
    double operations = p->value[s->add] + p->value[s->multiply] + p->value[s->divide] +
                        p->value[s->compare] + p->value[s->special] + p->value[s->integer];
    if (operations <= 0)
        return;
    float x[NEST_MAX_PATH + 1], y[NEST_MAX_PATH + 1];
    for (int i = 0; i <= loops; i++) {
        double bytes = 0;
        for (int j = 0; j < s->access_count; j++)
            bytes += use[j].touched[i];
        operations *= i > 0 ? p->length[path[loops - i]] : 1;
        x[i] = (float)operations;
        y[i] = (float)(operations / bytes);
    }
    feature_log(loops + 1, x);
    for (int i = 0, at = 0; i < SAMPLES; i++) {
        float goal = x[loops] * (float)(i + 1) / SAMPLES;
        while (at < loops && x[at] < goal)
            at++;
        float before = at > 0 ? x[at - 1] : 0, low = at > 0 ? y[at - 1] : 0;
        out[i] = at == 0 || goal >= x[at]
                     ? y[at]
                     : low + (y[at] - low) * (goal - before) / (x[at] - before);
    }
}

// The loops outside the allocation of a buffer: none, blocks, or blocks and threads.
static bool is_outside(enum nest_loop_kind kind, enum nest_memory memory)
{
    if (memory == NEST_GLOBAL)
        return false;
    return kind <= (memory == NEST_SHARED ? NEST_BLOCK_Z : NEST_THREAD_Z);
}

static void put_allocation(const struct nest_point *p, const struct nest_statement *s,
                           double executions, float *out)
{
    int index = s->access[0].buffer;
    const struct nest_buffer *b = &p->nest->buffer[index];
    double bytes = nest_buffer_bytes(p, index), outside = 1;
    for (int i = 0; i < s->loop_count; i++)
        if (is_outside(p->nest->loop[s->loop[i]].kind, b->memory))
            outside *= p->length[s->loop[i]];
    out[0] = (float)bytes;
    out[1] = (float)(bytes / b->bytes * outside);
    out[2] = (float)outside;
    out[3] = (float)(executions / outside);
}

static void put_row(const struct nest_point *p, int statement, float *out)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    double executions = nest_all_executions(p, statement);
    struct access_use use[NEST_MAX_ACCESSES];
    access_uses(p, statement, use);

    memset(out, 0, WIDTH * sizeof *out);
    const int operations[] = {s->add, s->multiply, s->divide, s->compare, s->special};
    for (int i = 0; i < 5; i++)
        out[FLOAT + 1 + i] = (float)(p->value[operations[i]] * executions);
    out[INTEGER + 1] = (float)(p->value[s->integer] * executions);
    put_annotation(p, statement, NEST_VECTORIZED, out + VECTORIZED);
    put_annotation(p, statement, NEST_UNROLLED, out + UNROLLED);
    put_annotation(p, statement, NEST_PARALLEL, out + PARALLEL);
    out[IS_GPU] = 1;
    for (int i = 0; i < 6; i++)
        out[LAUNCHED + i] = 1;
    out[VIRTUAL] = 1;
    for (int i = 0; i < s->loop_count; i++) {
        enum nest_loop_kind kind = p->nest->loop[s->loop[i]].kind;
        float length = (float)p->length[s->loop[i]];
        if (kind <= NEST_THREAD_Z)
            out[LAUNCHED + (int)kind] *= length;
        else if (kind == NEST_VIRTUAL)
            out[VIRTUAL] *= length;
        out[LOOPS] += length > 1;
    }
    put_accesses(s, use, out + ACCESSES);
    put_intensity(p, statement, use, out + INTENSITY);
    put_allocation(p, s, executions, out + ALLOCATION);
    out[OUTER] = (float)executions;
    out[UNROLL_LIMIT] = p->nest->unroll < 0 ? 0 : (float)p->value[p->nest->unroll];
    feature_log(WIDTH, out);
}

static int fill(struct features *f, const struct config *c, float *out)
{
    (void)c; // `point` says it all
    int rows = 0;
    for (int i = 0; i < f->space->nest->statement_count; i++)
        if (f->point.present[i])
            put_row(&f->point, i, out + rows++ * WIDTH);
    return rows;
}

static bool are_like(const struct features *a, const struct features *b)
{
    (void)a, (void)b; // every statement of every nest is described in the same words
    return true;
}

const struct feature_methods features_statements = {
    .name = "statement",
    .needs_nest = true,
    .measure = measure,
    .fill = fill,
    .are_like = are_like,
};
