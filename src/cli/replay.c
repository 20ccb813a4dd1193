// replay: simulated tuning of strategies on recorded spaces, as tables or JSON Lines.

#include "base/minmax.h"
#include "base/shown.h"
#include "cli/common.h"
#include "search/schedule.h"
#include "simulate/curve.h"
#include "simulate/network.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// replay --scheduler: the recordings are the tasks of one network, and schedulers spend one budget
// of trials on them.
//
//     struct replayed_network n;
//     replay_network_parse(a, &n, e);
//     replay_network_check(&plan, e);
//     ...simulate each task for n.most trials...
//     replay_network_print(&n, &plan, json, e);
//     replay_network_finish(&n);                       in any case

struct replayed_network {
    char **scheduler; // [schedulers]
    int schedulers;
    double *uses;   // [operands]
    int64_t trials; // over all tasks
    int64_t most;   // that one of them can get
    int round;
};

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

// True as well without --scheduler: then there are no schedulers.
static bool replay_network_parse(const struct arguments *a, struct replayed_network *out,
                                 struct err *e)
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

// False: a recording has no times, so that it can be no task.
static bool replay_network_check(const struct simulate_plan *p, struct err *e)
{
    for (int i = 0; i < p->recordings; i++)
        if (!str_equal(p->recording[i]->unit, "s"))
            return err_at(e, p->recording[i]->path, 0,
                          "recorded in %s: no latency, so no task of a network (without "
                          "--scheduler it can be replayed)",
                          p->recording[i]->unit);
    return true;
}

// --- results ---

struct row {
    const struct simulated_network *network;
    const char *strategy, *scheduler;
    const double *fraction, *deviation; // [marks]
};

static void replay_network_print_json(const struct row *r)
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
        if (ok && widths) {
            char text[STRATEGY_TEXT];
            printf("%-*s  %-*s", widths[0], strategy_text(r.strategy, false, text), widths[1],
                   r.scheduler);
            for (int j = 0; j < COLUMNS; j++)
                printf(" %6.3f", r.fraction[mark_of(r.network, j)]);
            printf("\n");
        } else if (ok)
            replay_network_print_json(&r);
    }
    free(fraction);
    free(deviation);
    return ok;
}

// After the simulation: every strategy with every scheduler, and the oracle.
static bool replay_network_print(const struct replayed_network *n, const struct simulate_plan *p,
                                 bool json, struct err *e)
{
    struct simulation *task = mem_zero((size_t)p->recordings, sizeof *task);
    int widths[2];
    bool ok = true;
    char text[STRATEGY_TEXT];
    widths[0] = (int)strlen("strategy"), widths[1] = (int)strlen("scheduler");
    for (int i = 0; i < p->strategies; i++)
        widths[0] = int_max(widths[0], (int)strlen(strategy_text(p->strategy[i], false, text)));
    for (int i = 0; i < n->schedulers; i++)
        widths[1] = int_max(widths[1], (int)strlen(n->scheduler[i]));
    for (int i = 0; i < p->strategies && ok; i++) {
        // One strategy's simulations, by task.
        for (int j = 0; j < p->recordings; j++)
            task[j] = p->list[j * p->strategies + i];
        struct simulated_network of = (struct simulated_network){.task = task,
                                                                 .tasks = p->recordings,
                                                                 .uses = n->uses,
                                                                 .trials = n->trials,
                                                                 .round = n->round};
        if (i == 0 && !json) {
            char optimum[32];
            printf(
                "network of %d recordings, least latency %s; least latency / latency after so many "
                "trials, mean of %d repeats\n",
                of.tasks, text_time(simulated_network_optimum(&of), optimum), of.task[0].repeats);
            printf("%-*s  %-*s", widths[0], "strategy", widths[1], "scheduler");
            for (int k = 0; k < COLUMNS; k++)
                printf(" %6" PRId64, (mark_of(&of, k) + 1) * of.round);
            printf("\n");
        }
        ok = print_strategy(n, &of, p->strategy[i], json ? NULL : widths, e);
    }
    free(task);
    return ok;
}

#define MOST_MARKS 8

struct replayed {
    struct simulate_plan plan;
    bool json, by_time, on_terminal;
    bool broken_output;
};

static volatile sig_atomic_t signal_seen;

static void on_signal(int number)
{
    signal_seen = number;
}

// --- for programs ---

static void add_numbers(struct json_writer *w, const char *name, const double *value, int64_t count)
{
    json_begin_list(w, name);
    for (int64_t i = 0; i < count; i++) {
        json_add_name(w, NULL);
        str_printf(w->out, "%.8g", value[i]);
    }
    json_end(w);
}

static void print_json(const struct replayed *p, const struct simulation *s,
                       const struct simulated_curve *c)
{
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    const struct recording *r = s->recording;
    char *canonical = strategy_canonical(s->strategy, NULL);
    json_add_text(&w, "recording", r->name);
    json_add_text(&w, "file", r->path);
    json_add_text(&w, "strategy", s->strategy);
    json_add_text(&w, "spec", canonical);
    json_add_int(&w, "trials", s->trials);
    json_add_int(&w, "repeats", s->repeats);
    json_add_count(&w, "seed", s->seed);
    json_add_flag(&w, "noise", s->noise);
    json_add_int(&w, "size", simulated_size(r));
    json_add_int(&w, "valid", r->outcomes[OUTCOME_OK]);
    json_add_real(&w, "optimum", r->entry[r->best].seconds);
    free(canonical);
    json_add_real(&w, "trials_done", c->trials_done);
    add_numbers(&w, "best_fraction", c->fraction, c->trials);
    add_numbers(&w, "std", c->deviation, c->trials);
    json_add_real(&w, "score", c->score);
    json_add_real(&w, "shortfall", c->shortfall);
    json_add_real(&w, "seconds_per_trial", c->seconds_per_trial);
    if (p->by_time) {
        json_begin_object(&w, "by_time");
        add_numbers(&w, "seconds", c->at_s, SIMULATED_TIMES);
        add_numbers(&w, "best_fraction", c->by_time, SIMULATED_TIMES);
        add_numbers(&w, "std", c->by_time_deviation, SIMULATED_TIMES);
        json_end(&w);
    }
    json_print(&w);
}

// --- for people ---

// The trials that the table shows: round ones as far as the budget goes, and its end.
static int choose_marks(int64_t trials, int64_t mark[MOST_MARKS])
{
    static const int64_t round[] = {10, 20, 50, 100, 200, 400, 500};
    int count = 0;
    for (size_t i = 0; i < sizeof round / sizeof *round && round[i] <= trials; i++)
        mark[count++] = round[i];
    if (!count || mark[count - 1] != trials)
        mark[count++] = trials;
    return count;
}

static int strategy_width(const struct replayed *p)
{
    char text[STRATEGY_TEXT];
    int width = (int)strlen("strategy");
    for (int i = 0; i < p->plan.strategies; i++)
        width = int_max(width, (int)strlen(strategy_text(p->plan.strategy[i], false, text)));
    return width;
}

static void print_row(const struct replayed *p, const struct simulation *s,
                      const struct simulated_curve *c)
{
    int64_t mark[MOST_MARKS];
    char strategy[STRATEGY_TEXT];
    int marks = choose_marks(s->trials, mark);
    printf("%-*s", strategy_width(p), strategy_text(s->strategy, false, strategy));
    for (int i = 0; i < marks; i++)
        printf(" %6.3f", c->fraction[mark[i] - 1]);
    if (isfinite(c->score))
        printf("  %7.3f", c->score);
    else
        printf("  %7s", "-");
    printf("  %9.0f", c->seconds_per_trial > 0 ? 1 / c->seconds_per_trial : 0);
    if (s->noise)
        printf("  %6.2f %%", 100 * c->shortfall);
    printf("\n");
    if (p->by_time) {
        static const int shown[] = {9, 24, 49, 74, 99};
        printf("  by time:");
        for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
            printf("%s %.3f after %.3g s", i ? "," : "", c->by_time[shown[i]], c->at_s[shown[i]]);
        printf("\n");
    }
}

static void clear_progress(const struct replayed *p)
{
    if (p->on_terminal)
        shown_clear_line();
}

static void on_finished(void *context, int index)
{
    struct replayed *p = context;
    struct simulation *s = &p->plan.list[index];
    struct simulated_curve curve;
    simulated_curve_make(s, &curve);
    clear_progress(p);
    if (p->json) {
        print_json(p, s, &curve);
    } else {
        if (index && index % p->plan.strategies == 0)
            printf("\n");
        if (index % p->plan.strategies == 0) {
            int64_t mark[MOST_MARKS];
            int marks = choose_marks(s->trials, mark);
            char optimum[32];
            const struct recording *r = s->recording;
            double best = r->entry[r->best].seconds;
            if (str_equal(r->unit, "s"))
                text_time(best, optimum);
            else
                snprintf(optimum, sizeof optimum, "%.4g %s", best, r->unit);
            printf("%s: %" PRId64
                   " configurations, %d valid, optimum %s; optimum / best so far, mean of "
                   "%d repeats\n",
                   r->name, simulated_size(r), r->outcomes[OUTCOME_OK], optimum, s->repeats);
            printf("%-*s", strategy_width(p), "strategy");
            for (int i = 0; i < marks; i++)
                printf(" %6" PRId64, mark[i]);
            printf("  %7s  %9s%s\n", "score", "trials/s", s->noise ? "  short by" : "");
        }
        print_row(p, s, &curve);
    }
    p->broken_output |= fflush(stdout) != 0;
    simulated_curve_finish(&curve);
    simulation_finish(s);
}

static bool on_tick(void *context, int64_t done, int64_t runs)
{
    const struct replayed *p = context;
    if (p->on_terminal && done < runs)
        fprintf(stderr, "\r%3d %%  %" PRId64 " of %" PRId64 " runs", (int)(100 * done / runs), done,
                runs);
    return !signal_seen && !p->broken_output;
}

static bool replay(struct replayed *p, const struct simulate_words *words,
                   const struct replayed_network *n, struct simulate_options *o, struct err *e)
{
    if (!simulate_plan_make(words, &p->plan, e) ||
        (n->schedulers && !replay_network_check(&p->plan, e)))
        return false;
    static const int caught[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaction(caught[i], &action, NULL);
    bool ok = simulate(p->plan.list, p->plan.count, o, e);
    clear_progress(p);
    return ok && (!n->schedulers || signal_seen || replay_network_print(n, &p->plan, p->json, e));
}

static int run_replay(const struct command *self, const struct arguments *a)
{
    struct err e;
    (void)self;
    struct replayed p = {.json = arguments_flag(a, "json"),
                         .by_time = arguments_flag(a, "time"),
                         .on_terminal =
                             isatty(STDERR_FILENO) && !str_equal(getenv("TERM"), "dumb")};
    struct replayed_network n;
    bool ok = replay_network_parse(a, &n, &e);
    struct simulate_options o = {.threads = (int)arguments_integer(a, "threads", 0),
                                 .tick = on_tick,
                                 .finished = n.schedulers ? NULL : on_finished,
                                 .context = &p};
    struct simulate_words words = common_simulation(a);
    words.noise = arguments_flag(a, "noise");
    words.costs_for = p.by_time ? "--time" : NULL;
    if (n.schedulers)
        words.trials = n.most;
    ok = ok && replay(&p, &words, &n, &o, &e);
    simulate_plan_finish(&p.plan);
    for (int i = 0; i < n.schedulers; i++)
        free(n.scheduler[i]);
    free(n.scheduler);
    free(n.uses);
    n = (struct replayed_network){0};
    if (signal_seen)
        return 128 + signal_seen;
    return ok ? EXIT_OK : fail_with(&e, EXIT_FAILED);
}

static const struct option options[] = {
    {"strategy", OPTION_TEXT, "STRATEGY[:KEY=VALUE]...[,...]",
     "search strategies (default: walk; see tilewalk strategies)"},
    {"trials", OPTION_INTEGER, "N", "budget of each search, in different configurations (500)", 1,
     SIMULATE_MOST_TRIALS},
    {"repeats", OPTION_INTEGER, "R", "searches of each strategy (50)", 1, SIMULATE_MOST_REPEATS},
    {"seed", OPTION_INTEGER, "S", "of all of them (1)", 0, 9007199254740992.0},
    {"noise", OPTION_FLAG, NULL,
     "measure one of the recorded runs, drawn anew, not their mean; the last trials are a race"},
    {"time", OPTION_FLAG, NULL,
     "also against time: recorded compile and benchmark times, and the strategy's own"},
    {"scheduler", OPTION_TEXT, "SCHEDULER[,...]",
     "the recordings are the tasks of one network; gradient or roundrobin spends --trials (100 a "
     "task) on all of them"},
    {"uses", OPTION_TEXT, "N,N,...", "how often the network runs each task (with --scheduler; 1)"},
    {"round", OPTION_INTEGER, "N", "trials that a scheduler grants at a time (8)", 1, 100000},
    {"threads", OPTION_INTEGER, "N", "(default: one a core; the results do not depend on it)", 1,
     256},
    OPTION_JSON,
    OPTION_HELP,
    OPTION_END,
};

const struct command cmd_replay = {
    .name = "replay",
    .operands = "RECORDING...",
    .help = "search recorded spaces, many times and without a device",
    .least = 1,
    .most = INT_MAX,
    .options = options,
    .run = run_replay,
};
