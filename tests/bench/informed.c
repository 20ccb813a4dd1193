#include "informed.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

enum { ALIKE = 10, FARTHEST = 64 }; // runs that are asked; rounds that they are looked ahead

// Where each run of a task stood after each round: best[repeat * (rounds + 1) + round], INFINITY
// while it had nothing.
struct past {
    double *best;
    int repeats, rounds;
};

static double stood(const struct past *p, int repeat, int round)
{
    round = round < p->rounds ? round : p->rounds;
    return p->best[repeat * (p->rounds + 1) + round];
}

static void look_at(const struct simulation *s, int round, struct past *out)
{
    *out = (struct past){.repeats = s->repeats, .rounds = (int)(s->trials / round)};
    out->best = mem_zero((size_t)out->repeats * (size_t)(out->rounds + 1), sizeof *out->best);
    for (int r = 0; r < out->repeats; r++)
        for (int k = 0, next = 0; k <= out->rounds; k++) {
            while (next < s->run[r].count && s->run[r].step[next].trial <= (int64_t)k * round)
                next++;
            out->best[r * (out->rounds + 1) + k] =
                next ? s->run[r].step[next - 1].seconds : INFINITY;
        }
}

// The runs that stood nearest to this one, by the ratio of their times; returns how many.
static int find_alike(const struct past *p, int repeat, int round, int *alike)
{
    double distance[ALIKE], now = stood(p, repeat, round);
    int count = 0;
    for (int r = 0; r < p->repeats; r++) {
        double d = fabs(log(stood(p, r, round) / now));
        if (r == repeat || !isfinite(d) || (count == ALIKE && d >= distance[ALIKE - 1]))
            continue;
        int at = count < ALIKE ? count++ : ALIKE - 1;
        for (; at > 0 && distance[at - 1] > d; at--) {
            distance[at] = distance[at - 1];
            alike[at] = alike[at - 1];
        }
        distance[at] = d;
        alike[at] = r;
    }
    return count;
}

// The seconds that a round is expected to gain, on the way that gains most a round.
static double expect(const struct past *p, int repeat, int round)
{
    int alike[ALIKE], count = find_alike(p, repeat, round, alike);
    double now = stood(p, repeat, round), most = 0;
    for (int ahead = 1; ahead <= FARTHEST; ahead *= 2) {
        double gain = 0;
        for (int i = 0; i < count; i++)
            gain += fmax(0, now - stood(p, alike[i], round + ahead));
        most = fmax(most, count ? gain / count / ahead : 0);
    }
    return most;
}

// The first round of each first; among equals the one with fewer rounds.
static int choose(const struct simulated_network *n, const struct past *past, int repeat,
                  const int *rounds)
{
    int chosen = 0;
    double most = -1;
    for (int i = 0; i < n->tasks; i++) {
        bool solved = isfinite(stood(&past[i], repeat, rounds[i]));
        double gain =
            solved ? n->uses[i] * expect(&past[i], repeat, rounds[i]) : 1e300 / (1 + rounds[i]);
        bool better = gain > most || (gain == most && rounds[i] < rounds[chosen]);
        if (rounds[i] < past[i].rounds && better) {
            most = gain;
            chosen = i;
        }
    }
    return chosen;
}

void informed_play(const struct simulated_network *n, int repeat, double *curve)
{
    struct past *past = mem_zero((size_t)n->tasks, sizeof *past);
    int *rounds = mem_zero((size_t)n->tasks, sizeof *rounds);
    for (int i = 0; i < n->tasks; i++)
        look_at(&n->task[i], n->round, &past[i]);
    for (int64_t m = 0; m < simulated_network_marks(n); m++) {
        rounds[choose(n, past, repeat, rounds)]++;
        curve[m] = 0;
        for (int i = 0; i < n->tasks; i++)
            curve[m] += n->uses[i] * stood(&past[i], repeat, rounds[i]);
    }
    for (int i = 0; i < n->tasks; i++)
        free(past[i].best);
    free(past);
    free(rounds);
}
