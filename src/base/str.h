// Strings: a growable buffer, strict parsing of numbers, content hashes, "did you mean".
//
//     struct str s = {0};              // empty and valid
//     str_printf(&s, "%d trials", n);
//     puts(str_text(&s));
//     str_finish(&s);                  // or: char *text = str_take(&s);
//
// A text that is added must not point into the buffer that it is added to.
#ifndef TILEWALK_BASE_STR_H
#define TILEWALK_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A growable, always terminated byte string.
struct str {
    char *text; // NULL while nothing was ever added; use str_text to read
    size_t length, capacity;
};

void str_add(struct str *s, const char *text);
void str_add_bytes(struct str *s, const void *bytes, size_t length);
void str_add_char(struct str *s, char c);
void str_printf(struct str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Appends `text` with U+FFFD for each byte that is not part of valid UTF-8.
void str_add_valid(struct str *s, const char *text);
// Adds a word of a command line, quoted where a shell would split or change it.
void str_add_shell(struct str *s, const char *word);
// Adds a field of a CSV line (RFC 4180), quoted where it must be.
void str_add_csv(struct str *s, const char *text);
// Adds text of others to Markdown, within a line or a cell: what would be formatting, a link or
// HTML is escaped, a line break becomes a blank.
void str_add_markdown(struct str *s, const char *text);
void str_add_glyph(struct str *s, uint32_t glyph); // a code point, as UTF-8
// Adds bytes as base64 (RFC 4648, with padding).
void str_add_base64(struct str *s, const void *bytes, size_t length);
void str_add_int(struct str *s, int64_t value);
// Adds a finite number with the fewest decimals that read back the same, in C notation in every
// locale.
void str_add_real(struct str *s, double value);

void str_cut(struct str *s, size_t length); // to its first bytes

const char *str_text(const struct str *s); // never NULL
char *str_take(struct str *s);             // the text, now owned by the caller; `s` is empty
void str_finish(struct str *s);

// Returns the code point that `*text` begins with (UTF-8, RFC 3629) and moves `*text` behind it.
// Where no valid one begins it returns STR_NO_GLYPH and moves by one byte. Not for an empty text.
#define STR_NO_GLYPH UINT32_MAX
uint32_t str_next_glyph(const char **text);

bool str_equal(const char *a, const char *b); // either may be NULL
bool str_starts(const char *text, const char *prefix);

// Parse a whole text: a decimal integer within [low, high], a finite decimal number in C notation
// in every locale. False for anything else (spaces, overflow, rests), then `*out` is untouched.
bool str_to_int(const char *text, int64_t low, int64_t high, int64_t *out);
bool str_to_real(const char *text, double *out);

// Parse a flat list, "[0.5,0.25]" or "3, 0, 7", up to the first word that is no number (for
// integers: no number >= 0) and at most `most` numbers. Return how many; NULL is an empty list.
int str_to_reals(const char *list, double *out, int most);
int str_to_ints(const char *list, int64_t *out, int most);

// 64-bit and 128-bit content hashes (XXH3), the same on every machine. The 128-bit one is written
// as 32 lower-case hex digits and a NUL.
uint64_t hash_bytes(const void *bytes, size_t length);
void hash_hex(const void *bytes, size_t length, char out[33]);

// Returns the candidate nearest to `name`, the first of several, or NULL when none is within a
// third of its length (at least 1) by Damerau-Levenshtein distance. `name_at(context, i)` returns
// candidate i of n. Only the first thousand are compared.
const char *str_suggest(const char *name, size_t n,
                        const char *(*name_at)(const void *context, size_t i), const void *context);
const char *str_suggest_list(const char *name, size_t n, const char *const *candidates);

#endif
