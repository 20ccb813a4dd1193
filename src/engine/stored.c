#include "engine/stored.h"

#include "base/json_read.h"
#include "engine/recorded.h"
#include "network/plan.h"

#include <inttypes.h>

const char *stored_beginning(const struct session_record *r)
{
    if (r->warm)
        return r->history ? ", warm start, transfer" : ", warm start";
    return r->history ? ", transfer" : "";
}

// A text, or how the value is written.
static const char *word(struct json v, struct arena *a)
{
    const char *text = json_text_exact(v, a);
    return text ? text : arena_printf(a, "%.*s", (int)json_length(v), v.at);
}

// Stored sizes, then others: the last one of a name counts.
static const struct setting *join_sizes(struct arena *a, const char *stored,
                                        const struct setting *set, int set_count, int *count)
{
    struct json root;
    struct setting *all;
    *count = 0;
    json_parse(stored, &root);
    for (struct json_walk w = json_walk(root); json_next(&w);)
        ++*count;
    all = arena_zero(a, (size_t)(*count + set_count) + 1, sizeof *all);
    *count = 0;
    for (struct json_walk w = json_walk(root); json_next(&w);)
        all[(*count)++] = (struct setting){json_text_exact(w.key, a), word(w.value, a)};
    for (int i = 0; i < set_count; i++)
        all[(*count)++] = set[i];
    return all;
}

bool stored_on_one_device(const struct session_record *a, const struct session_record *b)
{
    return str_equal(a->device_id, b->device_id) ||
           (str_equal(a->source, "device") && str_equal(b->source, "device") &&
            str_equal(a->device, b->device) && str_equal(a->driver, b->driver) &&
            str_equal(a->device_type, b->device_type));
}

bool stored_has_kernels(struct store *store, const struct session_record *r, struct err *e)
{
    return !r->scheduler ||
           err_set(e,
                   "session %" PRId64 " is a network: spaces, trials and kernels are those of its "
                   "tasks, sessions of their own (`tilewalk show %" PRId64 "%s` lists them)",
                   r->id, r->id, store_option(store));
}

const struct setting *stored_settings(const char *settings, struct arena *a, int *count)
{
    return join_sizes(a, settings, NULL, 0, count);
}

const struct setting *stored_shape(const struct session_record *r, int shape, struct arena *a,
                                   int *count)
{
    struct json root;
    *count = 0;
    if (!json_parse(r->shapes, &root))
        return NULL;
    struct json_walk w = json_walk(json_member(root, "shapes"));
    while (json_next(&w) && shape-- > 0)
        continue;
    struct json set = json_member(w.value, "set");
    return stored_settings(arena_printf(a, "%.*s", (int)json_length(set), set.at), a, count);
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
    if (!stored_has_kernels(store, r, e) || !store_get_texts(store, r->id, a, &record, &count, e))
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

bool stored_plan(struct store *store, int64_t network, struct plan *out, struct err *e)
{
    const char *text = NULL;
    struct arena a;
    struct json root;
    arena_init(&a);
    *out = (struct plan){0};
    bool ok = store_get_plan(store, network, &a, &text, e);
    if (ok && text)
        ok = ((json_parse(text, &root) || err_set(e, "it is no JSON")) &&
              plan_read_json(root, out, e)) ||
             err_prefix(e, "session %" PRId64 " is damaged: the plan of its runs", network);
    arena_finish(&a);
    return ok;
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
