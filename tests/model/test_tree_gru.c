// The network over loop trees: its rows, its gradient, and learning.
#include "model/tree_gru.h"

#include "group.h"
#include "model/features.h"
#include "nests.h"

#include <math.h>
#include <string.h>

// --- rows ---

static void test_rows_of_the_product(void **state)
{
    (void)state;
    struct config c;
    struct space *s = space_with_product(&c);
    struct features *f = features_create(s, FEATURES_TREE, NULL);
    struct features *g = features_create(s, FEATURES_ITERVAR, NULL);
    int width = features_width(f);
    assert_int_equal(width, 1 + 18 + 3 * 5 + 1);
    float *rows = mem_zero((size_t)(features_most_rows(f) * width), sizeof *rows);
    float *itervar = mem_zero((size_t)features_width(g), sizeof *itervar);
    features_fill(g, &c, itervar);

    // The program; block_y, block_x, thread_y, thread_x, tile, round; k, i, j in tile; i, j again.
    static const int parent[12] = {-1, 0, 1, 2, 3, 4, 5, 5, 7, 8, 4, 10};
    assert_int_equal(features_fill(f, &c, rows), 12);
    for (int i = 0; i < 12; i++)
        assert_true(rows[i * width] == (float)parent[i]);
    assert_true(rows[width - 1] == 4); // the option
    for (int i = 1; i < width - 1; i++)
        assert_true(rows[i] == 0);

    // thread_x: itervar's own columns, then sums over its seven accesses: fill's tile (shared) and
    // B (global), the product's sum (registers), A and tile, the store's C and sum.
    const float *thread_x = rows + 4 * width, *x = itervar + 3 * (18 + 5 * 7);
    assert_memory_equal(thread_x + 1, x, 18 * sizeof *x);
    static const int memory[7] = {1, 0, 2, 0, 1, 0, 2};
    for (int m = 0; m < 3; m++)
        for (int k = 0; k < 5; k++) {
            float sum = 0;
            for (int i = 0; i < 7; i++)
                sum += memory[i] == m ? x[18 + 5 * i + k] : 0;
            assert_true(fabsf(thread_x[1 + 18 + 5 * m + k] - sum) < 1e-5f);
        }
    // Loop j is inside two loops over i, and has below each of them only the accesses there.
    assert_true(rows[9 * width + 1 + 18 + 5 + 0] == 1);  // the tile's stride is 1
    assert_true(rows[11 * width + 1 + 18 + 5 + 0] == 0); // the store does without the tile
    free(rows);
    free(itervar);
    features_destroy(f);
    features_destroy(g);
    space_and_nest_destroy(s);
}

// Loops of one iteration are left out, but for the one that a statement stands in.
static void test_loops_of_one_iteration(void **state)
{
    (void)state;
    struct config c;
    struct space *s = space_with_product(&c);
    memcpy(c.slot, (int32_t[]){8, 1, 1, 16, 1, 1, 4, 1}, 8 * sizeof *c.slot);
    struct features *f = features_create(s, FEATURES_TREE, NULL);
    int width = features_width(f);
    float *rows = mem_zero((size_t)(features_most_rows(f) * width), sizeof *rows);
    // The program; block_y, block_x, tile, round; j of the product in tile, j of the store.
    static const int parent[7] = {-1, 0, 1, 2, 3, 3, 2};
    assert_int_equal(features_fill(f, &c, rows), 7);
    for (int i = 0; i < 7; i++)
        assert_true(rows[i * width] == (float)parent[i]);
    assert_true(rows[5 * width + 1 + 15] == 1 && rows[5 * width + 1] == 1); // its addition; once
    free(rows);
    features_destroy(f);
    space_and_nest_destroy(s);
}

// --- network ---

enum { NODES = 6, INPUTS = 3, HIDDEN = 4 };
static const int parent[NODES] = {-1, 0, 0, 1, 1, 4};
static double x[NODES * INPUTS];

static struct tree_net network(uint64_t seed)
{
    struct tree_net n;
    struct rng r;
    rng_seed(&r, seed);
    tree_net_init(&n, INPUTS, HIDDEN, &r);
    for (int i = 0; i < NODES * INPUTS; i++)
        x[i] = 4 * rng_real(&r) - 2;
    for (size_t i = 0; i < n.count; i++)
        n.weight[i] += rng_real(&r) - 0.5; // biases too
    return n;
}

// Computes a network of one unit by its formulas, node by node.
static double sigmoid(double y)
{
    return 1 / (1 + exp(-y));
}

static double unit(const double *w, int node)
{
    const double *W = w, *b = w + 3 * INPUTS, *uz = b + 3, *u = uz + 1;
    double gate[3], sum = 0, inner = 0;
    for (int g = 0; g < 3; g++) {
        gate[g] = b[g];
        for (int i = 0; i < INPUTS; i++)
            gate[g] += x[node * INPUTS + i] * W[i * 3 + g];
    }
    for (int k = node + 1; k < NODES; k++)
        if (parent[k] == node) {
            double h = unit(w, k);
            sum += h;
            inner += sigmoid(gate[1] + u[0] * h) * (u[1] * h);
        }
    double z = sigmoid(gate[0] + uz[0] * sum);
    return (1 - z) * tanh(gate[2] + inner) + z * sum;
}

static void test_forward_by_its_formulas(void **state)
{
    (void)state;
    struct rng r;
    rng_seed(&r, 3);
    struct tree_net n = network(3), one;
    tree_net_finish(&n);
    tree_net_init(&one, INPUTS, 1, &r);
    for (size_t i = 0; i < one.count; i++)
        one.weight[i] = 2 * rng_real(&r) - 1;
    double *memory = mem_zero(NODES * tree_net_state(&one), sizeof *memory);
    double score = tree_net_forward(&one, NODES, parent, x, memory);
    double expected = unit(one.weight, 0) * one.weight[one.count - 2] + one.weight[one.count - 1];
    assert_true(fabs(score - expected) < 1e-12);
    free(memory);
    tree_net_finish(&one);
}

static void test_gradient_by_finite_differences(void **state)
{
    (void)state;
    const double delta = 1e-5;
    struct tree_net n = network(7);
    double *memory = mem_zero(NODES * tree_net_state(&n), sizeof *memory);
    tree_net_forward(&n, NODES, parent, x, memory);
    tree_net_backward(&n, NODES, parent, x, memory, 1.5);
    size_t moved = 0;
    for (size_t i = 0; i < n.count; i++) {
        double kept = n.weight[i];
        n.weight[i] = kept + delta;
        double more = tree_net_forward(&n, NODES, parent, x, memory);
        n.weight[i] = kept - delta;
        double less = tree_net_forward(&n, NODES, parent, x, memory);
        n.weight[i] = kept;
        double expected = 1.5 * (more - less) / (2 * delta);
        assert_true(fabs(n.gradient[i] - expected) <= 1e-6 * fabs(expected) + 1e-9);
        moved += fabs(expected) > 1e-6;
    }
    assert_true(moved == n.count);
    free(memory);
    tree_net_finish(&n);
}

static void check_loss(bool rank)
{
    enum { COUNT = 5 };
    const double delta = 1e-6;
    const float y[COUNT] = {0.5f, 1, 0, 0.5f, 0.25f};
    double score[COUNT] = {0.3, -0.2, 0.9, 2, 0.1}, by[COUNT], ignored[COUNT];
    tree_gru_loss(rank, COUNT, score, y, by);
    for (int i = 0; i < COUNT; i++) {
        double kept = score[i];
        score[i] = kept + delta;
        double more = tree_gru_loss(rank, COUNT, score, y, ignored);
        score[i] = kept - delta;
        double less = tree_gru_loss(rank, COUNT, score, y, ignored);
        score[i] = kept;
        assert_true(fabs(by[i] - (more - less) / (2 * delta)) < 1e-8);
    }
}

static void test_losses(void **state)
{
    (void)state;
    double by[3];
    check_loss(false);
    check_loss(true);
    // Computed by hand: (0.5^2 + 1) / 2; one pair, the worse one ahead by 1; no pair at all.
    assert_true(fabs(tree_gru_loss(false, 2, (double[]){0.5, 1}, (float[]){1, 0}, by) - 0.625) <
                1e-12);
    assert_true(fabs(tree_gru_loss(true, 2, (double[]){0, 1}, (float[]){1, 0}, by) -
                     log1p(exp(1))) < 1e-12);
    assert_true(tree_gru_loss(true, 2, (double[]){0, 1}, (float[]){1, 1}, by) == 0);
    assert_true(by[0] == 0 && by[1] == 0);
    // Scores may be so far apart that exp() overflows.
    assert_true(tree_gru_loss(true, 2, (double[]){0, 2000}, (float[]){1, 0}, by) == 2000);
}

// --- model ---

enum { PROGRAMS = 400, TRAINED = 300 };

struct data {
    struct space *space;
    float *x, y[PROGRAMS];
    int first[PROGRAMS + 1], width;
};

// Returns the speed of a program, by its tiles in registers and the split of the depth.
static float quality(const struct config *c)
{
    double registers = log2(c->slot[2] * c->slot[5]), depth = log2(c->slot[7]);
    return (float)(1 / (1 + fabs(registers - 4) + 0.5 * fabs(depth - 1)));
}

static void make_data(struct data *d)
{
    struct config c;
    struct rng r;
    rng_seed(&r, 2);
    d->space = space_with_product(&c);
    struct features *f = features_create(d->space, FEATURES_TREE, NULL);
    d->width = features_width(f);
    d->x = mem_zero((size_t)(PROGRAMS * features_most_rows(f) * d->width), sizeof *d->x);
    d->first[0] = 0;
    for (int i = 0; i < PROGRAMS; i++) {
        space_sample(d->space, &r, &c);
        d->y[i] = quality(&c);
        d->first[i + 1] = d->first[i] + features_fill(f, &c, d->x + d->first[i] * d->width);
    }
    features_destroy(f);
}

static void forget_data(struct data *d)
{
    free(d->x);
    space_and_nest_destroy(d->space);
}

static struct tree_gru *fit(const struct data *d, bool rank, const atomic_bool *stop)
{
    return tree_gru_fit(&(struct tree_gru_options){.rank = rank, .hidden = 16, .seed = 4},
                        &(struct booster_rows){.x = d->x,
                                               .y = d->y,
                                               .first = d->first,
                                               .rows = d->first[TRAINED],
                                               .width = d->width,
                                               .programs = TRAINED},
                        stop, NULL);
}

// Returns the share of pairs outside of the training set that are in the right order.
static double accuracy(const struct data *d, const struct tree_gru *t)
{
    float score[PROGRAMS];
    int right = 0, pairs = 0;
    tree_gru_predict(t, d->x + d->first[TRAINED] * d->width, d->first + TRAINED, PROGRAMS - TRAINED,
                     score);
    for (int i = 0; i < PROGRAMS - TRAINED; i++)
        for (int j = 0; j < i; j++) {
            float truth = d->y[TRAINED + i] - d->y[TRAINED + j];
            right += truth * (score[i] - score[j]) > 0;
            pairs += truth != 0;
        }
    return (double)right / pairs;
}

static void test_learns_an_order(void **state)
{
    (void)state;
    struct data d;
    make_data(&d);
    for (int rank = 0; rank < 2; rank++) {
        struct tree_gru *t = fit(&d, rank, NULL);
        assert_true(accuracy(&d, t) > 0.93);
        tree_gru_destroy(t);
    }
    forget_data(&d);
}

static void test_same_again(void **state)
{
    (void)state;
    struct data d;
    make_data(&d);
    struct tree_gru *a = fit(&d, true, NULL), *b = fit(&d, true, NULL);
    float score[PROGRAMS], same[PROGRAMS], alone;
    tree_gru_predict(a, d.x, d.first, PROGRAMS, score);
    tree_gru_predict(b, d.x, d.first, PROGRAMS, same);
    assert_memory_equal(score, same, sizeof same);
    tree_gru_predict(a, d.x + d.first[77] * d.width, d.first + 77, 1,
                     &alone); // whatever stands beside it
    assert_true(alone == score[77]);
    assert_int_equal(tree_gru_bytes(a), tree_gru_bytes(b));
    tree_gru_destroy(a);
    tree_gru_destroy(b);
    forget_data(&d);
}

// The network does not learn again what the margins of another model contain.
static void test_margins(void **state)
{
    (void)state;
    struct data d;
    make_data(&d);
    const struct booster_rows r = {.x = d.x + d.first[1] * d.width, // all but the first program
                                   .y = d.y + 1,
                                   .first = d.first + 1,
                                   .margin = d.y + 1,
                                   .rows = d.first[TRAINED] - d.first[1],
                                   .width = d.width,
                                   .programs = TRAINED - 1};
    struct tree_gru *t = tree_gru_fit(&(struct tree_gru_options){.hidden = 8}, &r, NULL, NULL);
    float rest[PROGRAMS];
    tree_gru_predict(t, d.x, d.first, PROGRAMS, rest);
    double squares = 0, variance = 0;
    for (int i = 0; i < PROGRAMS; i++) {
        squares += rest[i] * rest[i] / PROGRAMS;
        variance += (d.y[i] - 0.3) * (d.y[i] - 0.3) / PROGRAMS;
    }
    assert_true(squares < 0.1 * variance);
    tree_gru_destroy(t);
    forget_data(&d);
}

static void test_stops(void **state)
{
    (void)state;
    struct data d;
    make_data(&d);
    atomic_bool stop = true;
    assert_null(fit(&d, true, &stop));
    forget_data(&d);
}

TEST_GROUP(tree_gru)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_of_the_product),
        cmocka_unit_test(test_loops_of_one_iteration),
        cmocka_unit_test(test_forward_by_its_formulas),
        cmocka_unit_test(test_gradient_by_finite_differences),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_learns_an_order),
        cmocka_unit_test(test_same_again),
        cmocka_unit_test(test_margins),
        cmocka_unit_test(test_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
