// Readers of a database: they make and change no file, and see what writers do.
#include "group.h"
#include "help.h"

#include "base/file.h"
#include "store/db.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534 };

// A database with a trial of 2 s that nobody has open.
static char *made_database(const char *name)
{
    char *path = temp_path(name);
    struct store *s = must_open(path, STORE_WRITE);
    must_put(s, must_create(s, "gemm"), 1, OUTCOME_OK, 2);
    store_close(s);
    return path;
}

static void chmod_folder(const char *path, mode_t mode)
{
    char *folder = path_folder(path);
    assert_int_equal(chmod(folder, mode), 0);
    free(folder);
}

static double best_of(struct store *s)
{
    struct arena a;
    arena_init(&a);
    double best_s = must_get(s, 1, &a).best_seconds;
    arena_finish(&a);
    return best_s;
}

static int files_beside(const char *path)
{
    char *folder = path_folder(path);
    DIR *all = opendir(folder);
    int count = 0;
    assert_non_null(all);
    for (struct dirent *one; (one = readdir(all));)
        count += one->d_name[0] != '.';
    closedir(all);
    free(folder);
    return count;
}

static int look(void *context)
{
    struct err e;
    struct arena a;
    struct session_record r;
    if (geteuid() == 0)
        CHILD_CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    struct store *s = store_open(context, STORE_READ, &e);
    arena_init(&a);
    CHILD_CHECK(s && store_get_session(s, 1, &a, &r, &e));
    arena_finish(&a);
    store_close(s);
    return 0;
}

static void test_nothing_is_left(void **state)
{
    (void)state;
    static const mode_t modes[] = {0644, 0666};
    for (size_t i = 0; i < 2; i++) {
        char *path = made_database("x.db");
        assert_int_equal(chmod(path, modes[i]), 0);
        chmod_folder(path, 0777);
        uint64_t before = file_stamp(path, 0);
        assert_int_equal(files_beside(path), 1);
        assert_int_equal(in_child(look, path), 0);
        assert_int_equal(files_beside(path), 1);
        assert_true(file_stamp(path, 0) == before);
        temp_remove(path);
    }
}

static int write_and_die(void *context)
{
    struct err e;
    struct store *s = store_open(context, STORE_WRITE, &e);
    struct trial_record t = {.ask = 2, .outcome = OUTCOME_OK, .seconds = 1};
    CHILD_CHECK(s && store_put_trial(s, 1, &t, &e));
    return 0; // without closing
}

// What a killed writer left is read, and is there for its owner as it was.
static void test_a_killed_writer(void **state)
{
    (void)state;
    char *path = made_database("x.db"), *log = mem_printf("%s-wal", path);
    assert_int_equal(in_child(write_and_die, path), 0);
    chmod_folder(path, 0777);
    uint64_t before = file_stamp(log, file_stamp(path, 0));
    struct store *s = must_open(path, STORE_READ);
    assert_true(best_of(s) == 1);
    store_close(s);
    assert_int_equal(in_child(look, path), 0);
    assert_true(file_stamp(log, file_stamp(path, 0)) == before);
    s = must_open(path, STORE_WRITE);
    must_put(s, 1, 3, OUTCOME_OK, 0.5);
    assert_true(best_of(s) == 0.5);
    store_close(s);
    free(log);
    temp_remove(path);
}

static int begin_and_die(void *context)
{
    struct err e;
    struct store *s = store_open(context, STORE_WRITE, &e);
    CHILD_CHECK(s);
    CHILD_CHECK(sqlite3_exec(s->db, "UPDATE session SET name = 'x'", NULL, NULL, NULL) ==
                SQLITE_OK);
    return 0;
}

// SQLite cannot read a log that ends behind its header through a -shm that it may not write.
static void test_a_log_without_changes(void **state)
{
    (void)state;
    char *path = made_database("x.db"), *log = mem_printf("%s-wal", path);
    assert_int_equal(in_child(begin_and_die, path), 0);
    assert_int_equal(truncate(log, 32), 0);
    chmod_folder(path, 0777);
    assert_int_equal(in_child(look, path), 0);
    free(log);
    temp_remove(path);
}

struct talk {
    const char *path;
    int go[2], done[2];
};

static bool tell(const int ends[2])
{
    return write(ends[1], "x", 1) == 1;
}

static bool hear(const int ends[2])
{
    char byte;
    return read(ends[0], &byte, 1) == 1;
}

static int write_when_told(void *context)
{
    const struct talk *t = context;
    struct err e;
    struct trial_record r = {.ask = 2, .outcome = OUTCOME_OK, .seconds = 1};
    CHILD_CHECK(hear(t->go));
    struct store *s = store_open(t->path, STORE_WRITE, &e);
    CHILD_CHECK(s && store_put_trial(s, 1, &r, &e));
    CHILD_CHECK(tell(t->done) && hear(t->go));
    store_close(s);
    CHILD_CHECK(tell(t->done));
    return 0;
}

static pid_t start_writer(struct talk *t, const char *path)
{
    t->path = path;
    assert_int_equal(pipe(t->go), 0);
    assert_int_equal(pipe(t->done), 0);
    return start_child(write_when_told, t);
}

static void step(const struct talk *t)
{
    assert_true(tell(t->go) && hear(t->done));
}

static void end_talk(const struct talk *t)
{
    for (int i = 0; i < 2; i++) {
        close(t->go[i]);
        close(t->done[i]);
    }
}

// A reader of a database that nobody used sees the writer that comes.
static void test_a_writer_comes_and_goes(void **state)
{
    (void)state;
    struct talk t;
    char *path = made_database("x.db");
    pid_t writer = start_writer(&t, path);
    struct store *s = must_open(path, STORE_READ);
    assert_true(store_changed(s) && !store_changed(s) && best_of(s) == 2);
    step(&t); // it has written
    assert_true(store_changed(s) && best_of(s) == 1);
    step(&t); // it has closed
    assert_true(best_of(s) == 1);
    assert_int_equal(finish_child(writer), 0);
    store_close(s);
    end_talk(&t);
    temp_remove(path);
}

// Rows of two states are not taken for one.
static void test_changed_while_read(void **state)
{
    (void)state;
    struct talk t;
    struct err e = {.text = ""};
    char *path = made_database("x.db");
    pid_t writer = start_writer(&t, path);
    struct store *s = must_open(path, STORE_READ);
    struct query q = query_start(s, "SELECT seconds FROM trial", &e);
    assert_true(query_next(&q));
    step(&t);
    step(&t); // closing writes to the database file
    assert_false(query_end(&q));
    assert_contains(e.text, "try again");
    assert_true(best_of(s) == 1);
    assert_int_equal(finish_child(writer), 0);
    assert_int_equal(files_beside(path), 1);
    store_close(s);
    end_talk(&t);
    temp_remove(path);
}

static int make_with_umask(void *context)
{
    static const mode_t masks[] = {002, 022, 027};
    static const char *const parts[] = {"", "-wal", "-shm", ".lock"};
    const char *base = context;
    struct err e;
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        char *path = mem_printf("%s%zu", base, i);
        umask(masks[i]);
        struct store *s = store_open(path, STORE_WRITE, &e);
        CHILD_CHECK(s);
        CHILD_CHECK(store_lock_session(s, 1, &e));
        for (size_t j = 0; j < sizeof parts / sizeof *parts; j++) {
            char *part = mem_printf("%s%s", path, parts[j]);
            struct stat info;
            CHILD_CHECK(stat(part, &info) == 0);
            CHILD_CHECK((info.st_mode & 0777) == (0666 & ~masks[i]));
            free(part);
        }
        store_close(s);
        free(path);
    }
    return 0;
}

static void test_umask(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    assert_int_equal(in_child(make_with_umask, path), 0);
    temp_remove(path);
}

// --- several people ---

enum { GROUP = 4242 };

struct person {
    const char *path;
    uid_t user;
    int64_t ask;
};

static int work_as(void *context)
{
    const struct person *p = context;
    struct err e = {.text = ""};
    struct trial_record t = {.ask = p->ask, .outcome = OUTCOME_OK, .seconds = 1};
    umask(002);
    CHILD_CHECK(setgid(GROUP) == 0 && setuid(p->user) == 0);
    struct store *s = store_open(p->path, STORE_WRITE, &e);
    fputs(e.text, stderr);
    CHILD_CHECK(s && store_put_trial(s, 1, &t, &e));
    if (p->ask % 2)
        store_close(s); // else it dies
    return 0;
}

// Two users of a group work in turn, in a folder with the setgid bit, and one with the sticky bit
// too.
static void test_two_people(void **state)
{
    (void)state;
    static const mode_t modes[] = {02775, 03775};
    if (geteuid() != 0)
        skip();
    for (size_t i = 0; i < 2; i++) {
        char *path = made_database("x.db"), *folder = path_folder(path);
        assert_int_equal(chown(path, 2001, GROUP), 0);
        assert_int_equal(chmod(path, 0664), 0);
        assert_int_equal(chown(folder, 0, GROUP), 0);
        assert_int_equal(chmod(folder, modes[i]), 0);
        for (int64_t ask = 2; ask < 10; ask++) {
            struct person p = {path, ask / 2 % 2 ? 2001 : 2002, ask};
            assert_int_equal(in_child(work_as, &p), 0);
        }
        free(folder);
        temp_remove(path);
    }
}

TEST_GROUP(look)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_left),
        cmocka_unit_test(test_a_killed_writer),
        cmocka_unit_test(test_a_log_without_changes),
        cmocka_unit_test(test_a_writer_comes_and_goes),
        cmocka_unit_test(test_changed_while_read),
        cmocka_unit_test(test_umask),
        cmocka_unit_test(test_two_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
