// What each kind of features knows; one record a kind. Internal to this folder: everyone else calls
// features_*.
#ifndef TILEWALK_MODEL_FEATURE_KIND_H
#define TILEWALK_MODEL_FEATURE_KIND_H

#include "model/features.h"

struct features {
    const struct feature_methods *methods;
    const struct space *space;
    int width, most_rows;
};

struct feature_methods {
    const char *name;
    void (*measure)(struct features *f); // sets the width and the most rows
    int (*fill)(struct features *f, const struct config *c, float *out);
    bool (*are_like)(const struct features *a, const struct features *b);
};

extern const struct feature_methods features_knob;

#endif
