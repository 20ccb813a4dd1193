// One kernel of a program as GLSL, around its expressions.
#include "define/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const scalars[ELEMENT_COUNT] = {"float", "float16_t", "int8_t", "int"};

static bool uses_element(const struct definition *d, const struct program_kernel *k, enum element e)
{
    for (int i = 0; i < d->inputs; i++)
        if (d->tensor[i].element == e)
            return true;
    return k->is_output && d->tensor[d->tensor_count - 1].element == e;
}

static void write_buffers(struct writer *w)
{
    const struct definition *d = &w->p->inlined;
    int output = w->p->output, binding = 0;
    const char *form = "layout(std430, binding = %d) restrict %sbuffer b%d { %s T_%s[]; };\n";
    for (; binding < d->inputs; binding++)
        str_printf(w->out, form, binding, "readonly ", binding, scalars[d->tensor[binding].element],
                   d->tensor[binding].name);
    if (w->k->is_output)
        str_printf(w->out, form, binding, "writeonly ", binding, scalars[d->tensor[output].element],
                   d->tensor[output].name);
    binding++;
    if (w->p->scratch_bytes)
        str_printf(w->out, form, binding, w->k->is_output ? "readonly " : "", binding, "uint",
                   "scratch");
}

static void write_head(struct writer *w)
{
    const struct definition *d = &w->p->inlined;
    str_add(w->out, "#version 450\n#extension GL_EXT_control_flow_attributes : require\n");
    if (uses_element(d, w->k, ELEMENT_F16))
        str_add(w->out, "#extension GL_EXT_shader_16bit_storage : require\n"
                        "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n");
    if (uses_element(d, w->k, ELEMENT_I8))
        str_add(w->out, "#extension GL_EXT_shader_8bit_storage : require\n"
                        "#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require\n");
    str_printf(w->out, "layout(local_size_x = %" PRId64 ") in;\n",
               tiling_product(w->t, &w->k->stage, TILE_THREADS));
    write_buffers(w);
    str_add(w->out, "\nint floor_divide(int a, int b)\n{\n"
                    "    return a >= 0 ? a / b : -((b - 1 - a) / b);\n}\n"
                    "\nint modulo(int a, int b)\n{\n"
                    "    return a - b * floor_divide(a, b);\n}\n\n");
}

// Where the first number of an invocation lies on each axis: those of its neighbours lie between
// its own.
static void write_origins(struct writer *w)
{
    const struct define_stage *s = &w->k->stage;
    int first = s->space > 1;
    int64_t thread = tiling_product(w->t, s, TILE_THREADS), group = 1;
    for (int a = first; a < s->space; a++)
        group *= w->t->part[a][TILE_GROUPS];
    str_add(w->out, "    const int thread = int(gl_LocalInvocationID.x);\n"
                    "    const int group = int(gl_WorkGroupID.x);\n");
    for (int a = 0; a < s->space; a++) {
        const int32_t *part = w->t->part[a];
        thread /= part[TILE_THREADS];
        if (a >= first)
            group /= part[TILE_GROUPS];
        str_printf(w->out, "    const int first_%s%d = ", s->axis[a], a);
        if (a < first)
            str_add(w->out, "int(gl_WorkGroupID.y)");
        else
            str_printf(w->out, "group / %" PRId64 " %% %" PRId32, group, part[TILE_GROUPS]);
        str_printf(w->out, " * %" PRId32 " + thread / %" PRId64 " %% %" PRId32 ";\n",
                   part[TILE_THREADS] * part[TILE_REGISTERS], thread, part[TILE_THREADS]);
    }
}

static void indent(struct writer *w, int depth)
{
    for (int i = 0; i < depth; i++)
        str_add(w->out, "    ");
}

static void write_loop(struct writer *w, int depth, const char *kind, int axis, int32_t length)
{
    indent(w, depth);
    str_printf(w->out, "%sfor (int %s%d = 0; %s%d < %" PRId32 "; %s%d++)\n",
               *kind == 'o' ? "" : "[[unroll]] ", kind, axis, kind, axis, length, kind, axis);
}

// The loops over the block in registers, and its axes as constants. Gives the new depth.
static int begin_block(struct writer *w, int depth)
{
    const struct define_stage *s = &w->k->stage;
    for (int a = 0; a < s->space; a++)
        if (w->t->part[a][TILE_REGISTERS] > 1)
            write_loop(w, depth, "r", a, w->t->part[a][TILE_REGISTERS]);
    indent(w, depth++);
    str_add(w->out, "{\n");
    for (int a = 0; a < s->space; a++) {
        indent(w, depth);
        str_printf(w->out, "const int _%s%d = first_%s%d", s->axis[a], a, s->axis[a], a);
        if (w->t->part[a][TILE_REGISTERS] > 1)
            str_printf(w->out, " + r%d * %" PRId32, a, w->t->part[a][TILE_THREADS]);
        str_add(w->out, ";\n");
    }
    return depth;
}

static void end_block(struct writer *w, int depth)
{
    indent(w, depth);
    str_add(w->out, "}\n");
}

void writer_register(struct writer *w)
{
    str_add(w->out, "value[");
    int terms = 0;
    for (int a = 0; a < w->k->stage.space; a++) {
        int64_t stride = 1;
        for (int b = a + 1; b < w->k->stage.space; b++)
            stride *= w->t->part[b][TILE_REGISTERS];
        if (w->t->part[a][TILE_REGISTERS] > 1)
            str_printf(w->out, "%sr%d * %" PRId64, terms++ ? " + " : "", a, stride);
    }
    str_add(w->out, terms ? "]" : "0]");
}

// What an expression uses twice is computed once, in a variable, unless conditions say when it may
// be.
static void name_parts(struct writer *w, int depth, int body)
{
    const struct definition *d = &w->p->inlined;
    int *order = mem_alloc(((size_t)body + 1) * sizeof *order);
    int *uses = mem_zero((size_t)body + 1, sizeof *uses),
        count = definition_computed(d, body, order);
    w->is_named = mem_zero((size_t)body + 1, sizeof *w->is_named);
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
        indent(w, depth);
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

static void write_update(struct writer *w, int depth)
{
    const struct define_stage *s = &w->k->stage;
    name_parts(w, depth, s->body);
    indent(w, depth);
    writer_register(w);
    str_add(w->out, " = ");
    if (s->reduction == REDUCE_MAX || s->reduction == REDUCE_MIN) {
        str_printf(w->out, "%s(", reduction_name(s->reduction));
        writer_register(w);
        str_add(w->out, ", ");
        writer_node(w, s->body);
        str_add_char(w->out, ')');
    } else {
        if (s->reduction != REDUCE_NONE)
            writer_register(w);
        str_add(w->out, s->reduction == REDUCE_SUM       ? " + "
                        : s->reduction == REDUCE_PRODUCT ? " * "
                                                         : "");
        writer_node(w, s->body);
    }
    str_add(w->out, ";\n");
    forget_parts(w);
}

static void write_identity(struct writer *w)
{
    const struct define_stage *s = &w->k->stage;
    bool real = w->p->inlined.node[s->body].is_real;
    int64_t count = tiling_product(w->t, s, TILE_REGISTERS);
    double identity = reduction_identity(s->reduction);
    str_printf(w->out, "    %s value[%" PRId64 "];\n", real ? "float" : "int", count);
    if (s->reduction == REDUCE_NONE)
        return;
    str_printf(w->out,
               "    [[unroll]] for (int i = 0; i < %" PRId64 "; i++)\n        value[i] = ", count);
    if (!real && isinf(identity))
        str_add(w->out, identity < 0 ? "(-2147483647 - 1)" : "2147483647");
    else
        writer_number(w, identity, real);
    str_add(w->out, ";\n");
}

static void write_reduction(struct writer *w)
{
    const struct define_stage *s = &w->k->stage;
    int depth = 1;
    for (int part = TILE_LOOP; part <= TILE_WRITTEN; part++)
        for (int a = s->space; a < s->space + s->reduce; a++)
            if (w->t->part[a][part] > 1)
                write_loop(w, depth, part == TILE_LOOP ? "o" : "u", a, w->t->part[a][part]);
    indent(w, depth++);
    str_add(w->out, "{\n");
    for (int a = s->space; a < s->space + s->reduce; a++) {
        indent(w, depth);
        str_printf(w->out, "const int _%s%d = ", s->axis[a], a);
        if (w->t->part[a][TILE_LOOP] > 1)
            str_printf(w->out, "o%d * %" PRId32, a, w->t->part[a][TILE_WRITTEN]);
        if (w->t->part[a][TILE_WRITTEN] > 1)
            str_printf(w->out, "%su%d", w->t->part[a][TILE_LOOP] > 1 ? " + " : "", a);
        if (w->t->part[a][TILE_LOOP] == 1 && w->t->part[a][TILE_WRITTEN] == 1)
            str_add(w->out, "0");
        str_add(w->out, ";\n");
    }
    int inner = begin_block(w, depth);
    write_update(w, inner);
    end_block(w, inner - 1);
    end_block(w, depth - 1);
}

static void write_store(struct writer *w)
{
    const struct define_stage *s = &w->k->stage;
    const struct define_tensor *t = &w->p->inlined.tensor[w->p->output];
    int stored = w->k->epilogue < 0 ? s->body : w->k->epilogue;
    bool real = w->p->inlined.node[stored].is_real;
    int depth = begin_block(w, 1);
    if (w->k->epilogue >= 0)
        name_parts(w, depth, stored);
    indent(w, depth);
    if (w->k->is_output)
        str_printf(w->out, "T_%s[", t->name);
    else
        str_printf(w->out, "T_scratch[%" PRIu64 " + ", w->k->scratch);
    for (int i = 1; i < s->space; i++)
        str_add_char(w->out, '(');
    for (int i = 0; i < s->space; i++) {
        if (i > 0)
            str_printf(w->out, ") * %" PRId64 " + ", s->extent[i]);
        str_printf(w->out, "_%s%d", s->axis[i], i);
    }
    str_add(w->out, s->space ? "] = " : "0] = ");
    str_add(w->out, w->k->is_output ? scalars[t->element] : real ? "floatBitsToUint" : "uint");
    str_add_char(w->out, '(');
    if (w->k->epilogue < 0)
        writer_register(w);
    else
        writer_node(w, stored);
    str_add(w->out, ");\n");
    forget_parts(w);
    end_block(w, depth - 1);
}

bool program_glsl(const struct program *p, int kernel, const struct tiling *t, struct str *out)
{
    struct writer w = {.p = p, .k = &p->kernel[kernel], .t = t, .out = out};
    write_head(&w);
    str_add(out, "void main()\n{\n");
    write_origins(&w);
    write_identity(&w);
    write_reduction(&w);
    write_store(&w);
    str_add(out, "}\n");
    return !writer_is_full(&w);
}
