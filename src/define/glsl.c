// One kernel of a program as GLSL, around its expressions.

#include "define/bounds.h"
#include "define/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Several numbers of an invocation at once, neighbours along the last axis: what is read of all of
// them is one vector, what is read for all alike is read once, and the rest stands in a loop over
// the lanes that is written out.

enum { ONCE = 1, IN_LANES };

const char *writer_vector(bool is_real)
{
    return is_real ? "vec" : "ivec";
}

static void hold(struct writer *w, int depth, int read)
{
    const struct definition *d = &w->p->inlined;
    bool wide = tiling_is_wide(w->p, w->k, read, w->t), is_real = d->node[read].is_real;
    int lanes = tiling_lanes(w->t);
    if (!wide && definition_depends(d, read, w->k->stage.space - 1))
        return;
    writer_indent(w, depth);
    if (wide) {
        str_printf(w->out, "const %s%d wide%d = ", writer_vector(is_real), lanes, read);
        writer_wide(w, read, lanes);
    } else {
        str_printf(w->out, "const %s wide%d = ", is_real ? "float" : "int", read);
        writer_node(w, read);
    }
    str_add(w->out, ";\n");
    w->held[read] = wide ? IN_LANES : ONCE;
}

// What no choice stands around, in a constant each; also of what is computed in place of a read.
static void hold_reads(struct writer *w, int depth, int node)
{
    int *read = mem_alloc(((size_t)node + 1) * sizeof *read);
    int reads = definition_plain_reads(&w->p->inlined, node, read);
    for (int i = reads - 1; i >= 0; i--) {
        int copy = program_copy_of(w->k, read[i]);
        if (copy >= 0 && !w->t->is_copied[copy] && w->k->copy[copy].plain >= 0)
            hold_reads(w, depth, w->k->copy[copy].plain);
        else if (w->p->inlined.node[read[i]].tensor != w->k->stage.tensor && !w->held[read[i]])
            hold(w, depth, read[i]);
    }
    free(read);
}

int writer_begin_lanes(struct writer *w, int depth, int node)
{
    int lanes = tiling_lanes(w->t), axis = w->k->stage.space - 1;
    const char *name = w->k->stage.axis[axis < 0 ? 0 : axis];
    if (lanes == 1)
        return depth;
    w->held = mem_zero((size_t)w->p->inlined.node_count, sizeof *w->held);
    if (node >= 0)
        hold_reads(w, depth, node);
    writer_line(w, depth, "[[unroll]] for (int l = 0; l < %d; l++) {", lanes);
    writer_line(w, depth + 1, "const int _%s%d = _%s%d + l;", name, axis, name, axis);
    if (w->t->variant->is_guarded)
        writer_line(w, depth + 1, "const int raw_%s%d = raw_%s%d + l;", name, axis, name, axis);
    return depth + 1;
}

void writer_end_lanes(struct writer *w, int depth)
{
    if (tiling_lanes(w->t) > 1)
        writer_line(w, depth - 1, "}");
    free(w->held);
    w->held = NULL;
}

bool writer_held(struct writer *w, int node)
{
    if (!w->held || !w->held[node])
        return false;
    str_printf(w->out, "wide%d%s", node, w->held[node] == IN_LANES ? "[l]" : "");
    return true;
}

// An expression as GLSL.

#define MOST_TEXT (1 << 20)

bool writer_is_full(const struct writer *w)
{
    return w->out->length > MOST_TEXT;
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

// As a float where `real`, converted where it is none.
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

static void write_call(struct writer *w, const char *name, int a, int b, bool real)
{
    str_printf(w->out, "%s(", name);
    write_as(w, a, real);
    if (b >= 0) {
        str_add(w->out, ", ");
        write_as(w, b, real);
    }
    str_add_char(w->out, ')');
}

static void write_infix(struct writer *w, const char *sign, const struct node *n, bool real)
{
    str_add_char(w->out, '(');
    write_as(w, n->a, real);
    str_printf(w->out, " %s ", sign);
    write_as(w, n->b, real);
    str_add_char(w->out, ')');
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
        writer_node(w, d->index[n->index + i]);
    }
}

// Where a condition around the read does not hold, element 0 is read: what is selected afterwards
// may have been read before.
static void write_guarded_index(struct writer *w, const struct node *n)
{
    int guards = w->guards;
    w->guards = 0; // conditions read nothing that is guarded by themselves
    for (int i = 0; i < guards; i++) {
        str_add(w->out, i ? " && " : "");
        str_add(w->out, w->holds[i] ? "" : "!");
        writer_node(w, w->guard[i]);
    }
    str_add(w->out, guards ? " ? " : "");
    write_index(w, n);
    str_add(w->out, guards ? " : 0" : "");
    w->guards = guards;
}

static const struct program_kernel *made_by(const struct writer *w, int tensor)
{
    for (int i = 0; i < w->p->kernel_count; i++)
        if (w->p->kernel[i].stage.tensor == tensor)
            return &w->p->kernel[i];
    return NULL;
}

static void write_axis(struct writer *w, int axis)
{
    if (w->prefix)
        str_printf(w->out, "%s%s%d", w->prefix, w->stage->axis[axis], axis);
    else
        str_printf(w->out, "at%d", axis);
}

void writer_wide(struct writer *w, int read, int lanes)
{
    const struct node *n = &w->p->inlined.node[read];
    int copy = w->prefix ? program_copy_of(w->k, read) : -1;
    if (copy >= 0 && w->t->is_copied[copy]) {
        writer_copy_element(w, copy, lanes);
        return;
    }
    w->reads_wide[n->tensor] = true;
    str_printf(w->out, "%s%d(V_%s[(", writer_vector(n->is_real), lanes,
               w->p->inlined.tensor[n->tensor].name);
    write_index(w, n);
    str_printf(w->out, ") / %d])", lanes);
}

static void write_read(struct writer *w, const struct node *n)
{
    const struct define_tensor *t = &w->p->inlined.tensor[n->tensor];
    const struct program_kernel *from = made_by(w, n->tensor);
    int node = (int)(n - w->p->inlined.node);
    int copy = w->prefix ? program_copy_of(w->k, node) : -1; // what is copied is read where it lies
    if (n->tensor == w->k->stage.tensor) {
        writer_register(w);
        return;
    }
    if (copy >= 0 && w->t->is_copied[copy]) {
        writer_copy_element(w, copy, 1);
        return;
    }
    if (copy >= 0 && w->k->copy[copy].plain >= 0) {
        writer_node(w, w->k->copy[copy].plain);
        return;
    }
    if (!from) {
        str_printf(w->out, "%s(T_%s[", n->is_real ? "float" : "int", t->name);
        write_guarded_index(w, n);
        str_add(w->out, "])");
        return;
    }
    str_printf(w->out, "%s(T_scratch[%" PRIu64 " + (", n->is_real ? "uintBitsToFloat" : "int",
               from->scratch);
    write_guarded_index(w, n);
    str_add(w->out, ")])");
}

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

static void write_select(struct writer *w, const struct node *n)
{
    str_add_char(w->out, '(');
    writer_node(w, n->a);
    str_add(w->out, " ? ");
    write_branch(w, n->a, true, n->b, n->is_real);
    str_add(w->out, " : ");
    write_branch(w, n->a, false, n->c, n->is_real);
    str_add_char(w->out, ')');
}

static void write_cast(struct writer *w, const struct node *n)
{
    bool halves = n->element == ELEMENT_F16;
    str_add(w->out, halves ? "unpackHalf2x16(packHalf2x16(vec2(" : n->is_real ? "float(" : "int(");
    writer_node(w, n->a);
    str_add(w->out, halves ? ", 0.0))).x" : ")");
}

void writer_node(struct writer *w, int node)
{
    const struct node *n = &w->p->inlined.node[node];
    bool compares = n->op == NODE_LESS || n->op == NODE_AT_MOST || n->op == NODE_EQUAL;
    bool real = compares ? w->p->inlined.node[n->a].is_real || w->p->inlined.node[n->b].is_real
                         : n->is_real;
    if (writer_is_full(w))
        return;
    if (w->is_named && w->is_named[node]) {
        str_printf(w->out, "part%d", node);
        return;
    }
    if (writer_held(w, node))
        return;
    switch (n->op) {
    case NODE_NUMBER: writer_number(w, n->number, n->is_real); break;
    case NODE_AXIS: write_axis(w, n->axis); break;
    case NODE_READ: write_read(w, n); break;
    case NODE_ADD:
    case NODE_SUBTRACT:
    case NODE_MULTIPLY:
    case NODE_DIVIDE:
    case NODE_LESS:
    case NODE_AT_MOST:
    case NODE_EQUAL: write_infix(w, node_op_name(n->op), n, real); break;
    case NODE_FLOOR_DIVIDE:
    case NODE_MODULO: {
        // GLSL's own round towards 0, and leave open what a remainder of a negative number is.
        bool divides = n->op == NODE_FLOOR_DIVIDE;
        struct range a = bounds_range(&w->p->inlined, w->stage, n->a, NULL);
        if (a.low >= 0)
            write_infix(w, divides ? "/" : "%", n, false);
        else
            write_call(w, divides ? "floor_divide" : "modulo", n->a, n->b, false);
    } break;
    case NODE_MIN:
    case NODE_MAX:
    case NODE_EXP:
    case NODE_SQRT:
    case NODE_TANH: write_call(w, node_op_name(n->op), n->a, n->b, real); break;
    case NODE_SELECT: write_select(w, n); break;
    default: write_cast(w, n);
    }
}

enum { MOST_LINE = 512 };

static const char *const scalars[ELEMENT_COUNT] = {"float", "float16_t", "int8_t", "int"};
static const char *const vectors[ELEMENT_COUNT] = {"vec", "f16vec", "i8vec", "ivec"};

const char *writer_scalar(enum element e)
{
    return scalars[e];
}

static bool uses_element(const struct definition *d, const struct program_kernel *k, enum element e)
{
    for (int i = 0; i < d->inputs; i++)
        if (d->tensor[i].element == e)
            return true;
    return k->is_output && d->tensor[d->tensor_count - 1].element == e;
}

// The same numbers as vectors.
static void write_vectors(struct writer *w, int binding, const char *use,
                          const struct define_tensor *t)
{
    str_printf(w->out,
               "layout(std430, binding = %d) restrict %s buffer vectors%d { %s%d V_%s[]; };\n",
               binding, use, binding, vectors[t->element], w->t->vector, t->name);
}

static void write_buffers(struct writer *w)
{
    const struct definition *d = &w->p->inlined;
    int output = w->p->output, binding = 0;
    const char *form = "layout(std430, binding = %d) restrict %sbuffer b%d { %s T_%s[]; };\n";
    for (; binding < d->inputs; binding++)
        str_printf(w->out, form, binding, "readonly ", binding, scalars[d->tensor[binding].element],
                   d->tensor[binding].name);
    for (int i = 0; i < d->inputs; i++)
        if (w->reads_wide[i])
            write_vectors(w, i, "readonly", &d->tensor[i]);
    if (w->k->is_output && tiling_stores_wide(w->p, w->k, w->t))
        write_vectors(w, binding, "writeonly", &d->tensor[output]);
    else if (w->k->is_output)
        str_printf(w->out, form, binding, "writeonly ", binding, scalars[d->tensor[output].element],
                   d->tensor[output].name);
    binding++;
    if (w->p->scratch_bytes || w->uses_parts)
        str_printf(w->out, form, binding, w->k->is_output ? "readonly " : "", binding, "uint",
                   "scratch");
}

// GLSL's own round towards 0.
static const char floor_divide[] = "\nint floor_divide(int a, int b)\n{\n"
                                   "    return a >= 0 ? a / b : -((b - 1 - a) / b);\n}\n";
static const char modulo[] = "\nint modulo(int a, int b)\n{\n"
                             "    return a - b * floor_divide(a, b);\n}\n";

// `main`: what stands behind it.
static void write_head(struct writer *w, const char *main)
{
    const struct definition *d = &w->p->inlined;
    str_add(w->out, "#version 450\n#extension GL_EXT_control_flow_attributes : require\n");
    if (uses_element(d, w->k, ELEMENT_F16))
        str_add(w->out, "#extension GL_EXT_shader_16bit_storage : require\n"
                        "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n");
    if (uses_element(d, w->k, ELEMENT_I8))
        str_add(w->out, "#extension GL_EXT_shader_8bit_storage : require\n"
                        "#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require\n");
    if (w->t->shape)
        writer_unit_extensions(w);
    str_printf(w->out, "layout(local_size_x = %" PRId64 ") in;\n", tiling_threads(w->t));
    write_buffers(w);
    writer_shared(w);
    if (w->t->shape)
        writer_unit_words(w);
    bool divides = strstr(main, "floor_divide("), takes_rest = strstr(main, "modulo(");
    str_add(w->out, divides || takes_rest ? floor_divide : "");
    str_add(w->out, takes_rest ? modulo : "");
    str_add(w->out, "\n");
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

// --- statements ---

// What an expression uses twice is computed once, in a variable, unless conditions say when it may
// be.
static void name_parts(struct writer *w, int depth, int body)
{
    const struct definition *d = &w->p->inlined;
    int *order = mem_alloc(((size_t)body + 1) * sizeof *order);
    int *uses = mem_zero((size_t)body + 1, sizeof *uses);
    int count = definition_computed(d, body, order);
    w->is_named = mem_zero((size_t)d->node_count, sizeof *w->is_named);
    bool has_choices = false;
    for (int i = 0; i < count; i++) {
        const struct node *n = &d->node[order[i]];
        const int operand[] = {n->a, n->b, n->c};
        has_choices = has_choices || n->op == NODE_SELECT;
        for (int k = 0; k < node_operands(n->op); k++)
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
    free(order);
    free(uses);
}

static void forget_parts(struct writer *w)
{
    free(w->is_named);
    w->is_named = NULL;
}

void writer_combine(struct writer *w, const char *a, const char *b)
{
    enum reduction r = w->k->stage.reduction;
    if (r == REDUCE_MAX || r == REDUCE_MIN)
        str_printf(w->out, "%s(%s, %s)", reduction_name(r), a, b);
    else
        str_printf(w->out, "%s %s %s", a, r == REDUCE_SUM ? "+" : "*", b);
}

static char *text_of(struct writer *w, void (*write)(struct writer *w))
{
    struct str text = {0}, *out = w->out;
    w->out = &text;
    write(w);
    w->out = out;
    return str_take(&text);
}

static void write_body(struct writer *w)
{
    writer_node(w, w->k->stage.body);
}

// Ansor's order of the parts: S3 and the virtual threads between R1 and R2, S4 within.
static void write_reduction(struct writer *w)
{
    if (w->t->doubles)
        writer_first_tile(w, 1);
    writer_loops(w, 1, 'o', TILE_LOOP);
    int depth = writer_begin(w, 1);
    if (w->t->variant->plan == PLAN_TILE)
        writer_reduced_bases(w, depth, NULL);
    (w->t->doubles ? writer_fetch_next : writer_fill)(w, depth);
    writer_loops(w, depth, 'm', TILE_MIDDLE);
    writer_loops(w, depth, 'v', TILE_VIRTUAL);
    writer_loops(w, depth, 'w', TILE_OUTER);
    writer_loops(w, depth, 'u', TILE_WRITTEN);
    writer_loops(w, depth, 'r', TILE_INNER);
    int inner = writer_begin(w, depth);
    writer_axes(w, inner, true);
    writer_guard(w, inner, false);
    int guarded = writer_begin(w, inner);
    int lane = writer_begin_lanes(w, guarded, w->k->stage.body);
    name_parts(w, lane, w->k->stage.body);
    char *old = text_of(w, writer_register), *new = text_of(w, write_body);
    writer_indent(w, lane);
    str_printf(w->out, "%s = ", old);
    if (w->k->stage.reduction == REDUCE_NONE)
        str_add(w->out, new);
    else
        writer_combine(w, old, new);
    str_add(w->out, ";\n");
    free(old);
    free(new);
    forget_parts(w);
    writer_end_lanes(w, lane);
    writer_end(w, guarded);
    writer_end(w, inner);
    if (w->t->doubles)
        writer_put_next(w, depth);
    writer_end(w, depth);
}

// Where the number of the axes lies among the kernel's.
static void write_place(struct writer *w)
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

static void write_target(struct writer *w)
{
    if (w->k->is_output)
        str_printf(w->out, "T_%s[", w->p->inlined.tensor[w->p->output].name);
    else
        str_printf(w->out, "T_scratch[%" PRIu64 " + ", w->k->scratch);
    if (tiling_reduced(w->t, TILE_ACROSS) > 1)
        str_printf(w->out, "across * %" PRId64 " + ", tiling_points(w->t));
    write_place(w);
    str_add_char(w->out, ']');
}

// Of all lanes, at once where they are neighbours in memory.
void writer_store(struct writer *w, int depth)
{
    const struct define_tensor *t = &w->p->inlined.tensor[w->p->output];
    bool wide = tiling_stores_wide(w->p, w->k, w->t);
    int lanes = tiling_lanes(w->t);
    if (wide)
        writer_line(w, depth, "%s%d stored;", vectors[t->element], lanes);
    int lane = writer_begin_lanes(w, depth, w->k->epilogue);
    if (w->k->epilogue >= 0)
        name_parts(w, lane, w->k->epilogue);
    writer_indent(w, lane);
    if (wide)
        str_add(w->out, "stored[l]");
    else
        write_target(w);
    str_add(w->out, " = ");
    // What becomes of a number, in the type in which it is stored.
    int stored = w->k->epilogue < 0 ? w->k->stage.body : w->k->epilogue;
    bool real = w->p->inlined.node[stored].is_real;
    enum element e = w->p->inlined.tensor[w->p->output].element;
    str_add(w->out, w->k->is_output ? scalars[e] : real ? "floatBitsToUint" : "uint");
    str_add_char(w->out, '(');
    if (w->k->epilogue < 0)
        writer_register(w);
    else
        writer_node(w, stored);
    str_add(w->out, ");\n");
    forget_parts(w);
    writer_end_lanes(w, lane);
    if (!wide)
        return;
    writer_indent(w, depth);
    str_printf(w->out, "V_%s[(", t->name);
    write_place(w);
    str_printf(w->out, ") / %d] = stored;\n", lanes);
}

static void write_store(struct writer *w)
{
    if (tiling_reduced(w->t, TILE_SHARED) > 1)
        writer_line(w, 1, "if (share == 0)");
    writer_loops(w, 1, 'v', TILE_VIRTUAL);
    writer_loops(w, 1, 'w', TILE_OUTER);
    writer_loops(w, 1, 'r', TILE_INNER);
    int depth = writer_begin(w, 1);
    writer_axes(w, depth, false);
    writer_guard(w, depth, true);
    depth = writer_begin(w, depth);
    writer_store(w, depth);
    writer_end(w, depth);
    writer_end(w, depth - 1);
}

// All that is read, once, in variables.
static void write_constant_reads(struct writer *w, int depth)
{
    const struct definition *d = &w->p->inlined;
    const struct constants *c = &w->k->constants;
    w->is_named = mem_zero((size_t)d->node_count, sizeof *w->is_named);
    for (int i = 0; i < c->reads; i++) {
        writer_indent(w, depth);
        str_printf(w->out, "const %s part%d = ", d->node[c->read[i]].is_real ? "float" : "int",
                   c->read[i]);
        writer_node(w, c->plain[i] < 0 ? c->read[i] : c->plain[i]);
        str_add(w->out, ";\n");
        w->is_named[c->read[i]] = true;
    }
}

// What is stored at each point of the constant tensors' axes.
static void write_constants(struct writer *w)
{
    const struct constants *c = &w->k->constants;
    enum element e = w->p->inlined.tensor[w->p->output].element;
    writer_loops(w, 1, 'v', TILE_VIRTUAL);
    int depth = writer_begin(w, 1);
    writer_axes(w, depth, false);
    write_constant_reads(w, depth);
    for (int i = 0; i < c->values; i++) {
        bool real = w->p->inlined.node[c->value[i]].is_real;
        int inner = writer_begin(w, depth);
        // The space axes of constant tensors at a point, the last one fastest.
        int64_t point = i;
        const struct define_stage *s = &w->k->stage;
        int64_t stride = w->k->constants.values;
        for (int a = 0; a < s->space; a++) {
            if (!(w->k->constants.axes >> a & 1))
                continue;
            stride /= s->extent[a];
            writer_line(w, inner, "const int _%s%d = %" PRId64 ";", s->axis[a], a,
                        point / stride % s->extent[a]);
        }
        writer_indent(w, inner);
        write_target(w);
        str_printf(w->out, " = %s(",
                   w->k->is_output ? scalars[e]
                   : real          ? "floatBitsToUint"
                                   : "uint");
        writer_node(w, c->value[i]);
        str_add(w->out, ");\n");
        writer_end(w, inner);
    }
    forget_parts(w);
    writer_end(w, depth);
}

// Where parts begin in scratch memory: of all kernels at the same place, one after the other.
static uint64_t first_part(const struct program *p)
{
    return p->scratch_bytes / 4;
}

// The parts of a number that workgroups made.
static void write_combination(struct writer *w)
{
    bool real = w->p->inlined.node[w->k->stage.body].is_real;
    int64_t parts = tiling_reduced(w->t, TILE_LOOP);
    int depth = writer_begin(w, 1);
    writer_axes(w, depth, false);
    writer_line(w, depth, "for (int part = 0; part < %" PRId64 "; part++) {", parts);
    writer_line(w, depth + 1,
                "const %s other = %s(T_scratch[%" PRIu64 " + part * %" PRId64 " + all]);",
                real ? "float" : "int", real ? "uintBitsToFloat" : "int", first_part(w->p),
                tiling_points(w->t));
    writer_indent(w, depth + 1);
    str_add(w->out, "value[0] = ");
    writer_combine(w, "value[0]", "other");
    str_add(w->out, ";\n");
    writer_line(w, depth, "}");
    writer_end(w, depth);
}

static void write_main(struct writer *w, bool is_second)
{
    int64_t sharing = tiling_reduced(w->t, TILE_SHARED);
    if (w->t->shape) {
        writer_units(w);
        return;
    }
    writer_origins(w);
    if (sharing > 1)
        writer_line(w, 1, "const int share = thread %% %" PRId64 ";", sharing);
    if (tiling_reduced(w->t, TILE_ACROSS) > 1)
        writer_line(w, 1, "const int across = int(gl_WorkGroupID.z);");
    if (w->t->variant->plan == PLAN_CONSTANT) {
        write_constants(w);
        return;
    }
    const struct define_stage *s = &w->k->stage;
    bool real = w->p->inlined.node[s->body].is_real;
    int64_t count = tiling_registers(w->t);
    double identity = reduction_identity(s->reduction);
    str_printf(w->out, "    %s value[%" PRId64 "];\n", real ? "float" : "int", count);
    if (s->reduction != REDUCE_NONE) {
        str_printf(
            w->out,
            "    [[unroll]] for (int i = 0; i < %" PRId64 "; i++)\n        value[i] = ", count);
        if (!real && isinf(identity))
            str_add(w->out, identity < 0 ? "(-2147483647 - 1)" : "2147483647");
        else
            writer_number(w, identity, real);
        str_add(w->out, ";\n");
    }
    (is_second ? write_combination : write_reduction)(w);
    if (sharing > 1)
        writer_exchange(w);
    write_store(w);
}

bool program_glsl(const struct program *p, int kernel, const struct tiling *t, bool is_second,
                  struct str *out)
{
    struct program_kernel k = p->kernel[kernel];
    bool is_split = tiling_reduced(t, TILE_ACROSS) > 1;
    if (is_split) { // what it stores are parts
        k.is_output = false;
        k.epilogue = -1;
        k.scratch = first_part(p);
    }
    struct str main = {0};
    struct writer w = {.p = p, .k = &k, .t = t, .out = &main, .stage = &k.stage, .prefix = "_"};
    w.uses_parts = is_split || is_second;
    write_main(&w, is_second);
    bool fits = !writer_is_full(&w);
    w.out = out;
    write_head(&w, str_text(&main));
    str_printf(out, "void main()\n{\n%s}\n", str_text(&main));
    str_finish(&main);
    return fits;
}
