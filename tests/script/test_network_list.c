// Networks that are lists of layers without inputs, each with how often it occurs.
#include "errors.h"
#include "group.h"

#include "base/file.h"
#include "base/mem.h"
#include "script/network.h"

#include <stddef.h>
#include <string.h>

static bool load(const char *words, struct network *n, struct err *e)
{
    const struct script_text text = {"net.lua", "net.lua", words};
    const struct script_options o = {.path = "net.lua", .texts = &text, .text_count = 1};
    return network_load(&o, n, e);
}

#define NETWORK "network 'a net' "
#define INPUT   "local x = input { name = 'x', sizes = { 4, 8 } } "
#define PRODUCT "preset = 'mm', set = { N = 4, M = 8, K = 8 }"

// Layers without inputs are counted by uses and have no plan.
static void lists_are_counted(void **state)
{
    struct network n;
    struct err e;
    (void)state;
    assert_true(load(NETWORK "layer { name = 'a', uses = 32, seconds = 0.5, " PRODUCT " }\n"
                             "layer { name = 'b', uses = 2.0, " PRODUCT " }",
                     &n, &e));
    assert_true(n.is_list);
    assert_int_equal(n.task_count, 1);
    assert_int_equal(n.task[0].uses, 34);
    assert_true(n.task[0].told_s == 16 && network_told(&n) == 16);
    assert_int_equal(n.layer[1].uses, 2);
    assert_int_equal(n.plan.value_count + n.plan.step_count + n.output_count, 0);
    assert_true(network_flop(&n) == 34 * 2 * 4 * 8 * 8 && network_weight_bytes(&n) == 0);
    network_finish(&n);
}

static const struct {
    const char *text, *place;
} wrong[] = {
    {NETWORK "layer { name = 'a', uses = 2, " PRODUCT " }\nlayer { name = 'b', from = x, " PRODUCT
             " }",
     "net.lua:2"},
    {NETWORK INPUT "local y = layer { name = 'a', from = x, " PRODUCT " }\n"
                   "layer { name = 'b', uses = 2, " PRODUCT " }",
     "net.lua:2"},
    {NETWORK INPUT "layer { name = 'a', uses = 2, from = x, " PRODUCT " }", "net.lua:1"},
    {NETWORK "layer { name = 'a', uses = 0, " PRODUCT " }", "net.lua:1"},
    {NETWORK INPUT "layer { name = 'a', from = x, seconds = 1, " PRODUCT " }", "net.lua:1"},
    {NETWORK "local y = layer { name = 'a', uses = 1, " PRODUCT " }\noutput(y)", "net.lua:2"},
};

static void mistakes_are_named(void **state)
{
    int bad = 0;
    struct wording r;
    (void)state;
    wording_begin(&r, "script", "network lists");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct network n;
        struct err e;
        char message[1400];
        assert_false(load(wrong[i].text, &n, &e));
        network_finish(&n);
        err_format(&e, message, sizeof message);
        bad += !errors_add(&r, wrong[i].text, message, wrong[i].place, false);
    }
    wording_end(&r);
    assert_int_equal(bad, 0);
}

TEST_GROUP(network_list)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_counted),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
