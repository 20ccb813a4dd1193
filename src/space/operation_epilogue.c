// What is done with a sum of products before it is stored: y = activation(scale * sum + bias +
// residual).
#include "space/operation_kinds.h"

#include <math.h>

const struct operation_real epilogue_reals[] = {
    {"scale", 1}, {"slope", 0.01}, {"low", 0}, {"high", 6}, {NULL, 0},
};

static bool check_integers(const struct operation *o, struct err *e)
{
    const char *kind = o->kind->name;
    double low = operation_real(o, "low"), high = operation_real(o, "high");
    if (operation_real(o, "scale") != 1)
        return err_set(e, "%s: i8 has no scale (its sums are stored as i32)", kind);
    if (operation_chooses(o, "activation", "leaky"))
        return err_set(e, "%s: i8 has no leaky activation (it has none, relu, clamp)", kind);
    if (operation_chooses(o, "activation", "clamp") &&
        (low != floor(low) || high != floor(high) || fabs(low) > INT32_MAX ||
         fabs(high) > INT32_MAX))
        return err_set(e, "%s: low and high of i8 are whole numbers of 32 bits", kind);
    return true;
}

bool epilogue_check(const struct operation *o, struct err *e)
{
    bool is_half = operation_element(o) == ELEMENT_F16;
    if (!operation_chooses(o, "accumulate", "f32") && !is_half)
        return err_set(e, "%s: accumulate = \"%s\" needs type = \"f16\"", o->kind->name,
                       operation_choice(o, "accumulate"));
    if (operation_chooses(o, "activation", "clamp") &&
        operation_real(o, "low") > operation_real(o, "high"))
        return err_set(e, "%s: low is greater than high", o->kind->name);
    return operation_element(o) != ELEMENT_I8 || check_integers(o, e);
}

enum element epilogue_element(const struct operation *o)
{
    enum element e = operation_element(o);
    return e == ELEMENT_I8 ? ELEMENT_I32 : e;
}

int epilogue_tensors(const struct operation *o, int count, int64_t channels,
                     const struct tensor *output, struct tensor *out)
{
    if (operation_chooses(o, "bias", "add"))
        out[count++] = tensor_packed("bias", output->element, 1, &channels);
    if (operation_chooses(o, "residual", "add")) {
        out[count] = *output;
        out[count++].name = "residual";
    }
    out[count++] = *output;
    return count;
}
