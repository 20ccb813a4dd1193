// Text that a terminal may show. Untrusted texts (space files, databases, drivers, file names)
// may hold bytes that steer a terminal or forge what it shows: control characters of ASCII and C1,
// signs that turn the direction of writing, bytes that are no UTF-8. All of these are escaped
// ("\x1b", "\u202e", "\xff") by this one rule.
//
//     shown_add(&line, text)       a text within a line: line breaks are escaped, too
//     shown_streams(true)          from now on all that is printed is escaped, but for its line
//                                  breaks and tabs
//
// The workbench draws cells and checks each with shown_is_plain (ui/screen.c).
#ifndef TILEWALK_BASE_SHOWN_H
#define TILEWALK_BASE_SHOWN_H

#include "base/mem.h"
#include "base/str.h"

bool shown_is_plain(uint32_t glyph); // may the code point be sent to a terminal?

void shown_add(struct str *s, const char *text);
const char *shown_text(struct arena *a, const char *text); // the same, kept by `a`; NULL is ""

// Makes stderr, and stdout if `with_stdout`, escape what is printed. Call it once, before anything
// is printed.
void shown_streams(bool with_stdout);
void shown_clear_line(void); // the line of the cursor, on the terminal that stderr is

#endif
