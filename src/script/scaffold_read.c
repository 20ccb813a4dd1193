// Reads a shader for its scaffold, behind its lines (scaffold_lines.h): tokens, layouts, the
// declarations behind them, and words that nobody declares.
#include "script/scaffold_buffers.h"
#include "script/scaffold_lines.h"
#include "script/scaffold_words.h"

#include "base/file.h"
#include "space/image.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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
    return *text && strchr(SCAFFOLD_LETTERS, *text);
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
                o->field[o->field_count++] = (struct scaffold_field){
                    field, type, block, scaffold_number(c->o, l.offset), place};
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
    return is_at(c, name + 1, "[") ? scaffold_number(c->o, text_until(c, name + 2, "]", &end)) : 1;
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
        scaffold_note(o, &o->other, is_word(name) ? name : type, type);
        return at;
    }
    if (is_macro)
        scaffold_note(o, &o->host, l->word, SCAFFOLD_ANY_FORMAT);
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
    int64_t set = l->set ? scaffold_number(c->o, l->set) : 0;
    if (is_block && l->is_push)
        return read_fields(c, last + 1, -1);
    if (is_block && str_equal(kind, "uniform")) {
        MEM_GROW(o->block, o->block_count, o->block_capacity);
        o->block[o->block_count++] =
            (struct scaffold_block){name, set, scaffold_number(c->o, l->binding), where};
        return read_fields(c, last + 1, o->block_count - 1);
    }
    if (is_block && str_equal(kind, "buffer")) {
        int end = skip(c, last + 1), member = last + 2;
        while (is_word(text_at(c, member + 1)))
            member++; // behind qualifiers and the type
        bool is_named = is_word(text_at(c, end));
        int64_t count = is_named ? read_count(c, end) : 1;
        if (count < 1 && !where) {
            scaffold_note(o, &o->other, text_at(c, end), "buffer");
            return end;
        }
        MEM_GROW(o->buffer, o->buffer_count, o->buffer_capacity);
        o->buffer[o->buffer_count++] = (struct scaffold_buffer){
            .name = name,
            .type = text_at(c, member - 1),
            .set = set,
            .binding = l->is_reference ? -1 : scaffold_number(c->o, l->binding),
            .is_read_only = is_read_only,
            .is_write_only = is_write_only,
            .word = text_at(c, is_named ? end : member),
            .count = count,
            .by_address = l->is_reference,
            .where = where};
        if (l->is_reference)
            scaffold_note(o, &c->declared, name, NULL);
        return end;
    }
    struct scaffold_buffer image = {.set = set, .binding = scaffold_number(c->o, l->binding)};
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
            name, type, standard, scaffold_number(c->o, l.constant), c->token[at].where};
        return end;
    }
    if (l.binding || l.is_push || l.is_reference)
        return read_block(c, at, &l);
    for (int k = 0; k < 3; k++) {
        if (l.size[k])
            c->o->size[k] = l.size[k];
        if (l.size_id[k])
            c->o->size_id[k] = scaffold_number(c->o, l.size_id[k]);
    }
    return at;
}

// --- undeclared words ---

static bool is_macro_name(const char *word)
{
    return is_word(word) && word[1] && !word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")];
}

// True: the word at token `i` is declared there, behind its type or behind a comma.
static bool is_declared_at(const struct code *c, int i, int depth)
{
    const char *before = text_at(c, i - 1);
    return (is_word(before) && !str_equal(before, "return") && !str_equal(before, "case") &&
            !str_equal(before, "else")) ||
           *before == ']' || *before == '}' || (*before == ',' && depth == 0);
}

// Notes words in capitals that stand in expressions and that nothing declares: macros of the host,
// which are numbers.
static void note_numbers(struct code *c)
{
    struct scaffold *o = c->o;
    int depth = 0;
    for (int i = 0; i < c->count && c->declared.count < MOST_DECLARED; i++) {
        depth += *text_at(c, i) == '(';
        depth -= *text_at(c, i) == ')';
        if (is_macro_name(text_at(c, i)) && is_declared_at(c, i, depth))
            scaffold_note(o, &c->declared, text_at(c, i), NULL);
    }
    for (int i = 0; i < c->count && o->host.count < MOST_DECLARED; i++) {
        const char *word = text_at(c, i), *next = text_at(c, i + 1);
        if (is_macro_name(word) && !strstr(word, "TYPE") && *next != '(' && !is_word(next) &&
            !is_at(c, i - 1, ".") && !c->token[i].where && !scaffold_is_built_in(word) &&
            scaffold_find_name(&o->defined, word) < 0 &&
            scaffold_find_name(&o->elsewhere, word) < 0 &&
            scaffold_find_name(&c->declared, word) < 0)
            scaffold_note(o, &o->host, word, SCAFFOLD_ANY_NUMBER);
    }
}

void scaffold_read_text(struct scaffold *o, const char *path, const char *text,
                        const char *const *folder, int folders)
{
    struct scaffold_lines lines;
    *o = (struct scaffold){.size_id = {-1, -1, -1}};
    arena_init(&o->arena);
    scaffold_read_lines(o, path, text, folder, folders, &lines);
    struct code c = {.o = o};
    // Tokens are words, numbers and single characters.
    const char *where = NULL;
    int marks = 0;
    for (const char *at = str_text(&lines.text); *at && c.count < MOST_TOKENS;) {
        size_t length = strspn(at, SCAFFOLD_WORD);
        if (*at == SCAFFOLD_MARK && marks < lines.marks)
            where = lines.where[marks++];
        if (!length && (isspace((unsigned char)*at) || *at == SCAFFOLD_MARK)) {
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
            scaffold_note(c.o, &c.declared, word, NULL);
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
                        scaffold_find_name(&o->defined, word) >= 0 ||
                        scaffold_find_name(&c.declared, word) >= 0;
        if (!is_known)
            scaffold_note(c.o, &c.o->host, word, *next == '(' ? "()" : NULL);
    }
    note_numbers(&c);
    free(c.declared.item);
    free(c.token);
    str_finish(&lines.text);
    free(lines.where);
}

bool scaffold_read(struct scaffold *o, const char *path, const char *const *folder, int folders,
                   struct err *e)
{
    char *text;
    size_t length;
    *o = (struct scaffold){.size_id = {-1, -1, -1}};
    if (!file_read(path, &text, &length, e))
        return false;
    bool ok = (length <= SCAFFOLD_MOST_BYTES && strlen(text) == length) ||
              err_at(e, path, 0, "no text of GLSL (adopt reads shaders of at most %d KiB)",
                     SCAFFOLD_MOST_BYTES >> 10);
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
    struct scaffold_names *const names[] = {&o->files,   &o->missing, &o->asked, &o->elsewhere,
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
