// `ops` and `tune --list`: what there is to tune, and tuning much of it.
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

// All that ship are there, as `check` and their own complaints know them.
static void test_presets(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "ops", "--json", "--device", "none");
    assert_ok(&r);
    const cJSON *all = json_of(b, r.out), *preset = NULL;
    cJSON_ArrayForEach(preset, member(all, "presets"))
    {
        const cJSON *here = member(preset, "here"), *gpu = member(preset, "gpu");
        assert_true(is_null(gpu, "missing")); // a large GPU has everything
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
    assert_contains(r.out, "matmul f32 nn 512x1024x1024, 4152720 points");
    r = RUN(b, "ops", "mm1", "--device", "none");
    assert_ok(&r);
    assert_contains(r.out, "tile_n");
    r = RUN(b, "ops", "conv2d", "--device", "none");
    assert_ok(&r);
    assert_contains(r.out, "residual");
    r = RUN(b, "ops", "conv3d", "--device", "none");
    assert_refused(&r, 2, "'conv3d'", "'conv2d'");
}

#define SYNTHETIC "--source", "synthetic:bowl", "--trials", "4", "--seed", "1"

static const char *make_list(struct box *b)
{
    return box_write(b, "two.lua",
                     "about 'two of them'\n"
                     "item { label = 'small', preset = 'mm', uses = 3, set = { N = 8, M = 8 } }\n"
                     "item { label = 'large', preset = 'mm', set = { N = 64, layout = 'tn' } }");
}

static void test_tune_list(void **state)
{
    struct box *b = *state;
    const char *list = make_list(b);
    struct result r = RUN(b, "ops", list, "--device", "none");
    assert_ok(&r);
    assert_contains(r.out, "two of them");
    assert_contains(r.out, list); // how to tune them
    r = RUN(b, "tune", "--list", list, SYNTHETIC, "--set", "K=16");
    assert_ok(&r);
    assert_string_equal(text_of(listed_session(b, 1), "note"), "two small");
    assert_string_equal(text_of(listed_session(b, 1), "title"), "matmul f32 nn 8x8x16");
    assert_string_equal(text_of(listed_session(b, 2), "note"), "two large");
    assert_string_equal(text_of(listed_session(b, 2), "title"), "matmul f32 tn 64x1024x16");
    assert_contains(r.out, "with each as often as it is used");
    r = RUN(b, "tune", "--list", list, "--only", "large", "--json", SYNTHETIC);
    assert_ok(&r);
    struct events e = events_of(b, r.out);
    assert_int_equal(count_events(&e, "session"), 1);
    assert_string_equal(text_of(listed_session(b, 3), "note"), "two large");
    r = RUN(b, "tune", "gemm", "--list", list, "--only", "small", "--set", "K=16",
            SYNTHETIC); // by another space
    assert_ok(&r);
    assert_string_equal(text_of(listed_session(b, 4), "space"), "gemm");
    assert_string_equal(text_of(listed_session(b, 4), "title"), "matmul f32 nn 8x8x16");
}

// What fails is told, the others run, and the exit code says that something failed.
static void test_one_fails(void **state)
{
    struct box *b = *state;
    const char *list = box_write(b, "odd.lua",
                                 "item { label = 'odd', preset = 'mm', set = { Q = 8 } }\n"
                                 "item { label = 'even', preset = 'mm', set = { N = 8 } }");
    struct result r = RUN(b, "tune", "--list", list, SYNTHETIC);
    assert_int_equal(r.code, 2);
    assert_contains(r.err, "Q=8: unknown size");
    assert_int_equal(cJSON_GetArraySize(listed_sessions(b)), 1);
    assert_int_equal(trials_of(b, 1), 4);
}

static void test_refused(void **state)
{
    struct box *b = *state;
    const char *list = make_list(b);
    struct result r = RUN(b, "tune", "--list", list, "--only", "smal");
    assert_refused(&r, 2, "'smal'", "'small'");
    r = RUN(b, "tune", "--list", "no-such", "--plain");
    assert_refused(&r, 2, "no file and no list 'no-such'", NULL);
    r = RUN(b, "tune", "--list", list, "--like", "1");
    assert_refused(&r, 2, "--list", "--like");
    r = RUN(b, "tune", "--list", list, "--detach");
    assert_refused(&r, 2, "--list", "--detach");
    r = RUN(b, "tune", "gemm", "--only", "small");
    assert_refused(&r, 2, "--only", "--list");
    r = RUN(b, "tune", "alexnet");
    assert_refused(&r, 2, "'alexnet' is a list", "tune --list alexnet");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_operators), FLOW_TEST(test_presets),   FLOW_TEST(test_words),
        FLOW_TEST(test_tune_list), FLOW_TEST(test_one_fails), FLOW_TEST(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
