#include "cli/command.h"

#include "base/mem.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct given {
    const struct option *option;
    const char *text;
    double real;
    int64_t integer;
};

static int option_count(const struct command *c)
{
    int n = 0;
    while (c->options && c->options[n].name)
        n++;
    return n;
}

static const char *option_name_at(const void *context, size_t i)
{
    const struct option *o = &((const struct command *)context)->options[i];
    return o->hidden ? "help" : o->name; // no old spelling is suggested
}

static const struct option *option_find(const struct command *c, const char *name, size_t length)
{
    for (int i = 0; i < option_count(c); i++)
        if (strlen(c->options[i].name) == length && !strncmp(c->options[i].name, name, length))
            return &c->options[i];
    return NULL;
}

static bool is_among(const char *word, const char *list)
{
    size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, '|'), at += at != NULL)
        if (strcspn(at, "|") == length && !strncmp(at, word, length))
            return true;
    return false;
}

// Checks the value of an option against its type, and parses a number.
static bool check_value(const struct command *c, struct given *g, struct err *e)
{
    const struct option *o = g->option;
    const char *equals = strchr(g->text, '=');
    int64_t high = o->high >= 9e18 ? INT64_MAX : (int64_t)o->high;
    char range[64];
    switch (o->type) {
    case OPTION_LIST:
        if (equals && equals > g->text && equals[1])
            return true;
        break;
    case OPTION_WORD:
        if (is_among(g->text, o->value))
            return true;
        break;
    case OPTION_INTEGER:
        if (str_to_int(g->text, (int64_t)o->low, high, &g->integer))
            return true;
        if (high < INT64_MAX)
            snprintf(range, sizeof range, "from %.0f to %.0f", o->low, o->high);
        else
            snprintf(range, sizeof range, "from %.0f up", o->low);
        return err_set(e, "%s: --%s wants a whole number %s, not '%s'", c->name, o->name, range,
                       g->text);
    case OPTION_REAL:
        if (str_to_real(g->text, &g->real) && g->real >= o->low && g->real <= o->high)
            return true;
        return err_set(e, "%s: --%s wants a number from %g to %g, not '%s'", c->name, o->name,
                       o->low, o->high, g->text);
    default:
        return g->text[0] ||
               err_set(e, "%s: --%s needs a value, not an empty one", c->name, o->name);
    }
    return err_set(e, "%s: --%s wants %s, not '%s'", c->name, o->name, o->value, g->text);
}

// Takes a value of an option, or what an old spelling with that value stands for.
static bool take_option(const struct command *c, const struct option *o, const char *text,
                        struct arguments *out, struct err *e)
{
    if (!o->now) {
        struct given *g = &out->given[out->given_count++];
        *g = (struct given){.option = o, .text = text};
        return o->type == OPTION_FLAG || check_value(c, g, e);
    }
    if (!*o->now)
        return err_usage(e, "%s: --%s is gone: %s", c->name, o->name, o->help);
    char *words = arena_strdup(&out->arena, o->now), *rest;
    bool ok = true;
    for (char *w = strtok_r(words, " ", &rest); ok && w; w = strtok_r(NULL, " ", &rest)) {
        size_t length = strcspn(w, "=");
        const char *value = w[length] ? w + length + 1 : "";
        size_t lead = strcspn(value, "*");
        ok = take_option(c, option_find(c, w, length),
                         value[lead] ? arena_printf(&out->arena, "%.*s%s", (int)lead, value, text)
                                     : value,
                         out, e);
    }
    return ok;
}

// Parses one `--name`, `--name=value` or `--name value`, and moves `*at` past it.
static bool parse_option(const struct command *c, int argc, char **argv, int *at,
                         struct arguments *out, struct err *e)
{
    const char *name = argv[*at] + 2;
    const char *equals = strchr(name, '=');
    const struct option *o = option_find(c, name, equals ? (size_t)(equals - name) : strlen(name));
    if (!o) {
        const char *near = str_suggest(name, (size_t)option_count(c), option_name_at, c);
        if (near)
            return err_set(e, "%s: unknown option '--%s' (did you mean '--%s'?)", c->name, name,
                           near);
        return err_set(e, "%s: unknown option '--%s' (tilewalk %s --help lists them)", c->name,
                       name, c->name);
    }
    ++*at;
    if (o->type == OPTION_FLAG)
        return equals ? err_set(e, "%s: --%s takes no value", c->name, o->name)
                      : take_option(c, o, NULL, out, e);
    if (!equals && *at >= argc)
        return err_set(e, "%s: --%s needs a value: --%s %s", c->name, o->name, o->name,
                       o->value ? o->value : "VALUE");
    return take_option(c, o, equals ? equals + 1 : argv[(*at)++], out, e);
}

bool arguments_parse(const struct command *c, int argc, char **argv, struct arguments *out,
                     struct err *e)
{
    *out = (struct arguments){
        .operand = mem_zero((size_t)argc + 1, sizeof *out->operand),
        .given = mem_zero(2 * (size_t)argc + 1, sizeof *out->given), // old spellings are two
        .word = argv,
        .word_count = argc,
    };
    bool only_operands = false;
    for (int i = 0; i < argc;) {
        if (!only_operands && str_equal(argv[i], "--")) {
            only_operands = true;
            i++;
        } else if (!only_operands && str_starts(argv[i], "--")) {
            if (!parse_option(c, argc, argv, &i, out, e))
                return false;
        } else if (!only_operands && argv[i][0] == '-' && argv[i][1]) {
            return err_set(e, "%s: unknown option '%s' (options begin with two dashes)", c->name,
                           argv[i]);
        } else {
            out->operand[out->operand_count++] = argv[i++];
        }
    }
    if (out->operand_count < c->least)
        return err_set(e, "%s: missing %s (usage: tilewalk %s %s)", c->name, c->operands, c->name,
                       c->operands);
    if (out->operand_count > c->most)
        return err_set(e, "%s: '%s' is one argument too many (usage: tilewalk %s%s%s)", c->name,
                       out->operand[c->most], c->name, c->operands ? " " : "",
                       c->operands ? c->operands : "");
    return true;
}

void arguments_finish(struct arguments *a)
{
    free(a->operand);
    free(a->given);
    arena_finish(&a->arena);
}

static const struct given *last_given(const struct arguments *a, const char *name)
{
    for (int i = a->given_count - 1; i >= 0; i--)
        if (str_equal(a->given[i].option->name, name))
            return &a->given[i];
    return NULL;
}

bool arguments_flag(const struct arguments *a, const char *name)
{
    return last_given(a, name) != NULL;
}

const char *arguments_text(const struct arguments *a, const char *name)
{
    const struct given *g = last_given(a, name);
    return g ? g->text : NULL;
}

int64_t arguments_integer(const struct arguments *a, const char *name, int64_t standard)
{
    const struct given *g = last_given(a, name);
    return g ? g->integer : standard;
}

double arguments_real(const struct arguments *a, const char *name, double standard)
{
    const struct given *g = last_given(a, name);
    return g ? g->real : standard;
}

int arguments_list(const struct arguments *a, const char *name, const char **out, int most)
{
    int n = 0;
    for (int i = 0; i < a->given_count && n < most; i++)
        if (str_equal(a->given[i].option->name, name))
            out[n++] = a->given[i].text;
    return n;
}
