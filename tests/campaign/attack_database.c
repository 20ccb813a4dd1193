// A database in which something is not as we write it: a column of all sessions but the first is
// NULL, of another type or out of all measure, foreign triggers, pages overwritten. Every command
// ends by itself, and the first session, which is sound, is listed and shown.
#include "campaign.h"

#include "base/file.h"
#include "base/str.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SESSIONS     5
#define MOST_COLUMNS 200

// The last but one is replaced by a text of a megabyte.
static const char *const values[] = {"NULL",
                                     "''",
                                     "'x'",
                                     "0",
                                     "-1",
                                     "x'00ff80'",
                                     "9223372036854775807",
                                     "1e308",
                                     "-9e999",
                                     "'[1,'",
                                     "'{\"a\":[[]]}'",
                                     "printf('%1000000s', 'x')",
                                     "char(27, 91, 50, 74, 155)"};
enum { VALUES = sizeof values / sizeof *values };

static const char *const triggers[] = {
    "CREATE TRIGGER foreign_one AFTER UPDATE ON session BEGIN DELETE FROM trial; END",
    "CREATE TRIGGER foreign_two AFTER INSERT ON message BEGIN DELETE FROM session; END",
    "CREATE VIEW shown AS SELECT load_extension('x')",
    "CREATE INDEX foreign_index ON trial(abs(ask) + length(key))",
};

// --- what is prepared ---

static void must_tune(struct attempt *a, const char *const *words)
{
    note_command(words);
    struct result r = run_list(a->box, words);
    if (r.code != 0)
        fail_msg("exit code %d: %.300s", r.code, r.err);
}
#define TUNE(a, ...)                                                                               \
    must_tune((a), (const char *const[]){"tune", flow_path((a)->box, "small.lua"), "--seed", "3",  \
                                         "--json", __VA_ARGS__, NULL})
#define SYNTHETIC "--source", "synthetic:rugged:seed=3:invalid=0.2"

static void prepare(struct attempt *a)
{
    TUNE(a, SYNTHETIC, "--strategy", "random", "--trials", "12");
    TUNE(a, SYNTHETIC, "--strategy", "opevo", "--trials", "24");
    TUNE(a, SYNTHETIC, "--strategy", XGBOOST ? "autotvm:plan=8:chains=4:steps=5" : "walk",
         "--trials", "24");
    if (a->device) // raced: it has a winner that can be exported
        TUNE(a, "--strategy", "random", "--trials", "3");
    else
        TUNE(a, SYNTHETIC, "--strategy", "local", "--trials", "12");
    TUNE(a, SYNTHETIC, "--strategy", "walk", "--trials", "12");
    must_end_well(&(struct result){.code = RUN(a->box, "stop", "5").code});
    must_end_well(&(struct result){.code = RUN(a->box, "set", "2", "note=a note").code});
    tamper(a->box, "INSERT INTO command(session, verb, argument, at)"
                   " SELECT id, 'budget', '99', 1.0 FROM session");
    tamper(a->box, "PRAGMA wal_checkpoint(TRUNCATE)");
    copy_file(box_path(a->box, "tilewalk.db"), a->prepared);
}

// --- what is broken ---

struct column {
    char table[64], name[64];
};

// Of the tables that hold sessions: those of later versions, too.
static int list_columns(struct attempt *a, struct column *out)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    int count = 0;
    assert_int_equal(sqlite3_open(box_path(a->box, "tilewalk.db"), &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db,
                           "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c"
                           " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' ORDER BY t.name "
                           "NOT IN ('session', 'trial'), 1, 2",
                           -1, &s, NULL),
        SQLITE_OK);
    while (count < MOST_COLUMNS && sqlite3_step(s) == SQLITE_ROW) {
        snprintf(out[count].table, sizeof out->table, "%s", sqlite3_column_text(s, 0));
        snprintf(out[count].name, sizeof out->name, "%s", sqlite3_column_text(s, 1));
        count++;
    }
    sqlite3_finalize(s);
    sqlite3_close(db);
    return count;
}

// Without the types and conditions that keep SQLite from storing what we want to store.
static void loosen(struct attempt *a)
{
    char *error = NULL;
    sqlite3 *db;
    assert_int_equal(sqlite3_open(box_path(a->box, "tilewalk.db"), &db), SQLITE_OK);
    if (sqlite3_exec(db,
                     "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql ="
                     " replace(replace(replace(sql, 'STRICT, ', ''), 'STRICT', ''), 'NOT NULL', '')"
                     " WHERE type = 'table'; PRAGMA writable_schema = RESET",
                     NULL, NULL, &error) != SQLITE_OK)
        fail_msg("the schema cannot be loosened: %s", error);
    sqlite3_close(db);
}

static void break_column(struct attempt *a, const struct column *c, const char *value)
{
    const char *sql =
        arena_printf(&a->box->arena, "UPDATE OR REPLACE %s SET %s = %s WHERE %s > 1", c->table,
                     c->name, value, strcmp(c->table, "session") == 0 ? "id" : "session");
    note_context(sql);
    loosen(a);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(box_path(a->box, "tilewalk.db"), &db), SQLITE_OK);
    sqlite3_exec(db, sql, NULL, NULL, NULL); // a key that may not be so stays as it was
    sqlite3_close(db);
}

static void break_pages(struct attempt *a)
{
    struct stat st;
    int fd = open(box_path(a->box, "tilewalk.db"), O_RDWR);
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    for (uint64_t i = 1 + below(a, 64); i; i--) {
        uint64_t noise = below(a, UINT64_MAX);
        off_t at = (off_t)below(a, (uint64_t)st.st_size);
        assert_int_equal(pwrite(fd, &noise, 1 + below(a, 8), at) > 0, 1);
    }
    close(fd);
}

// --- what is looked at ---

static void must_be_unharmed(struct attempt *a, const char *when)
{
    struct result r = STRIKE(a, "ls", "--json");
    if (r.code != 0)
        fail_msg("%s: ls has exit code %d: %.300s", when, r.code, r.err);
    const cJSON *session, *sound = NULL, *sessions = member(json_of(a->box, r.out), "sessions");
    cJSON_ArrayForEach(session, sessions)
    {
        const cJSON *id = cJSON_GetObjectItem(session, "id");
        sound = cJSON_IsNumber(id) && id->valuedouble == 1 ? session : sound;
    }
    if (!sound || strcmp(text_of(sound, "state"), "done") != 0 || number_of(sound, "trials") != 12)
        fail_msg("%s: the sound session is not listed as it is: %.300s", when, r.out);
    r = STRIKE(a, "show", "1", "--trials", "--json");
    if (r.code != 0 || cJSON_GetArraySize(member(json_of(a->box, r.out), "trials")) != 12)
        fail_msg("%s: the sound session is not shown: %.300s", when, r.err);
}

static void read_all(struct attempt *a, const char *id)
{
    const char *out = box_path(a->box, "out");
    const char *table = box_path(a->box, "table.json");
    STRIKE(a, "ls");
    STRIKE(a, "show", id);
    STRIKE(a, "show", id, "--json");
    STRIKE(a, "show", id, "--trials", "--show-rejected", "--json");
    STRIKE(a, "show", id, "--trials", "--sort", "speed");
    STRIKE(a, "show", id, "--refits");
    STRIKE(a, "show", id, "--csv");
    STRIKE(a, "show", id, "--top", "3");
    STRIKE(a, "compare", "1", id);
    STRIKE(a, "compare", "1", "2", "3", "5", "--json");
    STRIKE(a, "plot", "1", id);
    STRIKE(a, "plot", id, "--out", box_path(a->box, "x.svg"));
    STRIKE(a, "card", id, "--out", box_path(a->box, "cards"));
    STRIKE(a, "export", id, "--out", out, "--best", "2");
    STRIKE(a, "export", id, "--out", out, "--as", "recording");
    STRIKE(a, "export", id, "--as", "warm-start", "--out", box_path(a->box, "warm.json"));
    STRIKE(a, "export", "1", id, "--as", "table", "--out", table);
    STRIKE(a, "export", id, "--as", "words");
    STRIKE(a, "lookup", table, "matmul", "--set", "N=64", "--set", "M=64", "--set", "K=64");
}

static void write_all(struct attempt *a, const char *id)
{
    // Two more than there are.
    const char *trials = arena_printf(&a->box->arena, "%d", *id == '4' ? 5 : *id == '5' ? 14 : 26);
    STRIKE(a, "note", id, "another");
    STRIKE(a, "budget", id, trials);
    STRIKE(a, "pause", id);
    STRIKE(a, "stop", id);
    STRIKE(a, "tune", "--like", id, SYNTHETIC, "--trials", "2", "--strategy", "random");
    STRIKE(a, "tune", flow_path(a->box, "small.lua"), SYNTHETIC, "--trials", "2", "--warm-start",
           id);
    STRIKE(a, "resume", id, "--trials", trials, "--seconds", "5", "--json");
}

// All screens, the second session opened on some.
static void look_at_screens(struct attempt *a)
{
    static const char keys[] = "5j\r1234567\x1b"
                               "5jj\r13m\x1b"
                               "5mmc\x1bq";
    strike_keys(a, (const char *const[]){"watch", "1", NULL}, keys, sizeof keys - 1);
}

static void attempt(struct attempt *a)
{
    struct column columns[MOST_COLUMNS];
    copy_file(a->prepared, box_path(a->box, "tilewalk.db"));
    int count = list_columns(a, columns);
    const char *id = arena_printf(&a->box->arena, "%d", (int)(2 + below(a, SESSIONS - 1)));
    bool sound_ones = true; // the first session is as we wrote it
    if (a->number < count) {
        break_column(a, &columns[a->number], values[0]);
    } else if (below(a, 8) == 0) {
        note_context("pages overwritten");
        break_pages(a);
        sound_ones = false;
    } else if (below(a, 8) == 0) {
        const char *sql = PICK(a, triggers);
        note_context(sql);
        tamper(a->box, sql);
    } else {
        break_column(a, &columns[below(a, (uint64_t)count)], PICK(a, values));
    }
    if (sound_ones)
        must_be_unharmed(a, "before");
    read_all(a, id);
    if (below(a, 3) == 0)
        look_at_screens(a);
    write_all(a, id);
    if (sound_ones)
        must_be_unharmed(a, "after");
    STRIKE(a, "rm", id);
    STRIKE(a, "restore", id);
    STRIKE(a, "rm", "--purge", id);
}

const struct attack attack_database = {
    .name = "database",
    .what = "each column NULL, of another type, huge; triggers; pages overwritten; all commands",
    .share = 5,
    .prepare = prepare,
    .attempt = attempt,
};
