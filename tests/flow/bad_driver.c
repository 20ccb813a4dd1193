// A Vulkan driver that aborts, or hangs (BAD_DRIVER_HANGS), as soon as the loader speaks to it.
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef BAD_LAYER // one that takes whoever loads it down
__attribute__((constructor)) static void load(void)
{
    abort();
}
#endif

int32_t vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version);
void *vk_icdGetInstanceProcAddr(void *instance, const char *name);

int32_t vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version)
{
    (void)version;
#ifdef BAD_DRIVER_HANGS
    for (;;)
        pause();
#else
    abort();
#endif
}

void *vk_icdGetInstanceProcAddr(void *instance, const char *name)
{
    (void)instance, (void)name;
    return NULL;
}
