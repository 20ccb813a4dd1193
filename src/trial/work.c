#include "trial/work.h"

#include "base/mem.h"
#include "base/str.h"

#include <inttypes.h>
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
    w->result.soaked = from->soaked;
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

// --- binaries ---

static void hash_job(const struct job *j, char out[33])
{
    struct str texts = {0};
    for (int i = 0; i < j->pass_count; i++) {
        str_printf(&texts, "%" PRIu32 " ", j->pass[i].subgroup);
        pass_add_given(&j->pass[i], &texts);
        str_printf(&texts, " %s\n", j->pass[i].glsl);
    }
    hash_hex(str_text(&texts), texts.length, out);
    str_finish(&texts);
}

static void forget_first(struct kept_list *l)
{
    l->bytes -= l->item[0].made.size;
    gpu_kept_finish(&l->item[0].made);
    memmove(l->item, l->item + 1, (size_t)--l->count * sizeof *l->item);
}

void kept_add(struct kept_list *l, const struct job *j, struct gpu_kept *made, double seconds)
{
    MEM_GROW(l->item, l->count, l->capacity);
    struct kept *added = &l->item[l->count++];
    *added = (struct kept){.made = *made, .seconds = seconds};
    *made = (struct gpu_kept){0};
    hash_job(j, added->job);
    l->bytes += added->made.size;
    while (l->bytes > KEPT_MOST_BYTES)
        forget_first(l);
}

const struct kept *kept_find(const struct kept_list *l, const struct job *j)
{
    char wanted[33];
    int i = l->count;
    if (i > 0)
        hash_job(j, wanted);
    while (--i >= 0 && strcmp(l->item[i].job, wanted) != 0)
        continue;
    return i < 0 ? NULL : &l->item[i];
}

void kept_finish(struct kept_list *l)
{
    while (l->count > 0)
        forget_first(l);
    free(l->item);
    *l = (struct kept_list){0};
}
