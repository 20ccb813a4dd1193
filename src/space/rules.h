// The rules of a space as constraints over some of its parameters.
//
//     struct rules r;
//     rules_init(&r, space);
//     rules_add(&r, space, limits);       once for each space with these parameters
//     rules_learn(&r, ..., e);            which slots each rule reads
//     rules_judge(&r, k, &c)              remembers the value for what the rule read of `c`
//     rules_finish(&r);
//
// A rule is a constraint, the declared resources against a device's limits, or the condition of a
// parameter that is not always live. The slots of a configuration that a rule reads are learned by
// evaluating it. A rule with short circuits may read more for a later configuration: its set grows,
// `grown` counts that, and what relied on the smaller set has to be made again. The value of a rule
// is a function of the slots in its set, so that it is evaluated once for each combination of them.
//
// A rule may rely on those before it (a division that a constraint makes safe). Where it fails, it
// is RULE_BROKEN: that is an error only where all rules before it hold.
#ifndef TILEWALK_SPACE_RULES_H
#define TILEWALK_SPACE_RULES_H

#include "space/space.h"

enum { RULE_BROKEN = -1, RULE_FORBIDS, RULE_HOLDS };

struct space_rule {
    const struct space *space;
    const struct limits *limits;
    int constraint;                   // index; -1: the resources, or the condition of `param`
    int param;                        // -1: none
    uint64_t reads;                   // bit set of slots
    int slot[SPACE_MAX_SLOTS], slots; // the same, as a list
    bool late;                        // it failed somewhere: it is judged after all rules before it
    bool shortens;                    // for some configurations it reads less than that
    bool left_out;                    // it is not judged at all
    struct config_set known;          // the combinations of these slots that were judged
    signed char *value;               // of each
    int capacity;
};

struct rules {
    const struct space *space; // its parameters are those of all
    struct space_rule *rule;
    int count, capacity;
    uint64_t steps; // of all evaluations and look-ups so far; 100 million take about a second
    size_t bytes;   // of remembered values
    int grown;      // how often a rule read more than was known
};

void rules_init(struct rules *r, const struct space *s);
// Adds the rules of `s`, in the order in which space_judge takes them. `l` may be NULL: no device.
void rules_add(struct rules *r, const struct space *s, const struct limits *l);
void rules_finish(struct rules *r);

// Draws up to `most` configurations, fewer once `enough` are legal or the steps are spent, and
// judges all rules on each, twice. Adds up how many were drawn and were legal. False: a rule fails
// on a configuration for which all before it hold, or gives another value the second time.
struct rules_sample {
    uint64_t most, enough, steps;
    uint64_t drawn, legal;
    struct config example; // a legal one when `legal` > 0
};
bool rules_learn(struct rules *r, struct rules_sample *sample, struct err *e);

int rules_judge(struct rules *r, int rule, const struct config *c);
// Returns true if a rule with a short circuit forbids `c` and read only slots of `assigned`. Such
// rules are judged that read one of the slots `newest`, and more than `assigned` at times.
bool rules_forbid_early(struct rules *r, const struct config *c, uint64_t assigned,
                        uint64_t newest);
// Returns the share of the remembered values that hold, an estimate of how much the rule permits.
double rules_share(const struct rules *r, int rule);
bool rules_permit(struct rules *r, const struct config *c); // all hold
// Moves `c` to the nearest configuration that all rules permit, by moves on the graphs of the
// parameters; where `param` is not -1, to one with another value of it than `from`. False: none was
// among the nearest 1024.
bool rules_nearest(struct rules *r, const struct config *from, int param, struct config *c);
// Returns how many of the first PARAM_MAX_VALUES values of a parameter all rules permit, the others
// being as in `c`, and gives up to `most` of their indices, ascending.
int rules_values(struct rules *r, const struct config *c, int param, int most, uint64_t *out);
// Fills `e` with the error of a rule that is RULE_BROKEN for `c`.
void rules_explain(const struct rules *r, int rule, const struct config *c, struct err *e);
const char *rules_name(const struct rules *r, int rule); // of its constraint, else "resources"

#endif
