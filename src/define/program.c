#include "define/program.h"

#include <stdlib.h>
#include <string.h>

enum { TENSORS = DEFINE_MAX_INPUTS + DEFINE_MAX_STAGES };

// --- what is read from copies ---

static bool has_affine_indices(const struct definition *d, const struct node *n,
                               struct program_copy *c)
{
    bool affine = true;
    memset(c->coefficient, 0, sizeof c->coefficient);
    for (int i = 0; i < d->tensor[n->tensor].rank; i++)
        affine = definition_affine(d, d->index[n->index + i], 1, c->coefficient[i]) && affine;
    return affine;
}

// What is computed where it is read is copied only where all of its reads are.
static void drop_partly_copied(const struct definition *d, struct program_kernel *k)
{
    int kept = 0;
    for (int i = 0; i < k->copies; i++) {
        int tensor = d->node[k->copy[i].read].tensor, copied = 0;
        for (int j = 0; j < k->copies; j++)
            copied += d->node[k->copy[j].read].tensor == tensor;
        if (k->copy[i].stage < 0 || copied == definition_reads_of(d, k->stage.body, tensor))
            k->copy[kept++] = k->copy[i];
    }
    k->copies = kept;
}

static int read_itself(struct definition *d, int tensor)
{
    int index[DEFINE_MAX_RANK];
    for (int i = 0; i < d->tensor[tensor].rank; i++)
        index[i] = definition_axis(d, i);
    return definition_read(d, tensor, index, d->tensor[tensor].rank);
}

// `expression`: of each tensor, what is computed in its place, or -1.
static void find_copies(struct program *p, struct program_kernel *k, const int *expression)
{
    struct definition *d = &p->inlined;
    const struct sketch *s = &p->sketches.sketch[0];
    int *read = mem_alloc(((size_t)k->stage.body + 1) * sizeof *read);
    int reads = definition_plain_reads(d, k->stage.body, read);
    for (int i = reads - 1; i >= 0 && k->copies < PROGRAM_MAX_COPIES; i--) {
        const struct node *n = &d->node[read[i]];
        struct program_copy *c = &k->copy[k->copies];
        bool is_computed = expression[n->tensor] >= 0;
        *c = (struct program_copy){
            .read = read[i], .plain = -1, .stage = is_computed ? n->tensor - d->inputs : -1};
        if (s->is_cached[n->tensor] && has_affine_indices(d, n, c))
            k->copies++;
    }
    free(read);
    drop_partly_copied(d, k);
    for (int i = 0; i < k->copies; i++) {
        struct program_copy *c = &k->copy[i];
        int tensor = d->node[c->read].tensor;
        c->expression = c->stage < 0 ? read_itself(d, tensor) : expression[tensor];
        if (c->stage >= 0)
            c->plain = definition_substitute(d, c->read, NULL, expression);
    }
}

int program_copy_of(const struct program_kernel *k, int node)
{
    int i = k->copies - 1;
    while (i >= 0 && k->copy[i].read != node)
        i--;
    return i;
}

// --- which stages become kernels ---

static bool is_kernel(const struct definition *d, int stage)
{
    return stage == d->stage_count - 1 || d->stage[stage].reduction != REDUCE_NONE;
}

// What it has in all sketches: those of a definition differ in how reductions are shared only.
static enum stage_plan usual_plan(const struct program *p, int tensor)
{
    return p->sketches.sketch[0].plan[tensor];
}

// The expressions of stages that are no kernels stand in place of reads of them, copies and what is
// computed once aside.
static bool compute_in_place(struct program *p, struct program_kernel *k, const int *expression)
{
    struct definition *d = &p->inlined;
    int others[TENSORS];
    memcpy(others, expression, sizeof others);
    bool ok = true;
    for (int i = 0; i < TENSORS; i++)
        if (usual_plan(p, i) == PLAN_ONCE)
            others[i] = -1;
    for (int i = 0; i < k->copies; i++) {
        others[d->node[k->copy[i].read].tensor] = -1;
        ok = ok && k->copy[i].expression >= 0 && (k->copy[i].stage < 0 || k->copy[i].plain >= 0);
    }
    k->stage.body = definition_substitute(d, k->stage.body, NULL, others);
    return ok && k->stage.body >= 0;
}

static bool is_tiled(const struct program *p, int tensor)
{
    return usual_plan(p, tensor) == PLAN_TILE;
}

// What matrix units multiply, if the stage is a product; all that is read is computed in place.
static bool find_product(struct program *p, struct program_kernel *k, const int *expression)
{
    struct definition *d = &p->inlined;
    if (!product_find(d, &k->stage, &k->product))
        return true;
    for (int i = 0; i < p->device.matrix.count; i++)
        if (product_fits(&k->product, d->node[k->stage.body].is_real, &p->device.matrix.shape[i]))
            k->shape[k->shapes++] = p->device.matrix.shape[i];
    for (int i = 0; i < 2 && k->shapes; i++)
        k->product.factor[i] = definition_substitute(d, k->product.factor[i], NULL, expression);
    return k->product.factor[0] >= 0 && k->product.factor[1] >= 0;
}

static bool add_kernel(struct program *p, const struct define_stage *s, const int *expression,
                       struct err *e)
{
    const char *name = p->inlined.tensor[s->tensor].name;
    if (p->kernel_count == PROGRAM_MAX_KERNELS)
        return err_set(e, "more than %d reductions one after the other (%s is one too many)",
                       PROGRAM_MAX_KERNELS, name);
    struct program_kernel *k = &p->kernel[p->kernel_count++];
    *k = (struct program_kernel){.stage = *s, .epilogue = -1, .is_output = s->tensor == p->output};
    if (is_tiled(p, s->tensor))
        find_copies(p, k, expression);
    if (!find_product(p, k, expression))
        return err_set(e, "%s: too large once what it reads is computed in it", name);
    if (!compute_in_place(p, k, expression))
        return err_set(e, "%s: too large once what it reads is computed in it", name);
    k->scratch = p->scratch_bytes / 4;
    if (!k->is_output)
        p->scratch_bytes += 4 * (uint64_t)define_tensor_count(&p->inlined.tensor[s->tensor]);
    return true;
}

// The output as what becomes of the numbers of the last reduction, in its kernel.
static bool fuse_output(struct program *p, const struct define_stage *s, int body)
{
    struct definition *d = &p->inlined;
    struct program_kernel *k = p->kernel_count ? &p->kernel[p->kernel_count - 1] : NULL;
    if (!k || s->reduction != REDUCE_NONE || s->space != k->stage.space ||
        memcmp(s->extent, k->stage.extent, (size_t)s->space * sizeof *s->extent) != 0 ||
        !reads_in_place(d, body, k->stage.tensor))
        return false;
    k->epilogue = body;
    k->is_output = true;
    p->scratch_bytes = 4 * k->scratch;
    return true;
}

// What is stored by kernels of constant tensors.
static bool write_out(struct program *p, const int *expression, struct err *e)
{
    struct definition *d = &p->inlined;
    int once[TENSORS];
    for (int i = 0; i < TENSORS; i++)
        once[i] = usual_plan(p, i) == PLAN_ONCE ? expression[i] : -1;
    for (int i = 0; i < p->kernel_count; i++) {
        struct program_kernel *k = &p->kernel[i];
        if (usual_plan(p, k->stage.tensor) == PLAN_CONSTANT &&
            !constants_write_out(d, &k->stage, k->epilogue, once, &k->constants))
            return err_set(e, "%s: too large once its constant tensors are written out",
                           d->tensor[k->stage.tensor].name);
    }
    return true;
}

static bool make_kernels(struct program *p, struct err *e)
{
    struct definition *d = &p->inlined;
    int expression[TENSORS];
    p->output = d->stage[d->stage_count - 1].tensor;
    for (int i = 0; i < TENSORS; i++)
        expression[i] = -1;
    for (int i = 0; i < d->stage_count; i++) {
        const struct define_stage *s = &d->stage[i];
        int body = definition_substitute(d, s->body, NULL, expression);
        if (body < 0)
            return err_set(e, "%s: too large once what it reads is computed in it",
                           d->tensor[s->tensor].name);
        if (!is_kernel(d, i))
            expression[s->tensor] = body;
        else if (!fuse_output(p, s, body) && !add_kernel(p, s, expression, e))
            return false;
    }
    return write_out(p, expression, e);
}

// --- in which ways ---

static void set_loop(struct program_variant *v, int64_t length, const char *name)
{
    struct program_loops *l = &v->loops;
    int i = l->space + l->reduce;
    l->length[i] = length;
    l->extent[i] = v->is_guarded ? guarded_extent(length) : length;
    l->name[i] = name;
    l->param[i] = -1;
}

// The names of axes as one, without those that are written out.
static const char *joined(struct program *p, const struct program_kernel *k, unsigned axes)
{
    const struct define_stage *s = &k->stage;
    struct str name = {0};
    for (int a = 0; a < s->space + s->reduce; a++)
        if (s->extent[a] > 1 && (axes & ~k->constants.axes) >> a & 1)
            str_printf(&name, "%s%s", name.length ? "_" : "", s->axis[a]);
    const char *kept = arena_strdup(&p->inlined.arena, name.length ? str_text(&name) : "all");
    str_finish(&name);
    return kept;
}

// Batch, rows and columns, and the reduction.
static void set_product_loops(struct program *p, struct program_kernel *k,
                              struct program_variant *v)
{
    const struct define_stage *s = &k->stage;
    for (int side = 0; side <= PRODUCT_SIDES; side++) {
        unsigned axes = side < PRODUCT_SIDES ? k->product.axes[side] : k->product.reduced;
        int64_t length = 1;
        for (int a = 0; a < s->space + s->reduce; a++)
            length *= axes >> a & 1 ? s->extent[a] : 1;
        set_loop(v, length, joined(p, k, axes));
        *(side < PRODUCT_SIDES ? &v->loops.space : &v->loops.reduce) += 1;
    }
}

static void add_variant(struct program *p, struct program_kernel *k, enum stage_plan plan,
                        bool guarded)
{
    const struct define_stage *s = &k->stage;
    struct program_variant *v = &k->variant[k->variants++];
    struct program_loops *l = &v->loops;
    *v = (struct program_variant){
        .plan = plan, .is_guarded = guarded, .unroll = -1, .vector = -1, .pad = -1, .buffers = -1};
    for (int i = 0; i < PROGRAM_MAX_COPIES; i++)
        v->copied[i] = -1;
    if (plan == PLAN_TILE) {
        for (int a = 0; a < s->space; a++, l->space++)
            set_loop(v, s->extent[a], s->axis[a]);
        for (int a = s->space; a < s->space + s->reduce; a++, l->reduce++)
            set_loop(v, s->extent[a], s->axis[a]);
        return;
    }
    if (plan == PLAN_MATRIX) {
        set_product_loops(p, k, v);
        return;
    }
    unsigned space = (1U << s->space) - 1;
    int64_t written = plan == PLAN_CONSTANT ? k->constants.values : 1;
    set_loop(v, stage_points(s, 0, s->space) / written, joined(p, k, space));
    l->space = 1;
    v->values = k->constants.values;
    v->reads = k->constants.reads;
    if (s->reduce && plan != PLAN_CONSTANT) {
        set_loop(v, stage_points(s, s->space, s->reduce), joined(p, k, ~space));
        l->reduce = 1;
    }
}

static bool is_shared(const struct sketch *s, int tensor)
{
    return s->plan[tensor] == PLAN_CROSS;
}

static bool is_split(const struct sketch *s, int tensor)
{
    return s->plan[tensor] == PLAN_SPLIT;
}

static bool is_matrix(const struct sketch *s, int tensor)
{
    return s->plan[tensor] == PLAN_MATRIX;
}

// How the sketch computes the tensor's kernel.
static enum stage_plan plan_of(const struct program *p, const struct sketch *s, int tensor)
{
    if (is_shared(s, tensor) || is_split(s, tensor) || is_matrix(s, tensor))
        return s->plan[tensor];
    enum stage_plan usual = usual_plan(p, tensor);
    return usual == PLAN_TILE || usual == PLAN_CONSTANT ? usual : PLAN_SERIAL;
}

int program_variant_of(const struct program *p, int sketch, int kernel)
{
    const struct program_kernel *k = &p->kernel[kernel];
    const struct sketch *s = &p->sketches.sketch[sketch];
    int v = k->variants - 1;
    while (v >= 0 && (k->variant[v].plan != plan_of(p, s, k->stage.tensor) ||
                      k->variant[v].is_guarded != s->is_guarded[k->stage.tensor]))
        v--;
    return v;
}

static bool computes_alike(const struct program *p, const struct sketch *a, const struct sketch *b)
{
    bool alike = true;
    for (int k = 0; k < p->kernel_count; k++) {
        int tensor = p->kernel[k].stage.tensor;
        alike = alike && plan_of(p, a, tensor) == plan_of(p, b, tensor) &&
                a->is_guarded[tensor] == b->is_guarded[tensor];
    }
    return alike;
}

// Sketches can differ in stages that are computed in another's kernel: one of each kind stays.
static void drop_twins(struct program *p)
{
    struct sketches *s = &p->sketches;
    int kept = 0;
    for (int i = 0; i < s->count; i++) {
        bool is_new = true;
        for (int k = 0; k < kept; k++)
            is_new = is_new && !computes_alike(p, &s->sketch[i], &s->sketch[k]);
        if (is_new)
            s->sketch[kept++] = s->sketch[i];
    }
    s->count = kept;
}

// The first is that of the first sketch: what is not shared and not guarded.
static void add_variants(struct program *p)
{
    for (int i = 0; i < p->kernel_count; i++) {
        struct program_kernel *k = &p->kernel[i];
        int tensor = k->stage.tensor;
        for (int n = 0; n < p->sketches.count; n++) {
            const struct sketch *s = &p->sketches.sketch[n];
            if (program_variant_of(p, n, i) < 0)
                add_variant(p, k, plan_of(p, s, tensor), s->is_guarded[tensor]);
        }
    }
}

// Appends "how(top+sum)" of the kernels for which it holds, if there are any.
static void add_which(const struct program *p, const struct sketch *s, const char *how,
                      bool (*holds)(const struct sketch *s, int tensor), struct str *name)
{
    int count = 0;
    for (int k = 0; k < p->kernel_count; k++) {
        int tensor = p->kernel[k].stage.tensor;
        if (!holds(s, tensor))
            continue;
        str_add(name, name->length && !count ? "," : "");
        str_printf(name, "%s%s", count++ ? "+" : how, p->inlined.tensor[tensor].name);
    }
    str_add(name, count ? ")" : "");
}

static bool is_guarded(const struct sketch *s, int tensor)
{
    return s->is_guarded[tensor];
}

// "tiled", or "serial"; or what is shared, split and guarded: "cross-thread(top+sum),guarded(Y)".
static void name_sketches(struct program *p)
{
    for (int i = 0; i < p->sketches.count; i++) {
        struct str name = {0};
        bool tiles = false;
        for (int k = 0; k < p->kernel_count; k++)
            tiles = tiles || is_tiled(p, p->kernel[k].stage.tensor);
        add_which(p, &p->sketches.sketch[i], "cross-thread(", is_shared, &name);
        add_which(p, &p->sketches.sketch[i], "split(", is_split, &name);
        add_which(p, &p->sketches.sketch[i], "matrix(", is_matrix, &name);
        add_which(p, &p->sketches.sketch[i], "guarded(", is_guarded, &name);
        if (!name.length)
            str_add(&name, tiles ? "tiled" : "serial");
        p->sketch_name[i] = str_take(&name);
    }
}

// What there may be beyond Ansor's sketches.
struct beyond {
    bool guards, splits, widths, matrix;
};

static bool build(struct program *p, const char *text, struct beyond b, struct err *e)
{
    static const struct matrix_units none;
    const struct sketch_device device = {p->device.subgroup, p->device.invocations, b.guards,
                                         b.splits, b.matrix ? &p->device.matrix : &none};
    if (!definition_read_text(&p->inlined, text, e))
        return false;
    sketches_derive(&p->inlined, device, &p->sketches);
    if (!make_kernels(p, e))
        return false;
    drop_twins(p);
    add_variants(p);
    program_count_operations(p);
    name_sketches(p);
    return true;
}

// Whether a space has room for all ways to compute all kernels.
static bool fits_space(struct program *p)
{
    struct space *s = space_create("room");
    struct err e;
    bool fits = program_add_params(p, s, &e);
    space_destroy(s);
    p->space = NULL;
    p->chooser = -1;
    return fits;
}

static struct program *create(const char *text, struct program_device device, struct beyond b,
                              struct err *e)
{
    struct program *p = mem_zero(1, sizeof *p);
    p->device = device;
    p->has_widths = b.widths;
    p->chooser = -1;
    if (build(p, text, b, e))
        return p;
    program_destroy(p);
    return NULL;
}

struct program *program_create(const struct definition *d, struct program_device device,
                               struct err *e)
{
    static const struct beyond less[] = {{true, true, true, true},    {true, true, true, false},
                                         {true, true, false, false},  {true, false, false, false},
                                         {false, false, true, false}, {false, false, false, false}};
    enum { LAST = sizeof less / sizeof *less - 1 };
    struct str text = {0};
    struct program *p = NULL;
    if (!definition_write(d, &text)) {
        err_set(e, "the definition is too large (what it shares is written out)");
    } else {
        int i = device.matrix.count ? 0 : 1;
        for (p = create(str_text(&text), device, less[i], e); p && i < LAST && !fits_space(p);) {
            program_destroy(p);
            p = create(str_text(&text), device, less[++i], e);
        }
    }
    str_finish(&text);
    return p;
}

void program_destroy(struct program *p)
{
    for (int i = 0; p && i < SKETCH_MOST; i++)
        free(p->sketch_name[i]);
    if (p)
        definition_finish(&p->inlined);
    free(p);
}
