#include "report/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// The thresholds are where the rounded number needs the next unit: "1.00 TFLOPS", not "1000.0
// GFLOPS".
char *text_speed(double flop, double seconds, char out[32])
{
    double value = seconds > 0 ? flop / seconds / 1e12 : 0;
    if (value >= 0.99995)
        snprintf(out, 32, "%.*f TFLOPS", value >= 100 ? 1 : 2, value);
    else
        snprintf(out, 32, "%.*f GFLOPS", value >= 0.1 ? 1 : 2, value * 1e3);
    return out;
}

char *text_time(double seconds, char out[32])
{
    if (seconds >= 999.5)
        snprintf(out, 32, "%.0f s", seconds);
    else if (seconds >= 0.9995)
        snprintf(out, 32, "%.3g s", seconds);
    else if (seconds >= 0.9995e-3)
        snprintf(out, 32, "%.3g ms", seconds * 1e3);
    else
        snprintf(out, 32, "%.3g us", seconds * 1e6);
    return out;
}

char *text_duration(double seconds, char out[32])
{
    int64_t s = (int64_t)llround(seconds);
    if (s >= 3600)
        snprintf(out, 32, "%" PRId64 "h%02" PRId64 "m", s / 3600, s / 60 % 60);
    else if (s >= 60)
        snprintf(out, 32, "%" PRId64 "m%02" PRId64 "s", s / 60, s % 60);
    else
        snprintf(out, 32, "%" PRId64 "s", s);
    return out;
}

const char *text_config(const char *json, struct str *out)
{
    int depth = 0;
    bool quoted = false;
    str_finish(out);
    for (const char *c = json; *c; c++) {
        if (*c == '"')
            quoted = !quoted;
        else if (quoted)
            str_add_char(out, *c == '\\' && c[1] ? *++c : *c);
        else if (*c == ':' || *c == ',')
            str_add_char(out, *c == ':' ? '=' : depth ? ',' : ' ');
        else if (*c == '[' || *c == ']')
            depth += *c == '[' ? 1 : -1;
        else if (*c != '{' && *c != '}')
            str_add_char(out, *c);
    }
    return str_text(out);
}
