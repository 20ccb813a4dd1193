// What the presets declare is what the SPIR-V holds: a device limit is judged by arithmetic on the
// former, and only legal points reach a compiler. Also the sizes of the paper's spaces, and that
// legal points are not rare.
#include "base/number.h"
#include "group.h"
#include "kernel/kernel.h"
#include "variant.h"

#include <stddef.h>
#include <string.h>

#define DEFINITION_POINTS 40
#define COUNT(a)          (sizeof(a) / sizeof((a)[0]))

static struct kernel_facts facts_of(const struct pass *pass, const char *what)
{
    struct err e;
    char message[1400];
    struct spirv spirv;
    struct kernel_facts facts;
    if (!kernel_compile(pass->glsl, &spirv, &e) || !kernel_inspect(&spirv, &facts, &e))
        fail_msg("%s: %s\n%s", what, err_format(&e, message, sizeof message), pass->glsl);
    spirv_finish(&spirv);
    return facts;
}

static void check_shared(uint64_t has, const struct resources *needs, const char *what)
{
    if (has != needs->shared_bytes)
        fail_msg("%s: declares %llu shared bytes, has %llu", what,
                 (unsigned long long)needs->shared_bytes, (unsigned long long)has);
}

// A template declares what its first pass has.
static void check_first(const struct job *job, const struct resources *needs, const char *what)
{
    for (int k = 0; k < job->pass_count; k++) {
        const struct pass *pass = &job->pass[k];
        struct kernel_facts facts = facts_of(pass, what);
        if (k > 0)
            continue;
        check_shared(facts.shared_bytes, needs, what);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(facts.local_size[i], needs->group_size[i]);
            assert_int_equal(pass->groups[i], needs->groups[i]);
        }
    }
}

// A definition declares the most that one of its passes has. Some of layer-norm's kernels have
// vectors beside single numbers in shared memory, which is as large as declared only where there
// are no gaps between them.
static void check_most(const struct job *job, const struct resources *needs, const char *what)
{
    uint64_t most = 0;
    for (int k = 0; k < job->pass_count; k++)
        most = uint64_max(most, facts_of(&job->pass[k], what).shared_bytes);
    check_shared(most, needs, what);
}

// Random legal points of a preset, `set` as it is.
static void check_points(const char *preset, const char *device_type, const struct limits *l,
                         const char *set, struct rng *r, int points)
{
    struct script *s = variant_load(preset, device_type, l, set);
    bool is_defined = script_program(s) != NULL;
    for (int i = 0; i < points; i++) {
        struct config c;
        struct resources needs;
        struct job job;
        struct err e;
        char message[1400];
        if (!variant_sample(s, l, r, &c, &needs))
            fail_msg("%s %s: no legal point", preset, set);
        struct str key = {0};
        str_printf(&key, "%s %s ", preset, set);
        config_add_json(script_space(s), &c, &key);
        if (!script_render(s, &c, &job, &e))
            fail_msg("%s: %s", str_text(&key), err_format(&e, message, sizeof message));
        (is_defined ? check_most : check_first)(&job, &needs, str_text(&key));
        job_finish(&job);
        str_finish(&key);
    }
    script_destroy(s);
}

static void check_family(const struct family *f, const char *device_type, const struct limits *l,
                         struct rng *r)
{
    for (int layout = 0; f->layouts[layout]; layout++)
        for (int type = 0; variant_types[type]; type++)
            for (int shape = 0; shape < 3; shape++) {
                struct str set = {0};
                variant_draw(f, f->layouts[layout], variant_types[type], r, &set);
                check_points(f->preset, device_type, l, str_text(&set), r, 2);
                str_finish(&set);
            }
}

static void families_hold_what_they_declare(void **state)
{
    (void)state;
    kernel_setup();
    struct rng r;
    rng_seed(&r, 1);
    for (int i = 0; i < family_count; i++) {
        check_family(&families[i], "cpu", &variant_cpu, &r);
        check_family(&families[i], "discrete", &variant_gpu, &r);
    }
}

static void shipped_sizes_hold_what_they_declare(void **state)
{
    (void)state;
    static const char *const presets[] = {
        "gemm",    "gemm16", "mm1", "bmm1",        "bmm2",      "bmm3",     "conv-implicit",
        "conv1x1", "c1",     "c2",  "conv-direct", "depthwise", "gemm-coop"};
    kernel_setup();
    struct rng r;
    rng_seed(&r, 2);
    for (size_t i = 0; i < COUNT(presets); i++)
        check_points(presets[i], "discrete", &variant_gpu, "", &r, 2);
}

static void check_definition(const char *preset, struct rng *r)
{
    struct script *s = variant_load(preset, "discrete", &variant_gpu, "");
    bool is_defined = script_program(s) != NULL;
    script_destroy(s);
    if (is_defined)
        check_points(preset, "discrete", &variant_gpu, "", r, DEFINITION_POINTS);
}

static void definitions_hold_what_they_declare(void **state)
{
    (void)state;
    kernel_setup();
    variant_each_preset(check_definition);
}

static void papers_spaces_have_their_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *preset, *size;
    } known[] = {{"mm1", "4152720"},   {"mm2", "6606600"},   {"mm3", "5725720"},
                 {"bmm1", "10160640"}, {"bmm2", "10160640"}, {"bmm3", "11289600"},
                 {"c1", "1032192"},    {"c2", "22579200"}};
    for (size_t i = 0; i < COUNT(known); i++) {
        struct script *s = variant_load(known[i].preset, "none", NULL, "");
        assert_string_equal(script_space(s)->size_text, known[i].size);
        script_destroy(s);
    }
}

static int legal_per_thousand(const char *preset, const char *device_type, const struct limits *l,
                              const char *set)
{
    struct script *s = variant_load(preset, device_type, l, set);
    struct rng r;
    rng_seed(&r, 7);
    int legal = 0;
    for (int i = 0; i < 2000; i++) {
        struct config c;
        struct verdict v;
        struct err e;
        space_sample(script_space(s), &r, &c);
        assert_true(space_judge(script_space(s), l, &c, &v, &e));
        legal += v.legal;
    }
    script_destroy(s);
    return legal / 2;
}

static void a_third_of_rich_spaces_is_legal(void **state)
{
    (void)state;
    static const struct {
        const char *preset, *set;
    } rich[] = {
        {"gemm", ""},
        {"gemm", "batch=16"},
        {"gemm16", ""},
        {"conv-implicit", ""},
        {"conv-implicit", "layout=nhwc"},
        {"conv1x1", ""},
        {"conv-direct", ""},
        {"conv-direct", "layout=nhwc"},
        {"depthwise", ""},
        {"depthwise", "layout=nhwc"},
        {"gemm-coop", "units=emulated"},
    };
    for (size_t i = 0; i < COUNT(rich); i++) {
        int on_cpu = legal_per_thousand(rich[i].preset, "cpu", &variant_cpu, rich[i].set);
        int on_gpu = legal_per_thousand(rich[i].preset, "discrete", &variant_gpu, rich[i].set);
        if (on_cpu <= 280 || on_gpu <= 280) // 300 less two standard errors of 2000 draws
            fail_msg("%s %s: %d and %d of 1000 are legal", rich[i].preset, rich[i].set, on_cpu,
                     on_gpu);
    }
}

// Where searches begin is within the space, and a device with 255 registers can run it.
static void beginnings_can_run(void **state)
{
    (void)state;
    static const struct {
        const char *preset, *set;
        int points;
    } begins[] = {
        {"gemm-coop", "", 7},
        {"gemm-coop", "layout=nt", 4},
        {"gemm-coop", "layout=tn type=i8", 7},
        {"gemm-coop", "accumulate=f16 K=2000", 8},
        {"gemm", "", 4},
        {"gemm", "layout=tt N=2047 M=2047 K=2047 batch=2", 4},
        {"gemm", "type=f16", 7},
        {"bmm", "type=f16", 5},
        {"conv-implicit", "type=f16 out_channels=256", 4},
        {"conv-implicit", "type=f16 layout=nhwc", 3},
        {"conv-implicit", "type=f16 units=none", 0},
        {"conv-winograd", "type=f16 out_channels=256", 7},
        {"conv-winograd", "type=f16 layout=nhwc", 5},
    };
    struct limits l = variant_gpu;
    l.registers = 255;
    l.accumulators = 128;
    for (size_t i = 0; i < COUNT(begins); i++) {
        struct script *s = variant_load(begins[i].preset, "discrete", &l, begins[i].set);
        const struct space *space = script_space(s);
        if (space->beginning_count != begins[i].points)
            fail_msg("%s %s: %d points", begins[i].preset, begins[i].set, space->beginning_count);
        for (int k = 0; k < space->beginning_count; k++) {
            const struct baseline *b = &space->beginning[k];
            struct verdict v = {.legal = false};
            struct err e = {.text = ""};
            if (b->misfit || !space_judge(space, &l, &b->config, &v, &e) || !v.legal)
                fail_msg("%s %s: point %d: %s%s%s", begins[i].preset, begins[i].set, k,
                         b->misfit ? b->misfit : "", v.reason, e.text);
        }
        script_destroy(s);
    }
}

TEST_GROUP(declared)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beginnings_can_run),
        cmocka_unit_test(papers_spaces_have_their_sizes),
        cmocka_unit_test(a_third_of_rich_spaces_is_legal),
        cmocka_unit_test(families_hold_what_they_declare),
        cmocka_unit_test(shipped_sizes_hold_what_they_declare),
        cmocka_unit_test(definitions_hold_what_they_declare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
