// Expressions of the preprocessor: numbers wrap around, what is not defined is 0, nonsense is 0.
#include "script/outline_condition.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 40, MOST_STEPS = 10000, TIGHTEST = 9 };

struct expression {
    struct outline *o;
    const char *at;
    int depth;
    int *steps;   // that are left, of it and the macros in it
    bool asks;    // notes the macros
    bool unknown; // it has a word that is no number
};

static int64_t parse(struct expression *x, int level);

static bool is_own(const char *name)
{
    return str_starts(name, "GL_") || str_starts(name, "__") || str_equal(name, "VULKAN");
}

static void ask(struct outline *o, const char *name)
{
    if (!is_own(name) && outline_find(&o->defined, name) < 0)
        outline_add(o, &o->asked, name, NULL);
}

static const char *take_word(struct expression *x)
{
    size_t length = strspn(x->at, OUTLINE_WORD);
    const char *word = arena_printf(&x->o->arena, "%.*s", (int)length, x->at);
    x->at += length;
    return word;
}

static bool take(struct expression *x, const char *operator)
{
    size_t length = strlen(operator);
    x->at += strspn(x->at, " ");
    if (strncmp(x->at, operator, length) != 0)
        return false;
    x->at += length;
    return true;
}

static int64_t parse_value(struct expression *x)
{
    if (take(x, "!"))
        return !parse(x, TIGHTEST);
    if (take(x, "-"))
        return (int64_t)(0 - (uint64_t)parse(x, TIGHTEST));
    if (take(x, "(")) {
        int64_t value = parse(x, 0);
        take(x, ")");
        return value;
    }
    if (*x->at >= '0' && *x->at <= '9') {
        char *end;
        int64_t value = (int64_t)strtoull(x->at, &end, 0);
        x->at = end + strspn(end, "uUlL");
        return value;
    }
    const char *word = take_word(x);
    if (str_equal(word, "defined")) {
        bool open = take(x, "(");
        x->at += strspn(x->at, " ");
        const char *name = take_word(x);
        if (open)
            take(x, ")");
        if (*name && x->asks)
            ask(x->o, name);
        return outline_find(&x->o->defined, name) >= 0;
    }
    if (!*word) {
        x->unknown = true;
        return 0;
    }
    int i = outline_find(&x->o->defined, word);
    if (x->asks)
        ask(x->o, word);
    x->unknown = x->unknown || i < 0;
    if (i < 0)
        return 0;
    struct expression inner = {
        .o = x->o, .at = x->o->defined.item[i].note, .depth = x->depth + 1, .steps = x->steps};
    if (!inner.at || !*inner.at)
        return 0;
    int64_t value = parse(&inner, 0);
    x->unknown = x->unknown || inner.unknown || inner.at[strspn(inner.at, " ")];
    return value;
}

// By what binds weakest; the longer ones first.
static const struct operator
{
    const char *text;
    int level;
}
operators[] = {
    {"||", 1}, {"&&", 2}, {"==", 3}, {"!=", 3}, {"<=", 4}, {">=", 4}, {"<", 4},
    {">", 4},  {"+", 5},  {"-", 5},  {"*", 6},  {"/", 6},  {"%", 6},
};

static int64_t apply(const char *op, int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    bool divides = b != 0 && b != -1;
    switch (op[0]) {
    case '|': return a || b;
    case '&': return a && b;
    case '=': return a == b;
    case '!': return a != b;
    case '<': return op[1] ? a <= b : a < b;
    case '>': return op[1] ? a >= b : a > b;
    case '+': return (int64_t)(x + y);
    case '-': return (int64_t)(x - y);
    case '*': return (int64_t)(x * y);
    case '/': return divides ? a / b : 0;
    default: return divides ? a % b : 0;
    }
}

static const struct operator* take_operator(struct expression *x, int level)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].level > level && take(x, operators[i].text))
            return &operators[i];
    return NULL;
}

// What binds more than `level`.
static int64_t parse(struct expression *x, int level)
{
    const struct operator* op;
    if (x->depth >= MOST_DEPTH || --*x->steps < 0) {
        x->unknown = true;
        return 0;
    }
    x->depth++;
    int64_t value = parse_value(x);
    while ((op = take_operator(x, level)))
        value = apply(op->text, value, parse(x, op->level));
    x->depth--;
    return value;
}

bool outline_asks(struct outline *o, const char *name)
{
    struct expression x = {.o = o, .at = name};
    const char *word = take_word(&x);
    if (*word)
        ask(o, word);
    return outline_find(&o->defined, word) >= 0;
}

bool outline_evaluate(struct outline *o, const char *condition)
{
    int steps = MOST_STEPS;
    struct expression x = {.o = o, .at = condition, .asks = true, .steps = &steps};
    int64_t value = parse(&x, 0);
    while (*x.at) { // what was not understood is asked for all the same
        x.at += strcspn(x.at, OUTLINE_LETTERS);
        const char *word = take_word(&x);
        if (*word && !str_equal(word, "defined"))
            ask(o, word);
    }
    return value;
}

bool outline_number(struct outline *o, const char *text, int64_t *out)
{
    int steps = MOST_STEPS;
    struct expression x = {.o = o, .at = text, .steps = &steps};
    *out = parse(&x, 0);
    return !x.unknown && !x.at[strspn(x.at, " ")];
}
