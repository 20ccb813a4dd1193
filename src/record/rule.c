#include "record/rule.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- evaluating rules ---

bool rule_truth(const struct value *v)
{
    return v->type == VALUE_TEXT ? *v->text != '\0' : v->number != 0;
}

// The result has the sign of the divisor, as in Python.
static double modulo(double a, double b)
{
    double rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static bool calculate(enum rule_op op, const struct value *a, const struct value *b,
                      struct value *out, struct err *e)
{
    double x = a->number, y = b->number, z = 0;
    if (a->type == VALUE_TEXT || b->type == VALUE_TEXT)
        return err_set(e, "texts cannot be calculated with");
    bool divides = op == RULE_DIVIDE || op == RULE_FLOOR_DIVIDE || op == RULE_MODULO;
    if (divides && y == 0)
        return err_set(e, "division by zero");
    switch (op) {
    case RULE_ADD: z = x + y; break;
    case RULE_SUBTRACT: z = x - y; break;
    case RULE_MULTIPLY: z = x * y; break;
    case RULE_DIVIDE: z = x / y; break;
    case RULE_FLOOR_DIVIDE: z = (x - modulo(x, y)) / y; break;
    case RULE_MODULO: z = modulo(x, y); break;
    default: z = pow(x, y); break;
    }
    *out = (struct value){.type = VALUE_NUMBER, .number = z};
    return isfinite(z) || err_set(e, "the result is not a finite number");
}

// Evaluates a chain of comparisons up to the first that does not hold.
static bool evaluate_comparison(const struct rule *r, const struct rule_world *w, struct value *out,
                                struct err *e)
{
    struct value a, b;
    if (!rule_evaluate(r->left, w, &a, e))
        return false;
    for (bool holds = true; holds && r; r = r->next, a = b) {
        double order = 1;
        if (!rule_evaluate(r->right, w, &b, e))
            return false;
        if (a.type == VALUE_TEXT && b.type == VALUE_TEXT)
            order = strcmp(a.text, b.text);
        else if (a.type != VALUE_TEXT && b.type != VALUE_TEXT)
            order = (a.number > b.number) - (a.number < b.number);
        else if (r->op != RULE_EQUAL && r->op != RULE_DIFFERENT) // a text and a number differ
            return err_set(e, "a text and a number have no order");
        switch (r->op) {
        case RULE_LESS: holds = order < 0; break;
        case RULE_LESS_EQUAL: holds = order <= 0; break;
        case RULE_MORE: holds = order > 0; break;
        case RULE_MORE_EQUAL: holds = order >= 0; break;
        case RULE_EQUAL: holds = order == 0; break;
        default: holds = order != 0; break;
        }
        *out = (struct value){.type = VALUE_FLAG, .number = holds};
    }
    return true;
}

bool rule_evaluate(const struct rule *r, const struct rule_world *w, struct value *out,
                   struct err *e)
{
    struct value a, b;
    switch (r->op) {
    case RULE_VALUE: *out = r->value; return true;
    case RULE_NAME: *out = w->value(w->context, r->name); return true;
    case RULE_OR:
    case RULE_AND: {
        // As in Python, the result is the operand that decides, and the other is not evaluated.
        if (!rule_evaluate(r->left, w, out, e))
            return false;
        return rule_truth(out) == (r->op == RULE_OR) || rule_evaluate(r->right, w, out, e);
    }
    case RULE_NOT:
    case RULE_NEGATE: {
        struct value v;
        if (!rule_evaluate(r->left, w, &v, e))
            return false;
        if (r->op == RULE_NOT) {
            *out = (struct value){.type = VALUE_FLAG, .number = !rule_truth(&v)};
            return true;
        }
        *out = (struct value){.type = VALUE_NUMBER, .number = -v.number};
        return v.type != VALUE_TEXT || err_set(e, "a text has no sign");
    }
    default: break;
    }
    if (r->op < RULE_ADD)
        return evaluate_comparison(r, w, out, e);
    return rule_evaluate(r->left, w, &a, e) && rule_evaluate(r->right, w, &b, e) &&
           calculate(r->op, &a, &b, out, e);
}

// --- parsing rules ---

// Evaluation recurses as deep as the parser does.
enum { DEEPEST = 200, MOST_NODES = 10000, LONGEST_NAME = 63 };

struct parser {
    struct arena *arena;
    const char *start, *at;
    const struct rule_names *names;
    int depth, nodes;
    struct err *e;
};

static struct rule *parse_logic(struct parser *p, int level);
static struct rule *parse_factor(struct parser *p);

static void skip_space(struct parser *p)
{
    p->at += strspn(p->at, " \t\r\n");
}

// Returns NULL, which is false where a function gives no rule.
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

// Steps over a word, which has to end there, or over signs.
static bool accept(struct parser *p, const char *text)
{
    size_t length = strlen(text);
    skip_space(p);
    if (strncmp(p->at, text, length) != 0 ||
        (is_name_character(*text) && is_name_character(p->at[length])))
        return false;
    p->at += length;
    return true;
}

struct symbol {
    const char *text;
    enum rule_op op;
};

// Steps over the first symbol of the list that is here; longer ones come first.
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
    if (accept(p, "(")) {
        struct rule *r = parse_logic(p, 0);
        return !r || accept(p, ")") ? r : wrong(p, "')' is missing");
    }
    if (isdigit((unsigned char)*p->at) || *p->at == '.') {
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
    if (*p->at == '\'' || *p->at == '"') {
        const char quote[] = {*p->at, '\\', '\0'};
        size_t length = strcspn(p->at + 1, quote);
        if (p->at[1 + length] != *quote)
            return wrong(p, "a text is not closed, or has escapes,");
        struct value v = {.type = VALUE_TEXT};
        v.text = arena_printf(p->arena, "%.*s", (int)length, p->at + 1);
        p->at += length + 2;
        return constant(p, v);
    }
    if (is_name_character(*p->at))
        return parse_name(p);
    return wrong(p, "a value is missing");
}

// Parses signs and powers. A power binds more tightly than a sign on its left, less than one on its
// right.
static struct rule *parse_factor(struct parser *p)
{
    static const struct symbol power[] = {{"**", RULE_POWER}, {NULL, RULE_VALUE}};
    enum rule_op op;
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
        r = parse_atom(p);
        if (r && symbol(p, power, &op)) {
            struct rule *right = parse_factor(p);
            r = right ? node(p, op, r, right) : NULL;
        }
    }
    p->depth--;
    return r;
}

// Parses sums (level 0) of products (level 1).
static struct rule *parse_sum(struct parser *p, int level)
{
    static const struct symbol operators[2][5] = {{{"+", RULE_ADD}, {"-", RULE_SUBTRACT}, {NULL}},
                                                  {{"//", RULE_FLOOR_DIVIDE},
                                                   {"*", RULE_MULTIPLY},
                                                   {"/", RULE_DIVIDE},
                                                   {"%", RULE_MODULO},
                                                   {NULL}}};
    enum rule_op op;
    struct rule *left = level == 0 ? parse_sum(p, 1) : parse_factor(p);
    while (left && symbol(p, operators[level], &op)) {
        struct rule *right = level == 0 ? parse_sum(p, 1) : parse_factor(p);
        left = right ? node(p, op, left, right) : NULL;
    }
    return left;
}

// Parses a chain of comparisons: a < b < c is a < b and b < c, with b evaluated once.
static struct rule *parse_comparison(struct parser *p)
{
    static const struct symbol operators[] = {{"<=", RULE_LESS_EQUAL}, {">=", RULE_MORE_EQUAL},
                                              {"==", RULE_EQUAL},      {"!=", RULE_DIFFERENT},
                                              {"<", RULE_LESS},        {">", RULE_MORE},
                                              {NULL, RULE_VALUE}};
    enum rule_op op;
    struct rule *left = parse_sum(p, 0), *first = NULL, *last = NULL;
    while (left && symbol(p, operators, &op)) {
        struct rule *right = parse_sum(p, 0);
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
    if (accept(p, "not")) {
        r = parse_not(p);
        r = r ? node(p, RULE_NOT, r, NULL) : NULL;
    } else {
        r = parse_comparison(p);
    }
    p->depth--;
    return r;
}

// Parses `or` (level 0) of `and` (level 1).
static struct rule *parse_logic(struct parser *p, int level)
{
    struct rule *left = level == 0 ? parse_logic(p, 1) : parse_not(p);
    while (left && accept(p, level == 0 ? "or" : "and")) {
        struct rule *right = level == 0 ? parse_logic(p, 1) : parse_not(p);
        left = right ? node(p, level == 0 ? RULE_OR : RULE_AND, left, right) : NULL;
    }
    return left;
}

// Parses the longest condition that `*text` begins with, and moves `*text` behind it.
static bool rule_parse_part(struct arena *arena, const char **text, const struct rule_names *names,
                            struct rule **out, struct err *e)
{
    struct parser p = {.arena = arena, .start = *text, .at = *text, .names = names, .e = e};
    *out = parse_logic(&p, 0);
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

// --- lists of values ---

enum { DEEPEST_LIST = 16 };

static bool parse_list_sum(struct parser *p, struct value_list *out);

static bool expect(struct parser *p, const char *text, const char *message)
{
    return accept(p, text) || wrong(p, message);
}

static bool append(struct parser *p, struct value_list *out, struct value v)
{
    if (out->count == PARAM_MAX_VALUES)
        return wrong(p, "too many values");
    MEM_GROW(out->value, out->count, out->capacity);
    out->value[out->count++] = v;
    return true;
}

// The variable of a comprehension; its name is known only after its use.
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

// Parses `for NAME in LIST]`, after the expression.
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
    bool ok = expect(p, "in", "'in' is missing") && parse_list_sum(p, &over);
    const struct rule_world world = {value_of_variable, v};
    for (int i = 0; ok && i < over.count; i++) {
        struct value made;
        v->value = over.value[i];
        ok = rule_evaluate(rule, &world, &made, p->e) && append(p, out, made);
    }
    free(over.value);
    return ok && expect(p, "]", "']' is missing");
}

static bool parse_items(struct parser *p, struct value_list *out)
{
    while (!accept(p, "]")) {
        struct variable v = {.used = false};
        const struct rule_names names = {find_variable, &v};
        const struct rule_world world = {value_of_variable, &v};
        struct rule *rule;
        struct value made;
        if (!rule_parse_part(p->arena, &p->at, &names, &rule, p->e))
            return false;
        if (accept(p, "for"))
            return parse_comprehension(p, rule, &v, out);
        if (v.used)
            return wrong(p, "names have no value here");
        if (!rule_evaluate(rule, &world, &made, p->e) || !append(p, out, made))
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
        const struct rule_names names = {find_variable, &v};
        const struct rule_world world = {value_of_variable, &v};
        struct rule *rule;
        struct value made;
        if (given == 3 || !rule_parse_part(p->arena, &p->at, &names, &rule, p->e) || v.used ||
            !rule_evaluate(rule, &world, &made, p->e))
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

static bool parse_list_sum(struct parser *p, struct value_list *out)
{
    bool ok;
    if (++p->depth > DEEPEST_LIST)
        return wrong(p, "too deep");
    do {
        if (accept(p, "["))
            ok = parse_items(p, out);
        else if (accept(p, "range") && accept(p, "("))
            ok = parse_range(p, out);
        else {
            // It is `list(...)`, or parentheses alone.
            accept(p, "list");
            ok = expect(p, "(", "a list is missing") && parse_list_sum(p, out) &&
                 expect(p, ")", "')' is missing");
        }
    } while (ok && accept(p, "+"));
    p->depth--;
    return ok;
}

bool value_list_parse(struct arena *arena, const char *text, struct value_list *out, struct err *e)
{
    struct parser p = {.arena = arena, .start = text, .at = text, .e = e};
    *out = (struct value_list){0};
    if (!parse_list_sum(&p, out))
        return false;
    skip_space(&p);
    return !*p.at || wrong(&p, "nothing is known to follow");
}
