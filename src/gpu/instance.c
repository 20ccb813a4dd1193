#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "gpu/gpu.h"
#include "gpu/vk.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static VkResult list_extensions(VkPhysicalDevice device, uint32_t *count,
                                VkExtensionProperties *list)
{
    return device ? vkEnumerateDeviceExtensionProperties(device, NULL, count, list)
                  : vkEnumerateInstanceExtensionProperties(NULL, count, list);
}

bool vk_has_extension(VkPhysicalDevice device, const char *name)
{
    uint32_t count = 0;
    if (list_extensions(device, &count, NULL) != VK_SUCCESS)
        return false;
    VkExtensionProperties *list = mem_zero(count, sizeof *list);
    bool found = false;
    if (list_extensions(device, &count, list) == VK_SUCCESS)
        for (uint32_t i = 0; i < count; i++)
            found |= str_equal(list[i].extensionName, name);
    free(list);
    return found;
}

// --- manifests of drivers ---
//
// They are found as the Vulkan loader does: "Driver Discovery on Linux" and "Overriding the Default
// Driver Discovery" of docs/LoaderDriverInterface.md (Vulkan-Loader).

#define SUFFIX ".json"

struct files {
    char **path;
    int count, capacity;
};

static void add_file(struct files *f, char *path)
{
    MEM_GROW(f->path, f->count, f->capacity);
    f->path[f->count++] = path;
}

static void add_folder(struct files *f, const char *folder)
{
    DIR *d = opendir(folder);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        size_t length = strlen(entry->d_name), suffix = sizeof SUFFIX - 1;
        if (length > suffix && str_equal(entry->d_name + length - suffix, SUFFIX))
            add_file(f, path_join(folder, entry->d_name));
    }
    if (d)
        closedir(d);
}

static void add_file_or_folder(struct files *f, const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        add_folder(f, path);
    else
        add_file(f, mem_strdup(path));
}

static void add_icd_folder(struct files *f, const char *base)
{
    char *folder = path_join(base, "vulkan/icd.d");
    add_folder(f, folder);
    free(folder);
}

// Calls `add` with each part of "a:b".
static void add_each(struct files *f, const char *list,
                     void (*add)(struct files *f, const char *path))
{
    char *rest, *text = mem_strdup(list);
    for (char *path = strtok_r(text, ":", &rest); path; path = strtok_r(NULL, ":", &rest))
        add(f, path);
    free(text);
}

static const char *env_value(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

// Adds the folders of a variable, else those of `standard`, else `below` the home folder.
static void add_base(struct files *f, const char *variable, const char *standard, const char *below)
{
    const char *value = env_value(variable), *home = env_value("HOME");
    char *folder = !standard && home ? path_join(home, below) : NULL;
    add_each(f, value ? value : standard ? standard : folder ? folder : "", add_icd_folder);
    free(folder);
}

char **gpu_driver_files(int *count)
{
    struct files f = {0};
    const char *only = env_value("VK_DRIVER_FILES"), *added = env_value("VK_ADD_DRIVER_FILES");
    if (!only)
        only = env_value("VK_ICD_FILENAMES");
    if (only) {
        add_each(&f, only, add_file_or_folder);
    } else {
        if (added)
            add_each(&f, added, add_file_or_folder);
        add_base(&f, "XDG_CONFIG_HOME", NULL, ".config");
        add_base(&f, "XDG_CONFIG_DIRS", "/etc/xdg", NULL);
        add_icd_folder(&f, "/etc");
        add_base(&f, "XDG_DATA_HOME", NULL, ".local/share");
        add_base(&f, "XDG_DATA_DIRS", "/usr/local/share:/usr/share", NULL);
    }
    *count = f.count;
    return f.path;
}

void gpu_use_drivers(const char *files)
{
    setenv("VK_DRIVER_FILES", files, 1);
    setenv("VK_ICD_FILENAMES", files, 1); // for loaders before 1.3.207
}

// --- results ---

enum gpu_status vk_fail(VkResult r, const char *call, struct err *e)
{
    int length = (int)strcspn(call, "(");
    const char *name = NULL;
#define NAME(x)                                                                                    \
    case x: name = #x; break
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
    default: break;
    }
#undef NAME
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

// --- the instance ---

#define VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"

uint32_t instance_layer_version(void)
{
    uint32_t count = 0, version = 0;
    if (vkEnumerateInstanceLayerProperties(&count, NULL) != VK_SUCCESS)
        return 0;
    VkLayerProperties *layer = mem_zero(count, sizeof *layer);
    if (vkEnumerateInstanceLayerProperties(&count, layer) == VK_SUCCESS)
        for (uint32_t i = 0; i < count; i++)
            if (str_equal(layer[i].layerName, VALIDATION_LAYER))
                version = layer[i].specVersion;
    free(layer);
    return version;
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
    // Drivers that lack a part of Vulkan (MoltenVK) are listed only with this extension.
    bool portability =
        vk_has_extension(VK_NULL_HANDLE, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
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

enum gpu_status instance_add_messenger(VkInstance instance, int *messages,
                                       VkDebugUtilsMessengerEXT *out, struct err *e)
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
