// Whose results a session's model began with, as the database has it: "3:200 5:180" says the 200 of
// session 3 that were told first, then 180 of session 5.
//
//     struct history_part part;
//     for (const char *at = record.history; history_next(&at, &part);)
//         use(part.session, part.told);
#ifndef TILEWALK_STORE_HISTORY_H
#define TILEWALK_STORE_HISTORY_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct history_part {
    int64_t session, told;
};

// Reads the part that begins at *at, and moves there where the next one begins. False when there
// is none (*at is NULL or ""), or it is damaged; *at is as it was then. Pure.
bool history_next(const char **at, struct history_part *part);
// Appends a part, behind a blank where there are parts before it.
void history_add(struct str *text, const struct history_part *part);

#endif
