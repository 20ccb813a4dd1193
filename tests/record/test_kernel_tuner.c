// Reads Kernel Tuner's cache files. Each test is named after a trap of the format; the files are
// written here.
#include "group.h"
#include "help.h"

#include <math.h>
#include <string.h>

// A file with parameters x (2, 4, 8) and y (two texts), whose entries are given.
#define HEAD(objective)                                                                            \
    "{\"device_name\": \"Card\", \"kernel_name\": \"k\", \"problem_size\": 64,\n"                  \
    "\"tune_params_keys\": [\"x\", \"y\"],\n"                                                      \
    "\"tune_params\": {\"y\": [\"b\", \"a\"], \"x\": [8, 2, 4]}," objective "\n\"cache\": {\n"
#define FILE_OF(entries)  HEAD("") entries "}}\n"
#define RATES_OF(entries) HEAD(" \"objective\": \"GFLOP/s\",") entries "}}\n"
#define OK_8A             "\"8,a\": {\"x\": 8, \"y\": \"a\", \"time\": 4.0}"

static struct recording *read_one(const char *text)
{
    return must_read("x.json", text);
}

static void test_fields_that_are_read(void **state)
{
    (void)state;
    struct recording *r = must_read(
        "card.json",
        FILE_OF("\"2,b\": {\"x\": 2, \"y\": \"b\", \"time\": 1.5, \"times\": [1.0, 2.0],\n"
                "  \"compile_time\": 30, \"verification_time\": 2, \"benchmark_time\": 5,\n"
                "  \"GFLOP/s\": 7, \"timestamp\": \"2024-01-01\"},\n" OK_8A));
    assert_string_equal(r->name, "card");
    assert_string_equal(r->format, "kernel-tuner");
    assert_string_equal(r->device, "Card");
    assert_string_equal(r->kernel, "k");
    assert_string_equal(r->unit, "s");
    // Parameters have the order of tune_params_keys; numbers are sorted, texts stay as declared.
    assert_int_equal(r->space->param_count, 2);
    const struct param *x = &r->space->param[0], *y = &r->space->param[1];
    assert_string_equal(x->name, "x");
    assert_int_equal(x->kind, PARAM_DISCRETE);
    assert_int_equal(x->count, 3); // 4 occurs nowhere
    assert_true(x->number[0] == 2 && x->number[2] == 8);
    assert_int_equal(y->kind, PARAM_CATEGORICAL);
    assert_string_equal(y->label[0], "b");

    const struct record_entry *entry = entry_at(r, "0,0");
    assert_int_equal(entry->outcome, OUTCOME_OK);
    assert_close(entry->seconds, 1.5e-3);
    assert_int_equal(entry->run_count, 2);
    assert_close(entry->runs[1], 2e-3);
    assert_close(entry->compile_s, 30e-3);
    assert_close(entry->benchmark_s, 7e-3);
    assert_true(isnan(entry_at(r, "2,1")->compile_s));
    assert_int_equal(r->best, 0);
    assert_close(r->median, 2.75e-3);

    struct config absent = {0};
    struct verdict verdict;
    struct err e;
    absent.slot[0] = 1;
    assert_null(recording_find(r, &absent));
    assert_true(space_judge(r->space, NULL, &absent, &verdict, &e));
    assert_false(verdict.legal);
    assert_string_equal(verdict.reason, "constraint 'recorded'");
    config_set_get(&r->configs, 0, &absent);
    assert_true(space_judge(r->space, NULL, &absent, &verdict, &e) && verdict.legal);
    recording_destroy(r);
}

// Runs may be pairs [0, ms], whose recorded mean is wrong by half.
static void test_nested_times(void **state)
{
    (void)state;
    struct recording *r = read_one(FILE_OF("\"2,a\": {\"x\": 2, \"y\": \"a\", \"time\": 2.5, "
                                           "\"times\": [[0, 4.0], [0, 6.0]]}"));
    const struct record_entry *entry = entry_at(r, "0,1");
    assert_close(entry->seconds, 5e-3);
    assert_close(entry->runs[0], 4e-3);
    assert_close(entry->runs[1], 6e-3);
    recording_destroy(r);
    refuse(FILE_OF("\"2,a\": {\"x\": 2, \"y\": \"a\", \"time\": 1,\n\"times\": [[0, 1, 2]]}"),
           "x.json:6: a run is a time");
}

static void test_failed_entry_with_a_full_times_array(void **state)
{
    (void)state;
    struct recording *r = read_one(
        FILE_OF("\"2,a\": {\"x\": 2, \"y\": \"a\", \"time\": \"RuntimeFailedConfig\", "
                "\"times\": [0.1, 0.1], \"GFLOP/s\": 900.0, \"compile_time\": 7},\n" OK_8A));
    const struct record_entry *entry = entry_at(r, "0,1");
    assert_int_equal(entry->outcome, OUTCOME_CRASH);
    assert_int_equal(entry->run_count, 0);
    assert_true(entry->seconds == 0);
    assert_close(entry->compile_s, 7e-3);
    assert_int_equal(r->best, 1);
    assert_int_equal(r->outcomes[OUTCOME_OK], 1);
    assert_int_equal(r->outcomes[OUTCOME_CRASH], 1);
    recording_destroy(r);
}

static void test_error_names_in_any_field(void **state)
{
    (void)state;
    struct recording *r = read_one(
        FILE_OF("\"2,a\": {\"x\": 2, \"y\": \"a\", \"time\": 1.0, \"GB/s\": \"InvalidConfig\"},\n"
                "\"2,b\": {\"x\": 2, \"y\": \"b\", \"__error__\": \"CompilationFailedConfig\"},\n"
                "\"4,a\": {\"x\": 4, \"y\": \"a\", \"time\": 2.0, \"__error__\": "
                "\"RuntimeFailedConfig\"},\n"
                "\"4,b\": {\"x\": 4, \"y\": \"b\", \"time\": 2.0, \"__error__\": null},\n" OK_8A));
    assert_int_equal(entry_at(r, "0,1")->outcome, OUTCOME_REJECTED);
    assert_int_equal(entry_at(r, "0,0")->outcome, OUTCOME_COMPILE);
    assert_int_equal(entry_at(r, "1,1")->outcome, OUTCOME_CRASH);
    assert_int_equal(entry_at(r, "1,0")->outcome, OUTCOME_OK);
    recording_destroy(r);
    refuse(FILE_OF("\"2,a\": {\"x\": 2, \"y\": \"a\",\n\"time\": \"Oops\"}"),
           "x.json:6: 'time' is a number or the name of a failure");
    refuse(FILE_OF("\"2,a\": {\"x\": 2, \"y\": \"a\", \"time\": 1,\n\"__error__\": \"Oops\"}"),
           "x.json:6: an unknown failure");
}

static void test_1e20(void **state)
{
    (void)state;
    struct recording *r = read_one(
        FILE_OF("\"2,a\": {\"x\": 2, \"y\": \"a\", \"time\": 1e20, \"times\": [1]},\n" OK_8A));
    assert_int_equal(entry_at(r, "0,1")->outcome, OUTCOME_CRASH);
    assert_int_equal(r->best, 1);
    recording_destroy(r);
}

static void test_integer_like_floats(void **state)
{
    (void)state;
    struct recording *r = read_one(
        "{\"tune_params_keys\": [\"a\", \"b\"], \"tune_params\": {\"a\": [1.0, 2, 0.1], \"b\": "
        "[1e-05, 16]},\n\"cache\": {\"1,1e-05\": {\"a\": 1, \"b\": 0.00001, \"time\": 1},\n"
        "\"2.0,16.0\": {\"time\": 2}, \"0.1,1e-05\": {\"time\": 3}}}");
    assert_close(entry_at(r, "1,0")->seconds, 1e-3);
    assert_close(entry_at(r, "2,1")->seconds, 2e-3); // by the key
    assert_close(entry_at(r, "0,0")->seconds, 3e-3);
    recording_destroy(r);
}

static void test_true_and_false(void **state)
{
    (void)state;
    struct recording *r = read_one(
        "{\"tune_params_keys\": [\"f\", \"n\"], \"tune_params\": {\"f\": [false, true], \"n\": "
        "[0, 1]},\n\"cache\": {\"True,0\": {\"time\": 1},\n"
        "\"False,True\": {\"f\": 0, \"n\": true, \"time\": 2}}}");
    assert_int_equal(r->space->param[0].kind, PARAM_CATEGORICAL);
    assert_string_equal(r->space->param[0].label[1], "true");
    assert_int_equal(r->space->param[1].kind, PARAM_DISCRETE);
    assert_close(entry_at(r, "1,0")->seconds, 1e-3);
    assert_close(entry_at(r, "0,1")->seconds, 2e-3);
    recording_destroy(r);
}

static void test_unclosed_file_with_trailing_comma(void **state)
{
    static const char *const ends[] = {",", ",\n", "", "\n  \n"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct str text = {0};
        str_printf(&text, "%s%s%s", HEAD(""), OK_8A, ends[i]);
        struct recording *r = read_one(str_text(&text));
        assert_int_equal(r->count, 1);
        recording_destroy(r);
        str_finish(&text);
    }
    refuse(HEAD("") OK_8A ",\n\"2,a\": {\"x\": 2, \"time\"", "x.json:6: broken JSON: a colon");
    refuse(HEAD("") OK_8A ",\n\"2,a\": {\"x\": 2,", "x.json:6: broken JSON");
    refuse("{\"cache\": {},\n\"tune_params\": {\"x\": [1]",
           "x.json:2: broken JSON: the file ends early");
    refuse("{\"tune_params\": {\"x\": [1],\n", "x.json:2: broken JSON: the file ends early");
}

static void test_pretty_printed_ends(void **state)
{
    static const char *const ends[] = {"\n  }\n}", "}\n}\n", "}}", "\n\t}\r\n\t}\r\n\n"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct str text = {0};
        str_printf(&text, "%s%s%s", HEAD(""), OK_8A, ends[i]);
        recording_destroy(read_one(str_text(&text)));
        str_finish(&text);
    }
}

static void test_members_in_any_order(void **state)
{
    (void)state;
    struct recording *r =
        read_one("{\"cache\": {\"1\": {\"time\": 3, \"x\": 1}}, \"tune_params\": {\"x\": [1]}}");
    assert_int_equal(r->count, 1);
    assert_string_equal(r->device, "");
    recording_destroy(r);
}

static void test_texts_with_commas_in_keys(void **state)
{
    (void)state;
    struct recording *r = read_one(
        "{\"tune_params_keys\": [\"s\", \"n\"], \"tune_params\": {\"s\": [\"a\", \"a,1\"], \"n\": "
        "[1, 2]}, \"cache\": {\"a,1,2\": {\"time\": 1}, \"a,2\": {\"time\": 2}}}");
    assert_close(entry_at(r, "1,1")->seconds, 1e-3);
    assert_close(entry_at(r, "0,1")->seconds, 2e-3);
    recording_destroy(r);
}

static void test_maximised_objectives(void **state)
{
    (void)state;
    struct recording *r = read_one(RATES_OF(
        "\"2,a\": {\"x\": 2, \"y\": \"a\", \"time\": 2.0, \"times\": [1.0, 3.0], \"GFLOP/s\": "
        "50.0},\n\"4,a\": {\"x\": 4, \"y\": \"a\", \"time\": 1.0, \"GFLOP/s\": 40.0},\n"
        "\"8,a\": {\"x\": 8, \"y\": \"a\", \"time\": 1.0, \"GFLOP/s\": \"InvalidConfig\"},\n"
        "\"8,b\": {\"x\": 8, \"y\": \"b\", \"time\": 1.0, \"GFLOP/s\": 0}"));
    assert_string_equal(r->unit, "s/GFLOP");
    assert_int_equal(r->best, 0); // the higher rate, though it took longer
    assert_close(r->entry[0].seconds, 1 / 50.0);
    assert_close(r->entry[0].runs[0], 0.5 / 50); // half of the mean time
    assert_close(r->entry[0].runs[1], 1.5 / 50);
    assert_close(r->entry[1].seconds, 1 / 40.0);
    assert_int_equal(r->entry[2].outcome, OUTCOME_REJECTED);
    assert_int_equal(r->entry[3].outcome, OUTCOME_WRONG);
    recording_destroy(r);

    refuse(HEAD(" \"objective\": \"score\",") OK_8A "}}",
           "x.json:3: objective 'score' is neither a time nor a rate");
    refuse(HEAD(" \"objective\": [\"time\", \"GFLOP/s\"],") OK_8A "}}",
           "x.json:3: several objectives");
    refuse(RATES_OF(OK_8A), "x.json:5: there is no 'GFLOP/s'");
    r = read_one(HEAD(" \"objective\": [\"time\"],") OK_8A "}}");
    recording_destroy(r);
}

static void test_time_zero_is_no_optimum(void **state)
{
    (void)state;
    struct recording *r =
        read_one(FILE_OF("\"2,a\": {\"x\": 2, \"y\": \"a\", \"time\": 0.0},\n" OK_8A));
    assert_int_equal(r->entry[0].outcome, OUTCOME_WRONG);
    assert_int_equal(r->best, 1);
    recording_destroy(r);
}

static void test_bad_input(void **state)
{
    (void)state;
    refuse(FILE_OF(OK_8A ",\n\"8,c\": {\"y\": \"a\",\n\"x\": 16, \"time\": 1}"),
           "x.json:7: parameter 'x': 16 is not among the declared values");
    refuse(FILE_OF(OK_8A ",\n\"2\": {\"x\": 2, \"time\": 1}"),
           "x.json:6: parameter 'y' is missing (and key '2'");
    refuse(FILE_OF(OK_8A ",\n\"2\": {\"y\": \"a\", \"time\": 1}"),
           "x.json:6: parameter 'x' is missing (and key '2'");
    refuse(FILE_OF(OK_8A ",\n\"odd\": {\"x\": 2, \"time\": 1}"),
           "x.json:6: parameter 'y' is missing (and key 'odd'");
    refuse(FILE_OF(OK_8A ",\n\"2\": {\"time\": 1}"),
           "x.json:6: key '2' does not hold a declared value of parameter 'y'");
    refuse(FILE_OF(OK_8A ",\n\"3,a\": {\"time\": 1}"),
           "x.json:6: key '3,a' does not hold a declared value of parameter 'x'");
    refuse(FILE_OF(OK_8A ",\n\"2,a,b\": {\"time\": 1}"), "x.json:6: key '2,a,b' does not hold");
    refuse(FILE_OF(OK_8A ",\n\n" OK_8A),
           "x.json:7: {\"x\":8,\"y\":\"a\"} is here a second time (see line 5)");
    refuse(FILE_OF("\"8,a\": {\"x\": 8, \"y\": \"a\", \"time\": \"InvalidConfig\"}"),
           "x.json: none of the 1 recorded configurations is valid");
    refuse(FILE_OF(""), "x.json: none of the 0 recorded configurations is valid");
    refuse(FILE_OF("\"8,a\": {\"x\": 8, \"y\": \"a\",\n\"time\": -1}"),
           "x.json:6: time -0.001 is negative");
    refuse(FILE_OF("\"8,a\": {\"x\": 8, \"y\": \"a\"}"), "x.json:5: there is no 'time'");
    refuse(FILE_OF("\"8,a\": {\"x\": 8, \"y\": \"a\",\n\"time\": [1]}"),
           "x.json:6: 'time' is a number");
    refuse(FILE_OF("\"8,a\": {\"x\": 8, \"y\": \"a\", \"time\": 1,\n\"times\": 3}"),
           "x.json:6: the times of runs are a list, not a number");
    refuse(FILE_OF("\"8,a\": {\"x\": 8,\n\"y\": null, \"time\": 1}"),
           "x.json:6: parameter 'y': a parameter's value is a number, a text or a flag, not null");
    refuse(FILE_OF("\"8,a\": 4"), "x.json:5: an entry is an object, not a number");
    refuse(FILE_OF("\"8,a\": {\"x\": 8, \"y\": \"a\",\n\"time\": NaN}"), "x.json:6: broken JSON");
    refuse("{\"cache\": [],\n\"tune_params\": {\"x\": [1]}}",
           "x.json:1: the cache is an object, not a list");
    refuse("{\"cache\": {},\n\"tune_params\": [1]}", "x.json:2: tune_params is an object");
    refuse("{\"cache\": {},\n\"tune_params\": {\"x\": 1}}",
           "x.json:2: the values of parameter 'x'");
    refuse("{\"cache\": {},\n\"tune_params\": {\"x\": []}}",
           "x.json:2: parameter 'x' has no values");
    refuse("{\"cache\": {}, \"tune_params\": {\"x\": [1]},\n\"tune_params_keys\": [\"x\", \"z\"]}",
           "x.json:2: parameter 'z' of tune_params_keys is missing in tune_params");
    refuse("{\"cache\": {}, \"tune_params\": {\"x\": [1],\n\"z\": [1]},\"tune_params_keys\": "
           "[\"x\"]}",
           "x.json:2: parameter 'z' of tune_params is missing in tune_params_keys");
    refuse("{\"cache\": {}, \"tune_params\": {\"x\": [1]},\n\"tune_params_keys\": [\"x\", \"x\"]}",
           "x.json:1: parameter 'x' is declared twice");
}

TEST_GROUP(kernel_tuner)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_that_are_read),
        cmocka_unit_test(test_nested_times),
        cmocka_unit_test(test_failed_entry_with_a_full_times_array),
        cmocka_unit_test(test_error_names_in_any_field),
        cmocka_unit_test(test_1e20),
        cmocka_unit_test(test_integer_like_floats),
        cmocka_unit_test(test_true_and_false),
        cmocka_unit_test(test_unclosed_file_with_trailing_comma),
        cmocka_unit_test(test_pretty_printed_ends),
        cmocka_unit_test(test_members_in_any_order),
        cmocka_unit_test(test_texts_with_commas_in_keys),
        cmocka_unit_test(test_maximised_objectives),
        cmocka_unit_test(test_time_zero_is_no_optimum),
        cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
