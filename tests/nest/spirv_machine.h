// A module taken apart, and the state of the invocation that runs it; for spirv_count.c and
// spirv_operation.c.
#ifndef TILEWALK_TESTS_SPIRV_MACHINE_H
#define TILEWALK_TESTS_SPIRV_MACHINE_H

#include "spirv_count.h"

#define MAX_COMPONENTS 4

enum { // instructions (SPIR-V spec 3.49)
    OP_EXT_INST = 12,
    OP_TYPE_BOOL = 20,
    OP_TYPE_INT = 21,
    OP_TYPE_FLOAT = 22,
    OP_TYPE_VECTOR = 23,
    OP_TYPE_POINTER = 32,
    OP_CONSTANT_TRUE = 41,
    OP_CONSTANT_FALSE = 42,
    OP_CONSTANT = 43,
    OP_CONSTANT_COMPOSITE = 44,
    OP_CONSTANT_OPERATION = 52,
    OP_FUNCTION = 54,
    OP_FUNCTION_PARAMETER = 55,
    OP_FUNCTION_CALL = 57,
    OP_VARIABLE = 59,
    OP_LOAD = 61,
    OP_STORE = 62,
    OP_ACCESS_CHAIN = 65,
    OP_IN_BOUNDS_ACCESS_CHAIN = 66,
    OP_DECORATE = 71,
    OP_BARRIER = 224,
    OP_MEMORY_BARRIER = 225,
    OP_PHI = 245,
    OP_LOOP_MERGE = 246,
    OP_SELECTION_MERGE = 247,
    OP_LABEL = 248,
    OP_BRANCH = 249,
    OP_BRANCH_CONDITIONAL = 250,
    OP_RETURN = 253,
    OP_RETURN_VALUE = 254,
    OP_LAST_BLOCK_END = 255,
    OP_TYPE_MATRIX = 5358, // cooperative matrices, as NV spells them
    OP_MATRIX_LOAD = 5359,
    OP_MATRIX_STORE = 5360,
    OP_MATRIX_MULTIPLY_ADD = 5361,
    OP_MATRIX_LENGTH = 5362,
};

struct value {
    bool known;
    uint32_t part[MAX_COMPONENTS];
};

struct id {
    // For a type: its scalar type; 0 for other types than scalars and vectors.
    enum { NO_SCALAR, BOOL, SIGNED, UNSIGNED, FLOAT } scalar;
    int components, bytes;  // bytes of a component
    uint32_t rows, columns; // of a matrix; its components are all of its elements
    uint32_t storage, pointee;
    // For a result.
    uint32_t type;
    struct value value; // of a variable: what it holds
    // For a pointer: the variable that it points into, itself for a variable; the component, or -1
    // for all. 0: an array or block, whose contents are unknown.
    uint32_t variable;
    int component;
    size_t at;     // word of a label's or a function's first instruction
    uint32_t loop; // of a label: the header whose continue target or merge block it is
    // For a loop header.
    uint32_t next, merge;
    bool is_hinted;
    double iterations;
};

struct machine {
    const uint32_t *word;
    size_t count;
    struct id *id;
    uint32_t bound, main;
    double lanes; // of a subgroup
    struct spirv_count *n;
    struct err *e;
};

static inline uint32_t machine_op(const uint32_t *w)
{
    return w[0] & 0xffff;
}

static inline uint32_t machine_words(const uint32_t *w)
{
    return w[0] >> 16;
}

static inline const struct id *machine_type_of(const struct machine *m, uint32_t id)
{
    return &m->id[m->id[id].type];
}

// Runs and counts an instruction that is neither control flow nor memory. False: it is unsupported.
bool machine_operate(struct machine *m, const uint32_t *w);

#endif
