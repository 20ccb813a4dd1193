#include "cli/ops.h"

#include "cli/check_network.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- operators ---

static void print_sizes(const struct operation_kind *k)
{
    printf("\nsizes\n");
    for (int i = 0; k->sizes[i].name; i++) {
        const struct operation_size *s = &k->sizes[i];
        if (s->standard == SIZE_REQUIRED)
            printf("  %-14s from %" PRId64 "\n", s->name, s->least);
        else
            printf("  %-14s from %" PRId64 ", %" PRId64 " if it is not given\n", s->name, s->least,
                   s->standard);
    }
    for (int i = 0; k->derived && k->derived[i].name; i++)
        printf("  %-14s follows from the others\n", k->derived[i].name);
}

static void print_choices(const struct operation_kind *k)
{
    printf("\nchoices, the first one if none is given\n");
    for (int i = 0; k->choices && k->choices[i].name; i++) {
        printf("  %-14s", k->choices[i].name);
        for (int v = 0; k->choices[i].values[v]; v++)
            printf("%s %s", v ? "," : "", k->choices[i].values[v]);
        printf("\n");
    }
    for (int i = 0; k->reals && k->reals[i].name; i++)
        printf("  %-14s a number, %g if it is not given\n", k->reals[i].name, k->reals[i].standard);
}

static void print_buffers(const struct operation_kind *k)
{
    struct possible_tensor tensor[OPERATION_MAX_TENSORS];
    int count = catalogue_tensors(k, tensor);
    printf("\nbuffers, in the order of their bindings\n");
    for (int i = 0; i < count; i++)
        printf("  %-14s %d dimension%s%s%s%s\n", tensor[i].tensor.name, tensor[i].tensor.rank,
               tensor[i].tensor.rank == 1 ? "" : "s", tensor[i].when[0] ? ", with " : "",
               tensor[i].when, i == count - 1 ? ", the output" : "");
}

static bool is_of(const struct preset *p, const struct operation_kind *k)
{
    const struct script *s = catalogue_script(p);
    return s && script_operation(s)->kind == k;
}

void ops_print_operator(const struct ops *o, const struct operation_kind *kind)
{
    printf("%s: %s\n", kind->name, kind->help);
    print_sizes(kind);
    print_choices(kind);
    print_buffers(kind);
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

static void print_settings(const struct script *s)
{
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
    print_settings(s);
    printf("\nparameters\n");
    for (int i = 0; i < script_space(s)->param_count; i++) {
        const struct param *q = &script_space(s)->param[i];
        char *size = param_size_text(q);
        printf("  %-14s %-14s %s values\n", q->name, param_kind_name(q->kind), size);
        free(size);
    }
}

static void print_row(const struct preset *p)
{
    struct str name = {0};
    str_printf(&name, "  %-14s ", p->name);
    print_place(str_text(&name), p->here, &p->why_here);
    if (!same_everywhere(p))
        print_place("                 on GPUs: ", p->gpu, &p->why_gpu);
    print_needs(p, "                 needs ");
    str_finish(&name);
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
    for (int i = 0; i < o->preset_count; i++)
        print_row(&o->preset[i]);
    printf("\nnetworks\n");
    for (int i = 0; i < o->network_count; i++)
        printf("  %-14s %s\n", o->network[i].name, o->network[i].about);
    printf("\ntilewalk ops NAME says more of each\n");
}
