// Speeds of a session as people read them: the same words in every list, line and screen.
//
//     char text[32];
//     speed_text(&record, seconds, text)      "5.71 GFLOPS"; "99.4 %"
//
// A speed is FLOP/s, or the operation's own unit (space/operation.h). Where the FLOP of a recording
// are not known, it is per cent of the fastest configuration recorded (stored.h). A session with
// another objective than time (space/objective.h) shows the values of that one in place of speeds.
//
// In between, in curves and on axes, speeds are FLOP/s of any session, as r->flop counts them:
// speed_unit returns how many of them are one of the unit that is shown. Where less is better, what
// is shown is the inverse of that (speed_is_inverse), so that up is better on every axis.
#ifndef TILEWALK_ENGINE_SPEED_H
#define TILEWALK_ENGINE_SPEED_H

#include "base/json.h"
#include "space/objective.h"
#include "space/roofline.h"
#include "store/store.h"
#include "trial/trial.h"

struct objective speed_objective(const struct session_record *r);
bool speed_is_relative(const struct session_record *r);
// True: the objective is minimised, so that values of it are shown, and not speeds.
bool speed_is_inverse(const struct session_record *r);
// Returns the speed of a stored session's best as a share of the fastest configuration recorded; 0:
// its speeds are not relative, or nothing was valid yet.
double speed_share(const struct session_record *r);
// Writes the speed of a run that takes `seconds` (> 0), in the unit that suits the session's best,
// so that all speeds of a session have one unit. Returns `out`.
char *speed_text(const struct session_record *r, double seconds, char out[32]);
// Writes "5.71 GFLOPS  0.393 ms", or the value of another objective alone: "43.20 tokens/s".
#define SPEED_TEXT_SIZE 72
char *speed_and_time(const struct session_record *r, double seconds, char out[SPEED_TEXT_SIZE]);
// Writes that time, "" where another objective has none.
char *speed_time(const struct session_record *r, double seconds, char out[32]);
// Returns the FLOP/s (as r->flop counts them) of the unit that suits speeds up to `highest`, and
// its name, "TFLOPS", "GB/s", "%", which lives as long as the record.
double speed_unit(const struct session_record *r, double highest, const char **name);
// Return what programs read as `tflops` and `ms`: NAN where that is not known, such as for costs
// that are no times, and unless seconds > 0.
double speed_tflops(const struct session_record *r, double seconds);
double speed_ms(const struct session_record *r, double seconds);
// The unit of `tflops` for programs (docs/reference/json.md): "TFLOPS", "fastest"; NULL: there is
// none.
const char *speed_unit_word(const struct session_record *r);
// The work of a run, in the unit that it is rated by.
struct workload speed_work(const struct session_record *r);
// The rate for programs, NAN unless seconds > 0, and its unit: "TFLOPS", "GB/s", the operation's
// own, "fastest". Of another objective: the value, and its name or unit.
double speed_rate(const struct session_record *r, double seconds);
const char *speed_rate_word(const struct session_record *r);

// Gives the time and the energy of a run, of a trial with these sensors and this cost. False: one
// of them was not measured.
bool speed_energy(const struct session_record *r, const char *clocks, double cost, double *seconds,
                  double *joules);

// Returns how many times as fast a run of `seconds` is as a baseline: for a session's best as it
// was timed in pairs with the baseline (session_confirm.c), else without an interval. Times of
// recordings and of synthetic devices are exact. `b` NULL: the ratio is not known.
struct paired speed_paired(const struct session_record *r, const struct baseline_record *b,
                           double seconds);
// The same for the session's best on one of its shapes, where the baseline takes `baseline_s`.
struct paired speed_paired_on(const struct session_record *r, const struct baseline_record *b,
                              int shape, double baseline_s, double seconds);
// Compares the session's best with its fastest baseline; the ratio is NAN where none runs.
struct paired speed_verdict(const struct session_record *r, const struct baselines *b);
// Adds what a ratio shows: "1.28 times as fast (1.21 to 1.34)", "no difference shown (0.97 to
// 1.04)"; "as good" of another objective. Adds nothing where it is not known.
void speed_add_ratio(const struct session_record *r, const struct paired *p, struct str *out);
// Adds the members ratio, ratio_low, ratio_high and verdict (docs/reference/json.md).
void speed_add_ratio_json(const struct paired *p, struct json_writer *w);
// Adds the list `name`, with ratios of a run that takes `seconds` (docs/reference/json.md); a line
// for each.
void speed_add_baselines(const struct session_record *r, const struct baselines *b, double seconds,
                         const char *name, struct json_writer *w);
void speed_add_baseline_lines(const struct session_record *r, const struct baselines *b,
                              double seconds, struct str *out);
// Returns the share of its device's peak (space/roofline.h) that a run of `seconds` reaches; 0: the
// peak is not known, or there was no run.
double speed_of_peak(const struct session_record *r, double seconds);
// Adds the same as people read it: "43.1 % of the roof (memory)", beyond 100 % with the reason; and
// the time of an empty dispatch, where the run is so short that it counts. Adds nothing where
// nothing is known.
void speed_add_peak(const struct session_record *r, double seconds, struct str *out);

// The best of a session on each of its shapes, beside what is in use there: the same rows in show,
// at the end of tune and on cards.
//
//     shape_table_read(&record, &found, arena, &t);
//     shape_table_add_text(&record, &t, &text);      shape_table_add_json(&t, "shapes", &w);
//
// A session of one shape has one row. Times are of the last race where there was one.

struct shape_row {
    const char *name;
    double weight;
    double seconds;       // of the best; 0: not known
    const char *baseline; // the fastest that is in use on this shape; NULL: none ran
    double baseline_s;
    struct paired ratio; // of the best to it
};

struct shape_table {
    int count;
    struct shape_row row[TRIAL_MAX_SHAPES];
    int worst; // the row with the least ratio; -1: none has a baseline
};

struct shape_findings {               // of a session
    const struct trial_record *best;  // ask 0: there is none
    const struct retime_record *race; // of the best; ask 0: it was in none
    const struct baselines *baselines;
};

// Reads the times of a list. Returns how many there are: 0, too, where it is no list.
int shape_parts(const char *parts, double out[TRIAL_MAX_SHAPES]);
void shape_table_read(const struct session_record *r, const struct shape_findings *f,
                      struct arena *a, struct shape_table *out);
// Adds a line for each shape of a session that has several, and one for the worst.
void shape_table_add_text(const struct session_record *r, const struct shape_table *t,
                          struct str *out);
void shape_table_add_json(const struct shape_table *t, const char *name, struct json_writer *w);

#endif
