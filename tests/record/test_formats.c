// Reads T4 results, KTT and CLBlast output, and files that are none of them, all written here.
#include "group.h"
#include "help.h"

#include <math.h>
#include <string.h>

#define T4(unit, results)                                                                          \
    "{\"schema_version\": \"1.0.0\", \"metadata\": {\"timeunit\": \"" unit                         \
    "\"},\n\"results\": [\n" results "]}\n"
#define T4_OK(x, unit)                                                                             \
    "{\"configuration\": {\"x\": " x ", \"s\": \"a\"}, \"objectives\": [\"time\"],\n"              \
    "\"times\": {\"compilation\": 20, \"validation\": 1, \"runtimes\": [3.0, 5.0]},\n"             \
    "\"invalidity\": \"correct\", \"correctness\": 1,\n"                                           \
    "\"measurements\": [{\"name\": \"time\", \"value\": 4.0, \"unit\": \"" unit "\"}]}"
#define T4_FAILED(x, word, correctness)                                                            \
    "{\"configuration\": {\"x\": " x ", \"s\": \"a\"}, \"times\": {}, \"invalidity\": \"" word     \
    "\", \"correctness\": " correctness ",\n"                                                      \
    "\"measurements\": [{\"name\": \"time\", \"value\": 1.0}]}"

static struct recording *read_one(const char *text)
{
    return must_read("x.json", text);
}

static void test_t4(void **state)
{
    static const struct {
        const char *word;
        int correctness;
        enum outcome outcome;
    } words[] = {
        {"compile", 0, OUTCOME_COMPILE},      {"runtime", 0, OUTCOME_CRASH},
        {"constraints", 0, OUTCOME_REJECTED}, {"correctness", 0, OUTCOME_WRONG},
        {"timeout", 0, OUTCOME_TIMEOUT},      {"correct", 0, OUTCOME_WRONG},
        {"correct", 1, OUTCOME_OK},
    };
    enum { WORDS = sizeof words / sizeof *words };
    struct str text = {0};
    (void)state;
    str_add(&text, "{\"metadata\": {\"timeunit\": \"ms\"}, \"results\": [" T4_OK("99", ""));
    for (int i = 0; i < WORDS; i++)
        str_printf(&text,
                   ",{\"configuration\": {\"x\": %d, \"s\": \"a\"}, \"invalidity\": \"%s\", "
                   "\"correctness\": %d, \"measurements\": [{\"name\": \"time\", \"value\": 1}]}",
                   i, words[i].word, words[i].correctness);
    str_add(&text, "]}");
    struct recording *r = read_one(str_text(&text));
    assert_string_equal(r->format, "t4");
    assert_int_equal(r->space->param[0].count, WORDS + 1);
    assert_int_equal(r->space->param[1].kind, PARAM_CATEGORICAL);
    const struct record_entry *entry = entry_at(r, "7,0");
    assert_close(entry->seconds, 4e-3);
    assert_close(entry->runs[1], 5e-3);
    assert_close(entry->compile_s, 20e-3);
    assert_close(entry->benchmark_s, 9e-3); // not recorded: the runs, and validation
    for (int i = 0; i < WORDS; i++)
        assert_int_equal(r->entry[i + 1].outcome, words[i].outcome);
    recording_destroy(r);
    str_finish(&text);
}

static void test_miliseconds(void **state)
{
    static const struct {
        const char *text;
        double seconds;
    } units[] = {
        {T4("miliseconds", T4_OK("1", "")), 4e-3},    {T4("milliseconds", T4_OK("1", "")), 4e-3},
        {T4("microseconds", T4_OK("1", "")), 4e-6},   {T4("seconds", T4_OK("1", "")), 4},
        {T4("milliseconds", T4_OK("1", "us")), 4e-6}, // the measurement has its own unit
    };
    (void)state;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        struct recording *r = read_one(units[i].text);
        assert_close(r->entry[0].seconds, units[i].seconds);
        recording_destroy(r);
    }
}

static void test_unknown_units(void **state)
{
    (void)state;
    refuse(T4("fortnights", T4_OK("1", "")), "x.json:1: unknown unit 'fortnights'");
    refuse(T4("ms", T4_OK("1", "kg")), "x.json:6: unknown unit 'kg'");
    refuse("{\"results\": []}", "x.json:1: the unit of times is not known");
}

static void test_t4_bad_input(void **state)
{
    (void)state;
    refuse(T4("ms", T4_OK("1", "") ",\n" T4_OK("1", "")),
           "x.json:7: {\"x\":1,\"s\":\"a\"} is here a second time (see line 3)");
    refuse(T4("ms", T4_OK("1", "") ",\n{\"configuration\": {\"x\": 2}, \"invalidity\": "
                                   "\"compile\"}"),
           "x.json:7: parameter 's' is missing");
    refuse(T4("ms", T4_OK("1", "") ",\n{\"configuration\": {\"z\": 2}}"),
           "x.json:7: the first row has no parameter 'z'");
    refuse(T4("ms", T4_OK("1", "") ",\n{\"configuration\": {\"x\": 2,\n\"x\": 3}}"),
           "x.json:8: parameter 'x' is given twice");
    refuse(T4("ms", T4_FAILED("1", "sad", "0")), "x.json:3: invalidity is one of");
    refuse(T4("ms", T4_FAILED("1", "compile", "0")), "x.json: none of the 1 recorded");
    refuse(T4("ms", ""), "x.json: there are no recorded configurations");
    refuse(T4("ms", "4"), "x.json:3: a result's configuration is an object");
    refuse(T4("ms", "{\"configuration\": {\"x\": 1}, \"invalidity\": \"correct\"}"),
           "x.json:3: there is no 'time'");
}

#define KTT(unit, results)                                                                         \
    "{\"Metadata\": {\"Device\": \"Card\", \"TimeUnit\": \"" unit "\"},\n\"Results\": [\n" results \
    "]}\n"
#define KTT_RESULT(x, status)                                                                      \
    "{\"KernelName\": \"k\", \"Status\": \"" status "\", \"TotalDuration\": 250.0,\n"              \
    "\"TotalOverhead\": 1000, \"DataMovementOverhead\": 100, \"ValidationOverhead\": 10, "         \
    "\"SearcherOverhead\": 5,\n\"Configuration\": [{\"Name\": \"X\", \"Value\": " x                \
    ", \"ValueType\": \"UnsignedInt\"}],\n\"ComputationResults\": []}"

static void test_ktt(void **state)
{
    static const struct {
        const char *status;
        enum outcome outcome;
    } words[] = {
        {"Ok", OUTCOME_OK},
        {"ComputationFailed", OUTCOME_CRASH},
        {"ValidationFailed", OUTCOME_WRONG},
        {"CompilationFailed", OUTCOME_COMPILE},
        {"DeviceLimitsExceeded", OUTCOME_REJECTED},
    };
    (void)state;
    struct str text = {0};
    str_add(&text, "{\"Metadata\": {\"Device\": \"Card\", \"TimeUnit\": \"Microseconds\"}, "
                   "\"Results\": [" KTT_RESULT("9", "Ok"));
    for (int i = 0; i < 5; i++)
        str_printf(&text,
                   ",{\"Status\": \"%s\", \"TotalDuration\": 300, \"Configuration\": "
                   "[{\"Name\": \"X\", \"Value\": %d}], \"ComputationResults\": "
                   "[{\"Overhead\": 1}, {\"Overhead\": 2}]}",
                   words[i].status, i);
    str_add(&text, "]}");
    struct recording *r = read_one(str_text(&text));
    assert_string_equal(r->format, "ktt");
    assert_string_equal(r->kernel, "k");
    assert_string_equal(r->device, "Card");
    assert_close(r->entry[0].seconds, 250e-6);
    assert_close(r->entry[0].compile_s, 885e-6);
    assert_close(r->entry[0].benchmark_s, 360e-6);
    assert_close(r->entry[1].compile_s, 3e-6);
    for (int i = 0; i < 5; i++)
        assert_int_equal(r->entry[i + 1].outcome, words[i].outcome);
    recording_destroy(r);
    str_finish(&text);
    refuse(KTT("Blinks", KTT_RESULT("1", "Ok")), "x.json:1: unknown unit 'Blinks'");
    refuse("{\"Results\": [], \"Metadata\": {}}", "x.json:1: the unit of times is not known");
    refuse(KTT("Seconds", KTT_RESULT("1", "Fine")), "x.json:3: Status is one of");
    refuse(KTT("Seconds", "{\"Status\": \"Ok\", \"Configuration\": [{\"Name\": \"X\"}]}"),
           "x.json:3: a parameter has a Name and a Value");
}

#define CLBLAST(results)                                                                           \
    "{\"kernel_family\": \"xgemm_1\", \"precision\": \"32\", \"arg_m\": \"64\",\n"                 \
    "\"device\": \"Card\", \"results\": [\n" results "]}\n"
#define CLBLAST_RESULT(x, time)                                                                    \
    "{\"kernel\": \"Xgemm\", \"time\": " time ", \"parameters\": {\"MWG\": " x ", \"SA\": 0}}"

static void test_0_000_times_of_clblast(void **state)
{
    (void)state;
    const char *text = CLBLAST(CLBLAST_RESULT("16", "1.250") ",\n" //
                               CLBLAST_RESULT("8", "0.000") ",\n"  //
                               CLBLAST_RESULT("32", "0.500"));
    struct recording *r = read_one(text);
    assert_string_equal(r->format, "clblast");
    assert_string_equal(r->kernel, "xgemm_1");
    assert_close(r->entry[0].seconds, 1.25e-3);
    assert_int_equal(r->entry[1].outcome, OUTCOME_WRONG); // no measurement, and no optimum
    assert_int_equal(r->best, 2);
    assert_int_equal(r->space->param[1].size, 1); // constants stay
    recording_destroy(r);
    refuse(CLBLAST("{\"time\": 1.0}"), "x.json:3: a result has an object 'parameters'");
    refuse(CLBLAST("{\"parameters\": {\"A\": 1}}"), "x.json:3: there is no 'time'");
}

static void test_content_against_the_name(void **state)
{
    const unsigned char png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n', 0};
    (void)state;
    refuse("", "x.json:1: not a recording: it is empty");
    refuse("[1, 2]", "x.json:1: not a recording: it is a JSON list, not an object");
    refuse("MWG,time\n16,3.0\n", "x.json:1: not a recording: it is neither JSON nor gzip nor xz");
    refuse((const char *)png, "x.json:1: not a recording: it is neither JSON nor gzip nor xz");
    refuse("\xef\xbb\xbf{\"a\": 1}", "x.json:1: not a recording: it begins with a byte-order mark");
    refuse("\xff\xfe{", "x.json:1: not a recording: it is UTF-16");
    refuse("{\"a\":\n -Infinity}", "x.json:2: broken JSON: NaN and Infinity are no JSON");
    refuse("{\"a\": nan}", "x.json:1: broken JSON: NaN and Infinity are no JSON");
    refuse("{\"a\": 1}", "x.json:1: not a recording (known are: tilewalk recording, Kernel Tuner");
    // The content decides the format, not the name.
    recording_destroy(must_read("x.json.gz", CLBLAST(CLBLAST_RESULT("16", "1.250"))));
}

TEST_GROUP(formats)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_t4),
        cmocka_unit_test(test_miliseconds),
        cmocka_unit_test(test_unknown_units),
        cmocka_unit_test(test_t4_bad_input),
        cmocka_unit_test(test_ktt),
        cmocka_unit_test(test_0_000_times_of_clblast),
        cmocka_unit_test(test_content_against_the_name),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
