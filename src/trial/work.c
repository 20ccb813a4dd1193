#include "trial/work.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct work *work_create(struct trial_request *r, int64_t number)
{
    struct work *w = mem_zero(1, sizeof *w);
    w->request = *r;
    memset(r->job, 0, sizeof r->job);
    w->number = number;
    w->result = (struct trial_result){.ticket = r->ticket, .count = r->count};
    return w;
}

void work_destroy(struct work *w)
{
    if (!w)
        return;
    for (int i = 0; i < w->request.count; i++)
        job_finish(&w->request.job[i]);
    free(w);
}

void work_pick(struct work *w)
{
    w->pick_count = 0;
    for (int i = 0; i < w->request.count; i++)
        if (!w->settled[i])
            w->pick[w->pick_count++] = i;
}

char *work_message(struct work *w, const struct kept *kept)
{
    work_pick(w);
    return message_trial(&w->request, w->pick, w->pick_count, w->number, w->attempt, kept);
}

bool work_is_done(const struct work *w)
{
    for (int i = 0; i < w->request.count; i++)
        if (!w->settled[i])
            return false;
    return true;
}

void work_settle(struct work *w, int picked, enum outcome o, enum trial_phase phase,
                 const char *reason)
{
    int i = w->pick[picked];
    w->settled[i] = true;
    w->result.outcome[i] = o;
    w->result.phase[i] = phase;
    snprintf(w->result.reason[i], sizeof w->result.reason[i], "%s", reason);
}

void work_settle_rest(struct work *w, enum outcome o, enum trial_phase phase, const char *reason)
{
    for (int k = 0; k < w->pick_count; k++)
        if (!w->settled[w->pick[k]])
            work_settle(w, k, o, phase, reason);
}

void work_add_time(struct work *w, enum trial_phase phase, double seconds)
{
    struct trial_result *r = &w->result;
    *(phase == PHASE_COMPILE    ? &r->compile_s
      : phase == PHASE_PIPELINE ? &r->pipeline_s
                                : &r->device_s) += seconds;
}

void work_reset(struct work *w)
{
    memset(w->settled, 0, sizeof w->settled);
    w->result = (struct trial_result){.ticket = w->request.ticket, .count = w->request.count};
}

bool work_merge(struct work *w, const struct message *m)
{
    const struct trial_result *from = &m->result;
    int settled = 0;
    if (from->count != w->pick_count || m->only_compiled != w->request.only_compiles)
        return false;
    for (int k = 0; k < from->count; k++) {
        int i = w->pick[k];
        if (!m->settled[k])
            continue;
        settled++;
        w->result.statistics[i] = from->statistics[k];
        if (from->outcome[k] != OUTCOME_OK) {
            work_settle(w, k, from->outcome[k], from->phase[k], from->reason[k]);
            continue;
        }
        w->settled[i] = true;
        w->result.outcome[i] = OUTCOME_OK;
        w->result.seconds[i] = from->seconds[k];
        w->result.samples[i] = from->samples[k];
    }
    statistics_merge(&w->result.clocks, &from->clocks);
    w->result.anchor_s = from->anchor_s;
    w->result.wall_s = from->wall_s;
    w->result.compile_s += from->compile_s;
    w->result.pipeline_s += from->pipeline_s;
    w->result.device_s += from->device_s;
    return settled > 0;
}

void work_list_append(struct work_list *l, struct work *w)
{
    MEM_GROW(l->item, l->count, l->capacity);
    l->item[l->count++] = w;
}

void work_list_insert(struct work_list *l, struct work *w)
{
    int i = l->count;
    work_list_append(l, w);
    for (; i > 0 && l->item[i - 1]->number > w->number; i--)
        l->item[i] = l->item[i - 1];
    l->item[i] = w;
}

struct work *work_list_take(struct work_list *l, int i)
{
    struct work *w = l->item[i];
    l->count--;
    memmove(l->item + i, l->item + i + 1, (size_t)(l->count - i) * sizeof *l->item);
    return w;
}

struct work *work_list_take_first(struct work_list *l)
{
    return l->count ? work_list_take(l, 0) : NULL;
}

void work_list_finish(struct work_list *l)
{
    for (int i = 0; i < l->count; i++)
        work_destroy(l->item[i]);
    free(l->item);
    *l = (struct work_list){0};
}
