#include "onnx/wire.h"

enum { MOST_VARINT_BYTES = 10 };

struct wire_walk wire_walk_begin(const unsigned char *bytes, size_t length)
{
    return (struct wire_walk){.at = bytes, .end = bytes + length};
}

static bool read_varint(struct wire_walk *w, uint64_t *out)
{
    *out = 0;
    for (int i = 0; i < MOST_VARINT_BYTES && w->at < w->end; i++) {
        unsigned char byte = *w->at++;
        *out |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool skip(struct wire_walk *w, uint64_t bytes)
{
    if (bytes > (uint64_t)(w->end - w->at))
        return false;
    w->data = w->at;
    w->length = (size_t)bytes;
    w->at += bytes;
    return true;
}

static bool read_field(struct wire_walk *w)
{
    uint64_t tag, value;
    if (!read_varint(w, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
        return false;
    w->field = (uint32_t)(tag >> 3);
    w->kind = (enum wire_kind)(tag & 7);
    switch (w->kind) {
    case WIRE_VARINT: return read_varint(w, &value);
    case WIRE_FIXED64: return skip(w, 8);
    case WIRE_FIXED32: return skip(w, 4);
    case WIRE_BYTES: return read_varint(w, &value) && skip(w, value);
    }
    return false;
}

bool wire_next(struct wire_walk *w)
{
    if (w->at == w->end || w->is_broken)
        return false;
    w->whole = w->at;
    w->data = NULL;
    w->length = 0;
    w->is_broken = !read_field(w);
    return !w->is_broken;
}
