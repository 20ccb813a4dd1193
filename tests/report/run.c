#include "run.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char *run_list(int *status, const char *command, va_list args)
{
    char line[2000], step[4096];
    struct str out = {0};
    vsnprintf(line, sizeof line, command, args);
    char *shell = mem_printf("{ %s\n} 2>&1", line);
    FILE *pipe = popen(shell, "r");
    assert_non_null(pipe);
    for (size_t got; (got = fread(step, 1, sizeof step, pipe)) > 0;)
        str_add_bytes(&out, step, got);
    int ended = pclose(pipe);
    if (status)
        *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
    free(shell);
    str_add(&out, "");
    return str_take(&out);
}

char *run(int *status, const char *command, ...)
{
    va_list args;
    va_start(args, command);
    char *text = run_list(status, command, args);
    va_end(args);
    return text;
}

void run_silently(const char *command, ...)
{
    int status;
    va_list args;
    va_start(args, command);
    char *text = run_list(&status, command, args);
    va_end(args);
    if (status != 0 || *text)
        fail_msg("%s: exit code %d\n%s", command, status, text);
    free(text);
}

bool has_program(const char *name)
{
    int status;
    free(run(&status, "command -v %s", name));
    return status == 0;
}

char *make_folder(void)
{
    const char *base = getenv("TMPDIR");
    char *folder = mem_printf("%s/tilewalk-test-XXXXXX", base && *base ? base : "/tmp");
    assert_non_null(mkdtemp(folder));
    return folder;
}

void remove_folder(char *folder)
{
    run_silently("rm -rf '%s'", folder);
    free(folder);
}

char *write_text(const char *folder, const char *name, const char *text)
{
    struct err e;
    char *path = path_join(folder, name);
    if (!file_write(path, text, strlen(text), &e))
        fail_msg("%s", e.text);
    return path;
}
