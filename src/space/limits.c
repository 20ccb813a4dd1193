#include "space/limits.h"

#include "base/times.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

// Vulkan spec, table "Required Limits"; accumulators and statements are ours (spilling, compile
// time).
const struct limits limits_vulkan_minimum = {
    .invocations = 128,
    .group_size = {128, 128, 64},
    .group_count = {65535, 65535, 65535},
    .shared_bytes = 16384,
    .buffer_bytes = UINT64_C(1) << 27,
    .accumulators = 256,
    .statements = 20000,
    .subgroup_size = 1,
};

#define FIELD(name, type, kind)                                                                    \
    {#name, LIMITS_##kind, offsetof(struct limits, name), sizeof(((struct limits *)0)->name)},
const struct limits_field limits_fields[LIMITS_FIELD_COUNT] = {LIMITS_FIELDS(FIELD)};
static_assert(LIMITS_FIELD_COUNT <= 32, "a bit of `unknown` each");

bool limits_knows(const struct limits *l, enum limits_index field)
{
    return !(l->unknown >> field & 1);
}

uint64_t limits_number(const struct limits *l, const struct limits_field *f)
{
    const void *at = (const char *)l + f->offset;
    return f->size == sizeof(uint64_t) ? *(const uint64_t *)at : *(const uint32_t *)at;
}

static const struct {
    const char *name;
    enum limits_index field; // what is judged by
} judged[LIMIT_COUNT] = {
    [LIMIT_NONE] = {.name = "none"},
    [LIMIT_INVOCATIONS] = {"invocations", LIMITS_invocations},
    [LIMIT_GROUP_SIZE] = {"group size", LIMITS_group_size},
    [LIMIT_GROUP_COUNT] = {"group count", LIMITS_group_count},
    [LIMIT_SHARED] = {"shared memory", LIMITS_shared_bytes},
    [LIMIT_BUFFER] = {"buffer", LIMITS_buffer_bytes},
    [LIMIT_LOOP_TRIPS] = {"loop trips", LIMITS_loop_trips},
    [LIMIT_ACCUMULATORS] = {"accumulators", LIMITS_accumulators},
    [LIMIT_STATEMENTS] = {"statements", LIMITS_statements},
    [LIMIT_REGISTERS] = {"registers", LIMITS_registers},
};

const char *limit_name(enum limit l)
{
    return judged[l].name;
}

// What is needed and what there is, of one limit.
struct demand {
    uint64_t need, have;
    const char *axis, *unit; // " x", " bytes", or ""
};

static uint64_t invocations(const struct resources *r)
{
    uint64_t product = 1;
    for (int axis = 0; axis < 3; axis++)
        if (r->group_size[axis])
            product = times_unsigned(product, r->group_size[axis]);
    return product;
}

// The first axis that asks for too much, else the last one.
static struct demand demand_of_axes(const uint64_t need[3], const uint32_t have[3])
{
    static const char *const axes[3] = {" x", " y", " z"};
    int axis = 0;
    while (axis < 2 && need[axis] <= have[axis])
        axis++;
    return (struct demand){need[axis], have[axis], axes[axis], ""};
}

static struct demand demand_soft(uint64_t need, uint64_t have)
{
    return (struct demand){need, have ? have : UINT64_MAX, "", ""};
}

// What is left for the values of a kernel: addresses, counters and what compilers keep for
// themselves take some, of subgroups of any size.
static struct demand demand_of_registers(const struct resources *r, const struct limits *l)
{
    const uint64_t taken = 24;
    uint64_t have = l->registers;
    if (l->register_lanes && r->subgroup > l->register_lanes)
        have = have * l->register_lanes / r->subgroup;
    return demand_soft(r->registers, have > taken ? have - taken : have ? 1 : 0);
}

static struct demand demand_of(enum limit which, const struct limits *l, const struct resources *r)
{
    switch (limits_knows(l, judged[which].field) ? which : LIMIT_NONE) {
    case LIMIT_INVOCATIONS: return (struct demand){invocations(r), l->invocations, "", ""};
    case LIMIT_GROUP_SIZE: return demand_of_axes(r->group_size, l->group_size);
    case LIMIT_GROUP_COUNT: return demand_of_axes(r->groups, l->group_count);
    case LIMIT_SHARED: return (struct demand){r->shared_bytes, l->shared_bytes, "", " bytes"};
    case LIMIT_BUFFER: return (struct demand){r->buffer_bytes, l->buffer_bytes, "", " bytes"};
    case LIMIT_LOOP_TRIPS: return demand_soft(r->loop_trips, l->loop_trips);
    case LIMIT_ACCUMULATORS: return demand_soft(r->accumulators, l->accumulators);
    case LIMIT_STATEMENTS: return demand_soft(r->statements, l->statements);
    case LIMIT_REGISTERS: return demand_of_registers(r, l);
    case LIMIT_NONE:
    case LIMIT_COUNT: break;
    }
    return (struct demand){0, UINT64_MAX, "", ""};
}

unsigned limits_exceeded(const struct limits *l, const struct resources *r)
{
    unsigned exceeded = 0;
    for (enum limit which = LIMIT_NONE + 1; which < LIMIT_COUNT; which++) {
        struct demand d = demand_of(which, l, r);
        if (d.need > d.have)
            exceeded |= 1u << which;
    }
    return exceeded;
}

char *limits_explain(const struct limits *l, const struct resources *r, char *out, size_t size)
{
    assert(size > 0);
    out[0] = '\0';
    for (enum limit which = LIMIT_NONE + 1; which < LIMIT_COUNT; which++) {
        struct demand d = demand_of(which, l, r);
        if (d.need > d.have) {
            snprintf(out, size, "%s%s %" PRIu64 "%s > %" PRIu64, limit_name(which), d.axis, d.need,
                     d.unit, d.have);
            break;
        }
    }
    return out;
}
