// The words of messages, recorded in one file for each folder of tests, tests/FOLDER/messages.txt.
// A change of words is one command (TILEWALK_UPDATE_GOLDEN=1 writes them anew) and one visible
// difference; what users rely on, the tests assert themselves.
//
//     struct wording r;
//     wording_begin(&r, "script", "define");
//     wording_add(&r, "size('N', 0)", "a.lua:1: size 'N' is 0");   what was tried, what it gave
//     wording_end(&r);                    fails the running test where the file has other words
//
// The file is a list of parts in the order of their names. A part is a line "== NAME", then for
// each case what was tried and, indented, what it gave.
#ifndef TILEWALK_TESTS_WORDING_H
#define TILEWALK_TESTS_WORDING_H

#include "base/str.h"

struct wording {
    const char *folder, *part;
    struct str text;
};

void wording_begin(struct wording *r, const char *folder, const char *part);
// What was tried is written in one line, a message of several lines in as many.
void wording_add(struct wording *r, const char *tried, const char *message);
void wording_end(struct wording *r);

// A part of one case, whose name says what was tried.
void wording_is(const char *folder, const char *part, const char *message);

#endif
