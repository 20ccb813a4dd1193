#include "engine/session_place.h"

#include "base/file.h"
#include "base/os.h"
#include "engine/devices.h"
#include "engine/stored.h"
#include "kernel/kernel.h"
#include "trial/replay_source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SYNTHETIC      "synthetic:"
#define MOST_COMPILERS 12

const struct gpu_info *session_place_device(const struct session_place *p)
{
    return p->on_device ? &p->list[p->index] : NULL;
}

static bool is_device_source(const char *source)
{
    return !source || str_equal(source, "device");
}

bool session_place_find(struct session *s, struct session_place *p, const char *source,
                        const char *device, struct err *e)
{
    *p = (struct session_place){.spec = source};
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
           gpu_choose(p->list, p->count, device, &p->index, e) &&
           gpu_can_run(&p->list[p->index], e);
}

bool session_place_find_again(struct session *s, struct session_place *p,
                              const struct session_record *r, const char *hint, struct err *e)
{
    *p = (struct session_place){.spec = r->source};
    if (recorded_is(r->source))
        return recorded_open_again(r, &s->recorded, e);
    if (!is_device_source(r->source))
        return true;
    p->on_device = true;
    return devices_find_again(r, hint, &p->list, &p->count, &p->index, e) &&
           gpu_can_run(&p->list[p->index], e);
}

int session_place_workers(const struct session_place *p)
{
    int cores = os_cores();
    return !p->on_device ? 1 : cores < 4 ? cores : 4;
}

// Cores that have no worker compile for it.
static int compilers(const struct session *s)
{
    int left = os_cores() - s->record.workers;
    return left < 0 ? 0 : left < MOST_COMPILERS ? left : MOST_COMPILERS;
}

bool session_place_make_source(struct session *s, const struct session_place *p, bool validate,
                               const char *fault, struct err *e)
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
        .compilers = s->tells_statistics ? compilers(s) : 0,
        .operation = script_operation(s->script),
        .reference = script_reference(s->script),
        .limits = &s->limits,
        .seed = s->record.seed,
        .is_cpu = session_place_device(p)->is_cpu,
        .trips_undeclared = !s->space->resources,
        .fault = fault,
        .log = session_hear_worker,
        .log_context = s,
    };
    s->source = pool_create(&o, e);
    free(program);
    return s->source != NULL;
}

void session_place_take(struct session *s, const struct session_place *p)
{
    const struct gpu_info *info = session_place_device(p);
    s->has_limits = info != NULL;
    if (info)
        s->limits = info->limits;
    s->tells_statistics =
        info ? info->limits.spills > 0 // which only those have that tell
             : str_starts(p->spec, SYNTHETIC) && synthetic_tells(p->spec + strlen(SYNTHETIC));
}

void session_place_describe(struct session *s, const struct session_place *p)
{
    const struct gpu_info *info = session_place_device(p);
    s->record.source = info ? "device" : arena_strdup(&s->arena, p->spec);
    s->record.device = info ? arena_strdup(&s->arena, info->name) : "none";
    s->record.driver = info ? arena_strdup(&s->arena, info->driver) : "none";
    s->record.compiler = info ? kernel_built_in() : NULL;
    s->record.device_type = info ? arena_strdup(&s->arena, info->type) : "none";
    char id[33] = "";
    if (info)
        gpu_identity(info, id);
    s->record.device_id = arena_strdup(&s->arena, id);
    struct str limits = {0};
    if (info)
        limits_add_json(&limits, &s->limits);
    s->record.limits = arena_strdup(&s->arena, str_text(&limits));
    str_finish(&limits);
}

void session_place_finish(struct session_place *p)
{
    free(p->list);
    *p = (struct session_place){0};
}
