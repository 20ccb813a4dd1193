// Session locks: POSIX record locks on single bytes of `PATH.lock`.
//
// POSIX gives a process's locks on a file up as soon as the process closes any descriptor of that
// file, and never refuses a process what it holds itself. So a process has one descriptor for each
// lock file, shared by its stores, and keeps a list of what is held by which. This list is the one
// global here, because the locks are the process's.
#include "store/db.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct hold {
    int64_t id;
    const struct store *owner;
    pid_t process; // a forked child inherits the list but none of the locks
};

struct lock_file {
    dev_t device;
    ino_t inode;
    int fd;
    bool writable; // locking takes that, asking doesn't
    int users;
    struct hold *holds;
    int count, capacity;
    struct lock_file *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // guards all below
static struct lock_file *lock_files;

static struct lock_file *find_file(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return NULL;
    struct lock_file *f = lock_files;
    while (f && (f->device != st.st_dev || f->inode != st.st_ino))
        f = f->next;
    return f;
}

static struct lock_file *open_file(const char *path, bool writable)
{
    int fd = open(path, (writable ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC, 0666);
    if (fd < 0)
        return NULL;
    struct stat st;
    if (fstat(fd, &st) != 0) {
        close(fd);
        return NULL;
    }
    struct lock_file *f = mem_zero(1, sizeof *f);
    *f = (struct lock_file){.device = st.st_dev,
                            .inode = st.st_ino,
                            .fd = fd,
                            .writable = writable,
                            .next = lock_files};
    lock_files = f;
    return f;
}

// A descriptor for reading holds no locks, so that it may be closed.
static bool make_writable(struct lock_file *f, const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return false;
    close(f->fd);
    f->fd = fd;
    f->writable = true;
    return true;
}

// The lock file of a store, opened when it is first needed; NULL and errno when it can't be had.
// Only a store that wants to lock creates it.
static struct lock_file *attach(struct store *s, bool writable)
{
    char *path = mem_printf("%s.lock", s->path);
    struct lock_file *f = s->lock;
    if (!f) {
        f = find_file(path);
        if (!f)
            f = open_file(path, writable);
        if (f)
            f->users++;
        s->lock = f;
    }
    if (f && writable && !f->writable && !make_writable(f, path))
        f = NULL;
    free(path);
    return f;
}

static struct hold *find_hold(struct lock_file *f, int64_t id)
{
    for (int i = 0; i < f->count; i++)
        if (f->holds[i].id == id && f->holds[i].process == getpid())
            return &f->holds[i];
    return NULL;
}

static struct flock byte_of(int64_t id, short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)id, .l_len = 1};
}

static void drop_hold(struct lock_file *f, struct hold *h)
{
    struct flock byte = byte_of(h->id, F_UNLCK);
    if (h->process == getpid())
        fcntl(f->fd, F_SETLK, &byte);
    *h = f->holds[--f->count];
}

// Who holds the lock: 0 nobody, -1 a process that has no number here (in another container).
static pid_t holder(struct lock_file *f, int64_t id)
{
    if (find_hold(f, id))
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

static bool take(struct store *s, int64_t id, struct err *e)
{
    struct lock_file *f = attach(s, true);
    if (!f)
        return err_set(e, "can't lock session %lld: '%s.lock': %s", (long long)id, s->path,
                       strerror(errno));
    if (find_hold(f, id))
        return refuse(s, id, e);
    struct flock byte = byte_of(id, F_WRLCK);
    if (fcntl(f->fd, F_SETLK, &byte) != 0) {
        if (errno == EACCES || errno == EAGAIN)
            return refuse(s, id, e);
        return err_set(e, "can't lock session %lld: '%s.lock': %s", (long long)id, s->path,
                       strerror(errno));
    }
    MEM_GROW(f->holds, f->count, f->capacity);
    f->holds[f->count++] = (struct hold){.id = id, .owner = s, .process = getpid()};
    return true;
}

bool store_lock_session(struct store *s, int64_t id, struct err *e)
{
    pthread_mutex_lock(&mutex);
    bool ok = take(s, id, e);
    pthread_mutex_unlock(&mutex);
    return ok;
}

void store_unlock_session(struct store *s, int64_t id)
{
    pthread_mutex_lock(&mutex);
    struct hold *h = s->lock ? find_hold(s->lock, id) : NULL;
    if (h && h->owner == s)
        drop_hold(s->lock, h);
    pthread_mutex_unlock(&mutex);
}

bool lock_held(struct store *s, int64_t id)
{
    pthread_mutex_lock(&mutex);
    const struct hold *h = s->lock ? find_hold(s->lock, id) : NULL;
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
            if (f->holds[i].owner == s)
                drop_hold(f, &f->holds[i]);
        if (--f->users == 0) {
            struct lock_file **link = &lock_files;
            while (*link != f)
                link = &(*link)->next;
            *link = f->next;
            close(f->fd);
            free(f->holds);
            free(f);
        }
        s->lock = NULL;
    }
    pthread_mutex_unlock(&mutex);
}
