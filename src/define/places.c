// Where a kernel stands in its loops: their heads, the axes as constants, what is past an end, and
// the register of the number at hand.
#include "define/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NAME = 80 }; // names have 40 letters

// Where a workgroup's numbers begin along each loop, and an invocation's. Parts of the workgroup's
// number are loops' steps, the last loop's fastest; the first of several is y.
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

// How many numbers a step of the innermost part leads along.
static int32_t step_of(const struct writer *w, int loop)
{
    return loop == w->t->variant->loops.space - 1 ? tiling_lanes(w->t) : 1;
}

static void write_loop(struct writer *w, int depth, char kind, int loop, int part)
{
    int32_t length = w->t->part[loop][part];
    if (kind == 'r')
        length /= step_of(w, loop);
    bool is_space = loop < w->t->variant->loops.space;
    bool written = is_space ? w->t->variant->plan != PLAN_CONSTANT : tiling_is_written(w->t, part);
    if (length > 1)
        writer_line(w, depth, "%sfor (int %c%d = 0; %c%d < %" PRId32 "; %c%d++)",
                    written ? "[[unroll]] " : "", kind, loop, kind, loop, length, kind, loop);
}

void writer_loops(struct writer *w, int depth, char kind, int part)
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

// Of the innermost part, which goes in steps of all lanes.
static void write_inner(struct writer *w, int loop, int64_t stride)
{
    int32_t lanes = step_of(w, loop);
    if (w->t->part[loop][TILE_INNER] > lanes)
        write_term(w, 'r', loop, TILE_INNER, stride * lanes);
}

static void write_space_place(struct writer *w, int loop)
{
    const int32_t *part = w->t->part[loop];
    int32_t inner = part[TILE_INNER], outer = part[TILE_OUTER] * inner;
    str_printf(w->out, "first_%s%d", w->t->variant->loops.name[loop], loop);
    write_term(w, 'v', loop, TILE_VIRTUAL, (int64_t)part[TILE_THREADS] * outer);
    write_term(w, 'w', loop, TILE_OUTER, inner);
    write_inner(w, loop, 1);
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

// Where the step of the outer loops begins along each axis of the reduction.
void writer_reduced_bases(struct writer *w, int depth, const char *step)
{
    const struct define_stage *s = &w->k->stage;
    int64_t stride = tiling_reduced(w->t, TILE_LOOP);
    for (int a = s->space; a < s->space + s->reduce; a++) {
        const int32_t *part = w->t->part[a];
        int64_t reach = tiling_reach(w->t, a);
        stride /= part[TILE_LOOP];
        writer_indent(w, depth);
        str_printf(w->out, "const int base_%s%d = ", s->axis[a], a);
        if (step) {
            writer_digit(w, step, stride, part[TILE_LOOP], reach);
        } else {
            str_add_char(w->out, '0');
            write_term(w, 'o', a, TILE_LOOP, reach);
        }
        str_add(w->out, ";\n");
    }
}

void writer_digits(struct writer *w, int depth, const char *name, unsigned axes)
{
    const struct define_stage *s = &w->k->stage;
    int count = s->space + s->reduce;
    int64_t stride = 1;
    for (int a = 0; a < count; a++)
        stride *= axes >> a & 1 ? s->extent[a] : 1;
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

// The axes as constants, where the loops stand.
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
        (a < l->space ? write_space_place : write_reduced_place)(w, a);
        str_add(w->out, ";\n");
        if (guards)
            writer_line(w, depth, "const int %s%s = min(raw_%s, %" PRId64 ");", each ? "_" : "",
                        name, name, l->length[a] - 1);
    }
    unsigned space = (1U << s->space) - 1, ours = ~w->k->constants.axes; // not written out
    if (!each)
        writer_digits(w, depth, "all", space & ours);
    if (!each && reduces)
        writer_digits(w, depth, "part", ~space & ours);
}

// Before what is done only where no loop of these, over space or the reduction, is past its end.
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

int writer_begin(struct writer *w, int depth)
{
    writer_line(w, depth, "{");
    return depth + 1;
}

void writer_end(struct writer *w, int depth)
{
    writer_line(w, depth - 1, "}");
}

// The register's number counts all parts of all loops.
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
