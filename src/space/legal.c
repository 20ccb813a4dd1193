#include "space/legal.h"

#include "base/number.h"
#include "space/order.h"

#include <gmp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEARN_DRAWS = 4000,
    SPARSE_LEGAL = LEARN_DRAWS / 100,
    MOST_VALUES = 1 << 20,    // of a parameter in the graph
    MOST_EXACT_EDGES = 16384, // of a graph in which the nearest point is sought exactly
    MOST_RESTARTS = 10000,
    LEAST_LEGAL = 10, // draws that tell how many points are legal
    MOST_NODES = 4000000,
    MOST_FOUND = 4096
};
#define STEPS_OF_DRAW    (LEGAL_STEPS / 2)   // of one draw without a graph
#define STEPS_OF_ATTEMPT (LEGAL_STEPS / 100) // until a draw begins anew

struct edge {
    int32_t value, node; // index of the parameter's value; in the next layer
};

struct node {
    uint32_t first, edges; // in the layer; no edges: no legal point begins like this
};

// The beginnings that differ in what later rules read, before the layer's parameter is chosen.
struct layer {
    int param;
    int first_rule, rules;            // in `order` of the rules: those decided by this parameter
    uint64_t assigned, newest;        // bit sets of the slots chosen so far; of the last parameter
    int slot[SPACE_MAX_SLOTS], slots; // that later rules read
    struct config_set keys;           // their values, a node each
    struct node *node;
    int node_capacity;
    mp_limb_t *count; // [node][limbs]: legal points below each
    size_t count_capacity;
    struct edge *edge;
    int edges, edge_capacity;
    int *least; // scratch of legal_nearest, of each node
};

enum build { BUILD_GOES_ON, BUILD_AGAIN, BUILD_TOO_MUCH, BUILD_FAILED };

struct legal {
    const struct space *space;
    struct rules rules;
    struct rules_sample sample;
    bool learned;
    int levels; // parameters in the graph
    struct layer layer[SPACE_MAX_PARAMS + 1];
    int *order; // of the rules, by the layer in which they are decided
    int grown;  // rules.grown when the layers were made
    int limbs;  // of a count
    bool is_built, is_tried;
    int failures; // draws in a row that found nothing: the next ones take less time
    uint64_t edges;
    size_t bytes;
    mpz_t free_points; // of the parameters that no rule reads
    mpz_t count;       // exact, or found so far
    // While it is built:
    enum build state;
    uint64_t steps, most_steps; // other steps than the rules'; of all
    int broken_holds;           // what a rule that fails counts as; RULE_BROKEN: an error
    int failed_rule;
    struct config failed;
    struct config_set found; // the first legal points, for where no graph is built
    struct edge *open;       // of the nodes that are being made
    int open_count, open_capacity;
};

struct legal *legal_create(const struct space *s, const struct limits *l)
{
    struct legal *g = mem_zero(1, sizeof *g);
    g->space = s;
    g->broken_holds = RULE_BROKEN;
    g->sample = (struct rules_sample){.steps = LEGAL_STEPS / 4};
    g->found.slots = s->slots;
    rules_init(&g->rules, s);
    rules_add(&g->rules, s, l);
    mpz_init_set_ui(g->free_points, 1);
    mpz_init(g->count);
    return g;
}

void legal_add(struct legal *g, const struct space *s, const struct limits *l)
{
    rules_add(&g->rules, s, l);
}

static void clear(struct legal *g)
{
    for (int i = 0; i <= SPACE_MAX_PARAMS; i++) {
        struct layer *l = &g->layer[i];
        config_set_finish(&l->keys);
        free(l->node);
        free(l->count);
        free(l->edge);
        free(l->least);
        *l = (struct layer){0};
    }
    free(g->order);
    g->order = NULL;
    g->edges = g->bytes = 0;
    g->open_count = 0;
    g->is_built = g->is_tried = false;
}

void legal_destroy(struct legal *g)
{
    if (!g)
        return;
    clear(g);
    rules_finish(&g->rules);
    config_set_finish(&g->found);
    mpz_clear(g->free_points);
    mpz_clear(g->count);
    free(g->open);
    free(g);
}

// Returns what giving a parameter its n-th value takes.
static uint64_t steps_of_value(const struct param *p)
{
    bool is_list = p->kind == PARAM_FACTORIZATION || p->kind == PARAM_PERMUTATION;
    return is_list ? 8 * (uint64_t)p->width : 2;
}

// --- layers ---

// Sets for each rule the layer that decides it, and for each layer the slots that are read later.
static void lay_out(struct legal *g, const struct order *o)
{
    const int rules = g->rules.count;
    int *level = mem_zero((size_t)rules + 1, sizeof *level), latest = 0, placed = 0;
    uint64_t assigned = 0;
    g->levels = o->count;
    for (int k = 0; k < rules; k++) {
        const struct space_rule *rule = &g->rules.rule[k];
        uint64_t left = rule->left_out ? 0 : rule->reads;
        for (int i = 0; i < o->count && left; i++) {
            left &= ~param_slots(&g->space->param[o->param[i]]);
            level[k] = i + 1;
        }
        if (rule->late && level[k] < latest)
            level[k] = latest;
        latest = level[k] > latest && !rule->left_out ? level[k] : latest;
    }
    g->order = mem_zero((size_t)rules + 1, sizeof *g->order);
    for (int i = 0; i <= o->count; i++) {
        struct layer *l = &g->layer[i];
        uint64_t later = 0;
        l->param = i < o->count ? o->param[i] : -1;
        l->first_rule = placed;
        for (int k = 0; k < rules; k++) {
            if (level[k] == i)
                g->order[placed++] = k;
            if (level[k] > i)
                later |= g->rules.rule[k].left_out ? 0 : g->rules.rule[k].reads;
        }
        l->rules = placed - l->first_rule;
        for (int s = 0; s < g->space->slots; s++)
            if (later & assigned & UINT64_C(1) << s)
                l->slot[l->slots++] = s;
        l->keys.slots = l->slots ? l->slots : 1;
        l->assigned = assigned;
        l->newest = i > 0 ? param_slots(&g->space->param[o->param[i - 1]]) : 0;
        if (i < o->count)
            assigned |= param_slots(&g->space->param[o->param[i]]);
    }
    free(level);
    mpz_set_ui(g->free_points, 1);
    for (int i = 0; i < g->space->param_count; i++) {
        const struct param *p = &g->space->param[i];
        uint64_t size = assigned & param_slots(p) ? 1 : p->size;
        mpz_t f;
        mpz_init(f);
        mpz_import(f, 1, 1, sizeof size, 0, 0, &size);
        mpz_mul(g->free_points, g->free_points, f);
        mpz_clear(f);
    }
    mpz_t all;
    mpz_init_set_str(all, g->space->size_text, 10);
    g->limbs = (int)mpz_size(all) + 1;
    mpz_clear(all);
}

static struct config key_of(const struct layer *l, const struct config *c)
{
    struct config key = {{0}};
    for (int i = 0; i < l->slots; i++)
        key.slot[i] = c->slot[l->slot[i]];
    return key;
}

static uint64_t all_steps(const struct legal *g)
{
    return g->steps + g->rules.steps;
}

// Judges the rules that a layer decides. False as well where the building has to stop.
static bool permits(struct legal *g, const struct layer *l, const struct config *c)
{
    for (int i = l->first_rule; i < l->first_rule + l->rules; i++) {
        int k = g->order[i], value = rules_judge(&g->rules, k, c);
        if (g->rules.grown != g->grown) {
            g->state = BUILD_AGAIN;
            return false;
        }
        if (value == RULE_BROKEN && g->broken_holds != RULE_BROKEN) {
            value = g->broken_holds;
        } else if (value == RULE_BROKEN) {
            // An earlier rule that is decided later may forbid this point.
            bool is_last = true;
            for (int n = l->first_rule + l->rules; n < g->rules.count; n++)
                is_last = is_last && (g->order[n] > k || g->rules.rule[g->order[n]].left_out);
            g->rules.rule[k].late |= !is_last;
            g->state = is_last ? BUILD_FAILED : BUILD_AGAIN;
            g->failed_rule = k;
            g->failed = *c;
            return false;
        }
        if (value == RULE_FORBIDS)
            return false;
    }
    bool early = l->newest && rules_forbid_early(&g->rules, c, l->assigned, l->newest);
    if (g->rules.grown != g->grown)
        g->state = BUILD_AGAIN;
    return !early && g->state == BUILD_GOES_ON;
}

static mp_limb_t *count_at(const struct legal *g, const struct layer *l, int node)
{
    return l->count + (size_t)node * (size_t)g->limbs;
}

// Adds a node with the edges that are open from `begin` on.
static int add_node(struct legal *g, int level, const struct config *key, int begin)
{
    struct layer *l = &g->layer[level];
    int node = config_set_add(&l->keys, key, NULL), edges = g->open_count - begin;
    size_t limbs = (size_t)g->limbs, need = ((size_t)node + 1) * limbs;
    MEM_GROW(l->node, node, l->node_capacity);
    if (need > l->count_capacity) {
        l->count_capacity = 2 * need;
        l->count = mem_resize(l->count, l->count_capacity, sizeof *l->count);
    }
    mp_limb_t *count = count_at(g, l, node);
    memset(count, 0, limbs * sizeof *count);
    l->node[node] = (struct node){(uint32_t)l->edges, (uint32_t)edges};
    for (int i = begin; i < g->open_count; i++) {
        MEM_GROW(l->edge, l->edges, l->edge_capacity);
        l->edge[l->edges++] = g->open[i];
        mpn_add_n(count, count, count_at(g, l + 1, g->open[i].node), g->limbs);
    }
    g->open_count = begin;
    g->edges += (uint64_t)edges;
    g->bytes += (size_t)edges * sizeof *l->edge + limbs * sizeof *count + sizeof *l->node +
                (size_t)(l->keys.slots + 4) * sizeof(int32_t);
    return node;
}

static bool is_dead(const struct legal *g, int level, int node)
{
    return level < g->levels && g->layer[level].node[node].edges == 0;
}

static void add_found(struct legal *g, const mp_limb_t *count)
{
    mpz_t found;
    mpz_init(found);
    mpz_import(found, (size_t)g->limbs, -1, sizeof *count, 0, 0, count);
    mpz_add(g->count, g->count, found);
    mpz_clear(found);
}

// Makes the node of the beginning `c`, and all below it; returns it. Where the building stops, the
// points found below are added to the count.
static int make_node(struct legal *g, int level, struct config *c)
{
    struct layer *l = &g->layer[level];
    struct config key = key_of(l, c);
    int known = config_set_find(&l->keys, &key), begin = g->open_count;
    if (level == g->levels && g->found.count < MOST_FOUND)
        config_set_add(&g->found, c, NULL);
    if (known >= 0)
        return known;
    const struct param *p = &g->space->param[l->param];
    for (uint64_t v = 0; v < p->size && g->state == BUILD_GOES_ON; v++) {
        param_value(p, v, c->slot + p->offset);
        g->steps += steps_of_value(p);
        if (all_steps(g) > g->most_steps || legal_bytes(g) > LEGAL_BYTES)
            g->state = BUILD_TOO_MUCH;
        if (g->state != BUILD_GOES_ON || !permits(g, l + 1, c))
            continue;
        int node = make_node(g, level + 1, c);
        if (g->state != BUILD_GOES_ON || is_dead(g, level + 1, node))
            continue;
        MEM_GROW(g->open, g->open_count, g->open_capacity);
        g->open[g->open_count++] = (struct edge){(int32_t)v, node};
    }
    if (g->state == BUILD_GOES_ON)
        return add_node(g, level, &key, begin);
    for (int i = begin; i < g->open_count && g->state == BUILD_TOO_MUCH; i++)
        add_found(g, count_at(g, l + 1, g->open[i].node));
    g->open_count = begin;
    return -1;
}

// Returns true if the graph is certain to be too large: it has a node for each combination of the
// values that later rules read, and most legal points differ in these. `points` is a lower bound.
static bool is_hopeless(const struct legal *g, double points)
{
    double log_points = points > 0 ? log(points) : 0;
    for (int i = 0; i < g->levels; i++) {
        const struct layer *l = &g->layer[i];
        uint64_t live = 0;
        double log_below = 0; // of the points of a node, at most
        for (int k = 0; k < l->slots; k++)
            live |= UINT64_C(1) << l->slot[k];
        for (int k = 0; k < g->space->param_count; k++)
            if (param_slots(&g->space->param[k]) & ~live)
                log_below += log((double)g->space->param[k].size);
        if (log_points - log_below > log(MOST_NODES) ||
            (l->param >= 0 && g->space->param[l->param].size > MOST_VALUES))
            return true;
    }
    return false;
}

// Makes empty layers for what is known of the rules.
static void make_layers(struct legal *g)
{
    clear(g);
    config_set_finish(&g->found);
    struct order o;
    do { // the values of single parameters may show that a rule reads more
        g->grown = g->rules.grown;
        o = order_choose(&g->rules);
    } while (g->grown != g->rules.grown);
    lay_out(g, &o);
    struct config key = {{0}};
    int end = add_node(g, g->levels, &key, g->open_count); // of every legal point
    count_at(g, &g->layer[g->levels], end)[0] = 1;
    mpz_set_ui(g->count, 0);
}

// Tries to build the graph within `most` steps, again while rules turn out to read more.
static void build(struct legal *g, uint64_t most)
{
    const struct rules_sample *seen = &g->sample;
    bool rare = seen->legal < LEAST_LEGAL || g->broken_holds != RULE_BROKEN;
    double points =
        rare ? 0
             : strtod(g->space->size_text, NULL) * (double)seen->legal / (double)seen->drawn / 2;
    g->most_steps = all_steps(g) + most;
    g->state = BUILD_AGAIN;
    for (int i = 0; i < MOST_RESTARTS && g->state == BUILD_AGAIN; i++) {
        struct config c;
        make_layers(g);
        g->state = is_hopeless(g, points) ? BUILD_TOO_MUCH : BUILD_GOES_ON;
        space_point(g->space, 0, &c);
        if (g->state == BUILD_GOES_ON && permits(g, &g->layer[0], &c))
            make_node(g, 0, &c);
        else if (g->state == BUILD_GOES_ON)
            add_node(g, 0, &(struct config){{0}}, g->open_count);
    }
    g->is_tried = true;
    g->is_built = g->state == BUILD_GOES_ON;
    if (g->is_built)
        add_found(g, count_at(g, &g->layer[0], 0));
    mpz_mul(g->count, g->count, g->free_points);
}

// --- what the users call ---

static bool learn(struct legal *g, uint64_t enough, struct err *e)
{
    if (g->learned)
        return true;
    g->sample.most = LEARN_DRAWS;
    g->sample.enough = enough;
    g->learned = rules_learn(&g->rules, &g->sample, e);
    return g->learned;
}

bool legal_is_sparse(struct legal *g, bool *sparse, struct err *e)
{
    bool ok = learn(g, SPARSE_LEGAL + 1, e);
    *sparse = (ok || g->sample.drawn >= 100) && g->sample.legal * 100 <= g->sample.drawn;
    return ok;
}

bool legal_build(struct legal *g, struct err *e)
{
    return legal_build_within(g, LEGAL_STEPS, e);
}

bool legal_build_within(struct legal *g, uint64_t steps, struct err *e)
{
    if (!learn(g, SPARSE_LEGAL + 1, e))
        return false;
    build(g, steps);
    if (g->state == BUILD_FAILED)
        rules_explain(&g->rules, g->failed_rule, &g->failed, e);
    return g->state != BUILD_FAILED;
}

bool legal_open_sparse(const struct space *s, const struct limits *l, struct legal **out,
                       struct err *e)
{
    bool sparse = false;
    *out = legal_create(s, l);
    bool ok = legal_is_sparse(*out, &sparse, e) && (!sparse || legal_build(*out, e));
    if (!ok || !sparse) {
        legal_destroy(*out);
        *out = NULL;
    }
    return ok;
}

bool legal_sample(struct legal *g, const struct space *s, struct rng *r, struct config *out)
{
    if (!g)
        space_sample(s, r, out);
    return !g || legal_draw(g, r, out);
}

bool legal_is_built(const struct legal *g)
{
    return g->is_built;
}

bool legal_is_empty(const struct legal *g)
{
    bool is_dead_end = g->levels && g->layer[0].keys.count && is_dead(g, 0, 0);
    return g->is_tried && !mpz_sgn(g->count) && (g->is_built || is_dead_end);
}

void legal_add_count(const struct legal *g, struct str *out)
{
    char *text = mpz_get_str(NULL, 10, g->count);
    str_add(out, text);
    free(text);
}

uint64_t legal_count(const struct legal *g)
{
    uint64_t count = 0;
    if (mpz_sizeinbase(g->count, 2) > 64)
        return UINT64_MAX;
    mpz_export(&count, NULL, 1, sizeof count, 0, 0, g->count);
    return count;
}

size_t legal_bytes(const struct legal *g)
{
    return g->bytes + g->rules.bytes;
}

// --- points ---

static void set_value(const struct legal *g, const struct layer *l, int32_t value, struct config *c)
{
    const struct param *p = &g->space->param[l->param];
    param_value(p, (uint64_t)value, c->slot + p->offset);
}

// Follows the edges from a node to the `left`-th point below it, which is used up.
static void descend(const struct legal *g, int level, int node, mp_limb_t *left, struct config *c)
{
    for (; level < g->levels; level++) {
        const struct layer *l = &g->layer[level];
        const struct edge *edge = l->edge + l->node[node].first;
        for (;; edge++) {
            const mp_limb_t *below = count_at(g, l + 1, edge->node);
            if (mpn_cmp(left, below, g->limbs) < 0)
                break;
            mpn_sub_n(left, left, below, g->limbs);
        }
        set_value(g, l, edge->value, c);
        node = edge->node;
    }
}

// Draws a uniform number below `most`, by rejection of larger ones with as many bits.
static void draw_below(const struct legal *g, const mp_limb_t *most, struct rng *r, mp_limb_t *out)
{
    int top = g->limbs - 1;
    while (top > 0 && !most[top])
        top--;
    mp_limb_t mask = most[top];
    for (int shift = 1; shift < GMP_LIMB_BITS; shift *= 2)
        mask |= mask >> shift;
    memset(out, 0, (size_t)g->limbs * sizeof *out);
    do {
        for (int i = 0; i <= top; i++)
            out[i] = (mp_limb_t)rng_next(r);
        out[top] &= mask;
    } while (mpn_cmp(out, most, g->limbs) >= 0);
}

enum { MOST_LIMBS = 64 }; // 32 parameters of at most 63 bits

static void draw_below_node(const struct legal *g, int level, int node, struct rng *r,
                            struct config *c)
{
    mp_limb_t left[MOST_LIMBS];
    draw_below(g, count_at(g, &g->layer[level], node), r, left);
    descend(g, level, node, left, c);
}

// Chooses the values from a layer on, in a random order, until all rules hold. False: there are
// none, or the steps are spent.
static bool construct(struct legal *g, int level, struct rng *r, struct config *c)
{
    struct layer *l = &g->layer[level];
    struct config key = key_of(l, c);
    int known = level < g->levels ? config_set_find(&l->keys, &key) : -1;
    if (known >= 0 && is_dead(g, level, known))
        return false;
    if (known >= 0)
        draw_below_node(g, level, known, r, c);
    if (known >= 0 || level == g->levels)
        return true;
    const struct param *p = &g->space->param[l->param];
    // A random beginning, and a random step without a common divisor, go through all values.
    uint64_t value = rng_below(r, p->size), step = 1 + rng_below(r, p->size);
    while (common_divisor(step, p->size) != 1)
        step = 1 + rng_below(r, p->size);
    for (uint64_t n = 0; n < p->size; n++) {
        param_value(p, value, c->slot + p->offset);
        value = (value + step) % p->size;
        g->steps += steps_of_value(p);
        if (all_steps(g) > g->most_steps)
            g->state = BUILD_TOO_MUCH;
        if (g->state == BUILD_GOES_ON && permits(g, l + 1, c) && construct(g, level + 1, r, c))
            return true;
        if (g->state != BUILD_GOES_ON)
            return false;
    }
    if (legal_bytes(g) < LEGAL_BYTES)
        add_node(g, level, &key, g->open_count);
    return false;
}

// Draws one of the points that were found while the graph was tried.
static bool draw_found(const struct legal *g, struct rng *r, struct config *out)
{
    struct config found;
    if (!g->found.count)
        return false;
    space_sample(g->space, r, out);
    config_set_get(&g->found, (int)rng_below(r, (uint64_t)g->found.count), &found);
    for (int i = 0; i < g->levels; i++) {
        const struct param *p = &g->space->param[g->layer[i].param];
        memcpy(out->slot + p->offset, found.slot + p->offset, (size_t)p->width * sizeof *out->slot);
    }
    return true;
}

bool legal_draw(struct legal *g, struct rng *r, struct config *out)
{
    space_sample(g->space, r, out); // the parameters that no rule reads
    if (g->is_built && mpz_sgn(g->count)) {
        draw_below_node(g, 0, 0, r, out);
        return true;
    }
    if (g->is_built)
        return false;
    uint64_t end = all_steps(g) + (STEPS_OF_DRAW >> int_min(2 * g->failures, 16));
    while (all_steps(g) < end && !legal_is_empty(g)) {
        if (!g->order || g->rules.grown != g->grown) {
            make_layers(g);
            g->is_tried = true;
        }
        g->state = BUILD_GOES_ON;
        g->most_steps = all_steps(g) + STEPS_OF_ATTEMPT;
        if (permits(g, &g->layer[0], out) && construct(g, 0, r, out)) {
            g->failures = 0;
            return true;
        }
        space_sample(g->space, r, out);
        if (g->state == BUILD_FAILED || (g->state == BUILD_GOES_ON && !g->levels))
            break;
    }
    g->failures++;
    return draw_found(g, r, out);
}

bool legal_point(const struct legal *g, uint64_t n, struct config *out)
{
    mp_limb_t left[MOST_LIMBS] = {0};
    mpz_t index, below;
    if (!g->is_built)
        return false;
    mpz_init(index);
    mpz_import(index, 1, 1, sizeof n, 0, 0, &n);
    bool has_point = mpz_cmp(index, g->count) < 0;
    if (has_point) {
        // The parameters that no rule reads change fastest.
        mpz_init(below);
        mpz_tdiv_qr(index, below, index, g->free_points);
        mpz_export(left, NULL, -1, sizeof *left, 0, 0, index);
        uint64_t rest = mpz_get_ui(below);
        space_point(g->space, 0, out);
        descend(g, 0, 0, left, out);
        uint64_t read = 0;
        for (int i = 0; i < g->levels; i++)
            read |= param_slots(&g->space->param[g->layer[i].param]);
        for (int i = g->space->param_count - 1; i >= 0; i--) {
            const struct param *p = &g->space->param[i];
            if (read & param_slots(p))
                continue;
            param_value(p, rest % p->size, out->slot + p->offset);
            rest /= p->size;
        }
        mpz_clear(below);
    }
    mpz_clear(index);
    return has_point;
}

// --- the nearest point ---

// The point that the result is to be near to, and the value that it must not have.
struct wanted {
    const struct config *near, *from;
    int param; // -1: every value is fine
};

enum { TOO_FAR = 1 << 24, MOST_CUSTOM = 256 };

// Returns how far the value of an edge is from the wanted one; TOO_FAR: it must not be taken.
static int edge_distance(const struct legal *g, const struct layer *l, int32_t value,
                         const struct wanted *w)
{
    const struct param *p = &g->space->param[l->param];
    int32_t v[PARAM_MAX_WIDTH];
    size_t bytes = (size_t)p->width * sizeof *v;
    param_value(p, (uint64_t)value, v);
    if (l->param == w->param && memcmp(v, w->from->slot + p->offset, bytes) == 0)
        return TOO_FAR;
    if (p->kind == PARAM_CUSTOM && p->count > MOST_CUSTOM) // a distance takes a search
        return *v != w->near->slot[p->offset];
    int distance = param_distance(p, w->near->slot + p->offset, v);
    return distance < 0 ? p->count : distance;
}

// Computes the least distance below each node of the layer, from those of the next layer.
static void measure_layer(struct legal *g, int level, const struct wanted *w)
{
    struct layer *l = &g->layer[level];
    const int *below = g->layer[level + 1].least;
    if (!l->least)
        l->least = mem_zero((size_t)l->keys.count, sizeof *l->least);
    for (int i = 0; i < l->keys.count; i++) {
        const struct edge *edge = l->edge + l->node[i].first;
        l->least[i] = TOO_FAR;
        for (uint32_t k = 0; k < l->node[i].edges; k++) {
            int distance = edge_distance(g, l, edge[k].value, w);
            distance = int_min(distance + (below ? below[edge[k].node] : 0), TOO_FAR);
            l->least[i] = int_min(l->least[i], distance);
        }
    }
}

static bool nearest_in_graph(struct legal *g, const struct wanted *w, struct config *out)
{
    bool exact = g->edges <= MOST_EXACT_EDGES;
    for (int i = g->levels - 1; i >= 0 && exact; i--)
        measure_layer(g, i, w);
    *out = *w->near;
    bool moved = w->param < 0;
    for (int i = 0, node = 0; i < g->levels; i++) {
        const struct layer *l = &g->layer[i];
        const struct edge *edge = l->edge + l->node[node].first, *best = NULL;
        const int *below = exact ? g->layer[i + 1].least : NULL;
        int least = TOO_FAR;
        for (uint32_t k = 0; k < l->node[node].edges; k++) {
            int distance = edge_distance(g, l, edge[k].value, w);
            distance = int_min(distance + (below ? below[edge[k].node] : 0), TOO_FAR);
            if (distance < least) {
                least = distance;
                best = &edge[k];
            }
        }
        if (!best)
            return false;
        moved = moved || l->param == w->param;
        set_value(g, l, best->value, out);
        node = best->node;
    }
    const struct param *p = moved ? NULL : &g->space->param[w->param];
    return moved || memcmp(out->slot + p->offset, w->from->slot + p->offset,
                           (size_t)p->width * sizeof *out->slot) != 0;
}

bool legal_permits(struct legal *g, const struct config *c)
{
    return rules_permit(&g->rules, c);
}

bool legal_nearest(struct legal *g, const struct config *from, int param, struct config *c)
{
    const struct config near = *c;
    const struct wanted w = {&near, from, param};
    if (g->is_built)
        return mpz_sgn(g->count) && nearest_in_graph(g, &w, c);
    return rules_nearest(&g->rules, from, param, c);
}

int legal_values(struct legal *g, const struct config *c, int param, int most, uint64_t *out)
{
    return rules_values(&g->rules, c, param, most, out);
}

// --- single rules ---

int legal_rules(const struct legal *g)
{
    return g->rules.count;
}

const char *legal_rule(const struct legal *g, int rule)
{
    return rules_name(&g->rules, rule);
}

int legal_rule_constraint(const struct legal *g, int rule)
{
    return g->rules.rule[rule].constraint;
}

// Begins a graph of some of the rules, beside that of all; the rules are lent to it.
static struct legal *begin_part(struct legal *g, int broken_holds)
{
    struct legal *part = mem_zero(1, sizeof *part);
    part->space = g->space;
    part->rules = g->rules;
    part->found.slots = g->space->slots;
    part->broken_holds = broken_holds;
    mpz_init_set_ui(part->free_points, 1);
    mpz_init(part->count);
    return part;
}

static void end_part(struct legal *g, struct legal *part)
{
    g->rules = part->rules;
    for (int i = 0; i < g->rules.count; i++)
        g->rules.rule[i].left_out = false;
    part->rules = (struct rules){0};
    legal_destroy(part);
}

double legal_removes(struct legal *g, int rule)
{
    struct legal *part = begin_part(g, RULE_HOLDS);
    for (int i = 0; i < g->rules.count; i++)
        part->rules.rule[i].left_out = i != rule;
    build(part, LEGAL_STEPS / 10);
    double share = NAN;
    if (part->is_built) {
        mpz_t all;
        mpq_t kept;
        mpz_init_set_str(all, g->space->size_text, 10);
        mpq_init(kept);
        mpz_sub(mpq_numref(kept), all, part->count);
        mpz_set(mpq_denref(kept), all);
        mpq_canonicalize(kept);
        share = mpq_get_d(kept);
        mpq_clear(kept);
        mpz_clear(all);
    }
    end_part(g, part);
    return share;
}

bool legal_conflict(struct legal *g, bool *needed)
{
    struct legal *part = begin_part(g, RULE_FORBIDS);
    bool exact = true;
    for (int i = 0; i < g->rules.count; i++) {
        part->rules.rule[i].left_out = true;
        build(part, LEGAL_STEPS / 4);
        bool needless = legal_is_empty(part);
        exact = exact && part->is_built;
        part->rules.rule[i].left_out = needless;
        needed[i] = !needless;
    }
    end_part(g, part);
    return exact;
}
