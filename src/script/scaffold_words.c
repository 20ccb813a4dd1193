#include "script/scaffold_words.h"

#include "base/str.h"

#include <string.h>

static const char keywords[] =
    " attribute break buffer case centroid coherent const continue default discard do else flat "
    "for highp "
    "if in inout invariant layout lowp mediump noperspective out patch precise precision readonly "
    "restrict return sample shared smooth struct subroutine switch uniform void volatile while "
    "writeonly true false main length defined ";
static const char functions[] =
    " abs acos acosh all any asin asinh atan atanh barrier bitCount ceil clamp cos cosh cross "
    "degrees determinant distance dot equal exp exp2 faceforward floor fma fract frexp "
    "greaterThan greaterThanEqual inverse inversesqrt isinf isnan ldexp lessThan lessThanEqual "
    "log log2 matrixCompMult max min mix mod modf normalize not notEqual outerProduct pow radians "
    "reflect refract round roundEven sign sin sinh smoothstep sqrt step tan tanh transpose trunc "
    "umulExtended imulExtended uaddCarry usubBorrow groupMemoryBarrier controlBarrier ";
static const char *const prefixes[] = {
    "gl_",      "float",       "int",      "uint",    "bool",          "double",   "vec",
    "ivec",     "uvec",        "bvec",     "dvec",    "f16",           "f32",      "f64",
    "i8",       "u8",          "i16",      "u16",     "i32",           "u32",      "i64",
    "u64",      "mat",         "dmat",     "coopmat", "fcoopmat",      "subgroup", "atomic",
    "pack",     "unpack",      "bitfield", "find",    "memoryBarrier", "texel",    "texture",
    "image",    "sampler",     "iimage",   "uimage",  "isampler",      "usampler", "itexture",
    "utexture", "debugPrintf", "coopMat",  "bfloat",  "fe4m3",         "fe5m2",    NULL};

bool scaffold_is_listed(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at++)
        if (at > list && at[-1] == ' ' && at[length] == ' ')
            return true;
    return false;
}

bool scaffold_is_keyword(const char *word)
{
    return scaffold_is_listed(keywords, word);
}

bool scaffold_is_built_in(const char *word)
{
    bool is_known = scaffold_is_listed(functions, word);
    for (int i = 0; prefixes[i]; i++)
        is_known = is_known || str_starts(word, prefixes[i]);
    return is_known;
}

bool scaffold_is_lua_word(const char *name)
{
    static const char *const words[] = {"and",   "break", "do",       "else",  "elseif",  "end",
                                        "false", "for",   "function", "goto",  "if",      "in",
                                        "local", "nil",   "not",      "or",    "repeat",  "return",
                                        "then",  "true",  "until",    "while", "scratch", NULL};
    for (int i = 0; words[i]; i++)
        if (str_equal(words[i], name))
            return true;
    return false;
}

struct scaffold_type scaffold_type_of(const char *type)
{
    static const struct {
        const char *scalar, *vector, *name;
        int bytes;
    } known[] = {
        {"float", "vec", "f32", 4},
        {"float32_t", "f32vec", "f32", 4},
        {"int", "ivec", "i32", 4},
        {"int32_t", "i32vec", "i32", 4},
        {"uint", "uvec", "u32", 4},
        {"uint32_t", "u32vec", "u32", 4},
        {"bool", "bvec", "u32", 4},
        {"double", "dvec", "f64", 8},
        {"float64_t", "f64vec", "f64", 8},
        {"float16_t", "f16vec", "f16", 2},
        {"bfloat16_t", "bf16vec", "bf16", 2},
        {"int8_t", "i8vec", "i8", 1},
        {"uint8_t", "u8vec", "u8", 1},
        {"int16_t", "i16vec", "i16", 2},
        {"uint16_t", "u16vec", "u16", 2},
        {"int64_t", "i64vec", "i64", 8},
        {"uint64_t", "u64vec", "u64", 8},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct scaffold_type t = {known[i].name, known[i].bytes, 1, known[i].bytes == 4};
        size_t length = strlen(known[i].vector);
        if (str_equal(type, known[i].scalar))
            return t;
        if (!str_starts(type, known[i].vector) || type[length] < '2' || type[length] > '4' ||
            type[length + 1])
            continue;
        t.count = type[length] - '0';
        t.is_plain = false;
        return t;
    }
    bool is_whole = str_starts(type, "uint") || str_starts(type, "int");
    const char *name = !is_whole ? "f32" : *type == 'i' ? "i32" : "u32";
    return (struct scaffold_type){name, 0, 1, is_whole};
}
