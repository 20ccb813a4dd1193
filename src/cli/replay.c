// replay: simulated tuning of strategies on recorded spaces, as tables or JSON Lines.
#include "base/number.h"
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

// --- replay --scheduler: the recordings are the tasks of one network, and schedulers spend one
// budget of trials on them ---

struct replayed_network {
    char **scheduler; // [schedulers]
    int schedulers;
    double *uses;   // [operands]
    int64_t trials; // over all tasks
    int64_t most;   // trials of one task
    int round;
};

#define TRIALS_A_TASK 100
#define ROUND         8
#define MOST_SHARES   4 // equal shares of the budget that one task can get

// Without --scheduler there are no schedulers.
static bool parse_network(const struct arguments *a, struct replayed_network *out, struct err *e)
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
    if (!spec_list_parse(schedulers, schedule_canonical, &out->scheduler, &out->schedulers, e))
        return false;
    out->uses = mem_zero((size_t)tasks + 1, sizeof *out->uses);
    for (int i = 0; i < tasks; i++)
        out->uses[i] = 1;
    bool good = !uses || str_to_reals(uses, out->uses, tasks + 1) == tasks;
    for (int i = 0; i < tasks && good; i++)
        good = out->uses[i] > 0;
    return good || err_usage(e, "--uses %s: expected a number above 0 for each of %d recording%s",
                             uses, tasks, tasks == 1 ? "" : "s");
}

struct row {
    const struct simulated_network *network;
    const char *strategy, *scheduler;
    const double *fraction, *deviation; // [marks]
};

static void network_print_json(const struct row *r)
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

// Columns of the table: the budget in so many shares, each a number of rounds.
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
            network_print_json(&r);
    }
    free(fraction);
    free(deviation);
    return ok;
}

// Prints every strategy with every scheduler, and with the oracle, after the simulation.
static bool network_print(const struct replayed_network *n, const struct simulate_plan *p,
                          bool json, struct err *e)
{
    struct simulation *task = mem_zero((size_t)p->recordings, sizeof *task);
    int widths[2];
    bool ok = true;
    char text[STRATEGY_TEXT];
    widths[0] = (int)strlen("strategy");
    widths[1] = (int)strlen("scheduler");
    for (int i = 0; i < p->strategies; i++)
        widths[0] = int_max(widths[0], (int)strlen(strategy_text(p->strategy[i], false, text)));
    for (int i = 0; i < n->schedulers; i++)
        widths[1] = int_max(widths[1], (int)strlen(n->scheduler[i]));
    for (int i = 0; i < p->strategies && ok; i++) {
        for (int j = 0; j < p->recordings; j++)
            task[j] = p->list[j * p->strategies + i]; // of this strategy
        struct simulated_network of = {.task = task,
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

// --- replay ---

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

static void add_numbers(struct json_writer *w, const char *name, const double *value, int64_t count)
{
    json_begin_list(w, name);
    for (int64_t i = 0; i < count; i++) {
        json_add_name(w, NULL);
        str_printf(w->out, "%.8g", value[i]);
    }
    json_end(w);
}

static void replay_print_json(const struct replayed *p, const struct simulation *s,
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

// Chooses the trials that the table shows: round numbers up to the budget, and the budget.
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
        replay_print_json(p, s, &curve);
    } else {
        if (index && index % p->plan.strategies == 0)
            printf("\n");
        int64_t mark[MOST_MARKS];
        int marks = choose_marks(s->trials, mark);
        if (index % p->plan.strategies == 0) {
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
        char strategy[STRATEGY_TEXT];
        printf("%-*s", strategy_width(p), strategy_text(s->strategy, false, strategy));
        for (int i = 0; i < marks; i++)
            printf(" %6.3f", curve.fraction[mark[i] - 1]);
        if (isfinite(curve.score))
            printf("  %7.3f", curve.score);
        else
            printf("  %7s", "-");
        printf("  %9.0f", curve.seconds_per_trial > 0 ? 1 / curve.seconds_per_trial : 0);
        if (s->noise)
            printf("  %6.2f %%", 100 * curve.shortfall);
        printf("\n");
        if (p->by_time) {
            static const int shown[] = {9, 24, 49, 74, 99};
            printf("  by time:");
            for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
                printf("%s %.3f after %.3g s", i ? "," : "", curve.by_time[shown[i]],
                       curve.at_s[shown[i]]);
            printf("\n");
        }
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
    if (!simulate_plan_make(words, &p->plan, e))
        return false;
    for (int i = 0; n->schedulers && i < p->plan.recordings; i++) {
        const struct recording *r = p->plan.recording[i];
        if (!str_equal(r->unit, "s"))
            return err_at(e, r->path, 0,
                          "recorded in %s: it has no latency and cannot be a task of a network "
                          "(without --scheduler it can be replayed)",
                          r->unit);
    }
    common_on_signals(on_signal, SA_RESTART);
    bool ok = simulate(p->plan.list, p->plan.count, o, e);
    clear_progress(p);
    return ok && (!n->schedulers || signal_seen || network_print(n, &p->plan, p->json, e));
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
    bool ok = parse_network(a, &n, &e);
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
    if (signal_seen)
        return 128 + signal_seen;
    return common_exit(ok, &e);
}

static const struct option options[] = {
    {"strategy", OPTION_TEXT, "STRATEGY[:KEY=VALUE]...[,...]",
     "search strategies (default: walk; see tilewalk strategies)"},
    {"trials", OPTION_INTEGER, "N",
     "budget of each search, in different configurations (default: 500)", 1, SIMULATE_MOST_TRIALS},
    {"repeats", OPTION_INTEGER, "R", "searches of each strategy (default: 50)", 1,
     SIMULATE_MOST_REPEATS},
    {"seed", OPTION_INTEGER, "S", "seed of all searches (default: 1)", 0, 9007199254740992.0},
    {"noise", OPTION_FLAG, NULL,
     "measure a random one of the recorded runs each time, not their mean; the last trials are a "
     "final re-timing"},
    {"time", OPTION_FLAG, NULL,
     "print the results against time too: recorded compile and benchmark times, and the time of "
     "the strategy itself"},
    {"scheduler", OPTION_TEXT, "SCHEDULER[,...]",
     "take the recordings as the tasks of one network, and let gradient or roundrobin allot "
     "--trials (default: 100 a task) to them"},
    {"uses", OPTION_TEXT, "N,N,...",
     "with --scheduler: how often the network runs each task (default: 1)"},
    {"round", OPTION_INTEGER, "N", "with --scheduler: trials that it allots at a time (default: 8)",
     1, 100000},
    {"threads", OPTION_INTEGER, "N",
     "threads (default: one a core; the results do not depend on it)", 1, 256},
    OPTION_JSON,
    OPTION_HELP,
    OPTION_END,
};

const struct command cmd_replay = {
    .name = "replay",
    .operands = "RECORDING...",
    .help = "search recorded spaces many times, without a device",
    .least = 1,
    .most = INT_MAX,
    .options = options,
    .run = run_replay,
};
