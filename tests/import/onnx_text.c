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
    struct str tensor = {0};
    for (; *sizes; sizes++)
        onnx_put_number(&tensor, 1, (uint64_t)*sizes);
    onnx_put_number(&tensor, 2, 1);
    onnx_put_text(&tensor, 8, name);
    onnx_put_bytes(&tensor, 9, data, (size_t)count * sizeof *data);
    onnx_put_message(graph, 5, &tensor);
}

static void put_attribute(struct str *node, const char *name, const char *value)
{
    struct str a = {0};
    onnx_put_text(&a, 1, name);
    if (strchr(value, ','))
        for (const char *at = value; *at; at += strspn(at, ",")) {
            char *end;
            onnx_put_number(&a, 8, (uint64_t)strtoll(at, &end, 10));
            at = end;
        }
    else
        onnx_put_number(&a, 3, (uint64_t)strtoll(value, NULL, 10));
    onnx_put_message(node, 5, &a);
}

void onnx_put_node(struct str *graph, const char *kind, const char *inputs, const char *output,
                   const char *attributes)
{
    struct str node = {0};
    char *words = mem_strdup(inputs), *fields = mem_strdup(attributes), *rest;
    for (char *w = strtok_r(words, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
        onnx_put_text(&node, 1, w);
    onnx_put_text(&node, 2, output);
    onnx_put_text(&node, 4, kind);
    for (char *name = strtok_r(fields, " =", &rest); name; name = strtok_r(NULL, " =", &rest))
        put_attribute(&node, name, strtok_r(NULL, " ", &rest));
    free(words);
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
