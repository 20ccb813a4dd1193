#include "gpu/vk.h"

#include <string.h>

static const char *result_name(VkResult r)
{
#define NAME(x)                                                                                    \
    case x: return #x
    switch (r) {
        NAME(VK_NOT_READY);
        NAME(VK_TIMEOUT);
        NAME(VK_INCOMPLETE);
        NAME(VK_ERROR_OUT_OF_HOST_MEMORY);
        NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY);
        NAME(VK_ERROR_INITIALIZATION_FAILED);
        NAME(VK_ERROR_DEVICE_LOST);
        NAME(VK_ERROR_MEMORY_MAP_FAILED);
        NAME(VK_ERROR_LAYER_NOT_PRESENT);
        NAME(VK_ERROR_EXTENSION_NOT_PRESENT);
        NAME(VK_ERROR_FEATURE_NOT_PRESENT);
        NAME(VK_ERROR_INCOMPATIBLE_DRIVER);
        NAME(VK_ERROR_TOO_MANY_OBJECTS);
        NAME(VK_ERROR_FRAGMENTED_POOL);
        NAME(VK_ERROR_UNKNOWN);
        NAME(VK_ERROR_OUT_OF_POOL_MEMORY);
        NAME(VK_ERROR_INVALID_SHADER_NV);
    default: return NULL;
    }
#undef NAME
}

enum gpu_status vk_fail(VkResult r, const char *call, struct err *e)
{
    int length = (int)strcspn(call, "(");
    const char *name = result_name(r);
    if (name)
        err_set(e, "%.*s: %s", length, call, name);
    else
        err_set(e, "%.*s: VkResult %d", length, call, (int)r);

    switch (r) {
    case VK_ERROR_DEVICE_LOST: return GPU_LOST;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY: return GPU_OUT_OF_MEMORY;
    case VK_TIMEOUT: return GPU_TIMEOUT;
    default: return GPU_FAILED;
    }
}
