#include "variant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define DRAWS 200000

const struct limits variant_gpu = {
    .invocations = 1024,
    .group_size = {1024, 1024, 64},
    .group_count = {INT32_MAX, 65535, 65535},
    .shared_bytes = 49152,
    .buffer_bytes = INT32_MAX,
    .accumulators = 256,
    .statements = 20000,
    .subgroup_size = 32,
    .f16 = true,
};

const struct limits variant_cpu = {
    .invocations = 1024,
    .group_size = {1024, 1024, 1024},
    .group_count = {65535, 65535, 65535},
    .shared_bytes = 32768,
    .buffer_bytes = 1 << 27,
    .loop_trips = 65535,
    .accumulators = 256,
    .statements = 20000,
    .subgroup_size = 8,
    .f16 = true,
};

struct script *variant_load(const struct variant *v)
{
    static const char *const name[] = {"N", "M", "K"};
    char value[3][16], message[1400];
    struct setting set[5];
    int count = 0;
    for (int i = 0; v->size[0] && i < 3; i++) {
        snprintf(value[i], sizeof value[i], "%d", v->size[i]);
        set[count++] = (struct setting){name[i], value[i]};
    }
    if (v->type)
        set[count++] = (struct setting){"type", v->type};
    if (v->layout)
        set[count++] = (struct setting){"layout", v->layout};
    struct err e;
    char *path = script_find(v->preset, &e);
    assert_non_null(path);
    struct script_options o = {.path = path,
                               .set = set,
                               .set_count = count,
                               .device_type = v->device_type,
                               .limits = v->limits};
    struct script *s = script_create(&o, &e);
    if (!s)
        fail_msg("%s", err_format(&e, message, sizeof message));
    free(path);
    return s;
}

bool variant_sample(struct script *s, const struct limits *l, struct rng *r, struct config *c,
                    struct resources *needs)
{
    const struct space *space = script_space(s);
    struct err e;
    struct verdict verdict = {0};
    for (int i = 0; i < DRAWS && !verdict.legal; i++) {
        space_sample(space, r, c);
        assert_true(space_judge(space, l, c, &verdict, &e));
    }
    return verdict.legal && space->resources(space->resources_context, c, needs, &e);
}
