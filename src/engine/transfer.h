// The training set of a new session's model from other sessions, `tune --transfer`; and warm
// starts.
//
//     transfer_choose(store, &wish, &arena, &t, e);     the sessions, for a new one
//     transfer_add_text(&t, &text);                     as it stores them: "3:200 5:180"
//     transfer_parse(store, text, &arena, &t, e);       and is resumed with the same results
//     problem.history = t.history, problem.history_count = t.count;
//     transfer_finish(&t);                              after the strategy
//
// A history is a session's measured configurations in the order told, in its own space, which its
// stored texts (or its recording) give again. Where a session has gone on since, only the results
// count that it had when the new one was made; one that was deleted since is still there for those
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
    bool is_default;     // the default, not the user's
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
// Checks the words alone: the sessions that `wanted` names have to be there.
bool transfer_check(struct store *store, const char *wanted, struct arena *a, struct err *e);
bool transfer_parse(struct store *store, const char *text, struct arena *a, struct transfer *out,
                    struct err *e); // NULL: none
void transfer_add_text(const struct transfer *t, struct str *out);
void transfer_finish(struct transfer *t); // the spaces; fine when empty

// Warm starts: the best configurations of a session, written down so that another session, of
// another shape or on another machine, can begin with them.
//
//     warm_add_record(store, id, 8, &text, &n, e);      `export --as warm-start`
//     warm_read(store, "best.json,3", &problem, &arena, &warm, e);   `tune --warm-start` reads it
//     warm_add_keys(space, &warm, &keys);            as a session stores it
//     warm_parse(space, keys, &arena, &warm, e);     and is resumed from it
//
// A record names its values by parameter, so that it means something in another space with the same
// parameters: values become the nearest there are (space/nearest.h), and a configuration that is
// illegal then becomes the nearest legal one. docs/reference/exports.md describes the format.

#define WARM_FORMAT         "tilewalk-start"
#define WARM_FORMAT_VERSION 1
#define WARM_BASELINE       "baseline" // the source: what the space declares as in use
#define WARM_NONE           "none"     // instead of sources: begin with nothing
#define WARM_STANDARD       8          // of one session
#define WARM_MOST           64         // of all together

struct warm_start {
    struct config *config; // different ones, all legal, best first within each source
    int count;
    int moved;    // of these, how many are not exactly those of the source
    int left_out; // configurations for which nothing legal near them was found
    int skipped;  // points of the space's beginning that cannot run here
};

// Takes the default of a session: the baselines of its space that fit here, if there are any, and
// on a device the points that the space begins with, as far as they can run there. Recordings and
// synthetic landscapes are searched without these: there strategies are compared.
void warm_take_standard(const struct search_problem *problem, bool on_device, struct arena *a,
                        struct warm_start *out);

// `sources`: names of files, numbers of sessions and WARM_BASELINE, joined by commas. False when
// one cannot be read, has other parameters, or has nothing that fits.
bool warm_read(struct store *store, const char *sources, const struct search_problem *problem,
               struct arena *a, struct warm_start *out, struct err *e);

// First guesses, `tune --seed-from`: a file of JSON lines, each an object of values by parameter,
// or with "configuration" such an object; "-" is the standard input. Values become the nearest
// there are, and an illegal configuration the nearest legal one. `out` has each one once, at most
// GUESSES_MOST. False when the file cannot be read or a line is none of this.
#define GUESSES_MOST 4096
bool guesses_read(const char *path, const struct search_problem *problem, struct arena *a,
                  struct warm_start *out, struct err *e);

// Adds the best `most` of a session as JSON, with their device and driver; `count`: how many there
// were.
bool warm_add_record(struct store *store, int64_t session, int most, struct str *out,
                     int64_t *count, struct err *e);

// Keys are the slots, "16,4,16 8,8,16"; NULL: none.
void warm_add_keys(const struct space *space, const struct warm_start *w, struct str *out);
bool warm_parse(const struct space *space, const char *keys, struct arena *a,
                struct warm_start *out, struct err *e);

#endif
