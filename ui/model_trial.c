#include "model_inside.h"

#include "base/median.h"
#include "engine/stored.h"
#include "engine/speed.h"
#include "report/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SAMPLES 256

// --- from the row ---

static void read_samples(const char *json, struct trial *t)
{
    double sample[MOST_SAMPLES];
    int count = str_to_reals(json, sample, MOST_SAMPLES);
    t->samples = count;
    if (count < 2)
        return;
    double median = median_of(sample, count);
    t->spread = median > 0 ? (sample[count - 1] - sample[0]) / median : 0;
}

static void copy_text(char *out, size_t size, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    if (length >= size)
        length = size - 1;
    if (length)
        memcpy(out, text, length);
    out[length] = '\0';
}

static void read_statistics(const char *json, struct trial *t)
{
    struct statistics told;
    for (int k = 0; k < STATISTIC_KIND_COUNT; k++)
        t->statistic[k] = NAN;
    if (!json)
        return;
    told_parse(json, &told);
    for (int k = 0; k < STATISTIC_KIND_COUNT; k++)
        if (!statistics_total(&told, (enum statistic_kind)k, &t->statistic[k]))
            t->statistic[k] = NAN;
}

static void read_clocks(const struct trial_record *r, struct trial *t)
{
    struct str text = {0};
    told_add_clocks(r->clocks, r->drift, &text);
    copy_text(t->clocks, sizeof t->clocks, str_text(&text));
    t->is_unsteady = r->drift > 0 || strstr(t->clocks, "held back");
    str_finish(&text);
}

void trial_decode(const struct opened *o, const struct trial_record *r, struct trial *out)
{
    *out = (struct trial){
        .ask = r->ask,
        .number = r->number,
        .generation = r->generation,
        .early_stopped = r->early_stopped,
        .compile_s = r->compile_s,
        .pipeline_s = r->pipeline_s,
        .device_s = r->device_s,
        .elapsed_s = r->elapsed_s,
        .finished = r->finished,
        .worker = r->worker,
    };
    if (r->outcome != OUTCOME_OPEN) {
        out->outcome = r->outcome;
        out->told = r->told;
    }
    out->seconds = out->told && out->outcome == OUTCOME_OK ? r->seconds : 0;
    if (o->space && r->key)
        out->has_config = config_parse_key(o->space, r->key, &out->config, NULL);
    if (!out->has_config)
        out->config = (struct config){0};
    copy_text(out->phase, sizeof out->phase, r->phase);
    copy_text(out->reason, sizeof out->reason, r->reason);
    read_samples(r->samples, out);
    read_statistics(r->statistics, out);
    read_clocks(r, out);
    out->has_origin = r->origin != NULL;
    str_to_ints(r->origin, out->origin, SPACE_MAX_PARAMS);
}

bool trial_read_race(struct store *s, int64_t session, struct trial *t)
{
    struct retime_record race;
    struct arena a;
    if (!t->told || t->outcome != OUTCOME_OK)
        return true;
    arena_init(&a);
    bool ok = store_get_race(s, session, t->ask, &a, &race, NULL);
    t->raced = ok && race.ask;
    if (t->raced) {
        t->race_seconds = race.seconds;
        t->race_verified = race.verified;
    }
    arena_finish(&a);
    return ok;
}

// --- what can be said of one ---

double seconds_speed(const struct model *m, double seconds)
{
    return seconds > 0 ? m->open.record.flop / seconds : 0;
}

struct rank trial_rank(const struct trial *t)
{
    if (t->raced && !t->race_verified)
        return (struct rank){0, false};
    return (struct rank){t->raced ? t->race_seconds : t->seconds, t->raced};
}

bool rank_is_better(struct rank x, struct rank y)
{
    if (x.seconds <= 0 || y.seconds <= 0)
        return x.seconds > 0 && y.seconds <= 0;
    return x.raced != y.raced ? x.raced : x.seconds < y.seconds;
}

const char *model_unit(const struct model *m, double *per_flops)
{
    double best = seconds_speed(m, m->open.record.best_seconds);
    if (speed_is_relative(&m->open.record)) {
        *per_flops = 100 / RECORDED_ONE;
        return "%";
    }
    bool tera = best >= 1e12, mega = best > 0 && best < 1e9;
    const char *name;
    if (m->open.record.unit) {
        *per_flops = 1 / speed_unit(&m->open.record, best, &name);
        return name;
    }
    *per_flops = tera ? 1e-12 : mega ? 1e-6 : 1e-9;
    return tera ? "TFLOPS" : mega ? "MFLOPS" : "GFLOPS";
}

// The place of an order among all, in the order of the first item, then the second ...
static double order_position(const int32_t *item, int count)
{
    double place = 0, orders = 1;
    for (int i = 0; i < count; i++) {
        int smaller = 0;
        for (int k = i + 1; k < count; k++)
            smaller += item[k] < item[i];
        place = place * (count - i) + smaller;
        orders *= count - i;
    }
    return orders > 1 ? place / (orders - 1) : 0;
}

double param_position(const struct param *p, const int32_t *v, int slot)
{
    switch (p->kind) {
    case PARAM_FACTORIZATION:
        return p->product > 1 && v[slot] > 1 ? log(v[slot]) / log(p->product) : 0;
    case PARAM_PERMUTATION: return order_position(v, p->width);
    default: return p->count > 1 ? (double)v[0] / (p->count - 1) : 0;
    }
}
