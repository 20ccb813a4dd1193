// operator.define: the operators that it makes, and its errors.
#include "errors.h"
#include "group.h"

#include "base/str.h"
#include "space/custom_operation.h"

#include <stddef.h>
#include <string.h>

#define NAMED   "name = 'd', flop = 1, "
#define INPUTS  "inputs = { { 'X', 4, 8 }, { 'Z', 8, 4 } }, "
#define OUTPUT  "output = { 'Y', 4, 4 }, "
#define BUFFERS INPUTS OUTPUT
#define PRODUCT "{ 'matmul', 'X', 'Z', 'Y', N = 4, M = 4, K = 8 }"
#define STEPS   "reference = { " PRODUCT " } "
#define GLSL    "reference = { template = 't.comp', groups = { 2, 3 } } "

#define DEFINE(fields)      "operator.define { " fields " }"
#define REFERENCE(steps)    DEFINE(NAMED BUFFERS "reference = { " steps " }")
#define WITH_INPUTS(list)   DEFINE(NAMED "inputs = { " list " }, " OUTPUT STEPS)
#define AFTER_PRODUCT(step) REFERENCE("{ 'matmul', 'X', 'Z', 'S', N = 4, M = 4, K = 8 }, " step)

static const struct error_case cases[] = {
    {DEFINE(""), NULL, "a.lua:1"},
    {DEFINE("name = 'a b'"), NULL, "a.lua:1"},
    {DEFINE("name = 'matmul'"), NULL, "a.lua:1"},
    {DEFINE(NAMED "input = { }"), NULL, "a.lua:1"},
    {DEFINE("name = 'd'"), NULL, "a.lua:1"},
    {DEFINE("name = 'd', flop = 0"), NULL, "a.lua:1"},
    {DEFINE("name = 'd', flop = 1 / 0"), NULL, "a.lua:1"},
    {DEFINE("name = 'd', bytes = 0"), NULL, "a.lua:1"},
    {DEFINE("name = 'd', bytes = 'x'"), NULL, "a.lua:1"},
    {DEFINE("name = 'd', bytes = 1, rate = { 1, 'x' }"), NULL, "a.lua:1"},
    {DEFINE("name = 'd', rate = { 1 }"), NULL, "a.lua:1"},
    {DEFINE("name = 'd', rate = { -1, 'x' }"), NULL, "a.lua:1"},
    {DEFINE("name = 'd', rate = { 1, 'a b' }"), NULL, "a.lua:1"},
    {DEFINE("name = 'd', bytes = 1, flop = 0"), NULL, "a.lua:1"},
    {DEFINE(NAMED), NULL, "a.lua:1"},
    {DEFINE(NAMED INPUTS), NULL, "a.lua:1"},
    {OPERATOR DEFINE(NAMED), NULL, "a.lua:1"},

    {WITH_INPUTS("{ 4, 8 }"), NULL, "a.lua:1"},
    {WITH_INPUTS("{ 'scratch', 8 }"), NULL, "a.lua:1"},
    {WITH_INPUTS("{ 'X' }"), NULL, "a.lua:1"},
    {WITH_INPUTS("{ 'X', 4, 0 }"), NULL, "a.lua:1"},
    {WITH_INPUTS("{ 'X', 4, size = 8 }"), NULL, "a.lua:1"},
    {WITH_INPUTS("{ 'X', 4, type = 'f23' }"), NULL, "a.lua:1"},
    {WITH_INPUTS("{ 'X', 4, type = 'double' }"), NULL, "a.lua:1"},
    {WITH_INPUTS("{ 'X', 4, fill = { 1 } }"), NULL, "a.lua:1"},
    {WITH_INPUTS("{ 'X', 4, fill = { 0.2, 0.8, whole = true } }"), NULL, "a.lua:1"},
    {WITH_INPUTS("{ 'X', 4, fill = { 0, 1, whole = 1 } }"), NULL, "a.lua:1"},
    {WITH_INPUTS("{ 'X', 64, blocks = 'q5_9' }"), NULL, "a.lua:1"},
    {WITH_INPUTS("{ 'X', 2, 100, blocks = 'q4_0' }"), NULL, "a.lua:1"},
    {WITH_INPUTS("{ 'X', 64, blocks = 'q4_0', type = 'i8' }"), NULL, "a.lua:1"},
    {WITH_INPUTS("{ 'X', 64, blocks = { weights = 7 } }"), NULL, "a.lua:1"},
    {WITH_INPUTS("{ 'X', 64, blocks = { weight = 32 } }"), NULL, "a.lua:1"},
    {WITH_INPUTS("{ 'X', 64, blocks = { pairs = 1 } }"), NULL, "a.lua:1"},
    {WITH_INPUTS("{ 'X', 4, fill = { 1, -1 } }"), NULL, "a.lua:1"},
    {WITH_INPUTS("{ 'X', 4 }, { 'X', 8 }"), NULL, "a.lua:1"},
    {WITH_INPUTS(
         "{ 'A', 1 }, { 'B', 1 }, { 'C', 1 }, { 'D', 1 }, { 'E', 1 }, { 'F', 1 }, { 'G', 1 }, "
         "{ 'H', 1 }, { 'I', 1 }, { 'J', 1 }, { 'K', 1 }, { 'L', 1 }, { 'M', 1 }, { 'N', 1 }, "
         "{ 'O', 1 }, { 'P', 1 }"),
     NULL, "a.lua:1"},

    {DEFINE(NAMED BUFFERS), NULL, "a.lua:1"},
    {REFERENCE(""), NULL, "a.lua:1"},
    {REFERENCE("{ 'matmull', 'X' }"), NULL, "a.lua:1"},
    {REFERENCE("{ 'dequantize', 'X', 'W' }"), NULL, "a.lua:1"},
    {REFERENCE("{ 'dequantize', 'X' }"), NULL, "a.lua:1"},
    {REFERENCE("{ 'dequantize', 'X', 'W', N = 4 }"), NULL, "a.lua:1"},
    {REFERENCE("{ 'matmul', 'X', 'Z', 'Y', N = 4, M = 4 }"), NULL, "a.lua:1"},
    {REFERENCE("{ 'matmul', 'X', 'Y', N = 4, M = 4, K = 8 }"), NULL, "a.lua:1"},
    {REFERENCE("{ 'matmul', 'X', 'Q', 'Y', N = 4, M = 4, K = 8 }"), NULL, "a.lua:1"},
    {REFERENCE("{ 'matmul', 'X', 'Y', 'S', N = 4, M = 4, K = 8 }"), NULL, "a.lua:1"},
    {REFERENCE("{ 'matmul', 'X', 'Z', 'Y', N = 4, M = 4, K = 4 }"), NULL, "a.lua:1"},
    {REFERENCE("{ 'matmul', 'X', 'Z', 'Y', N = 4, M = 4, K = 8, type = 'f16' }"), NULL, "a.lua:1"},
    {REFERENCE("{ 'matmul', 'X', 'Z', 'Y', N = 4, M = 4, K = 8, row_a = 9 }"), NULL, "a.lua:1"},
    {REFERENCE("{ 'matmul', 'X', 'Z', 'X', N = 4, M = 4, K = 8 }"), NULL, "a.lua:1"},
    {REFERENCE(PRODUCT ", " PRODUCT), NULL, "a.lua:1"},
    {AFTER_PRODUCT("{ 'matmul', 'X', 'Z', 'S', N = 4, M = 4, K = 8 }"), NULL, "a.lua:1"},
    {"local steps = { } for i = 1, 9 do steps[i] = { 'matmul', 'X', 'Z', 'S' .. i, N = 4, M = 4, K "
     "= 8 } end\n" DEFINE(NAMED BUFFERS "reference = steps"),
     NULL, "a.lua:2"},
    {DEFINE(NAMED BUFFERS "tolerance = { absolut = 1 }, " STEPS), NULL, "a.lua:1"},
    {DEFINE(NAMED BUFFERS "tolerance = { absolute = -1 }, " STEPS), NULL, "a.lua:1"},

    {DEFINE(NAMED BUFFERS "reference = { template = 't.comp' }"), NULL, "a.lua:1"},
    {DEFINE(NAMED BUFFERS "reference = { template = 't.comp', groups = { 1, 0 } }"), NULL,
     "a.lua:1"},
    {DEFINE(NAMED BUFFERS "reference = { template = 'u.comp', groups = { 1 } }"), NULL, "a.lua:1"},
    {DEFINE(NAMED BUFFERS GLSL) PARAM KERNEL, "\n${c.p[1]}", "t.comp:2"},
    {"for i = 1, 17 do size('s' .. i, 1) end " DEFINE(NAMED), NULL, "a.lua:1"},
};

static void each_error_reads_as_promised(void **state)
{
    (void)state;
    errors_check("define", cases, sizeof cases / sizeof *cases);
}

static struct script *load(const char *lua, const char *glsl)
{
    return must_load((struct source[]){{"a.lua", lua}, {"t.comp", glsl}, {NULL, NULL}});
}

static void steps_are_connected_by_names(void **state)
{
    (void)state;
    struct script *s =
        load("local N = size('N', 4) local mode = choice('mode', { 'slow', 'fast' })\n" DEFINE(
                 NAMED BUFFERS "tolerance = { relative = 0.5 }, reference = { { 'matmul', 'X', "
                               "'Z', 'S', N = N, M = 4, K = 8 }, "
                               "{ 'matmul', 'S', 'S', 'Y', N = N, M = 4, K = 4, scale = 2 } }")
                 PARAM KERNEL,
             "x\n");
    const struct operation *o = script_operation(s);
    const struct custom_operation *c = custom_of(o);
    struct str text = {0};
    operation_add_text(o, &text);
    assert_string_equal(str_text(&text), "d slow 4");
    str_finish(&text);
    assert_int_equal(script_reference(s)->pass_count, 0);
    assert_int_equal(c->step_count, 2);
    assert_int_equal(c->tensor_count, 3);
    assert_int_equal(c->buffer_count, 4);
    assert_string_equal(c->buffer[3].name, "S");
    assert_int_equal(c->step[0].buffer[2], 3);
    assert_int_equal(c->step[1].buffer[0], 3);
    assert_int_equal(c->step[1].buffer[1], 3);
    assert_int_equal(c->step[1].buffer[2], 2);
    assert_true(c->absolute == 0 && c->relative == 0.5);
    assert_true(operation_flop(o) == 1);
    script_destroy(s);
}

// The standard of a number depends on the file: the problem always includes its value.
static void its_numbers_are_part_of_the_problem(void **state)
{
    (void)state;
    struct script *s =
        load("number('scale', 1) number('shift', -0.5)\n" DEFINE(NAMED BUFFERS STEPS) PARAM KERNEL,
             "x\n");
    struct str text = {0}, json = {0};
    operation_add_text(script_operation(s), &text);
    operation_add_json(script_operation(s), &json);
    assert_string_equal(str_text(&text), "d scale=1 shift=-0.5");
    assert_string_equal(str_text(&json), "{\"kind\":\"d\",\"scale\":1,\"shift\":-0.5}");
    str_finish(&text);
    str_finish(&json);
    script_destroy(s);
}

static void a_kernel_is_rendered_with_the_operator(void **state)
{
    (void)state;
    struct script *s =
        load("size('N', 7) " DEFINE(NAMED BUFFERS GLSL) PARAM KERNEL,
             "\n${op.kind} ${op.N} ${N} ${op.bindings.X}${op.bindings.Z}${op.bindings.Y}\n");
    const struct job *job = script_reference(s);
    assert_int_equal(job->pass_count, 1);
    assert_string_equal(job->pass[0].glsl, "\nd 7 7 012\n");
    assert_int_equal(job->pass[0].groups[0], 2);
    assert_int_equal(job->pass[0].groups[1], 3);
    assert_int_equal(job->pass[0].groups[2], 1);
    assert_int_equal(job->pass[0].line_map[1], 2);
    int texts;
    script_texts(s, &texts);
    assert_int_equal(texts, 2); // a session stores the template too
    script_destroy(s);
}

static void buffers_have_their_types_and_fills(void **state)
{
    (void)state;
    struct script *s = load(
        DEFINE(
            NAMED
            "inputs = { { 'X', 4, 8, type = 'f16', fill = { 0, 3 } }, { 'Z', 5, type = 'i8' } }, "
            "output = { 'Y', 3, 1, 2, type = 'i32' }, " GLSL) PARAM KERNEL,
        "x\n");
    const struct custom_operation *c = custom_of(script_operation(s));
    struct tensor t[OPERATION_MAX_TENSORS];
    assert_int_equal(operation_tensors(script_operation(s), t), 3);
    assert_int_equal(t[0].element, ELEMENT_F16);
    assert_int_equal(t[1].element, ELEMENT_I8);
    assert_int_equal(t[2].element, ELEMENT_I32);
    assert_int_equal(t[2].rank, 3);
    assert_int_equal(t[2].stride[0], 2);
    assert_true(c->filling[0].low == 0 && c->filling[0].high == 3 && c->filling[1].low == -16 &&
                c->filling[1].high == 16);
    assert_true(c->absolute == 0 && c->relative == 0); // of whole numbers
    struct str text = {0};
    operation_add_text(script_operation(s), &text);
    assert_string_equal(str_text(&text), "d"); // it has no sizes
    str_finish(&text);
    script_destroy(s);
}

TEST_GROUP(define)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_error_reads_as_promised),
        cmocka_unit_test(steps_are_connected_by_names),
        cmocka_unit_test(its_numbers_are_part_of_the_problem),
        cmocka_unit_test(a_kernel_is_rendered_with_the_operator),
        cmocka_unit_test(buffers_have_their_types_and_fills),
    };
    return cmocka_run_group_tests(tests, errors_setup, errors_teardown);
}
