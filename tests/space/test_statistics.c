// Compiler statistics: added, merged, found by name and by kind.
#include "group.h"

#include "space/statistics.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static struct statistics radv(void)
{
    struct statistics s = {0};
    assert_true(statistics_take(&s, "VGPRs", 96));
    assert_true(statistics_take(&s, "Spilled SGPRs", 2));
    assert_true(statistics_take(&s, "Spilled VGPRs", 5));
    assert_true(statistics_take(&s, "Subgroups per SIMD", 8));
    assert_true(statistics_take(&s, "Code size", 4000));
    return s;
}

static double total(const struct statistics *s, enum statistic_kind k)
{
    double value;
    return statistics_total(s, k, &value) ? value : -1;
}

static const char local_memory[] = "Local Memory Size";

static void test_kinds(void **state)
{
    (void)state;
    struct statistics s = radv(), nvk = {0}, none = {0};
    assert_true(total(&s, STATISTIC_REGISTERS) == 96);
    assert_true(total(&s, STATISTIC_SPILLS) == 5); // to memory
    assert_true(total(&s, STATISTIC_OCCUPANCY) == 8);
    assert_true(total(&s, STATISTIC_SHARED) == -1); // it was not reported
    assert_true(total(&none, STATISTIC_SPILLS) == -1);
    statistics_take(&nvk, "Instruction count", 700);
    statistics_take(&nvk, "Code size", 11200);
    statistics_take(&nvk, "SLM size", 64);
    assert_true(total(&nvk, STATISTIC_CODE_SIZE) == 11200); // not both
    assert_true(total(&nvk, STATISTIC_SPILLS) == 64);
}

// The statistics of NVIDIA's driver for a kernel that spills 464 bytes.
static void test_half_written(void **state)
{
    struct statistics s = {0};
    (void)state;
    assert_true(statistics_take(&s, local_memory, 0x10p32));
    assert_true(total(&s, STATISTIC_SPILLS) == 0);
    assert_true(statistics_take(&s, local_memory, 0x10p32 + 464));
    assert_true(total(&s, STATISTIC_SPILLS) == 464);
    assert_false(statistics_take(&s, local_memory, 0x1p50));
}

static void test_found_by_name(void **state)
{
    (void)state;
    struct statistics s = radv();
    double value = 0;
    assert_true(statistics_find(&s, "code SIZE", &value) && value == 4000);
    assert_true(statistics_find(&s, "spills", &value) && value == 5);
    assert_true(statistics_find(&s, "Registers", &value) && value == 96);
    assert_false(statistics_find(&s, "shared", &value));
    assert_false(statistics_find(&s, "nonsense", &value));
}

// Each pass has its own: the kernel needs as much as the worst of them.
static void test_merged(void **state)
{
    (void)state;
    struct statistics s = radv(), more = {0};
    statistics_take(&more, "VGPRs", 120);
    statistics_take(&more, "Spilled VGPRs", 0);
    statistics_take(&more, "Subgroups per SIMD", 4);
    statistics_take(&more, "Latency", 1000);
    statistics_merge(&s, &more);
    assert_true(total(&s, STATISTIC_REGISTERS) == 120);
    assert_true(total(&s, STATISTIC_SPILLS) == 5);
    assert_true(total(&s, STATISTIC_OCCUPANCY) == 4); // the worse one
    assert_int_equal(s.count, 6);
}

static void test_garbage_is_refused(void **state)
{
    (void)state;
    struct statistics s = radv();
    char name[STATISTICS_NAME_SIZE + 1];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_false(statistics_take(&s, "", 1));
    assert_false(statistics_take(&s, name, 1));
    assert_false(statistics_take(&s, "VGPRs", -1));
    assert_false(statistics_take(&s, "VGPRs", NAN));
    assert_false(statistics_take(&s, "VGPRs", INFINITY));
    assert_false(statistics_take(&s, "VGPRs", 1e300));
    assert_true(statistics_take(&s, "vgprs", 12)); // repeated: the larger one counts
    assert_true(total(&s, STATISTIC_REGISTERS) == 96);
    assert_true(statistics_take(&s, "Hash", 0x9e3779b9)); // is ignored
    assert_int_equal(s.count, 5);
    for (int i = 0; i < STATISTICS_MOST; i++) {
        snprintf(name, sizeof name, "number %d", i);
        assert_int_equal(statistics_take(&s, name, i), i < STATISTICS_MOST - 5);
    }
    assert_int_equal(s.count, STATISTICS_MOST);
}

static void test_json(void **state)
{
    (void)state;
    struct statistics s = {0};
    struct str text = {0};
    statistics_add_json(&s, &text);
    assert_string_equal(str_text(&text), "{}");
    str_finish(&text);
    statistics_take(&s, "a \"b\"", 0.5);
    statistics_take(&s, "VGPRs", 96);
    statistics_add_json(&s, &text);
    assert_string_equal(str_text(&text), "{\"a \\\"b\\\"\":0.5,\"VGPRs\":96}");
    str_finish(&text);
}

TEST_GROUP(statistics)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_half_written),
        cmocka_unit_test(test_found_by_name),
        cmocka_unit_test(test_merged),
        cmocka_unit_test(test_garbage_is_refused),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
