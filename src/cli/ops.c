// ops: the operators, the presets and the networks that there are.

#include "cli/ops.h"

#include "base/file.h"
#include "base/json.h"
#include "cli/check_network.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "engine/devices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A large GPU of today: what presets choose their standard sizes for.
static const struct limits large_gpu = {
    .invocations = 1024,
    .group_size = {1024, 1024, 64},
    .group_count = {INT32_MAX, 65535, 65535},
    .shared_bytes = 49152,
    .buffer_bytes = UINT32_MAX,
    .accumulators = 256,
    .statements = 20000,
    .subgroup_size = 32,
    .f16 = true,
    .i8 = true,
    .matrix = {.api = MATRIX_KHR,
               .count = 3,
               .shape = {{16, 16, 16, "f16", "f32"},
                         {16, 16, 16, "f16", "f16"},
                         {16, 16, 32, "i8", "i32"}}},
};

static struct script *read_preset(const char *name, const char *device_type,
                                  const struct limits *limits, struct err *e)
{
    char *path = script_find(name, e);
    struct script_options o = {.path = path, .device_type = device_type, .limits = limits};
    struct script *s = path ? script_create(&o, e) : NULL;
    free(path);
    return s;
}

static bool has_element(const struct script *s, enum element element)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int count = operation_tensors(script_operation(s), tensor);
    for (int i = 0; i < count; i++)
        if (tensor[i].element == element)
            return true;
    return false;
}

void catalogue_read(const char *name, const struct gpu_info *device, struct preset *out)
{
    *out = (struct preset){.name = name};
    out->here = read_preset(name, device ? device->type : "none", device ? &device->limits : NULL,
                            &out->why_here);
    out->gpu = read_preset(name, "discrete", &large_gpu, &out->why_gpu);
    const struct script *s = catalogue_script(out);
    struct limits without = large_gpu;
    struct err ignored;
    without.matrix = (struct matrix_units){.api = MATRIX_NONE};
    struct script *plain = out->gpu ? read_preset(out->name, "discrete", &without, &ignored) : NULL;
    out->needs_matrix = out->gpu && !plain;
    out->needs_f16 = s && has_element(s, ELEMENT_F16);
    out->needs_i8 = s && has_element(s, ELEMENT_I8);
    script_destroy(plain);
    if (device) {
        // A preset may be read where its numbers are missing.
        bool f16 = out->needs_f16 && !device->limits.f16, i8 = out->needs_i8 && !device->limits.i8;
        if (out->here && (f16 || i8)) {
            err_set(&out->why_here, "the device has no numbers of %s bits", f16 ? "16" : "8");
            script_destroy(out->here);
            out->here = NULL;
        }
    }
}

void catalogue_finish(struct preset *p)
{
    script_destroy(p->here);
    script_destroy(p->gpu);
    *p = (struct preset){0};
}

const struct script *catalogue_script(const struct preset *p)
{
    return p->here ? p->here : p->gpu;
}

int catalogue_needs(const struct preset *p, const char *out[3])
{
    int count = 0;
    if (p->needs_f16)
        out[count++] = "16 bit";
    if (p->needs_i8)
        out[count++] = "8 bit";
    if (p->needs_matrix)
        out[count++] = "matrix units";
    return count;
}

// --- tensors of a kind ---

static bool complete_tensors(struct operation o, struct tensor out[OPERATION_MAX_TENSORS],
                             int *count)
{
    if (!operation_complete(&o, NULL))
        return false;
    *count = operation_tensors(&o, out);
    return true;
}

static bool is_among(const struct tensor *list, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return true;
    return false;
}

// Where a choice alone brings a tensor that is not among the plain ones, it is made in `all`, and
// `when` of the tensor says so.
static void try_choice(const struct operation *plain, int choice, struct operation *all,
                       struct possible_tensor *named, int *named_count)
{
    const struct operation_choice *c = &plain->kind->choices[choice];
    struct tensor before[OPERATION_MAX_TENSORS], tensor[OPERATION_MAX_TENSORS];
    int before_count, count;
    if (!complete_tensors(*plain, before, &before_count))
        return;
    for (int v = 1; c->values[v]; v++) {
        struct operation o = *plain;
        o.choice[choice] = v;
        if (!complete_tensors(o, tensor, &count))
            continue;
        for (int i = 0; i < count && *named_count < OPERATION_MAX_TENSORS; i++)
            if (!is_among(before, before_count, tensor[i].name) && !all->choice[choice]) {
                struct possible_tensor *p = &named[(*named_count)++];
                p->tensor = tensor[i];
                snprintf(p->when, sizeof p->when, "%s=%s", c->name, c->values[v]);
                all->choice[choice] = v;
            }
    }
}

int catalogue_tensors(const struct operation_kind *kind,
                      struct possible_tensor out[OPERATION_MAX_TENSORS])
{
    struct operation plain, all;
    struct possible_tensor named[OPERATION_MAX_TENSORS];
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int count = 0, named_count = 0;
    operation_init(&plain, kind);
    for (int i = 0; kind->sizes[i].name; i++)
        if (plain.size[i] == SIZE_REQUIRED)
            plain.size[i] = 1;
    all = plain;
    for (int i = 0; kind->choices && kind->choices[i].name; i++)
        try_choice(&plain, i, &all, named, &named_count);
    if (!complete_tensors(all, tensor, &count))
        return 0;
    for (int i = 0; i < count; i++) {
        out[i] = (struct possible_tensor){.tensor = tensor[i]};
        for (int k = 0; k < named_count; k++)
            if (strcmp(named[k].tensor.name, tensor[i].name) == 0)
                strcpy(out[i].when, named[k].when);
    }
    return count;
}

// --- operators ---

static void add_buffers(struct json_writer *w, const struct operation_kind *k)
{
    struct possible_tensor tensor[OPERATION_MAX_TENSORS];
    int count = catalogue_tensors(k, tensor);
    json_begin_list(w, "buffers");
    for (int i = 0; i < count; i++) {
        json_begin_object(w, NULL);
        json_add_text(w, "name", tensor[i].tensor.name);
        json_add_int(w, "rank", tensor[i].tensor.rank);
        json_add_flag(w, "output", i == count - 1);
        json_add_text_if_any(w, "when", tensor[i].when);
        json_end(w);
    }
    json_end(w);
}

static void add_operators(struct json_writer *w)
{
    json_begin_list(w, "operators");
    for (int i = 0; operation_kinds[i]; i++) {
        const struct operation_kind *k = operation_kinds[i];
        json_begin_object(w, NULL);
        json_add_text(w, "name", k->name);
        json_add_text(w, "help", k->help);
        json_begin_list(w, "sizes");
        for (int j = 0; k->sizes[j].name; j++) {
            json_begin_object(w, NULL);
            json_add_text(w, "name", k->sizes[j].name);
            if (k->sizes[j].standard == SIZE_REQUIRED)
                json_add_null(w, "standard");
            else
                json_add_int(w, "standard", k->sizes[j].standard);
            json_add_int(w, "least", k->sizes[j].least);
            json_end(w);
        }
        json_end(w);
        json_begin_list(w, "derived");
        for (int j = 0; k->derived && k->derived[j].name; j++)
            json_add_text(w, NULL, k->derived[j].name);
        json_end(w);
        json_begin_list(w, "choices");
        for (int l = 0; k->choices && k->choices[l].name; l++) {
            json_begin_object(w, NULL);
            json_add_text(w, "name", k->choices[l].name);
            json_add_texts(w, "values", k->choices[l].values);
            json_end(w);
        }
        json_end(w);
        json_begin_list(w, "numbers");
        for (int l = 0; k->reals && k->reals[l].name; l++) {
            json_begin_object(w, NULL);
            json_add_text(w, "name", k->reals[l].name);
            json_add_real(w, "standard", k->reals[l].standard);
            json_end(w);
        }
        json_end(w);
        add_buffers(w, k);
        json_end(w);
    }
    json_end(w);
}

// --- presets ---

static void add_place(struct json_writer *w, const char *name, const struct script *s,
                      const struct err *why)
{
    json_begin_object(w, name);
    if (s) {
        json_add_name(w, "problem");
        operation_add_json(script_operation(s), w->out);
        json_add_real(w, "flop", operation_flop(script_operation(s)));
        json_add_text(w, "size", script_space(s)->size_text);
    }
    json_add_text(w, "missing", s ? NULL : why->text);
    json_end(w);
}

static void add_presets(struct json_writer *w, const struct ops *o)
{
    json_begin_list(w, "presets");
    for (int i = 0; i < o->preset_count; i++) {
        const struct preset *p = &o->preset[i];
        const struct script *s = catalogue_script(p);
        const char *needs[4] = {NULL};
        catalogue_needs(p, needs);
        json_begin_object(w, NULL);
        json_add_text(w, "name", p->name);
        if (s) {
            json_add_text(w, "operator", script_operation(s)->kind->name);
            int count;
            const struct script_setting *setting = script_settings(s, &count);
            json_begin_list(w, "settings");
            for (int k = 0; k < count; k++) {
                json_begin_object(w, NULL);
                json_add_text(w, "name", setting[k].name);
                json_add_text(w, "standard", setting[k].standard);
                if (setting[k].values)
                    json_add_texts(w, "values", setting[k].values);
                json_end(w);
            }
            json_end(w);
            const struct space *space = script_space(s);
            json_begin_list(w, "parameters");
            for (int j = 0; j < space->param_count; j++) {
                char *size = param_size_text(&space->param[j]);
                json_begin_object(w, NULL);
                json_add_text(w, "name", space->param[j].name);
                json_add_text(w, "kind", param_kind_name(space->param[j].kind));
                json_add_text(w, "size", size);
                json_end(w);
                free(size);
            }
            json_end(w);
        }
        add_place(w, "here", p->here, &p->why_here);
        add_place(w, "gpu", p->gpu, &p->why_gpu);
        json_add_texts(w, "needs", needs);
        json_end(w);
    }
    json_end(w);
}

// --- networks ---

void ops_print_json(const struct ops *o)
{
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    add_operators(&w);
    add_presets(&w, o);
    json_begin_list(&w, "networks");
    for (int i = 0; i < o->network_count; i++) {
        json_begin_object(&w, NULL);
        check_network_add(&w, &o->network[i]);
        json_end(&w);
    }
    json_end(&w);
    json_begin_list(&w, "lists"); // members are never removed (docs/json.md)
    json_end(&w);
    json_add_text(&w, "device", o->device);
    json_print(&w);
}

// --- operators ---

static bool is_of(const struct preset *p, const struct operation_kind *k)
{
    const struct script *s = catalogue_script(p);
    return s && script_operation(s)->kind == k;
}

void ops_print_operator(const struct ops *o, const struct operation_kind *kind)
{
    printf("%s: %s\n", kind->name, kind->help);
    printf("\nsizes\n");
    for (int i = 0; kind->sizes[i].name; i++) {
        const struct operation_size *s = &kind->sizes[i];
        if (s->standard == SIZE_REQUIRED)
            printf("  %-14s from %" PRId64 "\n", s->name, s->least);
        else
            printf("  %-14s from %" PRId64 ", %" PRId64 " if it is not given\n", s->name, s->least,
                   s->standard);
    }
    for (int i = 0; kind->derived && kind->derived[i].name; i++)
        printf("  %-14s follows from the others\n", kind->derived[i].name);
    printf("\nchoices, the first one if none is given\n");
    for (int i = 0; kind->choices && kind->choices[i].name; i++) {
        printf("  %-14s", kind->choices[i].name);
        for (int v = 0; kind->choices[i].values[v]; v++)
            printf("%s %s", v ? "," : "", kind->choices[i].values[v]);
        printf("\n");
    }
    for (int i = 0; kind->reals && kind->reals[i].name; i++)
        printf("  %-14s a number, %g if it is not given\n", kind->reals[i].name,
               kind->reals[i].standard);
    struct possible_tensor tensor[OPERATION_MAX_TENSORS];
    int count = catalogue_tensors(kind, tensor);
    printf("\nbuffers, in the order of their bindings\n");
    for (int i = 0; i < count; i++)
        printf("  %-14s %d dimension%s%s%s%s\n", tensor[i].tensor.name, tensor[i].tensor.rank,
               tensor[i].tensor.rank == 1 ? "" : "s", tensor[i].when[0] ? ", with " : "",
               tensor[i].when, i == count - 1 ? ", the output" : "");
    const char *between = "\npresets\n  ";
    for (int i = 0; i < o->preset_count; i++)
        if (is_of(&o->preset[i], kind)) {
            printf("%s%s", between, o->preset[i].name);
            between = " ";
        }
    printf("%s", str_equal(between, " ") ? "\n" : "");
}

// --- presets ---

static void add_title(const struct script *s, struct str *out)
{
    operation_add_text(script_operation(s), out);
    str_printf(out, ", %s points", script_space(s)->size_text);
}

static void print_needs(const struct preset *p, const char *before)
{
    const char *needs[3];
    int count = catalogue_needs(p, needs);
    for (int i = 0; i < count; i++)
        printf("%s%s", i ? ", " : before, needs[i]);
    if (count)
        printf("\n");
}

// One line for a place, or why there is none.
static void print_place(const char *place, const struct script *s, const struct err *why)
{
    struct str text = {0};
    if (s)
        add_title(s, &text);
    else
        str_add(&text, why->text);
    printf("%s%s\n", place, str_text(&text));
    str_finish(&text);
}

static bool same_everywhere(const struct preset *p)
{
    struct str here = {0}, gpu = {0};
    if (!p->here && !p->gpu)
        return strcmp(p->why_here.text, p->why_gpu.text) == 0;
    if (!p->here || !p->gpu)
        return false;
    add_title(p->here, &here);
    add_title(p->gpu, &gpu);
    bool same = strcmp(str_text(&here), str_text(&gpu)) == 0;
    str_finish(&here);
    str_finish(&gpu);
    return same;
}

void ops_print_preset(const struct ops *o, const struct preset *p)
{
    const struct script *s = catalogue_script(p);
    struct str here = {0};
    printf("%s: a preset%s%s\n", p->name, s ? " for " : "",
           s ? script_operation(s)->kind->help : "");
    str_printf(&here, "  %-14s ", o->device ? "here" : "no device");
    print_place(str_text(&here), p->here, &p->why_here);
    print_place("  on GPUs        ", p->gpu, &p->why_gpu);
    print_needs(p, "  needs          ");
    str_finish(&here);
    if (!s)
        return;
    int count;
    const struct script_setting *setting = script_settings(s, &count);
    printf("\nwhat --set changes\n");
    for (int i = 0; i < count; i++) {
        printf("  %-14s %s", setting[i].name, setting[i].standard);
        for (int v = 0; setting[i].values && setting[i].values[v]; v++)
            if (strcmp(setting[i].values[v], setting[i].standard) != 0)
                printf(", or %s", setting[i].values[v]);
        printf("\n");
    }
    printf("\nparameters\n");
    for (int i = 0; i < script_space(s)->param_count; i++) {
        const struct param *q = &script_space(s)->param[i];
        char *size = param_size_text(q);
        printf("  %-14s %-14s %s values\n", q->name, param_kind_name(q->kind), size);
        free(size);
    }
}

// --- networks ---

void ops_print_network(const struct network *n, const char *asked_for)
{
    check_network_print(n);
    check_network_print_settings(n);
    printf("\ntilewalk tune %s tunes its tasks; check %s --json tells its layers, too\n", asked_for,
           asked_for);
}

void ops_print_overview(const struct ops *o)
{
    printf("operators\n");
    for (int i = 0; operation_kinds[i]; i++)
        printf("  %-14s %s\n", operation_kinds[i]->name, operation_kinds[i]->help);
    printf("\npresets, with their standard sizes %s%s\n", o->device ? "on " : "without a device",
           o->device ? o->device : "");
    for (int i = 0; i < o->preset_count; i++) {
        struct str name = {0};
        str_printf(&name, "  %-14s ", o->preset[i].name);
        print_place(str_text(&name), o->preset[i].here, &o->preset[i].why_here);
        if (!same_everywhere(&o->preset[i]))
            print_place("                 on GPUs: ", o->preset[i].gpu, &o->preset[i].why_gpu);
        print_needs(&o->preset[i], "                 needs ");
        str_finish(&name);
    }
    printf("\nnetworks\n");
    for (int i = 0; i < o->network_count; i++)
        printf("  %-14s %s\n", o->network[i].name, o->network[i].about);
    printf("\ntilewalk ops NAME says more of each\n");
}

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

static bool print(const struct ops *o, const struct arguments *a, struct err *e)
{
    if (arguments_flag(a, "json")) {
        ops_print_json(o);
    } else if (a->operand_count) {
        const char *name = a->operand[0];
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
    if (ok) {
        struct ops *o = &v.ops;
        int ours, others;
        char **name = script_presets(&ours), **foreign = script_foreign_presets(&others);
        o->preset_count = ours + others;
        v.preset_name = arena_zero(&v.arena, (size_t)o->preset_count + 1, sizeof *v.preset_name);
        for (int i = 0; i < o->preset_count; i++)
            v.preset_name[i] = i < ours ? name[i] : foreign[i - ours];
        free(name);
        free(foreign);
        o->preset = arena_zero(&v.arena, (size_t)o->preset_count + 1, sizeof *o->preset);
        for (int i = 0; i < o->preset_count; i++)
            catalogue_read(v.preset_name[i], device, &o->preset[i]);
    }
    ok = ok && read_networks(&v, &e) && print(&v.ops, a, &e);
    for (int i = 0; i < v.ops.preset_count; i++) {
        catalogue_finish(&v.ops.preset[i]);
        free(v.preset_name[i]);
    }
    for (int i = 0; i < v.ops.network_count; i++) {
        network_finish(&v.ops.network[i]);
        free(v.network_name[i]);
    }
    free(v.network_name);
    free(v.devices);
    arena_finish(&v.arena);
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
