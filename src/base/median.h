// The middle of some numbers.
#ifndef TILEWALK_BASE_MEDIAN_H
#define TILEWALK_BASE_MEDIAN_H

void median_sort(double *x, int count);           // ascending
double median_sorted(const double *x, int count); // of sorted ones, at least one
double median_of(double *x, int count);           // sorts them

#endif
