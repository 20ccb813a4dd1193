#include "store/db.h"

#include "base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// SQLite says no more than "unable to open database file": look why.
static bool explain_open(const struct store *s, const char *folder, struct err *e)
{
    const char *path = s->path;
    struct stat st;
    if (stat(folder, &st) != 0)
        return err_set(e, "can't open '%s': folder '%s': %s", path, folder, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return err_set(e, "can't open '%s': '%s' is not a folder", path, folder);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return err_set(e, "'%s' is a folder, not a database (name a file in it)", path);
    if (s->mode == STORE_READ && access(path, F_OK) != 0)
        return errno == ENOENT
                   ? err_set(e, "there is no database '%s' (`tilewalk tune` makes one)", path)
                   : err_set(e, "can't open '%s': %s (choose another with --db)", path,
                             strerror(errno));
    if (access(path, F_OK) == 0 && access(path, R_OK) != 0)
        return err_set(e, "can't read '%s': %s (choose another with --db)", path, strerror(errno));
    if (access(folder, W_OK) != 0)
        return err_set(e, "can't write in '%s', the folder of '%s': %s (choose another with --db)",
                       folder, path_name(path), strerror(errno));
    return err_set(e, "can't open '%s' (choose another with --db)", path);
}

static bool explain_io(struct store *s, struct err *e)
{
    int number = sqlite3_system_errno(s->db);
    if (number == ENOSPC || number == EDQUOT)
        return db_error_code(s, SQLITE_FULL, e);
    return err_set(e, "can't read or write '%s': %s (see `dmesg` if it is the disk)", s->path,
                   number ? strerror(number) : sqlite3_errmsg(s->db));
}

bool db_error_code(struct store *s, int code, struct err *e)
{
    const char *path = s->path;
    switch (code & 0xff) {
    case SQLITE_FULL:
        return err_set(
            e, "the disk is full: can't write '%s' (what was stored before is safe; make room)",
            path);
    case SQLITE_READONLY:
        if (s->mode == STORE_READ)
            return err_set(e, "can't write '%s': it was opened for reading", path);
        return err_set(
            e, "can't write '%s': it is read-only (change that or choose another with --db)", path);
    case SQLITE_BUSY:
        return err_set(e, "'%s' has been locked by another process for 10 seconds (try again)",
                       path);
    case SQLITE_NOTADB:
        return err_set(e, "'%s' is not a database (choose another with --db)", path);
    case SQLITE_CORRUPT:
        return err_set(e, "'%s' is damaged: %s (`sqlite3 FILE .recover` saves what can be read)",
                       path, sqlite3_errmsg(s->db));
    case SQLITE_CANTOPEN: {
        char *folder = path_folder(path);
        explain_open(s, folder, e);
        free(folder);
        return false;
    }
    case SQLITE_IOERR: return explain_io(s, e);
    default: return err_set(e, "'%s': %s", path, sqlite3_errmsg(s->db));
    }
}

bool db_error(struct store *s, struct err *e)
{
    return db_error_code(s, sqlite3_extended_errcode(s->db), e);
}
