// Whether results can be trusted: a device that others disturb.
#include "sessions.h"

#include <string.h>

static bool has_device(void)
{
    void *state = NULL;
    box_setup(&state);
    struct box *b = state;
    bool has = strstr(RUN(b, "devices", "--json").out, "\"index\"") != NULL;
    box_teardown(&state);
    return has;
}

// Something else had the machine during the first full run of every trial.
static void one_slow_sample_hides_no_winner(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "work.lua"), "--strategy", "grid", "--trials",
                          "4", "--workers", "1", "--json", "--fault", "slow@run:*");
    assert_ok(&r);
    struct events e = events_of(b, r.out);
    int trials = 0;
    for (int i = 0; i < e.count; i++) {
        if (strcmp(text_of(e.line[i], "event"), "trial") != 0)
            continue;
        assert_true(cJSON_IsFalse(member(e.line[i], "early_stopped")));
        assert_true(cJSON_GetArraySize(member(e.line[i], "samples")) >= 2);
        trials++;
    }
    assert_int_equal(trials, 4);
    const cJSON *best = member(end_event(&e), "best");
    assert_string_equal(text_of(member(best, "config"), "work"), "least");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(one_slow_sample_hides_no_winner),
    };
    return has_device() ? cmocka_run_group_tests(tests, NULL, NULL) : EXIT_SKIPPED;
}
