#include "search/samples.h"

#include <stdlib.h>

int samples_add(struct samples *s, struct features *f, const struct config *c)
{
    int most = s->rows + features_most_rows(f);
    if (most > s->row_capacity) {
        s->row_capacity = 2 * most;
        s->x = mem_resize(s->x, (size_t)s->row_capacity * (size_t)s->width, sizeof *s->x);
    }
    if (s->programs + 1 >= s->capacity) {
        s->capacity = 2 * s->programs + 16;
        s->y = mem_resize(s->y, (size_t)s->capacity, sizeof *s->y);
        s->first = mem_resize(s->first, (size_t)s->capacity, sizeof *s->first);
    }
    s->first[s->programs] = s->rows;
    s->rows += features_fill(f, c, s->x + (size_t)s->rows * (size_t)s->width);
    s->first[s->programs + 1] = s->rows;
    return s->programs++;
}

void samples_finish(struct samples *s)
{
    free(s->x);
    free(s->y);
    free(s->first);
}
