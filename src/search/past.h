// What an earlier run of a search asked and was told: it answers the same asks again.
//
//     struct past *p = past_create();
//     past_add(p, &trial, e) ...              each trial once, by rising ask
//     past_close(p);                          now questions may be put to it
//     past_find(p, ask), past_may_tell(p, ask, asked, told) ...
//     past_destroy(p);
//
// Asks and tells are counted from 1. Asks that were in flight when the earlier run ended are there
// without an answer; some that were never written down may be missing between the others. All
// questions take NULL for "there is no earlier run".
#ifndef TILEWALK_SEARCH_PAST_H
#define TILEWALK_SEARCH_PAST_H

#include "space/outcome.h"
#include "space/space.h"

struct past;

struct past_trial {
    int64_t ask, asked_after; // how many had been told when it was asked
    struct config config;
    bool answered;
    int64_t told; // 1 .. in the order told
    enum outcome outcome;
    double seconds; // 0 unless ok
    double took_s;  // compiling and measuring it; 0: not known
};

struct past *past_create(void);
// False: too many trials are missing before this one.
bool past_add(struct past *p, const struct past_trial *t, struct err *e);
bool past_close(struct past *p); // false: `told` is not 1, 2, 3 ...
void past_destroy(struct past *p);

// The trial of that ask; NULL: it is not known. Valid until the past is destroyed.
const struct past_trial *past_find(const struct past *p, int64_t ask);
// Whether all that was told there has been told again, after `told` tells.
bool past_is_over(const struct past *p, int64_t told);
// For strategies that are told in any order: whether `ask` may be asked, or told, now, after
// `asked` asks and `told` tells, so that the strategy sees the order of the earlier run again.
bool past_may_ask(const struct past *p, int64_t ask, int64_t told);
bool past_may_tell(const struct past *p, int64_t ask, int64_t asked, int64_t told);

#endif
