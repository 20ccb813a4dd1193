#include "engine/cell.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SETTINGS 40

struct range {
    const char *preset, *name; // preset NULL: of all others
    int64_t low, high;
};

static const struct range ranges[] = {
    {"conv1x1", "kernel_h", 1, 1},
    {"conv1x1", "kernel_w", 1, 1},
    {"conv1x1", "padding", 0, 1},
    {"skinny", "N", 1, 16},
    {"matmul-quantised", "N", 16, 70},
    {"matmul-quantised", "M", 1, 16},
    {"matmul-quantised", "K", 256, 256},
    {"matmul-quantised", "batch", 1, 1},
    {"conv-winograd", "kernel_h", 3, 3},
    {"conv-winograd", "kernel_w", 3, 3},
    {"conv-winograd", "stride", 1, 1},
    {"conv-winograd", "dilation", 1, 1},
    {"concat", "first", 1, 300},
    {"concat", "second", 1, 300},
    {"concat", "third", 1, 30},
    {"concat", "fourth", 0, 30},
    {"strided", "count", 3000, 3000},
    {"strided", "n1", 1, 6},
    {"strided", "n2", 1, 6},
    {"strided", "n3", 1, 6},
    {"strided", "n4", 1, 6},
    {"strided", "s1", 0, 100},
    {"strided", "s2", 0, 100},
    {"strided", "s3", 0, 100},
    {"strided", "s4", 0, 100},
    {"strided", "offset", 0, 100},
    {NULL, "N", 1, 70},
    {NULL, "M", 1, 70},
    {NULL, "K", 1, 70},
    {NULL, "batch", 1, 4},
    {NULL, "in_channels", 1, 20},
    {NULL, "out_channels", 1, 20},
    {NULL, "channels", 1, 20},
    {NULL, "multiplier", 1, 3},
    {NULL, "height", 8, 20},
    {NULL, "width", 8, 20},
    {NULL, "kernel_h", 1, 4},
    {NULL, "kernel_w", 1, 4},
    {NULL, "window", 1, 4},
    {NULL, "stride", 1, 3},
    {NULL, "padding", 0, 2},
    {NULL, "extra", 0, 1},
    {NULL, "dilation", 1, 2},
    {NULL, "groups", 1, 3},
    {NULL, "stride_h", 1, 3},
    {NULL, "stride_w", 1, 3},
    {NULL, "dilation_h", 1, 2},
    {NULL, "dilation_w", 1, 2},
    {NULL, "before_h", 0, 2},
    {NULL, "before_w", 0, 2},
    {NULL, "after_h", 0, 2},
    {NULL, "after_w", 0, 2},
    {NULL, "out_h", 8, 20},
    {NULL, "out_w", 8, 20},
    {NULL, "rows", 1, 60},
    {NULL, "columns", 1, 300},
    {NULL, "count", 1, 3000},
    {NULL, "heads", 1, 3},
    {NULL, "kv_heads", 0, 2},
    {NULL, "dim", 1, 70},
};

// Settings each value of which makes an entry of its own; other choices are drawn at random.
static const char *const axis_names[] = {"type", "layout", "transpose", "apply"};

// --- cells ---

static struct script *load(const char *preset, const char *device_type, const struct limits *l,
                           const struct setting *set, int set_count, struct err *e)
{
    char *path = script_find_shipped(preset, e);
    struct script_options o = {
        .path = path, .set = set, .set_count = set_count, .device_type = device_type, .limits = l};
    struct script *s = path ? script_create(&o, e) : NULL;
    free(path);
    return s;
}

// Adds every combination of the axes from setting `at` on with those that `cell` has already.
static void add_cells(struct cells *out, const struct limits *l, const struct script_setting *s,
                      int count, int at, struct cell *cell)
{
    for (; at < count; at++) {
        bool is_axis = false;
        for (size_t i = 0; s[at].values && i < sizeof axis_names / sizeof *axis_names; i++)
            is_axis |= strcmp(axis_names[i], s[at].name) == 0;
        if (!is_axis || cell->axes == CELL_MAX_AXES)
            continue;
        for (int v = 0; s[at].values[v]; v++) {
            struct cell more = *cell;
            bool is_type = strcmp(s[at].name, "type") == 0;
            enum element e = is_type ? element_named(s[at].values[v]) : ELEMENT_COUNT;
            if (e != ELEMENT_COUNT && !limits_has_type(l, e))
                continue;
            more.axis[more.axes++] = (struct setting){arena_strdup(&out->arena, s[at].name),
                                                      arena_strdup(&out->arena, s[at].values[v])};
            add_cells(out, l, s, count, at + 1, &more);
        }
        return;
    }
    MEM_GROW(out->cell, out->count, out->capacity);
    out->cell[out->count++] = *cell;
}

// Loads a preset of a type (NULL: its standard), with emulated matrix units where it needs some.
static struct script *load_emulated(const char *preset, const char *type, const struct limits *l,
                                    struct err *e)
{
    const struct setting set[] = {{"type", type}, {"units", "emulated"}};
    int first = type ? 0 : 1;
    struct err ignored;
    struct script *s = load(preset, "cpu", l, set + first, 1 - first, e);
    return s ? s : load(preset, "cpu", l, set + first, 2 - first, &ignored);
}

bool cells_list(const struct limits *l, struct cells *out, struct err *e)
{
    int presets;
    char **name = script_presets(&presets);
    bool ok = presets > 0 || err_set(e, "there are no presets");
    *out = (struct cells){0};
    arena_init(&out->arena);
    for (int i = 0; i < presets; i++) {
        struct script *s = ok ? load_emulated(name[i], NULL, l, e) : NULL;
        ok = s != NULL;
        if (s) {
            // A preset that is another one with settings is tested as that: gemm16 is gemm, mm1 is
            // mm. One with ranges of its own, such as conv1x1, is tested for its shapes.
            int count, settings;
            const struct script_text *text = script_texts(s, &count);
            const struct script_setting *setting = script_settings(s, &settings);
            char *folder = path_folder(text[0].path);
            bool is_another = false;
            for (int k = 1; k < count; k++) {
                char *other = path_folder(text[k].path);
                is_another |= strcmp(other, folder) == 0;
                free(other);
            }
            for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
                is_another &= !str_equal(ranges[k].preset, name[i]);
            struct cell cell = {.preset = arena_strdup(&out->arena, name[i])};
            if (!is_another)
                add_cells(out, l, setting, settings, 0, &cell);
            free(folder);
        }
        script_destroy(s);
        free(name[i]);
    }
    free(name);
    return ok;
}

void cells_finish(struct cells *c)
{
    free(c->cell);
    arena_finish(&c->arena);
    *c = (struct cells){0};
}

void cell_add_text(const struct cell *c, struct str *out)
{
    str_add(out, c->preset);
    for (int i = 0; i < c->axes; i++)
        str_printf(out, " %s=%s", c->axis[i].name, c->axis[i].value);
}

// --- operations ---

struct drawing {
    const struct cell *cell;
    struct rng *rng;
    struct setting set[MAX_SETTINGS];
    int count;
    struct arena arena;
};

static void put(struct drawing *d, const char *name, const char *value)
{
    if (d->count < MAX_SETTINGS)
        d->set[d->count++] = (struct setting){name, value};
}

static void put_number(struct drawing *d, const char *name, int64_t value)
{
    put(d, name, arena_printf(&d->arena, "%" PRId64, value));
}

static const char *value_of(const struct drawing *d, const char *name)
{
    for (int i = 0; i < d->count; i++)
        if (strcmp(d->set[i].name, name) == 0)
            return d->set[i].value;
    return "";
}

// Returns the value that the cell has for a setting; NULL: it has none.
static const char *fixed_value(const struct drawing *d, const char *name)
{
    for (int i = 0; i < d->cell->axes; i++)
        if (strcmp(d->cell->axis[i].name, name) == 0)
            return d->cell->axis[i].value;
    return NULL;
}

// Strides, as rows and matrices of a product lie in memory: mostly packed (0), else far enough
// apart for whatever is drawn. Other sizes are drawn from their range.
static bool draw_size(struct drawing *d, const char *name, struct err *e)
{
    const int64_t row = 80, matrix = row * row;
    const char *preset = d->cell->preset, *fixed = fixed_value(d, name);
    const struct range *range = NULL;
    if (fixed) {
        put(d, name, fixed);
        return true;
    }
    bool is_row = str_starts(name, "row_");
    if (is_row || str_starts(name, "batch_")) {
        int64_t least = is_row ? row : matrix;
        put_number(d, name, rng_below(d->rng, 4) ? 0 : least + (int64_t)rng_below(d->rng, 5));
        return true;
    }
    for (size_t i = 0; !range && i < sizeof ranges / sizeof *ranges; i++)
        if (strcmp(ranges[i].name, name) == 0 &&
            (!ranges[i].preset || strcmp(ranges[i].preset, preset) == 0))
            range = &ranges[i];
    if (!range)
        return err_set(e, "no range is known for the size %s of %s (src/engine/cell.c)", name,
                       preset);
    int64_t value =
        range->low + (int64_t)rng_below(d->rng, (uint64_t)(range->high - range->low + 1));
    bool rounds = range->high >= 8 && rng_below(d->rng, 2); // where vectors fit
    put_number(d, name, rounds ? (value + 3) / 4 * 4 : value);
    return true;
}

static bool has_whole_type(const struct drawing *d)
{
    enum element e = element_named(value_of(d, "type"));
    return e != ELEMENT_COUNT && !element_is_real(e);
}

static bool has_blocks(const struct drawing *d)
{
    const char *blocks = value_of(d, "blocks");
    return *blocks && strcmp(blocks, "none") != 0;
}

static bool has_value(const struct script_setting *s, const char *value)
{
    for (int i = 0; s->values[i]; i++)
        if (strcmp(s->values[i], value) == 0)
            return true;
    return false;
}

// Draws one of the words that run on any device: a choice of units has one at least.
static const char *draw_units(struct rng *r, const struct script_setting *s)
{
    static const char *const words[] = {"none", "emulated", "nv2-emulated"};
    uint64_t i = rng_below(r, 3);
    while (!has_value(s, words[i]))
        i = (i + 1) % 3;
    return words[i];
}

// Draws the value of a choice. Choices that exclude each other are not drawn together.
static void draw_choice(struct drawing *d, const struct script_setting *s)
{
    const char *fixed = fixed_value(d, s->name);
    if (fixed) {
        put(d, s->name, fixed);
        return;
    }
    if (has_blocks(d) && strcmp(s->name, "units") == 0)
        return; // matrix units take none
    bool is_rounding = strcmp(s->name, "to") == 0;
    if (is_rounding &&
        (strcmp(value_of(d, "type"), "f32") || strcmp(value_of(d, "transpose"), "no")))
        return; // copies round f32 as it lies
    uint64_t count = 0;
    while (s->values[count])
        count++;
    const char *value = s->values[rng_below(d->rng, count)];
    bool is_half = strcmp(value_of(d, "type"), "f16") == 0, is_whole = has_whole_type(d);
    if (strcmp(s->name, "units") == 0)
        value = draw_units(d->rng, s);
    else if (strcmp(s->name, "blocks") == 0) // where they are the standard, K is made for them
        value = strcmp(s->standard, "none") ? s->values[1 + rng_below(d->rng, count - 1)] : "none";
    else if (strcmp(s->name, "accumulate") == 0 && (!is_half || has_blocks(d)))
        value = s->values[0];
    else if (strcmp(value, "leaky") == 0 && is_whole)
        value = "relu";
    put(d, s->name, arena_strdup(&d->arena, value));
}

static void change(struct drawing *d, const char *name, int64_t value)
{
    for (int i = 0; i < d->count; i++)
        if (strcmp(d->set[i].name, name) == 0)
            d->set[i].value = arena_printf(&d->arena, "%" PRId64, value);
}

static bool draw_all(struct drawing *d, const struct script *standard, struct err *e)
{
    int count;
    const struct script_setting *s = script_settings(standard, &count);
    if (fixed_value(d, "type"))
        put(d, "type", fixed_value(d, "type"));
    bool is_computed = script_find_setting(standard, "shape");
    for (int i = 0; i < count; i++)
        if (is_computed && strcmp(s[i].name, "units") != 0) {
            // A preset that is defined by its computation has its small problem, and a few more of
            // the sizes that may be odd.
            static const char *const odd[] = {"B",   "N",    "M", "K", "H",  "W",  "L", "D",
                                              "seq", "head", "T", "C", "CI", "CO", NULL};
            bool is_grouped = strcmp(d->cell->preset, "grp") == 0;
            for (int j = 0; odd[j]; j++)
                if (strcmp(odd[j], s[i].name) == 0 && !(is_grouped && *s[i].name == 'C'))
                    put_number(d, arena_strdup(&d->arena, s[i].name),
                               strtoll(s[i].standard, NULL, 10) + (int64_t)rng_below(d->rng, 4));
        } else if (s[i].values)
            draw_choice(d, &s[i]);
        else if (!s[i].is_whole) {
            // The standard or a dyadic fraction, which exact inputs stay exact with; whole numbers
            // are not scaled.
            static const char *const others[] = {"0.25", "0.5", "2", "4"};
            if (!has_whole_type(d) && rng_below(d->rng, 2) && strcmp(s[i].name, "low") != 0)
                put(d, arena_strdup(&d->arena, s[i].name), others[rng_below(d->rng, 4)]);
        } else if (!draw_size(d, arena_strdup(&d->arena, s[i].name), e))
            return false;
    // Some sizes depend on each other.
    if (has_blocks(d))
        change(d, "row_a", 0), change(d, "row_b", 0);
    int64_t groups = strtoll(value_of(d, "groups"), NULL, 10);
    int64_t window = strtoll(value_of(d, "window"), NULL, 10);
    int64_t padding = strtoll(value_of(d, "padding"), NULL, 10);
    static const char *const channels[] = {"in_channels", "out_channels"};
    for (int i = 0; groups > 1 && i < 2; i++)
        change(d, channels[i], groups * strtoll(value_of(d, channels[i]), NULL, 10));
    int64_t kv_heads = strtoll(value_of(d, "kv_heads"), NULL, 10);
    if (kv_heads > 1)
        change(d, "heads", kv_heads * strtoll(value_of(d, "heads"), NULL, 10));
    if (strcmp(value_of(d, "mask"), "causal") == 0)
        change(d, "M", strtoll(value_of(d, "N"), NULL, 10) + strtoll(value_of(d, "M"), NULL, 10));
    if (window > 0 && padding >= window)
        change(d, "padding", window - 1);
    if (window > 0 && padding + 1 >= window) // else a window may lie behind the image
        change(d, "extra", 0);
    return true;
}

struct script *cell_draw(const struct cell *c, const char *device_type, const struct limits *l,
                         struct rng *r, struct str *set, struct err *e)
{
    struct drawing d = {.cell = c, .rng = r};
    struct script *standard = load_emulated(c->preset, fixed_value(&d, "type"), l, e), *s = NULL;
    arena_init(&d.arena);
    if (standard && draw_all(&d, standard, e)) {
        for (int i = 0; i < d.count; i++)
            str_printf(set, " --set %s=%s", d.set[i].name, d.set[i].value);
        s = load(c->preset, device_type, l, d.set, d.count, e);
    }
    script_destroy(standard);
    arena_finish(&d.arena);
    return s;
}
