// The module is copied in one pass, in three sections, so that declarations that the functions need
// can be added to the sections before them.
#include "kernel/checked.h"

#include "base/mem.h"
#include "kernel/enumerants.h"

#include <stdlib.h>
#include <string.h>

#define HEADER       5 // words
#define VERSION_1_3  0x10300u
#define VERSION_1_4  0x10400u
#define SHARED_BIT   30 // the lower bits are for bindings
#define LOCAL_BIT    31
#define MAX_BINDINGS 30

struct words {
    uint32_t *word;
    int count, capacity;
};

// The facts about an id. Members that do not belong to its kind are 0.
struct id {
    enum { UNKNOWN, TYPE, CONSTANT, VALUE } kind;
    uint32_t op;             // of a TYPE
    uint32_t type;           // TYPE: of its elements or its pointee; CONSTANT, VALUE: its type
    uint32_t length;         // elements; bits of an integer; a CONSTANT's value
    uint32_t storage;        // of a pointer
    const uint32_t *members; // of a struct
    uint32_t stride, offset; // of an array; of a struct's last member
    uint32_t binding;        // of a variable and of pointers into it, plus 1; 0: it has none
    bool is_elsewhere;       // in another descriptor set, as uniform blocks are
};

struct constant {
    uint32_t type, value, id;
};

struct checker {
    const uint64_t *bytes;
    uint32_t bindings, version;
    struct id *id; // `bound` of them; number 0 stays UNKNOWN
    uint32_t bound, next_id;
    struct words head, globals, body;
    struct constant *constants;
    int constant_count, constant_capacity;
    bool roll, has_types, has_functions, has_memory_model;
    uint32_t entry, function;              // the entry point; the function that is being copied
    uint32_t uint_type, bool_type;         // 0: not declared yet
    uint32_t noted, report, report_member; // variables, and the type of a pointer into the second
};

static void add(struct words *w, const uint32_t *word, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        MEM_GROW(w->word, w->count, w->capacity);
        w->word[w->count++] = word[i];
    }
}

static void emit_list(struct words *w, SpvOp op, const uint32_t *operand, size_t count)
{
    const uint32_t first = (uint32_t)(count + 1) << 16 | op;
    add(w, &first, 1);
    add(w, operand, (uint32_t)count);
}

#define EMIT(w, op, ...)                                                                           \
    emit_list(w, op, (const uint32_t[]){__VA_ARGS__},                                              \
              sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static struct id *get(const struct checker *c, uint32_t id)
{
    return &c->id[id < c->bound ? id : 0];
}

static bool is_type(SpvOp op)
{
    return op >= SpvOpTypeVoid && op <= SpvOpTypeFunction;
}

// Notes the facts of an instruction. Instructions with a result name its type first, and no others
// name a type there.
static void learn(struct checker *c, SpvOp op, const uint32_t *w, uint32_t n)
{
    if (op == SpvOpCapability && w[1] == SpvCapabilityVulkanMemoryModel)
        c->has_memory_model = true;
    else if (op == SpvOpEntryPoint)
        c->entry = w[2];
    else if (op == SpvOpDecorate || op == SpvOpMemberDecorate) {
        struct id *target = get(c, w[1]);
        if (op == SpvOpMemberDecorate && n >= 5 && w[3] == SpvDecorationOffset &&
            w[4] > target->offset)
            target->offset = w[4];
        if (op == SpvOpDecorate && n >= 4 && w[2] == SpvDecorationArrayStride)
            target->stride = w[3];
        if (op == SpvOpDecorate && n >= 4 && w[2] == SpvDecorationBinding && w[3] < c->bindings)
            target->binding = w[3] + 1;
        if (op == SpvOpDecorate && n >= 4 && w[2] == SpvDecorationDescriptorSet && w[3])
            target->is_elsewhere = true;
    } else if (is_type(op)) {
        struct id *t = get(c, w[1]);
        t->kind = TYPE;
        t->op = op;
        switch (op) {
        case SpvOpTypeBool: c->bool_type = w[1]; break;
        case SpvOpTypeInt:
            t->length = w[2];
            if (n > 3 && w[2] == 32 && !w[3])
                c->uint_type = w[1];
            break;
        case SpvOpTypeVector:
        case SpvOpTypeMatrix: t->type = w[2], t->length = w[3]; break;
        case SpvOpTypeArray: {
            const struct id *length = get(c, w[3]);
            t->type = w[2], t->length = length->kind == CONSTANT ? length->length : 0;
            break;
        }
        case SpvOpTypeRuntimeArray: t->type = w[2]; break;
        case SpvOpTypeStruct: t->members = w + 2, t->length = n - 2; break;
        case SpvOpTypePointer: t->storage = w[2], t->type = w[3]; break;
        default: break;
        }
    } else if (n >= 3 && get(c, w[1])->kind == TYPE) {
        struct id *result = get(c, w[2]);
        result->kind = op == SpvOpConstant ? CONSTANT : VALUE;
        result->type = w[1];
        result->length = op == SpvOpConstant ? (n > 4 && w[4] ? UINT32_MAX : w[3]) : 0;
    }
}

static uint32_t constant(struct checker *c, uint32_t type, uint32_t value)
{
    for (int i = 0; i < c->constant_count; i++)
        if (c->constants[i].type == type && c->constants[i].value == value)
            return c->constants[i].id;
    uint32_t id = c->next_id++;
    if (get(c, type)->length == 64)
        EMIT(&c->globals, SpvOpConstant, type, id, value, 0);
    else
        EMIT(&c->globals, SpvOpConstant, type, id, value);
    MEM_GROW(c->constants, c->constant_count, c->constant_capacity);
    c->constants[c->constant_count++] = (struct constant){type, value, id};
    return id;
}

static uint32_t declare(struct checker *c, SpvOp op, uint32_t a, uint32_t b)
{
    uint32_t id = c->next_id++;
    if (op == SpvOpTypeBool)
        EMIT(&c->globals, op, id);
    else if (op == SpvOpTypeStruct)
        EMIT(&c->globals, op, id, a);
    else
        EMIT(&c->globals, op, id, a, b);
    return id;
}

// Emits the check of an index of an array with `length` elements (0: not known). Returns the index
// to use instead.
static uint32_t check_index(struct checker *c, uint32_t index, uint64_t length, int bit)
{
    const struct id *i = get(c, index), *type = get(c, i->type);
    bool inside = i->kind == CONSTANT && i->length < length;
    if (!length || length > UINT32_MAX || inside || type->op != SpvOpTypeInt || type->length < 32)
        return index;
    uint32_t is_inside = c->next_id++, safe = c->next_id++, old = c->next_id++, more = c->next_id++,
             now = c->next_id++, u = c->uint_type;
    EMIT(&c->body, SpvOpULessThan, c->bool_type, is_inside, index,
         constant(c, i->type, (uint32_t)length));
    EMIT(&c->body, SpvOpSelect, i->type, safe, is_inside, index, constant(c, i->type, 0));
    EMIT(&c->body, SpvOpLoad, u, old, c->noted);
    EMIT(&c->body, SpvOpBitwiseOr, u, more, old, constant(c, u, UINT32_C(1) << bit));
    EMIT(&c->body, SpvOpSelect, u, now, is_inside, old, more);
    EMIT(&c->body, SpvOpStore, c->noted, now);
    return safe;
}

// Returns how many elements the bound buffer has of an array that ends its block; 0: not known.
static uint64_t runtime_length(const struct checker *c, const struct id *array, uint32_t offset,
                               uint32_t binding)
{
    if (!binding || binding > c->bindings || !array->stride || c->bytes[binding - 1] < offset)
        return 0;
    return (c->bytes[binding - 1] - offset) / array->stride;
}

// Replaces the length of a runtime array by that of the buffer without its guards.
static void copy_length(struct checker *c, const uint32_t *w, uint32_t n)
{
    const struct id *base = get(c, w[3]), *block = get(c, get(c, base->type)->type);
    bool is_block = block->op == SpvOpTypeStruct && w[4] < block->length;
    uint32_t array = is_block ? block->members[w[4]] : 0;
    uint64_t length = runtime_length(c, get(c, array), block->offset, base->binding);
    if (length && length <= UINT32_MAX)
        EMIT(&c->body, SpvOpCopyObject, w[1], w[2], constant(c, w[1], (uint32_t)length));
    else
        add(&c->body, w, n);
}

static void emit_report(struct checker *c)
{
    uint32_t u = c->uint_type, noted = c->next_id++, member = c->next_id++, before = c->next_id++;
    uint32_t scope = c->has_memory_model ? SpvScopeQueueFamily : SpvScopeDevice;
    EMIT(&c->body, SpvOpLoad, u, noted, c->noted);
    EMIT(&c->body, SpvOpAccessChain, c->report_member, member, c->report, constant(c, u, 0));
    EMIT(&c->body, SpvOpAtomicOr, u, before, member, constant(c, u, scope),
         constant(c, u, SpvMemorySemanticsMaskNone), noted);
}

static void copy_in_function(struct checker *c, SpvOp op, const uint32_t *w, uint32_t n)
{
    if (op == SpvOpFunction && n > 2)
        c->function = w[2];
    if (op == SpvOpReturn && c->function == c->entry)
        emit_report(c);
    if ((op == SpvOpAccessChain || op == SpvOpInBoundsAccessChain) && n > 4) {
        const struct id *base = get(c, w[3]), *pointer = get(c, base->type);
        uint32_t type = pointer->type, offset = 0;
        uint32_t binding = base->is_elsewhere ? 0 : base->binding;
        int bit = binding                                        ? (int)binding - 1
                  : pointer->storage == SpvStorageClassWorkgroup ? SHARED_BIT
                                                                 : LOCAL_BIT;
        struct words chain = {0};
        bool ends_block = false;
        add(&chain, w, 4);
        for (uint32_t k = 4; k < n; k++) {
            const struct id *t = get(c, type), *index = get(c, w[k]);
            uint32_t used = w[k];
            if (t->op == SpvOpTypeStruct) {
                ends_block = k == 4 && index->length == t->length - 1;
                offset = t->offset;
                type = index->length < t->length ? t->members[index->length] : 0;
            } else {
                uint64_t length = t->length,
                         room = ends_block && k == 5 ? runtime_length(c, t, offset, binding) : 0;
                if (room && (t->op == SpvOpTypeRuntimeArray || room < length))
                    length = room;
                used = check_index(c, used, length, bit);
                type = t->type;
            }
            add(&chain, &used, 1);
        }
        add(&c->body, chain.word, n);
        get(c, w[2])->binding = binding;
        free(chain.word);
    } else if ((op == SpvOpVectorExtractDynamic && n == 5) ||
               (op == SpvOpVectorInsertDynamic && n == 6)) {
        // This is v[i] of a vector that is no variable.
        uint32_t copy[6];
        const struct id *vector = get(c, get(c, w[3])->type);
        memcpy(copy, w, n * sizeof *w);
        copy[n - 1] = check_index(c, w[n - 1], vector->length, LOCAL_BIT);
        emit_list(&c->body, op, copy + 1, n - 1);
    } else if (op == SpvOpArrayLength && n == 5)
        copy_length(c, w, n);
    else if (op == SpvOpLoopMerge && c->roll)
        EMIT(&c->body, op, w[1], w[2], SpvLoopControlDontUnrollMask);
    else
        add(&c->body, w, n);
}

static void copy(struct checker *c, SpvOp op, const uint32_t *w, uint32_t n)
{
    c->has_types |= is_type(op);
    if (op == SpvOpFunction && !c->has_functions) {
        if (!c->uint_type) // types of numbers may be declared only once
            c->uint_type = declare(c, SpvOpTypeInt, 32, 0);
        if (!c->bool_type)
            c->bool_type = declare(c, SpvOpTypeBool, 0, 0);
        uint32_t block = declare(c, SpvOpTypeStruct, c->uint_type, 0);
        uint32_t block_pointer = declare(c, SpvOpTypePointer, SpvStorageClassStorageBuffer, block);
        uint32_t private_pointer =
            declare(c, SpvOpTypePointer, SpvStorageClassPrivate, c->uint_type);
        c->report_member = declare(c, SpvOpTypePointer, SpvStorageClassStorageBuffer, c->uint_type);
        EMIT(&c->globals, SpvOpVariable, block_pointer, c->report, SpvStorageClassStorageBuffer);
        EMIT(&c->globals, SpvOpVariable, private_pointer, c->noted, SpvStorageClassPrivate,
             constant(c, c->uint_type, 0));
        EMIT(&c->head, SpvOpDecorate, block, SpvDecorationBlock);
        EMIT(&c->head, SpvOpMemberDecorate, block, 0, SpvDecorationOffset, 0);
        EMIT(&c->head, SpvOpDecorate, c->report, SpvDecorationDescriptorSet, 0);
        EMIT(&c->head, SpvOpDecorate, c->report, SpvDecorationBinding, c->bindings);
        c->has_functions = true;
    }
    learn(c, op, w, n);
    if (c->has_functions)
        copy_in_function(c, op, w, n);
    else if (op == SpvOpEntryPoint) {
        // Since SPIR-V 1.4 an entry point names every variable that it may use.
        add(&c->head, w, n);
        if (c->version >= VERSION_1_4) {
            c->head.word[c->head.count - (int)n] += 2u << 16;
            add(&c->head, (const uint32_t[]){c->noted, c->report}, 2);
        }
    } else
        add(c->has_types ? &c->globals : &c->head, w, n);
}

bool kernel_check_accesses(const struct spirv *spirv, const uint64_t *bytes, int bindings,
                           bool roll, struct spirv *out, struct err *e)
{
    const uint32_t *w = spirv->word, bound = w[3];
    *out = (struct spirv){0};
    if (w[1] < VERSION_1_3 || bindings > MAX_BINDINGS)
        return err_set(e,
                       "accesses cannot be checked before SPIR-V 1.3, or with more than %d "
                       "buffers",
                       MAX_BINDINGS);
    struct checker c = {.bytes = bytes,
                        .roll = roll,
                        .bindings = (uint32_t)bindings,
                        .version = w[1],
                        .id = mem_zero(bound, sizeof *c.id),
                        .bound = bound,
                        .next_id = bound + 2,
                        .noted = bound,
                        .report = bound + 1};
    for (size_t at = HEADER; at < spirv->count; at += w[at] >> 16)
        copy(&c, w[at] & 0xffff, w + at, w[at] >> 16);
    struct words all = {0};
    add(&all, w, HEADER);
    all.word[3] = c.next_id;
    add(&all, c.head.word, (uint32_t)c.head.count);
    add(&all, c.globals.word, (uint32_t)c.globals.count);
    add(&all, c.body.word, (uint32_t)c.body.count);
    *out = (struct spirv){all.word, (size_t)all.count};
    free(c.head.word);
    free(c.globals.word);
    free(c.body.word);
    free(c.constants);
    free(c.id);
    return true;
}

int kernel_outside_access(uint32_t word)
{
    if (!word)
        return ACCESS_INSIDE;
    for (int k = 0; k < MAX_BINDINGS; k++)
        if (word >> k & 1)
            return k;
    return word >> SHARED_BIT & 1 ? ACCESS_SHARED : ACCESS_LOCAL;
}
