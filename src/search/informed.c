#include "search/informed.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void shortlists_init(struct shortlists *l, int most)
{
    *l = (struct shortlists){.most = most};
    l->of = mem_zero((size_t)most, sizeof *l->of);
}

void shortlists_finish(struct shortlists *l)
{
    free(l->of);
}

bool shortlists_have_room(const struct shortlists *l)
{
    return l->count == 0 || (!l->closed && l->count < l->most);
}

struct shortlist *shortlists_add(struct shortlists *l)
{
    struct shortlist *s = &l->of[l->count++];
    s->count = 0;
    s->follows = false;
    return s;
}

void shortlists_drop(struct shortlists *l)
{
    l->count--;
    l->closed &= l->count > 0;
    memmove(l->of, l->of + 1, (size_t)l->count * sizeof *l->of);
}

static bool has(const struct shortlist *s, int count, const struct config *c)
{
    for (int i = 0; i < count && i < s->count; i++)
        if (config_equal(&s->candidate[i].config, c))
            return true;
    return false;
}

static bool is_first_of_one(const struct shortlists *l, const struct config *c)
{
    for (int i = 0; i < l->count; i++)
        if (has(&l->of[i], 1, c))
            return true;
    return false;
}

static bool is_taken(const struct shortlist *s, const struct shortlists *l, const struct config *c)
{
    return has(s, s->count, c) || is_first_of_one(l, c);
}

static int first_left(const struct shortlist *s, const struct shortlists *l,
                      const struct proposals *p)
{
    for (int i = 0; i < p->count; i++)
        if (!is_taken(s, l, &p->candidate[i].config))
            return i;
    return -1;
}

void shortlist_fill(struct shortlist *s, const struct shortlists *l, const struct proposals *p,
                    const double *promise, int most)
{
    while (s->count < most) {
        double largest = -INFINITY;
        int chosen = -1;
        for (int i = 0; i < p->count; i++)
            if (promise[i] > largest && !is_taken(s, l, &p->candidate[i].config)) {
                largest = promise[i];
                chosen = i;
            }
        if (chosen < 0 && s->count == 0)
            chosen = first_left(s, l, p);
        if (chosen < 0)
            return;
        s->candidate[s->count++] = p->candidate[chosen];
    }
}

void shortlist_choose(struct shortlist *s, int chosen)
{
    s->count = chosen >= 0;
    if (chosen <= 0)
        return;
    s->candidate[0] = s->candidate[chosen];
    s->mean[0] = s->mean[chosen];
    s->deviation[0] = s->deviation[chosen];
}

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
