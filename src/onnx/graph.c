#include "onnx/graph.h"

#include "base/number.h"
#include "onnx/operators.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- names ---

// Compares names, or values by the name that they begin with.
static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int onnx_graph_find(const struct onnx_graph *g, const char *name)
{
    const struct onnx_value *v =
        bsearch(&name, g->value, (size_t)g->value_count, sizeof *v, compare_names);
    return v ? (int)(v - g->value) : -1;
}

// Lists all names that something gives. An input may be a constant, too; all others differ.
static bool name_values(struct onnx_graph *g, struct err *e)
{
    const struct onnx_model *m = g->model;
    int count = 0, most = m->input_count + m->constant_count;
    for (int i = 0; i < m->node_count; i++)
        most += m->node[i].output_count;
    const char **made = mem_zero((size_t)most + 1, sizeof *made);
    bool ok = true;
    g->value = arena_zero(&g->arena, (size_t)most + 1, sizeof *g->value);
    for (int i = 0; i < m->node_count; i++)
        for (int k = 0; k < m->node[i].output_count; k++)
            if (*m->node[i].output[k])
                made[count++] = m->node[i].output[k];
    for (int i = 0; i < m->constant_count; i++)
        made[count++] = m->constant[i].name;
    qsort(made, (size_t)count, sizeof *made, compare_names);
    for (int i = 0; ok && i + 1 < count; i++)
        ok = strcmp(made[i], made[i + 1]) != 0 ||
             err_set(e, "two nodes, or a node and a constant, give '%s'", made[i]);
    int makers = count;
    for (int i = 0; i < m->input_count; i++)
        if (!bsearch(&m->input[i].name, made, (size_t)makers, sizeof *made, compare_names))
            made[count++] = m->input[i].name;
    qsort(made, (size_t)count, sizeof *made, compare_names);
    for (int i = 0; ok && i + 1 < count; i++)
        ok = strcmp(made[i], made[i + 1]) != 0 || err_set(e, "two inputs are '%s'", made[i]);
    for (int i = 0; i < count; i++)
        g->value[g->value_count++] = (struct onnx_value){.name = made[i], .producer_step = -1};
    free(made);
    return ok;
}

// --- inputs ---

static bool is_bound(const struct onnx_dimension *open, int count, const char *name, int64_t *out)
{
    for (int i = 0; i < count; i++)
        if (str_equal(open[i].name, name)) {
            *out = open[i].size;
            return true;
        }
    return false;
}

static bool bind_input(const struct onnx_info *info, const struct onnx_dimension *open, int count,
                       struct onnx_value *v, struct err *e)
{
    v->is_input = true;
    v->type = info->type;
    v->has_shape = info->has_shape;
    v->shape = info->shape;
    if (!v->has_shape)
        return err_set(e, "input '%s' has no shape (export the model with one)", v->name);
    for (int i = 0; i < v->shape.rank; i++) {
        char place[300];
        snprintf(place, sizeof place, "%s.%d", v->name, i);
        const char *name = *info->open[i] ? info->open[i] : place;
        if (v->shape.size[i] >= 0 || is_bound(open, count, place, &v->shape.size[i]) ||
            is_bound(open, count, name, &v->shape.size[i]))
            continue;
        return err_set(e, "input '%s' leaves its dimension %d open (--set '%s=1' says how large)",
                       v->name, i + 1, name);
    }
    return onnx_fits(&v->shape) ||
           err_set(e, "input '%s' has more elements than any buffer holds", v->name);
}

// Returns whether an input leaves the dimension `name` open.
static bool is_dimension(const struct onnx_model *m, const char *name)
{
    char place[300];
    for (int i = 0; i < m->input_count; i++)
        for (int k = 0; k < m->input[i].shape.rank; k++) {
            snprintf(place, sizeof place, "%s.%d", m->input[i].name, k);
            if (m->input[i].shape.size[k] < 0 &&
                (str_equal(name, m->input[i].open[k]) || str_equal(name, place)))
                return true;
        }
    return false;
}

static bool bind_inputs(struct onnx_graph *g, const struct onnx_dimension *open, int count,
                        struct err *e)
{
    const struct onnx_model *m = g->model;
    for (int i = 0; i < count; i++)
        if (!is_dimension(m, open[i].name))
            return err_set(e, "no input leaves a dimension '%s' open", open[i].name);
    for (int i = 0; i < m->constant_count; i++) {
        struct onnx_value *v = &g->value[onnx_graph_find(g, m->constant[i].name)];
        v->constant = &m->constant[i];
        v->type = v->constant->type;
        v->shape = v->constant->shape;
        v->has_shape = true;
    }
    for (int i = 0; i < m->input_count; i++) {
        struct onnx_value *v = &g->value[onnx_graph_find(g, m->input[i].name)];
        if (v->constant)
            continue;
        if (v->producer_step >= 0)
            return err_set(e, "'%s' is an input, and a node gives it", v->name);
        if (!bind_input(&m->input[i], open, count, v, e))
            return false;
    }
    return true;
}

// --- nodes ---

static bool connect(struct onnx_graph *g, const struct onnx_node *n, struct onnx_step *s,
                    struct err *e)
{
    bool is_ours = !*n->domain || str_equal(n->domain, "ai.onnx");
    const char *name = *n->name || !n->output_count ? n->name : n->output[0];
    *s = (struct onnx_step){.node = n, .name = name};
    s->kind = is_ours ? onnx_operator_find(n->kind) : NULL;
    int count = n->input_count;
    for (int i = 0; i < n->attribute_count; i++)
        count += n->attribute[i].read_count;
    s->input = arena_zero(&g->arena, (size_t)count + 1, sizeof *s->input);
    s->output = arena_zero(&g->arena, (size_t)n->output_count + 1, sizeof *s->output);
    for (int i = 0; i < n->input_count; i++) {
        s->input[i] = *n->input[i] ? onnx_graph_find(g, n->input[i]) : -1;
        if (*n->input[i] && s->input[i] < 0)
            return err_set(e, "node '%s' (%s) reads '%s', which nothing gives%s", s->name, n->kind,
                           n->input[i],
                           g->model->has_sparse ? " (sparse constants are not read)" : "");
    }
    for (int i = 0; i < n->output_count; i++)
        s->output[i] = *n->output[i] ? onnx_graph_find(g, n->output[i]) : -1;
    // A graph inside of the node also reads values of its own, which are not found here.
    s->read_count = n->input_count;
    for (int i = 0; i < n->attribute_count; i++)
        for (int k = 0; k < n->attribute[i].read_count; k++) {
            int v = onnx_graph_find(g, n->attribute[i].reads[k]);
            if (v >= 0)
                s->input[s->read_count++] = v;
        }
    return true;
}

static bool connect_all(struct onnx_graph *g, struct err *e)
{
    const struct onnx_model *m = g->model;
    g->step = arena_zero(&g->arena, (size_t)m->node_count, sizeof *g->step);
    for (int i = 0; i < m->node_count; i++) {
        struct onnx_step *s = &g->step[g->step_count++];
        if (!connect(g, &m->node[i], s, e))
            return false;
        for (int k = 0; k < m->node[i].output_count; k++)
            if (s->output[k] >= 0)
                g->value[s->output[k]].producer_step = i;
    }
    for (int i = 0; i < g->step_count; i++)
        for (int k = 0; k < g->step[i].read_count; k++) {
            int v = g->step[i].input[k];
            if (v >= 0 && g->value[v].producer_step >= i)
                return err_set(e,
                               "node '%s' (%s) reads '%s', which a later node gives (does it go "
                               "round in a circle?)",
                               g->step[i].name, g->step[i].node->kind, g->value[v].name);
        }
    return true;
}

// --- shapes ---

static void note_info(struct onnx_graph *g, const struct onnx_info *info, int count)
{
    for (int i = 0; i < count; i++) {
        int v = onnx_graph_find(g, info[i].name);
        if (v >= 0)
            g->value[v].info = &info[i];
    }
}

// Reads the shape of a description, with the sizes that are set for dimensions by name. False: it
// is not complete.
static bool read_shape(const struct onnx_graph *g, const struct onnx_info *info,
                       struct onnx_shape *out)
{
    *out = info->shape;
    for (int i = 0; i < out->rank; i++)
        if (out->size[i] < 0 && !is_bound(g->open, g->open_count, info->open[i], &out->size[i]))
            return false;
    return info->has_shape && onnx_fits(out);
}

static enum onnx_verdict infer(const struct onnx_at *n)
{
    if (!n->step->kind)
        return onnx_unsupported(n, "there is no such operator here");
    for (int i = 0; i < n->node->attribute_count; i++)
        if (n->node->attribute[i].has_graph)
            return onnx_unsupported(n, "it has a graph of its own");
    const char *mistyped = onnx_find_mistyped(n->node);
    if (mistyped)
        return onnx_unsupported(n, "its %s is of another type than it has to be", mistyped);
    for (int i = 0; i < n->node->input_count; i++) {
        const struct onnx_value *v = onnx_in(n, i);
        if (v && !v->has_shape)
            return onnx_unsupported(n, "the shape of '%s' is not known", v->name);
        if (v && v->constant && !onnx_type_bytes(v->constant->type))
            return onnx_unsupported(n, "'%s' is %s", v->name, onnx_type_name(v->constant->type));
    }
    int needs = n->step->kind->needs;
    for (int i = 0; i < (needs == ONNX_ALL ? int_max(1, n->node->input_count) : needs); i++)
        if (!onnx_in(n, i))
            return onnx_invalid(n, "its input %d is missing", i + 1);
    return n->step->kind->infer(n);
}

// Computes the first output where all inputs are constant; Shape and Size need no constants.
static void fold(const struct onnx_at *n, struct onnx_value *made)
{
    bool needs_constants = !str_equal(n->node->kind, "Shape") && !str_equal(n->node->kind, "Size");
    for (int i = 0; needs_constants && i < n->node->input_count; i++)
        if (onnx_in(n, i) && !onnx_in(n, i)->constant)
            return;
    struct onnx_tensor *t = n->step->kind->fold(n);
    if (!t) {
        struct str text = {0};
        onnx_shape_add(&text, &made->shape);
        onnx_unsupported(n, "it is of constants alone, which are not computed (%s)",
                         str_text(&text));
        str_finish(&text);
        return;
    }
    t->name = made->name;
    t->type = made->type;
    t->shape = made->shape;
    t->count = onnx_count(&t->shape);
    made->constant = t;
}

static bool infer_step(const struct onnx_at *n)
{
    enum onnx_verdict verdict = infer(n);
    if (verdict == ONNX_INVALID)
        return false;
    if (verdict == ONNX_UNSUPPORTED) {
        // The shapes that the file gives have to do for a node that is unsupported.
        for (int k = 0; k < n->node->output_count; k++) {
            struct onnx_value *v = onnx_out(n, k);
            if (!v || v->has_shape || !v->info)
                continue;
            v->has_shape = read_shape(n->graph, v->info, &v->shape);
            v->type = v->info->type;
        }
        return true;
    }
    for (int i = 0; i < n->node->output_count; i++) {
        const struct onnx_value *v = onnx_out(n, i);
        if (!v || !v->has_shape || onnx_fits(&v->shape))
            continue;
        struct str text = {0};
        onnx_shape_add(&text, &v->shape);
        onnx_invalid(n, "it gives %s elements, more than any buffer holds", str_text(&text));
        str_finish(&text);
        return false;
    }
    struct onnx_value *made = onnx_out(n, 0);
    if (made && n->step->kind->fold)
        fold(n, made);
    return true;
}

bool onnx_graph_make(const struct onnx_model *m, const struct onnx_dimension *open, int open_count,
                     struct onnx_graph *out, struct err *e)
{
    *out = (struct onnx_graph){.model = m, .open = open, .open_count = open_count};
    if (!name_values(out, e) || !connect_all(out, e) || !bind_inputs(out, open, open_count, e))
        return false;
    for (int i = 0; i < m->output_count; i++) {
        int v = onnx_graph_find(out, m->output[i].name);
        if (v < 0)
            return err_set(e, "the output '%s' is given by no node", m->output[i].name);
        out->value[v].is_output = true;
    }
    if (m->output_count == 0)
        return err_set(e, "the model has no output");
    // Keeps only nodes that something needs, from the last to the first.
    bool *needed = mem_zero((size_t)out->step_count, sizeof *needed);
    for (int i = out->step_count - 1; i >= 0; i--) {
        const struct onnx_step *s = &out->step[i];
        for (int k = 0; k < s->node->output_count; k++)
            if (s->output[k] >= 0)
                needed[i] |=
                    out->value[s->output[k]].uses > 0 || out->value[s->output[k]].is_output;
        for (int k = 0; needed[i] && k < s->read_count; k++)
            if (s->input[k] >= 0)
                out->value[s->input[k]].uses++;
    }
    int kept = 0;
    for (int i = 0; i < out->step_count; i++)
        if (needed[i])
            out->step[kept++] = out->step[i];
    out->step_count = kept;
    for (int i = 0; i < kept; i++)
        for (int k = 0; k < out->step[i].node->output_count; k++)
            if (out->step[i].output[k] >= 0)
                out->value[out->step[i].output[k]].producer_step = i;
    free(needed);
    note_info(out, m->output, m->output_count);
    note_info(out, m->info, m->info_count);
    for (int i = 0; i < out->step_count; i++) {
        const struct onnx_at at = {out, &out->step[i], out->step[i].node, e};
        if (!infer_step(&at))
            return false;
    }
    return true;
}

void onnx_graph_finish(struct onnx_graph *g)
{
    arena_finish(&g->arena);
    *g = (struct onnx_graph){0};
}

// --- a step ---

struct onnx_value *onnx_in(const struct onnx_at *n, int index)
{
    bool is_there = index < n->node->input_count && n->step->input[index] >= 0;
    return is_there ? &n->graph->value[n->step->input[index]] : NULL;
}

struct onnx_value *onnx_out(const struct onnx_at *n, int index)
{
    bool is_there = index < n->node->output_count && n->step->output[index] >= 0;
    return is_there ? &n->graph->value[n->step->output[index]] : NULL;
}

enum onnx_verdict onnx_invalid(const struct onnx_at *n, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    err_set(n->err, "node '%s' (%s): %s", n->step->name, n->node->kind, text);
    return ONNX_INVALID;
}

enum onnx_verdict onnx_unsupported(const struct onnx_at *n, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    n->step->unsupported = arena_strdup(&n->graph->arena, text);
    return ONNX_UNSUPPORTED;
}

enum onnx_verdict onnx_set_output(const struct onnx_at *n, const struct onnx_shape *shape)
{
    struct onnx_value *out = onnx_out(n, 0), *in = onnx_in(n, 0);
    if (!out)
        return onnx_unsupported(n, "its first output is left out");
    out->has_shape = true;
    out->shape = *shape;
    out->type = in ? in->type : ONNX_FLOAT;
    return ONNX_OK;
}

void onnx_shape_add(struct str *s, const struct onnx_shape *shape)
{
    for (int i = 0; i < shape->rank; i++)
        str_printf(s, "%s%" PRId64, i ? "x" : "", shape->size[i]);
    if (!shape->rank)
        str_add(s, "1");
}
