// The outcome of a trial. The words never change: they are in databases, JSON and scripts.
//
//   ok        measured and verified
//   rejected  a constraint or a static limit forbids it: never launched, costs no trial
//   compile   the GLSL or SPIR-V front end refused it
//   driver    the driver's compiler refused it
//   timeout   a phase exceeded its deadline
//   crash     the worker died
//   lost      the device was lost
//   wrong     it ran and its result differs from the reference
#ifndef TILEWALK_SPACE_OUTCOME_H
#define TILEWALK_SPACE_OUTCOME_H

#include <stdbool.h>

enum outcome {
    OUTCOME_OK,
    OUTCOME_REJECTED,
    OUTCOME_COMPILE,
    OUTCOME_DRIVER,
    OUTCOME_TIMEOUT,
    OUTCOME_CRASH,
    OUTCOME_LOST,
    OUTCOME_WRONG,
    OUTCOME_COUNT,
    OUTCOME_OPEN = OUTCOME_COUNT // a trial in flight has no outcome yet
};

const char *outcome_name(enum outcome o); // NULL for OUTCOME_OPEN
bool outcome_parse(const char *word, enum outcome *o);

#endif
