#include "space/limits.h"

#include "base/json.h"
#include "base/number.h"
#include "space/image.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[MATRIX_API_COUNT] = {"none", "nv", "khr"};

const char *const limits_matrix2[MATRIX2_COUNT] = {
    "workgroup", "flexible", "reductions", "conversions", "elements", "tensors", "blocks"};

const char *matrix_api_name(enum matrix_api api)
{
    return names[api];
}

void matrix_units_add(struct matrix_units *u, const struct matrix_shape *s)
{
    for (int i = 0; i < u->count; i++) {
        const struct matrix_shape *t = &u->shape[i];
        if (s->m == t->m && s->n == t->n && s->k == t->k && s->invocations == t->invocations &&
            str_equal(s->input, t->input) && str_equal(s->sum, t->sum))
            return;
    }
    if (u->count < MATRIX_MAX_SHAPES)
        u->shape[u->count++] = *s;
}

bool matrix_units_have(const struct matrix_units *u, enum element input)
{
    int i = 0;
    while (i < u->count && !str_equal(u->shape[i].input, element_name(input)))
        i++;
    return i < u->count;
}

void matrix_units_remove(struct matrix_units *u, enum element input)
{
    int kept = 0;
    for (int i = 0; i < u->count; i++)
        if (!str_equal(u->shape[i].input, element_name(input)))
            u->shape[kept++] = u->shape[i];
    u->count = kept;
    u->api = kept ? u->api : MATRIX_NONE;
}

static void add_shape(const struct matrix_shape *s, char between, struct str *out)
{
    str_printf(out, "%dx%dx%d%c%s%c%s", s->m, s->n, s->k, between, s->input, between, s->sum);
}

void matrix_shape_add_text(const struct matrix_shape *s, struct str *out)
{
    add_shape(s, ' ', out);
    if (s->invocations)
        str_printf(out, " (%d)", s->invocations);
}

void matrix_units_add_text(const struct matrix_units *u, struct str *out)
{
    str_add(out, names[u->api]);
    for (int i = 0; i < u->count; i++) {
        str_add_char(out, ' ');
        add_shape(&u->shape[i], '.', out);
    }
}

bool matrix_units_parse(const char *text, struct matrix_units *out)
{
    struct matrix_units u = {0};
    size_t length = strcspn(text, " ");
    int api = 0;
    while (api < MATRIX_API_COUNT &&
           (strlen(names[api]) != length || memcmp(text, names[api], length) != 0))
        api++;
    if (api == MATRIX_API_COUNT)
        return false;
    u.api = (enum matrix_api)api;
    int used = 0; // by a shape and the blank before it
    for (text += length; *text; text += used) {
        struct matrix_shape s = {0};
        unsigned m, n, k, invocations = 0;
        if (sscanf(text, " %5ux%5ux%5u.%7[a-z0-9].%7[a-z0-9]%n*%5u%n", &m, &n, &k, s.input, s.sum,
                   &used, &invocations, &used) < 5 ||
            element_named(s.input) == ELEMENT_COUNT || element_named(s.sum) == ELEMENT_COUNT ||
            m == 0 || n == 0 || k == 0 || (m | n | k | invocations) > UINT16_MAX ||
            (text[used] != ' ' && text[used] != '\0'))
            return false;
        s.invocations = (uint16_t)invocations;
        s.m = (uint16_t)m;
        s.n = (uint16_t)n;
        s.k = (uint16_t)k;
        matrix_units_add(&u, &s);
    }
    if ((u.api == MATRIX_NONE) != (u.count == 0))
        return false;
    *out = u;
    return true;
}

// --- writing ---

static void add_shapes(struct json_writer *w, const char *name, const struct matrix_units *u)
{
    json_begin_list(w, name);
    for (int i = 0; i < u->count; i++) {
        const struct matrix_shape *s = &u->shape[i];
        json_begin_object(w, NULL);
        json_add_int(w, "m", s->m);
        json_add_int(w, "n", s->n);
        json_add_int(w, "k", s->k);
        json_add_text(w, "a", s->input);
        json_add_text(w, "c", s->sum);
        if (s->invocations)
            json_add_int(w, "invocations", s->invocations);
        json_end(w);
    }
    json_end(w);
}

static void add_matrix2(struct json_writer *w, unsigned features)
{
    json_begin_list(w, "matrix2");
    for (int b = 0; b < MATRIX2_COUNT; b++)
        if (features & (unsigned)FEATURE_MATRIX2 << b)
            json_add_text(w, NULL, limits_matrix2[b]);
    json_end(w);
}

void limits_add_json(struct str *out, const struct limits *l)
{
    struct json_writer w = json_begin(out);
    for (int i = 0; i < LIMITS_FIELD_COUNT; i++)
        if (limits_knows(l, i)) {
            const void *at = (const char *)l + limits_fields[i].offset;
            switch (limits_fields[i].type) {
            case LIMITS_MATRIX: // two members: the API, and a list of shapes
                json_add_text(&w, "matrix_api",
                              matrix_api_name(((const struct matrix_units *)at)->api));
                add_shapes(&w, "matrix", at);
                break;
            case LIMITS_FLEXIBLE: add_shapes(&w, limits_fields[i].name, at); break;
            case LIMITS_AXES: json_add_axes(&w, limits_fields[i].name, at); break;
            case LIMITS_ELEMENTS:
                json_begin_list(&w, limits_fields[i].name);
                for (int e = 0; e < ELEMENT_COUNT; e++)
                    if (*(const uint32_t *)at >> e & 1)
                        json_add_text(&w, NULL, element_name((enum element)e));
                json_end(&w);
                break;
            case LIMITS_FLAG: json_add_flag(&w, limits_fields[i].name, *(const bool *)at); break;
            case LIMITS_FEATURES: add_matrix2(&w, l->features); // fall through
            case LIMITS_BITS:
            case LIMITS_NUMBER:
                json_add_count(&w, limits_fields[i].name, limits_number(l, &limits_fields[i]));
                break;
            }
        }
    json_end(&w);
}

// --- reading ---

// Reads a whole number of `size` bytes. False, and nothing is written: it is none, or does not fit.
static bool read_whole(struct json v, size_t size, void *out)
{
    double value, most = size == sizeof(uint64_t) ? 0x1p64 : UINT32_MAX;
    if (!json_number(v, &value) || value < 0 || value > most || value != floor(value))
        return false;
    uint64_t whole = value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
    if (size == sizeof(uint64_t))
        *(uint64_t *)out = whole;
    else
        *(uint32_t *)out = (uint32_t)whole;
    return true;
}

// Makes the list of shapes the text of an older program, and reads that. `api` is NULL where the
// list alone says whether there is one.
static bool read_matrix(const struct json *api, struct json list, struct matrix_units *out)
{
    struct str text = {0};
    struct arena a;
    bool is_text = json_type(list) == JSON_TEXT;
    const char *word;
    arena_init(&a);
    struct json_walk any = json_walk(list);
    if (!api)
        str_add(&text, json_next(&any) ? "khr" : "none");
    else if ((word = json_text(is_text ? list : *api, &a)))
        str_add(&text, word);
    for (struct json_walk w = json_walk(list); json_next(&w);) {
        str_add_char(&text, ' ');
        for (const char *c = "mnk"; *c; c++) {
            uint32_t size = 0; // no shape has 0
            read_whole(json_member(w.value, (char[]){*c, '\0'}), sizeof size, &size);
            str_printf(&text, "%" PRIu32 "%s", size, *c == 'k' ? "." : "x");
        }
        const char *input = json_text(json_member(w.value, "a"), &a);
        const char *sum = json_text(json_member(w.value, "c"), &a);
        str_printf(&text, "%s.%s", input ? input : "", sum ? sum : "");
        uint32_t invocations = 0; // a subgroup's
        if (read_whole(json_member(w.value, "invocations"), sizeof invocations, &invocations))
            str_printf(&text, "*%" PRIu32, invocations);
    }
    bool ok = (is_text || json_type(list) == JSON_LIST) && matrix_units_parse(str_text(&text), out);
    str_finish(&text);
    arena_finish(&a);
    return ok;
}

// Leaves out names that are not known: of a newer program.
static bool read_elements(struct json list, uint32_t *out)
{
    struct arena a;
    arena_init(&a);
    *out = 0;
    bool ok = json_type(list) == JSON_LIST;
    for (struct json_walk w = json_walk(list); ok && json_next(&w);) {
        const char *word = json_text(w.value, &a);
        enum element e = word ? element_named(word) : ELEMENT_COUNT;
        ok = word != NULL;
        *out |= e < ELEMENT_COUNT ? UINT32_C(1) << e : 0;
    }
    arena_finish(&a);
    return ok;
}

// Returns an axis as older programs wrote it, in a member of its own: NAME_x, NAME_y, NAME_z.
static struct json old_axis(struct json object, const char *name, int axis)
{
    char old[64];
    snprintf(old, sizeof old, "%s_%c", name, "xyz"[axis]);
    return json_member(object, old);
}

static bool read_field(struct json object, const struct limits_field *f, void *out)
{
    struct json v = json_member(object, f->name), api;
    struct json_walk w = json_walk(v);
    uint32_t number = 0;
    bool ok = !v.at || json_type(v) == JSON_LIST;
    switch (f->type) {
    case LIMITS_AXES:
        for (int i = 0; ok && i < 3; i++) {
            ok = !v.at || json_next(&w);
            ok = ok && read_whole(v.at ? w.value : old_axis(object, f->name, i), sizeof number,
                                  (uint32_t *)out + i);
        }
        return ok && !json_next(&w);
    case LIMITS_FLAG:
        if (json_flag(v, out))
            return true;
        if (!read_whole(v, sizeof number, &number))
            return false;
        *(bool *)out = number;
        return true;
    case LIMITS_ELEMENTS: return read_elements(v, out);
    case LIMITS_MATRIX: api = json_member(object, "matrix_api"); return read_matrix(&api, v, out);
    case LIMITS_FLEXIBLE: return read_matrix(NULL, v, out);
    case LIMITS_NUMBER:
    case LIMITS_BITS:
    case LIMITS_FEATURES: break;
    }
    return read_whole(v, f->size, out);
}

const char *limits_read_json(struct json object, struct limits *out)
{
    struct limits l = limits_vulkan_minimum;
    for (int i = 0; i < LIMITS_FIELD_COUNT; i++) {
        const struct limits_field *f = &limits_fields[i];
        if (!json_member(object, f->name).at && !old_axis(object, f->name, 0).at)
            l.unknown |= UINT32_C(1) << i;
        else if (!read_field(object, f, (char *)&l + f->offset))
            return f->name;
    }
    *out = l;
    return NULL;
}

bool limits_parse(const char *json, struct limits *out)
{
    struct json root;
    json_parse(json, &root);
    return json_type(root) == JSON_OBJECT && !limits_read_json(root, out);
}

// --- judging ---

#define ALL_FORMATS ((UINT64_C(1) << DESCRIPTOR_FORMATS * TEXEL_COUNT) - 1)

const struct limits limits_large_gpu = {
    .invocations = 1024,
    .group_size = {1024, 1024, 64},
    .group_count = {INT32_MAX, 65535, 65535},
    .shared_bytes = 49152,
    .buffer_bytes = UINT32_MAX,
    .accumulators = 256,
    .statements = 20000,
    .subgroup_size = 32,
    .f16 = true,
    .i8 = true,
    .matrix = {.api = MATRIX_KHR,
               .count = 3,
               .shape = {{16, 16, 16, "f16", "f32"},
                         {16, 16, 16, "f16", "f16"},
                         {16, 16, 32, "i8", "i32"}}},
    .types = (UINT32_C(1) << ELEMENT_COUNT) - 1,
    .formats = ALL_FORMATS,
};

// From the Vulkan specification, table "Required Limits"; accumulators and statements are our own
// (spilling, compile time).
const struct limits limits_vulkan_minimum = {
    .invocations = 128,
    .group_size = {128, 128, 64},
    .group_count = {65535, 65535, 65535},
    .shared_bytes = 16384,
    .buffer_bytes = UINT64_C(1) << 27,
    .accumulators = 256,
    .statements = 20000,
    .subgroup_size = 1,
    .spirv_minor = 3,
    .types = 1u << ELEMENT_F32 | 1u << ELEMENT_I32 | 1u << ELEMENT_U32,
    .formats = ALL_FORMATS, // so that a kernel without a device is not refused
};

static_assert(ELEMENT_COUNT <= 32, "a bit of `types` each");

#define FIELD(name, type, kind)                                                                    \
    {#name, LIMITS_##kind, offsetof(struct limits, name), sizeof(((struct limits *)0)->name)},
const struct limits_field limits_fields[LIMITS_FIELD_COUNT] = {LIMITS_FIELDS(FIELD)};
static_assert(LIMITS_FIELD_COUNT <= 32, "a bit of `unknown` each");

bool limits_knows(const struct limits *l, enum limits_index field)
{
    return !(l->unknown >> field & 1);
}

void limits_remove_matrix2(struct limits *l)
{
    l->features &= ~(uint64_t)FEATURE_MATRIX2_ALL;
    l->flexible = (struct matrix_units){.api = MATRIX_NONE};
    l->matrix_size = l->matrix_invocations = l->matrix_shared = 0;
}

bool limits_has_type(const struct limits *l, enum element e)
{
    return !limits_knows(l, LIMITS_types) || l->types >> e & 1;
}

uint32_t limits_types(unsigned has)
{
    uint32_t types = 0;
    for (int e = 0; e < ELEMENT_COUNT; e++)
        if ((element_traits[e].needs & has) == element_traits[e].needs)
            types |= UINT32_C(1) << e;
    return types;
}

uint64_t limits_number(const struct limits *l, const struct limits_field *f)
{
    const void *at = (const char *)l + f->offset;
    return f->size == sizeof(uint64_t) ? *(const uint64_t *)at : *(const uint32_t *)at;
}

static const struct {
    const char *name;
    enum limits_index field; // the limit that it is judged by
} judged[LIMIT_COUNT] = {
    [LIMIT_NONE] = {.name = "none"},
    [LIMIT_INVOCATIONS] = {"invocations", LIMITS_invocations},
    [LIMIT_GROUP_SIZE] = {"group size", LIMITS_group_size},
    [LIMIT_GROUP_COUNT] = {"group count", LIMITS_group_count},
    [LIMIT_SHARED] = {"shared memory", LIMITS_shared_bytes},
    [LIMIT_BUFFER] = {"buffer", LIMITS_buffer_bytes},
    [LIMIT_LOOP_TRIPS] = {"loop trips", LIMITS_loop_trips},
    [LIMIT_ACCUMULATORS] = {"accumulators", LIMITS_accumulators},
    [LIMIT_STATEMENTS] = {"statements", LIMITS_statements},
    [LIMIT_REGISTERS] = {"registers", LIMITS_registers},
};

const char *limit_name(enum limit l)
{
    return judged[l].name;
}

// The need and the limit, for one of the limits.
struct demand {
    uint64_t need, have;
    const char *axis, *unit; // " x", " bytes", or ""
};

// Returns the first axis that needs too much, else the last one.
static struct demand demand_of_axes(const uint64_t need[3], const uint32_t have[3])
{
    static const char *const axes[3] = {" x", " y", " z"};
    int axis = 0;
    while (axis < 2 && need[axis] <= have[axis])
        axis++;
    return (struct demand){need[axis], have[axis], axes[axis], ""};
}

static struct demand demand_soft(uint64_t need, uint64_t have)
{
    return (struct demand){need, have ? have : UINT64_MAX, "", ""};
}

static struct demand demand_of(enum limit which, const struct limits *l, const struct resources *r)
{
    uint64_t invocations = 1;
    switch (limits_knows(l, judged[which].field) ? which : LIMIT_NONE) {
    case LIMIT_INVOCATIONS:
        for (int axis = 0; axis < 3; axis++)
            if (r->group_size[axis])
                invocations = times_unsigned(invocations, r->group_size[axis]);
        return (struct demand){invocations, l->invocations, "", ""};
    case LIMIT_GROUP_SIZE: return demand_of_axes(r->group_size, l->group_size);
    case LIMIT_GROUP_COUNT: return demand_of_axes(r->groups, l->group_count);
    case LIMIT_SHARED: return (struct demand){r->shared_bytes, l->shared_bytes, "", " bytes"};
    case LIMIT_BUFFER: return (struct demand){r->buffer_bytes, l->buffer_bytes, "", " bytes"};
    case LIMIT_LOOP_TRIPS: return demand_soft(r->loop_trips, l->loop_trips);
    case LIMIT_ACCUMULATORS: return demand_soft(r->accumulators, l->accumulators);
    case LIMIT_STATEMENTS: return demand_soft(r->statements, l->statements);
    case LIMIT_REGISTERS: {
        // Addresses, counters and the compiler itself take some registers, in subgroups of any
        // size; the rest is left for the values of a kernel.
        const uint64_t taken = 24;
        uint64_t have = l->registers;
        if (l->register_lanes && r->subgroup > l->register_lanes)
            have = have * l->register_lanes / r->subgroup;
        return demand_soft(r->registers, have > taken ? have - taken : have ? 1 : 0);
    }
    case LIMIT_NONE:
    case LIMIT_COUNT: break;
    }
    return (struct demand){0, UINT64_MAX, "", ""};
}

unsigned limits_exceeded(const struct limits *l, const struct resources *r)
{
    unsigned exceeded = 0;
    for (enum limit which = LIMIT_NONE + 1; which < LIMIT_COUNT; which++) {
        struct demand d = demand_of(which, l, r);
        if (d.need > d.have)
            exceeded |= 1u << which;
    }
    return exceeded;
}

char *limits_explain(const struct limits *l, const struct resources *r, char *out, size_t size)
{
    assert(size > 0);
    out[0] = '\0';
    for (enum limit which = LIMIT_NONE + 1; which < LIMIT_COUNT; which++) {
        struct demand d = demand_of(which, l, r);
        if (d.need > d.have) {
            snprintf(out, size, "%s%s %" PRIu64 "%s > %" PRIu64, limit_name(which), d.axis, d.need,
                     d.unit, d.have);
            break;
        }
    }
    return out;
}
