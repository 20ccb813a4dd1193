#include "model/gp.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define RATE 0.1 // step of the logarithm of a width, for one result

void intervals_init(struct intervals *i)
{
    *i = (struct intervals){.half = 0.6745, .nine_in_ten = 1.6449};
}

void intervals_observe(struct intervals *i, double z_score)
{
    double *const width[] = {&i->half, &i->nine_in_ten}, share[] = {0.5, 0.9};
    for (int k = 0; k < 2; k++)
        *width[k] *= exp(RATE * (fabs(z_score) < *width[k] ? share[k] - 1 : share[k]));
    i->nine_in_ten = fmax(i->nine_in_ten, i->half);
}

// Priors: the logarithm of a weight, and of the noise, has a normal distribution. Its mean is the
// logarithm of the TYPICAL value, its standard deviation the SPREAD.
#define TYPICAL_WEIGHT  0.05
#define WEIGHT_SPREAD   1.0
#define TYPICAL_NOISE   0.01
#define NOISE_SPREAD    2.0
#define LEAST_NOISE     1e-4  // above the rounding errors of the Cholesky factor
#define STEP            1.5   // largest change of the logarithm in a try
#define LEAST_SCALE     1e-9  // of values that are all the same
#define LEAST_DEVIATION 1e-12 // of a value that is known
#define SLACK           1e-12 // above the rounding errors of an expected improvement

// Functions that are also compiled for wider vectors, used if the processor has them. The results
// are the same, because every element is computed in the same way.
#if defined __x86_64__ && defined __gnu_linux__ && !defined __SANITIZE_ADDRESS__
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

void gp_init(struct gp *g, int width, int most, int queries)
{
    size_t w = (size_t)width, n = (size_t)most;
    *g = (struct gp){
        .width = width,
        .most = most,
        .queries = queries,
        .x = mem_zero(w * n, sizeof(double)),
        .y = mem_zero(n, sizeof(double)),
        .weight = mem_zero(w, sizeof(double)),
        .noise = TYPICAL_NOISE,
        .now = {.cholesky = mem_zero(n * n, sizeof(double)), .alpha = mem_zero(n, sizeof(double))},
        .other = {.cholesky = mem_zero(n * n, sizeof(double)),
                  .alpha = mem_zero(n, sizeof(double))},
        .distances = mem_zero(n * n, sizeof(double)),
        .ones = mem_zero(n, sizeof(double)),
        .columns = mem_zero(n * (size_t)queries, sizeof(double)),
        .correlations = mem_zero(n * (size_t)queries, sizeof(double)),
        .partial = mem_zero((w + 1) * n, sizeof(double)),
        .bound = mem_zero((size_t)queries, sizeof(struct gp_bound)),
    };
    for (int i = 0; i < width; i++)
        g->weight[i] = TYPICAL_WEIGHT;
}

void gp_finish(struct gp *g)
{
    free(g->x);
    free(g->y);
    free(g->weight);
    free(g->now.cholesky);
    free(g->now.alpha);
    free(g->other.cholesky);
    free(g->other.alpha);
    free(g->distances);
    free(g->ones);
    free(g->columns);
    free(g->correlations);
    free(g->partial);
    free(g->bound);
    for (int k = 0; k < g->outputs; k++) {
        free(g->output[k].y);
        free(g->output[k].alpha);
    }
}

void gp_add_outputs(struct gp *g, int count)
{
    for (int k = 0; k < count; k++)
        g->output[k] = (struct gp_output){.y = mem_zero((size_t)g->most, sizeof(double)),
                                          .alpha = mem_zero((size_t)g->most, sizeof(double))};
    g->outputs = count;
}

void gp_clear(struct gp *g)
{
    g->count = 0;
}

void gp_add(struct gp *g, const double *x, double y)
{
    assert(g->count < g->most);
    for (int i = 0; i < g->width; i++)
        g->x[i * g->most + g->count] = x[i];
    for (int k = 0; k < g->outputs; k++)
        g->output[k].y[g->count] = 0;
    g->y[g->count++] = y - (g->prior_mean ? g->prior_mean(g->prior_context, x) : 0);
}

void gp_set_output(struct gp *g, int output, double value)
{
    g->output[output].y[g->count - 1] = value;
}

// Adds weight * min(1, distance) between `at` in coordinate `i` and the points from `first` on.
WIDE static void add_distances(const struct gp *g, int i, double at, double weight, int first,
                               double *restrict out)
{
    const double *restrict row = g->x + i * g->most;
    for (int j = first; j < g->count; j++) {
        double distance = fabs(row[j] - at);
        out[j] += weight * (distance < 1 ? distance : 1);
    }
}

// Computes correlations from weighted distances; `out` may be `distance`.
WIDE static void correlate(const double *distance, int from, int to, double *out)
{
    for (int j = from; j < to; j++) {
        double t = 1 / (1 + distance[j] / 2);
        out[j] = t * t;
    }
}

// Updates all distances between points after the weight of coordinate `i` grew by `more`.
static void reweigh(struct gp *g, int i, double more)
{
    for (int k = 0; k < g->count; k++)
        add_distances(g, i, g->x[i * g->most + k], more, k, g->distances + k * g->most);
}

// Subtracts from row[from..to) the sum of `count` rows, `stride` apart, each times its factor.
// Takes four rows at a time, so that `row` is read and written less often.
WIDE static void subtract(double *restrict row, int from, int to, const double *factor,
                          int factor_stride, const double *restrict rows, int stride, int count)
{
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        const double *r0 = rows + k * stride, *r1 = r0 + stride, *r2 = r1 + stride,
                     *r3 = r2 + stride, *f = factor + k * factor_stride;
        double f0 = f[0], f1 = f[factor_stride], f2 = f[2 * factor_stride],
               f3 = f[3 * factor_stride];
        for (int j = from; j < to; j++)
            row[j] -= f0 * r0[j] + f1 * r1[j] + f2 * r2[j] + f3 * r3[j];
    }
    for (; k < count; k++)
        for (int j = from; j < to; j++)
            row[j] -= factor[k * factor_stride] * rows[k * stride + j];
}

// Solves R^T x = v in place, R being the Cholesky factor.
WIDE static void solve_lower(const struct gp *g, const double *cholesky, double *v)
{
    for (int k = 0; k < g->count; k++) {
        const double *row = cholesky + k * g->most;
        v[k] /= row[k];
        for (int i = k + 1; i < g->count; i++)
            v[i] -= row[i] * v[k];
    }
}

// Solves R x = v in place.
static void solve_upper(const struct gp *g, const double *cholesky, double *v)
{
    for (int k = g->count - 1; k >= 0; k--) {
        const double *row = cholesky + k * g->most;
        for (int i = k + 1; i < g->count; i++)
            v[k] -= row[i] * v[i];
        v[k] /= row[k];
    }
}

static double dot(const double *a, const double *b, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

// Computes b = R^-T 1, R being the Cholesky factor.
static void solve_ones(struct gp *g, const double *cholesky)
{
    for (int i = 0; i < g->count; i++)
        g->ones[i] = 1;
    solve_lower(g, cholesky, g->ones);
}

// Uses b of solve_ones: with a = R^-T y the most likely mean is a.b / b.b, which is returned; a
// becomes a - mean b.
static double solve_mean(const struct gp *g, const double *cholesky, const double *y, double *a)
{
    int n = g->count;
    const double *b = g->ones;
    for (int i = 0; i < n; i++)
        a[i] = y[i];
    solve_lower(g, cholesky, a);
    double mean = dot(a, b, n) / dot(b, b, n);
    for (int i = 0; i < n; i++)
        a[i] -= mean * b[i];
    return mean;
}

// Decomposes the matrix of correlations and computes the most likely mean and scale: the variance
// is |a - mean b|^2 / n.
static void solve(struct gp *g, struct gp_solution *s)
{
    int n = g->count, m = g->most;
    double *a = s->alpha;
    for (int i = 0; i < n; i++) { // Cholesky decomposition, row by row
        double *row = s->cholesky + i * m;
        correlate(g->distances + i * m, i, n, row);
        row[i] += g->noise;
        subtract(row, i, n, s->cholesky + i, m, s->cholesky, m, i);
        double scale = 1 / sqrt(row[i]);
        for (int j = i; j < n; j++)
            row[j] *= scale;
    }
    solve_ones(g, s->cholesky);
    s->mean = solve_mean(g, s->cholesky, g->y, a);
    s->scale = sqrt(dot(a, a, n) / n) + LEAST_SCALE;
    double sum = 0;
    for (int i = -1; i < g->width; i++) { // the priors of the noise and of the weights
        double value = i < 0 ? g->noise / TYPICAL_NOISE : g->weight[i] / TYPICAL_WEIGHT;
        double z = log(value) / (i < 0 ? NOISE_SPREAD : WEIGHT_SPREAD);
        sum += -z * z / 2;
    }
    s->likelihood = sum - n * log(s->scale);
    for (int i = 0; i < n; i++)
        s->likelihood -= log(s->cholesky[i * g->most + i]);
    solve_upper(g, s->cholesky, a);
}

void gp_fit(struct gp *g, int tries, struct rng *r)
{
    for (int k = 0; k < g->count; k++)
        for (int j = k; j < g->count; j++)
            g->distances[k * g->most + j] = 0;
    for (int i = 0; i < g->width; i++)
        reweigh(g, i, g->weight[i]);
    solve(g, &g->now);
    for (int n = 0; n < tries; n++) { // changes a weight or the noise, if that is more likely
        int which = (int)rng_below(r, (uint64_t)g->width + 1);
        double *changed = which < g->width ? &g->weight[which] : &g->noise, old = *changed;
        *changed *= exp(STEP * (2 * rng_real(r) - 1));
        g->noise = fmax(g->noise, LEAST_NOISE);
        double more = *changed - old;
        if (which < g->width)
            reweigh(g, which, more);
        solve(g, &g->other);
        if (g->other.likelihood > g->now.likelihood) {
            struct gp_solution worse = g->now;
            g->now = g->other;
            g->other = worse;
            continue;
        }
        *changed = old;
        if (which < g->width)
            reweigh(g, which, -more);
    }
    // The additional outputs use the same Cholesky factor.
    const double *cholesky = g->now.cholesky;
    if (g->outputs)
        solve_ones(g, cholesky);
    for (int k = 0; k < g->outputs; k++) {
        struct gp_output *f = &g->output[k];
        f->mean = solve_mean(g, cholesky, f->y, f->alpha);
        solve_upper(g, cholesky, f->alpha);
    }
}

// Row `i` of `partial` has the distances of a query to the points in its first `i` coordinates.
// Adds coordinate `i`, which is `at`, and so fills the next row.
WIDE static void extend(const struct gp *g, int i, double at)
{
    const double *restrict row = g->x + i * g->most, *restrict before = g->partial + i * g->most;
    double *restrict after = g->partial + (i + 1) * g->most, weight = g->weight[i];
    for (int j = 0; j < g->count; j++) {
        double distance = fabs(row[j] - at);
        after[j] = before[j] + weight * (distance < 1 ? distance : 1);
    }
}

// Fills in the correlations of a query with the points, and returns its mean. The query shares its
// first `same` coordinates with the query before.
static double expect(struct gp *g, const double *x, int same, double *c)
{
    for (int i = same; i < g->width; i++)
        extend(g, i, x[i]);
    const double *distance = g->partial + g->width * g->most;
    correlate(distance, 0, g->count, c);
    double prior = g->prior_mean ? g->prior_mean(g->prior_context, x) : 0;
    return prior + g->now.mean + dot(c, g->now.alpha, g->count);
}

double gp_mean(struct gp *g, const double *x, double *output)
{
    double mean = expect(g, x, 0, g->ones);
    for (int k = 0; k < g->outputs; k++)
        output[k] = g->output[k].mean + dot(g->ones, g->output[k].alpha, g->count);
    return mean;
}

// Returns the factor of the acquisition value of a query with these correlations.
static double factor_at(const struct gp *g, int query, const double *c)
{
    double output[GP_OUTPUTS];
    if (!g->factor)
        return 1;
    for (int k = 0; k < g->outputs; k++)
        output[k] = g->output[k].mean + dot(c, g->output[k].alpha, g->count);
    return g->factor(g->factor_context, query, output);
}

double gp_factor(struct gp *g, const double *x, int query)
{
    if (g->outputs)
        expect(g, x, 0, g->ones);
    return factor_at(g, query, g->ones);
}

// Returns the number of leading coordinates that two points share.
static int common(const double *a, const double *b, int width)
{
    int i = 0;
    while (i < width && a[i] == b[i])
        i++;
    return i;
}

// Computes the deviations of `count` queries, whose correlations with the points are the columns.
// The variance at a query with the correlations c is 1 - |R^-T c|^2, R being the Cholesky factor.
static void deviate(struct gp *g, int count, double *deviation)
{
    for (int q = 0; q < count; q++)
        deviation[q] = 1;
    for (int i = 0; i < g->count; i++) {
        double *row = g->columns + i * count;
        subtract(row, 0, count, g->now.cholesky + i, g->most, g->columns, count, i);
        for (int q = 0; q < count; q++) {
            row[q] /= g->now.cholesky[i * g->most + i];
            deviation[q] -= row[q] * row[q];
        }
    }
    for (int q = 0; q < count; q++)
        deviation[q] = g->now.scale * sqrt(fmax(deviation[q], 0));
}

void gp_predict(struct gp *g, const double *x, int count, double *mean, double *deviation)
{
    assert(count <= g->queries);
    double *c = g->ones;
    for (int q = 0; q < count; q++) {
        const double *at = x + q * g->width;
        mean[q] = expect(g, at, q ? common(at, at - g->width, g->width) : 0, c);
        for (int i = 0; i < g->count; i++)
            g->columns[i * count + q] = c[i];
    }
    deviate(g, count, deviation);
}

static int largest_first(const void *a, const void *b)
{
    const struct gp_bound *x = a, *y = b;
    return (x->most < y->most) - (x->most > y->most);
}

// Orders queries so that those that share many coordinates follow each other.
static int neighbours_first(const void *a, const void *b)
{
    const struct gp_bound *p = a, *q = b;
    int i = common(p->x, q->x, p->width);
    return i == p->width ? p->query - q->query : p->x[i] < q->x[i] ? -1 : 1;
}

enum { FEW = 16 }; // queries whose acquisition values are computed at a time

// Computes an upper bound of each acquisition value, and sorts the queries by it: the nearest point
// alone limits the deviation of a query.
static void bound_all(struct gp *g, const double *x, int count, double target)
{
    for (int q = 0; q < count; q++)
        g->bound[q] = (struct gp_bound){.x = x + q * g->width, .width = g->width, .query = q};
    qsort(g->bound, (size_t)count, sizeof *g->bound, neighbours_first);
    for (int k = 0; k < count; k++) {
        struct gp_bound *b = &g->bound[k];
        double *c = g->correlations + b->query * g->most, nearest = 0;
        b->mean = expect(g, b->x, k ? common(b->x, b[-1].x, g->width) : 0, c);
        for (int i = 0; i < g->count; i++)
            nearest = nearest > c[i] ? nearest : c[i];
        double most = g->now.scale * sqrt(fmax(1 - nearest * nearest / (1 + g->noise), 0));
        b->factor = factor_at(g, b->query, c);
        b->most = b->factor * gp_expected_improvement(b->mean, most, target);
    }
    qsort(g->bound, (size_t)count, sizeof *g->bound, largest_first);
}

// Returns true if the value of a query may be above `least`.
static bool may_exceed(const struct gp_bound *b, double least)
{
    return b->most * (1 + SLACK) + SLACK >= least;
}

// Computes the values of the next few queries; returns how many.
static int evaluate_few(struct gp *g, int first, int count, double target, double value[FEW])
{
    const struct gp_bound *b = g->bound + first;
    int few = count - first < FEW ? count - first : FEW;
    double deviation[FEW];
    for (int q = 0; q < few; q++)
        for (int i = 0; i < g->count; i++)
            g->columns[i * few + q] = g->correlations[b[q].query * g->most + i];
    deviate(g, few, deviation);
    for (int q = 0; q < few; q++)
        value[q] = b[q].factor * gp_expected_improvement(b[q].mean, deviation[q], target);
    return few;
}

void gp_acquisition(struct gp *g, const double *x, int count, double target, double *value)
{
    double largest = -INFINITY, of_few[FEW];
    bound_all(g, x, count, target);
    for (int q = 0; q < count; q++)
        value[q] = -INFINITY;
    for (int first = 0; first < count && may_exceed(&g->bound[first], largest);) {
        int few = evaluate_few(g, first, count, target, of_few);
        for (int q = 0; q < few; q++) {
            value[g->bound[first + q].query] = of_few[q];
            largest = fmax(largest, of_few[q]);
        }
        first += few;
    }
}

int gp_best(struct gp *g, const double *x, int count, double target, struct gp_filter filter,
            double *value)
{
    double of_few[FEW];
    int best = -1;
    bound_all(g, x, count, target);
    for (int first = 0; first < count && may_exceed(&g->bound[first], *value);) {
        int few = evaluate_few(g, first, count, target, of_few);
        for (int q = 0; q < few; q++) {
            int query = g->bound[first + q].query;
            bool ties = best >= 0 && of_few[q] == *value && query < best;
            if ((of_few[q] > *value || ties) && filter.accepts(filter.context, query)) {
                *value = of_few[q];
                best = query;
            }
        }
        first += few;
    }
    return best;
}

double gp_expected_improvement(double mean, double deviation, double target)
{
    const double sqrt_half = 0.70710678118654752, density_at_0 = 0.39894228040143268;
    deviation += LEAST_DEVIATION;
    double z = (mean - target) / deviation;
    return deviation * (z * 0.5 * erfc(-z * sqrt_half) + density_at_0 * exp(-z * z / 2));
}
