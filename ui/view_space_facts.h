// What the space screen knows of a whole space, gathered in slices.
//
//     coverage_begin(&c, model); while (coverage_step(&c, model)) ...
//     shares_begin(&s, space);   while (shares_step(&s, space, limits)) ...
//
// Coverage: which values of each parameter were tried, how often, and the best rank with each. A
// set of values a parameter, of at most COVERAGE_MOST; values past that are counted no more, and
// `full` says so. Rejected configurations were never run and do not count.
//
// Shares: how much of the space each constraint and each device limit removes alone, by surveys of
// a few points each, with other seeds, added up; a survey judges each point by every rule, which
// takes 0.1 ms. A space that is smaller than one of them is counted out.
#ifndef TILEWALK_UI_VIEW_SPACE_FACTS_H
#define TILEWALK_UI_VIEW_SPACE_FACTS_H

#include "scan.h"

#define COVERAGE_MOST 4096
#define SHARES_SLICE  40 // points

struct value_facts {
    struct config_set seen; // the value in the first slots
    int capacity;
    int64_t *trials; // indexed as `seen`
    struct rank *best;
    bool full;
};

struct coverage {
    struct scan scan;
    int64_t races;             // that it knows of
    const struct space *space; // of the session of `scan`
    struct value_facts of[SPACE_MAX_PARAMS];
};

void coverage_begin(struct coverage *c, struct model *m);
bool coverage_step(struct coverage *c, struct model *m); // true: more waits
void coverage_finish(struct coverage *c);
void value_facts_get(const struct value_facts *v, int index, int32_t out[PARAM_MAX_WIDTH]);
int value_facts_find(const struct value_facts *v, const struct param *p, const int32_t *value);

struct shares {
    struct survey sum;
    bool done;
    struct err trouble; // a rule failed; text "" when none did
};

void shares_begin(struct shares *s, const struct space *space);
bool shares_step(struct shares *s, const struct space *space, const struct limits *l);
void shares_finish(struct shares *s);
double share_of(const struct shares *s, uint64_t points); // 0 .. 1
// Half the width of the 95 % confidence interval of a share.
double share_error(const struct shares *s, double share);

#endif
