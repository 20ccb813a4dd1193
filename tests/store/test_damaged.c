// Rows that others damaged: each column of each table gets each of a list of values, in one of
// three sessions, and everything that reads is called. The damaged session answers or refuses; the
// others answer as before.
#include "group.h"
#include "help.h"

#include "base/file.h"
#include "base/str.h"

#include <math.h>
#include <sqlite3.h>
#include <unistd.h>

#define HURT 2 // the session that is damaged

static const char *const tables[] = {"session", "text",    "trial",      "retime",
                                     "command", "message", "best_step",  "tally",
                                     "refit",   "look",    "calibration"};
static const char *const values[] = {
    "NULL",
    "'x'",
    "''",
    "x'00ff'",
    "-1",
    "0",
    "12.5",
    "1e300",
    "9e999",
    "100000000",
    "9223372036854775807",
    "char(0)",
    "'a' || char(0) || 'b'",
    "CAST(x'c328' AS TEXT)",
    "'{\"a\":'",
    "'1,,2'",
    "'3:200 5:'",
    "printf('%.200000c', 'x')",
};
#define COUNT(list) (sizeof(list) / sizeof *(list))

// Tables as another program may leave them: any column takes any value.
static const char loosen[] =
    "PRAGMA writable_schema = ON;"
    "UPDATE sqlite_schema SET sql = replace(replace(replace(sql, ') STRICT, WITHOUT', ') WITHOUT'),"
    " ') STRICT', ')'), ' NOT NULL', '') WHERE type = 'table';"
    "PRAGMA writable_schema = RESET";

static sqlite3 *raw_open(const char *path)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL), SQLITE_OK);
    return db;
}

static void raw_execute(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

static void fill_session(struct store *s)
{
    struct err e;
    int64_t id = must_create(s, "gemm");
    must_put(s, id, 1, OUTCOME_OK, 2);
    must_put(s, id, 2, OUTCOME_OK, 1);
    must_put(s, id, 3, OUTCOME_WRONG, 0);
    struct retime_record race = {
        .ask = 1, .kind = "race", .seconds = 0.5, .samples = "[0.5]", .verified = true, .at = 1};
    struct refit_record refit = {.number = 1, .told = 2, .rows = 2, .correlation = NAN, .k = 1};
    assert_true(store_put_probe(s, id, &(struct probe_record){"8,4", true, "{\"VGPRs\":96}"}, &e));
    assert_true(store_add_calibration(s, id, &(struct calibration_record){2, 1, 2}, &e));
    assert_true(store_put_retime(s, id, &race, &e));
    assert_true(store_put_refit(s, id, &refit, &e));
    assert_true(store_add_message(s, id, "info", "hello", &e));
    assert_true(store_push_command(s, id, "budget", "9", &e));
    assert_true(store_set_population(s, id, "1,2", &e));
}

static char *make_whole(void)
{
    char *path = temp_path("whole.db");
    struct store *s = must_open(path, STORE_WRITE);
    for (int i = 0; i < 3; i++)
        fill_session(s);
    store_close(s);
    sqlite3 *db = raw_open(path);
    raw_execute(db, loosen);
    sqlite3_close(db);
    return path;
}

// --- everything that reads ---

static void look(const char *text)
{
    if (text)
        assert_true(strlen(text) < SIZE_MAX);
}

static bool see_trial(void *context, const struct trial_record *t)
{
    assert_true(t->ask > 0 && t->number >= 0 && t->told >= 0 && isfinite(t->seconds));
    assert_true(t->key && t->config);
    look(outcome_name(t->outcome)), look(t->phase), look(t->reason), look(t->samples),
        look(t->origin);
    return ++*(int *)context > 0;
}

static bool see_step(void *context, const struct best_step *step)
{
    assert_true(step->ask > 0 && step->number > 0 && isfinite(step->seconds));
    return ++*(int *)context > 0;
}

static bool see_retime(void *context, const struct retime_record *r)
{
    assert_true(r->kind && isfinite(r->seconds));
    look(r->samples);
    return ++*(int *)context > 0;
}

static bool see_refit(void *context, const struct refit_record *r)
{
    assert_true(r->number > 0 && isfinite(r->bytes));
    return ++*(int *)context > 0;
}

static bool see_look(void *context, const struct probe_record *r)
{
    look(r->key), look(r->statistics);
    return ++*(int *)context > 0;
}

static bool see_message(void *context, const struct message_record *m)
{
    look(m->level), look(m->text);
    return ++*(int *)context > 0;
}

// A call that fails reports that the session is damaged, or missing.
static int answered(bool ok, struct err *e)
{
    if (!ok && !strstr(e->text, "is damaged: ") && !strstr(e->text, "there is no session"))
        fail_msg("%s", e->text);
    e->text[0] = '\0';
    return ok;
}

// Returns how many of the calls succeeded; `seen` counts their rows.
static int read_session(struct store *s, int64_t id, int *seen)
{
    struct err e = {0};
    struct arena a;
    struct session_record r;
    struct text_record *text;
    struct ranked_trials best;
    struct trial_record t;
    struct retime_record race;
    struct calibration_record calibration;
    int64_t tally[OUTCOME_COUNT], early;
    int count, good = 0;
    arena_init(&a);
    good += answered(store_get_session(s, id, &a, &r, &e), &e);
    good += answered(store_get_texts(s, id, &a, &text, &count, &e), &e);
    good += answered(store_each_trial(s, id, 1, see_trial, seen, &e), &e);
    good += answered(store_each_numbered(s, id, 1, see_trial, seen, &e), &e);
    good += answered(store_each_ranked(s, id, 0, see_trial, seen, &e), &e);
    good += answered(store_best_trials(s, id, 9, &a, &best, &e), &e);
    good += answered(store_get_trial(s, id, 1, &a, &t, &e), &e);
    good += answered(store_find_trial(s, id, "", &a, &t, &e), &e);
    good += answered(store_get_race(s, id, 1, &a, &race, &e), &e);
    good += answered(store_each_race(s, id, see_retime, seen, &e), &e);
    good += answered(store_each_best(s, id, 0, see_step, seen, &e), &e);
    good += answered(store_get_tally(s, id, tally, &early, &e), &e);
    good += answered(store_each_refit(s, id, see_refit, seen, &e), &e);
    good += answered(store_get_calibration(s, id, &calibration, &e), &e);
    good += answered(store_each_probe(s, id, see_look, seen, &e), &e);
    good += answered(store_each_message(s, id, 0, see_message, seen, &e), &e);
    arena_finish(&a);
    return good;
}

// The list has every session, and something to print in every member of each.
static void read_list(struct store *s)
{
    struct err e;
    struct arena a;
    struct session_record *list;
    int count;
    arena_init(&a);
    if (!store_list_sessions(s, &a, &list, &count, &e))
        fail_msg("%s", e.text);
    assert_int_equal(count, 3);
    for (int i = 0; i < count; i++) {
        const struct session_record *r = &list[i];
        assert_true(r->name && r->title && r->device && r->source && r->strategy);
        assert_true(r->path && r->operation && r->settings && r->limits && r->size && r->driver);
        assert_true(*r->operation == '{' || !*r->operation); // printed as it is
        assert_true(r->trials >= 0 && r->workers > 0 && isfinite(r->best_seconds));
        assert_int_equal(r->damage != NULL, r->state == STATE_DAMAGED);
        if (r->id != HURT && r->damage)
            assert_true(r->id == 1 || strstr(r->damage, "column id") != NULL);
    }
    arena_finish(&a);
}

static void read_all(const char *path, const char *sql)
{
    struct store *s = must_open(path, STORE_READ);
    int calls = 0, rows = 0;
    read_list(s);
    read_session(s, HURT, &(int){0});
    for (int64_t id = 1; id <= 3; id += 2)
        calls += read_session(s, id, &rows);
    if (calls != 2 * 16 || rows < 2 * 14)
        fail_msg("%s: %d calls of the others were answered, with %d rows", sql, calls, rows);
    store_close(s);
}

static void take_command(const char *path)
{
    struct store *s = must_open(path, STORE_WRITE);
    char verb[16], argument[64];
    bool any;
    struct err e;
    assert_true(store_take_command(s, HURT, verb, argument, &any, &e));
    store_close(s);
}

static bool damage(const char *from, const char *to, const char *sql)
{
    char *bytes, *error = NULL;
    size_t length;
    struct err e;
    assert_true(file_read(from, &bytes, &length, &e));
    FILE *f = fopen(to, "wb"); // file_write would wait for the disk, a thousand times
    assert_true(f && fwrite(bytes, 1, length, f) == length && fclose(f) == 0);
    free(bytes);
    sqlite3 *db = raw_open(to);
    bool done = sqlite3_exec(db, sql, NULL, NULL, &error) == SQLITE_OK;
    sqlite3_free(error);
    sqlite3_close(db);
    return done;
}

static int columns_of(const char *path, const char *table, char *names[64])
{
    sqlite3 *db = raw_open(path);
    sqlite3_stmt *st;
    int count = 0;
    char *sql = mem_printf("SELECT name FROM pragma_table_info('%s')", table);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
    while (sqlite3_step(st) == SQLITE_ROW)
        names[count++] = mem_strdup((const char *)sqlite3_column_text(st, 0));
    sqlite3_finalize(st);
    sqlite3_close(db);
    free(sql);
    return count;
}

static void damage_column(const char *whole, const char *path, const char *table,
                          const char *column)
{
    const char *key = strcmp(table, "session") == 0 ? "id" : "session";
    for (size_t v = 0; strcmp(column, key) != 0 && v < COUNT(values); v++) {
        char *sql =
            mem_printf("UPDATE %s SET %s = %s WHERE %s = %d", table, column, values[v], key, HURT);
        if (damage(whole, path, sql)) {
            read_all(path, sql);
            if (strcmp(table, "command") == 0)
                take_command(path);
        }
        free(sql);
    }
}

static void test_every_column(void **state)
{
    (void)state;
    char *whole = make_whole(), *path = mem_printf("%s.hurt", whole);
    int columns = 0;
    for (size_t t = 0; t < COUNT(tables); t++) {
        char *name[64];
        int count = columns_of(whole, tables[t], name);
        for (int i = 0; i < count; i++) {
            damage_column(whole, path, tables[t], name[i]);
            free(name[i]);
        }
        columns += count;
    }
    assert_true(columns > 80);
    free(path), temp_remove(whole);
}

// Rows without what they belong to, and without what belongs to them.
static void test_missing_rows(void **state)
{
    (void)state;
    static const char *const sql[] = {
        "DELETE FROM text WHERE session = 2",
        "DELETE FROM trial WHERE session = 2",
        "DELETE FROM tally WHERE session = 2",
        "DELETE FROM best_step WHERE session = 2",
        "DELETE FROM retime WHERE session = 2",
        "DELETE FROM trial WHERE session = 2 AND ask = 1",
        "UPDATE text SET session = NULL",
        "UPDATE retime SET ask = 99 WHERE session = 2",
        "INSERT INTO trial(session) VALUES (2)",
        "INSERT INTO trial(session, ask) VALUES (9, 1)",
        "INSERT INTO message(session) VALUES (2)",
        "UPDATE refit SET session = 9 WHERE session = 2",
    };
    char *whole = make_whole(), *path = mem_printf("%s.hurt", whole);
    for (size_t i = 0; i < COUNT(sql); i++)
        if (damage(whole, path, sql[i]))
            read_all(path, sql[i]);
    free(path), temp_remove(whole);
}

static void assert_list_says(const char *path, const char *reason)
{
    struct store *s = must_open(path, STORE_READ);
    struct arena a;
    struct session_record *list;
    int count;
    struct err e;
    arena_init(&a);
    assert_true(store_list_sessions(s, &a, &list, &count, &e));
    assert_int_equal(count, 3);
    assert_int_equal(list[1].id, HURT);
    assert_int_equal(list[1].state, STATE_DAMAGED);
    assert_contains(list[1].damage, reason);
    arena_finish(&a);
    store_close(s);
}

// Pairs of a change of the damaged session, as SQL, and words of the list after it.
static void assert_reasons(const char *before, const char *after, const char *const cases[][2],
                           size_t count)
{
    char *whole = make_whole(), *path = mem_printf("%s.hurt", whole);
    for (size_t i = 0; i < count; i++) {
        char *sql = mem_printf("%s %s %s", before, cases[i][0], after);
        assert_true(damage(whole, path, sql));
        assert_list_says(path, cases[i][1]);
        free(sql);
    }
    free(path), temp_remove(whole);
}

static void test_reasons(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"title = NULL", "column title is missing (NULL)"},
        {"workers = 100000000", "column workers is 100000000, not within 1 to 1024"},
        {"workers = NULL", "column workers is missing (NULL)"},
        {"state = 'gone'", "column state is not the state of a session"},
        {"flop = 9e999", "column flop is inf, not within 0 to 1e+300"},
        {"trials = -1", "column trials is -1"},
        {"name = x'00'", "column name is raw bytes"},
        {"name = 'a' || char(0)", "column name has a byte 0"},
        {"operation = '{'", "column operation is not a JSON object"},
        {"population = '1,'", "column population is not a list of asks"},
        {"history = '1:2,3:4'", "column history is not a list of sessions"},
    };
    assert_reasons("UPDATE session SET", "WHERE id = 2", cases, COUNT(cases));
}

// Nothing that the schema of a stranger's file would do happens, or the file is refused.
static void test_hostile_schema(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "DROP TABLE message; CREATE VIEW message AS SELECT 1 AS id, 2 AS session, 3 AS at,"
        " 'info' AS level, 'x' AS text",
        "ALTER TABLE session DROP COLUMN note;"
        "ALTER TABLE session ADD COLUMN note TEXT AS (hex(title))",
        "DROP TABLE message; CREATE VIRTUAL TABLE message USING fts5(id, session, at, level, text)",
        "DROP TABLE tally",
    };
    static const char *const ignored[] = {
        "CREATE TRIGGER no BEFORE INSERT ON message BEGIN SELECT raise(ABORT, 'obeyed'); END",
        "CREATE TRIGGER no AFTER INSERT ON message BEGIN DELETE FROM session; END",
        "CREATE VIEW mine AS SELECT load_extension('x')",
        "CREATE TABLE mine(x); CREATE INDEX other ON trial(hex(config))",
    };
    char *whole = make_whole(), *path = mem_printf("%s.hurt", whole);
    struct err e;
    for (size_t i = 0; i < COUNT(refused); i++)
        for (int mode = STORE_READ; mode <= STORE_WRITE; mode++) {
            if (!damage(whole, path, refused[i]))
                continue; // this SQLite has no such module
            assert_null(store_open(path, (enum store_mode)mode, &e));
            assert_contains(e.text, "is damaged: it has no stored column");
        }
    for (size_t i = 0; i < COUNT(ignored); i++) {
        assert_true(damage(whole, path, ignored[i]));
        struct store *s = must_open(path, STORE_WRITE);
        assert_true(store_add_message(s, 1, "info", "text", &e));
        must_put(s, 1, 9, OUTCOME_OK, 1);
        assert_int_equal(count_rows(s, "session"), 3);
        store_close(s);
    }
    free(path), temp_remove(whole);
}

// The trial is found by its types and numbers, without reading any other trial.
static void test_trials_in_list(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"key = NULL", "its trial at ask 1: column key is missing (NULL)"},
        {"config = x'00'", "its trial at ask 1: column config is raw bytes"},
        {"number = -1", "its trial at ask 1: column number is -1"},
        {"worker = 'x'", "its trial at ask 1: column worker is a text"},
        {"generation = NULL", "its trial at ask 1: column generation is missing (NULL)"},
        {"seconds = NULL", "its trial at ask 1: column seconds is missing (NULL)"},
        {"seconds = 0", "its trial at ask 1: its outcome is ok, and took no time"},
        {"elapsed_s = 9e999", "its trial at ask 1: column elapsed_s is inf"},
        {"early_stopped = 2", "its trial at ask 1: column early_stopped is 2"},
        {"samples = x'00'", "its trial at ask 1: column samples is raw bytes"},
    };
    assert_reasons("UPDATE trial SET", "WHERE session = 2 AND ask = 1", cases, COUNT(cases));
}

static void assert_get_says(const char *path, int64_t id, const char *what)
{
    struct store *s = must_open(path, STORE_READ);
    struct arena a;
    struct session_record r;
    struct err e;
    arena_init(&a);
    assert_false(store_get_session(s, id, &a, &r, &e));
    assert_contains(e.text, what);
    assert_false(store_has_session(s, id, &e));
    assert_contains(e.text, what);
    arena_finish(&a);
    store_close(s);
}

// A page without rows took the place of another: no page is wrong, but a session is missing.
static void test_lost_rows(void **state)
{
    static const char row[] = "DELETE FROM session WHERE id = 2",
                      all_rows[] = "DELETE FROM session WHERE id = 2;"
                                   "DELETE FROM text WHERE session = 2;"
                                   "DELETE FROM tally WHERE session = 2";
    (void)state;
    char *whole = make_whole(), *path = mem_printf("%s.hurt", whole);
    assert_get_says(whole, 9, " session 9 (");
    assert_true(damage(whole, path, row));
    assert_get_says(path, 2, "is damaged: the row of session 2 is gone (`sqlite3 FILE .recover`");
    assert_true(damage(whole, path, all_rows));
    assert_get_says(path, 2, "there is no session 2 (");
    free(path), temp_remove(whole);
}

// Bytes of the page of the sessions are changed: a read of the first session returns it, damaged or
// not, or fails.
static void test_page_of_sessions(void **state)
{
    (void)state;
    enum { PAGE = 4096, ROOT = 2 };
    char *whole = make_whole(), *path = mem_printf("%s.hurt", whole), *bytes;
    size_t length;
    struct err e;
    assert_true(file_read(whole, &bytes, &length, &e) && length > ROOT * PAGE);
    char *page = bytes + (ROOT - 1) * PAGE;
    for (int at = 0; at < 24; at++) {
        for (int value = 0; value < 256; value += 15) {
            char kept = page[at];
            page[at] = (char)value;
            FILE *f = fopen(path, "wb");
            assert_true(f && fwrite(bytes, 1, length, f) == length && fclose(f) == 0);
            page[at] = kept;
            struct store *s = store_open(path, STORE_READ, &e);
            if (s ? !store_has_session(s, 1, &e) : true)
                if (!strstr(e.text, "is damaged: "))
                    fail_msg("byte %d is %d: %s", at, value, e.text);
            store_close(s);
        }
    }
    free(bytes), free(path);
    temp_remove(whole);
}

TEST_GROUP(damaged)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_column),   cmocka_unit_test(test_missing_rows),
        cmocka_unit_test(test_reasons),        cmocka_unit_test(test_trials_in_list),
        cmocka_unit_test(test_lost_rows),      cmocka_unit_test(test_page_of_sessions),
        cmocka_unit_test(test_hostile_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
