#include "define/definition.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int operands;
} ops[NODE_OP_COUNT] = {
    [NODE_NUMBER] = {"number", 0}, [NODE_AXIS] = {"axis", 0},       [NODE_READ] = {"read", 0},
    [NODE_ADD] = {"+", 2},         [NODE_SUBTRACT] = {"-", 2},      [NODE_MULTIPLY] = {"*", 2},
    [NODE_DIVIDE] = {"/", 2},      [NODE_FLOOR_DIVIDE] = {"//", 2}, [NODE_MODULO] = {"%", 2},
    [NODE_MIN] = {"min", 2},       [NODE_MAX] = {"max", 2},         [NODE_EXP] = {"exp", 1},
    [NODE_SQRT] = {"sqrt", 1},     [NODE_TANH] = {"tanh", 1},       [NODE_LESS] = {"<", 2},
    [NODE_AT_MOST] = {"<=", 2},    [NODE_EQUAL] = {"==", 2},        [NODE_SELECT] = {"?", 3},
    [NODE_CAST] = {"cast", 1},
};

static const char *const reductions[REDUCE_COUNT] = {"map", "sum", "max", "min", "product"};

const char *node_op_name(enum node_op op)
{
    return ops[op].name;
}

int node_operands(enum node_op op)
{
    return ops[op].operands;
}

const char *reduction_name(enum reduction r)
{
    return reductions[r];
}

double reduction_identity(enum reduction r)
{
    return r == REDUCE_MAX ? -INFINITY : r == REDUCE_MIN ? INFINITY : r == REDUCE_PRODUCT ? 1 : 0;
}

int64_t define_tensor_count(const struct define_tensor *t)
{
    int64_t count = 1;
    for (int i = 0; i < t->rank; i++)
        count *= t->size[i];
    return count;
}

int64_t stage_points(const struct define_stage *s, int first, int count)
{
    int64_t points = 1;
    for (int i = first; i < first + count; i++)
        points *= s->extent[i];
    return points;
}

int64_t stage_points_of(const struct define_stage *s, unsigned axes)
{
    int64_t points = 1;
    for (int a = 0; a < s->space + s->reduce; a++)
        points *= axes >> a & 1 ? s->extent[a] : 1;
    return points;
}

void definition_finish(struct definition *d)
{
    arena_finish(&d->arena);
    free(d->node);
    free(d->index);
    *d = (struct definition){0};
}

int definition_add_tensor(struct definition *d, const struct define_tensor *t)
{
    struct define_tensor *copy = &d->tensor[d->tensor_count];
    *copy = *t;
    copy->name = arena_strdup(&d->arena, t->name);
    return d->tensor_count++;
}

void definition_add_stage(struct definition *d, const struct define_stage *s)
{
    struct define_stage *copy = &d->stage[d->stage_count++];
    *copy = *s;
    for (int i = 0; i < s->space + s->reduce; i++)
        copy->axis[i] = arena_strdup(&d->arena, s->axis[i]);
}

// --- nodes ---

// Returns the equal node of the pool, or adds it.
static int add(struct definition *d, const struct node *n)
{
    size_t rank = n->op == NODE_READ ? (size_t)d->tensor[n->tensor].rank : 0;
    for (int i = 0; i < d->node_count; i++) {
        const struct node *x = &d->node[i];
        if (x->op == n->op && x->is_real == n->is_real && x->a == n->a && x->b == n->b &&
            x->c == n->c && x->tensor == n->tensor && x->axis == n->axis &&
            memcmp(&x->number, &n->number, sizeof x->number) == 0 && x->element == n->element &&
            (!rank ||
             memcmp(d->index + x->index, d->index + n->index, rank * sizeof *d->index) == 0))
            return i;
    }
    if (d->node_count == DEFINE_MAX_NODES)
        return -1;
    MEM_GROW(d->node, d->node_count, d->node_capacity);
    d->node[d->node_count] = *n;
    return d->node_count++;
}

static struct node blank(enum node_op op, bool is_real)
{
    return (struct node){
        .op = op, .is_real = is_real, .a = -1, .b = -1, .c = -1, .tensor = -1, .axis = -1};
}

int definition_number(struct definition *d, double number, bool is_real)
{
    struct node n = blank(NODE_NUMBER, is_real);
    n.number = number == 0 ? 0 : number; // no -0
    return add(d, &n);
}

int definition_axis(struct definition *d, int axis)
{
    struct node n = blank(NODE_AXIS, false);
    n.axis = axis;
    return add(d, &n);
}

int definition_read(struct definition *d, int tensor, const int *index, int count)
{
    struct node n = blank(NODE_READ, d->tensor[tensor].element <= ELEMENT_F16);
    int first = d->index_count, nodes = d->node_count;
    n.tensor = tensor;
    n.index = first;
    for (int i = 0; i < count; i++) {
        if (index[i] < 0)
            return -1;
        MEM_GROW(d->index, d->index_count, d->index_capacity);
        d->index[d->index_count++] = index[i];
    }
    int found = add(d, &n);
    if (found != nodes) // an old one
        d->index_count = first;
    return found;
}

int definition_cast(struct definition *d, int a, enum element element)
{
    struct node n = blank(NODE_CAST, element <= ELEMENT_F16);
    n.a = a;
    n.element = element;
    return a < 0 ? -1 : add(d, &n);
}

bool definition_is_number(const struct definition *d, int node, double number)
{
    return d->node[node].op == NODE_NUMBER && d->node[node].number == number;
}

int definition_op(struct definition *d, enum node_op op, int a, int b, int c)
{
    int operands = node_operands(op);
    if (a < 0 || (operands > 1 && b < 0) || (operands > 2 && c < 0))
        return -1;
    if (op == NODE_SELECT && b == c)
        return b;
    if (operands == 2 && !d->node[a].is_real && !d->node[b].is_real) {
        // Sums with 0, products with 0 and 1, and operations on constants are simplified.
        double x = d->node[a].number, y = d->node[b].number;
        bool adds = op == NODE_ADD || op == NODE_SUBTRACT;
        bool is_constant = d->node[a].op == NODE_NUMBER && d->node[b].op == NODE_NUMBER;
        if ((op == NODE_ADD && definition_is_number(d, a, 0)) ||
            (op == NODE_MULTIPLY && definition_is_number(d, a, 1)))
            return b;
        if ((adds && definition_is_number(d, b, 0)) ||
            ((op == NODE_MULTIPLY || op == NODE_FLOOR_DIVIDE) && definition_is_number(d, b, 1)))
            return a;
        if (op == NODE_MULTIPLY && (definition_is_number(d, a, 0) || definition_is_number(d, b, 0)))
            return definition_number(d, 0, false);
        if (is_constant && op <= NODE_MULTIPLY)
            return definition_number(d,
                                     op == NODE_ADD        ? x + y
                                     : op == NODE_SUBTRACT ? x - y
                                                           : x * y,
                                     false);
    }
    bool is_compared = op == NODE_LESS || op == NODE_AT_MOST || op == NODE_EQUAL;
    bool is_real = op == NODE_DIVIDE || op == NODE_EXP || op == NODE_SQRT || op == NODE_TANH ||
                   (op != NODE_SELECT && d->node[a].is_real) || (b >= 0 && d->node[b].is_real) ||
                   (op == NODE_SELECT && d->node[c].is_real);
    struct node n = blank(op, is_real && !is_compared);
    n.a = a;
    n.b = operands > 1 ? b : -1;
    n.c = operands > 2 ? c : -1;
    return add(d, &n);
}

// --- walks ---

// Marks the nodes of an expression; `all`: those of indices and conditions too. Parts are shared: a
// walk along all paths to them could take forever, so the pool is walked once from the end.
static bool *marked(const struct definition *d, int node, bool all)
{
    bool *mark = mem_zero((size_t)node + 1, sizeof *mark);
    mark[node] = true;
    for (int i = node; i >= 0; i--) {
        const struct node *n = &d->node[i];
        if (!mark[i])
            continue;
        for (int k = 0; all && n->op == NODE_READ && k < d->tensor[n->tensor].rank; k++)
            mark[d->index[n->index + k]] = true;
        if (n->a >= 0 && (all || n->op != NODE_SELECT))
            mark[n->a] = true;
        if (n->b >= 0)
            mark[n->b] = true;
        if (n->c >= 0)
            mark[n->c] = true;
    }
    return mark;
}

static int list_nodes(const struct definition *d, int node, bool all, int *out)
{
    bool *mark = marked(d, node, all);
    int count = 0;
    for (int i = 0; i <= node; i++)
        if (mark[i])
            out[count++] = i;
    free(mark);
    return count;
}

int definition_nodes_of(const struct definition *d, int node, int *out)
{
    return list_nodes(d, node, true, out);
}

int definition_value_nodes(const struct definition *d, int node, int *out)
{
    return list_nodes(d, node, false, out);
}

int definition_unconditional_reads(const struct definition *d, int node, int *out)
{
    bool *mark = mem_zero((size_t)node + 1, sizeof *mark);
    int count = 0;
    mark[node] = true;
    for (int i = node; i >= 0; i--) {
        const struct node *n = &d->node[i];
        const int operand[] = {n->a, n->b, n->c};
        if (mark[i] && n->op == NODE_READ)
            out[count++] = i;
        for (int k = 0; mark[i] && n->op != NODE_SELECT && k < node_operands(n->op); k++)
            mark[operand[k]] = true;
    }
    free(mark);
    return count;
}

int definition_reads_of(const struct definition *d, int node, int tensor)
{
    int *order = mem_alloc(((size_t)node + 1) * sizeof *order), reads = 0;
    int count = definition_nodes_of(d, node, order);
    for (int i = 0; i < count; i++)
        reads += d->node[order[i]].op == NODE_READ && d->node[order[i]].tensor == tensor;
    free(order);
    return reads;
}

int definition_substitute(struct definition *d, int node, const int *axis, const int *expression)
{
    bool *mark = marked(d, node, true);
    int *made = mem_alloc(((size_t)node + 1) * sizeof *made);
    for (int i = 0; i <= node; i++) {
        const struct node n = d->node[i]; // the pool moves
        if (!mark[i])
            continue;
        switch (n.op) {
        case NODE_NUMBER: made[i] = i; break;
        case NODE_AXIS: made[i] = axis ? axis[n.axis] : i; break;
        case NODE_READ: {
            int index[DEFINE_MAX_RANK], rank = d->tensor[n.tensor].rank;
            for (int j = 0; j < rank; j++)
                index[j] = made[d->index[n.index + j]];
            int instead = expression ? expression[n.tensor] : -1;
            made[i] = instead < 0 ? definition_read(d, n.tensor, index, rank)
                                  : definition_substitute(d, instead, index, NULL);
        } break;
        case NODE_CAST: made[i] = definition_cast(d, made[n.a], n.element); break;
        default:
            made[i] = definition_op(d, n.op, made[n.a], n.b < 0 ? -1 : made[n.b],
                                    n.c < 0 ? -1 : made[n.c]);
        }
        if (made[i] < 0) {
            node = i;
            break;
        }
    }
    int result = made[node];
    free(mark);
    free(made);
    return result;
}

bool definition_affine(const struct definition *d, int node, double factor, double *coefficient)
{
    const struct node *n = &d->node[node];
    switch (n->op) {
    case NODE_NUMBER: coefficient[DEFINE_MAX_AXES] += factor * n->number; return true;
    case NODE_AXIS: coefficient[n->axis] += factor; return true;
    case NODE_ADD:
    case NODE_SUBTRACT: {
        bool first = definition_affine(d, n->a, factor, coefficient);
        double sign = n->op == NODE_ADD ? factor : -factor;
        return definition_affine(d, n->b, sign, coefficient) && first;
    }
    case NODE_MULTIPLY:
        if (d->node[n->b].op == NODE_NUMBER)
            return definition_affine(d, n->a, factor * d->node[n->b].number, coefficient);
        if (d->node[n->a].op == NODE_NUMBER)
            return definition_affine(d, n->b, factor * d->node[n->a].number, coefficient);
        return false;
    case NODE_FLOOR_DIVIDE:
    case NODE_MODULO: definition_affine(d, n->a, factor, coefficient); return false;
    case NODE_SELECT: definition_affine(d, n->b, factor, coefficient); return false;
    default: return false;
    }
}

bool definition_affine_place(const struct definition *d, int read, double *coefficient)
{
    const struct node *n = &d->node[read];
    const struct define_tensor *t = &d->tensor[n->tensor];
    double stride = 1;
    bool affine = true;
    for (int i = t->rank - 1; i >= 0; i--) {
        affine = definition_affine(d, d->index[n->index + i], stride, coefficient) && affine;
        stride *= (double)t->size[i];
    }
    return affine;
}

bool definition_depends(const struct definition *d, int node, int axis)
{
    bool *mark = marked(d, node, true), found = false;
    for (int i = 0; i <= node; i++)
        found = found || (mark[i] && d->node[i].op == NODE_AXIS && d->node[i].axis == axis);
    free(mark);
    return found;
}

// --- costs ---

double definition_flop(const struct definition *d)
{
    double sum = 0;
    for (int i = 0; i < d->stage_count; i++) {
        const struct define_stage *s = &d->stage[i];
        bool *mark = marked(d, s->body, false);
        int count = s->reduction != REDUCE_NONE;
        for (int k = 0; k <= s->body; k++)
            count += mark[k] && d->node[k].op >= NODE_ADD && d->node[k].op < NODE_LESS;
        free(mark);
        sum += (double)stage_points(s, 0, s->space + s->reduce) * count;
    }
    return sum;
}

double definition_bytes(const struct definition *d)
{
    int output = d->stage[d->stage_count - 1].tensor;
    double sum = 0;
    for (int i = 0; i <= output; i++)
        if (i < d->inputs || i == output)
            sum += (double)define_tensor_count(&d->tensor[i]) * element_bytes(d->tensor[i].element);
    return sum;
}

// --- text ---
//
//     tensor A f32 256 256
//     stage C f32 sum 256:i 256:j | 256:k = a0 a2 read0 a2 a1 read1 *
//
// Expressions are postfix; the indices of a read stand before it.

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

bool definition_write(const struct definition *d, struct str *out)
{
    for (int i = 0; i < d->inputs; i++) {
        const struct define_tensor *t = &d->tensor[i];
        str_printf(out, "tensor %s %s", t->name, element_name(t->element));
        for (int k = 0; k < t->rank; k++)
            str_printf(out, " %" PRId64, t->size[k]);
        str_add_char(out, '\n');
    }
    for (int i = 0; i < d->stage_count; i++) {
        const struct define_tensor *t = &d->tensor[d->stage[i].tensor];
        str_printf(out, "stage %s %s %s", t->name, element_name(t->element),
                   reduction_name(d->stage[i].reduction));
        for (int j = 0; j < d->stage[i].space + d->stage[i].reduce; j++)
            str_printf(out, "%s %" PRId64 ":%s", j == d->stage[i].space ? " |" : "",
                       d->stage[i].extent[j], d->stage[i].axis[j]);
        str_add(out, " =");
        write_node(d, d->stage[i].body, out);
        str_add_char(out, '\n');
    }
    return out->length <= DEFINE_MAX_TEXT;
}

enum { MOST_STACK = 1024, MOST_WORD = 80 };

struct words {
    struct definition *d;
    const char *at;
    char word[MOST_WORD];
    int stack[MOST_STACK], depth;
};

// Reads the next word of the line. False: at its end.
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

// True: a tensor of that size has indices that fit an int32.
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

// Pushes the node that the word stands for.
static bool push_word(struct words *w, int axes)
{
    const char *rest = w->word + 1;
    char *end;
    for (int i = NODE_ADD; i < NODE_CAST; i++)
        if (str_equal(w->word, node_op_name((enum node_op)i))) {
            enum node_op op = (enum node_op)i;
            int operand[3] = {-1, -1, -1}, count = node_operands(op);
            if (w->depth < count)
                return false;
            w->depth -= count;
            memcpy(operand, w->stack + w->depth, (size_t)count * sizeof *operand);
            bool divides = op == NODE_FLOOR_DIVIDE || op == NODE_MODULO;
            const struct node *by = divides ? &w->d->node[operand[1]] : NULL;
            if (by && (by->is_real || w->d->node[operand[0]].is_real || by->op != NODE_NUMBER ||
                       by->number < 1))
                return false;
            return push(w, definition_op(w->d, op, operand[0], operand[1], operand[2]));
        }
    for (int i = 0; i < ELEMENT_COUNT; i++)
        if (str_equal(w->word, element_name((enum element)i)))
            return w->depth > 0 &&
                   push(w, definition_cast(w->d, w->stack[--w->depth], (enum element)i));
    if (str_starts(w->word, "read")) {
        long tensor = strtol(w->word + 4, &end, 10);
        if (end == w->word + 4 || *end || tensor < 0 || tensor >= w->d->tensor_count)
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
        // The word is like "256:i".
        const char *end;
        int i = s->space + s->reduce;
        if (i == DEFINE_MAX_AXES || !read_size(w->word, &s->extent[i], &end) || *end != ':')
            return false;
        s->axis[i] = arena_strdup(&w->d->arena, end + 1);
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
