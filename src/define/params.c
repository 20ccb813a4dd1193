// The parameters of a program's space: the sketch, and for each variant of a kernel the tiles, the
// reads that are staged and the widths of vectors.
#include "define/program.h"

#include "base/number.h"

#include <stdlib.h>
#include <string.h>

// Parts of loops in sketches that do not use the parameter.
enum { USUAL_THREADS = 64, USUAL_WRITTEN = 4, USUAL_ACROSS = 8 };

struct adder {
    struct program *p;
    struct space *s;
    int kernel, variant;
    struct err *e;
};

enum stage_plan program_plan_of(const struct program *p, const struct sketch *s, int tensor)
{
    enum stage_plan plan = s->plan[tensor], usual = p->sketches.sketch[0].plan[tensor];
    if (plan == PLAN_CROSS || plan == PLAN_SPLIT || plan == PLAN_MATRIX)
        return plan;
    return usual == PLAN_TILE || usual == PLAN_CONSTANT ? usual : PLAN_SERIAL;
}

int program_variant_of(const struct program *p, int sketch, int kernel)
{
    const struct program_kernel *k = &p->kernel[kernel];
    const struct sketch *s = &p->sketches.sketch[sketch];
    int v = k->variants - 1;
    while (v >= 0 && (k->variant[v].plan != program_plan_of(p, s, k->stage.tensor) ||
                      k->variant[v].is_guarded != s->is_guarded[k->stage.tensor]))
        v--;
    return v;
}

// Returns the name of a parameter: "k"; "scores_k" where there are several kernels; "k_cross" for
// another plan. A number follows where that name is taken.
static char *new_name(const struct adder *a, const char *what)
{
    const struct program_kernel *k = &a->p->kernel[a->kernel];
    const char *tensor = a->p->kernel_count > 1 ? a->p->inlined.tensor[k->stage.tensor].name : "";
    const struct program_variant *v = &k->variant[a->variant];
    const char *end = v->is_guarded ? "_guarded" : "";
    const char *plan = v->plan == PLAN_CROSS    ? "_cross"
                       : v->plan == PLAN_SPLIT  ? "_split"
                       : v->plan == PLAN_MATRIX ? "_matrix"
                                                : "";
    char *name = mem_printf("%s%s%s%s%s", tensor, *tensor ? "_" : "", what, plan, end);
    for (int i = 2; space_find(a->s, name); i++) {
        free(name);
        name = mem_printf("%s%s%s%s%s%d", tensor, *tensor ? "_" : "", what, plan, end, i);
    }
    return name;
}

// The variants that share a parameter: one alone; those that differ only in how they share the
// reduction; those that differ only in guarded ends.
enum common { OF_ONE, SHARED_OR_NOT, GUARDED_OR_NOT };

static bool share_param(const struct program_kernel *k, int one, int other, enum common common)
{
    const struct program_variant *a = &k->variant[one], *b = &k->variant[other];
    return one == other || (common == SHARED_OR_NOT && a->is_guarded == b->is_guarded) ||
           (common == GUARDED_OR_NOT && a->plan == b->plan);
}

// Returns the first variant that shares the parameter.
static int first_of(const struct adder *a, enum common common)
{
    int first = 0;
    while (!share_param(&a->p->kernel[a->kernel], first, a->variant, common))
        first++;
    return first;
}

// The values of a parameter: labels, numbers, or the factorizations of a product.
struct values {
    int count; // of labels, numbers or factors
    const char *const *label;
    const double *number;
    int64_t product;
};

// Adds a parameter. Only the sketches of variants that share it use it: others fix it at `rest`.
// Returns its index; -1: it could not be added.
static int add(const struct adder *a, enum common common, const char *what, struct values v,
               const int32_t *rest)
{
    const struct program_kernel *k = &a->p->kernel[a->kernel];
    struct arena *arena = &a->s->arena;
    struct param param;
    int index = a->s->param_count;
    uint64_t users = 0, all = 0; // sketches, a bit each
    char *name = new_name(a, what);
    bool added = v.label    ? param_categorical(&param, arena, name, v.count, v.label, a->e)
                 : v.number ? param_discrete(&param, arena, name, v.count, v.number, a->e)
                            : param_factorization(&param, arena, name, v.product, v.count, a->e);
    free(name);
    if (!added || !space_add(a->s, &param, a->e))
        return -1;
    for (int i = 0; i < a->p->sketches.count; i++) {
        all |= UINT64_C(1) << i;
        if (share_param(k, program_variant_of(a->p, i, a->kernel), a->variant, common))
            users |= UINT64_C(1) << i;
    }
    if (users && users != all)
        space_condition(a->s, index, a->p->chooser, users, rest);
    return index;
}

// --- loops ---

static int32_t divisor_up_to(int64_t number, int64_t most)
{
    int64_t d = int64_min(number, most);
    while (number % d)
        d--;
    return (int32_t)d;
}

// Returns how many factors the parameter of a loop has.
static int factor_count(const struct program_variant *v, bool is_space)
{
    if (v->plan == PLAN_TILE)
        return is_space ? TILE_PARTS : 3;
    return is_space || v->plan != PLAN_SERIAL ? 3 : 2;
}

static bool add_loops(const struct adder *a)
{
    struct program_kernel *k = &a->p->kernel[a->kernel];
    struct program_variant *v = &k->variant[a->variant];
    int32_t rest[DEFINE_MAX_AXES][TILE_PARTS];
    int64_t threads = USUAL_THREADS;
    int count = v->loops.space + v->loops.reduce;
    if (v->plan == PLAN_MATRIX)
        return true;
    for (int i = count - 1; i >= 0; i--) { // the last loops get the threads
        // The factors in sketches that do not use the parameter. `threads` is what is left of the
        // workgroup for the other loops.
        int32_t *own = rest[i];
        const struct program_loops *l = &v->loops;
        bool is_space = i < l->space, splits = !is_space && v->plan == PLAN_SPLIT;
        bool has_threads = is_space || v->plan == PLAN_CROSS || splits;
        int factors = factor_count(v, is_space);
        int32_t part = divisor_up_to(l->extent[i], has_threads ? threads : USUAL_WRITTEN);
        for (int j = 1; j < factors; j++)
            own[j] = 1;
        own[0] = (int32_t)(l->extent[i] / part);
        own[has_threads ? factors / 2 : factors - 1] = part;
        if (splits) { // between the workgroups and the loop
            int32_t across = divisor_up_to(own[0], USUAL_ACROSS);
            own[factors - 1] = own[0] / across;
            own[0] = across;
        }
        threads /= has_threads ? part : 1;
    }
    for (int i = 0; i < count; i++) {
        bool is_space = i < v->loops.space;
        enum common common = is_space && k->variant[0].plan == PLAN_SERIAL ? SHARED_OR_NOT : OF_ONE;
        int first = first_of(a, common);
        if (v->loops.extent[i] == 1)
            continue;
        if (first < a->variant) {
            v->loops.param[i] = k->variant[first].loops.param[i];
            continue;
        }
        const struct values values = {.count = factor_count(v, is_space),
                                      .product = v->loops.extent[i]};
        v->loops.param[i] = add(a, common, v->loops.name[i], values, rest[i]);
        if (v->loops.param[i] < 0)
            return false;
    }
    return true;
}

// --- choices ---

static const int32_t first_value[] = {0}; // of sketches without the choice

// Adds a choice of numbers that guarded variants share with the others.
static int add_numbers(const struct adder *a, const char *what, int count, const double *number)
{
    const struct values values = {.count = count, .number = number};
    return add(a, GUARDED_OR_NOT, what, values, first_value);
}

// Adds the choices of a tiled kernel: which reads are staged; Ansor's limits of unrolling
// (auto_unroll_max_step), as far as drivers compile them quickly; the width of vectors; the padding
// of lines (4 keeps the alignment of vectors, less avoids bank conflicts); the number of buffers.
static bool add_tile_choices(const struct adder *a)
{
    static const char *const places[] = {"memory", "shared"};
    static const double limits[] = {0, 16, 64, 512}, buffers[] = {1, 2};
    static const double widths[] = {1, 2, PROGRAM_MOST_VECTOR}, pads[] = {0, 1, 2, 4};
    const struct definition *d = &a->p->inlined;
    struct program_kernel *k = &a->p->kernel[a->kernel];
    struct program_variant *v = &k->variant[a->variant];
    int first = first_of(a, GUARDED_OR_NOT);
    const struct program_variant *f = &k->variant[first];
    if (first < a->variant) {
        memcpy(v->staging, f->staging, sizeof v->staging);
        v->unroll = f->unroll;
        v->vector = f->vector;
        v->pad = f->pad;
        v->buffers = f->buffers;
    }
    if (first < a->variant || v->plan != PLAN_TILE)
        return true;
    for (int i = 0; i < k->staged_count; i++) {
        char *what = mem_printf("place_%s", d->tensor[k->staged[i].tensor].name);
        v->staging[i] =
            add(a, GUARDED_OR_NOT, what, (struct values){.count = 2, .label = places}, first_value);
        free(what);
        if (v->staging[i] < 0)
            return false;
    }
    if (v->loops.reduce && (v->unroll = add_numbers(a, "unroll", 4, limits)) < 0)
        return false;
    if (!a->p->has_widths)
        return true;
    v->vector = add_numbers(a, "vector", 3, widths);
    if (v->vector < 0 || !k->staged_count)
        return v->vector >= 0;
    v->pad = add_numbers(a, "pad", 4, pads);
    if (v->pad < 0 || !v->loops.reduce)
        return v->pad >= 0;
    v->buffers = add_numbers(a, "buffers", 2, buffers);
    return v->buffers >= 0;
}

// Adds the tiles of fragments. Numbers of subgroups and of fragments are products of three factors:
// the first is unused, the others are along rows and columns. CPUs get fewer, because their
// compilers take long over an emulation.
static bool add_matrix(const struct adder *a)
{
    static const double steps[] = {1, 2, 4, 8}, pads[] = {0, 1, 2};
    const struct program_kernel *k = &a->p->kernel[a->kernel];
    struct program_variant *v = &a->p->kernel[a->kernel].variant[a->variant];
    bool is_cpu = a->p->device.is_cpu;
    int32_t subgroups = is_cpu ? 4 : 16, fragments = is_cpu ? 4 : 64;
    const char *label[MATRIX_MAX_SHAPES];
    if (v->plan != PLAN_MATRIX)
        return true;
    for (int i = 0; i < k->shapes; i++)
        label[i] =
            arena_printf(&a->s->arena, "%dx%dx%d", k->shape[i].m, k->shape[i].n, k->shape[i].k);
    v->shape =
        add(a, OF_ONE, "shape", (struct values){.count = k->shapes, .label = label}, first_value);
    v->subgroups = add(a, OF_ONE, "subgroups", (struct values){.count = 3, .product = subgroups},
                       (int32_t[]){subgroups, 1, 1});
    v->fragments = add(a, OF_ONE, "fragments", (struct values){.count = 3, .product = fragments},
                       (int32_t[]){fragments, 1, 1});
    v->steps = add_numbers(a, "steps", is_cpu ? 2 : 4, steps);
    v->pad = add_numbers(a, "pad", 3, pads);
    return v->shape >= 0 && v->subgroups >= 0 && v->fragments >= 0 && v->steps >= 0 && v->pad >= 0;
}

bool program_add_params(struct program *p, struct space *s, struct err *e)
{
    struct param param;
    if (p->sketches.count > 1) {
        p->chooser = s->param_count;
        if (!param_categorical(&param, &s->arena, "sketch", p->sketches.count,
                               (const char *const *)p->sketch_name, e) ||
            !space_add(s, &param, e))
            return false;
    }
    for (int i = 0; i < p->kernel_count; i++)
        for (int v = 0; v < p->kernel[i].variants; v++) {
            const struct adder a = {p, s, i, v, e};
            if (!add_loops(&a) || !add_tile_choices(&a) || !add_matrix(&a))
                return false;
        }
    p->space = s;
    return true;
}
