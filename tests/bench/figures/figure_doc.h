// A page of prose that holds what the command wrote: between `<!-- NAME.md -->` and `<!-- end -->`
// stands that file of the folder, and the pictures that the page shows out of `figures/` are its.
#ifndef TILEWALK_TESTS_FIGURE_DOC_H
#define TILEWALK_TESTS_FIGURE_DOC_H

// Writes the page anew, and the pictures beside it. Ends the program where a file is not there: the
// page has to be whole.
void figure_doc_fill(const char *page, const char *folder);

// Only the mark of that name, with this table; all else stays. Ends the program where there is no
// such mark.
void figure_doc_fill_one(const char *page, const char *name, const char *table);

#endif
