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
