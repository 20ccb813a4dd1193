#include "network/plan.h"

#include "base/file.h"
#include "base/os.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// --- places in memory ---

struct life { // of a value that shares memory
    int value;
    int first, last;      // the step that writes it, and the last that reads it
    uint64_t begin, size; // its place
};

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

// Returns one for each value, on the heap; values with memory of their own have size 0.
static struct life *lives(const struct plan *p)
{
    struct life *all = mem_zero((size_t)p->value_count, sizeof *all);
    struct plan_life *life = plan_lives(p);
    for (int i = 0; i < p->value_count; i++) {
        const struct plan_value *v = &p->value[i];
        all[i] = (struct life){.value = i, .first = life[i].first, .last = life[i].last};
        if (plan_shares(v)) {
            all[i].begin = v->offset;
            all[i].size = (v->bytes + PLAN_PLACE_BYTES - 1) / PLAN_PLACE_BYTES * PLAN_PLACE_BYTES;
        }
    }
    free(life);
    return all;
}

static bool overlap(const struct life *a, const struct life *b)
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

void plan_place(struct plan *p)
{
    struct life *all = lives(p);
    const struct life **near = mem_zero((size_t)p->value_count, sizeof(const struct life *));
    qsort(all, (size_t)p->value_count, sizeof *all, by_size);
    p->shared = 0;
    for (int i = 0; i < p->value_count && all[i].size; i++) {
        // The smallest gap that is large enough between the values of the same time, or their end.
        uint64_t end = 0, best = 0, best_gap = UINT64_MAX;
        int count = 0;
        for (int k = 0; k < i; k++)
            if (overlap(&all[i], &all[k]))
                near[count++] = &all[k];
        qsort(near, (size_t)count, sizeof *near, by_place);
        for (int k = 0; k < count; k++) {
            uint64_t gap = near[k]->begin > end ? near[k]->begin - end : 0;
            if (gap >= all[i].size && gap < best_gap) {
                best = end;
                best_gap = gap;
            }
            uint64_t behind = near[k]->begin + near[k]->size;
            end = behind > end ? behind : end;
        }
        all[i].begin = best_gap < UINT64_MAX ? best : end;
        p->value[all[i].value].offset = all[i].begin;
        end = all[i].begin + all[i].size;
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

// --- checks of a plan that was read ---

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
            if (a->size && all[k].size && overlap(a, &all[k]) &&
                a->begin < all[k].begin + all[k].size && all[k].begin < a->begin + a->size)
                ok = err_set(e, "'%s' and '%s' lie in the same place", p->value[i].name,
                             p->value[k].name);
    }
    free(all);
    return ok;
}

bool plan_check(const struct plan *p, struct err *e)
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
    return ok && check_places(p, e);
}

bool plan_fits(const struct plan *p, const struct plan_tasks *tasks, struct err *e)
{
    for (int i = 0; i < p->step_count; i++) {
        const struct plan_step *s = &p->step[i];
        struct tensor tensor[OPERATION_MAX_TENSORS];
        bool ok =
            s->task < tasks->count &&
            operation_tensors(tasks->operation(tasks->context, s->task), tensor) == s->value_count;
        for (int k = 0; ok && k < s->value_count; k++) {
            const struct plan_value *v = &p->value[s->value[k]];
            ok = tensor_bytes(&tensor[k]) == v->bytes && tensor_count(&tensor[k]) == v->count &&
                 tensor[k].element == v->element;
        }
        if (!ok)
            return err_set(e, "the plan does not fit layer '%s'", s->name);
    }
    return true;
}

// --- values of files, in memory that a worker shares ---

enum { ALIGNMENT = 64 };

static uint64_t packed_bytes(const struct plan_value *v)
{
    uint64_t bytes = v->from ? (uint64_t)v->count * (uint64_t)element_bytes(v->element) : 0;
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

uint64_t plan_file_offset(const struct plan *p, int value)
{
    uint64_t offset = 0;
    for (int i = 0; i < value; i++)
        offset += packed_bytes(&p->value[i]);
    return offset;
}

bool plan_read_files(const struct plan *p, int *fd, struct err *e)
{
    size_t size = (size_t)plan_file_offset(p, p->value_count);
    *fd = -1;
    if (!size)
        return true;
    *fd = os_memfd("tilewalk-weights", size, e);
    if (*fd < 0)
        return false;
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    bool ok = bytes != MAP_FAILED ||
              err_set(e, "cannot map %zu bytes of shared memory: %s", size, strerror(errno));
    unsigned char *at = bytes;
    for (int i = 0; ok && i < p->value_count; i++) {
        const struct plan_value *v = &p->value[i];
        if (v->from && !weights_read(v->from, at, e))
            ok = err_prefix(e, "%s: %s", v->name, v->from->path);
        at += packed_bytes(v);
    }
    if (bytes != MAP_FAILED)
        munmap(bytes, size);
    if (!ok) {
        close(*fd);
        *fd = -1;
    }
    return ok;
}

// --- making a plan ---

static const char *const roles[] = {"input", "weight", "made", "output"};

const char *plan_role_name(enum plan_role r)
{
    return roles[r];
}

void plan_init(struct plan *p)
{
    *p = (struct plan){0};
    arena_init(&p->arena);
}

void plan_finish(struct plan *p)
{
    free(p->value);
    free(p->step);
    arena_finish(&p->arena);
    *p = (struct plan){0};
}

bool plan_shares(const struct plan_value *v)
{
    return v->role == PLAN_MADE || v->role == PLAN_OUTPUT;
}

int plan_add_value(struct plan *p, const char *name, enum plan_role role, const struct tensor *t)
{
    MEM_GROW(p->value, p->value_count, p->value_capacity);
    p->value[p->value_count] = (struct plan_value){.name = arena_strdup(&p->arena, name),
                                                   .role = role,
                                                   .element = t->element,
                                                   .count = tensor_count(t),
                                                   .bytes = tensor_bytes(t)};
    return p->value_count++;
}

int plan_add_step(struct plan *p, const char *name, int task, const int *value, int count)
{
    MEM_GROW(p->step, p->step_count, p->step_capacity);
    struct plan_step *s = &p->step[p->step_count];
    *s = (struct plan_step){
        .name = arena_strdup(&p->arena, name), .task = task, .value_count = count};
    memcpy(s->value, value, (size_t)count * sizeof *value);
    return p->step_count++;
}

// --- JSON ---

// Adds the place of a value's file. Paths are absolute, since a later run may begin in another
// folder.
static void add_place(const struct weights *from, struct json_writer *w)
{
    char *path = realpath(from->path, NULL), *folder = realpath(from->folder, NULL);
    json_add_text(w, "path", path ? path : from->path);
    json_add_text(w, "folder", folder ? folder : from->folder);
    free(path);
    free(folder);
}

static void add_json(const struct plan *p, bool is_for_others, struct json_writer *w)
{
    struct plan_life *life = plan_lives(p);
    json_begin_list(w, "values");
    for (int i = 0; i < p->value_count; i++) {
        const struct plan_value *v = &p->value[i];
        json_begin_object(w, NULL);
        json_add_text(w, "name", v->name);
        json_add_text(w, "role", roles[v->role]);
        json_add_text(w, "type", element_name(v->element));
        json_add_int(w, "count", v->count);
        json_add_count(w, "bytes", v->bytes);
        if (plan_shares(v)) {
            json_add_count(w, "offset", v->offset);
            json_add_int(w, "first", life[i].first);
            json_add_int(w, "last", life[i].last);
        }
        if (v->from) {
            char stamp[24]; // it has 64 bits, more than a number of JSON
            snprintf(stamp, sizeof stamp, "%" PRIu64, v->from->stamp);
            json_begin_object(w, "from");
            if (is_for_others)
                json_add_text(w, "path", path_name(v->from->path));
            else
                add_place(v->from, w);
            json_add_text(w, "name", v->from->name);
            json_add_text(w, "type", element_name(v->from->saved));
            json_add_count(w, "at", v->from->offset);
            json_add_text(w, "stamp", stamp);
            json_end(w);
        }
        if (v->from && v->role == PLAN_OUTPUT) {
            json_add_real(w, "relative", v->relative);
            json_add_real(w, "absolute", v->absolute);
        }
        json_end(w);
    }
    json_end(w);
    json_begin_list(w, "steps");
    for (int i = 0; i < p->step_count; i++) {
        const struct plan_step *s = &p->step[i];
        json_begin_object(w, NULL);
        json_add_text(w, "name", s->name);
        json_add_int(w, "task", s->task + 1);
        json_begin_list(w, "buffers");
        for (int k = 0; k < s->value_count; k++)
            json_add_int(w, NULL, s->value[k]);
        json_end(w);
        json_end(w);
    }
    json_end(w);
    json_add_count(w, "shared_bytes", p->shared);
    free(life);
}

void plan_add_json(const struct plan *p, struct json_writer *w)
{
    add_json(p, false, w);
}

void plan_add_public_json(const struct plan *p, struct json_writer *w)
{
    add_json(p, true, w);
}

#define MOST_BYTES  0x1p50
#define MOST_VALUES 32768

static bool get_whole(struct json o, const char *name, double low, double high, double *out)
{
    return json_number(json_member(o, name), out) && *out >= low && *out <= high &&
           *out == (double)(int64_t)*out;
}

static const struct weights *read_file(struct json o, const struct plan_value *v, struct arena *a)
{
    double offset;
    const char *stamp = json_text_exact(json_member(o, "stamp"), a);
    struct weights *w = arena_zero(a, 1, sizeof *w);
    const char *saved = json_text_exact(json_member(o, "type"), a);
    *w = (struct weights){.path = json_text_exact(json_member(o, "path"), a),
                          .folder = json_text_exact(json_member(o, "folder"), a),
                          .name = json_text_exact(json_member(o, "name"), a),
                          .saved = saved ? element_named(saved) : ELEMENT_COUNT,
                          .element = v->element,
                          .count = v->count};
    if (!w->path || !w->folder || !w->name || w->saved == ELEMENT_COUNT || !stamp ||
        !get_whole(o, "at", 0, MOST_BYTES, &offset))
        return NULL;
    w->offset = (uint64_t)offset;
    w->stamp = strtoull(stamp, NULL, 10);
    return w;
}

static bool read_value(struct json o, struct plan *p)
{
    enum { ROLES = sizeof roles / sizeof *roles };
    double count, bytes, offset = 0;
    int role = 0;
    const char *name = json_text(json_member(o, "name"), &p->arena);
    const char *word = json_text(json_member(o, "type"), &p->arena);
    enum element type = word ? element_named(word) : ELEMENT_COUNT;
    while (role < ROLES && !json_is(json_member(o, "role"), roles[role]))
        role++;
    if (!name || role == ROLES || type == ELEMENT_COUNT ||
        !get_whole(o, "count", 1, MOST_BYTES, &count) ||
        !get_whole(o, "bytes", 4, MOST_BYTES, &bytes) || (uint64_t)bytes % 4 ||
        count * element_bytes(type) > bytes)
        return false;
    struct plan_value v = {.name = name,
                           .role = (enum plan_role)role,
                           .element = type,
                           .count = (int64_t)count,
                           .bytes = (uint64_t)bytes};
    if (plan_shares(&v) && !get_whole(o, "offset", 0, MOST_BYTES, &offset))
        return false;
    v.offset = (uint64_t)offset;
    struct json from = json_member(o, "from");
    v.from = from.at ? read_file(from, &v, &p->arena) : NULL;
    if (from.at && (!v.from || v.role == PLAN_MADE))
        return false;
    if (v.from && v.role == PLAN_OUTPUT &&
        (!json_number(json_member(o, "relative"), &v.relative) ||
         !json_number(json_member(o, "absolute"), &v.absolute) || !(v.relative >= 0) ||
         !(v.absolute >= 0)))
        return false;
    MEM_GROW(p->value, p->value_count, p->value_capacity);
    p->value[p->value_count++] = v;
    return true;
}

static bool read_step(struct json o, struct plan *p)
{
    const char *name = json_text(json_member(o, "name"), &p->arena);
    int value[OPERATION_MAX_TENSORS], count = 0;
    double task, index;
    if (!name || !get_whole(o, "task", 1, INT32_MAX, &task))
        return false;
    for (struct json_walk w = json_walk(json_member(o, "buffers")); json_next(&w);) {
        if (count == OPERATION_MAX_TENSORS || !json_number(w.value, &index) || index < 0 ||
            index >= p->value_count || index != (int)index)
            return false;
        value[count++] = (int)index;
    }
    if (count == 0)
        return false;
    plan_add_step(p, name, (int)task - 1, value, count);
    return true;
}

bool plan_read_json(struct json object, struct plan *out, struct err *e)
{
    double shared;
    plan_init(out);
    for (struct json_walk w = json_walk(json_member(object, "values")); json_next(&w);)
        if (out->value_count == MOST_VALUES || !read_value(w.value, out))
            return err_set(e, "value %d of a plan is broken", out->value_count);
    for (struct json_walk w = json_walk(json_member(object, "steps")); json_next(&w);)
        if (!read_step(w.value, out))
            return err_set(e, "step %d of a plan is broken", out->step_count);
    if (!get_whole(object, "shared_bytes", 0, MOST_BYTES, &shared) || out->step_count == 0)
        return err_set(e, "a plan without steps or memory");
    out->shared = (uint64_t)shared;
    return plan_check(out, e);
}
