// prove: what a device can do and how well, tested and measured within a time that is given, as one
// archive that may be shown to others.
//
// Its parts (prove.c has their list) run in order of worth, each until its share of the time is
// spent. What a part finds it adds as it goes, so that the report holds what there is, however the
// part ends: a table or so to `page` (Markdown), members to the object that is open in `json`. What
// it had no time for it names in `left_out`.
#ifndef TILEWALK_CLI_PROVE_H
#define TILEWALK_CLI_PROVE_H

#include "base/json.h"
#include "engine/engine.h"
#include "gpu/gpu.h"

enum { PROVE_PROBLEMS = 4 };

struct prove {
    struct gpu_info device; // on CPU devices, with smaller kernels than it might compile
    struct store *store;    // below `folder`
    char *folder;           // for scratch; ours alone
    uint64_t seed;
    int64_t trials; // most of a session; 0: as many as there is time for
    const char *fault;
    int64_t begin_ns;
    double seconds, until_s; // of the whole, and until which the part may take, both from the start
    struct str page, left_out;
    struct json_writer json;
    struct str tar;                 // of the archive, without the page and its JSON
    int64_t right, wrong, failed;   // kernels whose results were compared
    double unsteady;                // by which share one kernel's times differed; NAN: not known
    char speed[PROVE_PROBLEMS][32]; // of the problems tuned, "" of those that were not
};

double prove_left(const struct prove *p);  // seconds that the part has left; may be negative
bool prove_is_over(const struct prove *p); // it has none left, or the user ended the program
// Runs a session of `p->store`, unless the user ends the program. `id`: 0 where none came to be.
bool prove_session(struct prove *p, const struct session_options *o, int64_t *id, struct err *e);
void prove_add_file(struct prove *p, const char *name, const char *text); // to the archive

// A problem that is tuned, compiled and timed: of CPU devices, and of others.
struct prove_problem {
    const char *preset, *name;
    struct setting on_cpu[8], on_gpu[8];
    bool needs_f16;
};
extern const struct prove_problem prove_problems[PROVE_PROBLEMS];
const struct setting *prove_settings(const struct prove *p, const struct prove_problem *q,
                                     int *count);
struct script *prove_load(const struct prove *p, const struct prove_problem *q, struct err *e);
bool prove_has(const struct prove *p, const struct prove_problem *q); // the device can do it

// The parts. False and `e`: it ended early, for this reason.
bool prove_limits(struct prove *p, struct err *e);
bool prove_correctness(struct prove *p, struct err *e);
bool prove_timing(struct prove *p, struct err *e);
bool prove_roof(struct prove *p, struct err *e);
bool prove_statistics(struct prove *p, struct err *e);
bool prove_tuning(struct prove *p, struct err *e);
bool prove_spaces(struct prove *p, struct err *e);

#endif
