// The lines of the log: messages of the open session, its new bests, and what was said on this side
// of the database, in order of time.
//
//     struct entries l = {0};
//     entries_collect(&l, app, LEVEL_INFO, "worker");     as often as wanted
//     l.entry[0] .. l.entry[l.count - 1]                  until the model changes
//     entries_finish(&l);
#ifndef TILEWALK_UI_VIEW_LOG_H
#define TILEWALK_UI_VIEW_LOG_H

#include "app.h"

#define ENTRY_BEST_SIZE 96

enum level { LEVEL_DEBUG, LEVEL_INFO, LEVEL_WARNING, LEVEL_ERROR, LEVEL_COUNT };

extern const char *const entry_levels[LEVEL_COUNT]; // their names

struct entry {
    int64_t id; // of the message; negative: of a line of this process, or of a new best
    double at;
    enum level level;
    const char *word, *text; // the model's, the app's, or in `best`
};

struct entries {
    struct entry *entry;
    int count, capacity;
    char (*best)[ENTRY_BEST_SIZE]; // texts of new bests
};

// Those of that level and above whose text contains `filter`, whatever its case.
void entries_collect(struct entries *l, const struct app *app, enum level least,
                     const char *filter);
int entries_find(const struct entries *l, int64_t id); // -1: it is not among them
void entries_finish(struct entries *l);

#endif
