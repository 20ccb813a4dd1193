#include "engine/warm.h"

#include "base/file.h"
#include "base/json.h"
#include "base/json_read.h"
#include "space/nearest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// One source on its way into a warm start.
struct reader {
    const char *path;
    const struct search_problem *problem;
    struct arena *arena;
    struct config_set known; // what was taken so far, of all sources
    struct warm_start *out;
    const char *misfit; // the parameter that kept the last one out; NULL: nothing legal is near
};

// --- what a session has to give ---

static void add_configuration(struct json_writer *w, double flop, const struct trial_record *t)
{
    json_begin_line(w, 2);
    json_begin_object(w, NULL);
    json_add_raw(w, "configuration", t->config);
    json_add_int(w, "trial", t->number);
    json_add_real(w, "ms", t->seconds * 1e3);
    json_add_real(w, "tflops", flop / t->seconds / 1e12);
    json_end(w);
}

static void add_member(struct json_writer *w, const char *name, const char *text)
{
    json_begin_line(w, 1);
    json_add_text_if_any(w, name, text);
}

static void add_session(struct json_writer *w, const struct session_record *r)
{
    json_add_text(w, "format", WARM_FORMAT);
    json_add_int(w, "version", WARM_FORMAT_VERSION);
    add_member(w, "space", r->name);
    add_member(w, "title", r->title);
    json_begin_line(w, 1);
    json_add_raw(w, "problem", r->operation);
    add_member(w, "device", r->device);
    add_member(w, "driver", r->driver);
    add_member(w, "device_identity", r->device_id);
    add_member(w, "source", r->source);
    add_member(w, "text_hash", r->text_hash);
    add_member(w, "tilewalk", TILEWALK_VERSION);
}

static void add_warm_start(const struct session_record *r, const struct ranked_trials *best,
                           struct str *out)
{
    struct json_writer w = json_begin(out);
    w.is_spaced = true;
    add_session(&w, r);
    json_begin_line(&w, 1);
    json_begin_list(&w, "configurations");
    for (int i = 0; i < best->count; i++)
        add_configuration(&w, r->flop, &best->trial[i]);
    json_begin_line(&w, 1);
    json_end_all(&w);
    str_add_char(out, '\n');
}

bool warm_add_record(struct store *store, int64_t session, int most, struct str *out,
                     int64_t *written, struct err *e)
{
    struct session_record r;
    struct ranked_trials best = {0};
    struct arena a;
    arena_init(&a);
    bool ok = store_get_session(store, session, &a, &r, e) &&
              store_best_trials(store, session, most, &a, &best, e);
    if (ok && best.count == 0)
        ok = err_set(e, "session %" PRId64 " has no valid trial to start from", session);
    if (ok)
        add_warm_start(&r, &best, out);
    *written = best.count;
    arena_finish(&a);
    return ok;
}

// --- what another one takes of it ---

static bool read_part(struct json v, struct arena *a, struct wish *w)
{
    if (w->count == PARAM_MAX_WIDTH)
        return false;
    w->text[w->count] = json_text(v, a);
    return (w->text[w->count] || json_number(v, &w->number[w->count])) && ++w->count;
}

static bool read_wish(struct json v, struct arena *a, struct wish *w)
{
    *w = (struct wish){0};
    if (json_type(v) != JSON_LIST)
        return read_part(v, a, w);
    for (struct json_walk walk = json_walk(v); json_next(&walk);)
        if (!read_part(walk.value, a, w))
            return false;
    return true;
}

// Of a parameter, into its slots. False: there is no value, or none that has a like here.
static bool map_value(const struct reader *r, struct json values, int param, struct wish *w,
                      struct config *out)
{
    const struct param *p = &r->problem->space->param[param];
    struct json value = json_member(values, p->name);
    return value.at && read_wish(value, r->arena, w) && param_nearest(p, w, out->slot + p->offset);
}

// Whether the values need one of that parameter: where the chooser brings it, in a conditional
// space.
static bool needs(const struct reader *r, struct json values, int param)
{
    const struct space *s = r->problem->space;
    struct config c = {{0}};
    struct wish w;
    return s->chooser < 0 || param == s->chooser || !map_value(r, values, s->chooser, &w, &c) ||
           space_is_live(s, &c, param);
}

static bool check_names(const struct reader *r, struct json values, struct err *e)
{
    const struct space *s = r->problem->space;
    for (struct json_walk w = json_walk(values); json_next(&w);) {
        const char *name = json_text(w.key, r->arena);
        if (!space_find(s, name))
            return err_at(e, r->path, w.key.line,
                          "made for another space: '%s' has no parameter '%s'", s->name, name);
    }
    for (int i = 0; i < s->param_count; i++)
        if (!json_member(values, s->param[i].name).at && needs(r, values, i))
            return err_at(e, r->path, values.line,
                          "made for another space: it has no value for parameter '%s' of '%s'",
                          s->param[i].name, s->name);
    return true;
}

// The nearest point. False: a value has no like here.
static bool map_values(struct reader *r, struct json values, struct config *out, bool *moved)
{
    const struct space *s = r->problem->space;
    struct wish w;
    *out = (struct config){0};
    *moved = false;
    for (int i = 0; i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        const int32_t *slot = out->slot + p->offset;
        r->misfit = p->name;
        if (!needs(r, values, i))
            continue;
        if (!map_value(r, values, i, &w, out))
            return false;
        for (int k = 0; k < p->width; k++)
            *moved |= !w.text[k] && w.number[k] != (p->number ? p->number[slot[k]] : slot[k]);
    }
    r->misfit = NULL;
    space_settle(s, out);
    return true;
}

static void take_near(struct reader *r, const struct config *wanted, bool moved)
{
    const struct search_problem *p = r->problem;
    struct config c = *wanted;
    bool is_new = false;
    if (p->legal && !space_nearest_legal(p->space, p->legal, p->context, &c)) {
        r->out->left_out++;
        return;
    }
    if (r->known.count < WARM_MOST)
        config_set_add(&r->known, &c, &is_new);
    r->out->moved += is_new && (moved || !config_equal(&c, wanted));
}

static void take(struct reader *r, struct json values)
{
    struct config wanted;
    bool moved;
    if (map_values(r, values, &wanted, &moved))
        take_near(r, &wanted, moved);
    else
        r->out->left_out++;
}

static void take_baselines(struct reader *r)
{
    const struct space *s = r->problem->space;
    for (int i = 0; i < s->baseline_count; i++)
        if (s->baseline[i].misfit)
            r->out->left_out++;
        else
            take_near(r, &s->baseline[i].config, false);
}

static bool read_baselines(struct reader *r, struct err *e)
{
    const struct space *s = r->problem->space;
    take_baselines(r);
    return r->known.count ||
           err_usage(e,
                     s->baseline_count
                         ? "--warm-start " WARM_BASELINE ": no baseline of '%s' fits here"
                         : "--warm-start " WARM_BASELINE ": '%s' declares no baseline",
                     s->name);
}

static bool nothing_fits(const struct reader *r, struct err *e)
{
    const char *space = r->problem->space->name;
    if (r->misfit)
        return err_at(e, r->path, 0, "none of its configurations fits '%s' (parameter '%s')", space,
                      r->misfit);
    return err_at(e, r->path, 0, "none of its configurations is near anything legal in '%s' here",
                  space);
}

static bool read_all(struct reader *r, struct json root, struct err *e)
{
    double version = 0;
    struct json list = json_member(root, "configurations");
    if (!json_is(json_member(root, "format"), WARM_FORMAT) || json_type(list) != JSON_LIST)
        return err_at(e, r->path, 1,
                      "not what export --warm-start writes (it has no \"format\": \"" WARM_FORMAT
                      "\")");
    if (!json_number(json_member(root, "version"), &version) || version != WARM_FORMAT_VERSION)
        return err_at(e, r->path, 1, "version %g of the format is not known (only %d is)", version,
                      WARM_FORMAT_VERSION);
    int left_out = r->out->left_out, given = 0;
    for (struct json_walk w = json_walk(list); json_next(&w); given++) {
        struct json values = json_member(w.value, "configuration");
        if (json_type(values) != JSON_OBJECT)
            return err_at(e, r->path, w.value.line, "an entry without \"configuration\"");
        if (!check_names(r, values, e))
            return false;
        take(r, values);
    }
    return r->out->left_out - left_out < given || nothing_fits(r, e);
}

// `text` is heap and is consumed.
static bool read_text(struct reader *r, char *text, size_t length, struct err *e)
{
    struct json root;
    struct json_source source = {.path = r->path, .text = text, .length = length};
    bool ok = json_check(&source, &root, e) && read_all(r, root, e);
    free(text);
    return ok;
}

static bool read_source(struct reader *r, struct store *store, const char *source, struct err *e)
{
    int64_t id, count;
    if (str_equal(source, WARM_BASELINE))
        return read_baselines(r, e);
    char *text = NULL;
    size_t length = 0;
    struct str record = {0};
    r->path = arena_strdup(r->arena, source);
    if (!str_to_int(source, 1, INT64_MAX, &id))
        return file_read(source, &text, &length, e) && read_text(r, text, length, e);
    r->path = arena_printf(r->arena, "session %s", source);
    if (!warm_add_record(store, id, WARM_STANDARD, &record, &count, e))
        return false;
    length = record.length;
    return read_text(r, str_take(&record), length, e);
}

static void keep(const struct config_set *known, struct arena *a, struct warm_start *out)
{
    out->count = known->count;
    out->config = arena_zero(a, (size_t)known->count + 1, sizeof *out->config);
    for (int i = 0; i < known->count; i++)
        config_set_get(known, i, &out->config[i]);
}

void warm_take_baselines(const struct search_problem *problem, struct arena *a,
                         struct warm_start *out)
{
    struct reader r = {
        .problem = problem, .arena = a, .known = {.slots = problem->space->slots}, .out = out};
    *out = (struct warm_start){0};
    take_baselines(&r);
    keep(&r.known, a, out);
    config_set_finish(&r.known);
}

bool warm_read(struct store *store, const char *sources, const struct search_problem *problem,
               struct arena *a, struct warm_start *out, struct err *e)
{
    struct reader r = {
        .problem = problem, .arena = a, .known = {.slots = problem->space->slots}, .out = out};
    char *rest = NULL, *text = arena_strdup(a, sources);
    bool ok = true;
    *out = (struct warm_start){0};
    char *source = strtok_r(text, ",", &rest);
    if (!source)
        ok = err_usage(e, "--warm-start: no file and no session is named");
    for (; ok && source; source = strtok_r(NULL, ",", &rest))
        ok = read_source(&r, store, source, e);
    keep(&r.known, a, out);
    config_set_finish(&r.known);
    return ok;
}

// --- what a session stores ---

void warm_add_keys(const struct space *space, const struct warm_start *w, struct str *out)
{
    for (int i = 0; i < w->count; i++) {
        str_add(out, i ? " " : "");
        config_add_key(space, &w->config[i], out);
    }
}

bool warm_parse(const struct space *space, const char *keys, struct arena *a,
                struct warm_start *out, struct err *e)
{
    struct config_set known = {.slots = space->slots};
    struct config c;
    char *rest = NULL, *text = arena_strdup(a, keys ? keys : "");
    bool ok = true;
    *out = (struct warm_start){0};
    for (char *key = strtok_r(text, " ", &rest); ok && key; key = strtok_r(NULL, " ", &rest)) {
        ok = config_parse_key(space, key, &c, e);
        if (ok)
            config_set_add(&known, &c, NULL);
    }
    keep(&known, a, out);
    config_set_finish(&known);
    return ok || err_prefix(e, "the stored warm start");
}
