// The part of prove that asks whether the same kernel takes the same time: after idle, hot, in
// another process, with several workers; and whether the device's clock agrees with the host's.
#include "base/file.h"
#include "base/median.h"
#include "cli/common.h"
#include "cli/prove.h"
#include "engine/sample.h"
#include "trial/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CANDIDATES = 3, HOT_RUNS = 2, WORKERS_OF_GPU = 4, WORKERS_OF_CPU = 2, MOST_ROWS = 8 };

static const struct prove_problem timed = {
    "gemm",
    "gemm f32",
    {{"N", "128"}, {"M", "128"}, {"K", "128"}},
    {{"N", "1024"}, {"M", "1024"}, {"K", "1024"}},
    false,
};

#define IDLE_S_OF_GPU 3.0 // clocks have fallen by then
#define IDLE_S_OF_CPU 0.1

struct row {
    char name[48];
    double seconds, wall_s;
};

struct timing {
    struct prove *prove;
    struct script *script;
    struct source *pool;
    struct config config;
    struct row row[MOST_ROWS];
    int rows;
};

static bool open_pool(struct timing *t, int workers, struct err *e)
{
    const struct gpu_info *d = &t->prove->device;
    char *program = path_program(), id[33];
    gpu_identity(d, id);
    source_destroy(t->pool);
    t->pool = pool_create(&(struct pool_options){.program = program,
                                                 .device = d->index,
                                                 .device_id = id,
                                                 .workers = workers,
                                                 .operation = script_operation(t->script),
                                                 .reference = script_reference(t->script),
                                                 .limits = &d->limits,
                                                 .seed = t->prove->seed,
                                                 .is_cpu = d->is_cpu,
                                                 .fault = t->prove->fault},
                          e);
    free(program);
    return t->pool != NULL;
}

static bool submit(struct timing *t, const struct config *c, struct err *e)
{
    struct trial_request r = {
        .count = 1, .known_good = true, .accesses = ACCESSES_OF_NONE, .config = {*c}};
    if (!script_render(t->script, c, &r.job[0], e))
        return false;
    source_submit(t->pool, &r);
    return true;
}

static bool run(struct timing *t, const struct config *c, struct trial_result *out, struct err *e)
{
    return submit(t, c, e) && source_wait(t->pool, out, e);
}

// Of a few random kernels the fastest.
static bool choose(struct timing *t, struct err *e)
{
    struct prove *p = t->prove;
    struct rng rng;
    struct trial_result result;
    double best_s = INFINITY;
    char why[TRIAL_REASON_SIZE] = "";
    rng_seed(&rng, p->seed);
    for (int i = 0; i < CANDIDATES && (isinf(best_s) || !prove_is_over(p)); i++) {
        struct config c;
        if (!sample_draw(t->script, &p->device.limits, &rng, &c, e) || !run(t, &c, &result, e))
            return false;
        snprintf(why, sizeof why, "%s", result.reason[0]);
        if (result.outcome[0] != OUTCOME_OK || result.seconds[0] >= best_s)
            continue;
        best_s = result.seconds[0];
        t->config = c;
    }
    return isfinite(best_s) || err_set(e, "no kernel can be timed: %s", why);
}

static bool keep(struct timing *t, const char *name, const struct trial_result *r, struct err *e)
{
    if (r->outcome[0] != OUTCOME_OK)
        return err_set(e, "%s: %s", name, r->reason[0]);
    struct row *row = &t->row[t->rows++];
    snprintf(row->name, sizeof row->name, "%s", name);
    row->seconds = r->seconds[0];
    row->wall_s = r->wall_s;
    return true;
}

static bool run_hot(struct timing *t, const char *name, struct err *e)
{
    struct trial_result result = {0};
    for (int i = 0; i < HOT_RUNS; i++)
        if (!run(t, &t->config, &result, e))
            return false;
    return keep(t, name, &result, e);
}

static bool run_after_idle(struct timing *t, struct err *e)
{
    struct trial_result result;
    const double idle_s = t->prove->device.is_cpu ? IDLE_S_OF_CPU : IDLE_S_OF_GPU;
    nanosleep(&(struct timespec){.tv_sec = (time_t)idle_s,
                                 .tv_nsec = (long)((idle_s - floor(idle_s)) * 1e9)},
              NULL);
    return run(t, &t->config, &result, e) && keep(t, "after idle", &result, e);
}

static bool run_among_others(struct timing *t, struct err *e)
{
    int workers = t->prove->device.is_cpu ? WORKERS_OF_CPU : WORKERS_OF_GPU;
    struct trial_result result;
    double seconds[WORKERS_OF_GPU];
    char name[48];
    if (!open_pool(t, workers, e))
        return false;
    for (int i = 0; i < workers; i++)
        if (!submit(t, &t->config, e))
            return false;
    for (int i = 0; i < workers; i++) {
        if (!source_wait(t->pool, &result, e))
            return false;
        seconds[i] = result.seconds[0];
        if (result.outcome[0] != OUTCOME_OK)
            return keep(t, "with several workers", &result, e);
    }
    snprintf(name, sizeof name, "with %d workers", workers);
    result.seconds[0] = median_of(seconds, workers);
    return keep(t, name, &result, e);
}

static bool measure(struct timing *t, struct err *e)
{
    t->script = prove_load(t->prove, &timed, e);
    return t->script && open_pool(t, 1, e) && choose(t, e) && run_hot(t, "hot", e) &&
           run_after_idle(t, e) && open_pool(t, 1, e) && run_hot(t, "in another process", e) &&
           run_among_others(t, e);
}

static void add_rows(struct timing *t)
{
    struct prove *p = t->prove;
    char time[32], wall[32];
    json_begin_list(&p->json, "runs");
    str_add(&p->page, "| the same kernel | a run | unlike hot | by the host's clock |\n"
                      "|---|---:|---:|---:|\n");
    for (int i = 0; i < t->rows; i++) {
        const struct row *r = &t->row[i];
        double off = r->seconds / t->row[0].seconds - 1;
        p->unsteady = i ? fmax(p->unsteady, fabs(off)) : 0;
        str_printf(&p->page, "| %s | %s | %+.1f %% | %s |\n", r->name, text_time(r->seconds, time),
                   100 * off, r->wall_s > 0 ? text_time(r->wall_s, wall) : "-");
        json_begin_object(&p->json, NULL);
        json_add_text(&p->json, "name", r->name);
        json_add_real(&p->json, "seconds", r->seconds);
        json_add_real(&p->json, "wall_seconds", r->wall_s > 0 ? r->wall_s : NAN);
        json_end(&p->json);
    }
    json_end(&p->json);
}

bool prove_timing(struct prove *p, struct err *e)
{
    struct timing t = {.prove = p};
    bool ok = measure(&t, e);
    add_rows(&t);
    source_destroy(t.pool);
    script_destroy(t.script);
    return ok;
}
