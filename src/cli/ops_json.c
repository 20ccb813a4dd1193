#include "cli/ops.h"

#include "base/json.h"
#include "cli/check_network.h"

#include <stdlib.h>

// --- operators ---

static void add_sizes(struct json_writer *w, const struct operation_kind *k)
{
    json_begin_list(w, "sizes");
    for (int i = 0; k->sizes[i].name; i++) {
        json_begin_object(w, NULL);
        json_add_text(w, "name", k->sizes[i].name);
        if (k->sizes[i].standard == SIZE_REQUIRED)
            json_add_null(w, "standard");
        else
            json_add_int(w, "standard", k->sizes[i].standard);
        json_add_int(w, "least", k->sizes[i].least);
        json_end(w);
    }
    json_end(w);
    json_begin_list(w, "derived");
    for (int i = 0; k->derived && k->derived[i].name; i++)
        json_add_text(w, NULL, k->derived[i].name);
    json_end(w);
}

static void add_choices(struct json_writer *w, const struct operation_kind *k)
{
    json_begin_list(w, "choices");
    for (int i = 0; k->choices && k->choices[i].name; i++) {
        json_begin_object(w, NULL);
        json_add_text(w, "name", k->choices[i].name);
        json_add_texts(w, "values", k->choices[i].values);
        json_end(w);
    }
    json_end(w);
    json_begin_list(w, "numbers");
    for (int i = 0; k->reals && k->reals[i].name; i++) {
        json_begin_object(w, NULL);
        json_add_text(w, "name", k->reals[i].name);
        json_add_real(w, "standard", k->reals[i].standard);
        json_end(w);
    }
    json_end(w);
}

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
        add_sizes(w, k);
        add_choices(w, k);
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

static void add_parameters(struct json_writer *w, const struct space *space)
{
    json_begin_list(w, "parameters");
    for (int i = 0; i < space->param_count; i++) {
        char *size = param_size_text(&space->param[i]);
        json_begin_object(w, NULL);
        json_add_text(w, "name", space->param[i].name);
        json_add_text(w, "kind", param_kind_name(space->param[i].kind));
        json_add_text(w, "size", size);
        json_end(w);
        free(size);
    }
    json_end(w);
}

static void add_settings(struct json_writer *w, const struct script *s)
{
    int count;
    const struct script_setting *setting = script_settings(s, &count);
    json_begin_list(w, "settings");
    for (int i = 0; i < count; i++) {
        json_begin_object(w, NULL);
        json_add_text(w, "name", setting[i].name);
        json_add_text(w, "standard", setting[i].standard);
        if (setting[i].values)
            json_add_texts(w, "values", setting[i].values);
        json_end(w);
    }
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
            add_settings(w, s);
            add_parameters(w, script_space(s));
        }
        add_place(w, "here", p->here, &p->why_here);
        add_place(w, "gpu", p->gpu, &p->why_gpu);
        json_add_texts(w, "needs", needs);
        json_end(w);
    }
    json_end(w);
}

// --- networks ---

static void add_networks(struct json_writer *w, const struct ops *o)
{
    json_begin_list(w, "networks");
    for (int i = 0; i < o->network_count; i++) {
        json_begin_object(w, NULL);
        check_network_add(w, &o->network[i]);
        json_end(w);
    }
    json_end(w);
}

void ops_print_json(const struct ops *o)
{
    struct str out = {0};
    struct json_writer w = json_begin(&out);
    add_operators(&w);
    add_presets(&w, o);
    add_networks(&w, o);
    json_begin_list(&w, "lists"); // members are never removed (docs/json.md)
    json_end(&w);
    json_add_text(&w, "device", o->device);
    json_print(&w);
}
