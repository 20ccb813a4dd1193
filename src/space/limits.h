// What a configuration needs and what a device has: arithmetic, before anything is compiled.
//
// A space declares `struct resources` as a function of the configuration; a device has `struct
// limits`. The same names are used for the static check after compilation, where the SPIR-V says
// what it really holds.
#ifndef TILEWALK_SPACE_LIMITS_H
#define TILEWALK_SPACE_LIMITS_H

#include "space/matrix.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Parts of SPIR-V that a device need not have, of which nothing is declared: kernels may use those
// that are there. Bits of `features`.
enum feature {
    FEATURE_F64 = 1 << 0, // arithmetic and storage
    FEATURE_I64 = 1 << 1,
    FEATURE_I16 = 1 << 2, // arithmetic
    FEATURE_MEMORY_MODEL = 1 << 3,
    FEATURE_MEMORY_MODEL_DEVICE = 1 << 4, // its device scope
    FEATURE_SUBGROUP = 1 << 5,            // and the 7 above: as VkSubgroupFeatureFlagBits has them
};

struct limits {
    uint32_t invocations;    // maxComputeWorkGroupInvocations
    uint32_t group_size[3];  // maxComputeWorkGroupSize
    uint32_t group_count[3]; // maxComputeWorkGroupCount
    uint32_t shared_bytes;   // maxComputeSharedMemorySize
    uint64_t buffer_bytes;   // maxStorageBufferRange
    uint32_t buffers;        // maxPerStageDescriptorStorageBuffers; 0: unlimited
    uint32_t features;
    // Per invocation. 0: unlimited. lavapipe (vendor 0x10005) silently cuts loops at 65535 trips.
    uint64_t loop_trips;
    uint32_t accumulators; // soft: more of them spill; 0: unlimited
    uint32_t statements;   // soft: more of them take long to compile; 0: unlimited
    uint32_t subgroup_size;
    bool f16;                   // 16-bit storage and arithmetic
    bool i8;                    // 8-bit storage and arithmetic
    struct matrix_units matrix; // those that kernels can use here
};

// Zero means "not declared", and is never judged.
struct resources {
    uint64_t group_size[3];
    uint64_t groups[3];
    uint64_t shared_bytes;
    uint64_t accumulators; // live values per invocation
    uint64_t loop_trips;   // iterations of all loops that are not unrolled, per invocation, summed
    uint64_t statements;   // statements of the fully unrolled body
    uint64_t buffer_bytes; // largest storage buffer
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
    LIMIT_COUNT
};

const char *limit_name(enum limit l); // "invocations", "group size", ...: the words of reasons

// All limits that `r` exceeds, as a bit set of 1 << enum limit. Products saturate.
unsigned limits_exceeded(const struct limits *l, const struct resources *r);

// One sentence for the lowest exceeded limit, e.g. "shared memory 49152 bytes > 32768"; "" when
// none is. Returns `out`.
char *limits_explain(const struct limits *l, const struct resources *r, char *out, size_t size);

// The limits that every Vulkan device guarantees or better: what `device.*` says in space files
// where there is no device. Nothing is judged by them.
extern const struct limits limits_vulkan_minimum;

#endif
