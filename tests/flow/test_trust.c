// Trust in results: a device that other programs disturb, kernels that leave their arrays.
#include "group.h"
#include "sessions.h"

#include <string.h>

// Another program used the machine during the first full run of every trial.
static void one_slow_sample_hides_no_winner(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "work.lua"), "--strategy", "grid", "--trials",
                          "4", "--workers", "1", "--json", "--fault", "slow@run:*");
    assert_ok(&r);
    struct events e = events_of(b, r.out);
    int trials = 0;
    for (int i = 0; i < e.count; i++) {
        if (strcmp(text_of(e.line[i], "event"), "trial") != 0)
            continue;
        assert_true(cJSON_IsFalse(member(e.line[i], "early_stopped")));
        assert_true(cJSON_GetArraySize(member(e.line[i], "samples")) >= 2);
        trials++;
    }
    assert_int_equal(trials, 4);
    const cJSON *best = member(end_event(&e), "best");
    assert_string_equal(text_of(member(best, "config"), "work"), "least");
}

// A product of which every candidate does one thing outside an array, and is right.
static struct result tune_outside(struct box *b, const char *shared, const char *statement)
{
    const char *lua = box_write(
        b, "outside.lua",
        "operator.matmul { N = 64, M = 64, K = 64 }\n"
        "param.t = discrete { 1, 2, 4 }\n"
        "kernel { template = 'outside.comp', groups = function() return { 1, 64 } end }\n");
    box_write(b, "outside.comp",
              arena_printf(&b->arena,
                           "#version 450\n"
                           "layout(local_size_x = 64) in;\n"
                           "layout(binding = 0) buffer InputA { float a[]; };\n"
                           "layout(binding = 1) buffer InputB { float b[]; };\n"
                           "layout(binding = 2) buffer OutputC { float c[]; };\n"
                           "%s\n"
                           "void main()\n"
                           "{\n"
                           "    uint row = gl_WorkGroupID.y, column = gl_LocalInvocationID.x;\n"
                           "    float sum = 0.0;\n"
                           "    for (uint k = 0; k < 64; k++)\n"
                           "        sum += a[row * 64 + k] * b[k * 64 + column];\n"
                           "    c[row * 64 + column] = sum;\n"
                           "    %s\n"
                           "}\n",
                           shared, statement));
    return RUN(b, "tune", lua, "--trials", "3", "--plain");
}

static void expect_wrong(struct box *b, const char *shared, const char *statement,
                         const char *reason)
{
    struct result r = tune_outside(b, shared, statement);
    assert_int_equal(r.code, 3); // nothing valid was found
    assert_contains(r.out, "trials  3  wrong 3");
    assert_contains(r.out, reason);
}

static void what_leaves_its_arrays_never_wins(void **state)
{
    struct box *b = *state;
    expect_wrong(b, "", "c[4096 + 5376 + column] = 1.0;", "it wrote past the end of C, at byte");
    expect_wrong(b, "", "if (row + column == 0) c[int(row) - 1] = 1.0;", " C");
    expect_wrong(b, "shared float s[32];", "s[column] = sum;", "outside a shared array");
    expect_wrong(b, "", // it reads only: what lies behind the array may be anything
                 "float l[8]; for (int i = 0; i < 8; i++) l[i] = sum; "
                 "if (l[column] == 0.123) c[0] = 0.0;",
                 "outside a local array");
    expect_wrong(b, "", "if (b[4096 + column] > 1e9) c[0] = 0.0;", "outside buffer B");
    struct result r = tune_outside(b, "shared float s[64];", "s[column] = sum;");
    assert_ok(&r);
    assert_contains(r.out, "trials  3  ok 3 ");
}

TEST_GROUP(trust)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(what_leaves_its_arrays_never_wins),
        FLOW_TEST(one_slow_sample_hides_no_winner),
    };
    return has_device() ? cmocka_run_group_tests(tests, NULL, NULL) : EXIT_SKIPPED;
}
