// Manual pages: one for each command, and one over all. Synopsis, options, files and environment
// follow from the table of commands (command.h); what that does not say is in manual_pages.
#ifndef TILEWALK_CLI_MANUAL_H
#define TILEWALK_CLI_MANUAL_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>

enum { MANUAL_EXAMPLES = 5 };

struct manual_example {
    const char *line; // a command line
    const char *what; // what it does, a sentence
};

struct manual_page {
    const char *command;
    const char *more; // sentences behind the command's help
    struct manual_example example[MANUAL_EXAMPLES];
    const char *see;  // other commands, "resume show"
    const char *bugs; // a sentence on what it cannot do; NULL: nothing is known
};

extern const struct manual_page manual_pages[]; // ends with a NULL command

// Appends the page of a command, "" for the overview, in the man macros of roff; false: there is no
// such command.
bool manual_add_page(const char *command, struct str *out);

// Writes all pages into a folder, which it makes: tilewalk.1, tilewalk-tune.1, ...
bool manual_write_pages(const char *folder, struct err *e);

#endif
