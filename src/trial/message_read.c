#include "trial/message.h"

#include "base/json_read.h"
#include "base/str.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Reading. A reader notes the first thing that is missing or implausible and gives zeros from then
// on, so that the functions below read straight down.

struct reader {
    const char *bad;    // NULL so far
    struct arena arena; // of texts, until the message is read
};

static void refuse(struct reader *r, const char *name)
{
    if (!r->bad)
        r->bad = name;
}

static struct json get(struct reader *r, struct json o, const char *name, enum json_type type)
{
    struct json v = json_member(o, name);
    if (json_type(v) == type)
        return v;
    refuse(r, name);
    return (struct json){0};
}

static struct json_walk get_list(struct reader *r, struct json o, const char *name)
{
    return json_walk(get(r, o, name, JSON_LIST));
}

static double get_number(struct reader *r, struct json o, const char *name, double low, double high)
{
    double value;
    if (json_number(json_member(o, name), &value) && value >= low && value <= high)
        return value;
    refuse(r, name);
    return low;
}

static uint64_t get_count(struct reader *r, struct json o, const char *name)
{
    double value = get_number(r, o, name, 0, 0x1p64);
    return value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
}

static int64_t get_i64(struct reader *r, struct json o, const char *name)
{
    return (int64_t)get_number(r, o, name, 0, 0x1p62);
}

static uint32_t get_u32(struct reader *r, struct json o, const char *name)
{
    return (uint32_t)get_number(r, o, name, 0, UINT32_MAX);
}

static bool get_bool(struct reader *r, struct json o, const char *name)
{
    bool flag = false;
    json_flag(get(r, o, name, JSON_FLAG), &flag);
    return flag;
}

static const char *get_text(struct reader *r, struct json o, const char *name)
{
    const char *text = json_text_exact(get(r, o, name, JSON_TEXT), &r->arena);
    return text ? text : "";
}

// An array of numbers in [low, high]. Returns how many there are, at most `most`.
static int get_array(struct reader *r, struct json o, const char *name, int most, double low,
                     double high, double *out)
{
    int count = 0;
    double value;
    for (struct json_walk w = get_list(r, o, name); json_next(&w); count++) {
        if (count == most || !json_number(w.value, &value) || value < low || value > high) {
            refuse(r, name);
            return count;
        }
        out[count] = value;
    }
    return count;
}

static void get_three(struct reader *r, struct json o, const char *name, uint32_t out[3])
{
    double value[3] = {0};
    if (get_array(r, o, name, 3, 0, UINT32_MAX, value) != 3)
        refuse(r, name);
    for (int i = 0; i < 3; i++)
        out[i] = (uint32_t)value[i];
}

static enum trial_phase get_phase(struct reader *r, struct json o)
{
    const char *word = get_text(r, o, "phase");
    for (int i = 0; i < PHASE_COUNT; i++)
        if (str_equal(word, trial_phase_name((enum trial_phase)i)))
            return (enum trial_phase)i;
    refuse(r, "phase");
    return PHASE_NONE;
}

// A choice is the index of a value; those past the last that the kind has are 0.
static bool choices_fit(const struct operation_kind *kind, const double *choice)
{
    const struct operation_choice *c = kind->choices;
    for (int i = 0; i < OPERATION_MAX_CHOICES; i++) {
        int values = 0;
        while (c && c->name && c->values[values])
            values++;
        if (choice[i] != 0 && (int)choice[i] >= values)
            return false;
        c = values ? c + 1 : c;
    }
    return true;
}

static void read_operation(struct reader *r, struct json o, struct operation *out)
{
    double size[OPERATION_MAX_SIZES] = {0}, choice[OPERATION_MAX_CHOICES] = {0},
           real[OPERATION_MAX_REALS] = {0};
    const struct operation_kind *kind = operation_kind_find(get_text(r, o, "operation"));
    get_array(r, o, "size", OPERATION_MAX_SIZES, 0, 0x1p53, size);
    get_array(r, o, "choice", OPERATION_MAX_CHOICES, 0, 1000, choice);
    get_array(r, o, "real", OPERATION_MAX_REALS, -DBL_MAX, DBL_MAX, real);
    if (!kind) {
        refuse(r, "operation");
        return;
    }
    if (!choices_fit(kind, choice)) {
        refuse(r, "choice");
        return;
    }
    operation_init(out, kind);
    for (int i = 0; i < OPERATION_MAX_SIZES; i++)
        out->size[i] = (int64_t)size[i];
    for (int i = 0; i < OPERATION_MAX_CHOICES; i++)
        out->choice[i] = (int)choice[i];
    memcpy(out->real, real, sizeof out->real);
}

static void read_buffer(struct reader *r, struct json o, struct custom_operation *c)
{
    double size[TENSOR_MAX_RANK] = {0}, fill[2] = {0};
    const char *element = get_text(r, o, "element");
    struct tensor t = {.name = get_text(r, o, "name"), .element = ELEMENT_COUNT};
    t.rank = get_array(r, o, "size", TENSOR_MAX_RANK, 1, INT32_MAX, size);
    get_array(r, o, "fill", 2, -DBL_MAX, DBL_MAX, fill);
    for (int d = 0; d < t.rank; d++)
        t.size[d] = (int64_t)size[d];
    for (int i = 0; i < ELEMENT_COUNT; i++)
        if (str_equal(element, element_name((enum element)i)))
            t.element = (enum element)i;
    if (t.element == ELEMENT_COUNT || t.rank < 1 ||
        !custom_add_tensor(c, &t, fill[0], fill[1], NULL))
        refuse(r, "buffers");
}

static void read_step(struct reader *r, struct json o, struct custom_operation *c)
{
    const char *names[OPERATION_MAX_TENSORS];
    struct operation operation;
    int count = 0;
    read_operation(r, o, &operation);
    for (struct json_walk w = get_list(r, o, "buffers"); json_next(&w);) {
        const char *name = json_text_exact(w.value, &r->arena);
        if (count < OPERATION_MAX_TENSORS && name)
            names[count++] = name;
        else
            refuse(r, "buffers");
    }
    if (!r->bad && !custom_add_step(c, &operation, names, count, NULL))
        r->bad = "steps";
}

static void read_custom(struct reader *r, struct json o, struct hello *h)
{
    double tolerance[2] = {0}, unused_flop = 1;
    struct custom_operation *c = custom_create(get_text(r, o, "name"), unused_flop, NULL);
    h->custom = c;
    get_array(r, o, "tolerance", 2, 0, DBL_MAX, tolerance);
    c->absolute = tolerance[0];
    c->relative = tolerance[1];
    for (struct json_walk w = get_list(r, o, "buffers"); json_next(&w);)
        read_buffer(r, w.value, c);
    for (struct json_walk w = get_list(r, o, "steps"); json_next(&w);)
        read_step(r, w.value, c);
    if (!r->bad && c->tensor_count == 0)
        r->bad = "buffers";
    operation_init(&h->operation, &c->kind);
}

static void get_matrix(struct reader *r, struct json o, const char *name, struct matrix_units *out)
{
    if (!matrix_units_parse(get_text(r, o, name), out))
        refuse(r, name);
}

// Of a device that is there all is known.
static void read_limits(struct reader *r, struct json o, struct limits *l)
{
    const char *bad = limits_read_json(get(r, o, "limits", JSON_OBJECT), l);
    if (!bad && l->unknown)
        bad = "limits";
    if (bad)
        refuse(r, bad);
}

static void read_pass(struct reader *r, struct json o, struct pass *p)
{
    struct json_walk lines = get_list(r, o, "lines");
    int capacity = 0;
    p->glsl = mem_strdup(get_text(r, o, "glsl"));
    p->template_name = mem_strdup(get_text(r, o, "template"));
    while (json_next(&lines)) {
        double line = 0;
        json_number(lines.value, &line);
        MEM_GROW(p->line_map, p->line_count, capacity);
        p->line_map[p->line_count++] = line >= 0 && line <= INT32_MAX ? (int)line : 0;
    }
    get_three(r, o, "groups", p->groups);
    p->subgroup = (uint32_t)get_number(r, o, "subgroup", 0, UINT32_MAX);
}

static void read_job(struct reader *r, struct json o, struct job *job)
{
    job->scratch_bytes = get_count(r, o, "scratch_bytes");
    for (struct json_walk w = get_list(r, o, "passes"); json_next(&w);) {
        if (job->pass_count < JOB_MAX_PASSES)
            read_pass(r, w.value, &job->pass[job->pass_count++]);
        else
            r->bad = "passes";
    }
}

static void read_hello(struct reader *r, struct json o, struct hello *h)
{
    h->device = (int)get_number(r, o, "device", 0, 1000);
    snprintf(h->device_id, sizeof h->device_id, "%s", get_text(r, o, "device_id"));
    h->validate = get_bool(r, o, "validate");
    h->only_compiles = get_bool(r, o, "only_compiles");
    if (json_member(o, "custom").at)
        read_custom(r, get(r, o, "custom", JSON_OBJECT), h);
    else
        read_operation(r, o, &h->operation);
    read_job(r, get(r, o, "reference", JSON_OBJECT), &h->reference);
    read_limits(r, o, &h->limits);
    h->trips_undeclared = get_bool(r, o, "trips_undeclared");
    h->seed = strtoull(get_text(r, o, "seed"), NULL, 10);
    get_array(r, o, "deadline_s", PHASE_COUNT, 0, 1e9, h->deadline_s);
    h->start = get_i64(r, o, "start");
    snprintf(h->fault, sizeof h->fault, "%s", get_text(r, o, "fault"));
}

static void read_trial(struct reader *r, struct json o, struct message *m)
{
    m->number = get_i64(r, o, "number");
    m->attempt = (int)get_number(r, o, "attempt", 0, 1);
    m->request.race = get_bool(r, o, "race");
    m->request.only_compiles = get_bool(r, o, "only_compiles");
    m->request.known_good = get_bool(r, o, "known_good");
    m->request.accesses = (enum accesses)get_number(r, o, "accesses", 0, ACCESSES_OF_NONE);
    m->request.incumbent_s = get_number(r, o, "incumbent_s", 0, 1e9);
    m->request.slowdown = get_number(r, o, "slowdown", 0, 1e9);
    for (struct json_walk w = get_list(r, o, "jobs"); json_next(&w);) {
        if (m->request.count < TRIAL_MAX_RACERS)
            read_job(r, w.value, &m->request.job[m->request.count++]);
        else
            r->bad = "jobs";
    }
}

static void read_statistics(struct reader *r, struct json o, struct statistics *out)
{
    double value;
    for (struct json_walk w = json_walk(get(r, o, "statistics", JSON_OBJECT)); json_next(&w);)
        if (!json_number(w.value, &value) ||
            !statistics_take(out, json_text_exact(w.key, &r->arena), value))
            refuse(r, "statistics");
}

static void read_candidate(struct reader *r, struct json o, int i, struct message *m)
{
    struct trial_result *result = &m->result;
    struct samples *samples = &result->samples[i];
    m->settled[i] = get_bool(r, o, "settled");
    if (!outcome_parse(get_text(r, o, "outcome"), &result->outcome[i]))
        refuse(r, "outcome");
    result->phase[i] = get_phase(r, o);
    snprintf(result->reason[i], sizeof result->reason[i], "%s", get_text(r, o, "reason"));
    result->seconds[i] = get_number(r, o, "seconds", 0, 1e9);
    samples->count = get_array(r, o, "samples", TRIAL_MAX_SAMPLES, 0, 1e9, samples->seconds);
    samples->early_stopped = get_bool(r, o, "early_stopped");
    read_statistics(r, o, &result->statistics[i]);
    bool measured = result->outcome[i] == OUTCOME_OK && m->settled[i] && !m->only_compiled;
    if (measured && (samples->count == 0 || result->seconds[i] <= 0))
        refuse(r, "samples");
}

static void read_result(struct reader *r, struct json o, struct message *m)
{
    m->at_ns = get_i64(r, o, "at_ns");
    m->only_compiled = get_bool(r, o, "only_compiled");
    for (struct json_walk w = get_list(r, o, "candidates"); json_next(&w);) {
        if (m->result.count < TRIAL_MAX_RACERS)
            read_candidate(r, w.value, m->result.count++, m);
        else
            r->bad = "candidates";
    }
    m->result.compile_s = get_number(r, o, "compile_s", 0, 1e9);
    m->result.pipeline_s = get_number(r, o, "pipeline_s", 0, 1e9);
    m->result.device_s = get_number(r, o, "device_s", 0, 1e9);
}

static void read_phase(struct reader *r, struct json o, struct message *m)
{
    m->phase = get_phase(r, o);
    m->candidate = (int)get_number(r, o, "candidate", 0, TRIAL_MAX_RACERS - 1);
    m->at_ns = get_i64(r, o, "at_ns");
}

static void read_failure(struct reader *r, struct json o, struct err *e)
{
    int line = (int)get_number(r, o, "line", 0, INT32_MAX);
    err_at(e, get_text(r, o, "file"), line, "%s", get_text(r, o, "text"));
}

static void read_compile(struct reader *r, struct json o, struct message *m)
{
    m->request.count = 1;
    read_job(r, get(r, o, "job", JSON_OBJECT), &m->request.job[0]);
}

// False for anything but whole words of eight digits each.
static bool parse_module(const char *hex, struct spirv *out)
{
    size_t length = strlen(hex);
    if (length % 8 || strspn(hex, "0123456789abcdef") != length)
        return false;
    out->count = length / 8;
    out->word = mem_zero(out->count, sizeof *out->word);
    for (size_t i = 0; i < length; i++) {
        uint32_t digit = (uint32_t)(hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10);
        out->word[i / 8] = out->word[i / 8] << 4 | digit;
    }
    return true;
}

static void read_modules(struct reader *r, struct json o, struct message *m)
{
    for (struct json_walk w = get_list(r, o, "modules"); json_next(&w);) {
        const char *hex = json_text_exact(w.value, &r->arena);
        if (m->module_count < JOB_MAX_PASSES && hex &&
            parse_module(hex, &m->module[m->module_count]))
            m->module_count++;
        else
            refuse(r, "modules");
    }
}

#define COPY_TEXT(r, o, name, out) snprintf((out), sizeof(out), "%s", get_text((r), (o), (name)))

static void read_device(struct reader *r, struct json o, struct gpu_info *d)
{
    d->index = (int)get_number(r, o, "index", 0, 1000);
    COPY_TEXT(r, o, "name", d->name);
    COPY_TEXT(r, o, "device_type", d->type);
    COPY_TEXT(r, o, "driver", d->driver);
    COPY_TEXT(r, o, "driver_hash", d->driver_hash);
    d->vendor_id = get_u32(r, o, "vendor_id");
    d->device_id = get_u32(r, o, "device_id");
    d->driver_version = get_u32(r, o, "driver_version");
    d->api_version = get_u32(r, o, "api_version");
    COPY_TEXT(r, o, "device_uuid", d->device_uuid);
    COPY_TEXT(r, o, "driver_uuid", d->driver_uuid);
    d->threads = (int)get_number(r, o, "threads", 0, INT32_MAX);
    d->is_cpu = get_bool(r, o, "is_cpu");
    d->is_lavapipe = get_bool(r, o, "is_lavapipe");
    d->timestamps = get_bool(r, o, "timestamps");
    d->runs = get_bool(r, o, "runs");
    read_limits(r, o, &d->limits);
    get_matrix(r, o, "matrix_khr", &d->matrix_khr);
    get_matrix(r, o, "matrix_nv", &d->matrix_nv);
}

// Whoever gets them uses them as the indices of the list.
static void read_devices(struct reader *r, struct json o, struct message *m)
{
    int capacity = 0;
    for (struct json_walk w = get_list(r, o, "devices"); json_next(&w); m->device_count++) {
        MEM_GROW(m->device_list, m->device_count, capacity);
        struct gpu_info *d = &m->device_list[m->device_count];
        *d = (struct gpu_info){0};
        read_device(r, w.value, d);
        if (d->index != m->device_count)
            refuse(r, "index");
    }
}

static void read_open(struct reader *r, struct json o, struct message *m)
{
    m->device = (int)get_number(r, o, "device", 0, 1000);
    m->validate = get_bool(r, o, "validate");
}

static void read_body(struct reader *r, struct json o, struct message *m)
{
    switch (m->type) {
    case MESSAGE_HELLO: read_hello(r, o, &m->hello); break;
    case MESSAGE_TRIAL: read_trial(r, o, m); break;
    case MESSAGE_PHASE: read_phase(r, o, m); break;
    case MESSAGE_RESULT: read_result(r, o, m); break;
    case MESSAGE_FAILED: read_failure(r, o, &m->failure); break;
    case MESSAGE_COMPILE: read_compile(r, o, m); break;
    case MESSAGE_COMPILED: read_modules(r, o, m); break;
    case MESSAGE_LIST: COPY_TEXT(r, o, "drivers", m->drivers); break;
    case MESSAGE_DEVICES: read_devices(r, o, m); break;
    case MESSAGE_OPEN: read_open(r, o, m); break;
    default: break;
    }
}

bool message_parse(const char *text, struct message *out, struct err *e)
{
    *out = (struct message){.type = MESSAGE_TYPE_COUNT};
    struct reader r = {0};
    struct json o;
    arena_init(&r.arena);
    json_parse(text, &o);
    const char *type = get_text(&r, o, "type");
    for (int i = 0; i < MESSAGE_TYPE_COUNT; i++)
        if (str_equal(type, message_type_name((enum message_type)i)))
            out->type = (enum message_type)i;
    if (out->type == MESSAGE_TYPE_COUNT)
        r.bad = "type";
    else
        read_body(&r, o, out);
    if (r.bad) {
        message_finish(out);
        err_set(e, "no or a bad \"%s\" in a message", r.bad);
    }
    arena_finish(&r.arena);
    return !r.bad;
}

void message_finish(struct message *m)
{
    custom_destroy(m->hello.custom);
    m->hello.custom = NULL;
    job_finish(&m->hello.reference);
    for (int i = 0; i < m->request.count; i++)
        job_finish(&m->request.job[i]);
    m->request.count = 0;
    for (int i = 0; i < m->module_count; i++)
        spirv_finish(&m->module[i]);
    m->module_count = 0;
    free(m->device_list);
    m->device_list = NULL;
}
