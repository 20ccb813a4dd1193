#include "define/program.h"

#include "base/number.h"

#include <stdlib.h>
#include <string.h>

// The parameters of a program's space: the sketch, and what each way to compute a kernel leaves
// open.

enum {
    USUAL_THREADS = 64,
    USUAL_WRITTEN = 4,
    USUAL_ACROSS = 8
}; // where a parameter begins that a sketch brings

struct adding {
    struct program *p;
    struct space *s;
    int kernel, variant;
    struct err *e;
};

// "k", or "scores_k" where there are several kernels, or "k_cross" of another way; another one of
// that name has a number.
static char *new_name(const struct adding *a, const char *what)
{
    const struct program_kernel *k = &a->p->kernel[a->kernel];
    const char *tensor = a->p->kernel_count > 1 ? a->p->inlined.tensor[k->stage.tensor].name : "";
    const struct program_variant *v = &k->variant[a->variant];
    const char *end = v->is_guarded ? "_guarded" : "";
    const char *way = v->plan == PLAN_CROSS    ? "_cross"
                      : v->plan == PLAN_SPLIT  ? "_split"
                      : v->plan == PLAN_MATRIX ? "_matrix"
                                               : "";
    char *name = mem_printf("%s%s%s%s%s", tensor, *tensor ? "_" : "", what, way, end);
    for (int i = 2; space_find(a->s, name); i++) {
        free(name);
        name = mem_printf("%s%s%s%s%s%d", tensor, *tensor ? "_" : "", what, way, end, i);
    }
    return name;
}

// What ways to compute a kernel have a parameter in common: those that differ in how its reduction
// is shared, if it is, or in whether its ends are guarded.
enum common { OF_ONE, SHARED_OR_NOT, GUARDED_OR_NOT };

static bool has_in_common(const struct program_kernel *k, int one, int other, enum common common)
{
    const struct program_variant *a = &k->variant[one], *b = &k->variant[other];
    return one == other || (common == SHARED_OR_NOT && a->is_guarded == b->is_guarded) ||
           (common == GUARDED_OR_NOT && a->plan == b->plan);
}

// The first of the ways that have it in common.
static int first_of(const struct adding *a, enum common common)
{
    int first = 0;
    while (!has_in_common(&a->p->kernel[a->kernel], first, a->variant, common))
        first++;
    return first;
}

// Of the sketches that have it, a bit each; 0: of all.
static uint64_t sketches_of(const struct adding *a, enum common common)
{
    const struct program_kernel *k = &a->p->kernel[a->kernel];
    uint64_t those = 0, all = 0;
    for (int i = 0; i < a->p->sketches.count; i++) {
        all |= UINT64_C(1) << i;
        if (has_in_common(k, program_variant_of(a->p, i, a->kernel), a->variant, common))
            those |= UINT64_C(1) << i;
    }
    return those == all ? 0 : those;
}

// Gives its index; -1: it could not be added. `rest`: where it is in sketches that lack it, which
// are not those of `when`.
static int add(const struct adding *a, bool built, const struct param *param, uint64_t when,
               const int32_t *rest)
{
    int index = a->s->param_count;
    if (!built || !space_add(a->s, param, a->e))
        return -1;
    if (when)
        space_condition(a->s, index, a->p->chooser, when, rest);
    return index;
}

static int32_t divisor_up_to(int64_t number, int64_t most)
{
    int64_t d = int64_min(number, most);
    while (number % d)
        d--;
    return (int32_t)d;
}

int program_parts(const struct program_variant *v, bool is_space)
{
    if (v->plan == PLAN_TILE)
        return is_space ? TILE_PARTS : 3;
    return is_space || v->plan != PLAN_SERIAL ? 3 : 2;
}

// Where the split of a loop begins, in the order of the parameter's parts. `threads`: how many more
// a workgroup has, usually.
static void set_rest(const struct program_variant *v, int loop, int64_t *threads, int32_t *rest)
{
    const struct program_loops *l = &v->loops;
    bool is_space = loop < l->space, splits = !is_space && v->plan == PLAN_SPLIT;
    bool has_threads = is_space || v->plan == PLAN_CROSS || splits;
    int parts = program_parts(v, is_space);
    int32_t part = divisor_up_to(l->extent[loop], has_threads ? *threads : USUAL_WRITTEN);
    for (int i = 1; i < parts; i++)
        rest[i] = 1;
    rest[0] = (int32_t)(l->extent[loop] / part);
    rest[has_threads ? parts / 2 : parts - 1] = part;
    if (splits) { // the rest is the loop's
        int32_t across = divisor_up_to(rest[0], USUAL_ACROSS);
        rest[parts - 1] = rest[0] / across;
        rest[0] = across;
    }
    *threads /= has_threads ? part : 1;
}

static bool add_loop(const struct adding *a, int loop, const int32_t *rest)
{
    struct program_kernel *k = &a->p->kernel[a->kernel];
    struct program_variant *v = &k->variant[a->variant];
    struct param param;
    bool is_space = loop < v->loops.space;
    enum common common = is_space && k->variant[0].plan == PLAN_SERIAL ? SHARED_OR_NOT : OF_ONE;
    int first = first_of(a, common);
    if (first < a->variant) {
        v->loops.param[loop] = k->variant[first].loops.param[loop];
        return true;
    }
    char *name = new_name(a, v->loops.name[loop]);
    bool built = param_factorization(&param, &a->s->arena, name, v->loops.extent[loop],
                                     program_parts(v, is_space), a->e);
    v->loops.param[loop] = add(a, built, &param, sketches_of(a, common), rest);
    free(name);
    return v->loops.param[loop] >= 0;
}

static bool add_loops(const struct adding *a)
{
    const struct program_variant *v = &a->p->kernel[a->kernel].variant[a->variant];
    if (v->plan == PLAN_MATRIX)
        return true;
    int32_t rest[DEFINE_MAX_AXES][TILE_PARTS];
    int64_t threads = USUAL_THREADS;
    int count = v->loops.space + v->loops.reduce;
    for (int i = count - 1; i >= 0; i--) // the last ones have the threads
        set_rest(v, i, &threads, rest[i]);
    for (int i = 0; i < count; i++)
        if (v->loops.extent[i] > 1 && !add_loop(a, i, rest[i]))
            return false;
    return true;
}

static bool add_copies(const struct adding *a)
{
    static const char *const places[] = {"memory", "shared"};
    struct program_kernel *k = &a->p->kernel[a->kernel];
    struct program_variant *v = &k->variant[a->variant];
    int first = first_of(a, GUARDED_OR_NOT);
    if (first < a->variant) {
        memcpy(v->copied, k->variant[first].copied, sizeof v->copied);
        return true;
    }
    for (int i = 0; i < k->copies && v->plan == PLAN_TILE; i++) {
        const struct definition *d = &a->p->inlined;
        struct param param;
        char *what = mem_printf("place_%s", d->tensor[d->node[k->copy[i].read].tensor].name);
        char *name = new_name(a, what);
        v->copied[i] = add(a, param_categorical(&param, &a->s->arena, name, 2, places, a->e),
                           &param, sketches_of(a, GUARDED_OR_NOT), &(int32_t){0});
        free(name);
        free(what);
        if (v->copied[i] < 0)
            return false;
    }
    return true;
}

// A parameter of tiles that guarded ones have in common with the others; the first number is how it
// was before there was a choice. Gives its index; -1: it could not be added.
static int add_choice(const struct adding *a, const char *what, int count, const double *number)
{
    struct param param;
    char *name = new_name(a, what);
    bool built = param_discrete(&param, &a->s->arena, name, count, number, a->e);
    int index = add(a, built, &param, sketches_of(a, GUARDED_OR_NOT), &(int32_t){0});
    free(name);
    return index;
}

// Ansor's limits of what is written out (auto_unroll_max_step), as far as a driver's compiler is
// quick with so much.
static bool add_unroll(const struct adding *a)
{
    static const double limits[] = {0, 16, 64, 512};
    struct program_kernel *k = &a->p->kernel[a->kernel];
    struct program_variant *v = &k->variant[a->variant];
    int first = first_of(a, GUARDED_OR_NOT);
    v->unroll = k->variant[first].unroll;
    if (first < a->variant || v->plan != PLAN_TILE || v->loops.reduce == 0)
        return true;
    v->unroll = add_choice(a, "unroll", 4, limits);
    return v->unroll >= 0;
}

// How many neighbours are read and stored at once, what lines of copies are padded with (four: so
// that vectors stay where they can begin; fewer: against conflicts of the others), and how many of
// its tiles a copy holds.
static bool add_widths(const struct adding *a)
{
    static const double widths[] = {1, 2, PROGRAM_MOST_VECTOR}, pads[] = {0, 1, 2, 4};
    static const double buffers[] = {1, 2};
    struct program_kernel *k = &a->p->kernel[a->kernel];
    struct program_variant *v = &k->variant[a->variant];
    int first = first_of(a, GUARDED_OR_NOT);
    v->vector = k->variant[first].vector;
    v->pad = k->variant[first].pad;
    v->buffers = k->variant[first].buffers;
    if (first < a->variant || v->plan != PLAN_TILE || !a->p->has_widths)
        return true;
    v->vector = add_choice(a, "vector", 3, widths);
    if (v->vector < 0 || !k->copies)
        return v->vector >= 0;
    v->pad = add_choice(a, "pad", 4, pads);
    if (v->pad < 0 || !v->loops.reduce)
        return v->pad >= 0;
    v->buffers = add_choice(a, "buffers", 2, buffers);
    return v->buffers >= 0;
}

// A product in three parts, of which the first is left out: the others are those along rows and
// columns.
static int add_budget(const struct adding *a, const char *what, int64_t most)
{
    struct param param;
    char *name = new_name(a, what);
    bool built = param_factorization(&param, &a->s->arena, name, most, 3, a->e);
    int index = add(a, built, &param, sketches_of(a, OF_ONE), (int32_t[]){(int32_t)most, 1, 1});
    free(name);
    return index;
}

// Of tiles of fragments, as far as compilers are quick with an emulation of them.
static bool add_units(const struct adding *a)
{
    static const double steps[] = {1, 2, 4, 8}, pads[] = {0, 1, 2};
    struct program_variant *v = &a->p->kernel[a->kernel].variant[a->variant];
    bool is_cpu = a->p->device.is_cpu;
    if (v->plan != PLAN_MATRIX)
        return true;
    const struct program_kernel *k = &a->p->kernel[a->kernel];
    const char *label[MATRIX_MAX_SHAPES];
    struct param param;
    char *name = new_name(a, "shape");
    for (int i = 0; i < k->shapes; i++)
        label[i] =
            arena_printf(&a->s->arena, "%dx%dx%d", k->shape[i].m, k->shape[i].n, k->shape[i].k);
    bool built = param_categorical(&param, &a->s->arena, name, k->shapes, label, a->e);
    int index = add(a, built, &param, sketches_of(a, OF_ONE), &(int32_t){0});
    free(name);
    v->shape = index;
    v->subgroups = add_budget(a, "subgroups", is_cpu ? 4 : 16);
    v->fragments = add_budget(a, "fragments", is_cpu ? 4 : 64);
    v->steps = add_choice(a, "steps", is_cpu ? 2 : 4, steps);
    v->pad = add_choice(a, "pad", 3, pads);
    return v->shape >= 0 && v->subgroups >= 0 && v->fragments >= 0 && v->steps >= 0 && v->pad >= 0;
}

static bool add_chooser(struct program *p, struct space *s, struct err *e)
{
    struct param param;
    p->chooser = s->param_count;
    return param_categorical(&param, &s->arena, "sketch", p->sketches.count,
                             (const char *const *)p->sketch_name, e) &&
           space_add(s, &param, e);
}

bool program_add_params(struct program *p, struct space *s, struct err *e)
{
    if (p->sketches.count > 1 && !add_chooser(p, s, e))
        return false;
    for (int i = 0; i < p->kernel_count; i++)
        for (int v = 0; v < p->kernel[i].variants; v++) {
            const struct adding a = {p, s, i, v, e};
            if (!add_loops(&a) || !add_copies(&a) || !add_unroll(&a) || !add_widths(&a) ||
                !add_units(&a))
                return false;
        }
    p->space = s;
    return true;
}

// How long the text of kernels is, in operations: what drivers' compilers take their time for.

// Of an expression: each part once, and each read with as much as its indices take.
static int operations_of(const struct definition *d, int node)
{
    int *order = mem_alloc(((size_t)node + 1) * sizeof *order), operations = 0;
    int count = definition_nodes_of(d, node, order);
    for (int i = 0; i < count; i++) {
        const struct node *n = &d->node[order[i]];
        operations += n->op == NODE_READ ? d->tensor[n->tensor].rank : node_operands(n->op) > 0;
    }
    free(order);
    return operations;
}

void program_count_operations(struct program *p)
{
    const struct definition *d = &p->inlined;
    for (int i = 0; i < p->kernel_count; i++) {
        struct program_kernel *k = &p->kernel[i];
        const struct constants *c = &k->constants;
        k->operations = operations_of(d, k->stage.body) + (k->stage.reduction != REDUCE_NONE);
        k->stored = 1 + (k->epilogue < 0 ? 0 : operations_of(d, k->epilogue));
        for (int j = 0; j < k->copies; j++) { // where it is in a copy is known when it is compiled
            struct program_copy *x = &k->copy[j];
            x->operations = operations_of(d, x->plain < 0 ? x->read : x->plain);
            k->operations -= operations_of(d, x->read) - 1;
        }
        k->operations = int_max(k->operations, 1 + k->copies);
        for (int j = 0; j < c->values; j++)
            k->written += operations_of(d, c->value[j]);
        for (int j = 0; j < c->reads; j++)
            k->written += c->plain[j] < 0 ? 0 : operations_of(d, c->plain[j]);
    }
}

// The kernels of one configuration as a job: a pass each, or two where workgroups share one.

static bool add_pass(const struct program *p, int kernel, const struct tiling *t, bool is_second,
                     struct job *job)
{
    struct pass *pass = job_add_pass(job);
    struct str text = {0};
    uint64_t groups[3];
    tiling_groups(t, groups);
    for (int k = 0; k < 3; k++)
        pass->groups[k] = (uint32_t)groups[k];
    if (t->shape && p->device.lanes != p->device.subgroup && !p->device.emulates)
        pass->subgroup = p->device.lanes;
    bool fits = program_glsl(p, kernel, t, is_second, &text);
    pass->glsl = str_take(&text);
    return fits;
}

// One pass, or two where workgroups share the reduction.
static bool add_passes(const struct program *p, int kernel, const struct tiling *t, struct job *job)
{
    struct program_variant v;
    int64_t parts = tiling_reduced(t, TILE_ACROSS);
    bool fits = add_pass(p, kernel, t, false, job);
    if (!fits || parts == 1)
        return fits;
    struct tiling second = tiling_second(t, &v);
    uint64_t bytes = p->scratch_bytes + 4 * (uint64_t)(parts * tiling_points(t));
    job->scratch_bytes = uint64_max(job->scratch_bytes, bytes);
    return add_pass(p, kernel, &second, true, job);
}

bool program_job(const struct program *p, const struct config *c, const char *name, struct job *job,
                 struct err *e)
{
    bool fits = true;
    *job = (struct job){.scratch_bytes = p->scratch_bytes};
    for (int i = 0; i < p->kernel_count && fits; i++) {
        struct tiling t = program_tiling(p, i, c);
        fits = add_passes(p, i, &t, job);
        if (!fits)
            err_set(e, "the kernel of %s would be too long",
                    p->inlined.tensor[p->kernel[i].stage.tensor].name);
    }
    for (int i = 0; i < job->pass_count; i++)
        job->pass[i].template_name = mem_strdup(name);
    if (!fits)
        job_finish(job);
    return fits;
}

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
    // What is computed where it is read is copied only where all of its reads are.
    int kept = 0;
    for (int i = 0; i < k->copies; i++) {
        int tensor = d->node[k->copy[i].read].tensor, copied = 0;
        for (int j = 0; j < k->copies; j++)
            copied += d->node[k->copy[j].read].tensor == tensor;
        if (k->copy[i].stage < 0 || copied == definition_reads_of(d, k->stage.body, tensor))
            k->copy[kept++] = k->copy[i];
    }
    k->copies = kept;
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
    // The expressions of stages that are no kernels stand in place of reads of them, copies and
    // what is computed once aside.
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
    if (!(ok && k->stage.body >= 0))
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
    // Sketches can differ in stages that are computed in another's kernel: one of each kind stays.
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
    add_variants(p);
    program_count_operations(p);
    // "tiled", or "serial"; or what is shared, split and guarded:
    // "cross-thread(top+sum),guarded(Y)".
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
