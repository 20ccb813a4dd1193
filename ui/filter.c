#include "filter.h"

#include "expression.h"
#include "filter_term.h"

#include <stdlib.h>

struct filter {
    const struct space *space;
    struct expression *expression;
    struct term *term;
    int count, capacity;
    struct filter_amounts amounts;
};

// A name that no operator follows: only `early` may stand alone.
static bool set_alone(struct term *t, const struct space *space, const char *name, struct err *e)
{
    enum outcome outcome;
    if (!name)
        return err_set(e, "a name belongs here, without quotes");
    if (outcome_parse(name, &outcome))
        return err_set(e, "'%s' is an outcome: outcome=%s", name, name);
    if (!term_set_name(t, space, name, e))
        return false;
    if (t->field == FIELD_EARLY)
        return term_set_value(t, TERM_EQUAL, "yes", e);
    return err_set(e, "'%s' needs = != < <= > >= : or ~ and a value after it", name);
}

static bool add_term(void *context, const struct typed_term *typed, bool *wrong_value,
                     struct err *e)
{
    struct filter *f = context;
    MEM_GROW(f->term, f->count, f->capacity);
    struct term *t = &f->term[f->count++];
    *t = (struct term){0};
    if (!typed->name || !typed->value)
        return set_alone(t, f->space, typed->name, e);
    if (!term_set_name(t, f->space, typed->name, e))
        return false;
    *wrong_value = true;
    return term_set_value(t, typed->op, typed->value, e);
}

struct filter *filter_compile(const char *text, const struct space *space,
                              const struct filter_amounts *a, struct err *e)
{
    struct filter *f = mem_zero(1, sizeof *f);
    struct err unheard;
    f->space = space;
    f->amounts = *a;
    const struct term_reader reader = {f, add_term};
    f->expression = expression_read(text, &reader, e ? e : &unheard);
    if (f->expression)
        return f;
    filter_destroy(f);
    return NULL;
}

void filter_destroy(struct filter *f)
{
    if (!f)
        return;
    for (int i = 0; i < f->count; i++)
        term_finish(&f->term[i]);
    free(f->term);
    expression_destroy(f->expression);
    free(f);
}

static bool holds(const void *context, int number, const void *item)
{
    const struct filter *f = context;
    const struct trial *t = item;
    return term_holds(&f->term[number], t, &f->amounts);
}

bool filter_accepts(const struct filter *f, const struct trial *t)
{
    return expression_holds(f->expression, holds, f, t);
}

bool filter_is_empty(const struct filter *f)
{
    return expression_is_empty(f->expression);
}

static bool asks_rejected(const void *context, int number, const void *item)
{
    const struct filter *f = context;
    (void)item;
    return term_asks_rejected(&f->term[number]);
}

bool filter_asks_rejected(const struct filter *f)
{
    return expression_mentions(f->expression, asks_rejected, f);
}
