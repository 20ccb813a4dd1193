#include "engine/recorded.h"

#include "base/file.h"
#include "base/json.h"

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

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || c == '_';
}

// The ":key=value" that ends a spec, or NULL: names of files may hold colons.
static char *find_option(char *text)
{
    char *colon = strrchr(text, ':');
    if (!colon)
        return NULL;
    const char *key = colon + 1, *end = key;
    while (is_letter(*end))
        end++;
    return end > key && *end == '=' ? colon : NULL;
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

static bool identify(const char *path, char out[33], struct err *e)
{
    char *bytes;
    size_t length;
    if (!file_read(path, &bytes, &length, e))
        return false;
    hash_hex(bytes, length, out);
    free(bytes);
    return true;
}

static char *make_spec(const char *path, double speed)
{
    struct str spec = {0};
    str_printf(&spec, PREFIX "%s", path);
    if (speed > 0) {
        str_add(&spec, ":" SPEED);
        str_add_real(&spec, speed);
    }
    return str_take(&spec);
}

static bool open_path(const char *path, double speed, struct recorded *out, struct err *e)
{
    if (!identify(path, out->identity, e) || !recording_read(path, &out->recording, e))
        return false;
    char *whole = realpath(path, NULL);
    out->path = whole ? whole : mem_strdup(path);
    out->spec = make_spec(out->path, speed);
    out->speed = speed;
    return out->recording->count > 0 ||
           err_at(e, path, 0, "only declarations, no recorded times: nothing to replay");
}

bool recorded_open(const char *source, struct recorded *out, struct err *e)
{
    double speed = 0;
    char *path = mem_strdup(source + strlen(PREFIX));
    *out = (struct recorded){0};
    bool ok = read_options(path, &speed, e) && open_path(path, speed, out, e);
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

static const char *operation(const struct recording *r, struct arena *a)
{
    struct str text = {0};
    struct json_writer w = json_begin(&text);
    json_add_text(&w, "kind", "replay");
    json_add_text(&w, "recording", r->name);
    json_add_text(&w, "kernel", r->kernel);
    json_add_text(&w, "unit", r->unit);
    if (r->flop > 0)
        json_add_real(&w, "flop", r->flop);
    json_end(&w);
    const char *kept = arena_strdup(a, str_text(&text));
    str_finish(&text);
    return kept;
}

bool recorded_is_sparse(const struct recording *r)
{
    return r->space->size / SPARSE >= (uint64_t)r->count;
}

void recorded_draw(const struct recording *r, struct rng *rng, struct config *out)
{
    recording_config(r, (int)rng_below(rng, (uint64_t)r->count), out);
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
    out->name = r->name;
    out->path = recorded->path;
    out->size = r->space->size_text;
    out->title = arena_printf(a, "replay %s", r->name);
    out->operation = operation(r, a);
    out->settings = "{}";
    out->source = recorded->spec;
    out->device = *r->device ? r->device : "recorded";
    out->driver = out->device_type = "recorded";
    out->device_id = out->text_hash = recorded->identity;
    out->limits = "";
    out->flop =
        recorded_is_relative(r) ? r->entry[r->best].seconds * RECORDED_ONE : recorded_flop(r);
}
