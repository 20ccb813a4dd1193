// Versions of the schema: made, brought up to date, refused.
#include "help.h"

#include "base/file.h"
#include "store/db.h"

#include <unistd.h>

static void raw_execute(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static int64_t raw_number(const char *path, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return number;
}

// A history of its own: two versions were released, the third is new.
static const char *const history[] = {
    "CREATE TABLE pet(name TEXT); INSERT INTO pet VALUES ('rex');",
    "ALTER TABLE pet ADD COLUMN legs INTEGER; UPDATE pet SET legs = 4;",
    "ALTER TABLE pet RENAME TO animal; INSERT INTO animal VALUES ('tweety', 2);",
};

// A bare connection, as it is before tilewalk's own schema is looked at.
static struct store *bare(const char *path)
{
    struct store *s = mem_zero(1, sizeof *s);
    s->path = mem_strdup(path);
    s->mode = STORE_WRITE;
    assert_int_equal(sqlite3_open(path, &s->db), SQLITE_OK);
    return s;
}

static void test_migrate(void **state)
{
    (void)state;
    for (int from = 0; from <= 3; from++) {
        char *path = temp_path("x.db");
        struct err e;
        int version;
        struct store *s = bare(path);
        assert_true(from == 0 || db_migrate(s, history, from, &e));
        if (from >= 1)
            assert_true(db_execute(s,
                                   from < 3 ? "INSERT INTO pet(name) VALUES ('tom')"
                                            : "INSERT INTO animal(name) VALUES ('tom')",
                                   &e));
        store_close(s);
        s = bare(path);
        assert_true(db_version(s, 3, &version, &e));
        assert_int_equal(version, from);
        assert_true(db_migrate(s, history, 3, &e));
        assert_true(db_version(s, 3, &version, &e));
        assert_int_equal(version, 3);
        assert_int_equal(count_rows(s, "animal"), 2 + (from >= 1));
        assert_int_equal(count_rows(s, "animal WHERE name = 'rex' AND legs = 4"), 1);
        store_close(s);
        temp_remove(path);
    }
}

static void test_migration_fails(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "CREATE TABLE pet(name TEXT); INSERT INTO pet VALUES ('rex');",
        "ALTER TABLE pet ADD COLUMN legs INTEGER;",
        "UPDATE pet SET name = 'x'; INSERT INTO nowhere VALUES (1);",
    };
    char *path = temp_path("x.db");
    struct err e;
    int version;
    struct store *s = bare(path);
    assert_true(db_migrate(s, broken, 1, &e));
    assert_false(db_migrate(s, broken, 3, &e));
    assert_contains(e.text, "version 3");
    assert_contains(e.text, "nowhere");
    assert_contains(e.text, path);
    assert_true(db_version(s, 3, &version, &e)); // all of it was undone, the second step too
    assert_int_equal(version, 1);
    assert_int_equal(count_rows(s, "pet WHERE name = 'rex'"), 1);
    assert_int_equal(count_rows(s, "pragma_table_info('pet')"), 1);
    store_close(s);
    temp_remove(path);
}

static void test_make(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    struct err e;
    assert_true(file_write(path, "", 0, &e)); // an empty file is a database of version 0
    store_close(must_open(path, STORE_WRITE));
    int newest;
    db_scripts(&newest);
    assert_int_equal(raw_number(path, "PRAGMA user_version"), newest);
    struct store *s = must_open(path, STORE_WRITE);
    assert_int_equal(count_rows(s, "pragma_journal_mode WHERE journal_mode = 'wal'"), 1);
    assert_int_equal(count_rows(s, "pragma_foreign_keys WHERE foreign_keys"), 1);
    store_close(s);
    temp_remove(path);

    path = temp_path("y.db"); // a reader brings it up to date too
    assert_true(file_write(path, "", 0, &e));
    s = must_open(path, STORE_READ);
    assert_int_equal(count_rows(s, "session"), 0);
    store_close(s);
    temp_remove(path);
}

static void refused(const char *path, const char *part)
{
    for (int mode = STORE_READ; mode <= STORE_WRITE; mode++) {
        struct err e = {0};
        assert_null(store_open(path, (enum store_mode)mode, &e));
        assert_contains(e.text, path);
        assert_contains(e.text, part);
        assert_null(strchr(e.text, '\n'));
    }
}

static void test_newer(void **state)
{
    (void)state;
    char *path = temp_path("x.db");
    store_close(must_open(path, STORE_WRITE));
    raw_execute(path, "PRAGMA user_version = 99");
    refused(path, "written by a newer tilewalk: its schema has version 99, this program knows");
    assert_int_equal(raw_number(path, "PRAGMA user_version"), 99);
    temp_remove(path);
}

static void test_another_program(void **state)
{
    (void)state;
    static const char *const theirs[] = {
        "CREATE TABLE bookmarks(url TEXT)",
        "PRAGMA user_version = 1",
        "CREATE TABLE a(b); PRAGMA user_version = 1; PRAGMA application_id = 5",
    };
    for (int i = 0; i < 3; i++) {
        char *path = temp_path("x.db");
        raw_execute(path, theirs[i]);
        refused(path, "database of another program");
        // not a byte of it was changed, not even the journal mode
        assert_int_equal(
            raw_number(path, "SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'"),
            0);
        temp_remove(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_migrate),
        cmocka_unit_test(test_migration_fails),
        cmocka_unit_test(test_make),
        cmocka_unit_test(test_newer),
        cmocka_unit_test(test_another_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
