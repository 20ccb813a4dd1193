// Sessions are put together: new ones, and those that go on.

#include "engine/session_setup.h"

#include "base/os.h"
#include "engine/session_place.h"
#include "engine/session_shapes.h"
#include "engine/stored.h"
#include "report/text.h"
#include "trial/operator.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A new session's script, with a batch that the device can bear.
//
// The papers' operators were made for large GPUs. Where a device cannot hold one, or would need
// more than about a second for a run, a size called `batch` is reduced to its largest divisor that
// is bearable: factorizations of a divisor are of the same kind. A batch that the user gives is
// left alone. The record tells of it, so that the reduced size is what the session is resumed with.

#define BATCH         "batch"
#define MOST_DIVISORS 1536 // of a size, which is below 2^31

// What poor configurations do in about a second: a trial runs a kernel several times, and few
// kernels of a search are good ones.
static double flop_of_a_second(const char *device_type)
{
    if (str_equal(device_type, "cpu"))
        return 1e9;
    return str_equal(device_type, "integrated") ? 1e11 : 1e12;
}

static bool gives_batch(const struct session_options *o)
{
    for (int i = o->listed; i < o->set_count; i++)
        if (str_equal(o->set[i].name, BATCH))
            return true;
    return false;
}

// `batch`: NULL for what was asked for. It is kept in the session's arena.
static struct script *read_script(struct session *s, const struct session_options *o,
                                  const char *batch, struct err *e)
{
    struct setting *set = arena_zero(&s->arena, (size_t)o->set_count + 1, sizeof *set);
    int count = 0;
    for (; count < o->set_count; count++)
        set[count] = o->set[count];
    if (batch)
        set[count++] = (struct setting){BATCH, arena_strdup(&s->arena, batch)};
    if (o->like) {
        struct session_record from = s->record; // on our device
        from.id = o->like;
        return stored_script_set(s->host.store, &from, set, count, &s->arena, e);
    }
    struct script_options script = {
        .path = s->record.path,
        .set = set,
        .set_count = count,
        .device_type = s->record.device_type,
        .limits = session_limits(s),
    };
    return script_create(&script, e);
}

static uint64_t largest_buffer(const struct operation *o)
{
    struct operator_layout layout = operator_layout(o);
    uint64_t most = 0;
    for (int i = 0; i < layout.count; i++)
        if (layout.buffer[i].bytes > most)
            most = layout.buffer[i].bytes;
    return most;
}

// `why` gets all that is too much.
static bool is_bearable(const struct session *s, const struct script *script, struct str *why)
{
    const struct operation *operation = script_operation(script);
    double flop = operation_flop(operation), most = flop_of_a_second(s->record.device_type);
    uint64_t bytes = largest_buffer(operation), limit = s->device.limits.buffer_bytes;
    str_finish(why);
    if (bytes > limit)
        str_printf(why, "a buffer of %.4g MB, this device takes %.4g", (double)bytes / 1e6,
                   (double)limit / 1e6);
    if (flop > most)
        str_printf(why, "%s%.4g GFLOP a run, about a second's worth here is %.4g",
                   why->length ? "; " : "", flop / 1e9, most / 1e9);
    return why->length == 0;
}

// Takes over `declared`.
static struct script *reduce(struct session *s, const struct session_options *o,
                             struct script *declared, int64_t batch, struct err *e)
{
    char text[24];
    struct str why = {0}, json = {0};
    if (batch == 1 || is_bearable(s, declared, &why))
        return declared;
    // The first that is bearable, else the one with a batch of 1.
    int64_t divisor[MOST_DIVISORS];
    struct str ignored = {0};
    struct script *reduced = NULL;
    // All divisors of n but n, largest first.
    int count = 0;
    int64_t low = 2;
    for (; low * low <= batch; low++)
        if (batch % low == 0)
            divisor[count++] = batch / low;
    while (--low >= 1)
        if (batch % low == 0 && batch / low != low && low != batch)
            divisor[count++] = low;
    for (int i = 0; i < count; i++) {
        script_destroy(reduced);
        snprintf(text, 24, "%" PRId64, divisor[i]);
        reduced = read_script(s, o, text, e);
        if (!reduced || is_bearable(s, reduced, &ignored))
            break;
    }
    str_finish(&ignored);
    operation_add_json(script_operation(declared), &json);
    s->record.declared = arena_strdup(&s->arena, str_text(&json));
    s->record.reduced = arena_printf(&s->arena, BATCH " %" PRId64 " reduced to %s: %s", batch, text,
                                     str_text(&why));
    str_finish(&json);
    str_finish(&why);
    script_destroy(declared);
    return reduced;
}

// Of the session that this one is like; 0: it was not reduced there.
static int64_t declared_before(const struct session *s)
{
    int64_t batch;
    const char *told = s->record.reduced;
    return told && sscanf(told, BATCH " %" SCNd64, &batch) == 1 ? batch : 0;
}

struct script *session_read_script(struct session *s, const struct session_options *o,
                                   struct err *e)
{
    bool is_given = gives_batch(o);
    int64_t batch = is_given ? 0 : declared_before(s);
    s->record.reduced = NULL;
    struct script *script =
        read_script(s, o, batch ? arena_printf(&s->arena, "%" PRId64, batch) : NULL, e);
    const struct script_setting *setting = script ? script_find_setting(script, BATCH) : NULL;
    if (!setting || !setting->is_whole || !s->device.is_known || is_given)
        return script;
    bool was_given = o->like && !batch && !str_equal(setting->value, setting->standard);
    if (was_given || !str_to_int(setting->value, 1, INT32_MAX, &batch))
        return script;
    return reduce(s, o, script, batch, e);
}

// The stored trials of a session that goes on, as what its search has done before.

struct reading {
    struct session *session;
    struct past *past;
    int64_t told;
    double ran_seconds; // when the last one was told
    struct err err;     // of a row that cannot be read
    bool failed;
};

static bool take_row(void *context, const struct trial_record *t)
{
    struct reading *r = context;
    struct past_trial trial;
    struct statistics told;
    trial = (struct past_trial){
        .ask = t->ask,
        .asked_after = t->asked_after,
        .answered = t->outcome != OUTCOME_OPEN,
        .told = t->told,
        .outcome = t->outcome,
        .seconds = t->seconds,
        .took_s = t->compile_s + t->pipeline_s + t->device_s,
    };
    r->failed = !config_parse_key(r->session->space, t->key, &trial.config, &r->err) ||
                !past_add(r->past, &trial, &r->err);
    if (!r->failed && trial.answered) {
        told_parse(t->statistics, &told);
        session_learn_look(r->session, &trial.config, &told);
    }
    if (!r->failed)
        session_shapes_remember(r->session, t->ask, t->parts);
    if (trial.answered && t->told > r->told) {
        r->told = t->told;
        r->ran_seconds = t->elapsed_s;
    }
    return !r->failed;
}

bool session_load_past(struct session *s, double *ran_seconds, struct err *e)
{
    int64_t id = s->record.id;
    struct reading r = {.session = s, .past = past_create()};
    s->cycle.past = r.past;
    if (!store_each_trial(s->host.store, id, 1, take_row, &r, e))
        return false;
    if (r.failed) {
        if (e)
            *e = r.err;
        return err_prefix(e, "session %" PRId64 " is damaged", id);
    }
    *ran_seconds = r.ran_seconds;
    return past_close(r.past) ||
           err_set(e, "session %" PRId64 " is damaged: the order of its trials is", id);
}

// Sessions on a recording: space and search come from there, there is no script.

static bool is_legal(void *context, const struct config *c)
{
    const struct session *s = context;
    return recording_find(s->recorded.recording, c) != NULL;
}

static void draw(void *context, struct rng *rng, struct config *out)
{
    const struct session *s = context;
    recorded_draw(s->recorded.recording, rng, out);
}

bool session_assemble_recorded(struct session *s, struct err *e)
{
    const struct recording *r = s->recorded.recording;
    recorded_describe(&s->recorded, &s->arena, &s->record);
    s->space = r->space;
    struct search_problem problem = {.space = s->space,
                                     .legal = is_legal,
                                     .context = s,
                                     .draw = recorded_is_sparse(r) ? draw : NULL};
    return session_make_strategy(s, &problem, e);
}

void session_say_scale(struct session *s)
{
    if (s->recorded.recording && recorded_is_relative(s->recorded.recording))
        session_message(s, "info",
                        "FLOP are not known: speeds are per cent of the fastest recorded");
}

// A session's strategy and what it begins with: configurations that are known to be good, and, for
// a model, the results of other sessions. Both are chosen once, when the session is made, and
// stored with it, so that it is resumed from the same ones whatever became of where they are from.

// --- its configurations ---

// --- its model ---

static bool choose(struct session *s, struct err *e)
{
    s->beginning.wish.record = &s->record;
    s->beginning.wish.space = s->space;
    if (!transfer_choose(s->host.store, &s->beginning.wish, &s->arena, &s->beginning.transfer, e))
        return false;
    const struct transfer *t = &s->beginning.transfer;
    struct str text = {0};
    transfer_add_text(t, &text);
    s->record.history = t->count ? arena_strdup(&s->arena, str_text(&text)) : NULL;
    str_finish(&text);
    if (t->count)
        s->beginning.transferred = arena_printf(
            &s->arena, "the model begins with %" PRId64 " results of %d other session%s%s",
            transfer_results(t), t->count, t->count == 1 ? "" : "s",
            s->beginning.wish.unasked ? " on this device (--transfer none: with nothing)" : "");
    else if (str_equal(s->beginning.wish.wanted, "auto") && !s->beginning.wish.unasked)
        s->beginning.transferred =
            "no earlier session is like this one: the model begins with nothing";
    return true;
}

static bool give_history(struct session *s, struct search_problem *problem, struct err *e)
{
    struct transfer_wish *wish = &s->beginning.wish;
    enum strategy_learns learns = strategy_learns(s->record.strategy);
    if (learns == LEARNS_NOTHING) {
        // For a strategy that does not learn from other sessions. A user who asked for that is told
        // so; what was asked for must be valid all the same.
        const char *wanted = s->beginning.wish.wanted;
        s->record.history = NULL;
        if (wanted && !s->beginning.wish.unasked && !str_equal(wanted, "none"))
            s->beginning.transferred =
                arena_printf(&s->arena, "strategy '%.*s' learns nothing from other sessions",
                             (int)strcspn(s->record.strategy, ":"), s->record.strategy);
        return transfer_check(s->host.store, wanted, &s->arena, e);
    }
    if (wish->unasked && learns != LEARNS_WEIGHED)
        wish->wanted = NULL;
    wish->any_device = learns == LEARNS_WEIGHED && !wish->unasked;
    if (learns == LEARNS_WEIGHED && !wish->wanted && wish->earlier)
        wish->wanted = "none"; // in a network only where it was asked for
    if (!(wish->wanted || wish->earlier ? choose(s, e)
                                        : transfer_parse(s->host.store, s->record.history,
                                                         &s->arena, &s->beginning.transfer, e)))
        return false;
    problem->history = s->beginning.transfer.history;
    problem->history_count = s->beginning.transfer.count;
    return true;
}

// --- the strategy ---

static bool choose_warm(struct session *s, const struct search_problem *problem, struct err *e)
{
    const struct beginning *b = &s->beginning;
    struct warm_start *warm = &s->beginning.begun_with;
    if (!b->warm_from && !b->at_baselines)
        return warm_parse(s->space, s->record.warm, &s->arena, warm, e);
    if (str_equal(b->warm_from, WARM_NONE))
        return true;
    if (b->at_baselines)
        warm_take_baselines(problem, &s->arena, warm);
    else if (!warm_read(s->host.store, b->warm_from, problem, &s->arena, warm, e))
        return false;
    if (warm->count) {
        struct str keys = {0};
        warm_add_keys(s->space, warm, &keys);
        s->record.warm = arena_strdup(&s->arena, str_text(&keys));
        str_finish(&keys);
        struct str told = {0};
        str_printf(&told, "warm start: begins with %d configuration%s of %s", warm->count,
                   warm->count == 1 ? "" : "s",
                   s->beginning.at_baselines ? WARM_BASELINE : s->beginning.warm_from);
        if (warm->moved)
            str_printf(&told, ", %d moved to the nearest here", warm->moved);
        if (warm->left_out)
            str_printf(&told, ", %d left out that nothing here is like", warm->left_out);
        s->beginning.warm = arena_strdup(&s->arena, str_text(&told));
        str_finish(&told);
    }
    return true;
}

bool session_make_strategy(struct session *s, struct search_problem *problem, struct err *e)
{
    struct warm_start *warm = &s->beginning.begun_with;
    if (!choose_warm(s, problem, e))
        return false;
    problem->warm = warm->config;
    problem->warm_count = warm->count;
    if (!give_history(s, problem, e))
        return false;
    s->cycle.strategy = strategy_create(s->record.strategy, problem, s->record.seed, e);
    s->cycle.work = s->record.flop;
    s->cycle.unit = 1e12;
    s->cycle.count_rejected = s->record.count_rejected;
    return s->cycle.strategy != NULL;
}

void session_say_beginning(struct session *s)
{
    if (s->beginning.warm)
        session_message(s, "info", "%s", s->beginning.warm);
    if (s->beginning.transferred)
        session_message(s, "info", "%s", s->beginning.transferred);
}

#define HINT_RESUME                                                                                \
    "start a new session, as tune --like does; mixing devices or drivers would mean nothing"
#define HINT_LIKE "--device names another one"

static struct session *session_new(const struct session_host *host)
{
    struct session *s = mem_zero(1, sizeof *s);
    arena_init(&s->arena);
    s->host = *host;
    s->canary.due_in = SESSION_CANARY_EVERY;
    return s;
}

static void fill_record(struct session *s, const struct session_options *o,
                        const struct session_place *p)
{
    struct session_record *r = &s->record;
    r->created = os_unix_time();
    r->note = o->note;
    r->network = o->network;
    r->task = o->task;
    r->state = STATE_RUNNING;
    r->seed = o->has_seed ? o->seed : os_seed() >> 11; // fits a double: JSON readers keep it
    r->budget_trials = o->trials ? o->trials : ENGINE_DEFAULT_TRIALS;
    r->budget_seconds = o->seconds;
    r->until = o->until;
    r->workers = o->workers ? o->workers : session_place_workers(p);
    r->count_rejected = o->count_rejected;
    r->cold = o->cold;
}

// Those that are not there yet: another shape may read other files.
static void add_texts(struct session *s, const struct script *script, struct text_record **all,
                      int *count, int *capacity)
{
    int own = 0, known;
    const struct script_text *text = script ? script_texts(script, &own) : NULL;
    for (int i = 0; i < own; i++) {
        for (known = 0; known < *count && !str_equal((*all)[known].name, text[i].name);)
            known++;
        if (known < *count)
            continue;
        MEM_GROW(*all, *count, *capacity);
        (*all)[(*count)++] =
            (struct text_record){text[i].name, session_path(s, text[i].path), text[i].text};
    }
}

static bool store_new(struct session *s, struct err *e)
{
    int count = 0, capacity = 0;
    struct text_record *record = NULL;
    add_texts(s, s->script, &record, &count, &capacity);
    for (int i = 1; s->shapes && i < s->shapes->goal.count; i++)
        add_texts(s, s->shapes->of[i].script, &record, &count, &capacity);
    bool ok = store_create_session(s->host.store, &s->record, record, count, &s->record.id, e) &&
              store_lock_session(s->host.store, s->record.id, e);
    kill_point("create");
    free(record);
    return ok;
}

static const char *spec_like(struct session *s, const struct session_options *o,
                             const struct session_record *like)
{
    if (!o->workers || o->workers == like->workers)
        return like->strategy;
    char *spec = strategy_without_ahead(like->strategy);
    const char *kept = arena_strdup(&s->arena, spec);
    free(spec);
    return kept;
}

// What a new session takes over from the one that it is like: all that was not asked for otherwise,
// but its seed.
static bool take_like(struct session *s, struct session_options *o, struct session_record *like,
                      struct err *e)
{
    if (!store_get_session(s->host.store, o->like, &s->arena, like, e) ||
        !stored_has_kernels(s->host.store, like, e))
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
    if (!o->strategy)
        o->strategy = spec_like(s, o, like);
    o->trials = o->trials ? o->trials : like->budget_trials;
    o->seconds = o->seconds > 0 ? o->seconds : like->budget_seconds;
    o->until = o->until > 0 ? o->until : like->until;
    o->workers = o->workers ? o->workers : like->workers;
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

// Before the workers are known (0) for its errors, then for good.
static bool choose_strategy(struct session *s, const struct session_options *o, struct err *e)
{
    const char *spec = o->strategy ? o->strategy : ENGINE_DEFAULT_STRATEGY;
    int at_once = s->record.workers;
    if (s->device.is_known &&
        at_once < s->device.machines) // made-up results come one after the other
        at_once = s->device.machines;
    char *strategy = strategy_canonical_for(spec, at_once, s->device.tells_statistics, e);
    if (!strategy)
        return false;
    s->record.strategy = arena_strdup(&s->arena, strategy);
    free(strategy);
    return true;
}

// The space and what is searched in it.
static bool find_problem(struct session *s, const struct session_options *o,
                         struct session_place *p, struct err *e)
{
    if (s->recorded.recording)
        return session_assemble_recorded(s, e);
    session_place_describe(s, p);
    struct session_options first = session_shapes_options(s, o, 0);
    if (!session_take_script(s, session_read_script(s, &first, e)) || !session_shapes_read(s, o, e))
        return false;
    session_describe_problem(s);
    session_shapes_describe(s);
    return session_make_search(s, e) &&
           (!s->device.is_known ||
            operator_fits(script_operation(s->script), &s->device.limits, e));
}

// What was left out for its spills before is so again; one that is older leaves out nothing.
static void take_spills(struct session *s, const struct session_record *before)
{
    struct limits stored;
    s->device.limits.spills = limits_parse(before->limits, &stored) ? stored.spills : 0;
}

static bool start(struct session *s, struct session_options *o, struct session_place *p,
                  struct err *e)
{
    struct session_record like;
    bool same_place = o->like && !o->source && !o->device;
    bool found =
        o->like ? take_like(s, o, &like, e) : recorded_is(o->source) || find_space(s, o, e);
    if (!found || !choose_strategy(s, o, e) ||
        !(same_place ? session_place_find_again(s, p, &like, HINT_LIKE, e)
                     : session_place_find(s, p, o->source, o->device, e)))
        return false;
    session_place_take(s, p);
    if (!session_shapes_take(s, o, e) || !session_shapes_parse(s, e))
        return false;
    if (same_place)
        take_spills(s, &like);
    if (o->has_spills)
        s->device.limits.spills = o->spills;
    if (o->cold && !p->on_device)
        return err_usage(e, "--cold says how kernels are timed: there is no device");
    fill_record(s, o, p);
    if (!choose_strategy(s, o, e))
        return false;
    bool same_space = same_place && !o->set_count;
    bool unasked = !o->transfer && o->transfers && p->on_device && !same_space && !o->network;
    s->beginning = (struct beginning){.warm_from = o->warm,
                                      .at_baselines = !o->warm && !same_space,
                                      .wish = {.wanted = unasked ? "auto" : o->transfer,
                                               .earlier = o->earlier,
                                               .unasked = unasked}};
    if (same_space) {
        s->record.warm = like.warm;
        s->record.history = like.history;
    }
    if (!find_problem(s, o, p, e) || !session_place_make_source(s, p, o->validate, o->fault, e) ||
        !session_try_template(s, e) ||
        !(s->shapes || session_take_roof(s, session_place_device(p), e)) || !store_new(s, e))
        return false;
    session_run_clock(s, true);
    session_emit(s, EVENT_SESSION, NULL, NULL);
    session_say_scale(s);
    session_say_beginning(s);
    return true;
}

struct session *session_foresee(const struct session_host *host, const struct session_options *o,
                                struct session_place *p, struct err *e)
{
    struct session *s = session_new(host);
    bool ok = find_space(s, o, e);
    if (ok) {
        session_place_take(s, p);
        if (o->has_spills)
            s->device.limits.spills = o->spills;
        session_place_describe(s, p);
        fill_record(s, o, p);
        ok = choose_strategy(s, o, e) && session_take_script(s, session_read_script(s, o, e));
    }
    if (ok)
        session_describe_problem(s);
    if (ok &&
        (!s->device.is_known || operator_fits(script_operation(s->script), &s->device.limits, e)))
        return s;
    session_destroy(s);
    return NULL;
}

static struct session *begun(struct session *s, struct session_place *p, bool ok)
{
    session_place_finish(p);
    if (ok)
        return s;
    session_destroy(s);
    return NULL;
}

struct session *session_start(const struct session_host *host, const struct session_options *o,
                              struct err *e)
{
    struct session *s = session_new(host);
    struct session_options all = *o;
    struct session_place p = {.dialer = o->dialer};
    return begun(s, &p, start(s, &all, &p, e));
}

static bool change_budget(struct session *s, const struct session_options *more, struct err *e)
{
    struct session_record *r = &s->record;
    if (!more || (more->trials <= 0 && more->seconds <= 0))
        return true;
    if (more->trials > 0 && !session_check_budget(r, more->trials, e))
        return false;
    if (more->trials > 0)
        r->budget_trials = more->trials;
    if (more->seconds > 0)
        r->budget_seconds = more->seconds;
    return store_set_budget(s->host.store, r->id, r->budget_trials, r->budget_seconds, e);
}

bool session_check_budget(const struct session_record *r, int64_t trials, struct err *e)
{
    return trials >= r->trials || err_set(e,
                                          "session %" PRId64 " has spent %" PRId64
                                          " trials already (a budget of %" PRId64 " ends it now)",
                                          r->id, r->trials, r->trials);
}

static bool stay_ended(struct session *s)
{
    s->phase = SESSION_ENDED;
    store_unlock_session(s->host.store, s->record.id);
    session_emit(s, EVENT_SESSION, NULL, NULL);
    return true;
}

// What was asked of a runner that ended before it looked: a new budget counts, the rest is over.
static bool take_left_commands(struct session *s, struct err *e)
{
    char verb[16], argument[64];
    for (bool any = true; any;) {
        if (!store_take_command(s->host.store, s->record.id, verb, argument, &any, e))
            return false;
        if (any && str_equal(verb, "budget") && !session_set_budget(s, argument, e))
            return false;
    }
    return true;
}

static bool assemble_again(struct session *s, struct err *e)
{
    if (s->recorded.recording)
        return session_assemble_recorded(s, e);
    return session_take_script(s, stored_script(s->host.store, &s->record, &s->arena, e)) &&
           session_shapes_read_again(s, e) && session_make_search(s, e);
}

static bool resume(struct session *s, int64_t id, const struct session_options *more,
                   struct session_place *p, struct err *e)
{
    if (!store_lock_session(s->host.store, id, e))
        return false;
    s->record.id = id; // ours, to be unlocked
    if (!store_get_session(s->host.store, id, &s->arena, &s->record, e))
        return false;
    if (more && more->workers)
        s->record.workers = more->workers;
    if (!take_left_commands(s, e))
        return false;
    // What it has is as much as it may do, also by the budget that it is to get.
    int64_t trials = more && more->trials > 0 ? more->trials : s->record.budget_trials;
    double seconds = more && more->seconds > 0 ? more->seconds : s->record.budget_seconds;
    if (s->record.state == STATE_DONE &&
        (s->record.trials >= trials || (seconds > 0 && s->record.ran_seconds >= seconds)))
        return stay_ended(s);
    if (!change_budget(s, more, e) || !session_place_find_again(s, p, &s->record, HINT_RESUME, e))
        return false;
    session_place_take(s, p);
    take_spills(s, &s->record);
    if (more && more->until > 0)
        s->record.until = more->until;
    if (!assemble_again(s, e) || !(s->shapes || session_take_roof(s, session_place_device(p), e)) ||
        !store_set_roof(s->host.store, &s->record, e) ||
        !session_place_make_source(s, p, more && more->validate, more ? more->fault : NULL, e))
        return false;
    double ran;
    if (!session_load_looks(s, e) || !session_load_baselines(s, e) ||
        !session_load_past(s, &ran, e) ||
        !store_count_refits(s->host.store, id, &s->refits.stored, e))
        return false;
    if (s->record.state == STATE_DONE)
        s->done_before = s->record.message ? s->record.message : "";
    s->record.ran_seconds = ran > s->record.ran_seconds ? ran : s->record.ran_seconds;
    s->record.state = STATE_RUNNING;
    s->record.message = NULL; // of its last end
    kill_point("resume");
    if (!store_set_state(s->host.store, id, STATE_RUNNING, NULL, s->record.ran_seconds, e))
        return false;
    session_emit(s, EVENT_SESSION, NULL, NULL);
    if (s->refits.stored > 0)
        session_message(s, "info",
                        "the model is fitted again, %" PRId64 " time%s, to go on as it was",
                        s->refits.stored, s->refits.stored == 1 ? "" : "s");
    return true;
}

struct session *session_resume(const struct session_host *host, int64_t id,
                               const struct session_options *more, struct err *e)
{
    struct session *s = session_new(host);
    struct session_place p = {.dialer = more ? more->dialer : NULL};
    return begun(s, &p, resume(s, id, more, &p, e));
}

void session_release(struct session *s)
{
    strategy_destroy(s->cycle.strategy); // it may be fitting a model that nobody waits for
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
    source_destroy(s->source);
    cycle_finish(&s->cycle);
    session_shapes_finish(s);
    script_destroy(s->script);
    recorded_finish(&s->recorded);
    transfer_finish(&s->beginning.transfer);
    rejections_finish(&s->rejections);
    looked_finish(&s->looked);
    if (s->record.id)
        store_unlock_session(s->host.store, s->record.id);
    free(s->races.open);
    free(s->population);
    arena_finish(&s->arena);
    free(s);
}
