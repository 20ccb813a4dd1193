// The functions of elements that ONNX's operators are: what computes a constant, and what computes
// the rest.
#include "onnx/operators.h"

#include "base/str.h"

#include <math.h>

#define ONE(name, value)                                                                           \
    static double name(double x, double z)                                                         \
    {                                                                                              \
        (void)z;                                                                                   \
        return value;                                                                              \
    }
#define TWO(name, value)                                                                           \
    static double name(double x, double z)                                                         \
    {                                                                                              \
        return value;                                                                              \
    }

ONE(of_abs, fabs(x))
ONE(of_ceil, ceil(x))
ONE(of_erf, erf(x))
ONE(of_exp, exp(x))
ONE(of_floor, floor(x))
ONE(of_log, log(x))
ONE(of_neg, -x)
ONE(of_not, x == 0)
ONE(of_reciprocal, 1 / x)
ONE(of_relu, x < 0 ? 0 : x)
ONE(of_round, rint(x))
ONE(of_sigmoid, 1 / (1 + exp(-x)))
ONE(of_sign, x > 0 ? 1 : x < 0 ? -1 : 0)
ONE(of_softplus, fmax(x, 0) + log1p(exp(-fabs(x))))
ONE(of_softsign, x / (1 + fabs(x)))
ONE(of_sqrt, sqrt(x))
ONE(of_tanh, tanh(x))
TWO(of_add, x + z)
TWO(of_and, x != 0 && z != 0)
TWO(of_div, x / z)
TWO(of_equal, x == z)
TWO(of_greater, x > z)
TWO(of_greater_or_equal, x >= z)
TWO(of_less, x < z)
TWO(of_less_or_equal, x <= z)
TWO(of_max, fmax(x, z))
TWO(of_min, fmin(x, z))
TWO(of_mod, x - floor(x / z) * z)
TWO(of_mul, x *z)
TWO(of_or, x != 0 || z != 0)
TWO(of_pow, pow(x, z))
TWO(of_sub, x - z)
TWO(of_xor, (x != 0) != (z != 0))

static const struct onnx_function functions[] = {
    {"Abs", "abs", of_abs},
    {"Add", "add", of_add},
    {"And", NULL, of_and},
    {"Ceil", "ceil", of_ceil},
    {"Celu", "celu", NULL},
    {"Div", "div", of_div},
    {"Elu", "elu", NULL},
    {"Equal", NULL, of_equal},
    {"Erf", "erf", of_erf},
    {"Exp", "exp", of_exp},
    {"Floor", "floor", of_floor},
    {"Gelu", "gelu", NULL},
    {"Greater", NULL, of_greater},
    {"GreaterOrEqual", NULL, of_greater_or_equal},
    {"HardSigmoid", "hardsigmoid", NULL},
    {"HardSwish", "hardswish", NULL},
    {"Less", NULL, of_less},
    {"LessOrEqual", NULL, of_less_or_equal},
    {"Log", "log", of_log},
    {"Max", "max", of_max},
    {"Min", "min", of_min},
    {"Mish", "mish", NULL},
    {"Mod", NULL, of_mod},
    {"Mul", "mul", of_mul},
    {"Neg", "neg", of_neg},
    {"Not", NULL, of_not},
    {"Or", NULL, of_or},
    {"Pow", NULL, of_pow},
    {"Reciprocal", "reciprocal", of_reciprocal},
    {"Relu", "relu", of_relu},
    {"Round", "round", of_round},
    {"Selu", "selu", NULL},
    {"Sigmoid", "sigmoid", of_sigmoid},
    {"Sign", "sign", of_sign},
    {"Softplus", "softplus", of_softplus},
    {"Softsign", "softsign", of_softsign},
    {"Sqrt", "sqrt", of_sqrt},
    {"Sub", "sub", of_sub},
    {"Sum", "add", of_add},
    {"Swish", "silu", NULL},
    {"Tanh", "tanh", of_tanh},
    {"Xor", NULL, of_xor},
};

const struct onnx_function *onnx_function_find(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (str_equal(functions[i].name, name))
            return &functions[i];
    return NULL;
}
