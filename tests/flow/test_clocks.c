// What the system tells of the device's clocks, kept with each trial and shown; and a device that
// drifts. With a library of ours in NVML's place, on whatever device there is.
#include "sessions.h"

#include <stdlib.h>
#include <string.h>

#define SENSED   "TILEWALK_FAKE_NVML"
#define NO_FAULT "complain@start:99"

static void with_nvml(struct box *b)
{
    box_set(b, "TILEWALK_PCI", "0000:01:00.0");
    box_set(b, "TILEWALK_NVML", getenv("TILEWALK_TEST_NVML"));
}

static struct result tune(struct box *b, const char *trials, const char *fault)
{
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--strategy", "random", "--seed",
                          "1", "--workers", "1", "--trials", trials, "--fault", fault, "--json");
    assert_ok(&r);
    return r;
}

static cJSON *first_ok(cJSON *trials)
{
    cJSON *t;
    cJSON_ArrayForEach(t, trials) if (strcmp(text_of(t, "outcome"), "ok") == 0) return t;
    fail_msg("no trial is ok");
    return NULL;
}

static void test_sensed(void **state)
{
    struct box *b = *state;
    with_nvml(b);
    struct result r = tune(b, "4", NO_FAULT);
    assert_contains(r.out, "clocks were held back in");
    cJSON *shown = json_of(b, RUN(b, "show", "1", "--trials", "--json").out);
    cJSON *trial = first_ok(member(shown, "trials"));
    cJSON *clocks = member(trial, "clocks");
    assert_int_equal(number_of(clocks, "core_mhz"), 1410);
    assert_int_equal(number_of(clocks, "celsius"), 71);
    assert_int_equal(number_of(clocks, "throttle_power"), 1);
    cJSON *all = member(member(shown, "session"), "clocks");
    assert_true(number_of(all, "throttled") >= 1);
    assert_true(number_of(all, "sensed") == number_of(all, "throttled"));
    char number[24];
    snprintf(number, sizeof number, "%d", (int)number_of(trial, "id"));
    assert_contains(RUN(b, "show", "1", "--trial", number).out,
                    "clocks: core 1410 MHz, memory 2619 MHz, 71 C, 350 W, held back by power and "
                    "temperature\n");
    const char *text = RUN(b, "show", "1").out;
    assert_contains(text, "\nclocks   held back while ");
    assert_contains(text, "\nwarning  the device's clocks were held back in ");
}

static void test_liar(void **state)
{
    struct box *b = *state;
    with_nvml(b);
    box_set(b, SENSED, "lies");
    struct result r = tune(b, "2", NO_FAULT);
    assert_contains(r.out, "clocks: core_mhz 4.29497e+09 of NVML is not believed");
    box_set(b, SENSED, "refuses");
    r = tune(b, "2", NO_FAULT);
    cJSON *shown = json_of(b, RUN(b, "show", "2", "--json").out);
    assert_null(cJSON_GetObjectItem(member(shown, "session"), "clocks"));
}

// The second anchor takes a hundred times as long as the first: what was told in between is marked.
static void test_drift(void **state)
{
    struct box *b = *state;
    char fault[640] = "";
    for (int i = 28; i < 58; i++)
        snprintf(fault + strlen(fault), sizeof fault - strlen(fault), "%sslow@time:%d",
                 i > 28 ? "," : "", i);
    struct result r = tune(b, "42", fault);
    assert_contains(r.out, "% slower than ");
    cJSON *shown = json_of(b, RUN(b, "show", "1", "--trials", "--json").out);
    cJSON *all = member(member(shown, "session"), "clocks");
    int marked = 0;
    cJSON *t;
    cJSON_ArrayForEach(t, member(shown, "trials"))
    {
        cJSON *drift = cJSON_GetObjectItem(t, "drift");
        marked += drift && drift->valuedouble > 10;
    }
    assert_true(marked > 0);
    assert_int_equal(number_of(all, "drifted"), marked);
    assert_int_equal(number_of(all, "sensed"), 0);
    assert_contains(RUN(b, "show", "1").out, "were timed while the device drifted");
}

int main(void)
{
    if (!has_device())
        return EXIT_SKIPPED;
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_sensed),
        FLOW_TEST(test_liar),
        FLOW_TEST(test_drift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
