#include "session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void session_tally(struct session *s, const struct verdict *v)
{
    s->tallied++;
    const int slots = (int)(sizeof s->rejected_by / sizeof *s->rejected_by);
    if (v->constraint >= 0) {
        if (v->constraint < slots - LIMIT_COUNT)
            s->rejected_by[v->constraint]++;
        return;
    }
    for (int l = 0; l < LIMIT_COUNT; l++)
        s->rejected_by[slots - LIMIT_COUNT + l] += v->limits >> l & 1;
}

// ": shared memory removes 71 %, ...": what the rejections were for, largest first. Nothing when
// all of them came from the database.
static const char *rejection_reasons(struct session *s, char *out, size_t size)
{
    const int slots = (int)(sizeof s->rejected_by / sizeof *s->rejected_by);
    int64_t left[64];
    struct str text = {0};
    memcpy(left, s->rejected_by, sizeof left);
    for (int round = 0; round < 5; round++) {
        int top = 0;
        for (int i = 1; i < slots; i++)
            top = left[i] > left[top] ? i : top;
        if (!left[top])
            break;
        bool is_limit = top >= slots - LIMIT_COUNT;
        const char *name = is_limit ? limit_name((enum limit)(top - (slots - LIMIT_COUNT)))
                                    : s->space->constraint[top].name;
        str_printf(&text, "%s%s%s%s removes %.3g %%", round ? ", " : ": ", is_limit ? "" : "'",
                   name, is_limit ? "" : "'", 100.0 * (double)left[top] / (double)s->tallied);
        left[top] = 0;
    }
    snprintf(out, size, "%s", str_text(&text));
    str_finish(&text);
    return out;
}

bool session_finish(struct session *s, struct err *e)
{
    char reasons[300], message[400];
    if (s->stopping)
        return session_end(s, "stopped", "stopped by the user", e);
    if (s->rejected_in_row >= ENGINE_MOST_REJECTED)
        snprintf(message, sizeof message, "%d configurations in a row were rejected%s",
                 ENGINE_MOST_REJECTED, rejection_reasons(s, reasons, sizeof reasons));
    else if (s->exhausted && s->record.rejected == s->told)
        snprintf(message, sizeof message, "no configuration is possible%s",
                 rejection_reasons(s, reasons, sizeof reasons));
    else if (s->exhausted)
        snprintf(message, sizeof message, "the space is exhausted");
    else if (s->record.trials >= s->record.budget_trials)
        snprintf(message, sizeof message, "all %" PRId64 " trials are done",
                 s->record.budget_trials);
    else
        snprintf(message, sizeof message, "%g seconds are over", s->record.budget_seconds);
    return session_end(s, "done", message, e);
}
