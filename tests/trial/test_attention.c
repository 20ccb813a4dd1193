// Attention: its reference against sums over logical indices, its operations, and that each key
// counts: one that is missed, or seen through the mask, is found in exact inputs, however many
// there are, and one element of a score that is missed in random ones.
#include "case.h"
#include "group.h"
#include "wording.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const types[] = {"f32", "f16", "bf16", "f8e4m3", "f8e5m2"};
static const char *const layouts[] = {"bhnd", "bnhd"};

struct at { // a row of a tensor
    int64_t batch, head, row;
};

static int64_t offset(const struct test_case *t, const char *heads, const char *rows, struct at at)
{
    int64_t h = case_size(t, heads), n = case_size(t, rows), dim = case_size(t, "dim");
    return (case_is(t, "layout", "bhnd") ? (at.batch * h + at.head) * n + at.row
                                         : (at.batch * n + at.row) * h + at.head) *
           dim;
}

// What a kernel computes that leaves out the key `missed` and the elements of a product from
// `elements` on, and whose mask lets `more` keys through.
struct fault {
    int64_t missed, elements, more;
};

static double weight(const struct test_case *t, struct at at, int64_t key, int64_t elements)
{
    int64_t group = case_size(t, "heads") / case_size(t, "kv_heads");
    int64_t q = offset(t, "heads", "N", at);
    int64_t k = offset(t, "kv_heads", "M", (struct at){at.batch, at.head / group, key});
    double score = 0;
    for (int64_t d = 0; d < elements; d++)
        score += case_get(t, "Q", q + d) * case_get(t, "K", k + d);
    return exp(score / sqrt((double)case_size(t, "dim")));
}

// Puts a row of O into the result; `expected` holds it against the reference as well.
static void put_row(struct test_case *t, struct at at, struct fault f, bool expected)
{
    int64_t n = case_size(t, "N"), m = case_size(t, "M"), dim = case_size(t, "dim");
    int64_t group = case_size(t, "heads") / case_size(t, "kv_heads");
    int64_t seen = case_is(t, "mask", "causal") ? m - n + at.row + 1 + f.more : m;
    double unit = case_is(t, "type", "f16") ? 0x1p-10 : 0x1p-23;
    for (int64_t d = 0; d < dim; d++) {
        double sum = 0, whole = 0;
        for (int64_t j = 0; j < seen && j < m; j++) {
            double w = j == f.missed ? 0 : weight(t, at, j, f.elements);
            int64_t v = offset(t, "kv_heads", "M", (struct at){at.batch, at.head / group, j});
            whole += w;
            sum += w * case_get(t, "V", v + d);
        }
        int64_t to = offset(t, "heads", "N", at) + d;
        double right = sum / whole, error = fabs(case_reference(t, to) - right);
        if (expected && !(error <= unit * fabs(right) + 1e-7))
            fail_msg("O at %d: %.9g, expected %.9g", (int)to, case_reference(t, to), right);
        case_put(t, to, right);
    }
}

static void put_all(struct test_case *t, struct fault f, bool expected)
{
    struct at at;
    for (at.batch = 0; at.batch < case_size(t, "batch"); at.batch++)
        for (at.head = 0; at.head < case_size(t, "heads"); at.head++)
            for (at.row = 0; at.row < case_size(t, "N"); at.row++)
                put_row(t, at, f, expected);
}

static void heads_attend(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        "heads=2 N=5 M=7 dim=6",
        "batch=2 heads=4 kv_heads=2 N=3 M=9 dim=5 mask=causal",
        "batch=2 heads=3 kv_heads=1 N=1 M=4 dim=1",
        "heads=1 N=6 M=6 dim=3 mask=causal",
    };
    static const enum input_set sets[] = {INPUT_EXACT, INPUT_RANDOM};
    char fields[200];
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (size_t v = 0; v < 4 * COUNT(types); v++) {
            snprintf(fields, sizeof fields, "%s type=%s layout=%s", shapes[s], types[v / 4],
                     layouts[v % 2]);
            enum input_set set = sets[v / 2 % 2];
            struct test_case c = case_make("attention", fields, set, 3);
            const struct fault none = {-1, case_size(&c, "dim"), 0};
            case_notices(&c, set);
            put_all(&c, none, true);
            assert_true(case_right(&c, set, NULL));
            case_free(&c);
        }
}

static void each_key_counts(void **state)
{
    (void)state;
    static const struct {
        const char *fields;
        struct fault fault;
        enum input_set set;
    } faults[] = {
        {"heads=1 N=8 M=4000 dim=8 type=f32", {1777, 8, 0}, INPUT_EXACT},
        {"heads=1 N=8 M=4000 dim=8 type=f16", {3999, 8, 0}, INPUT_EXACT},
        {"heads=1 N=300 M=300 dim=4 type=f16 mask=causal", {-1, 4, 1}, INPUT_EXACT},
        {"heads=1 N=4 M=300 dim=64 type=f32", {-1, 63, 0}, INPUT_RANDOM},
        {"heads=1 N=4 M=300 dim=64 type=f16", {-1, 63, 0}, INPUT_RANDOM},
        {"heads=1 N=8 M=4000 dim=8 type=bf16", {3999, 8, 0}, INPUT_EXACT},
        {"heads=1 N=4 M=300 dim=64 type=bf16", {-1, 63, 0}, INPUT_RANDOM},
        {"heads=1 N=8 M=4000 dim=8 type=f8e5m2", {3999, 8, 0}, INPUT_EXACT},
        {"heads=1 N=4 M=300 dim=64 type=f8e4m3", {-1, 63, 0}, INPUT_RANDOM},
    };
    for (size_t i = 0; i < COUNT(faults); i++) {
        struct test_case c = case_make("attention", faults[i].fields, faults[i].set, 3);
        put_all(&c, faults[i].fault, false);
        if (case_right(&c, faults[i].set, NULL))
            fail_msg("%s: nothing is wrong", faults[i].fields);
        case_free(&c);
    }
}

static void work_is_that_of_what_is_seen(void **state)
{
    (void)state;
    struct operation o = case_operation("attention", "batch=2 heads=3 N=10 M=20 dim=8");
    struct workload one = operation_work(&o);
    assert_true(operation_flop(&o) == 4.0 * 2 * 3 * 10 * 20 * 8);
    assert_string_equal(one.unit, WORK_FLOP);
    o = case_operation("attention", "heads=3 N=10 M=10 dim=8 mask=causal");
    assert_true(operation_flop(&o) == 4.0 * 3 * 55 * 8);
    o = case_operation("attention", "heads=4 kv_heads=2 N=1 M=20 dim=8 type=f16"); // one query
    one = operation_work(&o);
    assert_string_equal(one.unit, WORK_BYTES);
    assert_true(one.amount == 2 * (2 * 4 * 8 + 2 * 2 * 20 * 8));
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct operation o = case_operation("attention", "heads=4 N=5 M=5 dim=8 mask=causal");
    struct wording r;
    struct err e;
    wording_begin(&r, "trial", "attention");
    operation_set_size(&o, "kv_heads", 3, NULL);
    assert_false(operation_complete(&o, &e));
    wording_add(&r, "kv_heads=3", e.text);
    operation_set_size(&o, "kv_heads", 2, NULL);
    assert_true(operation_complete(&o, &e));
    operation_set_size(&o, "M", 4, NULL);
    assert_false(operation_complete(&o, &e));
    wording_add(&r, "M=4", e.text);
    wording_end(&r);
}

TEST_GROUP(attention)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_attend),
        cmocka_unit_test(each_key_counts),
        cmocka_unit_test(work_is_that_of_what_is_seen),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
