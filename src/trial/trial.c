#include "trial/trial.h"

#include <assert.h>

const char *trial_phase_name(enum trial_phase p)
{
    static const char *const names[PHASE_COUNT] = {
        [PHASE_NONE] = "none",       [PHASE_START] = "start",       [PHASE_PREPARE] = "prepare",
        [PHASE_COMPILE] = "compile", [PHASE_PIPELINE] = "pipeline", [PHASE_WAIT] = "wait",
        [PHASE_RUN] = "run",         [PHASE_VERIFY] = "verify",     [PHASE_TIME] = "time",
    };
    assert(p >= 0 && p < PHASE_COUNT);
    return names[p];
}
