// The measurement backend of a session: its source of measurements, and what a configuration is
// judged by and rendered with. A device, a recording or a synthetic landscape is chosen first:
//
//     struct backend_choice c = {.machines = machines};
//     backend_choose(&c, &b.recorded, &wish, e);
//     backend_take(&b, &c);                  device and limits
//     ... script, space ...
//     backend_make_source(&b, &c, &log, validate, fault, e);
//     backend_choice_finish(&c);
//     backend_judge(&b, &config, &verdict, e);
//     backend_render(&b, &config, &request, 0, e); source_submit(b.source, &request);
#ifndef TILEWALK_ENGINE_SESSION_BACKEND_H
#define TILEWALK_ENGINE_SESSION_BACKEND_H

#include "engine/session_log.h"
#include "engine/stored.h"
#include "trial/remote.h"
#include "trial/source.h"

// Negative tickets of requests; an ask's ticket is its number.
#define TICKET_RACE     (-1)
#define TICKET_DRIFT    (-2)
#define TICKET_PAIRS    (-3)
#define TICKET_SOAK     (-4)
#define TICKET_BASELINE (-5) // and downwards, one for each baseline
#define TICKET_PROBE    (TICKET_BASELINE - SPACE_MAX_BASELINES) // and downwards

struct session_shapes; // session_shapes.h

struct session_device {
    bool is_known; // else nothing is compiled: measurements are synthetic, or recorded
    struct limits limits;
    bool tells_statistics; // its driver has statistics of what it compiles
    int machines;          // that measure for the session; 0: this one
};

struct session_backend {
    struct source *source;         // NULL: not made yet, or given up while a network's task waits
    struct script *script;         // NULL: on a recording, which has the space
    struct recorded recorded;      // empty unless it is on one
    const struct space *space;     // of the script or the recording
    struct session_shapes *shapes; // NULL: one shape alone; in the session's arena
    struct session_device device;
    int in_flight; // submitted, no result yet; drift checks and probes do not count
};

const struct limits *backend_limits(const struct session_backend *b); // NULL: no device is known
// As space_judge, by the limits of the device, on all shapes.
bool backend_judge(const struct session_backend *b, const struct config *c, struct verdict *v,
                   struct err *e);
// Renders one configuration into a request.
bool backend_render(const struct session_backend *b, const struct config *c,
                    struct trial_request *r, int index, struct err *e);
// Renders the `count` configurations of a request and submits it; it is in flight then.
bool backend_submit(struct session_backend *b, struct trial_request *r, struct err *e);

struct backend_choice {                     // empty and valid when zeroed
    const struct remote_machines *machines; // that measure, or NULL; set before the choice
    struct benchmark *benchmark;            // that measures, or NULL; likewise
    struct remote *remote;                  // these, until they are the source
    struct gpu_info *list;                  // all devices
    int count;
    struct gpu_cards cards;
    bool on_device;   // measurements come from `cards` of the list
    const char *spec; // of the source, when not; the caller's
};

struct backend_wish {
    const char *source, *device; // as tune's options; NULL: the usual ones
    // The device or recording of a stored session instead of both; `hint` ends the error where that
    // is not here any more.
    const struct session_record *again;
    const char *hint;
};

// Opens a recording into `recorded`, which may be NULL where no recording is meant.
bool backend_choose(struct backend_choice *c, struct recorded *recorded,
                    const struct backend_wish *w, struct err *e);
// Matrices that the driver of a new session's device emulates are none of its units.
bool backend_judge_matrices(struct backend_choice *c, struct store *store, struct err *e);
void backend_choice_finish(struct backend_choice *c);
const struct gpu_info *backend_device(const struct backend_choice *c); // NULL: none
void backend_take(struct session_backend *b, const struct backend_choice *c);
// Fails where nothing tells the power that the measurements take, with the reason.
bool backend_tells_power(const struct backend_choice *c, struct err *e);
// Fills the record; strings in `a`.
void backend_describe(const struct session_backend *b, const struct backend_choice *c,
                      struct arena *a, struct session_record *r);
// Makes the source of the run whose log this is. The script or recording must be known by then.
bool backend_make_source(struct session_backend *b, struct backend_choice *c,
                         struct session_log *log, bool validate, const char *fault, struct err *e);

#endif
