// A search space: ordered parameters, constraints, and configurations as plain values.
//
//     struct space *s = space_create("mm");
//     space_add(s, &param, e);
//     space_add_constraint(s, ...);
//     space_seal(s, e);
//     space_sample(s, &rng, &config);
//     space_destroy(s);
//
// Parameters keep the order of declaration, everywhere. Sealing computes the sizes; from then on
// the space is immutable and usable from any thread.
//
// A configuration is a small value: copy it, compare it, hash it. Slots past `slots` are zero, so
// that two equal configurations are equal bytes.
//
// A space may be conditional: the value of one parameter, the chooser, decides which others are
// live. One that is not live has a fixed value, `rest`; a configuration in which it has another
// value is not a point of the space. Code that changes slots calls space_settle afterwards;
// configurations that the space itself makes are settled.
#ifndef TILEWALK_SPACE_SPACE_H
#define TILEWALK_SPACE_SPACE_H

#include "space/limits.h"
#include "space/param.h"

#define SPACE_MAX_SLOTS     48
#define SPACE_MAX_PARAMS    32
#define SPACE_MAX_BASELINES 8

struct config {
    int32_t slot[SPACE_MAX_SLOTS];
};

// The slots that an evaluation of a rule read, and what it cost.
struct rule_reads {
    uint64_t slots;  // bit set of the slots that were read; the callee only adds to it
    uint64_t inside; // of those, the ones read since the innermost `derived` value began
    uint64_t steps;  // of the language that it is written in; added up
};

struct constraint {
    const char *name;
    const char *file; // where it is declared
    int line;
    void *context;
    // Returns 1 if it holds, 0 if not, -1 if the rule itself failed (`e` has the place).
    int (*holds)(void *context, const struct config *c, struct err *e);
    // The same, and records what it read. NULL: it may read everything.
    int (*holds_reading)(void *context, const struct config *c, struct rule_reads *r,
                         struct err *e);
};

struct nest;

// A configuration that is in use somewhere: the result of a search is compared with it.
struct baseline {
    const char *name;
    struct config config;
    const char *misfit; // why it is not a point of the space; NULL: it is one
};

struct space {
    const char *name;
    struct arena arena;
    int param_count, slots, constraint_count;
    int chooser; // the index of that parameter; -1: the space is not conditional
    struct param param[SPACE_MAX_PARAMS];
    struct constraint *constraint;
    int constraint_capacity;
    struct baseline baseline[SPACE_MAX_BASELINES];
    int baseline_count;
    struct baseline beginning[SPACE_MAX_BASELINES]; // points that searches on devices begin with;
    int beginning_count;                            // each named by its source
    // Computes what a configuration needs of a device; NULL when the space declares nothing.
    bool (*resources)(void *context, const struct config *c, struct resources *out, struct err *e);
    // The same, and records what it read. NULL: it may read everything.
    bool (*resources_reading)(void *context, const struct config *c, struct resources *out,
                              struct rule_reads *r, struct err *e);
    void *resources_context;
    const struct nest *nest; // the declared loop nest (space/nest.h), or NULL; not the space's own
    char *size_text;         // exact, decimal; after space_seal
    uint64_t size;           // saturates at UINT64_MAX
};

struct space *space_create(const char *name);
void space_destroy(struct space *s);
// `p` was built with &s->arena. Fails for a second parameter of that name and when there are too
// many.
bool space_add(struct space *s, const struct param *p, struct err *e);
// Makes parameter `param` live only where parameter `chooser` has a value whose bit is set in
// `values`; elsewhere it has the value `rest`, `width` slots. The chooser is categorical, has at
// most 64 labels and no condition, and is the same for all conditions of a space. Before
// space_seal.
void space_condition(struct space *s, int param, int chooser, uint64_t values, const int32_t *rest);
void space_add_constraint(struct space *s, const struct constraint *c); // strings are copied
bool space_seal(struct space *s, struct err *e); // fails for a space without parameters

const struct param *space_find(const struct space *s, const char *name); // NULL when unknown

bool space_is_live(const struct space *s, const struct config *c, int param);
void space_settle(const struct space *s, struct config *c); // sets what is not live to `rest`
bool space_is_settled(const struct space *s, const struct config *c);

// Draws uniformly; in a conditional space, the chooser first and then what is live.
void space_sample(const struct space *s, struct rng *r, struct config *out);
void space_point(const struct space *s, uint64_t index, struct config *out); // index < size
// These treat each live parameter on its own: a walk, the sum of degrees, the sum of distances (-1:
// not connected). A parameter that becomes live starts at `rest`.
void space_walk(const struct space *s, double q, struct rng *r, struct config *c);
int space_degree(const struct space *s, const struct config *c);
void space_neighbour(const struct space *s, const struct config *c, int k, struct config *out);
// Gives the k-th neighbour that differs in this parameter; `c` and `out` may be the same.
void space_step(const struct space *s, const struct config *c, int param, int k,
                struct config *out);
int space_distance(const struct space *s, const struct config *a, const struct config *b);

bool config_equal(const struct config *a, const struct config *b);
uint64_t config_hash(const struct config *c);
// Appends {"tile_k":[16,4,16],...} with the live parameters.
void config_add_json(const struct space *s, const struct config *c, struct str *out);
// Append all slots, "16,4,16,0", and read them back (an error when they are not a point).
void config_add_key(const struct space *s, const struct config *c, struct str *out);
bool config_parse_key(const struct space *s, const char *key, struct config *out, struct err *e);

// The judgement of a configuration, with the reason why it is not legal.
struct verdict {
    bool legal;
    int constraint;   // first one that does not hold, or -1
    unsigned limits;  // bit set of 1 << enum limit; judged only when all constraints hold
    char reason[160]; // "constraint 'staged tiles only'" or limits_explain's sentence
};

// Judges constraints in order, then the declared resources against `l` (NULL: no device). False: a
// rule itself failed.
bool space_judge(const struct space *s, const struct limits *l, const struct config *c,
                 struct verdict *v, struct err *e);

// A set of configurations, by value and in order of insertion. Only the `slots` of the space are
// kept of each, side by side:
//
//     struct config_set seen = {.slots = space->slots}; // empty and valid
struct config_set {
    int slots;
    int count, capacity, buckets;
    int32_t *row; // capacity * slots
    int *bucket;  // open addressing, index + 1
};

int config_set_find(const struct config_set *s, const struct config *c); // its index, or -1
// Returns the index; `was_new` may be NULL.
int config_set_add(struct config_set *s, const struct config *c, bool *was_new);
void config_set_get(const struct config_set *s, int index, struct config *out);
void config_set_finish(struct config_set *s);

#endif
