#include "export/reverify.h"

#include "base/number.h"
#include "base/os.h"
#include "engine/devices.h"
#include "engine/speed.h"
#include "engine/stored.h"
#include "report/text.h"
#include "space/nearest.h"
#include "trial/operator.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ALLOWED_PERCENT 5.0
#define SPREADS         3.0
// A kernel that is wrong in 7 of 60 runs passes so many with a chance of 1 in 20 000.
#define SOAK_RUNS           80
#define SOAK_RUNS_ELSEWHERE 10
#define LIKE_DEVIATION      1.4826 // median deviation to standard deviation, of normal samples

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
    if (k->soaked)
        str_printf(out, ", right in %d more runs", k->soaked);
    if (k->shapes)
        str_printf(out, " on %d shapes", 1 + k->shapes);
}

// --- measuring on the device ---

bool reverify_run(struct source *pool, struct script *script, struct trial_request *r,
                  struct trial_result *result, struct err *e)
{
    for (int i = 0; i < r->count; i++)
        if (!script_render(script, &r->config[i], &r->job[i], e)) {
            while (i-- > 0)
                job_finish(&r->job[i]);
            return false;
        }
    source_submit(pool, r);
    return source_wait(pool, result, e);
}

static bool race(struct source *pool, struct script *script, struct reverified *k, int count,
                 struct err *e)
{
    struct trial_result result;
    struct trial_request request = {
        .count = count, .race = true, .known_good = true, .accesses = ACCESSES_OF_ALL};
    for (int i = 0; i < request.count; i++)
        request.config[i] = k[i].config;
    if (!reverify_run(pool, script, &request, &result, e))
        return false;
    for (int i = 0; i < count; i++) {
        k[i].outcome = result.outcome[i];
        k[i].again_s = result.seconds[i];
        snprintf(k[i].reason, sizeof k[i].reason, "%s", result.reason[i]);
    }
    return true;
}

// Verifies a kernel `runs` times again, with poisoned memory and inputs that it has not seen.
static bool soak(struct source *pool, struct script *script, struct reverified *k, int runs,
                 struct err *e)
{
    struct trial_result result;
    struct trial_request request = {.count = 1,
                                    .known_good = true,
                                    .soak = runs,
                                    .accesses = ACCESSES_OF_NONE,
                                    .config = {k->config}};
    if (!reverify_run(pool, script, &request, &result, e))
        return false;
    k->soaked += result.soaked;
    k->outcome = result.outcome[0];
    snprintf(k->reason, sizeof k->reason, "%s", result.reason[0]);
    return true;
}

static struct source *open_pool(const struct session_record *session, struct script *script,
                                const struct gpu_info *device, const char *fault, struct err *e)
{
    struct pool_options options = devices_pool(device, script);
    options.device_id = session->device_id;
    options.seed = os_seed(); // not the inputs of the search again
    options.fault = fault;
    return pool_create(&options, e);
}

bool reverify_fits(const struct script *script, const struct script *there,
                   const struct limits *limits, const struct config *config, struct config *out)
{
    struct err why;
    struct verdict v;
    *out = *config;
    return space_nearest_like(script_space(there), script_space(script), config, true, out) &&
           space_judge(script_space(there), limits, out, &v, &why) && v.legal &&
           operator_fits(script_operation(there), limits, &why);
}

// Soaks a kernel on a smaller shape of its space, where its configuration is legal there: each size
// that is large enough is one less, so that tiles are cut off at every edge. `batch`: three
// products instead of one, where the space has such a size. A kernel that fails there is right on
// the shape that is exported: it is a warning.
static bool soak_elsewhere(const struct reverify_options *o, const struct session_record *session,
                           struct script *script, const struct gpu_info *device, bool batch,
                           struct reverified *k, struct err *e)
{
    enum { MOST = 16, LARGE = 8 };
    struct setting set[MOST];
    struct arena a;
    struct err why;
    int count, changed = 0;
    arena_init(&a);
    const struct script_setting *all = script_settings(script, &count);
    for (int i = 0; i < count && changed < MOST; i++) {
        int64_t size;
        if (!all[i].is_whole || !str_to_int(all[i].value, 1, INT32_MAX, &size))
            continue;
        int64_t other = batch ? (str_equal(all[i].name, "batch") && size == 1 ? 3 : size)
                              : (size >= LARGE ? size - 1 : size);
        if (other != size)
            set[changed++] = (struct setting){all[i].name, arena_printf(&a, "%" PRId64, other)};
    }
    struct script *there =
        changed ? stored_script_set(o->store, session, set, changed, &a, &why) : NULL;
    struct reverified same = *k;
    bool is_legal =
        there && reverify_fits(script, there, &device->limits, &k->config, &same.config);
    bool ok = true;
    if (is_legal) {
        struct source *pool = open_pool(session, there, device, NULL, e);
        ok = pool && soak(pool, there, &same, SOAK_RUNS_ELSEWHERE, e);
        source_destroy(pool);
        bool passes = ok && same.outcome == OUTCOME_OK;
        k->soaked = passes ? same.soaked : k->soaked;
        k->shapes += passes;
        if (ok && !passes)
            log_warning("%s is right on this shape, and not on another one that its space allows "
                        "(%s): %s",
                        k->name, batch ? "three products" : "each size one less", same.reason);
    }
    script_destroy(there);
    arena_finish(&a);
    return ok;
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
    struct source *pool = open_pool(session, script, &device, o->fault, e);
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
    for (int i = 0; ok && o->store && i < count; i++) {
        ok = k[i].outcome != OUTCOME_OK || soak(pool, script, &k[i], SOAK_RUNS, e);
        for (int batch = 0; ok && batch < 2 && k[i].outcome == OUTCOME_OK; batch++)
            ok = soak_elsewhere(o, session, script, &device, batch, &k[i], e);
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
