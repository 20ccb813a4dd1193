// The kernel of the trial that is selected: GLSL or SPIR-V, whatever became of the trial, alone or
// against the best one's. Rendered and compiled by a child (`tilewalk show`), never here.
#ifndef TILEWALK_UI_VIEW_KERNEL_H
#define TILEWALK_UI_VIEW_KERNEL_H

#include "app.h"
#include "kernel_listing.h"

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
