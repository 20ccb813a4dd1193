// Connections of readers: looking makes no file, changes none, and leaves none behind.
//
// SQLite reads a WAL database through two files beside it, which a reader makes where they are
// missing, as its own: the owner of the database is then locked out by them. So a reader never
// makes them. While a writer has the database open, or one has died, both files are there and are
// opened for reading. Otherwise the database file is complete, and is read as one that does not
// change. The reader looks again before each query, because a writer may begin at any time.
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/db.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char looking[] = "tilewalk-looking";

// --- SQLite's access to files ---

static struct sqlite3_vfs reader_files; // the system's, which makes nothing
static pthread_once_t files_once = PTHREAD_ONCE_INIT;

// In a folder with the sticky bit the kernel may refuse O_CREAT for files of others that exist
// (fs.protected_regular).
int db_open_file(const char *path, int flags, int mode)
{
    int fd = open(path, flags & ~O_CREAT, 0);
    if (fd >= 0 || errno != ENOENT || !(flags & O_CREAT))
        return fd;
    return open(path, flags, mode);
}

static int open_for_looking(struct sqlite3_vfs *self, const char *name, struct sqlite3_file *file,
                            int flags, int *out_flags)
{
    const int lasting = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
    struct sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    (void)self;
    if (flags & lasting) {
        flags &= ~(SQLITE_OPEN_CREATE | SQLITE_OPEN_READWRITE);
        flags |= SQLITE_OPEN_READONLY;
    }
    return system->xOpen(system, name, file, flags, out_flags);
}

static void prepare_files(void)
{
    struct sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    system->xSetSystemCall(system, "open", (sqlite3_syscall_ptr)db_open_file);
    reader_files = *system;
    reader_files.pNext = NULL;
    reader_files.zName = looking;
    reader_files.xOpen = open_for_looking;
    sqlite3_vfs_register(&reader_files, 0);
}

void db_prepare_files(void)
{
    pthread_once(&files_once, prepare_files);
}

// --- looking ---

// Returns the size of the file beside the database; -1: there is none.
static int64_t size_beside(const struct store *s, const char *suffix)
{
    struct stat info;
    char *path = mem_printf("%s%s", s->real, suffix);
    int64_t size = stat(path, &info) == 0 ? (int64_t)info.st_size : -1;
    free(path);
    return size;
}

// Returns whether the log has changes that are not in the database file. It begins with a header;
// SQLite cannot read one without more behind it, where its writer died, through a -shm of others.
static bool has_changes(const struct store *s)
{
    enum { HEADER_BYTES = 32 }; // sqlite.org/fileformat2.html#wal_file_format
    return size_beside(s, "-wal") > HEADER_BYTES;
}

bool db_connect_looking(struct store *s, struct err *e)
{
    struct str uri = {0};
    char *real = realpath(s->path, NULL);
    free(s->real);
    s->real = real ? real : mem_strdup(s->path);
    s->stamp = file_stamp(s->path, 0);
    s->unchanging = !has_changes(s) && size_beside(s, "-journal") < 0;
    str_add(&uri, "file:");
    for (const char *c = s->path; *c; c++)
        if (isalnum((unsigned char)*c) || strchr("/.-_", *c))
            str_add_char(&uri, *c);
        else
            str_printf(&uri, "%%%02X", (unsigned char)*c);
    str_add(&uri, s->unchanging ? "?immutable=1" : "?readonly_shm=1");
    bool ok = db_connect(s, str_text(&uri), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, looking, e);
    str_finish(&uri);
    return ok;
}

void db_look_again(struct store *s)
{
    struct err ignored; // the former connection is used on
    uint64_t stamp = s->stamp;
    if (!s->unchanging || !sqlite3_get_autocommit(s->db) || query_is_open(s) ||
        (db_is_unchanged(s) && !(has_changes(s) && size_beside(s, "-shm") >= 0)))
        return;
    sqlite3 *former = s->db;
    query_forget(s);
    s->db = NULL;
    if (db_connect_looking(s, &ignored) &&
        sqlite3_exec(s->db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL) == SQLITE_OK) {
        sqlite3_close(former);
        s->looked = false;
        return;
    }
    sqlite3_close(s->db);
    s->db = former;
    s->stamp = stamp;
    s->unchanging = true;
}

bool db_is_unchanged(const struct store *s)
{
    return !s->unchanging || file_stamp(s->path, 0) == s->stamp;
}

bool db_explain_looking(const struct store *s, struct err *e)
{
    return has_changes(s) && size_beside(s, "-shm") < 0 &&
           err_set(e,
                   "can't read '%s': its last changes are in '%s-wal', which without '%s-shm' is"
                   " read only by who may write the database and its folder (copy both to a folder"
                   " of yours)",
                   s->path, path_name(s->path), path_name(s->path));
}
