#include "trial/rig.h"

#include "base/mem.h"
#include "base/os.h"
#include "kernel/kernel.h"
#include "trial/device_reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD_BYTES = 16 * 1024, POISON_BYTE = 0xff };

// A JIT that runs wild must end this worker and not the machine. The limit is on address space, of
// which a real GPU's driver and the sanitizers take terabytes.
static void limit_memory(const struct gpu_info *info)
{
#ifndef __SANITIZE_ADDRESS__
    const uint64_t lavapipe_bytes = (uint64_t)8 << 30;
    if (info->is_lavapipe)
        os_limit_memory(lavapipe_bytes);
#else
    (void)info;
#endif
}

// No more may be bound than the device can.
static uint64_t guard_size(uint64_t bytes, uint64_t most)
{
    uint64_t room = most > bytes ? (most - bytes) / 4 * 4 : 0;
    return room < GUARD_BYTES ? room : GUARD_BYTES;
}

static bool create_buffers(struct rig *r, struct err *e)
{
    int output = r->layout.count - 1;
    uint64_t bytes = r->layout.buffer[output].bytes;
    r->guard_bytes = guard_size(bytes, r->hello.limits.buffer_bytes);
    for (int i = 0; i < r->layout.count; i++) {
        uint64_t own = r->layout.buffer[i].bytes;
        uint64_t guard = guard_size(own, r->hello.limits.buffer_bytes);
        if (gpu_buffer_create(r->gpu, own + guard, &r->buffer[i], e) != GPU_OK)
            return err_prefix(e, "buffer %s", r->layout.buffer[i].name);
    }
    r->fetched = mem_alloc(bytes + r->guard_bytes + GUARD_BYTES);
    return true;
}

// Whether the device works at all: after it was lost this is the first thing that is asked of it.
static bool probe(struct rig *r, struct err *e)
{
    uint32_t word = 0;
    struct gpu_buffer *first = r->buffer[0];
    if (gpu_fill(r->gpu, first, 0x600df00d, e) != GPU_OK ||
        gpu_read(r->gpu, first, 0, &word, sizeof word, e) != GPU_OK)
        return err_prefix(e, "the device does not answer");
    return word == 0x600df00d || err_set(e, "the device forgets what is written to it");
}

// Numbers of devices change when a driver comes or goes.
static bool check_identity(const struct rig *r, struct err *e)
{
    struct gpu_info info = *gpu_get_info(r->gpu);
    char id[33];
    if (!kernel_add_compiler(info.driver, sizeof info.driver, e))
        return false;
    gpu_identity(&info, id);
    return !r->hello.device_id[0] || strcmp(id, r->hello.device_id) == 0 ||
           err_set(e,
                   "device %d is '%s' now, not the one this session was opened on (its driver or "
                   "the list of devices has changed)",
                   r->hello.device, info.name);
}

bool rig_open(struct rig *r, const struct hello *h, struct err *e)
{
    *r = (struct rig){.hello = *h, .layout = operator_layout(&h->operation)};
    gpu_prepare_environment();
    kernel_setup();
    r->gpu = gpu_open(h->device, h->validate, e);
    if (!r->gpu)
        return false;
    limit_memory(gpu_get_info(r->gpu));
    return check_identity(r, e) && create_buffers(r, e) && probe(r, e);
}

void rig_close(struct rig *r)
{
    for (int i = 0; r->gpu && i <= r->layout.count; i++)
        if (r->buffer[i])
            gpu_buffer_destroy(r->gpu, r->buffer[i]);
    if (r->gpu)
        gpu_close(r->gpu);
    shared_unmap(&r->shared);
    free(r->fetched);
    *r = (struct rig){0};
}

bool rig_prepare(struct rig *r, int fd, struct err *e)
{
    if (!shared_map(&r->shared, &r->hello.operation, fd, true, e))
        return false;
    shared_prepare(&r->shared, &r->hello.operation, r->hello.seed);
    bool ok = device_reference_compute(r, &r->hello.reference, e);
    shared_unmap(&r->shared);
    return ok;
}

bool rig_attach(struct rig *r, int fd, struct err *e)
{
    return r->shared.bytes || shared_map(&r->shared, &r->hello.operation, fd, false, e);
}

enum gpu_status rig_scratch(struct rig *r, uint64_t bytes, struct err *e)
{
    struct gpu_buffer **scratch = &r->buffer[r->layout.count];
    if (bytes == r->scratch_bytes)
        return GPU_OK;
    if (*scratch)
        gpu_buffer_destroy(r->gpu, *scratch);
    *scratch = NULL;
    r->scratch_bytes = r->scratch_guard_bytes = 0;
    if (bytes == 0)
        return GPU_OK;
    uint64_t guard = guard_size(bytes, r->hello.limits.buffer_bytes);
    enum gpu_status status = gpu_buffer_create(r->gpu, bytes + guard, scratch, e);
    if (status == GPU_OK) {
        r->scratch_bytes = bytes;
        r->scratch_guard_bytes = guard;
    }
    return status;
}

int rig_bindings(const struct rig *r, const struct job *j)
{
    return r->layout.count + (j->scratch_bytes > 0);
}

// Whatever is read from where nothing was written, the guards behind the inputs too, is not a
// number and makes the result wrong.
enum gpu_status rig_load(struct rig *r, enum input_set set, struct err *e)
{
    int output = r->layout.count - 1, last = output + (r->scratch_bytes > 0);
    enum gpu_status status = GPU_OK;
    for (int i = 0; status == GPU_OK && i <= last; i++) {
        status = gpu_fill(r->gpu, r->buffer[i], RIG_POISON_WORD, e);
        if (status == GPU_OK && i < output)
            status = gpu_write(r->gpu, r->buffer[i], 0, shared_buffer(&r->shared, set, i),
                               r->layout.buffer[i].bytes, e);
    }
    return status;
}

static uint64_t output_bytes(const struct rig *r)
{
    return r->layout.buffer[r->layout.count - 1].bytes;
}

enum gpu_status rig_fetch(struct rig *r, struct err *e)
{
    uint64_t bytes = output_bytes(r) + r->guard_bytes;
    enum gpu_status status =
        gpu_read(r->gpu, r->buffer[r->layout.count - 1], 0, r->fetched, bytes, e);
    if (status == GPU_OK && r->scratch_guard_bytes)
        status = gpu_read(r->gpu, r->buffer[r->layout.count], r->scratch_bytes, r->fetched + bytes,
                          r->scratch_guard_bytes, e);
    return status;
}

void rig_corrupt(struct rig *r, enum corruption c)
{
    if (c == CORRUPT_FIRST)
        r->fetched[1] ^= 0x40;
    if (c == CORRUPT_LAST)
        r->fetched[output_bytes(r) - 1] ^= 0x40;
    if (c == CORRUPT_GUARD && r->guard_bytes)
        r->fetched[output_bytes(r)] ^= 0x40;
}

static bool is_intact(const unsigned char *guard, uint64_t bytes, const char *name, char *reason,
                      size_t size)
{
    for (uint64_t i = 0; i < bytes; i++)
        if (guard[i] != POISON_BYTE) {
            snprintf(reason, size, "it wrote past the end of %s, at byte +%llu", name,
                     (unsigned long long)i);
            return false;
        }
    return true;
}

bool rig_verify(const struct rig *r, enum input_set set, char *reason, size_t size)
{
    const struct operator_buffer *output = &r->layout.buffer[r->layout.count - 1];
    const unsigned char *guard = r->fetched + output->bytes;
    return is_intact(guard, r->guard_bytes, output->name, reason, size) &&
           is_intact(guard + r->guard_bytes, r->scratch_guard_bytes, "scratch", reason, size) &&
           operator_compare(&r->hello.operation, set, r->fetched, shared_reference(&r->shared, set),
                            NULL, reason, size);
}
