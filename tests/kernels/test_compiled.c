// Random kernels of every preset, through Debian's own AMD driver, which opens without any
// hardware: it refuses none, on two generations of chips, and the validation layer says nothing of
// the one where kernels choose their subgroups. In this process, as opening that driver takes
// longer than compiling all five kernels of most presets: the program does the same in workers
// (check --compile), for which tests/flow/test_compile.c is there.
#include "group.h"

#include "gpu/gpu.h"
#include "gpu/vk.h"
#include "kernel/kernel.h"
#include "script/script.h"
#include "trial/candidate.h"
#include "trial/operator.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define AMD     "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json"
#define LAYER   "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"
#define KERNELS 5
#define DRAWS   200000

// NULL: the preset asks for matrix units, for which this driver is too old.
static struct script *load(const char *preset, const struct gpu_info *device)
{
    struct err e;
    char message[1400];
    char *path = script_find(preset, &e);
    assert_non_null(path);
    struct script *s = script_create(&(struct script_options){.path = path,
                                                              .device_type = device->type,
                                                              .limits = &device->limits},
                                     &e);
    free(path);
    if (!s && !strstr(err_format(&e, message, sizeof message), "no matrix units"))
        fail_msg("%s: %s", preset, message);
    return s;
}

// The next one that was not drawn before.
static void draw(const struct space *space, const struct limits *l, struct config_set *seen,
                 struct rng *r, struct config *c)
{
    struct err e;
    struct verdict v = {0};
    bool is_new = false;
    for (int i = 0; i < DRAWS && !is_new; i++) {
        space_sample(space, r, c);
        assert_true(space_judge(space, l, c, &v, &e));
        if (v.legal)
            config_set_add(seen, c, &is_new);
    }
    assert_true(is_new);
}

static void compile(struct gpu *gpu, struct script *s, const struct config *c, const char *preset)
{
    struct candidate candidate = {0};
    struct failure why;
    struct job job;
    struct err e;
    assert_true(script_render(s, c, &job, &e));
    const struct operator_layout layout = operator_layout(script_operation(s));
    const struct job_roles roles = operator_roles(&layout);
    if (!candidate_compile(&candidate, &job, &gpu_get_info(gpu)->limits, &roles, &why))
        fail_msg("%s: %s", preset, why.reason);
    if (candidate_link(&candidate, gpu, &e) != GPU_OK)
        fail_msg("%s: %s", preset, e.text);
    candidate_finish(&candidate, gpu);
    job_finish(&job);
}

static void compile_preset(struct gpu *gpu, const char *preset)
{
    const struct gpu_info *device = gpu_get_info(gpu);
    struct script *s = load(preset, device);
    if (!s)
        return;
    struct config_set seen = {.slots = script_space(s)->slots};
    struct config c;
    struct rng r;
    rng_seed(&r, 1);
    for (int i = 0; i < KERNELS; i++) {
        draw(script_space(s), &device->limits, &seen, &r, &c);
        compile(gpu, s, &c, preset);
    }
    config_set_finish(&seen);
    script_destroy(s);
    if (gpu->messages)
        fail_msg("%s: the validation layer speaks", preset);
}

static void compile_all(const char *chip, bool validate)
{
    struct err e;
    int count;
    setenv("RADV_FORCE_FAMILY", chip, 1);
    struct gpu *gpu = gpu_open_to_compile(0, validate, &e);
    if (!gpu)
        fail_msg("%s: %s", chip, e.text);
    char **preset = script_presets(&count);
    assert_true(count > 20);
    for (int i = 0; i < count; i++) {
        compile_preset(gpu, preset[i]);
        free(preset[i]);
    }
    free(preset);
    gpu_close(gpu);
}

static void every_preset_compiles(void **state)
{
    (void)state;
    if (access(AMD, R_OK) != 0 ||
        getenv("ASAN_OPTIONS")) // such drivers do not bear being sanitized
        skip();
    setenv("VK_DRIVER_FILES", AMD, 1);
    setenv("VK_ICD_FILENAMES", AMD, 1);
    gpu_prepare_environment();
    kernel_setup();
    compile_all("navi21", access(LAYER, R_OK) == 0);
    compile_all("vega10", false);
}

TEST_GROUP(compiled)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_preset_compiles)};
    return cmocka_run_group_tests_name("compiled", tests, NULL, NULL);
}
