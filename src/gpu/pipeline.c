#include "base/err.h"
#include "base/mem.h"
#include "gpu/vk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- compiled pipelines as bytes, for another process ---

void gpu_keep(struct gpu *g, const struct gpu_kept *known)
{
    const VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
        .initialDataSize = known->size,
        .pInitialData = known->bytes,
    };
    if (vkCreatePipelineCache(g->device, &info, NULL, &g->cache) != VK_SUCCESS)
        g->cache = VK_NULL_HANDLE;
}

void gpu_end_keeping(struct gpu *g, struct gpu_kept *out)
{
    if (out) {
        *out = (struct gpu_kept){0};
        if (g->cache && vkGetPipelineCacheData(g->device, g->cache, &out->size, NULL) == VK_SUCCESS)
            out->bytes = mem_alloc(out->size);
        if (!out->bytes ||
            vkGetPipelineCacheData(g->device, g->cache, &out->size, out->bytes) != VK_SUCCESS)
            gpu_kept_finish(out);
    }
    vkDestroyPipelineCache(g->device, g->cache, NULL);
    g->cache = VK_NULL_HANDLE;
}

void gpu_kept_finish(struct gpu_kept *k)
{
    free(k->bytes);
    *k = (struct gpu_kept){0};
}

// --- compiler statistics: VK_KHR_pipeline_executable_properties ---

#define EXTENSION        VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME
#define EXECUTABLE_FLAGS VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR

bool executable_describe(const struct adapter *a)
{
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR f = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR};
    VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                     .pNext = &f};
    if (!vk_has_extension(a->handle, EXTENSION))
        return false;
    vkGetPhysicalDeviceFeatures2(a->handle, &all);
    return f.pipelineExecutableInfo;
}

void *executable_enable(VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR *f,
                        const char **name, uint32_t *count, void *next)
{
    *f = (VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
        .pNext = next,
        .pipelineExecutableInfo = VK_TRUE};
    name[(*count)++] = EXTENSION;
    return f;
}

// Adds the statistics of one of a pipeline's executables.
static void read_one(VkDevice device, const VkPipelineExecutableInfoKHR *which,
                     struct statistics *out)
{
    PFN_vkGetPipelineExecutableStatisticsKHR get =
        (PFN_vkGetPipelineExecutableStatisticsKHR)vkGetDeviceProcAddr(
            device, "vkGetPipelineExecutableStatisticsKHR");
    uint32_t count = 0;
    if (!get || get(device, which, &count, NULL) != VK_SUCCESS)
        return;
    VkPipelineExecutableStatisticKHR *list = mem_zero(count, sizeof *list);
    for (uint32_t i = 0; i < count; i++)
        list[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
    if (get(device, which, &count, list) == VK_SUCCESS)
        for (uint32_t i = 0; i < count; i++) {
            // The name need not end within its array.
            char name[VK_MAX_DESCRIPTION_SIZE + 1];
            snprintf(name, sizeof name, "%.*s", VK_MAX_DESCRIPTION_SIZE, list[i].name);
            double value = -1; // an unknown format: refused as a number
            switch (list[i].format) {
            case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
                value = list[i].value.b32 != VK_FALSE;
                break;
            case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
                value = (double)list[i].value.i64;
                break;
            case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
                value = (double)list[i].value.u64;
                break;
            case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR:
                value = list[i].value.f64;
                break;
            default: break;
            }
            statistics_take(out, name, value); // leaves out what is no possible value
        }
    free(list);
}

// Reads the statistics of a pipeline that was created with EXECUTABLE_FLAGS.
static void executable_read(VkDevice device, VkPipeline pipeline, struct statistics *out)
{
    PFN_vkGetPipelineExecutablePropertiesKHR get =
        (PFN_vkGetPipelineExecutablePropertiesKHR)vkGetDeviceProcAddr(
            device, "vkGetPipelineExecutablePropertiesKHR");
    const VkPipelineInfoKHR of = {.sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR,
                                  .pipeline = pipeline};
    uint32_t count = 0;
    *out = (struct statistics){0};
    if (!get || get(device, &of, &count, NULL) != VK_SUCCESS)
        return;
    for (uint32_t i = 0; i < count; i++)
        read_one(
            device,
            &(VkPipelineExecutableInfoKHR){.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
                                           .pipeline = pipeline,
                                           .executableIndex = i},
            out);
}

// --- pipelines ---

static enum gpu_status create_set_layout(struct gpu *g, VkDescriptorType type, int count,
                                         VkDescriptorSetLayout *out, struct err *e)
{
    VkDescriptorSetLayoutBinding binding[GPU_MAX_BINDINGS];
    for (int i = 0; i < count; i++)
        binding[i] = (VkDescriptorSetLayoutBinding){
            .binding = (uint32_t)i,
            .descriptorType = type,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        };
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = (uint32_t)count,
        .pBindings = binding,
    };
    VK_TRY(vkCreateDescriptorSetLayout(g->device, &set, NULL, out));
    return GPU_OK;
}

static enum gpu_status create_descriptors(struct gpu *g, const struct gpu_shader *s,
                                          VkDescriptorSetLayout *out, struct err *e)
{
    VkDescriptorSetLayoutBinding binding[GPU_MAX_DESCRIPTORS];
    for (int i = 0; i < s->descriptors; i++)
        binding[i] = (VkDescriptorSetLayoutBinding){
            .binding = s->descriptor[i].at,
            .descriptorType = vk_descriptor_type(s->descriptor[i].kind),
            .descriptorCount = s->descriptor[i].count,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        };
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = (uint32_t)s->descriptors,
        .pBindings = binding,
    };
    VK_TRY(vkCreateDescriptorSetLayout(g->device, &set, NULL, out));
    return GPU_OK;
}

static enum gpu_status create_layouts(struct gpu *g, const struct gpu_shader *s,
                                      struct gpu_pipeline *p, struct err *e)
{
    GPU_TRY(
        create_set_layout(g, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, p->bindings, &p->set_layout[0], e));
    if (p->sets > 1) // perhaps without any
        GPU_TRY(create_set_layout(g, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, p->uniforms,
                                  &p->set_layout[1], e));
    if (p->sets > 2)
        GPU_TRY(create_descriptors(g, s, &p->set_layout[2], e));
    const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, p->push_bytes};
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .pushConstantRangeCount = p->push_bytes > 0,
        .pPushConstantRanges = &push,
        .setLayoutCount = (uint32_t)p->sets,
        .pSetLayouts = p->set_layout,
    };
    VK_TRY(vkCreatePipelineLayout(g->device, &layout, NULL, &p->layout));
    return GPU_OK;
}

static enum gpu_status create_handle(struct gpu *g, const struct gpu_shader *s,
                                     struct gpu_pipeline *p, struct err *e)
{
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = s->subgroup,
    };
    const struct limits *l = &g->adapter.info.limits;
    bool sized = s->subgroup && l->subgroup_least <= s->subgroup && s->subgroup <= l->subgroup_most;
    bool full = sized && s->local_x % s->subgroup == 0;

    const VkShaderModuleCreateInfo code = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = s->word_count * sizeof *s->word,
        .pCode = s->word,
    };
    VkShaderModule module;
    VK_TRY(vkCreateShaderModule(g->device, &code, NULL, &module));
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .flags = VK_PIPELINE_CREATE_DISPATCH_BASE_BIT | // see gpu_run_in_parts
                 (g->adapter.has_statistics ? EXECUTABLE_FLAGS : 0),
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .pNext = sized ? &size : NULL,
                  .flags = full ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT : 0,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = s->entry ? s->entry : "main"},
        .layout = p->layout,
    };
    VkResult r = vkCreateComputePipelines(g->device, g->cache, 1, &info, NULL, &p->handle);
    vkDestroyShaderModule(g->device, module, NULL);
    if (r == VK_SUCCESS && g->adapter.has_statistics)
        executable_read(g->device, p->handle, &p->statistics);
    return r == VK_SUCCESS ? GPU_OK : vk_fail(r, "vkCreateComputePipelines", e);
}

enum gpu_status gpu_pipeline_create(struct gpu *g, const struct gpu_shader *s,
                                    struct gpu_pipeline **out, struct err *e)
{
    *out = NULL;
    if (s->bindings < 0 || s->bindings > GPU_MAX_BINDINGS || s->uniforms > GPU_MAX_UNIFORMS ||
        s->descriptors > GPU_MAX_DESCRIPTORS) {
        err_set(e, "%d bindings (at most %d), %d uniform blocks (at most %d), %d descriptors",
                s->bindings, GPU_MAX_BINDINGS, s->uniforms, GPU_MAX_UNIFORMS, s->descriptors);
        return GPU_FAILED;
    }
    uint32_t most = g->adapter.push_bytes;
    if (s->push_bytes > most) {
        err_set(e, "push constants of %" PRIu32 " bytes > %" PRIu32, s->push_bytes, most);
        return GPU_FAILED;
    }
    struct gpu_pipeline *p = mem_zero(1, sizeof *p);
    p->bindings = s->bindings;
    p->uniforms = s->uniforms;
    p->push_bytes = s->push_bytes;
    p->sets = s->descriptors ? 3 : s->uniforms ? 2 : 1;
    enum gpu_status status = create_layouts(g, s, p, e);
    if (status == GPU_OK)
        status = create_handle(g, s, p, e);
    if (status == GPU_OK)
        *out = p;
    else
        gpu_pipeline_destroy(g, p);
    return status;
}

// A pipeline that is still running is not destroyed before the process ends.
void gpu_pipeline_destroy(struct gpu *g, struct gpu_pipeline *p)
{
    if (!p || vk_settle(g, 0, NULL) == GPU_TIMEOUT)
        return;
    vkDestroyPipeline(g->device, p->handle, NULL);
    vkDestroyPipelineLayout(g->device, p->layout, NULL);
    for (int i = 0; i < GPU_SETS; i++)
        vkDestroyDescriptorSetLayout(g->device, p->set_layout[i], NULL);
    free(p);
}

const struct statistics *gpu_pipeline_statistics(const struct gpu_pipeline *p)
{
    return &p->statistics;
}
