#include "base/mem.h"
#include "base/os.h"
#include "store/row.h"

#include <inttypes.h>
#include <string.h>

// --- baselines: configurations that a space declares as in use ---

// clang-format off
#define BASELINE_FIELDS(F) \
    F(position, COUNT) F(name, TEXT) F(config, MAYBE_OBJECT) F(outcome, OUTCOME) \
    F(phase, MAYBE_TEXT) F(reason, MAYBE_TEXT) F(seconds, SPAN) F(race_seconds, SPAN) \
    F(samples, MAYBE_LIST) F(at, SPAN) F(parts, MAYBE_LIST) F(paired_ask, COUNT) \
    F(paired, MAYBE_LIST) F(statistics, MAYBE_OBJECT)
// clang-format on
#define AS_BASELINE_FIELD(name, rule) FIELD(baseline_record, name, rule),
#define MOST_ROWS                     64 // a space declares far fewer

static const struct field baseline_fields[] = {BASELINE_FIELDS(AS_BASELINE_FIELD)};

bool store_put_baseline(struct store *s, int64_t session, const struct baseline_record *r,
                        struct err *e)
{
    static const char sql[] = "INSERT OR REPLACE INTO baseline(session" BASELINE_FIELDS(
        AS_COLUMN) ") VALUES (:session" BASELINE_FIELDS(AS_VALUE) ")";
    return query_put_record(s, sql, session, FIELDS(baseline_fields), r, e);
}

bool store_get_baselines(struct store *s, int64_t session, struct arena *a, struct baselines *out,
                         struct err *e)
{
    static const char sql[] = "SELECT session" BASELINE_FIELDS(AS_COLUMN) //
        " FROM baseline WHERE session = ? ORDER BY position";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    *out = (struct baselines){.of = arena_zero(a, MOST_ROWS, sizeof *out->of)};
    while (out->count < MOST_ROWS && query_next_record(&q, session, FIELDS(baseline_fields),
                                                       "a baseline", a, &out->of[out->count]))
        out->count++;
    return query_end(&q);
}

double baseline_seconds(const struct baseline_record *b)
{
    return b->outcome != OUTCOME_OK ? 0 : b->race_seconds > 0 ? b->race_seconds : b->seconds;
}

const struct baseline_record *baselines_fastest(const struct baselines *b)
{
    const struct baseline_record *fastest = NULL;
    for (int i = 0; i < b->count; i++)
        if (baseline_seconds(&b->of[i]) > 0 &&
            (!fastest || baseline_seconds(&b->of[i]) < baseline_seconds(fastest)))
            fastest = &b->of[i];
    return fastest;
}

// --- calibration of models ---

#define CALIBRATION_FIELDS(F)            F(results, COUNT) F(within_50, COUNT) F(within_90, COUNT)
#define AS_CALIBRATION_FIELD(name, rule) FIELD(calibration_record, name, rule),
#define AS_SUM(name, rule)               ", " #name " = " #name " + excluded." #name

static const struct field calibration_fields[] = {CALIBRATION_FIELDS(AS_CALIBRATION_FIELD)};

bool store_add_calibration(struct store *s, int64_t session, const struct calibration_record *more,
                           struct err *e)
{
    // clang-format off
    static const char sql[] =
        "INSERT INTO calibration(session" CALIBRATION_FIELDS(AS_COLUMN) ")"
        " VALUES (:session" CALIBRATION_FIELDS(AS_VALUE) ")"
        " ON CONFLICT DO UPDATE SET session = session" CALIBRATION_FIELDS(AS_SUM);
    // clang-format on
    return query_put_record(s, sql, session, FIELDS(calibration_fields), more, e);
}

bool store_get_calibration(struct store *s, int64_t session, struct calibration_record *out,
                           struct err *e)
{
    static const char sql[] = "SELECT session" CALIBRATION_FIELDS(AS_COLUMN) //
        " FROM calibration WHERE session = ?";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    *out = (struct calibration_record){0};
    query_next_record(&q, session, FIELDS(calibration_fields), "the calibration of its model", NULL,
                      out);
    return query_end(&q);
}

// --- compile probes: compiler statistics of configurations that could be proposed ---

#define PROBE_FIELDS(F)            F(key, TEXT) F(fits, FLAG) F(statistics, MAYBE_OBJECT)
#define AS_PROBE_FIELD(name, rule) FIELD(probe_record, name, rule),

static const struct field probe_fields[] = {PROBE_FIELDS(AS_PROBE_FIELD)};

bool store_put_probe(struct store *s, int64_t session, const struct probe_record *r, struct err *e)
{
    static const char sql[] = "INSERT OR IGNORE INTO look(session" PROBE_FIELDS(AS_COLUMN) //
        ") VALUES (:session" PROBE_FIELDS(AS_VALUE) ")";
    return query_put_record(s, sql, session, FIELDS(probe_fields), r, e);
}

bool store_each_probe(struct store *s, int64_t session,
                      bool (*each)(void *context, const struct probe_record *r), void *context,
                      struct err *e)
{
    static const char sql[] = "SELECT session" PROBE_FIELDS(AS_COLUMN) //
        " FROM look WHERE session = ? ORDER BY key";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    const char *what = "what was compiled before it was chosen";
    struct probe_record r;
    while (query_next_record(&q, session, FIELDS(probe_fields), what, NULL, &r) &&
           each(context, &r))
        continue;
    return query_end(&q);
}

// --- refits of models ---

// clang-format off
#define REFIT_FIELDS(F) \
    F(number, ORDINAL) F(told, COUNT) F(rows, COUNT) F(correlation, MAYBE_REAL) \
    F(recall, MAYBE_REAL) F(k, COUNT) F(batch, COUNT) F(seconds, SPAN) F(bytes, AMOUNT) \
    F(elapsed_s, SPAN) F(at, SPAN)
// clang-format on
#define AS_REFIT_FIELD(name, rule) FIELD(refit_record, name, rule),

static const struct field refit_fields[] = {REFIT_FIELDS(AS_REFIT_FIELD)};

bool store_put_refit(struct store *s, int64_t session, const struct refit_record *r, struct err *e)
{
    static const char sql[] = "INSERT INTO refit(session" REFIT_FIELDS(AS_COLUMN) //
        ") VALUES (:session" REFIT_FIELDS(AS_VALUE) ")";
    return query_put_record(s, sql, session, FIELDS(refit_fields), r, e);
}

bool store_each_refit(struct store *s, int64_t session,
                      bool (*each)(void *context, const struct refit_record *r), void *context,
                      struct err *e)
{
    static const char sql[] = "SELECT session" REFIT_FIELDS(AS_COLUMN) //
        " FROM refit WHERE session = ? ORDER BY number";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    struct refit_record r;
    while (query_next_record(&q, session, FIELDS(refit_fields), "a fit of its model", NULL, &r) &&
           each(context, &r))
        continue;
    return query_end(&q);
}

bool store_count_refits(struct store *s, int64_t session, int64_t *count, struct err *e)
{
    struct query q = query_start(s, "SELECT count(*) FROM refit WHERE session = ?", e);
    query_bind_int(&q, session);
    *count = query_next(&q) ? query_int(&q, 0) : 0;
    return query_end(&q);
}

// --- peaks of devices: measured once, used by every session on the device ---

#define ROOF_FIELDS(F)                                                                             \
    F(device_id, TEXT) F(device, TEXT) F(driver, TEXT) F(figures, OBJECT) F(at, SPAN)
#define AS_ROOF_FIELD(name, rule) FIELD(roof_record, name, rule),

static const struct field roof_fields[] = {ROOF_FIELDS(AS_ROOF_FIELD)};

bool store_put_roof(struct store *s, const struct roof_record *r, struct err *e)
{
    static const char sql[] = "INSERT OR REPLACE INTO roof(device_id, device, driver, figures, at)"
                              " VALUES (:device_id, :device, :driver, :figures, :at)";
    struct query q = query_start(s, sql, e);
    query_bind_fields(&q, FIELDS(roof_fields), r);
    return query_run(&q);
}

bool store_get_roof(struct store *s, const char *device_id, struct arena *a,
                    struct roof_record *out, struct err *e)
{
    static const char sql[] = "SELECT 0" ROOF_FIELDS(AS_COLUMN) " FROM roof WHERE device_id = ?";
    struct err why;
    struct query q = query_start(s, sql, e);
    query_bind_text(&q, device_id);
    *out = (struct roof_record){0};
    // A damaged row counts as missing, so that it is measured again.
    if (query_next(&q) && !query_read_fields(&q, 1, FIELDS(roof_fields), a, out, &why))
        *out = (struct roof_record){0};
    return query_end(&q);
}

bool store_set_roof(struct store *s, const struct session_record *r, struct err *e)
{
    static const char sql[] =
        "UPDATE session SET roof_s = ?, roof_by = ?, dispatch_s = ?, until = ?, patience = ?"
        " WHERE id = ?";
    struct query q = query_start(s, sql, e);
    query_bind_real(&q, r->roof_s);
    query_bind_text(&q, r->roof_by);
    query_bind_real(&q, r->dispatch_s);
    query_bind_real(&q, r->until);
    query_bind_int(&q, r->patience);
    query_bind_int(&q, r->id);
    return query_run(&q);
}

// --- sessions ---

// SESSION_FIELDS are stored as they are given; COMPUTED_FIELDS are computed when read.
// clang-format off
#define SESSION_FIELDS(F) \
    F(created, SPAN) F(state, STATE) F(name, TEXT) F(path, TEXT) F(title, TEXT) \
    F(operation, OBJECT) F(settings, OBJECT) F(device, TEXT) F(driver, TEXT) \
    F(device_type, TEXT) F(device_id, TEXT) F(limits, OBJECT) F(source, TEXT) \
    F(strategy, TEXT) F(seed, BITS) F(flop, AMOUNT) F(size, TEXT) F(text_hash, TEXT) \
    F(budget_trials, COUNT) F(budget_seconds, SPAN) F(workers, WORKERS) F(cards, COUNT) F(count_rejected, FLAG) \
    F(ran_seconds, SPAN) F(message, MAYBE_TEXT) F(note, MAYBE_TEXT) F(warm, MAYBE_TEXT) \
    F(population, MAYBE_ASKS) F(declared, MAYBE_OBJECT) F(reduced, MAYBE_TEXT) F(history, MAYBE_HISTORY) \
    F(work, AMOUNT) F(unit, MAYBE_TEXT) F(scheduler, MAYBE_TEXT) F(begin_with, MAYBE_OBJECT) \
    F(network, COUNT) F(task, MAYBE_TEXT) F(compiler, MAYBE_TEXT) \
    F(shapes, MAYBE_OBJECT) F(roof_s, SPAN) F(roof_by, MAYBE_TEXT) F(dispatch_s, SPAN) F(until, AMOUNT) F(cold, FLAG) \
    F(build, MAYBE_TEXT) F(noise, MAYBE_REAL) F(drift, MAYBE_REAL) F(soaked, COUNT) F(soaked_ask, COUNT) \
    F(patience, COUNT) F(draws, MAYBE_TEXT) F(guesses, MAYBE_TEXT) F(trashed, SPAN) \
    F(kept, MAYBE_TEXT) F(objective, MAYBE_TEXT)
#define COMPUTED_FIELDS(F) \
    F(id, ORDINAL) F(trials, COUNT) F(rejected, COUNT) F(ok, COUNT) F(best_ask, COUNT) \
    F(best_seconds, SPAN) F(best_raced, FLAG)
#define TEXT_FIELDS(F) F(name, TEXT) F(path, TEXT) F(text, TEXT)
// clang-format on
#define AS_FIELD(name, rule)          FIELD(session_record, name, rule),
#define AS_TEXT_FIELD(name, rule)     FIELD(text_record, name, rule),
#define AS_SESSION_COLUMN(name, rule) ", s." #name
#define AS_TEXT_COLUMN(name, rule)    ", t." #name

static const struct field fields[] = {SESSION_FIELDS(AS_FIELD)};
static const struct field computed[] = {COMPUTED_FIELDS(AS_FIELD)};
static const struct field text_fields[] = {TEXT_FIELDS(AS_TEXT_FIELD)};
enum { COMPUTED_COUNT = COMPUTED_FIELDS(AS_ONE) };

// The best trial is the first of an index: it needs one look-up a session, and no upkeep. The sums
// of a network are those of its tasks.

// clang-format off
#define SUM_OF(count) \
    " CASE WHEN s.scheduler IS NULL THEN s." #count \
    " ELSE (SELECT ifnull(sum(" #count "), 0) FROM session WHERE network = s.id AND network > 0) END,"
#define SELECT_SESSIONS \
    "SELECT s.id," SUM_OF(trials) SUM_OF(rejected) SUM_OF(ok) " coalesce(b.ask, 0), b.rank_seconds," \
    " coalesce(NOT b.unraced, 0)" SESSION_FIELDS(AS_SESSION_COLUMN) \
    " FROM session AS s LEFT JOIN trial AS b ON b.session = s.id AND b.ask =" \
    " (SELECT ask FROM trial WHERE session = s.id AND rank_seconds IS NOT NULL" \
    "  ORDER BY unraced, rank_seconds, ask LIMIT 1)"
// clang-format on

bool store_has_session(struct store *s, int64_t id, struct err *e)
{
    struct query q = query_start(s, "SELECT 1 FROM session WHERE id = ? AND " IS_THERE, e);
    query_bind_int(&q, id);
    bool found = query_next(&q);
    return query_end(&q) && (found || session_missing(s, id, e));
}

bool store_create_session(struct store *s, const struct session_record *r,
                          const struct text_record *text, int text_count, int64_t *id,
                          struct err *e)
{
    // clang-format off
    static const char put_session[] =
        "INSERT INTO session(id" SESSION_FIELDS(AS_COLUMN) ") VALUES (NULL"
        SESSION_FIELDS(AS_VALUE) ")";
    static const char put_text[] =
        "INSERT INTO text(session, position, name, path, text) VALUES (?, ?, ?, ?, ?)";
    // clang-format on
    struct scope scope;
    if (!scope_enter(s, &scope, e))
        return false;
    struct query q = query_start(s, put_session, e);
    query_bind_fields(&q, FIELDS(fields), r);
    bool ok = query_run(&q);
    if (ok)
        *id = sqlite3_last_insert_rowid(s->db);
    for (int i = 0; ok && i < text_count; i++) {
        q = query_start(s, put_text, e);
        query_bind_int(&q, *id);
        query_bind_int(&q, i);
        query_bind_fields(&q, FIELDS(text_fields), &text[i]);
        ok = query_run(&q);
    }
    return scope_leave(s, &scope, ok, e);
}

static bool read_session(const struct query *q, struct arena *a, struct session_record *r,
                         struct err *why)
{
    *r = (struct session_record){0};
    struct err other;
    bool ok = query_read_fields(q, 0, FIELDS(computed), a, r, why);
    return query_read_fields(q, COMPUTED_COUNT, FIELDS(fields), a, r, ok ? why : &other) && ok;
}

static bool get_session(struct store *s, const char *sql, int64_t id, struct arena *a,
                        struct session_record *out, struct err *e)
{
    struct err why;
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, id);
    bool found = query_next(&q);
    if (found && !read_session(&q, a, out, &why))
        query_refuse(&q, id, "", &why);
    return query_end(&q) && (found || session_missing(s, id, e));
}

bool store_get_session(struct store *s, int64_t id, struct arena *a, struct session_record *out,
                       struct err *e)
{
    return get_session(s, SELECT_SESSIONS " WHERE s.id = ? AND s." IS_THERE, id, a, out, e);
}

bool store_get_history(struct store *s, int64_t id, struct arena *a, struct session_record *out,
                       struct err *e)
{
    return get_session(s, SELECT_SESSIONS " WHERE s.id = ?", id, a, out, e);
}

static void mark_damaged(struct session_record *r, struct arena *a, const struct err *why)
{
    r->state = STATE_DAMAGED;
    r->damage = arena_strdup(a, why->text);
}

struct listing {
    struct session_record *session;
    int count;
    struct arena *arena;
};

static void mark_by_trial(void *context, int64_t id, const struct err *why)
{
    const struct listing *l = context;
    for (int i = 0; i < l->count; i++)
        if (l->session[i].id == id && !l->session[i].damage)
            mark_damaged(&l->session[i], l->arena, why);
}

static bool list_sessions(struct store *s, const char *sql, struct arena *a,
                          struct session_record **out, int *count, struct err *e)
{
    struct session_record *list = NULL;
    int capacity = 0;
    *count = 0;
    struct query q = query_start(s, sql, e);
    while (query_next(&q)) {
        struct err why;
        MEM_GROW(list, *count, capacity);
        struct session_record *r = &list[(*count)++];
        if (!read_session(&q, a, r, &why)) // it must not hide the other sessions
            mark_damaged(r, a, &why);
    }
    *out = list_to_arena(list, *count, sizeof *list, a);
    return query_end(&q) &&
           trials_each_damaged(s, mark_by_trial, &(struct listing){*out, *count, a}, e);
}

bool store_list_sessions(struct store *s, struct arena *a, struct session_record **out, int *count,
                         struct err *e)
{
    return list_sessions(s, SELECT_SESSIONS " WHERE s." IS_THERE " ORDER BY s.id DESC", a, out,
                         count, e);
}

bool store_list_trash(struct store *s, struct arena *a, struct session_record **out, int *count,
                      struct err *e)
{
    static const char sql[] =
        SELECT_SESSIONS " WHERE s." IS_TRASHED " ORDER BY s.trashed DESC, s.id DESC";
    bool ok = list_sessions(s, sql, a, out, count, e);
    for (int i = 0; ok && i < *count; i++) {
        struct session_record *r = &(*out)[i];
        if (r->state == STATE_REMOVED && !state_parse(r->kept, &r->state))
            r->state = STATE_PAUSED;
    }
    return ok;
}

bool store_get_texts(struct store *s, int64_t id, struct arena *a, struct text_record **out,
                     int *count, struct err *e)
{
    static const char sql[] = "SELECT s.path" TEXT_FIELDS(AS_TEXT_COLUMN) //
        " FROM text AS t JOIN session AS s ON s.id = t.session WHERE t.session = ?"
        " ORDER BY t.position";
    struct text_record *list = NULL;
    int capacity = 0;
    *count = 0;
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, id);
    struct text_record t;
    while (query_next_record(&q, id, FIELDS(text_fields), "one of its texts", a, &t)) {
        // Old sessions have paths relative to the folder in which the program was started. The path
        // of the space file is absolute, and the names of texts are relative to its folder.
        const char *space = query_text(&q, 0, NULL), *end = space ? strrchr(space, '/') : NULL;
        if (*t.path != '/' && end)
            t.path = arena_printf(a, "%.*s/%s", (int)(end - space), space, t.name);
        MEM_GROW(list, *count, capacity);
        list[(*count)++] = t;
    }
    *out = list_to_arena(list, *count, sizeof *list, a);
    return query_end(&q);
}

bool store_set_state(struct store *s, int64_t id, enum session_state state, const char *message,
                     double ran_seconds, struct err *e)
{
    static const char sql[] =
        "UPDATE session SET state = ?, message = ?, ran_seconds = ? WHERE id = ?";
    struct query q = query_start(s, sql, e);
    query_bind_text(&q, state_name(state));
    query_bind_text(&q, message);
    query_bind_real(&q, ran_seconds);
    query_bind_int(&q, id);
    return query_change_session(&q, id, e);
}

bool store_set_budget(struct store *s, int64_t id, int64_t trials, double seconds, struct err *e)
{
    static const char sql[] =
        "UPDATE session SET budget_trials = ?, budget_seconds = ? WHERE id = ?";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, trials);
    query_bind_real(&q, seconds);
    query_bind_int(&q, id);
    return query_change_session(&q, id, e);
}

bool store_set_note(struct store *s, int64_t id, const char *note, struct err *e)
{
    static const char sql[] = "UPDATE session SET note = ? WHERE id = ? AND " IS_THERE;
    struct query q = query_start(s, sql, e);
    query_bind_text(&q, note);
    query_bind_int(&q, id);
    return query_change_session(&q, id, e);
}

bool store_set_noise(struct store *s, int64_t id, double noise, double drift, struct err *e)
{
    static const char sql[] = "UPDATE session SET noise = ?, drift = ? WHERE id = ?";
    struct query q = query_start(s, sql, e);
    query_bind_real(&q, noise);
    query_bind_real(&q, drift);
    query_bind_int(&q, id);
    return query_change_session(&q, id, e);
}

bool store_set_soaked(struct store *s, int64_t id, int64_t runs, int64_t ask, struct err *e)
{
    static const char sql[] = "UPDATE session SET soaked = ?, soaked_ask = ? WHERE id = ?";
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, runs);
    query_bind_int(&q, ask);
    query_bind_int(&q, id);
    return query_change_session(&q, id, e);
}

bool store_set_population(struct store *s, int64_t id, const char *asks, struct err *e)
{
    static const char sql[] = "UPDATE session SET population = ? WHERE id = ?";
    struct query q = query_start(s, sql, e);
    query_bind_text(&q, asks);
    query_bind_int(&q, id);
    return query_change_session(&q, id, e);
}

// --- the trash, and deleting ---

// Removes the rows of hidden sessions that no other session learns from, also those of a deletion
// that was interrupted. Trials go in steps, so that other writers get their turns: a million takes
// seconds.
static bool remove_unused(struct store *s, struct err *e)
{
    static const char find[] =
        "SELECT id FROM session AS s WHERE state = 'removed' AND ifnull(trashed, 0) = 0"
        " AND NOT EXISTS (SELECT 1 FROM session"
        " AS u WHERE instr(' ' || u.history, ' ' || s.id || ':')) LIMIT 1";
    static const char remove_trials[] =
        "DELETE FROM trial WHERE session = :id AND ask IN (SELECT ask FROM"
        " trial WHERE session = :id ORDER BY ask DESC LIMIT 10000)";
    for (;;) {
        struct query q = query_start(s, find, e);
        int64_t id = query_next(&q) ? query_int(&q, 0) : 0;
        if (!query_end(&q))
            return false;
        if (!id)
            return true;
        do {
            q = query_start(s, remove_trials, e);
            query_bind_int(&q, id);
            if (!query_run(&q))
                return false;
        } while (sqlite3_changes(s->db) > 0);
        q = query_start(s, "DELETE FROM session WHERE id = ?", e);
        query_bind_int(&q, id);
        if (!query_run(&q))
            return false;
    }
}

// Runs `sql`, which changes session ?1 and its tasks and sets `trashed` to ?2. The session is
// locked meanwhile, so that nobody runs it.
static bool change_whole(struct store *s, int64_t id, const char *sql, double trashed,
                         struct err *e)
{
    bool own = lock_held(s, id);
    if (!own && !store_lock_session(s, id, e))
        return false;
    struct query q = query_start(s, "SELECT network FROM session WHERE id = ?", e);
    query_bind_int(&q, id);
    int64_t network = query_next(&q) ? query_int(&q, 0) : 0;
    bool ok = query_end(&q);
    if (ok && network)
        ok = err_set(e,
                     "session %" PRId64 " is a task of network %" PRId64
                     ", which goes as a whole (`tilewalk rm %" PRId64 "%s`)",
                     id, network, network, store_option(s));
    if (ok) {
        q = query_start(s, sql, e);
        query_bind_int(&q, id);
        query_bind_real(&q, trashed);
        ok = query_run(&q) && (sqlite3_changes(s->db) > 0 || session_missing(s, id, e));
    }
    if (!own)
        store_unlock_session(s, id);
    return ok;
}

#define OF_WHOLE " WHERE (id = ?1 OR (network = ?1 AND network > 0)) AND "

bool store_trash_session(struct store *s, int64_t id, struct err *e)
{
    return change_whole(s, id,
                        "UPDATE session SET kept = state, state = 'removed', trashed = ?2" //
                        OF_WHOLE IS_THERE,
                        os_unix_time(), e);
}

bool store_restore_session(struct store *s, int64_t id, struct err *e)
{
    struct err why;
    if (change_whole(s, id,
                     "UPDATE session SET state = kept, kept = NULL, trashed = ?2" //
                     OF_WHOLE IS_TRASHED,
                     0, &why))
        return true;
    return store_has_session(s, id, e) ? err_set(e, "session %" PRId64 " is not in the trash", id)
                                       : err_set(e, "%s", why.text);
}

// The session and its tasks are hidden first: it is gone even where removing its rows is
// interrupted.
bool store_delete_session(struct store *s, int64_t id, struct err *e)
{
    return change_whole(s, id,
                        "UPDATE session SET state = 'removed', history = NULL, trashed = ?2" //
                        OF_WHOLE "(" IS_THERE " OR " IS_TRASHED ")",
                        0, e) &&
           remove_unused(s, e);
}
