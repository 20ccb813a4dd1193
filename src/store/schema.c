#include "store/row.h"

#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APPLICATION_ID 0x746c776b // "tlwk": marks databases of tilewalk

// Version 1. `rank_seconds` is the time that a trial is ranked by, NULL when it has no rank (see
// store.h, and version 6). The sums in `session` are updated with each trial, so that a list of
// sessions reads no trials.
// clang-format off
static const char version_1[] =
    "CREATE TABLE session(\n"
    "    id INTEGER PRIMARY KEY AUTOINCREMENT, created REAL, state TEXT,\n"
    "    name TEXT, path TEXT, title TEXT, operation TEXT, settings TEXT,\n"
    "    device TEXT, driver TEXT, device_type TEXT, device_id TEXT, limits TEXT,\n"
    "    source TEXT, strategy TEXT, seed INTEGER, flop REAL, size TEXT, text_hash TEXT,\n"
    "    budget_trials INTEGER, budget_seconds REAL, workers INTEGER, count_rejected INTEGER,\n"
    "    ran_seconds REAL, message TEXT, note TEXT, warm TEXT,\n"
    "    trials INTEGER NOT NULL DEFAULT 0,\n"
    "    rejected INTEGER NOT NULL DEFAULT 0,\n"
    "    ok INTEGER NOT NULL DEFAULT 0) STRICT;\n"
    "CREATE TABLE text(\n"
    "    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,\n"
    "    position INTEGER NOT NULL, name TEXT, path TEXT, text TEXT,\n"
    "    PRIMARY KEY (session, position)) STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE trial(\n"
    "    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,\n"
    "    ask INTEGER NOT NULL, number INTEGER, told INTEGER, asked_after INTEGER, generation INTEGER,\n"
    "    key TEXT, config TEXT, outcome TEXT, phase TEXT, reason TEXT, seconds REAL,\n"
    "    samples TEXT, early_stopped INTEGER, compile_s REAL, pipeline_s REAL, device_s REAL,\n"
    "    worker INTEGER, elapsed_s REAL, finished REAL, rank_seconds REAL,\n"
    "    PRIMARY KEY (session, ask)) STRICT, WITHOUT ROWID;\n"
    "CREATE INDEX trial_rank ON trial(session, rank_seconds) WHERE rank_seconds IS NOT NULL;\n"
    "CREATE TABLE retime(\n"
    "    id INTEGER PRIMARY KEY, session INTEGER NOT NULL, ask INTEGER NOT NULL,\n"
    "    kind TEXT NOT NULL, seconds REAL, samples TEXT, verified INTEGER, at REAL,\n"
    "    FOREIGN KEY (session, ask) REFERENCES trial(session, ask) ON DELETE CASCADE) STRICT;\n"
    "CREATE INDEX retime_trial ON retime(session, ask);\n"
    "CREATE TABLE command(\n"
    "    id INTEGER PRIMARY KEY AUTOINCREMENT,\n"
    "    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,\n"
    "    verb TEXT NOT NULL, argument TEXT, at REAL) STRICT;\n"
    "CREATE INDEX command_session ON command(session);\n"
    "CREATE TABLE message(\n"
    "    id INTEGER PRIMARY KEY,\n"
    "    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,\n"
    "    at REAL, level TEXT, text TEXT) STRICT;\n"
    "CREATE INDEX message_session ON message(session);\n";

// Version 2: a session of a million trials can be watched. `best_step` is the best-so-far curve and
// `tally` the number of trials of each outcome; both are updated with each trial.
static const char version_2[] =
    "ALTER TABLE session ADD COLUMN population TEXT;\n"
    "ALTER TABLE trial ADD COLUMN origin TEXT;\n"
    "CREATE INDEX trial_key ON trial(session, key);\n"
    "CREATE INDEX trial_number ON trial(session, number) WHERE number > 0;\n"
    "CREATE TABLE best_step(\n"
    "    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,\n"
    "    number INTEGER NOT NULL, ask INTEGER NOT NULL, seconds REAL NOT NULL,\n"
    "    elapsed_s REAL, finished REAL,\n"
    "    PRIMARY KEY (session, number)) STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE tally(\n"
    "    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,\n"
    "    outcome TEXT NOT NULL, count INTEGER NOT NULL, early INTEGER NOT NULL,\n"
    "    PRIMARY KEY (session, outcome)) STRICT, WITHOUT ROWID;\n"
    "INSERT INTO best_step(session, number, ask, seconds, elapsed_s, finished)\n"
    "    SELECT session, number, ask, seconds, elapsed_s, finished FROM\n"
    "    (SELECT session, number, ask, seconds, elapsed_s, finished, min(seconds) OVER\n"
    "     (PARTITION BY session ORDER BY number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)\n"
    "     AS before FROM trial WHERE number > 0 AND outcome = 'ok')\n"
    "    WHERE before IS NULL OR seconds < before;\n"
    "INSERT INTO tally(session, outcome, count, early)\n"
    "    SELECT session, outcome, count(*),\n"
    "    count(*) FILTER (WHERE outcome = 'ok' AND early_stopped)\n"
    "    FROM trial WHERE outcome IS NOT NULL GROUP BY session, outcome;\n";

// Version 3: operations whose batch was reduced for the device.
static const char version_3[] =
    "ALTER TABLE session ADD COLUMN declared TEXT;\n"
    "ALTER TABLE session ADD COLUMN reduced TEXT;\n";

// Version 4: the quality of models, and their transfer priors.
static const char version_4[] =
    "ALTER TABLE session ADD COLUMN history TEXT;\n"
    "CREATE TABLE refit(\n"
    "    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,\n"
    "    number INTEGER NOT NULL, told INTEGER NOT NULL, rows INTEGER NOT NULL,\n"
    "    correlation REAL, recall REAL, k INTEGER, batch INTEGER, seconds REAL, bytes REAL,\n"
    "    elapsed_s REAL, at REAL,\n"
    "    PRIMARY KEY (session, number)) STRICT, WITHOUT ROWID;\n";

// Version 5: strategy walk proposes ahead, by count, instead of in batches.
static const char version_5[] =
    "UPDATE session SET strategy = replace(strategy, ':batch=1', ':ahead=0')\n"
    "    WHERE strategy LIKE 'walk:%:batch=1';\n";

// Version 6: times of different races are not compared. `unraced` is 0 for trials of the session's
// last race; all others are ranked behind them, by their own times. Rows of earlier versions belong
// to one race when they are less than 20 ms apart: they were stored at once, and a race takes
// longer.
static const char version_6[] =
    "ALTER TABLE trial ADD COLUMN unraced INTEGER NOT NULL DEFAULT 1;\n"
    "DROP INDEX trial_rank;\n"
    "UPDATE trial SET rank_seconds = seconds WHERE rank_seconds IS NOT NULL;\n"
    "UPDATE trial SET unraced = 0, rank_seconds = r.seconds FROM\n"
    "    (SELECT session, ask, seconds, verified, sum(begins) OVER\n"
    "     (PARTITION BY session ORDER BY id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)\n"
    "     AS later FROM (SELECT *, ifnull(abs(at - lag(at) OVER\n"
    "      (PARTITION BY session ORDER BY id)) > 0.02, 1) AS begins FROM retime WHERE kind = 'race'))\n"
    "    AS r WHERE ifnull(r.later, 0) = 0 AND r.verified AND trial.session = r.session\n"
    "    AND trial.ask = r.ask AND trial.rank_seconds IS NOT NULL;\n"
    "CREATE INDEX trial_rank ON trial(session, unraced, rank_seconds)\n"
    "    WHERE rank_seconds IS NOT NULL;\n";

// Version 7: the unit of a session's speeds, where it is not FLOPS.
static const char version_7[] =
    "ALTER TABLE session ADD COLUMN work REAL;\n"
    "ALTER TABLE session ADD COLUMN unit TEXT;\n";

// Version 8: compiler statistics of kernels.
static const char version_8[] = "ALTER TABLE trial ADD COLUMN statistics TEXT;\n";

// Version 9: an index of damaged rows of trials, which is normally empty.
static const char version_9[] =
    "CREATE INDEX trial_damaged ON trial(session) WHERE " TRIAL_IS_DAMAGED ";\n";

// Version 10: compile probes: statistics of configurations that were compiled, and perhaps not
// chosen.
static const char version_10[] =
    "CREATE TABLE look(\n"
    "    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,\n"
    "    key TEXT NOT NULL, fits INTEGER NOT NULL, statistics TEXT,\n"
    "    PRIMARY KEY (session, key)) STRICT, WITHOUT ROWID;\n";

// Version 11: networks, whose tasks are sessions.
static const char version_11[] =
    "ALTER TABLE session ADD COLUMN scheduler TEXT;\n"
    "ALTER TABLE session ADD COLUMN begin_with TEXT;\n"
    "ALTER TABLE session ADD COLUMN network INTEGER NOT NULL DEFAULT 0;\n"
    "ALTER TABLE session ADD COLUMN task TEXT;\n"
    "CREATE INDEX session_network ON session(network) WHERE network > 0;\n"
    "CREATE TABLE task(\n"
    "    network INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,\n"
    "    position INTEGER NOT NULL, name TEXT, title TEXT, preset TEXT, settings TEXT, kind TEXT,\n"
    "    uses INTEGER NOT NULL, flop REAL, session INTEGER NOT NULL, known_s REAL,\n"
    "    PRIMARY KEY (network, position)) STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE round(\n"
    "    network INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,\n"
    "    number INTEGER NOT NULL, task INTEGER NOT NULL, trials INTEGER NOT NULL,\n"
    "    pinned INTEGER NOT NULL, told INTEGER NOT NULL, seconds REAL, more INTEGER NOT NULL, latency REAL,\n"
    "    all_trials INTEGER NOT NULL, elapsed_s REAL, at REAL,\n"
    "    PRIMARY KEY (network, number)) STRICT, WITHOUT ROWID;\n";

// Version 12: networks are run as a whole.
static const char version_12[] =
    "CREATE TABLE plan(network INTEGER PRIMARY KEY REFERENCES session ON DELETE CASCADE,\n"
    "    plan TEXT) STRICT;\n"
    "CREATE TABLE whole(\n"
    "    network INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,\n"
    "    number INTEGER NOT NULL, all_trials INTEGER NOT NULL, elapsed_s REAL, sum_s REAL,\n"
    "    seconds REAL, rival_s REAL, verified INTEGER NOT NULL, reason TEXT, kernels TEXT,\n"
    "    kept TEXT, at REAL,\n"
    "    PRIMARY KEY (network, number)) STRICT, WITHOUT ROWID;\n";

// Version 13: the weights that the user gives the tasks of a network; the compiler of a session's
// GLSL.
static const char version_13[] =
    "CREATE TABLE weight(\n"
    "    network INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,\n"
    "    round INTEGER NOT NULL, task INTEGER NOT NULL, weight REAL,\n"
    "    PRIMARY KEY (network, round, task)) STRICT, WITHOUT ROWID;\n"
    "ALTER TABLE session ADD COLUMN compiler TEXT;\n";

// Version 14: times of a network's tasks in another program.
static const char version_14[] = "ALTER TABLE task ADD COLUMN told_s REAL;\n";

// Version 15: sensors of the device while a trial was timed, and its drift.
static const char version_15[] = "ALTER TABLE trial ADD COLUMN clocks TEXT;\n"
                                 "ALTER TABLE trial ADD COLUMN drift REAL;\n";

// Version 16: baselines: configurations in use, which others are compared with.
static const char version_16[] =
    "CREATE TABLE baseline(\n"
    "    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,\n"
    "    position INTEGER NOT NULL, name TEXT, config TEXT, outcome TEXT, phase TEXT, reason TEXT,\n"
    "    seconds REAL, race_seconds REAL, samples TEXT, at REAL,\n"
    "    PRIMARY KEY (session, position)) STRICT, WITHOUT ROWID;\n";

// Version 17: peaks of devices, and the least times that follow for a session.
static const char version_17[] =
    "CREATE TABLE roof(device_id TEXT PRIMARY KEY, device TEXT, driver TEXT, figures TEXT,\n"
    "    at REAL) STRICT, WITHOUT ROWID;\n"
    "ALTER TABLE session ADD COLUMN roof_s REAL;\n"
    "ALTER TABLE session ADD COLUMN roof_by TEXT;\n"
    "ALTER TABLE session ADD COLUMN dispatch_s REAL;\n"
    "ALTER TABLE session ADD COLUMN until REAL;\n";
// Version 18: machines that measure for a session.
static const char version_18[] =
    "ALTER TABLE trial ADD COLUMN machine TEXT;\n";

// Version 19: the states of these machines.
static const char version_19[] =
    "CREATE TABLE machine(\n"
    "    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,\n"
    "    name TEXT NOT NULL, place TEXT, device TEXT, driver TEXT, state TEXT, why TEXT,\n"
    "    lost INTEGER, at REAL,\n"
    "    PRIMARY KEY (session, name)) STRICT, WITHOUT ROWID;\n";

// Version 20: the number of cards of one model on which a session measures.
static const char version_20[] = "ALTER TABLE session ADD COLUMN cards INTEGER NOT NULL DEFAULT 0;\n";

// Version 21: strategy walk restarts where no improvement is expected; earlier sessions do not.
static const char version_21[] =
    "UPDATE session SET strategy = strategy || ':leave=0' WHERE strategy LIKE 'walk:%';\n";

// Version 22: sessions that tune one configuration for several shapes.
static const char version_22[] = "ALTER TABLE session ADD COLUMN shapes TEXT;\n"
                                 "ALTER TABLE trial ADD COLUMN parts TEXT;\n"
                                 "ALTER TABLE retime ADD COLUMN parts TEXT;\n"
                                 "ALTER TABLE baseline ADD COLUMN parts TEXT;\n";

// Version 23: kernels may be timed with their inputs in memory, and not in a cache.
static const char version_23[] = "ALTER TABLE session ADD COLUMN cold INTEGER NOT NULL DEFAULT 0;\n";

// Version 24: calibrations of machines, and an index of the trials of each.
static const char version_24[] = "ALTER TABLE machine ADD COLUMN fixed_s REAL;\n"
                                 "ALTER TABLE machine ADD COLUMN drift REAL;\n"
                                 "CREATE INDEX trial_machine ON trial(session, machine, finished)"
                                 " WHERE machine IS NOT NULL;\n";

// Version 25: the number of results within the intervals that models predicted.
static const char version_25[] =
    "CREATE TABLE calibration(\n"
    "    session INTEGER PRIMARY KEY REFERENCES session ON DELETE CASCADE,\n"
    "    results INTEGER NOT NULL, within_50 INTEGER NOT NULL, within_90 INTEGER NOT NULL) STRICT;\n";

// Version 26: strategy walk weighs the cost of trials; earlier sessions do not.
static const char version_26[] =
    "UPDATE session SET strategy = strategy || ':cost=0' WHERE strategy LIKE 'walk:%';\n";

// Version 27: strategy walk follows a surprising result at once; earlier sessions do not.
static const char version_27[] =
    "UPDATE session SET strategy = strategy || ':surprise=0'\n"
    "    WHERE strategy LIKE 'walk:%' AND strategy NOT LIKE '%:surprise=%';\n";

// Version 28: the build that a session began with, and those of trials that another one made.
static const char version_28[] = "ALTER TABLE session ADD COLUMN build TEXT;\n"
                                 "ALTER TABLE trial ADD COLUMN build TEXT;\n";

// Version 29: ratios of a session's best to its baselines, from times in pairs; how steady its
// times are; how often the best was verified.
static const char version_29[] =
    "ALTER TABLE baseline ADD COLUMN paired_ask INTEGER NOT NULL DEFAULT 0;\n"
    "ALTER TABLE baseline ADD COLUMN paired TEXT;\n"
    "ALTER TABLE session ADD COLUMN noise REAL;\n"
    "ALTER TABLE session ADD COLUMN drift REAL;\n"
    "ALTER TABLE session ADD COLUMN soaked INTEGER NOT NULL DEFAULT 0;\n"
    "ALTER TABLE session ADD COLUMN soaked_ask INTEGER NOT NULL DEFAULT 0;\n";

// Version 30: sessions that end after some trials without a gain; sessions that draw from the legal
// points of a sparse space, which earlier ones do not.
static const char version_30[] =
    "ALTER TABLE session ADD COLUMN patience INTEGER NOT NULL DEFAULT 0;\n"
    "ALTER TABLE session ADD COLUMN draws TEXT;\n";

// Version 31: sessions begin with guesses; strategy walk climbs, which earlier sessions do not.
static const char version_31[] =
    "ALTER TABLE session ADD COLUMN guesses TEXT;\n"
    "UPDATE session SET strategy = strategy || ':climb=0'\n"
    "    WHERE strategy LIKE 'walk:%' AND strategy NOT LIKE '%:climb=%';\n";

// Version 32: the trash. `trashed` is the time at which a session was moved there, `kept` its state
// before. Its state is 'removed', so that a program that has the database open while an older
// version becomes this one does not list it.
static const char version_32[] = "ALTER TABLE session ADD COLUMN trashed REAL;\n"
                                 "ALTER TABLE session ADD COLUMN kept TEXT;\n";

// Version 33: what the workers of a session do now.
static const char version_33[] =
    "CREATE TABLE worker(\n"
    "    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,\n"
    "    worker INTEGER NOT NULL, phase TEXT NOT NULL, ask INTEGER NOT NULL, since REAL NOT NULL,\n"
    "    PRIMARY KEY(session, worker)) STRICT, WITHOUT ROWID;\n";
// Version 34: the objective of a session.
static const char version_34[] = "ALTER TABLE session ADD COLUMN objective TEXT;\n";

// Version 35: what the driver's compiler tells of baselines.
static const char version_35[] = "ALTER TABLE baseline ADD COLUMN statistics TEXT;\n";
// clang-format on

// Append only: a script that was released is never edited.
static const char *const scripts_of_schema[] = {
    version_1,  version_2,  version_3,  version_4,  version_5,  version_6,  version_7,
    version_8,  version_9,  version_10, version_11, version_12, version_13, version_14,
    version_15, version_16, version_17, version_18, version_19, version_20, version_21,
    version_22, version_23, version_24, version_25, version_26, version_27, version_28,
    version_29, version_30, version_31, version_32, version_33, version_34, version_35};

const char *const *db_scripts(int *count)
{
    *count = sizeof scripts_of_schema / sizeof *scripts_of_schema;
    return scripts_of_schema;
}

bool db_version(struct store *s, int newest, int *version, struct err *e)
{
    // One statement, so that it sees one state while another process creates the tables.
    static const char sql[] =
        "SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)"
        " FROM pragma_user_version, pragma_application_id";
    struct query q = query_start(s, sql, e);
    bool foreign = false;
    if (query_next(&q)) {
        *version = (int)query_int(&q, 0);
        bool empty = *version == 0 && query_int(&q, 2) == 0;
        foreign = !empty && query_int(&q, 1) != APPLICATION_ID;
    }
    if (!query_end(&q))
        return false;
    if (foreign)
        return err_set(e, "'%s' is a database of another program (choose another with --db)",
                       s->path);
    if (*version > newest)
        return err_set(
            e,
            "'%s' was written by a newer tilewalk: its schema has version %d, this program knows %d"
            " (update tilewalk or choose another with --db)",
            s->path, *version, newest);
    return true;
}

bool db_migrate(struct store *s, const char *const *scripts, int count, struct err *e)
{
    struct scope scope;
    int version = 0;
    if (!scope_enter(s, &scope, e))
        return false;
    bool ok = db_version(s, count, &version, e), migrated = version == count;
    for (int i = version; ok && i < count; i++)
        ok = db_execute(s, scripts[i], e) ||
             err_prefix(e, "can't change the schema to version %d", i + 1);
    if (ok && !migrated) {
        char stamp[96];
        snprintf(stamp, sizeof stamp, "PRAGMA user_version = %d; PRAGMA application_id = %d", count,
                 APPLICATION_ID);
        ok = db_execute(s, stamp, e);
    }
    return scope_leave(s, &scope, ok, e);
}

void db_distrust(sqlite3 *db)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
}

// Appends a line for each column, "\ntrial.config\n".
static bool list_columns(struct store *s, struct str *out, struct err *e)
{
    static const char sql[] =
        "SELECT t.name, c.name FROM pragma_table_list AS t,"
        " pragma_table_xinfo(t.name) AS c WHERE t.schema = 'main'"
        " AND t.type = 'table' AND t.name NOT LIKE 'sqlite%' AND NOT c.hidden";
    struct query q = query_start(s, sql, e);
    while (query_next(&q))
        str_printf(out, "\n%s.%s\n", query_text(&q, 0, NULL), query_text(&q, 1, NULL));
    return query_end(&q);
}

bool db_check_schema(struct store *s, struct err *e)
{
    struct str own = {0}, there = {0};
    int newest;
    const char *const *scripts = db_scripts(&newest);
    struct store *fresh = mem_zero(1, sizeof *fresh);
    fresh->path = mem_strdup(":memory:");
    bool ok = sqlite3_open(fresh->path, &fresh->db) == SQLITE_OK || db_error(fresh, e);
    ok = ok && db_migrate(fresh, scripts, newest, e) && list_columns(fresh, &own, e);
    store_close(fresh);
    ok = ok && list_columns(s, &there, e);
    char *rest = NULL;
    for (char *line = ok && own.length ? own.text + 1 : NULL; ok && line; line = rest) {
        size_t length = strcspn(line, "\n");
        char *wanted = mem_printf("\n%.*s\n", (int)length, line);
        ok = strstr(str_text(&there), wanted) ||
             err_set(e,
                     "'%s' is damaged: it has no stored column %.*s (changed by another program?)",
                     s->path, (int)length, line);
        free(wanted);
        rest = strncmp(line + length, "\n\n", 2) == 0 ? line + length + 2 : NULL;
    }
    str_finish(&own);
    str_finish(&there);
    return ok;
}
