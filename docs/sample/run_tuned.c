// Takes what tilewalk tuned into a program with a shader of its own: its specialization constants
// are looked up in a table for the device and the shape, and its pipelines are kept in a cache.
//
//     tilewalk tune product.lua --set N=512; tilewalk export 1 --as table --out table.json
//     glslangValidator -V product.comp -o product.spv
//     cc -O2 -I/usr/local/include run_tuned.c -lvulkan -lm -o run_tuned
//     ./run_tuned table.json product.spv 500 512 512
//
// With -DTABLE='"table.h"' -DTABLE_NAME=table it has the table of --as c-table in it, and needs no
// file. It fills the inputs with small random integers and compares the whole result with one in
// plain C; it exits with 1 when that is wrong and with 77 when there is no Vulkan device.
#define _POSIX_C_SOURCE 200809L

#ifdef TABLE
#include TABLE
#else
#include <tilewalk_tuned.h>
#endif

#include "vulkan.h"

#define CACHE "run_tuned.cache"

static void *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *bytes = allocate(1 << 24);
    *length = file ? fread(bytes, 1, 1 << 24, file) : 0;
    if (file)
        fclose(file);
    return bytes;
}

// --- what is looked up --------------------------------------------------------------------------

struct constants { // of product.comp
    uint32_t columns, groups, rows;
};

static void describe(const struct gpu *g, char driver[600], VkPhysicalDeviceProperties2 *all,
                     struct tilewalk_device *d)
{
    VkPhysicalDeviceDriverProperties names = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    *all = (VkPhysicalDeviceProperties2){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                         .pNext = &names};
    vkGetPhysicalDeviceProperties2(g->physical, all);
    all->pNext = NULL;
    const VkPhysicalDeviceLimits *limits = &all->properties.limits;
    snprintf(driver, 600, "%s, %s", names.driverName, names.driverInfo);
    *d = (struct tilewalk_device){.name = all->properties.deviceName,
                                  .driver = driver,
                                  .limits = {.invocations = limits->maxComputeWorkGroupInvocations,
                                             .shared_bytes = limits->maxComputeSharedMemorySize}};
    memcpy(d->limits.group_size, limits->maxComputeWorkGroupSize, sizeof d->limits.group_size);
}

static struct constants look_up(const struct gpu *g, const struct tilewalk_tuned *table,
                                const uint32_t size[3])
{
    static const char standard[] = "{\"columns\": 8, \"groups\": 8, \"rows\": 1}";
    static const char *const by[] = {"this device and driver", "this device, another driver",
                                     "another device of the vendor", "any", "the default"};
    const struct tilewalk_member problem[] = {{"N", NULL, size[0]},
                                              {"M", NULL, size[1]},
                                              {"K", NULL, size[2]},
                                              {"type", "f32", 0},
                                              {"layout", "nn", 0}};
    char driver[600];
    VkPhysicalDeviceProperties2 all;
    struct tilewalk_device device;
    describe(g, driver, &all, &device);
    struct tilewalk_found f = tilewalk_tuned_find(table, "matmul", problem, 5, &device, standard);
    printf("configuration  %s\nof             %s%s\n", f.configuration, by[f.likeness],
           f.entry && f.distance ? ", another shape" : "");
    return (struct constants){
        (uint32_t)tilewalk_configuration_number(f.configuration, "columns", 0, 8),
        (uint32_t)tilewalk_configuration_number(f.configuration, "groups", 0, 8),
        (uint32_t)tilewalk_configuration_number(f.configuration, "rows", 0, 1)};
}

// --- the pipeline -------------------------------------------------------------------------------

static VkPipeline make_specialized(struct gpu *g, VkPipelineLayout layout, const char *path,
                                   const struct constants *c)
{
    size_t cached, length;
    void *cache_bytes = read_file(CACHE, &cached), *words = read_file(path, &length);
    VkPipelineCacheCreateInfo begin_with = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
        .initialDataSize = cached,
        .pInitialData = cache_bytes}; // the driver leaves the cache of another one alone
    VkShaderModuleCreateInfo code = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = length, .pCode = words};
    const VkSpecializationMapEntry entry[] = {{0, offsetof(struct constants, columns), 4},
                                              {1, offsetof(struct constants, groups), 4},
                                              {2, offsetof(struct constants, rows), 4}};
    VkSpecializationInfo special = {3, entry, sizeof *c, c};
    VkPipelineCache cache;
    VkShaderModule module;
    VkPipeline made;
    if (!length)
        die("the shader's SPIR-V cannot be read");
    check(vkCreatePipelineCache(g->device, &begin_with, NULL, &cache), "vkCreatePipelineCache");
    check(vkCreateShaderModule(g->device, &code, NULL, &module), "vkCreateShaderModule");
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main",
                  .pSpecializationInfo = &special},
        .layout = layout};
    check(vkCreateComputePipelines(g->device, cache, 1, &info, NULL, &made),
          "vkCreateComputePipelines");
    size_t kept = 1 << 24;
    FILE *file = fopen(CACHE, "wb");
    if (file && vkGetPipelineCacheData(g->device, cache, &kept, cache_bytes) == VK_SUCCESS)
        fwrite(cache_bytes, 1, kept, file);
    if (file)
        fclose(file);
    vkDestroyShaderModule(g->device, module, NULL);
    vkDestroyPipelineCache(g->device, cache, NULL);
    free(cache_bytes);
    free(words);
    return made;
}

// --- the run ------------------------------------------------------------------------------------

static size_t compare(const uint32_t size[3], float *const host[3])
{
    size_t wrong = 0;
    for (size_t i = 0; i < (size_t)size[0] * size[1]; i++) {
        double sum = 0;
        for (size_t k = 0; k < size[2]; k++)
            sum += number_at(host[0], F32, i / size[1] * size[2] + k) *
                   number_at(host[1], F32, k * size[1] + i % size[1]);
        wrong += number_at(host[2], F32, i) != sum;
    }
    return wrong;
}

static size_t run(struct gpu *g, const char *path, const uint32_t size[3],
                  const struct constants *c)
{
    const size_t count[3] = {(size_t)size[0] * size[2], (size_t)size[2] * size[1],
                             (size_t)size[0] * size[1]};
    struct layouts layouts = make_layouts_of(g, 3, 12);
    VkDescriptorPool pool = make_descriptors(g, 1, 3);
    VkDescriptorSet set = make_set(g, pool, &layouts);
    VkPipeline pipeline = make_specialized(g, layouts.pipeline, path, c);
    struct buffer buffer[3];
    float *host[3];
    for (int i = 0; i < 3; i++) {
        host[i] = allocate(count[i] * number_bytes(F32));
        buffer[i] =
            make_buffer(g, count[i] * number_bytes(F32), VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
        bind_buffer(g, set, (uint32_t)i, buffer[i].buffer);
        for (size_t j = 0; j < count[i]; j++)
            host[i][j] = (float)(rand() % 7 - 3);
        transfer(g, &buffer[i], host[i], true);
    }
    begin(g);
    barrier(g);
    vkCmdBindDescriptorSets(g->commands, VK_PIPELINE_BIND_POINT_COMPUTE, layouts.pipeline, 0, 1,
                            &set, 0, NULL);
    vkCmdBindPipeline(g->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdPushConstants(g->commands, layouts.pipeline, VK_SHADER_STAGE_COMPUTE_BIT, 0, 12, size);
    vkCmdDispatch(g->commands, (size[1] + c->columns - 1) / c->columns,
                  (size[0] + c->groups * c->rows - 1) / (c->groups * c->rows), 1);
    check(vkEndCommandBuffer(g->commands), "vkEndCommandBuffer");
    double start = now();
    submit_and_wait(g);
    printf("time           %.4g ms\n", (now() - start) * 1e3);
    transfer(g, &buffer[2], host[2], false);
    size_t wrong = compare(size, host);
    for (int i = 0; i < 3; i++) {
        free_buffer(g, &buffer[i]);
        free(host[i]);
    }
    vkDestroyPipeline(g->device, pipeline, NULL);
    vkDestroyDescriptorPool(g->device, pool, NULL);
    free_layouts(g, &layouts);
    return wrong;
}

int main(int argc, char **argv)
{
    struct gpu g = {0};
    uint32_t size[3];
    if (argc != 6)
        die("usage: run_tuned TABLE SPIRV N M K");
    for (int i = 0; i < 3; i++)
        size[i] = (uint32_t)strtoul(argv[3 + i], NULL, 10);
    choose_device(&g);
    choose_queue(&g);
    open_device(&g, false);
    make_commands(&g);
#ifdef TABLE
    const struct tilewalk_tuned tuned = TABLE_NAME;
#else
    char why[160];
    size_t length;
    struct tilewalk_tuned tuned;
    char *text = read_file(argv[1], &length);
    if (!tilewalk_tuned_read(&tuned, text, length, why, sizeof why))
        die(why);
    free(text);
#endif
    struct constants c = look_up(&g, &tuned, size);
    size_t wrong = run(&g, argv[2], size, &c);
    printf("wrong          %zu\n", wrong);
#ifndef TABLE
    tilewalk_tuned_free(&tuned);
#endif
    close_device(&g);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
