// The legal points of random spaces with rules, compared with all their points one by one.
#include "group.h"
#include "space/legal.h"
#include "spaces.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// --- random rules ---

enum rule_kind { SUM, PRODUCT, LESS, SHORT_CIRCUIT, DIVIDES, RULE_KINDS };
enum { MOST_RULES = 6, FAILS = -1 };

struct made_rule {
    enum rule_kind kind;
    int slot[3];
    int32_t modulus, rest;
    int64_t calls;
};

struct made {
    struct space *space;
    struct made_rule rule[MOST_RULES];
    int rules;
};

static int32_t read_slot(const struct config *c, int slot, struct rule_reads *r)
{
    if (r)
        r->slots |= UINT64_C(1) << slot;
    return c->slot[slot];
}

static int holds_reading(void *context, const struct config *c, struct rule_reads *r, struct err *e)
{
    struct made_rule *rule = context;
    const int *slot = rule->slot;
    rule->calls++;
    int64_t a = read_slot(c, slot[0], r);
    switch (rule->kind) {
    case SUM: return (a + read_slot(c, slot[1], r)) % rule->modulus == rule->rest;
    case PRODUCT: return a * read_slot(c, slot[1], r) * read_slot(c, slot[2], r) <= rule->rest;
    case LESS: return a <= read_slot(c, slot[1], r);
    case SHORT_CIRCUIT:
        return a != rule->rest ||
               (read_slot(c, slot[1], r) + read_slot(c, slot[2], r)) % rule->modulus == 0;
    case DIVIDES:
        if (a == 0) {
            err_set(e, "division by zero");
            return FAILS;
        }
        return read_slot(c, slot[1], r) % a == 0;
    case RULE_KINDS: break;
    }
    return FAILS;
}

static int holds(void *context, const struct config *c, struct err *e)
{
    return holds_reading(context, c, NULL, e);
}

static int is_not_zero(void *context, const struct config *c, struct rule_reads *r, struct err *e)
{
    struct made_rule *rule = context;
    (void)e;
    return read_slot(c, rule->slot[0], r) != 0;
}

static int is_not_zero_plain(void *context, const struct config *c, struct err *e)
{
    return is_not_zero(context, c, NULL, e);
}

static void add_rule(struct made *m, struct rng *r)
{
    struct made_rule *rule = &m->rule[m->rules];
    char name[32];
    *rule = (struct made_rule){.kind = (enum rule_kind)rng_below(r, RULE_KINDS),
                               .modulus = 2 + (int32_t)rng_below(r, 5)};
    rule->rest = (int32_t)rng_below(r, (uint64_t)rule->modulus) * (rule->kind == PRODUCT ? 9 : 1);
    for (int i = 0; i < 3; i++)
        rule->slot[i] = (int)rng_below(r, (uint64_t)m->space->slots);
    snprintf(name, sizeof name, "rule %d", m->rules);
    if (rule->kind == DIVIDES) {
        char guard[48];
        snprintf(guard, sizeof guard, "guard of %s", name);
        space_add_constraint(m->space, &(struct constraint){.name = guard,
                                                            .context = rule,
                                                            .holds = is_not_zero_plain,
                                                            .holds_reading = is_not_zero});
    }
    bool tells = rng_below(r, 8) > 0; // else it may read everything
    space_add_constraint(m->space,
                         &(struct constraint){.name = name,
                                              .context = rule,
                                              .holds = holds,
                                              .holds_reading = tells ? holds_reading : NULL});
    m->rules++;
}

static void add_param(struct space *s, int i, struct rng *r, int most)
{
    char name[16];
    int count = 1 + (int)rng_below(r, (uint64_t)most);
    snprintf(name, sizeof name, "p%d", i);
    switch (rng_below(r, 6)) {
    case 0:
        add_factorization(s, name, 1 + (int64_t)rng_below(r, 60), 1 + (int)rng_below(r, 3));
        break;
    case 1: add_permutation(s, name, 1 + (int)rng_below(r, 4)); break;
    case 2: add_categorical(s, name, count); break;
    case 3: add_ring(s, name, count + 2); break;
    default: add_discrete(s, name, count); break;
    }
}

// Makes a space of at least 3 parameters and at most `most_size` points.
static void make(struct made *m, struct rng *r, uint64_t most_size, int most_values)
{
    do {
        *m = (struct made){.space = space_create("made")};
        int params = 3 + (int)rng_below(r, 5);
        for (int i = 0; i < params; i++)
            add_param(m->space, i, r, most_values);
        sealed(m->space);
        if (m->space->size <= most_size)
            break;
        space_destroy(m->space);
    } while (true);
    int rules = 1 + (int)rng_below(r, MOST_RULES);
    while (m->rules < rules)
        add_rule(m, r);
}

static bool is_legal(const struct space *s, const struct config *c)
{
    struct verdict v;
    struct err e;
    bool judged = space_judge(s, NULL, c, &v, &e);
    return judged && v.legal;
}

static uint64_t brute_force(const struct space *s, struct config_set *points)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < s->size; i++) {
        struct config c;
        space_point(s, i, &c);
        if (!is_legal(s, &c))
            continue;
        count++;
        if (points)
            config_set_add(points, &c, NULL);
    }
    return count;
}

static struct legal *built(const struct space *s)
{
    struct err e;
    struct legal *g = legal_create(s, NULL);
    if (!legal_build(g, &e))
        fail_msg("%s", e.text);
    return g;
}

// --- counts, points, draws ---

static void test_counts_and_points(void **state)
{
    struct rng r;
    int empty = 0;
    (void)state;
    rng_seed(&r, 1);
    for (int n = 0; n < 400; n++) {
        struct made m;
        make(&m, &r, 20000, 12);
        struct config_set points = {.slots = m.space->slots}, seen = {.slots = m.space->slots};
        uint64_t count = brute_force(m.space, &points);
        struct legal *g = built(m.space);
        struct str text = {0};
        char expected[32];
        snprintf(expected, sizeof expected, "%" PRIu64, count);
        legal_add_count(g, &text);
        assert_true(legal_is_built(g));
        assert_string_equal(str_text(&text), expected);
        assert_int_equal(legal_count(g), count);
        assert_int_equal(legal_is_empty(g), count == 0);
        empty += count == 0;
        struct config c;
        bool is_new;
        for (uint64_t i = 0; i < count; i++) {
            assert_true(legal_point(g, i, &c));
            assert_true(config_set_find(&points, &c) >= 0);
            config_set_add(&seen, &c, &is_new);
            assert_true(is_new);
        }
        assert_false(legal_point(g, count, &c));
        str_finish(&text);
        config_set_finish(&points);
        config_set_finish(&seen);
        legal_destroy(g);
        space_destroy(m.space);
    }
    assert_in_range(empty, 20, 300); // both kinds were met
}

static void test_counts_of_larger_spaces(void **state)
{
    struct rng r;
    (void)state;
    rng_seed(&r, 2);
    for (int n = 0; n < 6; n++) {
        struct made m;
        do
            make(&m, &r, 10000000, 40);
        while (m.space->size < 200000 && (space_destroy(m.space), true));
        struct legal *g = built(m.space);
        assert_true(legal_is_built(g));
        assert_int_equal(legal_count(g), brute_force(m.space, NULL));
        legal_destroy(g);
        space_destroy(m.space);
    }
}

static void test_draws_are_uniform(void **state)
{
    enum { DRAWS = 100000, CELLS = 1000 };
    static int seen[CELLS];
    static double chance[CELLS];
    struct rng r, draws;
    (void)state;
    rng_seed(&r, 3);
    rng_seed(&draws, 4);
    for (int n = 0; n < 50;) {
        struct made m;
        make(&m, &r, 20000, 12);
        struct config_set points = {.slots = m.space->slots};
        int count = (int)brute_force(m.space, &points);
        if (count > 1 && count <= CELLS) {
            struct legal *g = built(m.space);
            for (int i = 0; i < count; i++) {
                seen[i] = 0;
                chance[i] = 1.0 / count;
            }
            for (int i = 0; i < DRAWS; i++) {
                struct config c;
                assert_true(legal_draw(g, &draws, &c));
                int index = config_set_find(&points, &c);
                assert_true(index >= 0);
                seen[index]++;
            }
            assert_true(chi_square(count, seen, chance) < chi_square_limit(count - 1));
            legal_destroy(g);
            n++;
        }
        config_set_finish(&points);
        space_destroy(m.space);
    }
}

// --- the nearest point ---

static int distance(const struct space *s, const struct config *a, const struct config *b)
{
    int sum = 0;
    for (int i = 0; i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        sum += param_distance(p, a->slot + p->offset, b->slot + p->offset);
    }
    return sum;
}

static void test_nearest(void **state)
{
    struct rng r;
    (void)state;
    rng_seed(&r, 5);
    for (int n = 0; n < 100; n++) {
        struct made m;
        make(&m, &r, 3000, 9);
        struct config_set points = {.slots = m.space->slots};
        int count = (int)brute_force(m.space, &points);
        struct legal *g = built(m.space);
        for (int k = 0; k < 10; k++) {
            struct config wanted, from, found, other;
            space_sample(m.space, &r, &wanted);
            space_sample(m.space, &r, &from);
            int param = (int)rng_below(&r, (uint64_t)m.space->param_count + 1) - 1;
            const struct param *p = param < 0 ? NULL : &m.space->param[param];
            int least = -1;
            for (int i = 0; i < count; i++) {
                config_set_get(&points, i, &other);
                if (p && !memcmp(other.slot + p->offset, from.slot + p->offset,
                                 (size_t)p->width * sizeof *other.slot))
                    continue;
                int d = distance(m.space, &wanted, &other);
                least = least < 0 || d < least ? d : least;
            }
            found = wanted;
            bool any = legal_nearest(g, &from, param, &found);
            if (p && any && least < 0)
                fail_msg("a point has another value of parameter %d, and none should", param);
            if (!any) // a parameter that no rule reads keeps its wanted value
                assert_true(least < 0 || p);
            if (!any || least < 0)
                continue;
            assert_true(config_set_find(&points, &found) >= 0);
            assert_int_equal(distance(m.space, &wanted, &found), least);
        }
        config_set_finish(&points);
        legal_destroy(g);
        space_destroy(m.space);
    }
}

static void test_values_with_the_others_given(void **state)
{
    struct rng r;
    (void)state;
    rng_seed(&r, 6);
    for (int n = 0; n < 50; n++) {
        struct made m;
        struct config c;
        uint64_t value[64];
        make(&m, &r, 20000, 12);
        struct legal *g = built(m.space);
        space_sample(m.space, &r, &c);
        const struct param *p = &m.space->param[0];
        int count = legal_values(g, &c, 0, 64, value), expected = 0;
        for (uint64_t v = 0; v < p->size; v++) {
            param_value(p, v, c.slot + p->offset);
            if (!is_legal(m.space, &c))
                continue;
            if (expected < 64)
                assert_int_equal(value[expected], v);
            expected++;
        }
        assert_int_equal(count, expected);
        legal_destroy(g);
        space_destroy(m.space);
    }
}

// --- single rules ---

static bool is_empty_with(const struct space *s, const bool *used)
{
    for (uint64_t i = 0; i < s->size; i++) {
        struct config c;
        bool legal = true;
        space_point(s, i, &c);
        for (int k = 0; k < s->constraint_count && legal; k++)
            legal = !used[k] || s->constraint[k].holds(s->constraint[k].context, &c, NULL) > 0;
        if (legal)
            return false;
    }
    return true;
}

static void test_rules_that_exclude_each_other(void **state)
{
    struct rng r;
    int conflicts = 0;
    (void)state;
    rng_seed(&r, 7);
    while (conflicts < 40) {
        struct made m;
        make(&m, &r, 2000, 8);
        struct legal *g = built(m.space);
        if (legal_is_empty(g)) {
            bool needed[2 * MOST_RULES] = {false};
            conflicts++;
            assert_int_equal(legal_rules(g), m.space->constraint_count);
            assert_true(legal_conflict(g, needed));
            assert_true(is_empty_with(m.space, needed));
            for (int i = 0; i < legal_rules(g); i++) {
                if (!needed[i])
                    continue;
                needed[i] = false;
                assert_false(is_empty_with(m.space, needed));
                needed[i] = true;
            }
            assert_true(legal_is_empty(g)); // as before
        }
        legal_destroy(g);
        space_destroy(m.space);
    }
}

static void test_what_a_rule_removes(void **state)
{
    struct rng r;
    (void)state;
    rng_seed(&r, 8);
    for (int n = 0; n < 50; n++) {
        struct made m;
        make(&m, &r, 5000, 12);
        struct legal *g = built(m.space);
        for (int k = 0; k < legal_rules(g); k++) {
            uint64_t removed = 0;
            for (uint64_t i = 0; i < m.space->size; i++) {
                const struct constraint *of = &m.space->constraint[legal_rule_constraint(g, k)];
                struct config c;
                space_point(m.space, i, &c);
                removed += of->holds(of->context, &c, NULL) == 0;
            }
            double share = (double)removed / (double)m.space->size;
            assert_true(fabs(legal_removes(g, k) - share) < 1e-12);
        }
        legal_destroy(g);
        space_destroy(m.space);
    }
}

// --- rules of other kinds ---

// Reads b only for one value of a, which hardly a draw has.
static int rarely_reads(void *context, const struct config *c, struct rule_reads *r, struct err *e)
{
    (void)context;
    (void)e;
    return read_slot(c, 0, r) != 3111 || read_slot(c, 1, r) == 2;
}

static int rarely_reads_plain(void *context, const struct config *c, struct err *e)
{
    return rarely_reads(context, c, NULL, e);
}

static void test_a_rule_turns_out_to_read_more(void **state)
{
    (void)state;
    struct space *s = space_create("rare");
    add_discrete(s, "a", 4096);
    add_discrete(s, "b", 5);
    add_discrete(s, "c", 3);
    space_add_constraint(s, &(struct constraint){.name = "rare",
                                                 .holds = rarely_reads_plain,
                                                 .holds_reading = rarely_reads});
    struct legal *g = built(sealed(s));
    assert_int_equal(legal_count(g), (4095 * 5 + 1) * 3);
    legal_destroy(g);
    space_destroy(s);
}

static int fails_once(void *context, const struct config *c, struct err *e)
{
    const int *guarded = context;
    if (*guarded && c->slot[0] == 7)
        return 0;
    return c->slot[0] == 7 && c->slot[1] == 3 ? (err_set(e, "seven"), FAILS) : 1;
}

static int permits_seven(void *context, const struct config *c, struct err *e)
{
    const int *guarded = context;
    (void)e;
    return !*guarded || c->slot[0] != 7;
}

static void test_errors_of_rules(void **state)
{
    static int guarded;
    static const int never = 0;
    (void)state;
    for (guarded = 0; guarded < 2; guarded++) {
        struct err e;
        struct space *s = space_create("fails");
        add_discrete(s, "a", 200);
        add_discrete(s, "b", 200);
        space_add_constraint(
            s, &(struct constraint){.name = "guard", .context = &guarded, .holds = permits_seven});
        space_add_constraint(s, &(struct constraint){.name = "seven",
                                                     .context = (void *)(uintptr_t)&never,
                                                     .holds = fails_once});
        struct legal *g = legal_create(sealed(s), NULL);
        assert_int_equal(legal_build(g, &e), guarded);
        if (guarded)
            assert_int_equal(legal_count(g), 199 * 200);
        else
            assert_string_equal(e.text, "constraint 'seven': seven");
        legal_destroy(g);
        space_destroy(s);
    }
}

static int alternates(void *context, const struct config *c, struct err *e)
{
    int *calls = context;
    (void)c;
    (void)e;
    return ++*calls % 2;
}

static void test_a_rule_that_is_no_function(void **state)
{
    (void)state;
    int calls = 0;
    struct err e;
    struct space *s = space_create("fickle");
    add_discrete(s, "a", 50);
    space_add_constraint(
        s, &(struct constraint){.name = "dice", .context = &calls, .holds = alternates});
    struct legal *g = legal_create(sealed(s), NULL);
    assert_false(legal_build(g, &e));
    assert_non_null(strstr(e.text, "dice"));
    legal_destroy(g);
    space_destroy(s);
}

static int sums_to(void *context, const struct config *c, struct rule_reads *r, struct err *e)
{
    const struct space *s = context;
    int64_t sum = 0;
    (void)e;
    for (int i = 0; i < s->slots; i++)
        sum += read_slot(c, i, r);
    return sum % 1009 == 5;
}

static int sums_to_plain(void *context, const struct config *c, struct err *e)
{
    return sums_to(context, c, NULL, e);
}

// One in 1009 points is legal, and no graph of them can be built.
static void test_a_rule_over_all(void **state)
{
    (void)state;
    struct space *s = space_create("all");
    bool sparse;
    struct err e;
    for (int i = 0; i < 24; i++) {
        char name[8];
        snprintf(name, sizeof name, "p%d", i);
        add_discrete(s, name, 1000);
    }
    space_add_constraint(
        s, &(struct constraint){
               .name = "sum", .context = s, .holds = sums_to_plain, .holds_reading = sums_to});
    struct legal *g = legal_create(sealed(s), NULL);
    assert_true(legal_is_sparse(g, &sparse, &e));
    assert_true(sparse);
    assert_true(legal_build(g, &e));
    assert_false(legal_is_built(g));
    assert_false(legal_is_empty(g));
    struct config_set seen = {.slots = s->slots};
    struct rng r;
    rng_seed(&r, 9);
    for (int i = 0; i < 50; i++) {
        struct config c;
        assert_true(legal_draw(g, &r, &c));
        assert_true(is_legal(s, &c));
        config_set_add(&seen, &c, NULL);
    }
    assert_true(seen.count > 45);
    config_set_finish(&seen);
    legal_destroy(g);
    space_destroy(s);
}

static void test_conditional_spaces(void **state)
{
    (void)state;
    struct space *s = space_conditional();
    struct legal *g = built(s);
    struct config_set seen = {.slots = s->slots};
    assert_int_equal(legal_count(g), s->size);
    for (uint64_t i = 0; i < s->size; i++) {
        struct config c;
        bool is_new;
        assert_true(legal_point(g, i, &c));
        assert_true(space_is_settled(s, &c));
        config_set_add(&seen, &c, &is_new);
        assert_true(is_new);
    }
    config_set_finish(&seen);
    legal_destroy(g);
    space_destroy(s);
}

static void test_more_points_than_a_word_counts(void **state)
{
    (void)state;
    struct space *s = space_huge();
    struct legal *g = built(s);
    struct str text = {0};
    legal_add_count(g, &text); // no rule: all are legal
    assert_string_equal(str_text(&text), s->size_text);
    assert_true(legal_count(g) == UINT64_MAX);
    str_finish(&text);
    legal_destroy(g);
    space_destroy(s);
}

TEST_GROUP(legal)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_and_points),
        cmocka_unit_test(test_counts_of_larger_spaces),
        cmocka_unit_test(test_draws_are_uniform),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_values_with_the_others_given),
        cmocka_unit_test(test_rules_that_exclude_each_other),
        cmocka_unit_test(test_what_a_rule_removes),
        cmocka_unit_test(test_a_rule_turns_out_to_read_more),
        cmocka_unit_test(test_errors_of_rules),
        cmocka_unit_test(test_a_rule_that_is_no_function),
        cmocka_unit_test(test_a_rule_over_all),
        cmocka_unit_test(test_conditional_spaces),
        cmocka_unit_test(test_more_points_than_a_word_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
