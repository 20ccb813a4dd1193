#include "kernel/kernel.h"

#include "base/mem.h"
#include "kernel/enumerants.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- push constants ---
//
// The block is divided into its numbers, down through arrays, vectors, matrices and structures
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
    struct number number[JOB_MAX_PUSH];
    int count, parts;
};

static const uint32_t *words_of(const struct block *b, uint32_t id)
{
    return b->module->word + (id < b->bound ? b->place[id] : 0);
}

// Finds the places of types and constants; returns the structure of the push constants, 0: none.
static uint32_t find_block(struct block *b)
{
    const struct spirv *s = b->module;
    uint32_t found = 0;
    for (size_t at = HEADER; at < s->count; at += s->word[at] >> 16) {
        const uint32_t *w = s->word + at;
        uint32_t op = w[0] & 0xffff;
        bool is_type = op >= SpvOpTypeVoid && op <= SpvOpTypePointer && w[0] >> 16 > 1;
        if (is_type && w[1] < b->bound)
            b->place[w[1]] = (uint32_t)at;
        else if (op == SpvOpConstant && w[2] < b->bound)
            b->place[w[2]] = (uint32_t)at;
        else if (op == SpvOpVariable && w[3] == SpvStorageClassPushConstant)
            found = words_of(b, w[1])[3]; // the pointee
    }
    return found;
}

// Returns the operands of the first decoration or name of a type, or of a member of it. NULL: there
// is none. All of them stand before types.
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

static void add_number(struct block *b, uint32_t at, uint32_t bytes, enum push_kind kind,
                       const char *name)
{
    if (b->count < JOB_MAX_PUSH)
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
    for (uint32_t i = 0; i < count && p.at < JOB_MAX_PUSH && b->parts < MOST_PARTS; i++) {
        add_part(b, p);
        if (!stride)
            return;
        p.at += stride < JOB_MAX_PUSH ? stride : JOB_MAX_PUSH;
    }
}

static void add_part(struct block *b, struct part p)
{
    const uint32_t *w = words_of(b, p.id);
    if (b->parts++ >= MOST_PARTS || p.at >= JOB_MAX_PUSH)
        return;
    switch (w[0] & 0xffff) {
    case SpvOpTypeInt:
        add_number(b, p.at, w[2] / 8, w[3] ? PUSH_SIGNED : PUSH_UNSIGNED, p.name);
        break;
    case SpvOpTypeFloat: add_number(b, p.at, w[2] / 8, PUSH_FLOAT, p.name); break;
    case SpvOpTypePointer: add_number(b, p.at, 8, PUSH_UNSIGNED, p.name); break;
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
    snprintf(out, 8, "%c%u", "uif"[kind], 8 * bytes);
    return out;
}

static const char *quoted(const char *name, char out[80])
{
    snprintf(out, 80, name ? "'%.60s' " : "", name);
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
                       "it has no push constant at byte %" PRIu32
                       ", where field %d of push lies (offset = says where one lies)",
                       at, field);
    n->is_given = true;
    if (f->name[0] && n->name && strcmp(f->name, n->name) != 0)
        return err_set(
            e, "its push constant at byte %" PRIu32 " is '%.60s', field %d of push means '%s'", at,
            n->name, field, f->name);
    if (f->bytes == n->bytes &&
        (f->kind == n->kind || (f->kind == PUSH_WHOLE && n->kind != PUSH_FLOAT)))
        return true;
    type_name(n->kind, n->bytes, is);
    return err_set(e,
                   "its push constant %sat byte %" PRIu32
                   " is %s, field %d of push gives %s (write { \"%s\", value })",
                   quoted(n->name, name), at, is, field,
                   f->kind == PUSH_WHOLE ? "a whole number" : type_name(f->kind, f->bytes, gives),
                   is);
}

bool kernel_check_push(const struct spirv *s, const struct pass *p, struct err *e)
{
    struct block b = {.module = s, .bound = s->word[3]};
    char name[80], is[8];
    bool ok = true;
    b.place = mem_zero(b.bound, sizeof *b.place);
    uint32_t block = find_block(&b);
    add_part(&b, (struct part){.id = block});
    for (int i = 0; i < p->field_count; i++)
        for (uint32_t k = 0; ok && k < p->field[i].count; k++)
            ok = check_number(&b, &p->field[i], i + 1, p->field[i].at + k * p->field[i].bytes, e);
    for (int i = 0; ok && i < b.count; i++)
        if (!b.number[i].is_given)
            ok = err_set(e,
                         "its push constant %sat byte %" PRIu32
                         ", %s, is not given (push = function(c) ... end)",
                         quoted(b.number[i].name, name), b.number[i].at,
                         type_name(b.number[i].kind, b.number[i].bytes, is));
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

// Returns why the matrix units cannot be used, or NULL. They need full subgroups along x, of the
// device's size even where a kernel requires another one (Vulkan spec, VUID 08987).
static const char *lacks_matrix(const struct kernel_facts *f, const struct limits *l)
{
    if (f->matrix == MATRIX_NONE || !limits_knows(l, LIMITS_matrix))
        return NULL;
    if (f->matrix != l->matrix.api)
        return "needs matrix units, which the device does not have";
    bool full =
        f->local_size[0] % l->subgroup_size == 0 && f->local_size[0] % kernel_subgroup(f, l) == 0;
    return full ? NULL : "its subgroups are not full along x";
}

bool kernel_check_use(const struct spirv *s, const struct kernel_facts *f, const struct pass *p,
                      int inputs, struct err *e)
{
    struct err raw = {0};
    int input = 0;
    while (input < inputs && input < 32 && !(f->written >> input & 1))
        input++;
    // SPIR-V's blocks end where their last member does; the pass gives whole words.
    if ((f->push_bytes + 3) / 4 * 4 != p->push_bytes)
        err_set(&raw,
                "its push constants have %" PRIu32 " bytes, %" PRIu32
                " are given (push = function(c) ... end)",
                f->push_bytes, p->push_bytes);
    else if (!kernel_check_push(s, p, &raw))
        return kernel_fail_given(p, &raw, e);
    else if (input < inputs && input < 32)
        err_set(&raw,
                "it writes to buffer %d, which is an input (bindings = says what each binding is; "
                "only the output and scratch are written)",
                input);
    else if (p->once && inputs < 32 && f->written >> inputs & 1) // the output follows the inputs
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
    unsigned feature;
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
    {SpvCapabilityWorkgroupMemoryExplicitLayoutKHR, FEATURE_SHARED_LAYOUT,
     "explicit layouts of shared memory"},
};

// Drivers run code whose feature was not enabled, sometimes wrongly. `reason` gets the first one.
static bool lacks_feature(const struct kernel_facts *f, const struct limits *l, char *reason,
                          size_t size)
{
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
            snprintf(reason, size, "needs SPIR-V capability %" PRIu32 ", which is never enabled",
                     f->capability[i]);
        return true;
    }
    return false;
}

unsigned kernel_check(const struct kernel_facts *f, const uint32_t groups[3],
                      const struct limits *l, char *reason, size_t size)
{
    assert(size > 0);
    struct resources r = {.shared_bytes = f->shared_bytes};
    for (int axis = 0; axis < 3; axis++) {
        r.group_size[axis] = f->local_size[axis];
        r.groups[axis] = groups[axis];
    }
    char subgroup[200] = "", feature[200] = "", words[80], version[80] = "";
    snprintf(words, sizeof words, "SPIR-V of %zu words > %u", f->words, KERNEL_MAX_WORDS);
    // Buffers of bf16 and f8 need nothing but storage.
    bool lacks_f16 = f->uses_f16 && !l->f16 && limits_knows(l, LIMITS_f16);
    bool lacks_i8 = f->uses_i8 && !l->i8 && limits_knows(l, LIMITS_i8);
    bool lacks_storage_16 = f->uses_f16_storage && !limits_has_type(l, ELEMENT_BF16);
    bool lacks_storage_8 = f->uses_i8_storage && !limits_has_type(l, ELEMENT_F8E4M3);
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
