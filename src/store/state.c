#include "store/state.h"

#include "base/str.h"

static const char *const words[STATE_COUNT] = {
    [STATE_RUNNING] = "running", [STATE_PAUSED] = "paused", [STATE_DONE] = "done",
    [STATE_STOPPED] = "stopped", [STATE_FAILED] = "failed", [STATE_REMOVED] = "removed",
    [STATE_DAMAGED] = "damaged",
};

const char *state_name(enum session_state s)
{
    return words[s];
}

bool state_parse(const char *word, enum session_state *s)
{
    for (int i = 0; i < STATE_DAMAGED; i++)
        if (str_equal(word, words[i])) {
            *s = (enum session_state)i;
            return true;
        }
    return false;
}
