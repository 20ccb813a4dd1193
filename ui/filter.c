#include "filter.h"

#include "filter_term.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 64, MOST_NODES = 512 };

enum node_kind { NODE_TERM, NODE_NOT, NODE_AND, NODE_OR };

struct node {
    enum node_kind kind;
    int left, right; // NODE_NOT has a left one only
    struct term term;
};

struct filter {
    struct node *node;
    int count, capacity;
    int root; // -1: none, everything is accepted
    struct filter_amounts amounts;
};

enum token { TOKEN_END, TOKEN_WORD, TOKEN_QUOTED, TOKEN_OP, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_BAD };

struct parser {
    struct filter *filter;
    const struct space *space;
    const char *text;
    const char *at;   // where the token begins
    const char *next; // where the one after it does
    enum token token;
    enum term_op op;
    struct str word;
    int depth;
    struct err *e;
};

// Signs that a word cannot hold unless it is quoted.
static const char signs[] = " \t\r\n()\"=<>~!";

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

static enum token read_quoted(struct parser *p)
{
    const char *c = p->at + 1;
    for (; *c && *c != '"'; c++) {
        c += *c == '\\' && (c[1] == '"' || c[1] == '\\');
        str_add_char(&p->word, *c);
    }
    p->next = c + (*c == '"');
    return *c ? TOKEN_QUOTED : TOKEN_BAD;
}

static enum token read_op(struct parser *p)
{
    size_t length = op_read(p->at, &p->op);
    if (length) {
        p->next = p->at + length;
        return TOKEN_OP;
    }
    p->next = p->at + 1;
    return TOKEN_BAD;
}

static void advance(struct parser *p)
{
    p->at = p->next + strspn(p->next, " \t\r\n");
    p->next = p->at + 1;
    p->word.length = 0;
    str_add(&p->word, "");
    size_t length = strcspn(p->at, signs);
    if (!*p->at) {
        p->token = TOKEN_END;
        p->next = p->at;
    } else if (*p->at == '(') {
        p->token = TOKEN_OPEN;
    } else if (*p->at == ')') {
        p->token = TOKEN_CLOSE;
    } else if (*p->at == '"') {
        p->token = read_quoted(p);
    } else if (length == 0) {
        p->token = read_op(p);
    } else {
        p->token = TOKEN_WORD;
        str_add_bytes(&p->word, p->at, length);
        p->next = p->at + length;
    }
}

static bool is_word(const struct parser *p, const char *word)
{
    return p->token == TOKEN_WORD && strcmp(str_text(&p->word), word) == 0;
}

// The index of the new node; -1 and the error: too many.
static int add_node(struct parser *p, enum node_kind kind, int left, int right)
{
    struct filter *f = p->filter;
    if (f->count == MOST_NODES) {
        fail_here(p, "that is too long");
        return -1;
    }
    MEM_GROW(f->node, f->count, f->capacity);
    f->node[f->count] = (struct node){.kind = kind, .left = left, .right = right};
    return f->count++;
}

static bool expect_name(struct parser *p)
{
    switch (p->token) {
    case TOKEN_WORD: return true;
    case TOKEN_END: return fail_here(p, "something is missing here");
    case TOKEN_CLOSE: return fail_here(p, "a term is missing before ')'");
    case TOKEN_QUOTED: return fail_here(p, "a name belongs here, without quotes");
    default: return fail_here(p, "a name belongs here");
    }
}

// A name that no operator follows: only `early` may stand alone.
static bool take_lone(struct parser *p, struct term *t, const char *name, const char *at)
{
    enum outcome outcome;
    if (outcome_parse(name, &outcome))
        err_set(p->e, "'%s' is an outcome: outcome=%s", name, name);
    else if (!term_set_name(t, p->space, name, p->e))
        return fail(p, at);
    else if (t->field == FIELD_EARLY)
        return term_set_value(t, TERM_EQUAL, "yes", p->e);
    else
        err_set(p->e, "'%s' needs = != < <= > >= or ~ and a value after it", name);
    return fail(p, at);
}

static bool take_value(struct parser *p, struct term *t)
{
    enum term_op op = p->op;
    advance(p);
    if (p->token == TOKEN_BAD && *p->at == '"')
        return fail_here(p, "the closing '\"' is missing");
    if (p->token != TOKEN_WORD && p->token != TOKEN_QUOTED)
        return fail_here(p, "a value belongs here");
    if (!term_set_value(t, op, str_text(&p->word), p->e))
        return fail(p, p->at);
    advance(p);
    return true;
}

// NAME OP VALUE, or `early`.
static bool take_term(struct parser *p, struct term *t)
{
    const char *at = p->at;
    char *name = mem_strdup(str_text(&p->word));
    advance(p);
    bool taken;
    if (p->token != TOKEN_OP)
        taken = take_lone(p, t, name, at);
    else
        taken = term_set_name(t, p->space, name, p->e) ? take_value(p, t) : fail(p, at);
    free(name);
    return taken;
}

static int parse_or(struct parser *p);

static int parse_term(struct parser *p)
{
    if (!expect_name(p))
        return -1;
    int node = add_node(p, NODE_TERM, -1, -1);
    // A term whose value failed is finished with the filter.
    return node >= 0 && take_term(p, &p->filter->node[node].term) ? node : -1;
}

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
    p->filter->root = parse_or(p);
    if (p->filter->root < 0)
        return false;
    return p->token == TOKEN_END || fail_here(p, "')' without a '('");
}

struct filter *filter_compile(const char *text, const struct space *space,
                              const struct filter_amounts *a, struct err *e)
{
    struct filter *f = mem_zero(1, sizeof *f);
    f->root = -1;
    f->amounts = *a;
    struct err unheard;
    struct parser p = {
        .filter = f, .space = space, .text = text, .next = text, .e = e ? e : &unheard};
    bool parsed = parse(&p);
    str_finish(&p.word);
    if (parsed)
        return f;
    filter_destroy(f);
    return NULL;
}

void filter_destroy(struct filter *f)
{
    if (!f)
        return;
    for (int i = 0; i < f->count; i++)
        term_finish(&f->node[i].term);
    free(f->node);
    free(f);
}

static bool accepts(const struct filter *f, int index, const struct trial *t)
{
    const struct node *n = &f->node[index];
    switch (n->kind) {
    case NODE_NOT: return !accepts(f, n->left, t);
    case NODE_AND: return accepts(f, n->left, t) && accepts(f, n->right, t);
    case NODE_OR: return accepts(f, n->left, t) || accepts(f, n->right, t);
    default: return term_holds(&n->term, t, &f->amounts);
    }
}

bool filter_accepts(const struct filter *f, const struct trial *t)
{
    return f->root < 0 || accepts(f, f->root, t);
}

bool filter_is_empty(const struct filter *f)
{
    return f->root < 0;
}

static bool asks_rejected(const struct filter *f, int index, bool turned)
{
    const struct node *n = &f->node[index];
    if (n->kind == NODE_TERM)
        return !turned && term_asks_rejected(&n->term);
    turned ^= n->kind == NODE_NOT;
    return asks_rejected(f, n->left, turned) ||
           (n->kind != NODE_NOT && asks_rejected(f, n->right, turned));
}

bool filter_asks_rejected(const struct filter *f)
{
    return f->root >= 0 && asks_rejected(f, f->root, false);
}
