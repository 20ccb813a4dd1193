#include "network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- operators ---

// The running time of the network now, that of its last round at least.
static double network_ran(const struct model *m, double unix_now)
{
    const struct opened *o = &m->open;
    const struct network_summary *n = &o->network;
    double last = n->round_count ? n->round[n->round_count - 1].elapsed_s : 0;
    return o->record.scheduler ? model_ran_seconds(m, unix_now)
                               : fmax(last, o->network_record.ran_seconds);
}

static int list_tasks(const struct model *m, double unix_now, struct network_row out[NETWORK_MOST])
{
    const struct network_summary *n = &m->open.network;
    int count = n->task_count < NETWORK_MOST ? n->task_count : NETWORK_MOST;
    double ran = network_ran(m, unix_now);
    bool runs = m->open.network_record.state == STATE_RUNNING;
    for (int i = 0; i < count; i++) {
        const struct task_summary *t = &n->task[i];
        struct network_row *row = &out[i];
        *row = (struct network_row){.session = t->task->session,
                                    .known = t->task->known_s > 0,
                                    .pinned = runs && n->pinned == t->task->position,
                                    .weight = t->weight,
                                    .uses = (int)t->task->uses,
                                    .start_s = t->start_s,
                                    .best_s = t->best_s,
                                    .trials = t->session.trials,
                                    .gain_age = t->gained_s < 0 ? -1 : fmax(0, ran - t->gained_s),
                                    .next = runs && n->now == t->task->position ? 1 : -1};
        snprintf(row->operation, sizeof row->operation, "%s", t->task->name);
        snprintf(row->shape, sizeof row->shape, "%s", t->task->title);
    }
    network_share(out, count);
    return count;
}

int network_list(const struct model *m, double unix_now, struct network_row out[NETWORK_MOST])
{
    const struct opened *o = &m->open;
    const struct curve *curve = &o->curve;
    if (!o->record.id)
        return 0;
    if (o->network_record.id)
        return list_tasks(m, unix_now, out);
    struct network_row *row = &out[0];
    *row = (struct network_row){
        .session = o->record.id, .weight = 1, .uses = 1, .gain_age = -1, .next = -1};
    const char *title = o->record.title ? o->record.title : "", *blank = strchr(title, ' ');
    snprintf(row->operation, sizeof row->operation, "%.*s", (int)strcspn(title, " "), title);
    snprintf(row->shape, sizeof row->shape, "%s", blank ? blank + 1 : "");
    row->trials = o->record.trials;
    row->best_s = o->record.best_ask ? o->record.best_seconds : 0;
    if (curve->count) {
        double age = model_ran_seconds(m, unix_now) - curve->step[curve->count - 1].elapsed_s;
        row->start_s = curve->step[0].seconds;
        row->gain_age = age > 0 ? age : 0;
    }
    if (o->state == STATE_RUNNING)
        row->next = 1;
    network_share(out, 1);
    return 1;
}

double network_latency(const struct network_row *row, int count, bool at_start)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        double seconds = at_start ? row[i].start_s : row[i].best_s;
        if (!(seconds > 0))
            return 0;
        sum += row[i].uses * seconds;
    }
    return sum;
}

void network_share(struct network_row *row, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += row[i].uses * row[i].best_s;
    for (int i = 0; i < count; i++)
        row[i].share = sum > 0 ? row[i].uses * row[i].best_s / sum : 1.0 / count;
}

// NAN: there is none.
static double value_of(const struct network_row *r, enum network_column by)
{
    switch (by) {
    case NETWORK_USES: return r->uses;
    case NETWORK_START: return r->start_s > 0 ? r->start_s : NAN;
    case NETWORK_BEST: return r->best_s > 0 ? r->best_s : NAN;
    case NETWORK_SHARE: return r->share;
    case NETWORK_TRIALS: return (double)r->trials;
    case NETWORK_GAIN: return r->gain_age >= 0 ? r->gain_age : NAN;
    case NETWORK_WEIGHT: return r->weight;
    case NETWORK_NEXT: return r->next >= 0 ? r->next : NAN;
    default: return NAN;
    }
}

static bool comes_before(const struct network_row *a, const struct network_row *b,
                         enum network_column by, bool descending)
{
    if (by == NETWORK_OPERATION || by == NETWORK_SHAPE) {
        int order =
            by == NETWORK_SHAPE ? strcmp(a->shape, b->shape) : strcmp(a->operation, b->operation);
        return descending ? order > 0 : order < 0;
    }
    double x = value_of(a, by), y = value_of(b, by);
    if (isnan(x) || isnan(y))
        return !isnan(x);
    return descending ? x > y : x < y;
}

// By insertion: stable, and there are few.
void network_sort(struct network_row *row, int count, enum network_column by, bool descending)
{
    for (int i = 1; i < count; i++) {
        struct network_row moving = row[i];
        int at = i;
        for (; at > 0 && comes_before(&moving, &row[at - 1], by, descending) &&
               !comes_before(&row[at - 1], &moving, by, descending);
             at--)
            row[at] = row[at - 1];
        row[at] = moving;
    }
}

// --- time ---

void spending_add(struct spending *s, const struct trial *t)
{
    s->entry[s->count++ % SPENDING_MOST] = (struct spending_entry){
        .elapsed_s = t->elapsed_s,
        .compile_s = t->compile_s,
        .pipeline_s = t->pipeline_s,
        .device_s = t->device_s,
        .outcome = t->outcome,
    };
}

struct spent spending_sum(const struct spending *s, double ran, int workers)
{
    int64_t kept = s->count < SPENDING_MOST ? s->count : SPENDING_MOST;
    double from = ran > SPENDING_SECONDS ? ran - SPENDING_SECONDS : 0;
    if (kept == SPENDING_MOST) // what came before is not known
        from = fmax(from, s->entry[s->count % SPENDING_MOST].elapsed_s);
    struct spent sum = {.window = ran > from ? ran - from : 0};
    for (int64_t i = s->count - kept; i < s->count; i++) {
        const struct spending_entry *e = &s->entry[i % SPENDING_MOST];
        if (e->elapsed_s <= from)
            continue;
        sum.trials++;
        sum.compile += e->compile_s;
        sum.pipeline += e->pipeline_s;
        sum.device += e->device_s;
        sum.timeouts += e->outcome == OUTCOME_TIMEOUT;
        sum.deaths += e->outcome == OUTCOME_CRASH || e->outcome == OUTCOME_LOST;
    }
    double known = sum.compile + sum.pipeline + sum.device;
    sum.all = fmax(sum.window * (workers > 0 ? workers : 1), known); // the first began before
    sum.other = sum.all - known;
    sum.device_busy = sum.window > 0 ? fmin(1, sum.device / sum.window) : 0;
    return sum;
}
