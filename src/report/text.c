#include "report/text.h"

#include "base/json_read.h"
#include "base/shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void text_parse_statistics(const char *json, struct statistics *out)
{
    *out = (struct statistics){0};
    struct json root;
    if (json_parse(json, &root)) {
        struct arena names;
        arena_init(&names);
        for (struct json_walk w = json_walk(root); w.object && json_next(&w);) {
            double value;
            const char *name = json_text(w.key, &names);
            if (name && json_number(w.value, &value))
                statistics_take(out, name, value);
        }
        arena_finish(&names);
    }
}

void text_add_statistics(const struct statistics *s, struct str *out)
{
    for (int i = 0; i < s->count; i++) {
        str_printf(out, "%s%s ", i ? "  " : "", s->item[i].name);
        str_add_real(out, s->item[i].value);
    }
}

// The sensors, in the order in which they are shown.
static const struct {
    const char *name, *before, *after;
} words[] = {
    {"core_mhz", "core ", " MHz"},
    {"memory_mhz", "memory ", " MHz"},
    {"celsius", "", " C"},
    {"watts", "", " W"},
};

// Adds the energy of a run: "12.3 mJ a run".
static void add_joules(const struct statistics *s, struct str *out)
{
    double joules;
    char text[32];
    if (statistics_find(s, STATISTIC_JOULES, &joules))
        str_printf(out, "%s%s a run", out->length ? ", " : "", text_cost(joules, "J", text));
}

void text_add_clocks(const char *clocks, double drift, struct str *out)
{
    struct statistics s;
    struct str text = {0};
    text_parse_statistics(clocks, &s);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        double value;
        if (!statistics_find(&s, words[i].name, &value))
            continue;
        str_add(&text, text.length ? ", " : "");
        str_printf(&text, "%s%.0f%s", words[i].before, value, words[i].after);
    }
    add_joules(&s, &text);
    static const char begin[] = "throttle_"; // gpu/gpu.h
    const char *joint = "held back by ";
    for (int i = 0; i < s.count; i++) {
        const char *name = s.item[i].name;
        if (strncmp(name, begin, sizeof begin - 1) != 0)
            continue;
        if (*joint == 'h' && text.length)
            str_add(&text, ", ");
        str_printf(&text, "%s%s", joint, name + sizeof begin - 1);
        joint = " and ";
    }
    if (drift > 0) {
        str_add(&text, text.length ? ", " : "");
        str_printf(&text, "the device drifted by %.0f %% meanwhile", 100 * drift);
    }
    str_add(out, str_text(&text));
    str_finish(&text);
}

void text_add_calibration(int64_t results, int64_t within_50, int64_t within_90, struct str *out)
{
    double percent = 100.0 / (double)results;
    if (results > 0)
        str_printf(out, "50 and 90 %% intervals held %.0f and %.0f %% of %" PRId64,
                   percent * (double)within_50, percent * (double)within_90, results);
}

// Thresholds are where the rounded number needs the next unit: "1.00 TFLOPS", not "1000.0 GFLOPS".
double text_rate_unit(double highest, const char *unit, const char **name)
{
    bool tera = highest >= 0.99995e12, mega = highest > 0 && highest < 0.1e9;
    bool is_bytes = str_equal(unit, "B/s");
    if (!is_bytes && !str_equal(unit, "FLOPS")) {
        *name = unit;
        return 1;
    }
    *name = is_bytes ? tera   ? "TB/s"
                       : mega ? "MB/s"
                              : "GB/s"
            : tera   ? "TFLOPS"
            : mega   ? "MFLOPS"
                     : "GFLOPS";
    return tera ? 1e12 : mega ? 1e6 : 1e9;
}

char *text_rate(double rate, const char *unit, char out[32])
{
    return text_rate_beside(rate, rate, unit, out);
}

char *text_rate_beside(double rate, double best, const char *unit, char out[32])
{
    const char *name;
    double value = rate / text_rate_unit(best, unit, &name);
    int decimals = value >= 100 ? 1 : 2;
    if (value > 0 && value < 0.1) // two digits that count
        decimals = (int)fmin(9, 1 - floor(log10(value)));
    snprintf(out, 32, "%.*f %s", decimals, value, name);
    return out;
}

char *text_speed(double flop, double seconds, char out[32])
{
    return text_rate(seconds > 0 ? flop / seconds : 0, "FLOPS", out);
}

char *text_share(double share, char out[32])
{
    snprintf(out, 32, "%.*f %%", share >= 0.1 ? 1 : 2, 100 * share);
    return out;
}

double text_cost_unit(double least, const char *unit, const char **name)
{
    static const struct {
        const char *unit, *name[5]; // of 1, 1e-3, 1e-6 ...; NULL: there is none
    } scaled[] = {{"s", {"s", "ms", "us"}},
                  {"J", {"J", "mJ", "uJ", "nJ"}},
                  {"J s", {"J s", "mJ s", "uJ s", "nJ s", "pJ s"}}};
    static const double scale[] = {1, 1e-3, 1e-6, 1e-9, 1e-12};
    for (size_t i = 0; i < sizeof scaled / sizeof *scaled; i++) {
        int k = 0;
        while (least > 0 && k < 4 && scaled[i].name[k + 1] && least < 0.9995 * scale[k])
            k++;
        if (str_equal(unit, scaled[i].unit)) {
            *name = scaled[i].name[k];
            return scale[k];
        }
    }
    *name = unit;
    return 1;
}

char *text_cost(double cost, const char *unit, char out[32])
{
    const char *name;
    double value = cost / text_cost_unit(cost, unit, &name);
    snprintf(out, 32, value >= 999.5 ? "%.0f %s" : "%.3g %s", value, name);
    return out;
}

char *text_time(double seconds, char out[32])
{
    return text_cost(seconds, "s", out);
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

char *text_clock(double at, char out[16])
{
    time_t seconds = (time_t)at;
    struct tm tm;
    localtime_r(&seconds, &tm);
    strftime(out, 16, "%H:%M:%S", &tm);
    return out;
}

// Adds a value or a name without brackets, quotes and the backslashes of escapes.
static void add_word(struct json v, struct str *out)
{
    const char *c = v.at, *end = c + json_length(v);
    bool quoted = false;
    for (; c < end; c++) {
        if (*c == '"')
            quoted = !quoted;
        else if (*c == '\\' && (c[1] == '"' || c[1] == '\\'))
            str_add_char(out, *++c);
        else if (quoted || (*c != '[' && *c != ']'))
            str_add_char(out, *c);
    }
}

struct json_walk text_params(const char *json)
{
    struct json root;
    json_parse(json, &root);
    return json_walk(root);
}

bool text_next_param(struct json_walk *params, struct str *name, struct str *value)
{
    str_finish(name);
    str_finish(value);
    if (!params->object || !json_next(params))
        return false;
    add_word(params->key, name);
    add_word(params->value, value);
    return true;
}

const char *text_config(const char *json, struct str *out)
{
    struct str name = {0}, value = {0};
    struct json_walk params = text_params(json);
    str_finish(out);
    while (text_next_param(&params, &name, &value)) {
        str_add(out, out->length ? " " : "");
        shown_add(out, str_text(&name));
        str_add(out, "=");
        shown_add(out, str_text(&value));
    }
    str_finish(&name);
    str_finish(&value);
    return str_text(out);
}
