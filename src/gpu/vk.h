// The inside of src/gpu: the Vulkan objects behind gpu.h, and the idiom for Vulkan's results.
// Only its tests include this too.
//
// Functions return enum gpu_status and fill `e` on failure; VK_TRY returns from the enclosing
// function with the name of the call and of its result. One command buffer, one fence and one
// descriptor pool serve every submission, since each is waited for. A submission that was not over
// in time stays `pending`: until its fence is signalled nothing that it may use is touched, freed
// or destroyed.
#ifndef TILEWALK_GPU_VK_H
#define TILEWALK_GPU_VK_H

#include "gpu/gpu.h"

#include <vulkan/vulkan.h>

#define GPU_MAX_PASSES      64
#define GPU_MAX_BINDINGS    18 // a kernel's, scratch, and the report of checked accesses
#define GPU_MAX_UNIFORMS    8
#define GPU_MAX_DESCRIPTORS 40
enum { GPU_SETS = 3 }; // of descriptors: storage buffers, uniform blocks, all others

// The features that kernels with matrix units need; `has` marks the extensions of the device. The
// structure of KHR's features is the same as NV's.
enum { MATRIX_EXTENSIONS = 7 };
struct matrix2_features_nv { // VkPhysicalDeviceCooperativeMatrix2FeaturesNV
    VkStructureType type;
    void *next;
    VkBool32 has[MATRIX2_COUNT]; // in the order of limits_matrix2
};
// VkPhysicalDeviceShaderBfloat16FeaturesKHR, and with the first two VkPhysicalDeviceShaderFloat8-
// FeaturesEXT: a type, its dot products, matrices; types, matrices.
struct float_features {
    VkStructureType type;
    void *next;
    VkBool32 has[3];
};
struct matrix_features {
    VkPhysicalDeviceCooperativeMatrixFeaturesNV khr, nv;
    struct matrix2_features_nv nv2;
    struct float_features bf16, f8;
    VkPhysicalDeviceVulkanMemoryModelFeatures memory_model;
    VkPhysicalDeviceSubgroupSizeControlFeatures subgroup_size;
    bool has[MATRIX_EXTENSIONS];
};

// A matrix product of a device; the registry calls it VkCooperativeMatrixPropertiesKHR.
struct matrix_properties_khr {
    VkStructureType type;
    void *next;
    uint32_t m, n, k;
    int32_t a, b, c, result; // VkComponentTypeKHR
    VkBool32 saturates;
    int32_t scope; // VkScopeKHR
};

// Sizes that the matrices of a product may have any multiples of:
// VkCooperativeMatrixFlexibleDimensionsPropertiesNV.
struct matrix_flexible_nv {
    VkStructureType type;
    void *next;
    uint32_t m, n, k;
    int32_t a, b, c, result;
    VkBool32 saturates;
    int32_t scope;
    uint32_t invocations; // of a workgroup, where that is the scope
};

// A physical device, described (all but the hash of its driver).
struct adapter {
    VkPhysicalDevice handle;
    uint32_t family;     // queue family for compute
    uint32_t valid_bits; // of its timestamps
    double tick_s;
    uint32_t push_bytes;      // the most push constants of a pipeline
    uint32_t texels;          // the most of a texel buffer
    bool clock_is_sound;      // a tick is a finite number
    bool needs_f16_extension; // before Vulkan 1.2: for 8-bit arithmetic too
    bool needs_spirv_1_4;     // an extension before Vulkan 1.2
    bool has_statistics;      // of pipelines
    bool needs_address;       // an extension before Vulkan 1.2
    struct matrix_features matrix;
    struct gpu_info info;
};

struct gpu_buffer {
    VkBuffer handle;
    VkDeviceMemory memory; // its own; none if it is placed in a gpu_memory
    uint64_t bytes, guard; // without the guards; of each guard
    void *mapped;          // from the first guard on; NULL: it is copied through staging
};

struct gpu_memory {
    VkDeviceMemory handle;
    uint64_t bytes;
    void *mapped;
};

struct gpu_pipeline {
    VkDescriptorSetLayout set_layout[GPU_SETS];
    VkPipelineLayout layout;
    VkPipeline handle;
    int bindings, uniforms;
    int sets; // of descriptors
    uint32_t push_bytes;
    struct statistics statistics;
};

struct gpu {
    struct adapter adapter;
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    int messages; // number of messages of the validation layer
    VkPhysicalDeviceMemoryProperties memory;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer command;
    VkFence fence;
    VkPipelineCache cache; // between gpu_keep and gpu_end_keeping
    VkQueryPool stamps;
    VkDescriptorPool descriptors;
    int most_sets;      // room in `descriptors`, for so many passes
    bool has_others;    // also for their third sets
    VkSampler sampler;  // made when first needed
    VkBufferView *view; // of the sets, heap
    int views, view_capacity;
    unsigned turn;             // the next copy of buffers to use (gpu_sequence)
    struct gpu_buffer staging; // made when first needed
    bool pending;
};

#define VK_TRY(call)                                                                               \
    do {                                                                                           \
        VkResult vk_result = (call);                                                               \
        if (vk_result != VK_SUCCESS)                                                               \
            return vk_fail(vk_result, #call, e);                                                   \
    } while (0)
#define GPU_TRY(call)                                                                              \
    do {                                                                                           \
        enum gpu_status gpu_status = (call);                                                       \
        if (gpu_status != GPU_OK)                                                                  \
            return gpu_status;                                                                     \
    } while (0)

// --- instance.c ---

// Fills `e` with `call` up to its bracket and the name of the result.
enum gpu_status vk_fail(VkResult r, const char *call, struct err *e);

// `out` is VK_NULL_HANDLE where there is no driver. `validate` enables the validation layer, whose
// messages a messenger logs and counts.
enum gpu_status instance_create(bool validate, VkInstance *out, struct err *e);
enum gpu_status instance_add_messenger(VkInstance instance, int *messages,
                                       VkDebugUtilsMessengerEXT *out, struct err *e);

// Returns the version of Vulkan that the validation layer knows; 0: it is not installed.
uint32_t instance_layer_version(void);

// Returns whether a device, or the instance (VK_NULL_HANDLE), has an extension.
bool vk_has_extension(VkPhysicalDevice device, const char *name);

// --- adapter.c ---

// Lists all adapters that can compute, in the order of gpu_list; the caller frees the list.
enum gpu_status adapter_find_all(VkInstance instance, struct adapter **list, int *count,
                                 struct err *e);
enum gpu_status adapter_open(const struct adapter *a, VkDevice *out, struct err *e);

// --- pipeline.c ---

// executable_describe returns whether the driver has statistics of pipelines. executable_enable
// adds the extension's name and links `f` before `next`, as matrix_enable does.
bool executable_describe(const struct adapter *a);
void *executable_enable(VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR *f,
                        const char **name, uint32_t *count, void *next);

// --- device.c ---

void matrix_describe(struct adapter *a, VkInstance instance);
// Adds the names of the extensions to `name` (which has room) and links the features, which must
// live until the device is open, before `next`; returns the chain.
void *matrix_enable(struct matrix_features *f, const char **name, uint32_t *count, void *next);
// Adds the product if our kernels can use it: its scope is a subgroup, A and B have one element, C
// and the result another, and it does not saturate.
void matrix_add_properties(struct matrix_units *u, const struct matrix_properties_khr *p);
// The same of flexible sizes, whose scope may be a workgroup too if `workgroup`.
void matrix_add_flexible(struct matrix_units *u, const struct matrix_flexible_nv *p,
                         bool workgroup);

// --- submit.c ---

// vk_settle waits for a pending submission; vk_begin settles and opens the command buffer;
// vk_submit closes it, submits and waits. `host_s` (may be NULL) gets the time from submission to
// the end on the host's clock.
enum gpu_status vk_settle(struct gpu *g, double timeout_s, struct err *e);
enum gpu_status vk_begin(struct gpu *g, double timeout_s, struct err *e);
enum gpu_status vk_submit(struct gpu *g, double timeout_s, double *host_s, struct err *e);
// Records a barrier between commands that wrote and those that use what they wrote.
void vk_barrier(struct gpu *g, VkPipelineStageFlags from, VkAccessFlags written,
                VkPipelineStageFlags to, VkAccessFlags used);

// --- run.c ---

// Returns the seconds between two timestamps of which only the low `valid_bits` count and may have
// wrapped once (Vulkan spec, vkCmdWriteTimestamp); at least one tick.
double vk_stamp_seconds(uint64_t begin, uint64_t end, uint32_t valid_bits, double tick_s);

// Returns the part of a pass that follows after `done` of its workgroups (x fastest): a box of at
// least one and at most `most` of them.
struct gpu_pass parts_next(const struct gpu_pass *p, uint64_t done, uint64_t most);
// Return how many workgroups the first part may have, and the next one after a part of `groups` (at
// most `most`) took `seconds`.
uint64_t parts_first(double group_s, double submit_s);
uint64_t parts_grow(uint64_t most, uint64_t groups, double seconds, double submit_s);

// Returns how many repeats the next batch should have after one of `n` took `seconds`: the same
// when that was long enough, more (at most 16 times as many) when not, fewer when a submission
// would last too long.
int timing_repeats(const struct gpu_timing *t, int n, double seconds);

// Returns whether the device is warm `elapsed_s` after the first batch began, when a run took
// `each` seconds in the last batch and `previous` in the one before (0: there was none). Two
// batches at the idle clock agree as well: time counts too.
bool timing_is_warm(const struct gpu_timing *t, double elapsed_s, double each, double previous);

// --- image.c ---

VkDescriptorType vk_descriptor_type(enum descriptor kind);
// Fills the third set of a pass, on these buffers and images.
enum gpu_status vk_write_descriptors(struct gpu *g, const struct gpu_pass *pass,
                                     struct gpu_buffer *const *buffer,
                                     struct gpu_image *const *image, VkDescriptorSet set,
                                     struct err *e);
void vk_views_destroy(struct gpu *g); // those that sets had, which are free now
// Gives the images of a sequence the content of their buffers, or gives it `back`.
enum gpu_status vk_images_move(struct gpu *g, const struct gpu_sequence *s, bool back,
                               struct err *e);
void vk_image_record_load(struct gpu *g, struct gpu_image *i, const struct gpu_buffer *b);

// --- buffer.c ---

// Allocates the device's fastest memory; `mapped` as in gpu_buffer.
enum gpu_status vk_allocate(struct gpu *g, const VkMemoryRequirements *need, VkDeviceMemory *out,
                            void **mapped, struct err *e);
void vk_buffer_finish(struct gpu *g, struct gpu_buffer *b);
// Returns where kernels find the buffer, behind its first guard (FEATURE_ADDRESS).
uint64_t vk_buffer_address(struct gpu *g, const struct gpu_buffer *b);
// Returns whether the device keeps what it writes. A device that is busy for longer than
// `patience_s` is trusted.
bool vk_keeps_writes(struct gpu *g, double patience_s);

#endif
