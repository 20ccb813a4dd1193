#include "record/value_list.h"

#include "record/rule.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 16 };

struct parser {
    struct arena *arena;
    const char *start, *at;
    int depth;
    struct err *e;
};

static bool parse_sum(struct parser *p, struct value_list *out);

static bool wrong(struct parser *p, const char *what)
{
    return err_set(p->e, "%s at '%.20s' of '%s'", what, *p->at ? p->at : "the end", p->start);
}

static void skip_space(struct parser *p)
{
    p->at += strspn(p->at, " \t\r\n");
}

static bool accept(struct parser *p, const char *text)
{
    skip_space(p);
    size_t length = strlen(text);
    bool word = isalpha((unsigned char)*text);
    if (strncmp(p->at, text, length) != 0 || (word && isalnum((unsigned char)p->at[length])))
        return false;
    p->at += length;
    return true;
}

static bool expect(struct parser *p, const char *text, const char *complaint)
{
    return accept(p, text) || wrong(p, complaint);
}

static bool append(struct parser *p, struct value_list *out, struct value v)
{
    if (out->count == PARAM_MAX_VALUES)
        return wrong(p, "too many values");
    MEM_GROW(out->value, out->count, out->capacity);
    out->value[out->count++] = v;
    return true;
}

// The variable of a comprehension, whose name follows its use.
struct variable {
    char name[64];
    bool used;
    struct value value;
};

static int find_variable(void *context, const char *name)
{
    struct variable *v = context;
    if (v->used)
        return str_equal(v->name, name) ? 0 : -1;
    v->used = true;
    snprintf(v->name, sizeof v->name, "%s", name);
    return 0;
}

static struct value value_of_variable(const void *context, int number)
{
    (void)number;
    return ((const struct variable *)context)->value;
}

static bool evaluate(struct parser *p, const struct rule *rule, const struct variable *v,
                     struct value *out)
{
    struct rule_world world = {value_of_variable, v};
    return rule_evaluate(rule, &world, out, p->e);
}

static bool parse_expression(struct parser *p, struct variable *v, struct rule **out)
{
    struct rule_names names = {find_variable, v};
    return rule_parse_part(p->arena, &p->at, &names, out, p->e);
}

// `for NAME in LIST]`, after the expression.
static bool parse_comprehension(struct parser *p, const struct rule *rule, struct variable *v,
                                struct value_list *out)
{
    char name[64] = "";
    size_t length = 0;
    skip_space(p);
    while (isalnum((unsigned char)p->at[length]) || p->at[length] == '_')
        length++;
    if (length == 0 || length >= sizeof name)
        return wrong(p, "a name is missing");
    memcpy(name, p->at, length);
    if (v->used && !str_equal(name, v->name))
        return wrong(p, "another name was used before");
    p->at += length;
    struct value_list over = {0};
    bool ok = expect(p, "in", "'in' is missing") && parse_sum(p, &over);
    for (int i = 0; ok && i < over.count; i++) {
        struct value made;
        v->value = over.value[i];
        ok = evaluate(p, rule, v, &made) && append(p, out, made);
    }
    free(over.value);
    return ok && expect(p, "]", "']' is missing");
}

static bool parse_items(struct parser *p, struct value_list *out)
{
    while (!accept(p, "]")) {
        struct variable v = {.used = false};
        struct rule *rule;
        struct value made;
        if (!parse_expression(p, &v, &rule))
            return false;
        if (accept(p, "for"))
            return parse_comprehension(p, rule, &v, out);
        if (v.used)
            return wrong(p, "names have no value here");
        if (!evaluate(p, rule, &v, &made) || !append(p, out, made))
            return false;
        if (!accept(p, ",") && *p->at != ']')
            return wrong(p, "',' or ']' is missing");
    }
    return true;
}

static bool parse_range(struct parser *p, struct value_list *out)
{
    double bound[3] = {0, 0, 1};
    int given = 0;
    do {
        struct variable v = {.used = false};
        struct rule *rule;
        struct value made;
        if (given == 3 || !parse_expression(p, &v, &rule) || v.used ||
            !evaluate(p, rule, &v, &made))
            return wrong(p, "range wants one to three numbers");
        bound[given++] = made.number;
    } while (accept(p, ","));
    if (given == 1) {
        bound[1] = bound[0];
        bound[0] = 0;
    }
    if (bound[2] == 0 || !expect(p, ")", "')' is missing"))
        return wrong(p, "a range ends in steps other than 0");
    bool up = bound[2] > 0;
    for (double i = bound[0]; up ? i < bound[1] : i > bound[1]; i += bound[2])
        if (!append(p, out, (struct value){.type = VALUE_NUMBER, .number = i}))
            return false;
    return true;
}

// `list(...)`, or parentheses alone.
static bool parse_inside(struct parser *p, struct value_list *out)
{
    accept(p, "list");
    return expect(p, "(", "a list is missing") && parse_sum(p, out) &&
           expect(p, ")", "')' is missing");
}

static bool parse_list(struct parser *p, struct value_list *out)
{
    if (++p->depth > DEEPEST)
        return wrong(p, "too deep");
    bool ok;
    if (accept(p, "["))
        ok = parse_items(p, out);
    else if (accept(p, "range") && accept(p, "("))
        ok = parse_range(p, out);
    else
        ok = parse_inside(p, out);
    p->depth--;
    return ok;
}

static bool parse_sum(struct parser *p, struct value_list *out)
{
    do {
        if (!parse_list(p, out))
            return false;
    } while (accept(p, "+"));
    return true;
}

bool value_list_parse(struct arena *arena, const char *text, struct value_list *out, struct err *e)
{
    struct parser p = {.arena = arena, .start = text, .at = text, .e = e};
    *out = (struct value_list){0};
    if (!parse_sum(&p, out))
        return false;
    skip_space(&p);
    return !*p.at || wrong(&p, "nothing is known to follow");
}
