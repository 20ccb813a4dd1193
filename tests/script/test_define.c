// operator.define: what it makes of a definition, and what it says of a bad one.
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
    {DEFINE(""), NULL, "a.lua:1: define: name: expected a string, got nothing"},
    {DEFINE("name = 'a b'"), NULL,
     "a.lua:1: define: name: 'a b' is not a name (letters, digits and _)"},
    {DEFINE("name = 'matmul'"), NULL, "a.lua:1: define: 'matmul' is built in"},
    {DEFINE(NAMED "input = { }"), NULL,
     "a.lua:1: define has no field 'input' (did you mean 'inputs'?)"},
    {DEFINE("name = 'd'"), NULL, "a.lua:1: define: flop: expected a number, got nothing"},
    {DEFINE("name = 'd', flop = 0"), NULL, "a.lua:1: define: flop: there must be some"},
    {DEFINE("name = 'd', flop = 1 / 0"), NULL, "a.lua:1: define: flop is not a finite number"},
    {DEFINE("name = 'd', bytes = 0"), NULL, "a.lua:1: define: bytes: there must be some"},
    {DEFINE("name = 'd', bytes = 'x'"), NULL,
     "a.lua:1: define: bytes: expected a number, got string"},
    {DEFINE("name = 'd', bytes = 1, rate = { 1, 'x' }"), NULL,
     "a.lua:1: define: bytes and rate are two things to be rated by (choose one)"},
    {DEFINE("name = 'd', rate = { 1 }"), NULL,
     "a.lua:1: define: rate: an amount and a unit, { N / 1e6, \"Mcells/s\" }"},
    {DEFINE("name = 'd', rate = { -1, 'x' }"), NULL, "a.lua:1: define: rate: there must be some"},
    {DEFINE("name = 'd', rate = { 1, 'a b' }"), NULL,
     "a.lua:1: define: rate: a unit has 1 to 12 ASCII characters without blanks"},
    {DEFINE("name = 'd', bytes = 1, flop = 0"), NULL, "a.lua:1: define: flop: there must be some"},
    {DEFINE(NAMED), NULL, "a.lua:1: define: inputs: expected a table, got nothing"},
    {DEFINE(NAMED INPUTS), NULL, "a.lua:1: define: output: expected a table, got nothing"},
    {OPERATOR DEFINE(NAMED), NULL, "a.lua:1: the operator is declared twice"},

    {WITH_INPUTS("{ 4, 8 }"), NULL, "a.lua:1: define: input 1: expected a string, got number"},
    {WITH_INPUTS("{ 'scratch', 8 }"), NULL,
     "a.lua:1: define: input 1: 'scratch' is what templates know scratch memory by"},
    {WITH_INPUTS("{ 'X' }"), NULL, "a.lua:1: define: buffer X has 0 sizes, not 1 to 4"},
    {WITH_INPUTS("{ 'X', 4, 0 }"), NULL,
     "a.lua:1: define: buffer X: size 2 is 0, not within 1..2147483647"},
    {WITH_INPUTS("{ 'X', 4, size = 8 }"), NULL, "a.lua:1: define: input 1 has no field 'size'"},
    {WITH_INPUTS("{ 'X', 4, type = 'f23' }"), NULL,
     "a.lua:1: define: buffer X has no type 'f23' (did you mean 'f32'?)"},
    {WITH_INPUTS("{ 'X', 4, type = 'double' }"), NULL,
     "a.lua:1: define: buffer X has no type 'double' (it may be f32, f16, i8, i32)"},
    {WITH_INPUTS("{ 'X', 4, fill = { 1 } }"), NULL,
     "a.lua:1: define: buffer X: fill: expected { low, high }"},
    {WITH_INPUTS("{ 'X', 4, fill = { 0.2, 0.8, whole = true } }"), NULL,
     "a.lua:1: define: buffer X: fill: no whole number lies between"},
    {WITH_INPUTS("{ 'X', 4, fill = { 0, 1, whole = 1 } }"), NULL,
     "a.lua:1: define: buffer X: fill: whole: expected a boolean, got number"},
    {WITH_INPUTS("{ 'X', 64, blocks = 'q5_9' }"), NULL,
     "a.lua:1: define: buffer X: blocks: there are no 'q5_9' (there are q4_0, q8_0, q4_K, q6_K, "
     "and your own as a table)"},
    {WITH_INPUTS("{ 'X', 2, 100, blocks = 'q4_0' }"), NULL,
     "a.lua:1: d: buffer X: rows of 100 weights are no whole blocks of 32 (make the last size a "
     "multiple of it)"},
    {WITH_INPUTS("{ 'X', 64, blocks = 'q4_0', type = 'i8' }"), NULL,
     "a.lua:1: define: buffer X has blocks, which have no type"},
    {WITH_INPUTS("{ 'X', 64, blocks = { weights = 7 } }"), NULL,
     "a.lua:1: define: buffer X: blocks: blocks have 1 to 1024 weights of 8 bits, or an even "
     "number "
     "of 4 bits, with a zero that has so many bits, and an f16 or f32 scale"},
    {WITH_INPUTS("{ 'X', 64, blocks = { weight = 32 } }"), NULL,
     "a.lua:1: define: buffer X: blocks has no field 'weight' (did you mean 'weights'?)"},
    {WITH_INPUTS("{ 'X', 64, blocks = { pairs = 1 } }"), NULL,
     "a.lua:1: define: buffer X: blocks: pairs: expected a boolean, got number"},
    {WITH_INPUTS("{ 'X', 4, fill = { 1, -1 } }"), NULL,
     "a.lua:1: d: buffer X: fill = { low, high } goes up"},
    {WITH_INPUTS("{ 'X', 4 }, { 'X', 8 }"), NULL, "a.lua:1: d: buffer X is declared twice"},
    {WITH_INPUTS("{ 'A', 1 }, { 'B', 1 }, { 'C', 1 }, { 'D', 1 }, { 'E', 1 }, { 'F', 1 }"), NULL,
     "a.lua:1: d: more than 6 buffers"},

    {DEFINE(NAMED BUFFERS), NULL, "a.lua:1: define: reference: expected a table, got nothing"},
    {REFERENCE(""), NULL, "a.lua:1: d: no step writes Y"},
    {REFERENCE("{ 'matmull', 'X' }"), NULL,
     "a.lua:1: define: step 1: unknown operator 'matmull' (did you mean 'matmul'?)"},
    {REFERENCE("{ 'dequantize', 'X', 'W' }"), NULL,
     "a.lua:1: d: step 1 (dequantize): X is no input of blocks, nor of f16"},
    {REFERENCE("{ 'dequantize', 'X' }"), NULL,
     "a.lua:1: define: step 1: dequantize has 2 buffers, 1 are named"},
    {REFERENCE("{ 'dequantize', 'X', 'W', N = 4 }"), NULL,
     "a.lua:1: define: step 1 has no field 'N'"},
    {REFERENCE("{ 'matmul', 'X', 'Z', 'Y', N = 4, M = 4 }"), NULL,
     "a.lua:1: matmul: size K is missing"},
    {REFERENCE("{ 'matmul', 'X', 'Y', N = 4, M = 4, K = 8 }"), NULL,
     "a.lua:1: d: step 1 (matmul): it has 3 buffers, 2 are named"},
    {REFERENCE("{ 'matmul', 'X', 'Q', 'Y', N = 4, M = 4, K = 8 }"), NULL,
     "a.lua:1: d: step 1 (matmul): it reads Q, which nothing has written"},
    {REFERENCE("{ 'matmul', 'X', 'Y', 'S', N = 4, M = 4, K = 8 }"), NULL,
     "a.lua:1: d: step 1 (matmul): it reads Y, which nothing has written"},
    {REFERENCE("{ 'matmul', 'X', 'Z', 'Y', N = 4, M = 4, K = 4 }"), NULL,
     "a.lua:1: d: step 1 (matmul): A is 16 f32, X is 32 f32"},
    {REFERENCE("{ 'matmul', 'X', 'Z', 'Y', N = 4, M = 4, K = 8, type = 'f16' }"), NULL,
     "a.lua:1: d: step 1 (matmul): A is 32 f16, X is 32 f32"},
    {REFERENCE("{ 'matmul', 'X', 'Z', 'Y', N = 4, M = 4, K = 8, row_a = 9 }"), NULL,
     "a.lua:1: d: step 1 (matmul): A has gaps between its rows, X has none"},
    {REFERENCE("{ 'matmul', 'X', 'Z', 'X', N = 4, M = 4, K = 8 }"), NULL,
     "a.lua:1: d: step 1 (matmul): it writes X, which is an input"},
    {REFERENCE(PRODUCT ", " PRODUCT), NULL,
     "a.lua:1: d: step 2 (matmul): it writes Y, which is written already"},
    {AFTER_PRODUCT("{ 'matmul', 'X', 'Z', 'S', N = 4, M = 4, K = 8 }"), NULL,
     "a.lua:1: d: step 2 (matmul): it writes S, which is written already"},
    {"local steps = { } for i = 1, 9 do steps[i] = { 'matmul', 'X', 'Z', 'S' .. i, N = 4, M = 4, K "
     "= 8 } end\n" DEFINE(NAMED BUFFERS "reference = steps"),
     NULL, "a.lua:2: d: more than 8 steps"},
    {DEFINE(NAMED BUFFERS "tolerance = { absolut = 1 }, " STEPS), NULL,
     "a.lua:1: define: tolerance has no field 'absolut' (did you mean 'absolute'?)"},
    {DEFINE(NAMED BUFFERS "tolerance = { absolute = -1 }, " STEPS), NULL,
     "a.lua:1: define: tolerance: absolute is negative"},

    {DEFINE(NAMED BUFFERS "reference = { template = 't.comp' }"), NULL,
     "a.lua:1: define: reference: groups: expected a table, got nothing"},
    {DEFINE(NAMED BUFFERS "reference = { template = 't.comp', groups = { 1, 0 } }"), NULL,
     "a.lua:1: define: reference: groups is 0, not within 1..4294967295"},
    {DEFINE(NAMED BUFFERS "reference = { template = 'u.comp', groups = { 1 } }"), NULL,
     "a.lua:1: define: reference: template \"u.comp\": no such file among the stored texts"},
    {DEFINE(NAMED BUFFERS GLSL) PARAM KERNEL, "\n${c.p[1]}", "t.comp:2: unknown name 'c'"},
    {"for i = 1, 17 do size('s' .. i, 1) end " DEFINE(NAMED), NULL,
     "a.lua:1: define: more than 16 sizes, 4 numbers or 8 choices are declared before it"},
};

static void each_error_reads_as_promised(void **state)
{
    (void)state;
    errors_check(cases, sizeof cases / sizeof *cases);
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

// What a number's standard is depends on the file: the problem says it in any case.
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
    assert_true(c->filling[0].low == 0 && c->filling[0].high == 3 && c->filling[1].low == -1 &&
                c->filling[1].high == 1);
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
