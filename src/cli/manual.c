#include "cli/manual.h"

#include "base/file.h"
#include "base/mem.h"
#include "cli/generate.h"
#include "ui/ui.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DATE  "2026-11-28" // when the manual's words were last looked through
#define WIDTH 78           // mandoc's style asks for lines of at most 80 bytes

// --- text, in the man macros of roff ---

// Escapes a text: dashes are minus signs, so that options can be copied.
static void add_escaped(struct str *out, const char *text, size_t length)
{
    for (const char *c = text; c < text + length; c++) {
        if (*c == '\\')
            str_add(out, "\\e");
        else if (*c == '-')
            str_add(out, "\\-");
        else
            str_add_char(out, *c);
    }
}

static void add_text(struct str *out, const char *text)
{
    add_escaped(out, text, strlen(text));
}

// Adds a text in lines that end with `glue`; none of them is a request.
static void add_filled(struct str *out, const char *text, const char *glue)
{
    size_t begin = out->length;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, " ");
        struct str word = {0};
        add_escaped(&word, at, length);
        bool fits = out->length + 1 + word.length - begin <= WIDTH;
        if (out->length > begin)
            str_add(out, fits ? " " : glue);
        if (!fits)
            begin = out->length;
        if (out->length == begin && (*at == '.' || *at == '\''))
            str_add(out, "\\&");
        str_add(out, str_text(&word));
        str_finish(&word);
        at += length + strspn(at + length, " ");
    }
}

static void add_lines(struct str *out, const char *text)
{
    add_filled(out, text, "\n");
    str_add_char(out, '\n');
}

// Adds a text that begins with a small letter and has no end as a sentence.
static void add_sentence(struct str *out, const char *text)
{
    char *sentence = mem_printf("%c%s.", toupper((unsigned char)text[0]), text + 1);
    add_lines(out, sentence);
    free(sentence);
}

static void add_entry(struct str *out, const char *term, const char *text)
{
    str_add(out, ".TP\n\\fB");
    add_filled(out, term, " \\\n"); // one line of several
    str_add(out, "\\fR\n");
    add_lines(out, text);
}

// --- what belongs to a command, by its options and operands ---

static bool has_option(const struct command *c, const char *name)
{
    for (const struct option *o = NULL; (o = option_next(c, o));)
        if (str_equal(o->name, name))
            return true;
    return false;
}

// Files and variables, each with the option of the commands that have to do with it; NULL: all.
// The overview has the whole list.
struct influence {
    const char *option, *name, *text;
};

static const struct influence files[] = {
    {NULL, TILEWALK_DATADIR, "Presets, templates and Lua files that ship with tilewalk."},
    {"db", "~/.local/share/tilewalk/tilewalk.db",
     "The database of sessions, where nothing else is "
     "named."},
    {"shipped", "~/.local/share/tilewalk/presets",
     "Presets and networks of your own, which come before those that ship."},
    {"detach", "~/.local/state/tilewalk", "The logs of runs with --detach."},
    {"on", "~/.config/tilewalk/hosts.conf",
     "Machines that are named by --on ssh:HOST, a line each: HOST, then address=USER@HOST, "
     "program=PATH and options for ssh."},
    {"theme", "~/.config/tilewalk/workbench.conf",
     "Settings of the workbench, one \"name = value\" a line: charset, color, theme, mouse (off or "
     "on), editor, and \"key ACTION = KEY KEY...\" for keys of your own."},
};

static const struct influence variables[] = {
    {NULL, "TILEWALK_DATA",
     "A folder with the presets, shaders and lua folders to use instead of the shipped ones."},
    {"db", "TILEWALK_DB", "The database, where --db names none."},
    {"glslang", "TILEWALK_GLSLANG",
     "The path of a glslangValidator or glslc to compile with, where --glslang names none; else "
     "the "
     "glslang that is built in."},
    {"no-sandbox", "TILEWALK_SANDBOX", "0 does what --no-sandbox does."},
    {"device", "TILEWALK_DRIVER_SECONDS",
     "Seconds that the Vulkan drivers may take to list their devices (default: 30). One that takes "
     "longer, or ends the process that lists them, is left out with a warning."},
    {"on", "TILEWALK_LINK_SECONDS",
     "Seconds for which a machine may be silent before its connection is given up (default: 30)."},
    {"wait", "TILEWALK_FLEET_MARGIN",
     "The share by which a machine's calibration may differ from the others' (default: 0.1)."},
    {"theme", "VISUAL, EDITOR", "The editor of the workbench, where workbench.conf names none."},
    {"color", "NO_COLOR", "Present and not empty: no colours, unless --color always."},
    {"color", "COLORTERM",
     "truecolor or 24bit, as terminals set it: the workbench has colours of 24 bits, not 256."},
    {"theme", "COLORFGBG",
     "The terminal's colours, where it sets them: a light background gives --theme light."},
    {"theme", "XDG_CONFIG_HOME", "The parent of the folder tilewalk with workbench.conf."},
    {"color", "XDG_CACHE_HOME",
     "The parent of the folder tilewalk with the entries of terminfo that such colours need "
     "(default: ~/.cache)."},
    {"db", "XDG_DATA_HOME",
     "The parent of the folder tilewalk with the database (default: "
     "~/.local/share)."},
    {"detach", "XDG_STATE_HOME",
     "The parent of the folder tilewalk with the logs of detached runs (default: ~/.local/state)."},
};

static void add_influences(struct str *out, const struct command *c, const struct influence *list,
                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!c || !list[i].option || has_option(c, list[i].option))
            add_entry(out, list[i].name, list[i].text);
}

// Adds the sections that the overview (no command) has as well.
static void add_common(struct str *out, const struct command *c)
{
    str_add(out, ".SH FILES\n");
    add_influences(out, c, files, sizeof files / sizeof *files);
    str_add(out, ".SH ENVIRONMENT\n");
    add_influences(out, c, variables, sizeof variables / sizeof *variables);
    str_add(out, ".SH EXIT STATUS\n");
    add_entry(out, "0", "Everything went well.");
    add_entry(out, "1", "Something failed; one line on standard error names it.");
    add_entry(out, "2", "The command line is wrong.");
    if (!c || has_option(c, "set"))
        add_entry(out, "3", "Nothing valid was found.");
    if (!c || has_option(c, "detach"))
        add_entry(out, "129, 130, 143",
                  "Ended by SIGHUP, SIGINT or SIGTERM. Everything is saved: "
                  "tilewalk resume continues.");
}

static void add_bugs(struct str *out, const char *own)
{
    str_add(out, ".SH BUGS\n");
    if (own)
        add_lines(out, own);
    add_lines(out,
              "Please report bugs where you got tilewalk from, with what tilewalk --version and "
              "tilewalk doctor print.");
}

// Begins a page; `help` of the command has details behind the first mark, which are left out.
static void add_title(struct str *out, const char *command, const char *help)
{
    char *title = mem_printf("tilewalk%s%s", *command ? "-" : "", command);
    size_t length = strcspn(help, ":;(");
    while (length && help[length - 1] == ' ')
        length--;
    char *line = mem_printf("%s - %.*s", title, (int)length, help);
    str_add(out, ".TH ");
    for (const char *c = title; *c; c++)
        str_add_char(out, (char)toupper((unsigned char)*c));
    str_add(out, " 1 \"" DATE "\" \"tilewalk " TILEWALK_VERSION "\" \"User Commands\"\n.SH NAME\n");
    add_lines(out, line);
    free(line);
    free(title);
}

// --- the page of a command ---

// Adds the words of an option or the operands, which are to be replaced, in italics.
static void add_operand(struct str *out, const char *text)
{
    str_add(out, "\\fI");
    add_text(out, text);
    str_add(out, "\\fR");
}

static void add_options(struct str *out, const struct command *c)
{
    str_add(out, ".SH OPTIONS\n");
    for (const struct option *o = NULL; (o = option_next(c, o));) {
        str_add(out, ".TP\n\\fB\\-\\-");
        add_text(out, o->name);
        str_add(out, "\\fR");
        if (o->value) {
            str_add_char(out, ' ');
            add_operand(out, o->value);
        }
        str_add_char(out, '\n');
        add_sentence(out, o->help);
    }
}

// Adds the pages of `names`, which are divided by blanks, and the overview.
static void add_see_also(struct str *out, const char *names)
{
    str_add(out, ".SH SEE ALSO\n.BR tilewalk (1)");
    for (const char *at = names; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        str_add(out, ",\n.BR tilewalk\\-");
        add_escaped(out, at, length);
        str_add(out, " (1)");
        at += length;
    }
    str_add_char(out, '\n');
}

static void add_command_page(const struct command *c, struct str *out)
{
    static const struct manual_page nothing = {.more = "", .see = ""};
    const struct manual_page *p = manual_pages;
    while (p->command && !str_equal(p->command, c->name))
        p++;
    if (!p->command)
        p = &nothing;
    add_title(out, c->name, c->help);
    str_add(out, ".SH SYNOPSIS\n.B tilewalk ");
    add_text(out, c->name);
    str_add_char(out, '\n');
    if (c->operands) {
        add_operand(out, c->operands);
        str_add_char(out, '\n');
    }
    str_add(out, "[\\fIOPTION\\fR]...\n.SH DESCRIPTION\n");
    add_sentence(out, c->help);
    if (*p->more)
        add_lines(out, p->more);
    add_options(out, c);
    str_add(out, ".SH EXAMPLES\n");
    for (int i = 0; i < MANUAL_EXAMPLES && p->example[i].line; i++)
        add_entry(out, p->example[i].line, p->example[i].what);
    add_common(out, c);
    add_see_also(out, p->see);
    add_bugs(out, p->bugs);
}

// --- the overview ---

static void add_key_group(void *context, const char *name)
{
    struct str *out = context;
    str_add(out, ".SS ");
    add_lines(out, name);
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

static void add_overview(struct str *out)
{
    add_title(out, "", "finds the fastest configuration of a compute kernel on a Vulkan device");
    str_add(out, ".SH SYNOPSIS\n"
                 ".B tilewalk\n"
                 "\\fICOMMAND\\fR [\\fIOPERAND\\fR] [\\fIOPTION\\fR]...\n"
                 ".SH DESCRIPTION\n");
    add_lines(out,
              "A space file declares the parameters of a kernel: how its loops are tiled, which "
              "buffers are staged, which loops are unrolled and vectorised.");
    add_lines(out, "tilewalk searches that space: every candidate is generated from a template, "
                   "compiled, run on the device, checked against a reference and timed.");
    add_lines(out,
              "Sessions live in a database and can be paused, killed and resumed at any moment.");
    str_add(out, ".PP\n");
    add_lines(out,
              "Each command has a page of its own. Without a command, all sessions are shown in "
              "the workbench.");
    str_add(out, ".SH COMMANDS\n");
    for (const struct command *const *c = NULL; (c = command_next(c));) {
        str_add(out, ".TP\n.BR tilewalk\\-");
        add_text(out, (*c)->name);
        str_add(out, " (1)\n");
        add_sentence(out, (*c)->help);
    }
    str_add(out, ".SH OPTIONS\n");
    add_entry(out, "--help", "Print all commands; behind a command: its options.");
    add_entry(out, "--version", "Print the version, and the commit that it was built of.");
    str_add(out, ".SH EXAMPLES\n");
    add_entry(out, "tilewalk doctor", "Says what is missing on this machine.");
    add_entry(out, "tilewalk tune gemm --export out",
              "Tunes a matrix product on the best device, and writes the best kernel to out.");
    add_entry(out, "tilewalk show 1", "Shows what session 1 found.");
    str_add(out, ".SH KEYS\n");
    add_lines(out,
              "These keys work in the workbench, which tune, resume and watch open on a terminal. "
              "The names in brackets are those of the actions, for the : prompt and for "
              "workbench.conf.");
    ui_each_action(add_key_group, add_key, out);
    add_common(out, NULL);
    str_add(out, ".SH SEE ALSO\n.BR glslangValidator (1),\n.BR vulkaninfo (1)\n");
    add_bugs(out, NULL);
}

bool manual_add_page(const char *command, struct str *out)
{
    if (!*command)
        add_overview(out);
    for (const struct command *const *c = NULL; *command && (c = command_next(c));)
        if (str_equal((*c)->name, command)) {
            add_command_page(*c, out);
            return true;
        }
    return !*command;
}

static bool write_page(const char *folder, const char *command, struct err *e)
{
    struct str page = {0};
    char *name = mem_printf("tilewalk%s%s.1", *command ? "-" : "", command);
    char *path = path_join(folder, name);
    bool ok = manual_add_page(command, &page) && file_write(path, page.text, page.length, e);
    free(path);
    free(name);
    str_finish(&page);
    return ok;
}

bool manual_write_pages(const char *folder, struct err *e)
{
    bool ok = file_make_folders(folder, e) && write_page(folder, "", e);
    for (const struct command *const *c = NULL; ok && (c = command_next(c));)
        ok = write_page(folder, (*c)->name, e);
    return ok;
}
