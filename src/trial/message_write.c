#include "trial/message.h"

#include "base/str.h"

#include <inttypes.h>

const char *message_type_name(enum message_type type)
{
    static const char *const names[MESSAGE_TYPE_COUNT] = {
        [MESSAGE_HELLO] = "hello",       [MESSAGE_PREPARE] = "prepare",
        [MESSAGE_TRIAL] = "trial",       [MESSAGE_GO] = "go",
        [MESSAGE_READY] = "ready",       [MESSAGE_FAILED] = "failed",
        [MESSAGE_PREPARED] = "prepared", [MESSAGE_PHASE] = "phase",
        [MESSAGE_RESULT] = "result",     [MESSAGE_COMPILE] = "compile",
        [MESSAGE_COMPILED] = "compiled", [MESSAGE_LIST] = "list",
        [MESSAGE_DEVICES] = "devices",   [MESSAGE_OPEN] = "open",
    };
    return names[type];
}

static struct str start(enum message_type type)
{
    struct str s = {0};
    str_printf(&s, "{\"type\":\"%s\"", message_type_name(type));
    return s;
}

static char *finish(struct str *s)
{
    str_add_char(s, '}');
    return str_take(s);
}

static void add_text(struct str *s, const char *name, const char *value)
{
    str_printf(s, ",\"%s\":", name);
    str_add_json(s, value);
}

static void add_real(struct str *s, const char *name, double value)
{
    str_printf(s, ",\"%s\":", name);
    str_add_real(s, value);
}

static void add_int(struct str *s, const char *name, int64_t value)
{
    str_printf(s, ",\"%s\":%" PRId64, name, value);
}

static void add_count(struct str *s, const char *name, uint64_t value)
{
    str_printf(s, ",\"%s\":%" PRIu64, name, value);
}

static void add_bool(struct str *s, const char *name, bool value)
{
    str_printf(s, ",\"%s\":%s", name, value ? "true" : "false");
}

static void add_reals(struct str *s, const char *name, int count, const double *values)
{
    str_printf(s, ",\"%s\":[", name);
    for (int i = 0; i < count; i++) {
        str_add(s, i ? "," : "");
        str_add_real(s, values[i]);
    }
    str_add_char(s, ']');
}

static void add_three(struct str *s, const char *name, const uint32_t value[3])
{
    str_printf(s, ",\"%s\":[%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]", name, value[0], value[1],
               value[2]);
}

char *message_plain(enum message_type type)
{
    struct str s = start(type);
    return finish(&s);
}

static void add_operation(struct str *s, const struct operation *o)
{
    double size[OPERATION_MAX_SIZES], choice[OPERATION_MAX_CHOICES];
    for (int i = 0; i < OPERATION_MAX_SIZES; i++)
        size[i] = (double)o->size[i];
    for (int i = 0; i < OPERATION_MAX_CHOICES; i++)
        choice[i] = o->choice[i];
    add_text(s, "operation", o->kind->name);
    add_reals(s, "size", OPERATION_MAX_SIZES, size);
    add_reals(s, "choice", OPERATION_MAX_CHOICES, choice);
    add_reals(s, "real", OPERATION_MAX_REALS, o->real);
}

static void add_buffer(struct str *s, const struct custom_operation *c, int i)
{
    const struct tensor *t = &c->buffer[i];
    str_printf(s, "%s{\"element\":\"%s\"", i ? "," : "", element_name(t->element));
    add_text(s, "name", t->name);
    add_reals(s, "fill", 2, (double[]){c->low[i], c->high[i]});
    str_add(s, ",\"size\":[");
    for (int d = 0; d < t->rank; d++)
        str_printf(s, "%s%" PRId64, d ? "," : "", t->size[d]);
    str_add(s, "]}");
}

static void add_step(struct str *s, const struct custom_operation *c, int i)
{
    const struct custom_step *step = &c->step[i];
    struct tensor unused[OPERATION_MAX_TENSORS];
    int count = operation_tensors(&step->operation, unused);
    str_printf(s, "%s{\"buffers\":[", i ? "," : "");
    for (int k = 0; k < count; k++) {
        str_add(s, k ? "," : "");
        str_add_json(s, c->buffer[step->buffer[k]].name);
    }
    str_add_char(s, ']');
    add_operation(s, &step->operation);
    str_add_char(s, '}');
}

static void add_custom(struct str *s, const struct custom_operation *c)
{
    str_add(s, ",\"custom\":{\"buffers\":[");
    for (int i = 0; i < c->tensor_count; i++)
        add_buffer(s, c, i);
    str_add(s, "],\"steps\":[");
    for (int i = 0; i < c->step_count; i++)
        add_step(s, c, i);
    str_add_char(s, ']');
    add_text(s, "name", c->kind.name);
    add_reals(s, "tolerance", 2, (double[]){c->absolute, c->relative});
    str_add_char(s, '}');
}

static void add_matrix(struct str *s, const char *name, const struct matrix_units *u)
{
    str_printf(s, ",\"%s\":\"", name);
    matrix_units_add_text(u, s);
    str_add_char(s, '"');
}

static void add_limits(struct str *s, const struct limits *l)
{
    str_add(s, ",\"limits\":");
    limits_add_json(s, l);
}

static void add_pass(struct str *s, const struct pass *p)
{
    str_add(s, "{\"lines\":[");
    for (int i = 0; i < p->line_count; i++)
        str_printf(s, "%s%d", i ? "," : "", p->line_map[i]);
    str_add_char(s, ']');
    add_three(s, "groups", p->groups);
    add_text(s, "template", p->template_name ? p->template_name : "");
    add_text(s, "glsl", p->glsl);
    str_add_char(s, '}');
}

static void add_job(struct str *s, const struct job *job)
{
    str_printf(s, "{\"scratch_bytes\":%" PRIu64 ",\"passes\":[", job->scratch_bytes);
    for (int p = 0; p < job->pass_count; p++) {
        str_add(s, p ? "," : "");
        add_pass(s, &job->pass[p]);
    }
    str_add(s, "]}");
}

char *message_hello(const struct hello *h)
{
    struct str s = start(MESSAGE_HELLO);
    add_int(&s, "device", h->device);
    add_text(&s, "device_id", h->device_id);
    add_bool(&s, "validate", h->validate);
    add_bool(&s, "only_compiles", h->only_compiles);
    if (custom_of(&h->operation))
        add_custom(&s, custom_of(&h->operation));
    else
        add_operation(&s, &h->operation);
    str_add(&s, ",\"reference\":");
    add_job(&s, &h->reference);
    add_limits(&s, &h->limits);
    add_bool(&s, "trips_undeclared", h->trips_undeclared);
    str_printf(&s, ",\"seed\":\"%" PRIu64 "\"", h->seed); // all 64 bits: not a number
    add_reals(&s, "deadline_s", PHASE_COUNT, h->deadline_s);
    add_int(&s, "start", h->start);
    add_text(&s, "fault", h->fault);
    return finish(&s);
}

char *message_trial(const struct trial_request *r, const int *pick, int count, int64_t number,
                    int attempt)
{
    struct str s = start(MESSAGE_TRIAL);
    add_int(&s, "number", number);
    add_int(&s, "attempt", attempt);
    add_bool(&s, "race", r->race);
    add_bool(&s, "only_compiles", r->only_compiles);
    add_int(&s, "accesses", r->accesses);
    add_real(&s, "incumbent_s", r->incumbent_s);
    add_real(&s, "slowdown", r->slowdown);
    str_add(&s, ",\"jobs\":[");
    for (int i = 0; i < count; i++) {
        str_add(&s, i ? "," : "");
        add_job(&s, &r->job[pick[i]]);
    }
    str_add_char(&s, ']');
    return finish(&s);
}

char *message_failed(const struct err *why)
{
    struct str s = start(MESSAGE_FAILED);
    add_text(&s, "file", why->file);
    add_int(&s, "line", why->line);
    add_text(&s, "text", why->text);
    return finish(&s);
}

char *message_phase(enum trial_phase phase, int candidate, int64_t at_ns)
{
    struct str s = start(MESSAGE_PHASE);
    add_text(&s, "phase", trial_phase_name(phase));
    add_int(&s, "candidate", candidate);
    add_int(&s, "at_ns", at_ns);
    return finish(&s);
}

char *message_result(const struct trial_result *r, bool only_compiled, const bool *settled,
                     int64_t at_ns)
{
    struct str s = start(MESSAGE_RESULT);
    add_int(&s, "at_ns", at_ns);
    add_real(&s, "compile_s", r->compile_s);
    add_real(&s, "pipeline_s", r->pipeline_s);
    add_real(&s, "device_s", r->device_s);
    add_bool(&s, "only_compiled", only_compiled);
    str_add(&s, ",\"candidates\":[");
    for (int i = 0; i < r->count; i++) {
        str_printf(&s, "%s{\"outcome\":\"%s\"", i ? "," : "", outcome_name(r->outcome[i]));
        add_bool(&s, "settled", settled[i]);
        add_text(&s, "phase", trial_phase_name(r->phase[i]));
        add_text(&s, "reason", r->reason[i]);
        add_real(&s, "seconds", r->seconds[i]);
        add_reals(&s, "samples", r->samples[i].count, r->samples[i].seconds);
        add_bool(&s, "early_stopped", r->samples[i].early_stopped);
        str_add(&s, ",\"statistics\":");
        statistics_add_json(&r->statistics[i], &s);
        str_add_char(&s, '}');
    }
    str_add_char(&s, ']');
    return finish(&s);
}

// --- errands ---

char *message_compile(const struct job *job)
{
    struct str s = start(MESSAGE_COMPILE);
    str_add(&s, ",\"job\":");
    add_job(&s, job);
    return finish(&s);
}

// Eight hexadecimal digits a word.
static void add_module(struct str *s, const struct spirv *module)
{
    static const char digits[] = "0123456789abcdef";
    str_add_char(s, '"');
    for (size_t i = 0; i < module->count; i++)
        for (int shift = 28; shift >= 0; shift -= 4)
            str_add_char(s, digits[module->word[i] >> shift & 15]);
    str_add_char(s, '"');
}

char *message_compiled(const struct spirv *module, int count)
{
    struct str s = start(MESSAGE_COMPILED);
    str_add(&s, ",\"modules\":[");
    for (int i = 0; i < count; i++) {
        str_add(&s, i ? "," : "");
        add_module(&s, &module[i]);
    }
    str_add_char(&s, ']');
    return finish(&s);
}

char *message_list(const char *drivers)
{
    struct str s = start(MESSAGE_LIST);
    add_text(&s, "drivers", drivers);
    return finish(&s);
}

static void add_device(struct str *s, const struct gpu_info *d)
{
    str_printf(s, "{\"index\":%d", d->index);
    add_text(s, "name", d->name);
    add_text(s, "device_type", d->type);
    add_text(s, "driver", d->driver);
    add_text(s, "driver_hash", d->driver_hash);
    add_count(s, "vendor_id", d->vendor_id);
    add_count(s, "device_id", d->device_id);
    add_count(s, "driver_version", d->driver_version);
    add_count(s, "api_version", d->api_version);
    add_text(s, "device_uuid", d->device_uuid);
    add_text(s, "driver_uuid", d->driver_uuid);
    add_int(s, "threads", d->threads);
    add_bool(s, "is_cpu", d->is_cpu);
    add_bool(s, "is_lavapipe", d->is_lavapipe);
    add_bool(s, "timestamps", d->timestamps);
    add_bool(s, "runs", d->runs);
    add_limits(s, &d->limits);
    add_matrix(s, "matrix_khr", &d->matrix_khr);
    add_matrix(s, "matrix_nv", &d->matrix_nv);
    str_add_char(s, '}');
}

char *message_devices(const struct gpu_info *list, int count)
{
    struct str s = start(MESSAGE_DEVICES);
    str_add(&s, ",\"devices\":[");
    for (int i = 0; i < count; i++) {
        str_add(&s, i ? "," : "");
        add_device(&s, &list[i]);
    }
    str_add_char(&s, ']');
    return finish(&s);
}

char *message_open(int device, bool validate)
{
    struct str s = start(MESSAGE_OPEN);
    add_int(&s, "device", device);
    add_bool(&s, "validate", validate);
    return finish(&s);
}
