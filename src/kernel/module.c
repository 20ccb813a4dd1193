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
    size_t at;    // of the type, constant or variable; 0: it is none
    size_t set_at, binding_at, name_at;
    uint32_t set, binding; // as the shader has them
    bool is_buffer_block;
};

struct binder {
    const struct pass *pass;
    struct spirv *s;
    struct resource *id;
    uint32_t bound;
    uint32_t buffers[JOB_MAX_BINDINGS]; // of count_buffers, where no list names bindings
    bool found[JOB_MAX_UNIFORMS];
    int samplers;
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
            target->set_at = at + 3, target->set = s->word[at + 3];
        if (n > 3 && s->word[at + 2] == SpvDecorationBinding)
            target->binding_at = at + 3, target->binding = s->word[at + 3];
    } else if (((op >= SpvOpTypeVoid && op <= SpvOpTypePointer) ||
                op == SpvOpTypeAccelerationStructureKHR) &&
               n > 1)
        target->at = at;
    else if (op == SpvOpConstant && n > 3)
        get(b, s->word[at + 2])->at = at;
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

// --- images, texel buffers and arrays ---

// The kind and number of a variable's descriptors.
struct shape {
    enum descriptor kind;
    uint32_t count; // of descriptors
    bool is_array;
    const struct resource *image; // its type; NULL: it is none
    const char *refused;          // what it is, where that cannot be bound; NULL: it can
};

static const char *refused_image(const struct binder *b, const struct resource *image)
{
    if (word_of(b, image, 6))
        return "multisampled image";
    if (word_of(b, image, 4) == 1)
        return "depth image";
    switch (word_of(b, image, 3)) {
    case SpvDim2D:
    case SpvDim3D:
    case SpvDimBuffer: return NULL;
    case SpvDim1D: return "1D image";
    case SpvDimCube: return "cube image";
    case SpvDimRect: return "rectangle image";
    default: return "input attachment";
    }
}

static void find_image(const struct binder *b, const struct resource *type, struct shape *out)
{
    bool is_combined = op_of(b, type) == SpvOpTypeSampledImage;
    const struct resource *image = is_combined ? get(b, word_of(b, type, 2)) : type;
    bool is_stored = word_of(b, image, 7) == 2;
    if (op_of(b, image) != SpvOpTypeImage) {
        out->refused = "resource of another kind";
        return;
    }
    out->image = image;
    out->refused = refused_image(b, image);
    out->kind = is_combined ? DESCRIPTOR_COMBINED
                : is_stored ? DESCRIPTOR_STORAGE_IMAGE
                            : DESCRIPTOR_SAMPLED_IMAGE;
    if (word_of(b, image, 3) == SpvDimBuffer)
        out->kind = is_stored ? DESCRIPTOR_STORAGE_TEXELS : DESCRIPTOR_TEXELS;
}

static struct shape shape_of(const struct binder *b, uint32_t storage, const struct resource *type)
{
    struct shape s = {.kind = DESCRIPTOR_BUFFER, .count = 1};
    bool is_endless = op_of(b, type) == SpvOpTypeRuntimeArray;
    s.is_array = is_endless || op_of(b, type) == SpvOpTypeArray;
    if (s.is_array) {
        const struct resource *length = get(b, word_of(b, type, 3));
        s.count = op_of(b, length) == SpvOpConstant ? word_of(b, length, 3) : 0;
        type = get(b, word_of(b, type, 2));
    }
    switch (op_of(b, type)) {
    case SpvOpTypeStruct:
        if (storage == SpvStorageClassUniformConstant)
            s.refused = "structure";
        break;
    case SpvOpTypeSampler: s.kind = DESCRIPTOR_SAMPLER; break;
    case SpvOpTypeArray:
    case SpvOpTypeRuntimeArray: s.refused = "array of arrays"; break;
    case SpvOpTypeAccelerationStructureKHR:
        s.refused = "acceleration structure of ray tracing";
        break;
    default: find_image(b, type, &s);
    }
    if (is_endless)
        s.refused = "runtime-sized array";
    else if (!s.refused && (s.count < 1 || s.count > JOB_MAX_BINDINGS))
        s.refused = "array of too many descriptors";
    return s;
}

// A resource that is being bound.
struct binding {
    const char *name;
    uint32_t *set, *binding; // in the module
    struct shape shape;
};

static bool refuse_kind(const struct binder *b, const struct binding *at, const char *kind)
{
    return err_set(b->e,
                   "it has a %s '%.60s' at binding %" PRIu32 " of set %" PRIu32
                   ", which cannot be bound here (storage buffers, uniform blocks, 2D and 3D "
                   "images, texel buffers, samplers and arrays of fixed length can)",
                   kind, at->name, *at->binding, *at->set);
}

// Counts the operator's buffers at each binding of set 0 where no list names them: one, of an array
// as many as it has descriptors, of a sampler none. Several variables may be views of one binding.
static void count_buffers(struct binder *b)
{
    uint32_t counted = 0; // bits of bindings
    for (int i = 0; i < JOB_MAX_BINDINGS; i++)
        b->buffers[i] = 1;
    for (uint32_t id = 0; id < b->bound; id++) {
        const struct resource *v = &b->id[id];
        if (op_of(b, v) != SpvOpVariable || !v->binding_at || v->binding >= JOB_MAX_BINDINGS ||
            v->set || counted >> v->binding & 1)
            continue;
        counted |= UINT32_C(1) << v->binding;
        const struct resource *type = get(b, word_of(b, get(b, word_of(b, v, 1)), 3));
        struct shape s = shape_of(b, word_of(b, v, 3), type);
        b->buffers[v->binding] = s.kind == DESCRIPTOR_SAMPLER ? 0 : s.count;
    }
}

// Finds the first binding of the pass that is the resource's. False and `e`: the pass does not name
// it, or not as many buffers as it has descriptors.
static bool find_place(struct binder *b, const struct binding *at, uint32_t *out)
{
    const struct pass *p = b->pass;
    const char *what = descriptor_name(at->shape.kind);
    uint32_t set = *at->set, binding = *at->binding, named = 0;
    int i = 0;
    if (!p->binding_count && set == 0) {
        *out = binding;
        for (; binding < JOB_MAX_BINDINGS && i < (int)binding; i++)
            *out += b->buffers[i] - 1;
        return true;
    }
    while (i < p->binding_count && (p->binding[i].set != set || p->binding[i].binding != binding))
        i++;
    if (i == p->binding_count && set == 0)
        return err_set(b->e,
                       "it has a %s '%.60s' at binding %" PRIu32
                       ", which the kernel does not name (bindings = { ... } names the buffers "
                       "from binding 0 on)",
                       what, at->name, binding);
    if (i == p->binding_count)
        return err_set(b->e,
                       "it has a %s '%.60s' at binding %" PRIu32 " of descriptor set %" PRIu32
                       ", which the kernel does not name (sets = { [%" PRIu32
                       "] = { ... } } names the buffers from binding 0 on)",
                       what, at->name, binding, set, set);
    *out = (uint32_t)i;
    for (; i < p->binding_count && p->binding[i].set == set && p->binding[i].binding == binding;
         i++)
        named++;
    return named == at->shape.count ||
           err_set(b->e,
                   "it has %" PRIu32 " of %s '%.60s' at binding %" PRIu32 " of set %" PRIu32
                   ", the kernel names %" PRIu32
                   " (bindings = { { \"A\", \"B\" }, \"C\" } names an array of two first)",
                   at->shape.count, what, at->name, binding, set, named);
}

// Returns what a shader reads of an image: 'f', 'i', 'u'.
static char component_of(const struct binder *b, const struct resource *image)
{
    const struct resource *type = get(b, word_of(b, image, 2));
    return op_of(b, type) != SpvOpTypeInt ? 'f' : word_of(b, type, 3) ? 'i' : 'u';
}

// Checks that the pass sees a buffer as the shader does.
static bool check_form(struct binder *b, const struct binding *at, int buffer)
{
    const struct job_image *given = pass_image_of(b->pass, buffer);
    const struct resource *image = at->shape.image;
    const char *what = descriptor_name(at->shape.kind);
    if (!image)
        return !given || given->form.shape == IMAGE_TEXELS ||
               err_set(b->e,
                       "it has a %s '%.60s' at binding %" PRIu32 ", which image = makes an image",
                       what, at->name, *at->binding);
    if (!given)
        return err_set(b->e,
                       "it has a %s '%.60s' at binding %" PRIu32 " of set %" PRIu32
                       ", and the kernel does not say of which form (image = { BUFFER = { format = "
                       "\"rgba16f\", width = 64, height = 64 } })",
                       what, at->name, *at->binding, *at->set);
    const struct texel_traits *t = &texel_traits[given->form.format];
    uint32_t dim = word_of(b, image, 3), format = word_of(b, image, 8);
    enum image_shape shape = dim == SpvDimBuffer    ? IMAGE_TEXELS
                             : dim == SpvDim3D      ? IMAGE_3D
                             : word_of(b, image, 5) ? IMAGE_2D_ARRAY
                                                    : IMAGE_2D;
    if (given->form.shape != shape)
        return err_set(b->e,
                       "its %s '%.60s' is %s, image = gives %s (width and height make an image, "
                       "depth one that is 3D, layers a 2D array)",
                       what, at->name, image_shape_name(shape),
                       image_shape_name((enum image_shape)given->form.shape));
    if ((format && format != t->spirv) || component_of(b, image) != t->reads)
        return err_set(b->e,
                       "its %s '%.60s' has texels of another format than %s, which image = gives",
                       what, at->name, t->name);
    return true;
}

static bool bind_descriptor(struct binder *b, const struct binding *at)
{
    uint32_t place;
    if (at->shape.kind == DESCRIPTOR_SAMPLER) {
        place = JOB_MAX_BINDINGS + (uint32_t)b->samplers++;
        if (b->samplers > JOB_MAX_SAMPLERS)
            return refuse_kind(b, at, "sampler too many");
    } else if (!find_place(b, at, &place)) {
        return false;
    }
    if (place >= JOB_MAX_DESCRIPTORS || place + at->shape.count > JOB_MAX_DESCRIPTORS)
        return refuse_kind(b, at, "descriptor too many");
    for (uint32_t i = 0; at->shape.kind != DESCRIPTOR_SAMPLER && i < at->shape.count; i++)
        if (!check_form(b, at, pass_buffer_at(b->pass, place, i)))
            return false;
    *at->set = JOB_DESCRIPTOR_SET;
    *at->binding = place;
    return true;
}

// --- buffers and uniform blocks ---

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

static bool bind_buffer(struct binder *b, const struct binding *at)
{
    uint32_t place;
    if (!find_place(b, at, &place))
        return false;
    int buffer = pass_buffer_at(b->pass, place, 0);
    if (!check_form(b, at, buffer))
        return false;
    *at->set = 0;
    *at->binding = (uint32_t)buffer;
    return true;
}

static bool bind(struct binder *b, size_t at)
{
    struct spirv *s = b->s;
    const struct resource *variable = get(b, s->word[at + 2]);
    const struct resource *type = get(b, word_of(b, get(b, s->word[at + 1]), 3)), *block = type;
    uint32_t storage = s->word[at + 3], none[2] = {0};
    if (op_of(b, type) == SpvOpTypeArray || op_of(b, type) == SpvOpTypeRuntimeArray)
        block = get(b, word_of(b, type, 2));
    bool is_buffer = storage == SpvStorageClassStorageBuffer ||
                     (storage == SpvStorageClassUniform && block->is_buffer_block);
    if (!is_buffer && storage != SpvStorageClassUniform &&
        storage != SpvStorageClassUniformConstant)
        return true;
    const struct binding resource = {
        .name = name_of(b, variable, block),
        .set = variable->set_at ? &s->word[variable->set_at] : &none[0],
        .binding = variable->binding_at ? &s->word[variable->binding_at] : &none[1],
        .shape = shape_of(b, storage, type),
    };
    if (resource.shape.refused)
        return refuse_kind(b, &resource, resource.shape.refused);
    bool is_descriptor = resource.shape.is_array || storage == SpvStorageClassUniformConstant;
    if (is_descriptor && storage == SpvStorageClassUniform && !is_buffer)
        return refuse_kind(b, &resource, "array of uniform blocks");
    if (is_descriptor && !(variable->set_at && variable->binding_at))
        return refuse_kind(b, &resource, "resource without a binding");
    return is_descriptor ? bind_descriptor(b, &resource)
           : is_buffer   ? bind_buffer(b, &resource)
                         : bind_uniform(b, resource.set, resource.binding, resource.name);
}

bool module_bind(const struct pass *p, struct spirv *s, struct err *e)
{
    struct binder b = {.pass = p, .s = s, .bound = s->word[3], .e = e};
    b.id = mem_zero(b.bound, sizeof *b.id);
    bool ok = true;
    for (size_t at = HEADER; ok && at < s->count; at += length_at(s, at)) {
        learn(&b, at);
        if (op_at(s, at) == SpvOpCapability && length_at(s, at) > 1 &&
            s->word[at + 1] == SpvCapabilitySparseResidency)
            ok = err_set(e, "it has sparse images, which cannot be bound here");
    }
    b.id[0] = (struct resource){0};
    if (!p->binding_count)
        count_buffers(&b);
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
