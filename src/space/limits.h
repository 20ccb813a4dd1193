// Limits of a device and resources of a configuration, compared before anything is compiled.
//
// A space declares `struct resources` as a function of the configuration; a device has `struct
// limits`. The static check after compilation uses the same names, with the numbers of the SPIR-V.
#ifndef TILEWALK_SPACE_LIMITS_H
#define TILEWALK_SPACE_LIMITS_H

#include "base/json_read.h"
#include "base/str.h"
#include "space/tensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Matrix units: the invocations of a subgroup multiply and add tiles together, C += A B with A of
// m x k, B of k x n and C of m x n elements.
//
// Vulkan has two extensions: VK_NV_cooperative_matrix and the later VK_KHR_cooperative_matrix. A
// device may have both; which one kernels use depends on the compiler too (see devices.h).

#define MATRIX_MAX_SHAPES 48

enum matrix_api { MATRIX_NONE, MATRIX_NV, MATRIX_KHR, MATRIX_API_COUNT };

// VK_NV_cooperative_matrix2 adds to the latter: sizes that are any multiple of a shape (flexible),
// and matrices that a whole workgroup holds.

struct matrix_shape {
    uint16_t m, n, k;
    // A and B's element, C's: "f16" with "f16" or "f32", "bf16", "f8e4m3" and "f8e5m2" with "f32",
    // "i8" with "i32", "u8" with "i32" or "u32"
    char input[8], sum[8];
    uint16_t invocations; // of the workgroup that holds it; 0: a subgroup does
};

struct matrix_units {
    enum matrix_api api; // MATRIX_NONE exactly when there is no shape
    int count;
    struct matrix_shape shape[MATRIX_MAX_SHAPES];
};

const char *matrix_api_name(enum matrix_api api); // "none", "nv", "khr"

// Adds a shape, unless it is there already or there is no room.
void matrix_units_add(struct matrix_units *u, const struct matrix_shape *s);

bool matrix_units_have(const struct matrix_units *u, enum element input);
void matrix_units_remove(struct matrix_units *u, enum element input); // all shapes with it

// Appends "16x8x16 f16 f32", of a workgroup's "32x32x16 f16 f32 (256)".
void matrix_shape_add_text(const struct matrix_shape *s, struct str *out);

// The text in records and messages: "khr 16x16x16.f16.f32 16x8x16.f16.f16", "none".
void matrix_units_add_text(const struct matrix_units *u, struct str *out);
bool matrix_units_parse(const char *text, struct matrix_units *out);

// Optional parts of SPIR-V, which spaces need not declare: kernels may use those that the device
// has. Bits of `features`.
enum feature {
    FEATURE_F64 = 1 << 0, // arithmetic and storage
    FEATURE_I64 = 1 << 1,
    FEATURE_I16 = 1 << 2, // arithmetic
    FEATURE_MEMORY_MODEL = 1 << 3,
    FEATURE_MEMORY_MODEL_DEVICE = 1 << 4, // its device scope
    FEATURE_SUBGROUP = 1 << 5,            // and the 7 bits above: as in VkSubgroupFeatureFlagBits
    FEATURE_SHARED_LAYOUT = 1 << 13,      // shared memory as blocks with explicit offsets
    FEATURE_ADDRESS = 1 << 14,            // addresses of buffers
    FEATURE_ARRAYS = 1 << 15,             // buffers of an array by an index that is computed
    FEATURE_MORE_FORMATS = 1 << 16,       // of storage images: those of SPIR-V's extended formats
    FEATURE_READ_FORMATLESS = 1 << 17,    // storage images whose format the kernel does not say
    FEATURE_WRITE_FORMATLESS = 1 << 18,
    FEATURE_MATRIX2 = 1 << 19, // and the 6 bits above: as in VkPhysicalDeviceCooperativeMatrix2-
    FEATURE_MATRIX2_FLEXIBLE = FEATURE_MATRIX2 << 1, // FeaturesNV, from workgroup scope to block
    FEATURE_MATRIX2_ELEMENTS = FEATURE_MATRIX2 << 4, // loads; limits_matrix2 names them
    FEATURE_MATRIX2_TENSORS = FEATURE_MATRIX2 << 5,
    FEATURE_MATRIX2_ALL = 127 * FEATURE_MATRIX2,
    FEATURE_BF16 = 1 << 26, // its type, its dot products, matrices of it
    FEATURE_BF16_MATRIX = FEATURE_BF16 << 2,
    FEATURE_F8 = 1 << 29, // the types f8e4m3 and f8e5m2, matrices of these
    FEATURE_F8_MATRIX = FEATURE_F8 << 1,
    // Kernels need these to add up over a subgroup, and to swap numbers within it.
    FEATURE_SUBGROUP_ADDS = FEATURE_SUBGROUP | FEATURE_SUBGROUP << 2,
    FEATURE_SUBGROUP_SHUFFLES = FEATURE_SUBGROUP | FEATURE_SUBGROUP << 4,
};
// As FEATURE_ARRAYS, of storage images, and of sampled images and samplers.
#define FEATURE_STORED_ARRAYS  (UINT64_C(1) << 32)
#define FEATURE_SAMPLED_ARRAYS (UINT64_C(1) << 33)

typedef uint32_t limits_axes[3];

#define MATRIX2_COUNT 7
extern const char *const limits_matrix2[MATRIX2_COUNT]; // "workgroup", "flexible", ...

// The type of a field. In JSON it is a number, a list of three, true or false, `matrix_api` and a
// list of shapes, a list of shapes, or a list of names of elements; bits and features are a number,
// features for readers alone also the names of those of FEATURE_MATRIX2 as `matrix2`. Lua's
// `device` has the same fields, elements as `device.types.f16`, of features
// `device.matrix2.workgroup` and the like, and no bits.
enum limits_type {
    LIMITS_NUMBER,
    LIMITS_AXES,
    LIMITS_FLAG,
    LIMITS_MATRIX,
    LIMITS_FLEXIBLE,
    LIMITS_BITS,
    LIMITS_FEATURES,
    LIMITS_ELEMENTS
};

// The one list of a device's limits: the structure, its JSON (messages to and from workers, stored
// sessions, `devices --json`, in this order) and Lua's `device` follow from it. New fields go to
// the end. 0 means "unlimited" for loop_trips, accumulators, statements, buffers, spills,
// registers.
// clang-format off
#define LIMITS_FIELDS(F) \
    F(invocations, uint32_t, NUMBER)         /* maxComputeWorkGroupInvocations */ \
    F(group_size, limits_axes, AXES)         /* maxComputeWorkGroupSize */ \
    F(group_count, limits_axes, AXES)        /* maxComputeWorkGroupCount */ \
    F(shared_bytes, uint32_t, NUMBER)        /* maxComputeSharedMemorySize */ \
    F(buffer_bytes, uint64_t, NUMBER)        /* maxStorageBufferRange */ \
    F(loop_trips, uint64_t, NUMBER)          /* per invocation, where loops are silently cut */ \
    F(subgroup_size, uint32_t, NUMBER) \
    F(f16, bool, FLAG)                       /* 16-bit storage and arithmetic */ \
    F(i8, bool, FLAG)                        /* 8-bit storage and arithmetic */ \
    F(matrix, struct matrix_units, MATRIX)   /* usable by kernels here */ \
    F(accumulators, uint32_t, NUMBER)        /* soft: more of them spill */ \
    F(statements, uint32_t, NUMBER)          /* soft: more take long to compile */ \
    F(buffers, uint32_t, NUMBER)             /* maxPerStageDescriptorStorageBuffers */ \
    F(features, uint64_t, FEATURES)          /* bits of enum feature, and those below it */ \
    F(spills, uint32_t, NUMBER)              /* soft: kernels that spill more are not measured */ \
    F(subgroup_least, uint32_t, NUMBER)      /* kernels may require a subgroup size that is a power of */ \
    F(subgroup_most, uint32_t, NUMBER)       /* two within these bounds; 0: none */ \
    F(group_subgroups, uint32_t, NUMBER)     /* maxComputeWorkgroupSubgroups, where a size is required */ \
    F(registers, uint32_t, NUMBER)           /* soft: 32-bit registers of an invocation */ \
    F(register_lanes, uint32_t, NUMBER)      /* subgroups larger than this share registers; 0: none do */ \
    F(dot, bool, FLAG)                       /* dot products of four bytes in a word */ \
    F(spirv_minor, uint32_t, NUMBER)         /* the newest SPIR-V that it takes is 1.N; 0: any */ \
    F(types, uint32_t, ELEMENTS)             /* of buffers: 1 << enum element of each */ \
    F(formats, uint64_t, BITS)               /* of images and texel buffers: descriptor_bit of each */ \
    F(flexible, struct matrix_units, FLEXIBLE) /* any multiple of these is a matrix */ \
    F(matrix_size, uint32_t, NUMBER)         /* the most rows or columns of a flexible matrix */ \
    F(matrix_invocations, uint32_t, NUMBER)  /* the most of a workgroup that holds matrices */ \
    F(matrix_shared, uint32_t, NUMBER)       /* bytes of shared memory that the driver takes for these */ \
    F(storage_images, uint32_t, NUMBER)      /* maxPerStageDescriptorStorageImages; 0, as of `buffers`: any */ \
    F(sampled_images, uint32_t, NUMBER)      /* maxPerStageDescriptorSampledImages */ \
    F(samplers, uint32_t, NUMBER)            /* maxPerStageDescriptorSamplers */
// clang-format on

#define LIMITS_MEMBER(name, type, kind) type name;
#define LIMITS_INDEX(name, type, kind)  LIMITS_##name,

enum limits_index { LIMITS_FIELDS(LIMITS_INDEX) LIMITS_FIELD_COUNT };

struct limits {
    LIMITS_FIELDS(LIMITS_MEMBER)
    // Bit set of 1 << enum limits_index: fields that a session stored by an older program lacks.
    // Scripts see the Vulkan minimum; limits_exceeded and kernel_check do not judge by them.
    uint32_t unknown;
};

struct limits_field {
    const char *name;
    enum limits_type type;
    size_t offset, size; // in struct limits
};
extern const struct limits_field limits_fields[LIMITS_FIELD_COUNT];

bool limits_knows(const struct limits *l, enum limits_index field);
// Takes away what VK_NV_cooperative_matrix2 adds.
void limits_remove_matrix2(struct limits *l);
// Says if the device has buffers of the type, or that is not known.
bool limits_has_type(const struct limits *l, enum element e);
// Returns the types of a device that meets these needs: bits of enum element_need.
uint32_t limits_types(unsigned has);
// Returns a number or bits of any width.
uint64_t limits_number(const struct limits *l, const struct limits_field *f);

// Zero means "not declared", and is never judged.
struct resources {
    uint64_t group_size[3];
    uint64_t groups[3];
    uint64_t shared_bytes;
    uint64_t accumulators; // live values per invocation
    uint64_t loop_trips;   // iterations of all loops that are not unrolled, per invocation, summed
    uint64_t statements;   // statements of the fully unrolled body
    uint64_t buffer_bytes; // largest storage buffer
    uint64_t registers;    // live values and other register contents of an invocation
    uint64_t subgroup;     // the size that the kernel requires
};

enum limit {
    LIMIT_NONE,
    LIMIT_INVOCATIONS,
    LIMIT_GROUP_SIZE,
    LIMIT_GROUP_COUNT,
    LIMIT_SHARED,
    LIMIT_BUFFER,
    LIMIT_LOOP_TRIPS,
    LIMIT_ACCUMULATORS,
    LIMIT_STATEMENTS,
    LIMIT_REGISTERS,
    LIMIT_COUNT
};

const char *limit_name(enum limit l); // "invocations", "group size", ...: the words of reasons

// Returns all limits that `r` exceeds, as a bit set of 1 << enum limit. Products saturate.
unsigned limits_exceeded(const struct limits *l, const struct resources *r);

// Writes a sentence for the lowest exceeded limit, e.g. "shared memory 49152 bytes > 32768"; ""
// when none is. Returns `out`.
char *limits_explain(const struct limits *l, const struct resources *r, char *out, size_t size);

// The limits as a JSON object of the known fields. On reading, missing fields become unknown and
// members of other names are ignored. Objects of older programs are read too: axes as
// `group_size_x`, flags as 0 and 1, matrix units as one text. Whole numbers are exact up to 2^53.
// limits_read_json returns the name of a member that is wrong, and then leaves `out` as it is; else
// NULL. limits_parse returns false for that and for anything but one JSON object (NULL is none).
void limits_add_json(struct str *out, const struct limits *l);
const char *limits_read_json(struct json object, struct limits *out);
bool limits_parse(const char *json, struct limits *out);

// The limits that every Vulkan device guarantees: the values of `device.*` in space files where
// there is no device. Nothing is judged by them.
extern const struct limits limits_vulkan_minimum;
extern const struct limits limits_large_gpu; // of today, for which presets choose their sizes

#endif
