// ops: the operators, the presets and the networks that there are.
//
// Each preset is read once for the device of this machine and once for a large GPU; all that is
// known of it comes from that. It needs matrix units when it can be read for a GPU that has them
// and not for one without; its operator determines the bits of its numbers.
#include "base/file.h"
#include "cli/check.h"
#include "cli/common.h"
#include "cli/confine.h"
#include "script/script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct preset {
    const char *name;
    struct script *here, *gpu; // NULL: why_here and why_gpu name what that device lacks
    struct err why_here, why_gpu;
    bool needs_f16, needs_i8, needs_matrix; // with its standard sizes and choices
};

struct ops {
    const char *device; // name of the one here; NULL: none
    struct preset *preset;
    int preset_count;
    struct network *network;
    int network_count;
    struct arena arena;
};

// --- reading presets ---

static struct script *read_preset(const char *name, const char *device_type,
                                  const struct limits *limits, struct err *e)
{
    char *path = script_find_shipped(name, e);
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

// Returns the script that describes the preset: `here`, else `gpu`; NULL: neither could be read.
static const struct script *preset_script(const struct preset *p)
{
    return p->here ? p->here : p->gpu;
}

// Lists the needs that not every device meets: "16 bit", "8 bit", "matrix units". Returns their
// number.
static int preset_needs(const struct preset *p, const char *out[3])
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

// A tensor that an operation may have. `when` is the choice that brings it, "" where it always is.
struct possible_tensor {
    struct tensor tensor;
    char when[64];
};

static bool complete_tensors(struct operation o, struct tensor out[OPERATION_MAX_TENSORS],
                             int *count)
{
    if (!operation_complete(&o, NULL))
        return false;
    *count = operation_tensors(&o, out);
    return true;
}

// Where a choice alone brings a tensor that is not among the plain ones, the choice is made in
// `all`, and `when` of the tensor names it.
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
        for (int i = 0; i < count && *named_count < OPERATION_MAX_TENSORS; i++) {
            int k = 0;
            while (k < before_count && strcmp(before[k].name, tensor[i].name) != 0)
                k++;
            if (k < before_count || all->choice[choice])
                continue;
            struct possible_tensor *p = &named[(*named_count)++];
            p->tensor = tensor[i];
            snprintf(p->when, sizeof p->when, "%s=%s", c->name, c->values[v]);
            all->choice[choice] = v;
        }
    }
}

// Lists the tensors of a kind in the order of their bindings; returns their number.
static int kind_tensors(const struct operation_kind *kind,
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

// --- JSON (docs/json.md) ---

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
        struct possible_tensor tensor[OPERATION_MAX_TENSORS];
        int count = kind_tensors(k, tensor);
        json_begin_list(w, "buffers");
        for (int m = 0; m < count; m++) {
            json_begin_object(w, NULL);
            json_add_text(w, "name", tensor[m].tensor.name);
            json_add_int(w, "rank", tensor[m].tensor.rank);
            json_add_flag(w, "output", m == count - 1);
            json_add_text_if_any(w, "when", tensor[m].when);
            json_end(w);
        }
        json_end(w);
        json_end(w);
    }
    json_end(w);
}

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
        const struct script *s = preset_script(p);
        const char *needs[4] = {NULL};
        preset_needs(p, needs);
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

static void ops_print_json(const struct ops *o)
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

// --- text ---

static void print_operator(const struct ops *o, const struct operation_kind *kind)
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
    int count = kind_tensors(kind, tensor);
    printf("\nbuffers, in the order of their bindings\n");
    for (int i = 0; i < count; i++)
        printf("  %-14s %d dimension%s%s%s%s\n", tensor[i].tensor.name, tensor[i].tensor.rank,
               tensor[i].tensor.rank == 1 ? "" : "s", tensor[i].when[0] ? ", with " : "",
               tensor[i].when, i == count - 1 ? ", the output" : "");
    const char *between = "\npresets\n  ";
    for (int i = 0; i < o->preset_count; i++) {
        const struct script *s = preset_script(&o->preset[i]);
        if (!s || script_operation(s)->kind != kind)
            continue;
        printf("%s%s", between, o->preset[i].name);
        between = " ";
    }
    printf("%s", str_equal(between, " ") ? "\n" : "");
}

static void add_title(const struct script *s, struct str *out)
{
    operation_add_text(script_operation(s), out);
    str_printf(out, ", %s points", script_space(s)->size_text);
}

static void print_needs(const struct preset *p, const char *before)
{
    const char *needs[3];
    int count = preset_needs(p, needs);
    for (int i = 0; i < count; i++)
        printf("%s%s", i ? ", " : before, needs[i]);
    if (count)
        printf("\n");
}

// Prints a line for a place, or why there is none.
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

static void print_preset(const struct ops *o, const struct preset *p)
{
    const struct script *s = preset_script(p);
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
    printf("\nsettings that --set changes\n");
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

// `asked_for` is its name or its path.
static void print_network(const struct network *n, const char *asked_for)
{
    check_network_print(n);
    printf("\nsettings that --set changes\n");
    for (int i = 0; i < n->setting_count; i++)
        printf("  %-14s %s\n", n->setting[i].name, n->setting[i].value);
    printf("\ntilewalk tune %s tunes its tasks; check %s --json lists its layers too\n", asked_for,
           asked_for);
}

static void print_overview(const struct ops *o)
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
    printf("\ntilewalk ops NAME describes one of them\n");
}

// --- the command ---

// Names everything there is, to suggest from.
static const char *name_at(const void *context, size_t i)
{
    const struct ops *o = context;
    size_t presets = (size_t)o->preset_count, networks = (size_t)o->network_count;
    if (i < presets)
        return o->preset[i].name;
    i -= presets;
    return i < networks ? o->network[i].name : operation_kinds[i - networks]->name;
}

static bool print_named(const struct ops *o, const char *name, struct err *e)
{
    const struct operation_kind *kind = operation_kind_find(name);
    size_t count = (size_t)o->preset_count + (size_t)o->network_count;
    if (kind) {
        print_operator(o, kind);
        return true;
    }
    for (int i = 0; i < o->preset_count; i++)
        if (str_equal(o->preset[i].name, name)) {
            print_preset(o, &o->preset[i]);
            return true;
        }
    for (int i = 0; i < o->network_count; i++)
        if (str_equal(o->network[i].name, name)) {
            print_network(&o->network[i], name);
            return true;
        }
    if (network_is(name)) { // a file of the user's
        struct network n;
        bool ok = network_read(name, NULL, 0, &n, e);
        if (ok)
            print_network(&n, name);
        network_finish(&n);
        return ok;
    }
    for (int i = 0; operation_kinds[i]; i++)
        count++;
    const char *near = str_suggest(name, count, name_at, o);
    return near ? err_usage(e, "no operator, preset or network '%s' (did you mean '%s'?)", name,
                            near)
                : err_usage(e, "no operator, preset or network '%s' (tilewalk ops lists them)",
                            name);
}

// Reads presets for a device, or without any, and for a large GPU. Takes over the names.
static void read_presets(struct ops *o, char **name, int count, const struct gpu_info *device)
{
    for (int i = 0; i < count; i++) {
        const char *kept = arena_strdup(&o->arena, name[i]);
        struct preset *out = &o->preset[o->preset_count++];
        *out = (struct preset){.name = kept};
        out->here = read_preset(kept, device ? device->type : "none",
                                device ? &device->limits : NULL, &out->why_here);
        out->gpu = read_preset(kept, "discrete", &limits_large_gpu, &out->why_gpu);
        const struct script *s = preset_script(out);
        struct limits without = limits_large_gpu;
        struct err ignored;
        without.matrix = (struct matrix_units){.api = MATRIX_NONE};
        struct script *plain =
            out->gpu ? read_preset(out->name, "discrete", &without, &ignored) : NULL;
        out->needs_matrix = out->gpu && !plain;
        out->needs_f16 = s && has_element(s, ELEMENT_F16);
        out->needs_i8 = s && has_element(s, ELEMENT_I8);
        script_destroy(plain);
        // A preset may be read where its numbers are missing.
        bool no_f16 = device && out->needs_f16 && !device->limits.f16;
        bool no_i8 = device && out->needs_i8 && !device->limits.i8;
        if (out->here && (no_f16 || no_i8)) {
            err_set(&out->why_here, "the device has no numbers of %s bits", no_f16 ? "16" : "8");
            script_destroy(out->here);
            out->here = NULL;
        }
        free(name[i]);
    }
    free(name);
}

static bool read_networks(struct ops *o, struct err *e)
{
    int count;
    char **name = network_names(&count);
    bool ok = true;
    o->network = arena_zero(&o->arena, (size_t)count + 1, sizeof *o->network);
    for (int i = 0; i < count; i++) {
        char *path = ok ? network_find(name[i], e) : NULL;
        ok = path && network_read(path, NULL, 0, &o->network[o->network_count++], e);
        free(path);
        free(name[i]);
    }
    free(name);
    return ok;
}

// --- ops NAME --copy ---

// Copies a file that ships to the user's presets, unless it is there. Prints its path there.
static bool copy_shipped(const char *path, struct err *e)
{
    char *copy, *text = NULL;
    size_t length;
    bool ok = script_is_shipped(path, &copy) && copy;
    if (ok && !file_exists(copy)) {
        char *folder = path_folder(copy);
        ok = file_make_folders(folder, e) && file_read(path, &text, &length, e) &&
             file_write(copy, text, length, e);
        free(folder);
    }
    if (ok)
        printf("%s\n", copy);
    free(text);
    free(copy);
    return ok;
}

// Copies a preset with its templates, or a network. Presets that it uses stay where they are.
static bool copy_named(struct ops *o, const struct gpu_info *device, const char *name,
                       struct err *e)
{
    bool is_network = network_is(name);
    char *path = (is_network ? network_find_shipped : script_find_shipped)(name, e);
    bool ok = path && copy_shipped(path, e);
    if (ok && !is_network) {
        char **one = mem_zero(1, sizeof *one);
        one[0] = mem_strdup(name);
        o->preset = arena_zero(&o->arena, 1, sizeof *o->preset);
        read_presets(o, one, 1, device);
        const struct script *s = preset_script(o->preset);
        int count = 0;
        const struct script_text *text = s ? script_texts(s, &count) : NULL;
        char *shaders = path_shipped("shaders");
        for (int i = 0; ok && i < count; i++)
            if (shaders && str_starts(text[i].path, shaders))
                ok = copy_shipped(text[i].path, e);
        free(shaders);
    }
    free(path);
    return ok;
}

static int run_ops(const struct command *self, const struct arguments *a)
{
    struct err e;
    struct ops o = {0};
    struct device_choice chosen;
    struct sandbox s;
    int ours, others;
    bool copy = arguments_flag(a, "copy");
    (void)self;
    if (copy && (!a->operand_count || arguments_flag(a, "json"))) {
        err_usage(&e, "ops --copy copies one preset or network: name it (without --json)");
        return fail_with(&e, EXIT_USAGE);
    }
    confine_begin(&s);
    if (copy) {
        char *own = path_user_data("presets");
        confine_write_folder(&s, own);
        free(own);
    }
    confine_read_space(&s, a->operand_count ? a->operand[0] : NULL);
    confine_enter(&s);
    arena_init(&o.arena);
    bool ok = common_choose_device(a, &chosen, &e);
    if (ok && copy) {
        ok = copy_named(&o, chosen.device, a->operand[0], &e);
    } else if (ok) {
        char **name = script_presets(&ours), **foreign = script_foreign_presets(&others);
        o.device = chosen.device ? chosen.device->name : NULL;
        o.preset = arena_zero(&o.arena, (size_t)(ours + others) + 1, sizeof *o.preset);
        read_presets(&o, name, ours, chosen.device);
        read_presets(&o, foreign, others, chosen.device);
        ok = read_networks(&o, &e);
    }
    if (ok && copy)
        ;
    else if (ok && arguments_flag(a, "json"))
        ops_print_json(&o);
    else if (ok && a->operand_count)
        ok = print_named(&o, a->operand[0], &e);
    else if (ok)
        print_overview(&o);
    for (int i = 0; i < o.preset_count; i++) {
        script_destroy(o.preset[i].here);
        script_destroy(o.preset[i].gpu);
    }
    for (int i = 0; i < o.network_count; i++)
        network_finish(&o.network[i]);
    free(chosen.list);
    arena_finish(&o.arena);
    return common_exit(ok, &e);
}

static const struct option options[] = {
    {"device", OPTION_TEXT, "DEVICE|none",
     "device to read the presets for (default: the best one; see tilewalk devices)"},
    {"copy", OPTION_FLAG, NULL,
     "copy the preset, with its templates, or the network to your own presets, which come before "
     "those that ship and which you may edit"},
    OPTION_JSON,
    OPTION_END,
};

const struct command cmd_ops = {
    .name = "ops",
    .operands = "[NAME|NETWORK.lua]",
    .help = "list the operators, the presets with their sizes and needs, and the networks",
    .most = 1,
    .options = options,
    .run = run_ops,
};
