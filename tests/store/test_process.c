// Several processes and sudden deaths.
#include "group.h"
#include "help.h"

#include "store/db.h"

#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRITERS = 3, TRIALS = 150 };

static bool put(struct store *s, int64_t id, int64_t ask, struct err *e)
{
    struct trial_record t = {
        .ask = ask, .number = ask, .outcome = OUTCOME_OK, .seconds = (double)ask};
    return store_put_trial(s, id, &t, e);
}

static int die_inside(void *context)
{
    struct err e;
    struct store *s = store_open(context, STORE_WRITE, &e);
    CHILD_CHECK(s);
    for (int ask = 1; ask <= 3; ask++)
        CHILD_CHECK(store_begin(s, &e) && put(s, 1, ask, &e) && store_commit(s, &e));
    CHILD_CHECK(store_begin(s, &e));
    for (int ask = 4; ask <= 3000; ask++) // more than the cache holds: some of it is in the file
        CHILD_CHECK(put(s, 1, ask, &e));
    sqlite3_db_cacheflush(s->db);
    raise(SIGKILL);
    return 0;
}

static void test_kill(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    struct arena a;
    arena_init(&a);
    struct store *s = must_open(path, STORE_WRITE);
    must_create(s, "gemm");
    for (int reopened = 0; reopened < 2; reopened++) { // with another process alive, and alone
        if (reopened)
            store_close(s);
        assert_int_equal(in_child(die_inside, path), 128 + SIGKILL);
        if (reopened)
            s = must_open(path, STORE_WRITE);
        struct session_record r = must_get(s, 1, &a);
        assert_int_equal(count_rows(s, "trial"), 3);
        assert_true(r.trials == 3 && r.ok == 3 && r.best_ask == 1);
    }
    must_put(s, 1, 4, OUTCOME_OK, 0.5); // and goes on
    assert_int_equal(must_get(s, 1, &a).best_ask, 4);
    arena_finish(&a);
    store_close(s);
    temp_remove(path);
}

static int write_session(void *context)
{
    struct err e;
    struct store *s = store_open(context, STORE_WRITE, &e);
    CHILD_CHECK(s);
    struct session_record r = {.name = "own", .state = STATE_RUNNING, .workers = 1};
    int64_t id;
    CHILD_CHECK(store_create_session(s, &r, NULL, 0, &id, &e));
    for (int ask = 1; ask <= TRIALS; ask++)
        CHILD_CHECK(store_begin(s, &e) && put(s, id, ask, &e) && store_commit(s, &e));
    store_close(s);
    return 0;
}

static bool expect_next(void *context, const struct trial_record *t)
{
    int64_t *last = context;
    assert_int_equal(t->ask, *last + 1);
    *last = t->ask;
    return true;
}

// Writers create the database at once and write; a reader sees whole trials only, sums and rows of
// one moment.
static void test_concurrent(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    struct arena a;
    struct err e;
    pid_t pids[WRITERS];
    struct stat st;
    for (int i = 0; i < WRITERS; i++)
        pids[i] = start_child(write_session, path);
    while (stat(path, &st) != 0)
        sched_yield();
    struct store *reader = must_open(path, STORE_READ);
    arena_init(&a);
    for (int64_t least = 0; least < TRIALS;) {
        struct session_record *list;
        int count;
        assert_true(store_begin(reader, &e));
        assert_true(store_list_sessions(reader, &a, &list, &count, &e));
        least = count == WRITERS ? TRIALS : 0;
        for (int i = 0; i < count; i++) {
            int64_t last = 0;
            assert_true(store_each_trial(reader, list[i].id, 1, expect_next, &last, &e));
            assert_int_equal(last, list[i].trials);
            assert_int_equal(list[i].best_ask, last > 0);
            least = last < least ? last : least;
        }
        assert_true(store_commit(reader, &e));
        arena_finish(&a);
    }
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(finish_child(pids[i]), 0);
    store_close(reader);
    temp_remove(path);
}

struct start {
    char *path;
    int gate[2]; // closed by the starter: all go at once
};

static int open_at_once(void *context)
{
    struct start *start = context;
    struct err e;
    char byte;
    close(start->gate[1]);
    CHILD_CHECK(read(start->gate[0], &byte, 1) == 0);
    struct store *s = store_open(start->path, STORE_WRITE, &e);
    if (!s)
        fprintf(stderr, "%s\n", e.text);
    CHILD_CHECK(s);
    store_close(s);
    return 0;
}

// The first process makes the database, the others find it.
static void test_create_at_once(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct start start = {.path = temp_path("x.db")};
        pid_t pids[6];
        assert_int_equal(pipe(start.gate), 0);
        for (int i = 0; i < 6; i++)
            pids[i] = start_child(open_at_once, &start);
        close(start.gate[0]);
        close(start.gate[1]);
        for (int i = 0; i < 6; i++)
            assert_int_equal(finish_child(pids[i]), 0);
        temp_remove(start.path);
    }
}

TEST_GROUP(process)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kill),
        cmocka_unit_test(test_concurrent),
        cmocka_unit_test(test_create_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
