// Finds the sizes with which a network fits a device.
#include "base/mem.h"
#include "base/number.h"
#include "script/network.h"

#include <inttypes.h>
#include <stdlib.h>

bool network_task_fits(const struct network *n, const struct network_task *t,
                       const struct limits *l, struct err *e)
{
    return t->largest_bytes <= l->buffer_bytes ||
           err_set(e,
                   "layer '%s' of %s has a buffer of %" PRIu64 " MB, the device takes %" PRIu64
                   " MB",
                   t->label, n->name, t->largest_bytes / 1000000, l->buffer_bytes / 1000000);
}

bool network_fits(const struct network *n, const struct limits *l, uint64_t memory_bytes,
                  struct err *e)
{
    struct plan_bytes b = plan_bytes(&n->plan);
    for (int i = 0; i < n->task_count; i++)
        if (!network_task_fits(n, &n->task[i], l, e))
            return false;
    return !memory_bytes || b.kept + b.shared <= memory_bytes ||
           err_set(e, "%s needs %.4g MB of memory, the device has %.4g MB", n->name,
                   (double)(b.kept + b.shared) / 1e6, (double)memory_bytes / 1e6);
}

// --- smaller sizes ---

enum { EIGHTHS = 8 };

struct fitting {
    const struct script_options *options;
    const struct limits *limits;
    uint64_t memory_bytes;
    bool keeps_given;
    struct arena *arena;
};

static const struct setting *find_given(const struct script_options *o, const char *name)
{
    for (int i = 0; i < o->set_count; i++)
        if (str_equal(o->set[i].name, name))
            return &o->set[i];
    return NULL;
}

// Adds the size as `eighths` of what it is. False: it is not smaller then, or may not be changed.
static bool add_smaller(const struct fitting *f, const struct script_setting *s, int eighths,
                        struct network_sizes *out)
{
    int64_t value;
    if (!s->is_whole || (f->keeps_given && find_given(f->options, s->name)) ||
        !str_to_int(s->value, 1, INT64_MAX / EIGHTHS, &value) || value * eighths / EIGHTHS < 1)
        return false;
    out->set[out->count].name = arena_strdup(f->arena, s->name);
    out->set[out->count++].value = arena_printf(f->arena, "%" PRId64, value * eighths / EIGHTHS);
    return true;
}

// Returns whether the network, which may not permit these sizes, fits with them. Adds the settings
// that were given.
static bool fits_with(const struct fitting *f, struct network_sizes *s)
{
    struct script_options o = *f->options;
    struct network n = {0};
    struct err ignored;
    s->changed = s->count;
    for (int i = 0; i < f->options->set_count; i++) {
        bool is_changed = false;
        for (int k = 0; k < s->changed; k++)
            is_changed |= str_equal(s->set[k].name, f->options->set[i].name);
        if (!is_changed)
            s->set[s->count++] = f->options->set[i];
    }
    o.set = s->set;
    o.set_count = s->count;
    bool ok =
        network_load(&o, &n, &ignored) && network_fits(&n, f->limits, f->memory_bytes, &ignored);
    network_finish(&n);
    if (!ok)
        s->count = s->changed = 0;
    return ok;
}

static bool find_sizes(const struct fitting *f, const struct network *n, struct network_sizes *out)
{
    for (int i = 0; i < n->setting_count; i++)
        for (int k = EIGHTHS - 1; k > 0; k--)
            if (add_smaller(f, &n->setting[i], k, out) && fits_with(f, out))
                return true;
    for (int k = EIGHTHS - 1; k > 0; k--) {
        for (int i = 0; i < n->setting_count; i++)
            add_smaller(f, &n->setting[i], k, out);
        if (out->count && fits_with(f, out))
            return true;
    }
    return false;
}

static void add_sizes(struct str *s, const struct network_sizes *sizes)
{
    for (int i = 0; i < sizes->changed; i++)
        str_printf(s, "%s%s=%s", i ? " --set " : "", sizes->set[i].name, sizes->set[i].value);
}

bool network_fit(const struct network *n, const struct script_options *o, const struct limits *l,
                 uint64_t memory_bytes, struct network_sizes *out, struct err *e)
{
    struct arena *a = out->arena;
    struct fitting f = {o, l, memory_bytes, true, a};
    struct str text = {0};
    const size_t most = (size_t)(o->set_count + n->setting_count) + 1;
    *out = (struct network_sizes){.arena = a, .set = arena_zero(a, most, sizeof *out->set)};
    bool found = find_sizes(&f, n, out);
    f.keeps_given = false;
    if (!found && o->set_count)
        find_sizes(&f, n, out);
    struct err why = *e;
    add_sizes(&text, out);
    if (out->changed)
        err_set(e, "%s (--set %s fits)", why.text, str_text(&text));
    else
        err_set(e, "%s (no eighth of its sizes fits)", why.text);
    out->text = arena_strdup(a, str_text(&text));
    str_finish(&text);
    return found;
}
