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

#endif
