// Ensembles of trees in a build without XGBoost: nothing can be fitted.
#include "model/trees.h"

bool trees_available(struct err *e)
{
    return err_set(e, "needs XGBoost, which this build has not");
}

const char *trees_library(char out[TREES_LIBRARY], bool *known)
{
    (void)out, (void)known;
    return NULL;
}

struct booster *booster_fit(const struct booster_options *o, const struct booster_rows *r,
                            const atomic_bool *stop, struct err *e)
{
    (void)o, (void)r, (void)stop;
    trees_available(e);
    return NULL;
}

struct forest *forest_fit(const struct forest_options *o, const float *x, const float *y, int rows,
                          int width, struct err *e)
{
    (void)o, (void)x, (void)y, (void)rows, (void)width;
    trees_available(e);
    return NULL;
}

// --- what only a fitted model is asked ---

void booster_destroy(struct booster *b)
{
    (void)b;
}

void booster_predict(const struct booster *b, const float *x, int rows, float *out)
{
    (void)b, (void)x, (void)rows, (void)out;
}

int booster_rounds(const struct booster *b)
{
    (void)b;
    return 0;
}

size_t booster_bytes(const struct booster *b)
{
    (void)b;
    return 0;
}

void booster_packed_gradient(const struct booster_rows *r, const float *prediction, float *gradient,
                             float *curvature)
{
    (void)r, (void)prediction, (void)gradient, (void)curvature;
}

void booster_pairwise_gradient(const struct booster_rows *r, const float *prediction, int round,
                               float *gradient, float *curvature)
{
    (void)r, (void)prediction, (void)round, (void)gradient, (void)curvature;
}

void forest_destroy(struct forest *f)
{
    (void)f;
}

void forest_predict(const struct forest *f, const float *x, int rows, float *mean, float *variance)
{
    (void)f, (void)x, (void)rows, (void)mean, (void)variance;
}

size_t forest_bytes(const struct forest *f)
{
    (void)f;
    return 0;
}
