// Presets of the user's own, which come before those that ship; and the demonstration, which leaves
// nothing behind.
#include "group.h"
#include "sessions.h"

#include "base/file.h"
#include "base/str.h"

#include <dirent.h>
#include <signal.h>
#include <string.h>

static const char *own(struct box *b, const char *name)
{
    return arena_printf(&b->arena, "%s/.local/share/tilewalk/presets/%s", box_get(b, "HOME"), name);
}

static const char *shipped(struct box *b, const char *name)
{
    char *path = path_shipped(name);
    assert_non_null(path);
    const char *kept = arena_strdup(&b->arena, path);
    free(path);
    return kept;
}

static void write_file(const char *path, const char *text)
{
    struct err e;
    assert_true(file_write(path, text, strlen(text), &e));
}

static struct result tune_mm(struct box *b, const char *option)
{
    return RUN(b, "tune", "mm1", "--source", "synthetic:bowl", "--trials", "2", "--plain", option);
}

static void test_a_copy_comes_before_what_ships(void **state)
{
    struct box *b = *state;
    struct result r = tune_mm(b, NULL);
    assert_ok(&r);
    assert_string_equal(r.err, ""); // there is one only
    r = RUN(b, "ops", "mm1", "--copy");
    assert_ok(&r);
    assert_contains(r.out, own(b, "mm1.lua"));
    char *text = box_read(b, own(b, "mm1.lua"));
    assert_string_equal(text, box_read(b, shipped(b, "presets/mm1.lua")));

    write_file(
        own(b, "mm1.lua"),
        arena_printf(&b->arena, "%s\nconstraint(\"mine\", function(c) return true end)\n", text));
    r = tune_mm(b, NULL);
    assert_ok(&r);
    assert_contains(r.err, own(b, "mm1.lua"));
    assert_contains(r.err, "--shipped");
    assert_contains(RUN(b, "check", "mm1", "--device", "none").out, "\n  mine ");
    r = tune_mm(b, "--shipped");
    assert_ok(&r);
    assert_contains(r.err, "ships");
    assert_null(strstr(RUN(b, "check", "mm1", "--device", "none", "--shipped").out, "\n  mine "));
    r = RUN(b, "tune", "frobnicate", "--shipped", "--source", "synthetic:bowl");
    assert_int_equal(r.code, 2);

    r = RUN(b, "ops", "mm1", "--copy"); // what is there stays
    assert_ok(&r);
    assert_contains(box_read(b, own(b, "mm1.lua")), "\"mine\"");
    assert_int_equal(strcmp(box_read(b, shipped(b, "presets/mm1.lua")), text), 0);
}

// Its templates are copied beside it, and taken from there.
static void test_templates_go_along(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "ops", "gemm", "--copy");
    assert_ok(&r);
    assert_contains(r.out, own(b, "gemm.comp"));
    write_file(own(b, "gemm.comp"), "#version 450\nvoid main() { mistake; }\n");
    r = RUN(b, "check", "gemm", "--device", "none");
    assert_int_equal(r.code, 1);
    assert_contains(r.err, own(b, "gemm.comp"));
    assert_ok(&(struct result[]){RUN(b, "check", "gemm", "--device", "none", "--shipped")}[0]);
    r = RUN(b, "ops", "--copy");
    assert_refused(&r, 2, "--copy", NULL);
}

static void test_a_network_of_ones_own(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "ops", "alexnet", "--copy");
    assert_ok(&r);
    assert_contains(r.out, own(b, "networks/alexnet.lua"));
    r = RUN(b, "check", "alexnet", "--device", "none");
    assert_ok(&r);
    assert_contains(r.err, own(b, "networks/alexnet.lua"));
}

// --- demo ---

static int files_in(const char *folder)
{
    int count = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));)
        count += str_starts(entry->d_name, "tilewalk-demo");
    closedir(d);
    return count;
}

static void test_demo_ends_and_leaves_nothing(void **state)
{
    struct box *b = *state;
    box_set(b, "TMPDIR", b->folder);
    struct result r = RUN(b, "demo", "--plain");
    assert_ok(&r);
    assert_contains(r.out, "synthetic");
    assert_contains(r.out, "all 200");
    assert_int_equal(files_in(b->folder), 0);
    assert_int_equal(cJSON_GetArraySize(listed_sessions(b)), 0); // nor in the user's database
}

static bool has_database(struct box *b, void *context)
{
    (void)context;
    return files_in(b->folder) == 1;
}

static void test_an_interrupted_demo_leaves_nothing(void **state)
{
    struct box *b = *state;
    box_set(b, "TMPDIR", b->folder);
    struct running *r = START(b, "demo", "--plain");
    wait_until(b, "its folder", has_database, NULL);
    send_signal(r, SIGTERM);
    finish(b, r);
    assert_int_equal(files_in(b->folder), 0);
}

TEST_GROUP(own)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_a_copy_comes_before_what_ships),
        FLOW_TEST(test_templates_go_along),
        FLOW_TEST(test_a_network_of_ones_own),
        FLOW_TEST(test_demo_ends_and_leaves_nothing),
        FLOW_TEST(test_an_interrupted_demo_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
