#include "search/credit.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

void credit_init(struct credit *c, int arms, int window, double explore)
{
    *c = (struct credit){.arms = arms,
                         .window = window,
                         .explore = explore,
                         .use = mem_zero((size_t)window, sizeof *c->use)};
}

void credit_finish(struct credit *c)
{
    free(c->use);
}

void credit_use(struct credit *c, int arm, bool gained)
{
    c->use[c->next] = (struct credit_use){arm, gained};
    c->next = (c->next + 1) % c->window;
    c->count += c->count < c->window;
}

static double area(const struct credit *c, int arm, int *uses)
{
    double sum = 0;
    int oldest = c->count < c->window ? 0 : c->next, n = 0;
    for (int i = 0; i < c->count; i++) {
        const struct credit_use *use = &c->use[(oldest + i) % c->window];
        if (use->arm == arm && ++n && use->gained)
            sum += n;
    }
    *uses = n;
    return n ? 2 * sum / (n * (n + 1.0)) : 0;
}

double credit_of(const struct credit *c, int arm)
{
    int uses;
    return area(c, arm, &uses);
}

int credit_choose(const struct credit *c, const bool *usable)
{
    int chosen = -1;
    double most = -INFINITY;
    for (int arm = 0; arm < c->arms; arm++) {
        int uses;
        double worth = area(c, arm, &uses);
        worth = uses ? worth + c->explore * sqrt(2 * log(c->count) / uses) : INFINITY;
        if (usable[arm] && worth > most) {
            most = worth;
            chosen = arm;
        }
    }
    return chosen;
}
