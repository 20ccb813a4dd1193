#include "define/definition.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct node_kind node_kinds[NODE_OP_COUNT] = {
    [NODE_NUMBER] = {"number", 0}, [NODE_AXIS] = {"axis", 0},       [NODE_READ] = {"read", 0},
    [NODE_ADD] = {"+", 2},         [NODE_SUBTRACT] = {"-", 2},      [NODE_MULTIPLY] = {"*", 2},
    [NODE_DIVIDE] = {"/", 2},      [NODE_FLOOR_DIVIDE] = {"//", 2}, [NODE_MODULO] = {"%", 2},
    [NODE_MIN] = {"min", 2},       [NODE_MAX] = {"max", 2},         [NODE_EXP] = {"exp", 1},
    [NODE_SQRT] = {"sqrt", 1},     [NODE_TANH] = {"tanh", 1},       [NODE_LESS] = {"<", 2},
    [NODE_AT_MOST] = {"<=", 2},    [NODE_EQUAL] = {"==", 2},        [NODE_SELECT] = {"?", 3},
    [NODE_CAST] = {"cast", 1},
};

const char *const reduction_names[REDUCE_COUNT] = {"map", "sum", "max", "min", "product"};

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

bool stage_next_point(const struct define_stage *s, unsigned axes, int64_t *at)
{
    for (int a = s->space + s->reduce - 1; a >= 0; a--) {
        if (!(axes >> a & 1))
            continue;
        if (++at[a] < s->extent[a])
            return true;
        at[a] = 0;
    }
    return false;
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

// Returns the equal node of the pool; adds it where there is none.
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
    struct node n = blank(NODE_READ, element_is_real(d->tensor[tensor].element));
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
    if (found != nodes) // an equal one was there
        d->index_count = first;
    return found;
}

bool define_computes(enum element e)
{
    return e <= ELEMENT_I32;
}

bool define_reads(enum element e)
{
    return define_computes(e) || e == ELEMENT_U8 || element_is_bits(e);
}

int definition_cast(struct definition *d, int a, enum element element)
{
    struct node n = blank(NODE_CAST, element_is_real(element));
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
    int operands = node_kinds[op].operands;
    if (a < 0 || (operands > 1 && b < 0) || (operands > 2 && c < 0))
        return -1;
    if (op == NODE_SELECT && b == c)
        return b;
    if (op == NODE_SELECT && d->node[b].is_real != d->node[c].is_real) {
        int *whole = d->node[b].is_real ? &c : &b; // as a number it is one of the other's kind
        if (d->node[*whole].op == NODE_NUMBER)
            *whole = definition_number(d, d->node[*whole].number, true);
        if (*whole < 0)
            return -1;
    }
    if (operands == 2 && !d->node[a].is_real && !d->node[b].is_real) {
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

// --- expressions ---

// Marks the nodes of a set. The pool is visited once, from the end: a recursion over the operands
// would visit shared nodes once for each path to them.
static void mark_nodes(const struct definition *d, int node, enum node_set set, bool *mark)
{
    bool all = set == NODES_ALL || set == NODES_READS;
    memset(mark, 0, (size_t)node + 1);
    mark[node] = true;
    for (int i = node; i >= 0; i--) {
        const struct node *n = &d->node[i];
        const int operand[] = {n->a, n->b, n->c};
        // A select computes its condition and both branches; only the branches are its values.
        int first = n->op != NODE_SELECT || all ? 0 : set == NODES_VALUES ? 1 : 3;
        for (int k = first; mark[i] && k < node_kinds[n->op].operands; k++)
            mark[operand[k]] = true;
        int rank = all && n->op == NODE_READ ? d->tensor[n->tensor].rank : 0;
        for (int k = 0; mark[i] && k < rank; k++)
            mark[d->index[n->index + k]] = true;
    }
}

int definition_list(const struct definition *d, int node, enum node_set set, int *out)
{
    bool mark[DEFINE_MAX_NODES], reads = set == NODES_READS || set == NODES_UNCONDITIONAL;
    int count = 0;
    mark_nodes(d, node, set, mark);
    for (int i = 0; i <= node; i++)
        if (mark[i] && (!reads || d->node[i].op == NODE_READ))
            out[count++] = i;
    return count;
}

int definition_reads_of(const struct definition *d, int node, int tensor)
{
    int read[DEFINE_MAX_NODES], count = definition_list(d, node, NODES_READS, read), found = 0;
    for (int i = 0; i < count; i++)
        found += d->node[read[i]].tensor == tensor;
    return found;
}

bool definition_depends(const struct definition *d, int node, int axis)
{
    bool mark[DEFINE_MAX_NODES], found = false;
    mark_nodes(d, node, NODES_ALL, mark);
    for (int i = 0; i <= node; i++)
        found = found || (mark[i] && d->node[i].op == NODE_AXIS && d->node[i].axis == axis);
    return found;
}

int definition_substitute(struct definition *d, int node, const int *axis, const int *expression)
{
    int order[DEFINE_MAX_NODES], made[DEFINE_MAX_NODES], last = -1;
    int count = definition_list(d, node, NODES_ALL, order);
    for (int i = 0; i < count; i++) {
        const struct node n = d->node[order[i]]; // a copy: adding nodes moves the pool
        switch (n.op) {
        case NODE_NUMBER: last = order[i]; break;
        case NODE_AXIS: last = axis ? axis[n.axis] : order[i]; break;
        case NODE_READ: {
            int index[DEFINE_MAX_RANK], rank = d->tensor[n.tensor].rank;
            for (int j = 0; j < rank; j++)
                index[j] = made[d->index[n.index + j]];
            int instead = expression ? expression[n.tensor] : -1;
            last = instead < 0 ? definition_read(d, n.tensor, index, rank)
                               : definition_substitute(d, instead, index, NULL);
        } break;
        case NODE_CAST: last = definition_cast(d, made[n.a], n.element); break;
        default:
            last = definition_op(d, n.op, made[n.a], n.b < 0 ? -1 : made[n.b],
                                 n.c < 0 ? -1 : made[n.c]);
        }
        if (last < 0)
            return -1;
        made[order[i]] = last;
    }
    return last;
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

bool definition_affine_offset(const struct definition *d, int read, double *coefficient)
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

// --- costs ---

double definition_flop(const struct definition *d)
{
    double sum = 0;
    for (int i = 0; i < d->stage_count; i++) {
        const struct define_stage *s = &d->stage[i];
        int node[DEFINE_MAX_NODES], count = definition_list(d, s->body, NODES_VALUES, node);
        int operations = s->reduction != REDUCE_NONE;
        for (int k = 0; k < count; k++)
            operations += d->node[node[k]].op >= NODE_ADD && d->node[node[k]].op < NODE_LESS;
        sum += (double)stage_points(s, 0, s->space + s->reduce) * operations;
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
// Expressions are postfix. A word is axis 2 (a2), an integer (n8), a floating-point number (r0.5),
// a read of tensor 0 behind its indices (read0), a cast to an element type (f16) or an operation.

static void write_node(const struct definition *d, int node, struct str *out)
{
    const struct node *n = &d->node[node];
    if (out->length > DEFINE_MAX_TEXT)
        return;
    for (int i = 0; n->op == NODE_READ && i < d->tensor[n->tensor].rank; i++)
        write_node(d, d->index[n->index + i], out);
    const int operand[] = {n->a, n->b, n->c};
    for (int i = 0; i < node_kinds[n->op].operands; i++)
        write_node(d, operand[i], out);
    switch (n->op) {
    case NODE_NUMBER:
        str_add(out, n->is_real ? " r" : " n");
        str_add_real(out, n->number);
        break;
    case NODE_AXIS: str_printf(out, " a%d", n->axis); break;
    case NODE_READ: str_printf(out, " read%d", n->tensor); break;
    case NODE_CAST: str_printf(out, " %s", element_name(n->element)); break;
    default: str_printf(out, " %s", node_kinds[n->op].name);
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
                   reduction_names[d->stage[i].reduction]);
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

// Reads the next word of the line. False: the line has no more.
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
    if (!next(w) || !define_reads(t.element = element_named(w->word)))
        return false;
    while (next(w))
        if (t.rank == DEFINE_MAX_RANK || !read_size(w->word, &t.size[t.rank++], &end) || *end)
            return false;
    definition_add_tensor(w->d, &t);
    w->d->inputs++;
    return t.rank >= 1 && fits(t.size, t.rank);
}

// Pushes the node of a word: "+", "f16", "read0", "a2", "n8", "r0.5".
static bool push_word(struct words *w, int axes)
{
    struct definition *d = w->d;
    enum element element = element_named(w->word);
    int op = NODE_ADD, node = -1;
    char *end = w->word;
    while (op < NODE_CAST && !str_equal(w->word, node_kinds[op].name))
        op++;
    if (op < NODE_CAST) {
        int operand[3] = {-1, -1, -1}, count = node_kinds[op].operands;
        if (w->depth < count)
            return false;
        w->depth -= count;
        memcpy(operand, w->stack + w->depth, (size_t)count * sizeof *operand);
        bool divides = op == NODE_FLOOR_DIVIDE || op == NODE_MODULO;
        const struct node *by = divides ? &d->node[operand[1]] : NULL;
        if (by &&
            (by->is_real || d->node[operand[0]].is_real || by->op != NODE_NUMBER || by->number < 1))
            return false;
        node = definition_op(d, (enum node_op)op, operand[0], operand[1], operand[2]);
    } else if (define_computes(element)) {
        node = w->depth > 0 ? definition_cast(d, w->stack[--w->depth], element) : -1;
    } else if (str_starts(w->word, "read")) {
        long tensor = strtol(w->word + 4, &end, 10);
        if (end == w->word + 4 || *end || tensor < 0 || tensor >= d->tensor_count)
            return false;
        int rank = d->tensor[tensor].rank;
        if (w->depth < rank)
            return false;
        w->depth -= rank;
        for (int i = 0; i < rank; i++)
            if (d->node[w->stack[w->depth + i]].is_real)
                return false;
        node = definition_read(d, (int)tensor, w->stack + w->depth, rank);
    } else if (*w->word == 'a') {
        long axis = strtol(w->word + 1, &end, 10);
        if (end > w->word + 1 && !*end && axis >= 0 && axis < axes)
            node = definition_axis(d, (int)axis);
    } else if (*w->word == 'n' || *w->word == 'r') {
        double number = strtod(w->word + 1, &end);
        if (end > w->word + 1 && !*end && isfinite(number))
            node = definition_number(d, number, *w->word == 'r');
    }
    if (node < 0 || w->depth == MOST_STACK)
        return false;
    w->stack[w->depth++] = node;
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
    if (!next(w) || !define_computes(t.element = element_named(w->word)) || !next(w))
        return false;
    for (int i = 0; i < REDUCE_COUNT; i++)
        if (str_equal(w->word, reduction_names[i]))
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
