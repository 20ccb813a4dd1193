// Filters: a text that people type decides which trials or which sessions are listed.
//
//     struct filter *f = filter_compile("tm=128 not (early or ms>3)", space, &amounts, e);
//     if (filter_accepts(f, trial)) ...
//     filter_destroy(f);
//
// Both kinds have one grammar. Terms are joined by a blank or `and`, by `or`, negated by `not`,
// grouped by parentheses; `not` binds before `and`, `and` before `or`. A term is NAME OP VALUE or
// one word alone; OP is = != < <= > >= ~ (contains) or : (texts contain it, numbers equal it). What
// holds blanks or signs stands in double quotes, where \" and \\ are those two characters. The
// beginning of a name is enough where only one name begins so. Upper and lower case are the same.
//
// Trials: a NAME is a parameter, a part of one (tile_k[2] or tile_k.2, counted from 1 as in space
// files), or one of filter_fields; a parameter stands before a field. A dot before the name says
// that it is a field: .registers, where the space has a parameter of that name. `early` alone means
// early=yes, `failed` failed=yes (measured and not ok); no other word stands alone. Speeds and
// times are those that are shown (text.h).
// Whole factorizations and permutations are equal to lists, tile_k=16,4,16. Measured numbers
// (speed, time, spread) are equal to what they round to: tflops=41.3. What a trial does not have
// (the speed of one that failed, the outcome of one in flight) matches no term at all, so that `not
// tflops>30` finds failures too. `parent` is the ask of any trial that a parameter was taken from.
//
// Sessions: a word alone stands anywhere in what a row shows, or in the note, the driver, the path
// or the last message. FIELD=VALUE is all of a text. `best` is in the unit that the list shows
// (GB/s of those rated by bytes), and equal when it is shown so; relative speeds have no unit. A
// name that is no field is an error, unless the term as it stands is to be seen in some session:
// synthetic:rugged, q=0.3.
//
// A compiled filter looks up values of parameters as bits, so that a trial is judged in well under
// a microsecond.
#ifndef TILEWALK_UI_FILTER_H
#define TILEWALK_UI_FILTER_H

#include "model.h"

struct filter;

// One run of the trials: its FLOP and milliseconds, where a cost of 1 is a second (NAN: it is not),
// and its amount in the unit that the session is rated by: speed_rate of a second (engine/speed.h).
struct filter_amounts {
    double flop, ms, rate;
    bool is_inverse; // the rate is a cost
};

// Names of what is no parameter: "outcome", "tflops", ...; NULL-terminated.
extern const char *const filter_fields[];

// Compiles a filter for trials of `space`, which outlives it (NULL: only fields can be named), and
// of these amounts. A text without terms accepts everything. Returns NULL when the text is wrong;
// `e` (may be NULL) then names the column, from 1, and perhaps what was meant.
struct filter *filter_compile(const char *text, const struct space *space,
                              const struct filter_amounts *a, struct err *e);
bool filter_accepts(const struct filter *f, const struct trial *t);
bool filter_is_empty(const struct filter *f);
// True when it asks for rejected configurations, by their outcome or by a reason.
bool filter_asks_rejected(const struct filter *f);

// The same for sessions. The model is needed during the call only.
struct filter *session_filter_compile(const char *text, const struct model *m, struct err *e);
// A filter that is NULL accepts every row. Speeds are shown in units of 1 / `per_flops` FLOP/s
// (sessions_unit).
bool session_filter_accepts(const struct filter *f, const struct session_row *row,
                            double per_flops);

void filter_destroy(struct filter *f); // NULL is fine

// True when `text` (NULL counts as "") contains `part`, in upper or lower case.
bool text_contains(const char *text, const char *part);

#endif
