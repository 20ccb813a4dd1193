// Reads ONNX files, which are messages of the published onnx.proto.

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os.h"
#include "base/str.h"
#include "onnx/model.h"

#include <errno.h>
#include <inttypes.h>
#include <onnx.pb-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// --- fields of a message ---

// Walks through the fields of a message of Protocol Buffers without copying them. Large constants
// are left out in this way before the library unpacks the rest.
//
//     struct wire_walk w = wire_walk_begin(bytes, length);
//     while (wire_next(&w)) w.field, w.kind, w.data, w.length ...
//     if (w.is_broken) ...

enum wire_kind { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct wire_walk {
    const unsigned char *at, *end;
    bool is_broken; // no field follows
    // the field that wire_next has found
    uint32_t field;
    enum wire_kind kind;
    const unsigned char *whole; // with its tag; up to `at`
    const unsigned char *data;  // of WIRE_BYTES
    size_t length;
};

enum { MOST_VARINT_BYTES = 10 };

static struct wire_walk wire_walk_begin(const unsigned char *bytes, size_t length)
{
    return (struct wire_walk){.at = bytes, .end = bytes + length};
}

static bool read_varint(struct wire_walk *w, uint64_t *out)
{
    *out = 0;
    for (int i = 0; i < MOST_VARINT_BYTES && w->at < w->end; i++) {
        unsigned char byte = *w->at++;
        *out |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80)
            return true;
    }
    return false;
}

// Returns false at the end and where the message is broken.
static bool wire_next(struct wire_walk *w)
{
    uint64_t tag, value;
    if (w->at == w->end || w->is_broken)
        return false;
    w->whole = w->at;
    w->data = NULL;
    w->length = 0;
    w->is_broken = true;
    if (!read_varint(w, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
        return false;
    w->field = (uint32_t)(tag >> 3);
    w->kind = (enum wire_kind)(tag & 7);
    switch (w->kind) {
    case WIRE_VARINT: w->is_broken = !read_varint(w, &value); return !w->is_broken;
    case WIRE_FIXED64: value = 8; break;
    case WIRE_FIXED32: value = 4; break;
    case WIRE_BYTES:
        if (!read_varint(w, &value))
            return false;
        break;
    default: return false;
    }
    if (value > (uint64_t)(w->end - w->at))
        return false;
    w->data = w->at;
    w->length = (size_t)value;
    w->at += value;
    w->is_broken = false;
    return true;
}

// --- the model without its large parts ---

// Skimming copies a model without the fields that are not needed and without its large constants,
// whose places are noted. The copy is small, and never deeper than the attributes of a graph's
// nodes. A graph inside of a node is replaced by the names that it reads, as strings of the
// attribute.

struct skim_slice {
    const unsigned char *data; // NULL: none
    size_t length;
};

struct skim_constant {
    struct str rest;        // the message without them
    struct skim_slice raw;  // raw_data
    struct skim_slice list; // float_data, when it is one packed list
};

struct skim {
    struct str model, graph; // messages of their own
    struct skim_constant *constant;
    int constant_count, constant_capacity;
    bool has_sparse; // constants, which are left out
};

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

// All other fields are kept as they are.
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

// The fields that lead to the names that a graph inside of a node reads: those of its nodes and of
// its outputs.
static const struct rule reading[] = {
    {GRAPH, 1, NODE},      {GRAPH, 12, VALUE_INFO}, {NODE, 1, NAME},       {NODE, 5, ATTRIBUTE},
    {ATTRIBUTE, 6, GRAPH}, {ATTRIBUTE, 11, GRAPH},  {VALUE_INFO, 1, NAME},
};

static void add_varint(struct str *s, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        str_add_char(s, (char)(0x80 | (value & 0x7f)));
    str_add_char(s, (char)value);
}

static void add_field(struct str *s, uint32_t field, const void *bytes, size_t length)
{
    add_varint(s, (uint64_t)field << 3 | WIRE_BYTES);
    add_varint(s, length);
    str_add_bytes(s, bytes, length);
}

// Adds the names that a message of a graph inside of a node reads, as an attribute's strings.
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

static bool skim_tensor(const unsigned char *bytes, size_t length, struct skim_constant *out)
{
    int lists = 0;
    for (struct wire_walk w = wire_walk_begin(bytes, length); wire_next(&w);)
        lists += w.field == TENSOR_FLOATS;
    struct wire_walk w = wire_walk_begin(bytes, length);
    while (wire_next(&w)) {
        if (w.field == TENSOR_RAW && w.kind == WIRE_BYTES)
            out->raw = (struct skim_slice){w.data, w.length};
        else if (lists == 1 && w.field == TENSOR_FLOATS && w.kind == WIRE_BYTES)
            out->list = (struct skim_slice){w.data, w.length};
        else
            str_add_bytes(&out->rest, w.whole, (size_t)(w.at - w.whole));
    }
    return !w.is_broken;
}

// Copies a message by `rules`, which make no circle, so that the depth is bounded.
static bool filter(struct skim *s, enum message kind, const unsigned char *bytes, size_t length,
                   struct str *out)
{
    struct wire_walk w = wire_walk_begin(bytes, length);
    bool ok = true;
    while (ok && wire_next(&w)) {
        const struct rule *r = NULL;
        for (size_t i = 0; !r && i < sizeof rules / sizeof *rules; i++)
            if (rules[i].in == kind && rules[i].field == w.field)
                r = &rules[i];
        s->has_sparse |= kind == GRAPH && w.field == GRAPH_SPARSE;
        if (kind == GRAPH && w.field == GRAPH_CONSTANT) {
            MEM_GROW(s->constant, s->constant_count, s->constant_capacity);
            struct skim_constant *c = &s->constant[s->constant_count++];
            *c = (struct skim_constant){0};
            ok = w.kind == WIRE_BYTES && skim_tensor(w.data, w.length, c);
        } else if (!r) {
            str_add_bytes(out, w.whole, (size_t)(w.at - w.whole));
        } else if (r->is != PLAIN && w.kind != WIRE_BYTES) {
            ok = false;
        } else if (r->is != PLAIN && kind == ATTRIBUTE) {
            ok = add_reads(GRAPH, w.data, w.length, 0, out);
        } else if (r->is == GRAPH) { // a second graph would add to the first one
            ok = filter(s, GRAPH, w.data, w.length, &s->graph);
        } else if (r->is != PLAIN) {
            struct str inner = {0};
            ok = filter(s, r->is, w.data, w.length, &inner);
            add_field(out, w.field, str_text(&inner), inner.length);
            str_finish(&inner);
        }
    }
    return ok && !w.is_broken;
}

// --- files and memory ---

struct onnx_mapping {
    void *bytes;
    size_t length;
};

struct reading {
    struct onnx_model *out;
    const char *folder;
    struct err *err;
};

static void *keep(struct reading *r, size_t count, size_t size)
{
    return arena_zero(&r->out->arena, count ? count : 1, size);
}

static const char *text(struct reading *r, const char *from)
{
    return from ? arena_strdup(&r->out->arena, from) : "";
}

// `folders` are those that the file may lie in, as os_open_text takes them.
static const unsigned char *map_file(struct reading *r, const char *path,
                                     const char *const *folders, size_t *length)
{
    struct onnx_model *m = r->out;
    struct stat info;
    int fd = os_open_text(path, folders, r->err);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) {
        err_set(r->err, "it is no regular file with content");
        close(fd);
        return NULL;
    }
    *length = (size_t)info.st_size;
    void *bytes = mmap(NULL, *length, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED) {
        err_set(r->err, "it cannot be mapped: %s", strerror(errno));
        return NULL;
    }
    MEM_GROW(m->mapping, m->mapping_count, m->mapping_capacity);
    m->mapping[m->mapping_count++] = (struct onnx_mapping){bytes, *length};
    return bytes;
}

// --- constants ---

static bool read_shape(struct reading *r, const Onnx__TensorProto *t, struct onnx_tensor *out)
{
    if (t->n_dims > ONNX_MAX_RANK)
        return err_set(r->err, "'%s' has %zu dimensions, the most are %d", out->name, t->n_dims,
                       ONNX_MAX_RANK);
    out->shape.rank = (int)t->n_dims;
    for (size_t i = 0; i < t->n_dims; i++) {
        if (t->dims[i] < 0)
            return err_set(r->err, "'%s' has the size %" PRId64, out->name, t->dims[i]);
        out->shape.size[i] = t->dims[i];
    }
    out->count = onnx_count(&out->shape);
    return onnx_fits(&out->shape) ||
           err_set(r->err, "'%s' has more elements than any buffer holds", out->name);
}

// Reads numbers that the message lists one by one.
static bool read_listed(struct reading *r, const Onnx__TensorProto *t, struct onnx_tensor *out)
{
    int type = out->type;
    bool is_unsigned = type == ONNX_UINT32 || type == ONNX_UINT64;
    bool is_small = onnx_type_is_real(type) && onnx_type_bytes(type) <= 2; // bits of int32_data
    size_t count = type == ONNX_FLOAT    ? t->n_float_data
                   : type == ONNX_DOUBLE ? t->n_double_data
                   : type == ONNX_INT64  ? t->n_int64_data
                   : is_unsigned         ? t->n_uint64_data
                                         : t->n_int32_data;
    if ((uint64_t)out->count != count)
        return err_set(r->err,
                       "'%s' has the values of %zu elements, its shape has %" PRId64
                       " (is the file cut off?)",
                       out->name, count, out->count);
    double *value = keep(r, count, sizeof *value);
    out->value = value;
    for (size_t i = 0; i < count; i++) {
        if (is_small) {
            int32_t bits = t->int32_data[i];
            const unsigned char raw[2] = {(unsigned char)(bits & 255),
                                          (unsigned char)(bits >> 8 & 255)};
            value[i] = onnx_element(&(struct onnx_tensor){.type = type, .raw = raw}, 0);
            continue;
        }
        value[i] = type == ONNX_FLOAT    ? (double)t->float_data[i]
                   : type == ONNX_DOUBLE ? t->double_data[i]
                   : type == ONNX_INT64  ? (double)t->int64_data[i]
                   : is_unsigned         ? (double)t->uint64_data[i]
                                         : (double)t->int32_data[i];
    }
    return true;
}

static const char *entry(const Onnx__TensorProto *t, const char *key)
{
    for (size_t i = 0; i < t->n_external_data; i++)
        if (str_equal(t->external_data[i]->key, key))
            return t->external_data[i]->value;
    return NULL;
}

// Returns whether a path stays below the folder that it begins in.
static bool is_contained(const char *name)
{
    if (!*name || *name == '/')
        return false;
    for (const char *part = name; part; part = strchr(part, '/'), part += part != NULL)
        if (str_starts(part, "..") && (part[2] == '/' || !part[2]))
            return false;
    return true;
}

// Maps the contents of a tensor that are in another file, below the model's folder.
static bool read_external(struct reading *r, const Onnx__TensorProto *t, struct skim_slice *out)
{
    const char *name = entry(t, "location"), *at = entry(t, "offset"), *bytes = entry(t, "length");
    int64_t offset = 0, length = -1;
    if (!name || (at && !str_to_int(at, 0, INT64_MAX, &offset)) ||
        (bytes && !str_to_int(bytes, 0, INT64_MAX, &length)))
        return err_set(r->err, "its place in another file is not told");
    if (!r->folder || !is_contained(name))
        return err_set(r->err, "'%s' is no file below the model's folder", name);
    char *path = path_join(r->folder, name);
    const char *const folders[] = {r->folder, NULL};
    size_t size = 0;
    const unsigned char *map = map_file(r, path, folders, &size);
    free(path);
    if (!map)
        return err_prefix(r->err, "%s", name);
    if ((uint64_t)offset > size || (length >= 0 && (uint64_t)length > size - (uint64_t)offset))
        return err_set(r->err, "%s ends before (is it cut off?)", name);
    *out = (struct skim_slice){map + offset, length < 0 ? size - (size_t)offset : (size_t)length};
    return true;
}

static bool read_tensor(struct reading *r, const Onnx__TensorProto *t,
                        const struct skim_constant *skimmed, struct onnx_tensor *out)
{
    struct skim_slice raw = skimmed ? skimmed->raw : (struct skim_slice){NULL, 0};
    *out = (struct onnx_tensor){.name = text(r, t->name), .type = t->data_type};
    if (!read_shape(r, t, out))
        return false;
    if (!onnx_type_bytes(out->type)) // such as texts: a node that reads it is unsupported
        return true;
    if (t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL) {
        if (!read_external(r, t, &raw))
            return err_prefix(r->err, "'%s'", out->name);
    } else if (!skimmed && t->has_raw_data) {
        unsigned char *own = keep(r, t->raw_data.len, 1);
        if (t->raw_data.len)
            memcpy(own, t->raw_data.data, t->raw_data.len);
        raw = (struct skim_slice){own, t->raw_data.len};
    } else if (skimmed && !raw.data && skimmed->list.data && out->type == ONNX_FLOAT) {
        raw = skimmed->list;
    }
    if (!raw.data)
        return read_listed(r, t, out);
    size_t each = (size_t)onnx_type_bytes(out->type);
    if (raw.length / each != (uint64_t)out->count || raw.length % each)
        return err_set(r->err,
                       "'%s' has %zu bytes, its %" PRId64 " elements of %s take %zu each (is the "
                       "file cut off?)",
                       out->name, raw.length, out->count, onnx_type_name(out->type), each);
    out->raw = raw.data;
    return true;
}

static bool read_constant(struct reading *r, const struct skim_constant *c, struct onnx_tensor *out)
{
    Onnx__TensorProto *t =
        onnx__tensor_proto__unpack(NULL, c->rest.length, (const uint8_t *)str_text(&c->rest));
    bool ok = t ? read_tensor(r, t, c, out) : err_set(r->err, "a constant of it is no tensor");
    if (t)
        onnx__tensor_proto__free_unpacked(t, NULL);
    return ok;
}

// --- nodes ---

static const char *copy_bytes(struct reading *r, const ProtobufCBinaryData *from)
{
    char *copy = keep(r, from->len + 1, 1);
    if (from->len)
        memcpy(copy, from->data, from->len);
    return copy;
}

// Makes a tensor of the numbers of a Constant.
static const struct onnx_tensor *read_numbers(struct reading *r, const Onnx__AttributeProto *a,
                                              int type)
{
    bool is_list = type == ONNX_WHOLES || type == ONNX_REALS;
    bool is_real = type == ONNX_REAL || type == ONNX_REALS;
    size_t count = is_list ? a->n_ints + a->n_floats : 1;
    struct onnx_tensor *t = keep(r, 1, sizeof *t);
    double *value = keep(r, count, sizeof *value);
    *t =
        (struct onnx_tensor){.name = "", .type = is_real ? ONNX_FLOAT : ONNX_INT64, .value = value};
    t->shape = (struct onnx_shape){is_list, {(int64_t)count}};
    t->count = (int64_t)count;
    if (!is_list)
        value[0] = is_real ? (double)a->f : (double)a->i;
    for (size_t i = 0; is_list && i < a->n_floats; i++)
        value[i] = (double)a->floats[i];
    for (size_t i = 0; is_list && i < a->n_ints; i++)
        value[a->n_floats + i] = (double)a->ints[i];
    return t;
}

static bool read_attribute(struct reading *r, const Onnx__AttributeProto *a,
                           struct onnx_attribute *out)
{
    *out = (struct onnx_attribute){.name = text(r, a->name), .i = a->i, .f = a->f, .s = ""};
    out->type = a->type    ? (int)a->type
                : a->has_i ? ONNX_WHOLE
                : a->has_f ? ONNX_REAL
                : a->has_s ? ONNX_TEXT
                : a->t     ? ONNX_TENSOR
                           : ONNX_WHOLES;
    out->has_graph = a->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH ||
                     a->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPHS;
    if (out->has_graph) {
        const char **reads = keep(r, a->n_strings, sizeof *reads);
        for (size_t i = 0; i < a->n_strings; i++)
            reads[i] = copy_bytes(r, &a->strings[i]);
        out->reads = reads;
        out->read_count = (int)a->n_strings;
    }
    if (a->has_s)
        out->s = copy_bytes(r, &a->s);
    if (str_starts(out->name, "value_") && (out->type == ONNX_REAL || out->type == ONNX_WHOLE ||
                                            out->type == ONNX_REALS || out->type == ONNX_WHOLES))
        out->tensor = read_numbers(r, a, out->type);
    int64_t *ints = keep(r, a->n_ints, sizeof *ints);
    for (size_t i = 0; i < a->n_ints; i++)
        ints[i] = a->ints[i];
    out->ints = ints;
    out->int_count = (int)a->n_ints;
    if (!a->t)
        return true;
    struct onnx_tensor *t = keep(r, 1, sizeof *t);
    out->tensor = t;
    return read_tensor(r, a->t, NULL, t);
}

static const char **read_names(struct reading *r, char *const *from, size_t count)
{
    const char **names = keep(r, count, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = text(r, from[i]);
    return names;
}

static bool read_node(struct reading *r, const Onnx__NodeProto *n, struct onnx_node *out)
{
    *out = (struct onnx_node){.name = text(r, n->name),
                              .kind = text(r, n->op_type),
                              .domain = text(r, n->domain),
                              .input = read_names(r, n->input, n->n_input),
                              .output = read_names(r, n->output, n->n_output),
                              .input_count = (int)n->n_input,
                              .output_count = (int)n->n_output};
    out->attribute = keep(r, n->n_attribute, sizeof *out->attribute);
    for (size_t i = 0; i < n->n_attribute; i++, out->attribute_count++)
        if (!read_attribute(r, n->attribute[i], &out->attribute[i]))
            return err_prefix(r->err, "node '%s' (%s)",
                              *out->name || !out->output_count ? out->name : out->output[0],
                              out->kind);
    return true;
}

static bool read_info(struct reading *r, const Onnx__ValueInfoProto *v, struct onnx_info *out)
{
    const Onnx__TypeProto *type = v->type;
    *out = (struct onnx_info){.name = text(r, v->name)};
    if (!type || type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
        return true;
    const Onnx__TensorShapeProto *shape = type->tensor_type->shape;
    out->type = type->tensor_type->elem_type;
    if (!shape)
        return true;
    if (shape->n_dim > ONNX_MAX_RANK)
        return err_set(r->err, "'%s' has %zu dimensions, the most are %d", out->name, shape->n_dim,
                       ONNX_MAX_RANK);
    out->has_shape = true;
    out->shape.rank = (int)shape->n_dim;
    for (int i = 0; i < out->shape.rank; i++) {
        const Onnx__TensorShapeProto__Dimension *d = shape->dim[i];
        bool is_known = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        bool is_named = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
        out->shape.size[i] = is_known && d->dim_value > 0 ? d->dim_value : -1;
        out->open[i] = is_named ? text(r, d->dim_param) : "";
    }
    return onnx_fits(&out->shape) ||
           err_set(r->err, "'%s' has more elements than any buffer holds", out->name);
}

static bool read_infos(struct reading *r, Onnx__ValueInfoProto *const *from, size_t count,
                       struct onnx_info **out, int *out_count)
{
    *out = keep(r, count, sizeof **out);
    for (size_t i = 0; i < count; i++, ++*out_count)
        if (!read_info(r, from[i], &(*out)[i]))
            return false;
    return true;
}

// --- files ---

static bool read_graph(struct reading *r, const Onnx__GraphProto *g, const struct skim *s)
{
    struct onnx_model *m = r->out;
    m->node = keep(r, g->n_node, sizeof *m->node);
    for (size_t i = 0; i < g->n_node; i++, m->node_count++)
        if (!read_node(r, g->node[i], &m->node[i]))
            return false;
    if (!read_infos(r, g->input, g->n_input, &m->input, &m->input_count) ||
        !read_infos(r, g->output, g->n_output, &m->output, &m->output_count) ||
        !read_infos(r, g->value_info, g->n_value_info, &m->info, &m->info_count))
        return false;
    m->constant = keep(r, (size_t)s->constant_count, sizeof *m->constant);
    for (; m->constant_count < s->constant_count; m->constant_count++)
        if (!read_constant(r, &s->constant[m->constant_count], &m->constant[m->constant_count]))
            return false;
    return m->node_count > 0 || err_set(r->err, "it is a model without nodes");
}

static bool read_skimmed(struct reading *r, const struct skim *s)
{
    Onnx__ModelProto *p =
        onnx__model_proto__unpack(NULL, s->model.length, (const uint8_t *)str_text(&s->model));
    if (!p)
        return err_set(r->err, "it is no ONNX model");
    r->out->producer = text(r, p->producer_name);
    for (size_t i = 0; i < p->n_opset_import; i++) {
        const Onnx__OperatorSetIdProto *set = p->opset_import[i];
        if (!set->domain || !*set->domain || str_equal(set->domain, "ai.onnx"))
            r->out->opset = set->version;
    }
    onnx__model_proto__free_unpacked(p, NULL);
    r->out->has_sparse = s->has_sparse;
    Onnx__GraphProto *g =
        onnx__graph_proto__unpack(NULL, s->graph.length, (const uint8_t *)str_text(&s->graph));
    bool ok =
        g ? read_graph(r, g, s) : err_set(r->err, "its graph is broken (is the file cut off?)");
    if (g)
        onnx__graph_proto__free_unpacked(g, NULL);
    return ok;
}

static bool read_model(struct reading *r, const unsigned char *bytes, size_t length)
{
    struct skim s = {0};
    bool ok = filter(&s, MODEL, bytes, length, &s.model)
                  ? read_skimmed(r, &s)
                  : err_set(r->err, "it is no ONNX model, or cut off");
    for (int i = 0; i < s.constant_count; i++)
        str_finish(&s.constant[i].rest);
    free(s.constant);
    str_finish(&s.model);
    str_finish(&s.graph);
    return ok;
}

bool onnx_read_bytes(const unsigned char *bytes, size_t length, const char *folder,
                     struct onnx_model *out, struct err *e)
{
    struct reading r = {out, folder, e};
    *out = (struct onnx_model){.producer = ""};
    return read_model(&r, bytes, length);
}

bool onnx_read(const char *path, struct onnx_model *out, struct err *e)
{
    char *folder = path_folder(path);
    struct reading r = {out, folder, e};
    size_t length;
    *out = (struct onnx_model){.producer = ""};
    const unsigned char *bytes = map_file(&r, path, NULL, &length);
    bool ok = bytes && read_model(&r, bytes, length);
    free(folder);
    return ok;
}

bool onnx_read_tensor(const char *path, struct onnx_model *m, struct onnx_tensor *out,
                      struct err *e)
{
    struct reading r = {m, NULL, e};
    struct skim_constant c = {0};
    size_t length;
    const unsigned char *bytes = map_file(&r, path, NULL, &length);
    if (!bytes)
        return false;
    bool ok = skim_tensor(bytes, length, &c) ? read_constant(&r, &c, out)
                                             : err_set(e, "it is no ONNX tensor, or cut off");
    str_finish(&c.rest);
    return ok;
}

void onnx_finish(struct onnx_model *m)
{
    for (int i = 0; i < m->mapping_count; i++)
        munmap(m->mapping[i].bytes, m->mapping[i].length);
    free(m->mapping);
    arena_finish(&m->arena);
    *m = (struct onnx_model){0};
}

// All programs write the version of a model as its first field. Texts begin with letters, brackets
// or blanks, packed recordings with their own marks.
bool onnx_begins(const char *bytes, size_t length)
{
    struct wire_walk w = wire_walk_begin((const unsigned char *)bytes, length);
    bool is_model = wire_next(&w) && w.kind == WIRE_VARINT && w.field == 1;
    return is_model && bytes[0] == 0x08;
}
