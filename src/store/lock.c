// Other processes and the database: lock waits, files that were removed or replaced, session locks.
//
// Session locks are POSIX record locks on single bytes of `PATH.lock`. POSIX releases the locks of
// a process on a file as soon as the process closes any descriptor of that file, and never refuses
// a process a lock that it holds itself. So a process has one descriptor for each lock file, shared
// by its stores, and keeps a list of the locks of each store. This list is the one global here,
// because the locks belong to the process.

#include "base/file.h"
#include "base/os.h"
#include "store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MOST_SAVED 100 // saved databases with one name

static const char *const parts[STORE_PARTS] = {"", "-wal", "-shm"};

static int lock_trouble(struct store *s);

// --- lock waits ---

// SQLite calls it repeatedly while another program holds a lock; 0: the call fails.
static int on_busy(void *context, int count)
{
    struct store *s = context;
    const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
    int64_t now_ns = os_now_ns();
    if (count == 0) {
        s->busy_since_ns = now_ns;
        s->no_locks = lock_trouble(s); // SQLite takes a system that has none for a busy one
    }
    if (s->no_locks)
        return 0;
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

// --- files that were removed or replaced ---

static uint64_t identity_of(const struct store *s, int part)
{
    char *path = mem_printf("%s%s", s->path, parts[part]);
    uint64_t identity = file_identity(path);
    free(path);
    return identity;
}

// Called when all three files exist. The open files keep these identities.
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

// --- saving ---

// Saves the database as `path`, where no file is.
static bool save_as(struct store *s, const char *path, struct err *e)
{
    struct query q = query_start(s, "VACUUM INTO ?", e);
    query_bind_text(&q, path);
    bool ok = query_run(&q);
    if (!ok)
        unlink(path); // it was not there before
    return ok;
}

// Saves the database in a folder, under the first name that is free: NAME.saved, NAME.saved2 ...
static bool save_in(struct store *s, const char *folder, struct err *e)
{
    for (int i = 1; i <= MOST_SAVED; i++) {
        char number[16] = "";
        struct stat st;
        if (i > 1)
            snprintf(number, sizeof number, "%d", i);
        char *path = mem_printf("%s/%s.saved%s", folder, path_name(s->path), number);
        bool is_free = lstat(path, &st) != 0;
        if (is_free && save_as(s, path, e)) {
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
        if (save_as(s, s->saved, e))
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

// When the database was removed or replaced, SQLite must not write changes to the lost file, nor
// delete by name files that may belong to the new database. Our own files beside it are removed:
// they would be taken for changes of any database at that path.
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

// --- session locks ---

struct held_lock {
    int64_t id;
    const struct store *owner;
    pid_t process; // a forked child inherits the list but none of the locks
};

struct lock_file {
    dev_t device;
    ino_t inode;
    int fd;
    bool writable; // needed to lock, not to query locks
    int users;
    struct held_lock *held;
    int count, capacity;
    struct lock_file *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // for everything below
static struct lock_file *lock_files;

// Returns the lock file of a store, and opens it when it is first needed; NULL and errno when that
// fails. Only a store that wants to lock creates the file.
static struct lock_file *attach(struct store *s, bool writable)
{
    char *path = mem_printf("%s.lock", s->path);
    struct lock_file *f = s->lock;
    struct stat st;
    int fd;
    if (!f && stat(path, &st) == 0) {
        f = lock_files;
        while (f && (f->device != st.st_dev || f->inode != st.st_ino))
            f = f->next;
    }
    if (!f && (fd = db_open_file(path, (writable ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC,
                                 0666)) >= 0) {
        if (fstat(fd, &st) != 0) {
            close(fd);
        } else {
            f = mem_zero(1, sizeof *f);
            *f = (struct lock_file){.device = st.st_dev,
                                    .inode = st.st_ino,
                                    .fd = fd,
                                    .writable = writable,
                                    .next = lock_files};
            lock_files = f;
        }
    }
    if (f && !s->lock)
        f->users++;
    s->lock = f;
    if (f && writable && !f->writable) {
        // A descriptor for reading holds no locks, so that it may be closed.
        fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd >= 0) {
            close(f->fd);
            f->fd = fd;
            f->writable = true;
        } else {
            f = NULL;
        }
    }
    free(path);
    return f;
}

static struct flock byte_of(int64_t id, short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)id, .l_len = 1};
}

// Returns the reason why the file system gives no locks, an errno; 0: it does. Tries byte 0, which
// is no session's.
static int lock_trouble(struct store *s)
{
    pthread_mutex_lock(&mutex);
    struct lock_file *f = attach(s, s->mode == STORE_WRITE);
    struct flock byte = byte_of(0, F_RDLCK), none = byte_of(0, F_UNLCK);
    int trouble = !f || fcntl(f->fd, F_SETLK, &byte) == 0 ? 0 : errno;
    if (f && !trouble)
        fcntl(f->fd, F_SETLK, &none);
    pthread_mutex_unlock(&mutex);
    return trouble == EAGAIN || trouble == EACCES ? 0 : trouble;
}

static struct held_lock *find_held(struct lock_file *f, int64_t id)
{
    for (int i = 0; i < f->count; i++)
        if (f->held[i].id == id && f->held[i].process == getpid())
            return &f->held[i];
    return NULL;
}

static void release(struct lock_file *f, struct held_lock *h)
{
    struct flock byte = byte_of(h->id, F_UNLCK);
    if (h->process == getpid())
        fcntl(f->fd, F_SETLK, &byte);
    *h = f->held[--f->count];
}

// Returns the process that holds a lock; 0: none, -1: one without a number here (in another
// container).
static pid_t holder(struct lock_file *f, int64_t id)
{
    if (find_held(f, id))
        return getpid();
    struct flock byte = byte_of(id, F_WRLCK);
    if (fcntl(f->fd, F_GETLK, &byte) != 0 || byte.l_type == F_UNLCK)
        return 0;
    return byte.l_pid > 0 ? byte.l_pid : -1;
}

static bool refuse(const struct store *s, int64_t id, struct err *e)
{
    struct lock_file *f = s->lock;
    const char *option = store_option(s);
    long long number = id;
    pid_t pid = holder(f, id);
    if (pid == getpid())
        return err_set(e, "session %lld is running in this process", number);
    if (pid <= 0)
        return err_set(
            e, "session %lld is running in another process (`tilewalk pause %lld%s` pauses it)",
            number, number, option);
    return err_set(e, "session %lld is running in process %lld (`tilewalk pause %lld%s` pauses it)",
                   number, (long long)pid, number, option);
}

bool store_lock_session(struct store *s, int64_t id, struct err *e)
{
    bool ok = false;
    pthread_mutex_lock(&mutex);
    struct lock_file *f = attach(s, true);
    struct flock byte = byte_of(id, F_WRLCK);
    if (f && find_held(f, id)) {
        refuse(s, id, e);
    } else if (f && fcntl(f->fd, F_SETLK, &byte) == 0) {
        MEM_GROW(f->held, f->count, f->capacity);
        f->held[f->count++] = (struct held_lock){.id = id, .owner = s, .process = getpid()};
        ok = true;
    } else if (f && (errno == EACCES || errno == EAGAIN)) {
        refuse(s, id, e);
    } else {
        err_set(e, "can't lock session %lld: '%s.lock': %s", (long long)id, s->path,
                strerror(errno));
    }
    pthread_mutex_unlock(&mutex);
    return ok;
}

void store_unlock_session(struct store *s, int64_t id)
{
    pthread_mutex_lock(&mutex);
    struct held_lock *h = s->lock ? find_held(s->lock, id) : NULL;
    if (h && h->owner == s)
        release(s->lock, h);
    pthread_mutex_unlock(&mutex);
}

bool lock_held(struct store *s, int64_t id)
{
    pthread_mutex_lock(&mutex);
    const struct held_lock *h = s->lock ? find_held(s->lock, id) : NULL;
    bool held = h && h->owner == s;
    pthread_mutex_unlock(&mutex);
    return held;
}

pid_t store_runner(struct store *s, int64_t id)
{
    pthread_mutex_lock(&mutex);
    struct lock_file *f = attach(s, false);
    pid_t pid = f ? holder(f, id) : 0;
    pthread_mutex_unlock(&mutex);
    return pid;
}

enum session_state store_state(struct store *s, const struct session_record *r, pid_t *runner)
{
    *runner = store_runner(s, r->id);
    return r->state == STATE_RUNNING && !*runner ? STATE_PAUSED : r->state;
}

void lock_detach(struct store *s)
{
    pthread_mutex_lock(&mutex);
    struct lock_file *f = s->lock;
    if (f) {
        for (int i = f->count; i-- > 0;)
            if (f->held[i].owner == s)
                release(f, &f->held[i]);
        if (--f->users == 0) {
            struct lock_file **link = &lock_files;
            while (*link != f)
                link = &(*link)->next;
            *link = f->next;
            close(f->fd);
            free(f->held);
            free(f);
        }
        s->lock = NULL;
    }
    pthread_mutex_unlock(&mutex);
}
