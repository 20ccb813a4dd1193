// The parameters of a program's space: the sketch, and what each way to compute a kernel leaves
// open.
#include "define/program.h"

#include "base/minmax.h"

#include <stdlib.h>
#include <string.h>

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

static int add_shapes(const struct adding *a)
{
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
    v->shape = add_shapes(a);
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
