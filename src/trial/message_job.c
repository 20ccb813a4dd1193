// Jobs in messages, there and back.
#include "trial/message_reader.h"
#include "trial/message_writer.h"

#include "base/mem.h"

#include <float.h>
#include <stdio.h>

static void add_list(struct json_writer *w, const char *name, const uint8_t *byte, int64_t count)
{
    json_begin_list(w, name);
    for (int64_t i = 0; i < count; i++)
        json_add_int(w, NULL, byte[i]);
    json_end(w);
}

static void add_field(struct json_writer *w, const struct push_field *f)
{
    json_begin_object(w, NULL);
    json_add_int(w, "kind", f->kind);
    json_add_int(w, "bytes", f->bytes);
    json_add_int(w, "at", f->at);
    json_add_int(w, "count", f->count);
    json_add_text(w, "name", f->name);
    json_end(w);
}

static void add_pass(struct json_writer *w, const struct pass *p)
{
    json_begin_object(w, NULL);
    json_begin_list(w, "lines");
    for (int i = 0; i < p->line_count; i++)
        json_add_int(w, NULL, p->line_map[i]);
    json_end(w);
    json_add_axes(w, "groups", p->groups);
    json_add_count(w, "subgroup", p->subgroup);
    json_add_count(w, "once", p->once);
    json_add_text(w, "template", p->template_name ? p->template_name : "");
    json_add_text(w, "space", p->space_name ? p->space_name : "");
    json_add_int(w, "line", p->space_line);
    json_add_text(w, "glsl", p->glsl);
    json_begin_list(w, "constants"); // id, whether it is a bool, value
    for (int i = 0; i < p->constant_count; i++) {
        json_add_count(w, NULL, p->constant[i].id);
        json_add_int(w, NULL, p->constant[i].is_bool);
        json_add_real(w, NULL, p->constant[i].value);
    }
    json_end(w);
    add_list(w, "push", p->push, p->push_bytes);
    json_begin_list(w, "fields");
    for (int i = 0; i < p->field_count; i++)
        add_field(w, &p->field[i]);
    json_end(w);
    add_list(w, "bindings", p->binding, p->binding_count);
    json_end(w);
}

void message_add_job(struct json_writer *w, const char *name, const struct job *job)
{
    json_begin_object(w, name);
    json_add_count(w, "scratch_bytes", job->scratch_bytes);
    json_begin_list(w, "passes");
    for (int p = 0; p < job->pass_count; p++)
        add_pass(w, &job->pass[p]);
    json_end(w);
    json_end(w);
}

// --- and back ---

static void read_constants(struct reader *r, struct json o, struct pass *p)
{
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
}

static void read_fields(struct reader *r, struct json o, struct pass *p)
{
    for (struct json_walk w = reader_list(r, o, "fields"); json_next(&w);) {
        if (p->field_count == JOB_MAX_FIELDS) {
            reader_refuse(r, "fields");
            return;
        }
        struct push_field *f = &p->field[p->field_count++];
        f->kind = (uint8_t)reader_number(r, w.value, "kind", 0, PUSH_WHOLE);
        f->bytes = (uint8_t)reader_number(r, w.value, "bytes", 1, 8);
        f->at = (uint16_t)reader_number(r, w.value, "at", 0, JOB_MAX_PUSH);
        f->count = (uint16_t)reader_number(r, w.value, "count", 0, JOB_MAX_PUSH);
        snprintf(f->name, sizeof f->name, "%s", reader_text(r, w.value, "name"));
    }
}

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
    reader_three(r, o, "groups", p->groups);
    p->subgroup = (uint32_t)reader_number(r, o, "subgroup", 0, UINT32_MAX);
    p->once = reader_number(r, o, "once", 0, 1) > 0;
    read_constants(r, o, p);
    p->push_bytes = (uint32_t)reader_small(r, o, "push", JOB_MAX_PUSH, p->push);
    read_fields(r, o, p);
    p->binding_count = reader_small(r, o, "bindings", JOB_MAX_BINDINGS, p->binding);
}

void reader_job(struct reader *r, struct json o, struct job *out)
{
    out->scratch_bytes = reader_count(r, o, "scratch_bytes");
    for (struct json_walk w = reader_list(r, o, "passes"); json_next(&w);) {
        if (out->pass_count < JOB_MAX_PASSES)
            read_pass(r, w.value, job_add_pass(out));
        else
            r->bad = "passes";
    }
}
