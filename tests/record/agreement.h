// Whether the conditions of a T1 input forbid exactly the configurations that a recording lacks.
#ifndef TILEWALK_TESTS_AGREEMENT_H
#define TILEWALK_TESTS_AGREEMENT_H

#include "record/record.h"

// The comparison of conditions (the space of a T1 input) with a recording: they should forbid
// exactly the absent configurations. Parameters are matched by name; one that only `rules` has, or
// only `r`, has one value.
struct record_agreement {
    uint64_t points;         // of the recording's space; all are judged
    uint64_t legal;          // by the conditions
    uint64_t legal_absent;   // legal, and not recorded
    uint64_t illegal_record; // recorded, and not legal
    struct config example;   // a point of r->space that disagrees
};
bool recording_check(const struct recording *r, const struct space *rules,
                     struct record_agreement *out, struct err *e);

#endif
