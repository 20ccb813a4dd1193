// One pass over the module (SPIR-V spec 2.3: header, then instructions in a fixed order of
// sections). Decorations come before types, types before their users, so that every type's layout
// is known when it is needed, and nothing recurses.
#include "kernel/kernel.h"

#include "base/mem.h"
#include "base/times.h"
#include "kernel/enumerants.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HEADER      5       // words
#define MAX_BOUND   4194304 // SPIR-V spec 2.17, universal limits
#define MAX_BINDING 4096

// What is known of a result id.
struct id {
    enum { UNKNOWN, VALUE, STRUCT, POINTER, CONSTANT } kind; // VALUE: any other type with a size
    uint64_t size, align;                                    // of VALUE, STRUCT, POINTER
    uint32_t pointee;                                        // of POINTER
    uint64_t number; // of CONSTANT: its value, for a specialization constant the default; of
                     // STRUCT: where its last member ends
    uint32_t stride, binding, set;
    uint32_t root; // of what is reached from a buffer: the variable
    bool has_binding, is_buffer_block, is_workgroup_size;
};

struct reader {
    const uint32_t *word;
    size_t count;
    struct id *id; // `bound` of them; number 0 is never a result and stays UNKNOWN
    uint32_t bound;
    size_t decorations; // where the first member decoration stands; 0: none yet
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

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t align_up(uint64_t n, uint64_t align) // a power of two
{
    return add(n, align - 1) & ~(align - 1);
}

static bool read_capability(struct reader *r, const uint32_t *w, uint32_t n)
{
    (void)n;
    struct kernel_facts *f = r->facts;
    if (f->capability_count == KERNEL_MAX_CAPABILITIES)
        return malformed(r, "too many capabilities");
    f->capability[f->capability_count++] = w[1];
    if (w[1] == SpvCapabilityFloat16)
        f->uses_f16 = true;
    if (w[1] == SpvCapabilityStorageBuffer16BitAccess ||
        w[1] == SpvCapabilityUniformAndStorageBuffer16BitAccess)
        f->uses_f16_storage = true;
    if (w[1] == SpvCapabilityInt8 || w[1] == SpvCapabilityStorageBuffer8BitAccess ||
        w[1] == SpvCapabilityUniformAndStorageBuffer8BitAccess)
        f->uses_i8 = true;
    if (w[1] == SpvCapabilityDotProduct || w[1] == SpvCapabilityDotProductInput4x8BitPacked)
        f->uses_dot = true;
    if (w[1] == SpvCapabilityCooperativeMatrixNV)
        f->matrix = MATRIX_NV;
    if (w[1] == SPIRV_CAPABILITY_MATRIX_KHR)
        f->matrix = MATRIX_KHR;
    return true;
}

static bool read_entry_point(struct reader *r, const uint32_t *w, uint32_t n)
{
    (void)n;
    bool is_main = w[3] == 0x6e69616du && w[4] == 0; // "main" in two words
    if (w[1] != SpvExecutionModelGLCompute || !is_main)
        return err_set(r->e, "not a module with one compute entry point named main");
    r->entry_points++;
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

static bool read_member_decorate(struct reader *r, const uint32_t *w, uint32_t n)
{
    (void)n;
    if (!r->decorations)
        r->decorations = (size_t)(w - r->word);
    return true;
}

static bool read_decoration_group(struct reader *r, const uint32_t *w, uint32_t n)
{
    (void)w, (void)n;
    return err_set(r->e, "SPIR-V decoration groups are not supported");
}

static bool read_bool(struct reader *r, const uint32_t *w, uint32_t n)
{
    (void)n;
    return type_define(r, w[1], VALUE, 4, 4);
}

static bool read_number(struct reader *r, const uint32_t *w, uint32_t n)
{
    (void)n;
    if (w[2] != 8 && w[2] != 16 && w[2] != 32 && w[2] != 64)
        return malformed(r, "width of a number");
    return type_define(r, w[1], VALUE, w[2] / 8, w[2] / 8);
}

static bool read_vector(struct reader *r, const uint32_t *w, uint32_t n)
{
    (void)n;
    const struct id *part = type_get(r, w[2]);
    if (!part || part->size == 0 || part->size != part->align || w[3] < 2 || w[3] > 4)
        return malformed(r, "vector type");
    return type_define(r, w[1], VALUE, w[3] * part->size, (w[3] == 3 ? 4 : w[3]) * part->size);
}

// Matrices count as arrays of their columns.
static bool read_matrix(struct reader *r, const uint32_t *w, uint32_t n)
{
    (void)n;
    const struct id *column = type_get(r, w[2]);
    if (!column || w[3] < 2 || w[3] > 4)
        return malformed(r, "matrix type");
    uint64_t stride = align_up(column->size, column->align);
    return type_define(r, w[1], VALUE, times_unsigned(stride, w[3]), column->align);
}

// A fragment, of which there may be arrays, lies in no memory that is counted.
static bool read_fragment(struct reader *r, const uint32_t *w, uint32_t n)
{
    (void)n;
    return type_define(r, w[1], VALUE, 0, 1);
}

static bool read_array(struct reader *r, const uint32_t *w, uint32_t n)
{
    (void)n;
    const struct id *part = type_get(r, w[2]), *length = id_get(r, w[3]);
    if (!part || length->kind != CONSTANT)
        return malformed(r, "array of unknown element or length");
    uint64_t stride = r->id[w[1] < r->bound ? w[1] : 0].stride;
    if (!stride)
        stride = align_up(part->size, part->align);
    return type_define(r, w[1], VALUE, times_unsigned(stride, length->number), part->align);
}

static bool read_runtime_array(struct reader *r, const uint32_t *w, uint32_t n)
{
    (void)n;
    const struct id *part = type_get(r, w[2]);
    if (!part)
        return malformed(r, "array of unknown element");
    return type_define(r, w[1], VALUE, 0, part->align);
}

// The end of the last member of struct instruction `w` by explicit offsets, 0 when there are none.
// Member decorations stand before it, in instructions whose lengths have been checked.
static uint64_t explicit_end(const struct reader *r, const uint32_t *w, uint32_t n)
{
    uint64_t end = 0;
    if (!r->decorations)
        return 0;
    for (const uint32_t *d = r->word + r->decorations; d < w; d += d[0] >> 16)
        if ((d[0] & 0xffff) == SpvOpMemberDecorate && d[0] >> 16 >= 5 && d[1] == w[1] &&
            d[3] == SpvDecorationOffset && d[2] < n - 2) {
            uint64_t last = add(d[4], type_get(r, w[2 + d[2]])->size);
            end = last > end ? last : end;
        }
    return end;
}

static bool read_struct(struct reader *r, const uint32_t *w, uint32_t n)
{
    uint64_t size = 0, align = 1;
    for (uint32_t i = 2; i < n; i++) {
        const struct id *member = type_get(r, w[i]);
        if (!member)
            return malformed(r, "struct member of unknown type");
        size = add(align_up(size, member->align), member->size);
        align = member->align > align ? member->align : align;
    }
    uint64_t end = explicit_end(r, w, n);
    if (!type_define(r, w[1], STRUCT, align_up(end ? end : size, align), align))
        return false;
    r->id[w[1]].number = end ? end : size;
    return true;
}

static bool read_pointer(struct reader *r, const uint32_t *w, uint32_t n)
{
    (void)n;
    if (!type_define(r, w[1], POINTER, 8, 8))
        return false;
    r->id[w[1]].pointee = w[3];
    return true;
}

static bool read_constant(struct reader *r, const uint32_t *w, uint32_t n)
{
    struct id *c = id_define(r, w[2], CONSTANT);
    if (!c)
        return false;
    c->number = w[3] | (n > 4 ? (uint64_t)w[4] << 32 : 0);
    return true;
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

static bool read_loop_merge(struct reader *r, const uint32_t *w, uint32_t n)
{
    (void)w, (void)n;
    r->facts->has_loops = true;
    return true;
}

// OpAccessChain and the like: what it gives belongs to what it begins at.
static bool read_chain(struct reader *r, const uint32_t *w, uint32_t n)
{
    (void)n;
    if (w[2] < r->bound)
        r->id[w[2]].root = id_get(r, w[3])->root;
    return true;
}

static bool note_write(struct reader *r, uint32_t pointer)
{
    uint32_t root = id_get(r, pointer)->root;
    if (root && id_get(r, root)->binding < 32)
        r->facts->written |= UINT32_C(1) << id_get(r, root)->binding;
    return true;
}

static bool read_store(struct reader *r, const uint32_t *w, uint32_t n)
{
    (void)n;
    return note_write(r, w[1]);
}

static bool add_buffer(struct reader *r, struct id *variable, const struct id *content)
{
    if (content->kind != STRUCT || !variable->has_binding || variable->set != 0 ||
        variable->binding >= MAX_BINDING)
        return err_set(r->e, "a buffer must be a block with a binding in descriptor set 0");
    if (variable->binding >= r->facts->bindings)
        r->facts->bindings = variable->binding + 1;
    variable->root = (uint32_t)(variable - r->id);
    return true;
}

static bool read_variable(struct reader *r, const uint32_t *w, uint32_t n)
{
    (void)n;
    struct kernel_facts *f = r->facts;
    struct id *variable = &r->id[w[2] < r->bound ? w[2] : 0];
    const struct id *pointer = id_get(r, w[1]);
    const struct id *content = type_get(r, pointer->kind == POINTER ? pointer->pointee : 0);
    bool sized = w[3] == SpvStorageClassWorkgroup || w[3] == SpvStorageClassPushConstant ||
                 w[3] == SpvStorageClassStorageBuffer || w[3] == SpvStorageClassUniform;
    if (sized && !content)
        return malformed(r, "variable of unknown type");
    switch (w[3]) {
    case SpvStorageClassWorkgroup:
        f->shared_bytes = add(align_up(f->shared_bytes, content->align), content->size);
        break;
    case SpvStorageClassPushConstant:
        if (content->kind != STRUCT || content->number > UINT32_MAX)
            return malformed(r, "push constant block");
        if (content->number > f->push_bytes)
            f->push_bytes = (uint32_t)content->number;
        break;
    case SpvStorageClassStorageBuffer: return add_buffer(r, variable, content);
    case SpvStorageClassUniform:
        if (content->is_buffer_block) // how SPIR-V 1.0 declares storage buffers
            return add_buffer(r, variable, content);
        return err_set(r->e, "uniform buffers are not supported, only storage buffers");
    case SpvStorageClassUniformConstant:
    case SpvStorageClassAtomicCounter:
        return err_set(r->e, "images, samplers and counters are not supported");
    }
    return true;
}

// Instructions that matter, with the fewest words they may have.
static const struct instruction {
    uint16_t op, words;
    bool (*read)(struct reader *r, const uint32_t *w, uint32_t n);
} instructions[] = {
    {SpvOpEntryPoint, 5, read_entry_point},
    {SpvOpExecutionMode, 3, read_execution_mode},
    {SpvOpCapability, 2, read_capability},
    {SpvOpTypeBool, 2, read_bool},
    {SpvOpTypeInt, 4, read_number},
    {SpvOpTypeFloat, 3, read_number},
    {SpvOpTypeVector, 4, read_vector},
    {SpvOpTypeMatrix, 4, read_matrix},
    {SpvOpTypeCooperativeMatrixNV, 6, read_fragment},
    {SPIRV_OP_TYPE_MATRIX_KHR, 7, read_fragment},
    {SpvOpTypeArray, 4, read_array},
    {SpvOpTypeRuntimeArray, 3, read_runtime_array},
    {SpvOpTypeStruct, 2, read_struct},
    {SpvOpTypePointer, 4, read_pointer},
    {SpvOpConstant, 4, read_constant},
    {SpvOpConstantComposite, 3, read_composite},
    {SpvOpSpecConstant, 4, read_constant},
    {SpvOpSpecConstantComposite, 3, read_composite},
    {SpvOpVariable, 4, read_variable},
    {SpvOpDecorate, 3, read_decorate},
    {SpvOpMemberDecorate, 4, read_member_decorate},
    {SpvOpDecorationGroup, 2, read_decoration_group},
    {SpvOpLoopMerge, 4, read_loop_merge},
    {SpvOpAccessChain, 4, read_chain},
    {SpvOpInBoundsAccessChain, 4, read_chain},
    {SpvOpCopyObject, 4, read_chain},
    {SpvOpStore, 3, read_store},
    {SpvOpCopyMemory, 3, read_store},
    {SpvOpAtomicStore, 5, read_store},
    {SpvOpCooperativeMatrixStoreNV, 5, read_store},
    {SPIRV_OP_MATRIX_STORE_KHR, 4, read_store},
    {SpvOpExecutionModeId, 3, read_execution_mode},
};

static bool read_instruction(struct reader *r, const uint32_t *w, uint32_t n)
{
    uint32_t op = w[0] & 0xffff;
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++) {
        const struct instruction *known = &instructions[i];
        if (known->op == op)
            return n < known->words ? malformed(r, "instruction cut short") : known->read(r, w, n);
    }
    if (op >= SpvOpAtomicExchange && op <= SpvOpAtomicXor && n > 3) {
        (void)n;
        return note_write(r, w[3]);
    }
    return true;
}

static bool read_all(struct reader *r)
{
    for (size_t at = HEADER; at < r->count;) {
        uint32_t n = r->word[at] >> 16;
        if (n == 0 || n > r->count - at)
            return malformed(r, "instruction runs past the end");
        if (!read_instruction(r, r->word + at, n))
            return false;
        at += n;
    }
    return true;
}

static bool finish_size(struct reader *r)
{
    if (r->entry_points != 1)
        return err_set(r->e, "not a module with one compute entry point named main");
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
    r.bound = s->word[3];
    if (r.bound == 0 || r.bound > MAX_BOUND)
        return malformed(&r, "bound of ids");
    r.id = mem_zero(r.bound, sizeof *r.id);
    bool ok = read_all(&r) && finish_size(&r);
    free(r.id);
    return ok;
}
