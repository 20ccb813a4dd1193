#include "search/prefixes.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NUMBERS = 1 << 20 };

void prefixes_init(struct prefixes *p, struct sequence *policy, const struct decisions *decisions)
{
    *p = (struct prefixes){
        .policy = policy,
        .decisions = decisions,
        .allowed = mem_zero((size_t)decisions->all_values, sizeof *p->allowed),
    };
}

void prefixes_finish(struct prefixes *p)
{
    free(p->allowed);
    free(p->node);
    free(p->number);
    free(p->child);
    *p = (struct prefixes){0};
}

void prefixes_forget(struct prefixes *p)
{
    p->nodes = 0;
    p->numbers = p->children = 0;
}

// Whether `needed` do not fit; then the capacity doubles until they do.
static bool outgrows(size_t needed, size_t *capacity)
{
    if (needed <= *capacity)
        return false;
    *capacity = *capacity ? *capacity : 1024;
    while (needed > *capacity)
        *capacity *= 2;
    return true;
}

static int add_node(struct prefixes *p, size_t numbers, size_t values)
{
    if (outgrows(p->numbers + numbers, &p->number_capacity))
        p->number = mem_resize(p->number, p->number_capacity, sizeof *p->number);
    if (outgrows(p->children + values, &p->child_capacity))
        p->child = mem_resize(p->child, p->child_capacity, sizeof *p->child);
    memset(p->child + p->children, 0, values * sizeof *p->child);
    MEM_GROW(p->node, p->nodes, p->node_capacity);
    p->node[p->nodes] = (struct prefix){p->numbers, p->children};
    p->numbers += numbers;
    p->children += values;
    return p->nodes++;
}

// The node before decision t, behind node `parent` (-1: t is 0).
static int open_node(struct prefixes *p, int t, int parent, const int *choice)
{
    size_t state = sequence_state(p->policy), values = (size_t)p->decisions->values[t];
    int node = add_node(p, state + values, values);
    double *after = p->number + p->node[node].number;
    const double *before = parent < 0 ? NULL : p->number + p->node[parent].number;
    decisions_allow(p->decisions, t, choice, p->allowed);
    memcpy(after,
           sequence_step(p->policy, t, t ? choice[t - 1] : 0, before, p->allowed, after + state),
           state * sizeof *after);
    return node;
}

// The node before decision t, one choice behind `parent`.
static int follow(struct prefixes *p, int t, int parent, const int *choice)
{
    size_t child = p->node[parent].child + (size_t)choice[t - 1];
    if (p->child[child] == 0) {
        int node = open_node(p, t, parent, choice);
        p->child[child] = node; // which may have moved
    }
    return p->child[child];
}

void prefixes_draw(struct prefixes *p, struct rng *r, int *choice)
{
    if (p->numbers > MOST_NUMBERS)
        prefixes_forget(p);
    int node = 0;
    for (int t = 0; t < p->decisions->count; t++) {
        if (t > 0)
            node = follow(p, t, node, choice);
        else if (p->nodes == 0)
            open_node(p, 0, -1, choice);
        const double *probability = p->number + p->node[node].number + sequence_state(p->policy);
        choice[t] = (int)rng_weighted(r, (size_t)p->decisions->values[t], probability);
    }
}
