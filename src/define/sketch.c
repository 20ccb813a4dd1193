#include "define/sketch.h"

#include <stdlib.h>
#include <string.h>

// --- products of matrices ---

enum { LEAST_LENGTH = 8 }; // of rows, columns and reduction: half a fragment

// The type of the constants 0 and 1, which every type holds.
#define ANY_ELEMENT ELEMENT_COUNT

// Returns the narrowest type that holds all values of the expression.
static enum element element_of(const struct definition *d, int node)
{
    const struct node *n = &d->node[node];
    enum element plain = n->is_real ? ELEMENT_F32 : ELEMENT_I32;
    if (n->op == NODE_READ) {
        if (n->tensor < d->inputs)
            return d->tensor[n->tensor].element;
        const struct define_stage *s = &d->stage[n->tensor - d->inputs];
        return s->reduction == REDUCE_NONE ? element_of(d, s->body) : plain;
    }
    if (n->op == NODE_NUMBER && (n->number == 0 || n->number == 1))
        return ANY_ELEMENT;
    if (n->op == NODE_CAST && n->element == ELEMENT_F16)
        return ELEMENT_F16;
    if (n->op == NODE_CAST && n->element == ELEMENT_F32 && d->node[n->a].is_real)
        return element_of(d, n->a);
    if (n->op != NODE_SELECT)
        return plain;
    enum element a = element_of(d, n->b), b = element_of(d, n->c);
    bool alike = d->node[n->b].is_real == d->node[n->c].is_real;
    return !alike ? plain : a == ANY_ELEMENT ? b : b == ANY_ELEMENT ? a : a == b ? a : plain;
}

static unsigned axes_of(const struct definition *d, const struct define_stage *s, int node)
{
    unsigned axes = 0;
    for (int a = 0; a < s->space + s->reduce; a++)
        axes |= s->extent[a] > 1 && definition_depends(d, node, a) ? 1U << a : 0;
    return axes;
}

bool product_find(const struct definition *d, const struct define_stage *s, struct product *out)
{
    const struct node *body = &d->node[s->body];
    if (s->reduction != REDUCE_SUM || body->op != NODE_MULTIPLY || !s->reduce)
        return false;
    unsigned all = (1U << s->space) - 1;
    unsigned a = axes_of(d, s, body->a) & all, b = axes_of(d, s, body->b) & all;
    *out = (struct product){.axes = {all & ~(a ^ b), a & ~b, b & ~a},
                            .reduced = ((1U << s->reduce) - 1) << s->space,
                            .factor = {body->a, body->b},
                            .element = element_of(d, body->a)};
    if (out->axes[PRODUCT_ROWS] > out->axes[PRODUCT_COLUMNS]) // the last axis is in the columns
        *out = (struct product){.axes = {out->axes[PRODUCT_BATCH], b & ~a, a & ~b},
                                .reduced = out->reduced,
                                .factor = {body->b, body->a},
                                .element = out->element};
    int last = s->space + s->reduce - 1; // the innermost reduction axis longer than 1
    while (last > 0 && !(out->reduced >> last & 1 && s->extent[last] > 1))
        last--;
    for (int i = 0; i < 2; i++) { // the first read stands for the factor
        double offset[DEFINE_AFFINE] = {0};
        int read[DEFINE_MAX_NODES];
        if (definition_list(d, out->factor[i], NODES_READS, read) > 0)
            definition_affine_offset(d, read[0], offset);
        out->along[i] = offset[last] == 1;
    }
    return out->element != ANY_ELEMENT && out->element == element_of(d, body->b) &&
           body->is_real == d->node[body->a].is_real && body->is_real == d->node[body->b].is_real &&
           stage_points_of(s, out->axes[PRODUCT_ROWS]) >= LEAST_LENGTH &&
           stage_points_of(s, out->axes[PRODUCT_COLUMNS]) >= LEAST_LENGTH &&
           stage_points_of(s, out->reduced) >= LEAST_LENGTH;
}

// Fills in the shapes that accumulate in the type, and returns how many there are.
static int shapes_summing_in(enum element sum, const struct product *p,
                             const struct matrix_units *units, struct matrix_shape *out)
{
    int count = 0;
    for (int i = 0; i < units->count; i++)
        if (str_equal(units->shape[i].input, element_name(p->element)) &&
            str_equal(units->shape[i].sum, element_name(sum)))
            out[count++] = units->shape[i];
    return count;
}

int product_shapes(const struct product *p, bool is_real, const struct matrix_units *units,
                   struct matrix_shape *out)
{
    bool is_u8 = p->element == ELEMENT_U8;
    if (units->api == MATRIX_NV && (is_u8 || element_is_bits(p->element)))
        return 0; // kernels reach those through KHR's extension alone
    int count = shapes_summing_in(is_real ? ELEMENT_F32 : ELEMENT_I32, p, units, out);
    return count || !is_u8 || is_real ? count : shapes_summing_in(ELEMENT_U32, p, units, out);
}

enum { NONE = -1 };
// A reduction is split over workgroups when it is at least LONG_REDUCTION subgroups long, and the
// results are at most FEW_GROUPS workgroups full.
enum { LONG_REDUCTION = 4, FEW_GROUPS = 16 };

// --- the graph of stages ---

struct graph {
    const struct definition *d;
    struct sketch_device device;
    bool reads[DEFINE_MAX_TENSORS][DEFINE_MAX_TENSORS]; // [a][b]: a's expression reads b
    bool has_reuse[DEFINE_MAX_TENSORS];
    int64_t space[DEFINE_MAX_TENSORS], reduced[DEFINE_MAX_TENSORS]; // points of their axes
    bool is_constant[DEFINE_MAX_TENSORS]; // a reduction over axes of constant tensors alone
};

// `at` is the tensor that rules look at. `is_cache_write`: its results go to registers first, and a
// stage of its own stores them (Ansor's cache write). It is tiled then, and that stage reads it.
struct state {
    struct sketch sketch;
    int at;
    bool is_cache_write;
};

static const struct define_stage *stage_of(const struct graph *g, int tensor)
{
    return tensor < g->d->inputs ? NULL : &g->d->stage[tensor - g->d->inputs];
}

static bool reduces(const struct graph *g, int tensor)
{
    const struct define_stage *s = stage_of(g, tensor);
    return s && s->reduction != REDUCE_NONE;
}

// True: tiles of the stage read the same elements again. The stage is a reduction with an input
// that lacks a space axis, or it has two such inputs (TVM: NeedsMultilevelTiling). Unlike in TVM,
// inputs that lack the same axes count once: a scale and a shift of each channel are no reuse, in
// one stage or in two.
static bool has_reuse(const struct definition *d, const struct define_stage *s)
{
    unsigned met[DEFINE_MAX_TENSORS], all = 0;
    int different = 0, read[DEFINE_MAX_NODES];
    int count = definition_list(d, s->body, NODES_READS, read);
    for (int a = 0; a < s->space; a++)
        all |= s->extent[a] > 1 ? 1U << a : 0;
    for (int t = 0; t < d->tensor_count; t++) {
        unsigned lacking = all; // the space axes that no index of the tensor's reads contains
        bool is_read = false;
        for (int i = 0; i < count; i++) {
            const struct node *n = &d->node[read[i]];
            for (int k = 0; n->tensor == t && k < d->tensor[t].rank; k++)
                for (int a = 0; a < s->space; a++)
                    if (definition_depends(d, d->index[n->index + k], a))
                        lacking &= ~(1U << a);
            is_read = is_read || n->tensor == t;
        }
        bool is_new = is_read && lacking != 0;
        for (int i = 0; i < different; i++)
            is_new = is_new && met[i] != lacking;
        if (is_new)
            met[different++] = lacking;
    }
    return different >= 2 || (different == 1 && s->reduction != REDUCE_NONE);
}

bool reads_in_place(const struct definition *d, int node, int tensor)
{
    int read[DEFINE_MAX_NODES], reads = 0;
    int count = definition_list(d, node, NODES_READS, read);
    for (int i = 0; i < count; i++) {
        const struct node *n = &d->node[read[i]];
        if (n->tensor != tensor)
            continue;
        reads++;
        for (int k = 0; k < d->tensor[tensor].rank; k++) {
            const struct node *index = &d->node[d->index[n->index + k]];
            if (index->op != NODE_AXIS || index->axis != k)
                return false;
        }
    }
    return reads > 0;
}

// Returns the number of stages that read the tensor, directly or through inlined stages; `first`
// becomes the first of them. `reached` becomes true for the tensor and those inlined stages.
static int find_consumers(const struct graph *g, const struct state *s, int tensor, bool *reached,
                          int *first)
{
    int count = 0;
    *first = NONE;
    memset(reached, 0, DEFINE_MAX_TENSORS * sizeof *reached);
    reached[tensor] = true;
    for (int t = tensor + 1; t < g->d->tensor_count; t++) {
        bool reads = false;
        for (int from = tensor; from < t; from++)
            reads = reads || (reached[from] && g->reads[t][from]);
        if (reads && s->sketch.plan[t] == PLAN_INLINE)
            reached[t] = true;
        else if (reads && count++ == 0)
            *first = t;
    }
    return count;
}

// Returns the only consumer, where it and the inlined stages between read element by element
// (TVM: HasSingleElementwiseMatchedConsumer); else NONE.
static int matching_consumer(const struct graph *g, const struct state *s, int tensor)
{
    bool reached[DEFINE_MAX_TENSORS];
    int consumer;
    if (!stage_of(g, tensor) || find_consumers(g, s, tensor, reached, &consumer) != 1 ||
        (reduces(g, tensor) && reduces(g, consumer)))
        return NONE;
    for (int t = tensor + 1; t <= consumer; t++) {
        const struct define_stage *b = stage_of(g, t);
        for (int from = 0; from < t && (reached[t] || t == consumer); from++) {
            const struct define_stage *a = stage_of(g, from);
            if (!reached[from] || !g->reads[t][from])
                continue;
            if (a->space != b->space || !reads_in_place(g->d, b->body, from) ||
                memcmp(a->extent, b->extent, (size_t)a->space * sizeof *a->extent) != 0)
                return NONE;
        }
    }
    return consumer;
}

int64_t guarded_extent(int64_t length)
{
    for (int64_t extent = length;; extent = extent / 8 * 8 + 8) {
        int64_t rest = extent; // what is left without the prime factors up to 7
        for (int prime = 2; prime <= 7; prime++)
            while (rest % prime == 0)
                rest /= prime;
        if (rest == 1 || extent <= 8)
            return extent;
    }
}

// --- the rules ---

// PASS leaves the state. APPLY changes it, and lets later rules make another state of the old one.
enum rule_result { PASS, APPLY, APPLY_AND_STOP };

// Tiles read the tensor from a buffer in shared memory. The rules look at the tensor again: it may
// be inlined into the stage that fills the buffer.
static enum rule_result apply_cache_read(const struct graph *g, struct state *s)
{
    bool reached[DEFINE_MAX_TENSORS];
    int consumer;
    if (s->sketch.is_cached[s->at] || find_consumers(g, s, s->at, reached, &consumer) == 0 ||
        s->sketch.plan[consumer] != PLAN_TILE || !g->reads[consumer][s->at])
        return PASS;
    s->sketch.is_cached[s->at] = true;
    return APPLY_AND_STOP;
}

static bool can_inline(const struct graph *g, int tensor)
{
    return stage_of(g, tensor) && tensor != g->d->stage[g->d->stage_count - 1].tensor &&
           !reduces(g, tensor);
}

// A stage that an unrolled stage reads is computed once for all values of that stage, where all
// reads of it are unconditional.
static enum rule_result apply_special_location(const struct graph *g, struct state *s)
{
    bool reached[DEFINE_MAX_TENSORS];
    int consumer, reads = 0;
    if (!can_inline(g, s->at) || find_consumers(g, s, s->at, reached, &consumer) != 1 ||
        s->sketch.plan[consumer] != PLAN_CONSTANT)
        return PASS;
    int body = stage_of(g, consumer)->body, read[DEFINE_MAX_NODES];
    int count = definition_list(g->d, body, NODES_UNCONDITIONAL, read);
    for (int i = 0; i < count; i++)
        reads += g->d->node[read[i]].tensor == s->at;
    if (!reads || reads != definition_reads_of(g->d, body, s->at))
        return PASS;
    s->sketch.plan[s->at--] = PLAN_ONCE;
    return APPLY_AND_STOP;
}

static enum rule_result apply_inline(const struct graph *g, struct state *s)
{
    if (!can_inline(g, s->at))
        return PASS;
    s->sketch.plan[s->at--] = PLAN_INLINE;
    return APPLY_AND_STOP;
}

// A reduction over axes of constant tensors is unrolled along all their axes. The other axes are
// one loop, tiled in two levels.
static enum rule_result apply_constant_tensors(const struct graph *g, struct state *s)
{
    if (!g->is_constant[s->at] || s->is_cache_write)
        return PASS;
    s->sketch.plan[s->at--] = PLAN_CONSTANT;
    return APPLY_AND_STOP;
}

// True: invocations can share the reduction (TVM: NeedsRfactor).
static bool can_share(const struct graph *g, const struct state *s)
{
    if (!reduces(g, s->at) || s->is_cache_write)
        return false;
    int64_t space = g->space[s->at], reduced = g->reduced[s->at];
    return g->has_reuse[s->at] ? space <= g->device.invocations && space < reduced
                               : reduced > g->device.subgroup;
}

// Loops whose lengths have few divisors may run past their ends, where their results are dropped.
// Reductions that can be shared are not guarded, or there would be too many sketches.
static enum rule_result apply_guard(const struct graph *g, struct state *s)
{
    const struct define_stage *stage = stage_of(g, s->at);
    if (!stage || !g->device.guards || s->is_cache_write || s->sketch.is_guarded[s->at])
        return PASS;
    // A tiled stage has a loop for each axis, another one a loop for all space axes and one for all
    // reduction axes.
    int64_t space = g->space[s->at], reduced = g->reduced[s->at];
    bool odd = !g->has_reuse[s->at] &&
               (guarded_extent(space) != space || guarded_extent(reduced) != reduced);
    for (int a = 0; a < stage->space + stage->reduce && g->has_reuse[s->at]; a++)
        odd = odd || guarded_extent(stage->extent[a]) != stage->extent[a];
    if (!odd || can_share(g, s))
        return PASS;
    s->sketch.is_guarded[s->at] = true;
    return APPLY;
}

static enum rule_result apply_cross_thread(const struct graph *g, struct state *s)
{
    if (!can_share(g, s))
        return PASS;
    s->sketch.plan[s->at--] = PLAN_CROSS;
    return APPLY;
}

// Workgroups share a long reduction when there are too few results to fill a device (MetaSchedule's
// rfactor, with its outer loop over workgroups).
static enum rule_result apply_split(const struct graph *g, struct state *s)
{
    if (!g->device.splits || !reduces(g, s->at) || s->is_cache_write || s->sketch.is_guarded[s->at])
        return PASS;
    int64_t space = g->space[s->at], reduced = g->reduced[s->at];
    int groups =
        2; // the least number that divides the reduction and leaves each more than one step
    while (groups <= SKETCH_MOST_SPLIT && (reduced % groups != 0 || reduced <= groups))
        groups++;
    if (reduced < LONG_REDUCTION * g->device.subgroup || groups > SKETCH_MOST_SPLIT ||
        space > FEW_GROUPS * g->device.invocations || (g->has_reuse[s->at] && space > reduced))
        return PASS;
    s->sketch.plan[s->at--] = PLAN_SPLIT;
    return APPLY;
}

// A product of matrices is computed by the device's matrix units, where they multiply and
// accumulate in the types of the definition (MetaSchedule's multi-level tiling with tensor cores).
static enum rule_result apply_matrix_units(const struct graph *g, struct state *s)
{
    const struct define_stage *stage = stage_of(g, s->at);
    struct product product;
    struct matrix_shape shape[MATRIX_MAX_SHAPES];
    if (!g->has_reuse[s->at] || s->is_cache_write || s->sketch.is_guarded[s->at] ||
        !product_find(g->d, stage, &product) ||
        !product_shapes(&product, g->d->node[stage->body].is_real, g->device.matrix, shape))
        return PASS;
    s->sketch.plan[s->at--] = PLAN_MATRIX;
    return APPLY;
}

static enum rule_result apply_cache_write(const struct graph *g, struct state *s)
{
    if (!g->has_reuse[s->at] || s->is_cache_write || matching_consumer(g, s, s->at) != NONE)
        return PASS;
    s->is_cache_write = true;
    return APPLY_AND_STOP;
}

static enum rule_result apply_tile(const struct graph *g, struct state *s)
{
    if (!g->has_reuse[s->at])
        return PASS;
    s->sketch.plan[s->at--] = PLAN_TILE;
    s->is_cache_write = false;
    return APPLY_AND_STOP;
}

static enum rule_result apply_tile_fused(const struct graph *g, struct state *s)
{
    bool fuses = s->is_cache_write || matching_consumer(g, s, s->at) != NONE;
    return fuses ? apply_tile(g, s) : PASS;
}

static enum rule_result apply_skip(const struct graph *g, struct state *s)
{
    (void)g;
    s->at--;
    return APPLY_AND_STOP;
}

static const struct {
    const char *name;
    enum rule_result (*apply)(const struct graph *g, struct state *s);
} rules[RULE_COUNT] = {
    [RULE_CACHE_READ] = {"cache read", apply_cache_read},
    [RULE_LOCATION] = {"special compute location", apply_special_location},
    [RULE_INLINE] = {"always inline", apply_inline},
    [RULE_CONSTANT] = {"constant tensors", apply_constant_tensors},
    [RULE_GUARD] = {"guarded ends", apply_guard},
    [RULE_CROSS] = {"cross-thread reduction", apply_cross_thread},
    [RULE_SPLIT] = {"split reduction", apply_split},
    [RULE_MATRIX] = {"matrix units", apply_matrix_units},
    [RULE_CACHE_WRITE] = {"cache write", apply_cache_write},
    [RULE_TILE_FUSED] = {"multi-level tiling with fusion", apply_tile_fused},
    [RULE_TILE] = {"multi-level tiling", apply_tile},
    [RULE_SKIP] = {"skip", apply_skip},
};

const char *sketch_rule_name(enum sketch_rule r)
{
    return rules[r].name;
}

// --- the derivation ---

enum { MOST_CHOICES = 3 }; // rules that apply and leave later rules a choice, at one tensor

// Derives the sketches of a state, depth first. The states of rules with APPLY come last, so that
// sketches without shared reductions come first.
static void derive(const struct graph *g, struct state s, struct sketches *out)
{
    while (s.at >= 0 && out->count < SKETCH_MOST) {
        struct state other[MOST_CHOICES];
        int others = 0;
        for (int r = 0; r < RULE_COUNT; r++) {
            struct state next = s;
            enum rule_result verdict = rules[r].apply(g, &next);
            if (verdict == PASS)
                continue;
            if (next.sketch.rules < SKETCH_MOST_RULES)
                next.sketch.rule[next.sketch.rules++] = (enum sketch_rule)r;
            if (verdict == APPLY) {
                other[others++] = next;
                continue;
            }
            s = next;
            break;
        }
        if (others == 0)
            continue;
        derive(g, s, out);
        for (int i = 0; i < others - 1; i++)
            derive(g, other[i], out);
        s = other[others - 1];
    }
    if (out->count < SKETCH_MOST)
        out->sketch[out->count++] = s.sketch;
}

void sketches_derive(const struct definition *d, struct sketch_device device, struct sketches *out)
{
    struct graph *g = mem_alloc(sizeof *g);
    struct state start = {.at = d->tensor_count - 1};
    *g = (struct graph){.d = d, .device = device};
    for (int i = 0; i < d->stage_count; i++) {
        const struct define_stage *s = &d->stage[i];
        int read[DEFINE_MAX_NODES], count = definition_list(d, s->body, NODES_READS, read);
        for (int k = 0; k < count; k++)
            g->reads[s->tensor][d->node[read[k]].tensor] = true;
        g->space[s->tensor] = stage_points(s, 0, s->space);
        g->reduced[s->tensor] = stage_points(s, s->space, s->reduce);
        g->has_reuse[s->tensor] = has_reuse(d, s);
        g->is_constant[s->tensor] = constant_stage_axes(d, s) != 0;
    }
    out->count = 0;
    derive(g, start, out);
    free(g);
}
