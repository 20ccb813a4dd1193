// The inside of src/gpu: the Vulkan objects behind gpu.h, and the idiom for Vulkan's results.
// Only its tests include this too.
//
// Functions return enum gpu_status and fill `e` where they fail; VK_TRY returns from the enclosing
// function with the name of the call and of its result. One command buffer, one fence and one
// descriptor pool serve every submission, since each is waited for. A submission that was not over
// in time stays `pending`: until its fence is signalled nothing that it may use is touched, freed
// or destroyed.
#ifndef TILEWALK_GPU_VK_H
#define TILEWALK_GPU_VK_H

#include "gpu/gpu.h"

#include <vulkan/vulkan.h>

#define GPU_MAX_PASSES   8
#define GPU_MAX_BINDINGS 16

// What kernels with matrix units need; matrix.c fills it in, and `has` says which extensions the
// device has. The structure of KHR's features looks like NV's.
enum { MATRIX_EXTENSIONS = 4 };
struct matrix_features {
    VkPhysicalDeviceCooperativeMatrixFeaturesNV khr, nv;
    VkPhysicalDeviceVulkanMemoryModelFeatures memory_model;
    VkPhysicalDeviceSubgroupSizeControlFeatures subgroup_size;
    bool has[MATRIX_EXTENSIONS];
};

// What the registry calls VkCooperativeMatrixPropertiesKHR: a product that a device can do.
struct matrix_properties_khr {
    VkStructureType type;
    void *next;
    uint32_t m, n, k;
    int32_t a, b, c, result; // VkComponentTypeKHR
    VkBool32 saturates;
    int32_t scope; // VkScopeKHR
};

// A physical device, described (all but the hash of its driver).
struct adapter {
    VkPhysicalDevice handle;
    uint32_t family;     // queue family for compute
    uint32_t valid_bits; // of its timestamps
    double tick_s;
    uint32_t push_bytes;      // that a pipeline may have of push constants
    bool clock_is_sound;      // a tick is a number, where there are any
    bool needs_f16_extension; // before Vulkan 1.2: for 8-bit arithmetic too
    bool tells_statistics;    // of pipelines
    struct matrix_features matrix;
    struct gpu_info info;
};

struct gpu_buffer {
    VkBuffer handle;
    VkDeviceMemory memory; // its own; none where it is placed in a gpu_memory
    uint64_t bytes, guard; // its own; at each end
    void *mapped;          // from the first guard on; NULL: through staging
};

struct gpu_memory {
    VkDeviceMemory handle;
    uint64_t bytes;
    void *mapped;
};

struct gpu_pipeline {
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline handle;
    int bindings;
    uint32_t push_bytes;
    struct statistics statistics;
};

struct gpu {
    struct adapter adapter;
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    int messages; // of the validation layer
    VkPhysicalDeviceMemoryProperties memory;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer command;
    VkFence fence;
    VkPipelineCache cache; // between gpu_keep and gpu_end_keeping
    VkQueryPool stamps;
    VkDescriptorPool descriptors;
    int most_sets;             // that it has room for
    unsigned turn;             // copies of buffers (gpu_sequence) are taken from this one on
    struct gpu_buffer staging; // made when first needed
    bool pending;
};

// result.c
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
enum gpu_status vk_fail(VkResult r, const char *call, struct err *e); // `call` up to its bracket

// instance.c. With `validate` the messages of the layer are logged and counted.
enum gpu_status instance_create(bool validate, VkInstance *out, struct err *e);
enum gpu_status instance_listen(VkInstance instance, int *messages, VkDebugUtilsMessengerEXT *out,
                                struct err *e);
void instance_ignore(VkInstance instance, VkDebugUtilsMessengerEXT messenger);

// extension.c
bool adapter_has_extension(const struct adapter *a, const char *name);

// adapter.c. All adapters that can compute, in the order of gpu_list; the caller frees the list.
enum gpu_status adapter_find_all(VkInstance instance, struct adapter **list, int *count,
                                 struct err *e);
enum gpu_status adapter_open(const struct adapter *a, VkDevice *out, struct err *e);

// executable.c. executable_enable adds the extension's name and links `f` before `next`, as
// matrix_enable does; executable_read takes what the driver says of a pipeline that was created
// with EXECUTABLE_FLAGS.
#define EXECUTABLE_FLAGS VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR
bool executable_describe(const struct adapter *a);
void *executable_enable(VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR *f,
                        const char **name, uint32_t *count, void *next);
void executable_read(VkDevice device, VkPipeline pipeline, struct statistics *out);

// matrix.c. matrix_enable adds the names of the extensions to `name` (which has room) and links the
// features, which must live until the device is open, before `next`; returns the chain.
void matrix_describe(struct adapter *a, VkInstance instance);
void *matrix_enable(struct matrix_features *f, const char **name, uint32_t *count, void *next);
// Takes the product if kernels here can use it: of one subgroup, A and B of one element, C and the
// result of one that sums it without saturating.
void matrix_add_properties(struct matrix_units *u, const struct matrix_properties_khr *p);

// run.c. vk_settle waits for a pending submission; vk_begin settles and opens the command buffer;
// vk_submit closes it, submits and waits. `host_s` (may be NULL) gets the time from submission to
// the end on the host's clock.
enum gpu_status vk_settle(struct gpu *g, double timeout_s, struct err *e);
enum gpu_status vk_begin(struct gpu *g, double timeout_s, struct err *e);
enum gpu_status vk_submit(struct gpu *g, double timeout_s, double *host_s, struct err *e);

// Seconds between two timestamps of which only the low `valid_bits` count and may have wrapped once
// (Vulkan spec, vkCmdWriteTimestamp). At least one tick: nothing takes no time.
double vk_stamp_seconds(uint64_t begin, uint64_t end, uint32_t valid_bits, double tick_s);

// buffer.c. vk_remembers: whether what the device is told to write is there afterwards; one that is
// busy for longer is believed.
void vk_buffer_finish(struct gpu *g, struct gpu_buffer *b);
bool vk_remembers(struct gpu *g, double patience_s);

// parts.c. The part of a pass that follows after `done` of its workgroups (x fastest): a box of at
// least one and at most `most` of them. How many groups the first part may have, and the next one
// after one of `groups` (at most `most`) took `seconds`.
struct gpu_pass parts_next(const struct gpu_pass *p, uint64_t done, uint64_t most);
uint64_t parts_first(double group_s, double submit_s);
uint64_t parts_grow(uint64_t most, uint64_t groups, double seconds, double submit_s);

// timing.c. How many repeats the next batch should have after one of `n` took `seconds`: as they
// are when that was long enough, more (at most 16 times as many) when not, fewer when a submission
// would last too long.
int timing_repeats(const struct gpu_timing *t, int n, double seconds);

// Whether the device has warmed up `elapsed_s` after the first batch began, when a run took `each`
// seconds in the last batch and `previous` in the one before (0: there was none). Two batches at
// the idle clock agree as well: time counts too.
bool timing_is_warm(const struct gpu_timing *t, double elapsed_s, double each, double previous);

#endif
