#include "kernel/kernel.h"

#include "kernel/enumerants.h"
#include "kernel/push.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

uint32_t kernel_subgroup(const struct kernel_facts *f, const struct limits *l)
{
    return f->subgroup ? f->subgroup : f->matrix != MATRIX_NONE ? l->subgroup_size : 0;
}

// Vulkan spec, VkPipelineShaderStageRequiredSubgroupSizeCreateInfo and VUID 02756; that all are
// full is ours: the rest of the last one would be idle.
static bool lacks_subgroup(const struct kernel_facts *f, const struct limits *l, char *reason,
                           size_t size)
{
    uint32_t asked = f->subgroup;
    uint64_t invocations = (uint64_t)f->local_size[0] * f->local_size[1] * f->local_size[2];
    if (!asked || !limits_knows(l, LIMITS_subgroup_most))
        return false;
    if (!l->subgroup_most)
        snprintf(reason, size,
                 "needs subgroups of %" PRIu32 ", which the device lets no kernel ask for", asked);
    else if (asked < l->subgroup_least || asked > l->subgroup_most)
        snprintf(reason, size,
                 "needs subgroups of %" PRIu32 ", the device has %" PRIu32 " to %" PRIu32, asked,
                 l->subgroup_least, l->subgroup_most);
    else if (invocations % asked)
        snprintf(reason, size, "%" PRIu64 " invocations do not fill subgroups of %" PRIu32,
                 invocations, asked);
    else if (invocations / asked > l->group_subgroups)
        snprintf(reason, size, "subgroups %" PRIu64 " > %" PRIu32, invocations / asked,
                 l->group_subgroups);
    else
        return false;
    return true;
}

// Only whole subgroups have matrix units (Vulkan spec, VUID 08987: along x, of the device's size
// also where a kernel asks for another).
static const char *lacks_matrix(const struct kernel_facts *f, const struct limits *l)
{
    if (f->matrix == MATRIX_NONE || !limits_knows(l, LIMITS_matrix))
        return NULL;
    if (f->matrix != l->matrix.api)
        return "needs matrix units, which the device does not have";
    bool full =
        f->local_size[0] % l->subgroup_size == 0 && f->local_size[0] % kernel_subgroup(f, l) == 0;
    return full ? NULL : "its subgroups are not full along x";
}

static bool check_use(const struct spirv *s, const struct kernel_facts *f, const struct pass *p,
                      int inputs, struct err *e)
{
    // SPIR-V's blocks end where their last member does, what is given in whole words.
    if ((f->push_bytes + 3) / 4 * 4 != p->push_bytes)
        return err_set(e,
                       "its push constants have %" PRIu32 " bytes, %" PRIu32
                       " are given (push = function(c) ... end)",
                       f->push_bytes, p->push_bytes);
    if (!kernel_check_push(s, p, e))
        return false;
    for (int i = 0; i < inputs && i < 32; i++)
        if (f->written >> i & 1)
            return err_set(e,
                           "it writes to buffer %d, which is an input (bindings = says what each "
                           "binding is; only the output and scratch are written)",
                           i);
    // The output comes behind the inputs.
    if (p->once && inputs < 32 && f->written >> inputs & 1)
        return err_set(e, "it writes to the output, and is not timed (once = true is for what "
                          "packs inputs into scratch)");
    return true;
}

bool kernel_check_use(const struct spirv *s, const struct kernel_facts *f, const struct pass *p,
                      int inputs, struct err *e)
{
    struct err raw = {0};
    return check_use(s, f, p, inputs, &raw) || kernel_fail_given(p, &raw, e);
}

// Every capability that is known, and the feature behind it; 0: judged elsewhere, or always there.
// What they need: Vulkan spec, appendix "SPIR-V Capabilities".
static const struct capability {
    uint32_t number;
    unsigned feature;
    const char *name;
} capabilities[] = {
    {SpvCapabilityMatrix, 0, "matrices"},
    {SpvCapabilityShader, 0, "shaders"},
    {SpvCapabilityFloat16, 0, "16-bit floats"},
    {SpvCapabilityFloat64, FEATURE_F64, "64-bit floats"},
    {SpvCapabilityInt64, FEATURE_I64, "64-bit integers"},
    {SpvCapabilityInt16, FEATURE_I16, "16-bit integers"},
    {SpvCapabilityInt8, 0, "8-bit integers"},
    {SpvCapabilityGroupNonUniform, FEATURE_SUBGROUP, "subgroups"},
    {SpvCapabilityGroupNonUniformVote, FEATURE_SUBGROUP << 1, "votes of a subgroup"},
    {SpvCapabilityGroupNonUniformArithmetic, FEATURE_SUBGROUP << 2, "arithmetic of a subgroup"},
    {SpvCapabilityGroupNonUniformBallot, FEATURE_SUBGROUP << 3, "ballots of a subgroup"},
    {SpvCapabilityGroupNonUniformShuffle, FEATURE_SUBGROUP << 4, "shuffles of a subgroup"},
    {SpvCapabilityGroupNonUniformShuffleRelative, FEATURE_SUBGROUP << 5,
     "relative shuffles of a subgroup"},
    {SpvCapabilityGroupNonUniformClustered, FEATURE_SUBGROUP << 6, "clusters of a subgroup"},
    {SpvCapabilityGroupNonUniformQuad, FEATURE_SUBGROUP << 7, "quads of a subgroup"},
    {SpvCapabilityStorageBuffer16BitAccess, 0, "16-bit storage"},
    {SpvCapabilityUniformAndStorageBuffer16BitAccess, 0, "16-bit storage"},
    {SpvCapabilityStorageBuffer8BitAccess, 0, "8-bit storage"},
    {SpvCapabilityUniformAndStorageBuffer8BitAccess, 0, "8-bit storage"},
    {SpvCapabilityDotProduct, 0, "dot products of integers"},
    {SpvCapabilityDotProductInput4x8BitPacked, 0, "dot products of bytes"},
    {SpvCapabilityVulkanMemoryModel, FEATURE_MEMORY_MODEL, "Vulkan's memory model"},
    {SpvCapabilityVulkanMemoryModelDeviceScope, FEATURE_MEMORY_MODEL_DEVICE,
     "the device scope of Vulkan's memory model"},
    {SpvCapabilityCooperativeMatrixNV, 0, "cooperative matrices"},
    {SPIRV_CAPABILITY_MATRIX_KHR, 0, "cooperative matrices"},
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
        bool known = limits_knows(l, LIMITS_features);
        if (c && (!known || (c->feature & l->features) == c->feature))
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

    if ((f->uses_f16 || f->uses_f16_storage) && !l->f16 && limits_knows(l, LIMITS_f16)) {
        if (!exceeded)
            snprintf(reason, size, "needs 16-bit floats, which the device does not have");
        exceeded |= KERNEL_NEEDS_F16;
    }
    if (f->uses_i8 && !l->i8 && limits_knows(l, LIMITS_i8)) {
        if (!exceeded)
            snprintf(reason, size, "needs 8-bit integers, which the device does not have");
        exceeded |= KERNEL_NEEDS_I8;
    }
    if (f->uses_dot && !l->dot && limits_knows(l, LIMITS_dot)) {
        if (!exceeded)
            snprintf(reason, size, "needs dot products of bytes, which the device does not have");
        exceeded |= KERNEL_NEEDS_FEATURE;
    }
    char lacking[200];
    if (lacks_feature(f, l, lacking, sizeof lacking)) {
        if (!exceeded)
            snprintf(reason, size, "%s", lacking);
        exceeded |= KERNEL_NEEDS_FEATURE;
    }
    if (lacks_subgroup(f, l, lacking, sizeof lacking)) {
        if (!exceeded)
            snprintf(reason, size, "%s", lacking);
        exceeded |= KERNEL_NEEDS_SUBGROUP;
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
