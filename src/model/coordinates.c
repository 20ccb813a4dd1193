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
            if (executions > most) {
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
                // The factors of two have no information beyond the rank with fractions, and if
                // each number has one more than the last (powers of two).
                int most = 0;
                bool whole = true, like_ranks = true;
                for (int k = 0; k < p->count; k++) {
                    double v = p->number[k];
                    whole = whole && v == floor(v) && fabs(v) <= LARGEST_WHOLE;
                    int twos = whole ? twos_in(v) : 0;
                    most = twos > most ? twos : most;
                    like_ranks = like_ranks && (k == 0 || twos == twos_in(p->number[k - 1]) + 1);
                }
                if (whole && !like_ranks && most > 0) {
                    add(s, COORDINATE_TWOS, p->offset, most, p->number);
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
    if (with_profile && space->nest) {
        nest_point_init(&s->point, space->nest);
        s->count += PROFILE_NUMBERS;
    }
    s->known = mem_zero(COORDINATES_KNOWN, sizeof *s->known);
    s->x = mem_zero(COORDINATES_KNOWN * (size_t)s->count + 1, sizeof *s->x);
}

void coordinates_finish(struct coordinates *s)
{
    if (s->count > s->own)
        nest_point_finish(&s->point);
    free(s->known);
    free(s->x);
}

static void compute(struct coordinates *s, const struct config *c, double *x)
{
    for (int i = 0; i < s->own; i++) {
        const struct coordinate *a = &s->at[i];
        int32_t v = c->slot[a->slot];
        int exponent;
        switch (a->kind) {
        case COORDINATE_TWOS: x[i] = twos_in(a->number[v]) / a->whole; break;
        case COORDINATE_POWER: x[i] = frexp(a->number[v], &exponent) == 0.5; break;
        case COORDINATE_PART: x[i] = log(v) / a->whole; break;
        case COORDINATE_LABEL:
        case COORDINATE_RANK: x[i] = v / a->whole; break;
        }
    }
    if (s->count == s->own)
        return;
    nest_evaluate(s->space->nest, s->space, c, &s->point);
    profile_of(&s->point, x + s->own);
    for (int i = s->own; i < s->count; i++)
        x[i] = log2(1 + x[i]) / PROFILE_BITS;
}

void coordinates_of(struct coordinates *s, const struct config *c, double *x)
{
    size_t at = config_hash(c) % COORDINATES_KNOWN;
    struct coordinates_known *k = &s->known[at];
    double *row = s->x + at * (size_t)s->count;
    if (!k->known || !config_equal(&k->config, c)) {
        compute(s, c, row);
        *k = (struct coordinates_known){*c, true};
    }
    memcpy(x, row, (size_t)s->count * sizeof *x);
}
