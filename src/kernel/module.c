#define SPV_ENABLE_UTILITY_CODE
#include "kernel/module.h"

#include "base/mem.h"
#include "kernel/enumerants.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// The header has it as an inline function: this is its definition for the linker.
extern void SpvHasResultAndType(SpvOp opcode, bool *hasResult, bool *hasResultType);

enum { HEADER = 5 }; // words

// Instructions are at least this long before their words are looked at.
static uint32_t length_at(const struct spirv *s, size_t at)
{
    return s->word[at] >> 16;
}

static uint32_t op_at(const struct spirv *s, size_t at)
{
    return s->word[at] & 0xffff;
}

// Returns a text within its instruction; "" where it has none.
static const char *text_at(const struct spirv *s, size_t at, uint32_t first)
{
    uint32_t n = length_at(s, at);
    const char *text = (const char *)(s->word + at + first);
    return n > first && memchr(text, 0, (n - first) * sizeof *s->word) ? text : "";
}

// --- entry points ---

struct pruning {
    struct spirv *s;
    uint32_t bound;
    bool *used, *gone; // by id
};

static void list_entries(const struct spirv *s, struct str *out)
{
    for (size_t at = HEADER; at < s->count; at += length_at(s, at))
        if (op_at(s, at) == SpvOpEntryPoint)
            str_printf(out, "%s%s", out->length ? ", " : "", text_at(s, at, 3));
}

// Returns the place of the entry point that is meant; 0 and `e`: there is none.
static size_t find_entry(const struct pass *p, const struct spirv *s, struct err *e)
{
    size_t found = 0;
    int count = 0;
    struct str has = {0};
    for (size_t at = HEADER; at < s->count; at += length_at(s, at)) {
        bool is_meant = op_at(s, at) == SpvOpEntryPoint && length_at(s, at) > 3 &&
                        s->word[at + 1] == SpvExecutionModelGLCompute &&
                        (!p->entry || str_equal(p->entry, text_at(s, at, 3)));
        found = is_meant ? at : found;
        count += is_meant;
    }
    if (count == 1)
        return found;
    list_entries(s, &has);
    if (p->entry)
        err_set(e, "there is no entry point '%s' for compute (it has %s)", p->entry,
                has.length ? str_text(&has) : "none");
    else if (count)
        err_set(e, "it has several entry points: %s (entry = \"NAME\" chooses one)",
                str_text(&has));
    else
        err_set(e, "it has no entry point for compute (it has %s)",
                has.length ? str_text(&has) : "none");
    str_finish(&has);
    return 0;
}

// Returns the place behind the function that begins at `at`.
static size_t function_end(const struct spirv *s, size_t at)
{
    while (at < s->count && op_at(s, at) != SpvOpFunctionEnd)
        at += length_at(s, at);
    return at < s->count ? at + length_at(s, at) : at;
}

static void use(struct pruning *p, uint32_t id, bool *more)
{
    if (id < p->bound && !p->used[id])
        *more = p->used[id] = true;
}

// Marks what the functions that are used name. A literal that equals an id keeps a variable too
// many, which does no harm.
static void mark_used(struct pruning *p)
{
    const struct spirv *s = p->s;
    for (bool more = true; more;) {
        more = false;
        for (size_t at = HEADER; at < s->count; at += length_at(s, at)) {
            if (op_at(s, at) != SpvOpFunction || length_at(s, at) < 5 ||
                s->word[at + 2] >= p->bound || !p->used[s->word[at + 2]])
                continue;
            for (size_t end = function_end(s, at), in = at; in < end; in += length_at(s, in))
                for (uint32_t i = 1; i < length_at(s, in); i++)
                    use(p, s->word[in + i], &more);
        }
    }
}

// Marks the ids that are defined in functions that are not used, and variables that are not.
static void mark_gone(struct pruning *p)
{
    const struct spirv *s = p->s;
    bool in_gone = false;
    for (size_t at = HEADER; at < s->count; at += length_at(s, at)) {
        bool has_result, has_type;
        uint32_t op = op_at(s, at), n = length_at(s, at);
        SpvHasResultAndType((SpvOp)op, &has_result, &has_type);
        uint32_t result = has_result && n > 1u + has_type ? s->word[at + 1 + has_type] : 0;
        if (op == SpvOpFunction)
            in_gone = result < p->bound && !p->used[result];
        bool is_gone = in_gone || (op == SpvOpVariable && result < p->bound && !p->used[result]);
        if (is_gone && result && result < p->bound)
            p->gone[result] = true;
        in_gone = in_gone && op != SpvOpFunctionEnd;
    }
}

static bool stays(const struct pruning *p, size_t at, size_t entry)
{
    const struct spirv *s = p->s;
    uint32_t op = op_at(s, at), n = length_at(s, at), id = n > 1 ? s->word[at + 1] : 0;
    bool of_target = op == SpvOpName || op == SpvOpDecorate || op == SpvOpDecorateId ||
                     op == SpvOpDecorateString;
    if (op == SpvOpEntryPoint)
        return at == entry;
    if (op == SpvOpExecutionMode || op == SpvOpExecutionModeId)
        return id == s->word[entry + 2];
    if (op == SpvOpVariable && n > 2)
        return s->word[at + 2] >= p->bound || !p->gone[s->word[at + 2]];
    return !of_target || id >= p->bound || !p->gone[id];
}

static void prune(struct spirv *s, size_t entry)
{
    uint32_t bound = s->word[3];
    bool ignored;
    struct pruning p = {s, bound, mem_zero(bound, sizeof(bool)), mem_zero(bound, sizeof(bool))};
    size_t count = HEADER;
    uint32_t name = (uint32_t)strlen(text_at(s, entry, 3)) / 4 + 1;
    use(&p, s->word[entry + 2], &ignored);
    for (uint32_t i = 3 + name; i < length_at(s, entry); i++)
        use(&p, s->word[entry + i], &ignored);
    mark_used(&p);
    mark_gone(&p);
    struct spirv out = {mem_alloc(s->count * sizeof *s->word), 0};
    memcpy(out.word, s->word, HEADER * sizeof *s->word);
    for (size_t at = HEADER, next; at < s->count; at = next) {
        bool is_gone = op_at(s, at) == SpvOpFunction && length_at(s, at) > 2 &&
                       s->word[at + 2] < bound && p.gone[s->word[at + 2]];
        next = is_gone ? function_end(s, at) : at + length_at(s, at);
        if (is_gone || !stays(&p, at, entry))
            continue;
        memcpy(out.word + count, s->word + at, (next - at) * sizeof *s->word);
        count += next - at;
    }
    out.count = count;
    free(p.used);
    free(p.gone);
    free(s->word);
    *s = out;
}

bool module_choose_entry(const struct pass *p, struct spirv *s, struct err *e)
{
    int count = 0;
    for (size_t at = HEADER; at < s->count; at += length_at(s, at))
        count += op_at(s, at) == SpvOpEntryPoint;
    size_t entry = find_entry(p, s, e);
    if (entry && count > 1)
        prune(s, entry);
    return entry > 0;
}

// --- resources ---

struct resource { // facts about an id
    size_t at;    // of the type or variable; 0: it is neither
    size_t set_at, binding_at, name_at;
    bool is_buffer_block;
};

struct binder {
    const struct pass *pass;
    struct spirv *s;
    struct resource *id;
    uint32_t bound;
    bool found[JOB_MAX_UNIFORMS];
    struct err *e;
};

static struct resource *get(const struct binder *b, uint32_t id)
{
    return &b->id[id < b->bound ? id : 0];
}

// Returns word `i` of the instruction that defines a type or variable; 0: it is too short.
static uint32_t word_of(const struct binder *b, const struct resource *r, uint32_t i)
{
    return r->at && i < length_at(b->s, r->at) ? b->s->word[r->at + i] : 0;
}

static uint32_t op_of(const struct binder *b, const struct resource *r)
{
    return r->at ? op_at(b->s, r->at) : SpvOpNop;
}

static void learn(struct binder *b, size_t at)
{
    const struct spirv *s = b->s;
    uint32_t op = op_at(s, at), n = length_at(s, at);
    struct resource *target = n > 1 ? get(b, s->word[at + 1]) : b->id;
    if (op == SpvOpName && n > 2)
        target->name_at = at;
    else if (op == SpvOpDecorate && n > 2) {
        target->is_buffer_block |= s->word[at + 2] == SpvDecorationBufferBlock;
        if (n > 3 && s->word[at + 2] == SpvDecorationDescriptorSet)
            target->set_at = at + 3;
        if (n > 3 && s->word[at + 2] == SpvDecorationBinding)
            target->binding_at = at + 3;
    } else if (op >= SpvOpTypeVoid && op <= SpvOpTypePointer && n > 1)
        target->at = at;
    else if (op == SpvOpVariable && n > 3)
        get(b, s->word[at + 2])->at = at;
}

// Returns the name of a variable, else that of its type, else "".
static const char *name_of(const struct binder *b, const struct resource *variable,
                           const struct resource *type)
{
    const char *name = variable->name_at ? text_at(b->s, variable->name_at, 2) : "";
    return *name || !type->name_at ? name : text_at(b->s, type->name_at, 2);
}

static const char *image_kind(const struct binder *b, const struct resource *type)
{
    bool is_sampled = op_of(b, type) == SpvOpTypeSampledImage;
    const struct resource *image = is_sampled ? get(b, word_of(b, type, 2)) : type;
    bool is_stored = word_of(b, image, 7) == 2;
    if (op_of(b, image) != SpvOpTypeImage)
        return "resource of another kind";
    if (word_of(b, image, 3) == SpvDimBuffer)
        return is_stored ? "storage texel buffer" : "texel buffer";
    return is_sampled  ? "sampled image with its sampler"
           : is_stored ? "storage image"
                       : "sampled image";
}

// Returns why a resource cannot be bound, as its kind; NULL: it can.
static const char *refused_kind(const struct binder *b, uint32_t storage,
                                const struct resource *type)
{
    switch (op_of(b, type)) {
    case SpvOpTypeArray:
    case SpvOpTypeRuntimeArray:
        return storage == SpvStorageClassUniformConstant ? "array of images or samplers"
                                                         : "array of buffers";
    case SpvOpTypeSampler: return "sampler";
    case SpvOpTypeStruct: return storage == SpvStorageClassUniformConstant ? "structure" : NULL;
    default: return image_kind(b, type);
    }
}

static bool bind_uniform(struct binder *b, uint32_t *set, uint32_t *binding, const char *name)
{
    const struct pass *p = b->pass;
    int i = 0;
    while (i < p->uniform_count && (p->uniform[i].set != *set || p->uniform[i].binding != *binding))
        i++;
    if (i == p->uniform_count)
        return err_set(b->e,
                       "it has a uniform block '%.60s' at binding %" PRIu32 " of set %" PRIu32
                       ", whose content is not given (uniform = { [%" PRIu32
                       "] = function(c) return { ... } end })",
                       name, *binding, *set, *binding);
    b->found[i] = true;
    *set = JOB_UNIFORM_SET;
    *binding = (uint32_t)i;
    return true;
}

static bool bind_buffer(struct binder *b, uint32_t *set, uint32_t *binding, const char *name)
{
    const struct pass *p = b->pass;
    int i = 0;
    if (!p->binding_count && *set == 0)
        return true;
    while (i < p->binding_count && (p->binding[i].set != *set || p->binding[i].binding != *binding))
        i++;
    if (i == p->binding_count && *set == 0)
        return err_set(b->e,
                       "it has a buffer '%.60s' at binding %" PRIu32
                       ", which the kernel does not name (bindings = { ... } names the buffers "
                       "from binding 0 on)",
                       name, *binding);
    if (i == p->binding_count)
        return err_set(b->e,
                       "it has a buffer '%.60s' at binding %" PRIu32 " of descriptor set %" PRIu32
                       ", which the kernel does not name (sets = { [%" PRIu32
                       "] = { ... } } names the buffers from binding 0 on)",
                       name, *binding, *set, *set);
    *set = 0;
    *binding = p->binding[i].buffer;
    return true;
}

static bool bind(struct binder *b, size_t at)
{
    struct spirv *s = b->s;
    const struct resource *variable = get(b, s->word[at + 2]);
    const struct resource *type = get(b, word_of(b, get(b, s->word[at + 1]), 3));
    uint32_t storage = s->word[at + 3], none = 0;
    bool is_buffer = storage == SpvStorageClassStorageBuffer ||
                     (storage == SpvStorageClassUniform && type->is_buffer_block);
    if (!is_buffer && storage != SpvStorageClassUniform &&
        storage != SpvStorageClassUniformConstant)
        return true;
    const char *name = name_of(b, variable, type), *kind = refused_kind(b, storage, type);
    uint32_t *set = variable->set_at ? &s->word[variable->set_at] : &none;
    uint32_t *binding = variable->binding_at ? &s->word[variable->binding_at] : &none;
    if (kind)
        return err_set(b->e,
                       "it has a %s '%.60s' at binding %" PRIu32 " of set %" PRIu32
                       ", which cannot be bound here (storage buffers and uniform blocks can)",
                       kind, name, *binding, *set);
    return is_buffer ? bind_buffer(b, set, binding, name) : bind_uniform(b, set, binding, name);
}

bool module_bind(const struct pass *p, struct spirv *s, struct err *e)
{
    struct binder b = {.pass = p, .s = s, .bound = s->word[3], .e = e};
    b.id = mem_zero(b.bound, sizeof *b.id);
    bool ok = true;
    for (size_t at = HEADER; at < s->count; at += length_at(s, at))
        learn(&b, at);
    b.id[0] = (struct resource){0};
    for (size_t at = HEADER; ok && at < s->count; at += length_at(s, at))
        if (op_at(s, at) == SpvOpVariable && length_at(s, at) > 3)
            ok = bind(&b, at);
    for (int i = 0; ok && i < p->uniform_count; i++)
        if (!b.found[i])
            ok = err_set(e, "it has no uniform block at binding %d of set %d (uniform = gives one)",
                         p->uniform[i].binding, p->uniform[i].set);
    free(b.id);
    return ok;
}
