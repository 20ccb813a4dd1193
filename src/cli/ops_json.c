#include "cli/ops.h"

#include <inttypes.h>
#include <stdlib.h>

static void key(struct str *out, const char *name)
{
    str_printf(out, "%s\"%s\":", out->text[out->length - 1] == '{' ? "" : ",", name);
}

static void add_text(struct str *out, const char *name, const char *text)
{
    key(out, name);
    str_add_json(out, text);
}

static void begin_list(struct str *out, const char *name)
{
    key(out, name);
    str_add(out, "[");
}

static void add_words(struct str *out, const char *name, const char *const *word)
{
    begin_list(out, name);
    for (int i = 0; word[i]; i++) {
        str_add(out, i ? "," : "");
        str_add_json(out, word[i]);
    }
    str_add(out, "]");
}

static void begin_item(struct str *out)
{
    str_add(out, out->text[out->length - 1] == '[' ? "{" : ",{");
}

// --- operators ---

static void add_sizes(struct str *out, const struct operation_kind *k)
{
    begin_list(out, "sizes");
    for (int i = 0; k->sizes[i].name; i++) {
        begin_item(out);
        add_text(out, "name", k->sizes[i].name);
        key(out, "standard");
        if (k->sizes[i].standard == SIZE_REQUIRED)
            str_add(out, "null");
        else
            str_printf(out, "%" PRId64, k->sizes[i].standard);
        str_printf(out, ",\"least\":%" PRId64 "}", k->sizes[i].least);
    }
    str_add(out, "]");
    begin_list(out, "derived");
    for (int i = 0; k->derived && k->derived[i].name; i++) {
        str_add(out, i ? "," : "");
        str_add_json(out, k->derived[i].name);
    }
    str_add(out, "]");
}

static void add_choices(struct str *out, const struct operation_kind *k)
{
    begin_list(out, "choices");
    for (int i = 0; k->choices && k->choices[i].name; i++) {
        begin_item(out);
        add_text(out, "name", k->choices[i].name);
        add_words(out, "values", k->choices[i].values);
        str_add(out, "}");
    }
    str_add(out, "]");
    begin_list(out, "numbers");
    for (int i = 0; k->reals && k->reals[i].name; i++) {
        begin_item(out);
        add_text(out, "name", k->reals[i].name);
        key(out, "standard");
        str_add_real(out, k->reals[i].standard);
        str_add(out, "}");
    }
    str_add(out, "]");
}

static void add_buffers(struct str *out, const struct operation_kind *k)
{
    struct possible_tensor tensor[OPERATION_MAX_TENSORS];
    int count = catalogue_tensors(k, tensor);
    begin_list(out, "buffers");
    for (int i = 0; i < count; i++) {
        begin_item(out);
        add_text(out, "name", tensor[i].tensor.name);
        str_printf(out, ",\"rank\":%d,\"output\":%s", tensor[i].tensor.rank,
                   i == count - 1 ? "true" : "false");
        key(out, "when");
        if (tensor[i].when[0])
            str_add_json(out, tensor[i].when);
        else
            str_add(out, "null");
        str_add(out, "}");
    }
    str_add(out, "]");
}

static void add_operators(struct str *out)
{
    begin_list(out, "operators");
    for (int i = 0; operation_kinds[i]; i++) {
        const struct operation_kind *k = operation_kinds[i];
        begin_item(out);
        add_text(out, "name", k->name);
        add_text(out, "help", k->help);
        add_sizes(out, k);
        add_choices(out, k);
        add_buffers(out, k);
        str_add(out, "}");
    }
    str_add(out, "]");
}

// --- presets ---

static void add_place(struct str *out, const char *name, const struct script *s,
                      const struct err *why)
{
    key(out, name);
    str_add(out, "{");
    if (!s) {
        add_text(out, "missing", why->text);
        str_add(out, "}");
        return;
    }
    key(out, "problem");
    operation_add_json(script_operation(s), out);
    key(out, "flop");
    str_add_real(out, operation_flop(script_operation(s)));
    add_text(out, "size", script_space(s)->size_text);
    str_add(out, ",\"missing\":null}");
}

static void add_parameters(struct str *out, const struct space *space)
{
    begin_list(out, "parameters");
    for (int i = 0; i < space->param_count; i++) {
        begin_item(out);
        add_text(out, "name", space->param[i].name);
        add_text(out, "kind", param_kind_name(space->param[i].kind));
        char *size = param_size_text(&space->param[i]);
        add_text(out, "size", size);
        free(size);
        str_add(out, "}");
    }
    str_add(out, "]");
}

static void add_settings(struct str *out, const struct script *s)
{
    int count;
    const struct script_setting *setting = script_settings(s, &count);
    begin_list(out, "settings");
    for (int i = 0; i < count; i++) {
        begin_item(out);
        add_text(out, "name", setting[i].name);
        add_text(out, "standard", setting[i].standard);
        if (setting[i].values)
            add_words(out, "values", setting[i].values);
        str_add(out, "}");
    }
    str_add(out, "]");
}

static void add_needs(struct str *out, const struct preset *p)
{
    const char *needs[4] = {NULL};
    catalogue_needs(p, needs);
    add_words(out, "needs", needs);
}

static void add_presets(struct str *out, const struct ops *o)
{
    begin_list(out, "presets");
    for (int i = 0; i < o->preset_count; i++) {
        const struct preset *p = &o->preset[i];
        const struct script *s = catalogue_script(p);
        begin_item(out);
        add_text(out, "name", p->name);
        if (s) {
            add_text(out, "operator", script_operation(s)->kind->name);
            add_settings(out, s);
            add_parameters(out, script_space(s));
        }
        add_place(out, "here", p->here, &p->why_here);
        add_place(out, "gpu", p->gpu, &p->why_gpu);
        add_needs(out, p);
        str_add(out, "}");
    }
    str_add(out, "]");
}

// --- lists ---

static void add_item(struct str *out, const struct list_item *item)
{
    begin_item(out);
    add_text(out, "label", item->label);
    add_text(out, "preset", item->preset);
    str_printf(out, ",\"uses\":%" PRId64, item->uses);
    key(out, "set");
    str_add(out, "{");
    for (int i = 0; i < item->set_count; i++)
        add_text(out, item->set[i].name, item->set[i].value);
    str_add(out, "}}");
}

static void add_lists(struct str *out, const struct ops *o)
{
    begin_list(out, "lists");
    for (int i = 0; i < o->list_count; i++) {
        begin_item(out);
        add_text(out, "name", o->list[i].name);
        add_text(out, "about", o->list[i].about);
        begin_list(out, "items");
        for (int k = 0; k < o->list[i].count; k++)
            add_item(out, &o->list[i].item[k]);
        str_add(out, "]}");
    }
    str_add(out, "]");
}

void ops_add_json(const struct ops *o, struct str *out)
{
    str_add(out, "{");
    add_operators(out);
    add_presets(out, o);
    add_lists(out, o);
    key(out, "device");
    if (o->device)
        str_add_json(out, o->device);
    else
        str_add(out, "null");
    str_add(out, "}\n");
}
