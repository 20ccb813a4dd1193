// What a driver's compiler made of pipelines, as bytes that go from one process to another.
#include "base/mem.h"
#include "gpu/vk.h"

#include <stdlib.h>

void gpu_keep(struct gpu *g, const struct gpu_kept *known)
{
    const VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
        .initialDataSize = known->size,
        .pInitialData = known->bytes,
    };
    if (vkCreatePipelineCache(g->device, &info, NULL, &g->cache) != VK_SUCCESS)
        g->cache = VK_NULL_HANDLE;
}

static void read_cache(struct gpu *g, struct gpu_kept *out)
{
    *out = (struct gpu_kept){0};
    if (g->cache && vkGetPipelineCacheData(g->device, g->cache, &out->size, NULL) == VK_SUCCESS)
        out->bytes = mem_alloc(out->size);
    if (!out->bytes ||
        vkGetPipelineCacheData(g->device, g->cache, &out->size, out->bytes) != VK_SUCCESS)
        gpu_kept_finish(out);
}

void gpu_end_keeping(struct gpu *g, struct gpu_kept *out)
{
    if (out)
        read_cache(g, out);
    vkDestroyPipelineCache(g->device, g->cache, NULL);
    g->cache = VK_NULL_HANDLE;
}

void gpu_kept_finish(struct gpu_kept *k)
{
    free(k->bytes);
    *k = (struct gpu_kept){0};
}
