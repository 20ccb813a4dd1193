#include "model/gp.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define RATE 0.1 // of the logarithm, for a result

void intervals_init(struct intervals *i)
{
    *i = (struct intervals){.half = 0.6745, .nine_in_ten = 1.6449};
}

static void learn(double *width, double share, double off)
{
    *width *= exp(RATE * (off < *width ? share - 1 : share));
}

void intervals_told(struct intervals *i, double surprise)
{
    learn(&i->half, 0.5, fabs(surprise));
    learn(&i->nine_in_ten, 0.9, fabs(surprise));
    i->nine_in_ten = fmax(i->nine_in_ten, i->half);
}

// Priors: the logarithm of a weight, or of the noise, is normally distributed around that of its
// TYPICAL value, with its SPREAD as the standard deviation.
#define TYPICAL_WEIGHT  0.05
#define WEIGHT_SPREAD   1.0
#define TYPICAL_NOISE   0.01
#define NOISE_SPREAD    2.0
#define LEAST_NOISE     1e-4  // above what rounding does to the Cholesky factor
#define STEP            1.5   // of the logarithm, at most, in a try
#define LEAST_SCALE     1e-9  // of values that are all the same
#define LEAST_DEVIATION 1e-12 // of a value that is known
#define SLACK           1e-12 // more than rounding does to an expected improvement

// Compiled for wider vectors too, which are used where the processor has them: the numbers are the
// same, since every element is computed as before.
#if defined __x86_64__ && defined __gnu_linux__ && !defined __SANITIZE_ADDRESS__
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

static struct gp_solution solution_make(size_t most)
{
    return (struct gp_solution){.cholesky = mem_zero(most * most, sizeof(double)),
                                .alpha = mem_zero(most, sizeof(double))};
}

static void solution_finish(struct gp_solution *s)
{
    free(s->cholesky);
    free(s->alpha);
}

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
        .now = solution_make(n),
        .other = solution_make(n),
        .distances = mem_zero(n * n, sizeof(double)),
        .ones = mem_zero(n, sizeof(double)),
        .columns = mem_zero(n * (size_t)queries, sizeof(double)),
        .correlations = mem_zero(n * (size_t)queries, sizeof(double)),
        .partial = mem_zero((w + 1) * n, sizeof(double)),
        .hope = mem_zero((size_t)queries, sizeof(struct gp_hope)),
    };
    for (int i = 0; i < width; i++)
        g->weight[i] = TYPICAL_WEIGHT;
}

void gp_finish(struct gp *g)
{
    free(g->x);
    free(g->y);
    free(g->weight);
    solution_finish(&g->now);
    solution_finish(&g->other);
    free(g->distances);
    free(g->ones);
    free(g->columns);
    free(g->correlations);
    free(g->partial);
    free(g->hope);
    for (int k = 0; k < g->furthers; k++) {
        free(g->further[k].y);
        free(g->further[k].alpha);
    }
}

void gp_keep(struct gp *g, int count)
{
    for (int k = 0; k < count; k++)
        g->further[k] = (struct gp_further){.y = mem_zero((size_t)g->most, sizeof(double)),
                                            .alpha = mem_zero((size_t)g->most, sizeof(double))};
    g->furthers = count;
}

static double trend(const struct gp *g, const double *x)
{
    return g->trend ? g->trend(g->context, x) : 0;
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
    for (int k = 0; k < g->furthers; k++)
        g->further[k].y[g->count] = 0;
    g->y[g->count++] = y - trend(g, x);
}

void gp_set(struct gp *g, int further, double value)
{
    g->further[further].y[g->count - 1] = value;
}

// out[j] += weight * min(1, distance) of the points from `first` on to coordinate `i` being `at`.
WIDE static void add_distances(const struct gp *g, int i, double at, double weight, int first,
                               double *restrict out)
{
    const double *restrict row = g->x + i * g->most;
    for (int j = first; j < g->count; j++) {
        double distance = fabs(row[j] - at);
        out[j] += weight * (distance < 1 ? distance : 1);
    }
}

// Correlations from weighted distances; `out` may be `distance`.
WIDE static void correlate(const double *distance, int from, int to, double *out)
{
    for (int j = from; j < to; j++) {
        double t = 1 / (1 + distance[j] / 2);
        out[j] = t * t;
    }
}

// Adds to all distances between points what the weight of coordinate `i`, larger by `more`, adds.
static void reweigh(struct gp *g, int i, double more)
{
    for (int k = 0; k < g->count; k++)
        add_distances(g, i, g->x[i * g->most + k], more, k, g->distances + k * g->most);
}

// row[from..to) -= the sum of `count` rows, `stride` apart, each times its factor; four at a time,
// so that `row` is read and written more seldom.
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

// Cholesky decomposition of the matrix of correlations, row by row.
static void factorize(const struct gp *g, double *cholesky)
{
    int n = g->count, m = g->most;
    for (int i = 0; i < n; i++) {
        double *row = cholesky + i * m;
        correlate(g->distances + i * m, i, n, row);
        row[i] += g->noise;
        subtract(row, i, n, cholesky + i, m, cholesky, m, i);
        double scale = 1 / sqrt(row[i]);
        for (int j = i; j < n; j++)
            row[j] *= scale;
    }
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

static double log_prior(double value, double typical, double spread)
{
    double z = log(value / typical) / spread;
    return -z * z / 2;
}

static double dot(const double *a, const double *b, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

// With R the Cholesky factor: b = R^-T 1.
static void solve_ones(struct gp *g, const double *cholesky)
{
    for (int i = 0; i < g->count; i++)
        g->ones[i] = 1;
    solve_lower(g, cholesky, g->ones);
}

// Once b is there: with a = R^-T y the most likely mean is a.b / b.b, which is returned; a becomes
// a - mean b.
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

// The most likely variance is |a - mean b|^2 / n.
static void solve(struct gp *g, struct gp_solution *s)
{
    int n = g->count;
    double *a = s->alpha;
    factorize(g, s->cholesky);
    solve_ones(g, s->cholesky);
    s->mean = solve_mean(g, s->cholesky, g->y, a);
    s->scale = sqrt(dot(a, a, n) / n) + LEAST_SCALE;
    double sum = log_prior(g->noise, TYPICAL_NOISE, NOISE_SPREAD);
    for (int i = 0; i < g->width; i++)
        sum += log_prior(g->weight[i], TYPICAL_WEIGHT, WEIGHT_SPREAD);
    s->likelihood = sum - n * log(s->scale);
    for (int i = 0; i < n; i++)
        s->likelihood -= log(s->cholesky[i * g->most + i]);
    solve_upper(g, s->cholesky, a);
}

// Changes one weight or the noise by `factor`, and takes it back when that is less likely.
static void try_change(struct gp *g, int which, double factor)
{
    bool is_weight = which < g->width;
    double *changed = is_weight ? &g->weight[which] : &g->noise, old = *changed;
    *changed *= factor;
    g->noise = fmax(g->noise, LEAST_NOISE);
    double more = *changed - old;
    if (is_weight)
        reweigh(g, which, more);
    solve(g, &g->other);
    if (g->other.likelihood > g->now.likelihood) {
        struct gp_solution worse = g->now;
        g->now = g->other;
        g->other = worse;
        return;
    }
    *changed = old;
    if (is_weight)
        reweigh(g, which, -more);
}

void gp_fit(struct gp *g, int tries, struct rng *r)
{
    for (int k = 0; k < g->count; k++)
        for (int j = k; j < g->count; j++)
            g->distances[k * g->most + j] = 0;
    for (int i = 0; i < g->width; i++)
        reweigh(g, i, g->weight[i]);
    solve(g, &g->now);
    for (int n = 0; n < tries; n++) {
        int which = (int)rng_below(r, (uint64_t)g->width + 1);
        try_change(g, which, exp(STEP * (2 * rng_real(r) - 1)));
    }
    // Further values have the factor of the first.
    const double *cholesky = g->now.cholesky;
    if (g->furthers)
        solve_ones(g, cholesky);
    for (int k = 0; k < g->furthers; k++) {
        struct gp_further *f = &g->further[k];
        f->mean = solve_mean(g, cholesky, f->y, f->alpha);
        solve_upper(g, cholesky, f->alpha);
    }
}

// The distances of a query to the points by its coordinates before the i-th are on row `i` of
// `partial`: adds the i-th.
WIDE static void extend(const struct gp *g, int i, double at)
{
    const double *restrict row = g->x + i * g->most, *restrict before = g->partial + i * g->most;
    double *restrict after = g->partial + (i + 1) * g->most, weight = g->weight[i];
    for (int j = 0; j < g->count; j++) {
        double distance = fabs(row[j] - at);
        after[j] = before[j] + weight * (distance < 1 ? distance : 1);
    }
}

// Fills in the correlations of a query with the points, and returns its mean. It is like the query
// before in its first `same` coordinates.
static double expect(struct gp *g, const double *x, int same, double *c)
{
    for (int i = same; i < g->width; i++)
        extend(g, i, x[i]);
    const double *distance = g->partial + g->width * g->most;
    correlate(distance, 0, g->count, c);
    return trend(g, x) + g->now.mean + dot(c, g->now.alpha, g->count);
}

// Of a query with these correlations.
static void expect_further(const struct gp *g, const double *c, double *further)
{
    for (int k = 0; k < g->furthers; k++)
        further[k] = g->further[k].mean + dot(c, g->further[k].alpha, g->count);
}

double gp_further(struct gp *g, const double *x, double *further)
{
    double mean = expect(g, x, 0, g->ones);
    expect_further(g, g->ones, further);
    return mean;
}

static double judge(const struct gp *g, int query, const double *c)
{
    double further[GP_FURTHER];
    if (!g->worth)
        return 1;
    expect_further(g, c, further);
    return g->worth(g->judge, query, further);
}

double gp_worth(struct gp *g, const double *x, int query)
{
    if (g->furthers)
        expect(g, x, 0, g->ones);
    return judge(g, query, g->ones);
}

double gp_mean(struct gp *g, const double *x)
{
    return expect(g, x, 0, g->ones);
}

static int common(const double *a, const double *b, int width)
{
    int i = 0;
    while (i < width && a[i] == b[i])
        i++;
    return i;
}

// The variance at a point is 1 - |R^-T c|^2, where R is the Cholesky factor and c are the point's
// correlations with the points known: the columns, which are solved for side by side.
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

static int by_promise(const void *a, const void *b)
{
    const struct gp_hope *x = a, *y = b;
    return (x->promise < y->promise) - (x->promise > y->promise);
}

static int by_coordinates(const void *a, const void *b)
{
    const struct gp_hope *p = a, *q = b;
    int i = common(p->x, q->x, p->width);
    return i == p->width ? p->query - q->query : p->x[i] < q->x[i] ? -1 : 1;
}

// What each query may come to at most, by its mean: it is no less sure than the nearest point alone
// makes it. Those that are alike in many coordinates follow each other.
static void hope(struct gp *g, const double *x, int count, double target)
{
    for (int q = 0; q < count; q++)
        g->hope[q] = (struct gp_hope){.x = x + q * g->width, .width = g->width, .query = q};
    qsort(g->hope, (size_t)count, sizeof *g->hope, by_coordinates);
    for (int k = 0; k < count; k++) {
        struct gp_hope *h = &g->hope[k];
        double *c = g->correlations + h->query * g->most, nearest = 0;
        h->mean = expect(g, h->x, k ? common(h->x, h[-1].x, g->width) : 0, c);
        for (int i = 0; i < g->count; i++)
            nearest = nearest > c[i] ? nearest : c[i];
        double most = g->now.scale * sqrt(fmax(1 - nearest * nearest / (1 + g->noise), 0));
        h->worth = judge(g, h->query, c);
        h->promise = h->worth * gp_expected_improvement(h->mean, most, target);
    }
}

// Those with the most hope first, a few at a time, until no hope is left above what is sure.
void gp_promise(struct gp *g, const double *x, int count, double target, double *promise)
{
    enum { FEW = 16 };
    double largest = -INFINITY, deviation[FEW];
    hope(g, x, count, target);
    for (int q = 0; q < count; q++)
        promise[q] = -INFINITY;
    qsort(g->hope, (size_t)count, sizeof *g->hope, by_promise);
    for (int first = 0; first < count && g->hope[first].promise * (1 + SLACK) + SLACK >= largest;
         first += FEW) {
        const struct gp_hope *h = g->hope + first;
        int few = count - first < FEW ? count - first : FEW;
        for (int q = 0; q < few; q++)
            for (int i = 0; i < g->count; i++)
                g->columns[i * few + q] = g->correlations[h[q].query * g->most + i];
        deviate(g, few, deviation);
        for (int q = 0; q < few; q++) {
            double p = h[q].worth * gp_expected_improvement(h[q].mean, deviation[q], target);
            promise[h[q].query] = p;
            largest = fmax(largest, p);
        }
    }
}

double gp_expected_improvement(double mean, double deviation, double target)
{
    const double sqrt_half = 0.70710678118654752, density_at_0 = 0.39894228040143268;
    deviation += LEAST_DEVIATION;
    double z = (mean - target) / deviation;
    return deviation * (z * 0.5 * erfc(-z * sqrt_half) + density_at_0 * exp(-z * z / 2));
}
