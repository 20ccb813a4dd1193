// Base of the strategies that propose in batches. A batch is made at once and handed out one
// configuration at a time. The next batch is made when all results are in; a strategy that sets
// `open` to n does not wait for the latest n results.
//
//     batches_init(&b, problem, make);
//     batches_ask(&b.base, out);       // calls make(&b) when a batch is due, which calls
//     batches_add(&b, &c, from);       // this for each configuration; an empty batch: exhausted
//     batches_tell(&b.base, &c, outcome, fitness);
//     batches_finish(&b);
//
// A strategy in batches is a struct that begins with a struct batches. The configuration at index i
// of `archive.given` was ask i + 1. Inside make() every result is observed, except perhaps the
// latest `open`. make() must not depend on which of those are observed: this follows from how many
// trials run at a time, and a search must propose the same for any number. The results of the last
// batch are those from `start` on. A strategy in batches proposes legal configurations only, unless
// it changes `archive.only_legal`. A struct batches is not moved after batches_init.
#ifndef TILEWALK_SEARCH_BATCHES_H
#define TILEWALK_SEARCH_BATCHES_H

#include "search/archive.h"
#include "search/strategy.h"

struct lineage {               // origin of a configuration
    bool bred;                 // false: it was drawn, or given by a warm start
    int ask[SPACE_MAX_PARAMS]; // `from` of batches_add, where it was bred
};

struct batches {
    struct strategy base; // first: a strategy in batches is a struct batches
    struct search_problem problem;
    struct archive archive;
    void (*make)(void *self);
    double *fitness; // of each result, by index
    int fitness_capacity;
    double *took_s; // seconds to compile and measure each, where batches_took is called; 0: unknown
    int took_capacity;
    int start;  // index of the first configuration of the newest batch
    int number; // batches made
    int handed_out, observed;
    int open; // number of results that a batch may be made without; 0 unless set after batches_init
    struct lineage *lineage; // of the newest batch
    int lineage_capacity;
};

void batches_init(struct batches *b, const struct search_problem *problem,
                  void (*make)(void *self));
void batches_finish(struct batches *b);

// Returns true if enough is observed to plan a future batch of one configuration: the next one,
// which is due then, or the one behind `planned` others.
bool batches_may_plan(const struct batches *b, int planned);

// Adds `c`, which must be new and legal, to the batch being made. `from`: for each parameter the
// ask that its value was taken from, 0 if it was drawn; NULL: all were drawn.
void batches_add(struct batches *b, const struct config *c, const int from[SPACE_MAX_PARAMS]);
void batches_add_child(struct batches *b, const struct config *c, int parent); // `parent`: an index
bool batches_draw(struct batches *b, struct rng *rng); // adds what archive_draw gives, if anything
void batches_add_warm(struct batches *b);              // adds all warm points that are left
int batches_added(const struct batches *b);            // size of the batch being made

// Takes over a result of another search, unless this search has proposed the configuration too.
// Only while a batch is due, and where `open` is 0.
void batches_import(struct batches *b, const struct config *c, double fitness);

// The functions below are members of the strategy_kind of a strategy in batches.
enum ask batches_ask(struct strategy *s, struct config *out);
void batches_took(struct strategy *s, const struct config *c, double seconds);
void batches_tell(struct strategy *s, const struct config *c, enum outcome o, double fitness);
bool batches_origin(const struct strategy *s, int64_t ask[SPACE_MAX_PARAMS]);
int batches_generation(const struct strategy *s);

// Compile probes: the compiler's statistics of proposed configurations, by index, and as
// coordinates of a model.
//
//     struct compile_probes p = {.problem = problem};
//     if (!compile_probes_take(&p, &archive.given, handed_out)) return ASK_COMPILE;
//     compile_probe_coordinates(&p.given[index], x);
//     compile_probes_finish(&p);

#define PROBES_MOST 16

// The option of a strategy that compiles candidates before it chooses.
#define LOOK_OPTION                                                                                \
    {                                                                                              \
        "look", "compiled before one is chosen (tune: 3 where the driver tells)", 1, 1,            \
            PROBES_MOST, true, NULL, true                                                          \
    }

struct compile_probes {
    const struct search_problem *problem; // has a `probe`
    struct compile_probe *given;
    int count, capacity; // the first `count` configurations are known
};

void compile_probes_finish(struct compile_probes *p);

// Takes the statistics of the first `count` configurations. False: some are being compiled.
bool compile_probes_take(struct compile_probes *p, const struct config_set *given, int count);

// Computes log2(1 + n) / 8 of each number n, the scale of the profile (coordinates.h); 0 for a
// number that the driver does not report.
void compile_probe_coordinates(const struct compile_probe *probe, double x[STATISTIC_KIND_COUNT]);

#endif
