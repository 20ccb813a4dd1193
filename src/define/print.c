// Writes a sketch for people: its loops as lists, and the statements in them.
//
//     C: sum over k
//       workgroups i.0, j.0
//         virtual threads i.1, j.1
//           invocations i.2, j.2
//             for k.0
//               A.shared[i, k] = A[i, k]
//               for k.1
//                 unrolled i.3, j.3
//                   for k.2
//                     unrolled i.4, j.4
//                       lanes of j
//                         C.local[i, j] += A.shared[i, k] * B.shared[k, j]
//             C[i, j] = C.local[i, j]
#include "define/program.h"

#include <ctype.h>

struct printer {
    const struct program *p;
    const struct program_kernel *k;
    const struct program_variant *v;
    const struct define_stage *stage; // the stage whose axes expressions have
    bool staged;                      // staged reads are written as reads of the staged tile
    struct str *out;
};

static void write_node(struct printer *o, int node);

static void write_read(struct printer *o, int node)
{
    const struct definition *d = &o->p->inlined;
    const struct node *n = &d->node[node];
    bool own = n->tensor == o->k->stage.tensor;
    str_printf(o->out, "%s%s[", d->tensor[n->tensor].name,
               own                                               ? ".local"
               : o->staged && program_staged_of(o->k, node) >= 0 ? ".shared"
                                                                 : "");
    for (int i = 0; i < d->tensor[n->tensor].rank; i++) {
        str_add(o->out, i ? ", " : "");
        write_node(o, d->index[n->index + i]);
    }
    str_add_char(o->out, ']');
}

static void write_node(struct printer *o, int node)
{
    const struct node *n = &o->p->inlined.node[node];
    const int operand[] = {n->a, n->b, n->c};
    unsigned constant = constant_element_axes(&o->p->inlined, node);
    if (constant) {
        str_add(o->out, "constant(");
        for (int a = 0, count = 0; a < DEFINE_MAX_AXES; a++)
            if (constant >> a & 1)
                str_printf(o->out, "%s%s", count++ ? ", " : "", o->stage->axis[a]);
        str_add_char(o->out, ')');
    } else if (n->op == NODE_NUMBER) {
        str_add_real(o->out, n->number);
    } else if (n->op == NODE_AXIS) {
        str_add(o->out, o->stage->axis[n->axis]);
    } else if (n->op == NODE_READ) {
        write_read(o, node);
    } else { // max(a, b), or (a + b)
        const char *name = n->op == NODE_CAST     ? element_name(n->element)
                           : n->op == NODE_SELECT ? "select"
                                                  : node_kinds[n->op].name;
        bool is_call = islower((unsigned char)*name);
        str_printf(o->out, "%s(", is_call ? name : "");
        for (int i = 0; i < node_kinds[n->op].operands; i++) {
            if (i > 0)
                str_printf(o->out, "%s%s ", is_call ? "," : " ", is_call ? "" : name);
            write_node(o, operand[i]);
        }
        str_add_char(o->out, ')');
    }
}

static void begin_line(struct printer *o, int depth)
{
    for (int i = 0; i < depth; i++)
        str_add(o->out, "  ");
}

// Writes a part of all loops of a kind, if there are any: "for r.0, s.0". Returns the new depth.
static int write_loops(struct printer *o, int depth, const char *what, bool space, int part)
{
    const struct program_loops *l = &o->v->loops;
    int count = 0, place = tiling_factor(o->v->plan, space, part);
    for (int a = space ? 0 : l->space; a < (space ? l->space : l->space + l->reduce); a++) {
        bool is_whole = o->v->plan == PLAN_MATRIX && a == PRODUCT_BATCH && part != TILE_GROUPS;
        if (l->extent[a] == 1 || place < 0 || (space && is_whole))
            continue;
        if (count++ == 0) {
            begin_line(o, depth);
            str_printf(o->out, "%s ", what);
        } else {
            str_add(o->out, ", ");
        }
        str_printf(o->out, "%s.%d", l->name[a], place);
    }
    str_add(o->out, count ? "\n" : "");
    return depth + (count > 0);
}

// Writes "C.local[i, j]" with these axes of the stage, a bit each.
static void write_element(struct printer *o, const char *name, const char *suffix, unsigned axes)
{
    const struct define_stage *s = o->stage;
    int count = 0;
    str_printf(o->out, "%s%s[", name, suffix);
    for (int a = 0; a < s->space + s->reduce; a++)
        if (axes >> a & 1)
            str_printf(o->out, "%s%s", count++ ? ", " : "", s->axis[a]);
    str_add_char(o->out, ']');
}

static void write_own(struct printer *o, const char *suffix)
{
    bool stores = !*suffix && o->k->is_output;
    int tensor = stores ? o->p->output : o->k->stage.tensor;
    write_element(o, o->p->inlined.tensor[tensor].name, suffix, (1U << o->stage->space) - 1);
}

// Writes the space or reduction axes that are unrolled because constant tensors have them. Returns
// the new depth.
static int write_unrolled(struct printer *o, int depth, bool space)
{
    const struct define_stage *s = &o->k->stage;
    int count = 0;
    for (int a = space ? 0 : s->space; a < (space ? s->space : s->space + s->reduce); a++) {
        if (!(o->k->unrolled.axes >> a & 1))
            continue;
        if (count == 0)
            begin_line(o, depth);
        str_printf(o->out, "%s%s", count++ ? ", " : "written out ", s->axis[a]);
    }
    str_add(o->out, count ? "\n" : "");
    return depth + (count > 0);
}

static void write_stored(struct printer *o)
{
    write_own(o, "");
    str_add(o->out, " = ");
    if (o->k->epilogue >= 0)
        write_node(o, o->k->epilogue);
    else
        write_own(o, ".local");
}

// Writes a kernel on matrix units, which multiply tiles of both factors in shared memory.
static void write_matrix(struct printer *o)
{
    static const char *const names[] = {"rows", "columns"};
    const struct product *p = &o->k->product;
    const unsigned axes[] = {p->axes[PRODUCT_ROWS] | p->reduced,
                             p->axes[PRODUCT_COLUMNS] | p->reduced};
    int depth = write_loops(o, 1, "workgroups", true, TILE_GROUPS);
    depth = write_loops(o, depth, "subgroups", true, TILE_THREADS);
    int inner = write_loops(o, depth, "for", false, TILE_REDUCE_OUTER);
    for (int f = 0; f < 2; f++) {
        begin_line(o, inner);
        write_element(o, names[f], ".shared", axes[f]);
        str_add(o->out, " = ");
        write_node(o, p->factor[f]);
        str_add_char(o->out, '\n');
    }
    inner = write_loops(o, inner, "unrolled", false, TILE_REDUCE_MIDDLE);
    inner = write_loops(o, inner, "fragments", true, TILE_OUTER);
    begin_line(o, inner);
    write_own(o, ".local");
    str_add(o->out, " += ");
    write_element(o, names[0], ".shared", axes[0]);
    str_add(o->out, " * ");
    write_element(o, names[1], ".shared", axes[1]);
    str_add(o->out, ", by matrix units\n");
    begin_line(o, depth);
    write_stored(o);
    str_add(o->out, ", by shared memory\n");
}

// Writes the reads that stages with PLAN_ONCE compute.
static void write_once(struct printer *o, int depth)
{
    const struct definition *d = &o->p->inlined;
    const struct sketch *s = &o->p->sketches.sketch[0];
    int read[DEFINE_MAX_NODES];
    int count = definition_list(d, o->k->stage.body, NODES_UNCONDITIONAL, read);
    for (int i = 0; i < count; i++) {
        if (s->plan[d->node[read[i]].tensor] != PLAN_ONCE)
            continue;
        begin_line(o, write_unrolled(o, depth, false));
        write_read(o, read[i]);
        str_add(o->out, " computed once\n");
    }
}

// Writes the statements that fill the staged tiles.
static void write_staging(struct printer *o, int depth)
{
    const struct definition *d = &o->p->inlined;
    for (int i = 0; i < o->k->staged_count && o->v->plan == PLAN_TILE; i++) {
        const struct staged_read *c = &o->k->staged[i];
        begin_line(o, depth);
        if (c->stage >= 0) {
            o->stage = &d->stage[c->stage];
            write_element(o, d->tensor[c->tensor].name, ".shared", (1U << o->stage->space) - 1);
        } else {
            write_read(o, c->read);
        }
        o->staged = false;
        str_add(o->out, " = ");
        write_node(o, c->stage >= 0 ? c->expression : c->read);
        o->stage = &o->k->stage;
        o->staged = true;
        str_add_char(o->out, '\n');
    }
}

static void write_kernel(struct printer *o)
{
    static const char *const signs[] = {" = ", " += ", " max= ", " min= ", " *= "};
    const struct define_stage *s = &o->k->stage;
    str_printf(o->out, "%s: %s", o->p->inlined.tensor[s->tensor].name,
               reduction_names[s->reduction]);
    for (int a = s->space; a < s->space + s->reduce; a++)
        str_printf(o->out, "%s%s", a == s->space ? " over " : ", ", s->axis[a]);
    str_add_char(o->out, '\n');
    if (o->v->plan == PLAN_MATRIX) {
        write_matrix(o);
        return;
    }
    int depth = write_loops(o, 1, "workgroups", true, TILE_GROUPS);
    depth = write_loops(o, depth, "workgroups that share", false, TILE_REDUCE_GROUPS);
    bool is_unrolled = o->v->plan == PLAN_CONSTANT;
    depth = write_loops(o, depth, is_unrolled ? "for" : "virtual threads", true, TILE_VIRTUAL);
    depth = write_loops(o, depth, "invocations", true, TILE_THREADS);
    depth = write_loops(o, depth, "invocations that share", false, TILE_REDUCE_THREADS);
    if (is_unrolled)
        write_once(o, depth);
    depth = write_unrolled(o, depth, true);
    int inner = write_loops(o, depth, "for", false, TILE_REDUCE_OUTER);
    inner = write_unrolled(o, inner, false);
    write_staging(o, inner);
    inner = write_loops(o, inner, "for", false, TILE_REDUCE_MIDDLE);
    inner = write_loops(o, inner, "unrolled", true, TILE_OUTER);
    inner = write_loops(o, inner, o->v->unroll < 0 ? "unrolled" : "for", false, TILE_REDUCE_INNER);
    inner = write_loops(o, inner, "unrolled", true, TILE_INNER);
    int last = o->v->loops.space - 1;
    if (o->v->vector >= 0 && o->v->loops.param[last] >= 0) {
        begin_line(o, inner++);
        str_printf(o->out, "lanes of %s\n", o->v->loops.name[last]);
    }
    begin_line(o, inner);
    write_own(o, ".local");
    str_add(o->out, signs[o->k->stage.reduction]);
    write_node(o, o->k->stage.body);
    str_add_char(o->out, '\n');
    if (o->v->plan == PLAN_CROSS || o->v->plan == PLAN_SPLIT) {
        begin_line(o, depth);
        write_own(o, ".local");
        str_add(o->out, " of all that share, by shared memory\n");
    }
    if (o->v->plan == PLAN_SPLIT) {
        begin_line(o, depth = 1);
        str_add(o->out, "second pass: ");
        write_own(o, ".local");
        str_add(o->out, " of all workgroups that share, by scratch memory\n");
    }
    begin_line(o, depth);
    write_stored(o);
    str_add_char(o->out, '\n');
}

void program_outline(const struct program *p, int sketch, struct str *out)
{
    for (int i = 0; i < p->kernel_count; i++) {
        const struct program_kernel *k = &p->kernel[i];
        struct printer o = {.p = p, .k = k, .stage = &k->stage, .staged = true, .out = out};
        o.v = &k->variant[program_variant_of(p, sketch, i)];
        o.staged = o.v->plan == PLAN_TILE;
        write_kernel(&o);
    }
}
