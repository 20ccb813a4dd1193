#include "trial/message.h"

#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"
#include "space/objective.h"
#include "trial/codec.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *message_type_name(enum message_type type)
{
    static const char *const names[MESSAGE_TYPE_COUNT] = {
        [MESSAGE_HELLO] = "hello",
        [MESSAGE_PREPARE] = "prepare",
        [MESSAGE_TRIAL] = "trial",
        [MESSAGE_GO] = "go",
        [MESSAGE_REST] = "rest",
        [MESSAGE_READY] = "ready",
        [MESSAGE_FAILED] = "failed",
        [MESSAGE_PREPARED] = "prepared",
        [MESSAGE_PHASE] = "phase",
        [MESSAGE_RESULT] = "result",
        [MESSAGE_COMPILE] = "compile",
        [MESSAGE_COMPILED] = "compiled",
        [MESSAGE_PREPROCESS] = "preprocess",
        [MESSAGE_PREPROCESSED] = "preprocessed",
        [MESSAGE_LIST] = "list",
        [MESSAGE_DEVICES] = "devices",
        [MESSAGE_OPEN] = "open",
        [MESSAGE_OPENED] = "opened",
        [MESSAGE_PEAKS] = "peaks",
        [MESSAGE_ROOF] = "roof",
        [MESSAGE_WHOLE] = "whole",
        [MESSAGE_WHOLE_RESULT] = "whole_result",
        [MESSAGE_GREET] = "greet",
        [MESSAGE_PLAY] = "play",
        [MESSAGE_ALIVE] = "alive",
        [MESSAGE_SAID] = "said",
        [MESSAGE_MEMBER] = "member",
        [MESSAGE_LEAVE] = "leave",
    };
    return names[type];
}

// --- machines and devices ---

// Checks the name of a machine, which is stored, shown, and used as the name of a folder.
static bool is_name(const char *text)
{
    return text[0] && text[0] != '.' && text[0] != '-' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") ==
               strlen(text);
}

struct greeting greeting_of_this(void)
{
    struct greeting g = {.protocol = PROTOCOL, .cores = os_cores()};
    snprintf(g.build, sizeof g.build, "%s", build_name());
    snprintf(g.compiler, sizeof g.compiler, "%s", kernel_built_in());
    // "rack1-5fd0c2a9": characters of the host's name that a name must not have are replaced.
    size_t size = sizeof g.machine;
    char host[48] = "";
    gethostname(host, sizeof host - 1);
    for (char *c = host; *c; c++)
        if (!isalnum((unsigned char)*c) && (*c != '.' || c == host))
            *c = c == host ? 'x' : '-';
    snprintf(g.machine, size, "%s-%08x", *host ? host : "host", (unsigned)os_seed());
    return g;
}

bool greeting_fits(const struct greeting *g, const char *who, char *why, size_t size)
{
    if (g->protocol != PROTOCOL)
        snprintf(why, size, "%s speaks protocol %d (tilewalk %s), this program %d (tilewalk %s)",
                 who, g->protocol, g->build, PROTOCOL, build_name());
    return g->protocol == PROTOCOL;
}

static void code_machine(struct codec *c, char *name, size_t size)
{
    codec_text(c, "machine", name, size);
    if (!c->w && !is_name(name))
        codec_refuse(c, "machine");
}

// Reads nothing but protocol and build where the protocol is another one, and returns false.
static bool code_greeting(struct codec *c, struct greeting *g)
{
    if (c->w || json_type(json_member(c->object, "protocol")) == JSON_NUMBER)
        g->protocol = (int)codec_int(c, "protocol", g->protocol, 0, 1e9);
    CODEC_TEXT(c, "version", g->build);
    if (g->protocol != PROTOCOL)
        return false;
    code_machine(c, g->machine, sizeof g->machine);
    CODEC_TEXT(c, "compiler", g->compiler);
    g->cores = (int)codec_int(c, "cores", g->cores, 1, 1 << 20);
    g->is_pool = codec_flag(c, "is_pool", g->is_pool);
    return true;
}

// A limit that is unknown is refused: the device is there, and all of its limits are known.
static void code_limits(struct codec *c, struct limits *l)
{
    if (c->w) {
        json_add_name(c->w, "limits");
        limits_add_json(c->w->out, l);
        return;
    }
    const char *bad = limits_read_json(codec_read(c, "limits", JSON_OBJECT), l);
    if (!bad && l->unknown)
        bad = "limits";
    if (bad)
        codec_refuse(c, bad);
}

static void code_matrix(struct codec *c, const char *name, struct matrix_units *u)
{
    struct str text = {0};
    if (c->w) {
        matrix_units_add_text(u, &text);
        json_add_text(c->w, name, str_text(&text));
        str_finish(&text);
    } else if (!matrix_units_parse(codec_word(c, name, NULL), u)) {
        codec_refuse(c, name);
    }
}

// Each device must have the index of its place in the list, as callers rely on it.
static void code_devices(struct codec *c, struct message *m)
{
    int capacity = 0;
    struct elements l = codec_list(c, "devices");
    for (; codec_next(c, &l, m->device_count, INT_MAX); m->device_count += !c->w) {
        if (!c->w) {
            MEM_GROW(m->device_list, m->device_count, capacity);
            m->device_list[l.index] = (struct gpu_info){0};
        }
        struct gpu_info *d = &m->device_list[l.index];
        d->index = (int)codec_int(c, "index", d->index, 0, 1000);
        CODEC_TEXT(c, "name", d->name);
        CODEC_TEXT(c, "device_type", d->type);
        CODEC_TEXT(c, "driver", d->driver);
        CODEC_TEXT(c, "driver_hash", d->driver_hash);
        d->vendor_id = (uint32_t)codec_int(c, "vendor_id", d->vendor_id, 0, UINT32_MAX);
        d->device_id = (uint32_t)codec_int(c, "device_id", d->device_id, 0, UINT32_MAX);
        d->driver_version =
            (uint32_t)codec_int(c, "driver_version", d->driver_version, 0, UINT32_MAX);
        d->api_version = (uint32_t)codec_int(c, "api_version", d->api_version, 0, UINT32_MAX);
        CODEC_TEXT(c, "device_uuid", d->device_uuid);
        CODEC_TEXT(c, "driver_uuid", d->driver_uuid);
        CODEC_TEXT(c, "pci", d->pci);
        d->threads = (int)codec_int(c, "threads", d->threads, 0, INT32_MAX);
        d->is_cpu = codec_flag(c, "is_cpu", d->is_cpu);
        d->is_lavapipe = codec_flag(c, "is_lavapipe", d->is_lavapipe);
        d->memory_bytes = codec_u64(c, "memory_bytes", d->memory_bytes);
        d->timestamps = codec_flag(c, "timestamps", d->timestamps);
        d->runs = codec_flag(c, "runs", d->runs);
        code_limits(c, &d->limits);
        code_matrix(c, "matrix_khr", &d->matrix_khr);
        code_matrix(c, "matrix_nv", &d->matrix_nv);
        if (!c->w && d->index != l.index)
            codec_refuse(c, "index");
    }
}

// --- messages ---

#define MOST_LAYERS  65536
#define MOST_WORKERS 1024
#define MOST_I64     0x1p62 // of what a double keeps

static int code_workers(struct codec *c, const char *name, int count)
{
    return (int)codec_int(c, name, count, 0, MOST_WORKERS);
}

static void code_place(struct codec *c, struct hello *h)
{
    char seed[24]; // all 64 bits: not a number
    h->device = (int)codec_int(c, "device", h->device, 0, 1000);
    CODEC_TEXT(c, "device_id", h->device_id);
    h->validate = codec_flag(c, "validate", h->validate);
    h->cold = codec_flag(c, "cold", h->cold);
    h->warms = codec_flag(c, "warms", h->warms);
    code_limits(c, &h->limits);
    snprintf(seed, sizeof seed, "%" PRIu64, h->seed);
    h->seed = strtoull(codec_word(c, "seed", seed), NULL, 10);
    codec_reals(c, "deadline_s", h->deadline_s, PHASE_COUNT, PHASE_COUNT, (struct bounds){0, 1e9});
    CODEC_TEXT(c, "fault", h->fault);
}

static void code_hello(struct codec *c, struct hello *h)
{
    code_place(c, h);
    h->only_compiles = codec_flag(c, "only_compiles", h->only_compiles);
    codec_operation(c, &h->operation, &h->custom);
    struct json outer = codec_begin(c, "reference");
    codec_job(c, &h->reference);
    codec_end(c, outer);
    h->trips_undeclared = codec_flag(c, "trips_undeclared", h->trips_undeclared);
    h->objective = (int)codec_int(c, "objective", h->objective, 0, 1 + OBJECTIVE_EDP);
    h->start = codec_int(c, "start", h->start, 0, MOST_I64);
    h->workers = code_workers(c, "workers", h->workers);
    h->compilers = code_workers(c, "compilers", h->compilers);
    h->calibrates = (int)codec_int(c, "calibrates", h->calibrates, 0, 1e6);
}

static void code_trial(struct codec *c, struct message *m)
{
    struct trial_request *r = &m->request;
    m->number = codec_int(c, "number", m->number, 0, MOST_I64);
    m->attempt = (int)codec_int(c, "attempt", m->attempt, 0, 1);
    r->race = codec_flag(c, "race", r->race);
    r->pairs = codec_flag(c, "pairs", r->pairs);
    r->soak = (int)codec_int(c, "soak", r->soak, 0, TRIAL_MOST_SOAK);
    r->soak_s = codec_real(c, "soak_s", r->soak_s);
    r->only_compiles = codec_flag(c, "only_compiles", r->only_compiles);
    r->keeps = codec_flag(c, "keeps", r->keeps);
    r->known_good = codec_flag(c, "known_good", r->known_good);
    r->anchor = codec_flag(c, "anchor", r->anchor);
    r->accesses = (enum accesses)codec_int(c, "accesses", r->accesses, 0, ACCESSES_OF_NONE);
    r->incumbent_s = codec_real(c, "incumbent_s", r->incumbent_s);
    r->slowdown = codec_real(c, "slowdown", r->slowdown);
    codec_kept(c, &m->kept);
    m->kept_s = codec_real(c, "kept_s", m->kept_s);
    struct elements l = codec_list(c, "jobs");
    for (; codec_next(c, &l, r->count, TRIAL_MAX_RACERS); r->count += !c->w)
        codec_job(c, &r->job[l.index]);
}

static enum trial_phase code_phase(struct codec *c, enum trial_phase phase)
{
    const char *word = codec_word(c, "phase", trial_phase_name(phase));
    for (int i = 0; i < PHASE_COUNT; i++)
        if (str_equal(word, trial_phase_name((enum trial_phase)i)))
            return (enum trial_phase)i;
    codec_refuse(c, "phase");
    return PHASE_NONE;
}

static void code_statistics(struct codec *c, const char *name, struct statistics *s)
{
    double value;
    if (c->w) {
        json_add_name(c->w, name);
        statistics_add_json(s, c->w->out);
        return;
    }
    for (struct json_walk w = json_walk(codec_read(c, name, JSON_OBJECT)); json_next(&w);)
        if (!json_number(w.value, &value) ||
            !statistics_take(s, json_text_exact(w.key, &c->arena), value))
            codec_refuse(c, name);
}

static void code_samples(struct codec *c, double *seconds, struct samples *s)
{
    *seconds = codec_real(c, "seconds", *seconds);
    s->count =
        codec_reals(c, "samples", s->seconds, s->count, TRIAL_MAX_SAMPLES, (struct bounds){0, 1e9});
    s->early_stopped = codec_flag(c, "early_stopped", s->early_stopped);
}

static void code_result(struct codec *c, struct message *m)
{
    struct trial_result *t = &m->result;
    m->number = codec_int(c, "number", m->number, 0, MOST_I64);
    t->worker = (int)codec_int(c, "worker", t->worker, 0, MOST_WORKERS - 1);
    CODEC_TEXT(c, "machine", t->machine);
    if (t->machine[0] && !is_name(t->machine))
        codec_refuse(c, "machine");
    m->at_ns = codec_int(c, "at_ns", m->at_ns, 0, MOST_I64);
    t->compile_s = codec_real(c, "compile_s", t->compile_s);
    t->pipeline_s = codec_real(c, "pipeline_s", t->pipeline_s);
    t->device_s = codec_real(c, "device_s", t->device_s);
    m->only_compiled = codec_flag(c, "only_compiled", m->only_compiled);
    t->anchor_s = codec_real(c, "anchor_s", t->anchor_s);
    t->wall_s = codec_real(c, "wall_s", t->wall_s);
    t->soaked = (int)codec_int(c, "soaked", t->soaked, 0, TRIAL_MOST_SOAK);
    code_statistics(c, "clocks", &t->clocks);
    codec_kept(c, &m->kept);
    struct elements l = codec_list(c, "candidates");
    for (; codec_next(c, &l, t->count, TRIAL_MAX_RACERS); t->count += !c->w) {
        int i = l.index;
        if (!outcome_parse(codec_word(c, "outcome", outcome_name(t->outcome[i])), &t->outcome[i]))
            codec_refuse(c, "outcome");
        m->settled[i] = codec_flag(c, "settled", m->settled[i]);
        t->phase[i] = code_phase(c, t->phase[i]);
        CODEC_TEXT(c, "reason", t->reason[i]);
        code_samples(c, &t->seconds[i], &t->samples[i]);
        code_statistics(c, "statistics", &t->statistics[i]);
        bool measured = t->outcome[i] == OUTCOME_OK && m->settled[i] && !m->only_compiled;
        if (measured && (t->samples[i].count == 0 || t->seconds[i] <= 0))
            codec_refuse(c, "samples");
    }
}

static void code_texts(struct codec *c, struct message *m)
{
    if (c->w) {
        json_begin_list(c->w, "texts");
        for (int i = 0; i < m->text_count; i++)
            json_add_text(c->w, NULL, m->text[i]);
        json_end(c->w);
        return;
    }
    for (struct json_walk w = json_walk(codec_read(c, "texts", JSON_LIST)); json_next(&w);) {
        const char *text = json_text_exact(w.value, &c->arena);
        if (m->text_count < JOB_MAX_PASSES && text)
            m->text[m->text_count++] = mem_strdup(text);
        else
            codec_refuse(c, "texts");
    }
}

static void code_member(struct codec *c, struct message *m)
{
    if (!code_greeting(c, &m->greeting))
        return;
    m->member.leaves = codec_flag(c, "leaves", m->member.leaves);
    CODEC_TEXT(c, "why", m->member.why);
    m->member.players = code_workers(c, "players", m->member.players);
    m->member.measurers = code_workers(c, "measurers", m->member.measurers);
    code_devices(c, m);
    if (!c->w && (m->device_count > 1 || (m->member.measurers && !m->device_count)))
        codec_refuse(c, "devices");
}

static void code_whole(struct codec *c, struct message *m)
{
    int capacity = 0;
    if (!c->w)
        m->whole = mem_zero(1, sizeof *m->whole);
    struct whole *whole = m->whole;
    code_place(c, &whole->place);
    whole->races = codec_flag(c, "races", whole->races);
    struct elements l = codec_list(c, "tasks");
    for (; codec_next(c, &l, whole->task_count, INT_MAX);) {
        if (!c->w) {
            MEM_GROW(whole->task, whole->task_count, capacity);
            whole->task[whole->task_count++] = (struct whole_task){.custom = NULL};
        }
        struct whole_task *task = &whole->task[l.index];
        codec_operation(c, &task->operation, &task->custom);
        struct elements jobs = codec_list(c, "jobs");
        while (codec_next(c, &jobs, whole->races ? WHOLE_SETS : 1, WHOLE_SETS))
            codec_job(c, &task->job[jobs.index]);
    }
    struct json outer = codec_begin(c, "plan");
    if (c->w)
        plan_add_json(&whole->plan, c->w);
    else if (!plan_read_json(c->object, &whole->plan, NULL))
        codec_refuse(c, "plan");
    codec_end(c, outer);
}

static void code_whole_result(struct codec *c, struct message *m)
{
    if (!c->w)
        m->whole_result = mem_zero(1, sizeof *m->whole_result);
    struct whole_result *r = m->whole_result;
    r->verified = codec_flag(c, "verified", r->verified);
    CODEC_TEXT(c, "reason", r->reason);
    struct elements l = codec_list(c, "sets");
    while (codec_next(c, &l, WHOLE_SETS, WHOLE_SETS))
        code_samples(c, &r->seconds[l.index], &r->samples[l.index]);
}

static void code_message(struct codec *c, struct message *m)
{
    struct json outer;
    switch (m->type) {
    case MESSAGE_HELLO: code_hello(c, &m->hello); break;
    case MESSAGE_TRIAL: code_trial(c, m); break;
    case MESSAGE_PHASE:
        m->phase = code_phase(c, m->phase);
        m->candidate = (int)codec_int(c, "candidate", m->candidate, 0, MOST_LAYERS);
        m->at_ns = codec_int(c, "at_ns", m->at_ns, 0, MOST_I64);
        break;
    case MESSAGE_RESULT: code_result(c, m); break;
    case MESSAGE_FAILED:
        CODEC_TEXT(c, "file", m->failure.file);
        m->failure.line = (int)codec_int(c, "line", m->failure.line, 0, INT32_MAX);
        CODEC_TEXT(c, "text", m->failure.text);
        break;
    case MESSAGE_COMPILE:
    case MESSAGE_PREPROCESS:
        outer = codec_begin(c, "job");
        m->request.count = 1;
        codec_job(c, &m->request.job[0]);
        codec_end(c, outer);
        break;
    case MESSAGE_COMPILED: codec_modules(c, m->module, &m->module_count); break;
    case MESSAGE_PREPROCESSED: code_texts(c, m); break;
    case MESSAGE_LIST: CODEC_TEXT(c, "drivers", m->drivers); break;
    case MESSAGE_DEVICES: code_devices(c, m); break;
    case MESSAGE_OPEN:
        m->device = (int)codec_int(c, "device", m->device, 0, 1000);
        m->validate = codec_flag(c, "validate", m->validate);
        break;
    case MESSAGE_PEAKS: m->device = (int)codec_int(c, "device", m->device, 0, 1000); break;
    case MESSAGE_ROOF:
        if (c->w) {
            json_add_name(c->w, "roof");
            roofline_add_json(&m->roofline, c->w->out);
        } else if (!roofline_read(codec_read(c, "roof", JSON_OBJECT), &m->roofline)) {
            codec_refuse(c, "roof");
        }
        break;
    case MESSAGE_OPENED:
        code_statistics(c, "clocks", &m->clocks.now);
        CODEC_TEXT(c, "why", m->clocks.why);
        m->clocks.tells_power = codec_flag(c, "tells_power", m->clocks.tells_power);
        m->clocks.anchor_s = codec_real(c, "anchor_s", m->clocks.anchor_s);
        break;
    case MESSAGE_WHOLE: code_whole(c, m); break;
    case MESSAGE_WHOLE_RESULT: code_whole_result(c, m); break;
    case MESSAGE_GREET: code_greeting(c, &m->greeting); break;
    case MESSAGE_PLAY:
        m->workers = (int)codec_int(c, "workers", m->workers, 1, MOST_WORKERS);
        break;
    case MESSAGE_SAID:
        m->worker = (int)codec_int(c, "worker", m->worker, 0, MOST_WORKERS - 1);
        CODEC_TEXT(c, "line", m->said);
        break;
    case MESSAGE_MEMBER: code_member(c, m); break;
    case MESSAGE_LEAVE:
        code_machine(c, m->greeting.machine, sizeof m->greeting.machine);
        CODEC_TEXT(c, "why", m->member.why);
        break;
    default: break;
    }
}

char *message_text(struct message *m)
{
    struct str text = {0};
    struct json_writer w = json_begin(&text);
    json_add_text(&w, "type", message_type_name(m->type));
    code_message(&(struct codec){.w = &w}, m);
    json_end(&w);
    return str_take(&text);
}

char *message_plain(enum message_type type)
{
    return message_text(&(struct message){.type = type});
}

char *message_failed(const struct err *why)
{
    return message_text(&(struct message){.type = MESSAGE_FAILED, .failure = *why});
}

char *message_hello(const struct hello *h)
{
    return message_text(&(struct message){.type = MESSAGE_HELLO, .hello = *h});
}

char *message_trial(const struct trial_request *r, const int *pick, int count, int64_t number,
                    int attempt, const struct kept *kept)
{
    struct message m = {MESSAGE_TRIAL, .request = *r, .number = number, .attempt = attempt};
    if (kept) {
        m.kept = kept->made;
        m.kept_s = kept->seconds;
    }
    for (int i = 0; i < count; i++)
        m.request.job[i] = r->job[pick[i]];
    m.request.count = count;
    return message_text(&m);
}

char *message_result(const struct trial_result *r, bool only_compiled, const bool *settled,
                     const struct gpu_kept *kept, int64_t at_ns)
{
    struct message m = {.type = MESSAGE_RESULT,
                        .number = r->ticket,
                        .at_ns = at_ns,
                        .result = *r,
                        .only_compiled = only_compiled,
                        .kept = *kept};
    memcpy(m.settled, settled, (size_t)r->count * sizeof *settled);
    return message_text(&m);
}

bool message_parse(const char *text, struct message *out, struct err *e)
{
    *out = (struct message){.type = MESSAGE_TYPE_COUNT};
    struct codec c = {0};
    arena_init(&c.arena);
    json_read_tree(text, &c.object);
    struct json tree = c.object;
    const char *type = codec_word(&c, "type", NULL);
    for (int i = 0; i < MESSAGE_TYPE_COUNT; i++)
        if (str_equal(type, message_type_name((enum message_type)i)))
            out->type = (enum message_type)i;
    if (out->type == MESSAGE_TYPE_COUNT)
        c.bad = "type";
    else
        code_message(&c, out);
    if (c.bad) {
        message_finish(out);
        err_set(e, "no or a bad \"%s\" in a message", c.bad);
    }
    json_free(&tree);
    arena_finish(&c.arena);
    return !c.bad;
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
