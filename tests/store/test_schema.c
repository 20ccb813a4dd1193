// Versions of the schema: made, brought up to date, refused.
#include "group.h"
#include "help.h"

#include "base/file.h"
#include "base/str.h"
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
    static const char pet[] = "INSERT INTO pet(name) VALUES ('tom')",
                      animal[] = "INSERT INTO animal(name) VALUES ('tom')",
                      rex[] = "animal WHERE name = 'rex' AND legs = 4";
    for (int from = 0; from <= 3; from++) {
        char *path = temp_path("x.db");
        struct err e;
        int version;
        struct store *s = bare(path);
        assert_true(from == 0 || db_migrate(s, history, from, &e));
        if (from >= 1)
            assert_true(db_execute(s, from < 3 ? pet : animal, &e));
        store_close(s);
        s = bare(path);
        assert_true(db_version(s, 3, &version, &e));
        assert_int_equal(version, from);
        assert_true(db_migrate(s, history, 3, &e));
        assert_true(db_version(s, 3, &version, &e));
        assert_int_equal(version, 3);
        assert_int_equal(count_rows(s, "animal"), 2 + (from >= 1));
        assert_int_equal(count_rows(s, rex), 1);
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

// A process was killed while it made the database: there is one page without tables, which is new
// by its journal. A reader updates the database, too, and sees the result.
static void test_killed_while_made(void **state)
{
    (void)state;
    static const unsigned char header[512] = {
        0xd9,      0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7, // what journals begin with
        [22] = 2,                                            // sectors of 512 bytes
        [26] = 16,                                           // pages of 4096
    };
    char *path = temp_path("x.db"), *journal = mem_printf("%s-journal", path);
    struct err e;
    raw_execute(path, "CREATE TABLE a(b); DROP TABLE a");
    assert_true(file_write(journal, (const char *)header, sizeof header, &e));
    struct store *s = must_open(path, STORE_READ);
    assert_int_equal(count_rows(s, "session"), 0);
    store_close(s);
    free(journal);
    temp_remove(path);
}

// A database of version 1: two sessions, trials whose results came in another order, one in
// flight, races, commands, messages.
static const char left_by_version_1[] =
    "INSERT INTO session(id, name, state, trials, rejected, ok, note)"
    " VALUES (1, 'gemm', 'done', 5, 1, 3, 'keep'), (2, 'mm', 'paused', 1, 0, 1, NULL);"
    "UPDATE session SET created = 1, path = '', title = '', operation = '{}', settings = '{}',"
    " device = '', driver = '', device_type = '', device_id = '', limits = '', source = '',"
    " strategy = '', seed = 1, flop = 1, size = '', text_hash = '', budget_trials = 9, workers = 1,"
    " count_rejected = 0;"
    "INSERT INTO text VALUES (1, 0, 'space', 'gemm.lua', 'a');"
    "INSERT INTO trial(session, ask, number, told, key, outcome, seconds, early_stopped, elapsed_s,"
    " finished, rank_seconds) VALUES"
    " (1, 1, 2, 2, '0,1', 'ok', 5, 0, 20, 1002, 6),"
    " (1, 2, 0, 3, '0,2', 'rejected', 0, 0, 30, 1003, NULL),"
    " (1, 3, 1, 1, '0,3', 'ok', 7, 0, 10, 1001, 7),"
    " (1, 4, 3, 4, '0,4', 'wrong', 0, 1, 30, 1003, NULL),"
    " (1, 5, 4, 5, '0,5', 'ok', 5, 1, 40, 1004, NULL),"
    " (1, 6, 0, 0, '0,6', NULL, 0, 0, 0, 0, NULL),"
    " (1, 7, 5, 6, '0,7', 'crash', 0, 0, 50, 1005, NULL),"
    " (2, 1, 1, 1, '0,1', 'ok', 9, 0, 10, 1001, 9);"
    "UPDATE trial SET asked_after = 0, generation = 0, config = '{}', worker = 0;"
    "INSERT INTO retime(session, ask, kind, seconds, samples, verified, at) VALUES"
    " (1, 1, 'race', 6, '[6]', 1, 2000), (1, 5, 'race', 1, '[1]', 0, 2000);"
    "INSERT INTO command(session, verb, argument, at) VALUES (1, 'budget', '9', 1);"
    "INSERT INTO message(session, at, level, text) VALUES (1, 1, 'warning', 'it drifts');";

static char *database_of_version_1(void)
{
    char *path = temp_path("x.db");
    int newest;
    struct err e;
    struct store *s = bare(path);
    assert_true(db_migrate(s, db_scripts(&newest), 1, &e));
    if (!db_execute(s, left_by_version_1, &e))
        fail_msg("%s", e.text);
    store_close(s);
    assert_int_equal(raw_number(path, "PRAGMA user_version"), 1);
    return path;
}

static bool add_step(void *context, const struct best_step *step)
{
    str_printf(context, "%d@%d:%g,%g,%g ", (int)step->ask, (int)step->number, step->seconds,
               step->elapsed_s, step->finished);
    return true;
}

static bool add_message(void *context, const struct message_record *m)
{
    str_add(context, m->text);
    return true;
}

static void check_upgraded(struct store *s)
{
    struct err e;
    struct arena a;
    struct str text = {0};
    struct trial_record t;
    int64_t tally[OUTCOME_COUNT], early;
    const int64_t expected[OUTCOME_COUNT] = {
        [OUTCOME_OK] = 3, [OUTCOME_REJECTED] = 1, [OUTCOME_WRONG] = 1, [OUTCOME_CRASH] = 1};
    arena_init(&a);
    assert_true(store_each_best(s, 1, 0, add_step, &text, &e));
    assert_true(store_each_best(s, 2, 0, add_step, &text, &e));
    assert_true(store_each_message(s, 1, 0, add_message, &text, &e));
    assert_string_equal(str_text(&text), "3@1:7,10,1001 1@2:5,20,1002 1@1:9,10,1001 it drifts");
    assert_true(store_get_tally(s, 1, tally, &early, &e));
    assert_memory_equal(tally, expected, sizeof tally);
    assert_int_equal(early, 1); // the wrong one does not count
    assert_true(store_find_trial(s, 1, "0,6", &a, &t, &e));
    assert_true(t.ask == 6 && t.outcome == OUTCOME_OPEN && !t.origin);
    struct session_record r = must_get(s, 1, &a);
    assert_true(r.best_ask == 1 && r.best_seconds == 6 && r.trials == 5);
    assert_string_equal(r.note, "keep");
    assert_null(r.population);
    arena_finish(&a);
    str_finish(&text);
}

// Two races, as sessions had that were resumed when nothing was left to do: their times were ranked
// as if they could be compared.
static void test_two_races(void **state)
{
    (void)state;
    char *path = database_of_version_1();
    raw_execute(path, "INSERT INTO trial(session, ask, number, told, key, outcome, seconds,"
                      " rank_seconds) VALUES (2, 2, 2, 2, '2', 'ok', 4, 3),"
                      " (2, 3, 3, 3, '3', 'ok', 5, 2), (2, 4, 4, 4, '4', 'ok', 1, NULL);"
                      "INSERT INTO retime(session, ask, kind, seconds, verified, at) VALUES"
                      " (2, 3, 'race', 2, 1, 100.001), (2, 4, 'race', 1, 0, 100.002),"
                      " (2, 2, 'race', 1, 1, 100.002), (2, 2, 'canary', 1, 1, 150),"
                      " (2, 1, 'race', 9, 1, 200.001), (2, 2, 'race', 3, 1, 200.002);"
                      "UPDATE trial SET asked_after = 0, generation = 0, config = '{}', worker = 0,"
                      " early_stopped = 0, elapsed_s = 1, finished = 1 WHERE session = 2");
    struct store *s = must_open(path, STORE_READ);
    struct arena a;
    struct err e;
    struct ranked_trials list;
    arena_init(&a);
    assert_true(store_best_trials(s, 2, 9, &a, &list, &e));
    assert_int_equal(list.count, 3);
    const struct trial_record *best = list.trial;
    assert_true(best[0].ask == 2 && best[0].seconds == 3 && best[0].raced);
    assert_true(best[1].ask == 1 && best[1].seconds == 9 && best[1].raced);
    assert_true(best[2].ask == 3 && best[2].seconds == 5 && !best[2].raced);
    struct session_record r = must_get(s, 2, &a);
    assert_true(r.best_ask == 2 && r.best_seconds == 3 && r.best_raced);
    arena_finish(&a);
    store_close(s);
    temp_remove(path);
}

// An option was renamed (a session that used it otherwise reports that when it is resumed); others
// came later.
static void test_walk_by_count(void **state)
{
    (void)state;
    char *path = database_of_version_1();
    raw_execute(path,
                "UPDATE session SET strategy = 'walk:starts=9:batch=1' WHERE id = 1;"
                "UPDATE session SET strategy = 'walk:starts=9:batch=4:surprise=2' WHERE id = 2");
    struct store *s = must_open(path, STORE_WRITE);
    struct arena a;
    arena_init(&a);
    assert_string_equal(must_get(s, 1, &a).strategy,
                        "walk:starts=9:ahead=0:leave=0:cost=0:surprise=0:climb=0");
    assert_string_equal(must_get(s, 2, &a).strategy,
                        "walk:starts=9:batch=4:surprise=2:leave=0:cost=0:climb=0");
    arena_finish(&a);
    store_close(s);
    temp_remove(path);
}

static void test_from_version_1(void **state)
{
    (void)state;
    for (int mode = STORE_READ; mode <= STORE_WRITE; mode++) {
        char *path = database_of_version_1();
        struct store *s = must_open(path, (enum store_mode)mode);
        check_upgraded(s);
        store_close(s);
        assert_true(raw_number(path, "PRAGMA user_version") > 1);
        s = must_open(path, STORE_WRITE); // it goes on as if it had always been version 2
        struct err e;
        struct trial_record t = {.ask = 6, .number = 6, .outcome = OUTCOME_OK, .seconds = 4};
        struct str text = {0};
        assert_true(store_put_trial(s, 1, &t, &e));
        assert_true(store_each_best(s, 1, 2, add_step, &text, &e));
        assert_string_equal(str_text(&text), "6@6:4,0,0 ");
        assert_true(store_delete_session(s, 1, &e));
        assert_int_equal(count_rows(s, "tally"), 1);
        str_finish(&text);
        store_close(s);
        temp_remove(path);
    }
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

TEST_GROUP(schema)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_migrate),
        cmocka_unit_test(test_migration_fails),
        cmocka_unit_test(test_make),
        cmocka_unit_test(test_killed_while_made),
        cmocka_unit_test(test_walk_by_count),
        cmocka_unit_test(test_from_version_1),
        cmocka_unit_test(test_two_races),
        cmocka_unit_test(test_newer),
        cmocka_unit_test(test_another_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
