// The cycle of a session, in steps that never wait:
//
//     collect what the source has  ->  store and tell what may be told  ->  ask, judge, submit

#include "engine/session_step.h"

#include "base/json.h"
#include "base/os.h"
#include "engine/attempt.h"
#include "engine/session_setup.h"
#include "engine/session_shapes.h"
#include "report/text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What the driver says of configurations before they are measured: the search asks for it
// (search_problem.look), they are compiled beside the trials, and what was said is stored before
// the search knows of it. So a session that goes on knows what it knew, and asks for the same.

static void know(struct looked *l, const struct config *c, bool fits, const struct statistics *told)
{
    bool is_new;
    int index = config_set_add(&l->known, c, &is_new);
    if (!is_new)
        return;
    MEM_GROW(l->of, index, l->capacity);
    l->of[index].fits = fits;
    for (int k = 0; k < STATISTIC_KIND_COUNT; k++)
        if (!statistics_total(told, (enum statistic_kind)k, &l->of[index].number[k]))
            l->of[index].number[k] = NAN;
}

bool session_look(void *context, const struct config *c, int count, struct preview *out)
{
    struct session *s = context;
    bool all = true;
    for (int i = 0; i < count; i++) {
        int index = config_set_find(&s->looked.known, &c[i]);
        if (index >= 0)
            out[i] = s->looked.of[index];
        else
            config_set_add(&s->looked.wanted, &c[i], NULL);
        all &= index >= 0;
    }
    return all;
}

bool look_submit(struct session *s, struct err *e)
{
    struct looked *l = &s->looked;
    while (l->submitted < l->wanted.count && source_room(s->source) > 0) {
        struct config c;
        struct trial_request request = {
            .ticket = TICKET_LOOK - l->submitted, .count = 1, .only_compiles = true, .keeps = true};
        config_set_get(&l->wanted, l->submitted, &c);
        if (!session_render(s, &c, &request, 0, e))
            return false;
        source_submit(s->source, &request);
        l->submitted++;
        s->busy = true;
    }
    return true;
}

// What would be left out for its spills does not fit either.
static bool fits(const struct session *s, const struct trial_result *r)
{
    double spills;
    return r->outcome[0] == OUTCOME_OK &&
           !(s->device.limits.spills &&
             statistics_total(&r->statistics[0], STATISTIC_SPILLS, &spills) &&
             spills > s->device.limits.spills);
}

bool look_finish(struct session *s, const struct trial_result *r, struct err *e)
{
    struct config c;
    struct str key = {0}, told = {0};
    config_set_get(&s->looked.wanted, (int)(TICKET_LOOK - r->ticket), &c);
    config_add_key(s->space, &c, &key);
    statistics_add_json(&r->statistics[0], &told);
    struct look_record record = {
        .key = str_text(&key), .fits = fits(s, r), .statistics = str_text(&told)};
    kill_point("look");
    bool ok = session_stored(s, store_put_look(s->host.store, s->record.id, &record, e), e);
    if (ok)
        know(&s->looked, &c, record.fits, &r->statistics[0]);
    str_finish(&key);
    str_finish(&told);
    return ok;
}

void session_learn_look(struct session *s, const struct config *c, const struct statistics *told)
{
    if (s->device.tells_statistics)
        know(&s->looked, c, true, told);
}

// --- what is stored ---

struct reading {
    struct session *session;
    struct err err; // of a row that cannot be read
    bool failed;
};

static bool take_row(void *context, const struct look_record *row)
{
    struct reading *r = context;
    struct config c;
    struct statistics told;
    r->failed = !config_parse_key(r->session->space, row->key, &c, &r->err);
    if (r->failed)
        return false;
    told_parse(row->statistics, &told);
    know(&r->session->looked, &c, row->fits, &told);
    return true;
}

bool session_load_looks(struct session *s, struct err *e)
{
    struct reading r = {.session = s};
    if (!store_each_look(s->host.store, s->record.id, take_row, &r, e))
        return false;
    if (r.failed && e)
        *e = r.err;
    return !r.failed || err_prefix(e, "session %" PRId64 " is damaged", s->record.id);
}

void looked_finish(struct looked *l)
{
    config_set_finish(&l->known);
    config_set_finish(&l->wanted);
    free(l->of);
}

// What a session searches: the problem that its script declares.

#define LEAST_PATIENCE_S 5 // a worker that compiles has to start

// Where a rule fails nobody knows: the configuration may be asked for, and then the rule's error is
// reported.
static bool is_legal(void *context, const struct config *c)
{
    struct verdict v;
    struct err ignored;
    return !session_judge(context, c, &v, &ignored) || v.legal;
}

static void hash_texts(const struct script *script, char out[33])
{
    int count;
    const struct script_text *text = script_texts(script, &count);
    struct str all = {0};
    for (int i = 0; i < count; i++) {
        str_add_bytes(&all, text[i].name, strlen(text[i].name) + 1);
        str_add_bytes(&all, text[i].text, strlen(text[i].text) + 1);
    }
    hash_hex(str_text(&all), all.length, out);
    str_finish(&all);
}

bool session_take_script(struct session *s, struct script *script)
{
    s->script = script;
    if (!script)
        return false;
    s->space = script_space(script);
    s->record.flop = operation_flop(script_operation(script));
    // Sessions that are rated by their FLOP say nothing, as those of before.
    struct workload work = operation_work(script_operation(s->script));
    bool is_other = !str_equal(work.unit, WORK_FLOP);
    s->record.work = is_other ? work.amount : 0;
    s->record.unit = is_other ? work.unit : NULL;
    return true;
}

bool session_make_search(struct session *s, struct err *e)
{
    struct search_problem problem = {.space = s->space,
                                     .legal = is_legal,
                                     .look = s->device.tells_statistics ? session_look : NULL,
                                     .context = s};
    s->looked.known.slots = s->looked.wanted.slots = s->space->slots;
    return session_make_strategy(s, &problem, e);
}

static char *take_in_arena(struct session *s, struct str *text)
{
    char *kept = arena_strdup(&s->arena, str_text(text));
    str_finish(text);
    return kept;
}

const char *session_path(struct session *s, const char *path)
{
    char *whole = realpath(path, NULL);
    const char *kept = arena_strdup(&s->arena, whole ? whole : path);
    free(whole);
    return kept;
}

void session_describe_problem(struct session *s)
{
    s->record.path = session_path(s, s->record.path);
    struct str text = {0};
    const struct operation *operation = script_operation(s->script);
    operation_add_text(operation, &text);
    s->record.title = take_in_arena(s, &text);
    operation_add_json(operation, &text);
    s->record.operation = take_in_arena(s, &text);
    int count;
    const struct script_setting *setting = script_settings(s->script, &count);
    struct json_writer w = json_begin(&text);
    for (int i = 0; i < count; i++)
        if (!str_equal(setting[i].value, setting[i].standard))
            (setting[i].values || setting[i].is_folder ? json_add_text : json_add_raw)(
                &w, setting[i].name, setting[i].value);
    json_end(&w);
    s->record.settings = take_in_arena(s, &text);
    char hash[33];
    hash_texts(s->script, hash);
    s->record.text_hash = arena_strdup(&s->arena, hash);
    s->record.name = s->space->name;
    s->record.size = s->space->size_text;
}

// As long as one trial may compile, or as the session may run.
static double patience_s(const struct session *s)
{
    double wanted_s = s->record.budget_seconds;
    if (wanted_s <= 0 || wanted_s >= ATTEMPT_SECONDS)
        return ATTEMPT_SECONDS;
    return wanted_s > LEAST_PATIENCE_S ? wanted_s : LEAST_PATIENCE_S;
}

bool session_try_template(struct session *s, struct err *e)
{
    bool needs_jobs = s->shapes ? s->device.is_known : s->source->kind->needs_jobs;
    return !needs_jobs || attempt_candidate(s->script, session_limits(s), s->record.seed, NULL,
                                            patience_s(s), e) != ATTEMPT_FAILED;
}

// What of a session's trials becomes rows of the database, before the strategy is told.

#define MOST_BREED 64 // individuals of a population that are kept

// Texts that a trial record points to while it is stored and reported.
struct trial_text {
    struct str key, config, samples, parts, statistics, clocks;
};

static void trial_text_finish(struct trial_text *t)
{
    str_finish(&t->key);
    str_finish(&t->config);
    str_finish(&t->samples);
    str_finish(&t->parts);
    str_finish(&t->statistics);
    str_finish(&t->clocks);
}

static bool is_rejected(const struct open_trial *t)
{
    return t->cycle.outcome == OUTCOME_REJECTED;
}

char *session_origin(const struct session *s)
{
    int64_t ask[SPACE_MAX_PARAMS];
    struct str text = {0};
    if (!strategy_origin(s->cycle.strategy, ask))
        return NULL;
    for (int i = 0; i < s->space->param_count; i++)
        str_printf(&text, "%s%" PRId64, i ? "," : "", ask[i]);
    return str_take(&text);
}

static struct trial_record describe(const struct session *s, const struct open_trial *t,
                                    struct trial_text *text)
{
    static const struct samples none;
    const struct cycle *c = &s->cycle;
    const struct trial_result *r = t->result;
    config_add_key(s->space, &t->cycle.config, &text->key);
    config_add_json(s->space, &t->cycle.config, &text->config);
    samples_add_json(r ? &r->samples[0] : &none, &text->samples);
    struct trial_record record = {
        .ask = t->cycle.ask,
        .told = c->told + 1,
        .asked_after = t->cycle.asked_after,
        .number = is_rejected(t) && !c->count_rejected ? 0 : c->trials + 1,
        .generation = t->generation,
        .key = str_text(&text->key),
        .config = str_text(&text->config),
        .outcome = t->cycle.outcome,
        .reason = t->reason,
        .seconds = t->cycle.seconds,
        .samples = str_text(&text->samples),
        .elapsed_s = session_ran_seconds(s),
        .finished = os_unix_time(),
        .origin = t->origin,
    };
    if (r) {
        record.phase = trial_phase_name(r->phase[0]);
        record.reason = r->reason[0];
        record.early_stopped = r->samples[0].early_stopped;
        parts_add_json(r, 0, &text->parts);
        record.parts = r->shapes ? str_text(&text->parts) : NULL;
        record.compile_s = r->compile_s;
        record.pipeline_s = r->pipeline_s;
        record.device_s = r->device_s;
        record.worker = r->worker;
        record.machine = r->machine[0] ? r->machine : NULL;
        if (r->statistics[0].count) {
            statistics_add_json(&r->statistics[0], &text->statistics);
            record.statistics = str_text(&text->statistics);
        }
        if (r->clocks.count) {
            statistics_add_json(&r->clocks, &text->clocks);
            record.clocks = str_text(&text->clocks);
        }
    }
    return record;
}

// Asynchronous strategies are told in any order, so what they knew at each ask must be stored too:
// the asks that are open now, as trials without an outcome.
static bool put_open(struct session *s, const struct open_trial *told, struct err *e)
{
    bool ok = true;
    for (struct cycle_trial *at = s->cycle.open; ok && at; at = at->next) {
        struct open_trial *t = (struct open_trial *)at;
        struct trial_text text = {0};
        if (t == told || at->recorded)
            continue;
        struct trial_record record = describe(s, t, &text);
        record.outcome = OUTCOME_OPEN;
        record.number = record.told = 0;
        ok = at->recorded = store_put_trial(s->host.store, s->record.id, &record, e);
        trial_text_finish(&text);
    }
    return ok;
}

static bool put_calibration(struct session *s, const struct open_trial *t, struct err *e)
{
    if (t->forecast.deviation <= 0 || t->cycle.outcome != OUTCOME_OK)
        return true;
    double surprise = fabs(forecast_surprise(&t->forecast, cycle_fitness(&s->cycle, &t->cycle)));
    const struct calibration_record more = {1, surprise < t->forecast.half,
                                            surprise < t->forecast.nine_in_ten};
    return store_add_calibration(s->host.store, s->record.id, &more, e);
}

static bool put(struct session *s, const struct open_trial *t, const struct trial_record *record,
                struct err *e)
{
    struct store *store = s->host.store;
    kill_point("begin");
    bool ok = store_begin(store, e);
    kill_point("put");
    ok = ok && store_put_trial(store, s->record.id, record, e) && put_calibration(s, t, e) &&
         (!strategy_is_async(s->cycle.strategy) || put_open(s, t, e)) && store_commit(store, e);
    kill_point("commit");
    return session_stored(s, ok, e);
}

// The record counts what the database has, which is ahead while it is told again.
static void count(struct session *s)
{
    const struct cycle *c = &s->cycle;
    if (cycle_is_replaying(c))
        return;
    s->record.trials = c->trials;
    s->record.rejected = c->rejected;
    s->record.ok = c->ok;
    s->record.best_ask = c->best.ask;
    s->record.best_seconds = c->best.seconds;
    s->record.best_raced = s->races.decided;
}

static bool tell(struct session *s, struct open_trial *t)
{
    bool better = cycle_tell(&s->cycle, &t->cycle);
    if (better) {
        s->machine.slowdown = 1; // measured just now
        s->races.decided = false;
    }
    count(s);
    kill_point("told");
    return better;
}

void session_tell_again(struct session *s, struct open_trial *t)
{
    session_shapes_learn(s, t->cycle.ask, NULL);
    tell(s, t);
    open_trial_destroy(t);
}

bool session_keep_population(struct session *s, struct err *e)
{
    if (cycle_is_replaying(&s->cycle)) // the database is ahead
        return true;
    struct individual breeding[MOST_BREED];
    struct str asks = {0};
    int breed = strategy_population(s->cycle.strategy, MOST_BREED, breeding);
    for (int i = 0; i < breed; i++)
        str_printf(&asks, "%s%" PRId64, i ? "," : "", breeding[i].ask);
    if (!breed || str_equal(str_text(&asks), s->record.population)) {
        str_finish(&asks);
        return true;
    }
    free(s->population);
    s->record.population = s->population = str_take(&asks);
    return session_stored(s, store_set_population(s->host.store, s->record.id, s->population, e),
                          e);
}

bool session_put_and_tell(struct session *s, struct open_trial *t, struct err *e)
{
    struct trial_text text = {0};
    struct trial_record record = describe(s, t, &text);
    bool ok = put(s, t, &record, e);
    if (ok) {
        static const struct statistics none;
        session_learn_look(s, &t->cycle.config, t->result ? &t->result->statistics[0] : &none);
        s->done_before = NULL;
        if (t->result)
            session_shapes_learn(s, t->cycle.ask, t->result);
        bool better = tell(s, t);
        ok = session_keep_population(s, e);
        session_emit(s, EVENT_TRIAL, &record, NULL);
        if (better)
            session_emit(s, EVENT_BEST, &record, NULL);
        s->canary.due_in -= !is_rejected(t);
        open_trial_destroy(t);
    }
    trial_text_finish(&text);
    return ok;
}

void retime_init(struct retime *t, int64_t ask, const char *kind, const struct trial_result *r,
                 int i)
{
    *t = (struct retime){.record = {.ask = ask,
                                    .kind = kind,
                                    .seconds = r->seconds[i],
                                    .verified = r->outcome[i] == OUTCOME_OK,
                                    .at = os_unix_time()}};
    samples_add_json(&r->samples[i], &t->samples);
    t->record.samples = str_text(&t->samples);
    parts_add_json(r, i, &t->parts);
    t->record.parts = r->shapes ? str_text(&t->parts) : NULL;
}

void retime_finish(struct retime *t)
{
    str_finish(&t->samples);
    str_finish(&t->parts);
}

#define MOST_ROUNDS 64 // in one step, so that commands and signals are seen

// --- ask ---

// How many trials it may have in all, now.
static int64_t budget(const struct session *s)
{
    const struct session_record *r = &s->record;
    bool is_late = r->budget_seconds > 0 && session_ran_seconds(s) >= r->budget_seconds;
    return s->stopping || is_late || session_is_near_roof(s) ? 0 : r->budget_trials;
}

static bool is_warm(const struct session *s, const struct config *c)
{
    const struct warm_start *w = &s->beginning.begun_with;
    for (int i = 0; i < w->count; i++)
        if (config_equal(&w->config[i], c))
            return true;
    return false;
}

static bool submit(struct session *s, const struct cycle_trial *t, struct err *e)
{
    struct trial_request request = {.ticket = t->ask,
                                    .count = 1,
                                    .known_good = is_warm(s, &t->config),
                                    .incumbent_s = s->cycle.best.seconds,
                                    .slowdown = s->machine.slowdown};
    if (!session_render(s, &t->config, &request, 0, e))
        return false;
    kill_point("submit");
    source_submit(s->source, &request);
    s->in_flight++;
    return true;
}

// An ask without an answer is judged, and rejected or sent to the source. The clock runs once the
// database has nothing more to say.
static bool judge(struct session *s, struct open_trial *t, struct err *e)
{
    struct verdict v;
    struct cycle_trial *c = &t->cycle;
    if (c->stored && c->outcome != OUTCOME_REJECTED)
        return true;
    if (!session_judge(s, &c->config, &v, e))
        return false;
    if (c->stored || !v.legal)
        rejections_add(&s->rejections, s->space, v.legal ? NULL : &v);
    if (c->stored)
        return true;
    if (!s->started_ns) {
        session_run_clock(s, true);
        if (s->cycle.past)
            session_keep_state(s);
    }
    if (v.legal)
        return submit(s, c, e);
    cycle_answer(&s->cycle, c, OUTCOME_REJECTED, 0);
    snprintf(t->reason, sizeof t->reason, "%s", v.reason);
    return true;
}

static bool ask_one(struct session *s, enum ask *asked, struct err *e)
{
    struct open_trial *t = mem_zero(1, sizeof *t);
    bool ok = cycle_ask(&s->cycle, &t->cycle, asked, e);
    if (!ok || *asked != ASK_NEW) {
        free(t);
        s->fitting = ok && *asked == ASK_WAIT && strategy_wait_fd(s->cycle.strategy) >= 0;
        return ok && session_keep_refits(s, e);
    }
    kill_point("ask");
    t->generation = strategy_generation(s->cycle.strategy);
    t->origin = session_origin(s);
    if (!strategy_forecast(s->cycle.strategy, &t->forecast))
        t->forecast = (struct forecast){0};
    return session_keep_refits(s, e) && judge(s, t, e);
}

// A race or a canary keeps one place of the source for itself.
static bool ask_more(struct session *s, struct err *e)
{
    enum ask asked = ASK_NEW;
    bool begins = true;
    s->fitting = false;
    if (s->phase == SESSION_RUNNING && (!baselines_submit(s, &begins, e) || !look_submit(s, e)))
        return false;
    if (!begins)
        return true;
    if (!session_shapes_refer(s, e))
        return false;
    while (asked == ASK_NEW && s->phase == SESSION_RUNNING && source_room(s->source) > 0 &&
           cycle_may_ask(&s->cycle, budget(s))) {
        if (!ask_one(s, &asked, e))
            return false;
        s->busy |= asked == ASK_NEW;
    }
    return s->phase != SESSION_RUNNING || look_submit(s, e);
}

// --- answer ---

static bool accept(struct session *s, struct trial_result *r, struct err *e)
{
    if (r->ticket == TICKET_RACE)
        return race_finish(s, r, e);
    if (r->ticket == TICKET_CANARY) {
        canary_finish(s, r);
        return true;
    }
    if (r->ticket <= TICKET_LOOK)
        return look_finish(s, r, e);
    if (r->ticket <= TICKET_BASELINE)
        return baseline_finish(s, r, e);
    struct cycle_trial *t = cycle_find(&s->cycle, r->ticket);
    assert(t);
    t->took_s = r->compile_s + r->pipeline_s + r->device_s;
    cycle_answer(&s->cycle, t, r->outcome[0], r->seconds[0]);
    if (t->outcome == OUTCOME_REJECTED)
        rejections_add(&s->rejections, s->space, NULL);
    struct open_trial *open = (struct open_trial *)t;
    open->result = mem_alloc(sizeof *open->result);
    *open->result = *r;
    s->in_flight--;
    kill_point("collect");
    return true;
}

static bool collect(struct session *s, struct err *e)
{
    struct trial_result r;
    if (!source_step(s->source, e))
        return false;
    while (source_collect(s->source, &r)) {
        s->busy = true;
        if (!s->source->kind->deterministic)
            busy_watch(&s->machine, &r);
        if (!accept(s, &r, e))
            return false;
    }
    return true;
}

// --- tell ---

static bool deliver(struct session *s, struct err *e)
{
    struct cycle_trial *t;
    while ((t = cycle_next(&s->cycle))) {
        if (t->stored)
            session_tell_again(s, (struct open_trial *)t);
        else if (!session_put_and_tell(s, (struct open_trial *)t, e))
            return false;
        if (!session_keep_refits(s, e))
            return false;
        s->busy = true;
    }
    return true;
}

// --- the whole ---

static bool is_through(const struct session *s)
{
    return s->phase == SESSION_RUNNING && !s->cycle.open && s->in_flight == 0 && !s->canary.open &&
           cycle_is_over(&s->cycle, budget(s));
}

static bool set_state(struct session *s, enum session_state state, const char *message,
                      struct err *e)
{
    s->record.state = state;
    s->record.message = message;
    return session_stored(
        s, store_set_state(s->host.store, s->record.id, state, message, s->record.ran_seconds, e),
        e);
}

static bool rest(struct session *s, struct err *e)
{
    s->grant.is_spent = true;
    session_run_clock(s, false);
    return set_state(s, STATE_PAUSED, "waits for its next round", e);
}

bool session_step(struct session *s, struct err *e)
{
    s->busy = true;
    if (s->hold.over)
        session_message(s, "info", "the database is free again: the session goes on");
    s->hold.over = false;
    for (int round = 0; s->busy && round < MOST_ROUNDS && !session_ended(s); round++) {
        s->busy = false;
        if (!collect(s, e) || !deliver(s, e) || !canary_start(s, e) || !ask_more(s, e))
            return false;
        if (s->pausing && s->phase == SESSION_RUNNING) // a race was under way
            return session_pause(s, e);
        if (is_through(s)) {
            // Nothing is open any more and nothing will be asked: race the best, then end. A task
            // of a network waits for its next round.
            bool racing = false;
            if (s->record.network && !s->grant.is_last && !s->stopping)
                return s->grant.is_spent || rest(s, e);
            if (!s->stopping && !race_start(s, &racing, e))
                return false;
            if (racing) {
                s->phase = SESSION_RACING;
                return true;
            }
            return session_finish(s, e);
        }
    }
    return true;
}

bool session_grant(struct session *s, int64_t trials, double seconds, struct err *e)
{
    s->grant.is_spent = false;
    s->record.budget_trials = trials;
    s->record.budget_seconds = seconds;
    if (!cycle_is_replaying(&s->cycle))
        session_run_clock(s, true);
    bool ok = store_set_budget(s->host.store, s->record.id, trials, seconds, e);
    return session_stored(s, ok, e) && set_state(s, STATE_RUNNING, NULL, e);
}

void session_close(struct session *s)
{
    s->grant.is_spent = false;
    s->grant.is_last = true;
}

int session_wait_fd(const struct session *s)
{
    return s->fitting && s->phase == SESSION_RUNNING ? strategy_wait_fd(s->cycle.strategy) : -1;
}

bool session_command(struct session *s, const char *verb, const char *argument, struct err *e)
{
    if (session_ended(s))
        return true;
    if (str_equal(verb, "stop")) {
        s->stopping = true;
        if (s->phase != SESSION_RUNNING || cycle_is_replaying(&s->cycle))
            return session_finish(s, e);
    } else if (str_equal(verb, "pause") && s->phase == SESSION_RUNNING) {
        return session_pause(s, e);
    } else if (str_equal(verb, "pause") && s->phase == SESSION_RACING) {
        s->pausing = true;
    } else if (str_equal(verb, "resume") && s->phase == SESSION_PAUSED) {
        return session_go_on(s, e);
    } else if (str_equal(verb, "budget")) {
        return session_set_budget(s, argument, e);
    }
    return true;
}
