// replay: simulated tuning of strategies on recorded spaces, as tables or JSON Lines.
#include "base/minmax.h"
#include "base/shown.h"
#include "cli/replay_network.h"
#include "simulate/curve.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void add_by_time(struct json_writer *w, const struct simulated_curve *c)
{
    json_begin_object(w, "by_time");
    add_numbers(w, "seconds", c->at_s, SIMULATED_TIMES);
    add_numbers(w, "best_fraction", c->by_time, SIMULATED_TIMES);
    add_numbers(w, "std", c->by_time_deviation, SIMULATED_TIMES);
    json_end(w);
}

static void add_search(struct json_writer *w, const struct simulation *s)
{
    const struct recording *r = s->recording;
    char *canonical = strategy_canonical(s->strategy, NULL);
    json_add_text(w, "recording", r->name);
    json_add_text(w, "file", r->path);
    json_add_text(w, "strategy", s->strategy);
    json_add_text(w, "spec", canonical);
    json_add_int(w, "trials", s->trials);
    json_add_int(w, "repeats", s->repeats);
    json_add_count(w, "seed", s->seed);
    json_add_flag(w, "noise", s->noise);
    json_add_int(w, "size", simulated_size(r));
    json_add_int(w, "valid", r->outcomes[OUTCOME_OK]);
    json_add_real(w, "optimum", r->entry[r->best].seconds);
    free(canonical);
}

static void print_json(const struct replayed *p, const struct simulation *s,
                       const struct simulated_curve *c)
{
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    add_search(&w, s);
    json_add_real(&w, "trials_done", c->trials_done);
    add_numbers(&w, "best_fraction", c->fraction, c->trials);
    add_numbers(&w, "std", c->deviation, c->trials);
    json_add_real(&w, "score", c->score);
    json_add_real(&w, "shortfall", c->shortfall);
    json_add_real(&w, "seconds_per_trial", c->seconds_per_trial);
    if (p->by_time)
        add_by_time(&w, c);
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

static void print_head(const struct replayed *p, const struct simulation *s)
{
    int64_t mark[MOST_MARKS];
    int marks = choose_marks(s->trials, mark);
    char optimum[32];
    const struct recording *r = s->recording;
    double best = r->entry[r->best].seconds;
    if (str_equal(r->unit, "s"))
        text_time(best, optimum);
    else
        snprintf(optimum, sizeof optimum, "%.4g %s", best, r->unit);
    printf("%s: %" PRId64 " configurations, %d valid, optimum %s; optimum / best so far, mean of "
           "%d repeats\n",
           r->name, simulated_size(r), r->outcomes[OUTCOME_OK], optimum, s->repeats);
    printf("%-*s", strategy_width(p), "strategy");
    for (int i = 0; i < marks; i++)
        printf(" %6" PRId64, mark[i]);
    printf("  %7s  %9s%s\n", "score", "trials/s", s->noise ? "  short by" : "");
}

static void print_by_time(const struct simulated_curve *c)
{
    static const int shown[] = {9, 24, 49, 74, 99};
    printf("  by time:");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        printf("%s %.3f after %.3g s", i ? "," : "", c->by_time[shown[i]], c->at_s[shown[i]]);
    printf("\n");
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
    if (p->by_time)
        print_by_time(c);
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
        if (index % p->plan.strategies == 0)
            print_head(p, s);
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

static void catch_signals(void)
{
    static const int caught[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaction(caught[i], &action, NULL);
}

static bool replay(struct replayed *p, const struct simulate_words *words,
                   const struct replayed_network *n, struct simulate_options *o, struct err *e)
{
    if (!simulate_plan_make(words, &p->plan, e) ||
        (n->schedulers && !replay_network_check(&p->plan, e)))
        return false;
    catch_signals();
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
    replay_network_finish(&n);
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
