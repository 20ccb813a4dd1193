// Axes and projections against counting by hand.
#include "group.h"
#include "landscape.h"
#include "spaces.h"

#include <math.h>
#include <string.h>

static struct factor part(int param, int slot)
{
    return (struct factor){param, slot};
}

// --- axes ---

static void expect_label(const struct axis *a, int place, const char *label)
{
    struct str text = {0};
    axis_add_label(a, place, &text);
    assert_string_equal(str_text(&text), label);
    str_finish(&text);
}

static void expect_term(const struct axis *a, int place, const char *term)
{
    struct str text = {0};
    assert_int_equal(axis_add_term(a, place, &text), term != NULL);
    assert_string_equal(str_text(&text), term ? term : "");
    str_finish(&text);
}

static void test_factors_are_parts_and_whole_parameters(void **state)
{
    (void)state;
    struct space *s = space_create("f");
    add_factorization(s, "tile", 8, 3);
    add_categorical(s, "only", 1);
    add_permutation(s, "order", 3);
    sealed(s);
    struct factor f[SPACE_MAX_SLOTS];
    struct str names = {0};
    int count = factor_list(s, f);
    for (int i = 0; i < count; i++) {
        factor_add_name(s, f[i], &names);
        str_add_char(&names, ' ');
    }
    assert_string_equal(str_text(&names), "tile[1] tile[2] tile[3] order ");
    str_finish(&names);
    space_destroy(s);
}

static void test_few_values_have_their_places(void **state)
{
    (void)state;
    struct space *s = space_create("few");
    add_factorization(s, "tile", 12, 3);
    add_discrete(s, "d", 4);
    add_permutation(s, "order", 4);
    sealed(s);
    struct axis a;
    axis_init(&a, s, part(0, 1));
    assert_int_equal(a.count, 6); // 1 2 3 4 6 12
    expect_label(&a, 3, "4");
    expect_label(&a, 5, "12");
    expect_term(&a, 4, "tile[2]=6");
    axis_init(&a, s, part(1, -1));
    expect_label(&a, 3, "9");
    expect_term(&a, 2, "d=4");
    axis_init(&a, s, part(2, -1));
    assert_int_equal(a.count, 24);
    expect_label(&a, 0, "0,1,2,3");
    expect_label(&a, 23, "3,2,1,0");
    for (uint64_t i = 0; i < s->size; i += 7) {
        struct config c;
        space_point(s, i, &c);
        struct str text = {0}, label = {0};
        int place = axis_place(&a, &c, NULL);
        for (int k = 0; k < 4; k++)
            str_printf(&text, "%s%d", k ? "," : "", c.slot[s->param[2].offset + k]);
        axis_add_label(&a, place, &label);
        assert_string_equal(str_text(&label), str_text(&text));
        str_finish(&text);
        str_finish(&label);
    }
    space_destroy(s);
}

// Visited values come in any order; from the 33rd on there are ranges.
static void test_visited_values_then_ranges(void **state)
{
    (void)state;
    struct space *s = space_create("many");
    add_categorical(s, "c", 1000);
    sealed(s);
    struct axis a;
    int moved[AXIS_MOST];
    axis_init(&a, s, part(0, -1));
    assert_int_equal(a.count, 0);
    for (int i = 0; i < AXIS_MOST; i++) {
        struct config c = {{(i * 37) % 1000}};
        assert_int_equal(axis_place(&a, &c, NULL), -1);
        int place = axis_make_place(&a, &c, NULL, moved);
        assert_int_equal(a.low[place], c.slot[0]);
        assert_int_equal(axis_place(&a, &c, NULL), place);
        assert_int_equal(a.count, i + 1);
    }
    for (int i = 1; i < a.count; i++)
        assert_true(a.low[i - 1] < a.low[i]);
    expect_term(&a, 1, "c=\"36\""); // 28 * 37 - 1000
    struct axis before = a;
    struct config c = {{998}};
    int place = axis_make_place(&a, &c, NULL, moved);
    assert_int_equal(a.kind, AXIS_RANGES);
    assert_int_equal(place, AXIS_MOST - 1);
    for (int i = 0; i < before.count; i++) {
        assert_true(a.low[moved[i]] <= before.low[i]);
        assert_true(moved[i] + 1 == a.count || before.low[i] < a.low[moved[i] + 1]);
    }
    expect_label(&a, 1, "32+"); // 1000 = 8 * 32 + 24 * 31
    expect_term(&a, 1, NULL);
    space_destroy(s);
}

static void test_ranges_of_parts_and_orders(void **state)
{
    (void)state;
    struct space *s = space_create("wide");
    add_factorization(s, "tile", 73513440, 2); // 768 divisors, the 25th is 28
    add_permutation(s, "order", 6);
    sealed(s);
    struct axis tile, order;
    struct rng rng;
    int moved[AXIS_MOST];
    rng_seed(&rng, 1);
    axis_init(&tile, s, part(0, 0));
    axis_init(&order, s, part(1, -1));
    for (int i = 0; i < 300; i++) {
        struct config c;
        space_sample(s, &rng, &c);
        int place = axis_make_place(&tile, &c, NULL, moved);
        assert_int_equal(axis_place(&tile, &c, NULL), place);
        axis_make_place(&order, &c, NULL, moved);
    }
    assert_int_equal(tile.kind, AXIS_RANGES);
    assert_int_equal(tile.count, AXIS_MOST);
    for (int i = 0; i < tile.count; i++)
        assert_int_equal(73513440 % tile.low[i], 0);
    expect_term(&tile, 0, "tile[1]>=1 tile[1]<28");
    expect_label(&tile, 0, "1+");
    assert_int_equal(order.count, 30); // the first two of six
    expect_label(&order, 0, "0,1,…");
    expect_label(&order, 29, "5,4,…");
    space_destroy(s);
}

static struct factor of_statistic(enum statistic_kind k)
{
    return (struct factor){FACTOR_STATISTIC, (int)k};
}

static int place_statistic(struct axis *a, double value, int moved[AXIS_MOST])
{
    double statistics[STATISTIC_KIND_COUNT];
    for (int k = 0; k < STATISTIC_KIND_COUNT; k++)
        statistics[k] = k == a->factor.slot ? value : NAN;
    assert_true(axis_has_value(a, statistics));
    int place = axis_make_place(a, NULL, statistics, moved);
    assert_int_equal(axis_place(a, NULL, statistics), place);
    return place;
}

// From each power of two on and from the middle to the next; where too many were seen, from each
// power.
static void test_what_drivers_tell_is_in_ranges(void **state)
{
    (void)state;
    struct axis a;
    int moved[AXIS_MOST];
    axis_init(&a, NULL, of_statistic(STATISTIC_SPILLS));
    assert_false(axis_has_value(&a, NULL));
    assert_int_equal(axis_place(&a, NULL, NULL), -1);
    assert_int_equal(place_statistic(&a, 0, moved), 0);
    assert_int_equal(place_statistic(&a, 100, moved), 1);
    assert_int_equal(place_statistic(&a, 127.5, moved), 1);
    assert_int_equal(place_statistic(&a, 3, moved), 1);
    assert_int_equal(moved[1], 2);
    assert_int_equal(a.count, 3);
    expect_label(&a, 0, "0");
    expect_label(&a, 2, "96+");
    expect_term(&a, 1, ".spills>=3 .spills<4");
    expect_term(&a, 2, ".spills>=96 .spills<128");
    for (double value = 4; a.kind != AXIS_RANGES; value *= 1.3)
        assert_true(value < 1e9 && place_statistic(&a, value, moved) >= 0);
    for (int i = 0; i < a.count; i++)
        assert_int_equal(a.low[i], i ? UINT64_C(1) << (i - 1) : 0);
    expect_label(&a, 7, "64+");
    expect_term(&a, 7, ".spills>=64 .spills<128");
    assert_int_equal(place_statistic(&a, 1e300, moved), a.count - 1);
    expect_term(&a, a.count - 1, ".spills>=1073741824");
}

// --- cells ---

struct result {
    struct config config;
    enum outcome outcome;
    double speed;
};

static struct result *make_results(const struct space *s, int count, struct rng *rng)
{
    struct result *t = mem_alloc((size_t)count * sizeof *t);
    for (int i = 0; i < count; i++) {
        space_sample(s, rng, &t[i].config);
        t[i].outcome = rng_below(rng, 3) ? OUTCOME_OK : (enum outcome)rng_below(rng, OUTCOME_COUNT);
        t[i].speed = 1 + rng_real(rng);
    }
    return t;
}

static void add(struct projection *p, const struct config *c, int64_t ask, enum outcome outcome,
                double speed)
{
    projection_add(
        p, &(struct map_trial){.config = c, .ask = ask, .outcome = outcome, .speed = speed});
}

static bool is_at(const struct projection *p, const struct config *c, int row, int col)
{
    return axis_place(&p->x, c, NULL) == col && (p->is_flat || axis_place(&p->y, c, NULL) == row);
}

static void expect_place(const struct projection *p, const struct result *t, int count, int row,
                         int col)
{
    const struct map_cell *c = projection_at(p, row, col);
    int64_t outcome[OUTCOME_COUNT] = {0}, best_ask = 0;
    double best = 0, worst = INFINITY, sum = 0;
    for (int i = 0; i < count; i++) {
        if (!is_at(p, &t[i].config, row, col))
            continue;
        outcome[t[i].outcome]++;
        if (t[i].outcome != OUTCOME_OK)
            continue;
        best_ask = t[i].speed > best ? i + 1 : best_ask;
        best = fmax(best, t[i].speed);
        worst = fmin(worst, t[i].speed);
        sum += t[i].speed;
    }
    assert_memory_equal(c->outcome, outcome, sizeof outcome);
    assert_int_equal(c->best_ask, best_ask);
    if (!outcome[OUTCOME_OK])
        return;
    assert_true(c->best == best && c->worst == worst);
    double mean = cell_value(c, STATISTIC_MEAN);
    assert_true(fabs(mean - sum / (double)outcome[OUTCOME_OK]) < 1e-9);
}

static void expect_projection(const struct space *s, struct factor x, const struct factor *y,
                              int count)
{
    struct rng rng;
    rng_seed(&rng, 7);
    struct result *t = make_results(s, count, &rng);
    struct projection p;
    int64_t trials = 0;
    projection_init(&p, s, x, y);
    for (int i = 0; i < count; i++)
        add(&p, &t[i].config, i + 1, t[i].outcome, t[i].speed);
    for (int row = 0; row < projection_rows(&p); row++)
        for (int col = 0; col < p.x.count; col++) {
            expect_place(&p, t, count, row, col);
            const struct map_cell *c = projection_at(&p, row, col);
            trials += cell_trials(c) + c->outcome[OUTCOME_REJECTED];
        }
    assert_int_equal(trials, count);
    projection_finish(&p);
    free(t);
}

static void test_cells_are_what_counting_by_hand_gives(void **state)
{
    (void)state;
    struct space *mm = space_mm(512, 1024, 1024);
    struct factor y = part(1, 0), same = part(1, 3);
    expect_projection(mm, part(0, 1), &y, 3000);
    expect_projection(mm, part(1, 2), &same, 3000); // two parts of one parameter
    expect_projection(mm, part(2, 2), NULL, 500);
    space_destroy(mm);
    struct space *s = space_create("growing"); // places are inserted, then become ranges
    add_categorical(s, "a", 500);
    add_factorization(s, "b", 73513440, 3);
    add_permutation(s, "order", 6);
    sealed(s);
    y = part(1, 1);
    expect_projection(s, part(0, -1), &y, 20);
    expect_projection(s, part(0, -1), &y, 2000);
    expect_projection(s, part(2, -1), &y, 2000);
    space_destroy(s);
}

static void test_only_what_was_told_is_along_it(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    struct projection p;
    struct factor y = of_statistic(STATISTIC_REGISTERS), f[SPACE_MAX_SLOTS];
    assert_true(factor_list(s, f) > 0);
    double statistics[STATISTIC_KIND_COUNT] = {[STATISTIC_REGISTERS] = 96};
    struct config c;
    int row, col;
    space_point(s, 77, &c);
    projection_init(&p, s, f[0], &y);
    add(&p, &c, 1, OUTCOME_OK, 5); // no statistics
    assert_int_equal(p.taken, 0);
    assert_int_equal(projection_rows(&p), 0);
    projection_add(&p, &(struct map_trial){&c, statistics, 2, OUTCOME_OK, 7, false});
    assert_int_equal(p.taken, 1);
    assert_false(projection_find(&p, &c, NULL, &row, &col));
    assert_true(projection_find(&p, &c, statistics, &row, &col));
    assert_int_equal(projection_at(&p, row, col)->best_ask, 2);
    assert_false(projection_judge(&p, NULL, 16));
    assert_int_equal(cell_kind(projection_at(&p, row, col ? 0 : 1)), CELL_UNVISITED);
    projection_finish(&p);
    space_destroy(s);
}

static void test_a_slice_takes_only_what_is_like_the_held_one(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    struct projection p;
    struct factor f[SPACE_MAX_SLOTS];
    int count = factor_list(s, f);
    assert_true(count > 3);
    projection_init(&p, s, f[count - 1], &f[count - 2]);
    struct config held, c;
    space_point(s, 77, &held);
    p.is_held = true;
    p.held = held;
    for (uint64_t i = 0; i < s->size; i++) {
        space_point(s, i, &c);
        add(&p, &c, (int64_t)i + 1, OUTCOME_OK, 1);
    }
    int expected = projection_rows(&p) * p.x.count; // each once
    assert_int_equal(p.taken, expected);
    int row, col;
    assert_true(projection_find(&p, &held, NULL, &row, &col));
    assert_int_equal(projection_at(&p, row, col)->best_ask, 78);
    projection_finish(&p);
    space_destroy(s);
}

// --- what is empty ---

static int holds(void *context, const struct config *c, struct err *e)
{
    const struct space *s = context;
    (void)e;
    int a = c->slot[s->param[0].offset], b = c->slot[s->param[1].offset + 1];
    return a != 2 && (a != 1 || b > 2);
}

static struct space *space_with_holes(void)
{
    struct space *s = space_create("holes");
    add_categorical(s, "a", 4);
    add_factorization(s, "t", 16, 3);
    add_categorical(s, "h", 5);
    sealed(s);
    space_add_constraint(s, &(struct constraint){.name = "no", .context = s, .holds = holds});
    return s;
}

static void test_judging_finds_what_no_configuration_can_have(void **state)
{
    (void)state;
    struct space *s = space_with_holes();
    const struct factor pairs[][2] = {
        {{0, -1}, {1, 1}}, {{1, 0}, {1, 1}}, {{1, 2}, {1, 0}}, {{2, -1}, {0, -1}}};
    for (size_t n = 0; n < sizeof pairs / sizeof *pairs; n++) {
        struct projection p;
        projection_init(&p, s, pairs[n][0], &pairs[n][1]);
        int slices = 0;
        while (projection_judge(&p, NULL, 16))
            assert_true(++slices < 1000);
        for (int row = 0; row < projection_rows(&p); row++)
            for (int col = 0; col < p.x.count; col++) {
                bool legal = false, possible = false;
                for (uint64_t i = 0; i < s->size; i++) {
                    struct config c;
                    space_point(s, i, &c);
                    bool here = is_at(&p, &c, row, col);
                    possible |= here;
                    legal |= here && holds(s, &c, NULL);
                }
                const struct map_cell *c = projection_at(&p, row, col);
                assert_int_equal(c->impossible, !possible);
                assert_int_equal(c->legal, legal);
                assert_int_equal(cell_kind(c), legal ? CELL_UNVISITED : CELL_EXCLUDED);
                if (possible && !legal)
                    assert_int_equal(c->constraint, 0);
            }
        projection_finish(&p);
    }
    space_destroy(s);
}

// A legal cell stays legal when it moves.
static void test_places_move_with_what_is_known_of_them(void **state)
{
    (void)state;
    struct space *s = space_create("moving");
    add_categorical(s, "a", 100);
    add_categorical(s, "b", 2);
    sealed(s);
    struct factor y = part(1, -1);
    struct projection p;
    struct config high = {{70, 0}}, low = {{3, 1}};
    projection_init(&p, s, part(0, -1), &y);
    add(&p, &high, 1, OUTCOME_OK, 5);
    while (projection_judge(&p, NULL, 4))
        ;
    assert_true(projection_at(&p, 1, 0)->legal);
    int layout = p.layout;
    add(&p, &low, 2, OUTCOME_WRONG, 0);
    assert_int_equal(p.layout, layout + 1);
    assert_int_equal(p.x.count, 2);
    assert_int_equal(cell_kind(projection_at(&p, 0, 1)), CELL_MEASURED);
    assert_int_equal(cell_kind(projection_at(&p, 1, 0)), CELL_FAILED);
    assert_true(projection_at(&p, 1, 1)->legal && !projection_at(&p, 0, 0)->legal);
    add(&p, &low, 3, OUTCOME_WRONG, 0);
    assert_int_equal(p.layout, layout + 1);
    projection_finish(&p);
    space_destroy(s);
}

static void test_kinds_of_places(void **state)
{
    (void)state;
    struct map_cell c = {0};
    assert_int_equal(cell_kind(&c), CELL_UNVISITED);
    c.outcome[OUTCOME_REJECTED] = 2;
    assert_int_equal(cell_kind(&c), CELL_EXCLUDED);
    c.legal = true; // one that was drawn is legal: not excluded, whatever was rejected
    assert_int_equal(cell_kind(&c), CELL_UNVISITED);
    c.outcome[OUTCOME_WRONG] = 1;
    assert_int_equal(cell_kind(&c), CELL_FAILED);
    assert_true(isnan(cell_value(&c, STATISTIC_BEST)));
    assert_true(cell_value(&c, STATISTIC_COUNT) == 1);
    c.outcome[OUTCOME_OK] = 1;
    assert_int_equal(cell_kind(&c), CELL_MEASURED);
    assert_int_equal(cell_trials(&c), 2);
    assert_int_equal(cell_trials(&c), 2);
}

TEST_GROUP(projection)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factors_are_parts_and_whole_parameters),
        cmocka_unit_test(test_few_values_have_their_places),
        cmocka_unit_test(test_visited_values_then_ranges),
        cmocka_unit_test(test_ranges_of_parts_and_orders),
        cmocka_unit_test(test_what_drivers_tell_is_in_ranges),
        cmocka_unit_test(test_only_what_was_told_is_along_it),
        cmocka_unit_test(test_cells_are_what_counting_by_hand_gives),
        cmocka_unit_test(test_a_slice_takes_only_what_is_like_the_held_one),
        cmocka_unit_test(test_judging_finds_what_no_configuration_can_have),
        cmocka_unit_test(test_places_move_with_what_is_known_of_them),
        cmocka_unit_test(test_kinds_of_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
