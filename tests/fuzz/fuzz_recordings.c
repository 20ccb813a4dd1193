// Recorded spaces, in all formats: what can be read has a best, can be found, and comes back the
// same from our own format.
#include "harness.h"

#include "record/record.h"

enum { MOST_POINTS = 64 };

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

// A T1 input has conditions, in Python, and no entries.
static void judge(const struct space *space)
{
    for (uint64_t i = 0; i < space->size && i < MOST_POINTS; i++) {
        struct config c;
        struct verdict v;
        struct err e;
        space_point(space, i, &c);
        space_judge(space, &limits_vulkan_minimum, &c, &v, &e);
    }
}

static void check_entries(const struct recording *r)
{
    for (int i = 0; i < r->count; i++) {
        struct config c;
        config_set_get(&r->configs, i, &c);
        must(recording_find(r, &c) == &r->entry[i], "an entry is found by its configuration");
    }
}

static void check_written(const struct recording *r)
{
    struct recording *again;
    struct err e;
    const char *path = fuzz_file(NULL, 0);
    must(recording_write(r, "tilewalk", path, &e), "what was read can be written");
    must(recording_read(path, &again, &e), "what was written can be read");
    must(again->count == r->count && again->best == r->best, "it comes back as it was");
    recording_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct recording *r;
    struct err e;
    if (!recording_read(fuzz_file(data, size), &r, &e))
        return 0;
    check_entries(r);
    if (r->count)
        check_written(r);
    else
        judge(r->space);
    recording_destroy(r);
    return 0;
}
