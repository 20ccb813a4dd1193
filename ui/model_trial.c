// The trials of the open session: by ask, number, rank and configuration, or all of them in a walk.
#include "model.h"

#include "base/number.h"
#include "engine/speed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SAMPLES 256

// --- a trial from its row ---

// Makes a trial of its row. The result of a race is in another table.
static void trial_decode(const struct opened *o, const struct trial_record *r, struct trial *out)
{
    *out = (struct trial){
        .ask = r->ask,
        .number = r->number,
        .generation = r->generation,
        .early_stopped = r->early_stopped,
        .compile_s = r->compile_s,
        .pipeline_s = r->pipeline_s,
        .device_s = r->device_s,
        .elapsed_s = r->elapsed_s,
        .finished = r->finished,
        .worker = r->worker,
    };
    if (r->outcome != OUTCOME_OPEN) {
        out->outcome = r->outcome;
        out->told = r->told;
    }
    out->seconds = out->told && out->outcome == OUTCOME_OK ? r->seconds : 0;
    if (o->space && r->key)
        out->has_config = config_parse_key(o->space, r->key, &out->config, NULL);
    if (!out->has_config)
        out->config = (struct config){0};
    snprintf(out->phase, sizeof out->phase, "%s", r->phase ? r->phase : "");
    snprintf(out->reason, sizeof out->reason, "%s", r->reason ? r->reason : "");
    double sample[MOST_SAMPLES];
    int count = out->samples = str_to_reals(r->samples, sample, MOST_SAMPLES);
    if (count >= 2) {
        double median = median_of(sample, count);
        out->spread = median > 0 ? (sample[count - 1] - sample[0]) / median : 0;
    }
    if (!speed_energy(&o->record, r->clocks, out->seconds, &out->run_s, &out->joules))
        out->run_s = out->joules = 0;
    struct statistics statistics;
    for (int k = 0; k < STATISTIC_KIND_COUNT; k++)
        out->statistic[k] = NAN;
    if (r->statistics) {
        text_parse_statistics(r->statistics, &statistics);
        for (int k = 0; k < STATISTIC_KIND_COUNT; k++)
            if (!statistics_total(&statistics, (enum statistic_kind)k, &out->statistic[k]))
                out->statistic[k] = NAN;
    }
    static const char *const sensors[SENSED_COUNT] = {"core_mhz", "celsius", "watts"};
    for (int k = 0; k < SENSED_COUNT; k++)
        out->sensed[k] = NAN;
    if (r->clocks) {
        text_parse_statistics(r->clocks, &statistics);
        for (int k = 0; k < SENSED_COUNT; k++)
            if (!statistics_find(&statistics, sensors[k], &out->sensed[k]))
                out->sensed[k] = NAN;
    }
    struct str clocks = {0};
    text_add_clocks(r->clocks, r->drift, &clocks);
    snprintf(out->clocks, sizeof out->clocks, "%s", str_text(&clocks));
    out->is_unsteady = r->drift > 0 || strstr(out->clocks, "held back");
    str_finish(&clocks);
    out->has_origin = r->origin != NULL;
    str_to_ints(r->origin, out->origin, SPACE_MAX_PARAMS);
}

// --- ranks, units, positions ---

double seconds_speed(const struct model *m, double seconds)
{
    return seconds > 0 ? m->open.record.flop / seconds : 0;
}

struct rank trial_rank(const struct trial *t)
{
    if (t->raced && !t->race_verified)
        return (struct rank){0, false};
    return (struct rank){t->raced ? t->race_seconds : t->seconds, t->raced};
}

bool rank_is_better(struct rank x, struct rank y)
{
    if (x.seconds <= 0 || y.seconds <= 0)
        return x.seconds > 0 && y.seconds <= 0;
    return x.raced != y.raced ? x.raced : x.seconds < y.seconds;
}

const char *model_unit(const struct model *m, double *per_flops)
{
    const struct session_record *r = &m->open.record;
    const struct baseline_record *b = baselines_fastest(&m->open.baselines);
    double best_s = r->best_seconds > 0 ? r->best_seconds : b ? baseline_seconds(b) : 0;
    const char *name;
    *per_flops = 1 / speed_unit(r, seconds_speed(m, best_s), &name);
    return name;
}

double param_position(const struct param *p, const int32_t *v, int slot)
{
    switch (p->kind) {
    case PARAM_FACTORIZATION:
        return p->product > 1 && v[slot] > 1 ? log(v[slot]) / log(p->product) : 0;
    case PARAM_PERMUTATION: {
        // The place of an order among all orders, which are sorted by the first item, the second...
        int count = p->width;
        double place = 0, orders = 1;
        for (int i = 0; i < count; i++) {
            int smaller = 0;
            for (int k = i + 1; k < count; k++)
                smaller += v[k] < v[i];
            place = place * (count - i) + smaller;
            orders *= count - i;
        }
        return orders > 1 ? place / (orders - 1) : 0;
    }
    default: return p->count > 1 ? (double)v[0] / (p->count - 1) : 0;
    }
}

// --- the cache of trials ---

// A frame shows some dozen trials, and the next one mostly the same: they are decoded once. The
// trial of a number never changes; ranks, and configurations that were not asked yet, are known
// until the session changes.

#define MOST_TRIALS 512
#define BUCKETS     1024
#define PAGE        64
#define MOST_PAGES  8
#define MOST_FINDS  1024
#define NONE        (-1)
// A page far down the ranks takes long to read, so it may be older: a second each 100 000 places.
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

struct race { // decides the rank of a trial
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

// Returns the cache; NULL: no session is open.
static struct trial_cache *cache_of(struct model *m)
{
    if (!m->store || !m->open.record.id)
        return NULL;
    if (!m->cache) {
        m->cache = mem_zero(1, sizeof *m->cache);
        for (int i = 0; i < BUCKETS; i++)
            m->cache->head[i] = NONE;
    }
    return m->cache;
}

void model_forget_trials(struct model *m)
{
    if (m->cache)
        free(m->cache->race);
    free(m->cache);
    m->cache = NULL;
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

void model_forget_open_trials(struct model *m)
{
    for (int i = 0; m->cache && i < MOST_TRIALS; i++)
        if (!m->cache->trial[i].told)
            drop(m->cache, i);
}

const struct trial *model_trial(struct model *m, int64_t ask)
{
    struct trial_cache *c = cache_of(m);
    struct trial t = {0};
    struct trial_record r;
    struct retime_record race = {0};
    struct arena a;
    if (!c || ask <= 0)
        return NULL;
    int i = *chain_of(c, ask), oldest = 0;
    while (i != NONE && c->trial[i].ask != ask)
        i = c->next[i];
    if (i != NONE) {
        c->used[i] = ++c->clock;
        return &c->trial[i];
    }
    arena_init(&a);
    bool ok = store_get_trial(m->store, m->open.record.id, ask, &a, &r, NULL) && r.ask;
    if (ok)
        trial_decode(&m->open, &r, &t);
    if (t.told && t.outcome == OUTCOME_OK)
        ok = store_get_race(m->store, m->open.record.id, ask, &a, &race, NULL);
    arena_finish(&a);
    if (!ok)
        return NULL;
    t.raced = race.ask;
    t.race_seconds = race.seconds;
    t.race_verified = race.verified;
    for (i = 1; i < MOST_TRIALS; i++)
        if (c->used[i] < c->used[oldest])
            oldest = i;
    drop(c, oldest);
    c->trial[oldest] = t;
    c->used[oldest] = ++c->clock;
    c->next[oldest] = *chain_of(c, ask);
    *chain_of(c, ask) = oldest;
    return &c->trial[oldest];
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

// Returns the page of place `first`, as it was read last, or an empty one.
static struct page *turn_to(struct page pages[MOST_PAGES], int64_t first)
{
    struct page *p = &pages[first / PAGE % MOST_PAGES];
    if (!p->known || p->first != first)
        *p = (struct page){.known = true, .first = first};
    return p;
}

// Numbers are given in the order in which trials finish: a page grows at its end only.
const struct trial *model_trial_numbered(struct model *m, int64_t number)
{
    struct trial_cache *c = cache_of(m);
    if (!c || number < 1 || number > m->open.newest_number)
        return NULL;
    int64_t place = number - 1;
    struct page *p = turn_to(c->numbered, place - place % PAGE);
    if (place - p->first >= p->count)
        store_each_numbered(m->store, m->open.record.id, p->first + p->count + 1, add_ask, p, NULL);
    return place - p->first < p->count ? model_trial(m, p->ask[place - p->first]) : NULL;
}

const struct trial *model_trial_ranked(struct model *m, int64_t place)
{
    struct trial_cache *c = cache_of(m);
    if (!c || place < 0 || place >= m->open.tally[OUTCOME_OK])
        return NULL;
    struct page *p = turn_to(c->ranked, place - place % PAGE);
    double age = m->polled_at - p->at;
    bool recent = p->version && age >= 0 && age < (double)p->first / PLACES_A_SECOND;
    if (p->version != m->open.version && !recent) {
        p->count = 0;
        p->version = m->open.version;
        p->at = m->polled_at;
        store_each_ranked(m->store, m->open.record.id, p->first, add_ask, p, NULL);
    }
    return place - p->first < p->count ? model_trial(m, p->ask[place - p->first]) : NULL;
}

// --- by speed ---

struct handing {
    const struct opened *open;
    bool (*each)(void *context, const struct trial *t);
    void *context;
};

static bool hand_faster(void *context, const struct trial_record *r)
{
    struct handing *h = context;
    struct trial t;
    trial_decode(h->open, r, &t);
    return h->each(h->context, &t);
}

void model_each_faster(struct model *m, const struct faster *f,
                       bool (*each)(void *context, const struct trial *t), void *context)
{
    struct handing h = {&m->open, each, context};
    if (m->store && m->open.record.id)
        store_each_faster(m->store, m->open.record.id, f, hand_faster, &h, NULL);
}

// --- by configuration ---

const struct trial *model_trial_with(struct model *m, const struct config *c)
{
    struct trial_cache *cache = cache_of(m);
    if (!cache || !m->open.space)
        return NULL;
    struct find *f = &cache->find[config_hash(c) % MOST_FINDS];
    bool known =
        f->version && config_equal(&f->config, c) && (f->ask || f->version == m->open.version);
    if (!known) {
        struct trial_record r;
        struct arena a;
        struct str key = {0};
        arena_init(&a);
        config_add_key(m->open.space, c, &key);
        bool ok = store_find_trial(m->store, m->open.record.id, str_text(&key), &a, &r, NULL);
        *f = (struct find){.config = *c, .version = m->open.version, .ask = ok ? r.ask : 0};
        str_finish(&key);
        arena_finish(&a);
    }
    return model_trial(m, f->ask);
}

// --- races ---

static bool keep_race(void *context, const struct retime_record *r)
{
    struct trial_cache *c = context;
    MEM_GROW(c->race, c->races, c->race_capacity);
    c->race[c->races++] = (struct race){r->ask, r->seconds, r->verified};
    c->newest_race = r->id;
    return true;
}

int64_t scan_races(struct model *m)
{
    struct trial_cache *c = cache_of(m);
    if (!c)
        return 0;
    if (!c->races_known) {
        c->races = 0;
        c->newest_race = 0;
        c->races_known = store_each_race(m->store, m->open.record.id, keep_race, c, NULL);
    }
    return c->newest_race;
}

// --- a walk over all trials ---

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

// Adds the result of a race, from the list of all, and hands the trial over.
static void hand_over(struct slice *slice, struct trial *t)
{
    struct model *m = slice->model;
    const struct race *race = scan_races(m) ? m->cache->race : NULL;
    const struct race *end = race ? race + m->cache->races : NULL;
    while (race < end && race->ask != t->ask)
        race++;
    if (race != end && t->outcome == OUTCOME_OK) {
        t->raced = true;
        t->race_seconds = race->seconds;
        t->race_verified = race->verified;
    }
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

bool scan_step(struct scan *s, struct model *m, int most,
               void (*add)(void *context, const struct trial *t), void *context)
{
    struct slice slice = {s, m, most, false, add, context};
    if (!m->store || !s->session || s->session != m->open.record.id)
        return false;
    scan_races(m); // before a statement is under way
    // First those that were in flight and have ended.
    int kept = 0;
    for (int i = 0; i < s->open_count; i++) {
        struct trial t = {0};
        struct trial_record r;
        struct arena a;
        arena_init(&a);
        if (store_get_trial(m->store, s->session, s->open[i], &a, &r, NULL) && r.ask)
            trial_decode(&m->open, &r, &t);
        arena_finish(&a);
        slice.more |= t.told && slice.left == 0;
        if (t.told && slice.left > 0)
            hand_over(&slice, &t);
        else
            s->open[kept++] = s->open[i];
    }
    s->open_count = kept;
    store_each_trial(m->store, s->session, s->next_ask, scan_visit, &slice, NULL);
    return slice.more;
}

int64_t model_asks_ended(const struct model *m)
{
    int64_t all = 0;
    for (int i = 0; i < OUTCOME_COUNT; i++)
        all += m->open.tally[i];
    return all;
}

double scan_share(const struct scan *s, const struct model *m)
{
    int64_t all = model_asks_ended(m);
    return s->taken < all ? (double)s->taken / (double)all : 1;
}
