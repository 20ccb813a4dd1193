// The sketches that Ansor's rules derive, for its worked examples rule by rule, and the number of
// tilings of one.
#include "group.h"
#include "help.h"
#include "wording.h"

#include "base/mem.h"
#include "define/program.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define PRODUCT(n, m, k)                                                                           \
    "local A, B = tensor('A', { " #n ", " #k " }), tensor('B', { " #k ", " #m " })\n"              \
    "local C = compute('C', { " #n ", " #m " }, function(i, j) return sum({ { 'k', " #k            \
    " } }, function(k) return A(i, k) * B(k, j) end) end)\n"

static const struct {
    const char *what, *lua;
    int count;
    const char *name[9], *rules[9];
} examples[] = {
    {"matrix product",
     PRODUCT(64, 64, 64) "output(C)",
     1,
     {"tiled"},
     {"cache write, multi-level tiling with fusion, cache read, skip, cache read, skip"}},
    {"product and relu",
     PRODUCT(64, 64, 64) "output(compute('D', { 64, 64 }, function(i, j) return max(C(i, j), 0.0) "
                         "end))",
     1,
     {"tiled"},
     {"skip, multi-level tiling with fusion, cache read, skip, cache read, skip"}},
    {"product with a long reduction",
     PRODUCT(4, 4, 1024) "output(C)",
     3,
     {"tiled", "cross-thread(C)", "split(C)"},
     {"cache write, multi-level tiling with fusion, cache read, skip, cache read, skip",
      "cross-thread reduction, skip, skip", "split reduction, skip, skip"}},
    {"batch product",
     "local A, B = tensor('A', { 4, 32, 16 }), tensor('B', { 4, 16, 32 })\n"
     "output(compute('C', { 4, 32, 32 }, function(b, i, j) return sum({ { 'k', 16 } }, function(k) "
     "return A(b, i, k) * B(b, k, j) end) end))",
     1,
     {"tiled"},
     {"cache write, multi-level tiling with fusion, cache read, skip, cache read, skip"}},
    {"convolution, bias, relu",
     "local X, W, b = tensor('X', { 8, 8, 16 }), tensor('W', { 3, 3, 16, 32 }), tensor('b', { 32 "
     "})\n"
     "local P = compute('P', { 10, 10, 16 }, function(y, x, c) return select(y >= 1 and y < 9 and "
     "x >= 1 and x < 9, X(y - 1, x - 1, c), 0.0) end)\n"
     "local Y = compute('Y', { 8, 8, 32 }, function(y, x, f) return sum({ { 'r', 3 }, { 's', 3 }, "
     "{ 'c', 16 } }, function(r, s, c) return P(y + r, x + s, c) * W(r, s, c, f) end) end)\n"
     "local Z = compute('Z', { 8, 8, 32 }, function(y, x, f) return Y(y, x, f) + b(f) end)\n"
     "output(compute('R', { 8, 8, 32 }, function(y, x, f) return max(Z(y, x, f), 0.0) end))",
     1,
     {"tiled"},
     {"skip, always inline, multi-level tiling with fusion, cache read, always inline, skip, "
      "cache read, skip, skip"}},
    {"softmax",
     "local X = tensor('X', { 32, 256 })\n"
     "local top = compute('top', { 32 }, function(i) return max({ { 'k', 256 } }, function(k) "
     "return X(i, k) end) end)\n"
     "local E = compute('E', { 32, 256 }, function(i, j) return exp(X(i, j) - top(i)) end)\n"
     "local all = compute('all', { 32 }, function(i) return sum({ { 'k', 256 } }, function(k) "
     "return E(i, k) end) end)\n"
     "output(compute('Y', { 32, 256 }, function(i, j) return E(i, j) / all(i) end))",
     9,
     {"serial", "cross-thread(top)", "split(top)", "cross-thread(all)", "cross-thread(top+all)",
      "cross-thread(all),split(top)", "split(all)", "cross-thread(top),split(all)",
      "split(top+all)"},
     {"skip, skip, always inline, skip, skip",
      "skip, skip, always inline, cross-thread reduction, skip",
      "skip, skip, always inline, split reduction, skip",
      "skip, cross-thread reduction, always inline, skip, skip",
      "skip, cross-thread reduction, always inline, cross-thread reduction, skip",
      "skip, cross-thread reduction, always inline, split reduction, skip",
      "skip, split reduction, always inline, skip, skip",
      "skip, split reduction, always inline, cross-thread reduction, skip",
      "skip, split reduction, always inline, split reduction, skip"}},
    {"2-norm",
     "local A = tensor('A', { 4, 64, 64 })\n"
     "output(compute('Y', { 4 }, function(b) return sqrt(sum({ { 'i', 64 }, { 'j', 64 } }, "
     "function(i, j) return A(b, i, j) * A(b, i, j) end)) end))",
     3,
     {"serial", "cross-thread(Y_sum1)", "split(Y_sum1)"},
     {"skip, skip, skip", "skip, cross-thread reduction, skip", "skip, split reduction, skip"}},
    {"Winograd's convolution",
     "local B = constant({ { 1, 0, 0, 0 }, { 0, 1, -1, 1 }, { -1, 1, 1, 0 }, { 0, 0, 0, -1 } })\n"
     "local A = constant({ { 1, 0 }, { 1, 1 }, { 1, -1 }, { 0, -1 } })\n"
     "local X, U = tensor('X', { 16, 16, 8 }), tensor('U', { 4, 4, 8, 32 })\n"
     "local T = compute('T', { 4, 4, 49, 8 }, function(i, j, p, c) return X(p // 7 * 2 + i, p % 7 "
     "* "
     "2 + j, c) end)\n"
     "local V = compute('V', { 4, 4, 49, 8 }, function(i, j, p, c) return sum({ { 'a', 4 }, { 'b', "
     "4 } }, function(a, b) return T(a, b, p, c) * B(a, i) * B(b, j) end) end)\n"
     "local M = compute('M', { 4, 4, 49, 32 }, function(i, j, p, f) return sum({ { 'c', 8 } }, "
     "function(c) return V(i, j, p, c) * U(i, j, c, f) end) end)\n"
     "local Z = compute('Z', { 2, 2, 49, 32 }, function(i, j, p, f) return sum({ { 'a', 4 }, { "
     "'b', "
     "4 } }, function(a, b) return M(a, b, p, f) * A(a, i) * A(b, j) end) end)\n"
     "output(compute('Y', { 14, 14, 32 }, function(y, x, f) return Z(y % 2, x % 2, y // 2 * 7 + x "
     "// 2, f) end))",
     1,
     {"tiled"},
     {"skip, constant tensors, cache write, multi-level tiling with fusion, cache read, constant "
      "tensors, special compute location, cache read, skip, skip"}},
    {"product of odd sizes and relu",
     PRODUCT(17, 19, 13) "output(compute('D', { 17, 19 }, function(i, j) return max(C(i, j), 0.0) "
                         "end))",
     2,
     {"tiled", "guarded(C)"},
     {"skip, multi-level tiling with fusion, cache read, skip, cache read, skip",
      "skip, guarded ends, multi-level tiling with fusion, cache read, skip, cache read, skip"}},
    {"relu",
     "local A = tensor('A', { 64 }) output(compute('Y', { 64 }, function(i) return max(A(i), 0.0) "
     "end))",
     1,
     {"serial"},
     {"skip, skip"}},
};

static void worked_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct script *s = must_load_text(examples[i].lua);
        const struct program *p = script_program(s);
        if (p->sketches.count != examples[i].count)
            fail_msg("%s: %d sketches, not %d", examples[i].what, p->sketches.count,
                     examples[i].count);
        for (int n = 0; n < p->sketches.count; n++) {
            struct str rules = {0};
            for (int r = 0; r < p->sketches.sketch[n].rules; r++)
                str_printf(&rules, "%s%s", r ? ", " : "",
                           sketch_rule_name(p->sketches.sketch[n].rule[r]));
            if (strcmp(str_text(&rules), examples[i].rules[n]) != 0)
                fail_msg("%s: %s", examples[i].what, str_text(&rules));
            assert_string_equal(p->sketch_name[n], examples[i].name[n]);
            str_finish(&rules);
        }
        script_destroy(s);
    }
}

// Returns the values of one parameter that the rule leaves; the other parameters are those of the
// space's first point.
static int left_by(const struct space *s, const char *rule, const char *param)
{
    const struct param *p = space_find(s, param);
    const struct constraint *c = s->constraint;
    while (strcmp(c->name, rule) != 0)
        c++;
    int left = 0;
    for (uint64_t i = 0; i < p->size; i++) {
        struct config config;
        struct err e;
        space_point(s, 0, &config);
        for (int k = 0; k < s->param_count; k++) // all of a loop in its outermost part
            if (s->param[k].kind == PARAM_FACTORIZATION)
                for (int part = 0; part < s->param[k].width; part++)
                    config.slot[s->param[k].offset + part] = part ? 1 : s->param[k].product;
        param_value(p, i, config.slot + p->offset);
        left += c->holds(c->context, &config, &e) == 1;
    }
    return left;
}

// 52 256 736 for a product of 1024^3, Ansor's number of its tilings.
static void tilings(void **state)
{
    (void)state;
    struct script *s = must_load_text(PRODUCT(1024, 1024, 1024) "output(C)");
    const struct space *space = script_space(s);
    assert_int_equal(space_find(space, "i")->size, 1001);
    assert_int_equal(left_by(space, "innermost parts", "i"), 966);
    assert_int_equal(left_by(space, "innermost parts", "j"), 966);
    assert_int_equal(space_find(space, "k")->size, 66);
    assert_int_equal(left_by(space, "innermost parts", "k"), 56);
    script_destroy(s);
}

// The shortest lengths that leave a choice of tiles, and none where there is one.
static void guarded_lengths(void **state)
{
    static const int64_t lengths[][2] = {{1, 1},     {7, 7},     {8, 8},       {11, 16},
                                         {13, 16},   {17, 24},   {23, 24},     {29, 32},
                                         {100, 100}, {127, 128}, {1009, 1024}, {2048, 2048}};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        assert_int_equal(guarded_extent(lengths[i][0]), lengths[i][1]);
}

// Parameters of one way to share a reduction are active in the sketches that use it, and legal in
// the others.
static void parameters_of_a_sketch(void **state)
{
    (void)state;
    struct script *s = must_load_text(examples[5].lua); // softmax
    const struct space *space = script_space(s);
    assert_string_equal(space->param[space->chooser].name, "sketch");
    for (int i = 0; i < 9; i++) {
        struct config c = {{0}};
        const int way_of[] = {i % 3, i / 3};
        static const char *const names[2][3] = {{"top_k", "top_k_cross", "top_k_split"},
                                                {"all_k", "all_k_cross", "all_k_split"}};
        c.slot[space->param[space->chooser].offset] = i;
        for (int k = 0; k < 2; k++)
            for (int way = 0; way < 3; way++) {
                int param = (int)(space_find(space, names[k][way]) - space->param);
                assert_int_equal(space_is_live(space, &c, param), way == way_of[k]);
            }
    }
    script_destroy(s);
}

// Matrix units are offered where the device multiplies the factors' type and sums as the definition
// does, or emulates it, and where there are enough rows and columns; then everything else is there
// as without them.
static void products_on_matrix_units(void **state)
{
#define BYTES  "khr 8x8x8.u8.i32 16x8x32.u8.i32 16x8x32.u8.u32"
#define OLDER  "nv 8x8x8.f16.f32 8x8x8.u8.i32 8x8x8.bf16.f32 8x8x8.f8e4m3.f32"
#define FLOATS "khr 16x8x8.bf16.f32 16x16x32.f8e5m2.f32 8x8x8.f16.f16"
    static const struct {
        const char *a, *b, *units; // NULL: emulated
        int rows, columns, shapes;
        const char *sum; // of the first shape
    } cases[] = {
        {"f16", "f16", NULL, 16, 24, 3, "f32"},
        {"f32", "f32", NULL, 16, 24, 3, "f32"},
        {"bf16", "bf16", NULL, 16, 24, 3, "f32"},
        {"f8e4m3", "f8e4m3", NULL, 16, 24, 3, "f32"},
        {"f8e5m2", "f8e5m2", NULL, 16, 24, 3, "f32"},
        {"i8", "i8", NULL, 16, 24, 3, "i32"},
        {"u8", "u8", NULL, 16, 24, 3, "i32"},
        {"i32", "i32", NULL, 16, 24, 0, NULL},
        {"u8", "i8", NULL, 16, 24, 0, NULL},
        {"bf16", "f8e4m3", NULL, 16, 24, 0, NULL},
        {"bf16", "bf16", NULL, 16, 4, 0, NULL},
        {"f16", "f16", NULL, 1, 24, 0, NULL},
        {"f16", "f16", "none", 16, 24, 0, NULL},
        {"bf16", "bf16", "none", 16, 24, 0, NULL},
        {"u8", "u8", BYTES, 16, 24, 2, "i32"},
        {"i8", "i8", BYTES, 16, 24, 0, NULL},
        {"u8", "u8", "khr 8x8x8.u8.u32", 16, 24, 1, "u32"},
        {"u8", "u8", OLDER, 16, 24, 0, NULL},
        {"f16", "f16", OLDER, 16, 24, 1, "f32"},
        {"bf16", "bf16", OLDER, 16, 24, 0, NULL},
        {"f8e4m3", "f8e4m3", OLDER, 16, 24, 0, NULL},
        {"bf16", "bf16", FLOATS, 16, 24, 1, "f32"},
        {"f8e5m2", "f8e5m2", FLOATS, 16, 24, 1, "f32"},
        {"f8e4m3", "f8e4m3", FLOATS, 16, 24, 0, NULL},
        {"f16", "f16", FLOATS, 16, 24, 0, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct limits l = limits_large_gpu;
        struct err e;
        char *lua =
            mem_printf("choice('units', { 'auto', 'emulated' }, '%s')\n"
                       "local A, B = tensor('A', { %d, 32 }, '%s'), tensor('B', { 32, %d }, '%s')\n"
                       "output(compute('C', { %d, %d }, function(i, j) return sum({ { 'k', 32 } }, "
                       "function(k) return A(i, k) * B(k, j) end) end))",
                       cases[i].units ? "auto" : "emulated", cases[i].rows, cases[i].a,
                       cases[i].columns, cases[i].b, cases[i].rows, cases[i].columns);
        const struct script_text text = {"a.lua", "a.lua", lua};
        assert_true(matrix_units_parse(cases[i].units ? cases[i].units : "none", &l.matrix));
        struct script *s = script_create(
            &(struct script_options){
                .texts = &text, .text_count = 1, .limits = &l, .device_type = "discrete"},
            &e);
        assert_non_null(s);
        const struct program *p = script_program(s);
        int last = p->sketches.count - 1;
        const struct sketch *sketch = &p->sketches.sketch[last];
        bool offered = cases[i].shapes > 0;
        assert_int_equal(sketch->rule[0] == RULE_MATRIX, offered);
        assert_int_equal(strcmp(p->sketch_name[last], "matrix(C)") == 0, offered);
        assert_int_equal(p->sketches.sketch[0].plan[2] == PLAN_MATRIX, false);
        assert_int_equal(p->kernel[0].shapes, cases[i].shapes);
        if (offered)
            assert_string_equal(p->kernel[0].shape[0].sum, cases[i].sum);
        const struct nest *nest = script_space(s)->nest;
        int tiles = 0; // in the loop nest, of elements as they are staged
        for (int b = 0; b < nest->buffer_count; b++)
            tiles += (str_equal(nest->buffer[b].name, "rows.shared") ||
                      str_equal(nest->buffer[b].name, "columns.shared")) &&
                     nest->buffer[b].bytes == element_bytes(element_named(cases[i].a));
        assert_int_equal(tiles, offered ? 2 : 0);
        script_destroy(s);
        free(lua);
    }
}

// A device that is asked for its units has some for a product of the definition.
static void missing_units_are_told(void **state)
{
    static const char *const cases[][3] = {{"bf16", "khr", "khr 8x8x8.f16.f32"},
                                           {"u8", "khr", "nv 8x8x8.i8.i32"},
                                           {"f8e4m3", "nv", "nv 8x8x8.f8e4m3.f32"},
                                           {"f16", "khr", "none"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct limits l = limits_large_gpu;
        struct err e;
        char message[1400];
        char *lua =
            mem_printf("choice('units', { '%s' })\nlocal A = tensor('A', { 16, 16 }, '%s')\n"
                       "output(compute('C', { 16, 16 }, function(i, j) return sum({ { 'k', "
                       "16 } }, function(k) return A(i, k) * A(k, j) end) end))",
                       cases[i][1], cases[i][0]);
        const struct script_text text = {"a.lua", "a.lua", lua};
        assert_true(matrix_units_parse(cases[i][2], &l.matrix));
        assert_null(script_create(
            &(struct script_options){
                .texts = &text, .text_count = 1, .limits = &l, .device_type = "discrete"},
            &e));
        err_format(&e, message, sizeof message);
        assert_non_null(strstr(message, cases[i][1]));
        assert_non_null(strstr(message, "no matrix units"));
        free(lua);
    }
}

// A split reduction is rfactor: the first pass makes a tensor of partial results, outer x outputs,
// each over the rest of the reduction; the second reduces its outer axis the same way.
static void check_split(const char *reduction, const char *combination)
{
    enum { OUTPUTS = 3, LENGTH = 1024, OUTER = 16 };
    char *lua = mem_printf("local A = tensor('A', { %d, %d })\n"
                           "output(compute('Y', { %d }, function(i) return %s({ { 'k', %d } }, "
                           "function(k) return A(i, k) end) end))",
                           OUTPUTS, LENGTH, OUTPUTS, reduction, LENGTH);
    struct script *s = must_load_text(lua);
    const struct program *p = script_program(s);
    const struct space *space = script_space(s);
    struct config c;
    struct job job;
    struct err e;
    space_point(space, 0, &c);
    while (!strstr(p->sketch_name[c.slot[space->param[p->chooser].offset]], "split("))
        c.slot[space->param[p->chooser].offset]++;
    memcpy(c.slot + space_find(space, "k_split")->offset, (int32_t[]){OUTER, 8, LENGTH / OUTER / 8},
           3 * sizeof(int32_t));
    assert_true(script_render(s, &c, &job, &e));
    assert_int_equal(job.pass_count, 2);
    assert_int_equal(job.scratch_bytes, 4 * OUTER * OUTPUTS);
    assert_int_equal(job.pass[0].groups[2], OUTER);
    assert_int_equal(job.pass[1].groups[2], 1);
    assert_non_null(strstr(job.pass[0].glsl, "T_scratch[0 + across * 3 + "));
    assert_null(strstr(job.pass[0].glsl, "T_Y"));
    assert_non_null(strstr(job.pass[1].glsl, "for (int part = 0; part < 16; part++)"));
    assert_non_null(
        strstr(job.pass[1].glsl, "other = uintBitsToFloat(T_scratch[0 + part * 3 + all]"));
    assert_non_null(strstr(job.pass[1].glsl, combination));
    assert_null(strstr(strstr(job.pass[1].glsl, "void main"), "T_A["));
    job_finish(&job);
    script_destroy(s);
    free(lua);
}

static void split_reductions(void **state)
{
    (void)state;
    check_split("sum", "value[0] = value[0] + other;");
    check_split("max", "value[0] = max(value[0], other);");
    check_split("product", "value[0] = value[0] * other;");
}

static void outlines(void **state)
{
    (void)state;
    struct script *s = must_load_text(examples[0].lua);
    struct str text = {0};
    program_outline(script_program(s), 0, &text);
    wording_is("define", "sketch: product", str_text(&text));
    str_finish(&text);
    script_destroy(s);
}

TEST_GROUP(sketch)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_examples),          cmocka_unit_test(tilings),
        cmocka_unit_test(guarded_lengths),          cmocka_unit_test(parameters_of_a_sketch),
        cmocka_unit_test(products_on_matrix_units), cmocka_unit_test(missing_units_are_told),
        cmocka_unit_test(split_reductions),         cmocka_unit_test(outlines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
