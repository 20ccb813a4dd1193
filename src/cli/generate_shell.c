// Completions. Strings from the table are quoted by the rules of each shell.
#include "cli/generate.h"

#include <string.h>

// Appends `text` with a backslash before each of `special`, and every single quote as `quote`.
static void add_escaped(struct str *out, const char *text, const char *special, const char *quote)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\'') {
            str_add(out, quote);
            continue;
        }
        if (strchr(special, *c))
            str_add_char(out, '\\');
        str_add_char(out, *c);
    }
}

// --- bash ---

static const char *bash_files(const struct place_words *p)
{
    return p->files ? "-f " : p->folders ? "-d " : "";
}

// The case that follows an option which takes a value.
static void add_bash_value(struct str *out, const struct command *c, const struct option *o)
{
    struct place_words p = place_words(o->value);
    str_printf(out, "    %s:--%s) kinds='%s' words='%s' ;;\n", c->name, o->name, bash_files(&p),
               str_text(&p.words));
    str_finish(&p.words);
}

static void add_bash_command(struct str *out, const struct command *c)
{
    struct place_words p = place_words(c->operands);
    for (const struct option *o = NULL; (o = option_next(c, o));)
        if (o->value)
            add_bash_value(out, c, o);
    str_printf(out, "    %s:*) kinds='%s' words='%s' options='", c->name, bash_files(&p),
               str_text(&p.words));
    for (const struct option *o = NULL; (o = option_next(c, o));)
        str_printf(out, "--%s ", o->name);
    str_add(out, "' ;;\n");
    str_finish(&p.words);
}

void generate_bash(struct str *out)
{
    str_add(out, "# bash completion of tilewalk, made by: tilewalk completion bash\n"
                 "_tilewalk()\n"
                 "{\n"
                 "    local current=${COMP_WORDS[COMP_CWORD]} kinds= words= options=\n"
                 "    case ${COMP_WORDS[1]}:${COMP_WORDS[COMP_CWORD - 1]} in\n");
    for (const struct command *const *c = NULL; (c = command_next(c));)
        add_bash_command(out, *c);
    str_add(out, "    esac\n"
                 "    ((COMP_CWORD > 1)) || kinds= options= words='");
    for (const struct command *const *c = NULL; (c = command_next(c));)
        str_printf(out, "%s ", (*c)->name);
    str_add(out, "'\n"
                 "    [[ $current == -* ]] && kinds= words=$options\n"
                 "    mapfile -t COMPREPLY < <(compgen $kinds-W \"$words\" -- \"$current\")\n"
                 "}\n"
                 "complete -o filenames -F _tilewalk tilewalk\n");
}

// --- zsh ---

// What _arguments calls an action; `shown` is the message before it.
static void add_zsh_place(struct str *out, const char *shown)
{
    struct place_words p = place_words(shown);
    str_add(out, ":");
    add_escaped(out, shown, ":[]\\", "'\\''");
    str_add(out, ":");
    const char *files = p.files ? "_files" : p.folders ? "_files -/" : "";
    if (!p.words.length)
        str_add(out, files);
    else if (*files)
        str_printf(out, "{ %s; compadd %s }", files, str_text(&p.words));
    else
        str_printf(out, "(%s)", str_text(&p.words));
    str_finish(&p.words);
}

static void add_zsh_option(struct str *out, const struct option *o)
{
    str_printf(out, " \\\n            '%s--%s%s[", o->type == OPTION_LIST ? "*" : "", o->name,
               o->value ? "=" : "");
    add_escaped(out, o->help, ":[]\\", "'\\''");
    str_add(out, "]");
    if (o->value)
        add_zsh_place(out, o->value);
    str_add(out, "'");
}

static void add_zsh_command(struct str *out, const struct command *c)
{
    str_printf(out, "    %s)\n        _arguments", c->name);
    for (const struct option *o = NULL; (o = option_next(c, o));)
        add_zsh_option(out, o);
    if (c->operands) {
        str_add(out, " \\\n            '*");
        add_zsh_place(out, c->operands);
        str_add(out, "'");
    }
    str_add(out, "\n        ;;\n");
}

void generate_zsh(struct str *out)
{
    str_add(out, "#compdef tilewalk\n"
                 "# zsh completion of tilewalk, made by: tilewalk completion zsh\n"
                 "_tilewalk()\n"
                 "{\n"
                 "    local -a commands\n"
                 "    commands=(\n");
    for (const struct command *const *c = NULL; (c = command_next(c));) {
        str_printf(out, "        '%s:", (*c)->name);
        add_escaped(out, (*c)->help, ":\\", "'\\''");
        str_add(out, "'\n");
    }
    str_add(out, "    )\n"
                 "    if ((CURRENT == 2)); then\n"
                 "        _describe command commands\n"
                 "        return\n"
                 "    fi\n"
                 "    shift words\n"
                 "    ((CURRENT--))\n"
                 "    case $words[1] in\n");
    for (const struct command *const *c = NULL; (c = command_next(c));)
        add_zsh_command(out, *c);
    str_add(out, "    esac\n"
                 "}\n"
                 "if [[ $funcstack[1] == _tilewalk ]]; then\n"
                 "    _tilewalk \"$@\"\n"
                 "else\n"
                 "    compdef _tilewalk tilewalk\n"
                 "fi\n");
}

// --- fish ---

static void add_fish_text(struct str *out, const char *text)
{
    str_add(out, " -d '");
    add_escaped(out, text, "\\", "\\'");
    str_add(out, "'\n");
}

static void add_fish_place(struct str *out, const char *shown)
{
    struct place_words p = place_words(shown);
    str_add(out, p.files ? " -F" : " -f");
    if (p.folders || p.words.length)
        str_printf(out, " -a '%s%s'", str_text(&p.words),
                   p.folders ? " (__fish_complete_directories)" : "");
    str_finish(&p.words);
}

static void add_fish_command(struct str *out, const struct command *c)
{
    str_printf(out, "\ncomplete -c tilewalk -n __fish_use_subcommand -a %s", c->name);
    add_fish_text(out, c->help);
    for (const struct option *o = NULL; (o = option_next(c, o));) {
        str_printf(out, "complete -c tilewalk -n '__fish_seen_subcommand_from %s' -l %s", c->name,
                   o->name);
        if (o->value) {
            str_add(out, " -r");
            add_fish_place(out, o->value);
        }
        add_fish_text(out, o->help);
    }
    if (c->operands) {
        str_printf(out, "complete -c tilewalk -n '__fish_seen_subcommand_from %s'", c->name);
        add_fish_place(out, c->operands);
        str_add(out, "\n");
    }
}

void generate_fish(struct str *out)
{
    str_add(out, "# fish completion of tilewalk, made by: tilewalk completion fish\n"
                 "complete -c tilewalk -f\n");
    for (const struct command *const *c = NULL; (c = command_next(c));)
        add_fish_command(out, *c);
}
