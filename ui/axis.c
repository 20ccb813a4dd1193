#include "axis.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
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

static uint64_t order_value(const int32_t *item, int count)
{
    uint64_t value = 0;
    for (int i = 0; i < count; i++) {
        int smaller = 0;
        for (int k = i + 1; k < count; k++)
            smaller += item[k] < item[i];
        value = value * (uint64_t)(count - i) + (uint64_t)smaller;
    }
    return value;
}

// The least of the range with `value`: 0, 1, 2, 3, 4, 6, 8, 12, ..
static uint64_t told_from(double value)
{
    if (value < 1)
        return 0;
    uint64_t power = UINT64_C(1) << (int)fmin(log2(value), 62);
    return power > 1 && value >= 1.5 * (double)power ? power + power / 2 : power;
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
    if (!a->param)
        return told_from(told[a->factor.slot]);
    const int32_t *v = c->slot + a->param->offset;
    switch (a->param->kind) {
    case PARAM_FACTORIZATION: return (uint64_t)v[a->factor.slot];
    case PARAM_PERMUTATION: return order_value(v, a->param->width);
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

static void turn_into_ranges(struct axis *a, int moved[AXIS_MOST])
{
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
        turn_into_ranges(a, moved);
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

static void add_label_quoted(const char *label, struct str *out)
{
    str_add_char(out, '"');
    for (; *label; label++) {
        if (*label == '"' || *label == '\\')
            str_add_char(out, '\\');
        str_add_char(out, *label);
    }
    str_add_char(out, '"');
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
    else
        add_label_quoted(p->label[a->low[place]], out);
    if (is_range && place + 1 < a->count) {
        str_printf(out, " %s<", str_text(&name));
        add_number(a, place + 1, out);
    }
    str_finish(&name);
    return true;
}
