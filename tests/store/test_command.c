// Commands and messages: in order, and each command once whoever takes it.
#include "group.h"
#include "help.h"

#include "base/os.h"
#include "store/db.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { COMMANDS = 200, TAKERS = 3 };

static void test_order(void **state)
{
    (void)state;
    static const char *const pushed[][2] = {{"pause", NULL}, {"resume", ""}, {"budget", "500"}};
    char *path = temp_path("x.db");
    struct store *s = must_open(path, STORE_WRITE);
    struct err e;
    int64_t id = must_create(s, "gemm"), other = must_create(s, "mm");
    char verb[16] = "", argument[64] = "";
    bool any = true;
    assert_true(store_take_command(s, id, verb, argument, &any, &e));
    assert_false(any);
    for (int i = 0; i < 3; i++) {
        assert_true(store_push_command(s, id, pushed[i][0], pushed[i][1], &e));
        assert_true(store_push_command(s, other, "stop", NULL, &e));
    }
    assert_true(store_has_command(s, id, "budget"));
    assert_false(store_has_command(s, id, "stop")); // the other's
    for (int i = 0; i < 3; i++) {
        assert_true(store_take_command(s, id, verb, argument, &any, &e));
        assert_true(any);
        assert_string_equal(verb, pushed[i][0]);
        assert_string_equal(argument, pushed[i][1] ? pushed[i][1] : "");
    }
    assert_true(store_take_command(s, id, verb, argument, &any, &e));
    assert_false(any);
    assert_false(store_has_command(s, id, "budget"));
    assert_int_equal(count_rows(s, "command"), 3); // the other's
    store_close(s);
    temp_remove(path);
}

static void test_length(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    struct store *s = must_open(path, STORE_WRITE);
    struct err e;
    int64_t id = must_create(s, "gemm");
    char longest[64], verb[16], argument[64];
    bool any;
    memset(longest, 'a', 63);
    longest[63] = '\0';
    assert_true(store_push_command(s, id, "fifteen letters", longest, &e));
    assert_true(store_take_command(s, id, verb, argument, &any, &e));
    assert_string_equal(verb, "fifteen letters");
    assert_string_equal(argument, longest);
    assert_false(store_push_command(s, id, "sixteen letters!", NULL, &e));
    assert_contains(e.text, "too long");
    char longer[65] = "b";
    strcat(longer, longest);
    assert_false(store_push_command(s, id, "budget", longer, &e));
    assert_contains(e.text, "too long");
    store_close(s);
    temp_remove(path);
}

struct shared {
    atomic_int taken[COMMANDS]; // how often, by number
    atomic_bool order_broken;
};

struct taker {
    const char *path;
    struct shared *shared;
};

static int take_until_end(void *context)
{
    const struct taker *t = context;
    struct err e;
    struct store *s = store_open(t->path, STORE_WRITE, &e);
    CHILD_CHECK(s);
    for (int last = -1;;) {
        char verb[16], argument[64];
        bool any;
        CHILD_CHECK(store_take_command(s, 1, verb, argument, &any, &e));
        if (!any)
            continue;
        if (!strcmp(verb, "end"))
            break;
        int number = atoi(argument);
        t->shared->taken[number]++;
        if (number <= last)
            t->shared->order_broken = true;
        last = number;
    }
    store_close(s);
    return 0;
}

static void test_exactly_once(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    int memory = os_memfd("taken", sizeof(struct shared), NULL);
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    assert_ptr_not_equal(shared, MAP_FAILED);
    struct taker taker = {path, shared};
    struct store *s = must_open(path, STORE_WRITE);
    struct err e;
    int64_t id = must_create(s, "gemm");
    pid_t pids[TAKERS];
    for (int i = 0; i < TAKERS; i++)
        pids[i] = start_child(take_until_end, &taker);
    for (int i = 0; i < COMMANDS; i++) {
        char argument[16];
        snprintf(argument, sizeof argument, "%d", i);
        assert_true(store_push_command(s, id, "budget", argument, &e));
    }
    for (int i = 0; i < TAKERS; i++)
        assert_true(store_push_command(s, id, "end", NULL, &e));
    for (int i = 0; i < TAKERS; i++)
        assert_int_equal(finish_child(pids[i]), 0);
    for (int i = 0; i < COMMANDS; i++)
        assert_int_equal(shared->taken[i], 1);
    assert_false(shared->order_broken);
    munmap(shared, sizeof *shared);
    close(memory);
    store_close(s);
    temp_remove(path);
}

static bool check_message(void *context, const struct message_record *m)
{
    static const char *const expected[][2] = {{"info", "one"}, {"warning", "two: \"2\""}};
    int *seen = context;
    assert_true(m->at > 1.6e9);
    assert_string_equal(m->level, expected[*seen][0]);
    assert_string_equal(m->text, expected[*seen][1]);
    return ++*seen < 2;
}

static bool keep_message(void *context, const struct message_record *m)
{
    struct message_record *last = context;
    assert_true(m->id > last->id);
    *last = (struct message_record){.id = m->id};
    return true;
}

static void test_messages(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    struct store *s = must_open(path, STORE_WRITE);
    struct err e;
    int64_t id = must_create(s, "gemm"), other = must_create(s, "mm");
    int seen = 0;
    assert_true(store_add_message(s, id, "info", "one", &e));
    assert_true(store_add_message(s, other, "error", "not ours", &e));
    assert_true(store_add_message(s, id, "warning", "two: \"2\"", &e));
    assert_true(store_add_message(s, id, "info", "not asked for", &e));
    assert_true(store_each_message(s, id, 0, check_message, &seen, &e));
    assert_int_equal(seen, 2);
    struct message_record last = {0};
    assert_true(store_each_message(s, id, 0, keep_message, &last, &e));
    seen = 0;
    assert_true(store_add_message(s, id, "info", "one", &e));
    assert_true(store_add_message(s, id, "warning", "two: \"2\"", &e));
    assert_true(store_each_message(s, id, last.id, check_message, &seen, &e)); // the new ones alone
    assert_int_equal(seen, 2);
    store_close(s);
    temp_remove(path);
}

TEST_GROUP(command)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_length),
        cmocka_unit_test(test_exactly_once),
        cmocka_unit_test(test_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
