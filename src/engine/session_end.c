#include "engine/session.h"

#include "base/median.h"
#include "search/visited.h"

#include <inttypes.h>
#include <string.h>

#define MOST_REASONS 5
#define DRAWS        1000 // that say why nothing is possible

// A kernel alone on its machine takes nearly as long every time.
#define STEADY_PERCENT   50 // by which the median of samples may exceed their minimum
#define FEWEST_SAMPLES   3
#define FEWEST_TIMINGS   4
#define FEWEST_CANARIES  2
#define BUSY_WHEN_ONE_IN 4 // timings is unsteady, or canaries slow

// The reasons in one row: the constraints, the limits, and what only the compiled shader shows.
static int reason_count(const struct session *s)
{
    return s->space->constraint_count + LIMIT_COUNT + 1;
}

void session_tally(struct session *s, const struct verdict *v)
{
    const int constraints = s->space->constraint_count;
    if (!s->rejected_by)
        s->rejected_by = arena_zero(&s->arena, (size_t)reason_count(s), sizeof *s->rejected_by);
    s->tallied++;
    if (!v)
        s->rejected_by[constraints + LIMIT_COUNT]++;
    else if (v->constraint >= 0)
        s->rejected_by[v->constraint]++;
    for (int l = 0; v && v->constraint < 0 && l < LIMIT_COUNT; l++)
        s->rejected_by[constraints + l] += v->limits >> l & 1;
}

static void add_reason(const struct session *s, int i, struct str *out)
{
    const int constraints = s->space->constraint_count;
    if (i < constraints)
        str_printf(out, "'%s'", s->space->constraint[i].name);
    else if (i < constraints + LIMIT_COUNT)
        str_add(out, limit_name((enum limit)(i - constraints)));
    else
        str_add(out, "what the compiled shader needs");
}

// ": shared memory removes 71 %, ...": what the rejections were for, largest first.
static void add_reasons(struct session *s, struct str *out)
{
    for (int said = 0; s->rejected_by && said < MOST_REASONS; said++) {
        int top = 0;
        for (int i = 1; i < reason_count(s); i++)
            top = s->rejected_by[i] > s->rejected_by[top] ? i : top;
        if (!s->rejected_by[top])
            return;
        str_add(out, said ? ", " : ": ");
        add_reason(s, top, out);
        str_printf(out, " removes %.3g %%",
                   100.0 * (double)s->rejected_by[top] / (double)s->tallied);
        s->rejected_by[top] = 0; // said; the session ends
    }
}

// A strategy that keeps to what is legal has been told nothing of what is not.
static void tally_draws(struct session *s)
{
    struct rng r;
    struct config c;
    struct verdict v;
    struct err ignored;
    rng_seed(&r, s->record.seed);
    for (int i = 0; i < DRAWS; i++) {
        space_sample(s->space, &r, &c);
        if (session_judge(s, &c, &v, &ignored) && !v.legal)
            session_tally(s, &v);
    }
}

// A strategy that finds nothing more in a larger space has not looked at all of it.
static bool looked_at_all(const struct session *s)
{
    return s->space->size <= VISITED_ENUMERABLE || (uint64_t)s->told == s->space->size;
}

static void add_exhausted(struct session *s, struct str *why)
{
    const char *hint =
        str_starts(s->record.strategy, "grid") ? "" : " (--strategy grid looks at more of them)";
    bool none = s->record.rejected == s->told, all = looked_at_all(s);
    if (all)
        str_add(why, none ? "no configuration is possible" : "the space is exhausted");
    else
        str_printf(why, "no %s configuration was found among %s points",
                   none ? "possible" : "further", s->space->size_text);
    if (none) {
        if (!s->tallied)
            tally_draws(s);
        add_reasons(s, why);
        if (!all)
            str_printf(why, " of %" PRId64 " looked at", s->tallied);
    }
    if (!all)
        str_add(why, hint);
}

static bool is_unsteady(const struct samples *samples)
{
    double sorted[TRIAL_MAX_SAMPLES];
    memcpy(sorted, samples->seconds, sizeof sorted);
    double median = median_of(sorted, samples->count);
    return median > (1 + STEADY_PERCENT / 100.0) * sorted[0];
}

void session_watch_machine(struct session *s, const struct trial_result *r)
{
    for (int i = 0; i < r->count && !s->source->kind->deterministic; i++)
        if (r->outcome[i] == OUTCOME_OK && r->samples[i].count >= FEWEST_SAMPLES) {
            s->timings++;
            s->unsteady += is_unsteady(&r->samples[i]);
        }
}

double session_watch_canary(struct session *s, double seconds)
{
    double ratio = seconds / s->canary_seconds;
    s->canaries++;
    s->slow_canaries += ratio > 1 + STEADY_PERCENT / 100.0;
    if (s->canary_ask == s->best_ask)
        s->slowdown = ratio;
    return ratio - 1;
}

// All samples of a kernel are slow alike where something else runs all the time: the canary knows.
static bool canaries_say_busy(const struct session *s)
{
    return s->canaries >= FEWEST_CANARIES && s->slow_canaries * BUSY_WHEN_ONE_IN >= s->canaries;
}

void session_say_busy(struct session *s)
{
    if (canaries_say_busy(s)) {
        session_message(s, "warning",
                        "the machine was busy: %" PRId64 " of %" PRId64
                        " times the best so far took over %d %% longer than before; times may be "
                        "too long, and which of two close ones is faster chance (what else runs "
                        "here?)",
                        s->slow_canaries, s->canaries, STEADY_PERCENT);
        return;
    }
    if (s->timings < FEWEST_TIMINGS || s->unsteady * BUSY_WHEN_ONE_IN < s->timings)
        return;
    session_message(s, "warning",
                    "the machine was busy: %" PRId64 " of %" PRId64
                    " timings vary by more than %d %%; times may be too long, and which of two "
                    "close ones is faster chance (what else runs here?)",
                    s->unsteady, s->timings, STEADY_PERCENT);
}

bool session_finish(struct session *s, struct err *e)
{
    struct str why = {0};
    if (s->stopping)
        return session_end(s, "stopped", "stopped by the user", e);
    if (s->rejected_in_row >= ENGINE_MOST_REJECTED) {
        str_printf(&why, "%d configurations in a row were rejected", ENGINE_MOST_REJECTED);
        add_reasons(s, &why);
    } else if (s->exhausted) {
        add_exhausted(s, &why);
    } else if (s->record.trials > s->record.budget_trials) {
        str_printf(&why, "%" PRId64 " trials are done, the budget was %" PRId64, s->record.trials,
                   s->record.budget_trials);
    } else if (s->record.trials == s->record.budget_trials) {
        if (s->record.budget_trials == 1)
            str_add(&why, "its one trial is done");
        else
            str_printf(&why, "all %" PRId64 " trials are done", s->record.budget_trials);
    } else {
        bool one = s->record.budget_seconds == 1;
        str_printf(&why, one ? "%g second is over" : "%g seconds are over",
                   s->record.budget_seconds);
    }
    bool ok = session_end(s, "done", str_text(&why), e);
    str_finish(&why);
    return ok;
}
