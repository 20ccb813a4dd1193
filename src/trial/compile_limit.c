#include "trial/compile_limit.h"

#include "base/median.h"

#include <math.h>
#include <string.h>

enum { ENOUGH = 8, TIMES = 10 };

void compile_limit_saw(struct compile_limit *l, double seconds)
{
    l->seen[l->count++ % COMPILE_LIMIT_KEPT] = seconds;
}

double compile_limit_median(const struct compile_limit *l)
{
    double sorted[COMPILE_LIMIT_KEPT];
    int count = l->count < COMPILE_LIMIT_KEPT ? l->count : COMPILE_LIMIT_KEPT;
    if (count < ENOUGH)
        return 0;
    memcpy(sorted, l->seen, (size_t)count * sizeof *sorted);
    return median_of(sorted, count);
}

double compile_limit_s(const struct compile_limit *l, double most_s)
{
    double median = compile_limit_median(l);
    return median > 0 ? fmin(most_s, fmax(l->least_s, TIMES * median)) : most_s;
}
