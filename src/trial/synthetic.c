#include "trial/source.h"

#include "base/mem.h"
#include "base/str.h"
#include "space/nest.h"
#include "space/objective.h"
#include "space/space.h"
#include "space/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- the synthetic device ---
//
// 32 cores take workgroups in turn; each holds as many at once as its threads, registers and shared
// memory leave room for. Warps of 32 lanes issue arithmetic, accesses to shared memory and to
// memory. The latter cost more the more lines a warp's lanes are spread over; with few warps
// nothing hides the latency. Memory has a bandwidth of its own, and the slower of both counts
// (Williams et al. 2009, the roofline). No device is like that, but configurations that are good
// for one shape are good for the next for reasons that are in the loop nest: models are to learn
// them and to transfer them.

#define CORES          32.0
#define ISSUED         4.0 // warps a cycle, of a core
#define WARP           32.0
#define MOST_THREADS   1024.0 // of a workgroup
#define THREADS        2048.0 // of a core
#define REGISTERS      65536.0
#define SHARED_BYTES   65536.0
#define MOST_GROUPS    16.0
#define WARPS_TO_HIDE  16.0 // latency
#define MEMORY_CYCLES  8.0  // an access to memory that one line serves
#define LINE_BYTES     64.0
#define CORE_BANDWIDTH 16.0 // bytes a cycle
#define OWN_REGISTERS  16.0 // addresses and the like
#define WORST          1e-6

// The cost of a statement, and the size of its dispatch.
struct cost {
    double groups, threads;
    double cycles; // issued by a warp, all executions
    double bytes;  // to and from memory, by all
};

static struct cost cost_of(const struct nest_point *p, int statement)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    const int *path = nest_path(p, statement);
    const double *v = p->value;
    double executions = nest_executions(p, statement);
    double operations = v[s->add] + v[s->multiply] + v[s->compare] + v[s->integer] +
                        8 * (v[s->divide] + v[s->special]);
    struct cost c = {
        .groups = nest_product(p, statement, NEST_BLOCK_X, NEST_BLOCK_Z),
        .threads = nest_product(p, statement, NEST_THREAD_X, NEST_THREAD_Z),
        .cycles = executions * operations / 2, // a multiplication and an addition at once
    };
    for (int a = 0; a < s->access_count; a++) {
        const struct nest_buffer *b = &p->nest->buffer[s->access[a].buffer];
        const double *stride = nest_strides(p, statement, a);
        double requests = executions / nest_product(p, statement, NEST_VECTORIZED, NEST_VECTORIZED);
        double apart = 0;
        int inner = 0; // loops within a workgroup
        if (b->memory == NEST_SHARED)
            c.cycles += requests;
        if (b->memory != NEST_GLOBAL)
            continue;
        for (int i = 0; i < s->loop_count; i++) {
            if (p->nest->loop[path[i]].kind == NEST_THREAD_X && p->length[path[i]] > 1)
                apart = fabs(stride[i]) * b->bytes;
            inner += p->nest->loop[path[i]].kind > NEST_BLOCK_Z;
        }
        double lines = fmin(WARP, fmax(1, apart * WARP / LINE_BYTES)); // of memory, for a warp
        c.cycles += requests * MEMORY_CYCLES * lines;
        c.bytes += c.groups * b->bytes * nest_touched(p, statement, a, inner);
    }
    return c;
}

// The number of workgroups of so many threads that a core holds at once; below 1: none fits.
static double fitting(const struct nest_point *p, double threads)
{
    double by_registers =
        REGISTERS / (threads * (OWN_REGISTERS + nest_memory_bytes(p, NEST_REGISTERS) / 4));
    double by_shared = SHARED_BYTES / fmax(1, nest_memory_bytes(p, NEST_SHARED));
    double most = fmin(fmin(MOST_GROUPS, THREADS / threads), fmin(by_registers, by_shared));
    return threads > MOST_THREADS ? 0 : most < 1 ? most : floor(most);
}

// Returns the share of the device's peak that an evaluated point reaches, in (0, 1]. A kernel
// without floating-point operations is measured by the elements that it moves.
static double synthetic_device_quality(const struct nest_point *p)
{
    double cycles = 0, bytes = 0;
    for (int s = 0; s < p->nest->statement_count; s++)
        if (p->present[s]) {
            struct cost c = cost_of(p, s);
            // The time of all workgroups of this statement alone. Where none fits, registers spill.
            double warps = ceil(c.threads / WARP), groups = fitting(p, c.threads);
            double spilled = groups < 1 ? 1 + 8 * (1 - groups) : 1;
            double hidden = fmin(1, fmax(1, groups) * warps / WARPS_TO_HIDE);
            cycles += ceil(c.groups / CORES) * warps * c.cycles * spilled / (ISSUED * hidden);
            bytes += c.bytes;
        }
    double moving = bytes / (CORES * CORE_BANDWIDTH);
    double flops = nest_flops(p), moved = 0;
    for (int s = 0; s < p->nest->statement_count; s++)
        moved = fmax(moved, nest_all_executions(p, s));
    double ideal = (flops > 0 ? flops : moved) / (2 * CORES * ISSUED * WARP);
    double quality = ideal / (fmax(cycles, moving) + 0.2 * fmin(cycles, moving));
    return fmin(1, fmax(WORST, quality));
}

// Adds the statistics that the device's compiler would give, by the names of drivers.
static void synthetic_device_statistics(const struct nest_point *p, struct statistics *out)
{
    double threads = 1, instructions = 0;
    for (int s = 0; s < p->nest->statement_count; s++)
        if (p->present[s]) {
            struct cost c = cost_of(p, s);
            threads = fmax(threads, c.threads);
            instructions += c.cycles;
        }
    double most = floor(REGISTERS / threads),
           wanted = ceil(OWN_REGISTERS + nest_memory_bytes(p, NEST_REGISTERS) / 4);
    double groups = fmax(1, fitting(p, threads)), warps = ceil(threads / WARP);
    statistics_take(out, "Register Count", fmin(wanted, most));
    statistics_take(out, "Spill Count", fmax(0, wanted - most));
    statistics_take(out, "Shared Memory Size", nest_memory_bytes(p, NEST_SHARED));
    statistics_take(out, "Max Warps/SM", fmin(groups * warps, THREADS / WARP));
    statistics_take(out, "Instruction Count", ceil(instructions));
}

// --- the trap: a synthetic landscape where nearly all climbs lead to ends that are not the best
// ---
//
// Three ends have quality TRAP_END; the optimum, of quality 1, differs from each of them in
// TRAP_APART parameters. Around each end quality falls with the distance, around the optimum so
// steeply that the steepest climb by single moves leads there from TRAP_SHARE of all points only. A
// model of the observations predicts that the optimum's values are bad, because they are bad near
// the ends.

#define TRAP_ENDS  3
#define TRAP_APART 5 // or all parameters, of a space that has fewer
#define TRAP_END   0.83
#define TRAP_SHARE 0.02
#define TRAP_FALL  0.7 // of quality from an end to where every parameter is far off

enum { TRAP_SAMPLES = 1000, TRAP_TRIES = 1000 };

struct trap {
    const struct space *space;
    struct config optimum, end[TRAP_ENDS];
    double weight[SPACE_MAX_PARAMS]; // most of each in a distance; their sum is 1
    double step[SPACE_MAX_PARAMS];   // the same for one step of its graph
    double steepness;                // around the optimum
};

// About the number of steps between the farthest values.
static int diameter(const struct param *p)
{
    int steps = 0;
    switch (p->kind) {
    case PARAM_CATEGORICAL: return 1;
    case PARAM_PERMUTATION: return p->width - 1;
    case PARAM_FACTORIZATION:
        for (int i = 0; i < p->prime_count; i++)
            steps += p->exponent[i];
        return steps;
    default: return (int)p->size - 1;
    }
}

// In [0, 1].
static double distance(const struct trap *t, const struct config *a, const struct config *b)
{
    double sum = 0;
    for (int i = 0; i < t->space->param_count; i++) {
        const struct param *p = &t->space->param[i];
        int steps = param_distance(p, a->slot + p->offset, b->slot + p->offset);
        sum += steps < 0 ? t->weight[i] : steps * t->step[i];
    }
    return sum;
}

static double quality_by_ends(const struct trap *t, const struct config *c)
{
    double nearest = 1;
    for (int i = 0; i < TRAP_ENDS; i++)
        nearest = fmin(nearest, distance(t, c, &t->end[i]));
    return TRAP_END - TRAP_FALL * nearest;
}

static double trap_quality(const struct trap *t, const struct config *c) // in (0, 1]
{
    return fmax(quality_by_ends(t, c), 1 - t->steepness * distance(t, c, &t->optimum));
}

// Places an end: TRAP_APART parameters that have another value get one, and the point is legal.
static void place_end(struct trap *t, struct rng *r, struct config *end)
{
    const struct space *s = t->space;
    for (int n = 0; n < TRAP_TRIES; n++) {
        int order[SPACE_MAX_PARAMS], moved = 0;
        struct verdict v;
        *end = t->optimum;
        for (int i = 0; i < s->param_count; i++) {
            int k = (int)rng_below(r, (uint64_t)i + 1);
            order[i] = order[k];
            order[k] = i;
        }
        for (int i = 0; i < s->param_count && moved < TRAP_APART; i++) {
            const struct param *p = &s->param[order[i]];
            const struct config old = *end;
            for (int k = 0; k < TRAP_TRIES && p->size > 1 && config_equal(end, &old); k++) {
                param_sample(p, r, end->slot + p->offset);
                space_settle(s, end);
            }
            moved += p->size > 1;
        }
        if (space_judge(s, NULL, end, &v, NULL) && v.legal)
            return;
    }
}

// Gives the point where the steepest climb by single steps leads.
static struct config climb(const struct trap *t, const struct config *from)
{
    struct config c = *from;
    double quality = trap_quality(t, &c), before = 0;
    while (quality > before) {
        const struct config here = c;
        before = quality;
        for (int k = 0; k < space_degree(t->space, &here); k++) {
            struct config next;
            space_neighbour(t->space, &here, k, &next);
            double q = trap_quality(t, &next);
            if (q > quality) {
                quality = q;
                c = next;
            }
        }
    }
    return c;
}

static int compare_doubles(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// The seed alone decides where the ends lie. `space` outlives the trap.
static void create_trap(struct trap *t, const struct space *space, const struct config *optimum,
                        uint64_t seed)
{
    double sum = 0, *foot = mem_zero(TRAP_SAMPLES, sizeof *foot);
    struct config *from = mem_zero(TRAP_SAMPLES, sizeof *from);
    struct rng r;
    rng_seed(&r, seed);
    *t = (struct trap){.space = space, .optimum = *optimum};
    for (int i = 0; i < space->param_count; i++)
        sum += t->weight[i] = 0.5 + rng_real(&r);
    for (int i = 0; i < space->param_count; i++)
        t->step[i] = (t->weight[i] /= sum) / fmax(diameter(&space->param[i]), 1);
    for (int i = 0; i < TRAP_ENDS; i++)
        place_end(t, &r, &t->end[i]);
    for (int i = 0; i < TRAP_SAMPLES; i++)
        space_sample(space, &r, &from[i]);
    // With this steepness that share of the points is on the slope of the optimum, and not of an
    // end. More points climb it, from the slopes next to it. The steeper it is, the fewer.
    for (int i = 0; i < TRAP_SAMPLES; i++)
        foot[i] =
            (1 - quality_by_ends(t, &from[i])) / fmax(distance(t, &from[i], &t->optimum), 1e-9);
    qsort(foot, TRAP_SAMPLES, sizeof *foot, compare_doubles);
    t->steepness = foot[(int)(TRAP_SAMPLES * (1 - TRAP_SHARE))];
    for (int left = TRAP_SAMPLES;; t->steepness *= 1.02) {
        int kept = 0; // points whose climbs lead to the optimum, in front
        for (int i = 0; i < left; i++) {
            const struct config end = climb(t, &from[i]);
            if (config_equal(&end, &t->optimum))
                from[kept++] = from[i];
        }
        left = kept;
        if (left <= TRAP_SAMPLES * TRAP_SHARE)
            break;
    }
    free(foot);
    free(from);
}

// --- the source ---

enum { HIDDEN_TRIES = 100000, UNREACHABLE_DISTANCE = 1000 };

// The purpose of a hash; each gives independent numbers from the same seed and configuration.
enum purpose {
    PURPOSE_HIDDEN,
    PURPOSE_ROUGHNESS,
    PURPOSE_INVALID,
    PURPOSE_OUTCOME,
    PURPOSE_DELAY,
    PURPOSE_POWER
};

enum landscape { LANDSCAPE_BOWL, LANDSCAPE_RUGGED, LANDSCAPE_MACHINE, LANDSCAPE_TRAP };
static const char *const landscapes[] = {"bowl", "rugged", "machine", "trap"};

struct synthetic {
    struct delayed delayed; // first: a source is a struct synthetic
    const struct space *space;
    enum landscape landscape;
    struct nest_point *point; // of LANDSCAPE_MACHINE, for its evaluations
    uint64_t seed;
    double invalid, delay_us, flop;
    bool has_statistics; // as from a driver
    bool tells_power;
    int objective; // as in pool_options
    struct config hidden;
    struct trap trap; // of LANDSCAPE_TRAP
};

// A number uniform in [0, 1), by the seed, the purpose, and `count` numbers.
static double hash_real(uint64_t seed, enum purpose purpose, const int32_t *number, int count)
{
    struct {
        uint64_t seed, purpose;
        int32_t number[SPACE_MAX_SLOTS + 1];
    } key = {.seed = seed, .purpose = purpose};
    memcpy(key.number, number, (size_t)count * sizeof *number);
    return (double)(hash_bytes(&key, sizeof key) >> 11) * 0x1p-53;
}

// Quality is 1 at the hidden point and at most 0.8 elsewhere. Next to it the slope is steep; far
// away a step changes the bowl by a few percent and the roughness by much more, which makes the
// local optima.
static double quality_of(const struct synthetic *s, const struct config *c)
{
    if (s->landscape == LANDSCAPE_MACHINE) {
        nest_evaluate(s->space->nest, s->space, c, s->point);
        return synthetic_device_quality(s->point);
    }
    if (s->landscape == LANDSCAPE_TRAP)
        return trap_quality(&s->trap, c);
    int distance = space_distance(s->space, c, &s->hidden);
    if (distance == 0)
        return 1;
    double bowl = 1 / (1 + (distance < 0 ? UNREACHABLE_DISTANCE : distance) / 4.0);
    if (s->landscape == LANDSCAPE_BOWL)
        return bowl;
    // A parameter's share of the roughness, in [0, 1), is a hash of its value and those of the
    // parameters before and after it, as in an NK landscape with K = 2 (Kauffman and Levin 1987).
    double roughness = 0;
    int n = s->space->param_count;
    for (int p = 0; p < n; p++) {
        int32_t number[SPACE_MAX_SLOTS + 1] = {p};
        int count = 1;
        for (int i = n > 1 ? p - 1 : p; i <= (n > 2 ? p + 1 : p); i++) {
            const struct param *param = &s->space->param[(i + n) % n];
            for (int k = 0; k < param->width && count <= SPACE_MAX_SLOTS; k++)
                number[count++] = c->slot[param->offset + k];
        }
        roughness += hash_real(s->seed, PURPOSE_ROUGHNESS, number, count);
    }
    return bowl * (0.1 + 0.9 * roughness / s->space->param_count);
}

static enum outcome outcome_of(const struct synthetic *s, const struct config *c)
{
    static const enum outcome failures[] = {OUTCOME_COMPILE, OUTCOME_DRIVER, OUTCOME_TIMEOUT,
                                            OUTCOME_CRASH,   OUTCOME_LOST,   OUTCOME_WRONG};
    enum { COUNT = sizeof failures / sizeof *failures };
    if (config_equal(c, &s->hidden) ||
        hash_real(s->seed, PURPOSE_INVALID, c->slot, SPACE_MAX_SLOTS) >= s->invalid)
        return OUTCOME_OK;
    return failures[(int)(hash_real(s->seed, PURPOSE_OUTCOME, c->slot, SPACE_MAX_SLOTS) * COUNT)];
}

double synthetic_quality(const struct source *source, const struct config *c, enum outcome *o)
{
    const struct synthetic *s = (const struct synthetic *)source;
    if (o)
        *o = outcome_of(s, c);
    return quality_of(s, c);
}

// Makes a time a cost. The power is up to the configuration, and faster ones take more: the
// fastest is not the one that needs the least energy.
static void take_cost(const struct synthetic *s, const struct config *c, int i,
                      struct trial_result *out)
{
    double seconds = out->seconds[i], quality = quality_of(s, c);
    double own = hash_real(s->seed, PURPOSE_POWER, c->slot, SPACE_MAX_SLOTS);
    double watts = 20 + 400 * quality * quality * (0.5 + own);
    if (!s->objective)
        return;
    if (s->objective != 1 + OBJECTIVE_TIME)
        out->seconds[i] *= watts * (s->objective == 1 + OBJECTIVE_EDP ? seconds : 1);
    if (out->count > 1)
        return;
    statistics_take(&out->clocks, "watts", watts);
    statistics_take(&out->clocks, STATISTIC_JOULES, watts * seconds);
    statistics_take(&out->clocks, STATISTIC_SECONDS, seconds);
}

static void synthetic_answer(const struct source *source, const struct trial_request *r,
                             struct trial_result *out, double *seconds)
{
    const struct synthetic *s = (const struct synthetic *)source;
    double us = 0;
    *out = (struct trial_result){.ticket = r->ticket, .count = r->count};
    for (int i = 0; i < r->count; i++) {
        enum outcome o = outcome_of(s, &r->config[i]);
        bool compiles = o != OUTCOME_COMPILE && o != OUTCOME_DRIVER;
        if (r->only_compiles && compiles)
            o = OUTCOME_OK;
        out->outcome[i] = o;
        us += s->delay_us *
              (0.5 + hash_real(s->seed, PURPOSE_DELAY, r->config[i].slot, SPACE_MAX_SLOTS));
        if (s->has_statistics && compiles) {
            nest_evaluate(s->space->nest, s->space, &r->config[i], s->point);
            synthetic_device_statistics(s->point, &out->statistics[i]);
        }
        if (o == OUTCOME_OK && !r->only_compiles) {
            out->seconds[i] = s->flop / (quality_of(s, &r->config[i]) * 1e12);
            take_cost(s, &r->config[i], i, out);
            out->samples[i] = (struct samples){.seconds = {out->seconds[i]}, .count = 1};
        } else if (o != OUTCOME_OK) {
            out->phase[i] = outcome_phase(o);
            snprintf(out->reason[i], sizeof out->reason[i], "the landscape says %s",
                     outcome_name(o));
        }
    }
    *seconds = us * 1e-6;
}

static void synthetic_destroy(struct source *source)
{
    struct synthetic *s = (struct synthetic *)source;
    if (s->point)
        nest_point_finish(s->point);
    free(s->point);
    delayed_finish(source);
    free(source);
}

static bool set_option(struct synthetic *s, const char *key, const char *value, struct err *e)
{
    static const char *const keys[] = {"seed", "invalid", "delay_us", "statistics", "power"};
    int64_t seed, has;
    if (str_equal(key, "statistics") || str_equal(key, "power")) {
        if (!str_to_int(value, 0, 1, &has))
            return err_usage(e, "%s '%s' is not 0 or 1", key, value);
        *(*key == 'p' ? &s->tells_power : &s->has_statistics) = has;
        return true;
    }
    if (str_equal(key, "seed")) {
        if (!str_to_int(value, 0, INT64_MAX, &seed))
            return err_usage(e, "seed '%s' is not a whole number >= 0", value);
        s->seed = (uint64_t)seed;
        return true;
    }
    if (str_equal(key, "invalid")) {
        if (!str_to_real(value, &s->invalid) || s->invalid < 0 || s->invalid >= 1)
            return err_usage(e, "invalid '%s' is not in [0, 1)", value);
        return true;
    }
    if (str_equal(key, "delay_us")) {
        if (!str_to_real(value, &s->delay_us) || s->delay_us < 0 || s->delay_us > 1e9)
            return err_usage(e, "delay_us '%s' is not in [0, 1e9]", value);
        return true;
    }
    const char *near = str_suggest_list(key, sizeof keys / sizeof *keys, keys);
    return err_usage(e, "unknown option '%s' (%s%s)", key,
                     near ? "did you mean " : "there are seed, ",
                     near ? near : "invalid, delay_us, statistics, power");
}

// Parses NAME[:key=value]..., and cuts the text up.
static bool parse_spec(struct synthetic *s, char *text, struct err *e)
{
    enum { COUNT = sizeof landscapes / sizeof *landscapes };
    char *option = strchr(text, ':');
    int i = 0;
    if (option)
        *option++ = '\0';
    while (i < COUNT && !str_equal(text, landscapes[i]))
        i++;
    if (i == COUNT) {
        const char *near = str_suggest_list(text, COUNT, landscapes);
        return err_usage(e, "unknown landscape '%s' (%s%s)", text,
                         near ? "did you mean " : "there are ",
                         near ? near : "bowl, rugged, machine, trap");
    }
    s->landscape = (enum landscape)i;
    while (option) {
        char *next = strchr(option, ':');
        if (next)
            *next++ = '\0';
        char *value = strchr(option, '=');
        if (!value)
            return err_usage(e, "option '%s' has no value (it is written key=value)", option);
        *value++ = '\0';
        if (!set_option(s, option, value, e))
            return false;
        option = next;
    }
    return true;
}

// Parses a spec, and names it in the error.
static bool read_spec(struct synthetic *s, const char *spec, struct err *e)
{
    char *text = mem_strdup(spec);
    bool ok = parse_spec(s, text, e) ||
              (e && err_prefix(e, "source 'synthetic:%s'", spec)); // always false
    free(text);
    return ok;
}

bool synthetic_check(const char *spec, struct err *e)
{
    struct synthetic s = {0};
    return read_spec(&s, spec, e);
}

bool synthetic_has_statistics(const char *spec)
{
    struct synthetic s = {0};
    return read_spec(&s, spec, NULL) && s.has_statistics;
}

bool synthetic_tells_power(const char *spec)
{
    struct synthetic s = {0};
    return read_spec(&s, spec, NULL) && s.tells_power;
}

void synthetic_set_objective(struct source *source, int objective)
{
    ((struct synthetic *)source)->objective = objective;
}

struct source *synthetic_create(const char *spec, const struct space *space, double flop,
                                int workers, struct err *e)
{
    static const struct source_kind kind = {.name = "synthetic",
                                            DELAYED_KIND,
                                            .answer = synthetic_answer,
                                            .destroy = synthetic_destroy};
    struct synthetic *s = mem_zero(1, sizeof *s);
    delayed_init(&s->delayed, &kind, workers);
    s->space = space;
    s->flop = flop;
    char *text = mem_strdup(spec);
    bool ok = parse_spec(s, text, e);
    free(text);
    if (ok && s->landscape != LANDSCAPE_MACHINE)
        ok = !s->has_statistics || err_usage(e, "only landscape machine has statistics");
    else if (ok && !space->nest)
        ok = err_set(e, "'%s' declares no loop nest, by which the machine goes", space->name);
    else if (ok) {
        s->point = mem_zero(1, sizeof *s->point);
        nest_point_init(s->point, space->nest);
    }
    struct verdict v = {.legal = false};
    struct rng r;
    rng_seed(&r, s->seed);
    // Hides the optimum at the first sample that is legal. Where none is, the search finds that
    // out.
    for (int i = 0; ok && !v.legal && i < HIDDEN_TRIES; i++) {
        space_sample(space, &r, &s->hidden);
        ok = space_judge(space, NULL, &s->hidden, &v, e);
    }
    if (!ok) {
        err_prefix(e, "source 'synthetic:%s'", spec);
        synthetic_destroy(&s->delayed.base);
        return NULL;
    }
    if (s->landscape == LANDSCAPE_TRAP)
        create_trap(&s->trap, space, &s->hidden, s->seed);
    return &s->delayed.base;
}
