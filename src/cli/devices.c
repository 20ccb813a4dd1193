#include "engine/devices.h"
#include "base/file.h"
#include "base/os.h"
#include "cli/common.h"
#include "engine/roof.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// "f32 41.30 TFLOPS, memory 892.1 GB/s, dispatch 3.2 us"
static void print_roof(const struct roof *r)
{
    const char *lead = "   roof       ";
    for (int k = 0; k < ROOF_COUNT; k++) {
        char text[32];
        if (r->rate[k] <= 0)
            continue;
        if (k == ROOF_DISPATCH)
            printf("%sempty dispatch %s", lead, text_time(r->rate[k], text));
        else
            printf("%s%s %s", lead, k == ROOF_BYTES ? "memory" : roof_name((enum roof_kind)k),
                   text_rate(r->rate[k], k == ROOF_BYTES ? WORK_BYTES : WORK_FLOP, text));
        lead = ", ";
    }
    if (*lead == ',')
        printf("\n");
}

static void print_device(const struct gpu_info *d, bool is_default, const struct roof *roof)
{
    struct arena words; // of the driver's
    arena_init(&words);
    printf("%d  %s%s\n", d->index, shown_text(&words, d->name), is_default ? "  (default)" : "");
    printf("   type       %s", d->type);
    if (d->threads)
        printf(", %d thread%s", d->threads, d->threads == 1 ? "" : "s");
    printf("\n   driver     %s\n", shown_text(&words, d->driver));
    arena_finish(&words);
    printf("   workgroup  up to %u invocations, %u x %u x %u\n", d->limits.invocations,
           d->limits.group_size[0], d->limits.group_size[1], d->limits.group_size[2]);
    printf("   groups     up to %u x %u x %u\n", d->limits.group_count[0], d->limits.group_count[1],
           d->limits.group_count[2]);
    printf("   memory     %u KiB shared, buffers up to %" PRIu64 " MiB\n",
           d->limits.shared_bytes / 1024, d->limits.buffer_bytes >> 20);
    printf("   subgroup   %u invocations", d->limits.subgroup_size);
    if (d->limits.subgroup_least < d->limits.subgroup_most)
        printf(", kernels may ask for %u to %u", d->limits.subgroup_least, d->limits.subgroup_most);
    printf("\n");
    printf("   16 bit     %s\n", d->limits.f16 ? "storage and arithmetic" : "no");
    printf("   8 bit      %s\n", d->limits.i8 ? "storage and arithmetic" : "no");
    if (d->limits.loop_trips)
        printf("   loops      cut after %" PRIu64 " iterations of an invocation\n",
               d->limits.loop_trips);
    // Offered by the driver, and usable or not.
    const struct matrix_units *u = &d->limits.matrix;
    struct str text = {0};
    for (int i = 0; i < u->count; i++) {
        str_add(&text, i ? ", " : ": ");
        matrix_shape_add_text(&u->shape[i], &text);
    }
    printf("   matrix     %s%s\n", u->count ? matrix_api_name(u->api) : "no units",
           str_text(&text));
    if (d->matrix_khr.count && u->api != MATRIX_KHR)
        printf("              khr needs a compiler that knows it: name a newer glslang with "
               "--glslang\n");
    str_finish(&text);
    if (!d->runs)
        printf("   runs       nothing: kernels can be compiled (check --compile), not tuned\n");
    else if (!d->timestamps)
        printf("   time       no timestamps: measured with the host's clock\n");
    print_roof(roof);
}

static bool measure_roofs(const struct arguments *a, const struct gpu_info *list, int count,
                          struct roof *roof, struct err *e)
{
    struct store *s = common_open(a, STORE_WRITE, e);
    bool ok = s != NULL;
    for (int i = 0; ok && i < count; i++)
        ok = !list[i].runs || roof_measure(s, &list[i], &roof[i], e);
    store_close(s);
    return ok;
}

// Of a database that cannot be read none is.
static void read_roofs(const struct arguments *a, const struct gpu_info *list, int count,
                       struct roof *roof)
{
    char *path = common_database(a);
    struct store *s = file_exists(path) ? store_open(path, STORE_READ, NULL) : NULL;
    bool found;
    for (int i = 0; s && i < count; i++)
        roof_find(s, &list[i], &roof[i], &found, NULL);
    store_close(s);
    free(path);
}

static int run_devices(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct gpu_info *list = NULL;
    int count = 0, best = -1;
    (void)self;
    if (!devices_find(&list, &count, &e))
        return fail_with(&e, EXIT_FAILED);
    if (!gpu_choose(list, count, NULL, &best, NULL))
        best = -1; // there is none that runs anything
    struct roof *roof = mem_zero((size_t)count + 1, sizeof *roof);
    bool measures = arguments_flag(a, "roof");
    bool ok = !measures || measure_roofs(a, list, count, roof, &e);
    if (!measures)
        read_roofs(a, list, count, roof);
    if (ok && arguments_flag(a, "json")) {
        struct str out = {0};
        struct json_writer w = json_begin(&out);
        json_begin_list(&w, "devices");
        for (int i = 0; i < count; i++)
            json_device(&w, &list[i], &roof[i]);
        json_end(&w);
        if (best >= 0)
            json_add_int(&w, "default", list[best].index);
        else
            json_add_null(&w, "default");
        json_print(&w);
    } else if (ok) {
        for (int i = 0; i < count; i++) {
            printf("%s", i ? "\n" : "");
            print_device(&list[i], i == best, &roof[i]);
        }
        char limits[OS_LIMITS_SIZE];
        const char *low = os_low_limits(limits);
        if (!count)
            printf("no Vulkan device%s%s (tilewalk doctor says how to get one)\n",
                   *low ? ", perhaps because " : "", low);
    }
    free(roof);
    free(list);
    return ok ? EXIT_OK : fail_with(&e, EXIT_FAILED);
}

static const struct option options[] = {
    {"roof", OPTION_FLAG, NULL,
     "measure what each device can do at most: arithmetic of each type, memory, an empty "
     "dispatch; it is kept in the database"},
    OPTION_GLSLANG,
    OPTION_JSON,
    OPTION_DB,
    OPTION_HELP,
    OPTION_END};

const struct command cmd_devices = {
    .name = "devices",
    .help = "list the Vulkan devices, their drivers and limits, and measure their roofs",
    .options = options,
    .run = run_devices,
};
