#include "network/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// The stamp has 64 bits: it is no number. Whoever goes on may stand in another folder.
static void add_file(struct json_writer *w, const struct weights *from)
{
    char stamp[24], *path = realpath(from->path, NULL), *folder = realpath(from->folder, NULL);
    snprintf(stamp, sizeof stamp, "%" PRIu64, from->stamp);
    json_begin_object(w, "from");
    json_add_text(w, "path", path ? path : from->path);
    json_add_text(w, "folder", folder ? folder : from->folder);
    json_add_text(w, "name", from->name);
    json_add_text(w, "type", from->type_name);
    json_add_int(w, "saved", from->saved);
    json_add_count(w, "at", from->offset);
    json_add_text(w, "stamp", stamp);
    json_end(w);
    free(path);
    free(folder);
}

void plan_add_json(const struct plan *p, struct json_writer *w)
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
        if (v->from)
            add_file(w, v->from);
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

#define MOST_BYTES  0x1p50
#define MOST_VALUES 32768

static bool get_whole(struct json o, const char *name, double low, double high, double *out)
{
    return json_number(json_member(o, name), out) && *out >= low && *out <= high &&
           *out == (double)(int64_t)*out;
}

static int find(struct json text, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (json_is(text, names[i]))
            return i;
    return -1;
}

static const struct weights *read_file(struct json o, const struct plan_value *v, struct arena *a)
{
    double saved, offset;
    const char *stamp = json_text_exact(json_member(o, "stamp"), a);
    struct weights *w = arena_zero(a, 1, sizeof *w);
    *w = (struct weights){.path = json_text_exact(json_member(o, "path"), a),
                          .folder = json_text_exact(json_member(o, "folder"), a),
                          .name = json_text_exact(json_member(o, "name"), a),
                          .type_name = json_text_exact(json_member(o, "type"), a),
                          .element = v->element,
                          .count = v->count};
    if (!w->path || !w->folder || !w->name || !w->type_name || !stamp ||
        !get_whole(o, "saved", 0, SAVED_OTHER - 1, &saved) ||
        !get_whole(o, "at", 0, MOST_BYTES, &offset))
        return NULL;
    w->saved = (enum saved_type)saved;
    w->offset = (uint64_t)offset;
    w->stamp = strtoull(stamp, NULL, 10);
    return w;
}

static bool read_value(struct json o, struct plan *p)
{
    const char *types[ELEMENT_COUNT];
    double count, bytes, offset = 0;
    for (int i = 0; i < ELEMENT_COUNT; i++)
        types[i] = element_name((enum element)i);
    const char *name = json_text(json_member(o, "name"), &p->arena);
    int role = find(json_member(o, "role"), roles, sizeof roles / sizeof *roles);
    int type = find(json_member(o, "type"), types, ELEMENT_COUNT);
    if (!name || role < 0 || type < 0 || !get_whole(o, "count", 1, MOST_BYTES, &count) ||
        !get_whole(o, "bytes", 4, MOST_BYTES, &bytes) || (uint64_t)bytes % 4 ||
        count * element_bytes((enum element)type) > bytes)
        return false;
    struct plan_value v = {.name = name,
                           .role = (enum plan_role)role,
                           .element = (enum element)type,
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
