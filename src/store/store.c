#include "store/store.h"

#include "base/file.h"
#include "base/str.h"
#include "store/db.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *const words[STATE_COUNT] = {
    [STATE_RUNNING] = "running", [STATE_PAUSED] = "paused", [STATE_DONE] = "done",
    [STATE_STOPPED] = "stopped", [STATE_FAILED] = "failed", [STATE_REMOVED] = "removed",
    [STATE_DAMAGED] = "damaged",
};

const char *state_name(enum session_state s)
{
    return words[s];
}

bool state_parse(const char *word, enum session_state *s)
{
    for (int i = 0; i < STATE_DAMAGED; i++)
        if (str_equal(word, words[i])) {
            *s = (enum session_state)i;
            return true;
        }
    return false;
}

// --- history ---

// Reads at most 18 digits without leading zeros. Returns their end; NULL: something else is there.
static const char *read_number(const char *at, int64_t *out)
{
    size_t digits = strspn(at, "0123456789");
    if (digits < 1 || digits > 18 || (digits > 1 && *at == '0'))
        return NULL;
    *out = strtoll(at, NULL, 10);
    return at + digits;
}

bool history_next(const char **at, struct history_part *part)
{
    const char *end = *at ? read_number(*at, &part->session) : NULL;
    if (!end || *end != ':' || !(end = read_number(end + 1, &part->told)))
        return false;
    bool more = *end == ' ' && end[1];
    if (*end && !more)
        return false;
    *at = end + more;
    return true;
}

void history_add(struct str *text, const struct history_part *part)
{
    str_printf(text, "%s%" PRId64 ":%" PRId64, text->length ? " " : "", part->session, part->told);
}

// --- errors and checks ---

// Fails with "'x.db' is damaged: WHAT (...)"; returns false.
static bool db_damaged(const struct store *s, const char *what, struct err *e)
{
    return err_set(e, "'%s' is damaged: %s (`sqlite3 FILE .recover` saves what can be read)",
                   s->path, what);
}

// Ends a check of pages; fails with its first finding, without the headline.
static bool expect_ok(struct query *q, const char *found, struct err *e)
{
    const char *last_line = strrchr(found, '\n');
    bool whole = str_equal(found, "ok");
    if (!whole)
        db_damaged(q->store, last_line ? last_line + 1 : found, e);
    return query_end(q) && whole;
}

bool store_check(struct store *s, struct err *e)
{
    struct query q = query_start(s, "PRAGMA quick_check(1)", e);
    return expect_ok(&q, query_next(&q) ? query_text(&q, 0, NULL) : "ok", e);
}

bool store_check_sessions(struct store *s, struct err *e)
{
    // A session is made in one transaction, and removed with all that belongs to it. Its texts and
    // its tally are few rows, however many trials it has.
    static const char sql[] = "SELECT owned.session FROM"
                              " (SELECT session FROM text UNION SELECT session FROM tally) AS owned"
                              " LEFT JOIN session AS s ON s.id = owned.session WHERE s.id IS NULL";
    struct query q = query_start(s, "PRAGMA quick_check(session)", e);
    const char *found = query_next(&q) ? query_text(&q, 0, NULL) : "ok";
    if (!expect_ok(&q, *found == '*' ? found : "ok", e)) // other findings are about rows
        return false;
    q = query_start(s, sql, e);
    char what[64];
    bool any = query_next(&q);
    if (any)
        snprintf(what, sizeof what, "the row of session %" PRId64 " is gone", query_int(&q, 0));
    return query_end(&q) && (!any || db_damaged(s, what, e));
}

bool session_missing(struct store *s, int64_t id, struct err *e)
{
    db_undo(s);
    struct query q = query_start(s, "SELECT 1 FROM session WHERE id = ? AND " IS_TRASHED, e);
    query_bind_int(&q, id);
    bool trashed = query_next(&q);
    if (!query_end(&q))
        return false;
    if (trashed)
        return err_set(e, "session %" PRId64 " is in the trash (`tilewalk restore %" PRId64 "%s`)",
                       id, id, store_option(s));
    return store_check_sessions(s, e) &&
           err_set(e, "there is no session %" PRId64 " (`tilewalk ls%s` lists them)", id,
                   store_option(s));
}

// Finds the reason why SQLite cannot use the file; false: there is none.
static bool explain_place(const struct store *s, const char *folder, struct err *e)
{
    const char *path = s->path;
    struct stat st;
    if (stat(folder, &st) != 0)
        err_set(e, "can't open '%s': its folder: %s", path, strerror(errno));
    else if (!S_ISDIR(st.st_mode))
        err_set(e, "can't open '%s': '%s' is not a folder", path, folder);
    else if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        err_set(e, "'%s' is a folder, not a database (name a file in it)", path);
    else if (s->mode == STORE_READ && access(path, F_OK) != 0 && errno == ENOENT)
        err_set(e, "there is no database '%s' (`tilewalk tune` makes one)", path);
    else if (access(path, R_OK) != 0 && errno != ENOENT)
        err_set(e, "can't read '%s': %s (choose another with --db)", path, strerror(errno));
    else if (s->mode == STORE_WRITE && access(path, W_OK) != 0 && errno != ENOENT)
        err_set(e, "can't write '%s': %s (choose another with --db)", path, strerror(errno));
    else if (s->mode == STORE_WRITE && access(folder, W_OK) != 0)
        err_set(e, "can't write '%s': its folder: %s (choose another with --db)", path,
                strerror(errno));
    else
        return false;
    return true;
}

static bool explain_locks(const struct store *s, int trouble, struct err *e)
{
    return err_set(e,
                   "can't lock '%s': %s (its file system has no locks: choose a local folder "
                   "with --db)",
                   s->path, strerror(trouble));
}

static bool db_error_code(struct store *s, int code, struct err *e)
{
    const char *path = s->path;
    char *folder = path_folder(path);
    bool explained = ((code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY ||
                      (code & 0xff) == SQLITE_IOERR) &&
                     explain_place(s, folder, e);
    free(folder);
    if (explained)
        return false;
    switch (code & 0xff) {
    case SQLITE_FULL:
        return err_set(
            e, "the disk is full: can't write '%s' (what was stored before is safe; make room)",
            path);
    case SQLITE_READONLY:
        return err_set(e, "can't write '%s': %s", path,
                       s->mode == STORE_READ ? "it was opened for reading"
                                             : "it is read-only (choose another with --db)");
    case SQLITE_BUSY:
        if (s->no_locks)
            return explain_locks(s, s->no_locks, e);
        return err_set(e, "'%s' has been locked by another process for 10 seconds (try again)",
                       path);
    case SQLITE_NOTADB:
        return err_set(e, "'%s' is not a database (choose another with --db)", path);
    case SQLITE_CORRUPT: return db_damaged(s, sqlite3_errmsg(s->db), e);
    case SQLITE_CANTOPEN: {
        int number = sqlite3_system_errno(s->db);
        return err_set(e, "can't open '%s'%s%s (choose another with --db)", s->path,
                       number ? ": " : "", number ? strerror(number) : "");
    }
    case SQLITE_IOERR: {
        int number = sqlite3_system_errno(s->db);
        if (number == ENOSPC || number == EDQUOT)
            return db_error_code(s, SQLITE_FULL, e);
        if (number == ENOLCK || number == ENOTSUP || number == ENOSYS)
            return explain_locks(s, number, e);
        struct rlimit files;
        if (getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur != RLIM_INFINITY)
            return err_set(
                e,
                "can't write '%s': files may not grow past %llu KiB (ulimit -f; what was "
                "stored before is safe)",
                s->path, (unsigned long long)files.rlim_cur >> 10);
        return err_set(e, "can't read or write '%s': %s (is the disk well? see `dmesg`)", s->path,
                       number ? strerror(number) : sqlite3_errmsg(s->db));
    }
    default: return err_set(e, "'%s': %s", path, sqlite3_errmsg(s->db));
    }
}

bool db_error(struct store *s, struct err *e)
{
    return db_error_code(s, sqlite3_extended_errcode(s->db), e);
}

// --- opening ---

#define BUSY_MS   (1000 * STORE_BUSY_S)
#define MAKING_MS 2000 // longest time that another process needs to make or to close a database

char *store_default_path(void)
{
    const char *path = getenv("TILEWALK_DB");
    return path && *path ? mem_strdup(path) : path_user_data("tilewalk.db");
}

bool db_execute(struct store *s, const char *sql, struct err *e)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK || db_error(s, e);
}

bool db_connect(struct store *s, const char *name, int flags, const char *files, struct err *e)
{
    db_prepare_files();
    int code = sqlite3_open_v2(name, &s->db, flags | SQLITE_OPEN_NOMUTEX, files);
    if (code != SQLITE_OK)
        return db_error_code(s, code, e);
    db_distrust(s->db);
    db_wait_for_others(s);
    return true;
}

static void disconnect(struct store *s)
{
    query_forget(s);
    db_leave_files(s);
    sqlite3_close(s->db);
    s->db = NULL;
}

static bool open_for_writing(struct store *s, struct err *e)
{
    char *folder = path_folder(s->path);
    bool made = file_make_folders(folder, e);
    free(folder);
    // SQLite would make it for one user alone. Only a new file is opened here: closing one that
    // another store of this process uses would release that store's locks.
    int fd = made ? open(s->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    if (fd >= 0)
        close(fd);
    if (!made || !db_connect(s, s->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL, e))
        return false;
    if (sqlite3_db_readonly(s->db, "main") == 1) // SQLite falls back to reading without a word
        return db_error_code(s, SQLITE_READONLY, e);
    int newest, version = 0;
    const char *const *scripts = db_scripts(&newest);
    bool ok = db_version(s, newest, &version, e);
    // The switch to WAL needs the file exclusively for a moment, and SQLite does not wait for that.
    const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
    for (int waited_ms = 0; ok; waited_ms += 5) {
        int code = sqlite3_exec(s->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        if (code == SQLITE_OK)
            break;
        if ((code & 0xff) != SQLITE_BUSY || s->no_locks || waited_ms >= BUSY_MS)
            ok = db_error(s, e);
        else
            nanosleep(&pause, NULL);
    }
    // NORMAL syncs at checkpoints. Committed data is with the system, so that a killed process
    // loses nothing. After a power failure the last commits may be missing, but the database is
    // whole.
    ok = ok && db_execute(s, "PRAGMA synchronous = NORMAL", e) &&
         (version == newest || db_migrate(s, scripts, newest, e)) && db_check_schema(s, e) &&
         db_execute(s, "PRAGMA foreign_keys = ON", e);
    db_remember_files(s);
    return ok;
}

// Opens the database as a writer that changes nothing, where looking needs a file that is missing.
static bool open_as_writer(struct store *s, int newest, int *version, struct err *e)
{
    int code = sqlite3_errcode(s->db);
    char *folder = path_folder(s->path);
    bool may_write = access(s->path, W_OK) == 0 && access(folder, W_OK) == 0;
    free(folder);
    if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY)
        return false;
    if (!may_write) {
        db_explain_looking(s, e);
        return false;
    }
    disconnect(s);
    s->unchanging = false;
    return db_connect(s, s->path, SQLITE_OPEN_READWRITE, NULL, e) &&
           db_execute(s, "PRAGMA query_only = ON", e) && db_version(s, newest, version, e);
}

// Opens the database for reading and reads its version. While another process makes the database or
// is the last to close it, the files beside it come and go; a reader cannot open it then, or finds
// it empty. So it tries again for a moment, unless the folder cannot be written.
static bool read_version(struct store *s, int newest, int *version, struct err *e)
{
    const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
    char *folder = path_folder(s->path);
    bool may_be_made = access(folder, W_OK) == 0;
    free(folder);
    for (int waited_ms = 0;; waited_ms += 5) {
        bool ok = (s->db || db_connect_looking(s, e)) && db_version(s, newest, version, e);
        bool is_unmade = ok ? *version == 0 : sqlite3_errcode(s->db) == SQLITE_CANTOPEN;
        bool exists = access(s->path, F_OK) == 0;
        if (!is_unmade || !may_be_made || !exists || waited_ms >= MAKING_MS)
            return ok;
        disconnect(s);
        nanosleep(&pause, NULL);
    }
}

static bool open_for_reading(struct store *s, struct err *e)
{
    int newest, version = 0;
    db_scripts(&newest);
    if (!read_version(s, newest, &version, e) && !open_as_writer(s, newest, &version, e))
        return false;
    if (version != newest) {
        // A writer updates it. It is opened again after that: the reader of a file that does not
        // change would not see it.
        struct store *writer = store_open(s->path, STORE_WRITE, e);
        if (!writer)
            return err_prefix(
                e,
                "the database is from an older tilewalk and has to be updated before it is read");
        store_close(writer);
        disconnect(s);
        if (!read_version(s, newest, &version, e))
            return false;
    }
    return db_check_schema(s, e);
}

bool store_is_default(const char *path)
{
    char *standard = store_default_path();
    bool is_default = str_equal(path, standard);
    free(standard);
    return is_default;
}

const char *store_option(const struct store *s)
{
    return s->option;
}

struct store *store_open(const char *path, enum store_mode mode, struct err *e)
{
    struct store *s = mem_zero(1, sizeof *s);
    struct str option = {0};
    if (!store_is_default(path)) {
        str_add(&option, " --db ");
        str_add_shell(&option, path);
    }
    s->option = str_take(&option);
    s->path =
        mem_printf("%s%s", *path == ':' ? "./" : "", path); // to SQLite, ":memory:" is no file
    s->mode = mode;
    if (mode == STORE_WRITE ? open_for_writing(s, e) : open_for_reading(s, e))
        return s;
    store_close(s);
    return NULL;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    lock_detach(s);
    disconnect(s);
    free(s->path);
    free(s->option);
    free(s->real);
    free(s->saved);
    free(s);
}

// --- changes and transactions ---

// Returns true after a failure, too, so that the next read reports it.
bool store_changed(struct store *s)
{
    struct query q = query_start(s, "PRAGMA data_version", NULL);
    int64_t version = query_next(&q) ? query_int(&q, 0) : 0;
    bool known = query_end(&q) && s->looked && version == s->data_version;
    s->looked = true;
    s->data_version = version;
    return !known;
}

// Waits for the turn to write here, as SQLite does not wait within a transaction.
bool store_begin(struct store *s, struct err *e)
{
    assert(sqlite3_get_autocommit(s->db));
    struct query q = query_start(s, s->mode == STORE_WRITE ? "BEGIN IMMEDIATE" : "BEGIN", e);
    return query_run(&q);
}

bool store_commit(struct store *s, struct err *e)
{
    if (sqlite3_get_autocommit(s->db))
        return err_set(e, "nothing to commit in '%s': an error undid it", s->path);
    struct query q = query_start(s, "COMMIT", e);
    return query_run(&q);
}

void db_undo(struct store *s)
{
    if (!sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

bool scope_enter(struct store *s, struct scope *scope, struct err *e)
{
    scope->own = sqlite3_get_autocommit(s->db);
    return !scope->own || store_begin(s, e);
}

bool scope_leave(struct store *s, const struct scope *scope, bool ok, struct err *e)
{
    if (ok)
        return !scope->own || store_commit(s, e);
    db_undo(s);
    return false;
}
