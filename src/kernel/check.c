#include "kernel/kernel.h"

#include "base/mem.h"
#include "kernel/enumerants.h"
#include "kernel/fit.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- push constants and uniform blocks ---
//
// A block is divided into its numbers, down through arrays, vectors, matrices and structures
// (SPIR-V spec 3.20; decorations Offset, ArrayStride, MatrixStride, RowMajor have their positions).

enum {
    HEADER = 5, // words
    MOST_PARTS = 4096
};

struct number {
    uint32_t at, bytes; // its position in the block, its size
    enum push_kind kind;
    const char *name; // of the block's member with it; NULL: not known
    bool is_given;
};

struct block {
    const struct spirv *module;
    uint32_t *place; // by id: the offset of a type or constant in the module; 0: it is neither
    uint32_t bound;
    struct number number[JOB_MAX_BLOCK];
    int count, parts;
    const char *what, *given; // "push constant", "push"
};

static const uint32_t *words_of(const struct block *b, uint32_t id)
{
    return b->module->word + (id < b->bound ? b->place[id] : 0);
}

static void find_places(struct block *b)
{
    const struct spirv *s = b->module;
    for (size_t at = HEADER; at < s->count; at += s->word[at] >> 16) {
        const uint32_t *w = s->word + at;
        uint32_t op = w[0] & 0xffff;
        bool is_type = op >= SpvOpTypeVoid && op <= SpvOpTypePointer && w[0] >> 16 > 1;
        bool is_value = (op == SpvOpConstant || op == SpvOpVariable) && w[2] < b->bound;
        if (is_type && w[1] < b->bound && op != SpvOpTypeForwardPointer)
            b->place[w[1]] = (uint32_t)at;
        else if (is_value)
            b->place[w[2]] = (uint32_t)at;
    }
}

// Returns the operands of the first decoration or name of a type, or of a member of it. NULL: there
// is none. All of them stand before types and variables.
static const uint32_t *decoration_of(const struct block *b, uint32_t op, uint32_t id,
                                     uint32_t member, uint32_t decoration)
{
    const struct spirv *s = b->module;
    bool of_member = op != SpvOpDecorate, is_name = op == SpvOpMemberName;
    for (size_t at = HEADER; at < b->place[id]; at += s->word[at] >> 16) {
        const uint32_t *w = s->word + at, head = 2u + of_member + !is_name;
        if ((w[0] & 0xffff) == op && w[0] >> 16 >= head && w[1] == id &&
            (!of_member || w[2] == member) && (is_name || w[head - 1] == decoration))
            return w + head;
    }
    return NULL;
}

static uint32_t decoration_number(const struct block *b, uint32_t op, uint32_t id, uint32_t member,
                                  uint32_t decoration)
{
    const uint32_t *w = decoration_of(b, op, id, member, decoration);
    return w && w < b->module->word + b->place[id] ? w[0] : 0;
}

// Returns the name of a member; NULL: it has none. Literals end with a zero within their
// instruction.
static const char *member_name(const struct block *b, uint32_t id, uint32_t member)
{
    const uint32_t *w = decoration_of(b, SpvOpMemberName, id, member, 0);
    size_t room = w ? (size_t)(b->module->word + b->place[id] - w) * sizeof *w : 0;
    const char *name = (const char *)w;
    return room && *name && memchr(name, 0, room) ? name : NULL;
}

// Returns the structure of a block: of the push constants, or of the uniform block with this
// binding; 0: there is none.
static uint32_t find_block(const struct block *b, uint32_t storage, uint32_t binding)
{
    const struct spirv *s = b->module;
    for (size_t at = HEADER; at < s->count; at += s->word[at] >> 16) {
        const uint32_t *w = s->word + at;
        if ((w[0] & 0xffff) != SpvOpVariable || w[3] != storage || w[2] >= b->bound)
            continue;
        if (storage == SpvStorageClassPushConstant ||
            (decoration_number(b, SpvOpDecorate, w[2], 0, SpvDecorationDescriptorSet) ==
                 JOB_UNIFORM_SET &&
             decoration_number(b, SpvOpDecorate, w[2], 0, SpvDecorationBinding) == binding))
            return words_of(b, w[1])[3]; // the pointee
    }
    return 0;
}

static void add_number(struct block *b, uint32_t at, uint32_t bytes, enum push_kind kind,
                       const char *name)
{
    if (b->count < JOB_MAX_BLOCK)
        b->number[b->count++] = (struct number){at, bytes, kind, name, false};
}

struct part {
    uint32_t id, at; // its type; its position in the block
    uint32_t of,
        member;       // the structure and member that it is in, whose decorations lay matrices out
    const char *name; // of the block's member
};

static void add_part(struct block *b, struct part p);

// Adds `count` parts of another type from the position of `p` on.
static void add_row(struct block *b, struct part p, uint32_t id, uint32_t count, uint32_t stride)
{
    p.id = id;
    for (uint32_t i = 0; i < count && p.at < JOB_MAX_BLOCK && b->parts < MOST_PARTS; i++) {
        add_part(b, p);
        if (!stride)
            return;
        p.at += stride < JOB_MAX_BLOCK ? stride : JOB_MAX_BLOCK;
    }
}

static void add_part(struct block *b, struct part p)
{
    const uint32_t *w = words_of(b, p.id);
    if (b->parts++ >= MOST_PARTS || p.at >= JOB_MAX_BLOCK)
        return;
    switch (w[0] & 0xffff) {
    case SpvOpTypeInt:
        add_number(b, p.at, w[2] / 8, w[3] ? PUSH_SIGNED : PUSH_UNSIGNED, p.name);
        break;
    case SpvOpTypeFloat: add_number(b, p.at, w[2] / 8, PUSH_FLOAT, p.name); break;
    case SpvOpTypePointer: add_number(b, p.at, 8, PUSH_ADDRESS, p.name); break;
    case SpvOpTypeVector: add_row(b, p, w[2], w[3], words_of(b, w[2])[2] / 8); break;
    case SpvOpTypeMatrix: {
        const uint32_t *column = words_of(b, w[2]), bytes = words_of(b, column[2])[2] / 8;
        const uint32_t stride =
            decoration_number(b, SpvOpMemberDecorate, p.of, p.member, SpvDecorationMatrixStride);
        bool by_rows = decoration_of(b, SpvOpMemberDecorate, p.of, p.member, SpvDecorationRowMajor);
        for (uint32_t i = 0; i < w[3]; i++) {
            add_row(b, p, column[2], column[3], by_rows ? stride : bytes);
            p.at += by_rows ? bytes : stride;
        }
    } break;
    case SpvOpTypeStruct: {
        bool is_block = !p.of;
        struct part m = {.of = p.id, .name = p.name};
        for (; m.member + 2 < w[0] >> 16; m.member++) {
            m.id = w[2 + m.member];
            m.at = p.at +
                   decoration_number(b, SpvOpMemberDecorate, p.id, m.member, SpvDecorationOffset);
            if (is_block)
                m.name = member_name(b, p.id, m.member);
            add_part(b, m);
        }
    } break;
    case SpvOpTypeArray:
        add_row(b, p, w[2], words_of(b, w[3])[3],
                decoration_number(b, SpvOpDecorate, p.id, 0, SpvDecorationArrayStride));
        break;
    }
}

// Writes a type as space files do: u32.
static const char *type_name(uint32_t kind, uint32_t bytes, char out[8])
{
    if (kind == PUSH_ADDRESS)
        return "an address";
    snprintf(out, 8, "%c%u", "uif"[kind], 8 * bytes);
    return out;
}

static const char *quoted(const char *name, char out[80])
{
    *out = '\0';
    if (name)
        snprintf(out, 80, "'%.60s' ", name);
    return out;
}

// Checks that the block has the number that a field gives.
static bool check_number(struct block *b, const struct push_field *f, int field, uint32_t at,
                         struct err *e)
{
    struct number *n = NULL;
    for (int i = 0; i < b->count && !n; i++)
        if (b->number[i].at == at)
            n = &b->number[i];
    char is[8], gives[8], name[80];
    if (!n)
        return err_set(e,
                       "it has no %s at byte %" PRIu32
                       ", where field %d of %s lies (offset = says where one lies)",
                       b->what, at, field, b->given);
    n->is_given = true;
    if (f->name[0] && n->name && strcmp(f->name, n->name) != 0)
        return err_set(e, "its %s at byte %" PRIu32 " is '%.60s', field %d of %s means '%s'",
                       b->what, at, n->name, field, b->given, f->name);
    bool is_address = f->kind == PUSH_ADDRESS;
    if (f->bytes == n->bytes &&
        (f->kind == n->kind || (f->kind == PUSH_WHOLE && n->kind <= PUSH_SIGNED) ||
         (is_address && n->kind == PUSH_UNSIGNED)))
        return true;
    type_name(n->kind, n->bytes, is);
    if (n->kind == PUSH_ADDRESS)
        return err_set(e,
                       "its %s %sat byte %" PRIu32
                       " is an address (address = { \"BUFFER\" } gives those that come first)",
                       b->what, quoted(n->name, name), at);
    if (is_address)
        return err_set(e, "its %s %sat byte %" PRIu32 " is %s, where address = gives an address",
                       b->what, quoted(n->name, name), at, is);
    return err_set(
        e, "its %s %sat byte %" PRIu32 " is %s, field %d of %s gives %s (write { \"%s\", value })",
        b->what, quoted(n->name, name), at, is, field, b->given,
        f->kind == PUSH_WHOLE ? "a whole number" : type_name(f->kind, f->bytes, gives), is);
}

// Checks the numbers of one block, whose structure is `type`.
static bool check_block(struct block *b, uint32_t type, const struct job_block *given,
                        struct err *e)
{
    char name[80], is[8];
    bool ok = true;
    b->count = b->parts = 0;
    add_part(b, (struct part){.id = type});
    for (int i = 0; i < given->field_count; i++) {
        const struct push_field *f = &given->field[i];
        for (uint32_t k = 0; ok && k < f->count; k++)
            ok = check_number(b, f, i + 1, f->at + k * f->bytes, e);
    }
    for (int i = 0; ok && i < b->count; i++) {
        const struct number *n = &b->number[i];
        if (!n->is_given)
            ok = err_set(e, "its %s %sat byte %" PRIu32 ", %s, is not given (%s)", b->what,
                         quoted(n->name, name), n->at, type_name(n->kind, n->bytes, is),
                         n->kind == PUSH_ADDRESS ? "address = { \"BUFFER\" }"
                         : str_equal(b->given, "push")
                             ? "push = function(c) ... end"
                             : "uniform = { [BINDING] = function(c) ... end }");
    }
    return ok;
}

bool kernel_check_push(const struct spirv *s, const struct pass *p, struct err *e)
{
    struct block b = {.module = s, .bound = s->word[3], .what = "push constant", .given = "push"};
    b.place = mem_zero(b.bound, sizeof *b.place);
    find_places(&b);
    bool ok = check_block(&b, find_block(&b, SpvStorageClassPushConstant, 0), &p->push, e);
    b.what = "uniform";
    b.given = "uniform";
    for (int i = 0; ok && i < p->uniform_count; i++)
        ok = check_block(&b, find_block(&b, SpvStorageClassUniform, (uint32_t)i),
                         &p->uniform[i].block, e);
    free(b.place);
    return ok;
}

// --- limits of the device ---

uint32_t kernel_subgroup(const struct kernel_facts *f, const struct limits *l)
{
    return f->subgroup ? f->subgroup : f->matrix != MATRIX_NONE ? l->subgroup_size : 0;
}

// Follows the Vulkan spec, VkPipelineShaderStageRequiredSubgroupSizeCreateInfo and VUID 02756. That
// all subgroups are full is our own rule: the rest of the last one would be idle.
static bool lacks_subgroup(const struct kernel_facts *f, const struct limits *l, char *reason,
                           size_t size)
{
    uint32_t asked = f->subgroup;
    uint64_t invocations = (uint64_t)f->local_size[0] * f->local_size[1] * f->local_size[2];
    if (!asked || !limits_knows(l, LIMITS_subgroup_most))
        return false;
    if (!l->subgroup_most)
        snprintf(reason, size,
                 "needs subgroups of %" PRIu32 ", which the device lets no kernel ask for", asked);
    else if (asked < l->subgroup_least || asked > l->subgroup_most)
        snprintf(reason, size,
                 "needs subgroups of %" PRIu32 ", the device has %" PRIu32 " to %" PRIu32, asked,
                 l->subgroup_least, l->subgroup_most);
    else if (invocations % asked)
        snprintf(reason, size, "%" PRIu64 " invocations do not fill subgroups of %" PRIu32,
                 invocations, asked);
    else if (invocations / asked > l->group_subgroups)
        snprintf(reason, size, "subgroups %" PRIu64 " > %" PRIu32, invocations / asked,
                 l->group_subgroups);
    else
        return false;
    return true;
}

// Returns whether the device's matrices of a workgroup are not for one of that size: at most so
// many invocations, 1, 2, 4, ... subgroups (Vulkan spec, VUID 10169). Which of these sizes it lists
// for which types (workgroupInvocations) is not judged: presets take listed ones alone.
static bool lacks_group_matrices(const struct kernel_facts *f, const struct limits *l)
{
    uint64_t invocations = (uint64_t)f->local_size[0] * f->local_size[1] * f->local_size[2];
    uint64_t subgroups = invocations / kernel_subgroup(f, l);
    return f->has_group_matrices &&
           (!(l->features & FEATURE_MATRIX2) || invocations > l->matrix_invocations ||
            (subgroups & (subgroups - 1)));
}

// Returns why the matrix units cannot be used, or NULL. They need full subgroups along x, of the
// device's size even where a kernel requires another one (Vulkan spec, VUID 08987).
static const char *lacks_matrix(const struct kernel_facts *f, const struct limits *l)
{
    if (f->matrix == MATRIX_NONE || !limits_knows(l, LIMITS_matrix))
        return NULL;
    if (f->matrix != l->matrix.api)
        return "needs matrix units, which the device does not have";
    if (lacks_group_matrices(f, l))
        return "needs matrices of a workgroup of its size, which the device does not have";
    bool full =
        f->local_size[0] % l->subgroup_size == 0 && f->local_size[0] % kernel_subgroup(f, l) == 0;
    return full ? NULL : "its subgroups are not full along x";
}

struct kernel_uses kernel_descriptor_uses(const struct kernel_facts *f, const struct pass *p)
{
    struct kernel_uses uses = {0};
    for (int i = 0; i < f->descriptor_count; i++) {
        const struct kernel_descriptor *d = &f->descriptor[i];
        for (uint32_t k = 0; d->kind != DESCRIPTOR_SAMPLER && k < d->count; k++) {
            int buffer = pass_buffer_at(p, d->at, k);
            uint32_t bit = buffer >= 0 && buffer < 32 ? UINT32_C(1) << buffer : 0;
            uses.read |= d->read >> k & 1 ? bit : 0;
            uses.written |= d->written >> k & 1 ? bit : 0;
            uses.may_write |= d->may_write >> k & 1 ? bit : 0;
        }
    }
    return uses;
}

// Any device binds four sets and 128 resources (maxBoundDescriptorSets, maxPerStageResources).
static_assert(JOB_DESCRIPTOR_SET < 4, "more descriptor sets than some devices bind");
static_assert(JOB_MAX_BUFFERS + JOB_MAX_UNIFORMS + JOB_MAX_DESCRIPTORS <= 128,
              "more resources than some devices bind");

bool kernel_check_counts(const struct kernel_facts *f, int buffers, const struct limits *l,
                         char *reason, size_t size)
{
    uint32_t storage = (uint32_t)buffers, stored = 0, sampled = 0, samplers = 0;
    for (int i = 0; i < f->descriptor_count; i++) {
        enum descriptor kind = f->descriptor[i].kind;
        uint32_t count = f->descriptor[i].count;
        storage += kind == DESCRIPTOR_BUFFER ? count : 0;
        stored += kind == DESCRIPTOR_STORAGE_IMAGE || kind == DESCRIPTOR_STORAGE_TEXELS ? count : 0;
        sampled += kind == DESCRIPTOR_SAMPLED_IMAGE || kind == DESCRIPTOR_COMBINED ||
                           kind == DESCRIPTOR_TEXELS
                       ? count
                       : 0;
        samplers += kind == DESCRIPTOR_SAMPLER || kind == DESCRIPTOR_COMBINED ? count : 0;
    }
    const struct {
        const char *what;
        uint32_t has, most;
    } counts[] = {{"buffers", storage, l->buffers},
                  {"storage images and storage texel buffers", stored, l->storage_images},
                  {"sampled images and texel buffers", sampled, l->sampled_images},
                  {"samplers", samplers, l->samplers}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].most && counts[i].has > counts[i].most) {
            snprintf(reason, size, "%s %" PRIu32 " > %" PRIu32, counts[i].what, counts[i].has,
                     counts[i].most);
            return false;
        }
    return true;
}

bool kernel_check_formats(const struct kernel_facts *f, const struct pass *p,
                          const struct limits *l, char *reason, size_t size)
{
    for (int i = 0; i < f->descriptor_count && limits_knows(l, LIMITS_formats); i++) {
        const struct kernel_descriptor *d = &f->descriptor[i];
        for (uint32_t k = 0; k < d->count; k++) {
            const struct job_image *image = pass_image_of(p, pass_buffer_at(p, d->at, k));
            if (d->kind >= DESCRIPTOR_SAMPLER || !image)
                continue;
            enum texel_format format = (enum texel_format)image->form.format;
            uint64_t bit = descriptor_bit(d->kind, format);
            if ((l->formats & bit) == bit)
                continue;
            snprintf(reason, size, "needs a %s of %s, which the device does not have",
                     descriptor_name(d->kind), texel_traits[format].name);
            return false;
        }
    }
    return true;
}

// Returns the buffers that the pass writes, as bits: those that are bound, and by their addresses.
static uint32_t writes_of(const struct kernel_facts *f, const struct pass *p)
{
    uint32_t written = f->written | kernel_descriptor_uses(f, p).written;
    for (int i = 0; i < p->address_count && i < 32; i++)
        if (f->address_written >> i & 1 && p->address[i] < 32)
            written |= UINT32_C(1) << p->address[i];
    return written;
}

bool kernel_check_use(const struct spirv *s, const struct kernel_facts *f, const struct pass *p,
                      const struct job_roles *r, struct err *e)
{
    struct err raw = {0};
    uint32_t written = writes_of(f, p), inputs = (UINT32_C(1) << r->inputs) - 1;
    uint32_t outputs = ((UINT32_C(1) << r->outputs) - 1) << r->inputs;
    int input = 0;
    while (input < r->inputs && !(written & inputs & UINT32_C(1) << input))
        input++;
    // SPIR-V's blocks end where their last member does; the pass gives whole words.
    bool other_size = (f->push_bytes + 3) / 4 * 4 != p->push.bytes;
    bool has_addresses = f->address_read | f->address_written;
    if (other_size && has_addresses && !kernel_check_push(s, p, &raw))
        return kernel_fail_given(p, &raw, e);
    if (other_size)
        err_set(&raw,
                "its push constants have %" PRIu32 " bytes, %" PRIu32
                " are given (push = function(c) ... end)",
                f->push_bytes, p->push.bytes);
    else if (!kernel_check_push(s, p, &raw))
        return kernel_fail_given(p, &raw, e);
    else if (input < r->inputs)
        err_set(&raw,
                "it writes to buffer %d, which is an input (bindings = says what each binding is; "
                "inout = { OUTPUT = \"INPUT\" } where an output begins as an input)",
                input);
    else if (p->once && (written | kernel_descriptor_uses(f, p).may_write) & outputs)
        err_set(&raw, "it writes to the output, and is not timed (once = true is for what packs "
                      "inputs into scratch)");
    else
        return true;
    return kernel_fail_given(p, &raw, e);
}

bool kernel_check_version(const struct kernel_facts *f, uint32_t minor, char *reason, size_t size)
{
    if (!minor || f->spirv_minor <= minor)
        return true;
    snprintf(reason, size, "needs SPIR-V 1.%" PRIu32 ", the device takes 1.%" PRIu32 " at most",
             f->spirv_minor, minor);
    return false;
}

// The known capabilities and the feature that each needs (Vulkan spec, appendix "SPIR-V
// Capabilities"); 0: it is judged elsewhere, or always there.
static const struct capability {
    uint32_t number;
    uint64_t feature;
    const char *name;
} capabilities[] = {
    {SpvCapabilityMatrix, 0, "matrices"},
    {SpvCapabilityShader, 0, "shaders"},
    {SpvCapabilityFloat16, 0, "16-bit floats"},
    {SpvCapabilityFloat64, FEATURE_F64, "64-bit floats"},
    {SpvCapabilityInt64, FEATURE_I64, "64-bit integers"},
    {SpvCapabilityInt16, FEATURE_I16, "16-bit integers"},
    {SpvCapabilityInt8, 0, "8-bit integers"},
    {SpvCapabilityGroupNonUniform, FEATURE_SUBGROUP, "subgroups"},
    {SpvCapabilityGroupNonUniformVote, FEATURE_SUBGROUP << 1, "votes of a subgroup"},
    {SpvCapabilityGroupNonUniformArithmetic, FEATURE_SUBGROUP << 2, "arithmetic of a subgroup"},
    {SpvCapabilityGroupNonUniformBallot, FEATURE_SUBGROUP << 3, "ballots of a subgroup"},
    {SpvCapabilityGroupNonUniformShuffle, FEATURE_SUBGROUP << 4, "shuffles of a subgroup"},
    {SpvCapabilityGroupNonUniformShuffleRelative, FEATURE_SUBGROUP << 5,
     "relative shuffles of a subgroup"},
    {SpvCapabilityGroupNonUniformClustered, FEATURE_SUBGROUP << 6, "clusters of a subgroup"},
    {SpvCapabilityGroupNonUniformQuad, FEATURE_SUBGROUP << 7, "quads of a subgroup"},
    {SpvCapabilityStorageBuffer16BitAccess, 0, "16-bit storage"},
    {SpvCapabilityUniformAndStorageBuffer16BitAccess, 0, "16-bit storage"},
    {SpvCapabilityStorageBuffer8BitAccess, 0, "8-bit storage"},
    {SpvCapabilityUniformAndStorageBuffer8BitAccess, 0, "8-bit storage"},
    {SpvCapabilityDotProduct, 0, "dot products of integers"},
    {SpvCapabilityDotProductInput4x8BitPacked, 0, "dot products of bytes"},
    {SpvCapabilityVulkanMemoryModel, FEATURE_MEMORY_MODEL, "Vulkan's memory model"},
    {SpvCapabilityVulkanMemoryModelDeviceScope, FEATURE_MEMORY_MODEL_DEVICE,
     "the device scope of Vulkan's memory model"},
    {SpvCapabilityCooperativeMatrixNV, 0, "cooperative matrices"},
    {SPIRV_CAPABILITY_MATRIX_KHR, 0, "cooperative matrices"},
    {SPIRV_CAPABILITY_MATRIX2_REDUCTIONS, FEATURE_MATRIX2 << 2, "reductions of matrices"},
    {SPIRV_CAPABILITY_MATRIX2_CONVERSIONS, FEATURE_MATRIX2 << 3, "conversions of matrices"},
    {SPIRV_CAPABILITY_MATRIX2_ELEMENTS, FEATURE_MATRIX2_ELEMENTS,
     "per-element operations of matrices"},
    {SPIRV_CAPABILITY_MATRIX2_TENSORS, FEATURE_MATRIX2_TENSORS, "tensor addressing of matrices"},
    {SPIRV_CAPABILITY_TENSORS, FEATURE_MATRIX2_TENSORS, "tensor addressing of matrices"},
    {SPIRV_CAPABILITY_MATRIX2_BLOCKS, FEATURE_MATRIX2 << 6, "block loads of matrices"},
    {SPIRV_CAPABILITY_BF16, FEATURE_BF16, "bf16"},
    {SPIRV_CAPABILITY_BF16 + 1, FEATURE_BF16 << 1, "dot products of bf16"},
    {SPIRV_CAPABILITY_BF16 + 2, FEATURE_BF16_MATRIX, "matrices of bf16"},
    {SPIRV_CAPABILITY_F8, FEATURE_F8, "floats of 8 bits"},
    {SPIRV_CAPABILITY_F8 + 1, FEATURE_F8_MATRIX, "matrices of floats of 8 bits"},
    {SpvCapabilityPhysicalStorageBufferAddresses, FEATURE_ADDRESS, "addresses of buffers"},
    {SpvCapabilityWorkgroupMemoryExplicitLayoutKHR, FEATURE_SHARED_LAYOUT,
     "explicit layouts of shared memory"},
    {SpvCapabilitySampledBuffer, 0, "texel buffers"},
    {SpvCapabilityImageBuffer, 0, "storage texel buffers"},
    {SpvCapabilityImageQuery, 0, "queries of images"},
    {SpvCapabilityStorageImageExtendedFormats, FEATURE_MORE_FORMATS,
     "storage images of more formats"},
    {SpvCapabilityStorageImageReadWithoutFormat, FEATURE_READ_FORMATLESS,
     "reads of storage images without a format"},
    {SpvCapabilityStorageImageWriteWithoutFormat, FEATURE_WRITE_FORMATLESS,
     "writes to storage images without a format"},
    {SpvCapabilityStorageBufferArrayDynamicIndexing, FEATURE_ARRAYS, "arrays of buffers"},
    {SpvCapabilityStorageImageArrayDynamicIndexing, FEATURE_STORED_ARRAYS,
     "arrays of storage images"},
    {SpvCapabilitySampledImageArrayDynamicIndexing, FEATURE_SAMPLED_ARRAYS,
     "arrays of sampled images"},
};

// Describes a capability that no table here has: its name, as spirv-dis writes it of a module with
// it alone, or its number where that does not know it.
static void refuse_capability(uint32_t number, char *reason, size_t size)
{
    uint32_t word[] = {SpvMagicNumber, 0x10000, 0, 1, 0, UINT32_C(2) << 16 | SpvOpCapability,
                       number};
    struct err e;
    char *text =
        kernel_disassemble(&(struct spirv){.word = word, .count = sizeof word / sizeof *word}, &e);
    const char *name = text ? strstr(text, "OpCapability ") : NULL;
    if (name)
        snprintf(reason, size, "needs SPIR-V capability %.*s, which is never enabled",
                 (int)strcspn(name + 13, " \n"), name + 13);
    else
        snprintf(reason, size, "needs SPIR-V capability %" PRIu32 ", which is never enabled",
                 number);
    free(text);
}

// Returns the kind of an array of descriptors whose indices are computed, which the device does not
// take; NULL: there is none. Compilers leave out the capability, but for texel buffers, whose is
// never enabled.
static const char *computed_arrays(const struct kernel_facts *f, const struct limits *l)
{
    for (int i = 0; i < f->descriptor_count && limits_knows(l, LIMITS_features); i++) {
        enum descriptor kind = f->descriptor[i].kind;
        uint64_t needed = kind == DESCRIPTOR_BUFFER          ? FEATURE_ARRAYS
                          : kind == DESCRIPTOR_STORAGE_IMAGE ? FEATURE_STORED_ARRAYS
                          : kind == DESCRIPTOR_TEXELS || kind == DESCRIPTOR_STORAGE_TEXELS
                              ? 0
                              : FEATURE_SAMPLED_ARRAYS;
        if (f->descriptor[i].is_computed && (l->features & needed) != needed)
            return descriptor_name(kind);
    }
    return NULL;
}

// Drivers run code whose feature was not enabled, sometimes wrongly. `reason` gets the first one.
static bool lacks_feature(const struct kernel_facts *f, const struct limits *l, char *reason,
                          size_t size)
{
    const char *arrays = computed_arrays(f, l);
    if (arrays) {
        snprintf(reason, size,
                 "needs computed indices of an array of descriptors (%s), which the device does "
                 "not have",
                 arrays);
        return true;
    }
    for (int i = 0; i < f->capability_count; i++) {
        const struct capability *c = capabilities, *end = c + sizeof capabilities / sizeof *c;
        while (c < end && c->number != f->capability[i])
            c++;
        bool known = limits_knows(l, LIMITS_features);
        if (c < end && (!known || (c->feature & l->features) == c->feature))
            continue;
        if (c < end)
            snprintf(reason, size, "needs %s, which the device does not have", c->name);
        else
            refuse_capability(f->capability[i], reason, size);
        return true;
    }
    return false;
}

unsigned kernel_check(const struct kernel_facts *f, const uint32_t groups[3],
                      const struct limits *l, char *reason, size_t size)
{
    assert(size > 0);
    struct resources r = {.shared_bytes =
                              f->shared_bytes + (f->has_group_matrices ? l->matrix_shared : 0)};
    for (int axis = 0; axis < 3; axis++) {
        r.group_size[axis] = f->local_size[axis];
        r.groups[axis] = groups[axis];
    }
    char subgroup[200] = "", feature[200] = "", words[80], version[80] = "";
    snprintf(words, sizeof words, "SPIR-V of %zu words > %u", f->words, KERNEL_MAX_WORDS);
    bool lacks_f16 = f->uses_f16 && !l->f16 && limits_knows(l, LIMITS_f16);
    bool lacks_i8 = f->uses_i8 && !l->i8 && limits_knows(l, LIMITS_i8);
    bool lacks_storage_16 =
        f->uses_f16_storage && !limits_has_type(l, ELEMENT_F16) && !limits_has_type(l, ELEMENT_U16);
    bool lacks_storage_8 = f->uses_i8_storage && !limits_has_type(l, ELEMENT_U8);
    bool is_too_new = !kernel_check_version(
        f, limits_knows(l, LIMITS_spirv_minor) ? l->spirv_minor : 0, version, sizeof version);
    bool lacks_dot = f->uses_dot && !l->dot && limits_knows(l, LIMITS_dot);
    const struct {
        unsigned bit;
        bool is_exceeded;
        const char *reason;
    } more[] = {
        {KERNEL_NEEDS_VERSION, is_too_new, version},
        {KERNEL_NEEDS_F16, lacks_f16, "needs 16-bit floats, which the device does not have"},
        {KERNEL_NEEDS_I8, lacks_i8, "needs 8-bit integers, which the device does not have"},
        {KERNEL_NEEDS_F16, lacks_storage_16,
         "needs 16-bit storage, which the device does not have"},
        {KERNEL_NEEDS_I8, lacks_storage_8, "needs 8-bit storage, which the device does not have"},
        {KERNEL_NEEDS_FEATURE, lacks_dot,
         "needs dot products of bytes, which the device does not have"},
        {KERNEL_NEEDS_FEATURE, lacks_feature(f, l, feature, sizeof feature), feature},
        {KERNEL_NEEDS_SUBGROUP, lacks_subgroup(f, l, subgroup, sizeof subgroup), subgroup},
        {KERNEL_NEEDS_MATRIX, lacks_matrix(f, l), lacks_matrix(f, l)},
        {KERNEL_TOO_LONG, f->words > KERNEL_MAX_WORDS, words},
    };
    unsigned exceeded = limits_exceeded(l, &r);
    limits_explain(l, &r, reason, size);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (more[i].is_exceeded) {
            if (!exceeded)
                snprintf(reason, size, "%s", more[i].reason);
            exceeded |= more[i].bit;
        }
    return exceeded;
}
