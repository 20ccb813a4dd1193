#include "record/record.h"

#include "base/file.h"
#include "base/median.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// "a/gemm-RTX_3090.json.gz" -> "gemm-RTX_3090"
static const char *name_of(const char *path, struct arena *arena)
{
    static const char *const endings[] = {".gz", ".xz", ".json"};
    char *name = arena_strdup(arena, path_name(path));
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(name), ending = strlen(endings[i]);
        if (length > ending && strcmp(name + length - ending, endings[i]) == 0)
            name[length - ending] = '\0';
    }
    return name;
}

struct recording *recording_create(const char *path, const char *format)
{
    struct recording *r = mem_zero(1, sizeof *r);
    arena_init(&r->arena);
    r->path = arena_strdup(&r->arena, path);
    r->name = name_of(path, &r->arena);
    r->format = arena_strdup(&r->arena, format);
    r->kernel = r->device = "";
    r->unit = "s";
    r->best = -1;
    r->median = NAN;
    r->space = space_create(r->name);
    return r;
}

void recording_destroy(struct recording *r)
{
    if (!r)
        return;
    config_set_finish(&r->configs);
    space_destroy(r->space);
    free(r->entry);
    free(r->run);
    arena_finish(&r->arena);
    free(r);
}

static int is_recorded(void *context, const struct config *c, struct err *e)
{
    const struct recording *r = context;
    (void)e;
    return config_set_find(&r->configs, c) >= 0;
}

bool recording_seal_space(struct recording *r, struct err *e)
{
    struct constraint recorded = {
        .name = "recorded", .file = r->path, .context = r, .holds = is_recorded};
    space_add_constraint(r->space, &recorded);
    r->configs.slots = r->space->slots;
    return space_seal(r->space, e);
}

// Offsets until recording_finish: the runs still move.
static void add_runs(struct recording *r, const struct record_entry *entry)
{
    for (int i = 0; i < entry->run_count; i++) {
        MEM_GROW(r->run, r->run_count, r->run_capacity);
        r->run[r->run_count++] = entry->runs[i];
    }
}

void recording_add(struct recording *r, const struct config *c, const struct record_entry *entry,
                   bool *was_new)
{
    config_set_add(&r->configs, c, was_new);
    if (!*was_new)
        return;
    MEM_GROW(r->entry, r->count, r->entry_capacity);
    r->entry[r->count++] = *entry;
    add_runs(r, entry);
}

static double median_of_valid(const struct recording *r)
{
    int count = 0;
    double *valid = mem_alloc((size_t)r->count * sizeof *valid);
    for (int i = 0; i < r->count; i++)
        if (r->entry[i].outcome == OUTCOME_OK)
            valid[count++] = r->entry[i].seconds;
    double median = median_of(valid, count);
    free(valid);
    return median;
}

bool recording_finish(struct recording *r, struct err *e)
{
    const double *next = r->run;
    for (int i = 0; i < r->count; i++) {
        struct record_entry *entry = &r->entry[i];
        entry->runs = NULL;
        if (entry->run_count) { // there is something to point into
            entry->runs = next;
            next += entry->run_count;
        }
        r->outcomes[entry->outcome]++;
        if (entry->outcome == OUTCOME_OK &&
            (r->best < 0 || entry->seconds < r->entry[r->best].seconds))
            r->best = i;
    }
    if (r->best < 0)
        return err_at(e, r->path, 0, "none of the %d recorded configurations is valid", r->count);
    r->median = median_of_valid(r);
    return true;
}

const struct record_entry *recording_find(const struct recording *r, const struct config *c)
{
    int index = config_set_find(&r->configs, c);
    return index < 0 ? NULL : &r->entry[index];
}

void recording_config(const struct recording *r, int index, struct config *out)
{
    config_set_get(&r->configs, index, out);
}

struct edges {
    const struct param *p;
};

static bool is_edge(void *context, int i, int j)
{
    const struct param *p = ((struct edges *)context)->p;
    for (int32_t k = p->edge_start[i]; k < p->edge_start[i + 1] && p->edge[k] <= j; k++)
        if (p->edge[k] == j)
            return true;
    return false;
}

static bool copy_param(const struct param *p, struct arena *arena, struct param *copy,
                       struct err *e)
{
    switch (p->kind) {
    case PARAM_FACTORIZATION:
        return param_factorization(copy, arena, p->name, p->product, p->width, e);
    case PARAM_PERMUTATION: return param_permutation(copy, arena, p->name, p->count, p->label, e);
    case PARAM_DISCRETE: return param_discrete(copy, arena, p->name, p->count, p->number, e);
    case PARAM_CATEGORICAL: return param_categorical(copy, arena, p->name, p->count, p->label, e);
    case PARAM_CUSTOM: {
        struct edges edges = {p};
        const struct custom_graph g = {p->count, p->number, p->label, is_edge, &edges};
        return param_custom(copy, arena, p->name, &g, e);
    }
    }
    return false;
}

bool recording_add_params(struct recording *r, const struct space *like, struct err *e)
{
    for (int i = 0; i < like->param_count; i++) {
        struct param copy;
        if (!copy_param(&like->param[i], &r->space->arena, &copy, e) ||
            !space_add(r->space, &copy, e))
            return false;
    }
    return true;
}

bool recording_has_costs(const struct recording *r)
{
    for (int i = 0; i < r->count; i++)
        if (isfinite(r->entry[i].compile_s) || isfinite(r->entry[i].benchmark_s))
            return true;
    return false;
}
