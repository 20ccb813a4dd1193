#include "base/mem.h"
#include "base/str.h"
#include "trial/flying.h"
#include "trial/machine.h"
#include "trial/trap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void tell(const struct synthetic *s, const struct config *c, struct statistics *out)
{
    nest_evaluate(s->space->nest, s->space, c, s->point);
    machine_statistics(s->point, out);
}

static struct trial_result measure(const struct synthetic *s, const struct trial_request *r)
{
    struct trial_result result = {.ticket = r->ticket, .count = r->count};
    for (int i = 0; i < r->count; i++) {
        enum outcome o = outcome_of(s, &r->config[i]);
        if (r->only_compiles && is_compiled(o))
            o = OUTCOME_OK;
        result.outcome[i] = o;
        if (s->tells && is_compiled(o))
            tell(s, &r->config[i], &result.statistics[i]);
        if (o == OUTCOME_OK && !r->only_compiles) {
            result.seconds[i] = s->flop / (quality_of(s, &r->config[i]) * 1e12);
            result.samples[i] = (struct samples){.seconds = {result.seconds[i]}, .count = 1};
        } else if (o != OUTCOME_OK) {
            result.phase[i] = flying_phase(o);
            snprintf(result.reason[i], sizeof result.reason[i], "the landscape says %s",
                     outcome_name(o));
        }
    }
    return result;
}

static void synthetic_answer(const struct source *source, const struct trial_request *r,
                             struct trial_result *out, double *seconds)
{
    const struct synthetic *s = (const struct synthetic *)source;
    double us = 0;
    for (int i = 0; i < r->count; i++)
        us += s->delay_us * (0.5 + config_real(s, PURPOSE_DELAY, &r->config[i]));
    *out = measure(s, r);
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
    if (ok && s->landscape == LANDSCAPE_TRAP)
        trap_init(&s->trap, space, &s->hidden, s->seed);
    if (!ok) {
        err_prefix(e, "source 'synthetic:%s'", spec);
        synthetic_destroy(&s->flying.base);
        return NULL;
    }
    return &s->flying.base;
}
