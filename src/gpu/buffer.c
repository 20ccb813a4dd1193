#include "base/mem.h"
#include "base/number.h"
#include "gpu/vk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STAGING_BYTES  (UINT64_C(16) << 20)
#define COPY_TIMEOUT_S 30.0

#define HOST   (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)
#define CACHED VK_MEMORY_PROPERTY_HOST_CACHED_BIT
#define LOCAL  VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT

// Kinds of memory, best first. Kernels are timed on the device's fastest memory, which is the first
// of its own: types with more properties come later in the list (Vulkan spec 11.2) and are slower
// on integrated GPUs, where they are coherent with the host's caches. Memory that the host sees but
// does not cache (a GPU's behind the bus) is slow to read: there staging is faster.
static const VkMemoryPropertyFlags storage_wishes[] = {LOCAL, 0, 0};
static const VkMemoryPropertyFlags staging_wishes[] = {HOST | CACHED, HOST, HOST};

static bool has_addresses(const struct gpu *g)
{
    return g->adapter.info.limits.features & FEATURE_ADDRESS;
}

static enum gpu_status create_handle(struct gpu *g, uint64_t bytes, VkBuffer *out,
                                     VkMemoryRequirements *need, struct err *e)
{
    VkBufferUsageFlags addressed = has_addresses(g) ? VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT : 0;
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = bytes,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                 VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
                 VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT | addressed,
    };
    VK_TRY(vkCreateBuffer(g->device, &info, NULL, out));
    vkGetBufferMemoryRequirements(g->device, *out, need);
    return GPU_OK;
}

static enum gpu_status allocate(struct gpu *g, const VkMemoryRequirements *need,
                                const VkMemoryPropertyFlags wish[3], VkDeviceMemory *out,
                                void **mapped, struct err *e)
{
    int type = -1;
    for (int w = 0; w < 3 && type < 0; w++)
        for (uint32_t i = 0; i < g->memory.memoryTypeCount && type < 0; i++)
            if ((need->memoryTypeBits >> i & 1) &&
                (g->memory.memoryTypes[i].propertyFlags & wish[w]) == wish[w])
                type = (int)i;
    if (type < 0)
        return vk_fail(VK_ERROR_FEATURE_NOT_PRESENT, "memory for a buffer", e);
    const VkMemoryAllocateFlagsInfo flagged = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = has_addresses(g) ? &flagged : NULL,
        .allocationSize = need->size,
        .memoryTypeIndex = (uint32_t)type,
    };
    VK_TRY(vkAllocateMemory(g->device, &info, NULL, out));
    VkMemoryPropertyFlags flags = g->memory.memoryTypes[type].propertyFlags;
    const VkMemoryPropertyFlags handy = LOCAL | HOST | CACHED;
    if ((flags & handy) == handy || wish == staging_wishes)
        VK_TRY(vkMapMemory(g->device, *out, 0, VK_WHOLE_SIZE, 0, mapped));
    return GPU_OK;
}

enum gpu_status vk_allocate(struct gpu *g, const VkMemoryRequirements *need, VkDeviceMemory *out,
                            void **mapped, struct err *e)
{
    return allocate(g, need, storage_wishes, out, mapped, e);
}

static enum gpu_status buffer_init(struct gpu *g, uint64_t bytes, uint64_t guard,
                                   const VkMemoryPropertyFlags wish[3], struct gpu_buffer *b,
                                   struct err *e)
{
    VkMemoryRequirements need;
    b->bytes = bytes;
    b->guard = guard;
    GPU_TRY(create_handle(g, bytes + 2 * guard, &b->handle, &need, e));
    GPU_TRY(allocate(g, &need, wish, &b->memory, &b->mapped, e));
    VK_TRY(vkBindBufferMemory(g->device, b->handle, b->memory, 0));
    return GPU_OK;
}

void vk_buffer_finish(struct gpu *g, struct gpu_buffer *b)
{
    vkDestroyBuffer(g->device, b->handle, NULL);
    vkFreeMemory(g->device, b->memory, NULL); // unmaps; a placed buffer has none
    *b = (struct gpu_buffer){0};
}

enum gpu_status gpu_buffer_create(struct gpu *g, uint64_t bytes, struct gpu_buffer **out,
                                  struct err *e)
{
    return gpu_buffer_create_guarded(g, bytes, 0, out, e);
}

enum gpu_status gpu_buffer_create_guarded(struct gpu *g, uint64_t bytes, uint64_t guard,
                                          struct gpu_buffer **out, struct err *e)
{
    *out = NULL;
    uint64_t most = g->adapter.info.limits.buffer_bytes;
    if (bytes == 0 || bytes % 4 != 0 || bytes > most) {
        err_set(e, "a buffer of %" PRIu64 " bytes (a multiple of 4 up to %" PRIu64 " is possible)",
                bytes, most);
        return GPU_FAILED;
    }
    struct gpu_buffer *b = mem_zero(1, sizeof *b);
    uint64_t room = (most - bytes) / 2;
    enum gpu_status status =
        buffer_init(g, bytes, (room < guard ? room : guard) / GPU_PLACE_BYTES * GPU_PLACE_BYTES,
                    storage_wishes, b, e);
    if (status == GPU_OK) {
        *out = b;
        return GPU_OK;
    }
    err_prefix(e, "a buffer of %" PRIu64 " bytes", bytes);
    gpu_buffer_destroy(g, b);
    return status;
}

uint64_t vk_buffer_address(struct gpu *g, const struct gpu_buffer *b)
{
    const VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                            .buffer = b->handle};
    const char *name =
        g->adapter.needs_address ? "vkGetBufferDeviceAddressKHR" : "vkGetBufferDeviceAddress";
    PFN_vkGetBufferDeviceAddress get =
        (PFN_vkGetBufferDeviceAddress)vkGetDeviceProcAddr(g->device, name);
    return has_addresses(g) && get ? get(g->device, &info) + b->guard : 0;
}

// A buffer that a kernel may still be using is not freed before the process ends.
void gpu_buffer_destroy(struct gpu *g, struct gpu_buffer *b)
{
    if (!b || vk_settle(g, 0, NULL) == GPU_TIMEOUT)
        return;
    vk_buffer_finish(g, b);
    free(b);
}

// --- several buffers in one memory ---

enum gpu_status gpu_memory_create(struct gpu *g, uint64_t bytes, struct gpu_memory **out,
                                  struct err *e)
{
    const uint64_t any = GPU_PLACE_BYTES; // buffers of one usage differ only in their sizes
    struct gpu_memory *m = mem_zero(1, sizeof *m);
    VkBuffer probe = VK_NULL_HANDLE;
    VkMemoryRequirements need = {0};
    *out = m;
    m->bytes = bytes;
    enum gpu_status status = create_handle(g, any, &probe, &need, e);
    vkDestroyBuffer(g->device, probe, NULL);
    need.size = bytes;
    if (status == GPU_OK)
        status = allocate(g, &need, storage_wishes, &m->handle, &m->mapped, e);
    if (status == GPU_OK)
        return status;
    err_prefix(e, "memory of %" PRIu64 " bytes", bytes);
    gpu_memory_destroy(g, m);
    *out = NULL;
    return status;
}

void gpu_memory_destroy(struct gpu *g, struct gpu_memory *m)
{
    if (!m || vk_settle(g, 0, NULL) == GPU_TIMEOUT)
        return;
    vkFreeMemory(g->device, m->handle, NULL);
    free(m);
}

static enum gpu_status place(struct gpu *g, const struct gpu_memory *m, uint64_t offset,
                             struct gpu_buffer *b, struct err *e)
{
    VkMemoryRequirements need;
    GPU_TRY(create_handle(g, b->bytes, &b->handle, &need, e));
    if (offset % need.alignment || offset > m->bytes || need.size > m->bytes - offset) {
        err_set(e,
                "no place for %" PRIu64 " bytes at %" PRIu64 " (of %" PRIu64 ", %" PRIu64 " apart)",
                need.size, offset, m->bytes, (uint64_t)need.alignment);
        return GPU_FAILED;
    }
    VK_TRY(vkBindBufferMemory(g->device, b->handle, m->handle, offset));
    b->mapped = m->mapped ? (char *)m->mapped + offset : NULL;
    return GPU_OK;
}

enum gpu_status gpu_buffer_place(struct gpu *g, const struct gpu_memory *m, uint64_t offset,
                                 uint64_t bytes, struct gpu_buffer **out, struct err *e)
{
    struct gpu_buffer *b = mem_zero(1, sizeof *b);
    b->bytes = bytes;
    enum gpu_status status = place(g, m, offset, b, e);
    if (status != GPU_OK) {
        gpu_buffer_destroy(g, b);
        b = NULL;
    }
    *out = b;
    return status;
}

// --- copies ---

static enum gpu_status check_range(const struct gpu_buffer *b, uint64_t offset, uint64_t bytes,
                                   struct err *e)
{
    if (offset <= b->bytes && bytes <= b->bytes - offset)
        return GPU_OK;
    err_set(e, "bytes %" PRIu64 " .. %" PRIu64 " of a buffer of %" PRIu64, offset, offset + bytes,
            b->bytes);
    return GPU_FAILED;
}

static enum gpu_status copy(struct gpu *g, const struct gpu_buffer *from, uint64_t from_offset,
                            const struct gpu_buffer *to, uint64_t to_offset, uint64_t bytes,
                            struct err *e)
{
    GPU_TRY(vk_begin(g, COPY_TIMEOUT_S, e));
    const VkBufferCopy region = {from_offset, to_offset, bytes};
    vkCmdCopyBuffer(g->command, from->handle, to->handle, 1, &region);
    return vk_submit(g, COPY_TIMEOUT_S, NULL, e);
}

static enum gpu_status need_staging(struct gpu *g, struct err *e)
{
    if (g->staging.mapped)
        return GPU_OK;
    enum gpu_status status = buffer_init(g, STAGING_BYTES, 0, staging_wishes, &g->staging, e);
    if (status != GPU_OK)
        vk_buffer_finish(g, &g->staging);
    return status;
}

enum gpu_status gpu_write(struct gpu *g, struct gpu_buffer *b, uint64_t offset, const void *data,
                          uint64_t bytes, struct err *e)
{
    GPU_TRY(check_range(b, offset, bytes, e));
    GPU_TRY(vk_settle(g, COPY_TIMEOUT_S, e));
    if (b->mapped) {
        memcpy((char *)b->mapped + b->guard + offset, data, bytes);
        return GPU_OK;
    }
    GPU_TRY(need_staging(g, e));
    for (uint64_t done = 0, n; done < bytes; done += n) {
        n = uint64_min(bytes - done, STAGING_BYTES);
        memcpy(g->staging.mapped, (const char *)data + done, n);
        GPU_TRY(copy(g, &g->staging, 0, b, b->guard + offset + done, n, e));
    }
    return GPU_OK;
}

// `offset` counts from the first guard on.
static enum gpu_status read_raw(struct gpu *g, struct gpu_buffer *b, uint64_t offset, void *data,
                                uint64_t bytes, struct err *e)
{
    GPU_TRY(vk_settle(g, COPY_TIMEOUT_S, e));
    if (b->mapped) {
        memcpy(data, (const char *)b->mapped + offset, bytes);
        return GPU_OK;
    }
    GPU_TRY(need_staging(g, e));
    for (uint64_t done = 0, n; done < bytes; done += n) {
        n = uint64_min(bytes - done, STAGING_BYTES);
        GPU_TRY(copy(g, b, offset + done, &g->staging, 0, n, e));
        memcpy((char *)data + done, g->staging.mapped, n);
    }
    return GPU_OK;
}

enum gpu_status gpu_read(struct gpu *g, struct gpu_buffer *b, uint64_t offset, void *data,
                         uint64_t bytes, struct err *e)
{
    GPU_TRY(check_range(b, offset, bytes, e));
    return read_raw(g, b, b->guard + offset, data, bytes, e);
}

uint64_t gpu_guard_bytes(const struct gpu_buffer *b)
{
    return b->guard;
}

enum gpu_status gpu_read_guards(struct gpu *g, struct gpu_buffer *b, void *data, struct err *e)
{
    GPU_TRY(read_raw(g, b, 0, data, b->guard, e));
    return read_raw(g, b, b->guard + b->bytes, (char *)data + b->guard, b->guard, e);
}

static enum gpu_status fill(struct gpu *g, const struct gpu_buffer *b, uint64_t offset,
                            uint64_t bytes, uint32_t word, struct err *e)
{
    GPU_TRY(vk_begin(g, COPY_TIMEOUT_S, e));
    vkCmdFillBuffer(g->command, b->handle, offset, bytes, word);
    return vk_submit(g, COPY_TIMEOUT_S, NULL, e);
}

enum gpu_status gpu_fill(struct gpu *g, struct gpu_buffer *b, uint32_t word, struct err *e)
{
    return fill(g, b, 0, VK_WHOLE_SIZE, word, e);
}

enum gpu_status gpu_fill_content(struct gpu *g, struct gpu_buffer *b, uint32_t word, struct err *e)
{
    return fill(g, b, b->guard, b->bytes, word, e);
}

enum gpu_status gpu_copy(struct gpu *g, const struct gpu_buffer *from, struct gpu_buffer *const *to,
                         int count, struct err *e)
{
    for (int i = 0; i < count; i++)
        GPU_TRY(check_range(to[i], 0, from->bytes, e));
    GPU_TRY(vk_begin(g, COPY_TIMEOUT_S, e));
    for (int i = 0; i < count; i++) {
        const VkBufferCopy region = {from->guard, to[i]->guard, from->bytes};
        vkCmdCopyBuffer(g->command, from->handle, to[i]->handle, 1, &region);
    }
    return vk_submit(g, COPY_TIMEOUT_S, NULL, e);
}

bool vk_keeps_writes(struct gpu *g, double patience_s)
{
    const uint32_t word = 0x600df00d;
    if (need_staging(g, NULL) != GPU_OK)
        return true; // no memory now: nothing is known
    memset(g->staging.mapped, 0, sizeof word);
    if (vk_begin(g, patience_s, NULL) != GPU_OK)
        return true;
    vkCmdFillBuffer(g->command, g->staging.handle, 0, sizeof word, word);
    return vk_submit(g, patience_s, NULL, NULL) != GPU_OK ||
           memcmp(g->staging.mapped, &word, sizeof word) == 0;
}
