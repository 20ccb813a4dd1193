// devices: the Vulkan devices of this machine.
#include "engine/devices.h"
#include "base/file.h"
#include "base/os.h"
#include "cli/common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// Prints what VK_NV_cooperative_matrix2 adds, and the sizes whose multiples are matrices.
static void print_matrix2(const struct limits *l)
{
    struct str text = {0};
    for (int i = 0; i < MATRIX2_COUNT; i++)
        if (l->features & (unsigned)FEATURE_MATRIX2 << i)
            str_printf(&text, " %s", limits_matrix2[i]);
    if (text.length)
        printf("   matrix2   %s, up to %u rows%s\n", str_text(&text), l->matrix_size,
               l->flexible.count ? "" : ", of no size");
    for (int i = 0; i < l->flexible.count; i++) {
        struct str shape = {0};
        matrix_shape_add_text(&l->flexible.shape[i], &shape);
        printf("%s%s", i ? ", " : "              multiples of ", str_text(&shape));
        str_finish(&shape);
    }
    if (l->flexible.count)
        printf("\n");
    str_finish(&text);
}

static void print_device(const struct gpu_info *d, bool is_default, const struct roofline *roofline)
{
    struct arena words; // escaped texts of the driver
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
    printf("   types     ");
    for (enum element e = 0; e < ELEMENT_COUNT; e++)
        if (limits_has_type(&d->limits, e))
            printf(" %s", element_name(e));
    printf("\n");
    if (d->limits.loop_trips)
        printf("   loops      cut after %" PRIu64 " iterations of an invocation\n",
               d->limits.loop_trips);
    const struct matrix_units *u = &d->limits.matrix;
    struct str text = {0};
    for (int i = 0; i < u->count; i++) {
        str_add(&text, i ? ", " : ": ");
        matrix_shape_add_text(&u->shape[i], &text);
    }
    printf("   matrix     %s%s%s\n", u->count ? matrix_api_name(u->api) : "no units",
           u->count && d->is_cpu ? " (emulated)" : "", str_text(&text));
    if (d->matrix_khr.count && u->api != MATRIX_KHR)
        printf("              khr needs a compiler that knows it: name a newer glslang with "
               "--glslang\n");
    for (enum element e = 0; u->api == MATRIX_KHR && e < ELEMENT_COUNT; e++)
        if (matrix_units_have(&d->matrix_khr, e) && !matrix_units_have(u, e))
            printf("              %s needs a compiler that knows %s: name a newer glslang with "
                   "--glslang\n",
                   element_name(e), element_floats[e].extension);
    str_finish(&text);
    print_matrix2(&d->limits);
    if (!d->runs)
        printf("   runs       nothing: kernels can be compiled (check --compile), not tuned\n");
    else if (!d->timestamps)
        printf("   time       no timestamps: measured with the host's clock\n");
    // Prints "f32 41.30 TFLOPS, memory 892.1 GB/s, dispatch 3.2 us".
    const char *lead = "   roofline   ";
    for (int k = 0; k < ROOFLINE_COUNT; k++) {
        char value[32];
        if (roofline->rate[k] <= 0)
            continue;
        if (k == ROOFLINE_DISPATCH)
            printf("%sempty dispatch %s", lead, text_time(roofline->rate[k], value));
        else
            printf(
                "%s%s %s%s", lead,
                k == ROOFLINE_BYTES ? "memory" : roofline_name((enum roofline_kind)k),
                text_rate(roofline->rate[k], k == ROOFLINE_BYTES ? WORK_BYTES : WORK_FLOP, value),
                roofline_note(roofline, (enum roofline_kind)k));
        lead = ", ";
    }
    if (*lead == ',')
        printf("\n");
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
        best = -1; // none runs kernels
    struct roofline *roofline = mem_zero((size_t)count + 1, sizeof *roofline);
    // Reads the rooflines, or measures and stores them.
    bool measures = arguments_flag(a, "roof"), ok = true, found;
    char *path = common_database(a);
    struct store *s = measures            ? common_open(a, STORE_WRITE, &e)
                      : file_exists(path) ? store_open(path, STORE_READ, NULL)
                                          : NULL;
    for (int i = 0; s && ok && i < count; i++)
        if (!measures)
            peak_find(s, &list[i], &roofline[i], &found, NULL);
        else
            ok = !list[i].runs || peak_measure(s, &list[i], &roofline[i], &e);
    ok = ok && (s || !measures); // a database that cannot be read has no rooflines
    store_close(s);
    free(path);
    if (ok && arguments_flag(a, "json")) {
        struct str out = {0};
        struct json_writer w = json_begin(&out);
        json_begin_list(&w, "devices");
        for (int i = 0; i < count; i++) {
            char id[33];
            gpu_identity(&list[i], id);
            json_begin_object(&w, NULL);
            json_add_int(&w, "index", list[i].index);
            json_add_text_if_any(&w, "identity", id);
            json_add_text_if_any(&w, "pci", list[i].pci);
            json_device_facts(&w, &list[i]);
            json_add_name(&w, "roof");
            roofline_add_json(&roofline[i], &out);
            json_end(&w);
        }
        json_end(&w);
        if (best >= 0)
            json_add_int(&w, "default", list[best].index);
        else
            json_add_null(&w, "default");
        json_print(&w);
    } else if (ok) {
        for (int i = 0; i < count; i++) {
            printf("%s", i ? "\n" : "");
            print_device(&list[i], i == best, &roofline[i]);
        }
        char limits[OS_LIMITS_SIZE];
        const char *low = os_low_limits(limits);
        if (!count)
            printf("no Vulkan device%s%s (tilewalk doctor lists ways to get one)\n",
                   *low ? ", perhaps because " : "", low);
    }
    free(roofline);
    free(list);
    return common_exit(ok, &e);
}

static const struct option options[] = {
    {"roof", OPTION_FLAG, NULL,
     "measure the peak rates of each device and store them in the database"},
    OPTION_GLSLANG,
    OPTION_JSON,
    OPTION_DB,
    OPTION_END};

const struct command cmd_devices = {
    .name = "devices",
    .help = "list the Vulkan devices, their drivers and limits, and measure their rooflines",
    .options = options,
    .run = run_devices,
};
