// Where the values of a plan lie.
#include "network/plan.h"

#include <stdlib.h>

struct life { // of a value that shares memory
    int value;
    int first, last;      // steps: that writes it, that reads it last
    uint64_t begin, size; // its place
};

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + PLAN_PLACE_BYTES - 1) / PLAN_PLACE_BYTES * PLAN_PLACE_BYTES;
}

struct plan_life *plan_lives(const struct plan *p)
{
    struct plan_life *all = mem_zero((size_t)p->value_count, sizeof *all);
    for (int i = 0; i < p->value_count; i++)
        all[i] = (struct plan_life){p->step_count, -1};
    for (int i = 0; i < p->step_count; i++)
        for (int k = 0; k < p->step[i].value_count; k++) {
            struct plan_life *l = &all[p->step[i].value[k]];
            l->first = i < l->first ? i : l->first;
            l->last = i;
        }
    for (int i = 0; i < p->value_count; i++)
        if (p->value[i].role == PLAN_OUTPUT)
            all[i].last = p->step_count;
    return all;
}

// One for each value; those of values with memory of their own have size 0. Heap.
static struct life *lives(const struct plan *p)
{
    struct life *all = mem_zero((size_t)p->value_count, sizeof *all);
    struct plan_life *life = plan_lives(p);
    for (int i = 0; i < p->value_count; i++) {
        const struct plan_value *v = &p->value[i];
        all[i] = (struct life){.value = i, .first = life[i].first, .last = life[i].last};
        if (plan_shares(v)) {
            all[i].begin = v->offset;
            all[i].size = rounded(v->bytes);
        }
    }
    free(life);
    return all;
}

static bool meet(const struct life *a, const struct life *b)
{
    return a->first <= b->last && b->first <= a->last;
}

static int by_size(const void *a, const void *b)
{
    const struct life *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->value - y->value;
}

static int by_place(const void *a, const void *b)
{
    const struct life *x = *(const struct life *const *)a, *y = *(const struct life *const *)b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->value - y->value;
}

// In the smallest gap that is large enough, or behind all. `near` has room for `placed`.
static uint64_t find_place(const struct life *l, const struct life *all, int placed,
                           const struct life **near)
{
    uint64_t end = 0, best = 0, best_gap = UINT64_MAX;
    int count = 0;
    for (int i = 0; i < placed; i++)
        if (meet(l, &all[i]))
            near[count++] = &all[i];
    qsort(near, (size_t)count, sizeof *near, by_place);
    for (int i = 0; i < count; i++) {
        uint64_t gap = near[i]->begin > end ? near[i]->begin - end : 0;
        if (gap >= l->size && gap < best_gap) {
            best = end;
            best_gap = gap;
        }
        uint64_t behind = near[i]->begin + near[i]->size;
        end = behind > end ? behind : end;
    }
    return best_gap < UINT64_MAX ? best : end;
}

void plan_place(struct plan *p)
{
    struct life *all = lives(p);
    const struct life **near = mem_zero((size_t)p->value_count, sizeof(const struct life *));
    qsort(all, (size_t)p->value_count, sizeof *all, by_size);
    p->shared = 0;
    for (int i = 0; i < p->value_count && all[i].size; i++) {
        all[i].begin = find_place(&all[i], all, i, near);
        p->value[all[i].value].offset = all[i].begin;
        uint64_t end = all[i].begin + all[i].size;
        p->shared = end > p->shared ? end : p->shared;
    }
    free(near);
    free(all);
}

struct plan_bytes plan_bytes(const struct plan *p)
{
    struct plan_bytes b = {.shared = p->shared};
    struct life *all = lives(p);
    for (int i = 0; i < p->value_count; i++)
        if (plan_shares(&p->value[i]))
            b.made += all[i].size;
        else
            b.kept += p->value[i].bytes;
    for (int step = 0; step < p->step_count; step++) {
        uint64_t now = 0;
        for (int i = 0; i < p->value_count; i++)
            now += all[i].first <= step && step <= all[i].last ? all[i].size : 0;
        b.least = now > b.least ? now : b.least;
    }
    free(all);
    return b;
}

// --- what was read may be anything ---

static bool check_steps(const struct plan *p, struct err *e)
{
    bool *written = mem_zero((size_t)p->value_count + 1, sizeof *written);
    bool ok = true;
    for (int i = 0; i < p->value_count; i++)
        written[i] = !plan_shares(&p->value[i]);
    for (int i = 0; ok && i < p->step_count; i++) {
        const struct plan_step *s = &p->step[i];
        int made = s->value[s->value_count - 1];
        for (int k = 0; ok && k < s->value_count - 1; k++)
            ok = written[s->value[k]] || err_set(e, "step '%s' reads '%s' before it is written",
                                                 s->name, p->value[s->value[k]].name);
        ok = ok && (!written[made] || err_set(e, "step '%s' writes '%s', which is there already",
                                              s->name, p->value[made].name));
        written[made] = true;
    }
    free(written);
    return ok;
}

static bool check_places(const struct plan *p, struct err *e)
{
    struct life *all = lives(p);
    bool ok = true;
    for (int i = 0; ok && i < p->value_count; i++) {
        const struct life *a = &all[i];
        if (a->size &&
            (a->begin % PLAN_PLACE_BYTES || a->begin > p->shared || a->size > p->shared - a->begin))
            ok = err_set(e, "'%s' has no place", p->value[i].name);
        for (int k = 0; ok && k < i; k++)
            if (a->size && all[k].size && meet(a, &all[k]) &&
                a->begin < all[k].begin + all[k].size && all[k].begin < a->begin + a->size)
                ok = err_set(e, "'%s' and '%s' lie in the same place", p->value[i].name,
                             p->value[k].name);
    }
    free(all);
    return ok;
}

bool plan_check(const struct plan *p, struct err *e)
{
    return check_steps(p, e) && check_places(p, e);
}

static bool step_fits(const struct plan *p, const struct plan_step *s,
                      const struct plan_tasks *tasks)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    if (s->task >= tasks->count ||
        operation_tensors(tasks->operation(tasks->context, s->task), tensor) != s->value_count)
        return false;
    for (int k = 0; k < s->value_count; k++) {
        const struct plan_value *v = &p->value[s->value[k]];
        if (tensor_bytes(&tensor[k]) != v->bytes || tensor_count(&tensor[k]) != v->count ||
            tensor[k].element != v->element)
            return false;
    }
    return true;
}

bool plan_fits(const struct plan *p, const struct plan_tasks *tasks, struct err *e)
{
    for (int i = 0; i < p->step_count; i++)
        if (!step_fits(p, &p->step[i], tasks))
            return err_set(e, "the plan does not fit layer '%s'", p->step[i].name);
    return true;
}
