#include "trial/message_read.h"

#include "base/str.h"
#include "trial/message.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void reader_refuse(struct reader *r, const char *name)
{
    if (!r->bad)
        r->bad = name;
}

struct json reader_member(struct reader *r, struct json o, const char *name, enum json_type type)
{
    struct json v = json_member(o, name);
    if (json_type(v) == type)
        return v;
    reader_refuse(r, name);
    return (struct json){0};
}

struct json_walk reader_list(struct reader *r, struct json o, const char *name)
{
    return json_walk(reader_member(r, o, name, JSON_LIST));
}

double reader_number(struct reader *r, struct json o, const char *name, double low, double high)
{
    double value;
    if (json_number(json_member(o, name), &value) && value >= low && value <= high)
        return value;
    reader_refuse(r, name);
    return low;
}

uint64_t reader_count(struct reader *r, struct json o, const char *name)
{
    double value = reader_number(r, o, name, 0, 0x1p64);
    return value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
}

int64_t reader_i64(struct reader *r, struct json o, const char *name)
{
    return (int64_t)reader_number(r, o, name, 0, 0x1p62);
}

uint32_t reader_u32(struct reader *r, struct json o, const char *name)
{
    return (uint32_t)reader_number(r, o, name, 0, UINT32_MAX);
}

bool reader_bool(struct reader *r, struct json o, const char *name)
{
    bool flag = false;
    json_flag(reader_member(r, o, name, JSON_FLAG), &flag);
    return flag;
}

const char *reader_text(struct reader *r, struct json o, const char *name)
{
    const char *text = json_text_exact(reader_member(r, o, name, JSON_TEXT), &r->arena);
    return text ? text : "";
}

int reader_array(struct reader *r, struct json o, const char *name, int most, struct bounds bounds,
                 double *out)
{
    int count = 0;
    double value;
    for (struct json_walk w = reader_list(r, o, name); json_next(&w); count++) {
        if (count == most || !json_number(w.value, &value) || value < bounds.low ||
            value > bounds.high) {
            reader_refuse(r, name);
            return count;
        }
        out[count] = value;
    }
    return count;
}

int reader_small(struct reader *r, struct json o, const char *name, int most, uint8_t *out)
{
    int count = 0;
    double value;
    for (struct json_walk w = reader_list(r, o, name); json_next(&w);) {
        if (count == most || !json_number(w.value, &value) || value < 0 || value > UINT8_MAX) {
            reader_refuse(r, name);
            return count;
        }
        out[count++] = (uint8_t)value;
    }
    return count;
}

void reader_three(struct reader *r, struct json o, const char *name, uint32_t out[3])
{
    double value[3] = {0};
    if (reader_array(r, o, name, 3, (struct bounds){0, UINT32_MAX}, value) != 3)
        reader_refuse(r, name);
    for (int i = 0; i < 3; i++)
        out[i] = (uint32_t)value[i];
}

enum trial_phase reader_phase(struct reader *r, struct json o)
{
    const char *word = reader_text(r, o, "phase");
    for (int i = 0; i < PHASE_COUNT; i++)
        if (str_equal(word, trial_phase_name((enum trial_phase)i)))
            return (enum trial_phase)i;
    reader_refuse(r, "phase");
    return PHASE_NONE;
}

#define MOST_LAYERS  65536
#define MOST_WORKERS 1024

#define COPY_TEXT(r, o, name, out) snprintf((out), sizeof(out), "%s", reader_text((r), (o), (name)))

static void get_matrix(struct reader *r, struct json o, const char *name, struct matrix_units *out)
{
    if (!matrix_units_parse(reader_text(r, o, name), out))
        reader_refuse(r, name);
}

// Of a device that is there all is known.
static void read_limits(struct reader *r, struct json o, struct limits *l)
{
    const char *bad = limits_read_json(reader_member(r, o, "limits", JSON_OBJECT), l);
    if (!bad && l->unknown)
        bad = "limits";
    if (bad)
        reader_refuse(r, bad);
}

static void read_place(struct reader *r, struct json o, struct hello *h)
{
    h->device = (int)reader_number(r, o, "device", 0, 1000);
    snprintf(h->device_id, sizeof h->device_id, "%s", reader_text(r, o, "device_id"));
    h->validate = reader_bool(r, o, "validate");
    h->cold = reader_bool(r, o, "cold");
    h->warms = reader_bool(r, o, "warms");
    read_limits(r, o, &h->limits);
    h->seed = strtoull(reader_text(r, o, "seed"), NULL, 10);
    reader_array(r, o, "deadline_s", PHASE_COUNT, (struct bounds){0, 1e9}, h->deadline_s);
    snprintf(h->fault, sizeof h->fault, "%s", reader_text(r, o, "fault"));
}

// False for anything but whole bytes of two digits each. They are the caller's, on the heap.
static bool parse_bytes(const char *hex, void **bytes, size_t *count)
{
    size_t length = strlen(hex);
    if (length % 2 || strspn(hex, "0123456789abcdef") != length)
        return false;
    unsigned char *byte = mem_zero(length / 2, 1);
    for (size_t i = 0; i < length; i++) {
        int digit = hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10;
        byte[i / 2] = (unsigned char)(byte[i / 2] << 4 | digit);
    }
    *bytes = byte;
    *count = length / 2;
    return true;
}

static void read_kept(struct reader *r, struct json o, struct gpu_kept *out)
{
    if (!parse_bytes(reader_text(r, o, "kept"), &out->bytes, &out->size))
        reader_refuse(r, "kept");
}

static void read_trial(struct reader *r, struct json o, struct message *m)
{
    m->number = reader_i64(r, o, "number");
    m->attempt = (int)reader_number(r, o, "attempt", 0, 1);
    m->request.race = reader_bool(r, o, "race");
    m->request.only_compiles = reader_bool(r, o, "only_compiles");
    m->request.keeps = reader_bool(r, o, "keeps");
    m->request.known_good = reader_bool(r, o, "known_good");
    m->request.anchor = reader_bool(r, o, "anchor");
    m->request.accesses = (enum accesses)reader_number(r, o, "accesses", 0, ACCESSES_OF_NONE);
    m->request.incumbent_s = reader_number(r, o, "incumbent_s", 0, 1e9);
    m->request.slowdown = reader_number(r, o, "slowdown", 0, 1e9);
    read_kept(r, o, &m->kept);
    m->kept_s = reader_number(r, o, "kept_s", 0, 1e9);
    for (struct json_walk w = reader_list(r, o, "jobs"); json_next(&w);) {
        if (m->request.count < TRIAL_MAX_RACERS)
            reader_job(r, w.value, &m->request.job[m->request.count++]);
        else
            r->bad = "jobs";
    }
}

static void read_statistics(struct reader *r, struct json o, const char *name,
                            struct statistics *out)
{
    double value;
    for (struct json_walk w = json_walk(reader_member(r, o, name, JSON_OBJECT)); json_next(&w);)
        if (!json_number(w.value, &value) ||
            !statistics_take(out, json_text_exact(w.key, &r->arena), value))
            reader_refuse(r, name);
}

static double read_samples(struct reader *r, struct json o, struct samples *out)
{
    out->count =
        reader_array(r, o, "samples", TRIAL_MAX_SAMPLES, (struct bounds){0, 1e9}, out->seconds);
    out->early_stopped = reader_bool(r, o, "early_stopped");
    return reader_number(r, o, "seconds", 0, 1e9);
}

static void read_candidate(struct reader *r, struct json o, int i, struct message *m)
{
    struct trial_result *result = &m->result;
    struct samples *samples = &result->samples[i];
    m->settled[i] = reader_bool(r, o, "settled");
    if (!outcome_parse(reader_text(r, o, "outcome"), &result->outcome[i]))
        reader_refuse(r, "outcome");
    result->phase[i] = reader_phase(r, o);
    snprintf(result->reason[i], sizeof result->reason[i], "%s", reader_text(r, o, "reason"));
    result->seconds[i] = read_samples(r, o, samples);
    read_statistics(r, o, "statistics", &result->statistics[i]);
    bool measured = result->outcome[i] == OUTCOME_OK && m->settled[i] && !m->only_compiled;
    if (measured && (samples->count == 0 || result->seconds[i] <= 0))
        reader_refuse(r, "samples");
}

// A name is stored and shown, and may be a folder's.
static bool is_name(const char *text)
{
    return text[0] && text[0] != '.' && text[0] != '-' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") ==
               strlen(text);
}

static void read_result(struct reader *r, struct json o, struct message *m)
{
    m->number = reader_i64(r, o, "number");
    m->result.worker = (int)reader_number(r, o, "worker", 0, MOST_WORKERS - 1);
    COPY_TEXT(r, o, "machine", m->result.machine);
    if (m->result.machine[0] && !is_name(m->result.machine))
        reader_refuse(r, "machine");
    m->at_ns = reader_i64(r, o, "at_ns");
    m->only_compiled = reader_bool(r, o, "only_compiled");
    m->result.anchor_s = reader_number(r, o, "anchor_s", 0, 1e9);
    m->result.wall_s = reader_number(r, o, "wall_s", 0, 1e9);
    read_statistics(r, o, "clocks", &m->result.clocks);
    read_kept(r, o, &m->kept);
    for (struct json_walk w = reader_list(r, o, "candidates"); json_next(&w);) {
        if (m->result.count < TRIAL_MAX_RACERS)
            read_candidate(r, w.value, m->result.count++, m);
        else
            r->bad = "candidates";
    }
    m->result.compile_s = reader_number(r, o, "compile_s", 0, 1e9);
    m->result.pipeline_s = reader_number(r, o, "pipeline_s", 0, 1e9);
    m->result.device_s = reader_number(r, o, "device_s", 0, 1e9);
}

static void read_name(struct reader *r, struct json o, char *out, size_t size)
{
    const char *name = reader_text(r, o, "machine");
    snprintf(out, size, "%s", name);
    if (!is_name(name))
        reader_refuse(r, "machine");
}

// False: it is of another version.
static bool read_greeting(struct reader *r, struct json o, struct greeting *g)
{
    COPY_TEXT(r, o, "version", g->version);
    if (!str_equal(g->version, TILEWALK_VERSION))
        return false;
    read_name(r, o, g->machine, sizeof g->machine);
    COPY_TEXT(r, o, "compiler", g->compiler);
    g->cores = (int)reader_number(r, o, "cores", 1, 1 << 20);
    g->is_pool = reader_bool(r, o, "is_pool");
    return true;
}

static void read_compile(struct reader *r, struct json o, struct message *m)
{
    m->request.count = 1;
    reader_job(r, reader_member(r, o, "job", JSON_OBJECT), &m->request.job[0]);
}

static void read_modules(struct reader *r, struct json o, struct message *m)
{
    void *words;
    size_t bytes;
    for (struct json_walk w = reader_list(r, o, "modules"); json_next(&w);) {
        const char *hex = json_text_exact(w.value, &r->arena);
        if (m->module_count == JOB_MAX_PASSES || !hex || !parse_bytes(hex, &words, &bytes)) {
            reader_refuse(r, "modules");
            return;
        }
        if (bytes % sizeof(uint32_t))
            reader_refuse(r, "modules");
        m->module[m->module_count++] = (struct spirv){words, bytes / sizeof(uint32_t)};
    }
}

static void read_texts(struct reader *r, struct json o, struct message *m)
{
    for (struct json_walk w = reader_list(r, o, "texts"); json_next(&w);) {
        const char *text = json_text_exact(w.value, &r->arena);
        if (m->text_count == JOB_MAX_PASSES || !text) {
            reader_refuse(r, "texts");
            return;
        }
        m->text[m->text_count++] = mem_strdup(text);
    }
}

static void read_device(struct reader *r, struct json o, struct gpu_info *d)
{
    d->index = (int)reader_number(r, o, "index", 0, 1000);
    COPY_TEXT(r, o, "name", d->name);
    COPY_TEXT(r, o, "device_type", d->type);
    COPY_TEXT(r, o, "driver", d->driver);
    COPY_TEXT(r, o, "driver_hash", d->driver_hash);
    d->vendor_id = reader_u32(r, o, "vendor_id");
    d->device_id = reader_u32(r, o, "device_id");
    d->driver_version = reader_u32(r, o, "driver_version");
    d->api_version = reader_u32(r, o, "api_version");
    COPY_TEXT(r, o, "device_uuid", d->device_uuid);
    COPY_TEXT(r, o, "driver_uuid", d->driver_uuid);
    COPY_TEXT(r, o, "pci", d->pci);
    d->threads = (int)reader_number(r, o, "threads", 0, INT32_MAX);
    d->is_cpu = reader_bool(r, o, "is_cpu");
    d->is_lavapipe = reader_bool(r, o, "is_lavapipe");
    d->memory_bytes = reader_count(r, o, "memory_bytes");
    d->timestamps = reader_bool(r, o, "timestamps");
    d->runs = reader_bool(r, o, "runs");
    read_limits(r, o, &d->limits);
    get_matrix(r, o, "matrix_khr", &d->matrix_khr);
    get_matrix(r, o, "matrix_nv", &d->matrix_nv);
}

// Whoever gets them uses them as the indices of the list.
static void read_devices(struct reader *r, struct json o, struct message *m)
{
    int capacity = 0;
    for (struct json_walk w = reader_list(r, o, "devices"); json_next(&w); m->device_count++) {
        MEM_GROW(m->device_list, m->device_count, capacity);
        struct gpu_info *d = &m->device_list[m->device_count];
        *d = (struct gpu_info){0};
        read_device(r, w.value, d);
        if (d->index != m->device_count)
            reader_refuse(r, "index");
    }
}

static void read_member(struct reader *r, struct json o, struct message *m)
{
    if (!read_greeting(r, o, &m->greeting))
        return;
    m->member.leaves = reader_bool(r, o, "leaves");
    COPY_TEXT(r, o, "why", m->member.why);
    m->member.players = (int)reader_number(r, o, "players", 0, MOST_WORKERS);
    m->member.measurers = (int)reader_number(r, o, "measurers", 0, MOST_WORKERS);
    read_devices(r, o, m);
    if (m->device_count > 1 || (m->member.measurers && !m->device_count))
        reader_refuse(r, "devices");
}

static void read_leave(struct reader *r, struct json o, struct message *m)
{
    read_name(r, o, m->greeting.machine, sizeof m->greeting.machine);
    COPY_TEXT(r, o, "why", m->member.why);
}

static void read_open(struct reader *r, struct json o, struct message *m)
{
    m->device = (int)reader_number(r, o, "device", 0, 1000);
    m->validate = reader_bool(r, o, "validate");
}

static void read_task(struct reader *r, struct json o, struct whole_task *t)
{
    int sets = 0;
    reader_operation(r, o, &t->operation, &t->custom);
    for (struct json_walk w = reader_list(r, o, "jobs"); json_next(&w);) {
        if (sets < WHOLE_SETS)
            reader_job(r, w.value, &t->job[sets++]);
        else
            r->bad = "jobs";
    }
}

static void read_whole(struct reader *r, struct json o, struct message *m)
{
    struct whole *whole = m->whole = mem_zero(1, sizeof *whole);
    int capacity = 0;
    read_place(r, o, &whole->place);
    whole->races = reader_bool(r, o, "races");
    for (struct json_walk w = reader_list(r, o, "tasks"); json_next(&w);) {
        MEM_GROW(whole->task, whole->task_count, capacity);
        whole->task[whole->task_count] = (struct whole_task){.custom = NULL};
        read_task(r, w.value, &whole->task[whole->task_count++]);
    }
    if (!plan_read_json(reader_member(r, o, "plan", JSON_OBJECT), &whole->plan, NULL))
        reader_refuse(r, "plan");
}

static void read_whole_result(struct reader *r, struct json o, struct message *m)
{
    struct whole_result *result = m->whole_result = mem_zero(1, sizeof *result);
    int sets = 0;
    result->verified = reader_bool(r, o, "verified");
    COPY_TEXT(r, o, "reason", result->reason);
    for (struct json_walk w = reader_list(r, o, "sets"); json_next(&w);) {
        if (sets == WHOLE_SETS) {
            r->bad = "sets";
            break;
        }
        result->seconds[sets] = read_samples(r, w.value, &result->samples[sets]);
        sets++;
    }
}

static void read_opened(struct reader *r, struct json o, struct clocks *c)
{
    read_statistics(r, o, "clocks", &c->now);
    COPY_TEXT(r, o, "why", c->why);
    c->anchor_s = reader_number(r, o, "anchor_s", 0, 1e9);
}

static void read_roof(struct reader *r, struct json o, struct roofline *out)
{
    if (!roofline_read(reader_member(r, o, "roof", JSON_OBJECT), out))
        reader_refuse(r, "roof");
}

static void read_body(struct reader *r, struct json o, struct message *m)
{
    switch (m->type) {
    case MESSAGE_HELLO: {
        read_place(r, o, &m->hello);
        m->hello.only_compiles = reader_bool(r, o, "only_compiles");
        reader_operation(r, o, &m->hello.operation, &m->hello.custom);
        reader_job(r, reader_member(r, o, "reference", JSON_OBJECT), &m->hello.reference);
        m->hello.trips_undeclared = reader_bool(r, o, "trips_undeclared");
        m->hello.start = reader_i64(r, o, "start");
        m->hello.workers = (int)reader_number(r, o, "workers", 0, MOST_WORKERS);
        m->hello.compilers = (int)reader_number(r, o, "compilers", 0, MOST_WORKERS);
        m->hello.calibrates = (int)reader_number(r, o, "calibrates", 0, 1e6);
    } break;
    case MESSAGE_TRIAL: read_trial(r, o, m); break;
    case MESSAGE_PHASE: {
        m->phase = reader_phase(r, o);
        m->candidate = (int)reader_number(r, o, "candidate", 0, MOST_LAYERS);
        m->at_ns = reader_i64(r, o, "at_ns");
    } break;
    case MESSAGE_RESULT: read_result(r, o, m); break;
    case MESSAGE_FAILED: {
        int line = (int)reader_number(r, o, "line", 0, INT32_MAX);
        err_at(&m->failure, reader_text(r, o, "file"), line, "%s", reader_text(r, o, "text"));
    } break;
    case MESSAGE_COMPILE: read_compile(r, o, m); break;
    case MESSAGE_COMPILED: read_modules(r, o, m); break;
    case MESSAGE_PREPROCESS: read_compile(r, o, m); break;
    case MESSAGE_PREPROCESSED: read_texts(r, o, m); break;
    case MESSAGE_LIST: COPY_TEXT(r, o, "drivers", m->drivers); break;
    case MESSAGE_DEVICES: read_devices(r, o, m); break;
    case MESSAGE_OPEN: read_open(r, o, m); break;
    case MESSAGE_PEAKS: m->device = (int)reader_number(r, o, "device", 0, 1000); break;
    case MESSAGE_ROOF: read_roof(r, o, &m->roofline); break;
    case MESSAGE_OPENED: read_opened(r, o, &m->clocks); break;
    case MESSAGE_WHOLE: read_whole(r, o, m); break;
    case MESSAGE_WHOLE_RESULT: read_whole_result(r, o, m); break;
    case MESSAGE_GREET: read_greeting(r, o, &m->greeting); break;
    case MESSAGE_PLAY: m->workers = (int)reader_number(r, o, "workers", 1, MOST_WORKERS); break;
    case MESSAGE_SAID: {
        m->worker = (int)reader_number(r, o, "worker", 0, MOST_WORKERS - 1);
        COPY_TEXT(r, o, "line", m->said);
    } break;
    case MESSAGE_MEMBER: read_member(r, o, m); break;
    case MESSAGE_LEAVE: read_leave(r, o, m); break;
    default: break;
    }
}

bool message_parse(const char *text, struct message *out, struct err *e)
{
    *out = (struct message){.type = MESSAGE_TYPE_COUNT};
    struct reader r = {0};
    struct json o;
    arena_init(&r.arena);
    json_read_tree(text, &o);
    const char *type = reader_text(&r, o, "type");
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
    json_free(&o);
    arena_finish(&r.arena);
    return !r.bad;
}

void whole_finish(struct whole *w)
{
    for (int i = 0; i < w->task_count; i++) {
        custom_destroy(w->task[i].custom);
        for (int k = 0; k < WHOLE_SETS; k++)
            job_finish(&w->task[i].job[k]);
    }
    free(w->task);
    plan_finish(&w->plan);
    *w = (struct whole){0};
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
    for (int i = 0; i < m->text_count; i++)
        free(m->text[i]);
    m->text_count = 0;
    gpu_kept_finish(&m->kept);
    free(m->device_list);
    m->device_list = NULL;
    if (m->whole)
        whole_finish(m->whole);
    free(m->whole);
    free(m->whole_result);
    m->whole = NULL;
    m->whole_result = NULL;
}
