// Bayesian optimisation over evolutionary proposals: a Gaussian process chooses, by expected
// improvement, among the children that OpEvo's evolution breeds (docs/walk.md).
//
// The first trials are random points. For each later one the candidates are single moves from the
// very best results, children of the best (proposals.h) and strangers; trials that refine have the
// moves alone. A Gaussian process, taught the best and the latest results (lessons.h), says of each
// what it promises: the expected improvement over a target that lies a random share of `margin`
// deviations above the best. Where no trial promises a gain any more, it leaves (leaving.h).
//
// With `ahead`, the model takes its own predictions for results that are not in. Where the driver
// tells of what it compiles, the best `look` candidates are compiled, and a second model
// (informed), which knows what it says of all, chooses among those that fit.
#include "model/gp.h"
#include "model/intervals.h"
#include "search/elsewhere.h"
#include "search/leaving.h"
#include "search/lessons.h"

#include <math.h>
#include <stdlib.h>

enum {
    OPTION_STARTS,
    OPTION_ELITES,
    OPTION_CHILDREN,
    OPTION_STRANGERS,
    OPTION_NEAR,
    OPTION_REFINE,
    OPTION_DOUBT,
    OPTION_Q,
    OPTION_POINTS,
    OPTION_LEARN,
    OPTION_PROFILE,
    OPTION_MARGIN,
    OPTION_REACH,
    OPTION_LEAVE,
    OPTION_SURPRISE,
    OPTION_LOOK,
    OPTION_AHEAD,
    OPTION_COST,
    OPTION_CHANCE
};

enum { FORETOLD = 256 };  // more than results that may be waited for at once
#define LEAST_CHANCE 0.01 // of success: nothing is given up for good

struct foretold {
    int ask;                // its index + 1; 0: none
    double mean, deviation; // of fitness
};

struct walk {
    struct rounds rounds; // first: a strategy is a struct walk
    struct rng rng;
    int first; // trials of the first round; all others are of one
    double refine, doubt, margin, cost, chance;
    struct lessons lessons;
    struct config *elite; // what population() shows: [elites]

    struct coordinates coordinates;
    struct gp model;
    struct proposals proposals;
    struct leaving leaving;
    struct elsewhere elsewhere;
    double *x, *mean, *deviation, *promise; // of them: [width] each, and one
    double sought;                          // exploration weight for choosing among them
    int shortlist[LOOKS_MOST];              // the most promising of them; its first is to be tried
    int shortlisted;
    bool prepared;      // the round that is due has its shortlist
    int look;           // how many are compiled before one is chosen; 1: none
    struct gp informed; // by the coordinates, and what the driver says
    struct looks looks;
    struct foretold foretold[FORETOLD]; // each at its index, modulo the size
    struct intervals intervals;
};

// By which factor a promise counts: expected improvement per second (Snoek, Larochelle, Adams 2012)
// where `cost` is 1, times the chance of success where `chance` is 1.
static double worth(void *self, int query, const double *further)
{
    (void)query;
    const struct walk *w = self;
    double succeeds = fmin(fmax(further[LESSON_SUCCESS], LEAST_CHANCE), 1);
    return exp(-w->cost * further[LESSON_COST]) * pow(succeeds, w->chance);
}

static void weigh(struct walk *w, struct gp *g)
{
    if (w->cost == 0 && w->chance == 0)
        return;
    gp_keep(g, LESSON_FURTHER);
    g->worth = worth;
    g->judge = w;
}

static struct strategy *create(const struct search_problem *problem, uint64_t seed,
                               const double *option, struct err *e)
{
    (void)e;
    struct walk *w = mem_zero(1, sizeof *w);
    rounds_init(&w->rounds, problem);
    w->rounds.open = (int)option[OPTION_AHEAD];
    rng_seed(&w->rng, seed);
    w->refine = option[OPTION_REFINE];
    w->doubt = option[OPTION_DOUBT];
    w->cost = option[OPTION_COST];
    w->chance = option[OPTION_CHANCE];
    int points = (int)option[OPTION_POINTS];
    w->margin = option[OPTION_MARGIN];
    w->elite = mem_zero((size_t)option[OPTION_ELITES], sizeof *w->elite);
    coordinates_init(&w->coordinates, problem->space, option[OPTION_PROFILE] != 0);
    lessons_init(&w->lessons, &w->rounds, &w->coordinates, &w->looks, points,
                 (int)option[OPTION_LEARN]);
    w->lessons.apart = w->chance > 0;
    elsewhere_init(&w->elsewhere, problem, &w->coordinates, (int)option[OPTION_STARTS], seed);
    w->proposals = (struct proposals){.rounds = &w->rounds,
                                      .rng = &w->rng,
                                      .parents = (int)option[OPTION_ELITES],
                                      .children = (int)option[OPTION_CHILDREN],
                                      .strangers = (int)option[OPTION_STRANGERS],
                                      .others = elsewhere_most(&w->elsewhere),
                                      .places = (int)option[OPTION_NEAR],
                                      .reach = (int)option[OPTION_REACH],
                                      .q = option[OPTION_Q]};
    intervals_init(&w->intervals);
    leaving_init(&w->leaving, &w->rounds, &w->coordinates, &w->model);
    w->leaving.excursion.least = points ? option[OPTION_LEAVE] : 0;
    w->leaving.excursion.surprise = option[OPTION_SURPRISE];
    size_t most = (size_t)(proposals_most(&w->proposals) + w->rounds.open);
    int width = w->coordinates.count + STATISTIC_KIND_COUNT;
    w->x = mem_zero(most * (size_t)(width + 3), sizeof *w->x);
    w->mean = w->x + most * (size_t)width;
    w->deviation = w->mean + most;
    w->promise = w->deviation + most;
    gp_init(&w->model, w->coordinates.count, points + w->rounds.open, (int)most);
    weigh(w, &w->model);
    elsewhere_attach(&w->elsewhere, &w->model);
    w->looks.problem = &w->rounds.problem;
    w->look = problem->look && points ? (int)option[OPTION_LOOK] : 1;
    if (w->look > 1) {
        gp_init(&w->informed, width, points + w->rounds.open, LOOKS_MOST + w->rounds.open);
        weigh(w, &w->informed);
        elsewhere_attach(&w->elsewhere, &w->informed);
    }
    return &w->rounds.base;
}

// --- results ---

// What was expected of it; NULL: nothing.
static const struct foretold *foretold(const struct walk *w, int index)
{
    const struct foretold *f = &w->foretold[index % FORETOLD];
    return f->ask == index + 1 ? f : NULL;
}

static void take_result(struct walk *w)
{
    int index = w->lessons.results;
    lessons_told(&w->lessons, index);
    double fitness = w->rounds.fitness[index];
    const struct foretold *f = foretold(w, index);
    if (f && fitness > 0)
        intervals_told(&w->intervals, (fitness - f->mean) / f->deviation);
    excursion_told(&w->leaving.excursion, index, fitness, w->rounds.handed_out);
}

// --- candidates ---

// Returns the exploration weight for choosing among them.
static double gather(struct walk *w)
{
    struct proposals *p = &w->proposals;
    proposals_begin(p);
    for (int i = 0; i < p->places && i < w->lessons.valid; i++)
        proposals_add_neighbours(p, w->lessons.ranked[i]);
    if (p->count > 0 && rng_real(&w->rng) < w->refine)
        return w->doubt * w->margin;
    proposals_add_children(p, w->lessons.ranked, w->lessons.results);
    proposals_add_strangers(p);
    elsewhere_propose(&w->elsewhere, p);
    return w->margin;
}

// --- the choice ---

static bool is_shortlisted(const struct walk *w, const struct config *c)
{
    for (int i = 0; i < w->shortlisted; i++)
        if (config_equal(&w->proposals.candidate[w->shortlist[i]].config, c))
            return true;
    return false;
}

// Fills in what each candidate promises, by the coordinates alone. Where one is chosen, it is
// enough to know which promises the most.
static void find_promises(struct walk *w, double target)
{
    int width = w->coordinates.count;
    for (int i = 0; i < w->proposals.count; i++)
        coordinates_of(&w->coordinates, &w->proposals.candidate[i].config, w->x + i * width);
    if (w->look == 1) {
        gp_promise(&w->model, w->x, w->proposals.count, target, w->promise);
        return;
    }
    gp_predict(&w->model, w->x, w->proposals.count, w->mean, w->deviation);
    for (int i = 0; i < w->proposals.count; i++)
        w->promise[i] = gp_worth(&w->model, w->x + i * width, i) *
                        gp_expected_improvement(w->mean[i], w->deviation[i], target);
}

// The most promising candidates.
static void shortlist(struct walk *w, double target)
{
    find_promises(w, target);
    for (w->shortlisted = 0; w->shortlisted < w->look; w->shortlisted++) {
        double most = -INFINITY;
        int chosen = w->shortlisted ? -1 : 0;
        for (int i = 0; i < w->proposals.count; i++)
            if (w->promise[i] > most && !is_shortlisted(w, &w->proposals.candidate[i].config)) {
                most = w->promise[i];
                chosen = i;
            }
        if (chosen < 0)
            return;
        w->shortlist[w->shortlisted] = chosen;
    }
}

// Puts the one of the shortlist first that is the most promising by what the driver says of it.
static void choose_informed(struct walk *w, const struct preview *said)
{
    int width = w->informed.width, chosen = 0;
    double most = -INFINITY;
    lessons_teach(&w->lessons, &w->informed, &w->rng);
    double target = 1 + w->sought * w->informed.now.scale;
    for (int i = 0; i < w->shortlisted; i++) {
        const struct candidate *c = &w->proposals.candidate[w->shortlist[i]];
        coordinates_of(&w->coordinates, &c->config, w->x + i * width);
        looks_point(&said[i], w->x + i * width + w->coordinates.count);
    }
    gp_predict(&w->informed, w->x, w->shortlisted, w->mean, w->deviation);
    for (int i = 0; i < w->shortlisted; i++) {
        double promise = gp_worth(&w->informed, w->x + i * width, i) *
                         gp_expected_improvement(w->mean[i], w->deviation[i], target);
        if (said[i].fits && promise > most) {
            most = promise;
            chosen = i;
        }
    }
    w->shortlist[0] = w->shortlist[chosen];
    w->shortlisted = 1;
}

// False: some of it is being compiled.
static bool inform(struct walk *w)
{
    const struct search_problem *p = &w->rounds.problem;
    struct config c[LOOKS_MOST];
    struct preview said[LOOKS_MOST];
    for (int i = 0; i < w->shortlisted; i++)
        c[i] = w->proposals.candidate[w->shortlist[i]].config;
    bool known = looks_take(&w->looks, &w->rounds.visited.given, w->rounds.handed_out);
    if (!p->look(p->context, c, w->shortlisted, said) || !known)
        return false;
    choose_informed(w, said);
    return true;
}

// --- excursions ---

static struct leaving_now now(const struct walk *w)
{
    return (struct leaving_now){lessons_fitness(&w->lessons, 0), lessons_failed(&w->lessons),
                                w->lessons.results};
}

static bool probe(struct walk *w)
{
    struct candidate c = {0};
    if (!leaving_probe(&w->leaving, now(w), &w->rng, &c.config))
        return false;
    proposals_begin(&w->proposals);
    proposals_add(&w->proposals, &c);
    w->shortlist[w->shortlisted++] = 0;
    return true;
}

static bool follow(struct walk *w)
{
    const struct excursion *e = &w->leaving.excursion;
    proposals_begin(&w->proposals);
    for (int i = 0; i < e->owned; i++)
        proposals_add_neighbours(&w->proposals, e->own[i]);
    if (w->proposals.count == 0)
        return false;
    w->sought = 0;
    shortlist(w, leaving_target(&w->leaving, now(w)));
    return true;
}

// False: it stays at home.
static bool leave(struct walk *w)
{
    struct excursion *e = &w->leaving.excursion;
    enum excursion_trial next = excursion_next(e);
    bool left = next == TRIAL_PROBE ? probe(w) : next == TRIAL_FOLLOWS && follow(w);
    if (!left && next != TRIAL_HOME)
        excursion_end(e);
    return left;
}

static void stay(struct walk *w)
{
    double mean, deviation;
    w->sought = gather(w);
    if (w->proposals.count == 0)
        return;
    w->sought *= rng_real(&w->rng);
    shortlist(w, 1 + w->sought * w->model.now.scale);
    coordinates_of(&w->coordinates, &w->proposals.candidate[w->shortlist[0]].config, w->x);
    gp_predict(&w->model, w->x, 1, &mean, &deviation);
    excursion_promise(&w->leaving.excursion, gp_expected_improvement(mean, deviation, 1));
}

// --- rounds ---

// Finds what the round that is due may be made of.
static void prepare(struct walk *w)
{
    struct config warm;
    int asked = w->rounds.handed_out;
    while (w->lessons.results < asked - w->rounds.open)
        take_result(w);
    w->prepared = true;
    w->shortlisted = 0;
    if (asked < w->elsewhere.starts || w->lessons.results == 0 ||
        lessons_fitness(&w->lessons, 0) <= 0 || visited_warm(&w->rounds.visited, &warm))
        return;
    if (w->lessons.points) {
        if (elsewhere_weigh(&w->elsewhere, &w->rounds, w->lessons.results,
                            lessons_fitness(&w->lessons, 0), &w->rng))
            return;
        lessons_teach(&w->lessons, &w->model, &w->rng);
        if (!w->leaving.excursion.least || !leave(w))
            stay(w);
        return;
    }
    gather(w);
    if (w->proposals.count)
        w->shortlist[w->shortlisted++] = (int)rng_below(&w->rng, (uint64_t)w->proposals.count);
}

// What the model that chose it expects of the newest one, with the noise of a measurement.
static void foretell(struct walk *w, int index)
{
    const struct gp *g = &w->model;
    double mean, deviation, best = lessons_fitness(&w->lessons, 0);
    lessons_point(&w->lessons, g, index, w->x);
    gp_predict(&w->model, w->x, 1, &mean, &deviation);
    w->foretold[index % FORETOLD] = (struct foretold){
        index + 1, best * mean, best * hypot(deviation, sqrt(g->noise) * g->now.scale)};
}

static void make_round(void *self)
{
    struct walk *w = self;
    int size = w->rounds.number == 0 ? w->elsewhere.starts : 1;
    w->prepared = false;
    if (w->shortlisted) {
        const struct candidate *c = &w->proposals.candidate[w->shortlist[0]];
        leaving_follows(&w->leaving, now(w), &c->config);
        rounds_add(&w->rounds, &c->config, c->from[0] ? c->from : NULL);
        if (w->lessons.points)
            foretell(w, w->rounds.handed_out);
        return;
    }
    while (size-- > 0 && rounds_draw(&w->rounds, &w->rng))
        continue;
    if (w->rounds.number == 0)
        w->first = w->rounds.visited.given.count;
}

static enum ask ask(struct strategy *s, struct config *out)
{
    struct walk *w = (struct walk *)s;
    if (rounds_is_due(&w->rounds) && !w->prepared)
        prepare(w);
    if (w->prepared && w->shortlisted > 1 && !inform(w))
        return ASK_COMPILE;
    return rounds_ask(&w->rounds, out, make_round, w);
}

static bool forecast(struct strategy *s, struct forecast *out)
{
    const struct walk *w = (const struct walk *)s;
    const struct foretold *f = foretold(w, w->rounds.handed_out - 1);
    if (f)
        *out =
            (struct forecast){f->mean, f->deviation, w->intervals.half, w->intervals.nine_in_ten};
    return f != NULL;
}

static int population(const struct strategy *s, int most, struct individual *out)
{
    const struct walk *w = (const struct walk *)s;
    int count = 0;
    while (count < most && count < w->proposals.parents && count < w->lessons.results &&
           lessons_fitness(&w->lessons, count) > 0) {
        int index = w->lessons.ranked[count];
        config_set_get(&w->rounds.visited.given, index, &w->elite[count]);
        out[count] = (struct individual){.config = &w->elite[count],
                                         .ask = index + 1,
                                         .fitness = lessons_fitness(&w->lessons, count),
                                         .generation = index < w->first ? 0 : index - w->first + 1};
        count++;
    }
    return count;
}

static void destroy(struct strategy *s)
{
    struct walk *w = (struct walk *)s;
    rounds_finish(&w->rounds);
    gp_finish(&w->model);
    gp_finish(&w->informed);
    looks_finish(&w->looks);
    leaving_finish(&w->leaving);
    elsewhere_finish(&w->elsewhere);
    coordinates_finish(&w->coordinates);
    proposals_finish(&w->proposals);
    lessons_finish(&w->lessons);
    free(w->elite);
    free(w->x);
    free(w);
}

static const struct spec_option options[] = {
    [OPTION_STARTS] = {"starts", "random points before it breeds", 10, 1, 4096, true},
    [OPTION_ELITES] = {"elites", "results that breed", 8, 1, 4096, true},
    [OPTION_CHILDREN] = {"children", "bred for each trial", 40, 0, 4096, true},
    [OPTION_STRANGERS] = {"strangers", "drawn for each trial", 8, 0, 4096, true},
    [OPTION_NEAR] = {"near", "best results whose neighbours are candidates too", 6, 0, 64, true},
    [OPTION_REFINE] = {"refine", "chance that a trial has only those neighbours", 0.4, 0, 1, false},
    [OPTION_DOUBT] = {"doubt", "margin of such a trial, times as large", 2, 0, 1000, false},
    [OPTION_Q] = {"q", "mutation: chance of each further step of a walk", 0.2, 0.001, 0.999, false},
    [OPTION_POINTS] = {"points", "results the model learns from; 0: no model", 128, 0, 512, true},
    [OPTION_LEARN] = {"learn", "weights of the model tried at each trial", 2, 0, 1000, true},
    [OPTION_PROFILE] = {"profile", "knows of loops and memory, where declared", 1, 0, 1, true},
    [OPTION_MARGIN] = {"margin", "improvement sought, at most, in deviations", 0.8, 0, 100, false},
    [OPTION_REACH] = {"reach", "parameters of at most so many values may jump to any", 64, 0, 65536,
                      true},
    [OPTION_LEAVE] = {"leave",
                      "gain promised, as a share, below which it looks elsewhere; 0: never", 1e-5,
                      0, 1, false},
    [OPTION_SURPRISE] = {"surprise",
                         "deviations above what is known that it follows elsewhere; 0: the most", 0,
                         0, 100, false},
    [OPTION_LOOK] = LOOKS_OPTION,
    [OPTION_AHEAD] = {"ahead", "results not waited for (tune: workers - 1)", 0, 0, 255, true},
    [OPTION_COST] = {"cost", "promises are divided by the seconds expected, to that power", 2, 0,
                     100, false},
    [OPTION_CHANCE] = {"chance",
                       "promises are multiplied by the chance of success, to that power; 0: what "
                       "fails is a slow result",
                       0, 0, 100, false},
    {NULL},
};

const struct strategy_kind strategy_walk = {
    .name = "walk",
    .help = "evolution on the graphs of the parameters, screened by a model",
    .options = options,
    .learns = LEARNS_WEIGHED,
    .create = create,
    .ask = ask,
    .tell = rounds_tell,
    .took = rounds_took,
    .population = population,
    .generation = rounds_generation,
    .origin = rounds_origin,
    .forecast = forecast,
    .destroy = destroy,
};
