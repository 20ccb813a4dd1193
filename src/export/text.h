// An export that is one file of text: checks that it may be written, writes it, and reports it.
#ifndef TILEWALK_EXPORT_TEXT_H
#define TILEWALK_EXPORT_TEXT_H

#include "base/err.h"
#include "base/str.h"

struct export_text {
    const char *path;
    bool replaces; // an existing file may be replaced
    bool json;     // report in JSON
    struct str text;
    int64_t entries;   // number of entries in the file
    const char *what;  // name of an entry: "trial"
    struct str detail; // more about the entries, for people; may be empty
};

bool export_text_may_write(const struct export_text *t, struct err *e);
bool export_text_write(const struct export_text *t, struct err *e);

#endif
