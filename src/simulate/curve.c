#include "simulate/curve.h"

#include "base/number.h"
#include "engine/stored.h"
#include "report/score.h"

#include <math.h>
#include <stdlib.h>

static double work_of(const struct recording *r)
{
    return str_equal(r->unit, RECORDED_PER_GFLOP) ? recorded_flop(r) : 1;
}

static void take_runs(const struct simulation *s, int problem, int group,
                      struct simulated_comparison *c, struct comparison_run *out)
{
    bool seconds = c->setup.axis == COMPARISON_SECONDS, space = c->setup.axis == COMPARISON_SPACE;
    double trial = space ? 100 / (double)simulated_size(s->recording) : 1;
    for (int i = 0; i < s->repeats; i++) {
        const struct simulated_run *run = &s->run[i];
        struct plot_point *point = arena_zero(&c->arena, (size_t)run->count + 1, sizeof *point);
        for (int j = 0; j < run->count; j++)
            point[j] = (struct plot_point){
                seconds ? run->step[j].at_s : trial * (double)run->step[j].trial,
                work_of(s->recording) / run->step[j].seconds,
            };
        out[i] = (struct comparison_run){
            .curve = {point, run->count},
            .end = seconds ? run->recorded_s + run->own_s : trial * (double)run->trials,
            .problem = problem,
            .group = group,
            .pair = (uint64_t)i,
        };
    }
}

void simulated_comparison_make(const struct simulation *list, int recordings, int strategies,
                               enum comparison_axis axis, struct simulated_comparison *out)
{
    int runs = 0, next = 0;
    *out = (struct simulated_comparison){.setup = {.axis = axis}};
    arena_init(&out->arena);
    for (int i = 0; i < recordings * strategies; i++)
        runs += list[i].repeats;

    struct comparison_problem *problem =
        arena_zero(&out->arena, (size_t)recordings, sizeof *problem);
    struct comparison_run *run = arena_zero(&out->arena, (size_t)runs, sizeof *run);
    const char **name = arena_zero(&out->arena, (size_t)strategies, sizeof *name);
    out->score = arena_zero(&out->arena, (size_t)recordings, sizeof *out->score);
    for (int i = 0; i < recordings * strategies; i++) {
        int at = i / strategies, group = i % strategies;
        if (group == 0) {
            const struct recording *r = list[i].recording;
            double *time = simulated_times(r);
            score_init(&out->score[at], time, r->outcomes[OUTCOME_OK], simulated_size(r));
            problem[at] = (struct comparison_problem){
                .best = work_of(r) / time[0], .work = work_of(r), .score = &out->score[at]};
            free(time);
        }
        name[group] = list[i].strategy;
        take_runs(&list[i], at, group, out, &run[next]);
        next += list[i].repeats;
    }
    out->setup.problem = problem;
    out->setup.problem_count = recordings;
    out->setup.run = run;
    out->setup.run_count = runs;
    out->setup.group_name = name;
    out->setup.group_count = strategies;
}

void simulated_comparison_finish(struct simulated_comparison *c)
{
    for (int i = 0; i < c->setup.problem_count; i++)
        score_finish(&c->score[i]);
    arena_finish(&c->arena);
    *c = (struct simulated_comparison){.score = NULL};
}

double *simulated_times(const struct recording *r)
{
    int64_t count = 0;
    double *time = mem_zero((size_t)r->outcomes[OUTCOME_OK], sizeof *time);
    for (int i = 0; i < r->count; i++)
        if (r->entry[i].outcome == OUTCOME_OK)
            time[count++] = r->entry[i].seconds;
    median_sort(time, count);
    return time;
}

int64_t simulated_size(const struct recording *r)
{
    return r->count - r->outcomes[OUTCOME_REJECTED];
}

void simulated_mean_add(double value, int n, double *mean, double *squares)
{
    double off = value - *mean;
    *mean += off / n;
    *squares += off * (value - *mean);
}

void simulated_mean_finish(double *squares, int64_t count, int n)
{
    for (int64_t i = 0; i < count; i++)
        squares[i] = n > 1 ? sqrt(squares[i] / (n - 1)) : 0;
}

static void take_totals(const struct simulation *s, struct simulated_curve *c)
{
    double longest = 0, own_s = 0, trials = 0, shortfall = 0;
    int valid = 0;
    for (int r = 0; r < s->repeats; r++) {
        const struct simulated_run *run = &s->run[r];
        longest = fmax(longest, run->recorded_s + run->own_s);
        own_s += run->own_s;
        trials += (double)run->trials;
        if (run->best_s > 0) {
            shortfall += run->returned_s / run->best_s - 1;
            valid++;
        }
    }
    c->shortfall = valid ? shortfall / valid : NAN;
    c->trials_done = trials / s->repeats;
    c->seconds_per_trial = trials > 0 ? own_s / trials : NAN;
    for (int i = 0; i < SIMULATED_TIMES; i++)
        c->at_s[i] = longest * (i + 1) / SIMULATED_TIMES;
}

void simulated_curve_make(const struct simulation *s, struct simulated_curve *out)
{
    size_t trials = (size_t)s->trials;
    double *time = simulated_times(s->recording);
    *out = (struct simulated_curve){.trials = s->trials,
                                    .fraction = mem_zero(trials, sizeof(double)),
                                    .deviation = mem_zero(trials, sizeof(double))};
    double *mean_time = mem_zero(trials, sizeof(double)); // for the score
    const double best = time[0], worst = time[s->recording->outcomes[OUTCOME_OK] - 1];
    struct score scale;
    take_totals(s, out);
    for (int r = 0; r < s->repeats; r++) {
        const struct simulated_step *step = s->run[r].step;
        const int count = s->run[r].count, n = r + 1;
        for (int64_t i = 0, at = 0; i < s->trials; i++) {
            while (at < count && step[at].trial <= i + 1)
                at++;
            double seconds = at ? step[at - 1].seconds : worst;
            mean_time[i] += (seconds - mean_time[i]) / n;
            simulated_mean_add(at ? best / seconds : 0, n, &out->fraction[i], &out->deviation[i]);
        }
        for (int i = 0, at = 0; i < SIMULATED_TIMES; i++) {
            while (at < count && step[at].at_s <= out->at_s[i])
                at++;
            simulated_mean_add(at ? best / step[at - 1].seconds : 0, n, &out->by_time[i],
                               &out->by_time_deviation[i]);
        }
    }
    simulated_mean_finish(out->deviation, out->trials, s->repeats);
    simulated_mean_finish(out->by_time_deviation, SIMULATED_TIMES, s->repeats);
    score_init(&scale, time, s->recording->outcomes[OUTCOME_OK], simulated_size(s->recording));
    out->score = score_of(&scale, mean_time, s->trials);
    score_finish(&scale);
    free(mean_time);
    free(time);
}

void simulated_curve_finish(struct simulated_curve *c)
{
    free(c->fraction);
    free(c->deviation);
    *c = (struct simulated_curve){0};
}
