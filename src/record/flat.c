#include "record/flat.h"

struct flat {
    const struct space *s;
    const struct param *p; // its part `part` is the current one
    int index, part, slot; // `slot` is that of a configuration
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
    f->slot = f->p->offset + f->part;
    f->name.length = 0;
    str_add(&f->name, f->p->name);
    if (f->p->width > 1)
        str_printf(&f->name, "_%d", f->part);
    return true;
}

// False: the value is a text.
static bool number_of(const struct param *p, int32_t slot, double *out)
{
    if (p->kind == PARAM_FACTORIZATION)
        *out = slot;
    else if (p->number)
        *out = p->number[slot];
    return p->kind == PARAM_FACTORIZATION || p->number;
}

static void add_value(struct json_writer *w, const char *name, const struct param *p, int32_t slot)
{
    double number;
    if (number_of(p, slot, &number))
        json_add_real(w, name, number);
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
        add_value(w, str_text(&f.name), f.p, c->slot[f.slot]);
}

void flat_add_key(const struct space *s, const struct config *c, struct str *out)
{
    const char *between = "";
    double number;
    for (struct flat f = {.s = s}; next(&f); between = ",") {
        str_add(out, between);
        if (number_of(f.p, c->slot[f.slot], &number))
            str_add_real(out, number);
        else
            str_add(out, f.p->label[c->slot[f.slot]]);
    }
}
