#include "base/mem.h"
#include "base/str.h"
#include "gpu/vk.h"

#include <stdlib.h>

bool adapter_has_extension(const struct adapter *a, const char *name)
{
    uint32_t count = 0;
    if (vkEnumerateDeviceExtensionProperties(a->handle, NULL, &count, NULL) != VK_SUCCESS)
        return false;
    VkExtensionProperties *list = mem_zero(count, sizeof *list);
    bool found = false;
    if (vkEnumerateDeviceExtensionProperties(a->handle, NULL, &count, list) == VK_SUCCESS)
        for (uint32_t i = 0; i < count; i++)
            found |= str_equal(list[i].extensionName, name);
    free(list);
    return found;
}
