// The inside of a store: its connection, prepared statements and transactions. Used by src/store
// alone; the one place that includes SQLite's header.
//
//     struct query q = query_start(s, sql, e);   `sql` is a static text, prepared once and kept
//     query_bind_int(&q, id); ...                parameters in the order of their numbers
//     while (query_next(&q))                     for each row
//         query_read_fields(&q, ...)             (row.h)
//     return query_end(&q);                      false when anything above failed
//
// query_run(&q) runs a statement without rows and ends it. A query that failed to start accepts
// binds and has no rows, so that only the end has to be checked. A failure undoes the open
// transaction: a store never holds half of one.
#ifndef TILEWALK_STORE_DB_H
#define TILEWALK_STORE_DB_H

#include "store/store.h"

#include <sqlite3.h>

struct statement; // prepared and kept
struct lock_file;

enum { STORE_PARTS = 3 }; // the database, its write-ahead log (WAL), and the index of the log

struct store {
    sqlite3 *db;
    char *path;
    char *option; // store_option
    enum store_mode mode;
    struct statement *statements;
    struct lock_file *lock; // NULL until it is needed
    bool looked;            // store_changed was called
    int64_t data_version;   // version of the database in the last call of store_changed
    struct store_patience patience;
    int64_t busy_since_ns;
    bool was_busy;                  // in the current call
    int no_locks;                   // errno of a file system without locks; 0
    uint64_t identity[STORE_PARTS]; // identities of the open files; 0: not known
    char *saved;                    // path from store_save; NULL
    char *real;                     // path behind links, of a reader; NULL
    bool unchanging;                // reads the database file alone (look.c)
    uint64_t stamp;                 // file_stamp of the database when it was opened so
};

// Functions of lock.c.
void db_wait_for_others(struct store *s);           // sets the busy handler of the connection
void db_waited(struct store *s, bool came_through); // after a call that may have had to wait
void db_remember_files(struct store *s);            // keeps the identities of the open files
void db_leave_files(struct store *s);               // before the connection is closed

// Functions of look.c.
int db_open_file(const char *path, int flags, int mode); // open(2); creates only what is missing
void db_prepare_files(void); // sets how SQLite opens files; before each connection
// Connects without making or changing a file; s->unchanging says which way.
bool db_connect_looking(struct store *s, struct err *e);
// Connects again when the database that was not in use is, or has changed. Before each query.
void db_look_again(struct store *s);
bool db_is_unchanged(const struct store *s); // false: what was just read may be two states
// Describes why a database cannot be read without making a file. False: no such reason.
bool db_explain_looking(const struct store *s, struct err *e);

// Opens the connection with SQLITE_OPEN_ flags; `files` is the name of a VFS, NULL: the system's.
bool db_connect(struct store *s, const char *name, int flags, const char *files, struct err *e);

// Describes SQLite's last failure for the user; returns false.
bool db_error(struct store *s, struct err *e);
bool db_execute(struct store *s, const char *sql, struct err *e);

// Brings a database to the last of `count` versions, in one transaction; scripts[i] turns version i
// into version i + 1.
bool db_migrate(struct store *s, const char *const *scripts, int count, struct err *e);
// Returns the scripts of tilewalk's own schema.
const char *const *db_scripts(int *count);
// Reads the version of the database, 0 when it is empty; fails for databases of other programs and
// for versions newer than `newest`.
bool db_version(struct store *s, int newest, int *version, struct err *e);

// Checks that all columns of tilewalk's schema exist, as stored columns of plain tables. Additions
// of other programs do no harm (db_distrust).
bool db_check_schema(struct store *s, struct err *e);
// Protects against a file that anybody may have written: its triggers and views do not run,
// functions that it names can only compute, and its inner tables cannot be changed.
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
void query_bind_real(struct query *q, double value);     // NULL when it is not finite
void query_bind_text(struct query *q, const char *text); // must live until the end; NULL is NULL
bool query_next(struct query *q);
bool query_end(struct query *q);
bool query_run(struct query *q);
bool query_is_open(const struct store *s);
void query_forget(struct store *s); // frees all kept statements; no query may be open
// These read values that SQLite has computed, and convert any type. Stored values, which other
// programs may have written, are read by query_read_fields (row.h).
int64_t query_int(const struct query *q, int column);
// Returns NULL for NULL. Without an arena the text lives until the next row.
const char *query_text(const struct query *q, int column, struct arena *a);

// Frees the heap array `list` and returns the copy in the arena.
void *list_to_arena(void *list, int count, size_t size, struct arena *a);

void db_undo(struct store *s); // rolls back the open transaction, if any

// A transaction around several statements: that of the caller when one is open, else a new one.
// leave commits a new one; when `ok` is false it undoes the open transaction. Returns true on
// success.
struct scope {
    bool own;
};
bool scope_enter(struct store *s, struct scope *scope, struct err *e);
bool scope_leave(struct store *s, const struct scope *scope, bool ok, struct err *e);

// The conditions of sessions that exist, and of those in the trash. One that was deleted while
// others learn from it is neither.
#define IS_THERE   "state IS NOT 'removed'"
#define IS_TRASHED "trashed > 0"

// Fails with "there is no session 7 (...)" or with the damage of the database. Undoes the open
// transaction; returns false.
bool session_missing(struct store *s, int64_t id, struct err *e);

bool lock_held(struct store *s, int64_t id); // this store holds the lock
void lock_detach(struct store *s);           // releases the locks of the store

#endif
