// A first check of a space file and its template, before anybody relies on them: a candidate is
// taken as far as its SPIR-V, which calls every rule that a candidate needs (constraints, what they
// derive, resources, the kernel's functions, scratch), renders every pass and compiles it.
//
//     switch (attempt_candidate(script, limits, seed, NULL, ATTEMPT_SECONDS, e)) ...
//
// `check`, a new session and the workbench's check of an edited file use it. A template may be
// wrong for some candidates, which are trials that fail then: it is refused here when none
// of a few compiles. A rule that fails is an error at once.
#ifndef TILEWALK_ENGINE_ATTEMPT_H
#define TILEWALK_ENGINE_ATTEMPT_H

#include "script/script.h"
#include "space/legal.h"

#define ATTEMPT_SECONDS 30 // as long as one trial may compile

enum attempt {
    ATTEMPT_FAILED,   // a rule or the template is wrong, `e` says where
    ATTEMPT_NO_LEGAL, // nothing legal was found that could be rendered
    ATTEMPT_COMPILED
};

// `s` has a kernel. `l`: limits of the device, NULL without one. `first` is tried before those that
// `seed` draws; NULL: there is none. Takes tens of milliseconds; a compiler that hangs, in its own
// process, is waited for `seconds` in all.
enum attempt attempt_candidate(struct script *s, const struct limits *l, uint64_t seed,
                               const struct config *first, double seconds, struct err *e);

// Evaluates the rules of a space on points that reach them: on draws, and on all that is met while
// the legal points are counted, within LEGAL_STEPS_SHORT. Gives what was counted; the caller
// destroys it. False: a rule fails, and `*out` is NULL.
#define LEGAL_STEPS_SHORT (LEGAL_STEPS / 5)
bool attempt_rules(const struct space *space, const struct limits *l, struct legal **out,
                   struct err *e);

#endif
