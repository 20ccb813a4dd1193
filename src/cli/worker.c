// worker: measures for the runs of a pool (fleet/worker.h).
#include "fleet/worker.h"
#include "cli/common.h"
#include "cli/on.h"
#include "engine/devices.h"

#include <stdlib.h>

// None is fine, but not one that was asked for.
static bool find_device(const char *wanted, struct gpu_info **list, const struct gpu_info **out,
                        struct err *e)
{
    int count = 0, index;
    *out = NULL;
    if (wanted && str_equal(wanted, "none"))
        return true;
    if (!devices_find(list, &count, e) || !gpu_choose(*list, count, wanted, &index, e) ||
        !gpu_can_run(&(*list)[index], e))
        return !wanted;
    *out = &(*list)[index];
    return true;
}

static int run_worker(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct gpu_info *list = NULL;
    struct worker_options o = {.workers = (int)arguments_integer(a, "workers", 0)};
    (void)self;
    if (!on_pool_options(a, &o.queue, &e))
        return fail_with(&e, EXIT_USAGE);
    bool ok = find_device(arguments_text(a, "device"), &list, &o.device, &e) && worker_run(&o, &e);
    free(list);
    return ok ? EXIT_OK : fail_with(&e, EXIT_FAILED);
}

static const struct option options[] = {
    OPTION_POOL("the pool, by its server"),
    {"device", OPTION_TEXT, "DEVICE",
     "index or part of a name (default: the best one; see tilewalk devices); none: made-up trials "
     "alone"},
    {"workers", OPTION_INTEGER, "N", "trials at once (default: as fits the device)", 1, 64},
    OPTION_GLSLANG,
    OPTION_SANDBOX,
    OPTION_HELP,
    OPTION_END,
};

const struct command cmd_worker = {
    .name = "worker",
    .help = "measure for the runs of a pool (tune --pool), until it is ended",
    .options = options,
    .run = run_worker,
};
