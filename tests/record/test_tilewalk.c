// Our own format: every kind of parameter comes back as it was, and so does every entry.
#include "group.h"
#include "help.h"
#include "wording.h"

#include "base/file.h"
#include "record/record.h"

#include <math.h>
#include <string.h>

static const char *const items[] = {"n", "m", "k"}, *const labels[] = {"shared", "\"none\""};
static const double ladder[] = {1, 0.1, 4}, loose[] = {8, 1, 2};

static bool in_a_row(void *context, int i, int j)
{
    (void)context;
    return abs(i - j) == 1;
}

static void must(bool ok, const struct err *e)
{
    if (!ok)
        fail_msg("%s", e->text);
}

// A space with all five kinds of parameters.
static struct space *make_space(void)
{
    struct space *s = space_create("all");
    struct param p;
    struct err e;
    must(param_factorization(&p, &s->arena, "tile", 12, 3, &e) && space_add(s, &p, &e), &e);
    must(param_permutation(&p, &s->arena, "order", 3, items, &e) && space_add(s, &p, &e), &e);
    must(param_discrete(&p, &s->arena, "ladder", 3, ladder, &e) && space_add(s, &p, &e), &e);
    must(param_categorical(&p, &s->arena, "stage", 2, labels, &e) && space_add(s, &p, &e), &e);
    must(param_custom(&p, &s->arena, "loose",
                      &(struct custom_graph){3, loose, NULL, in_a_row, NULL}, &e) &&
             space_add(s, &p, &e),
         &e);
    must(param_custom(&p, &s->arena, "named",
                      &(struct custom_graph){3, NULL, items, in_a_row, NULL}, &e) &&
             space_add(s, &p, &e),
         &e);
    must(space_seal(s, &e), &e);
    return s;
}

static struct recording *make_recording(const struct space *like)
{
    const double runs[] = {0.5, 0.1};
    struct recording *r = recording_create("a/made.json", "tilewalk");
    struct err e;
    r->device = "Card \"7\"";
    r->flop = 1e20 / 3;
    must(recording_add_params(r, like, &e) && recording_seal_space(r, &e), &e);
    for (uint64_t i = 0; i < like->size; i += 7) {
        struct config c;
        enum outcome o = i ? (enum outcome)(i / 7 % OUTCOME_COUNT) : OUTCOME_OK;
        struct record_entry entry = {.outcome = o, .compile_s = 1.0 / 3, .benchmark_s = NAN};
        bool was_new;
        if (o == OUTCOME_OK) {
            entry.seconds = 0.1 + 1e-9 * (double)i;
            entry.runs = runs;
            entry.run_count = (int)(i % 3);
        }
        space_point(like, i, &c);
        recording_add(r, &c, &entry, &was_new);
        assert_true(was_new);
        recording_add(r, &c, &entry, &was_new);
        assert_false(was_new);
    }
    must(recording_finish(r, &e), &e);
    return r;
}

static void assert_same_params(const struct space *a, const struct space *b)
{
    assert_int_equal(a->param_count, b->param_count);
    for (int i = 0; i < a->param_count; i++) {
        const struct param *p = &a->param[i], *q = &b->param[i];
        assert_string_equal(p->name, q->name);
        assert_int_equal(p->kind, q->kind);
        assert_int_equal(p->size, q->size);
    }
    for (uint64_t i = 0; i < a->size; i += 5) { // neighbours distinguish topologies
        struct config c, d, there;
        space_point(a, i, &c);
        space_point(b, i, &d);
        assert_true(config_equal(&c, &d));
        assert_int_equal(space_degree(a, &c), space_degree(b, &d));
        for (int k = 0; k < space_degree(a, &c); k++) {
            space_neighbour(a, &c, k, &there);
            space_neighbour(b, &c, k, &d);
            assert_true(config_equal(&there, &d));
        }
    }
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void test_round_trip(void **state)
{
    struct space *like = make_space();
    struct recording *made = make_recording(like), *read = NULL;
    const char *path = put_file("own.json", "", 0);
    struct err e;
    (void)state;
    must(recording_write(made, "tilewalk", path, &e), &e);
    must(recording_read(path, &read, &e), &e);
    assert_string_equal(read->name, "made");
    assert_string_equal(read->device, "Card \"7\"");
    assert_same_params(like, read->space);
    assert_int_equal(made->count, read->count);
    assert_int_equal(made->best, read->best);
    assert_true(made->median == read->median && made->flop == read->flop);
    for (int i = 0; i < made->count; i++) {
        const struct record_entry *a = &made->entry[i], *b = &read->entry[i];
        struct config c, d;
        config_set_get(&made->configs, i, &c);
        config_set_get(&read->configs, i, &d);
        assert_true(config_equal(&c, &d));
        assert_int_equal(a->outcome, b->outcome);
        assert_true(a->seconds == b->seconds);
        assert_true(same(a->compile_s, b->compile_s) && same(a->benchmark_s, b->benchmark_s));
        assert_int_equal(a->run_count, b->run_count);
        for (int k = 0; k < a->run_count; k++)
            assert_true(a->runs[k] == b->runs[k]);
    }
    recording_destroy(read);
    recording_destroy(made);
    space_destroy(like);
}

// The outcome as the formats of others have it.
static enum outcome told(enum outcome o, bool has_wrong)
{
    if (o == OUTCOME_DRIVER)
        return OUTCOME_COMPILE;
    if (o == OUTCOME_LOST || (!has_wrong && (o == OUTCOME_WRONG || o == OUTCOME_TIMEOUT)))
        return OUTCOME_CRASH;
    return o;
}

static void assert_near(double a, double b)
{
    assert_true(same(a, b) || fabs(a - b) <= 1e-14 * fabs(a));
}

// Puts a recording back on the space that it came from, as `import --space` does.
static void check_written_as(const char *format, bool has_wrong)
{
    struct space *like = make_space();
    struct recording *made = make_recording(like), *read = NULL, *back = NULL;
    const char *path = put_file("theirs.json", "", 0);
    struct record_fit fit;
    struct err e;
    must(recording_write(made, format, path, &e), &e);
    must(recording_read(path, &read, &e), &e);
    assert_string_equal(read->format, format);
    assert_int_equal(read->space->param_count, 3 + 3 + 4);
    must(recording_declare(read, like, &back, &fit, &e), &e);
    assert_int_equal(made->count, back->count);
    for (int i = 0; i < made->count; i++) {
        struct config c;
        config_set_get(&made->configs, i, &c);
        const struct record_entry *a = &made->entry[i], *b = recording_find(back, &c);
        assert_non_null(b);
        assert_int_equal(told(a->outcome, has_wrong), b->outcome);
        assert_near(a->seconds, b->seconds);
        assert_near(a->compile_s, b->compile_s);
        assert_int_equal(a->run_count, b->run_count);
        for (int k = 0; k < a->run_count; k++)
            assert_near(a->runs[k], b->runs[k]);
    }
    recording_destroy(back);
    recording_destroy(read);
    recording_destroy(made);
    space_destroy(like);
}

static void test_written_for_others(void **state)
{
    (void)state;
    check_written_as("kernel-tuner", false);
    check_written_as("t4", true);
}

static void test_not_written(void **state)
{
    struct space *like = make_space();
    struct recording *made = make_recording(like);
    const char *path = put_file("none.json", "", 0);
    struct err e;
    (void)state;
    assert_false(recording_write(made, "ktt", path, &e));
    wording_is("record", "tilewalk: format", e.text);
    made->unit = "s/GFLOP";
    assert_false(recording_write(made, "t4", path, &e));
    wording_is("record", "tilewalk: unit", e.text);
    recording_destroy(made);
    space_destroy(like);
}

static void test_names_collide(void **state)
{
    struct space *like = space_create("s");
    struct recording *r = recording_create("twice.json", "tilewalk");
    struct config c = {0};
    bool was_new;
    struct param p;
    struct err e;
    (void)state;
    must(param_factorization(&p, &like->arena, "tile", 4, 2, &e) && space_add(like, &p, &e), &e);
    must(param_discrete(&p, &like->arena, "tile_1", 3, ladder, &e) && space_add(like, &p, &e), &e);
    must(space_seal(like, &e), &e);
    must(recording_add_params(r, like, &e) && recording_seal_space(r, &e), &e);
    space_point(like, 0, &c);
    recording_add(r, &c, &(struct record_entry){.seconds = 1}, &was_new);
    must(recording_finish(r, &e), &e);
    assert_false(recording_write(r, "t4", put_file("none.json", "", 0), &e));
    wording_is("record", "tilewalk: part", e.text);
    recording_destroy(r);
    space_destroy(like);
}

static void test_median_and_best(void **state)
{
    static const double seconds[] = {4, 1, 3, 1};
    const double values[] = {1, 2, 3, 4};
    struct space *s = space_create("s");
    struct param p;
    struct err e;
    (void)state;
    must(param_discrete(&p, &s->arena, "x", 4, values, &e) && space_add(s, &p, &e), &e);
    for (int n = 1; n <= 4; n++) {
        static const double median[] = {4, 2.5, 3, 2};
        struct recording *r = recording_create("r.json", "tilewalk");
        must(recording_add_params(r, s, &e) && recording_seal_space(r, &e), &e);
        for (int i = 0; i < n; i++) {
            bool was_new;
            struct config c = {.slot = {i}};
            struct record_entry entry = {.seconds = seconds[i]};
            recording_add(r, &c, &entry, &was_new);
        }
        must(recording_finish(r, &e), &e);
        assert_true(r->median == median[n - 1]);
        assert_int_equal(r->best, n > 1); // the first of several
        recording_destroy(r);
    }
    space_destroy(s);
}

#define HEAD                     "{\"format\":\"tilewalk-recording\",\"version\":1,\n\"params\":[\n"
#define X                        "{\"name\":\"x\",\"kind\":\"discrete\",\"values\":[1,2]}"
#define F                        "{\"name\":\"f\",\"kind\":\"factorization\",\"product\":8,\"parts\":2}"
#define FILE_OF(params, entries) HEAD params "],\n\"entries\":[\n" entries "]}"
#define OK1                      "{\"config\":[1],\"outcome\":\"ok\",\"seconds\":2}"

static void test_bad_params(void **state)
{
    (void)state;
    recording_destroy(must_read("x.json", FILE_OF(X, OK1)));
    refuse("{\"format\":\"other\",\n\"entries\":[]}", "x.json:1: format is not");
    refuse("{\"format\":\"tilewalk-recording\",\n\"version\":2,\"entries\":[]}",
           "x.json:2: this version of the format is not known");
    refuse(FILE_OF("", ""), "x.json:2: there are no parameters");
    refuse(FILE_OF("4", ""), "x.json:3: a parameter has a name");
    refuse(FILE_OF(X ",\n" X, ""), "x.json:4: parameter 'x' is declared twice");
    refuse(FILE_OF("{\"name\":\"x\",\"kind\":\"odd\"}", ""),
           "x.json:3: parameter 'x' is of no known kind");
    refuse(FILE_OF("{\"name\":\"x\",\"kind\":\"discrete\"}", ""),
           "x.json:3: parameter 'x': 0 values");
    refuse(FILE_OF("{\"name\":\"x\",\"kind\":\"discrete\",\n\"values\":[\"a\"]}", ""),
           "x.json:4: discrete values are numbers");
    refuse(FILE_OF("{\"name\":\"x\",\"kind\":\"categorical\",\"values\":[\"a\",\n1]}", ""),
           "x.json:4: a list of texts or of numbers");
    refuse(FILE_OF("{\"name\":\"x\",\"kind\":\"factorization\",\"product\":8,\n\"parts\":1.5}", ""),
           "x.json:4: a whole number from 1 to 16");
    refuse(FILE_OF("{\"name\":\"x\",\"kind\":\"factorization\",\"parts\":1}", ""),
           "x.json:3: a whole number from 1 to 2147483647");
    refuse(FILE_OF("{\"name\":\"x\",\"kind\":\"custom\",\"values\":[1,2],\"edges\":[[0,2]]}", ""),
           "x.json:3: an edge is a pair");
    refuse(FILE_OF("{\"name\":\"x\",\"kind\":\"custom\",\"values\":[1,2],\"edges\":[[0]]}", ""),
           "x.json:3: an edge is a pair");
    refuse(FILE_OF("{\"name\":\"x\",\"kind\":\"custom\",\"values\":[1,2],\"edges\":[[1,1]]}", ""),
           "x.json:3: parameter 'x': 2 is its own neighbour");
}

static void test_bad_entries(void **state)
{
    (void)state;
    refuse(FILE_OF(X, ""), "x.json: none of the 0 recorded");
    refuse(FILE_OF(X, OK1 ",\n" OK1), "x.json:6: this configuration is here a second time");
    refuse(FILE_OF(X, "{\"config\":[3],\"outcome\":\"ok\"}"),
           "x.json:5: parameter 'x': not one of its values");
    refuse(FILE_OF(X, "{\"config\":[],\"outcome\":\"ok\"}"), "x.json:5: parameter 'x' is missing");
    refuse(FILE_OF(X, "{\"config\":[1,1],\"outcome\":\"ok\"}"), "x.json:5: more values than");
    refuse(FILE_OF(X, "{\"outcome\":\"ok\"}"), "x.json:5: an entry has a config");
    refuse(FILE_OF(X, "{\"config\":[1],\n\"outcome\":\"fine\"}"),
           "x.json:6: an entry has an outcome");
    refuse(FILE_OF(X, "{\"config\":[1],\"outcome\":\"ok\"}"), "x.json:5: an entry that is ok took");
    refuse(FILE_OF(X, "{\"config\":[1],\"outcome\":\"ok\",\"seconds\":0}"),
           "x.json:5: an entry that is ok took");
    refuse(FILE_OF(X, "{\"config\":[1],\"outcome\":\"ok\",\"seconds\":1,\n\"runs\":[\"a\"]}"),
           "x.json:6: a run is a number");
    refuse(FILE_OF(X, "{\"config\":[1],\"outcome\":\"ok\",\"seconds\":1,\n\"runs\":[-1]}"),
           "x.json:6: a run is a number");
    refuse(FILE_OF(F, "{\"config\":[[2,2]],\"outcome\":\"ok\"}"),
           "x.json:5: parameter 'f': not one of its values");
    refuse(FILE_OF(F, "{\"config\":[[2,2,2]],\"outcome\":\"ok\"}"), "x.json:5: parameter 'f'");
    refuse(FILE_OF(F, "{\"config\":[[8]],\"outcome\":\"ok\"}"), "x.json:5: parameter 'f'");
    refuse(FILE_OF(F, "{\"config\":[8],\"outcome\":\"ok\"}"), "x.json:5: parameter 'f'");
}

TEST_GROUP(tilewalk)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),      cmocka_unit_test(test_written_for_others),
        cmocka_unit_test(test_not_written),     cmocka_unit_test(test_names_collide),
        cmocka_unit_test(test_median_and_best), cmocka_unit_test(test_bad_params),
        cmocka_unit_test(test_bad_entries),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
