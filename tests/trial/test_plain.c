// Operators around the products of networks: references against plain loops over logical indices,
// and errors that the comparison finds.
#include "case.h"
#include "group.h"
#include "wording.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const types[] = {"f32", "f16"}, *const layouts[] = {"nchw", "nhwc"};
static const enum input_set sets[] = {INPUT_EXACT, INPUT_RANDOM};

struct shape {
    int64_t batch, channels, height, width;
    bool channels_last;
};

static struct shape shape_of(const struct test_case *c)
{
    return (struct shape){case_size(c, "batch"), case_size(c, "channels"), case_size(c, "height"),
                          case_size(c, "width"), case_is(c, "layout", "nhwc")};
}

static int64_t place(const struct shape *s, int64_t n, int64_t c, int64_t y, int64_t x)
{
    return s->channels_last ? ((n * s->height + y) * s->width + x) * s->channels + c
                            : ((n * s->channels + c) * s->height + y) * s->width + x;
}

// --- pooling ---

static double pooled(const struct test_case *t, const struct shape *s, const int64_t at[4])
{
    int64_t window = case_size(t, "window"), stride = case_size(t, "stride"),
            padding = case_size(t, "padding"), count = 0;
    double largest = -1e30, sum = 0;
    for (int64_t y = 0; y < s->height; y++)
        for (int64_t x = 0; x < s->width; x++) {
            int64_t ky = y + padding - at[2] * stride, kx = x + padding - at[3] * stride;
            if (ky < 0 || ky >= window || kx < 0 || kx >= window)
                continue;
            double value = case_get(t, "X", place(s, at[0], at[1], y, x));
            largest = value > largest ? value : largest;
            sum += value;
            count++;
        }
    if (t->o.kind == operation_kind_find("max_pool"))
        return largest;
    return sum / (double)(case_is(t, "divisor", "window") ? window * window : count);
}

static void check_pool(const char *kind, const char *fields, enum input_set set)
{
    struct test_case c = case_make(kind, fields, set, 7);
    struct shape x = shape_of(&c), y = x;
    y.height = case_size(&c, "out_height");
    y.width = case_size(&c, "out_width");
    for (int64_t n = 0; n < y.batch; n++)
        for (int64_t f = 0; f < y.channels; f++)
            for (int64_t i = 0; i < y.height; i++)
                for (int64_t j = 0; j < y.width; j++)
                    case_expect(&c, place(&y, n, f, i, j),
                                pooled(&c, &x, (const int64_t[]){n, f, i, j}), 1);
    case_notices(&c, set);
    case_free(&c);
}

static void windows_are_pooled(void **state)
{
    (void)state;
    static const char *const kinds[][2] = {
        {"max_pool", ""}, {"avg_pool", ""}, {"avg_pool", "divisor=window"}};
    static const char *const shapes[] = {
        "batch=2 channels=3 height=7 width=5 window=3 stride=2 padding=1",
        "batch=1 channels=2 height=4 width=6 window=2",
        "batch=1 channels=1 height=5 width=5 window=5 padding=4 stride=3",
        "batch=1 channels=2 height=6 width=4 window=3 stride=2 extra=1",
    };
    char fields[300];
    for (size_t k = 0; k < COUNT(kinds); k++)
        for (size_t s = 0; s < COUNT(shapes); s++)
            for (int v = 0; v < 8; v++) {
                snprintf(fields, sizeof fields, "%s type=%s layout=%s %s", shapes[s], types[v % 2],
                         layouts[v / 2 % 2], kinds[k][1]);
                check_pool(kinds[k][0], fields, sets[v / 4]);
            }
}

// Windows that reach further behind the image than before it count as padding does.
static void extra_padding_makes_more_windows(void **state)
{
    (void)state;
    static const char fields[] = "batch=1 channels=1 height=112 width=112 window=3 stride=2";
    struct operation o = case_operation("max_pool", fields);
    struct err e;
    assert_true(operation_complete(&o, &e));
    assert_int_equal(operation_size(&o, "out_height"), 55);
    operation_set_size(&o, "extra", 1, NULL);
    assert_true(operation_complete(&o, &e));
    assert_int_equal(operation_size(&o, "out_height"), 56);
    operation_set_size(&o, "extra", 3, NULL); // a window that begins at row 112
    assert_false(operation_complete(&o, &e));
}

static void windows_outside_the_image_are_refused(void **state)
{
    (void)state;
    static const int64_t bad[][3] = {{2, 2, 5}, {6, 0, 5}, {3, 1, 5}}; // window, padding, size
    for (int i = 0; i < 3; i++) {
        struct operation o =
            case_operation("max_pool", "batch=1 channels=1 height=5 width=5 window=1");
        struct err e;
        operation_set_size(&o, "window", bad[i][0], NULL);
        operation_set_size(&o, "padding", bad[i][1], NULL);
        assert_int_equal(operation_complete(&o, &e), i == 2);
    }
}

// --- what only moves ---

static void parts_are_joined_row_by_row(void **state)
{
    (void)state;
    static const struct {
        const char *fields;
        int parts;
    } cases[] = {{"rows=3 first=5 second=2", 2},
                 {"rows=2 first=1 second=4 third=3", 3},
                 {"rows=1 first=2 second=2 third=7 fourth=1", 4}};
    static const char *const names[] = {"A", "B", "C", "D"};
    static const char *const sizes[] = {"first", "second", "third", "fourth"};
    char fields[100];
    for (size_t k = 0; k < 2 * COUNT(cases); k++) {
        snprintf(fields, sizeof fields, "%s type=%s", cases[k / 2].fields, types[k % 2]);
        struct test_case c = case_make("concat", fields, INPUT_EXACT, 5);
        int64_t at = 0, rows = case_size(&c, "rows");
        for (int64_t row = 0; row < rows; row++)
            for (int part = 0; part < cases[k / 2].parts; part++) {
                int64_t columns = case_size(&c, sizes[part]);
                for (int64_t i = 0; i < columns; i++)
                    case_expect(&c, at++, case_get(&c, names[part], row * columns + i), 0);
            }
        case_notices(&c, INPUT_EXACT);
        case_free(&c);
    }
    struct operation o = case_operation("concat", "rows=1 first=1 second=1");
    struct err e;
    operation_set_size(&o, "fourth", 1, NULL);
    assert_false(operation_complete(&o, &e));
}

static void elements_are_taken_by_strides(void **state)
{
    (void)state;
    static const int64_t shapes[][9] = {
        // n1 to n4, s1 to s4, offset
        {1, 1, 5, 4, 0, 0, 1, 5, 0}, // a matrix, turned
        {1, 2, 3, 4, 0, 4, 8, 1, 0}, // channels, shuffled
        {2, 3, 1, 2, 0, 1, 0, 7, 3}, // the first axis repeated
    };
    for (size_t k = 0; k < COUNT(shapes); k++) {
        const int64_t *n = shapes[k], *s = n + 4;
        char fields[200];
        snprintf(fields, sizeof fields,
                 "count=24 n1=%d n2=%d n3=%d n4=%d s1=%d s2=%d s3=%d s4=%d offset=%d", (int)n[0],
                 (int)n[1], (int)n[2], (int)n[3], (int)s[0], (int)s[1], (int)s[2], (int)s[3],
                 (int)s[4]);
        struct test_case c = case_make("strided", fields, INPUT_RANDOM, 5);
        int64_t count = n[0] * n[1] * n[2] * n[3];
        for (int64_t at = 0; at < count; at++) {
            int64_t l = at % n[3], j = at / n[3] % n[2], i = at / n[3] / n[2] % n[1];
            int64_t from = s[4] + at / n[3] / n[2] / n[1] * s[0] + i * s[1] + j * s[2] + l * s[3];
            case_expect(&c, at, case_get(&c, "X", from), 0);
        }
        case_notices(&c, INPUT_RANDOM);
        case_free(&c);
    }
    struct operation o = case_operation("strided", "count=25 n3=5 n4=5 s3=5");
    struct err e;
    operation_set_size(&o, "count", 24, NULL);
    assert_false(operation_complete(&o, &e));
    wording_is("trial", "plain: behind the end", e.text);
}

// --- rows ---

static void softmax_is_computed_by_rows(void **state)
{
    (void)state;
    char fields[100];
    for (int v = 0; v < 4; v++) {
        snprintf(fields, sizeof fields, "rows=5 columns=37 type=%s", types[v % 2]);
        struct test_case c = case_make("softmax", fields, sets[v / 2], 3);
        for (int64_t i = 0; i < 5; i++) {
            double sum = 0; // without taking the largest away: small numbers do not overflow
            for (int64_t j = 0; j < 37; j++)
                sum += exp(case_get(&c, "X", i * 37 + j));
            for (int64_t j = 0; j < 37; j++)
                case_expect(&c, i * 37 + j, exp(case_get(&c, "X", i * 37 + j)) / sum, 1);
        }
        case_notices(&c, sets[v / 2]);
        case_free(&c);
    }
}

static void copies_may_be_transposed(void **state)
{
    (void)state;
    char fields[100];
    for (int v = 0; v < 8; v++) {
        bool turned = v & 1;
        snprintf(fields, sizeof fields, "rows=3 columns=7 transpose=%s type=%s",
                 turned ? "yes" : "no", types[v / 2 % 2]);
        struct test_case c = case_make("copy", fields, sets[v / 4], 3);
        for (int64_t i = 0; i < 3; i++)
            for (int64_t j = 0; j < 7; j++)
                case_expect(&c, turned ? j * 3 + i : i * 7 + j, case_get(&c, "X", i * 7 + j), 0);
        case_notices(&c, sets[v / 4]);
        case_free(&c);
    }
}

// --- single elements ---

static double applied(int function, double x, double z)
{
    switch (function) {
    case 0: return fmax(x, 0);
    case 1: return x > 0 ? x : x * 0.25;
    case 2: return x < -2 ? -2 : x > 3 ? 3 : x;
    case 3: return exp(x) / (exp(x) + 1);
    case 4: return (exp(2 * x) - 1) / (exp(2 * x) + 1);
    case 5: return x + z;
    default: return x * z;
    }
}

static void functions_are_applied(void **state)
{
    (void)state;
    static const char *const functions[] = {
        "relu", "leaky slope=0.25", "clamp low=-2 high=3", "sigmoid", "tanh", "add", "mul"};
    char fields[100];
    for (int f = 0; f < 7; f++)
        for (int v = 0; v < 4; v++) {
            snprintf(fields, sizeof fields, "count=61 type=%s apply=%s", types[v % 2],
                     functions[f]);
            struct test_case c = case_make("elementwise", fields, sets[v / 2], 3);
            assert_int_equal(c.count, f < 5 ? 2 : 3);
            for (int64_t i = 0; i < 61; i++) {
                double z = f < 5 ? 0 : case_get(&c, "Z", i);
                case_expect(&c, i, applied(f, case_get(&c, "X", i), z), 2);
            }
            case_notices(&c, sets[v / 2]);
            case_free(&c);
        }
}

// Values of functions at some points, to the digits that tables have.
static void functions_have_their_values(void **state)
{
    static const struct {
        const char *fields;
        double x, y;
    } rows[] = {
        {"gelu", 1, 0.8413447461},
        {"gelu", -2, -0.0455002639},
        {"gelu_tanh", 1, 0.8411919906},
        {"gelu_tanh", -2, -0.0454022840},
        {"silu", 1, 0.7310585786},
        {"silu", -3, -0.1422776195},
        {"mish", 1, 0.8650983883},
        {"mish", -1, -0.3034014613},
        {"elu slope=0.5", -1, -0.3160602794},
        {"elu slope=0.5", 2, 2},
        {"selu", 1, 1.0507009874},
        {"selu", -1, -1.1113307379},
        {"celu slope=2", -1, -0.7869386806},
        {"hardsigmoid slope=0.2 low=0.5", 1, 0.7},
        {"hardsigmoid slope=0.2 low=0.5", 9, 1},
        {"hardswish", 1, 0.6666666667},
        {"hardswish", -4, 0},
        {"softplus", 1, 1.3132616875},
        {"softplus", -2, 0.1269280110},
        {"softsign", -3, -0.75},
        {"erf", 0.5, 0.5204998778},
        {"erf", -1, -0.8427007929},
        {"exp", 1, 2.7182818285},
        {"log", 2, 0.6931471806},
        {"sqrt", 2, 1.4142135624},
        {"reciprocal", -4, -0.25},
        {"abs", -3, 3},
        {"neg", 2, -2},
        {"floor", -0.5, -1},
        {"ceil", 1.25, 2},
        {"round", 2.5, 2},
        {"round", -3.5, -4},
        {"sign", -7, -1},
        {"sign", 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char fields[100];
        snprintf(fields, sizeof fields, "count=1 apply=%s", rows[i].fields);
        const struct operation o = case_operation("elementwise", fields);
        float x = (float)rows[i].x, y = 0;
        const void *inputs[] = {&x};
        operator_reference(&o, inputs, &y);
        if (!(fabs((double)y - rows[i].y) <= 2e-7 * (1 + fabs(rows[i].y))))
            fail_msg("%s of %g is %.9g", rows[i].fields, rows[i].x, (double)y);
    }
}

// Wherever the window lies, what writes one of its ends everywhere is wrong.
static void clamped_numbers_are_not_all_one(void **state)
{
    (void)state;
    static const double windows[][2] = {{45, 60}, {-60, -45}, {44, 100}, {-100, -44}, {1000, 1100}};
    char fields[100];
    for (size_t w = 0; w < COUNT(windows); w++)
        for (int v = 0; v < 4; v++) {
            snprintf(fields, sizeof fields, "count=61 apply=clamp low=%g high=%g type=%s",
                     windows[w][0], windows[w][1], types[v % 2]);
            struct test_case c = case_make("elementwise", fields, sets[v / 2], 3);
            assert_true(case_right(&c, sets[v / 2], NULL));
            for (int end = 0; end < 2; end++) {
                for (int64_t i = 0; i < 61; i++)
                    case_put(&c, i, windows[w][end]);
                assert_false(case_right(&c, sets[v / 2], NULL));
            }
            case_free(&c);
        }
}

// --- normalisation ---

static double normalised(const struct test_case *t, const struct shape *s, const int64_t at[4])
{
    double squares = 0;
    for (int64_t c = 0; c < s->channels; c++) {
        double value = case_get(t, "X", place(s, at[0], c, at[2], at[3]));
        if (c - at[1] >= -((case_size(t, "window") - 1) / 2) &&
            c - at[1] <= case_size(t, "window") / 2)
            squares += value * value;
    }
    double base = operation_real(&t->o, "bias_k") +
                  operation_real(&t->o, "alpha") * squares / (double)case_size(t, "window");
    return case_get(t, "X", place(s, at[0], at[1], at[2], at[3])) *
           exp(-operation_real(&t->o, "beta") * log(base));
}

static void channels_are_normalised(void **state)
{
    (void)state;
    static const char *const extras[] = {"", "window=4 alpha=0.01 beta=0.5 bias_k=1", "alpha=0"};
    char fields[200];
    for (size_t x = 0; x < COUNT(extras); x++)
        for (int v = 0; v < 8; v++) {
            snprintf(fields, sizeof fields,
                     "batch=2 channels=7 height=3 width=2 type=%s layout=%s %s", types[v % 2],
                     layouts[v / 2 % 2], extras[x]);
            struct test_case c = case_make("lrn", fields, sets[v / 4], 3);
            struct shape s = shape_of(&c);
            for (int64_t i = 0; i < 2 * 7 * 3 * 2; i++) {
                const int64_t at[] = {i / 42, i / 6 % 7, i / 2 % 3, i % 2};
                case_expect(&c, place(&s, at[0], at[1], at[2], at[3]), normalised(&c, &s, at), 2);
            }
            case_notices(&c, sets[v / 4]);
            case_free(&c);
        }
}

// A window that is one channel short must be seen: the inputs are large enough for that.
static void normalisation_depends_on_the_window(void **state)
{
    (void)state;
    for (int s = 0; s < 2; s++) {
        const char *fields = "batch=1 channels=9 height=3 width=3 window=%d";
        char five[100], four[100];
        snprintf(five, sizeof five, fields, 5);
        snprintf(four, sizeof four, fields, 4);
        struct test_case right = case_make("lrn", five, sets[s], 3),
                         wrong = case_make("lrn", four, sets[s], 3);
        for (int64_t i = 0; i < 81; i++)
            case_put(&right, i, case_reference(&wrong, i));
        assert_false(case_right(&right, sets[s], NULL));
        case_free(&right);
        case_free(&wrong);
    }
}

TEST_GROUP(plain)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_pooled),
        cmocka_unit_test(extra_padding_makes_more_windows),
        cmocka_unit_test(parts_are_joined_row_by_row),
        cmocka_unit_test(elements_are_taken_by_strides),
        cmocka_unit_test(windows_outside_the_image_are_refused),
        cmocka_unit_test(softmax_is_computed_by_rows),
        cmocka_unit_test(copies_may_be_transposed),
        cmocka_unit_test(functions_are_applied),
        cmocka_unit_test(functions_have_their_values),
        cmocka_unit_test(clamped_numbers_are_not_all_one),
        cmocka_unit_test(channels_are_normalised),
        cmocka_unit_test(normalisation_depends_on_the_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
