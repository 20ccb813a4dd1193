// One parameter: a finite set of values and the graph ("topology") on which a search moves.
//
//   kind           value                             neighbours                     size
//   factorization  ordered parts p[1..n], product C  move a prime between parts     see below
//   permutation    an order of n items               swap any two positions         n!
//   discrete       one of J sorted numbers           previous and next              J
//   categorical    one of J labels                   all others                     J
//   custom         one of J values                   as declared (symmetric)        J
//
// C = prod p^e has prod binom(e+n-1, n-1) ordered factorizations (OpEvo, section 3.1). A value is
// `width` int32 slots inside a configuration: the parts of a factorization, the item indices of a
// permutation, one index for the other kinds. Parameters are immutable and live in their space's
// arena.
#ifndef TILEWALK_SPACE_PARAM_H
#define TILEWALK_SPACE_PARAM_H

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum param_kind {
    PARAM_FACTORIZATION,
    PARAM_PERMUTATION,
    PARAM_DISCRETE,
    PARAM_CATEGORICAL,
    PARAM_CUSTOM
};

#define PARAM_MAX_WIDTH  16 // parts of a factorization, items of a permutation
#define PARAM_MAX_PRIMES 16 // distinct primes of a 31-bit number are at most 9
#define PARAM_MAX_VALUES 65536
#define PARAM_MAX_CUSTOM 4096 // custom values: every pair is asked for

struct param {
    const char *name;
    enum param_kind kind;
    int width;  // slots
    int offset; // first slot in the configuration
    int line;   // where the space file declares it; 0 when it does not come from a file
    uint64_t size;
    // A bit for each value of the space's chooser with which the parameter is live; 0: it always
    // is. Where it is not live it has the value `rest`. Set by space_condition.
    uint64_t when;
    int32_t rest[PARAM_MAX_WIDTH];

    // factorization
    int32_t product;
    int prime_count;
    int32_t prime[PARAM_MAX_PRIMES];
    int exponent[PARAM_MAX_PRIMES];
    uint64_t ways[PARAM_MAX_PRIMES]; // to distribute the exponent: binom(e+n-1, n-1)

    // the other kinds: `count` items or values
    int count;
    const double *number;     // discrete: sorted; custom with numbers: as declared; else NULL
    const char *const *label; // permutation, categorical, custom with strings; else NULL
    // custom: the neighbours of i are edge[edge_start[i]] .. edge[edge_start[i+1]-1], sorted
    const int32_t *edge_start, *edge;
    bool connected; // custom: every value can be reached from every other
};

const char *param_kind_name(enum param_kind k); // "factorization", ...

// Constructors. `p` is the caller's, the lists are copied into `arena`. space_add sets offsets.
// Errors name the parameter and the wrong value.
bool param_factorization(struct param *p, struct arena *arena, const char *name, int64_t product,
                         int parts, struct err *e);
bool param_permutation(struct param *p, struct arena *arena, const char *name, int count,
                       const char *const *label, struct err *e);
bool param_categorical(struct param *p, struct arena *arena, const char *name, int count,
                       const char *const *label, struct err *e);
// Sorts; duplicates and numbers that are not finite are errors.
bool param_discrete(struct param *p, struct arena *arena, const char *name, int count,
                    const double *number, struct err *e);
// Values and their graph: either `number` or `label` is given. `adjacent` returns true if j is
// declared as a neighbour of i; it is called once for every i and j, and must be symmetric, with no
// i next to itself.
struct custom_graph {
    int count;
    const double *number;
    const char *const *label;
    bool (*adjacent)(void *context, int i, int j);
    void *context;
};
bool param_custom(struct param *p, struct arena *arena, const char *name,
                  const struct custom_graph *g, struct err *e);

// Return the number of values, also as decimal text (heap, the caller's). It is exact: 16! fits,
// and the product of binom(e+15, 15) stays below 79 * C^1.8 < 2^63 for C < 2^31 (the largest
// binom(e+15, 15) / p^1.8e is 30.4 for p = 2, 2.6 for p = 3, and below 1 for every other prime).
uint64_t param_size(const struct param *p);
char *param_size_text(const struct param *p);

// `v` and `out` are `width` slots; they may be the same.
bool param_valid(const struct param *p, const int32_t *v); // are the slots a value at all?

// param_value gives the index-th value in a fixed order, index < param_size. param_sample draws a
// uniform one without enumerating: the value of a uniform index (for factorizations that is stars
// and bars, for each prime).
void param_value(const struct param *p, uint64_t index, int32_t *out);
void param_sample(const struct param *p, struct rng *r, int32_t *out);

// param_degree returns the number of neighbours; param_neighbour gives the k-th of them
// (k < param_degree) in a fixed order, each once.
int param_degree(const struct param *p, const int32_t *v);
void param_neighbour(const struct param *p, const int32_t *v, int k, int32_t *out);
void param_degree_range(const struct param *p, int *lowest, int *highest); // over all values

// Makes a q-random walk from `v`, in place: it stops with probability 1-q before each step, else
// goes to a uniform neighbour; a value without neighbours ends it (OpEvo section 3.2, Eq. 1).
// Returns the number of steps.
int param_walk(const struct param *p, double q, struct rng *r, int32_t *v);

// Returns the steps of the shortest path; -1: not connected.
int param_distance(const struct param *p, const int32_t *a, const int32_t *b);

// Appends the value as JSON: [16,4,2], ["n","m","k"], 16, "shared".
void param_add_json(const struct param *p, const int32_t *v, struct str *out);
// Appends the declared items or values as a JSON list, in their order; [] for a factorization.
void param_add_listed_json(const struct param *p, struct str *out);

// Returns the bit set of its slots in a configuration.
static inline uint64_t param_slots(const struct param *p)
{
    return ((UINT64_C(1) << p->width) - 1) << p->offset;
}

// Returns how often `prime` divides `number`, which is not 0.
int factor_multiplicity(int32_t number, int32_t prime);

#endif
