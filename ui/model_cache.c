// Trials that were looked at lately, and how they were found.
//
// A frame shows some dozen trials, and the next one mostly the same: they are decoded once. What
// was found stays true for ever for numbers; for ranks and for configurations that were not asked
// yet, until the session changes.
#include "model_inside.h"

#include <stdlib.h>

#define MOST_TRIALS 512
#define BUCKETS     1024
#define PAGE        64
#define MOST_PAGES  8
#define MOST_FINDS  1024
#define NONE        (-1)
// Far down the ranks a page takes long to reach, so it may be older: a second each 100 000 places.
#define PLACES_A_SECOND 1e5

struct page { // asks of PAGE numbers or places in a row
    bool known;
    int64_t first, version;
    double at;
    int count;
    int64_t ask[PAGE];
};

struct find {
    struct config config;
    int64_t version; // 0: unused
    int64_t ask;     // 0: it was not asked
};

struct race { // that decides the rank of a trial
    int64_t ask;
    double seconds;
    bool verified;
};

struct trial_cache {
    struct trial trial[MOST_TRIALS]; // ask 0: free
    int64_t used[MOST_TRIALS], clock;
    int head[BUCKETS], next[MOST_TRIALS]; // chains of equal buckets
    struct page numbered[MOST_PAGES], ranked[MOST_PAGES];
    struct find find[MOST_FINDS];
    struct race *race;
    int races, race_capacity;
    int64_t newest_race;
    bool races_known;
};

static int *chain_of(struct trial_cache *c, int64_t ask)
{
    return &c->head[(uint64_t)ask % BUCKETS];
}

struct trial_cache *cache_create(void)
{
    struct trial_cache *c = mem_zero(1, sizeof *c);
    cache_clear(c);
    return c;
}

void cache_destroy(struct trial_cache *c)
{
    if (c)
        free(c->race);
    free(c);
}

void cache_clear(struct trial_cache *c)
{
    for (int i = 0; i < BUCKETS; i++)
        c->head[i] = NONE;
    for (int i = 0; i < MOST_TRIALS; i++) {
        c->trial[i].ask = 0;
        c->used[i] = 0;
    }
    for (int i = 0; i < MOST_PAGES; i++)
        c->numbered[i].known = c->ranked[i].known = false;
    for (int i = 0; i < MOST_FINDS; i++)
        c->find[i].version = 0;
    c->races_known = false;
}

static void drop(struct trial_cache *c, int i)
{
    if (!c->trial[i].ask)
        return;
    int *link = chain_of(c, c->trial[i].ask);
    while (*link != i)
        link = &c->next[*link];
    *link = c->next[i];
    c->trial[i].ask = 0;
    c->used[i] = 0;
}

void cache_drop_open(struct trial_cache *c)
{
    for (int i = 0; i < MOST_TRIALS; i++)
        if (!c->trial[i].told)
            drop(c, i);
}

static struct trial *look_up(struct trial_cache *c, int64_t ask)
{
    int i = *chain_of(c, ask);
    while (i != NONE && c->trial[i].ask != ask)
        i = c->next[i];
    if (i == NONE)
        return NULL;
    c->used[i] = ++c->clock;
    return &c->trial[i];
}

static const struct trial *put(struct trial_cache *c, const struct trial *t)
{
    int oldest = 0;
    for (int i = 1; i < MOST_TRIALS; i++)
        if (c->used[i] < c->used[oldest])
            oldest = i;
    drop(c, oldest);
    c->trial[oldest] = *t;
    c->used[oldest] = ++c->clock;
    c->next[oldest] = *chain_of(c, t->ask);
    *chain_of(c, t->ask) = oldest;
    return &c->trial[oldest];
}

static bool is_open(const struct model *m)
{
    return m->store && m->open.record.id;
}

static const struct trial *take(struct model *m, const struct trial_record *r)
{
    struct trial t;
    trial_decode(&m->open, r, &t);
    return trial_read_race(m->store, m->open.record.id, &t) ? put(m->cache, &t) : NULL;
}

const struct trial *model_trial(struct model *m, int64_t ask)
{
    struct trial_record r;
    struct arena a;
    if (!is_open(m) || ask <= 0)
        return NULL;
    const struct trial *known = look_up(m->cache, ask);
    if (known)
        return known;
    arena_init(&a);
    if (store_get_trial(m->store, m->open.record.id, ask, &a, &r, NULL) && r.ask)
        known = take(m, &r);
    arena_finish(&a);
    return known;
}

const struct trial *model_best(struct model *m)
{
    return model_trial(m, m->open.record.best_ask);
}

// --- pages ---

static bool add_ask(void *context, const struct trial_record *t)
{
    struct page *p = context;
    p->ask[p->count++] = t->ask;
    return p->count < PAGE;
}

// The page of place `first`, as it was found last, or an empty one.
static struct page *turn_to(struct page pages[MOST_PAGES], int64_t first)
{
    struct page *p = &pages[first / PAGE % MOST_PAGES];
    if (!p->known || p->first != first)
        *p = (struct page){.known = true, .first = first};
    return p;
}

// Numbers are given in the order told: a page grows at its end only.
const struct trial *model_trial_numbered(struct model *m, int64_t number)
{
    if (!is_open(m) || number < 1 || number > m->open.newest_number)
        return NULL;
    int64_t place = number - 1;
    struct page *p = turn_to(m->cache->numbered, place - place % PAGE);
    if (place - p->first >= p->count)
        store_each_numbered(m->store, m->open.record.id, p->first + p->count + 1, add_ask, p, NULL);
    return place - p->first < p->count ? model_trial(m, p->ask[place - p->first]) : NULL;
}

static bool is_fresh(const struct model *m, const struct page *p)
{
    double age = m->polled_at - p->at;
    return p->version == m->open.version ||
           (p->version && age >= 0 && age < (double)p->first / PLACES_A_SECOND);
}

const struct trial *model_trial_ranked(struct model *m, int64_t place)
{
    if (!is_open(m) || place < 0 || place >= m->open.tally[OUTCOME_OK])
        return NULL;
    struct page *p = turn_to(m->cache->ranked, place - place % PAGE);
    if (!is_fresh(m, p)) {
        p->count = 0;
        p->version = m->open.version;
        p->at = m->polled_at;
        store_each_ranked(m->store, m->open.record.id, p->first, add_ask, p, NULL);
    }
    return place - p->first < p->count ? model_trial(m, p->ask[place - p->first]) : NULL;
}

// --- by configuration ---

static int64_t ask_of(struct model *m, const struct config *c)
{
    struct trial_record r;
    struct arena a;
    struct str key = {0};
    arena_init(&a);
    config_add_key(m->open.space, c, &key);
    bool ok = store_find_trial(m->store, m->open.record.id, str_text(&key), &a, &r, NULL);
    int64_t ask = ok ? r.ask : 0;
    str_finish(&key);
    arena_finish(&a);
    return ask;
}

const struct trial *model_trial_with(struct model *m, const struct config *c)
{
    if (!is_open(m) || !m->open.space)
        return NULL;
    struct find *f = &m->cache->find[config_hash(c) % MOST_FINDS];
    bool known =
        f->version && config_equal(&f->config, c) && (f->ask || f->version == m->open.version);
    if (!known)
        *f = (struct find){.config = *c, .version = m->open.version, .ask = ask_of(m, c)};
    return model_trial(m, f->ask);
}

// --- races ---

static struct race *find_race(const struct trial_cache *c, int64_t ask)
{
    for (int i = 0; i < c->races; i++)
        if (c->race[i].ask == ask)
            return &c->race[i];
    return NULL;
}

static bool keep_race(void *context, const struct retime_record *r)
{
    struct trial_cache *c = context;
    MEM_GROW(c->race, c->races, c->race_capacity);
    c->race[c->races++] = (struct race){r->ask, r->seconds, r->verified};
    c->newest_race = r->id;
    return true;
}

int64_t cache_races(struct model *m)
{
    struct trial_cache *c = m->cache;
    if (!is_open(m))
        return 0;
    if (!c->races_known) {
        c->races = 0;
        c->newest_race = 0;
        c->races_known = store_each_race(m->store, m->open.record.id, keep_race, c, NULL);
    }
    return c->newest_race;
}

void cache_add_race(struct model *m, struct trial *t)
{
    const struct race *race = cache_races(m) ? find_race(m->cache, t->ask) : NULL;
    if (!race || t->outcome != OUTCOME_OK)
        return;
    t->raced = true;
    t->race_seconds = race->seconds;
    t->race_verified = race->verified;
}
