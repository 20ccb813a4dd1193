// Locks of sessions: between processes, within one, and after a death.
#include "group.h"
#include "help.h"

#include "store/db.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

struct runner { // a child that holds a session's lock
    const char *path;
    int64_t id;
    int ready[2], done[2]; // pipes: it has the lock; it may end
};

static int run_session(void *context)
{
    struct runner *r = context;
    struct err e;
    char byte = 0;
    close(r->done[1]);
    struct store *s = store_open(r->path, STORE_WRITE, &e);
    CHILD_CHECK(s && store_lock_session(s, r->id, &e));
    CHILD_CHECK(write(r->ready[1], "x", 1) == 1);
    CHILD_CHECK(read(r->done[0], &byte, 1) == 0); // the other end is closed
    store_close(s);
    return 0;
}

static pid_t start_runner(struct runner *r)
{
    char byte;
    assert_int_equal(pipe(r->ready), 0);
    assert_int_equal(pipe(r->done), 0);
    pid_t pid = start_child(run_session, r);
    close(r->done[0]);
    assert_int_equal(read(r->ready[0], &byte, 1), 1);
    return pid;
}

static void forget_runner(struct runner *r)
{
    close(r->ready[0]);
    close(r->ready[1]);
}

static void test_between_processes(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    struct store *s = must_open(path, STORE_WRITE);
    int64_t id = must_create(s, "gemm"), other = must_create(s, "mm");
    struct runner r = {.path = path, .id = id};
    struct err e;
    pid_t pid = start_runner(&r);
    assert_int_equal(store_runner(s, id), pid);
    assert_int_equal(store_runner(s, other), 0);
    struct store *reader = must_open(path, STORE_READ);
    assert_int_equal(store_runner(reader, id), pid);
    store_close(reader);
    const struct session_record running = {.id = id, .state = STATE_RUNNING},
                                done = {.id = other, .state = STATE_DONE};
    pid_t runner;
    assert_int_equal(store_state(s, &running, &runner), STATE_RUNNING);
    assert_int_equal(runner, pid);
    assert_int_equal(store_state(s, &done, &runner), STATE_DONE);
    assert_int_equal(runner, 0);

    char line[256];
    snprintf(line, sizeof line,
             "session %d is running in process %d (`tilewalk pause %d --db %s` pauses it)", (int)id,
             (int)pid, (int)id, path);
    assert_false(store_lock_session(s, id, &e));
    assert_contains(e.text, line);
    assert_true(store_lock_session(s, other, &e)); // of another session
    assert_false(store_delete_session(s, id, &e));
    assert_contains(e.text, line);
    assert_int_equal(count_rows(s, "session"), 2);

    close(r.done[1]);
    assert_int_equal(finish_child(pid), 0);
    assert_int_equal(store_runner(s, id), 0);
    assert_int_equal(store_state(s, &running, &runner), STATE_PAUSED); // nobody is left
    assert_true(store_lock_session(s, id, &e));
    forget_runner(&r);
    store_close(s);
    temp_remove(path);
}

static void test_dead_runner(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    struct store *s = must_open(path, STORE_WRITE);
    struct runner r = {.path = path, .id = must_create(s, "gemm")};
    struct err e;
    pid_t pid = start_runner(&r);
    assert_int_equal(store_runner(s, r.id), pid);
    kill(pid, SIGKILL);
    assert_int_equal(finish_child(pid), 128 + SIGKILL);
    assert_int_equal(store_runner(s, r.id), 0);
    assert_true(store_lock_session(s, r.id, &e));
    close(r.done[1]);
    forget_runner(&r);
    store_close(s);
    temp_remove(path);
}

// The runners of session 1 and session 2, as another process sees them.
struct sight {
    const char *path;
    pid_t runner[2];
};

static int look(void *context)
{
    const struct sight *sight = context;
    struct store *s = store_open(sight->path, STORE_READ, NULL);
    CHILD_CHECK(s);
    CHILD_CHECK(store_runner(s, 1) == sight->runner[0]);
    CHILD_CHECK(store_runner(s, 2) == sight->runner[1]);
    store_close(s);
    return 0;
}

static void test_within_a_process(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    char *twin = mem_printf("%.*s/./x.db", (int)(strrchr(path, '/') - path), path);
    struct sight sight = {path, {getpid(), 0}};
    struct err e;
    struct store *a = must_open(path, STORE_WRITE), *b = must_open(twin, STORE_WRITE);
    must_create(a, "gemm"), must_create(a, "mm");
    assert_int_equal(store_runner(b, 1), 0);
    assert_true(store_lock_session(a, 1, &e));
    assert_false(store_lock_session(b, 1, &e)); // POSIX alone would let it
    assert_string_equal(e.text, "session 1 is running in this process");
    assert_false(store_lock_session(a, 1, &e)); // nor twice
    assert_int_equal(store_runner(b, 1), getpid());
    store_unlock_session(b, 1); // is not its to give
    assert_int_equal(in_child(look, &sight), 0);

    assert_true(store_lock_session(b, 2, &e));
    sight.runner[1] = getpid();
    assert_int_equal(in_child(look, &sight), 0);
    store_close(b); // gives its own back, and keeps ours though POSIX drops locks at close
    sight.runner[1] = 0;
    assert_int_equal(in_child(look, &sight), 0);

    struct store *reader = must_open(path, STORE_READ);
    assert_int_equal(store_runner(reader, 1), getpid());
    store_close(reader);
    assert_int_equal(in_child(look, &sight), 0);
    store_unlock_session(a, 1);
    sight.runner[0] = 0;
    assert_int_equal(in_child(look, &sight), 0);
    assert_true(store_lock_session(a, 1, &e));
    assert_true(store_delete_session(a, 1, &e)); // by who runs it
    store_close(a);
    free(twin);
    temp_remove(path);
}

static void test_reader_first(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    char *lock = mem_printf("%s.lock", path);
    struct sight sight = {path, {getpid(), 0}};
    struct stat st;
    struct err e;
    struct store *a = must_open(path, STORE_WRITE);
    must_create(a, "gemm");
    struct store *reader = must_open(path, STORE_READ);
    assert_int_equal(store_runner(reader, 1), 0);
    assert_int_equal(stat(lock, &st), -1); // asking makes no file
    assert_true(store_lock_session(a, 1, &e));
    store_unlock_session(a, 1);
    store_close(a);                               // the file stays, its descriptor goes
    assert_int_equal(store_runner(reader, 1), 0); // opens it for reading
    a = must_open(path, STORE_WRITE);
    assert_true(store_lock_session(a, 1, &e)); // which becomes one for writing
    assert_int_equal(store_runner(reader, 1), getpid());
    store_close(reader);
    assert_int_equal(in_child(look, &sight), 0);
    store_close(a);
    free(lock);
    temp_remove(path);
}

static int lock_after_fork(void *context)
{
    struct store *s = store_open(context, STORE_WRITE, NULL);
    struct err e;
    CHILD_CHECK(s);
    CHILD_CHECK(store_runner(s, 1) == getppid()); // not us, though our memory has its list
    CHILD_CHECK(!store_lock_session(s, 1, &e));
    CHILD_CHECK(strstr(e.text, "in process"));
    CHILD_CHECK(store_lock_session(s, 2, &e));
    store_close(s);
    return 0;
}

static void test_fork(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    struct sight sight = {path, {getpid(), 0}};
    struct err e;
    struct store *s = must_open(path, STORE_WRITE);
    must_create(s, "gemm"), must_create(s, "mm");
    assert_true(store_lock_session(s, 1, &e));
    assert_int_equal(in_child(lock_after_fork, path), 0);
    assert_int_equal(in_child(look, &sight), 0);
    store_close(s);
    temp_remove(path);
}

TEST_GROUP(lock)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_between_processes),
        cmocka_unit_test(test_dead_runner),
        cmocka_unit_test(test_within_a_process),
        cmocka_unit_test(test_reader_first),
        cmocka_unit_test(test_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
