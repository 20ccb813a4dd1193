// The manual page, in the man macros of roff.
#include "cli/generate.h"

#include "base/mem.h"
#include "ui/ui.h"

#include <ctype.h>
#include <stdlib.h>

// Dashes are minus signs, so that options can be copied; nothing is taken for a request.
static void add_text(struct str *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\\')
            str_add(out, "\\e");
        else if (*c == '-')
            str_add(out, "\\-");
        else if ((*c == '.' || *c == '\'') && c == text)
            str_printf(out, "\\&%c", *c);
        else
            str_add_char(out, *c);
    }
}

static void add_line(struct str *out, const char *text)
{
    add_text(out, text);
    str_add(out, "\n");
}

static void add_sentence(struct str *out, const char *text)
{
    char *sentence = mem_printf("%c%s.", toupper((unsigned char)text[0]), text + 1);
    add_line(out, sentence);
    free(sentence);
}

static void add_option(struct str *out, const struct option *o)
{
    str_add(out, ".TP\n\\fB\\-\\-");
    add_text(out, o->name);
    str_add(out, "\\fR");
    if (o->value) {
        str_add(out, " \\fI");
        add_text(out, o->value);
        str_add(out, "\\fR");
    }
    str_add(out, "\n");
    add_line(out, o->help);
}

static void add_command(struct str *out, const struct command *c)
{
    str_add(out, ".SS tilewalk ");
    add_text(out, c->name);
    if (c->operands) {
        str_add(out, " ");
        add_text(out, c->operands);
    }
    str_add(out, "\n");
    add_sentence(out, c->help);
    for (const struct option *o = NULL; (o = option_next(c, o));)
        add_option(out, o);
}

static void add_entry(struct str *out, const char *term, const char *text)
{
    str_add(out, ".TP\n\\fB");
    add_text(out, term);
    str_add(out, "\\fR\n");
    add_line(out, text);
}

static void add_key_group(void *context, const char *name)
{
    struct str *out = context;
    str_add(out, ".SS ");
    add_line(out, name);
}

static void add_key(void *context, const char *keys, const char *name, const char *help)
{
    struct str *out = context;
    str_add(out, ".TP\n\\fB");
    add_text(out, keys);
    str_add(out, "\\fR (");
    add_text(out, name);
    str_add(out, ")\n");
    add_sentence(out, help);
}

static void add_keys(struct str *out)
{
    str_add(out,
            ".SH KEYS\n"
            "Of the workbench, which tune, resume and watch open on a terminal. In brackets the "
            "names of the actions, for the : prompt and for workbench.conf.\n");
    ui_each_action(add_key_group, add_key, out);
}

static void add_files(struct str *out)
{
    str_add(out, ".SH FILES\n");
    add_entry(out, "~/.config/tilewalk/workbench.conf",
              "How the workbench looks, one \"name = value\" a line: charset, color, theme, mouse "
              "(off or on), editor, and \"key ACTION = KEY KEY...\" for keys of your own.");
}

static void add_environment(struct str *out)
{
    str_add(out, ".SH ENVIRONMENT\n");
    add_entry(out, "TILEWALK_DB", "The database, where --db names none.");
    add_entry(out, "TILEWALK_DATA",
              "A folder with the presets, shaders and lua folders to use instead of the shipped "
              "ones.");
    add_entry(
        out, "TILEWALK_GLSLANG",
        "The path of a glslangValidator or glslc to compile with, where --glslang names none; "
        "else the glslang that is built in.");
    add_entry(out, "TILEWALK_DRIVER_SECONDS",
              "How long the Vulkan drivers may take to list their devices (default: 30). One that "
              "takes longer, or ends the process that lists them, is left out with a warning.");
    add_entry(out, "VISUAL, EDITOR",
              "The editor of the workbench, where workbench.conf names none.");
    add_entry(out, "NO_COLOR", "Present and not empty: no colours, unless --color always.");
    add_entry(out, "COLORFGBG",
              "Says, on some terminals, whether the background is light (else: --theme light).");
    add_entry(out, "XDG_CONFIG_HOME", "Where the folder tilewalk with workbench.conf lies.");
    add_entry(out, "XDG_DATA_HOME, XDG_STATE_HOME",
              "Where the database and the logs of detached runs are kept, in a folder tilewalk "
              "(default: ~/.local/share and ~/.local/state).");
}

static void add_exit_codes(struct str *out)
{
    str_add(out, ".SH EXIT STATUS\n");
    add_entry(out, "0", "Everything went well.");
    add_entry(out, "1", "Something failed; one line on standard error says what.");
    add_entry(out, "2", "The command line is wrong.");
    add_entry(out, "3", "Nothing valid was found.");
    add_entry(out, "129, 130, 143",
              "Ended by SIGHUP, SIGINT or SIGTERM. Everything is saved: tilewalk resume goes on.");
}

void generate_man(struct str *out)
{
    str_add(out, ".TH TILEWALK 1 \"\" \"tilewalk " TILEWALK_VERSION "\" \"User Commands\"\n"
                 ".SH NAME\n"
                 "tilewalk \\- finds the fastest configuration of a compute kernel on a Vulkan "
                 "device\n"
                 ".SH SYNOPSIS\n"
                 ".B tilewalk\n"
                 "\\fICOMMAND\\fR [\\fIOPERAND\\fR] [\\fIOPTION\\fR]...\n"
                 ".SH DESCRIPTION\n"
                 "A space file declares what may vary in a kernel: how its loops are tiled, what "
                 "is staged, unrolled, vectorised.\n"
                 "tilewalk searches that space: every candidate is generated from a template, "
                 "compiled, run on the device, checked against a reference and timed.\n"
                 "Sessions live in a database and can be paused, killed and resumed at any "
                 "moment.\n"
                 ".SH COMMANDS\n");
    for (const struct command *const *c = NULL; (c = command_next(c));)
        add_command(out, *c);
    add_keys(out);
    add_files(out);
    add_environment(out);
    add_exit_codes(out);
}
