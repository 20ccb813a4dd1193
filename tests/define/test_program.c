// Programs of definitions: kernels, parameters, FLOP, exact inputs; and the errors of wrong ones.
#include "group.h"
#include "help.h"

#include "base/mem.h"
#include "space/custom_operation.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define HEAD "local A, B = tensor('A', { 8, 4 }), tensor('B', { 4, 6 })\n"
#define DOT                                                                                        \
    "local C = compute('C', { 8, 6 }, function(i, j) return sum({ { 'k', 4 } }, function(k) "      \
    "return A(i, k) * B(k, j) end) end)\n"

static struct job first_job(struct script *s)
{
    struct config c;
    struct job job;
    struct err e;
    space_point(script_space(s), 0, &c);
    assert_true(script_render(s, &c, &job, &e));
    return job;
}

static void a_product(void **state)
{
    (void)state;
    struct script *s = must_load_text(HEAD DOT "output(C)");
    const struct space *space = script_space(s);
    assert_int_equal(space->param_count, 9);
    assert_string_equal(space->param[0].name, "i");
    assert_string_equal(space->param[2].name, "k");
    assert_string_equal(space->param[3].name, "place_A");
    assert_string_equal(space->param[5].name, "unroll");
    assert_string_equal(space->param[6].name, "vector");
    assert_string_equal(space->param[7].name, "pad");
    assert_string_equal(space->param[8].name, "buffers");
    // 2^3 into 5, 2 * 3 into 5, 2^2 into 3 parts; two places; three or four limits; widths, pads,
    // tiles
    assert_int_equal(space->size, 35 * 25 * 6 * 2 * 2 * space->param[5].size * 3 * 4 * 2);
    const struct operation *o = script_operation(s);
    assert_true(operation_flop(o) == 2 * 8 * 6 * 4);
    assert_true(custom_of(o)->exact);
    assert_int_equal(script_space(s)->nest->statement_count,
                     2 + 4 + 1); // fills, choices, the store
    struct job job = first_job(s);
    assert_int_equal(job.pass_count, 1);
    assert_int_equal(job.scratch_bytes, 0);
    job_finish(&job);
    script_destroy(s);
}

// Sets parts of a configuration of DOT's space, in the order of its parameters.
static char *text_with(struct script *s, const int32_t *slots, int count)
{
    struct config c;
    struct job job;
    struct err e;
    space_point(script_space(s), 0, &c);
    memcpy(c.slot, slots, (size_t)count * sizeof *slots);
    assert_true(script_render(s, &c, &job, &e));
    char *text = mem_strdup(job.pass[0].glsl);
    job_finish(&job);
    return text;
}

static bool is_legal(struct script *s, const int32_t *slots, int count)
{
    struct config c;
    struct verdict v;
    struct err e;
    space_point(script_space(s), 0, &c);
    memcpy(c.slot, slots, (size_t)count * sizeof *slots);
    assert_true(space_judge(script_space(s), &limits_vulkan_minimum, &c, &v, &e));
    return v.legal;
}

enum { I = 0, J = 5, K = 10, PLACE_A = 13, PLACE_B, UNROLL, VECTOR, PAD, BUFFERS, SLOTS };

static const int32_t eight_invocations[SLOTS] = {[I] = 1, 1, 8, 1,       1, [J] = 1, 1,
                                                 2,       1, 4, [K] = 1, 4, 1};

// `A` and `B` are staged or not; the text shows which accesses are vectors.
static void vectors(void **state)
{
    static const struct {
        int32_t a, b, vector, pad, buffers;
        const char *has[3], *lacks[2];
    } cases[] = {
        {0, 0, 0, 0, 0, {"= float(value[0 + r1])"}, {"V_", "wide"}},
        {0, 0, 2, 0, 0, {"vec4(V_B[(", "V_C[(", "= float(T_A[("}, {"V_A", "copy"}},
        {0, 0, 1, 0, 0, {"vec2(V_B[(", "r1 < 2"}, {"V_A", "copy"}},
        {1, 1, 2, 0, 0, {"shared vec4 copy1[8]", "shared float copy0[32]", "vec4(V_A[("}, {0}},
        {1, 1, 2, 1, 0, {"shared float copy1[36]", "shared float copy0[40]"}, {"shared vec4", 0}},
        {1, 1, 1, 2, 0, {"shared vec2 copy1[20]", "shared float copy0[48]"}, {"T_B[(", 0}},
        {1, 0, 0, 0, 1, {"float copy0[16]", "ahead0[1]", "if (next < 4)"}, {"copy1", "ahead1"}},
    };
    (void)state;
    struct script *s = must_load_text("local A, B = tensor('A', { 8, 4 }), tensor('B', { 4, 8 })\n"
                                      "output(compute('C', { 8, 8 }, function(i, j) return sum("
                                      "{ { 'k', 4 } }, function(k) return A(i, k) * B(k, j) end) "
                                      "end))");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t slots[SLOTS];
        memcpy(slots, eight_invocations, sizeof slots);
        slots[PLACE_A] = cases[i].a;
        slots[PLACE_B] = cases[i].b;
        slots[VECTOR] = cases[i].vector;
        slots[PAD] = cases[i].pad;
        slots[BUFFERS] = cases[i].buffers;
        slots[K] = cases[i].buffers ? 4 : 1; // steps that bring a tile each
        slots[K + 1] = 4 / slots[K];
        char *text = text_with(s, slots, SLOTS);
        for (int k = 0; k < 3; k++)
            if (cases[i].has[k] && !strstr(text, cases[i].has[k]))
                fail_msg("case %zu lacks %s:\n%s", i, cases[i].has[k], text);
        for (int k = 0; k < 2; k++)
            if (cases[i].lacks[k] && strstr(text, cases[i].lacks[k]))
                fail_msg("case %zu has %s:\n%s", i, cases[i].lacks[k], text);
        assert_true(is_legal(s, slots, SLOTS));
        free(text);
    }
    int32_t slots[SLOTS];
    memcpy(slots, eight_invocations, sizeof slots);
    slots[J + 1] = 4;
    slots[J + 4] = 1; // four neighbours are of four invocations
    slots[VECTOR] = 1;
    assert_false(is_legal(s, slots, SLOTS));
    slots[VECTOR] = 0;
    assert_true(is_legal(s, slots, SLOTS));
    slots[PAD] = 1; // behind no line
    assert_false(is_legal(s, slots, SLOTS));
    slots[PAD] = 0;
    slots[BUFFERS] = 1; // of nothing
    assert_false(is_legal(s, slots, SLOTS));
    slots[PLACE_A] = 1; // there is no next tile
    assert_false(is_legal(s, slots, SLOTS));
    script_destroy(s);
}

// A map of the results needs no kernel of its own.
static void an_epilogue(void **state)
{
    (void)state;
    struct script *s =
        must_load_text(HEAD DOT "output(compute('D', { 8, 6 }, function(i, j) return "
                                "max(C(i, j) + A(i, 0), 0.0) end))");
    struct job job = first_job(s);
    assert_int_equal(job.pass_count, 1);
    assert_int_equal(script_space(s)->param_count, 9);
    job_finish(&job);
    script_destroy(s);
    s = must_load_text(HEAD DOT
                       "output(compute('D', { 6, 8 }, function(i, j) return C(j, i) end))");
    job = first_job(s);
    assert_int_equal(job.pass_count, 2); // transposed: others computed what an invocation stores
    assert_int_equal(job.scratch_bytes, 8 * 6 * 4);
    assert_string_equal(script_space(s)->param[0].name, "C_i");
    job_finish(&job);
    script_destroy(s);
}

static void exact_definitions(void **state)
{
    static const struct {
        const char *body;
        bool exact;
    } cases[] = {{"A(i, 0) * 2 + i", true},
                 {"A(i, 0) * 0.5", false},
                 {"exp(A(i, 0))", false},
                 {"A(i, 0) / 2", false},
                 {"max(A(i, 0), -1)", true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char lua[300];
        snprintf(lua, sizeof lua,
                 "local A = tensor('A', { 8, 4 }) output(compute('C', { 8 }, function(i) return %s "
                 "end))",
                 cases[i].body);
        struct script *s = must_load_text(lua);
        assert_int_equal(custom_of(script_operation(s))->exact, cases[i].exact);
        script_destroy(s);
    }
}

// Random bytes have all values in definitions of whole numbers alone, where all that is computed
// has 32 bits.
static void inputs_of_bytes(void **state)
{
    static const struct {
        const char *type, *body;
        double low, high;
    } cases[] = {{"u8", "A(i, k) * A(i, k + 1)", 0, 255},
                 {"i8", "A(i, k) * A(i, k + 1)", -128, 127},
                 {"u8", "A(i, k) * 1.0", 0, 1},
                 {"i8", "min(A(i, k) * A(i, k) * A(i, k) * A(i, k) * A(i, k), 3)", -1, 1},
                 {"u8", "A(i, k) * A(i, k + 1) * 3000", 0, 1},
                 {"i8", "cast(A(i, k) * cast(A(i, k), 'f32') * A(i, k) * A(i, k), 'i32')", -1, 1},
                 {"i32", "A(i, k) * 2", -1, 1},
                 {"f8e5m2", "A(i, k) * A(i, k + 1)", -1, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char lua[300];
        snprintf(lua, sizeof lua,
                 "local A = tensor('A', { 8, 21 }, '%s') output(compute('C', { 8 }, function(i) "
                 "return sum({ { 'k', 20 } }, function(k) return %s end) end))",
                 cases[i].type, cases[i].body);
        struct script *s = must_load_text(lua);
        const struct custom_filling *f = &custom_of(script_operation(s))->filling[0];
        assert_true(f->low == cases[i].low && f->high == cases[i].high);
        script_destroy(s);
    }
}

// --- errors ---

static const struct {
    const char *lua, *expected;
} errors[] = {
    {HEAD "output(compute('C', { 8 }, function(i)\nreturn A(i + 1, 0) + B(0, 0)\nend))",
     "a.lua:3: C: index 1 of A is 8, not 0 to 7 (at i = 7)"},
    {HEAD "output(compute('C', { 8, 8 }, function(i, j)\nreturn A(i, j // 2) + B(i // 2 - 1, 0) "
          "end))",
     "a.lua:3: C: index 1 of B is -1, not 0 to 3 (at i = 0)"},
    {HEAD "output(compute('C', { 8 }, function(i)\nreturn select(A(i, 0) < 1.0, A(i + 1, 0), 0.0)\n"
          "end))",
     "a.lua:3: C: index 1 of A is 8, not 0 to 7 (at i = 7)"},
    {HEAD "output(compute('C', { 8 }, function(i) return A(i) end))",
     "a.lua:2: A has 2 indices, not 1"},
    {HEAD "output(compute('C', { 8 }, function(i) return A(i / 2, 0) end))",
     "a.lua:2: index 1 of A is not whole ('//' divides without a rest)"},
    {HEAD "output(compute('C', { 8 }, function(i) return A(A(i, 0), 0) end))",
     "a.lua:2: index 1 of A is not whole ('//' divides without a rest)"},
    {HEAD "output(compute('C', { 8 }, function(i) return A(i % i, 0) end))",
     "a.lua:2: % is for whole numbers, by a positive number"},
    {HEAD "output(compute('C', { 8 }, function(i) return A end))",
     "a.lua:2: what the function returns: expected a number or an expression, got a tensor (read "
     "it: A(i, j))"},
    {HEAD "output(compute('C', { 8 }, function(i) end))",
     "a.lua:2: what the function returns: expected a number or an expression, got nothing"},
    {HEAD "output(compute('C', { 8 }, function(i) return sum({ }, function() return A(i, 0) end) "
          "end))",
     "a.lua:2: sum: 0 axes, not 1 to 4 of at most 12 that are open"},
    {HEAD "output(compute('C', { 8, 0 }, function(i) return A(i, 0) end))",
     "a.lua:2: compute C is 0, not within 1..2147483647"},
    {HEAD "output(compute('C', { 65536, 65536 }, function(i, j) return 1.0 end))",
     "a.lua:2: compute C has more than 2^31-1 numbers"},
    {HEAD "output(A)", "a.lua:2: output: expected a tensor that is computed"},
    {HEAD DOT, "a.lua: nothing of what is computed is the output (output(C))"},
    {HEAD "local C C = compute('C', { 8 }, function(i) return C(i) end)",
     "a.lua:2: attempt to call a nil value (upvalue 'C'): it is declared further down, or not at "
     "all"},
    {HEAD DOT "local D = compute('D', { 8 }, function(i) return A(i, 0) end) output(C)",
     "a.lua:3: D is computed and read by nothing"},
    {"local A = tensor('A', { 2 }) local Z = tensor('Z', { 2 }) output(compute('C', { 2 }, "
     "function(i) return A(i) end))",
     "a.lua:1: Z is declared and read by nothing"},
    {HEAD "local A = tensor('A', { 2 })", "a.lua:2: tensor 'A' is declared twice"},
    {"tensor('A', { 2 }, 'f64')",
     "a.lua:1: tensor A has no type 'f64' (there are f32, f16, i8, i32, u8, bf16, f8e4m3, f8e5m2)"},
    {HEAD DOT "local E = tensor('E', { 2 })",
     "a.lua:3: tensor E: inputs are declared before what is computed"},
    {HEAD "A(1, 1)", "a.lua:2: what is read of a tensor stands within compute(...) only"},
    {HEAD DOT "output(C) param.p = discrete { 1 } kernel { template = 't.comp' }",
     "a.lua: what is computed has its kernels, their resources and their loops (no kernel, "
     "resources, scratch, nest beside it)"},
    {HEAD
     "local K = constant({ 1, 2, 3 })\noutput(compute('C', { 8 }, function(i) return K(i) end))",
     "a.lua:3: index 1 of a constant is 0.0 to 7.0, not 0 to 2"},
    {HEAD "local K = constant({ { 1, 2 }, { 3 } })",
     "a.lua:2: constant: lists of 2 and 1 beside each other"},
    {HEAD "local K = constant({ 1, { 3 } })",
     "a.lua:2: constant: lists and numbers beside each other"},
    {HEAD "local K = constant({ 1, 'x' })", "a.lua:2: constant: expected a number, got string"},
    {HEAD "local K = constant({ { 1 } }) output(compute('C', { 8 }, function(i) return K(0) end))",
     "a.lua:2: a constant has 2 indices, not 1"},
    {"local X = tensor('X', { 4 }) local last = X\n"
     "for n = 1, 1000 do local from = last last = compute('T' .. n, { 4 }, function(i) return "
     "from(i) + 1 end) end",
     "a.lua:2: more than 32 stages"},
};

static void wrong_definitions(void **state)
{
    char message[1400];
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct source files[] = {{"a.lua", errors[i].lua}, {"t.comp", "x\n"}, {NULL, NULL}};
        try_script(files, message, sizeof message);
        if (strcmp(message, errors[i].expected) != 0) {
            print_error("%s\n   gives: %s\nexpected: %s\n", errors[i].lua, message,
                        errors[i].expected);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

TEST_GROUP(program)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product),       cmocka_unit_test(vectors),
        cmocka_unit_test(an_epilogue),     cmocka_unit_test(exact_definitions),
        cmocka_unit_test(inputs_of_bytes), cmocka_unit_test(wrong_definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
