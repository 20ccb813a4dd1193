// Values as people read them: speeds, times, configurations. The same words in every list, line and
// screen.
//
//     char text[32];
//     text_speed(flop, seconds, text)      "41.3 TFLOPS"
//     text_config(json, &out)              "tile_k=16,4,16 order=n,m,k stage=shared"
//
// Pure functions: three significant digits or so, C notation, nothing padded. What programs read is
// JSON (docs/json.md) and never this.
#ifndef TILEWALK_REPORT_TEXT_H
#define TILEWALK_REPORT_TEXT_H

#include "base/json_read.h"
#include "base/str.h"
#include "space/statistics.h"

// `flop` operations in `seconds`: "6.81 GFLOPS", "41.30 TFLOPS"; "0.00 GFLOPS" unless seconds > 0.
// Returns `out`, as the next four do.
char *text_speed(double flop, double seconds, char out[32]);
// Any other rate, so much of what `unit` counts by the second: "FLOPS" as above, "B/s" likewise
// ("38.20 GB/s"), all others as they are ("12.5 Mcells/s").
char *text_rate(double rate, const char *unit, char out[32]);
// The unit in which rates up to `highest` are told, and how much of `unit` one of it is: "GFLOPS"
// and 1e9. The name lives as long as `unit`.
double text_rate_unit(double highest, const char *unit, const char **name);
char *text_share(double share, char out[32]);      // "99.4 %", "0.42 %"
char *text_time(double seconds, char out[32]);     // of one run: "1.2 s", "4.93 ms", "812 us"
char *text_duration(double seconds, char out[32]); // to whole seconds: "7s", "1m52s", "3h05m"
char *text_clock(double at, char out[16]);         // of a unix time, here: "17:04:59"

// A configuration from its JSON object. In `out`, which is emptied first; returns its text, which
// lives as long as `out`. Labels are as they were declared, but for control characters, which stay
// escaped.
const char *text_config(const char *json, struct str *out);
// The same one parameter at a time, of text_params(json), which walks there. False: no more.
struct json_walk text_params(const char *json);
bool text_next_param(struct json_walk *params, struct str *name, struct str *value);

// What drivers said of kernels (space/statistics.h), as it is stored.

// `json` as statistics_add_json wrote it, or anything: what is no number that a statistic can be is
// left out. NULL and "" hold none.
void told_parse(const char *json, struct statistics *out);

// For people, in the order of the driver: "VGPRs 96  Code size 4000". Adds nothing when there is
// none.
void told_add_text(const struct statistics *s, struct str *out);

// For people, what a trial's clocks and its drift say (store/store.h): "core 1980 MHz, 54 C, 310 W,
// held back by power". Adds nothing when nothing is known.
void told_add_clocks(const char *clocks, double drift, struct str *out);

// How well a strategy's model knows how unsure it is, in words.

// Adds "50 and 90 % intervals held 52 and 86 % of 140", without a line's end, where
// `within_50` and `within_90` of `results` lay within them; nothing where there are no results.
void calibration_add_text(int64_t results, int64_t within_50, int64_t within_90, struct str *out);

#endif
