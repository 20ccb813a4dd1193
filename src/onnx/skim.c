#include "onnx/skim.h"

#include "base/mem.h"
#include "onnx/wire.h"

#include <stdlib.h>

// The messages that are walked through; onnx.proto names and numbers their fields.
enum message { PLAIN, MODEL, GRAPH, NODE, ATTRIBUTE, VALUE_INFO, TYPE, NAME };

enum {
    MODEL_GRAPH = 7,
    GRAPH_CONSTANT = 5,
    GRAPH_SPARSE = 15,
    ATTRIBUTE_STRINGS = 9,
    TENSOR_FLOATS = 4,
    TENSOR_RAW = 9
};
enum { MOST_NESTED = 32 };

struct rule {
    enum message in;
    uint32_t field;
    enum message is; // PLAIN: it is left out
};

// Fields of other messages, and others of these, are kept as they are.
static const struct rule rules[] = {
    {MODEL, MODEL_GRAPH, GRAPH},
    {MODEL, 14, PLAIN}, // metadata
    {MODEL, 20, PLAIN}, // training
    {MODEL, 25, PLAIN}, // functions
    {GRAPH, 1, NODE},
    {GRAPH, 11, VALUE_INFO},
    {GRAPH, 12, VALUE_INFO},
    {GRAPH, 13, VALUE_INFO},
    {GRAPH, 14, PLAIN}, // quantization
    {GRAPH, GRAPH_SPARSE, PLAIN},
    {NODE, 5, ATTRIBUTE},
    {ATTRIBUTE, 6, GRAPH},  // of a graph in a node only the names that it reads are kept
    {ATTRIBUTE, 11, GRAPH}, // graphs
    {ATTRIBUTE, 14, PLAIN}, // types
    {ATTRIBUTE, 15, PLAIN},
    {ATTRIBUTE, 22, PLAIN}, // sparse tensors
    {ATTRIBUTE, 23, PLAIN},
    {VALUE_INFO, 2, TYPE},
    {TYPE, 4, PLAIN}, // a sequence
    {TYPE, 5, PLAIN}, // a map
    {TYPE, 8, PLAIN}, // sparse
    {TYPE, 9, PLAIN}, // optional
};

// Where the names are that a graph inside of a node reads: of its nodes, and of what it gives.
static const struct rule reading[] = {
    {GRAPH, 1, NODE},      {GRAPH, 12, VALUE_INFO}, {NODE, 1, NAME},       {NODE, 5, ATTRIBUTE},
    {ATTRIBUTE, 6, GRAPH}, {ATTRIBUTE, 11, GRAPH},  {VALUE_INFO, 1, NAME},
};

static const struct rule *rule_of(enum message in, uint32_t field)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].in == in && rules[i].field == field)
            return &rules[i];
    return NULL;
}

static void add_varint(struct str *s, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        str_add_char(s, (char)(0x80 | (value & 0x7f)));
    str_add_char(s, (char)value);
}

static void add_whole(struct str *s, const struct wire_walk *w)
{
    str_add_bytes(s, w->whole, (size_t)(w->at - w->whole));
}

static bool filter(struct skim *s, enum message kind, const unsigned char *bytes, size_t length,
                   struct str *out);

static void add_field(struct str *s, uint32_t field, const void *bytes, size_t length)
{
    add_varint(s, (uint64_t)field << 3 | WIRE_BYTES);
    add_varint(s, length);
    str_add_bytes(s, bytes, length);
}

// The names that a message of a graph inside of a node reads, as an attribute's strings.
static bool add_reads(enum message kind, const unsigned char *bytes, size_t length, int depth,
                      struct str *out)
{
    struct wire_walk w = wire_walk_begin(bytes, length);
    if (kind == NAME)
        add_field(out, ATTRIBUTE_STRINGS, bytes, length);
    while (kind != NAME && wire_next(&w))
        for (size_t i = 0; i < sizeof reading / sizeof *reading; i++)
            if (reading[i].in == kind && reading[i].field == w.field &&
                (w.kind != WIRE_BYTES || depth == MOST_NESTED ||
                 !add_reads(reading[i].is, w.data, w.length, depth + (kind == GRAPH), out)))
                return false;
    return !w.is_broken;
}

static bool filter_field(struct skim *s, enum message in, const struct rule *r,
                         const struct wire_walk *w, struct str *out)
{
    s->has_sparse |= in == GRAPH && w->field == GRAPH_SPARSE;
    if (r->is == PLAIN)
        return true;
    if (w->kind != WIRE_BYTES)
        return false;
    if (in == ATTRIBUTE)
        return add_reads(GRAPH, w->data, w->length, 0, out);
    if (r->is == GRAPH) // of which there is one: a later one adds to it
        return filter(s, GRAPH, w->data, w->length, &s->graph);
    struct str inner = {0};
    bool ok = filter(s, r->is, w->data, w->length, &inner);
    add_field(out, w->field, str_text(&inner), inner.length);
    str_finish(&inner);
    return ok;
}

static bool add_constant(struct skim *s, const struct wire_walk *w)
{
    MEM_GROW(s->constant, s->constant_count, s->constant_capacity);
    struct skim_constant *c = &s->constant[s->constant_count++];
    *c = (struct skim_constant){0};
    return w->kind == WIRE_BYTES && skim_tensor(w->data, w->length, c);
}

// As deep as `rules` is, which is no circle.
static bool filter(struct skim *s, enum message kind, const unsigned char *bytes, size_t length,
                   struct str *out)
{
    struct wire_walk w = wire_walk_begin(bytes, length);
    bool ok = true;
    while (ok && wire_next(&w)) {
        const struct rule *r = rule_of(kind, w.field);
        if (kind == GRAPH && w.field == GRAPH_CONSTANT)
            ok = add_constant(s, &w);
        else if (r)
            ok = filter_field(s, kind, r, &w, out);
        else
            add_whole(out, &w);
    }
    return ok && !w.is_broken;
}

bool skim_model(const unsigned char *bytes, size_t length, struct skim *out)
{
    *out = (struct skim){0};
    return filter(out, MODEL, bytes, length, &out->model);
}

static int count_lists(const unsigned char *bytes, size_t length)
{
    struct wire_walk w = wire_walk_begin(bytes, length);
    int count = 0;
    while (wire_next(&w))
        count += w.field == TENSOR_FLOATS;
    return count;
}

bool skim_tensor(const unsigned char *bytes, size_t length, struct skim_constant *out)
{
    bool is_list = count_lists(bytes, length) == 1;
    struct wire_walk w = wire_walk_begin(bytes, length);
    while (wire_next(&w)) {
        if (w.field == TENSOR_RAW && w.kind == WIRE_BYTES)
            out->raw = (struct skim_slice){w.data, w.length};
        else if (is_list && w.field == TENSOR_FLOATS && w.kind == WIRE_BYTES)
            out->list = (struct skim_slice){w.data, w.length};
        else
            add_whole(&out->rest, &w);
    }
    return !w.is_broken;
}

void skim_finish(struct skim *s)
{
    for (int i = 0; i < s->constant_count; i++)
        str_finish(&s->constant[i].rest);
    free(s->constant);
    str_finish(&s->model);
    str_finish(&s->graph);
    *s = (struct skim){0};
}
