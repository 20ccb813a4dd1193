// One term of a filter: a name, an operator, a value (filter.c joins them).
//
//     struct term t = {0};
//     term_set_name(&t, space, "tile_k[2]", e) && term_set_value(&t, TERM_GREATER, "4", e)
//     term_holds(&t, trial, &amounts)
//     term_finish(&t);
//
// What can be named falls into four sorts. A set has few values, each judged once when the term is
// compiled (words, listed numbers, orders' places); numbers are compared; texts are searched; whole
// lists are compared slot by slot.
#ifndef TILEWALK_UI_FILTER_TERM_H
#define TILEWALK_UI_FILTER_TERM_H

#include "filter.h"
#include "filter_op.h"
#include "model.h"

// The first are numbers, in the order of filter_fields.
enum term_field {
    FIELD_TFLOPS,
    FIELD_GFLOPS,
    FIELD_RATE,
    FIELD_MS,
    FIELD_SPREAD, // half of it, in percent: the ± of lists
    FIELD_NUMBER,
    FIELD_ASK,
    FIELD_GENERATION,
    FIELD_WORKER,
    FIELD_REGISTERS, // what drivers say, as enum statistic_kind has it
    FIELD_SPILLS,
    FIELD_SHARED,
    FIELD_OCCUPANCY,
    FIELD_CODE_SIZE,
    FIELD_PARENT,
    FIELD_OUTCOME,
    FIELD_EARLY,
    FIELD_REASON,
    FIELD_PHASE,
    FIELD_PARAM
};

struct term {
    enum term_field field;
    const struct param *param; // of FIELD_PARAM
    int part;                  // of it, from 1; 0: all of it
    enum term_op op;
    char *value;                   // as typed
    double number;                 // of numbers
    double tolerance;              // of measured ones: half a unit of the last digit typed
    uint8_t *holds;                // of sets: one for each value
    int32_t slot[PARAM_MAX_WIDTH]; // of whole lists
};

extern const char *const term_ops[]; // "=", "!=", ..., indexed by enum term_op

bool term_set_name(struct term *t, const struct space *space, const char *name, struct err *e);
bool term_set_value(struct term *t, enum term_op op, const char *value, struct err *e);
void term_finish(struct term *t);
bool term_holds(const struct term *t, const struct trial *trial, const struct filter_amounts *a);
bool term_asks_rejected(const struct term *t);

#endif
