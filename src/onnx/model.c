#include "onnx/model.h"

#include "base/number.h"
#include "base/str.h"
#include "space/tensor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    enum element element;
} types[ONNX_TYPES] = {
    [ONNX_FLOAT] = {"float", ELEMENT_F32},
    [ONNX_UINT8] = {"uint8", ELEMENT_U8},
    [ONNX_INT8] = {"int8", ELEMENT_I8},
    [ONNX_UINT16] = {"uint16", ELEMENT_U16},
    [ONNX_INT16] = {"int16", ELEMENT_I16},
    [ONNX_INT32] = {"int32", ELEMENT_I32},
    [ONNX_INT64] = {"int64", ELEMENT_I64},
    [ONNX_BOOL] = {"bool", ELEMENT_U8},
    [ONNX_FLOAT16] = {"float16", ELEMENT_F16},
    [ONNX_DOUBLE] = {"double", ELEMENT_F64},
    [ONNX_UINT32] = {"uint32", ELEMENT_U32},
    [ONNX_UINT64] = {"uint64", ELEMENT_U64},
    [ONNX_BFLOAT16] = {"bfloat16", ELEMENT_BF16},
    [ONNX_FLOAT8E4M3FN] = {"float8e4m3fn", ELEMENT_F8E4M3},
    [ONNX_FLOAT8E5M2] = {"float8e5m2", ELEMENT_F8E5M2},
};

static bool is_known(int type)
{
    return type > 0 && type < ONNX_TYPES && types[type].name;
}

int onnx_type_bytes(int type)
{
    return is_known(type) ? element_bytes(types[type].element) : 0;
}

const char *onnx_type_name(int type)
{
    return is_known(type) ? types[type].name : "of a type that tilewalk does not know";
}

bool onnx_type_is_real(int type)
{
    return is_known(type) && element_is_real(types[type].element);
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

double onnx_rounded(double a, int type, bool saturates)
{
    if (type == ONNX_BOOL)
        return a != 0;
    if (!onnx_type_is_real(type))
        return trunc(a);
    enum element e = types[type].element;
    uint64_t bits;
    element_put(&bits, e, 0, saturates ? element_saturated(e, a) : a);
    return element_get(&bits, e, 0);
}

double onnx_element(const struct onnx_tensor *t, int64_t index)
{
    if (t->view) {
        int64_t at = t->view->first;
        for (int i = t->view->shape.rank - 1; i >= 0; i--) {
            at += index % t->view->shape.size[i] * t->view->stride[i];
            index /= t->view->shape.size[i];
        }
        double a = onnx_element(t->view->of, at);
        return t->view->type ? onnx_rounded(a, t->view->type, t->view->saturates) : a;
    }
    if (!t->raw)
        return t->value ? t->value[index] : t->fill;
    size_t bytes = (size_t)onnx_type_bytes(t->type);
    uint64_t bits = 0; // aligned
    memcpy(&bits, t->raw + (uint64_t)index * bytes, bytes);
    return element_get(&bits, types[t->type].element, 0);
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
