#include "engine/session_place.h"

#include "base/file.h"
#include "base/os.h"
#include "engine/devices.h"
#include "engine/session_shapes.h"
#include "engine/stored.h"
#include "kernel/kernel.h"
#include "trial/replay_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYNTHETIC      "synthetic:"
#define MOST_COMPILERS 12

const struct gpu_info *session_place_device(const struct session_place *p)
{
    return p->on_device ? &p->list[p->cards.index[0]] : NULL;
}

// The machines that measure, where it is not this one.
static bool connect(struct session_place *p, struct err *e)
{
    p->remote = p->dialer ? remote_connect(p->dialer, p->on_device, e) : NULL;
    return p->remote || !p->dialer;
}

static void take_devices(struct session_place *p)
{
    const struct gpu_info *list = remote_devices(p->remote, &p->count);
    p->list = mem_zero((size_t)p->count + 1, sizeof *p->list);
    memcpy(p->list, list, (size_t)p->count * sizeof *list);
}

static bool find_devices(struct session_place *p, struct err *e)
{
    if (!p->dialer)
        return devices_find(&p->list, &p->count, e);
    if (!connect(p, e))
        return false;
    take_devices(p);
    return true;
}

// A pool may have it later.
static bool await_device(struct session_place *p, const struct err *why)
{
    if (!p->remote || !remote_wait_for_devices(p->remote, why->text))
        return false;
    free(p->list);
    take_devices(p);
    return true;
}

static bool can_run(const struct session_place *p, struct err *e)
{
    const struct gpu_info *info = session_place_device(p);
    if (p->remote && p->cards.count > 1)
        return err_usage(e, "several cards of a machine are used by --device, not with --on");
    return gpu_can_run(info, e) && (!p->remote || remote_choose(p->remote, info, e)) &&
           (p->cards.count == 1 || devices_agree(p->list, &p->cards, e));
}

static bool is_device_source(const char *source)
{
    return !source || str_equal(source, "device");
}

bool session_place_find(struct session *s, struct session_place *p, const char *source,
                        const char *device, struct err *e)
{
    p->spec = source;
    if (recorded_is(source))
        return recorded_open(source, &s->recorded, e) && connect(p, e);
    if (!is_device_source(source))
        return (str_starts(source, SYNTHETIC) ||
                err_usage(e,
                          "unknown source '%s' (there are device, synthetic:bowl, "
                          "synthetic:rugged, synthetic:machine, synthetic:trap, replay:FILE)",
                          source)) &&
               connect(p, e);
    p->on_device = true;
    if (!find_devices(p, e))
        return false;
    while (!gpu_choose_cards(p->list, p->count, device, &p->cards, e))
        if (!await_device(p, e))
            return false;
    return can_run(p, e);
}

bool session_place_find_again(struct session *s, struct session_place *p,
                              const struct session_record *r, const char *hint, struct err *e)
{
    p->spec = r->source;
    if (recorded_is(r->source))
        return recorded_open_again(r, &s->recorded, e) && connect(p, e);
    if (!is_device_source(r->source))
        return connect(p, e);
    p->on_device = true;
    if (!find_devices(p, e))
        return false;
    while (!devices_match(r, hint, p->list, p->count, &p->cards, e))
        if (!await_device(p, e))
            return false;
    return can_run(p, e);
}

int session_place_workers(const struct session_place *p)
{
    return p->remote ? remote_workers(p->remote)
                     : remote_usual_workers(p->on_device ? p->cards.count : 0, os_cores());
}

// Cores that have no worker compile for it.
static int compilers(const struct session *s)
{
    int left = os_cores() - s->record.workers;
    return left < 0 ? 0 : left < MOST_COMPILERS ? left : MOST_COMPILERS;
}

// What needs no device; NULL and `e`: it cannot be.
static struct source *make_up(const struct session *s, const struct session_place *p,
                              struct script *script, struct err *e)
{
    const struct recorded *r = &s->recorded;
    return r->recording
               ? replay_source_create(r->recording, r->speed, s->record.workers)
               : synthetic_create(p->spec + strlen(SYNTHETIC), script_space(script),
                                  operation_flop(script_operation(script)), s->record.workers, e);
}

static struct source *make_pool(struct session *s, const struct session_place *p,
                                struct script *script, bool validate, const char *fault,
                                struct err *e)
{
    char *program = path_program();
    struct pool_options o = {
        .program = program,
        .device = p->cards.index[0],
        .cards = &p->cards,
        .device_id = s->record.device_id,
        .validate = validate,
        .cold = s->record.cold,
        .workers = s->record.workers,
        .compilers = s->device.tells_statistics ? compilers(s) : 0,
        .operation = script_operation(script),
        .reference = script_reference(script),
        .limits = &s->device.limits,
        .seed = s->record.seed,
        .is_cpu = session_place_device(p)->is_cpu,
        .keeps_busy = !session_place_device(p)->is_cpu,
        .trips_undeclared = !script_space(script)->resources,
        .fault = fault,
        .log = session_hear_worker,
        .log_context = s,
    };
    struct source *made = pool_create(&o, e);
    free(program);
    return made;
}

static struct source *make_shapes(struct session *s, const struct session_place *p, bool validate,
                                  const char *fault, struct err *e)
{
    struct shapes_options o = {.goal = s->shapes->goal,
                               .workers = s->record.workers,
                               .render = session_shapes_render,
                               .context = s};
    bool ok = true;
    for (int i = 0; ok && i < o.goal.count; i++) {
        struct script *script = s->shapes->of[i].script;
        o.name[i] = s->shapes->of[i].name;
        o.of[i] =
            p->on_device ? make_pool(s, p, script, validate, fault, e) : make_up(s, p, script, e);
        ok = o.of[i] || err_prefix(e, "%s", o.name[i]);
    }
    for (int i = 0; !ok && i < o.goal.count; i++)
        source_destroy(o.of[i]);
    return ok ? shapes_create(&o) : NULL;
}

bool session_place_make_source(struct session *s, struct session_place *p, bool validate,
                               const char *fault, struct err *e)
{
    if (s->shapes)
        s->source = make_shapes(s, p, validate, fault, e);
    else if (!p->on_device)
        s->source = make_up(s, p, s->script, e);
    if (p->remote && (p->on_device || s->source)) {
        // The machines take over what would be made here.
        struct remote_work w = {.made = s->source,
                                .workers = s->record.workers,
                                .log = session_hear_worker,
                                .tell = session_hear_machine,
                                .context = s};
        if (p->on_device) {
            w.hello = (struct hello){.validate = validate,
                                     .cold = s->record.cold,
                                     .operation = *script_operation(s->script),
                                     .limits = s->device.limits,
                                     .trips_undeclared = !s->space->resources,
                                     .seed = s->record.seed,
                                     .compilers = s->device.tells_statistics ? MOST_COMPILERS : 0};
            if (script_reference(s->script))
                w.hello.reference = *script_reference(s->script); // borrowed
            snprintf(w.hello.device_id, sizeof w.hello.device_id, "%s", s->record.device_id);
            snprintf(w.hello.fault, sizeof w.hello.fault, "%s", fault ? fault : "");
        }
        s->source = remote_begin(p->remote, &w);
        p->remote = NULL;
    }
    if (!s->source && !s->shapes && p->on_device)
        s->source = make_pool(s, p, s->script, validate, fault, e);
    return s->source != NULL;
}

void session_place_take(struct session *s, const struct session_place *p)
{
    const struct gpu_info *info = session_place_device(p);
    s->device.is_known = info != NULL;
    s->device.machines = p->remote ? remote_count(p->remote) : 0;
    if (info)
        s->device.limits = info->limits;
    s->device.tells_statistics =
        info ? info->limits.spills > 0 // which only those have that tell
             : str_starts(p->spec, SYNTHETIC) && synthetic_tells(p->spec + strlen(SYNTHETIC));
}

void session_place_describe(struct session *s, const struct session_place *p)
{
    const struct gpu_info *info = session_place_device(p);
    s->record.source = info ? "device" : arena_strdup(&s->arena, p->spec);
    s->record.cards = p->cards.count;
    s->record.device = info ? arena_strdup(&s->arena, info->name) : "none";
    s->record.driver = info ? arena_strdup(&s->arena, info->driver) : "none";
    s->record.compiler = !info       ? NULL
                         : p->remote ? arena_strdup(&s->arena, remote_compiler(p->remote))
                                     : kernel_built_in();
    s->record.device_type = info ? arena_strdup(&s->arena, info->type) : "none";
    char id[33] = "";
    if (info)
        gpu_identity(info, id);
    s->record.device_id = arena_strdup(&s->arena, id);
    struct str limits = {0};
    if (info)
        limits_add_json(&limits, &s->device.limits);
    s->record.limits = arena_strdup(&s->arena, str_text(&limits));
    str_finish(&limits);
}

void session_place_finish(struct session_place *p)
{
    remote_destroy(p->remote);
    free(p->list);
    *p = (struct session_place){0};
}
