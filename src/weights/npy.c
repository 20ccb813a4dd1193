// NumPy's files of one array: "\x93NUMPY", a version, the length of the header, and the header, a
// dictionary of Python: {'descr': '<f4', 'fortran_order': False, 'shape': (4096, 9216), }
#include "weights/format.h"

#include "base/str.h"
#include "base/times.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    t->type = SAVED_OTHER;
    t->type_name = arena_strdup(&f->arena, word);
    for (int i = 0; i < SAVED_OTHER; i++) {
        const struct saved_kind *k = &saved_kinds[i];
        bool in_order = *word == '<' || (*word == '|' && k->bytes == 1);
        if (!in_order || !str_equal(k->npy, word + 1))
            continue;
        t->type = (enum saved_type)i;
        t->type_name = k->name;
    }
    return true;
}

static bool read_order(struct cursor *c)
{
    skip_space(c);
    if (str_starts(c->at, "True"))
        return err_set(c->err, "it is in Fortran's order (numpy.ascontiguousarray turns it)");
    if (!str_starts(c->at, "False"))
        return wrong(c, "True or False");
    c->at += strlen("False");
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

static bool read_field(struct cursor *c, struct weights_file *f, struct saved_tensor *t, int *seen)
{
    static const char *const names[] = {"descr", "fortran_order", "shape"};
    char name[MOST_WORD];
    int field = 0;
    if (!quoted(c, name))
        return false;
    while (field < 3 && strcmp(names[field], name) != 0)
        field++;
    if (field == 3)
        return err_set(c->err, "its header has an unknown field '%s'", name);
    if (*seen & 1 << field)
        return err_set(c->err, "its header has '%s' twice", name);
    *seen |= 1 << field;
    if (!take(c, ':'))
        return wrong(c, "':'");
    return field == 0 ? read_type(c, f, t) : field == 1 ? read_order(c) : read_shape(c, t);
}

static bool read_fields(struct cursor *c, struct weights_file *f, struct saved_tensor *t)
{
    int seen = 0;
    if (!take(c, '{'))
        return wrong(c, "'{'");
    while (!take(c, '}')) {
        if (!read_field(c, f, t, &seen))
            return false;
        if (!take(c, ',') && *c->at != '}')
            return wrong(c, "',' or '}'");
    }
    skip_space(c);
    if (*c->at)
        return wrong(c, "nothing more");
    return seen == 7 || err_set(c->err, "its header lacks one of descr, fortran_order and shape");
}

static bool check_data(const struct weights_file *f, struct saved_tensor *t, struct err *e)
{
    t->offset = f->header_bytes;
    t->bytes = f->file_bytes - f->header_bytes;
    if (t->type == SAVED_OTHER)
        return true;
    uint64_t wanted = times_unsigned(saved_count(t), saved_kinds[t->type].bytes);
    return wanted == t->bytes ||
           err_set(e, "it has %" PRIu64 " bytes of data, its header says %" PRIu64 "%s", t->bytes,
                   wanted, t->bytes < wanted ? " (is it cut off?)" : "");
}

// Where the header begins, and how long it is.
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
              read_fields(&c, f, f->tensor) && check_data(f, f->tensor, e);
    free(text);
    return ok;
}
