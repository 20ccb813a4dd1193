// Differences between two texts, line by line.
//
//     struct diff d = diff_lines(before, after);
//     for (int i = 0; i < d.count; i++) ... d.line[i].side, d.line[i].text, d.line[i].length
//     diff_finish(&d);
//
// Patience diff (Cohen 2008): lines that occur once in each text, in the same order in both, are
// matched; the lines between them are compared in the same way. Where no such line is left, all
// lines differ except for equal beginnings and ends. O(n log n), and blocks of code stay whole.
#ifndef TILEWALK_REPORT_DIFF_H
#define TILEWALK_REPORT_DIFF_H

#include "base/str.h"

#include <stddef.h>

enum diff_side { DIFF_SAME, DIFF_BEFORE, DIFF_AFTER }; // in both, in one of them only

struct diff_line {
    enum diff_side side;
    const char *text; // in the texts that were given, without its newline
    size_t length;
    int before, after; // its number in each text, from 0; where it is absent, that of the next line
};

struct diff {
    struct diff_line *line;
    int count, capacity;
};

struct diff diff_lines(const char *before, const char *after);

struct diff_hunk {
    int first, end;           // lines of the diff
    int before, before_count; // lines of each text, as a hunk's header names them
    int after, after_count;
};

// Finds the hunk behind `*h` (zeroed: the first one), with `context` lines around each difference.
// False: there is none.
bool diff_next_hunk(const struct diff *d, int context, struct diff_hunk *h);
void diff_add_head(const struct diff_hunk *h, struct str *out); // "@@ -3,7 +3,9 @@"
// Appends all hunks, as `diff -u` writes them without its first two lines.
void diff_add_text(const struct diff *d, int context, struct str *out);
void diff_finish(struct diff *d);

#endif
