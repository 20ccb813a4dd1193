#include "engine/network_run.h"

#include "base/err.h"
#include "base/os.h"
#include "engine/stored.h"
#include "report/text.h"
#include "trial/helper_job.h"
#include "trial/operator.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FALLEN_TO     0.95 // of the sum when it ran last
#define SHARE_OF_TIME 0.1

double network_whole_sum(const struct network_run *n)
{
    double sum = 0;
    for (int i = 0; i < n->count; i++) {
        if (n->member[i].seconds <= 0)
            return 0;
        sum += (double)n->member[i].record.uses * n->member[i].seconds;
    }
    return sum;
}

static bool whole_take_last(void *context, const struct whole_record *r)
{
    struct network_run *n = context;
    struct network_whole *w = &n->whole;
    w->record = (struct whole_record){.number = r->number, .sum_s = r->sum_s};
    str_to_ints(r->kernels, w->kernels, n->count);
    w->has_kept = str_to_ints(r->kept, w->kept, n->count) == n->count;
    return true;
}

bool network_whole_start(struct network_run *n, const struct plan *plan, struct err *e)
{
    struct network_whole *w = &n->whole;
    struct store *db = n->store.db;
    struct str text = {0};
    struct json root;
    w->trying = mem_zero((size_t)n->count, sizeof *w->trying);
    w->kernels = mem_zero((size_t)n->count, sizeof *w->kernels);
    w->kept = mem_zero((size_t)n->count, sizeof *w->kept);
    if (!plan)
        return stored_plan(db, n->record.id, &w->plan, e) &&
               store_each_whole(db, n->record.id, whole_take_last, n, e);
    if (!plan->step_count) // a list
        return true;
    struct json_writer json = json_begin(&text);
    plan_add_json(plan, &json);
    json_end_all(&json);
    bool ok = json_parse(str_text(&text), &root) && plan_read_json(root, &w->plan, e) &&
              store_put_plan(db, n->record.id, str_text(&text), e);
    str_finish(&text);
    return ok;
}

void network_whole_finish(struct network_run *n)
{
    network_whole_drop(&n->whole);
    plan_finish(&n->whole.plan);
    free(n->whole.trying);
    free(n->whole.kernels);
    free(n->whole.kept);
}

void network_whole_drop(struct network_whole *w)
{
    helper_job_destroy(w->run);
    w->run = NULL;
}

// --- the kernels ---

struct making {
    struct network_run *network;
    struct arena arena;
    struct whole whole;
    struct script **script; // of each task: operations live in them
    int64_t *best;          // asks by task
};

static bool render(struct making *m, int task, int64_t session, int64_t ask, struct job *out,
                   struct err *e)
{
    struct trial_record t;
    struct config config;
    const struct space *space = script_space(m->script[task]);
    if (!store_get_trial(m->network->store.db, session, ask, &m->arena, &t, e))
        return false;
    return t.ask ? config_parse_key(space, t.key, &config, e) &&
                       script_render(m->script[task], &config, out, e)
                 : err_set(e, "session %" PRId64 " has no trial that was asked as number %" PRId64,
                           session, ask);
}

static bool make(struct making *m, struct err *e)
{
    struct network_run *n = m->network;
    struct store *db = n->store.db;
    size_t count = (size_t)n->count;
    arena_init(&m->arena);
    m->whole.task_count = n->count;
    m->whole.task = mem_zero(count, sizeof *m->whole.task);
    m->script = mem_zero(count, sizeof(struct script *));
    m->best = mem_zero(count, sizeof *m->best);
    for (int i = 0; i < n->count; i++) {
        const struct task_record *task = &n->member[i].record;
        struct whole_task *t = &m->whole.task[i];
        struct session_record r;
        bool ok = store_get_session(db, task->session, &m->arena, &r, e);
        if (ok) {
            m->best[i] = r.best_ask;
            m->script[i] = stored_script(db, &r, &m->arena, e);
            ok = m->script[i];
        }
        if (ok && script_reference(m->script[i])->pass_count)
            ok = err_set(
                e, "what it computes is defined by a kernel, no layer can be held against it");
        if (ok) {
            bool differs = n->whole.has_kept && n->whole.kept[i] != r.best_ask;
            t->operation = *script_operation(m->script[i]);
            m->whole.races |= differs;
            ok = render(m, i, r.id, r.best_ask, &t->job[0], e) &&
                 (!differs || render(m, i, r.id, n->whole.kept[i], &t->job[1], e));
        }
        if (!ok)
            return err_prefix(e, "%s", task->name);
    }
    const struct gpu_info *info = backend_device(&n->choice);
    struct hello *hello = &m->whole.place;
    *hello = (struct hello){.device = info->index,
                            .validate = n->each.validate,
                            .limits = info->limits,
                            .seed = n->record.seed};
    snprintf(hello->device_id, sizeof hello->device_id, "%s", n->record.device_id);
    snprintf(hello->fault, sizeof hello->fault, "%s", n->each.fault ? n->each.fault : "");
    for (int i = 0; i < PHASE_COUNT; i++)
        hello->deadline_s[i] = pool_default_deadline((enum trial_phase)i, info->is_cpu);
    hello->deadline_s[PHASE_PREPARE] = 0;
    for (int i = 0; i < n->count; i++)
        hello->deadline_s[PHASE_PREPARE] =
            fmax(hello->deadline_s[PHASE_PREPARE],
                 operator_reference_seconds(&m->whole.task[i].operation));
    m->whole.plan = n->whole.plan; // lent
    return true;
}

static void finish(struct making *m)
{
    m->whole.plan = (struct plan){0};
    for (int i = 0; i < m->network->count; i++) {
        m->whole.task[i].custom = NULL;
        script_destroy(m->script[i]);
    }
    whole_finish(&m->whole);
    free(m->script);
    free(m->best);
    arena_finish(&m->arena);
}

bool network_whole_begin(struct network_run *n, bool at_end, struct err *e)
{
    struct network_whole *w = &n->whole;
    struct making m = {.network = n};
    struct err why = {0};
    const size_t bytes = (size_t)n->count * sizeof *w->kernels;
    double sum = network_whole_sum(n);
    if (!w->plan.step_count || !n->choice.on_device || w->cannot || sum <= 0)
        return true;
    if (w->record.number && !at_end &&
        (sum > FALLEN_TO * w->record.sum_s ||
         w->spent_s > SHARE_OF_TIME * session_clock_seconds(&n->clock)))
        return true;
    bool made = make(&m, &why), in_place = store_in_place(n->store.db, e);
    if (made && in_place &&
        (!w->record.number || memcmp(w->kernels, m.best, bytes) != 0)) { // new kernels
        int weights = -1;
        if (plan_read_files(&w->plan, &weights, &why))
            w->run = helper_job_begin_whole(&m.whole, weights, &why);
        if (weights >= 0)
            close(weights);
        made = w->run;
        w->begun_ns = os_now_ns();
        w->has_rival = m.whole.races;
        w->running = (struct whole_record){.number = w->record.number + 1,
                                           .all_trials = n->record.trials,
                                           .elapsed_s = session_clock_seconds(&n->clock),
                                           .sum_s = sum};
        memcpy(w->trying, m.best, bytes);
    }
    finish(&m);
    if (!made && in_place) {
        char text[1400];
        w->cannot = true;
        session_message(&n->log, "warning", "the network is not run as a whole: %s",
                        err_format(&why, text, sizeof text));
    }
    return in_place;
}

// --- its result ---

static const char *asks_text(struct network_run *n, const int64_t *ask)
{
    struct str text = {0};
    for (int i = 0; i < n->count; i++)
        str_printf(&text, "%s%" PRId64, i ? "," : "", ask[i]);
    const char *kept = arena_strdup(&n->arena, str_text(&text));
    str_finish(&text);
    return kept;
}

// Describes the phase in which the worker was lost.
static const char *where(const struct network_run *n, char *out, size_t size)
{
    int at;
    enum trial_phase phase = helper_job_phase(n->whole.run, &at);
    const struct plan *p = &n->whole.plan;
    bool of_task = phase == PHASE_COMPILE || phase == PHASE_PIPELINE;
    if (of_task && at < n->count)
        snprintf(out, size, "%s of %s", trial_phase_name(phase), n->member[at].record.name);
    else if (!of_task && phase != PHASE_START && at < p->step_count)
        snprintf(out, size, "%s of layer '%s'", trial_phase_name(phase), p->step[at].name);
    else
        snprintf(out, size, "%s", trial_phase_name(phase));
    return out;
}

bool network_whole_step(struct network_run *n, struct err *e)
{
    struct network_whole *w = &n->whole;
    struct whole_record *r = &w->record;
    struct whole_result result = {.verified = false};
    struct err why = {0};
    enum helper_job_end end;
    size_t bytes = (size_t)n->count * sizeof *w->kernels;
    char at[160], whole[32], sum[32], rival[32];
    if (!helper_job_is_over(w->run, &end, &result, &why))
        return true;
    if (end == HELPER_JOB_LOST)
        snprintf(result.reason, sizeof result.reason, "the worker %s (%s)", why.text,
                 where(n, at, sizeof at));
    else if (end == HELPER_JOB_REFUSED)
        snprintf(result.reason, sizeof result.reason, "%s", why.text);
    network_whole_drop(w);
    w->spent_s += (double)(os_now_ns() - w->begun_ns) * 1e-9;
    *r = w->running;
    memcpy(w->kernels, w->trying, bytes);
    r->verified = result.verified;
    r->seconds = r->verified ? result.seconds[0] : 0;
    r->rival_s = r->verified && w->has_rival ? result.seconds[1] : 0;
    r->reason = arena_strdup(&n->arena, result.reason);
    if (r->seconds > 0 && (!w->has_rival || (r->rival_s > 0 && r->seconds <= r->rival_s))) {
        memcpy(w->kept, w->kernels, bytes);
        w->has_kept = true;
    }
    w->lost = end == HELPER_JOB_DONE ? 0 : w->lost + 1;
    if (w->lost == 1) // perhaps not by these kernels: the end tries them once more
        memset(w->kernels, 0, bytes);
    r->kernels = asks_text(n, w->trying);
    r->kept = w->has_kept ? asks_text(n, w->kept) : NULL;
    r->at = os_unix_time();
    if (!session_stored(&n->store, store_put_whole(n->store.db, n->record.id, r, e), e))
        return false;
    if (r->seconds <= 0)
        session_message(&n->log, "warning", "run as a whole it gave no time: %s", r->reason);
    else if (r->rival_s > 0 && r->rival_s < r->seconds)
        session_message(
            &n->log, "info",
            "as a whole it takes %s with the kernels of before, %s with each task's best",
            text_time(r->rival_s, rival), text_time(r->seconds, whole));
    else
        session_message(&n->log, "info",
                        "as a whole it takes %s, every layer is right; its parts %s",
                        text_time(r->seconds, whole), text_time(r->sum_s, sum));
    session_event(&n->log, (struct event){.kind = EVENT_WHOLE, .whole = r});
    return true;
}
