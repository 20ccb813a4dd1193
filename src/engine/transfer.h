// What other sessions measured, for the model of a new one to begin with: `tune --transfer`.
//
//     transfer_choose(store, &wish, &arena, &t, e);     a new session: whose results
//     transfer_add_text(&t, &text);                     what it stores: "3:200 5:180"
//     transfer_parse(store, text, &arena, &t, e);       and is resumed with: the same results
//     problem.history = t.history, problem.history_count = t.count;
//     transfer_finish(&t);                              after the strategy
//
// A history is a session's measured configurations in the order told, in its own space, which its
// stored texts (or its recording) give again. Of a session that has gone on since, only what had
// been told when the new one was made counts; one that was deleted since is still there for those
// that learn from it.
#ifndef TILEWALK_ENGINE_TRANSFER_H
#define TILEWALK_ENGINE_TRANSFER_H

#include "record/record.h"
#include "script/script.h"
#include "search/strategy.h"
#include "store/store.h"

#define TRANSFER_MOST 16 // sessions, the newest of those that could be taken

struct transfer_source {
    int64_t session; // its number
    int64_t told;    // how many of its results are taken, from the first on; rejected ones count
    struct script *script;       // owns the session's space, or
    struct recording *recording; // owns it; the other is NULL
};

struct transfer {
    struct transfer_source *source; // [count], oldest first
    struct search_history *history; // [count]; both in the arena
    int count;
};

struct transfer_wish {
    const char *wanted;  // "auto", "none" or "3,5"; NULL: none
    bool any_device;     // "auto": of other devices too
    bool unasked;        // nobody said so
    const char *earlier; // "3,5": sessions that are taken too where they have results; NULL: none.
                         // Not used where `wanted` is "none", or "auto", which finds them itself
    const struct session_record *record; // of the new session: its device, source, operator
    const struct space *space;
};

// "auto" takes the sessions on the same device, or any, and source, of the same kind of operator,
// whose spaces have the same parameters, as far as they have valid results.
// False: a word is none of these, or a session that is named is not there or has no result.
bool transfer_choose(struct store *store, const struct transfer_wish *wish, struct arena *a,
                     struct transfer *out, struct err *e);
// Checks the words alone: whether the sessions that `wanted` names are there.
bool transfer_check(struct store *store, const char *wanted, struct arena *a, struct err *e);
bool transfer_parse(struct store *store, const char *text, struct arena *a, struct transfer *out,
                    struct err *e); // NULL: none
void transfer_add_text(const struct transfer *t, struct str *out);
int64_t transfer_results(const struct transfer *t); // of all
void transfer_finish(struct transfer *t);           // the spaces; fine when empty

#endif
