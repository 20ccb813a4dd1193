// The kernels of a configuration as GLSL and as a job.
#include "define/writer.h"

#include "base/number.h"
#include "define/decoder.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Integer division in GLSL rounds towards 0; these functions round down.
static const char floor_divide[] = "\nint floor_divide(int a, int b)\n{\n"
                                   "    return a >= 0 ? a / b : -((b - 1 - a) / b);\n}\n";
static const char modulo[] = "\nint modulo(int a, int b)\n{\n"
                             "    return a - b * floor_divide(a, b);\n}\n";

// Declares the buffer of a tensor, T_NAME, or declares it again as vectors, V_NAME.
static void write_buffer(struct writer *w, int binding, const char *access, enum element e,
                         const char *name, bool as_vectors)
{
    str_printf(w->out, "layout(std430, binding = %d) restrict %s%sbuffer ", binding, access,
               *access ? " " : "");
    if (as_vectors)
        str_printf(w->out, "vectors%d { %s%d V_%s[]; };\n", binding, writer_element(e, true),
                   w->t->vector, name);
    else
        str_printf(w->out, "b%d { %s T_%s[]; };\n", binding,
                   e == ELEMENT_COUNT ? "uint" : writer_element(e, false), name);
}

// Writes what stands in front of `main`, whose text is known.
static void write_head(struct writer *w, const char *main)
{
    const struct definition *d = &w->p->inlined;
    const struct define_tensor *output = &d->tensor[w->p->output];
    bool uses[ELEMENT_COUNT] = {false};
    for (int i = 0; i < d->inputs; i++)
        uses[d->tensor[i].element] = true;
    if (w->k->is_output)
        uses[output->element] = true;
    if (w->t->shape)
        uses[w->k->product.element] = true; // f16 also where all tensors are f32
    str_add(w->out, "#version 450\n#extension GL_EXT_control_flow_attributes : require\n");
    if (uses[ELEMENT_F16] || uses[ELEMENT_BF16])
        str_add(w->out, "#extension GL_EXT_shader_16bit_storage : require\n");
    if (uses[ELEMENT_F16])
        str_add(w->out, "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n");
    if (uses[ELEMENT_BF16])
        str_add(w->out, "#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require\n");
    if (uses[ELEMENT_I8] || uses[ELEMENT_U8] || uses[ELEMENT_F8E4M3] || uses[ELEMENT_F8E5M2])
        str_add(w->out, "#extension GL_EXT_shader_8bit_storage : require\n"
                        "#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require\n");
    if (w->t->shape)
        writer_matrix_extensions(w);
    for (enum element e = 0; e < ELEMENT_COUNT; e++)
        if (uses[e])
            decoder_write(e, w->out);
    str_printf(w->out, "layout(local_size_x = %" PRId64 ") in;\n", tiling_threads(w->t));
    for (int i = 0; i < d->inputs; i++)
        write_buffer(w, i, "readonly", d->tensor[i].element, d->tensor[i].name, false);
    for (int i = 0; i < d->inputs; i++)
        if (w->reads_vectors[i])
            write_buffer(w, i, "readonly", d->tensor[i].element, d->tensor[i].name, true);
    if (w->k->is_output)
        write_buffer(w, d->inputs, "writeonly", output->element, output->name,
                     tiling_stores_vector(w->k, w->t));
    if (w->p->scratch_bytes || w->uses_parts) // 32 bits a number
        write_buffer(w, d->inputs + 1, w->k->is_output ? "readonly" : "", ELEMENT_COUNT, "scratch",
                     false);
    writer_declare_shared(w);
    if (w->t->shape)
        writer_matrix_macros(w);
    bool has_modulo = strstr(main, "modulo(");
    str_add(w->out, has_modulo || strstr(main, "floor_divide(") ? floor_divide : "");
    str_add(w->out, has_modulo ? modulo : "");
    str_add(w->out, "\n");
}

// --- main ---

// Writes the loops that compute the results, in Ansor's order of the parts: R0, R1, the virtual
// threads and S3, R2, S4.
static void write_reduction(struct writer *w)
{
    if (w->t->double_buffers)
        writer_stage_first(w, 1);
    writer_loops(w, 1, 'o', TILE_REDUCE_OUTER);
    int depth = writer_begin(w, 1);
    if (w->t->variant->plan == PLAN_TILE)
        writer_reduced_bases(w, depth, NULL);
    (w->t->double_buffers ? writer_fetch_next : writer_stage)(w, depth);
    writer_loops(w, depth, 'm', TILE_REDUCE_MIDDLE);
    writer_loops(w, depth, 'v', TILE_VIRTUAL);
    writer_loops(w, depth, 'w', TILE_OUTER);
    writer_loops(w, depth, 'u', TILE_REDUCE_INNER);
    writer_loops(w, depth, 'r', TILE_INNER);
    int inner = writer_begin(w, depth);
    writer_axes(w, inner, true);
    writer_guard(w, inner, false);
    int guarded = writer_begin(w, inner);
    int lane = writer_begin_lanes(w, guarded, w->k->stage.body);
    struct str result = {0}, value = {0}, *out = w->out;
    w->out = &result;
    writer_register(w);
    w->out = &value;
    writer_node(w, w->k->stage.body);
    w->out = out;
    writer_indent(w, lane);
    str_printf(w->out, "%s = ", str_text(&result));
    if (w->k->stage.reduction == REDUCE_NONE)
        str_add(w->out, str_text(&value));
    else
        writer_combine(w, str_text(&result), str_text(&value));
    str_add(w->out, ";\n");
    str_finish(&result);
    str_finish(&value);
    writer_end_lanes(w, lane);
    writer_end(w, guarded);
    writer_end(w, inner);
    if (w->t->double_buffers)
        writer_put_next(w, depth);
    writer_end(w, depth);
}

// Writes the loop of a kernel with PLAN_CONSTANT: its reads, each once, and a store for each value.
static void write_unrolled(struct writer *w)
{
    const struct unrolled *c = &w->k->unrolled;
    const struct definition *d = &w->p->inlined;
    const struct define_stage *s = &w->k->stage;
    const char *output = writer_element(d->tensor[w->p->output].element, false);
    writer_loops(w, 1, 'v', TILE_VIRTUAL);
    int depth = writer_begin(w, 1);
    writer_axes(w, depth, false);
    w->is_named = mem_zero((size_t)d->node_count, sizeof *w->is_named);
    for (int i = 0; i < c->reads; i++) {
        writer_indent(w, depth);
        str_printf(w->out, "const %s part%d = ", d->node[c->read[i]].is_real ? "float" : "int",
                   c->read[i]);
        writer_node(w, c->computed[i] < 0 ? c->read[i] : c->computed[i]);
        str_add(w->out, ";\n");
        w->is_named[c->read[i]] = true;
    }
    for (int i = 0; i < c->values; i++) {
        bool real = d->node[c->value[i]].is_real;
        int inner = writer_begin(w, depth);
        int64_t stride = c->values;
        for (int a = 0; a < s->space; a++) { // the coordinates of value i, the last axis fastest
            if (!(c->axes >> a & 1))
                continue;
            stride /= s->extent[a];
            writer_line(w, inner, "const int _%s%d = %" PRId64 ";", s->axis[a], a,
                        i / stride % s->extent[a]);
        }
        writer_indent(w, inner);
        writer_target(w);
        str_printf(w->out, " = %s(", w->k->is_output ? output : real ? "floatBitsToUint" : "uint");
        writer_node(w, c->value[i]);
        str_add(w->out, ");\n");
        writer_end(w, inner);
    }
    free(w->is_named);
    w->is_named = NULL;
    writer_end(w, depth);
}

// Writes the loop of a second pass, over the partial results of the workgroups.
static void write_combination(struct writer *w)
{
    bool real = w->p->inlined.node[w->k->stage.body].is_real;
    int depth = writer_begin(w, 1);
    writer_axes(w, depth, false);
    writer_line(w, depth, "for (int part = 0; part < %" PRId64 "; part++) {",
                tiling_reduced(w->t, TILE_REDUCE_OUTER));
    writer_line(w, depth + 1,
                "const %s other = %s(T_scratch[%" PRIu64 " + part * %" PRId64 " + all]);",
                real ? "float" : "int", real ? "uintBitsToFloat" : "int", w->p->scratch_bytes / 4,
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
    const struct define_stage *s = &w->k->stage;
    bool real = w->p->inlined.node[s->body].is_real;
    int64_t sharing = tiling_reduced(w->t, TILE_REDUCE_THREADS), count = tiling_registers(w->t);
    double identity = reduction_identity(s->reduction);
    if (w->t->shape) {
        writer_matrix_main(w);
        return;
    }
    writer_origins(w);
    if (sharing > 1)
        writer_line(w, 1, "const int share = thread %% %" PRId64 ";", sharing);
    if (tiling_reduced(w->t, TILE_REDUCE_GROUPS) > 1)
        writer_line(w, 1, "const int across = int(gl_WorkGroupID.z);");
    if (w->t->variant->plan == PLAN_CONSTANT) {
        write_unrolled(w);
        return;
    }
    writer_line(w, 1, "%s value[%" PRId64 "];", real ? "float" : "int", count);
    if (s->reduction != REDUCE_NONE) {
        writer_line(w, 1, "[[unroll]] for (int i = 0; i < %" PRId64 "; i++)", count);
        writer_indent(w, 2);
        str_add(w->out, "value[i] = ");
        if (!real && isinf(identity))
            str_add(w->out, identity < 0 ? "(-2147483647 - 1)" : "2147483647");
        else
            writer_number(w, identity, real);
        str_add(w->out, ";\n");
    }
    (is_second ? write_combination : write_reduction)(w);
    if (sharing > 1) {
        writer_reduce_shared(w);
        writer_line(w, 1, "if (share == 0)");
    }
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

// --- jobs ---

// False: the text is too long.
static bool add_pass(const struct program *p, int kernel, const struct tiling *t, bool is_second,
                     struct job *job)
{
    struct program_kernel k = p->kernel[kernel];
    bool is_split = tiling_reduced(t, TILE_REDUCE_GROUPS) > 1;
    if (is_split) { // it stores partial results, behind the results of all kernels
        k.is_output = false;
        k.epilogue = -1;
        k.scratch = p->scratch_bytes / 4;
    }
    struct str main = {0}, text = {0};
    struct writer w = {.p = p, .k = &k, .t = t, .out = &main, .stage = &k.stage, .prefix = "_"};
    w.uses_parts = is_split || is_second;
    write_main(&w, is_second);
    bool fits = main.length <= WRITER_MOST_TEXT;
    w.out = &text;
    write_head(&w, str_text(&main));
    str_printf(&text, "void main()\n{\n%s}\n", str_text(&main));
    str_finish(&main);
    struct pass *pass = job_add_pass(job);
    uint64_t groups[3];
    tiling_groups(t, groups);
    for (int i = 0; i < 3; i++)
        pass->groups[i] = (uint32_t)groups[i];
    if (t->shape && p->device.lanes != p->device.subgroup && !p->device.emulates)
        pass->subgroup = p->device.lanes;
    pass->glsl = str_take(&text);
    return fits;
}

bool program_job(const struct program *p, const struct config *c, const char *name, struct job *job,
                 struct err *e)
{
    bool fits = true;
    *job = (struct job){.scratch_bytes = p->scratch_bytes};
    for (int i = 0; i < p->kernel_count && fits; i++) {
        struct tiling t = program_tiling(p, i, c);
        int64_t parts = tiling_reduced(&t, TILE_REDUCE_GROUPS);
        fits = add_pass(p, i, &t, false, job);
        if (fits && parts > 1) {
            struct program_variant v;
            struct tiling second = tiling_second_pass(&t, &v);
            uint64_t bytes = p->scratch_bytes + 4 * (uint64_t)(parts * tiling_points(&t));
            job->scratch_bytes = uint64_max(job->scratch_bytes, bytes);
            fits = add_pass(p, i, &second, true, job);
        }
        if (!fits)
            err_set(e, "the kernel of %s would be too long",
                    p->inlined.tensor[p->kernel[i].stage.tensor].name);
    }
    for (int i = 0; i < job->pass_count; i++)
        job->pass[i].template_name = mem_strdup(name);
    if (!fits)
        job_finish(job);
    return fits;
}
