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
