#include "search/training.h"

#include "base/mem.h"
#include "search/moves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_S 1e-3 // a trial that took less counts as this

enum { MOST_TRIES = 8, WIDEST = COORDINATES_MOST + STATISTIC_KIND_COUNT }; // times `tries`

struct training_point {
    int index;
    double value, output[TRAINING_OUTPUTS];
};

void training_init(struct training_set *t, const struct batches *batches,
                   struct coordinates *coordinates, const struct compile_probes *probes, int points,
                   int tries)
{
    size_t most = (size_t)(batches->open + points),
           width = (size_t)coordinates->count + STATISTIC_KIND_COUNT;
    *t = (struct training_set){.batches = batches,
                               .coordinates = coordinates,
                               .probes = probes,
                               .points = points,
                               .tries = tries};
    t->x = mem_zero(most * width, sizeof *t->x);
    t->imputed = mem_zero(most, sizeof *t->imputed);
}

void training_finish(struct training_set *t)
{
    free(t->ranked);
    free(t->x);
    free(t->imputed);
}

// --- results ---

double training_fitness(const struct training_set *t, int rank)
{
    return t->batches->fitness[t->ranked[rank]];
}

double training_failure(const struct training_set *t)
{
    return training_fitness(t, t->valid * 3 / 4);
}

// Returns the logarithm of the seconds that a trial took; the mean of the others if it is unknown.
static double cost_of(const struct training_set *t, int index)
{
    double took_s = t->batches->took_s[index];
    if (took_s > 0)
        return log(fmax(took_s, LEAST_S));
    return t->costs ? t->cost / t->costs : 0;
}

void training_observe(struct training_set *t, int index)
{
    double fitness = t->batches->fitness[index];
    int rank = t->results;
    MEM_GROW(t->ranked, t->results, t->capacity);
    for (; rank > 0 && training_fitness(t, rank - 1) < fitness; rank--)
        t->ranked[rank] = t->ranked[rank - 1];
    t->ranked[rank] = index;
    t->results++;
    t->valid += fitness > 0;
    if (t->batches->took_s[index] > 0) {
        t->cost += cost_of(t, index);
        t->costs++;
    }
}

// --- the fit ---

// Computes the coordinates of a configuration as `g` takes them: [g->width]. Indices behind the
// proposed configurations are those of the planned ones; these have no compiler statistics.
static void locate(const struct training_set *t, const struct gp *g, int index, double *x)
{
    struct config c;
    int plan = index - t->batches->handed_out;
    if (plan < 0)
        config_set_get(&t->batches->archive.given, index, &c);
    coordinates_of(t->coordinates, plan < 0 ? &c : &t->planned[plan], x);
    if (g->width > t->coordinates->count)
        compile_probe_coordinates(&t->probes->given[index], x + t->coordinates->count);
}

static void add_point(struct gp *g, const double *x, const struct training_point *p)
{
    gp_add(g, x, p->value);
    for (int k = 0; k < g->outputs; k++)
        gp_set_output(g, k, p->output[k]);
}

static void add_result(struct training_set *t, struct gp *g, int index)
{
    if (t->impute_failed && t->batches->fitness[index] <= 0) {
        t->imputed[t->imputed_count++].index = index;
        return;
    }
    double x[WIDEST];
    double best = training_fitness(t, 0), fitness = t->batches->fitness[index];
    double share = (fitness > 0 ? fitness : training_failure(t)) / best;
    struct training_point p = {.index = index,
                               .value = t->logarithms ? log(share) : share,
                               .output = {cost_of(t, index), fitness > 0}};
    locate(t, g, index, x);
    add_point(g, x, &p);
}

void training_fit(struct training_set *t, struct gp *g, struct rng *r)
{
    // Three quarters of the points are the best results, the others are the latest.
    int known = t->logarithms ? t->valid : t->results;
    int points = known < t->points ? known : t->points;
    int best = points == known ? points : points * 3 / 4;
    gp_clear(g);
    t->imputed_count = 0;
    for (int i = 0; i < best; i++)
        add_result(t, g, t->ranked[i]);
    for (int i = t->results - 1; g->count + t->imputed_count < points; i--) {
        bool skip = t->logarithms && t->batches->fitness[i] <= 0;
        for (int k = 0; k < best && !skip; k++)
            skip = t->ranked[k] == i;
        if (!skip)
            add_result(t, g, i);
    }
    // A try costs the cube of the number of points. Few points get more tries, which together cost
    // no more than `tries` of them with all points.
    double cheaper = pow((double)t->points / points, 3);
    gp_fit(g, t->tries * (int)fmin(cheaper, MOST_TRIES), r);
    // Adds the imputed points: failed trials that are no results, and all open trials. Each counts
    // as the value that the process predicts for it.
    int failed = t->imputed_count;
    for (int i = t->results; i < t->batches->handed_out + t->plans; i++)
        t->imputed[t->imputed_count++].index = i;
    for (int i = 0; i < t->imputed_count; i++) {
        struct training_point *p = &t->imputed[i];
        locate(t, g, p->index, t->x + i * g->width);
        p->value = gp_mean(g, t->x + i * g->width, p->output);
        if (i < failed) {
            p->output[TRAINING_COST] = cost_of(t, p->index);
            p->output[TRAINING_SUCCESS] = 0;
        }
    }
    for (int i = 0; i < t->imputed_count; i++)
        add_point(g, t->x + i * g->width, &t->imputed[i]);
    if (t->imputed_count > 0)
        gp_fit(g, 0, r);
}

// --- candidates ---

enum {
    MUTATIONS = 100,     // of a candidate that is not allowed, before it is given up
    MOST_NEIGHBOURS = 48 // of a configuration that become candidates, drawn at random from more
};

int candidates_most(const struct candidates *c)
{
    return c->children + c->immigrants + c->others + c->neighbourhoods * MOST_NEIGHBOURS;
}

void candidates_begin(struct candidates *c)
{
    if (!c->candidate)
        c->candidate = mem_zero((size_t)candidates_most(c), sizeof *c->candidate);
    c->count = 0;
}

void candidates_finish(struct candidates *c)
{
    free(c->candidate);
}

void candidates_add(struct candidates *c, const struct candidate *of)
{
    if (c->count < candidates_most(c))
        c->candidate[c->count++] = *of;
}

// Mutates the candidate (OpEvo, Eq. 1) until it is allowed: at first most are known or illegal.
static void add_mutated(struct candidates *c, struct candidate *of)
{
    const struct archive *a = &c->batches->archive;
    for (int n = archive_tries(a, MUTATIONS); n > 0; n--) {
        if (archive_repair(a, NULL, &of->config) && archive_allows(a, &of->config)) {
            candidates_add(c, of);
            return;
        }
        space_walk(c->batches->problem.space, c->q, c->rng, &of->config);
    }
}

void candidates_add_children(struct candidates *c, const int *ranked, int results)
{
    const struct space *s = c->batches->problem.space;
    int parents = results < c->parents ? results : c->parents;
    double *weight = mem_zero((size_t)parents, sizeof *weight);
    for (int i = 0; i < parents; i++)
        weight[i] = c->batches->fitness[ranked[i]];
    for (int i = 0; i < c->children; i++) {
        struct candidate child = {0};
        for (int j = 0; j < s->param_count; j++) { // OpEvo, Eq. 2
            const struct param *param = &s->param[j];
            struct config parent;
            int index = ranked[rng_weighted(c->rng, (size_t)parents, weight)];
            config_set_get(&c->batches->archive.given, index, &parent);
            memcpy(child.config.slot + param->offset, parent.slot + param->offset,
                   (size_t)param->width * sizeof *parent.slot);
            child.from[j] = index + 1;
        }
        add_mutated(c, &child);
    }
    free(weight);
}

void candidates_add_immigrants(struct candidates *c)
{
    for (int i = 0; i < c->immigrants; i++) {
        struct candidate immigrant = {0};
        if (archive_sample(&c->batches->problem, c->rng, &immigrant.config))
            add_mutated(c, &immigrant);
    }
}

// Adds the neighbours on the graphs of the parameters, and the jumps of one parameter.
static void add_moves(struct candidates *c, const struct candidate *here, bool check)
{
    const struct space *s = c->batches->problem.space;
    const struct archive *a = &c->batches->archive;
    struct candidate next = *here;
    int degree = space_degree(s, &here->config), all = degree + moves_jumps(s, c->jump_limit);
    bool some = all > MOST_NEIGHBOURS;
    for (int n = 0; n < (some ? MOST_NEIGHBOURS : all); n++) {
        int k = some ? (int)rng_below(c->rng, (uint64_t)all) : n;
        if (k < degree)
            space_neighbour(s, &here->config, k, &next.config);
        else
            moves_jump(s, c->jump_limit, &here->config, k - degree, &next.config);
        if (!check ||
            (archive_repair(a, &here->config, &next.config) && archive_allows(a, &next.config)))
            candidates_add(c, &next);
    }
}

void candidates_add_moves(struct candidates *c, const struct candidate *here)
{
    add_moves(c, here, c->batches->problem.sparse);
}

bool candidates_allowed(const struct candidates *c, int candidate)
{
    return archive_allows(&c->batches->archive, &c->candidate[candidate].config);
}

void candidates_add_neighbours(struct candidates *c, int index)
{
    struct candidate here = {0};
    config_set_get(&c->batches->archive.given, index, &here.config);
    for (int i = 0; i < c->batches->problem.space->param_count; i++)
        here.from[i] = index + 1;
    add_moves(c, &here, true);
}
