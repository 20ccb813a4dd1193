// Foreign code is compiled apart from the engine: templates that end or hang a compiler, compilers
// that hang and leave processes behind.
#include "group.h"
#include "sessions.h"

#include "base/file.h"
#include "base/str.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#define HEAD                                                                                       \
    "#version 450\n"                                                                               \
    "layout(local_size_x = 1) in;\n"                                                               \
    "layout(binding = 2) buffer C { float c[]; };\n"
#define SHORT "--seconds", "1" // a template is tried for five at least

// --- templates ---

static const char *space_of(struct box *b, const char *template)
{
    box_write(b, "hard.comp", template);
    return box_write(
        b, "hard.lua",
        "operator.matmul { N = 8, M = 8, K = 8 }\n"
        "param.copies = discrete { 1, 2, 3, 4, 5, 6, 7 }\n"
        "kernel { template = \"hard.comp\", groups = function(c) return { 1 } end }\n");
}

// A tree of 15 000 levels: glslang walks it with the stack.
static const char *chain(struct box *b)
{
    return space_of(b, HEAD "void main() { c[0] = c[1]\n"
                            "% for i = 1, 15000 do\n"
                            "+ c[1]\n"
                            "% end\n"
                            "; }\n");
}

// 10^15 statements.
static const char *macros(struct box *b)
{
    return space_of(b, HEAD "#define A0 c[0] += 1.0;\n"
                            "% for i = 1, 15 do\n"
                            "#define A${i} ${string.rep('A' .. i - 1 .. ' ', 10)}\n"
                            "% end\n"
                            "void main() { A15 }\n");
}

// glslang compares each label with all others.
static const char *cases(struct box *b)
{
    return space_of(b, HEAD "void main() { switch (int(c[0])) {\n"
                            "% for i = 1, 60000 do\n"
                            "case ${i}: c[1] = ${i}.0; break;\n"
                            "% end\n"
                            "} }\n");
}

static void assert_not_compiled(struct box *b, const char *space)
{
    struct result r = RUN(b, "tune", space, SHORT, "--json");
    assert_refused(&r, 1, "hard.comp: ", "cannot be compiled: the compiler ");
    assert_string_equal(RUN(b, "ls", "--json").out, "{\"sessions\":[]}\n");
}

static void test_chain(void **state)
{
    assert_not_compiled(*state, chain(*state));
}

static void test_macros(void **state)
{
    assert_not_compiled(*state, macros(*state));
}

static void test_cases(void **state)
{
    assert_not_compiled(*state, cases(*state));
}

// A session that was never compiled here: the export is the first to try.
static void test_export(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", chain(b), "--source", "synthetic:bowl", "--trials", "1");
    assert_ok(&r);
    r = RUN(b, "export", "1", "--out", box_path(b, "out"));
    assert_refused(&r, 1, "hard.comp: ", "trial 1:");
    assert_false(file_exists(box_path(b, "out")));
}

// --- compilers ---

// A compiler that prints its version. When it compiles, it leaves two processes behind, writes
// their numbers and its own to the file "pids", and runs for ever. In the sandbox it could write no
// file: there the attack "compilers" of the campaign looks for the processes.
static const char *sleeping_compiler(struct box *b)
{
    const char *path = box_write(b, "glslang",
                                 arena_printf(&b->arena,
                                              "#!/bin/sh\n"
                                              "[ \"$1\" = --version ] && echo Glslang 1 && exit\n"
                                              "sleep 1000 & one=$!\n"
                                              "setsid sleep 1000 & two=$!\n"
                                              "ulimit -v > '%s'\n"
                                              "echo $one $two $$ end >> '%s'\n"
                                              "sleep 1000\n",
                                              box_path(b, "limit"), box_path(b, "pids")));
    assert_int_equal(chmod(path, 0755), 0);
    return path;
}

static bool has_started(struct box *b, void *context)
{
    (void)context;
    return file_exists(box_path(b, "pids")) && strstr(box_read(b, box_path(b, "pids")), "end");
}

static bool all_have_ended(struct box *b, void *context)
{
    (void)context;
    int seen = 0;
    for (char *at = box_read(b, box_path(b, "pids")), *word, *rest = NULL;
         (word = strtok_r(at, " \n", &rest)); at = NULL, seen++)
        if (strcmp(word, "end") != 0 && kill((pid_t)atoi(word), 0) == 0)
            return false;
    assert_true(seen > 3);
    return true;
}

static const char *plain_space(struct box *b)
{
    return space_of(b, HEAD "void main() { c[0] = 1.0; }\n");
}

static void test_sleeping_compiler(void **state)
{
    struct box *b = *state;
    struct result r = RUN(b, "tune", plain_space(b), SHORT, "--json", "--no-sandbox", "--glslang",
                          sleeping_compiler(b));
    assert_refused(&r, 1, "hard.comp: ", "the compiler did not end in");
    wait_until(b, "the end of all that the compiler started", all_have_ended, NULL);
#ifndef __SANITIZE_ADDRESS__                                  // which needs all of it
    assert_true(atoi(box_read(b, box_path(b, "limit"))) > 0); // of memory, KiB
#endif
}

static void ends_by(struct box *b, int signal_number)
{
    struct running *r = START(b, "tune", plain_space(b), "--json", "--no-sandbox", "--glslang",
                              sleeping_compiler(b));
    wait_until(b, "the compiler", has_started, NULL);
    send_signal(r, signal_number);
    assert_int_equal(finish(b, r).code, 128 + signal_number);
    wait_until(b, "the end of all that the compiler started", all_have_ended, NULL);
}

static void test_compiler_of_a_killed_engine(void **state)
{
    ends_by(*state, SIGKILL);
}

static void test_compiler_of_an_interrupted_engine(void **state)
{
    ends_by(*state, SIGINT);
}

TEST_GROUP(apart)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(test_chain),
        FLOW_TEST(test_macros),
        FLOW_TEST(test_cases),
        FLOW_TEST(test_export),
        FLOW_TEST(test_sleeping_compiler),
        FLOW_TEST(test_compiler_of_a_killed_engine),
        FLOW_TEST(test_compiler_of_an_interrupted_engine),
    };
    return has_device() ? cmocka_run_group_tests(tests, NULL, NULL) : EXIT_SKIPPED;
}
