#include "sessions.h"

#include "base/str.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>

static const char *id_text(struct box *b, int64_t id)
{
    return arena_printf(&b->arena, "%" PRId64, id);
}

// --- sequences ---

static void add_raw(struct str *out, const cJSON *trial, const char *name)
{
    char *text = cJSON_PrintUnformatted(member(trial, name));
    str_printf(out, " %s", text);
    cJSON_free(text);
}

static void add_trial(struct str *out, const cJSON *trial)
{
    static const char *const members[] = {"ask", "id",      "generation", "outcome", "tflops",
                                          "ms",  "samples", "config",     "origin"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        add_raw(out, trial, members[i]);
    if (strcmp(text_of(trial, "outcome"), "ok") != 0)
        add_raw(out, trial, "reason");
    str_add(out, "\n");
}

static const char *list_trials(struct box *b, int64_t id, bool gaps)
{
    struct result r = RUN(b, "show", id_text(b, id), "--trials", "--show-rejected", "--json");
    if (r.code != 0)
        fail_msg("show: %s", r.err);
    const cJSON *trial, *trials = member(json_of(b, r.out), "trials");
    struct str text = {0};
    int ask = 0;
    cJSON_ArrayForEach(trial, trials)
    {
        if (!gaps)
            assert_int_equal(number_of(trial, "ask"), ++ask);
        add_trial(&text, trial);
    }
    const char *kept = arena_strdup(&b->arena, str_text(&text));
    str_finish(&text);
    return kept;
}

const char *sequence(struct box *b, int64_t id)
{
    return list_trials(b, id, false);
}

const char *sequence_with_gaps(struct box *b, int64_t id)
{
    return list_trials(b, id, true);
}

// --- ls ---

void copy_small(struct box *b)
{
    box_write(b, "small.lua", box_read(b, flow_path(b, "small.lua")));
    box_write(b, "small.comp", box_read(b, flow_path(b, "small.comp")));
}

cJSON *listed_sessions(struct box *b)
{
    struct result r = RUN(b, "ls", "--json");
    if (r.code == 1 && strstr(r.err, "there is no database"))
        return member(json_of(b, "{\"sessions\":[]}"), "sessions");
    if (r.code != 0)
        fail_msg("ls: %s", r.err);
    return member(json_of(b, r.out), "sessions");
}

cJSON *listed_session(struct box *b, int64_t id)
{
    cJSON *session, *sessions = listed_sessions(b);
    cJSON_ArrayForEach(session,
                       sessions) if (number_of(session, "id") == (double)id) return session;
    return NULL;
}

static cJSON *must_list(struct box *b, int64_t id)
{
    cJSON *session = listed_session(b, id);
    if (!session)
        fail_msg("there is no session %" PRId64, id);
    return session;
}

const char *state_of(struct box *b, int64_t id)
{
    return text_of(must_list(b, id), "state");
}

int64_t runner_of(struct box *b, int64_t id)
{
    return (int64_t)number_of(must_list(b, id), "runner");
}

int64_t trials_of(struct box *b, int64_t id)
{
    return (int64_t)number_of(must_list(b, id), "trials");
}

// --- the database ---

// Reads only. A database or a table that is not there yet has nothing.
static int64_t look_for(struct box *b, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    int64_t number = 0;
    if (sqlite3_open_v2(box_get(b, "TILEWALK_DB"), &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_busy_timeout(db, 10000) == SQLITE_OK &&
        sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return number;
}

int64_t stored_trials(struct box *b, int64_t id)
{
    return look_for(
        b, arena_printf(&b->arena,
                        "SELECT sum(trials) FROM session WHERE %" PRId64 " IN (id, network)", id));
}

bool is_stored(struct box *b, int64_t id)
{
    return look_for(
        b, arena_printf(&b->arena, "SELECT count(*) FROM session WHERE id = %" PRId64, id));
}

// --- waiting ---

struct wish {
    int64_t id, trials, seen;
    const char *state;
};

static bool has_trials(struct box *b, void *context)
{
    struct wish *w = context;
    w->seen = stored_trials(b, w->id);
    return w->seen >= w->trials;
}

static bool has_state(struct box *b, void *context)
{
    const struct wish *w = context;
    return strcmp(state_of(b, w->id), w->state) == 0;
}

static bool has_no_runner(struct box *b, void *context)
{
    return runner_of(b, ((const struct wish *)context)->id) == 0;
}

static const char *trials_seen(struct box *b, void *context)
{
    const struct wish *w = context;
    return arena_printf(&b->arena, "session %" PRId64 " has %" PRId64 " trials of %" PRId64, w->id,
                        w->seen, w->trials);
}

void wait_for_trials(struct box *b, int64_t id, int64_t trials)
{
    struct wish w = {.id = id, .trials = trials};
    wait_and_tell(b, "trials", has_trials, trials_seen, &w);
}

void wait_for_state(struct box *b, int64_t id, const char *state)
{
    wait_until(b, state, has_state, &(struct wish){.id = id, .state = state});
}

void wait_for_no_runner(struct box *b, int64_t id)
{
    wait_until(b, "a session without runner", has_no_runner, &(struct wish){.id = id});
}

struct running *start_long_session(struct box *b)
{
    struct running *r =
        START(b, "tune", flow_path(b, "small.lua"), "--source", LONG_SOURCE, "--strategy", "random",
              "--trials", "4000", "--workers", "2", "--seed", "7", "--json");
    wait_for_trials(b, 1, 3);
    return r;
}

// --- events ---

int64_t tamper(struct box *b, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(box_get(b, "TILEWALK_DB"), &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 10000);
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    int code = sqlite3_step(statement);
    int64_t number = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    assert_true(code == SQLITE_ROW || code == SQLITE_DONE);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return number;
}

int64_t count_rows(struct box *b, const char *table, const char *where)
{
    return tamper(b, arena_printf(&b->arena, "SELECT count(*) FROM %s WHERE %s", table,
                                  where ? where : "true"));
}

struct events events_of(struct box *b, const char *out)
{
    struct events e;
    e.count = json_lines(b, out, &e.line);
    return e;
}

static bool is_event(const cJSON *line, const char *kind)
{
    return strcmp(text_of(line, "event"), kind) == 0;
}

int count_events(const struct events *e, const char *kind)
{
    int n = 0;
    for (int i = 0; i < e->count; i++)
        n += is_event(e->line[i], kind);
    return n;
}

cJSON *first_event(const struct events *e, const char *kind)
{
    for (int i = 0; i < e->count; i++)
        if (is_event(e->line[i], kind))
            return e->line[i];
    fail_msg("no event '%s'", kind);
    return NULL;
}

cJSON *end_event(const struct events *e)
{
    assert_true(e->count > 0);
    assert_int_equal(count_events(e, "end"), 1);
    assert_true(is_event(e->line[e->count - 1], "end"));
    return e->line[e->count - 1];
}

bool has_device(void)
{
    void *state = NULL;
    box_setup(&state);
    struct box *b = state;
    struct result r = RUN(b, "devices", "--json");
    bool has = r.code == 0 && strstr(r.out, "\"index\"");
    if (!has)
        print_message("no Vulkan device: %s%s\n", r.out, r.err);
    box_teardown(&state);
    return has;
}
