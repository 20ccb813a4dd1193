// The loop nest of a program's kernels: for each, a statement that computes a block in registers,
// and one that stores it. What an index is that is not affine in the axes (a quotient, a choice)
// is taken for the affine part under it.
#include "define/program.h"

#include "space/nest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct weaver {
    const struct program *p;
    const struct program_kernel *k;
    struct nest *nest;
    int block[DEFINE_MAX_AXES], thread[DEFINE_MAX_AXES], inner[DEFINE_MAX_AXES]; // loops, or -1
    int outer_step[DEFINE_MAX_AXES], inner_step[DEFINE_MAX_AXES];                // formulas
    int buffer[DEFINE_MAX_INPUTS + DEFINE_MAX_STAGES]; // of each tensor, or -1
    int registers;                                     // a buffer
};

static int constant(struct weaver *w, double number)
{
    return formulas_constant(&w->nest->formulas, number);
}

static int multiply(struct weaver *w, int a, int b)
{
    return formulas_add(&w->nest->formulas, FORMULA_MULTIPLY, a, b, 0);
}

// Part of the axis's split; 1 where it is not split.
static int part(struct weaver *w, int axis, int index)
{
    int param = w->k->param[axis];
    return param < 0 ? constant(w, 1)
                     : formulas_slot(&w->nest->formulas, w->p->space->param[param].offset + index);
}

static int add_loop(struct weaver *w, const char *kind_name, int axis, enum nest_loop_kind kind,
                    int length)
{
    struct nest *n = w->nest;
    char *name = mem_printf("%s_%s%d", kind_name, w->k->stage.axis[axis], axis);
    n->loop[n->loop_count] =
        (struct nest_loop){arena_strdup(&n->arena, name), kind, length, .place = -1};
    free(name);
    return n->loop_count++;
}

static void add_loops(struct weaver *w)
{
    const struct define_stage *s = &w->k->stage;
    int one = constant(w, 1);
    for (int a = 0; a < s->space; a++) {
        bool is_y = a == 0 && s->space > 1;
        int threads = part(w, a, TILE_THREADS), registers = part(w, a, TILE_REGISTERS);
        w->block[a] =
            add_loop(w, "group", a, is_y ? NEST_BLOCK_Y : NEST_BLOCK_X, part(w, a, TILE_GROUPS));
        w->thread[a] = add_loop(w, "thread", a, NEST_THREAD_X, threads);
        w->inner[a] = add_loop(w, "register", a, NEST_UNROLLED, registers);
        w->outer_step[a] = multiply(w, threads, registers);
        w->inner_step[a] = threads;
    }
    for (int a = s->space; a < s->space + s->reduce; a++) {
        w->block[a] = add_loop(w, "loop", a, NEST_SERIAL, part(w, a, TILE_LOOP));
        w->thread[a] = -1;
        w->inner[a] = add_loop(w, "written", a, NEST_UNROLLED, part(w, a, TILE_WRITTEN));
        w->outer_step[a] = part(w, a, TILE_WRITTEN);
        w->inner_step[a] = one;
    }
}

// --- buffers ---

static int add_buffer(struct weaver *w, const char *name, enum nest_memory memory, int bytes)
{
    struct nest *n = w->nest;
    n->buffer[n->buffer_count] = (struct nest_buffer){.name = arena_strdup(&n->arena, name),
                                                      .memory = memory,
                                                      .bytes = bytes,
                                                      .copies = constant(w, 1),
                                                      .used = constant(w, 1)};
    return n->buffer_count++;
}

static int buffer_of(struct weaver *w, int tensor, bool is_input)
{
    const struct define_tensor *t = &w->p->inlined.tensor[tensor];
    if (w->buffer[tensor] >= 0)
        return w->buffer[tensor];
    bool is_stored = is_input || tensor == w->p->output;
    int index = add_buffer(w, t->name, NEST_GLOBAL, is_stored ? element_bytes(t->element) : 4);
    w->nest->buffer[index].dim_count = t->rank;
    for (int i = 0; i < t->rank; i++)
        w->nest->buffer[index].dim[i] = constant(w, (double)t->size[i]);
    return w->buffer[tensor] = index;
}

static void add_registers(struct weaver *w)
{
    int product = constant(w, 1);
    for (int a = 0; a < w->k->stage.space; a++)
        product = multiply(w, product, part(w, a, TILE_REGISTERS));
    w->registers = add_buffer(w, "value", NEST_REGISTERS, 4);
    w->nest->buffer[w->registers].dim_count = 1;
    w->nest->buffer[w->registers].dim[0] = product;
}

// --- accesses ---

// Adds the node, times `factor`, to the coefficients of axes.
static void add_affine(const struct definition *d, int node, double factor, double *coefficient)
{
    const struct node *n = &d->node[node];
    double a = n->a >= 0 && d->node[n->a].op == NODE_NUMBER ? d->node[n->a].number : NAN;
    double b = n->b >= 0 && d->node[n->b].op == NODE_NUMBER ? d->node[n->b].number : NAN;
    switch (n->op) {
    case NODE_AXIS: coefficient[n->axis] += factor; break;
    case NODE_ADD:
    case NODE_SUBTRACT:
        add_affine(d, n->a, factor, coefficient);
        add_affine(d, n->b, n->op == NODE_ADD ? factor : -factor, coefficient);
        break;
    case NODE_MULTIPLY:
        if (!isnan(b))
            add_affine(d, n->a, factor * b, coefficient);
        else if (!isnan(a))
            add_affine(d, n->b, factor * a, coefficient);
        break;
    case NODE_FLOOR_DIVIDE:
    case NODE_MODULO: add_affine(d, n->a, factor, coefficient); break;
    case NODE_SELECT: add_affine(d, n->b, factor, coefficient); break;
    default: break;
    }
}

static void set_dim(struct weaver *w, struct nest_access *x, int dim, const double *coefficient,
                    bool is_inner)
{
    const struct define_stage *s = &w->k->stage;
    struct nest_term *term = arena_zero(&w->nest->arena, 3 * DEFINE_MAX_AXES, sizeof *term);
    int count = 0;
    for (int a = 0; a < s->space + s->reduce; a++) {
        if (coefficient[a] == 0)
            continue;
        int factor = constant(w, coefficient[a]);
        if (!is_inner) {
            int outer = multiply(w, factor, w->outer_step[a]);
            term[count++] = (struct nest_term){w->block[a], outer};
            if (w->thread[a] >= 0)
                term[count++] = (struct nest_term){w->thread[a], factor};
        }
        term[count++] = (struct nest_term){
            w->inner[a], is_inner ? factor : multiply(w, factor, w->inner_step[a])};
    }
    x->dim[dim].term = term;
    x->dim[dim].count = count;
}

static void set_read(struct weaver *w, struct nest_access *x, const struct node *n)
{
    const struct definition *d = &w->p->inlined;
    *x = (struct nest_access){.buffer = buffer_of(w, n->tensor, n->tensor < d->inputs),
                              .read = true};
    for (int i = 0; i < d->tensor[n->tensor].rank; i++) {
        double coefficient[DEFINE_MAX_AXES] = {0};
        add_affine(d, d->index[n->index + i], 1, coefficient);
        set_dim(w, x, i, coefficient, false);
    }
}

// The block in registers, of which each axis has as many as its register loop runs.
static struct nest_access block_access(struct weaver *w, bool reads, bool writes)
{
    const struct define_stage *s = &w->k->stage;
    struct nest_access x = {.buffer = w->registers, .read = reads, .write = writes};
    struct nest_term *term = arena_zero(&w->nest->arena, DEFINE_MAX_AXES, sizeof *term);
    int stride = constant(w, 1);
    for (int a = s->space - 1; a >= 0; a--) {
        term[s->space - 1 - a] = (struct nest_term){w->inner[a], stride};
        stride = multiply(w, stride, part(w, a, TILE_REGISTERS));
    }
    x.dim[0].term = term;
    x.dim[0].count = s->space;
    return x;
}

static struct nest_access output_access(struct weaver *w)
{
    const struct define_stage *s = &w->k->stage;
    int tensor = w->k->is_output ? w->p->output : s->tensor;
    struct nest_access x = {.buffer = buffer_of(w, tensor, false), .write = true};
    for (int a = 0; a < s->space; a++) {
        double coefficient[DEFINE_MAX_AXES] = {0};
        coefficient[a] = 1;
        set_dim(w, &x, a, coefficient, false);
    }
    return x;
}

// --- statements ---

// Of one execution of the expression, and of the reduction around it.
static void count_operations(struct weaver *w, int node, enum reduction r, struct nest_statement *s)
{
    const struct definition *d = &w->p->inlined;
    int *order = mem_alloc(((size_t)node + 1) * sizeof *order), of_op[NODE_OP_COUNT] = {0};
    int count = definition_computed(d, node, order);
    for (int i = 0; i < count; i++)
        of_op[d->node[order[i]].op]++;
    free(order);
    s->add = constant(w, of_op[NODE_ADD] + of_op[NODE_SUBTRACT] + (r == REDUCE_SUM));
    s->multiply = constant(w, of_op[NODE_MULTIPLY] + (r == REDUCE_PRODUCT));
    s->divide = constant(w, of_op[NODE_DIVIDE] + of_op[NODE_FLOOR_DIVIDE] + of_op[NODE_MODULO]);
    s->compare =
        constant(w, of_op[NODE_MIN] + of_op[NODE_MAX] + (r == REDUCE_MAX) + (r == REDUCE_MIN));
    s->special = constant(w, of_op[NODE_EXP] + of_op[NODE_SQRT] + of_op[NODE_TANH]);
    s->integer = constant(w, 0);
}

static int add_path(struct weaver *w, int *path, bool reduces)
{
    const struct define_stage *s = &w->k->stage;
    int count = 0, all = s->space + s->reduce;
    for (int a = 0; a < s->space; a++)
        path[count++] = w->block[a];
    for (int a = 0; a < s->space; a++)
        path[count++] = w->thread[a];
    for (int a = s->space; reduces && a < all; a++)
        path[count++] = w->block[a];
    for (int a = s->space; reduces && a < all; a++)
        path[count++] = w->inner[a];
    for (int a = 0; a < s->space; a++)
        path[count++] = w->inner[a];
    return count;
}

// What the expression reads comes after the first access; reads of the stage's own numbers are of
// registers.
static void add_statement(struct weaver *w, const char *name, struct nest_access first, int node,
                          enum reduction r)
{
    const struct definition *d = &w->p->inlined;
    struct nest *n = w->nest;
    struct nest_statement *s = &n->statement[n->statement_count++];
    int *order = mem_alloc(((size_t)node + 1) * sizeof *order);
    int *path = arena_zero(&n->arena, NEST_MAX_PATH, sizeof *path);
    struct nest_access *access = arena_zero(&n->arena, NEST_MAX_ACCESSES, sizeof *access);
    int count = definition_nodes_of(d, node, order);
    *s = (struct nest_statement){.name = arena_strdup(&n->arena, name),
                                 .loop = path,
                                 .loop_count = add_path(w, path, r != REDUCE_NONE),
                                 .when = constant(w, 1),
                                 .access = access,
                                 .access_count = 1};
    access[0] = first;
    for (int i = 0; i < count && s->access_count < NEST_MAX_ACCESSES; i++) {
        const struct node *read = &d->node[order[i]];
        if (read->op == NODE_READ && read->tensor == w->k->stage.tensor)
            access[s->access_count++] = block_access(w, true, false);
        else if (read->op == NODE_READ)
            set_read(w, &access[s->access_count++], read);
    }
    free(order);
    count_operations(w, node, r, s);
}

static void weave_kernel(struct weaver *w)
{
    const struct define_stage *s = &w->k->stage;
    struct nest *n = w->nest;
    add_loops(w);
    if (s->reduction == REDUCE_NONE) {
        add_statement(w, "store", output_access(w), s->body, REDUCE_NONE);
        return;
    }
    add_registers(w);
    add_statement(w, "reduce", block_access(w, true, true), s->body, s->reduction);
    int nothing = constant(w, 0);
    if (w->k->epilogue >= 0) {
        add_statement(w, "store", output_access(w), w->k->epilogue, REDUCE_NONE);
        return;
    }
    struct nest_access *access = arena_zero(&n->arena, 2, sizeof *access);
    int *path = arena_zero(&n->arena, NEST_MAX_PATH, sizeof *path);
    access[0] = output_access(w);
    access[1] = block_access(w, true, false);
    n->statement[n->statement_count++] = (struct nest_statement){"store",
                                                                 path,
                                                                 add_path(w, path, false),
                                                                 constant(w, 1),
                                                                 nothing,
                                                                 nothing,
                                                                 nothing,
                                                                 nothing,
                                                                 nothing,
                                                                 nothing,
                                                                 access,
                                                                 2,
                                                                 0,
                                                                 0};
}

struct nest *program_nest(const struct program *p)
{
    struct weaver w = {.p = p, .nest = nest_create()};
    for (int i = 0; i < p->inlined.tensor_count; i++)
        w.buffer[i] = -1;
    for (int i = 0; i < p->kernel_count; i++) {
        w.k = &p->kernel[i];
        weave_kernel(&w);
    }
    nest_seal(w.nest);
    return w.nest;
}
