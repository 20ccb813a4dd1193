#include "model/profile.h"

#include <math.h>
#include <string.h>

static void add_accesses(const struct nest_point *p, int statement, double times, double *out)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    for (int i = 0; i < s->access_count; i++) {
        enum nest_memory memory = p->nest->buffer[s->access[i].buffer].memory;
        if (memory != NEST_REGISTERS)
            out[memory == NEST_GLOBAL ? PROFILE_GLOBAL : PROFILE_SHARED] += times;
    }
}

static void add_statement(const struct nest_point *p, int statement, double *most, double *out)
{
    double executions = nest_executions(p, statement);
    double lanes = nest_product(p, statement, NEST_VECTORIZED, NEST_VECTORIZED);
    out[PROFILE_GROUPS] =
        fmax(out[PROFILE_GROUPS], nest_product(p, statement, NEST_BLOCK_X, NEST_BLOCK_Z));
    out[PROFILE_THREADS] =
        fmax(out[PROFILE_THREADS], nest_product(p, statement, NEST_THREAD_X, NEST_THREAD_Z));
    out[PROFILE_EXECUTIONS] += executions;
    add_accesses(p, statement, executions / lanes, out);
    if (executions <= *most)
        return;
    *most = executions;
    out[PROFILE_LANES] = lanes;
    out[PROFILE_WRITTEN_OUT] = nest_product(p, statement, NEST_UNROLLED, NEST_UNROLLED) *
                               nest_product(p, statement, NEST_VIRTUAL, NEST_VIRTUAL);
}

void profile_of(const struct nest_point *p, double *out)
{
    double most = 0;
    memset(out, 0, PROFILE_NUMBERS * sizeof *out);
    for (int i = 0; i < p->nest->statement_count; i++)
        if (p->present[i])
            add_statement(p, i, &most, out);
    out[PROFILE_REGISTER_BYTES] = nest_memory_bytes(p, NEST_REGISTERS);
    out[PROFILE_SHARED_BYTES] = nest_memory_bytes(p, NEST_SHARED);
    out[PROFILE_TRIPS] = nest_trips(p);
}
