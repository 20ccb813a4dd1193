// A stored session made usable again: its script, from the texts and the device that it is tied to;
// its recording.
#ifndef TILEWALK_ENGINE_STORED_H
#define TILEWALK_ENGINE_STORED_H

#include "record/record.h"
#include "script/script.h"
#include "store/store.h"

// Returns the beginning of a search as printed after its strategy's name: ", warm start",
// ", transfer", both, or "". Beginning with the results of others makes it another search, in
// comparisons too.
const char *stored_beginning(const struct session_record *r);

// Returns where a session ran: the name of the device, or another source: "synthetic:rugged".
const char *stored_place(const struct session_record *r, char out[256]);

// True: both were measured on one kind of device; also where one is so old that its identity is a
// single card's (gpu_is).
bool stored_on_one_device(const struct session_record *a, const struct session_record *b);

// True: the session has a space and trials; else it is a network, and `e` names its tasks.
bool stored_has_kernels(struct store *store, const struct session_record *r, struct err *e);

// Returns the settings of a record, as --set has them; in `a`.
const struct setting *stored_settings(const char *settings, struct arena *a, int *count);
// Returns the settings of a shape, 0 the first; none where the session has one shape.
const struct setting *stored_shape(const struct session_record *r, int shape, struct arena *a,
                                   int *count);

// Makes the script of a session from its stored texts, sizes and device alone. Strings live in `a`,
// which must outlive it.
struct script *stored_script(struct store *store, const struct session_record *r, struct arena *a,
                             struct err *e);
// The same with sizes overridden. The device that the space sees is that of `r`.
struct script *stored_script_set(struct store *store, const struct session_record *r,
                                 const struct setting *set, int set_count, struct arena *a,
                                 struct err *e);

// Reads the plan of a network's runs; without steps where there is none (a session of an older
// version). To be finished (plan_finish) in any case.
struct plan;
bool stored_plan(struct store *store, int64_t network, struct plan *out, struct err *e);

// Returns the space of a session. It belongs to the session's script or to the recording that
// the session is on: one of the two is set, is the caller's to destroy (script_destroy,
// recording_destroy), and owns the space. NULL and `e` on failure: then neither is set.
const struct space *stored_space(struct store *store, const struct session_record *r,
                                 struct arena *a, struct script **script,
                                 struct recording **recording, struct err *e);

// Recordings as sources of measurements: `--source replay:FILE[:speed=50]`.
//
//     struct recorded r;
//     if (recorded_is(source) && recorded_open(source, &r, e))
//         ...r.recording, r.spec...
//     recorded_finish(&r);
//
// A session on a recording has its space, times and outcomes from there: it has no script. The file
// is not copied into the database; its hash is the session's device, so that a session goes on with
// the same file or not at all.

#define RECORDED_PER_GFLOP "s/GFLOP" // unit of recorded rates
#define RECORDED_ONE       1e12      // FLOP/s of the fastest configuration where FLOP are not known

struct recorded {
    struct recording *recording; // NULL: `r` is empty
    char *path;                  // absolute
    char *spec;                  // with that path, as a session stores it
    double speed;                // times faster than when it was recorded; 0: at once
    char identity[33];           // hash of the file
};

bool recorded_is(const char *source); // NULL: it is not
// Returns a source for others to read, without the folder of a recording; points into `source`.
const char *recorded_without_folder(const char *source);

// False: an error of usage when the spec is not understood, else an error of the file. A recording
// without entries is refused. On failure `*out` is empty.
bool recorded_open(const char *source, struct recorded *out, struct err *e);
// Opens the recording of a stored session; refused when it has changed.
bool recorded_open_again(const struct session_record *r, struct recorded *out, struct err *e);
void recorded_finish(struct recorded *r);

// Fills in what the recording decides: name, path, title, operation, settings, size, device and
// FLOP. The FLOP of most recordings are not known: then speeds are relative to the fastest
// configuration, which counts as RECORDED_ONE. Strings live in `a` or as long as `r`.
void recorded_describe(const struct recorded *r, struct arena *a, struct session_record *out);
bool recorded_is_relative(const struct recording *r);
// Returns the number of floating-point operations that take one entry's `seconds`; 0: not known.
double recorded_flop(const struct recording *r);

// True: so little of its space is recorded that uniform draws from the space would hardly ever meet
// a recorded point. Searches then draw among the recorded points (struct search_problem).
bool recorded_is_sparse(const struct recording *r);
void recorded_draw(const struct recording *r, struct rng *rng, struct config *out);

#endif
