#include "onnx/model.h"

#include "base/number.h"
#include "base/str.h"
#include "space/tensor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int bytes;
} types[ONNX_TYPES] = {
    [ONNX_FLOAT] = {"float", 4},       [ONNX_UINT8] = {"uint8", 1},
    [ONNX_INT8] = {"int8", 1},         [ONNX_UINT16] = {"uint16", 2},
    [ONNX_INT16] = {"int16", 2},       [ONNX_INT32] = {"int32", 4},
    [ONNX_INT64] = {"int64", 8},       [ONNX_BOOL] = {"bool", 1},
    [ONNX_FLOAT16] = {"float16", 2},   [ONNX_DOUBLE] = {"double", 8},
    [ONNX_UINT32] = {"uint32", 4},     [ONNX_UINT64] = {"uint64", 8},
    [ONNX_BFLOAT16] = {"bfloat16", 2},
};

int onnx_type_bytes(int type)
{
    return type > 0 && type < ONNX_TYPES ? types[type].bytes : 0;
}

const char *onnx_type_name(int type)
{
    return onnx_type_bytes(type) ? types[type].name : "of a type that tilewalk does not know";
}

int64_t onnx_count(const struct onnx_shape *s)
{
    int64_t count = 1;
    for (int i = 0; i < s->rank; i++)
        count = times_signed(count, s->size[i]);
    return count;
}

bool onnx_fits(const struct onnx_shape *s)
{
    int64_t count = 1;
    for (int i = 0; i < s->rank; i++)
        if (s->size[i] < -1)
            return false;
        else if (s->size[i] > 0)
            count = times_signed(count, s->size[i]);
    return count < INT32_MAX;
}

// --- elements ---

static double single(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

double onnx_element(const struct onnx_tensor *t, int64_t index)
{
    if (t->view) {
        int64_t at = t->view->first;
        for (int i = t->view->shape.rank - 1; i >= 0; i--) {
            at += index % t->view->shape.size[i] * t->view->stride[i];
            index /= t->view->shape.size[i];
        }
        return onnx_element(t->view->of, at);
    }
    if (!t->raw)
        return t->value ? t->value[index] : t->fill;
    int bytes = types[t->type].bytes;
    const unsigned char *raw = t->raw + index * bytes;
    uint64_t bits = 0;
    for (int i = 0; i < bytes; i++)
        bits |= (uint64_t)raw[i] << (8 * i);
    double real;
    switch (t->type) {
    case ONNX_FLOAT: return single((uint32_t)bits);
    case ONNX_DOUBLE: memcpy(&real, &bits, sizeof real); return real;
    case ONNX_FLOAT16: return (double)half_to_float((uint16_t)bits);
    case ONNX_BFLOAT16: return single((uint32_t)bits << 16);
    case ONNX_INT8: return (double)(int8_t)bits;
    case ONNX_INT16: return (double)(int16_t)bits;
    case ONNX_INT32: return (double)(int32_t)bits;
    case ONNX_INT64: return (double)(int64_t)bits;
    default: return (double)bits;
    }
}

// --- attributes ---

const struct onnx_attribute *onnx_attribute(const struct onnx_node *n, const char *name)
{
    for (int i = 0; i < n->attribute_count; i++)
        if (str_equal(n->attribute[i].name, name))
            return &n->attribute[i];
    return NULL;
}

int64_t onnx_int(const struct onnx_node *n, const char *name, int64_t standard)
{
    const struct onnx_attribute *a = onnx_attribute(n, name);
    return a ? a->i : standard;
}

double onnx_real(const struct onnx_node *n, const char *name, double standard)
{
    const struct onnx_attribute *a = onnx_attribute(n, name);
    return a ? a->f : standard;
}

const char *onnx_text(const struct onnx_node *n, const char *name, const char *standard)
{
    const struct onnx_attribute *a = onnx_attribute(n, name);
    return a ? a->s : standard;
}
