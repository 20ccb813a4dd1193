// Reads messages: the members that all have, jobs, operations, and then each type.
#include "trial/message.h"

#include "base/json_read.h"
#include "base/mem.h"
#include "base/str.h"
#include "define/definition.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A reader notes the first member that is missing or implausible, and gives zeros from then on, so
// that its callers read straight down.
struct reader {
    const char *bad;    // NULL so far
    struct arena arena; // of texts, until the message is read
};

struct bounds {
    double low, high;
};

static void reader_refuse(struct reader *r, const char *name)
{
    if (!r->bad)
        r->bad = name;
}

static struct json reader_member(struct reader *r, struct json o, const char *name,
                                 enum json_type type)
{
    struct json v = json_member(o, name);
    if (json_type(v) == type)
        return v;
    reader_refuse(r, name);
    return (struct json){0};
}

static struct json_walk reader_list(struct reader *r, struct json o, const char *name)
{
    return json_walk(reader_member(r, o, name, JSON_LIST));
}

static double reader_number(struct reader *r, struct json o, const char *name, double low,
                            double high)
{
    double value;
    if (json_number(json_member(o, name), &value) && value >= low && value <= high)
        return value;
    reader_refuse(r, name);
    return low;
}

static uint64_t reader_count(struct reader *r, struct json o, const char *name)
{
    double value = reader_number(r, o, name, 0, 0x1p64);
    return value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
}

static int64_t reader_i64(struct reader *r, struct json o, const char *name)
{
    return (int64_t)reader_number(r, o, name, 0, 0x1p62);
}

static uint32_t reader_u32(struct reader *r, struct json o, const char *name)
{
    return (uint32_t)reader_number(r, o, name, 0, UINT32_MAX);
}

static bool reader_bool(struct reader *r, struct json o, const char *name)
{
    bool flag = false;
    json_flag(reader_member(r, o, name, JSON_FLAG), &flag);
    return flag;
}

static const char *reader_text(struct reader *r, struct json o, const char *name)
{
    const char *text = json_text_exact(reader_member(r, o, name, JSON_TEXT), &r->arena);
    return text ? text : "";
}

// Reads an array of numbers within `bounds`, ends included. Returns how many there are, at most
// `most`.
static int reader_array(struct reader *r, struct json o, const char *name, int most,
                        struct bounds bounds, double *out)
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

static int reader_small(struct reader *r, struct json o, const char *name, int most, uint8_t *out)
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

static enum trial_phase reader_phase(struct reader *r, struct json o)
{
    const char *word = reader_text(r, o, "phase");
    for (int i = 0; i < PHASE_COUNT; i++)
        if (str_equal(word, trial_phase_name((enum trial_phase)i)))
            return (enum trial_phase)i;
    reader_refuse(r, "phase");
    return PHASE_NONE;
}

// --- jobs and operations ---

static void read_pass(struct reader *r, struct json o, struct pass *p)
{
    struct json_walk lines = reader_list(r, o, "lines");
    int capacity = 0;
    p->glsl = mem_strdup(reader_text(r, o, "glsl"));
    p->template_name = mem_strdup(reader_text(r, o, "template"));
    const char *space = reader_text(r, o, "space");
    p->space_name = *space ? mem_strdup(space) : NULL;
    p->space_line = (int)reader_number(r, o, "line", 0, INT32_MAX);
    while (json_next(&lines)) {
        double line = 0;
        json_number(lines.value, &line);
        MEM_GROW(p->line_map, p->line_count, capacity);
        p->line_map[p->line_count++] = line >= 0 && line <= INT32_MAX ? (int)line : 0;
    }
    double groups[3] = {0};
    if (reader_array(r, o, "groups", 3, (struct bounds){0, UINT32_MAX}, groups) != 3)
        reader_refuse(r, "groups");
    for (int i = 0; i < 3; i++)
        p->groups[i] = (uint32_t)groups[i];
    p->subgroup = (uint32_t)reader_number(r, o, "subgroup", 0, UINT32_MAX);
    p->once = reader_number(r, o, "once", 0, 1) > 0;
    double value[3 * JOB_MAX_CONSTANTS] = {0};
    int count = reader_array(r, o, "constants", 3 * JOB_MAX_CONSTANTS,
                             (struct bounds){-DBL_MAX, DBL_MAX}, value);
    for (int i = 0; i + 2 < count; i += 3) {
        if (!(value[i] >= 0 && value[i] <= UINT32_MAX))
            reader_refuse(r, "constants");
        else
            p->constant[p->constant_count++] =
                (struct spec_constant){(uint32_t)value[i], value[i + 1] != 0, value[i + 2]};
    }
    p->push_bytes = (uint32_t)reader_small(r, o, "push", JOB_MAX_PUSH, p->push);
    for (struct json_walk w = reader_list(r, o, "fields"); json_next(&w);) {
        if (p->field_count == JOB_MAX_FIELDS) {
            reader_refuse(r, "fields");
            break;
        }
        struct push_field *f = &p->field[p->field_count++];
        f->kind = (uint8_t)reader_number(r, w.value, "kind", 0, PUSH_WHOLE);
        f->bytes = (uint8_t)reader_number(r, w.value, "bytes", 1, 8);
        f->at = (uint16_t)reader_number(r, w.value, "at", 0, JOB_MAX_PUSH);
        f->count = (uint16_t)reader_number(r, w.value, "count", 0, JOB_MAX_PUSH);
        snprintf(f->name, sizeof f->name, "%s", reader_text(r, w.value, "name"));
    }
    p->binding_count = reader_small(r, o, "bindings", JOB_MAX_BINDINGS, p->binding);
}

// Reads a job. It is the caller's (job_finish), also where the reader finds it bad.
static void reader_job(struct reader *r, struct json o, struct job *out)
{
    out->scratch_bytes = reader_count(r, o, "scratch_bytes");
    if (json_member(o, "spirv_minor").at)
        out->spirv_minor = (uint32_t)reader_number(r, o, "spirv_minor", 0, UINT8_MAX);
    for (struct json_walk w = reader_list(r, o, "passes"); json_next(&w);) {
        if (out->pass_count < JOB_MAX_PASSES)
            read_pass(r, w.value, job_add_pass(out));
        else
            r->bad = "passes";
    }
}

static void read_operation(struct reader *r, struct json o, struct operation *out)
{
    double size[OPERATION_MAX_SIZES] = {0}, choice[OPERATION_MAX_CHOICES] = {0},
           real[OPERATION_MAX_REALS] = {0};
    const struct operation_kind *kind = operation_kind_find(reader_text(r, o, "operation"));
    reader_array(r, o, "size", OPERATION_MAX_SIZES, (struct bounds){0, 0x1p53}, size);
    reader_array(r, o, "choice", OPERATION_MAX_CHOICES, (struct bounds){0, 1000}, choice);
    reader_array(r, o, "real", OPERATION_MAX_REALS, (struct bounds){-DBL_MAX, DBL_MAX}, real);
    if (!kind) {
        reader_refuse(r, "operation");
        return;
    }
    const struct operation_choice *c = kind->choices;
    for (int i = 0; i < OPERATION_MAX_CHOICES; i++) {
        int values = 0; // a choice is the index of a value; those past the kind's last are 0
        while (c && c->name && c->values[values])
            values++;
        if (choice[i] != 0 && (int)choice[i] >= values) {
            reader_refuse(r, "choice");
            return;
        }
        c = values ? c + 1 : c;
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
    double size[TENSOR_MAX_RANK] = {0}, fill[3] = {0};
    struct custom_filling filling = {.low = 0};
    const char *element = reader_text(r, o, "element");
    struct tensor t = {.name = reader_text(r, o, "name"), .element = ELEMENT_COUNT};
    t.rank = reader_array(r, o, "size", TENSOR_MAX_RANK, (struct bounds){1, INT32_MAX}, size);
    reader_array(r, o, "fill", 3, (struct bounds){-DBL_MAX, DBL_MAX}, fill);
    if (json_member(o, "block").at) {
        double n[BLOCK_NUMBERS] = {0};
        reader_array(r, o, "block", BLOCK_NUMBERS, (struct bounds){0, INT32_MAX}, n);
        struct block_format f = {.kind = (enum block_kind)n[0],
                                 .weights = (int)n[1],
                                 .scale = (enum element)n[2],
                                 .has_min = n[3] != 0,
                                 .bits = (int)n[4],
                                 .is_signed = n[5] != 0,
                                 .zero = (int)n[6],
                                 .pairs = n[7] != 0};
        if (!block_format_valid(&f))
            reader_refuse(r, "block");
        filling.block = f;
    }
    filling.low = fill[0];
    filling.high = fill[1];
    filling.whole = fill[2] != 0;
    for (int d = 0; d < t.rank; d++)
        t.size[d] = (int64_t)size[d];
    for (int i = 0; i < ELEMENT_COUNT; i++)
        if (str_equal(element, element_name((enum element)i)))
            t.element = (enum element)i;
    if (r->bad || t.element == ELEMENT_COUNT || t.rank < 1 ||
        !custom_add_tensor(c, &t, &filling, NULL))
        reader_refuse(r, "buffers");
}

static void read_step(struct reader *r, struct json o, struct custom_operation *c)
{
    const char *names[OPERATION_MAX_TENSORS];
    struct operation operation;
    int count = 0;
    bool dequantizes = !json_member(o, "operation").at;
    if (!dequantizes)
        read_operation(r, o, &operation);
    for (struct json_walk w = reader_list(r, o, "buffers"); json_next(&w);) {
        const char *name = json_text_exact(w.value, &r->arena);
        if (count < OPERATION_MAX_TENSORS && name)
            names[count++] = name;
        else
            reader_refuse(r, "buffers");
    }
    if (r->bad)
        return;
    if (dequantizes ? count != 2 || !custom_add_dequantize(c, names[0], names[1], NULL)
                    : !custom_add_step(c, &operation, names, count, NULL))
        r->bad = "steps";
}

// Returns true where the buffers are what the definition reads and writes.
static bool definition_fits(const char *text, const struct custom_operation *c)
{
    struct definition d = {.stage_count = 0};
    bool fits = definition_read_text(&d, text, NULL) && d.inputs == c->tensor_count - 1;
    for (int i = 0; fits && i < c->tensor_count; i++) {
        int last = d.stage[d.stage_count - 1].tensor;
        const struct define_tensor *t = &d.tensor[i < d.inputs ? i : last];
        fits = t->element == c->buffer[i].element &&
               define_tensor_count(t) == tensor_count(&c->buffer[i]);
    }
    definition_finish(&d);
    return fits;
}

// Reads an operation among the members of `o`. One of a space file is in `custom` too, the
// caller's.
static void reader_operation(struct reader *r, struct json o, struct operation *out,
                             struct custom_operation **custom)
{
    double tolerance[4] = {0}, unused_flop = 1;
    if (!json_member(o, "custom").at) {
        read_operation(r, o, out);
        return;
    }
    struct json members = reader_member(r, o, "custom", JSON_OBJECT);
    struct custom_operation *c = custom_create(reader_text(r, members, "name"), unused_flop, NULL);
    reader_array(r, members, "tolerance", 4, (struct bounds){0, DBL_MAX}, tolerance);
    c->absolute = tolerance[0];
    c->relative = tolerance[1];
    c->nmse = tolerance[2];
    c->exact = tolerance[3] != 0;
    for (struct json_walk w = reader_list(r, members, "buffers"); json_next(&w);)
        read_buffer(r, w.value, c);
    for (struct json_walk w = reader_list(r, members, "steps"); json_next(&w);)
        read_step(r, w.value, c);
    if (!r->bad && c->tensor_count == 0)
        r->bad = "buffers";
    if (!r->bad && json_member(members, "definition").at) {
        const char *text = reader_text(r, members, "definition");
        if (r->bad || !definition_fits(text, c))
            reader_refuse(r, "definition");
        else
            c->definition = arena_strdup(&c->arena, text);
    }
    *custom = c;
    operation_init(out, &c->kind);
}

// --- messages ---

#define MOST_LAYERS  65536
#define MOST_WORKERS 1024

#define COPY_TEXT(r, o, name, out) snprintf((out), sizeof(out), "%s", reader_text((r), (o), (name)))

// Reads the limits of a device that is there, all of which are known.
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

// Parses whole bytes of two digits each, which are the caller's, on the heap. False for anything
// else.
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
    if (!parse_bytes(reader_text(r, o, "kept"), &m->kept.bytes, &m->kept.size))
        reader_refuse(r, "kept");
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

// Checks the name of a machine, which is stored and shown, and may be a folder's.
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
    if (!parse_bytes(reader_text(r, o, "kept"), &m->kept.bytes, &m->kept.size))
        reader_refuse(r, "kept");
    for (struct json_walk w = reader_list(r, o, "candidates"); json_next(&w);) {
        if (m->result.count == TRIAL_MAX_RACERS) {
            r->bad = "candidates";
            continue;
        }
        struct trial_result *t = &m->result;
        int i = t->count++;
        m->settled[i] = reader_bool(r, w.value, "settled");
        if (!outcome_parse(reader_text(r, w.value, "outcome"), &t->outcome[i]))
            reader_refuse(r, "outcome");
        t->phase[i] = reader_phase(r, w.value);
        COPY_TEXT(r, w.value, "reason", t->reason[i]);
        t->seconds[i] = read_samples(r, w.value, &t->samples[i]);
        read_statistics(r, w.value, "statistics", &t->statistics[i]);
        bool measured = t->outcome[i] == OUTCOME_OK && m->settled[i] && !m->only_compiled;
        if (measured && (t->samples[i].count == 0 || t->seconds[i] <= 0))
            reader_refuse(r, "samples");
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

// Reads a greeting. False: it is of another version.
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

// Reads a list of devices, whose indices must be those of the list: callers use them as such.
static void read_devices(struct reader *r, struct json o, struct message *m)
{
    int capacity = 0;
    for (struct json_walk w = reader_list(r, o, "devices"); json_next(&w); m->device_count++) {
        MEM_GROW(m->device_list, m->device_count, capacity);
        struct gpu_info *d = &m->device_list[m->device_count];
        *d = (struct gpu_info){0};
        d->index = (int)reader_number(r, w.value, "index", 0, 1000);
        COPY_TEXT(r, w.value, "name", d->name);
        COPY_TEXT(r, w.value, "device_type", d->type);
        COPY_TEXT(r, w.value, "driver", d->driver);
        COPY_TEXT(r, w.value, "driver_hash", d->driver_hash);
        d->vendor_id = reader_u32(r, w.value, "vendor_id");
        d->device_id = reader_u32(r, w.value, "device_id");
        d->driver_version = reader_u32(r, w.value, "driver_version");
        d->api_version = reader_u32(r, w.value, "api_version");
        COPY_TEXT(r, w.value, "device_uuid", d->device_uuid);
        COPY_TEXT(r, w.value, "driver_uuid", d->driver_uuid);
        COPY_TEXT(r, w.value, "pci", d->pci);
        d->threads = (int)reader_number(r, w.value, "threads", 0, INT32_MAX);
        d->is_cpu = reader_bool(r, w.value, "is_cpu");
        d->is_lavapipe = reader_bool(r, w.value, "is_lavapipe");
        d->memory_bytes = reader_count(r, w.value, "memory_bytes");
        d->timestamps = reader_bool(r, w.value, "timestamps");
        d->runs = reader_bool(r, w.value, "runs");
        read_limits(r, w.value, &d->limits);
        if (!matrix_units_parse(reader_text(r, w.value, "matrix_khr"), &d->matrix_khr))
            reader_refuse(r, "matrix_khr");
        if (!matrix_units_parse(reader_text(r, w.value, "matrix_nv"), &d->matrix_nv))
            reader_refuse(r, "matrix_nv");
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

static void read_whole(struct reader *r, struct json o, struct message *m)
{
    struct whole *whole = m->whole = mem_zero(1, sizeof *whole);
    int capacity = 0;
    read_place(r, o, &whole->place);
    whole->races = reader_bool(r, o, "races");
    for (struct json_walk w = reader_list(r, o, "tasks"); json_next(&w);) {
        MEM_GROW(whole->task, whole->task_count, capacity);
        whole->task[whole->task_count] = (struct whole_task){.custom = NULL};
        struct whole_task *task = &whole->task[whole->task_count++];
        int sets = 0;
        reader_operation(r, w.value, &task->operation, &task->custom);
        for (struct json_walk jobs = reader_list(r, w.value, "jobs"); json_next(&jobs);) {
            if (sets < WHOLE_SETS)
                reader_job(r, jobs.value, &task->job[sets++]);
            else
                r->bad = "jobs";
        }
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
    case MESSAGE_COMPILE:
    case MESSAGE_PREPROCESS: {
        m->request.count = 1;
        reader_job(r, reader_member(r, o, "job", JSON_OBJECT), &m->request.job[0]);
    } break;
    case MESSAGE_COMPILED: read_modules(r, o, m); break;
    case MESSAGE_PREPROCESSED:
        for (struct json_walk w = reader_list(r, o, "texts"); json_next(&w);) {
            const char *text = json_text_exact(w.value, &r->arena);
            if (m->text_count < JOB_MAX_PASSES && text)
                m->text[m->text_count++] = mem_strdup(text);
            else
                reader_refuse(r, "texts");
        }
        break;
    case MESSAGE_LIST: COPY_TEXT(r, o, "drivers", m->drivers); break;
    case MESSAGE_DEVICES: read_devices(r, o, m); break;
    case MESSAGE_OPEN: {
        m->device = (int)reader_number(r, o, "device", 0, 1000);
        m->validate = reader_bool(r, o, "validate");
    } break;
    case MESSAGE_PEAKS: m->device = (int)reader_number(r, o, "device", 0, 1000); break;
    case MESSAGE_ROOF:
        if (!roofline_read(reader_member(r, o, "roof", JSON_OBJECT), &m->roofline))
            reader_refuse(r, "roof");
        break;
    case MESSAGE_OPENED: {
        read_statistics(r, o, "clocks", &m->clocks.now);
        COPY_TEXT(r, o, "why", m->clocks.why);
        m->clocks.anchor_s = reader_number(r, o, "anchor_s", 0, 1e9);
    } break;
    case MESSAGE_WHOLE: read_whole(r, o, m); break;
    case MESSAGE_WHOLE_RESULT: read_whole_result(r, o, m); break;
    case MESSAGE_GREET: read_greeting(r, o, &m->greeting); break;
    case MESSAGE_PLAY: m->workers = (int)reader_number(r, o, "workers", 1, MOST_WORKERS); break;
    case MESSAGE_SAID: {
        m->worker = (int)reader_number(r, o, "worker", 0, MOST_WORKERS - 1);
        COPY_TEXT(r, o, "line", m->said);
    } break;
    case MESSAGE_MEMBER: read_member(r, o, m); break;
    case MESSAGE_LEAVE: {
        read_name(r, o, m->greeting.machine, sizeof m->greeting.machine);
        COPY_TEXT(r, o, "why", m->member.why);
    } break;
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
