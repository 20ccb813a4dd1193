// Lines first: comments go, files that are included come in, conditions are followed. What is left
// is one text of code, in which a byte says where what does not hold begins and ends.

#include "script/outline.h"

#include "base/file.h"
#include "script/outline_condition.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// The code of a shader as outline.c leaves it, and the declarations in it.

// From the k-th OUTLINE_MARK on, where[k] is the condition that does not hold; NULL: all do.
#define OUTLINE_MARK '\x01'

struct outline_text {
    struct str text;
    const char **where;
    int marks, capacity;
};

// Token by token: layout(...) and what it is said of, and which words nobody has declared.

enum { MOST_TOKENS = 200000, MOST_SKIPPED = 20000, MOST_DECLARED = 500 };

struct token {
    const char *text;
    const char *where; // the condition that does not hold
};

struct code {
    struct outline *o;
    struct token *token; // ends with empty ones
    int count, capacity;
    struct outline_names declared; // structs, functions
};

static void outline_text_mark(struct arena *a, struct outline_text *t, const char *where)
{
    MEM_GROW(t->where, t->marks, t->capacity);
    t->where[t->marks++] = where ? arena_strdup(a, where) : NULL;
    str_add_char(&t->text, OUTLINE_MARK);
}

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
    return *text && strchr(OUTLINE_LETTERS, *text);
}

// Behind the bracket that closes the one at `i`.
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

// The text of tokens from `i` to before the first of `ends` outside of brackets, which `*end` gets.
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
    const char *binding, *constant, *set;
    const char *size[3], *size_id[3];
    bool is_push;
};

// At the bracket of layout(...); returns what is behind it.
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
        if (str_equal(name, "constant_id"))
            l->constant = value;
        l->is_push = l->is_push || str_equal(name, "push_constant");
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

static int64_t number_of(struct code *c, const char *text)
{
    int64_t value;
    return text && outline_number(c->o, text, &value) && value >= 0 && value <= UINT32_MAX ? value
                                                                                           : -1;
}

// const TYPE NAME = VALUE ;
static int read_constant(struct code *c, int i, const struct layout *l)
{
    struct outline *o = c->o;
    int at = i + is_at(c, i, "const"), end;
    const char *type = text_at(c, at), *name = text_at(c, at + 1), *standard = "";
    if (!is_word(type) || !is_word(name))
        return i;
    text_until(c, at + 2, "=;", &end);
    if (is_at(c, end, "="))
        standard = text_until(c, end + 1, ";", &end);
    MEM_GROW(o->constant, o->constant_count, o->constant_capacity);
    o->constant[o->constant_count++] = (struct outline_constant){
        name, type, standard, number_of(c, l->constant), c->token[i].where};
    return end;
}

static void read_fields(struct code *c, int i, int end)
{
    struct outline *o = c->o;
    while (i < end) {
        struct layout ignored;
        if (is_at(c, i, "layout"))
            i = read_layout(c, i + 1, &ignored);
        const char *type = text_at(c, i), *where = i < c->count ? c->token[i].where : NULL;
        int next, more = i + 1;
        do { // TYPE a, b;
            const char *name = text_until(c, more, ",;}", &next);
            if (is_word(name) && is_word(type)) {
                MEM_GROW(o->field, o->field_count, o->field_capacity);
                o->field[o->field_count++] = (struct outline_field){name, type, where};
            }
            more = next + 1;
        } while (is_at(c, next, ",") && more < end);
        i = next + 1;
    }
}

// QUALIFIERS buffer NAME { TYPE ...
static int read_block(struct code *c, int i, const struct layout *l)
{
    struct outline *o = c->o;
    bool is_read_only = false;
    const char *where = i < c->count ? c->token[i].where : NULL;
    int at = i;
    for (; is_word(text_at(c, at)) && !is_at(c, at, "buffer") && !is_at(c, at, "uniform"); at++)
        is_read_only = is_read_only || is_at(c, at, "readonly");
    const char *kind = text_at(c, at), *name = text_at(c, at + 1);
    bool is_block = is_word(kind) && is_word(name) && is_at(c, at + 2, "{");
    if (is_block && l->is_push) {
        int end = skip(c, at + 2);
        read_fields(c, at + 3, end - 1);
        return end;
    }
    if (is_block && str_equal(kind, "buffer") && (!l->set || number_of(c, l->set) == 0)) {
        MEM_GROW(o->buffer, o->buffer_count, o->buffer_capacity);
        o->buffer[o->buffer_count++] = (struct outline_buffer){
            name, text_at(c, at + 3), number_of(c, l->binding), is_read_only, where};
        return skip(c, at + 2);
    }
    if (is_word(kind))
        outline_add(o, &o->other, name, kind);
    return at;
}

static int read_declaration(struct code *c, int i)
{
    struct layout l;
    int at = read_layout(c, i + 1, &l);
    if (l.constant)
        return read_constant(c, at, &l);
    if (l.binding || l.is_push)
        return read_block(c, at, &l);
    for (int k = 0; k < 3; k++) {
        if (l.size[k])
            c->o->size[k] = l.size[k];
        if (l.size_id[k])
            c->o->size_id[k] = number_of(c, l.size_id[k]);
    }
    return at;
}

// --- what nobody declares ---

static const char keywords[] =
    " attribute break buffer case centroid coherent const continue default discard do else flat "
    "for highp "
    "if in inout invariant layout lowp mediump noperspective out patch precise precision readonly "
    "restrict return sample shared smooth struct subroutine switch uniform void volatile while "
    "writeonly true false main length defined ";
static const char functions[] =
    " abs acos acosh all any asin asinh atan atanh barrier bitCount ceil clamp cos cosh cross "
    "degrees determinant distance dot equal exp exp2 faceforward floor fma fract frexp "
    "greaterThan greaterThanEqual inverse inversesqrt isinf isnan ldexp lessThan lessThanEqual "
    "log log2 matrixCompMult max min mix mod modf normalize not notEqual outerProduct pow radians "
    "reflect refract round roundEven sign sin sinh smoothstep sqrt step tan tanh transpose trunc "
    "umulExtended imulExtended uaddCarry usubBorrow groupMemoryBarrier controlBarrier ";
static const char *const prefixes[] = {
    "gl_",   "float",   "int",         "uint",    "bool",          "double",   "vec",
    "ivec",  "uvec",    "bvec",        "dvec",    "f16",           "f32",      "f64",
    "i8",    "u8",      "i16",         "u16",     "i32",           "u32",      "i64",
    "u64",   "mat",     "dmat",        "coopmat", "fcoopmat",      "subgroup", "atomic",
    "pack",  "unpack",  "bitfield",    "find",    "memoryBarrier", "texel",    "texture",
    "image", "sampler", "debugPrintf", "coopMat", "bfloat",        "fe4m3",    "fe5m2",
    NULL};

static bool is_listed(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at++)
        if (at > list && at[-1] == ' ' && at[length] == ' ')
            return true;
    return false;
}

static bool is_known(const struct code *c, const char *word)
{
    for (int i = 0; prefixes[i]; i++)
        if (str_starts(word, prefixes[i]))
            return true;
    return is_listed(keywords, word) || is_listed(functions, word) ||
           outline_find(&c->o->defined, word) >= 0 || outline_find(&c->declared, word) >= 0;
}

static void outline_read_code(struct outline *o, const struct outline_text *t)
{
    struct code c = {.o = o};
    // Words, numbers, and single characters.
    const char *where = NULL;
    int marks = 0;
    for (const char *at = str_text(&t->text); *at && c.count < MOST_TOKENS;) {
        size_t length = strspn(at, OUTLINE_WORD);
        if (*at == OUTLINE_MARK && marks < t->marks)
            where = t->where[marks++];
        if (!length && (isspace((unsigned char)*at) || *at == OUTLINE_MARK)) {
            at++;
            continue;
        }
        length += length == 0;
        MEM_GROW(c.token, c.count, c.capacity);
        c.token[c.count++] =
            (struct token){arena_printf(&c.o->arena, "%.*s", (int)length, at), where};
        at += length;
    }
    for (int i = 0; i + 1 < c.count && c.declared.count < MOST_DECLARED; i++) {
        const char *word = text_at(&c, i + 1);
        if (!is_word(text_at(&c, i)) || !is_word(word))
            continue;
        bool is_struct = is_at(&c, i, "struct");
        bool is_function = is_at(&c, i + 2, "(") && !is_listed(keywords, text_at(&c, i)) &&
                           is_at(&c, skip(&c, i + 2), "{");
        if (is_struct || is_function || (is_at(&c, i, "void") && is_at(&c, i + 2, "(")))
            outline_add(c.o, &c.declared, word, NULL);
    }
    for (int i = 0; i < c.count;) {
        int next =
            is_at(&c, i, "layout") && is_at(&c, i + 1, "(") ? read_declaration(&c, i) : i + 1;
        i = next > i ? next : i + 1;
    }
    // A word before a word is a type, one before a bracket a function.
    for (int i = 0; i + 1 < c.count && c.o->host.count < MOST_DECLARED; i++) {
        const char *word = text_at(&c, i), *next = text_at(&c, i + 1);
        bool is_used = (is_word(next) && !is_listed(keywords, next)) || *next == '(';
        bool is_member = is_at(&c, i - 1, ".");
        if (is_word(word) && is_used && !is_member && !c.token[i].where && !is_known(&c, word))
            outline_add(c.o, &c.o->host, word, *next == '(' ? "()" : NULL);
    }
    free(c.declared.item);
    free(c.token);
}

enum {
    MOST_FILES = 64,
    MOST_DEPTH = 16,
    MOST_BYTES = 1 << 20,
    MOST_CONDITIONS = 64,
    MOST_NAMES = 2000
};

struct condition {
    const char *text;
    bool holds, held, around; // now; this branch or one before; all around it
};

struct reading {
    struct outline *o;
    const char *const *folder;
    int folders, depth;
    struct condition condition[MOST_CONDITIONS];
    int conditions;
    struct outline_text code;
};

int outline_find(const struct outline_names *n, const char *text)
{
    for (int i = 0; i < n->count; i++)
        if (str_equal(n->item[i].text, text))
            return i;
    return -1;
}

void outline_add(struct outline *o, struct outline_names *n, const char *text, const char *note)
{
    if (n->count == MOST_NAMES || outline_find(n, text) >= 0)
        return;
    MEM_GROW(n->item, n->count, n->capacity);
    n->item[n->count++] = (struct outline_name){arena_strdup(&o->arena, text),
                                                note ? arena_strdup(&o->arena, note) : NULL};
}

static bool holds(const struct reading *r)
{
    return r->conditions == 0 || r->condition[r->conditions - 1].holds;
}

static void mark(struct reading *r, bool before)
{
    if (before == holds(r))
        return;
    outline_text_mark(&r->o->arena, &r->code,
                      holds(r) ? NULL : r->condition[r->conditions - 1].text);
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
    if (before && !now) // what did not hold until here ends another region
        outline_text_mark(&r->o->arena, &r->code, text);
    else if (now && !before)
        outline_text_mark(&r->o->arena, &r->code, NULL);
    else if (!now)
        outline_text_mark(&r->o->arena, &r->code, text);
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
    size_t length = strspn(at, OUTLINE_WORD);
    if (!length || !holds(r))
        return;
    char *name = arena_printf(&r->o->arena, "%.*s", (int)length, at);
    const char *value = at + length + strspn(at + length, " ");
    int asked = outline_find(&r->o->asked, name);
    outline_add(r->o, &r->o->defined, name, at[length] == '(' ? "" : value);
    if (asked >= 0 && *value && !r->o->asked.item[asked].note) // #ifndef X, #define X 1
        r->o->asked.item[asked].note = arena_strdup(&r->o->arena, value);
}

static void read_file(struct reading *r, const char *path, const char *text);

static void include(struct reading *r, const char *at, const char *from)
{
    const char *end = *at == '"' ? "\"" : *at == '<' ? ">" : NULL;
    struct outline *o = r->o;
    char *here = path_folder(from), *path = NULL, *text = NULL;
    if (end && holds(r) && r->depth < MOST_DEPTH && o->files.count < MOST_FILES) {
        char *name = arena_printf(&o->arena, "%.*s", (int)strcspn(at + 1, end), at + 1);
        struct err ignored; // it is told of as missing
        size_t length;
        for (int i = -1; !text && i < r->folders; i++) {
            free(path);
            path = path_join(i < 0 ? here : r->folder[i], name);
            if (!file_is_regular(path) || !file_read(path, &text, &length, &ignored))
                text = NULL;
        }
        if (!text || length > MOST_BYTES)
            outline_add(o, &o->missing, name, NULL);
        else if (outline_find(&o->files, path) < 0)
            read_file(r, path, text);
    }
    free(text);
    free(path);
    free(here);
}

// Whether `line` is "#name": the rest behind blanks.
static const char *after(const char *line, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(line, name, length) != 0 || strchr(OUTLINE_WORD, line[length] ? line[length] : ' '))
        return NULL;
    return line + length + strspn(line + length, " ");
}

static void read_directive(struct reading *r, const char *line, const char *from)
{
    struct outline *o = r->o;
    const char *rest;
    if ((rest = after(line, "ifdef")))
        open_condition(r, rest, outline_asks(o, rest));
    else if ((rest = after(line, "ifndef")))
        open_condition(r, arena_printf(&o->arena, "not %s", rest), !outline_asks(o, rest));
    else if ((rest = after(line, "if")))
        open_condition(r, rest, outline_evaluate(o, rest));
    else if ((rest = after(line, "elif")))
        next_branch(r, rest, outline_evaluate(o, rest));
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
    // Without comments and with lines joined that a backslash joins; as many lines remain.
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
    outline_add(r->o, &r->o->files, path, NULL);
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

void outline_read_text(struct outline *o, const char *path, const char *text,
                       const char *const *folder, int folders)
{
    struct reading r = {.o = o, .folder = folder, .folders = folders};
    *o = (struct outline){.size_id = {-1, -1, -1}};
    arena_init(&o->arena);
    read_file(&r, path, text);
    outline_read_code(o, &r.code);
    str_finish(&r.code.text);
    free(r.code.where);
    r.code = (struct outline_text){.marks = 0};
}

bool outline_read(struct outline *o, const char *path, const char *const *folder, int folders,
                  struct err *e)
{
    char *text;
    size_t length;
    *o = (struct outline){.size_id = {-1, -1, -1}};
    if (!file_read(path, &text, &length, e))
        return false;
    bool ok = (length <= MOST_BYTES && strlen(text) == length) ||
              err_at(e, path, 0, "no text of GLSL (adopt reads shaders of at most %d KiB)",
                     MOST_BYTES >> 10);
    if (ok)
        outline_read_text(o, path, text, folder, folders);
    free(text);
    return ok;
}

void outline_finish(struct outline *o)
{
    struct outline_names *const names[] = {&o->files,   &o->missing, &o->asked,
                                           &o->defined, &o->host,    &o->other};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        free(names[i]->item);
    free(o->constant);
    free(o->buffer);
    free(o->field);
    arena_finish(&o->arena);
    *o = (struct outline){0};
}
