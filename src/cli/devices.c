#include "engine/devices.h"
#include "base/os.h"
#include "cli/common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_json(const struct gpu_info *list, int count, int best)
{
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    json_begin_list(&w, "devices");
    for (int i = 0; i < count; i++)
        json_device(&w, &list[i]);
    json_end(&w);
    if (best >= 0)
        json_add_int(&w, "default", list[best].index);
    else
        json_add_null(&w, "default");
    json_print(&w);
}

static void print_limits(const struct limits *l)
{
    printf("   workgroup  up to %u invocations, %u x %u x %u\n", l->invocations, l->group_size[0],
           l->group_size[1], l->group_size[2]);
    printf("   groups     up to %u x %u x %u\n", l->group_count[0], l->group_count[1],
           l->group_count[2]);
    printf("   memory     %u KiB shared, buffers up to %" PRIu64 " MiB\n", l->shared_bytes / 1024,
           l->buffer_bytes >> 20);
    printf("   subgroup   %u invocations", l->subgroup_size);
    if (l->subgroup_least < l->subgroup_most)
        printf(", kernels may ask for %u to %u", l->subgroup_least, l->subgroup_most);
    printf("\n");
    printf("   16 bit     %s\n", l->f16 ? "storage and arithmetic" : "no");
    printf("   8 bit      %s\n", l->i8 ? "storage and arithmetic" : "no");
    if (l->loop_trips)
        printf("   loops      cut after %" PRIu64 " iterations of an invocation\n", l->loop_trips);
}

// Offered by the driver, and usable or not.
static void print_matrix(const struct gpu_info *d)
{
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
}

static void print_device(const struct gpu_info *d, bool is_default)
{
    struct arena words; // of the driver's
    arena_init(&words);
    printf("%d  %s%s\n", d->index, shown_text(&words, d->name), is_default ? "  (default)" : "");
    printf("   type       %s", d->type);
    if (d->threads)
        printf(", %d thread%s", d->threads, d->threads == 1 ? "" : "s");
    printf("\n   driver     %s\n", shown_text(&words, d->driver));
    arena_finish(&words);
    print_limits(&d->limits);
    print_matrix(d);
    if (!d->runs)
        printf("   runs       nothing: kernels can be compiled (check --compile), not tuned\n");
    else if (!d->timestamps)
        printf("   time       no timestamps: measured with the host's clock\n");
}

static void print_text(const struct gpu_info *list, int count, int best)
{
    for (int i = 0; i < count; i++) {
        printf("%s", i ? "\n" : "");
        print_device(&list[i], i == best);
    }
    char limits[OS_LIMITS_SIZE];
    const char *low = os_low_limits(limits);
    if (!count)
        printf("no Vulkan device%s%s (tilewalk doctor says how to get one)\n",
               *low ? ", perhaps because " : "", low);
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
    if (arguments_flag(a, "json"))
        print_json(list, count, best);
    else
        print_text(list, count, best);
    free(list);
    return EXIT_OK;
}

static const struct option options[] = {OPTION_GLSLANG, OPTION_JSON, OPTION_HELP, OPTION_END};

const struct command cmd_devices = {
    .name = "devices",
    .help = "list the Vulkan devices, their drivers and limits",
    .options = options,
    .run = run_devices,
};
