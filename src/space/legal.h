// The legal points of a space, built from its rules: counted, drawn, numbered, and the nearest one.
//
//     struct legal *g = legal_create(space, limits);
//     if (legal_is_sparse(g, &sparse, e) && sparse && legal_build(g, e)) ...
//     legal_draw(g, &rng, &c)          uniform, where legal_is_built
//     legal_point(g, n, &c)            the n-th
//     legal_nearest(g, NULL, -1, &c)   moves `c` to the nearest one
//     legal_destroy(g);
//
// Points are built parameter by parameter, and a rule is judged as soon as all that it reads is
// there. After each parameter the only values that matter are those that later rules read: two
// beginnings with the same ones are one node of a graph (a decision diagram), below which the
// points are counted once. The order of the parameters keeps these sets small; groups of parameters
// that share no rule follow each other with one node between them, so that the space is their
// product. Parameters that no rule reads are no part of the graph.
//
// Building stops after LEGAL_STEPS, about a second, and at LEGAL_BYTES. Then points are constructed
// depth first, in a random order of the values at each parameter: any legal point can come, but not
// each with the same chance. Beginnings that lead nowhere are remembered.
//
// The results are the same on every machine: no clock is read. Calls come from one thread at a
// time.
#ifndef TILEWALK_SPACE_LEGAL_H
#define TILEWALK_SPACE_LEGAL_H

#include "space/space.h"

#define LEGAL_STEPS UINT64_C(100000000)
#define LEGAL_BYTES ((size_t)256 << 20)

struct legal;

// `l` may be NULL: no device. Both outlive the result.
struct legal *legal_create(const struct space *s, const struct limits *l);
// Adds the rules of another space with the same parameters. Before the calls below.
void legal_add(struct legal *g, const struct space *s, const struct limits *l);
void legal_destroy(struct legal *g);

// Decides, from 4000 uniform draws or fewer, if at most one point in a hundred is legal. False: a
// rule itself failed on a point that the rules before it permit, or is no function of the
// configuration; `sparse` is what at least 100 draws before that told.
bool legal_is_sparse(struct legal *g, bool *sparse, struct err *e);

// Does both for a search: gives a structure that is built, as far as the limits allow, where the
// space is sparse, and NULL where uniform draws find legal points soon. False: as above.
bool legal_open_sparse(const struct space *s, const struct limits *l, struct legal **out,
                       struct err *e);
// Draws from that structure, or from the whole space where it is NULL. False: as legal_draw.
bool legal_sample(struct legal *g, const struct space *s, struct rng *r, struct config *out);

// Builds the graph, as far as the limits allow. False: a rule itself failed, as above.
bool legal_build(struct legal *g, struct err *e);
bool legal_build_within(struct legal *g, uint64_t steps, struct err *e); // not LEGAL_STEPS
bool legal_is_built(const struct legal *g);
bool legal_is_empty(const struct legal *g); // it is proven that no point is legal
// Appends the number of legal points, decimal; where the graph is not built, the number of those
// that were found while it was tried.
void legal_add_count(const struct legal *g, struct str *out);
uint64_t legal_count(const struct legal *g); // the same, saturated
size_t legal_bytes(const struct legal *g);   // of the graph and the remembered values

// Draws a legal point: uniformly where the graph is built. False: there is none, or none was found
// within the steps of one draw.
bool legal_draw(struct legal *g, struct rng *r, struct config *out);
// Gives the n-th legal point, in the order of the graph. False: there are not so many, or the graph
// is not built.
bool legal_point(const struct legal *g, uint64_t n, struct config *out);
// Moves `c` to the nearest legal point, counted in moves on the graphs of the parameters. Where
// `param` is not -1, the result has another value of that parameter than `from`. In a graph of more
// than 65536 edges, and where none is built, it is near and not always the nearest. False: none is.
bool legal_nearest(struct legal *g, const struct config *from, int param, struct config *c);
bool legal_permits(struct legal *g, const struct config *c); // by all rules, as remembered
// Returns how many values of a parameter are legal, the others being as in `c`, and gives up to
// `most` of their indices (param_value), ascending.
int legal_values(struct legal *g, const struct config *c, int param, int most, uint64_t *out);

// The rules, in order: conditions of parameters, constraints, resources.
int legal_rules(const struct legal *g);
const char *legal_rule(const struct legal *g, int rule);    // its name
int legal_rule_constraint(const struct legal *g, int rule); // index of its constraint; -1: none
// Returns the share of the points that a rule alone removes; NAN where that is not counted within
// a tenth of the limits.
double legal_removes(struct legal *g, int rule);
// Where no point is legal: finds a smallest set of rules that exclude each other, which means that
// without any one of them there would be a legal point. Sets `needed[legal_rules]`. False: this
// took too long, and the set may not be smallest.
bool legal_conflict(struct legal *g, bool *needed);

#endif
