#include "model/access.h"

#include "base/minmax.h"

static const double line_bytes = 64;

// How the index of one dimension moves: by which coefficient with each loop of the path. `place`:
// of each loop of the nest on it.
static void coefficients(const struct nest_point *p, const struct nest_statement *s,
                         const int *place, const struct nest_access *a, int dim, double *out)
{
    for (int i = 0; i < s->loop_count; i++)
        out[i] = 0;
    for (int i = 0; i < a->dim[dim].count; i++)
        out[place[a->dim[dim].term[i].loop]] += p->value[a->dim[dim].term[i].coefficient];
    for (int i = 0; i < s->loop_count; i++)
        out[i] = out[i] < 0 ? -out[i] : out[i];
}

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
        coefficients(p, s, place, a, d, by);
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

// count[n]: the other accesses to a buffer of `statement` that stand in its first `n` loops too.
static void count_others(const struct nest_point *p, int statement, int buffer, int *count)
{
    for (int i = 0; i <= p->nest->statement[statement].loop_count; i++)
        count[i] = 0;
    for (int i = 0; i < p->nest->statement_count; i++) {
        int found = accesses_to(&p->nest->statement[i], buffer) - (i == statement);
        int common = found > 0 && p->present[i] ? nest_common_loops(p, statement, i) : -1;
        for (int n = 0; n <= common; n++)
            count[n] += found;
    }
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
    count_others(p, statement, s->access[access].buffer, beside);
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
