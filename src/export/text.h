// An export that is one file of text: whether it may be written, writing it, saying so.
#ifndef TILEWALK_EXPORT_TEXT_H
#define TILEWALK_EXPORT_TEXT_H

#include "base/err.h"
#include "base/str.h"

struct export_text {
    const char *path;
    bool replaces; // a file that is there is not in the way
    bool json;     // how to say it
    struct str text;
    int64_t entries;   // what is in it
    const char *what;  // one of it: "trial"
    struct str detail; // more about them, for people; may be empty
};

bool export_text_may_write(const struct export_text *t, struct err *e);
bool export_text_write(const struct export_text *t, struct err *e);

#endif
