#include "report/calibration.h"

#include <inttypes.h>

void calibration_add_text(int64_t results, int64_t within_50, int64_t within_90, struct str *out)
{
    double percent = 100.0 / (double)results;
    if (results > 0)
        str_printf(out, "50 and 90 %% intervals held %.0f and %.0f %% of %" PRId64,
                   percent * (double)within_50, percent * (double)within_90, results);
}
