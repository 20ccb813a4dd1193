// What is printed when the workbench has gone: what became of the runs that were started in it.
#ifndef TILEWALK_UI_FAREWELL_H
#define TILEWALK_UI_FAREWELL_H

#include "job.h"

// One line for each session of `j->past`, to stdout.
void farewell_print(const struct jobs *j, const char *database);

#endif
