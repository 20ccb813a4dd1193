#include "define/decoder.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { FLOAT_FRACTION = 23, FLOAT_BIAS = 127 };

void decoder_write(enum element e, struct str *out)
{
    static const struct {
        const char *word, *real, *less; // GLSL has no `<` of vectors
    } width[] = {
        {"uint", "float", "(magnitude < %uu)"},
        {"uvec2", "vec2", "lessThan(magnitude, uvec2(%uu))"},
        {"uvec4", "vec4", "lessThan(magnitude, uvec4(%uu))"},
    };
    const struct element_traits *t = &element_traits[e];
    if (!element_is_bits(e))
        return;
    if (t->exponent == 8) {
        str_printf(out, "#define float_of_%s(x) uintBitsToFloat((x) << 16)\n", t->name);
        return;
    }
    int own_bias = (1 << (t->exponent - 1)) - 1;
    uint32_t bias = (uint32_t)(FLOAT_BIAS - own_bias) << FLOAT_FRACTION;
    uint32_t limit = (uint32_t)element_limit(e);
    for (size_t i = 0; i < sizeof width / sizeof *width; i++) {
        char is_finite[64], is_small[64];
        snprintf(is_finite, sizeof is_finite, width[i].less, limit);
        snprintf(is_small, sizeof is_small, width[i].less, 1u << t->fraction);
        str_printf(out,
                   "%s float_of_%s(%s x)\n{\n"
                   "    const %s magnitude = x & 127u, moved = (magnitude << %d) + %" PRIu32 "u;\n"
                   "    const %s number = uintBitsToFloat(mix(moved + %" PRIu32 "u, moved, %s));\n",
                   width[i].real, t->name, width[i].word, width[i].word,
                   FLOAT_FRACTION - t->fraction, bias, width[i].real, bias, is_finite);
        str_printf(out,
                   "    const %s size = mix(number, %s(magnitude) * %.17g, %s);\n"
                   "    return uintBitsToFloat(floatBitsToUint(size) | (x & 128u) << 24);\n}\n",
                   width[i].real, width[i].real, ldexp(1, 1 - own_bias - t->fraction), is_small);
    }
}

void encoder_write(enum element e, struct str *out)
{
    if (!element_is_bits(e))
        return;
    const struct element_traits *t = &element_traits[e];
    uint32_t limit = (uint32_t)element_limit(e), most = limit - (t->bytes == 1);
    int shift = FLOAT_FRACTION - t->fraction, own_bias = (1 << (t->exponent - 1)) - 1;
    str_printf(out,
               "uint bits_of_%s(float x)\n{\n"
               "    const uint whole = floatBitsToUint(x), magnitude = whole & 0x7fffffffu;\n"
               "    const uint rounded = magnitude + %" PRIu32 "u + (magnitude >> %d & 1u);\n"
               "    uint bits = min((rounded >> %d) - %" PRIu32 "u, %" PRIu32 "u);\n",
               t->name, (UINT32_C(1) << (shift - 1)) - 1, shift, shift,
               (uint32_t)(FLOAT_BIAS - own_bias) << t->fraction, most);
    if (own_bias < FLOAT_BIAS) // else its small numbers are those of a float
        str_printf(out,
                   "    bits = mix(bits, uint(roundEven(min(abs(x), 1.0) * %.17g)), magnitude < "
                   "%" PRIu32 "u);\n",
                   ldexp(1, own_bias - 1 + t->fraction),
                   (uint32_t)(FLOAT_BIAS + 1 - own_bias) << FLOAT_FRACTION);
    str_printf(out,
               "    bits = mix(bits, %" PRIu32 "u, magnitude > 0x7f800000u);\n"
               "    return bits | whole >> 31 << %d;\n}\n",
               limit | UINT32_C(1) << (t->fraction - 1), 8 * t->bytes - 1);
}
