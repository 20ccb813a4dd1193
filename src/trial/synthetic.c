#include "trial/synthetic.h"

#include "base/mem.h"
#include "base/str.h"
#include "space/space.h"
#include "trial/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// What a statement costs and how it is launched.
struct cost {
    double groups, threads;
    double cycles; // issued by a warp, all executions
    double bytes;  // to and from memory, by all
};

static double operations(const struct nest_point *p, const struct nest_statement *s)
{
    const double *v = p->value;
    return v[s->add] + v[s->multiply] + v[s->compare] + v[s->integer] +
           8 * (v[s->divide] + v[s->special]);
}

// Lines of memory that a warp's access is spread over.
static double lines(const struct nest_point *p, int statement, int access, double bytes)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    const int *path = nest_path(p, statement);
    const double *stride = nest_strides(p, statement, access);
    double apart = 0;
    for (int i = 0; i < s->loop_count; i++)
        if (p->nest->loop[path[i]].kind == NEST_THREAD_X && p->length[path[i]] > 1)
            apart = fabs(stride[i]) * bytes;
    return fmin(WARP, fmax(1, apart * WARP / LINE_BYTES));
}

static void add_access(const struct nest_point *p, int statement, int access, double executions,
                       struct cost *c)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    const struct nest_buffer *b = &p->nest->buffer[s->access[access].buffer];
    double requests = executions / nest_product(p, statement, NEST_VECTORIZED, NEST_VECTORIZED);
    if (b->memory == NEST_SHARED)
        c->cycles += requests;
    if (b->memory != NEST_GLOBAL)
        return;
    c->cycles += requests * MEMORY_CYCLES * lines(p, statement, access, b->bytes);
    const int *path = nest_path(p, statement);
    int count = 0;
    for (int i = 0; i < p->nest->statement[statement].loop_count; i++)
        count += p->nest->loop[path[i]].kind > NEST_BLOCK_Z;
    c->bytes += c->groups * b->bytes * nest_touched(p, statement, access, count);
}

static struct cost cost_of(const struct nest_point *p, int statement)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    double executions = nest_executions(p, statement);
    struct cost c = {
        .groups = nest_product(p, statement, NEST_BLOCK_X, NEST_BLOCK_Z),
        .threads = nest_product(p, statement, NEST_THREAD_X, NEST_THREAD_Z),
        .cycles = executions * operations(p, s) / 2, // a multiplication and an addition at once
    };
    for (int a = 0; a < s->access_count; a++)
        add_access(p, statement, a, executions, &c);
    return c;
}

static double registers_of(const struct nest_point *p)
{
    return OWN_REGISTERS + nest_memory_bytes(p, NEST_REGISTERS) / 4;
}

// Workgroups of so many threads that a core holds at once; below 1: none fits.
static double fitting(const struct nest_point *p, double threads)
{
    double by_registers = REGISTERS / (threads * registers_of(p));
    double by_shared = SHARED_BYTES / fmax(1, nest_memory_bytes(p, NEST_SHARED));
    double most = fmin(fmin(MOST_GROUPS, THREADS / threads), fmin(by_registers, by_shared));
    return threads > MOST_THREADS ? 0 : most < 1 ? most : floor(most);
}

double machine_quality(const struct nest_point *p)
{
    double cycles = 0, bytes = 0;
    for (int s = 0; s < p->nest->statement_count; s++)
        if (p->present[s]) {
            struct cost c = cost_of(p, s);
            // Of a statement alone, all its workgroups. What does not fit spills and waits.
            double warps = ceil(c.threads / WARP), groups = fitting(p, c.threads);
            double spilled = groups < 1 ? 1 + 8 * (1 - groups) : 1;
            double hidden = fmin(1, fmax(1, groups) * warps / WARPS_TO_HIDE);
            cycles += (ceil(c.groups / CORES) * warps * c.cycles * spilled / (ISSUED * hidden));
            bytes += c.bytes;
        }
    double moving = bytes / (CORES * CORE_BANDWIDTH);
    // Floating-point operations; of a kernel that only moves elements, these.
    double flops = nest_flops(p), moved = 0;
    for (int s = 0; s < p->nest->statement_count; s++)
        moved = fmax(moved, nest_all_executions(p, s));
    double ideal = (flops > 0 ? flops : moved) / (2 * CORES * ISSUED * WARP);
    double quality = ideal / (fmax(cycles, moving) + 0.2 * fmin(cycles, moving));
    return fmin(1, fmax(WORST, quality));
}

void machine_statistics(const struct nest_point *p, struct statistics *out)
{
    double threads = 1, instructions = 0;
    for (int s = 0; s < p->nest->statement_count; s++)
        if (p->present[s]) {
            struct cost c = cost_of(p, s);
            threads = fmax(threads, c.threads);
            instructions += c.cycles;
        }
    double most = floor(REGISTERS / threads), wanted = ceil(registers_of(p));
    double groups = fmax(1, fitting(p, threads)), warps = ceil(threads / WARP);
    statistics_take(out, "Register Count", fmin(wanted, most));
    statistics_take(out, "Spill Count", fmax(0, wanted - most));
    statistics_take(out, "Shared Memory Size", nest_memory_bytes(p, NEST_SHARED));
    statistics_take(out, "Max Warps/SM", fmin(groups * warps, THREADS / WARP));
    statistics_take(out, "Instruction Count", ceil(instructions));
}

// A landscape with a trap that is made up: nearly all of it leads to ends that are not the best.
//
// Three ends have quality TRAP_END; the optimum, of quality 1, differs from each of them in
// TRAP_APART parameters. Around each end quality falls with the distance, around the optimum so
// steeply that the steepest climb by single moves leads there from TRAP_SHARE of all points only.
// A model of what is known says that the optimum's values are bad, for so they are near the ends.

#define TRAP_ENDS 3

#define TRAP_APART 5 // or all parameters, of a space that has fewer

#define TRAP_END 0.83

#define TRAP_SHARE 0.02

struct trap {
    const struct space *space;
    struct config optimum, end[TRAP_ENDS];
    double weight[SPACE_MAX_PARAMS]; // what each counts in a distance, at most; their sum is 1
    double step[SPACE_MAX_PARAMS];   // the same for one step of its graph
    double steepness;                // around the optimum
};

double trap_quality(const struct trap *t, const struct config *c); // in (0, 1]

#define FALL 0.7 // of quality from an end to where every parameter is far off

enum { SAMPLES = 1000, TRIES = 1000 };

// About how many steps the farthest values are apart.
static int diameter(const struct param *p)
{
    switch (p->kind) {
    case PARAM_CATEGORICAL: return 1;
    case PARAM_PERMUTATION: return p->width - 1;
    case PARAM_FACTORIZATION: {
        int steps = 0;
        for (int i = 0; i < p->prime_count; i++)
            steps += p->exponent[i];
        return steps;
    }
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
    return TRAP_END - FALL * nearest;
}

double trap_quality(const struct trap *t, const struct config *c)
{
    return fmax(quality_by_ends(t, c), 1 - t->steepness * distance(t, c, &t->optimum));
}

// Another value of every one of TRAP_APART parameters that have one.
static void move_away(const struct space *s, struct rng *r, struct config *c)
{
    int order[SPACE_MAX_PARAMS], moved = 0;
    for (int i = 0; i < s->param_count; i++) {
        int k = (int)rng_below(r, (uint64_t)i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    for (int i = 0; i < s->param_count && moved < TRAP_APART; i++) {
        const struct param *p = &s->param[order[i]];
        const struct config old = *c;
        for (int n = 0; n < TRIES && p->size > 1 && config_equal(c, &old); n++) {
            param_sample(p, r, c->slot + p->offset);
            space_settle(s, c);
        }
        moved += p->size > 1;
    }
}

static void place_end(struct trap *t, struct rng *r, struct config *end)
{
    for (int n = 0; n < TRIES; n++) {
        struct verdict v;
        *end = t->optimum;
        move_away(t->space, r, end);
        if (space_judge(t->space, NULL, end, &v, NULL) && v.legal)
            return;
    }
}

// Of `count` points those stay, in front, whose climbs lead to the optimum. Returns how many.
static int keep_free(const struct trap *t, struct config *from, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        // Where the steepest climb by single steps leads.
        struct config c = from[i];
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
        struct config end = c;
        if (config_equal(&end, &t->optimum))
            from[kept++] = from[i];
    }
    return kept;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

enum { HIDDEN_TRIES = 100000, UNREACHABLE_DISTANCE = 1000 };

// What a hash is for; each gives independent numbers from the same seed and configuration.
enum purpose { PURPOSE_HIDDEN, PURPOSE_ROUGHNESS, PURPOSE_INVALID, PURPOSE_OUTCOME, PURPOSE_DELAY };

enum landscape { LANDSCAPE_BOWL, LANDSCAPE_RUGGED, LANDSCAPE_MACHINE, LANDSCAPE_TRAP };
static const char *const landscapes[] = {"bowl", "rugged", "machine", "trap"};

struct synthetic {
    struct flying flying; // first: a source is a struct synthetic
    const struct space *space;
    enum landscape landscape;
    struct nest_point *point; // of LANDSCAPE_MACHINE, for its evaluations
    uint64_t seed;
    double invalid, delay_us, flop;
    bool tells; // statistics, as a driver does
    struct config hidden;
    struct trap trap; // of LANDSCAPE_TRAP
};

// Uniform in [0, 1), a function of the seed, the purpose, and `count` numbers.
static double hash_real(uint64_t seed, enum purpose purpose, const int32_t *number, int count)
{
    struct {
        uint64_t seed, purpose;
        int32_t number[SPACE_MAX_SLOTS + 1];
    } key = {.seed = seed, .purpose = purpose};
    memcpy(key.number, number, (size_t)count * sizeof *number);
    return (double)(hash_bytes(&key, sizeof key) >> 11) * 0x1p-53;
}

static double config_real(const struct synthetic *s, enum purpose purpose, const struct config *c)
{
    return hash_real(s->seed, purpose, c->slot, SPACE_MAX_SLOTS);
}

// One parameter's share of the roughness, in [0, 1): a hash of its value and those of the
// parameters before and after it, as in an NK landscape with K = 2 (Kauffman and Levin 1987).
static double roughness_of(const struct synthetic *s, const struct config *c, int p)
{
    const struct space *space = s->space;
    int32_t number[SPACE_MAX_SLOTS + 1] = {p};
    int count = 1, n = space->param_count;
    for (int i = n > 1 ? p - 1 : p; i <= (n > 2 ? p + 1 : p); i++) {
        const struct param *param = &space->param[(i + n) % n];
        for (int k = 0; k < param->width && count <= SPACE_MAX_SLOTS; k++)
            number[count++] = c->slot[param->offset + k];
    }
    return hash_real(s->seed, PURPOSE_ROUGHNESS, number, count);
}

// 1 at the hidden point and at most 0.8 elsewhere. Next to it the slope is steep; far away a step
// changes the bowl by a few percent and the roughness by much more, which makes the local optima.
static double quality_of(const struct synthetic *s, const struct config *c)
{
    if (s->landscape == LANDSCAPE_MACHINE) {
        nest_evaluate(s->space->nest, s->space, c, s->point);
        return machine_quality(s->point);
    }
    if (s->landscape == LANDSCAPE_TRAP)
        return trap_quality(&s->trap, c);
    int distance = space_distance(s->space, c, &s->hidden);
    if (distance == 0)
        return 1;
    double bowl = 1 / (1 + (distance < 0 ? UNREACHABLE_DISTANCE : distance) / 4.0);
    if (s->landscape == LANDSCAPE_BOWL)
        return bowl;
    double roughness = 0;
    for (int p = 0; p < s->space->param_count; p++)
        roughness += roughness_of(s, c, p);
    return bowl * (0.1 + 0.9 * roughness / s->space->param_count);
}

static enum outcome outcome_of(const struct synthetic *s, const struct config *c)
{
    static const enum outcome failures[] = {OUTCOME_COMPILE, OUTCOME_DRIVER, OUTCOME_TIMEOUT,
                                            OUTCOME_CRASH,   OUTCOME_LOST,   OUTCOME_WRONG};
    enum { COUNT = sizeof failures / sizeof *failures };
    if (config_equal(c, &s->hidden) || config_real(s, PURPOSE_INVALID, c) >= s->invalid)
        return OUTCOME_OK;
    return failures[(int)(config_real(s, PURPOSE_OUTCOME, c) * COUNT)];
}

double synthetic_quality(const struct source *source, const struct config *c, enum outcome *o)
{
    const struct synthetic *s = (const struct synthetic *)source;
    if (o)
        *o = outcome_of(s, c);
    return quality_of(s, c);
}

static bool is_compiled(enum outcome o)
{
    return o != OUTCOME_COMPILE && o != OUTCOME_DRIVER;
}

static void synthetic_answer(const struct source *source, const struct trial_request *r,
                             struct trial_result *out, double *seconds)
{
    const struct synthetic *s = (const struct synthetic *)source;
    double us = 0;
    for (int i = 0; i < r->count; i++)
        us += s->delay_us * (0.5 + config_real(s, PURPOSE_DELAY, &r->config[i]));
    struct trial_result result = {.ticket = r->ticket, .count = r->count};
    for (int i = 0; i < r->count; i++) {
        enum outcome o = outcome_of(s, &r->config[i]);
        if (r->only_compiles && is_compiled(o))
            o = OUTCOME_OK;
        result.outcome[i] = o;
        if (s->tells && is_compiled(o)) {
            nest_evaluate(s->space->nest, s->space, &r->config[i], s->point);
            machine_statistics(s->point, &result.statistics[i]);
        }
        if (o == OUTCOME_OK && !r->only_compiles) {
            result.seconds[i] = s->flop / (quality_of(s, &r->config[i]) * 1e12);
            result.samples[i] = (struct samples){.seconds = {result.seconds[i]}, .count = 1};
        } else if (o != OUTCOME_OK) {
            result.phase[i] = flying_phase(o);
            snprintf(result.reason[i], sizeof result.reason[i], "the landscape says %s",
                     outcome_name(o));
        }
    }
    *out = result;
    *seconds = us * 1e-6;
}

static void synthetic_destroy(struct source *source)
{
    struct synthetic *s = (struct synthetic *)source;
    if (s->point)
        nest_point_finish(s->point);
    free(s->point);
    flying_finish(source);
    free(source);
}

static const struct source_kind synthetic_kind = {
    .name = "synthetic",
    .needs_jobs = false,
    .deterministic = true,
    .room = flying_room,
    .submit = flying_submit,
    .answer = synthetic_answer,
    .fds = flying_fds,
    .wait_ms = flying_wait_ms,
    .step = flying_step,
    .collect = flying_collect,
    .destroy = synthetic_destroy,
};

static bool set_option(struct synthetic *s, const char *key, const char *value, struct err *e)
{
    static const char *const keys[] = {"seed", "invalid", "delay_us", "statistics"};
    int64_t seed, tells;
    if (str_equal(key, "statistics")) {
        if (!str_to_int(value, 0, 1, &tells))
            return err_usage(e, "statistics '%s' is not 0 or 1", value);
        s->tells = tells;
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
                     near ? near : "invalid, delay_us, statistics");
}

static bool set_name(struct synthetic *s, const char *name, struct err *e)
{
    enum { COUNT = sizeof landscapes / sizeof *landscapes };
    for (int i = 0; i < COUNT; i++)
        if (str_equal(name, landscapes[i])) {
            s->landscape = (enum landscape)i;
            return true;
        }
    const char *near = str_suggest_list(name, COUNT, landscapes);
    return err_usage(e, "unknown landscape '%s' (%s%s)", name,
                     near ? "did you mean " : "there are ",
                     near ? near : "bowl, rugged, machine, trap");
}

static bool build_machine(struct synthetic *s, struct err *e)
{
    if (s->landscape != LANDSCAPE_MACHINE)
        return !s->tells || err_usage(e, "only landscape machine has statistics");
    if (!s->space->nest)
        return err_set(e, "'%s' declares no loop nest, by which the machine goes", s->space->name);
    s->point = mem_zero(1, sizeof *s->point);
    nest_point_init(s->point, s->space->nest);
    return true;
}

// `text` is cut up: NAME[:key=value]...
static bool parse_spec(struct synthetic *s, char *text, struct err *e)
{
    char *option = strchr(text, ':');
    if (option)
        *option++ = '\0';
    if (!set_name(s, text, e))
        return false;
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

// The optimum must be a point that a search may ask for: the first sample that holds all
// constraints.
static bool hide_point(struct synthetic *s, struct err *e)
{
    struct rng r;
    rng_seed(&r, s->seed);
    for (int i = 0; i < HIDDEN_TRIES; i++) {
        struct verdict v;
        space_sample(s->space, &r, &s->hidden);
        if (!space_judge(s->space, NULL, &s->hidden, &v, e))
            return false;
        if (v.legal)
            return true;
    }
    return true; // no point seems to be legal: whoever searches will find out
}

bool synthetic_tells(const char *spec)
{
    struct synthetic s = {0};
    char *text = mem_strdup(spec);
    bool tells = parse_spec(&s, text, NULL) && s.tells;
    free(text);
    return tells;
}

struct source *synthetic_create(const char *spec, const struct space *space, double flop,
                                int workers, struct err *e)
{
    struct synthetic *s = mem_zero(1, sizeof *s);
    flying_init(&s->flying, &synthetic_kind, workers);
    s->space = space;
    s->flop = flop;
    char *text = mem_strdup(spec);
    bool ok = parse_spec(s, text, e) && build_machine(s, e) && hide_point(s, e);
    free(text);
    if (ok && s->landscape == LANDSCAPE_TRAP) {
        // Where the ends lie is a matter of `seed` alone. `space` outlives the trap.
        uint64_t seed = s->seed;
        double sum = 0;
        struct rng r;
        rng_seed(&r, seed);
        s->trap = (struct trap){.space = space, .optimum = s->hidden};
        for (int i = 0; i < space->param_count; i++)
            sum += s->trap.weight[i] = 0.5 + rng_real(&r);
        for (int i = 0; i < space->param_count; i++)
            s->trap.step[i] = (s->trap.weight[i] /= sum) / fmax(diameter(&space->param[i]), 1);
        for (int i = 0; i < TRAP_ENDS; i++)
            place_end(&s->trap, &r, &s->trap.end[i]);
        // The steeper, the fewer lead there.
        struct config *from = mem_zero(SAMPLES, sizeof *from);
        for (int i = 0; i < SAMPLES; i++)
            space_sample(s->trap.space, &r, &from[i]);
        // With this steepness so many of the points are on the slope of the optimum, and not of an
        // end. More climb it: from next to it, too.
        double *foot = mem_zero((size_t)SAMPLES, sizeof *foot);
        for (int i = 0; i < SAMPLES; i++)
            foot[i] = (1 - quality_by_ends(&s->trap, &from[i])) /
                      fmax(distance(&s->trap, &from[i], &s->trap.optimum), 1e-9);
        qsort(foot, (size_t)SAMPLES, sizeof *foot, by_value);
        double at = foot[(int)(SAMPLES * (1 - TRAP_SHARE))];
        free(foot);
        s->trap.steepness = at;
        for (int left = SAMPLES; (left = keep_free(&s->trap, from, left)) > SAMPLES * TRAP_SHARE;)
            s->trap.steepness *= 1.02;
        free(from);
    }
    if (!ok) {
        err_prefix(e, "source 'synthetic:%s'", spec);
        synthetic_destroy(&s->flying.base);
        return NULL;
    }
    return &s->flying.base;
}
