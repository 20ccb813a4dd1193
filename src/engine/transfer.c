#include "engine/transfer.h"

#include "base/build.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_read.h"
#include "engine/speed.h"
#include "engine/stored.h"
#include "search/archive.h"
#include "space/nearest.h"
#include "space/objective.h"
#include "store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct warm_reader { // one source on its way into a warm start
    const char *path;
    const struct search_problem *problem;
    struct arena *arena;
    struct config_set known; // all that was taken so far, of all sources
    int most;                // that are taken
    struct warm_start *out;
    const char *misfit; // the parameter that kept the last one out; NULL: nothing legal is near
};

// --- warm starts: the record of a session ---

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
    if (ok) {
        struct json_writer w = json_begin(out);
        w.is_spaced = true;
        json_add_text(&w, "format", WARM_FORMAT);
        json_add_int(&w, "version", WARM_FORMAT_VERSION);
        const char *const member[][2] = {
            {"space", r.name},    {"title", r.title},         {"problem", r.operation},
            {"device", r.device}, {"driver", r.driver},       {"device_identity", r.device_id},
            {"source", r.source}, {"text_hash", r.text_hash}, {"tilewalk", build_name()},
        };
        for (size_t i = 0; i < sizeof member / sizeof *member; i++) {
            bool is_raw = member[i][1] == r.operation;
            json_begin_line(&w, 1);
            (is_raw ? json_add_raw : json_add_text_if_any)(&w, member[i][0], member[i][1]);
        }
        json_begin_line(&w, 1);
        json_begin_list(&w, "configurations");
        for (int i = 0; i < best.count; i++) {
            json_begin_line(&w, 2);
            json_begin_object(&w, NULL);
            json_add_raw(&w, "configuration", best.trial[i].config);
            json_add_int(&w, "trial", best.trial[i].number);
            json_add_real(&w, "ms", speed_ms(&r, best.trial[i].seconds));
            json_add_real(&w, "tflops", speed_tflops(&r, best.trial[i].seconds));
            json_add_real(&w, "rate", speed_rate(&r, best.trial[i].seconds));
            json_end(&w);
        }
        json_begin_line(&w, 1);
        json_end_all(&w);
        str_add_char(out, '\n');
    }
    *written = best.count;
    arena_finish(&a);
    return ok;
}

// --- a new session reads it ---

// Maps the value of a parameter into its slots, by the nearest there are. False: there is no value,
// or none that is like one here.
static bool map_value(const struct warm_reader *r, struct json values, int param, struct wish *w,
                      struct config *out)
{
    const struct param *p = &r->problem->space->param[param];
    struct json value = json_member(values, p->name);
    struct json_walk walk = json_walk(value);
    bool is_list = json_type(value) == JSON_LIST;
    *w = (struct wish){0};
    if (!value.at)
        return false;
    while (is_list ? json_next(&walk) : w->count == 0) {
        struct json part = is_list ? walk.value : value;
        int at = w->count;
        if (at == PARAM_MAX_WIDTH)
            return false;
        w->text[at] = json_text(part, r->arena);
        if (!w->text[at] && !json_number(part, &w->number[at]))
            return false;
        w->count++;
    }
    return param_nearest(p, w, out->slot + p->offset);
}

// True: the values need one of that parameter. In a conditional space the chooser decides it.
static bool needs(const struct warm_reader *r, struct json values, int param)
{
    const struct space *s = r->problem->space;
    struct config c = {{0}};
    struct wish w;
    return s->chooser < 0 || param == s->chooser || !map_value(r, values, s->chooser, &w, &c) ||
           space_is_live(s, &c, param);
}

static bool check_names(const struct warm_reader *r, struct json values, struct err *e)
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

// Maps to the nearest point. False: a value has nothing like it here.
static bool map_values(struct warm_reader *r, struct json values, struct config *out, bool *moved)
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

// Adds the nearest legal configuration.
static void take_near(struct warm_reader *r, const struct config *wanted, bool moved)
{
    const struct search_problem *p = r->problem;
    struct config c = *wanted;
    bool is_new = false;
    if (!search_nearest_legal(p, &c)) {
        r->out->left_out++;
        return;
    }
    if (r->known.count < r->most)
        config_set_add(&r->known, &c, &is_new);
    r->out->moved += is_new && (moved || !config_equal(&c, wanted));
}

static void take_values(struct warm_reader *r, struct json values)
{
    struct config wanted;
    bool moved;
    if (map_values(r, values, &wanted, &moved))
        take_near(r, &wanted, moved);
    else
        r->out->left_out++;
}

static void take_baselines(struct warm_reader *r)
{
    const struct space *s = r->problem->space;
    for (int i = 0; i < s->baseline_count; i++)
        if (s->baseline[i].misfit)
            r->out->left_out++;
        else
            take_near(r, &s->baseline[i].config, false);
}

static bool read_record(struct warm_reader *r, struct json root, struct err *e)
{
    const char *space = r->problem->space->name;
    double version = 0;
    struct json list = json_member(root, "configurations");
    if (!json_is(json_member(root, "format"), WARM_FORMAT) || json_type(list) != JSON_LIST)
        return err_at(e, r->path, 1,
                      "not what export --as warm-start writes (it has no \"format\": \"" WARM_FORMAT
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
        take_values(r, values);
    }
    if (r->out->left_out - left_out < given)
        return true;
    if (r->misfit)
        return err_at(e, r->path, 0, "none of its configurations fits '%s' (parameter '%s')", space,
                      r->misfit);
    return err_at(e, r->path, 0, "none of its configurations is near anything legal in '%s' here",
                  space);
}

// Reads a file, a session, or the baselines of the space.
static bool read_source(struct warm_reader *r, struct store *store, const char *source,
                        struct err *e)
{
    const struct space *s = r->problem->space;
    int64_t id, count;
    char *text = NULL;
    size_t length = 0;
    struct json root;
    if (str_equal(source, WARM_BASELINE)) {
        take_baselines(r);
        return r->known.count ||
               err_usage(e,
                         s->baseline_count
                             ? "--warm-start " WARM_BASELINE ": no baseline of '%s' fits here"
                             : "--warm-start " WARM_BASELINE ": '%s' declares no baseline",
                         s->name);
    }
    if (str_to_int(source, 1, INT64_MAX, &id)) {
        struct str record = {0};
        r->path = arena_printf(r->arena, "session %s", source);
        if (!warm_add_record(store, id, WARM_STANDARD, &record, &count, e))
            return false;
        length = record.length;
        text = str_take(&record);
    } else {
        r->path = arena_strdup(r->arena, source);
        if (!file_read(source, &text, &length, e))
            return false;
    }
    struct json_source json = {.path = r->path, .text = text, .length = length};
    bool ok = json_check(&json, &root, e) && read_record(r, root, e);
    free(text);
    return ok;
}

static struct warm_reader reader_of(const struct search_problem *problem, struct arena *a, int most,
                                    struct warm_start *out)
{
    *out = (struct warm_start){0};
    return (struct warm_reader){.problem = problem,
                                .arena = a,
                                .known = {.slots = problem->space->slots},
                                .most = most,
                                .out = out};
}

static void keep(const struct config_set *known, struct arena *a, struct warm_start *out)
{
    out->count = known->count;
    out->config = arena_zero(a, (size_t)known->count + 1, sizeof *out->config);
    for (int i = 0; i < known->count; i++)
        config_set_get(known, i, &out->config[i]);
}

void warm_take_standard(const struct search_problem *problem, bool on_device, struct arena *a,
                        struct warm_start *out)
{
    struct warm_reader r = reader_of(problem, a, WARM_MOST, out);
    const struct space *s = problem->space;
    take_baselines(&r);
    for (int i = 0; on_device && i < s->beginning_count; i++) {
        const struct baseline *b = &s->beginning[i];
        bool is_new;
        if (b->misfit || !search_is_legal(problem, &b->config))
            out->skipped++;
        else
            config_set_add(&r.known, &b->config, &is_new);
    }
    keep(&r.known, a, out);
    config_set_finish(&r.known);
}

bool warm_read(struct store *store, const char *sources, const struct search_problem *problem,
               struct arena *a, struct warm_start *out, struct err *e)
{
    struct warm_reader r = reader_of(problem, a, WARM_MOST, out);
    char *rest = NULL, *text = arena_strdup(a, sources);
    bool ok = true;
    char *source = strtok_r(text, ",", &rest);
    if (!source)
        ok = err_usage(e, "--warm-start: no file and no session is named");
    for (; ok && source; source = strtok_r(NULL, ",", &rest))
        ok = read_source(&r, store, source, e);
    keep(&r.known, a, out);
    config_set_finish(&r.known);
    return ok;
}

// --- first guesses ---

// Takes a line, which is a configuration or has one as a member.
static bool take_line(struct warm_reader *r, const char *text, size_t length, struct err *e)
{
    struct json root;
    struct json_source json = {.path = r->path, .text = text, .length = length};
    if (!json_check(&json, &root, e))
        return false;
    struct json values = json_member(root, "configuration");
    values = values.at ? values : root;
    if (json_type(values) != JSON_OBJECT)
        return err_at(e, r->path, 0, "not a configuration as a JSON object");
    if (!check_names(r, values, e))
        return false;
    take_values(r, values);
    return true;
}

static bool read_lines(struct warm_reader *r, FILE *from, struct err *e)
{
    char *text = NULL;
    size_t room = 0;
    bool ok = true;
    for (int line = 1; ok; line++) {
        ssize_t length = getline(&text, &room, from);
        if (length < 0)
            break;
        if (text[strspn(text, " \t\r\n")] == '\0')
            continue;
        ok = take_line(r, text, (size_t)length, e);
        if (!ok)
            e->line = line;
    }
    free(text);
    return ok && (!ferror(from) || err_at(e, r->path, 0, "%s", strerror(errno)));
}

bool guesses_read(const char *path, const struct search_problem *problem, struct arena *a,
                  struct warm_start *out, struct err *e)
{
    struct warm_reader r = reader_of(problem, a, GUESSES_MOST, out);
    bool is_input = str_equal(path, "-");
    r.path = is_input ? "standard input" : arena_strdup(a, path);
    FILE *from = is_input ? stdin : fopen(path, "r");
    bool ok = from ? read_lines(&r, from, e) : err_at(e, r.path, 0, "%s", strerror(errno));
    if (from && !is_input)
        fclose(from);
    if (ok && !r.known.count)
        ok = err_at(e, r.path, 0, "none of its configurations fits '%s'", problem->space->name);
    keep(&r.known, a, out);
    config_set_finish(&r.known);
    return ok;
}

// --- a session stores its warm start ---

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

// --- transfer: the results of one session ---

struct reader {
    const struct space *space;
    double flop;
    int64_t told; // those told later do not count
    struct config *config;
    double *fitness;
    int64_t *order; // when each was told
    int count, capacity;
    int64_t answers; // that count, rejected ones too
    int64_t last;    // the latest of these told
    bool failed;
    struct err err;
};

static bool transfer_take_trial(void *context, const struct trial_record *t)
{
    struct reader *r = context;
    if (t->outcome == OUTCOME_OPEN || t->told > r->told)
        return true;
    r->last = t->told > r->last ? t->told : r->last;
    r->answers++;
    if (t->outcome == OUTCOME_REJECTED)
        return true;
    if (r->count == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 256;
        r->config = mem_resize(r->config, (size_t)r->capacity, sizeof *r->config);
        r->fitness = mem_resize(r->fitness, (size_t)r->capacity, sizeof *r->fitness);
        r->order = mem_resize(r->order, (size_t)r->capacity, sizeof *r->order);
    }
    r->failed = !config_parse_key(r->space, t->key, &r->config[r->count], &r->err);
    r->fitness[r->count] = t->outcome == OUTCOME_OK ? r->flop / t->seconds / 1e12 : 0;
    r->order[r->count++] = t->told;
    return !r->failed;
}

static bool read_results(struct store *store, struct transfer_source *from, double flop,
                         struct arena *a, struct search_history *out, struct err *e)
{
    struct reader r = {.space = out->space, .flop = flop, .told = from->told};
    bool ok = store_each_trial(store, from->session, 1, transfer_take_trial, &r, e);
    if (ok && r.failed && e)
        *e = r.err;
    ok = ok && !r.failed;
    if (ok && r.last != r.answers)
        ok =
            err_set(e, "session %" PRId64 " is damaged: the order of its trials is", from->session);
    if (ok) {
        // In the order told, which is that of the asks unless the strategy was asynchronous.
        struct config *config = arena_zero(a, (size_t)r.count + 1, sizeof *config);
        double *fitness = arena_zero(a, (size_t)r.count + 1, sizeof *fitness);
        int *at = mem_zero((size_t)r.last + 1, sizeof *at);
        for (int i = 0; i < r.count; i++)
            at[r.order[i]] = i + 1;
        out->count = 0;
        for (int64_t told = 0; told <= r.last; told++)
            if (at[told]) {
                config[out->count] = r.config[at[told] - 1];
                fitness[out->count++] = r.fitness[at[told] - 1];
            }
        out->config = config;
        out->fitness = fitness;
        free(at);
    }
    from->told = r.last;
    free(r.config);
    free(r.fitness);
    free(r.order);
    return ok;
}

#define ALL_TOLD INT64_MAX // of a session that has to be there

static void drop_last(struct transfer *t)
{
    struct transfer_source *s = &t->source[--t->count];
    script_destroy(s->script);
    recording_destroy(s->recording);
}

// Adds a session to `t`, which has room for it.
static bool add(struct store *store, int64_t session, int64_t told, struct arena *a,
                struct transfer *t, struct err *e)
{
    struct session_record r;
    bool (*get)(struct store * s, int64_t id, struct arena * a, struct session_record * out,
                struct err * e) = told == ALL_TOLD ? store_get_session : store_get_history;
    if (!get(store, session, a, &r, e))
        return false;
    struct transfer_source *from = &t->source[t->count];
    struct search_history *history = &t->history[t->count++];
    *from = (struct transfer_source){.session = session, .told = told};
    *history = (struct search_history){.name = arena_printf(a, "session %" PRId64, session)};
    history->space = stored_space(store, &r, a, &from->script, &from->recording, e);
    if (history->space && read_results(store, from, r.flop, a, history, e))
        return true;
    drop_last(t);
    return err_prefix(e, "the results of session %" PRId64, session);
}

// --- the choice of sessions ---

struct choice { // sessions, each once
    struct chosen {
        int64_t id;
        bool named; // by the user: it must be there
    } * item;
    int count, capacity;
};

static void choose(struct choice *c, int64_t id, bool named)
{
    for (int i = 0; i < c->count; i++)
        if (c->item[i].id == id) {
            c->item[i].named |= named;
            return;
        }
    MEM_GROW(c->item, c->count, c->capacity);
    c->item[c->count++] = (struct chosen){id, named};
}

static bool choose_listed(struct choice *c, const char *list, bool named, struct err *e)
{
    char *rest = NULL, *text = mem_strdup(list ? list : "");
    bool ok = true;
    for (char *word = strtok_r(text, ",", &rest); ok && word; word = strtok_r(NULL, ",", &rest)) {
        int64_t id;
        ok = str_to_int(word, 1, INT64_MAX, &id);
        if (ok)
            choose(c, id, named);
        else
            err_usage(e, "--transfer: '%s' is not the number of a session (nor auto, nor none)",
                      word);
    }
    free(text);
    if (ok && named && c->count == 0)
        return err_usage(e, "--transfer: no session is named (auto and none are words too)");
    return ok;
}

static int compare_newest(const void *a, const void *b)
{
    const struct chosen *x = a, *y = b;
    return (x->id < y->id) - (x->id > y->id);
}

// Returns true if a session has a valid result. One that was found, not named, also needs the
// parameters of the new session.
static bool is_useful(const struct transfer_wish *wish, bool alike, const struct search_history *h)
{
    const struct space *s = h->space;
    bool has_valid = false, same = s->param_count == wish->space->param_count;
    for (int i = 0; i < h->count; i++)
        has_valid |= h->fitness[i] > 0;
    for (int i = 0; same && i < s->param_count; i++)
        same = str_equal(s->param[i].name, wish->space->param[i].name);
    return has_valid && (!alike || same);
}

// Reads the chosen sessions, the newest first, until there are enough.
static bool read_chosen(struct store *store, const struct transfer_wish *wish, struct choice *c,
                        bool alike, struct arena *a, struct transfer *out, struct err *e)
{
    if (c->count > 0)
        qsort(c->item, (size_t)c->count, sizeof *c->item, compare_newest);
    for (int i = 0; i < c->count && out->count < TRANSFER_MOST; i++) {
        const struct chosen *item = &c->item[i];
        struct err ignored; // of a session that the user did not name
        if (!add(store, item->id, ALL_TOLD, a, out, item->named ? e : &ignored)) {
            if (item->named)
                return false;
        } else if (!is_useful(wish, alike, &out->history[out->count - 1])) {
            drop_last(out);
            if (item->named)
                return err_set(e, "session %" PRId64 " has no valid result to learn from",
                               item->id);
        }
    }
    // Oldest first.
    for (int i = 0, k = out->count - 1; i < k; i++, k--) {
        struct transfer_source source = out->source[i];
        struct search_history history = out->history[i];
        out->source[i] = out->source[k];
        out->history[i] = out->history[k];
        out->source[k] = source;
        out->history[k] = history;
    }
    return true;
}

bool transfer_check(struct store *store, const char *wanted, struct arena *a, struct err *e)
{
    struct choice c = {0};
    struct session_record r;
    bool is_list = wanted && !str_equal(wanted, "auto") && !str_equal(wanted, "none");
    bool ok = !is_list || choose_listed(&c, wanted, true, e);
    for (int i = 0; ok && i < c.count; i++)
        ok = store_get_session(store, c.item[i].id, a, &r, e);
    free(c.item);
    return ok;
}

bool transfer_choose(struct store *store, const struct transfer_wish *wish, struct arena *a,
                     struct transfer *out, struct err *e)
{
    struct choice c = {0};
    bool alike = str_equal(wish->wanted, "auto"), ok = true;
    *out = (struct transfer){.source = arena_zero(a, TRANSFER_MOST + 1, sizeof *out->source),
                             .history = arena_zero(a, TRANSFER_MOST + 1, sizeof *out->history)};
    if (str_equal(wish->wanted, "none"))
        return true;
    if (alike) {
        // Records are compared here, spaces when they are read.
        const struct session_record *own = wish->record;
        const size_t kind = strcspn(own->title, " "); // the operator, which a title begins with
        struct session_record *list;
        int count = 0;
        ok = store_list_sessions(store, a, &list, &count, e);
        for (int i = 0; ok && i < count; i++) {
            const struct session_record *r = &list[i];
            if (r->ok > 0 && (wish->any_device || stored_on_one_device(r, own)) &&
                r->cold == own->cold && objective_is_same(r->objective, own->objective) &&
                str_equal(r->source, own->source) && strcspn(r->title, " ") == kind &&
                strncmp(r->title, own->title, kind) == 0)
                choose(&c, r->id, false);
        }
    } else
        ok = choose_listed(&c, wish->earlier, false, e) &&
             (!wish->wanted || choose_listed(&c, wish->wanted, true, e));
    ok = ok && read_chosen(store, wish, &c, alike, a, out, e);
    free(c.item);
    if (!ok)
        transfer_finish(out);
    return ok;
}

// --- a session stores its transfer ---

void transfer_add_text(const struct transfer *t, struct str *out)
{
    for (int i = 0; i < t->count; i++)
        history_add(out, &(struct history_part){t->source[i].session, t->source[i].told});
}

bool transfer_parse(struct store *store, const char *text, struct arena *a, struct transfer *out,
                    struct err *e)
{
    struct history_part part;
    const char *at = text;
    bool ok = true;
    *out = (struct transfer){.source = arena_zero(a, TRANSFER_MOST + 1, sizeof *out->source),
                             .history = arena_zero(a, TRANSFER_MOST + 1, sizeof *out->history)};
    while (ok && out->count < TRANSFER_MOST && history_next(&at, &part))
        ok = add(store, part.session, part.told, a, out, e);
    if (ok && at && *at)
        ok = err_set(e, "what the session learns from is damaged: '%s'", text);
    if (!ok)
        transfer_finish(out);
    return ok;
}

void transfer_finish(struct transfer *t)
{
    while (t->count > 0)
        drop_last(t);
}
