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
// (informed), which knows what it says of all, chooses among those that fit. Meanwhile those of the
// next rounds are (shortlists.h).
#include "model/gp.h"
#include "search/elsewhere.h"
#include "search/informed.h"
#include "search/restart.h"

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
    OPTION_SHORTLISTS,
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
    struct shortlists shortlists;
    struct config *planned; // the first of each: [shortlists.most]
    int look;               // how many are compiled before one is chosen; 1: none
    struct informed informed;
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
    lessons_init(&w->lessons, &w->rounds, &w->coordinates, &w->informed.looks, points,
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
    w->informed.looks.problem = &w->rounds.problem;
    w->look = problem->look && points ? (int)option[OPTION_LOOK] : 1;
    int at_once = w->look > 1 ? (int)option[OPTION_SHORTLISTS] : 1;
    shortlists_init(&w->shortlists, at_once < w->rounds.open ? at_once : fmax(w->rounds.open, 1));
    w->lessons.planned = w->planned = mem_zero((size_t)w->shortlists.most, sizeof *w->planned);
    if (w->look > 1) {
        informed_init(&w->informed, &w->rounds, &w->lessons, points);
        weigh(w, &w->informed.model);
        elsewhere_attach(&w->elsewhere, &w->informed.model);
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

// Fills in what the model expects of each, with the noise of a measurement. Returns the expected
// gain of the first, without, as a share of the best.
static double foretell(struct walk *w, struct shortlist *s)
{
    const struct gp *g = &w->model;
    double best = lessons_fitness(&w->lessons, 0), gain = 0;
    for (int i = 0; i < s->count; i++) {
        double mean, deviation;
        coordinates_of(&w->coordinates, &s->candidate[i].config, w->x);
        gp_predict(&w->model, w->x, 1, &mean, &deviation);
        gain = i ? gain : gp_expected_improvement(mean, deviation, 1);
        s->mean[i] = best * mean;
        s->deviation[i] = best * hypot(deviation, sqrt(g->noise) * g->now.scale);
    }
    return gain;
}

// Returns what foretell does.
static double shortlist(struct walk *w, struct shortlist *s, double target)
{
    find_promises(w, target);
    shortlist_fill(s, &w->shortlists, &w->proposals, w->promise, w->look);
    return foretell(w, s);
}

// --- excursions ---

static struct leaving_now now(const struct walk *w)
{
    return (struct leaving_now){lessons_fitness(&w->lessons, 0), lessons_failed(&w->lessons),
                                w->lessons.results};
}

static bool probe(struct walk *w, struct shortlist *s)
{
    struct candidate c = {0};
    if (!leaving_probe(&w->leaving, now(w), &w->rng, &c.config))
        return false;
    s->candidate[s->count++] = c;
    foretell(w, s);
    return true;
}

static bool follow(struct walk *w, struct shortlist *s)
{
    const struct excursion *e = &w->leaving.excursion;
    proposals_begin(&w->proposals);
    for (int i = 0; i < e->owned; i++)
        proposals_add_neighbours(&w->proposals, e->own[i]);
    if (w->proposals.count == 0)
        return false;
    s->sought = 0;
    s->follows = true;
    shortlist(w, s, leaving_target(&w->leaving, now(w)));
    return true;
}

// False: it stays at home.
static bool leave(struct walk *w, struct shortlist *s)
{
    struct excursion *e = &w->leaving.excursion;
    enum excursion_trial next = excursion_next(e);
    bool left = next == TRIAL_PROBE ? probe(w, s) : next == TRIAL_FOLLOWS && follow(w, s);
    if (!left && next != TRIAL_HOME)
        excursion_end(e);
    return left;
}

// --- rounds ---

static void fill(struct walk *w, struct shortlist *s)
{
    struct config warm;
    if (w->rounds.handed_out < w->elsewhere.starts || w->lessons.results == 0 ||
        lessons_fitness(&w->lessons, 0) <= 0 || visited_warm(&w->rounds.visited, &warm))
        return;
    if (w->lessons.points) {
        if (elsewhere_weigh(&w->elsewhere, &w->rounds, w->lessons.results,
                            lessons_fitness(&w->lessons, 0), &w->rng))
            return;
        lessons_teach(&w->lessons, &w->model, &w->rng);
        if (!w->leaving.excursion.least || !leave(w, s)) {
            s->sought = gather(w);
            if (w->proposals.count != 0) {
                s->sought *= rng_real(&w->rng);
                double gain = shortlist(w, s, 1 + s->sought * w->model.now.scale);
                if (s->count)
                    excursion_promise(&w->leaving.excursion, gain);
            }
        }
        return;
    }
    gather(w);
    if (w->proposals.count)
        s->candidate[s->count++] =
            w->proposals.candidate[rng_below(&w->rng, (uint64_t)w->proposals.count)];
}

// False: not before another result is in. How many are waited for follows from what was asked, not
// from when the driver is done, and so does what is asked for.
static bool plan(struct walk *w)
{
    while (shortlists_have_room(&w->shortlists)) {
        if (!rounds_may_plan(&w->rounds, w->shortlists.count))
            return false;
        // Makes the shortlist of a round that is to come. An excursion begins, and goes on, with
        // nothing before it that is not asked for.
        struct shortlists *l = &w->shortlists;
        while (w->lessons.results < w->rounds.handed_out + l->count - w->rounds.open) {
            int index = w->lessons.results;
            lessons_told(&w->lessons, index);
            double fitness = w->rounds.fitness[index];
            const struct foretold *f = foretold(w, index);
            if (f && fitness > 0)
                intervals_told(&w->intervals, (fitness - f->mean) / f->deviation);
            excursion_told(&w->leaving.excursion, index, fitness,
                           w->rounds.handed_out + w->shortlists.count);
        }
        l->closed = l->count && w->leaving.excursion.least &&
                    excursion_next(&w->leaving.excursion) != TRIAL_HOME;
        if (!l->closed) {
            for (int i = 0; i < l->count; i++)
                w->planned[i] = l->of[i].candidate[0].config;
            w->lessons.plans = l->count;
            struct shortlist *s = shortlists_add(l);
            fill(w, s);
            l->closed = s->count <= 1;
            if (l->most > 1 && !l->closed)
                informed_look(&w->informed, s);
            // so that it is compiled while those before it are
        }
    }
    return true;
}

static void make_round(void *self)
{
    struct walk *w = self;
    const struct shortlist *s = &w->shortlists.of[0];
    int size = w->rounds.number == 0 ? w->elsewhere.starts : 1, index = w->rounds.handed_out;
    if (s->count) {
        const struct candidate *c = &s->candidate[0];
        if (s->follows)
            leaving_follows(&w->leaving, now(w), &c->config);
        rounds_add(&w->rounds, &c->config, c->from[0] ? c->from : NULL);
        if (w->lessons.points)
            w->foretold[index % FORETOLD] =
                (struct foretold){index + 1, s->mean[0], s->deviation[0]};
    } else
        while (size-- > 0 && rounds_draw(&w->rounds, &w->rng))
            continue;
    if (w->rounds.number == 0)
        w->first = w->rounds.visited.given.count;
    shortlists_drop(&w->shortlists);
}

static enum ask ask(struct strategy *s, struct config *out)
{
    struct walk *w = (struct walk *)s;
    if (rounds_may_plan(&w->rounds, 0)) {
        if (!plan(w))
            return ASK_WAIT;
        if (w->shortlists.of[0].count > 1 &&
            !informed_choose(&w->informed, &w->shortlists.of[0], &w->rng))
            return ASK_COMPILE;
    }
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
    informed_finish(&w->informed);
    leaving_finish(&w->leaving);
    shortlists_finish(&w->shortlists);
    free(w->planned);
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
    [OPTION_SURPRISE] =
        {"surprise", "deviations above what is known that it follows elsewhere at once; 0: none",
         2.5, 0, 100, false},
    [OPTION_LOOK] = LOOKS_OPTION,
    [OPTION_SHORTLISTS] = {"shortlists",
                           "rounds whose candidates are compiled at a time, up to `ahead` (tune: 2 "
                           "where it looks)",
                           1, 1, 255, true, NULL, true},
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
