#include "store/row.h"

#include "base/json_read.h"
#include "store/db.h"
#include "store/store.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Statements are found by the address of their text. Nested uses of one text (a callback that runs
// the query of its caller) get a statement each.
struct statement {
    const char *sql;
    sqlite3_stmt *handle;
    bool busy;
    struct statement *next;
};

struct query query_start(struct store *s, const char *sql, struct err *e)
{
    db_look_again(s);
    struct statement *st = s->statements;
    while (st && (st->sql != sql || st->busy))
        st = st->next;
    if (!st) {
        st = mem_zero(1, sizeof *st);
        st->sql = sql;
        if (sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &st->handle, NULL) !=
            SQLITE_OK) {
            db_error(s, e);
            free(st);
            return (struct query){.store = s, .e = e, .failed = true};
        }
        st->next = s->statements;
        s->statements = st;
    }
    st->busy = true;
    return (struct query){.store = s, .statement = st, .e = e};
}

static void check_bind(struct query *q, int code)
{
    if (code != SQLITE_OK && !q->failed) {
        q->failed = true;
        db_error(q->store, q->e);
    }
}

void query_bind_int(struct query *q, int64_t value)
{
    if (q->statement)
        check_bind(q, sqlite3_bind_int64(q->statement->handle, ++q->bound, value));
}

void query_bind_real(struct query *q, double value)
{
    if (q->statement)
        check_bind(q, isfinite(value) ? sqlite3_bind_double(q->statement->handle, ++q->bound, value)
                                      : sqlite3_bind_null(q->statement->handle, ++q->bound));
}

void query_bind_text(struct query *q, const char *text)
{
    if (q->statement)
        check_bind(q, sqlite3_bind_text(q->statement->handle, ++q->bound, text, -1, SQLITE_STATIC));
}

bool query_next(struct query *q)
{
    if (q->failed)
        return false;
    int code = sqlite3_step(q->statement->handle);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        q->failed = true;
        db_error(q->store, q->e);
    }
    db_waited(q->store, !q->failed);
    return code == SQLITE_ROW;
}

bool query_end(struct query *q)
{
    if (q->statement) {
        sqlite3_reset(q->statement->handle);
        sqlite3_clear_bindings(q->statement->handle);
        q->statement->busy = false;
        q->statement = NULL;
    }
    if (!q->failed && !db_is_unchanged(q->store)) {
        q->failed = true;
        err_set(q->e, "'%s' was changed while it was read (try again)", q->store->path);
    }
    if (q->failed)
        db_undo(q->store);
    return !q->failed;
}

bool query_run(struct query *q)
{
    while (query_next(q))
        ;
    return query_end(q);
}

bool query_is_open(const struct store *s)
{
    const struct statement *st = s->statements;
    while (st && !st->busy)
        st = st->next;
    return st != NULL;
}

void query_forget(struct store *s)
{
    while (s->statements) {
        struct statement *st = s->statements;
        s->statements = st->next;
        sqlite3_finalize(st->handle);
        free(st);
    }
}

int64_t query_int(const struct query *q, int column)
{
    return sqlite3_column_int64(q->statement->handle, column);
}

const char *query_text(const struct query *q, int column, struct arena *a)
{
    const char *text = (const char *)sqlite3_column_text(q->statement->handle, column);
    return text && a ? arena_strdup(a, text) : text;
}

void *list_to_arena(void *list, int count, size_t size, struct arena *a)
{
    void *copy = arena_zero(a, (size_t)count, size);
    if (count)
        memcpy(copy, list, (size_t)count * size);
    free(list);
    return copy;
}

#define MOST_WORKERS 1024
#define LONGEST_SPAN 1e12      // seconds; as a point in time, the year 33658
#define LONGEST_TEXT (1 << 28) // that of a space file, the longest text

static const struct {
    bool may_be_null;
    int64_t least, most; // whole numbers
    double largest;      // other numbers, which are 0 or more
    const char *text;    // description of a valid text
} rules[] = {
    [RULE_BITS] = {.least = INT64_MIN, .most = INT64_MAX},
    [RULE_FLAG] = {.most = 1},
    [RULE_COUNT] = {.most = INT64_MAX},
    [RULE_ORDINAL] = {.least = 1, .most = INT64_MAX / 2},
    [RULE_WORKERS] = {.least = 1, .most = MOST_WORKERS},
    [RULE_DURATION] = {.largest = LONGEST_SPAN},
    [RULE_SPAN] = {.may_be_null = true, .largest = LONGEST_SPAN},
    [RULE_AMOUNT] = {.may_be_null = true, .largest = 1e300},
    [RULE_MAYBE_REAL] = {.may_be_null = true, .largest = 1e300},
    [RULE_TEXT] = {.text = "a text"},
    [RULE_STATE] = {.text = "the state of a session"},
    [RULE_MAYBE_TEXT] = {.may_be_null = true, .text = "a text"},
    [RULE_OUTCOME] = {.may_be_null = true, .text = "the outcome of a trial"},
    [RULE_MAYBE_OBJECT] = {.may_be_null = true, .text = "a JSON object"},
    [RULE_MAYBE_LIST] = {.may_be_null = true, .text = "a JSON list"},
    [RULE_MAYBE_ASKS] = {.may_be_null = true, .text = "a list of asks"},
    [RULE_MAYBE_HISTORY] = {.may_be_null = true, .text = "a list of sessions"},
    [RULE_OBJECT] = {.text = "a JSON object"},
};

// --- writing ---

void query_bind_fields(struct query *q, struct fields f, const void *record)
{
    for (size_t i = 0; i < f.count; i++) {
        const void *member = (const char *)record + f.field[i].offset;
        switch (f.field[i].kind) {
        case FIELD_INT: query_bind_int(q, *(const int *)member); break;
        case FIELD_INT64: query_bind_int(q, *(const int64_t *)member); break;
        case FIELD_UINT64: { // stored as the signed number of the same 64 bits
            int64_t value;
            memcpy(&value, member, sizeof value);
            query_bind_int(q, value);
        } break;
        case FIELD_BOOL: query_bind_int(q, *(const bool *)member); break;
        case FIELD_REAL: query_bind_real(q, *(const double *)member); break;
        case FIELD_OUTCOME: query_bind_text(q, outcome_name(*(const enum outcome *)member)); break;
        case FIELD_STATE:
            query_bind_text(q, state_name(*(const enum session_state *)member));
            break;
        case FIELD_TEXT: {
            const char *text = *(const char *const *)member;
            query_bind_text(q, text || rules[f.field[i].rule].may_be_null ? text : "");
        } break;
        }
    }
}

// --- checks of texts ---

static bool text_holds(enum rule rule, const char *text)
{
    enum outcome outcome;
    enum session_state state;
    struct json root;
    switch (rule) {
    case RULE_OUTCOME: return outcome_parse(text, &outcome);
    case RULE_STATE: return state_parse(text, &state);
    case RULE_OBJECT:
    case RULE_MAYBE_OBJECT:
        return !*text || (json_parse(text, &root) && json_type(root) == JSON_OBJECT);
    case RULE_MAYBE_LIST:
        return !*text || (json_parse(text, &root) && json_type(root) == JSON_LIST);
    case RULE_MAYBE_ASKS: {
        const char *at = text;
        for (;; at++) {
            size_t digits = strspn(at, "0123456789");
            if (digits < 1 || digits > 18 || (digits > 1 && *at == '0'))
                return false;
            at += digits;
            if (*at != ',')
                return !*at;
        }
    }
    case RULE_MAYBE_HISTORY: {
        struct history_part part;
        bool any = *text;
        while (history_next(&text, &part))
            ;
        return any && !*text;
    }
    default: return true;
    }
}

// --- reading: a wrong value is reported, and replaced by a harmless one ---

static bool wrong_kind(struct err *why, const struct field *f, int type)
{
    static const char *const kinds[] = {[SQLITE_INTEGER] = "a whole number",
                                        [SQLITE_FLOAT] = "a number with a fraction",
                                        [SQLITE_TEXT] = "a text",
                                        [SQLITE_BLOB] = "raw bytes",
                                        [SQLITE_NULL] = "missing (NULL)"};
    return err_set(why, "column %s is %s", f->name, kinds[type]);
}

static bool read_whole(sqlite3_stmt *row, int column, const struct field *f, int64_t *out,
                       struct err *why)
{
    int type = sqlite3_column_type(row, column);
    int64_t least = rules[f->rule].least, most = rules[f->rule].most;
    if (f->kind == FIELD_INT && most > INT_MAX)
        most = INT_MAX;
    *out = least > 0 ? least : 0;
    if (type != SQLITE_INTEGER)
        return wrong_kind(why, f, type);
    int64_t value = sqlite3_column_int64(row, column);
    if (value < least || value > most)
        return err_set(why, "column %s is %" PRId64 ", not within %" PRId64 " to %" PRId64, f->name,
                       value, least, most);
    *out = value;
    return true;
}

static bool read_real(sqlite3_stmt *row, int column, const struct field *f, double *out,
                      struct err *why)
{
    int type = sqlite3_column_type(row, column);
    bool any = f->rule == RULE_MAYBE_REAL;
    *out = any ? NAN : 0;
    if (type == SQLITE_NULL && rules[f->rule].may_be_null)
        return true;
    if (type != SQLITE_FLOAT && type != SQLITE_INTEGER)
        return wrong_kind(why, f, type);
    double value = sqlite3_column_double(row, column);
    double largest = rules[f->rule].largest, least = any ? -largest : 0;
    if (!(value >= least && value <= largest))
        return err_set(why, "column %s is %g, not within %g to %g", f->name, value, least, largest);
    *out = value;
    return true;
}

static bool read_text(sqlite3_stmt *row, int column, const struct field *f, struct arena *a,
                      const char **out, struct err *why)
{
    int type = sqlite3_column_type(row, column);
    *out = rules[f->rule].may_be_null ? NULL : f->rule == RULE_OBJECT ? "" : "?";
    if (type == SQLITE_NULL && rules[f->rule].may_be_null)
        return true;
    if (type != SQLITE_TEXT)
        return wrong_kind(why, f, type);
    const char *text = (const char *)sqlite3_column_text(row, column);
    int length = sqlite3_column_bytes(row, column);
    if (!text || length > LONGEST_TEXT)
        return err_set(why, "column %s is too long: %d bytes", f->name, length);
    if (strlen(text) != (size_t)length)
        return err_set(why, "column %s has a byte 0 in its text", f->name);
    if (!text_holds(f->rule, text))
        return err_set(why, "column %s is not %s", f->name, rules[f->rule].text);
    *out = a ? arena_strdup(a, text) : text;
    return true;
}

static bool read_field(sqlite3_stmt *row, int column, const struct field *f, struct arena *a,
                       void *member, struct err *why)
{
    const char *word;
    int64_t value;
    bool ok;
    switch (f->kind) {
    case FIELD_REAL: return read_real(row, column, f, member, why);
    case FIELD_TEXT: return read_text(row, column, f, a, member, why);
    case FIELD_OUTCOME:
        ok = read_text(row, column, f, NULL, &word, why);
        if (!word || !outcome_parse(word, member))
            *(enum outcome *)member = OUTCOME_OPEN;
        return ok;
    case FIELD_STATE:
        ok = read_text(row, column, f, NULL, &word, why);
        if (!ok || !state_parse(word, member))
            *(enum session_state *)member = STATE_DAMAGED;
        return ok;
    default: break;
    }
    ok = read_whole(row, column, f, &value, why);
    switch (f->kind) {
    case FIELD_INT: *(int *)member = (int)value; break;
    case FIELD_BOOL: *(bool *)member = value != 0; break;
    case FIELD_UINT64: *(uint64_t *)member = (uint64_t)value; break;
    default: *(int64_t *)member = value;
    }
    return ok;
}

bool query_read_fields(const struct query *q, int first_column, struct fields f, struct arena *a,
                       void *record, struct err *why)
{
    bool ok = true;
    for (size_t i = 0; i < f.count; i++) {
        struct err ignored;
        void *member = (char *)record + f.field[i].offset;
        ok &= read_field(q->statement->handle, first_column + (int)i, &f.field[i], a, member,
                         ok ? why : &ignored);
    }
    return ok;
}

void query_refuse(struct query *q, int64_t session, const char *what, const struct err *why)
{
    q->failed = true;
    err_set(q->e, "session %" PRId64 " is damaged: %s%s%s (`tilewalk rm %" PRId64 "%s` removes it)",
            session, what, *what ? ": " : "", why->text, session, store_option(q->store));
}

bool query_next_record(struct query *q, int64_t session, struct fields f, const char *what,
                       struct arena *a, void *record)
{
    struct err why;
    if (!query_next(q))
        return false;
    if (query_read_fields(q, 1, f, a, record, &why))
        return true;
    query_refuse(q, session, what, &why);
    return false;
}

struct records query_all_records(struct query *q, int64_t session, struct fields f,
                                 const char *what, size_t size, struct arena *a)
{
    char *list = NULL;
    for (int n = 0;; n++) {
        list = mem_resize(list, (size_t)n + 1, size);
        memset(list + (size_t)n * size, 0, size);
        if (!query_next_record(q, session, f, what, a, list + (size_t)n * size))
            return (struct records){list_to_arena(list, n, size, a), n};
    }
}

bool query_put_record(struct store *s, const char *sql, int64_t session, struct fields f,
                      const void *record, struct err *e)
{
    struct query q = query_start(s, sql, e);
    query_bind_int(&q, session);
    query_bind_fields(&q, f, record);
    return query_run(&q);
}

bool query_change_session(struct query *q, int64_t id, struct err *e)
{
    struct store *s = q->store;
    return query_run(q) && (sqlite3_changes(s->db) == 1 || session_missing(s, id, e));
}
