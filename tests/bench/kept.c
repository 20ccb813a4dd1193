#include "kept.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 17 + 2 * KEPT_MOST_SETTINGS + 1 };

void kept_run(const char *const *words)
{
    struct bench_child child;
    char *line = NULL;
    size_t capacity = 0;
    bench_start(&child, words);
    while (getline(&line, &capacity, child.out) > 0) {
        cJSON *event = cJSON_Parse(line);
        if (strstr(bench_text(event, "text"), " measurements of "))
            printf("    %s\n", bench_text(event, "text"));
        cJSON_Delete(event);
    }
    bench_end(&child);
    free(line);
}

// Whether a problem, as sessions tell it, has what a setting says, "M=256".
static bool has_setting(const cJSON *problem, const char *setting)
{
    const char *value = strchr(setting, '=') + 1;
    char *name = mem_printf("%.*s", (int)(value - setting - 1), setting);
    bool has = strcmp(bench_text(problem, name), value) == 0 ||
               bench_number(problem, name) == strtod(value, NULL);
    free(name);
    return has;
}

int kept_find(const struct kept *k, bool *done)
{
    if (access(k->db, F_OK) != 0)
        return 0;
    cJSON *all = bench_json((const char *const[]){"ls", "--json", "--db", k->db, NULL}), *one;
    char *space = path_stem(k->preset);
    int id = 0;
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(all, "sessions"))
    {
        const cJSON *problem = cJSON_GetObjectItem(one, "problem");
        bool fits =
            strcmp(bench_text(one, "space"), space) == 0 && bench_number(one, "seed") == k->seed;
        for (int i = 0; fits && i < KEPT_MOST_SETTINGS && k->set[i]; i++)
            fits = has_setting(problem, k->set[i]);
        if (fits) {
            id = (int)bench_number(one, "id");
            *done = strcmp(bench_text(one, "state"), "done") == 0 &&
                    bench_number(one, "budget_trials") >= k->trials;
        }
    }
    cJSON_Delete(all);
    free(space);
    return id;
}

static void tune(const struct kept *k, const char *trials)
{
    char *seed = mem_printf("%d", k->seed), *device = mem_printf("%d", k->device);
    const char *words[MOST_WORDS] = {"tune", k->preset, "--json", "--trials",   trials, "--seed",
                                     seed,   "--db",    k->db,    "--transfer", "none"};
    int at = 11;
    if (k->strategy) {
        words[at++] = "--strategy";
        words[at++] = k->strategy;
    }
    if (k->device >= 0) {
        words[at++] = "--device";
        words[at++] = device;
    }
    if (k->also) {
        words[at++] = "--set";
        words[at++] = k->also;
    }
    for (int i = 0; i < KEPT_MOST_SETTINGS && k->set[i]; i++) {
        words[at++] = "--set";
        words[at++] = k->set[i];
    }
    kept_run(words);
    free(seed);
    free(device);
}

int kept_make(const struct kept *k)
{
    bool done = false;
    int id = kept_find(k, &done);
    char *count = mem_printf("%d", k->trials), *number = mem_printf("%d", id);
    if (!id)
        tune(k, count);
    else if (!done)
        kept_run((const char *const[]){"resume", number, "--trials", count, "--json", "--db", k->db,
                                       NULL});
    id = kept_find(k, &done);
    free(count);
    free(number);
    return id;
}
