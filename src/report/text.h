// Speeds, times and configurations as text for people, the same in every list, line and screen.
//
//     char text[32];
//     text_speed(flop, seconds, text)      "41.3 TFLOPS"
//     text_config(json, &out)              "tile_k=16,4,16 order=n,m,k stage=shared"
//
// Pure functions: about three significant digits, C notation, no padding. Programs read JSON
// (docs/reference/json.md) and never this.
#ifndef TILEWALK_REPORT_TEXT_H
#define TILEWALK_REPORT_TEXT_H

#include "base/json_read.h"
#include "base/str.h"
#include "space/statistics.h"

// Writes the rate of `flop` operations in `seconds`: "6.81 GFLOPS", "41.30 TFLOPS"; "0.00 GFLOPS"
// unless seconds > 0. Returns `out`, as the next six do.
char *text_speed(double flop, double seconds, char out[32]);
// Writes any rate: "FLOPS" as above, "B/s" likewise ("38.20 GB/s"), all other units unchanged
// ("12.5 Mcells/s").
char *text_rate(double rate, const char *unit, char out[32]);
// Does the same in the unit that suits the rate `best`, which it stands beside.
char *text_rate_beside(double rate, double best, const char *unit, char out[32]);
// Chooses the unit in which rates up to `highest` are shown, and returns how much of `unit` one of
// it is: "GFLOPS" and 1e9. The name lives as long as `unit`.
double text_rate_unit(double highest, const char *unit, const char **name);
// The same for costs, of which less is better: the unit of seconds ("s"), joules ("J") or a name,
// by the least of them.
double text_cost_unit(double least, const char *unit, const char **name);
char *text_cost(double cost, const char *unit, char out[32]); // "4.93 ms", "0.12 J", "31.2 MiB"
char *text_share(double share, char out[32]);                 // "99.4 %", "0.42 %"
char *text_time(double seconds, char out[32]);     // time of a run: "1.2 s", "4.93 ms", "812 us"
char *text_duration(double seconds, char out[32]); // to whole seconds: "7s", "1m52s", "3h05m"
char *text_clock(double at, char out[16]);         // local time of a unix time: "17:04:59"

// Writes a configuration from its JSON object to `out`, which is emptied first; returns its text,
// which lives as long as `out`. Labels are as they were declared; control characters stay escaped.
const char *text_config(const char *json, struct str *out);
// Iterate over the parameters of a configuration, one name and value at a time; false: no more.
struct json_walk text_params(const char *json);
bool text_next_param(struct json_walk *params, struct str *name, struct str *value);

// --- statistics of drivers and sensors (space/statistics.h), as they are stored ---

// Parses the JSON of statistics_add_json, or any text: values that are no statistics are left out.
// NULL and "" hold none.
void text_parse_statistics(const char *json, struct statistics *out);

// Adds the statistics in the order of the driver: "VGPRs 96  Code size 4000".
void text_add_statistics(const struct statistics *s, struct str *out);

// Adds a trial's clocks and drift (store/store.h): "core 1980 MHz, 54 C, 310 W, held back by
// power". Adds nothing when nothing is known.
void text_add_clocks(const char *clocks, double drift, struct str *out);

// Adds the calibration of a strategy's model, without a line's end: "50 and 90 % intervals held 52
// and 86 % of 140". Adds nothing when there are no results.
void text_add_calibration(int64_t results, int64_t within_50, int64_t within_90, struct str *out);

#endif
