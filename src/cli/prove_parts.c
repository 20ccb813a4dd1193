// The parts of prove.
#include "base/file.h"
#include "base/number.h"
#include "base/os.h"
#include "cli/check.h"
#include "cli/common.h"
#include "cli/prove.h"
#include "engine/cell.h"
#include "engine/devices.h"
#include "engine/sample.h"
#include "export/export.h"
#include "report/text.h"
#include "trial/helper_job.h"
#include "trial/source.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

// --- problems ---

// A problem that is tuned, compiled and timed, with its sizes on CPU devices and on others.
struct problem {
    const char *preset, *name;
    struct setting on_cpu[8], on_gpu[8];
    bool needs_f16;
};

#define CUBE(type, n)                                                                              \
    {                                                                                              \
        {"type", type}, {"N", n}, {"M", n},                                                        \
        {                                                                                          \
            "K", n                                                                                 \
        }                                                                                          \
    }
#define IMAGE(batch, channels, size)                                                               \
    {                                                                                              \
        {"batch", batch}, {"in_channels", channels}, {"out_channels", channels}, {"height", size}, \
            {"width", size},                                                                       \
        {                                                                                          \
            "padding", "1"                                                                         \
        }                                                                                          \
    }
#define CHANNELS(batch, channels, size)                                                            \
    {                                                                                              \
        {"batch", batch}, {"channels", channels}, {"height", size}, {"width", size},               \
        {                                                                                          \
            "padding", "1"                                                                         \
        }                                                                                          \
    }

static const struct problem problems[PROVE_PROBLEMS] = {
    {"gemm", "gemm-f32", CUBE("f32", "256"), CUBE("f32", "4096"), false},
    {"gemm", "gemm-f16", CUBE("f16", "256"), CUBE("f16", "4096"), true},
    {"conv-implicit", "convolution", IMAGE("1", "64", "28"), IMAGE("16", "64", "56"), false},
    {"depthwise", "depthwise", CHANNELS("1", "64", "56"), CHANNELS("32", "128", "56"), false},
};

static bool can_run(const struct prove *p, const struct problem *q)
{
    return p->device.limits.f16 || !q->needs_f16;
}

static const struct setting *settings_of(const struct prove *p, const struct problem *q, int *count)
{
    const struct setting *set = p->device.is_cpu ? q->on_cpu : q->on_gpu;
    *count = 0;
    while (set[*count].name)
        ++*count;
    return set;
}

static struct script *load_problem(const struct prove *p, const struct problem *q, struct err *e)
{
    char *path = script_find_shipped(q->preset, e);
    struct script_options o = {
        .path = path, .device_type = p->device.type, .limits = &p->device.limits};
    o.set = settings_of(p, q, &o.set_count);
    struct script *s = path ? script_create(&o, e) : NULL;
    free(path);
    return s;
}

// --- timing: the same kernel after idle, hot, in another process and with several workers ---

enum { CANDIDATES = 3, HOT_RUNS = 2, WORKERS_OF_GPU = 4, WORKERS_OF_CPU = 2, MOST_ROWS = 8 };

static const struct problem timed = {
    "gemm",
    "gemm f32",
    {{"N", "128"}, {"M", "128"}, {"K", "128"}},
    {{"N", "1024"}, {"M", "1024"}, {"K", "1024"}},
    false,
};

#define IDLE_S_OF_GPU 3.0 // clocks have fallen after that
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
    char id[33];
    struct pool_options options = devices_pool(d, t->script);
    gpu_identity(d, id);
    options.device_id = id;
    options.workers = workers;
    options.seed = t->prove->seed;
    options.fault = t->prove->fault;
    source_destroy(t->pool);
    t->pool = pool_create(&options, e);
    return t->pool != NULL;
}

static bool submit_kernel(struct timing *t, const struct config *c, struct err *e)
{
    struct trial_request r = {
        .count = 1, .known_good = true, .accesses = ACCESSES_OF_NONE, .config = {*c}};
    if (!script_render(t->script, c, &r.job[0], e))
        return false;
    source_submit(t->pool, &r);
    return true;
}

static bool run_kernel(struct timing *t, const struct config *c, struct trial_result *out,
                       struct err *e)
{
    return submit_kernel(t, c, e) && source_wait(t->pool, out, e);
}

// Chooses the fastest of a few random kernels.
static bool choose_kernel(struct timing *t, struct err *e)
{
    struct prove *p = t->prove;
    struct rng rng;
    struct trial_result result;
    double best_s = INFINITY;
    char why[TRIAL_REASON_SIZE] = "";
    rng_seed(&rng, p->seed);
    for (int i = 0; i < CANDIDATES && (isinf(best_s) || !prove_is_over(p)); i++) {
        struct config c;
        if (!sample_draw(t->script, &p->device.limits, &rng, &c, e) ||
            !run_kernel(t, &c, &result, e))
            return false;
        snprintf(why, sizeof why, "%s", result.reason[0]);
        if (result.outcome[0] != OUTCOME_OK || result.seconds[0] >= best_s)
            continue;
        best_s = result.seconds[0];
        t->config = c;
    }
    return isfinite(best_s) || err_set(e, "no kernel can be timed: %s", why);
}

static bool add_row(struct timing *t, const char *name, const struct trial_result *r, struct err *e)
{
    if (r->outcome[0] != OUTCOME_OK)
        return err_set(e, "%s: %s", name, r->reason[0]);
    struct row *row = &t->row[t->rows++];
    snprintf(row->name, sizeof row->name, "%s", name);
    row->seconds = r->seconds[0];
    row->wall_s = r->wall_s;
    return true;
}

// Runs the kernel several times and keeps the last time.
static bool time_kernel(struct timing *t, const char *name, int runs, struct err *e)
{
    struct trial_result result = {0};
    for (int i = 0; i < runs; i++)
        if (!run_kernel(t, &t->config, &result, e))
            return false;
    return add_row(t, name, &result, e);
}

static bool time_among_others(struct timing *t, struct err *e)
{
    int workers = t->prove->device.is_cpu ? WORKERS_OF_CPU : WORKERS_OF_GPU;
    struct trial_result result;
    double seconds[WORKERS_OF_GPU];
    char name[48];
    if (!open_pool(t, workers, e))
        return false;
    for (int i = 0; i < workers; i++)
        if (!submit_kernel(t, &t->config, e))
            return false;
    for (int i = 0; i < workers; i++) {
        if (!source_wait(t->pool, &result, e))
            return false;
        seconds[i] = result.seconds[0];
        if (result.outcome[0] != OUTCOME_OK)
            return add_row(t, "with several workers", &result, e);
    }
    snprintf(name, sizeof name, "with %d workers", workers);
    result.seconds[0] = median_of(seconds, workers);
    return add_row(t, name, &result, e);
}

static void add_rows(struct timing *t)
{
    struct prove *p = t->prove;
    char time[32], wall[32];
    json_begin_list(&p->json, "runs");
    str_add(&p->page, "| the same kernel | a run | difference from hot | by the host's clock |\n"
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
    t.script = load_problem(p, &timed, e);
    const double idle_s = p->device.is_cpu ? IDLE_S_OF_CPU : IDLE_S_OF_GPU;
    const struct timespec idle = {.tv_sec = (time_t)idle_s,
                                  .tv_nsec = (long)((idle_s - floor(idle_s)) * 1e9)};
    bool ok = t.script && open_pool(&t, 1, e) && choose_kernel(&t, e) &&
              time_kernel(&t, "hot", HOT_RUNS, e);
    if (ok)
        nanosleep(&idle, NULL);
    ok = ok && time_kernel(&t, "after idle", 1, e) && open_pool(&t, 1, e) &&
         time_kernel(&t, "in another process", HOT_RUNS, e) && time_among_others(&t, e);
    add_rows(&t);
    source_destroy(t.pool);
    script_destroy(t.script);
    return ok;
}

// --- tuning and recorded spaces ---

// Shorter sessions have no useful result.
#define LEAST_S_OF_GPU 10.0
#define LEAST_S_OF_CPU 5.0

static double least_s(const struct prove *p)
{
    return p->device.is_cpu ? LEAST_S_OF_CPU : LEAST_S_OF_GPU;
}

struct search {
    const struct problem *problem;
    const char *strategy;
    int place; // among the speeds of the report; -1: none
};

static void add_result(struct prove *p, const struct search *x, const struct session_record *r,
                       const struct ranked_trials *best, const int64_t *outcome)
{
    const double gflops = r->best_seconds > 0 ? r->flop / r->best_seconds / 1e9 : NAN;
    const double share = r->best_seconds > 0 ? speed_of_peak(r, r->best_seconds) : 0;
    p->wrong += outcome[OUTCOME_WRONG];
    if (x->place >= 0 && r->best_seconds > 0)
        speed_text(r, r->best_seconds, p->speed[x->place]);
    str_printf(&p->page, "| %s | %s | %s | %" PRId64 " | %" PRId64 " | ", x->problem->preset,
               r->title, x->strategy, r->trials, outcome[OUTCOME_WRONG]);
    if (r->best_seconds > 0)
        str_printf(&p->page, "%.2f |", gflops);
    else
        str_add(&p->page, "- |");
    if (share > 0)
        str_printf(&p->page, " %.1f %% (%s) |", 100 * share, r->roof_by);
    else
        str_add(&p->page, " - |");
    str_printf(&p->page, " %.0f |\n", r->ran_seconds);
    json_begin_object(&p->json, NULL);
    json_add_text(&p->json, "name", x->problem->name);
    json_add_text(&p->json, "title", r->title);
    json_add_text(&p->json, "strategy", r->strategy);
    json_add_count(&p->json, "seed", r->seed);
    json_add_real(&p->json, "seconds", r->ran_seconds);
    json_begin_object(&p->json, "outcomes");
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (outcome[i])
            json_add_int(&p->json, outcome_name((enum outcome)i), outcome[i]);
    json_end(&p->json);
    json_add_real(&p->json, "best_ms", r->best_seconds > 0 ? 1e3 * r->best_seconds : NAN);
    json_add_real(&p->json, "best_gflops", gflops);
    json_add_real(&p->json, "best_of_roof", share > 0 ? share : NAN);
    json_add_text(&p->json, "roof_by", r->roof_by);
    json_add_raw(&p->json, "config", best->count ? best->trial[0].config : NULL);
    json_end(&p->json);
}

static bool add_recording(struct prove *p, const struct search *x, int64_t id, struct err *e)
{
    char *text, *name = mem_printf("%s-%s", x->problem->name, x->strategy);
    char *file = mem_printf("%s.json", name), *path = path_join(p->folder, file);
    char *inside = mem_printf("recordings/%s", file);
    const struct export_request request = {
        .session = id, .folder = p->folder, .name = name, .quiet = true, .force = true};
    bool ok = export_recording(p->store, &request, e) && file_read(path, &text, NULL, e);
    if (ok) {
        prove_add_file(p, inside, text);
        free(text);
    }
    free(inside);
    free(path);
    free(file);
    free(name);
    return ok;
}

static bool add_session(struct prove *p, const struct search *x, int64_t id, struct err *e)
{
    struct arena a;
    struct session_record r;
    struct ranked_trials best;
    int64_t outcome[OUTCOME_COUNT];
    arena_init(&a);
    bool ok = store_get_session(p->store, id, &a, &r, e) &&
              store_get_tally(p->store, id, outcome, NULL, e) &&
              store_best_trials(p->store, id, 1, &a, &best, e);
    if (ok)
        add_result(p, x, &r, &best, outcome);
    arena_finish(&a);
    int64_t measured = 0;
    for (int i = 0; ok && i < OUTCOME_COUNT; i++)
        measured += i != OUTCOME_OPEN && i != OUTCOME_REJECTED ? outcome[i] : 0;
    return ok && (!measured || add_recording(p, x, id, e));
}

static bool run_search(struct prove *p, const struct search *x, double seconds, struct err *e)
{
    struct session_options o = {
        .strategy = x->strategy,
        .trials = p->trials ? p->trials : INT64_C(1) << 40,
        .seconds = seconds,
        .has_seed = true,
        .seed = p->seed,
        .fault = p->fault,
    };
    int64_t id = 0;
    char *path = script_find_shipped(x->problem->preset, e), index[12];
    snprintf(index, sizeof index, "%d", p->device.index);
    o.space = path;
    o.device = index;
    o.set = settings_of(p, x->problem, &o.set_count);
    bool ok = path && prove_session(p, &o, &id, e);
    free(path);
    return (!id || add_session(p, x, id, ok ? e : NULL)) && ok;
}

static bool run_searches(struct prove *p, const struct search *x, int count, struct err *e)
{
    bool ok = true;
    json_begin_list(&p->json, "sessions");
    str_add(&p->page, "| preset | operation | strategy | trials | wrong | best GFLOPS | of the "
                      "roof | seconds |\n|---|---|---|---:|---:|---:|---:|---:|\n");
    for (int i = 0; ok && i < count; i++) {
        double seconds = fmax(prove_left(p) / (count - i), least_s(p));
        if (!can_run(p, x[i].problem))
            continue;
        if (prove_is_over(p) || prove_left(p) < least_s(p))
            str_printf(&p->left_out, "%s%s with %s", p->left_out.length ? ", " : "",
                       x[i].problem->name, x[i].strategy);
        else
            ok = run_search(p, &x[i], seconds, e);
    }
    json_end(&p->json);
    return ok;
}

bool prove_tuning(struct prove *p, struct err *e)
{
    struct search x[PROVE_PROBLEMS + 1];
    for (int i = 0; i < PROVE_PROBLEMS; i++)
        x[i] = (struct search){&problems[i], "walk", i};
    x[PROVE_PROBLEMS] = (struct search){&problems[0], "opevo", -1};
    return run_searches(p, x, PROVE_PROBLEMS + 1, e);
}

// Records a random sample of a space, on which other searches can be simulated.
bool prove_spaces(struct prove *p, struct err *e)
{
    const struct search x = {&problems[0], "random", -1};
    return run_searches(p, &x, 1, e);
}

// --- limits and features ---

bool prove_limits(struct prove *p, struct err *e)
{
    const struct gpu_info *d = &p->device;
    const struct limits *l = &d->limits;
    (void)e;
    json_begin_object(&p->json, "device");
    json_device_facts(&p->json, d);
    json_end(&p->json);
    str_add(&p->page, "| | |\n|---|---|\n");
    str_printf(&p->page, "| type | %s, %.1f GiB of its own |\n", d->type,
               (double)d->memory_bytes / (1 << 30));
    str_printf(&p->page, "| workgroups | %" PRIu32 " invocations, %" PRIu32 " KiB shared |\n",
               l->invocations, l->shared_bytes / 1024);
    str_printf(&p->page, "| subgroups | %" PRIu32 ", from %" PRIu32 " to %" PRIu32 " |\n",
               l->subgroup_size, l->subgroup_least, l->subgroup_most);
    str_printf(&p->page, "| types | f32%s%s |\n", l->f16 ? ", f16" : "", l->i8 ? ", i8" : "");
    str_printf(&p->page, "| matrix units | %s%s |\n| timestamps | %s |\n",
               l->matrix.count ? matrix_api_name(l->matrix.api) : "none",
               l->matrix.count > 0 ? "" : " that can be used", d->timestamps ? "yes" : "no");
    struct err why_not;
    struct clocks clocks;
    struct str sensors = {0}, text = {0};
    bool opened = helper_job_open(p->device.index, false, devices_patience_s(), &clocks, &why_not);
    if (opened)
        statistics_add_json(&clocks.now, &sensors);
    text_add_clocks(str_text(&sensors), 0, &text);
    const char *why = opened ? clocks.why : why_not.text;
    json_add_raw(&p->json, "clocks", str_text(&sensors));
    json_add_text(&p->json, "clocks_unknown", text.length ? NULL : why);
    str_add(&p->page, "| clocks | ");
    str_add_markdown(&p->page, text.length ? str_text(&text) : why);
    str_add(&p->page, " |\n");
    str_finish(&sensors);
    str_finish(&text);
    return true;
}

// --- correctness ---

enum { KERNELS_OF_A_CELL = 2 }; // in a round

struct tally {
    int64_t right, wrong, failed;
};

struct correctness {
    struct prove *prove;
    struct cells cells;
    struct tally *tally; // of each cell
    struct rng rng;
    struct str failures; // Markdown, of kernels that are not right
    struct json_writer failure_list;
};

static void add_failure(struct correctness *c, const char *outcome, const char *problem,
                        const char *config, const char *reason)
{
    str_printf(&c->failures, "* %s: `%s", outcome, problem);
    str_printf(&c->failures, "%s%s`: %s\n", *config ? " " : "", config, reason);
    json_begin_object(&c->failure_list, NULL);
    json_add_text(&c->failure_list, "outcome", outcome);
    json_add_text(&c->failure_list, "problem", problem);
    json_add_raw(&c->failure_list, "config", config);
    json_add_text(&c->failure_list, "reason", reason);
    json_end(&c->failure_list);
}

// Tries random kernels for a random problem of the cell. CPU devices also get the spaces that
// presets have for GPUs. Returns false where nothing more can be tried.
static bool try_cell(struct correctness *c, int i, bool as_gpu, struct err *e)
{
    struct prove *p = c->prove;
    struct tally *t = &c->tally[i];
    struct str problem = {0};
    struct sample found = {0};
    const char *type = p->device.is_cpu && as_gpu ? "discrete" : p->device.type;
    str_add(&problem, c->cells.cell[i].preset);
    struct script *s = cell_draw(&c->cells.cell[i], type, &p->device.limits, &c->rng, &problem, e);
    const struct sample_options o = {.script = s,
                                     .device = &p->device,
                                     .count = KERNELS_OF_A_CELL,
                                     .seed = p->seed,
                                     .runs = true,
                                     .fault = p->fault};
    bool ok = !s || sample_take(&o, &found, e);
    t->right += found.compiled;
    t->wrong += found.outcome[OUTCOME_WRONG];
    for (int k = 0; k < OUTCOME_COUNT; k++)
        t->failed += k != OUTCOME_OK && k != OUTCOME_WRONG ? found.outcome[k] : 0;
    for (int k = 0; k < found.refusals; k++)
        add_failure(c, outcome_name(found.refusal[k].outcome), str_text(&problem),
                    found.refusal[k].example, found.refusal[k].reason);
    if (!s)
        add_failure(c, "unloaded", str_text(&problem), "", e->text);
    t->failed += !s;
    sample_finish(&found);
    script_destroy(s);
    str_finish(&problem);
    return ok;
}

// Tries the cells in a random order, so that the first ones are a sample of all.
static bool try_all(struct correctness *c, struct err *e)
{
    int count = c->cells.count;
    int *order = mem_zero((size_t)count + 1, sizeof *order);
    bool ok = true, began = false;
    for (int i = 0; i < count; i++) {
        int k = (int)rng_below(&c->rng, (uint64_t)i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    for (int round = 0; ok && (!began || !prove_is_over(c->prove)); round++)
        for (int i = 0; ok && i < count && (!began || !prove_is_over(c->prove)); i++) {
            ok = try_cell(c, order[i], round % 2, e);
            began = true;
        }
    free(order);
    return ok;
}

static bool is_untried(const struct tally *t)
{
    return t->right + t->wrong + t->failed == 0;
}

static void add_cells(struct correctness *c)
{
    struct prove *p = c->prove;
    json_begin_list(&p->json, "cells");
    str_add(&p->page, "| preset | right | wrong | failed |\n|---|---:|---:|---:|\n");
    for (int i = 0; i < c->cells.count; i++) {
        const struct tally *t = &c->tally[i];
        struct str name = {0};
        cell_add_text(&c->cells.cell[i], &name);
        json_begin_object(&p->json, NULL);
        json_add_text(&p->json, "name", str_text(&name));
        json_add_int(&p->json, "right", t->right);
        json_add_int(&p->json, "wrong", t->wrong);
        json_add_int(&p->json, "failed", t->failed);
        json_end(&p->json);
        if (!is_untried(t))
            str_printf(&p->page, "| %s | %" PRId64 " | %" PRId64 " | %" PRId64 " |\n",
                       str_text(&name), t->right, t->wrong, t->failed);
        p->right += t->right;
        p->wrong += t->wrong;
        p->failed += t->failed;
        str_finish(&name);
    }
    json_end(&p->json);
    // Writes "12 of 110 cells (bmm 3, gemm 9)"; the cells are in the order of their presets.
    struct str names = {0};
    int all = 0;
    for (int i = 0, of = 0; i < c->cells.count; i++) {
        const char *preset = c->cells.cell[i].preset;
        bool is_last = i + 1 == c->cells.count || !str_equal(c->cells.cell[i + 1].preset, preset);
        of += is_untried(&c->tally[i]);
        if (is_last && of)
            str_printf(&names, "%s%s %d", all ? ", " : "", preset, of);
        all += is_last ? of : 0;
        of = is_last ? 0 : of;
    }
    if (all)
        str_printf(&c->prove->left_out, "%d of %d cells (%s)", all, c->cells.count,
                   str_text(&names));
    str_finish(&names);
}

bool prove_correctness(struct prove *p, struct err *e)
{
    struct correctness c = {.prove = p};
    struct str failures = {0};
    c.failure_list = (struct json_writer){.out = &failures};
    json_begin_list(&c.failure_list, NULL);
    rng_seed(&c.rng, p->seed);
    bool ok = cells_list(&p->device.limits, &c.cells, e);
    c.tally = mem_zero((size_t)c.cells.count + 1, sizeof *c.tally);
    ok = ok && try_all(&c, e);
    json_end_all(&c.failure_list);
    add_cells(&c);
    json_add_raw(&p->json, "complaints", str_text(&failures));
    str_printf(&p->page, "\nRandom problems and kernels of each preset, type and layout, compared "
                         "in full, on exact and on random inputs, with every access checked.\n");
    str_printf(&p->page, "%s%s", c.failures.length ? "\n" : "", str_text(&c.failures));
    cells_finish(&c.cells);
    free(c.tally);
    str_finish(&c.failures);
    str_finish(&failures);
    return ok;
}

// --- the roofline ---

bool prove_roof(struct prove *p, struct err *e)
{
    struct roofline roofline = {0};
    char text[32];
    bool ok = peak_measure(p->store, &p->device, &roofline, e);
    json_add_name(&p->json, "roof");
    roofline_add_json(&roofline, p->json.out);
    str_add(&p->page, "| | at most |\n|---|---:|\n");
    for (int k = 0; k < ROOFLINE_COUNT; k++) {
        if (roofline.rate[k] <= 0)
            continue;
        if (k == ROOFLINE_DISPATCH)
            text_time(roofline.rate[k], text);
        else
            text_rate(roofline.rate[k], k == ROOFLINE_BYTES ? WORK_BYTES : WORK_FLOP, text);
        str_printf(&p->page, "| %s | %s%s |\n",
                   k == ROOFLINE_DISPATCH ? "empty dispatch" : roofline_name((enum roofline_kind)k),
                   text, roofline_note(&roofline, (enum roofline_kind)k));
    }
    return ok;
}

// --- compiler statistics ---

enum { KERNELS_COMPILED = 50 };

bool prove_statistics(struct prove *p, struct err *e)
{
    bool ok = true;
    int left = PROVE_PROBLEMS;
    json_begin_list(&p->json, "kernels");
    for (int i = 0; i < PROVE_PROBLEMS; i++, left--) {
        const struct problem *q = &problems[i];
        if (!ok || !can_run(p, q))
            continue;
        if (i > 0 && prove_is_over(p))
            str_printf(&p->left_out, "%s%s", p->left_out.length ? ", " : "", q->name);
        else {
            struct sample found = {0};
            struct script *s = load_problem(p, q, e);
            const struct sample_options o = {.script = s,
                                             .device = &p->device,
                                             .count = KERNELS_COMPILED,
                                             .seed = p->seed,
                                             .seconds = fmax(prove_left(p) / left, 0.1),
                                             .fault = p->fault};
            ok = s && sample_take(&o, &found, e);
            json_begin_object(&p->json, NULL);
            json_add_text(&p->json, "name", q->name);
            json_sample(&p->json, &found);
            json_end(&p->json);
            str_printf(&p->page, "%s:\n\n```\n", q->name);
            sample_add_text(&found, &p->device, &p->page);
            str_add(&p->page, "```\n\n");
            sample_finish(&found);
            script_destroy(s);
        }
    }
    json_end(&p->json);
    return ok;
}
