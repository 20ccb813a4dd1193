// Definitions computed by the reference, against loops written by hand; definitions as text.
#include "group.h"
#include "help.h"

#include "base/mem.h"
#include "define/definition.h"
#include "define/evaluate.h"
#include "space/custom_operation.h"
#include "space/tensor.h"
#include "trial/operator.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 4096 };

static float input[2][MOST], output[MOST];

static void draw(void)
{
    struct rng r;
    rng_seed(&r, 5);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < MOST; i++)
            input[k][i] = (float)(rng_real(&r) * 4 - 2);
}

// Runs the space file's reference on the inputs.
static void compute(const char *lua)
{
    struct script *s = must_load_text(lua);
    const void *inputs[] = {input[0], input[1]};
    draw();
    memset(output, 0xff, sizeof output);
    operator_reference(script_operation(s), inputs, output);
    script_destroy(s);
}

static void assert_near(int index, double expected)
{
    if (!(fabs(output[index] - expected) <= 1e-5 * (1 + fabs(expected))))
        fail_msg("[%d] is %g, not %g", index, output[index], expected);
}

#define A input[0]
#define B input[1]

static void product_of_matrices(void **state)
{
    (void)state;
    compute("local A, B = tensor('A', { 5, 3 }), tensor('B', { 3, 7 }) "
            "output(compute('C', { 5, 7 }, function(i, j) "
            "return sum({ { 'k', 3 } }, function(k) return A(i, k) * B(k, j) end) end))");
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 7; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++)
                sum += (double)A[i * 3 + k] * B[k * 7 + j];
            assert_near(i * 7 + j, sum);
        }
}

// Comparisons in every form that Lua has for them.
static void padded_convolution(void **state)
{
    static const char *const inside[] = {
        "select(y >= 1 and y < 6 and x >= 1 and x < 7, X(y - 1, x - 1), 0.0)",
        "(1 <= y and not (y > 5) and 0 < x and x <= 6) and X(y - 1, x - 1) or 0.0",
        "select(y < 1 or y >= 6 or x < 1 or x >= 7, 0.0, X(y - 1, x - 1))"};
    (void)state;
    for (int form = 0; form < 3; form++) {
        char lua[1000];
        snprintf(lua, sizeof lua,
                 "local X, F = tensor('X', { 5, 6 }), tensor('F', { 3, 3 }) "
                 "local P = compute('P', { 7, 8 }, function(y, x) return %s end) "
                 "output(compute('Y', { 3, 3 }, function(y, x) return sum({ { 'r', 3 }, { 's', 3 } "
                 "}, function(r, s) return P(y * 2 + r, x * 2 + s) * F(r, s) end) end))",
                 inside[form]);
        compute(lua);
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 3; x++) {
                double sum = 0;
                for (int r = 0; r < 3; r++)
                    for (int s = 0; s < 3; s++) {
                        int v = y * 2 + r - 1, u = x * 2 + s - 1;
                        if (v >= 0 && v < 5 && u >= 0 && u < 6)
                            sum += (double)A[v * 6 + u] * B[r * 3 + s];
                    }
                assert_near(y * 3 + x, sum);
            }
    }
}

// The filters as the preset takes them: G g G', of 3 x 3 numbers 4 x 4.
static double transformed(const double *g, int i, int j)
{
    static const double by[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
    double sum = 0;
    for (int r = 0; r < 3; r++)
        for (int s = 0; s < 3; s++)
            sum += by[i][r] * g[r * 3 + s] * by[j][s];
    return sum;
}

// The preset is a convolution, of a height and width that tiles of two do not divide.
static void winograd(void **state)
{
    enum { H = 5, W = 7, CI = 2, CO = 3 };
    static const struct setting set[] = {{"H", "5"}, {"W", "7"}, {"CI", "2"}, {"CO", "3"}};
    const void *inputs[] = {input[0], input[1]};
    double g[CI][CO][3][3];
    struct err e;
    char *path = script_find("winograd", &e);
    assert_non_null(path);
    const struct script_options o = {
        .path = path, .set = set, .set_count = 4, .device_type = "cpu"};
    struct script *script = script_create(&o, &e);
    free(path);
    (void)state;
    assert_non_null(script);
    draw();
    for (int i = 0; i < CI * CO * 9; i++)
        (&g[0][0][0][0])[i] = input[1][i];
    for (int c = 0; c < CI; c++)
        for (int f = 0; f < CO; f++)
            for (int i = 0; i < 16; i++)
                input[1][(i * CI + c) * CO + f] = (float)transformed(g[c][f][0], i / 4, i % 4);
    operator_reference(script_operation(script), inputs, output);
    script_destroy(script);
    for (int at = 0; at < H * W * CO; at++) {
        int y = at / CO / W, x = at / CO % W;
        double sum = 0;
        for (int i = 0; i < 9 * CI; i++) {
            int v = y + i / CI / 3 - 1, u = x + i / CI % 3 - 1, c = i % CI;
            if (v >= 0 && v < H && u >= 0 && u < W)
                sum += (double)A[(v * W + u) * CI + c] * g[c][at % CO][i / CI / 3][i / CI % 3];
        }
        assert_near(at, sum);
    }
}

// Reductions inside of expressions, and one over the result of another.
static void softmax(void **state)
{
    (void)state;
    compute("local X = tensor('X', { 4, 300 }) "
            "local function e(i, k) "
            "  return exp(X(i, k) - max({ { 'm', 300 } }, function(m) return X(i, m) end)) end "
            "output(compute('Y', { 4, 300 }, function(i, j) "
            "return e(i, j) / sum({ { 'k', 300 } }, function(k) return e(i, k) end) end))");
    for (int i = 0; i < 4; i++) {
        double top = -INFINITY, sum = 0;
        for (int k = 0; k < 300; k++)
            top = fmax(top, A[i * 300 + k]);
        for (int k = 0; k < 300; k++)
            sum += exp(A[i * 300 + k] - top);
        for (int j = 0; j < 300; j++)
            assert_near(i * 300 + j, exp(A[i * 300 + j] - top) / sum);
    }
}

static void all_reductions(void **state)
{
    static const char *const kinds[] = {"sum", "max", "min", "product"};
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        char lua[300];
        snprintf(lua, sizeof lua,
                 "local X = tensor('X', { 3, 20 }) output(compute('Y', { 20 }, function(j) "
                 "return %s({ { 'i', 3 } }, function(i) return X(i, j) end) end))",
                 kinds[kind]);
        compute(lua);
        for (int j = 0; j < 20; j++) {
            double a = A[j], b = A[20 + j], c = A[40 + j];
            assert_near(j, kind == 0   ? a + b + c
                           : kind == 1 ? fmax(a, fmax(b, c))
                           : kind == 2 ? fmin(a, fmin(b, c))
                                       : a * b * c);
        }
    }
}

// Quotients and remainders round down, of negative numbers too.
static void floor_division(void **state)
{
    (void)state;
    compute("local X = tensor('X', { 10 }) output(compute('Y', { 12 }, function(i) "
            "if (i - 3) // 4 < 0 then return X((i - 3) % 4) end "
            "return X((i - 3) // 4 * 2) + (i - 5) % 3 end))");
    for (int i = 0; i < 12; i++) {
        int quotient = i < 3 ? -1 : (i - 3) / 4, rest = (i - 5 + 30) % 3;
        assert_near(i, i < 3 ? A[(i - 3 + 4) % 4] : A[quotient * 2] + rest);
    }
}

// A tensor of one number, which other stages read.
static void all_operations(void **state)
{
    (void)state;
    compute("local X = tensor('X', { 6, 7 }) "
            "local S = compute('S', { 1 }, function(i) return "
            "sum({ { 'y', 6 }, { 'x', 7 } }, function(y, x) return X(y, x) * X(y, x) end) end) "
            "output(compute('Y', { 2, 2, 2, 2, 2 }, function(a, b, c, d, e) "
            "return sqrt(S(0)) + tanh(X(a, b)) - 2 * min(c, d + e) end))");
    double sum = 0;
    for (int i = 0; i < 42; i++)
        sum += (double)A[i] * A[i];
    for (int i = 0; i < 32; i++) {
        int a = i >> 4, b = i >> 3 & 1, c = i >> 2 & 1, d = i >> 1 & 1, e = i & 1;
        assert_near(i, sqrt(sum) + tanh(A[a * 7 + b]) - 2 * (c < d + e ? c : d + e));
    }
}

static void types(void **state)
{
    (void)state;
    struct source files[] = {
        {"a.lua", "local A, B = tensor('A', { 2, 3 }, 'i8'), tensor('B', { 3 }, 'i8') "
                  "output(compute('C', { 2 }, function(i) return sum({ { 'k', 3 } }, function(k) "
                  "return A(i, k) * B(k) end) end))"},
        {NULL, NULL}};
    struct err e;
    struct script *s = script_from(files, &e);
    assert_non_null(s);
    const int8_t a[] = {100, -7, 3, 127, 127, -128}, b[] = {90, 2, -5};
    int32_t c[2];
    operator_reference(script_operation(s), (const void *[]){a, b}, c);
    assert_int_equal(c[0], 100 * 90 - 14 - 15);
    assert_int_equal(c[1], 127 * 90 + 254 + 640);
    script_destroy(s);
    files[0].text = "local A = tensor('A', { 4 }) "
                    "output(compute('C', { 4 }, function(i) return cast(A(i), 'f16') end))";
    s = script_from(files, &e);
    assert_non_null(s);
    const float x[] = {0.1F, 2049, -1e6F, 3e-8F};
    uint16_t half[4];
    operator_reference(script_operation(s), (const void *[]){x}, half);
    for (int i = 0; i < 4; i++)
        assert_int_equal(half[i], half_from_float(x[i]));
    script_destroy(s);
}

// --- text ---

static const char *const texts[] = {
    "tensor A f32 5 3\ntensor B i8 3\nstage C f32 sum 5:i | 3:k = a0 a1 read0 a1 read1 *\n",
    "tensor A f16 8\nstage P f32 map 9:i = n1 a0 <= a0 n1 - read0 r0 ?\n"
    "stage Y f16 map 3:i = a0 n3 * read1 exp r0.5 + f16\n"};

static void survives_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct definition d = {.stage_count = 0};
        struct str again = {0};
        struct err e;
        assert_true(definition_read_text(&d, texts[i], &e));
        assert_true(definition_write(&d, &again));
        assert_string_equal(str_text(&again), texts[i]);
        str_finish(&again);
        definition_finish(&d);
    }
}

static void refuses_bad_text(void **state)
{
    static const char *const bad[] = {
        "",
        "tensor A f32 5\n",
        "tensor A f64 5\nstage C f32 map 5:i = a0 read0\n",
        "tensor A f32 0\nstage C f32 map 5:i = a0 read0\n",
        "tensor A f32 70000 70000\nstage C f32 map 5:i = a0 a0 read0\n",
        "tensor A f32 5\nstage C f32 map 5:i = a1 read0\n",
        "tensor A f32 5\nstage C f32 map 5:i = a0 read1\n",
        "tensor A f32 5\nstage C f32 map 5:i = a0 read0 a0\n",
        "tensor A f32 5\nstage C f32 map 5:i = +\n",
        "tensor A f32 5\nstage C f32 map 5:i =\n",
        "tensor A f32 5\nstage C f32 map 5:i | 3:k = a0 read0\n",
        "tensor A f32 5\nstage C f32 sum 5:i = a0 read0\n",
        "tensor A f32 5\nstage C f32 map 5:i = a0 n0 // read0\n",
        "tensor A f32 5\nstage C f32 map 5:i = a0 a0 % read0\n",
        "tensor A f32 5\nstage C f32 map 5:i = r1 read0\n",
        "tensor A f32 5\nstage C f32 map 5:i = a0 read0 rinf *\n",
        "tensor A f32 5\nstage C f32 map 5:i = a0 read0 f64\n",
        "tensor A f32 5\nstage C f32 map 5:i 1 1:a 1:b 1:c 1:d 1:e 1:f = a0 read0\n",
        "stage C f32 map 5:i = n1\ntensor A f32 5\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct definition d = {.stage_count = 0};
        struct err e;
        if (definition_read_text(&d, bad[i], &e))
            fail_msg("taken: %s", bad[i]);
        definition_finish(&d);
    }
}

TEST_GROUP(definition)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(product_of_matrices),
        cmocka_unit_test(padded_convolution),
        cmocka_unit_test(winograd),
        cmocka_unit_test(softmax),
        cmocka_unit_test(all_reductions),
        cmocka_unit_test(floor_division),
        cmocka_unit_test(all_operations),
        cmocka_unit_test(types),
        cmocka_unit_test(survives_text),
        cmocka_unit_test(refuses_bad_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
