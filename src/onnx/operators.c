#include "onnx/operators.h"

#include "base/str.h"

// The operators, sorted by name.
static const struct onnx_operator operators[] = {
    {"Add", infer_binary, fold_arithmetic, lower_add},
    {"AveragePool", infer_pool, NULL, lower_pool},
    {"BatchNormalization", infer_batch_norm, NULL, lower_batch_norm},
    {"Cast", infer_cast, fold_unary, lower_cast},
    {"Clip", infer_same, NULL, lower_activation},
    {"Concat", infer_concat, fold_concat, lower_concat},
    {"Constant", infer_constant, fold_constant, lower_none},
    {"ConstantOfShape", infer_constant_of_shape, fold_constant_of_shape, lower_none},
    {"Conv", infer_conv, NULL, lower_conv},
    {"Div", infer_binary, fold_arithmetic, lower_arithmetic},
    {"Dropout", infer_dropout, NULL, lower_none},
    {"Expand", infer_expand, fold_expand, lower_expand},
    {"Flatten", infer_flatten, fold_same, lower_none},
    {"Gather", infer_gather, fold_gather, lower_gather},
    {"Gemm", infer_gemm, NULL, lower_gemm},
    {"GlobalAveragePool", infer_global_pool, NULL, lower_global_pool},
    {"GlobalMaxPool", infer_global_pool, NULL, lower_global_pool},
    {"Identity", infer_same, fold_same, lower_none},
    {"LRN", infer_same, NULL, lower_lrn},
    {"LeakyRelu", infer_same, NULL, lower_activation},
    {"MatMul", infer_matmul, NULL, lower_matmul},
    {"MaxPool", infer_pool, NULL, lower_pool},
    {"Mul", infer_binary, fold_arithmetic, lower_arithmetic},
    {"Neg", infer_same, fold_unary, lower_no},
    {"ReduceMean", infer_reduce_mean, NULL, lower_reduce_mean},
    {"Relu", infer_same, NULL, lower_activation},
    {"Reshape", infer_reshape, fold_same, lower_none},
    {"Shape", infer_shape, fold_shape, lower_none},
    {"Sigmoid", infer_same, NULL, lower_apply},
    {"Size", infer_size, fold_size, lower_none},
    {"Slice", infer_slice, fold_slice, lower_slice},
    {"Softmax", infer_same, NULL, lower_softmax},
    {"Split", infer_split, NULL, lower_split},
    {"Sqrt", infer_same, fold_unary, lower_no},
    {"Squeeze", infer_squeeze, fold_same, lower_none},
    {"Sub", infer_binary, fold_arithmetic, lower_arithmetic},
    {"Sum", infer_sum, NULL, lower_sum},
    {"Tanh", infer_same, NULL, lower_apply},
    {"Transpose", infer_transpose, fold_transpose, lower_transpose},
    {"Unsqueeze", infer_unsqueeze, fold_same, lower_none},
};

const struct onnx_operator *onnx_operator_find(const char *name)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (str_equal(operators[i].name, name))
            return &operators[i];
    return NULL;
}

static const struct {
    const char *name;
    enum onnx_attribute_type type;
} attributes[] = {
    {"allowzero", ONNX_WHOLE},
    {"alpha", ONNX_REAL},
    {"auto_pad", ONNX_TEXT},
    {"axes", ONNX_WHOLES},
    {"axis", ONNX_WHOLE},
    {"beta", ONNX_REAL},
    {"bias", ONNX_REAL},
    {"broadcast", ONNX_WHOLE},
    {"ceil_mode", ONNX_WHOLE},
    {"count_include_pad", ONNX_WHOLE},
    {"dilations", ONNX_WHOLES},
    {"ends", ONNX_WHOLES},
    {"epsilon", ONNX_REAL},
    {"group", ONNX_WHOLE},
    {"is_test", ONNX_WHOLE},
    {"keepdims", ONNX_WHOLE},
    {"kernel_shape", ONNX_WHOLES},
    {"max", ONNX_REAL},
    {"min", ONNX_REAL},
    {"noop_with_empty_axes", ONNX_WHOLE},
    {"pads", ONNX_WHOLES},
    {"perm", ONNX_WHOLES},
    {"shape", ONNX_WHOLES},
    {"size", ONNX_WHOLE},
    {"split", ONNX_WHOLES},
    {"starts", ONNX_WHOLES},
    {"strides", ONNX_WHOLES},
    {"to", ONNX_WHOLE},
    {"training_mode", ONNX_WHOLE},
    {"transA", ONNX_WHOLE},
    {"transB", ONNX_WHOLE},
    {"value", ONNX_TENSOR},
};

const char *onnx_mistyped(const struct onnx_node *n)
{
    for (int i = 0; i < n->attribute_count; i++)
        for (size_t k = 0; k < sizeof attributes / sizeof *attributes; k++)
            if (n->attribute[i].type != (int)attributes[k].type &&
                str_equal(n->attribute[i].name, attributes[k].name))
                return n->attribute[i].name;
    return NULL;
}

const struct onnx_tensor *onnx_constant_of(const struct onnx_node *n)
{
    for (int i = 0; i < n->attribute_count; i++)
        if (str_starts(n->attribute[i].name, "value") && n->attribute[i].tensor)
            return n->attribute[i].tensor;
    return NULL;
}
