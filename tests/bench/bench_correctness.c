// bench correctness: many random operations and configurations of every preset, type, layout and
// the like, each compared in full with the reference. The goal is that none is wrong, and that the
// validation layer, where it is installed, says nothing.
#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"
#include "bench.h"
#include "cell.h"
#include "gpu/gpu.h"
#include "kernel/kernel.h"
#include "proof.h"

#include <stdlib.h>

struct plan {
    int count, seed, device, statements, cell; // device, cell: from 1; 0: the first; all
    bool validated;
    const struct gpu_info *info;
    struct gpu *gpu;
    struct limits limits;
};

struct tally {
    int right, wrong, failed;
};

static void complain(const struct str *what, const char *word, const struct err *e)
{
    char message[1400];
    printf("  %s: %s: %s\n", word, str_text(what), err_format(e, message, sizeof message));
    fflush(stdout);
}

// A CPU device also gets the spaces that presets have for GPUs.
static const char *device_type(const struct plan *p, int i)
{
    return p->info->is_cpu && i % 2 ? "discrete" : p->info->type;
}

static void try_one(const struct plan *p, const struct cell *cell, int i, struct rng *r,
                    struct tally *t)
{
    struct str what = {0};
    struct config c;
    struct err e;
    bool wrong = false;
    str_printf(&what, "%s on %s:", cell->preset, device_type(p, i));
    struct script *s = cell_draw(cell, device_type(p, i), &p->limits, r, &what, &e);
    bool ok = s && cell_sample(s, &p->limits, r, &c, &e);
    if (ok) {
        str_add(&what, " ");
        config_add_json(script_space(s), &c, &what);
        ok = proof_run(p->gpu, s, &c, (uint64_t)i + 1, &wrong, &e);
    }
    if (!ok)
        complain(&what, wrong ? "WRONG" : "FAILED", &e);
    t->right += ok;
    t->wrong += wrong;
    t->failed += !ok && !wrong;
    script_destroy(s);
    str_finish(&what);
}

static void try_cell(const struct plan *p, const struct cell *cell, int number, struct tally *all)
{
    struct tally t = {0};
    struct str name = {0};
    struct rng r;
    int64_t start = os_now_ns();
    rng_seed(&r, (uint64_t)p->seed * 1000 + (uint64_t)number);
    for (int i = 0; i < p->count; i++)
        try_one(p, cell, i, &r, &t);
    cell_add_text(cell, &name);
    printf("| %d | %s | %d | %d | %d | %.0f |\n", number, str_text(&name), t.right, t.wrong,
           t.failed, (double)(os_now_ns() - start) / 1e9);
    fflush(stdout);
    all->right += t.right;
    all->wrong += t.wrong;
    all->failed += t.failed;
    str_finish(&name);
}

static void open_device(struct plan *p)
{
    struct err e, ignored;
    p->gpu = gpu_open(p->device ? p->device - 1 : 0, true, &ignored);
    p->validated = p->gpu != NULL;
    if (!p->gpu)
        p->gpu = gpu_open(p->device ? p->device - 1 : 0, false, &e);
    if (!p->gpu)
        bench_fail("device", &e);
    p->info = gpu_get_info(p->gpu);
    p->limits = p->info->limits;
    if (p->info->is_cpu)
        p->limits.statements = (uint32_t)p->statements;
}

static void need_a_device(void)
{
    struct err e;
    struct gpu_info *list = NULL;
    int count = 0;
    bool listed = gpu_list(&list, &count, &e);
    free(list);
    if (!listed || !count)
        bench_skip("no Vulkan device");
}

int main(int argc, char **argv)
{
    struct plan p = {.count = 200, .seed = 1, .statements = 300};
    struct cells cells;
    struct tally all = {0};
    struct err e;
    const struct bench_option options[] = {{"count", &p.count, 1000000},
                                           {"seed", &p.seed, 1000000},
                                           {"device", &p.device, 100},
                                           {"statements", &p.statements, 20000},
                                           {"cell", &p.cell, 1000}};
    bench_options(argc, argv, options, 5);
    setenv("TILEWALK_DATA", TILEWALK_BENCH_DATA, 0); // presets of the source tree
    gpu_prepare_environment();
    need_a_device();
    kernel_setup();
    open_device(&p);
    if (!cells_list(&p.limits, &cells, &e))
        bench_fail("presets", &e);
    printf("%d configurations of each on %s, validation layer %s\n\n", p.count, p.info->name,
           p.validated ? "on" : "not installed");
    printf("| | preset | right | wrong | failed | s |\n|---:|---|---:|---:|---:|---:|\n");
    for (int i = 0; i < cells.count; i++)
        if (!p.cell || p.cell == i + 1)
            try_cell(&p, &cells.cell[i], i + 1, &all);
    printf("\n%d right, %d wrong, %d failed; %d messages of the validation layer\n", all.right,
           all.wrong, all.failed, gpu_validation_messages(p.gpu));
    bool good = !all.wrong && !all.failed && !gpu_validation_messages(p.gpu);
    cells_finish(&cells);
    gpu_close(p.gpu);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
