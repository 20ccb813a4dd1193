// The measurement backend of a session, while the session is put together: a device, a recording,
// or a synthetic landscape. For the engine's own use.
//
//     struct session_place p = {0};
//     session_place_find(s, &p, source, device, e) or session_place_find_again(s, &p, ...)
//     session_place_take(s, &p);
//     ... the problem ...
//     session_place_make_source(s, &p, validate, fault, e);
//     session_place_finish(&p);
#ifndef TILEWALK_ENGINE_SESSION_PLACE_H
#define TILEWALK_ENGINE_SESSION_PLACE_H

#include "engine/session.h"
#include "trial/remote.h"

struct session_place {     // empty and valid when zeroed
    struct dialer *dialer; // set before the place is found: of the machines that measure, or NULL
    struct remote *remote; // these, until they are the session's source
    struct gpu_info *list; // all devices
    int count;
    struct gpu_cards cards;
    bool on_device;   // measurements come from `cards` of the list
    const char *spec; // of the source, when not; the caller's
};

// `source` and `device` as tune's options say them, NULL: the usual ones. A recording is opened
// into `s`.
bool session_place_find(struct session *s, struct session_place *p, const char *source,
                        const char *device, struct err *e);
// The device or recording that the stored session `r` was measured on. Where it is not here any
// more, `hint` ends the error.
bool session_place_find_again(struct session *s, struct session_place *p,
                              const struct session_record *r, const char *hint, struct err *e);
void session_place_finish(struct session_place *p);

const struct gpu_info *session_place_device(const struct session_place *p); // NULL: none
int session_place_workers(const struct session_place *p); // as many as fit it: the default
void session_place_take(struct session *s, const struct session_place *p); // gives `s` its limits
void session_place_describe(struct session *s, const struct session_place *p); // fills the record
// Makes the session's source. The problem must be known by then.
bool session_place_make_source(struct session *s, struct session_place *p, bool validate,
                               const char *fault, struct err *e);

#endif
