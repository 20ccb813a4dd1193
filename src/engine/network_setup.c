// Sets up a network: a new one, or one that is resumed.

#include "engine/network_run.h"

#include "base/build.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_read.h"
#include "base/os.h"
#include "engine/session.h"
#include "script/network.h"
#include "space/objective.h"

#include <inttypes.h>
#include <stdlib.h>

#define HINT_RESUME "start a new session; mixing devices or drivers would mean nothing"

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

// Copies a text into the network's arena and empties it.
static const char *keep(struct network_run *n, struct str *text)
{
    const char *kept = arena_strdup(&n->arena, str_text(text));
    str_finish(text);
    return kept;
}

static const char *settings_json(struct network_run *n, const struct setting *set, int count)
{
    struct str text = {0};
    struct json_writer w = json_begin(&text);
    for (int i = 0; i < count; i++)
        json_add_text(&w, set[i].name, set[i].value);
    json_end(&w);
    return keep(n, &text);
}

// Fills the network's own record. All tasks have the same device, strategy and the like, so these
// are taken from the last one.
static void describe(struct network_run *n, const struct network_options *o,
                     const struct session_record *task)
{
    struct session_record *r = &n->record;
    r->created = os_unix_time();
    r->build = build_name();
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
    r->begin_with = keep(n, &text);
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

static bool draft_tasks(struct network_run *n, const struct session_host *host,
                        const struct network_options *o, struct err *e)
{
    const struct network *net = o->network;
    struct arena a;
    struct session_record *list = NULL;
    int known = 0;
    int64_t trials = (o->each->trials ? o->each->trials : ENGINE_DEFAULT_TRIALS) / net->task_count;
    arena_init(&a);
    bool ok = store_list_sessions(n->store.db, &a, &list, &known, e);
    for (int i = 0; ok && i < net->task_count; i++) {
        struct session_options each = *o->each;
        struct network_member *m = &n->member[i];
        m->record.position = i + 1;
        each.space = net->task[i].preset;
        each.set = net->task[i].set;
        each.set_count = net->task[i].set_count;
        struct session *s = session_draft(host, &each, &n->choice, e);
        ok = s || err_prefix(e, "%s", net->task[i].label);
        if (!s)
            break;
        m->record.name = copy(n, net->task[i].label);
        m->record.uses = net->task[i].uses;
        m->record.title = copy(n, s->record.title);
        m->record.preset = copy(n, s->record.path);
        m->record.kind = copy(n, script_operation(s->backend.script)->kind->name);
        m->record.flop = s->record.flop;
        m->record.told_s = network_told(net) > 0 ? net->task[i].told_s : 0;
        m->record.settings = settings_json(n, net->task[i].set, net->task[i].set_count);
        // The best of earlier sessions that had `trials` at least.
        for (int j = 0; !o->again && j < known; j++) {
            const struct session_record *r = &list[j], *own = &s->record;
            if (!r->damage && r->best_ask && r->trials >= trials && r->state == STATE_DONE &&
                (m->record.known_s <= 0 || r->best_seconds < m->record.known_s) &&
                str_equal(r->operation, own->operation) && str_equal(r->source, own->source) &&
                stored_on_one_device(r, own) && r->cold == own->cold &&
                objective_is_same(r->objective, own->objective) &&
                str_equal(r->driver, own->driver) && str_equal(r->compiler, own->compiler)) {
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

static bool store_new(struct network_run *n, const struct plan *plan, struct err *e)
{
    struct text_record text = {.name = n->record.name, .path = n->record.path};
    struct store *store = n->store.db;
    char *content = NULL;
    bool ok = file_read(n->record.path, &content, NULL, e);
    text.text = content;
    ok = ok && store_begin(store, e) &&
         store_create_session(store, &n->record, &text, 1, &n->record.id, e);
    for (int i = 0; ok && i < n->count; i++)
        ok = store_put_task(store, n->record.id, &n->member[i].record, e);
    ok = ok && network_whole_start(n, plan, e) && store_commit(store, e) &&
         store_lock_session(store, n->record.id, e);
    kill_point("create");
    free(content);
    return ok;
}

// Refuses remote machines: the network runs as a whole on one device, which has to be that of the
// tasks.
static bool check_backend(const struct session_options *o, struct err *e)
{
    return !o || !o->machines ||
           err_usage(e, "--on measures for single operations: a network is tuned on a device here "
                        "(tune NETWORK --only TASK --on ... tunes one of its tasks)");
}

// Reads the network for the device, which may be NULL: what its layers are may depend on that.
static struct script_options as_on(const struct network_options *o, const struct gpu_info *info)
{
    return (struct script_options){.path = o->path,
                                   .set = o->each->set,
                                   .set_count = o->each->set_count,
                                   .device_type = info ? info->type : NULL,
                                   .limits = info ? &info->limits : NULL};
}

// Reads the network anew with sizes that fit the device, if that is a CPU (as the sizes of presets
// do); `each` gets them. Else `e` names sizes that fit.
static bool fit(struct arena *a, const struct network_options *o, const struct gpu_info *info,
                struct session_options *each, const char **said, struct err *e)
{
    struct script_options as = as_on(o, info);
    struct network_sizes sizes = {.arena = a};
    struct err why = {.text = ""};
    if (network_fits(o->network, &info->limits, info->memory_bytes, &why))
        return true;
    bool found = network_fit(o->network, &as, &info->limits, info->memory_bytes, &sizes, &why);
    if (!found || !info->is_cpu) {
        *e = why;
        return false;
    }
    *said = arena_printf(a, "%s with %s, so that it fits the device", o->network->name, sizes.text);
    each->set = sizes.set;
    each->set_count = sizes.count;
    network_finish(o->network);
    as.set = each->set;
    as.set_count = each->set_count;
    return network_load(&as, o->network, e);
}

static const char *task_name_at(const void *context, size_t i)
{
    const struct network *n = context;
    return n->task[i].label;
}

// NULL and `e`: there is no such task.
static const struct network_task *find_task(const struct network *n, const char *only,
                                            struct err *e)
{
    for (int i = 0; i < n->task_count; i++)
        if (str_equal(n->task[i].label, only))
            return &n->task[i];
    const char *near = str_suggest(only, (size_t)n->task_count, task_name_at, n);
    if (near)
        err_usage(e, "--only: %s has no task '%s' (did you mean '%s'?)", n->name, only, near);
    else
        err_usage(e, "--only: %s has no task '%s' (tilewalk check %s lists them)", n->name, only,
                  n->name);
    return NULL;
}

bool network_choose_task(struct arena *a, const struct network_options *o,
                         struct session_options *out, struct err *e)
{
    struct backend_choice choice = {.machines = NULL};
    const struct backend_wish wish = {.source = o->each->source, .device = o->each->device};
    const struct network_task *t = NULL;
    const char *said = NULL;
    *out = *o->each;
    // Other machines are not asked twice: they judge the task themselves.
    bool ok = out->machines || backend_choose(&choice, NULL, &wish, e);
    const struct gpu_info *info = ok ? backend_device(&choice) : NULL;
    const struct script_options as = as_on(o, info);
    ok = ok && network_load(&as, o->network, e) && (t = find_task(o->network, o->only, e));
    if (ok && info && !network_task_fits(o->network, t, &info->limits, e))
        ok = fit(a, o, info, out, &said, e) && (t = find_task(o->network, o->only, e));
    if (ok && said)
        log_write("info", "%s", said);
    backend_choice_finish(&choice);
    if (ok) {
        out->space = t->preset;
        out->set = t->set;
        out->set_count = t->set_count;
    }
    return ok;
}

static bool start(struct network_run *n, const struct session_host *host,
                  const struct network_options *options, struct err *e)
{
    struct session_options each = *options->each;
    struct network_options fitted = *options, *o = &fitted;
    const char *said = NULL;
    fitted.each = &each;
    const char *source = o->each->source;
    if (recorded_is(source))
        return err_usage(e,
                         "a network is not tuned on a recording (tilewalk compare searches those "
                         "of its tasks)");
    char *scheduler =
        schedule_canonical(o->scheduler ? o->scheduler : NETWORK_DEFAULT_SCHEDULER, e);
    n->record.scheduler = copy(n, scheduler);
    free(scheduler);
    const struct backend_wish wish = {.source = source, .device = o->each->device};
    if (!check_backend(o->each, e) || !n->record.scheduler ||
        !backend_choose(&n->choice, NULL, &wish, e) ||
        !backend_judge_matrices(&n->choice, n->store.db, e))
        return false;
    // This checks the network as a whole; draft_tasks checks each task against the device.
    const struct gpu_info *info = backend_device(&n->choice);
    const struct script_options as = as_on(o, info);
    if (!network_load(&as, o->network, e))
        return false;
    if (info && !fit(&n->arena, o, info, &each, &said, e))
        return false;
    n->count = o->network->task_count;
    n->member = mem_zero((size_t)n->count, sizeof *n->member);
    if (!draft_tasks(n, host, o, e))
        return false;
    take_options(n, o->each);
    n->each.strategy = n->record.strategy;
    n->each.workers = n->record.workers;
    if (!make_schedule(n, e) || !store_new(n, &o->network->plan, e))
        return false;
    session_clock_run(&n->clock, true);
    session_event(&n->log, (struct event){.kind = EVENT_SESSION});
    if (said)
        session_message(&n->log, "info", "%s", said);
    for (int i = 0; i < n->count; i++) {
        const struct task_record *t = &n->member[i].record;
        if (t->known_s > 0)
            session_message(&n->log, "info", "%s: known, tuned in session %" PRId64 " (%.4g ms)",
                            t->name, t->session, t->known_s * 1e3);
    }
    return true;
}

static struct network_run *network_new(const struct session_host *host)
{
    struct network_run *n = mem_zero(1, sizeof *n);
    arena_init(&n->arena);
    n->store = (struct session_store){.db = host->store, .record = &n->record};
    n->clock.record = &n->record;
    n->log = (struct session_log){.store = &n->store,
                                  .clock = &n->clock,
                                  .on_event = host->on_event,
                                  .context = host->context};
    return n;
}

struct network_run *network_start(const struct session_host *host, const struct network_options *o,
                                  struct err *e)
{
    struct network_run *n = network_new(host);
    if (start(n, host, o, e))
        return n;
    network_destroy(n);
    return NULL;
}

// --- one that goes on ---

struct round_replay {
    struct network_run *network;
    struct weight_record *weight;
    int weights, weighed; // of them
    struct err err;
    bool failed;
};

// Sets the weights that the user had chosen before a round began.
static void apply_weights(struct round_replay *t, int64_t round)
{
    for (; t->weighed < t->weights && t->weight[t->weighed].round <= round; t->weighed++) {
        const struct weight_record *w = &t->weight[t->weighed];
        if (w->task <= t->network->count)
            network_weigh(t->network, w->task, w->weight);
    }
}

static bool network_replay_round(void *context, const struct round_record *r)
{
    struct round_replay *t = context;
    struct network_run *n = t->network;
    n->round = *r;
    apply_weights(t, r->number);
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
    m->allotted += r->trials;
    if (!r->told)
        return true;
    m->seconds = r->seconds;
    m->over = !r->more;
    network_tell(n, m, r->seconds, r->more);
    return true;
}

static bool read_members(struct network_run *n, struct err *e)
{
    struct task_record *task;
    if (!store_get_tasks(n->store.db, n->record.id, &n->arena, &task, &n->count, e))
        return false;
    n->member = mem_zero((size_t)n->count, sizeof *n->member);
    for (int i = 0; i < n->count; i++) {
        struct session_record r;
        n->member[i] = (struct network_member){.record = task[i], .seconds = task[i].known_s};
        if (!task[i].session || task[i].known_s > 0)
            continue;
        if (!store_get_session(n->store.db, task[i].session, &n->arena, &r, e))
            return false;
        n->member[i].spent = r.trials;
        n->member[i].rejected = r.rejected;
        n->member[i].ok = r.ok;
    }
    return n->count > 0 || err_set(e, "session %" PRId64 " has no tasks", n->record.id);
}

static void restore_options(struct network_run *n, const struct session_options *more)
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
    if (!check_backend(more, e) || !store_lock_session(n->store.db, id, e))
        return false;
    r->id = id; // ours, to be unlocked
    if (!store_get_session(n->store.db, id, &n->arena, r, e) ||
        !session_change_budget(&n->store, more, e))
        return false;
    if (r->state == STATE_DONE && r->trials >= r->budget_trials) {
        n->phase = SESSION_ENDED;
        store_unlock_session(n->store.db, id);
        session_event(&n->log, (struct event){.kind = EVENT_SESSION});
        return true;
    }
    restore_options(n, more);
    const struct backend_wish wish = {.again = r, .hint = HINT_RESUME};
    if (!backend_choose(&n->choice, NULL, &wish, e) || !read_members(n, e) || !make_schedule(n, e))
        return false;
    struct round_replay t = {.network = n};
    if (!store_get_weights(n->store.db, id, &n->arena, &t.weight, &t.weights, e) ||
        !store_each_round(n->store.db, id, 0, network_replay_round, &t, e))
        return false;
    apply_weights(&t, INT64_MAX);
    if (t.failed && e)
        *e = t.err;
    if (t.failed || !network_whole_start(n, NULL, e))
        return false;
    r->state = STATE_RUNNING;
    r->message = NULL;
    if (!store_set_state(n->store.db, id, STATE_RUNNING, NULL, r->ran_seconds, e))
        return false;
    session_clock_run(&n->clock, true);
    session_event(&n->log, (struct event){.kind = EVENT_SESSION});
    return true;
}

struct network_run *network_resume(const struct session_host *host, int64_t id,
                                   const struct session_options *more, struct err *e)
{
    struct network_run *n = network_new(host);
    if (resume(n, id, more, e))
        return n;
    network_destroy(n);
    return NULL;
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
    backend_choice_finish(&n->choice);
    if (n->record.id)
        store_unlock_session(n->store.db, n->record.id);
    arena_finish(&n->arena);
    free(n);
}
