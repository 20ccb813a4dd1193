// Searches in rounds. A round is a batch of configurations that is made at once and handed out one
// by one; the next round is made when all of them were told. A search that sets `open` to n does
// not wait for the latest n results. What such searches share is the record of what was given, what
// came of it, and where it came from.
//
//     rounds_init(&r, problem);
//     rounds_ask(&r, out, make, self); // calls make(self) when a round must be made; that calls
//     rounds_add(&r, &c, from);        // this for each configuration; none: exhausted
//     rounds_tell(&r.base, &c, outcome, fitness);
//     rounds_finish(&r);
//
// The configuration at index i of `visited.given` was ask i + 1. Inside make() everything given was
// told, except perhaps the latest `open`. make() must not look at whether those were told: that
// depends on how many trials run at a time, and what a search asks must not. The results of the
// last round are those from `start` on. Every search in rounds proposes only what the problem calls
// legal. A struct rounds is not moved after rounds_init.
#ifndef TILEWALK_SEARCH_ROUNDS_H
#define TILEWALK_SEARCH_ROUNDS_H

#include "search/strategy.h"
#include "search/visited.h"

struct lineage {               // where a configuration comes from
    bool bred;                 // made from others; false: drawn, or given
    int ask[SPACE_MAX_PARAMS]; // `from` of rounds_add, where it was bred
};

// What a strategy in rounds begins with.
struct rounds {
    struct strategy base;
    struct search_problem problem;
    struct visited visited;
    double *fitness; // of what was told, by index
    int fitness_capacity;
    double *took_s; // compiling and measuring each, where rounds_took is told; 0: not known
    int took_capacity;
    int start;  // index of the first of the newest round
    int number; // rounds made
    int handed_out, told;
    int open; // how many results a round may be made without; 0 unless set after rounds_init
    struct lineage *lineage; // of the newest round
    int lineage_capacity;
};

void rounds_init(struct rounds *r, const struct search_problem *problem);
void rounds_finish(struct rounds *r);

bool rounds_is_due(const struct rounds *r); // whether rounds_ask would make one now
// Whether enough was told to plan a round that is to come, of rounds of one configuration: the next
// one, which is due then, or one behind `planned` others.
bool rounds_may_plan(const struct rounds *r, int planned);
enum ask rounds_ask(struct rounds *r, struct config *out, void (*make)(void *self), void *self);

// Adds `c`, which must be new and legal, to the round being made. `from`: for each parameter the
// ask that its value was taken from, 0 when it was drawn; NULL: all were drawn.
void rounds_add(struct rounds *r, const struct config *c, const int from[SPACE_MAX_PARAMS]);
bool rounds_draw(struct rounds *r, struct rng *rng); // adds what visited_draw gives; false: nothing
void rounds_add_warm(struct rounds *r);              // adds all warm points that are left

// A result of another search, as if it had been asked for and told here. What was given here before
// is passed over. Only while a round is due; without open trials (`open` is 0).
void rounds_hear(struct rounds *r, const struct config *c, double fitness);

// For the kind of a strategy in rounds.
void rounds_took(struct strategy *s, const struct config *c, double seconds);
void rounds_tell(struct strategy *s, const struct config *c, enum outcome o, double fitness);
bool rounds_origin(const struct strategy *s, int64_t ask[SPACE_MAX_PARAMS]);
int rounds_generation(const struct strategy *s);

// What the driver's compiler says of what a strategy has given, by index (visited.h), and of it as
// coordinates of a model.
//
//     struct looks l = {.problem = problem};
//     if (!looks_take(&l, &visited.given, handed_out)) return ASK_COMPILE;
//     looks_add(&l.given[index], x);
//     looks_finish(&l);

#define LOOKS_MOST 16

// The option of a strategy that looks.
#define LOOKS_OPTION                                                                               \
    {                                                                                              \
        "look", "compiled before one is chosen (tune: 3 where the driver tells)", 1, 1,            \
            LOOKS_MOST, true, NULL, true                                                           \
    }

struct looks {
    const struct search_problem *problem; // with a `look`
    struct preview *given;
    int count, capacity; // of those it knows: the first ones
};

void looks_finish(struct looks *l);

// Takes those of the first `count` that were given. False: some are being compiled.
bool looks_take(struct looks *l, const struct config_set *given, int count);

// log2(1 + n) / 8 of each number n, as coordinates of the profile are (coordinates.h); 0 for what
// the driver does not say.
void looks_point(const struct preview *said, double x[STATISTIC_KIND_COUNT]);

#endif
