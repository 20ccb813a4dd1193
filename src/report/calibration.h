// How well a strategy's model knows how unsure it is, in words.
#ifndef TILEWALK_REPORT_CALIBRATION_H
#define TILEWALK_REPORT_CALIBRATION_H

#include "base/str.h"

// Adds "50 and 90 % intervals held 52 and 86 % of 140", without a line's end, where
// `within_50` and `within_90` of `results` lay within them; nothing where there are no results.
void calibration_add_text(int64_t results, int64_t within_50, int64_t within_90, struct str *out);

#endif
