#include "space/image.h"

#include "base/number.h"
#include "base/str.h"

#include <assert.h>

#define TEXEL_TRAITS(name, bytes, reads, spirv, vulkan) {#name, bytes, reads, spirv, vulkan},
const struct texel_traits texel_traits[TEXEL_COUNT] = {TEXEL_FORMATS(TEXEL_TRAITS)};

static_assert(DESCRIPTOR_FORMATS * TEXEL_COUNT <= 53,
              "bits of limits.formats, as a number of JSON");

enum texel_format texel_format_named(const char *name)
{
    int f = 0;
    while (f < TEXEL_COUNT && !str_equal(texel_traits[f].name, name))
        f++;
    return (enum texel_format)f;
}

const char *descriptor_name(enum descriptor d)
{
    static const char *const names[DESCRIPTOR_COUNT] = {
        "storage image",  "sampled image", "texel buffer",  "storage texel buffer",
        "combined image", "sampler",       "storage buffer"};
    return names[d];
}

uint64_t descriptor_bit(enum descriptor d, enum texel_format f)
{
    if (d == DESCRIPTOR_COMBINED)
        d = DESCRIPTOR_SAMPLED_IMAGE;
    return d < DESCRIPTOR_FORMATS ? UINT64_C(1) << ((int)d * TEXEL_COUNT + (int)f) : 0;
}

bool texel_format_is_there(uint64_t formats, enum texel_format f)
{
    bool is_there = false;
    for (int d = 0; d < DESCRIPTOR_FORMATS; d++)
        is_there = is_there || (formats & descriptor_bit((enum descriptor)d, f));
    return is_there;
}

const char *image_shape_name(enum image_shape s)
{
    static const char *const names[] = {"a texel buffer", "2D", "2D array", "3D"};
    return names[s];
}

uint64_t image_bytes(const struct image_form *f)
{
    uint64_t texels = times_unsigned(times_unsigned(f->width, f->height), f->depth);
    return times_unsigned(texels, texel_traits[f->format].bytes);
}

bool image_is_same(const struct image_form *a, const struct image_form *b)
{
    return a->format == b->format && a->shape == b->shape && a->width == b->width &&
           a->height == b->height && a->depth == b->depth;
}
