// `ops`: the operators, presets and networks.
#include "group.h"
#include "sessions.h"

#include <string.h>

static const cJSON *named(const cJSON *list, const char *name)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list) if (strcmp(text_of(item, "name"), name) == 0) return item;
    fail_msg("no %s", name);
    return NULL;
}

static void test_operators(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "ops", "--json", "--device", "none");
    assert_ok(&r);
    const cJSON *all = json_of(b, r.out), *matmul = named(member(all, "operators"), "matmul");
    assert_true(is_null(named(member(matmul, "sizes"), "N"), "standard"));
    assert_int_equal(number_of(named(member(matmul, "sizes"), "row_a"), "standard"), 0);
    assert_string_equal(
        member(named(member(matmul, "choices"), "type"), "values")->child->valuestring, "f32");
    const cJSON *buffers = member(matmul, "buffers");
    static const char *const names[] = {"A", "B", "bias", "residual", "C"};
    assert_int_equal(cJSON_GetArraySize(buffers), 5);
    for (int i = 0; i < 5; i++)
        assert_string_equal(text_of(cJSON_GetArrayItem(buffers, i), "name"), names[i]);
    assert_true(is_null(named(buffers, "A"), "when"));
    assert_string_equal(text_of(named(buffers, "bias"), "when"), "bias=add");
    assert_true(is_null(all, "device"));
}

// All that ship are there, as in `check` and its errors.
static void test_presets(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "ops", "--json", "--device", "none");
    assert_ok(&r);
    const cJSON *all = json_of(b, r.out), *preset = NULL;
    cJSON_ArrayForEach(preset, member(all, "presets"))
    {
        const cJSON *here = member(preset, "here"), *gpu = member(preset, "gpu");
        if (!is_null(gpu, "missing")) { // a large GPU has everything, but others' shaders
            assert_contains(text_of(gpu, "missing"), "=DIR ");
            continue;
        }
        if (is_null(here, "missing")) {
            struct result c = RUN(b, "check", text_of(preset, "name"), "--device", "none", "--json",
                                  "--samples", "1");
            assert_string_equal(text_of(json_of(b, c.out), "size"), text_of(here, "size"));
        }
    }
    const cJSON *mm1 = named(member(all, "presets"), "mm1");
    assert_string_equal(text_of(member(mm1, "here"), "size"), "4152720");
    assert_string_equal(text_of(member(mm1, "gpu"), "size"), "4152720");
    assert_string_equal(text_of(mm1, "operator"), "matmul");
    assert_int_equal(cJSON_GetArraySize(member(mm1, "needs")), 0);
    assert_int_equal(cJSON_GetArraySize(member(mm1, "parameters")), 3);
}

static void test_words(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "ops", "--device", "none");
    assert_ok(&r);
    assert_contains(r.out, "512x1024x1024, 4152720 ");
    r = RUN(b, "ops", "mm1", "--device", "none");
    assert_ok(&r);
    assert_contains(r.out, "tile_n");
    r = RUN(b, "ops", "conv2d", "--device", "none");
    assert_ok(&r);
    assert_contains(r.out, "residual");
    r = RUN(b, "ops", "conv3d", "--device", "none");
    assert_refused(&r, 2, "'conv3d'", "'conv2d'");
    r = RUN(b, "ops", flow_path(b, "small.lua"), "--device", "none");
    assert_refused(&r, 2, "no operator, preset or network", "small.lua");
}

TEST_GROUP(ops)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_operators),
        FLOW_TEST(test_presets),
        FLOW_TEST(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
