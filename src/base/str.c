#include "base/str.h"

#include "base/mem.h"
#include "base/number.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static void make_room(struct str *s, size_t more)
{
    size_t need = s->length + more + 1;
    if (need <= s->capacity)
        return;
    s->capacity = need > 2 * s->capacity ? need : 2 * s->capacity;
    s->text = mem_resize(s->text, s->capacity, 1);
}

void str_add_bytes(struct str *s, const void *bytes, size_t length)
{
    make_room(s, length);
    if (length)
        memcpy(s->text + s->length, bytes, length);
    s->length += length;
    s->text[s->length] = '\0';
}

void str_add(struct str *s, const char *text)
{
    str_add_bytes(s, text, strlen(text));
}

void str_add_char(struct str *s, char c)
{
    str_add_bytes(s, &c, 1);
}

void str_printf(struct str *s, const char *format, ...)
{
    va_list args;
    size_t room = s->capacity - s->length;
    va_start(args, format);
    int length = vsnprintf(s->text ? s->text + s->length : NULL, room, format, args);
    va_end(args);
    if ((size_t)length >= room) {
        make_room(s, (size_t)length);
        va_start(args, format);
        vsnprintf(s->text + s->length, (size_t)length + 1, format, args);
        va_end(args);
    }
    s->length += (size_t)length;
}

void str_add_int(struct str *s, int64_t value)
{
    char digits[20];
    size_t first = sizeof digits;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do {
        digits[--first] = (char)('0' + rest % 10);
    } while (rest /= 10);
    if (value < 0)
        digits[--first] = '-';
    str_add_bytes(s, digits + first, sizeof digits - first);
}

void str_add_shell(struct str *s, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:=,+@%^";
    if (*word && !word[strspn(word, plain)]) {
        str_add(s, word);
        return;
    }
    str_add_char(s, '\'');
    for (; *word; word++)
        if (*word == '\'')
            str_add(s, "'\\''");
        else
            str_add_char(s, *word);
    str_add_char(s, '\'');
}

void str_add_base64(struct str *s, const void *bytes, size_t length)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = bytes;
    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i;
        unsigned group = (unsigned)b[i] << 16;
        group |= left > 1 ? (unsigned)b[i + 1] << 8 : 0;
        group |= left > 2 ? b[i + 2] : 0;
        str_add_char(s, digit[group >> 18]);
        str_add_char(s, digit[group >> 12 & 63]);
        str_add_char(s, left > 1 ? digit[group >> 6 & 63] : '=');
        str_add_char(s, left > 2 ? digit[group & 63] : '=');
    }
}

// Returns the length in bytes of the UTF-8 character that starts at `p`, 0 when there is none (RFC
// 3629: no overlong forms, no surrogates, nothing above U+10FFFF). The terminating NUL is never a
// continuation byte, so it stops every read.
static size_t utf8_length(const unsigned char *p)
{
    if (p[0] < 0x80)
        return 1;
    unsigned char low = 0x80, high = 0xbf; // range of the second byte
    size_t length;
    if (p[0] >= 0xc2 && p[0] <= 0xdf) {
        length = 2;
    } else if (p[0] >= 0xe0 && p[0] <= 0xef) {
        length = 3;
        low = p[0] == 0xe0 ? 0xa0 : 0x80;
        high = p[0] == 0xed ? 0x9f : 0xbf;
    } else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
        length = 4;
        low = p[0] == 0xf0 ? 0x90 : 0x80;
        high = p[0] == 0xf4 ? 0x8f : 0xbf;
    } else {
        return 0;
    }
    if (p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (p[i] < 0x80 || p[i] > 0xbf)
            return 0;
    return length;
}

uint32_t str_next_glyph(const char **text)
{
    const unsigned char *p = (const unsigned char *)*text;
    size_t length = utf8_length(p);
    *text += length ? length : 1;
    if (length < 2)
        return length ? p[0] : STR_NO_GLYPH;
    uint32_t c = p[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++)
        c = c << 6 | (p[i] & 0x3f);
    return c;
}

void str_add_glyph(struct str *s, uint32_t glyph)
{
    int more = glyph < 0x80 ? 0 : glyph < 0x800 ? 1 : glyph < 0x10000 ? 2 : 3; // bytes to follow
    uint32_t lead = more ? 0xf00u >> (more + 1) & 0xff : 0;
    str_add_char(s, (char)(lead | glyph >> 6 * more));
    while (more-- > 0)
        str_add_char(s, (char)(0x80 | (glyph >> 6 * more & 0x3f)));
}

void str_add_valid(struct str *s, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        size_t length = utf8_length(p);
        if (length > 0)
            str_add_bytes(s, p, length);
        else
            str_add(s, "\xef\xbf\xbd"); // U+FFFD
        p += length > 0 ? length : 1;
    }
}

void str_add_csv(struct str *s, const char *text)
{
    const char *quote = strpbrk(text, ",\"\r\n") ? "\"" : "";
    str_add(s, quote);
    for (; *text; text++) {
        if (*text == '"')
            str_add_char(s, '"');
        str_add_char(s, *text);
    }
    str_add(s, quote);
}

void str_add_markdown(struct str *s, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<': str_add(s, "&lt;"); break;
        case '>': str_add(s, "&gt;"); break;
        case '&': str_add(s, "&amp;"); break;
        case '\n':
        case '\r': str_add_char(s, ' '); break;
        default:
            if (strchr("|\\`*[]", *text))
                str_add_char(s, '\\');
            str_add_char(s, *text);
        }
}

// Numbers are written and read in the C locale, whatever that of the program is: this thread alone
// changes its locale for a moment.
static locale_t enter_c_locale(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static void leave_c_locale(locale_t before)
{
    freelocale(uselocale(before));
}

void str_add_real(struct str *s, double value)
{
    if (fabs(value) < 1e15 && value == floor(value) && (value != 0 || !signbit(value))) {
        str_add_int(s, (int64_t)value);
        return;
    }
    locale_t before = enter_c_locale();
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    leave_c_locale(before);
    str_add(s, text);
}

void str_cut(struct str *s, size_t length)
{
    if (length < s->length) {
        s->length = length;
        s->text[length] = '\0';
    }
}

const char *str_text(const struct str *s)
{
    return s->text ? s->text : "";
}

char *str_take(struct str *s)
{
    char *text = s->text ? s->text : mem_strdup("");
    *s = (struct str){0};
    return text;
}

void str_finish(struct str *s)
{
    free(s->text);
    *s = (struct str){0};
}

bool str_equal(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool str_starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool str_to_int(const char *text, int64_t low, int64_t high, int64_t *out)
{
    const char *digits = text[0] == '-' ? text + 1 : text;
    size_t length = strspn(digits, "0123456789");
    if (length == 0 || digits[length])
        return false;
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    if (errno || value < low || value > high)
        return false;
    *out = value;
    return true;
}

bool str_to_real(const char *text, double *out)
{
    if (text[strspn(text, "0123456789.eE+-")]) // no spaces, no hexadecimal, no "inf" or "nan"
        return false;
    locale_t before = enter_c_locale();
    char *end;
    double value = strtod(text, &end);
    leave_c_locale(before);
    if (end == text || *end || !isfinite(value))
        return false;
    *out = value;
    return true;
}

// Copies the next number of a list into `out`. False at the end.
static bool next_number(const char **list, char out[40])
{
    const char *start = *list ? *list + strspn(*list, "[], ") : "";
    size_t length = strcspn(start, "[], ");
    *list = start + length;
    if (length == 0 || length >= 40)
        return false;
    memcpy(out, start, length);
    out[length] = '\0';
    return true;
}

int str_to_reals(const char *list, double *out, int most)
{
    char number[40];
    int count = 0;
    while (count < most && next_number(&list, number) && str_to_real(number, &out[count]))
        count++;
    return count;
}

int str_to_ints(const char *list, int64_t *out, int most)
{
    char number[40];
    int count = 0;
    while (count < most && next_number(&list, number) &&
           str_to_int(number, 0, INT64_MAX, &out[count]))
        count++;
    return count;
}

uint64_t hash_bytes(const void *bytes, size_t length)
{
    return XXH3_64bits(bytes, length);
}

void hash_hex(const void *bytes, size_t length, char out[33])
{
    XXH128_canonical_t hash;
    XXH128_canonicalFromHash(&hash, XXH3_128bits(bytes, length));
    for (size_t i = 0; i < sizeof hash.digest; i++)
        snprintf(out + 2 * i, 3, "%02x", hash.digest[i]);
}

enum { SUGGEST_LONGEST = 63, SUGGEST_MOST = 1000 };

const char *str_suggest(const char *name, size_t n,
                        const char *(*name_at)(const void *context, size_t i), const void *context)
{
    size_t length = strlen(name);
    if (length > SUGGEST_LONGEST)
        return NULL;
    size_t nearest = (length < 3 ? 1 : length / 3) + 1;
    const char *found = NULL;
    for (size_t i = 0; i < n && i < SUGGEST_MOST; i++) {
        const char *candidate = name_at(context, i);
        size_t candidate_length = strlen(candidate);
        if (candidate_length > SUGGEST_LONGEST)
            continue;
        // Damerau-Levenshtein distance (optimal string alignment: insert, delete, replace, swap
        // neighbours), in three rows of the table: row[k % 3][j] is the distance from the first k
        // characters of `name` to the first j of `candidate`.
        size_t row[3][SUGGEST_LONGEST + 1];
        for (size_t j = 0; j <= candidate_length; j++)
            row[0][j] = j;
        for (size_t k = 1; k <= length; k++) {
            size_t *now = row[k % 3], *above = row[(k + 2) % 3], *before = row[(k + 1) % 3];
            now[0] = k;
            for (size_t j = 1; j <= candidate_length; j++) {
                size_t replace = above[j - 1] + (name[k - 1] != candidate[j - 1]);
                now[j] = uint64_min(replace, uint64_min(above[j], now[j - 1]) + 1);
                if (k > 1 && j > 1 && name[k - 1] == candidate[j - 2] &&
                    name[k - 2] == candidate[j - 1])
                    now[j] = uint64_min(now[j], before[j - 2] + 1);
            }
        }
        size_t distance = row[length % 3][candidate_length];
        if (distance < nearest) {
            nearest = distance;
            found = candidate;
        }
    }
    return found;
}

static const char *list_name(const void *context, size_t i)
{
    const char *const *candidates = context;
    return candidates[i];
}

const char *str_suggest_list(const char *name, size_t n, const char *const *candidates)
{
    return str_suggest(name, n, list_name, candidates);
}
