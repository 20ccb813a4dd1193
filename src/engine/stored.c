#include "engine/stored.h"

#include "engine/recorded.h"

#include <stdlib.h>
#include <string.h>

// Everything we store in this way is a flat JSON object of whole numbers and words that we wrote
// ourselves: {"N":512,"type":"f16"}.
static struct setting *parse_flat(struct arena *a, const char *json, int *count)
{
    char *rest, *text = arena_strdup(a, json ? json : "");
    struct setting *out = arena_zero(a, strlen(text) + 1, sizeof *out); // more than there can be
    *count = 0;
    for (char *name = strtok_r(text, "{}\":,", &rest); name;
         name = strtok_r(NULL, "{}\":,", &rest)) {
        char *value = strtok_r(NULL, "{}\":,", &rest);
        out[(*count)++] = (struct setting){name, value ? value : ""};
    }
    return out;
}

const char *stored_beginning(const struct session_record *r)
{
    if (r->warm)
        return r->history ? ", warm start, transfer" : ", warm start";
    return r->history ? ", transfer" : "";
}

// Stored sizes, then others: the last one of a name counts.
static const struct setting *join_sizes(struct arena *a, const char *stored,
                                        const struct setting *set, int set_count, int *count)
{
    const struct setting *first = parse_flat(a, stored, count);
    struct setting *all = arena_zero(a, (size_t)(*count + set_count) + 1, sizeof *all);
    for (int i = 0; i < *count; i++)
        all[i] = first[i];
    for (int i = 0; i < set_count; i++)
        all[(*count)++] = set[i];
    return all;
}

struct script *stored_script(struct store *store, const struct session_record *r, struct arena *a,
                             struct err *e)
{
    return stored_script_set(store, r, NULL, 0, a, e);
}

struct script *stored_script_set(struct store *store, const struct session_record *r,
                                 const struct setting *set, int set_count, struct arena *a,
                                 struct err *e)
{
    struct text_record *record;
    struct limits *limits = arena_zero(a, 1, sizeof *limits);
    int count;
    if (!store_get_texts(store, r->id, a, &record, &count, e))
        return NULL;
    struct script_text *text = arena_zero(a, (size_t)count, sizeof *text);
    for (int i = 0; i < count; i++)
        text[i] = (struct script_text){record[i].name, record[i].path, record[i].text};
    struct script_options o = {
        .path = r->path,
        .device_type = r->device_type,
        .limits = limits_parse(r->limits, limits) ? limits : NULL,
        .texts = text,
        .text_count = count,
    };
    o.set = join_sizes(a, r->settings, set, set_count, &o.set_count);
    return script_create(&o, e);
}

const struct space *stored_space(struct store *store, const struct session_record *r,
                                 struct arena *a, struct script **script,
                                 struct recording **recording, struct err *e)
{
    struct recorded recorded;
    *script = NULL;
    *recording = NULL;
    if (!recorded_is(r->source)) {
        *script = stored_script(store, r, a, e);
        return *script ? script_space(*script) : NULL;
    }
    if (!recorded_open_again(r, &recorded, e))
        return NULL;
    *recording = recorded.recording;
    recorded.recording = NULL;
    recorded_finish(&recorded);
    return (*recording)->space;
}
