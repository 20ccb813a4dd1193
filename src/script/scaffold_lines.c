// Reads the lines of a shader for its scaffold: comments go, included files come in, conditions are
// followed.
#include "script/scaffold_lines.h"

#include "base/file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 64, MOST_DEPTH = 16, MOST_CONDITIONS = 64, MOST_NAMES = 2000 };

int scaffold_find_name(const struct scaffold_names *n, const char *text)
{
    for (int i = 0; i < n->count; i++)
        if (str_equal(n->item[i].text, text))
            return i;
    return -1;
}

void scaffold_note(struct scaffold *o, struct scaffold_names *n, const char *text, const char *note)
{
    if (n->count == MOST_NAMES || scaffold_find_name(n, text) >= 0)
        return;
    MEM_GROW(n->item, n->count, n->capacity);
    n->item[n->count++] = (struct scaffold_name){arena_strdup(&o->arena, text),
                                                 note ? arena_strdup(&o->arena, note) : NULL};
}

// --- conditions ---
//
// Expressions of the preprocessor. Numbers wrap around; what is not defined or not understood is 0.

enum { MOST_NESTING = 40, MOST_STEPS = 10000, TIGHTEST = 9 };

struct expression {
    struct scaffold *o;
    const char *at;
    int depth;
    int *steps;   // left for the expression and the macros in it
    bool asks;    // notes the macros
    bool unknown; // a word in it is no number
};

static int64_t parse(struct expression *x, int level);

// Notes that a condition asks for the macro, unless it is built in or defined.
static void ask(struct scaffold *o, const char *name)
{
    bool is_built_in =
        str_starts(name, "GL_") || str_starts(name, "__") || str_equal(name, "VULKAN");
    if (!is_built_in && scaffold_find_name(&o->defined, name) < 0)
        scaffold_note(o, &o->asked, name, NULL);
}

static const char *take_word(struct expression *x)
{
    size_t length = strspn(x->at, SCAFFOLD_WORD);
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
        return scaffold_find_name(&x->o->defined, name) >= 0;
    }
    if (!*word) {
        x->unknown = true;
        return 0;
    }
    int i = scaffold_find_name(&x->o->defined, word);
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

// From the weakest level to the strongest; longer operators first.
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

// Parses operators that bind more strongly than `level`.
static int64_t parse(struct expression *x, int level)
{
    enum { COUNT = sizeof operators / sizeof *operators };
    if (x->depth >= MOST_NESTING || --*x->steps < 0) {
        x->unknown = true;
        return 0;
    }
    x->depth++;
    int64_t value = parse_value(x);
    for (int i = 0; i < COUNT; i++)
        if (operators[i].level > level && take(x, operators[i].text)) {
            value = apply(operators[i].text, value, parse(x, operators[i].level));
            i = -1; // look for any operator again
        }
    x->depth--;
    return value;
}

// Notes that the macro is asked for. True: the files have defined it.
static bool is_defined(struct scaffold *o, const char *name)
{
    struct expression x = {.o = o, .at = name};
    const char *word = take_word(&x);
    if (*word)
        ask(o, word);
    return scaffold_find_name(&o->defined, word) >= 0;
}

// Evaluates the condition, and notes the macros that it asks for.
static bool evaluate(struct scaffold *o, const char *condition)
{
    int steps = MOST_STEPS;
    struct expression x = {.o = o, .at = condition, .asks = true, .steps = &steps};
    int64_t value = parse(&x, 0);
    while (*x.at) { // words that were not understood are asked for too
        x.at += strcspn(x.at, SCAFFOLD_LETTERS);
        const char *word = take_word(&x);
        if (*word && !str_equal(word, "defined"))
            ask(o, word);
    }
    return value;
}

int64_t scaffold_number(struct scaffold *o, const char *text)
{
    int steps = MOST_STEPS;
    struct expression x = {.o = o, .at = text, .steps = &steps};
    if (!text)
        return -1;
    int64_t value = parse(&x, 0);
    bool is_number = !x.unknown && !x.at[strspn(x.at, " ")];
    return is_number && value >= 0 && value <= UINT32_MAX ? value : -1;
}

// --- files ---

struct condition {
    const char *text;
    bool holds, held, around; // this branch; it or an earlier one; all conditions around
};

struct reading {
    struct scaffold *o;
    const char *const *folder;
    int folders, depth;
    struct condition condition[MOST_CONDITIONS];
    int conditions;
    struct scaffold_lines code;
};

static bool holds(const struct reading *r)
{
    return r->conditions == 0 || r->condition[r->conditions - 1].holds;
}

static void add_mark(struct arena *a, struct scaffold_lines *t, const char *where)
{
    MEM_GROW(t->where, t->marks, t->capacity);
    t->where[t->marks++] = where ? arena_strdup(a, where) : NULL;
    str_add_char(&t->text, SCAFFOLD_MARK);
}

static void mark(struct reading *r, bool before)
{
    if (before == holds(r))
        return;
    add_mark(&r->o->arena, &r->code, holds(r) ? NULL : r->condition[r->conditions - 1].text);
}

static void open_condition(struct reading *r, const char *text, bool is_true)
{
    bool around = holds(r), before = around;
    if (r->conditions == MOST_CONDITIONS)
        return;
    r->condition[r->conditions++] =
        (struct condition){arena_strdup(&r->o->arena, text), around && is_true, is_true, around};
    mark(r, before);
}

static void next_branch(struct reading *r, const char *text, bool is_true)
{
    if (!r->conditions)
        return;
    bool before = holds(r);
    struct condition *c = &r->condition[r->conditions - 1];
    bool now = c->around && !c->held && is_true;
    if (!now)
        add_mark(&r->o->arena, &r->code, text);
    else if (!before)
        add_mark(&r->o->arena, &r->code, NULL);
    c->holds = now;
    c->held = c->held || is_true;
    c->text = arena_strdup(&r->o->arena, text);
}

static void close_condition(struct reading *r)
{
    if (!r->conditions)
        return;
    bool before = holds(r);
    r->conditions--;
    mark(r, before);
}

static void define(struct reading *r, const char *at)
{
    size_t length = strspn(at, SCAFFOLD_WORD);
    if (!length)
        return;
    char *name = arena_printf(&r->o->arena, "%.*s", (int)length, at);
    if (!holds(r)) {
        scaffold_note(r->o, &r->o->elsewhere, name, NULL);
        return;
    }
    const char *value = at + length + strspn(at + length, " ");
    int asked = scaffold_find_name(&r->o->asked, name);
    scaffold_note(r->o, &r->o->defined, name, at[length] == '(' ? "" : value);
    if (asked >= 0 && *value && !r->o->asked.item[asked].note) // #ifndef X, #define X 1
        r->o->asked.item[asked].note = arena_strdup(&r->o->arena, value);
}

static void read_file(struct reading *r, const char *path, const char *text);

static void include(struct reading *r, const char *at, const char *from)
{
    const char *end = *at == '"' ? "\"" : *at == '<' ? ">" : NULL;
    struct scaffold *o = r->o;
    char *here = path_folder(from), *path = NULL, *text = NULL;
    if (end && holds(r) && r->depth < MOST_DEPTH && o->files.count < MOST_FILES) {
        char *name = arena_printf(&o->arena, "%.*s", (int)strcspn(at + 1, end), at + 1);
        struct err ignored; // the file counts as missing
        size_t length;
        for (int i = -1; !text && i < r->folders; i++) {
            free(path);
            path = path_join(i < 0 ? here : r->folder[i], name);
            if (!file_is_regular(path) || !file_read(path, &text, &length, &ignored))
                text = NULL;
        }
        if (!text || length > SCAFFOLD_MOST_BYTES)
            scaffold_note(o, &o->missing, name, NULL);
        else if (scaffold_find_name(&o->files, path) < 0)
            read_file(r, path, text);
    }
    free(text);
    free(path);
    free(here);
}

// Returns what follows the name in "#name rest"; NULL: the line has another name.
static const char *after(const char *line, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(line, name, length) != 0 ||
        strchr(SCAFFOLD_WORD, line[length] ? line[length] : ' '))
        return NULL;
    return line + length + strspn(line + length, " ");
}

static void read_directive(struct reading *r, const char *line, const char *from)
{
    struct scaffold *o = r->o;
    const char *rest;
    if ((rest = after(line, "ifdef")))
        open_condition(r, rest, is_defined(o, rest));
    else if ((rest = after(line, "ifndef")))
        open_condition(r, arena_printf(&o->arena, "not %s", rest), !is_defined(o, rest));
    else if ((rest = after(line, "if")))
        open_condition(r, rest, evaluate(o, rest));
    else if ((rest = after(line, "elif")))
        next_branch(r, rest, evaluate(o, rest));
    else if (after(line, "else"))
        next_branch(r,
                    arena_printf(&o->arena, "not %s",
                                 r->conditions ? r->condition[r->conditions - 1].text : ""),
                    true);
    else if (after(line, "endif"))
        close_condition(r);
    else if ((rest = after(line, "define")))
        define(r, rest);
    else if ((rest = after(line, "include")))
        include(r, rest, from);
}

static void read_file(struct reading *r, const char *path, const char *text)
{
    int conditions = r->conditions;
    // Comments go, and lines that end with a backslash are joined.
    struct str out = {0};
    bool in_comment = false;
    for (const char *at = text; *at; at++) {
        if (in_comment) {
            in_comment = !(at[0] == '*' && at[1] == '/');
            at += !in_comment;
        } else if (at[0] == '/' && at[1] == '*') {
            in_comment = true;
            str_add_char(&out, ' ');
            at++;
        } else if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n") - 1;
        } else if (at[0] == '\\' && (at[1] == '\n' || (at[1] == '\r' && at[2] == '\n'))) {
            at += at[1] == '\r' ? 2 : 1;
        } else if ((unsigned char)*at >= ' ' || *at == '\n') {
            str_add_char(&out, *at);
        } else {
            str_add_char(&out, ' ');
        }
    }
    char *plain = str_take(&out);
    scaffold_note(r->o, &r->o->files, path, NULL);
    r->depth++;
    for (char *line = plain, *next; *line; line = next) {
        size_t length = strcspn(line, "\n"), blanks = strspn(line, " ");
        next = line + length + (line[length] == '\n');
        line[length] = '\0';
        if (line[blanks] == '#')
            read_directive(r, line + blanks + 1 + strspn(line + blanks + 1, " "), path);
        else
            str_printf(&r->code.text, "%s\n", line);
        if (next > line + length)
            line[length] = '\n';
    }
    while (r->conditions > conditions)
        close_condition(r);
    r->depth--;
    free(plain);
}

void scaffold_read_lines(struct scaffold *o, const char *path, const char *text,
                         const char *const *folder, int folders, struct scaffold_lines *out)
{
    struct reading r = {.o = o, .folder = folder, .folders = folders};
    read_file(&r, path, text);
    *out = r.code;
}
