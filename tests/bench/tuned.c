#include "tuned.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"
#include "bench.h"

#include <dirent.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARGUMENTS = 28 };

// --- the temporary folder ---

static char *temporary; // removed at exit, however the benchmark ends

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void remove_temporary(void)
{
    nftw(temporary, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    free(temporary);
}

const char *tuned_folder(void)
{
    const char *base = getenv("TMPDIR");
    if (temporary)
        return temporary;
    temporary = mem_printf("%s/tilewalk-bench-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(temporary))
        bench_fail(temporary, NULL);
    atexit(remove_temporary);
    return temporary;
}

char *tuned_export_folder(const struct tuned *t)
{
    const char *slash = strrchr(t->preset, '/'); // of a path
    return mem_printf("%s/%s-%d", tuned_folder(), slash ? slash + 1 : t->preset, t->seed);
}

// --- tuning ---

static void take_line(const char *line, struct tuned_run *r)
{
    cJSON *event = cJSON_Parse(line);
    if (str_equal(bench_text(event, "event"), "trial")) {
        r->ok += str_equal(bench_text(event, "outcome"), "ok");
        r->wrong += str_equal(bench_text(event, "outcome"), "wrong");
    } else if (str_equal(bench_text(event, "event"), "end")) {
        r->trials = bench_number(event, "trials");
        r->rejected = bench_number(event, "rejected");
        r->ran_s = bench_number(event, "ran_seconds");
        r->busy_s = bench_number(event, "busy_seconds");
    }
    cJSON_Delete(event);
}

struct tuned_run tuned_make(const struct tuned *t)
{
    struct tuned_run r = {0};
    struct bench_child child;
    char *line = NULL, *out = tuned_export_folder(t),
         *db = mem_printf("%s/bench.db", tuned_folder());
    char *trials = mem_printf("%d", t->trials), *seed = mem_printf("%d", t->seed);
    char *device = mem_printf("%d", t->device);
    const char *words[MOST_ARGUMENTS + 2 * TUNED_MOST_SETTINGS + 1] = {
        "tune", t->preset, "--json", "--trials", trials, "--seed",     seed,  "--device",
        device, "--db",    db,       "--export", out,    "--transfer", "none"};
    int count = 15;
    size_t capacity = 0;
    for (int i = 0; i < TUNED_MOST_SETTINGS && t->set[i]; i++) {
        words[count++] = "--set";
        words[count++] = t->set[i];
    }
    int64_t start = os_now_ns();
    bench_start(&child, words);
    while (getline(&line, &capacity, child.out) > 0)
        take_line(line, &r);
    bench_end(&child);
    r.wall_s = (double)(os_now_ns() - start) / 1e9;
    free(device);
    free(seed);
    free(trials);
    free(db);
    free(out);
    free(line);
    return r;
}

// --- in a race ---

static char *read_file(const char *path)
{
    struct err e;
    char *text;
    if (!file_read(path, &text, NULL, &e))
        bench_fail(path, &e);
    return text;
}

void tuned_add_file(struct race *r, const char *name, const char *path)
{
    char *glsl = read_file(path);
    struct race_pass pass = {.glsl = glsl, .groups = {1, 1, 1}};
    const char *at = strstr(glsl, "// groups:");
    if (!at ||
        sscanf(at, "// groups: %u %u %u", &pass.groups[0], &pass.groups[1], &pass.groups[2]) < 2)
        bench_fail("a kernel without a line '// groups: X Y Z'", NULL);
    race_add(r, name, &pass, 1, 0);
    free(glsl);
}

// The one .json in an export.
static cJSON *read_record(const char *folder)
{
    DIR *d = opendir(folder);
    cJSON *record = NULL;
    for (struct dirent *entry; d && (entry = readdir(d));) {
        const char *end = strrchr(entry->d_name, '.');
        char *path = path_join(folder, entry->d_name);
        if (str_equal(end, ".json") && !record) {
            char *text = read_file(path);
            record = cJSON_Parse(text);
            free(text);
        }
        free(path);
    }
    if (d)
        closedir(d);
    if (!record)
        bench_fail("an export without a record", NULL);
    return record;
}

static uint64_t scratch_of(const cJSON *record)
{
    const cJSON *binding;
    cJSON_ArrayForEach(binding, cJSON_GetObjectItem(record, "bindings"))
    {
        if (str_equal(bench_text(binding, "name"), "scratch"))
            return (uint64_t)bench_number(binding, "bytes");
    }
    return 0;
}

void tuned_add(struct race *r, const char *name, const struct tuned *t)
{
    char *folder = tuned_export_folder(t), *glsl[RACE_MOST_PASSES];
    struct race_pass pass[RACE_MOST_PASSES] = {{0}};
    int passes = 0;
    cJSON *record = read_record(folder), *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(record, "passes"))
    {
        const cJSON *groups = cJSON_GetObjectItem(item, "groups");
        if (passes == RACE_MOST_PASSES || cJSON_GetArraySize(groups) != 3)
            bench_fail("an export with passes that the race does not know", NULL);
        char *path = path_join(folder, bench_text(item, "glsl"));
        pass[passes].glsl = glsl[passes] = read_file(path);
        for (int i = 0; i < 3; i++)
            pass[passes].groups[i] = (uint32_t)cJSON_GetArrayItem(groups, i)->valuedouble;
        pass[passes].once = cJSON_IsTrue(cJSON_GetObjectItem(item, "once"));
        passes++;
        free(path);
    }
    race_add(r, name, pass, passes, scratch_of(record));
    while (passes-- > 0)
        free(glsl[passes]);
    cJSON_Delete(record);
    free(folder);
}
