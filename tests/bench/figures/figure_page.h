// Pictures and tables of the figures, by `tilewalk compare`, and the page that holds them.
#ifndef TILEWALK_TESTS_FIGURE_PAGE_H
#define TILEWALK_TESTS_FIGURE_PAGE_H

#include "figure_sessions.h"

// Writes NAME.svg, .png, .md and .csv of each view, and figures.md, into the folder.
void figure_page_write(const struct figure_runs *r, const char *folder, const char *command);

#endif
