// The plan of a network's run, from its layers.
#include "script/network_reading.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

// The values of a plan: inputs, then what layers give, then weights as they come.
static int value_of(const struct network *n, int layer)
{
    return layer < 0 ? -1 - layer : n->input_count + layer;
}

static bool is_output(const struct network *n, int layer)
{
    for (int i = 0; i < n->output_count; i++)
        if (n->output[i] == layer)
            return true;
    return false;
}

static int add_weight(struct plan *p, const struct network_layer *l, const struct tensor *t)
{
    char *name = mem_printf("%s.%s", l->output.name, t->name);
    int value = plan_add_value(p, name, PLAN_WEIGHT, t);
    for (int i = 0; i < l->weights_count; i++)
        if (strcmp(l->weights[i].tensor, t->name) == 0)
            p->value[value].from = &l->weights[i].from;
    free(name);
    return value;
}

static int bound_to(struct network *n, const struct network_layer *l, const struct tensor *t)
{
    for (int i = 0; i < l->input_count; i++)
        if (strcmp(l->input[i].tensor, t->name) == 0)
            return value_of(n, l->input[i].layer);
    return add_weight(&n->plan, l, t);
}

void network_make_plan(const struct network_reading *r)
{
    struct network *n = r->out;
    for (int i = 0; i < n->input_count; i++) {
        int value = plan_add_value(&n->plan, n->input[i].name, PLAN_INPUT, &r->input[i]);
        n->plan.value[value].from = n->input[i].from;
    }
    for (int i = 0; i < n->layer_count; i++) {
        const struct network_facts *f = &r->facts[n->layer[i].task];
        const struct network_tensor *made = &n->layer[i].output;
        int value = plan_add_value(&n->plan, made->name, is_output(n, i) ? PLAN_OUTPUT : PLAN_MADE,
                                   &f->tensor[f->count - 1]);
        n->plan.value[value].from = made->from;
        n->plan.value[value].relative = made->relative;
        n->plan.value[value].absolute = made->absolute;
    }
    for (int i = 0; i < n->layer_count; i++) {
        const struct network_layer *l = &n->layer[i];
        const struct network_facts *f = &r->facts[l->task];
        int value[OPERATION_MAX_TENSORS];
        for (int k = 0; k < f->count - 1; k++)
            value[k] = bound_to(n, l, &f->tensor[k]);
        value[f->count - 1] = value_of(n, i);
        plan_add_step(&n->plan, l->output.name, l->task, value, f->count);
    }
    plan_place(&n->plan);
}
