// Runs a kernel that `tilewalk export` wrote. Plain Vulkan, and nothing of tilewalk but the header
// that was exported:
//
//     cc -O2 -DKERNEL_HEADER='"export/gemm-f32-nn-256x256x256.h"'
//         -DKERNEL_NAME=gemm_f32_nn_256x256x256_kernel run_export.c -lvulkan -lm -o run_export
//
// Products, alone or in batches, and convolutions, of f32, f16 and i8: it fills the inputs with
// small random integers, runs the kernel on the first device, compares the whole result with one in
// plain C (reference.h), and prints the time of a run and the largest error. It exits with 1 when
// the result is wrong and with 77 when there is no Vulkan device.
#define _POSIX_C_SOURCE 200809L

#include KERNEL_HEADER

#include "reference.h"

#include <time.h>
#include <vulkan/vulkan.h>

enum { REPEATS = 20, MOST_BINDINGS = 16, MOST_PASSES = 8, EXIT_SKIPPED = 77 };

static const struct tilewalk_kernel *const kernel = &KERNEL_NAME;

static void check(VkResult result, const char *what)
{
    if (result == VK_SUCCESS)
        return;
    fprintf(stderr, "run_export: %s failed (VkResult %d)\n", what, (int)result);
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
        fprintf(stderr, "run_export: no Vulkan device\n");
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

// The size that a pass must have its subgroups in; 0: none minds.
static uint32_t wanted_subgroup(void)
{
    uint32_t size = 0;
    for (uint32_t i = 0; i < kernel->pass_count && !size; i++)
        size = kernel->passes[i].subgroup_size;
    return size;
}

// What f16, i8 and subgroups of a size need of the device, as far as it has it.
struct features {
    VkPhysicalDeviceFeatures2 base;
    VkPhysicalDeviceVulkan11Features storage16;
    VkPhysicalDeviceVulkan12Features small;
    VkPhysicalDeviceSubgroupSizeControlFeatures subgroups;
};

static void choose_features(const struct gpu *g, struct features *f)
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
    if (wanted_subgroup())
        f->small.pNext = &f->subgroups;
}

static void open_device(struct gpu *g)
{
    struct features features;
    choose_features(g, &features);
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
                               .enabledExtensionCount = wanted_subgroup() > 0,
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

static struct buffer make_buffer(struct gpu *g, uint64_t bytes, VkMemoryPropertyFlags wanted)
{
    struct buffer b = {.bytes = bytes};
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = bytes,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    check(vkCreateBuffer(g->device, &info, NULL, &b.buffer), "vkCreateBuffer");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(g->device, b.buffer, &needs);
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .allocationSize = needs.size,
                                   .memoryTypeIndex =
                                       choose_memory(g, needs.memoryTypeBits, wanted)};
    check(vkAllocateMemory(g->device, &memory, NULL, &b.memory), "vkAllocateMemory");
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
    vkCmdCopyBuffer(g->commands, upload ? staging.buffer : b->buffer,
                    upload ? b->buffer : staging.buffer, 1, &all);
    check(vkEndCommandBuffer(g->commands), "vkEndCommandBuffer");
    submit_and_wait(g);
    if (!upload)
        memcpy(host, mapped, b->bytes);
    free_buffer(g, &staging);
}

// --- the kernel ---------------------------------------------------------------------------------

struct program {
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    VkPipeline pass[MOST_PASSES];
    struct buffer buffer[MOST_BINDINGS];
};

static void make_layouts(struct gpu *g, struct program *p)
{
    VkDescriptorSetLayoutBinding binding[MOST_BINDINGS] = {{0}};
    for (uint32_t i = 0; i < kernel->binding_count; i++)
        binding[i] = (VkDescriptorSetLayoutBinding){
            .binding = i,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        };
    VkDescriptorSetLayoutCreateInfo set = {.sType =
                                               VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = kernel->binding_count,
                                           .pBindings = binding};
    check(vkCreateDescriptorSetLayout(g->device, &set, NULL, &p->set_layout),
          "vkCreateDescriptorSetLayout");
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &p->set_layout};
    check(vkCreatePipelineLayout(g->device, &layout, NULL, &p->layout), "vkCreatePipelineLayout");
}

// A kernel that was measured with subgroups of one size must have them; where rows of invocations
// are whole subgroups, all of them full.
static VkPipeline make_pipeline(struct gpu *g, const struct program *p,
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
        .layout = p->layout};
    VkPipeline pipeline;
    check(vkCreateComputePipelines(g->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline),
          "vkCreateComputePipelines");
    vkDestroyShaderModule(g->device, module, NULL);
    return pipeline;
}

// One buffer for each binding; all passes see all of them.
static void bind_buffers(struct gpu *g, struct program *p)
{
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, kernel->binding_count};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 1,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    check(vkCreateDescriptorPool(g->device, &pool, NULL, &p->pool), "vkCreateDescriptorPool");
    VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                       .descriptorPool = p->pool,
                                       .descriptorSetCount = 1,
                                       .pSetLayouts = &p->set_layout};
    check(vkAllocateDescriptorSets(g->device, &set, &p->set), "vkAllocateDescriptorSets");
    for (uint32_t i = 0; i < kernel->binding_count; i++) {
        p->buffer[i] =
            make_buffer(g, kernel->bindings[i].bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
        VkDescriptorBufferInfo info = {.buffer = p->buffer[i].buffer, .range = VK_WHOLE_SIZE};
        VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                      .dstSet = p->set,
                                      .dstBinding = i,
                                      .descriptorCount = 1,
                                      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                      .pBufferInfo = &info};
        vkUpdateDescriptorSets(g->device, 1, &write, 0, NULL);
    }
}

static void make_program(struct gpu *g, struct program *p)
{
    if (kernel->binding_count > MOST_BINDINGS || kernel->pass_count > MOST_PASSES)
        die("more bindings or passes than this sample has room for");
    make_layouts(g, p);
    for (uint32_t i = 0; i < kernel->pass_count; i++)
        p->pass[i] = make_pipeline(g, p, &kernel->passes[i]);
    bind_buffers(g, p);
}

// All passes in order, each seeing what the one before it wrote.
static void record_run(struct gpu *g, const struct program *p)
{
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                               .dstAccessMask =
                                   VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
    vkCmdBindDescriptorSets(g->commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->layout, 0, 1, &p->set,
                            0, NULL);
    for (uint32_t i = 0; i < kernel->pass_count; i++) {
        const uint32_t *groups = kernel->passes[i].groups;
        vkCmdBindPipeline(g->commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->pass[i]);
        vkCmdDispatch(g->commands, groups[0], groups[1], groups[2]);
        vkCmdPipelineBarrier(g->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                             VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, NULL, 0,
                             NULL);
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Seconds of the host's clock for one of `repeats` runs.
static double run(struct gpu *g, const struct program *p, int repeats)
{
    begin(g);
    for (int i = 0; i < repeats; i++)
        record_run(g, p);
    check(vkEndCommandBuffer(g->commands), "vkEndCommandBuffer");
    double start = now();
    submit_and_wait(g);
    return (now() - start) / repeats;
}

static void close_everything(struct gpu *g, struct program *p)
{
    for (uint32_t i = 0; i < kernel->binding_count; i++)
        free_buffer(g, &p->buffer[i]);
    for (uint32_t i = 0; i < kernel->pass_count; i++)
        vkDestroyPipeline(g->device, p->pass[i], NULL);
    vkDestroyDescriptorPool(g->device, p->pool, NULL);
    vkDestroyPipelineLayout(g->device, p->layout, NULL);
    vkDestroyDescriptorSetLayout(g->device, p->set_layout, NULL);
    vkDestroyCommandPool(g->device, g->pool, NULL);
    vkDestroyDevice(g->device, NULL);
    vkDestroyInstance(g->instance, NULL);
}

// --- the whole ----------------------------------------------------------------------------------

// The caller frees.
static void *upload_random(struct gpu *g, struct buffer *b, enum number type)
{
    void *values = allocate(b->bytes);
    for (size_t i = 0; i < b->bytes / number_bytes(type); i++)
        number_draw(values, type, i);
    transfer(g, b, values, true);
    return values;
}

int main(void)
{
    struct gpu g = {0};
    struct program program = {0};
    struct problem p = read_problem(kernel);
    choose_device(&g);
    choose_queue(&g);
    open_device(&g);
    make_commands(&g);
    make_program(&g, &program);
    struct buffer *result = &program.buffer[2];
    void *a = upload_random(&g, &program.buffer[0], p.in);
    void *b = upload_random(&g, &program.buffer[1], p.in);

    run(&g, &program, 1); // drivers compile and clocks wake up
    double seconds = run(&g, &program, REPEATS);

    void *c = allocate(result->bytes);
    transfer(&g, result, c, false);
    double error = largest_error(&p, a, b, c);
    printf("kernel         %s\n", kernel->name);
    printf("time           %.4g ms\n", seconds * 1e3);
    printf("largest error  %g\n", error);
    free(a);
    free(b);
    free(c);
    close_everything(&g, &program);
    return error == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
