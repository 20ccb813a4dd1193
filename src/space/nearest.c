#include "space/nearest.h"

#include <math.h>
#include <string.h>

enum {
    ENUMERABLE = 65536, // a parameter with at most so many factorizations is enumerated
    MOST_POINTS = 4096  // in the search for a legal point
};
static const double same = 1e-9; // a difference of logarithms that is only rounding

static bool is_nearer(const struct param *p, const double *goal, const int32_t *a, const int32_t *b)
{
    double a_gap = 0, b_gap = 0;
    for (int i = 0; i < p->width; i++) {
        a_gap += pow(log(a[i]) - goal[i], 2);
        b_gap += pow(log(b[i]) - goal[i], 2);
    }
    double difference = a_gap - b_gap;
    if (fabs(difference) > same)
        return difference < 0;
    int i = 0;
    while (i < p->width && a[i] == b[i])
        i++;
    return i < p->width && a[i] > b[i];
}

static bool nearest_factorization(const struct param *p, const struct wish *w, int32_t *out)
{
    double goal[PARAM_MAX_WIDTH];
    size_t bytes = (size_t)p->width * sizeof *out;
    int32_t next[PARAM_MAX_WIDTH];
    if (w->count != p->width)
        return false;
    for (int i = 0; i < p->width; i++) {
        if (w->text[i] || w->number[i] < 1)
            return false;
        goal[i] = log(w->number[i]);
    }
    // Each prime, the largest first, goes to the part that lacks most.
    for (int i = 0; i < p->width; i++)
        out[i] = 1;
    for (int m = p->prime_count - 1; m >= 0; m--)
        for (int n = 0; n < p->exponent[m]; n++) {
            int lacks = 0;
            for (int i = 1; i < p->width; i++)
                if (goal[i] - log(out[i]) > goal[lacks] - log(out[lacks]) + same)
                    lacks = i;
            out[lacks] *= p->prime[m];
        }
    if (p->size <= ENUMERABLE) {
        for (uint64_t i = 0; i < p->size; i++) {
            param_value(p, i, next);
            if (is_nearer(p, goal, next, out))
                memcpy(out, next, bytes);
        }
        return true;
    }
    // Then primes move one by one, as long as that leads nearer. Where the product is a power of
    // one prime this finds the nearest of all, because the sum is convex.
    for (int k = 0; k < param_degree(p, out); k++) {
        param_neighbour(p, out, k, next);
        if (is_nearer(p, goal, next, out)) {
            memcpy(out, next, bytes);
            k = -1;
        }
    }
    return true;
}

bool param_nearest(const struct param *p, const struct wish *w, int32_t *out)
{
    if (p->kind == PARAM_FACTORIZATION)
        return nearest_factorization(p, w, out);
    if (w->count != p->width)
        return false;
    for (int part = 0; part < p->width; part++) {
        double number = w->number[part];
        int nearest = p->number ? 0 : -1; // -1: no such label
        if (p->number && w->text[part])
            return false;
        for (int i = 0; i < p->count; i++)
            if (!p->number) {
                if (nearest < 0 && w->text[part] && str_equal(p->label[i], w->text[part]))
                    nearest = i;
            } else {
                double by = fabs(p->number[i] - number) - fabs(p->number[nearest] - number);
                if (by < 0 || (by == 0 && p->number[i] < p->number[nearest]))
                    nearest = i;
            }
        out[part] = nearest;
    }
    return param_valid(p, out);
}

bool space_nearest_like(const struct space *s, const struct space *other,
                        const struct config *theirs, bool lacks, struct config *out)
{
    struct wish w;
    *out = (struct config){0};
    for (int i = 0; i < s->param_count; i++) {
        const struct param *p = &s->param[i], *like = space_find(other, p->name);
        if (!like && !lacks)
            return false;
        if (!like) {
            param_value(p, 0, out->slot + p->offset);
            continue;
        }
        const int32_t *v = theirs->slot + like->offset;
        w = (struct wish){.count = like->width};
        for (int j = 0; j < like->width; j++) {
            w.text[j] = like->label ? like->label[v[j]] : NULL;
            w.number[j] = like->number ? like->number[v[j]] : v[j];
        }
        if (!param_nearest(p, &w, out->slot + p->offset))
            return false;
    }
    return true;
}

bool space_nearest_legal(const struct space *s,
                         bool (*legal)(void *context, const struct config *c), void *context,
                         struct config *c)
{
    struct config_set seen = {.slots = s->slots};
    struct config at, next;
    bool found = false;
    config_set_add(&seen, c, NULL);
    for (int i = 0; i < seen.count && !found; i++) {
        config_set_get(&seen, i, &at);
        found = legal(context, &at);
        int moves = found ? 0 : space_degree(s, &at);
        for (int k = 0; k < moves && seen.count < MOST_POINTS; k++) {
            space_neighbour(s, &at, k, &next);
            config_set_add(&seen, &next, NULL);
        }
    }
    config_set_finish(&seen);
    if (found)
        *c = at;
    return found;
}
