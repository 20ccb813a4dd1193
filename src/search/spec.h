// How a search or a schedule is chosen, with its options, in one word: NAME:key=value:key=value.
//
//     struct spec s;
//     if (spec_parse(&family, "opevo:q=0.3", &s, e))
//         ...the kind s.kind of the family, with s.option[i] for its i-th option...
//
// What a text does not say holds by default. A canonical spec says every option but those that came
// later (if_given), so that what was stored means the same when defaults have changed.
#ifndef TILEWALK_SEARCH_SPEC_H
#define TILEWALK_SEARCH_SPEC_H

#include "base/err.h"
#include "base/str.h"

#define SPEC_OPTIONS 32

struct spec_option {
    const char *name, *help;
    double value, low, high; // default and allowed range, inclusive
    bool integer;
    const char *const *words; // NULL: a number; else the value i is written words[i] (low is 0)
    bool if_given; // canonical specs say it only where somebody gave it: it came later, and what
                   // a search was called before is to mean the same (and draw the same seeds)
};

// What can be chosen among, by numbers from 0.
struct spec_family {
    const char *noun;                               // "strategy": for errors
    const char *(*name)(int kind);                  // NULL past the last
    const struct spec_option *(*options)(int kind); // ends with a NULL name
};

struct spec {
    int kind;
    double option[SPEC_OPTIONS]; // all are in range
    bool given[SPEC_OPTIONS];    // the text says it
};

// False: unknown names and keys with a suggestion, values out of range with the range.
bool spec_parse(const struct spec_family *f, const char *text, struct spec *out, struct err *e);
int spec_find(const struct spec_family *f, const char *name);            // -1: no kind has it
char *spec_canonical(const struct spec_family *f, const struct spec *s); // heap, the caller's
// The specs of "a,b:key=value", as they were given, in `list` (the caller's, as are its texts, also
// after an error). False: `canonical` does not understand one.
bool spec_list_parse(const char *text, char *(*canonical)(const char *spec, struct err *e),
                     char ***list, int *count, struct err *e);
// Appends a value of an option as specs write it: a number, or its word.
void spec_add_value(const struct spec_option *o, double value, struct str *out);

#endif
