#include "engine/speed.h"

#include "base/str.h"
#include "engine/recorded.h"
#include "report/text.h"

#include <string.h>

bool speed_is_relative(const struct session_record *r)
{
    return recorded_is(r->source) && r->operation &&
           !strstr(r->operation, "\"unit\":\"" RECORDED_PER_GFLOP "\"") &&
           !strstr(r->operation, "\"flop\":");
}

char *speed_text(const struct session_record *r, double seconds, char out[32])
{
    return speed_is_relative(r) ? text_share(r->flop / seconds / RECORDED_ONE, out)
                                : text_speed(r->flop, seconds, out);
}

double speed_unit(const struct session_record *r, double highest, const char **name)
{
    bool tera = highest >= 0.99995e12; // as text_speed
    if (speed_is_relative(r)) {
        *name = "%";
        return RECORDED_ONE / 100;
    }
    *name = tera ? "TFLOPS" : "GFLOPS";
    return tera ? 1e12 : 1e9;
}

const char *speed_unit_word(const struct session_record *r)
{
    return speed_is_relative(r) ? "fastest" : "TFLOPS";
}
