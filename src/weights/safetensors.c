// safetensors: 8 bytes that say how long the header is, the header, which is JSON
//
//     {"fc.bias":{"dtype":"F32","shape":[10],"data_offsets":[0,40]},"__metadata__":{...}}
//
// and the data, to which the offsets refer: without gaps, none twice, to the file's end.
#include "weights/format.h"

#include "base/json_read.h"
#include "base/str.h"
#include "base/times.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8, MOST_HEADER = 16 << 20 };
static const double most_exact = 9007199254740992; // 2^53: beyond, numbers of JSON have gaps

static bool read_whole(struct json v, uint64_t *out)
{
    double value;
    if (!json_number(v, &value) || value < 0 || value >= most_exact || value != floor(value))
        return false;
    *out = (uint64_t)value;
    return true;
}

// False for anything but a list of whole numbers, or a longer one.
static bool read_list(struct json list, int most, uint64_t *out, int *count)
{
    *count = 0;
    if (json_type(list) != JSON_LIST)
        return false;
    for (struct json_walk w = json_walk(list); json_next(&w); ++*count)
        if (*count == most || !read_whole(w.value, &out[*count]))
            return false;
    return true;
}

static bool read_type(struct json word, struct weights_file *f, struct saved_tensor *t)
{
    t->type = SAVED_OTHER;
    t->type_name = json_text(word, &f->arena);
    for (int i = 0; i < SAVED_OTHER; i++)
        if (json_is(word, saved_kinds[i].safetensors)) {
            t->type = (enum saved_type)i;
            t->type_name = saved_kinds[i].name;
        }
    return t->type_name != NULL;
}

// Each field once.
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

static bool read_tensor(struct json said, struct weights_file *f, struct saved_tensor *t,
                        struct err *e)
{
    struct json field[3] = {{0}};
    uint64_t range[2];
    int ends;
    if (!find_fields(said, field) || !read_type(field[0], f, t) ||
        !read_list(field[2], 2, range, &ends) || ends != 2 || range[0] > range[1])
        return err_set(e, "'%s': expected one dtype, shape and data_offsets [BEGIN,END]", t->name);
    if (!read_list(field[1], WEIGHTS_MAX_RANK, t->size, &t->rank))
        return err_set(e, "'%s': its shape is no list of up to %d sizes", t->name,
                       WEIGHTS_MAX_RANK);
    t->offset = range[0];
    t->bytes = range[1] - range[0];
    if (t->type == SAVED_OTHER)
        return true;
    uint64_t wanted = times_unsigned(saved_count(t), saved_kinds[t->type].bytes);
    return wanted == t->bytes ||
           err_set(e, "'%s': its offsets say %" PRIu64 " bytes, its shape and dtype %" PRIu64,
                   t->name, t->bytes, wanted);
}

static bool read_tensors(struct json root, struct weights_file *f, struct err *e)
{
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
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct saved_tensor *x = a, *y = b;
    uint64_t end_x = x->offset + x->bytes, end_y = y->offset + y->bytes; // below 2^53
    return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1)
                                  : (end_x > end_y) - (end_x < end_y);
}

static int by_name(const void *a, const void *b)
{
    const struct saved_tensor *x = a, *y = b;
    return strcmp(x->name, y->name);
}

// From here on offsets are the file's.
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

static bool check_names(struct weights_file *f, struct err *e)
{
    if (f->count)
        qsort(f->tensor, (size_t)f->count, sizeof *f->tensor, by_name);
    for (int i = 1; i < f->count; i++)
        if (strcmp(f->tensor[i].name, f->tensor[i - 1].name) == 0)
            return err_set(e, "it has '%s' twice", f->tensor[i].name);
    return true;
}

static bool read_header(const char *text, size_t length, struct weights_file *f, struct err *e)
{
    struct json_source source = {.path = "", .text = text, .length = length};
    struct json root;
    struct err why;
    if (!json_check(&source, &root, &why))
        return err_set(e, "its header: %s", why.text);
    return read_tensors(root, f, e) && check_places(f, e) && check_names(f, e);
}

bool safetensors_read(int fd, struct weights_file *f, struct err *e)
{
    unsigned char begin[LENGTH_BYTES];
    uint64_t length = 0;
    if (!weights_read_at(fd, 0, begin, sizeof begin, e))
        return false;
    for (int i = LENGTH_BYTES - 1; i >= 0; i--)
        length = length << 8 | begin[i];
    if (length > MOST_HEADER)
        return err_set(e, "its header has %" PRIu64 " bytes, the most is %d (is it safetensors?)",
                       length, MOST_HEADER);
    char *text = mem_zero((size_t)length + 1, 1);
    f->header_bytes = LENGTH_BYTES + (size_t)length;
    bool ok = weights_read_at(fd, LENGTH_BYTES, text, (size_t)length, e) &&
              read_header(text, (size_t)length, f, e);
    free(text);
    return ok;
}
