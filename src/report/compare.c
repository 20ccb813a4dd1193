#include "report/compare.h"

#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

const double comparison_goals[COMPARISON_GOALS] = {0.9, 0.95, 0.99};

enum { MOST_EXACT = 40 }; // pairs of an exact test

// --- Wilcoxon ---

static int by_size(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

double significance_wilcoxon(const double *a, const double *b, int n)
{
    double *difference = mem_zero((size_t)n + 1, sizeof *difference);
    int *rank = mem_zero((size_t)n + 1, sizeof *rank);
    int different = 0;
    for (int i = 0; i < n; i++)
        if (a[i] < b[i] || a[i] > b[i])
            difference[different++] = a[i] - b[i];
    qsort(difference, (size_t)different, sizeof *difference, by_size);
    // Ranks are stored doubled, which makes mean ranks whole: 2, 4, 6 or 3, 3, 6.
    double ties = 0; // sum of (t^3 - t) over groups of t equal differences
    for (int first = 0; first < different;) {
        int end = first + 1;
        while (end < different && fabs(difference[end]) <= fabs(difference[first]))
            end++;
        double t = end - first;
        ties += t * t * t - t;
        for (int i = first; i < end; i++)
            rank[i] = first + 1 + end; // twice the mean of first + 1 .. end
        first = end;
    }
    double plus = 0, minus = 0;
    for (int i = 0; i < different; i++)
        *(difference[i] > 0 ? &plus : &minus) += rank[i];
    double smaller = fmin(plus, minus), chance;
    if (different <= MOST_EXACT) {
        // of[s]: the chance that ranks with random signs add up to s on the positive side
        int most = (int)smaller;
        double *of = mem_zero((size_t)most + 1, sizeof *of);
        of[0] = 1;
        for (int i = 0; i < different; i++)
            for (int s = most; s >= 0; s--)
                of[s] = (of[s] + (s >= rank[i] ? of[s - rank[i]] : 0)) / 2;
        chance = 0;
        for (int s = 0; s <= most; s++)
            chance += of[s];
        free(of);
    } else {
        double pairs = different, mean = pairs * (pairs + 1) / 4;
        double variance = pairs * (pairs + 1) * (2 * pairs + 1) / 24 - ties / 48;
        double off = fmax(mean - smaller / 2 - 0.5, 0); // continuity
        chance = erfc(off / sqrt(2 * variance)) / 2;
    }
    free(difference);
    free(rank);
    return fmin(2 * chance, 1);
}

// --- Holm ---

static int by_value(const void *a, const void *b)
{
    double x = **(double *const *)a, y = **(double *const *)b;
    return (x > y) - (x < y);
}

void significance_holm(double *p, int n)
{
    double **sorted = mem_zero((size_t)n + 1, sizeof *sorted), least = 0;
    for (int i = 0; i < n; i++)
        sorted[i] = &p[i];
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    for (int i = 0; i < n; i++) {
        least = fmax(least, fmin((n - i) * *sorted[i], 1)); // not below that of a smaller p
        *sorted[i] = least;
    }
    free(sorted);
}

// --- ranks ---

void significance_ranks(const double *value, int cases, int searches, double *rank)
{
    int counted = 0;
    for (int s = 0; s < searches; s++)
        rank[s] = 0;
    for (int i = 0; i < cases; i++) {
        const double *row = value + (long)i * searches;
        int unknown = 0;
        for (int s = 0; s < searches; s++)
            unknown += isnan(row[s]) != 0;
        if (unknown)
            continue;
        counted++;
        for (int s = 0; s < searches; s++) {
            int higher = 0, equal = 0;
            for (int k = 0; k < searches; k++) {
                higher += row[k] > row[s];
                equal += row[k] >= row[s] && row[k] <= row[s];
            }
            rank[s] += higher + (equal + 1) / 2.0;
        }
    }
    for (int s = 0; s < searches; s++)
        rank[s] = counted ? rank[s] / counted : NAN;
}

// --- one curve ---

double comparison_mean(const struct steps *curve, double from, double to)
{
    double sum = 0;
    for (int i = 0; i < curve->count; i++) {
        double start = fmax(curve->point[i].x, from);
        double end = i + 1 < curve->count ? fmin(curve->point[i + 1].x, to) : to;
        sum += end > start ? curve->point[i].y * (end - start) : 0;
    }
    return sum / (to - from);
}

double comparison_reach(const struct steps *curve, double level)
{
    for (int i = 0; i < curve->count; i++)
        if (curve->point[i].y >= level)
            return curve->point[i].x;
    return INFINITY;
}

// --- all runs ---

static double level_at_end(const struct steps *curve)
{
    return curve->count ? curve->point[curve->count - 1].y : 0;
}

static int by_group(const void *a, const void *b)
{
    const struct comparison_run *x = *(const struct comparison_run *const *)a;
    const struct comparison_run *y = *(const struct comparison_run *const *)b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->problem != y->problem)
        return x->problem < y->problem ? -1 : 1;
    if (x->pair != y->pair)
        return x->pair < y->pair ? -1 : 1;
    return (x > y) - (x < y); // as given
}

// Chooses where shares are listed, if the user did not: at the last three of 1, 2, 5, 10, ...
// before the end, and at the end.
static void choose_at(struct comparison_result *r)
{
    static const double digits[] = {1, 2, 5};
    const struct comparison_setup *s = r->setup;
    r->at_count = s->at_count;
    for (int i = 0; i < s->at_count; i++)
        r->at[i] = s->at[i];
    if (s->at_count || !(r->horizon > 0))
        return;
    double power = pow(10, floor(log10(r->horizon)) - 1), found[6];
    int count = 0;
    for (int i = 0; i < 6; i++) {
        double at = digits[i % 3] * (i < 3 ? power : 10 * power);
        if (at < r->horizon * (1 - 1e-9) && (s->axis != COMPARISON_TRIALS || at >= 1))
            found[count++] = at;
    }
    for (int i = count > 3 ? count - 3 : 0; i < count; i++)
        r->at[r->at_count++] = found[i];
    r->at[r->at_count++] = r->horizon;
}

// --- groups ---

static double area_of(const struct comparison_result *r, int run)
{
    double from = r->setup->axis == COMPARISON_TRIALS ? 1 : 0; // trial t holds from t to t + 1
    return r->horizon > 0 ? comparison_mean(&r->share[run], from, from + r->horizon) : 0;
}

static struct comparison_value value_of(const double *x, int n)
{
    struct comparison_value v = {0};
    for (int i = 0; i < n; i++)
        v.mean += x[i] / n;
    for (int i = 0; i < n; i++)
        v.deviation += (x[i] - v.mean) * (x[i] - v.mean);
    v.deviation = n > 1 ? sqrt(v.deviation / (n - 1)) : 0;
    return v;
}

// Returns the score of the runs from `first` on that have one group and problem; sets *end to the
// first run behind them.
static double score_runs(const struct comparison_result *r, int first, int group_end, int *end)
{
    int problem = r->run[first]->problem, i = first;
    const struct comparison_problem *p = &r->setup->problem[problem];
    int64_t count = p->score && p->score->baseline ? p->score->last : 0;
    double *sum = mem_zero((size_t)count + 1, sizeof *sum);
    for (; i < group_end && r->run[i]->problem == problem; i++)
        if (count) {
            // Adds the best time after each trial.
            const struct comparison_run *run = r->run[i];
            int passed = 0;
            for (int64_t x = 1; x <= p->score->last; x++) {
                while (passed < run->curve.count && run->curve.point[passed].x <= (double)x)
                    passed++;
                double level = passed ? run->curve.point[passed - 1].y : 0;
                sum[x - 1] += level > 0 ? p->work / level : p->score->worst;
            }
        }
    for (int64_t x = 0; x < count; x++)
        sum[x] /= i - first;
    double score = count ? score_of(p->score, sum, count) : NAN;
    free(sum);
    *end = i;
    return score;
}

static int best_first(const void *a, const void *b)
{
    const struct comparison_group *x = a, *y = b;
    if (x->area.mean > y->area.mean || x->area.mean < y->area.mean)
        return x->area.mean > y->area.mean ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void take_groups(struct comparison_result *r)
{
    const struct comparison_setup *s = r->setup;
    r->group_count = s->group_count;
    r->group = arena_zero(&r->arena, (size_t)s->group_count + 1, sizeof *r->group);
    for (int g = 0, next = 0; g < s->group_count; g++) {
        struct comparison_group *group = &r->group[g];
        *group = (struct comparison_group){.name = s->group_name[g],
                                           .title = s->group_title ? s->group_title[g]
                                                                   : s->group_name[g],
                                           .index = g,
                                           .first = next,
                                           .rank = NAN};
        for (; next < s->run_count && r->run[next]->group == g; next++)
            group->runs++;
        double *x = mem_zero((size_t)group->runs, sizeof *x);
        for (int i = 0; i < group->runs; i++) {
            group->best = fmax(group->best, level_at_end(&r->run[group->first + i]->curve));
            x[i] = area_of(r, group->first + i);
        }
        group->area = value_of(x, group->runs);
        for (int i = 0; i < group->runs; i++)
            x[i] = level_at_end(&r->run[group->first + i]->curve);
        group->level = value_of(x, group->runs);
        for (int k = 0; k < r->at_count; k++) {
            for (int i = 0; i < group->runs; i++)
                x[i] = steps_at(&r->share[group->first + i], r->at[k]);
            group->at[k] = value_of(x, group->runs);
        }
        for (int k = 0; k < COMPARISON_GOALS; k++) {
            for (int i = 0; i < group->runs; i++) {
                x[i] = comparison_reach(&r->share[group->first + i],
                                        comparison_goals[k] * (1 - 1e-12));
                group->goal[k].reached += isfinite(x[i]);
            }
            group->goal[k].median = median_of(x, group->runs);
        }
        free(x);
        int problems = 0, end = group->first + group->runs;
        double sum = 0;
        for (int i = group->first; i < end; problems++)
            sum += score_runs(r, i, end, &i);
        group->score = s->axis == COMPARISON_TRIALS ? sum / problems : NAN;
    }
    qsort(r->group, (size_t)r->group_count, sizeof *r->group, best_first);
    for (int g = 0; g < r->group_count; g++)
        r->group[g].letter = (char)(g < 26 ? 'A' + g : g < 52 ? 'a' + g - 26 : '?');
}

// --- ranks and tests ---

// The area of each group (column) in each pair (row); NAN where it has none.
struct pairs {
    double *area;
    int rows, groups;
};

static struct pairs take_pairs(const struct comparison_result *r)
{
    bool by_problem = r->setup->problem_count > 1;
    struct pairs pairs = {.rows = by_problem ? r->setup->problem_count : 0,
                          .groups = r->group_count};
    for (int g = 0; g < r->group_count && !by_problem; g++)
        pairs.rows = r->group[g].runs > pairs.rows ? r->group[g].runs : pairs.rows;
    size_t cells = (size_t)pairs.rows * (size_t)pairs.groups;
    pairs.area = mem_zero(cells + 1, sizeof *pairs.area);
    for (size_t i = 0; i < cells; i++)
        pairs.area[i] = NAN;
    for (int g = 0; g < r->group_count; g++) {
        // Where problems are the pairs, a pair has the mean over the runs on its problem.
        const struct comparison_group *group = &r->group[g];
        int *count = mem_zero((size_t)pairs.rows + 1, sizeof *count);
        for (int i = 0; i < group->runs; i++) {
            int row = by_problem ? r->run[group->first + i]->problem : i;
            double *mean = &pairs.area[(size_t)row * (size_t)pairs.groups + (size_t)g];
            *mean = count[row]++ ? *mean : 0;
            *mean += (area_of(r, group->first + i) - *mean) / count[row];
        }
        free(count);
    }
    return pairs;
}

// Tests each pair of groups that has pairs of runs, and corrects for how many tests there are.
static void test_all(struct comparison_result *r, const struct pairs *pairs)
{
    int groups = r->group_count, tests = 0;
    double *a = mem_zero((size_t)pairs->rows + 1, sizeof *a);
    double *b = mem_zero((size_t)pairs->rows + 1, sizeof *b);
    size_t cells = (size_t)groups * (size_t)groups;
    double *p = mem_zero(cells + 1, sizeof *p);
    r->p = arena_zero(&r->arena, cells + 1, sizeof *r->p);
    for (int g = 0; g < groups; g++)
        for (int h = 0; h < g; h++) {
            int count = 0;
            for (int row = 0; row < pairs->rows; row++) {
                a[count] = pairs->area[(size_t)row * (size_t)groups + (size_t)g];
                b[count] = pairs->area[(size_t)row * (size_t)groups + (size_t)h];
                count += !isnan(a[count]) && !isnan(b[count]);
            }
            if (count)
                p[tests++] = significance_wilcoxon(a, b, count);
            r->p[g * groups + h] = count ? 0 : NAN;
            r->pairs = count > r->pairs ? count : r->pairs;
        }
    significance_holm(p, tests);
    tests = 0;
    for (int g = 0; g < groups; g++) {
        r->p[g * groups + g] = NAN;
        for (int h = 0; h < g; h++) {
            double known = r->p[g * groups + h];
            r->p[g * groups + h] = r->p[h * groups + g] = isnan(known) ? NAN : p[tests++];
        }
    }
    free(a);
    free(b);
    free(p);
}

// --- the comparison ---

void comparison_make(const struct comparison_setup *setup, struct comparison_result *out)
{
    *out = (struct comparison_result){.setup = setup};
    arena_init(&out->arena);
    const struct comparison_setup *s = out->setup;
    out->best = arena_zero(&out->arena, (size_t)s->problem_count + 1, sizeof *out->best);
    for (int i = 0; i < s->run_count; i++) {
        double *best = &out->best[s->run[i].problem];
        *best = fmax(*best, level_at_end(&s->run[i].curve));
    }
    for (int i = 0; i < s->problem_count; i++)
        out->best[i] = s->problem[i].best > 0 ? s->problem[i].best : out->best[i];
    out->shortest = INFINITY;
    for (int i = 0; i < s->run_count; i++) {
        const struct steps *curve = &s->run[i].curve;
        double end = s->run[i].end;
        if (curve->count)
            end = fmax(end, curve->point[curve->count - 1].x);
        out->horizon = fmax(out->horizon, end);
        out->shortest = fmin(out->shortest, end);
    }
    int count = s->run_count;
    out->run = arena_zero(&out->arena, (size_t)count + 1, sizeof *out->run);
    for (int i = 0; i < count; i++)
        out->run[i] = &s->run[i];
    qsort(out->run, (size_t)count, sizeof *out->run, by_group);
    out->share = arena_zero(&out->arena, (size_t)count + 1, sizeof *out->share);
    for (int i = 0; i < count; i++) {
        const struct steps *curve = &out->run[i]->curve;
        double best = out->best[out->run[i]->problem];
        struct plot_point *point = arena_zero(&out->arena, (size_t)curve->count + 1, sizeof *point);
        for (int k = 0; k < curve->count; k++)
            point[k] =
                (struct plot_point){curve->point[k].x, best > 0 ? curve->point[k].y / best : 0};
        out->share[i] = (struct steps){point, curve->count};
    }
    choose_at(out);
    take_groups(out);
    struct pairs pairs = take_pairs(out);
    double *rank = mem_zero((size_t)out->group_count + 1, sizeof *rank);
    significance_ranks(pairs.area, pairs.rows, pairs.groups, rank);
    for (int g = 0; g < out->group_count; g++)
        out->group[g].rank = rank[g];
    free(rank);
    test_all(out, &pairs);
    free(pairs.area);
}

void comparison_finish(struct comparison_result *r)
{
    arena_finish(&r->arena);
    *r = (struct comparison_result){0};
}
