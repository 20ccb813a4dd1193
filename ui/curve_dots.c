#include "curve_dots.h"

#define SLICE 64 // trials that are read at once: about a millisecond

static void keep_every_second(struct curve_dots *d)
{
    d->count /= 2;
    for (int i = 0; i < d->count; i++)
        d->dot[i] = d->dot[2 * i + 1];
    d->stride *= 2;
}

bool curve_dots_step(struct curve_dots *d, struct model *m)
{
    const struct opened *o = &m->open;
    if (d->session != o->record.id || d->count * d->stride > o->last_number) {
        d->session = o->record.id;
        d->count = 0;
        d->stride = 1;
        while (o->last_number / d->stride > CURVE_MOST_DOTS)
            d->stride *= 2;
    }
    for (int i = 0; i < SLICE; i++) {
        if (d->count == CURVE_MOST_DOTS)
            keep_every_second(d);
        int64_t number = (d->count + 1) * d->stride;
        const struct trial *t = number <= o->last_number ? model_trial_numbered(m, number) : NULL;
        if (!t)
            return false;
        d->dot[d->count++] = (struct curve_dot){t->elapsed_s, t->finished, t->seconds};
    }
    return true;
}

double curve_dot_x(const struct curve_dots *d, int i, enum curve_axis axis, double created)
{
    return axis == CURVE_TRIALS    ? (double)((i + 1) * d->stride)
           : axis == CURVE_RUNNING ? d->dot[i].elapsed_s
                                   : d->dot[i].finished - created;
}
