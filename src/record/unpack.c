#include "record/unpack.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <assert.h>
#include <limits.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { BLOCK = 512, END = 1024, PRESET = 6 };

// Numbers are octal digits with a NUL behind them; the checksum is computed with blanks in its
// place.
struct header {
    char name[100], mode[8], user[8], group[8], size[12], time[12], checksum[8], type;
    char link[100], magic[6], version[2], rest[247];
};

static const char zeros[END];

void pack_add(struct str *tar, const char *name, const void *bytes, size_t length)
{
    struct header h = {.type = '0'};
    unsigned sum = 0;
    static_assert(sizeof h == BLOCK, "a header is a block");
    assert(strlen(name) < sizeof h.name);
    memcpy(h.name, name, strlen(name));
    snprintf(h.mode, sizeof h.mode, "%07o", 0644u);
    snprintf(h.user, sizeof h.user, "%07o", 0u);
    snprintf(h.group, sizeof h.group, "%07o", 0u);
    snprintf(h.size, sizeof h.size, "%011zo", length);
    snprintf(h.time, sizeof h.time, "%011o", 0u);
    memcpy(h.magic, "ustar", sizeof h.magic);
    memcpy(h.version, "00", sizeof h.version);
    memset(h.checksum, ' ', sizeof h.checksum);
    for (size_t i = 0; i < sizeof h; i++)
        sum += ((const unsigned char *)&h)[i];
    snprintf(h.checksum, sizeof h.checksum, "%06o", sum);
    str_add_bytes(tar, &h, sizeof h);
    str_add_bytes(tar, bytes, length);
    str_add_bytes(tar, zeros, (BLOCK - length % BLOCK) % BLOCK);
}

bool pack_write(struct str *tar, const char *path, struct err *e)
{
    str_add_bytes(tar, zeros, END);
    size_t room = lzma_stream_buffer_bound(tar->length), length = 0;
    uint8_t *packed = mem_alloc(room);
    lzma_ret status =
        lzma_easy_buffer_encode(PRESET, LZMA_CHECK_CRC64, NULL, (const uint8_t *)tar->text,
                                tar->length, packed, &length, room);
    bool ok = status == LZMA_OK ? file_write(path, packed, length, e)
                                : err_at(e, path, 0, "liblzma cannot pack it (error %d)", status);
    free(packed);
    return ok;
}

const struct unpack_bound unpack_standard = {
    .most = (size_t)1 << 30, .free = (size_t)64 << 20, .ratio = 400};

enum { ROOM = 4, XZ_MEMORY = 256 << 20 };

struct packed {
    const char *path;
    const unsigned char *bytes;
    size_t length;
    const struct unpack_bound *bound;
};

struct plain {
    unsigned char *bytes;
    size_t length, capacity; // without ROOM
};

static bool cut_off(const struct packed *p, struct err *e)
{
    return err_at(e, p->path, 0, "the compressed data ends early, at byte %zu (is it cut off?)",
                  p->length);
}

static bool damaged(const struct packed *p, size_t at, const char *why, struct err *e)
{
    return err_at(e, p->path, 0, "damaged %s data at byte %zu", why, at);
}

static bool within_bound(const struct packed *p, size_t length, struct err *e)
{
    if (length > p->bound->most)
        return err_at(e, p->path, 0, "unpacks to more than %zu MiB (a decompression bomb?)",
                      p->bound->most >> 20);
    if (length > p->bound->free && length / p->bound->ratio > p->length)
        return err_at(e, p->path, 0,
                      "unpacks to more than %zu times its size (a decompression bomb?)",
                      p->bound->ratio);
    return true;
}

// Doubles the room, after checking what was unpacked so far.
static bool make_room(const struct packed *p, struct plain *out, struct err *e)
{
    if (out->length < out->capacity)
        return true;
    if (!within_bound(p, out->length, e))
        return false;
    out->capacity = out->capacity ? 2 * out->capacity : 256 * 1024;
    if (out->capacity > p->bound->most)
        out->capacity = p->bound->most + 1;
    out->bytes = mem_resize(out->bytes, out->capacity + ROOM, 1);
    return true;
}

static bool is_gzip(const unsigned char *bytes, size_t length)
{
    return length >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
}

static bool inflate_all(const struct packed *p, z_stream *z, struct plain *out, struct err *e)
{
    for (bool end = false; !end;) {
        if (!make_room(p, out, e))
            return false;
        size_t room = out->capacity - out->length;
        z->next_out = out->bytes + out->length;
        z->avail_out = room > UINT_MAX ? UINT_MAX : (uInt)room;
        uInt before = z->avail_out;
        int status = inflate(z, Z_NO_FLUSH);
        out->length += before - z->avail_out;
        if (status == Z_STREAM_END) {
            // Another member follows, or zeros as on tapes, or nothing.
            for (; z->avail_in > 0 && *z->next_in == 0; z->avail_in--)
                z->next_in++;
            end = z->avail_in == 0;
            if (!end && !is_gzip(z->next_in, z->avail_in))
                return damaged(p, p->length - z->avail_in, "gzip", e);
            inflateReset(z);
        } else if (status == Z_BUF_ERROR || (status == Z_OK && z->avail_in == 0 && z->avail_out)) {
            return cut_off(p, e);
        } else if (status != Z_OK) {
            return damaged(p, p->length - z->avail_in, "gzip", e);
        }
    }
    return within_bound(p, out->length, e);
}

static bool unpack_gzip(const struct packed *p, struct plain *out, struct err *e)
{
    enum { GZIP_ONLY = 16 + MAX_WBITS };
    z_stream z = {.next_in = (Bytef *)(uintptr_t)p->bytes, .avail_in = (uInt)p->length};
    if (inflateInit2(&z, GZIP_ONLY) != Z_OK)
        return err_at(e, p->path, 0, "zlib cannot be started");
    bool ok = inflate_all(p, &z, out, e);
    inflateEnd(&z);
    return ok;
}

static bool decode_all(const struct packed *p, lzma_stream *x, struct plain *out, struct err *e)
{
    for (lzma_ret status = LZMA_OK; status != LZMA_STREAM_END;) {
        if (!make_room(p, out, e))
            return false;
        x->next_out = out->bytes + out->length;
        x->avail_out = out->capacity - out->length;
        status = lzma_code(x, LZMA_FINISH);
        out->length = out->capacity - x->avail_out;
        if (status == LZMA_BUF_ERROR)
            return cut_off(p, e);
        if (status == LZMA_MEMLIMIT_ERROR)
            return err_at(e, p->path, 0, "needs more than %d MiB to unpack", XZ_MEMORY >> 20);
        if (status != LZMA_OK && status != LZMA_STREAM_END)
            return damaged(p, p->length - x->avail_in, "xz", e);
    }
    return within_bound(p, out->length, e);
}

static bool unpack_xz(const struct packed *p, struct plain *out, struct err *e)
{
    lzma_stream x = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&x, XZ_MEMORY, LZMA_CONCATENATED) != LZMA_OK)
        return err_at(e, p->path, 0, "liblzma cannot be started");
    x.next_in = p->bytes;
    x.avail_in = p->length;
    bool ok = decode_all(p, &x, out, e);
    lzma_end(&x);
    return ok;
}

bool unpack_file(const char *path, const struct unpack_bound *bound, char **text, size_t *length,
                 struct err *e)
{
    struct plain out = {0};
    char *bytes;
    struct packed p = {.path = path, .bound = bound};
    if (!file_read(path, &bytes, &p.length, e))
        return false;
    bool ok = true;
    p.bytes = (const unsigned char *)bytes;
    if (is_gzip(p.bytes, p.length))
        ok = unpack_gzip(&p, &out, e);
    else if (p.length >= 6 && memcmp(p.bytes, "\xFD\x37zXZ", 6) == 0) // its NUL counts
        ok = unpack_xz(&p, &out, e);
    else {
        out.bytes = mem_alloc(p.length + ROOM);
        out.length = p.length;
        memcpy(out.bytes, p.bytes, p.length);
    }
    free(bytes);
    if (!ok) {
        free(out.bytes);
        return false;
    }
    out.bytes[out.length] = '\0';
    *text = (char *)out.bytes;
    *length = out.length;
    return true;
}
