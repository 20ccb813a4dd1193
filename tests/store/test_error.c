// Failures of files: each is one clear line with the path and a hint, and nothing is lost.
// Root may do anything, so what is about permissions happens in a child that is nobody.
#include "group.h"
#include "help.h"

#include "base/file.h"
#include "store/db.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY 65534

static bool fails_with(const char *path, enum store_mode mode, const char *part)
{
    struct err e = {0};
    struct store *s = store_open(path, mode, &e);
    if (s || !strstr(e.text, part) || !strstr(e.text, path) || strchr(e.text, '\n')) {
        fprintf(stderr, "wanted '%s', got '%s'\n", part, s ? "success" : e.text);
        store_close(s);
        return false;
    }
    return true;
}

static bool become_nobody(void)
{
    return geteuid() != 0 || (setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
}

static char *made_database(const char *name)
{
    char *path = temp_path(name);
    struct store *s = must_open(path, STORE_WRITE);
    must_create(s, "gemm");
    must_put(s, 1, 1, OUTCOME_OK, 2);
    store_close(s);
    return path;
}

static void chmod_folder(const char *path, mode_t mode)
{
    char *folder = path_folder(path);
    assert_int_equal(chmod(folder, mode), 0);
    free(folder);
}

static void test_not_a_database(void **state)
{
    (void)state;
    char *path = temp_path("x.db"), *text = mem_zero(8001, 1);
    memset(text, 'x', 8000);
    struct err e;
    assert_true(file_write(path, text, 8000, &e));
    assert_true(fails_with(path, STORE_READ, "is not a database"));
    assert_true(fails_with(path, STORE_WRITE, "a database"));
    char *after;
    assert_true(file_read(path, &after, NULL, &e));
    assert_string_equal(after, text);
    free(after);
    free(text);
    temp_remove(path);
}

static void test_damaged(void **state)
{
    (void)state;
    char *path = made_database("x.db"), *bytes;
    size_t length;
    struct err e;
    assert_true(file_read(path, &bytes, &length, &e));
    memset(bytes + 100, 0xff, 4096 - 100); // the page that lists the tables
    assert_true(file_write(path, bytes, length, &e));
    assert_true(fails_with(path, STORE_READ, "is damaged"));
    assert_true(fails_with(path, STORE_WRITE, "is damaged"));
    free(bytes);
    temp_remove(path);

    path = made_database("y.db"); // damage that is met later
    assert_true(file_read(path, &bytes, &length, &e));
    struct store *s = must_open(path, STORE_READ);
    assert_true(store_check(s, &e));
    store_close(s);
    memset(bytes + 4096, 0xff, 4096); // the page of the sessions
    assert_true(file_write(path, bytes, length, &e));
    s = must_open(path, STORE_WRITE);
    struct session_record r;
    struct arena a;
    arena_init(&a);
    assert_false(store_get_session(s, 1, &a, &r, &e));
    assert_contains(e.text, "is damaged");
    assert_contains(e.text, path);
    assert_false(store_check(s, &e));
    assert_contains(e.text, "is damaged");
    assert_contains(e.text, path);
    assert_null(strchr(e.text, '\n'));
    arena_finish(&a);
    store_close(s);
    free(bytes);
    temp_remove(path);
}

static void test_places(void **state)
{
    (void)state;
    char *path = temp_path("x.db"), *inside = path_join(path, "y.db");
    char *missing = mem_printf("%s-missing/y.db", path);
    struct err e;
    assert_true(fails_with(path, STORE_READ, "there is no database"));
    assert_true(fails_with(missing, STORE_READ, strerror(ENOENT)));
    assert_int_equal(mkdir(path, 0755), 0);
    assert_true(fails_with(path, STORE_READ, "is a folder"));
    assert_true(fails_with(path, STORE_WRITE, "folder"));
    assert_int_equal(rmdir(path), 0);
    assert_true(file_write(path, "x", 1, &e));
    assert_true(fails_with(inside, STORE_READ, "is not a folder"));
    assert_null(store_open(inside, STORE_WRITE, &e));
    assert_contains(e.text, path);
    free(missing);
    free(inside);
    temp_remove(path);
}

static void fill_disk(struct store *s)
{
    sqlite3_exec(s->db, "PRAGMA max_page_count = 1", NULL, NULL, NULL); // as many as there are
}

static void test_full_disk(void **state)
{
    (void)state;
    char *path = made_database("x.db"), *big = mem_zero(200001, 1);
    memset(big, 'x', 200000);
    struct trial_record t = {.ask = 2, .outcome = OUTCOME_OK, .seconds = 1, .samples = big};
    struct arena a;
    struct err e;
    arena_init(&a);
    struct store *s = must_open(path, STORE_WRITE);
    fill_disk(s);
    assert_false(store_put_trial(s, 1, &t, &e));
    assert_contains(e.text, "the disk is full");
    assert_contains(e.text, path);

    assert_true(store_begin(s, &e)); // inside a transaction
    must_put(s, 1, 3, OUTCOME_OK, 1);
    assert_false(store_put_trial(s, 1, &t, &e));
    assert_contains(e.text, "full");
    assert_false(store_commit(s, &e));
    assert_int_equal(count_rows(s, "trial"), 1);
    assert_int_equal(must_get(s, 1, &a).ok, 1);

    // Room was made.
    sqlite3_exec(s->db, "PRAGMA max_page_count = 100000", NULL, NULL, NULL);
    assert_true(store_put_trial(s, 1, &t, &e));
    assert_int_equal(must_get(s, 1, &a).best_ask, 2);
    arena_finish(&a);
    store_close(s);
    free(big);
    temp_remove(path);
}

static bool count_step(void *context, const struct best_step *step)
{
    return ++*(int *)context && step->seconds == 2;
}

static bool count_trial(void *context, const struct trial_record *t)
{
    return ++*(int *)context && t->seconds == 2;
}

static int use_read_only_file(void *context)
{
    const char *path = context;
    struct err e;
    CHILD_CHECK(become_nobody());
    CHILD_CHECK(fails_with(path, STORE_WRITE, "Permission denied"));
    struct store *s = store_open(path, STORE_READ, &e);
    CHILD_CHECK(s);
    struct arena a;
    struct session_record r;
    arena_init(&a);
    CHILD_CHECK(store_get_session(s, 1, &a, &r, &e));
    CHILD_CHECK(r.best_seconds == 2);
    CHILD_CHECK(store_changed(s) && !store_changed(s));
    int seen = 0;
    int64_t tally[OUTCOME_COUNT];
    CHILD_CHECK(store_each_best(s, 1, 0, count_step, &seen, &e) && seen == 1);
    CHILD_CHECK(store_each_numbered(s, 1, 1, count_trial, &seen, &e) && seen == 2);
    CHILD_CHECK(store_each_ranked(s, 1, 0, count_trial, &seen, &e) && seen == 3);
    CHILD_CHECK(store_get_tally(s, 1, tally, NULL, &e) && tally[OUTCOME_OK] == 1);
    struct trial_record t = {.ask = 2, .outcome = OUTCOME_OPEN};
    CHILD_CHECK(!store_put_trial(s, 1, &t, &e));
    CHILD_CHECK(strstr(e.text, "opened for reading"));
    CHILD_CHECK(store_runner(s, 1) == 0);
    arena_finish(&a);
    store_close(s);
    return 0;
}

static void test_read_only_file(void **state)
{
    (void)state;
    for (int folder_too = 0; folder_too <= 1; folder_too++) { // no place for files beside it
        char *path = made_database("strange name?#%.db");
        assert_int_equal(chmod(path, 0444), 0);
        chmod_folder(path, folder_too ? 0555 : 0777);
        assert_int_equal(in_child(use_read_only_file, path), 0);
        chmod_folder(path, 0755);
        temp_remove(path);
    }
}

static int use_read_only_folder(void *context)
{
    char *path = context, *fresh = mem_printf("%s-new", path);
    CHILD_CHECK(become_nobody());
    CHILD_CHECK(fails_with(path, STORE_WRITE, "its folder: Permission denied"));
    CHILD_CHECK(fails_with(fresh, STORE_WRITE, "Permission denied"));
    free(fresh);
    return 0;
}

static void test_read_only_folder(void **state)
{
    (void)state;
    char *path = made_database("x.db");
    assert_int_equal(chmod(path, 0666), 0);
    chmod_folder(path, 0555);
    assert_int_equal(in_child(use_read_only_folder, path), 0);
    chmod_folder(path, 0755);
    temp_remove(path);
}

static int use_secret(void *context)
{
    CHILD_CHECK(become_nobody());
    CHILD_CHECK(fails_with(context, STORE_READ, "Permission denied"));
    CHILD_CHECK(fails_with(context, STORE_WRITE, "Permission denied"));
    return 0;
}

static void test_secret(void **state)
{
    (void)state;
    char *path = made_database("x.db");
    assert_int_equal(chmod(path, 0000), 0);
    assert_int_equal(in_child(use_secret, path), 0);
    chmod_folder(path, 0000);
    assert_int_equal(in_child(use_secret, path), 0);
    chmod_folder(path, 0755);
    temp_remove(path);
}

// Somebody else's database: its owner is writing, and is then killed.
static int watch(void *context)
{
    struct err e;
    struct arena a;
    struct session_record r;
    CHILD_CHECK(become_nobody());
    struct store *s = store_open(context, STORE_READ, &e);
    CHILD_CHECK(s);
    arena_init(&a);
    CHILD_CHECK(store_get_session(s, 1, &a, &r, &e));
    CHILD_CHECK(r.best_seconds == 1); // only in the WAL yet
    arena_finish(&a);
    store_close(s);
    return 0;
}

static int cannot_watch(void *context)
{
    CHILD_CHECK(become_nobody());
    CHILD_CHECK(fails_with(context, STORE_READ, "its last changes are in"));
    return 0;
}

static int write_and_die(void *context)
{
    struct err e;
    struct store *s = store_open(context, STORE_WRITE, &e);
    struct trial_record t = {.ask = 2, .outcome = OUTCOME_OK, .seconds = 1};
    CHILD_CHECK(s && store_put_trial(s, 1, &t, &e));
    return 0; // without closing
}

static void test_others_database(void **state)
{
    (void)state;
    char *path = made_database("x.db"), *index = mem_printf("%s-shm", path);
    struct store *s = must_open(path, STORE_WRITE);
    must_put(s, 1, 2, OUTCOME_OK, 1);
    assert_int_equal(in_child(watch, path), 0);
    store_close(s);

    assert_int_equal(in_child(write_and_die, path), 0);
    assert_int_equal(unlink(index), 0);
    chmod_folder(path, 0555);
    assert_int_equal(in_child(cannot_watch, path), 0);
    chmod_folder(path, 0777); // a file made there would be the reader's, and lock out the owner
    assert_int_equal(in_child(cannot_watch, path), 0);
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(in_child(watch, path), 0);
    free(index);
    temp_remove(path);
}

TEST_GROUP(error)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_a_database), cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_places),         cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_read_only_file), cmocka_unit_test(test_read_only_folder),
        cmocka_unit_test(test_secret),         cmocka_unit_test(test_others_database),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
