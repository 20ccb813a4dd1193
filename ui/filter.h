// A filter: which trials are shown, as a text that people type.
//
//     const char *text = "tm=128 outcome=ok not reason~\"shared memory\"";
//     struct filter *f = filter_compile(text, space, &amounts, e);
//     if (filter_accepts(f, trial)) ...
//     filter_destroy(f);
//
// How terms are written and joined is in expression.h. A NAME is a parameter, a part of one
// (tile_k[2] or tile_k.2, counted from 1 as in space files), or one of filter_fields; the beginning
// of a name is enough when only one begins so, a parameter before a field. A dot before it says
// that it is a field: .registers, where the space has a parameter of that name. `early` alone means
// early=yes.
//
// Speeds and times are those that are shown (trial_text.h). Whole factorizations and permutations
// are equal to lists, tile_k=16,4,16. Measured numbers (speed, time, spread) are equal to what they
// round to: tflops=41.3. What a trial has not (the speed of one that failed, the number of a
// rejected one, the outcome of one in flight) matches no term at all, so that `not tflops>30` finds
// failures too. `registers`, `spills`, `shared`, `occupancy` and `code_size` are what the driver
// says of a kernel. `parent` is the ask of any trial that a parameter was taken from; parent!=3
// finds those that have parents, but not 3.
//
// Compiled filters know nothing of the text any more: values of parameters are looked up as bits,
// so that a trial is judged in well under a microsecond.
#ifndef TILEWALK_UI_FILTER_H
#define TILEWALK_UI_FILTER_H

#include "model.h"

struct filter;

// Of one run of the trials: its FLOP, and what it does in what the session is rated by: speed_rate
// of a second (engine/speed.h).
struct filter_amounts {
    double flop, rate;
};

// Names of what is no parameter: "outcome", "tflops", ...; NULL-terminated.
extern const char *const filter_fields[];

// Compiles a filter for trials of `space`, which outlives it (NULL: only fields can be named), and
// of these amounts. A text without terms accepts everything. Returns NULL when the text is wrong;
// `e` (may be NULL) then names the column, from 1, and perhaps what was meant.
struct filter *filter_compile(const char *text, const struct space *space,
                              const struct filter_amounts *a, struct err *e);
void filter_destroy(struct filter *f);
bool filter_accepts(const struct filter *f, const struct trial *t);
bool filter_is_empty(const struct filter *f);
// Whether it asks for rejected configurations, by their outcome or by a reason.
bool filter_asks_rejected(const struct filter *f);

#endif
