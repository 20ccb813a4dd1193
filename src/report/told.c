#include "report/told.h"

#include "record/json.h"

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
    if (!json || !*json)
        return;
    struct json root;
    struct err ignored;
    struct json_source source = {.path = "", .length = strlen(json)};
    source.text = mem_alloc(source.length + 4);
    memcpy(source.text, json, source.length + 1);
    if (json_check(&source, &root, &ignored))
        take_all(root, out);
    free(source.text);
}

void told_add_text(const struct statistics *s, struct str *out)
{
    for (int i = 0; i < s->count; i++) {
        str_printf(out, "%s%s ", i ? "  " : "", s->item[i].name);
        str_add_real(out, s->item[i].value);
    }
}
