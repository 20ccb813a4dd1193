#include "scan.h"

#include "model_inside.h"

#define MOST_OPEN ((int)(sizeof((struct scan *)0)->open / sizeof(int64_t)))

struct slice {
    struct scan *scan;
    struct model *model;
    int left;
    bool more;
    void (*add)(void *context, const struct trial *t);
    void *context;
};

void scan_start(struct scan *s, const struct model *m)
{
    *s = (struct scan){.session = m->open.record.id, .next_ask = 1};
}

static void hand_over(struct slice *slice, struct trial *t)
{
    cache_add_race(slice->model, t);
    slice->add(slice->context, t);
    slice->scan->taken++;
    slice->left--;
}

// A trial in flight is remembered; when too many are, the next slice goes on from it.
static bool scan_visit(void *context, const struct trial_record *r)
{
    struct slice *slice = context;
    struct scan *s = slice->scan;
    struct trial t;
    if (slice->left == 0) {
        slice->more = true;
        return false;
    }
    trial_decode(&slice->model->open, r, &t);
    if (!t.told) {
        if (s->open_count == MOST_OPEN)
            return false;
        s->open[s->open_count++] = t.ask;
    } else {
        hand_over(slice, &t);
    }
    s->next_ask = t.ask + 1;
    return true;
}

// Hands over those that were in flight and have ended.
static void revisit(struct slice *slice, struct store *store)
{
    struct scan *s = slice->scan;
    struct trial_record r;
    struct arena a;
    int kept = 0;
    for (int i = 0; i < s->open_count; i++) {
        struct trial t = {0};
        arena_init(&a);
        if (store_get_trial(store, s->session, s->open[i], &a, &r, NULL) && r.ask)
            trial_decode(&slice->model->open, &r, &t);
        arena_finish(&a);
        slice->more |= t.told && slice->left == 0;
        if (t.told && slice->left > 0)
            hand_over(slice, &t);
        else
            s->open[kept++] = s->open[i];
    }
    s->open_count = kept;
}

bool scan_step(struct scan *s, struct model *m, int most,
               void (*add)(void *context, const struct trial *t), void *context)
{
    struct slice slice = {s, m, most, false, add, context};
    if (!m->store || !s->session || s->session != m->open.record.id)
        return false;
    cache_races(m); // before a statement is under way
    revisit(&slice, m->store);
    store_each_trial(m->store, s->session, s->next_ask, scan_visit, &slice, NULL);
    return slice.more;
}

int64_t scan_races(struct model *m)
{
    return cache_races(m);
}

double scan_share(const struct scan *s, const struct model *m)
{
    int64_t all = 0;
    for (int i = 0; i < OUTCOME_COUNT; i++)
        all += m->open.tally[i];
    return s->taken < all ? (double)s->taken / (double)all : 1;
}
