// Neighbours and their status, compared with looking at every point of small spaces.
#include "group.h"
#include "spaces.h"
#include "view_space.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define SECONDS 2.0 // of the configuration in the middle

static const struct param *first_two[2];

// A rule over two parameters, so that it cuts across neighbourhoods.
static int is_uneven(void *context, const struct config *c, struct err *e)
{
    (void)context, (void)e;
    return (c->slot[first_two[0]->offset] + c->slot[first_two[1]->offset]) % 3 != 0;
}

static struct space *one_of_each(void)
{
    struct space *s = space_create("each");
    add_factorization(s, "parts", 12, 3);
    add_discrete(s, "path", 5);
    add_permutation(s, "order", 3);
    add_categorical(s, "word", 4);
    add_ring(s, "ring", 5);
    first_two[0] = &s->param[0];
    first_two[1] = &s->param[1];
    space_add_constraint(
        s, &(struct constraint){.name = "uneven", .file = "x.lua", .line = 3, .holds = is_uneven});
    return sealed(s);
}

// Every seventh configuration was tried, each with an outcome that follows from its hash.
static bool invent(const struct config *c, struct trial *out)
{
    uint64_t h = config_hash(c);
    if (h % 7 != 0)
        return false;
    h /= 7;
    *out = (struct trial){.ask = 1, .number = 1, .told = h % 5 != 0, .config = *c};
    out->outcome = h % 5 == 1 ? OUTCOME_REJECTED : h % 5 == 2 ? OUTCOME_WRONG : OUTCOME_OK;
    out->seconds = out->outcome == OUTCOME_OK ? 1 + (double)(h / 5 % 3) : 0;
    return true;
}

static const struct trial *find(struct model *m, const struct config *c)
{
    static struct trial kept;
    (void)m;
    return invent(c, &kept) ? &kept : NULL;
}

static bool differs_only_in(const struct space *s, const struct config *a, const struct config *b,
                            int param)
{
    for (int i = 0; i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        int distance = param_distance(p, a->slot + p->offset, b->slot + p->offset);
        if (distance != (i == param))
            return false;
    }
    return true;
}

// Counts by looking at every point.
static struct neighbourhood_counts sum_all(const struct space *s, const struct config *from,
                                           int param)
{
    struct neighbourhood_counts sum = {0};
    for (uint64_t i = 0; i < s->size; i++) {
        struct config c;
        struct trial t;
        space_point(s, i, &c);
        if (param == NEIGHBOURHOOD_ALL ? space_distance(s, from, &c) != 1
                                       : !differs_only_in(s, from, &c, param))
            continue;
        bool asked = invent(&c, &t), told = asked && t.told > 0;
        sum.candidates++;
        sum.valid += asked ? !told || t.outcome != OUTCOME_REJECTED : is_uneven(NULL, &c, NULL) > 0;
        sum.tried += told && t.outcome != OUTCOME_REJECTED;
        sum.better += told && t.outcome == OUTCOME_OK && t.seconds < SECONDS;
    }
    sum.looked_at = sum.candidates;
    return sum;
}

static void check_sum(struct neighbourhood_counts is, struct neighbourhood_counts wanted)
{
    assert_int_equal(is.candidates, wanted.candidates);
    assert_int_equal(is.looked_at, wanted.looked_at);
    assert_int_equal(is.valid, wanted.valid);
    assert_int_equal(is.tried, wanted.tried);
    assert_int_equal(is.better, wanted.better);
}

static void test_sums_are_those_of_all_points(void **state)
{
    (void)state;
    struct space *s = one_of_each();
    struct neighbourhood m = {0};
    struct config c;
    struct neighbourhood_counts seen = {0};
    for (uint64_t at = 0; at < s->size; at += 97) {
        space_point(s, at, &c);
        neighbourhood_begin(&m, s, &c);
        while (neighbourhood_step(&m, s, NULL, 3, find, NULL)) {
        }
        for (int param = NEIGHBOURHOOD_ALL; param < s->param_count; param++)
            check_sum(neighbourhood_counts(&m, s, param, (struct rank){SECONDS, false}),
                      sum_all(s, &c, param));
        struct neighbourhood_counts all =
            neighbourhood_counts(&m, s, NEIGHBOURHOOD_ALL, (struct rank){SECONDS, false});
        seen.better += all.better;
        seen.tried += all.tried;
        seen.valid += all.valid;
        seen.candidates += all.candidates;
    }
    assert_true(0 < seen.better && seen.better < seen.tried && seen.tried < seen.valid &&
                seen.valid < seen.candidates);
    neighbourhood_finish(&m);
    space_destroy(s);
}

static void test_a_slice_looks_at_as_many_as_asked(void **state)
{
    (void)state;
    struct space *s = one_of_each();
    struct neighbourhood m = {0};
    struct config c;
    space_point(s, 5, &c);
    neighbourhood_begin(&m, s, &c);
    int degree = space_degree(s, &c);
    assert_int_equal(m.candidates, degree);
    for (int i = 1; i < degree; i++) {
        assert_true(neighbourhood_step(&m, s, NULL, 1, find, NULL));
        assert_int_equal(m.count, i);
    }
    assert_false(neighbourhood_step(&m, s, NULL, 1, find, NULL));
    assert_int_equal(m.count, degree);
    assert_false(neighbourhood_step(&m, s, NULL, 1, find, NULL));
    assert_int_equal(m.count, degree);
    neighbourhood_finish(&m);
    space_destroy(s);
}

// One parameter with very many neighbours leaves room for the others.
static void test_very_many_neighbours_are_cut(void **state)
{
    (void)state;
    struct space *s = space_create("wide");
    add_categorical(s, "wide", 1000);
    add_discrete(s, "path", 3);
    sealed(s);
    struct neighbourhood m = {0};
    struct config c;
    space_point(s, 1000, &c); // the middle of the path
    neighbourhood_begin(&m, s, &c);
    while (neighbourhood_step(&m, s, NULL, 100, find, NULL)) {
    }
    const struct rank none = {0, false};
    int path = param_degree(&s->param[1], c.slot + s->param[1].offset);
    struct neighbourhood_counts wide = neighbourhood_counts(&m, s, 0, none);
    struct neighbourhood_counts narrow = neighbourhood_counts(&m, s, 1, none);
    assert_int_equal(wide.candidates, 999);
    assert_int_equal(wide.looked_at, NEIGHBOURHOOD_MOST_EACH);
    assert_int_equal(narrow.candidates, path);
    assert_int_equal(narrow.looked_at, path);
    assert_true(path > 0);
    neighbourhood_finish(&m);
    space_destroy(s);
}

static void test_reasons(void **state)
{
    (void)state;
    struct space *s = one_of_each();
    struct neighbourhood m = {0};
    struct config c;
    int forbidden = 0;
    space_point(s, 17, &c);
    neighbourhood_begin(&m, s, &c);
    while (neighbourhood_step(&m, s, NULL, 100, find, NULL)) {
    }
    for (int i = 0; i < m.count; i++) {
        const struct neighbour *neighbour = &m.neighbour[i];
        struct config to = c;
        const struct param *p = &s->param[neighbour->param];
        memcpy(to.slot + p->offset, neighbour->value, (size_t)p->width * sizeof(int32_t));
        if (neighbour->status != NEIGHBOUR_FORBIDDEN || invent(&to, &(struct trial){0}))
            continue;
        assert_string_equal(neighbour->reason, "constraint 'uneven'");
        forbidden++;
    }
    assert_true(forbidden > 0);
    neighbourhood_finish(&m);
    space_destroy(s);
}

TEST_GROUP(neighbourhood)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_are_those_of_all_points),
        cmocka_unit_test(test_a_slice_looks_at_as_many_as_asked),
        cmocka_unit_test(test_very_many_neighbours_are_cut),
        cmocka_unit_test(test_reasons),
    };
    return cmocka_run_group_tests_name("moves", tests, NULL, NULL);
}
