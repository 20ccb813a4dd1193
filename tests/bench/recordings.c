#include "recordings.h"

#include "base/file.h"
#include "bench.h"
#include "spaces.h"
#include "trial/source.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RECORDINGS = 64 };

static int by_name(const void *a, const void *b)
{
    const struct recording *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static bool counts(const struct recording *r)
{
    bool twin = str_equal(r->format, "t4") || str_equal(r->format, "ktt");
    return r->count > 0 && !twin;
}

struct recording **recordings_read(const char *folder, int *count)
{
    struct err e;
    struct recording **out = mem_zero(MOST_RECORDINGS, sizeof(struct recording *));
    DIR *d = opendir(folder);
    if (!d)
        bench_fail("a folder of recordings cannot be read", NULL);
    *count = 0;
    for (const struct dirent *entry; (entry = readdir(d)) && *count < MOST_RECORDINGS;) {
        struct recording *r;
        if (!strstr(entry->d_name, ".json"))
            continue;
        char *path = path_join(folder, entry->d_name);
        if (!recording_read(path, &r, &e))
            bench_fail("no recording", &e);
        free(path);
        if (counts(r))
            out[(*count)++] = r;
        else
            recording_destroy(r);
    }
    closedir(d);
    if (*count == 0)
        bench_fail("no recordings are there", NULL);
    qsort(out, (size_t)*count, sizeof *out, by_name);
    return out;
}

// Takes the space.
static struct recording *make_up(const char *name, const char *landscape, struct space *space)
{
    struct err e;
    struct recording *r = recording_create(name, "tilewalk");
    struct source *source = synthetic_create(landscape, space, 1, 1, &e);
    if (!source || !recording_add_params(r, space, &e) || !recording_seal_space(r, &e))
        bench_fail("no recording", &e);
    for (uint64_t i = 0; i < space->size; i++) {
        struct config c;
        bool was_new;
        struct record_entry entry = {.compile_s = NAN, .benchmark_s = NAN};
        space_point(space, i, &c);
        double quality = synthetic_quality(source, &c, &entry.outcome);
        entry.seconds = entry.outcome == OUTCOME_OK ? 1e-3 / quality : 0;
        recording_add(r, &c, &entry, &was_new);
    }
    if (!recording_finish(r, &e))
        bench_fail("no recording", &e);
    source_destroy(source);
    space_destroy(space);
    return r;
}

static struct recording **make_some(int *count)
{
    struct recording **out = mem_zero(3, sizeof(struct recording *));
    *count = 3;
    out[0] = make_up("bowl", "bowl", space_mm(8, 8, 8));
    out[1] = make_up("rugged", "rugged", space_mm(8, 8, 8));
    out[2] = make_up("failing", "rugged:invalid=0.4", space_mixed());
    return out;
}

struct recording **recordings_gather(int *count)
{
    const char *folder = getenv("TILEWALK_RECORDINGS");
    if (folder && *folder)
        return recordings_read(folder, count);
    printf("TILEWALK_RECORDINGS names no folder of recordings: these are made up.\n");
    return make_some(count);
}

void recordings_forget(struct recording **r, int count)
{
    for (int i = 0; i < count; i++)
        recording_destroy(r[i]);
    free(r);
}
