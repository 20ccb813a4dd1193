// The sessions behind the figures: made once, kept, found again by their notes.
#ifndef TILEWALK_TESTS_FIGURE_SESSIONS_H
#define TILEWALK_TESTS_FIGURE_SESSIONS_H

#include "figures.h"

#include <stdbool.h>
#include <stdint.h>

struct figure_size {
    bool full;        // on the device, with the papers' sizes; else from recordings and the machine
    int seeds;        // 0: as listed
    int trials;       // of a session at most; 0: as listed
    int seconds;      // of a session at most; 0: no limit
    const char *only; // figures whose names begin so; NULL: all
};

struct figure_run {
    const struct figure_family *family;
    const struct figure_problem *problem;
    const struct figure_line *line; // its strategy NULL: a random search to transfer from
    int seed;
    int64_t session; // 0: none yet
    bool done;
    double best;  // TFLOPS, as the database has it; NAN: of no one search (networks, races, none)
    char *points; // of its space, exactly; "" before it is stored, and of networks
    char *note;   // what names it in the database
};

struct figure_runs {
    struct figure_run *run;
    int count, capacity;
    const char *db;
    struct figure_size size;
};

// Which there are to be, and which of them the database has.
void figure_runs_list(struct figure_runs *r, const char *db, const struct figure_size *size);
// Prints a line of each figure: its sessions, their trials, and how many are done.
void figure_runs_print(const struct figure_runs *r);
// Makes those that are missing and goes on with those that were interrupted, `jobs` at a time.
void figure_runs_make(struct figure_runs *r, int jobs);
void figure_runs_forget(struct figure_runs *r);

bool figure_is_wanted(const struct figure_family *f, const struct figure_problem *p,
                      const struct figure_size *size);
char *figure_name(const struct figure_family *f, const struct figure_problem *p); // the caller's
char *figure_line_text(const struct figure_line *l);                              // the caller's
char *figure_path(const char *file); // of a file beside figures.c; the caller's
int figure_seeds(const struct figure_family *f, const struct figure_size *size);

#endif
