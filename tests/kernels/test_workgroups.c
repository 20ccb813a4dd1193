// Kernels with matrices of a workgroup (VK_NV_cooperative_matrix2), and with matrices of bf16 and
// f8, as they are for a device that has them and is not here: random ones of each preset that
// offers them compile, need no more than was declared and are valid SPIR-V; and devices that lack a
// part are refused, by the space file and by the check of a module. What the device here has of
// VK_NV_cooperative_matrix2 for subgroups runs.
#include "gpu/vk.h"
#include "group.h"
#include "proof.h"

#include "engine/sample.h"
#include "kernel/checked.h"
#include "kernel/fit.h"
#include "kernel/kernel.h"
#include "trial/operator.h"

#include "base/mem.h"
#include "base/str.h"

#include <stddef.h>
#include <string.h>

enum { KERNELS = 12, MOST_SET = 8 };

// What NVIDIA's driver lists on an H200, and 128 invocations with other sizes.
static struct limits device_of(void)
{
    struct limits l = limits_large_gpu;
    l.features = FEATURE_MATRIX2_ALL | FEATURE_BF16 | FEATURE_BF16_MATRIX | FEATURE_F8 |
                 FEATURE_F8_MATRIX | FEATURE_ADDRESS | FEATURE_MEMORY_MODEL |
                 FEATURE_MEMORY_MODEL_DEVICE | FEATURE_I16 | FEATURE_SUBGROUP_ADDS;
    l.spirv_minor = 6;
    l.subgroup_least = l.subgroup_most = 32;
    l.group_subgroups = 32;
    l.flexible = (struct matrix_units){.api = MATRIX_KHR,
                                       .count = 7,
                                       .shape = {{32, 32, 16, "f16", "f32", 256},
                                                 {32, 32, 16, "f16", "f16", 256},
                                                 {32, 32, 32, "i8", "i32", 256},
                                                 {32, 16, 16, "f16", "f32", 128},
                                                 {32, 32, 16, "bf16", "f32", 256},
                                                 {32, 32, 32, "f8e4m3", "f32", 256},
                                                 {32, 32, 32, "f8e5m2", "f32", 256}}};
    const struct matrix_shape others[] = {{16, 8, 16, "bf16", "f32"},
                                          {16, 16, 32, "f8e4m3", "f32"},
                                          {16, 16, 16, "f8e5m2", "f32"},
                                          {16, 8, 32, "u8", "u32"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        matrix_units_add(&l.matrix, &others[i]);
    l.matrix_size = 1024;
    l.matrix_invocations = 256;
    l.matrix_shared = 8192;
    return l;
}

struct product {
    const char *preset;           // or a file of the folder `definitions`
    struct setting set[MOST_SET]; // until one without a name
};

// On a "cpu" tiles are small and compile in seconds.
static struct script *load(const char *units, const char *device_type, const struct product *p,
                           const struct limits *l, struct err *e)
{
    struct setting set[MOST_SET + 1] = {{"units", units}};
    int count = 1;
    for (; count <= MOST_SET && p->set[count - 1].name; count++)
        set[count] = p->set[count - 1];
    char *path = strchr(p->preset, '.') ? mem_printf("%s/%s", TILEWALK_DEFINITIONS, p->preset)
                                        : script_find(p->preset, e);
    struct script *s = path ? script_create(&(struct script_options){.path = path,
                                                                     .set = set,
                                                                     .set_count = count,
                                                                     .device_type = device_type,
                                                                     .limits = l},
                                            e)
                            : NULL;
    free(path);
    return s;
}

static void compile(const struct pass *pass, struct spirv *spirv, struct kernel_facts *facts)
{
    struct err e;
    char message[1400];
    if (!kernel_compile_pass(pass, 6, spirv, &e) || !kernel_inspect(spirv, facts, &e))
        fail_msg("%s\n%s", err_format(&e, message, sizeof message), pass->glsl);
    facts->subgroup = pass->subgroup;
}

// Returns whether SPIRV-Tools knows what this kernel has.
static bool validator_knows(const char *glsl)
{
    struct spirv s = {0};
    struct err e;
    assert_true(kernel_compile(glsl, &s, &e));
    bool ok = kernel_validate(&s, &e);
    spirv_finish(&s);
    return ok;
}

// The copy in which every access is checked is a module as well.
static void check_copy(const struct spirv *spirv, const struct kernel_facts *f, bool validate)
{
    uint64_t bytes[16];
    struct spirv copy = {0};
    struct kernel_facts of_copy;
    struct err e;
    assert_true(f->bindings <= 16);
    for (uint32_t i = 0; i < f->bindings; i++)
        bytes[i] = UINT64_C(1) << 20;
    if (!kernel_check_accesses(spirv, bytes, (int)f->bindings, true, &copy, &e) ||
        !kernel_inspect(&copy, &of_copy, &e) || (validate && !kernel_validate(&copy, &e)))
        fail_msg("checked: %s", e.text);
    assert_int_equal(of_copy.bindings, f->bindings + 1);
    spirv_finish(&copy);
}

static void check_kernel(struct script *s, const struct limits *l, const struct config *c,
                         bool of_workgroups, bool validate)
{
    struct job job;
    struct err e;
    char reason[200];
    assert_true(script_render(s, c, &job, &e));
    for (int i = 0; i < job.pass_count; i++) {
        struct spirv spirv = {0};
        struct kernel_facts facts;
        compile(&job.pass[i], &spirv, &facts);
        assert_int_equal(facts.has_group_matrices, of_workgroups && i == 0);
        if (kernel_check(&facts, job.pass[i].groups, l, reason, sizeof reason))
            fail_msg("%s", reason);
        if (validate && !kernel_validate(&spirv, &e))
            fail_msg("%s\n%s", e.text, job.pass[i].glsl);
        check_copy(&spirv, &facts, validate);
        spirv_finish(&spirv);
    }
    job_finish(&job);
}

// Where searches begin is legal, too.
static void check_beginnings(struct script *s, const struct limits *l, bool validate)
{
    const struct space *space = script_space(s);
    assert_true(space->beginning_count >= 3);
    for (int i = 0; i < space->beginning_count; i++) {
        const struct baseline *b = &space->beginning[i];
        struct verdict v = {.legal = false};
        struct err e;
        if (b->misfit || !space_judge(space, l, &b->config, &v, &e) || !v.legal)
            fail_msg("point %d: %s%s", i, b->misfit ? b->misfit : "", v.reason);
        check_kernel(s, l, &b->config, true, validate);
    }
}

static const struct product products[] = {
    {"gemm-coop", {{"layout", "nn"}}},
    {"gemm-coop", {{"layout", "tt"}, {"N", "77"}, {"M", "93"}, {"K", "201"}, {"bias", "add"}}},
    {"gemm-coop", {{"layout", "nt"}, {"accumulate", "f16"}, {"activation", "relu"}}},
    {"gemm-coop", {{"layout", "tn"}, {"type", "i8"}, {"M", "2043"}, {"residual", "add"}}},
    {"bmm", {{"type", "f16"}, {"batch", "3"}, {"N", "33"}, {"M", "65"}, {"K", "31"}}},
    {"gemm", {{"type", "f16"}, {"blocks", "q4_0"}, {"M", "100"}}},
    {"gemm", {{"type", "f16"}, {"blocks", "q8_0"}, {"layout", "nt"}, {"N", "100"}}},
    {"gemm", {{"type", "f16"}, {"blocks", "q4_K"}, {"bias", "add"}}},
    {"gemm", {{"type", "f16"}, {"blocks", "q6_K"}}},
    {"conv-implicit", {{"type", "f16"}, {"layout", "nchw"}, {"stride", "2"}, {"bias", "add"}}},
    {"conv-implicit", {{"type", "f16"}, {"layout", "nhwc"}, {"dilation", "2"}}},
    {"conv-implicit", {{"type", "i8"}, {"layout", "nhwc"}, {"groups", "2"}, {"batch", "1"}}},
    {"conv1x1", {{"type", "f16"}, {"layout", "nchw"}, {"height", "7"}, {"width", "7"}}},
};

static bool is_last_sketch(const struct space *s, const struct config *c)
{
    const struct param *p = &s->param[s->chooser];
    return (uint64_t)c->slot[p->offset] == p->size - 1;
}

static void check_products(const char *units, const struct product *list, size_t count,
                           bool validate)
{
    const struct limits l = device_of();
    bool of_workgroups = str_equal(units, "nv2");
    struct rng r;
    struct err e;
    char message[1400];
    rng_seed(&r, 1);
    for (size_t i = 0; i < count; i++) {
        struct script *s = load(units, "discrete", &list[i], &l, &e);
        if (!s)
            fail_msg("%s", err_format(&e, message, sizeof message));
        if (of_workgroups)
            check_beginnings(s, &l, validate);
        for (int k = 0; k < KERNELS; k++) {
            struct config c;
            do // a definition has its sketch on matrix units last
                if (!sample_draw(s, &l, &r, &c, &e))
                    fail_msg("%s: %s", list[i].preset, err_format(&e, message, sizeof message));
            while (script_program(s) && !is_last_sketch(script_space(s), &c));
            check_kernel(s, &l, &c, of_workgroups, validate);
        }
        script_destroy(s);
    }
    print_message("%d kernels of units=%s %s\n", (int)(KERNELS * count), units,
                  validate ? "are valid" : "compile; SPIRV-Tools is too old to validate them");
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

static void kernels_are_valid(void **state)
{
    static const char least[] =
        "#version 450\n#extension GL_KHR_cooperative_matrix : require\n"
        "#extension GL_NV_cooperative_matrix2 : require\n"
        "#extension GL_KHR_memory_scope_semantics : require\nlayout(local_size_x = 32) in;\n"
        "layout(binding = 0) buffer C { float c[]; };\nvoid main() {\n"
        "coopmat<float, gl_ScopeWorkgroup, 32, 32, gl_MatrixUseAccumulator> m;\n"
        "coopMatLoadTensorNV(m, c, 0, setTensorLayoutDimensionNV(createTensorLayoutNV(2), 32, "
        "32));\n"
        "}\n";
    (void)state;
    if (!kernel_knows_matrix2()) {
        print_message("skipped: this compiler does not know GL_NV_cooperative_matrix2\n");
        skip();
    }
    check_products("nv2", products, COUNT(products), validator_knows(least));
}

// Of types that a later compiler knows than matrices: bf16 and f8.
static const struct product of_floats[] = {
    {"gemm-coop", {{"type", "bf16"}, {"layout", "nn"}}},
    {"gemm-coop", {{"type", "f8e4m3"}, {"layout", "tt"}, {"N", "277"}, {"M", "293"}, {"K", "201"}}},
    {"gemm", {{"type", "f8e5m2"}, {"layout", "nt"}, {"bias", "add"}, {"activation", "relu"}}},
    {"bmm", {{"type", "bf16"}, {"batch", "3"}, {"N", "133"}, {"M", "165"}, {"K", "31"}}},
    {"conv-implicit", {{"type", "bf16"}, {"layout", "nchw"}, {"stride", "2"}, {"bias", "add"}}},
    {"conv-implicit", {{"type", "f8e4m3"}, {"layout", "nhwc"}, {"groups", "2"}}},
    {"conv1x1", {{"type", "f8e5m2"}, {"layout", "nhwc"}, {"residual", "add"}}},
    {"flash-attention", {{"type", "bf16"}, {"N", "21"}, {"M", "43"}, {"dim", "16"}}},
};

// The least kernel with one of them.
static const char least_float[] =
    "#version 450\n#extension GL_EXT_float_e4m3 : require\nlayout(local_size_x = 1) in;\n"
    "layout(binding = 0) buffer C { float c; };\n"
    "void main() { c = float(floate4m3_t(c)); }\n";

static void kernels_of_other_floats_are_valid(void **state)
{
    (void)state;
    for (enum element e = 0; e < ELEMENT_COUNT; e++)
        if (!kernel_knows_float(e)) {
            print_message("skipped: this compiler does not know %s\n", element_floats[e].extension);
            skip();
        }
    bool validate = validator_knows(least_float);
    check_products("khr", of_floats, COUNT(of_floats), validate);
    check_products("nv2", of_floats, COUNT(of_floats) - 1, validate); // no attention
}

// Definitions, in the types that their other tests do not run on units everywhere.
static void kernels_of_definitions_are_valid(void **state)
{
    static const char least[] =
        "#version 450\n#extension GL_KHR_cooperative_matrix : require\n"
        "#extension GL_KHR_memory_scope_semantics : require\nlayout(local_size_x = 32) in;\n"
        "layout(binding = 0) buffer C { float c[]; };\nvoid main() {\n"
        "coopMatStore(coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator>(0), c, 0, "
        "16, gl_CooperativeMatrixLayoutRowMajor);\n}\n";
    static const struct product defined[] = {
        {"fragments.lua", {{"type", "u8"}}},
        {"fragments_image.lua", {{"type", "u8"}}},
        {"fragments.lua", {{"type", "bf16"}}},
        {"fragments_image.lua", {{"type", "bf16"}}},
        {"fragments.lua", {{"type", "f8e5m2"}}},
        {"fragments_image.lua", {{"type", "f8e4m3"}}},
        {"fragments_chosen.lua", {{"type", "bf16"}}},
        {"fragments_chosen.lua", {{"type", "f8e4m3"}}},
    };
    (void)state;
    if (!kernel_knows_matrix(MATRIX_KHR)) {
        print_message("skipped: this compiler does not know GL_KHR_cooperative_matrix\n");
        skip();
    }
    for (size_t i = 0; i < COUNT(defined); i++) {
        enum element e = element_named(defined[i].set[0].value);
        if (!kernel_knows_float(e))
            print_message("not %s: this compiler does not know it\n", element_name(e));
        else
            check_products("khr", &defined[i], 1,
                           validator_knows(element_is_bits(e) ? least_float : least));
    }
}

// Checks that a device without it is refused, and why.
static void refuse(const struct product *p, const struct limits *l, const char *told)
{
    struct err e;
    char message[1400];
    struct script *s = load("nv2", "discrete", p, l, &e);
    assert_null(s);
    if (!strstr(err_format(&e, message, sizeof message), told))
        fail_msg("'%s' is not in: %s", told, message);
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    const struct product *f16 = &products[0];
    for (int i = 0; i < MATRIX2_COUNT; i++) {
        struct limits l = device_of();
        l.features &= ~((unsigned)FEATURE_MATRIX2 << i);
        bool is_needed = i < 2 || i == 4 || i == 5; // not reductions, conversions, block loads
        struct err e;
        if (is_needed) {
            refuse(f16, &l, limits_matrix2[i]);
        } else {
            struct script *s = load("nv2", "discrete", f16, &l, &e);
            assert_non_null(s);
            script_destroy(s);
        }
    }
    struct limits l = device_of();
    matrix_units_remove(&l.flexible, ELEMENT_BF16);
    refuse(&of_floats[0], &l, "bf16");
    limits_remove_matrix2(&l);
    refuse(f16, &l, "nv2-emulated");
    refuse(f16, &limits_vulkan_minimum, "VK_KHR_cooperative_matrix");
}

// A module that came otherwise: matrices of a workgroup, more invocations than they may have, or
// three subgroups.
static void modules_are_judged(void **state)
{
    static const char glsl[] =
        "#version 450\n#extension GL_KHR_cooperative_matrix : require\n"
        "#extension GL_KHR_memory_scope_semantics : require\nlayout(local_size_x = 128) in;\n"
        "layout(binding = 0) buffer C { float c[]; };\nvoid main() {\n"
        "coopmat<float, gl_ScopeWorkgroup, 32, 32, gl_MatrixUseAccumulator> m = "
        "coopmat<float, gl_ScopeWorkgroup, 32, 32, gl_MatrixUseAccumulator>(0);\n"
        "coopMatStore(m, c, 0, 32, gl_CooperativeMatrixLayoutRowMajor);\n}\n";
    const uint32_t groups[3] = {1, 1, 1};
    struct limits l = device_of();
    struct kernel_facts f;
    struct spirv s = {0};
    struct err e;
    char reason[200];
    (void)state;
    if (!kernel_knows_matrix(MATRIX_KHR))
        skip();
    assert_true(kernel_compile(glsl, &s, &e) && kernel_inspect(&s, &f, &e));
    spirv_finish(&s);
    assert_true(f.has_group_matrices && f.written == 1);
    assert_int_equal(kernel_check(&f, groups, &l, reason, sizeof reason), 0);
    f.local_size[0] = 96;
    assert_int_equal(kernel_check(&f, groups, &l, reason, sizeof reason), KERNEL_NEEDS_MATRIX);
    f.local_size[0] = 128;
    l.matrix_invocations = 64;
    assert_int_equal(kernel_check(&f, groups, &l, reason, sizeof reason), KERNEL_NEEDS_MATRIX);
    l = device_of();
    l.features &= ~(unsigned)FEATURE_MATRIX2;
    assert_int_equal(kernel_check(&f, groups, &l, reason, sizeof reason), KERNEL_NEEDS_MATRIX);
    l = device_of();
    l.matrix_shared = l.shared_bytes + 1; // the driver's own
    assert_int_equal(kernel_check(&f, groups, &l, reason, sizeof reason), 1u << LIMIT_SHARED);
}

// A module with a type of which the device has no matrices, or not even the type.
static void types_are_judged(void **state)
{
    const uint32_t groups[3] = {1, 1, 1};
    const unsigned has[] = {0, FEATURE_F8, FEATURE_F8 | FEATURE_F8_MATRIX};
    struct kernel_facts f = {.words = 100,
                             .local_size = {1, 1, 1},
                             .capability_count = 2,
                             .capability = {4212, 4213}}; // Float8EXT, Float8CooperativeMatrixEXT
    char reason[200];
    (void)state;
    for (size_t i = 0; i < COUNT(has); i++) {
        struct limits l = device_of();
        l.features = has[i];
        unsigned lacks = kernel_check(&f, groups, &l, reason, sizeof reason);
        assert_int_equal(lacks, i < 2 ? KERNEL_NEEDS_FEATURE : 0);
    }
}

// Draws kernels of which a parameter has this value, and holds them against the reference.
static void run_with(struct gpu *gpu, const struct product *p, const char *value)
{
    struct limits l = gpu_get_info(gpu)->limits;
    struct config c;
    struct rng r;
    struct err e;
    char message[1400];
    bool wrong;
    l.statements = 150; // CPU drivers translate about a thousand a second
    rng_seed(&r, 1);
    struct script *s = load("khr", "cpu", p, &l, &e);
    if (!s)
        fail_msg("%s", err_format(&e, message, sizeof message));
    for (int right = 0, drawn = 0; right < 2; drawn++) {
        struct str text = {0};
        assert_true(drawn < 1000 && sample_draw(s, &l, &r, &c, &e));
        config_add_json(script_space(s), &c, &text);
        bool is_it = strstr(str_text(&text), value) != NULL;
        if (is_it && !proof_run(gpu, s, &c, 1, &wrong, &e))
            fail_msg("%s: %s", str_text(&text), err_format(&e, message, sizeof message));
        right += is_it;
        str_finish(&text);
    }
    script_destroy(s);
}

// Flexible sizes, per-element operations and reductions run where a device has them.
static void what_a_device_has_is_right(void **state)
{
    static const struct product ragged = {"gemm-coop",
                                          {{"N", "37"}, {"M", "45"}, {"K", "52"}, {"bias", "add"}}};
    static const struct product heads = {
        "flash-attention",
        {{"type", "f16"}, {"N", "21"}, {"M", "43"}, {"dim", "16"}, {"heads", "2"}}};
    int code;
    struct gpu *gpu = proof_open(&code);
    (void)state;
    struct limits *l = gpu ? &gpu->adapter.info.limits : NULL;
    if (l && kernel_knows_matrix2())
        l->matrix = gpu->adapter.info.matrix_khr;
    bool has = l && l->matrix.api && l->flexible.count && l->features & FEATURE_MATRIX2_ELEMENTS &&
               l->features & FEATURE_MATRIX2 << 2;
    if (has) {
        run_with(gpu, &ragged, "\"store\":\"elements\"");
        run_with(gpu, &ragged, "\"matrix\":\"16x16x16\"");
        run_with(gpu, &heads, "\"largest\":\"reduce\"");
        assert_int_equal(gpu->messages, 0);
    }
    gpu_close(gpu);
    if (!has) {
        print_message("skipped: the device has no VK_NV_cooperative_matrix2\n");
        skip();
    }
}

TEST_GROUP(workgroups)
{
    kernel_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_valid),
        cmocka_unit_test(kernels_of_other_floats_are_valid),
        cmocka_unit_test(kernels_of_definitions_are_valid),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(modules_are_judged),
        cmocka_unit_test(types_are_judged),
        cmocka_unit_test(what_a_device_has_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
