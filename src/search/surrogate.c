#include "search/surrogate.h"

#include "base/os.h"
#include "model/trees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_VERDICTS = 200000, // more are forgotten
    SHARE = 4               // the recall is that of the best quarter of a batch
};

// --- samples ---

// Makes room for a program of at most so many rows; returns its first row.
static float *begin_program(struct samples *s, int rows)
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
    return s->x + (size_t)s->rows * (size_t)s->width;
}

static int end_program(struct samples *s, int rows)
{
    s->rows += rows;
    s->first[s->programs + 1] = s->rows;
    return s->programs++;
}

int samples_add(struct samples *s, struct features *f, const struct config *c)
{
    float *row = begin_program(s, features_most_rows(f));
    return end_program(s, features_fill(f, c, row));
}

void samples_add_wider(struct samples *s, const struct samples *of, int program, const double *more)
{
    int first = of->first[program], rows = of->first[program + 1] - first;
    float *row = begin_program(s, rows);
    for (int i = 0; i < rows; i++, row += s->width) {
        memcpy(row, of->x + (size_t)(first + i) * (size_t)of->width,
               (size_t)of->width * sizeof *row);
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

// --- the strategy's parts ---

static void surrogate_make_batch(void *self);

bool surrogate_init(struct surrogate *s, const struct surrogate_kind *kind, void *self,
                    const struct search_problem *problem, const struct surrogate_settings *settings,
                    struct err *e)
{
    *s = (struct surrogate){.kind = kind,
                            .self = self,
                            .batch = settings->batch,
                            .look = problem->probe ? settings->look : 1};
    s->features = features_create(problem->space, settings->features, e);
    if (!s->features)
        return false;
    batches_init(&s->batches, problem, surrogate_make_batch);
    s->probes.problem = &s->batches.problem;
    rng_seed(&s->rng, settings->seed);
    s->samples.width = features_width(s->features);
    s->proposal.slots = s->judged.slots = problem->space->slots;
    s->predicted = mem_zero((size_t)s->batch, sizeof *s->predicted);
    for (int i = 0; i < problem->history_count; i++) {
        const struct search_history *h = &problem->history[i];
        double best = 0;
        for (int j = 0; j < h->count; j++)
            best = fmax(best, h->fitness[j]);
        struct features *f = best > 0 ? features_create(h->space, settings->features, NULL) : NULL;
        for (int j = 0; f && features_are_like(f, s->features) && j < h->count; j++) {
            int program = samples_add(&s->samples, f, &h->config[j]);
            s->samples.y[program] = (float)(h->fitness[j] / best);
        }
        features_destroy(f);
    }
    if (s->samples.programs < SURROGATE_FEWEST_RECORDS)
        s->samples.programs = s->samples.rows = 0;
    s->history = s->samples.programs;
    return true;
}

void surrogate_finish(struct surrogate *s)
{
    task_finish(s->task, true);
    if (s->features)
        batches_finish(&s->batches);
    features_destroy(s->features);
    samples_finish(&s->samples);
    config_set_finish(&s->proposal);
    config_set_finish(&s->judged);
    compile_probes_finish(&s->probes);
    free(s->probe);
    free(s->legal);
    free(s->predicted);
    free(s->refit);
}

// --- the fit ---

static void surrogate_fit(void *self, const atomic_bool *stop)
{
    struct surrogate *s = self;
    struct samples *all = &s->samples;
    struct refit *report = &s->report;
    int64_t start = os_thread_cpu_ns();
    int observed = s->batches.observed, first = s->batches.start;
    for (int i = all->programs - s->history; i < observed; i++) {
        struct config c;
        config_set_get(&s->batches.archive.given, i, &c);
        samples_add(all, s->features, &c);
    }
    for (int i = 0; i < observed; i++) // labels are relative to the best
        all->y[s->history + i] = s->best > 0 ? (float)(s->batches.fitness[i] / s->best) : 0;
    *report =
        (struct refit){.told = observed, .rows = all->rows, .correlation = NAN, .recall = NAN};
    if (s->has_predicted) { // rates the predictions of the last batch
        const float *label = all->y + s->history + first;
        report->batch = observed - first;
        report->k = (report->batch + SHARE - 1) / SHARE;
        report->correlation = rank_correlation(report->batch, label, s->predicted);
        report->recall = recall_at(report->batch, label, s->predicted, report->k);
    }
    s->fitted = s->kind->plan(s->self, stop);
    report->bytes = s->model_bytes;
    report->seconds = (double)(os_thread_cpu_ns() - start) * 1e-9;
}

// --- the choice among compiled proposals ---

// Gets the statistics of the contenders and of all results. False: some are being compiled.
static bool look(struct surrogate *s)
{
    const struct search_problem *p = &s->batches.problem;
    struct config *c = mem_zero((size_t)s->contenders, sizeof *c);
    for (int i = 0; i < s->contenders; i++)
        config_set_get(&s->proposal, i, &c[i]);
    s->probe = mem_resize(s->probe, (size_t)s->contenders, sizeof *s->probe);
    bool known = compile_probes_take(&s->probes, &s->batches.archive.given, s->batches.observed);
    known = p->probe(p->context, c, s->contenders, s->probe) && known;
    free(c);
    return known;
}

static void add_probed(struct samples *s, const struct samples *of, int program,
                       const struct compile_probe *probe)
{
    double x[STATISTIC_KIND_COUNT];
    compile_probe_coordinates(probe, x);
    samples_add_wider(s, of, program, x);
}

static void rate_contenders(struct surrogate *s, float *rating, const atomic_bool *stop)
{
    struct samples plain = {.width = s->samples.width};
    struct samples known = {.width = plain.width + STATISTIC_KIND_COUNT}, asked = known;
    for (int i = 0; i < s->batches.observed; i++)
        add_probed(&known, &s->samples, s->history + i, &s->probes.given[i]);
    for (int i = 0; i < s->contenders; i++) {
        struct config c;
        config_set_get(&s->proposal, i, &c);
        int program = samples_add(&plain, s->features, &c);
        plain.y[program] = 0; // unknown
        add_probed(&asked, &plain, program, &s->probe[i]);
    }
    s->kind->rate(s->self, &known, &asked, rating, stop);
    samples_finish(&plain);
    samples_finish(&known);
    samples_finish(&asked);
}

// Reduces the contenders to the best ones that fit the device, of equals those proposed first.
static void surrogate_choose(void *self, const atomic_bool *stop)
{
    struct surrogate *s = self;
    int64_t start = os_thread_cpu_ns();
    float *rating = mem_zero((size_t)s->contenders, sizeof *rating);
    bool *taken = mem_zero((size_t)s->contenders, sizeof *taken);
    struct config_set chosen = {.slots = s->proposal.slots};
    struct config c;
    if (s->best > 0)
        rate_contenders(s, rating, stop);
    while (chosen.count < s->places) {
        int best = -1;
        for (int i = 0; i < s->contenders; i++)
            if (s->probe[i].fits && !taken[i] && (best < 0 || rating[i] > rating[best]))
                best = i;
        if (best < 0)
            break;
        taken[best] = true;
        config_set_get(&s->proposal, best, &c);
        config_set_add(&chosen, &c, NULL);
    }
    for (int i = s->contenders; i < s->proposal.count; i++) {
        config_set_get(&s->proposal, i, &c);
        config_set_add(&chosen, &c, NULL);
    }
    config_set_finish(&s->proposal);
    s->proposal = chosen;
    s->report.seconds += (double)(os_thread_cpu_ns() - start) * 1e-9;
    free(rating);
    free(taken);
}

// --- batches ---

// Starts a step on a thread. True: it ran at once, as there is no thread.
static bool run(struct surrogate *s, void (*step)(void *self, const atomic_bool *stop))
{
    s->task = task_start(step, s);
    if (s->task)
        return false;
    atomic_bool never = false;
    step(s, &never);
    return true;
}

static void surrogate_make_batch(void *self)
{
    struct surrogate *s = self;
    struct archive *a = &s->batches.archive;
    int from = a->given.count, end = from + s->batch;
    struct config c;
    while (a->given.count < end && archive_warm(a, &c))
        batches_add(&s->batches, &c, NULL);
    for (int i = 0; i < s->proposal.count && a->given.count < end; i++) {
        config_set_get(&s->proposal, i, &c);
        if (config_set_find(&a->given, &c) < 0) // it may be a warm point
            batches_add(&s->batches, &c, NULL);
    }
    while (a->given.count < end && batches_draw(&s->batches, &s->rng))
        continue;
    int count = a->given.count - from;
    s->has_predicted = s->fitted && count > 0;
    if (!s->has_predicted)
        return;
    MEM_GROW(s->refit, s->refits, s->refit_capacity);
    s->refit[s->refits++] = s->report;
    struct config *batch = mem_alloc((size_t)count * sizeof *batch);
    for (int i = 0; i < count; i++)
        config_set_get(&a->given, from + i, &batch[i]);
    s->kind->predict(s->self, batch, count, s->predicted);
    free(batch);
}

// Plans the next batch step by step, then hands it out.
enum ask surrogate_ask(struct strategy *base, struct config *out)
{
    struct surrogate *s = (struct surrogate *)base;
    const struct batches *b = &s->batches;
    if (batches_added(b) > 0 || b->observed < b->handed_out)
        return batches_ask(base, out);
    if (s->task && !task_is_done(s->task))
        return ASK_WAIT;
    task_finish(s->task, false);
    s->task = NULL;
    if (s->stage == SURROGATE_IDLE) {
        config_set_finish(&s->proposal);
        s->fitted = false;
        s->contenders = 0;
        if (s->best <= 0 && s->history == 0)
            return batches_ask(base, out);
        s->stage = SURROGATE_FITTING;
        if (!run(s, surrogate_fit))
            return ASK_WAIT;
    }
    if (s->stage == SURROGATE_FITTING && s->contenders) {
        if (!look(s))
            return ASK_COMPILE;
        s->stage = SURROGATE_CHOOSING;
        if (!run(s, surrogate_choose))
            return ASK_WAIT;
    }
    s->stage = SURROGATE_IDLE;
    return batches_ask(base, out);
}

void surrogate_tell(struct strategy *base, const struct config *c, enum outcome o, double fitness)
{
    struct surrogate *s = (struct surrogate *)base;
    batches_tell(base, c, o, fitness);
    s->best = fmax(s->best, fitness);
}

int surrogate_wait_fd(const struct strategy *base)
{
    const struct surrogate *s = (const struct surrogate *)base;
    return s->task ? task_fd(s->task) : -1;
}

bool surrogate_take_refit(struct strategy *base, struct refit *out)
{
    struct surrogate *s = (struct surrogate *)base;
    if (s->taken == s->refits)
        return false;
    *out = s->refit[s->taken++];
    return true;
}

// --- proposals ---

bool surrogate_allows(void *self, const struct config *c)
{
    struct surrogate *s = self;
    const struct search_problem *p = &s->batches.problem;
    if (config_set_find(&s->batches.archive.given, c) >= 0 || config_set_find(&s->proposal, c) >= 0)
        return false;
    if (!p->legal)
        return true;
    if (s->judged.count == MOST_VERDICTS)
        config_set_finish(&s->judged);
    bool is_new;
    int index = config_set_add(&s->judged, c, &is_new);
    if (is_new) {
        MEM_GROW(s->legal, index, s->legal_capacity);
        s->legal[index] = p->legal(p->context, c);
    }
    return s->legal[index];
}

bool surrogate_knows(void *self, const struct config *c)
{
    struct surrogate *s = self;
    return config_set_find(&s->batches.archive.given, c) >= 0 || surrogate_allows(s, c);
}

bool surrogate_propose(struct surrogate *s, const struct config *c)
{
    return surrogate_allows(s, c) && config_set_add(&s->proposal, c, NULL) >= 0;
}

void surrogate_contest(struct surrogate *s, int places)
{
    if (s->look > 1) {
        s->contenders = s->proposal.count;
        s->places = places;
    }
}
