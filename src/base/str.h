// Strings: a growable buffer, hashes of content, and the "did you mean" suggestion.
#ifndef TILEWALK_BASE_STR_H
#define TILEWALK_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A growable, always terminated byte string. Zero-initialised is empty and valid (`struct str s = {0}`).
struct str {
    char *text; // NULL while nothing was ever added; use str_text to read
    size_t length, capacity;
};

void str_add(struct str *s, const char *text);
void str_add_bytes(struct str *s, const void *bytes, size_t length);
void str_add_char(struct str *s, char c);
void str_printf(struct str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void str_add_json(struct str *s, const char *text); // quoted and escaped; bytes that are not UTF-8 become U+FFFD
const char *str_text(const struct str *s);          // never NULL
char *str_take(struct str *s);                      // the text, now owned by the caller; `s` is empty
void str_finish(struct str *s);

bool str_equal(const char *a, const char *b); // either may be NULL
bool str_starts(const char *text, const char *prefix);

// Parses a whole decimal integer within [low, high]; false for anything else (spaces, overflow, rests).
bool str_to_int(const char *text, int64_t low, int64_t high, int64_t *out);
bool str_to_real(const char *text, double *out); // finite numbers only, C locale

// 64-bit and 128-bit content hashes (XXH3). The 128-bit one is written as 32 lower-case hex digits and a NUL.
uint64_t hash_bytes(const void *bytes, size_t length);
void hash_hex(const void *bytes, size_t length, char out[33]);

// The candidate nearest to `name` by Damerau-Levenshtein distance (at most a third of its length, at least 1), or NULL.
// `name_at(context, i)` gives candidate i of n.
const char *str_suggest(const char *name, size_t n, const char *(*name_at)(const void *context, size_t i),
                        const void *context);
const char *str_suggest_list(const char *name, size_t n, const char *const *candidates);

#endif
