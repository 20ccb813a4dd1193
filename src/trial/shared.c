#include "trial/shared.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64 };

// Where buffer `index` of `set` begins; with (INPUT_SETS, 0) the size of it all.
static size_t offset_of(const struct operator_layout *l, int set, int index)
{
    size_t offset = 0;
    for (int i = 0; i < set * l->count + index; i++)
        offset += (l->buffer[i % l->count].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return offset;
}

bool shared_size(const struct operation *o, size_t *size, struct err *e)
{
    struct operator_layout l = operator_layout(o);
    double bytes = 0; // cannot wrap
    for (int i = 0; i < l.count; i++)
        bytes += (double)INPUT_SETS * ((double)l.buffer[i].bytes + ALIGNMENT);
    if (bytes >= 0x1p62)
        return err_set(e, "%s: inputs and results of %.3g bytes are too large", o->kind->name,
                       bytes);
    *size = offset_of(&l, INPUT_SETS, 0);
    return true;
}

bool shared_map(struct shared *s, const struct operation *o, int fd, bool writable, struct err *e)
{
    *s = (struct shared){.layout = operator_layout(o)};
    if (!shared_size(o, &s->size, e))
        return false;
    void *bytes =
        mmap(NULL, s->size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        return err_set(e, "cannot map %zu bytes of shared memory: %s", s->size, strerror(errno));
    s->bytes = bytes;
    return true;
}

void shared_unmap(struct shared *s)
{
    if (s->bytes)
        munmap(s->bytes, s->size);
    s->bytes = NULL;
}

void *shared_buffer(const struct shared *s, enum input_set set, int index)
{
    return s->bytes + offset_of(&s->layout, (int)set, index);
}

const void *shared_reference(const struct shared *s, enum input_set set)
{
    return shared_buffer(s, set, s->layout.count - 1);
}

void shared_prepare(struct shared *s, const struct operation *o, uint64_t seed)
{
    static const enum input_set sets[INPUT_SETS] = {INPUT_EXACT, INPUT_RANDOM};
    for (int k = 0; k < INPUT_SETS; k++) {
        const void *inputs[OPERATOR_MAX_BUFFERS];
        int output = s->layout.count - 1;
        for (int i = 0; i < output; i++) {
            operator_fill(o, sets[k], seed, i, shared_buffer(s, sets[k], i));
            inputs[i] = shared_buffer(s, sets[k], i);
        }
        operator_reference(o, inputs, shared_buffer(s, sets[k], output));
    }
}
