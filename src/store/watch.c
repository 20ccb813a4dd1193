// What others do to the database of a run: lock it, remove it, put another in its place.
#include "store/db.h"

#include "base/file.h"
#include "base/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MOST_SAVED 100 // of one name

static const char *const parts[STORE_PARTS] = {"", "-wal", "-shm"};

// --- locked ---

// SQLite calls it for as long as another program holds a lock; 0: the call fails.
static int on_busy(void *context, int count)
{
    struct store *s = context;
    const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
    int64_t now_ns = os_now_ns();
    if (count == 0)
        s->busy_since_ns = now_ns;
    s->was_busy = true;
    double waited_s = (double)(now_ns - s->busy_since_ns) / 1e9;
    if (s->patience.wait)
        return s->patience.wait(s->patience.context, waited_s);
    if (waited_s >= STORE_BUSY_S)
        return 0;
    nanosleep(&pause, NULL);
    return 1;
}

void db_wait_for_others(struct store *s)
{
    sqlite3_busy_handler(s->db, on_busy, s);
}

void db_waited(struct store *s, bool came_through)
{
    if (s->was_busy && came_through && s->patience.over)
        s->patience.over(s->patience.context);
    s->was_busy = false;
}

void store_set_patience(struct store *s, const struct store_patience *patience)
{
    s->patience = patience ? *patience : (struct store_patience){0};
}

// --- removed, replaced ---

static uint64_t identity_of(const struct store *s, int part)
{
    char *path = mem_printf("%s%s", s->path, parts[part]);
    uint64_t identity = file_identity(path);
    free(path);
    return identity;
}

// Once all three are there. What is open has these numbers for as long as it is.
void db_remember_files(struct store *s)
{
    for (int i = 0; i < STORE_PARTS; i++)
        s->identity[i] = identity_of(s, i);
}

bool store_in_place(const struct store *s, struct err *e)
{
    for (int i = 0; i < STORE_PARTS; i++) {
        uint64_t now = s->identity[i] ? identity_of(s, i) : 0;
        if (now != s->identity[i])
            return err_set(e, "'%s%s' was %s by another program", s->path, parts[i],
                           now ? "replaced" : "removed");
    }
    return true;
}

// --- saved ---

static bool copy_to(struct store *s, const char *path, struct err *e)
{
    struct query q = query_start(s, "VACUUM INTO ?", e);
    query_bind_text(&q, path);
    if (query_run(&q))
        return true;
    unlink(path); // it was not there before
    return false;
}

// In a folder, under the first name that is free: NAME.saved, NAME.saved2 ...
static bool save_in(struct store *s, const char *folder, struct err *e)
{
    for (int i = 1; i <= MOST_SAVED; i++) {
        char number[16] = "";
        struct stat st;
        if (i > 1)
            snprintf(number, sizeof number, "%d", i);
        char *path = mem_printf("%s/%s.saved%s", folder, path_name(s->path), number);
        bool is_free = lstat(path, &st) != 0;
        if (is_free && copy_to(s, path, e)) {
            s->saved = path;
            return true;
        }
        free(path);
        if (is_free)
            return false;
    }
    return err_set(e, "'%s/%s.saved' and all further names are taken", folder, path_name(s->path));
}

const char *store_save(struct store *s, struct err *e)
{
    db_undo(s);
    if (s->saved) { // by another session of this run
        unlink(s->saved);
        if (copy_to(s, s->saved, e))
            return s->saved;
        free(s->saved);
        s->saved = NULL;
    }
    struct err ignored;
    char *beside = path_folder(s->path), *file = path_user_data(path_name(s->path));
    char *of_user = path_folder(file);
    const char *temporary = getenv("TMPDIR");
    bool ok = save_in(s, beside, e) ||
              (file_make_folders(of_user, &ignored) && save_in(s, of_user, &ignored)) ||
              save_in(s, temporary && *temporary ? temporary : "/tmp", &ignored);
    free(beside);
    free(file);
    free(of_user);
    return ok ? s->saved : NULL;
}

// When the database itself is another one, or none, SQLite would write the changes into what nobody
// finds any more, and delete by name what may belong to the other. Ours beside it must not stay: it
// would be taken for changes of whatever database comes to that path.
void db_leave_files(struct store *s)
{
    if (!s->identity[0] || identity_of(s, 0) == s->identity[0])
        return;
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    for (int i = 1; i < STORE_PARTS; i++) {
        char *path = mem_printf("%s%s", s->path, parts[i]);
        if (s->identity[i] && file_identity(path) == s->identity[i])
            unlink(path);
        free(path);
    }
}
