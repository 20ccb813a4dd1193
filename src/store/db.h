// The inside of a store: its connection, prepared statements, and how records meet rows. For
// src/store alone, and the one place that includes SQLite's header.
//
//     struct query q = query_start(s, sql, e);   `sql` is a static text, prepared once and kept
//     query_bind_int(&q, id); ...                parameters in the order of their numbers
//     while (query_next(&q))                     rows; of a query without any, query_run(&q)
//         query_read_fields(&q, ...)             does the rest (row.h)
//     return query_end(&q);                      false when anything above failed
//
// A query that failed to start takes binds and has no rows, so that only the end needs a look. A
// failure undoes the transaction that is open: a store never holds half of one.
#ifndef TILEWALK_STORE_DB_H
#define TILEWALK_STORE_DB_H

#include "store/store.h"

#include <sqlite3.h>

struct statement; // prepared and kept
struct lock_file;

enum { STORE_PARTS = 3 }; // the database, what was written since (WAL), and its index

struct store {
    sqlite3 *db;
    char *path;
    char *option; // store_option
    enum store_mode mode;
    struct statement *statements;
    struct lock_file *lock; // NULL until it is needed
    bool looked;            // store_changed was called: the database then had
    int64_t data_version;   // this version
    struct store_patience patience;
    int64_t busy_since_ns;
    bool was_busy;                  // in the call that is under way
    uint64_t identity[STORE_PARTS]; // of the files that are open; 0: not known
    char *saved;                    // where store_save put it; NULL
};

// Of watch.c.
void db_wait_for_others(struct store *s);           // sets the busy handler of the connection
void db_waited(struct store *s, bool came_through); // after a call that may have had to wait
void db_remember_files(struct store *s);            // which files the connection has open
void db_leave_files(struct store *s);               // before the connection is closed

// A failure in the user's terms: SQLite's last one, or that of a result code. Both return false.
bool db_error(struct store *s, struct err *e);
bool db_error_code(struct store *s, int code, struct err *e);
// "'x.db' is damaged: WHAT (...)"; returns false.
bool db_damaged(const struct store *s, const char *what, struct err *e);
bool db_execute(struct store *s, const char *sql, struct err *e);

// Brings a database to the last of `count` versions, in one transaction; version i + 1 is what
// scripts[i] makes of version i.
bool db_migrate(struct store *s, const char *const *scripts, int count, struct err *e);
// The scripts of tilewalk's own schema.
const char *const *db_scripts(int *count);
// The version of the database, 0 when it is empty; fails for other programs' databases and when it
// is newer than `newest`.
bool db_version(struct store *s, int newest, int *version, struct err *e);

// Whether what tilewalk's own schema has is there and is what it seems: columns that are stored, of
// plain tables. What others added is not ours, and does no harm (db_distrust).
bool db_check_schema(struct store *s, struct err *e);
// The file may be anybody's: none of its triggers and views are obeyed, no function that it names
// does anything but compute, nothing can be done to its inner tables.
void db_distrust(sqlite3 *db);

struct query {
    struct store *store;
    struct statement *statement; // NULL when it failed to start
    struct err *e;
    int bound;
    bool failed;
};

struct query query_start(struct store *s, const char *sql, struct err *e);
void query_bind_int(struct query *q, int64_t value);
void query_bind_real(struct query *q, double value);     // what is not finite is NULL
void query_bind_text(struct query *q, const char *text); // must live until the end; NULL is NULL
bool query_next(struct query *q);
bool query_end(struct query *q);
bool query_run(struct query *q);
void query_forget(struct store *s); // all kept statements; no query may be open
// What other programs may have written is read by query_read_fields (row.h); these are for what
// SQLite has computed, and turn everything into what is asked for.
sqlite3_stmt *query_row(const struct query *q);
int64_t query_int(const struct query *q, int column);
// NULL for NULL. Without an arena the text lives until the next row.
const char *query_text(const struct query *q, int column, struct arena *a);

// Frees the heap array `list` and returns the copy in the arena.
void *list_to_arena(void *list, int count, size_t size, struct arena *a);

void db_undo(struct store *s); // the open transaction, if any

// A transaction around several statements: the caller's when one is open, else an own one. leave
// commits an own one, or undoes whatever is open when `ok` is false; true when all went well.
struct scope {
    bool own;
};
bool scope_enter(struct store *s, struct scope *scope, struct err *e);
bool scope_leave(struct store *s, const struct scope *scope, bool ok, struct err *e);

// Of the sessions that are there: one that was deleted while others learn from it is hidden.
#define IS_THERE "state IS NOT 'removed'"

// "there is no session 7 (...)", or how the database is damaged: undoes what is open, returns
// false.
bool session_missing(struct store *s, int64_t id, struct err *e);

bool lock_held(struct store *s, int64_t id); // by this store
void lock_detach(struct store *s);           // gives back what the store locked

#endif
