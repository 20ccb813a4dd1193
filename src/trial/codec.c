#include "trial/codec.h"

#include "base/mem.h"
#include "base/str.h"
#include "define/definition.h"

#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

void codec_refuse(struct codec *c, const char *name)
{
    if (!c->bad)
        c->bad = name;
}

struct json codec_read(struct codec *c, const char *name, enum json_type type)
{
    struct json v = json_member(c->object, name);
    if (json_type(v) == type)
        return v;
    codec_refuse(c, name);
    return (struct json){0};
}

static const char *read_text(struct codec *c, const char *name)
{
    const char *text = json_text_exact(codec_read(c, name, JSON_TEXT), &c->arena);
    return text ? text : "";
}

static double read_number(struct codec *c, const char *name, double low, double high)
{
    double value;
    if (json_number(json_member(c->object, name), &value) && value >= low && value <= high)
        return value;
    codec_refuse(c, name);
    return low;
}

int64_t codec_int(struct codec *c, const char *name, int64_t value, double low, double high)
{
    if (!c->w)
        return (int64_t)read_number(c, name, low, high);
    json_add_int(c->w, name, value);
    return value;
}

uint64_t codec_u64(struct codec *c, const char *name, uint64_t value)
{
    if (!c->w) {
        double read = read_number(c, name, 0, 0x1p64);
        return read < 0x1p64 ? (uint64_t)read : UINT64_MAX;
    }
    json_add_count(c->w, name, value);
    return value;
}

double codec_real(struct codec *c, const char *name, double value)
{
    if (!c->w)
        return read_number(c, name, 0, 1e9);
    json_add_real(c->w, name, value);
    return value;
}

bool codec_flag(struct codec *c, const char *name, bool value)
{
    if (c->w)
        json_add_flag(c->w, name, value);
    else
        json_flag(codec_read(c, name, JSON_FLAG), &value);
    return value;
}

const char *codec_word(struct codec *c, const char *name, const char *word)
{
    if (!c->w)
        return read_text(c, name);
    json_add_text(c->w, name, word);
    return word;
}

void codec_text(struct codec *c, const char *name, char *text, size_t size)
{
    if (c->w)
        json_add_text(c->w, name, text);
    else
        snprintf(text, size, "%s", read_text(c, name));
}

int codec_reals(struct codec *c, const char *name, double *value, int count, int most,
                struct bounds bounds)
{
    if (c->w) {
        json_add_reals(c->w, name, count, value);
        return count;
    }
    count = 0;
    double read;
    for (struct json_walk w = json_walk(codec_read(c, name, JSON_LIST)); json_next(&w);) {
        if (count == most || !json_number(w.value, &read) || read < bounds.low ||
            read > bounds.high) {
            codec_refuse(c, name);
            return count;
        }
        value[count++] = read;
    }
    return count;
}

// As codec_reals, for at most JOB_MAX_BLOCK small numbers.
static int codec_bytes(struct codec *c, const char *name, uint8_t *byte, int count, int most)
{
    double value[JOB_MAX_BLOCK];
    for (int i = 0; i < count; i++)
        value[i] = byte[i];
    count = codec_reals(c, name, value, count, most, (struct bounds){0, UINT8_MAX});
    for (int i = 0; i < count; i++)
        byte[i] = (uint8_t)value[i];
    return count;
}

// Writes bytes as two hexadecimal digits each.
static void write_hex(struct json_writer *w, const char *name, const void *bytes, size_t count)
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

// Parses whole bytes of two digits each, which are the caller's, on the heap. False for anything
// else.
static bool parse_hex(const char *hex, void **bytes, size_t *count)
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

void codec_kept(struct codec *c, struct gpu_kept *kept)
{
    if (c->w)
        write_hex(c->w, "kept", kept->bytes, kept->size);
    else if (!parse_hex(read_text(c, "kept"), &kept->bytes, &kept->size))
        codec_refuse(c, "kept");
}

void codec_modules(struct codec *c, struct spirv module[JOB_MAX_PASSES], int *count)
{
    void *words;
    size_t bytes;
    if (c->w) {
        json_begin_list(c->w, "modules");
        for (int i = 0; i < *count; i++)
            write_hex(c->w, NULL, module[i].word, module[i].count * sizeof *module[i].word);
        json_end(c->w);
        return;
    }
    for (struct json_walk w = json_walk(codec_read(c, "modules", JSON_LIST)); json_next(&w);) {
        const char *hex = json_text_exact(w.value, &c->arena);
        if (*count == JOB_MAX_PASSES || !hex || !parse_hex(hex, &words, &bytes)) {
            codec_refuse(c, "modules");
            return;
        }
        if (bytes % sizeof(uint32_t))
            codec_refuse(c, "modules");
        module[(*count)++] = (struct spirv){words, bytes / sizeof(uint32_t)};
    }
}

struct elements codec_list(struct codec *c, const char *name)
{
    struct elements l = {.name = name, .index = -1, .outer = c->object};
    if (c->w)
        json_begin_list(c->w, name);
    else
        l.walk = json_walk(codec_read(c, name, JSON_LIST));
    return l;
}

bool codec_next(struct codec *c, struct elements *l, int count, int most)
{
    bool more = ++l->index < count;
    if (c->w) {
        if (l->index > 0)
            json_end(c->w);
        if (more)
            json_begin_object(c->w, NULL);
        else
            json_end(c->w);
        return more;
    }
    more = json_next(&l->walk);
    if (more && l->index == most) {
        codec_refuse(c, l->name);
        more = false;
    }
    c->object = more ? l->walk.value : l->outer;
    return more;
}

struct json codec_begin(struct codec *c, const char *name)
{
    struct json outer = c->object;
    if (c->w)
        json_begin_object(c->w, name);
    else
        c->object = codec_read(c, name, JSON_OBJECT);
    return outer;
}

void codec_end(struct codec *c, struct json outer)
{
    if (c->w)
        json_end(c->w);
    c->object = outer;
}

// --- jobs and operations ---

static void codec_heap_text(struct codec *c, const char *name, char **text)
{
    const char *word = codec_word(c, name, *text ? *text : "");
    if (!c->w)
        *text = mem_strdup(word);
}

static void codec_lines(struct codec *c, struct pass *p)
{
    int capacity = 0;
    if (c->w) {
        json_begin_list(c->w, "lines");
        for (int i = 0; i < p->line_count; i++)
            json_add_int(c->w, NULL, p->line_map[i]);
        json_end(c->w);
        return;
    }
    for (struct json_walk w = json_walk(codec_read(c, "lines", JSON_LIST)); json_next(&w);) {
        double line = 0;
        json_number(w.value, &line);
        MEM_GROW(p->line_map, p->line_count, capacity);
        p->line_map[p->line_count++] = line >= 0 && line <= INT32_MAX ? (int)line : 0;
    }
}

// Each constant is three numbers: id, if it is a bool, value.
static void codec_constants(struct codec *c, struct pass *p)
{
    double value[3 * JOB_MAX_CONSTANTS] = {0};
    for (int i = 0; i < p->constant_count; i++) {
        value[3 * i] = p->constant[i].id;
        value[3 * i + 1] = p->constant[i].is_bool;
        value[3 * i + 2] = p->constant[i].value;
    }
    int count = codec_reals(c, "constants", value, 3 * p->constant_count, 3 * JOB_MAX_CONSTANTS,
                            (struct bounds){-DBL_MAX, DBL_MAX});
    for (int i = 0; !c->w && i + 2 < count; i += 3) {
        if (!(value[i] >= 0 && value[i] <= UINT32_MAX))
            codec_refuse(c, "constants");
        else
            p->constant[p->constant_count++] =
                (struct spec_constant){(uint32_t)value[i], value[i + 1] != 0, value[i + 2]};
    }
}

static void codec_block(struct codec *c, struct job_block *b, int most)
{
    b->bytes = (uint32_t)codec_bytes(c, "bytes", b->byte, (int)b->bytes, most);
    struct elements l = codec_list(c, "fields");
    for (; codec_next(c, &l, b->field_count, JOB_MAX_FIELDS);) {
        struct push_field *f = &b->field[l.index];
        f->kind = (uint8_t)codec_int(c, "kind", f->kind, 0, PUSH_ADDRESS);
        f->bytes = (uint8_t)codec_int(c, "bytes", f->bytes, 1, 8);
        f->at = (uint16_t)codec_int(c, "at", f->at, 0, JOB_MAX_BLOCK);
        f->count = (uint16_t)codec_int(c, "count", f->count, 0, JOB_MAX_BLOCK);
        CODEC_TEXT(c, "name", f->name);
    }
    b->field_count = l.index;
}

static void codec_resources(struct codec *c, struct pass *p)
{
    struct elements l = codec_list(c, "bindings");
    for (; codec_next(c, &l, p->binding_count, JOB_MAX_BINDINGS);) {
        struct job_binding *b = &p->binding[l.index];
        b->set = (uint16_t)codec_int(c, "set", b->set, 0, UINT16_MAX);
        b->binding = (uint16_t)codec_int(c, "binding", b->binding, 0, UINT16_MAX);
        b->buffer = (uint8_t)codec_int(c, "buffer", b->buffer, 0, JOB_MAX_BUFFERS - 1);
        b->element = (uint8_t)codec_int(c, "element", b->element, 0, JOB_MAX_BINDINGS - 1);
    }
    p->binding_count = l.index;
    l = codec_list(c, "uniforms");
    for (; codec_next(c, &l, p->uniform_count, JOB_MAX_UNIFORMS);) {
        struct job_uniform *u = c->w ? &p->uniform[l.index] : pass_add_uniform(p);
        u->set = (uint16_t)codec_int(c, "set", u->set, 0, UINT16_MAX);
        u->binding = (uint16_t)codec_int(c, "binding", u->binding, 0, UINT16_MAX);
        codec_block(c, &u->block, JOB_MAX_BLOCK);
    }
    l = codec_list(c, "images");
    for (; codec_next(c, &l, p->image_count, JOB_MAX_BUFFERS);) {
        struct job_image *m = c->w ? &p->image[l.index] : pass_add_image(p);
        struct image_form *f = &m->form;
        m->buffer = (uint8_t)codec_int(c, "buffer", m->buffer, 0, JOB_MAX_BUFFERS - 1);
        const char *format = codec_word(c, "format", texel_traits[f->format].name);
        if (!c->w && texel_format_named(format) == TEXEL_COUNT)
            codec_refuse(c, "format");
        else if (!c->w)
            f->format = (uint8_t)texel_format_named(format);
        f->shape = (uint8_t)codec_int(c, "shape", f->shape, IMAGE_TEXELS, IMAGE_3D);
        int least = f->shape == IMAGE_TEXELS ? 0 : 1;
        f->width = (uint32_t)codec_int(c, "width", f->width, least, UINT32_MAX);
        f->height = (uint32_t)codec_int(c, "height", f->height, least, UINT32_MAX);
        f->depth = (uint32_t)codec_int(c, "depth", f->depth, least, UINT32_MAX);
    }
}

static void codec_pass(struct codec *c, struct pass *p)
{
    double groups[3] = {p->groups[0], p->groups[1], p->groups[2]};
    codec_lines(c, p);
    if (codec_reals(c, "groups", groups, 3, 3, (struct bounds){0, UINT32_MAX}) != 3)
        codec_refuse(c, "groups");
    for (int i = 0; i < 3; i++)
        p->groups[i] = (uint32_t)groups[i];
    p->subgroup = (uint32_t)codec_int(c, "subgroup", p->subgroup, 0, UINT32_MAX);
    p->once = codec_int(c, "once", p->once, 0, 1) > 0;
    codec_heap_text(c, "template", &p->template_name);
    const char *space = codec_word(c, "space", p->space_name ? p->space_name : "");
    if (!c->w && *space)
        p->space_name = mem_strdup(space);
    p->space_line = (int)codec_int(c, "line", p->space_line, 0, INT32_MAX);
    codec_heap_text(c, "glsl", &p->glsl);
    codec_constants(c, p);
    struct json outer = codec_begin(c, "push");
    codec_block(c, &p->push, JOB_MAX_PUSH);
    codec_end(c, outer);
    p->address_count = codec_bytes(c, "address", p->address, p->address_count, JOB_MAX_BUFFERS);
    for (int i = 0; i < p->address_count; i++)
        if (!c->w && p->address[i] >= JOB_MAX_BUFFERS)
            codec_refuse(c, "address");
    codec_resources(c, p);
    const char *entry = codec_word(c, "entry", p->entry ? p->entry : "");
    if (!c->w && *entry)
        p->entry = mem_strdup(entry);
    double size[3] = {p->local_size[0], p->local_size[1], p->local_size[2]};
    if (codec_reals(c, "local_size", size, 3, 3, (struct bounds){0, UINT32_MAX}) != 3)
        codec_refuse(c, "local_size");
    for (int i = 0; i < 3; i++)
        p->local_size[i] = (uint32_t)size[i];
}

// How the buffers begin: two numbers each, up to the last one that does not begin as poison.
static void codec_begins(struct codec *c, struct job *job)
{
    uint8_t value[2 * JOB_MAX_BUFFERS] = {0};
    int count = 0;
    for (int i = 0; i < JOB_MAX_BUFFERS; i++) {
        value[2 * i] = job->begin[i].how;
        value[2 * i + 1] = job->begin[i].from;
        count = job->begin[i].how != BEGIN_POISON ? 2 * i + 2 : count;
    }
    count = codec_bytes(c, "begin", value, count, 2 * JOB_MAX_BUFFERS);
    for (int i = 0; !c->w && i + 1 < count; i += 2) {
        if (value[i] > BEGIN_KEPT || value[i + 1] >= JOB_MAX_BUFFERS)
            codec_refuse(c, "begin");
        job->begin[i / 2].how = value[i];
        job->begin[i / 2].from = value[i + 1];
    }
}

void codec_job(struct codec *c, struct job *job)
{
    job->scratch_bytes = codec_u64(c, "scratch_bytes", job->scratch_bytes);
    // It is left out where it is not known, as older programs do.
    if (c->w ? job->spirv_minor > 0 : json_member(c->object, "spirv_minor").at != NULL)
        job->spirv_minor = (uint32_t)codec_int(c, "spirv_minor", job->spirv_minor, 0, UINT8_MAX);
    if (c->w ? job->roles.outputs > 0 : json_member(c->object, "inputs").at != NULL) {
        job->roles.inputs = (int)codec_int(c, "inputs", job->roles.inputs, 0, JOB_MAX_BUFFERS);
        job->roles.outputs = (int)codec_int(c, "outputs", job->roles.outputs, 0, JOB_MAX_BUFFERS);
    }
    codec_begins(c, job);
    struct elements l = codec_list(c, "passes");
    while (codec_next(c, &l, job->pass_count, JOB_MAX_PASSES))
        codec_pass(c, c->w ? &job->pass[l.index] : job_add_pass(job));
}

static void codec_built_in(struct codec *c, struct operation *o)
{
    double size[OPERATION_MAX_SIZES] = {0}, choice[OPERATION_MAX_CHOICES] = {0},
           real[OPERATION_MAX_REALS] = {0};
    if (c->w) {
        for (int i = 0; i < OPERATION_MAX_SIZES; i++)
            size[i] = (double)o->size[i];
        for (int i = 0; i < OPERATION_MAX_CHOICES; i++)
            choice[i] = o->choice[i];
        memcpy(real, o->real, sizeof real);
    }
    const char *name = codec_word(c, "operation", c->w ? o->kind->name : NULL);
    codec_reals(c, "size", size, OPERATION_MAX_SIZES, OPERATION_MAX_SIZES,
                (struct bounds){0, 0x1p53});
    codec_reals(c, "choice", choice, OPERATION_MAX_CHOICES, OPERATION_MAX_CHOICES,
                (struct bounds){0, 1000});
    codec_reals(c, "real", real, OPERATION_MAX_REALS, OPERATION_MAX_REALS,
                (struct bounds){-DBL_MAX, DBL_MAX});
    if (c->w)
        return;
    const struct operation_kind *kind = operation_kind_find(name);
    if (!kind) {
        codec_refuse(c, "operation");
        return;
    }
    const struct operation_choice *k = kind->choices;
    for (int i = 0; i < OPERATION_MAX_CHOICES; i++) {
        int values = 0; // a choice is the index of a value; those past the kind's last are 0
        while (k && k->name && k->values[values])
            values++;
        if (choice[i] != 0 && (int)choice[i] >= values) {
            codec_refuse(c, "choice");
            return;
        }
        k = values ? k + 1 : k;
    }
    operation_init(o, kind);
    for (int i = 0; i < OPERATION_MAX_SIZES; i++)
        o->size[i] = (int64_t)size[i];
    for (int i = 0; i < OPERATION_MAX_CHOICES; i++)
        o->choice[i] = (int)choice[i];
    memcpy(o->real, real, sizeof o->real);
}

static void write_custom(struct json_writer *w, const struct custom_operation *c)
{
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
        struct operation o = step->operation;
        json_begin_object(w, NULL);
        json_begin_list(w, "buffers");
        for (int k = 0; k < step->count; k++)
            json_add_text(w, NULL, c->buffer[step->buffer[k]].name);
        json_end(w);
        if (o.kind) // else it dequantises
            codec_built_in(&(struct codec){.w = w}, &o);
        json_end(w);
    }
    json_end(w);
    if (c->definition)
        json_add_text(w, "definition", c->definition);
    json_add_text(w, "name", c->kind.name);
    json_add_int(w, "outputs", c->tensor_count - custom_inputs(c));
    json_add_reals(w, "tolerance", 4, (double[]){c->absolute, c->relative, c->nmse, c->exact});
    json_end(w);
}

static void read_buffer(struct codec *c, struct custom_operation *out)
{
    double size[TENSOR_MAX_RANK] = {0}, fill[3] = {0};
    struct custom_filling filling = {.low = 0};
    const char *element = read_text(c, "element");
    struct tensor t = {.name = read_text(c, "name"), .element = ELEMENT_COUNT};
    t.rank = codec_reals(c, "size", size, 0, TENSOR_MAX_RANK, (struct bounds){1, INT32_MAX});
    codec_reals(c, "fill", fill, 0, 3, (struct bounds){-DBL_MAX, DBL_MAX});
    if (json_member(c->object, "block").at) {
        double n[BLOCK_NUMBERS] = {0};
        codec_reals(c, "block", n, 0, BLOCK_NUMBERS, (struct bounds){0, INT32_MAX});
        struct block_format f = {.kind = (enum block_kind)n[0],
                                 .weights = (int)n[1],
                                 .scale = (enum element)n[2],
                                 .has_min = n[3] != 0,
                                 .bits = (int)n[4],
                                 .is_signed = n[5] != 0,
                                 .zero = (int)n[6],
                                 .pairs = n[7] != 0};
        if (!block_format_valid(&f))
            codec_refuse(c, "block");
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
    if (c->bad || t.element == ELEMENT_COUNT || t.rank < 1 ||
        !custom_add_tensor(out, &t, &filling, NULL))
        codec_refuse(c, "buffers");
}

static void read_step(struct codec *c, struct custom_operation *out)
{
    const char *names[OPERATION_MAX_TENSORS];
    struct operation operation;
    int count = 0;
    bool dequantizes = !json_member(c->object, "operation").at;
    if (!dequantizes)
        codec_built_in(c, &operation);
    for (struct json_walk w = json_walk(codec_read(c, "buffers", JSON_LIST)); json_next(&w);) {
        const char *name = json_text_exact(w.value, &c->arena);
        if (count < OPERATION_MAX_TENSORS && name)
            names[count++] = name;
        else
            codec_refuse(c, "buffers");
    }
    if (c->bad)
        return;
    if (dequantizes ? count != 2 || !custom_add_dequantize(out, names[0], names[1], NULL)
                    : !custom_add_step(out, &operation, names, count, NULL))
        c->bad = "steps";
}

// Returns true where the buffers are what the definition reads and writes.
static bool definition_fits(const char *text, const struct custom_operation *c)
{
    struct definition d = {.stage_count = 0};
    bool fits = definition_read_text(&d, text, NULL) && d.inputs == custom_inputs(c) &&
                d.inputs == c->tensor_count - 1;
    for (int i = 0; fits && i < c->tensor_count; i++) {
        int last = d.stage[d.stage_count - 1].tensor;
        const struct define_tensor *t = &d.tensor[i < d.inputs ? i : last];
        fits = t->element == c->buffer[i].element &&
               define_tensor_count(t) == tensor_count(&c->buffer[i]);
    }
    definition_finish(&d);
    return fits;
}

// Reads the operation of a space file. It is the caller's, also where it is bad.
static struct custom_operation *read_custom(struct codec *c)
{
    double tolerance[4] = {0}, unused_flop = 1;
    struct json outer = codec_begin(c, "custom");
    struct custom_operation *out = custom_create(read_text(c, "name"), unused_flop, NULL);
    codec_reals(c, "tolerance", tolerance, 0, 4, (struct bounds){0, DBL_MAX});
    out->absolute = tolerance[0];
    out->relative = tolerance[1];
    out->nmse = tolerance[2];
    out->exact = tolerance[3] != 0;
    for (struct elements l = codec_list(c, "buffers"); codec_next(c, &l, 0, INT_MAX);)
        read_buffer(c, out);
    out->kind.outputs = (int)codec_int(c, "outputs", 0, 1, OPERATION_MAX_TENSORS);
    if (out->kind.outputs > out->tensor_count)
        codec_refuse(c, "outputs");
    for (struct elements l = codec_list(c, "steps"); codec_next(c, &l, 0, INT_MAX);)
        read_step(c, out);
    if (out->tensor_count == 0)
        codec_refuse(c, "buffers");
    if (!c->bad && json_member(c->object, "definition").at) {
        const char *text = read_text(c, "definition");
        if (c->bad || !definition_fits(text, out))
            codec_refuse(c, "definition");
        else
            out->definition = arena_strdup(&out->arena, text);
    }
    codec_end(c, outer);
    return out;
}

void codec_operation(struct codec *c, struct operation *o, struct custom_operation **custom)
{
    if (c->w && custom_of(o)) {
        write_custom(c->w, custom_of(o));
    } else if (!c->w && json_member(c->object, "custom").at) {
        *custom = read_custom(c);
        operation_init(o, &(*custom)->kind);
    } else {
        codec_built_in(c, o);
    }
}
