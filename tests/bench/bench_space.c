// bench space: how many random points of `mm1` and `gemm` does each device here reject, and why?
//
// A reason's share is that of the points which it alone would remove: one point may have several
// reasons. There is no target; the figures say how cheap proposing has to be.
#include "base/mem.h"
#include "bench.h"

#include <stdlib.h>

static void print_reasons(const cJSON *answer, const char *kind, const char *title)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(answer, kind))
    {
        double share = 100 * bench_number(item, "removes");
        if (share > 0)
            printf("  %-10s  %-32s %6.2f %%\n", title, bench_text(item, "name"), share);
    }
}

static void judge(const char *preset, const cJSON *device, int samples)
{
    char *index = mem_printf("%.0f", bench_number(device, "index"));
    char *count = mem_printf("%d", samples);
    cJSON *answer = bench_json((const char *const[]){"check", preset, "--json", "--device", index,
                                                     "--samples", count, NULL});
    printf("%s on %s: %.2f %% rejected of %.0f %s points of %s\n", preset,
           bench_text(device, "name"), 100 * (1 - bench_number(answer, "valid_fraction")),
           bench_number(answer, "samples"),
           cJSON_IsTrue(cJSON_GetObjectItem(answer, "exact")) ? "different" : "random",
           bench_text(answer, "size"));
    print_reasons(answer, "constraints", "constraint");
    print_reasons(answer, "limits", "limit");
    cJSON_Delete(answer);
    free(count);
    free(index);
}

int main(int argc, char **argv)
{
    static const char *const presets[] = {"mm1", "gemm"};
    int samples = 20000;
    const struct bench_option options[] = {{"samples", &samples, 100000000}};
    bench_options(argc, argv, options, 1);
    cJSON *answer = bench_json((const char *const[]){"devices", "--json", NULL}), *device;
    const cJSON *devices = cJSON_GetObjectItem(answer, "devices");
    if (cJSON_GetArraySize(devices) == 0)
        bench_skip("no Vulkan device");
    cJSON_ArrayForEach(device, devices)
    {
        for (int i = 0; i < 2; i++)
            judge(presets[i], device, samples);
    }
    cJSON_Delete(answer);
    return EXIT_SUCCESS;
}
