// The sources of texts: the space file's folder, the shipped folders, or a session's stored texts;
// and finding presets.
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "group.h"
#include "help.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tree {
    char root[64]; // holds own/, data/lua, data/shaders, data/presets
};

static void put(const struct tree *t, const char *name, const char *text, size_t length)
{
    struct err e;
    char *path = path_join(t->root, name), *folder = path_folder(path);
    assert_true(file_make_folders(folder, &e));
    assert_true(file_write(path, text, length, &e));
    free(folder);
    free(path);
}

static void put_text(const struct tree *t, const char *name, const char *text)
{
    put(t, name, text, strlen(text));
}

// presets/mul.lua includes lua/mul.lua, both called "mul.lua" in it; presets/mul2.lua is the first
// with other sizes.
static int make_tree(void **state)
{
    struct tree *t = mem_zero(1, sizeof *t);
    strcpy(t->root, "/tmp/tilewalk-script-XXXXXX");
    if (!mkdtemp(t->root))
        return -1;
    put_text(t, "data/presets/mul.lua",
             "local mul = include 'mul.lua'\n"
             "mul(size('N', 8))\n"
             "constraint('odd', function(c) return c.p[1] % 2 == 1 end)\n"
             "kernel { template = 'mul.comp',\n"
             "  groups = function(c) return { c.p[2] } end }");
    put_text(t, "data/presets/mul2.lua", "use('mul.lua', { N = 24 })");
    put_text(t, "data/presets/notes.txt", "");
    put_text(t, "data/lua/mul.lua", "return function(n) " OPERATOR "param.p = factors(n, 2) end");
    put_text(t, "data/shaders/mul.comp", "shipped ${N} ${c.p[1]}");
    put_text(t, "own/mine.lua", "use('mul.lua')");
    char *data = path_join(t->root, "data");
    setenv("TILEWALK_DATA", data, 1);
    free(data);
    *state = t;
    return 0;
}

static int remove_tree(void **state)
{
    struct tree *t = *state;
    char *command = mem_printf("rm -r '%s'", t->root);
    int status = system(command);
    free(command);
    free(t);
    return status;
}

static struct script *open_file(const struct tree *t, const char *name, struct err *e)
{
    char *path = path_join(t->root, name);
    struct script *s = script_create(&(struct script_options){.path = path}, e);
    free(path);
    return s;
}

static void has_texts(const struct script *s, const char *const *expected)
{
    int count;
    const struct script_text *text = script_texts(s, &count);
    for (int i = 0; i < count; i++) {
        assert_non_null(expected[i]);
        assert_string_equal(text[i].name, expected[i]);
    }
    assert_null(expected[count]);
}

static char *render_point(struct script *s, uint64_t index, uint32_t groups[3])
{
    struct config c;
    struct job job;
    struct err e;
    space_point(script_space(s), index, &c);
    assert_true(script_render(s, &c, &job, &e));
    char *glsl = mem_strdup(job.pass[0].glsl);
    memcpy(groups, job.pass[0].groups, sizeof job.pass[0].groups);
    job_finish(&job);
    return glsl;
}

static void a_preset_finds_shipped_files(void **state)
{
    struct err e;
    struct script *s = open_file(*state, "data/presets/mul2.lua", &e);
    assert_non_null(s);
    has_texts(
        s, (const char *const[]){"mul2.lua", "mul.lua", "lua/mul.lua", "shaders/mul.comp", NULL});
    uint32_t groups[3];
    char *glsl = render_point(s, 0, groups);
    assert_non_null(strstr(glsl, "shipped 24"));
    free(glsl);
    assert_string_equal(script_space(s)->name, "mul2");
    script_destroy(s);
}

static void own_files_come_first(void **state)
{
    struct err e;
    struct script *s = open_file(*state, "own/mine.lua", &e);
    assert_non_null(s);
    has_texts(s, (const char *const[]){"mine.lua", "presets/mul.lua", "lua/mul.lua",
                                       "shaders/mul.comp", NULL});
    script_destroy(s);
    put_text(*state, "own/mul.comp", "own ${N}");
    s = open_file(*state, "own/mine.lua", &e);
    assert_non_null(s);
    has_texts(
        s, (const char *const[]){"mine.lua", "presets/mul.lua", "lua/mul.lua", "mul.comp", NULL});
    script_destroy(s);
    // A file of the user's that is called like a preset is that preset with changes.
    put_text(*state, "own/mul2.lua", "use('mul2.lua')");
    s = open_file(*state, "own/mul2.lua", &e);
    assert_non_null(s);
    script_destroy(s);
}

static void texts_alone_are_enough(void **state)
{
    struct tree *t = *state;
    struct err e;
    struct script *s = open_file(t, "data/presets/mul2.lua", &e);
    assert_non_null(s);
    int count;
    const struct script_text *stored = script_texts(s, &count);
    put_text(t, "data/presets/mul2.lua", "((");
    put_text(t, "data/presets/mul.lua", "((");
    put_text(t, "data/lua/mul.lua", "((");
    put_text(t, "data/shaders/mul.comp", "other");
    struct script *again =
        script_create(&(struct script_options){.texts = stored, .text_count = count}, &e);
    assert_non_null(again);
    assert_string_equal(script_space(again)->size_text, script_space(s)->size_text);
    assert_string_equal(script_space(again)->name, script_space(s)->name);
    assert_int_equal(script_space(again)->constraint[0].line, 3);
    assert_string_equal(script_space(again)->constraint[0].file,
                        script_space(s)->constraint[0].file);
    for (uint64_t i = 0; i < script_space(s)->size; i++) {
        uint32_t groups[3], groups_again[3];
        char *a = render_point(s, i, groups), *b = render_point(again, i, groups_again);
        assert_string_equal(a, b);
        assert_memory_equal(groups, groups_again, sizeof groups);
        free(a);
        free(b);
    }
    int count_again;
    const struct script_text *kept = script_texts(again, &count_again);
    assert_int_equal(count_again, count);
    for (int i = 0; i < count; i++) {
        assert_string_equal(kept[i].name, stored[i].name);
        assert_string_equal(kept[i].path, stored[i].path);
        assert_string_equal(kept[i].text, stored[i].text);
    }
    script_destroy(again);
    // One text less is an error, although there is a file.
    again = script_create(&(struct script_options){.texts = stored, .text_count = count - 1}, &e);
    assert_null(again);
    assert_non_null(strstr(e.text, "no such file among the stored texts"));
    script_destroy(s);
}

static void fails_with(const struct tree *t, const char *name, const char *expected)
{
    struct err e;
    char message[1400];
    assert_null(open_file(t, name, &e));
    err_format(&e, message, sizeof message);
    if (!strstr(message, expected))
        fail_msg("%s: %s\nexpected: %s", name, message, expected);
}

static void unreadable_files_say_why(void **state)
{
    struct tree *t = *state;
    fails_with(t, "own/none.lua", "none.lua");
    put(t, "own/zero.lua", "local x\0y", 9);
    fails_with(t, "own/zero.lua", "own/zero.lua: not a text file (it holds a zero byte)");
    char *large = mem_zero(1, (1 << 20) + 2);
    memset(large, ' ', (1 << 20) + 1);
    put_text(t, "own/large.lua", large);
    fails_with(t, "own/large.lua", "own/large.lua: larger than 1024 KiB");
    large[1 << 20] = '\0';
    put_text(t, "own/large.lua", large);
    fails_with(t, "own/large.lua", "no operator is declared");
    free(large);
    put_text(t, "own/bad.lua", "\nlocal x = include 'zero.lua'");
    fails_with(t, "own/bad.lua", "own/bad.lua:2: include \"zero.lua\": ");
    put_text(t, "own/bad.lua", "include 'none.lua'");
    fails_with(t, "own/bad.lua", "nor in the shipped lua/");
    put_text(t, "own/bad.lua", "use 'none.lua'");
    fails_with(t, "own/bad.lua", "nor in the shipped presets/");
    put_text(t, "own/bad.lua", "kernel { template = 'none.comp' }");
    fails_with(t, "own/bad.lua", "nor in the shipped shaders/");
}

static void names_stay_in_their_folders(void **state)
{
    struct tree *t = *state;
    put_text(t, "secret.lua", "return 1");
    put_text(t, "own/deep/inside.lua", "return 1");
    static const char *const outside[] = {
        "../secret.lua", "/etc/passwd",    "deep/../../secret.lua", "..",
        "deep/..",       "./../secret.lua"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        char *lua = mem_printf("include '%s'", outside[i]);
        put_text(t, "own/reach.lua", lua);
        fails_with(t, "own/reach.lua", "a file is named relative to the space file's folder");
        free(lua);
    }
    put_text(t, "own/reach.lua", "assert(include 'deep/inside.lua' == 1) error('reached')");
    fails_with(t, "own/reach.lua", "reached");
}

static void make_link(const struct tree *t, const char *target, const char *name)
{
    char *path = path_join(t->root, name), *to = path_join(t->root, target);
    assert_int_equal(symlink(*target == '/' ? target : to, path), 0);
    free(path);
    free(to);
}

static void links_stay_in_their_folders(void **state)
{
    struct tree *t = *state;
    put_text(t, "secret.lua", "return 1");
    put_text(t, "near/secret.lua", "return 1");
    put_text(t, "own/inside/file.lua", "return 7");
    put_text(t, "own/space.lua", "error('answer ' .. include 'link.lua')");
    static const struct {
        const char *target, *expected;
    } links[] = {
        {"/etc/passwd", "own/link.lua: a link leads out of the space's folders"},
        {"secret.lua", "own/link.lua: a link leads out of the space's folders"},
        {"/dev/zero", "own/link.lua: not a regular file"},
        {"/proc/self/environ", "own/link.lua: a link leads out of the space's folders"},
        {"own/inside", "own/link.lua: a folder, not a file"},
        {"own/inside/file.lua", "answer 7"},
        {"data/lua/seven.lua", "answer 7"}, // what ships counts as the space's own
    };
    put_text(t, "data/lua/seven.lua", "return 7");
    char *link = path_join(t->root, "own/link.lua");
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        make_link(t, links[i].target, "own/link.lua");
        fails_with(t, "own/space.lua", links[i].expected);
        assert_int_equal(unlink(link), 0);
    }
    assert_int_equal(symlink("inside/file.lua", link), 0);
    fails_with(t, "own/space.lua", "answer 7");
    assert_int_equal(unlink(link), 0);
    make_link(t, "near", "own/door"); // a folder that is a link, and a name that begins like ours
    put_text(t, "own/space.lua", "include 'door/secret.lua'");
    fails_with(t, "own/space.lua", "a link leads out of the space's folders");
    put_text(t, "own2/secret.lua", "return 1");
    make_link(t, "own2/secret.lua", "own/link.lua");
    put_text(t, "own/space.lua", "include 'link.lua'");
    fails_with(t, "own/space.lua", "a link leads out of the space's folders");
    free(link);
}

// A file that the user names may be a link, and so may its folder.
static void a_users_own_links_are_followed(void **state)
{
    struct tree *t = *state;
    put_text(t, "elsewhere/inside.lua", "return 7");
    put_text(t, "elsewhere/space.lua", "error('answer ' .. include 'inside.lua')");
    make_link(t, "elsewhere", "door");
    fails_with(t, "door/space.lua", "answer 7");
    put_text(t, "own/inside.lua", "return 8");
    make_link(t, "elsewhere/space.lua", "own/linked.lua");
    fails_with(t, "own/linked.lua", "answer 8"); // beside the name that was given, as ever
}

static void what_is_no_file_is_not_waited_for(void **state)
{
    struct tree *t = *state;
    char *path = path_join(t->root, "own/pipe.lua");
    put_text(t, "own/space.lua", "include 'pipe.lua'");
    put_text(t, "own/folder.lua/x", "");
    assert_int_equal(mkfifo(path, 0600), 0);
    fails_with(t, "own/space.lua", "own/pipe.lua: not a regular file");
    put_text(t, "own/space.lua", "kernel { template = 'pipe.lua' }");
    fails_with(t, "own/space.lua", "own/pipe.lua: not a regular file");
    put_text(t, "own/space.lua", "use 'pipe.lua'");
    fails_with(t, "own/space.lua", "own/pipe.lua: not a regular file");
    put_text(t, "own/space.lua", "include 'folder.lua'");
    fails_with(t, "own/space.lua", "own/folder.lua: a folder, not a file");
    put_text(t, "own/space.lua", "include 'large.lua'");
    char *large = mem_zero(1, (1 << 20) + 2);
    memset(large, ' ', (1 << 20) + 1);
    put_text(t, "own/large.lua", large);
    fails_with(t, "own/space.lua", "own/large.lua: larger than 1024 KiB");
    free(large);
    free(path);
}

// A file has many names ("./a.lua", ".//a.lua"), each of which is read.
static void files_without_end_are_refused(void **state)
{
    struct tree *t = *state;
    put_text(t, "own/a.lua", "return 1");
    put_text(t, "own/space.lua", "for i = 1, 1000 do include(('./'):rep(i) .. 'a.lua') end");
    fails_with(t, "own/space.lua", "more than 64 files");
}

static void presets_are_found_by_name(void **state)
{
    struct tree *t = *state;
    struct err e;
    int count;
    char **names = script_presets(&count);
    assert_int_equal(count, 2);
    assert_string_equal(names[0], "mul");
    assert_string_equal(names[1], "mul2");
    free(names[0]);
    free(names[1]);
    free(names);

    char *found = script_find("mul", &e), *expected = path_join(t->root, "data/presets/mul.lua");
    assert_string_equal(found, expected);
    free(found);
    found = script_find(expected, &e); // a path is one too
    assert_string_equal(found, expected);
    free(found);
    free(expected);
    assert_null(script_find("mull", &e));
    assert_string_equal(e.text, "no file and no preset 'mull' (did you mean 'mul'?)");
    assert_null(script_find("convolution", &e));
    assert_string_equal(e.text, "no file and no preset 'convolution' (presets: mul, mul2)");
    assert_null(script_find("", &e));
    assert_null(script_find("../secret", &e));
}

static void a_folder_is_no_space_file(void **state)
{
    struct tree *t = *state;
    put_text(t, "mul/x", "");
    assert_int_equal(chdir(t->root), 0);
    struct err e;
    char *found = script_find("mul", &e); // the preset, not the folder
    assert_non_null(found);
    assert_non_null(strstr(found, "presets/mul.lua"));
    free(found);
    assert_int_equal(chdir("/"), 0);
}

static void a_graph_in_pieces_is_warned_of_once(void **state)
{
    struct tree *t = *state;
    struct err e;
    put_text(t, "own/pieces.lua",
             OPERATOR
             "param.walk = custom { values = { 'a', 'b', 'c', 'd' }, neighbours = function(v)\n"
             "  return ({ a = { 'b' }, b = { 'a' }, c = { 'd' }, d = { 'c' } })[v] end }\n"
             "kernel { template = 'mul.comp', groups = function() return { 1 } end }\n");
    char *log = path_join(t->root, "log"), *text;
    int saved = dup(STDERR_FILENO), fd = open(log, O_WRONLY | O_CREAT, 0666);
    assert_true(dup2(fd, STDERR_FILENO) >= 0);
    struct script *s = open_file(t, "own/pieces.lua", &e);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(fd);
    assert_non_null(s);
    script_destroy(s);
    assert_true(file_read(log, &text, NULL, &e));
    char *first = strstr(text, "parameter 'walk': its neighbours do not lead from every value");
    assert_non_null(first);
    assert_null(strstr(first + 1, "parameter 'walk'"));
    free(text);
    free(log);
}

TEST_GROUP(files)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_preset_finds_shipped_files, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(own_files_come_first, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(texts_alone_are_enough, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(unreadable_files_say_why, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(names_stay_in_their_folders, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(links_stay_in_their_folders, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(a_users_own_links_are_followed, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(what_is_no_file_is_not_waited_for, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(files_without_end_are_refused, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(presets_are_found_by_name, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(a_folder_is_no_space_file, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(a_graph_in_pieces_is_warned_of_once, make_tree,
                                        remove_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
