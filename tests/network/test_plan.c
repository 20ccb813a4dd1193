// Plans: what lies where, held against every order in which values could be placed; and what comes
// back from JSON.
#include "group.h"

#include "network/plan.h"

#include "base/rng.h"

#include <stdio.h>
#include <string.h>

#define MOST_STEPS 7
#define UNIT       PLAN_PLACE_BYTES

static struct tensor of_units(int64_t units)
{
    return (struct tensor){.name = "x", .rank = 1, .size = {units * UNIT / 4}, .stride = {1}};
}

// Each layer reads one or two of what came before, the input first.
static void make_random(struct plan *p, struct rng *r)
{
    struct tensor t = of_units(1);
    int value[MOST_STEPS + 1] = {0}, steps = 2 + (int)rng_below(r, MOST_STEPS - 1);
    plan_init(p);
    value[0] = plan_add_value(p, "image", PLAN_INPUT, &t);
    for (int i = 0; i < steps; i++) {
        t = of_units(1 + (int64_t)rng_below(r, 9));
        bool is_output = i == steps - 1 || rng_below(r, 6) == 0;
        value[i + 1] = plan_add_value(p, "layer", is_output ? PLAN_OUTPUT : PLAN_MADE, &t);
        int bound[3] = {value[i], value[rng_below(r, (uint64_t)i + 1)], value[i + 1]};
        plan_add_step(p, "layer", i, bound, 3);
    }
}

static int last_reader(const struct plan *p, int value)
{
    int last = p->value[value].role == PLAN_OUTPUT ? p->step_count : 0;
    for (int i = 0; i < p->step_count; i++)
        for (int k = 0; k < p->step[i].value_count; k++)
            if (p->step[i].value[k] == value && i > last)
                last = i;
    return last;
}

// Value v is made by step v - 1.
static bool are_together(const struct plan *p, int v, int w)
{
    return v - 1 <= last_reader(p, w) && w - 1 <= last_reader(p, v);
}

static bool lie_apart(const struct plan_value *a, uint64_t at, const struct plan_value *b)
{
    return at + a->bytes <= b->offset || b->offset + b->bytes <= at;
}

static uint64_t lowest_place(const struct plan *p, const int *order, int placed, int v)
{
    for (uint64_t at = 0;; at += UNIT) {
        bool fits = true;
        for (int i = 0; fits && i < placed; i++)
            fits =
                !are_together(p, v, order[i]) || lie_apart(&p->value[v], at, &p->value[order[i]]);
        if (fits)
            return at;
    }
}

// A best placement, its values taken from the lowest to the highest and each moved down as far as
// it goes, is a best placement still: so one of all orders gives one.
static uint64_t best_of_orders(struct plan *p, int *order, int placed, uint64_t end, uint64_t best)
{
    if (end >= best || placed == p->step_count)
        return end < best ? end : best;
    for (int i = placed; i < p->step_count; i++) {
        int v = order[i];
        order[i] = order[placed];
        order[placed] = v;
        p->value[v].offset = lowest_place(p, order, placed, v);
        uint64_t behind = p->value[v].offset + p->value[v].bytes;
        best = best_of_orders(p, order, placed + 1, behind > end ? behind : end, best);
        order[placed] = order[i];
        order[i] = v;
    }
    return best;
}

static void test_placement(void **state)
{
    struct rng r;
    int best_ones = 0, plans = 300;
    uint64_t sum = 0, sum_of_best = 0;
    (void)state;
    rng_seed(&r, 5);
    for (int n = 0; n < plans; n++) {
        struct plan p;
        int order[MOST_STEPS];
        make_random(&p, &r);
        plan_place(&p);
        struct plan_bytes b = plan_bytes(&p);
        for (int v = 1; v <= p.step_count; v++) {
            assert_true(p.value[v].offset + p.value[v].bytes <= p.shared);
            for (int w = 1; w < v; w++)
                assert_true(!are_together(&p, v, w) ||
                            lie_apart(&p.value[v], p.value[v].offset, &p.value[w]));
            order[v - 1] = v;
        }
        assert_true(plan_check(&p, NULL));
        uint64_t best = best_of_orders(&p, order, 0, 0, UINT64_MAX);
        assert_true(b.least <= best && best <= b.shared && b.shared <= b.made);
        assert_int_equal(b.kept, UNIT);
        best_ones += best == b.shared;
        sum += b.shared;
        sum_of_best += best;
        plan_finish(&p);
    }
    print_message("%d of %d plans are best, %.2f %% more memory in all\n", best_ones, plans,
                  100 * ((double)sum / (double)sum_of_best - 1));
    assert_true(best_ones > plans * 9 / 10 && sum < sum_of_best * 102 / 100);
}

// A chain needs two values at a time.
static void test_chain(void **state)
{
    static const int units[] = {4, 7, 2, 6, 5};
    struct plan p;
    (void)state;
    plan_init(&p);
    struct tensor t = of_units(3);
    int before = plan_add_value(&p, "image", PLAN_INPUT, &t);
    for (int i = 0; i < 5; i++) {
        t = of_units(units[i]);
        int made = plan_add_value(&p, "layer", i == 4 ? PLAN_OUTPUT : PLAN_MADE, &t);
        plan_add_step(&p, "layer", i, (int[]){before, made}, 2);
        before = made;
    }
    plan_place(&p);
    struct plan_bytes b = plan_bytes(&p);
    assert_int_equal(b.made, 24 * UNIT);
    assert_int_equal(b.shared, 11 * UNIT);
    assert_int_equal(b.least, 11 * UNIT);
    plan_finish(&p);
}

static char *text_of(const struct plan *p)
{
    struct str s = {0};
    struct json_writer w = json_begin(&s);
    plan_add_json(p, &w);
    json_end_all(&w);
    return str_take(&s);
}

static void expect_refused(const char *text, const char *from, const char *to, const char *message)
{
    struct plan p;
    struct json root;
    struct err e = {0};
    struct str changed = {0};
    const char *at = strstr(text, from);
    assert_non_null(at);
    str_printf(&changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    assert_true(json_parse(str_text(&changed), &root));
    assert_false(plan_read_json(root, &p, &e));
    assert_string_equal(e.text, message);
    plan_finish(&p);
    str_finish(&changed);
}

static void test_json(void **state)
{
    struct plan p, again;
    struct json root;
    struct err e;
    struct tensor t = of_units(2);
    (void)state;
    plan_init(&p);
    plan_add_value(&p, "image", PLAN_INPUT, &t);
    plan_add_value(&p, "a.B", PLAN_WEIGHT, &t);
    plan_add_value(&p, "a", PLAN_MADE, &t);
    plan_add_value(&p, "b", PLAN_OUTPUT, &t);
    plan_add_step(&p, "a", 0, (int[]){0, 1, 2}, 3);
    plan_add_step(&p, "b", 1, (int[]){2, 3}, 2);
    plan_place(&p);
    char *text = text_of(&p);
    assert_true(json_parse(text, &root));
    if (!plan_read_json(root, &again, &e))
        fail_msg("%s", e.text);
    char *twice = text_of(&again);
    assert_string_equal(text, twice);
    expect_refused(text, "[2,3]", "[3,2]", "step 'b' reads 'b' before it is written");
    expect_refused(text, "[0,1,2]", "[0,1,1]", "step 'a' writes 'a.B', which is there already");
    expect_refused(text, "[0,1,2]", "[0,1,4]", "step 0 of a plan is broken");
    expect_refused(text, "\"offset\":512", "\"offset\":0", "'b' and 'a' lie in the same place");
    expect_refused(text, "\"offset\":512", "\"offset\":1024", "'b' has no place");
    expect_refused(text, "\"offset\":512", "\"offset\":500", "'b' has no place");
    expect_refused(text, "\"bytes\":512", "\"bytes\":508", "value 0 of a plan is broken");
    expect_refused(text, "\"role\":\"weight\"", "\"role\":\"\"", "value 1 of a plan is broken");
    expect_refused(text, "\"shared_bytes\":1024", "\"shared_bytes\":-1",
                   "a plan without steps or memory");
    plan_finish(&p);
    plan_finish(&again);
    free(text);
    free(twice);
}

// A plan for others does not tell where the user's files lie.
static void test_public_json(void **state)
{
    struct plan p;
    struct tensor t = of_units(2);
    struct str s = {0};
    const struct weights from = {.path = "/home/of/a/user/net.safetensors",
                                 .folder = "/home/of",
                                 .name = "a.B",
                                 .saved = ELEMENT_F32};
    (void)state;
    plan_init(&p);
    plan_add_value(&p, "a.B", PLAN_WEIGHT, &t);
    p.value[0].from = &from;
    struct json_writer w = json_begin(&s);
    plan_add_public_json(&p, &w);
    json_end_all(&w);
    assert_non_null(strstr(str_text(&s), "\"path\":\"net.safetensors\""));
    assert_null(strstr(str_text(&s), "/home"));
    str_finish(&s);
    plan_finish(&p);
}

TEST_GROUP(plan)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_placement),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_public_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
