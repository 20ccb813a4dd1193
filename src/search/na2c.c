// N-A2C (Zhang, Cheng, Zhang, Yang, Wang 2019): short walks from the best state, guided by an
// actor-critic.
//
// A batch is made by walks of `steps` moves from the best state so far. Each move is drawn from the
// policy with probability tau, else uniformly. New states are measured, until there are `batch` of
// them. Then the policy learns from them. The paper gives only steps = 3; tau, batch, network and
// rate are those of NNI 2.0; entropy, memory, minibatch, updates and clip are ours.
//
// augment=1 is the paper's memory: all moves that end in a measured state. It is off, because these
// moves also teach the way back to known states. On six hills (4/2/4 parts of 1024 and six ladders
// of 16 rungs, three slopes, 40 seeds) walks guided without it end nearer to the top than uniform
// walks on all hills, with it on one. On seven recorded spaces the three differ little.
//
// After 200 walks in a row without a new state, walks get longer by a move, up to 10; they get
// short again when the best state changes (the paper: "T grows again"). If that is not enough, the
// search restarts from a random new state, and the best state is counted from there on. soft=6 is
// the paper's soft start: walks of 6 moves at first, of `steps` after ten batches.
//
// mode=nni is the algorithm of NNI 2.0, with these defects: the sign of the actor's loss is wrong,
// so the policy avoids good moves; the advantage is not held constant in it; rewards are not
// scaled, and belong to wrong moves (a result is written at the place of its state among the open
// ones, so that results in the order asked all overwrite the first); moves that change nothing are
// drawn too and use up a step; a walk goes on when the batch is already full. Only the endless loop
// of NNI among known states is not reproduced. The options above `memory` apply; the others have no
// effect.
//
// Rules: with legal=1, the default, walks stay on legal states. A move to an illegal one is drawn
// again without it; so the moves follow the policy (or the uniform distribution) over the legal
// moves. In mode=nni it is a step that stays. With legal=0 illegal states are proposed too, as
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

void encoding_fill(const struct space *s, const struct config *c, double *x)
{
    for (int i = 0; i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        const int32_t *v = c->slot + p->offset;
        size_t width = width_of(p);
        if (p->kind != PARAM_FACTORIZATION && p->kind != PARAM_DISCRETE)
            memset(x, 0, width * sizeof *x);
        for (int k = 0; k < p->width; k++) {
            if (p->kind == PARAM_FACTORIZATION)
                x[k] = (double)v[k] / p->product - 0.5;
            else if (p->kind == PARAM_DISCRETE)
                x[k] = p->count > 1 ? (double)v[k] / (p->count - 1) - 0.5 : 0;
            else
                x[k * p->count + v[k]] = 1;
        }
        x += width;
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

void walk_policy_remember_arrivals(struct walk_policy *p, const struct batches *batches, int to)
{
    struct config end;
    config_set_get(&batches->archive.given, to, &end);
    struct move m = {.to = to};
    int neighbours = space_degree(p->actions.space, &end);
    for (int k = 0; k < neighbours; k++) {
        space_neighbour(p->actions.space, &end, k, &m.from);
        m.action = actions_between(&p->actions, &m.from, &end);
        walk_policy_remember(p, &m);
    }
}

void walk_policy_learn(struct walk_policy *p, const struct batches *batches, double best,
                       struct rng *r)
{
    for (int n = 0; n < p->options.updates && p->remembered > 0; n++) {
        for (int i = 0; i < p->options.minibatch; i++) {
            const struct move *m = &p->memory[rng_below(r, (uint64_t)p->remembered)];
            double goal = best > 0 ? batches->fitness[m->to] / best : 0;
            if (p->options.gamma != 0) {
                struct config end;
                config_set_get(&batches->archive.given, m->to, &end);
                goal += p->options.gamma * walk_policy_at(p, &end);
            }
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
    IDLE_WALKS = 200, // walks without a new state before they get longer
    LONGEST = 10,
    SOFT_BATCHES = 10,
    REFUSALS = 100 // illegal moves drawn for one step before the walk ends
};
static const double nni_reward = 1000; // per unit of fitness: NNI has GFLOP/s, the engine TFLOP/s

struct na2c {
    struct batches batches; // first: a strategy is a struct na2c
    struct rng rng;
    int steps, batch, soft, mode;
    double tau;
    bool augment;
    struct walk_policy policy;
    double *chance; // of each action, while a step is drawn

    struct config_set illegal; // known illegal states
    struct config from;        // start of the walks
    double from_fitness;       // 0: unknown
    int first;                 // results before this index belong to an earlier start
    int longer;                // additional moves of a walk
    struct ranking ranking;
    double best;

    struct move *walked; // the moves that led to the newest batch
    double *reward;      // mode=nni: of each of them
    int *open;           // mode=nni: the states without a result
    int walked_count, open_count;
};

static void na2c_destroy(struct strategy *s)
{
    struct na2c *n = (struct na2c *)s;
    batches_finish(&n->batches);
    walk_policy_finish(&n->policy);
    config_set_finish(&n->illegal);
    ranking_finish(&n->ranking);
    free(n->chance);
    free(n->walked);
    free(n->reward);
    free(n->open);
    free(n);
}

// Asks the rules only once about each state, because walks meet the same states many times.
static bool is_legal(struct na2c *n, const struct config *c)
{
    const struct archive *v = &n->batches.archive;
    if (!v->only_legal || config_set_find(&v->given, c) >= 0)
        return true;
    if (config_set_find(&n->illegal, c) >= 0)
        return false;
    bool legal = v->problem->legal(v->problem->context, c);
    if (!legal)
        config_set_add(&n->illegal, c, NULL);
    return legal;
}

// Draws a step; returns its action. Draws from the policy over the legal actions, or uniformly
// among them; mode=nni draws from all actions. -1: there is no legal step, or it leads nowhere.
static int draw_step(struct na2c *n, const struct config *from, struct config *to)
{
    static const double least = 1e-9; // for actions that the policy has given up
    const struct walk_policy *p = &n->policy;
    size_t count = (size_t)p->actions.count;
    if (n->mode == MODE_NNI) {
        walk_policy_at(&n->policy, from);
        size_t action = rng_real(&n->rng) < n->tau ? rng_weighted(&n->rng, count, p->policy)
                                                   : (size_t)rng_below(&n->rng, count);
        bool moves = actions_apply(&p->actions, (int)action, from, to);
        return moves && is_legal(n, to) ? (int)action : -1;
    }
    bool uniform = rng_real(&n->rng) >= n->tau;
    walk_policy_at(&n->policy, from);
    for (int k = 0; k < p->actions.count; k++)
        n->chance[k] = !p->legal[k] ? 0 : uniform ? 1 : p->policy[k] + least;
    int left = p->legal_count < REFUSALS ? p->legal_count : REFUSALS;
    for (; left > 0; left--) {
        size_t action = rng_weighted(&n->rng, count, n->chance);
        actions_apply(&p->actions, (int)action, from, to);
        if (is_legal(n, to))
            return (int)action;
        n->chance[action] = 0;
    }
    return -1;
}

static int walk_length(const struct na2c *n)
{
    int round = n->batches.number, length = n->steps;
    if (n->soft && round < SOFT_BATCHES)
        length = n->soft + (n->steps - n->soft) * round / SOFT_BATCHES;
    return length + n->longer;
}

static void walk(struct na2c *n)
{
    const struct config_set *given = &n->batches.archive.given;
    struct config at = n->from, next;
    bool published = n->mode == MODE_NNI;
    for (int left = walk_length(n); left > 0; left--) {
        if (!published && batches_added(&n->batches) >= n->batch)
            return;
        int action = draw_step(n, &at, &next);
        if (action < 0 && published)
            continue;
        if (action < 0)
            return;
        if (config_set_find(given, &next) < 0) {
            int parent = config_set_find(given, &at);
            n->walked[n->walked_count++] = (struct move){at, action, given->count};
            if (parent < 0)
                batches_add(&n->batches, &next, NULL);
            else
                batches_add_child(&n->batches, &next, parent);
        }
        at = next;
    }
}

// Restarts from a random new state. False: none is left.
static bool restart(struct na2c *n)
{
    n->first = n->batches.archive.given.count;
    n->from_fitness = 0;
    n->longer = 0;
    if (!batches_draw(&n->batches, &n->rng))
        return false;
    config_set_get(&n->batches.archive.given, n->first, &n->from);
    return true;
}

static void learn(struct na2c *n)
{
    const struct batches *b = &n->batches;
    for (int i = b->start; i < b->observed; i++) { // walks start from the best state
        n->best = fmax(n->best, b->fitness[i]);
        if (i < n->first || b->fitness[i] <= n->from_fitness)
            continue;
        config_set_get(&b->archive.given, i, &n->from);
        n->from_fitness = b->fitness[i];
        n->longer = 0;
    }
    if (n->mode == MODE_NNI) {
        walk_policy_learn_published(&n->policy, n->walked, n->reward, n->walked_count);
        return;
    }
    for (int i = b->start; i < b->observed && n->augment; i++)
        walk_policy_remember_arrivals(&n->policy, b, i);
    for (int i = 0; i < n->walked_count && !n->augment; i++)
        walk_policy_remember(&n->policy, &n->walked[i]);
    walk_policy_learn(&n->policy, b, n->best, &n->rng);
}

static void na2c_make_batch(void *self)
{
    struct na2c *n = self;
    if (n->batches.observed > 0)
        learn(n);
    else if (!is_legal(n, &n->from) && !restart(n))
        return;
    n->walked_count = 0;
    batches_add_warm(&n->batches);
    const struct config_set *given = &n->batches.archive.given;
    int idle = 0;
    while (batches_added(&n->batches) < n->batch &&
           (uint64_t)given->count < n->batches.problem.space->size) {
        int known = given->count;
        if (n->policy.actions.count > 0)
            walk(n);
        idle = given->count > known ? 0 : idle + 1;
        if (idle < IDLE_WALKS)
            continue;
        idle = 0;
        if (walk_length(n) < LONGEST)
            n->longer++;
        else if (!restart(n))
            break;
    }
    n->open_count = n->walked_count;
    for (int i = 0; i < n->walked_count; i++) {
        n->open[i] = n->walked[i].to;
        n->reward[i] = 0;
    }
}

static struct strategy *na2c_create(const struct search_problem *problem, uint64_t seed,
                                    const double *option, struct err *e)
{
    struct na2c *n = mem_zero(1, sizeof *n);
    batches_init(&n->batches, problem, na2c_make_batch);
    n->batches.archive.only_legal =
        problem->legal && (option[OPTION_LEGAL] != 0 || search_is_sparse(problem));
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
    const struct walk_policy_options options = {
        .hidden = (int)option[OPTION_HIDDEN],
        .memory = (int)option[OPTION_MEMORY],
        .minibatch = (int)option[OPTION_MINIBATCH],
        .updates = (int)option[OPTION_UPDATES],
        .rate = option[OPTION_RATE],
        .gamma = option[OPTION_GAMMA],
        .entropy = option[OPTION_ENTROPY],
        .clip = option[OPTION_CLIP],
        .augment = n->augment,
        .mask = n->mode != MODE_NNI,
    };
    if (!walk_policy_init(&n->policy, problem->space, &options, &n->rng, e)) {
        na2c_destroy(&n->batches.base);
        return NULL;
    }
    n->chance = mem_zero((size_t)n->policy.actions.count, sizeof *n->chance);
    size_t most = (size_t)(n->batch + n->steps + LONGEST + n->soft);
    n->walked = mem_zero(most, sizeof *n->walked);
    n->reward = mem_zero(most, sizeof *n->reward);
    n->open = mem_zero(most, sizeof *n->open);
    return &n->batches.base;
}

static void na2c_tell(struct strategy *s, const struct config *c, enum outcome o, double fitness)
{
    struct na2c *n = (struct na2c *)s;
    batches_tell(s, c, o, fitness);
    int index = config_set_find(&n->batches.archive.given, c);
    ranking_add(&n->ranking, (struct ranked){fitness, index, batches_generation(s)});
    // NNI takes the place of the state among the open ones for its place in the batch.
    int place = 0;
    while (place < n->open_count && n->open[place] != index)
        place++;
    if (place == n->open_count)
        return; // the state was drawn
    n->reward[place] = nni_reward * fitness;
    n->open_count--;
    for (int i = place; i < n->open_count; i++)
        n->open[i] = n->open[i + 1];
}

static int na2c_population(const struct strategy *s, int most, struct individual *out)
{
    const struct na2c *n = (const struct na2c *)s;
    return ranking_show(&n->ranking, &n->batches, most, out);
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
    .create = na2c_create,
    .ask = batches_ask,
    .tell = na2c_tell,
    .population = na2c_population,
    .generation = batches_generation,
    .origin = batches_origin,
    .destroy = na2c_destroy,
};
