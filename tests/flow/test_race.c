// The best of a session: the final race, the next one, and none when there is nothing to do.
#include "group.h"
#include "sessions.h"

#include "base/str.h"

#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static struct result tune_small(struct box *b)
{
    return RUN(b, "tune", flow_path(b, "small.lua"), "--trials", "4", "--seed", "1", "--json");
}

// A session with nothing left to do is not touched by any budget up to what it has spent.
static void test_nothing_left(void **state)
{
    struct box *b = *state;
    struct result r = tune_small(b);
    assert_ok(&r);
    const char *json = RUN(b, "show", "1", "--json", "--trials").out;
    const char *text = RUN(b, "show", "1", "--top", "4").out;
    struct result again[] = {RUN(b, "resume", "1", "--json"),
                             RUN(b, "resume", "1", "--json", "--trials", "4"),
                             RUN(b, "resume", "1", "--json", "--trials", "2")};
    for (size_t i = 0; i < COUNT(again); i++) {
        assert_ok(&again[i]);
        struct events e = events_of(b, again[i].out);
        assert_int_equal(e.count, 2);
        assert_string_equal(text_of(first_event(&e, "session"), "state"), "done");
        assert_string_equal(text_of(end_event(&e), "state"), "done");
        assert_true(cJSON_IsObject(member(member(end_event(&e), "best"), "final")));
        assert_string_equal(RUN(b, "show", "1", "--json", "--trials").out, json);
        assert_string_equal(RUN(b, "show", "1", "--top", "4").out, text);
    }
    const cJSON *best = member(member(json_of(b, json), "session"), "best");
    const char *ask = arena_printf(&b->arena, "%.0f", number_of(best, "ask"));
    r = RUN(b, "show", "1", "--ask", ask); // both of its figures, each with where it is from
    assert_contains(r.out, "  (final race)\nmeasured in the search: ");
    r = RUN(b, "show", "1", "--ask", ask, "--json");
    assert_true(cJSON_IsObject(member(member(json_of(b, r.out), "trial"), "final")));
    r = RUN(b, "resume", "1", "--plain");
    assert_ok(&r);
    assert_true(str_starts(r.out, "session 1: "));
    assert_ptr_equal(strchr(r.out, '\n'), r.out + strlen(r.out) - 1);
    r = RUN(b, "resume", "1", "--trials", "5", "--json");
    assert_ok(&r);
    struct events e = events_of(b, r.out);
    assert_int_equal(count_events(&e, "trial"), 1);
}

// Times of two races are not compared: the later one has the winner of the earlier one in it, and
// decides, also when the device was much faster then.
static void test_next_race(void **state)
{
    struct box *b = *state;
    struct result r = tune_small(b);
    assert_ok(&r);
    struct events e = events_of(b, r.out);
    int64_t winner = (int64_t)number_of(member(end_event(&e), "best"), "ask");
    tamper(b, "UPDATE retime SET seconds = seconds / 1000 WHERE kind = 'race'");
    tamper(b, "UPDATE trial SET rank_seconds = rank_seconds / 1000 WHERE NOT unraced");
    double before = number_of(listed_session(b, 1), "best_tflops");
    r = RUN(b, "resume", "1", "--trials", "8", "--json");
    assert_ok(&r);
    e = events_of(b, r.out);
    bool again = false;
    for (int i = 0; i < e.count; i++)
        again |= strcmp(text_of(e.line[i], "event"), "retime") == 0 &&
                 number_of(e.line[i], "ask") == winner;
    assert_true(again);
    const cJSON *best = member(end_event(&e), "best"), *session = listed_session(b, 1);
    assert_true(number_of(member(best, "final"), "tflops") < before / 20);
    assert_true(number_of(session, "best_tflops") == number_of(member(best, "final"), "tflops"));
    assert_true(cJSON_IsTrue(member(session, "best_raced")));
    r = RUN(b, "show", "1", "--top", "8", "--json");
    assert_ok(&r);
    const cJSON *trials = member(json_of(b, r.out), "trials"), *t;
    assert_true(number_of(cJSON_GetArrayItem(trials, 0), "ask") == number_of(best, "ask"));
    double last = 0;
    bool raced = true;
    cJSON_ArrayForEach(t, trials) // who was in that race, and then all others as measured
    {
        const cJSON *final = cJSON_GetObjectItem(t, "final");
        if (raced && !final)
            last = 0;
        assert_true(raced || !final);
        raced = final != NULL;
        assert_true(number_of(final ? final : t, "ms") >= last);
        last = number_of(final ? final : t, "ms");
    }
}

TEST_GROUP(race)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_nothing_left),
        FLOW_TEST(test_next_race),
    };
    if (!has_device()) {
        print_message("skipped: no Vulkan device\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
