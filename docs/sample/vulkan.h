// Plain Vulkan for programs that run what tilewalk exports: the first device, buffers, pipelines.
// It is included behind an exported header, by programs of one file; without one, what concerns
// exported kernels is left out.
#ifndef TILEWALK_SAMPLE_VULKAN_H
#define TILEWALK_SAMPLE_VULKAN_H

#include "numbers.h"

#include <time.h>
#include <vulkan/vulkan.h>

enum { MOST_BINDINGS = 16, MOST_PASSES = 8, EXIT_SKIPPED = 77 };

static void check(VkResult result, const char *what)
{
    if (result == VK_SUCCESS)
        return;
    fprintf(stderr, "run: %s failed (VkResult %d)\n", what, (int)result);
    exit(EXIT_FAILURE);
}

// --- the device ---------------------------------------------------------------------------------

struct gpu {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkCommandPool pool;
    VkCommandBuffer commands;
};

static void choose_device(struct gpu *g)
{
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                             .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &app};
    uint32_t count = 1;
    if (vkCreateInstance(&info, NULL, &g->instance) != VK_SUCCESS ||
        vkEnumeratePhysicalDevices(g->instance, &count, &g->physical) < 0 || count == 0) {
        fprintf(stderr, "run: no Vulkan device\n");
        exit(EXIT_SKIPPED);
    }
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(g->physical, &properties);
    printf("device         %s\n", properties.deviceName);
}

static void choose_queue(struct gpu *g)
{
    VkQueueFamilyProperties families[32];
    uint32_t count = 32;
    vkGetPhysicalDeviceQueueFamilyProperties(g->physical, &count, families);
    for (g->family = 0; g->family < count; g->family++)
        if (families[g->family].queueFlags & VK_QUEUE_COMPUTE_BIT)
            return;
    die("the device has no queue for compute");
}

// Enables what f16, i8 and subgroups of a size need, as far as the device has it.
struct features {
    VkPhysicalDeviceFeatures2 base;
    VkPhysicalDeviceVulkan11Features storage16;
    VkPhysicalDeviceVulkan12Features small;
    VkPhysicalDeviceSubgroupSizeControlFeatures subgroups;
};

static void choose_features(const struct gpu *g, bool sizes_subgroups, struct features *f)
{
    struct features there = {
        .base = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2},
        .storage16 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES},
        .small = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES},
        .subgroups = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
                      .subgroupSizeControl = VK_TRUE,
                      .computeFullSubgroups = VK_TRUE},
    };
    *f = there;
    there.base.pNext = &there.storage16;
    there.storage16.pNext = &there.small;
    vkGetPhysicalDeviceFeatures2(g->physical, &there.base);
    f->base.pNext = &f->storage16;
    f->storage16.pNext = &f->small;
    f->base.features.shaderInt16 = there.base.features.shaderInt16;
    f->storage16.storageBuffer16BitAccess = there.storage16.storageBuffer16BitAccess;
    f->small.storageBuffer8BitAccess = there.small.storageBuffer8BitAccess;
    f->small.shaderFloat16 = there.small.shaderFloat16;
    f->small.shaderInt8 = there.small.shaderInt8;
    if (sizes_subgroups)
        f->small.pNext = &f->subgroups;
}

// `sizes_subgroups`: a pass asks for subgroups of a size.
static void open_device(struct gpu *g, bool sizes_subgroups)
{
    struct features features;
    choose_features(g, sizes_subgroups, &features);
    float priority = 1;
    const char *extension = VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = g->family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &features.base,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .enabledExtensionCount = sizes_subgroups,
                               .ppEnabledExtensionNames = &extension};
    check(vkCreateDevice(g->physical, &info, NULL, &g->device), "vkCreateDevice");
    vkGetDeviceQueue(g->device, g->family, 0, &g->queue);
}

static void make_commands(struct gpu *g)
{
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                    .queueFamilyIndex = g->family};
    check(vkCreateCommandPool(g->device, &pool, NULL, &g->pool), "vkCreateCommandPool");
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = g->pool,
                                        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                        .commandBufferCount = 1};
    check(vkAllocateCommandBuffers(g->device, &info, &g->commands), "vkAllocateCommandBuffers");
}

static void begin(struct gpu *g)
{
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    check(vkBeginCommandBuffer(g->commands, &info), "vkBeginCommandBuffer");
}

// All that was written before is there for all that comes, the host too.
static void barrier(struct gpu *g)
{
    VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                           .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                           .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT |
                                            VK_ACCESS_HOST_READ_BIT};
    VkPipelineStageFlags commands = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    vkCmdPipelineBarrier(g->commands, commands, commands | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &all,
                         0, NULL, 0, NULL);
}

static void submit_and_wait(struct gpu *g)
{
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &g->commands};
    check(vkQueueSubmit(g->queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
    check(vkQueueWaitIdle(g->queue), "vkQueueWaitIdle");
}

// --- buffers ------------------------------------------------------------------------------------

struct buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint64_t bytes;
};

static uint32_t choose_memory(const struct gpu *g, uint32_t allowed, VkMemoryPropertyFlags wanted)
{
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(g->physical, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++)
        if (allowed >> i & 1 && (memory.memoryTypes[i].propertyFlags & wanted) == wanted)
            return i;
    die("the device has no memory of the kind that is needed");
    return 0;
}

static VkBuffer make_handle(struct gpu *g, uint64_t bytes)
{
    VkBuffer made;
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = bytes,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    check(vkCreateBuffer(g->device, &info, NULL, &made), "vkCreateBuffer");
    return made;
}

static VkDeviceMemory allocate_memory(struct gpu *g, uint64_t bytes, uint32_t allowed,
                                      VkMemoryPropertyFlags wanted)
{
    VkDeviceMemory made;
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .allocationSize = bytes,
                                 .memoryTypeIndex = choose_memory(g, allowed, wanted)};
    check(vkAllocateMemory(g->device, &info, NULL, &made), "vkAllocateMemory");
    return made;
}

static struct buffer make_buffer(struct gpu *g, uint64_t bytes, VkMemoryPropertyFlags wanted)
{
    struct buffer b = {.bytes = bytes};
    VkMemoryRequirements needs;
    b.buffer = make_handle(g, bytes);
    vkGetBufferMemoryRequirements(g->device, b.buffer, &needs);
    b.memory = allocate_memory(g, needs.size, needs.memoryTypeBits, wanted);
    check(vkBindBufferMemory(g->device, b.buffer, b.memory, 0), "vkBindBufferMemory");
    return b;
}

static void free_buffer(struct gpu *g, struct buffer *b)
{
    vkDestroyBuffer(g->device, b->buffer, NULL);
    vkFreeMemory(g->device, b->memory, NULL);
}

// Copies between host memory and a buffer of the device, through one that both can see.
static void transfer(struct gpu *g, struct buffer *b, void *host, bool upload)
{
    struct buffer staging = make_buffer(
        g, b->bytes, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    VkBufferCopy all = {.size = b->bytes};
    void *mapped;
    check(vkMapMemory(g->device, staging.memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    if (upload)
        memcpy(mapped, host, b->bytes);
    begin(g);
    barrier(g);
    vkCmdCopyBuffer(g->commands, upload ? staging.buffer : b->buffer,
                    upload ? b->buffer : staging.buffer, 1, &all);
    barrier(g);
    check(vkEndCommandBuffer(g->commands), "vkEndCommandBuffer");
    submit_and_wait(g);
    if (!upload)
        memcpy(host, mapped, b->bytes);
    free_buffer(g, &staging);
}

// --- kernels ------------------------------------------------------------------------------------

// Describes so many storage buffers in set 0.
struct layouts {
    VkDescriptorSetLayout set;
    VkPipelineLayout pipeline;
};

static struct layouts make_layouts_of(struct gpu *g, uint32_t bindings, uint32_t push_bytes)
{
    VkPushConstantRange push = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = push_bytes};
    VkDescriptorSetLayoutBinding binding[MOST_BINDINGS] = {{0}};
    struct layouts made;
    if (bindings > MOST_BINDINGS)
        die("more bindings than this program has room for");
    for (uint32_t i = 0; i < bindings; i++)
        binding[i] = (VkDescriptorSetLayoutBinding){
            .binding = i,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        };
    VkDescriptorSetLayoutCreateInfo set = {.sType =
                                               VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = bindings,
                                           .pBindings = binding};
    check(vkCreateDescriptorSetLayout(g->device, &set, NULL, &made.set),
          "vkCreateDescriptorSetLayout");
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .pushConstantRangeCount = push.size > 0,
                                         .pPushConstantRanges = &push,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &made.set};
    check(vkCreatePipelineLayout(g->device, &layout, NULL, &made.pipeline),
          "vkCreatePipelineLayout");
    return made;
}

static void free_layouts(struct gpu *g, const struct layouts *l)
{
    vkDestroyPipelineLayout(g->device, l->pipeline, NULL);
    vkDestroyDescriptorSetLayout(g->device, l->set, NULL);
}

static VkDescriptorPool make_descriptors(struct gpu *g, uint32_t sets, uint32_t buffers)
{
    VkDescriptorPool made;
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, buffers};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = sets,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    check(vkCreateDescriptorPool(g->device, &pool, NULL, &made), "vkCreateDescriptorPool");
    return made;
}

static VkDescriptorSet make_set(struct gpu *g, VkDescriptorPool pool, const struct layouts *l)
{
    VkDescriptorSet made;
    VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                       .descriptorPool = pool,
                                       .descriptorSetCount = 1,
                                       .pSetLayouts = &l->set};
    check(vkAllocateDescriptorSets(g->device, &set, &made), "vkAllocateDescriptorSets");
    return made;
}

static void bind_buffer(struct gpu *g, VkDescriptorSet set, uint32_t binding, VkBuffer buffer)
{
    VkDescriptorBufferInfo info = {.buffer = buffer, .range = VK_WHOLE_SIZE};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = set,
                                  .dstBinding = binding,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = &info};
    vkUpdateDescriptorSets(g->device, 1, &write, 0, NULL);
}

#ifdef TILEWALK_KERNEL_3
static struct layouts make_layouts(struct gpu *g, const struct tilewalk_kernel *kernel)
{
    uint32_t push_bytes = 0;
    for (uint32_t i = 0; i < kernel->pass_count; i++)
        if (kernel->passes[i].push_bytes > push_bytes)
            push_bytes = kernel->passes[i].push_bytes;
    return make_layouts_of(g, kernel->binding_count, push_bytes);
}

// A kernel that was measured with subgroups of one size must have them; where rows of invocations
// are whole subgroups, all of them full.
static VkPipeline make_pipeline(struct gpu *g, VkPipelineLayout layout,
                                const struct tilewalk_pass *pass)
{
    VkShaderModule module;
    VkShaderModuleCreateInfo code = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                     .codeSize = pass->spirv_bytes,
                                     .pCode = pass->spirv};
    check(vkCreateShaderModule(g->device, &code, NULL, &module), "vkCreateShaderModule");
    uint32_t subgroup = pass->subgroup_size;
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = subgroup};
    bool full = subgroup && pass->local_size[0] % subgroup == 0;
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .pNext = subgroup ? &size : NULL,
                  .flags = full ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT : 0,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = pass->entry},
        .layout = layout};
    VkPipeline pipeline;
    check(vkCreateComputePipelines(g->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline),
          "vkCreateComputePipelines");
    vkDestroyShaderModule(g->device, module, NULL);
    return pipeline;
}

// The next pass sees what this one wrote.
static void record_pass(struct gpu *g, VkPipelineLayout layout, VkPipeline pipeline,
                        const struct tilewalk_pass *pass)
{
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                               .dstAccessMask =
                                   VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
    vkCmdBindPipeline(g->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    if (pass->push_bytes)
        vkCmdPushConstants(g->commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, pass->push_bytes,
                           pass->push);
    vkCmdDispatch(g->commands, pass->groups[0], pass->groups[1], pass->groups[2]);
    vkCmdPipelineBarrier(g->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
}
#endif

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The device's own clock, where it has one.
struct stamps {
    VkQueryPool pool; // none: it has not
    double tick_s;
    uint32_t bits; // that count
};

static inline struct stamps make_stamps(struct gpu *g)
{
    struct stamps s = {0};
    VkPhysicalDeviceProperties properties;
    VkQueueFamilyProperties families[32];
    uint32_t count = 32;
    vkGetPhysicalDeviceProperties(g->physical, &properties);
    vkGetPhysicalDeviceQueueFamilyProperties(g->physical, &count, families);
    s.tick_s = (double)properties.limits.timestampPeriod * 1e-9;
    s.bits = families[g->family].timestampValidBits;
    VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                  .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                  .queryCount = 2};
    if (s.bits && s.tick_s > 0)
        check(vkCreateQueryPool(g->device, &info, NULL, &s.pool), "vkCreateQueryPool");
    return s;
}

static inline void stamp(struct gpu *g, const struct stamps *s, uint32_t index)
{
    if (s->pool && index == 0)
        vkCmdResetQueryPool(g->commands, s->pool, 0, 2);
    if (s->pool)
        vkCmdWriteTimestamp(g->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, s->pool, index);
}

static inline double stamped_seconds(struct gpu *g, const struct stamps *s)
{
    uint64_t at[2];
    check(vkGetQueryPoolResults(g->device, s->pool, 0, 2, sizeof at, at, sizeof at[0],
                                VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
          "vkGetQueryPoolResults");
    uint64_t mask = s->bits < 64 ? ((uint64_t)1 << s->bits) - 1 : UINT64_MAX;
    uint64_t ticks = (at[1] - at[0]) & mask;
    return (double)(ticks ? ticks : 1) * s->tick_s; // nothing takes no time
}

static void close_device(struct gpu *g)
{
    vkDestroyCommandPool(g->device, g->pool, NULL);
    vkDestroyDevice(g->device, NULL);
    vkDestroyInstance(g->instance, NULL);
}

#endif
