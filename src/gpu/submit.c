// Submissions: the command buffer of a device is recorded, submitted and waited for.
#include "base/number.h"
#include "base/os.h"
#include "gpu/vk.h"

#include <math.h>
#include <unistd.h>

#define LONGEST_S 1e9

enum gpu_status vk_settle(struct gpu *g, double timeout_s, struct err *e)
{
    if (!g->pending)
        return GPU_OK;
    // On a CPU device this process itself compiles and computes: time in which it waited for a
    // processor does not count.
    pid_t pid = g->adapter.info.is_cpu ? getpid() : 0;
    int64_t now_ns = os_now_ns();
    struct deadline d;
    VkResult r;
    deadline_set(&d, pid, fmax(0, fmin(timeout_s, LONGEST_S)), now_ns);
    do {
        uint64_t left_ns = d.at_ns > now_ns ? (uint64_t)(d.at_ns - now_ns) : 0;
        r = vkWaitForFences(g->device, 1, &g->fence, VK_TRUE, left_ns);
        now_ns = os_now_ns();
    } while (r == VK_TIMEOUT && !deadline_is_over(&d, pid, now_ns));
    if (r == VK_TIMEOUT) {
        err_set(e, "the kernel is still running after %g s", timeout_s);
        return GPU_TIMEOUT;
    }
    g->pending = false; // a lost device counts as done (Vulkan spec 5.2.3)
    return r == VK_SUCCESS ? GPU_OK : vk_fail(r, "vkWaitForFences", e);
}

void vk_barrier(struct gpu *g, VkPipelineStageFlags from, VkAccessFlags written,
                VkPipelineStageFlags to, VkAccessFlags used)
{
    const VkMemoryBarrier all = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = written,
        .dstAccessMask = used,
    };
    vkCmdPipelineBarrier(g->command, from, to, 0, 1, &all, 0, NULL, 0, NULL);
}

// The barriers make earlier work visible to the commands, and vk_submit makes theirs visible to the
// host.
enum gpu_status vk_begin(struct gpu *g, double timeout_s, struct err *e)
{
    GPU_TRY(vk_settle(g, timeout_s, e));
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    VK_TRY(vkBeginCommandBuffer(g->command, &begin));
    vk_barrier(g, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
               VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
               VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
    return GPU_OK;
}

enum gpu_status vk_submit(struct gpu *g, double timeout_s, double *host_s, struct err *e)
{
    vk_barrier(g, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
               VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT);
    VK_TRY(vkEndCommandBuffer(g->command));
    VK_TRY(vkResetFences(g->device, 1, &g->fence));
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &g->command,
    };
    int64_t begin = os_now_ns();
    VK_TRY(vkQueueSubmit(g->queue, 1, &info, g->fence));
    g->pending = true;
    enum gpu_status status = vk_settle(g, timeout_s, e);
    if (host_s)
        *host_s = (double)(os_now_ns() - begin) * 1e-9;
    return status;
}
