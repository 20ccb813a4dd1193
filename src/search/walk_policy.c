#include "search/walk_policy.h"

#include "search/encoding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static void learn_from(struct walk_policy *p, const struct move *m, double goal)
{
    struct actor_critic_sample s = {.action = (size_t)m->action,
                                    .value = walk_policy_at(p, &m->from),
                                    .goal = goal,
                                    .weight = 1};
    if (p->options.augment)
        s.weight = fmin(1, p->policy[m->action] * p->legal_count);
    double by_value =
        actor_critic_sound_loss(p->net.actions, p->policy, &s, p->options.entropy, p->by_logit);
    actor_critic_backward(&p->net, p->x, by_value, p->by_logit);
}

void walk_policy_learn(struct walk_policy *p, const struct rounds *rounds, double best,
                       struct rng *r)
{
    for (int n = 0; n < p->options.updates && p->remembered > 0; n++) {
        for (int i = 0; i < p->options.minibatch; i++) {
            const struct move *m = &p->memory[rng_below(r, (uint64_t)p->remembered)];
            learn_from(p, m, return_of(p, m, rounds, best));
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
