#include "space/param.h"

#include "base/json.h"
#include "base/number.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- lists of labels and numbers ---

static bool check_count(const char *name, const char *what, int count, int most, struct err *e)
{
    if (count < 1 || count > most)
        return err_set(e, "parameter '%s': %d %s are not within 1..%d", name, count, what, most);
    return true;
}

static int compare_labels(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *const *copy_labels(struct arena *arena, const char *name, int count,
                                      const char *const *label, struct err *e)
{
    const char **copy = arena_zero(arena, (size_t)count, sizeof *copy);
    for (int i = 0; i < count; i++)
        copy[i] = arena_strdup(arena, label[i]);

    const char **sorted = mem_alloc((size_t)count * sizeof *sorted);
    memcpy(sorted, copy, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_labels);
    const char *twice = NULL;
    for (int i = 1; i < count && !twice; i++)
        if (str_equal(sorted[i - 1], sorted[i]))
            twice = sorted[i];
    free(sorted);
    if (twice) {
        err_set(e, "parameter '%s': '%s' is listed twice", name, twice);
        return NULL;
    }
    return copy;
}

static double *copy_numbers(struct arena *arena, const char *name, int count, const double *number,
                            struct err *e)
{
    size_t bytes = (size_t)count * sizeof(double);
    double *copy = arena_zero(arena, (size_t)count, sizeof *copy), *sorted = mem_alloc(bytes);
    memcpy(copy, number, bytes);
    memcpy(sorted, number, bytes);
    bool good = true;
    for (int i = 0; i < count && good; i++)
        if (!isfinite(number[i]))
            good = err_set(e, "parameter '%s': %g is not a finite number", name, number[i]);
    if (good)
        median_sort(sorted, count);
    for (int i = 1; i < count && good; i++)
        if (sorted[i - 1] == sorted[i])
            good = err_set(e, "parameter '%s': %.17g is listed twice", name, sorted[i]);
    free(sorted);
    return good ? copy : NULL;
}

static void add_listed(const struct param *p, int index, struct str *out)
{
    if (p->label)
        json_add_string(out, p->label[index]);
    else
        str_add_real(out, p->number[index]);
}

// --- constructors ---

bool param_discrete(struct param *p, struct arena *arena, const char *name, int count,
                    const double *number, struct err *e)
{
    if (!check_count(name, "values", count, PARAM_MAX_VALUES, e))
        return false;
    double *copy = copy_numbers(arena, name, count, number, e);
    if (!copy)
        return false;
    median_sort(copy, count);
    *p = (struct param){
        .name = arena_strdup(arena, name),
        .kind = PARAM_DISCRETE,
        .width = 1,
        .count = count,
        .number = copy,
        .size = (uint64_t)count,
    };
    return true;
}

bool param_categorical(struct param *p, struct arena *arena, const char *name, int count,
                       const char *const *label, struct err *e)
{
    if (!check_count(name, "values", count, PARAM_MAX_VALUES, e))
        return false;
    const char *const *copy = copy_labels(arena, name, count, label, e);
    if (!copy)
        return false;
    *p = (struct param){
        .name = arena_strdup(arena, name),
        .kind = PARAM_CATEGORICAL,
        .width = 1,
        .count = count,
        .label = copy,
        .size = (uint64_t)count,
    };
    return true;
}

bool param_permutation(struct param *p, struct arena *arena, const char *name, int count,
                       const char *const *label, struct err *e)
{
    if (!check_count(name, "items", count, PARAM_MAX_WIDTH, e))
        return false;
    const char *const *copy = copy_labels(arena, name, count, label, e);
    if (!copy)
        return false;
    *p = (struct param){
        .name = arena_strdup(arena, name),
        .kind = PARAM_PERMUTATION,
        .width = count,
        .count = count,
        .label = copy,
        .size = 1,
    };
    for (int i = 2; i <= count; i++)
        p->size *= (uint64_t)i;
    return true;
}

// The exponents of every prime of the product are distributed over the parts independently, so
// counting and unranking go prime by prime (stars and bars), and a move takes one prime from one
// part to another.
bool param_factorization(struct param *p, struct arena *arena, const char *name, int64_t product,
                         int parts, struct err *e)
{
    if (product < 1 || product > INT32_MAX)
        return err_set(e, "parameter '%s': the product %" PRId64 " is not within 1..%" PRId32, name,
                       product, INT32_MAX);
    if (parts < 1 || parts > PARAM_MAX_WIDTH)
        return err_set(e, "parameter '%s': %d parts are not within 1..%d", name, parts,
                       PARAM_MAX_WIDTH);
    *p = (struct param){
        .name = arena_strdup(arena, name),
        .kind = PARAM_FACTORIZATION,
        .width = parts,
        .product = (int32_t)product,
        .size = 1,
    };
    int32_t rest = p->product;
    for (int64_t d = 2; rest > 1; d++) {
        if (d * d > rest)
            d = rest; // without a divisor up to its root it is a prime
        if (rest % d)
            continue;
        int m = p->prime_count++;
        for (p->prime[m] = (int32_t)d; rest % d == 0; rest /= (int32_t)d)
            p->exponent[m]++;
    }
    for (int m = 0; m < p->prime_count; m++) {
        // binom(stars + parts - 1, parts - 1): every partial product is a binomial, so the
        // divisions are exact.
        int stars = p->exponent[m];
        uint64_t ways = 1;
        for (int i = 1; i < parts; i++)
            ways = ways * (uint64_t)(stars + i) / (uint64_t)i;
        p->ways[m] = ways;
        p->size *= p->ways[m];
    }
    return true;
}

// Stores who is whose neighbour as compressed rows.
static void collect_edges(struct param *p, struct arena *arena, const struct custom_graph *g)
{
    int32_t *start = arena_zero(arena, (size_t)p->count + 1, sizeof *start), *found = NULL;
    int count = 0, capacity = 0;
    for (int i = 0; i < p->count; i++) {
        for (int j = 0; j < p->count; j++)
            if (g->adjacent(g->context, i, j)) {
                MEM_GROW(found, count, capacity);
                found[count++] = j;
            }
        start[i + 1] = count;
    }
    int32_t *edge = arena_zero(arena, (size_t)count + 1, sizeof *edge);
    if (count)
        memcpy(edge, found, (size_t)count * sizeof *edge);
    free(found);
    p->edge_start = start;
    p->edge = edge;
}

// Fills `distance[count]` with the steps from value `from` by breadth-first search, -1: not
// connected. Returns how many values are reached.
static int reach(const struct param *p, int from, int *distance)
{
    int *queue = mem_alloc((size_t)p->count * sizeof *queue);
    for (int i = 0; i < p->count; i++)
        distance[i] = -1;
    distance[from] = 0;
    queue[0] = from;
    int reached = 1;
    for (int next = 0; next < reached; next++) {
        int i = queue[next];
        for (int32_t k = p->edge_start[i]; k < p->edge_start[i + 1]; k++) {
            int j = p->edge[k];
            if (distance[j] < 0) {
                distance[j] = distance[i] + 1;
                queue[reached++] = j;
            }
        }
    }
    free(queue);
    return reached;
}

static bool has_edge(const struct param *p, int32_t i, int32_t j)
{
    int32_t low = p->edge_start[i], high = p->edge_start[i + 1];
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (p->edge[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->edge_start[i + 1] && p->edge[low] == j;
}

bool param_custom(struct param *p, struct arena *arena, const char *name,
                  const struct custom_graph *g, struct err *e)
{
    int count = g->count;
    if (!check_count(name, "values", count, PARAM_MAX_CUSTOM, e))
        return false;
    *p = (struct param){
        .name = arena_strdup(arena, name),
        .kind = PARAM_CUSTOM,
        .width = 1,
        .count = count,
        .number = g->number ? copy_numbers(arena, name, count, g->number, e) : NULL,
        .label = g->label ? copy_labels(arena, name, count, g->label, e) : NULL,
        .size = (uint64_t)count,
    };
    if (!p->number && !p->label)
        return false;
    collect_edges(p, arena, g);
    for (int32_t i = 0; i < p->count; i++)
        for (int32_t k = p->edge_start[i]; k < p->edge_start[i + 1]; k++) {
            int32_t j = p->edge[k];
            if (i != j && has_edge(p, j, i))
                continue;
            struct str a = {0}, b = {0};
            add_listed(p, i, &a);
            add_listed(p, j, &b);
            if (i == j)
                err_set(e, "parameter '%s': %s is its own neighbour", p->name, str_text(&a));
            else
                err_set(e, "parameter '%s': %s has the neighbour %s, but %s does not have %s",
                        p->name, str_text(&a), str_text(&b), str_text(&b), str_text(&a));
            str_finish(&a);
            str_finish(&b);
            return false;
        }
    int *distance = mem_alloc((size_t)p->count * sizeof *distance);
    p->connected = reach(p, 0, distance) == p->count;
    free(distance);
    return true;
}

// --- values ---

const char *param_kind_name(enum param_kind k)
{
    static const char *const names[] = {
        [PARAM_FACTORIZATION] = "factorization",
        [PARAM_PERMUTATION] = "permutation",
        [PARAM_DISCRETE] = "discrete",
        [PARAM_CATEGORICAL] = "categorical",
        [PARAM_CUSTOM] = "custom",
    };
    return names[k];
}

uint64_t param_size(const struct param *p)
{
    return p->size;
}

char *param_size_text(const struct param *p)
{
    return mem_printf("%" PRIu64, p->size);
}

void param_value(const struct param *p, uint64_t index, int32_t *out)
{
    assert(index < p->size);
    uint64_t orders = p->size; // of the items from position i on
    switch (p->kind) {
    case PARAM_FACTORIZATION:
        // For each prime, `index` selects a way to distribute its `stars` factors. Of the ways that
        // remain, a share of bars / (stars + bars) gives the current part no further factor; they
        // come first.
        for (int i = 0; i < p->width; i++)
            out[i] = 1;
        for (int m = 0; m < p->prime_count; m++) {
            uint64_t ways = p->ways[m], at = index % ways;
            int32_t *part = out;
            for (int stars = p->exponent[m], bars = p->width - 1; stars > 0;) {
                uint64_t without = ways * (uint64_t)bars / (uint64_t)(stars + bars);
                if (at < without) {
                    ways = without;
                    bars--;
                    part++;
                } else {
                    at -= without;
                    ways -= without;
                    stars--;
                    *part *= p->prime[m];
                }
            }
            index /= p->ways[m];
        }
        break;
    case PARAM_PERMUTATION: // in lexicographic order: the leading item decides first
        for (int i = 0; i < p->count; i++)
            out[i] = i;
        for (int i = 0; i < p->count; i++) {
            orders /= (uint64_t)(p->count - i);
            size_t pick = (size_t)(index / orders);
            index %= orders;
            int32_t item = out[(size_t)i + pick];
            memmove(out + i + 1, out + i, pick * sizeof *out);
            out[i] = item;
        }
        break;
    default: *out = (int32_t)index;
    }
}

void param_sample(const struct param *p, struct rng *r, int32_t *out)
{
    param_value(p, rng_below(r, p->size), out);
}

bool param_valid(const struct param *p, const int32_t *v)
{
    if (p->kind == PARAM_FACTORIZATION) {
        int32_t rest = p->product;
        for (int i = 0; i < p->width; i++) {
            if (v[i] < 1 || rest % v[i])
                return false;
            rest /= v[i];
        }
        return rest == 1;
    }
    unsigned seen = 0;
    for (int i = 0; i < p->width; i++) {
        if (v[i] < 0 || v[i] >= p->count || (p->width > 1 && (seen & 1u << v[i])))
            return false;
        seen |= p->width > 1 ? 1u << v[i] : 0;
    }
    return true;
}

void param_add_json(const struct param *p, const int32_t *v, struct str *out)
{
    bool is_list = p->kind == PARAM_FACTORIZATION || p->kind == PARAM_PERMUTATION;
    for (int i = 0; i < p->width; i++) {
        str_add(out, !is_list ? "" : i == 0 ? "[" : ",");
        if (p->kind == PARAM_FACTORIZATION)
            str_add_int(out, v[i]);
        else
            add_listed(p, v[i], out);
    }
    str_add(out, is_list ? "]" : "");
}

void param_add_listed_json(const struct param *p, struct str *out)
{
    str_add(out, "[");
    for (int i = 0; i < p->count; i++) {
        str_add(out, i ? "," : "");
        add_listed(p, i, out);
    }
    str_add(out, "]");
}

// --- neighbours ---

int param_degree(const struct param *p, const int32_t *v)
{
    int gifts = 0;
    switch (p->kind) {
    case PARAM_FACTORIZATION:
        for (int i = 0; i < p->width; i++)
            for (int m = 0; m < p->prime_count; m++)
                gifts += v[i] % p->prime[m] == 0;
        return gifts * (p->width - 1);
    case PARAM_PERMUTATION: return p->count * (p->count - 1) / 2;
    case PARAM_DISCRETE: return (*v > 0) + (*v < p->count - 1);
    case PARAM_CATEGORICAL: return p->count - 1;
    case PARAM_CUSTOM: break;
    }
    return p->edge_start[*v + 1] - p->edge_start[*v];
}

// Replaces `v` by its k-th neighbour.
static void step(const struct param *p, int k, int32_t *v)
{
    int i = 0;
    switch (p->kind) {
    case PARAM_FACTORIZATION: {
        // One prime moves. Each (giver, prime, taker) is a different neighbour; they are numbered
        // in that order.
        int gift = k / (p->width - 1), taker = k % (p->width - 1);
        for (; i < p->width; i++)
            for (int m = 0; m < p->prime_count; m++)
                if (v[i] % p->prime[m] == 0 && gift-- == 0) {
                    v[i] /= p->prime[m];
                    v[taker < i ? taker : taker + 1] *= p->prime[m];
                    return;
                }
        break;
    }
    case PARAM_PERMUTATION: {
        // The pairs are (0,1) (0,2) .. (1,2) ..
        for (int pairs = p->count - 1; k >= pairs; pairs--) {
            k -= pairs;
            i++;
        }
        int32_t item = v[i];
        v[i] = v[i + 1 + k];
        v[i + 1 + k] = item;
        break;
    }
    case PARAM_DISCRETE: *v += k == 0 && *v > 0 ? -1 : 1; break;
    case PARAM_CATEGORICAL: *v = k < *v ? k : k + 1; break;
    case PARAM_CUSTOM: *v = p->edge[p->edge_start[*v] + k]; break;
    }
}

void param_neighbour(const struct param *p, const int32_t *v, int k, int32_t *out)
{
    assert(k >= 0 && k < param_degree(p, v));
    memmove(out, v, (size_t)p->width * sizeof *out);
    step(p, k, out);
}

void param_degree_range(const struct param *p, int *lowest, int *highest)
{
    int most = 0;
    switch (p->kind) {
    case PARAM_FACTORIZATION:
        // The fewest: every prime in one part only. The most: every prime in as many parts as it
        // has factors.
        for (int m = 0; m < p->prime_count; m++)
            most += p->exponent[m] < p->width ? p->exponent[m] : p->width;
        *lowest = p->prime_count * (p->width - 1);
        *highest = most * (p->width - 1);
        break;
    case PARAM_DISCRETE:
        *lowest = p->count > 1;
        *highest = p->count > 2 ? 2 : *lowest;
        break;
    case PARAM_PERMUTATION:
    case PARAM_CATEGORICAL: *lowest = *highest = param_degree(p, NULL); break;
    case PARAM_CUSTOM:
        *lowest = *highest = param_degree(p, &(int32_t){0});
        for (int32_t i = 1; i < p->count; i++) {
            int degree = param_degree(p, &i);
            *lowest = degree < *lowest ? degree : *lowest;
            *highest = degree > *highest ? degree : *highest;
        }
        break;
    }
}

int param_walk(const struct param *p, double q, struct rng *r, int32_t *v)
{
    for (int steps = 0;; steps++) {
        if (rng_real(r) >= q)
            return steps;
        int degree = param_degree(p, v);
        if (degree == 0)
            return steps;
        step(p, (int)rng_below(r, (uint64_t)degree), v);
    }
}

// --- distances ---

int factor_multiplicity(int32_t number, int32_t prime)
{
    int times = 0;
    for (; number % prime == 0; number /= prime)
        times++;
    return times;
}

int param_distance(const struct param *p, const int32_t *a, const int32_t *b)
{
    int surplus = 0, cycles = 0;
    int32_t place[PARAM_MAX_WIDTH]; // of each item in `a`
    bool seen[PARAM_MAX_WIDTH] = {false};
    switch (p->kind) {
    case PARAM_FACTORIZATION:
        // Half of the L1 distance of the exponents: a move takes one factor from a part that has
        // too many to one that has too few, and no move does more.
        for (int m = 0; m < p->prime_count; m++)
            for (int i = 0; i < p->width; i++) {
                int more =
                    factor_multiplicity(a[i], p->prime[m]) - factor_multiplicity(b[i], p->prime[m]);
                surplus += more > 0 ? more : 0;
            }
        return surplus;
    case PARAM_PERMUTATION:
        // A swap joins or splits one cycle of the permutation that turns `a` into `b`, and at the
        // end there must be n cycles.
        for (int i = 0; i < p->count; i++)
            place[a[i]] = i;
        for (int i = 0; i < p->count; i++) {
            cycles += !seen[i];
            for (int j = i; !seen[j]; j = place[b[j]])
                seen[j] = true;
        }
        return p->count - cycles;
    case PARAM_DISCRETE: return abs(*a - *b);
    case PARAM_CATEGORICAL: return *a != *b;
    case PARAM_CUSTOM: break;
    }
    int *from_a = mem_alloc((size_t)p->count * sizeof *from_a);
    reach(p, *a, from_a);
    int steps = from_a[*b];
    free(from_a);
    return steps;
}
