#include "cli/catalogue.h"

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

static void find_needs(struct preset *p)
{
    const struct script *s = catalogue_script(p);
    struct limits without = large_gpu;
    struct err ignored;
    without.matrix = (struct matrix_units){.api = MATRIX_NONE};
    struct script *plain = p->gpu ? read_preset(p->name, "discrete", &without, &ignored) : NULL;
    p->needs_matrix = p->gpu && !plain;
    p->needs_f16 = s && has_element(s, ELEMENT_F16);
    p->needs_i8 = s && has_element(s, ELEMENT_I8);
    script_destroy(plain);
}

// A preset may be read where its numbers are missing.
static void check_bits(struct preset *p, const struct limits *l)
{
    bool f16 = p->needs_f16 && !l->f16, i8 = p->needs_i8 && !l->i8;
    if (!p->here || !(f16 || i8))
        return;
    err_set(&p->why_here, "the device has no numbers of %s bits", f16 ? "16" : "8");
    script_destroy(p->here);
    p->here = NULL;
}

void catalogue_read(const char *name, const struct gpu_info *device, struct preset *out)
{
    *out = (struct preset){.name = name};
    out->here = read_preset(name, device ? device->type : "none", device ? &device->limits : NULL,
                            &out->why_here);
    out->gpu = read_preset(name, "discrete", &large_gpu, &out->why_gpu);
    find_needs(out);
    if (device)
        check_bits(out, &device->limits);
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

static void init_smallest(struct operation *o, const struct operation_kind *kind)
{
    operation_init(o, kind);
    for (int i = 0; kind->sizes[i].name; i++)
        if (o->size[i] == SIZE_REQUIRED)
            o->size[i] = 1;
}

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
    init_smallest(&plain, kind);
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
