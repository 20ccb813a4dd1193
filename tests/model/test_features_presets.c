// Rows of random configurations of every preset that declares a loop nest.
#include "group.h"

#include "model/features.h"

#include "script/script.h"

#include <math.h>
#include <string.h>

enum { CONFIGS = 10000, KINDS = FEATURES_TREE + 1 };

static struct script *load(const char *preset)
{
    struct err e;
    char *path = script_find(preset, &e), text[1400];
    bool wants_units = strcmp(preset, "gemm-coop") == 0; // of a device
    const struct script_options o = {.path = path,
                                     .set = &(struct setting){"units", "emulated"},
                                     .set_count = wants_units,
                                     .device_type = "none"};
    struct script *s = path ? script_create(&o, &e) : NULL;
    if (!s)
        fail_msg("%s", err_format(&e, text, sizeof text));
    free(path);
    return s;
}

static void assert_row(const char *preset, enum feature_kind kind, const float *row, int count)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(row[i]))
            fail_msg("%s, kind %d: number %d is not finite", preset, kind, i);
}

static void check_rows(const char *preset, const struct space *s, enum feature_kind kind)
{
    const float guard = 12345;
    struct features *f = features_create(s, kind, NULL);
    int width = features_width(f), most = width * features_most_rows(f);
    float *row = mem_zero((size_t)most + 1, sizeof *row);
    struct rng r;
    rng_seed(&r, 1);
    row[most] = guard;
    for (int i = 0; i < CONFIGS; i++) {
        struct config c;
        space_sample(s, &r, &c);
        int rows = features_fill(f, &c, row);
        assert_in_range(rows, 1, features_most_rows(f));
        assert_row(preset, kind, row, rows * width);
        assert_true(row[most] == guard);
    }
    free(row);
    features_destroy(f);
}

static void test_rows_are_finite(void **state)
{
    (void)state;
    int count, nests = 0;
    char **preset = script_presets(&count);
    for (int i = 0; i < count; i++) {
        struct script *script = load(preset[i]);
        const struct space *s = script_space(script);
        for (int kind = FEATURES_KNOB; s->nest && kind < KINDS; kind++)
            check_rows(preset[i], s, (enum feature_kind)kind);
        nests += s->nest != NULL;
        script_destroy(script);
        free(preset[i]);
    }
    free(preset);
    assert_true(nests > 0);
}

static bool are_like(const struct script *a, const struct script *b, enum feature_kind kind)
{
    struct features *f = features_create(script_space(a), kind, NULL);
    struct features *g = features_create(script_space(b), kind, NULL);
    bool like = features_are_like(f, g);
    features_destroy(f);
    features_destroy(g);
    return like;
}

static void test_sizes_do_not_matter(void **state)
{
    (void)state;
    struct script *a = load("mm1"), *b = load("mm2");
    for (int kind = FEATURES_KNOB; kind < KINDS; kind++)
        assert_true(are_like(a, b, (enum feature_kind)kind));
    script_destroy(a);
    script_destroy(b);
}

TEST_GROUP(features_presets)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_finite),
        cmocka_unit_test(test_sizes_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
