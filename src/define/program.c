#include "define/program.h"

#include "base/minmax.h"

#include <stdlib.h>
#include <string.h>

#define MOST_REGISTERS      64 // of a block
#define MOST_WRITTEN        512
#define MOST_WRITTEN_ON_CPU 128

// --- which stages become kernels ---

static bool is_kernel(const struct definition *d, int stage)
{
    return stage == d->stage_count - 1 || d->stage[stage].reduction != REDUCE_NONE;
}

static bool add_kernel(struct program *p, const struct define_stage *s, bool is_output,
                       struct err *e)
{
    if (p->kernel_count == PROGRAM_MAX_KERNELS)
        return err_set(e, "more than %d reductions one after the other (%s is one too many)",
                       PROGRAM_MAX_KERNELS, p->inlined.tensor[s->tensor].name);
    struct program_kernel *k = &p->kernel[p->kernel_count++];
    *k = (struct program_kernel){.stage = *s, .epilogue = -1, .is_output = is_output};
    k->scratch = p->scratch_bytes / 4;
    if (!is_output)
        p->scratch_bytes += 4 * (uint64_t)define_tensor_count(&p->inlined.tensor[s->tensor]);
    return true;
}

// Whether each read of the tensor in the expression is at the very point that is computed; and it
// is read at all.
static bool reads_in_place(const struct definition *d, int node, int tensor)
{
    int *order = mem_alloc(((size_t)node + 1) * sizeof *order), reads = 0;
    int count = definition_nodes_of(d, node, order);
    bool in_place = true;
    for (int i = 0; i < count; i++) {
        const struct node *n = &d->node[order[i]];
        if (n->op != NODE_READ || n->tensor != tensor)
            continue;
        reads++;
        for (int k = 0; k < d->tensor[tensor].rank; k++) {
            const struct node *index = &d->node[d->index[n->index + k]];
            in_place = in_place && index->op == NODE_AXIS && index->axis == k;
        }
    }
    free(order);
    return in_place && reads > 0;
}

// The output as what becomes of the numbers of the last reduction, in its kernel.
static bool fuse_output(struct program *p, const struct define_stage *s)
{
    struct definition *d = &p->inlined;
    struct program_kernel *k = p->kernel_count ? &p->kernel[p->kernel_count - 1] : NULL;
    if (!k || s->reduction != REDUCE_NONE || s->space != k->stage.space ||
        memcmp(s->extent, k->stage.extent, (size_t)s->space * sizeof *s->extent) != 0 ||
        !reads_in_place(d, s->body, k->stage.tensor))
        return false;
    k->epilogue = s->body;
    k->is_output = true;
    p->scratch_bytes = 4 * k->scratch;
    return true;
}

static bool make_kernels(struct program *p, struct err *e)
{
    struct definition *d = &p->inlined;
    int expression[DEFINE_MAX_INPUTS + DEFINE_MAX_STAGES];
    for (int i = 0; i < d->tensor_count; i++)
        expression[i] = -1;
    for (int i = 0; i < d->stage_count; i++) {
        struct define_stage *s = &d->stage[i];
        s->body = definition_substitute(d, s->body, NULL, expression);
        if (s->body < 0)
            return err_set(e, "%s: too large once what it reads is computed in it",
                           d->tensor[s->tensor].name);
        p->output = s->tensor;
        if (!is_kernel(d, i))
            expression[s->tensor] = s->body;
        else if (!fuse_output(p, s) && !add_kernel(p, s, i == d->stage_count - 1, e))
            return false;
    }
    return true;
}

struct program *program_create(const struct definition *d, struct program_device device,
                               struct err *e)
{
    struct program *p = mem_zero(1, sizeof *p);
    struct str text = {0};
    p->device = device;
    bool ok = definition_write(d, &text);
    if (!ok)
        err_set(e, "the definition is too large (what it shares is written out)");
    ok = ok && definition_read_text(&p->inlined, str_text(&text), e) && make_kernels(p, e);
    str_finish(&text);
    if (ok)
        return p;
    program_destroy(p);
    return NULL;
}

void program_destroy(struct program *p)
{
    if (p)
        definition_finish(&p->inlined);
    free(p);
}

// --- the space ---

// "k", or "scores_k" where there are several kernels; a second one of that name has a number.
static char *param_name(const struct program *p, const struct space *s, int kernel, int axis)
{
    const struct define_stage *stage = &p->kernel[kernel].stage;
    const char *tensor = p->inlined.tensor[stage->tensor].name;
    char *name = p->kernel_count > 1 ? mem_printf("%s_%s", tensor, stage->axis[axis])
                                     : mem_strdup(stage->axis[axis]);
    for (int i = 2; space_find(s, name); i++) {
        free(name);
        name = mem_printf("%s_%s%d", tensor, stage->axis[axis], i);
    }
    return name;
}

static bool add_param(struct program *p, struct space *s, int kernel, int axis, struct err *e)
{
    struct program_kernel *k = &p->kernel[kernel];
    struct param param;
    int parts = axis < k->stage.space ? TILE_PARTS : 2;
    char *name = param_name(p, s, kernel, axis);
    k->param[axis] = s->param_count;
    bool ok = param_factorization(&param, &s->arena, name, k->stage.extent[axis], parts, e) &&
              space_add(s, &param, e);
    free(name);
    return ok;
}

bool program_add_params(struct program *p, struct space *s, struct err *e)
{
    for (int i = 0; i < p->kernel_count; i++)
        for (int a = 0; a < p->kernel[i].stage.space + p->kernel[i].stage.reduce; a++) {
            p->kernel[i].param[a] = -1;
            if (p->kernel[i].stage.extent[a] > 1 && !add_param(p, s, i, a, e))
                return false;
        }
    p->space = s;
    return true;
}

struct tiling program_tiling(const struct program *p, int kernel, const struct config *c)
{
    const struct program_kernel *k = &p->kernel[kernel];
    struct tiling t;
    for (int a = 0; a < DEFINE_MAX_AXES; a++)
        for (int i = 0; i < TILE_PARTS; i++)
            t.part[a][i] = 1;
    for (int a = 0; a < k->stage.space + k->stage.reduce; a++) {
        const struct param *q = k->param[a] < 0 ? NULL : &p->space->param[k->param[a]];
        if (q)
            memcpy(t.part[a], c->slot + q->offset, (size_t)q->width * sizeof *c->slot);
    }
    return t;
}

static int64_t product(const struct tiling *t, int first, int count, int part)
{
    int64_t n = 1;
    for (int a = first; a < first + count; a++)
        n *= t->part[a][part];
    return n;
}

int64_t tiling_product(const struct tiling *t, const struct define_stage *s, int part)
{
    return product(t, 0, s->space, part);
}

int64_t tiling_reduced(const struct tiling *t, const struct define_stage *s, int part)
{
    return product(t, s->space, s->reduce, part);
}

// --- rules ---

static bool registers_fit(const struct program *p, int kernel, const struct tiling *t)
{
    return tiling_product(t, &p->kernel[kernel].stage, TILE_REGISTERS) <= MOST_REGISTERS;
}

static bool is_short(const struct program *p, int kernel, const struct tiling *t)
{
    const struct define_stage *s = &p->kernel[kernel].stage;
    return tiling_product(t, s, TILE_REGISTERS) * tiling_reduced(t, s, TILE_WRITTEN) <=
           (p->device.is_cpu ? MOST_WRITTEN_ON_CPU : MOST_WRITTEN);
}

static bool fills_subgroup(const struct program *p, int kernel, const struct tiling *t)
{
    const struct define_stage *s = &p->kernel[kernel].stage;
    int64_t points = stage_points(s, 0, s->space);
    return tiling_product(t, s, TILE_THREADS) >= int64_min(p->device.subgroup, points / 2);
}

static const struct {
    const char *name;
    bool (*holds)(const struct program *p, int kernel, const struct tiling *t);
} rules[] = {{"registers", registers_fit},
             {"what is written out", is_short},
             {"whole subgroups", fills_subgroup}};
enum { RULES = sizeof rules / sizeof *rules };

static int rule_holds(const struct program *p, int rule, const struct config *c)
{
    for (int i = 0; i < p->kernel_count; i++) {
        struct tiling t = program_tiling(p, i, c);
        if (!rules[rule].holds(p, i, &t))
            return 0;
    }
    return 1;
}

static int has_registers(void *context, const struct config *c, struct err *e)
{
    (void)e;
    return rule_holds(context, 0, c);
}

static int has_short_text(void *context, const struct config *c, struct err *e)
{
    (void)e;
    return rule_holds(context, 1, c);
}

static int has_subgroups(void *context, const struct config *c, struct err *e)
{
    (void)e;
    return rule_holds(context, 2, c);
}

// Of space axes in the dispatch: the first axis is y, the others x.
static void find_groups(const struct program_kernel *k, const struct tiling *t, uint64_t out[3])
{
    const struct define_stage *s = &k->stage;
    int first = s->space > 1;
    out[0] = (uint64_t)product(t, first, s->space - first, TILE_GROUPS);
    out[1] = (uint64_t)product(t, 0, first, TILE_GROUPS);
    out[2] = 1;
}

// What the largest of the kernels needs, of each.
static bool get_resources(void *context, const struct config *c, struct resources *out,
                          struct err *e)
{
    const struct program *p = context;
    (void)e;
    *out = (struct resources){.group_size = {1, 1, 1}};
    for (int i = 0; i < p->kernel_count; i++) {
        const struct define_stage *s = &p->kernel[i].stage;
        struct tiling t = program_tiling(p, i, c);
        uint64_t groups[3], registers = (uint64_t)tiling_product(&t, s, TILE_REGISTERS);
        uint64_t written = registers * (uint64_t)tiling_reduced(&t, s, TILE_WRITTEN);
        find_groups(&p->kernel[i], &t, groups);
        for (int k = 0; k < 3; k++)
            out->groups[k] = uint64_max(out->groups[k], groups[k]);
        out->group_size[0] =
            uint64_max(out->group_size[0], (uint64_t)tiling_product(&t, s, TILE_THREADS));
        out->accumulators = uint64_max(out->accumulators, registers);
        out->statements = uint64_max(out->statements, written);
        out->loop_trips = uint64_max(out->loop_trips, (uint64_t)tiling_reduced(&t, s, TILE_LOOP));
    }
    return true;
}

void program_set_rules(struct program *p, struct space *s, const char *file, int line)
{
    int (*const holds[RULES])(void *, const struct config *,
                              struct err *) = {has_registers, has_short_text, has_subgroups};
    for (int i = 0; i < RULES; i++)
        space_add_constraint(s, &(struct constraint){rules[i].name, file, line, p, holds[i]});
    s->resources = get_resources;
    s->resources_context = p;
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
        find_groups(&p->kernel[i], &t, groups);
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
