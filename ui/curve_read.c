// Reads the trials of the open session for the curve's pane, in slices.
#include "app.h"
#include "base/number.h"
#include "curve_pane.h"

#define SLICE        64   // trials that are read at once: about a millisecond
#define CARPET_SLICE 2048 // numbers, of which few trials are read

// Reads the next trials; true while there are more.
static bool read_dots(struct app *app, struct curve_dots *d)
{
    const struct opened *o = &app->model.open;
    int before = d->count;
    if (d->session != o->record.id || d->count * d->stride > o->last_number) {
        d->session = o->record.id;
        d->count = 0;
        d->stride = 1;
        while (o->last_number / d->stride > CURVE_MOST_DOTS)
            d->stride *= 2;
    }
    for (int i = 0; i < SLICE; i++) {
        if (d->count == CURVE_MOST_DOTS) {
            d->count /= 2;
            for (int j = 0; j < d->count; j++)
                d->dot[j] = d->dot[2 * j + 1];
            d->stride *= 2;
        }
        int64_t number = (d->count + 1) * d->stride;
        const struct trial *t =
            number <= o->last_number ? model_trial_numbered(&app->model, number) : NULL;
        if (!t) {
            app->dirty |= d->count != before;
            return false;
        }
        struct curve_dot *dot = &d->dot[d->count++];
        *dot = (struct curve_dot){t->elapsed_s, t->finished, t->seconds};
        dot->has_config = t->has_config;
        dot->config = t->config;
        for (int k = 0; k < SENSED_COUNT; k++)
            dot->sensed[k] = (float)t->sensed[k];
    }
    return true;
}

static bool add_to_carpet(void *context, const struct trial *t)
{
    carpet_add(context, t);
    return true;
}

// A session that was closed and opened again has another space.
void curve_pane_follow(const struct app *app, struct curve_pane *state)
{
    const struct opened *o = &app->model.open;
    if (state->carpet_session == o->record.id && state->carpet.space == o->space &&
        state->carpet_read <= o->last_number)
        return;
    carpet_finish(&state->carpet);
    carpet_init(&state->carpet, o->space);
    state->carpet_session = o->record.id;
    state->carpet_read = state->number = 0;
}

static bool read_carpet(struct app *app, struct curve_pane *state)
{
    const struct opened *o = &app->model.open;
    curve_pane_follow(app, state);
    int64_t first = state->carpet_read + 1, last = o->last_number;
    // Trials are read to the first that fills the best, then only those that change them.
    int64_t most = state->carpet.best_count < CARPET_BEST ? SLICE : CARPET_SLICE;
    if (first > last || !o->space)
        return false;
    struct faster part = {first, int64_min(first + most - 1, last), carpet_limit(&state->carpet)};
    int64_t newest = state->carpet.count ? state->carpet.moment[state->carpet.count - 1].number : 0;
    model_each_faster(&app->model, &part, add_to_carpet, &state->carpet);
    state->carpet_read = part.last;
    app->dirty |=
        state->carpet.count && state->carpet.moment[state->carpet.count - 1].number != newest;
    return part.last < last;
}

bool curve_pane_tick(struct app *app, struct curve_pane *state)
{
    bool dots = read_dots(app, &state->dots);
    return read_carpet(app, state) || dots;
}

void curve_pane_finish(struct curve_pane *state)
{
    carpet_finish(&state->carpet);
}
