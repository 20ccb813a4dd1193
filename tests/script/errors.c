#include "errors.h"

#include "base/file.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *documentation; // docs/guide/spaces.md

int errors_setup(void **state)
{
    (void)state;
    const char *root = getenv("TILEWALK_DATA");
    char *path = path_join(root ? root : ".", "docs/guide/spaces.md");
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

// The sign of 0 / 0 is that of the processor.
static char *without_sign(const char *message)
{
    const char *sign = strstr(message, "-nan");
    return mem_printf("%.*s%s", (int)(sign ? sign - message : 0), message,
                      sign ? sign + 1 : message);
}

// Removes the place, and the words of Lua and of the C library.
static bool is_shown(const char *message)
{
    static const char *const open_ends[] = {"nan", "near '$'", "(message", "(an endless"};
    char *shown = without_sign(strstr(message, ": ") + 2);
    for (size_t i = 0; i < sizeof open_ends / sizeof *open_ends; i++) {
        char *end = strstr(shown, open_ends[i]);
        if (end)
            *end = '\0';
    }
    bool found = strstr(documentation, shown);
    free(shown);
    return found;
}

bool errors_add(struct wording *r, const char *tried, const char *message, const char *place,
                bool is_documented)
{
    size_t length = strlen(place);
    char *steady = without_sign(message);
    wording_add(r, tried, steady);
    free(steady);
    if (strncmp(message, place, length) != 0 || strncmp(message + length, ": ", 2) != 0)
        print_error("%s\n  gives: %s\n  place: %s\n", tried, message, place);
    else if (strchr(message, '\n'))
        print_error("%s\n  gives more than one line: %s\n", tried, message);
    else if (is_documented && !is_shown(message))
        print_error("not in docs/guide/spaces.md: %s\n", message);
    else
        return true;
    return false;
}

// The file and its template, without what every file has.
static char *name_case(const struct error_case *c)
{
    static const struct {
        const char *text, *name;
    } usual[] = {{OPERATOR, "OPERATOR "}, {PARAM, "PARAM "}, {KERNEL, "KERNEL "}};
    struct str name = {0};
    const char *at = c->name ? c->name : c->lua;
    while (*at) {
        size_t i = 0;
        while (i < 3 && !str_starts(at, usual[i].text))
            i++;
        if (i < 3) {
            str_add(&name, usual[i].name);
            at += strlen(usual[i].text);
        } else {
            str_add_char(&name, *at++);
        }
    }
    if (c->glsl)
        str_printf(&name, "| %s", c->glsl);
    return str_take(&name);
}

void errors_check(const char *part, const struct error_case *cases, size_t count)
{
    char message[1400];
    int wrong = 0;
    struct wording r;
    wording_begin(&r, "script", part);
    for (size_t i = 0; i < count; i++) {
        const struct error_case *c = &cases[i];
        struct source files[] = {
            {"a.lua", c->lua}, {"t.comp", c->glsl ? c->glsl : "x\n"}, {NULL, NULL}};
        char *name = name_case(c);
        try_script(files, message, sizeof message);
        wrong += !errors_add(&r, name, message, c->place, true);
        free(name);
    }
    wording_end(&r);
    assert_int_equal(wrong, 0);
}

static size_t folder_length(const char *at, const char *folder)
{
    size_t length = folder ? strlen(folder) : 0;
    return length && strncmp(at, folder, length) == 0 && at[length] == '/' ? length + 1 : 0;
}

char *errors_format(const struct err *e, const char *folder)
{
    char message[1400];
    struct str out = {0};
    const char *at = err_format(e, message, sizeof message);
    while (*at) {
        size_t skip = folder_length(at, folder) + folder_length(at, getenv("TILEWALK_DATA"));
        if (!skip)
            str_add_char(&out, *at++);
        at += skip;
    }
    return str_take(&out);
}
