#include "base/number.h"

#include <assert.h>
#include <stdlib.h>

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void median_sort(double *x, int64_t count)
{
    if (count > 0) // qsort takes no NULL
        qsort(x, (size_t)count, sizeof *x, compare_numbers);
}

double median_sorted(const double *x, int64_t count)
{
    assert(count > 0);
    return (x[(count - 1) / 2] + x[count / 2]) / 2;
}

double median_of(double *x, int64_t count)
{
    median_sort(x, count);
    return median_sorted(x, count);
}
