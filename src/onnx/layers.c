#include "onnx/operators.h"

#include "base/number.h"

#include <inttypes.h>
#include <stdlib.h>

enum { ONNX_MAX_LAYERS = 4096, MOST_NAME = 200 };

// --- sources of values ---

static bool is_taken(const struct lowering *l, const char *name, int step)
{
    int value = onnx_graph_find(l->graph, name);
    if (value >= 0 && l->graph->value[value].producer_step != step)
        return true;
    for (int i = 0; i < l->out->layer_count; i++)
        if (str_equal(l->out->layer[i].name, name))
            return true;
    for (int i = 0; i < l->out->input_count; i++)
        if (str_equal(l->out->input[i].name, name))
            return true;
    return false;
}

const char *lowering_name(struct lowering *l, const char *name, int step)
{
    struct str s = {0};
    while (*name && s.length < MOST_NAME) {
        const char *from = name;
        if (str_next_glyph(&name) == STR_NO_GLYPH)
            str_add_char(&s, '_');
        else
            str_add_bytes(&s, from, (size_t)(name - from));
    }
    const char *plain = arena_strdup(&l->out->arena, str_text(&s)), *tried = plain;
    str_finish(&s);
    for (int i = 2; is_taken(l, tried, step); i = int_max(i + 1, l->out->layer_count))
        tried = arena_printf(&l->out->arena, "%s.%d", plain, i);
    return tried;
}

bool lowering_is_constant(const struct onnx_at *n, int index)
{
    return onnx_in(n, index) && onnx_in(n, index)->constant;
}

bool lowering_computes(int type)
{
    return type == ONNX_FLOAT || type == ONNX_FLOAT16 || type == ONNX_BFLOAT16;
}

enum onnx_verdict lowering_flow(struct lowering *l, const struct onnx_at *n, int index, int *source)
{
    struct onnx_value *v = onnx_in(n, index);
    struct flow *f = &l->flow[v - l->graph->value];
    if (v->constant)
        return onnx_unsupported(n, "'%s' is a constant", v->name);
    if (!lowering_computes(v->type))
        return onnx_unsupported(n, "'%s' is %s, kernels are there for float, float16 and bfloat16",
                                v->name, onnx_type_name(v->type));
    if (onnx_count(&v->shape) < 1)
        return onnx_unsupported(n, "'%s' has no elements", v->name);
    if (!f->is_there) {
        struct onnx_layers *out = l->out;
        const char *name = lowering_name(l, v->name, v->producer_step);
        MEM_GROW(out->input, out->input_count, out->input_capacity);
        out->input[out->input_count] = (struct onnx_entry){.value = v, .name = name};
        *f = (struct flow){.source = -1 - out->input_count++, .is_there = true};
    }
    *source = f->source;
    return ONNX_OK;
}

// --- layers ---

struct onnx_layer *lowering_add(struct lowering *l, const struct onnx_at *n, const char *preset,
                                const char *more, const struct onnx_value *type)
{
    struct onnx_layers *out = l->out;
    const char *name =
        more ? arena_printf(&out->arena, "%s.%s", n->step->name, more) : n->step->name;
    name = lowering_name(l, *name ? name : preset, (int)(n->step - l->graph->step));
    MEM_GROW(out->layer, out->layer_count, out->layer_capacity);
    struct onnx_layer *new = &out->layer[out->layer_count++];
    *new = (struct onnx_layer){
        .name = name, .preset = preset, .factored = -1, .type = type->type, .shape = type->shape};
    return new;
}

static void set_text(struct onnx_layer *to, const char *name, const char *text)
{
    for (int i = 0; i < to->setting_count; i++)
        if (str_equal(to->setting[i].name, name)) {
            to->setting[i].text = text;
            return;
        }
    to->setting[to->setting_count++] = (struct onnx_setting){name, text};
}

void lowering_set(struct lowering *l, struct onnx_layer *to, const char *name, int64_t value)
{
    l->has_wrong_size |= value < 0 || value > INT32_MAX;
    set_text(to, name, arena_printf(&l->out->arena, "%" PRId64, value));
}

void lowering_set_real(struct lowering *l, struct onnx_layer *to, const char *name, double value)
{
    struct str s = {0};
    str_add_real(&s, value);
    set_text(to, name, arena_strdup(&l->out->arena, str_text(&s)));
    str_finish(&s);
}

void lowering_set_word(struct lowering *l, struct onnx_layer *to, const char *name,
                       const char *value)
{
    set_text(to, name, arena_printf(&l->out->arena, "\"%s\"", value));
}

void lowering_count_use(struct lowering *l, int source, int by)
{
    *(source < 0 ? &l->out->input[-1 - source].uses : &l->out->layer[source].uses) += by;
}

void lowering_read(struct lowering *l, struct onnx_layer *to, const char *tensor, int source)
{
    to->from[to->from_count++] = (struct onnx_flow){tensor, source};
    lowering_count_use(l, source, 1);
}

struct onnx_weights *lowering_weigh(struct onnx_layer *to, const char *tensor,
                                    const struct onnx_tensor *from)
{
    struct onnx_weights *w = &to->weights[to->weights_count++];
    *w = (struct onnx_weights){.tensor = tensor, .from = from};
    if (from)
        w->shape = from->shape;
    return w;
}

enum onnx_verdict lowering_give(struct lowering *l, const struct onnx_at *n, int output)
{
    struct flow *f = &l->flow[n->step->output[output]];
    *f = (struct flow){.source = l->out->layer_count - 1, .is_there = true, .is_only = true};
    return ONNX_OK;
}

enum onnx_verdict lowering_alias(struct lowering *l, const struct onnx_at *n, int input)
{
    int source;
    enum onnx_verdict verdict = lowering_flow(l, n, input, &source);
    if (verdict != ONNX_OK)
        return verdict;
    const struct onnx_value *v = onnx_in(n, input);
    bool is_only = l->flow[n->step->input[input]].is_only && v->uses == 1 && !v->is_output;
    l->flow[n->step->output[0]] =
        (struct flow){.source = source, .is_there = true, .is_only = is_only};
    return ONNX_OK;
}

struct onnx_layer *lowering_sum(struct lowering *l, const struct onnx_at *n, int index,
                                enum onnx_stage most)
{
    const struct onnx_value *v = onnx_in(n, index);
    const struct flow *f = &l->flow[v - l->graph->value];
    if (v->constant || !f->is_there || !f->is_only || f->source < 0 || v->uses != 1 || v->is_output)
        return NULL;
    struct onnx_layer *sum = &l->out->layer[f->source];
    return sum->is_sum && sum->stage <= most ? sum : NULL;
}

bool lowering_image(const struct onnx_shape *s, int64_t out[4])
{
    if (s->rank < 2 || s->rank > 4)
        return false;
    for (int i = 0; i < 4; i++)
        out[i] = i < s->rank ? s->size[i] : 1;
    return true;
}

// --- steps ---

static void lower_step(struct lowering *l, struct onnx_step *s)
{
    struct err ignored;
    const struct onnx_at n = {l->graph, s, s->node, &ignored};
    bool is_constant = true;
    for (int i = 0; i < s->node->output_count; i++)
        is_constant &= !onnx_out(&n, i) || onnx_out(&n, i)->constant;
    if (s->unsupported || is_constant)
        return;
    int before = l->out->layer_count;
    if (before + LOWERING_MOST_OF_A_STEP > ONNX_MAX_LAYERS)
        s->unsupported = "the network has as many layers as there may be";
    else if (!s->kind->lower)
        s->unsupported = "no kernel computes it";
    else if (s->kind->lower(l, &n) != ONNX_OK && !s->unsupported)
        s->unsupported = "it cannot be computed so";
    if (!s->unsupported) {
        if (l->has_wrong_size)
            onnx_unsupported(&n, "a size of it is more than a kernel takes");
        l->has_wrong_size = false;
        for (int i = before; i < l->out->layer_count; i++)
            if (!onnx_count(&l->out->layer[i].shape))
                onnx_unsupported(&n, "it gives nothing");
    }
    if (s->unsupported) {
        for (int i = 0; i < n.node->output_count; i++)
            if (onnx_out(&n, i))
                l->flow[n.step->output[i]] = (struct flow){.is_there = false};
        for (int i = before; i < l->out->layer_count; i++)
            for (int k = 0; k < l->out->layer[i].from_count; k++)
                lowering_count_use(l, l->out->layer[i].from[k].source, -1);
        l->out->layer_count = before;
    }
}

// --- the network ---

static void add_output(struct onnx_layers *l, int layer, const struct onnx_value *v)
{
    for (int i = 0; i < l->output_count; i++)
        if (l->output[i].layer == layer)
            return;
    MEM_GROW(l->output, l->output_count, l->output_capacity);
    l->output[l->output_count++] = (struct onnx_exit){layer, v};
    l->layer[layer].uses++;
}

struct ordering {
    const struct onnx_layers *layers;
    int *place; // where a layer goes; -1: not known yet
    int placed;
};

// Places a layer behind all layers that it reads, which make no circle.
static void place(struct ordering *o, int layer)
{
    if (layer < 0 || o->place[layer] >= 0)
        return;
    for (int i = 0; i < o->layers->layer[layer].from_count; i++)
        place(o, o->layers->layer[layer].from[i].source);
    o->place[layer] = o->placed++;
}

void onnx_lower(struct onnx_graph *g, struct onnx_layers *out)
{
    struct lowering l = {g, out, mem_zero((size_t)g->value_count + 1, sizeof *l.flow)};
    *out = (struct onnx_layers){0};
    for (int i = 0; i < g->step_count; i++)
        lower_step(&l, &g->step[i]);
    lowering_split(&l);
    // A bias is complete only after all steps.
    for (int i = 0; i < l.out->layer_count; i++) {
        struct onnx_layer *layer = &l.out->layer[i];
        if (!layer->bias)
            continue;
        struct onnx_weights *w = lowering_weigh(layer, "bias", NULL);
        w->shape = (struct onnx_shape){1, {layer->channels}};
        w->value = layer->bias;
        lowering_set_word(&l, layer, "bias", "add");
    }
    for (int i = 0; i < g->model->output_count; i++) {
        int value = onnx_graph_find(g, g->model->output[i].name);
        struct onnx_value *v = &l.graph->value[value];
        const struct flow *f = &l.flow[value];
        if (f->is_there && f->source >= 0)
            add_output(l.out, f->source, v);
        else if (v->constant)
            v->unsupported = "it is a constant";
        else if (v->is_input || f->is_there)
            v->unsupported = "it is an input";
        else if (!l.graph->step[v->producer_step].unsupported)
            v->unsupported = "no kernel gives it";
    }
    for (int i = 0; i < g->step_count; i++)
        for (int k = 0; g->step[i].unsupported && k < g->step[i].read_count; k++) {
            // The network gives what a node that cannot be computed reads.
            int value = g->step[i].input[k];
            if (value >= 0 && l.flow[value].is_there && l.flow[value].source >= 0)
                add_output(l.out, l.flow[value].source, NULL);
        }
    for (int i = 0; i < out->layer_count; i++) // only its shape is read
        if (!out->layer[i].uses)
            add_output(out, i, NULL);
    // A sum may read a layer that was added after it.
    struct ordering o = {out, mem_alloc((size_t)out->layer_count * sizeof(int) + 1), 0};
    struct onnx_layer *sorted = mem_zero((size_t)out->layer_count + 1, sizeof *sorted);
    for (int i = 0; i < out->layer_count; i++)
        o.place[i] = -1;
    for (int i = 0; i < out->layer_count; i++)
        place(&o, i);
    for (int i = 0; i < out->layer_count; i++) {
        struct onnx_layer *to = &sorted[o.place[i]];
        *to = out->layer[i];
        for (int k = 0; k < to->from_count; k++)
            if (to->from[k].source >= 0)
                to->from[k].source = o.place[to->from[k].source];
    }
    for (int i = 0; i < out->output_count; i++)
        out->output[i].layer = o.place[out->output[i].layer];
    free(out->layer);
    free(o.place);
    out->layer = sorted;
    free(l.flow);
}

void onnx_layers_finish(struct onnx_layers *l)
{
    free(l->layer);
    free(l->input);
    free(l->output);
    arena_finish(&l->arena);
    *l = (struct onnx_layers){0};
}

double onnx_weight(const struct onnx_weights *w, int64_t index)
{
    int64_t at = w->part ? index / w->part * w->line + w->first + index % w->part : index;
    double value = w->from ? onnx_element(w->from, at) : w->value[at];
    return w->factor ? value * w->factor[index / w->inner % w->factors] : value;
}
