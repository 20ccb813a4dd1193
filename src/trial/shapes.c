#include "trial/shapes.h"

#include "base/mem.h"
#include "base/number.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define Z             2.0
#define LEAST_LIKE    4
#define LEAST_FREEDOM 8

// --- goals ---

static bool has_references(const struct shapes_goal *g)
{
    for (int i = 0; i < g->count; i++)
        if (g->reference_s[i] <= 0)
            return false;
    return true;
}

void shapes_goal_add_reference(struct shapes_goal *g, const double seconds[])
{
    for (int i = 0; i < g->count; i++)
        if (seconds[i] > 0 && (g->reference_s[i] <= 0 || seconds[i] < g->reference_s[i]))
            g->reference_s[i] = seconds[i];
}

int shapes_goal_worst(const struct shapes_goal *g, const double seconds[])
{
    int worst = 0;
    if (!has_references(g))
        return -1;
    for (int i = 1; i < g->count; i++)
        if (seconds[i] * g->reference_s[worst] > seconds[worst] * g->reference_s[i])
            worst = i;
    return worst;
}

double shapes_goal_seconds(const struct shapes_goal *g, const double seconds[])
{
    int worst = g->by_worst ? shapes_goal_worst(g, seconds) : -1;
    const double *summed = worst < 0 ? seconds : g->reference_s;
    double sum = 0;
    for (int i = 0; i < g->count; i++)
        sum += g->weight[i] * summed[i];
    return worst < 0 ? sum : seconds[worst] / g->reference_s[worst] * sum;
}

// --- elimination ---

int elimination_next(const struct elimination *l, const double seconds[])
{
    const struct shapes_goal *g = &l->goal;
    bool by_ratio = g->by_worst && has_references(g);
    double most = 0; // share of a shape in the incumbent's goal
    int next = -1;
    for (int i = 0; i < g->count; i++) {
        double share = l->incumbent_s[i] * (by_ratio ? 1 / g->reference_s[i] : g->weight[i]);
        if (l->incumbent_s[0] <= 0)
            share = 0;
        if (seconds[i] > 0 || (next >= 0 && share <= most))
            continue;
        next = i;
        most = share;
    }
    return next;
}

// Computes the mean of the logarithms of a candidate's ratios to the incumbent, and the squares
// around it. Returns how many there are.
static int fit_ratios(const struct elimination *l, const double seconds[], double *mean,
                      double *squares)
{
    int count = 0;
    *mean = *squares = 0;
    for (int i = 0; i < l->goal.count; i++) {
        if (seconds[i] <= 0)
            continue;
        double ratio = log(seconds[i] / l->incumbent_s[i]), off = ratio - *mean;
        *mean += off / ++count;
        *squares += off * (ratio - *mean);
    }
    return count;
}

bool elimination_is_over(const struct elimination *l, const double seconds[], const double least[])
{
    double low[TRIAL_MAX_SHAPES], mean, squares, ratio = 0; // the lowest ratio; 0: not known
    if (l->incumbent_s[0] <= 0)
        return false;
    int count = fit_ratios(l, seconds, &mean, &squares);
    if (count && l->like >= LEAST_LIKE && l->freedom >= LEAST_FREEDOM)
        ratio = exp(mean - Z * sqrt(l->squares / l->freedom * (1 + 1.0 / count)));
    for (int i = 0; i < l->goal.count; i++)
        low[i] = seconds[i] > 0 ? least[i] : ratio * l->incumbent_s[i];
    return shapes_goal_seconds(&l->goal, low) > shapes_goal_seconds(&l->goal, l->incumbent_s);
}

void elimination_expect(const struct elimination *l, double seconds[])
{
    double mean, squares;
    fit_ratios(l, seconds, &mean, &squares);
    for (int i = 0; i < l->goal.count; i++)
        if (seconds[i] <= 0)
            seconds[i] = l->incumbent_s[i] * exp(mean);
}

void elimination_observe(struct elimination *l, const double seconds[])
{
    const struct shapes_goal *g = &l->goal;
    double mean, squares;
    int count = l->incumbent_s[0] > 0 ? fit_ratios(l, seconds, &mean, &squares) : 0;
    if (count > 1) {
        l->squares += squares;
        l->freedom += count - 1;
        l->like++;
    }
    if (elimination_next(l, seconds) >= 0 ||
        (l->incumbent_s[0] > 0 &&
         shapes_goal_seconds(g, seconds) >= shapes_goal_seconds(g, l->incumbent_s)))
        return;
    for (int i = 0; i < g->count; i++)
        l->incumbent_s[i] = seconds[i];
}

// --- requests ---

struct passage {                  // a request on its way through the shapes
    struct trial_request request; // without jobs
    struct trial_result result;
    struct elimination rule;                     // as it was when the request came
    int shape;                                   // the current one; -1: it is done
    bool is_there;                               // at the shape's source
    struct samples (*samples)[TRIAL_MAX_SHAPES]; // [request.count]
};

struct shapes {
    struct source base;
    struct source_kind kind; // as the shapes' sources are
    struct shapes_options options;
    struct elimination rule;
    struct passage *passage; // [workers]
    int count;
    int active; // the shape whose source is active; -1: none
};

static int count_at(const struct shapes *s, int shape, bool is_there)
{
    int n = 0;
    for (int i = 0; i < s->count; i++)
        n += s->passage[i].shape == shape && s->passage[i].is_there == is_there;
    return n;
}

// Returns the shape that a candidate of a request is measured on next; -1: it has all.
static int next_shape(const struct passage *p, const double seconds[])
{
    double known[TRIAL_MAX_SHAPES];
    memcpy(known, seconds, sizeof known);
    for (int i = 0; i < p->rule.goal.count; i++)
        if (p->request.skipped >> i & 1)
            known[i] = 1;
    return elimination_next(&p->rule, known);
}

// Completes a request's result. A candidate that was measured on every shape gets samples of the
// goal: sample i is computed of sample i of each shape.
static void finish_passage(struct passage *p)
{
    struct trial_result *r = &p->result;
    const struct shapes_goal *g = &p->rule.goal;
    p->shape = -1;
    for (int i = 0; i < p->request.count; i++) {
        double seconds[TRIAL_MAX_SHAPES];
        const struct samples *part = p->samples[i];
        bool is_whole = elimination_next(&p->rule, r->part_s[i]) < 0;
        if (r->outcome[i] != OUTCOME_OK || p->request.skipped)
            continue;
        memcpy(seconds, r->part_s[i], sizeof seconds);
        if (!is_whole)
            elimination_expect(&p->rule, seconds);
        r->seconds[i] = shapes_goal_seconds(g, seconds);
        r->samples[i] =
            (struct samples){.seconds = {r->seconds[i]}, .count = 1, .early_stopped = true};
        if (!is_whole)
            continue;
        r->samples[i] = (struct samples){.count = TRIAL_MAX_SAMPLES};
        for (int k = 0; k < g->count; k++)
            r->samples[i].count = int_min(r->samples[i].count, part[k].count);
        for (int n = 0; n < r->samples[i].count; n++) {
            for (int k = 0; k < g->count; k++)
                seconds[k] = part[k].seconds[n];
            r->samples[i].seconds[n] = shapes_goal_seconds(g, seconds);
        }
    }
}

static bool is_hopeless(const struct passage *p)
{
    double least[TRIAL_MAX_SHAPES] = {0};
    if (p->result.outcome[0] != OUTCOME_OK)
        return p->request.count == 1;
    if (p->request.count > 1 || p->request.incumbent_s <= 0)
        return false;
    for (int i = 0; i < p->rule.goal.count; i++) {
        const struct samples *one = &p->samples[0][i];
        for (int k = 0; k < one->count; k++)
            if (k == 0 || one->seconds[k] < least[i])
                least[i] = one->seconds[k];
    }
    return elimination_is_over(&p->rule, p->result.part_s[0], least);
}

// Takes the result of a request on its current shape, and chooses the next one. All candidates that
// are still right were measured on the same shapes.
static void take_result(const struct shapes *s, struct passage *p, const struct trial_result *r)
{
    struct trial_result *all = &p->result;
    int next = -1;
    for (int i = 0; i < p->request.count; i++) {
        if (all->outcome[i] != OUTCOME_OK)
            continue;
        all->statistics[i] = r->statistics[i];
        all->outcome[i] = r->outcome[i];
        all->phase[i] = r->phase[i];
        all->part_s[i][p->shape] = r->seconds[i];
        p->samples[i][p->shape] = r->samples[i];
        if (p->request.pairs && i > 0)
            all->part_ratio[i][p->shape] =
                paired_ratio(r->samples[0].seconds, r->samples[i].seconds, r->samples[i].count);
        if (r->outcome[i] != OUTCOME_OK)
            snprintf(all->reason[i], sizeof all->reason[i], "%s: %s", s->options.name[p->shape],
                     r->reason[i]);
        else if (next < 0)
            next = next_shape(p, all->part_s[i]);
    }
    all->compile_s += r->compile_s;
    all->pipeline_s += r->pipeline_s;
    all->device_s += r->device_s;
    all->clocks = r->clocks;
    all->soaked += r->soaked;
    all->worker = r->worker;
    p->is_there = false;
    p->shape = is_hopeless(p) ? -1 : next;
    if (p->shape < 0)
        finish_passage(p);
}

// --- the source ---

static int shapes_room(const struct source *source)
{
    const struct shapes *s = (const struct shapes *)source;
    return s->options.workers - s->count;
}

static void shapes_submit(struct source *source, struct trial_request *r)
{
    struct shapes *s = (struct shapes *)source;
    struct passage *p = &s->passage[s->count++];
    *p = (struct passage){.request = *r, .rule = s->rule};
    p->result.ticket = r->ticket;
    p->result.count = r->count;
    p->result.shapes = p->rule.goal.count;
    p->samples = mem_zero((size_t)r->count, sizeof *p->samples);
    for (int i = 0; i < r->count; i++)
        p->result.outcome[i] = OUTCOME_OK;
    p->shape = next_shape(p, p->result.part_s[0]);
}

static int shapes_workers(const struct source *source, struct worker_now *out, int most)
{
    const struct shapes *s = (const struct shapes *)source;
    return s->active < 0 ? 0 : source_workers(s->options.of[s->active], out, most);
}

static int shapes_fds(const struct source *source, struct pollfd *out, int most)
{
    const struct shapes *s = (const struct shapes *)source;
    return s->active < 0 ? 0 : source_fds(s->options.of[s->active], out, most);
}

// Returns the shape with the most waiting requests; -1: there are none.
static int busiest(const struct shapes *s)
{
    int shape = -1;
    for (int i = 0; i < s->rule.goal.count; i++)
        if (count_at(s, i, false) > (shape < 0 ? 0 : count_at(s, shape, false)))
            shape = i;
    return shape;
}

static int shapes_wait_ms(const struct source *source)
{
    const struct shapes *s = (const struct shapes *)source;
    if (s->active < 0)
        return busiest(s) < 0 ? -1 : 0;
    return source_wait_ms(s->options.of[s->active]);
}

static bool shapes_step(struct source *source, struct err *e)
{
    struct shapes *s = (struct shapes *)source;
    struct trial_result r;
    if (s->active < 0)
        s->active = busiest(s);
    if (s->active < 0)
        return true;
    struct source *of = s->options.of[s->active];
    for (int i = 0; i < s->count && source_room(of) > 0; i++) { // sends what waits for the shape
        struct passage *p = &s->passage[i];
        if (p->shape != s->active || p->is_there)
            continue;
        struct trial_request q = p->request;
        if (q.incumbent_s > 0)
            q.incumbent_s = p->rule.incumbent_s[s->active];
        if (!s->options.render(s->options.context, &p->request, s->active, &q, e))
            return false;
        source_submit(of, &q);
        p->is_there = true;
    }
    if (!source_step(of, e))
        return false;
    while (source_collect(of, &r)) {
        int i = 0;
        while (i < s->count &&
               !(s->passage[i].is_there && s->passage[i].request.ticket == r.ticket))
            i++;
        assert(i < s->count);
        take_result(s, &s->passage[i], &r);
    }
    if (count_at(s, s->active, true) == 0)
        s->active = -1;
    return true;
}

static bool shapes_collect(struct source *source, struct trial_result *out)
{
    struct shapes *s = (struct shapes *)source;
    int i = 0;
    while (i < s->count && s->passage[i].shape >= 0)
        i++;
    if (i == s->count)
        return false;
    *out = s->passage[i].result;
    free(s->passage[i].samples);
    memmove(s->passage + i, s->passage + i + 1, (size_t)(--s->count - i) * sizeof *s->passage);
    return true;
}

static double shapes_busy_seconds(const struct source *source)
{
    const struct shapes *s = (const struct shapes *)source;
    double all = 0;
    for (int i = 0; i < s->rule.goal.count; i++)
        all += source_busy_seconds(s->options.of[i]);
    return all;
}

static void shapes_destroy(struct source *source)
{
    struct shapes *s = (struct shapes *)source;
    for (int i = 0; i < s->count; i++)
        free(s->passage[i].samples);
    for (int i = 0; i < s->rule.goal.count; i++)
        source_destroy(s->options.of[i]);
    free(s->passage);
    free(s);
}

struct source *shapes_create(const struct shapes_options *o)
{
    struct shapes *s = mem_zero(1, sizeof *s);
    s->kind = (struct source_kind){.name = "shapes",
                                   .deterministic = o->of[0]->kind->deterministic,
                                   .room = shapes_room,
                                   .submit = shapes_submit,
                                   .fds = shapes_fds,
                                   .workers = shapes_workers,
                                   .wait_ms = shapes_wait_ms,
                                   .step = shapes_step,
                                   .collect = shapes_collect,
                                   .busy_seconds = shapes_busy_seconds,
                                   .destroy = shapes_destroy};
    s->base.kind = &s->kind;
    s->options = *o;
    s->rule.goal = o->goal;
    s->passage = mem_zero((size_t)o->workers, sizeof *s->passage);
    s->active = -1;
    return &s->base;
}

void shapes_observe(struct source *source, const double part_s[])
{
    elimination_observe(&((struct shapes *)source)->rule, part_s);
}

void shapes_set_references(struct source *source, const double reference_s[])
{
    struct shapes *s = (struct shapes *)source;
    memcpy(s->rule.goal.reference_s, reference_s, sizeof s->rule.goal.reference_s);
}
