#include "simulate/compare.h"

#include "engine/stored.h"
#include "simulate/curve.h"

#include <stdlib.h>

static double work_of(const struct recording *r)
{
    return str_equal(r->unit, RECORDED_PER_GFLOP) ? recorded_flop(r) : 1;
}

static void take_problem(const struct recording *r, struct comparison_problem *problem,
                         struct score *score)
{
    double *time = simulated_times(r);
    score_init(score, time, r->outcomes[OUTCOME_OK], simulated_size(r));
    *problem = (struct comparison_problem){
        .best = work_of(r) / time[0], .work = work_of(r), .score = score};
    free(time);
}

static struct comparison_run run_of(const struct simulated_run *run, const struct recording *of,
                                    enum comparison_axis axis, struct arena *arena)
{
    struct plot_point *point = arena_zero(arena, (size_t)run->count + 1, sizeof *point);
    bool seconds = axis == COMPARISON_SECONDS;
    double trial = axis == COMPARISON_SPACE ? 100 / (double)simulated_size(of) : 1;
    for (int i = 0; i < run->count; i++)
        point[i] = (struct plot_point){
            seconds ? run->step[i].at_s : trial * (double)run->step[i].trial,
            work_of(of) / run->step[i].seconds,
        };
    return (struct comparison_run){
        .curve = {point, run->count},
        .end = seconds ? run->recorded_s + run->own_s : trial * (double)run->trials,
    };
}

static void take_runs(const struct simulation *s, int problem, int group,
                      struct simulated_comparison *c, struct comparison_run *out)
{
    for (int i = 0; i < s->repeats; i++) {
        out[i] = run_of(&s->run[i], s->recording, c->setup.axis, &c->arena);
        out[i].problem = problem;
        out[i].group = group;
        out[i].pair = (uint64_t)i;
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
        if (group == 0)
            take_problem(list[i].recording, &problem[at], &out->score[at]);
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
