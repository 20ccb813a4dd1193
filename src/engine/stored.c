#include "engine/stored.h"

#include "base/file.h"
#include "base/json.h"
#include "base/json_read.h"
#include "network/plan.h"
#include "space/objective.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "replay:"
#define SPEED  "speed="
#define SPARSE 1000 // points for each that is recorded

bool recorded_is(const char *source)
{
    return source && str_starts(source, PREFIX);
}

const char *recorded_without_folder(const char *source)
{
    return recorded_is(source) ? path_name(source) : source;
}

// Returns the ":key=value" that ends a spec, or NULL: names of files may hold colons.
static char *find_option(char *text)
{
    char *colon = strrchr(text, ':');
    size_t key = colon ? strspn(colon + 1, "abcdefghijklmnopqrstuvwxyz_") : 0;
    return key && colon[1 + key] == '=' ? colon : NULL;
}

// Cuts options off `text`, which then is the path.
static bool read_options(char *text, double *speed, struct err *e)
{
    for (char *option = find_option(text); option; option = find_option(text)) {
        *option++ = '\0';
        if (!str_starts(option, SPEED))
            return err_usage(e, "source replay: unknown option '%.*s' (there is speed)",
                             (int)strcspn(option, "="), option);
        const char *value = option + strlen(SPEED);
        if (!str_to_real(value, speed) || *speed <= 0 || *speed > 1e12)
            return err_usage(e, "source replay: speed '%s' is not a number within 0..1e12, above 0",
                             value);
    }
    return *text || err_usage(e, "source replay: which file? (replay:FILE[:speed=X])");
}

bool recorded_open(const char *source, struct recorded *out, struct err *e)
{
    double speed = 0;
    char *path = mem_strdup(source + strlen(PREFIX)), *bytes;
    size_t length;
    *out = (struct recorded){0};
    bool ok = read_options(path, &speed, e) && file_read(path, &bytes, &length, e);
    if (ok) {
        struct str spec = {0};
        char *whole = realpath(path, NULL);
        hash_hex(bytes, length, out->identity);
        free(bytes);
        out->path = whole ? whole : mem_strdup(path);
        str_printf(&spec, PREFIX "%s", out->path);
        if (speed > 0) {
            str_add(&spec, ":" SPEED);
            str_add_real(&spec, speed);
        }
        out->spec = str_take(&spec);
        out->speed = speed;
        ok = recording_read(path, &out->recording, e) &&
             (out->recording->count > 0 ||
              err_at(e, path, 0, "only declarations, no recorded times: nothing to replay"));
    }
    free(path);
    if (!ok)
        recorded_finish(out);
    return ok;
}

bool recorded_open_again(const struct session_record *r, struct recorded *out, struct err *e)
{
    if (!recorded_open(r->source, out, e))
        return err_prefix(e, "session %" PRId64 " is on a recording", r->id);
    if (str_equal(out->identity, r->device_id))
        return true;
    recorded_finish(out);
    return err_set(e,
                   "session %" PRId64 " is on the recording %s, which is not what it was (start a "
                   "new session on it)",
                   r->id, r->path);
}

void recorded_finish(struct recorded *r)
{
    recording_destroy(r->recording);
    free(r->path);
    free(r->spec);
    *r = (struct recorded){0};
}

bool recorded_is_sparse(const struct recording *r)
{
    return r->space->size / SPARSE >= (uint64_t)r->count;
}

void recorded_draw(const struct recording *r, struct rng *rng, struct config *out)
{
    config_set_get(&r->configs, (int)rng_below(rng, (uint64_t)r->count), out);
}

bool recorded_is_relative(const struct recording *r)
{
    return recorded_flop(r) <= 0;
}

double recorded_flop(const struct recording *r)
{
    return str_equal(r->unit, RECORDED_PER_GFLOP) ? 1e9 : r->flop;
}

void recorded_describe(const struct recorded *recorded, struct arena *a, struct session_record *out)
{
    const struct recording *r = recorded->recording;
    struct str text = {0};
    struct json_writer w = json_begin(&text);
    json_add_text(&w, "kind", "replay");
    json_add_text(&w, "recording", r->name);
    json_add_text(&w, "kernel", r->kernel);
    json_add_text(&w, "unit", r->unit);
    if (r->flop > 0)
        json_add_real(&w, "flop", r->flop);
    json_end(&w);
    out->operation = arena_strdup(a, str_text(&text));
    str_finish(&text);
    out->name = r->name;
    out->path = recorded->path;
    out->size = r->space->size_text;
    out->title = arena_printf(a, "replay %s", r->name);
    out->settings = "{}";
    out->source = recorded->spec;
    out->device = *r->device ? r->device : "recorded";
    out->driver = out->device_type = "recorded";
    out->device_id = out->text_hash = recorded->identity;
    out->limits = "";
    out->flop =
        recorded_is_relative(r) ? r->entry[r->best].seconds * RECORDED_ONE : recorded_flop(r);
    struct objective o;
    if (objective_parse(r->unit, &o)) {
        out->objective = r->unit;
        out->flop = OBJECTIVE_WORK;
        out->work = 1;
        out->unit = o.kind == OBJECTIVE_NAMED ? o.name : o.unit;
    }
}

const char *stored_beginning(const struct session_record *r)
{
    if (r->warm)
        return r->history ? ", warm start, transfer" : ", warm start";
    return r->history ? ", transfer" : "";
}

// "synthetic:rugged" of "synthetic:rugged:seed=3", "replay:a.json" of "replay:/home/me/a.json".
const char *stored_place(const struct session_record *r, char out[256])
{
    const char *kind = r->source, *name = strchr(kind, ':');
    if (str_equal(kind, "device") || !name)
        return str_equal(kind, "device") ? r->device : kind;
    size_t length = strcspn(++name, ":");
    size_t folder = length;
    while (folder > 0 && name[folder - 1] != '/')
        folder--;
    snprintf(out, 256, "%.*s%.*s", (int)(name - kind), kind, (int)(length - folder), name + folder);
    return out;
}

// Joins stored sizes and others: the last one of a name counts.
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
    for (struct json_walk w = json_walk(root); json_next(&w);) {
        const char *text = json_text_exact(w.value, a);
        if (!text)
            text = arena_printf(a, "%.*s", (int)json_length(w.value), w.value.at);
        all[(*count)++] = (struct setting){json_text_exact(w.key, a), text};
    }
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
