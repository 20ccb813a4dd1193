#include "space/operation.h"

#include "base/json.h"
#include "space/operation_kinds.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define AS_ENTRY(name) &operation_##name,
const struct operation_kind *const operation_kinds[] = {OPERATIONS(AS_ENTRY) NULL};

// Finds a name in a list of a kind: records that begin with a name, up to one without. Returns its
// index, or -1.
static int find_name(const void *list, size_t record, const char *name)
{
    const char *at = list;
    for (int i = 0; at; i++, at += record) {
        const char *here;
        memcpy(&here, at, sizeof here);
        if (!here)
            break;
        if (strcmp(here, name) == 0)
            return i;
    }
    return -1;
}

#define FIND(list, name) find_name(list, sizeof *(list), name)

// Fails with "matmul has no type 'f64' (did you mean 'f16'?)", or with the list when no name is
// near.
static bool unknown(const struct operation_kind *kind, const char *what, const char *name,
                    const char *const *known, struct err *e)
{
    int count = 0;
    struct str all = {0};
    for (; known[count]; count++)
        str_printf(&all, "%s%s", count ? ", " : "", known[count]);
    const char *near = str_suggest_list(name, (size_t)count, known);
    if (near)
        err_set(e, "%s has no %s '%s' (did you mean '%s'?)", kind->name, what, name, near);
    else
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

const struct operation_kind *operation_kind_named(const char *name, struct err *e)
{
    const struct operation_kind *kind = operation_kind_find(name);
    const char *names[sizeof operation_kinds / sizeof *operation_kinds];
    size_t count = 0;
    for (; operation_kinds[count]; count++)
        names[count] = operation_kinds[count]->name;
    const char *near = kind ? NULL : str_suggest_list(name, count, names);
    if (near)
        err_usage(e, "unknown operator '%s' (did you mean '%s'?)", name, near);
    else if (!kind)
        err_usage(e, "unknown operator '%s'", name);
    return kind;
}

void operation_init(struct operation *o, const struct operation_kind *kind)
{
    *o = (struct operation){.kind = kind};
    for (int i = 0; kind->sizes[i].name; i++)
        o->size[i] = kind->sizes[i].standard;
    for (int i = 0; kind->reals && kind->reals[i].name; i++)
        o->real[i] = kind->reals[i].standard;
}

bool operation_set_size(struct operation *o, const char *name, int64_t value, struct err *e)
{
    int i = FIND(o->kind->sizes, name);
    if (i < 0) {
        const char *known[OPERATION_MAX_SIZES + 1] = {NULL};
        for (int j = 0; o->kind->sizes[j].name; j++)
            known[j] = o->kind->sizes[j].name;
        return unknown(o->kind, "size", name, known, e);
    }
    int64_t least = o->kind->sizes[i].least;
    if (value < least || value > INT32_MAX)
        return err_set(e, "%s: %s = %" PRId64 " is not within %" PRId64 "..%" PRId32, o->kind->name,
                       name, value, least, INT32_MAX);
    o->size[i] = value;
    return true;
}

bool operation_set_choice(struct operation *o, const char *name, const char *value, struct err *e)
{
    int i = FIND(o->kind->choices, name);
    if (i < 0)
        return err_set(e, "%s has no choice '%s'", o->kind->name, name);
    const char *const *values = o->kind->choices[i].values;
    for (int v = 0; values[v]; v++)
        if (strcmp(values[v], value) == 0) {
            o->choice[i] = v;
            return true;
        }
    return unknown(o->kind, name, value, values, e);
}

bool operation_set_real(struct operation *o, const char *name, double value, struct err *e)
{
    int i = FIND(o->kind->reals, name);
    if (i < 0)
        return err_set(e, "%s has no number '%s'", o->kind->name, name);
    if (!isfinite(value))
        return err_set(e, "%s: %s is not a finite number", o->kind->name, name);
    o->real[i] = value;
    return true;
}

bool operation_complete(struct operation *o, struct err *e)
{
    for (int i = 0; o->kind->sizes[i].name; i++)
        if (o->size[i] == SIZE_REQUIRED)
            return err_set(e, "%s: size %s is missing", o->kind->name, o->kind->sizes[i].name);
    return !o->kind->complete || o->kind->complete(o, e);
}

int64_t *operation_size_at(struct operation *o, const char *name)
{
    int i = FIND(o->kind->sizes, name);
    assert(i >= 0);
    return &o->size[i];
}

int64_t operation_size(const struct operation *o, const char *name)
{
    const struct operation_derived *derived = o->kind->derived;
    int i = FIND(o->kind->sizes, name);
    if (i >= 0)
        return o->size[i];
    i = FIND(derived, name);
    assert(i >= 0);
    return derived[i].value(o);
}

const char *operation_choice(const struct operation *o, const char *name)
{
    int i = FIND(o->kind->choices, name);
    assert(i >= 0);
    return o->kind->choices[i].values[o->choice[i]];
}

bool operation_chooses(const struct operation *o, const char *name, const char *value)
{
    return str_equal(operation_choice(o, name), value);
}

double operation_real(const struct operation *o, const char *name)
{
    int i = FIND(o->kind->reals, name);
    assert(i >= 0);
    return o->real[i];
}

enum element operation_element(const struct operation *o)
{
    return element_named(operation_choice(o, "type"));
}

struct tensor tensor_image(const struct operation *o, const char *name, enum element element,
                           const int64_t size[4])
{
    bool channels_last = operation_chooses(o, "layout", "nhwc");
    const int64_t last[4] = {size[0], size[2], size[3], size[1]};
    return tensor_packed(name, element, 4, channels_last ? last : size);
}

double operation_flop(const struct operation *o)
{
    return o->kind->flop(o);
}

struct workload operation_work(const struct operation *o)
{
    if (o->kind->work)
        return o->kind->work(o);
    return (struct workload){operation_flop(o), WORK_FLOP};
}

struct workload operation_moved(const struct operation *o)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    struct workload w = {0, WORK_BYTES};
    int count = operation_tensors(o, tensor);
    for (int i = 0; i < count; i++)
        w.amount += (double)tensor_count(&tensor[i]) * element_bytes(tensor[i].element);
    return w;
}

int operation_outputs(const struct operation *o)
{
    return o->kind->outputs ? o->kind->outputs : 1;
}

int operation_tensors(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS])
{
    return o->kind->tensors(o, out);
}

// --- text and JSON ---

struct field {
    const char *name;
    char value[40];
    bool is_plain, is_number;
};
enum { MOST_FIELDS = OPERATION_MAX_SIZES + OPERATION_MAX_CHOICES + OPERATION_MAX_REALS };

// Lists the fields that describe an operation: the required sizes and the plain choices, then all
// others that differ from the standard. Returns how many.
static int list_fields(const struct operation *o, struct field field[MOST_FIELDS])
{
    const struct operation_kind *kind = o->kind;
    int count = 0;
    for (int i = 0; kind->sizes[i].name; i++) {
        bool required = kind->sizes[i].standard == SIZE_REQUIRED;
        struct operation plain = *o; // as if the size had not been given
        plain.size[i] = kind->sizes[i].standard;
        if (!required && operation_complete(&plain, NULL) && plain.size[i] == o->size[i])
            continue;
        struct field f = {kind->sizes[i].name, "", required, true};
        snprintf(f.value, sizeof f.value, "%" PRId64, o->size[i]);
        field[count++] = f;
    }
    for (int i = 0; kind->choices && kind->choices[i].name; i++) {
        const struct operation_choice *c = &kind->choices[i];
        struct field f = {c->name, "", c->is_plain, false};
        snprintf(f.value, sizeof f.value, "%s", c->values[o->choice[i]]);
        if (c->is_plain || o->choice[i] != 0)
            field[count++] = f;
    }
    for (int i = 0; kind->reals && kind->reals[i].name; i++)
        if (o->real[i] != kind->reals[i].standard) { // nothing is equal to NAN
            struct str real = {0};
            struct field f = {kind->reals[i].name, "", false, true};
            str_add_real(&real, o->real[i]);
            snprintf(f.value, sizeof f.value, "%s", str_text(&real));
            str_finish(&real);
            field[count++] = f;
        }
    return count;
}

void operation_add_text(const struct operation *o, struct str *out)
{
    struct field field[MOST_FIELDS];
    int count = list_fields(o, field), sizes = 0;
    str_add(out, o->kind->name);
    for (int i = 0; i < count; i++)
        if (field[i].is_plain && !field[i].is_number)
            str_printf(out, " %s", field[i].value);
    for (int i = 0; i < count; i++)
        if (field[i].is_plain && field[i].is_number)
            str_printf(out, "%c%s", sizes++ ? 'x' : ' ', field[i].value);
    for (int i = 0; i < count; i++)
        if (!field[i].is_plain)
            str_printf(out, " %s=%s", field[i].name, field[i].value);
}

void operation_add_json(const struct operation *o, struct str *out)
{
    struct field field[MOST_FIELDS];
    int count = list_fields(o, field);
    struct json_writer w = json_begin(out);
    json_add_text(&w, "kind", o->kind->name);
    for (int i = 0; i < count; i++)
        (field[i].is_number ? json_add_raw : json_add_text)(&w, field[i].name, field[i].value);
    json_end(&w);
}
