#include "spirv_count.h"

#include "spirv_machine.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define HEADER 5   // words
#define MOST   1e9 // instructions that are run

enum storage { INPUT = 1, UNIFORM = 2, WORKGROUP = 4, PRIVATE = 6, FUNCTION = 7, BUFFER = 12 };

// --- taking the module apart ---

static void read_scalar(struct id *t, int scalar, int bytes)
{
    t->scalar = scalar;
    t->components = 1;
    t->bytes = bytes;
}

static void read_type(struct machine *m, const uint32_t *w)
{
    struct id *t = &m->id[w[1]];
    switch (machine_op(w)) {
    case OP_TYPE_BOOL: read_scalar(t, BOOL, 0); break;
    case OP_TYPE_INT: read_scalar(t, w[3] ? SIGNED : UNSIGNED, (int)w[2] / 8); break;
    case OP_TYPE_FLOAT: read_scalar(t, FLOAT, (int)w[2] / 8); break;
    case OP_TYPE_VECTOR:
        *t = m->id[w[2]];
        t->components = (int)w[3];
        break;
    case OP_TYPE_POINTER:
        t->storage = w[2];
        t->pointee = w[3];
        break;
    }
}

static void read_matrix(struct machine *m, const uint32_t *w)
{
    struct id *t = &m->id[w[1]];
    *t = m->id[w[2]];
    t->rows = m->id[w[4]].value.part[0];
    t->columns = m->id[w[5]].value.part[0];
    t->components = (int)(t->rows * t->columns);
}

static void read_constant(struct machine *m, const uint32_t *w)
{
    struct id *c = &m->id[w[2]];
    c->type = w[1];
    c->value = (struct value){.known = m->id[w[1]].scalar != FLOAT};
    switch (machine_op(w)) {
    case OP_CONSTANT_TRUE: c->value.part[0] = 1; break;
    case OP_CONSTANT: c->value.part[0] = w[3]; break;
    case OP_CONSTANT_COMPOSITE:
        for (uint32_t i = 3; i < machine_words(w) && i < 3 + MAX_COMPONENTS; i++) {
            c->value.known = c->value.known && m->id[w[i]].value.known;
            c->value.part[i - 3] = m->id[w[i]].value.part[0];
        }
        break;
    }
}

// A variable holds nothing yet; those of the environment are 0: the first invocation.
static void read_variable(struct machine *m, const uint32_t *w)
{
    struct id *v = &m->id[w[2]];
    v->type = w[1];
    v->variable = w[2];
    v->component = -1;
    v->value = (struct value){.known = w[3] == INPUT};
    if (machine_words(w) > 4)
        v->value = m->id[w[4]].value;
}

static void read_loop(struct machine *m, const uint32_t *w, uint32_t header)
{
    struct id *h = &m->id[header];
    h->merge = w[1];
    h->next = w[2];
    h->is_hinted = w[3] & 1;
    m->id[w[1]].loop = m->id[w[2]].loop = header;
}

// The share of a matrix that an invocation has, and values computed from it.
static void read_operation(struct machine *m, const uint32_t *w)
{
    struct id *c = &m->id[w[2]];
    c->type = w[1];
    if (w[3] == OP_MATRIX_LENGTH) {
        uint32_t length = (uint32_t)(m->id[w[4]].components / m->lanes);
        c->value = (struct value){.known = true, .part = {length}};
    } else { // which no invocation computes
        struct spirv_count before = *m->n;
        uint32_t words = machine_words(w), last = w[words - 1];
        machine_operate(m, (uint32_t[]){(words - 1) << 16 | w[3], w[1], w[2], w[4], last});
        *m->n = before;
    }
}

static void take_apart(struct machine *m)
{
    uint32_t label = 0;
    for (size_t at = HEADER; at < m->count; at += machine_words(m->word + at)) {
        const uint32_t *w = m->word + at;
        uint32_t op = machine_op(w);
        if (op == 15)
            m->main = w[2];
        else if (op >= OP_TYPE_BOOL && op <= OP_TYPE_POINTER)
            read_type(m, w);
        else if (op == OP_TYPE_MATRIX)
            read_matrix(m, w);
        else if (op >= OP_CONSTANT_TRUE && op <= OP_CONSTANT_COMPOSITE)
            read_constant(m, w);
        else if (op == OP_CONSTANT_OPERATION)
            read_operation(m, w);
        else if (op == OP_VARIABLE)
            read_variable(m, w);
        else if (op == OP_LABEL)
            m->id[label = w[1]].at = at;
        else if (op == OP_FUNCTION)
            m->id[w[2]].at = at;
        else if (op == OP_LOOP_MERGE)
            read_loop(m, w, label);
    }
}

// --- memory ---

// `held` is the type of what is moved.
static void count_bytes(double *counts, const struct id *pointer, const struct id *held,
                        double share)
{
    int memory = pointer->storage == WORKGROUP ? SPIRV_SHARED : SPIRV_GLOBAL;
    if (pointer->storage == WORKGROUP || pointer->storage == BUFFER || pointer->storage == UNIFORM)
        counts[memory] += held->components * held->bytes / share;
}

static void load(struct machine *m, const uint32_t *w)
{
    const struct id *p = &m->id[w[3]], *type = machine_type_of(m, w[3]);
    struct value *out = &m->id[w[2]].value;
    out->known = false;
    if (p->variable && m->id[type->pointee].scalar != FLOAT) {
        *out = m->id[p->variable].value;
        if (p->component >= 0)
            out->part[0] = out->part[p->component];
    }
    count_bytes(m->n->read, type, &m->id[type->pointee], 1);
}

static void store(struct machine *m, const uint32_t *w)
{
    const struct id *p = &m->id[w[1]];
    struct value from = m->id[w[2]].value;
    const struct id *type = machine_type_of(m, w[1]);
    count_bytes(m->n->written, type, &m->id[type->pointee], 1);
    if (!p->variable)
        return;
    struct value *to = &m->id[p->variable].value;
    if (p->component < 0) {
        *to = from;
    } else {
        to->known = to->known && from.known;
        to->part[p->component] = from.part[0];
    }
}

static void multiply_add(struct machine *m, const uint32_t *w)
{
    const struct id *a = machine_type_of(m, w[3]), *c = &m->id[w[1]];
    double products = c->components * (double)a->columns / m->lanes;
    if (c->scalar == FLOAT)
        m->n->add += products, m->n->multiply += products;
    else
        m->n->integer += 2 * products;
}

// One step into a vector is followed, all else is not.
static void chain(struct machine *m, const uint32_t *w)
{
    const struct id *base = &m->id[w[3]], *held = &m->id[machine_type_of(m, w[3])->pointee];
    struct id *p = &m->id[w[2]];
    const struct value *index = machine_words(w) == 5 ? &m->id[w[4]].value : NULL;
    bool followed = base->variable && held->scalar != NO_SCALAR && index && index->known;
    p->type = w[1];
    p->variable = followed ? base->variable : 0;
    p->component = followed ? (int)(index->part[0] % MAX_COMPONENTS) : -1;
}

// --- control flow ---

static bool run(struct machine *m, uint32_t function, struct value *returned);

static bool call(struct machine *m, const uint32_t *w)
{
    size_t at = m->id[w[3]].at;
    at += machine_words(m->word + at);
    for (uint32_t i = 4; i < machine_words(w); i++) {
        const uint32_t *parameter = m->word + at;
        struct id *to = &m->id[parameter[2]];
        const struct id *from = &m->id[w[i]];
        to->type = parameter[1];
        to->value = from->value;
        to->variable = from->variable;
        to->component = from->component;
        at += machine_words(parameter);
    }
    return run(m, w[3], &m->id[w[2]].value);
}

static void choose_by_block(struct machine *m, const uint32_t *w, uint32_t from)
{
    for (uint32_t i = 3; i + 1 < machine_words(w); i += 2)
        if (w[i + 1] == from)
            m->id[w[2]].value = m->id[w[i]].value;
}

// Enters a block: an iteration begins where loops continue, and ends where they merge.
static void enter(struct machine *m, uint32_t label)
{
    uint32_t header = m->id[label].loop;
    struct id *h = &m->id[header];
    if (!header)
        return;
    if (label == h->next) {
        h->iterations++;
    } else {
        m->n->trips += h->iterations > 1 && !h->is_hinted ? h->iterations : 0;
        h->iterations = 0;
    }
}

// Returns the next block; 0 for the end of the function or an error.
static bool leave(struct machine *m, const uint32_t *w, uint32_t *next, struct value *returned)
{
    *next = 0;
    if (machine_op(w) == OP_BRANCH) {
        *next = w[1];
    } else if (machine_op(w) == OP_BRANCH_CONDITIONAL) {
        const struct value *condition = &m->id[w[1]].value;
        if (!condition->known)
            return err_set(m->e, "a branch depends on what is not known");
        *next = condition->part[0] ? w[2] : w[3];
    } else if (machine_op(w) == OP_RETURN_VALUE) {
        *returned = m->id[w[1]].value;
    } else if (machine_op(w) != OP_RETURN) {
        return err_set(m->e, "unknown end of a block: instruction %d", (int)machine_op(w));
    }
    return true;
}

static bool step(struct machine *m, const uint32_t *w, uint32_t from)
{
    switch (machine_op(w)) {
    case OP_STORE: store(m, w); return true;
    case OP_MATRIX_STORE:
        count_bytes(m->n->written, machine_type_of(m, w[1]), machine_type_of(m, w[2]), m->lanes);
        return true;
    case OP_LOOP_MERGE:
    case OP_SELECTION_MERGE:
    case OP_BARRIER:
    case OP_MEMORY_BARRIER: return true;
    }
    m->id[w[2]].type = w[1];
    switch (machine_op(w)) {
    case OP_VARIABLE: read_variable(m, w); return true;
    case OP_LOAD: load(m, w); return true;
    case OP_ACCESS_CHAIN:
    case OP_IN_BOUNDS_ACCESS_CHAIN: chain(m, w); return true;
    case OP_MATRIX_LOAD:
        count_bytes(m->n->read, machine_type_of(m, w[3]), &m->id[w[1]], m->lanes);
        return true;
    case OP_MATRIX_MULTIPLY_ADD: multiply_add(m, w); return true;
    case OP_PHI: choose_by_block(m, w, from); return true;
    case OP_FUNCTION_CALL: return call(m, w);
    }
    return machine_operate(m, w) || err_set(m->e, "unknown instruction %d", (int)machine_op(w));
}

static bool ends_block(const uint32_t *w)
{
    return machine_op(w) >= OP_BRANCH && machine_op(w) <= OP_LAST_BLOCK_END;
}

static bool run(struct machine *m, uint32_t function, struct value *returned)
{
    size_t at = m->id[function].at;
    while (machine_op(m->word + at) != OP_LABEL)
        at += machine_words(m->word + at);
    uint32_t from = 0, here = m->word[at + 1], next = here;
    for (double steps = 0; next; steps++) {
        if (steps > MOST)
            return err_set(m->e, "too many blocks");
        here = next;
        enter(m, here);
        at = m->id[here].at;
        at += machine_words(m->word + at);
        for (; !ends_block(m->word + at); at += machine_words(m->word + at))
            if (!step(m, m->word + at, from))
                return false;
        if (!leave(m, m->word + at, &next, returned))
            return false;
        from = here;
    }
    return true;
}

bool spirv_count(const struct spirv *s, int lanes, struct spirv_count *n, struct err *e)
{
    struct kernel_facts facts;
    if (!kernel_inspect(s, &facts, e))
        return false;
    struct machine m = {
        .word = s->word, .count = s->count, .bound = s->word[3], .lanes = lanes, .n = n, .e = e};
    struct value none;
    m.id = mem_zero(m.bound, sizeof *m.id);
    n->shared_bytes += (double)facts.shared_bytes;
    memcpy(n->local_size, facts.local_size, sizeof n->local_size);
    take_apart(&m);
    bool done = run(&m, m.main, &none);
    free(m.id);
    return done;
}
