#include "kernel/kernel.h"

#include <assert.h>
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
