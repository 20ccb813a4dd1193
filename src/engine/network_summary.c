#include "engine/network_summary.h"

#include <stdlib.h>

struct reading {
    struct network_summary *summary;
    struct round_record *round; // heap
    int count, capacity;
    struct arena *arena;
    struct whole_record *whole; // heap; texts live in the arena
    int wholes, whole_capacity;
};

static bool summary_take_step(void *context, const struct best_step *step)
{
    struct task_summary *t = context;
    if (t->start_s <= 0)
        t->start_s = step->seconds;
    return false;
}

static bool read_task(struct store *store, const struct task_record *task, struct arena *a,
                      struct task_summary *t, struct err *e)
{
    *t = (struct task_summary){.task = task, .start_s = task->known_s, .weight = 1, .gained_s = -1};
    t->best_s = task->known_s;
    if (!task->session || task->known_s > 0)
        return true;
    if (!store_get_session(store, task->session, a, &t->session, e) ||
        !store_each_best(store, task->session, 0, summary_take_step, t, e))
        return false;
    t->best_s = t->session.best_ask ? t->session.best_seconds : 0;
    return true;
}

static bool summary_take_round(void *context, const struct round_record *r)
{
    struct reading *reading = context;
    struct network_summary *n = reading->summary;
    if (r->task > n->task_count)
        return true;
    MEM_GROW(reading->round, reading->count, reading->capacity);
    reading->round[reading->count++] = *r;
    struct task_summary *t = &n->task[r->task - 1];
    t->allotted += r->trials;
    n->now = r->told ? 0 : r->task;
    n->pinned = r->pinned ? r->task : 0;
    return true;
}

static bool summary_take_whole(void *context, const struct whole_record *r)
{
    struct reading *reading = context;
    MEM_GROW(reading->whole, reading->wholes, reading->whole_capacity);
    struct whole_record *w = &reading->whole[reading->wholes++];
    *w = *r;
    w->reason = arena_strdup(reading->arena, r->reason);
    w->kernels = w->kept = NULL;
    return true;
}

static double sum(const struct network_summary *n, bool at_start)
{
    double sum = 0;
    for (int i = 0; i < n->task_count; i++) {
        const struct task_summary *t = &n->task[i];
        double seconds = at_start ? t->start_s : t->best_s;
        if (seconds <= 0)
            return 0;
        sum += (double)t->task->uses * seconds;
    }
    return sum;
}

bool network_summary_read(struct store *store, const struct session_record *network,
                          struct arena *a, struct network_summary *out, struct err *e)
{
    struct task_record *task;
    struct weight_record *weight;
    int weights = 0;
    struct reading reading = {.summary = out, .arena = a};
    *out = (struct network_summary){.task = NULL};
    if (!store_get_tasks(store, network->id, a, &task, &out->task_count, e))
        return false;
    out->task = arena_zero(a, (size_t)out->task_count + 1, sizeof *out->task);
    for (int i = 0; i < out->task_count; i++)
        if (!read_task(store, &task[i], a, &out->task[i], e))
            return false;
    bool ok = store_get_weights(store, network->id, a, &weight, &weights, e) &&
              store_each_round(store, network->id, 0, summary_take_round, &reading, e) &&
              store_each_whole(store, network->id, summary_take_whole, &reading, e);
    for (int i = 0; i < weights; i++)
        if (weight[i].task <= out->task_count)
            out->task[weight[i].task - 1].weight = weight[i].weight;
    out->round = arena_zero(a, (size_t)reading.count + 1, sizeof *out->round);
    out->round_count = reading.count;
    for (int i = 0; i < reading.count; i++)
        out->round[i] = reading.round[i];
    out->whole = arena_zero(a, (size_t)reading.wholes + 1, sizeof *out->whole);
    out->whole_count = reading.wholes;
    for (int i = 0; i < reading.wholes; i++)
        out->whole[i] = reading.whole[i];
    free(reading.round);
    free(reading.whole);
    // A round gained when it ended with a faster kernel than the task's one before.
    for (int i = 0; i < out->task_count; i++) {
        double before = 0;
        for (int k = 0; k < out->round_count; k++) {
            const struct round_record *r = &out->round[k];
            if (r->task != i + 1 || !r->told || r->seconds <= 0)
                continue;
            if (before > 0 && r->seconds < before)
                out->task[i].gained_s = r->elapsed_s;
            before = r->seconds;
        }
    }
    double all = 0;
    for (int i = 0; i < out->task_count; i++)
        all += (double)out->task[i].task->uses * out->task[i].best_s;
    for (int i = 0; i < out->task_count && all > 0; i++)
        out->task[i].share = (double)out->task[i].task->uses * out->task[i].best_s / all;
    out->start_s = sum(out, true);
    out->latency_s = sum(out, false);
    return ok;
}

double network_sum_of_parts(struct store *store, const struct session_record *network)
{
    struct network_summary n;
    struct arena a;
    struct err e;
    arena_init(&a);
    double sum = network_summary_read(store, network, &a, &n, &e) ? n.latency_s : 0;
    arena_finish(&a);
    return sum;
}

double whole_seconds(const struct whole_record *r)
{
    return r->rival_s > 0 && r->rival_s < r->seconds ? r->rival_s : r->seconds;
}

struct stepping {
    bool (*each)(void *context, const struct best_step *step);
    void *context;
    double best_s; // 0: a task has no kernel yet
};

static bool summary_take_latency(void *context, const struct round_record *r)
{
    struct stepping *s = context;
    if (r->latency <= 0 || (s->best_s > 0 && r->latency >= s->best_s))
        return true;
    s->best_s = r->latency;
    return s->each(s->context, &(struct best_step){.number = r->all_trials,
                                                   .seconds = r->latency,
                                                   .elapsed_s = r->elapsed_s,
                                                   .finished = r->at});
}

bool session_each_best(struct store *store, const struct session_record *r,
                       bool (*each)(void *context, const struct best_step *step), void *context,
                       struct err *e)
{
    struct stepping s = {.each = each, .context = context};
    return r->scheduler ? store_each_round(store, r->id, 0, summary_take_latency, &s, e)
                        : store_each_best(store, r->id, 0, each, context, e);
}
