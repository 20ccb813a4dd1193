#include "model/intervals.h"

#include <math.h>

#define RATE 0.1 // of the logarithm, for a result

void intervals_init(struct intervals *i)
{
    *i = (struct intervals){.half = 0.6745, .nine_in_ten = 1.6449};
}

static void learn(double *width, double share, double off)
{
    *width *= exp(RATE * (off < *width ? share - 1 : share));
}

void intervals_told(struct intervals *i, double surprise)
{
    learn(&i->half, 0.5, fabs(surprise));
    learn(&i->nine_in_ten, 0.9, fabs(surprise));
    i->nine_in_ten = fmax(i->nine_in_ten, i->half);
}
