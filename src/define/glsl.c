// One kernel of a program as GLSL, around its expressions.
#include "define/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINE = 512, MOST_NAME = 80 }; // names have 40 letters

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
    str_printf(w->out, "layout(local_size_x = %" PRId64 ") in;\n", tiling_threads(w->t));
    write_buffers(w);
    writer_shared(w);
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

// --- loops ---

// Where a workgroup's numbers begin along each loop, and an invocation's. Parts of the workgroup's
// number are loops' steps, the last loop's fastest; the first of several is y.
static void write_origins(struct writer *w)
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

static void write_loop(struct writer *w, int depth, char kind, int loop, int part)
{
    int32_t length = w->t->part[loop][part];
    bool is_space = loop < w->t->variant->loops.space;
    bool written = is_space || tiling_is_written(w->t, part);
    if (length > 1)
        writer_line(w, depth, "%sfor (int %c%d = 0; %c%d < %" PRId32 "; %c%d++)",
                    written ? "[[unroll]] " : "", kind, loop, kind, loop, length, kind, loop);
}

static void write_loops(struct writer *w, int depth, char kind, int part)
{
    const struct program_loops *l = &w->t->variant->loops;
    bool is_space = strchr("vwr", kind);
    int first = is_space ? 0 : l->space, count = is_space ? l->space : l->reduce;
    for (int a = first; a < first + count; a++)
        write_loop(w, depth, kind, a, part);
}

// " + o2 * 8", or nothing where the loop has one step.
static void write_term(struct writer *w, char kind, int loop, int part, int64_t stride)
{
    if (w->t->part[loop][part] > 1)
        str_printf(w->out, " + %c%d", kind, loop);
    if (w->t->part[loop][part] > 1 && stride > 1)
        str_printf(w->out, " * %" PRId64, stride);
}

static void write_space_place(struct writer *w, int loop)
{
    const int32_t *part = w->t->part[loop];
    int32_t inner = part[TILE_INNER], outer = part[TILE_OUTER] * inner;
    str_printf(w->out, "first_%s%d", w->t->variant->loops.name[loop], loop);
    write_term(w, 'v', loop, TILE_VIRTUAL, (int64_t)part[TILE_THREADS] * outer);
    write_term(w, 'w', loop, TILE_OUTER, inner);
    write_term(w, 'r', loop, TILE_INNER, 1);
}

// ((o * M + m) * W + u) * S + the invocation among those that share.
static void write_reduced_place(struct writer *w, int loop)
{
    const int32_t *part = w->t->part[loop];
    int64_t shared = part[TILE_SHARED], written = shared * part[TILE_WRITTEN];
    str_add(w->out, shared > 1 ? "share" : "0");
    if (part[TILE_ACROSS] > 1)
        str_printf(w->out, " + across * %" PRId64, written * part[TILE_MIDDLE] * part[TILE_LOOP]);
    write_term(w, 'o', loop, TILE_LOOP, written * part[TILE_MIDDLE]);
    write_term(w, 'm', loop, TILE_MIDDLE, written);
    write_term(w, 'u', loop, TILE_WRITTEN, shared);
}

// Axes `first` on as digits of what is called `name`.
static void write_digits(struct writer *w, int depth, const char *name, int first, int count)
{
    const struct define_stage *s = &w->k->stage;
    int64_t stride = stage_points(s, first, count);
    for (int a = first; a < first + count; a++) {
        stride /= s->extent[a];
        writer_indent(w, depth);
        str_printf(w->out, "const int _%s%d = ", s->axis[a], a);
        writer_digit(w, name, stride, s->extent[a], 1);
        str_add(w->out, ";\n");
    }
}

// The axes as constants, where the loops stand.
static void write_axes(struct writer *w, int depth, bool reduces)
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
        (a < l->space ? write_space_place : write_reduced_place)(w, a);
        str_add(w->out, ";\n");
        if (guards)
            writer_line(w, depth, "const int %s%s = min(raw_%s, %" PRId64 ");", each ? "_" : "",
                        name, name, l->length[a] - 1);
    }
    if (!each)
        write_digits(w, depth, "all", 0, s->space);
    if (!each && reduces)
        write_digits(w, depth, "part", s->space, s->reduce);
}

// Before what is done only where no loop of these, over space or the reduction, is past its end.
static void write_guard(struct writer *w, int depth, bool space)
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

static int begin_block(struct writer *w, int depth)
{
    writer_line(w, depth, "{");
    return depth + 1;
}

static void end_block(struct writer *w, int depth)
{
    writer_line(w, depth - 1, "}");
}

// The register's number counts all parts of all loops.
void writer_register(struct writer *w)
{
    const struct tiling *t = w->t;
    int64_t stride = 1;
    str_add(w->out, "value[0");
    for (int a = t->variant->loops.space - 1; a >= 0; a--) {
        const int32_t *part = t->part[a];
        write_term(w, 'r', a, TILE_INNER, stride);
        write_term(w, 'w', a, TILE_OUTER, stride * part[TILE_INNER]);
        write_term(w, 'v', a, TILE_VIRTUAL, stride * part[TILE_INNER] * part[TILE_OUTER]);
        stride *= (int64_t)part[TILE_INNER] * part[TILE_OUTER] * part[TILE_VIRTUAL];
    }
    str_add_char(w->out, ']');
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

static void write_update(struct writer *w, int depth)
{
    name_parts(w, depth, w->k->stage.body);
    char *old = text_of(w, writer_register), *new = text_of(w, write_body);
    writer_indent(w, depth);
    str_printf(w->out, "%s = ", old);
    if (w->k->stage.reduction == REDUCE_NONE)
        str_add(w->out, new);
    else
        writer_combine(w, old, new);
    str_add(w->out, ";\n");
    free(old);
    free(new);
    forget_parts(w);
}

static void write_identity(struct writer *w)
{
    const struct define_stage *s = &w->k->stage;
    bool real = w->p->inlined.node[s->body].is_real;
    int64_t count = tiling_registers(w->t);
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

// Where the step of the outer loops begins along each axis of the reduction.
static void write_reduced_bases(struct writer *w, int depth)
{
    const struct define_stage *s = &w->k->stage;
    for (int a = s->space; a < s->space + s->reduce; a++) {
        writer_indent(w, depth);
        str_printf(w->out, "const int base_%s%d = 0", s->axis[a], a);
        write_term(w, 'o', a, TILE_LOOP,
                   (int64_t)w->t->part[a][TILE_MIDDLE] * w->t->part[a][TILE_WRITTEN]);
        str_add(w->out, ";\n");
    }
}

// Ansor's order of the parts: S3 and the virtual threads between R1 and R2, S4 within.
static void write_reduction(struct writer *w)
{
    write_loops(w, 1, 'o', TILE_LOOP);
    int depth = begin_block(w, 1);
    if (w->t->variant->plan == PLAN_TILE)
        write_reduced_bases(w, depth);
    writer_fill(w, depth);
    write_loops(w, depth, 'm', TILE_MIDDLE);
    write_loops(w, depth, 'v', TILE_VIRTUAL);
    write_loops(w, depth, 'w', TILE_OUTER);
    write_loops(w, depth, 'u', TILE_WRITTEN);
    write_loops(w, depth, 'r', TILE_INNER);
    int inner = begin_block(w, depth);
    write_axes(w, inner, true);
    write_guard(w, inner, false);
    int guarded = begin_block(w, inner);
    write_update(w, guarded);
    end_block(w, guarded);
    end_block(w, inner);
    end_block(w, depth);
}

static void write_store(struct writer *w)
{
    const struct define_stage *s = &w->k->stage;
    const struct define_tensor *t = &w->p->inlined.tensor[w->p->output];
    int stored = w->k->epilogue < 0 ? s->body : w->k->epilogue;
    bool real = w->p->inlined.node[stored].is_real;
    if (tiling_reduced(w->t, TILE_SHARED) > 1)
        writer_line(w, 1, "if (share == 0)");
    write_loops(w, 1, 'v', TILE_VIRTUAL);
    write_loops(w, 1, 'w', TILE_OUTER);
    write_loops(w, 1, 'r', TILE_INNER);
    int depth = begin_block(w, 1);
    write_axes(w, depth, false);
    write_guard(w, depth, true);
    depth = begin_block(w, depth);
    if (w->k->epilogue >= 0)
        name_parts(w, depth, stored);
    writer_indent(w, depth);
    if (w->k->is_output)
        str_printf(w->out, "T_%s[", t->name);
    else
        str_printf(w->out, "T_scratch[%" PRIu64 " + ", w->k->scratch);
    if (tiling_reduced(w->t, TILE_ACROSS) > 1)
        str_printf(w->out, "across * %" PRId64 " + ", tiling_points(w->t));
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
    end_block(w, depth);
    end_block(w, depth - 1);
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
    int depth = begin_block(w, 1);
    write_axes(w, depth, false);
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
    end_block(w, depth);
}

static void write_main(struct writer *w, bool is_second)
{
    int64_t sharing = tiling_reduced(w->t, TILE_SHARED);
    write_origins(w);
    if (sharing > 1)
        writer_line(w, 1, "const int share = thread %% %" PRId64 ";", sharing);
    if (tiling_reduced(w->t, TILE_ACROSS) > 1)
        writer_line(w, 1, "const int across = int(gl_WorkGroupID.z);");
    write_identity(w);
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
