#include "record/flat.h"

struct flat {
    const struct space *s;
    const struct param *p; // its part `part` is the current one
    int index, part;
    struct str name;
};

// Moves to the next flat parameter, from {.s = space} on. False: there are no more, and `name` is
// freed.
static bool next(struct flat *f)
{
    if (f->p && f->part + 1 < f->p->width) {
        f->part++;
    } else {
        if (f->p)
            f->index++;
        if (f->index == f->s->param_count) {
            str_finish(&f->name);
            return false;
        }
        f->p = &f->s->param[f->index];
        f->part = 0;
    }
    f->name.length = 0;
    str_add(&f->name, f->p->name);
    if (f->p->width > 1)
        str_printf(&f->name, "_%d", f->part);
    return true;
}

static int32_t slot_of(const struct flat *f, const struct config *c)
{
    return c->slot[f->p->offset + f->part];
}

static bool is_number(const struct param *p)
{
    return p->kind == PARAM_FACTORIZATION || p->number;
}

static double number_of(const struct param *p, int32_t slot)
{
    return p->kind == PARAM_FACTORIZATION ? slot : p->number[slot];
}

static void add_value(struct json_writer *w, const char *name, const struct param *p, int32_t slot)
{
    if (is_number(p))
        json_add_real(w, name, number_of(p, slot));
    else
        json_add_text(w, name, p->label[slot]);
}

bool flat_check(const struct recording *r, struct err *e)
{
    bool ok = true;
    for (struct flat f = {.s = r->space}; next(&f);) {
        const struct param *other = f.p->width > 1 ? space_find(r->space, str_text(&f.name)) : NULL;
        if (ok && other)
            ok =
                err_at(e, r->path, 0, "there is a parameter '%s', and '%s' has a part of that name",
                       other->name, f.p->name);
    }
    return ok;
}

void flat_add_names(const struct space *s, struct json_writer *w)
{
    for (struct flat f = {.s = s}; next(&f);)
        json_add_text(w, NULL, str_text(&f.name));
}

void flat_add_values(const struct space *s, struct json_writer *w)
{
    for (struct flat f = {.s = s}; next(&f);) {
        json_begin_list(w, str_text(&f.name));
        if (f.p->kind == PARAM_FACTORIZATION) {
            int32_t product = f.p->product;
            int32_t i = 1;
            for (; i <= product / i; i++)
                if (product % i == 0)
                    json_add_int(w, NULL, i);
            while (--i >= 1)
                if (product % i == 0 && product / i > i)
                    json_add_int(w, NULL, product / i);
        }
        for (int32_t i = 0; f.p->kind != PARAM_FACTORIZATION && i < f.p->count; i++)
            add_value(w, NULL, f.p, i);
        json_end(w);
    }
}

void flat_add_config(const struct space *s, const struct config *c, struct json_writer *w)
{
    for (struct flat f = {.s = s}; next(&f);)
        add_value(w, str_text(&f.name), f.p, slot_of(&f, c));
}

void flat_add_key(const struct space *s, const struct config *c, struct str *out)
{
    const char *between = "";
    for (struct flat f = {.s = s}; next(&f); between = ",") {
        str_add(out, between);
        if (is_number(f.p))
            str_add_real(out, number_of(f.p, slot_of(&f, c)));
        else
            str_add(out, f.p->label[slot_of(&f, c)]);
    }
}
