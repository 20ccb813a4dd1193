// Images and texel buffers: formats of their texels, how descriptors see them, and which of them a
// device has.
//
// TEXEL_FORMATS is the one list of formats, by GLSL's names. A buffer of an operator that a kernel
// sees as an image holds its texels as they lie in memory, x fastest, then y, then z or layers: the
// channels of a texel are successive elements, so that a copy between both changes no bit.
#ifndef TILEWALK_SPACE_IMAGE_H
#define TILEWALK_SPACE_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

// name: bytes of a texel, what a shader reads of it (f: floats, i: int, u: uint), its number in
// SPIR-V (3.11, Image Format) and in Vulkan (VkFormat).
// clang-format off
#define TEXEL_FORMATS(F) \
    F(r32f,     4,  'f', 3,  100) \
    F(rgba32f,  16, 'f', 1,  109) \
    F(r16f,     2,  'f', 9,  76) \
    F(rgba16f,  8,  'f', 2,  97) \
    F(r32i,     4,  'i', 24, 99) \
    F(r32ui,    4,  'u', 33, 98) \
    F(rgba32i,  16, 'i', 21, 108) \
    F(rgba32ui, 16, 'u', 30, 107) \
    F(rgba8,    4,  'f', 4,  37) \
    F(rgba8i,   4,  'i', 23, 42) \
    F(rgba8ui,  4,  'u', 32, 41)
// clang-format on

#define TEXEL_ENUMERATOR(name, ...) TEXEL_##name,
enum texel_format { TEXEL_FORMATS(TEXEL_ENUMERATOR) TEXEL_COUNT };

struct texel_traits {
    const char *name;
    uint8_t bytes;
    char reads;
    uint8_t spirv, vulkan;
};
extern const struct texel_traits texel_traits[TEXEL_COUNT];
enum texel_format texel_format_named(const char *name); // TEXEL_COUNT: none has the name

// A descriptor of a kernel is one of these, or a plain storage buffer or uniform block. The first
// four depend on formats.
enum descriptor {
    DESCRIPTOR_STORAGE_IMAGE,
    DESCRIPTOR_SAMPLED_IMAGE, // with or without its sampler
    DESCRIPTOR_TEXELS,        // a uniform texel buffer
    DESCRIPTOR_STORAGE_TEXELS,
    DESCRIPTOR_FORMATS,
    DESCRIPTOR_COMBINED = DESCRIPTOR_FORMATS, // a sampled image with its sampler
    DESCRIPTOR_SAMPLER,
    DESCRIPTOR_BUFFER, // of an array of them
    DESCRIPTOR_COUNT
};
const char *descriptor_name(enum descriptor d); // "storage image"

// Returns the bit of limits.formats for a descriptor of that format; 0: it needs none.
uint64_t descriptor_bit(enum descriptor d, enum texel_format f);
// Returns whether a device with these bits has the format for any descriptor.
bool texel_format_is_there(uint64_t formats, enum texel_format f);

// How a buffer is seen. A texel buffer has no sizes: it is as long as its buffer.
enum image_shape { IMAGE_TEXELS, IMAGE_2D, IMAGE_2D_ARRAY, IMAGE_3D };
struct image_form {
    uint8_t format;                // of enum texel_format
    uint8_t shape;                 // of enum image_shape
    uint32_t width, height, depth; // depth of a 2D array: its layers
};
const char *image_shape_name(enum image_shape s); // "2D"
uint64_t image_bytes(const struct image_form *f); // saturates; 0 for texel buffers
bool image_is_same(const struct image_form *a, const struct image_form *b);

#endif
