// Images lie beside the buffers of a sequence: they get a buffer's content before the runs and give
// it back behind them. All are in the layout GENERAL from their first use on.
#include "base/mem.h"
#include "base/number.h"
#include "gpu/vk.h"

#include <inttypes.h>
#include <stdlib.h>

#define COPY_TIMEOUT_S 30.0

struct gpu_image {
    VkImage handle;
    VkDeviceMemory memory;
    VkImageView view;
    struct image_form form;
    bool is_stored;  // kernels may write to it
    bool is_general; // it is in that layout
};

// --- creation ---

static VkImageCreateInfo info_of(const struct image_form *f, bool is_stored, bool is_sampled)
{
    bool is_3d = f->shape == IMAGE_3D;
    return (VkImageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = is_3d ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D,
        .format = (VkFormat)texel_traits[f->format].vulkan,
        .extent = {f->width, f->height, is_3d ? f->depth : 1},
        .mipLevels = 1,
        .arrayLayers = is_3d ? 1 : f->depth,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                 (is_stored ? VK_IMAGE_USAGE_STORAGE_BIT : 0u) |
                 (is_sampled ? VK_IMAGE_USAGE_SAMPLED_BIT : 0u),
    };
}

static enum gpu_status check_size(struct gpu *g, const VkImageCreateInfo *info, struct err *e)
{
    VkImageFormatProperties most = {0};
    VkResult r = vkGetPhysicalDeviceImageFormatProperties(
        g->adapter.handle, info->format, info->imageType, info->tiling, info->usage, 0, &most);
    const VkExtent3D *is = &info->extent, *may = &most.maxExtent;
    if (r == VK_SUCCESS && is->width <= may->width && is->height <= may->height &&
        is->depth <= may->depth && info->arrayLayers <= most.maxArrayLayers)
        return GPU_OK;
    if (r != VK_SUCCESS)
        err_set(e, "the device has no images of this kind and format");
    else
        err_set(e,
                "it is larger than the device's may be, %" PRIu32 " x %" PRIu32 " x %" PRIu32
                " with %" PRIu32 " layers",
                may->width, may->height, may->depth, most.maxArrayLayers);
    return GPU_FAILED;
}

static enum gpu_status create(struct gpu *g, struct gpu_image *i, bool is_sampled, struct err *e)
{
    const VkImageCreateInfo info = info_of(&i->form, i->is_stored, is_sampled);
    VkMemoryRequirements need;
    void *mapped = NULL;
    GPU_TRY(check_size(g, &info, e));
    VK_TRY(vkCreateImage(g->device, &info, NULL, &i->handle));
    vkGetImageMemoryRequirements(g->device, i->handle, &need);
    GPU_TRY(vk_allocate(g, &need, &i->memory, &mapped, e));
    VK_TRY(vkBindImageMemory(g->device, i->handle, i->memory, 0));
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = i->handle,
        .viewType = i->form.shape == IMAGE_3D         ? VK_IMAGE_VIEW_TYPE_3D
                    : i->form.shape == IMAGE_2D_ARRAY ? VK_IMAGE_VIEW_TYPE_2D_ARRAY
                                                      : VK_IMAGE_VIEW_TYPE_2D,
        .format = info.format,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, info.arrayLayers},
    };
    VK_TRY(vkCreateImageView(g->device, &view, NULL, &i->view));
    return GPU_OK;
}

enum gpu_status gpu_image_create(struct gpu *g, const struct image_form *form, bool is_stored,
                                 bool is_sampled, struct gpu_image **out, struct err *e)
{
    struct gpu_image *i = mem_zero(1, sizeof *i);
    i->form = *form;
    i->is_stored = is_stored;
    enum gpu_status status = create(g, i, is_sampled, e);
    *out = status == GPU_OK ? i : NULL;
    if (status == GPU_OK)
        return status;
    err_prefix(e, "an image of %" PRIu32 " x %" PRIu32 " x %" PRIu32 " %s", form->width,
               form->height, form->depth, texel_traits[form->format].name);
    gpu_image_destroy(g, i);
    return status;
}

// An image that a kernel may still be using is not freed before the process ends.
void gpu_image_destroy(struct gpu *g, struct gpu_image *i)
{
    if (!i || vk_settle(g, 0, NULL) == GPU_TIMEOUT)
        return;
    vkDestroyImageView(g->device, i->view, NULL);
    vkDestroyImage(g->device, i->handle, NULL);
    vkFreeMemory(g->device, i->memory, NULL);
    free(i);
}

// --- content ---

static VkBufferImageCopy region_of(const struct gpu_image *i, const struct gpu_buffer *b)
{
    bool is_3d = i->form.shape == IMAGE_3D;
    return (VkBufferImageCopy){
        .bufferOffset = b->guard,
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, is_3d ? 1 : i->form.depth},
        .imageExtent = {i->form.width, i->form.height, is_3d ? i->form.depth : 1},
    };
}

static void make_general(struct gpu *g, struct gpu_image *i)
{
    const VkImageMemoryBarrier first = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .oldLayout = VK_IMAGE_LAYOUT_UNDEFINED,
        .newLayout = VK_IMAGE_LAYOUT_GENERAL,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = i->handle,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, VK_REMAINING_ARRAY_LAYERS},
    };
    if (!i->is_general)
        vkCmdPipelineBarrier(g->command, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                             VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0, NULL, 1, &first);
    i->is_general = true;
}

void vk_image_record_load(struct gpu *g, struct gpu_image *i, const struct gpu_buffer *b)
{
    const VkBufferImageCopy region = region_of(i, b);
    make_general(g, i);
    vkCmdCopyBufferToImage(g->command, b->handle, i->handle, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
}

enum gpu_status vk_images_move(struct gpu *g, const struct gpu_sequence *s, bool back,
                               struct err *e)
{
    if (!s->image)
        return GPU_OK;
    for (int k = 0; k < s->buffer_count; k++)
        if (s->image[k] && image_bytes(&s->image[k]->form) > s->buffer[k]->bytes) {
            err_set(e, "an image of %" PRIu64 " bytes is more than its buffer of %" PRIu64,
                    image_bytes(&s->image[k]->form), s->buffer[k]->bytes);
            return GPU_FAILED;
        }
    GPU_TRY(vk_begin(g, COPY_TIMEOUT_S, e));
    for (int k = 0; k < s->buffer_count; k++) {
        struct gpu_image *i = s->image[k];
        if (i && !back)
            vk_image_record_load(g, i, s->buffer[k]);
        if (!i || !back || !i->is_stored)
            continue;
        const VkBufferImageCopy region = region_of(i, s->buffer[k]);
        vkCmdCopyImageToBuffer(g->command, i->handle, VK_IMAGE_LAYOUT_GENERAL, s->buffer[k]->handle,
                               1, &region);
    }
    return vk_submit(g, COPY_TIMEOUT_S, NULL, e);
}

// --- descriptors ---

static const VkDescriptorType types[DESCRIPTOR_COUNT] = {
    [DESCRIPTOR_STORAGE_IMAGE] = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
    [DESCRIPTOR_SAMPLED_IMAGE] = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
    [DESCRIPTOR_TEXELS] = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
    [DESCRIPTOR_STORAGE_TEXELS] = VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER,
    [DESCRIPTOR_COMBINED] = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
    [DESCRIPTOR_SAMPLER] = VK_DESCRIPTOR_TYPE_SAMPLER,
    [DESCRIPTOR_BUFFER] = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
};

VkDescriptorType vk_descriptor_type(enum descriptor kind)
{
    return types[kind];
}

// Makes the one sampler that there is.
static enum gpu_status need_sampler(struct gpu *g, struct err *e)
{
    const VkSamplerCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
        .magFilter = VK_FILTER_NEAREST,
        .minFilter = VK_FILTER_NEAREST,
        .mipmapMode = VK_SAMPLER_MIPMAP_MODE_NEAREST,
        .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
        .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
        .addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
    };
    if (!g->sampler)
        VK_TRY(vkCreateSampler(g->device, &info, NULL, &g->sampler));
    return GPU_OK;
}

// A view of a texel buffer lives as long as the descriptor sets.
static enum gpu_status add_view(struct gpu *g, const struct gpu_buffer *b, uint8_t format,
                                VkBufferView *out, struct err *e)
{
    const struct texel_traits *t = &texel_traits[format];
    const VkBufferViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
        .buffer = b->handle,
        .format = (VkFormat)t->vulkan,
        .offset = b->guard,
        .range = b->bytes / t->bytes * t->bytes,
    };
    if (b->bytes / t->bytes > g->adapter.texels || b->bytes < t->bytes) {
        err_set(e, "a texel buffer of %" PRIu64 " texels (1 to %" PRIu32 " are possible)",
                b->bytes / t->bytes, g->adapter.texels);
        return GPU_FAILED;
    }
    VK_TRY(vkCreateBufferView(g->device, &info, NULL, out));
    MEM_GROW(g->view, g->views, g->view_capacity);
    g->view[g->views++] = *out;
    return GPU_OK;
}

void vk_views_destroy(struct gpu *g)
{
    for (int i = 0; i < g->views; i++)
        vkDestroyBufferView(g->device, g->view[i], NULL);
    g->views = 0;
}

// Writes one descriptor.
static enum gpu_status write_one(struct gpu *g, const struct gpu_descriptor *d, uint32_t k,
                                 struct gpu_buffer *const *buffer, struct gpu_image *const *image,
                                 VkWriteDescriptorSet *w, struct err *e)
{
    const struct gpu_buffer *b = buffer[d->buffer[k]];
    VkDescriptorImageInfo texture = {.imageLayout = VK_IMAGE_LAYOUT_GENERAL};
    VkDescriptorBufferInfo whole;
    VkBufferView view;
    w->dstArrayElement = k;
    switch (d->kind) {
    case DESCRIPTOR_TEXELS:
    case DESCRIPTOR_STORAGE_TEXELS:
        GPU_TRY(add_view(g, b, d->format[k], &view, e));
        w->pTexelBufferView = &view;
        break;
    case DESCRIPTOR_BUFFER:
        whole = (VkDescriptorBufferInfo){b->handle, b->guard, VK_WHOLE_SIZE};
        w->pBufferInfo = &whole;
        break;
    default:
        if (d->kind == DESCRIPTOR_SAMPLER || d->kind == DESCRIPTOR_COMBINED) {
            GPU_TRY(need_sampler(g, e));
            texture.sampler = g->sampler;
        }
        if (d->kind != DESCRIPTOR_SAMPLER)
            texture.imageView = image[d->buffer[k]]->view;
        w->pImageInfo = &texture;
    }
    vkUpdateDescriptorSets(g->device, 1, w, 0, NULL);
    return GPU_OK;
}

enum gpu_status vk_write_descriptors(struct gpu *g, const struct gpu_pass *pass,
                                     struct gpu_buffer *const *buffer,
                                     struct gpu_image *const *image, VkDescriptorSet set,
                                     struct err *e)
{
    for (int i = 0; i < pass->descriptors; i++) {
        const struct gpu_descriptor *d = &pass->descriptor[i];
        VkWriteDescriptorSet write = {
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = set,
            .dstBinding = d->at,
            .descriptorCount = 1,
            .descriptorType = types[d->kind],
        };
        for (uint32_t k = 0; k < d->count; k++)
            GPU_TRY(write_one(g, d, k, buffer, image, &write, e));
    }
    return GPU_OK;
}
