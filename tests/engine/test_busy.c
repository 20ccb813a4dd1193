// Who tuned on a busy machine is told so once, by the samples of what was timed.
#include "engine/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct heard {
    int count;
    char text[512];
};

static void hear(void *context, const struct event *event)
{
    struct heard *h = context;
    h->count++;
    snprintf(h->text, sizeof h->text, "%s: %s", event->level, event->text);
}

// What a session of `timings` trials says at its end, `busy` of them disturbed in most samples.
static struct heard told(int timings, int busy, enum outcome outcome, int samples,
                         bool deterministic)
{
    const struct source_kind kind = {.deterministic = deterministic};
    struct source source = {.kind = &kind};
    struct heard heard = {0};
    struct session s = {.source = &source, .on_event = hear, .event_context = &heard};
    for (int i = 0; i < timings; i++) {
        struct trial_result r = {.count = 1, .outcome = {outcome}};
        r.samples[0].count = samples;
        for (int k = 0; k < samples; k++)
            r.samples[0].seconds[k] = i < busy && k > 1 ? 1.6e-3 : 1e-3;
        session_watch_machine(&s, &r);
    }
    session_say_busy(&s);
    return heard;
}

static void a_busy_machine_is_named_once(void **state)
{
    (void)state;
    struct heard h = told(30, 17, OUTCOME_OK, 6, false);
    assert_int_equal(h.count, 1);
    assert_non_null(strstr(h.text, "warning: the machine was busy: 17 of 30 timings"));
    assert_int_equal(told(8, 2, OUTCOME_OK, 6, false).count, 1); // one in four
}

static void a_quiet_one_is_not(void **state)
{
    (void)state;
    assert_int_equal(told(30, 0, OUTCOME_OK, 6, false).count, 0);
    assert_int_equal(told(9, 2, OUTCOME_OK, 6, false).count, 0);
    assert_int_equal(told(0, 0, OUTCOME_OK, 6, false).count, 0);
    assert_int_equal(told(3, 3, OUTCOME_OK, 6, false).count, 0); // too few to say
}

static void what_says_nothing_does_not_count(void **state)
{
    (void)state;
    assert_int_equal(told(30, 30, OUTCOME_WRONG, 6, false).count, 0);
    assert_int_equal(told(30, 30, OUTCOME_OK, 1, false).count, 0);
    assert_int_equal(told(30, 30, OUTCOME_OK, 6, true).count, 0); // a recording
}

// What a session says whose best took `seconds[i]` at the i-th canary, 1 ms when it was measured.
static struct heard after_canaries(const double *seconds, int count, double *slowdown)
{
    struct heard heard = {0};
    struct session s = {.on_event = hear,
                        .event_context = &heard,
                        .best_ask = 3,
                        .best_seconds = 1e-3,
                        .canary_ask = 3,
                        .canary_seconds = 1e-3};
    for (int i = 0; i < count; i++)
        session_watch_canary(&s, seconds[i]);
    session_say_busy(&s);
    *slowdown = s.slowdown;
    return heard;
}

static void what_slows_every_sample_alike_is_seen_by_the_canary(void **state)
{
    double slowdown;
    (void)state;
    struct heard h = after_canaries((double[]){3.7e-3, 2.7e-3, 1.1e-3, 7e-3}, 4, &slowdown);
    assert_int_equal(h.count, 1);
    assert_non_null(strstr(h.text, "warning: the machine was busy: 3 of 4 times the best so far"));
    assert_true(slowdown > 6.9 && slowdown < 7.1);
    assert_int_equal(after_canaries((double[]){1.1e-3, 0.9e-3}, 2, &slowdown).count, 0);
    assert_true(slowdown < 1);
    assert_int_equal(after_canaries((double[]){3e-3}, 1, &slowdown).count, 0); // once is chance
    assert_true(after_canaries(NULL, 0, &slowdown).count == 0 && slowdown == 0);
}

static void a_canary_of_who_was_the_best_says_nothing_of_the_best(void **state)
{
    (void)state;
    struct session s = {
        .best_ask = 4, .best_seconds = 1e-3, .canary_ask = 3, .canary_seconds = 2e-3};
    session_watch_canary(&s, 9e-3);
    assert_true(s.slowdown == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_busy_machine_is_named_once),
        cmocka_unit_test(a_quiet_one_is_not),
        cmocka_unit_test(what_says_nothing_does_not_count),
        cmocka_unit_test(what_slows_every_sample_alike_is_seen_by_the_canary),
        cmocka_unit_test(a_canary_of_who_was_the_best_says_nothing_of_the_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
