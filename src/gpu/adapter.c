#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os.h"
#include "base/str.h"
#include "gpu/vk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORTABILITY   "VK_KHR_portability_subset" // a provisional extension
#define SHARED_LAYOUT VK_KHR_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_EXTENSION_NAME
#define ADDRESS       VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME
#define LAVAPIPE_LOOP_TRIPS                                                                        \
    65535 // it counts all loops of an invocation together and cuts them here
#define SOFT_STATEMENTS     20000
#define SUBGROUP_OPERATIONS 0xffu // Vulkan's own, basic to quad; others need extensions

enum { VENDOR_AMD = 0x1002, VENDOR_NVIDIA = 0x10de, VENDOR_INTEL = 0x8086 };

static const struct {
    VkPhysicalDeviceType type;
    const char *name;
} types[] = {
    // in the order of gpu_list
    {VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, "discrete"},
    {VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU, "integrated"},
    {VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU, "virtual"},
    {VK_PHYSICAL_DEVICE_TYPE_OTHER, "other"},
    {VK_PHYSICAL_DEVICE_TYPE_CPU, "cpu"},
};
enum { TYPES = sizeof types / sizeof *types };

static void uuid_hex(const uint8_t uuid[VK_UUID_SIZE], char out[33])
{
    for (size_t i = 0; i < VK_UUID_SIZE; i++) {
        out[2 * i] = "0123456789abcdef"[uuid[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[uuid[i] & 15];
    }
    out[2 * VK_UUID_SIZE] = '\0';
}

static int cpu_threads(const struct gpu_info *i)
{
    const char *text = getenv("LP_NUM_THREADS");
    int64_t threads;
    if (!i->is_cpu)
        return 0;
    if (i->is_lavapipe && text && str_to_int(text, 0, 1 << 16, &threads))
        return threads > 0 ? (int)threads : 1; // 0: inline, on the queue's own thread
    return os_cores();
}

static struct limits limits_of(const VkPhysicalDeviceProperties *p, uint64_t max_allocation)
{
    const VkPhysicalDeviceLimits *v = &p->limits;
    // Registers that programs can name. Intel's belong to a whole subgroup and have the width of
    // its smallest one.
    const uint32_t vendor = p->vendorID;
    const uint32_t registers = vendor == VENDOR_AMD      ? 256
                               : vendor == VENDOR_NVIDIA ? 255
                               : vendor == VENDOR_INTEL  ? 128
                                                         : 0;
    struct limits l = {
        .invocations = v->maxComputeWorkGroupInvocations,
        .shared_bytes = v->maxComputeSharedMemorySize,
        .buffer_bytes = (uint32_t)uint64_min(max_allocation, v->maxStorageBufferRange),
        .buffers = v->maxPerStageDescriptorStorageBuffers,
        .storage_images = v->maxPerStageDescriptorStorageImages,
        .sampled_images = v->maxPerStageDescriptorSampledImages,
        .samplers = v->maxPerStageDescriptorSamplers,
        // Half of the registers: with more accumulators most random kernels of the presets spill
        // when Mesa's drivers compile them (docs/internals/gpus.md). `spills` catches the others.
        .accumulators = registers ? (registers + 1) / 2 : 256,
        .statements = SOFT_STATEMENTS,
        .registers = registers,
        // One for each 16 registers, whether a compiler counts registers, instructions or bytes.
        .spills = registers ? (registers + 1) / 16 : 16,
    };
    memcpy(l.group_size, v->maxComputeWorkGroupSize, sizeof l.group_size);
    memcpy(l.group_count, v->maxComputeWorkGroupCount, sizeof l.group_count);
    return l;
}

static void describe_properties(struct adapter *a, bool has_driver)
{
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceMaintenance3Properties memory = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES,
        .pNext = has_driver ? &driver : NULL};
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES,
                                       .pNext = &memory};
    VkPhysicalDeviceSubgroupProperties subgroup = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES, .pNext = &id};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                       .pNext = &subgroup};
    vkGetPhysicalDeviceProperties2(a->handle, &all);
    const VkPhysicalDeviceProperties *p = &all.properties;

    struct gpu_info *i = &a->info;
    snprintf(i->name, sizeof i->name, "%s", p->deviceName);
    int type = 0;
    while (type < TYPES && types[type].type != p->deviceType)
        type++;
    snprintf(i->type, sizeof i->type, "%s", type < TYPES ? types[type].name : "other");
    snprintf(i->driver, sizeof i->driver, "%s%s%s", driver.driverName,
             driver.driverInfo[0] ? ", " : "", driver.driverInfo);
    i->vendor_id = p->vendorID;
    i->device_id = p->deviceID;
    i->driver_version = p->driverVersion;
    i->api_version = p->apiVersion;
    uuid_hex(id.deviceUUID, i->device_uuid);
    uuid_hex(id.driverUUID, i->driver_uuid);
    i->is_cpu = p->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    i->is_lavapipe =
        p->vendorID == VK_VENDOR_ID_MESA && driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
    i->threads = cpu_threads(i);
    i->limits = limits_of(p, memory.maxMemoryAllocationSize);
    i->limits.subgroup_size = subgroup.subgroupSize;
    if (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT)
        i->limits.features =
            (subgroup.supportedOperations & SUBGROUP_OPERATIONS) * FEATURE_SUBGROUP;
    if (i->is_lavapipe)
        i->limits.loop_trips = LAVAPIPE_LOOP_TRIPS;
    a->tick_s = (double)p->limits.timestampPeriod * 1e-9;
}

static uint64_t image_features(const VkPhysicalDeviceFeatures *f)
{
    return (f->shaderStorageBufferArrayDynamicIndexing ? FEATURE_ARRAYS : 0u) |
           (f->shaderStorageImageArrayDynamicIndexing ? FEATURE_STORED_ARRAYS : 0u) |
           (f->shaderSampledImageArrayDynamicIndexing ? FEATURE_SAMPLED_ARRAYS : 0u) |
           (f->shaderStorageImageExtendedFormats ? FEATURE_MORE_FORMATS : 0u) |
           (f->shaderStorageImageReadWithoutFormat ? FEATURE_READ_FORMATLESS : 0u) |
           (f->shaderStorageImageWriteWithoutFormat ? FEATURE_WRITE_FORMATLESS : 0u);
}

// Images are copied from buffers and back.
static uint64_t formats_of(VkPhysicalDevice device)
{
    const VkFormatFeatureFlags copies =
        VK_FORMAT_FEATURE_TRANSFER_SRC_BIT | VK_FORMAT_FEATURE_TRANSFER_DST_BIT;
    uint64_t formats = 0;
    for (int f = 0; f < TEXEL_COUNT; f++) {
        VkFormatProperties p;
        vkGetPhysicalDeviceFormatProperties(device, (VkFormat)texel_traits[f].vulkan, &p);
        const VkFormatFeatureFlags image = p.optimalTilingFeatures, buffer = p.bufferFeatures;
        const struct {
            enum descriptor kind;
            bool is_there;
        } uses[] = {
            {DESCRIPTOR_STORAGE_IMAGE, (image & VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT) != 0},
            {DESCRIPTOR_SAMPLED_IMAGE, (image & VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT) != 0},
            {DESCRIPTOR_TEXELS, (buffer & VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT) != 0},
            {DESCRIPTOR_STORAGE_TEXELS, (buffer & VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_BIT) != 0},
        };
        for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
            if (uses[i].is_there && (i >= 2 || (image & copies) == copies))
                formats |= descriptor_bit(uses[i].kind, (enum texel_format)f);
    }
    return formats;
}

// A structure of features may only be passed to a driver that knows its extension, or Vulkan 1.2.
static void describe_features(struct adapter *a, bool is_1_2)
{
    bool has_arithmetic =
        is_1_2 || vk_has_extension(a->handle, VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME);
    bool has_storage8 = is_1_2 || vk_has_extension(a->handle, VK_KHR_8BIT_STORAGE_EXTENSION_NAME);
    bool has_dot = vk_has_extension(a->handle, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
    VkPhysicalDeviceShaderIntegerDotProductFeatures dot = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES};
    VkPhysicalDevice8BitStorageFeatures bytes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES};
    VkPhysicalDeviceShaderFloat16Int8Features arithmetic = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES,
        .pNext = has_storage8 ? &bytes : NULL};
    VkPhysicalDevice16BitStorageFeatures storage = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES,
        .pNext = has_arithmetic ? &arithmetic : NULL};
    VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR shared = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR,
        .pNext = &storage};
    VkPhysicalDeviceBufferDeviceAddressFeatures address = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES};
    VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                     .pNext = &storage};
    if (a->info.limits.spirv_minor >= 4 && vk_has_extension(a->handle, SHARED_LAYOUT))
        all.pNext = &shared;
    if (has_dot) {
        dot.pNext = all.pNext;
        all.pNext = &dot;
    }
    a->needs_address = !is_1_2;
    if (is_1_2 || vk_has_extension(a->handle, ADDRESS)) {
        address.pNext = all.pNext;
        all.pNext = &address;
    }
    vkGetPhysicalDeviceFeatures2(a->handle, &all);
    a->info.limits.dot = dot.shaderIntegerDotProduct;
    a->info.limits.f16 = storage.storageBuffer16BitAccess && arithmetic.shaderFloat16;
    a->info.limits.i8 = bytes.storageBuffer8BitAccess && arithmetic.shaderInt8;
    a->info.limits.types = limits_types((storage.storageBuffer16BitAccess ? NEEDS_STORAGE_16 : 0u) |
                                        (bytes.storageBuffer8BitAccess ? NEEDS_STORAGE_8 : 0u) |
                                        (arithmetic.shaderFloat16 ? NEEDS_FLOAT_16 : 0u) |
                                        (arithmetic.shaderInt8 ? NEEDS_INT_8 : 0u) |
                                        (all.features.shaderInt16 ? NEEDS_INT_16 : 0u) |
                                        (all.features.shaderInt64 ? NEEDS_INT_64 : 0u) |
                                        (all.features.shaderFloat64 ? NEEDS_FLOAT_64 : 0u));
    a->info.limits.features |= (all.features.shaderFloat64 ? FEATURE_F64 : 0) |
                               (all.features.shaderInt64 ? FEATURE_I64 : 0) |
                               (all.features.shaderInt16 ? FEATURE_I16 : 0) |
                               (shared.workgroupMemoryExplicitLayout ? FEATURE_SHARED_LAYOUT : 0) |
                               (address.bufferDeviceAddress ? FEATURE_ADDRESS : 0) |
                               image_features(&all.features);
}

// The newest SPIR-V follows from the Vulkan of the device, and that of the loader, by which the
// instance was created (Vulkan spec, appendix "Vulkan Environment for SPIR-V").
static void describe_spirv(struct adapter *a, uint32_t device_version)
{
    uint32_t loader_version = VK_API_VERSION_1_1;
    vkEnumerateInstanceVersion(&loader_version);
    uint32_t version = loader_version < device_version ? loader_version : device_version;
    a->needs_spirv_1_4 = version < VK_API_VERSION_1_2 &&
                         vk_has_extension(a->handle, VK_KHR_SPIRV_1_4_EXTENSION_NAME) &&
                         vk_has_extension(a->handle, VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME);
    a->info.limits.spirv_minor = version >= VK_API_VERSION_1_3   ? 6
                                 : version >= VK_API_VERSION_1_2 ? 5
                                 : a->needs_spirv_1_4            ? 4
                                                                 : 3;
}

// Chooses the first queue family that computes, and preferably takes timestamps.
static bool find_family(struct adapter *a)
{
    uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(a->handle, &count, NULL);
    VkQueueFamilyProperties *family = mem_zero(count, sizeof *family);
    vkGetPhysicalDeviceQueueFamilyProperties(a->handle, &count, family);
    bool found = false;
    for (uint32_t i = 0; i < count; i++) {
        bool computes = family[i].queueFlags & VK_QUEUE_COMPUTE_BIT;
        if (computes && (!found || (a->valid_bits == 0 && family[i].timestampValidBits > 0))) {
            a->family = i;
            a->valid_bits = family[i].timestampValidBits;
            found = true;
        }
    }
    free(family);
    return found;
}

static bool describe(struct adapter *a, VkInstance instance)
{
    VkPhysicalDeviceProperties p;
    vkGetPhysicalDeviceProperties(a->handle, &p);
    if (p.apiVersion < VK_API_VERSION_1_1 || !find_family(a))
        return false;
    bool is_1_2 = p.apiVersion >= VK_API_VERSION_1_2;
    describe_properties(
        a, is_1_2 || vk_has_extension(a->handle, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME));
    // TILEWALK_PCI is for tests on devices that are on no bus.
    VkPhysicalDevicePCIBusInfoPropertiesEXT bus = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                       .pNext = &bus};
    const char *pci = getenv("TILEWALK_PCI");
    if (pci) {
        snprintf(a->info.pci, sizeof a->info.pci, "%s", pci);
    } else if (vk_has_extension(a->handle, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME)) {
        vkGetPhysicalDeviceProperties2(a->handle, &all);
        snprintf(a->info.pci, sizeof a->info.pci, "%04x:%02x:%02x.%x", bus.pciDomain & 0xffff,
                 bus.pciBus & 0xff, bus.pciDevice & 0xff, bus.pciFunction & 0xf);
    }
    describe_spirv(a, p.apiVersion);
    describe_features(a, is_1_2);
    a->needs_f16_extension = !is_1_2;
    a->push_bytes = p.limits.maxPushConstantsSize;
    a->texels = p.limits.maxTexelBufferElements;
    a->info.limits.formats = formats_of(a->handle);
    matrix_describe(a, instance);
    if (a->info.vendor_id == VENDOR_INTEL)
        a->info.limits.register_lanes = a->info.limits.subgroup_least;
    a->info.limits.features |=
        (a->matrix.memory_model.vulkanMemoryModel ? FEATURE_MEMORY_MODEL : 0) |
        (a->matrix.memory_model.vulkanMemoryModelDeviceScope ? FEATURE_MEMORY_MODEL_DEVICE : 0);
    a->has_statistics = executable_describe(a);
    if (!a->has_statistics)
        a->info.limits.spills = 0;
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(a->handle, &memory);
    for (uint32_t i = 0; i < memory.memoryHeapCount; i++)
        if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
            a->info.memory_bytes = uint64_max(a->info.memory_bytes, memory.memoryHeaps[i].size);
    a->clock_is_sound = isfinite(a->tick_s);
    a->info.timestamps = a->valid_bits > 0 && a->tick_s > 0 && a->clock_is_sound;
    return true;
}

enum gpu_status adapter_find_all(VkInstance instance, struct adapter **list, int *count,
                                 struct err *e)
{
    uint32_t found = 0;
    *list = NULL;
    *count = 0;
    VkResult r = vkEnumeratePhysicalDevices(instance, &found, NULL);
    if (r == VK_ERROR_INITIALIZATION_FAILED) // loaders return it when no driver has a device
        return GPU_OK;
    if (r != VK_SUCCESS)
        return vk_fail(r, "vkEnumeratePhysicalDevices", e);
    VkPhysicalDevice *handle = mem_zero(found, sizeof(VkPhysicalDevice));
    r = vkEnumeratePhysicalDevices(instance, &found, handle);
    if (r == VK_SUCCESS || r == VK_INCOMPLETE) {
        struct adapter *usable = mem_zero(found, sizeof *usable);
        int usable_count = 0;
        for (uint32_t i = 0; i < found; i++) {
            usable[usable_count] = (struct adapter){.handle = handle[i]};
            usable_count += describe(&usable[usable_count], instance);
        }
        *list = mem_zero(found, sizeof **list);
        for (int type = 0; type < TYPES; type++) // devices of one type stay in the loader's order
            for (int i = 0; i < usable_count; i++)
                if (str_equal(usable[i].info.type, types[type].name)) {
                    usable[i].info.index = *count;
                    (*list)[(*count)++] = usable[i];
                }
        free(usable);
    }
    free(handle);
    return *list ? GPU_OK : vk_fail(r, "vkEnumeratePhysicalDevices", e);
}

enum gpu_status adapter_open(const struct adapter *a, VkDevice *out, struct err *e)
{
    bool f16 = a->info.limits.f16, i8 = a->info.limits.i8;
    bool storage_16 = limits_has_type(&a->info.limits, ELEMENT_F16) ||
                      limits_has_type(&a->info.limits, ELEMENT_U16),
         storage_8 = limits_has_type(&a->info.limits, ELEMENT_U8);
    VkPhysicalDevice8BitStorageFeatures bytes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES,
        .storageBuffer8BitAccess = VK_TRUE};
    VkPhysicalDeviceShaderFloat16Int8Features arithmetic = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES,
        .pNext = storage_8 ? &bytes : NULL,
        .shaderFloat16 = f16,
        .shaderInt8 = i8};
    VkPhysicalDevice16BitStorageFeatures storage = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES,
        .pNext = f16 || i8 || storage_8 ? &arithmetic : NULL,
        .storageBuffer16BitAccess = storage_16};
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = a->family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    struct matrix_features matrix = a->matrix;
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executable;
    VkPhysicalDeviceShaderIntegerDotProductFeatures dot = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES,
        .shaderIntegerDotProduct = VK_TRUE};
    VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR shared = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR,
        .workgroupMemoryExplicitLayout = VK_TRUE};
    VkPhysicalDeviceBufferDeviceAddressFeatures address = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
        .bufferDeviceAddress = VK_TRUE};
    const char *extension[9 + MATRIX_EXTENSIONS];
    uint32_t extensions = 0;
    if (vk_has_extension(a->handle, PORTABILITY)) // it must be enabled if it exists
        extension[extensions++] = PORTABILITY;
    if ((f16 || i8 || storage_8) && a->needs_f16_extension)
        extension[extensions++] = VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME;
    if (storage_8 && a->needs_f16_extension)
        extension[extensions++] = VK_KHR_8BIT_STORAGE_EXTENSION_NAME;
    void *chain = matrix_enable(&matrix, extension, &extensions,
                                f16 || i8 || storage_8 || storage_16 ? &storage : NULL);
    if (a->info.limits.dot) {
        extension[extensions++] = VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME;
        dot.pNext = chain;
        chain = &dot;
    }
    if (a->has_statistics)
        chain = executable_enable(&executable, extension, &extensions, chain);
    if (a->needs_spirv_1_4) {
        extension[extensions++] = VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME;
        extension[extensions++] = VK_KHR_SPIRV_1_4_EXTENSION_NAME;
    }
    const uint64_t features = a->info.limits.features;
    if (features & FEATURE_SHARED_LAYOUT) {
        extension[extensions++] = SHARED_LAYOUT;
        shared.pNext = chain;
        chain = &shared;
    }
    if (features & FEATURE_ADDRESS) {
        if (a->needs_address)
            extension[extensions++] = ADDRESS;
        address.pNext = chain;
        chain = &address;
    }
    const VkPhysicalDeviceFeatures core = {
        .shaderFloat64 = (features & FEATURE_F64) != 0,
        .shaderInt64 = (features & FEATURE_I64) != 0,
        .shaderInt16 = (features & FEATURE_I16) != 0,
        .shaderStorageBufferArrayDynamicIndexing = (features & FEATURE_ARRAYS) != 0,
        .shaderStorageImageArrayDynamicIndexing = (features & FEATURE_STORED_ARRAYS) != 0,
        .shaderSampledImageArrayDynamicIndexing = (features & FEATURE_SAMPLED_ARRAYS) != 0,
        .shaderStorageImageExtendedFormats = (features & FEATURE_MORE_FORMATS) != 0,
        .shaderStorageImageReadWithoutFormat = (features & FEATURE_READ_FORMATLESS) != 0,
        .shaderStorageImageWriteWithoutFormat = (features & FEATURE_WRITE_FORMATLESS) != 0};
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = chain,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = extensions,
        .ppEnabledExtensionNames = extension,
        .pEnabledFeatures = &core,
    };
    VK_TRY(vkCreateDevice(a->handle, &info, NULL, out));
    return GPU_OK;
}
