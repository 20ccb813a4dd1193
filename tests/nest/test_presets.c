// The nests of the shipped presets agree with their shaders: for random legal configurations, the
// computations, loads, stores and loops of the first invocation, and the launch.
//
// Sizes are such that the first workgroup has no tail: a nest counts tails as full.
#include "group.h"
#include "nest_count.h"
#include "variant.h"

#include "base/mem.h"

#include <stddef.h>
#include <string.h>

enum {
    PLAIN = 18,          // index of the first product that is none, in products
    POINTS = 5,          // of each preset, type and layout
    MUTANT_POINTS = 200, // until a wrong declaration is found
};

// --- shaders ---

// Counts all passes; adds to `differ` the dimensions in which the first and the last pass are
// launched unlike the first and last statement.
static struct spirv_count count_job(const struct job *job, int lanes, const struct nest_point *p,
                                    int *differ)
{
    struct spirv_count n = {0};
    int first = 0, last = p->nest->statement_count - 1, passes = job->pass_count;
    while (!p->present[first])
        first++;
    while (!p->present[last])
        last--;
    for (int i = 0; i < passes; i++) {
        struct spirv spirv = {0};
        struct err e;
        char message[1400];
        if (!kernel_compile_pass(&job->pass[i], 0, &spirv, &e) ||
            !spirv_count(&spirv, lanes, &n, &e))
            fail_msg("%s", err_format(&e, message, sizeof message));
        if (i == 0 || i == passes - 1)
            *differ += nest_launch_differences(p, i == passes - 1 ? last : first,
                                               job->pass[i].groups, n.local_size);
        spirv_finish(&spirv);
    }
    return n;
}

// --- the presets ---

struct product {
    const char *preset, *device, *set;
    const char *const *types, *const *layouts;
    const char *chosen; // a parameter that has not its first value; NULL: all have any
};

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define MATRICES  LIST("nn", "nt", "tn", "tt")
#define IMAGES    LIST("nchw", "nhwc")
#define ALL_TYPES LIST("f32", "f16", "i8")
#define FLOATS    LIST("f32", "f16")

#define CONVOLUTION "in_channels=16 out_channels=1024 "
#define DEPTHWISE   "channels=1024 "

static const struct product products[] = {
    {"mm", "cpu", "N=64 M=128 K=96", ALL_TYPES, MATRICES},
    {"bmm", "discrete", "batch=6 N=64 M=128 K=96 units=none", ALL_TYPES, MATRICES},
    {"gemm", "cpu", "N=1024 M=8192 K=100", ALL_TYPES, MATRICES},
    {"gemm", "cpu", "N=1024 M=8192 K=128 batch=2 row_c=8200 bias=add residual=add activation=relu",
     ALL_TYPES, MATRICES},
    {"gemm", "discrete", "N=4100 M=32900 K=100 scale=2 activation=leaky units=none",
     LIST("f32", "f16"), MATRICES},
    {"conv-implicit", "cpu",
     "batch=4 in_channels=6 out_channels=16384 height=64 width=64 groups=2 bias=add "
     "activation=clamp",
     ALL_TYPES, IMAGES},
    {"gemm-coop", "discrete", "N=16384 M=16384 K=1024 bias=add", LIST("f16", "i8"), MATRICES},
    {"gemm-coop", "discrete", "N=16384 M=16384 K=100 accumulate=f16 batch=2", LIST("f16"),
     MATRICES},
    {"conv1x1", "cpu", "batch=2 in_channels=24 out_channels=8192 height=64 width=64", ALL_TYPES,
     IMAGES},
    {"conv1x1", "cpu", "in_channels=24 out_channels=8192 height=64 width=64 stride=2 residual=add",
     LIST("f16"), IMAGES},
    {"conv", "cpu", "in_channels=12 out_channels=16 height=12 width=8 bias=add", ALL_TYPES, IMAGES},
    {"conv", "discrete",
     "batch=2 in_channels=8 out_channels=32 height=25 width=33 kernel_h=2 stride=2 groups=2",
     LIST("f32"), IMAGES},
    {"conv-direct", "cpu", CONVOLUTION "height=128 width=1024 residual=add activation=clamp",
     ALL_TYPES, IMAGES},
    {"conv-direct", "cpu", CONVOLUTION "height=256 width=2048 stride=2 groups=2", LIST("f32"),
     IMAGES},
    {"conv-direct", "cpu", CONVOLUTION "height=258 width=2049 stride=2 kernel_h=2 dilation=2",
     LIST("f32"), IMAGES},
    {"depthwise", "cpu", DEPTHWISE "height=128 width=1024 multiplier=2 bias=add", ALL_TYPES,
     IMAGES},
    {"depthwise", "cpu", DEPTHWISE "height=256 width=2048 stride=2", LIST("f32"), IMAGES},
    {"depthwise", "cpu",
     DEPTHWISE "height=520 width=2048 kernel_h=4 kernel_w=1 padding=0 stride=2 dilation=3",
     LIST("f32"), IMAGES, "slide"},
    {"maxpool", "cpu", "channels=8192 height=64 width=4096 stride=1", FLOATS, IMAGES},
    {"avgpool", "cpu", "channels=8192 height=65 width=8193 window=2", FLOATS, IMAGES},
    {"lrn", "cpu", "channels=16384 height=64 width=512 window=2", FLOATS, IMAGES},
    {"softmax", "cpu", "rows=1024 columns=1024", FLOATS, NULL},
    {"softmax", "discrete", "rows=1048576 columns=4096", LIST("f32"), NULL},
    {"elementwise", "cpu", "count=1048576 apply=leaky", FLOATS, NULL},
    {"elementwise", "cpu", "count=268435456 apply=tanh", LIST("f32"), NULL},
    {"elementwise", "discrete", "count=1048576 apply=add", LIST("f32"), NULL},
    {"copy", "cpu", "rows=4096 columns=4096 transpose=yes", FLOATS, NULL},
    {"copy", "cpu", "rows=512 columns=512", FLOATS, NULL},
    {"concat", "cpu", "rows=4 first=1048576 second=524288", LIST("f32"), NULL},
    {"strided", "cpu", "count=33554432 n2=64 n3=64 n4=8192 s2=8192 s3=524288", LIST("f32"), NULL},
    {"gmm", "cpu", "B=2 N=64 M=64 K=32", NULL, NULL},
    {"conv-winograd", "cpu",
     "batch=8 in_channels=16 out_channels=1024 height=128 width=128 bias=add residual=add "
     "activation=relu",
     FLOATS, LIST("nchw")},
    {"conv-winograd", "cpu",
     "batch=4 in_channels=16 out_channels=8192 height=64 width=64 bias=add residual=add", FLOATS,
     LIST("nhwc")},
    {"conv-winograd", "cpu",
     "batch=32 in_channels=32 out_channels=2048 height=66 width=66 padding=0 groups=2", LIST("f32"),
     LIST("nchw")},
    {"skinny", "cpu", "N=16384 M=1 K=16384 bias=add", ALL_TYPES, MATRICES},
    {"skinny", "discrete", "N=3 M=32768 K=65536 batch=2 residual=add", ALL_TYPES, MATRICES},
    {"flash-attention", "cpu", "heads=4 kv_heads=2 N=8192 M=8192 dim=1024",
     LIST("f32", "f16", "bf16"), LIST("bhnd", "bnhd")},
    {"flash-attention", "discrete", "heads=2 N=4096 M=8192 dim=512", FLOATS, LIST("bhnd")},
    {"cbr", "cpu", "pad=0", NULL, NULL},
    {"rms-norm", "cpu", "M=64 N=64", NULL, NULL},
    {"nrm", "cpu", "", NULL, NULL},
    {"gemv", "cpu", "", NULL, NULL},
    {"layer-norm", "cpu", "M=16", NULL, NULL},
    {"dep", "cpu", "H=34 W=34 pad=0", NULL, NULL}, // whole tiles: nests count tails as full
    {"winograd", "cpu", "pad=0 CI=32", NULL, NULL},
    {MINE, "cpu", "N=64 M=32 K=96", NULL, NULL},
    {"conv-implicit", "discrete",
     "batch=4 in_channels=32 out_channels=16384 height=64 width=64 groups=2 bias=add "
     "activation=relu",
     LIST("f16", "i8"), IMAGES},
    {"conv1x1", "discrete", "batch=4 in_channels=24 out_channels=16384 height=64 width=64",
     LIST("f16"), IMAGES},
    {"bmm", "discrete", "batch=3 N=16384 M=16384 K=100", LIST("f16", "i8"), MATRICES},
    {"conv-winograd", "discrete",
     "batch=8 in_channels=40 out_channels=4096 height=128 width=128 bias=add residual=add",
     LIST("f16"), IMAGES},
    {"copy", "cpu", "rows=1 columns=65536 to=bf16", LIST("f32"), NULL},
    {"gemm", "discrete", "N=4096 M=32768 K=64 type=f16 accumulate=mixed units=none", NULL,
     MATRICES},
};

// Returns how many figures of one point are wrong.
static int check_point(struct script *s, const struct config *c, int lanes, const char *set,
                       bool tell)
{
    struct job job = {0};
    struct err e;
    char message[1400];
    struct nest_point p;
    if (!script_render(s, c, &job, &e))
        fail_msg("%s", err_format(&e, message, sizeof message));
    nest_point_init(&p, script_space(s)->nest);
    nest_evaluate(script_space(s)->nest, script_space(s), c, &p);
    int launches = 0;
    struct spirv_count nest = nest_count(&p), shader = count_job(&job, lanes, &p, &launches);
    int wrong = nest_count_differences(&nest, &shader, tell) + launches;
    if (wrong && tell) {
        struct str text = {0};
        config_add_json(script_space(s), c, &text);
        print_error("%s%s\n%s\n", launches ? "others are launched\n" : "", set, str_text(&text));
        str_finish(&text);
    }
    nest_point_finish(&p);
    job_finish(&job);
    return wrong;
}

static struct limits limits_of(const struct product *o)
{
    struct limits l = strcmp(o->device, "cpu") == 0 ? variant_cpu : variant_gpu;
    l.buffer_bytes = UINT64_MAX;
    l.statements = 1000; // else glslang takes its time
    return l;
}

static void sample(struct script *s, const struct product *o, struct rng *r, struct config *c)
{
    const struct param *chosen = o->chosen ? space_find(script_space(s), o->chosen) : NULL;
    struct limits l = limits_of(o);
    struct resources needs;
    do
        assert_true(variant_sample(s, &l, r, c, &needs));
    while (chosen && c->slot[chosen->offset] == 0);
}

static int check_points(struct script *s, const struct product *o, struct rng *r, const char *set,
                        int points)
{
    int wrong = 0;
    for (int i = 0; i < points && !wrong; i++) {
        struct config c;
        sample(s, o, r, &c);
        wrong = check_point(s, &c, (int)limits_of(o).subgroup_size, set, points == POINTS);
    }
    return wrong;
}

// A type or layout of NULL is not set.
static int check(const struct product *o, const char *type, const char *layout, struct rng *r)
{
    struct str set = {0};
    struct limits l = limits_of(o);
    str_add(&set, o->set);
    if (type)
        str_printf(&set, " type=%s", type);
    if (layout)
        str_printf(&set, " layout=%s", layout);
    struct script *s = variant_load(o->preset, o->device, &l, str_text(&set));
    assert_non_null(script_space(s)->nest);
    int wrong = check_points(s, o, r, str_text(&set), POINTS);
    if (wrong)
        print_error("%s on %s\n", o->preset, o->device);
    script_destroy(s);
    str_finish(&set);
    return wrong;
}

static void test_products(void **state)
{
    static const char *const none[] = {NULL};
    (void)state;
    struct rng r;
    int wrong = 0;
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        const struct product *o = &products[i];
        rng_seed(&r, 11); // a parameter more of one preset draws nothing else of another
        const char *const *type = o->types ? o->types : none;
        do {
            const char *const *layout = o->layouts ? o->layouts : none;
            do
                wrong += check(o, *type, *layout, &r) > 0;
            while (*layout && *++layout);
        } while (*type && *++type);
    }
    assert_int_equal(wrong, 0);
}

// Learned strategies see the loops of all shipped presets.
static void test_all_declare(void **state)
{
    (void)state;
    int count;
    char **name = script_presets(&count);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        struct script *s = variant_load(name[i], "discrete", &variant_gpu, "");
        if (!script_space(s)->nest)
            fail_msg("%s declares no loop nest", name[i]);
        script_destroy(s);
        free(name[i]);
    }
    free(name);
}

// --- wrong declarations ---

static const struct mutant {
    int product; // index in products
    const char *file, *right, *wrong;
} mutants[] = {
    {2, "lua/gemm_nest.lua", "\"serial\", p.steps // p.unrolled", "\"serial\", p.steps"},
    {2, "lua/gemm_nest.lua", "most_rounds_copied, reduce_group = 16",
     "most_rounds_copied, reduce_group = 2"},
    {2, "lua/gemm_nest.lua", "d.ceil_div(16, ", "d.ceil_div(64, "},
    {2, "lua/gemm_nest.lua", "(s.pad or 0)", "0"},
    {4, "lua/gemm_nest.lua", "d.choose(of_warp, count, 1)", "1"},
    {(int)(sizeof products / sizeof *products) - 1, "lua/gemm_nest.lua", "when = d.is(after, name)",
     "when = d.is(after, \"step\")"},
    {4, "lua/gemm_nest.lua", "d.all(x.staged, p.early)", "d.none(p.early)"},
    {2, "lua/gemm_nest.lua", "add = is_whole and 0 or 1", "add = is_whole and 0 or 2"},
    {2, "lua/gemm_nest.lua", "p.step // wide)", "p.step)"},
    {2, "lua/gemm_nest.lua", "d.is(walk, \"columns\")", "d.is(walk, \"rows\")"},
    {2, "lua/gemm_nest.lua", "additions = p.sums == \"i32\", p.parts - 1",
     "additions = p.sums == \"i32\", p.parts"},
    {3, "lua/nest_words.lua", "{ \"bias\", \"residual\" }", "{ \"residual\" }"},
    {12, "lua/direct_nest.lua", "axis.virtual * d.max(0, axis.registers - ahead)", "0"},
    {10, "lua/direct_nest.lua", "p.w.when(of_next, axis.virtual - 1)", "0"},
    {12, "lua/direct_nest.lua", "d.ceil_div(p.input.shift + reach", "d.ceil_div(reach"},
    {12, "lua/direct_nest.lua", "d.all(k.unrolled, copies)", "k.unrolled"},
    {12, "lua/direct_nest.lua", "(s.pad or 0)", "0"},
    {12, "lua/direct_nest.lua", "d.none(w.is(walk, \"image\"))", "w.is(walk, \"image\")"},
    {17, "lua/direct_nest.lua", "overlap.ahead * math.max(0, op.kernel_h - overlap.every)",
     "math.max(0, op.kernel_h - overlap.every)"},
    {17, "lua/direct_nest.lua", "y.registers * math.min(overlap.every, op.kernel_h)",
     "y.registers * op.stride * overlap.every"},
    {15, "lua/direct_nest.lua", "d.choose(p.unrolled, 1, p.y.steps)", "p.y.steps"},
    {15, "lua/direct_nest.lua", "d.choose(p.slides, p.first, rows)", "rows"},
    {6, "lua/coop_nest.lua", "multiply = is_whole and 0 or p.k", "multiply = 1"},
    {6, "lua/coop_nest.lua", "+ s.skew *", "+ 2 * s.skew *"},
    {6, "lua/coop_nest.lua", "\"straight_element\", \"vectorized\", share",
     "\"straight_element\", \"vectorized\", 1"},
    {6, "lua/coop_nest.lua", "local share, row = x.extent * p.k // p.lanes",
     "local share, row = x.extent * p.k"},
    {6, "lua/coop_nest.lua", "\"unrolled\", x.block)", "\"unrolled\", 1)"},
    {PLAIN, "lua/pool.lua", "d.is(c.unroll, \"window\")", "d.is(c.unroll, \"row\")"},
    {PLAIN + 2, "lrn.lua", "multiply = 2", "multiply = 1"},
    {PLAIN + 3, "softmax.lua", "for i = 1, 10", "for i = 2, 10"},
    {PLAIN + 3, "softmax.lua", "when = twice, stores", "stores"},
    {PLAIN + 6, "lua/plain_nest.lua", "d.ceil_div(count, most_groups)", "1"},
    {PLAIN + 8, "copy.lua", "columns + c.pad", "columns"},
    {36, "lua/fused_attention_nest.lua", "p.keys // p.share", "p.keys"},
    {36, "lua/fused_attention_nest.lua", "add = 2, multiply = 1,", "add = 1, multiply = 1,"},
    {36, "lua/fused_attention_nest.lua", "p.two, 2, 1", "p.two, 1, 2"},
};

// The preset from its own texts, one of them changed.
static struct script *load_mutant(const struct product *o, const struct mutant *m,
                                  const struct limits *l)
{
    enum { MOST = 24 };
    struct script *right = variant_load(o->preset, o->device, l, o->set);
    int count, changed = 0;
    const struct script_text *texts = script_texts(right, &count);
    struct script_text copy[MOST];
    char *text = NULL;
    assert_true(count <= MOST);
    for (int i = 0; i < count; i++) {
        copy[i] = texts[i];
        const char *at =
            strcmp(texts[i].name, m->file) == 0 ? strstr(texts[i].text, m->right) : NULL;
        if (!at)
            continue;
        text = mem_printf("%.*s%s%s", (int)(at - texts[i].text), texts[i].text, m->wrong,
                          at + strlen(m->right));
        copy[i].text = text;
        changed++;
    }
    if (changed != 1)
        fail_msg("%s has no %s", m->file, m->right);
    struct script_options options = {.path = texts[0].path,
                                     .device_type = o->device,
                                     .limits = l,
                                     .texts = copy,
                                     .text_count = count};
    struct setting set[16];
    int settings;
    const struct script_setting *setting = script_settings(right, &settings);
    for (int i = 0; i < settings && options.set_count < 16; i++)
        if (strcmp(setting[i].value, setting[i].standard) != 0)
            set[options.set_count++] = (struct setting){setting[i].name, setting[i].value};
    options.set = set;
    struct err e;
    char message[1400];
    struct script *s = script_create(&options, &e);
    if (!s)
        fail_msg("%s: %s", m->wrong, err_format(&e, message, sizeof message));
    script_destroy(right);
    free(text);
    return s;
}

static void test_mutants(void **state)
{
    (void)state;
    struct rng r;
    rng_seed(&r, 12);
    for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++) {
        const struct product *o = &products[mutants[i].product];
        struct limits l = limits_of(o);
        struct script *s = load_mutant(o, &mutants[i], &l);
        if (check_points(s, o, &r, "", MUTANT_POINTS) == 0)
            fail_msg("nobody notices %s", mutants[i].wrong);
        script_destroy(s);
    }
}

TEST_GROUP(presets)
{
    kernel_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_all_declare),
        cmocka_unit_test(test_mutants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
