#include "landscape.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DIVISORS 1536 // of a number below 2^31

// --- what can be an axis ---

int factor_list(const struct space *s, struct factor out[SPACE_MAX_SLOTS])
{
    int count = 0;
    for (int i = 0; i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        bool has_parts = p->kind == PARAM_FACTORIZATION;
        if (param_size(p) < 2)
            continue;
        for (int slot = 0; slot < (has_parts ? p->width : 1); slot++)
            out[count++] = (struct factor){i, has_parts ? slot : -1};
    }
    return count;
}

void factor_add_name(const struct space *s, struct factor f, struct str *out)
{
    if (f.param == FACTOR_TOLD) {
        str_add(out, statistic_kind_name((enum statistic_kind)f.slot));
        return;
    }
    str_add(out, s->param[f.param].name);
    if (f.slot >= 0)
        str_printf(out, "[%d]", f.slot + 1);
}

// --- the values there can be ---

static int list_divisors(int32_t product, int32_t out[MOST_DIVISORS])
{
    int small = 0, count;
    for (int32_t d = 1; d <= product / d; d++)
        if (product % d == 0)
            out[small++] = d;
    count = small;
    for (int i = small - 1; i >= 0; i--)
        if (out[i] != product / out[i])
            out[count++] = product / out[i];
    return count;
}

// The first values of `most` places (or of all values, when they are fewer) that share the possible
// values evenly. Returns how many values there are.
static uint64_t spread_values(const struct param *p, uint64_t most, uint64_t low[AXIS_MOST])
{
    int32_t divisor[MOST_DIVISORS];
    bool is_part = p->kind == PARAM_FACTORIZATION;
    uint64_t possible = is_part ? (uint64_t)list_divisors(p->product, divisor) : param_size(p);
    uint64_t places = possible < most ? possible : most;
    uint64_t each = possible / places, larger = possible % places;
    for (uint64_t i = 0; i < places; i++) {
        uint64_t first = i * each + (i < larger ? i : larger);
        low[i] = is_part ? (uint64_t)divisor[first] : first;
    }
    return possible;
}

// Orders of `count` items are grouped by how they begin: by as many items as there are places for.
static int prefix_places(int count)
{
    int places = count;
    for (int i = 1; i < count && places * (count - i) <= AXIS_MOST; i++)
        places *= count - i;
    return places;
}

// Where that range ends.
static uint64_t told_to(uint64_t from)
{
    bool is_power = (from & (from - 1)) == 0;
    return from < 4 ? from + 1 : is_power ? from + from / 2 : from / 3 * 4;
}

bool axis_has_value(const struct axis *a, const double *told)
{
    return a->param || (told && !isnan(told[a->factor.slot]));
}

static uint64_t value_of(const struct axis *a, const struct config *c, const double *told)
{
    if (!a->param) {
        // The least of the range with `value`: 0, 1, 2, 3, 4, 6, 8, 12, ..
        double value = told[a->factor.slot];
        if (value < 1)
            return 0;
        uint64_t power = UINT64_C(1) << (int)fmin(log2(value), 62);
        return power > 1 && value >= 1.5 * (double)power ? power + power / 2 : power;
    }
    const int32_t *v = c->slot + a->param->offset;
    switch (a->param->kind) {
    case PARAM_FACTORIZATION: return (uint64_t)v[a->factor.slot];
    case PARAM_PERMUTATION: {
        int count = a->param->width;
        uint64_t value = 0;
        for (int i = 0; i < count; i++) {
            int smaller = 0;
            for (int k = i + 1; k < count; k++)
                smaller += v[k] < v[i];
            value = value * (uint64_t)(count - i) + (uint64_t)smaller;
        }
        return value;
    }
    default: return (uint64_t)v[0];
    }
}

// --- places ---

void axis_init(struct axis *a, const struct space *s, struct factor f)
{
    *a = (struct axis){.factor = f, .kind = AXIS_VISITED};
    if (f.param == FACTOR_TOLD)
        return;
    a->param = &s->param[f.param];
    assert((a->param->kind == PARAM_FACTORIZATION) == (f.slot >= 0));
    uint64_t possible = spread_values(a->param, AXIS_MOST, a->low);
    a->kind = possible <= AXIS_MOST ? AXIS_ALL : AXIS_VISITED;
    a->count = possible <= AXIS_MOST ? (int)possible : 0;
}

// The last place that begins at or before `value`; -1: none.
static int last_place(const struct axis *a, uint64_t value)
{
    int low = 0, high = a->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (a->low[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

static int place_of(const struct axis *a, uint64_t value)
{
    int place = last_place(a, value);
    return place >= 0 && (a->kind == AXIS_RANGES || a->low[place] == value) ? place : -1;
}

int axis_place(const struct axis *a, const struct config *c, const double *told)
{
    return axis_has_value(a, told) ? place_of(a, value_of(a, c, told)) : -1;
}

int axis_make_place(struct axis *a, const struct config *c, const double *told,
                    int moved[AXIS_MOST])
{
    uint64_t value = value_of(a, c, told);
    for (int i = 0; i < AXIS_MOST; i++)
        moved[i] = i;
    int place = place_of(a, value);
    if (place >= 0 || a->kind != AXIS_VISITED)
        return place;
    if (a->count == AXIS_MOST) {
        struct axis old = *a;
        const struct param *p = a->param;
        int places = p && p->kind == PARAM_PERMUTATION ? prefix_places(p->count) : AXIS_MOST;
        a->kind = AXIS_RANGES;
        a->count = places;
        if (p)
            spread_values(p, (uint64_t)places, a->low);
        for (int i = 0; !p && i < places; i++)
            a->low[i] = i ? UINT64_C(1) << (i - 1) : 0;
        for (int i = 0; i < old.count; i++)
            moved[i] = place_of(a, old.low[i]);
        return place_of(a, value);
    }
    place = last_place(a, value) + 1;
    for (int i = a->count++; i > place; i--)
        a->low[i] = a->low[i - 1];
    for (int i = place; i + 1 < a->count; i++)
        moved[i] = i + 1;
    a->low[place] = value;
    return place;
}

// --- as text ---

static void add_order(const struct axis *a, int place, struct str *out)
{
    const struct param *p = a->param;
    int32_t item[PARAM_MAX_WIDTH];
    param_value(p, a->low[place], item);
    int shown = p->count;
    if (a->kind == AXIS_RANGES) // as many as all orders of the range have in common
        for (int orders = a->count, i = shown = 0; orders > 1; i++, shown++)
            orders /= p->count - i;
    for (int i = 0; i < shown; i++)
        str_printf(out, "%s%s", i ? "," : "", p->label[item[i]]);
    if (shown < p->count)
        str_add(out, ",…");
}

void axis_add_label(const struct axis *a, int place, struct str *out)
{
    const struct param *p = a->param;
    uint64_t value = a->low[place];
    if (!p) {
        str_printf(out, "%" PRIu64 "%s", value, value < 4 && a->kind != AXIS_RANGES ? "" : "+");
        return;
    }
    if (p->kind == PARAM_PERMUTATION) {
        add_order(a, place, out);
        return;
    }
    if (p->kind == PARAM_FACTORIZATION)
        str_printf(out, "%" PRIu64, value);
    else if (p->number)
        str_add_real(out, p->number[value]);
    else
        str_add(out, p->label[value]);
    if (a->kind == AXIS_RANGES)
        str_add_char(out, '+');
}

static void add_number(const struct axis *a, int place, struct str *out)
{
    if (a->param->kind == PARAM_FACTORIZATION)
        str_printf(out, "%" PRIu64, a->low[place]);
    else
        str_add_real(out, a->param->number[a->low[place]]);
}

static void add_told_term(const struct axis *a, int place, struct str *out)
{
    const char *name = statistic_kind_name((enum statistic_kind)a->factor.slot); // of no parameter
    bool is_last = a->kind == AXIS_RANGES && place + 1 == a->count;
    str_printf(out, ".%s>=%" PRIu64, name, a->low[place]);
    if (!is_last)
        str_printf(out, " .%s<%" PRIu64, name,
                   a->kind == AXIS_RANGES ? a->low[place + 1] : told_to(a->low[place]));
}

bool axis_add_term(const struct axis *a, int place, struct str *out)
{
    if (!a->param) {
        add_told_term(a, place, out);
        return true;
    }
    const struct param *p = a->param;
    struct str name = {0};
    bool is_range = a->kind == AXIS_RANGES;
    bool is_number = p->kind == PARAM_FACTORIZATION || p->kind == PARAM_DISCRETE;
    if (is_range && !is_number)
        return false;
    str_add(&name, p->name);
    if (a->factor.slot >= 0)
        str_printf(&name, "[%d]", a->factor.slot + 1);
    str_printf(out, "%s%s", str_text(&name), is_range ? ">=" : "=");
    if (is_number || p->number)
        add_number(a, place, out);
    else if (p->kind == PARAM_PERMUTATION)
        add_order(a, place, out);
    else {
        const char *label = p->label[a->low[place]];
        str_add_char(out, '"');
        for (; *label; label++) {
            if (*label == '"' || *label == '\\')
                str_add_char(out, '\\');
            str_add_char(out, *label);
        }
        str_add_char(out, '"');
    }
    if (is_range && place + 1 < a->count) {
        str_printf(out, " %s<", str_text(&name));
        add_number(a, place + 1, out);
    }
    str_finish(&name);
    return true;
}

// --- statistics ---

struct ranked {
    double value;
    int index;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->index - y->index;
}

void rank_values(const double *value, int n, double *rank)
{
    struct ranked *order = mem_alloc((size_t)n * sizeof *order);
    for (int i = 0; i < n; i++)
        order[i] = (struct ranked){value[i], i};
    qsort(order, (size_t)n, sizeof *order, compare_ranked);
    for (int first = 0, end; first < n; first = end) {
        for (end = first; end < n && order[end].value == order[first].value; end++)
            ;
        for (int i = first; i < end; i++)
            rank[order[i].index] = (first + 1 + end) / 2.0;
    }
    free(order);
}

struct keyed {
    uint64_t key;
    double value;
};

static int compare_keyed(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value); // the same sums in any order
}

double explained_share(const double *value, const uint64_t *key, int n, int *groups)
{
    struct keyed *item = mem_alloc((size_t)n * sizeof *item);
    double mean = 0, between, total;
    int k;
    for (int i = 0; i < n; i++) {
        item[i] = (struct keyed){key[i], value[i]};
        mean += value[i] / n;
    }
    qsort(item, (size_t)n, sizeof *item, compare_keyed);
    // Sums of squares between groups and in all, about the mean.
    between = total = 0;
    k = 0;
    for (int first = 0, end; first < n; first = end) {
        double sum = 0;
        for (end = first; end < n && item[end].key == item[first].key; end++) {
            double away = item[end].value - mean;
            sum += away;
            total += away * away;
        }
        between += sum * sum / (end - first);
        ++k;
    }
    free(item);
    if (groups)
        *groups = k;
    if (k >= n || !(total > 0))
        return 0;
    double share = 1 - (1 - between / total) * (n - 1) / (n - k);
    return share > 0 ? share < 1 ? share : 1 : 0;
}

// --- the sample ---

void importance_init(struct importance *i, const struct space *s)
{
    *i = (struct importance){.space = s};
    i->speed = mem_alloc(IMPORTANCE_SAMPLE * sizeof *i->speed);
    i->rank = mem_alloc(IMPORTANCE_SAMPLE * sizeof *i->rank);
    i->slot = mem_zero((size_t)IMPORTANCE_SAMPLE * (size_t)s->slots, sizeof *i->slot);
    rng_seed(&i->rng, 1);
}

void importance_finish(struct importance *i)
{
    free(i->speed);
    free(i->rank);
    free(i->slot);
    *i = (struct importance){0};
}

static int32_t *slots_of(const struct importance *i, int kept)
{
    return i->slot + (size_t)kept * (size_t)i->space->slots;
}

void importance_add(struct importance *i, const struct config *c, double speed)
{
    int64_t at = i->added++;
    if (at >= IMPORTANCE_SAMPLE)
        at = (int64_t)rng_below(&i->rng, (uint64_t)i->added);
    if (at >= IMPORTANCE_SAMPLE)
        return;
    i->busy &= at >= i->sampled; // what is being worked on changed
    i->kept += at == i->kept;
    i->speed[at] = speed;
    memcpy(slots_of(i, (int)at), c->slot, (size_t)i->space->slots * sizeof *c->slot);
}

// --- entries ---

static uint64_t key_of(const struct importance *i, int kept, struct factor f)
{
    const struct param *p = &i->space->param[f.param];
    const int32_t *v = slots_of(i, kept) + p->offset;
    if (f.slot >= 0)
        return (uint64_t)v[f.slot];
    return p->width == 1 ? (uint64_t)v[0] : hash_bytes(v, (size_t)p->width * sizeof *v);
}

static int compare_entries(const void *a, const void *b)
{
    const struct importance_entry *x = a, *y = b;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    if (x->factor.param != y->factor.param)
        return x->factor.param - y->factor.param;
    return x->factor.slot - y->factor.slot;
}

static bool is_due(const struct importance *i)
{
    int64_t fresh = i->added - i->used;
    return fresh > 0 && fresh >= i->used / 20;
}

bool importance_step(struct importance *i)
{
    struct importance_entry all[FACTORS_MOST];
    // Whole parameters and, of those that have several, parts.
    struct factor factor[SPACE_MAX_SLOTS];
    int factors = factor_list(i->space, factor), count = 0;
    for (int j = 0; j < factors; j++) {
        if (factor[j].slot == 0)
            all[count++].factor = (struct factor){factor[j].param, -1};
        all[count++].factor = factor[j];
    }
    if (!i->busy) {
        if (is_due(i)) {
            i->busy = true;
            i->next = 0;
            i->started_at = i->added;
            i->sampled = i->kept;
            rank_values(i->speed, i->sampled, i->rank);
        }
        return i->busy;
    }
    if (i->next < count) {
        i->made[i->next] = all[i->next];
        struct importance_entry *entry = &i->made[i->next++];
        uint64_t *key = mem_alloc((size_t)i->sampled * sizeof *key);
        for (int n = 0; n < i->sampled; n++)
            key[n] = key_of(i, n, entry->factor);
        entry->share = explained_share(i->rank, key, i->sampled, &entry->values);
        free(key);
        return true;
    }
    memcpy(i->entry, i->made, (size_t)count * sizeof *i->entry);
    qsort(i->entry, (size_t)count, sizeof *i->entry, compare_entries);
    i->count = count;
    i->used = i->started_at;
    i->busy = false;
    return is_due(i);
}

double importance_of(const struct importance *i, struct factor f)
{
    for (int n = 0; n < i->count; n++)
        if (i->entry[n].factor.param == f.param && i->entry[n].factor.slot == f.slot)
            return i->entry[n].share;
    return NAN;
}

void projection_init(struct projection *p, const struct space *s, struct factor x,
                     const struct factor *y)
{
    *p = (struct projection){.space = s, .is_flat = !y};
    axis_init(&p->x, s, x);
    if (y)
        axis_init(&p->y, s, *y);
    p->place = mem_zero((size_t)AXIS_MOST * (y ? AXIS_MOST : 1), sizeof *p->place);
    rng_seed(&p->rng, 1);
}

void projection_finish(struct projection *p)
{
    free(p->place);
    *p = (struct projection){0};
}

void projection_hold(struct projection *p, const struct config *c)
{
    p->is_held = true;
    p->held = *c;
}

int projection_rows(const struct projection *p)
{
    return p->is_flat ? 1 : p->y.count;
}

int projection_cols(const struct projection *p)
{
    return p->x.count;
}

const struct place *projection_at(const struct projection *p, int row, int col)
{
    return &p->place[row * AXIS_MOST + col];
}

// --- trials ---

static bool on_axis(const struct projection *p, int param)
{
    return param == p->x.factor.param || (!p->is_flat && param == p->y.factor.param);
}

static bool is_like_held(const struct projection *p, const struct config *c)
{
    for (int i = 0; p->is_held && i < p->space->param_count; i++) {
        const struct param *q = &p->space->param[i];
        if (!on_axis(p, i) && memcmp(c->slot + q->offset, p->held.slot + q->offset,
                                     (size_t)q->width * sizeof *c->slot) != 0)
            return false;
    }
    return true;
}

static void take_best(struct place *into, const struct place *c)
{
    bool better = c->best_raced != into->best_raced ? c->best_raced : c->best > into->best;
    if (!c->best_ask || (into->best_ask && !better))
        return;
    into->best = c->best;
    into->best_ask = c->best_ask;
    into->best_raced = c->best_raced;
}

// What was judged before holds for a whole range only if it was legal.
static void move_places(struct projection *p, int rows, int cols, const int *row_to,
                        const int *col_to)
{
    size_t count = (size_t)AXIS_MOST * (p->is_flat ? 1 : AXIS_MOST);
    struct place *moved = mem_zero(count, sizeof *moved);
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < cols; col++) {
            // Two places become one.
            const struct place *c = projection_at(p, row, col);
            for (int i = 0; i < OUTCOME_COUNT; i++)
                moved[row_to[row] * AXIS_MOST + col_to[col]].outcome[i] += c->outcome[i];
            take_best(&moved[row_to[row] * AXIS_MOST + col_to[col]], c);
            if (c->best_ask && (moved[row_to[row] * AXIS_MOST + col_to[col]].worst == 0 ||
                                c->worst < moved[row_to[row] * AXIS_MOST + col_to[col]].worst))
                moved[row_to[row] * AXIS_MOST + col_to[col]].worst = c->worst;
            moved[row_to[row] * AXIS_MOST + col_to[col]].sum += c->sum;
            moved[row_to[row] * AXIS_MOST + col_to[col]].legal |= c->legal;
        }
    free(p->place);
    p->place = moved;
    p->layout++;
    p->judged_to = 0;
}

void projection_add(struct projection *p, const struct seen *s)
{
    if (!is_like_held(p, s->config) || !axis_has_value(&p->x, s->told) ||
        (!p->is_flat && !axis_has_value(&p->y, s->told)))
        return;
    int rows = projection_rows(p), cols = projection_cols(p);
    int row_to[AXIS_MOST] = {0}, col_to[AXIS_MOST], row = 0;
    enum axis_kind kind = p->x.kind, y_kind = p->y.kind;
    int col = axis_make_place(&p->x, s->config, s->told, col_to);
    if (!p->is_flat)
        row = axis_make_place(&p->y, s->config, s->told, row_to);
    if (rows != projection_rows(p) || cols != projection_cols(p) || kind != p->x.kind ||
        y_kind != p->y.kind)
        move_places(p, rows, cols, row_to, col_to);
    struct place *at = &p->place[row * AXIS_MOST + col];
    p->taken++;
    at->outcome[s->outcome]++;
    if (s->outcome != OUTCOME_OK)
        return;
    at->sum += s->speed;
    take_best(at, &(struct place){.best = s->speed, .best_ask = s->ask, .best_raced = s->raced});
    if (at->outcome[OUTCOME_OK] == 1 || s->speed < at->worst)
        at->worst = s->speed;
}

bool projection_find(const struct projection *p, const struct config *c, const double *told,
                     int *row, int *col)
{
    *col = axis_place(&p->x, c, told);
    *row = p->is_flat ? 0 : axis_place(&p->y, c, told);
    return *row >= 0 && *col >= 0 && is_like_held(p, c);
}

// --- places ---

int64_t place_trials(const struct place *c)
{
    int64_t count = 0;
    for (int i = 0; i < OUTCOME_COUNT; i++)
        count += i == OUTCOME_REJECTED ? 0 : c->outcome[i];
    return count;
}

int64_t place_failed(const struct place *c)
{
    return place_trials(c) - c->outcome[OUTCOME_OK];
}

enum place_kind place_kind(const struct place *c)
{
    if (c->outcome[OUTCOME_OK])
        return PLACE_MEASURED;
    if (place_trials(c))
        return PLACE_FAILED;
    bool excluded = c->impossible || c->judged >= JUDGED_ENOUGH || c->outcome[OUTCOME_REJECTED];
    return excluded && !c->legal ? PLACE_EXCLUDED : PLACE_UNVISITED;
}

double place_value(const struct place *c, enum statistic s)
{
    int64_t ok = c->outcome[OUTCOME_OK];
    if (s == STATISTIC_COUNT)
        return place_trials(c) ? (double)place_trials(c) : NAN;
    return !ok ? NAN : s == STATISTIC_BEST ? c->best : c->sum / (double)ok;
}

// --- what could be there ---

// The value of a parameter with one part bound (or two of them): the others share what is left of
// the product, uniformly. False: nothing is left to share.
static bool draw_parts(struct projection *p, const struct param *q, const int *bound,
                       const int32_t *value, int count, int32_t *out)
{
    int32_t left = q->product, rest[PARAM_MAX_WIDTH];
    for (int i = 0; i < count; left /= value[i++])
        if (left % value[i])
            return false;
    if (count == q->width)
        for (int i = 0; i < count; i++)
            out[bound[i]] = value[i];
    if (count == q->width)
        return left == 1;
    struct arena a;
    struct param others;
    arena_init(&a);
    bool ok = param_factorization(&others, &a, q->name, left, q->width - count, NULL);
    if (ok)
        param_sample(&others, &p->rng, rest);
    arena_finish(&a);
    for (int slot = 0, next = 0; ok && slot < q->width; slot++) {
        int which = slot == bound[0] ? 0 : count > 1 && slot == bound[1] ? 1 : -1;
        out[slot] = which >= 0 ? value[which] : rest[next++];
    }
    return ok;
}

// A value of a place; of a part, the first (the divisors of a range are neighbours).
static uint64_t draw_value(struct projection *p, const struct axis *a, int place)
{
    bool is_range = a->kind == AXIS_RANGES && a->param->kind != PARAM_FACTORIZATION;
    uint64_t end = place + 1 < a->count ? a->low[place + 1] : param_size(a->param);
    return a->low[place] + (is_range ? rng_below(&p->rng, end - a->low[place]) : 0);
}

// Puts the value of one axis (or the two of the same parameter) into `c`.
static bool draw_axis(struct projection *p, const struct axis *a, int place, const struct axis *b,
                      int other_place, struct config *c)
{
    const struct param *q = a->param;
    int32_t *out = c->slot + q->offset;
    uint64_t value = draw_value(p, a, place);
    if (q->kind != PARAM_FACTORIZATION) {
        param_value(q, value, out);
        return true;
    }
    int bound[2] = {a->factor.slot, b ? b->factor.slot : -1};
    int32_t parts[2] = {(int32_t)value, b ? (int32_t)draw_value(p, b, other_place) : 0};
    return draw_parts(p, q, bound, parts, b ? 2 : 1, out);
}

static bool in_doubt(const struct place *c)
{
    return !c->legal && !c->impossible && c->judged < JUDGED_ENOUGH && place_trials(c) == 0;
}

static void judge(struct projection *p, const struct limits *l, int row, int col)
{
    struct place *at = &p->place[row * AXIS_MOST + col];
    struct config c;
    struct verdict v = {.constraint = -1};
    bool is_range = p->x.kind == AXIS_RANGES || (!p->is_flat && p->y.kind == AXIS_RANGES);
    bool same = !p->is_flat && p->x.factor.param == p->y.factor.param;
    if (p->is_held)
        c = p->held;
    else
        space_sample(p->space, &p->rng, &c);
    bool drawn = draw_axis(p, &p->x, col, same ? &p->y : NULL, row, &c) &&
                 (p->is_flat || same || draw_axis(p, &p->y, row, NULL, 0, &c));
    if (p->space->chooser >= 0 && on_axis(p, p->space->chooser))
        space_settle(p->space, &c); // other parameters are live there
    if (!drawn) {                   // of a range only the values drawn are impossible
        at->impossible = !is_range;
        at->judged++;
        return;
    }
    // Whether every draw for a place is the same one.
    const struct axis *axes[2] = {&p->x, &p->y};
    bool alike = p->is_held;
    for (int i = 0; i < (p->is_flat ? 1 : 2); i++)
        alike &= axes[i]->kind != AXIS_RANGES && axes[i]->param->kind != PARAM_FACTORIZATION;
    at->judged += alike ? JUDGED_ENOUGH : 1;
    at->legal = space_judge(p->space, l, &c, &v, NULL) && v.legal;
    at->constraint = v.constraint;
    at->limits = v.limits;
}

bool projection_judge(struct projection *p, const struct limits *l, int most)
{
    int cols = projection_cols(p), places = projection_rows(p) * cols;
    if (!p->x.param || (!p->is_flat && !p->y.param))
        return false;
    for (int settled = 0; settled < places && most > 0;) { // in a row
        int at = p->judged_to++ % places;
        if (in_doubt(projection_at(p, at / cols, at % cols))) {
            judge(p, l, at / cols, at % cols);
            settled = 0;
            most--;
        } else {
            settled++;
        }
    }
    return most == 0 && places > 0;
}
