// A recurrent controller that learns by REINFORCE to generate good configurations (Zoph, Le 2016).
//
// The paper on G-BFS and N-A2C compares itself with such a controller, but gives no settings. Ours:
// one LSTM of 64 units generates a configuration decision by decision (rnn.h), and learns after
// each batch of 8 (model/reinforce.h). The reward is fitness / best so far, 0 for failures.
//
// A known configuration cannot be proposed again. A place of the batch is drawn again up to
// `resample` times. If all these draws are known, the policy learns once more from the stored
// fitness of the last one, without a trial, and the place is still free. After `reuse` of these the
// place gets a uniform draw among the unknown configurations. (So a converged controller becomes
// random search; with the default settings this takes some hundred trials.)
//
// Constraints: an illegal draw is repeated, without a trial. The first four illegal draws of each
// place join the batch with reward 0, so that the policy learns the constraints: where 80 % are
// illegal it starts with 5 draws per proposal and soon needs fewer. A place with 200 illegal draws
// gets a uniform draw among the legal configurations.
#include "search/rnn.h"

#include "model/reinforce.h"
#include "search/batches.h"

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

void decisions_allow(const struct decisions *d, int t, const int *choice, bool *allowed)
{
    const struct decision *e = &d->decision[t];
    int values = d->values[t], most = e->param->count - 1;
    if (e->kind == DECISION_FACTORS) {
        most = e->param->exponent[e->prime];
        for (int part = 1; part <= e->place; part++)
            most -= choice[t - part];
    } else if (e->kind == DECISION_LOW) {
        most -= choice[t - 1] * RADIX;
    }
    for (int i = 0; i < values; i++)
        allowed[i] = i <= most;
    for (int place = 1; e->kind == DECISION_ITEM && place <= e->place; place++)
        allowed[choice[t - place]] = false;
}

void decisions_config(const struct decisions *d, const struct space *s, const int *choice,
                      struct config *out)
{
    // Before the decisions every part is 1, the items are in their order, the index is 0.
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
            int32_t factor = 1;
            for (int n = 0; n < choice[t]; n++)
                factor *= e->param->prime[e->prime];
            slot[e->place] *= factor;
            slot[e->param->width - 1] /= factor;
        } else if (e->kind == DECISION_ITEM) {
            // Swaps the chosen item with the one at its place, so the last item is right at the
            // end.
            int at = e->place;
            while (slot[at] != choice[t])
                at++;
            slot[at] = slot[e->place];
            slot[e->place] = choice[t];
        } else {
            *slot = (e->kind == DECISION_LOW ? *slot * RADIX : 0) + choice[t];
        }
    }
    space_settle(s, out);
}

void decisions_of(const struct decisions *d, const struct config *c, int *choice)
{
    for (int t = 0; t < d->count; t++) {
        const struct decision *e = &d->decision[t];
        const int32_t *slot = c->slot + e->param->offset;
        switch (e->kind) {
        case DECISION_FACTORS:
            choice[t] = factor_multiplicity(slot[e->place], e->param->prime[e->prime]);
            break;
        case DECISION_ITEM: choice[t] = slot[e->place]; break;
        case DECISION_HIGH: choice[t] = *slot / RADIX; break;
        case DECISION_LOW: choice[t] = *slot % RADIX; break;
        case DECISION_VALUE: choice[t] = *slot; break;
        }
    }
}

// --- draws ---

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

// Adds the node before decision t, below node `parent` (-1: t is 0).
static int open_node(struct prefixes *p, int t, int parent, const int *choice)
{
    size_t state = sequence_state(p->policy), values = (size_t)p->decisions->values[t];
    size_t numbers = state + values;
    if (p->numbers + numbers > p->number_capacity) {
        p->number_capacity = 2 * (p->numbers + numbers);
        p->number = mem_resize(p->number, p->number_capacity, sizeof *p->number);
    }
    if (p->children + values > p->child_capacity) {
        p->child_capacity = 2 * (p->children + values);
        p->child = mem_resize(p->child, p->child_capacity, sizeof *p->child);
    }
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

void prefixes_draw(struct prefixes *p, struct rng *r, int *choice)
{
    if (p->numbers > MOST_NUMBERS)
        prefixes_forget(p);
    int node = 0;
    for (int t = 0; t < p->decisions->count; t++) {
        if (t > 0) {
            size_t child = p->node[node].child + (size_t)choice[t - 1];
            int next = p->child[child] ? p->child[child] : open_node(p, t, node, choice);
            node = p->child[child] = next; // open_node may have moved the array
        } else if (p->nodes == 0) {
            open_node(p, 0, -1, choice);
        }
        const double *probability = p->number + p->node[node].number + sequence_state(p->policy);
        choice[t] = (int)rng_weighted(r, (size_t)p->decisions->values[t], probability);
    }
}

// --- the strategy ---

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
    ILLEGAL_TRIES = 200, // illegal draws for one place
    ILLEGAL_KEPT = 4     // illegal draws of a place that are learned from
};

struct rnn {
    struct batches batches; // first: a strategy is a struct rnn
    struct rng rng;
    int batch, resample, reuse;
    double best;

    struct decisions decisions;
    struct reinforce reinforce;
    struct prefixes prefixes;
    int *choice; // scratch

    struct config_set samples; // configurations to learn from, and how often each was drawn
    int *times, times_capacity;
};

// Adds a configuration to those that the policy learns from next.
static void keep(struct rnn *r, const struct config *c)
{
    int count = r->samples.count, i = config_set_add(&r->samples, c, NULL);
    if (i == count) {
        MEM_GROW(r->times, count, r->times_capacity);
        r->times[i] = 0;
    }
    r->times[i]++;
}

// Fills one place of the batch. False: nothing new is left, or could be found.
static bool fill_place(struct rnn *r)
{
    struct archive *archive = &r->batches.archive;
    struct config c;
    bool found = archive_warm(archive, &c);
    if (!found && (uint64_t)archive->given.count == r->batches.problem.space->size)
        return false;
    for (int again = 0, reused = 0, illegal = 0;
         !found && reused < r->reuse && illegal < ILLEGAL_TRIES;) {
        prefixes_draw(&r->prefixes, &r->rng, r->choice);
        decisions_config(&r->decisions, r->batches.problem.space, r->choice, &c);
        found = archive_allows(archive, &c);
        if (found)
            break;
        if (config_set_find(&archive->given, &c) < 0) {
            if (illegal++ < ILLEGAL_KEPT)
                keep(r, &c);
        } else if (again++ == r->resample) {
            keep(r, &c);
            reused++;
            again = 0;
        }
    }
    found = found || archive_draw(archive, &r->rng, &c);
    if (found) {
        keep(r, &c);
        batches_add(&r->batches, &c, NULL);
    }
    return found;
}

static void rnn_make_batch(void *self)
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
        int known = config_set_find(&r->batches.archive.given, &c); // -1: illegal
        double fitness = known < 0 ? 0 : r->batches.fitness[known];
        decisions_of(&r->decisions, &c, choice + i * steps);
        sample[i] = (struct reinforce_sample){
            .choice = choice + i * steps,
            .allowed = allowed + i * values,
            .reward = fitness > 0 ? fitness / r->best : 0,
            .times = r->times[i],
        };
        bool *of_decision = allowed + i * values;
        for (int t = 0; t < r->decisions.count; of_decision += r->decisions.values[t++])
            decisions_allow(&r->decisions, t, choice + i * steps, of_decision);
    }
    reinforce_update(&r->reinforce, (int)count, sample);
    free(sample);
    free(choice);
    free(allowed);
    config_set_finish(&r->samples);
    r->samples.slots = r->batches.problem.space->slots;
    prefixes_forget(&r->prefixes);
    for (int n = 0; n < r->batch && fill_place(r); n++)
        continue;
}

static struct strategy *rnn_create(const struct search_problem *problem, uint64_t seed,
                                   const double *option, struct err *e)
{
    (void)e;
    struct rnn *r = mem_zero(1, sizeof *r);
    batches_init(&r->batches, problem, rnn_make_batch);
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
    reinforce_init(&r->reinforce, r->decisions.count, r->decisions.values, &s, rng_next(&r->rng));
    prefixes_init(&r->prefixes, &r->reinforce.policy, &r->decisions);
    r->choice = mem_zero((size_t)r->decisions.count, sizeof *r->choice);
    return &r->batches.base;
}

static void rnn_tell(struct strategy *s, const struct config *c, enum outcome o, double fitness)
{
    struct rnn *r = (struct rnn *)s;
    batches_tell(s, c, o, fitness);
    r->best = fitness > r->best ? fitness : r->best;
}

static void rnn_destroy(struct strategy *s)
{
    struct rnn *r = (struct rnn *)s;
    prefixes_finish(&r->prefixes);
    reinforce_finish(&r->reinforce);
    decisions_finish(&r->decisions);
    batches_finish(&r->batches);
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
    .create = rnn_create,
    .ask = batches_ask,
    .tell = rnn_tell,
    .generation = batches_generation,
    .destroy = rnn_destroy,
};
