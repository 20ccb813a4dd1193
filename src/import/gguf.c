#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"
#include "import/import.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Reads the header of a GGUF file (the entries about the model and the table of tensors) and writes
// the matrix products of a language model as a network file.

enum { GGUF_MAX_RANK = 4 };

struct gguf_type {
    const char *name; // "q4_K"; NULL: a number that is not in use
    int block, bytes; // elements of a block, and its bytes
};

struct gguf_tensor {
    const char *name;
    const struct gguf_type *type;
    int rank;
    int64_t size[GGUF_MAX_RANK]; // fastest first; 1 where there is none
    uint64_t offset, bytes;      // behind the header
};

struct gguf {
    const char *architecture, *name; // "llama"; "" where the file has none
    uint64_t blocks, experts_used;   // 0 where the file has none
    uint64_t parts;                  // into which the model is split; 0: it is whole
    struct gguf_tensor *tensor;      // in the file's order, no name twice
    int count;
    bool has_data; // else the file ends with its header
    struct arena arena;
};

// GGUF, little endian, versions 2 and 3: "GGUF", the version, the numbers of tensors and entries;
// the entries (a key, a type, a value); the tensors (a name, sizes, a type, the offset of the
// data); then, aligned, the data, which are not read.

enum {
    MOST_TENSORS = 1 << 16,
    MOST_ENTRIES = 1 << 16,
    MOST_NAME = 1024,
    MOST_DEPTH = 4, // of lists in lists
    MOST_ALIGNMENT = 1 << 20,
    LEAST_TENSOR = 24, // bytes of one in the table
    LEAST_ENTRY = 13,
};
static const uint64_t most_header = 1 << 30;

static const struct gguf_type types[] = {
    [0] = {"f32", 1, 4},         [1] = {"f16", 1, 2},         [2] = {"q4_0", 32, 18},
    [3] = {"q4_1", 32, 20},      [6] = {"q5_0", 32, 22},      [7] = {"q5_1", 32, 24},
    [8] = {"q8_0", 32, 34},      [9] = {"q8_1", 32, 36},      [10] = {"q2_K", 256, 84},
    [11] = {"q3_K", 256, 110},   [12] = {"q4_K", 256, 144},   [13] = {"q5_K", 256, 176},
    [14] = {"q6_K", 256, 210},   [15] = {"q8_K", 256, 292},   [16] = {"iq2_xxs", 256, 66},
    [17] = {"iq2_xs", 256, 74},  [18] = {"iq3_xxs", 256, 98}, [19] = {"iq1_s", 256, 50},
    [20] = {"iq4_nl", 32, 18},   [21] = {"iq3_s", 256, 110},  [22] = {"iq2_s", 256, 82},
    [23] = {"iq4_xs", 256, 136}, [24] = {"i8", 1, 1},         [25] = {"i16", 1, 2},
    [26] = {"i32", 1, 4},        [27] = {"i64", 1, 8},        [28] = {"f64", 1, 8},
    [29] = {"iq1_m", 256, 56},   [30] = {"bf16", 1, 2},       [34] = {"tq1_0", 256, 54},
    [35] = {"tq2_0", 256, 66},   [39] = {"mxfp4", 32, 17},    [40] = {"nvfp4", 64, 36},
    [41] = {"q1_0", 128, 18},
};
enum { TYPES = sizeof types / sizeof *types };

// --- bytes ---

struct reader {
    int fd;
    uint64_t at, end; // in the file; a header ends before `end`
    unsigned char buffer[1 << 16];
    uint64_t first; // of the bytes in the buffer
    size_t filled;
    const char *what; // the part that is read: "entry", its number and its name
    int64_t number;
    const char *name; // NULL: not read yet
    struct err *err;
};

// Adds the part of the file to the error: "tensor 3 'output.weight': ...".
static bool wrong(struct reader *r)
{
    if (r->name)
        return err_prefix(r->err, "%s %" PRId64 " '%s'", r->what, r->number, r->name);
    return r->what ? err_prefix(r->err, "%s %" PRId64, r->what, r->number) : false;
}

static uint64_t rest(const struct reader *r)
{
    return r->end - r->at;
}

static bool too_short(struct reader *r, uint64_t wanted, const char *of)
{
    return err_set(r->err,
                   "%s of %" PRIu64 " bytes at byte %" PRIu64 ", where %" PRIu64 " are left%s", of,
                   wanted, r->at, rest(r),
                   r->end == most_header ? " of 1 GiB" : " (is it cut off?)") ||
           wrong(r);
}

static bool take(struct reader *r, void *out, size_t bytes, const char *of)
{
    char *to = out;
    if (bytes > rest(r))
        return too_short(r, bytes, of);
    while (bytes > 0) {
        if (r->at < r->first || r->at >= r->first + r->filled) {
            ssize_t got;
            do
                got = pread(r->fd, r->buffer, sizeof r->buffer, (off_t)r->at);
            while (got < 0 && errno == EINTR);
            if (got <= 0)
                return err_set(r->err, "%s",
                               got < 0 ? strerror(errno) : "it became shorter meanwhile");
            r->first = r->at;
            r->filled = (size_t)got;
        }
        size_t from = (size_t)(r->at - r->first), some = r->filled - from;
        some = some < bytes ? some : bytes;
        memcpy(to, r->buffer + from, some);
        to += some;
        r->at += some;
        bytes -= some;
    }
    return true;
}

static bool skip(struct reader *r, uint64_t bytes, const char *of)
{
    if (bytes > rest(r))
        return too_short(r, bytes, of);
    r->at += bytes;
    return true;
}

static bool take_number(struct reader *r, int bytes, uint64_t *out, const char *of)
{
    unsigned char b[8];
    if (!take(r, b, (size_t)bytes, of))
        return false;
    *out = 0;
    for (int i = bytes - 1; i >= 0; i--)
        *out = *out << 8 | b[i];
    return true;
}

// Reads a text of at most MOST_NAME bytes.
static bool take_name(struct reader *r, struct arena *a, const char **out)
{
    uint64_t length;
    if (!take_number(r, 8, &length, "a text's length"))
        return false;
    if (length > rest(r))
        return too_short(r, length, "a text");
    if (length > MOST_NAME)
        return err_set(r->err, "its name has %" PRIu64 " bytes (the most is %d)", length,
                       MOST_NAME) ||
               wrong(r);
    char *text = arena_zero(a, (size_t)length + 1, 1);
    *out = text;
    if (!take(r, text, (size_t)length, "a text"))
        return false;
    if (strlen(text) != length)
        return err_set(r->err, "its name has a zero byte") || wrong(r);
    return true;
}

// --- entries ---

enum { VALUE_TEXT = 8, VALUE_LIST = 9, VALUES = 13 };

static bool skip_text(struct reader *r)
{
    uint64_t length;
    return take_number(r, 8, &length, "a text's length") && skip(r, length, "a text");
}

static bool skip_list(struct reader *r, int depth)
{
    static const int least[VALUES] = {1, 1, 2,  2, 4, 4, 4,
                                      1, 8, 12, 8, 8, 8}; // bytes of an element
    uint64_t type, count;
    if (!take_number(r, 4, &type, "a list's type") || !take_number(r, 8, &count, "a list's length"))
        return false;
    if (type >= VALUES || depth == MOST_DEPTH)
        return err_set(r->err,
                       type >= VALUES ? "a list of type %" PRIu64 ", which is none (0 to 12)"
                                      : "lists in lists in lists (of type %" PRIu64 ")",
                       type) ||
               wrong(r);
    uint64_t bytes = times_unsigned(count, (uint64_t)least[type]);
    if (bytes > rest(r))
        return too_short(r, bytes, "a list");
    if (type != VALUE_TEXT && type != VALUE_LIST)
        return skip(r, bytes, "a list");
    for (uint64_t i = 0; i < count; i++)
        if (!(type == VALUE_TEXT ? skip_text(r) : skip_list(r, depth + 1)))
            return false;
    return true;
}

static bool skip_value(struct reader *r, uint64_t type)
{
    static const int bytes[VALUES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type == VALUE_TEXT)
        return skip_text(r);
    if (type == VALUE_LIST)
        return skip_list(r, 0);
    if (type < VALUES)
        return skip(r, (uint64_t)bytes[type], "a number");
    return err_set(r->err, "its value has type %" PRIu64 ", which is none (0 to 12)", type) ||
           wrong(r);
}

// The entries that are read. Keys of an architecture begin with its name: "llama.block_count".
struct wanted {
    const char *key, *suffix;
    const char **text;
    uint64_t *number;
};

static bool read_entry(struct reader *r, struct gguf *g, const struct wanted *wanted,
                       const char **key)
{
    uint64_t type;
    r->name = NULL;
    if (!take_name(r, &g->arena, key))
        return false;
    r->name = *key;
    if (!take_number(r, 4, &type, "a value's type"))
        return false;
    const char *dot = strchr(*key, '.');
    for (const struct wanted *w = wanted; w->key || w->suffix; w++)
        if (w->key ? strcmp(*key, w->key) == 0 : dot && strcmp(dot + 1, w->suffix) == 0) {
            static const int bytes[VALUES] = {
                [0] = 1, [2] = 2, [4] = 4, [5] = 4, [10] = 8, [11] = 8};
            if (w->text && type == VALUE_TEXT)
                return take_name(r, &g->arena, w->text);
            if (w->number && type < VALUES && bytes[type])
                return take_number(r, bytes[type], w->number, "a number");
            return skip_value(r, type); // such as a list with one number for each block
        }
    return skip_value(r, type);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool each_once(const char **name, int count, const char *what, struct err *e)
{
    if (count)
        qsort(name, (size_t)count, sizeof *name, by_text);
    for (int i = 1; i < count; i++)
        if (strcmp(name[i], name[i - 1]) == 0)
            return err_set(e, "it has the %s '%s' twice", what, name[i]);
    return true;
}

static bool read_entries(struct reader *r, uint64_t count, struct gguf *g, uint64_t *alignment)
{
    const struct wanted wanted[] = {
        {.key = "general.architecture", .text = &g->architecture},
        {.key = "general.name", .text = &g->name},
        {.key = "general.alignment", .number = alignment},
        {.key = "split.count", .number = &g->parts},
        {.suffix = "block_count", .number = &g->blocks},
        {.suffix = "expert_used_count", .number = &g->experts_used},
        {0},
    };
    const char **key = mem_zero((size_t)count + 1, sizeof *key);
    bool ok = true;
    r->what = "entry";
    for (uint64_t i = 0; ok && i < count; i++) {
        r->number = (int64_t)i;
        ok = read_entry(r, g, wanted, &key[i]);
    }
    ok = ok && each_once(key, (int)count, "entry", r->err);
    free(key);
    return ok;
}

// --- tensors ---

static bool read_tensor(struct reader *r, struct arena *a, struct gguf_tensor *t)
{
    uint64_t rank, size, type;
    r->name = NULL;
    if (!take_name(r, a, &t->name))
        return false;
    r->name = t->name;
    if (!take_number(r, 4, &rank, "a rank"))
        return false;
    if (rank > GGUF_MAX_RANK)
        return err_set(r->err, "it has %" PRIu64 " dimensions (the most is %d)", rank,
                       GGUF_MAX_RANK) ||
               wrong(r);
    t->rank = (int)rank;
    for (int i = 0; i < GGUF_MAX_RANK; i++) {
        size = 1;
        if (i < t->rank && !take_number(r, 8, &size, "a size"))
            return false;
        if (size < 1 || size > INT32_MAX)
            return err_set(r->err, "its dimension %d is %" PRIu64 " (1 to %d)", i, size,
                           INT32_MAX) ||
                   wrong(r);
        t->size[i] = (int64_t)size;
    }
    if (!take_number(r, 4, &type, "a type"))
        return false;
    if (type >= TYPES || !types[type].name)
        return err_set(r->err,
                       "its data type %" PRIu64 " is not known (is the file newer than this?)",
                       type) ||
               wrong(r);
    t->type = &types[type];
    if (t->size[0] % t->type->block != 0)
        return err_set(r->err, "rows of %" PRId64 " elements are no blocks of %d (%s)", t->size[0],
                       t->type->block, t->type->name) ||
               wrong(r);
    t->bytes = times_unsigned((uint64_t)(t->size[0] / t->type->block), (uint64_t)t->type->bytes);
    for (int i = 1; i < t->rank; i++)
        t->bytes = times_unsigned(t->bytes, (uint64_t)t->size[i]);
    return take_number(r, 8, &t->offset, "where its data begin");
}

static int by_place(const void *a, const void *b)
{
    const struct gguf_tensor *x = *(const struct gguf_tensor *const *)a;
    const struct gguf_tensor *y = *(const struct gguf_tensor *const *)b;
    return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) : 0;
}

// A file may end with its header; then it has only the shapes.
static bool check_places(struct gguf *g, uint64_t header, uint64_t file, uint64_t alignment,
                         struct err *e)
{
    if (alignment < 1 || alignment > MOST_ALIGNMENT || alignment & (alignment - 1))
        return err_set(e, "general.alignment is %" PRIu64 " (a power of 2, up to %d)", alignment,
                       MOST_ALIGNMENT);
    uint64_t begin = (header + alignment - 1) / alignment * alignment;
    g->has_data = file > begin;
    if (!g->has_data)
        return true;
    const struct gguf_tensor **t = mem_zero((size_t)g->count + 1, sizeof *t);
    bool ok = true;
    for (int i = 0; i < g->count; i++)
        t[i] = &g->tensor[i];
    qsort(t, (size_t)g->count, sizeof *t, by_place);
    const uint64_t data = file - begin;
    for (int i = 0; ok && i < g->count; i++) {
        const struct gguf_tensor *at = t[i], *before = i ? t[i - 1] : NULL;
        if (at->offset % alignment)
            ok = err_set(e, "tensor '%s': its data begin at %" PRIu64 ", no multiple of %" PRIu64,
                         at->name, at->offset, alignment);
        else if (at->offset > data || at->bytes > data - at->offset)
            ok = err_set(e,
                         "tensor '%s': its %" PRIu64 " bytes at %" PRIu64
                         " go past the file's end, which has %" PRIu64 " of data (is it cut off?)",
                         at->name, at->bytes, at->offset, data);
        else if (before && before->offset + before->bytes > at->offset)
            ok = err_set(e, "tensor '%s': its data lie in those of '%s'", at->name, before->name);
    }
    free(t);
    return ok;
}

// --- the file ---

static bool read_counts(struct reader *r, uint64_t *tensors, uint64_t *entries)
{
    uint64_t magic, version;
    if (!take_number(r, 4, &magic, "a header") || !take_number(r, 4, &version, "a header"))
        return false;
    if (version == 1)
        return err_set(r->err, "it is of version 1 of GGUF (convert it anew: 2 and 3 are read)");
    if (version != 2 && version != 3)
        return err_set(r->err,
                       version & 0xffff ? "it is of version %" PRIu64 " of GGUF (2 and 3 are read)"
                                        : "it is of the other byte order (version %" PRIu64
                                          "; convert it to little endian)",
                       version);
    if (!take_number(r, 8, tensors, "a header") || !take_number(r, 8, entries, "a header"))
        return false;
    if (*tensors > MOST_TENSORS || *entries > MOST_ENTRIES ||
        *tensors * LEAST_TENSOR + *entries * LEAST_ENTRY > rest(r))
        return err_set(r->err,
                       "its header says %" PRIu64 " tensors and %" PRIu64
                       " entries, more than its %" PRIu64 " bytes can hold (or than %d of each)",
                       *tensors, *entries, rest(r), MOST_TENSORS);
    return true;
}

static bool read_file(struct reader *r, uint64_t file, struct gguf *g)
{
    uint64_t tensors = 0, entries = 0, alignment = 32;
    if (!read_counts(r, &tensors, &entries) || !read_entries(r, entries, g, &alignment))
        return false;
    g->count = (int)tensors;
    g->tensor = mem_zero((size_t)tensors + 1, sizeof *g->tensor);
    r->what = "tensor";
    for (int i = 0; i < g->count; i++) {
        r->number = i;
        if (!read_tensor(r, &g->arena, &g->tensor[i]))
            return false;
    }
    const char **name = mem_zero((size_t)g->count + 1, sizeof *name);
    for (int i = 0; i < g->count; i++)
        name[i] = g->tensor[i].name;
    bool ok = each_once(name, g->count, "tensor", r->err);
    free(name);
    return ok && check_places(g, r->at, file, alignment, r->err);
}

// `out` is finished in any case. Errors do not name the file.
static bool gguf_read(const char *path, struct gguf *out, struct err *e)
{
    struct stat info;
    *out = (struct gguf){.architecture = "", .name = ""};
    arena_init(&out->arena);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0) {
        err_set(e, "%s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    struct reader *r = mem_zero(1, sizeof *r);
    uint64_t file = (uint64_t)info.st_size;
    r->fd = fd;
    r->err = e;
    r->end = file < most_header ? file : most_header;
    bool ok = read_file(r, file, out);
    free(r);
    close(fd);
    return ok;
}

// --- matrix products ---

// The matrix products of a language model: each weight of two dimensions is multiplied once a
// block. Expert weights are multiplied as often as experts are used.

#define STANDARD_TOKENS "1, 8, 512"

struct product {
    const char *role; // "attn_q"; of all blocks
    const struct gguf_type *type;
    int64_t outputs, inputs;
    int64_t matrices; // of one product: 1, or as many heads as have one of their own
    int64_t experts;  // 0: it is none of experts
    int64_t uses;
};

struct reading {
    const struct gguf *file;
    struct imported *out;
    struct product *product;
    int count, capacity;
};

// Returns "attn_q" for "blk.12.attn_q.weight"; NULL: it is no weight.
static const char *role_of(struct arena *a, const char *name)
{
    static const char ending[] = ".weight", block[] = "blk.";
    size_t length = strlen(name), end = strlen(ending);
    if (length <= end || strcmp(name + length - end, ending) != 0)
        return NULL;
    char *role = arena_strdup(a, name);
    role[length - end] = '\0';
    char *at = strstr(role, block);
    size_t digits = at ? strspn(at + strlen(block), "0123456789") : 0;
    if (digits && at[strlen(block) + digits] == '.') {
        char *after = at + strlen(block) + digits + 1;
        memmove(at, after, strlen(after) + 1);
    }
    for (char *c = role; *c; c++)
        *c = words_plain(*c);
    return role;
}

// Returns the reason why a weight is no factor of a product; NULL: it is one.
static const char *unlike_a_factor(const char *role)
{
    static const struct {
        const char *part, *why;
    } rules[] = {
        {"embd", "its rows are looked up"},
        {"token_types", "its rows are looked up"},
        {"rel_b", "its rows are looked up"},
        {"norm", "a factor of each element"},
        {"conv", "a convolution"},
        {"rope", "factors of angles"},
        {"lerp", "a factor of each element"},
        {"time_mix_first", "a factor of each element"},
        {"altup_pred", "a factor of each row"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strstr(role, rules[i].part))
            return rules[i].why;
    return NULL;
}

static void add_product(struct reading *r, const struct product *p)
{
    for (int i = 0; i < r->count; i++) {
        struct product *have = &r->product[i];
        if (strcmp(have->role, p->role) == 0 && have->type == p->type &&
            have->outputs == p->outputs && have->inputs == p->inputs &&
            have->matrices == p->matrices && have->experts == p->experts) {
            have->uses++;
            return;
        }
    }
    MEM_GROW(r->product, r->count, r->capacity);
    r->product[r->count++] = *p;
}

static bool add_weight(struct reading *r, const struct gguf_tensor *t, const char *role,
                       struct err *e)
{
    bool of_experts = t->rank == 3 && strstr(role, "_exps");
    struct product p = {.role = role,
                        .type = t->type,
                        .inputs = t->size[0],
                        .outputs = t->size[1],
                        .matrices = of_experts ? 1 : t->size[2],
                        .experts = of_experts ? t->size[2] : 0,
                        .uses = 1};
    uint64_t used = r->file->experts_used;
    if (of_experts && (used < 1 || used > (uint64_t)p.experts))
        return err_set(e,
                       "tensor '%s': of its %" PRId64 " experts %" PRIu64
                       " are used, the file says (ARCHITECTURE.expert_used_count)",
                       t->name, p.experts, used);
    add_product(r, &p);
    return true;
}

static bool take_tensor(struct reading *r, const struct gguf_tensor *t, struct err *e)
{
    const char *role = t->rank < 2 ? NULL : role_of(&r->out->arena, t->name);
    if (!role)
        return true;
    const char *why = unlike_a_factor(role);
    if (!why && t->rank > 3)
        why = "it has four dimensions";
    if (!why && *t->type->name == 'i' && t->type->name[1] != 'q')
        why = "whole numbers";
    if (!why)
        return add_weight(r, t, role, e);
    char text[300];
    snprintf(text, sizeof text, "%s: %s", role, why);
    for (int i = 0; i < r->out->note_count; i++)
        if (strcmp(r->out->note[i], text) == 0)
            return true;
    import_note(r->out, "%s", text);
    return true;
}

// A model without a matrix of its own for the last product uses the table of tokens for it. Models
// that embed texts have no such product.
static bool add_tied(struct reading *r, struct err *e)
{
    const struct gguf_tensor *tokens = NULL;
    bool makes_tokens = false;
    for (int i = 0; i < r->file->count; i++) {
        const struct gguf_tensor *t = &r->file->tensor[i];
        if (strcmp(t->name, "output.weight") == 0)
            return true;
        if (strcmp(t->name, "token_embd.weight") == 0)
            tokens = t;
        makes_tokens |= strcmp(t->name, "output_norm.weight") == 0;
    }
    if (!tokens || tokens->rank != 2 || !makes_tokens || strstr(r->file->architecture, "bert"))
        return true;
    import_note(r->out,
                "output: token_embd is multiplied, the file has no matrix of its own for it");
    return add_weight(r, tokens, "output", e);
}

// --- the network file ---

static const char code[] = "for _, n in ipairs(tokens > 0 and { tokens } or all) do\n"
                           "  for _, p in ipairs(products) do\n"
                           "    local rows, uses = n, p[5]\n"
                           "    if p.experts then -- each of them gets its share of the tokens\n"
                           "      local busy = math.min(p.experts, n * used)\n"
                           "      rows, uses = (n * used + busy - 1) // busy, uses * busy\n"
                           "    end\n"
                           "    layer {\n"
                           "      name = p[1] .. \".n\" .. n, preset = \"gemm\", uses = uses,\n"
                           "      set = { N = rows, M = p[3], K = p[4], type = p[2], layout = "
                           "\"nt\", batch = p.matrices },\n"
                           "    }\n"
                           "  end\n"
                           "end\n";

static void add_text(struct reading *r, const char *tokens, const char *standard)
{
    struct str *s = &r->out->text, untuned = {0};
    const char *seen[64];
    int count = 0;
    for (int i = 0; i < r->count; i++) {
        const char *type = r->product[i].type->name;
        bool known = str_equal(words_element(type), type); // presets take it
        for (int k = 0; k < count; k++)
            known |= strcmp(seen[k], type) == 0;
        if (known || count == 64)
            continue;
        str_printf(&untuned, "%s%s", count ? ", " : "", type);
        seen[count++] = type;
    }
    str_printf(s, "network \"%s: its matrix products\"\n", r->out->about);
    str_add(s, "-- Written by `tilewalk import`: what a pass multiplies, each product with how "
               "often a pass has it.\n"
               "-- Attention's scores and values are none of weights, and left out.\n");
    if (untuned.length)
        str_printf(s,
                   "-- NOT the types of the model: no preset takes %s. Weights of these types are "
                   "tuned as f16\n"
                   "-- here; the names say the true type.\n",
                   str_text(&untuned));
    str_printf(s,
               "local tokens = size(\"tokens\", %s, 0) -- at once; 0: each of these\n"
               "local all = { %s }\n",
               standard, tokens);
    if (r->file->experts_used)
        str_printf(s, "local used = %" PRIu64 " -- experts, of each token\n",
                   r->file->experts_used);
    str_add(s,
            "\nlocal products = { -- name and true type, type here, outputs, inputs, how often\n");
    for (int i = 0; i < r->count; i++) {
        const struct product *p = &r->product[i];
        int number = 1;
        str_printf(s, "  { \"%s.%s", p->role, p->type->name);
        for (int k = 0; k < i; k++)
            number += strcmp(r->product[k].role, r->product[i].role) == 0 &&
                      r->product[k].type == r->product[i].type;
        if (number > 1)
            str_printf(s, "-%d", number);
        str_printf(s, "\", \"%s\", %" PRId64 ", %" PRId64 ", %" PRId64,
                   words_element(p->type->name), p->outputs, p->inputs, p->uses);
        if (p->matrices > 1)
            str_printf(s, ", matrices = %" PRId64, p->matrices);
        if (p->experts)
            str_printf(s, ", experts = %" PRId64, p->experts);
        str_add(s, " },\n");
    }
    str_printf(s, "}\n\n%s", code);
    str_finish(&untuned);
}

// Reads --set tokens=8 or tokens=1,32, the default of the network file.
static bool read_tokens(const struct import_request *q, struct imported *out, const char **tokens,
                        struct err *e)
{
    *tokens = STANDARD_TOKENS;
    for (int i = 0; i < q->set_count; i++) {
        int64_t number[17];
        struct str list = {0};
        if (strcmp(q->set[i].name, "tokens") != 0)
            return err_usage(e, "--set %s=%s: of a GGUF file tokens can be set, nothing else",
                             q->set[i].name, q->set[i].value);
        int count = str_to_ints(q->set[i].value, number, 17);
        bool good = count >= 1 && count <= 16;
        for (int k = 0; k < count; k++) {
            good = good && number[k] >= 1 && number[k] <= 1 << 24;
            str_printf(&list, "%s%" PRId64, k ? "," : "", number[k]);
        }
        good = good && strcmp(str_text(&list), q->set[i].value) == 0;
        *tokens = arena_strdup(&out->arena, str_text(&list));
        str_finish(&list);
        if (!good)
            return err_usage(e, "--set tokens=%s: expected up to 16 numbers of 1 to %d",
                             q->set[i].value, 1 << 24);
    }
    return true;
}

static bool read_products(struct reading *r, struct err *e)
{
    for (int i = 0; i < r->file->count; i++)
        if (!take_tensor(r, &r->file->tensor[i], e))
            return false;
    if (!add_tied(r, e))
        return false;
    if (r->file->parts > 1)
        import_note(r->out, "the other parts: the model is split into %" PRIu64 " files",
                    r->file->parts);
    return r->count > 0 ||
           err_set(e, "none of its %d tensors is a matrix that is multiplied", r->file->count);
}

static bool import(const struct import_request *q, struct imported *out, struct err *e)
{
    struct gguf file;
    struct reading r = {.file = &file, .out = out};
    const char *tokens;
    if (!read_tokens(q, out, &tokens, e))
        return false;
    bool ok = gguf_read(q->path, &file, e) && read_products(&r, e);
    if (ok) {
        char *stem = path_stem(q->path);
        struct str s = {0};
        words_add_plain(&s, *file.name ? file.name : stem);
        if (*file.architecture) {
            str_add(&s, ", ");
            words_add_plain(&s, file.architecture);
        }
        if (file.blocks)
            str_printf(&s, ", %" PRIu64 " blocks", file.blocks);
        out->about = arena_strdup(&out->arena, str_text(&s));
        str_finish(&s);
        free(stem);
        add_text(&r, tokens, strchr(tokens, ',') ? "0" : tokens);
    } else {
        err_prefix(e, "%s", q->path);
    }
    free(r.product);
    free(file.tensor);
    arena_finish(&file.arena);
    return ok;
}

static bool is_gguf(const char *begin, size_t length)
{
    return length >= 4 && memcmp(begin, "GGUF", 4) == 0;
}

const struct import_format import_gguf = {"GGUF", is_gguf, import};
