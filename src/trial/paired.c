#include "trial/paired.h"

#include "base/number.h"

#include <math.h>

static const int looks[] = {10, 20, 40, PAIRED_MOST};
#define LOOKS ((int)(sizeof looks / sizeof *looks))
#define ERROR 0.01 // of all looks together, on both sides

static int last_look(int pairs)
{
    int look = 0;
    for (int i = 0; i < LOOKS && looks[i] <= pairs; i++)
        look = looks[i];
    return look;
}

bool paired_is_look(int pairs)
{
    return pairs > 0 && last_look(pairs) == pairs;
}

int paired_first_look(void)
{
    return looks[0];
}

// Returns the place in the sorted ratios, from 0 on, of the lower end: the largest r for which at
// most r - 1 of `n` signs fall on one side with a probability of no more than half a look's error.
static int lower_end(int n)
{
    double probability = pow(0.5, n), below = probability;
    int r = 0;
    while (below <= ERROR / LOOKS / 2) {
        probability *= (double)(n - r) / (r + 1);
        below += probability;
        r++;
    }
    return r - 1;
}

struct paired paired_unknown(void)
{
    return (struct paired){.ratio = NAN, .low = NAN, .high = NAN};
}

struct paired paired_ratio(const double *a, const double *b, int pairs)
{
    double ratio[PAIRED_MOST];
    int look = last_look(pairs), n = look ? look : pairs;
    struct paired p = paired_unknown();
    p.pairs = n;
    for (int i = 0; i < n; i++)
        ratio[i] = b[i] / a[i];
    if (n)
        p.ratio = median_of(ratio, n); // sorts them
    int end = look ? lower_end(look) : -1;
    if (end >= 0) {
        p.low = ratio[end];
        p.high = ratio[n - 1 - end];
    }
    return p;
}

struct paired paired_exactly(double a, double b)
{
    double ratio = a > 0 && b > 0 ? b / a : NAN;
    return (struct paired){.pairs = ratio > 0, .ratio = ratio, .low = ratio, .high = ratio};
}

enum paired_verdict paired_verdict(const struct paired *p)
{
    return !(p->ratio > 0) ? PAIRED_NONE
           : p->low > 1    ? PAIRED_FASTER
           : p->high < 1   ? PAIRED_SLOWER
                           : PAIRED_LEVEL;
}

const char *paired_verdict_name(enum paired_verdict v)
{
    static const char *const name[] = {
        [PAIRED_NONE] = "no baseline",
        [PAIRED_LEVEL] = "no difference shown",
        [PAIRED_FASTER] = "faster",
        [PAIRED_SLOWER] = "slower",
    };
    return name[v];
}
