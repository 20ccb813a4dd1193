// The messages and subjects of trials, for both ends of a pool.
#include "fleet/queue.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

int job_candidates(const struct message *m)
{
    return m->type == MESSAGE_TRIAL ? m->request.count : m->result.count;
}

char *job_settled(int64_t number, int candidates, bool only_compiles, enum outcome o,
                  enum trial_phase phase, const char *reason)
{
    static const struct gpu_kept none;
    struct trial_result r = {.ticket = number, .count = candidates};
    bool settled[TRIAL_MAX_RACERS];
    for (int i = 0; i < candidates; i++) {
        settled[i] = true;
        r.outcome[i] = o;
        r.phase[i] = phase;
        snprintf(r.reason[i], sizeof r.reason[i], "%s", reason);
    }
    return message_result(&r, only_compiles, settled, &none, 0);
}

bool job_subject(const char *subject, char *run, int64_t *number)
{
    const char *last = strrchr(subject, '.'), *first = last;
    while (first && first > subject && first[-1] != '.')
        first--;
    size_t length = first ? (size_t)(last - first) : 0;
    if (!length || length >= QUEUE_ID)
        return false;
    memcpy(run, first, length);
    run[length] = '\0';
    return strspn(run, "0123456789abcdef") == length && str_to_int(last + 1, 0, INT64_MAX, number);
}
