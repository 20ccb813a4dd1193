#include "space/objective.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

static const struct objective fixed[] = {
    {OBJECTIVE_TIME, false, "time", "s", 1},
    {OBJECTIVE_ENERGY, false, "energy", "J", 1},
    {OBJECTIVE_EDP, false, "edp", "J s", 1},
};

bool objective_is_name(const char *name)
{
    size_t length = strlen(name);
    for (const char *c = name; *c; c++)
        if (!isgraph((unsigned char)*c) || strchr("\"\\{}", *c))
            return false;
    return length > 0 && length < OBJECTIVE_NAME_SIZE;
}

bool objective_parse(const char *text, struct objective *out)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
    *out = fixed[OBJECTIVE_TIME];
    if (!text)
        return true;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (str_equal(text, fixed[i].name)) {
            *out = fixed[i];
            return true;
        }
    bool maximizes = str_starts(text, OBJECTIVE_MAXIMIZE " ");
    if (!maximizes && !str_starts(text, OBJECTIVE_MINIMIZE " "))
        return false;
    const char *name = strchr(text, ' ') + 1;
    if (!objective_is_name(name))
        return false;
    *out = (struct objective){OBJECTIVE_NAMED, maximizes, name, name, 1};
    for (size_t i = 0; !maximizes && i < sizeof units / sizeof *units; i++)
        if (str_equal(name, units[i].name)) {
            out->unit = "s";
            out->scale = units[i].seconds;
        }
    return true;
}

bool objective_is_same(const char *a, const char *b)
{
    struct objective of_a, of_b;
    objective_parse(a, &of_a);
    objective_parse(b, &of_b);
    return of_a.maximizes == of_b.maximizes && str_equal(of_a.name, of_b.name);
}

double objective_cost(const struct objective *o, double value)
{
    return o->maximizes ? 1 / value : value * o->scale;
}

double objective_value(const struct objective *o, double cost)
{
    return o->maximizes ? 1 / cost : cost / o->scale;
}

bool objective_is_time(const struct objective *o)
{
    return !o->maximizes && str_equal(o->unit, "s");
}
