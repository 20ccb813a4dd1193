// The kernel of the selected trial: GLSL or SPIR-V, for any outcome of the trial, alone or compared
// with the best one. A child (`tilewalk show`) renders and compiles it, never this process.
#ifndef TILEWALK_UI_VIEW_KERNEL_H
#define TILEWALK_UI_VIEW_KERNEL_H

#include "app.h"

// Takes the answer of a child; for jobs, and for tests.
void view_kernel_answer(struct app *app, const char *output, int exit_code);

#endif
