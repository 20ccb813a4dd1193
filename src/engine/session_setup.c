// Sessions are put together: new ones, and those that go on.

#include "engine/session.h"

#include "base/build.h"
#include "base/err.h"
#include "base/os.h"
#include "engine/attempt.h"
#include "engine/devices.h"
#include "engine/session_shapes.h"
#include "report/text.h"
#include "space/objective.h"

#include <inttypes.h>
#include <stdlib.h>

#define HINT_RESUME                                                                                \
    "start a new session, as tune --like does; mixing devices or drivers would mean nothing"
#define HINT_LIKE       "--device names another one"
#define LEAST_ATTEMPT_S 5 // a worker that compiles has to start

static struct session *session_new(const struct session_host *host)
{
    struct session *s = mem_zero(1, sizeof *s);
    arena_init(&s->arena);
    s->store = (struct session_store){.db = host->store, .record = &s->record};
    s->clock.record = &s->record;
    s->log = (struct session_log){.store = &s->store,
                                  .clock = &s->clock,
                                  .on_event = host->on_event,
                                  .context = host->context};
    s->drift.due_in = DRIFT_CHECK_EVERY;
    return s;
}

void session_release(struct session *s)
{
    strategy_destroy(s->cycle.strategy); // it may still be fitting a model
    s->cycle.strategy = NULL;
}

void session_destroy(struct session *s)
{
    if (!s)
        return;
    for (struct cycle_trial *next, *t = s->cycle.open; t; t = next) {
        next = t->next;
        open_trial_destroy((struct open_trial *)t);
    }
    source_destroy(s->backend.source);
    cycle_finish(&s->cycle);
    legal_destroy(s->legal);
    session_shapes_finish(s->backend.shapes);
    script_destroy(s->backend.script);
    recorded_finish(&s->backend.recorded);
    transfer_finish(&s->beginning.transfer);
    free(s->rejections.by);
    config_set_finish(&s->probes.known);
    config_set_finish(&s->probes.wanted);
    free(s->probes.of);
    if (s->record.id)
        store_unlock_session(s->store.db, s->record.id);
    free(s->races.open);
    free(s->store.population);
    arena_finish(&s->arena);
    free(s);
}

// The peak of the device, measured if need be, and what it leaves to the operation go into the
// record. `i` NULL: the session is on no device.
static bool take_peak(struct session *s, const struct gpu_info *i, struct err *e)
{
    struct session_record *r = &s->record;
    struct roofline peak;
    bool found;
    if (!i)
        return r->until <= 0 ||
               err_usage(e, "--until is a share of a device's roof: there is no device");
    if (!peak_find(s->store.db, i, &peak, &found, e))
        return false;
    // On CPU devices, which share their time with all else that runs, only where it is wanted.
    if (!found && !s->backend.device.machines && (!i->is_cpu || r->until > 0)) {
        found = peak_measure(s->store.db, i, &peak, e);
        if (!found && r->until > 0)
            return false;
        if (!found)
            log_warning("%s", e->text);
    }
    if (found) {
        enum roofline_kind by;
        r->roof_s = roofline_seconds(&peak, script_operation(s->backend.script), &by);
        r->roof_by = r->roof_s > 0 ? roofline_name(by) : NULL;
        r->dispatch_s = peak.rate[ROOFLINE_DISPATCH];
    }
    return r->until <= 0 || r->roof_s > 0 ||
           err_set(e, "--until: nothing was measured that bounds this operation");
}

// Names others that use the card: what it is timed at may be noisy.
static void name_card_users(struct session *s, const struct backend_choice *c,
                            const struct session_options *o)
{
    char users[300];
    const struct gpu_info *i = c->machines ? NULL : backend_device(c);
    if (i && o && o->card_users && card_users_name(o->card_users, i->pci, users, sizeof users))
        session_message(&s->log, "warning", "noise: the card is also used by %s", users);
}

// --- a new one ---

static void fill_record(struct session *s, const struct session_options *o,
                        const struct backend_choice *c)
{
    struct session_record *r = &s->record;
    int workers = c->remote ? remote_facts(c->remote).workers // as many as fit the device
                  : c->benchmark
                      ? 1 // as a user would measure: what runs beside it is slower
                      : remote_usual_workers(c->on_device ? c->cards.count : 0, os_cores());
    r->created = os_unix_time();
    r->build = build_name();
    r->note = o->note;
    r->network = o->network;
    r->task = o->task;
    r->state = STATE_RUNNING;
    r->seed = o->has_seed ? o->seed : os_seed() >> 11; // fits a double: JSON readers keep it
    r->budget_trials = o->trials ? o->trials : ENGINE_DEFAULT_TRIALS;
    r->budget_seconds = o->seconds;
    r->until = o->until;
    r->patience = o->patience;
    r->workers = o->workers ? o->workers : workers;
    r->count_rejected = o->count_rejected;
    r->cold = o->cold;
}

static bool store_new(struct session *s, struct err *e)
{
    const struct session_shapes *shapes = s->backend.shapes;
    int count = 0, capacity = 0, known;
    struct text_record *record = NULL;
    for (int i = 0; i < (shapes ? shapes->goal.count : 1); i++) {
        const struct script *script = shapes ? shapes->of[i].script : s->backend.script;
        int texts = 0;
        const struct script_text *text = script ? script_texts(script, &texts) : NULL;
        for (int k = 0; k < texts; k++) {
            for (known = 0; known < count && !str_equal(record[known].name, text[k].name);)
                known++;
            if (known < count)
                continue; // another shape may read other files, but most are the same
            MEM_GROW(record, count, capacity);
            record[count++] =
                (struct text_record){text[k].name, session_path(s, text[k].path), text[k].text};
        }
    }
    bool ok = store_create_session(s->store.db, &s->record, record, count, &s->record.id, e) &&
              store_lock_session(s->store.db, s->record.id, e);
    kill_point("create");
    free(record);
    return ok;
}

// Fills in the options that are left open, but the seed, from the session that the new one is like.
static bool take_like(struct session *s, struct session_options *o, struct session_record *like,
                      struct err *e)
{
    if (!store_get_session(s->store.db, o->like, &s->arena, like, e) ||
        !stored_has_kernels(s->store.db, like, e))
        return false;
    const char *source = o->source ? o->source : like->source;
    if (recorded_is(source) != recorded_is(like->source))
        return err_usage(e, "--like takes the space of session %" PRId64 ", which %s a recording",
                         o->like, recorded_is(source) ? "is not on" : "is on");
    s->record.path = like->path;
    s->record.settings = like->settings;
    s->record.reduced = like->reduced;
    s->record.shapes = o->shape_count ? NULL : like->shapes;
    o->source = source;
    if (!o->strategy && o->workers && o->workers != like->workers) {
        char *spec = strategy_without_ahead(like->strategy);
        o->strategy = arena_strdup(&s->arena, spec);
        free(spec);
    } else if (!o->strategy) {
        o->strategy = like->strategy;
    }
    o->trials = o->trials ? o->trials : like->budget_trials;
    o->seconds = o->seconds > 0 ? o->seconds : like->budget_seconds;
    o->until = o->until > 0 ? o->until : like->until;
    o->patience = o->patience ? o->patience : like->patience;
    o->workers = o->workers ? o->workers : like->workers;
    struct objective own;
    objective_parse(like->objective, &own);
    if (!o->objective && own.kind != OBJECTIVE_NAMED)
        o->objective = like->objective;
    o->count_rejected |= like->count_rejected;
    o->cold |= like->cold;
    return true;
}

static bool find_space(struct session *s, const struct session_options *o, struct err *e)
{
    char *path = script_find(o->space, e);
    if (!path)
        return false;
    s->record.path = arena_strdup(&s->arena, path);
    free(path);
    return true;
}

// Returns true if seconds count, and not trials. A rate is not divided by the seconds of a call, in
// which a configuration may do more work than another one.
static bool counts_seconds(const struct session *s, const struct session_options *o)
{
    const struct recording *r = s->backend.recorded.recording;
    bool is_rate = r && !str_equal(r->unit, "s");
    return !is_rate && (o->seconds > 0 || o->until > 0 || o->patience > 0);
}

// Sets the strategy of the record. The first call, when the number of workers is not known (0),
// only finds errors early.
static bool choose_strategy(struct session *s, const struct session_options *o, struct err *e)
{
    const struct session_device *d = &s->backend.device;
    const char *spec = o->strategy ? o->strategy : ENGINE_DEFAULT_STRATEGY;
    int at_once = s->record.workers;
    if (d->is_known && at_once < d->machines) // synthetic results come one after the other
        at_once = d->machines;
    const struct strategy_use use = {at_once, d->tells_statistics, counts_seconds(s, o)};
    char *strategy = strategy_canonical_for(spec, use, e);
    if (!strategy)
        return false;
    s->record.strategy = arena_strdup(&s->arena, strategy);
    free(strategy);
    return true;
}

// Keeps the limit on spills of the stored session; an older one has none.
static void take_spills(struct session *s, const struct session_record *before)
{
    struct limits stored;
    s->backend.device.limits.spills = limits_parse(before->limits, &stored) ? stored.spills : 0;
}

// Compiles legal configurations until one succeeds, so that a broken rule or template is one clear
// line and no session, while a template that fails now and then only costs trials.
static bool try_template(struct session *s, struct err *e)
{
    const struct session_backend *b = &s->backend;
    // The limit is the time of one trial's compiling, or the running time of the session.
    double seconds = s->record.budget_seconds;
    if (seconds <= 0 || seconds >= ATTEMPT_SECONDS)
        seconds = ATTEMPT_SECONDS;
    else if (seconds < LEAST_ATTEMPT_S)
        seconds = LEAST_ATTEMPT_S;
    return !(b->shapes ? b->device.is_known : b->source->kind->needs_jobs) ||
           attempt_candidate(b->script, backend_limits(b), s->record.seed, NULL, seconds, e) !=
               ATTEMPT_FAILED;
}

// Takes the objective of --objective: joules are measured then, and may be the cost.
static bool take_objective(struct session *s, const struct session_options *o,
                           const struct backend_choice *c, struct err *e)
{
    s->record.objective = o->objective;
    if (!o->objective)
        return true;
    if (c->remote)
        return err_usage(e, "--objective: energy is measured on this machine, not with --on");
    if (o->until > 0)
        return err_usage(e, "--until is a share of the peak, by time: not with --objective");
    return backend_tells_power(c, e) || err_prefix(e, "--objective %s", o->objective);
}

static bool start(struct session *s, struct session_options *o, struct backend_choice *c,
                  struct err *e)
{
    struct session_backend *b = &s->backend;
    struct session_record like;
    bool same_backend = o->like && !o->source && !o->device;
    if (!(o->like ? take_like(s, o, &like, e) : recorded_is(o->source) || find_space(s, o, e)) ||
        !choose_strategy(s, o, e))
        return false;
    struct backend_wish wish = {.source = o->source, .device = o->device};
    if (same_backend)
        wish = (struct backend_wish){.again = &like, .hint = HINT_LIKE};
    if (!backend_choose(c, &b->recorded, &wish, e) || !backend_judge_matrices(c, s->store.db, e))
        return false;
    backend_take(b, c);
    if (!session_shapes_take(s, o, e) || !session_shapes_parse(s, e))
        return false;
    if (same_backend)
        take_spills(s, &like);
    if (o->has_spills)
        b->device.limits.spills = o->spills;
    if (o->cold && !c->on_device)
        return err_usage(e, "--cold says how kernels are timed: there is no device");
    fill_record(s, o, c);
    if (!choose_strategy(s, o, e) || !take_objective(s, o, c, e))
        return false;
    bool same_space = same_backend && !o->set_count;
    bool is_default = !o->transfer && o->transfers && c->on_device && !same_space && !o->network;
    s->beginning = (struct beginning){.warm_from = o->warm,
                                      .guesses_from = o->guesses,
                                      .is_standard = !o->warm && !same_space,
                                      .on_device = c->on_device,
                                      .wish = {.wanted = is_default ? "auto" : o->transfer,
                                               .earlier = o->earlier,
                                               .is_default = is_default}};
    if (same_space) {
        s->record.warm = like.warm;
        s->record.history = like.history;
    }
    if (!session_find_problem(s, o, c, e) ||
        !backend_make_source(b, c, &s->log, o->validate, o->fault, e) || !try_template(s, e) ||
        !(b->shapes || take_peak(s, backend_device(c), e)) || !store_new(s, e))
        return false;
    session_clock_run(&s->clock, true);
    session_emit(s, EVENT_SESSION, NULL, NULL);
    name_card_users(s, c, o);
    if (b->recorded.recording && !s->record.objective && recorded_flop(b->recorded.recording) <= 0)
        session_message(&s->log, "info",
                        "FLOP are not known: speeds are per cent of the fastest recorded");
    if (s->beginning.warm)
        session_message(&s->log, "info", "%s", s->beginning.warm);
    if (s->beginning.guessed)
        session_message(&s->log, "info", "%s", s->beginning.guessed);
    if (s->beginning.transferred)
        session_message(&s->log, "info", "%s", s->beginning.transferred);
    return true;
}

struct session *session_start(const struct session_host *host, const struct session_options *o,
                              struct err *e)
{
    struct session *s = session_new(host);
    struct session_options all = *o;
    struct backend_choice c = {.machines = o->machines, .benchmark = o->benchmark};
    bool ok = start(s, &all, &c, e);
    backend_choice_finish(&c);
    if (!ok)
        session_destroy(s);
    return ok ? s : NULL;
}

struct session *session_draft(const struct session_host *host, const struct session_options *o,
                              struct backend_choice *c, struct err *e)
{
    struct session *s = session_new(host);
    bool ok = find_space(s, o, e);
    if (ok) {
        backend_take(&s->backend, c);
        if (o->has_spills)
            s->backend.device.limits.spills = o->spills;
        backend_describe(&s->backend, c, &s->arena, &s->record);
        fill_record(s, o, c);
        ok = choose_strategy(s, o, e) && session_find_script(s, o, e);
    }
    if (!ok)
        session_destroy(s);
    return ok ? s : NULL;
}

// --- one that goes on ---

bool session_check_budget(const struct session_record *r, int64_t trials, struct err *e)
{
    return trials >= r->trials || err_set(e,
                                          "session %" PRId64 " has spent %" PRId64
                                          " trials already (a budget of %" PRId64 " ends it now)",
                                          r->id, r->trials, r->trials);
}

bool session_change_budget(struct session_store *s, const struct session_options *more,
                           struct err *e)
{
    struct session_record *r = s->record;
    if (!more || (more->trials <= 0 && more->seconds <= 0))
        return true;
    if (more->trials > 0 && !session_check_budget(r, more->trials, e))
        return false;
    r->budget_trials = more->trials > 0 ? more->trials : r->budget_trials;
    r->budget_seconds = more->seconds > 0 ? more->seconds : r->budget_seconds;
    return store_set_budget(s->db, r->id, r->budget_trials, r->budget_seconds, e);
}

struct reading {
    struct session *session;
    struct replay_log *log;
    int64_t told;
    double ran_seconds; // when the last one was told
    struct err err;     // of a row that cannot be read
    bool failed;
};

static bool replay_take_row(void *context, const struct trial_record *t)
{
    struct reading *r = context;
    struct statistics told;
    struct replay_trial trial = {
        .ask = t->ask,
        .asked_after = t->asked_after,
        .answered = t->outcome != OUTCOME_OPEN,
        .told = t->told,
        .outcome = t->outcome,
        .seconds = t->seconds,
        .took_s = t->compile_s + t->pipeline_s + t->device_s,
    };
    r->failed = !config_parse_key(r->session->space, t->key, &trial.config, &r->err) ||
                !replay_log_add(r->log, &trial, &r->err);
    if (!r->failed && trial.answered) {
        text_parse_statistics(t->statistics, &told);
        probes_learn(r->session, &trial.config, &told);
    }
    if (!r->failed)
        session_shapes_restore(r->session, t->ask, t->parts);
    if (trial.answered && t->told > r->told) {
        r->told = t->told;
        r->ran_seconds = t->elapsed_s;
    }
    return !r->failed;
}

// Gives the search its replay log. The running time becomes at least that of the last trial.
static bool load_replay_log(struct session *s, struct err *e)
{
    int64_t id = s->record.id;
    struct reading r = {.session = s, .log = replay_log_create()};
    s->cycle.replay = r.log;
    if (!store_each_trial(s->store.db, id, 1, replay_take_row, &r, e))
        return false;
    if (r.failed && e)
        *e = r.err;
    if (r.failed)
        return err_prefix(e, "session %" PRId64 " is damaged", id);
    if (r.ran_seconds > s->record.ran_seconds)
        s->record.ran_seconds = r.ran_seconds;
    return replay_log_close(r.log) ||
           err_set(e, "session %" PRId64 " is damaged: the order of its trials is", id);
}

// Reads the commands that an earlier run left unread. A new budget counts, all others are dropped.
static bool take_left_commands(struct session *s, struct err *e)
{
    char verb[16], argument[64];
    for (bool any = true; any;) {
        if (!store_take_command(s->store.db, s->record.id, verb, argument, &any, e))
            return false;
        if (any && str_equal(verb, "budget") && !session_store_budget(&s->store, argument, e))
            return false;
    }
    return true;
}

static bool resume(struct session *s, int64_t id, const struct session_options *more,
                   struct backend_choice *c, struct err *e)
{
    struct session_record *r = &s->record;
    struct store *db = s->store.db;
    if (!store_lock_session(db, id, e))
        return false;
    r->id = id; // ours, to be unlocked
    if (!store_get_session(db, id, &s->arena, r, e))
        return false;
    if (more && more->workers)
        r->workers = more->workers;
    if (!take_left_commands(s, e))
        return false;
    // Its budget may be spent, also the one that it is to get.
    int64_t trials = more && more->trials > 0 ? more->trials : r->budget_trials;
    double seconds = more && more->seconds > 0 ? more->seconds : r->budget_seconds;
    if (r->state == STATE_DONE &&
        (r->trials >= trials || (seconds > 0 && r->ran_seconds >= seconds))) {
        s->phase = SESSION_ENDED;
        store_unlock_session(db, id);
        session_emit(s, EVENT_SESSION, NULL, NULL);
        return true;
    }
    const struct backend_wish wish = {.again = r, .hint = HINT_RESUME};
    if (!session_change_budget(&s->store, more, e) ||
        !backend_choose(c, &s->backend.recorded, &wish, e))
        return false;
    backend_take(&s->backend, c);
    take_spills(s, r);
    if (more && more->until > 0)
        r->until = more->until;
    if (more && more->patience > 0)
        r->patience = more->patience;
    if (!session_find_problem(s, NULL, NULL, e) ||
        !(s->backend.shapes || take_peak(s, backend_device(c), e)) || !store_set_roof(db, r, e) ||
        !backend_make_source(&s->backend, c, &s->log, more && more->validate,
                             more ? more->fault : NULL, e))
        return false;
    if (!probes_load(s, e) || !baselines_load(s, e) || !load_replay_log(s, e) ||
        !store_count_refits(db, id, &s->store.refits_stored, e))
        return false;
    if (r->state == STATE_DONE)
        s->done_before = r->message ? r->message : "";
    r->state = STATE_RUNNING;
    r->message = NULL; // of its last end
    kill_point("resume");
    if (!store_set_state(db, id, STATE_RUNNING, NULL, r->ran_seconds, e))
        return false;
    session_emit(s, EVENT_SESSION, NULL, NULL);
    name_card_users(s, c, more);
    if (s->store.refits_stored > 0)
        session_message(&s->log, "info",
                        "the model is fitted again, %" PRId64 " time%s, to go on as it was",
                        s->store.refits_stored, s->store.refits_stored == 1 ? "" : "s");
    return true;
}

struct session *session_resume(const struct session_host *host, int64_t id,
                               const struct session_options *more, struct err *e)
{
    struct session *s = session_new(host);
    struct backend_choice c = {.machines = more ? more->machines : NULL,
                               .benchmark = more ? more->benchmark : NULL};
    bool ok = resume(s, id, more, &c, e);
    backend_choice_finish(&c);
    if (!ok)
        session_destroy(s);
    return ok ? s : NULL;
}
