#include "model/feature_kind.h"

#include "base/number.h"

#include <string.h>

static const double line_bytes = 64;

// Computes the number of elements that nest_touched counts, for every number of innermost loops.
// Returns how many of them are contiguous when all loops run.
static double trace_touched(const struct nest_point *p, int statement, int access, const int *place,
                            double *touched)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    const struct nest_access *a = &s->access[access];
    const struct nest_buffer *b = &p->nest->buffer[a->buffer];
    const int *path = nest_path(p, statement);
    double run = 1, by[NEST_MAX_PATH];
    bool is_whole = true; // the dimensions inside this one are touched completely
    for (int i = 0; i <= s->loop_count; i++)
        touched[i] = 1;
    for (int d = b->dim_count - 1; d >= 0; d--) {
        double span = 1, iterations = 1, extent = 1, size = p->value[b->dim[d]];
        // The coefficient of each loop of the path in the index of this dimension.
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

static void find_reuse(const struct nest_point *p, int statement, int access,
                       struct access_use *use)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    const int *path = nest_path(p, statement);
    const double *stride = nest_strides(p, statement, access);
    struct access_use *u = &use[access];
    int beside[NEST_MAX_PATH + 1];
    double inside = 1;
    // beside[n]: the other accesses to the buffer that are inside the first `n` loops, too.
    int buffer = s->access[access].buffer;
    for (int i = 0; i <= p->nest->statement[statement].loop_count; i++)
        beside[i] = 0;
    for (int i = 0; i < p->nest->statement_count; i++) {
        const struct nest_statement *other = &p->nest->statement[i];
        int found = i == statement ? -1 : 0;
        for (int j = 0; j < other->access_count; j++)
            found += other->access[j].buffer == buffer;
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
        // Drops the innermost loops that do not move the access.
        const int *path = nest_path(p, statement);
        const double *stride = nest_strides(p, statement, i);
        int k = s->loop_count - 1;
        double fetches = executions;
        while (k >= 0 && (stride[k] == 0 || p->length[path[k]] == 1))
            fetches /= p->length[path[k--]];
        double step = k < 0 ? 0 : (stride[k] < 0 ? -stride[k] : stride[k]) * size;
        u->lines = k < 0 ? 1 : double_max(1, fetches * double_min(1, step / line_bytes));
        u->unique_lines = double_max(1, u->unique_bytes / double_min(line_bytes, run * size));
        u->stride = s->loop_count > 0 ? nest_strides(p, statement, i)[s->loop_count - 1] : 0;
        u->reuse_count = u->distance = u->distance_bytes = 0;
    }
    for (int i = 0; i < s->access_count; i++)
        find_reuse(p, statement, i, use);
}

// Ansor's 164 numbers, in its order.
enum {
    FLOAT, // multiply-add (never), add, multiply, divide, compare, mathematical call, other (never)
    INTEGER = FLOAT + 7, // likewise; all count as additions
    BOOLEAN = INTEGER + 7,
    SELECT,
    VECTORIZED,
    OF_ANNOTATION = 11, // loops, product and innermost of their lengths, place (one of eight)
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

static void statements_measure(struct features *f)
{
    f->most_rows = f->space->nest->statement_count;
    f->own_width = WIDTH;
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

// Puts the accesses with the most lines, then bytes, first.
static void put_accesses(const struct nest_statement *s, const struct access_use *use, float *out)
{
    int order[NEST_MAX_ACCESSES];
    for (int i = 0; i < s->access_count; i++) {
        int at = i;
        for (; at > 0; at--) {
            const struct access_use *a = &use[i], *b = &use[order[at - 1]];
            if (a->lines < b->lines || (a->lines == b->lines && a->bytes <= b->bytes))
                break;
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    for (int i = 0; i < s->access_count && i < MOST_ACCESSES; i++, out += OF_ACCESS) {
        const struct nest_access *a = &s->access[order[i]];
        const struct access_use *u = &use[order[i]];
        const double amounts[4] = {u->bytes, u->unique_bytes, u->lines, u->unique_lines};
        double share = u->reuse == REUSE_NONE ? 0.5 : u->reuse_count; // Ansor doubles without reuse
        out[a->write ? (a->read ? 2 : 1) : 0] = 1;
        for (int k = 0; k < 4; k++) {
            out[3 + k] = (float)amounts[k];
            out[13 + k] = (float)(amounts[k] / share);
        }
        out[7 + (int)u->reuse] = 1;
        out[10] = (float)u->distance;
        out[11] = (float)u->distance_bytes;
        out[12] = (float)u->reuse_count;
        out[17] = (float)u->stride;
    }
}

// Puts the operations per byte touched, from one execution to all of them, loop by loop: sampled on
// a logarithmic scale of operations, with straight lines between the loops.
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

static void put_allocation(const struct nest_point *p, const struct nest_statement *s,
                           double executions, float *out)
{
    int index = s->access[0].buffer;
    const struct nest_buffer *b = &p->nest->buffer[index];
    double bytes = nest_buffer_bytes(p, index), outside = 1;
    enum nest_loop_kind innermost = b->memory == NEST_SHARED ? NEST_BLOCK_Z : NEST_THREAD_Z;
    // The allocation is inside no loop, inside the blocks, or inside the blocks and threads.
    for (int i = 0; i < s->loop_count && b->memory != NEST_GLOBAL; i++)
        if (p->nest->loop[s->loop[i]].kind <= innermost)
            outside *= p->length[s->loop[i]];
    out[0] = (float)bytes;
    out[1] = (float)(bytes / b->bytes * outside);
    out[2] = (float)outside;
    out[3] = (float)(executions / outside);
}

static int statements_fill(struct features *f, float *out)
{
    const struct nest_point *p = &f->point;
    int rows = 0;
    for (int n = 0; n < p->nest->statement_count; n++) {
        const struct nest_statement *s = &p->nest->statement[n];
        double executions = nest_all_executions(p, n);
        struct access_use use[NEST_MAX_ACCESSES];
        if (!p->present[n])
            continue;
        access_uses(p, n, use);
        memset(out, 0, WIDTH * sizeof *out);
        const int operations[] = {s->add, s->multiply, s->divide, s->compare, s->special};
        for (int i = 0; i < 5; i++)
            out[FLOAT + 1 + i] = (float)(p->value[operations[i]] * executions);
        out[INTEGER + 1] = (float)(p->value[s->integer] * executions);
        put_annotation(p, n, NEST_VECTORIZED, out + VECTORIZED);
        put_annotation(p, n, NEST_UNROLLED, out + UNROLLED);
        put_annotation(p, n, NEST_PARALLEL, out + PARALLEL);
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
        put_intensity(p, n, use, out + INTENSITY);
        put_allocation(p, s, executions, out + ALLOCATION);
        out[OUTER] = (float)executions;
        out[UNROLL_LIMIT] = p->nest->unroll < 0 ? 0 : (float)p->value[p->nest->unroll];
        feature_log(WIDTH, out);
        out += WIDTH;
        rows++;
    }
    return rows;
}

const struct feature_methods features_statements = {
    .name = "statement",
    .needs_nest = true,
    .params = FEATURE_NO_PARAMS,
    .measure = statements_measure,
    .fill = statements_fill, // every statement of every nest has the same columns
};
