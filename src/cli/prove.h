// prove: tests and measures a device within a given time, and writes one archive that may be shown
// to others.
//
// Its parts (prove.c lists them) run in order of importance, each until its share of the time is
// spent. A part adds its findings as it goes, so that the report holds them however the part ends:
// a table or so to `page` (Markdown), members to the object that is open in `json`. It names in
// `left_out` the work that it had no time for.
#ifndef TILEWALK_CLI_PROVE_H
#define TILEWALK_CLI_PROVE_H

#include "base/json.h"
#include "base/sandbox.h"
#include "engine/engine.h"
#include "gpu/gpu.h"

enum { PROVE_PROBLEMS = 4 };

struct prove {
    struct gpu_info device; // CPU devices: with a lower limit of statements
    struct store *store;    // below `folder`
    char *folder;           // for temporary files; ours alone
    uint64_t seed;
    int64_t trials; // at most, of a session; 0: as many as there is time for
    const char *fault;
    int64_t begin_ns;
    double seconds, until_s; // end of the whole, and of the part, both from the start
    struct str page, left_out;
    struct json_writer json;
    struct str tar;                 // of the archive, without the page and its JSON
    int64_t right, wrong, failed;   // kernels whose results were compared
    double unsteady;                // share by which one kernel's times differed; NAN: not known
    char speed[PROVE_PROBLEMS][32]; // of the problems; "": it was not tuned
};

double prove_left(const struct prove *p);  // seconds that the part has left; may be negative
bool prove_is_over(const struct prove *p); // none is left, or the user ended the program
// Opens `p->store` in a folder of its own, and enters the sandbox (confine.h), which `s` was begun
// for; HUP, INT and TERM end what is running, and are remembered. prove_finish removes both.
bool prove_begin_store(struct prove *p, struct sandbox *s, struct err *e);
void prove_finish(struct prove *p);
int prove_signal(void); // that was seen; 0: none
// Runs a session of `p->store`, unless the user ends the program. `id` stays 0 where none was made.
bool prove_session(struct prove *p, const struct session_options *o, int64_t *id, struct err *e);
void prove_add_file(struct prove *p, const char *name, const char *text); // to the archive

// The parts. They return false where they ended early; `e` has the reason.
bool prove_limits(struct prove *p, struct err *e);
bool prove_correctness(struct prove *p, struct err *e);
bool prove_timing(struct prove *p, struct err *e);
bool prove_roof(struct prove *p, struct err *e);
bool prove_statistics(struct prove *p, struct err *e);
bool prove_tuning(struct prove *p, struct err *e);
bool prove_spaces(struct prove *p, struct err *e);

#endif
