// Recordings as what sessions run on: `--source replay:FILE[:speed=50]`.
//
//     struct recorded r;
//     if (recorded_is(source) && recorded_open(source, &r, e))
//         ...r.recording, r.spec...
//     recorded_finish(&r);
//
// A session on a recording has its space, times and outcomes from there: it has no script. The file
// is not copied into the database; its hash is the session's device, so that a session goes on with
// what it began with or not at all.
#ifndef TILEWALK_ENGINE_RECORDED_H
#define TILEWALK_ENGINE_RECORDED_H

#include "record/record.h"
#include "store/store.h"

#define RECORDED_PER_GFLOP "s/GFLOP" // unit of recorded rates
#define RECORDED_ONE       1e12      // FLOP/s of the fastest configuration where FLOP are not known

struct recorded {
    struct recording *recording; // NULL: `r` is empty
    char *path;                  // the whole one: whoever opens it later may be in another folder
    char *spec;                  // with that path: what a session stores as its source
    double speed;                // how much faster than when it was recorded; 0: at once
    char identity[33];           // hash of the file
};

bool recorded_is(const char *source); // NULL: it is not

// An error of usage when the spec is not understood, else what is wrong with the file. A recording
// without entries is refused. On failure `*out` is empty.
bool recorded_open(const char *source, struct recorded *out, struct err *e);
// What the session ran on; refused when it has changed.
bool recorded_open_again(const struct session_record *r, struct recorded *out, struct err *e);
void recorded_finish(struct recorded *r);

// Fills what the recording decides: name, path, title, operation, settings, size, device and FLOP.
// Of most recordings the FLOP are not known: then speeds are relative to the fastest configuration,
// which counts as RECORDED_ONE. Strings live in `a` or as long as `r`.
void recorded_describe(const struct recorded *r, struct arena *a, struct session_record *out);
bool recorded_is_relative(const struct recording *r);
// The number of floating-point operations that take one entry's `seconds`; 0: not known.
double recorded_flop(const struct recording *r);

// Whether so little of its space is recorded that uniform draws from the space would hardly ever
// meet a recorded point. Searches then draw among the recorded points (struct search_problem).
bool recorded_is_sparse(const struct recording *r);
void recorded_draw(const struct recording *r, struct rng *rng, struct config *out);

#endif
