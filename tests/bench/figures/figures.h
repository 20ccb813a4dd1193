// The papers' figures, as a list: what is searched, by which strategies, how often, and how it is
// drawn. bench_figures.c makes them.
#ifndef TILEWALK_TESTS_FIGURES_H
#define TILEWALK_TESTS_FIGURES_H

#include <stdbool.h>

#define FIGURE_MOST_SETTINGS 12

// The devices of the recordings.
struct figure_driver {
    const char *folder; // beside this file: what its landscapes' names begin with
    const char *device, *driver, *date;
};

// One picture and one table each; the bits of figure_family.views.
enum figure_view {
    FIGURE_TRIALS = 1,
    FIGURE_TIME = 2,
    FIGURE_SPACE = 4, // against the share of the space that was tried
    FIGURE_BOXES = 8,
    FIGURE_COST = 16 // no picture of its own: times of a run are drawn, not speeds
};

struct figure_problem {
    const char *name;
    const char *landscape; // a recording beside this file; NULL: the machine that is made up
    const char *space;     // a preset, or a space file beside this one; NULL: the landscape's
    const char *set[FIGURE_MOST_SETTINGS]; // "N=512", up to a NULL
    int trials;                            // 0: the family's
    const char *before; // a preset of which a random search is what a model may begin with; NULL
};

struct figure_line {
    const char *strategy;
    const char *scheduler; // of a network; NULL: no network
    bool transfer;         // its model begins with the problem before
};

// A figure of each problem, with a line of each strategy.
struct figure_family {
    const char *name, *title;
    const char *paper; // Markdown: what the paper says, with its numbers
    const struct figure_problem *problem;
    const struct figure_line *line; // up to one without a strategy
    int problems, seeds, trials;
    unsigned views;
};

extern const struct figure_family figure_families[];
extern const int figure_family_count;
extern const struct figure_driver figure_drivers[]; // up to one without a folder

#endif
