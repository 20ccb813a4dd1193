// A recurrent controller that learns by REINFORCE to write good configurations (Zoph, Le 2016).
//
// The paper on G-BFS and N-A2C compares itself with such a controller and gives no settings; these
// are ours: one LSTM of 64 units writes a configuration decision by decision (search/decisions.h),
// and learns after each batch of 8 (model/reinforce.h). The reward is fitness / best so far, 0 for
// what failed.
//
// What it draws again cannot be asked again. A place of the batch is drawn anew up to `resample`
// times; if that yields known configurations only, the last one's stored fitness is learned from
// once more, at no trial, and the place is still free. After `reuse` of these it takes a uniform
// draw among the unknown configurations. (So a controller that has made up its mind becomes random
// search: with the default settings that is a matter of some hundred trials.)
//
// Constraints: rejection, with the rejected ones learned from. An illegal draw is repeated, at no
// trial, and the first four of each place join the batch with reward 0, so that the policy learns
// to stay inside: where 80 % are illegal it starts with 5 draws a proposal and soon needs fewer. A
// place that drew 200 illegal ones takes a uniform draw among the legal ones. Without constraints
// none of this changes anything.

#include "search/rnn.h"

#include "model/reinforce.h"
#include "search/rounds.h"

#include <stdlib.h>
#include <string.h>

enum { WIDEST = 1024, RADIX = 256 }; // PARAM_MAX_VALUES = RADIX * RADIX

static void decide(struct decisions *d, struct decision decision, int values)
{
    int room = d->capacity;
    MEM_GROW(d->decision, d->count, room);
    MEM_GROW(d->values, d->count, d->capacity);
    d->values[d->count] = values;
    d->decision[d->count++] = decision;
    d->all_values += values;
}

void decisions_init(struct decisions *d, const struct space *s)
{
    *d = (struct decisions){0};
    for (int i = 0; i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        if (p->kind == PARAM_FACTORIZATION) {
            for (int m = 0; m < p->prime_count; m++)
                for (int part = 0; part + 1 < p->width; part++)
                    decide(d, (struct decision){DECISION_FACTORS, p, part, m}, p->exponent[m] + 1);
        } else if (p->kind == PARAM_PERMUTATION) {
            for (int place = 0; place + 1 < p->count; place++)
                decide(d, (struct decision){DECISION_ITEM, p, place, 0}, p->count);
        } else {
            if (p->count > WIDEST) {
                decide(d, (struct decision){DECISION_HIGH, p, 0, 0},
                       (p->count + RADIX - 1) / RADIX);
                decide(d, (struct decision){DECISION_LOW, p, 0, 0}, RADIX);
            } else if (p->count > 1) {
                decide(d, (struct decision){DECISION_VALUE, p, 0, 0}, p->count);
            }
        }
    }
}

void decisions_finish(struct decisions *d)
{
    free(d->decision);
    free(d->values);
    *d = (struct decisions){0};
}

static void allow_factors(const struct decision *e, const int *choice, int values, bool *allowed)
{
    int rest = e->param->exponent[e->prime];
    for (int part = 1; part <= e->place; part++)
        rest -= choice[-part];
    for (int i = 0; i < values; i++)
        allowed[i] = i <= rest;
}

static void allow_items(const struct decision *e, const int *choice, int values, bool *allowed)
{
    for (int i = 0; i < values; i++)
        allowed[i] = true;
    for (int place = 1; place <= e->place; place++)
        allowed[choice[-place]] = false;
}

void decisions_allow(const struct decisions *d, int t, const int *choice, bool *allowed)
{
    const struct decision *e = &d->decision[t];
    int values = d->values[t];
    if (e->kind == DECISION_FACTORS) {
        allow_factors(e, choice + t, values, allowed);
    } else if (e->kind == DECISION_ITEM) {
        allow_items(e, choice + t, values, allowed);
    } else {
        int first = e->kind == DECISION_LOW ? choice[t - 1] * RADIX : 0;
        for (int i = 0; i < values; i++)
            allowed[i] = first + i < e->param->count;
    }
}

void decisions_allow_all(const struct decisions *d, const int *choice, bool *allowed)
{
    for (int t = 0; t < d->count; t++) {
        decisions_allow(d, t, choice, allowed);
        allowed += d->values[t];
    }
}

void decisions_config(const struct decisions *d, const struct space *s, const int *choice,
                      struct config *out)
{
    // What no decision says yet: every part is 1, the items stand in their order, the index is 0.
    *out = (struct config){0};
    for (int i = 0; i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        for (int k = 0; k < p->width && p->kind == PARAM_PERMUTATION; k++)
            out->slot[p->offset + k] = k;
        for (int k = 0; k < p->width && p->kind == PARAM_FACTORIZATION; k++)
            out->slot[p->offset + k] = k == p->width - 1 ? p->product : 1;
    }
    for (int t = 0; t < d->count; t++) {
        const struct decision *e = &d->decision[t];
        int32_t *slot = out->slot + e->param->offset;
        if (e->kind == DECISION_FACTORS) {
            int32_t base = e->param->prime[e->prime];
            int exponent = choice[t];
            int32_t factor = 1;
            while (exponent-- > 0)
                factor *= base;
            slot[e->place] *= factor;
            slot[e->param->width - 1] /= factor;
        } else if (e->kind == DECISION_ITEM) {
            // The item stands behind `place` until it is chosen; whom it replaces takes its place,
            // so the last one is right when all others are.
            int place = e->place;
            int32_t item = choice[t];
            int at = place;
            while (slot[at] != item)
                at++;
            slot[at] = slot[place];
            slot[place] = item;
        } else {
            *slot = (e->kind == DECISION_LOW ? *slot * RADIX : 0) + choice[t];
        }
    }
    space_settle(s, out);
}

static int choice_of(const struct decision *e, const int32_t *slot)
{
    switch (e->kind) {
    case DECISION_FACTORS: return factor_multiplicity(slot[e->place], e->param->prime[e->prime]);
    case DECISION_ITEM: return slot[e->place];
    case DECISION_HIGH: return *slot / RADIX;
    case DECISION_LOW: return *slot % RADIX;
    case DECISION_VALUE: break;
    }
    return *slot;
}

void decisions_of(const struct decisions *d, const struct config *c, int *choice)
{
    for (int t = 0; t < d->count; t++)
        choice[t] = choice_of(&d->decision[t], c->slot + d->decision[t].param->offset);
}

enum { MOST_NUMBERS = 1 << 20 };

void prefixes_init(struct prefixes *p, struct sequence *policy, const struct decisions *decisions)
{
    *p = (struct prefixes){
        .policy = policy,
        .decisions = decisions,
        .allowed = mem_zero((size_t)decisions->all_values, sizeof *p->allowed),
    };
}

void prefixes_finish(struct prefixes *p)
{
    free(p->allowed);
    free(p->node);
    free(p->number);
    free(p->child);
    *p = (struct prefixes){0};
}

void prefixes_forget(struct prefixes *p)
{
    p->nodes = 0;
    p->numbers = p->children = 0;
}

// Whether `needed` do not fit; then the capacity doubles until they do.
static bool outgrows(size_t needed, size_t *capacity)
{
    if (needed <= *capacity)
        return false;
    *capacity = *capacity ? *capacity : 1024;
    while (needed > *capacity)
        *capacity *= 2;
    return true;
}

// The node before decision t, behind node `parent` (-1: t is 0).
static int open_node(struct prefixes *p, int t, int parent, const int *choice)
{
    size_t state = sequence_state(p->policy), values = (size_t)p->decisions->values[t];
    size_t numbers = state + values;
    if (outgrows(p->numbers + numbers, &p->number_capacity))
        p->number = mem_resize(p->number, p->number_capacity, sizeof *p->number);
    if (outgrows(p->children + values, &p->child_capacity))
        p->child = mem_resize(p->child, p->child_capacity, sizeof *p->child);
    memset(p->child + p->children, 0, values * sizeof *p->child);
    MEM_GROW(p->node, p->nodes, p->node_capacity);
    p->node[p->nodes] = (struct prefix){p->numbers, p->children};
    p->numbers += numbers;
    p->children += values;
    int node = p->nodes++;
    double *after = p->number + p->node[node].number;
    const double *before = parent < 0 ? NULL : p->number + p->node[parent].number;
    decisions_allow(p->decisions, t, choice, p->allowed);
    memcpy(after,
           sequence_step(p->policy, t, t ? choice[t - 1] : 0, before, p->allowed, after + state),
           state * sizeof *after);
    return node;
}

// The node before decision t, one choice behind `parent`.
static int follow(struct prefixes *p, int t, int parent, const int *choice)
{
    size_t child = p->node[parent].child + (size_t)choice[t - 1];
    if (p->child[child] == 0) {
        int node = open_node(p, t, parent, choice);
        p->child[child] = node; // which may have moved
    }
    return p->child[child];
}

void prefixes_draw(struct prefixes *p, struct rng *r, int *choice)
{
    if (p->numbers > MOST_NUMBERS)
        prefixes_forget(p);
    int node = 0;
    for (int t = 0; t < p->decisions->count; t++) {
        if (t > 0)
            node = follow(p, t, node, choice);
        else if (p->nodes == 0)
            open_node(p, 0, -1, choice);
        const double *probability = p->number + p->node[node].number + sequence_state(p->policy);
        choice[t] = (int)rng_weighted(r, (size_t)p->decisions->values[t], probability);
    }
}

enum {
    OPTION_BATCH,
    OPTION_HIDDEN,
    OPTION_EMBEDDING,
    OPTION_LR,
    OPTION_INIT,
    OPTION_DECAY,
    OPTION_ENTROPY,
    OPTION_CLIP,
    OPTION_RESAMPLE,
    OPTION_REUSE
};

enum {
    ILLEGAL_TRIES = 200, // of one place
    ILLEGAL_KEPT = 4     // of these
};

struct rnn {
    struct rounds rounds; // first: a strategy is a struct rnn
    struct rng rng;
    int batch, resample, reuse;
    double best;

    struct decisions decisions;
    struct reinforce learner;
    struct prefixes prefixes;
    int *choice; // of the draw at hand

    // What it learns from next: configurations, and how often each was drawn.
    struct config_set samples;
    int *times, times_capacity;
};

static struct strategy *create(const struct search_problem *problem, uint64_t seed,
                               const double *option, struct err *e)
{
    (void)e;
    struct rnn *r = mem_zero(1, sizeof *r);
    rounds_init(&r->rounds, problem);
    rng_seed(&r->rng, seed);
    r->batch = (int)option[OPTION_BATCH];
    r->resample = (int)option[OPTION_RESAMPLE];
    r->reuse = (int)option[OPTION_REUSE];
    r->samples.slots = problem->space->slots;

    struct reinforce_settings s = (struct reinforce_settings){
        .hidden = (int)option[OPTION_HIDDEN],
        .embedding = (int)option[OPTION_EMBEDDING],
        .rate = option[OPTION_LR],
        .range = option[OPTION_INIT],
        .decay = option[OPTION_DECAY],
        .entropy = option[OPTION_ENTROPY],
        .clip = option[OPTION_CLIP],
    };
    decisions_init(&r->decisions, problem->space);
    reinforce_init(&r->learner, r->decisions.count, r->decisions.values, &s, rng_next(&r->rng));
    prefixes_init(&r->prefixes, &r->learner.policy, &r->decisions);
    r->choice = mem_zero((size_t)r->decisions.count, sizeof *r->choice);
    return &r->rounds.base;
}

static void keep(struct rnn *r, const struct config *c)
{
    int count = r->samples.count, i = config_set_add(&r->samples, c, NULL);
    if (i == count) {
        MEM_GROW(r->times, count, r->times_capacity);
        r->times[i] = 0;
    }
    r->times[i]++;
}

static void propose(struct rnn *r, const struct config *c)
{
    keep(r, c);
    rounds_add(&r->rounds, c, NULL);
}

static bool propose_uniform(struct rnn *r)
{
    struct config c;
    bool found = visited_draw(&r->rounds.visited, &r->rng, &c);
    if (found)
        propose(r, &c);
    return found;
}

// One place of the batch. False: nothing new is left, or could be found.
static bool fill_place(struct rnn *r)
{
    struct visited *visited = &r->rounds.visited;
    struct config c;
    if (visited_warm(visited, &c)) {
        propose(r, &c);
        return true;
    }
    if ((uint64_t)visited->given.count == r->rounds.problem.space->size)
        return false;
    int again = 0, reused = 0, illegal = 0;
    while (reused < r->reuse && illegal < ILLEGAL_TRIES) {
        prefixes_draw(&r->prefixes, &r->rng, r->choice);
        decisions_config(&r->decisions, r->rounds.problem.space, r->choice, &c);
        if (visited_allows(visited, &c)) {
            propose(r, &c);
            return true;
        }
        if (config_set_find(&visited->given, &c) < 0) {
            if (illegal++ < ILLEGAL_KEPT)
                keep(r, &c);
        } else if (again++ == r->resample) {
            keep(r, &c);
            reused++;
            again = 0;
        }
    }
    return propose_uniform(r);
}

static double reward(const struct rnn *r, const struct config *c)
{
    int known = config_set_find(&r->rounds.visited.given, c); // -1: illegal
    double fitness = known < 0 ? 0 : r->rounds.fitness[known];
    return fitness > 0 ? fitness / r->best : 0;
}

static void make_round(void *self)
{
    struct rnn *r = self;
    size_t count = (size_t)r->samples.count, steps = (size_t)r->decisions.count;
    size_t values = (size_t)r->decisions.all_values;
    struct reinforce_sample *sample = mem_zero(count, sizeof *sample);
    int *choice = mem_zero(count * steps, sizeof *choice);
    bool *allowed = mem_zero(count * values, sizeof *allowed);
    for (size_t i = 0; i < count; i++) {
        struct config c;
        config_set_get(&r->samples, (int)i, &c);
        decisions_of(&r->decisions, &c, choice + i * steps);
        decisions_allow_all(&r->decisions, choice + i * steps, allowed + i * values);
        sample[i] = (struct reinforce_sample){
            .choice = choice + i * steps,
            .allowed = allowed + i * values,
            .reward = reward(r, &c),
            .times = r->times[i],
        };
    }
    reinforce_update(&r->learner, (int)count, sample);
    free(sample);
    free(choice);
    free(allowed);
    config_set_finish(&r->samples);
    r->samples.slots = r->rounds.problem.space->slots;
    prefixes_forget(&r->prefixes);
    int free_places = r->batch;
    while (free_places > 0 && fill_place(r))
        free_places--;
}

static enum ask ask(struct strategy *s, struct config *out)
{
    struct rnn *r = (struct rnn *)s;
    return rounds_ask(&r->rounds, out, make_round, r);
}

static void tell(struct strategy *s, const struct config *c, enum outcome o, double fitness)
{
    struct rnn *r = (struct rnn *)s;
    rounds_tell(s, c, o, fitness);
    r->best = fitness > r->best ? fitness : r->best;
}

static void destroy(struct strategy *s)
{
    struct rnn *r = (struct rnn *)s;
    prefixes_finish(&r->prefixes);
    reinforce_finish(&r->learner);
    decisions_finish(&r->decisions);
    rounds_finish(&r->rounds);
    config_set_finish(&r->samples);
    free(r->times);
    free(r->choice);
    free(r);
}

static const struct spec_option options[] = {
    [OPTION_BATCH] = {"batch", "configurations between two updates", 8, 1, 256, true},
    [OPTION_HIDDEN] = {"hidden", "units of the LSTM", 64, 1, 256, true},
    [OPTION_EMBEDDING] = {"embedding", "numbers that stand for a choice", 32, 1, 256, true},
    [OPTION_LR] = {"lr", "learning rate of Adam", 3.5e-3, 0, 1, false},
    [OPTION_INIT] = {"init", "first weights are within plus and minus this", 0.08, 0, 1, false},
    [OPTION_DECAY] = {"decay", "of the average reward that is the baseline", 0.9, 0, 1, false},
    [OPTION_ENTROPY] = {"entropy", "weight of the entropy bonus", 0.01, 0, 10, false},
    [OPTION_CLIP] = {"clip", "longest gradient", 5, 1e-6, 1e6, false},
    [OPTION_RESAMPLE] = {"resample", "draws more for a known configuration", 20, 0, 1000, true},
    [OPTION_REUSE] = {"reuse", "known ones in a row before a uniform draw", 1000, 1, 1000000, true},
    {NULL},
};

const struct strategy_kind strategy_rnn = {
    .name = "rnn",
    .help = "an LSTM that learns to write configurations",
    .options = options,
    .create = create,
    .ask = ask,
    .tell = tell,
    .generation = rounds_generation,
    .destroy = destroy,
};
