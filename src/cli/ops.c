// ops: the operators, the presets and the networks that there are.
#include "cli/ops.h"
#include "base/file.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "engine/devices.h"

#include <stdio.h>
#include <stdlib.h>

struct view {
    struct ops ops;
    struct gpu_info *devices;
    char **preset_name, **network_name;
    struct arena arena;
};

// Without --device the best one is used when there is one; naming one that is not there is an
// error.
static bool find_device(struct view *v, const char *wanted, const struct gpu_info **out,
                        struct err *e)
{
    int count, index;
    struct err ignored;
    *out = NULL;
    if (str_equal(wanted, "none"))
        return true;
    if (!devices_find(&v->devices, &count, wanted ? e : &ignored))
        return wanted == NULL;
    if (!gpu_choose(v->devices, count, wanted, &index, wanted ? e : &ignored))
        return wanted == NULL;
    *out = &v->devices[index];
    v->ops.device = (*out)->name;
    return true;
}

static void read_presets(struct view *v, const struct gpu_info *device)
{
    struct ops *o = &v->ops;
    int ours, others;
    char **name = script_presets(&ours), **foreign = script_foreign_presets(&others);
    o->preset_count = ours + others;
    v->preset_name = arena_zero(&v->arena, (size_t)o->preset_count + 1, sizeof *v->preset_name);
    for (int i = 0; i < o->preset_count; i++)
        v->preset_name[i] = i < ours ? name[i] : foreign[i - ours];
    free(name);
    free(foreign);
    o->preset = arena_zero(&v->arena, (size_t)o->preset_count + 1, sizeof *o->preset);
    for (int i = 0; i < o->preset_count; i++)
        catalogue_read(v->preset_name[i], device, &o->preset[i]);
}

static bool read_networks(struct view *v, struct err *e)
{
    struct ops *o = &v->ops;
    int count;
    v->network_name = network_names(&count);
    o->network = arena_zero(&v->arena, (size_t)count + 1, sizeof *o->network);
    for (bool ok = true; ok && o->network_count < count; o->network_count++) {
        char *path = network_find(v->network_name[o->network_count], e);
        ok = path && network_read(path, NULL, 0, &o->network[o->network_count], e);
        free(path);
        if (!ok)
            return false;
    }
    return true;
}

static void view_finish(struct view *v)
{
    for (int i = 0; i < v->ops.preset_count; i++) {
        catalogue_finish(&v->ops.preset[i]);
        free(v->preset_name[i]);
    }
    for (int i = 0; i < v->ops.network_count; i++) {
        network_finish(&v->ops.network[i]);
        free(v->network_name[i]);
    }
    free(v->network_name);
    free(v->devices);
    arena_finish(&v->arena);
}

// Everything that has a name, to suggest from.
static const char *name_at(const void *context, size_t i)
{
    const struct ops *o = context;
    size_t presets = (size_t)o->preset_count, networks = (size_t)o->network_count;
    if (i < presets)
        return o->preset[i].name;
    i -= presets;
    return i < networks ? o->network[i].name : operation_kinds[i - networks]->name;
}

static bool unknown(const struct ops *o, const char *name, struct err *e)
{
    size_t count = (size_t)o->preset_count + (size_t)o->network_count;
    for (int i = 0; operation_kinds[i]; i++)
        count++;
    const char *near = str_suggest(name, count, name_at, o);
    return near ? err_usage(e, "no operator, preset or network '%s' (did you mean '%s'?)", name,
                            near)
                : err_usage(e, "no operator, preset or network '%s' (tilewalk ops lists them)",
                            name);
}

static bool print_own_network(const char *path, struct err *e)
{
    struct network n;
    bool ok = network_read(path, NULL, 0, &n, e);
    if (ok)
        ops_print_network(&n, path);
    network_finish(&n);
    return ok;
}

static bool print_one(const struct ops *o, const char *name, struct err *e)
{
    const struct operation_kind *kind = operation_kind_find(name);
    if (kind) {
        ops_print_operator(o, kind);
        return true;
    }
    for (int i = 0; i < o->preset_count; i++)
        if (str_equal(o->preset[i].name, name)) {
            ops_print_preset(o, &o->preset[i]);
            return true;
        }
    for (int i = 0; i < o->network_count; i++)
        if (str_equal(o->network[i].name, name)) {
            ops_print_network(&o->network[i], name);
            return true;
        }
    return network_is(name) ? print_own_network(name, e) : unknown(o, name, e);
}

static bool print(const struct ops *o, const struct arguments *a, struct err *e)
{
    if (arguments_flag(a, "json")) {
        ops_print_json(o);
    } else if (a->operand_count) {
        return print_one(o, a->operand[0], e);
    } else {
        ops_print_overview(o);
    }
    return true;
}

static int run_ops(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct view v = {0};
    const struct gpu_info *device;
    struct sandbox s;
    (void)self;
    confine_begin(&s);
    confine_read_space(&s, a->operand_count ? a->operand[0] : NULL);
    confine_enter(&s);
    arena_init(&v.arena);
    bool ok = find_device(&v, arguments_text(a, "device"), &device, &e);
    if (ok)
        read_presets(&v, device);
    ok = ok && read_networks(&v, &e) && print(&v.ops, a, &e);
    view_finish(&v);
    return ok ? EXIT_OK : fail_with(&e, EXIT_FAILED);
}

static const struct option options[] = {
    {"device", OPTION_TEXT, "DEVICE|none",
     "whose eyes the presets are seen with (default: the best device there is)"},
    OPTION_JSON,
    OPTION_HELP,
    OPTION_END,
};

const struct command cmd_ops = {
    .name = "ops",
    .operands = "[NAME|NETWORK.lua]",
    .help = "list the operators, the presets with their sizes and needs, and the networks",
    .least = 0,
    .most = 1,
    .options = options,
    .run = run_ops,
};
