#include "space/operation.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static double matmul_flop(const int64_t *size)
{
    return 2.0 * (double)size[0] * (double)size[1] * (double)size[2];
}

// C[N,M] = A[N,K] B[K,M]; a layout says for A and for B whether it is stored transposed.
static const struct operation_kind matmul = {
    .name = "matmul",
    .sizes = (const char *const[]){"N", "M", "K", NULL},
    .choices =
        (const struct operation_choice[]){
            {"type", (const char *const[]){"f32", "f16", NULL}},
            {"layout", (const char *const[]){"nn", "nt", "tn", "tt", NULL}},
            {NULL, NULL},
        },
    .flop = matmul_flop,
};

const struct operation_kind *const operation_kinds[] = {&matmul, NULL};

static int list_length(const char *const *list)
{
    int n = 0;
    while (list[n])
        n++;
    return n;
}

static int list_find(const char *const *list, const char *name)
{
    for (int i = 0; list[i]; i++)
        if (strcmp(list[i], name) == 0)
            return i;
    return -1;
}

static int choice_find(const struct operation_kind *kind, const char *name)
{
    for (int i = 0; kind->choices[i].name; i++)
        if (strcmp(kind->choices[i].name, name) == 0)
            return i;
    return -1;
}

// "matmul has no type 'f64' (did you mean 'f16'?)", or the list where nothing is near.
static bool unknown(const struct operation_kind *kind, const char *what, const char *name,
                    const char *const *known, struct err *e)
{
    const char *near = str_suggest_list(name, (size_t)list_length(known), known);
    if (near)
        return err_set(e, "%s has no %s '%s' (did you mean '%s'?)", kind->name, what, name, near);
    struct str all = {0};
    for (int i = 0; known[i]; i++)
        str_printf(&all, "%s%s", i ? ", " : "", known[i]);
    err_set(e, "%s has no %s '%s' (it has %s)", kind->name, what, name, str_text(&all));
    str_finish(&all);
    return false;
}

const struct operation_kind *operation_kind_find(const char *name)
{
    for (int i = 0; operation_kinds[i]; i++)
        if (strcmp(operation_kinds[i]->name, name) == 0)
            return operation_kinds[i];
    return NULL;
}

void operation_init(struct operation *o, const struct operation_kind *kind)
{
    *o = (struct operation){.kind = kind};
}

bool operation_set_size(struct operation *o, const char *name, int64_t value, struct err *e)
{
    int i = list_find(o->kind->sizes, name);
    if (i < 0)
        return unknown(o->kind, "size", name, o->kind->sizes, e);
    if (value < 1 || value > INT32_MAX)
        return err_set(e, "%s: %s = %" PRId64 " is not within 1..%" PRId32, o->kind->name, name,
                       value, INT32_MAX);
    o->size[i] = value;
    return true;
}

bool operation_set_choice(struct operation *o, const char *name, const char *value, struct err *e)
{
    int i = choice_find(o->kind, name);
    if (i < 0)
        return err_set(e, "%s has no choice '%s'", o->kind->name, name);
    int v = list_find(o->kind->choices[i].values, value);
    if (v < 0)
        return unknown(o->kind, name, value, o->kind->choices[i].values, e);
    o->choice[i] = v;
    return true;
}

bool operation_complete(const struct operation *o, struct err *e)
{
    for (int i = 0; o->kind->sizes[i]; i++)
        if (o->size[i] == 0)
            return err_set(e, "%s: size %s is missing", o->kind->name, o->kind->sizes[i]);
    return true;
}

int64_t operation_size(const struct operation *o, const char *name)
{
    int i = list_find(o->kind->sizes, name);
    assert(i >= 0);
    return o->size[i];
}

const char *operation_choice(const struct operation *o, const char *name)
{
    int i = choice_find(o->kind, name);
    assert(i >= 0);
    return o->kind->choices[i].values[o->choice[i]];
}

double operation_flop(const struct operation *o)
{
    return o->kind->flop(o->size);
}

void operation_add_text(const struct operation *o, struct str *out)
{
    str_add(out, o->kind->name);
    for (int i = 0; o->kind->choices[i].name; i++)
        str_printf(out, " %s", o->kind->choices[i].values[o->choice[i]]);
    for (int i = 0; o->kind->sizes[i]; i++)
        str_printf(out, "%c%" PRId64, i ? 'x' : ' ', o->size[i]);
}

void operation_add_json(const struct operation *o, struct str *out)
{
    str_add(out, "{\"kind\":");
    str_add_json(out, o->kind->name);
    for (int i = 0; o->kind->sizes[i]; i++)
        str_printf(out, ",\"%s\":%" PRId64, o->kind->sizes[i], o->size[i]);
    for (int i = 0; o->kind->choices[i].name; i++) {
        const struct operation_choice *c = &o->kind->choices[i];
        str_printf(out, ",\"%s\":\"%s\"", c->name, c->values[o->choice[i]]);
    }
    str_add_char(out, '}');
}
