#include "store/db.h"

#include "base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

// SQLite says little about files that it can't use: look why. True when a reason was found.
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

static bool explain_disk(struct store *s, struct err *e)
{
    int number = sqlite3_system_errno(s->db);
    if (number == ENOSPC || number == EDQUOT)
        return db_error_code(s, SQLITE_FULL, e);
    struct rlimit files;
    if (getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur != RLIM_INFINITY)
        return err_set(e,
                       "can't write '%s': files may not grow past %llu KiB (ulimit -f; what was "
                       "stored before is safe)",
                       s->path, (unsigned long long)files.rlim_cur >> 10);
    return err_set(e, "can't read or write '%s': %s (is the disk well? see `dmesg`)", s->path,
                   number ? strerror(number) : sqlite3_errmsg(s->db));
}

static bool explain_open(struct store *s, struct err *e)
{
    int number = sqlite3_system_errno(s->db);
    return err_set(e, "can't open '%s'%s%s (choose another with --db)", s->path, number ? ": " : "",
                   number ? strerror(number) : "");
}

static bool is_about_place(int code)
{
    return code == SQLITE_CANTOPEN || code == SQLITE_READONLY || code == SQLITE_IOERR;
}

bool db_error_code(struct store *s, int code, struct err *e)
{
    const char *path = s->path;
    char *folder = path_folder(path);
    bool explained = is_about_place(code & 0xff) && explain_place(s, folder, e);
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
        return err_set(e, "'%s' has been locked by another process for 10 seconds (try again)",
                       path);
    case SQLITE_NOTADB:
        return err_set(e, "'%s' is not a database (choose another with --db)", path);
    case SQLITE_CORRUPT: return db_damaged(s, sqlite3_errmsg(s->db), e);
    case SQLITE_CANTOPEN: return explain_open(s, e);
    case SQLITE_IOERR: return explain_disk(s, e);
    default: return err_set(e, "'%s': %s", path, sqlite3_errmsg(s->db));
    }
}

bool db_error(struct store *s, struct err *e)
{
    return db_error_code(s, sqlite3_extended_errcode(s->db), e);
}
