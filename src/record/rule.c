#include "record/rule.h"

#include <ctype.h>
#include <string.h>

// Evaluation recurses as deep as a rule has nodes.
enum { DEEPEST = 200, MOST_NODES = 10000, LONGEST_NAME = 63 };

struct parser {
    struct arena *arena;
    const char *start, *at;
    const struct rule_names *names;
    int depth, nodes;
    struct err *e;
};

static struct rule *parse_or(struct parser *p);
static struct rule *parse_sum(struct parser *p);
static struct rule *parse_factor(struct parser *p);

static void skip_space(struct parser *p)
{
    p->at += strspn(p->at, " \t\r\n");
}

static struct rule *wrong(struct parser *p, const char *what)
{
    err_set(p->e, "%s at '%.20s' of '%s'", what, *p->at ? p->at : "the end", p->start);
    return NULL;
}

static struct rule *node(struct parser *p, enum rule_op op, const struct rule *left,
                         const struct rule *right)
{
    struct rule *r = arena_zero(p->arena, 1, sizeof *r);
    p->nodes++;
    r->op = op;
    r->left = left;
    r->right = right;
    return r;
}

static struct rule *constant(struct parser *p, struct value v)
{
    struct rule *r = node(p, RULE_VALUE, NULL, NULL);
    r->value = v;
    return r;
}

static bool is_name_character(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// A whole word, which is passed over.
static bool word(struct parser *p, const char *text)
{
    size_t length = strlen(text);
    skip_space(p);
    if (strncmp(p->at, text, length) != 0 || is_name_character(p->at[length]))
        return false;
    p->at += length;
    return true;
}

struct symbol {
    const char *text;
    enum rule_op op;
};

// The first of the list that is here; the longer ones come first.
static bool symbol(struct parser *p, const struct symbol *list, enum rule_op *op)
{
    skip_space(p);
    for (; list->text; list++) {
        size_t length = strlen(list->text);
        if (strncmp(p->at, list->text, length) == 0) {
            p->at += length;
            *op = list->op;
            return true;
        }
    }
    return false;
}

static struct rule *parse_number(struct parser *p)
{
    char text[64];
    size_t length = strspn(p->at, "0123456789.");
    if ((p->at[length] | 32) == 'e') {
        length += 1 + (p->at[length + 1] == '-' || p->at[length + 1] == '+');
        length += strspn(p->at + length, "0123456789");
    }
    struct value v = {.type = VALUE_NUMBER};
    if (length >= sizeof text)
        return wrong(p, "a number is too long");
    memcpy(text, p->at, length);
    text[length] = '\0';
    if (!str_to_real(text, &v.number) || is_name_character(p->at[length]))
        return wrong(p, "a number is malformed");
    p->at += length;
    return constant(p, v);
}

static struct rule *parse_text(struct parser *p)
{
    const char quote[] = {*p->at, '\\', '\0'};
    size_t length = strcspn(p->at + 1, quote);
    if (p->at[1 + length] != *quote)
        return wrong(p, "a text is not closed, or has escapes,");
    struct value v = {.type = VALUE_TEXT};
    v.text = arena_printf(p->arena, "%.*s", (int)length, p->at + 1);
    p->at += length + 2;
    return constant(p, v);
}

static struct rule *parse_name(struct parser *p)
{
    char name[LONGEST_NAME + 1];
    size_t length = 0;
    while (is_name_character(p->at[length]))
        length++;
    if (length > LONGEST_NAME)
        return wrong(p, "a name is too long");
    memcpy(name, p->at, length);
    name[length] = '\0';
    bool yes = str_equal(name, "True");
    struct rule *r;
    if (yes || str_equal(name, "False")) {
        r = constant(p, (struct value){.type = VALUE_FLAG, .number = yes});
    } else {
        r = node(p, RULE_NAME, NULL, NULL);
        r->name = p->names->find(p->names->context, name);
        if (r->name < 0)
            return wrong(p, "no parameter has this name");
    }
    p->at += length;
    return r;
}

static struct rule *parse_atom(struct parser *p)
{
    skip_space(p);
    if (*p->at == '(') {
        p->at++;
        struct rule *r = parse_or(p);
        if (!r)
            return NULL;
        skip_space(p);
        if (*p->at != ')')
            return wrong(p, "')' is missing");
        p->at++;
        return r;
    }
    if (isdigit((unsigned char)*p->at) || *p->at == '.')
        return parse_number(p);
    if (*p->at == '\'' || *p->at == '"')
        return parse_text(p);
    if (is_name_character(*p->at))
        return parse_name(p);
    return wrong(p, "a value is missing");
}

// Binds more tightly than a sign on its left, less than one on its right.
static struct rule *parse_power(struct parser *p)
{
    static const struct symbol power[] = {{"**", RULE_POWER}, {NULL, RULE_VALUE}};
    enum rule_op op;
    struct rule *left = parse_atom(p);
    if (!left || !symbol(p, power, &op))
        return left;
    struct rule *right = parse_factor(p);
    return right ? node(p, op, left, right) : NULL;
}

static struct rule *parse_factor(struct parser *p)
{
    if (++p->depth > DEEPEST)
        return wrong(p, "too deep");
    skip_space(p);
    char sign = *p->at;
    struct rule *r;
    if (sign == '-' || sign == '+') {
        p->at++;
        r = parse_factor(p);
        if (r && sign == '-')
            r = node(p, RULE_NEGATE, r, NULL);
    } else {
        r = parse_power(p);
    }
    p->depth--;
    return r;
}

static struct rule *parse_term(struct parser *p)
{
    static const struct symbol operators[] = {{"//", RULE_FLOOR_DIVIDE},
                                              {"*", RULE_MULTIPLY},
                                              {"/", RULE_DIVIDE},
                                              {"%", RULE_MODULO},
                                              {NULL, RULE_VALUE}};
    enum rule_op op;
    struct rule *left = parse_factor(p);
    while (left && symbol(p, operators, &op)) {
        struct rule *right = parse_factor(p);
        left = right ? node(p, op, left, right) : NULL;
    }
    return left;
}

static struct rule *parse_sum(struct parser *p)
{
    static const struct symbol operators[] = {
        {"+", RULE_ADD}, {"-", RULE_SUBTRACT}, {NULL, RULE_VALUE}};
    enum rule_op op;
    struct rule *left = parse_term(p);
    while (left && symbol(p, operators, &op)) {
        struct rule *right = parse_term(p);
        left = right ? node(p, op, left, right) : NULL;
    }
    return left;
}

// a < b < c is a < b and b < c, with b looked at once.
static struct rule *parse_comparison(struct parser *p)
{
    static const struct symbol operators[] = {{"<=", RULE_LESS_EQUAL}, {">=", RULE_MORE_EQUAL},
                                              {"==", RULE_EQUAL},      {"!=", RULE_DIFFERENT},
                                              {"<", RULE_LESS},        {">", RULE_MORE},
                                              {NULL, RULE_VALUE}};
    enum rule_op op;
    struct rule *left = parse_sum(p), *first = NULL, *last = NULL;
    while (left && symbol(p, operators, &op)) {
        struct rule *right = parse_sum(p);
        if (!right)
            return NULL;
        struct rule *one = node(p, op, left, right);
        if (last)
            last->next = one;
        else
            first = one;
        last = one;
        left = right;
    }
    return first ? first : left;
}

static struct rule *parse_not(struct parser *p)
{
    if (++p->depth > DEEPEST)
        return wrong(p, "too deep");
    struct rule *r;
    if (word(p, "not")) {
        r = parse_not(p);
        r = r ? node(p, RULE_NOT, r, NULL) : NULL;
    } else {
        r = parse_comparison(p);
    }
    p->depth--;
    return r;
}

static struct rule *parse_and(struct parser *p)
{
    struct rule *left = parse_not(p);
    while (left && word(p, "and")) {
        struct rule *right = parse_not(p);
        left = right ? node(p, RULE_AND, left, right) : NULL;
    }
    return left;
}

static struct rule *parse_or(struct parser *p)
{
    struct rule *left = parse_and(p);
    while (left && word(p, "or")) {
        struct rule *right = parse_and(p);
        left = right ? node(p, RULE_OR, left, right) : NULL;
    }
    return left;
}

bool rule_parse_part(struct arena *arena, const char **text, const struct rule_names *names,
                     struct rule **out, struct err *e)
{
    struct parser p = {.arena = arena, .start = *text, .at = *text, .names = names, .e = e};
    *out = parse_or(&p);
    if (*out && p.nodes > MOST_NODES)
        *out = wrong(&p, "too long");
    if (!*out)
        return false;
    skip_space(&p);
    *text = p.at;
    return true;
}

bool rule_parse(struct arena *arena, const char *text, const struct rule_names *names,
                struct rule **out, struct err *e)
{
    const char *at = text;
    return rule_parse_part(arena, &at, names, out, e) &&
           (!*at || err_set(e, "nothing is known to follow at '%.20s' of '%s'", at, text));
}
