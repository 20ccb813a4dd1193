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

// Appends words from `text` that fit between `column` and the edge, and a line's end. Returns what
// is left.
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

// Lines that begin at `column`, where the first one already stands.
static void add_wrapped(struct str *out, int column, const char *text)
{
    text = add_line(out, column, text);
    while (*text) {
        str_printf(out, "%*s", column, "");
        text = add_line(out, column, text);
    }
}

// Two columns: `left` on its own line when it is too long.
static void add_row(struct str *out, const char *left, int column, const char *text)
{
    bool fits = (int)strlen(left) + 4 <= column;
    str_printf(out, "  %-*s", column - 2, left);
    if (!fits)
        str_printf(out, "\n%*s", column, "");
    add_wrapped(out, column, text);
}

static void add_option_row(struct str *out, const struct option *o)
{
    char *left = o->value ? mem_printf("--%s %s", o->name, o->value) : mem_printf("--%s", o->name);
    add_row(out, left, 24, o->help);
    free(left);
}

static void add_command_row(struct str *out, const struct command *c)
{
    char *left = mem_printf("%s %s", c->name, c->operands ? c->operands : "");
    add_row(out, left, 28, c->help);
    free(left);
}

static void print(struct str *text)
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
    for (const struct option *o = NULL; (o = option_next(c, o));)
        add_option_row(&out, o);
    print(&out);
}

void command_print_overview(void)
{
    struct str out = {0};
    str_add(&out, "tilewalk " TILEWALK_VERSION
                  ": finds the fastest configuration of a compute kernel on a Vulkan device\n\n"
                  "usage: tilewalk COMMAND ...\n\n");
    for (const struct command *const *c = NULL; (c = command_next(c));)
        add_command_row(&out, *c);
    str_add(&out, "\ntilewalk COMMAND --help explains a command; tilewalk --version\n");
    print(&out);
}

// --- completions ---

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

static void add_presets(struct str *out)
{
    add_shipped(out, script_presets);
    add_shipped(out, script_foreign_presets);
}

static void add_strategies(struct str *out)
{
    for (int i = 0; strategy_kinds[i]; i++)
        add_word(out, strategy_kinds[i]->name, strlen(strategy_kinds[i]->name));
}

// Whether `word` begins with the name `other`.
static bool is(const char *word, const char *other)
{
    size_t length = strlen(other);
    return str_starts(word, other) && !isalpha((unsigned char)word[length]);
}

static bool stands_for_itself(const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!islower((unsigned char)word[i]))
            return false;
    return length > 0;
}

// Each of the shells runs it where it completes.
static const char sessions[] = "$(tilewalk completion sessions 2>/dev/null)";

struct place_words place_words(const char *shown)
{
    struct place_words p = {0};
    for (const char *word = shown ? shown : ""; *word;) {
        size_t length = strcspn(word, "|");
        if (is(word, "FILE") || is(word, "RECORDING"))
            p.files = true;
        else if (is(word, "DIR"))
            p.folders = true;
        else if (is(word, "PRESET"))
            add_presets(&p.words);
        else if (is(word, "NETWORK"))
            add_shipped(&p.words, network_names);
        else if (is(word, "STRATEGY"))
            add_strategies(&p.words);
        else if (is(word, "ID") || is(word, "[ID"))
            add_word(&p.words, sessions, strlen(sessions));
        else if (stands_for_itself(word, length))
            add_word(&p.words, word, length);
        word += length + (word[length] == '|');
    }
    return p;
}

bool generate(const char *what)
{
    static const struct {
        const char *name;
        void (*make)(struct str *out);
    } texts[] = {
        {"man", generate_man},
        {"bash", generate_bash},
        {"zsh", generate_zsh},
        {"fish", generate_fish},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (str_equal(texts[i].name, what)) {
            struct str out = {0};
            texts[i].make(&out);
            print(&out);
            return true;
        }
    return false;
}
