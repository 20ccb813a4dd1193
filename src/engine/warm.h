// Warm starts: the best configurations of a session, written down so that another session, of
// another shape or on another machine, can begin with them.
//
//     warm_add_record(store, id, 8, &text, &n, e);      what `export --warm-start` writes
//     warm_read(store, "best.json,3", &problem, &arena, &warm, e);   what `tune --warm-start` reads
//     warm_add_keys(space, &warm, &keys);            what a session stores
//     warm_parse(space, keys, &arena, &warm, e);     and is resumed from
//
// A record names its values by parameter, so that it means something in another space with the same
// parameters: values become the nearest there are (space/nearest.h), and a configuration that is
// illegal then becomes the nearest legal one. docs/exports.md describes the format.
#ifndef TILEWALK_ENGINE_WARM_H
#define TILEWALK_ENGINE_WARM_H

#include "search/strategy.h"
#include "store/store.h"

#define WARM_FORMAT         "tilewalk-start"
#define WARM_FORMAT_VERSION 1
#define WARM_BASELINE       "baseline" // the source that is what the space declares as in use
#define WARM_NONE           "none"     // what is named instead of sources, to begin with nothing
#define WARM_STANDARD       8          // of one session
#define WARM_MOST           64         // of all together

struct warm_start {
    struct config *config; // different ones, all legal, best first within each source
    int count;
    int moved;    // of these, how many are not exactly what was asked for
    int left_out; // configurations for which nothing legal near them was found
};

// What a session begins with of which nothing else was asked: the baselines of its space that fit
// here, if there are any.
void warm_take_baselines(const struct search_problem *problem, struct arena *a,
                         struct warm_start *out);

// `sources`: names of files, numbers of sessions and WARM_BASELINE, joined by commas. False when
// one cannot be read, has other parameters, or has nothing that fits.
bool warm_read(struct store *store, const char *sources, const struct search_problem *problem,
               struct arena *a, struct warm_start *out, struct err *e);

// The best `most` of a session as JSON, with what they were measured on; `count`: how many there
// were.
bool warm_add_record(struct store *store, int64_t session, int most, struct str *out,
                     int64_t *count, struct err *e);

// "16,4,16 8,8,16": their slots. NULL: none.
void warm_add_keys(const struct space *space, const struct warm_start *w, struct str *out);
bool warm_parse(const struct space *space, const char *keys, struct arena *a,
                struct warm_start *out, struct err *e);

#endif
