// A definition as text:
//
//     tensor A f32 256 256
//     stage C f32 sum 256:i 256:j | 256:k = a0 a2 read0 a2 a1 read1 *
//
// Expressions in postfix; a read has its indices before it.
#include "define/definition.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- writing ---

static void write_node(const struct definition *d, int node, struct str *out)
{
    const struct node *n = &d->node[node];
    if (out->length > DEFINE_MAX_TEXT)
        return;
    for (int i = 0; n->op == NODE_READ && i < d->tensor[n->tensor].rank; i++)
        write_node(d, d->index[n->index + i], out);
    const int operand[] = {n->a, n->b, n->c};
    for (int i = 0; i < node_operands(n->op); i++)
        write_node(d, operand[i], out);
    switch (n->op) {
    case NODE_NUMBER:
        str_add(out, n->is_real ? " r" : " n");
        str_add_real(out, n->number);
        break;
    case NODE_AXIS: str_printf(out, " a%d", n->axis); break;
    case NODE_READ: str_printf(out, " read%d", n->tensor); break;
    case NODE_CAST: str_printf(out, " %s", element_name(n->element)); break;
    default: str_printf(out, " %s", node_op_name(n->op));
    }
}

static void write_stage(const struct definition *d, const struct define_stage *s, struct str *out)
{
    const struct define_tensor *t = &d->tensor[s->tensor];
    str_printf(out, "stage %s %s %s", t->name, element_name(t->element),
               reduction_name(s->reduction));
    for (int i = 0; i < s->space + s->reduce; i++)
        str_printf(out, "%s %" PRId64 ":%s", i == s->space ? " |" : "", s->extent[i], s->axis[i]);
    str_add(out, " =");
    write_node(d, s->body, out);
    str_add_char(out, '\n');
}

bool definition_write(const struct definition *d, struct str *out)
{
    for (int i = 0; i < d->inputs; i++) {
        const struct define_tensor *t = &d->tensor[i];
        str_printf(out, "tensor %s %s", t->name, element_name(t->element));
        for (int k = 0; k < t->rank; k++)
            str_printf(out, " %" PRId64, t->size[k]);
        str_add_char(out, '\n');
    }
    for (int i = 0; i < d->stage_count; i++)
        write_stage(d, &d->stage[i], out);
    return out->length <= DEFINE_MAX_TEXT;
}

// --- reading ---

enum { MOST_STACK = 1024, MOST_WORD = 80 };

struct words {
    struct definition *d;
    const char *at;
    char word[MOST_WORD];
    int stack[MOST_STACK], depth;
};

// The next word of the line; false at its end.
static bool next(struct words *w)
{
    w->at += strspn(w->at, " ");
    size_t length = strcspn(w->at, " \n");
    if (length == 0 || length >= MOST_WORD)
        return false;
    memcpy(w->word, w->at, length);
    w->word[length] = 0;
    w->at += length;
    return true;
}

static bool read_element(struct words *w, enum element *out)
{
    if (!next(w))
        return false;
    for (int i = 0; i < ELEMENT_COUNT; i++)
        if (str_equal(w->word, element_name((enum element)i))) {
            *out = (enum element)i;
            return true;
        }
    return false;
}

static bool read_size(const char *text, int64_t *out, const char **end)
{
    char *behind;
    *out = strtoll(text, &behind, 10);
    *end = behind;
    return behind > text && *out >= 1 && *out <= INT32_MAX;
}

// All of its numbers fit an index.
static bool fits(const int64_t *size, int count)
{
    double product = 1;
    for (int i = 0; i < count; i++)
        product *= (double)size[i];
    return product <= (double)INT32_MAX;
}

static bool read_tensor(struct words *w)
{
    struct define_tensor t = {.rank = 0};
    const char *end;
    if (w->d->stage_count || w->d->tensor_count == DEFINE_MAX_INPUTS || !next(w))
        return false;
    t.name = arena_strdup(&w->d->arena, w->word);
    if (!read_element(w, &t.element))
        return false;
    while (next(w))
        if (t.rank == DEFINE_MAX_RANK || !read_size(w->word, &t.size[t.rank++], &end) || *end)
            return false;
    definition_add_tensor(w->d, &t);
    w->d->inputs++;
    return t.rank >= 1 && fits(t.size, t.rank);
}

static bool push(struct words *w, int node)
{
    if (node < 0 || w->depth == MOST_STACK)
        return false;
    w->stack[w->depth++] = node;
    return true;
}

static bool push_read(struct words *w, const char *number)
{
    char *end;
    long tensor = strtol(number, &end, 10);
    if (end == number || *end || tensor < 0 || tensor >= w->d->tensor_count)
        return false;
    int rank = w->d->tensor[tensor].rank;
    if (w->depth < rank)
        return false;
    w->depth -= rank;
    for (int i = 0; i < rank; i++)
        if (w->d->node[w->stack[w->depth + i]].is_real)
            return false;
    return push(w, definition_read(w->d, (int)tensor, w->stack + w->depth, rank));
}

static bool push_op(struct words *w, enum node_op op)
{
    int operand[3] = {-1, -1, -1}, count = node_operands(op);
    if (w->depth < count)
        return false;
    w->depth -= count;
    memcpy(operand, w->stack + w->depth, (size_t)count * sizeof *operand);
    bool divides = op == NODE_FLOOR_DIVIDE || op == NODE_MODULO;
    const struct node *by = divides ? &w->d->node[operand[1]] : NULL;
    if (by &&
        (by->is_real || w->d->node[operand[0]].is_real || by->op != NODE_NUMBER || by->number < 1))
        return false;
    return push(w, definition_op(w->d, op, operand[0], operand[1], operand[2]));
}

static bool push_word(struct words *w, int axes)
{
    const char *rest = w->word + 1;
    char *end;
    for (int i = NODE_ADD; i < NODE_CAST; i++)
        if (str_equal(w->word, node_op_name((enum node_op)i)))
            return push_op(w, (enum node_op)i);
    for (int i = 0; i < ELEMENT_COUNT; i++)
        if (str_equal(w->word, element_name((enum element)i)))
            return w->depth > 0 &&
                   push(w, definition_cast(w->d, w->stack[--w->depth], (enum element)i));
    if (str_starts(w->word, "read"))
        return push_read(w, w->word + 4);
    if (*w->word == 'a') {
        long axis = strtol(rest, &end, 10);
        return end > rest && !*end && axis >= 0 && axis < axes &&
               push(w, definition_axis(w->d, (int)axis));
    }
    if (*w->word != 'n' && *w->word != 'r')
        return false;
    double number = strtod(rest, &end);
    return end > rest && !*end && isfinite(number) &&
           push(w, definition_number(w->d, number, *w->word == 'r'));
}

// "256:i" in the word.
static bool read_axis(struct words *w, struct define_stage *s)
{
    const char *end;
    int i = s->space + s->reduce;
    if (i == DEFINE_MAX_AXES || !read_size(w->word, &s->extent[i], &end) || *end != ':')
        return false;
    s->axis[i] = arena_strdup(&w->d->arena, end + 1);
    return true;
}

static bool read_axes(struct words *w, struct define_stage *s)
{
    bool is_reduced = false;
    while (next(w)) {
        if (str_equal(w->word, "="))
            return is_reduced == (s->reduction != REDUCE_NONE) && s->space <= DEFINE_MAX_RANK &&
                   s->reduce <= DEFINE_MAX_AXES - DEFINE_MAX_RANK;
        if (str_equal(w->word, "|")) {
            if (is_reduced)
                return false;
            is_reduced = true;
            continue;
        }
        if (!read_axis(w, s))
            return false;
        if (is_reduced)
            s->reduce++;
        else
            s->space++;
    }
    return false;
}

static bool read_stage(struct words *w)
{
    struct define_tensor t = {.rank = 0};
    struct define_stage s = {.reduction = REDUCE_COUNT};
    if (w->d->stage_count == DEFINE_MAX_STAGES || !next(w))
        return false;
    t.name = arena_strdup(&w->d->arena, w->word);
    if (!read_element(w, &t.element) || !next(w))
        return false;
    for (int i = 0; i < REDUCE_COUNT; i++)
        if (str_equal(w->word, reduction_name((enum reduction)i)))
            s.reduction = (enum reduction)i;
    if (s.reduction == REDUCE_COUNT || !read_axes(w, &s))
        return false;
    for (w->depth = 0; next(w);)
        if (!push_word(w, s.space + s.reduce))
            return false;
    if (w->depth != 1)
        return false;
    t.rank = s.space ? s.space : 1;
    t.size[0] = 1;
    memcpy(t.size, s.extent, (size_t)s.space * sizeof *t.size);
    s.body = w->stack[0];
    s.tensor = definition_add_tensor(w->d, &t);
    definition_add_stage(w->d, &s);
    return fits(t.size, t.rank);
}

bool definition_read_text(struct definition *d, const char *text, struct err *e)
{
    struct words *w = mem_zero(1, sizeof *w);
    int line = 1;
    bool ok = true;
    w->d = d;
    for (w->at = text; ok && *w->at; w->at += strspn(w->at, "\n"), line++) {
        ok = next(w) && (str_equal(w->word, "tensor")  ? read_tensor(w)
                         : str_equal(w->word, "stage") ? read_stage(w)
                                                       : false);
        ok = ok && (*w->at == '\n' || !*w->at);
        if (!ok)
            err_set(e, "line %d of a definition is none", line);
    }
    if (ok && d->stage_count == 0) {
        err_set(e, "a definition without a stage");
        ok = false;
    }
    free(w);
    return ok;
}
