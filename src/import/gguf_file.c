// Reads the header of a GGUF file (the entries about the model and the table of tensors), and joins
// those of a model in several files.
#include "import/gguf.h"

#include "base/file.h"
#include "base/number.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
        {.key = "split.no", .number = &g->part},
        {.key = "split.count", .number = &g->parts},
        {.key = "split.tensors.count", .number = &g->all},
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

// Checks the places of the file's tensors, from `first` on, in its data, in which it may end.
static bool check_places(struct gguf *g, int first, uint64_t data, uint64_t alignment,
                         struct err *e)
{
    int count = g->count - first;
    const struct gguf_tensor **t = mem_zero((size_t)count + 1, sizeof *t);
    bool ok = true;
    for (int i = 0; i < count; i++)
        t[i] = &g->tensor[first + i];
    if (count)
        qsort(t, (size_t)count, sizeof *t, by_place);
    for (int i = 0; ok && i < count; i++) {
        const struct gguf_tensor *at = t[i], *before = i ? t[i - 1] : NULL;
        if (at->offset % alignment)
            ok = err_set(e, "tensor '%s': its data begin at %" PRIu64 ", no multiple of %" PRIu64,
                         at->name, at->offset, alignment);
        else if (at->offset > INT64_MAX || at->bytes > INT64_MAX - at->offset)
            ok = err_set(e, "tensor '%s': its %" PRIu64 " bytes at %" PRIu64 " lie in no file",
                         at->name, at->bytes, at->offset);
        else if (before && before->bytes > at->offset - before->offset)
            ok = err_set(e, "tensor '%s': its data lie in those of '%s'", at->name, before->name);
        else
            g->cut_off += at->offset + at->bytes > data;
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
                       " entries, more than its %" PRIu64
                       " bytes can hold, or than %d of each (is it cut off?)",
                       *tensors, *entries, rest(r), MOST_TENSORS);
    return true;
}

static bool read_header(struct reader *r, uint64_t file, struct gguf *g)
{
    uint64_t tensors = 0, entries = 0, alignment = 32;
    int first = g->count;
    if (!read_counts(r, &tensors, &entries) || !read_entries(r, entries, g, &alignment))
        return false;
    r->what = "tensor";
    for (uint64_t i = 0; i < tensors; i++) {
        r->number = (int64_t)i;
        MEM_GROW(g->tensor, g->count, g->capacity);
        if (!read_tensor(r, &g->arena, &g->tensor[g->count]))
            return false;
        g->count++;
    }
    if (alignment < 1 || alignment > MOST_ALIGNMENT || alignment & (alignment - 1))
        return err_set(r->err, "general.alignment is %" PRIu64 " (a power of 2, up to %d)",
                       alignment, MOST_ALIGNMENT);
    const char **name = mem_zero((size_t)g->count + 1, sizeof *name);
    for (int i = 0; i < g->count; i++)
        name[i] = g->tensor[i].name;
    bool ok = each_once(name, g->count, "tensor", r->err);
    free(name);
    uint64_t begin = (r->at + alignment - 1) / alignment * alignment;
    return ok && (file <= begin || check_places(g, first, file - begin, alignment, r->err));
}

// Adds what a file says and the tensors that it has.
static bool read_file(const char *path, struct gguf *g, struct err *e)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0) {
        err_set(e, "%s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return err_prefix(e, "%s", path);
    }
    struct reader *r = mem_zero(1, sizeof *r);
    uint64_t file = (uint64_t)info.st_size;
    r->fd = fd;
    r->err = e;
    r->end = file < most_header ? file : most_header;
    bool ok = read_header(r, file, g) || err_prefix(e, "%s", path);
    free(r);
    close(fd);
    return ok;
}

// --- parts ---

enum { MOST_PARTS = 10000, DIGITS = 5 };

// Finds the end of "PREFIX-00002-of-00003.gguf" that begins behind PREFIX; NULL: it has none.
static const char *find_part(const char *path)
{
    static const char shape[] = "-ddddd-of-ddddd.gguf";
    size_t length = strlen(path), end = strlen(shape);
    const char *at = length > end ? path + length - end : NULL;
    for (size_t i = 0; at && i < end; i++)
        if (shape[i] == 'd' ? at[i] < '0' || at[i] > '9' : at[i] != shape[i])
            return NULL;
    return at;
}

bool gguf_is_part(const char *path, const char *other)
{
    const char *one = find_part(path), *two = find_part(other);
    return strcmp(path, other) == 0 || (one && two && one - path == two - other &&
                                        strncmp(path, other, (size_t)(one - path)) == 0 &&
                                        strcmp(one + 1 + DIGITS, two + 1 + DIGITS) == 0);
}

// Reads part `number` (from 0) of a model in `parts` files, whose names differ from `path` by it.
static bool read_part(const char *path, uint64_t number, uint64_t parts, struct gguf *g,
                      struct err *e)
{
    const char *end = find_part(path);
    char *name = mem_printf("%.*s-%05" PRIu64 "-of-%05" PRIu64 ".gguf", (int)(end - path), path,
                            number + 1, parts);
    bool ok = true, is_there = file_exists(name);
    if (!is_there && g->missing++ == 0)
        g->missed = arena_strdup(&g->arena, path_name(name));
    g->part = number;
    g->parts = parts;
    if (is_there)
        ok = read_file(name, g, e) &&
             ((g->part == number && g->parts == parts) ||
              err_set(e, "%s: it says that it is part %" PRIu64 " of %" PRIu64, name, g->part + 1,
                      g->parts));
    free(name);
    return ok;
}

static void gguf_begin(struct gguf *g)
{
    *g = (struct gguf){.architecture = "", .name = ""};
    arena_init(&g->arena);
}

bool gguf_read(const char *path, struct gguf *out, struct err *e)
{
    gguf_begin(out);
    if (!read_file(path, out, e))
        return false;
    const uint64_t parts = out->parts, part = out->part;
    if (parts <= 1)
        return true;
    if (parts > MOST_PARTS || part >= parts)
        return err_set(e, "%s: it says that it is part %" PRIu64 " of %" PRIu64 " (of at most %d)",
                       path, part + 1, parts, MOST_PARTS);
    const char *end = find_part(path);
    char own[40];
    snprintf(own, sizeof own, "-%05" PRIu64 "-of-%05" PRIu64 ".gguf", part + 1, parts);
    if (!end || strcmp(end, own) != 0) { // nothing says where the others are
        out->missing = (int)parts - 1;
        out->missed = "";
        return true;
    }
    gguf_finish(out);
    gguf_begin(out);
    for (uint64_t i = 0; i < parts; i++)
        if (!read_part(path, i, parts, out, e))
            return false;
    return out->missing || !out->all || (uint64_t)out->count == out->all ||
           err_set(e, "%s: its %" PRIu64 " parts have %d tensors, they say %" PRIu64, path, parts,
                   out->count, out->all);
}

void gguf_finish(struct gguf *g)
{
    free(g->tensor);
    arena_finish(&g->arena);
    *g = (struct gguf){0};
}
