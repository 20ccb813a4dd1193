// Compilers of the user's: a real one where there is one, and scripts that fail in all ways.
#include "group.h"
#include "wording.h"

#include "base/file.h"
#include "base/mem.h"
#include "kernel/external.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD "#version 450\nlayout(local_size_x = 8) in;\n"
static const char good[] =
    HEAD "layout(binding = 2) buffer C { float c[]; };\nshared float t[40];\n"
         "void main() { t[gl_LocalInvocationIndex] = 1; c[0] = t[0]; }\n";

static char folder[] = "/tmp/tilewalk-external-XXXXXX";

// Makes a compiler named `name` that runs `script`; TILEWALK_GLSLANG names it.
static void use_script(const char *name, const char *script)
{
    struct err e;
    char *path = path_join(folder, name), *text = mem_printf("#!/bin/sh\n%s\n", script);
    assert_true(file_write(path, text, strlen(text), &e));
    assert_int_equal(chmod(path, 0700), 0);
    setenv("TILEWALK_GLSLANG", path, 1);
    free(text);
    free(path);
}

static void assert_fails(int line, const char *text)
{
    struct spirv s;
    struct err e = {0};
    assert_false(kernel_compile(good, &s, &e));
    assert_null(s.word);
    if (e.line != line || !strstr(e.text, text))
        fail_msg("line %d: '%s', expected line %d: '%s'", e.line, e.text, line, text);
    assert_null(strchr(e.text, '\n'));
}

static void scripts_that_fail(void **state)
{
    (void)state;
    use_script("glslangValidator",
               "shift 7; echo $1; echo \"ERROR: $1:4: 'x' : not declared\"; exit 2");
    assert_fails(4, "'x' : not declared");
    use_script("glslc",
               "shift 4; echo \"$1: warning: old\"; echo \"$1:5: error: 'y' : no\"; exit 1");
    assert_fails(5, "'y' : no");
    use_script("silent", "exit 0");
    assert_fails(0, "without a module");
    use_script("odd", "printf abc > $7; exit 0");
    assert_fails(0, "module");
    use_script("killed", "kill -9 $$");
    assert_fails(0, "module");
    setenv("TILEWALK_GLSLANG", "/tmp/there/is/no/such/program", 1);
    assert_fails(0, "No such file");
}

// Nobody waits for what a compiler started, and none of it is left: it would hold the pipe.
static void scripts_that_leave_something_running(void **state)
{
    (void)state;
    struct spirv s;
    struct err e;
    use_script("glslangValidator", "sleep 1000 & setsid sleep 1000 & printf 'abcd' > $7");
    assert_true(kernel_compile(good, &s, &e));
    assert_int_equal(s.count, 1);
    spirv_finish(&s);
}

// A program that prints no version is no compiler.
static void scripts_that_never_end(void **state)
{
    (void)state;
    struct err e = {0};
    use_script("asleep", "sleep 1000 & sleep 1000");
    assert_null(external_version(external_program(), 1, &e));
    assert_non_null(strstr(e.text, " 1 s"));
    use_script("endless", "trap '' PIPE TERM; while :; do echo and so on; done");
    assert_null(external_version(external_program(), 1, &e));
    wording_is("kernel", "external: endless", strstr(e.text, "endless'"));
}

// Checks the arguments of each compiler, and that a module is used unchanged.
static void scripts_that_succeed(void **state)
{
    (void)state;
    struct spirv s;
    struct err e;
    use_script("glslangValidator",
               "[ \"$1 $2 $3 $4 $5 $6\" = \"-V --target-env vulkan1.1 -S comp -o\" ] || exit 1\n"
               "grep -q 'shared float t' $8 && printf 'abcdefgh' > $7");
    assert_true(kernel_compile(good, &s, &e));
    assert_int_equal(s.count, 2);
    assert_memory_equal(s.word, "abcdefgh", 8);
    spirv_finish(&s);
    use_script("my-glslc",
               "[ \"$1 $2 $3\" = \"-fshader-stage=compute --target-env=vulkan1.1 -o\" ] || exit 1\n"
               "grep -q 'shared float t' $5 && printf 'abcd' > $4");
    assert_true(kernel_compile(good, &s, &e));
    assert_int_equal(s.count, 1);
    spirv_finish(&s);
}

// The target is the newest that the device takes.
static void scripts_get_the_target(void **state)
{
    (void)state;
    static const struct {
        uint32_t minor;
        const char *glslang, *glslc; // what the scripts have to see
    } targets[] = {
        {0, "*'--target-env vulkan1.1 '*' '", "*'--target-env=vulkan1.1 '*' '"},
        {4, "*'--target-env vulkan1.1 '*' --target-env spirv1.4 '",
         "*'--target-env=vulkan1.1 '*' --target-spv=spv1.4 '"},
        {5, "*'--target-env vulkan1.2 '*' '", "*'--target-env=vulkan1.2 '*' '"},
        {6, "*'--target-env vulkan1.3 '*' '", "*'--target-env=vulkan1.3 '*' '"},
    };
    for (size_t i = 0; i < 2 * sizeof targets / sizeof *targets; i++) {
        bool is_glslc = i % 2;
        struct spirv s;
        struct err e = {0};
        struct job j = {0};
        struct pass *p = job_add_pass(&j);
        p->glsl = mem_strdup(good);
        char script[300];
        snprintf(script, sizeof script, "case \"$* \" in %s) echo 'error: as wanted';; esac",
                 is_glslc ? targets[i / 2].glslc : targets[i / 2].glslang);
        use_script(is_glslc ? "my-glslc" : "glslangValidator", script);
        assert_false(kernel_compile_pass(p, targets[i / 2].minor, &s, &e));
        if (!strstr(e.text, "as wanted"))
            fail_msg("1.%u: %s", targets[i / 2].minor, e.text);
        job_finish(&j);
    }
}

// `text` is what a kernel was built with; the compiler that is used now is another one.
static void is_another(struct wording *w, const char *text)
{
    struct err e = {0};
    assert_false(kernel_check_compiler(text, &e));
    assert_non_null(strstr(e.text, "--glslang"));
    wording_add(w, text, e.text);
}

static void versions(void **state)
{
    (void)state;
    char text[64] = "Mesa 22";
    struct err e;
    use_script("dumb", "exit 1");
    assert_false(kernel_add_compiler(text, sizeof text, &e));
    assert_non_null(strstr(e.text, "version"));
    use_script("new", "[ $1 = --version ] && echo 'Glslang 99' && echo more");
    assert_true(kernel_add_compiler(text, sizeof text, &e));
    assert_string_equal(text, "Mesa 22, Glslang 99");
    assert_true(kernel_check_compiler(text, &e));
    struct wording w;
    wording_begin(&w, "kernel", "external: another compiler");
    is_another(&w, "Mesa 22");
    is_another(&w, "Mesa 22, shaderc v9");
    unsetenv("TILEWALK_GLSLANG");
    assert_true(kernel_add_compiler(text, sizeof text, &e));
    assert_string_equal(text, "Mesa 22, Glslang 99");
    assert_true(kernel_check_compiler("Mesa 22", &e));
    is_another(&w, text);
    is_another(&w, "Mesa 22, shaderc v9");
    wording_end(&w);
}

static char *find_program(const char *name)
{
    char *path = mem_strdup(getenv("PATH")), *rest, *found = NULL;
    for (char *p = strtok_r(path, ":", &rest); p && !found; p = strtok_r(NULL, ":", &rest)) {
        char *candidate = path_join(p, name);
        if (access(candidate, X_OK) == 0)
            found = candidate;
        else
            free(candidate);
    }
    free(path);
    return found;
}

static struct kernel_facts facts(void)
{
    struct spirv s;
    struct kernel_facts f;
    struct err e;
    if (!kernel_compile(good, &s, &e) || !kernel_inspect(&s, &f, &e))
        fail_msg("%s", e.text);
    spirv_finish(&s);
    f.words = 0; // the only thing in which compilers may differ
    return f;
}

static void an_installed_compiler_agrees(void **state)
{
    (void)state;
    struct err e = {0};
    struct spirv s;
    char *program = find_program("glslangValidator");
    if (!program) {
        puts("not checked: glslangValidator is not installed (package glslang-tools)");
        skip();
    }
    unsetenv("TILEWALK_GLSLANG");
    struct kernel_facts ours = facts();
    setenv("TILEWALK_GLSLANG", program, 1);
    struct kernel_facts theirs = facts();
    assert_memory_equal(&ours, &theirs, sizeof ours);
    static const char wrong[] = HEAD "\nvoid main() { int a = b; }\n";
    assert_false(kernel_compile(wrong, &s, &e));
    assert_int_equal(e.line, 4);
    assert_non_null(strstr(e.text, "undeclared"));
    free(program);
}

static int setup(void **state)
{
    (void)state;
    kernel_setup();
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    char *command = mem_printf("rm -r %s", folder);
    int status = system(command);
    free(command);
    return status;
}

TEST_GROUP(external)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_that_fail),
        cmocka_unit_test(scripts_that_succeed),
        cmocka_unit_test(scripts_get_the_target),
        cmocka_unit_test(scripts_that_leave_something_running),
        cmocka_unit_test(scripts_that_never_end),
        cmocka_unit_test(versions),
        cmocka_unit_test(an_installed_compiler_agrees),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
