// The module is read in one pass (SPIR-V spec 2.3: header, then instructions in a fixed order of
// sections). Decorations come before types, types before their users, so that every type's layout
// is known when it is needed, and nothing recurses. What functions read and write is followed then,
// until nothing new is found: a function may stand behind those that call it.
#include "kernel/kernel.h"

#include "base/mem.h"
#include "base/number.h"
#include "kernel/enumerants.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HEADER      5       // words
#define MAX_BOUND   4194304 // SPIR-V spec 2.17, universal limits
#define MAX_BINDING 4096
#define MAX_ROUNDS  64 // of following accesses through functions

// The facts about a result id.
struct id {
    enum { UNKNOWN, VALUE, STRUCT, POINTER, CONSTANT } kind; // VALUE: any other type with a size
    uint64_t size, align;                                    // of VALUE, STRUCT, POINTER
    uint32_t pointee;                                        // of POINTER
    uint64_t number; // CONSTANT: its value (of a specialization constant the default); STRUCT: the
                     // end of its last member
    uint32_t stride, binding, set;
    uint32_t root;   // the variable or the parameter of a function that a pointer leads into
    uint32_t offset; // a pointer's within push constants, in bytes; plus 1, 0: it is none
    // Bits, by 8 bytes of push constants: the addresses that a value may be or come from; those
    // that a variable may hold.
    uint32_t addresses, held;
    uint32_t element; // of a pointer or image: its place in an array of descriptors, plus 1; 0: any
    uint32_t length;  // of an array
    enum descriptor opaque; // of an image, a sampler, or an array of them
    bool has_binding, is_buffer_block, is_workgroup_size, is_forward, is_push;
    bool is_opaque, is_blocks; // an array of blocks
    bool is_parameter;
    bool is_read, is_written; // of a parameter: by its function, or one that this calls
};

struct reader {
    const uint32_t *word;
    size_t count;
    struct id *id; // `bound` of them; number 0 is never a result and stays UNKNOWN
    uint32_t bound;
    size_t decorations; // the offset of the first member decoration; 0: none yet
    size_t functions;   // of the first function; 0: none yet
    bool has_news;      // about a variable or a parameter, in this round
    int entry_points;
    enum { SIZE_MISSING, SIZE_LITERAL, SIZE_IDS, SIZE_BUILTIN } size_from;
    uint32_t size[3]; // literals, or ids for SIZE_IDS
    struct kernel_facts *facts;
    struct err *e;
};

void spirv_finish(struct spirv *s)
{
    free(s->word);
    *s = (struct spirv){0};
}

static bool malformed(struct reader *r, const char *what)
{
    return err_set(r->e, "malformed SPIR-V: %s", what);
}

static const struct id *id_get(const struct reader *r, uint32_t id)
{
    return &r->id[id < r->bound ? id : 0];
}

static const struct id *type_get(const struct reader *r, uint32_t id)
{
    const struct id *t = id_get(r, id);
    return t->kind == VALUE || t->kind == STRUCT || t->kind == POINTER ? t : NULL;
}

// Gives `id` a kind, unless it is out of range or was given one before.
static struct id *id_define(struct reader *r, uint32_t id, int kind)
{
    if (id && id < r->bound && r->id[id].is_forward && kind == POINTER)
        return &r->id[id];
    if (id == 0 || id >= r->bound || r->id[id].kind != UNKNOWN) {
        malformed(r, "bad result id");
        return NULL;
    }
    r->id[id].kind = kind;
    return &r->id[id];
}

static bool type_define(struct reader *r, uint32_t id, int kind, uint64_t size, uint64_t align)
{
    struct id *t = id_define(r, id, kind);
    if (!t)
        return false;
    t->size = size;
    t->align = align;
    return true;
}

static bool opaque_define(struct reader *r, uint32_t id, enum descriptor kind)
{
    if (!type_define(r, id, VALUE, 0, 1))
        return false;
    r->id[id].is_opaque = true;
    r->id[id].opaque = kind;
    return true;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t align_up(uint64_t n, uint64_t align) // a power of two
{
    return add(n, align - 1) & ~(align - 1);
}

static bool read_capability(struct reader *r, uint32_t capability)
{
    struct kernel_facts *f = r->facts;
    if (f->capability_count == KERNEL_MAX_CAPABILITIES)
        return malformed(r, "too many capabilities");
    f->capability[f->capability_count++] = capability;
    if (capability == SpvCapabilityFloat16)
        f->uses_f16 = true;
    if (capability == SpvCapabilityStorageBuffer16BitAccess ||
        capability == SpvCapabilityUniformAndStorageBuffer16BitAccess)
        f->uses_f16_storage = true;
    if (capability == SpvCapabilityInt8)
        f->uses_i8 = true;
    if (capability == SpvCapabilityStorageBuffer8BitAccess ||
        capability == SpvCapabilityUniformAndStorageBuffer8BitAccess)
        f->uses_i8_storage = true;
    if (capability == SpvCapabilityDotProduct ||
        capability == SpvCapabilityDotProductInput4x8BitPacked)
        f->uses_dot = true;
    if (capability == SpvCapabilityCooperativeMatrixNV)
        f->matrix = MATRIX_NV;
    if (capability == SPIRV_CAPABILITY_MATRIX_KHR)
        f->matrix = MATRIX_KHR;
    return true;
}

static void size_found(struct reader *r, int from, const uint32_t size[3])
{
    if ((int)r->size_from > from)
        return;
    r->size_from = from;
    memcpy(r->size, size, sizeof r->size);
}

static bool read_execution_mode(struct reader *r, const uint32_t *w, uint32_t n)
{
    if (w[2] != SpvExecutionModeLocalSize && w[2] != SpvExecutionModeLocalSizeId)
        return true;
    if (n < 6)
        return malformed(r, "local size cut short");
    size_found(r, w[2] == SpvExecutionModeLocalSize ? SIZE_LITERAL : SIZE_IDS, w + 3);
    return true;
}

static bool read_decorate(struct reader *r, const uint32_t *w, uint32_t n)
{
    if (w[1] == 0 || w[1] >= r->bound)
        return malformed(r, "decoration of no id");
    struct id *target = &r->id[w[1]];
    if (w[2] == SpvDecorationBufferBlock)
        target->is_buffer_block = true;
    if (n < 4)
        return true;
    switch (w[2]) {
    case SpvDecorationArrayStride: target->stride = w[3]; break;
    case SpvDecorationBuiltIn:
        target->is_workgroup_size = w[3] == SpvBuiltInWorkgroupSize;
        r->facts->uses_group_count |= w[3] == SpvBuiltInNumWorkgroups;
        break;
    case SpvDecorationDescriptorSet: target->set = w[3]; break;
    case SpvDecorationBinding:
        target->binding = w[3];
        target->has_binding = true;
        break;
    }
    return true;
}

// The struct ends behind its last member by explicit offsets, if there are any. Member decorations
// stand before it, in instructions whose lengths have been checked.
static bool read_struct(struct reader *r, const uint32_t *w, uint32_t n)
{
    uint64_t size = 0, align = 1, end = 0;
    for (uint32_t i = 2; i < n; i++) {
        const struct id *member = type_get(r, w[i]);
        if (!member)
            return malformed(r, "struct member of unknown type");
        size = add(align_up(size, member->align), member->size);
        align = member->align > align ? member->align : align;
    }
    const uint32_t *first = r->decorations ? r->word + r->decorations : w;
    for (const uint32_t *d = first; d < w; d += d[0] >> 16)
        if ((d[0] & 0xffff) == SpvOpMemberDecorate && d[0] >> 16 >= 5 && d[1] == w[1] &&
            d[3] == SpvDecorationOffset && d[2] < n - 2) {
            uint64_t last = add(d[4], type_get(r, w[2 + d[2]])->size);
            end = last > end ? last : end;
        }
    if (!type_define(r, w[1], STRUCT, align_up(end ? end : size, align), align))
        return false;
    r->id[w[1]].number = end ? end : size;
    return true;
}

static bool read_type(struct reader *r, uint32_t op, const uint32_t *w, uint32_t n)
{
    const struct id *part = n > 2 ? type_get(r, w[2]) : NULL; // element or column
    switch (op) {
    case SpvOpTypeBool: return type_define(r, w[1], VALUE, 4, 4);
    case SpvOpTypeInt:
    case SpvOpTypeFloat:
        if (w[2] != 8 && w[2] != 16 && w[2] != 32 && w[2] != 64)
            return malformed(r, "width of a number");
        return type_define(r, w[1], VALUE, w[2] / 8, w[2] / 8);
    case SpvOpTypeVector:
        if (!part || part->size == 0 || part->size != part->align || w[3] < 2 || w[3] > 4)
            return malformed(r, "vector type");
        return type_define(r, w[1], VALUE, w[3] * part->size, (w[3] == 3 ? 4 : w[3]) * part->size);
    case SpvOpTypeMatrix: // counts as an array of its columns
        if (!part || w[3] < 2 || w[3] > 4)
            return malformed(r, "matrix type");
        return type_define(r, w[1], VALUE, times_unsigned(align_up(part->size, part->align), w[3]),
                           part->align);
    case SpvOpTypeArray: {
        const struct id *length = id_get(r, w[3]);
        if (!part || length->kind != CONSTANT)
            return malformed(r, "array of unknown element or length");
        uint64_t stride = r->id[w[1] < r->bound ? w[1] : 0].stride;
        if (!stride)
            stride = align_up(part->size, part->align);
        if (!type_define(r, w[1], VALUE, times_unsigned(stride, length->number), part->align))
            return false;
        r->id[w[1]].length = length->number < UINT32_MAX ? (uint32_t)length->number : UINT32_MAX;
        r->id[w[1]].is_blocks = part->kind == STRUCT;
        r->id[w[1]].is_opaque = part->is_opaque && !part->length;
        r->id[w[1]].opaque = part->opaque;
        return true;
    }
    case SpvOpTypeImage: {
        bool is_stored = w[7] == 2, is_buffer = w[3] == SpvDimBuffer;
        return opaque_define(r, w[1],
                             is_buffer   ? is_stored ? DESCRIPTOR_STORAGE_TEXELS : DESCRIPTOR_TEXELS
                             : is_stored ? DESCRIPTOR_STORAGE_IMAGE
                                         : DESCRIPTOR_SAMPLED_IMAGE);
    }
    case SpvOpTypeSampledImage: {
        bool is_buffer = part && part->is_opaque && part->opaque == DESCRIPTOR_TEXELS;
        return opaque_define(r, w[1], is_buffer ? DESCRIPTOR_TEXELS : DESCRIPTOR_COMBINED);
    }
    case SpvOpTypeSampler: return opaque_define(r, w[1], DESCRIPTOR_SAMPLER);
    case SpvOpTypeRuntimeArray:
        if (!part)
            return malformed(r, "array of unknown element");
        return type_define(r, w[1], VALUE, 0, part->align);
    case SpvOpTypeStruct: return read_struct(r, w, n);
    case SpvOpTypeForwardPointer: // of a buffer reference, which members may have before its type
        if (!type_define(r, w[1], POINTER, 8, 8))
            return false;
        r->id[w[1]].is_forward = true;
        return true;
    case SpvOpTypePointer:
        if (!type_define(r, w[1], POINTER, 8, 8))
            return false;
        r->id[w[1]].pointee = w[3];
        return true;
    case SPIRV_OP_TYPE_MATRIX_KHR:
        r->facts->has_group_matrices |= id_get(r, w[3])->number == SpvScopeWorkgroup;
        return type_define(r, w[1], VALUE, 0, 1);
    default: return type_define(r, w[1], VALUE, 0, 1); // a matrix tile takes no counted memory
    }
}

// gl_WorkGroupSize with specialization constants is a composite of their defaults.
static bool read_composite(struct reader *r, const uint32_t *w, uint32_t n)
{
    if (!id_get(r, w[2])->is_workgroup_size)
        return true;
    uint32_t size[3];
    if (n != 6)
        return malformed(r, "workgroup size");
    for (int i = 0; i < 3; i++) {
        const struct id *part = id_get(r, w[3 + i]);
        if (part->kind != CONSTANT)
            return malformed(r, "workgroup size");
        size[i] = (uint32_t)part->number;
    }
    size_found(r, SIZE_BUILTIN, size);
    return true;
}

// Returns the descriptor that a variable is; NULL: it is none.
static struct kernel_descriptor *descriptor_at(struct reader *r, const struct id *root)
{
    struct kernel_facts *f = r->facts;
    for (int i = 0; i < f->descriptor_count; i++)
        if (root->has_binding && root->set == JOB_DESCRIPTOR_SET &&
            f->descriptor[i].at == root->binding)
            return &f->descriptor[i];
    return NULL;
}

// Returns the elements that an access may mean.
static uint32_t elements_of(const struct kernel_descriptor *d, const struct id *p)
{
    if (d->count == 1)
        return 1;
    return p->element ? UINT32_C(1) << (p->element - 1) % 32 : UINT32_MAX;
}

static void note_descriptor(struct kernel_descriptor *d, const struct id *p, bool is_write)
{
    uint32_t any = elements_of(d, p);
    d->is_computed |= any == UINT32_MAX;
    d->written |= is_write && any != UINT32_MAX ? any : 0;
    d->may_write |= is_write ? any : 0;
    d->read |= is_write ? 0 : any;
}

static void learn_bits(struct reader *r, uint32_t *bits, uint32_t more)
{
    r->has_news |= more & ~*bits;
    *bits |= more;
}

static void learn(struct reader *r, bool *fact)
{
    r->has_news |= !*fact;
    *fact = true;
}

// Notes an access of what is behind a pointer: a buffer by its binding or by its address, a
// descriptor, or what a function gets.
static bool note_access(struct reader *r, uint32_t pointer, bool is_write)
{
    struct kernel_facts *f = r->facts;
    const struct id *p = id_get(r, pointer);
    struct id *root = &r->id[p->root];
    struct kernel_descriptor *d = descriptor_at(r, root);
    if (d)
        note_descriptor(d, p, is_write);
    if (root->is_parameter)
        learn(r, is_write ? &root->is_written : &root->is_read);
    if (root->has_binding && root->set == 0 && root->binding < 32)
        *(is_write ? &f->written : &f->read) |= UINT32_C(1) << root->binding;
    *(is_write ? &f->address_written : &f->address_read) |= p->addresses;
    return true;
}

static bool note_write(struct reader *r, uint32_t pointer)
{
    return note_access(r, pointer, true);
}

static bool note_read(struct reader *r, uint32_t pointer)
{
    return note_access(r, pointer, false);
}

// An argument is read and written as the parameter is that it becomes, and both may be one variable
// that holds addresses.
static void read_argument(struct reader *r, uint32_t argument, struct id *parameter)
{
    const struct id *a = id_get(r, argument);
    struct id *root = &r->id[a->root];
    if (parameter->is_read)
        note_read(r, argument);
    if (parameter->is_written)
        note_write(r, argument);
    learn_bits(r, &parameter->addresses, a->addresses);
    learn_bits(r, &parameter->held, root->held);
    if (a->root)
        learn_bits(r, &root->held, parameter->held);
}

// Returns the offset of a struct's member, as said before the instruction `end`; UINT32_MAX: it has
// none.
static uint32_t member_offset(const struct reader *r, const uint32_t *end, uint32_t type,
                              uint32_t member)
{
    if (!r->decorations)
        return UINT32_MAX;
    for (const uint32_t *d = r->word + r->decorations; d < end; d += d[0] >> 16)
        if ((d[0] & 0xffff) == SpvOpMemberDecorate && d[0] >> 16 >= 5 && d[1] == type &&
            d[2] == member && d[3] == SpvDecorationOffset)
            return d[4];
        else if ((d[0] & 0xffff) == SpvOpFunction)
            break;
    return UINT32_MAX;
}

// The result of a chain belongs to the variable of its base. One that leads to a member of the push
// constants keeps its offset, as it may be the address of a buffer.
static void read_chain(struct reader *r, const uint32_t *w, uint32_t n)
{
    const struct id *base = id_get(r, w[3]), *index = n == 5 ? id_get(r, w[4]) : r->id;
    if (w[2] >= r->bound)
        return;
    struct id *result = &r->id[w[2]];
    result->root = base->root;
    result->element = base->element;
    result->offset = 0;
    learn_bits(r, &result->addresses, base->addresses);
    if (base->root == w[3] && base->has_binding && base->set == JOB_DESCRIPTOR_SET && n > 4) {
        const struct id *first = id_get(r, w[4]);
        result->element = first->kind == CONSTANT ? (uint32_t)first->number + 1 : 0;
    }
    if (base->root == w[3] && base->is_push && index->kind == CONSTANT) {
        uint32_t offset = member_offset(r, w, base->pointee, (uint32_t)index->number);
        result->offset = offset == UINT32_MAX ? 0 : offset + 1;
    }
}

static bool add_buffer(struct reader *r, struct id *variable, const struct id *content)
{
    if (content->kind != STRUCT || !variable->has_binding || variable->set != 0 ||
        variable->binding >= MAX_BINDING)
        return err_set(r->e, "a buffer must be a block with a binding in descriptor set 0");
    if (variable->binding >= r->facts->bindings)
        r->facts->bindings = variable->binding + 1;
    return true;
}

// Images, texel buffers, samplers and arrays of descriptors are where module_bind puts them.
static bool add_descriptor(struct reader *r, struct id *variable, const struct id *content)
{
    struct kernel_facts *f = r->facts;
    bool is_array = content->is_blocks || content->length > 0;
    uint32_t count = is_array ? content->length : 1;
    if ((!content->is_opaque && !content->is_blocks) || !variable->has_binding ||
        variable->set != JOB_DESCRIPTOR_SET || count < 1 || count > JOB_MAX_BINDINGS ||
        variable->binding >= JOB_MAX_DESCRIPTORS || f->descriptor_count == JOB_MAX_DESCRIPTORS)
        return err_set(r->e, "an image, a sampler or an array must be one that its kernel binds");
    struct kernel_descriptor d = {.at = variable->binding,
                                  .kind = content->is_opaque ? content->opaque : DESCRIPTOR_BUFFER,
                                  .count = count};
    int known = 0; // several variables may be views of one binding
    while (known < f->descriptor_count && f->descriptor[known].at != d.at)
        known++;
    if (known == f->descriptor_count)
        f->descriptor[f->descriptor_count++] = d;
    else if (f->descriptor[known].kind != d.kind || f->descriptor[known].count != d.count)
        return err_set(r->e, "two kinds of resources have one binding");
    return true;
}

// Uniform blocks are where module_bind puts them.
static bool add_uniform(struct reader *r, const struct id *variable, const struct id *content)
{
    if (content->kind != STRUCT || !variable->has_binding || variable->set != JOB_UNIFORM_SET ||
        variable->binding >= JOB_MAX_UNIFORMS)
        return err_set(r->e, "a uniform block must be a block that its kernel gives a content");
    if (variable->binding >= r->facts->uniforms)
        r->facts->uniforms = variable->binding + 1;
    return true;
}

static bool read_variable(struct reader *r, const uint32_t *w)
{
    struct kernel_facts *f = r->facts;
    struct id *variable = &r->id[w[2] < r->bound ? w[2] : 0];
    const struct id *pointer = id_get(r, w[1]);
    const struct id *content = type_get(r, pointer->kind == POINTER ? pointer->pointee : 0);
    bool is_descriptor = variable->has_binding && variable->set == JOB_DESCRIPTOR_SET;
    bool sized = w[3] == SpvStorageClassWorkgroup || w[3] == SpvStorageClassPushConstant ||
                 w[3] == SpvStorageClassStorageBuffer || w[3] == SpvStorageClassUniform ||
                 w[3] == SpvStorageClassUniformConstant;
    if (sized && !content)
        return malformed(r, "variable of unknown type");
    variable->root = (uint32_t)(variable - r->id);
    switch (w[3]) {
    case SpvStorageClassWorkgroup:
        f->shared_bytes = add(align_up(f->shared_bytes, content->align), content->size);
        break;
    case SpvStorageClassPushConstant:
        if (content->kind != STRUCT || content->number > UINT32_MAX)
            return malformed(r, "push constant block");
        if (content->number > f->push_bytes)
            f->push_bytes = (uint32_t)content->number;
        variable->is_push = true;
        variable->pointee = pointer->pointee;
        break;
    case SpvStorageClassStorageBuffer:
        return (is_descriptor ? add_descriptor : add_buffer)(r, variable, content);
    case SpvStorageClassUniform:
        if (is_descriptor)
            return add_descriptor(r, variable, content);
        if (content->is_buffer_block) // how SPIR-V 1.0 declares storage buffers
            return add_buffer(r, variable, content);
        return add_uniform(r, variable, content);
    case SpvStorageClassUniformConstant: return add_descriptor(r, variable, content);
    case SpvStorageClassAtomicCounter: return err_set(r->e, "counters are not supported");
    }
    return true;
}

// The instructions that matter, with the fewest words that they may have.
static const struct {
    uint16_t op, words;
} instructions[] = {
    {SpvOpEntryPoint, 4},
    {SpvOpExecutionMode, 3},
    {SpvOpExecutionModeId, 3},
    {SpvOpCapability, 2},
    {SpvOpTypeBool, 2},
    {SpvOpTypeInt, 4},
    {SpvOpTypeFloat, 3},
    {SpvOpTypeVector, 4},
    {SpvOpTypeMatrix, 4},
    {SpvOpTypeCooperativeMatrixNV, 6},
    {SPIRV_OP_TYPE_MATRIX_KHR, 7},
    {SpvOpTypeImage, 9},
    {SpvOpTypeSampler, 2},
    {SpvOpTypeSampledImage, 3},
    {SpvOpTypeArray, 4},
    {SpvOpTypeRuntimeArray, 3},
    {SpvOpTypeStruct, 2},
    {SpvOpTypePointer, 4},
    {SpvOpConstant, 4},
    {SpvOpConstantComposite, 3},
    {SpvOpSpecConstant, 4},
    {SpvOpSpecConstantComposite, 3},
    {SpvOpVariable, 4},
    {SpvOpDecorate, 3},
    {SpvOpMemberDecorate, 4},
    {SpvOpDecorationGroup, 2},
    {SpvOpLoopMerge, 4},
    {SpvOpTypeForwardPointer, 3},
    {SpvOpFunction, 5},
    {SpvOpFunctionParameter, 3},
    {SpvOpAccessChain, 4},
    {SpvOpInBoundsAccessChain, 4},
    {SpvOpPtrAccessChain, 5},
    {SpvOpInBoundsPtrAccessChain, 5},
    {SpvOpCopyObject, 4},
    {SpvOpLoad, 4},
    {SpvOpFunctionCall, 4},
    {SpvOpAtomicLoad, 4},
    {SpvOpStore, 3},
    {SpvOpCopyMemory, 3},
    {SpvOpAtomicStore, 5},
    {SpvOpCooperativeMatrixStoreNV, 5},
    {SPIRV_OP_MATRIX_STORE_KHR, 4},
    {SPIRV_OP_MATRIX_STORE_TENSOR, 4},
};

// An image, or a pointer to a texel, belongs to the variable of what it is made of.
static void pass_on(struct reader *r, uint32_t result, uint32_t from)
{
    if (result >= r->bound)
        return;
    r->id[result].root = id_get(r, from)->root;
    r->id[result].element = id_get(r, from)->element;
    learn_bits(r, &r->id[result].addresses, id_get(r, from)->addresses);
}

// The results of these may be one of their operands, from the word that is returned on. 0: they
// are not.
static uint32_t choices_of(uint32_t op)
{
    switch (op) {
    case SpvOpSelect: return 4;
    case SpvOpPhi: // whose blocks have no addresses
    case SpvOpBitcast:
    case SpvOpConvertUToPtr:
    case SpvOpConvertPtrToU:
    case SpvOpCompositeConstruct:
    case SpvOpCompositeExtract: // whose indices are taken for ids, of which most have none
    case SpvOpIAdd: return 3;
    default: return 0;
    }
}

// Reads a load, of an image or of what may be an address: a member of the push constants, or what
// a variable holds.
static void read_load(struct reader *r, const uint32_t *w)
{
    const struct id *from = id_get(r, w[3]);
    uint32_t place = from->offset ? (from->offset - 1) / 8 : 32;
    if (id_get(r, w[1])->is_opaque) {
        pass_on(r, w[2], w[3]);
        return;
    }
    if (w[2] < r->bound && id_get(r, w[1])->kind == POINTER && place < 32)
        learn_bits(r, &r->id[w[2]].addresses, UINT32_C(1) << place);
    if (w[2] < r->bound)
        learn_bits(r, &r->id[w[2]].addresses, r->id[from->root].held);
    note_read(r, w[3]);
}

static void read_store(struct reader *r, const uint32_t *w)
{
    const struct id *to = id_get(r, w[1]);
    note_write(r, w[1]);
    if (to->root)
        learn_bits(r, &r->id[to->root].held, id_get(r, w[2])->addresses);
}

// The parameters of a function stand behind it. One whose function is not found, or that has other
// parameters than it gets, is none that a driver takes.
static void read_call(struct reader *r, const uint32_t *w, uint32_t n)
{
    const struct id *function = id_get(r, w[3]);
    size_t at = function->kind == UNKNOWN ? function->number : r->count;
    for (uint32_t i = 4; i < n && at < r->count; i++, at += r->word[at] >> 16) {
        const uint32_t *p = r->word + at;
        if ((p[0] & 0xffff) != SpvOpFunctionParameter)
            return;
        if (p[2] < r->bound)
            read_argument(r, w[i], &r->id[p[2]]);
    }
}

// Reads an instruction for the buffers that it accesses, of a function or before those.
static void read_accesses(struct reader *r, const uint32_t *w, uint32_t n)
{
    uint32_t op = w[0] & 0xffff, choice = choices_of(op);
    bool is_atomic = (op >= SpvOpAtomicExchange && op <= SpvOpAtomicXor) ||
                     op == SPIRV_OP_ATOMIC_MIN || op == SPIRV_OP_ATOMIC_MAX ||
                     op == SPIRV_OP_ATOMIC_ADD;
    for (uint32_t i = choice; choice && i < n && w[2] < r->bound; i++)
        learn_bits(r, &r->id[w[2]].addresses, id_get(r, w[i])->addresses);
    switch (op) {
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain: read_chain(r, w, n); break;
    case SpvOpPtrAccessChain:
    case SpvOpInBoundsPtrAccessChain:
    case SpvOpCopyObject: pass_on(r, w[2], w[3]); break; // the result is its base, or behind it
    case SpvOpLoad: read_load(r, w); break;
    case SpvOpAtomicLoad: note_read(r, w[3]); break;
    case SpvOpFunctionCall: read_call(r, w, n); break;
    case SpvOpCopyMemory:
        note_read(r, w[2]);
        note_write(r, w[1]);
        break;
    case SpvOpStore: read_store(r, w); break;
    case SpvOpAtomicStore:
    case SpvOpCooperativeMatrixStoreNV:
    case SPIRV_OP_MATRIX_STORE_KHR:
    case SPIRV_OP_MATRIX_STORE_TENSOR: note_write(r, w[1]); break;
    case SpvOpImageWrite:
        if (n > 2)
            note_write(r, w[1]);
        break;
    case SpvOpSampledImage:
    case SpvOpImage:
    case SpvOpImageTexelPointer:
        if (n > 3)
            pass_on(r, w[2], w[3]);
        break;
    default:
        if (is_atomic && n > 3)
            note_write(r, w[3]);
        if ((is_atomic || (op >= SpvOpImageSampleImplicitLod && op <= SpvOpImageRead)) && n > 3)
            note_read(r, w[3]);
    }
}

// Follows what functions get, until a round finds nothing new.
static bool follow_accesses(struct reader *r)
{
    r->has_news = r->functions > 0;
    for (int round = 0; r->has_news; round++) {
        if (round == MAX_ROUNDS)
            return err_set(r->e, "its functions hand buffers on more than %d deep", MAX_ROUNDS);
        r->has_news = false;
        for (size_t at = r->functions; at < r->count; at += r->word[at] >> 16)
            read_accesses(r, r->word + at, r->word[at] >> 16);
    }
    return true;
}

// Other instructions matter as types, which take no counted memory.
static bool read_other(struct reader *r, uint32_t op, const uint32_t *w, uint32_t n)
{
    bool is_type = op >= SpvOpTypeVoid && op <= SpvOpTypeFunction && n > 1;
    return !is_type || op == SpvOpTypeVoid || op == SpvOpTypeFunction ||
           type_define(r, w[1], VALUE, 0, 1);
}

// A function is known by where its parameters begin.
static bool read_function(struct reader *r, const uint32_t *w, uint32_t n)
{
    size_t at = (size_t)(w - r->word);
    if (!r->functions)
        r->functions = at;
    if (w[2] < r->bound)
        r->id[w[2]].number = at + n;
    return true;
}

static bool read_parameter(struct reader *r, const uint32_t *w)
{
    if (w[2] == 0 || w[2] >= r->bound)
        return malformed(r, "bad result id");
    r->id[w[2]].root = w[2];
    r->id[w[2]].is_parameter = true;
    return true;
}

static bool read_instruction(struct reader *r, const uint32_t *w, uint32_t n)
{
    uint32_t op = w[0] & 0xffff;
    size_t known = 0;
    while (known < sizeof instructions / sizeof *instructions && instructions[known].op != op)
        known++;
    if (known == sizeof instructions / sizeof *instructions)
        return read_other(r, op, w, n);
    if (n < instructions[known].words)
        return malformed(r, "instruction cut short");
    switch (op) {
    case SpvOpCapability: return read_capability(r, w[1]);
    case SpvOpEntryPoint:
        if (!memchr(w + 3, 0, (n - 3) * sizeof *w))
            return malformed(r, "name of an entry point");
        if (w[1] != SpvExecutionModelGLCompute || r->entry_points++)
            return err_set(r->e, "not a module with one compute entry point");
        return true;
    case SpvOpExecutionMode:
    case SpvOpExecutionModeId: return read_execution_mode(r, w, n);
    case SpvOpDecorate: return read_decorate(r, w, n);
    case SpvOpMemberDecorate:
        if (!r->decorations)
            r->decorations = (size_t)(w - r->word);
        return true;
    case SpvOpDecorationGroup: return err_set(r->e, "SPIR-V decoration groups are not supported");
    case SpvOpConstant:
    case SpvOpSpecConstant: {
        struct id *c = id_define(r, w[2], CONSTANT);
        if (c)
            c->number = w[3] | (n > 4 ? (uint64_t)w[4] << 32 : 0);
        return c;
    }
    case SpvOpConstantComposite:
    case SpvOpSpecConstantComposite: return read_composite(r, w, n);
    case SpvOpVariable: return read_variable(r, w);
    case SpvOpLoopMerge: r->facts->has_loops = true; return true;
    case SpvOpFunction: return read_function(r, w, n);
    case SpvOpFunctionParameter: return read_parameter(r, w);
    default: // read_accesses reads what is no type
        return (op > SpvOpTypeForwardPointer && op != SpvOpTypeCooperativeMatrixNV &&
                op != SPIRV_OP_TYPE_MATRIX_KHR) ||
               read_type(r, op, w, n);
    }
}

static bool finish_size(struct reader *r)
{
    if (r->entry_points != 1)
        return err_set(r->e, "not a module with one compute entry point");
    for (int i = 0; i < 3; i++) {
        uint32_t size = r->size[i];
        if (r->size_from == SIZE_IDS) {
            const struct id *c = id_get(r, size);
            size = c->kind == CONSTANT ? (uint32_t)c->number : 0;
        }
        if (r->size_from == SIZE_MISSING || size == 0)
            return err_set(r->e, "the module has no workgroup size");
        r->facts->local_size[i] = size;
    }
    return true;
}

bool kernel_inspect(const struct spirv *s, struct kernel_facts *out, struct err *e)
{
    *out = (struct kernel_facts){.words = s->count};
    struct reader r = {.word = s->word, .count = s->count, .facts = out, .e = e};
    if (s->count < HEADER || s->word[0] != SpvMagicNumber || s->word[1] >> 16 != 1)
        return malformed(&r, "no SPIR-V 1.x header");
    out->spirv_minor = s->word[1] >> 8 & 0xff;
    r.bound = s->word[3];
    if (r.bound == 0 || r.bound > MAX_BOUND)
        return malformed(&r, "bound of ids");
    r.id = mem_zero(r.bound, sizeof *r.id);
    bool ok = true;
    for (size_t at = HEADER; ok && at < r.count; at += r.word[at] >> 16) {
        uint32_t n = r.word[at] >> 16;
        ok = n == 0 || n > r.count - at ? malformed(&r, "instruction runs past the end")
                                        : read_instruction(&r, r.word + at, n);
    }
    ok = ok && finish_size(&r) && follow_accesses(&r);
    free(r.id);
    return ok;
}

const char *kernel_entry(const struct spirv *s)
{
    size_t at = HEADER;
    while ((s->word[at] & 0xffff) != SpvOpEntryPoint)
        at += s->word[at] >> 16;
    return (const char *)(s->word + at + 3);
}
