// Matrix products and convolutions: the references against plain loops, what "exact" promises, what
// tolerances let pass and what they do not.
#include "case.h"
#include "group.h"
#include "space/tensor.h"

#include "base/mem.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const types[] = {"type=f32", "type=f16", "type=f16 accumulate=f16", "type=i8"};

// Epilogues of a sum; the first ones are for whole numbers too.
enum { WHOLE = 5 };
static const char *const epilogues[] = {
    "",
    "bias=add",
    "residual=add activation=relu",
    "bias=add residual=add activation=clamp low=-3 high=9",
    "bias=add residual=add",
    "scale=0.25",
    "scale=-0.3 bias=add activation=leaky slope=0.125",
    "scale=1.7 residual=add bias=add activation=leaky",
};

static double finished(const struct test_case *c, double sum, int64_t channel, int64_t offset)
{
    double y = operation_real(&c->o, "scale") * sum;
    if (case_is(c, "bias", "add"))
        y += case_get(c, "bias", channel);
    if (case_is(c, "residual", "add"))
        y += case_get(c, "residual", offset);
    if (case_is(c, "activation", "relu"))
        return y > 0 ? y : 0;
    if (case_is(c, "activation", "leaky"))
        return y > 0 ? y : y * operation_real(&c->o, "slope");
    if (case_is(c, "activation", "clamp"))
        return y < operation_real(&c->o, "low")    ? operation_real(&c->o, "low")
               : y > operation_real(&c->o, "high") ? operation_real(&c->o, "high")
                                                   : y;
    return y;
}

// --- matrix products ---

struct product {
    int64_t batch, n, m, k;
    int64_t row[3], step[3]; // of A, B, C
    bool a_turned, b_turned;
};

static struct product product_of(const struct test_case *c)
{
    bool batched = c->o.kind == operation_kind_find("batch_matmul");
    struct product p = {batched ? case_size(c, "batch") : 1,
                        case_size(c, "N"),
                        case_size(c, "M"),
                        case_size(c, "K"),
                        {0},
                        {0},
                        false,
                        false};
    static const char *const rows[] = {"row_a", "row_b", "row_c"}, *const steps[] = {"batch_a",
                                                                                     "batch_b",
                                                                                     "batch_c"};
    for (int i = 0; i < 3; i++) {
        p.row[i] = case_size(c, rows[i]);
        p.step[i] = batched ? case_size(c, steps[i]) : 0;
    }
    p.a_turned = case_is(c, "layout", "tn") || case_is(c, "layout", "tt");
    p.b_turned = case_is(c, "layout", "nt") || case_is(c, "layout", "tt");
    return p;
}

static double a_at(const struct test_case *c, const struct product *p, int64_t b, int64_t i,
                   int64_t k)
{
    return case_get(c, "A", b * p->step[0] + (p->a_turned ? k * p->row[0] + i : i * p->row[0] + k));
}

static double b_at(const struct test_case *c, const struct product *p, int64_t b, int64_t k,
                   int64_t j)
{
    return case_get(c, "B", b * p->step[1] + (p->b_turned ? j * p->row[1] + k : k * p->row[1] + j));
}

static void check_product(const char *kind, const char *fields)
{
    struct test_case c = case_make(kind, fields, INPUT_EXACT, 3);
    struct product p = product_of(&c);
    for (int64_t b = 0; b < p.batch; b++)
        for (int64_t i = 0; i < p.n; i++)
            for (int64_t j = 0; j < p.m; j++) {
                double sum = 0;
                for (int64_t k = 0; k < p.k; k++)
                    sum += a_at(&c, &p, b, i, k) * b_at(&c, &p, b, k, j);
                int64_t at = b * p.step[2] + i * p.row[2] + j;
                case_expect(&c, at, finished(&c, sum, j, at), 0);
            }
    case_notices(&c, INPUT_EXACT);
    case_free(&c);
}

static void products_are_what_loops_compute(void **state)
{
    (void)state;
    static const char *const layouts[] = {"nn", "nt", "tn", "tt"};
    static const char *const places[][2] = {
        {"matmul", "N=7 M=5 K=33"},
        {"matmul", "N=3 M=5 K=6 row_a=9 row_b=8 row_c=7"},
        {"batch_matmul", "batch=3 N=4 M=5 K=6"},
        {"batch_matmul", "batch=2 N=3 M=4 K=5 row_a=7 row_b=6 row_c=5 batch_a=41 batch_c=17"},
        {"batch_matmul",
         "batch=2 N=3 M=4 K=5 row_a=11 batch_a=5 row_b=10 batch_b=5 row_c=9 batch_c=4"},
    };
    char fields[400];
    for (size_t p = 0; p < COUNT(places); p++)
        for (size_t l = 0; l < COUNT(layouts); l++)
            for (size_t t = 0; t < COUNT(types); t++)
                for (size_t e = 0; e < (t == 3 ? WHOLE : COUNT(epilogues)); e++) {
                    snprintf(fields, sizeof fields, "%s layout=%s %s %s", places[p][1], layouts[l],
                             types[t], epilogues[e]);
                    check_product(places[p][0], fields);
                }
}

// --- convolutions ---

struct shape { // of X, W or Y in memory
    int64_t channels, height, width;
    bool channels_last;
};

static int64_t place(const struct shape *s, int64_t outer, int64_t c, int64_t y, int64_t x)
{
    return s->channels_last ? ((outer * s->height + y) * s->width + x) * s->channels + c
                            : ((outer * s->channels + c) * s->height + y) * s->width + x;
}

struct convolution {
    struct shape x, w, y;
    int64_t stride, padding, dilation, in_group, out_group; // channels of a group
};

static struct convolution convolution_of(const struct test_case *c)
{
    bool last = case_is(c, "layout", "nhwc");
    int64_t stride = case_size(c, "stride"), padding = case_size(c, "padding"),
            dilation = case_size(c, "dilation"), groups = case_size(c, "groups"),
            in = case_size(c, "in_channels"), out = case_size(c, "out_channels"),
            height = case_size(c, "height"), width = case_size(c, "width"),
            kernel_h = case_size(c, "kernel_h"), kernel_w = case_size(c, "kernel_w");
    return (struct convolution){
        {in, height, width, last},
        {in / groups, kernel_h, kernel_w, last},
        {out, (height + 2 * padding - dilation * (kernel_h - 1) - 1) / stride + 1,
         (width + 2 * padding - dilation * (kernel_w - 1) - 1) / stride + 1, last},
        stride,
        padding,
        dilation,
        in / groups,
        out / groups};
}

static double convolved(const struct test_case *t, const struct convolution *p, int64_t image,
                        int64_t f, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t c = 0; c < p->in_group; c++)
        for (int64_t ky = 0; ky < p->w.height; ky++)
            for (int64_t kx = 0; kx < p->w.width; kx++) {
                int64_t y = i * p->stride + ky * p->dilation - p->padding,
                        x = j * p->stride + kx * p->dilation - p->padding,
                        channel = f / p->out_group * p->in_group + c;
                if (y >= 0 && y < p->x.height && x >= 0 && x < p->x.width)
                    sum += case_get(t, "X", place(&p->x, image, channel, y, x)) *
                           case_get(t, "W", place(&p->w, f, c, ky, kx));
            }
    return sum;
}

static void check_convolution(const char *fields)
{
    struct test_case c = case_make("conv2d", fields, INPUT_EXACT, 5);
    struct convolution p = convolution_of(&c);
    for (int64_t image = 0; image < case_size(&c, "batch"); image++)
        for (int64_t f = 0; f < p.y.channels; f++)
            for (int64_t i = 0; i < p.y.height; i++)
                for (int64_t j = 0; j < p.y.width; j++) {
                    int64_t at = place(&p.y, image, f, i, j);
                    double sum = convolved(&c, &p, image, f, i, j);
                    case_expect(&c, at, finished(&c, sum, f, at), 0);
                }
    case_free(&c);
}

static void convolutions_are_what_loops_compute(void **state)
{
    (void)state;
    static const char *const layouts[] = {"nchw", "nhwc"};
    static const char *const shapes[] = {
        "batch=2 in_channels=3 height=7 width=9 out_channels=5 kernel_h=3 kernel_w=2",
        "batch=1 in_channels=1 height=5 width=6 out_channels=1 kernel_h=1 kernel_w=1 stride=2",
        "batch=2 in_channels=4 height=8 width=7 out_channels=6 kernel_h=3 kernel_w=3 stride=2 "
        "padding=1 groups=2",
        "batch=1 in_channels=3 height=9 width=9 out_channels=6 kernel_h=3 kernel_w=2 dilation=2 "
        "padding=2 groups=3",
        "batch=1 in_channels=2 height=11 width=12 out_channels=3 kernel_h=5 kernel_w=4 stride=3 "
        "padding=4 dilation=2",
    };
    char fields[400];
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (size_t l = 0; l < COUNT(layouts); l++)
            for (size_t t = 0; t < COUNT(types); t++)
                for (size_t e = 0; e < (t == 3 ? WHOLE : COUNT(epilogues)); e++) {
                    snprintf(fields, sizeof fields, "%s layout=%s %s %s", shapes[s], layouts[l],
                             types[t], epilogues[e]);
                    check_convolution(fields);
                }
}

// --- what exact inputs promise ---

// Adds in halves, one after the other: nothing may be lost. Behind a clamp some results must lie
// within its window, else it would hide what is wrong.
static void exact_sums_fit_halves(void **state)
{
    (void)state;
    static const int depths[] = {1, 3, 64, 1000, 4096, 65536};
    char fields[200];
    for (size_t d = 0; d < COUNT(depths); d++)
        for (int clamped = 0; clamped < 2; clamped++) {
            snprintf(fields, sizeof fields, "N=4 M=4 K=%d type=f16 accumulate=f16 layout=nt %s",
                     depths[d], clamped ? "activation=clamp low=-6 high=6" : "");
            struct test_case c = case_make("matmul", fields, INPUT_EXACT, d);
            struct product p = product_of(&c);
            int within = 0;
            for (int64_t i = 0; i < 16; i++) {
                float sum = 0;
                double right = 0;
                for (int64_t k = 0; k < p.k; k++) {
                    double term = a_at(&c, &p, 0, i / 4, k) * b_at(&c, &p, 0, k, i % 4);
                    sum = half_to_float(half_from_float(sum + (float)term));
                    right += term;
                }
                assert_true((double)sum == right);
                within += fabs(case_reference(&c, i)) < 6;
            }
            assert_true(!clamped || within >= 4);
            case_free(&c);
        }
}

static void whole_numbers_fit_32_bits(void **state)
{
    (void)state;
    static const int depths[] = {1, 1000, 131072, 1000000};
    char fields[200];
    for (size_t d = 0; d < COUNT(depths); d++)
        for (int set = INPUT_EXACT; set <= INPUT_RANDOM; set++) {
            snprintf(fields, sizeof fields, "N=2 M=2 K=%d type=i8 layout=nt", depths[d]);
            struct test_case c = case_make("matmul", fields, (enum input_set)set, d);
            struct product p = product_of(&c);
            int64_t largest = 0;
            for (int64_t i = 0; i < 4; i++) {
                int64_t sum = 0, magnitude = 0;
                for (int64_t k = 0; k < p.k; k++) {
                    int64_t term = (int64_t)(a_at(&c, &p, 0, i / 2, k) * b_at(&c, &p, 0, k, i % 2));
                    sum += term;
                    magnitude += term < 0 ? -term : term;
                }
                largest = magnitude > largest ? magnitude : largest;
                assert_true((double)sum == case_reference(&c, i));
            }
            assert_in_range(largest, 1, INT32_MAX);
            case_free(&c);
        }
}

// --- tolerances ---

enum arithmetic { IN_FLOATS, IN_HALVES, MIXED };
enum { FEW = 32 }; // products of which the sum is mixed: in halves

static float rounded(enum arithmetic a, float x)
{
    return a != IN_FLOATS ? half_to_float(half_from_float(x)) : x;
}

// A right kernel that sums backwards, product by product, and finishes in the type of the sum.
static void compute(struct test_case *c, enum arithmetic a, int64_t left_out)
{
    struct product p = product_of(c);
    for (int64_t i = 0; i < p.n; i++)
        for (int64_t j = 0; j < p.m; j++) {
            float sum = 0, whole = 0;
            for (int64_t k = p.k - 1; k >= left_out; k--) {
                float term = rounded(a, (float)(a_at(c, &p, 0, i, k) * b_at(c, &p, 0, k, j)));
                sum = rounded(a, sum + term);
                if (a == MIXED && k % FEW == 0) {
                    whole += sum;
                    sum = 0;
                }
            }
            sum += whole;
            case_put(c, i * p.m + j, finished(c, (double)sum, j, i * p.m + j));
        }
}

static void check_tolerance(const char *type, enum arithmetic a, int depth, const char *epilogue)
{
    char fields[200];
    double worst;
    snprintf(fields, sizeof fields, "N=32 M=32 K=%d %s %s", depth, type, epilogue);
    struct test_case c = case_make("matmul", fields, INPUT_RANDOM, (uint64_t)depth);
    compute(&c, a, 0);
    assert_true(case_right(&c, INPUT_RANDOM, &worst));
    assert_true(worst < 0.9);
    // The bound of sums in halves grows as their errors do: the largest of 1024 is always near it.
    if (a != IN_FLOATS && depth >= 64)
        assert_true(worst > 0.04 && worst < 0.4);
    compute(&c, a, depth / 2 + 1); // half of the products
    assert_false(case_right(&c, INPUT_RANDOM, &worst));
    compute(&c, a, depth); // none
    assert_false(case_right(&c, INPUT_RANDOM, &worst));
    case_free(&c);
}

static void tolerances_pass_right_and_not_wrong_kernels(void **state)
{
    (void)state;
    static const int depths[] = {4, 64, 512, 2048};
    for (size_t d = 0; d < COUNT(depths); d++)
        for (size_t e = 0; e < COUNT(epilogues); e++) {
            check_tolerance("type=f32", IN_FLOATS, depths[d], epilogues[e]);
            check_tolerance("type=f16", IN_FLOATS, depths[d], epilogues[e]);
            check_tolerance("type=f16 accumulate=f16", IN_HALVES, depths[d], epilogues[e]);
            check_tolerance("type=f16 accumulate=mixed", MIXED, depths[d], epilogues[e]);
        }
}

// In floats the bound is so tight that sums in halves do not pass for sums in floats, nor do mixed
// ones.
static void sums_in_halves_are_no_sums_in_floats(void **state)
{
    (void)state;
    struct test_case c = case_make("matmul", "N=16 M=16 K=512 type=f16", INPUT_RANDOM, 1);
    compute(&c, IN_HALVES, 0);
    assert_false(case_right(&c, INPUT_RANDOM, NULL));
    compute(&c, MIXED, 0);
    assert_false(case_right(&c, INPUT_RANDOM, NULL));
    case_free(&c);
}

// The epilogue of an exact sum may round: a few units in the last place pass, a lost term does not.
static void epilogues_may_round(void **state)
{
    (void)state;
    struct test_case c = case_make("matmul", "N=8 M=8 K=64 scale=0.3 bias=add", INPUT_EXACT, 1);
    double y = case_reference(&c, 9), unit = fabs(y) * 0x1p-23;
    case_put(&c, 9, y + 2 * unit);
    assert_true(case_right(&c, INPUT_EXACT, NULL));
    case_put(&c, 9, y + 40 * unit);
    assert_false(case_right(&c, INPUT_EXACT, NULL));
    case_free(&c);
}

TEST_GROUP(products)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_what_loops_compute),
        cmocka_unit_test(convolutions_are_what_loops_compute),
        cmocka_unit_test(exact_sums_fit_halves),
        cmocka_unit_test(whole_numbers_fit_32_bits),
        cmocka_unit_test(tolerances_pass_right_and_not_wrong_kernels),
        cmocka_unit_test(sums_in_halves_are_no_sums_in_floats),
        cmocka_unit_test(epilogues_may_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
