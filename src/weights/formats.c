#include "base/json_read.h"
#include "base/number.h"
#include "base/str.h"
#include "weights/format.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- .npy ---

// NumPy's files of one array: "\x93NUMPY", a version, the length of the header, and the header, a
// dictionary of Python: {'descr': '<f4', 'fortran_order': False, 'shape': (4096, 9216), }

enum { MAGIC_BYTES = 6, MOST_HEADER = 1 << 16, MOST_WORD = 32 };

struct cursor {
    const char *at; // in a text that ends with a byte 0
    struct err *err;
};

static bool wrong(struct cursor *c, const char *expected)
{
    return err_set(c->err, "its header is no .npy header: expected %s at '%.20s'", expected, c->at);
}

static void skip_space(struct cursor *c)
{
    c->at += strspn(c->at, " \t\r\n");
}

static bool take(struct cursor *c, char sign)
{
    skip_space(c);
    if (*c->at != sign)
        return false;
    c->at++;
    return true;
}

static bool quoted(struct cursor *c, char out[MOST_WORD])
{
    skip_space(c);
    char quote = *c->at;
    if (quote != '\'' && quote != '"')
        return wrong(c, quote == '[' ? "one type, not a record of several," : "a quoted word");
    size_t length = strcspn(c->at + 1, "'\"\\");
    if (c->at[length + 1] != quote || length >= MOST_WORD)
        return wrong(c, "a quoted word");
    memcpy(out, c->at + 1, length);
    out[length] = '\0';
    c->at += length + 2;
    return true;
}

static bool read_type(struct cursor *c, struct weights_file *f, struct saved_tensor *t)
{
    char word[MOST_WORD];
    if (!quoted(c, word))
        return false;
    if (*word == '>')
        return err_set(c->err,
                       "its elements are '%s', of the other byte order (a.astype('<%s') turns it)",
                       word, word + 1);
    t->type = ELEMENT_COUNT;
    t->type_name = arena_strdup(&f->arena, word);
    for (enum element i = 0; i < ELEMENT_COUNT; i++) {
        bool in_order = *word == '<' || (*word == '|' && element_bytes(i) == 1);
        if (!in_order || !str_equal(saved_kinds[i].npy, word + 1))
            continue;
        t->type = i;
        t->type_name = element_name(i);
    }
    return true;
}

static bool read_shape(struct cursor *c, struct saved_tensor *t)
{
    if (!take(c, '('))
        return wrong(c, "(");
    while (!take(c, ')')) {
        char *end;
        skip_space(c);
        if (t->rank == WEIGHTS_MAX_RANK)
            return err_set(c->err, "it has more than %d dimensions", WEIGHTS_MAX_RANK);
        if (!isdigit((unsigned char)*c->at))
            return wrong(c, "a size");
        errno = 0;
        t->size[t->rank] = strtoull(c->at, &end, 10);
        if (errno)
            return wrong(c, "a size below 2^64");
        t->rank++;
        c->at = end;
        if (!take(c, ',') && *c->at != ')')
            return wrong(c, "',' or ')'");
    }
    return true;
}

static bool read_fields(struct cursor *c, struct weights_file *f, struct saved_tensor *t)
{
    static const char *const names[] = {"descr", "fortran_order", "shape"};
    int seen = 0; // a bit for each field
    if (!take(c, '{'))
        return wrong(c, "'{'");
    while (!take(c, '}')) {
        char name[MOST_WORD];
        int field = 0;
        if (!quoted(c, name))
            return false;
        while (field < 3 && strcmp(names[field], name) != 0)
            field++;
        if (field == 3)
            return err_set(c->err, "its header has an unknown field '%s'", name);
        if (seen & 1 << field)
            return err_set(c->err, "its header has '%s' twice", name);
        seen |= 1 << field;
        if (!take(c, ':'))
            return wrong(c, "':'");
        skip_space(c);
        if (field == 1 && str_starts(c->at, "True"))
            return err_set(c->err, "it is in Fortran's order (numpy.ascontiguousarray turns it)");
        if (field == 1 && !str_starts(c->at, "False"))
            return wrong(c, "True or False");
        if (field == 1)
            c->at += strlen("False");
        else if (!(field == 0 ? read_type(c, f, t) : read_shape(c, t)))
            return false;
        if (!take(c, ',') && *c->at != '}')
            return wrong(c, "',' or '}'");
    }
    skip_space(c);
    if (*c->at)
        return wrong(c, "nothing more");
    return seen == 7 || err_set(c->err, "its header lacks one of descr, fortran_order and shape");
}

// Finds the beginning and the length of the header.
static bool find_header(int fd, uint64_t *offset, size_t *length, struct err *e)
{
    unsigned char begin[MAGIC_BYTES + 6] = {0};
    if (!weights_read_at(fd, 0, begin, MAGIC_BYTES + 4, e))
        return false;
    if (memcmp(begin, "\x93NUMPY", MAGIC_BYTES) != 0)
        return err_set(e, "it does not begin as .npy files do");
    int major = begin[6];
    if (major < 1 || major > 3)
        return err_set(e, "it is of version %d.%d of .npy (known are 1 to 3)", major, begin[7]);
    *length = (size_t)begin[8] | (size_t)begin[9] << 8;
    *offset = MAGIC_BYTES + (major == 1 ? 4 : 6);
    if (major == 1)
        return true;
    if (!weights_read_at(fd, 0, begin, sizeof begin, e))
        return false;
    *length |= (size_t)begin[10] << 16 | (size_t)begin[11] << 24;
    return *length <= MOST_HEADER ||
           err_set(e, "its header has %zu bytes (the most is %d)", *length, MOST_HEADER);
}

bool npy_read(int fd, struct weights_file *f, struct err *e)
{
    uint64_t offset = 0;
    size_t length = 0;
    if (!find_header(fd, &offset, &length, e))
        return false;
    char *text = mem_zero(length + 1, 1);
    struct cursor c = {text, e};
    f->tensor = mem_zero(1, sizeof *f->tensor);
    f->tensor->name = "";
    f->count = 1;
    f->header_bytes = (size_t)offset + length;
    bool ok = weights_read_at(fd, offset, text, length, e) &&
              (strlen(text) == length || err_set(e, "its header has a zero byte")) &&
              read_fields(&c, f, f->tensor);
    free(text);
    struct saved_tensor *t = f->tensor;
    t->offset = f->header_bytes;
    t->bytes = f->file_bytes - f->header_bytes;
    if (!ok || t->type == ELEMENT_COUNT)
        return ok;
    uint64_t wanted = times_unsigned(saved_count(t), (uint64_t)element_bytes(t->type));
    return wanted == t->bytes ||
           err_set(e, "it has %" PRIu64 " bytes of data, its header says %" PRIu64 "%s", t->bytes,
                   wanted, t->bytes < wanted ? " (is it cut off?)" : "");
}

// --- .safetensors ---

// 8 bytes with the length of the header, the header, which is JSON
//
//     {"fc.bias":{"dtype":"F32","shape":[10],"data_offsets":[0,40]},"__metadata__":{...}}
//
// and the data, to which the offsets refer. Tensors have no gaps between them and do not overlap;
// they end with the file.

enum { LENGTH_BYTES = 8, SAFETENSORS_MOST_HEADER = 16 << 20 };
static const double most_exact = 9007199254740992; // 2^53: beyond, numbers of JSON have gaps

// Reads a list of at most `most` whole numbers. False: it is something else.
static bool read_list(struct json list, int most, uint64_t *out, int *count)
{
    *count = 0;
    if (json_type(list) != JSON_LIST)
        return false;
    for (struct json_walk w = json_walk(list); json_next(&w); ++*count) {
        double value;
        if (*count == most || !json_number(w.value, &value) || value < 0 || value >= most_exact ||
            value != floor(value))
            return false;
        out[*count] = (uint64_t)value;
    }
    return true;
}

// Finds the three fields. False: one is missing or there twice.
static bool find_fields(struct json object, struct json found[3])
{
    static const char *const names[] = {"dtype", "shape", "data_offsets"};
    if (json_type(object) != JSON_OBJECT)
        return false;
    for (struct json_walk w = json_walk(object); json_next(&w);)
        for (int i = 0; i < 3; i++) {
            if (!json_is(w.key, names[i]))
                continue;
            if (found[i].at)
                return false;
            found[i] = w.value;
        }
    return found[0].at && found[1].at && found[2].at;
}

static bool read_tensor(struct json declared, struct weights_file *f, struct saved_tensor *t,
                        struct err *e)
{
    struct json field[3] = {{0}};
    uint64_t range[2];
    int ends;
    if (!find_fields(declared, field) || !(t->type_name = json_text(field[0], &f->arena)) ||
        !read_list(field[2], 2, range, &ends) || ends != 2 || range[0] > range[1])
        return err_set(e, "'%s': expected one dtype, shape and data_offsets [BEGIN,END]", t->name);
    if (!read_list(field[1], WEIGHTS_MAX_RANK, t->size, &t->rank))
        return err_set(e, "'%s': its shape is no list of up to %d sizes", t->name,
                       WEIGHTS_MAX_RANK);
    t->offset = range[0];
    t->bytes = range[1] - range[0];
    t->type = ELEMENT_COUNT;
    for (enum element i = 0; i < ELEMENT_COUNT; i++)
        if (json_is(field[0], saved_kinds[i].safetensors)) {
            t->type = i;
            t->type_name = element_name(i);
        }
    if (t->type == ELEMENT_COUNT)
        return true;
    uint64_t wanted = times_unsigned(saved_count(t), (uint64_t)element_bytes(t->type));
    return wanted == t->bytes ||
           err_set(e, "'%s': its offsets say %" PRIu64 " bytes, its shape and dtype %" PRIu64,
                   t->name, t->bytes, wanted);
}

static int by_place(const void *a, const void *b)
{
    const struct saved_tensor *x = a, *y = b;
    uint64_t end_x = x->offset + x->bytes, end_y = y->offset + y->bytes; // below 2^53
    return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1)
                                  : (end_x > end_y) - (end_x < end_y);
}

// Checks that the tensors fill the file, and makes their offsets those of the file.
static bool check_places(struct weights_file *f, struct err *e)
{
    uint64_t end = 0, data = f->file_bytes - f->header_bytes;
    if (f->count)
        qsort(f->tensor, (size_t)f->count, sizeof *f->tensor, by_place);
    for (int i = 0; i < f->count; i++) {
        struct saved_tensor *t = &f->tensor[i];
        if (t->offset != end)
            return err_set(e, "'%s' begins at %" PRIu64 ", what lies before it ends at %" PRIu64,
                           t->name, t->offset, end);
        end += t->bytes;
        t->offset += f->header_bytes;
    }
    return end == data ||
           err_set(e, "it has %" PRIu64 " bytes of data, its header says %" PRIu64 "%s", data, end,
                   data < end ? " (is it cut off?)" : "");
}

static int by_name(const void *a, const void *b)
{
    const struct saved_tensor *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static bool read_header(const char *text, size_t length, struct weights_file *f, struct err *e)
{
    struct json_source source = {.path = "", .text = text, .length = length};
    struct json root;
    struct err why;
    if (!json_check(&source, &root, &why))
        return err_set(e, "its header: %s", why.text);
    int capacity = 0;
    if (json_type(root) != JSON_OBJECT)
        return err_set(e, "its header is no JSON object");
    for (struct json_walk w = json_walk(root); json_next(&w);) {
        if (json_is(w.key, "__metadata__"))
            continue;
        struct saved_tensor t = {.name = json_text(w.key, &f->arena)};
        if (!read_tensor(w.value, f, &t, e))
            return false;
        MEM_GROW(f->tensor, f->count, capacity);
        f->tensor[f->count++] = t;
    }
    if (!check_places(f, e))
        return false;
    if (f->count)
        qsort(f->tensor, (size_t)f->count, sizeof *f->tensor, by_name);
    for (int i = 1; i < f->count; i++)
        if (strcmp(f->tensor[i].name, f->tensor[i - 1].name) == 0)
            return err_set(e, "it has '%s' twice", f->tensor[i].name);
    return true;
}

bool safetensors_read(int fd, struct weights_file *f, struct err *e)
{
    unsigned char begin[LENGTH_BYTES];
    uint64_t length = 0;
    if (!weights_read_at(fd, 0, begin, sizeof begin, e))
        return false;
    for (int i = LENGTH_BYTES - 1; i >= 0; i--)
        length = length << 8 | begin[i];
    if (length > SAFETENSORS_MOST_HEADER)
        return err_set(e, "its header has %" PRIu64 " bytes, the most is %d (is it safetensors?)",
                       length, SAFETENSORS_MOST_HEADER);
    char *text = mem_zero((size_t)length + 1, 1);
    f->header_bytes = LENGTH_BYTES + (size_t)length;
    bool ok = weights_read_at(fd, LENGTH_BYTES, text, (size_t)length, e) &&
              read_header(text, (size_t)length, f, e);
    free(text);
    return ok;
}
