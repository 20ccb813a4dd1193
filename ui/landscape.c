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
    if (f.param == FACTOR_STATISTIC) {
        str_add(out, statistic_kind_name((enum statistic_kind)f.slot));
        return;
    }
    str_add(out, s->param[f.param].name);
    if (f.slot >= 0)
        str_printf(out, "[%d]", f.slot + 1);
}

// --- possible values ---

// Computes the first values of `most` places (or of all values, when they are fewer) that share the
// possible values evenly. Returns the number of possible values.
static uint64_t spread_values(const struct param *p, uint64_t most, uint64_t low[AXIS_MOST])
{
    int32_t divisor[MOST_DIVISORS];
    bool is_part = p->kind == PARAM_FACTORIZATION;
    uint64_t possible = is_part ? 0 : param_size(p);
    if (is_part) { // the divisors of the product: the small ones, then their counterparts
        for (int32_t d = 1; d <= p->product / d; d++)
            if (p->product % d == 0)
                divisor[possible++] = d;
        for (int i = (int)possible - 1; i >= 0; i--)
            if (divisor[i] != p->product / divisor[i])
                divisor[possible++] = p->product / divisor[i];
    }
    uint64_t places = possible < most ? possible : most;
    uint64_t each = possible / places, larger = possible % places;
    for (uint64_t i = 0; i < places; i++) {
        uint64_t first = i * each + (i < larger ? i : larger);
        low[i] = is_part ? (uint64_t)divisor[first] : first;
    }
    return possible;
}

bool axis_has_value(const struct axis *a, const double *statistics)
{
    return a->param || (statistics && !isnan(statistics[a->factor.slot]));
}

static uint64_t value_of(const struct axis *a, const struct config *c, const double *statistics)
{
    if (!a->param) {
        // Ranges begin at 0, 1, 2, 3, 4, 6, 8, 12, ..
        double value = statistics[a->factor.slot];
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
    if (f.param == FACTOR_STATISTIC)
        return;
    a->param = &s->param[f.param];
    assert((a->param->kind == PARAM_FACTORIZATION) == (f.slot >= 0));
    uint64_t possible = spread_values(a->param, AXIS_MOST, a->low);
    a->kind = possible <= AXIS_MOST ? AXIS_ALL : AXIS_VISITED;
    a->count = possible <= AXIS_MOST ? (int)possible : 0;
}

int axis_last_place(const struct axis *a, uint64_t value)
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
    int place = axis_last_place(a, value);
    return place >= 0 && (a->kind == AXIS_RANGES || a->low[place] == value) ? place : -1;
}

int axis_place(const struct axis *a, const struct config *c, const double *statistics)
{
    return axis_has_value(a, statistics) ? place_of(a, value_of(a, c, statistics)) : -1;
}

int axis_make_place(struct axis *a, const struct config *c, const double *statistics,
                    int moved[AXIS_MOST])
{
    uint64_t value = value_of(a, c, statistics);
    for (int i = 0; i < AXIS_MOST; i++)
        moved[i] = i;
    int place = place_of(a, value);
    if (place >= 0 || a->kind != AXIS_VISITED)
        return place;
    if (a->count == AXIS_MOST) {
        struct axis old = *a;
        const struct param *p = a->param;
        int places = AXIS_MOST;
        if (p && p->kind == PARAM_PERMUTATION) {
            // Orders are grouped by their first items: by as many as there are places for.
            places = p->count;
            for (int i = 1; i < p->count && places * (p->count - i) <= AXIS_MOST; i++)
                places *= p->count - i;
        }
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
    place = axis_last_place(a, value) + 1;
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

static void add_number(const struct axis *a, int place, struct str *out)
{
    if (a->param->kind == PARAM_FACTORIZATION)
        str_printf(out, "%" PRIu64, a->low[place]);
    else
        str_add_real(out, a->param->number[a->low[place]]);
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
    if (p->kind == PARAM_FACTORIZATION || p->number)
        add_number(a, place, out);
    else
        str_add(out, p->label[value]);
    if (a->kind == AXIS_RANGES)
        str_add_char(out, '+');
}

bool axis_add_term(const struct axis *a, int place, struct str *out)
{
    const struct param *p = a->param;
    struct str name = {0};
    bool is_range = a->kind == AXIS_RANGES;
    uint64_t low = a->low[place];
    if (!p) {
        const char *word = statistic_kind_name((enum statistic_kind)a->factor.slot);
        bool is_power = (low & (low - 1)) == 0;
        uint64_t end = low < 4 ? low + 1 : is_power ? low + low / 2 : low / 3 * 4;
        str_printf(out, ".%s>=%" PRIu64, word, low); // the dot: no parameter's name
        if (!is_range || place + 1 < a->count)
            str_printf(out, " .%s<%" PRIu64, word, is_range ? a->low[place + 1] : end);
        return true;
    }
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
        const char *label = p->label[low];
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

// --- ranks and explained variance ---

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
    double mean = 0, between = 0, total = 0;
    int k = 0;
    for (int i = 0; i < n; i++) {
        item[i] = (struct keyed){key[i], value[i]};
        mean += value[i] / n;
    }
    qsort(item, (size_t)n, sizeof *item, compare_keyed);
    // Sums of squares between groups and in all, about the mean.
    for (int first = 0, end; first < n; first = end) {
        double sum = 0;
        for (end = first; end < n && item[end].key == item[first].key; end++) {
            double away = item[end].value - mean;
            sum += away;
            total += away * away;
        }
        between += sum * sum / (end - first);
        k++;
    }
    free(item);
    if (groups)
        *groups = k;
    if (k >= n || !(total > 0))
        return 0;
    double share = 1 - (1 - between / total) * (n - 1) / (n - k);
    return share > 0 ? share < 1 ? share : 1 : 0;
}

// --- importance: the sample ---

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

void importance_add(struct importance *i, const struct config *c, double speed)
{
    int64_t at = i->added++;
    if (at >= IMPORTANCE_SAMPLE)
        at = (int64_t)rng_below(&i->rng, (uint64_t)i->added);
    if (at >= IMPORTANCE_SAMPLE)
        return;
    i->busy &= at >= i->sampled; // else the sample that is being worked on changed
    i->kept += at == i->kept;
    i->speed[at] = speed;
    size_t slots = (size_t)i->space->slots;
    memcpy(i->slot + (size_t)at * slots, c->slot, slots * sizeof *c->slot);
}

// --- importance: entries ---

static int compare_entries(const void *a, const void *b)
{
    const struct importance_entry *x = a, *y = b;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    if (x->factor.param != y->factor.param)
        return x->factor.param - y->factor.param;
    return x->factor.slot - y->factor.slot;
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
        int64_t fresh = i->added - i->used;
        if (fresh > 0 && fresh >= i->used / 20) {
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
        const struct param *p = &i->space->param[entry->factor.param];
        int slot = entry->factor.slot < 0 ? 0 : entry->factor.slot;
        for (int n = 0; n < i->sampled; n++) {
            const int32_t *v = i->slot + (size_t)n * (size_t)i->space->slots + p->offset;
            bool whole = entry->factor.slot < 0 && p->width > 1;
            key[n] = whole ? hash_bytes(v, (size_t)p->width * sizeof *v) : (uint64_t)v[slot];
        }
        entry->share = explained_share(i->rank, key, i->sampled, &entry->values);
        free(key);
        return true;
    }
    memcpy(i->entry, i->made, (size_t)count * sizeof *i->entry);
    qsort(i->entry, (size_t)count, sizeof *i->entry, compare_entries);
    i->count = count;
    i->used = i->started_at;
    i->busy = false;
    return true; // more may have come
}

double importance_of(const struct importance *i, struct factor f)
{
    for (int n = 0; n < i->count; n++)
        if (i->entry[n].factor.param == f.param && i->entry[n].factor.slot == f.slot)
            return i->entry[n].share;
    return NAN;
}

// --- projections ---

void projection_init(struct projection *p, const struct space *s, struct factor x,
                     const struct factor *y)
{
    *p = (struct projection){.space = s, .is_flat = !y};
    axis_init(&p->x, s, x);
    if (y)
        axis_init(&p->y, s, *y);
    p->cell = mem_zero((size_t)AXIS_MOST * (y ? AXIS_MOST : 1), sizeof *p->cell);
    rng_seed(&p->rng, 1);
}

void projection_finish(struct projection *p)
{
    free(p->cell);
    *p = (struct projection){0};
}

int projection_rows(const struct projection *p)
{
    return p->is_flat ? 1 : p->y.count;
}

const struct map_cell *projection_at(const struct projection *p, int row, int col)
{
    return &p->cell[row * AXIS_MOST + col];
}

// --- projections: trials ---

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

static void take_best(struct map_cell *into, const struct map_cell *c)
{
    bool better = c->best_raced != into->best_raced ? c->best_raced : c->best > into->best;
    if (!c->best_ask || (into->best_ask && !better))
        return;
    into->best = c->best;
    into->best_ask = c->best_ask;
    into->best_raced = c->best_raced;
}

void projection_add(struct projection *p, const struct map_trial *s)
{
    if (!is_like_held(p, s->config) || !axis_has_value(&p->x, s->statistics) ||
        (!p->is_flat && !axis_has_value(&p->y, s->statistics)))
        return;
    int rows = projection_rows(p), cols = p->x.count;
    int row_to[AXIS_MOST] = {0}, col_to[AXIS_MOST], row = 0;
    enum axis_kind kind = p->x.kind, y_kind = p->y.kind;
    int col = axis_make_place(&p->x, s->config, s->statistics, col_to);
    if (!p->is_flat)
        row = axis_make_place(&p->y, s->config, s->statistics, row_to);
    if (rows != projection_rows(p) || cols != p->x.count || kind != p->x.kind ||
        y_kind != p->y.kind) {
        // Moves the cells to their new places, where two may become one. Earlier judgements hold
        // for a whole range only if they were legal.
        size_t count = (size_t)AXIS_MOST * (p->is_flat ? 1 : AXIS_MOST);
        struct map_cell *moved = mem_zero(count, sizeof *moved);
        for (int r = 0; r < rows; r++)
            for (int k = 0; k < cols; k++) {
                const struct map_cell *c = projection_at(p, r, k);
                struct map_cell *to = &moved[row_to[r] * AXIS_MOST + col_to[k]];
                for (int i = 0; i < OUTCOME_COUNT; i++)
                    to->outcome[i] += c->outcome[i];
                take_best(to, c);
                if (c->best_ask && (to->worst == 0 || c->worst < to->worst))
                    to->worst = c->worst;
                to->sum += c->sum;
                to->legal |= c->legal;
            }
        free(p->cell);
        p->cell = moved;
        p->layout++;
        p->judged_to = 0;
    }
    struct map_cell *at = &p->cell[row * AXIS_MOST + col];
    p->taken++;
    at->outcome[s->outcome]++;
    if (s->outcome != OUTCOME_OK)
        return;
    at->sum += s->speed;
    take_best(at, &(struct map_cell){.best = s->speed, .best_ask = s->ask, .best_raced = s->raced});
    if (at->outcome[OUTCOME_OK] == 1 || s->speed < at->worst)
        at->worst = s->speed;
}

bool projection_find(const struct projection *p, const struct config *c, const double *statistics,
                     int *row, int *col)
{
    *col = axis_place(&p->x, c, statistics);
    *row = p->is_flat ? 0 : axis_place(&p->y, c, statistics);
    return *row >= 0 && *col >= 0 && is_like_held(p, c);
}

// --- projections: cells ---

int64_t cell_trials(const struct map_cell *c)
{
    int64_t count = 0;
    for (int i = 0; i < OUTCOME_COUNT; i++)
        count += i == OUTCOME_REJECTED ? 0 : c->outcome[i];
    return count;
}

enum cell_kind cell_kind(const struct map_cell *c)
{
    if (c->outcome[OUTCOME_OK])
        return CELL_MEASURED;
    if (cell_trials(c))
        return CELL_FAILED;
    bool excluded = c->impossible || c->judged >= JUDGED_ENOUGH || c->outcome[OUTCOME_REJECTED];
    return excluded && !c->legal ? CELL_EXCLUDED : CELL_UNVISITED;
}

double cell_value(const struct map_cell *c, enum statistic s)
{
    int64_t ok = c->outcome[OUTCOME_OK];
    if (s == STATISTIC_COUNT)
        return cell_trials(c) ? (double)cell_trials(c) : NAN;
    return !ok ? NAN : s == STATISTIC_BEST ? c->best : c->sum / (double)ok;
}

// --- projections: judging what could be in empty cells ---

// Draws a value of a place. For a part it is the first, since the divisors of a range are
// neighbours.
static uint64_t draw_value(struct projection *p, const struct axis *a, int place)
{
    bool is_range = a->kind == AXIS_RANGES && a->param->kind != PARAM_FACTORIZATION;
    uint64_t end = place + 1 < a->count ? a->low[place + 1] : param_size(a->param);
    return a->low[place] + (is_range ? rng_below(&p->rng, end - a->low[place]) : 0);
}

// Draws the values of one axis, or of two axes `a` and `b` of the same factorization, into `c`. The
// other parts share the rest of the product uniformly. False: nothing is left to share.
static bool draw_axis(struct projection *p, const struct axis *a, int place, const struct axis *b,
                      int other_place, struct config *c)
{
    const struct param *q = a->param;
    int32_t *out = c->slot + q->offset, left = q->product, rest[PARAM_MAX_WIDTH];
    uint64_t value = draw_value(p, a, place);
    if (q->kind != PARAM_FACTORIZATION) {
        param_value(q, value, out);
        return true;
    }
    int count = b ? 2 : 1, bound[2] = {a->factor.slot, b ? b->factor.slot : -1};
    int32_t parts[2] = {(int32_t)value, b ? (int32_t)draw_value(p, b, other_place) : 0};
    for (int i = 0; i < count; left /= parts[i++])
        if (left % parts[i])
            return false;
    bool ok = left == 1;
    if (count < q->width) {
        struct arena arena;
        struct param others;
        arena_init(&arena);
        ok = param_factorization(&others, &arena, q->name, left, q->width - count, NULL);
        if (ok)
            param_sample(&others, &p->rng, rest);
        arena_finish(&arena);
    }
    for (int slot = 0, next = 0; ok && slot < q->width; slot++)
        out[slot] = slot == bound[0] ? parts[0] : slot == bound[1] ? parts[1] : rest[next++];
    return ok;
}

static void judge(struct projection *p, const struct limits *l, int row, int col)
{
    struct map_cell *at = &p->cell[row * AXIS_MOST + col];
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
    // One judgement is enough where every draw for a cell is the same one.
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
    int cols = p->x.count, places = projection_rows(p) * cols;
    if (!p->x.param || (!p->is_flat && !p->y.param))
        return false;
    for (int settled = 0; settled < places && most > 0;) { // in a row
        int at = p->judged_to++ % places;
        const struct map_cell *c = projection_at(p, at / cols, at % cols);
        if (!c->legal && !c->impossible && c->judged < JUDGED_ENOUGH && cell_trials(c) == 0) {
            judge(p, l, at / cols, at % cols);
            settled = 0;
            most--;
        } else {
            settled++;
        }
    }
    return most == 0 && places > 0;
}
