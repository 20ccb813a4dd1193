#include "model/feature_kind.h"

#include <stdlib.h>

static const struct feature_methods *const methods_of[] = {
    [FEATURES_KNOB] = &features_knob,   [FEATURES_ITERVAR] = &features_itervar,
    [FEATURES_CURVE] = &features_curve, [FEATURES_STATEMENTS] = &features_statements,
    [FEATURES_TREE] = &features_tree,
};

struct features *features_create(const struct space *space, enum feature_kind kind, struct err *e)
{
    const struct feature_methods *methods = methods_of[kind];
    if (methods->needs_nest && !space->nest) {
        err_set(e,
                "%s features need a loop nest, and space '%s' declares none (knob features do "
                "without)",
                methods->name, space->name);
        return NULL;
    }
    struct features *f = mem_zero(1, sizeof *f);
    *f = (struct features){.methods = methods, .space = space};
    if (methods->needs_nest)
        nest_point_init(&f->point, space->nest);
    methods->measure(f);
    return f;
}

void features_destroy(struct features *f)
{
    if (!f)
        return;
    if (f->methods->needs_nest)
        nest_point_finish(&f->point);
    free(f->column);
    free(f->scratch);
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
    if (f->methods->needs_nest)
        nest_evaluate(f->space->nest, f->space, c, &f->point);
    return f->methods->fill(f, c, out);
}

bool features_are_like(const struct features *a, const struct features *b)
{
    return a->methods == b->methods && a->width == b->width && a->methods->are_like(a, b);
}
