// What orders programs for a plan: boosted trees on rows of features, or the network on loop trees.
//
//     struct cost_model *m = cost_model_fit(&options, &rows, &stop, e);
//     cost_model_predict(m, x, first, programs, score);
//     cost_model_destroy(m);
//
// Trees take one row a program, the network those of FEATURES_TREE.
#ifndef TILEWALK_MODEL_COST_MODEL_H
#define TILEWALK_MODEL_COST_MODEL_H

#include "model/tree_gru.h"

struct cost_model_options {
    bool is_network;
    struct booster_options trees; // where it is not
    struct tree_gru_options network;
};

struct cost_model;

// `r->first` is set; `r->margin` is where the score of each program begins (with trees: instead of
// at 0.5). NULL and `e` as booster_fit and tree_gru_fit.
struct cost_model *cost_model_fit(const struct cost_model_options *o, const struct booster_rows *r,
                                  const atomic_bool *stop, struct err *e);
void cost_model_destroy(struct cost_model *m); // NULL is fine

// `x` begins with the rows of the first program, which are first[1] - first[0], and so on. Margins
// are not part of the score: a caller that fitted with margins adds those of these programs.
void cost_model_predict(const struct cost_model *m, const float *x, const int *first, int programs,
                        float *score);
size_t cost_model_bytes(const struct cost_model *m); // 0: NULL

#endif
