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
    return ((const struct command *)context)->options[i].name;
}

static const struct option *option_find(const struct command *c, const char *name, size_t length)
{
    for (int i = 0; i < option_count(c); i++)
        if (strlen(c->options[i].name) == length && !strncmp(c->options[i].name, name, length))
            return &c->options[i];
    return NULL;
}

static bool check_number(const struct command *c, struct given *g, struct err *e)
{
    const struct option *o = g->option;
    if (o->type == OPTION_INTEGER) {
        int64_t high = o->high >= 9e18 ? INT64_MAX : (int64_t)o->high;
        if (str_to_int(g->text, (int64_t)o->low, high, &g->integer))
            return true;
        char range[64];
        if (high < INT64_MAX)
            snprintf(range, sizeof range, "from %.0f to %.0f", o->low, o->high);
        else
            snprintf(range, sizeof range, "from %.0f up", o->low);
        return err_set(e, "%s: --%s wants a whole number %s, not '%s'", c->name, o->name, range,
                       g->text);
    }
    if (o->type == OPTION_REAL &&
        (!str_to_real(g->text, &g->real) || g->real < o->low || g->real > o->high))
        return err_set(e, "%s: --%s wants a number from %g to %g, not '%s'", c->name, o->name,
                       o->low, o->high, g->text);
    return true;
}

static bool check_pair(const struct command *c, const struct given *g, struct err *e)
{
    const char *equals = strchr(g->text, '=');
    return g->option->type != OPTION_LIST || (equals && equals > g->text && equals[1]) ||
           err_set(e, "%s: --%s wants %s, not '%s'", c->name, g->option->name, g->option->value,
                   g->text);
}

static bool is_among(const char *word, const char *list)
{
    size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, '|'), at += at != NULL)
        if (strcspn(at, "|") == length && !strncmp(at, word, length))
            return true;
    return false;
}

static bool check_word(const struct command *c, const struct given *g, struct err *e)
{
    return g->option->type != OPTION_WORD || is_among(g->text, g->option->value) ||
           err_set(e, "%s: --%s wants %s, not '%s'", c->name, g->option->name, g->option->value,
                   g->text);
}

// One `--name`, `--name=value` or `--name value`. Moves `*at` past what it used.
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
    struct given *g = &out->given[out->given_count++];
    *g = (struct given){.option = o, .text = equals ? equals + 1 : NULL};
    ++*at;
    if (o->type == OPTION_FLAG)
        return !equals || err_set(e, "%s: --%s takes no value", c->name, o->name);
    if (!equals) {
        if (*at >= argc)
            return err_set(e, "%s: --%s needs a value: --%s %s", c->name, o->name, o->name,
                           o->value);
        g->text = argv[(*at)++];
    }
    if ((o->type == OPTION_TEXT || o->type == OPTION_REPEATED) && !g->text[0])
        return err_set(e, "%s: --%s needs a value, not an empty one", c->name, o->name);
    return check_pair(c, g, e) && check_word(c, g, e) && check_number(c, g, e);
}

bool arguments_parse(const struct command *c, int argc, char **argv, struct arguments *out,
                     struct err *e)
{
    *out = (struct arguments){
        .operand = mem_zero((size_t)argc + 1, sizeof *out->operand),
        .given = mem_zero((size_t)argc + 1, sizeof *out->given),
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
}

static const struct given *last(const struct arguments *a, const char *name)
{
    for (int i = a->given_count - 1; i >= 0; i--)
        if (str_equal(a->given[i].option->name, name))
            return &a->given[i];
    return NULL;
}

bool arguments_flag(const struct arguments *a, const char *name)
{
    return last(a, name) != NULL;
}

const char *arguments_text(const struct arguments *a, const char *name)
{
    const struct given *g = last(a, name);
    return g ? g->text : NULL;
}

int64_t arguments_integer(const struct arguments *a, const char *name, int64_t standard)
{
    const struct given *g = last(a, name);
    return g ? g->integer : standard;
}

double arguments_real(const struct arguments *a, const char *name, double standard)
{
    const struct given *g = last(a, name);
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
