// bench generated: how good are kernels that follow from a definition alone?
//
// Tunes each problem twice, as a preset with a template and as a definition of the same tensors
// (tests/bench/definitions), with the same strategy, trials and seeds; then times the winners of
// both and the naive kernel of the definition in turns, in one process. Then what it costs to write
// a kernel and to judge a configuration. `--db FILE` keeps the sessions: those that are there with
// as many trials are read and not measured again, others go on. `--page FILE` writes the table of
// the races between that page's marks; then nothing is tuned, and a problem without all of its
// sessions is left out.
#include "base/os.h"
#include "base/rng.h"
#include "bench.h"
#include "figures/figure_doc.h"
#include "gpu/gpu.h"
#include "kept.h"
#include "script/script.h"
#include "space/space.h"
#include "tuned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct problem {
    const char *name, *preset, *definition;
    const char *set[TUNED_MOST_SETTINGS]; // of the preset, up to a NULL
    bool has_reuse;
} problems[] = {
    {"matrix product", "gemm", "matmul", {"N=256", "M=256", "K=256"}, true},
    {"batch of products", "gemm", "batch", {"batch=8", "N=128", "M=128", "K=128"}, true},
    {"convolution", "conv-implicit", "convolution", {NULL}, true},
    {"depthwise convolution", "depthwise", "depthwise", {NULL}, false},
};
enum { PROBLEMS = sizeof problems / sizeof *problems, MOST_SEEDS = (RACE_MOST - 1) / 2 };
enum { WRITTEN = 200, JUDGED = 20000, THREADS = 64 };

struct plan {
    int trials, seeds, rounds, problem;
    const char *db, *page;
    struct str *table; // of the page; NULL: there is none
    struct gpu_info *list;
    const struct gpu_info *device;
};

static void find_cpu(struct plan *p)
{
    struct err e;
    int count, i = 0;
    if (!gpu_list(&p->list, &count, &e))
        bench_fail("devices", &e);
    while (i < count && !p->list[i].is_cpu)
        i++;
    if (i == count)
        bench_skip("no CPU device (mesa-vulkan-drivers has one)");
    p->device = &p->list[i];
}

static char *definition_path(const struct problem *o)
{
    return mem_printf("%s/%s.lua", TILEWALK_BENCH_DEFINITIONS, o->definition);
}

static struct script *load(const struct plan *p, const char *path)
{
    struct err e;
    const struct script_options o = {
        .path = path, .device_type = p->device->type, .limits = &p->device->limits};
    struct script *s = script_create(&o, &e);
    if (!s)
        bench_fail(path, &e);
    return s;
}

// One number an invocation, neighbours along the last axis, one loop over each axis of the
// reduction.
static void make_naive(const struct space *s, struct config *c)
{
    int64_t threads = THREADS;
    space_point(s, 0, c);
    for (int i = s->param_count - 1; i >= 0; i--) {
        const struct param *p = &s->param[i];
        int32_t *part = c->slot + p->offset, own = 1;
        if (p->kind != PARAM_FACTORIZATION)
            continue;
        for (int32_t d = 1; d <= threads && p->width == 5; d++)
            own = p->product % d == 0 ? d : own;
        for (int k = 0; k < p->width; k++)
            part[k] = 1;
        part[0] = p->product / own;
        part[p->width / 2] *= own;
        threads /= own;
    }
}

static void add_naive(struct race *r, const struct script *s)
{
    struct config c;
    struct job job;
    struct err e;
    struct race_pass pass = {0};
    make_naive(script_space(s), &c);
    if (!script_render((struct script *)(uintptr_t)s, &c, &job, &e))
        bench_fail("the naive kernel", &e);
    pass.glsl = job.pass[0].glsl;
    memcpy(pass.groups, job.pass[0].groups, sizeof pass.groups);
    race_add(r, "naive", &pass, 1, 0);
    job_finish(&job);
}

// --- how good ---

static struct kept session(const struct plan *p, const struct problem *o, const char *file,
                           int seed)
{
    struct kept k = {
        .db = p->db, .preset = file, .trials = p->trials, .seed = seed, .device = p->device->index};
    if (strcmp(file, o->preset) == 0)
        memcpy(k.set, o->set, sizeof o->set);
    return k;
}

// The winner of a session, which is tuned first unless a page is written.
static void add_winner(const struct plan *p, struct race *r, const char *name, const struct kept *k)
{
    struct tuned t = {.preset = k->preset, .seed = k->seed};
    bool done = false;
    int id = p->table ? kept_find(k, &done) : kept_make(k);
    char *session = mem_printf("%d", id), *folder = tuned_export_folder(&t);
    kept_run((const char *const[]){"export", session, "--out", folder, "--db", k->db, NULL});
    tuned_add(r, name, &t);
    free(session);
    free(folder);
}

// Whether all of its sessions are there with their trials.
static bool is_tuned(const struct plan *p, const struct problem *o, const char *path)
{
    const char *files[] = {o->preset, path};
    bool all = true;
    for (int i = 0; i < 2 * p->seeds; i++) {
        const struct kept k = session(p, o, files[i % 2], 1 + i / 2);
        bool done = false;
        all = all && kept_find(&k, &done) && done;
    }
    return all;
}

static double best_of(const struct race *r, int first, int count)
{
    double least = INFINITY;
    for (int i = first; i < first + count; i++)
        least = fmin(least, race_seconds(r, i));
    return least;
}

static struct race *hold_race(const struct plan *p, const struct problem *o, const char *path)
{
    struct script *defined = load(p, path);
    const char *files[] = {o->preset, path};
    struct race *r = race_create(p->device->index, script_operation(defined));
    for (int f = 0; f < 2; f++)
        for (int seed = 1; seed <= p->seeds; seed++) {
            const struct kept k = session(p, o, files[f], seed);
            char name[64];
            snprintf(name, sizeof name, "%s, seed %d", f ? "definition" : o->preset, seed);
            add_winner(p, r, name, &k);
        }
    add_naive(r, defined);
    race_run(r, p->rounds);
    script_destroy(defined);
    return r;
}

static void add_row(const struct plan *p, const struct problem *o, const struct race *r)
{
    double template_s = best_of(r, 0, p->seeds), own_s = best_of(r, p->seeds, p->seeds);
    str_printf(p->table, "| %s | %d, %d | %.2f | %.1f | %.0f |", o->name, p->trials, p->seeds,
               template_s / own_s, race_seconds(r, race_count(r) - 1) / own_s, 1e6 * own_s);
    for (int i = 0; i < race_count(r); i++)
        str_printf(p->table, "%s%.0f",
                   i == 0         ? " "
                   : i % p->seeds ? ", "
                                  : "; ",
                   1e6 * race_seconds(r, i));
    str_add(p->table, " |\n");
}

// The best of the definition's kernels over the best of the template's, in speed; 0: it is left
// out.
static double compare(const struct plan *p, const struct problem *o)
{
    char *path = definition_path(o);
    if (p->table && !is_tuned(p, o, path)) {
        free(path);
        return 0;
    }
    struct race *r = hold_race(p, o, path);
    int naive = race_count(r) - 1;
    double template_s = best_of(r, 0, p->seeds), own_s = best_of(r, p->seeds, p->seeds);
    printf("%s\n", o->name);
    for (int i = 0; i < race_count(r); i++)
        printf("  %-24s %10.1f us\n", race_name(r, i), 1e6 * race_seconds(r, i));
    bench_figure("  best of the definition against the template's", template_s / own_s, "",
                 AT_LEAST, 0.7);
    if (o->has_reuse)
        bench_figure("  and against the naive kernel", race_seconds(r, naive) / own_s, "", AT_LEAST,
                     5);
    if (p->table)
        add_row(p, o, r);
    race_destroy(r);
    free(path);
    return template_s / own_s;
}

// --- what it costs ---

static void report_costs(const struct plan *p)
{
    char *path = definition_path(&problems[2]);
    struct script *s = load(p, path);
    struct config *c = mem_alloc(WRITTEN * sizeof *c);
    struct rng r;
    struct err e;
    struct verdict v;
    int legal = 0, written = 0;
    rng_seed(&r, 1);
    int64_t begin = os_process_cpu_ns(getpid());
    for (int i = 0; i < JUDGED; i++) {
        space_sample(script_space(s), &r, &c[legal % WRITTEN]);
        if (!space_judge(script_space(s), &p->device->limits, &c[legal % WRITTEN], &v, &e))
            bench_fail(path, &e);
        legal += v.legal;
    }
    double judging = (double)(os_process_cpu_ns(getpid()) - begin) * 1e-9;
    begin = os_process_cpu_ns(getpid());
    for (; written < WRITTEN && written < legal; written++) {
        struct job job;
        if (!script_render(s, &c[written], &job, &e))
            bench_fail(path, &e);
        job_finish(&job);
    }
    double writing = (double)(os_process_cpu_ns(getpid()) - begin) * 1e-9;
    bench_figure("CPU time of writing a kernel", 1e3 * writing / written, "ms", UNDER, 2);
    bench_figure("configurations judged in a CPU second", JUDGED / judging, "", AT_LEAST, 10000);
    free(c);
    script_destroy(s);
    free(path);
}

static void compare_all(const struct plan *p)
{
    double product = 1;
    int compared = 0;
    for (int i = 0; i < PROBLEMS; i++) {
        double ratio = p->problem == 0 || p->problem == i + 1 ? compare(p, &problems[i]) : 0;
        product *= ratio > 0 ? ratio : 1;
        compared += ratio > 0;
        fflush(stdout);
    }
    if (compared)
        bench_figure("geometric mean against templates", pow(product, 1.0 / compared), "", AT_LEAST,
                     0.9);
    if (p->table && compared)
        str_printf(p->table, "\nGeometric mean against templates: %.2f (wanted: 0.9), on %s.\n",
                   pow(product, 1.0 / compared), p->device->name);
}

int main(int argc, char **argv)
{
    struct plan p = {.trials = 200, .seeds = 3, .rounds = 7};
    struct str table = {0};
    const struct bench_option options[] = {
        {"trials", &p.trials, 1000000}, {"seeds", &p.seeds, MOST_SEEDS},
        {"rounds", &p.rounds, 1000},    {"problem", &p.problem, PROBLEMS},
        {"db", NULL, 0, &p.db},         {"page", NULL, 0, &p.page}};
    bench_options(argc, argv, options, 6);
    setenv("LP_NUM_THREADS", "1", 1);
    gpu_prepare_environment();
    find_cpu(&p);
    char *own = p.db ? NULL : mem_printf("%s/bench.db", tuned_folder());
    p.db = own ? own : p.db;
    p.table = p.page ? &table : NULL;
    str_add(&table, "| problem | trials, seeds | of the template's best | of the naive kernel | us "
                    "| us of each seed: template; definition; naive |\n"
                    "|---|---:|---:|---:|---:|---|\n");
    printf("definitions on %s, LP_NUM_THREADS=1, %d trials a seed, %d seeds, %d rounds\n",
           p.device->name, p.trials, p.seeds, p.rounds);
    compare_all(&p);
    if (p.page)
        figure_doc_fill_one(p.page, "generated.md", str_text(p.table));
    else
        report_costs(&p);
    str_finish(&table);
    free(own);
    free(p.list);
    return EXIT_SUCCESS;
}
