// Pictures and tables of the figures, by `tilewalk compare`, and the page that holds them. Every
// table says of which device and driver its trials are, which seeds, when and by what command.
#ifndef TILEWALK_TESTS_FIGURE_PAGE_H
#define TILEWALK_TESTS_FIGURE_PAGE_H

#include "figure_sessions.h"

// Writes into the folder: NAME.svg, .png, .md and .csv of each view; FAMILY.md and .csv, its
// problems and strategies side by side; random.md and .csv; figures.md, all of them with the
// papers' own numbers.
void figure_page_write(const struct figure_runs *r, const char *folder, const char *command);

#endif
