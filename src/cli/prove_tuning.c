// The parts of prove that tune, and record what they measured.
#include "base/file.h"
#include "base/os.h"
#include "cli/common.h"
#include "cli/prove.h"
#include "export/export.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

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

const struct prove_problem prove_problems[PROVE_PROBLEMS] = {
    {"gemm", "gemm-f32", CUBE("f32", "256"), CUBE("f32", "4096"), false},
    {"gemm", "gemm-f16", CUBE("f16", "256"), CUBE("f16", "4096"), true},
    {"conv-implicit", "convolution", IMAGE("1", "64", "28"), IMAGE("16", "64", "56"), false},
    {"depthwise", "depthwise", CHANNELS("1", "64", "56"), CHANNELS("32", "128", "56"), false},
};

// A session in less time tells nothing.
#define LEAST_S_OF_GPU 10.0
#define LEAST_S_OF_CPU 5.0

bool prove_has(const struct prove *p, const struct prove_problem *q)
{
    return p->device.limits.f16 || !q->needs_f16;
}

const struct setting *prove_settings(const struct prove *p, const struct prove_problem *q,
                                     int *count)
{
    const struct setting *set = p->device.is_cpu ? q->on_cpu : q->on_gpu;
    *count = 0;
    while (set[*count].name)
        ++*count;
    return set;
}

struct script *prove_load(const struct prove *p, const struct prove_problem *q, struct err *e)
{
    char *path = script_find(q->preset, e);
    struct script_options o = {
        .path = path, .device_type = p->device.type, .limits = &p->device.limits};
    o.set = prove_settings(p, q, &o.set_count);
    struct script *s = path ? script_create(&o, e) : NULL;
    free(path);
    return s;
}

static double least_s(const struct prove *p)
{
    return p->device.is_cpu ? LEAST_S_OF_CPU : LEAST_S_OF_GPU;
}

// --- a session ---

struct search {
    const struct prove_problem *problem;
    const char *strategy;
    int place; // among the speeds of the report; -1: none
};

static void add_result(struct prove *p, const struct search *x, const struct session_record *r,
                       const struct ranked_trials *best, const int64_t *outcome)
{
    const double gflops = r->best_seconds > 0 ? r->flop / r->best_seconds / 1e9 : NAN;
    const double share = r->best_seconds > 0 ? speed_of_roof(r, r->best_seconds) : 0;
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

// Where nothing was measured there is nothing to record.
static bool has_recording(const int64_t outcome[OUTCOME_COUNT])
{
    int64_t count = 0;
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (i != OUTCOME_OPEN && i != OUTCOME_REJECTED)
            count += outcome[i];
    return count > 0;
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
    return ok && (!has_recording(outcome) || add_recording(p, x, id, e));
}

static bool search(struct prove *p, const struct search *x, double seconds, struct err *e)
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
    char *path = script_find(x->problem->preset, e), index[12];
    snprintf(index, sizeof index, "%d", p->device.index);
    o.space = path;
    o.device = index;
    o.set = prove_settings(p, x->problem, &o.set_count);
    bool ok = path && prove_session(p, &o, &id, e);
    free(path);
    return (!id || add_session(p, x, id, ok ? e : NULL)) && ok;
}

static bool search_all(struct prove *p, const struct search *x, int count, struct err *e)
{
    bool ok = true;
    json_begin_list(&p->json, "sessions");
    str_add(&p->page, "| preset | operation | strategy | trials | wrong | best GFLOPS | of the "
                      "roof | seconds |\n|---|---|---|---:|---:|---:|---:|---:|\n");
    for (int i = 0; ok && i < count; i++) {
        double seconds = fmax(prove_left(p) / (count - i), least_s(p));
        if (!prove_has(p, x[i].problem))
            continue;
        if (prove_is_over(p) || prove_left(p) < least_s(p))
            str_printf(&p->left_out, "%s%s with %s", p->left_out.length ? ", " : "",
                       x[i].problem->name, x[i].strategy);
        else
            ok = search(p, &x[i], seconds, e);
    }
    json_end(&p->json);
    return ok;
}

bool prove_tuning(struct prove *p, struct err *e)
{
    struct search x[PROVE_PROBLEMS + 1];
    for (int i = 0; i < PROVE_PROBLEMS; i++)
        x[i] = (struct search){&prove_problems[i], "walk", i};
    x[PROVE_PROBLEMS] = (struct search){&prove_problems[0], "opevo", -1};
    return search_all(p, x, PROVE_PROBLEMS + 1, e);
}

// A random sample of a space, as long as there is time: what other searches can be tried on.
bool prove_spaces(struct prove *p, struct err *e)
{
    const struct search x = {&prove_problems[0], "random", -1};
    return search_all(p, &x, 1, e);
}
