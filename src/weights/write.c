#include "weights/weights.h"

#include "base/file.h"
#include "base/json.h"
#include "base/minmax.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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

static void add_header(const struct writing *w, struct str *out)
{
    struct json_writer json = json_begin(out);
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
    while (out->length % ALIGNMENT)
        str_add_char(out, ' ');
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
    add_header(w, &header);
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
