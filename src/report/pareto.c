#include "report/pareto.h"

#include <stdlib.h>

static int compare_points(const void *a, const void *b)
{
    const struct pareto_point *x = a, *y = b;
    if (x->seconds < y->seconds || x->seconds > y->seconds)
        return x->seconds < y->seconds ? -1 : 1;
    if (x->joules < y->joules || x->joules > y->joules)
        return x->joules < y->joules ? -1 : 1;
    return (x->ask > y->ask) - (x->ask < y->ask);
}

int pareto_front(struct pareto_point *point, int count)
{
    int kept = 0;
    if (count > 0)
        qsort(point, (size_t)count, sizeof *point, compare_points);
    for (int i = 0; i < count; i++) // all before it are as fast or faster
        if (kept == 0 || point[i].joules < point[kept - 1].joules)
            point[kept++] = point[i];
    return kept;
}
