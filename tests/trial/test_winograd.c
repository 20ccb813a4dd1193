// Convolutions by Winograd's F(4,3) in floats, and with what is multiplied in halves, written here
// once more: exact inputs give exact results on the way that has the largest numbers, and the
// tolerance of random ones lets it pass, but not without one of its channels.
#include "case.h"
#include "group.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

enum { TILE = 4, WINDOW = 3, SEEN = TILE + WINDOW - 1, IMAGE = 34, RESULT = IMAGE - WINDOW + 1 };

// In whole numbers: results are 24^2 times too large.
static const float of_input[SEEN][SEEN] = {{4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0},
                                           {0, 4, -4, -1, 1, 0}, {0, -2, -1, 2, 1, 0},
                                           {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
static const float of_window[SEEN][SEEN] = {{1, 0, 0}, {-1, -1, -1}, {-1, 1, -1},
                                            {1, 2, 4}, {1, -2, 4},   {0, 0, 1}};
static const float of_result[SEEN][SEEN] = {
    {6, 4, 4, 1, 1, 0}, {0, 4, -4, 2, -2, 0}, {0, 4, 4, 4, 4, 0}, {0, 4, -4, 8, -8, 24}};

// matrix x X x matrix^T, for the first `rows` rows of the matrix and a square X of `size`.
static void transform(const float matrix[SEEN][SEEN], int rows, int size, float x[SEEN][SEEN])
{
    float half[SEEN][SEEN] = {{0}};
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < size; j++)
            for (int k = 0; k < size; k++)
                half[i][j] += matrix[i][k] * x[k][j];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < rows; j++) {
            x[i][j] = 0;
            for (int k = 0; k < size; k++)
                x[i][j] += matrix[j][k] * half[i][k];
        }
}

static void read_square(const struct test_case *c, const char *tensor, int64_t first, int pitch,
                        int size, float out[SEEN][SEEN])
{
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            out[i][j] = (float)case_get(c, tensor, first + i * pitch + j);
}

// A device may round to halves either way; towards zero is the worst.
static float in_half(float x)
{
    int exponent;
    float mantissa = frexpf(x, &exponent);
    return ldexpf(truncf(ldexpf(mantissa, 11)), exponent - 11);
}

static float product_of(float a, float b, bool in_halves)
{
    return in_halves ? in_half(a) * in_half(b) : a * b;
}

static void add_channel(const struct test_case *c, int64_t filter, int64_t channel, int y, int x,
                        float sum[SEEN][SEEN])
{
    bool in_halves = case_is(c, "algorithm", "winograd_f16");
    float window[SEEN][SEEN], seen[SEEN][SEEN];
    int64_t channels = case_size(c, "in_channels");
    read_square(c, "W", (filter * channels + channel) * WINDOW * WINDOW, WINDOW, WINDOW, window);
    read_square(c, "X", (channel * IMAGE + y) * IMAGE + x, IMAGE, SEEN, seen);
    transform(of_window, SEEN, WINDOW, window);
    transform(of_input, SEEN, SEEN, seen);
    for (int i = 0; i < SEEN; i++)
        for (int j = 0; j < SEEN; j++)
            sum[i][j] += product_of(window[i][j], seen[i][j], in_halves);
}

// The first `left_out` channels are forgotten.
static void convolve(struct test_case *c, int64_t left_out)
{
    const float denominator = 576;
    for (int64_t f = 0; f < case_size(c, "out_channels"); f++)
        for (int y = 0; y < RESULT; y += TILE)
            for (int x = 0; x < RESULT; x += TILE) {
                float sum[SEEN][SEEN] = {{0}};
                for (int64_t k = left_out; k < case_size(c, "in_channels"); k++)
                    add_channel(c, f, k, y, x, sum);
                transform(of_result, TILE, SEEN, sum);
                for (int i = 0; i < TILE; i++)
                    for (int j = 0; j < TILE; j++)
                        case_put(c, (f * RESULT + y + i) * RESULT + x + j,
                                 (double)(sum[i][j] * (1 / denominator)));
            }
}

static struct test_case make(const char *type, const char *algorithm, int channels,
                             enum input_set set)
{
    char fields[200];
    snprintf(fields, sizeof fields,
             "batch=1 in_channels=%d out_channels=8 height=%d width=%d kernel_h=3 kernel_w=3 "
             "type=%s algorithm=%s",
             channels, IMAGE, IMAGE, type, algorithm);
    return case_make("conv2d", fields, set, (uint64_t)channels);
}

static const int channels[] = {1, 3, 64, 256};
static const struct {
    const char *type, *algorithm;
} ways[] = {{"f32", "winograd"}, {"f16", "winograd"}, {"f16", "winograd_f16"}};

static void whole_numbers_stay_whole(void **state)
{
    (void)state;
    for (int w = 0; w < 3; w++)
        for (int n = 0; n < 4; n++) {
            double worst;
            struct test_case c = make(ways[w].type, ways[w].algorithm, channels[n], INPUT_EXACT);
            convolve(&c, 0);
            assert_true(case_right(&c, INPUT_EXACT, &worst));
            assert_true(worst == 0);
            convolve(&c, 1);
            assert_false(case_right(&c, INPUT_EXACT, NULL));
            case_free(&c);
        }
}

static void tolerances_pass_right_and_not_wrong_kernels(void **state)
{
    (void)state;
    for (int w = 0; w < 3; w += 2)
        for (int n = 0; n < 4; n++) {
            double worst;
            struct test_case c = make(ways[w].type, ways[w].algorithm, channels[n], INPUT_RANDOM);
            convolve(&c, 0);
            assert_true(case_right(&c, INPUT_RANDOM, &worst));
            assert_true(worst < 0.5);
            convolve(&c, 1);
            assert_false(case_right(&c, INPUT_RANDOM, NULL));
            case_free(&c);
        }
}

TEST_GROUP(winograd)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_stay_whole),
        cmocka_unit_test(tolerances_pass_right_and_not_wrong_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
