// What drivers said of kernels (space/statistics.h), as it is stored.
#ifndef TILEWALK_REPORT_TOLD_H
#define TILEWALK_REPORT_TOLD_H

#include "space/statistics.h"

// `json` as statistics_add_json wrote it, or anything: what is no number that a statistic can be is
// left out. NULL and "" hold none.
void told_parse(const char *json, struct statistics *out);

// For people, in the order of the driver: "VGPRs 96  Code size 4000". Adds nothing when there is
// none.
void told_add_text(const struct statistics *s, struct str *out);

// For people, what a trial's clocks and its drift say (store/store.h): "core 1980 MHz, 54 C, 310 W,
// held back by power". Adds nothing when nothing is known.
void told_add_clocks(const char *clocks, double drift, struct str *out);

#endif
