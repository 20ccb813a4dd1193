#include "search_tables.h"

#include "base/str.h"
#include "kernel_tuner.h"
#include "report/compare.h"
#include "report/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct simulation *simulation_of(const struct searched *s, int recording, int strategy)
{
    return &s->list[recording * s->strategies + strategy];
}

static const struct simulated_curve *curve_of(const struct searched *s, int recording, int strategy)
{
    return &s->curve[recording * s->strategies + strategy];
}

static const struct recording *recording_of(const struct searched *s, int recording)
{
    return simulation_of(s, recording, 0)->recording;
}

static int marks_of(const struct searched *s)
{
    int marks = 0;
    while (marks < KERNEL_TUNER_MARKS && kernel_tuner_mark[marks] <= s->list[0].trials)
        marks++;
    return marks;
}

// --- Markdown ---

static void begin_table(const char *first)
{
    printf("\n| %s |", first);
}

static void end_head(int columns)
{
    printf("\n|---|");
    for (int i = 0; i < columns; i++)
        printf("---:|");
    printf("\n");
}

static void print_number(const char *format, double value)
{
    if (isfinite(value))
        printf(format, value);
    else
        printf(" - |");
}

// --- one number of each strategy on each recording ---

static void print_recording_heads(const struct searched *s, const char *last)
{
    begin_table("strategy");
    for (int i = 0; i < s->recordings; i++)
        printf(" %s |", recording_of(s, i)->name);
    printf(" %s |", last);
    end_head(s->recordings + 1);
}

static void print_ends(const struct searched *s)
{
    int64_t last = s->list[0].trials - 1;
    printf("\n### Optimum / best after %" PRId64
           " trials: mean ± standard deviation of %d repeats\n",
           last + 1, s->list[0].repeats);
    print_recording_heads(s, "mean");
    for (int k = 0; k < s->strategies; k++) {
        double mean = 0;
        printf("| %s |", s->list[k].strategy);
        for (int i = 0; i < s->recordings; i++) {
            const struct simulated_curve *c = curve_of(s, i, k);
            printf(" %.3f ± %.3f |", c->fraction[last], c->deviation[last]);
            mean += c->fraction[last] / s->recordings;
        }
        printf(" %.3f |\n", mean);
    }
}

static void print_scores(const struct searched *s)
{
    printf("\n### Score: 0 is random search, 1 the optimum at once\n");
    print_recording_heads(s, "mean");
    for (int k = 0; k < s->strategies; k++) {
        double mean = 0;
        printf("| %s |", s->list[k].strategy);
        for (int i = 0; i < s->recordings; i++) {
            print_number(" %.3f |", curve_of(s, i, k)->score);
            mean += curve_of(s, i, k)->score / s->recordings;
        }
        print_number(" %.3f |\n", mean);
    }
}

// --- the mean over the recordings ---

struct mean {
    double value, error; // standard error, the recordings being what they are
};

static struct mean mean_after(const struct searched *s, int strategy, int64_t trials)
{
    struct mean m = {0};
    for (int i = 0; i < s->recordings; i++) {
        const struct simulated_curve *c = curve_of(s, i, strategy);
        double error = c->deviation[trials - 1] / sqrt(simulation_of(s, i, strategy)->repeats);
        m.value += c->fraction[trials - 1] / s->recordings;
        m.error += error * error;
    }
    m.error = sqrt(m.error) / s->recordings;
    return m;
}

// NAN unless all recordings were measured.
static double kernel_tuner_mean(const struct searched *s, const char *strategy, int mark)
{
    double mean = 0;
    for (int i = 0; i < s->recordings; i++) {
        const struct kernel_tuner_curve *c = kernel_tuner_find(recording_of(s, i)->name, strategy);
        mean += c ? c->at[mark] / s->recordings : NAN;
    }
    return mean;
}

static int place_of(const struct searched *s, const char *strategy)
{
    for (int g = 0; g < s->result->group_count; g++)
        if (str_equal(s->result->group[g].name, strategy))
            return g;
    return -1;
}

static double area_of(const struct searched *s, int place, int run)
{
    const struct comparison_result *r = s->result;
    return comparison_mean(&r->share[r->group[place].first + run], 1, 1 + r->horizon);
}

// Against the reference: the k-th repeats on the same recording are pairs. Holm-corrected.
static void test_runs(const struct searched *s, int reference, double *p)
{
    int runs = s->result->group[reference].runs, tests = 0;
    double *a = mem_zero((size_t)runs, sizeof *a), *b = mem_zero((size_t)runs, sizeof *b);
    for (int i = 0; i < runs; i++)
        a[i] = area_of(s, reference, i);
    for (int g = 0; g < s->result->group_count; g++) {
        for (int i = 0; i < runs; i++)
            b[i] = area_of(s, g, i);
        if (g != reference)
            p[tests++] = significance_wilcoxon(a, b, runs);
    }
    significance_holm(p, tests);
    free(a);
    free(b);
}

static void print_p(double p)
{
    if (p < 0.001)
        printf(" <0.001 |");
    else
        print_number(" %.3f |", p);
}

static double microseconds_of(const struct searched *s, int strategy)
{
    double mean = 0;
    for (int i = 0; i < s->recordings; i++)
        mean += 1e6 * curve_of(s, i, strategy)->seconds_per_trial / s->recordings;
    return mean;
}

static void print_mean_row(const struct searched *s, int place, int reference, const double *p)
{
    const struct comparison_result *r = s->result;
    const struct comparison_group *g = &r->group[place];
    int marks = marks_of(s);
    printf("| %s |", g->name);
    for (int i = 0; i < marks; i++)
        printf(" %.3f |", mean_after(s, g->index, kernel_tuner_mark[i]).value);
    printf(" %.3f |", mean_after(s, g->index, s->list[0].trials).error);
    printf(" %.3f | %.2f |", g->area.mean, g->rank);
    print_p(reference < 0 ? NAN : r->p[reference * r->group_count + place]);
    print_p(reference < 0 || place == reference ? NAN : p[place - (place > reference)]);
    printf(" %.1f |\n", microseconds_of(s, g->index));
}

static void print_kernel_tuner_means(const struct searched *s)
{
    for (const struct kernel_tuner_curve *c = kernel_tuner_curves;
         str_equal(c->recording, kernel_tuner_curves[0].recording); c++) {
        if (isnan(kernel_tuner_mean(s, c->strategy, 0)))
            continue;
        printf("| *%s* (%s) |", c->strategy, c->version);
        for (int i = 0; i < marks_of(s); i++)
            printf(" %.3f |", kernel_tuner_mean(s, c->strategy, i));
        printf(" | | | | | |\n");
    }
}

static void print_means(const struct searched *s)
{
    int reference = place_of(s, s->list[0].strategy), marks = marks_of(s);
    double *p = mem_zero((size_t)s->strategies, sizeof *p);
    if (reference >= 0)
        test_runs(s, reference, p);
    printf("\n### Mean over the recordings after N trials, best area first; *Kernel Tuner*\n");
    begin_table("strategy");
    for (int i = 0; i < marks; i++)
        printf(" %d |", kernel_tuner_mark[i]);
    printf(" s.e. | area | rank | p, recordings | p, runs | µs a trial |");
    end_head(marks + 6);
    for (int g = 0; g < s->result->group_count; g++)
        print_mean_row(s, g, reference, p);
    print_kernel_tuner_means(s);
    printf(
        "\ns.e.: standard error of the last mean, the recordings being what they are. rank: mean "
        "over the recordings, by area. p: against\n%s, by area, Wilcoxon signed-rank: the means of "
        "each recording are pairs (%d; Holm's correction for all pairs of strategies), or the\n"
        "k-th repeats on a recording are (%d; corrected for all strategies against that one).\n",
        s->list[0].strategy, s->recordings, s->recordings * s->list[0].repeats);
    free(p);
}

// --- one recording ---

static void print_curves(const struct searched *s, int recording)
{
    const int marks = marks_of(s);
    for (int k = 0; k < s->strategies; k++) {
        const struct simulated_curve *c = curve_of(s, recording, k);
        printf("| %s |", s->list[k].strategy);
        for (int i = 0; i < marks; i++)
            printf(" %.3f |", c->fraction[kernel_tuner_mark[i] - 1]);
        print_number(" %.3f |", c->score);
        printf(" %.0f | %.1f |\n", c->trials_done, 1e6 * c->seconds_per_trial);
    }
}

static void print_exact_random(const struct searched *s, const struct recording *r)
{
    double *time = simulated_times(r);
    printf("| random, in closed form |");
    for (int i = 0; i < marks_of(s); i++) {
        int64_t size = simulated_size(r), trials = kernel_tuner_mark[i];
        printf(" %.3f |", score_random_fraction(time, r->outcomes[OUTCOME_OK], size,
                                                trials < size ? trials : size));
    }
    printf(" 0 | | |\n");
    free(time);
}

static void print_kernel_tuner(const struct searched *s, const struct recording *r)
{
    for (const struct kernel_tuner_curve *c = kernel_tuner_curves; c->recording; c++) {
        if (!str_equal(c->recording, r->name))
            continue;
        printf("| *%s* (%s%s) |", c->strategy, c->version, c->repeats == 20 ? ", 20 repeats" : "");
        for (int i = 0; i < marks_of(s); i++)
            printf(" %.3f |", c->at[i]);
        printf(" | | |\n");
    }
}

static void print_recording(const struct searched *s, int recording)
{
    const struct recording *r = recording_of(s, recording);
    char optimum[32];
    const struct score *score = s->result->setup->problem[recording].score;
    printf("\n### %s: %" PRId64 " configurations, %d valid, optimum %s, scored over trials %" PRId64
           " to %" PRId64 "\n",
           r->name, simulated_size(r), r->outcomes[OUTCOME_OK],
           text_time(r->entry[r->best].seconds, optimum), score->first, score->last);
    begin_table("strategy");
    for (int i = 0; i < marks_of(s); i++)
        printf(" %d |", kernel_tuner_mark[i]);
    printf(" score | trials | µs a trial |");
    end_head(marks_of(s) + 3);
    print_curves(s, recording);
    print_exact_random(s, r);
    print_kernel_tuner(s, r);
}

// --- the targets ---

// The first of the list has to be above all others, ours and Kernel Tuner's, in the mean, and
// nowhere far below the best of them.
struct rival {
    const char *name;
    double value, error; // error: 0 where it is not known
};

static struct rival best_rival(const struct searched *s, int mark)
{
    struct rival best = {"none", -INFINITY, 0};
    for (int k = 1; k < s->strategies; k++) {
        struct mean m = mean_after(s, k, kernel_tuner_mark[mark]);
        if (m.value > best.value)
            best = (struct rival){s->list[k].strategy, m.value, m.error};
    }
    for (const struct kernel_tuner_curve *c = kernel_tuner_curves;
         str_equal(c->recording, kernel_tuner_curves[0].recording); c++) {
        double mean = kernel_tuner_mean(s, c->strategy, mark);
        if (mean > best.value)
            best = (struct rival){c->strategy, mean, 0};
    }
    return best;
}

static struct rival best_rival_on(const struct searched *s, int recording, int mark)
{
    struct rival best = {"none", -INFINITY, 0};
    for (int k = 1; k < s->strategies; k++) {
        double value = curve_of(s, recording, k)->fraction[kernel_tuner_mark[mark] - 1];
        if (value > best.value)
            best = (struct rival){s->list[k].strategy, value, 0};
    }
    for (const struct kernel_tuner_curve *c = kernel_tuner_curves; c->recording; c++)
        if (str_equal(c->recording, recording_of(s, recording)->name) && c->at[mark] > best.value)
            best = (struct rival){c->strategy, c->at[mark], 0};
    return best;
}

static void print_shortfalls(const struct searched *s, int mark)
{
    int trials = kernel_tuner_mark[mark];
    for (int i = 0; i < s->recordings; i++) {
        double own = curve_of(s, i, 0)->fraction[trials - 1];
        struct rival best = best_rival_on(s, i, mark);
        if (best.value > own + 0.02)
            printf("| %d | %s | %.3f | %s | %.3f |\n", trials, recording_of(s, i)->name, own,
                   best.name, best.value);
    }
}

static void print_lead(const struct searched *s)
{
    const int from = 2, to = marks_of(s); // after 50 trials
    if (to <= from)
        return;
    printf("\n### %s against the best of all others\n", s->list[0].strategy);
    begin_table("trials");
    printf(" mean ± s.e. | the best other | mean ± s.e. | lead | in s.e. |");
    end_head(5);
    for (int i = from; i < to; i++) {
        struct mean m = mean_after(s, 0, kernel_tuner_mark[i]);
        struct rival best = best_rival(s, i);
        double lead = m.value - best.value, error = hypot(m.error, best.error);
        printf("| %d | %.4f ± %.4f | %s | %.4f ± %.4f | %+.4f | %+.1f |\n", kernel_tuner_mark[i],
               m.value, m.error, best.name, best.value, best.error, lead, lead / error);
    }
    printf("\nOf Kernel Tuner's no s.e. is known: 0. More than 0.02 below the best on:\n");
    begin_table("trials");
    printf(" recording | %s | the best | |", s->list[0].strategy);
    end_head(4);
    for (int i = from; i < to; i++)
        print_shortfalls(s, i);
}

// `local` has to be as good as the greedy searches of Kernel Tuner, less one standard error.
static void print_local(const struct searched *s)
{
    static const char *const rivals[] = {"greedy_ils", "greedy_mls"};
    int place = place_of(s, "local"), marks = marks_of(s);
    if (place < 0 || isnan(kernel_tuner_mean(s, rivals[0], 0)))
        return;
    printf("\n### local against Kernel Tuner 1.3.3\n");
    begin_table("trials");
    printf(" local ± s.e. | greedy_ils | greedy_mls | at least as good, less one s.e. |");
    end_head(4);
    for (int i = 0; i < marks; i++) {
        int trials = kernel_tuner_mark[i];
        if (trials != 100 && trials != 200 && trials != 400)
            continue;
        struct mean m = mean_after(s, s->result->group[place].index, trials);
        double ils = kernel_tuner_mean(s, rivals[0], i), mls = kernel_tuner_mean(s, rivals[1], i);
        printf("| %d | %.4f ± %.4f | %.4f | %.4f | %s |\n", trials, m.value, m.error, ils, mls,
               m.value >= fmax(ils, mls) - m.error ? "yes" : "NO");
    }
}

void search_tables_print(const struct searched *s)
{
    print_means(s);
    if (s->variants)
        return;
    print_lead(s);
    print_local(s);
    print_ends(s);
    print_scores(s);
    for (int i = 0; i < s->recordings; i++)
        print_recording(s, i);
}
