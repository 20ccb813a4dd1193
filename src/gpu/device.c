// Listing and opening devices, and which library drives one.

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "gpu/vk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- matrix units ---
//
// The structures of VK_KHR_cooperative_matrix, VK_NV_cooperative_matrix2, VK_KHR_shader_bfloat16
// and VK_EXT_shader_float8 are declared here: Vulkan's headers have them from 1.3.255, 1.3.300 and
// later versions on, and ours may be older. Numbers and layouts are those of its registry (vk.xml).
// NV's component types and scopes have the same numbers.

enum {
    FEATURES_KHR = 1000506000,
    PROPERTIES_KHR = 1000506001,
    FEATURES_NV2 = 1000593000,
    FLEXIBLE_NV2 = 1000593001,
    PROPERTIES_NV2 = 1000593002,
    FEATURES_BF16 = 1000141000,
    FEATURES_F8 = 1000567000,
    SCOPE_WORKGROUP = 2,
    SCOPE_SUBGROUP = 3,
    MOST_KHR_SIZE = 0xffff,
    FIRST_OF_FLOATS = 5, // of `extensions`
    LAYER_WITH_FLOATS = VK_MAKE_API_VERSION(0, 1, 4, 321),
};

typedef VkResult(VKAPI_PTR *matrix_properties_khr_function)(VkPhysicalDevice, uint32_t *,
                                                            struct matrix_properties_khr *);
typedef VkResult(VKAPI_PTR *matrix_flexible_nv_function)(VkPhysicalDevice, uint32_t *,
                                                         struct matrix_flexible_nv *);

struct matrix2_properties_nv { // VkPhysicalDeviceCooperativeMatrix2PropertiesNV
    VkStructureType type;
    void *next;
    uint32_t most_invocations, most_size, reserved_bytes;
};

// Returns the element of a VkComponentTypeKHR, "" for one that our kernels do not know.
static const char *element_of(int32_t component)
{
    switch (component) {
    case 0: return "f16";
    case 1: return "f32";
    case 3: return "i8";
    case 5: return "i32";
    case 7: return "u8";
    case 9: return "u32";
    case 1000141000: return "bf16";
    case 1000491002: return "f8e4m3";
    case 1000491003: return "f8e5m2";
    default: return "";
    }
}

void matrix_add_properties(struct matrix_units *u, const struct matrix_properties_khr *p)
{
    struct matrix_shape s = {.m = (uint16_t)p->m, .n = (uint16_t)p->n, .k = (uint16_t)p->k};
    snprintf(s.input, sizeof s.input, "%s", element_of(p->a));
    snprintf(s.sum, sizeof s.sum, "%s", element_of(p->c));
    bool is_f32 = str_equal(s.sum, "f32"), is_f16 = str_equal(s.input, "f16");
    bool floats = (is_f16 && (is_f32 || str_equal(s.sum, "f16"))) ||
                  (is_f32 && s.input[0] && element_is_bits(element_named(s.input)));
    bool is_u8 = str_equal(s.input, "u8");
    bool bytes = ((is_u8 || str_equal(s.input, "i8")) && str_equal(s.sum, "i32")) ||
                 (is_u8 && str_equal(s.sum, "u32"));
    if (p->scope == SCOPE_SUBGROUP && p->a == p->b && p->c == p->result && !p->saturates &&
        (floats || bytes) && (p->m | p->n | p->k) <= MOST_KHR_SIZE)
        matrix_units_add(u, &s);
}

void matrix_add_flexible(struct matrix_units *u, const struct matrix_flexible_nv *p, bool workgroup)
{
    bool is_workgroup = p->scope == SCOPE_WORKGROUP;
    struct matrix_units one = {0};
    const struct matrix_properties_khr like = {
        .m = p->m,
        .n = p->n,
        .k = p->k,
        .a = p->a,
        .b = p->b,
        .c = p->c,
        .result = p->result,
        .saturates = p->saturates,
        .scope = is_workgroup ? SCOPE_SUBGROUP : p->scope,
    };
    matrix_add_properties(&one, &like);
    if (!one.count || (is_workgroup && (!workgroup || !p->invocations)) ||
        p->invocations > UINT16_MAX)
        return;
    one.shape[0].invocations = (uint16_t)(is_workgroup ? p->invocations : 0);
    matrix_units_add(u, &one.shape[0]);
}

// Links the structures of the extensions that the device has before `next`.
static void *link_features(struct matrix_features *f, void *next)
{
    VkBaseOutStructure *all[] = {(void *)&f->khr,
                                 (void *)&f->nv,
                                 (void *)&f->memory_model,
                                 (void *)&f->subgroup_size,
                                 (void *)&f->nv2,
                                 (void *)&f->bf16,
                                 (void *)&f->f8};
    for (int i = 0; i < MATRIX_EXTENSIONS; i++)
        if (f->has[i]) {
            all[i]->pNext = next;
            next = all[i];
        }
    return next;
}

static const char *const extensions[MATRIX_EXTENSIONS] = {
    "VK_KHR_cooperative_matrix",
    VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME,
    VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME,
    VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME,
    "VK_NV_cooperative_matrix2",
    "VK_KHR_shader_bfloat16",
    "VK_EXT_shader_float8"};

static void find_features(struct adapter *a)
{
    struct matrix_features *f = &a->matrix;
    f->khr.sType = (VkStructureType)FEATURES_KHR;
    f->nv.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV;
    f->nv2.type = (VkStructureType)FEATURES_NV2;
    f->bf16.type = (VkStructureType)FEATURES_BF16;
    f->f8.type = (VkStructureType)FEATURES_F8;
    f->memory_model.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES;
    f->subgroup_size.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES;
    for (int i = 0; i < MATRIX_EXTENSIONS; i++)
        f->has[i] = vk_has_extension(a->handle, extensions[i]);
    VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                     .pNext = link_features(f, NULL)};
    vkGetPhysicalDeviceFeatures2(a->handle, &all);
    for (int i = 0; i < 3; i++)
        a->info.limits.features |= (f->bf16.has[i] ? (unsigned)FEATURE_BF16 << i : 0) |
                                   (i < 2 && f->f8.has[i] ? (unsigned)FEATURE_F8 << i : 0);
    f->khr.cooperativeMatrixRobustBufferAccess = VK_FALSE; // not needed, and may cost time
    f->nv.cooperativeMatrixRobustBufferAccess = VK_FALSE;
}

// Fills in the subgroup sizes that kernels may require.
static void describe_subgroups(struct adapter *a)
{
    const VkPhysicalDeviceSubgroupSizeControlFeatures *f = &a->matrix.subgroup_size;
    VkPhysicalDeviceSubgroupSizeControlProperties size = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                       .pNext = &size};
    struct limits *l = &a->info.limits;
    if (!f->subgroupSizeControl || !f->computeFullSubgroups)
        return;
    vkGetPhysicalDeviceProperties2(a->handle, &all);
    if (!(size.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT))
        return;
    l->subgroup_least = size.minSubgroupSize;
    l->subgroup_most = size.maxSubgroupSize;
    l->group_subgroups = size.maxComputeWorkgroupSubgroups;
}

// Fills in what VK_NV_cooperative_matrix2 adds to KHR's matrices.
static void describe_matrix2(struct adapter *a, VkInstance instance)
{
    const VkBool32 *has = a->matrix.nv2.has;
    struct limits *l = &a->info.limits;
    struct matrix2_properties_nv most = {.type = (VkStructureType)PROPERTIES_NV2};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                       .pNext = &most};
    for (int i = 0; i < MATRIX2_COUNT; i++)
        l->features |= has[i] ? (unsigned)FEATURE_MATRIX2 << i : 0;
    if (!(l->features & FEATURE_MATRIX2_ALL))
        return;
    vkGetPhysicalDeviceProperties2(a->handle, &all);
    l->matrix_size = most.most_size;
    l->matrix_invocations = most.most_invocations;
    l->matrix_shared = most.reserved_bytes;
    matrix_flexible_nv_function get = (matrix_flexible_nv_function)vkGetInstanceProcAddr(
        instance, "vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV");
    uint32_t count = 0;
    if (!(l->features & FEATURE_MATRIX2_FLEXIBLE) || !get ||
        get(a->handle, &count, NULL) != VK_SUCCESS)
        return;
    struct matrix_flexible_nv *list = mem_zero(count, sizeof *list);
    for (uint32_t i = 0; i < count; i++)
        list[i].type = (VkStructureType)FLEXIBLE_NV2;
    if (get(a->handle, &count, list) == VK_SUCCESS)
        for (uint32_t i = 0; i < count; i++)
            matrix_add_flexible(&l->flexible, &list[i], l->features & FEATURE_MATRIX2);
    l->flexible.api = l->flexible.count ? MATRIX_KHR : MATRIX_NONE;
    free(list);
}

void matrix_describe(struct adapter *a, VkInstance instance)
{
    struct matrix_features *f = &a->matrix;
    find_features(a);
    describe_subgroups(a);
    if (f->khr.cooperativeMatrix && f->memory_model.vulkanMemoryModel) {
        VkPhysicalDevice d = a->handle;
        matrix_properties_khr_function get = (matrix_properties_khr_function)vkGetInstanceProcAddr(
            instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
        uint32_t count = 0;
        if (get && get(d, &count, NULL) == VK_SUCCESS) {
            struct matrix_properties_khr *list = mem_zero(count, sizeof *list);
            for (uint32_t i = 0; i < count; i++)
                list[i].type = (VkStructureType)PROPERTIES_KHR;
            if (get(d, &count, list) == VK_SUCCESS)
                for (uint32_t i = 0; i < count; i++)
                    matrix_add_properties(&a->info.matrix_khr, &list[i]);
            a->info.matrix_khr.api = a->info.matrix_khr.count ? MATRIX_KHR : MATRIX_NONE;
            free(list);
        }
        describe_matrix2(a, instance);
    }
    if (f->nv.cooperativeMatrix) {
        VkPhysicalDevice d = a->handle;
        PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesNV get =
            (PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesNV)vkGetInstanceProcAddr(
                instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesNV");
        uint32_t count = 0;
        if (get && get(d, &count, NULL) == VK_SUCCESS) {
            VkCooperativeMatrixPropertiesNV *list = mem_zero(count, sizeof *list);
            for (uint32_t i = 0; i < count; i++)
                list[i].sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_NV;
            if (get(d, &count, list) == VK_SUCCESS)
                for (uint32_t i = 0; i < count; i++)
                    if (list[i].AType <
                        VK_COMPONENT_TYPE_UINT8_NV) // kernels have other types of KHR's alone
                        matrix_add_properties(&a->info.matrix_nv,
                                              &(struct matrix_properties_khr){
                                                  .m = list[i].MSize,
                                                  .n = list[i].NSize,
                                                  .k = list[i].KSize,
                                                  .a = (int32_t)list[i].AType,
                                                  .b = (int32_t)list[i].BType,
                                                  .c = (int32_t)list[i].CType,
                                                  .result = (int32_t)list[i].DType,
                                                  .scope = (int32_t)list[i].scope,
                                              });
            a->info.matrix_nv.api = a->info.matrix_nv.count ? MATRIX_NV : MATRIX_NONE;
            free(list);
        }
    }
}

void *matrix_enable(struct matrix_features *f, const char **name, uint32_t *count, void *next)
{
    for (int i = 0; i < MATRIX_EXTENSIONS; i++)
        if (f->has[i])
            name[(*count)++] = extensions[i];
    return link_features(f, next);
}

// --- drivers ---

#define CLOSE_TIMEOUT_S 2.0
#define PROBE_TIMEOUT_S 2.0

// Hashes the driver's library, because a version does not identify it (SwiftShader's never
// changes). The library is the file that is mapped where a function of the device is, one that
// hardly any layer intercepts.
static void hash_driver(VkDevice device, char out[33])
{
    char path[4096] = "", line[4096], *bytes;
    size_t length;
    out[0] = '\0';
    uintptr_t address = (uintptr_t)vkGetDeviceProcAddr(device, "vkGetEventStatus");
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && !path[0] && fgets(line, sizeof line, maps)) {
        uint64_t begin, end;
        const char *name = strchr(line, '/');
        if (name && sscanf(line, "%" SCNx64 "-%" SCNx64, &begin, &end) == 2 && begin <= address &&
            address < end)
            snprintf(path, sizeof path, "%.*s", (int)strcspn(name, "\n"), name);
    }
    if (maps)
        fclose(maps);
    if (!path[0] || !file_read(path, &bytes, &length, NULL))
        return;
    hash_hex(bytes, length, out);
    free(bytes);
}

// Opens the device with what pipelines need.
static enum gpu_status open_device(struct gpu *g, int index, bool validate, struct err *e)
{
    GPU_TRY(instance_create(validate, &g->instance, e));
    if (!g->instance) {
        err_set(e, "no Vulkan driver is installed");
        return GPU_FAILED;
    }
    if (validate)
        GPU_TRY(instance_add_messenger(g->instance, &g->messages, &g->messenger, e));
    struct adapter *list;
    int count;
    GPU_TRY(adapter_find_all(g->instance, &list, &count, e));
    bool ok = index >= 0 && index < count;
    if (ok)
        g->adapter = list[index];
    else
        err_set(e, "there is no device %d (%d found)", index, count);
    free(list);
    // An older layer reports these extensions with every kernel, also of other types.
    if (validate && instance_layer_version() < LAYER_WITH_FLOATS)
        for (int i = FIRST_OF_FLOATS; i < MATRIX_EXTENSIONS; i++)
            g->adapter.matrix.has[i] = false;
    GPU_TRY(ok ? GPU_OK : GPU_FAILED);
    GPU_TRY(adapter_open(&g->adapter, &g->device, e));
    // The validation layer hides the driver's functions: the hash is then made on a device without
    // it.
    struct gpu *plain = validate ? gpu_open_to_compile(g->adapter.info.index, false, NULL) : g;
    if (plain)
        hash_driver(plain->device, g->adapter.info.driver_hash);
    if (plain != g)
        gpu_close(plain);
    return GPU_OK;
}

// Adds what runs need.
static enum gpu_status prepare_runs(struct gpu *g, struct err *e)
{
    vkGetPhysicalDeviceMemoryProperties(g->adapter.handle, &g->memory);
    vkGetDeviceQueue(g->device, g->adapter.family, 0, &g->queue);
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = g->adapter.family,
    };
    VK_TRY(vkCreateCommandPool(g->device, &pool, NULL, &g->pool));
    const VkCommandBufferAllocateInfo command = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = g->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    VK_TRY(vkAllocateCommandBuffers(g->device, &command, &g->command));
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VK_TRY(vkCreateFence(g->device, &fence, NULL, &g->fence));
    if (!g->adapter.info.timestamps)
        return GPU_OK;
    const VkQueryPoolCreateInfo stamps = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = 2 * GPU_MOST_BEGUN,
    };
    VK_TRY(vkCreateQueryPool(g->device, &stamps, NULL, &g->stamps));
    return GPU_OK;
}

struct gpu *gpu_open_to_compile(int index, bool validate, struct err *e)
{
    struct gpu *g = mem_zero(1, sizeof *g);
    if (open_device(g, index, validate, e) == GPU_OK)
        return g;
    gpu_close(g);
    return NULL;
}

struct gpu *gpu_open(int index, bool validate, struct err *e)
{
    struct gpu *g = gpu_open_to_compile(index, validate, e);
    if (!g || prepare_runs(g, e) == GPU_OK)
        return g;
    gpu_close(g);
    return NULL;
}

bool gpu_is_open_to_run(const struct gpu *g)
{
    return g->command != NULL;
}

// Objects that a kernel may still be using cannot be destroyed: if it does not end soon, everything
// is left to the end of the process.
void gpu_close(struct gpu *g)
{
    if (!g)
        return;
    if (g->device && vk_settle(g, CLOSE_TIMEOUT_S, NULL) == GPU_TIMEOUT) {
        log_warning("a kernel is still running: its device is left open");
        return;
    }
    if (g->device) {
        vk_buffer_finish(g, &g->staging);
        vkDestroyDescriptorPool(g->device, g->descriptors, NULL);
        vk_views_destroy(g);
        free(g->view);
        vkDestroySampler(g->device, g->sampler, NULL);
        vkDestroyQueryPool(g->device, g->stamps, NULL);
        vkDestroyFence(g->device, g->fence, NULL);
        vkDestroyCommandPool(g->device, g->pool, NULL);
        vkDestroyDevice(g->device, NULL);
    }
    if (g->instance) {
        PFN_vkDestroyDebugUtilsMessengerEXT destroy =
            (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
                g->instance, "vkDestroyDebugUtilsMessengerEXT");
        if (destroy && g->messenger)
            destroy(g->instance, g->messenger, NULL);
        vkDestroyInstance(g->instance, NULL);
    }
    free(g);
}

// Opens a device briefly. Drivers that work without their hardware make no fence, or do not keep
// what is written. A device that cannot be opened fails where it is used.
static void probe_driver(struct gpu_info *i)
{
    struct err e;
    struct gpu *g = gpu_open_to_compile(i->index, false, &e);
    i->runs = true; // as far as is known
    if (!g) {
        log_warning("%s cannot be opened: %s", i->name, e.text);
        return;
    }
    memcpy(i->driver_hash, g->adapter.info.driver_hash, sizeof i->driver_hash);
    if (!i->is_cpu)
        i->runs = prepare_runs(g, NULL) == GPU_OK && vk_keeps_writes(g, PROBE_TIMEOUT_S);
    gpu_close(g);
}

bool gpu_list(struct gpu_info **list, int *count, struct err *e)
{
    VkInstance instance;
    struct adapter *adapter = NULL;
    *list = NULL;
    *count = 0;
    if (instance_create(false, &instance, e) != GPU_OK)
        return false;
    if (!instance)
        return true;
    bool ok = adapter_find_all(instance, &adapter, count, e) == GPU_OK;
    if (ok)
        *list = mem_zero((size_t)*count, sizeof **list);
    for (int i = 0; ok && i < *count; i++) {
        struct gpu_info *info = &(*list)[i];
        int same = 0; // one device of each driver is probed
        *info = adapter[i].info;
        for (const struct gpu_info *o = *list;
             !str_equal(o->driver, info->driver) || !str_equal(o->driver_uuid, info->driver_uuid) ||
             o->vendor_id != info->vendor_id || o->driver_version != info->driver_version;
             o++)
            same++;
        if (same == i) {
            probe_driver(info);
        } else {
            memcpy(info->driver_hash, (*list)[same].driver_hash, sizeof info->driver_hash);
            info->runs = (*list)[same].runs;
        }
        info->runs = info->runs && adapter[i].clock_is_sound;
    }
    free(adapter);
    vkDestroyInstance(instance, NULL);
    return ok;
}

const struct gpu_info *gpu_get_info(const struct gpu *g)
{
    return &g->adapter.info;
}
