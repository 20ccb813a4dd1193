// The kernel of the trial that is selected: GLSL or SPIR-V, whatever became of the trial, alone or
// against the best one's. Rendered and compiled by a child (`tilewalk show`), never here.
#ifndef TILEWALK_UI_VIEW_KERNEL_H
#define TILEWALK_UI_VIEW_KERNEL_H

#include "app.h"
#include "report/diff.h"

#include <stdbool.h>
#include <stdint.h>

// The kernel of a trial as `tilewalk show ID --ask N --glsl --lined` tells it, and what of it is
// unlike another one.
//
//     listing_take(&l, output, exit_code);
//     kernel_rows_make(&rows, &best, &l);   with what only the best has; NULL: `l` alone
//     kernel_rows_finish(&rows); listing_finish(&l);
//
// The lines that are told: "fact US text" (about the trial), "file US path" (of the template from
// here on), "12 US text" (of the kernel; the line of its template, 0: it has none), where US is the
// unit separator of ASCII. All else is what a program says that failed. No view, no model.

struct kernel_line {
    const char *text, *file; // in `output`
    int at;                  // line of the file; 0: none
};

struct listing {
    int64_t session, ask; // whose it is; 0: nothing was asked for
    bool spirv;
    bool told; // else it is awaited
    char *output;
    struct kernel_line *line;
    int count, capacity;
    const char *fact[8];
    int facts;
    char trouble[1024]; // why there is none; "": there is
};

// `output`: all that the program printed. Keeps session, ask and language.
void listing_take(struct listing *l, const char *output, int exit_code);
void listing_finish(struct listing *l); // forgets all

struct kernel_row {
    const struct kernel_line *line;
    enum diff_side side;
};

struct kernel_rows {
    struct kernel_row *row;
    int count, capacity;
};

void kernel_rows_make(struct kernel_rows *r, const struct listing *best, const struct listing *l);
void kernel_rows_finish(struct kernel_rows *r);

struct kernel_view {
    struct listing shown, best;
    struct listing *asked; // of the two, the one that a child is asked for; NULL: none is
    bool spirv, against_best;
    struct kernel_rows rows;
    struct list list;
    int skip;               // columns
    char search[LINE_SIZE]; // "": nothing is looked for
};

// What a child has answered; for jobs, and for tests.
void view_kernel_told(struct app *app, const char *output, int exit_code);

#endif
