// The median of a list of numbers.
#ifndef TILEWALK_BASE_MEDIAN_H
#define TILEWALK_BASE_MEDIAN_H

#include <stdint.h>

void median_sort(double *x, int64_t count);           // ascending; of none `x` may be NULL
double median_sorted(const double *x, int64_t count); // of sorted ones, at least one
double median_of(double *x, int64_t count);           // sorts them

#endif
