#include "curves.h"

#include "base/mem.h"
#include "base/str.h"
#include "bench.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SETTINGS = 8, MOST_WORDS = 17 + 2 * MOST_SETTINGS + 1 };

int64_t curve_tune(const char *db, const struct tuning *t)
{
    char *seed = mem_printf("%d", t->seed), *budget = mem_printf("%d", t->trials);
    const char *words[MOST_WORDS] = {"tune",
                                     t->space,
                                     "--json",
                                     "--strategy",
                                     t->strategy,
                                     "--trials",
                                     budget,
                                     "--seed",
                                     seed,
                                     "--db",
                                     db,
                                     "--transfer",
                                     t->transfer ? t->transfer : "none"};
    int count = 13;
    if (t->source) {
        words[count++] = "--source";
        words[count++] = t->source;
        words[count++] = "--device";
        words[count++] = "none";
    }
    for (int i = 0; t->set && i < MOST_SETTINGS && t->set[i]; i++) {
        words[count++] = "--set";
        words[count++] = t->set[i];
    }
    struct bench_child child;
    int64_t session = 0;
    char *line = NULL;
    size_t capacity = 0;
    bench_start(&child, words);
    while (getline(&line, &capacity, child.out) > 0) {
        cJSON *event = cJSON_Parse(line);
        if (str_equal(bench_text(event, "event"), "end"))
            session = (int64_t)bench_number(event, "session");
        cJSON_Delete(event);
    }
    bench_end(&child);
    free(line);
    free(seed);
    free(budget);
    return session;
}

void curve_read(const char *db, int64_t session, struct curve *out)
{
    char *id = mem_printf("%d", (int)session);
    cJSON *shown = bench_json(
        (const char *const[]){"show", id, "--db", db, "--json", "--sort", "number", NULL});
    const cJSON *trial;
    double best = INFINITY;
    out->count = 0;
    cJSON_ArrayForEach(trial, cJSON_GetObjectItem(shown, "trials"))
    {
        if (str_equal(bench_text(trial, "outcome"), "ok"))
            best = fmin(best, bench_number(trial, "ms"));
        if (out->count == CURVE_MOST_TRIALS)
            break;
        out->best[out->count] = best;
        out->at_s[out->count++] = bench_number(trial, "elapsed_s");
    }
    cJSON_Delete(shown);
    free(id);
}

int curve_reached(const struct curve *c, double ms)
{
    int i = 0;
    while (i < c->count && c->best[i] > ms)
        i++;
    return i + 1;
}
