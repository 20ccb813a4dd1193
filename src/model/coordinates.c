#include "model/coordinates.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void profile_of(const struct nest_point *p, double *out)
{
    double most = 0;
    memset(out, 0, PROFILE_NUMBERS * sizeof *out);
    for (int i = 0; i < p->nest->statement_count; i++)
        if (p->present[i]) {
            double executions = nest_executions(p, i);
            double lanes = nest_product(p, i, NEST_VECTORIZED, NEST_VECTORIZED);
            out[PROFILE_GROUPS] =
                fmax(out[PROFILE_GROUPS], nest_product(p, i, NEST_BLOCK_X, NEST_BLOCK_Z));
            out[PROFILE_THREADS] =
                fmax(out[PROFILE_THREADS], nest_product(p, i, NEST_THREAD_X, NEST_THREAD_Z));
            out[PROFILE_EXECUTIONS] += executions;
            double times = executions / lanes;
            const struct nest_statement *s = &p->nest->statement[i];
            for (int j = 0; j < s->access_count; j++) {
                enum nest_memory memory = p->nest->buffer[s->access[j].buffer].memory;
                if (memory != NEST_REGISTERS)
                    out[memory == NEST_GLOBAL ? PROFILE_GLOBAL : PROFILE_SHARED] += times;
            }
            if (!(executions <= most)) {
                most = executions;
                out[PROFILE_LANES] = lanes;
                out[PROFILE_WRITTEN_OUT] = nest_product(p, i, NEST_UNROLLED, NEST_UNROLLED) *
                                           nest_product(p, i, NEST_VIRTUAL, NEST_VIRTUAL);
            }
        }
    out[PROFILE_REGISTER_BYTES] = nest_memory_bytes(p, NEST_REGISTERS);
    out[PROFILE_SHARED_BYTES] = nest_memory_bytes(p, NEST_SHARED);
    out[PROFILE_TRIPS] = nest_trips(p);
}

#define LARGEST_WHOLE 1e9
#define PROFILE_BITS  8

static void add(struct coordinates *s, int kind, int slot, double whole, const double *number)
{
    s->at[s->count++] = (struct coordinate){kind, slot, number, whole};
}

static int twos_in(double number)
{
    int twos = 0;
    for (; number != 0 && fmod(number, 2) == 0; number /= 2)
        twos++;
    return twos;
}

// Of a whole number.
static bool is_power_of_two(double number)
{
    int exponent;
    return frexp(number, &exponent) == 0.5;
}

// The most twos in a number, or 0 where they say nothing that the rank does not: when there are
// fractions, and when each number has as many more than the last (powers of two).
static int most_twos(const struct param *p)
{
    int most = 0;
    bool like_ranks = true;
    for (int i = 0; i < p->count; i++) {
        if (p->number[i] != floor(p->number[i]) || fabs(p->number[i]) > LARGEST_WHOLE)
            return 0;
        int twos = twos_in(p->number[i]);
        most = twos > most ? twos : most;
        like_ranks = like_ranks && (i == 0 || twos == twos_in(p->number[i - 1]) + 1);
    }
    return like_ranks ? 0 : most;
}

void coordinates_init(struct coordinates *s, const struct space *space, bool with_profile)
{
    *s = (struct coordinates){.space = space};
    for (int i = 0; i < space->param_count; i++) {
        const struct param *p = &space->param[i];
        if (p->size < 2)
            continue;
        if (p->kind == PARAM_DISCRETE) {
            add(s, COORDINATE_LABEL, p->offset, 1, NULL);
            if (p->count != 2) {
                add(s, COORDINATE_RANK, p->offset, p->count - 1, NULL);
                int twos = most_twos(p);
                if (twos > 0) {
                    add(s, COORDINATE_TWOS, p->offset, twos, p->number);
                    add(s, COORDINATE_POWER, p->offset, 1, p->number);
                }
            }
        }
        for (int k = 0; p->kind != PARAM_DISCRETE && k < p->width; k++) {
            int slot = p->offset + k;
            add(s, COORDINATE_LABEL, slot, 1, NULL);
            if (p->kind == PARAM_FACTORIZATION)
                add(s, COORDINATE_PART, slot, log(p->product), NULL);
        }
    }
    s->own = s->count;
    if (!with_profile || !space->nest)
        return;
    nest_point_init(&s->point, space->nest);
    s->known = mem_zero(COORDINATES_KNOWN, sizeof *s->known);
    s->count += PROFILE_NUMBERS;
}

void coordinates_finish(struct coordinates *s)
{
    if (s->count > s->own)
        nest_point_finish(&s->point);
    free(s->known);
}

static double coordinate_of(const struct coordinate *a, int32_t v)
{
    switch (a->kind) {
    case COORDINATE_TWOS: return twos_in(a->number[v]) / a->whole;
    case COORDINATE_POWER: return is_power_of_two(a->number[v]);
    case COORDINATE_PART: return log(v) / a->whole;
    case COORDINATE_LABEL:
    case COORDINATE_RANK: break;
    }
    return v / a->whole;
}

static const double *profile_at(struct coordinates *s, const struct config *c)
{
    struct coordinates_known *k = &s->known[config_hash(c) % COORDINATES_KNOWN];
    if (k->known && config_equal(&k->config, c))
        return k->profile;
    nest_evaluate(s->space->nest, s->space, c, &s->point);
    profile_of(&s->point, k->profile);
    for (int i = 0; i < PROFILE_NUMBERS; i++)
        k->profile[i] = log2(1 + k->profile[i]) / PROFILE_BITS;
    k->config = *c;
    k->known = true;
    return k->profile;
}

void coordinates_of(struct coordinates *s, const struct config *c, double *x)
{
    for (int i = 0; i < s->own; i++)
        x[i] = coordinate_of(&s->at[i], c->slot[s->at[i].slot]);
    if (s->count > s->own)
        memcpy(x + s->own, profile_at(s, c), PROFILE_NUMBERS * sizeof *x);
}
