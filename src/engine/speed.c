#include "engine/speed.h"

#include "base/json_read.h"
#include "base/str.h"
#include "engine/recorded.h"
#include "report/text.h"

#include <math.h>

bool speed_is_relative(const struct session_record *r)
{
    struct json operation;
    return recorded_is(r->source) && json_parse(r->operation, &operation) &&
           !json_is(json_member(operation, "unit"), RECORDED_PER_GFLOP) &&
           !json_member(operation, "flop").at;
}

struct workload speed_work(const struct session_record *r)
{
    return r->unit && r->work > 0 ? (struct workload){r->work, r->unit}
                                  : (struct workload){r->flop, WORK_FLOP};
}

double speed_share(const struct session_record *r)
{
    return speed_is_relative(r) && r->best_ask && r->best_seconds > 0
               ? r->flop / r->best_seconds / RECORDED_ONE
               : 0;
}

char *speed_text(const struct session_record *r, double seconds, char out[32])
{
    struct workload work = speed_work(r);
    return speed_is_relative(r) ? text_share(r->flop / seconds / RECORDED_ONE, out)
                                : text_rate(work.amount / seconds, work.unit, out);
}

double speed_unit(const struct session_record *r, double highest, const char **name)
{
    struct workload work = speed_work(r);
    if (speed_is_relative(r)) {
        *name = "%";
        return RECORDED_ONE / 100;
    }
    double flop = r->flop / work.amount; // of one of its unit
    return flop * text_rate_unit(highest / flop, work.unit, name);
}

double speed_rate(const struct session_record *r, double seconds)
{
    struct workload work = speed_work(r);
    double unit = str_equal(work.unit, WORK_FLOP)    ? 1e12
                  : str_equal(work.unit, WORK_BYTES) ? 1e9
                                                     : 1;
    return seconds > 0 ? work.amount / seconds / unit : NAN;
}

const char *speed_unit_word(const struct session_record *r)
{
    return speed_is_relative(r) ? "fastest" : "TFLOPS";
}

const char *speed_rate_word(const struct session_record *r)
{
    const char *unit = speed_work(r).unit;
    return str_equal(unit, WORK_FLOP)    ? speed_unit_word(r)
           : str_equal(unit, WORK_BYTES) ? "GB/s"
                                         : unit;
}
