#include "search/learner.h"

#include "base/os.h"
#include "model/recall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// For a program of at most so many rows.
static void make_room(struct samples *s, int rows)
{
    int most = s->rows + rows;
    if (most > s->row_capacity) {
        s->row_capacity = 2 * most;
        s->x = mem_resize(s->x, (size_t)s->row_capacity * (size_t)s->width, sizeof *s->x);
    }
    if (s->programs + 1 >= s->capacity) {
        s->capacity = 2 * s->programs + 16;
        s->y = mem_resize(s->y, (size_t)s->capacity, sizeof *s->y);
        s->first = mem_resize(s->first, (size_t)s->capacity, sizeof *s->first);
    }
    s->first[s->programs] = s->rows;
}

static float *row_of(const struct samples *s, int row)
{
    return s->x + (size_t)row * (size_t)s->width;
}

static int end_program(struct samples *s, int rows)
{
    s->rows += rows;
    s->first[s->programs + 1] = s->rows;
    return s->programs++;
}

int samples_add(struct samples *s, struct features *f, const struct config *c)
{
    make_room(s, features_most_rows(f));
    return end_program(s, features_fill(f, c, row_of(s, s->rows)));
}

void samples_add_wider(struct samples *s, const struct samples *of, int program, const double *more)
{
    int first = of->first[program], rows = of->first[program + 1] - first;
    make_room(s, rows);
    for (int i = 0; i < rows; i++) {
        float *row = row_of(s, s->rows + i);
        memcpy(row, row_of(of, first + i), (size_t)of->width * sizeof *row);
        for (int k = of->width; k < s->width; k++)
            row[k] = (float)more[k - of->width];
    }
    s->y[end_program(s, rows)] = of->y[program];
}

void samples_finish(struct samples *s)
{
    free(s->x);
    free(s->y);
    free(s->first);
}

enum {
    MOST_VERDICTS = 200000, // then they are forgotten
    SHARE = 4               // a quarter of a batch are its best, whose recall is told
};

static void add_histories(struct learner *l, enum feature_kind kind)
{
    const struct search_problem *p = &l->rounds.problem;
    for (int i = 0; i < p->history_count; i++) {
        double best = 0;
        for (int j = 0; j < p->history[i].count; j++)
            best = fmax(best, p->history[i].fitness[j]);
        struct features *f = best > 0 ? features_create(p->history[i].space, kind, NULL) : NULL;
        if (f && features_are_like(f, l->features))
            for (int j = 0; j < p->history[i].count; j++) {
                int program = samples_add(&l->samples, f, &p->history[i].config[j]);
                l->samples.y[program] = (float)(p->history[i].fitness[j] / best);
            }
        features_destroy(f);
    }
    if (l->samples.programs < LEARNER_FEWEST_RECORDS)
        l->samples.programs = l->samples.rows = 0;
    l->history = l->samples.programs;
}

bool learner_init(struct learner *l, const struct learner_kind *kind, void *self,
                  const struct search_problem *problem, const struct learner_settings *settings,
                  struct err *e)
{
    *l = (struct learner){.kind = kind,
                          .self = self,
                          .batch = settings->batch,
                          .look = problem->look ? settings->look : 1};
    l->features = features_create(problem->space, settings->features, e);
    if (!l->features)
        return false;
    rounds_init(&l->rounds, problem);
    l->looks.problem = &l->rounds.problem;
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
    looks_finish(&l->looks);
    free(l->said);
    free(l->verdict);
    free(l->predicted);
    free(l->refit);
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
    // The results since the last plan, and all labels: they are relative to the best.
    struct samples *s = &l->samples;
    for (int i = s->programs - l->history; i < l->rounds.told; i++) {
        struct config c;
        config_set_get(&l->rounds.visited.given, i, &c);
        samples_add(s, l->features, &c);
    }
    for (int i = 0; i < l->rounds.told; i++)
        s->y[l->history + i] = l->best > 0 ? (float)(l->rounds.fitness[i] / l->best) : 0;
    l->report = (struct refit){.told = l->rounds.told, .rows = l->samples.rows};
    judge_predictions(l, &l->report);
    l->fitted = l->kind->plan(l->self, stop);
    l->report.bytes = l->model_bytes;
    l->report.seconds = (double)(os_thread_cpu_ns() - start) * 1e-9;
}

// --- the choice among what was compiled ---

// False: some of it is being compiled.
static bool look(struct learner *l)
{
    const struct search_problem *p = &l->rounds.problem;
    struct config *c = mem_zero((size_t)l->contenders, sizeof *c);
    for (int i = 0; i < l->contenders; i++)
        config_set_get(&l->proposal, i, &c[i]);
    l->said = mem_resize(l->said, (size_t)l->contenders, sizeof *l->said);
    bool known = looks_take(&l->looks, &l->rounds.visited.given, l->rounds.told);
    known = p->look(p->context, c, l->contenders, l->said) && known;
    free(c);
    return known;
}

static void add_informed(struct samples *s, const struct samples *of, int program,
                         const struct preview *said)
{
    double x[STATISTIC_KIND_COUNT];
    looks_point(said, x);
    samples_add_wider(s, of, program, x);
}

static void rate(struct learner *l, float *rating, const atomic_bool *stop)
{
    struct samples plain = {.width = l->samples.width};
    struct samples known = {.width = plain.width + STATISTIC_KIND_COUNT}, asked = known;
    for (int i = 0; i < l->rounds.told; i++)
        add_informed(&known, &l->samples, l->history + i, &l->looks.given[i]);
    for (int i = 0; i < l->contenders; i++) {
        struct config c;
        config_set_get(&l->proposal, i, &c);
        int program = samples_add(&plain, l->features, &c);
        plain.y[program] = 0; // not known
        add_informed(&asked, &plain, program, &l->said[i]);
    }
    l->kind->rate(l->self, &known, &asked, rating, stop);
    samples_finish(&plain);
    samples_finish(&known);
    samples_finish(&asked);
}

// The best that fits and was not taken, of equals the one proposed first; -1: none is left.
static int take_best(const struct learner *l, const float *rating, bool *taken)
{
    int best = -1;
    for (int i = 0; i < l->contenders; i++)
        if (l->said[i].fits && !taken[i] && (best < 0 || rating[i] > rating[best]))
            best = i;
    if (best >= 0)
        taken[best] = true;
    return best;
}

static void choose(void *self, const atomic_bool *stop)
{
    struct learner *l = self;
    int64_t start = os_thread_cpu_ns();
    float *rating = mem_zero((size_t)l->contenders, sizeof *rating);
    bool *taken = mem_zero((size_t)l->contenders, sizeof *taken);
    struct config_set chosen = {.slots = l->proposal.slots};
    struct config c;
    int best;
    if (l->best > 0)
        rate(l, rating, stop);
    while (chosen.count < l->places && (best = take_best(l, rating, taken)) >= 0) {
        config_set_get(&l->proposal, best, &c);
        config_set_add(&chosen, &c, NULL);
    }
    for (int i = l->contenders; i < l->proposal.count; i++) {
        config_set_get(&l->proposal, i, &c);
        config_set_add(&chosen, &c, NULL);
    }
    config_set_finish(&l->proposal);
    l->proposal = chosen;
    l->report.seconds += (double)(os_thread_cpu_ns() - start) * 1e-9;
    free(rating);
    free(taken);
}

// --- the plan ---

// False: it is under way.
static bool run(struct learner *l, void (*what)(void *self, const atomic_bool *stop))
{
    l->task = task_start(what, l);
    if (l->task)
        return false;
    atomic_bool never = false;
    what(l, &never);
    return true;
}

// ASK_NEW: the next round can be made of it.
static enum ask make_plan(struct learner *l)
{
    if (l->task && !task_is_done(l->task))
        return ASK_WAIT;
    task_finish(l->task, false);
    l->task = NULL;
    if (l->stage == LEARNER_RESTS) {
        config_set_finish(&l->proposal);
        l->fitted = false;
        l->contenders = 0;
        if (l->best <= 0 && l->history == 0)
            return ASK_NEW;
        l->stage = LEARNER_PLANS;
        if (!run(l, work))
            return ASK_WAIT;
    }
    if (l->stage == LEARNER_PLANS && l->contenders) {
        if (!look(l))
            return ASK_COMPILE;
        l->stage = LEARNER_CHOOSES;
        if (!run(l, choose))
            return ASK_WAIT;
    }
    l->stage = LEARNER_RESTS;
    return ASK_NEW;
}

// --- rounds ---

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
        int count = l->rounds.visited.given.count - from;
        struct config *batch = mem_alloc((size_t)count * sizeof *batch);
        for (int i = 0; i < count; i++)
            config_set_get(&l->rounds.visited.given, from + i, &batch[i]);
        l->kind->predict(l->self, batch, count, l->predicted);
        free(batch);
    }
}

enum ask learner_ask(struct strategy *s, struct config *out)
{
    struct learner *l = (struct learner *)s;
    const struct rounds *r = &l->rounds;
    bool is_over = r->handed_out == r->visited.given.count && r->told == r->handed_out;
    enum ask asked = is_over ? make_plan(l) : ASK_NEW;
    return asked == ASK_NEW ? rounds_ask(&l->rounds, out, make_round, l) : asked;
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

void learner_contest(struct learner *l, int places)
{
    if (l->look > 1) {
        l->contenders = l->proposal.count;
        l->places = places;
    }
}
