#include "search/samples.h"

#include <stdlib.h>
#include <string.h>

// For a program of at most so many rows.
static void make_room(struct samples *s, int rows)
{
    int most = s->rows + rows;
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
}

static float *row_of(const struct samples *s, int row)
{
    return s->x + (size_t)row * (size_t)s->width;
}

static int end_program(struct samples *s, int rows)
{
    s->rows += rows;
    s->first[s->programs + 1] = s->rows;
    return s->programs++;
}

int samples_add(struct samples *s, struct features *f, const struct config *c)
{
    make_room(s, features_most_rows(f));
    return end_program(s, features_fill(f, c, row_of(s, s->rows)));
}

void samples_add_wider(struct samples *s, const struct samples *of, int program, const double *more)
{
    int first = of->first[program], rows = of->first[program + 1] - first;
    make_room(s, rows);
    for (int i = 0; i < rows; i++) {
        float *row = row_of(s, s->rows + i);
        memcpy(row, row_of(of, first + i), (size_t)of->width * sizeof *row);
        for (int k = of->width; k < s->width; k++)
            row[k] = (float)more[k - of->width];
    }
    s->y[end_program(s, rows)] = of->y[program];
}

void samples_finish(struct samples *s)
{
    free(s->x);
    free(s->y);
    free(s->first);
}
