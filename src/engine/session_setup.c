// Sessions are put together: new ones, and those that go on.
#include "engine/session_setup.h"

#include "base/os.h"
#include "engine/session_place.h"
#include "engine/session_shapes.h"
#include "engine/stored.h"
#include "trial/operator.h"

#include <inttypes.h>
#include <stdlib.h>

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

// What it has is as much as it may do, also by the budget that it is to get.
static bool has_nothing_left(const struct session_record *r, const struct session_options *more)
{
    int64_t trials = more && more->trials > 0 ? more->trials : r->budget_trials;
    double seconds = more && more->seconds > 0 ? more->seconds : r->budget_seconds;
    return r->state == STATE_DONE &&
           (r->trials >= trials || (seconds > 0 && r->ran_seconds >= seconds));
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
    if (has_nothing_left(&s->record, more))
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
