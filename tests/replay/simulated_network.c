#include "simulated_network.h"

#include "engine/stored.h"
#include "search/schedule.h"
#include "simulate/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t simulated_network_marks(const struct simulated_network *n)
{
    return n->trials / n->round;
}

double simulated_network_optimum(const struct simulated_network *n)
{
    double sum = 0;
    for (int i = 0; i < n->tasks; i++) {
        const struct recording *r = n->task[i].recording;
        sum += n->uses[i] * r->entry[r->best].seconds;
    }
    return sum;
}

struct standing { // the progress of a task in one repeat
    const struct simulated_run *run;
    int64_t trials; // spent on it
    int next;       // the first step that was not reached yet
};

static double seconds(const struct standing *t)
{
    return t->next ? t->run->step[t->next - 1].seconds : 0;
}

// Spends up to so many trials on a task. Returns how many it could spend.
static int64_t spend(struct standing *t, int64_t trials)
{
    int64_t left = t->run->trials - t->trials;
    trials = trials < left ? trials : left;
    t->trials += trials;
    while (t->next < t->run->count && t->run->step[t->next].trial <= t->trials)
        t->next++;
    return trials;
}

static double latency(const struct simulated_network *n, const struct standing *at)
{
    double sum = 0;
    for (int i = 0; i < n->tasks; i++) {
        if (seconds(&at[i]) == 0)
            return INFINITY;
        sum += n->uses[i] * seconds(&at[i]);
    }
    return sum;
}

static bool play_once(const struct simulated_network *n, const char *scheduler, int repeat,
                      double *curve, struct err *e)
{
    struct schedule_task *task = mem_zero((size_t)n->tasks, sizeof *task);
    struct standing *at = mem_zero((size_t)n->tasks, sizeof *at);
    char **kind = mem_zero((size_t)n->tasks, sizeof *kind);
    for (int i = 0; i < n->tasks; i++) {
        const struct recording *r = n->task[i].recording;
        // The operator, which a kernel's title begins with, as the tasks of a network have it.
        kind[i] = mem_printf("%.*s", (int)strcspn(r->kernel, " "), r->kernel);
        task[i] = (struct schedule_task){.work = recorded_flop(r), .kind = kind[i]};
        at[i].run = &n->task[i].run[repeat];
    }
    struct schedule_problem problem = {.task = task, .tasks = n->tasks, .uses = n->uses};
    struct schedule *s =
        schedule_create(scheduler, &problem, n->task[0].seed + (uint64_t)repeat, e);
    if (s) {
        // A mark has the latency when so many trials were spent: a round counts at its end.
        int64_t spent = 0, mark = 0, marks = simulated_network_marks(n);
        double now = INFINITY;
        for (int i; spent < n->trials && (i = schedule_next(s)) >= 0;) {
            int64_t left = n->trials - spent;
            spent += spend(&at[i], n->round < left ? n->round : left);
            schedule_tell(s, i, seconds(&at[i]), at[i].trials < at[i].run->trials);
            while (mark < marks && (mark + 1) * n->round < spent)
                curve[mark++] = now;
            now = latency(n, at);
        }
        while (mark < marks)
            curve[mark++] = now;
    }
    schedule_destroy(s);
    for (int i = 0; i < n->tasks; i++)
        free(kind[i]);
    free(kind);
    free(at);
    free(task);
    return s;
}

// --- the oracle ---

// Sets curve[m] to the least latency that m + 1 rounds can buy, adding one task after the other.
static void play_oracle(const struct simulated_network *n, int repeat, double *curve)
{
    int64_t marks = simulated_network_marks(n);
    double *own = mem_zero((size_t)marks + 1, sizeof *own); // [rounds]: the task's latency then
    double *sum = mem_zero((size_t)marks + 1, sizeof *sum); // [rounds]: of no task it is 0
    for (int i = 0; i < n->tasks; i++) {
        struct standing t = {.run = &n->task[i].run[repeat]};
        for (int64_t k = 0; k <= marks; k++) {
            own[k] = seconds(&t) > 0 ? n->uses[i] * seconds(&t) : INFINITY;
            spend(&t, n->round);
        }
        for (int64_t k = marks; k >= 0; k--) {
            double least = INFINITY;
            for (int64_t mine = 0; mine <= k; mine++)
                least = fmin(least, sum[k - mine] + own[mine]);
            sum[k] = least;
        }
    }
    for (int64_t k = 0; k < marks; k++)
        curve[k] = sum[k + 1];
    free(own);
    free(sum);
}

// --- over the repeats ---

bool simulated_network_play(const struct simulated_network *n, const char *scheduler,
                            double *fraction, double *deviation, struct err *e)
{
    int64_t marks = simulated_network_marks(n);
    double *curve = mem_zero((size_t)marks, sizeof *curve);
    double optimum = simulated_network_optimum(n);
    bool ok = true;
    for (int64_t m = 0; m < marks; m++)
        fraction[m] = deviation[m] = 0;
    for (int r = 0; r < n->task[0].repeats && ok; r++) {
        if (str_equal(scheduler, SIMULATED_ORACLE))
            play_oracle(n, r, curve);
        else
            ok = play_once(n, scheduler, r, curve, e);
        for (int64_t m = 0; m < marks && ok; m++)
            simulated_mean_add(optimum / curve[m], r + 1, &fraction[m], &deviation[m]);
    }
    simulated_mean_finish(deviation, marks, n->task[0].repeats);
    free(curve);
    return ok;
}
