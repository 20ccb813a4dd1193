// Which messages of a run are kept: all, but of those of level debug only the first.
#include "group.h"
#include "help.h"

#include "engine/session.h"

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

static void test_mumbles(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    struct store *store = must_open(path, STORE_WRITE);
    struct err e;
    int events = 0;
    struct session s = {.host = {store, count_event, &events}};
    session_message(&s, "debug", "before there is a session"); // heard, not kept
    s.record.id = must_create(store, "gemm");
    for (int i = 1; i <= SESSION_MOST_MUMBLES; i++)
        session_message(&s, "debug", "line %d", i);
    struct kept k = {0};
    assert_true(store_each_message(store, s.record.id, 0, take, &k, &e));
    assert_int_equal(k.debug, SESSION_MOST_MUMBLES);
    assert_string_equal(k.last_debug, "line 300");
    for (int i = 1; i <= 50; i++) {
        session_message(&s, "debug", "more %d", i);
        session_message(&s, "warning", "warning %d", i);
    }
    k = (struct kept){0};
    assert_true(store_each_message(store, s.record.id, 0, take, &k, &e));
    assert_int_equal(k.debug, SESSION_MOST_MUMBLES + 1);
    assert_contains(k.last_debug, "not kept");
    assert_int_equal(k.other, 50);
    assert_int_equal(events, 1 + SESSION_MOST_MUMBLES + 100); // the front end hears all
    store_close(store);
    temp_remove(path);
}

TEST_GROUP(kept)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mumbles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
