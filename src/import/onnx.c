// Writes ONNX models as network files: every node that some preset computes is a layer; constants
// go into a .safetensors beside the network file.
#include "base/file.h"
#include "import/import.h"
#include "onnx/layers.h"
#include "weights/weights.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 100 }; // of the network file that say what is left out

struct recorded { // an input or an output of a recorded run of the model
    const struct onnx_value *value;
    struct onnx_tensor tensor;
    struct onnx_weights weights;
    const char *role; // "input"
    const char *name; // in the file of weights, unique there
    bool is_held;     // the network reads it or is compared with it
};

struct writing {
    const struct import_request *request;
    struct imported *out;
    struct onnx_model *model;
    const struct onnx_graph *graph;
    const struct onnx_layers *layers;
    struct recorded *recorded; // of inputs and outputs
    int recorded_count;
    char *weights;    // the path of their file; NULL: none is written
    const char *type; // of the model's values, that with the fewest digits: "f16"
};

// --- Lua ---

// Adds a string of Lua; characters that are no printable ASCII are written by their numbers.
static void add_quoted(struct str *s, const char *text)
{
    str_add_char(s, '"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            str_printf(s, "\\%c", *c);
        else if (*c < ' ' || *c > '~')
            str_printf(s, "\\%03d", *c);
        else
            str_add_char(s, (char)*c);
    }
    str_add_char(s, '"');
}

static void add_value(struct str *s, const char *name)
{
    str_add(s, "v[");
    add_quoted(s, name);
    str_add(s, "]");
}

// --- the beginning of the file ---

// Adds a line to the file, and a note. `what` is finished.
static void note(struct writing *w, struct str *what)
{
    struct str line = {0};
    // Characters that would end the line of the comment become blanks.
    const char *text = str_text(what);
    for (; *text; text++)
        str_add_char(&line, (unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text);
    import_note(w->out, "%s", str_text(&line));
    if (w->out->note_count <= MOST_LINES)
        str_printf(&w->out->text, "-- without %s\n", str_text(&line));
    str_finish(&line);
    str_finish(what);
}

static void note_unsupported(struct writing *w)
{
    const struct onnx_graph *g = w->graph;
    for (int i = 0; i < g->step_count; i++) {
        const struct onnx_step *s = &g->step[i];
        struct str what = {0};
        if (!s->unsupported)
            continue;
        str_printf(&what, "node '%s' (%s", s->name, s->node->kind);
        const struct onnx_value *v = NULL;
        for (int j = 0; j < s->node->input_count && !v; j++)
            if (s->input[j] >= 0 && !g->value[s->input[j]].constant)
                v = &g->value[s->input[j]];
        if (v && v->has_shape) {
            str_add_char(&what, ' ');
            onnx_shape_add(&what, &v->shape);
        }
        str_printf(&what, "): %s", s->unsupported);
        note(w, &what);
    }
    for (int i = 0; i < g->value_count; i++) {
        struct str what = {0};
        if (!g->value[i].unsupported)
            continue;
        str_printf(&what, "output '%s': %s", g->value[i].name, g->value[i].unsupported);
        note(w, &what);
    }
    for (int i = 0; i < w->recorded_count; i++) {
        struct str what = {0};
        if (w->recorded[i].is_held)
            continue;
        str_printf(&what, "%s: nothing reads it, or what it follows from is not recorded",
                   w->recorded[i].name);
        note(w, &what);
    }
    if (w->out->note_count > MOST_LINES)
        str_printf(&w->out->text, "-- and without %d more\n", w->out->note_count - MOST_LINES);
}

// Finds the type of the model; adds the choice of a type, and a function that takes a tensor of the
// file of weights by its name.
static void add_words(struct writing *w)
{
    const struct onnx_layers *l = w->layers;
    struct str *s = &w->out->text;
    int halves = 0, bfloats = 0;
    for (int i = 0; i < l->layer_count; i++) {
        halves += l->layer[i].type == ONNX_FLOAT16;
        bfloats += l->layer[i].type == ONNX_BFLOAT16;
    }
    w->type = bfloats ? "bf16" : halves ? "f16" : "f32";
    // Halves are enough only where all values are halves.
    str_printf(s, "local layers = include \"layers.lua\"\nlocal type = layers.type(\"%s\")\n",
               bfloats == 0 && halves < l->layer_count ? "f32" : w->type);
    if (w->weights) {
        str_add(s, "local function saved(name) return { ");
        add_quoted(s, path_name(w->weights));
        str_add(s, ", name, round = true } end\n");
    }
    str_add(s, "local v = {} -- values by name: inputs, and what layers give\n\n");
}

// --- inputs and layers ---

static struct recorded *find_recorded(struct writing *w, const struct onnx_value *v,
                                      const char *role)
{
    for (int i = 0; i < w->recorded_count; i++)
        if (w->recorded[i].value == v && strcmp(w->recorded[i].role, role) == 0)
            return &w->recorded[i];
    return NULL;
}

// Adds `saved "input_0.recorded"` behind `before` and returns its record if the value was recorded.
static const struct recorded *add_recorded(struct writing *w, const struct onnx_value *v,
                                           const char *role, const char *before)
{
    const struct recorded *r = find_recorded(w, v, role);
    if (!w->weights || !r || !r->is_held)
        return NULL;
    str_printf(&w->out->text, ", %ssaved ", before);
    add_quoted(&w->out->text, r->name);
    return r;
}

static double largest_of(const struct onnx_tensor *t)
{
    double largest = 0;
    for (int64_t i = 0; i < t->count; i++) {
        double size = fabs(onnx_element(t, i));
        largest = isfinite(size) ? fmax(largest, size) : largest;
    }
    return largest;
}

static void add_body(struct writing *w)
{
    const struct onnx_layers *l = w->layers;
    for (int i = 0; i < l->input_count; i++)
        if (l->input[i].uses) {
            const struct onnx_value *v = l->input[i].value;
            struct str *s = &w->out->text;
            int skipped = v->shape.rank > TENSOR_MAX_RANK ? v->shape.rank - TENSOR_MAX_RANK : 0;
            int64_t first = 1;
            for (int j = 0; j < skipped; j++)
                first *= v->shape.size[j];
            add_value(s, l->input[i].name);
            str_add(s, " = input { name = ");
            add_quoted(s, l->input[i].name);
            str_add(s, ", sizes = { ");
            if (!v->shape.rank)
                str_add(s, "1");
            for (int j = skipped; j < v->shape.rank; j++)
                str_printf(s, "%s%" PRId64, j > skipped ? ", " : "",
                           v->shape.size[j] * (j == skipped ? first : 1));
            str_add(s, " }, type = type");
            add_recorded(w, v, "input", "file = ");
            str_add(s, " }\n");
        }
    for (int i = 0; i < l->layer_count; i++) {
        struct str *s = &w->out->text;
        add_value(s, l->layer[i].name);
        str_add(s, l->layer[i].is_product ? " = layers.product { name = " : " = layer { name = ");
        add_quoted(s, l->layer[i].name);
        str_printf(s, ", preset = \"%s\", from = { ", l->layer[i].preset);
        for (int k = 0; k < l->layer[i].from_count; k++) {
            str_printf(s, "%s%s = ", k ? ", " : "", l->layer[i].from[k].tensor);
            add_value(s, l->layer[i].from[k].source < 0
                             ? w->layers->input[-1 - l->layer[i].from[k].source].name
                             : w->layers->layer[l->layer[i].from[k].source].name);
        }
        str_add(s, " },\n  set = { type = type");
        for (int k = 0; k < l->layer[i].setting_count; k++)
            str_printf(s, ", %s = %s", l->layer[i].setting[k].name, l->layer[i].setting[k].text);
        str_add(s, " }");
        for (int k = 0; w->weights && k < l->layer[i].weights_count; k++) {
            char *name = mem_printf("%s.%s", l->layer[i].name, l->layer[i].weights[k].tensor);
            str_printf(s, "%s%s = ", k ? ", " : ",\n  weights = { ", l->layer[i].weights[k].tensor);
            str_add(s, "saved ");
            add_quoted(s, name);
            str_add(s, k + 1 == l->layer[i].weights_count ? " }" : "");
            free(name);
        }
        str_add(s, " }\n");
    }
    for (int i = 0; i < l->output_count; i++) {
        struct str *s = &w->out->text;
        str_add(s, "output(");
        add_value(s, w->layers->layer[l->output[i].layer].name);
        const struct recorded *r = NULL;
        if (l->output[i].value)
            r = add_recorded(w, l->output[i].value, "output", "layers.recorded(");
        if (r)
            str_printf(s, ", \"%s\", %.9g)", w->type, largest_of(&r->tensor));
        str_add(s, ")\n");
    }
}

// --- weights ---

static void fill(const void *context, int64_t first, int64_t count, float *out)
{
    const struct onnx_weights *w = context;
    for (int64_t i = 0; i < count; i++)
        out[i] = (float)onnx_weight(w, first + i);
}

static int count_weights(const struct onnx_layers *l)
{
    int count = 0;
    for (int i = 0; i < l->layer_count; i++)
        count += l->layer[i].weights_count;
    return count;
}

static double count_bytes(const struct writing *w)
{
    const struct onnx_layers *l = w->layers;
    double elements = 0;
    for (int i = 0; i < l->layer_count; i++)
        for (int k = 0; k < l->layer[i].weights_count; k++)
            elements += (double)onnx_count(&l->layer[i].weights[k].shape);
    for (int i = 0; i < w->recorded_count; i++)
        elements += w->recorded[i].is_held ? (double)onnx_count(&w->recorded[i].weights.shape) : 0;
    return elements * sizeof(float);
}

static struct weights_new new_tensor(const char *name, const struct onnx_weights *from)
{
    struct weights_new t = {.name = name, .rank = from->shape.rank, .fill = fill, .context = from};
    for (int i = 0; i < t.rank; i++)
        t.size[i] = (uint64_t)from->shape.size[i];
    return t;
}

static bool write_weights(struct writing *w, struct err *e)
{
    const struct onnx_layers *l = w->layers;
    int count = 0;
    if (!import_may_write(w->out, w->request, count_bytes(w), e))
        return false;
    if (!w->weights)
        return true;
    struct weights_new *all =
        mem_zero((size_t)(count_weights(l) + w->recorded_count) + 1, sizeof *all);
    for (int i = 0; i < l->layer_count; i++)
        for (int k = 0; k < l->layer[i].weights_count; k++) {
            const struct onnx_weights *from = &l->layer[i].weights[k];
            all[count++] = new_tensor(
                arena_printf(&w->out->arena, "%s.%s", l->layer[i].name, from->tensor), from);
        }
    for (int i = 0; i < w->recorded_count; i++)
        if (w->recorded[i].is_held)
            all[count++] = new_tensor(w->recorded[i].name, &w->recorded[i].weights);
    bool ok = import_beside(w->out, w->weights, e) && weights_write(w->weights, all, count, e);
    free(all);
    return ok;
}

static bool name_weights(struct writing *w, struct err *e)
{
    if (!w->request->out || count_weights(w->layers) + w->recorded_count == 0)
        return true;
    char *folder = path_folder(w->request->out), *stem = path_stem(w->request->out);
    char *name = mem_printf("%s.safetensors", stem);
    w->weights = path_join(folder, name);
    free(folder);
    free(stem);
    free(name);
    return w->request->replaces || !file_exists(w->weights) ||
           err_set(e, "'%s' is there already (--force replaces it)", w->weights);
}

// --- recorded inputs and outputs ---

static bool read_one(struct writing *w, const char *role, int number, const struct onnx_value *v,
                     struct err *e)
{
    char *name = mem_printf("%s_%d.pb", role, number);
    char *path = path_join(w->request->data, name);
    struct recorded *r = &w->recorded[w->recorded_count];
    bool is_there = file_exists(path);
    *r = (struct recorded){.value = v, .role = role};
    r->name = arena_printf(&w->out->arena, "%s_%d.recorded", role, number);
    bool ok = !is_there || onnx_read_tensor(path, w->model, &r->tensor, e);
    if (ok && is_there && r->tensor.count != onnx_count(&v->shape))
        ok = err_set(e, "it has %" PRId64 " elements, '%s' has %" PRId64, r->tensor.count, v->name,
                     onnx_count(&v->shape));
    if (!ok)
        err_prefix(e, "%s", path);
    if (ok && is_there) {
        r->weights = (struct onnx_weights){.from = &r->tensor, .shape = {1, {r->tensor.count}}};
        w->recorded_count++;
    }
    free(name);
    free(path);
    return ok;
}

// Reads the recorded inputs and outputs. Inputs that are constants have no number.
static bool read_recorded(struct writing *w, struct err *e)
{
    const struct onnx_model *m = w->model;
    const struct onnx_value *v;
    bool ok = true;
    if (!w->request->data)
        return true;
    w->recorded =
        arena_zero(&w->out->arena, (size_t)(m->input_count + m->output_count), sizeof *w->recorded);
    for (int i = 0, number = 0; ok && i < m->input_count; i++) {
        v = &w->graph->value[onnx_graph_find(w->graph, m->input[i].name)];
        ok = v->constant || read_one(w, "input", number++, v, e);
    }
    for (int i = 0; ok && i < m->output_count; i++) {
        v = &w->graph->value[onnx_graph_find(w->graph, m->output[i].name)];
        ok = !v->has_shape || read_one(w, "output", i, v, e);
    }
    return ok && (w->recorded_count > 0 ||
                  err_set(e, "'%s' has no input_0.pb and no output_0.pb", w->request->data));
}

static bool follows(struct writing *w, const struct onnx_layer *layer, const bool *is_known)
{
    for (int i = 0; i < layer->from_count; i++) {
        int source = layer->from[i].source;
        if (source >= 0 ? !is_known[source]
                        : !find_recorded(w, w->layers->input[-1 - source].value, "input"))
            return false;
    }
    return true;
}

// --- the network file ---

static bool write_network(struct writing *w, struct err *e)
{
    if (w->layers->layer_count == 0) {
        note_unsupported(w);
        return err_set(e, "no preset computes any of its nodes%s%s",
                       w->out->note_count ? "; the first: " : "",
                       w->out->note_count ? w->out->note[0] : "");
    }
    if (!read_recorded(w, e) || !name_weights(w, e))
        return false;
    // An output is compared with the recorded one only if it follows from recorded inputs: nodes
    // that cannot be computed give unknown values.
    const struct onnx_layers *l = w->layers;
    bool *is_known = mem_zero((size_t)l->layer_count + 1, sizeof *is_known);
    for (int i = 0; i < l->layer_count; i++)
        is_known[i] = follows(w, &l->layer[i], is_known);
    for (int i = 0; i < l->input_count; i++) {
        struct recorded *r = find_recorded(w, l->input[i].value, "input");
        if (r)
            r->is_held = true;
    }
    for (int i = 0; i < l->output_count; i++) {
        struct recorded *r = find_recorded(w, l->output[i].value, "output");
        if (r)
            r->is_held = is_known[l->output[i].layer];
    }
    free(is_known);
    struct str *s = &w->out->text;
    struct str about = {0};
    int count = 0;
    for (int i = 0; i < w->graph->step_count; i++)
        count += w->graph->step[i].unsupported != NULL;
    str_printf(&about, "%d of %d nodes of an ONNX model (opset %" PRId64,
               w->graph->step_count - count, w->graph->step_count, w->model->opset);
    if (*w->model->producer)
        str_printf(&about, ", made by %.60s", w->model->producer);
    str_printf(&about, ") in %d layers", w->layers->layer_count);
    w->out->about = arena_strdup(&w->out->arena, str_text(&about));
    str_add(s, "network ");
    add_quoted(s, str_text(&about));
    str_add(s, "\n\n");
    note_unsupported(w);
    add_words(w);
    str_finish(&about);
    add_body(w);
    return write_weights(w, e);
}

static bool imports(const struct import_request *r, struct imported *out, struct err *e)
{
    struct onnx_model model = {0};
    struct onnx_graph graph = {0};
    struct onnx_layers layers;
    struct onnx_dimension *open = mem_zero((size_t)r->set_count + 1, sizeof *open);
    struct writing w = {
        .request = r, .out = out, .model = &model, .graph = &graph, .layers = &layers};
    bool ok = true;
    for (int i = 0; ok && i < r->set_count; i++) {
        open[i].name = r->set[i].name;
        ok = str_to_int(r->set[i].value, 1, INT32_MAX, &open[i].size) ||
             err_usage(e, "--set %s=%s: a dimension is a whole number of at least 1",
                       r->set[i].name, r->set[i].value);
    }
    if (ok && onnx_read(r->path, &model, e) &&
        onnx_graph_make(&model, open, r->set_count, &graph, e)) {
        onnx_lower(&graph, &layers);
        ok = write_network(&w, e) || err_prefix(e, "%s", r->path);
        free(w.weights);
        onnx_layers_finish(&layers);
    } else if (ok) {
        ok = err_prefix(e, "%s", r->path);
    }
    onnx_graph_finish(&graph);
    onnx_finish(&model);
    free(open);
    return ok;
}

const struct import_format import_onnx = {
    .name = "ONNX", .detects = onnx_begins, .imports = imports};
