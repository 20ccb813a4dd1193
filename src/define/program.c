#include "define/program.h"

#include "base/minmax.h"

#include <stdlib.h>
#include <string.h>

enum { TENSORS = DEFINE_MAX_INPUTS + DEFINE_MAX_STAGES };

// --- what is read from copies ---

// The reads of the expression that no choice and no index stands around.
static int unguarded_reads(const struct definition *d, int node, int *out)
{
    bool *mark = mem_zero((size_t)node + 1, sizeof *mark);
    int count = 0;
    mark[node] = true;
    for (int i = node; i >= 0; i--) {
        const struct node *n = &d->node[i];
        const int operand[] = {n->a, n->b, n->c};
        if (mark[i] && n->op == NODE_READ)
            out[count++] = i;
        for (int k = 0; mark[i] && n->op != NODE_SELECT && k < node_operands(n->op); k++)
            mark[operand[k]] = true;
    }
    free(mark);
    return count;
}

static bool has_affine_indices(const struct definition *d, const struct node *n,
                               struct program_copy *c)
{
    bool affine = true;
    memset(c->coefficient, 0, sizeof c->coefficient);
    for (int i = 0; i < d->tensor[n->tensor].rank; i++)
        affine = definition_affine(d, d->index[n->index + i], 1, c->coefficient[i]) && affine;
    return affine;
}

static int reads_of(const struct definition *d, int node, int tensor)
{
    int *order = mem_alloc(((size_t)node + 1) * sizeof *order), reads = 0;
    int count = definition_nodes_of(d, node, order);
    for (int i = 0; i < count; i++)
        reads += d->node[order[i]].op == NODE_READ && d->node[order[i]].tensor == tensor;
    free(order);
    return reads;
}

// What is computed where it is read is copied only where all of its reads are.
static void drop_partly_copied(const struct definition *d, struct program_kernel *k)
{
    int kept = 0;
    for (int i = 0; i < k->copies; i++) {
        int tensor = d->node[k->copy[i].read].tensor, copied = 0;
        for (int j = 0; j < k->copies; j++)
            copied += d->node[k->copy[j].read].tensor == tensor;
        if (k->copy[i].stage < 0 || copied == reads_of(d, k->stage.body, tensor))
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
    int reads = unguarded_reads(d, k->stage.body, read);
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

// --- which stages become kernels ---

static bool is_kernel(const struct definition *d, int stage)
{
    return stage == d->stage_count - 1 || d->stage[stage].reduction != REDUCE_NONE;
}

// The expressions of stages that are no kernels stand in place of reads of them, copies aside.
static bool compute_in_place(struct program *p, struct program_kernel *k, const int *expression)
{
    struct definition *d = &p->inlined;
    int others[TENSORS];
    memcpy(others, expression, sizeof others);
    bool ok = true;
    for (int i = 0; i < k->copies; i++) {
        others[d->node[k->copy[i].read].tensor] = -1;
        ok = ok && k->copy[i].expression >= 0 && (k->copy[i].stage < 0 || k->copy[i].plain >= 0);
    }
    k->stage.body = definition_substitute(d, k->stage.body, NULL, others);
    return ok && k->stage.body >= 0;
}

static bool is_tiled(const struct program *p, int tensor)
{
    return p->sketches.sketch[0].plan[tensor] == PLAN_TILE;
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
    return true;
}

// --- in which ways ---

static void set_loop(struct program_loops *l, int64_t extent, const char *name)
{
    int i = l->space + l->reduce;
    l->extent[i] = extent;
    l->name[i] = name;
    l->param[i] = -1;
}

// The names of axes as one.
static const char *joined(struct program *p, const struct define_stage *s, int first, int count)
{
    struct str name = {0};
    for (int a = first; a < first + count; a++)
        if (s->extent[a] > 1)
            str_printf(&name, "%s%s", name.length ? "_" : "", s->axis[a]);
    const char *kept = arena_strdup(&p->inlined.arena, name.length ? str_text(&name) : "all");
    str_finish(&name);
    return kept;
}

static void add_variant(struct program *p, struct program_kernel *k, enum stage_plan plan)
{
    const struct define_stage *s = &k->stage;
    struct program_variant *v = &k->variant[k->variants++];
    struct program_loops *l = &v->loops;
    *v = (struct program_variant){.plan = plan, .unroll = -1};
    for (int i = 0; i < PROGRAM_MAX_COPIES; i++)
        v->copied[i] = -1;
    if (plan == PLAN_TILE) {
        for (int a = 0; a < s->space; a++, l->space++)
            set_loop(l, s->extent[a], s->axis[a]);
        for (int a = s->space; a < s->space + s->reduce; a++, l->reduce++)
            set_loop(l, s->extent[a], s->axis[a]);
        return;
    }
    set_loop(l, stage_points(s, 0, s->space), joined(p, s, 0, s->space));
    l->space = 1;
    if (s->reduce) {
        set_loop(l, stage_points(s, s->space, s->reduce), joined(p, s, s->space, s->reduce));
        l->reduce = 1;
    }
}

static void add_variants(struct program *p)
{
    for (int i = 0; i < p->kernel_count; i++) {
        struct program_kernel *k = &p->kernel[i];
        bool crosses = false;
        add_variant(p, k, is_tiled(p, k->stage.tensor) ? PLAN_TILE : PLAN_SERIAL);
        for (int n = 0; n < p->sketches.count; n++)
            crosses = crosses || p->sketches.sketch[n].plan[k->stage.tensor] == PLAN_CROSS;
        if (crosses)
            add_variant(p, k, PLAN_CROSS);
    }
}

int program_variant_of(const struct program *p, int sketch, int kernel)
{
    const struct program_kernel *k = &p->kernel[kernel];
    return p->sketches.sketch[sketch].plan[k->stage.tensor] == PLAN_CROSS;
}

// "tiled", or "serial", or "cross-thread(top+sum)" of the reductions that are shared.
static void name_sketches(struct program *p)
{
    for (int i = 0; i < p->sketches.count; i++) {
        struct str name = {0};
        bool tiles = false;
        for (int k = 0; k < p->kernel_count; k++) {
            const char *stage = p->inlined.tensor[p->kernel[k].stage.tensor].name;
            if (program_variant_of(p, i, k))
                str_printf(&name, "%s%s", name.length ? "+" : "cross-thread(", stage);
            tiles = tiles || is_tiled(p, p->kernel[k].stage.tensor);
        }
        str_add(&name, name.length ? ")" : tiles ? "tiled" : "serial");
        p->sketch_name[i] = str_take(&name);
    }
}

struct program *program_create(const struct definition *d, struct program_device device,
                               struct err *e)
{
    struct program *p = mem_zero(1, sizeof *p);
    struct str text = {0};
    p->device = device;
    p->chooser = -1;
    bool ok = definition_write(d, &text);
    if (!ok)
        err_set(e, "the definition is too large (what it shares is written out)");
    ok = ok && definition_read_text(&p->inlined, str_text(&text), e);
    str_finish(&text);
    if (ok)
        sketches_derive(&p->inlined, (struct sketch_device){device.subgroup, device.invocations},
                        &p->sketches);
    if (!ok || !make_kernels(p, e)) {
        program_destroy(p);
        return NULL;
    }
    add_variants(p);
    name_sketches(p);
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

// --- the kernels ---

bool program_job(const struct program *p, const struct config *c, const char *name, struct job *job,
                 struct err *e)
{
    *job = (struct job){.scratch_bytes = p->scratch_bytes};
    for (int i = 0; i < p->kernel_count; i++) {
        struct tiling t = program_tiling(p, i, c);
        struct str text = {0};
        uint64_t groups[3];
        struct pass *pass = &job->pass[job->pass_count++];
        tiling_groups(&t, groups);
        for (int k = 0; k < 3; k++)
            pass->groups[k] = (uint32_t)groups[k];
        bool fits = program_glsl(p, i, &t, &text);
        pass->glsl = str_take(&text);
        pass->template_name = mem_strdup(name);
        if (!fits) {
            job_finish(job);
            return err_set(e, "the kernel of %s would be too long",
                           p->inlined.tensor[p->kernel[i].stage.tensor].name);
        }
    }
    return true;
}
