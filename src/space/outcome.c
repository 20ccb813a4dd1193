#include "space/outcome.h"

#include "base/str.h"

static const char *const words[OUTCOME_COUNT] = {
    [OUTCOME_OK] = "ok",         [OUTCOME_REJECTED] = "rejected", [OUTCOME_COMPILE] = "compile",
    [OUTCOME_DRIVER] = "driver", [OUTCOME_TIMEOUT] = "timeout",   [OUTCOME_CRASH] = "crash",
    [OUTCOME_LOST] = "lost",     [OUTCOME_WRONG] = "wrong",
};

const char *outcome_name(enum outcome o)
{
    return o == OUTCOME_OPEN ? NULL : words[o];
}

bool outcome_parse(const char *word, enum outcome *o)
{
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (str_equal(word, words[i])) {
            *o = (enum outcome)i;
            return true;
        }
    return false;
}
