#include "syntax.h"

#include "base/str.h"
#include "screen.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// --- words of GLSL 4.60 and of the extensions that kernels use, sorted ---

static const char *const keywords[] = {
    "attribute",
    "break",
    "buffer",
    "case",
    "centroid",
    "coherent",
    "const",
    "continue",
    "default",
    "demote",
    "discard",
    "do",
    "else",
    "false",
    "flat",
    "for",
    "highp",
    "if",
    "in",
    "inout",
    "invariant",
    "layout",
    "lowp",
    "mediump",
    "nonprivate",
    "nonuniformEXT",
    "noperspective",
    "out",
    "patch",
    "precise",
    "precision",
    "queuefamilycoherent",
    "readonly",
    "restrict",
    "return",
    "sample",
    "shared",
    "smooth",
    "struct",
    "subgroupcoherent",
    "subroutine",
    "switch",
    "true",
    "uniform",
    "varying",
    "volatile",
    "while",
    "workgroupcoherent",
    "writeonly",
};

static const char *const types[] = {
    "atomic_uint", "bfloat16_t", "bool",      "coopmat",   "coopvecNV", "double",
    "fcoopmatNV",  "float",      "float16_t", "float32_t", "float64_t", "icoopmatNV",
    "int",         "int16_t",    "int32_t",   "int64_t",   "int8_t",    "tensorLayoutNV",
    "ucoopmatNV",  "uint",       "uint16_t",  "uint32_t",  "uint64_t",  "uint8_t",
    "void",
};

static int compare_words(const void *key, const void *item)
{
    return strcmp(key, *(const char *const *)item);
}

static bool is_listed(const char *word, const char *const *list, size_t count)
{
    return bsearch(word, list, count, sizeof *list, compare_words) != NULL;
}

// True for "image2D", "uimageBuffer", "sampler2DArray", ...; functions ("imageStore") are none.
static bool is_image(const char *word)
{
    static const char *const kinds[] = {"image", "sampler", "texture"};
    word += (*word == 'i' && word[1] != 'm') || *word == 'u';
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *rest = word + strlen(kinds[i]);
        if (str_starts(word, kinds[i]))
            return isdigit((unsigned char)*rest) || str_starts(rest, "Buffer") ||
                   str_starts(rest, "Cube") || str_equal(word, "sampler");
    }
    return false;
}

// True for "vec3", "ivec2", "f16vec4", "mat4x3", "dmat2", ...
static bool is_vector(const char *word)
{
    static const char *const before[] = {"",    "b",   "d",  "f16", "f32", "f64", "i",   "i16",
                                         "i32", "i64", "i8", "u",   "u16", "u32", "u64", "u8"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        const char *rest = word + strlen(before[i]);
        if (!str_starts(word, before[i]) || !(str_starts(rest, "vec") || str_starts(rest, "mat")) ||
            rest[3] < '2' || rest[3] > '4')
            continue;
        bool is_wide = *rest == 'm' && rest[4] == 'x' && rest[5] >= '2' && rest[5] <= '4';
        if (rest[is_wide ? 6 : 4] == '\0')
            return true;
    }
    return false;
}

enum { WORD_SIZE = 32 }; // bytes; longer words are names

static enum style style_of_word(const char *text, size_t length)
{
    char word[WORD_SIZE];
    if (length >= sizeof word)
        return STYLE_TEXT;
    memcpy(word, text, length);
    word[length] = '\0';
    if (is_listed(word, keywords, sizeof keywords / sizeof *keywords))
        return STYLE_KEYWORD;
    bool is_type =
        is_listed(word, types, sizeof types / sizeof *types) || is_vector(word) || is_image(word);
    return is_type ? STYLE_TYPE : STYLE_TEXT;
}

// --- tokens ---

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// Each returns the bytes of the token that a text begins with; 0: it begins with another one.

static size_t name_length(const char *text)
{
    size_t n = 0;
    while (is_word(text[n]))
        n++;
    return n;
}

static size_t word_length(const char *text)
{
    return isdigit((unsigned char)*text) ? 0 : name_length(text);
}

static size_t number_length(const char *text)
{
    if (!isdigit((unsigned char)text[*text == '.']))
        return 0;
    bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    size_t n = 0;
    while (is_word(text[n]) || text[n] == '.') {
        bool is_exponent = !is_hex && (text[n] == 'e' || text[n] == 'E');
        n++;
        n += is_exponent && (text[n] == '+' || text[n] == '-');
    }
    return n;
}

static size_t string_length(const char *text)
{
    size_t n = *text == '"';
    while (n && text[n] && text[n] != '"')
        n += 1 + (text[n] == '\\' && text[n + 1]);
    return n + (n && text[n]);
}

static size_t paint(uint8_t *style, size_t length, enum style s)
{
    memset(style, (int)s, length);
    return length;
}

// --- lines ---

// Paints a comment from `text` on, whose first `begun` bytes open it. Returns its bytes on this
// line; `*ends`: it ends there.
static size_t paint_comment(const char *text, size_t begun, uint8_t *style, bool *ends)
{
    const char *end = strstr(text + begun, "*/");
    *ends = end != NULL;
    return paint(style, end ? (size_t)(end - text) + 2 : strlen(text), STYLE_COMMENT);
}

enum syntax_state syntax_scan_glsl(enum syntax_state state, const char *line, uint8_t *style)
{
    size_t at = 0, length = strlen(line);
    bool ends = true, is_directive = state == SYNTAX_DIRECTIVE;
    if (state == SYNTAX_COMMENT)
        at = paint_comment(line, 0, style, &ends);
    else if (line[strspn(line, " \t")] == '#')
        is_directive = true;
    while (at < length) {
        const char *text = line + at;
        size_t word = word_length(text), number = number_length(text);
        if (text[0] == '/' && text[1] == '/')
            at += paint(style + at, length - at, STYLE_COMMENT);
        else if (text[0] == '/' && text[1] == '*')
            at += paint_comment(text, 2, style + at, &ends);
        else if (is_directive)
            at += paint(style + at, 1, STYLE_DIRECTIVE);
        else if (number)
            at += paint(style + at, number, STYLE_NUMBER);
        else if (word)
            at += paint(style + at, word, style_of_word(text, word));
        else
            at += paint(style + at, 1, STYLE_TEXT);
    }
    bool continues = is_directive && length && line[length - 1] == '\\';
    return !ends ? SYNTAX_COMMENT : continues ? SYNTAX_DIRECTIVE : SYNTAX_CODE;
}

void syntax_scan_spirv(const char *line, uint8_t *style)
{
    for (size_t at = 0, length = strlen(line); at < length;) {
        const char *text = line + at;
        size_t id = *text == '%' ? 1 + name_length(text + 1) : 0; // "%12" is no number
        size_t word = word_length(text), value = number_length(text) + string_length(text);
        enum style s = !str_starts(text, "Op")      ? STYLE_TEXT
                       : str_starts(text, "OpType") ? STYLE_TYPE
                                                    : STYLE_KEYWORD;
        if (*text == ';')
            at += paint(style + at, length - at, STYLE_COMMENT);
        else if (value)
            at += paint(style + at, value, STYLE_NUMBER);
        else
            at += paint(style + at, id + word ? id + word : 1, s);
    }
}
