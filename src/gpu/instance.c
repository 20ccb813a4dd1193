#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "gpu/vk.h"

#include <stdlib.h>
#include <string.h>

#define VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"

// Drivers that lack a part of Vulkan (MoltenVK) are listed only for those that ask for them.
static bool lists_portability(void)
{
    uint32_t count = 0;
    if (vkEnumerateInstanceExtensionProperties(NULL, &count, NULL) != VK_SUCCESS)
        return false;
    VkExtensionProperties *list = mem_zero(count, sizeof *list);
    bool found = false;
    if (vkEnumerateInstanceExtensionProperties(NULL, &count, list) == VK_SUCCESS)
        for (uint32_t i = 0; i < count; i++)
            found |=
                str_equal(list[i].extensionName, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
    free(list);
    return found;
}

enum gpu_status instance_create(bool validate, VkInstance *out, struct err *e)
{
    uint32_t version = 0;
    VK_TRY(vkEnumerateInstanceVersion(&version));
    if (version < VK_API_VERSION_1_1) {
        err_set(e, "the Vulkan loader is too old (1.1 is needed)");
        return GPU_FAILED;
    }
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "tilewalk",
        .apiVersion = version < VK_API_VERSION_1_3 ? version : VK_API_VERSION_1_3,
    };
    const char *layer = VALIDATION_LAYER, *extension[2];
    uint32_t extensions = 0;
    bool portability = lists_portability();
    if (validate)
        extension[extensions++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    if (portability)
        extension[extensions++] = VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
        .enabledLayerCount = validate ? 1 : 0,
        .ppEnabledLayerNames = &layer,
        .flags = portability ? VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR : 0,
        .enabledExtensionCount = extensions,
        .ppEnabledExtensionNames = extension,
    };
    VkResult r = vkCreateInstance(&info, NULL, out);
    if (r == VK_ERROR_INCOMPATIBLE_DRIVER) { // a loader without any driver
        *out = VK_NULL_HANDLE;
        return GPU_OK;
    }
    if (r == VK_ERROR_LAYER_NOT_PRESENT) {
        err_set(e,
                "the Vulkan validation layer is not installed (package vulkan-validationlayers)");
        return GPU_FAILED;
    }
    return r == VK_SUCCESS ? GPU_OK : vk_fail(r, "vkCreateInstance", e);
}

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data,
                                                 void *context)
{
    (void)severity, (void)types;
    int *messages = context;
    ++*messages;
    log_warning("validation: %s", data->pMessage);
    return VK_FALSE;
}

enum gpu_status instance_listen(VkInstance instance, int *messages, VkDebugUtilsMessengerEXT *out,
                                struct err *e)
{
    PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(instance,
                                                                  "vkCreateDebugUtilsMessengerEXT");
    if (!create)
        return vk_fail(VK_ERROR_EXTENSION_NOT_PRESENT, "vkCreateDebugUtilsMessengerEXT", e);
    const VkDebugUtilsMessengerCreateInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = messages,
    };
    VK_TRY(create(instance, &info, NULL, out));
    return GPU_OK;
}

void instance_ignore(VkInstance instance, VkDebugUtilsMessengerEXT messenger)
{
    PFN_vkDestroyDebugUtilsMessengerEXT destroy =
        (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
            instance, "vkDestroyDebugUtilsMessengerEXT");
    if (destroy && messenger)
        destroy(instance, messenger, NULL);
}
