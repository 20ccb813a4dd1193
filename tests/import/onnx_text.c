#include "onnx_text.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static void add_varint(struct str *s, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        str_add_char(s, (char)(0x80 | (value & 0x7f)));
    str_add_char(s, (char)value);
}

void onnx_put_number(struct str *s, int field, uint64_t value)
{
    add_varint(s, (uint64_t)field << 3);
    add_varint(s, value);
}

void onnx_put_bytes(struct str *s, int field, const void *bytes, size_t length)
{
    add_varint(s, (uint64_t)field << 3 | 2);
    add_varint(s, length);
    str_add_bytes(s, bytes, length);
}

void onnx_put_text(struct str *s, int field, const char *text)
{
    onnx_put_bytes(s, field, text, strlen(text));
}

void onnx_put_message(struct str *s, int field, struct str *message)
{
    onnx_put_bytes(s, field, str_text(message), message->length);
    str_finish(message);
}

void onnx_put_value(struct str *graph, int field, const char *name, const int *sizes)
{
    struct str shape = {0}, tensor = {0}, type = {0}, value = {0};
    for (; *sizes; sizes++) {
        struct str size = {0};
        if (*sizes > 0)
            onnx_put_number(&size, 1, (uint64_t)*sizes);
        else
            onnx_put_text(&size, 2, "batch");
        onnx_put_message(&shape, 1, &size);
    }
    onnx_put_number(&tensor, 1, 1); // float
    onnx_put_message(&tensor, 2, &shape);
    onnx_put_message(&type, 1, &tensor);
    onnx_put_text(&value, 1, name);
    onnx_put_message(&value, 2, &type);
    onnx_put_message(graph, field, &value);
}

void onnx_put_constant(struct str *graph, const char *name, const int *sizes, const float *data,
                       int count)
{
    struct onnx_shape shape = {0};
    for (; *sizes; sizes++)
        shape.size[shape.rank++] = *sizes;
    onnx_put_typed(graph, name, ONNX_FLOAT, &shape, data, (size_t)count * sizeof *data);
}

void onnx_put_typed(struct str *graph, const char *name, int type, const struct onnx_shape *shape,
                    const void *data, size_t bytes)
{
    struct str tensor = {0};
    for (int i = 0; i < shape->rank; i++)
        onnx_put_number(&tensor, 1, (uint64_t)shape->size[i]);
    onnx_put_number(&tensor, 2, (uint64_t)type);
    onnx_put_text(&tensor, 8, name);
    if (bytes)
        onnx_put_bytes(&tensor, 9, data, bytes);
    onnx_put_message(graph, 5, &tensor);
}

static void put_real(struct str *s, int field, float value)
{
    add_varint(s, (uint64_t)field << 3 | 5);
    str_add_bytes(s, &value, sizeof value);
}

// Adds an attribute: numbers with commas behind them, a word, a number with a point, or without
// one.
static void put_attribute(struct str *node, const char *name, const char *value)
{
    enum { REAL = 1, WHOLE, TEXT, LIST = 7 };
    struct str a = {0};
    onnx_put_text(&a, 1, name);
    if (strchr(value, ',')) {
        for (const char *at = value; *at; at += strspn(at, ",")) {
            char *end;
            onnx_put_number(&a, 8, (uint64_t)strtoll(at, &end, 10));
            at = end;
        }
        onnx_put_number(&a, 20, LIST);
    } else if (value[strspn(value, "-.0123456789")]) {
        onnx_put_text(&a, 4, value);
        onnx_put_number(&a, 20, TEXT);
    } else if (strchr(value, '.')) {
        put_real(&a, 2, strtof(value, NULL));
        onnx_put_number(&a, 20, REAL);
    } else {
        onnx_put_number(&a, 3, (uint64_t)strtoll(value, NULL, 10));
        onnx_put_number(&a, 20, WHOLE);
    }
    onnx_put_message(node, 5, &a);
}

static void put_words(struct str *s, int field, const char *text)
{
    char *words = mem_strdup(text), *rest;
    for (char *w = strtok_r(words, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
        onnx_put_text(s, field, w);
    free(words);
}

void onnx_put_node(struct str *graph, const char *kind, const char *inputs, const char *outputs,
                   const char *attributes)
{
    struct str node = {0};
    char *fields = mem_strdup(attributes), *rest;
    put_words(&node, 1, inputs);
    put_words(&node, 2, outputs);
    onnx_put_text(&node, 4, kind);
    for (char *name = strtok_r(fields, " =", &rest); name; name = strtok_r(NULL, " =", &rest))
        put_attribute(&node, name, strtok_r(NULL, " ", &rest));
    free(fields);
    onnx_put_message(graph, 1, &node);
}

void onnx_put_model(struct str *s, struct str *graph)
{
    struct str opset = {0};
    onnx_put_number(s, 1, 7); // the format's version
    onnx_put_number(&opset, 2, 13);
    onnx_put_message(s, 7, graph);
    onnx_put_message(s, 8, &opset);
}

// --- what becomes of them ---

bool lowered_make(struct lowered *m, struct str *graph, struct err *e)
{
    *m = (struct lowered){0};
    onnx_put_model(&m->bytes, graph);
    if (!onnx_read_bytes((const unsigned char *)str_text(&m->bytes), m->bytes.length, NULL,
                         &m->model, e) ||
        !onnx_graph_make(&m->model, NULL, 0, &m->graph, e))
        return false;
    onnx_lower(&m->graph, &m->layers);
    return true;
}

void lowered_finish(struct lowered *m)
{
    onnx_layers_finish(&m->layers);
    onnx_graph_finish(&m->graph);
    onnx_finish(&m->model);
    str_finish(&m->bytes);
}

const char *lowered_setting(const struct onnx_layer *l, const char *name)
{
    for (int i = 0; i < l->setting_count; i++)
        if (strcmp(l->setting[i].name, name) == 0)
            return l->setting[i].text;
    return "";
}
