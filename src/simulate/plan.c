#include "simulate/plan.h"

#include <stdlib.h>
#include <string.h>

static bool read_recordings(const struct simulate_words *words, struct simulate_plan *p,
                            struct err *e)
{
    p->recording = mem_zero((size_t)words->paths + 1, sizeof *p->recording);
    for (int i = 0; i < words->paths; i++) {
        struct recording *r;
        if (!recording_read(words->path[i], &r, e))
            return false;
        p->recording[p->recordings++] = r;
        if (r->count == 0)
            return err_at(e, r->path, 0, "only declarations, no recorded times: nothing to replay");
        if (words->costs_for && !recording_has_costs(r))
            return err_at(e, r->path, 0,
                          "neither compile nor benchmark times are recorded, which %s needs",
                          words->costs_for);
    }
    return true;
}

bool simulate_plan_make(const struct simulate_words *words, struct simulate_plan *out,
                        struct err *e)
{
    *out = (struct simulate_plan){.count = 0};
    if (!spec_list_parse(words->strategies, strategy_canonical, &out->strategy, &out->strategies,
                         e) ||
        !read_recordings(words, out, e))
        return false;
    out->list = mem_zero((size_t)(out->recordings * out->strategies), sizeof *out->list);
    for (int i = 0; i < out->recordings; i++)
        for (int k = 0; k < out->strategies; k++)
            out->list[out->count++] = (struct simulation){
                .recording = out->recording[i],
                .strategy = out->strategy[k],
                .trials = words->trials,
                .repeats = words->repeats,
                .seed = words->seed,
                .noise = words->noise,
            };
    return true;
}

void simulate_plan_finish(struct simulate_plan *p)
{
    for (int i = 0; i < p->count; i++)
        simulation_finish(&p->list[i]);
    for (int i = 0; i < p->recordings; i++)
        recording_destroy(p->recording[i]);
    for (int i = 0; i < p->strategies; i++)
        free(p->strategy[i]);
    free(p->list);
    free(p->recording);
    free(p->strategy);
    *p = (struct simulate_plan){.count = 0};
}
