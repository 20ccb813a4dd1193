#include "base/mem.h"
#include "gpu/vk.h"

#include <inttypes.h>
#include <stdlib.h>

static enum gpu_status create_layouts(struct gpu *g, struct gpu_pipeline *p, struct err *e)
{
    VkDescriptorSetLayoutBinding binding[GPU_MAX_BINDINGS];
    for (int i = 0; i < p->bindings; i++)
        binding[i] = (VkDescriptorSetLayoutBinding){
            .binding = (uint32_t)i,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        };
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = (uint32_t)p->bindings,
        .pBindings = binding,
    };
    VK_TRY(vkCreateDescriptorSetLayout(g->device, &set, NULL, &p->set_layout));
    const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, p->push_bytes};
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .pushConstantRangeCount = p->push_bytes > 0,
        .pPushConstantRanges = &push,
        .setLayoutCount = 1,
        .pSetLayouts = &p->set_layout,
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
                 (g->adapter.tells_statistics ? EXECUTABLE_FLAGS : 0),
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .pNext = sized ? &size : NULL,
                  .flags = full ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT : 0,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main"},
        .layout = p->layout,
    };
    VkResult r = vkCreateComputePipelines(g->device, g->cache, 1, &info, NULL, &p->handle);
    vkDestroyShaderModule(g->device, module, NULL);
    if (r == VK_SUCCESS && g->adapter.tells_statistics)
        executable_read(g->device, p->handle, &p->statistics);
    return r == VK_SUCCESS ? GPU_OK : vk_fail(r, "vkCreateComputePipelines", e);
}

enum gpu_status gpu_pipeline_create(struct gpu *g, const struct gpu_shader *s,
                                    struct gpu_pipeline **out, struct err *e)
{
    *out = NULL;
    if (s->bindings < 0 || s->bindings > GPU_MAX_BINDINGS) {
        err_set(e, "%d bindings (at most %d)", s->bindings, GPU_MAX_BINDINGS);
        return GPU_FAILED;
    }
    uint32_t most = g->adapter.push_bytes;
    if (s->push_bytes > most) {
        err_set(e, "push constants of %" PRIu32 " bytes > %" PRIu32, s->push_bytes, most);
        return GPU_FAILED;
    }
    struct gpu_pipeline *p = mem_zero(1, sizeof *p);
    p->bindings = s->bindings;
    p->push_bytes = s->push_bytes;
    enum gpu_status status = create_layouts(g, p, e);
    if (status == GPU_OK)
        status = create_handle(g, s, p, e);
    if (status == GPU_OK)
        *out = p;
    else
        gpu_pipeline_destroy(g, p);
    return status;
}

// A pipeline that is still running is left to the end of the process.
void gpu_pipeline_destroy(struct gpu *g, struct gpu_pipeline *p)
{
    if (!p || vk_settle(g, 0, NULL) == GPU_TIMEOUT)
        return;
    vkDestroyPipeline(g->device, p->handle, NULL);
    vkDestroyPipelineLayout(g->device, p->layout, NULL);
    vkDestroyDescriptorSetLayout(g->device, p->set_layout, NULL);
    free(p);
}

const struct statistics *gpu_pipeline_statistics(const struct gpu_pipeline *p)
{
    return &p->statistics;
}
