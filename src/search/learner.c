#include "search/learner.h"

#include "base/os.h"
#include "model/recall.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST_VERDICTS = 200000, // then they are forgotten
    SHARE = 4               // a quarter of a batch are its best, whose recall is told
};

static double best_of(const struct search_history *h)
{
    double best = 0;
    for (int i = 0; i < h->count; i++)
        best = fmax(best, h->fitness[i]);
    return best;
}

static void add_history(struct learner *l, const struct search_history *h, enum feature_kind kind)
{
    double best = best_of(h);
    struct features *f = best > 0 ? features_create(h->space, kind, NULL) : NULL;
    if (f && features_are_like(f, l->features))
        for (int i = 0; i < h->count; i++) {
            int program = samples_add(&l->samples, f, &h->config[i]);
            l->samples.y[program] = (float)(h->fitness[i] / best);
        }
    features_destroy(f);
}

static void add_histories(struct learner *l, enum feature_kind kind)
{
    const struct search_problem *p = &l->rounds.problem;
    for (int i = 0; i < p->history_count; i++)
        add_history(l, &p->history[i], kind);
    if (l->samples.programs < LEARNER_FEWEST_RECORDS)
        l->samples.programs = l->samples.rows = 0;
    l->history = l->samples.programs;
}

bool learner_init(struct learner *l, const struct learner_kind *kind, void *self,
                  const struct search_problem *problem, const struct learner_settings *settings,
                  struct err *e)
{
    *l = (struct learner){.kind = kind, .self = self, .batch = settings->batch};
    l->features = features_create(problem->space, settings->features, e);
    if (!l->features)
        return false;
    rounds_init(&l->rounds, problem);
    rng_seed(&l->rng, settings->seed);
    l->samples.width = features_width(l->features);
    l->proposal.slots = l->judged.slots = problem->space->slots;
    l->predicted = mem_zero((size_t)l->batch, sizeof *l->predicted);
    add_histories(l, settings->features);
    return true;
}

void learner_finish(struct learner *l)
{
    task_finish(l->task, true);
    if (l->features)
        rounds_finish(&l->rounds);
    features_destroy(l->features);
    samples_finish(&l->samples);
    config_set_finish(&l->proposal);
    config_set_finish(&l->judged);
    free(l->verdict);
    free(l->predicted);
    free(l->refit);
}

// The results since the last plan, and all labels: they are relative to the best.
static void take_results(struct learner *l)
{
    struct samples *s = &l->samples;
    for (int i = s->programs - l->history; i < l->rounds.told; i++) {
        struct config c;
        config_set_get(&l->rounds.visited.given, i, &c);
        samples_add(s, l->features, &c);
    }
    for (int i = 0; i < l->rounds.told; i++)
        s->y[l->history + i] = l->best > 0 ? (float)(l->rounds.fitness[i] / l->best) : 0;
}

// Of the batch that was told last, as it was predicted. Rounds are not empty.
static void judge_predictions(const struct learner *l, struct refit *r)
{
    int start = l->rounds.start, count = l->rounds.told - start;
    r->correlation = r->recall = NAN;
    if (!l->has_predicted)
        return;
    const float *label = l->samples.y + l->history + start;
    r->batch = count;
    r->k = (count + SHARE - 1) / SHARE;
    r->correlation = rank_correlation(count, label, l->predicted);
    r->recall = recall_at(count, label, l->predicted, r->k);
}

static void work(void *self, const atomic_bool *stop)
{
    struct learner *l = self;
    int64_t start = os_thread_cpu_ns();
    take_results(l);
    l->report = (struct refit){.told = l->rounds.told, .rows = l->samples.rows};
    judge_predictions(l, &l->report);
    l->fitted = l->kind->plan(l->self, stop);
    l->report.bytes = l->model_bytes;
    l->report.seconds = (double)(os_thread_cpu_ns() - start) * 1e-9;
}

// False: it is being made.
static bool plan_is_ready(struct learner *l)
{
    if (l->task && !task_is_done(l->task))
        return false;
    if (l->task) {
        task_finish(l->task, false);
        l->task = NULL;
        return true;
    }
    config_set_finish(&l->proposal);
    l->fitted = false;
    if (l->best <= 0 && l->history == 0)
        return true;
    l->task = task_start(work, l);
    if (l->task)
        return false;
    atomic_bool never = false;
    work(l, &never);
    return true;
}

static void predict_round(struct learner *l, int from)
{
    int count = l->rounds.visited.given.count - from;
    struct config *batch = mem_alloc((size_t)count * sizeof *batch);
    for (int i = 0; i < count; i++)
        config_set_get(&l->rounds.visited.given, from + i, &batch[i]);
    l->kind->predict(l->self, batch, count, l->predicted);
    free(batch);
}

static void report(struct learner *l)
{
    MEM_GROW(l->refit, l->refits, l->refit_capacity);
    l->refit[l->refits++] = l->report;
}

static void make_round(void *self)
{
    struct learner *l = self;
    struct visited *v = &l->rounds.visited;
    int from = v->given.count, end = from + l->batch;
    struct config c;
    while (v->given.count < end && visited_warm(v, &c))
        rounds_add(&l->rounds, &c, NULL);
    for (int i = 0; i < l->proposal.count && v->given.count < end; i++) {
        config_set_get(&l->proposal, i, &c);
        if (config_set_find(&v->given, &c) < 0) // a warm one
            rounds_add(&l->rounds, &c, NULL);
    }
    while (v->given.count < end && rounds_draw(&l->rounds, &l->rng)) {
    }
    l->has_predicted = l->fitted && v->given.count > from;
    if (l->has_predicted) {
        report(l);
        predict_round(l, from);
    }
}

enum ask learner_ask(struct strategy *s, struct config *out)
{
    struct learner *l = (struct learner *)s;
    const struct rounds *r = &l->rounds;
    bool is_over = r->handed_out == r->visited.given.count && r->told == r->handed_out;
    return is_over && !plan_is_ready(l) ? ASK_WAIT : rounds_ask(&l->rounds, out, make_round, l);
}

void learner_tell(struct strategy *s, const struct config *c, enum outcome o, double fitness)
{
    struct learner *l = (struct learner *)s;
    rounds_tell(s, c, o, fitness);
    l->best = fmax(l->best, fitness);
}

int learner_wait_fd(const struct strategy *s)
{
    const struct learner *l = (const struct learner *)s;
    return l->task ? task_fd(l->task) : -1;
}

bool learner_take_refit(struct strategy *s, struct refit *out)
{
    struct learner *l = (struct learner *)s;
    if (l->taken == l->refits)
        return false;
    *out = l->refit[l->taken++];
    return true;
}

static bool is_legal(struct learner *l, const struct config *c)
{
    const struct search_problem *p = &l->rounds.problem;
    if (!p->legal)
        return true;
    if (l->judged.count == MOST_VERDICTS)
        config_set_finish(&l->judged);
    bool is_new;
    int index = config_set_add(&l->judged, c, &is_new);
    if (is_new) {
        MEM_GROW(l->verdict, index, l->verdict_capacity);
        l->verdict[index] = p->legal(p->context, c);
    }
    return l->verdict[index];
}

bool learner_allows(struct learner *l, const struct config *c)
{
    return config_set_find(&l->rounds.visited.given, c) < 0 &&
           config_set_find(&l->proposal, c) < 0 && is_legal(l, c);
}

bool learner_propose(struct learner *l, const struct config *c)
{
    return learner_allows(l, c) && config_set_add(&l->proposal, c, NULL) >= 0;
}
