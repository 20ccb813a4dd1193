#include "report/told.h"

#include "base/json_read.h"

#include <stdlib.h>
#include <string.h>

static void take_all(struct json root, struct statistics *out)
{
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

void told_parse(const char *json, struct statistics *out)
{
    *out = (struct statistics){0};
    struct json root;
    if (json_parse(json, &root))
        take_all(root, out);
}

void told_add_text(const struct statistics *s, struct str *out)
{
    for (int i = 0; i < s->count; i++) {
        str_printf(out, "%s%s ", i ? "  " : "", s->item[i].name);
        str_add_real(out, s->item[i].value);
    }
}

// In the order of what is told.
static const struct {
    const char *name, *before, *after;
} words[] = {
    {"core_mhz", "core ", " MHz"},
    {"memory_mhz", "memory ", " MHz"},
    {"celsius", "", " C"},
    {"watts", "", " W"},
};

static void add_comma(struct str *out)
{
    if (out->length)
        str_add(out, ", ");
}

static void add_reasons(const struct statistics *s, struct str *out)
{
    static const char begin[] = "throttle_"; // gpu/sensors.h
    const char *joint = "held back by ";
    for (int i = 0; i < s->count; i++) {
        const char *name = s->item[i].name;
        if (strncmp(name, begin, sizeof begin - 1) != 0)
            continue;
        if (*joint == 'h')
            add_comma(out);
        str_printf(out, "%s%s", joint, name + sizeof begin - 1);
        joint = " and ";
    }
}

void told_add_clocks(const char *clocks, double drift, struct str *out)
{
    struct statistics s;
    struct str text = {0};
    told_parse(clocks, &s);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        double value;
        if (!statistics_find(&s, words[i].name, &value))
            continue;
        add_comma(&text);
        str_printf(&text, "%s%.0f%s", words[i].before, value, words[i].after);
    }
    add_reasons(&s, &text);
    if (drift > 0) {
        add_comma(&text);
        str_printf(&text, "the device drifted by %.0f %% meanwhile", 100 * drift);
    }
    str_add(out, str_text(&text));
    str_finish(&text);
}
