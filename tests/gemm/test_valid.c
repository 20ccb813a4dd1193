// What every shipped preset generates is SPIR-V as Vulkan 1.1 wants it, by Khronos' own validator:
// random legal points, for a CPU device and a GPU, with the shipped sizes and with odd ones.
#include "base/mem.h"
#include "group.h"
#include "kernel/fit.h"
#include "kernel/kernel.h"
#include "variant.h"

#include "base/str.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define POINTS     6
#define MOST_SIZES 64

static void check_pass(const struct pass *pass, const char *what)
{
    struct err e = {.text = ""};
    struct spirv spirv;
    if (!kernel_compile(pass->glsl, &spirv, &e))
        fail_msg("%s: %s\n%s", what, e.text, pass->glsl);
    if (!kernel_validate(&spirv, &e))
        fail_msg("%s: %s\n%s", what, e.text, pass->glsl);
    spirv_finish(&spirv);
}

static void check_point(struct script *s, const struct config *c, const char *preset)
{
    struct err e = {.text = ""};
    struct job job;
    struct str what = {0};
    str_printf(&what, "%s ", preset);
    operation_add_text(script_operation(s), &what);
    config_add_json(script_space(s), c, &what);
    if (!script_render(s, c, &job, &e))
        fail_msg("%s: %s", str_text(&what), e.text);
    for (int i = 0; i < job.pass_count; i++)
        check_pass(&job.pass[i], str_text(&what));
    job_finish(&job);
    str_finish(&what);
}

// False: nothing legal was found.
static bool draw(struct script *s, const struct limits *l, struct rng *r, struct config *c)
{
    struct verdict verdict = {0};
    struct err e = {.text = ""};
    for (int i = 0; i < 200000 && !verdict.legal; i++) {
        space_sample(script_space(s), r, c);
        if (!space_judge(script_space(s), l, c, &verdict, &e))
            fail_msg("%s", e.text);
    }
    return verdict.legal;
}

// What needs matrix units is loaded with emulated ones where the device has none.
static struct script *load(const char *path, const char *device_type, const struct limits *l,
                           const struct setting *set, int set_count, struct err *e)
{
    const struct setting emulated = {"units", "emulated"};
    struct script_options o = {
        .path = path, .device_type = device_type, .limits = l, .set = set, .set_count = set_count};
    if (strstr(path, "/gemm-coop.lua") && l->matrix.api == MATRIX_NONE && set_count == 0) {
        o.set = &emulated;
        o.set_count = 1;
    }
    return script_create(&o, e);
}

// One less than shipped, where that is not small; NULL where the preset does not take such sizes.
static struct script *load_odd(struct script *shipped, const char *path, const char *device_type,
                               const struct limits *l)
{
    struct setting set[MOST_SIZES];
    struct err ignored;
    int all, count = 0;
    const struct script_setting *setting = script_settings(shipped, &all);
    assert_in_range(all, 0, MOST_SIZES);
    for (int i = 0; i < all; i++) {
        int64_t value = 0;
        bool is_large = !setting[i].values && str_to_int(setting[i].value, 17, INT32_MAX, &value);
        if (is_large)
            set[count++] =
                (struct setting){setting[i].name, mem_printf("%lld", (long long)value - 1)};
    }
    struct script *s = load(path, device_type, l, set, count, &ignored);
    for (int i = 0; i < count; i++)
        free((void *)(uintptr_t)set[i].value);
    return s;
}

static void check_preset(const char *preset, const char *device_type, const struct limits *device,
                         struct rng *r)
{
    struct limits roomy = *device, *l = &roomy;
    roomy.buffer_bytes = UINT64_MAX; // nothing is run, and the paper's batches are large
    struct err e = {.text = ""};
    struct config c;
    char *path = script_find(preset, &e);
    struct script *s = path ? load(path, device_type, l, NULL, 0, &e) : NULL;
    if (!s)
        fail_msg("%s: %s", preset, e.text);
    struct script *odd = load_odd(s, path, device_type, l);
    for (int i = 0; i < POINTS; i++) {
        if (!draw(s, l, r, &c))
            fail_msg("%s: no legal point", preset);
        check_point(s, &c, preset);
        if (odd && draw(odd, l, r, &c))
            check_point(odd, &c, preset);
    }
    script_destroy(odd);
    script_destroy(s);
    free(path);
}

static void check_on_both(const char *preset, struct rng *r)
{
    check_preset(preset, "cpu", &variant_cpu, r);
    check_preset(preset, "discrete", &variant_gpu, r);
}

static void test_presets(void **state)
{
    (void)state;
    variant_each_preset(check_on_both);
}

// The validator that all of this rests on does say no.
static void test_broken_module(void **state)
{
    struct err e = {.text = ""};
    struct spirv spirv;
    (void)state;
    assert_true(
        kernel_compile("#version 450\nlayout(local_size_x = 1) in;\nvoid main() {}\n", &spirv, &e));
    assert_true(kernel_validate(&spirv, &e));
    spirv.count--; // without OpFunctionEnd
    assert_false(kernel_validate(&spirv, &e));
    assert_true(strlen(e.text) > 0);
    spirv.count++;
    spirv_finish(&spirv);
}

TEST_GROUP(valid)
{
    kernel_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_broken_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
