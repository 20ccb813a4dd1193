// All messages of a run are stored; of those of level debug only the first.
#include "group.h"
#include "run.h"

#include "engine/session_log.h"

#include <stdio.h>

static void count_event(void *context, const struct event *event)
{
    assert_int_equal(event->kind, EVENT_MESSAGE);
    ++*(int *)context;
}

struct kept {
    int debug, other;
    char last_debug[64];
};

static bool take(void *context, const struct message_record *m)
{
    struct kept *k = context;
    bool debug = !strcmp(m->level, "debug");
    *(debug ? &k->debug : &k->other) += 1;
    if (debug)
        snprintf(k->last_debug, sizeof k->last_debug, "%s", m->text);
    return true;
}

static void test_debug_messages(void **state)
{
    (void)state;
    struct run r;
    struct err e;
    int events = 0;
    run_init(&r);
    struct session_record record = {.id = 0};
    const struct session_record created = {
        .name = "gemm", .state = STATE_RUNNING, .seed = 1, .workers = 1};
    struct session_store s = {.db = r.store, .record = &record};
    struct session_clock clock = {.record = &record};
    struct session_log l = {
        .store = &s, .clock = &clock, .on_event = count_event, .context = &events};
    session_message(&l, "debug", "before there is a session"); // heard, not kept
    run_must(store_create_session(r.store, &created, NULL, 0, &record.id, &e), &e);
    for (int i = 1; i <= SESSION_MOST_DEBUG; i++)
        session_message(&l, "debug", "line %d", i);
    struct kept k = {0};
    assert_true(store_each_message(r.store, record.id, 0, take, &k, &e));
    assert_int_equal(k.debug, SESSION_MOST_DEBUG);
    assert_string_equal(k.last_debug, "line 300");
    for (int i = 1; i <= 50; i++) {
        session_message(&l, "debug", "more %d", i);
        session_message(&l, "warning", "warning %d", i);
    }
    k = (struct kept){0};
    assert_true(store_each_message(r.store, record.id, 0, take, &k, &e));
    assert_int_equal(k.debug, SESSION_MOST_DEBUG + 1);
    assert_non_null(strstr(k.last_debug, "not kept"));
    assert_int_equal(k.other, 50);
    assert_int_equal(events, 1 + SESSION_MOST_DEBUG + 100); // the front end hears all
    run_finish(&r);
}

TEST_GROUP(kept)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_debug_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
