#include "weights/weights.h"

#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "base/os.h"
#include "base/str.h"
#include "space/tensor.h"
#include "weights/format.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// --- writing ---

enum { PIECE = 1 << 13, ALIGNMENT = 8 };

struct writing {
    const struct weights_new *tensor;
    int count;
};

static int64_t elements(const struct weights_new *t)
{
    int64_t count = 1;
    for (int i = 0; i < t->rank; i++)
        count *= (int64_t)t->size[i];
    return count;
}

static bool write_tensor(const struct weights_new *t, FILE *out)
{
    static const union {
        uint16_t number;
        unsigned char first;
    } order = {1};
    float piece[PIECE];
    int64_t count = elements(t);
    if (!order.first) { // the file is little endian
        errno = ENOTSUP;
        return false;
    }
    for (int64_t at = 0; at < count; at += PIECE) {
        int64_t some = int64_min(PIECE, count - at);
        t->fill(t->context, at, some, piece);
        if (fwrite(piece, sizeof *piece, (size_t)some, out) != (size_t)some)
            return false;
    }
    return true;
}

static bool write_all(void *context, FILE *out)
{
    const struct writing *w = context;
    struct str header = {0};
    unsigned char length[8];
    struct json_writer json = json_begin(&header);
    uint64_t offset = 0;
    for (int i = 0; i < w->count; i++) {
        const struct weights_new *t = &w->tensor[i];
        json_begin_object(&json, t->name);
        json_add_text(&json, "dtype", "F32");
        json_begin_list(&json, "shape");
        for (int k = 0; k < t->rank; k++)
            json_add_count(&json, NULL, t->size[k]);
        json_end(&json);
        json_begin_list(&json, "data_offsets");
        json_add_count(&json, NULL, offset);
        offset += (uint64_t)elements(t) * sizeof(float);
        json_add_count(&json, NULL, offset);
        json_end(&json);
        json_end(&json);
    }
    json_end(&json);
    while (header.length % ALIGNMENT)
        str_add_char(&header, ' ');
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)((uint64_t)header.length >> (8 * i));
    bool ok = fwrite(length, 1, sizeof length, out) == sizeof length &&
              fwrite(str_text(&header), 1, header.length, out) == header.length;
    str_finish(&header);
    for (int i = 0; ok && i < w->count; i++)
        ok = write_tensor(&w->tensor[i], out);
    return ok;
}

bool weights_write(const char *path, const struct weights_new *tensor, int count, struct err *e)
{
    struct writing w = {tensor, count};
    return file_write_stream(path, write_all, &w, e);
}

const struct saved_kind saved_kinds[ELEMENT_COUNT] = {
    [ELEMENT_F64] = {"f8", "F64"},        [ELEMENT_F32] = {"f4", "F32"},
    [ELEMENT_F16] = {"f2", "F16"},        [ELEMENT_BF16] = {NULL, "BF16"},
    [ELEMENT_I64] = {"i8", "I64"},        [ELEMENT_U64] = {"u8", "U64"},
    [ELEMENT_I32] = {"i4", "I32"},        [ELEMENT_U32] = {"u4", "U32"},
    [ELEMENT_I16] = {"i2", "I16"},        [ELEMENT_U16] = {"u2", "U16"},
    [ELEMENT_I8] = {"i1", "I8"},          [ELEMENT_U8] = {"u1", "U8"},
    [ELEMENT_F8E4M3] = {NULL, "F8_E4M3"}, [ELEMENT_F8E5M2] = {NULL, "F8_E5M2"},
};

// --- files ---

bool weights_read_at(int fd, uint64_t offset, void *out, size_t bytes, struct err *e)
{
    char *at = out;
    while (bytes > 0) {
        ssize_t got = pread(fd, at, bytes, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return err_set(e, "%s", got < 0 ? strerror(errno) : "it ends early (is it cut off?)");
        at += got;
        bytes -= (size_t)got;
        offset += (uint64_t)got;
    }
    return true;
}

struct weights_file *weights_open(const char *path, const char *folder, enum weights_format format,
                                  struct err *e)
{
    uint64_t stamp = file_stamp(path, 0);
    struct stat info;
    const char *const folders[] = {folder, NULL};
    int fd = os_open_text(path, folders, e);
    if (fd < 0)
        return NULL;
    struct weights_file *f = mem_zero(1, sizeof *f);
    arena_init(&f->arena);
    f->path = arena_strdup(&f->arena, path);
    f->folder = arena_strdup(&f->arena, folder);
    f->format = format;
    f->stamp = stamp;
    bool ok = fstat(fd, &info) == 0 || err_set(e, "%s", strerror(errno));
    f->file_bytes = ok ? (uint64_t)info.st_size : 0;
    ok = ok && (format == WEIGHTS_NPY ? npy_read(fd, f, e) : safetensors_read(fd, f, e));
    close(fd);
    if (ok)
        return f;
    weights_close(f);
    return NULL;
}

void weights_close(struct weights_file *f)
{
    if (!f)
        return;
    free(f->tensor);
    arena_finish(&f->arena);
    free(f);
}

// --- choosing a tensor ---

uint64_t saved_count(const struct saved_tensor *t)
{
    uint64_t count = 1;
    for (int i = 0; i < t->rank; i++)
        count = t->size[i] ? times_unsigned(count, t->size[i]) : 0;
    return count;
}

static bool is_exact(enum element from, enum element to)
{
    const struct element_traits *a = &element_traits[from], *b = &element_traits[to];
    if (element_is_real(from) != element_is_real(to))
        return false;
    if (element_is_real(from))
        return a->exponent <= b->exponent && a->fraction <= b->fraction;
    return element_least(to) <= element_least(from) && element_exact(from) <= element_exact(to);
}

// Finds the distances at which a new row, a new matrix, ... begins: the numbers of elements behind
// each dimension of more than one element.
static int find_steps(int rank, const uint64_t *size, uint64_t out[WEIGHTS_MAX_RANK])
{
    uint64_t step = 1;
    int count = 0;
    for (int i = rank - 1; i >= 0; i--) {
        if (size[i] > 1 && step > 1)
            out[count++] = step;
        step = times_unsigned(step, size[i]);
    }
    return count;
}

static void add_sizes(struct str *s, const char *type, int rank, const uint64_t *size)
{
    uint64_t count = 1;
    str_printf(s, "%s ", type);
    for (int i = 0; i < rank; i++) {
        str_printf(s, "%s%" PRIu64, i ? "x" : "", size[i]);
        count = size[i] ? times_unsigned(count, size[i]) : 0;
    }
    str_printf(s, "%s(%" PRIu64 " element%s)", rank ? " " : "", count, count == 1 ? "" : "s");
}

static bool does_not_fit(const struct saved_tensor *t, const struct tensor *to, const char *hint,
                         struct err *e)
{
    struct str s = {0};
    uint64_t size[TENSOR_MAX_RANK];
    for (int i = 0; i < to->rank; i++)
        size[i] = (uint64_t)to->size[i];
    add_sizes(&s, t->type_name, t->rank, t->size);
    str_printf(&s, ", %s takes ", to->name);
    add_sizes(&s, element_name(to->element), to->rank, size);
    err_set(e, "it holds %s%s", str_text(&s), hint);
    str_finish(&s);
    return false;
}

static bool fits(const struct saved_tensor *t, const struct tensor *to, bool rounds, struct err *e)
{
    if (saved_count(t) != (uint64_t)tensor_count(to))
        return does_not_fit(t, to, " (is it that of another layer?)", e);
    // The dimensions of one must be those of the other, perhaps with some joined: 64x3x11x11 fits
    // 64x363, but 9216x4096 does not fit 4096x9216.
    uint64_t a[WEIGHTS_MAX_RANK], b[WEIGHTS_MAX_RANK], size[WEIGHTS_MAX_RANK];
    for (int i = 0; i < to->rank; i++)
        size[i] = (uint64_t)to->size[i];
    int in_a = find_steps(t->rank, t->size, a), in_b = find_steps(to->rank, size, b), both = 0;
    for (int i = 0; i < in_a; i++)
        for (int k = 0; k < in_b; k++)
            both += a[i] == b[k];
    if (both != in_a && both != in_b)
        return does_not_fit(t, to, ": its rows are others (is it transposed?)", e);
    if (t->type == ELEMENT_COUNT)
        return does_not_fit(t, to, ": the type cannot be converted", e);
    if (is_exact(t->type, to->element))
        return true;
    if (element_is_real(t->type) && element_is_real(to->element))
        return rounds || does_not_fit(t, to, " (round = true rounds them)", e);
    return does_not_fit(t, to, ": the type cannot be converted", e);
}

static const char *name_at(const void *context, size_t i)
{
    const struct weights_file *f = context;
    return f->tensor[i].name;
}

static const struct saved_tensor *find(const struct weights_file *f, const char *name,
                                       struct err *e)
{
    if (f->format == WEIGHTS_NPY && name)
        err_set(e, "a .npy is one array, which has no name ('%s')", name);
    else if (f->format == WEIGHTS_NPY)
        return f->tensor;
    else if (!name && !f->count)
        err_set(e, "it has no tensors");
    else if (!name)
        err_set(e, "it has %d tensor%s: { FILE, \"%s\" } names %s", f->count,
                f->count == 1 ? "" : "s", f->tensor[0].name, f->count == 1 ? "it" : "one");
    if (f->format == WEIGHTS_NPY || !name)
        return NULL;
    for (int low = 0, high = f->count; low < high;) {
        int middle = low + (high - low) / 2, order = strcmp(name, f->tensor[middle].name);
        if (order == 0)
            return &f->tensor[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    const char *near = str_suggest(name, (size_t)f->count, name_at, f);
    if (near)
        err_set(e, "it has no tensor '%s' (did you mean '%s'?)", name, near);
    else
        err_set(e, "it has no tensor '%s'", name);
    return NULL;
}

bool weights_take(const struct weights_file *f, const struct weights_choice *choice,
                  const struct tensor *to, struct arena *a, struct weights *out, struct err *e)
{
    const struct saved_tensor *t = find(f, choice->name, e);
    if (!t || !fits(t, to, choice->rounds, e))
        return false;
    *out = (struct weights){.path = arena_strdup(a, f->path),
                            .folder = arena_strdup(a, f->folder),
                            .name = arena_strdup(a, t->name),
                            .saved = t->type,
                            .element = to->element,
                            .count = tensor_count(to),
                            .offset = t->offset,
                            .stamp = f->stamp};
    return true;
}

// --- data ---

enum { STEP = 1 << 16 }; // elements that are converted at a time

// Files and machine are little endian, so that bytes are read as they are.
static bool read_data(const struct weights *w, int fd, void *out, struct err *e)
{
    size_t bytes = (size_t)element_bytes(w->saved);
    if (w->saved == w->element)
        return weights_read_at(fd, w->offset, out, (size_t)w->count * bytes, e);
    double largest = element_most(w->element);
    void *saved = mem_alloc(STEP * bytes);
    bool ok = true;
    for (int64_t first = 0; ok && first < w->count; first += STEP) {
        size_t count = w->count - first < STEP ? (size_t)(w->count - first) : STEP;
        ok = weights_read_at(fd, w->offset + (uint64_t)first * bytes, saved, count * bytes, e);
        for (size_t i = 0; ok && i < count; i++) {
            double value = element_get(saved, w->saved, (int64_t)i);
            int64_t index = first + (int64_t)i;
            ok = !isfinite(value) || fabs(value) <= largest ||
                 err_set(e, "element %" PRId64 " is %g, too large for %s", index, value,
                         element_name(w->element));
            if (ok)
                element_put(out, w->element, index, value);
        }
    }
    free(saved);
    return ok;
}

bool weights_read(const struct weights *w, void *out, struct err *e)
{
    const char *const folders[] = {w->folder, NULL};
    int fd = os_open_text(w->path, folders, e);
    if (fd < 0)
        return false;
    bool ok = file_stamp(w->path, 0) == w->stamp ||
              err_set(e, "it has changed since the network was read");
    ok = ok && read_data(w, fd, out, e);
    close(fd);
    return ok;
}
