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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_busy_machine_is_named_once),
        cmocka_unit_test(a_quiet_one_is_not),
        cmocka_unit_test(what_says_nothing_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
