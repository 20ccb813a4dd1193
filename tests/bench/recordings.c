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

static int read_folder(const char *folder, struct recording **out)
{
    struct err e;
    int count = 0;
    DIR *d = opendir(folder);
    if (!d)
        bench_fail("the folder that TILEWALK_RECORDINGS names cannot be read", NULL);
    for (const struct dirent *entry; (entry = readdir(d)) && count < MOST_RECORDINGS;) {
        struct recording *r;
        if (!strstr(entry->d_name, ".json"))
            continue;
        char *path = path_join(folder, entry->d_name);
        if (!recording_read(path, &r, &e))
            bench_fail("no recording", &e);
        free(path);
        if (counts(r))
            out[count++] = r;
        else
            recording_destroy(r);
    }
    closedir(d);
    qsort(out, (size_t)count, sizeof *out, by_name);
    return count;
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

static int make_some(struct recording **out)
{
    int count = 0;
    out[count++] = make_up("bowl", "bowl", space_mm(8, 8, 8));
    out[count++] = make_up("rugged", "rugged", space_mm(8, 8, 8));
    out[count++] = make_up("failing", "rugged:invalid=0.4", space_mixed());
    return count;
}

struct recording **recordings_gather(int *count)
{
    const char *folder = getenv("TILEWALK_RECORDINGS");
    struct recording **out = mem_zero(MOST_RECORDINGS, sizeof(struct recording *));
    folder = folder && *folder ? folder : NULL;
    if (!folder)
        printf("TILEWALK_RECORDINGS names no folder of recordings: these are made up.\n");
    *count = folder ? read_folder(folder, out) : make_some(out);
    if (*count == 0)
        bench_fail("there are no recordings in the folder that TILEWALK_RECORDINGS names", NULL);
    return out;
}

void recordings_forget(struct recording **r, int count)
{
    for (int i = 0; i < count; i++)
        recording_destroy(r[i]);
    free(r);
}
