// What the presets declare is what the SPIR-V holds: a device limit is judged by arithmetic on the
// former, and only legal points reach a compiler. Also the sizes of the paper's spaces, and that
// legal points are not rare.
#include "kernel/kernel.h"
#include "variant.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const types[] = {"f32", "f16"};
static const char *const layouts[] = {"nn", "nt", "tn", "tt"};
static const int sizes[][3] = {{256, 256, 256}, {1, 1, 1}, {1000, 777, 333}, {96, 40, 1024}};

static void check_pass(const struct pass *pass, const struct resources *needs, const char *what)
{
    struct err e;
    char message[1400];
    struct spirv spirv;
    struct kernel_facts facts;
    if (!kernel_compile(pass->glsl, &spirv, &e) || !kernel_inspect(&spirv, &facts, &e))
        fail_msg("%s: %s\n%s", what, err_format(&e, message, sizeof message), pass->glsl);
    spirv_finish(&spirv);
    if (!needs)
        return;
    if (facts.shared_bytes != needs->shared_bytes)
        fail_msg("%s: declares %llu shared bytes, has %llu", what,
                 (unsigned long long)needs->shared_bytes, (unsigned long long)facts.shared_bytes);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(facts.local_size[i], needs->group_size[i]);
        assert_int_equal(pass->groups[i], needs->groups[i]);
    }
}

static void check_variant(const struct variant *v, struct rng *r, int points)
{
    struct script *s = variant_load(v);
    for (int i = 0; i < points; i++) {
        struct config c;
        struct resources needs;
        struct job job;
        struct err e;
        char message[1400];
        if (!variant_sample(s, v->limits, r, &c, &needs))
            fail_msg("%s %s %s: no legal point", v->preset, v->type, v->layout);
        struct str key = {0};
        str_printf(&key, "%s %s %s %dx%dx%d ", v->preset, v->type, v->layout, v->size[0],
                   v->size[1], v->size[2]);
        config_add_json(script_space(s), &c, &key);
        if (!script_render(s, &c, &job, &e))
            fail_msg("%s: %s", str_text(&key), err_format(&e, message, sizeof message));
        for (int k = 0; k < job.pass_count; k++)
            check_pass(&job.pass[k], k == 0 ? &needs : NULL, str_text(&key));
        job_finish(&job);
        str_finish(&key);
    }
    script_destroy(s);
}

static void check_all(const char *preset, const char *device_type, const struct limits *l,
                      uint64_t seed)
{
    kernel_setup();
    struct rng r;
    rng_seed(&r, seed);
    for (size_t t = 0; t < COUNT(types); t++)
        for (size_t o = 0; o < COUNT(layouts); o++)
            for (size_t n = 0; n < COUNT(sizes); n++) {
                struct variant v = {preset, device_type, l, types[t], layouts[o], {0}};
                memcpy(v.size, sizes[n], sizeof v.size);
                check_variant(&v, &r, 2);
            }
}

static void gemm_holds_what_it_declares(void **state)
{
    (void)state;
    check_all("gemm", "cpu", &variant_cpu, 1);
    check_all("gemm", "discrete", &variant_gpu, 2);
}

static void mm_holds_what_it_declares(void **state)
{
    (void)state;
    check_all("mm", "cpu", &variant_cpu, 3);
}

static void papers_spaces_have_their_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *preset, *size;
    } known[] = {{"mm1", "4152720"}, {"mm2", "6606600"}, {"mm3", "5725720"}};
    for (size_t i = 0; i < COUNT(known); i++) {
        struct script *s =
            variant_load(&(struct variant){.preset = known[i].preset, .device_type = "none"});
        assert_string_equal(script_space(s)->size_text, known[i].size);
        script_destroy(s);
    }
}

static int legal_per_thousand(const char *device_type, const struct limits *l)
{
    struct script *s =
        variant_load(&(struct variant){.preset = "gemm", .device_type = device_type, .limits = l});
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

static void a_third_of_gemm_is_legal(void **state)
{
    (void)state;
    assert_true(legal_per_thousand("cpu", &variant_cpu) > 300);
    assert_true(legal_per_thousand("discrete", &variant_gpu) > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(papers_spaces_have_their_sizes),
        cmocka_unit_test(a_third_of_gemm_is_legal),
        cmocka_unit_test(gemm_holds_what_it_declares),
        cmocka_unit_test(mm_holds_what_it_declares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
