#include "nest_count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

// Counts the executions that access another element: a vector of equal elements is read once.
static double accesses(const struct nest_point *p, int statement, int access)
{
    double count = nest_executions(p, statement);
    for (int i = 0; i < p->nest->statement[statement].loop_count; i++) {
        int loop = nest_path(p, statement)[i];
        if (p->nest->loop[loop].kind == NEST_VECTORIZED &&
            nest_strides(p, statement, access)[i] == 0)
            count /= p->length[loop];
    }
    return count;
}

static void add_statement(const struct nest_point *p, int i, struct spirv_count *n)
{
    const struct nest_statement *s = &p->nest->statement[i];
    double count = nest_executions(p, i);
    n->add += count * p->value[s->add];
    n->multiply += count * p->value[s->multiply];
    n->divide += count * p->value[s->divide];
    n->compare += count * p->value[s->compare];
    n->special += count * p->value[s->special];
    n->integer += count * p->value[s->integer];
    for (int a = 0; a < s->access_count; a++) {
        const struct nest_buffer *b = &p->nest->buffer[s->access[a].buffer];
        double bytes = accesses(p, i, a) * b->bytes;
        int memory = b->memory == NEST_SHARED ? SPIRV_SHARED : SPIRV_GLOBAL;
        if (b->memory == NEST_REGISTERS)
            continue;
        n->read[memory] += s->access[a].read ? bytes : 0;
        n->written[memory] += s->access[a].write ? bytes : 0;
    }
}

struct spirv_count nest_count(const struct nest_point *p)
{
    struct spirv_count n = {.trips = nest_trips(p),
                            .shared_bytes = nest_memory_bytes(p, NEST_SHARED)};
    for (int i = 0; i < p->nest->statement_count; i++)
        add_statement(p, i, &n);
    return n;
}

static const struct figure {
    const char *name;
    size_t at;
} figures[] = {
    {"additions", offsetof(struct spirv_count, add)},
    {"multiplications", offsetof(struct spirv_count, multiply)},
    {"divisions", offsetof(struct spirv_count, divide)},
    {"comparisons", offsetof(struct spirv_count, compare)},
    {"functions", offsetof(struct spirv_count, special)},
    {"bytes read from shared memory", offsetof(struct spirv_count, read[SPIRV_SHARED])},
    {"bytes written to shared memory", offsetof(struct spirv_count, written[SPIRV_SHARED])},
    {"bytes read from buffers", offsetof(struct spirv_count, read[SPIRV_GLOBAL])},
    {"bytes written to buffers", offsetof(struct spirv_count, written[SPIRV_GLOBAL])},
    {"iterations of loops", offsetof(struct spirv_count, trips)},
    {"bytes of shared memory", offsetof(struct spirv_count, shared_bytes)},
    {"operations on whole numbers", offsetof(struct spirv_count, integer)},
};

static double figure(const struct spirv_count *n, int i)
{
    double value;
    memcpy(&value, (const char *)n + figures[i].at, sizeof value);
    return value;
}

int nest_count_differences(const struct spirv_count *nest, const struct spirv_count *shader,
                           bool tell)
{
    int count = 0;
    int last = (int)(sizeof figures / sizeof *figures) - (nest->integer == 0);
    for (int i = 0; i < last; i++)
        if (figure(nest, i) != figure(shader, i)) {
            if (tell)
                print_error("%s: %g in the nest, %g in the shader\n", figures[i].name,
                            figure(nest, i), figure(shader, i));
            count++;
        }
    return count;
}

static double launched(const struct nest_point *p, int statement, enum nest_loop_kind kind)
{
    double product = 1;
    for (int i = 0; i < p->nest->statement[statement].loop_count; i++) {
        int loop = p->nest->statement[statement].loop[i];
        if (p->nest->loop[loop].kind == kind)
            product *= p->length[loop];
    }
    return product;
}

int nest_launch_differences(const struct nest_point *p, int statement, const uint32_t groups[3],
                            const uint32_t invocations[3])
{
    int differ = 0;
    for (int i = 0; i < 3; i++) {
        enum nest_loop_kind block = (enum nest_loop_kind)(NEST_BLOCK_X + i);
        enum nest_loop_kind thread = (enum nest_loop_kind)(NEST_THREAD_X + i);
        differ += launched(p, statement, block) != groups[i];
        differ += launched(p, statement, thread) != invocations[i];
    }
    return differ;
}
