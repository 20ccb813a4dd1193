#include "trial/replay_source.h"

#include "base/mem.h"
#include "base/number.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct replay_source {
    struct delayed delayed; // first: a source is a struct replay_source
    const struct recording *recording;
    double speed;
};

double replay_source_cost(const struct record_entry *entry)
{
    double cost = isfinite(entry->compile_s) ? entry->compile_s : 0;
    if (isfinite(entry->benchmark_s))
        return cost + entry->benchmark_s;
    for (int i = 0; i < entry->run_count; i++)
        cost += entry->runs[i];
    return cost + (entry->run_count ? 0 : entry->seconds);
}

static void replay_answer(const struct source *source, const struct trial_request *r,
                          struct trial_result *out, double *seconds)
{
    const struct replay_source *s = (const struct replay_source *)source;
    *out = (struct trial_result){.ticket = r->ticket, .count = r->count};
    *seconds = 0;
    for (int i = 0; i < r->count; i++) {
        const struct record_entry *entry = recording_find(s->recording, &r->config[i]);
        assert(entry);
        *seconds += s->speed > 0 ? replay_source_cost(entry) / s->speed : 0;
        out->outcome[i] = entry->outcome;
        out->compile_s += isfinite(entry->compile_s) ? entry->compile_s : 0;
        out->device_s += isfinite(entry->benchmark_s) ? entry->benchmark_s : 0;
        if (entry->outcome != OUTCOME_OK) {
            out->phase[i] = outcome_phase(entry->outcome);
            snprintf(out->reason[i], sizeof out->reason[i], "the recording says %s",
                     outcome_name(entry->outcome));
            continue;
        }
        out->seconds[i] = entry->seconds;
        out->samples[i] = (struct samples){.seconds = {entry->seconds}, .count = 1};
        if (entry->run_count > 0) {
            out->samples[i].count = int_min(entry->run_count, TRIAL_MAX_SAMPLES);
            memcpy(out->samples[i].seconds, entry->runs,
                   (size_t)out->samples[i].count * sizeof *entry->runs);
        }
    }
    *seconds = fmin(*seconds, 1e9);
}

static void replay_destroy(struct source *source)
{
    delayed_finish(source);
    free(source);
}

struct source *replay_source_create(const struct recording *r, double speed, int workers)
{
    static const struct source_kind kind = {
        .name = "replay", DELAYED_KIND, .answer = replay_answer, .destroy = replay_destroy};
    struct replay_source *s = mem_zero(1, sizeof *s);
    delayed_init(&s->delayed, &kind, workers);
    s->recording = r;
    s->speed = speed;
    return &s->delayed.base;
}
