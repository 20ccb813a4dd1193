#include "engine/network_whole.h"

#include "base/log.h"
#include "base/os.h"
#include "engine/network_run.h"
#include "engine/stored.h"
#include "report/text.h"
#include "trial/errand.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FALLEN_TO     0.95 // of the sum when it ran last
#define SHARE_OF_TIME 0.1

static void make_room(struct network_run *n)
{
    n->whole.trying = mem_zero((size_t)n->count, sizeof *n->whole.trying);
    n->whole.kernels = mem_zero((size_t)n->count, sizeof *n->whole.kernels);
    n->whole.kept = mem_zero((size_t)n->count, sizeof *n->whole.kept);
}

bool network_whole_start(struct network_run *n, const struct plan *plan, struct err *e)
{
    struct str text = {0};
    struct json root;
    make_room(n);
    if (!plan->step_count) // a list
        return true;
    struct json_writer w = json_begin(&text);
    plan_add_json(plan, &w);
    json_end_all(&w);
    bool ok = json_parse(str_text(&text), &root) && plan_read_json(root, &n->whole.plan, e) &&
              store_put_plan(n->host.store, n->record.id, str_text(&text), e);
    str_finish(&text);
    return ok;
}

static bool take_last(void *context, const struct whole_record *r)
{
    struct network_run *n = context;
    struct network_whole *w = &n->whole;
    w->record = (struct whole_record){.number = r->number, .sum_s = r->sum_s};
    str_to_ints(r->kernels, w->kernels, n->count);
    w->has_kept = str_to_ints(r->kept, w->kept, n->count) == n->count;
    return true;
}

bool network_whole_resume(struct network_run *n, struct err *e)
{
    make_room(n);
    return stored_plan(n->host.store, n->record.id, &n->whole.plan, e) &&
           store_each_whole(n->host.store, n->record.id, take_last, n, e);
}

void network_whole_finish(struct network_run *n)
{
    network_whole_drop(n);
    plan_finish(&n->whole.plan);
    free(n->whole.trying);
    free(n->whole.kernels);
    free(n->whole.kept);
}

void network_whole_drop(struct network_run *n)
{
    errand_destroy(n->whole.run);
    n->whole.run = NULL;
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
    if (!store_get_trial(m->network->host.store, session, ask, &m->arena, &t, e))
        return false;
    return t.ask ? config_parse_key(space, t.key, &config, e) &&
                       script_render(m->script[task], &config, out, e)
                 : err_set(e, "session %" PRId64 " has no trial that was asked as number %" PRId64,
                           session, ask);
}

static bool take_task(struct making *m, int i, struct err *e)
{
    struct network_run *n = m->network;
    struct whole_task *t = &m->whole.task[i];
    struct session_record r;
    if (!store_get_session(n->host.store, n->member[i].record.session, &m->arena, &r, e))
        return false;
    m->best[i] = r.best_ask;
    m->script[i] = stored_script(n->host.store, &r, &m->arena, e);
    if (!m->script[i])
        return false;
    if (script_reference(m->script[i])->pass_count)
        return err_set(e,
                       "what it computes is defined by a kernel, no layer can be held against it");
    t->operation = *script_operation(m->script[i]);
    bool differs = n->whole.has_kept && n->whole.kept[i] != r.best_ask;
    m->whole.races |= differs;
    return render(m, i, r.id, r.best_ask, &t->job[0], e) &&
           (!differs || render(m, i, r.id, n->whole.kept[i], &t->job[1], e));
}

static void take_place(struct making *m)
{
    struct network_run *n = m->network;
    const struct gpu_info *info = session_place_device(&n->place);
    struct hello *place = &m->whole.place;
    *place = (struct hello){.device = info->index,
                            .validate = n->each.validate,
                            .limits = info->limits,
                            .seed = n->record.seed};
    snprintf(place->device_id, sizeof place->device_id, "%s", n->record.device_id);
    snprintf(place->fault, sizeof place->fault, "%s", n->each.fault ? n->each.fault : "");
    for (int i = 0; i < PHASE_COUNT; i++)
        place->deadline_s[i] = pool_default_deadline((enum trial_phase)i, info->is_cpu);
}

static bool make(struct making *m, struct err *e)
{
    struct network_run *n = m->network;
    size_t count = (size_t)n->count;
    arena_init(&m->arena);
    m->whole.task_count = n->count;
    m->whole.task = mem_zero(count, sizeof *m->whole.task);
    m->script = mem_zero(count, sizeof(struct script *));
    m->best = mem_zero(count, sizeof *m->best);
    for (int i = 0; i < n->count; i++)
        if (!take_task(m, i, e))
            return err_prefix(e, "%s", n->member[i].record.name);
    take_place(m);
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

// --- when ---

static bool is_new(const struct network_run *n, const int64_t *best)
{
    return !n->whole.record.number ||
           memcmp(n->whole.kernels, best, (size_t)n->count * sizeof *best) != 0;
}

static void cannot(struct network_run *n, const struct err *why)
{
    char text[1400];
    n->whole.cannot = true;
    network_message(n, "warning", "the network is not run as a whole: %s",
                    err_format(why, text, sizeof text));
}

static void begin(struct network_run *n, struct making *m)
{
    struct network_whole *w = &n->whole;
    struct err e = {0};
    int weights = -1;
    if (plan_read_files(&w->plan, &weights, &e))
        w->run = errand_begin_whole(&m->whole, weights, &e);
    if (weights >= 0)
        close(weights);
    if (!w->run) {
        cannot(n, &e);
        return;
    }
    w->begun_ns = os_now_ns();
    w->has_rival = m->whole.races;
    w->running = (struct whole_record){.number = w->record.number + 1,
                                       .all_trials = n->record.trials,
                                       .elapsed_s = network_ran_seconds(n),
                                       .sum_s = network_seconds(n)};
    memcpy(w->trying, m->best, (size_t)n->count * sizeof *m->best);
}

bool network_whole_begin(struct network_run *n, bool at_end, struct err *e)
{
    struct making m = {.network = n};
    struct err why = {0};
    const struct network_whole *w = &n->whole;
    double sum = network_seconds(n);
    if (!w->plan.step_count || !n->place.on_device || w->cannot || sum <= 0)
        return true;
    if ((w->record.number && !at_end) && (!(sum <= FALLEN_TO * w->record.sum_s) ||
                                          !(w->spent_s <= SHARE_OF_TIME * network_ran_seconds(n))))
        return true;
    bool made = make(&m, &why);
    if (!store_in_place(n->host.store, e)) {
        finish(&m);
        return false;
    }
    if (!made)
        cannot(n, &why);
    else if (is_new(n, m.best))
        begin(n, &m);
    finish(&m);
    return true;
}

// --- what came of it ---

static const char *asks_text(struct network_run *n, const int64_t *ask)
{
    struct str text = {0};
    for (int i = 0; i < n->count; i++)
        str_printf(&text, "%s%" PRId64, i ? "," : "", ask[i]);
    const char *kept = arena_strdup(&n->arena, str_text(&text));
    str_finish(&text);
    return kept;
}

// Where the worker was when it was lost.
static const char *where(const struct network_run *n, char *out, size_t size)
{
    int at;
    enum trial_phase phase = errand_phase(n->whole.run, &at);
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

static void take_result(struct network_run *n, const struct whole_result *r)
{
    struct network_whole *w = &n->whole;
    size_t bytes = (size_t)n->count * sizeof *w->kernels;
    w->record = w->running;
    memcpy(w->kernels, w->trying, bytes);
    w->record.verified = r->verified;
    w->record.seconds = r->verified ? r->seconds[0] : 0;
    w->record.rival_s = r->verified && w->has_rival ? r->seconds[1] : 0;
    w->record.reason = arena_strdup(&n->arena, r->reason);
    bool is_faster = w->record.seconds > 0 &&
                     (!w->has_rival || (r->seconds[1] > 0 && r->seconds[0] <= r->seconds[1]));
    if (!is_faster)
        return;
    memcpy(w->kept, w->kernels, bytes);
    w->has_kept = true;
}

bool network_whole_step(struct network_run *n, struct err *e)
{
    struct network_whole *w = &n->whole;
    struct whole_result result = {.verified = false};
    struct err why = {0};
    enum errand_end end;
    char at[160];
    if (!errand_is_over(w->run, &end, &result, &why))
        return true;
    if (end == ERRAND_LOST)
        snprintf(result.reason, sizeof result.reason, "the worker %s (%s)", why.text,
                 where(n, at, sizeof at));
    else if (end == ERRAND_REFUSED)
        snprintf(result.reason, sizeof result.reason, "%s", why.text);
    network_whole_drop(n);
    w->spent_s += (double)(os_now_ns() - w->begun_ns) * 1e-9;
    take_result(n, &result);
    w->lost = end == ERRAND_DONE ? 0 : w->lost + 1;
    if (w->lost == 1) // perhaps not by these kernels: the end tries them once more
        memset(w->kernels, 0, (size_t)n->count * sizeof *w->kernels);
    w->record.kernels = asks_text(n, w->trying);
    w->record.kept = w->has_kept ? asks_text(n, w->kept) : NULL;
    w->record.at = os_unix_time();
    if (!network_stored(n, store_put_whole(n->host.store, n->record.id, &w->record, e), e))
        return false;
    const struct whole_record *r = &n->whole.record;
    char whole[32], sum[32], rival[32];
    if (r->seconds <= 0)
        network_message(n, "warning", "run as a whole it gave no time: %s", r->reason);
    else if (r->rival_s > 0 && r->rival_s < r->seconds)
        network_message(
            n, "info",
            "as a whole it takes %s with the kernels of before, %s with each task's best",
            text_time(r->rival_s, rival), text_time(r->seconds, whole));
    else
        network_message(n, "info", "as a whole it takes %s, every layer is right; its parts %s",
                        text_time(r->seconds, whole), text_time(r->sum_s, sum));
    network_emit(n, (struct event){.kind = EVENT_WHOLE, .whole = &w->record});
    return true;
}

int network_whole_fds(const struct network_run *n, struct pollfd *out, int most)
{
    return n->whole.run ? errand_fds(n->whole.run, out, most) : 0;
}

int network_whole_wait_ms(const struct network_run *n)
{
    return n->whole.run ? errand_wait_ms(n->whole.run) : 0;
}
