#include "search/informed.h"

#include <math.h>

void informed_init(struct informed *i, const struct rounds *rounds, struct lessons *lessons,
                   int points)
{
    i->rounds = rounds;
    i->lessons = lessons;
    gp_init(&i->model, lessons->coordinates->count + STATISTIC_KIND_COUNT, points + rounds->open,
            LOOKS_MOST + rounds->open);
}

void informed_finish(struct informed *i)
{
    gp_finish(&i->model);
    looks_finish(&i->looks);
}

static bool look(const struct informed *i, const struct shortlist *s, struct preview *said)
{
    const struct search_problem *p = &i->rounds->problem;
    struct config c[LOOKS_MOST];
    for (int k = 0; k < s->count; k++)
        c[k] = s->candidate[k].config;
    return p->look(p->context, c, s->count, said);
}

bool informed_look(const struct informed *i, const struct shortlist *s)
{
    struct preview said[LOOKS_MOST];
    return look(i, s, said);
}

static void find_promises(struct informed *i, const struct shortlist *s, const struct preview *said,
                          double *promise)
{
    struct coordinates *coordinates = i->lessons->coordinates;
    double x[LOOKS_MOST * (COORDINATES_MOST + STATISTIC_KIND_COUNT)];
    double mean[LOOKS_MOST], deviation[LOOKS_MOST];
    double target = 1 + s->sought * i->model.now.scale;
    int width = i->model.width;
    for (int k = 0; k < s->count; k++) {
        coordinates_of(coordinates, &s->candidate[k].config, x + k * width);
        looks_point(&said[k], x + k * width + coordinates->count);
    }
    gp_predict(&i->model, x, s->count, mean, deviation);
    for (int k = 0; k < s->count; k++)
        promise[k] = gp_worth(&i->model, x + k * width, k) *
                     gp_expected_improvement(mean[k], deviation[k], target);
}

bool informed_choose(struct informed *i, struct shortlist *s, struct rng *r)
{
    const struct config_set *given = &i->rounds->visited.given;
    struct preview said[LOOKS_MOST];
    double promise[LOOKS_MOST], most = -INFINITY;
    int chosen = -1;
    bool known = looks_take(&i->looks, given, i->rounds->handed_out);
    if (!look(i, s, said) || !known)
        return false;
    i->lessons->plans = 0; // nobody knows what the driver says of the one that will be given
    lessons_teach(i->lessons, &i->model, r);
    find_promises(i, s, said, promise);
    for (int k = 0; k < s->count; k++) {
        if (config_set_find(given, &s->candidate[k].config) >= 0)
            continue;
        if (chosen < 0)
            chosen = k;
        if (said[k].fits && promise[k] > most) {
            most = promise[k];
            chosen = k;
        }
    }
    shortlist_choose(s, chosen);
    return true;
}
