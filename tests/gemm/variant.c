#include "variant.h"

#include "base/mem.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DRAWS     200000
#define MAX_TEXTS 8

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

static struct script *create(const struct script_options *o)
{
    struct err e;
    char message[1400];
    struct script *s = script_create(o, &e);
    if (!s)
        fail_msg("%s", err_format(&e, message, sizeof message));
    return s;
}

// The presets say `type = "f32", layout = "nn"`, once; the test fails when they no longer do.
static char *with_type(const char *text, const struct variant *v)
{
    static const char shipped[] = "type = \"f32\", layout = \"nn\"";
    const char *at = strstr(text, shipped);
    assert_non_null(at);
    return mem_printf("%.*stype = \"%s\", layout = \"%s\"%s", (int)(at - text), text, v->type,
                      v->layout, at + strlen(shipped));
}

// Loads once for the texts, changes the one with the operator, and loads again from the texts.
static struct script *load_changed(const struct variant *v, struct script_options *o)
{
    struct script *shipped = create(o);
    int count;
    const struct script_text *given = script_texts(shipped, &count);
    struct script_text text[MAX_TEXTS];
    assert_in_range(count, 1, MAX_TEXTS);
    memcpy(text, given, (size_t)count * sizeof *text);
    char *changed = with_type(given[0].text, v);
    text[0].text = changed;
    o->texts = text;
    o->text_count = count;
    struct script *s = create(o);
    script_destroy(shipped);
    free(changed);
    return s;
}

struct script *variant_load(const struct variant *v)
{
    static const char *const name[] = {"N", "M", "K"};
    char value[3][16];
    struct setting set[3];
    for (int i = 0; i < 3; i++) {
        snprintf(value[i], sizeof value[i], "%d", v->size[i]);
        set[i] = (struct setting){name[i], value[i]};
    }
    struct err e;
    char *path = script_find(v->preset, &e);
    assert_non_null(path);
    struct script_options o = {.path = path,
                               .set = set,
                               .set_count = v->size[0] ? 3 : 0,
                               .device_type = v->device_type,
                               .limits = v->limits};
    struct script *s = v->type ? load_changed(v, &o) : create(&o);
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
