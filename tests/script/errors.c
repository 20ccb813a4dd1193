#include "errors.h"

#include "base/file.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *documentation; // docs/spaces.md

int errors_setup(void **state)
{
    (void)state;
    const char *root = getenv("TILEWALK_DATA");
    char *path = path_join(root ? root : ".", "docs/spaces.md");
    struct err e;
    bool good = file_read(path, &documentation, NULL, &e);
    if (!good)
        print_error("%s\n", e.text);
    free(path);
    return good ? 0 : -1;
}

int errors_teardown(void **state)
{
    (void)state;
    free(documentation);
    return 0;
}

bool errors_is_documented(const char *expected)
{
    char *message = mem_strdup(strstr(expected, ": ") + 2), *bar = strstr(message, " | ");
    if (bar)
        *bar = '\0';
    bool found = strstr(documentation, message);
    if (!found)
        print_error("not in docs/spaces.md: %s\n", message);
    free(message);
    return found;
}

static bool matches(const struct error_case *c, const char *message)
{
    const char *bar = strstr(c->expected, " | ");
    size_t length = bar ? (size_t)(bar - c->expected) : strlen(c->expected);
    if (strncmp(c->expected, message, length) == 0 && (bar || !message[length]))
        return true;
    print_error("%s\n   gives: %s\nexpected: %s\n", c->lua, message, c->expected);
    return false;
}

void errors_check(const struct error_case *cases, size_t count)
{
    char message[1400];
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        const struct error_case *c = &cases[i];
        struct source files[] = {
            {"a.lua", c->lua}, {"t.comp", c->glsl ? c->glsl : "x\n"}, {NULL, NULL}};
        wrong += !matches(c, try_script(files, message, sizeof message));
        wrong += !errors_is_documented(c->expected);
    }
    assert_int_equal(wrong, 0);
}
