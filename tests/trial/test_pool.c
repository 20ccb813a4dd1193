// The pool of workers with small matrix products on the device of this machine.
#include "group.h"
#include "pool_fixture.h"

#include "base/mem.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

// One worker all along: none of these costs a process, and none leaves anything behind for the
// next.
static void every_kind_of_candidate_gets_its_outcome(void **state)
{
    (void)state;
    struct fixture f;
    prepare_pool(&f, 1);
    open_pool(&f);
    assert_int_equal(source_room(f.pool), 1);
    expect_trial(&f, GEMM_RIGHT, OUTCOME_OK, PHASE_NONE, "");
    expect_trial(&f, GEMM_SYNTAX_ERROR, OUTCOME_COMPILE, PHASE_COMPILE, "test.comp:100: ");
    expect_trial(&f, GEMM_SYNTAX_ERROR, OUTCOME_COMPILE, PHASE_COMPILE, "(generated line 10)");
    expect_trial(&f, GEMM_OFF_BY_ONE, OUTCOME_WRONG, PHASE_VERIFY, "C[3,5] = ");
    expect_trial(&f, GEMM_MISSING_TILES, OUTCOME_WRONG, PHASE_VERIFY, "C[24,0] = nan");
    expect_trial(&f, GEMM_OVERRUN, OUTCOME_WRONG, PHASE_VERIFY, "past the end of C, at byte +0");
    expect_trial(&f, GEMM_SHARED_TOO_LARGE, OUTCOME_REJECTED, PHASE_COMPILE, "shared memory");
    expect_trial(&f, GEMM_GROUP_TOO_LARGE, OUTCOME_REJECTED, PHASE_COMPILE, "invocations");
    expect_trial(&f, GEMM_UNBOUND_BINDING, OUTCOME_COMPILE, PHASE_COMPILE, "binding 5");
    expect_trial(&f, GEMM_NO_ADDRESS, OUTCOME_COMPILE, PHASE_COMPILE, "buffer 7");
    expect_trial(&f, GEMM_SCRIBBLES, OUTCOME_COMPILE, PHASE_COMPILE, "an input");
    expect_trial(&f, GEMM_INPUT_OVERRUN, OUTCOME_COMPILE, PHASE_COMPILE,
                 "test.comp: it writes to buffer 0, which is an input");
    expect_trial(&f, GEMM_PUSH, OUTCOME_COMPILE, PHASE_COMPILE, "push constants");
    expect_trial(&f, GEMM_SPLIT, OUTCOME_OK, PHASE_NONE, "");
    expect_trial(&f, GEMM_SPLIT_OVERRUN, OUTCOME_WRONG, PHASE_VERIFY, "past the end of scratch");
    expect_trial(&f, GEMM_SPLIT, OUTCOME_OK, PHASE_NONE, "");
    expect_trial(&f, GEMM_RIGHT, OUTCOME_OK, PHASE_NONE, "");
    assert_int_equal(pool_respawns(f.pool), 0);
    assert_true(source_busy_seconds(f.pool) > 0);
    close_pool(&f);
}

// Some of these do no harm on one driver or another; all are undefined.
static void whoever_leaves_an_array_is_wrong(void **state)
{
    static const struct {
        enum variant variant;
        const char *reason;
    } told[] = {
        {GEMM_FAR_OVERRUN, "it wrote past the end of C, at byte +21504"},
        {GEMM_UNDERRUN, " C"}, // seen by the guard, where the driver lets it through
        {GEMM_READS_OUTSIDE, "with every access checked: it reads or writes outside buffer B"},
        {GEMM_SHARED_OVERRUN, "outside a shared array"},
        {GEMM_SHARED_READ, "outside a shared array"},
        {GEMM_LOCAL_OVERRUN, "outside a local array"},
        {GEMM_LOCAL_IN_FUNCTION, "outside a local array"},
        {GEMM_VECTOR_OVERRUN, "outside a local array"},
    };
    (void)state;
    struct fixture f;
    prepare_pool(&f, 1);
    open_pool(&f);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        expect_trial(&f, told[i].variant, OUTCOME_WRONG, PHASE_VERIFY, told[i].reason);
    // It may hit the guard of a buffer that lies there: the driver decides.
    struct trial_result far = measure_one(&f, GEMM_FARTHER_OVERRUN);
    assert_int_equal(far.outcome[0], OUTCOME_WRONG);
    assert_int_equal(far.phase[0], PHASE_VERIFY);
    assert_true(strstr(far.reason[0], "outside buffer C") ||
                strstr(far.reason[0], "it wrote before the beginning of "));
    expect_trial(&f, GEMM_INSIDE, OUTCOME_OK, PHASE_NONE, "");
    assert_int_equal(pool_respawns(f.pool), 0);
    close_pool(&f);
}

// It is checked when it would be the best so far, or wins a race; then the next one wins.
static void only_who_leads_is_checked(void **state)
{
    (void)state;
    struct fixture f;
    prepare_pool(&f, 1);
    open_pool(&f);
    submit(&f, 1, (const enum variant[]){GEMM_SHARED_READ}, 1e-9);
    struct trial_result r = next_result(&f);
    assert_int_equal(r.outcome[0], OUTCOME_OK);
    submit(&f, 1, (const enum variant[]){GEMM_SHARED_READ}, 1);
    r = next_result(&f);
    assert_int_equal(r.outcome[0], OUTCOME_WRONG);
    assert_true(r.seconds[0] == 0);
    submit(&f, 2, (const enum variant[]){GEMM_SHARED_READ, GEMM_SLOW}, 0);
    r = next_result(&f);
    assert_int_equal(r.outcome[0], OUTCOME_WRONG);
    assert_int_equal(r.outcome[1], OUTCOME_OK);
    submit(&f, 2, (const enum variant[]){GEMM_SLOW, GEMM_RIGHT}, 0);
    r = next_result(&f);
    assert_int_equal(r.outcome[0], OUTCOME_OK);
    assert_int_equal(r.outcome[1], OUTCOME_OK);
    close_pool(&f);
}

static void a_wrong_result_hints_at_silent_limits(void **state)
{
    (void)state;
    for (int undeclared = 0; undeclared < 2; undeclared++) {
        struct fixture f;
        prepare_pool(&f, 1);
        f.limits.loop_trips = 65535;
        f.options.trips_undeclared = undeclared;
        open_pool(&f);
        struct trial_result r = measure_one(&f, GEMM_OFF_BY_ONE);
        assert_int_equal(r.outcome[0], OUTCOME_WRONG);
        assert_non_null(strstr(r.reason[0], "C[3,5] = "));
        bool hints = strstr(r.reason[0], "limit of 65535 loop iterations an invocation: declare");
        assert_true(hints == undeclared);
        close_pool(&f);
    }
}

static void hopeless_candidates_are_stopped_early(void **state)
{
    (void)state;
    struct fixture f;
    prepare_pool(&f, 1);
    open_pool(&f);
    struct trial_result right = measure_one(&f, GEMM_RIGHT);
    assert_false(right.samples[0].early_stopped);
    submit(&f, 1, (const enum variant[]){GEMM_SLOW}, right.seconds[0]);
    struct trial_result slow = next_result(&f);
    assert_int_equal(slow.outcome[0], OUTCOME_OK);
    assert_true(slow.samples[0].early_stopped);
    assert_in_range(slow.samples[0].count, 2, 5);
    assert_true(slow.seconds[0] > right.seconds[0]);
    close_pool(&f);
}

// Something else had the machine during its first full run: its time is what it is without.
static void one_slow_run_stops_nobody(void **state)
{
    (void)state;
    struct fixture f;
    prepare_pool(&f, 1);
    f.options.fault = "slow@run:2";
    open_pool(&f);
    struct trial_result slow = measure_one(&f, GEMM_SLOW);
    double best_s = 3 * slow.seconds[0]; // a machine that is busy for long does not count either
    submit(&f, 1, (const enum variant[]){GEMM_SLOW}, best_s);
    struct trial_result again = next_result(&f);
    assert_int_equal(again.outcome[0], OUTCOME_OK);
    assert_false(again.samples[0].early_stopped);
    assert_true(again.samples[0].count > 2);
    assert_true(again.samples[0].seconds[0] > 20 * again.seconds[0]); // it was slow, and is kept
    close_pool(&f);
}

static void a_race_times_in_turns_and_loses_only_the_wrong(void **state)
{
    (void)state;
    struct fixture f;
    prepare_pool(&f, 2);
    open_pool(&f);
    submit(&f, 5,
           (const enum variant[]){GEMM_SLOW, GEMM_SYNTAX_ERROR, GEMM_RIGHT, GEMM_OFF_BY_ONE,
                                  GEMM_SPLIT},
           0);
    struct trial_result r = next_result(&f);
    const enum outcome expected[] = {OUTCOME_OK, OUTCOME_COMPILE, OUTCOME_OK, OUTCOME_WRONG,
                                     OUTCOME_OK};
    assert_int_equal(r.count, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(r.outcome[i], expected[i]);
        assert_int_equal(r.samples[i].count >= 5, expected[i] == OUTCOME_OK);
    }
    assert_int_equal(r.samples[0].count, r.samples[2].count);
    assert_true(r.seconds[0] > r.seconds[2]);
    assert_int_equal(r.phase[1], PHASE_COMPILE);
    assert_non_null(strstr(r.reason[1], "test.comp:100: "));
    assert_int_equal(r.phase[3], PHASE_VERIFY);
    assert_non_null(strstr(r.reason[3], "C[3,5] = "));
    assert_true(r.phase[4] == PHASE_NONE && r.reason[4][0] == '\0');
    close_pool(&f);
}

static void a_hanging_kernel_costs_one_trial(void **state)
{
    (void)state;
    struct fixture f;
    prepare_pool(&f, 1);
    f.options.deadline_s[PHASE_RUN] = 2;
    open_pool(&f);
    expect_trial(&f, GEMM_RIGHT, OUTCOME_OK, PHASE_NONE, "");
    expect_trial(&f, GEMM_ENDLESS, OUTCOME_TIMEOUT, PHASE_RUN, "");
    expect_trial(&f, GEMM_RIGHT, OUTCOME_OK, PHASE_NONE, "");
    assert_int_equal(pool_respawns(f.pool), 1);
    close_pool(&f);
}

static void a_race_goes_on_without_the_one_that_hangs(void **state)
{
    (void)state;
    struct fixture f;
    prepare_pool(&f, 1);
    f.options.deadline_s[PHASE_RUN] = 2;
    open_pool(&f);
    submit(&f, 3, (const enum variant[]){GEMM_RIGHT, GEMM_ENDLESS, GEMM_SPLIT}, 0);
    struct trial_result r = next_result(&f);
    assert_int_equal(r.outcome[0], OUTCOME_OK);
    assert_int_equal(r.outcome[1], OUTCOME_TIMEOUT);
    assert_int_equal(r.outcome[2], OUTCOME_OK);
    assert_true(r.seconds[0] > 0 && r.seconds[1] == 0 && r.seconds[2] > 0);
    assert_int_equal(r.phase[1], PHASE_RUN);
    assert_int_equal(pool_respawns(f.pool), 1);
    close_pool(&f);
}

static void a_text_that_is_too_long_is_a_compile_error(void **state)
{
    (void)state;
    struct fixture f;
    prepare_pool(&f, 1);
    open_pool(&f);
    struct trial_request r = {.ticket = 5, .count = 1, .job = {gemm_job(GEMM_RIGHT)}};
    struct pass *p = &r.job[0].pass[0];
    p->glsl = mem_resize(p->glsl, FRAME_MAX_BYTES + 1, 1);
    memset(p->glsl, ' ', FRAME_MAX_BYTES);
    p->glsl[FRAME_MAX_BYTES] = '\0';
    source_submit(f.pool, &r);
    struct trial_result result = next_result(&f);
    assert_int_equal(result.outcome[0], OUTCOME_COMPILE);
    expect_trial(&f, GEMM_RIGHT, OUTCOME_OK, PHASE_NONE, "");
    close_pool(&f);
}

// As on a device that lacks what this one has.
static void what_the_device_lacks_is_rejected(void **state)
{
    (void)state;
    struct fixture f;
    prepare_pool(&f, 1);
    f.limits.features &= ~(uint32_t)FEATURE_F64;
    f.limits.types = 1u << ELEMENT_F32;
    f.limits.buffers = 3;
    open_pool(&f);
    struct trial_request r = {.ticket = 5, .count = 1, .job = {gemm_job(GEMM_RIGHT)}};
    struct pass *p = &r.job[0].pass[0];
    free(p->glsl);
    p->glsl = mem_strdup("#version 450\nlayout(local_size_x = 1) in;\n"
                         "layout(std430, binding = 2) buffer C { float c[]; };\n"
                         "void main() { c[0] = float(double(c[1]) * 0.5LF); }\n");
    source_submit(f.pool, &r);
    struct trial_result result = next_result(&f);
    assert_int_equal(result.outcome[0], OUTCOME_REJECTED);
    assert_string_equal(result.reason[0], "needs 64-bit floats, which the device does not have");
    r.ticket++;
    r.job[0] = gemm_job(GEMM_RIGHT);
    free(r.job[0].pass[0].glsl);
    r.job[0].pass[0].glsl =
        mem_strdup("#version 450\n#extension GL_EXT_shader_16bit_storage : require\n"
                   "layout(local_size_x = 1) in;\n"
                   "layout(std430, binding = 2) buffer C { float16_t c[]; };\n"
                   "void main() { c[0] = c[1]; }\n");
    source_submit(f.pool, &r);
    result = next_result(&f);
    assert_int_equal(result.outcome[0], OUTCOME_REJECTED);
    assert_string_equal(result.reason[0], "needs 16-bit storage, which the device does not have");
    expect_trial(&f, GEMM_SPLIT, OUTCOME_REJECTED, PHASE_COMPILE,
                 "buffers 4 > 3"); // it has a scratch buffer
    expect_trial(&f, GEMM_RIGHT, OUTCOME_OK, PHASE_NONE, "");
    close_pool(&f);
}

static void halves_are_measured_too(void **state)
{
    (void)state;
    struct fixture f;
    prepare_pool(&f, 1);
    if (!f.limits.f16)
        skip();
    operation_set_choice(&f.operation, "type", "f16", NULL);
    operation_set_size(&f.operation, "M", 31, NULL); // an odd number of bytes in the last row
    open_pool(&f);
    static const char glsl[] =
        "#version 450\n"
        "#extension GL_EXT_shader_16bit_storage : require\n"
        "layout(local_size_x = 8, local_size_y = 8) in;\n"
        "layout(std430, binding = 0) readonly buffer A { float16_t a[]; };\n"
        "layout(std430, binding = 1) readonly buffer B { float16_t b[]; };\n"
        "layout(std430, binding = 2) buffer C { float16_t c[]; };\n"
        "void main() {\n"
        "uint i = gl_GlobalInvocationID.y, j = gl_GlobalInvocationID.x;\n"
        "if (j >= 31) return;\n"
        "float sum = 0;\n"
        "for (uint k = 0; k < 32; k++) sum += float(a[i * 32 + k]) * float(b[k * 31 + j]);\n"
        "c[i * 31 + j] = float16_t(sum);\n"
        "}\n";
    struct trial_request r = {.ticket = 5, .count = 2, .race = true};
    for (int i = 0; i < 2; i++) {
        r.job[i] = gemm_job(GEMM_RIGHT);
        free(r.job[i].pass[0].glsl);
        r.job[i].pass[0].glsl = mem_strdup(glsl);
    }
    source_submit(f.pool, &r);
    struct trial_result result = next_result(&f);
    if (result.reason[0][0])
        print_error("%s\n", result.reason[0]);
    assert_int_equal(result.outcome[0], OUTCOME_OK);
    assert_int_equal(result.outcome[1], OUTCOME_OK);
    close_pool(&f);
}

static int64_t submit_to_compile(struct fixture *f)
{
    struct trial_request r = {.ticket = ++f->tickets, .count = 1, .only_compiles = true};
    r.job[0] = gemm_job(GEMM_RIGHT);
    source_submit(f->pool, &r);
    return r.ticket;
}

// They start once there is something, take no room of what is measured, and are not needed.
static void what_is_only_compiled_has_workers_of_its_own(void **state)
{
    (void)state;
    static const char *const faults[] = {NULL, "exit@start:2,exit@start:3,exit@start:4,"
                                               "exit@start:5,exit@start:6,exit@start:7"};
    for (int broken = 0; broken < 2; broken++) {
        enum { COUNT = 4 };
        struct fixture f;
        bool seen[COUNT + 3] = {false};
        prepare_pool(&f, 1);
        f.options.compilers = 2;
        f.options.fault = faults[broken];
        open_pool(&f);
        const struct pool *p = (const struct pool *)f.pool;
        assert_int_equal(measure_one(&f, GEMM_RIGHT).outcome[0], OUTCOME_OK);
        assert_true(p->slot[1].spawns == 0 && p->slot[2].spawns == 0);
        for (int i = 0; i < COUNT; i++)
            submit_to_compile(&f);
        assert_int_equal(source_room(f.pool), 1);
        int64_t measured = submit(&f, 1, (const enum variant[]){GEMM_RIGHT}, 0);
        for (int i = 0; i <= COUNT; i++) {
            struct trial_result r = next_result(&f);
            assert_int_equal(r.outcome[0], OUTCOME_OK);
            assert_int_equal(r.samples[0].count > 0, r.ticket == measured);
            assert_true(r.ticket != measured || r.worker == 0);
            assert_false(seen[r.ticket]);
            seen[r.ticket] = true;
        }
        close_pool(&f);
    }
}

// Where the driver has something to keep; who measures it gets it, whatever it is.
static void what_was_compiled_before_goes_along(void **state)
{
    (void)state;
    struct fixture f;
    prepare_pool(&f, 1);
    f.options.compilers = 1;
    open_pool(&f);
    const struct pool *p = (const struct pool *)f.pool;
    struct trial_request r = {.ticket = 1, .count = 1, .only_compiles = true, .keeps = true};
    r.job[0] = gemm_job(GEMM_RIGHT);
    source_submit(f.pool, &r);
    assert_int_equal(next_result(&f).outcome[0], OUTCOME_OK);
    assert_int_equal(p->kept.count, 1);
    struct kept *kept = &p->kept.item[0];
    assert_true(kept->made.size > 0 && kept->seconds > 0);
    kept->seconds = 1000;
    for (int garbage = 0; garbage < 2; garbage++) {
        struct trial_result measured = measure_one(&f, GEMM_RIGHT);
        assert_int_equal(measured.outcome[0], OUTCOME_OK);
        assert_true(measured.pipeline_s > 1000); // what the compiler took in all
        memset(kept->made.bytes, 0xa5, kept->made.size);
    }
    assert_int_equal(measure_one(&f, GEMM_SPLIT).outcome[0], OUTCOME_OK);
    assert_int_equal(p->kept.count, 1);
    close_pool(&f);
}

// A product of bytes with a bias, its rows 40 numbers apart: what lies between them must stay.
static void expect_bytes(struct fixture *f, const char *last_column, enum outcome o,
                         const char *reason)
{
    struct trial_request r = {.ticket = 6, .count = 1};
    r.job[0] = gemm_job(GEMM_RIGHT);
    free(r.job[0].pass[0].glsl);
    r.job[0].pass[0].glsl =
        mem_printf("#version 450\n"
                   "#extension GL_EXT_shader_8bit_storage : require\n"
                   "layout(local_size_x = 8, local_size_y = 8) in;\n"
                   "layout(std430, binding = 0) readonly buffer A { int8_t a[]; };\n"
                   "layout(std430, binding = 1) readonly buffer B { int8_t b[]; };\n"
                   "layout(std430, binding = 2) readonly buffer Bias { int bias[]; };\n"
                   "layout(std430, binding = 3) buffer C { int c[]; };\n"
                   "void main() {\n"
                   "uint i = gl_GlobalInvocationID.y, j = gl_GlobalInvocationID.x;\n"
                   "int sum = bias[j];\n"
                   "for (uint k = 0; k < 32; k++) sum += int(a[i * 32 + k]) * int(b[k * 32 + j]);\n"
                   "c[i * 40 + j] = sum;\n"
                   "if (j == %s) c[i * 40 + 32] = 0;\n"
                   "}\n",
                   last_column);
    source_submit(f->pool, &r);
    struct trial_result result = next_result(f);
    assert_int_equal(result.outcome[0], o);
    assert_non_null(strstr(result.reason[0], reason));
}

static void bytes_are_measured_too(void **state)
{
    (void)state;
    struct fixture f;
    prepare_pool(&f, 1);
    if (!f.limits.i8)
        skip();
    operation_set_choice(&f.operation, "type", "i8", NULL);
    operation_set_choice(&f.operation, "bias", "add", NULL);
    operation_set_size(&f.operation, "row_c", 40, NULL);
    open_pool(&f);
    expect_bytes(&f, "99", OUTCOME_OK, "");
    expect_bytes(&f, "31", OUTCOME_WRONG, "between the rows of C, at element 32");
    close_pool(&f);
}

TEST_GROUP(pool)
{
    if (!find_device()) {
        puts("skipped: no Vulkan device");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_candidate_gets_its_outcome),
        cmocka_unit_test(whoever_leaves_an_array_is_wrong),
        cmocka_unit_test(only_who_leads_is_checked),
        cmocka_unit_test(a_wrong_result_hints_at_silent_limits),
        cmocka_unit_test(hopeless_candidates_are_stopped_early),
        cmocka_unit_test(one_slow_run_stops_nobody),
        cmocka_unit_test(a_race_times_in_turns_and_loses_only_the_wrong),
        cmocka_unit_test(a_hanging_kernel_costs_one_trial),
        cmocka_unit_test(a_race_goes_on_without_the_one_that_hangs),
        cmocka_unit_test(a_text_that_is_too_long_is_a_compile_error),
        cmocka_unit_test(what_the_device_lacks_is_rejected),
        cmocka_unit_test(halves_are_measured_too),
        cmocka_unit_test(bytes_are_measured_too),
        cmocka_unit_test(what_is_only_compiled_has_workers_of_its_own),
        cmocka_unit_test(what_was_compiled_before_goes_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
