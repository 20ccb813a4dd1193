// Bindings of a shader become lines of a space file.
#include "script/scaffold_buffers.h"
#include "script/scaffold_words.h"

#include "space/image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void scaffold_add_name(const char *name, struct str *out)
{
    str_printf(out, "%s%.60s", scaffold_is_lua_word(name) ? "my_" : "", name);
}

// --- images ---

// Returns the shape at the end of a type, "2DArray"; NULL: it is no image or texel buffer that can
// be bound.
static const char *shape_of(const char *type)
{
    static const char *const kinds[] = {"image", "sampler", "texture"};
    static const char *const shapes[] = {"2D", "3D", "2DArray", "Buffer"};
    type += *type == 'i' && type[1] != 'm' ? 1 : *type == 'u';
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++)
            if (str_starts(type, kinds[k]) && str_equal(type + strlen(kinds[k]), shapes[n]))
                return shapes[n];
    return NULL;
}

bool scaffold_is_image(const char *type)
{
    return shape_of(type);
}

// Returns the format of an image: the shader's, else one of 32 bits.
static enum texel_format format_of(const struct scaffold_buffer *b)
{
    enum texel_format f = b->format ? texel_format_named(b->format) : TEXEL_COUNT;
    if (f != TEXEL_COUNT)
        return f;
    return *b->image == 'u'                         ? TEXEL_rgba32ui
           : *b->image == 'i' && b->image[1] != 'm' ? TEXEL_rgba32i
                                                    : TEXEL_rgba32f;
}

static int channels_of(const struct scaffold_buffer *b)
{
    bool is_wide = b->image ? str_starts(texel_traits[format_of(b)].name, "rgba")
                            : scaffold_type_of(b->type).count > 1;
    return is_wide ? 4 : 1;
}

// Returns the type of the elements; those of an image are its channels.
static const char *element_of(const struct scaffold_buffer *b)
{
    static const char *const types[TEXEL_COUNT] = {
        [TEXEL_r32f] = "f32",    [TEXEL_rgba32f] = "f32",  [TEXEL_r16f] = "f16",
        [TEXEL_rgba16f] = "f16", [TEXEL_r32i] = "i32",     [TEXEL_r32ui] = "u32",
        [TEXEL_rgba32i] = "i32", [TEXEL_rgba32ui] = "u32", [TEXEL_rgba8] = "u8",
        [TEXEL_rgba8i] = "i8",   [TEXEL_rgba8ui] = "u8"};
    return b->image ? types[format_of(b)] : scaffold_type_of(b->type).name;
}

// --- buffers ---

static void add_number(const struct scaffold *o, struct scaffold_buffers *b, int64_t set,
                       int64_t binding)
{
    for (int i = 0; i < o->buffer_count && b->count < SCAFFOLD_MOST_BUFFERS; i++) {
        const struct scaffold_buffer *one = &o->buffer[i];
        bool is_plain = !one->where && !one->by_address && strlen(one->name) <= 60;
        if (!is_plain || one->set != set || one->binding != binding)
            continue;
        for (int64_t k = 0; k < one->count && b->count < SCAFFOLD_MOST_BUFFERS; k++)
            b->at[b->count++] = one;
        return;
    }
}

const struct scaffold_buffer *scaffold_addressed_by(const struct scaffold *o,
                                                    const struct scaffold_field *f)
{
    for (int i = 0; i < o->buffer_count && f->block < 0 && !f->where; i++)
        if (o->buffer[i].by_address && str_equal(o->buffer[i].name, f->type))
            return &o->buffer[i];
    return NULL;
}

void scaffold_find_buffers(const struct scaffold *o, struct scaffold_buffers *b)
{
    enum { MOST_SET = 8, MOST_BINDING = 64 };
    bool is_any_written = false;
    int last = -1;
    *b = (struct scaffold_buffers){.channels = 1};
    for (int set = 0; set < MOST_SET; set++)
        for (int binding = 0; binding < MOST_BINDING; binding++)
            add_number(o, b, set, binding);
    // Addresses are given first among the push constants.
    for (int i = 0; i < o->field_count && b->count < SCAFFOLD_MOST_BUFFERS; i++) {
        const struct scaffold_buffer *one = scaffold_addressed_by(o, &o->field[i]);
        if (!one && o->field[i].block < 0 && !o->field[i].where)
            break;
        if (one)
            b->at[b->count + b->addressed++] = one;
        if (b->count + b->addressed == SCAFFOLD_MOST_BUFFERS)
            break;
    }
    b->count += b->addressed;
    for (int i = 0; i < b->count; i++) {
        b->is_output[i] =
            b->at[i]->is_write_only || (b->at[i]->is_written && !b->at[i]->is_read_only);
        is_any_written = is_any_written || b->is_output[i];
        last = b->at[i]->is_read_only ? last : i;
        b->channels = channels_of(b->at[i]) > b->channels ? channels_of(b->at[i]) : b->channels;
    }
    if (!is_any_written && last >= 0)
        b->is_output[last] = true; // its macros write it
}

// Appends the name of a buffer. Blocks of several bindings may share a name.
static void add_buffer(const struct scaffold_buffers *b, int i, struct str *out)
{
    bool is_taken = false;
    if (b->named[i]) {
        str_add(out, b->named[i]);
        return;
    }
    for (int k = 0; k < i; k++)
        is_taken = is_taken || str_equal(b->at[k]->name, b->at[i]->name);
    scaffold_add_name(b->at[i]->name, out);
    if (is_taken)
        str_printf(out, "_%d", i);
}

void scaffold_name_buffers(const struct scaffold_use *use, struct scaffold_buffers *b)
{
    int inputs = 0, outputs = 0;
    for (int i = 0; i < b->count; i++) {
        int most = b->is_output[i] ? use->outputs : use->inputs;
        int *next = b->is_output[i] ? &outputs : &inputs, first = b->is_output[i] ? use->inputs : 0;
        if (most)
            b->named[i] = use->buffer[first + (*next < most ? *next : most - 1)];
        ++*next;
    }
}

static int count_outputs(const struct scaffold_buffers *b)
{
    int count = 0;
    for (int i = 0; i < b->count; i++)
        count += b->is_output[i];
    return count;
}

// Returns an input to copy to an output, of the same type; -1: there is none.
static int source_of(const struct scaffold_buffers *b, int output)
{
    for (int i = b->count - 1; i >= 0; i--)
        if (!b->is_output[i] && str_equal(element_of(b->at[i]), element_of(b->at[output])))
            return i;
    return -1;
}

// Appends the name of what an output is copied from. Without an input of its type it is one more,
// which the shader does not have.
static void add_source(const struct scaffold_buffers *b, int output, struct str *out)
{
    int from = source_of(b, output);
    add_buffer(b, from >= 0 ? from : output, out);
    str_add(out, from >= 0 ? "" : "_0");
}

// Appends { "A", N }, the type behind it where it is not f32.
static void add_tensor(const struct scaffold_buffers *b, int i, const char *suffix, struct str *out)
{
    const char *element = element_of(b->at[i]);
    str_add(out, out->length ? ",\n             { \"" : "{ \"");
    add_buffer(b, i, out);
    str_printf(out, "%s\", %sN", suffix, b->channels > 1 ? "4 * " : "");
    if (!str_equal(element, "f32"))
        str_printf(out, ", type = \"%s\"", element);
    str_add(out, " }");
}

void scaffold_add_operator(const struct scaffold_buffers *b, struct str *out)
{
    struct str inputs = {0}, outputs = {0}, steps = {0};
    for (int i = 0; i < b->count; i++)
        if (!b->is_output[i])
            add_tensor(b, i, "", &inputs);
    for (int i = 0; i < b->count; i++) {
        if (!b->is_output[i])
            continue;
        add_tensor(b, i, "", &outputs);
        if (source_of(b, i) < 0)
            add_tensor(b, i, "_0", &inputs);
        str_add(&steps, steps.length ? ",\n                { \"copy\", \"" : "{ \"copy\", \"");
        add_source(b, i, &steps);
        str_add(&steps, "\", \"");
        add_buffer(b, i, &steps);
        str_printf(&steps, "\", rows = %sN, columns = 1 }", b->channels > 1 ? "4 * " : "");
    }
    if (!steps.length) { // it has no buffers that are known
        str_add(&inputs, "{ \"INPUT\", N }");
        str_add(&outputs, "{ \"OUTPUT\", N }");
        str_add(&steps, "{ \"copy\", \"INPUT\", \"OUTPUT\", rows = N, columns = 1 }");
    }
    str_add(out,
            "-- TODO what it computes, and of which sizes: an operator (operator.matmul { ... }), "
            "or steps here;\n-- inputs and outputs are what its code reads and writes\n"
            "local N = size(\"N\", 1024)\n\noperator.define {\n"
            "  name = \"shader\",\n  flop = N,\n");
    str_printf(out, "  inputs = { %s },\n", str_text(&inputs));
    str_printf(out, count_outputs(b) > 1 ? "  outputs = { %s },\n" : "  output = %s,\n",
               str_text(&outputs));
    str_printf(out, "  reference = { %s },\n}\n", str_text(&steps));
    str_finish(&inputs);
    str_finish(&outputs);
    str_finish(&steps);
}

const struct scaffold_block *scaffold_block_at(const struct scaffold *o, int64_t set,
                                               int64_t binding)
{
    for (int i = 0; i < o->block_count; i++)
        if (!o->block[i].where && o->block[i].set == set && o->block[i].binding == binding)
            return &o->block[i];
    return NULL;
}

// Appends what the bindings of a descriptor set are, from 0 on: names of buffers, functions of
// uniform blocks. What lies between is not used: any buffer will do. False: there are none.
static bool add_set(const struct scaffold *o, const struct scaffold_buffers *b, int64_t set,
                    struct str *out)
{
    int bound = b->count - b->addressed;
    int64_t last = -1;
    for (int i = 0; i < bound; i++)
        last = b->at[i]->set == set && b->at[i]->binding > last ? b->at[i]->binding : last;
    for (int i = 0; i < o->block_count; i++)
        if (scaffold_block_at(o, set, o->block[i].binding) == &o->block[i] &&
            o->block[i].binding > last)
            last = o->block[i].binding;
    for (int64_t binding = 0; binding <= last; binding++) {
        const struct scaffold_block *block = scaffold_block_at(o, set, binding);
        int i = 0;
        str_add(out, binding ? ", " : "");
        while (i < bound && (b->at[i]->set != set || b->at[i]->binding != binding))
            i++;
        if (block) {
            str_printf(out, "uniform_%.60s", block->name);
            continue;
        }
        int64_t length = i < bound ? b->at[i]->count : 1;
        str_add(out, length > 1 ? "{ " : "");
        for (int64_t k = 0; k < length && (i == bound || i + k < bound); k++) {
            str_add(out, k ? "\", \"" : "\"");
            if (b->count)
                add_buffer(b, i < bound ? i + (int)k : 0, out);
            else
                str_add(out, "INPUT");
        }
        str_add(out, length > 1 ? "\" }" : "\"");
    }
    return last >= 0;
}

// Appends the forms of images and texel buffers. Their sizes are the operator's business.
static void add_images(const struct scaffold_buffers *b, struct str *out)
{
    bool is_like = b->count && b->named[0], has_any = false;
    struct str names = {0};
    for (int i = 0; i < b->count; i++) {
        const struct scaffold_buffer *one = b->at[i];
        const char *shape = one->image ? shape_of(one->image) : "Buffer";
        struct str name = {0}, quoted = {0};
        add_buffer(b, i, &name);
        str_printf(&quoted, " %s ", str_text(&name));
        if (one->image && !strstr(str_text(&names), str_text(&quoted))) {
            str_add(&names, str_text(&quoted));
            if (!has_any)
                str_printf(out, "  image = {%s\n",
                           is_like ? " -- TODO how large its images are" : "");
            str_printf(out, "    %s = { format = \"%s\"", str_text(&name),
                       texel_traits[format_of(one)].name);
            if (!str_equal(shape, "Buffer"))
                str_printf(out, ", width = %s, height = %d", is_like ? "1024" : "N",
                           b->channels / channels_of(one));
            str_add(out, str_equal(shape, "3D")        ? ", depth = 1 },\n"
                         : str_equal(shape, "2DArray") ? ", layers = 1 },\n"
                                                       : " },\n");
            has_any = true;
        }
        str_finish(&name);
        str_finish(&quoted);
    }
    str_finish(&names);
    str_add(out, has_any ? "  },\n" : "");
}

void scaffold_add_bindings(const struct scaffold *o, const struct scaffold_buffers *b,
                           struct str *out)
{
    enum { MOST_SET = 8 };
    struct str sets = {0}, list = {0};
    int bound = b->count - b->addressed;
    if (add_set(o, b, 0, &list)) {
        str_printf(out, "  bindings = { %s },", str_text(&list));
        for (int i = 0, more = 0; i < bound; i++)
            if (b->at[i]->set == 0)
                str_printf(out, "%s%.40s", more++ ? ", " : " -- of ", b->at[i]->type);
        str_add(out, "\n");
    }
    str_finish(&list);
    for (int set = 1; set < MOST_SET; set++) {
        struct str one = {0};
        if (add_set(o, b, set, &one))
            str_printf(&sets, "%s[%d] = { %s }", sets.length ? ", " : "", set, str_text(&one));
        str_finish(&one);
    }
    if (sets.length)
        str_printf(out, "  sets = { %s },\n", str_text(&sets));
    str_finish(&sets);
    add_images(b, out);
    for (int i = bound; i < b->count; i++) {
        str_add(out, i == bound ? "  address = { \"" : ", \"");
        add_buffer(b, i, out);
        str_add(out, i + 1 < b->count ? "\"" : "\" },\n");
    }
    for (int i = 0; i < b->count; i++)
        if (b->is_output[i] && b->at[i]->is_read) {
            str_add(out, "  -- it reads ");
            add_buffer(b, i, out);
            str_add(out, " too: inout = { ");
            add_buffer(b, i, out);
            str_add(out, " = \"");
            add_source(b, i, out);
            str_add(out, "\" }, or zeroed = { \"");
            add_buffer(b, i, out);
            str_add(out, "\" }\n");
        }
}
