// bench kernels: how good is what tilewalk finds for each preset, beside what a beginner and what a
// competent person write?
//
// Of each preset: the share of random points that is legal on the device, a session of 200 trials
// (what of it was wrong: nothing may be), then its winner, the naive kernel and the hand-written
// one timed in turns in one process. Sizes are small on CPU devices, those of the papers on GPUs,
// where tests/bench/vendor.py adds the vendors' libraries to the table that this prints.
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "bench.h"
#include "gpu/gpu.h"
#include "script/script.h"
#include "tuned.h"

#include <stdlib.h>
#include <string.h>

#define MOST_WORDS  12
#define MOST_OTHERS 2
#define MOST_SEEDS  5

struct row {
    const char *preset;
    const char *set[MOST_WORDS];      // what --set says to the preset
    const char *rival[MOST_WORDS];    // and to the kernels that it is measured against
    const char *naive, *hand_written; // in tests/bench/kernels; may be NULL
    const char *other[MOST_OTHERS];   // presets for the same operation that are tuned alike
};

#define MATMULS "naive_matmul", "register_matmul"
#define IMAGES  "naive_conv2d", "register_conv2d"
#define CONV_28                                                                                    \
    {                                                                                              \
        "batch=1", "in_channels=64", "out_channels=64", "height=28", "width=28", "padding=1"       \
    }
#define CONV_56                                                                                    \
    {                                                                                              \
        "batch=16", "in_channels=64", "out_channels=64", "height=56", "width=56", "padding=1"      \
    }
// What ResNet-50 has with windows of 3 x 3, stride 1.
#define RESNET(batch, channels, size)                                                              \
    {                                                                                              \
        "batch=" batch, "in_channels=" channels, "out_channels=" channels, "height=" size,         \
            "width=" size, "padding=1"                                                             \
    }
#define WINOGRAD(batch, channels, size)                                                            \
    "conv-winograd", RESNET(batch, channels, size), RESNET(batch, channels, size), IMAGES,         \
    {                                                                                              \
        "conv-implicit", "conv-direct"                                                             \
    }
#define POINTS(batch, channels, size)                                                              \
    {                                                                                              \
        "batch=" batch, "in_channels=" channels, "out_channels=" channels, "height=" size,         \
            "width=" size, "kernel_h=1", "kernel_w=1", "padding=0"                                 \
    }
#define DEPTHWISE(batch, channels, size)                                                           \
    {"batch=" batch, "channels=" channels, "height=" size, "width=" size, "padding=1"},            \
    {                                                                                              \
        "batch=" batch, "in_channels=" channels, "out_channels=" channels, "groups=" channels,     \
            "height=" size, "width=" size, "padding=1"                                             \
    }
#define C1(batch)                                                                                  \
    {                                                                                              \
        "batch=" batch, "in_channels=3", "out_channels=64", "height=227", "width=227",             \
            "kernel_h=11", "kernel_w=11", "stride=4", "padding=0"                                  \
    }
#define C2(batch)                                                                                  \
    {                                                                                              \
        "batch=" batch, "in_channels=64", "out_channels=192", "height=27", "width=27",             \
            "kernel_h=5", "kernel_w=5", "padding=2"                                                \
    }
#define BMM(batch, M, K, layout)                                                                   \
    {"batch=" batch}, {"batch=" batch, "N=128", "M=" M, "K=" K, "layout=" layout}, MATMULS
#define CUBE(n) {"N=" n, "M=" n, "K=" n}, {"N=" n, "M=" n, "K=" n}, MATMULS
#define FEW(n, m)                                                                                  \
    {"N=" n, "M=" m, "K=" n},                                                                      \
    {                                                                                              \
        "N=" n, "M=" m, "K=" n                                                                     \
    }
#define SIZES(n, m, k) {"N=" n, "M=" m, "K=" k}, {"N=" n, "M=" m, "K=" k}, MATMULS
// That part of a preset's space where a choice that was added to it keeps its first value: what a
// search loses, or gains, by the larger space.
#define BEFORE(name) TILEWALK_BENCH_KERNELS "/" name ".lua"

#define POOL(batch, channels, size)                                                                \
    {                                                                                              \
        "batch=" batch, "channels=" channels, "height=" size, "width=" size                        \
    }
#define RIVALS_POOL(kind, batch, channels, size)                                                   \
    {"kind=" kind, "batch=" batch, "channels=" channels, "height=" size, "width=" size},           \
        "naive_pool", NULL
#define ROWS(rows, columns)                                                                        \
    {                                                                                              \
        "rows=" rows, "columns=" columns                                                           \
    }
#define TRANSPOSE(rows, columns)                                                                   \
    {"rows=" rows, "columns=" columns, "transpose=yes"}, ROWS(rows, columns), "naive_transpose",   \
        "tiled_transpose"

static const struct row on_cpu[] = {
    {"gemm", CUBE("256")},
    {"mm1", SIZES("128", "256", "256")},
    {"bmm1", BMM("32", "64", "128", "nn")},
    {"bmm2", BMM("32", "64", "128", "tn")},
    {"bmm3", BMM("32", "128", "64", "nt")},
    {"conv-implicit", CONV_28, CONV_28, IMAGES},
    {"conv-direct", CONV_28, CONV_28, IMAGES},
    {"conv1x1", POINTS("1", "128", "28"), POINTS("1", "128", "28"), IMAGES},
    {"depthwise", DEPTHWISE("1", "64", "56"), "naive_conv2d", "register_depthwise"},
    {"c1", {"batch=1"}, C1("1"), IMAGES},
    {"c2", {"batch=1"}, C2("1"), IMAGES},
    {"maxpool", POOL("1", "64", "112"), RIVALS_POOL("max_pool", "1", "64", "112")},
    {"avgpool", POOL("1", "64", "112"), RIVALS_POOL("avg_pool", "1", "64", "112")},
    {"softmax", ROWS("1024", "1000"), ROWS("1024", "1000"), "naive_softmax", "shared_softmax"},
    {"elementwise", {"count=4194304"}, {"count=4194304"}, "naive_relu", NULL},
    {"copy", TRANSPOSE("1024", "1024")},
    {"lrn", POOL("1", "64", "55"), POOL("1", "64", "55"), "naive_lrn", NULL, {NULL}},
    {"skinny", FEW("1024", "1"), "naive_matmul", NULL, {"gemm"}},
    {"skinny", FEW("1024", "8"), "naive_matmul", NULL, {"gemm"}},
    {WINOGRAD("1", "64", "56")},
    {WINOGRAD("1", "256", "14")},
    {"gemm",
     {"N=255", "M=255", "K=255"},
     {"N=255", "M=255", "K=255"},
     "naive_matmul",
     NULL,
     {BEFORE("gemm_ends")}},
    {"gemm", {"type=i8", "N=256", "M=256", "K=256"}, {NULL}, NULL, NULL, {BEFORE("gemm_dot")}},
    {"depthwise",
     DEPTHWISE("1", "128", "56"),
     "naive_conv2d",
     "register_depthwise",
     {BEFORE("depthwise_slide")}},
    {"depthwise",
     {"batch=1", "channels=64", "height=112", "width=112", "padding=1", "stride=2"},
     {NULL},
     NULL,
     NULL,
     {BEFORE("depthwise_slide")}},
};

static const struct row on_gpu[] = {
    {"gemm", CUBE("4096")},
    {"gemm16", {"N=4096", "M=4096", "K=4096"}, {NULL}, NULL, NULL},
    {"gemm-coop", {"N=4096", "M=4096", "K=4096"}, {NULL}, NULL, NULL},
    {"mm1", SIZES("512", "1024", "1024")},
    {"mm2", SIZES("512", "4096", "1024")},
    {"mm3", SIZES("512", "1024", "4096")},
    {"bmm1", BMM("960", "64", "128", "nn")},
    {"bmm2", BMM("960", "64", "128", "tn")},
    {"bmm3", BMM("960", "128", "64", "nt")},
    {"conv-implicit", CONV_56, CONV_56, IMAGES},
    {"conv-direct", CONV_56, CONV_56, IMAGES},
    {"conv1x1", POINTS("16", "256", "56"), POINTS("16", "256", "56"), IMAGES},
    {"depthwise", DEPTHWISE("32", "128", "56"), "naive_conv2d", "register_depthwise"},
    {"c1", {"batch=512"}, C1("512"), IMAGES},
    {"c2", {"batch=512"}, C2("512"), IMAGES},
    {"maxpool", POOL("128", "64", "112"), RIVALS_POOL("max_pool", "128", "64", "112")},
    {"avgpool", POOL("128", "64", "112"), RIVALS_POOL("avg_pool", "128", "64", "112")},
    {"softmax", ROWS("32768", "1000"), ROWS("32768", "1000"), "naive_softmax", "shared_softmax"},
    {"elementwise", {"count=67108864"}, {"count=67108864"}, "naive_relu", NULL},
    {"copy", TRANSPOSE("8192", "8192")},
    {"lrn", POOL("128", "64", "55"), POOL("128", "64", "55"), "naive_lrn", NULL, {NULL}},
    {"skinny", FEW("4096", "1"), "naive_matmul", NULL, {"gemm"}},
    {"skinny", FEW("4096", "8"), "naive_matmul", NULL, {"gemm"}},
    {WINOGRAD("16", "64", "56")},
    {WINOGRAD("16", "256", "14")},
};

struct plan {
    int trials, rounds, seed, seeds; // sessions of each preset: seed, seed + 1, ...
    int row, from_one;               // row, from_one (the device): from 1; 0: all, the first
    struct gpu_info *list;
    const struct gpu_info *device;
};

// --- loading ---

static struct script *load(const struct plan *p, const char *path, const char *const *set)
{
    struct err e;
    struct setting setting[MOST_WORDS];
    char *name[MOST_WORDS];
    int count = 0;
    for (; count < MOST_WORDS && set[count]; count++) {
        const char *equals = strchr(set[count], '=');
        name[count] = mem_printf("%.*s", (int)(equals - set[count]), set[count]);
        setting[count] = (struct setting){name[count], equals + 1};
    }
    struct script_options o = {.path = path,
                               .set = setting,
                               .set_count = count,
                               .device_type = p->device->type,
                               .limits = &p->device->limits};
    struct script *s = script_create(&o, &e);
    if (!s)
        bench_fail(path, &e);
    while (count-- > 0)
        free(name[count]);
    return s;
}

// A kernel of ours: a space file of one point, or one fixed text.
static void add_rival(struct race *r, const struct plan *p, const char *name,
                      const char *const *set)
{
    struct err e;
    struct rng rng;
    struct config c;
    struct job job;
    struct race_pass pass = {0};
    char *path = mem_printf("%s/%s.lua", TILEWALK_BENCH_KERNELS, name);
    struct script *s = load(p, path, set);
    rng_seed(&rng, 1);
    space_sample(script_space(s), &rng, &c);
    if (!script_render(s, &c, &job, &e))
        bench_fail(path, &e);
    pass.glsl = job.pass[0].glsl;
    for (int i = 0; i < 3; i++)
        pass.groups[i] = job.pass[0].groups[i];
    race_add(r, name, &pass, 1, 0);
    job_finish(&job);
    script_destroy(s);
    free(path);
}

// --- a row ---

static double legal_share(const struct plan *p, const struct row *row)
{
    const char *words[2 * MOST_WORDS + 8] = {"check", row->preset, "--json", "--device"};
    char *index = mem_printf("%d", p->device->index);
    int count = 4;
    words[count++] = index;
    for (int i = 0; i < MOST_WORDS && row->set[i]; i++) {
        words[count++] = "--set";
        words[count++] = row->set[i];
    }
    cJSON *check = bench_json(words);
    double share = bench_number(check, "valid_fraction");
    cJSON_Delete(check);
    free(index);
    return share;
}

static int presets_of(const struct row *row)
{
    int count = 1;
    while (count <= MOST_OTHERS && row->other[count - 1])
        count++;
    return count;
}

// The winners of all seeds of a preset. Returns what its sessions tried.
static struct tuned_run add_winners(struct race *r, const struct plan *p, const struct row *row,
                                    const char *preset)
{
    struct tuned_run all = {0};
    struct tuned t = {.preset = preset, .trials = p->trials, .device = p->device->index};
    for (int i = 0; i < MOST_WORDS; i++)
        t.set[i] = row->set[i];
    for (t.seed = p->seed; t.seed < p->seed + p->seeds; t.seed++) {
        struct tuned_run one = tuned_make(&t);
        all.ok += one.ok;
        all.wrong += one.wrong;
        tuned_add(r, preset, &t);
    }
    return all;
}

static struct race *hold_race(const struct plan *p, const struct row *row,
                              const struct operation *o, struct tuned_run *run)
{
    struct race *r = race_create(p->device->index, o);
    *run = add_winners(r, p, row, row->preset);
    for (int i = 0; i < presets_of(row) - 1; i++)
        add_winners(r, p, row, row->other[i]);
    if (row->naive)
        add_rival(r, p, row->naive, row->rival);
    if (row->hand_written)
        add_rival(r, p, row->hand_written, row->rival);
    race_run(r, p->rounds);
    return r;
}

static double best_of(const struct race *r, int first, int count)
{
    double least = race_seconds(r, first);
    for (int i = first + 1; i < first + count; i++)
        least = race_seconds(r, i) < least ? race_seconds(r, i) : least;
    return least;
}

// How fast the best of `count` kernels from `first` on is, and how many times faster the row's own
// best is.
static void print_rival(const struct plan *p, const struct race *r, double flop, int first,
                        int count)
{
    double seconds = best_of(r, first, count);
    printf(" %.2f (%.2f) |", flop / seconds / 1e9, seconds / best_of(r, 0, p->seeds));
}

static void print_row(const struct plan *p, const struct row *row, const struct script *s,
                      const struct tuned_run *run, const struct race *r)
{
    int presets = presets_of(row), at = presets * p->seeds;
    struct str title = {0};
    double flop = operation_flop(script_operation(s));
    operation_add_text(script_operation(s), &title);
    printf("| %s | %s | %.1f %% | %.0f | %.0f | %.2f |", row->preset, str_text(&title),
           100 * legal_share(p, row), run->ok, run->wrong, flop / best_of(r, 0, p->seeds) / 1e9);
    const char *rivals[] = {row->naive, row->hand_written};
    for (int i = 0; i < 2; i++)
        if (rivals[i])
            print_rival(p, r, flop, at++, 1);
        else
            printf(" - |");
    for (int i = 1; i < presets; i++) {
        printf(" `%s`", path_name(row->other[i - 1]));
        print_rival(p, r, flop, i * p->seeds, p->seeds);
    }
    printf(presets > 1 ? "\n" : " - |\n");
    for (int i = 0; p->seeds > 1 && i < presets * p->seeds; i++)
        printf("<!-- %s, seed %d: %.1f us -->\n", path_name(race_name(r, i)),
               p->seed + i % p->seeds, 1e6 * race_seconds(r, i));
    fflush(stdout);
    str_finish(&title);
}

// False: something was wrong.
static bool do_row(const struct plan *p, const struct row *row)
{
    struct err e;
    char *path = script_find(row->preset, &e);
    if (!path) {
        printf("| %s | not installed |\n", row->preset);
        return true;
    }
    struct tuned_run run;
    struct script *s = load(p, path, row->set);
    struct race *r = hold_race(p, row, script_operation(s), &run);
    print_row(p, row, s, &run, r);
    race_destroy(r);
    script_destroy(s);
    free(path);
    return run.wrong == 0;
}

static void find_device(struct plan *p)
{
    struct err e;
    int count;
    if (!gpu_list(&p->list, &count, &e))
        bench_fail("devices", &e);
    int wanted = p->from_one ? p->from_one - 1 : 0;
    if (wanted >= count)
        bench_skip("no such Vulkan device");
    p->device = &p->list[wanted];
}

int main(int argc, char **argv)
{
    struct plan p = {.trials = 200, .rounds = 7, .seed = 1, .seeds = 1};
    const struct bench_option options[] = {
        {"trials", &p.trials, 1000000},  {"rounds", &p.rounds, 1000}, {"seed", &p.seed, 1000000},
        {"seeds", &p.seeds, MOST_SEEDS}, {"row", &p.row, 100},        {"device", &p.from_one, 100}};
    bool good = true;
    bench_options(argc, argv, options, 6);
    setenv("TILEWALK_DATA", TILEWALK_BENCH_DATA, 0); // presets of the source tree
    gpu_prepare_environment();
    find_device(&p);
    const struct row *row = p.device->is_cpu ? on_cpu : on_gpu;
    int count = (int)(p.device->is_cpu ? sizeof on_cpu : sizeof on_gpu) / (int)sizeof *row;
    printf("%d trials each, seeds %d to %d, %d rounds, on %s (%s)\n\n", p.trials, p.seed,
           p.seed + p.seeds - 1, p.rounds, p.device->name, p.device->driver);
    printf(
        "| preset | operation | legal points | ok | wrong | best GFLOPS | naive (best is x times "
        "faster) | by hand (x times) | other presets (x times) |\n"
        "|---|---|---:|---:|---:|---:|---:|---:|---:|\n");
    for (int i = 0; i < count; i++)
        if (!p.row || p.row == i + 1)
            good &= do_row(&p, &row[i]);
    free(p.list);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
