// Writes messages.
#include "trial/message.h"

#include "base/json.h"
#include "base/os.h"
#include "kernel/kernel.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
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

static struct json_writer message_start(struct str *text, enum message_type type)
{
    struct json_writer w = json_begin(text);
    json_add_text(&w, "type", message_type_name(type));
    return w;
}

static char *message_end(struct json_writer *w)
{
    json_end(w);
    return str_take(w->out);
}

char *message_plain(enum message_type type)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, type);
    return message_end(&w);
}

// --- agents, and workers of a pool ---

struct greeting greeting_of_this(void)
{
    struct greeting g = {.version = TILEWALK_VERSION, .cores = os_cores()};
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

static void add_greeting(struct json_writer *w, const struct greeting *g)
{
    json_add_text(w, "version", g->version);
    json_add_text(w, "machine", g->machine);
    json_add_text(w, "compiler", g->compiler);
    json_add_int(w, "cores", g->cores);
    json_add_flag(w, "is_pool", g->is_pool);
}

char *message_greet(const struct greeting *g)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_GREET);
    add_greeting(&w, g);
    return message_end(&w);
}

char *message_play(int workers)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_PLAY);
    json_add_int(&w, "workers", workers);
    return message_end(&w);
}

char *message_said(int worker, const char *line)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_SAID);
    json_add_int(&w, "worker", worker);
    json_add_text(&w, "line", line);
    return message_end(&w);
}

static void add_matrix(struct json_writer *w, const char *name, const struct matrix_units *u)
{
    struct str text = {0};
    matrix_units_add_text(u, &text);
    json_add_text(w, name, str_text(&text));
    str_finish(&text);
}

static void add_devices(struct json_writer *w, const struct gpu_info *list, int count)
{
    json_begin_list(w, "devices");
    for (int i = 0; i < count; i++) {
        json_begin_object(w, NULL);
        json_add_int(w, "index", list[i].index);
        json_add_text(w, "name", list[i].name);
        json_add_text(w, "device_type", list[i].type);
        json_add_text(w, "driver", list[i].driver);
        json_add_text(w, "driver_hash", list[i].driver_hash);
        json_add_count(w, "vendor_id", list[i].vendor_id);
        json_add_count(w, "device_id", list[i].device_id);
        json_add_count(w, "driver_version", list[i].driver_version);
        json_add_count(w, "api_version", list[i].api_version);
        json_add_text(w, "device_uuid", list[i].device_uuid);
        json_add_text(w, "driver_uuid", list[i].driver_uuid);
        json_add_text(w, "pci", list[i].pci);
        json_add_int(w, "threads", list[i].threads);
        json_add_flag(w, "is_cpu", list[i].is_cpu);
        json_add_flag(w, "is_lavapipe", list[i].is_lavapipe);
        json_add_count(w, "memory_bytes", list[i].memory_bytes);
        json_add_flag(w, "timestamps", list[i].timestamps);
        json_add_flag(w, "runs", list[i].runs);
        json_add_name(w, "limits");
        limits_add_json(w->out, &list[i].limits);
        add_matrix(w, "matrix_khr", &list[i].matrix_khr);
        add_matrix(w, "matrix_nv", &list[i].matrix_nv);
        json_end(w);
    }
    json_end(w);
}

char *message_member(const struct greeting *g, const struct member *m,
                     const struct gpu_info *device)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_MEMBER);
    add_greeting(&w, g);
    json_add_flag(&w, "leaves", m->leaves);
    json_add_text(&w, "why", m->why);
    json_add_int(&w, "players", m->players);
    json_add_int(&w, "measurers", m->measurers);
    add_devices(&w, device, device ? 1 : 0);
    return message_end(&w);
}

char *message_leave(const char *machine, const char *why)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_LEAVE);
    json_add_text(&w, "machine", machine);
    json_add_text(&w, "why", why);
    return message_end(&w);
}

// --- jobs and operations ---

static void add_list(struct json_writer *w, const char *name, const uint8_t *byte, int64_t count)
{
    json_begin_list(w, name);
    for (int64_t i = 0; i < count; i++)
        json_add_int(w, NULL, byte[i]);
    json_end(w);
}

static void add_job(struct json_writer *w, const char *name, const struct job *job)
{
    json_begin_object(w, name);
    json_add_count(w, "scratch_bytes", job->scratch_bytes);
    if (job->spirv_minor)
        json_add_count(w, "spirv_minor", job->spirv_minor);
    json_begin_list(w, "passes");
    for (int p = 0; p < job->pass_count; p++) {
        json_begin_object(w, NULL);
        json_begin_list(w, "lines");
        for (int i = 0; i < job->pass[p].line_count; i++)
            json_add_int(w, NULL, job->pass[p].line_map[i]);
        json_end(w);
        json_add_axes(w, "groups", job->pass[p].groups);
        json_add_count(w, "subgroup", job->pass[p].subgroup);
        json_add_count(w, "once", job->pass[p].once);
        json_add_text(w, "template", job->pass[p].template_name ? job->pass[p].template_name : "");
        json_add_text(w, "space", job->pass[p].space_name ? job->pass[p].space_name : "");
        json_add_int(w, "line", job->pass[p].space_line);
        json_add_text(w, "glsl", job->pass[p].glsl);
        json_begin_list(w, "constants"); // id, whether it is a bool, value
        for (int i = 0; i < job->pass[p].constant_count; i++) {
            json_add_count(w, NULL, job->pass[p].constant[i].id);
            json_add_int(w, NULL, job->pass[p].constant[i].is_bool);
            json_add_real(w, NULL, job->pass[p].constant[i].value);
        }
        json_end(w);
        add_list(w, "push", job->pass[p].push, job->pass[p].push_bytes);
        json_begin_list(w, "fields");
        for (int i = 0; i < job->pass[p].field_count; i++) {
            json_begin_object(w, NULL);
            json_add_int(w, "kind", job->pass[p].field[i].kind);
            json_add_int(w, "bytes", job->pass[p].field[i].bytes);
            json_add_int(w, "at", job->pass[p].field[i].at);
            json_add_int(w, "count", job->pass[p].field[i].count);
            json_add_text(w, "name", job->pass[p].field[i].name);
            json_end(w);
        }
        json_end(w);
        add_list(w, "bindings", job->pass[p].binding, job->pass[p].binding_count);
        json_end(w);
    }
    json_end(w);
    json_end(w);
}

static void add_operation(struct json_writer *w, const struct operation *o)
{
    double size[OPERATION_MAX_SIZES], choice[OPERATION_MAX_CHOICES];
    for (int i = 0; i < OPERATION_MAX_SIZES; i++)
        size[i] = (double)o->size[i];
    for (int i = 0; i < OPERATION_MAX_CHOICES; i++)
        choice[i] = o->choice[i];
    json_add_text(w, "operation", o->kind->name);
    json_add_reals(w, "size", OPERATION_MAX_SIZES, size);
    json_add_reals(w, "choice", OPERATION_MAX_CHOICES, choice);
    json_add_reals(w, "real", OPERATION_MAX_REALS, o->real);
}

static void add_any_operation(struct json_writer *w, const struct operation *o)
{
    if (custom_of(o)) {
        const struct custom_operation *c = custom_of(o);
        json_begin_object(w, "custom");
        json_begin_list(w, "buffers");
        for (int i = 0; i < c->tensor_count; i++) {
            const struct custom_filling *f = &c->filling[i];
            const struct block_format *b = &f->block;
            struct tensor t = custom_tensor(c, i);
            json_begin_object(w, NULL);
            json_add_text(w, "element", element_name(t.element));
            json_add_text(w, "name", t.name);
            json_add_reals(w, "fill", 3, (double[]){f->low, f->high, f->whole});
            if (b->weights)
                json_add_reals(w, "block", BLOCK_NUMBERS,
                               (double[]){b->kind, b->weights, b->scale, b->has_min, b->bits,
                                          b->is_signed, b->zero, b->pairs});
            json_begin_list(w, "size");
            for (int d = 0; d < t.rank; d++)
                json_add_int(w, NULL, t.size[d]);
            json_end(w);
            json_end(w);
        }
        json_end(w);
        json_begin_list(w, "steps");
        for (int i = 0; i < c->step_count; i++) {
            const struct custom_step *step = &c->step[i];
            json_begin_object(w, NULL);
            json_begin_list(w, "buffers");
            for (int k = 0; k < step->count; k++)
                json_add_text(w, NULL, c->buffer[step->buffer[k]].name);
            json_end(w);
            if (step->operation.kind) // else it dequantises
                add_operation(w, &step->operation);
            json_end(w);
        }
        json_end(w);
        if (c->definition)
            json_add_text(w, "definition", c->definition);
        json_add_text(w, "name", c->kind.name);
        json_add_reals(w, "tolerance", 4, (double[]){c->absolute, c->relative, c->nmse, c->exact});
        json_end(w);
    } else
        add_operation(w, o);
}

static void add_place(struct json_writer *w, const struct hello *h)
{
    char seed[24];
    json_add_int(w, "device", h->device);
    json_add_text(w, "device_id", h->device_id);
    json_add_flag(w, "validate", h->validate);
    json_add_flag(w, "cold", h->cold);
    json_add_flag(w, "warms", h->warms);
    json_add_name(w, "limits");
    limits_add_json(w->out, &h->limits);
    snprintf(seed, sizeof seed, "%" PRIu64, h->seed); // all 64 bits: not a number
    json_add_text(w, "seed", seed);
    json_add_reals(w, "deadline_s", PHASE_COUNT, h->deadline_s);
    json_add_text(w, "fault", h->fault);
}

// Adds bytes as two hexadecimal digits each.
static void add_bytes(struct json_writer *w, const char *name, const void *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *byte = bytes;
    struct str hex = {0};
    for (size_t i = 0; i < count; i++) {
        str_add_char(&hex, digits[byte[i] >> 4]);
        str_add_char(&hex, digits[byte[i] & 15]);
    }
    json_add_text(w, name, str_text(&hex));
    str_finish(&hex);
}

// --- trials ---

char *message_hello(const struct hello *h)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_HELLO);
    add_place(&w, h);
    json_add_flag(&w, "only_compiles", h->only_compiles);
    add_any_operation(&w, &h->operation);
    add_job(&w, "reference", &h->reference);
    json_add_flag(&w, "trips_undeclared", h->trips_undeclared);
    json_add_int(&w, "start", h->start);
    json_add_int(&w, "workers", h->workers);
    json_add_int(&w, "compilers", h->compilers);
    json_add_int(&w, "calibrates", h->calibrates);
    return message_end(&w);
}

char *message_trial(const struct trial_request *r, const int *pick, int count, int64_t number,
                    int attempt, const struct kept *kept)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_TRIAL);
    json_add_int(&w, "number", number);
    json_add_int(&w, "attempt", attempt);
    json_add_flag(&w, "race", r->race);
    json_add_flag(&w, "only_compiles", r->only_compiles);
    json_add_flag(&w, "keeps", r->keeps);
    json_add_flag(&w, "known_good", r->known_good);
    json_add_flag(&w, "anchor", r->anchor);
    json_add_int(&w, "accesses", r->accesses);
    json_add_real(&w, "incumbent_s", r->incumbent_s);
    json_add_real(&w, "slowdown", r->slowdown);
    add_bytes(&w, "kept", kept ? kept->made.bytes : NULL, kept ? kept->made.size : 0);
    json_add_real(&w, "kept_s", kept ? kept->seconds : 0);
    json_begin_list(&w, "jobs");
    for (int i = 0; i < count; i++)
        add_job(&w, NULL, &r->job[pick[i]]);
    json_end(&w);
    return message_end(&w);
}

char *message_failed(const struct err *why)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_FAILED);
    json_add_text(&w, "file", why->file);
    json_add_int(&w, "line", why->line);
    json_add_text(&w, "text", why->text);
    return message_end(&w);
}

char *message_phase(enum trial_phase phase, int candidate, int64_t at_ns)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_PHASE);
    json_add_text(&w, "phase", trial_phase_name(phase));
    json_add_int(&w, "candidate", candidate);
    json_add_int(&w, "at_ns", at_ns);
    return message_end(&w);
}

static void add_samples(struct json_writer *w, double seconds, const struct samples *s)
{
    json_add_real(w, "seconds", seconds);
    json_add_reals(w, "samples", s->count, s->seconds);
    json_add_flag(w, "early_stopped", s->early_stopped);
}

char *message_result(const struct trial_result *r, bool only_compiled, const bool *settled,
                     const struct gpu_kept *kept, int64_t at_ns)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_RESULT);
    json_add_int(&w, "number", r->ticket);
    json_add_int(&w, "worker", r->worker);
    json_add_text(&w, "machine", r->machine);
    json_add_int(&w, "at_ns", at_ns);
    json_add_real(&w, "compile_s", r->compile_s);
    json_add_real(&w, "pipeline_s", r->pipeline_s);
    json_add_real(&w, "device_s", r->device_s);
    json_add_flag(&w, "only_compiled", only_compiled);
    json_add_real(&w, "anchor_s", r->anchor_s);
    json_add_real(&w, "wall_s", r->wall_s);
    json_add_name(&w, "clocks");
    statistics_add_json(&r->clocks, w.out);
    add_bytes(&w, "kept", kept->bytes, kept->size);
    json_begin_list(&w, "candidates");
    for (int i = 0; i < r->count; i++) {
        json_begin_object(&w, NULL);
        json_add_text(&w, "outcome", outcome_name(r->outcome[i]));
        json_add_flag(&w, "settled", settled[i]);
        json_add_text(&w, "phase", trial_phase_name(r->phase[i]));
        json_add_text(&w, "reason", r->reason[i]);
        add_samples(&w, r->seconds[i], &r->samples[i]);
        json_add_name(&w, "statistics");
        statistics_add_json(&r->statistics[i], w.out);
        json_end(&w);
    }
    json_end(&w);
    return message_end(&w);
}

// --- helper jobs ---

char *message_job(enum message_type type, const struct job *job)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, type);
    add_job(&w, "job", job);
    return message_end(&w);
}

char *message_compiled(const struct spirv *module, int count)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_COMPILED);
    json_begin_list(&w, "modules");
    for (int i = 0; i < count; i++)
        add_bytes(&w, NULL, module[i].word, module[i].count * sizeof *module[i].word);
    json_end(&w);
    return message_end(&w);
}

char *message_preprocessed(const struct str *text, int count)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_PREPROCESSED);
    json_begin_list(&w, "texts");
    for (int i = 0; i < count; i++)
        json_add_text(&w, NULL, str_text(&text[i]));
    json_end(&w);
    return message_end(&w);
}

char *message_list(const char *drivers)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_LIST);
    json_add_text(&w, "drivers", drivers);
    return message_end(&w);
}

char *message_devices(const struct gpu_info *list, int count)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_DEVICES);
    add_devices(&w, list, count);
    return message_end(&w);
}

char *message_open(int device, bool validate)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_OPEN);
    json_add_int(&w, "device", device);
    json_add_flag(&w, "validate", validate);
    return message_end(&w);
}

char *message_opened(const struct clocks *c)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_OPENED);
    json_add_name(&w, "clocks");
    statistics_add_json(&c->now, w.out);
    json_add_text(&w, "why", c->why);
    json_add_real(&w, "anchor_s", c->anchor_s);
    return message_end(&w);
}

char *message_peaks(int device)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_PEAKS);
    json_add_int(&w, "device", device);
    return message_end(&w);
}

char *message_roof(const struct roofline *r)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_ROOF);
    json_add_name(&w, "roof");
    roofline_add_json(r, w.out);
    return message_end(&w);
}

char *message_whole(const struct whole *whole)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_WHOLE);
    add_place(&w, &whole->place);
    json_add_flag(&w, "races", whole->races);
    json_begin_list(&w, "tasks");
    for (int i = 0; i < whole->task_count; i++) {
        int sets = whole->races ? WHOLE_SETS : 1;
        json_begin_object(&w, NULL);
        add_any_operation(&w, &whole->task[i].operation);
        json_begin_list(&w, "jobs");
        for (int j = 0; j < sets; j++)
            add_job(&w, NULL, &whole->task[i].job[j]);
        json_end(&w);
        json_end(&w);
    }
    json_end(&w);
    json_begin_object(&w, "plan");
    plan_add_json(&whole->plan, &w);
    json_end(&w);
    return message_end(&w);
}

char *message_whole_result(const struct whole_result *r)
{
    struct str s = {0};
    struct json_writer w = message_start(&s, MESSAGE_WHOLE_RESULT);
    json_add_flag(&w, "verified", r->verified);
    json_add_text(&w, "reason", r->reason);
    json_begin_list(&w, "sets");
    for (int i = 0; i < WHOLE_SETS; i++) {
        json_begin_object(&w, NULL);
        add_samples(&w, r->seconds[i], &r->samples[i]);
        json_end(&w);
    }
    json_end(&w);
    return message_end(&w);
}
