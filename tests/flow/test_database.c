// Databases that cannot be used: each time one clear line, the right exit code, and nothing lost.
#include "group.h"
#include "sessions.h"

#include "base/file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define NOBODY      65534

static struct result tune(struct box *b, const char *trials)
{
    return RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--trials",
               trials, "--seed", "5");
}

// --- databases ---

static void become_nobody(const struct box *b)
{
    (void)b;
    if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
        _exit(126);
}

// Root may write anywhere: these runs belong to another user. That user must be able to read the
// program, wherever the tests are built, so it gets a copy.
static void use_copies(struct box *b)
{
    struct err e;
    char *bytes;
    size_t length;
    const char *program = getenv("TILEWALK_PROGRAM"), *copy = box_path(b, "tilewalk");
    assert_true(file_read(program, &bytes, &length, &e));
    assert_true(file_write(copy, bytes, length, &e));
    assert_int_equal(chmod(copy, 0755), 0);
    free(bytes);
    b->program = copy;
    box_set(b, "LD_PRELOAD", NULL); // a sanitizer's files need not be readable
    box_set(b, "LSAN_OPTIONS", NULL);
    b->prepare = become_nobody;
}

static void test_read_only_database(void **state)
{
    struct box *b = *state;
    const char *folder = box_path(b, "there"), *path = box_path(b, "there/t.db");
    assert_int_equal(mkdir(folder, 0755), 0);
    box_set(b, "TILEWALK_DB", path);
    struct result r = tune(b, "8");
    assert_ok(&r);
    const char *before = sequence(b, 1);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    use_copies(b);
    box_write(b, "small.lua", box_read(b, flow_path(b, "small.lua")));
    box_write(b, "small.comp", box_read(b, flow_path(b, "small.comp")));
    r = RUN(b, "tune", box_path(b, "small.lua"), "--source", "synthetic:bowl");
    assert_refused(&r, 1, path, "--db");
    r = RUN(b, "resume", "1", "--trials", "9");
    assert_refused(&r, 1, path, "--db");
    r = RUN(b, "stop", "1");
    assert_refused(&r, 1, path, "--db");
    assert_string_equal(sequence(b, 1), before); // reading works all the same
    assert_string_equal(state_of(b, 1), "done");
}

static void test_forbidden_folder(void **state)
{
    struct box *b = *state;
    const char *folder = box_path(b, "secret");
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(mkdir(box_path(b, "closed"), 0555), 0);
    use_copies(b);
    box_set(b, "TILEWALK_DB", box_path(b, "closed/new.db"));
    struct result r = RUN(b, "ls");
    assert_refused(&r, 1, "closed", NULL);
    box_set(b, "TILEWALK_DB", box_path(b, "closed/deep/new.db"));
    r = RUN(b, "ls");
    assert_refused(&r, 1, "closed/deep", NULL);
    if (geteuid() == 0) { // else the folder is ours
        box_set(b, "TILEWALK_DB", box_path(b, "secret/new.db"));
        r = RUN(b, "ls");
        assert_refused(&r, 1, "secret", NULL);
    }
}

static void assert_nothing_made(struct box *b, const char *path)
{
    if (access(path, F_OK) == 0)
        fail_msg("%s was made", path);
    assert_int_not_equal(access(box_path(b, "home/.local"), F_OK), 0);
}

// Reading makes no database: neither at the path that the user named, nor at the usual one.
static void test_missing_database(void **state)
{
    struct box *b = *state;
    static const char *const commands[][2] = {{"ls", NULL}, {"show", "1"}, {"export", "1"}};
    const char *path = box_path(b, "mistyped.db");
    for (size_t i = 0; i < COUNT(commands); i++) {
        struct result r = RUN(b, commands[i][0], "--db", path, commands[i][1]);
        assert_refused(&r, 1, "there is no database", path);
        box_set(b, "TILEWALK_DB", path);
        r = RUN(b, commands[i][0], commands[i][1]);
        assert_refused(&r, 1, path, NULL);
        box_set(b, "TILEWALK_DB", NULL);
        r = RUN(b, commands[i][0], commands[i][1]);
        if (commands[i][1])
            assert_refused(&r, 1, "there is no session 1", NULL);
        else
            assert_ok(&r);
        assert_nothing_made(b, path);
    }
    assert_contains(RUN(b, "ls").out, "no sessions yet");
    assert_string_equal(RUN(b, "ls", "--json").out, "{\"sessions\":[]}\n");
    assert_nothing_made(b, path);
}

static void test_strange_databases(void **state)
{
    struct box *b = *state;
    box_write(b, "text.db",
              "This is not a database, but it is long enough to be taken for one.\n"
              "SQLite reads the first hundred bytes before it says anything.\n");
    struct result r = RUN(b, "ls", "--db", box_path(b, "text.db"));
    assert_refused(&r, 1, "text.db", "not a database");
    r = RUN(b, "tune", flow_path(b, "small.lua"), "--source", "synthetic:bowl", "--db",
            box_path(b, "text.db"));
    assert_refused(&r, 1, "text.db", NULL);
    r = RUN(b, "ls", "--db", b->folder);
    assert_refused(&r, 1, b->folder, "is a folder");
    r = RUN(b, "tune", "mm1", "--source", "synthetic:bowl", "--db", b->folder);
    assert_refused(&r, 1, b->folder, NULL);
    r = RUN(b, "ls", "--db", box_path(b, "text.db/inside.db"));
    assert_refused(&r, 1, "text.db", NULL);
}

// The pages after the first are overwritten: rows that refer to them are damaged.
static void test_damaged_database(void **state)
{
    struct box *b = *state;
    struct result r = tune(b, "60");
    assert_ok(&r);
    const char *path = box_path(b, "tilewalk.db");
    int fd = open(path, O_WRONLY);
    struct stat st;
    char page[4096];
    assert_true(fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 2 * 4096);
    memset(page, 0xa5, sizeof page);
    for (off_t at = 4096; at < st.st_size; at += 4096)
        assert_int_equal(pwrite(fd, page, sizeof page, at), sizeof page);
    close(fd);
    static const char *const commands[] = {"show", "resume", "stop", "export"};
    for (size_t i = 0; i < COUNT(commands); i++) {
        r = RUN(b, commands[i], "1");
        assert_refused(&r, 1, path, "damaged");
    }
    r = RUN(b, "ls", "--json");
    assert_refused(&r, 1, path, "damaged");
}

// --- what cannot be stored while a session runs ---

static void assert_paused(struct box *b, const struct result *r, int64_t id)
{
    assert_int_equal(r->code, 1);
    assert_one_line(r->err);
    assert_contains(r->err, "nothing stored is lost");
    assert_contains(r->err, "constraint failed");
    assert_string_equal(state_of(b, id), "paused");
}

static void test_end_is_not_stored(void **state)
{
    struct box *b = *state;
    struct result r = tune(b, "2"); // makes the database
    assert_ok(&r);
    tamper(b, "CREATE UNIQUE INDEX no ON session(state)"); // another one is done already
    r = tune(b, "8");
    assert_paused(b, &r, 2);
    assert_contains(r.out, "resume 2");
    tamper(b, "DROP INDEX no");
    r = RUN(b, "resume", "2");
    assert_ok(&r);
    assert_string_equal(state_of(b, 2), "done");
    assert_int_equal(trials_of(b, 2), 8);
}

static void test_command_is_not_taken(void **state)
{
    struct box *b = *state;
    struct running *running = start_long_session(b);
    tamper(b, "CREATE TABLE keeper(command REFERENCES command)");
    tamper(b, "INSERT INTO keeper VALUES (1)");
    tamper(b, "INSERT INTO command(session, verb, at) VALUES (1, 'stop', 0)");
    struct result r = finish(b, running);
    assert_paused(b, &r, 1);
}

TEST_GROUP(database)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_read_only_database),   FLOW_TEST(test_forbidden_folder),
        FLOW_TEST(test_missing_database),     FLOW_TEST(test_strange_databases),
        FLOW_TEST(test_damaged_database),     FLOW_TEST(test_end_is_not_stored),
        FLOW_TEST(test_command_is_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
