#include "trial/packed.h"

#include "base/minmax.h"

#include <string.h>

enum { SHARE_OF_MEMORY = 8 };

// All that the image of scratch follows from.
static void add_key(const struct packing *what, struct str *key)
{
    const struct candidate *c = what->candidate;
    str_add_bytes(key, (const char *)&c->scratch_bytes, sizeof c->scratch_bytes);
    str_add_bytes(key, (const char *)&what->inputs, sizeof what->inputs);
    for (int i = 0; i < c->packing; i++) {
        const struct gpu_pass *p = &c->pass[i];
        const struct spirv *s = &c->spirv[i];
        str_add_bytes(key, (const char *)&s->count, sizeof s->count);
        str_add_bytes(key, (const char *)s->word, s->count * sizeof *s->word);
        str_add_bytes(key, (const char *)p->groups, sizeof p->groups);
        str_add_bytes(key, (const char *)&c->subgroup[i], sizeof c->subgroup[i]);
        str_add_bytes(key, (const char *)p->push, c->push_bytes[i]);
    }
}

static struct packed_image *find(struct packed *p, const struct str *key)
{
    for (int i = 0; i < p->count; i++)
        if (p->image[i].key.length == key->length &&
            memcmp(p->image[i].key.text, key->text, key->length) == 0)
            return &p->image[i];
    return NULL;
}

static void drop(struct packed *p, struct gpu *g, struct packed_image *image)
{
    p->bytes -= image->bytes;
    gpu_buffer_destroy(g, image->buffer);
    str_finish(&image->key);
    *image = p->image[--p->count];
}

static void make_room(struct packed *p, struct gpu *g, uint64_t bytes, uint64_t most)
{
    while (p->count && (p->count == PACKED_MOST || p->bytes + bytes > most)) {
        struct packed_image *oldest = p->image;
        for (int i = 1; i < p->count; i++)
            oldest = p->image[i].used < oldest->used ? &p->image[i] : oldest;
        drop(p, g, oldest);
    }
}

static uint64_t most_bytes(const struct gpu *g)
{
    uint64_t memory = gpu_get_info(g)->memory_bytes;
    return memory ? uint64_min(PACKED_BYTES, memory / SHARE_OF_MEMORY) : PACKED_BYTES;
}

// Takes the key. That there is no memory for an image is no failure.
static enum gpu_status keep(struct packed *p, const struct packing *what, struct str *key,
                            struct err *e)
{
    uint64_t most = most_bytes(what->gpu);
    struct packed_image image = {.bytes = what->candidate->scratch_bytes, .used = ++p->uses};
    struct gpu_buffer *scratch = what->buffer[what->candidate->bindings - 1];
    if (image.bytes > most)
        return GPU_OK;
    make_room(p, what->gpu, image.bytes, most);
    enum gpu_status status = gpu_buffer_create(what->gpu, image.bytes, &image.buffer, e);
    if (status != GPU_OK)
        return status == GPU_LOST ? status : GPU_OK;
    status = gpu_copy(what->gpu, scratch, &image.buffer, 1, e);
    if (status != GPU_OK) {
        gpu_buffer_destroy(what->gpu, image.buffer);
        return status;
    }
    image.key = *key;
    *key = (struct str){0};
    p->image[p->count++] = image;
    p->bytes += image.bytes;
    return GPU_OK;
}

static enum gpu_status run(struct packed *p, const struct packing *what, struct str *key,
                           double timeout_s, struct err *e)
{
    struct gpu_buffer *scratch = what->buffer[what->candidate->bindings - 1];
    struct packed_image *image = find(p, key);
    if (image) {
        image->used = ++p->uses;
        return gpu_copy(what->gpu, image->buffer, &scratch, 1, e);
    }
    enum gpu_status status = candidate_pack(what->candidate, what->gpu, what->buffer, timeout_s, e);
    p->runs++;
    return status == GPU_OK ? keep(p, what, key, e) : status;
}

enum gpu_status packed_run(struct packed *p, const struct packing *what, double timeout_s,
                           struct err *e)
{
    struct str key = {0};
    if (!what->candidate->packing || !what->candidate->scratch_bytes)
        return candidate_pack(what->candidate, what->gpu, what->buffer, timeout_s, e);
    add_key(what, &key);
    enum gpu_status status = run(p, what, &key, timeout_s, e);
    str_finish(&key);
    return status;
}

void packed_forget(struct packed *p, struct gpu *g)
{
    while (p->count)
        drop(p, g, p->image);
}
