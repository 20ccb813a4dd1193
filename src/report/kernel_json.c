// NAME.json of an export: one object, a line for each of its members.
#include "report/kernel_files.h"

#include "base/json.h"
#include "base/json_read.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSION "session"
#define TIMING  "timing"
#define DEVICE  "device_identity"

// The members of the file.
static void begin_member(struct json_writer *w)
{
    json_begin_line(w, 2);
}

static void add_text(struct json_writer *w, const char *name, const char *text)
{
    begin_member(w);
    json_add_text_if_any(w, name, text);
}

static void add_raw(struct json_writer *w, const char *name, const char *json)
{
    begin_member(w);
    json_add_raw(w, name, json);
}

static void add_int(struct json_writer *w, const char *name, int64_t value)
{
    begin_member(w);
    json_add_int(w, name, value);
}

static void add_problem(struct json_writer *w, const struct operation *o)
{
    add_text(w, "operator", o->kind->name);
    begin_member(w);
    json_add_name(w, "problem");
    operation_add_json(o, w->out);
    for (int i = 0; o->kind->choices[i].name; i++) // "type", "layout"
        add_text(w, o->kind->choices[i].name, o->kind->choices[i].values[o->choice[i]]);
}

char *kernel_pass_name(const char *name, int index, const char *suffix)
{
    if (index == 0)
        return mem_printf("%s.%s", name, suffix);
    return mem_printf("%s.pass%d.%s", name, index + 1, suffix);
}

static void add_file_name(struct json_writer *w, const struct kernel_description *d, int pass,
                          const char *key, const char *suffix)
{
    char *name = kernel_pass_name(d->name, pass, suffix);
    json_add_text(w, key, name);
    free(name);
}

static void add_pass(struct json_writer *w, const struct kernel_description *d, int pass,
                     bool embedded)
{
    const struct kernel_pass *p = &d->pass[pass];
    struct str base64 = {0};
    char hash[33];
    uint32_t word;
    hash_hex(p->word, p->word_count * sizeof *p->word, hash);
    json_begin_line(w, 4);
    json_begin_object(w, NULL);
    if (embedded) {
        str_add_base64(&base64, p->word, p->word_count * sizeof *p->word);
        json_add_text(w, "spirv_base64", str_text(&base64));
        str_finish(&base64);
    } else {
        add_file_name(w, d, pass, "glsl", "comp");
        add_file_name(w, d, pass, "spirv", "spv");
    }
    json_add_text(w, "entry", "main");
    json_add_axes(w, "local_size", p->local_size);
    json_add_axes(w, "groups", p->groups);
    if (p->subgroup_size)
        json_add_count(w, "subgroup_size", p->subgroup_size);
    if (p->once)
        json_add_flag(w, "once", true);
    if (p->push_bytes) {
        json_begin_list(w, "push_constants"); // as words
        for (uint32_t at = 0; at < p->push_bytes; at += sizeof word) {
            memcpy(&word, p->push + at, sizeof word);
            json_add_count(w, NULL, word);
        }
        json_end(w);
    }
    json_add_text(w, "hash", hash);
    json_end(w);
}

static void add_passes(struct json_writer *w, const struct kernel_description *d, bool embedded)
{
    begin_member(w);
    json_begin_list(w, "passes");
    for (int i = 0; i < d->pass_count; i++)
        add_pass(w, d, i, embedded);
    begin_member(w);
    json_end(w);
}

static void add_bindings(struct json_writer *w, const struct kernel_description *d)
{
    begin_member(w);
    json_begin_list(w, "bindings");
    for (int i = 0; i < d->binding_count; i++) {
        const struct kernel_binding *b = &d->binding[i];
        json_begin_line(w, 4);
        json_begin_object(w, NULL);
        json_add_int(w, "set", 0);
        json_add_int(w, "binding", i);
        json_add_text(w, "name", b->name);
        json_add_count(w, "bytes", b->bytes);
        json_add_text(w, "access", b->access);
        json_end(w);
    }
    begin_member(w);
    json_end(w);
}

static void add_timing(struct json_writer *w, const struct kernel_description *d)
{
    const struct kernel_timing *t = &d->timing;
    begin_member(w);
    json_begin_object(w, TIMING);
    json_add_real(w, "ms", t->seconds * 1e3);
    json_add_real(w, "tflops", d->flop / t->seconds / 1e12);
    json_add_raw(w, "samples", t->samples ? t->samples : "[]");
    json_add_flag(w, "retimed", t->retimed);
    if (t->cold)
        json_add_flag(w, "cold", true);
    if (t->of_roof > 0) {
        json_add_real(w, "of_roof", t->of_roof);
        json_add_text(w, "roof_by", t->roof_by);
    }
    json_add_text_if_any(w, "source", d->source);
    json_end(w);
}

static void add_verified(struct json_writer *w, const struct kernel_description *d)
{
    begin_member(w);
    json_begin_object(w, "verified");
    if (d->exact_inputs) {
        json_begin_object(w, "exact");
        json_add_text(w, "inputs", d->exact_inputs);
        json_add_text_if_any(w, "against", d->exact_against);
        json_end(w);
    } else {
        json_add_null(w, "exact");
    }
    json_add_flag(w, "random", d->random_checked);
    json_end(w);
}

bool kernel_json_read(const char *json, struct kernel_there *out)
{
    struct json root;
    struct arena a;
    double session, ms;
    json_parse(json, &root);
    if (!json_member(root, DEVICE).at || !json_number(json_member(root, SESSION), &session) ||
        !json_number(json_member(json_member(root, TIMING), "ms"), &ms))
        return false;
    arena_init(&a);
    const char *device = json_text(json_member(root, DEVICE), &a); // or null
    snprintf(out->device, sizeof out->device, "%s", device ? device : "");
    arena_finish(&a);
    out->session = (int64_t)session;
    out->seconds = ms * 1e-3;
    return true;
}

void kernel_add_json(const struct kernel_description *d, bool embedded, struct str *out)
{
    struct json_writer w = json_begin(out);
    w.is_spaced = true;
    add_int(&w, "version", 1);
    add_text(&w, "name", d->name);
    add_text(&w, "space", d->space);
    add_raw(&w, "settings", d->settings);
    add_int(&w, SESSION, d->session);
    add_int(&w, "trial", d->trial);
    add_text(&w, "title", d->title);
    add_problem(&w, d->operation);
    add_raw(&w, "declared", d->declared);
    add_raw(&w, "configuration", d->configuration);
    add_passes(&w, d, embedded);
    add_text(&w, "dispatch",
             "constant: these kernels are specialised to the sizes of the problem; dispatch the "
             "groups of every pass, in order, with a full barrier between passes");
    add_bindings(&w, d);
    add_raw(&w, "push_constants", "[]");
    add_timing(&w, d);
    if (d->baselines)
        add_raw(&w, "baselines", d->baselines);
    if (d->timing.statistics)
        add_raw(&w, "statistics", d->timing.statistics);
    add_text(&w, "device", d->device);
    add_text(&w, "device_type", d->device_type);
    add_text(&w, "driver", d->driver);
    add_text(&w, DEVICE, d->device_id);
    add_verified(&w, d);
    add_text(&w, "text_hash", d->text_hash);
    add_text(&w, "tilewalk", TILEWALK_VERSION);
    add_text(&w, "rights",
             "These files are output of tilewalk's templates. They belong to you: no licence of "
             "tilewalk applies to them.");
    json_begin_line(&w, 0);
    json_end_all(&w);
    str_add_char(out, '\n');
}
