#include "model/feature_kind.h"

#include <stdlib.h>

static const struct feature_methods *methods_of(enum feature_kind kind)
{
    return kind == FEATURES_KNOB ? &features_knob : NULL;
}

struct features *features_create(const struct space *space, enum feature_kind kind, struct err *e)
{
    const struct feature_methods *methods = methods_of(kind);
    if (!methods) {
        err_set(e, "space '%s' declares no loop nest (only knob features do without)", space->name);
        return NULL;
    }
    struct features *f = mem_zero(1, sizeof *f);
    *f = (struct features){.methods = methods, .space = space};
    methods->measure(f);
    return f;
}

void features_destroy(struct features *f)
{
    free(f);
}

int features_width(const struct features *f)
{
    return f->width;
}

int features_most_rows(const struct features *f)
{
    return f->most_rows;
}

int features_fill(struct features *f, const struct config *c, float *out)
{
    return f->methods->fill(f, c, out);
}

bool features_are_like(const struct features *a, const struct features *b)
{
    return a->methods == b->methods && a->width == b->width && a->methods->are_like(a, b);
}
