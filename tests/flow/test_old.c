// Databases that older programs wrote (schema5.sql, schema6.sql: 22 November 2026) open and show
// what they hold, and their sessions go on as if they had been begun today.
#include "group.h"
#include "sessions.h"

#include "base/str.h"

#include <sqlite3.h>
#include <string.h>

// Writes the database of the box. The dump names the folder of these tests @FILES@.
static void restore(struct box *b, const char *dump)
{
    const char *folder = flow_path(b, "."), *mark;
    char *text = box_read(b, flow_path(b, dump));
    struct str sql = {0};
    while ((mark = strstr(text, "@FILES@"))) {
        str_add_bytes(&sql, text, (size_t)(mark - text));
        str_add(&sql, folder);
        text = strchr(mark + 1, '@') + 1;
    }
    str_add(&sql, text);
    sqlite3 *db = NULL;
    char *why = NULL;
    assert_int_equal(sqlite3_open(box_get(b, "TILEWALK_DB"), &db), SQLITE_OK);
    if (sqlite3_exec(db, str_text(&sql), NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", dump, why);
    sqlite3_close(db);
    str_finish(&sql);
}

static void goes_on(struct box *b, const char *dump)
{
    restore(b, dump);
    struct result r = RUN(b, "show", "1", "--json");
    assert_ok(&r);
    const cJSON *session = member(json_of(b, r.out), "session"), *best = member(session, "best");
    assert_string_equal(text_of(session, "strategy"), "opevo:lambda=8:rho=8:q=0.5:async=0:legal=0");
    assert_float_equal(number_of(session, "trials"), 20, 0);
    assert_float_equal(number_of(session, "rejected"), 2, 0);
    assert_float_equal(number_of(best, "id"), 13, 0);
    assert_float_equal(number_of(best, "ms"), 0.00135431066344321, 1e-15);
    const char *before = sequence(b, 1);

    r = RUN(b, "resume", "1", "--trials", "30");
    assert_ok(&r);
    r = RUN(b, "show", "1", "--trials", "--json"); // only what was made now has a build
    assert_true(cJSON_IsNull(member(member(json_of(b, r.out), "session"), "build")));
    const cJSON *trials = member(json_of(b, r.out), "trials");
    assert_true(cJSON_IsNull(member(cJSON_GetArrayItem(trials, 0), "build")));
    assert_true(str_starts(text_of(cJSON_GetArrayItem(trials, 29), "build"), TILEWALK_VERSION));
    const char *after = sequence(b, 1);
    assert_memory_equal(before, after, strlen(before));
    assert_int_equal(trials_of(b, 1), 30);

    r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:rugged", "--seed", "7",
            "--strategy", "opevo", "--trials", "30");
    assert_ok(&r);
    assert_string_equal(sequence(b, 2), after);

    r = RUN(b, "rm", "1"); // to the trash, which it did not have
    assert_ok(&r);
    assert_int_equal(cJSON_GetArraySize(listed_sessions(b)), 1);
    r = RUN(b, "restore");
    assert_ok(&r);
    assert_string_equal(sequence(b, 1), after);
}

static void test_schema_5(void **state)
{
    goes_on(*state, "schema5.sql");
}

static void test_schema_6(void **state)
{
    goes_on(*state, "schema6.sql");
}

TEST_GROUP(old)
{
    const struct CMUnitTest tests[] = {FLOW_TEST(test_schema_5), FLOW_TEST(test_schema_6)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
