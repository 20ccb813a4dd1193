// Reads a shader for its scaffold. First lines: comments go, included files come in, conditions are
// followed. What is left is one text of code, with marks where code begins or ends whose condition
// does not hold. Then tokens: layouts, the declarations behind them, and words that nobody
// declares.
#include "script/scaffold_buffers.h"
#include "script/scaffold_words.h"

#include "base/file.h"
#include "space/image.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_FILES = 64,
    MOST_DEPTH = 16,
    MOST_BYTES = 1 << 20,
    MOST_CONDITIONS = 64,
    MOST_NAMES = 2000
};

#define LETTERS      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define WORD_LETTERS LETTERS "0123456789"

static int find_name(const struct scaffold_names *n, const char *text)
{
    for (int i = 0; i < n->count; i++)
        if (str_equal(n->item[i].text, text))
            return i;
    return -1;
}

static void add_name(struct scaffold *o, struct scaffold_names *n, const char *text,
                     const char *note)
{
    if (n->count == MOST_NAMES || find_name(n, text) >= 0)
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
    if (!is_built_in && find_name(&o->defined, name) < 0)
        add_name(o, &o->asked, name, NULL);
}

static const char *take_word(struct expression *x)
{
    size_t length = strspn(x->at, WORD_LETTERS);
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
        return find_name(&x->o->defined, name) >= 0;
    }
    if (!*word) {
        x->unknown = true;
        return 0;
    }
    int i = find_name(&x->o->defined, word);
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
    return find_name(&o->defined, word) >= 0;
}

// Evaluates the condition, and notes the macros that it asks for.
static bool evaluate(struct scaffold *o, const char *condition)
{
    int steps = MOST_STEPS;
    struct expression x = {.o = o, .at = condition, .asks = true, .steps = &steps};
    int64_t value = parse(&x, 0);
    while (*x.at) { // words that were not understood are asked for too
        x.at += strcspn(x.at, LETTERS);
        const char *word = take_word(&x);
        if (*word && !str_equal(word, "defined"))
            ask(o, word);
    }
    return value;
}

// --- files ---

// From the k-th mark on, where[k] is the condition that does not hold; NULL: all hold.
#define MARK '\x01'

struct marked_text {
    struct str text;
    const char **where;
    int marks, capacity;
};

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
    struct marked_text code;
};

static bool holds(const struct reading *r)
{
    return r->conditions == 0 || r->condition[r->conditions - 1].holds;
}

static void add_mark(struct arena *a, struct marked_text *t, const char *where)
{
    MEM_GROW(t->where, t->marks, t->capacity);
    t->where[t->marks++] = where ? arena_strdup(a, where) : NULL;
    str_add_char(&t->text, MARK);
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
    size_t length = strspn(at, WORD_LETTERS);
    if (!length || !holds(r))
        return;
    char *name = arena_printf(&r->o->arena, "%.*s", (int)length, at);
    const char *value = at + length + strspn(at + length, " ");
    int asked = find_name(&r->o->asked, name);
    add_name(r->o, &r->o->defined, name, at[length] == '(' ? "" : value);
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
        if (!text || length > MOST_BYTES)
            add_name(o, &o->missing, name, NULL);
        else if (find_name(&o->files, path) < 0)
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
    if (strncmp(line, name, length) != 0 || strchr(WORD_LETTERS, line[length] ? line[length] : ' '))
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
    add_name(r->o, &r->o->files, path, NULL);
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

// --- code ---

enum { MOST_TOKENS = 200000, MOST_SKIPPED = 20000, MOST_DECLARED = 500 };

struct token {
    const char *text;
    const char *where; // the condition that does not hold
};

struct code {
    struct scaffold *o;
    struct token *token; // ends with empty ones
    int count, capacity;
    struct scaffold_names declared; // structs, functions
};

static const char *text_at(const struct code *c, int i)
{
    return i >= 0 && i < c->count ? c->token[i].text : "";
}

static bool is_at(const struct code *c, int i, const char *text)
{
    return str_equal(text_at(c, i), text);
}

static bool is_word(const char *text)
{
    return *text && strchr(LETTERS, *text);
}

// Returns the token behind the bracket that closes the one at `i`.
static int skip(const struct code *c, int i)
{
    int depth = 0, last = i + MOST_SKIPPED;
    for (; i < c->count && i < last; i++) {
        depth += strchr("([{", *text_at(c, i)) != NULL;
        depth -= strchr(")]}", *text_at(c, i)) != NULL;
        if (depth <= 0)
            return i + 1;
    }
    return i;
}

// Returns the text from token `i` up to the first of `ends` outside of brackets, which `end`
// becomes.
static const char *text_until(struct code *c, int i, const char *ends, int *end)
{
    struct str s = {0};
    while (i < c->count && !strchr(ends, *text_at(c, i))) {
        int next = strchr("([{", *text_at(c, i)) ? skip(c, i) : i + 1;
        for (; i < next; i++)
            str_printf(&s, "%s%s", s.length && is_word(text_at(c, i)) ? " " : "", text_at(c, i));
    }
    *end = i;
    const char *kept = arena_strdup(&c->o->arena, str_text(&s));
    str_finish(&s);
    return kept;
}

struct layout {
    const char *binding, *constant, *set, *offset, *word; // the last one that has no value
    const char *size[3], *size_id[3];
    bool is_push, is_reference;
};

// Reads layout(...) from its bracket on; returns the token behind it.
static int read_layout(struct code *c, int i, struct layout *l)
{
    int end = skip(c, i), at = i + 1;
    *l = (struct layout){.binding = NULL};
    while (at < end - 1) {
        const char *name = text_at(c, at), *value = "";
        int next = at + 1;
        if (is_at(c, at + 1, "="))
            value = text_until(c, at + 2, ",)", &next);
        else
            text_until(c, at + 1, ",)", &next);
        static const char *const sizes[] = {"local_size_x", "local_size_y", "local_size_z"};
        static const char *const ids[] = {"local_size_x_id", "local_size_y_id", "local_size_z_id"};
        if (str_equal(name, "binding"))
            l->binding = value;
        if (str_equal(name, "set"))
            l->set = value;
        if (str_equal(name, "offset"))
            l->offset = value;
        if (str_equal(name, "constant_id"))
            l->constant = value;
        l->word = next == at + 1 ? name : l->word;
        l->is_push = l->is_push || str_equal(name, "push_constant");
        l->is_reference = l->is_reference || str_equal(name, "buffer_reference");
        for (int j = 0; j < 3; j++) {
            if (str_equal(name, sizes[j]))
                l->size[j] = value;
            if (str_equal(name, ids[j]))
                l->size_id[j] = value;
        }
        at = next + 1;
    }
    return end;
}

// Evaluates a sum or product of numbers and of macros that are numbers. -1: it is none, or it does
// not fit 32 bits.
static int64_t number_of(struct code *c, const char *text)
{
    int steps = MOST_STEPS;
    struct expression x = {.o = c->o, .at = text, .steps = &steps};
    if (!text)
        return -1;
    int64_t value = parse(&x, 0);
    bool is_number = !x.unknown && !x.at[strspn(x.at, " ")];
    return is_number && value >= 0 && value <= UINT32_MAX ? value : -1;
}

// Reads the members of a block from its bracket on, as fields of that block.
static int read_fields(struct code *c, int open, int block)
{
    struct scaffold *o = c->o;
    int end = skip(c, open);
    for (int k = open + 1, next; k < end - 1; k = next + 1) {
        struct layout l = {.offset = NULL};
        if (is_at(c, k, "layout"))
            k = read_layout(c, k + 1, &l);
        const char *type = text_at(c, k), *place = k < c->count ? c->token[k].where : NULL;
        int more = k + 1;
        do { // TYPE a, b;
            const char *field = text_until(c, more, ",;}", &next);
            if (is_word(field) && is_word(type)) {
                MEM_GROW(o->field, o->field_count, o->field_capacity);
                o->field[o->field_count++] =
                    (struct scaffold_field){field, type, block, number_of(c, l.offset), place};
            }
            more = next + 1;
        } while (is_at(c, next, ",") && more < end - 1);
    }
    return end;
}

// Reads NAME or NAME[COUNT]; returns how many descriptors that is, -1 where nobody knows.
static int64_t read_count(struct code *c, int name)
{
    int end;
    return is_at(c, name + 1, "[") ? number_of(c, text_until(c, name + 2, "]", &end)) : 1;
}

// Reads what is no block, from its word uniform on: QUALIFIERS TYPE NAME; a qualifier may be a
// macro.
static int read_resource(struct code *c, int at, struct scaffold_buffer b, const struct layout *l)
{
    struct scaffold *o = c->o;
    while (is_word(text_at(c, at + 3)))
        at++;
    const char *type = text_at(c, at + 1), *name = text_at(c, at + 2);
    b.count = read_count(c, at + 2);
    bool is_known = !l->word || texel_format_named(l->word) != TEXEL_COUNT;
    bool is_macro = !is_known && *l->word != 'r'; // as formats of GLSL begin
    if (str_equal(type, "sampler"))
        return at;
    if (!scaffold_is_image(type) || (!is_known && !is_macro) || b.count < 1) {
        add_name(o, &o->other, is_word(name) ? name : type, type);
        return at;
    }
    if (is_macro)
        add_name(o, &o->host, l->word, SCAFFOLD_ANY_FORMAT);
    b.name = b.word = name;
    b.type = b.image = type;
    b.format = l->word;
    b.is_read_only = b.is_read_only || !strstr(type, "image");
    MEM_GROW(o->buffer, o->buffer_count, o->buffer_capacity);
    o->buffer[o->buffer_count++] = b;
    return at;
}

// Reads QUALIFIERS buffer QUALIFIERS NAME { TYPE MEMBER ... } INSTANCE; and likewise push constants
// and uniform blocks.
static int read_block(struct code *c, int i, const struct layout *l)
{
    struct scaffold *o = c->o;
    bool is_read_only = false, is_write_only = false;
    const char *where = i < c->count ? c->token[i].where : NULL;
    int at = i, last = i - 1; // word: the block's name
    while (is_word(text_at(c, at)) && !is_at(c, at, "buffer") && !is_at(c, at, "uniform"))
        at++;
    for (; is_word(text_at(c, last + 1)); last++) {
        is_read_only = is_read_only || is_at(c, last + 1, "readonly");
        is_write_only = is_write_only || is_at(c, last + 1, "writeonly");
    }
    const char *kind = text_at(c, at), *name = text_at(c, last);
    bool is_block = at < last && is_at(c, last + 1, "{");
    int64_t set = l->set ? number_of(c, l->set) : 0;
    if (is_block && l->is_push)
        return read_fields(c, last + 1, -1);
    if (is_block && str_equal(kind, "uniform")) {
        MEM_GROW(o->block, o->block_count, o->block_capacity);
        o->block[o->block_count++] =
            (struct scaffold_block){name, set, number_of(c, l->binding), where};
        return read_fields(c, last + 1, o->block_count - 1);
    }
    if (is_block && str_equal(kind, "buffer")) {
        int end = skip(c, last + 1), member = last + 2;
        while (is_word(text_at(c, member + 1)))
            member++; // behind qualifiers and the type
        bool is_named = is_word(text_at(c, end));
        int64_t count = is_named ? read_count(c, end) : 1;
        if (count < 1 && !where) {
            add_name(o, &o->other, text_at(c, end), "buffer");
            return end;
        }
        MEM_GROW(o->buffer, o->buffer_count, o->buffer_capacity);
        o->buffer[o->buffer_count++] =
            (struct scaffold_buffer){.name = name,
                                     .type = text_at(c, member - 1),
                                     .set = set,
                                     .binding = l->is_reference ? -1 : number_of(c, l->binding),
                                     .is_read_only = is_read_only,
                                     .is_write_only = is_write_only,
                                     .word = text_at(c, is_named ? end : member),
                                     .count = count,
                                     .by_address = l->is_reference,
                                     .where = where};
        if (l->is_reference)
            add_name(o, &c->declared, name, NULL);
        return end;
    }
    struct scaffold_buffer image = {.set = set, .binding = number_of(c, l->binding)};
    image.is_read_only = is_read_only;
    image.is_write_only = is_write_only;
    return is_word(kind) && !where ? read_resource(c, at, image, l) : at;
}

// Notes if the access that begins at token `i` reads, and if it writes.
static void note_access(const struct code *c, int i, struct scaffold_buffer *b)
{
    if (is_at(c, i + 1, "[") && is_at(c, i + 2, "]"))
        return; // its declaration
    if (b->image) {
        const char *call = is_at(c, i - 1, "(") ? text_at(c, i - 2) : "";
        bool is_query = str_equal(call, "imageSize") || str_equal(call, "textureSize");
        bool is_atomic = str_starts(call, "imageAtomic"), is_store = str_equal(call, "imageStore");
        b->is_written = b->is_written || is_atomic || is_store;
        b->is_read = b->is_read || (*call && !is_query && !is_store);
        return;
    }
    bool in_atomic = is_at(c, i - 1, "(") && str_starts(text_at(c, i - 2), "atomic");
    int j = i + 1;
    while (is_at(c, j, "[") || (is_at(c, j, ".") && is_word(text_at(c, j + 1))))
        j = is_at(c, j, ".") ? j + 2 : skip(c, j);
    if (j == i + 1)
        return; // not an element: a declaration, or an argument
    const char *sign = text_at(c, j), *next = text_at(c, j + 1);
    bool is_assigned = *sign == '=' && *next != '=';
    bool is_changed = *sign && strchr("+-*/%&|^", *sign) && (*next == '=' || *next == *sign);
    b->is_written = b->is_written || is_assigned || is_changed || in_atomic;
    b->is_read = b->is_read || !is_assigned || in_atomic;
}

static void note_accesses(struct code *c)
{
    for (int i = 0; i < c->count; i++)
        for (int k = 0; k < c->o->buffer_count; k++) {
            struct scaffold_buffer *b = &c->o->buffer[k];
            bool is_member = b->by_address || !is_at(c, i - 1, ".");
            if (is_member && str_equal(b->word, text_at(c, i)))
                note_access(c, i, b);
        }
}

static int read_declaration(struct code *c, int i)
{
    struct layout l;
    int at = read_layout(c, i + 1, &l);
    if (l.constant) { // const TYPE NAME = VALUE ;
        struct scaffold *o = c->o;
        int first = at + is_at(c, at, "const"), end;
        const char *type = text_at(c, first), *name = text_at(c, first + 1), *standard = "";
        if (!is_word(type) || !is_word(name))
            return at;
        text_until(c, first + 2, "=;", &end);
        if (is_at(c, end, "="))
            standard = text_until(c, end + 1, ";", &end);
        MEM_GROW(o->constant, o->constant_count, o->constant_capacity);
        o->constant[o->constant_count++] = (struct scaffold_constant){
            name, type, standard, number_of(c, l.constant), c->token[at].where};
        return end;
    }
    if (l.binding || l.is_push || l.is_reference)
        return read_block(c, at, &l);
    for (int k = 0; k < 3; k++) {
        if (l.size[k])
            c->o->size[k] = l.size[k];
        if (l.size_id[k])
            c->o->size_id[k] = number_of(c, l.size_id[k]);
    }
    return at;
}

// --- undeclared words ---

void scaffold_read_text(struct scaffold *o, const char *path, const char *text,
                        const char *const *folder, int folders)
{
    struct reading r = {.o = o, .folder = folder, .folders = folders};
    *o = (struct scaffold){.size_id = {-1, -1, -1}};
    arena_init(&o->arena);
    read_file(&r, path, text);
    struct code c = {.o = o};
    // Tokens are words, numbers and single characters.
    const char *where = NULL;
    int marks = 0;
    for (const char *at = str_text(&r.code.text); *at && c.count < MOST_TOKENS;) {
        size_t length = strspn(at, WORD_LETTERS);
        if (*at == MARK && marks < r.code.marks)
            where = r.code.where[marks++];
        if (!length && (isspace((unsigned char)*at) || *at == MARK)) {
            at++;
            continue;
        }
        length += length == 0;
        MEM_GROW(c.token, c.count, c.capacity);
        c.token[c.count++] =
            (struct token){arena_printf(&c.o->arena, "%.*s", (int)length, at), where};
        at += length;
    }
    o->is_cut = c.count == MOST_TOKENS;
    for (int i = 0; i + 1 < c.count && c.declared.count < MOST_DECLARED; i++) {
        const char *word = text_at(&c, i + 1);
        if (!is_word(text_at(&c, i)) || !is_word(word))
            continue;
        bool is_struct = is_at(&c, i, "struct");
        bool is_function = is_at(&c, i + 2, "(") && !scaffold_is_keyword(text_at(&c, i)) &&
                           is_at(&c, skip(&c, i + 2), "{");
        if (is_struct || is_function || (is_at(&c, i, "void") && is_at(&c, i + 2, "(")))
            add_name(c.o, &c.declared, word, NULL);
    }
    for (int i = 0; i < c.count;) {
        int next =
            is_at(&c, i, "layout") && is_at(&c, i + 1, "(") ? read_declaration(&c, i) : i + 1;
        i = next > i ? next : i + 1;
    }
    note_accesses(&c);
    // A word before a word is a type; a word before a bracket is a function.
    for (int i = 0; i + 1 < c.count && c.o->host.count < MOST_DECLARED; i++) {
        const char *word = text_at(&c, i), *next = text_at(&c, i + 1);
        bool is_used = (is_word(next) && !scaffold_is_keyword(next)) || *next == '(';
        if (!is_used || !is_word(word) || is_at(&c, i - 1, ".") || c.token[i].where)
            continue;
        bool is_known = scaffold_is_keyword(word) || scaffold_is_built_in(word) ||
                        find_name(&o->defined, word) >= 0 || find_name(&c.declared, word) >= 0;
        if (!is_known)
            add_name(c.o, &c.o->host, word, *next == '(' ? "()" : NULL);
    }
    free(c.declared.item);
    free(c.token);
    str_finish(&r.code.text);
    free(r.code.where);
    r.code = (struct marked_text){.marks = 0};
}

bool scaffold_read(struct scaffold *o, const char *path, const char *const *folder, int folders,
                   struct err *e)
{
    char *text;
    size_t length;
    *o = (struct scaffold){.size_id = {-1, -1, -1}};
    if (!file_read(path, &text, &length, e))
        return false;
    bool ok = (length <= MOST_BYTES && strlen(text) == length) ||
              err_at(e, path, 0, "no text of GLSL (adopt reads shaders of at most %d KiB)",
                     MOST_BYTES >> 10);
    if (ok) {
        scaffold_read_text(o, path, text, folder, folders);
        ok = !o->is_cut ||
             err_at(e, path, 0, "more code than adopt reads (%d words and signs)", MOST_TOKENS);
        if (!ok)
            scaffold_finish(o);
    }
    free(text);
    return ok;
}

void scaffold_finish(struct scaffold *o)
{
    struct scaffold_names *const names[] = {&o->files,   &o->missing, &o->asked,
                                            &o->defined, &o->host,    &o->other};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        free(names[i]->item);
    free(o->constant);
    free(o->buffer);
    free(o->field);
    free(o->block);
    arena_finish(&o->arena);
    *o = (struct scaffold){0};
}
