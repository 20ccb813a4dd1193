#include "expression.h"

#include "base/mem.h"
#include "base/str.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

size_t op_read(const char *text, enum term_op *op)
{
    // Longer ones first, so that <= is not < and =.
    static const struct {
        const char *text;
        enum term_op op;
    } ops[] = {{"!=", TERM_UNEQUAL}, {"<=", TERM_AT_MOST}, {">=", TERM_AT_LEAST},
               {"==", TERM_EQUAL},   {"=", TERM_EQUAL},    {"<", TERM_LESS},
               {">", TERM_GREATER},  {"~", TERM_CONTAINS}, {":", TERM_HAS}};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (str_starts(text, ops[i].text)) {
            *op = ops[i].op;
            return strlen(ops[i].text);
        }
    return 0;
}

bool op_compare(enum term_op op, double a, double b, double tolerance)
{
    bool equal = fabs(a - b) <= tolerance;
    switch (op) {
    case TERM_HAS:
    case TERM_EQUAL: return equal;
    case TERM_UNEQUAL: return !equal && !isnan(a);
    case TERM_LESS: return a < b;
    case TERM_AT_MOST: return a <= b;
    case TERM_GREATER: return a > b;
    default: return a >= b;
    }
}

enum term_op op_of_texts(enum term_op op)
{
    return op == TERM_HAS ? TERM_CONTAINS : op;
}

bool op_contains(const char *text, const char *part)
{
    size_t length = strlen(part);
    int first = tolower((unsigned char)*part);
    for (; text && *text; text++)
        if (tolower((unsigned char)*text) == first && strncasecmp(text, part, length) == 0)
            return true;
    return length == 0;
}

enum { MOST_DEPTH = 64, MOST_NODES = 512 };

enum node_kind { NODE_TERM, NODE_NOT, NODE_AND, NODE_OR };

struct node {
    enum node_kind kind;
    int left, right; // NODE_TERM: the number of the term; NODE_NOT has a left one only
};

struct expression {
    struct node *node;
    int count, capacity, terms;
    int root; // -1: none, everything is accepted
};

enum token { TOKEN_END, TOKEN_WORD, TOKEN_QUOTED, TOKEN_OP, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_BAD };

struct parser {
    struct expression *expression;
    const struct term_reader *reader;
    const char *text;
    const char *at;   // where the token begins
    const char *next; // where the one after it does
    enum token token;
    enum term_op op;
    struct str word;
    int depth;
    struct err *e;
};

// Signs that a word cannot hold unless it is quoted; a colon ends names only.
#define SIGNS " \t\r\n()\"=<>~!"

static bool fail(struct parser *p, const char *at)
{
    int column = 1;
    for (const char *c = p->text; c < at; c++)
        column += ((unsigned char)*c & 0xc0) != 0x80;
    return err_prefix(p->e, "column %d", column);
}

static bool fail_here(struct parser *p, const char *what)
{
    err_set(p->e, "%s", what);
    return fail(p, p->at);
}

// --- tokens ---

static enum token read_op(struct parser *p)
{
    size_t length = op_read(p->at, &p->op);
    p->next = p->at + (length ? length : 1);
    return length ? TOKEN_OP : TOKEN_BAD;
}

static enum token read_token(struct parser *p, const char *signs)
{
    size_t length = strcspn(p->at, signs);
    switch (*p->at) {
    case '\0': p->next = p->at; return TOKEN_END;
    case '(': return TOKEN_OPEN;
    case ')': return TOKEN_CLOSE;
    case '"': {
        const char *c = p->at + 1;
        for (; *c && *c != '"'; c++) {
            c += *c == '\\' && (c[1] == '"' || c[1] == '\\');
            str_add_char(&p->word, *c);
        }
        p->next = c + (*c == '"');
        return *c ? TOKEN_QUOTED : TOKEN_BAD;
    }
    default: break;
    }
    if (length == 0)
        return read_op(p);
    str_add_bytes(&p->word, p->at, length);
    p->next = p->at + length;
    return TOKEN_WORD;
}

static void advance_to(struct parser *p, const char *signs)
{
    p->at = p->next + strspn(p->next, " \t\r\n");
    p->next = p->at + 1;
    p->word.length = 0;
    str_add(&p->word, "");
    p->token = read_token(p, signs);
}

static void advance(struct parser *p)
{
    advance_to(p, SIGNS ":");
}

static bool is_word(const struct parser *p, const char *word)
{
    return p->token == TOKEN_WORD && str_equal(str_text(&p->word), word);
}

// --- terms ---

// The index of the new node; -1 and the error: too many.
static int add_node(struct parser *p, enum node_kind kind, int left, int right)
{
    struct expression *x = p->expression;
    if (x->count == MOST_NODES) {
        fail_here(p, "that is too long");
        return -1;
    }
    MEM_GROW(x->node, x->count, x->capacity);
    x->node[x->count] = (struct node){kind, left, right};
    return x->count++;
}

static bool expect_name(struct parser *p)
{
    switch (p->token) {
    case TOKEN_WORD:
    case TOKEN_QUOTED: return true;
    case TOKEN_END: return fail_here(p, "something is missing here");
    case TOKEN_CLOSE: return fail_here(p, "a term is missing before ')'");
    case TOKEN_BAD:
        if (*p->at == '"')
            return fail_here(p, "the closing '\"' is missing");
        // fall through
    default: return fail_here(p, "a name belongs here");
    }
}

static bool expect_value(struct parser *p)
{
    if (p->token == TOKEN_BAD && *p->at == '"')
        return fail_here(p, "the closing '\"' is missing");
    return p->token == TOKEN_WORD || p->token == TOKEN_QUOTED ||
           fail_here(p, "a value belongs here");
}

// Hands the term that began at `begin` to its reader; its value, if any, is the present token.
static bool add_term(struct parser *p, struct typed_term *t, const char *begin, const char *end)
{
    struct str whole = {0};
    bool wrong_value = false;
    str_add_bytes(&whole, begin, (size_t)(end - begin));
    t->whole = str_text(&whole);
    bool added = p->reader->add(p->reader->terms, t, &wrong_value, p->e);
    str_finish(&whole);
    return added || fail(p, wrong_value ? p->at : begin);
}

// NAME OP VALUE, or a word alone. The present token is the name.
static bool take_term(struct parser *p)
{
    const char *begin = p->at, *end = p->next;
    bool quoted = p->token == TOKEN_QUOTED;
    char *name = mem_strdup(str_text(&p->word));
    struct typed_term alone = {.name = quoted ? NULL : name, .value = quoted ? name : NULL};
    bool taken;
    advance(p);
    if (p->token != TOKEN_OP) {
        taken = add_term(p, &alone, begin, end);
    } else if (quoted) {
        p->at = begin;
        taken = fail_here(p, "a name belongs here, without quotes");
    } else {
        struct typed_term t = {.name = name, .op = p->op};
        advance_to(p, SIGNS);
        t.value = str_text(&p->word);
        taken = expect_value(p) && add_term(p, &t, begin, p->next);
        if (taken)
            advance(p);
    }
    free(name);
    return taken;
}

static int parse_term(struct parser *p)
{
    int node = expect_name(p) ? add_node(p, NODE_TERM, p->expression->terms, -1) : -1;
    if (node < 0 || !take_term(p))
        return -1;
    p->expression->terms++;
    return node;
}

// --- expressions ---

static int parse_or(struct parser *p);

static int parse_group(struct parser *p)
{
    const char *open = p->at;
    advance(p);
    int inside = parse_or(p);
    if (inside < 0)
        return -1;
    if (p->token != TOKEN_CLOSE) {
        err_set(p->e, "this '(' is never closed");
        fail(p, open);
        return -1;
    }
    advance(p);
    return inside;
}

static int parse_factor(struct parser *p)
{
    if (p->depth == MOST_DEPTH) {
        fail_here(p, "too many parentheses and nots");
        return -1;
    }
    p->depth++;
    int node;
    if (is_word(p, "not")) {
        advance(p);
        int inside = parse_factor(p);
        node = inside < 0 ? -1 : add_node(p, NODE_NOT, inside, -1);
    } else {
        node = p->token == TOKEN_OPEN ? parse_group(p) : parse_term(p);
    }
    p->depth--;
    return node;
}

static int parse_and(struct parser *p)
{
    int left = parse_factor(p);
    while (left >= 0 && p->token != TOKEN_END && p->token != TOKEN_CLOSE && !is_word(p, "or")) {
        if (is_word(p, "and"))
            advance(p);
        int right = parse_factor(p);
        left = right < 0 ? -1 : add_node(p, NODE_AND, left, right);
    }
    return left;
}

static int parse_or(struct parser *p)
{
    int left = parse_and(p);
    while (left >= 0 && is_word(p, "or")) {
        advance(p);
        int right = parse_and(p);
        left = right < 0 ? -1 : add_node(p, NODE_OR, left, right);
    }
    return left;
}

static bool parse(struct parser *p)
{
    advance(p);
    if (p->token == TOKEN_END)
        return true;
    p->expression->root = parse_or(p);
    if (p->expression->root < 0)
        return false;
    return p->token == TOKEN_END || fail_here(p, "')' without a '('");
}

struct expression *expression_read(const char *text, const struct term_reader *reader,
                                   struct err *e)
{
    struct expression *x = mem_zero(1, sizeof *x);
    x->root = -1;
    struct parser p = {.expression = x, .reader = reader, .text = text, .next = text, .e = e};
    bool parsed = parse(&p);
    str_finish(&p.word);
    if (parsed)
        return x;
    expression_destroy(x);
    return NULL;
}

void expression_destroy(struct expression *x)
{
    if (!x)
        return;
    free(x->node);
    free(x);
}

bool expression_is_empty(const struct expression *x)
{
    return x->root < 0;
}

struct question {
    const struct node *node;
    term_test *test;
    const void *terms, *item;
};

static bool holds(const struct question *q, int index)
{
    const struct node *n = &q->node[index];
    switch (n->kind) {
    case NODE_NOT: return !holds(q, n->left);
    case NODE_AND: return holds(q, n->left) && holds(q, n->right);
    case NODE_OR: return holds(q, n->left) || holds(q, n->right);
    default: return q->test(q->terms, n->left, q->item);
    }
}

bool expression_holds(const struct expression *x, term_test *test, const void *terms,
                      const void *item)
{
    const struct question q = {x->node, test, terms, item};
    return x->root < 0 || holds(&q, x->root);
}

static bool mentions(const struct question *q, int index, bool turned)
{
    const struct node *n = &q->node[index];
    if (n->kind == NODE_TERM)
        return !turned && q->test(q->terms, n->left, NULL);
    turned ^= n->kind == NODE_NOT;
    return mentions(q, n->left, turned) || (n->kind != NODE_NOT && mentions(q, n->right, turned));
}

bool expression_mentions(const struct expression *x, term_test *test, const void *terms)
{
    const struct question q = {x->node, test, terms, NULL};
    return x->root >= 0 && mentions(&q, x->root, false);
}
