// Foreign texts in space files, databases and names cannot steer the terminal on which they are
// printed, nor forge a line.
#include "base/shown.h"
#include "group.h"
#include "sessions.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define HOSTILE                                                                                    \
    "\x1b]0;forged\x07\x1b[2J\xc2\x9b"                                                             \
    "1m\xe2\x80\xae\xff\x7f"

static void assert_plain(const char *text, const char *what)
{
    for (const char *at = text; *at;) {
        const char *before = at;
        uint32_t c = str_next_glyph(&at);
        if (c != '\n' && (c == STR_NO_GLYPH || !shown_is_plain(c)))
            fail_msg("%s: byte %02x: %.200s", what, (unsigned char)*before, text);
    }
    if (strstr(text, "\nforged"))
        fail_msg("%s: a line is forged: %s", what, text);
}

static struct result plain(struct result r, const char *what)
{
    assert_plain(r.out, what);
    assert_plain(r.err, what);
    return r;
}

static const char *space_file(struct box *b, const char *name, const char *more)
{
    char *text =
        mem_printf("operator.matmul { N = 8, M = 8, K = 8 }\n"
                   "param.a = categorical { 'x%s', 'y\\nforged' }\n"
                   "kernel { template = 'mine.comp', groups = function(c) return { 1 } end }\n"
                   "%s\n",
                   HOSTILE, more);
    const char *path = box_write(b, name, text);
    free(text);
    box_write(b, "mine.comp", "#version 450\n// " HOSTILE "\nvoid main() {}\n");
    return path;
}

static void test_space_files(void **state)
{
    struct box *b = *state;
    static const char *const wrong[] = {
        "error('" HOSTILE "\\nforged')",
        "constraint('" HOSTILE "', function(c) return c['" HOSTILE "\\nforged'] end)",
        "constraint('a\\nforged', function(c) return true end)",
        "constraint('no', function(c) return '" HOSTILE "' end)",
        "constraint('never " HOSTILE "', function(c) return false end)",
        "include('" HOSTILE "\\nforged')",
        "x = '" HOSTILE,
        "size('" HOSTILE "\\nforged', 1)",
        "choice('Q', { '" HOSTILE "' })",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *path = space_file(b, "mine.lua", wrong[i]);
        struct result r = plain(RUN(b, "check", path, "--device", "none"), wrong[i]);
        assert_true(r.code != 0);
        assert_one_line(r.err);
    }
    const char *path =
        space_file(b, "mi" HOSTILE "\nforged.lua",
                   "constraint('\xc2\x9b\xe2\x80\xae', function(c) return true end)");
    struct result r = plain(RUN(b, "check", path, "--device", "none"), "check");
    assert_ok(&r);
    assert_contains(r.out, "\\x1b]0;forged");
    r = plain(RUN(b, "tune", path, "--plain", "--source", "synthetic:bowl", "--trials", "2"),
              "tune");
    assert_ok(&r);
    r = plain(RUN(b, "check", "no" HOSTILE "\nforged"), "no such file");
    assert_int_equal(r.code, 2);
    r = plain(RUN(b, HOSTILE "\nforged"), "no such command");
    assert_int_equal(r.code, 2);
}

// Output for programs is not escaped: GLSL goes into files and other compilers.
static void test_glsl_in_a_pipe_is_raw(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "check", space_file(b, "mine.lua", ""), "--device", "none", "--glsl");
    assert_ok(&r);
    assert_contains(r.out, "// " HOSTILE "\n");
}

// --- a terminal as stdout ---

static const char *terminal; // its name, for the child

static void use_terminal(const struct box *b)
{
    (void)b;
    dup2(open(terminal, O_RDWR | O_NOCTTY), STDOUT_FILENO);
}

// Makes the terminal's own line ends '\n'.
static const char *without_returns(char *text)
{
    size_t kept = 0;
    for (size_t i = 0; text[i]; i++)
        if (text[i] != '\r' || text[i + 1] != '\n')
            text[kept++] = text[i];
    text[kept] = '\0';
    return text;
}

static void test_a_terminal_gets_no_raw_text(void **state)
{
    struct box *b = *state;
    const char *path = space_file(b, "mine.lua", "");
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    terminal = arena_strdup(&b->arena, ptsname(master));
    int slave = open(terminal, O_RDWR | O_NOCTTY); // keeps what is written until it is read
    b->prepare = use_terminal;
    static const char *const forms[] = {"--glsl", "--json"};
    for (size_t i = 0; i < 2; i++) {
        struct result r = RUN(b, "check", path, "--device", "none", "--glsl", forms[i]);
        assert_ok(&r);
        const char *drawn = without_returns(read_terminal(b, master, slave));
        assert_plain(drawn, forms[i]);
        assert_contains(drawn, "main() {}");
    }
    close(slave);
    close(master);
}

static void test_databases(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", flow_path(b, "small.lua"), "--plain", "--source",
                          "synthetic:bowl", "--trials", "5", "--seed", "1");
    assert_ok(&r);
    static const char *const columns[] = {"name",     "title", "device", "driver",
                                          "strategy", "note",  "message"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        tamper(b, arena_printf(&b->arena,
                               "update session set %s = '" HOSTILE "' || char(10) || 'forged'",
                               columns[i]));
    tamper(b, "update trial set reason = '" HOSTILE "' || char(10) || 'forged'");
    r = plain(RUN(b, "ls"), "ls");
    assert_ok(&r);
    r = plain(RUN(b, "show", "1", "--trials"), "show");
    assert_ok(&r);
    assert_contains(r.out, "\\x1b]0;forged\\x07\\x1b[2J\\u009b1m\\u202e\\xff\\x7f\\nforged");
    plain(RUN(b, "compare", "1"), "compare");
    plain(RUN(b, "plot", "1"), "plot");
    plain(RUN(b, "resume", "1", "--plain"), "resume");
    plain(RUN(b, "export", "1", "--out", box_path(b, "out")), "export");
    plain(RUN(b, "lookup", "1", "matmul"), "lookup");
    plain(RUN(b, "set", "1", "note="), "note");
    r = RUN(b, "ls", "--json");
    assert_ok(&r);
    json_of(b, r.out);
}

TEST_GROUP(shown)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_space_files),
        FLOW_TEST(test_glsl_in_a_pipe_is_raw),
        FLOW_TEST(test_a_terminal_gets_no_raw_text),
        FLOW_TEST(test_databases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
