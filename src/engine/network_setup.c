// A network is put together: a new one, or one that goes on.
#include "engine/network_run.h"
#include "engine/stored.h"

#include "base/file.h"
#include "base/json.h"
#include "base/json_read.h"
#include "base/os.h"
#include "engine/devices.h"
#include "engine/session_setup.h"
#include "script/network.h"

#include <inttypes.h>
#include <stdlib.h>

#define HINT_RESUME "start a new session; mixing devices or drivers would mean nothing"

// --- what is known ---

static bool is_same_problem(const struct session_record *a, const struct session_record *b)
{
    return str_equal(a->operation, b->operation) && str_equal(a->source, b->source) &&
           stored_on_one_device(a, b) && a->cold == b->cold && str_equal(a->driver, b->driver) &&
           str_equal(a->compiler, b->compiler);
}

// --- a new one ---

static const char *copy(struct network_run *n, const char *text)
{
    return text ? arena_strdup(&n->arena, text) : NULL;
}

static void take_options(struct network_run *n, const struct session_options *o)
{
    n->each = *o;
    n->each.strategy = copy(n, o->strategy);
    n->each.source = copy(n, o->source);
    n->each.device = copy(n, o->device);
    n->each.warm = copy(n, o->warm);
    n->each.transfer = copy(n, o->transfer);
    n->each.fault = copy(n, o->fault);
    n->each.trials = 0;
    n->each.seconds = 0;
    n->each.set = NULL;
    n->each.set_count = 0;
    n->each.note = NULL;
}

static const char *settings_json(struct network_run *n, const struct setting *set, int count)
{
    struct str text = {0};
    struct json_writer w = json_begin(&text);
    for (int i = 0; i < count; i++)
        json_add_text(&w, set[i].name, set[i].value);
    json_end(&w);
    const char *kept = arena_strdup(&n->arena, str_text(&text));
    str_finish(&text);
    return kept;
}

static void describe_task(struct network_run *n, struct network_member *m,
                          const struct network_task *t, double told, const struct session *foreseen)
{
    m->record.name = copy(n, t->label);
    m->record.uses = t->uses;
    m->record.title = copy(n, foreseen->record.title);
    m->record.preset = copy(n, foreseen->record.path);
    m->record.kind = copy(n, script_operation(foreseen->script)->kind->name);
    m->record.flop = foreseen->record.flop;
    m->record.told_s = told > 0 ? t->told_s : 0;
    m->record.settings = settings_json(n, t->set, t->set_count);
}

// The network's own record takes from its first task what all have in common.
static void describe(struct network_run *n, const struct network_options *o,
                     const struct session_record *task)
{
    struct session_record *r = &n->record;
    r->created = os_unix_time();
    r->state = STATE_RUNNING;
    r->name = copy(n, o->network->name);
    r->path = copy(n, o->path);
    r->device = copy(n, task->device);
    r->driver = copy(n, task->driver);
    r->device_type = copy(n, task->device_type);
    r->device_id = copy(n, task->device_id);
    r->limits = copy(n, task->limits);
    r->source = copy(n, task->source);
    r->strategy = copy(n, task->strategy);
    r->seed = task->seed;
    r->workers = task->workers;
    r->cards = task->cards;
    r->count_rejected = task->count_rejected;
    r->cold = task->cold;
    r->budget_trials = o->each->trials ? o->each->trials : ENGINE_DEFAULT_TRIALS;
    r->budget_seconds = o->each->seconds;
    r->note = copy(n, o->each->note);
    struct str text = {0};
    struct json_writer w = json_begin(&text);
    json_add_text_if_any(&w, "warm", o->each->warm);
    json_add_text_if_any(&w, "transfer", o->each->transfer);
    json_end(&w);
    const char *kept = arena_strdup(&n->arena, str_text(&text));
    str_finish(&text);
    r->begin_with = kept;
    r->size = "0";
    r->text_hash = "";
    r->settings = settings_json(n, o->each->set, o->each->set_count);
    int64_t uses = 0;
    for (int i = 0; i < n->count; i++) {
        uses += n->member[i].record.uses;
        r->flop += (double)n->member[i].record.uses * n->member[i].record.flop;
    }
    r->title = arena_printf(&n->arena, "network %d tasks, %" PRId64 " kernels a run, %.4g GFLOP",
                            n->count, uses, r->flop / 1e9);
    r->operation = arena_printf(
        &n->arena, "{\"kind\":\"network\",\"tasks\":%d,\"kernels\":%" PRId64 "}", n->count, uses);
}

static bool foresee(struct network_run *n, const struct network_options *o, struct err *e)
{
    const struct network *net = o->network;
    struct arena a;
    struct session_record *list = NULL;
    int known = 0;
    int64_t trials = (o->each->trials ? o->each->trials : ENGINE_DEFAULT_TRIALS) / net->task_count;
    arena_init(&a);
    bool ok = store_list_sessions(n->host.store, &a, &list, &known, e);
    for (int i = 0; ok && i < net->task_count; i++) {
        struct session_options each = *o->each;
        struct network_member *m = &n->member[i];
        m->record.position = i + 1;
        each.space = net->task[i].preset;
        each.set = net->task[i].set;
        each.set_count = net->task[i].set_count;
        struct session *s = session_foresee(&n->host, &each, &n->place, e);
        ok = s || err_prefix(e, "%s", net->task[i].label);
        if (!s)
            break;
        describe_task(n, m, &net->task[i], network_told(net), s);
        if (!o->again) {
            // The best of earlier sessions that had `trials` at least.
            for (int j = 0; j < known; j++) {
                const struct session_record *r = &list[j];
                bool better = m->record.known_s <= 0 || r->best_seconds < m->record.known_s;
                if (r->damage || !r->best_ask || r->trials < trials || r->state != STATE_DONE ||
                    !better || !is_same_problem(r, &s->record))
                    continue;
                m->record.known_s = m->seconds = r->best_seconds;
                m->record.session = r->id;
            }
        }
        if (i == net->task_count - 1)
            describe(n, o, &s->record);
        session_destroy(s);
    }
    arena_finish(&a);
    return ok;
}

static bool make_schedule(struct network_run *n, struct err *e)
{
    struct schedule_task *task = arena_zero(&n->arena, (size_t)n->count, sizeof *task);
    n->uses = arena_zero(&n->arena, (size_t)n->count, sizeof *n->uses);
    for (int i = 0; i < n->count; i++) {
        const struct task_record *t = &n->member[i].record;
        task[i] = (struct schedule_task){.work = t->flop, .kind = t->kind};
        network_weigh(n, i + 1, 1);
    }
    n->problem = (struct schedule_problem){.task = task, .tasks = n->count, .uses = n->uses};
    n->schedule = schedule_create(n->record.scheduler, &n->problem, n->record.seed, e);
    for (int i = 0; n->schedule && i < n->count; i++)
        if (n->member[i].record.known_s > 0)
            network_tell(n, &n->member[i], n->member[i].record.known_s, false);
    return n->schedule != NULL;
}

static bool put_tasks(struct network_run *n, struct err *e)
{
    for (int i = 0; i < n->count; i++)
        if (!store_put_task(n->host.store, n->record.id, &n->member[i].record, e))
            return false;
    return true;
}

static bool store_new(struct network_run *n, const struct plan *plan, struct err *e)
{
    struct text_record text = {.name = n->record.name, .path = n->record.path};
    struct store *store = n->host.store;
    char *content = NULL;
    bool ok = file_read(n->record.path, &content, NULL, e);
    text.text = content;
    ok = ok && store_begin(store, e) &&
         store_create_session(store, &n->record, &text, 1, &n->record.id, e) && put_tasks(n, e) &&
         network_whole_start(n, plan, e) && store_commit(store, e) &&
         store_lock_session(store, n->record.id, e);
    kill_point("create");
    free(content);
    return ok;
}

// All at once: each task by itself is held against the device when it is foreseen.
static bool fits(const struct network_run *n, const struct network *net, struct err *e)
{
    const struct gpu_info *info = session_place_device(&n->place);
    return !info || network_fits(net, &info->limits, info->memory_bytes, e);
}

// A run of the whole is one device's, which would have to be the tasks' too.
static bool check_place(const struct session_options *o, struct err *e)
{
    return !o || !o->dialer ||
           err_usage(e, "--on measures for single operations: a network is tuned on a device here "
                        "(tune NETWORK --only TASK --on ... tunes one of its tasks)");
}

static bool start(struct network_run *n, const struct network_options *o, struct err *e)
{
    const char *source = o->each->source;
    if (recorded_is(source))
        return err_usage(e,
                         "a network is not tuned on a recording (tilewalk replay A B --scheduler "
                         "plays schedulers on several)");
    n->count = o->network->task_count;
    n->member = mem_zero((size_t)n->count, sizeof *n->member);
    char *scheduler =
        schedule_canonical(o->scheduler ? o->scheduler : NETWORK_DEFAULT_SCHEDULER, e);
    n->record.scheduler = copy(n, scheduler);
    free(scheduler);
    if (!check_place(o->each, e) || !n->record.scheduler ||
        !session_place_find(NULL, &n->place, source, o->each->device, e) ||
        !fits(n, o->network, e) || !foresee(n, o, e))
        return false;
    take_options(n, o->each);
    n->each.strategy = n->record.strategy;
    n->each.workers = n->record.workers;
    if (!make_schedule(n, e) || !store_new(n, &o->network->plan, e))
        return false;
    network_run_clock(n, true);
    network_emit(n, (struct event){.kind = EVENT_SESSION});
    for (int i = 0; i < n->count; i++) {
        const struct task_record *t = &n->member[i].record;
        if (t->known_s > 0)
            network_message(n, "info", "%s: known, tuned in session %" PRId64 " (%.4g ms)", t->name,
                            t->session, t->known_s * 1e3);
    }
    return true;
}

static struct network_run *begun(struct network_run *n, bool ok)
{
    if (ok)
        return n;
    network_destroy(n);
    return NULL;
}

static struct network_run *network_new(const struct session_host *host)
{
    struct network_run *n = mem_zero(1, sizeof *n);
    arena_init(&n->arena);
    n->host = *host;
    return n;
}

struct network_run *network_start(const struct session_host *host, const struct network_options *o,
                                  struct err *e)
{
    struct network_run *n = network_new(host);
    return begun(n, start(n, o, e));
}

// --- one that goes on ---

struct telling {
    struct network_run *network;
    struct weight_record *weight;
    int weights, weighed; // of them
    struct err err;
    bool failed;
};

// What the user had said before a round was given.
static void weigh_for(struct telling *t, int64_t round)
{
    for (; t->weighed < t->weights && t->weight[t->weighed].round <= round; t->weighed++) {
        const struct weight_record *w = &t->weight[t->weighed];
        if (w->task <= t->network->count)
            network_weigh(t->network, w->task, w->weight);
    }
}

static bool tell_round(void *context, const struct round_record *r)
{
    struct telling *t = context;
    struct network_run *n = t->network;
    n->round = *r;
    weigh_for(t, r->number);
    bool expected = r->pinned || schedule_next(n->schedule) == r->task - 1;
    if (r->task > n->count || !expected) {
        t->failed = true;
        err_set(&t->err,
                "the scheduler gives round %" PRId64 " to another task than the database holds "
                "(made by another version of tilewalk? its results can still be shown)",
                r->number);
        return false;
    }
    struct network_member *m = &n->member[r->task - 1];
    m->granted += r->trials;
    if (!r->told)
        return true;
    m->seconds = r->seconds;
    m->over = !r->more;
    network_tell(n, m, r->seconds, r->more);
    return true;
}

static bool tell_rounds(struct network_run *n, struct err *e)
{
    struct telling t = {.network = n};
    struct store *s = n->host.store;
    if (!store_get_weights(s, n->record.id, &n->arena, &t.weight, &t.weights, e) ||
        !store_each_round(s, n->record.id, 0, tell_round, &t, e))
        return false;
    weigh_for(&t, INT64_MAX);
    if (t.failed && e)
        *e = t.err;
    return !t.failed;
}

static bool read_members(struct network_run *n, struct err *e)
{
    struct task_record *task;
    if (!store_get_tasks(n->host.store, n->record.id, &n->arena, &task, &n->count, e))
        return false;
    n->member = mem_zero((size_t)n->count, sizeof *n->member);
    for (int i = 0; i < n->count; i++) {
        struct session_record r;
        n->member[i] = (struct network_member){.record = task[i], .seconds = task[i].known_s};
        if (!task[i].session || task[i].known_s > 0)
            continue;
        if (!store_get_session(n->host.store, task[i].session, &n->arena, &r, e))
            return false;
        n->member[i].spent = r.trials;
        n->member[i].rejected = r.rejected;
        n->member[i].ok = r.ok;
    }
    return n->count > 0 || err_set(e, "session %" PRId64 " has no tasks", n->record.id);
}

static bool change_budget(struct network_run *n, const struct session_options *more, struct err *e)
{
    struct session_record *r = &n->record;
    if (!more || (more->trials <= 0 && more->seconds <= 0))
        return true;
    if (more->trials > 0 && !session_check_budget(r, more->trials, e))
        return false;
    r->budget_trials = more->trials > 0 ? more->trials : r->budget_trials;
    r->budget_seconds = more->seconds > 0 ? more->seconds : r->budget_seconds;
    return store_set_budget(n->host.store, r->id, r->budget_trials, r->budget_seconds, e);
}

static void take_options_again(struct network_run *n, const struct session_options *more)
{
    const struct session_record *r = &n->record;
    struct limits limits;
    struct json with;
    bool has_limits = limits_parse(r->limits, &limits);
    if (!r->begin_with || !json_parse(r->begin_with, &with))
        with = (struct json){0};
    struct session_options o = {.source = r->source,
                                .warm = json_text_exact(json_member(with, "warm"), &n->arena),
                                .transfer =
                                    json_text_exact(json_member(with, "transfer"), &n->arena),
                                .has_spills = has_limits,
                                .spills = has_limits ? limits.spills : 0,
                                .device = str_equal(r->source, "device") ? r->device : NULL,
                                .strategy = r->strategy,
                                .workers = more && more->workers ? more->workers : r->workers,
                                .count_rejected = r->count_rejected,
                                .cold = r->cold,
                                .validate = more && more->validate,
                                .fault = more ? more->fault : NULL};
    take_options(n, &o);
}

static bool resume(struct network_run *n, int64_t id, const struct session_options *more,
                   struct err *e)
{
    struct session_record *r = &n->record;
    if (!check_place(more, e) || !store_lock_session(n->host.store, id, e))
        return false;
    r->id = id; // ours, to be unlocked
    if (!store_get_session(n->host.store, id, &n->arena, r, e) || !change_budget(n, more, e))
        return false;
    if (r->state == STATE_DONE && r->trials >= r->budget_trials) {
        n->phase = SESSION_ENDED;
        store_unlock_session(n->host.store, id);
        network_emit(n, (struct event){.kind = EVENT_SESSION});
        return true;
    }
    take_options_again(n, more);
    if (!session_place_find_again(NULL, &n->place, r, HINT_RESUME, e) || !read_members(n, e) ||
        !make_schedule(n, e) || !tell_rounds(n, e) || !network_whole_resume(n, e))
        return false;
    r->state = STATE_RUNNING;
    r->message = NULL;
    if (!store_set_state(n->host.store, id, STATE_RUNNING, NULL, r->ran_seconds, e))
        return false;
    network_run_clock(n, true);
    network_emit(n, (struct event){.kind = EVENT_SESSION});
    return true;
}

struct network_run *network_resume(const struct session_host *host, int64_t id,
                                   const struct session_options *more, struct err *e)
{
    struct network_run *n = network_new(host);
    return begun(n, resume(n, id, more, e));
}

void network_destroy(struct network_run *n)
{
    if (!n)
        return;
    network_whole_finish(n);
    for (int i = 0; i < n->count; i++)
        session_destroy(n->member[i].session);
    free(n->member);
    schedule_destroy(n->schedule);
    session_place_finish(&n->place);
    if (n->record.id)
        store_unlock_session(n->host.store, n->record.id);
    arena_finish(&n->arena);
    free(n);
}
