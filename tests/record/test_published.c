// Reads recordings that others published, in the folder that TILEWALK_RECORDINGS names. Without it
// these tests are skipped.
#include "agreement.h"
#include "group.h"
#include "help.h"

#include <math.h>
#include <stdio.h>

static struct recording *read_published(const char *name)
{
    char path[512];
    struct recording *r;
    struct err e;
    snprintf(path, sizeof path, "%s/%s", getenv("TILEWALK_RECORDINGS"), name);
    if (!recording_read(path, &r, &e))
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    return r;
}

// Compares to the four digits that the list of the folder gives.
static void assert_near(double a, double b)
{
    if (!(fabs(a / b - 1) < 6e-4))
        fail_msg("%g is not %g", a, b);
}

static void test_counts(void **state)
{
    static const struct {
        const char *name;
        int recorded, valid, compile, crash;
        double best_ms, median_ms;
        int runs;
    } files[] = {
        {"gemm-RTX_3090.json.gz", 17956, 17956, 0, 0, 5.658, 14.58, 32},
        {"gemm-RTX_Titan.json.gz", 17956, 17956, 0, 0, 11.47, 27.9, 32},
        {"convolution_milo-A100.json.gz", 4362, 4201, 6, 155, 0.5536, 1.834, 32},
        {"convolution_milo-A100-T4.json.gz", 4362, 4201, 6, 155, 0.5536, 1.834, 32},
        {"convolution_milo-A4000.json.gz", 4362, 4201, 6, 155, 1.021, 3.305, 32},
        {"convolution_milo-W7800.json.gz", 4362, 4246, 116, 0, 0.8161, 6.419, 32},
        {"convolution-RTX_3090.json.gz", 6768, 5220, 1426, 122, 0.5229, 1.378, 10},
        {"convolution-RTX_3090-KTT.json.gz", 6768, 5240, 0, 1528, 0.5266, 1.378, 0},
        {"dedispersion_milo-W7800.json.gz", 11130, 11130, 0, 0, 50.36, 77.44, 32},
        {"pnpoly-RTX_3090.json.gz", 4092, 3774, 0, 318, 8.714, 13.54, 10},
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct recording *r = read_published(files[i].name);
        assert_int_equal(r->count, files[i].recorded);
        assert_int_equal(r->outcomes[OUTCOME_OK], files[i].valid);
        assert_int_equal(r->outcomes[OUTCOME_COMPILE], files[i].compile);
        assert_int_equal(r->outcomes[OUTCOME_CRASH], files[i].crash);
        assert_near(r->entry[r->best].seconds * 1e3, files[i].best_ms);
        assert_near(r->median * 1e3, files[i].median_ms);
        assert_int_equal(r->entry[r->best].run_count, files[i].runs);
        recording_destroy(r);
    }
}

static void test_t4_twin(void **state)
{
    struct recording *a = read_published("convolution_milo-A100.json.gz");
    struct recording *b = read_published("convolution_milo-A100-T4.json.gz");
    (void)state;
    assert_int_equal(a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        struct config c;
        config_set_get(&a->configs, i, &c); // the same ladders in the same order: the same slots
        const struct record_entry *x = &a->entry[i], *y = recording_find(b, &c);
        assert_non_null(y);
        assert_int_equal(x->outcome, y->outcome);
        assert_true(x->seconds == y->seconds && x->compile_s == y->compile_s);
        assert_int_equal(x->run_count, y->run_count);
        for (int k = 0; k < x->run_count; k++)
            assert_true(x->runs[k] == y->runs[k]);
    }
    recording_destroy(a);
    recording_destroy(b);
}

// Sets parameter `name` of `s` to the value that another recording's configuration has.
static void move_value(const struct space *from, const char *old_name, const struct config *c,
                       const struct space *to, const char *name, struct config *out)
{
    const struct param *p = space_find(from, old_name), *q = space_find(to, name);
    assert_non_null(p);
    assert_non_null(q);
    for (int i = 0; i < q->count; i++)
        if (q->number[i] == p->number[c->slot[p->offset]])
            out->slot[q->offset] = i;
}

// Another tuner on the same space has other measurements, and the same legal configurations.
static void test_ktt_twin(void **state)
{
    static const char *const names[][2] = {
        {"block_size_x", "BLOCK_SIZE_X"}, {"block_size_y", "BLOCK_SIZE_Y"},
        {"tile_size_x", "TILE_SIZE_X"},   {"tile_size_y", "TILE_SIZE_Y"},
        {"read_only", "READ_ONLY"},       {"use_padding", "PADDING"}};
    struct recording *a = read_published("convolution-RTX_3090.json.gz");
    struct recording *b = read_published("convolution-RTX_3090-KTT.json.gz");
    int near = 0, both = 0;
    (void)state;
    assert_int_equal(a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        struct config c, there = {0};
        config_set_get(&a->configs, i, &c);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            move_value(a->space, names[k][0], &c, b->space, names[k][1], &there);
        const struct record_entry *x = &a->entry[i], *y = recording_find(b, &there);
        assert_non_null(y);
        if (x->outcome == OUTCOME_OK && y->outcome == OUTCOME_OK) {
            both++;
            near += fabs(x->seconds / y->seconds - 1) < 0.25;
        }
    }
    assert_true(both > 5000);
    assert_true(near > both * 9 / 10);
    recording_destroy(a);
    recording_destroy(b);
}

static void test_conditions_explain_absent_entries(void **state)
{
    static const char *const pairs[][2] = {
        {"convolution_milo-A100.json.gz", "T1-convolution_milo.json"},
        {"convolution_milo-W7800.json.gz", "T1-convolution_milo.json"},
        {"dedispersion_milo-W7800.json.gz", "T1-dedispersion_milo.json"},
    };
    struct record_agreement a;
    struct err e;
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct recording *r = read_published(pairs[i][0]), *rules = read_published(pairs[i][1]);
        assert_true(recording_check(r, rules->space, &a, &e));
        assert_int_equal(a.points, r->space->size);
        assert_int_equal(a.legal, r->count);
        assert_int_equal(a.legal_absent, 0);
        assert_int_equal(a.illegal_record, 0);
        recording_destroy(r);
        recording_destroy(rules);
    }
    // The older file lacks the last condition of the input.
    struct recording *r = read_published("gemm-RTX_3090.json.gz");
    struct recording *rules = read_published("T1-gemm_milo.json");
    assert_true(recording_check(r, rules->space, &a, &e));
    assert_int_equal(a.legal_absent, 0);
    assert_int_equal(a.illegal_record, 484);
    recording_destroy(r);
    recording_destroy(rules);
    recording_destroy(read_published("T1-hotspot_milo.json"));
}

TEST_GROUP(published)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_t4_twin),
        cmocka_unit_test(test_ktt_twin),
        cmocka_unit_test(test_conditions_explain_absent_entries),
    };
    enum { SKIPPED = 77 };
    if (!getenv("TILEWALK_RECORDINGS")) {
        puts("skipped: TILEWALK_RECORDINGS names no folder of recordings");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
