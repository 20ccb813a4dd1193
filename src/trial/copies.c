#include "trial/copies.h"

#include "base/log.h"
#include "base/mem.h"

#include <stdlib.h>

enum { FEWEST = 2, SHARE_OF_MEMORY = 8 };

static uint64_t placed_bytes(const struct operator_buffer *b)
{
    return (b->bytes + GPU_PLACE_BYTES - 1) / GPU_PLACE_BYTES * GPU_PLACE_BYTES;
}

static uint64_t bytes_of_one(const struct operator_layout *l)
{
    uint64_t bytes = 0;
    for (int i = 0; i < l->count; i++)
        bytes += placed_bytes(&l->buffer[i]);
    return bytes;
}

int copies_wanted(uint64_t bytes, uint64_t memory_bytes)
{
    uint64_t all = COPIES_BYTES;
    if (memory_bytes && memory_bytes / SHARE_OF_MEMORY < all)
        all = memory_bytes / SHARE_OF_MEMORY;
    uint64_t count = (all + bytes - 1) / bytes;
    return count < FEWEST ? FEWEST : count > COPIES_MOST ? COPIES_MOST : (int)count;
}

static enum gpu_status place_all(struct copies *c, struct gpu *g, const struct operator_layout *l,
                                 struct err *e)
{
    uint64_t at = 0;
    enum gpu_status status = GPU_OK;
    for (int k = 0; k < c->count && status == GPU_OK; k++)
        for (int i = 0; i < l->count && status == GPU_OK; i++) {
            struct gpu_buffer **b = &c->buffer[k * (c->buffers + 1) + i];
            status = gpu_buffer_place(g, c->memory, at, l->buffer[i].bytes, b, e);
            at += placed_bytes(&l->buffer[i]);
        }
    return status;
}

enum gpu_status copies_create(struct copies *c, struct gpu *g, const struct operator_layout *l,
                              struct err *e)
{
    uint64_t each = bytes_of_one(l), memory_bytes = gpu_get_info(g)->memory_bytes;
    int count = copies_wanted(each, memory_bytes);
    *c = (struct copies){.count = count, .buffers = l->count};
    c->buffer = mem_zero((size_t)count * (size_t)(l->count + 1), sizeof(struct gpu_buffer *));
    if (count == COPIES_MOST)
        log_warning("--cold: %d copies of %.3g KiB may fit a cache of the device", count,
                    (double)each / 1024);
    enum gpu_status status = gpu_memory_create(g, each * (uint64_t)count, &c->memory, e);
    if (status == GPU_OK)
        status = place_all(c, g, l, e);
    if (status != GPU_OK)
        err_prefix(e, "%d copies of the buffers (--cold)", count);
    return status;
}

// One submission for each of the operator's buffers.
static enum gpu_status load_one(const struct copies *c, struct gpu *g,
                                const struct gpu_buffer *from, int i, struct err *e)
{
    struct gpu_buffer **to = mem_zero((size_t)c->count, sizeof(struct gpu_buffer *));
    for (int k = 0; k < c->count; k++)
        to[k] = c->buffer[k * (c->buffers + 1) + i];
    enum gpu_status status = gpu_copy(g, from, to, c->count, e);
    free(to);
    return status;
}

enum gpu_status copies_load(const struct copies *c, struct gpu *g, struct gpu_buffer *const *from,
                            struct err *e)
{
    enum gpu_status status = GPU_OK;
    for (int i = 0; i < c->buffers && status == GPU_OK; i++)
        status = load_one(c, g, from[i], i, e);
    return status;
}

void copies_use(const struct copies *c, struct gpu_sequence *s)
{
    if (!c->count)
        return;
    for (int k = 0; k < c->count; k++)
        c->buffer[k * (c->buffers + 1) + c->buffers] = s->buffer[c->buffers];
    s->buffer = c->buffer;
    s->copies = c->count;
    s->stride = c->buffers + 1;
}
