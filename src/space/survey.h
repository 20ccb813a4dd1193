// Survey of a space: the fraction of its points that each constraint and each device limit removes.
//
// It is exact when the space has at most `count_up_to` points, else estimated from `samples`
// uniform points. Each constraint and each limit is judged alone on every point, so the fractions
// overlap; `valid` counts the points that pass all of them. (A rule that fails where an earlier
// constraint does not hold removes nothing: it may rely on that constraint.)
//
//     survey_take(space, limits, &survey_usual, &v, e);
//     survey_begin(&v, space, &survey_usual);
//     while (v.points < v.wanted && survey_step(&v, space, limits, 40, e)) ...
//     survey_finish(&v);
//
// survey_take and the steps give the same numbers, at once or in slices. Where rules take long, the
// samples are fewer: those that SURVEY_STEPS of their language allow, about a second.
#ifndef TILEWALK_SPACE_SURVEY_H
#define TILEWALK_SPACE_SURVEY_H

#include "space/space.h"

#define SURVEY_SAMPLES 4000 // gives fractions to a percent or two
#define SURVEY_STEPS   UINT64_C(100000000)

struct survey_plan {
    uint64_t count_up_to, samples;
    uint64_t seed;
};
extern const struct survey_plan survey_usual; // SURVEY_SAMPLES, where there are more than 20000

struct survey {
    bool exact;
    struct rng rng;
    uint64_t wanted; // points to judge
    uint64_t points; // points judged
    uint64_t steps;  // that the rules took
    uint64_t valid;
    uint64_t *by_constraint; // [constraint_count] points that each removes, judged alone
    uint64_t by_limit[LIMIT_COUNT];
    struct config example; // a valid point when `valid` > 0
};

// `l` may be NULL (no device). False: a rule itself failed. Release with survey_finish.
bool survey_take(const struct space *s, const struct limits *l, const struct survey_plan *plan,
                 struct survey *out, struct err *e);
void survey_begin(struct survey *v, const struct space *s, const struct survey_plan *plan);
// Judges `count` more points, or those that are left. False: a rule itself failed.
bool survey_step(struct survey *v, const struct space *s, const struct limits *l, uint64_t count,
                 struct err *e);
void survey_finish(struct survey *v);

#endif
