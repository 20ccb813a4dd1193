// Arithmetic, comparisons, conversions and vectors.
#include "spirv_machine.h"

#include <string.h>

enum group { // what an operation counts as
    NOTHING,
    ADD,
    MULTIPLY,
    DIVIDE,
    COMPARE
};

enum form {  // of a whole number's result
    UNKNOWN, // of floating-point numbers
    COPY,
    PLUS,
    MINUS,
    TIMES,
    OVER,
    MODULO,
    SIGNED_OVER,
    SIGNED_MODULO,
    NEGATIVE,
    EQUAL,
    UNEQUAL,
    LESS,
    AT_MOST,
    SIGNED_LESS,
    SIGNED_AT_MOST,
    BOTH,
    EITHER,
    ONE_OF,
    INVERSE,
    RIGHT,
    LEFT
};

static const struct operation {
    uint16_t op;
    uint8_t form, group;
    bool swapped; // greater than: less than with its operands exchanged
} operations[] = {
    {83, COPY, NOTHING, false},
    {109, UNKNOWN, NOTHING, false},
    {110, UNKNOWN, NOTHING, false},
    {111, UNKNOWN, NOTHING, false},
    {112, UNKNOWN, NOTHING, false},
    {113, COPY, NOTHING, false},
    {114, COPY, NOTHING, false},
    {115, UNKNOWN, NOTHING, false},
    {124, COPY, NOTHING, false},
    {126, NEGATIVE, NOTHING, false},
    {127, UNKNOWN, NOTHING, false},
    {128, PLUS, ADD, false},
    {129, UNKNOWN, ADD, false},
    {130, MINUS, ADD, false},
    {131, UNKNOWN, ADD, false},
    {132, TIMES, MULTIPLY, false},
    {133, UNKNOWN, MULTIPLY, false},
    {134, OVER, NOTHING, false},
    {135, SIGNED_OVER, NOTHING, false},
    {136, UNKNOWN, DIVIDE, false},
    {137, MODULO, NOTHING, false},
    {138, SIGNED_MODULO, NOTHING, false},
    {139, SIGNED_MODULO, NOTHING, false},
    {142, UNKNOWN, MULTIPLY, false},
    {164, EQUAL, NOTHING, false},
    {165, UNEQUAL, NOTHING, false},
    {166, EITHER, NOTHING, false},
    {167, BOTH, NOTHING, false},
    {168, INVERSE, NOTHING, false},
    {170, EQUAL, NOTHING, false},
    {171, UNEQUAL, NOTHING, false},
    {172, LESS, NOTHING, true},
    {173, SIGNED_LESS, NOTHING, true},
    {174, AT_MOST, NOTHING, true},
    {175, SIGNED_AT_MOST, NOTHING, true},
    {176, LESS, NOTHING, false},
    {177, SIGNED_LESS, NOTHING, false},
    {178, AT_MOST, NOTHING, false},
    {179, SIGNED_AT_MOST, NOTHING, false},
    {180, UNKNOWN, COMPARE, false},
    {182, UNKNOWN, COMPARE, false},
    {184, UNKNOWN, COMPARE, false},
    {186, UNKNOWN, COMPARE, false},
    {188, UNKNOWN, COMPARE, false},
    {190, UNKNOWN, COMPARE, false},
    {194, RIGHT, NOTHING, false},
    {196, LEFT, NOTHING, false},
    {197, EITHER, NOTHING, false},
    {198, ONE_OF, NOTHING, false},
    {199, BOTH, NOTHING, false},
    {202, UNKNOWN, NOTHING, false},
    {203, UNKNOWN, NOTHING, false},
    {346, UNKNOWN, NOTHING, false}, // of a subgroup: swaps, and sums that count as one addition
    {349, UNKNOWN, ADD, false},
    {350, UNKNOWN, ADD, false},
};

static uint32_t compute(enum form form, uint32_t a, uint32_t b)
{
    int32_t x = (int32_t)a, y = (int32_t)b;
    switch (form) {
    case UNKNOWN:
    case COPY: return a;
    case PLUS: return a + b;
    case MINUS: return a - b;
    case TIMES: return a * b;
    case OVER: return b ? a / b : 0;
    case MODULO: return b ? a % b : 0;
    case SIGNED_OVER: return y > 0 ? (uint32_t)(x / y) : 0;
    case SIGNED_MODULO: return y > 0 ? (uint32_t)(x % y) : 0;
    case NEGATIVE: return 0 - a;
    case EQUAL: return a == b;
    case UNEQUAL: return a != b;
    case LESS: return a < b;
    case AT_MOST: return a <= b;
    case SIGNED_LESS: return x < y;
    case SIGNED_AT_MOST: return x <= y;
    case BOTH: return a & b;
    case EITHER: return a | b;
    case ONE_OF: return a ^ b;
    case INVERSE: return !a;
    case RIGHT: return a >> (b & 31);
    case LEFT: return a << (b & 31);
    }
    return 0;
}

static void count(struct machine *m, enum group group, const struct id *type)
{
    if (type->scalar == SIGNED && (group == ADD || group == MULTIPLY))
        m->n->integer += type->components;
    if (type->scalar != FLOAT && group != COMPARE)
        return;
    double *of[] = {[ADD] = &m->n->add,
                    [MULTIPLY] = &m->n->multiply,
                    [DIVIDE] = &m->n->divide,
                    [COMPARE] = &m->n->compare};
    if (group != NOTHING)
        *of[group] += type->components;
}

static bool arithmetic(struct machine *m, const uint32_t *w)
{
    const struct operation *o = NULL;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (operations[i].op == machine_op(w))
            o = &operations[i];
    if (!o)
        return false;
    const struct id *type = &m->id[w[1]];
    struct value a = m->id[w[3]].value, b = machine_words(w) > 4 ? m->id[w[4]].value : a;
    struct value *out = &m->id[w[2]].value;
    out->known = o->form != UNKNOWN && a.known && b.known;
    for (int i = 0; i < type->components && i < MAX_COMPONENTS; i++)
        out->part[i] = o->swapped ? compute(o->form, b.part[i], a.part[i])
                                  : compute(o->form, a.part[i], b.part[i]);
    count(m, o->group, type);
    return true;
}

// Extended instructions of GLSL.std.450, by their numbers there.
static bool extended(struct machine *m, const uint32_t *w)
{
    enum {
        FLOAT_MIN = 37,
        U_MIN,
        S_MIN,
        FLOAT_MAX,
        U_MAX,
        S_MAX,
        FLOAT_CLAMP,
        U_CLAMP,
        S_CLAMP,
        FMA = 50
    };
    const struct id *type = &m->id[w[1]];
    struct value *out = &m->id[w[2]].value, a = m->id[w[5]].value,
                 b = machine_words(w) > 6 ? m->id[w[6]].value : a;
    out->known = w[4] > FLOAT_MIN && w[4] <= S_MAX && w[4] != FLOAT_MAX && a.known && b.known;
    for (int i = 0; i < type->components && i < MAX_COMPONENTS; i++) {
        bool is_signed = w[4] == S_MIN || w[4] == S_MAX, is_max = w[4] >= U_MAX;
        bool less = compute(is_signed ? SIGNED_LESS : LESS, a.part[i], b.part[i]);
        out->part[i] = less != is_max ? a.part[i] : b.part[i];
    }
    m->n->integer += w[4] == S_MIN || w[4] == S_MAX ? type->components : 0;
    m->n->integer += w[4] == S_CLAMP ? 2 * type->components : 0;
    double times = type->scalar == FLOAT ? type->components : 0;
    switch (w[4]) {
    case FLOAT_MIN:
    case FLOAT_MAX: m->n->compare += times; break;
    case FLOAT_CLAMP: m->n->compare += 2 * times; break;
    case FMA: m->n->add += times, m->n->multiply += times; break;
    default: m->n->special += times; break;
    }
    return true;
}

static void dot(struct machine *m, const uint32_t *w)
{
    int components = machine_type_of(m, w[3])->components;
    m->n->multiply += components;
    m->n->add += components - 1;
    m->id[w[2]].value.known = false;
}

// Four products and their sum, of bytes in words.
static void dot_of_bytes(struct machine *m, const uint32_t *w)
{
    m->n->integer += 7;
    m->id[w[2]].value.known = false;
}

static void construct(struct machine *m, const uint32_t *w)
{
    struct value made = {.known = true};
    int at = 0;
    for (uint32_t i = 3; i < machine_words(w); i++) {
        const struct id *part = &m->id[w[i]];
        made.known = made.known && part->value.known;
        int components = m->id[part->type].components;
        for (int k = 0; k < components && at < MAX_COMPONENTS; k++)
            made.part[at++] = part->value.part[k];
    }
    m->id[w[2]].value = made;
}

static void shuffle(struct machine *m, const uint32_t *w)
{
    struct value a = m->id[w[3]].value, b = m->id[w[4]].value, made = {.known = a.known && b.known};
    uint32_t first = (uint32_t)machine_type_of(m, w[3])->components;
    for (uint32_t i = 5; i < machine_words(w) && i < 5 + MAX_COMPONENTS; i++)
        made.part[i - 5] = w[i] < first ? a.part[w[i]] : b.part[(w[i] - first) % MAX_COMPONENTS];
    m->id[w[2]].value = made;
}

static void extract(struct machine *m, const uint32_t *w)
{
    struct value from = m->id[w[3]].value;
    bool is_vector = machine_type_of(m, w[3])->scalar != NO_SCALAR && machine_words(w) == 5;
    m->id[w[2]].value = (struct value){.known = from.known && is_vector};
    if (is_vector)
        m->id[w[2]].value.part[0] = from.part[w[4] % MAX_COMPONENTS];
}

static void choose(struct machine *m, const uint32_t *w)
{
    struct value condition = m->id[w[3]].value;
    struct value made = condition.part[0] ? m->id[w[4]].value : m->id[w[5]].value;
    made.known = made.known && condition.known && machine_type_of(m, w[3])->components == 1;
    m->id[w[2]].value = made;
}

bool machine_operate(struct machine *m, const uint32_t *w)
{
    enum {
        DYNAMIC = 77,
        SHUFFLE = 79,
        CONSTRUCT,
        EXTRACT,
        INSERT,
        DOT = 148,
        SELECT = 169,
        SIGNED_DOT = 4450
    };
    switch (machine_op(w)) {
    case OP_EXT_INST: return extended(m, w);
    case SHUFFLE: shuffle(m, w); return true;
    case CONSTRUCT: construct(m, w); return true;
    case EXTRACT: extract(m, w); return true;
    case DOT: dot(m, w); return true;
    case SIGNED_DOT: dot_of_bytes(m, w); return true;
    case SELECT: choose(m, w); return true;
    case DYNAMIC:
    case INSERT: m->id[w[2]].value.known = false; return true;
    default: return arithmetic(m, w);
    }
}
