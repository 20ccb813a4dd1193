#include "group.h"
#include "spaces.h"
#include "trial/source.h"

#include <math.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static struct source *create(const char *spec, const struct space *s, int workers)
{
    struct err e = {0};
    struct source *source = synthetic_create(spec, s, 2e9, workers, &e);
    if (!source)
        print_error("%s\n", e.text);
    assert_non_null(source);
    return source;
}

static struct config best_point(const struct source *source, const struct space *s, double *quality)
{
    struct config best = {{0}};
    *quality = 0;
    for (uint64_t i = 0; i < s->size; i++) {
        struct config c;
        space_point(s, i, &c);
        double q = synthetic_quality(source, &c, NULL);
        assert_true(q > 0 && q <= 1);
        if (q > *quality) {
            *quality = q;
            best = c;
        }
    }
    return best;
}

static int local_optima(const struct source *source, const struct space *s)
{
    int count = 0;
    for (uint64_t i = 0; i < s->size; i++) {
        struct config c, n;
        space_point(s, i, &c);
        double q = synthetic_quality(source, &c, NULL);
        bool is_best = true;
        for (int k = 0; k < space_degree(s, &c) && is_best; k++) {
            space_neighbour(s, &c, k, &n);
            is_best = synthetic_quality(source, &n, NULL) < q;
        }
        count += is_best;
    }
    return count;
}

static void bowl_is_a_function_of_the_distance(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    struct source *source = create("bowl:seed=3", s, 1);
    double quality;
    struct config hidden = best_point(source, s, &quality);
    assert_true(quality == 1);
    for (uint64_t i = 0; i < s->size; i++) {
        struct config c;
        space_point(s, i, &c);
        int d = space_distance(s, &c, &hidden);
        assert_true(synthetic_quality(source, &c, NULL) == 1 / (1 + d / 4.0));
    }
    assert_int_equal(local_optima(source, s), 1);
    source_destroy(source);
    space_destroy(s);
}

static void rugged_has_many_optima_and_one_best(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    for (int seed = 0; seed < 5; seed++) {
        char spec[40];
        snprintf(spec, sizeof spec, "bowl:seed=%d", seed);
        struct source *bowl = create(spec, s, 1);
        snprintf(spec, sizeof spec, "rugged:seed=%d", seed);
        struct source *rugged = create(spec, s, 1);
        double quality;
        struct config a = best_point(bowl, s, &quality), b = best_point(rugged, s, &quality);
        assert_true(quality == 1);
        assert_true(config_equal(&a, &b));
        assert_in_range(local_optima(rugged, s), 10, 200);
        source_destroy(bowl);
        source_destroy(rugged);
    }
    space_destroy(s);
}

static void seeds_hide_different_points(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    struct source *a = create("bowl", s, 1), *b = create("bowl:seed=0", s, 1),
                  *c = create("bowl:seed=1", s, 1);
    double q;
    struct config pa = best_point(a, s, &q), pb = best_point(b, s, &q), pc = best_point(c, s, &q);
    assert_true(config_equal(&pa, &pb));
    assert_false(config_equal(&pa, &pc));
    source_destroy(a);
    source_destroy(b);
    source_destroy(c);
    space_destroy(s);
}

static void the_stated_share_is_invalid(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    struct source *source = create("bowl:seed=2:invalid=0.3", s, 1);
    int count[OUTCOME_COUNT] = {0};
    for (uint64_t i = 0; i < s->size; i++) {
        struct config c;
        enum outcome o;
        space_point(s, i, &c);
        if (synthetic_quality(source, &c, &o) == 1)
            assert_int_equal(o, OUTCOME_OK);
        count[o]++;
    }
    assert_int_equal(count[OUTCOME_REJECTED], 0);
    for (int o = OUTCOME_COMPILE; o < OUTCOME_COUNT; o++)
        assert_true(count[o] > 0);
    double share = 1 - (double)count[OUTCOME_OK] / (double)s->size;
    assert_true(fabs(share - 0.3) < 4 * sqrt(0.3 * 0.7 / (double)s->size));
    source_destroy(source);
    space_destroy(s);
}

static int holds_even(void *context, const struct config *c, struct err *e)
{
    (void)context, (void)e;
    return c->slot[0] % 2 == 0;
}

static int never_holds(void *context, const struct config *c, struct err *e)
{
    (void)context, (void)c, (void)e;
    return 0;
}

static struct space *constrained(int (*holds)(void *, const struct config *, struct err *))
{
    struct space *s = space_create("constrained");
    add_discrete(s, "x", 50);
    space_add_constraint(s, &(struct constraint){.name = "rule", .file = "test", .holds = holds});
    return sealed(s);
}

static void the_hidden_point_holds_the_constraints(void **state)
{
    (void)state;
    struct space *s = constrained(holds_even);
    for (int seed = 0; seed < 20; seed++) {
        char spec[40];
        double q;
        snprintf(spec, sizeof spec, "bowl:seed=%d", seed);
        struct source *source = create(spec, s, 1);
        assert_int_equal(best_point(source, s, &q).slot[0] % 2, 0);
        source_destroy(source);
    }
    space_destroy(s);
    s = constrained(never_holds); // then any point will do: nobody asks for it
    source_destroy(create("bowl", s, 1));
    space_destroy(s);
}

static void submit(struct source *source, const struct space *s, int64_t ticket)
{
    struct trial_request r = {.ticket = ticket, .count = 1};
    space_point(s, (uint64_t)ticket % s->size, &r.config[0]);
    source_submit(source, &r);
}

// Values do not depend on workers, delays or order; every ticket comes back once.
static void results_come_once_and_out_of_order(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    struct source *source = create("rugged:seed=1:invalid=0.2:delay_us=300", s, 4);
    int64_t sent = 0, back = 0, last = -1;
    bool seen[200] = {false}, out_of_order = false;
    while (back < 200) {
        while (source_room(source) > 0 && sent < 200)
            submit(source, s, sent++);
        struct err e;
        struct trial_result r;
        struct pollfd fds[1];
        int n = source_fds(source, fds, 1);
        poll(fds, (nfds_t)n, source_wait_ms(source));
        assert_true(source_step(source, &e));
        while (source_collect(source, &r)) {
            struct config c;
            enum outcome o;
            assert_false(seen[r.ticket]);
            seen[r.ticket] = true;
            out_of_order |= r.ticket < last;
            last = r.ticket;
            back++;
            space_point(s, (uint64_t)r.ticket, &c);
            double q = synthetic_quality(source, &c, &o);
            assert_int_equal(r.outcome[0], o);
            assert_true(o == OUTCOME_OK ? r.seconds[0] == 2e9 / (q * 1e12) : r.seconds[0] == 0);
            assert_true((o == OUTCOME_OK) == (r.reason[0][0] == '\0'));
        }
    }
    assert_true(out_of_order);
    assert_int_equal(source_room(source), 4);
    assert_int_equal(source_wait_ms(source), -1);
    source_destroy(source);
    space_destroy(s);
}

static void bad_specs_are_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"bowel", "did you mean bowl"},      {"", "there are bowl, rugged"},
        {"bowl:sed=3", "did you mean seed"}, {"bowl:seed", "no value"},
        {"bowl:seed=-1", "whole number"},    {"bowl:invalid=1", "[0, 1)"},
        {"bowl:invalid=x", "[0, 1)"},        {"rugged:delay_us=-5", "delay_us"},
        {"bowl:zzzzzz=1", "there are seed"},
    };
    struct space *s = space_mixed();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err e = {0};
        assert_null(synthetic_create(bad[i][0], s, 1, 1, &e));
        assert_non_null(strstr(e.text, bad[i][1]));
    }
    space_destroy(s);
}

// Where the steepest climb by single steps from `c` ends.
static double climb(const struct source *source, const struct space *s, struct config c)
{
    double quality = synthetic_quality(source, &c, NULL), before = 0;
    while (quality > before) {
        struct config here = c;
        before = quality;
        for (int k = 0; k < space_degree(s, &here); k++) {
            struct config n;
            space_neighbour(s, &here, k, &n);
            double q = synthetic_quality(source, &n, NULL);
            if (q > quality) {
                quality = q;
                c = n;
            }
        }
    }
    return quality;
}

// One climb in fifty ends at the optimum, all others at ends that are 5 parameters away.
static void trap_holds_nearly_all(void **state)
{
    (void)state;
    struct space *s = space_create("trap");
    for (int i = 0; i < 7; i++) {
        char name[8];
        snprintf(name, sizeof name, "p%d", i);
        add_discrete(s, name, (const int[]){2, 2, 4, 4, 4, 5, 8}[i]);
    }
    sealed(s);
    for (int seed = 1; seed <= 3; seed++) {
        char spec[32];
        snprintf(spec, sizeof spec, "trap:seed=%d", seed);
        struct source *source = create(spec, s, 1);
        double best, escaped = 0;
        struct config optimum = best_point(source, s, &best);
        assert_true(best == 1);
        for (uint64_t i = 0; i < s->size; i++) {
            struct config c;
            int apart = 0;
            space_point(s, i, &c);
            double end = climb(source, s, c);
            escaped += end == 1;
            assert_true(end == 1 || end <= 0.83);
            for (int p = 0; p < 7; p++)
                apart += c.slot[p] != optimum.slot[p];
            if (synthetic_quality(source, &c, NULL) == 0.83)
                assert_int_equal(apart, 5);
        }
        assert_true(escaped > 0.01 * (double)s->size && escaped < 0.03 * (double)s->size);
        source_destroy(source);
    }
    space_destroy(s);
}

TEST_GROUP(synthetic)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bowl_is_a_function_of_the_distance),
        cmocka_unit_test(rugged_has_many_optima_and_one_best),
        cmocka_unit_test(seeds_hide_different_points),
        cmocka_unit_test(the_stated_share_is_invalid),
        cmocka_unit_test(the_hidden_point_holds_the_constraints),
        cmocka_unit_test(results_come_once_and_out_of_order),
        cmocka_unit_test(bad_specs_are_refused),
        cmocka_unit_test(trap_holds_nearly_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
