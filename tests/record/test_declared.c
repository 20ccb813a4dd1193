// Puts recordings on declared spaces: parameters and values are matched.
#include "group.h"
#include "help.h"
#include "record/record.h"
#include "wording.h"

#include "base/str.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEAD "{\"format\":\"tilewalk-recording\",\"version\":1,\"unit\":\"s\",\"params\":["

// A recording of one entry, of one second. Its own space serves wherever one is needed.
static struct recording *record(const char *params, const char *config)
{
    struct str text = {0};
    str_printf(&text, HEAD "%s],\"entries\":[{\"config\":%s,\"outcome\":\"ok\",\"seconds\":1}]}",
               params, config);
    struct recording *r = must_read("x.json", str_text(&text));
    str_finish(&text);
    return r;
}

static void assert_becomes(struct recording *from, struct recording *like, const char *json)
{
    struct recording *r;
    struct record_fit fit;
    struct config c;
    struct str text = {0};
    struct err e;
    if (!recording_declare(from, like->space, &r, &fit, &e))
        fail_msg("%s", e.text);
    assert_int_equal(r->count, from->count);
    config_set_get(&r->configs, 0, &c);
    config_add_json(r->space, &c, &text);
    assert_string_equal(str_text(&text), json);
    str_finish(&text);
    recording_destroy(r);
    recording_destroy(from);
    recording_destroy(like);
}

static void assert_refuses(struct recording *from, struct recording *like, const char *part)
{
    struct recording *r;
    struct record_fit fit;
    struct err e;
    assert_false(recording_declare(from, like->space, &r, &fit, &e));
    wording_is("record", part, e.text);
    assert_non_null(strstr(e.file, "x.json"));
    recording_destroy(from);
    recording_destroy(like);
}

#define LADDER(name, values) "{\"name\":\"" name "\",\"kind\":\"discrete\",\"values\":[" values "]}"
#define WORDS(name, values)                                                                        \
    "{\"name\":\"" name "\",\"kind\":\"categorical\",\"values\":[" values "]}"
#define ORDER(name, items) "{\"name\":\"" name "\",\"kind\":\"permutation\",\"items\":[" items "]}"
#define FACTORS(name, product, parts)                                                              \
    "{\"name\":\"" name "\",\"kind\":\"factorization\",\"product\":" product ",\"parts\":" parts "}"

static void values_are_matched_by_content(void **state)
{
    (void)state;
    assert_becomes(record(LADDER("x", "1,2,4"), "[4]"), record(LADDER("x", "0.5,4.0,8"), "[8]"),
                   "{\"x\":4}");
    assert_becomes(record(WORDS("x", "\"a\",\"b\""), "[\"b\"]"),
                   record(WORDS("x", "\"b\",\"c\""), "[\"c\"]"), "{\"x\":\"b\"}");
    assert_becomes(record(ORDER("x", "\"n\",\"m\",\"k\""), "[[\"k\",\"n\",\"m\"]]"),
                   record(ORDER("x", "\"m\",\"k\",\"n\""), "[[\"m\",\"k\",\"n\"]]"),
                   "{\"x\":[\"k\",\"n\",\"m\"]}");
    assert_becomes(record(FACTORS("x", "8", "3"), "[[2,1,4]]"),
                   record(FACTORS("x", "8", "3"), "[[8,1,1]]"), "{\"x\":[2,1,4]}");
    assert_refuses(record(LADDER("x", "16,2"), "[16]"),
                   record(WORDS("x", "\"16\",\"2\""), "[\"2\"]"), "declared: 16");
}

static void lists_are_made_of_numbered_parts(void **state)
{
    (void)state;
    assert_becomes(record(LADDER("t_0", "1,2,4") "," LADDER("t_1", "1,2,4"), "[4,2]"),
                   record(FACTORS("t", "8", "2"), "[[8,1]]"), "{\"t\":[4,2]}");
    assert_becomes(record(LADDER("t_2", "1,2,4") "," LADDER("t_1", "1,2,4"), "[4,2]"),
                   record(FACTORS("t", "8", "2"), "[[8,1]]"), "{\"t\":[2,4]}");
    assert_becomes(record(LADDER("t[1]", "1,2,4") "," LADDER("t[0]", "1,2,4"), "[4,2]"),
                   record(FACTORS("t", "8", "2"), "[[8,1]]"), "{\"t\":[2,4]}");
    assert_becomes(
        record(WORDS("o[1]", "\"n\",\"m\"") "," WORDS("o[2]", "\"n\",\"m\""), "[\"m\",\"n\"]"),
        record(ORDER("o", "\"n\",\"m\""), "[[\"n\",\"m\"]]"), "{\"o\":[\"m\",\"n\"]}");
    assert_refuses(record(LADDER("t_0", "1,2,4") "," LADDER("t_2", "1,2,4"), "[4,2]"),
                   record(FACTORS("t", "8", "2"), "[[8,1]]"), "declared: part t_1");
    assert_refuses(
        record(WORDS("o_0", "\"n\",\"m\"") "," WORDS("o_1", "\"n\",\"m\""), "[\"m\",\"m\"]"),
        record(ORDER("o", "\"n\",\"m\""), "[[\"n\",\"m\"]]"), "declared: m,m");
}

static void unmatched_parameters_are_constant(void **state)
{
    (void)state;
    assert_becomes(record(LADDER("c", "90") "," LADDER("x", "1,2"), "[90,2]"),
                   record(LADDER("x", "1,2,3") "," FACTORS("one", "1", "2"), "[1,[1,1]]"),
                   "{\"x\":2,\"one\":[1,1]}");
    assert_refuses(record(LADDER("x", "1,2") "," LADDER("blokc", "1,2"), "[2,1]"),
                   record(LADDER("x", "1,2"), "[1]"), "declared: more");
    assert_refuses(record(LADDER("x", "1,2") "," LADDER("blokc", "1,2"), "[2,1]"),
                   record(LADDER("x", "1,2") "," LADDER("block", "1,2"), "[1,1]"),
                   "declared: block");
    // The message suggests a declared constant of a similar name.
    assert_refuses(record(LADDER("blokc", "1,2"), "[2]"), record(LADDER("block", "1"), "[1]"),
                   "declared: blokc");
}

static void lists_have_the_same_length(void **state)
{
    (void)state;
    assert_refuses(record(FACTORS("x", "8", "3"), "[[2,1,4]]"),
                   record(FACTORS("x", "8", "2"), "[[8,1]]"), "declared: three");
    assert_refuses(record(FACTORS("x", "8", "3"), "[[2,1,4]]"),
                   record(FACTORS("x", "16", "3"), "[[16,1,1]]"), "declared: 2,1,4");
}

static int is_even(void *context, const struct config *c, struct err *e)
{
    (void)context;
    (void)e;
    return c->slot[0] % 2 == 0;
}

static int fails(void *context, const struct config *c, struct err *e)
{
    (void)context;
    (void)c;
    return err_set(e, "the rule is wrong") - 1;
}

static bool declare_with(const struct recording *from,
                         int (*holds)(void *, const struct config *, struct err *),
                         struct recording **out, struct record_fit *fit, struct err *e)
{
    static const double values[] = {1, 2, 3, 4};
    struct space *s = space_create("ruled");
    struct param p;
    assert_true(param_discrete(&p, &s->arena, "x", 4, values, e) && space_add(s, &p, e));
    space_add_constraint(s, &(struct constraint){.name = "even", .file = "f", .holds = holds});
    assert_true(space_seal(s, e));
    bool ok = recording_declare(from, s, out, fit, e);
    space_destroy(s);
    return ok;
}

static void the_recording_wins_over_constraints(void **state)
{
    (void)state;
    struct recording *r,
        *from = must_read(
            "x.json",
            HEAD LADDER("x", "1,2,3,4") "],\"entries\":["
                                        "{\"config\":[1],\"outcome\":\"ok\",\"seconds\":3,\"runs\":"
                                        "[2,4],\"compile_s\":5},"
                                        "{\"config\":[2],\"outcome\":\"ok\",\"seconds\":2},"
                                        "{\"config\":[4],\"outcome\":\"crash\"}]}");
    struct record_fit fit;
    struct err e;
    assert_true(declare_with(from, is_even, &r, &fit, &e));
    assert_int_equal(fit.forbidden, 1); // 2, not the failed 4
    assert_int_equal(fit.first, 1);
    assert_string_equal(fit.reason, "constraint 'even'");
    assert_int_equal(r->count, 3);
    assert_int_equal(r->best, 1);
    assert_int_equal(r->outcomes[OUTCOME_CRASH], 1);
    recording_destroy(r);
    assert_false(declare_with(from, fails, &r, &fit, &e));
    assert_non_null(strstr(e.text, "the rule is wrong"));
    recording_destroy(from);
}

static void entries_stay_as_they_were(void **state)
{
    (void)state;
    struct recording *from = must_read(
        "x.json", HEAD LADDER("x", "1,2,3,4") "],\"kernel\":\"k\",\"device\":\"d\",\"entries\":["
                                              "{\"config\":[3],\"outcome\":\"ok\",\"seconds\":3,"
                                              "\"runs\":[2,4],\"compile_s\":5}]}");
    struct recording *r;
    struct record_fit fit;
    struct err e;
    assert_true(declare_with(from, is_even, &r, &fit, &e));
    recording_destroy(from); // nothing of it is needed
    assert_int_equal(fit.forbidden, 0);
    const struct record_entry *entry = entry_at(r, "2");
    assert_true(entry->seconds == 3 && entry->compile_s == 5 && isnan(entry->benchmark_s));
    assert_int_equal(entry->run_count, 2);
    assert_true(entry->runs[0] == 2 && entry->runs[1] == 4);
    assert_string_equal(r->kernel, "k");
    assert_string_equal(r->device, "d");
    assert_string_equal(r->name, "x");
    recording_destroy(r);
}

TEST_GROUP(declared)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_matched_by_content),
        cmocka_unit_test(lists_are_made_of_numbered_parts),
        cmocka_unit_test(unmatched_parameters_are_constant),
        cmocka_unit_test(lists_have_the_same_length),
        cmocka_unit_test(the_recording_wins_over_constraints),
        cmocka_unit_test(entries_stay_as_they_were),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
