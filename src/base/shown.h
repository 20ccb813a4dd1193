// What a terminal gets to see. Texts of strangers (space files, databases, drivers, file names) may
// hold what steers a terminal or forges what it shows: control characters of ASCII and C1, signs
// that turn the direction of writing, bytes that are no UTF-8. All of that is written out ("\x1b",
// "\u202e", "\xff") by this one rule.
//
//     shown_add(&line, text)       a text within a line: line breaks are written out, too
//     shown_streams(true)          from now on whatever is printed comes through here, its lines
//                                  and tabs as they are
//
// The workbench draws cells and asks shown_is_plain for each (ui/screen.c).
#ifndef TILEWALK_BASE_SHOWN_H
#define TILEWALK_BASE_SHOWN_H

#include "base/mem.h"
#include "base/str.h"

bool shown_is_plain(uint32_t glyph); // whether a code point may be sent to a terminal

void shown_add(struct str *s, const char *text);
const char *shown_text(struct arena *a, const char *text); // the same, kept by `a`; NULL is ""

// From now on stderr, and stdout if `with_stdout`, get only what a terminal may see. To be called
// once, before anything is printed.
void shown_streams(bool with_stdout);
// Clears the line that the cursor is in, on the terminal that stderr is.
void shown_clear_line(void);

#endif
