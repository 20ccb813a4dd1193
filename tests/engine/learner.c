#include "learner.h"

#include "base/mem.h"
#include "base/rng.h"
#include "base/task.h"
#include "search/kinds.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>

enum { MOST_DRAWS = 10000 };

struct learner_control learner;

struct state {
    struct strategy base;
    struct search_problem problem;
    uint64_t seed, knowledge; // a hash of all that it was told
    struct config_set seen;
    struct config plan[LEARNER_BATCH];
    int planned, given;
    int64_t asked, told;
    struct task *task;
    int fits, reported;
};

static void learn(struct state *s, double fitness)
{
    s->knowledge = s->knowledge * 1099511628211u + (uint64_t)(fitness * 1e6) + 1;
}

// Draws the next batch by the results so far.
static void plan(struct state *s)
{
    struct rng rng;
    rng_seed(&rng, s->seed ^ s->knowledge);
    s->planned = s->given = 0;
    for (int i = 0; i < MOST_DRAWS && s->planned < LEARNER_BATCH; i++) {
        struct config c;
        bool is_new;
        space_sample(s->problem.space, &rng, &c);
        if (!s->problem.legal(s->problem.context, &c))
            continue;
        config_set_add(&s->seen, &c, &is_new);
        if (is_new)
            s->plan[s->planned++] = c;
    }
}

static void fit(void *context, const atomic_bool *stop)
{
    struct state *s = context;
    atomic_store(&learner.started, s->fits);
    while (atomic_load(&learner.hold) == s->fits && !atomic_load(stop))
        poll(NULL, 0, 1);
    atomic_fetch_add(&learner.stopped, atomic_load(stop));
    plan(s);
}

static struct strategy *create(const struct search_problem *p, uint64_t seed, const double *option,
                               struct err *e)
{
    (void)option, (void)e;
    struct state *s = mem_zero(1, sizeof *s);
    s->problem = *p;
    s->seed = seed;
    s->seen.slots = p->space->slots;
    for (int h = 0; h < p->history_count; h++)
        for (int i = 0; i < p->history[h].count; i++)
            learn(s, p->history[h].fitness[i] +
                         (double)config_hash(&p->history[h].config[i]) * 0x1p-64);
    plan(s);
    return &s->base;
}

// Returns true if the next batch is ready.
static bool is_ready(struct state *s)
{
    if (!s->task) {
        s->fits++;
        s->task = task_start(fit, s);
    }
    if (!task_is_done(s->task))
        return false;
    task_finish(s->task, false);
    s->task = NULL;
    return true;
}

static enum ask ask(struct strategy *base, struct config *out)
{
    struct state *s = (struct state *)base;
    bool is_through =
        s->task || s->given == s->planned; // the plan is the task's while there is one
    if (is_through && (s->told < s->asked || !is_ready(s)))
        return ASK_WAIT;
    if (s->planned == 0)
        return ASK_EXHAUSTED;
    *out = s->plan[s->given++];
    s->asked++;
    atomic_fetch_add(&learner.asked, 1);
    return ASK_NEW;
}

static void took(struct strategy *base, const struct config *c, double seconds)
{
    (void)base, (void)c;
    atomic_store(&learner.took_s, atomic_load(&learner.took_s) + seconds);
}

static void tell(struct strategy *base, const struct config *c, enum outcome o, double fitness)
{
    struct state *s = (struct state *)base;
    (void)c, (void)o;
    learn(s, fitness);
    s->told++;
}

static int wait_fd(const struct strategy *base)
{
    const struct state *s = (const struct state *)base;
    return s->task ? task_fd(s->task) : -1;
}

static bool take_refit(struct strategy *base, struct refit *out)
{
    struct state *s = (struct state *)base;
    if (s->task || s->reported == s->fits)
        return false;
    bool first = s->reported++ == 0;
    *out = (struct refit){
        .told = s->told,
        .rows = 2 * s->told,
        .correlation = first ? NAN : 0.5,
        .recall = first ? NAN : 0.75,
        .k = first ? 0 : 4,
        .batch = first ? 0 : LEARNER_BATCH,
        .seconds = 0.25,
        .bytes = 1 << 20,
    };
    return true;
}

static void destroy(struct strategy *base)
{
    struct state *s = (struct state *)base;
    task_finish(s->task, true);
    config_set_finish(&s->seen);
    free(s);
}

static const struct spec_option no_options[] = {{.name = NULL}};

static const struct strategy_kind kind = {
    .name = "learner",
    .help = "fits",
    .options = no_options,
    .learns = LEARNS_ALL,
    .create = create,
    .ask = ask,
    .took = took,
    .tell = tell,
    .wait_fd = wait_fd,
    .take_refit = take_refit,
    .destroy = destroy,
};

const struct strategy_kind *const strategy_kinds[] = {&kind, &strategy_random, NULL};
