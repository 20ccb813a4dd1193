#include "record/declared.h"

#include "base/json.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The source of one slot of a declared parameter.
struct origin {
    const struct param *p; // of the recording; NULL: it has none, the declared one has one value
    int slot;              // of `p`
    int32_t *to; // the declared index of each of p's values, -1: none; NULL for a factorization
};

struct mapping {
    const struct recording *from;
    const struct space *to;
    struct origin origin[SPACE_MAX_SLOTS];
    bool is_used[SPACE_MAX_PARAMS]; // of the recording
};

// --- values ---

struct item {
    const char *text; // NULL: a number
    double number;
};

static struct item item_of(const struct param *p, int32_t slot)
{
    if (p->kind == PARAM_FACTORIZATION)
        return (struct item){.number = slot};
    return p->label ? (struct item){.text = p->label[slot]}
                    : (struct item){.number = p->number[slot]};
}

// Returns the slot with an equal value; -1: there is none.
static int32_t find_slot(const struct param *p, struct item item)
{
    if (p->kind == PARAM_FACTORIZATION) {
        bool is_part = !item.text && item.number >= 1 && item.number <= INT32_MAX;
        return is_part && item.number == floor(item.number) ? (int32_t)item.number : -1;
    }
    for (int i = 0; i < p->count; i++)
        if (p->label ? str_equal(p->label[i], item.text)
                     : !item.text && p->number[i] == item.number)
            return i;
    return -1;
}

// --- names ---

// Adds a hint about the names that only `a` has: the one nearest to `name`, or all of them.
static void add_hint(const struct space *a, const struct space *b, const char *name,
                     struct str *out)
{
    const char *only[SPACE_MAX_PARAMS] = {NULL};
    size_t count = 0;
    for (int i = 0; i < a->param_count; i++)
        if (!space_find(b, a->param[i].name))
            only[count++] = a->param[i].name;
    const char *near = str_suggest_list(name, count, only);
    if (near)
        str_printf(out, " (did you mean '%s'?)", near);
    for (size_t i = 0; !near && i < count; i++)
        str_printf(out, "%s%s%s", i ? ", " : " (what is there and has no counterpart: ", only[i],
                   i + 1 < count ? "" : ")");
}

static void set_origin(struct mapping *m, const struct param *to, int k, const struct param *p,
                       int slot)
{
    struct origin *o = &m->origin[to->offset + k];
    *o = (struct origin){.p = p, .slot = slot};
    m->is_used[p - m->from->space->param] = true;
    if (p->kind == PARAM_FACTORIZATION)
        return;
    o->to = mem_alloc((size_t)p->count * sizeof *o->to);
    for (int i = 0; i < p->count; i++)
        o->to[i] = find_slot(to, item_of(p, i));
}

// Maps a declared list to parameters of the recording named NAME_0 .. or NAME[0] ..
static bool map_parts(struct mapping *m, const struct param *to, bool brackets, int first)
{
    const struct param *part[PARAM_MAX_WIDTH];
    for (int k = 0; k < to->width; k++) {
        struct str name = {0};
        str_printf(&name, brackets ? "%s[%d]" : "%s_%d", to->name, first + k);
        part[k] = space_find(m->from->space, str_text(&name));
        str_finish(&name);
        if (!part[k] || part[k]->width != 1)
            return false;
    }
    for (int k = 0; k < to->width; k++)
        set_origin(m, to, k, part[k], 0);
    return true;
}

static bool map_param(struct mapping *m, const struct param *to, struct err *e)
{
    const struct param *p = space_find(m->from->space, to->name);
    if (p && p->width != to->width)
        return err_at(e, m->from->path, 0, "parameter '%s' has %d values at once, in space '%s' %d",
                      p->name, p->width, m->to->name, to->width);
    for (int k = 0; p && k < to->width; k++)
        set_origin(m, to, k, p, k);
    if (p || to->size == 1)
        return true;
    bool is_list = to->kind == PARAM_FACTORIZATION || to->kind == PARAM_PERMUTATION;
    if (is_list && (map_parts(m, to, false, 0) || map_parts(m, to, false, 1) ||
                    map_parts(m, to, true, 0) || map_parts(m, to, true, 1)))
        return true;
    struct str hint = {0};
    add_hint(m->from->space, m->to, to->name, &hint);
    err_at(e, m->from->path, 0, "there is no parameter '%s', which space '%s' declares%s", to->name,
           m->to->name, str_text(&hint));
    str_finish(&hint);
    return false;
}

// --- entries ---

// Fails where a parameter has no such value.
static bool move_config(const struct mapping *m, int index, struct config *out, struct err *e)
{
    struct config c;
    recording_config(m->from, index, &c);
    *out = (struct config){0};
    for (int i = 0; i < m->to->param_count; i++) {
        const struct param *p = &m->to->param[i];
        const struct origin *o = &m->origin[p->offset];
        int32_t *to = out->slot + p->offset;
        if (!o->p) {
            param_value(p, 0, to);
            continue;
        }
        for (int k = 0; k < p->width; k++) {
            int32_t slot = c.slot[o[k].p->offset + o[k].slot];
            to[k] = o[k].to ? o[k].to[slot] : find_slot(p, item_of(o[k].p, slot));
        }
        if (param_valid(p, to))
            continue;
        struct str value = {0};
        for (int k = 0; k < p->width; k++) {
            str_add(&value, k ? "," : p->width > 1 ? "[" : "");
            struct item item = item_of(o[k].p, c.slot[o[k].p->offset + o[k].slot]);
            if (item.text)
                json_add_string(&value, item.text);
            else
                str_add_real(&value, item.number);
        }
        str_add(&value, p->width > 1 ? "]" : "");
        err_at(e, m->from->path, 0,
               "entry %d: parameter '%s': %s is none of its values in space '%s'", index + 1,
               p->name, str_text(&value), m->to->name);
        str_finish(&value);
        return false;
    }
    return true;
}

static bool move_entries(const struct mapping *m, struct recording *out, struct record_fit *fit,
                         struct err *e)
{
    for (int i = 0; i < m->from->count; i++) {
        struct config c;
        bool was_new;
        struct verdict v = {.legal = true};
        bool is_valid = m->from->entry[i].outcome == OUTCOME_OK;
        if (!move_config(m, i, &c, e) || (is_valid && !space_judge(m->to, NULL, &c, &v, e)))
            return false;
        if (!v.legal && fit->forbidden++ == 0) {
            fit->first = i;
            memcpy(fit->reason, v.reason, sizeof fit->reason);
        }
        recording_add(out, &c, &m->from->entry[i], &was_new);
        assert(was_new); // different values stay different, and dropped parameters have one value
    }
    return recording_finish(out, e);
}

bool recording_declare(const struct recording *from, const struct space *declared,
                       struct recording **out, struct record_fit *fit, struct err *e)
{
    struct mapping m = {.from = from, .to = declared};
    *fit = (struct record_fit){0};
    if (from->count == 0)
        return err_at(e, from->path, 0, "there are only declarations: nothing to put on a space");
    struct recording *r = recording_create(from->path, from->format);
    r->name = arena_strdup(&r->arena, from->name);
    r->kernel = arena_strdup(&r->arena, from->kernel);
    r->device = arena_strdup(&r->arena, from->device);
    r->unit = arena_strdup(&r->arena, from->unit);
    r->flop = from->flop;
    bool ok = true;
    for (int i = 0; ok && i < declared->param_count; i++)
        ok = map_param(&m, &declared->param[i], e);
    for (int i = 0; ok && i < from->space->param_count; i++)
        if (!m.is_used[i] && from->space->param[i].size != 1) {
            struct str hint = {0};
            add_hint(declared, from->space, from->space->param[i].name, &hint);
            ok = err_at(e, from->path, 0, "space '%s' does not declare parameter '%s'%s",
                        declared->name, from->space->param[i].name, str_text(&hint));
            str_finish(&hint);
        }
    ok = ok && recording_add_params(r, declared, e) && recording_seal_space(r, e) &&
         move_entries(&m, r, fit, e);
    for (int i = 0; i < SPACE_MAX_SLOTS; i++)
        free(m.origin[i].to);
    if (ok)
        *out = r;
    else
        recording_destroy(r);
    return ok;
}
