// The filter's language: which trials it accepts and which errors it names. Random expressions are
// compared with a second, plain evaluation.
#include "filter.h"
#include "group.h"

#include "base/rng.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct filter_amounts amounts = {.flop = 1e12, .ms = 1e3, .rate = 5};

static struct space *make_space(void)
{
    static const char *const stages[] = {"direct", "shared", "two words", "say \"so\""};
    static const char *const loops[] = {"n", "m", "k"};
    static const double pads[] = {0, 0.5, 8};
    static const double tiles[] = {32, 64, 128};
    struct space *s = space_create("test");
    struct param p;
    assert_true(param_discrete(&p, &s->arena, "tm", 3, tiles, NULL) && space_add(s, &p, NULL));
    assert_true(param_discrete(&p, &s->arena, "pad", 3, pads, NULL) && space_add(s, &p, NULL));
    assert_true(param_categorical(&p, &s->arena, "stage_a", 4, stages, NULL) &&
                space_add(s, &p, NULL));
    assert_true(param_categorical(&p, &s->arena, "stage_b", 4, stages, NULL) &&
                space_add(s, &p, NULL));
    assert_true(param_factorization(&p, &s->arena, "tile_k", 64, 3, NULL) &&
                space_add(s, &p, NULL));
    assert_true(param_permutation(&p, &s->arena, "order", 3, loops, NULL) &&
                space_add(s, &p, NULL));
    assert_true(space_seal(s, NULL));
    return s;
}

static struct trial make_trial(const struct space *s, uint64_t point)
{
    struct trial t = {.ask = 7,
                      .number = 5,
                      .told = 6,
                      .generation = 2,
                      .worker = 1,
                      .outcome = OUTCOME_OK,
                      .seconds = 0.0242,
                      .samples = 9,
                      .spread = 0.026,
                      .statistic = {[STATISTIC_REGISTERS] = 96,
                                    [STATISTIC_SPILLS] = 3,
                                    [STATISTIC_OCCUPANCY] = 8,
                                    [STATISTIC_SHARED] = NAN,
                                    [STATISTIC_CODE_SIZE] = NAN},
                      .has_config = true};
    space_point(s, point, &t.config);
    return t;
}

static int setup(void **state)
{
    *state = make_space();
    return 0;
}

static int teardown(void **state)
{
    space_destroy(*state);
    return 0;
}

static bool accepts(const struct space *s, const char *text, const struct trial *t)
{
    struct err e = {0};
    struct filter *f = filter_compile(text, s, &amounts, &e);
    if (!f)
        fail_msg("'%s': %s", text, e.text);
    bool accepted = filter_accepts(f, t);
    filter_destroy(f);
    return accepted;
}

#define YES(text) assert_true(accepts(s, text, &t))
#define NO(text)  assert_false(accepts(s, text, &t))

static void set(const struct space *s, struct trial *t, const char *name, int32_t value)
{
    t->config.slot[space_find(s, name)->offset] = value;
}

static void parameters_are_compared(void **state)
{
    const struct space *s = *state;
    struct trial t = make_trial(s, 0);
    set(s, &t, "tm", 2);
    set(s, &t, "pad", 1);
    set(s, &t, "stage_a", 1);
    YES("tm=128"), YES("tm==128"), YES("TM = 128"), NO("tm!=128"), YES("tm>64"), NO("tm<128");
    YES("tm<=128"), YES("tm>=128"), NO("tm>128"), YES("tm~12"), NO("tm~3"), YES("tm:128"),
        NO("tm:12");
    YES("pad=.5"), YES("pad=5e-1"), YES("pad!=0"), YES("pad<8"), YES("pad~.5");
    YES("stage_a=shared"), NO("stage_a!=shared"), YES("stage_a~HAR"), YES("stage_a:har"),
        YES("stage_b=direct");
    YES("p=.5"); // a parameter before fields that begin alike
    struct trial unknown = t;
    unknown.has_config = false;
    assert_false(accepts(s, "tm=128", &unknown));
    assert_false(accepts(s, "tile_k!=1,1,64", &unknown));
    assert_false(accepts(s, "tile_k[1]>0", &unknown));
}

static void quoted_values_hold_anything(void **state)
{
    const struct space *s = *state;
    struct trial t = make_trial(s, 0);
    set(s, &t, "stage_a", 2);
    set(s, &t, "stage_b", 3);
    YES("stage_a=\"two words\""), YES("stage_b=\"say \\\"so\\\"\""), NO("stage_b=\"two words\"");
    snprintf(t.reason, sizeof t.reason, "shared memory 49152 bytes > 32768, a\\b (c)");
    YES("reason~\"SHARED memory\""), NO("not reason~\"shared memory\""), NO("reason=shared");
    YES("reason~\"> 32768\""), YES("reason~\"a\\\\b (c)\""), YES("reason~a\\b"), NO("phase~x");
    YES("reason!=other"), NO("phase!=other"); // no phase: nothing holds of it
    YES("reason~\"\""), NO("phase~\"\"");
}

static void parts_and_lists_are_compared(void **state)
{
    const struct space *s = *state;
    struct trial t = make_trial(s, 0);
    int32_t *k = t.config.slot + space_find(s, "tile_k")->offset;
    int32_t *o = t.config.slot + space_find(s, "order")->offset;
    k[0] = 16, k[1] = 4, k[2] = 1;
    o[0] = 2, o[1] = 0, o[2] = 1;
    YES("tile_k[2]>=4"), YES("tile_k.1=16"), YES("ti[3]<2"), NO("tile_k[2]!=4"), NO("tile_k.3>1");
    YES("tile_k=16,4,1"), YES("tile_k=[16,4,1]"), NO("tile_k!=16,4,1"), NO("tile_k=4,16,1");
    YES("tile_k~6,4"), NO("tile_k~4,4");
    YES("order=k,n,m"), YES("order[1]=k"), NO("order.3!=m"), YES("order~n,m"), YES("or.2=n");
}

static void measures_are_equal_to_what_they_round_to(void **state)
{
    const struct space *s = *state;
    struct trial t = make_trial(s, 0); // 41.322 TFLOPS, 24.2 ms
    YES("tflops=41.3"), YES("tflops=41"), NO("tflops=41.4"), NO("tflops=41.30"), YES("tfl>41.3");
    YES("rate=206.6"), YES("rate>206"), NO("rate<206"); // in a unit of their own
    YES("gflops=41.3e3"), YES("gflops>41000"), YES("ms=24.2"), YES("ms<=24.3"), YES("ms!=25");
    YES("spread=1.3"), YES("spread<2"), YES("number=5 ask=7 generation=2 worker=1");
    YES("spills>0 registers=96 occ<=8"), YES(".reg=96 .spills>0"), NO("spills=0"),
        NO("registers>96");
    NO("shared>=0"), NO("code_size!=1"), YES("not shared>=0"); // without a statistic
    NO("number=5.2"), YES("number<5.2");
}

static void what_a_trial_has_not_matches_nothing(void **state)
{
    const struct space *s = *state;
    struct trial t = make_trial(s, 0);
    t.outcome = OUTCOME_REJECTED;
    t.seconds = t.spread = 0;
    t.number = 0;
    t.samples = 0;
    NO("tflops<100"), NO("tflops!=3"), YES("not tflops>30"), NO("number<10"), NO("number!=3");
    NO("spread<1"), YES("outcome=rejected"), NO("early"), YES("early=no"), YES("not early");
    NO("failed"), YES("failed=no"); // it was not measured
    t.outcome = OUTCOME_WRONG;
    YES("failed"), NO("not failed"), YES("fai=yes tile_k[1]>0");
    t.outcome = OUTCOME_OK;
    NO("failed");
    t.told = 0;
    NO("failed"), NO("failed=no");
    NO("outcome=rejected"), NO("outcome!=rejected"), NO("early=no");
}

static void parents_are_any_of_the_origins(void **state)
{
    const struct space *s = *state;
    struct trial t = make_trial(s, 0);
    NO("parent=3"), NO("parent!=3"), NO("parent>0");
    t.has_origin = true;
    t.origin[0] = 3;
    t.origin[4] = 12;
    YES("parent=3"), YES("parent=12"), YES("parent>10"), NO("parent!=3"), YES("parent!=4");
    NO("parent=0"), NO("parent<3");
}

static void outcomes_and_logic(void **state)
{
    const struct space *s = *state;
    struct trial t = make_trial(s, 0);
    t.early_stopped = true;
    YES(""), YES("  "), YES("outcome=ok"), YES("out!=wrong"), YES("outcome:o"), YES("early");
    NO("outcome=wrong outcome=ok"), YES("outcome=wrong or outcome=ok");
    YES("outcome=ok or outcome=ok outcome=wrong"), NO("(outcome=ok or outcome=ok) outcome=wrong");
    YES("not outcome=wrong and early"), NO("not (outcome=wrong or early)"), YES("not not early");
    YES("early=yes early(outcome=ok)early");
}

static void rejected_ones_are_asked_for(void **state)
{
    static const struct {
        const char *text;
        bool asks;
    } cases[] = {{"", false},
                 {"outcome=rejected", true},
                 {"outcome!=ok", false},
                 {"outcome:ject", true},
                 {"not outcome=rejected", false},
                 {"tm=64", false},
                 {"tm=64 (early or outcome=rejected)", true},
                 {"not not outcome=rejected", true},
                 {"reason~memory", true},
                 {"not reason~memory", false},
                 {"outcome=ok", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct filter *f = filter_compile(cases[i].text, *state, &amounts, NULL);
        assert_non_null(f);
        assert_int_equal(filter_asks_rejected(f), cases[i].asks);
        assert_int_equal(filter_is_empty(f), i == 0);
        filter_destroy(f);
    }
}

static void complaints_name_column_and_remedy(void **state)
{
    static const struct {
        const char *text, *complaint;
    } cases[] = {
        {"tm=128 tiel_k=3", "column 8: unknown name 'tiel_k' (did you mean 'tile_k'?)"},
        {"outcom=ok stage=direct", "column 11: 'stage' may be 'stage_a' or 'stage_b'"},
        {"stage_a=sharde", "column 9: it is never 'sharde' (did you mean 'shared'?)"},
        {"outcome=rejectd", "column 9: it is never 'rejectd' (did you mean 'rejected'?)"},
        {"reason~\"ü\" tm=x", "column 15: 'tm' is a number, not 'x'"},
        {"tm", "column 1: 'tm' needs = != < <= > >= : or ~ and a value after it"},
        {"early rejected", "column 7: 'rejected' is an outcome: outcome=rejected"},
        {"tm=", "column 4: a value belongs here"},
        {"tm=1 or", "column 8: something is missing here"},
        {"not", "column 4: something is missing here"},
        {"(tm=1", "column 1: this '(' is never closed"},
        {"tm=1)", "column 5: ')' without a '('"},
        {"()", "column 2: a term is missing before ')'"},
        {"reason~\"open", "column 8: the closing '\"' is missing"},
        {"\"tm\"=1", "column 1: a name belongs here, without quotes"},
        {"early \"tm\"", "column 7: a name belongs here, without quotes"},
        {"=3", "column 1: a name belongs here"},
        {"!early", "column 1: a name belongs here"},
        {"stage_a<shared", "column 9: 'stage_a' is a word: it takes : = !=, not < >"},
        {"reason>x", "column 8: 'reason' is a text: it takes : = !=, not < >"},
        {"tflops~4", "column 8: ~ looks for words, 'tflops' is a number"},
        {"tile_k[4]=1", "column 1: 'tile_k' has parts tile_k[1] to tile_k[3]"},
        {"tile_k[=1", "column 1: 'tile_k' has parts tile_k[1] to tile_k[3]"},
        {"tm[1]=1", "column 1: 'tm' has no parts"},
        {"ms.1=1", "column 1: 'ms' has no parts"},
        {"tile_k=16,4", "column 8: it is never '16,4', but "},
        {"tile_k=16,4,2", "column 8: it is never '16,4,2', but "},
        {"tile_k=16,4,1,", "column 8: it is never '16,4,1,', but "},
        {"order=n,m,n", "column 7: it is never 'n,m,n', but "},
        {"tile_k<3",
         "column 8: lists are compared with =, !=, : or ~; tile_k[1] is the first part"},
        {"zzzzzz=1", "column 1: unknown name 'zzzzzz'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err e = {0};
        assert_null(filter_compile(cases[i].text, *state, &amounts, &e));
        if (strncmp(e.text, cases[i].complaint, strlen(cases[i].complaint)) != 0)
            fail_msg("'%s': %s", cases[i].text, e.text);
    }
}

static void without_a_space_fields_are_known(void **state)
{
    const struct space *s = *state;
    struct trial t = make_trial(s, 0);
    assert_true(accepts(NULL, "tflops>1 number=5", &t));
    assert_null(filter_compile("tm=128", NULL, &amounts, NULL));
}

static void long_and_deep_texts_are_refused(void **state)
{
    struct str text = {0};
    struct err e = {0};
    for (int i = 0; i < 100; i++)
        str_add(&text, "(not ");
    assert_null(filter_compile(str_text(&text), *state, &amounts, &e));
    assert_non_null(strstr(e.text, "too many parentheses"));
    text.length = 0;
    for (int i = 0; i < 2000; i++)
        str_add(&text, "early ");
    assert_null(filter_compile(str_text(&text), *state, &amounts, &e));
    assert_non_null(strstr(e.text, "too long"));
    str_finish(&text);
}

// --- random expressions, evaluated twice ---

// Appends a random term with or without blanks. Returns true when it holds of `t`.
static bool random_term(struct rng *r, const struct space *s, const struct trial *t,
                        struct str *out)
{
    static const char *const ops[] = {"=", "!=", "<", "<=", ">", ">="};
    const double *tiles = space_find(s, "tm")->number;
    const int32_t *slot = t->config.slot;
    double has = 0, value = 0;
    switch (rng_below(r, 5)) {
    case 0:
        has = tiles[slot[space_find(s, "tm")->offset]];
        value = tiles[rng_below(r, 3)];
        str_add(out, "tm");
        break;
    case 1:
        has = slot[space_find(s, "tile_k")->offset + 1];
        value = (double)(1 << rng_below(r, 7));
        str_add(out, "tile_k[2]");
        break;
    case 2:
        has = (double)t->ask;
        value = (double)rng_below(r, 20);
        str_add(out, "ask");
        break;
    case 3:
        has = t->seconds > 0 ? t->seconds * 1e3 : NAN;
        value = (double)rng_below(r, 40) + 0.25;
        str_add(out, "ms");
        break;
    default: {
        int want = (int)rng_below(r, OUTCOME_COUNT);
        bool equal = rng_below(r, 2) == 0;
        str_printf(out, "outcome%s%s", equal ? "=" : " != ", outcome_name((enum outcome)want));
        return ((int)t->outcome == want) == equal;
    }
    }
    int op = (int)rng_below(r, 6);
    str_printf(out, "%s%s%s%g", rng_below(r, 2) ? " " : "", ops[op], rng_below(r, 2) ? " " : "",
               value);
    bool close = fabs(has - value) < 0.005; // "%g" of quarters has two decimals
    bool results[] = {close, !isnan(has) && !close, has<value, has <= value, has> value,
                      has >= value};
    return results[op];
}

static bool random_expression(struct rng *r, const struct space *s, const struct trial *t,
                              int depth, struct str *out)
{
    uint64_t kind = depth == 0 ? 0 : rng_below(r, 4);
    if (kind == 0)
        return random_term(r, s, t, out);
    if (kind == 1) {
        str_add(out, "not (");
        bool inside = random_expression(r, s, t, depth - 1, out);
        str_add(out, " )");
        return !inside;
    }
    static const char *const joins[] = {") or (", ") and (", ") (", ")("};
    uint64_t join = rng_below(r, 4);
    str_add(out, "(");
    bool left = random_expression(r, s, t, depth - 1, out);
    str_add(out, joins[join]);
    bool right = random_expression(r, s, t, depth - 1, out);
    str_add(out, ")");
    return join == 0 ? left || right : left && right;
}

static void random_expressions_agree_with_plain_evaluation(void **state)
{
    const struct space *s = *state;
    struct rng r;
    rng_seed(&r, 1);
    int accepted = 0;
    for (int i = 0; i < 20000; i++) {
        struct trial t = make_trial(s, rng_below(&r, s->size));
        t.outcome = (enum outcome)rng_below(&r, OUTCOME_COUNT);
        t.seconds = t.outcome == OUTCOME_OK ? 1e-3 * (double)rng_below(&r, 40) + 1e-4 : 0;
        t.ask = (int64_t)rng_below(&r, 20);
        struct str text = {0};
        bool expected = random_expression(&r, s, &t, 3, &text);
        if (accepts(s, str_text(&text), &t) != expected)
            fail_msg("'%s' is not %d", str_text(&text), expected);
        accepted += expected;
        str_finish(&text);
    }
    assert_in_range(accepted, 4000, 16000); // else there was little to tell apart
}

static void random_texts_are_judged(void **state)
{
    static const char *const pieces[] = {
        "tm",    "tile_k", "[2]",   ".",     "=",       "!=",       "<",  ">=",  "~",
        ":",     "(",      ")",     "\"",    " ",       "not",      "or", "and", "128",
        "\\",    "ü",      "\xff",  "early", "outcome", "ok",       "!",  ",",   "16,4,1",
        "order", "-1e9",   "1e999", "[",     "]",       "order[1]", "\t"};
    struct rng r;
    rng_seed(&r, 3);
    struct trial t = make_trial(*state, 0);
    int compiled = 0;
    for (int i = 0; i < 50000; i++) {
        struct str text = {0};
        for (uint64_t k = rng_below(&r, 12) + 1; k > 0; k--)
            str_add(&text, pieces[rng_below(&r, sizeof pieces / sizeof *pieces)]);
        struct err e = {0};
        struct filter *f = filter_compile(str_text(&text), *state, &amounts, &e);
        assert_true(f || strncmp(e.text, "column ", 7) == 0);
        if (f)
            filter_accepts(f, &t);
        compiled += f != NULL;
        filter_destroy(f);
        str_finish(&text);
    }
    assert_true(compiled > 100);
}

TEST_GROUP(filter)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_compared),
        cmocka_unit_test(quoted_values_hold_anything),
        cmocka_unit_test(parts_and_lists_are_compared),
        cmocka_unit_test(measures_are_equal_to_what_they_round_to),
        cmocka_unit_test(what_a_trial_has_not_matches_nothing),
        cmocka_unit_test(parents_are_any_of_the_origins),
        cmocka_unit_test(outcomes_and_logic),
        cmocka_unit_test(rejected_ones_are_asked_for),
        cmocka_unit_test(complaints_name_column_and_remedy),
        cmocka_unit_test(without_a_space_fields_are_known),
        cmocka_unit_test(long_and_deep_texts_are_refused),
        cmocka_unit_test(random_expressions_agree_with_plain_evaluation),
        cmocka_unit_test(random_texts_are_judged),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
