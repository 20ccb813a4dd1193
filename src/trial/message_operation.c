// Operations in messages: the built-in ones by their sizes and choices, one of a space file whole.
#include "trial/message_reader.h"

#include "base/str.h"
#include "define/definition.h"
#include "space/custom_operation.h"

#include <float.h>
#include <string.h>

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

static struct block_format read_block(struct reader *r, struct json o)
{
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
    return f;
}

static void read_buffer(struct reader *r, struct json o, struct custom_operation *c)
{
    double size[TENSOR_MAX_RANK] = {0}, fill[3] = {0};
    struct custom_filling filling = {.low = 0};
    const char *element = reader_text(r, o, "element");
    struct tensor t = {.name = reader_text(r, o, "name"), .element = ELEMENT_COUNT};
    t.rank = reader_array(r, o, "size", TENSOR_MAX_RANK, (struct bounds){1, INT32_MAX}, size);
    reader_array(r, o, "fill", 3, (struct bounds){-DBL_MAX, DBL_MAX}, fill);
    if (json_member(o, "block").at)
        filling.block = read_block(r, o);
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

static void read_definition(struct reader *r, struct json o, struct custom_operation *c)
{
    const char *text = reader_text(r, o, "definition");
    if (r->bad || !definition_fits(text, c))
        reader_refuse(r, "definition");
    else
        c->definition = arena_strdup(&c->arena, text);
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
    if (!r->bad && json_member(o, "definition").at)
        read_definition(r, o, c);
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
