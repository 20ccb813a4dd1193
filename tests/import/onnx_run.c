#include "onnx_run.h"

#include "base/file.h"
#include "base/os.h"
#include "base/rng.h"
#include "gpu/gpu.h"
#include "trial/helper_job.h"
#include "trial/operator.h"
#include "trial/pool.h"
#include "trial/whole.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct script *load_task(const struct network_task *t, const struct limits *limits,
                                struct err *e)
{
    struct script_options o = {.set = t->set, .set_count = t->set_count};
    o.device_type = "cpu";
    o.limits = limits;
    char *path = script_find(t->preset, e);
    o.path = path;
    struct script *s = path ? script_create(&o, e) : NULL;
    free(path);
    return s;
}

static bool load_tasks(struct model_run *r, const struct limits *limits, struct err *e)
{
    const struct network *n = &r->network;
    for (int i = 0; i < n->task_count; i++) {
        script_destroy(r->task[i]);
        r->task[i] = load_task(&n->task[i], limits, e);
        if (!r->task[i])
            return err_prefix(e, "%s", n->task[i].label);
    }
    return true;
}

bool model_run_load(const char *path, const char *type, struct model_run *r, struct err *e)
{
    const struct setting set = {"type", type};
    *r = (struct model_run){.expected = 0};
    if (!network_read(path, &set, type != NULL, &r->network, e))
        return false;
    r->task = calloc((size_t)r->network.task_count + 1, sizeof *r->task);
    for (int i = 0; i < r->network.plan.value_count; i++)
        r->expected +=
            r->network.plan.value[i].role == PLAN_OUTPUT && r->network.plan.value[i].from != NULL;
    return load_tasks(r, NULL, e);
}

void model_run_finish(struct model_run *r)
{
    for (int i = 0; r->task && i < r->network.task_count; i++)
        script_destroy(r->task[i]);
    free(r->task);
    network_finish(&r->network);
}

// --- on the CPU ---

static bool check_output(const struct constants *c, const struct operation *o,
                         const struct plan_step *s, const void *got, struct err *e)
{
    const struct plan_value *v = &c->plan->value[s->value[s->value_count - 1]];
    const struct tolerance t = {.absolute = v->absolute, .relative = v->relative};
    char reason[300];
    if (v->role != PLAN_OUTPUT || !v->from)
        return true;
    void *expected = malloc(v->bytes);
    constants_fill(c, s->value[s->value_count - 1], o, s->value_count - 1, expected);
    bool right = operator_compare_within(o, t, got, expected, reason, sizeof reason).right;
    free(expected);
    return right || err_set(e, "%s: %s", s->name, reason);
}

static bool run_step(const struct model_run *r, const struct constants *c, int step, void **data,
                     struct err *e)
{
    const struct plan_step *s = &c->plan->step[step];
    const struct operation *o = script_operation(r->task[s->task]);
    const void *input[OPERATION_MAX_TENSORS];
    for (int k = 0; k < s->value_count; k++) {
        int v = s->value[k];
        bool is_given = k < s->value_count - 1 && !data[v];
        if (!data[v])
            data[v] = calloc(1, c->plan->value[v].bytes);
        if (is_given)
            constants_fill(c, v, o, k, data[v]);
        input[k] = data[v];
    }
    void *made = data[s->value[s->value_count - 1]];
    operator_reference(o, input, made);
    return check_output(c, o, s, made, e);
}

bool model_run_on_cpu(const struct model_run *r, struct err *e)
{
    const struct plan *p = &r->network.plan;
    struct constants c = {p, 1, NULL};
    int fd = -1;
    if (!plan_read_files(p, &fd, e) || !constants_map(&c, fd, e))
        return false;
    void **data = calloc((size_t)p->value_count, sizeof *data);
    bool ok = true;
    for (int i = 0; ok && i < p->step_count; i++)
        ok = run_step(r, &c, i, data, e);
    for (int i = 0; i < p->value_count; i++)
        free(data[i]);
    free(data);
    constants_unmap(&c);
    if (fd >= 0)
        close(fd);
    return ok;
}

// --- on the device ---

enum { DRAWN = 12, MOST_SAMPLES = 200000, PATIENCE = 15 }; // such kernels are slow

static size_t text_length(const struct job *job)
{
    size_t length = 0;
    for (int i = 0; i < job->pass_count; i++)
        length += strlen(job->pass[i].glsl);
    return length;
}

static bool draw_legal(const struct space *s, const struct limits *l, struct rng *rng,
                       struct config *out, int *left)
{
    struct verdict v;
    while (--*left > 0) {
        space_sample(s, rng, out);
        if (space_judge(s, l, out, &v, NULL) && v.legal)
            return true;
    }
    return false;
}

// Draws some configurations and takes the one with the shortest kernel, the quickest to compile.
static bool choose(struct script *s, const struct limits *l, struct job *out, struct err *e)
{
    size_t shortest = SIZE_MAX;
    struct config c;
    struct rng rng;
    int left = MOST_SAMPLES;
    rng_seed(&rng, 7);
    for (int i = 0; i < DRAWN && draw_legal(script_space(s), l, &rng, &c, &left); i++) {
        struct job job = {0};
        if (!script_render(s, &c, &job, e))
            return false;
        if (text_length(&job) < shortest) {
            shortest = text_length(&job);
            job_finish(out);
            *out = job;
        } else {
            job_finish(&job);
        }
    }
    return shortest < SIZE_MAX || err_set(e, "no legal configuration was drawn");
}

static bool fill_place(struct hello *h, struct err *e)
{
    struct gpu_info *list;
    int count;
    gpu_prepare_environment();
    if (!gpu_list(&list, &count, e))
        return false;
    if (count == 0)
        return err_set(e, "there is no Vulkan device");
    *h = (struct hello){.device = list[0].index, .limits = list[0].limits, .seed = 3};
    free(list);
    for (int i = 0; i < PHASE_COUNT; i++)
        h->deadline_s[i] = PATIENCE * pool_default_deadline((enum trial_phase)i, true);
    return true;
}

static bool copy_plan(const struct plan *from, struct plan *to, struct err *e)
{
    struct str text = {0};
    struct json root;
    struct json_writer w = json_begin(&text);
    plan_add_json(from, &w);
    json_end_all(&w);
    bool ok = json_parse(str_text(&text), &root) && plan_read_json(root, to, e);
    str_finish(&text);
    return ok;
}

static bool fill_whole(const struct model_run *r, struct whole *w, struct err *e)
{
    *w = (struct whole){.task_count = r->network.task_count};
    w->task = calloc((size_t)w->task_count + 1, sizeof *w->task);
    if (!fill_place(&w->place, e) || !copy_plan(&r->network.plan, &w->plan, e))
        return false;
    for (int i = 0; i < w->task_count; i++) {
        struct script *s = load_task(&r->network.task[i], &w->place.limits, e);
        bool ok = s && choose(s, &w->place.limits, &w->task[i].job[0], e);
        if (ok)
            w->task[i].operation = *script_operation(s);
        script_destroy(s);
        if (!ok)
            return err_prefix(e, "%s", r->network.task[i].label);
    }
    return true;
}

static bool wait_for(struct helper_job *x, struct whole_result *result, struct err *e)
{
    enum helper_job_end end;
    while (!helper_job_is_over(x, &end, result, e)) {
        struct pollfd fds[4];
        poll(fds, (nfds_t)helper_job_fds(x, fds, 4), helper_job_wait_ms(x));
    }
    return end == HELPER_JOB_DONE;
}

bool model_run_on_device(const struct model_run *r, double *seconds, struct err *e)
{
    struct whole w;
    struct whole_result result = {0};
    int fd = -1;
    *seconds = 0;
    struct helper_job *x = NULL;
    bool ok = fill_whole(r, &w, e) && plan_read_files(&w.plan, &fd, e) &&
              (x = helper_job_begin_whole(&w, fd, e)) != NULL && wait_for(x, &result, e);
    helper_job_destroy(x);
    whole_finish(&w);
    *seconds = result.seconds[0];
    return ok && (result.verified || err_set(e, "%s", result.reason));
}
