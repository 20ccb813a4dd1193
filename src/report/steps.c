#include "report/steps.h"

#include <math.h>

double steps_at(const struct steps *s, double x)
{
    int low = 0, high = s->count; // points before `low` are at or before x
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (s->point[middle].x <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? s->point[low - 1].y : 0;
}

void steps_spread(const struct steps *curve, int count, double from, double step,
                  struct spread *out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = (struct spread){0};
    for (int k = 0; k < count; k++) {
        int passed = 0;
        for (int i = 0; i < n; i++) {
            struct spread *s = &out[i];
            double x = from + i * step;
            while (passed < curve[k].count && curve[k].point[passed].x <= x)
                passed++;
            // Welford's update: `deviation` holds the sum of squares.
            double y = passed > 0 ? curve[k].point[passed - 1].y : 0, off = y - s->mean;
            s->mean += off / (k + 1);
            s->deviation += off * (y - s->mean);
            s->least = k == 0 ? y : fmin(s->least, y);
            s->most = k == 0 ? y : fmax(s->most, y);
        }
    }
    for (int i = 0; i < n; i++)
        out[i].deviation = count > 1 ? sqrt(out[i].deviation / (count - 1)) : 0;
}
