// An expression as GLSL.
#include "define/bounds.h"
#include "define/writer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

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

// GLSL's own round towards 0, and leave open what a remainder of a negative number is.
static void write_whole_division(struct writer *w, const struct node *n)
{
    bool divides = n->op == NODE_FLOOR_DIVIDE;
    struct range a = bounds_range(&w->p->inlined, w->stage, n->a, NULL);
    if (a.low >= 0)
        write_infix(w, divides ? "/" : "%", n, false);
    else
        write_call(w, divides ? "floor_divide" : "modulo", n->a, n->b, false);
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
    case NODE_MODULO: write_whole_division(w, n); break;
    case NODE_MIN:
    case NODE_MAX:
    case NODE_EXP:
    case NODE_SQRT:
    case NODE_TANH: write_call(w, node_op_name(n->op), n->a, n->b, real); break;
    case NODE_SELECT: write_select(w, n); break;
    default: write_cast(w, n);
    }
}
