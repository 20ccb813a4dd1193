// Networks: the output of `check` and `ops` for those that ship, against the tables of their
// papers.
#include "group.h"
#include "program.h"

#include <math.h>
#include <string.h>

// --- FLOP by hand: two for each product and sum; pools one for each number they look at ---

static double convolution(double out, double in, double channels, double kernel)
{
    return 2 * out * out * in * channels * kernel * kernel;
}

static double alexnet(double unused, double batch)
{
    static const double rows[][4] = {// output, channels in and out, kernel
                                     {55, 3, 64, 11},
                                     {27, 64, 192, 5},
                                     {13, 192, 384, 3},
                                     {13, 384, 256, 3},
                                     {13, 256, 256, 3}};
    double sum = 2.0 * (9216 * 4096 + 4096 * 4096 + 4096 * 1000) + 5.0 * 1000 +
                 9.0 * (27 * 27 * 64 + 13 * 13 * 192 + 6 * 6 * 256);
    (void)unused;
    for (int i = 0; i < 5; i++)
        sum += convolution(rows[i][0], rows[i][1], rows[i][2], rows[i][3]);
    return batch * sum;
}

static double resnet50(double image, double batch)
{
    static const int blocks[] = {3, 4, 6, 3};
    double size = image / 4, in = 64;
    double sum = convolution(image / 2, 3, 64, 7) + 9 * 64 * size * size;
    for (int stage = 0; stage < 4; stage++) {
        double narrow = 64 << stage, wide = 4 * narrow;
        for (int i = 0; i < blocks[stage]; i++) {
            sum += convolution(size, in, narrow, 1);
            size /= stage > 0 && i == 0 ? 2 : 1;
            sum += convolution(size, narrow, narrow, 3) + convolution(size, narrow, wide, 1);
            sum += i == 0 ? convolution(size, in, wide, 1) : 0;
            in = wide;
        }
    }
    return batch * (sum + size * size * 2048 + 2 * 2048 * 1000);
}

static double mobilenet(double image, double batch)
{
    static const int rows[][2] = {{64, 1},  {128, 2},  {128, 1}, {256, 2}, {256, 1},
                                  {512, 2}, {512, 1},  {512, 1}, {512, 1}, {512, 1},
                                  {512, 1}, {1024, 2}, {1024, 1}};
    double size = image / 2, in = 32, sum = convolution(size, 3, 32, 3);
    for (int i = 0; i < 13; i++) {
        size /= rows[i][1];
        sum += convolution(size, 1, in, 3) + convolution(size, in, rows[i][0], 1);
        in = rows[i][0];
    }
    return batch * (sum + size * size * 1024 + 2 * 1024 * 1000 + 5 * 1000);
}

static double bert(double tokens, double layers)
{
    double heads = 2 * 2 * tokens * tokens * 768;
    return layers * (2 * tokens * (4 * 768 * 768 + 2 * 768 * 3072) + heads);
}

static double decoder(double tokens, double context, double hidden, double mlp)
{
    double heads = 2 * 2 * (tokens * context - tokens * (tokens - 1) / 2) * hidden; // causal
    return 2 * tokens * (4 * hidden * hidden + 3 * hidden * mlp) + heads + 3 * tokens * mlp;
}

static double llama(double tokens, double context)
{
    return decoder(tokens, context, 4096, 11008);
}

static double small_llama(double tokens, double context)
{
    return decoder(tokens, context, 256, 64);
}

// Tasks: AlexNet 5 convolutions, 3 pools, 3 products, 1 softmax. ResNet-50: of 53 convolutions 24
// differ (23 shapes, one of them with a shortcut and without), 2 pools, 1 product. MobileNet: 9 of
// 13 convolutions of either kind differ, the first one, a pool, a product, a softmax. A layer of
// BERT: 6 products, three of them alike, an attention. LLaMA: 7 products, three alike and two
// alike, an attention, a sigmoid, two multiplications that are alike.
static const struct {
    const char *name, *set[2];
    int tasks, layers;
    double (*flop)(double size, double times);
    double size, times, about, parameters; // as frameworks count them, batch norm folded in
} networks[] = {
    {"alexnet", {NULL}, 12, 12, alexnet, 227, 1, 1.4284e9, 61100840},
    {"alexnet", {"batch=16"}, 12, 12, alexnet, 227, 16, 22.85e9, 61100840},
    {"resnet50", {NULL}, 27, 56, resnet50, 224, 1, 8.18e9, 25557032 - 26560},
    {"resnet50", {"image=64", "batch=2"}, 27, 56, resnet50, 64, 2, 1.34e9, 25557032 - 26560},
    {"mobilenet", {NULL}, 22, 30, mobilenet, 224, 1, 2 * 0.569e9, 4231976 - 10944},
    {"mobilenet", {"image=128"}, 22, 30, mobilenet, 128, 1, 2 * 0.186e9, 4231976 - 10944},
    {"bert-base", {NULL}, 5, 84, bert, 128, 12, 22.35e9, 12 * 7084800},
    {"bert-base", {"layers=1", "tokens=16"}, 5, 7, bert, 16, 1, 0.2271e9, 7084800},
    {"llama7b-layer", {NULL}, 7, 11, llama, 1, 512, 0.4132e9, 202375168},
    {"llama7b-layer", {"hidden=256", "mlp=64"}, 7, 11, small_llama, 1, 512, 0.001152e9, 311296},
    {"llama7b-layer", {"tokens=512", "type=f16"}, 7, 11, llama, 512, 512, 209.4e9, 202375168},
};

static const cJSON *check(struct box *b, const char *name, const char *first, const char *second)
{
    const char *words[] = {
        "check", name, "--json", first ? "--set" : NULL, first, second ? "--set" : NULL,
        second,  NULL};
    struct result r = run_list(b, words);
    assert_ok(&r);
    return json_of(b, r.out);
}

static void assert_near(double a, double b, double relative)
{
    if (fabs(a - b) > relative * fabs(b))
        fail_msg("%.9g is not %.9g", a, b);
}

static void test_shipped(void **state)
{
    struct box *b = *state;
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        const cJSON *task,
            *all = check(b, networks[i].name, networks[i].set[0], networks[i].set[1]);
        double uses = 0, flop = 0, share = 0;
        cJSON_ArrayForEach(task, member(all, "tasks"))
        {
            uses += number_of(task, "uses");
            flop += number_of(task, "uses") * number_of(task, "flop");
            share += number_of(task, "share");
        }
        assert_int_equal(cJSON_GetArraySize(member(all, "tasks")), networks[i].tasks);
        assert_int_equal(cJSON_GetArraySize(member(all, "layers")), networks[i].layers);
        assert_true(uses == networks[i].layers);
        assert_near(flop, networks[i].flop(networks[i].size, networks[i].times), 1e-12);
        assert_near(flop, networks[i].about, 5e-3);
        assert_near(number_of(all, "flop"), flop, 1e-12);
        assert_near(share, 1, 1e-9);
        bool is_half = networks[i].set[1] && strcmp(networks[i].set[1], "type=f16") == 0;
        assert_true(number_of(all, "weight_bytes") == networks[i].parameters * (is_half ? 2 : 4));
    }
}

// Layer by layer, in GFLOP.
static void test_alexnet(void **state)
{
    static const struct {
        const char *name, *operator;
        double gflop;
    } tasks[] = {
        {"conv1", "conv2d", 0.1406},  {"pool1", "max_pool", 0},     {"conv2", "conv2d", 0.4479},
        {"pool2", "max_pool", 0},     {"conv3", "conv2d", 0.2243},  {"conv4", "conv2d", 0.2990},
        {"conv5", "conv2d", 0.1994},  {"pool5", "max_pool", 0},     {"dense1", "matmul", 0.0755},
        {"dense2", "matmul", 0.0336}, {"dense3", "matmul", 0.0082}, {"softmax", "softmax", 0}};
    struct box *b = *state;
    const cJSON *all = check(b, "alexnet", NULL, NULL), *task;
    int i = 0;
    cJSON_ArrayForEach(task, member(all, "tasks"))
    {
        assert_string_equal(text_of(task, "name"), tasks[i].name);
        assert_string_equal(text_of(task, "operator"), tasks[i].operator);
        assert_true(fabs(number_of(task, "flop") / 1e9 - tasks[i].gflop) < 6e-5 + !tasks[i].gflop);
        bool is_in_flop = strstr("conv2d", tasks[i].operator) != NULL;
        assert_int_equal(is_null(task, "bytes"), is_in_flop); // with one image, products move
        i++;
    }
    const cJSON *last = cJSON_GetArrayItem(member(all, "layers"), 11);
    assert_string_equal(text_of(member(last, "from"), "X"), "dense3");
    assert_string_equal(member(all, "outputs")->child->valuestring, "softmax");
    assert_string_equal(text_of(member(all, "inputs")->child, "name"), "image");
    assert_true(number_of(member(all, "inputs")->child, "elements") == 3 * 227 * 227);
}

static void test_words(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "check", "resnet50");
    assert_ok(&r);
    assert_contains(r.out, ", 8.18 GFLOP, 102.1 ");
    r = RUN(b, "ops", "resnet50", "--device", "none");
    assert_ok(&r);
    assert_contains(r.out, ", 8.18 GFLOP");
    assert_contains(r.out, "\n  batch          1\n  image          224\n");
    r = RUN(b, "ops", "--device", "none");
    assert_ok(&r);
    assert_contains(r.out, "\nnetworks\n  alexnet ");
    const char *own = box_write(b, "own.lua",
                                "network 'one of them'\n"
                                "local x = input { name = 'x', sizes = { 4, 8 } }\n"
                                "output(layer { name = 'y', from = x, preset = 'mm',\n"
                                "  set = { N = 4, M = 8, K = size('K', 8) } })");
    r = RUN(b, "ops", own, "--device", "none");
    assert_ok(&r);
    assert_contains(r.out, "5.12e-07 GFLOP");
    r = RUN(b, "check", own, "--set", "K=9");
    assert_refused(&r, 1, "own.lua:3: ", " 4x9 ");
    r = RUN(b, "check", own, "--set", "k=9");
    assert_refused(&r, 2, "--set k=9: unknown size", "'K'");
    r = RUN(b, "check", "llama7b-layer", "--set", "hidden=100");
    assert_refused(&r, 2, "hidden=100: a size is a whole number from 128", NULL);
    r = RUN(b, "check", "alexnet", "--glsl");
    assert_refused(&r, 2, "--glsl", "not a network");
    r = RUN(b, "check", "alexnet", "--compile", "3");
    assert_refused(&r, 2, "--compile", NULL);
    r = RUN(b, "check", "alexnet", "--set", "image=66");
    assert_refused(&r, 2, "image=66: ", "from 67");
}

TEST_GROUP(network)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_shipped),
        FLOW_TEST(test_alexnet),
        FLOW_TEST(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
