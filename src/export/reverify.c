#include "export/reverify.h"

#include "base/file.h"
#include "base/number.h"
#include "base/os.h"
#include "engine/devices.h"
#include "engine/speed.h"
#include "report/text.h"
#include "trial/source.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALLOWED_PERCENT 5.0
#define SPREADS         3.0
#define LIKE_DEVIATION  1.4826 // median deviation to standard deviation, of normal samples

// --- the allowed slow-down ---

// Returns the spread of the stored samples as a share of the stored time. It is based on the median
// of deviations: one disturbed sample could make a standard deviation that allows anything.
static double spread_of(const struct reverified *k)
{
    double x[TRIAL_MAX_SAMPLES];
    int n = str_to_reals(k->samples, x, TRIAL_MAX_SAMPLES);
    if (n < 2)
        return 0;
    double middle = median_of(x, n);
    for (int i = 0; i < n; i++)
        x[i] = fabs(x[i] - middle);
    return LIKE_DEVIATION * median_of(x, n) / k->stored_s;
}

static double slower_by(const struct reverified *k)
{
    return 100 * (k->again_s / k->stored_s - 1);
}

bool reverify_judge(const struct reverified *k, const struct reverify_options *o, struct err *e)
{
    char again[32], stored[32];
    double spread = 100 * SPREADS * spread_of(k);
    bool by_spread = !o->has_slower && spread > ALLOWED_PERCENT;
    double allowed = o->has_slower ? o->slower_percent : by_spread ? spread : ALLOWED_PERCENT;
    if (slower_by(k) <= allowed)
        return true;
    return err_set(e,
                   "%s (trial %" PRId64 ") is %.1f %% slower than stored: %s, was %s; %.1f %% are "
                   "allowed%s (--slower PCT allows more)",
                   k->name, k->trial, slower_by(k), text_time(k->again_s, again),
                   text_time(k->stored_s, stored), allowed,
                   by_spread ? ", three times the spread of its stored samples" : "");
}

void reverify_add_text(const struct session_record *r, const struct reverified *k, struct str *out)
{
    char speed[32];
    double percent = slower_by(k);
    str_printf(out, "%s, %.1f %% %s than stored", speed_text(r, k->again_s, speed), fabs(percent),
               percent > 0 ? "slower" : "faster");
}

// --- measuring on the device ---

static bool race(struct source *pool, struct script *script, struct reverified *k, int count,
                 struct err *e)
{
    struct trial_result result;
    struct trial_request request = {
        .count = count, .race = true, .known_good = true, .accesses = ACCESSES_OF_ALL};
    for (int i = 0; i < request.count; i++) {
        request.config[i] = k[i].config;
        if (!script_render(script, &k[i].config, &request.job[i], e)) {
            while (i-- > 0)
                job_finish(&request.job[i]);
            return false;
        }
    }
    source_submit(pool, &request);
    if (!source_wait(pool, &result, e))
        return false;
    for (int i = 0; i < count; i++) {
        k[i].outcome = result.outcome[i];
        k[i].again_s = result.seconds[i];
        snprintf(k[i].reason, sizeof k[i].reason, "%s", result.reason[i]);
    }
    return true;
}

bool reverify_measure(const struct session_record *session, struct script *script,
                      const struct reverify_options *o, struct reverified *k, int count,
                      struct err *e)
{
    struct gpu_info *list;
    struct gpu_cards cards;
    int found;
    if (!str_equal(session->source, "device"))
        return err_set(e,
                       "the times of session %" PRId64 " are synthetic: there is nothing to "
                       "verify on a device (export without --verify)",
                       session->id);
    if (!devices_find_again(session, "export without --verify needs no device", &list, &found,
                            &cards, e))
        return false;
    const struct gpu_info device = list[cards.index[0]];
    free(list);
    char *program = path_program();
    struct pool_options options = {
        .program = program,
        .device = device.index,
        .device_id = session->device_id,
        .workers = 1,
        .operation = script_operation(script),
        .reference = script_reference(script),
        .limits = &device.limits,
        .seed = os_seed(), // not the inputs of the search again
        .is_cpu = device.is_cpu,
        .trips_undeclared = !script_space(script)->resources,
        .fault = o->fault,
    };
    struct source *pool = pool_create(&options, e);
    free(program);
    bool ok = pool != NULL;
    for (int at = 0; ok && at < count; at += TRIAL_MAX_RACERS) {
        int n = count - at < TRIAL_MAX_RACERS ? count - at : TRIAL_MAX_RACERS;
        bool all_good = true;
        ok = race(pool, script, k + at, n, e);
        for (int i = at; i < at + n; i++)
            all_good &= k[i].outcome == OUTCOME_OK;
        // A kernel that crashes its worker fails those that race with it; then each runs alone.
        for (int i = at; ok && !all_good && n > 1 && i < at + n; i++)
            ok = race(pool, script, k + i, 1, e);
    }
    source_destroy(pool);
    return ok;
}

bool reverify(const struct session_record *session, struct script *script,
              const struct reverify_options *o, struct reverified *k, int count, struct err *e)
{
    if (!reverify_measure(session, script, o, k, count, e))
        return false;
    for (int i = 0; i < count; i++)
        if (k[i].outcome != OUTCOME_OK)
            return err_set(e, "%s (trial %" PRId64 ") does not pass: %s (%s)", k[i].name,
                           k[i].trial, outcome_name(k[i].outcome), k[i].reason);
    for (int i = 0; i < count; i++)
        if (!reverify_judge(&k[i], o, e))
            return false;
    return true;
}
