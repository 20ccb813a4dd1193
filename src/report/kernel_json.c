// NAME.json of an export: one object, a line for each of its members.
#include "report/kernel_files.h"

#include "base/mem.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSION "session"
#define TIMING  "timing"
#define DEVICE  "device_identity"

// Every member begins with this: the first one has no comma before it.
static void member(struct str *out, const char *name)
{
    char last = out->length ? out->text[out->length - 1] : '{';
    str_printf(out, "%s\n  \"%s\": ", last == '{' ? "" : ",", name);
}

static void text_or_null(struct str *out, const char *text)
{
    if (text && *text)
        str_add_json(out, text);
    else
        str_add(out, "null");
}

static void add_text(struct str *out, const char *name, const char *text)
{
    member(out, name);
    text_or_null(out, text);
}

static void add_raw(struct str *out, const char *name, const char *json)
{
    member(out, name);
    str_add(out, json && *json ? json : "null");
}

static void add_triple(struct str *out, const char *name, const uint32_t v[3])
{
    str_printf(out, ", \"%s\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", name, v[0], v[1], v[2]);
}

static void add_problem(struct str *out, const struct operation *o)
{
    add_text(out, "operator", o->kind->name);
    member(out, "problem");
    operation_add_json(o, out);
    for (int i = 0; o->kind->choices[i].name; i++) // "type", "layout"
        add_text(out, o->kind->choices[i].name, o->kind->choices[i].values[o->choice[i]]);
}

char *kernel_pass_name(const char *name, int index, const char *suffix)
{
    if (index == 0)
        return mem_printf("%s.%s", name, suffix);
    return mem_printf("%s.pass%d.%s", name, index + 1, suffix);
}

static void add_file_name(struct str *out, const struct kernel_description *d, int pass,
                          const char *key, const char *suffix)
{
    char *name = kernel_pass_name(d->name, pass, suffix);
    str_printf(out, "\"%s\": ", key);
    str_add_json(out, name);
    str_add(out, ", ");
    free(name);
}

static void add_spirv(struct str *out, const struct kernel_pass *p)
{
    str_add(out, "\"spirv_base64\": \"");
    str_add_base64(out, p->word, p->word_count * sizeof *p->word);
    str_add(out, "\", ");
}

static void add_passes(struct str *out, const struct kernel_description *d, bool embedded)
{
    member(out, "passes");
    for (int i = 0; i < d->pass_count; i++) {
        const struct kernel_pass *p = &d->pass[i];
        char hash[33];
        hash_hex(p->word, p->word_count * sizeof *p->word, hash);
        str_add(out, i ? ",\n    {" : "[\n    {");
        if (embedded) {
            add_spirv(out, p);
        } else {
            add_file_name(out, d, i, "glsl", "comp");
            add_file_name(out, d, i, "spirv", "spv");
        }
        str_add(out, "\"entry\": \"main\"");
        add_triple(out, "local_size", p->local_size);
        add_triple(out, "groups", p->groups);
        str_printf(out, ", \"hash\": \"%s\"}", hash);
    }
    str_add(out, "\n  ]");
}

static void add_bindings(struct str *out, const struct kernel_description *d)
{
    member(out, "bindings");
    for (int i = 0; i < d->binding_count; i++) {
        const struct kernel_binding *b = &d->binding[i];
        str_printf(out, "%s\n    {\"set\": 0, \"binding\": %d, \"name\": ", i ? "," : "[", i);
        str_add_json(out, b->name);
        str_printf(out, ", \"bytes\": %" PRIu64 ", \"access\": \"%s\"}", b->bytes, b->access);
    }
    str_add(out, "\n  ]");
}

static void add_timing(struct str *out, const struct kernel_description *d)
{
    const struct kernel_timing *t = &d->timing;
    member(out, TIMING);
    str_add(out, "{\"ms\": ");
    str_add_real(out, t->seconds * 1e3);
    str_add(out, ", \"tflops\": ");
    str_add_real(out, d->flop / t->seconds / 1e12);
    str_printf(out,
               ", \"samples\": %s, \"retimed\": %s, \"source\": ", t->samples ? t->samples : "[]",
               t->retimed ? "true" : "false");
    text_or_null(out, d->source);
    str_add(out, "}");
}

static void add_verified(struct str *out, const struct kernel_description *d)
{
    member(out, "verified");
    str_add(out, "{\"exact\": ");
    if (d->exact_inputs) {
        str_add(out, "{\"inputs\": ");
        str_add_json(out, d->exact_inputs);
        str_add(out, ", \"against\": ");
        text_or_null(out, d->exact_against);
        str_add(out, "}");
    } else {
        str_add(out, "null");
    }
    str_printf(out, ", \"random\": %s}", d->random_checked ? "true" : "false");
}

// The value of a member, with what follows it; each has a line of its own. NULL: there is none.
static const char *value_of(const char *json, const char *name)
{
    char *start = mem_printf("\n  \"%s\": ", name);
    const char *at = strstr(json, start);
    if (at)
        at += strlen(start);
    free(start);
    return at;
}

bool kernel_json_read(const char *json, struct kernel_there *out)
{
    static const char ms_is[] = "{\"ms\": ";
    const char *session = value_of(json, SESSION), *timing = value_of(json, TIMING),
               *device = value_of(json, DEVICE);
    if (!session || !timing || !device || !str_starts(timing, ms_is))
        return false;
    char number[40];
    double ms;
    timing += strlen(ms_is);
    snprintf(number, sizeof number, "%.*s", (int)strcspn(timing, ","), timing);
    bool has_device = *device++ == '"'; // else it is null
    snprintf(out->device, sizeof out->device, "%.*s", has_device ? (int)strcspn(device, "\"") : 0,
             device);
    out->session = strtoll(session, NULL, 10);
    if (!str_to_real(number, &ms))
        return false;
    out->seconds = ms * 1e-3;
    return true;
}

void kernel_add_json(const struct kernel_description *d, bool embedded, struct str *out)
{
    str_add(out, "{");
    add_raw(out, "version", "1");
    add_text(out, "name", d->name);
    add_text(out, "space", d->space);
    add_raw(out, "settings", d->settings);
    member(out, SESSION);
    str_printf(out, "%" PRId64, d->session);
    member(out, "trial");
    str_printf(out, "%" PRId64, d->trial);
    add_text(out, "title", d->title);
    add_problem(out, d->operation);
    add_raw(out, "declared", d->declared);
    add_raw(out, "configuration", d->configuration);
    add_passes(out, d, embedded);
    add_text(out, "dispatch",
             "constant: these kernels are specialised to the sizes of the problem; dispatch the "
             "groups of every pass, in order, with a full barrier between passes");
    add_bindings(out, d);
    add_raw(out, "push_constants", "[]");
    add_timing(out, d);
    if (d->timing.statistics)
        add_raw(out, "statistics", d->timing.statistics);
    add_text(out, "device", d->device);
    add_text(out, "device_type", d->device_type);
    add_text(out, "driver", d->driver);
    add_text(out, DEVICE, d->device_id);
    add_verified(out, d);
    add_text(out, "text_hash", d->text_hash);
    add_text(out, "tilewalk", TILEWALK_VERSION);
    add_text(out, "rights",
             "These files are output of tilewalk's templates. They belong to you: no licence of "
             "tilewalk applies to them.");
    str_add(out, "\n}\n");
}
