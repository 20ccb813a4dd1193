// Changes by others to the database of a run: it is taken away, replaced, locked.
#include "group.h"
#include "sessions.h"

#include "base/str.h"

#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static struct running *start_in(struct box *b, const char *folder)
{
    assert_int_equal(mkdir(folder, 0755), 0);
    box_set(b, "TILEWALK_DB", arena_printf(&b->arena, "%s/t.db", folder));
    return start_long_session(b);
}

static void remove_files(struct box *b, const char *folder, const char *const *name)
{
    for (; *name; name++)
        assert_int_equal(unlink(arena_printf(&b->arena, "%s/%s", folder, *name)), 0);
}

// All results of the run are in `saved`, where it continues.
static void assert_saved(struct box *b, const struct result *r, const char *saved)
{
    assert_int_equal(r->code, 1);
    assert_one_line(r->err);
    assert_contains(r->err, "another program");
    assert_contains(r->err, saved);
    struct events e = events_of(b, r->out);
    assert_string_equal(text_of(end_event(&e), "state"), "paused");
    int said = count_events(&e, "trial");
    assert_true(said > 0);
    box_set(b, "TILEWALK_DB", saved);
    assert_string_equal(state_of(b, 1), "paused");
    assert_true(trials_of(b, 1) >= said);
    const char *before = sequence(b, 1);
    char *trials = arena_printf(&b->arena, "%d", (int)trials_of(b, 1) + 5);
    struct result again = RUN(b, "resume", "1", "--trials", trials);
    assert_ok(&again);
    assert_true(str_starts(sequence(b, 1), before));
}

static void test_removed(void **state)
{
    struct box *b = *state;
    static const char *const removed[][4] = {
        {"t.db"}, {"t.db", "t.db-wal", "t.db-shm"}, {"t.db-wal"}, {"t.db-shm"}};
    for (size_t i = 0; i < COUNT(removed); i++) {
        const char *folder = box_path(b, arena_printf(&b->arena, "folder%d", (int)i));
        struct running *running = start_in(b, folder);
        freeze(running); // or it might find one of them gone, and do something about the others
        remove_files(b, folder, removed[i]);
        send_signal(running, SIGCONT);
        struct result r = finish(b, running);
        assert_contains(r.err, removed[i][0]);
        assert_saved(b, &r, arena_printf(&b->arena, "%s/t.db.saved", folder));
    }
}

// Another database at the same path keeps its content; names that are taken are left alone.
static void test_replaced(void **state)
{
    struct box *b = *state;
    const char *folder = box_path(b, "folder"), *other = box_path(b, "other.db");
    box_set(b, "TILEWALK_DB", other);
    struct result r =
        RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--trials", "6");
    assert_ok(&r);
    struct running *running = start_in(b, folder);
    box_write(b, "folder/t.db.saved", "mine");
    assert_int_equal(rename(other, box_path(b, "folder/t.db")), 0);
    r = finish(b, running);
    assert_contains(r.err, "was replaced");
    assert_string_equal(state_of(b, 1), "done"); // TILEWALK_DB is still the path
    assert_int_equal(trials_of(b, 1), 6);
    assert_string_equal(box_read(b, box_path(b, "folder/t.db.saved")), "mine");
    assert_saved(b, &r, box_path(b, "folder/t.db.saved2"));
}

// Without a folder, the user's own folder takes the saved database.
static void test_folder_removed(void **state)
{
    struct box *b = *state;
    static const char *const all[] = {"t.db", "t.db-wal", "t.db-shm", "t.db.lock", NULL};
    const char *folder = box_path(b, "folder");
    box_set(b, "XDG_DATA_HOME", box_path(b, "data"));
    struct running *running = start_in(b, folder);
    freeze(running);
    remove_files(b, folder, all);
    assert_int_equal(rmdir(folder), 0);
    send_signal(running, SIGCONT);
    struct result r = finish(b, running);
    assert_saved(b, &r, box_path(b, "data/tilewalk/t.db.saved"));
}

// --- locked ---

static sqlite3 *lock_database(const char *path)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 10000);
    assert_int_equal(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    return db;
}

static bool says_locked(struct box *b, void *context)
{
    return strstr(printed_so_far(b, context), "locked by another program") != NULL;
}

static void goes_on(struct box *b, struct running *running, sqlite3 *db)
{
    int64_t before = trials_of(b, 1);
    sqlite3_close(db);
    wait_for_trials(b, 1, before + 5); // by itself
    struct result r = RUN(b, "stop", "1");
    assert_ok(&r);
    r = finish(b, running);
    assert_int_equal(r.code, 0);
    struct events e = events_of(b, r.out);
    assert_int_equal(count_events(&e, "state"), 2); // paused, running
    assert_string_equal(text_of(first_event(&e, "state"), "state"), "paused");
    assert_contains(text_of(first_event(&e, "state"), "message"), "another program");
    assert_string_equal(text_of(end_event(&e), "state"), "stopped");
    assert_string_equal(state_of(b, 1), "stopped");
    r = RUN(b, "show", "1");
    assert_contains(r.out, "the database is free again");
}

static void is_interrupted(struct box *b, struct running *running, sqlite3 *db)
{
    send_signal(running, SIGINT);
    struct result r = finish(b, running);
    sqlite3_close(db);
    assert_int_equal(r.code, 130);
    struct events e = events_of(b, r.out);
    assert_string_equal(text_of(end_event(&e), "state"), "paused");
    assert_contains(text_of(end_event(&e), "message"), "interrupted");
    assert_string_equal(state_of(b, 1), "paused");
    const char *before = sequence(b, 1);
    char *trials = arena_printf(&b->arena, "%d", (int)trials_of(b, 1) + 5);
    r = RUN(b, "resume", "1", "--trials", trials);
    assert_ok(&r);
    assert_true(str_starts(sequence(b, 1), before));
}

// Two databases are locked for more than 10 s each, which is tested: one run continues, the other
// one is interrupted meanwhile.
static void test_locked(void **state)
{
    struct box *b = *state;
    const char *path[] = {box_path(b, "one.db"), box_path(b, "two.db")};
    struct running *running[2];
    sqlite3 *db[2];
    for (int i = 0; i < 2; i++) {
        box_set(b, "TILEWALK_DB", path[i]);
        running[i] = start_long_session(b);
        db[i] = lock_database(path[i]);
    }
    for (int i = 0; i < 2; i++)
        wait_until(b, "the pause", says_locked, running[i]);
    is_interrupted(b, running[1], db[1]);
    box_set(b, "TILEWALK_DB", path[0]);
    goes_on(b, running[0], db[0]);
}

TEST_GROUP(watch)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_removed),
        FLOW_TEST(test_replaced),
        FLOW_TEST(test_folder_removed),
        FLOW_TEST(test_locked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
