#include "direct_color.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/program.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIC_SECONDS = 5 };

bool direct_color_is_offered(void)
{
    const char *kind = getenv("COLORTERM");
    bool is_screen = getenv("STY") && !getenv("TMUX");
    return !is_screen && (str_equal(kind, "truecolor") || str_equal(kind, "24bit"));
}

// Appends a capability that sets a colour; `place` is 3 for text, 4 for the background.
static void add_setter(struct str *out, const char *name, int place)
{
    str_printf(out,
               "\t%s=\\E[%%?%%p1%%{8}%%<%%t%d%%p1%%d%%e%%p1%%{256}%%<%%t%d8;5;%%p1%%d%%e%d8;2;"
               "%%p1%%{65536}%%/%%d;%%p1%%{256}%%/%%{255}%%&%%d;%%p1%%{255}%%&%%d%%;m,\n",
               name, place, place, place);
}

// The number in the name grows with each change of the entry.
static void write_entry(const char *name, const char *terminal, struct str *out)
{
    str_printf(out, "%s|%s with direct colour,\n", name, terminal);
    str_add(out, "\tRGB, ccc@, colors#0x1000000, pairs#0x7FFF,\n"
                 "\tinitc@, initp@, oc@, op=\\E[39;49m, setb@, setf@,\n");
    add_setter(out, "setaf", 3);
    add_setter(out, "setab", 4);
    str_printf(out, "\tuse=%s,\n", terminal);
}

// Runs tic. What it says is not shown: the caller sees what came of it.
static void compile(const char *source, const char *folder)
{
    static const char script[] = "exec tic -x -o \"$1\" \"$2\"";
    const char *const argv[] = {"/bin/sh", "-c", script, "sh", folder, source, NULL};
    struct str said = {0};
    struct err e;
    int status;
    program_run(argv, TIC_SECONDS, &said, &status, &e);
    str_finish(&said);
}

char *direct_color_entry(const char *terminal, char name[DIRECT_NAME_SIZE])
{
    char *plain = path_plain_name(terminal);
    bool known = str_equal(plain, terminal) && strlen(terminal) < DIRECT_NAME_SIZE - 16;
    free(plain);
    if (!known)
        return NULL;
    snprintf(name, DIRECT_NAME_SIZE, "tilewalk1-%s", terminal);
    char *folder = path_user_cache("terminfo");
    char *compiled = mem_printf("%s/t/%s", folder, name);
    struct err e;
    if (!file_exists(compiled) && file_make_folders(folder, &e)) {
        struct str text = {0};
        char *source = mem_printf("%s/%s.ti", folder, name);
        write_entry(name, terminal, &text);
        if (file_write(source, str_text(&text), text.length, &e))
            compile(source, folder);
        free(source);
        str_finish(&text);
    }
    if (!file_exists(compiled)) {
        free(folder);
        folder = NULL;
    }
    free(compiled);
    return folder;
}
