#include "trial/image.h"

#include "space/element.h"

struct image image_of(const struct operation *o, const struct tensor *t, const void *buffer)
{
    bool channels_last = operation_chooses(o, "layout", "nhwc");
    int c = channels_last ? 3 : 1, y = channels_last ? 1 : 2, x = channels_last ? 2 : 3;
    return (struct image){
        .buffer = (void *)(uintptr_t)buffer,
        .element = t->element,
        .outer = t->size[0],
        .channels = t->size[c],
        .height = t->size[y],
        .width = t->size[x],
        .outer_stride = t->stride[0],
        .channel_stride = t->stride[c],
        .row_stride = t->stride[y],
        .column_stride = t->stride[x],
    };
}

bool image_has(const struct image *m, int64_t y, int64_t x)
{
    return y >= 0 && y < m->height && x >= 0 && x < m->width;
}

int64_t image_offset(const struct image *m, int64_t outer, int64_t channel, int64_t y, int64_t x)
{
    return outer * m->outer_stride + channel * m->channel_stride + y * m->row_stride +
           x * m->column_stride;
}

double image_get(const struct image *m, int64_t outer, int64_t channel, int64_t y, int64_t x)
{
    return element_get(m->buffer, m->element, image_offset(m, outer, channel, y, x));
}

void image_put(const struct image *m, int64_t outer, int64_t channel, int64_t y, int64_t x,
               double value)
{
    element_put(m->buffer, m->element, image_offset(m, outer, channel, y, x), value);
}
