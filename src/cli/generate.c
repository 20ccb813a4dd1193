#include "cli/generate.h"

#include "base/mem.h"
#include "script/network.h"
#include "search/strategy.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 80

const struct option *option_next(const struct command *c, const struct option *previous)
{
    const struct option *o = previous ? previous + 1 : c->options;
    while (o && o->name && o->hidden)
        o++;
    return o && o->name ? o : NULL;
}

const struct command *const *command_next(const struct command *const *previous)
{
    const struct command *const *c = previous ? previous + 1 : commands;
    while (*c && (*c)->hidden)
        c++;
    return *c ? c : NULL;
}

// --- help ---

// Appends the words of `text` that fit between `column` and the edge, and a line's end. Returns the
// rest.
static const char *add_line(struct str *out, int column, const char *text)
{
    size_t room = (size_t)(WIDTH - column), length = strlen(text), cut = length;
    if (length > room) {
        cut = room;
        while (cut > 0 && text[cut] != ' ')
            cut--;
        if (cut == 0) // one long word
            cut = strcspn(text, " ");
    }
    str_printf(out, "%.*s\n", (int)cut, text);
    return text + cut + strspn(text + cut, " ");
}

// Adds lines that begin at `column`; the first line already stands there.
static void add_wrapped(struct str *out, int column, const char *text)
{
    text = add_line(out, column, text);
    while (*text) {
        str_printf(out, "%*s", column, "");
        text = add_line(out, column, text);
    }
}

// Adds a row of two columns; `left` has its own line when it is too long.
static void add_row(struct str *out, const char *left, int column, const char *text)
{
    bool fits = (int)strlen(left) + 4 <= column;
    str_printf(out, "  %-*s", column - 2, left);
    if (!fits)
        str_printf(out, "\n%*s", column, "");
    add_wrapped(out, column, text);
}

static void print_out(struct str *text)
{
    fputs(str_text(text), stdout);
    str_finish(text);
}

void command_print_help(const struct command *c)
{
    struct str out = {0};
    str_printf(&out, "usage: tilewalk %s%s%s%s\n\n", c->name, c->operands ? " " : "",
               c->operands ? c->operands : "", c->options ? " [--OPTION]..." : "");
    add_wrapped(&out, 0, c->help);
    str_add(&out, "\n");
    for (const struct option *o = NULL; (o = option_next(c, o));) {
        char *left =
            o->value ? mem_printf("--%s %s", o->name, o->value) : mem_printf("--%s", o->name);
        add_row(&out, left, 24, o->help);
        free(left);
    }
    print_out(&out);
}

void command_print_overview(void)
{
    struct str out = {0};
    str_add(&out, "tilewalk " TILEWALK_VERSION
                  ": finds the fastest configuration of a compute kernel on a Vulkan device\n\n"
                  "usage: tilewalk COMMAND ...\n\n");
    for (const struct command *const *c = NULL; (c = command_next(c));) {
        char *left = mem_printf("%s %s", (*c)->name, (*c)->operands ? (*c)->operands : "");
        add_row(&out, left, 28, (*c)->help);
        free(left);
    }
    str_add(&out, "\ntilewalk COMMAND --help explains a command; tilewalk --version\n");
    print_out(&out);
}

// --- completions: strings from the table are quoted by the rules of each shell ---

// The completion of a value or of operands.
struct place_words {
    bool files, folders;
    struct str words; // separated by blanks; str_finish
};

static void add_word(struct str *out, const char *word, size_t length)
{
    str_add(out, out->length ? " " : "");
    str_add_bytes(out, word, length);
}

static void add_shipped(struct str *out, char **(*names)(int *count))
{
    int count;
    char **name = names(&count);
    for (int i = 0; i < count; i++) {
        add_word(out, name[i], strlen(name[i]));
        free(name[i]);
    }
    free(name);
}

// Returns true where `word` begins with the name `other`.
static bool is(const char *word, const char *other)
{
    size_t length = strlen(other);
    return str_starts(word, other) && !isalpha((unsigned char)word[length]);
}

// Each of the shells runs this command when it completes a session.
static const char sessions[] = "$(tilewalk completion sessions 2>/dev/null)";

static struct place_words place_words(const char *shown)
{
    struct place_words p = {0};
    for (const char *word = shown ? shown : ""; *word;) {
        size_t length = strcspn(word, "|"), small = 0; // letters
        while (small < length && islower((unsigned char)word[small]))
            small++;
        if (is(word, "FILE") || is(word, "RECORDING"))
            p.files = true;
        else if (is(word, "DIR"))
            p.folders = true;
        else if (is(word, "PRESET")) {
            add_shipped(&p.words, script_presets);
            add_shipped(&p.words, script_foreign_presets);
        } else if (is(word, "NETWORK"))
            add_shipped(&p.words, network_names);
        else if (is(word, "STRATEGY")) {
            for (int i = 0; strategy_kinds[i]; i++)
                add_word(&p.words, strategy_kinds[i]->name, strlen(strategy_kinds[i]->name));
        } else if (is(word, "ID") || is(word, "[ID"))
            add_word(&p.words, sessions, strlen(sessions));
        else if (length > 0 && small == length) // stands for itself
            add_word(&p.words, word, length);
        word += length + (word[length] == '|');
    }
    return p;
}

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

static void add_bash_place(struct str *out, const char *shown)
{
    struct place_words p = place_words(shown);
    str_printf(out, "kinds='%s' words='%s' ",
               p.files     ? "-f "
               : p.folders ? "-d "
                           : "",
               str_text(&p.words));
    str_finish(&p.words);
}

void generate_bash(struct str *out)
{
    str_add(out, "# bash completion of tilewalk, made by: tilewalk completion bash\n"
                 "_tilewalk()\n"
                 "{\n"
                 "    local current=${COMP_WORDS[COMP_CWORD]} kinds= words= options=\n"
                 "    case ${COMP_WORDS[1]}:${COMP_WORDS[COMP_CWORD - 1]} in\n");
    for (const struct command *const *at = NULL; (at = command_next(at));) {
        const struct command *c = *at;
        for (const struct option *o = NULL; (o = option_next(c, o));) {
            if (!o->value)
                continue;
            str_printf(out, "    %s:--%s) ", c->name, o->name);
            add_bash_place(out, o->value);
            str_add(out, ";;\n");
        }
        str_printf(out, "    %s:*) ", c->name);
        add_bash_place(out, c->operands);
        str_add(out, "options='");
        for (const struct option *o = NULL; (o = option_next(c, o));)
            str_printf(out, "--%s ", o->name);
        str_add(out, "' ;;\n");
    }
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

// Adds an action of _arguments; `shown` is the message before it.
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

static void add_zsh_command(struct str *out, const struct command *c)
{
    str_printf(out, "    %s)\n        _arguments", c->name);
    for (const struct option *o = NULL; (o = option_next(c, o));) {
        str_printf(out, " \\\n            '%s--%s%s[", o->type == OPTION_LIST ? "*" : "", o->name,
                   o->value ? "=" : "");
        add_escaped(out, o->help, ":[]\\", "'\\''");
        str_add(out, "]");
        if (o->value)
            add_zsh_place(out, o->value);
        str_add(out, "'");
    }
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

void generate_fish(struct str *out)
{
    str_add(out, "# fish completion of tilewalk, made by: tilewalk completion fish\n"
                 "complete -c tilewalk -f\n");
    for (const struct command *const *at = NULL; (at = command_next(at));) {
        const struct command *c = *at;
        str_printf(out, "\ncomplete -c tilewalk -n __fish_use_subcommand -a %s", c->name);
        add_fish_text(out, c->help);
        for (const struct option *o = NULL; (o = option_next(c, o));) {
            str_printf(out, "complete -c tilewalk -n '__fish_seen_subcommand_from %s' -l %s",
                       c->name, o->name);
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
}

bool generate(const char *what)
{
    static const struct {
        const char *name;
        void (*make)(struct str *out);
    } texts[] = {
        {"bash", generate_bash},
        {"zsh", generate_zsh},
        {"fish", generate_fish},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (str_equal(texts[i].name, what)) {
            struct str out = {0};
            texts[i].make(&out);
            print_out(&out);
            return true;
        }
    return false;
}
