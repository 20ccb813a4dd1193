#include "engine/busy.h"

#include "base/median.h"
#include "gpu/sensors.h"

#include <inttypes.h>
#include <string.h>

#define STEADY_PERCENT   50 // by which the median of samples may exceed their minimum
#define FEWEST_SAMPLES   3
#define FEWEST_TIMINGS   4
#define FEWEST_CANARIES  2
#define BUSY_WHEN_ONE_IN 4 // timings is unsteady, or canaries slow

static bool is_unsteady(const struct samples *samples)
{
    double sorted[TRIAL_MAX_SAMPLES];
    memcpy(sorted, samples->seconds, sizeof sorted);
    double median = median_of(sorted, samples->count);
    return median > (1 + STEADY_PERCENT / 100.0) * sorted[0];
}

static bool is_throttled(const struct statistics *clocks)
{
    for (int i = 0; i < clocks->count; i++)
        if (str_starts(clocks->item[i].name, SENSORS_THROTTLE))
            return true;
    return false;
}

void busy_watch(struct busy *b, const struct trial_result *r)
{
    b->sensed += r->clocks.count > 0;
    b->throttled += is_throttled(&r->clocks);
    for (int i = 0; i < r->count; i++)
        if (r->outcome[i] == OUTCOME_OK && r->samples[i].count >= FEWEST_SAMPLES) {
            b->timings++;
            b->unsteady += is_unsteady(&r->samples[i]);
        }
}

double busy_watch_canary(struct busy *b, double now_s, double before_s, bool is_best)
{
    double ratio = now_s / before_s;
    b->canaries++;
    b->slow += ratio > 1 + STEADY_PERCENT / 100.0;
    if (is_best)
        b->slowdown = ratio;
    return ratio - 1;
}

bool busy_add_text(const struct busy *b, struct str *out)
{
    if (b->canaries >= FEWEST_CANARIES && b->slow * BUSY_WHEN_ONE_IN >= b->canaries)
        str_printf(out,
                   "the machine was busy: %" PRId64 " of %" PRId64
                   " times the best so far took over %d %% longer than before; times may be too "
                   "long, and which of two close ones is faster chance (what else runs here?)",
                   b->slow, b->canaries, STEADY_PERCENT);
    else if (b->timings >= FEWEST_TIMINGS && b->unsteady * BUSY_WHEN_ONE_IN >= b->timings)
        str_printf(out,
                   "the machine was busy: %" PRId64 " of %" PRId64
                   " timings vary by more than %d %%; times may be too long, and which of two "
                   "close ones is faster chance (what else runs here?)",
                   b->unsteady, b->timings, STEADY_PERCENT);
    else
        return false;
    return true;
}

bool busy_add_throttled(const struct busy *b, struct str *out)
{
    if (b->throttled)
        str_printf(out,
                   "the device's clocks were held back in %" PRId64 " of %" PRId64
                   " timings (show --trial N says by what): times depend on how warm it was "
                   "(tilewalk doctor says how to lock clocks)",
                   b->throttled, b->sensed);
    return b->throttled > 0;
}
