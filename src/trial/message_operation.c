// Operations in messages: the built-in ones by their sizes and choices, one of a space file whole.

#include "base/mem.h"
#include "base/str.h"
#include "define/definition.h"
#include "space/custom_operation.h"
#include "trial/message_read.h"
#include "trial/message_writer.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

// Jobs in messages, there and back.

static void add_list(struct json_writer *w, const char *name, const uint8_t *byte, int64_t count)
{
    json_begin_list(w, name);
    for (int64_t i = 0; i < count; i++)
        json_add_int(w, NULL, byte[i]);
    json_end(w);
}

void message_add_job(struct json_writer *w, const char *name, const struct job *job)
{
    json_begin_object(w, name);
    json_add_count(w, "scratch_bytes", job->scratch_bytes);
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

// --- and back ---

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
    const struct operation_kind *kind = operation_kind_find(reader_text(r, o, "operation"));
    reader_array(r, o, "size", OPERATION_MAX_SIZES, (struct bounds){0, 0x1p53}, size);
    reader_array(r, o, "choice", OPERATION_MAX_CHOICES, (struct bounds){0, 1000}, choice);
    reader_array(r, o, "real", OPERATION_MAX_REALS, (struct bounds){-DBL_MAX, DBL_MAX}, real);
    if (!kind) {
        reader_refuse(r, "operation");
        return;
    }
    if (!choices_fit(kind, choice)) {
        reader_refuse(r, "choice");
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

// What it reads and writes are the buffers.
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

static struct custom_operation *read_custom(struct reader *r, struct json o)
{
    double tolerance[4] = {0}, unused_flop = 1;
    struct custom_operation *c = custom_create(reader_text(r, o, "name"), unused_flop, NULL);
    reader_array(r, o, "tolerance", 4, (struct bounds){0, DBL_MAX}, tolerance);
    c->absolute = tolerance[0];
    c->relative = tolerance[1];
    c->nmse = tolerance[2];
    c->exact = tolerance[3] != 0;
    for (struct json_walk w = reader_list(r, o, "buffers"); json_next(&w);)
        read_buffer(r, w.value, c);
    for (struct json_walk w = reader_list(r, o, "steps"); json_next(&w);)
        read_step(r, w.value, c);
    if (!r->bad && c->tensor_count == 0)
        r->bad = "buffers";
    if (!r->bad && json_member(o, "definition").at) {
        const char *text = reader_text(r, o, "definition");
        if (r->bad || !definition_fits(text, c))
            reader_refuse(r, "definition");
        else
            c->definition = arena_strdup(&c->arena, text);
    }
    return c;
}

void reader_operation(struct reader *r, struct json o, struct operation *out,
                      struct custom_operation **custom)
{
    if (!json_member(o, "custom").at) {
        read_operation(r, o, out);
        return;
    }
    *custom = read_custom(r, reader_member(r, o, "custom", JSON_OBJECT));
    operation_init(out, &(*custom)->kind);
}
