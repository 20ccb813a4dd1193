// Matrix units: which a device has, and what must be enabled for kernels that use them.
//
// The structures of VK_KHR_cooperative_matrix are written down here: Vulkan's headers have them
// from 1.3.255 on, and ours may be older. Numbers and layouts are those of its registry (vk.xml).
// NV's component types and scopes have the same numbers.
#include "base/mem.h"
#include "base/str.h"
#include "gpu/vk.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    FEATURES_KHR = 1000506000,
    PROPERTIES_KHR = 1000506001,
    SCOPE_SUBGROUP = 3,
    MOST_KHR_SIZE = 0xffff,
};

typedef VkResult(VKAPI_PTR *matrix_properties_khr_function)(VkPhysicalDevice, uint32_t *,
                                                            struct matrix_properties_khr *);

// Element types by VkComponentTypeKHR, of those that kernels here know.
static const char *element_of(int32_t component)
{
    switch (component) {
    case 0: return "f16";
    case 1: return "f32";
    case 3: return "i8";
    case 5: return "i32";
    default: return "";
    }
}

void matrix_add_properties(struct matrix_units *u, const struct matrix_properties_khr *p)
{
    struct matrix_shape s = {.m = (uint16_t)p->m, .n = (uint16_t)p->n, .k = (uint16_t)p->k};
    snprintf(s.input, sizeof s.input, "%s", element_of(p->a));
    snprintf(s.sum, sizeof s.sum, "%s", element_of(p->c));
    bool halves = str_equal(s.input, "f16") && (str_equal(s.sum, "f16") || str_equal(s.sum, "f32"));
    bool bytes = str_equal(s.input, "i8") && str_equal(s.sum, "i32");
    if (p->scope == SCOPE_SUBGROUP && p->a == p->b && p->c == p->result && !p->saturates &&
        (halves || bytes) && (p->m | p->n | p->k) <= MOST_KHR_SIZE)
        matrix_units_add(u, &s);
}

static void describe_khr(VkPhysicalDevice d, VkInstance instance, struct matrix_units *out)
{
    matrix_properties_khr_function get = (matrix_properties_khr_function)vkGetInstanceProcAddr(
        instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
    uint32_t count = 0;
    if (!get || get(d, &count, NULL) != VK_SUCCESS)
        return;
    struct matrix_properties_khr *list = mem_zero(count, sizeof *list);
    for (uint32_t i = 0; i < count; i++)
        list[i].type = (VkStructureType)PROPERTIES_KHR;
    if (get(d, &count, list) == VK_SUCCESS)
        for (uint32_t i = 0; i < count; i++)
            matrix_add_properties(out, &list[i]);
    out->api = out->count ? MATRIX_KHR : MATRIX_NONE;
    free(list);
}

static void describe_nv(VkPhysicalDevice d, VkInstance instance, struct matrix_units *out)
{
    PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesNV get =
        (PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesNV)vkGetInstanceProcAddr(
            instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesNV");
    uint32_t count = 0;
    if (!get || get(d, &count, NULL) != VK_SUCCESS)
        return;
    VkCooperativeMatrixPropertiesNV *list = mem_zero(count, sizeof *list);
    for (uint32_t i = 0; i < count; i++)
        list[i].sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_NV;
    if (get(d, &count, list) == VK_SUCCESS)
        for (uint32_t i = 0; i < count; i++)
            matrix_add_properties(out, &(struct matrix_properties_khr){
                                           .m = list[i].MSize,
                                           .n = list[i].NSize,
                                           .k = list[i].KSize,
                                           .a = (int32_t)list[i].AType,
                                           .b = (int32_t)list[i].BType,
                                           .c = (int32_t)list[i].CType,
                                           .result = (int32_t)list[i].DType,
                                           .scope = (int32_t)list[i].scope,
                                       });
    out->api = out->count ? MATRIX_NV : MATRIX_NONE;
    free(list);
}

// The structures that are enabled, linked before `next`; their features were filled in when the
// device was asked.
static void *link_features(struct matrix_features *f, void *next)
{
    VkBaseOutStructure *all[] = {(void *)&f->khr, (void *)&f->nv, (void *)&f->memory_model,
                                 (void *)&f->subgroup_size};
    for (int i = 0; i < MATRIX_EXTENSIONS; i++)
        if (f->has[i]) {
            all[i]->pNext = next;
            next = all[i];
        }
    return next;
}

static const char *const extensions[MATRIX_EXTENSIONS] = {
    "VK_KHR_cooperative_matrix", VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME,
    VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME};

static void find_features(struct adapter *a)
{
    struct matrix_features *f = &a->matrix;
    f->khr.sType = (VkStructureType)FEATURES_KHR;
    f->nv.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV;
    f->memory_model.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES;
    f->subgroup_size.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES;
    for (int i = 0; i < MATRIX_EXTENSIONS; i++)
        f->has[i] = adapter_has_extension(a, extensions[i]);
    VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                     .pNext = link_features(f, NULL)};
    vkGetPhysicalDeviceFeatures2(a->handle, &all);
    f->khr.cooperativeMatrixRobustBufferAccess = VK_FALSE; // never needed, and it may cost time
    f->nv.cooperativeMatrixRobustBufferAccess = VK_FALSE;
}

// What kernels can ask for, where they can.
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

void matrix_describe(struct adapter *a, VkInstance instance)
{
    struct matrix_features *f = &a->matrix;
    find_features(a);
    describe_subgroups(a);
    if (f->khr.cooperativeMatrix && f->memory_model.vulkanMemoryModel)
        describe_khr(a->handle, instance, &a->info.matrix_khr);
    if (f->nv.cooperativeMatrix)
        describe_nv(a->handle, instance, &a->info.matrix_nv);
}

void *matrix_enable(struct matrix_features *f, const char **name, uint32_t *count, void *next)
{
    for (int i = 0; i < MATRIX_EXTENSIONS; i++)
        if (f->has[i])
            name[(*count)++] = extensions[i];
    return link_features(f, next);
}
