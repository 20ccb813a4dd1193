// A space file under an editor: edited, broken, mended, deleted, replaced.
#include "group.h"
#include "space_file.h"
#include "wording.h"

#include "base/file.h"
#include "trial/source.h"

#include <ftw.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char head[] = "local shapes = include \"shapes.lua\"\n"
                           "operator.matmul { N = size(\"N\", 64), M = 64, K = 64, type = \"f32\","
                           " layout = \"nn\" }\n"
                           "param.tile = factors(16, 2)\n"
                           "param.pad = discrete { 0, 1 }\n";
static const char tail[] =
    "constraint(\"small\", function(c) return c.tile[1] < 16 end)\n"
    "resources(function(c) return { invocations = { 8, 8 }, groups = { 8, 8 } } end)\n"
    "kernel { template = \"mine.comp\" }\n";

#define VALID "#version 450\nlayout(local_size_x = 8) in;\nvoid main() {}\n"

static char folder[] = "/tmp/tilewalk-space-file-XXXXXX";
static char *path, *included, *template;
static struct script *session; // what it was started with
static struct space_file file;
static double now;

static void put(const char *where, const char *text)
{
    struct err e;
    if (!file_write(where, text, strlen(text), &e)) // by rename: another inode
        fail_msg("%s", e.text);
}

static void put_space(const char *middle)
{
    char *text = mem_printf("%s%s%s", head, middle, tail);
    put(path, text);
    free(text);
}

static struct space_file_basis basis(void)
{
    return (struct space_file_basis){.path = path, .device_type = "none", .script = session};
}

static bool look(void)
{
    struct space_file_basis b = basis();
    now += 1;
    return space_file_poll(&file, &b, now);
}

static int begin(void **state)
{
    (void)state;
    struct err e;
    path = mem_printf("%s/mine.lua", folder);
    included = mem_printf("%s/shapes.lua", folder);
    template = mem_printf("%s/mine.comp", folder);
    put(template, VALID);
    put(included, "return { 1, 2 }\n");
    put_space("");
    session = script_create(&(struct script_options){.path = path,
                                                     .device_type = "none",
                                                     .set = &(struct setting){"N", "128"},
                                                     .set_count = 1},
                            &e);
    if (!session)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    file = (struct space_file){.looked = 0};
    now = 100;
    return 0;
}

static int end(void **state)
{
    (void)state;
    space_file_finish(&file);
    script_destroy(session);
    free(path);
    free(included);
    free(template);
    return 0;
}

static int remove_entry(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(name);
}

static void test_unchanged(void **state)
{
    (void)state;
    wording_is("ui", "space file: no new one before it was read", space_file_no_new(&file));
    assert_true(look());
    assert_int_equal(file.state, SPACE_FILE_SAME);
    assert_false(look());
    wording_is("ui", "space file: no new one where it is the same", space_file_no_new(&file));
    put_space(""); // another inode, the same text
    assert_true(look());
    assert_int_equal(file.state, SPACE_FILE_SAME);
}

static void test_looks_once_a_second(void **state)
{
    (void)state;
    struct space_file_basis b = basis();
    look();
    put_space("param.more = discrete { 1, 2 }\n");
    assert_false(space_file_poll(&file, &b, now + 0.9));
    assert_true(space_file_poll(&file, &b, now + 1.0));
    put_space("");
    space_file_read(&file, &b); // in any case
    assert_int_equal(file.state, SPACE_FILE_SAME);
}

static void test_edited(void **state)
{
    (void)state;
    look();
    put_space(
        "param.more = discrete { 1, 2, 3 }\nconstraint(\"odd\", function(c) return true end)\n");
    assert_true(look());
    assert_int_equal(file.state, SPACE_FILE_NEW);
    assert_null(space_file_no_new(&file));
    assert_string_equal(file.size, "30"); // 5 * 2 * 3
    wording_is("ui", "space file: added", file.difference);
    struct space_file_basis b = basis();
    const char *where;
    const struct space *s = script_space(session);
    assert_int_equal(space_file_place(&file, &b, space_find(s, "pad"), &where), 4);
    assert_string_equal(where, path);
    assert_int_equal(space_file_place(&file, &b, NULL, &where), 1);
}

// What is named is the file that changed, or where the error is.
static void test_the_file_that_changed(void **state)
{
    (void)state;
    struct space_file_basis b = basis();
    look();
    assert_string_equal(space_file_changed(&file, &b), path);
    put(template, VALID "// more\n");
    assert_true(look());
    assert_int_equal(file.state, SPACE_FILE_NEW);
    assert_string_equal(space_file_changed(&file, &b), template);
    put(template, "#version 450\nmistake\n");
    assert_true(look());
    assert_int_equal(file.state, SPACE_FILE_BROKEN);
    assert_string_equal(space_file_changed(&file, &b), template);
    put(template, VALID);
    put_space("param.more = discrete { 1, 2 }\n");
    assert_true(look());
    assert_string_equal(space_file_changed(&file, &b), path);
}

// The copy of a template that ships lies in another folder, and is the same text.
static void test_a_copied_template(void **state)
{
    (void)state;
    char *own = path_shipped("shaders/gemm.comp"), *text;
    size_t length;
    struct err e;
    assert_true(own && file_read(own, &text, &length, &e));
    script_destroy(session);
    char *shipped = path_shipped("presets/gemm.lua");
    session = script_create(
        &(struct script_options){.path = shipped, .device_type = "none", .limits = NULL}, &e);
    assert_non_null(session);
    char *space;
    assert_true(file_read(shipped, &space, NULL, &e));
    char *copied = mem_printf("%s/gemm.lua", folder), *copy = mem_printf("%s/gemm.comp", folder);
    struct space_file_basis b = basis();
    b.path = copied;
    put(copied, space);
    put(copy, text);
    space_file_read(&file, &b);
    assert_int_equal(file.state, SPACE_FILE_SAME);
    put(copy, "#version 450\nmistake\n");
    space_file_read(&file, &b);
    assert_int_equal(file.state, SPACE_FILE_BROKEN);
    assert_string_equal(space_file_changed(&file, &b), copy);
    assert_int_equal(unlink(copy) + unlink(copied), 0);
    free(copied);
    free(copy);
    free(space);
    free(shipped);
    free(text);
    free(own);
}

static void test_every_difference(void **state)
{
    (void)state;
    look();
    char *text = mem_printf("%s%s",
                            "operator.matmul { N = size(\"N\", 64), M = 64, K = 64, type = "
                            "\"f32\", layout = \"nn\" }\n"
                            "param.tile = factors(32, 2)\n"
                            "param.swizzle = categorical { \"a\", \"b\" }\n",
                            "kernel { template = \"mine.comp\" }\n"
                            "resources(function(c) return { groups = { 8 } } end)\n");
    put(path, text);
    free(text);
    assert_true(look());
    assert_int_equal(file.state, SPACE_FILE_NEW);
    wording_is("ui", "space file: every difference", file.difference);
}

static void test_values_and_edges_are_compared(void **state)
{
    (void)state;
    static const char *const parts[] = {"param.a = discrete { 1, 2 }\n",
                                        "param.a = discrete { 1, 3 }\n",
                                        "param.a = categorical { \"1\", \"2\" }\n",
                                        "param.a = categorical { \"1\", \"3\" }\n",
                                        "param.a = custom { values = { 1, 2, 3 }, neighbours = "
                                        "function(v) return v == 2 and { 1, 3 }"
                                        " or { 2 } end }\n",
                                        "param.a = custom { values = { 1, 2, 3 }, neighbours = "
                                        "function(v) return v == 1 and { 2, 3 }"
                                        " or { 1 } end }\n"};
    static const char *const differences[] = {"",          "a: added 3, removed 2",
                                              "changed a", "a: added 3, removed 2",
                                              "changed a", "changed a"};
    struct err e;
    for (size_t i = 1; i < sizeof parts / sizeof *parts; i++) {
        put_space(parts[i - 1]);
        script_destroy(session);
        session = script_create(&(struct script_options){.path = path, .device_type = "none"}, &e);
        assert_non_null(session);
        put_space(parts[i]);
        look();
        assert_int_equal(file.state, SPACE_FILE_NEW);
        assert_true(str_starts(file.difference, differences[i]));
    }
}

static void test_broken_and_mended(void **state)
{
    (void)state;
    look();
    put_space("-- before\nparam.more = discret { 1 }\n-- after\n");
    assert_true(look());
    assert_int_equal(file.state, SPACE_FILE_BROKEN);
    wording_is("ui", "space file: no new one where it does not load", space_file_no_new(&file));
    assert_int_equal(file.error.line, 6);
    assert_string_equal(file.error.file, path);
    assert_non_null(strstr(file.error.text, "'discrete'"));
    assert_string_equal(file.around[SPACE_FILE_AROUND - 1], "-- before");
    assert_string_equal(file.around[SPACE_FILE_AROUND], "param.more = discret { 1 }");
    assert_string_equal(file.around[SPACE_FILE_AROUND + 1], "-- after");
    struct space_file_basis b = basis();
    const char *where;
    assert_int_equal(space_file_place(&file, &b, &script_space(session)->param[0], &where), 6);
    assert_false(look()); // nothing new
    put_space("");
    assert_true(look());
    assert_int_equal(file.state, SPACE_FILE_SAME);
    assert_int_equal(file.error.line, 0);
}

static void expect_broken(const char *file_at, int line, const char *what)
{
    assert_true(look());
    assert_int_equal(file.state, SPACE_FILE_BROKEN);
    assert_null(file.fresh);
    assert_string_equal(file.error.file, file_at);
    assert_int_equal(file.error.line, line);
    if (!strstr(file.error.text, what))
        fail_msg("'%s' is not in: %s", what, file.error.text);
}

// What loads may fail when it is called: rules, the template's Lua, its GLSL.
static void test_what_only_fails_when_called(void **state)
{
    (void)state;
    look();
    static const char typo[] = "constraint(\"typo\", function(c) return c.tyle[1] > 0 end)\n";
    put_space(typo);
    expect_broken(path, 5, "did you mean 'tile'?");
    assert_int_equal(strlen(file.around[SPACE_FILE_AROUND]), strlen(typo) - 1);
    assert_true(str_starts(typo, file.around[SPACE_FILE_AROUND]));
    put_space("local sum = derived(function(c) return c.pad + c.pud end)\n"
              "constraint(\"derived\", function(c) return sum(c) < 9 end)\n");
    expect_broken(path, 5, "did you mean 'pad'?");
    put_space("scratch(function(c) return c.pud end)\n");
    expect_broken(path, 5, "did you mean 'pad'?");
    put_space("");
    assert_true(look());
    assert_int_equal(file.state, SPACE_FILE_SAME);
    put_space("constraint(\"lax\", function(c) return true end)\n");
    put(template, VALID "// ${c.pud}\n"); // the session's own reads it as well
    expect_broken(template, 4, "did you mean 'pad'?");
    put(template, VALID "nonsense;\n");
    expect_broken(template, 4, "");
    put(template, VALID);
    assert_true(look());
    assert_int_equal(file.state, SPACE_FILE_NEW);
    assert_int_equal(file.error.line, 0);
}

static void test_resources_that_fail_when_called(void **state)
{
    (void)state;
    look();
    char *text =
        mem_printf("%sresources(function(c) return { invocations = { c.pud } } end)\n"
                   "kernel { template = \"mine.comp\", groups = function(c) return { 1 } end }\n",
                   head);
    put(path, text);
    free(text);
    expect_broken(path, 5, "did you mean 'pad'?");
}

static void test_an_error_in_the_first_line(void **state)
{
    (void)state;
    put(path, "nonsense!");
    look();
    assert_int_equal(file.state, SPACE_FILE_BROKEN);
    assert_string_equal(file.around[SPACE_FILE_AROUND - 1], "");
    assert_string_equal(file.around[SPACE_FILE_AROUND], "nonsense!");
    assert_string_equal(file.around[SPACE_FILE_AROUND + 1], "");
}

static void test_included_files_are_watched(void **state)
{
    (void)state;
    look();
    put(included, "return { 1, 2, 3 }\n");
    assert_true(look());
    assert_int_equal(file.state, SPACE_FILE_NEW);
    assert_non_null(strstr(file.difference, "shapes.lua"));
    put(included, "return {\n");
    assert_true(look());
    assert_int_equal(file.state, SPACE_FILE_BROKEN);
    struct space_file_basis b = basis();
    const char *where;
    assert_int_equal(space_file_place(&file, &b, NULL, &where), file.error.line);
    assert_string_equal(where, included);
    put(included, "return { 1, 2 }\n");
    assert_true(look());
    assert_int_equal(file.state, SPACE_FILE_SAME);
}

static void test_deleted_and_back(void **state)
{
    (void)state;
    look();
    assert_int_equal(remove(path), 0);
    assert_true(look());
    assert_int_equal(file.state, SPACE_FILE_GONE);
    wording_is("ui", "space file: no new one where it is gone", space_file_no_new(&file));
    assert_false(look());
    put_space("");
    assert_true(look());
    assert_int_equal(file.state, SPACE_FILE_SAME);
}

static void test_written_in_place(void **state)
{
    (void)state;
    look();
    FILE *f = fopen(path, "a");
    fputs("-- a word more\n", f);
    fclose(f);
    assert_true(look());
    assert_int_equal(file.state, SPACE_FILE_NEW);
    assert_non_null(strstr(file.difference, "mine.lua"));
}

// A session's sizes are its own; those it was not given are the file's.
static void test_sizes_of_the_session(void **state)
{
    (void)state;
    put_space("param.x = discrete { size(\"X\", 5) }\n");
    look();
    assert_int_equal(file.state, SPACE_FILE_NEW);
    int count;
    const struct script_setting *size = script_settings(file.fresh, &count);
    assert_int_equal(count, 2);
    assert_string_equal(size[0].name, "N");
    assert_string_equal(size[0].value, "128");
    assert_string_equal(size[0].standard, "64");
    assert_string_equal(size[1].value, "5");
}

static void test_without_the_session_script(void **state)
{
    (void)state;
    script_destroy(session);
    session = NULL;
    look();
    assert_int_equal(file.state, SPACE_FILE_NEW);
    assert_non_null(strstr(file.difference, "do not load"));
}

// What differs is compiled by a worker: this program again.
TEST_GROUP(space_file)
{
    if (!mkdtemp(folder))
        return 1;
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_unchanged),
        TEST(test_looks_once_a_second),
        TEST(test_edited),
        TEST(test_the_file_that_changed),
        TEST(test_a_copied_template),
        TEST(test_every_difference),
        TEST(test_values_and_edges_are_compared),
        TEST(test_broken_and_mended),
        TEST(test_what_only_fails_when_called),
        TEST(test_resources_that_fail_when_called),
        TEST(test_an_error_in_the_first_line),
        TEST(test_included_files_are_watched),
        TEST(test_deleted_and_back),
        TEST(test_written_in_place),
        TEST(test_sizes_of_the_session),
        TEST(test_without_the_session_script),
    };
    int failed = cmocka_run_group_tests_name("space file", tests, NULL, NULL);
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return failed;
}
