// Writes sessions as the engine would, but by a clock and a device that are made up: the same on
// every machine.
//
//     struct author *a = author_create(store, &plan);    a session, its space, its strategy
//     author_tell(a, 60);                                 60 more numbered trials
//     author_end(a, "done", "all 60 trials are done");
//     author_destroy(a);
//
// Spaces, configurations, rejections, generations, origins and populations are real ones: asked of
// real strategies and judged by the real rules. Speeds are a smooth function of the distance to a
// hidden configuration, times follow from the number. Everything asserts.
#ifndef TILEWALK_TESTS_UI_AUTHOR_H
#define TILEWALK_TESTS_UI_AUTHOR_H

#include "engine/engine.h"

struct author_plan {
    const char *strategy; // spec
    uint64_t seed;
    int64_t budget;
    int trials;          // numbered ones that are told
    double until;        // by this unix time
    double seconds_each; // running time between two, about
    bool never_ok, never_legal;
};

struct author;

struct author *author_create(struct store *s, const struct author_plan *plan);
void author_destroy(struct author *a);
int64_t author_session(const struct author *a);
const struct space *author_space(const struct author *a);
void author_tell(struct author *a, int numbered);
// Told without a strategy: quickly, at a distance from the best that shrinks slowly.
void author_tell_walks(struct author *a, int told);
void author_say(struct author *a, const char *level, const char *text);
void author_retime(struct author *a, int64_t ask, const char *kind, double factor, bool verified);
void author_end(struct author *a, enum session_state state, const char *message);

#endif
