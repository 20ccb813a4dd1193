// VK_KHR_pipeline_executable_properties: the numbers that a driver's compiler has of a pipeline.
#include "base/log.h"
#include "base/mem.h"
#include "gpu/vk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXTENSION VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME

bool executable_describe(const struct adapter *a)
{
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR f = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR};
    VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                     .pNext = &f};
    if (!adapter_has_extension(a, EXTENSION))
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

static double value_of(const VkPipelineExecutableStatisticKHR *s)
{
    switch (s->format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR: return s->value.b32 != VK_FALSE;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR: return (double)s->value.i64;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR: return (double)s->value.u64;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR: return s->value.f64;
    default: return -1; // of no format that is known: refused as a number
    }
}

// The name need not end within its array.
static void take(const VkPipelineExecutableStatisticKHR *s, struct statistics *out)
{
    char name[VK_MAX_DESCRIPTION_SIZE + 1];
    snprintf(name, sizeof name, "%.*s", VK_MAX_DESCRIPTION_SIZE, s->name);
    if (!statistics_take(out, name, value_of(s)))
        log_info("the driver's statistic '%s' is left out: %g is nothing that it can be", name,
                 value_of(s));
}

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
        for (uint32_t i = 0; i < count; i++)
            take(&list[i], out);
    free(list);
}

void executable_read(VkDevice device, VkPipeline pipeline, struct statistics *out)
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
