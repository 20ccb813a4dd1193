#include "trial/machine.h"

#include <math.h>

#define CORES          32.0
#define ISSUED         4.0 // warps a cycle, of a core
#define WARP           32.0
#define MOST_THREADS   1024.0 // of a workgroup
#define THREADS        2048.0 // of a core
#define REGISTERS      65536.0
#define SHARED_BYTES   65536.0
#define MOST_GROUPS    16.0
#define WARPS_TO_HIDE  16.0 // latency
#define MEMORY_CYCLES  8.0  // an access to memory that one line serves
#define LINE_BYTES     64.0
#define CORE_BANDWIDTH 16.0 // bytes a cycle
#define OWN_REGISTERS  16.0 // addresses and the like
#define WORST          1e-6

// What a statement costs and how it is launched.
struct cost {
    double groups, threads;
    double cycles; // issued by a warp, all executions
    double bytes;  // to and from memory, by all
};

static int inside_blocks(const struct nest_point *p, int statement)
{
    const int *path = nest_path(p, statement);
    int count = 0;
    for (int i = 0; i < p->nest->statement[statement].loop_count; i++)
        count += p->nest->loop[path[i]].kind > NEST_BLOCK_Z;
    return count;
}

static double operations(const struct nest_point *p, const struct nest_statement *s)
{
    const double *v = p->value;
    return v[s->add] + v[s->multiply] + v[s->compare] + v[s->integer] +
           8 * (v[s->divide] + v[s->special]);
}

// Lines of memory that a warp's access is spread over.
static double lines(const struct nest_point *p, int statement, int access, double bytes)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    const int *path = nest_path(p, statement);
    const double *stride = nest_strides(p, statement, access);
    double apart = 0;
    for (int i = 0; i < s->loop_count; i++)
        if (p->nest->loop[path[i]].kind == NEST_THREAD_X && p->length[path[i]] > 1)
            apart = fabs(stride[i]) * bytes;
    return fmin(WARP, fmax(1, apart * WARP / LINE_BYTES));
}

static void add_access(const struct nest_point *p, int statement, int access, double executions,
                       struct cost *c)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    const struct nest_buffer *b = &p->nest->buffer[s->access[access].buffer];
    double requests = executions / nest_product(p, statement, NEST_VECTORIZED, NEST_VECTORIZED);
    if (b->memory == NEST_SHARED)
        c->cycles += requests;
    if (b->memory != NEST_GLOBAL)
        return;
    c->cycles += requests * MEMORY_CYCLES * lines(p, statement, access, b->bytes);
    c->bytes +=
        c->groups * b->bytes * nest_touched(p, statement, access, inside_blocks(p, statement));
}

static struct cost cost_of(const struct nest_point *p, int statement)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    double executions = nest_executions(p, statement);
    struct cost c = {
        .groups = nest_product(p, statement, NEST_BLOCK_X, NEST_BLOCK_Z),
        .threads = nest_product(p, statement, NEST_THREAD_X, NEST_THREAD_Z),
        .cycles = executions * operations(p, s) / 2, // a multiplication and an addition at once
    };
    for (int a = 0; a < s->access_count; a++)
        add_access(p, statement, a, executions, &c);
    return c;
}

static double registers_of(const struct nest_point *p)
{
    return OWN_REGISTERS + nest_memory_bytes(p, NEST_REGISTERS) / 4;
}

// Workgroups of so many threads that a core holds at once; below 1: none fits.
static double fitting(const struct nest_point *p, double threads)
{
    double by_registers = REGISTERS / (threads * registers_of(p));
    double by_shared = SHARED_BYTES / fmax(1, nest_memory_bytes(p, NEST_SHARED));
    double most = fmin(fmin(MOST_GROUPS, THREADS / threads), fmin(by_registers, by_shared));
    return threads > MOST_THREADS ? 0 : most < 1 ? most : floor(most);
}

// Of a statement alone, all its workgroups. What does not fit spills and waits.
static double cycles_of(const struct nest_point *p, const struct cost *c)
{
    double warps = ceil(c->threads / WARP), groups = fitting(p, c->threads);
    double spilled = groups < 1 ? 1 + 8 * (1 - groups) : 1;
    double hidden = fmin(1, fmax(1, groups) * warps / WARPS_TO_HIDE);
    return ceil(c->groups / CORES) * warps * c->cycles * spilled / (ISSUED * hidden);
}

// Floating-point operations; of a kernel that only moves elements, these.
static double work_of(const struct nest_point *p)
{
    double flops = nest_flops(p), moved = 0;
    for (int s = 0; s < p->nest->statement_count; s++)
        moved = fmax(moved, nest_all_executions(p, s));
    return flops > 0 ? flops : moved;
}

double machine_quality(const struct nest_point *p)
{
    double cycles = 0, bytes = 0;
    for (int s = 0; s < p->nest->statement_count; s++)
        if (p->present[s]) {
            struct cost c = cost_of(p, s);
            cycles += cycles_of(p, &c);
            bytes += c.bytes;
        }
    double moving = bytes / (CORES * CORE_BANDWIDTH);
    double ideal = work_of(p) / (2 * CORES * ISSUED * WARP);
    double quality = ideal / (fmax(cycles, moving) + 0.2 * fmin(cycles, moving));
    return fmin(1, fmax(WORST, quality));
}

void machine_statistics(const struct nest_point *p, struct statistics *out)
{
    double threads = 1, instructions = 0;
    for (int s = 0; s < p->nest->statement_count; s++)
        if (p->present[s]) {
            struct cost c = cost_of(p, s);
            threads = fmax(threads, c.threads);
            instructions += c.cycles;
        }
    double most = floor(REGISTERS / threads), wanted = ceil(registers_of(p));
    double groups = fmax(1, fitting(p, threads)), warps = ceil(threads / WARP);
    statistics_take(out, "Register Count", fmin(wanted, most));
    statistics_take(out, "Spill Count", fmax(0, wanted - most));
    statistics_take(out, "Shared Memory Size", nest_memory_bytes(p, NEST_SHARED));
    statistics_take(out, "Max Warps/SM", fmin(groups * warps, THREADS / WARP));
    statistics_take(out, "Instruction Count", ceil(instructions));
}
