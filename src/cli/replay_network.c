#include "cli/replay_network.h"

#include "base/minmax.h"
#include "search/schedule.h"
#include "simulate/network.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIALS_A_TASK 100
#define ROUND         8
#define MOST_SHARES   4 // of an equal share of the budget: what one task can get

// --- from words ---

static bool parse_uses(const char *text, int tasks, struct replayed_network *n, struct err *e)
{
    n->uses = mem_zero((size_t)tasks + 1, sizeof *n->uses);
    for (int i = 0; i < tasks; i++)
        n->uses[i] = 1;
    if (!text)
        return true;
    bool good = str_to_reals(text, n->uses, tasks + 1) == tasks;
    for (int i = 0; i < tasks && good; i++)
        good = n->uses[i] > 0;
    return good || err_usage(e, "--uses %s: expected a number above 0 for each of %d recording%s",
                             text, tasks, tasks == 1 ? "" : "s");
}

bool replay_network_parse(const struct arguments *a, struct replayed_network *out, struct err *e)
{
    const char *schedulers = arguments_text(a, "scheduler"), *uses = arguments_text(a, "uses");
    int tasks = a->operand_count;
    *out = (struct replayed_network){.round = (int)arguments_integer(a, "round", ROUND)};
    if (!schedulers)
        return !uses || err_usage(e, "--uses weighs the tasks of a network (with --scheduler)");
    out->trials = arguments_integer(a, "trials", TRIALS_A_TASK * tasks);
    out->most = int64_min(out->trials, MOST_SHARES * (out->trials / tasks + 1));
    if (arguments_flag(a, "time") || arguments_flag(a, "noise"))
        return err_usage(e, "--scheduler does not go with --%s",
                         arguments_flag(a, "time") ? "time" : "noise");
    if (out->trials < out->round)
        return err_usage(e, "--trials %" PRId64 " are less than a round of %d", out->trials,
                         out->round);
    return spec_list_parse(schedulers, schedule_canonical, &out->scheduler, &out->schedulers, e) &&
           parse_uses(uses, tasks, out, e);
}

bool replay_network_check(const struct simulate_plan *p, struct err *e)
{
    for (int i = 0; i < p->recordings; i++)
        if (!str_equal(p->recording[i]->unit, "s"))
            return err_at(e, p->recording[i]->path, 0,
                          "recorded in %s: no latency, so no task of a network (without "
                          "--scheduler it can be replayed)",
                          p->recording[i]->unit);
    return true;
}

void replay_network_finish(struct replayed_network *n)
{
    for (int i = 0; i < n->schedulers; i++)
        free(n->scheduler[i]);
    free(n->scheduler);
    free(n->uses);
    *n = (struct replayed_network){0};
}

// --- results ---

// One strategy's simulations, by task.
static struct simulated_network network_of(const struct replayed_network *n,
                                           const struct simulate_plan *p, int strategy,
                                           struct simulation *task)
{
    for (int i = 0; i < p->recordings; i++)
        task[i] = p->list[i * p->strategies + strategy];
    return (struct simulated_network){.task = task,
                                      .tasks = p->recordings,
                                      .uses = n->uses,
                                      .trials = n->trials,
                                      .round = n->round};
}

struct row {
    const struct simulated_network *network;
    const char *strategy, *scheduler;
    const double *fraction, *deviation; // [marks]
};

static void print_json(const struct row *r)
{
    const struct simulated_network *n = r->network;
    int64_t marks = simulated_network_marks(n);
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    json_begin_list(&w, "tasks");
    for (int i = 0; i < n->tasks; i++) {
        json_begin_object(&w, NULL);
        json_add_text(&w, "recording", n->task[i].recording->name);
        json_add_text(&w, "file", n->task[i].recording->path);
        json_add_real(&w, "uses", n->uses[i]);
        json_end(&w);
    }
    json_end(&w);
    json_add_text(&w, "strategy", r->strategy);
    json_add_text(&w, "scheduler", r->scheduler);
    json_add_int(&w, "trials", n->trials);
    json_add_int(&w, "round", n->round);
    json_add_int(&w, "repeats", n->task[0].repeats);
    json_add_count(&w, "seed", n->task[0].seed);
    json_add_real(&w, "optimum", simulated_network_optimum(n));
    json_add_reals(&w, "best_fraction", marks, r->fraction);
    json_add_reals(&w, "std", marks, r->deviation);
    json_print(&w);
}

// Trials that the table shows: as many shares of the budget, each a number of rounds.
enum { COLUMNS = 8 };

static int64_t mark_of(const struct simulated_network *n, int column)
{
    int64_t mark = simulated_network_marks(n) * (column + 1) / COLUMNS - 1;
    return mark < 0 ? 0 : mark;
}

static void print_head(const struct simulated_network *n, int widths[2])
{
    char optimum[32];
    printf("network of %d recordings, least latency %s; least latency / latency after so many "
           "trials, mean of %d repeats\n",
           n->tasks, text_time(simulated_network_optimum(n), optimum), n->task[0].repeats);
    printf("%-*s  %-*s", widths[0], "strategy", widths[1], "scheduler");
    for (int i = 0; i < COLUMNS; i++)
        printf(" %6" PRId64, (mark_of(n, i) + 1) * n->round);
    printf("\n");
}

static void print_text(const struct row *r, const int widths[2])
{
    char text[STRATEGY_TEXT];
    printf("%-*s  %-*s", widths[0], strategy_text(r->strategy, false, text), widths[1],
           r->scheduler);
    for (int i = 0; i < COLUMNS; i++)
        printf(" %6.3f", r->fraction[mark_of(r->network, i)]);
    printf("\n");
}

static void find_widths(const struct replayed_network *n, const struct simulate_plan *p,
                        int widths[2])
{
    char text[STRATEGY_TEXT];
    widths[0] = (int)strlen("strategy"), widths[1] = (int)strlen("scheduler");
    for (int i = 0; i < p->strategies; i++)
        widths[0] = int_max(widths[0], (int)strlen(strategy_text(p->strategy[i], false, text)));
    for (int i = 0; i < n->schedulers; i++)
        widths[1] = int_max(widths[1], (int)strlen(n->scheduler[i]));
}

static bool print_strategy(const struct replayed_network *n, const struct simulated_network *of,
                           const char *strategy, const int *widths, struct err *e)
{
    size_t marks = (size_t)simulated_network_marks(of);
    double *fraction = mem_zero(marks, sizeof *fraction);
    double *deviation = mem_zero(marks, sizeof *deviation);
    bool ok = true;
    for (int i = 0; i <= n->schedulers && ok; i++) {
        const char *scheduler = i < n->schedulers ? n->scheduler[i] : SIMULATED_ORACLE;
        struct row r = {of, strategy, scheduler, fraction, deviation};
        ok = simulated_network_play(of, scheduler, fraction, deviation, e);
        if (ok && widths)
            print_text(&r, widths);
        else if (ok)
            print_json(&r);
    }
    free(fraction);
    free(deviation);
    return ok;
}

bool replay_network_print(const struct replayed_network *n, const struct simulate_plan *p,
                          bool json, struct err *e)
{
    struct simulation *task = mem_zero((size_t)p->recordings, sizeof *task);
    int widths[2];
    bool ok = true;
    find_widths(n, p, widths);
    for (int i = 0; i < p->strategies && ok; i++) {
        struct simulated_network of = network_of(n, p, i, task);
        if (i == 0 && !json)
            print_head(&of, widths);
        ok = print_strategy(n, &of, p->strategy[i], json ? NULL : widths, e);
    }
    free(task);
    return ok;
}
