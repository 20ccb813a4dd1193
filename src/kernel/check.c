#include "kernel/kernel.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

// Only whole subgroups have matrix units (Vulkan spec, VUID 08987: along x).
static const char *lacks_matrix(const struct kernel_facts *f, const struct limits *l)
{
    if (f->matrix == MATRIX_NONE)
        return NULL;
    if (f->matrix != l->matrix.api)
        return "needs matrix units, which the device does not have";
    return f->local_size[0] % l->subgroup_size ? "its subgroups are not full along x" : NULL;
}

// Every capability that is known, and the feature behind it; 0: judged elsewhere, or always there.
// The enumerants of SPIR-V's registry; what they need: Vulkan spec, appendix "SPIR-V Capabilities".
static const struct capability {
    uint32_t number;
    unsigned feature;
    const char *name;
} capabilities[] = {
    {0, 0, "matrices"},
    {1, 0, "shaders"},
    {9, 0, "16-bit floats"},
    {10, FEATURE_F64, "64-bit floats"},
    {11, FEATURE_I64, "64-bit integers"},
    {22, FEATURE_I16, "16-bit integers"},
    {39, 0, "8-bit integers"},
    {61, FEATURE_SUBGROUP, "subgroups"},
    {62, FEATURE_SUBGROUP << 1, "votes of a subgroup"},
    {63, FEATURE_SUBGROUP << 2, "arithmetic of a subgroup"},
    {64, FEATURE_SUBGROUP << 3, "ballots of a subgroup"},
    {65, FEATURE_SUBGROUP << 4, "shuffles of a subgroup"},
    {66, FEATURE_SUBGROUP << 5, "relative shuffles of a subgroup"},
    {67, FEATURE_SUBGROUP << 6, "clusters of a subgroup"},
    {68, FEATURE_SUBGROUP << 7, "quads of a subgroup"},
    {4433, 0, "16-bit storage"},
    {4434, 0, "16-bit storage"},
    {4448, 0, "8-bit storage"},
    {4449, 0, "8-bit storage"},
    {5345, FEATURE_MEMORY_MODEL, "Vulkan's memory model"},
    {5346, FEATURE_MEMORY_MODEL_DEVICE, "the device scope of Vulkan's memory model"},
    {5357, 0, "cooperative matrices"},
    {6022, 0, "cooperative matrices"},
};

static const struct capability *find_capability(uint32_t number)
{
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++)
        if (capabilities[i].number == number)
            return &capabilities[i];
    return NULL;
}

// Drivers run what was not enabled, some of it wrongly. `reason` gets the first that is not.
static bool lacks_feature(const struct kernel_facts *f, const struct limits *l, char *reason,
                          size_t size)
{
    for (int i = 0; i < f->capability_count; i++) {
        const struct capability *c = find_capability(f->capability[i]);
        if (c && (c->feature & l->features) == c->feature)
            continue;
        if (c)
            snprintf(reason, size, "needs %s, which the device does not have", c->name);
        else
            snprintf(reason, size, "needs SPIR-V capability %" PRIu32 ", which is never enabled",
                     f->capability[i]);
        return true;
    }
    return false;
}

unsigned kernel_check(const struct kernel_facts *f, const uint32_t groups[3],
                      const struct limits *l, char *reason, size_t size)
{
    assert(size > 0);
    struct resources r = {.shared_bytes = f->shared_bytes};
    for (int axis = 0; axis < 3; axis++) {
        r.group_size[axis] = f->local_size[axis];
        r.groups[axis] = groups[axis];
    }
    unsigned exceeded = limits_exceeded(l, &r);
    limits_explain(l, &r, reason, size);

    if ((f->uses_f16 || f->uses_f16_storage) && !l->f16) {
        if (!exceeded)
            snprintf(reason, size, "needs 16-bit floats, which the device does not have");
        exceeded |= KERNEL_NEEDS_F16;
    }
    if (f->uses_i8 && !l->i8) {
        if (!exceeded)
            snprintf(reason, size, "needs 8-bit integers, which the device does not have");
        exceeded |= KERNEL_NEEDS_I8;
    }
    char lacking[200];
    if (lacks_feature(f, l, lacking, sizeof lacking)) {
        if (!exceeded)
            snprintf(reason, size, "%s", lacking);
        exceeded |= KERNEL_NEEDS_FEATURE;
    }
    const char *matrix = lacks_matrix(f, l);
    if (matrix) {
        if (!exceeded)
            snprintf(reason, size, "%s", matrix);
        exceeded |= KERNEL_NEEDS_MATRIX;
    }
    if (f->words > KERNEL_MAX_WORDS) {
        if (!exceeded)
            snprintf(reason, size, "SPIR-V of %zu words > %u", f->words, KERNEL_MAX_WORDS);
        exceeded |= KERNEL_TOO_LONG;
    }
    return exceeded;
}
