#include "base/number.h"
#include "engine/stored.h"
#include "model_inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- the cache of trials ---
//
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

static bool is_open(const struct model *m)
{
    return m->store && m->open.record.id;
}

const struct trial *model_trial(struct model *m, int64_t ask)
{
    struct trial_record r;
    struct arena a;
    if (!is_open(m) || ask <= 0)
        return NULL;
    struct trial_cache *c = m->cache;
    const struct trial *known = NULL;
    int i = *chain_of(c, ask), oldest = 0;
    while (i != NONE && c->trial[i].ask != ask)
        i = c->next[i];
    if (i != NONE) {
        c->used[i] = ++c->clock;
        return &c->trial[i];
    }
    arena_init(&a);
    if (store_get_trial(m->store, m->open.record.id, ask, &a, &r, NULL) && r.ask) {
        struct trial t;
        trial_decode(&m->open, &r, &t);
        if (trial_read_race(m->store, m->open.record.id, &t)) {
            for (i = 1; i < MOST_TRIALS; i++)
                if (c->used[i] < c->used[oldest])
                    oldest = i;
            drop(c, oldest);
            c->trial[oldest] = t;
            c->used[oldest] = ++c->clock;
            c->next[oldest] = *chain_of(c, ask);
            *chain_of(c, ask) = oldest;
            known = &c->trial[oldest];
        }
    }
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
    if (!is_open(m) || number < 1 || number > m->open.newest_number)
        return NULL;
    int64_t place = number - 1;
    struct page *p = turn_to(m->cache->numbered, place - place % PAGE);
    if (place - p->first >= p->count)
        store_each_numbered(m->store, m->open.record.id, p->first + p->count + 1, add_ask, p, NULL);
    return place - p->first < p->count ? model_trial(m, p->ask[place - p->first]) : NULL;
}

const struct trial *model_trial_ranked(struct model *m, int64_t place)
{
    if (!is_open(m) || place < 0 || place >= m->open.tally[OUTCOME_OK])
        return NULL;
    struct page *p = turn_to(m->cache->ranked, place - place % PAGE);
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

// --- by configuration ---

const struct trial *model_trial_with(struct model *m, const struct config *c)
{
    if (!is_open(m) || !m->open.space)
        return NULL;
    struct find *f = &m->cache->find[config_hash(c) % MOST_FINDS];
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

#define MOST_SHOWN_BEST 24
#define RATE_SECONDS    20.0
#define FOLLOW_SECONDS  1.0

// --- reading the open session ---

static bool add_step(void *context, const struct best_step *step)
{
    struct curve *c = context;
    MEM_GROW(c->step, c->count, c->capacity);
    c->step[c->count++] = *step;
    return true;
}

bool curve_extend(struct curve *c, struct store *s, int64_t session, struct err *e)
{
    int64_t after = c->count ? c->step[c->count - 1].number : 0;
    return store_each_best(s, session, after, add_step, c, e);
}

static bool add_recent(void *context, const struct trial_record *t)
{
    struct opened *o = context;
    o->recent[o->recent_count++ % MODEL_MOST_RECENT] = t->elapsed_s;
    o->newest_finished = t->finished;
    o->newest_number = t->number;
    return true;
}

static bool add_best(void *context, const struct trial_record *t)
{
    struct opened *o = context;
    o->population[o->population_count++] = t->ask;
    return o->population_count < MOST_SHOWN_BEST;
}

static bool read_population(struct opened *o, struct store *s, struct err *e)
{
    const char *text = o->record.population;
    o->population_count = 0;
    o->is_population = text && *text;
    if (!o->is_population)
        return store_each_ranked(s, o->record.id, 0, add_best, o, e);
    while (*text && o->population_count < MODEL_MOST_POPULATION) {
        o->population[o->population_count++] = strtoll(text, NULL, 10);
        text += strcspn(text, ",");
        text += *text == ',';
    }
    return true;
}

static bool add_message(void *context, const struct message_record *r)
{
    struct opened *o = context;
    if (o->message_count == MODEL_MOST_MESSAGES) {
        // The oldest quarter goes at once, so that a flood costs each message little.
        int gone = MODEL_MOST_MESSAGES / 4;
        for (int i = 0; i < gone; i++)
            free(o->message[i].text);
        o->message_count -= gone;
        memmove(o->message, o->message + gone, (size_t)o->message_count * sizeof *o->message);
    }
    MEM_GROW(o->message, o->message_count, o->message_capacity);
    struct message *m = &o->message[o->message_count++];
    *m = (struct message){.id = r->id, .at = r->at, .text = mem_strdup(r->text ? r->text : "")};
    snprintf(m->level, sizeof m->level, "%s", r->level ? r->level : "");
    return true;
}

// Reads the session, and the network that it is or belongs to.
static bool read_session(struct opened *o, struct store *s, struct err *e)
{
    struct arena fresh;
    struct session_record record;
    arena_init(&fresh);
    if (!store_get_session(s, o->record.id, &fresh, &record, e)) {
        arena_finish(&fresh);
        return false;
    }
    arena_finish(&o->arena);
    o->arena = fresh;
    o->record = record;
    if (!store_get_baselines(s, record.id, &o->arena, &o->baselines, e) ||
        !store_get_calibration(s, record.id, &o->calibration, e))
        return false;
    int64_t network = record.scheduler ? record.id : record.network;
    arena_finish(&o->network_arena);
    arena_init(&o->network_arena);
    o->network_record = (struct session_record){.id = 0};
    o->network = (struct network_summary){.task = NULL};
    if (network &&
        (!store_get_session(s, network, &o->network_arena, &o->network_record, e) ||
         !network_summary_read(s, &o->network_record, &o->network_arena, &o->network, e)))
        return false;
    if (record.scheduler)
        o->record.best_seconds = o->network.latency_s; // units suit it
    return true;
}

// Reads the curve, the outcomes and the newest trials. A network has the outcomes of its tasks.
static bool read_results(struct opened *o, struct store *s, struct err *e)
{
    const struct session_record *r = &o->record;
    int64_t first = int64_max(o->newest_number, r->trials - MODEL_MOST_RECENT) + 1;
    if (!r->scheduler)
        return curve_extend(&o->curve, s, r->id, e) &&
               store_get_tally(s, r->id, o->tally, &o->early, e) &&
               store_each_numbered(s, r->id, first, add_recent, o, e);
    o->curve.count = 0;
    memset(o->tally, 0, sizeof o->tally);
    if (!session_each_best(s, r, add_step, &o->curve, e))
        return false;
    for (int i = 0; i < o->network.task_count; i++) {
        int64_t tally[OUTCOME_COUNT], id = o->network.task[i].session.id;
        if (id && !store_get_tally(s, id, tally, NULL, e))
            return false;
        for (int k = 0; id && k < OUTCOME_COUNT; k++)
            o->tally[k] += tally[k];
    }
    return store_each_numbered(s, r->id, first, add_recent, o, e);
}

bool opened_refresh(struct opened *o, struct store *s, double unix_now, struct err *e)
{
    double ran_before = o->record.ran_seconds;
    int64_t after = o->message_count ? o->message[o->message_count - 1].id : 0;
    if (!read_session(o, s, e) || !read_results(o, s, e) || !read_population(o, s, e) ||
        !store_each_message(s, o->record.id, after, add_message, o, e) ||
        !store_newest_retime(s, &o->retime, e))
        return false;
    if (o->record.ran_seconds > ran_before)
        o->seen_running = unix_now; // it was paused and resumed between two looks
    opened_look(o, s, unix_now);
    o->version++;
    return true;
}

bool opened_load(struct opened *o, struct store *s, int64_t id, double unix_now, struct err *e)
{
    arena_init(&o->arena);
    arena_init(&o->texts);
    arena_init(&o->network_arena);
    o->record.id = id;
    o->seen_running = unix_now;
    if (!opened_refresh(o, s, unix_now, e)) {
        opened_finish(o);
        return false;
    }
    o->last_number = o->newest_number;
    o->has_limits = limits_parse(o->record.limits, &o->limits);
    if (!o->record.scheduler) {
        o->space = stored_space(s, &o->record, &o->texts, &o->script, &o->recording, &o->trouble);
        if (!o->space)
            err_prefix(&o->trouble, "the space of session %lld cannot be read",
                       (long long)o->record.id);
    }
    return true;
}

static bool is_running(const struct opened *o)
{
    return o->runner && o->state == STATE_RUNNING;
}

bool opened_look(struct opened *o, struct store *s, double unix_now)
{
    enum session_state state_before = o->state;
    pid_t runner_before = o->runner;
    bool ran = is_running(o);
    o->state = store_state(s, &o->record, &o->runner);
    if (is_running(o) && (!ran || o->seen_running <= 0))
        o->seen_running = unix_now;
    return o->state != state_before || o->runner != runner_before;
}

bool opened_follow(struct opened *o, double unix_now)
{
    double since = unix_now - o->followed_at;
    if (o->last_number == o->newest_number || (since >= 0 && since < FOLLOW_SECONDS))
        return false;
    o->last_number = o->newest_number;
    o->followed_at = unix_now;
    return true;
}

void opened_finish(struct opened *o)
{
    for (int i = 0; i < o->message_count; i++)
        free(o->message[i].text);
    free(o->message);
    free(o->curve.step);
    script_destroy(o->script);
    recording_destroy(o->recording);
    arena_finish(&o->arena);
    arena_finish(&o->texts);
    arena_finish(&o->network_arena);
    *o = (struct opened){0};
}

// --- time ---

double model_ran_seconds(const struct model *m, double unix_now)
{
    const struct opened *o = &m->open;
    // The round that ended last; NULL: there is none, or the session is no network.
    int i = o->record.scheduler ? o->network.round_count - 1 : -1;
    while (i >= 0 && !o->network.round[i].told)
        i--;
    const struct round_record *round = i < 0 ? NULL : &o->network.round[i];
    double elapsed = round             ? round->elapsed_s
                     : o->recent_count ? o->recent[(o->recent_count - 1) % MODEL_MOST_RECENT]
                                       : 0;
    double ran = fmax(o->record.ran_seconds, elapsed);
    // Stored running times end with the last change of state, or with the newest trial after it.
    double until = o->record.ran_seconds > 0 ? o->seen_running : o->record.created;
    if (elapsed > o->record.ran_seconds)
        until = round ? round->at : o->newest_finished;
    return is_running(o) ? ran + fmax(0, unix_now - until) : ran;
}

double model_left_seconds(const struct model *m, double unix_now)
{
    const struct opened *o = &m->open;
    int64_t trials = o->record.budget_trials - o->record.trials;
    double left = o->rate > 0 && trials > 0 ? (double)trials / o->rate : 0;
    double budget = o->record.budget_seconds;
    if (budget > 0 && is_running(o)) {
        double until = fmax(0, budget - model_ran_seconds(m, unix_now));
        left = left > 0 ? fmin(left, until) : until;
    }
    return left;
}

double opened_rate(const struct opened *o, double ran)
{
    int64_t known = int64_min(o->recent_count, MODEL_MOST_RECENT);
    double window = fmin(ran, RATE_SECONDS);
    int64_t lately = 0;
    if (!is_running(o))
        return 0;
    if (o->record.scheduler)
        return ran > 0 ? (double)o->record.trials / ran : 0;
    while (lately < known &&
           o->recent[(o->recent_count - 1 - lately) % MODEL_MOST_RECENT] > ran - window)
        lately++;
    if (lately == MODEL_MOST_RECENT) // there may be more: take the time of these
        return (double)lately / fmax(ran - o->recent[o->recent_count % MODEL_MOST_RECENT], 1e-3);
    return (double)lately / fmax(window, 1);
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

double scan_share(const struct scan *s, const struct model *m)
{
    int64_t all = 0;
    for (int i = 0; i < OUTCOME_COUNT; i++)
        all += m->open.tally[i];
    return s->taken < all ? (double)s->taken / (double)all : 1;
}
