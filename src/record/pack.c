#include "record/pack.h"

#include "base/file.h"
#include "base/mem.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lzma.h>

enum { BLOCK = 512, END = 1024, PRESET = 6 };

// Numbers are octal digits with a NUL behind them; the checksum is taken with blanks in its place.
struct header {
    char name[100], mode[8], user[8], group[8], size[12], time[12], checksum[8], type;
    char link[100], magic[6], version[2], rest[247];
};

static void add_zeros(struct str *tar, size_t count)
{
    static const char zeros[END] = "";
    str_add_bytes(tar, zeros, count);
}

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
    add_zeros(tar, (BLOCK - length % BLOCK) % BLOCK);
}

bool pack_write(struct str *tar, const char *path, struct err *e)
{
    add_zeros(tar, END);
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
