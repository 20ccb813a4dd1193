#ifndef TILEWALK_SEARCH_TRAINING_H
#define TILEWALK_SEARCH_TRAINING_H

#include "model/coordinates.h"
#include "model/gp.h"
#include "search/batches.h"

// The training set of a Gaussian process: the best and the latest results of a search.
//
//     struct training_set t;
//     training_init(&t, &batches, &coordinates, &probes, points, tries);
//     training_observe(&t, index);        each result, by rising index
//     training_fit(&t, &gp, &rng);        the process forgets the points that it had before
//     training_finish(&t);
//
// Speeds are shares of the best one, so that their unit does not matter. A failed trial counts as
// the lower quartile of the others. An open trial counts as the value that the process itself
// predicts for it (Ginsbourger, Le Riche, Carraro 2010, "kriging believer").
//
// A process with additional outputs (gp_add_outputs) also learns the cost of a trial and its
// success. A process that is wider than the coordinates also gets the compiler's statistics
// (compile_probes, batches.h) as coordinates.

enum {
    TRAINING_COST,    // logarithm of the seconds that a trial took
    TRAINING_SUCCESS, // 1, or 0 if the trial failed
    TRAINING_OUTPUTS
};

struct training_set {
    const struct batches *batches; // these three outlive the set
    struct coordinates *coordinates;
    const struct compile_probes *probes;
    int points, tries; // results that a process learns; weights tried at a fit with so many points
    int *ranked;       // indices of all results, the best first; of equals the older first
    int results, valid, capacity;   // `valid` of the results did not fail
    double cost;                    // sum of the logarithms of all known costs
    int costs;                      // number of known costs
    struct training_point *imputed; // points with predicted values: failed trials, then open ones
    double *x;                      // coordinates of the imputed points: [width] each
    int imputed_count;
    // Set after training_init:
    bool logarithms;              // the values are logarithms of the shares, without failures
    bool impute_failed;           // a failed trial counts as the value predicted for it
    const struct config *planned; // [plans]: proposed next; they count as open trials
    int plans;
};

// `batches->open` is set before.
void training_init(struct training_set *t, const struct batches *batches,
                   struct coordinates *coordinates, const struct compile_probes *probes, int points,
                   int tries);
void training_finish(struct training_set *t);

void training_observe(struct training_set *t, int index);
double training_fitness(const struct training_set *t, int rank); // of the result with that rank
double training_failure(const struct training_set *t); // the fitness that a failed trial counts as

// Fits `g`. At least one result did not fail. `g` has room for `points` results and for the open
// and planned trials, of which there are at most `batches->open`.
void training_fit(struct training_set *t, struct gp *g, struct rng *r);

// Candidates that a model chooses among: neighbours of the best results, children of the best
// results, and random immigrants. All but moves are legal and new. One may occur twice.
//
//     struct candidates c = {.batches = &batches, .rng = &rng, .parents = 8, .children = 40, ...};
//     candidates_begin(&c);
//     candidates_add_neighbours(&c, index);          single moves from a result
//     candidates_add_moves(&c, &candidate);          single moves from any configuration
//     candidates_add_children(&c, ranked, results);  recombined, then mutated (OpEvo, Eq. 2 and 1)
//     candidates_add_immigrants(&c);                 drawn, then mutated
//     ...c.candidate[0 .. c.count)
//     candidates_finish(&c);

struct candidate {
    struct config config;
    int from[SPACE_MAX_PARAMS]; // as batches_add takes it
};

struct candidates {
    const struct batches *batches; // outlives them, as does the generator
    struct rng *rng;
    int parents, children, immigrants;
    int others;         // room for candidates that the caller adds
    int neighbourhoods; // room for the neighbours of so many configurations
    int jump_limit;     // as in moves.h
    double q;           // of mutations, as in space_walk
    struct candidate *candidate;
    int count;
};

int candidates_most(const struct candidates *c);
void candidates_begin(struct candidates *c); // forgets all candidates
void candidates_add(struct candidates *c,
                    const struct candidate *of); // ignored where there is no room
void candidates_add_neighbours(struct candidates *c, int index);
// Adds single moves with the origin of `here`. These may be illegal or known: to check only those
// that are chosen is cheaper. Where legal points are rare all are legal and new.
void candidates_add_moves(struct candidates *c, const struct candidate *here);
bool candidates_allowed(const struct candidates *c, int candidate); // legal, and new
// `ranked` has the indices of the results, the best first. The first `parents` breed, each with a
// chance in proportion to its fitness.
void candidates_add_children(struct candidates *c, const int *ranked, int results);
void candidates_add_immigrants(struct candidates *c);
void candidates_finish(struct candidates *c);

#endif
