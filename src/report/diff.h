// What differs between two texts, line by line.
//
//     struct diff d = diff_lines(before, after);
//     for (int i = 0; i < d.count; i++) ... d.line[i].side, d.line[i].text, d.line[i].length
//     diff_finish(&d);
//
// Patience diff (Cohen 2008): lines that stand once in each text and in the same order in both hold
// the rest together; between them the same again, down to where no such line is left, and there all
// is other but for equal beginnings and ends. O(n log n), and blocks of code stay whole.
#ifndef TILEWALK_REPORT_DIFF_H
#define TILEWALK_REPORT_DIFF_H

#include "base/str.h"

#include <stddef.h>

enum diff_side { DIFF_SAME, DIFF_BEFORE, DIFF_AFTER }; // in both, in one of them only

struct diff_line {
    enum diff_side side;
    const char *text; // in the texts that were given, without its newline
    size_t length;
    int before, after; // its number there, from 0; that of the next one where it is not there
};

struct diff {
    struct diff_line *line;
    int count, capacity;
};

struct diff diff_lines(const char *before, const char *after);
// As `diff -u` writes it, without its first two lines: what differs, with `context` lines around.
void diff_add_text(const struct diff *d, int context, struct str *out);
void diff_finish(struct diff *d);

#endif
