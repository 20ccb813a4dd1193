#include "onnx/operators.h"

#include "base/str.h"

// The operators, sorted by name.
static const struct onnx_operator operators[] = {
    {"Add", 2, infer_broadcast, fold_arithmetic, lower_add},
    {"AveragePool", 1, infer_pool, NULL, lower_pool},
    {"BatchNormalization", 5, infer_batch_norm, NULL, lower_batch_norm},
    {"Cast", 1, infer_cast, fold_unary, lower_same},
    {"Clip", 1, infer_same, NULL, lower_activation},
    {"Concat", ONNX_ALL, infer_concat, fold_concat, lower_concat},
    {"Constant", 0, infer_constant, fold_same, lower_same},
    {"ConstantOfShape", 1, infer_constant_of_shape, fold_constant_of_shape, lower_same},
    {"Conv", 2, infer_conv, NULL, lower_conv},
    {"Div", 2, infer_broadcast, fold_arithmetic, lower_arithmetic},
    {"Dropout", 1, infer_dropout, NULL, lower_same},
    {"Expand", 2, infer_moved, fold_moved, lower_moved, move_expand},
    {"Flatten", 1, infer_flatten, fold_same, lower_same},
    {"Gather", 2, infer_gather, fold_gather, lower_gather},
    {"Gemm", 2, infer_gemm, NULL, lower_gemm},
    {"GlobalAveragePool", 1, infer_global_pool, NULL, lower_global_pool},
    {"GlobalMaxPool", 1, infer_global_pool, NULL, lower_global_pool},
    {"Identity", 1, infer_same, fold_same, lower_same},
    {"LRN", 1, infer_same, NULL, lower_lrn},
    {"LeakyRelu", 1, infer_same, NULL, lower_activation},
    {"MatMul", 2, infer_matmul, NULL, lower_matmul},
    {"MaxPool", 1, infer_pool, NULL, lower_pool},
    {"Mul", 2, infer_broadcast, fold_arithmetic, lower_arithmetic},
    {"Neg", 1, infer_same, fold_unary, NULL},
    {"ReduceMean", 1, infer_reduced, NULL, lower_reduce_mean},
    {"Relu", 1, infer_same, NULL, lower_activation},
    {"Reshape", 1, infer_reshape, fold_same, lower_same},
    {"Shape", 1, infer_shape, fold_shape, lower_same},
    {"Sigmoid", 1, infer_same, NULL, lower_activation},
    {"Size", 1, infer_shape, fold_shape, lower_same},
    {"Slice", 1, infer_moved, fold_moved, lower_moved, move_slice},
    {"Softmax", 1, infer_same, NULL, lower_softmax},
    {"Split", 1, infer_moved, NULL, lower_moved, move_split},
    {"Sqrt", 1, infer_same, fold_unary, NULL},
    {"Squeeze", 1, infer_reduced, fold_same, lower_same},
    {"Sub", 2, infer_broadcast, fold_arithmetic, lower_arithmetic},
    {"Sum", ONNX_ALL, infer_broadcast, NULL, lower_add},
    {"Tanh", 1, infer_same, NULL, lower_activation},
    {"Transpose", 1, infer_moved, fold_moved, lower_moved, move_transpose},
    {"Unsqueeze", 1, infer_unsqueeze, fold_same, lower_same},
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

const char *onnx_find_mistyped(const struct onnx_node *n)
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
