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
#include "model/reinforce.h"
#include "search/prefixes.h"
#include "search/rounds.h"

#include <stdlib.h>

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

static struct reinforce_settings settings(const double *option)
{
    return (struct reinforce_settings){
        .hidden = (int)option[OPTION_HIDDEN],
        .embedding = (int)option[OPTION_EMBEDDING],
        .rate = option[OPTION_LR],
        .range = option[OPTION_INIT],
        .decay = option[OPTION_DECAY],
        .entropy = option[OPTION_ENTROPY],
        .clip = option[OPTION_CLIP],
    };
}

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

    struct reinforce_settings s = settings(option);
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

static void learn(struct rnn *r)
{
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
}

static void make_round(void *self)
{
    struct rnn *r = self;
    learn(r);
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
