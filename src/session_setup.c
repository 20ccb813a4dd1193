#include "session.h"

#include "base/file.h"
#include "base/os.h"
#include "devices.h"
#include "kernel/kernel.h"
#include "stored.h"
#include "trial/operator.h"
#include "trial/replay_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What a session runs on, while it is put together.
struct place {
    struct gpu_info *list;
    int count, index;
    bool on_device;   // measurements come from a device
    const char *spec; // of the source, when not
};

static const struct gpu_info *place_info(const struct place *p)
{
    return p->on_device ? &p->list[p->index] : NULL;
}

#define SYNTHETIC  "synthetic:"
#define MOST_DRAWS 20000 // in search of a legal configuration
#define MOST_TRIES 8
#define HINT_RESUME                                                                                \
    "start a new session, as tune --like does; mixing devices or drivers would mean nothing"
#define HINT_LIKE "--device names another one"

static bool is_device_source(const char *source)
{
    return !source || str_equal(source, "device");
}

static bool place_find(struct session *s, struct place *p, const char *source, const char *device,
                       struct err *e)
{
    *p = (struct place){.spec = source};
    if (recorded_is(source))
        return recorded_open(source, &s->recorded, e);
    if (!is_device_source(source))
        return str_starts(source, SYNTHETIC) ||
               err_usage(e,
                         "unknown source '%s' (there are device, synthetic:bowl, "
                         "synthetic:rugged, synthetic:machine, replay:FILE)",
                         source);
    p->on_device = true;
    return devices_find(&p->list, &p->count, e) &&
           gpu_choose(p->list, p->count, device, &p->index, e);
}

// The device or recording that a stored session was measured on.
static bool place_find_again(struct session *s, struct place *p, const struct session_record *r,
                             const char *hint, struct err *e)
{
    *p = (struct place){.spec = r->source};
    if (recorded_is(r->source))
        return recorded_open_again(r, &s->recorded, e);
    if (!is_device_source(r->source))
        return true;
    p->on_device = true;
    if (!devices_find(&p->list, &p->count, e))
        return false;
    for (p->index = 0; p->index < p->count; p->index++) {
        char id[33];
        gpu_identity(&p->list[p->index], id);
        if (str_equal(id, r->device_id))
            return true;
    }
    return err_set(e,
                   "session %" PRId64 " was measured on %s (%s), which is not here as it was (%s)",
                   r->id, r->device, r->driver, hint);
}

static bool is_legal(void *context, const struct config *c)
{
    struct session *s = context;
    struct verdict v;
    struct err
        ignored; // a rule that fails is met again, and reported, when the configuration is asked
    return space_judge(s->space, s->has_limits ? &s->limits : NULL, c, &v, &ignored) && v.legal;
}

static int default_workers(const struct place *p)
{
    int cores = os_cores();
    return !p->on_device ? 1 : cores < 4 ? cores : 4;
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

static void log_worker(void *context, int worker, const char *line)
{
    session_message(context, "debug", "worker %d: %s", worker, line);
}

static bool make_source(struct session *s, const struct place *p, bool validate, const char *fault,
                        struct err *e)
{
    if (s->recorded.recording) {
        s->source =
            replay_source_create(s->recorded.recording, s->recorded.speed, s->record.workers);
        return true;
    }
    if (!p->on_device) {
        s->source = synthetic_create(p->spec + strlen(SYNTHETIC), s->space, s->record.flop,
                                     s->record.workers, e);
        return s->source != NULL;
    }
    char *program = path_program();
    struct pool_options o = {
        .program = program,
        .device = p->index,
        .device_id = s->record.device_id,
        .validate = validate,
        .workers = s->record.workers,
        .operation = script_operation(s->script),
        .reference = script_reference(s->script),
        .limits = &s->limits,
        .seed = s->record.seed,
        .is_cpu = place_info(p)->is_cpu,
        .trips_undeclared = !s->space->resources,
        .fault = fault,
        .log = log_worker,
        .log_context = s,
    };
    s->source = pool_create(&o, e);
    free(program);
    return s->source != NULL;
}

static void take_place(struct session *s, const struct place *p)
{
    const struct gpu_info *info = place_info(p);
    s->has_limits = info != NULL;
    if (info)
        s->limits = info->limits;
}

// What new and resumed sessions have in common once the script is there (NULL: it is not).
static bool take_script(struct session *s, struct script *script)
{
    s->script = script;
    if (!script)
        return false;
    s->space = script_space(script);
    s->record.flop = operation_flop(script_operation(script));
    return true;
}

static bool make_search(struct session *s, struct err *e)
{
    struct search_problem problem = {.space = s->space, .legal = is_legal, .context = s};
    return session_make_strategy(s, &problem, e);
}

static char *take_in_arena(struct session *s, struct str *text)
{
    char *kept = arena_strdup(&s->arena, str_text(text));
    str_finish(text);
    return kept;
}

// Whoever opens the file later may be in another folder.
static void make_path_absolute(struct session *s)
{
    char *path = realpath(s->record.path, NULL);
    if (path)
        s->record.path = arena_strdup(&s->arena, path);
    free(path);
}

static void describe_problem(struct session *s)
{
    make_path_absolute(s);
    struct str text = {0};
    const struct operation *operation = script_operation(s->script);
    operation_add_text(operation, &text);
    s->record.title = take_in_arena(s, &text);
    operation_add_json(operation, &text);
    s->record.operation = take_in_arena(s, &text);
    int count;
    const struct script_setting *setting = script_settings(s->script, &count);
    str_add(&text, "{");
    for (int i = 0, n = 0; i < count; i++)
        if (!str_equal(setting[i].value, setting[i].standard)) {
            const char *quote = setting[i].values ? "\"" : "";
            str_printf(&text, "%s\"%s\":%s%s%s", n++ ? "," : "", setting[i].name, quote,
                       setting[i].value, quote);
        }
    str_add(&text, "}");
    s->record.settings = take_in_arena(s, &text);
    char hash[33];
    hash_texts(s->script, hash);
    s->record.text_hash = arena_strdup(&s->arena, hash);
    s->record.name = s->space->name;
    s->record.size = s->space->size_text;
}

static void describe_place(struct session *s, const struct place *p)
{
    const struct gpu_info *info = place_info(p);
    s->record.source = info ? "device" : arena_strdup(&s->arena, p->spec);
    s->record.device = info ? arena_strdup(&s->arena, info->name) : "none";
    s->record.driver = info ? arena_strdup(&s->arena, info->driver) : "none";
    s->record.device_type = info ? arena_strdup(&s->arena, info->type) : "none";
    char id[33] = "";
    if (info)
        gpu_identity(info, id);
    s->record.device_id = arena_strdup(&s->arena, id);
    struct str limits = {0};
    if (info)
        stored_add_limits(&limits, &info->limits);
    s->record.limits = take_in_arena(s, &limits);
}

static struct session *session_new(const struct session_host *host)
{
    struct session *s = mem_zero(1, sizeof *s);
    arena_init(&s->arena);
    s->store = host->store;
    s->on_event = host->on_event;
    s->event_context = host->context;
    s->open_end = &s->open;
    s->until_canary = SESSION_CANARY_EVERY;
    return s;
}

static void fill_record(struct session *s, const struct session_options *o, const struct place *p)
{
    struct session_record *r = &s->record;
    r->created = os_unix_time();
    r->note = o->note;
    r->state = "running";
    r->seed = o->has_seed ? o->seed : os_seed() >> 11; // fits a double: JSON readers keep it
    r->budget_trials = o->trials ? o->trials : ENGINE_DEFAULT_TRIALS;
    r->budget_seconds = o->seconds;
    r->workers = o->workers ? o->workers : default_workers(p);
    r->count_rejected = s->count_rejected = o->count_rejected;
}

static bool store_new(struct session *s, struct err *e)
{
    int count = 0;
    const struct script_text *text = s->script ? script_texts(s->script, &count) : NULL;
    struct text_record *record = mem_zero((size_t)count + 1, sizeof *record);
    for (int i = 0; i < count; i++)
        record[i] = (struct text_record){text[i].name, text[i].path, text[i].text};
    bool ok = store_create_session(s->store, &s->record, record, count, &s->record.id, e) &&
              store_lock_session(s->store, s->record.id, e);
    kill_point("create");
    free(record);
    return ok;
}

static bool compiles(struct session *s, const struct config *c, struct err *e)
{
    struct job job;
    if (!script_render(s->script, c, &job, e))
        return false;
    bool ok = true;
    for (int i = 0; ok && i < job.pass_count; i++) {
        struct spirv spirv = {0};
        ok = kernel_compile_pass(&job.pass[i], &spirv, e);
        spirv_finish(&spirv);
    }
    job_finish(&job);
    return ok;
}

// Compiles legal configurations until one succeeds, so that a broken template is one clear line and
// no session, while one that fails now and then only costs trials.
static bool try_template(struct session *s, struct err *e)
{
    struct rng rng;
    struct config c;
    int tries = 0;
    if (!s->source->kind->needs_jobs)
        return true;
    rng_seed(&rng, s->record.seed);
    kernel_setup();
    for (int draws = 0; draws < MOST_DRAWS && tries < MOST_TRIES; draws++) {
        space_sample(s->space, &rng, &c);
        if (is_legal(s, &c) && ++tries && compiles(s, &c, e))
            return true;
    }
    return tries == 0; // nothing legal was drawn: the search will meet it, or say why not
}

// What a new session takes over from the one that it is like: all that was not asked for otherwise,
// but its seed.
static bool take_like(struct session *s, struct session_options *o, struct session_record *like,
                      struct err *e)
{
    if (!store_get_session(s->store, o->like, &s->arena, like, e))
        return false;
    const char *source = o->source ? o->source : like->source;
    if (recorded_is(source) != recorded_is(like->source))
        return err_usage(e, "--like takes the space of session %" PRId64 ", which %s a recording",
                         o->like, recorded_is(source) ? "is not on" : "is on");
    s->record.path = like->path;
    s->record.settings = like->settings;
    s->record.reduced = like->reduced;
    o->source = source;
    o->strategy = o->strategy ? o->strategy : like->strategy;
    o->trials = o->trials ? o->trials : like->budget_trials;
    o->seconds = o->seconds > 0 ? o->seconds : like->budget_seconds;
    o->workers = o->workers ? o->workers : like->workers;
    o->count_rejected |= like->count_rejected;
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

static bool choose_strategy(struct session *s, const struct session_options *o, struct err *e)
{
    char *strategy = strategy_canonical(o->strategy ? o->strategy : ENGINE_DEFAULT_STRATEGY, e);
    if (!strategy)
        return false;
    s->record.strategy = arena_strdup(&s->arena, strategy);
    free(strategy);
    return true;
}

// The space and what is searched in it.
static bool find_problem(struct session *s, const struct session_options *o, struct place *p,
                         struct err *e)
{
    if (s->recorded.recording)
        return session_assemble_recorded(s, e);
    describe_place(s, p);
    if (!take_script(s, session_read_script(s, o, e)))
        return false;
    describe_problem(s);
    return make_search(s, e) &&
           (!s->has_limits || operator_fits(script_operation(s->script), &s->limits, e));
}

static bool start(struct session *s, struct session_options *o, struct place *p, struct err *e)
{
    struct session_record like;
    bool same_place = o->like && !o->source && !o->device;
    bool found =
        o->like ? take_like(s, o, &like, e) : recorded_is(o->source) || find_space(s, o, e);
    if (!found || !choose_strategy(s, o, e) ||
        !(same_place ? place_find_again(s, p, &like, HINT_LIKE, e)
                     : place_find(s, p, o->source, o->device, e)))
        return false;
    take_place(s, p);
    fill_record(s, o, p);
    s->warm_from = o->warm;
    s->transfer_wish = (struct transfer_wish){.wanted = o->transfer, .earlier = o->earlier};
    if (same_place && !o->set_count) { // the same space
        s->record.warm = like.warm;
        s->record.history = like.history;
    }
    if (!find_problem(s, o, p, e) || !make_source(s, p, o->validate, o->fault, e) ||
        !try_template(s, e) || !store_new(s, e))
        return false;
    s->started_ns = os_now_ns();
    session_emit(s, EVENT_SESSION, NULL, NULL);
    session_say_scale(s);
    session_say_warm(s);
    session_say_transfer(s);
    return true;
}

static struct session *begun(struct session *s, struct place *p, bool ok)
{
    free(p->list);
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
    struct place p = {0};
    return begun(s, &p, start(s, &all, &p, e));
}

static bool change_budget(struct session *s, const struct session_options *more, struct err *e)
{
    struct session_record *r = &s->record;
    if (!more || (more->trials <= 0 && more->seconds <= 0))
        return true;
    if (more->trials > 0)
        r->budget_trials = more->trials;
    if (more->seconds > 0)
        r->budget_seconds = more->seconds;
    return store_set_budget(s->store, r->id, r->budget_trials, r->budget_seconds, e);
}

// What was asked of a runner that ended before it looked: a new budget counts, the rest is over.
static bool take_left_commands(struct session *s, struct err *e)
{
    char verb[16], argument[64];
    for (bool any = true; any;) {
        if (!store_take_command(s->store, s->record.id, verb, argument, &any, e))
            return false;
        if (any && str_equal(verb, "budget") && !session_command(s, verb, argument, e))
            return false;
    }
    return true;
}

// Counts are counted again while the stored trials are told again.
static void count_again(struct session *s)
{
    struct session_record *r = &s->record;
    s->stored = *r;
    r->trials = r->rejected = r->ok = r->best_ask = 0;
    r->best_seconds = 0;
}

static bool assemble_again(struct session *s, struct err *e)
{
    if (s->recorded.recording)
        return session_assemble_recorded(s, e);
    return take_script(s, stored_script(s->store, &s->record, &s->arena, e)) && make_search(s, e);
}

static bool resume(struct session *s, int64_t id, const struct session_options *more,
                   struct place *p, struct err *e)
{
    if (!store_lock_session(s->store, id, e))
        return false;
    s->record.id = id; // ours, to be unlocked
    if (!store_get_session(s->store, id, &s->arena, &s->record, e))
        return false;
    s->count_rejected = s->record.count_rejected;
    if (more && more->workers)
        s->record.workers = more->workers;
    if (!take_left_commands(s, e) || !change_budget(s, more, e) ||
        !place_find_again(s, p, &s->record, HINT_RESUME, e))
        return false;
    take_place(s, p);
    if (!assemble_again(s, e) ||
        !make_source(s, p, more && more->validate, more ? more->fault : NULL, e))
        return false;
    double ran;
    s->replay = replay_load(s->store, s->space, id, &ran, e);
    if (!s->replay)
        return false;
    if (!store_count_refits(s->store, id, &s->refits_stored, e))
        return false;
    s->record.ran_seconds = ran > s->record.ran_seconds ? ran : s->record.ran_seconds;
    s->record.state = "running";
    kill_point("resume");
    if (!store_set_state(s->store, id, "running", NULL, s->record.ran_seconds, e))
        return false;
    session_emit(s, EVENT_SESSION, NULL, NULL);
    count_again(s);
    if (s->refits_stored > 0)
        session_message(s, "info",
                        "the model is fitted again, %" PRId64 " times, to go on as it was",
                        s->refits_stored);
    return true;
}

struct session *session_resume(const struct session_host *host, int64_t id,
                               const struct session_options *more, struct err *e)
{
    struct session *s = session_new(host);
    struct place p = {0};
    return begun(s, &p, resume(s, id, more, &p, e));
}
