// Specs: the name of a search or a schedule with its options, as NAME:key=value:key=value.
//
//     struct spec s;
//     if (spec_parse(&family, "opevo:q=0.3", &s, e))
//         ...the kind s.kind of the family, with s.option[i] for its i-th option...
//
// An option that is not given has its default. A canonical spec has every option except some that
// were added later (if_given), so that a stored spec means the same when defaults have changed.
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
    bool if_given; // canonical specs have it only if it was given: it was added later, and the name
                   // of an older search must mean the same (and draw the same seeds)
    bool hidden;   // for benchmarks and stored searches: no help names it
};

// The kinds to choose from, numbered from 0.
struct spec_family {
    const char *noun;                               // "strategy": for errors
    const char *(*name)(int kind);                  // NULL past the last
    const struct spec_option *(*options)(int kind); // ends with a NULL name
};

struct spec {
    int kind;
    double option[SPEC_OPTIONS]; // all are in range
    bool given[SPEC_OPTIONS];    // the text has it
};

// False: unknown names and keys with a suggestion, values out of range with the range.
bool spec_parse(const struct spec_family *f, const char *text, struct spec *out, struct err *e);
int spec_find(const struct spec_family *f, const char *name);            // -1: no kind has it
char *spec_canonical(const struct spec_family *f, const struct spec *s); // heap, the caller's
// Splits "a,b:key=value" into its specs. `list` and its texts are the caller's, also after an
// error. False: `canonical` rejects one.
bool spec_list_parse(const char *text, char *(*canonical)(const char *spec, struct err *e),
                     char ***list, int *count, struct err *e);
// Appends the value of an option: a number, or its word.
void spec_add_value(const struct spec_option *o, double value, struct str *out);

#endif
