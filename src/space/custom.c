// Values with a graph of the user's own, kept as sorted lists of neighbours (compressed rows).
#include "space/kind.h"

#include <stdlib.h>
#include <string.h>

// Distances from `from` by breadth-first search into `distance[count]`, -1: not connected. Returns
// how many are reached.
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

bool param_custom(struct param *p, struct arena *arena, const char *name,
                  const struct custom_graph *g, struct err *e)
{
    int count = g->count;
    if (!listed_check_count(name, "values", count, PARAM_MAX_CUSTOM, e))
        return false;
    *p = (struct param){
        .name = arena_strdup(arena, name),
        .kind = PARAM_CUSTOM,
        .width = 1,
        .count = count,
        .number = g->number ? listed_copy_numbers(arena, name, count, g->number, e) : NULL,
        .label = g->label ? listed_copy_labels(arena, name, count, g->label, e) : NULL,
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
            listed_add_json(p, &i, &a);
            listed_add_json(p, &j, &b);
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
    bool connected = reach(p, 0, distance) == p->count;
    free(distance);
    p->connected = connected;
    return true;
}

static int degree(const struct param *p, const int32_t *v)
{
    return p->edge_start[*v + 1] - p->edge_start[*v];
}

static void neighbour(const struct param *p, int k, int32_t *v)
{
    *v = p->edge[p->edge_start[*v] + k];
}

static void degree_range(const struct param *p, int *lowest, int *highest)
{
    *lowest = *highest = degree(p, &(int32_t){0});
    for (int32_t i = 1; i < p->count; i++) {
        int d = degree(p, &i);
        *lowest = d < *lowest ? d : *lowest;
        *highest = d > *highest ? d : *highest;
    }
}

static int distance(const struct param *p, const int32_t *a, const int32_t *b)
{
    int *from_a = mem_alloc((size_t)p->count * sizeof *from_a);
    reach(p, *a, from_a);
    int steps = from_a[*b];
    free(from_a);
    return steps;
}

const struct kind kind_custom = {
    .name = "custom",
    .value = listed_value,
    .valid = listed_valid,
    .degree = degree,
    .neighbour = neighbour,
    .degree_range = degree_range,
    .distance = distance,
    .add_json = listed_add_json,
};
