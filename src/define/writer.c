#include "define/writer.h"

#include "define/bounds.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINE = 512, MOST_NAME = 80 }; // names have at most 40 letters

// --- text ---

const char *writer_element(enum element e, bool is_vector)
{
    return is_vector ? element_traits[e].vector : element_traits[e].scalar;
}

void writer_type(struct writer *w, bool is_real, int lanes)
{
    if (lanes > 1)
        str_printf(w->out, "%s%d", is_real ? "vec" : "ivec", lanes);
    else
        str_add(w->out, is_real ? "float" : "int");
}

void writer_indent(struct writer *w, int depth)
{
    for (int i = 0; i < depth; i++)
        str_add(w->out, "    ");
}

void writer_line(struct writer *w, int depth, const char *format, ...)
{
    char line[MOST_LINE];
    va_list args;
    writer_indent(w, depth);
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    str_add(w->out, line);
    str_add_char(w->out, '\n');
}

void writer_number(struct writer *w, double number, bool is_real)
{
    size_t before = w->out->length;
    if (!is_real) {
        str_printf(w->out, number < 0 ? "(%" PRId64 ")" : "%" PRId64, (int64_t)number);
        return;
    }
    if (isinf(number)) {
        str_add(w->out,
                number < 0 ? "uintBitsToFloat(0xff800000u)" : "uintBitsToFloat(0x7f800000u)");
        return;
    }
    str_add(w->out, number < 0 ? "(" : "");
    str_add_real(w->out, number);
    if (!strpbrk(w->out->text + before, ".e"))
        str_add(w->out, ".0");
    str_add(w->out, number < 0 ? ")" : "");
}

void writer_digit(struct writer *w, const char *of, int64_t stride, int64_t count, int64_t by)
{
    if (count == 1) {
        str_add_char(w->out, '0');
        return;
    }
    str_add(w->out, of);
    if (stride > 1)
        str_printf(w->out, " / %" PRId64, stride);
    str_printf(w->out, " %% %" PRId64, count);
    if (by > 1)
        str_printf(w->out, " * %" PRId64, by);
}

void writer_combine(struct writer *w, const char *a, const char *b)
{
    enum reduction r = w->k->stage.reduction;
    if (r == REDUCE_MAX || r == REDUCE_MIN)
        str_printf(w->out, "%s(%s, %s)", reduction_names[r], a, b);
    else
        str_printf(w->out, "%s %s %s", a, r == REDUCE_SUM ? "+" : "*", b);
}

// --- loops ---

int writer_begin(struct writer *w, int depth)
{
    writer_line(w, depth, "{");
    return depth + 1;
}

void writer_end(struct writer *w, int depth)
{
    writer_line(w, depth - 1, "}");
}

// Returns the results that an iteration of the innermost part computes.
static int32_t step_of(const struct writer *w, int loop)
{
    return loop == w->t->variant->loops.space - 1 ? tiling_lanes(w->t) : 1;
}

// The digits of gl_WorkGroupID.x are the loops' groups, the last loop the fastest. With several
// loops the first one is gl_WorkGroupID.y.
void writer_origins(struct writer *w)
{
    const struct program_loops *l = &w->t->variant->loops;
    int first = l->space > 1;
    int64_t thread = tiling_threads(w->t), group = 1;
    for (int a = first; a < l->space; a++)
        group *= w->t->part[a][TILE_GROUPS];
    writer_line(w, 1, "const int thread = int(gl_LocalInvocationID.x);");
    writer_line(w, 1, "const int group = int(gl_WorkGroupID.x);");
    for (int a = 0; a < l->space; a++) {
        const int32_t *part = w->t->part[a];
        int64_t inner = part[TILE_OUTER] * part[TILE_INNER];
        thread /= part[TILE_THREADS];
        if (a >= first)
            group /= part[TILE_GROUPS];
        writer_indent(w, 1);
        str_printf(w->out, "const int base_%s%d = ", l->name[a], a);
        writer_digit(w, a < first ? "int(gl_WorkGroupID.y)" : "group", a < first ? 1 : group,
                     part[TILE_GROUPS], part[TILE_VIRTUAL] * part[TILE_THREADS] * inner);
        str_add(w->out, ";\n");
        writer_indent(w, 1);
        str_printf(w->out, "const int first_%s%d = base_%s%d + ", l->name[a], a, l->name[a], a);
        writer_digit(w, "thread", thread, part[TILE_THREADS], inner);
        str_add(w->out, ";\n");
    }
}

void writer_loops(struct writer *w, int depth, char kind, int part)
{
    const struct program_loops *l = &w->t->variant->loops;
    bool is_space = strchr("vwr", kind);
    int first = is_space ? 0 : l->space, count = is_space ? l->space : l->reduce;
    bool written = is_space ? w->t->variant->plan != PLAN_CONSTANT : tiling_is_unrolled(w->t, part);
    for (int a = first; a < first + count; a++) {
        int32_t length = w->t->part[a][part] / (kind == 'r' ? step_of(w, a) : 1);
        if (length > 1)
            writer_line(w, depth, "%sfor (int %c%d = 0; %c%d < %" PRId32 "; %c%d++)",
                        written ? "[[unroll]] " : "", kind, a, kind, a, length, kind, a);
    }
}

// Writes " + o2 * 8", or nothing where the part has one iteration.
static void write_term(struct writer *w, char kind, int loop, int part, int64_t stride)
{
    if (w->t->part[loop][part] > 1)
        str_printf(w->out, " + %c%d", kind, loop);
    if (w->t->part[loop][part] > 1 && stride > 1)
        str_printf(w->out, " * %" PRId64, stride);
}

// Writes the term of the innermost part, which advances by all lanes.
static void write_inner(struct writer *w, int loop, int64_t stride)
{
    int32_t lanes = step_of(w, loop);
    if (w->t->part[loop][TILE_INNER] > lanes)
        write_term(w, 'r', loop, TILE_INNER, stride * lanes);
}

void writer_reduced_bases(struct writer *w, int depth, const char *step)
{
    const struct define_stage *s = &w->k->stage;
    int64_t stride = tiling_reduced(w->t, TILE_REDUCE_OUTER);
    for (int a = s->space; a < s->space + s->reduce; a++) {
        const int32_t *part = w->t->part[a];
        int64_t span = tiling_span(w->t, a);
        stride /= part[TILE_REDUCE_OUTER];
        writer_indent(w, depth);
        str_printf(w->out, "const int base_%s%d = ", s->axis[a], a);
        if (step) {
            writer_digit(w, step, stride, part[TILE_REDUCE_OUTER], span);
        } else {
            str_add_char(w->out, '0');
            write_term(w, 'o', a, TILE_REDUCE_OUTER, span);
        }
        str_add(w->out, ";\n");
    }
}

void writer_digits(struct writer *w, int depth, const char *name, unsigned axes)
{
    const struct define_stage *s = &w->k->stage;
    int count = s->space + s->reduce;
    int64_t stride = stage_points_of(s, axes);
    for (int a = 0; a < count; a++) {
        if (!(axes >> a & 1))
            continue;
        stride /= s->extent[a];
        writer_indent(w, depth);
        str_printf(w->out, "const int _%s%d = ", s->axis[a], a);
        writer_digit(w, name, stride, s->extent[a], 1);
        str_add(w->out, ";\n");
    }
}

void writer_axes(struct writer *w, int depth, bool reduces)
{
    const struct program_loops *l = &w->t->variant->loops;
    const struct define_stage *s = &w->k->stage;
    bool each = w->t->variant->plan == PLAN_TILE, guards = w->t->variant->is_guarded;
    for (int a = 0; a < l->space + (reduces ? l->reduce : 0); a++) {
        const char *kind = a < l->space ? "all" : "part";
        char name[MOST_NAME];
        snprintf(name, sizeof name, each ? "%s%d" : "%s", each ? s->axis[a] : kind, a);
        writer_indent(w, depth);
        str_printf(w->out, "const int %s%s = ", guards ? "raw_" : each ? "_" : "", name);
        const int32_t *part = w->t->part[a];
        if (a < l->space) {
            int32_t inner = part[TILE_INNER], outer = part[TILE_OUTER] * inner;
            str_printf(w->out, "first_%s%d", l->name[a], a);
            write_term(w, 'v', a, TILE_VIRTUAL, (int64_t)part[TILE_THREADS] * outer);
            write_term(w, 'w', a, TILE_OUTER, inner);
            write_inner(w, a, 1);
        } else { // ((o * M + m) * W + u) * S + the invocation among those that share it
            int64_t shared = part[TILE_REDUCE_THREADS], steps = shared * part[TILE_REDUCE_INNER];
            str_add(w->out, shared > 1 ? "share" : "0");
            if (part[TILE_REDUCE_GROUPS] > 1)
                str_printf(w->out, " + across * %" PRId64,
                           steps * part[TILE_REDUCE_MIDDLE] * part[TILE_REDUCE_OUTER]);
            write_term(w, 'o', a, TILE_REDUCE_OUTER, steps * part[TILE_REDUCE_MIDDLE]);
            write_term(w, 'm', a, TILE_REDUCE_MIDDLE, steps);
            write_term(w, 'u', a, TILE_REDUCE_INNER, shared);
        }
        str_add(w->out, ";\n");
        if (guards)
            writer_line(w, depth, "const int %s%s = min(raw_%s, %" PRId64 ");", each ? "_" : "",
                        name, name, l->length[a] - 1);
    }
    unsigned space = (1U << s->space) - 1, fused = ~w->k->unrolled.axes;
    if (!each)
        writer_digits(w, depth, "all", space & fused);
    if (!each && reduces)
        writer_digits(w, depth, "part", ~space & fused);
}

void writer_guard(struct writer *w, int depth, bool space)
{
    const struct program_loops *l = &w->t->variant->loops;
    bool each = w->t->variant->plan == PLAN_TILE;
    int first = space ? 0 : l->space, count = space ? l->space : l->reduce, guards = 0;
    for (int a = first; a < first + count; a++) {
        if (l->extent[a] == l->length[a])
            continue;
        if (guards++ == 0)
            writer_indent(w, depth);
        str_add(w->out, guards == 1 ? "if (" : " && ");
        if (each)
            str_printf(w->out, "raw_%s%d", l->name[a], a);
        else
            str_printf(w->out, "raw_%s", space ? "all" : "part");
        str_printf(w->out, " < %" PRId64, l->length[a]);
    }
    str_add(w->out, guards ? ")\n" : "");
}

// The register has a mixed-radix number: the digits are the inner, outer and virtual parts of all
// space loops.
void writer_register(struct writer *w)
{
    const struct tiling *t = w->t;
    int64_t stride = 1;
    if (t->shape) {
        str_add(w->out, "number");
        return;
    }
    str_add(w->out, "value[0");
    for (int a = t->variant->loops.space - 1; a >= 0; a--) {
        const int32_t *part = t->part[a];
        write_inner(w, a, stride);
        if (step_of(w, a) > 1)
            str_add(w->out, " + l");
        write_term(w, 'w', a, TILE_OUTER, stride * part[TILE_INNER]);
        write_term(w, 'v', a, TILE_VIRTUAL, stride * part[TILE_INNER] * part[TILE_OUTER]);
        stride *= (int64_t)part[TILE_INNER] * part[TILE_OUTER] * part[TILE_VIRTUAL];
    }
    str_add_char(w->out, ']');
}

// --- expressions ---

enum { FOR_ALL = 1, BY_LANE }; // a named read: one number for all lanes, or a vector

// Writes the node, converted to float where `real` is true and the node is an integer.
static void write_as(struct writer *w, int node, bool real)
{
    bool converts = real && !w->p->inlined.node[node].is_real;
    const struct node *n = &w->p->inlined.node[node];
    if (converts && n->op == NODE_NUMBER) {
        writer_number(w, n->number, true);
        return;
    }
    str_add(w->out, converts ? "float(" : "");
    writer_node(w, node);
    str_add(w->out, converts ? ")" : "");
}

// Writes an operation as "name(a, b)", or as "(a name b)".
static void write_operation(struct writer *w, const char *name, bool is_call, const struct node *n,
                            bool real)
{
    str_printf(w->out, "%s(", is_call ? name : "");
    write_as(w, n->a, real);
    if (n->b >= 0) {
        str_printf(w->out, "%s%s ", is_call ? "," : " ", is_call ? "" : name);
        write_as(w, n->b, real);
    }
    str_add_char(w->out, ')');
}

// Writes a condition or an index, also where the expression around it is written as bits.
static void write_numbers(struct writer *w, int node)
{
    bool as_bits = w->as_bits;
    w->as_bits = false;
    writer_node(w, node);
    w->as_bits = as_bits;
}

static void write_index(struct writer *w, const struct node *n)
{
    const struct definition *d = &w->p->inlined;
    const struct define_tensor *t = &d->tensor[n->tensor];
    for (int i = 1; i < t->rank; i++)
        str_add_char(w->out, '(');
    for (int i = 0; i < t->rank; i++) {
        if (i > 0)
            str_printf(w->out, ") * %" PRId64 " + ", t->size[i]);
        write_numbers(w, d->index[n->index + i]);
    }
}

// Writes a staged read: the element in shared memory, or as many neighbours as lanes as a vector.
static void write_staged(struct writer *w, int staged, int lanes)
{
    const struct staged_read *c = &w->k->staged[staged];
    const struct definition *d = &w->p->inlined;
    const struct node *n = &d->node[c->read];
    int rank = c->rank;
    const struct staged_tile tile = tiling_staged(w->p, c, w->t);
    int64_t stride = tile.size;
    w->prefix = w->t->variant->is_guarded ? "raw_" : "_";
    str_printf(w->out, lanes > 1 ? "copy%d[(" : "copy%d[", staged);
    if (w->t->double_buffers)
        str_printf(w->out, "turn * %" PRId64, stride);
    else
        str_add_char(w->out, '0');
    for (int i = 0; i < rank; i++) {
        int64_t extent = tile.extent[i];
        stride /= i == rank - 1 ? stride : extent;
        if (extent == 1)
            continue;
        str_add(w->out, " + (");
        writer_node(w, d->index[n->index + i]);
        str_printf(w->out, " - low%d_%d)", staged, i);
        if (stride > 1)
            str_printf(w->out, " * %" PRId64, stride);
    }
    if (lanes > 1)
        str_printf(w->out, ") / %d", lanes);
    str_add_char(w->out, ']');
    w->prefix = "_";
}

void writer_vector(struct writer *w, int read, int lanes)
{
    const struct node *n = &w->p->inlined.node[read];
    int staged = w->prefix ? program_staged_of(w->k, read) : -1;
    if (staged >= 0 && w->t->is_staged[staged]) {
        write_staged(w, staged, lanes);
        return;
    }
    const struct define_tensor *t = &w->p->inlined.tensor[n->tensor];
    bool is_bits = element_is_bits(t->element);
    w->reads_vectors[n->tensor] = true;
    if (is_bits)
        str_printf(w->out, "float_of_%s(uvec%d", element_name(t->element), lanes);
    else
        writer_type(w, n->is_real, lanes);
    str_printf(w->out, "(V_%s[(", t->name);
    write_index(w, n);
    str_printf(w->out, ") / %d])%s", lanes, is_bits ? ")" : "");
}

static void write_number(struct writer *w, const struct node *n)
{
    uint16_t bits = 0;
    if (w->as_bits && n->is_real) {
        element_put(&bits, w->k->product.element, 0, n->number);
        str_printf(w->out, "%uu", (unsigned)bits);
    } else {
        writer_number(w, n->number, n->is_real);
    }
}

static void write_read(struct writer *w, const struct node *n)
{
    int node = (int)(n - w->p->inlined.node), kernel = 0;
    int staged =
        w->prefix ? program_staged_of(w->k, node) : -1; // a staging buffer is filled directly
    if (n->tensor == w->k->stage.tensor) {
        writer_register(w);
        return;
    }
    if (staged >= 0 && w->t->is_staged[staged]) {
        write_staged(w, staged, 1);
        return;
    }
    if (staged >= 0 && w->k->staged[staged].computed >= 0) {
        writer_node(w, w->k->staged[staged].computed);
        return;
    }
    while (kernel < w->p->kernel_count && w->p->kernel[kernel].stage.tensor != n->tensor)
        kernel++;
    const struct define_tensor *t = &w->p->inlined.tensor[n->tensor];
    bool in_scratch = kernel < w->p->kernel_count;
    bool decodes = element_is_bits(t->element) && !w->as_bits;
    if (in_scratch)
        str_printf(w->out, "%s(T_scratch[%" PRIu64 " + (", n->is_real ? "uintBitsToFloat" : "int",
                   w->p->kernel[kernel].scratch);
    else if (decodes)
        str_printf(w->out, "float_of_%s(uint(T_%s[", element_name(t->element), t->name);
    else
        str_printf(w->out, "%s(T_%s[", w->as_bits ? "uint" : n->is_real ? "float" : "int", t->name);
    // The index is 0 where the select around the read does not select it: compilers may read both
    // branches before they select one.
    int guards = w->guards;
    w->guards = 0; // a condition is not guarded by itself
    for (int i = 0; i < guards; i++) {
        str_add(w->out, i ? " && " : "");
        str_add(w->out, w->holds[i] ? "" : "!");
        write_numbers(w, w->guard[i]);
    }
    str_add(w->out, guards ? " ? " : "");
    write_index(w, n);
    str_add(w->out, guards ? " : 0" : "");
    w->guards = guards;
    str_add(w->out, in_scratch ? ")])" : decodes ? "]))" : "])");
}

// Writes a branch of a select. Reads in it are guarded by the condition.
static void write_branch(struct writer *w, int condition, bool holds, int node, bool real)
{
    bool has_room = w->guards < WRITER_MOST_GUARDS;
    if (has_room) {
        w->guard[w->guards] = condition;
        w->holds[w->guards++] = holds;
    }
    write_as(w, node, real);
    w->guards -= has_room;
}

void writer_node(struct writer *w, int node)
{
    const struct node *n = &w->p->inlined.node[node];
    bool compares = n->op == NODE_LESS || n->op == NODE_AT_MOST || n->op == NODE_EQUAL;
    bool real = compares ? w->p->inlined.node[n->a].is_real || w->p->inlined.node[n->b].is_real
                         : n->is_real;
    if (w->out->length > WRITER_MOST_TEXT)
        return;
    if (w->is_named && w->is_named[node]) {
        str_printf(w->out, "part%d", node);
        return;
    }
    if (w->wide && w->wide[node]) {
        str_printf(w->out, "wide%d%s", node, w->wide[node] == BY_LANE ? "[l]" : "");
        return;
    }
    switch (n->op) {
    case NODE_NUMBER: write_number(w, n); break;
    case NODE_AXIS:
        if (w->prefix)
            str_printf(w->out, "%s%s%d", w->prefix, w->stage->axis[n->axis], n->axis);
        else
            str_printf(w->out, "at%d", n->axis);
        break;
    case NODE_READ: write_read(w, n); break;
    case NODE_ADD:
    case NODE_SUBTRACT:
    case NODE_MULTIPLY:
    case NODE_DIVIDE:
    case NODE_LESS:
    case NODE_AT_MOST:
    case NODE_EQUAL: write_operation(w, node_kinds[n->op].name, false, n, real); break;
    case NODE_FLOOR_DIVIDE:
    case NODE_MODULO: {
        // GLSL rounds quotients towards 0 and leaves remainders of negative numbers undefined.
        bool divides = n->op == NODE_FLOOR_DIVIDE;
        struct range a = bounds_range(&w->p->inlined, w->stage, n->a, NULL);
        bool is_call = a.low < 0;
        const char *name = divides ? (is_call ? "floor_divide" : "/") : is_call ? "modulo" : "%";
        write_operation(w, name, is_call, n, false);
    } break;
    case NODE_MIN:
    case NODE_MAX:
    case NODE_EXP:
    case NODE_SQRT:
    case NODE_TANH: write_operation(w, node_kinds[n->op].name, true, n, real); break;
    case NODE_SELECT:
        str_add_char(w->out, '(');
        write_numbers(w, n->a);
        str_add(w->out, " ? ");
        write_branch(w, n->a, true, n->b, n->is_real);
        str_add(w->out, " : ");
        write_branch(w, n->a, false, n->c, n->is_real);
        str_add_char(w->out, ')');
        break;
    default: {            // a cast
        if (w->as_bits) { // to f32, which changes nothing
            writer_node(w, n->a);
            break;
        }
        bool halves = n->element == ELEMENT_F16;
        str_add(w->out, halves       ? "unpackHalf2x16(packHalf2x16(vec2("
                        : n->is_real ? "float("
                                     : "int(");
        writer_node(w, n->a);
        str_add(w->out, halves ? ", 0.0))).x" : ")");
    }
    }
}

// --- lanes of vectors ---

// Declares a constant for each unconditional read that is a vector, or the same for all lanes. The
// reads of an expression that is inlined in place of a staged read count too.
static void name_vector_reads(struct writer *w, int depth, int node)
{
    const struct definition *d = &w->p->inlined;
    int read[DEFINE_MAX_NODES], reads = definition_list(d, node, NODES_UNCONDITIONAL, read);
    for (int i = 0; i < reads; i++) {
        int n = read[i], staged = program_staged_of(w->k, n), lanes = tiling_lanes(w->t);
        if (staged >= 0 && !w->t->is_staged[staged] && w->k->staged[staged].computed >= 0) {
            name_vector_reads(w, depth, w->k->staged[staged].computed);
            continue;
        }
        bool wide = tiling_reads_vector(w->p, w->k, n, w->t);
        if (d->node[n].tensor == w->k->stage.tensor || w->wide[n] ||
            (!wide && definition_depends(d, n, w->k->stage.space - 1)))
            continue;
        writer_indent(w, depth);
        str_add(w->out, "const ");
        writer_type(w, d->node[n].is_real, wide ? lanes : 1);
        str_printf(w->out, " wide%d = ", n);
        if (wide)
            writer_vector(w, n, lanes);
        else
            writer_node(w, n);
        str_add(w->out, ";\n");
        w->wide[n] = wide ? BY_LANE : FOR_ALL;
    }
}

int writer_begin_lanes(struct writer *w, int depth, int node)
{
    int lanes = tiling_lanes(w->t), axis = w->k->stage.space - 1;
    const char *name = w->k->stage.axis[axis < 0 ? 0 : axis];
    if (lanes > 1) {
        w->wide = mem_zero((size_t)w->p->inlined.node_count, sizeof *w->wide);
        if (node >= 0)
            name_vector_reads(w, depth, node);
        writer_line(w, depth++, "[[unroll]] for (int l = 0; l < %d; l++) {", lanes);
        writer_line(w, depth, "const int _%s%d = _%s%d + l;", name, axis, name, axis);
        if (w->t->variant->is_guarded)
            writer_line(w, depth, "const int raw_%s%d = raw_%s%d + l;", name, axis, name, axis);
    }
    if (node >= 0) {
        // Each node that the expression uses twice becomes a variable; none does where the
        // expression has a select, because a node may be valid in one branch only.
        const struct definition *d = &w->p->inlined;
        int order[DEFINE_MAX_NODES], uses[DEFINE_MAX_NODES] = {0};
        int count = definition_list(d, node, NODES_VALUES, order);
        w->is_named = mem_zero((size_t)d->node_count, sizeof *w->is_named);
        bool has_choices = false;
        for (int i = 0; i < count; i++) {
            const struct node *n = &d->node[order[i]];
            const int operand[] = {n->a, n->b, n->c};
            has_choices = has_choices || n->op == NODE_SELECT;
            for (int k = 0; k < node_kinds[n->op].operands; k++)
                uses[operand[k]]++;
        }
        for (int i = 0; i < count && !has_choices; i++) {
            const struct node *n = &d->node[order[i]];
            if (uses[order[i]] < 2 || n->op == NODE_NUMBER || n->op == NODE_AXIS)
                continue;
            writer_indent(w, depth);
            str_printf(w->out, "const %s part%d = ", n->is_real ? "float" : "int", order[i]);
            writer_node(w, order[i]);
            str_add(w->out, ";\n");
            w->is_named[order[i]] = true;
        }
    }
    return depth;
}

void writer_end_lanes(struct writer *w, int depth)
{
    if (tiling_lanes(w->t) > 1)
        writer_line(w, depth - 1, "}");
    free(w->is_named);
    free(w->wide);
    w->is_named = NULL;
    w->wide = NULL;
}

// --- stores ---

// Writes the index of the result among all results of the kernel.
static void write_result_index(struct writer *w)
{
    const struct define_stage *s = &w->k->stage;
    for (int i = 1; i < s->space; i++)
        str_add_char(w->out, '(');
    for (int i = 0; i < s->space; i++) {
        if (i > 0)
            str_printf(w->out, ") * %" PRId64 " + ", s->extent[i]);
        str_printf(w->out, "_%s%d", s->axis[i], i);
    }
    str_add(w->out, s->space ? "" : "0");
}

void writer_target(struct writer *w)
{
    if (w->k->is_output)
        str_printf(w->out, "T_%s[", w->p->inlined.tensor[w->p->output].name);
    else
        str_printf(w->out, "T_scratch[%" PRIu64 " + ", w->k->scratch);
    if (tiling_reduced(w->t, TILE_REDUCE_GROUPS) > 1)
        str_printf(w->out, "across * %" PRId64 " + ", tiling_points(w->t));
    write_result_index(w);
    str_add_char(w->out, ']');
}

void writer_store(struct writer *w, int depth)
{
    const struct define_tensor *t = &w->p->inlined.tensor[w->p->output];
    bool wide = tiling_stores_vector(w->k, w->t);
    int lanes = tiling_lanes(w->t);
    if (wide)
        writer_line(w, depth, "%s%d stored;", writer_element(t->element, true), lanes);
    int lane = writer_begin_lanes(w, depth, w->k->epilogue);
    writer_indent(w, lane);
    if (wide)
        str_add(w->out, "stored[l]");
    else
        writer_target(w);
    str_add(w->out, " = ");
    int stored = w->k->epilogue < 0 ? w->k->stage.body : w->k->epilogue;
    bool real = w->p->inlined.node[stored].is_real;
    str_add(w->out, w->k->is_output ? writer_element(t->element, false)
                    : real          ? "floatBitsToUint"
                                    : "uint");
    str_add_char(w->out, '(');
    if (w->k->epilogue < 0)
        writer_register(w);
    else
        writer_node(w, stored);
    str_add(w->out, ");\n");
    writer_end_lanes(w, lane);
    if (!wide)
        return;
    writer_indent(w, depth);
    str_printf(w->out, "V_%s[(", t->name);
    write_result_index(w);
    str_printf(w->out, ") / %d] = stored;\n", lanes);
}
