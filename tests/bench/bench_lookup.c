// bench lookup: what a lookup in a table of tuned kernels costs a program (tilewalk_tuned.h), in
// CPU time beside that of the calibration loop.
#include "base/mem.h"
#include "base/os.h"
#include "base/rng.h"
#include "base/str.h"
#include "bench.h"
#include "export/reader/tilewalk_tuned.h"

#include <unistd.h>

enum { LOOKUPS = 400000, SHAPES = 1024 };

static const char *const devices[] = {"Card 1", "Card 2", "Card 3", "Card 4"};

static void read_made_up(struct tilewalk_tuned *t, int entries, struct rng *r)
{
    struct str text = {0};
    char why[160];
    str_add(&text, "{\"format\": \"tilewalk-table\", \"version\": 1, \"entries\": [");
    for (int i = 0; i < entries; i++)
        str_printf(&text,
                   "%s\n{\"problem\": {\"kind\": \"matmul\", \"N\": %d, \"M\": %d, \"K\": %d, "
                   "\"type\": \"%s\", \"layout\": \"nn\"}, \"configuration\": {\"a\": 1}, "
                   "\"device\": \"%s\", \"driver\": \"Maker, 1\", \"device_identity\": \"%d\", "
                   "\"timing\": {\"ms\": 1, \"tflops\": 1}}",
                   i ? "," : "", 1 + (int)rng_below(r, 4096), 1 + (int)rng_below(r, 4096),
                   1 + (int)rng_below(r, 4096), i % 2 ? "f32" : "f16", devices[i / 2 % 4], i);
    str_add(&text, "]}");
    if (!tilewalk_tuned_read(t, str_text(&text), text.length, why, sizeof why))
        bench_fail(why, NULL);
    str_finish(&text);
}

int main(int argc, char **argv)
{
    int entries = 1000;
    const struct bench_option options[] = {{"entries", &entries, 100000, NULL}};
    struct tilewalk_device device = {"Card 2", "Maker, 1", {0}};
    struct tilewalk_tuned t;
    struct rng r;
    int64_t(*shape)[3] = mem_zero(SHAPES, sizeof *shape), sum = 0;
    bench_options(argc, argv, options, 1);
    rng_seed(&r, 1);
    read_made_up(&t, entries, &r);
    for (int i = 0; i < SHAPES; i++)
        for (int k = 0; k < 3; k++)
            shape[i][k] = 1 + (int64_t)rng_below(&r, 4096);
    int64_t start = os_process_cpu_ns(getpid());
    for (int i = 0; i < LOOKUPS; i++) {
        const int64_t *s = shape[i % SHAPES];
        const struct tilewalk_member m[] = {{"N", NULL, s[0]},
                                            {"M", NULL, s[1]},
                                            {"K", NULL, s[2]},
                                            {"type", "f32", 0},
                                            {"layout", "nn", 0}};
        sum += tilewalk_tuned_find(&t, "matmul", m, 5, &device, NULL).distance;
    }
    double ns = (double)(os_process_cpu_ns(getpid()) - start) / LOOKUPS;
    printf("%d entries, of which %d are compared; calibration loop: %.2f ns a step\n", entries,
           entries / 2, bench_step_ns());
    bench_figure("a lookup, CPU time", ns, sum ? "ns" : "", UNDER, 1000);
    tilewalk_tuned_free(&t);
    free(shape);
    return 0;
}
