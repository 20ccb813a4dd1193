// Permissions that the commands that read space files have given up: they try them
// (TILEWALK_ESCAPE).
#include "group.h"
#include "sessions.h"

#include "base/file.h"
#include "base/sandbox.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const attempts[] = {"network", "users",  "home",  "writing",
                                       "program", "memory", "signal"};
enum { ATTEMPTS = sizeof attempts / sizeof *attempts };

static bool holds(struct box *b, const char *part)
{
    struct result r = RUN(b, "doctor", "--json");
    const cJSON *value = member(member(json_of(b, r.out), "sandbox"), part);
    assert_true(cJSON_IsBool(value) || cJSON_IsNull(value));
    return cJSON_IsTrue(value);
}

static bool is_done(const char *text, const char *attempt)
{
    char line[64];
    snprintf(line, sizeof line, "escape: %s: done", attempt);
    return strstr(text, line) != NULL;
}

static bool needs_landlock(const char *attempt)
{
    return strcmp(attempt, "network") != 0;
}

static void expect_confined(struct box *b, const struct result *r)
{
    bool seccomp = holds(b, "seccomp"), landlock = holds(b, "landlock");
    for (int i = 0; i < ATTEMPTS; i++) {
        if (!(needs_landlock(attempts[i]) ? landlock : seccomp))
            print_message("skipped: nothing here holds %s\n", attempts[i]);
        else if (!strstr(r->err, attempts[i]) || is_done(r->err, attempts[i]))
            fail_msg("%s was not refused:\n%s", attempts[i], r->err);
    }
}

// The box's own folder holds the database and is writable: a home that is elsewhere.
static void set_home_elsewhere(struct box *b)
{
    box_set(b, "HOME", "/root");
    if (access("/root", R_OK) != 0)
        box_set(b, "HOME", "/home");
}

static void test_each_command_is_confined(void **state)
{
    struct box *b = *state;
    const char *space = flow_path(b, "small.lua");
    set_home_elsewhere(b);
    struct result r =
        RUN(b, "tune", space, "--source", "synthetic:bowl", "--trials", "3", "--plain");
    assert_ok(&r);
    box_set(b, "TILEWALK_ESCAPE", "1");
    r = RUN(b, "check", space, "--device", "none");
    assert_ok(&r);
    expect_confined(b, &r);
    r = RUN(b, "tune", space, "--source", "synthetic:bowl", "--trials", "3", "--plain");
    assert_ok(&r);
    expect_confined(b, &r);
    r = RUN(b, "resume", "1", "--trials", "5", "--plain");
    assert_ok(&r);
    expect_confined(b, &r);
    r = RUN(b, "export", "1", "--out", box_path(b, "new/folder"));
    assert_ok(&r);
    expect_confined(b, &r);
    r = RUN(b, "ops", "gemm", "--device", "none");
    assert_ok(&r);
    expect_confined(b, &r);
}

// A worker has its sandbox inside that of the engine that starts it.
static void test_a_worker_has_no_capability(void **state)
{
    struct box *b = *state;
    if (!has_device()) {
        print_message("skipped: there is no device\n");
        return;
    }
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--trials", "2", "--verbose",
                          "--plain", "--fault=escape@compile:1");
    assert_ok(&r);
    assert_contains(r.err, "escape: capabilities: ");
    assert_false(is_done(r.err, "capabilities"));
}

static void test_a_switch_turns_it_off(void **state)
{
    struct box *b = *state;
    const char *space = flow_path(b, "small.lua");
    box_set(b, "TILEWALK_ESCAPE", "1");
    struct result r = RUN(b, "check", space, "--device", "none", "--no-sandbox");
    assert_ok(&r);
    assert_true(is_done(r.err, "network") && is_done(r.err, "users") && is_done(r.err, "program"));
    box_set(b, "TILEWALK_SANDBOX", "0");
    r = RUN(b, "check", space, "--device", "none");
    assert_true(is_done(r.err, "network") && is_done(r.err, "users") && is_done(r.err, "program"));
    r = RUN(b, "doctor", "--json");
    assert_true(cJSON_IsFalse(member(member(json_of(b, r.out), "sandbox"), "no_new_privs")));
    remove("/tmp/tilewalk-escaped");
}

// A template that links out of the space's folder has nothing to show.
static void test_a_link_leads_nowhere(void **state)
{
    struct box *b = *state;
    if (!holds(b, "landlock")) {
        print_message("skipped: landlock does not hold here\n");
        return;
    }
    char *text = box_read(b, flow_path(b, "small.lua"));
    assert_int_equal(mkdir(box_path(b, "spaces"), 0755), 0);
    const char *space = box_write(b, "spaces/mine.lua", text);
    assert_int_equal(symlink("/etc/passwd", box_path(b, "spaces/small.comp")), 0);
    struct result r = RUN(b, "check", space, "--device", "none", "--glsl");
    assert_int_not_equal(r.code, 0);
    assert_null(strstr(r.out, "root:"));
}

// The space files that a network names are read with what lies beside them, and no more.
static void test_a_network_brings_its_spaces(void **state)
{
    struct box *b = *state;
    char *text = box_read(b, flow_path(b, "small.lua"));
    assert_int_equal(mkdir(box_path(b, "spaces"), 0755), 0);
    assert_int_equal(symlink(flow_path(b, "small.comp"), box_path(b, "spaces/small.comp")), 0);
    box_write(b, "spaces/mine.lua", text); // its template is that link
    copy_small(b);
    const char *layer = "network 'one' output(layer { name = 'one', preset = '%s',"
                        " from = input { name = 'x', sizes = { 64, 64 } } })";
    const char *network = box_write(b, "one.lua", arena_printf(&b->arena, layer, "small.lua"));
    set_home_elsewhere(b);
    struct result r = RUN(b, "tune", network, "--source", "synthetic:bowl", "--trials", "2");
    assert_ok(&r);
    r = RUN(b, "resume", "1", "--trials", "4");
    assert_ok(&r);
    box_write(b, "one.lua", arena_printf(&b->arena, layer, "spaces/mine.lua"));
    r = RUN(b, "tune", network, "--source", "synthetic:bowl", "--trials", "2", "--json");
    assert_refused(&r, 1, "small.comp", "a link leads out of the space's folders");
}

// Folders that are named in other ways, or not there yet, go on working.
static void test_paths_of_all_kinds(void **state)
{
    struct box *b = *state;
    const char *space = flow_path(b, "small.lua");
    assert_int_equal(mkdir(box_path(b, "real"), 0755), 0);
    assert_int_equal(symlink(box_path(b, "real"), box_path(b, "link")), 0);
    struct result r =
        RUN(b, "tune", space, "--source", "synthetic:bowl", "--trials", "3", "--plain", "--db",
            box_path(b, "link/deep/er/my.db"), "--export", box_path(b, "a/b"));
    assert_ok(&r);
    assert_true(file_exists(box_path(b, "real/deep/er/my.db")));
    assert_int_equal(symlink(box_path(b, "real/deep/er/my.db"), box_path(b, "other.db")), 0);
    r = RUN(b, "resume", "1", "--trials", "5", "--plain", "--db", box_path(b, "other.db"));
    assert_ok(&r);
    r = RUN(b, "export", "1", "--as", "warm-start", "--out", box_path(b, "all.json"), "--db",
            box_path(b, "other.db"));
    assert_ok(&r);
    box_set(b, "HOME", NULL);
    r = RUN(b, "tune", space, "--source", "synthetic:bowl", "--trials", "3", "--plain");
    assert_ok(&r);
}

TEST_GROUP(sandbox)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_each_command_is_confined),    FLOW_TEST(test_a_worker_has_no_capability),
        FLOW_TEST(test_a_switch_turns_it_off),       FLOW_TEST(test_a_link_leads_nowhere),
        FLOW_TEST(test_a_network_brings_its_spaces), FLOW_TEST(test_paths_of_all_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
