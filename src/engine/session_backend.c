#include "engine/session_backend.h"

#include "base/os.h"
#include "engine/devices.h"
#include "engine/session_shapes.h"
#include "kernel/kernel.h"
#include "space/objective.h"
#include "trial/benchmark.h"
#include "trial/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYNTHETIC      "synthetic:"
#define MOST_COMPILERS 12

// --- the choice ---

const char engine_source_help[] =
    "source of the times: device; a recorded space, replay:FILE[:speed=X]; or times that are made "
    "up, synthetic:NAME[:KEY=VALUE]...: " SYNTHETIC_HELP "; or " BENCHMARK_HELP;

bool engine_check_source(const char *source, struct err *e)
{
    if (!source || str_equal(source, "device") || recorded_is(source))
        return true;
    if (str_starts(source, SYNTHETIC))
        return synthetic_check(source + strlen(SYNTHETIC), e);
    if (benchmark_is(source))
        return benchmark_check(source, e);
    return err_usage(e,
                     "unknown source '%s' (there are device, synthetic:bowl, "
                     "synthetic:rugged, synthetic:machine, synthetic:trap, replay:FILE, "
                     "run:COMMAND, serve:COMMAND)",
                     source);
}

const struct gpu_info *backend_device(const struct backend_choice *c)
{
    return c->on_device ? &c->list[c->cards.index[0]] : NULL;
}

static void take_devices(struct backend_choice *c)
{
    const struct gpu_info *list = remote_devices(c->remote, &c->count);
    free(c->list);
    c->list = mem_zero((size_t)c->count + 1, sizeof *c->list);
    memcpy(c->list, list, (size_t)c->count * sizeof *list);
}

bool backend_choose(struct backend_choice *c, struct recorded *recorded,
                    const struct backend_wish *w, struct err *e)
{
    const struct session_record *again = w->again;
    const char *source = again ? again->source : w->source;
    struct err why;
    c->spec = source;
    c->on_device = !source || str_equal(source, "device");
    if (recorded_is(source)) {
        if (!(again ? recorded_open_again(again, recorded, e) : recorded_open(source, recorded, e)))
            return false;
    } else if (!again && !engine_check_source(source, e)) {
        return false;
    }
    if (benchmark_is(source) && c->machines)
        return err_usage(e, "--on measures kernels elsewhere: the program of --source runs here");
    if (c->machines) { // other machines measure
        c->remote = remote_connect(c->machines, c->on_device, e);
        if (!c->remote)
            return false;
    }
    if (!c->on_device)
        return true;
    if (c->remote)
        take_devices(c);
    else if (!devices_find(&c->list, &c->count, e))
        return false;
    while (!(again ? devices_match(again, w->hint, c->list, c->count, &c->cards, &why)
                   : gpu_choose_cards(c->list, c->count, w->device, &c->cards, &why))) {
        if (!c->remote || !remote_wait_for_devices(c->remote, why.text)) {
            if (e)
                *e = why;
            return false;
        }
        take_devices(c); // a pool may have it later
    }
    if (c->remote && c->cards.count > 1)
        return err_usage(e, "several cards of a machine are used by --device, not with --on");
    const struct gpu_info *info = backend_device(c);
    return gpu_can_run(info, e) && (!c->remote || remote_choose(c->remote, info, e)) &&
           (c->cards.count == 1 || devices_agree(c->list, &c->cards, e));
}

bool backend_judge_matrices(struct backend_choice *c, struct store *store, struct err *e)
{
    return !c->on_device ||
           peak_judge_matrices(store, &c->list[c->cards.index[0]], c->machines == NULL, e);
}

void backend_choice_finish(struct backend_choice *c)
{
    remote_destroy(c->remote);
    free(c->list);
    *c = (struct backend_choice){0};
}

void backend_take(struct session_backend *b, const struct backend_choice *c)
{
    const struct gpu_info *info = backend_device(c);
    b->device.is_known = info != NULL;
    b->device.machines = c->remote ? remote_facts(c->remote).count : 0;
    if (info)
        b->device.limits = info->limits;
    // A limit on spills is known only where the driver has statistics.
    b->device.tells_statistics = info ? info->limits.spills > 0
                                      : str_starts(c->spec, SYNTHETIC) &&
                                            synthetic_has_statistics(c->spec + strlen(SYNTHETIC));
}

void backend_describe(const struct session_backend *b, const struct backend_choice *c,
                      struct arena *a, struct session_record *r)
{
    const struct gpu_info *info = backend_device(c);
    struct str limits = {0};
    char id[33] = "";
    if (info) {
        gpu_identity(info, id);
        limits_add_json(&limits, &b->device.limits);
    }
    r->source = info ? "device" : arena_strdup(a, c->spec);
    r->cards = c->cards.count;
    r->device = info ? arena_strdup(a, info->name) : "none";
    r->driver = info ? arena_strdup(a, info->driver) : "none";
    r->compiler = !info       ? NULL
                  : c->remote ? arena_strdup(a, remote_facts(c->remote).compiler)
                              : kernel_built_in();
    r->device_type = info ? arena_strdup(a, info->type) : "none";
    r->device_id = arena_strdup(a, id);
    r->limits = arena_strdup(a, str_text(&limits));
    str_finish(&limits);
}

// --- the source ---

// Returns pool_options.objective.
static int measured_objective(const struct session_record *r)
{
    struct objective o;
    objective_parse(r->objective, &o);
    return r->objective && o.kind != OBJECTIVE_NAMED ? 1 + (int)o.kind : 0;
}

// Makes a source without a device; NULL and `e`: it cannot be made.
static struct source *make_synthetic(const struct session_backend *b,
                                     const struct backend_choice *c, const struct session_record *r,
                                     struct script *script, struct err *e)
{
    const struct recorded *on = &b->recorded;
    if (benchmark_is(c->spec))
        return benchmark_create(c->benchmark, script_space(script), r->objective, r->workers, e);
    if (on->recording)
        return replay_source_create(on->recording, on->speed, r->workers);
    struct source *made = synthetic_create(c->spec + strlen(SYNTHETIC), script_space(script),
                                           operation_flop(script_operation(script)), r->workers, e);
    if (made)
        synthetic_set_objective(made, measured_objective(r));
    return made;
}

bool backend_tells_power(const struct backend_choice *c, struct err *e)
{
    if (c->on_device)
        return devices_tell_power(c->list, &c->cards, e);
    return (str_starts(c->spec, SYNTHETIC) && synthetic_tells_power(c->spec + strlen(SYNTHETIC))) ||
           err_set(e, "nothing tells the power of '%s'", c->spec);
}

static struct source *make_pool(const struct session_backend *b, const struct backend_choice *c,
                                struct script *script, struct pool_options o, struct err *e)
{
    const struct session_record *r = ((struct session_log *)o.log_context)->store->record;
    int idle = os_cores() - r->workers; // cores that have no worker compile
    o.device = c->cards.index[0];
    o.cards = &c->cards;
    o.device_id = r->device_id;
    o.cold = r->cold;
    o.workers = r->workers;
    if (b->device.tells_statistics && idle > 0)
        o.compilers = idle < MOST_COMPILERS ? idle : MOST_COMPILERS;
    o.operation = script_operation(script);
    o.reference = script_reference(script);
    o.limits = &b->device.limits;
    o.objective = measured_objective(r);
    o.seed = r->seed;
    o.is_cpu = backend_device(c)->is_cpu;
    o.keeps_busy = !o.is_cpu;
    o.trips_undeclared = !script_space(script)->resources;
    return pool_create(&o, e);
}

bool backend_make_source(struct session_backend *b, struct backend_choice *c,
                         struct session_log *log, bool validate, const char *fault, struct err *e)
{
    const struct session_record *r = log->store->record;
    struct pool_options pool = {
        .validate = validate, .fault = fault, .log = session_on_worker_log, .log_context = log};
    if (b->shapes) {
        struct shapes_options o = {.goal = b->shapes->goal,
                                   .workers = r->workers,
                                   .render = session_shapes_render,
                                   .context = b};
        bool ok = true;
        for (int i = 0; ok && i < o.goal.count; i++) {
            struct script *script = b->shapes->of[i].script;
            o.name[i] = b->shapes->of[i].name;
            o.of[i] = c->on_device ? make_pool(b, c, script, pool, e)
                                   : make_synthetic(b, c, r, script, e);
            ok = o.of[i] || err_prefix(e, "%s", o.name[i]);
        }
        for (int i = 0; !ok && i < o.goal.count; i++)
            source_destroy(o.of[i]);
        b->source = ok ? shapes_create(&o) : NULL;
    } else if (!c->on_device) {
        b->source = make_synthetic(b, c, r, b->script, e);
    }
    if (c->remote && (c->on_device || b->source)) {
        // The machines take over what would be made here.
        struct remote_work w = {.made = b->source,
                                .workers = r->workers,
                                .log = session_on_worker_log,
                                .tell = session_on_machine,
                                .context = log};
        if (c->on_device) {
            struct roofline peak;
            enum roofline_kind by;
            bool found;
            if (!peak_find(log->store->db, backend_device(c), &peak, &found, e))
                return false;
            if (found)
                w.peak_s = roofline_seconds(&peak, script_operation(b->script), &by);
            w.hello = (struct hello){.validate = validate,
                                     .cold = r->cold,
                                     .operation = *script_operation(b->script),
                                     .limits = b->device.limits,
                                     .trips_undeclared = !b->space->resources,
                                     .seed = r->seed,
                                     .compilers = b->device.tells_statistics ? MOST_COMPILERS : 0};
            if (script_reference(b->script))
                w.hello.reference = *script_reference(b->script); // borrowed
            snprintf(w.hello.device_id, sizeof w.hello.device_id, "%s", r->device_id);
            snprintf(w.hello.fault, sizeof w.hello.fault, "%s", fault ? fault : "");
        }
        b->source = remote_begin(c->remote, &w);
        c->remote = NULL;
    }
    if (!b->source && !b->shapes && c->on_device)
        b->source = make_pool(b, c, b->script, pool, e);
    return b->source != NULL;
}

// --- configurations ---

const struct limits *backend_limits(const struct session_backend *b)
{
    return b->device.is_known ? &b->device.limits : NULL;
}

bool backend_judge(const struct session_backend *b, const struct config *c, struct verdict *v,
                   struct err *e)
{
    return b->shapes ? session_shapes_judge(b->shapes, backend_limits(b), c, v, e)
                     : space_judge(b->space, backend_limits(b), c, v, e);
}

bool backend_render(const struct session_backend *b, const struct config *c,
                    struct trial_request *r, int index, struct err *e)
{
    r->config[index] = *c;
    return !b->source->kind->needs_jobs || script_render(b->script, c, &r->job[index], e);
}

bool backend_submit(struct session_backend *b, struct trial_request *r, struct err *e)
{
    for (int i = 0; i < r->count; i++)
        if (!backend_render(b, &r->config[i], r, i, e)) {
            while (i-- > 0)
                job_finish(&r->job[i]);
            return false;
        }
    source_submit(b->source, r);
    b->in_flight++;
    return true;
}
