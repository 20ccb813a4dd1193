// Several numbers of an invocation at once, neighbours along the last axis: what is read of all of
// them is one vector, what is read for all alike is read once, and the rest stands in a loop over
// the lanes that is written out.
#include "define/writer.h"

#include <inttypes.h>
#include <stdlib.h>

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
