#include "kernel/check.h"

#include "base/mem.h"
#include "kernel/enumerants.h"
#include "kernel/kernel.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The block is taken apart into its numbers, down through arrays, vectors, matrices and structures
// (SPIR-V spec 3.20, decorations Offset, ArrayStride, MatrixStride, RowMajor say where they lie).

enum { HEADER = 5, MOST_PARTS = 4096 }; // words; types that are looked into: blocks are small

struct number {
    uint32_t at, bytes; // of the block
    enum push_kind kind;
    const char *name; // of the block's member that it belongs to; NULL: not known
    bool is_given;
};

struct block {
    const struct spirv *module;
    uint32_t *place; // by id, where its type or constant stands; 0: it is neither
    uint32_t bound;
    struct number number[JOB_MAX_PUSH];
    int count, parts;
};

static const uint32_t *words_of(const struct block *b, uint32_t id)
{
    return b->module->word + (id < b->bound ? b->place[id] : 0);
}

static uint32_t op_of(const uint32_t *w)
{
    return w[0] & 0xffff;
}

// Learns where types and constants stand; returns the structure of the push constants, 0: none.
static uint32_t find_block(struct block *b)
{
    const struct spirv *s = b->module;
    uint32_t found = 0;
    for (size_t at = HEADER; at < s->count; at += s->word[at] >> 16) {
        const uint32_t *w = s->word + at;
        uint32_t op = op_of(w);
        bool is_type = op >= SpvOpTypeVoid && op <= SpvOpTypePointer && w[0] >> 16 > 1;
        if (is_type && w[1] < b->bound)
            b->place[w[1]] = (uint32_t)at;
        else if (op == SpvOpConstant && w[2] < b->bound)
            b->place[w[2]] = (uint32_t)at;
        else if (op == SpvOpVariable && w[3] == SpvStorageClassPushConstant)
            found = words_of(b, w[1])[3]; // of the pointer
    }
    return found;
}

// What the first instruction of its kind says of a type, or of a member of it: where what it says
// begins. NULL: there is none. All of them stand before types.
static const uint32_t *told(const struct block *b, uint32_t op, uint32_t id, uint32_t member,
                            uint32_t decoration)
{
    const struct spirv *s = b->module;
    bool of_member = op != SpvOpDecorate, is_name = op == SpvOpMemberName;
    for (size_t at = HEADER; at < b->place[id]; at += s->word[at] >> 16) {
        const uint32_t *w = s->word + at, head = 2u + of_member + !is_name;
        if (op_of(w) == op && w[0] >> 16 >= head && w[1] == id && (!of_member || w[2] == member) &&
            (is_name || w[head - 1] == decoration))
            return w + head;
    }
    return NULL;
}

static uint32_t told_number(const struct block *b, uint32_t op, uint32_t id, uint32_t member,
                            uint32_t decoration)
{
    const uint32_t *w = told(b, op, id, member, decoration);
    return w && w < b->module->word + b->place[id] ? w[0] : 0;
}

// NULL: it has none. Literals end with a zero within their instruction.
static const char *member_name(const struct block *b, uint32_t id, uint32_t member)
{
    const uint32_t *w = told(b, SpvOpMemberName, id, member, 0);
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

// A part of the block at a byte of it; which member of which structure it belongs to, which says
// how its matrices lie; and what the block's member is called.
struct part {
    uint32_t id, at, of, member;
    const char *name;
};

static void add_part(struct block *b, struct part p);

// As many of another type, from where `p` is.
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

static uint32_t number_bytes(const struct block *b, uint32_t id)
{
    return words_of(b, id)[2] / 8;
}

static void add_part(struct block *b, struct part p)
{
    const uint32_t *w = words_of(b, p.id);
    if (b->parts++ >= MOST_PARTS || p.at >= JOB_MAX_PUSH)
        return;
    switch (op_of(w)) {
    case SpvOpTypeInt:
        add_number(b, p.at, w[2] / 8, w[3] ? PUSH_SIGNED : PUSH_UNSIGNED, p.name);
        break;
    case SpvOpTypeFloat: add_number(b, p.at, w[2] / 8, PUSH_FLOAT, p.name); break;
    case SpvOpTypePointer: add_number(b, p.at, 8, PUSH_UNSIGNED, p.name); break;
    case SpvOpTypeVector: add_row(b, p, w[2], w[3], number_bytes(b, w[2])); break;
    case SpvOpTypeMatrix: {
        const uint32_t *column = words_of(b, w[2]), bytes = number_bytes(b, column[2]);
        const uint32_t stride =
            told_number(b, SpvOpMemberDecorate, p.of, p.member, SpvDecorationMatrixStride);
        bool by_rows = told(b, SpvOpMemberDecorate, p.of, p.member, SpvDecorationRowMajor);
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
            m.at = p.at + told_number(b, SpvOpMemberDecorate, p.id, m.member, SpvDecorationOffset);
            if (is_block)
                m.name = member_name(b, p.id, m.member);
            add_part(b, m);
        }
    } break;
    case SpvOpTypeArray:
        add_row(b, p, w[2], words_of(b, w[3])[3],
                told_number(b, SpvOpDecorate, p.id, 0, SpvDecorationArrayStride));
        break;
    }
}

// --- against what is given ---

// As a space file writes it: u32.
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

static struct number *find_number(struct block *b, uint32_t at)
{
    for (int i = 0; i < b->count; i++)
        if (b->number[i].at == at)
            return &b->number[i];
    return NULL;
}

static bool is_type(const struct push_field *f, const struct number *n)
{
    return f->bytes == n->bytes &&
           (f->kind == n->kind || (f->kind == PUSH_WHOLE && n->kind != PUSH_FLOAT));
}

static bool check_number(struct block *b, const struct push_field *f, int field, uint32_t at,
                         struct err *e)
{
    struct number *n = find_number(b, at);
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
    if (is_type(f, n))
        return true;
    type_name(n->kind, n->bytes, is);
    return err_set(e,
                   "its push constant %sat byte %" PRIu32
                   " is %s, field %d of push gives %s (write { \"%s\", value })",
                   quoted(n->name, name), at, is, field,
                   f->kind == PUSH_WHOLE ? "a whole number" : type_name(f->kind, f->bytes, gives),
                   is);
}

static bool check_fields(struct block *b, const struct pass *p, struct err *e)
{
    char name[80], is[8];
    for (int i = 0; i < p->field_count; i++)
        for (uint32_t k = 0; k < p->field[i].count; k++)
            if (!check_number(b, &p->field[i], i + 1, p->field[i].at + k * p->field[i].bytes, e))
                return false;
    for (int i = 0; i < b->count; i++)
        if (!b->number[i].is_given)
            return err_set(e,
                           "its push constant %sat byte %" PRIu32
                           ", %s, is not given (push = function(c) ... end)",
                           quoted(b->number[i].name, name), b->number[i].at,
                           type_name(b->number[i].kind, b->number[i].bytes, is));
    return true;
}

bool kernel_check_push(const struct spirv *s, const struct pass *p, struct err *e)
{
    struct block b = {.module = s, .bound = s->word[3]};
    b.place = mem_zero(b.bound, sizeof *b.place);
    uint32_t block = find_block(&b);
    add_part(&b, (struct part){.id = block});
    bool ok = check_fields(&b, p, e);
    free(b.place);
    return ok;
}

uint32_t kernel_subgroup(const struct kernel_facts *f, const struct limits *l)
{
    return f->subgroup ? f->subgroup : f->matrix != MATRIX_NONE ? l->subgroup_size : 0;
}

// Vulkan spec, VkPipelineShaderStageRequiredSubgroupSizeCreateInfo and VUID 02756; that all are
// full is ours: the rest of the last one would be idle.
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

// Only whole subgroups have matrix units (Vulkan spec, VUID 08987: along x, of the device's size
// also where a kernel asks for another).
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

static bool check_use(const struct spirv *s, const struct kernel_facts *f, const struct pass *p,
                      int inputs, struct err *e)
{
    // SPIR-V's blocks end where their last member does, what is given in whole words.
    if ((f->push_bytes + 3) / 4 * 4 != p->push_bytes)
        return err_set(e,
                       "its push constants have %" PRIu32 " bytes, %" PRIu32
                       " are given (push = function(c) ... end)",
                       f->push_bytes, p->push_bytes);
    if (!kernel_check_push(s, p, e))
        return false;
    for (int i = 0; i < inputs && i < 32; i++)
        if (f->written >> i & 1)
            return err_set(e,
                           "it writes to buffer %d, which is an input (bindings = says what each "
                           "binding is; only the output and scratch are written)",
                           i);
    // The output comes behind the inputs.
    if (p->once && inputs < 32 && f->written >> inputs & 1)
        return err_set(e, "it writes to the output, and is not timed (once = true is for what "
                          "packs inputs into scratch)");
    return true;
}

bool kernel_check_use(const struct spirv *s, const struct kernel_facts *f, const struct pass *p,
                      int inputs, struct err *e)
{
    struct err raw = {0};
    return check_use(s, f, p, inputs, &raw) || kernel_fail_given(p, &raw, e);
}

// Every capability that is known, and the feature behind it; 0: judged elsewhere, or always there.
// What they need: Vulkan spec, appendix "SPIR-V Capabilities".
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
};

static const struct capability *find_capability(uint32_t number)
{
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++)
        if (capabilities[i].number == number)
            return &capabilities[i];
    return NULL;
}

// Drivers run what was not enabled, some of it wrongly. `reason` gets the first that is not.
static bool lacks_feature(const struct kernel_facts *f, const struct limits *l, char *reason,
                          size_t size)
{
    for (int i = 0; i < f->capability_count; i++) {
        const struct capability *c = find_capability(f->capability[i]);
        bool known = limits_knows(l, LIMITS_features);
        if (c && (!known || (c->feature & l->features) == c->feature))
            continue;
        if (c)
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
    unsigned exceeded = limits_exceeded(l, &r);
    limits_explain(l, &r, reason, size);

    if ((f->uses_f16 || f->uses_f16_storage) && !l->f16 && limits_knows(l, LIMITS_f16)) {
        if (!exceeded)
            snprintf(reason, size, "needs 16-bit floats, which the device does not have");
        exceeded |= KERNEL_NEEDS_F16;
    }
    if (f->uses_i8 && !l->i8 && limits_knows(l, LIMITS_i8)) {
        if (!exceeded)
            snprintf(reason, size, "needs 8-bit integers, which the device does not have");
        exceeded |= KERNEL_NEEDS_I8;
    }
    if (f->uses_dot && !l->dot && limits_knows(l, LIMITS_dot)) {
        if (!exceeded)
            snprintf(reason, size, "needs dot products of bytes, which the device does not have");
        exceeded |= KERNEL_NEEDS_FEATURE;
    }
    char lacking[200];
    if (lacks_feature(f, l, lacking, sizeof lacking)) {
        if (!exceeded)
            snprintf(reason, size, "%s", lacking);
        exceeded |= KERNEL_NEEDS_FEATURE;
    }
    if (lacks_subgroup(f, l, lacking, sizeof lacking)) {
        if (!exceeded)
            snprintf(reason, size, "%s", lacking);
        exceeded |= KERNEL_NEEDS_SUBGROUP;
    }
    const char *matrix = lacks_matrix(f, l);
    if (matrix) {
        if (!exceeded)
            snprintf(reason, size, "%s", matrix);
        exceeded |= KERNEL_NEEDS_MATRIX;
    }
    if (f->words > KERNEL_MAX_WORDS) {
        if (!exceeded)
            snprintf(reason, size, "SPIR-V of %zu words > %u", f->words, KERNEL_MAX_WORDS);
        exceeded |= KERNEL_TOO_LONG;
    }
    return exceeded;
}
