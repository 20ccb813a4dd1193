// bench spaces: how long does it take to build the legal points of spaces of the kinds that people
// bring, and how much memory, beside Kernel Tuner (its optimised python-constraint)?
//
// The spaces are in tests/bench/spaces, written from public descriptions. With --python PYTHON, an
// interpreter that has kernel_tuner (1.5 was used; the product needs none), both build the same
// spaces in one run, in CPU seconds: starting Python and reading a space file count for neither.
#include "base/mem.h"
#include "bench.h"
#include "script/script.h"
#include "space/legal.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

static const char *const spaces[] = {"hotspot", "dedispersion", "gemm",
                                     "microhh", "linkage",      "xgemm"};

enum { DRAWS = 10000 };

struct built {
    char count[64];
    double seconds, mib, draw_us;
};

static double cpu_s(clock_t since)
{
    return (double)(clock() - since) / CLOCKS_PER_SEC;
}

static struct built build(const char *name)
{
    struct built b = {.count = ""};
    struct err e;
    struct str count = {0};
    struct rng r;
    struct config c;
    char *path = mem_printf("%s/%s.lua", TILEWALK_BENCH_SPACES, name);
    struct script *s = script_create(
        &(struct script_options){.path = path, .device_type = "none", .space_only = true}, &e);
    if (!s)
        bench_fail(name, &e);
    clock_t before = clock();
    struct legal *g = legal_create(script_space(s), NULL);
    if (!legal_build(g, &e))
        bench_fail(name, &e);
    b.seconds = cpu_s(before);
    b.mib = (double)legal_bytes(g) / (1 << 20);
    legal_add_count(g, &count);
    snprintf(b.count, sizeof b.count, "%s%s", legal_is_built(g) ? "" : ">= ", str_text(&count));
    rng_seed(&r, 1);
    before = clock();
    for (int i = 0; i < DRAWS && legal_is_built(g); i++)
        legal_draw(g, &r, &c);
    b.draw_us = 1e6 * cpu_s(before) / DRAWS;
    str_finish(&count);
    legal_destroy(g);
    script_destroy(s);
    free(path);
    return b;
}

// Reads what Kernel Tuner says of the same space.
static struct built build_there(const char *python, const char *name)
{
    struct built b = {.seconds = NAN, .mib = NAN};
    char *command = mem_printf("'%s' '%s/with_kernel_tuner.py' %s 2>/dev/null", python,
                               TILEWALK_BENCH_SPACES, name);
    FILE *out = popen(command, "r");
    if (!out || fscanf(out, "%63s %lf %lf", b.count, &b.seconds, &b.mib) != 3)
        bench_fail("with_kernel_tuner.py failed", NULL);
    pclose(out);
    free(command);
    return b;
}

int main(int argc, char **argv)
{
    const char *python = NULL;
    const struct bench_option options[] = {{.name = "python", .text = &python}};
    bench_options(argc, argv, options, 1);
    printf("%-14s %12s %10s %8s %8s   %12s %10s %8s %8s\n", "space", "legal", "ms", "MiB",
           "us/draw", "legal", "ms", "MiB", "ratio");
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        struct built b = build(spaces[i]);
        printf("%-14s %12s %10.1f %8.1f %8.2f", spaces[i], b.count, 1e3 * b.seconds, b.mib,
               b.draw_us);
        if (python) {
            struct built there = build_there(python, spaces[i]);
            printf("   %12s %10.1f %8.1f %8.1f", there.count, 1e3 * there.seconds, there.mib,
                   there.seconds / b.seconds);
        }
        puts("");
        fflush(stdout);
    }
    return EXIT_SUCCESS;
}
