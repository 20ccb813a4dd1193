#include "engine/sample.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os.h"
#include "base/str.h"
#include "engine/devices.h"
#include "space/legal.h"
#include "trial/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRAWS          20000 // for one that is valid, before the rules are used to find one
#define MOST_DRAWS     20000 // in a row that give nothing new that is valid
#define MOST_COMPILERS 16
#define MOST_RUNNERS   2 // that run kernels: only one of them at a time, while the other compiles
#define MOST_FDS       (2 * MOST_COMPILERS)

struct run {
    const struct sample_options *options;
    struct sample *found;
    struct source *pool;
    struct rng rng;
    struct config_set seen;
    struct legal *legal; // NULL: legal points are found soon
    int64_t open, begin_ns;
    bool is_exhausted; // no further configuration is found
};

static void log_line(void *context, int worker, const char *line)
{
    static const char warning[] = "tilewalk: warning: ", message[] = "validation: ";
    struct run *r = context;
    (void)worker;
    if (!str_starts(line, warning)) {
        if (r->options->verbose)
            fprintf(stderr, "%s\n", line);
        return;
    }
    r->found->messages += str_starts(line + sizeof warning - 1, message);
    log_warning("%s", line + sizeof warning - 1);
}

// --- results ---

static void add_value(struct sample_column *c, double value)
{
    MEM_GROW(c->value, c->count, c->capacity);
    c->value[c->count++] = value;
}

static void add_refusal(struct run *r, const struct trial_result *result)
{
    struct sample *s = r->found;
    const char *reason = result->reason[0];
    struct config c;
    struct str example = {0};
    for (int i = 0; i < s->refusals; i++)
        if (s->refusal[i].outcome == result->outcome[0] &&
            str_equal(s->refusal[i].reason, reason)) {
            s->refusal[i].count++;
            return;
        }
    MEM_GROW(s->refusal, s->refusals, s->refusal_capacity);
    config_set_get(&r->seen, (int)result->ticket, &c);
    config_add_json(script_space(r->options->script), &c, &example);
    s->refusal[s->refusals++] =
        (struct sample_refusal){mem_strdup(reason), str_take(&example), result->outcome[0], 1};
}

static void take(struct run *r, const struct trial_result *result)
{
    struct sample *s = r->found;
    r->open--;
    s->outcome[result->outcome[0]]++;
    if (result->outcome[0] != OUTCOME_OK) {
        add_refusal(r, result);
        return;
    }
    s->compiled++;
    add_value(&s->build, result->pipeline_s);
    uint32_t most_spills = r->options->device->limits.spills;
    double spills;
    for (int i = 0; i < result->statistics[0].count; i++) {
        const char *name = result->statistics[0].item[i].name;
        int at = 0;
        while (at < s->statistics && strcmp(s->statistic[at].name, name) != 0)
            at++;
        if (at == STATISTICS_MOST)
            continue;
        if (at == s->statistics)
            snprintf(s->statistic[s->statistics++].name, STATISTICS_NAME_SIZE, "%s", name);
        add_value(&s->statistic[at], result->statistics[0].item[i].value);
    }
    if (statistics_total(&result->statistics[0], STATISTIC_SPILLS, &spills)) {
        s->told++;
        s->spilled += spills > 0;
        s->left_out += most_spills && spills > most_spills;
    }
}

static int by_count(const void *a, const void *b)
{
    const struct sample_refusal *x = a, *y = b;
    return (x->count < y->count) - (x->count > y->count);
}

double sample_quantile(const struct sample_column *c, double share)
{
    return c->count ? c->value[(int64_t)ceil(share * (double)c->count) - 1] : NAN;
}

// --- the run ---

bool sample_draw(const struct script *s, const struct limits *l, struct rng *r, struct config *c,
                 struct err *e)
{
    struct verdict v = {0};
    struct legal *legal;
    for (int i = 0; i < DRAWS && !v.legal; i++) {
        space_sample(script_space(s), r, c);
        if (!space_judge(script_space(s), l, c, &v, e))
            return false;
    }
    if (v.legal || !legal_open_sparse(script_space(s), l, &legal, e))
        return v.legal;
    v.legal = legal_sample(legal, script_space(s), r, c);
    legal_destroy(legal);
    return v.legal || err_set(e, "no legal point in %d draws (the last: %s)", DRAWS, v.reason);
}

// Draws the next valid configuration that was not drawn yet; sets is_exhausted where there seems to
// be none.
static bool draw(struct run *r, struct config *c, struct err *e)
{
    const struct space *space = script_space(r->options->script);
    for (int i = 0; i < MOST_DRAWS; i++) {
        struct verdict v;
        bool is_new;
        if (!legal_sample(r->legal, space, &r->rng, c))
            break;
        if (!space_judge(space, &r->options->device->limits, c, &v, e))
            return false;
        if (v.legal && config_set_add(&r->seen, c, &is_new) >= 0 && is_new)
            return true;
    }
    r->is_exhausted = true;
    return true;
}

static bool submit_some(struct run *r, struct err *e)
{
    const struct sample_options *o = r->options;
    bool runs = o->runs;
    while (!r->is_exhausted && r->found->asked < o->count && source_room(r->pool) > 0 &&
           (o->seconds <= 0 || (double)(os_now_ns() - r->begin_ns) * 1e-9 < o->seconds)) {
        struct trial_request request = {.count = 1,
                                        .only_compiles = !runs,
                                        .race = runs,
                                        .known_good = runs,
                                        .accesses = ACCESSES_OF_ALL};
        if (!draw(r, &request.config[0], e))
            return false;
        if (r->is_exhausted)
            return true;
        if (!script_render(o->script, &request.config[0], &request.job[0], e))
            return false;
        request.ticket = r->found->asked++; // its index in `seen`
        source_submit(r->pool, &request);
        r->open++;
    }
    return true;
}

static bool work(struct run *r, struct err *e)
{
    struct trial_result result;
    struct pollfd fds[MOST_FDS];
    bool ok = submit_some(r, e);
    while (ok && r->open > 0) {
        ok = source_step(r->pool, e);
        while (ok && source_collect(r->pool, &result))
            take(r, &result);
        ok = ok && submit_some(r, e);
        if (ok && r->open > 0)
            poll(fds, (nfds_t)source_fds(r->pool, fds, MOST_FDS), source_wait_ms(r->pool));
    }
    return ok;
}

bool sample_take(const struct sample_options *o, struct sample *out, struct err *e)
{
    struct run r = {.options = o,
                    .found = out,
                    .begin_ns = os_now_ns(),
                    .seen = {.slots = script_space(o->script)->slots}};
    *out = (struct sample){0};
    rng_seed(&r.rng, o->seed);
    const struct gpu_info *d = r.options->device;
    const struct script *script = r.options->script;
    char id[33];
    gpu_identity(d, id);
    int cores = os_cores(), most = r.options->runs ? MOST_RUNNERS : MOST_COMPILERS;
    struct pool_options options = devices_pool(d, script);
    options.device_id = id;
    options.validate = o->validate;
    options.workers = cores < most ? cores : most;
    options.only_compiles = !o->runs;
    options.seed = o->seed;
    options.fault = o->fault;
    options.log = log_line;
    options.log_context = &r;
    r.pool = pool_create(&options, e);
    bool ok =
        r.pool && legal_open_sparse(script_space(script), &d->limits, &r.legal, e) && work(&r, e);
    legal_destroy(r.legal);
    source_destroy(r.pool);
    config_set_finish(&r.seen);
    if (out->refusals)
        qsort(out->refusal, (size_t)out->refusals, sizeof *out->refusal, by_count);
    median_sort(out->build.value, out->build.count);
    for (int i = 0; i < out->statistics; i++)
        median_sort(out->statistic[i].value, out->statistic[i].count);
    return ok;
}

void sample_finish(struct sample *s)
{
    for (int i = 0; i < s->refusals; i++) {
        free(s->refusal[i].reason);
        free(s->refusal[i].example);
    }
    for (int i = 0; i < s->statistics; i++)
        free(s->statistic[i].value);
    free(s->refusal);
    free(s->build.value);
    *s = (struct sample){0};
}
