#include "group.h"

#include "report/text.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

struct number {
    double value;
    const char *text;
};

static void speeds(void **state)
{
    static const struct number cases[] = {
        {0, "0.00 GFLOPS"},        {6.811e9, "6.81 GFLOPS"},    {99.99e9, "99.99 GFLOPS"},
        {100e9, "100.0 GFLOPS"},   {999.94e9, "999.9 GFLOPS"},  {999.96e9, "1.00 TFLOPS"},
        {41.3e12, "41.30 TFLOPS"}, {123.45e12, "123.5 TFLOPS"},
    };
    char out[32];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(text_speed(cases[i].value, 1, out), cases[i].text);
    assert_string_equal(text_speed(1e9, 0, out), "0.00 GFLOPS"); // never measured
    assert_string_equal(text_speed(2e9, 0.5, out), "4.00 GFLOPS");
    assert_ptr_equal(text_speed(1, 1, out), out);
}

static void rates(void **state)
{
    static const struct {
        double value;
        const char *unit, *text;
    } cases[] = {
        {38.2e9, "B/s", "38.20 GB/s"},        {1.5e12, "B/s", "1.50 TB/s"},
        {12.5, "Mcells/s", "12.50 Mcells/s"}, {123456, "rows/s", "123456.0 rows/s"},
        {6.811e9, "FLOPS", "6.81 GFLOPS"},    {73.77e6, "FLOPS", "73.77 MFLOPS"},
        {73.77e6, "B/s", "73.77 MB/s"},       {0.1e9, "FLOPS", "0.10 GFLOPS"},
    };
    char out[32];
    const char *name;
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(text_rate(cases[i].value, cases[i].unit, out), cases[i].text);
    assert_string_equal(text_rate_beside(2e9, 3e12, "FLOPS", out), "0.0020 TFLOPS");
    assert_string_equal(text_rate_beside(250e9, 3e12, "FLOPS", out), "0.25 TFLOPS");
    assert_string_equal(text_rate_beside(2e9, 73.77e6, "FLOPS", out), "2000.0 MFLOPS");
    assert_string_equal(text_rate_beside(1.5, 200, "rows/s", out), "1.50 rows/s");
    assert_true(text_rate_unit(2e12, "B/s", &name) == 1e12);
    assert_string_equal(name, "TB/s");
    assert_true(text_rate_unit(2e12, "rows/s", &name) == 1);
    assert_string_equal(name, "rows/s");
}

static void shares(void **state)
{
    static const struct number cases[] = {
        {1, "100.0 %"}, {0.9941, "99.4 %"}, {0.1, "10.0 %"}, {0.0042, "0.42 %"}, {0, "0.00 %"}};
    char out[32];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(text_share(cases[i].value, out), cases[i].text);
}

static void times(void **state)
{
    static const struct number cases[] = {
        {812.4e-6, "812 us"}, {1.5e-6, "1.5 us"},    {999.4e-6, "999 us"},
        {999.6e-6, "1 ms"},   {4.931e-3, "4.93 ms"}, {0.9994, "999 ms"},
        {0.99951, "1 s"},     {12.34, "12.3 s"},     {1234.5, "1234 s"},
    };
    char out[32];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(text_time(cases[i].value, out), cases[i].text);
}

static void durations(void **state)
{
    static const struct number cases[] = {
        {0, "0s"},
        {0.4, "0s"},
        {59.4, "59s"},
        {59.6, "1m00s"},
        {112, "1m52s"},
        {3599.6, "1h00m"},
        {3 * 3600 + 5 * 60 + 59, "3h05m"},
        {360000, "100h00m"},
    };
    char out[32];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(text_duration(cases[i].value, out), cases[i].text);
}

static void configurations(void **state)
{
    static const char *const cases[][2] = {
        {"{}", ""},
        {"{\"unroll\":16}", "unroll=16"},
        {"{\"tile\":[16,4,16],\"order\":[\"n\",\"m\",\"k\"],\"stage\":\"shared\"}",
         "tile=16,4,16 order=n,m,k stage=shared"},
        {"{\"a\":\"line\\n\"}", "a=line\\n"}, // not a new line of the terminal
        {"{\"a\":\"x:y, {z}\",\"b\":\"say \\\"no\\\"\"}", "a=x:y, {z} b=say \"no\""},
    };
    struct str out = {0};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(text_config(cases[i][0], &out), cases[i][1]);
    str_finish(&out);
}

static void parameters(void **state)
{
    struct json_walk at = text_params("{\"tile\":[16,4],\"x\":-1.5}");
    struct str name = {0}, value = {0};
    (void)state;
    assert_true(text_next_param(&at, &name, &value));
    assert_string_equal(str_text(&name), "tile");
    assert_string_equal(str_text(&value), "16,4");
    assert_true(text_next_param(&at, &name, &value));
    assert_string_equal(str_text(&name), "x");
    assert_string_equal(str_text(&value), "-1.5");
    assert_false(text_next_param(&at, &name, &value));
    assert_false(text_next_param(&at, &name, &value));
    assert_string_equal(str_text(&name), "");
}

static void broken_configurations(void **state)
{
    static const char *const texts[] = {"",        "{",          "[1,2]",   "{\"a\"",
                                        "{\"a\":", "{\"a\":[1,", "nonsense"};
    struct str out = {0};
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        text_config(texts[i], &out); // ends, and reads no further than the text
    str_finish(&out);
}

TEST_GROUP(text)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speeds),     cmocka_unit_test(rates),
        cmocka_unit_test(shares),     cmocka_unit_test(times),
        cmocka_unit_test(durations),  cmocka_unit_test(configurations),
        cmocka_unit_test(parameters), cmocka_unit_test(broken_configurations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
