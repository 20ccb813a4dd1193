// Kernels that are compiled and not run: Debian's own AMD driver opens without any hardware. check
// --compile, and other commands on a device that runs nothing.
#include "group.h"
#include "sessions.h"

#include "base/str.h"

#include <string.h>
#include <unistd.h>

#define AMD "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json"
#define CPU "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"

// A driver of GPUs does not work with sanitizers.
static bool has_driver(void)
{
    return access(AMD, R_OK) == 0 && !getenv("ASAN_OPTIONS");
}

// `chip`: as RADV names it; NULL: no AMD device.
static void use_drivers(struct box *b, const char *files, const char *chip)
{
    box_set(b, "VK_DRIVER_FILES", files);
    box_set(b, "VK_ICD_FILENAMES", files);
    box_set(b, "RADV_FORCE_FAMILY", chip);
}

static void use_amd(struct box *b, const char *chip)
{
    if (!has_driver())
        skip();
    use_drivers(b, AMD, chip);
}

static double part_of(const cJSON *object, const char *name, const char *part)
{
    return number_of(member(object, name), part);
}

static const cJSON *compile(struct box *b, const char *preset, const char *count)
{
    struct result r = RUN(b, "check", preset, "--compile", count, "--json");
    if (r.code != 0)
        fail_msg("check %s --compile: %s%s", preset, r.err, r.out);
    return json_of(b, r.out);
}

static void test_what_is_told(void **state)
{
    struct box *b = *state;
    use_amd(b, "navi21");
    const cJSON *c = compile(b, "gemm", "4");
    assert_contains(text_of(c, "device"), "NAVI21");
    assert_contains(text_of(c, "driver"), "radv");
    assert_true(number_of(c, "asked") == 4 && number_of(c, "compiled") == 4);
    assert_int_equal(cJSON_GetArraySize(member(c, "refused")), 0);
    double median = part_of(c, "pipeline_ms", "median"), p90 = part_of(c, "pipeline_ms", "p90"),
           most = part_of(c, "pipeline_ms", "max");
    assert_true(median > 0 && median <= p90 && p90 <= most);
    assert_true(number_of(c, "spilled") >= 0);
    const cJSON *one;
    int registers = 0;
    cJSON_ArrayForEach(one, member(c, "statistics"))
    {
        assert_true(number_of(one, "median") <= number_of(one, "max"));
        registers += str_equal(text_of(one, "name"), "VGPRs") && number_of(one, "median") > 0;
    }
    assert_int_equal(registers, 1);
    struct result r = RUN(b, "check", "mm1", "--compile", "3");
    assert_ok(&r);
    assert_contains(r.out, "3 compiled, 0 refused");
    assert_contains(r.out, "VGPRs");
}

// Returns the bytes of the code of a kernel that needs subgroups of `lanes`; a kernel with
// subgroups of 32 has much work.
static double sized_code(struct box *b, int lanes)
{
    char *space =
        mem_printf("operator.elementwise { count = 64 } param.p = discrete { 1 }\n"
                   "kernel { template = 'sized.comp', subgroup = function() return %d end,\n"
                   "  groups = function() return { 1 } end }\n",
                   lanes);
    box_write(b, "sized.lua", space);
    free(space);
    const cJSON *all = member(compile(b, box_path(b, "sized.lua"), "1"), "statistics"), *one;
    cJSON_ArrayForEach(one, all)
    {
        if (str_equal(text_of(one, "name"), "Code size"))
            return number_of(one, "max");
    }
    fail_msg("the driver tells no size of code");
    return 0;
}

// The requested subgroup size is a constant for the driver's compiler, which leaves out the rest.
static void test_size_of_subgroups(void **state)
{
    struct box *b = *state;
    use_amd(b, "navi21");
    box_write(b, "sized.comp",
              "#version 450\n"
              "#extension GL_KHR_shader_subgroup_basic : require\n"
              "layout(local_size_x = 64) in;\n"
              "layout(binding = 0) readonly buffer X { float x[]; };\n"
              "layout(binding = 1) writeonly buffer Y { float y[]; };\n"
              "void main() {\n"
              "    float f = x[gl_LocalInvocationIndex];\n"
              "    if (gl_SubgroupSize == 32) {\n"
              "% for i = 1, 60 do\n"
              "        f = sqrt(f) + ${i} / f;\n"
              "% end\n"
              "    }\n"
              "    y[gl_LocalInvocationIndex] = f;\n"
              "}\n");
    double of_32 = sized_code(b, 32), of_64 = sized_code(b, 64);
    assert_true(of_32 > 4 * of_64);
    struct result r = RUN(b, "check", box_path(b, "sized.lua"), "--glsl");
    assert_contains(r.out, "groups 1 1 1");
    assert_contains(r.out, " of 64\n");
    r = RUN(b, "check", "gemm");
    assert_ok(&r);
    assert_contains(r.out, "subgroup_size");
}

static void test_that_it_runs_nothing(void **state)
{
    struct box *b = *state;
    use_amd(b, "navi21");
    struct result r = RUN(b, "devices", "--json");
    assert_ok(&r);
    const cJSON *d = json_of(b, r.out);
    assert_true(is_null(d, "default"));
    assert_true(cJSON_IsFalse(member(cJSON_GetArrayItem(member(d, "devices"), 0), "runs")));
    r = RUN(b, "devices");
    assert_contains(r.out, "kernels can be compiled (check --compile), not tuned");
    r = RUN(b, "tune", "mm1", "--plain");
    assert_refused(&r, 1, "compiles kernels but runs none", "NAVI21");
    r = RUN(b, "tune", "mm1", "--plain", "--device", "0");
    assert_refused(&r, 1, "NAVI21", NULL);
    r = RUN(b, "tune", "mm1", "--plain", "--device", "all");
    assert_refused(&r, 1, "NAVI21", NULL);
}

static void test_that_others_come_first(void **state)
{
    struct box *b = *state;
    use_amd(b, "navi21");
    use_drivers(b, AMD ":" CPU, "navi21");
    struct result r = RUN(b, "devices", "--json");
    assert_ok(&r);
    const cJSON *d = json_of(b, r.out);
    int chosen = (int)number_of(d, "default");
    const cJSON *one = cJSON_GetArrayItem(member(d, "devices"), chosen);
    assert_contains(text_of(one, "name"), "llvmpipe");
    assert_true(cJSON_IsTrue(member(one, "runs")));
    assert_contains(text_of(compile(b, "mm1", "1"), "device"), "llvmpipe");
}

// --- what drivers may do ---

static void assert_refusal(struct box *b, const char *fault, const char *reason)
{
    struct result r =
        RUN(b, "check", "mm1", "--compile", "3", "--json", "--seed", "2", "--fault", fault);
    assert_int_equal(r.code, 1);
    const cJSON *c = json_of(b, r.out), *refused = member(c, "refused");
    assert_true(number_of(c, "asked") == 3 && number_of(c, "compiled") == 2);
    assert_int_equal(cJSON_GetArraySize(refused), 1);
    assert_contains(text_of(cJSON_GetArrayItem(refused, 0), "reason"), reason);
    assert_true(number_of(cJSON_GetArrayItem(refused, 0), "count") == 1);
}

static void test_failures(void **state)
{
    struct box *b = *state;
    use_drivers(b, CPU, NULL);
    assert_refusal(b, "lost@pipeline:2", "device");
    assert_refusal(b, "segv@pipeline:2", "SIGSEGV");
    assert_refusal(b, "memory@pipeline:2", "the worker");
    assert_refusal(b, "garbage@pipeline:2", "garbage from worker");
    struct result r = RUN(b, "check", "mm1", "--compile", "3", "--fault", "abort@pipeline:*");
    assert_int_equal(r.code, 1);
    assert_contains(r.out, "0 compiled, 3 refused");
    r = RUN(b, "check", "mm1", "--compile", "3", "--fault", "exit@start:*");
    assert_int_equal(r.code, 1);
    assert_contains(r.err, "status 7");
}

// The statistics are those of a GPU driver, in the middle of a session: the kernel is skipped.
static struct result tune_spilling(struct box *b, const char *most)
{
    return RUN(b, "tune", flow_path(b, "small.lua"), "--seed", "1", "--trials", "3", "--strategy",
               "random", "--workers", "1", "--spills", most, "--fault", "spill@pipeline:2",
               "--plain");
}

static int64_t count_left_out(struct box *b, int session)
{
    return count_rows(b, "trial",
                      arena_printf(&b->arena,
                                   "session = %d AND outcome = 'rejected' AND "
                                   "reason = 'spills 1000 > 16'",
                                   session));
}

static void test_spills(void **state)
{
    struct box *b = *state;
    use_drivers(b, CPU, NULL);
    struct result r = tune_spilling(b, "16");
    assert_ok(&r);
    assert_int_equal(count_left_out(b, 1), 1);
    r = tune_spilling(b, "0");
    assert_ok(&r);
    r = RUN(b, "show", "2", "--trials", "--json");
    assert_null(strstr(r.out, "spills 1000"));
    const cJSON *trial;
    int spilling = 0;
    cJSON_ArrayForEach(trial, member(json_of(b, r.out), "trials"))
    {
        const cJSON *told = cJSON_GetObjectItem(trial, "statistics");
        spilling += told && number_of(told, "Spilled VGPRs") == 1000;
    }
    assert_int_equal(spilling, 1);
    r = RUN(b, "resume", "1", "--trials", "4", "--workers", "1", "--fault", "spill@pipeline:1",
            "--plain"); // by the limit that it has stored
    assert_ok(&r);
    assert_int_equal(count_left_out(b, 1), 2);
}

// A kernel that is known to be good is measured, whatever it spills; a session like another has its
// limit.
static void test_spills_of_others(void **state)
{
    struct box *b = *state;
    use_drivers(b, CPU, NULL);
    struct result r = tune_spilling(b, "16");
    assert_ok(&r);
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--warm-start", "1", "--trials", "1",
            "--strategy", "random", "--workers", "1", "--spills", "16", "--fault",
            "spill@pipeline:*", "--plain");
    assert_int_equal(count_rows(b, "trial", "session = 2"), 1);
    assert_int_equal(count_left_out(b, 2), 0);
    r = RUN(b, "tune", "--like", "1", "--seed", "1", "--workers", "1", "--fault",
            "spill@pipeline:2", "--plain");
    assert_ok(&r);
    assert_int_equal(count_left_out(b, 3), 1);
    r = RUN(b, "tune", "--like", "1", "--seed", "1", "--workers", "1", "--spills", "0", "--fault",
            "spill@pipeline:2", "--plain");
    assert_ok(&r);
    assert_int_equal(count_left_out(b, 4), 0);
}

static void test_words(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "check", "mm1", "--compile", "3", "--device", "none");
    assert_refused(&r, 2, "--compile needs a device", "tilewalk devices");
    r = RUN(b, "check", "mm1", "--compile", "0");
    assert_int_equal(r.code, 2);
}

TEST_GROUP(compile)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_what_is_told),
        FLOW_TEST(test_size_of_subgroups),
        FLOW_TEST(test_that_it_runs_nothing),
        FLOW_TEST(test_that_others_come_first),
        FLOW_TEST(test_failures),
        FLOW_TEST(test_spills),
        FLOW_TEST(test_spills_of_others),
        FLOW_TEST(test_words),
    };
    return cmocka_run_group_tests_name("compile", tests, NULL, NULL);
}
