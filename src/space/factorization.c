// Ordered factorizations: the exponents of every prime of the product are handed out to the parts
// independently, so counting and unranking go prime by prime (stars and bars), and a move hands one
// prime from one part to another.
#include "space/kind.h"

#include <inttypes.h>

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
            d = rest; // no divisor up to its root: a prime
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

// Multiplies the index-th way to hand out `stars` factors `prime` into the parts. Of the ways that
// remain at any moment, a share of bars / (stars + bars) gives the current part no further factor;
// they come first.
static void hand_out(int32_t prime, int stars, uint64_t ways, uint64_t index, int bars,
                     int32_t *part)
{
    while (stars > 0) {
        uint64_t without = ways * (uint64_t)bars / (uint64_t)(stars + bars);
        if (index < without) {
            ways = without;
            bars--;
            part++;
        } else {
            index -= without;
            ways -= without;
            stars--;
            *part *= prime;
        }
    }
}

static void value(const struct param *p, uint64_t index, int32_t *out)
{
    for (int i = 0; i < p->width; i++)
        out[i] = 1;
    for (int m = 0; m < p->prime_count; m++) {
        hand_out(p->prime[m], p->exponent[m], p->ways[m], index % p->ways[m], p->width - 1, out);
        index /= p->ways[m];
    }
}

static bool valid(const struct param *p, const int32_t *v)
{
    int32_t rest = p->product;
    for (int i = 0; i < p->width; i++) {
        if (v[i] < 1 || rest % v[i])
            return false;
        rest /= v[i];
    }
    return rest == 1;
}

static int degree(const struct param *p, const int32_t *v)
{
    int gifts = 0;
    for (int i = 0; i < p->width; i++)
        for (int m = 0; m < p->prime_count; m++)
            gifts += v[i] % p->prime[m] == 0;
    return gifts * (p->width - 1);
}

// Each (giver, prime, taker) is a different neighbour; they are numbered in that order.
static void neighbour(const struct param *p, int k, int32_t *v)
{
    int gift = k / (p->width - 1), taker = k % (p->width - 1);
    for (int i = 0; i < p->width; i++)
        for (int m = 0; m < p->prime_count; m++)
            if (v[i] % p->prime[m] == 0 && gift-- == 0) {
                v[i] /= p->prime[m];
                v[taker < i ? taker : taker + 1] *= p->prime[m];
                return;
            }
}

// Fewest gifts: every prime in one part only. Most: every prime in as many parts as it has factors.
static void degree_range(const struct param *p, int *lowest, int *highest)
{
    int most = 0;
    for (int m = 0; m < p->prime_count; m++)
        most += p->exponent[m] < p->width ? p->exponent[m] : p->width;
    *lowest = p->prime_count * (p->width - 1);
    *highest = most * (p->width - 1);
}

int factor_multiplicity(int32_t number, int32_t prime)
{
    int times = 0;
    for (; number % prime == 0; number /= prime)
        times++;
    return times;
}

// Half of the L1 distance of the exponents: a move takes one factor from a part that has too many
// to one that has too few, and none can do better.
static int distance(const struct param *p, const int32_t *a, const int32_t *b)
{
    int surplus = 0;
    for (int m = 0; m < p->prime_count; m++)
        for (int i = 0; i < p->width; i++) {
            int more =
                factor_multiplicity(a[i], p->prime[m]) - factor_multiplicity(b[i], p->prime[m]);
            surplus += more > 0 ? more : 0;
        }
    return surplus;
}

static void add_json(const struct param *p, const int32_t *v, struct str *out)
{
    for (int i = 0; i < p->width; i++)
        str_printf(out, "%c%" PRId32, i == 0 ? '[' : ',', v[i]);
    str_add_char(out, ']');
}

const struct kind kind_factorization = {
    .name = "factorization",
    .value = value,
    .valid = valid,
    .degree = degree,
    .neighbour = neighbour,
    .degree_range = degree_range,
    .distance = distance,
    .add_json = add_json,
};
