// N-A2C (Zhang, Cheng, Zhang, Yang, Wang 2019): short walks from the best state, led by an
// actor-critic.
//
// A round: from the best state so far walk `steps` moves at a time, each with probability tau drawn
// from the policy, else uniform, and measure the states not seen before, until there are `batch`.
// Then the policy learns from them (walk_policy.h). The paper gives only steps = 3; tau, batch,
// network and rate are those of NNI 2.0; entropy, memory, minibatch, updates and clip are ours.
//
// augment=1 is the paper's memory: all moves that end in a measured state. It is off, for what it
// teaches is also the way back to what is known. On six hills (4/2/4 parts of 1024 and six ladders
// of 16 rungs, three slopes, 40 seeds) walks led without it end nearer to the top than uniform ones
// on all, with it on one. On seven recorded spaces the three differ little.
//
// When 200 walks in a row find nothing new, walks get longer by a move, up to 10, and short again
// when the best state changes (the paper: "T grows again"). When that is not enough the search
// starts anew from a random state that was never given, and counts the best from there on. soft=6
// is the paper's soft start: walks of 6 moves at first, of `steps` after ten rounds.
//
// mode=nni is what NNI 2.0 runs, with these defects: the sign of the actor's loss is wrong, so the
// policy avoids what pays; the advantage is not held constant in it; rewards are neither scaled nor
// put down to the right move (each result is written at the place that its state has among those
// still out, so that results in the order asked all overwrite the first); moves that change nothing
// are drawn too and use up a step; a walk is finished when the batch is already full. Only the
// endless loop of NNI when all around is known is not reproduced. Its options are those above
// memory; the others have no effect.
//
// Rules: with legal=1, the default, walks stay on legal states. A move to an illegal one is drawn
// again without it, so that what is drawn is the policy (or the uniform distribution) over the
// legal moves; in mode=nni it is a step that stays. With legal=0 illegal states are given too, as
// failures.

#include "search/na2c.h"

#include "search/actions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t width_of(const struct param *p)
{
    switch (p->kind) {
    case PARAM_FACTORIZATION:
    case PARAM_DISCRETE: return (size_t)p->width;
    case PARAM_PERMUTATION:
    case PARAM_CATEGORICAL:
    case PARAM_CUSTOM: return (size_t)p->width * (size_t)p->count;
    }
    return 0;
}

size_t encoding_width(const struct space *s)
{
    size_t width = 0;
    for (int i = 0; i < s->param_count; i++)
        width += width_of(&s->param[i]);
    return width;
}

static double encode_number(const struct param *p, int32_t v)
{
    if (p->kind == PARAM_FACTORIZATION)
        return (double)v / p->product - 0.5;
    return p->count > 1 ? (double)v / (p->count - 1) - 0.5 : 0;
}

static void encode(const struct param *p, const int32_t *v, double *x)
{
    if (p->kind == PARAM_FACTORIZATION || p->kind == PARAM_DISCRETE) {
        for (int i = 0; i < p->width; i++)
            x[i] = encode_number(p, v[i]);
        return;
    }
    memset(x, 0, width_of(p) * sizeof *x);
    for (int i = 0; i < p->width; i++)
        x[i * p->count + v[i]] = 1;
}

void encoding_fill(const struct space *s, const struct config *c, double *x)
{
    for (int i = 0; i < s->param_count; i++) {
        encode(&s->param[i], c->slot + s->param[i].offset, x);
        x += width_of(&s->param[i]);
    }
}

bool walk_policy_init(struct walk_policy *p, const struct space *space,
                      const struct walk_policy_options *options, struct rng *r, struct err *e)
{
    *p = (struct walk_policy){.options = *options};
    actions_init(&p->actions, space);
    if (p->actions.count > WALK_POLICY_MOST_ACTIONS)
        return err_set(e, "space '%s' has %d moves to choose from; its network takes at most %d",
                       space->name, p->actions.count, WALK_POLICY_MOST_ACTIONS);
    size_t inputs = encoding_width(space), actions = (size_t)p->actions.count;
    actor_critic_init(&p->net, inputs, (size_t)options->hidden, actions, r);
    p->x = mem_zero(inputs, sizeof *p->x);
    p->by_logit = mem_zero(actions, sizeof *p->by_logit);
    p->policy = mem_zero(actions, sizeof *p->policy);
    p->legal = mem_zero(actions, sizeof *p->legal);
    p->memory = mem_zero((size_t)options->memory, sizeof *p->memory);
    return true;
}

void walk_policy_finish(struct walk_policy *p)
{
    actor_critic_finish(&p->net);
    free(p->x);
    free(p->by_logit);
    free(p->policy);
    free(p->legal);
    free(p->memory);
}

double walk_policy_at(struct walk_policy *p, const struct config *c)
{
    encoding_fill(p->actions.space, c, p->x);
    if (!p->options.mask)
        return actor_critic_forward(&p->net, p->x, NULL, p->policy);
    actions_mask(&p->actions, c, p->legal);
    p->legal_count = 0;
    for (int k = 0; k < p->actions.count; k++)
        p->legal_count += p->legal[k];
    return actor_critic_forward(&p->net, p->x, p->legal, p->policy);
}

void walk_policy_remember(struct walk_policy *p, const struct move *m)
{
    p->memory[p->next] = *m;
    p->next = (p->next + 1) % p->options.memory;
    if (p->remembered < p->options.memory)
        p->remembered++;
}

void walk_policy_remember_arrivals(struct walk_policy *p, const struct rounds *rounds, int to)
{
    struct config end;
    config_set_get(&rounds->visited.given, to, &end);
    struct move m = {.to = to};
    int neighbours = space_degree(p->actions.space, &end);
    for (int k = 0; k < neighbours; k++) {
        space_neighbour(p->actions.space, &end, k, &m.from);
        m.action = actions_between(&p->actions, &m.from, &end);
        walk_policy_remember(p, &m);
    }
}

static double return_of(struct walk_policy *p, const struct move *m, const struct rounds *rounds,
                        double best)
{
    double reward = best > 0 ? rounds->fitness[m->to] / best : 0;
    if (p->options.gamma == 0)
        return reward;
    struct config end;
    config_set_get(&rounds->visited.given, m->to, &end);
    return reward + p->options.gamma * walk_policy_at(p, &end);
}

void walk_policy_learn(struct walk_policy *p, const struct rounds *rounds, double best,
                       struct rng *r)
{
    for (int n = 0; n < p->options.updates && p->remembered > 0; n++) {
        for (int i = 0; i < p->options.minibatch; i++) {
            const struct move *m = &p->memory[rng_below(r, (uint64_t)p->remembered)];
            double goal = return_of(p, m, rounds, best);
            struct actor_critic_sample s = {.action = (size_t)m->action,
                                            .value = walk_policy_at(p, &m->from),
                                            .goal = goal,
                                            .weight = 1};
            if (p->options.augment)
                s.weight = fmin(1, p->policy[m->action] * p->legal_count);
            double by_value = actor_critic_sound_loss(p->net.actions, p->policy, &s,
                                                      p->options.entropy, p->by_logit);
            actor_critic_backward(&p->net, p->x, by_value, p->by_logit);
        }
        actor_critic_step(&p->net, p->options.rate, p->options.minibatch, p->options.clip);
    }
}

void walk_policy_learn_published(struct walk_policy *p, const struct move *m, const double *reward,
                                 int count)
{
    for (int i = 0; i < count; i++) {
        const struct actor_critic_sample s = {.action = (size_t)m[i].action,
                                              .value = walk_policy_at(p, &m[i].from),
                                              .goal = reward[i]};
        double by_value = actor_critic_published_loss(p->net.actions, p->policy, &s, p->by_logit);
        actor_critic_backward(&p->net, p->x, by_value, p->by_logit);
    }
    actor_critic_step(&p->net, p->options.rate, 1, INFINITY); // the loss is a sum
}

enum {
    OPTION_STEPS,
    OPTION_BATCH,
    OPTION_TAU,
    OPTION_HIDDEN,
    OPTION_RATE,
    OPTION_SOFT,
    OPTION_MODE,
    OPTION_LEGAL,
    OPTION_MEMORY,
    OPTION_MINIBATCH,
    OPTION_UPDATES,
    OPTION_GAMMA,
    OPTION_ENTROPY,
    OPTION_CLIP,
    OPTION_AUGMENT
};
enum { MODE_DEFAULT, MODE_NNI };
enum {
    IDLE_WALKS = 200, // that found nothing new, before walks get longer
    LONGEST = 10,
    SOFT_ROUNDS = 10,
    REFUSALS = 100 // by rules, of one step, before a walk ends there
};
static const double nni_reward = 1000; // per unit of fitness: NNI has GFLOP/s, the engine TFLOP/s

struct na2c {
    struct rounds rounds; // first: a strategy is a struct na2c
    struct rng rng;
    int steps, batch, soft, mode;
    double tau;
    bool augment;
    struct walk_policy policy;
    double *chance; // of each action, while a step is drawn

    struct config_set illegal; // found to be so
    struct config from;        // where walks start
    double from_fitness;       // 0 while it is unknown
    int first;                 // results before this index are of an earlier start
    int longer;                // by which walks have grown
    struct ranking ranking;
    double best;

    struct move *walked; // the moves that led to the newest round
    double *reward;      // mode=nni: of each of them
    int *out;            // mode=nni: the states that were not told yet
    int walked_count, out_count;
};

static void destroy(struct strategy *s)
{
    struct na2c *n = (struct na2c *)s;
    rounds_finish(&n->rounds);
    walk_policy_finish(&n->policy);
    config_set_finish(&n->illegal);
    ranking_finish(&n->ranking);
    free(n->chance);
    free(n->walked);
    free(n->reward);
    free(n->out);
    free(n);
}

static struct strategy *create(const struct search_problem *problem, uint64_t seed,
                               const double *option, struct err *e)
{
    struct na2c *n = mem_zero(1, sizeof *n);
    rounds_init(&n->rounds, problem);
    n->rounds.visited.only_legal = problem->legal && option[OPTION_LEGAL] != 0;
    rng_seed(&n->rng, seed);
    ranking_init(&n->ranking);
    n->steps = (int)option[OPTION_STEPS];
    n->batch = (int)option[OPTION_BATCH];
    n->tau = option[OPTION_TAU];
    n->soft = (int)option[OPTION_SOFT];
    n->mode = (int)option[OPTION_MODE];
    n->augment = option[OPTION_AUGMENT] != 0;
    n->illegal.slots = problem->space->slots;
    actions_start(problem->space, &n->from);
    struct walk_policy_options options = (struct walk_policy_options){
        .hidden = (int)option[OPTION_HIDDEN],
        .memory = (int)option[OPTION_MEMORY],
        .minibatch = (int)option[OPTION_MINIBATCH],
        .updates = (int)option[OPTION_UPDATES],
        .rate = option[OPTION_RATE],
        .gamma = option[OPTION_GAMMA],
        .entropy = option[OPTION_ENTROPY],
        .clip = option[OPTION_CLIP],
        .augment = option[OPTION_AUGMENT] != 0,
        .mask = option[OPTION_MODE] != MODE_NNI,
    };
    if (!walk_policy_init(&n->policy, problem->space, &options, &n->rng, e)) {
        destroy(&n->rounds.base);
        return NULL;
    }
    n->chance = mem_zero((size_t)n->policy.actions.count, sizeof *n->chance);
    size_t most = (size_t)(n->batch + n->steps + LONGEST + n->soft);
    n->walked = mem_zero(most, sizeof *n->walked);
    n->reward = mem_zero(most, sizeof *n->reward);
    n->out = mem_zero(most, sizeof *n->out);
    return &n->rounds.base;
}

// Walks come by the same states many times; rules are asked once about each.
static bool is_legal(struct na2c *n, const struct config *c)
{
    const struct visited *v = &n->rounds.visited;
    if (!v->only_legal || config_set_find(&v->given, c) >= 0)
        return true;
    if (config_set_find(&n->illegal, c) >= 0)
        return false;
    bool legal = v->problem->legal(v->problem->context, c);
    if (!legal)
        config_set_add(&n->illegal, c, NULL);
    return legal;
}

// One draw from the policy or a uniform one over all actions. -1: it leads nowhere.
static int step_as_published(struct na2c *n, const struct config *from, struct config *to)
{
    const struct walk_policy *p = &n->policy;
    size_t count = (size_t)p->actions.count;
    walk_policy_at(&n->policy, from);
    size_t action = rng_real(&n->rng) < n->tau ? rng_weighted(&n->rng, count, p->policy)
                                               : (size_t)rng_below(&n->rng, count);
    bool moves = actions_apply(&p->actions, (int)action, from, to);
    return moves && is_legal(n, to) ? (int)action : -1;
}

// A draw over the legal actions. -1: there is none.
static int step_legally(struct na2c *n, const struct config *from, struct config *to)
{
    static const double least = 1e-9; // where the policy has lost an action for good
    const struct walk_policy *p = &n->policy;
    bool uniform = rng_real(&n->rng) >= n->tau;
    walk_policy_at(&n->policy, from);
    for (int k = 0; k < p->actions.count; k++)
        n->chance[k] = !p->legal[k] ? 0 : uniform ? 1 : p->policy[k] + least;
    int left = p->legal_count < REFUSALS ? p->legal_count : REFUSALS;
    for (; left > 0; left--) {
        size_t action = rng_weighted(&n->rng, (size_t)p->actions.count, n->chance);
        actions_apply(&p->actions, (int)action, from, to);
        if (is_legal(n, to))
            return (int)action;
        n->chance[action] = 0;
    }
    return -1;
}

static bool is_full(const struct na2c *n)
{
    return n->rounds.visited.given.count - n->rounds.handed_out >= n->batch;
}

static int walk_length(const struct na2c *n)
{
    int round = n->rounds.number, length = n->steps;
    if (n->soft && round < SOFT_ROUNDS)
        length = n->soft + (n->steps - n->soft) * round / SOFT_ROUNDS;
    return length + n->longer;
}

static void walk(struct na2c *n)
{
    struct config at = n->from, next;
    bool published = n->mode == MODE_NNI;
    for (int left = walk_length(n); left > 0 && (published || !is_full(n)); left--) {
        int action = published ? step_as_published(n, &at, &next) : step_legally(n, &at, &next);
        if (action < 0 && published)
            continue;
        if (action < 0)
            return;
        if (config_set_find(&n->rounds.visited.given, &next) < 0) {
            const struct config_set *given = &n->rounds.visited.given;
            int parent = config_set_find(given, &at), origin[SPACE_MAX_PARAMS];
            for (int i = 0; i < SPACE_MAX_PARAMS; i++)
                origin[i] = parent + 1;
            n->walked[n->walked_count++] = (struct move){at, action, given->count};
            rounds_add(&n->rounds, &next, parent < 0 ? NULL : origin);
        }
        at = next;
    }
}

// Goes on from a random new state. False: none is left.
static bool start_anew(struct na2c *n)
{
    n->first = n->rounds.visited.given.count;
    n->from_fitness = 0;
    n->longer = 0;
    if (!rounds_draw(&n->rounds, &n->rng))
        return false;
    config_set_get(&n->rounds.visited.given, n->first, &n->from);
    return true;
}

static void fill_round(struct na2c *n)
{
    const struct config_set *given = &n->rounds.visited.given;
    int idle = 0;
    while (!is_full(n) && (uint64_t)given->count < n->rounds.problem.space->size) {
        int known = given->count;
        if (n->policy.actions.count > 0)
            walk(n);
        idle = given->count > known ? 0 : idle + 1;
        if (idle < IDLE_WALKS)
            continue;
        idle = 0;
        if (walk_length(n) < LONGEST)
            n->longer++;
        else if (!start_anew(n))
            return;
    }
}

static void learn(struct na2c *n)
{
    const struct rounds *r = &n->rounds;
    if (n->mode == MODE_NNI) {
        walk_policy_learn_published(&n->policy, n->walked, n->reward, n->walked_count);
        return;
    }
    for (int i = r->start; i < r->told && n->augment; i++)
        walk_policy_remember_arrivals(&n->policy, r, i);
    for (int i = 0; i < n->walked_count && !n->augment; i++)
        walk_policy_remember(&n->policy, &n->walked[i]);
    walk_policy_learn(&n->policy, r, n->best, &n->rng);
}

static void make_round(void *self)
{
    struct na2c *n = self;
    if (n->rounds.told > 0) {
        // The best so far, of those that count, is where walks start.
        const struct rounds *r = &n->rounds;
        for (int i = r->start; i < r->told; i++) {
            n->best = fmax(n->best, r->fitness[i]);
            if (i < n->first || r->fitness[i] <= n->from_fitness)
                continue;
            config_set_get(&r->visited.given, i, &n->from);
            n->from_fitness = r->fitness[i];
            n->longer = 0;
        }
        learn(n);
    } else if (!is_legal(n, &n->from) && !start_anew(n)) {
        return;
    }
    n->walked_count = 0;
    rounds_add_warm(&n->rounds);
    fill_round(n);
    n->out_count = n->walked_count;
    for (int i = 0; i < n->walked_count; i++) {
        n->out[i] = n->walked[i].to;
        n->reward[i] = 0;
    }
}

static enum ask ask(struct strategy *s, struct config *out)
{
    struct na2c *n = (struct na2c *)s;
    return rounds_ask(&n->rounds, out, make_round, n);
}

static void tell(struct strategy *s, const struct config *c, enum outcome o, double fitness)
{
    struct na2c *n = (struct na2c *)s;
    rounds_tell(s, c, o, fitness);
    int index = config_set_find(&n->rounds.visited.given, c);
    ranking_add(&n->ranking, (struct ranked){fitness, index, rounds_generation(s)});
    // NNI looks a finished state up among those still out, and takes its place there for its place
    // in the round.
    int place = 0;
    while (place < n->out_count && n->out[place] != index)
        place++;
    if (place == n->out_count)
        return; // it was drawn
    n->reward[place] = nni_reward * fitness;
    n->out_count--;
    for (int i = place; i < n->out_count; i++)
        n->out[i] = n->out[i + 1];
}

static int population(const struct strategy *s, int most, struct individual *out)
{
    const struct na2c *n = (const struct na2c *)s;
    return ranking_show(&n->ranking, &n->rounds, most, out);
}

static const char *const modes[] = {
    [MODE_DEFAULT] = "default",
    [MODE_NNI] = "nni",
    NULL,
};

static const struct spec_option options[] = {
    [OPTION_STEPS] = {"steps", "moves of a walk (T)", 3, 1, 100, true},
    [OPTION_BATCH] = {"batch", "new states of a round", 6, 1, 4096, true},
    [OPTION_TAU] = {"tau", "chance that the policy chooses a move", 0.9, 0, 1, false},
    [OPTION_HIDDEN] = {"hidden", "hidden units of the network", 128, 1, 4096, true},
    [OPTION_RATE] = {"rate", "learning rate (Adam)", 0.001, 0, 1, false},
    [OPTION_SOFT] = {"soft", "moves of the first walks (soft start); 0: steps", 0, 0, 100, true},
    [OPTION_MODE] = {"mode", "nni: as published in NNI, defects too", 0, 0, 1, true, modes},
    [OPTION_LEGAL] = {"legal", "1: walk on legal states alone", 1, 0, 1, true},
    [OPTION_MEMORY] = {"memory", "moves remembered", 1024, 1, 65536, true},
    [OPTION_MINIBATCH] = {"minibatch", "moves of one update", 64, 1, 65536, true},
    [OPTION_UPDATES] = {"updates", "of the network after a round", 4, 0, 1000, true},
    [OPTION_GAMMA] = {"gamma", "discount of what follows", 0, 0, 0.99, false},
    [OPTION_ENTROPY] = {"entropy", "weight of the policy's entropy", 0.01, 0, 10, false},
    [OPTION_CLIP] = {"clip", "largest norm of a gradient", 1, 1e-6, 1e6, false},
    [OPTION_AUGMENT] = {"augment", "1: learn from all moves to a state", 0, 0, 1, true},
    {NULL},
};

const struct strategy_kind strategy_na2c = {
    .name = "na2c",
    .help = "walks from the best state led by an actor-critic",
    .options = options,
    .create = create,
    .ask = ask,
    .tell = tell,
    .population = population,
    .generation = rounds_generation,
    .origin = rounds_origin,
    .destroy = destroy,
};
