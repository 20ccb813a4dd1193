#include "variant.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a)     (sizeof(a) / sizeof((a)[0]))
#define VALUES(...)  ((const char *const[]){__VA_ARGS__, NULL})
#define DRAWS        200000
#define MAX_SETTINGS 32

const struct limits variant_gpu = {
    .invocations = 1024,
    .group_size = {1024, 1024, 64},
    .group_count = {INT32_MAX, 65535, 65535},
    .shared_bytes = 49152,
    .buffer_bytes = INT32_MAX,
    .accumulators = 256,
    .statements = 20000,
    .subgroup_size = 32,
    .subgroup_least = 32,
    .subgroup_most = 32,
    .group_subgroups = 32,
    .f16 = true,
    .i8 = true,
    .dot = true,
    .types = UINT32_MAX,
    .features = FEATURE_SUBGROUP_ADDS | FEATURE_SUBGROUP_SHUFFLES,
    .matrix = {.api = MATRIX_NV,
               .count = 5,
               .shape = {{16, 16, 16, "f16", "f32"},
                         {16, 8, 16, "f16", "f32"},
                         {16, 8, 8, "f16", "f32"},
                         {16, 8, 16, "f16", "f16"},
                         {16, 16, 32, "i8", "i32"}}},
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
    .i8 = true,
    .dot = true,
    .types = UINT32_MAX,
    .features = FEATURE_SUBGROUP_ADDS | FEATURE_SUBGROUP_SHUFFLES,
};

const char *const variant_types[] = {"f32", "f16", "i8", "bf16", "u8", "f8e4m3", "f8e5m2", NULL};

#define EXTENTS VALUES("1", "8", "17", "33", "64", "78", "100")
#define EPILOGUE                                                                                   \
    {"bias", VALUES("none", "add")}, {"residual", VALUES("none", "add")},                          \
    {                                                                                              \
        "activation", VALUES("none", "relu", "clamp")                                              \
    }

// Rows in memory are longer than the matrices now and then, in all three at once.
static const struct draw of_gemm[] = {
    {"N", EXTENTS},
    {"M", EXTENTS},
    {"K", VALUES("1", "4", "34", "65", "100")},
    {"batch", VALUES("1", "1", "3", "4")},
    {"row_a", VALUES("0", "0", "104", "107")},
    {"row_b", VALUES("0", "0", "104", "107")},
    {"row_c", VALUES("0", "0", "104", "107")},
    EPILOGUE,
    {0},
};

// With matrix units emulated: any device has those.
static const struct draw of_coop[] = {
    {"units", VALUES("emulated", "nv2-emulated")},
    {"N", EXTENTS},
    {"M", EXTENTS},
    {"K", VALUES("1", "4", "34", "64", "100")},
    {"batch", VALUES("1", "1", "3")},
    {"row_a", VALUES("0", "0", "104", "107")},
    {"row_b", VALUES("0", "0", "104", "107")},
    {"row_c", VALUES("0", "0", "104", "107")},
    EPILOGUE,
    {0},
};

static const struct draw of_bmm[] = {
    {"batch", VALUES("1", "4", "6")},
    {"N", VALUES("16", "48", "64")},
    {"M", VALUES("16", "20", "64")},
    {"K", VALUES("8", "32", "36")},
    {0},
};

static const struct draw of_convolution[] = {
    {"batch", VALUES("1", "2", "3")},
    {"in_channels", VALUES("6", "12", "24")},
    {"out_channels", VALUES("6", "18", "24")},
    {"height", VALUES("7", "9", "16")},
    {"width", VALUES("9", "11", "16")},
    {"kernel_h", VALUES("1", "2", "3")},
    {"kernel_w", VALUES("1", "3", "5")},
    {"stride", VALUES("1", "1", "2", "3")},
    {"padding", VALUES("0", "1", "2")},
    {"dilation", VALUES("1", "1", "2")},
    {"groups", VALUES("1", "1", "2", "6")},
    EPILOGUE,
    {0},
};

static const struct draw of_1x1[] = {
    {"batch", VALUES("1", "2", "3")},
    {"in_channels", VALUES("6", "12", "24")},
    {"out_channels", VALUES("6", "18", "24")},
    {"height", VALUES("5", "8", "16")},
    {"width", VALUES("5", "8", "16")},
    {"stride", VALUES("1", "1", "1", "2")},
    {"groups", VALUES("1", "1", "2")},
    EPILOGUE,
    {0},
};

static const struct draw of_depthwise[] = {
    {"batch", VALUES("1", "2", "3")},
    {"channels", VALUES("6", "12", "16")},
    {"multiplier", VALUES("1", "1", "2", "3")},
    {"height", VALUES("7", "9", "16")},
    {"width", VALUES("9", "11", "16")},
    {"kernel_h", VALUES("1", "2", "3")},
    {"kernel_w", VALUES("1", "3", "5")},
    {"stride", VALUES("1", "1", "2", "3")},
    {"padding", VALUES("0", "1", "2")},
    {"dilation", VALUES("1", "1", "2")},
    EPILOGUE,
    {0},
};

static const char *const of_matrices[] = {"nn", "nt", "tn", "tt", NULL};
static const char *const of_images[] = {"nchw", "nhwc", NULL};

const struct family families[] = {
    {"gemm", of_matrices, of_gemm},
    {"gemm-coop", of_matrices, of_coop},
    {"bmm", of_matrices, of_bmm},
    {"conv-implicit", of_images, of_convolution},
    {"conv1x1", of_images, of_1x1},
    {"conv", of_images, of_convolution},
    {"conv-direct", of_images, of_convolution},
    {"depthwise", of_images, of_depthwise},
};
const int family_count = COUNT(families);

void variant_draw(const struct family *f, const char *layout, const char *type, struct rng *r,
                  struct str *set)
{
    str_printf(set, "layout=%s type=%s", layout, type);
    for (const struct draw *d = f->draws; d->name; d++) {
        uint64_t count = 0;
        while (d->values[count])
            count++;
        str_printf(set, " %s=%s", d->name, d->values[rng_below(r, count)]);
    }
    if (strcmp(type, "f16") == 0 && rng_below(r, 2) && f->draws != of_bmm)
        str_add(set, " accumulate=f16");
}

struct script *variant_load(const char *preset, const char *device_type, const struct limits *l,
                            const char *set)
{
    struct setting setting[MAX_SETTINGS];
    int count = 0;
    char *words = mem_strdup(set), *rest = words, message[1400];
    for (char *word; (word = strtok_r(rest, " ", &rest)); count++) {
        char *equals = strchr(word, '=');
        assert_non_null(equals);
        assert_true(count < MAX_SETTINGS);
        *equals = '\0';
        setting[count] = (struct setting){word, equals + 1};
    }
    struct err e;
    char *path = script_find(preset, &e);
    assert_non_null(path);
    struct script_options o = {
        .path = path, .set = setting, .set_count = count, .device_type = device_type, .limits = l};
    struct script *s = script_create(&o, &e);
    if (!s)
        fail_msg("%s %s: %s", preset, set, err_format(&e, message, sizeof message));
    free(path);
    free(words);
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

void variant_each_preset(void (*check)(const char *preset, struct rng *r))
{
    int count;
    char **name = script_presets(&count);
    struct rng r;
    rng_seed(&r, 1);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        check(name[i], &r);
        free(name[i]);
    }
    free(name);
}
