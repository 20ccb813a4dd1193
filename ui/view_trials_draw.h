// The columns of the trials screen: what each shows, how wide it is, and by what it sorts.
//
//     columns_make(&c, model);                       once for a session
//     column_head(&c.column[i], model);              "TFLOPS"
//     column_add_text(&c.column[i], model, trial, &text);
//     key = column_key(&c.column[i], trial, words)
//
// The first ones (COLUMN_NUMBER .. COLUMN_OUTCOME) stay at the left; then come what was measured,
// every parameter as its own column, and the reason of failures, which takes the room that is left.
// A width is that of the widest value there can be, so that columns stand still while rows go by.
#ifndef TILEWALK_UI_VIEW_TRIALS_DRAW_H
#define TILEWALK_UI_VIEW_TRIALS_DRAW_H

#include "trial_text.h"

enum column_kind {
    COLUMN_NUMBER,
    COLUMN_SPEED,
    COLUMN_OUTCOME,
    COLUMN_SPREAD,
    COLUMN_TIME,
    COLUMN_GENERATION,
    COLUMN_ASK,
    COLUMN_PARAM,
    COLUMN_REASON
};

#define FIXED_COLUMNS 3
#define MOST_COLUMNS  (COLUMN_PARAM + SPACE_MAX_PARAMS + 1)

struct column {
    enum column_kind kind;
    const struct param *param; // of COLUMN_PARAM; the open session's
    int width;                 // without a gap; COLUMN_REASON: the least that is of use
    bool right;                // aligned, as numbers are
};

struct columns {
    struct column column[MOST_COLUMNS];
    int count;
};

// Texts in alphabetical order. Each has a number, and numbers sort as the texts do; a text that
// comes later gets one between those of its neighbours.
struct words {
    struct word {
        char *text;
        double key;
    } * word;
    int count, capacity;
};

void columns_make(struct columns *c, const struct model *m);
const char *column_head(const struct column *c, const struct model *m);
// Nothing where the trial has no such thing.
void column_add_text(const struct column *c, const struct model *m, const struct trial *t,
                     struct str *out);
// The number by which this column sorts trials, ascending; NaN where the trial has nothing there.
// Texts are added to `words`, which gives them their numbers. A long factorization of large numbers
// has more than a double can tell apart: then its last parts do not count.
double column_key(const struct column *c, const struct trial *t, struct words *words);

double words_key(struct words *w, const char *text);
void words_finish(struct words *w);

#endif
