#include "model/cost_model.h"

#include "base/mem.h"

#include <stdlib.h>

struct cost_model {
    struct booster *trees; // one of the two
    struct tree_gru *network;
};

struct cost_model *cost_model_fit(const struct cost_model_options *o, const struct booster_rows *r,
                                  const atomic_bool *stop, struct err *e)
{
    struct cost_model m = {0};
    struct booster_rows single = *r;
    single.first = NULL;
    if (o->is_network)
        m.network = tree_gru_fit(&o->network, r, stop, e);
    else
        m.trees = booster_fit(&o->trees, &single, stop, e);
    if (!m.network && !m.trees)
        return NULL;
    struct cost_model *out = mem_zero(1, sizeof *out);
    *out = m;
    return out;
}

void cost_model_destroy(struct cost_model *m)
{
    if (!m)
        return;
    booster_destroy(m->trees);
    tree_gru_destroy(m->network);
    free(m);
}

void cost_model_predict(const struct cost_model *m, const float *x, const int *first, int programs,
                        float *score)
{
    if (m->network)
        tree_gru_predict(m->network, x, first, programs, score);
    else
        booster_predict(m->trees, x, programs, score);
}

size_t cost_model_bytes(const struct cost_model *m)
{
    if (!m)
        return 0;
    return m->network ? tree_gru_bytes(m->network) : booster_bytes(m->trees);
}
