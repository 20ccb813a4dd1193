// Speeds of a session as people read them: the same words in every list, line and screen.
//
//     char text[32];
//     speed_text(&record, seconds, text)      "5.71 GFLOPS"; "99.4 %"
//
// FLOP/s, or what the operation is rated by instead (space/operation.h). But where the FLOP of a
// recording are not known a speed is per cent of the fastest configuration recorded (recorded.h).
// In between, in curves and on axes, speeds are FLOP/s of any session, as r->flop counts them:
// speed_unit says how many of them are one of what is told.
#ifndef TILEWALK_ENGINE_SPEED_H
#define TILEWALK_ENGINE_SPEED_H

#include "base/json.h"
#include "space/roof.h"
#include "store/store.h"

bool speed_is_relative(const struct session_record *r);
// Of a stored session: the speed of its best as a share of the fastest configuration recorded. 0:
// its speeds are not relative, or nothing was valid yet.
double speed_share(const struct session_record *r);
// Of a run that takes `seconds` (> 0). Returns `out`.
char *speed_text(const struct session_record *r, double seconds, char out[32]);
// FLOP/s (as r->flop counts them) of the unit that suits speeds up to `highest`; its name in
// `name`: "TFLOPS", "GB/s", "%". It lives as long as the record.
double speed_unit(const struct session_record *r, double highest, const char **name);
// The unit of `tflops` for programs (docs/json.md): "TFLOPS", "fastest".
const char *speed_unit_word(const struct session_record *r);
// What a run does, in what it is rated by.
struct workload speed_work(const struct session_record *r);
// The rate for programs, NAN unless seconds > 0, and its unit: "TFLOPS", "GB/s", the operation's
// own, "fastest".
double speed_rate(const struct session_record *r, double seconds);
const char *speed_rate_word(const struct session_record *r);

// What takes `seconds` over a baseline, in speed; NAN: one of both did not run.
double speed_ratio(const struct baseline_record *b, double seconds);
// The list `name`, with ratios of what takes `seconds` (docs/json.md).
void speed_add_baselines(const struct session_record *r, const struct baselines *b, double seconds,
                         const char *name, struct json_writer *w);
// A line for each.
void speed_add_baseline_lines(const struct session_record *r, const struct baselines *b,
                              double seconds, struct str *out);
// Of a run that takes `seconds` the share of what its device's roof (space/roof.h) leaves to it; 0:
// the roof is not known, or there was no run.
double speed_of_roof(const struct session_record *r, double seconds);
// The same as people read it: "43.1 % of the roof (memory)"; and of runs so short that an empty
// dispatch counts, what that takes. Adds nothing where nothing is known.
void speed_add_roof(const struct session_record *r, double seconds, struct str *out);

#endif
