#include "space/nearest.h"

#include <math.h>
#include <string.h>

enum {
    ENUMERABLE = 65536, // factorizations that are all looked at
    MOST_LOOKS = 4096   // in search of something legal
};
static const double same = 1e-9; // in logarithms: rounding, not a difference

static double gap(const struct param *p, const double *goal, const int32_t *v)
{
    double sum = 0;
    for (int i = 0; i < p->width; i++)
        sum += pow(log(v[i]) - goal[i], 2);
    return sum;
}

static bool is_nearer(const struct param *p, const double *goal, const int32_t *a, const int32_t *b)
{
    double difference = gap(p, goal, a) - gap(p, goal, b);
    if (fabs(difference) > same)
        return difference < 0;
    int i = 0;
    while (i < p->width && a[i] == b[i])
        i++;
    return i < p->width && a[i] > b[i];
}

static void copy(const struct param *p, const int32_t *from, int32_t *to)
{
    memcpy(to, from, (size_t)p->width * sizeof *to);
}

static bool nearest_factorization(const struct param *p, const struct wish *w, int32_t *out)
{
    double goal[PARAM_MAX_WIDTH];
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
        int32_t next[PARAM_MAX_WIDTH];
        for (uint64_t i = 0; i < p->size; i++) {
            param_value(p, i, next);
            if (is_nearer(p, goal, next, out))
                copy(p, next, out);
        }
    } else {
        // From there moves of one prime, as long as they lead nearer. That is the nearest of all
        // where the product is a power of one prime, for the sum is convex.
        int32_t next[PARAM_MAX_WIDTH];
        for (int k = 0; k < param_degree(p, out); k++) {
            param_neighbour(p, out, k, next);
            if (is_nearer(p, goal, next, out)) {
                copy(p, next, out);
                k = -1;
            }
        }
    }
    return true;
}

static int find_label(const struct param *p, const char *text)
{
    for (int i = 0; text && i < p->count; i++)
        if (str_equal(p->label[i], text))
            return i;
    return -1;
}

static int nearest_number(const struct param *p, double number)
{
    int nearest = 0;
    for (int i = 1; i < p->count; i++) {
        double by = fabs(p->number[i] - number) - fabs(p->number[nearest] - number);
        if (by < 0 || (by == 0 && p->number[i] < p->number[nearest]))
            nearest = i;
    }
    return nearest;
}

bool param_nearest(const struct param *p, const struct wish *w, int32_t *out)
{
    if (p->kind == PARAM_FACTORIZATION)
        return nearest_factorization(p, w, out);
    if (w->count != p->width)
        return false;
    for (int i = 0; i < p->width; i++) {
        if (p->number && w->text[i])
            return false;
        out[i] = p->number ? nearest_number(p, w->number[i]) : find_label(p, w->text[i]);
    }
    return param_valid(p, out);
}

bool space_nearest_like(const struct space *s, const struct space *other,
                        const struct config *theirs, struct config *out)
{
    struct wish w;
    *out = (struct config){0};
    for (int i = 0; i < s->param_count; i++) {
        const struct param *p = &s->param[i], *like = space_find(other, p->name);
        if (!like)
            return false;
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
        for (int k = 0; k < moves && seen.count < MOST_LOOKS; k++) {
            space_neighbour(s, &at, k, &next);
            config_set_add(&seen, &next, NULL);
        }
    }
    config_set_finish(&seen);
    if (found)
        *c = at;
    return found;
}
