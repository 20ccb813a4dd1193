#define _GNU_SOURCE // memfd, sched_getaffinity, prctl

#include "base/os.h"

#include "base/file.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// --- clocks ---

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t os_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

int64_t os_thread_cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

int64_t os_process_cpu_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    bool is_known =
        pid > 0 && clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &t) == 0;
    return is_known ? (int64_t)t.tv_sec * 1000000000 + t.tv_nsec : 0;
}

double os_unix_time(void)
{
    // For tests: TILEWALK_CLOCK_STEP=AT:BY adds BY seconds once os_now_ns has reached AT seconds.
    const char *step = getenv("TILEWALK_CLOCK_STEP"), *by = step ? strchr(step, ':') : NULL;
    bool is_stepped = by && (double)os_now_ns() * 1e-9 >= strtod(step, NULL);
    return (double)clock_ns(CLOCK_REALTIME) * 1e-9 + (is_stepped ? strtod(by + 1, NULL) : 0);
}

// --- deadlines ---

enum {
    LONGEST_FACTOR = 4, // a process gets at most this many times its limit
    BUSY_SHARE = 20     // a process that got less than 1/20 of the time counts as asleep
};
#define LEAST_LEFT_NS ((int64_t)20000000)

void deadline_set(struct deadline *d, pid_t pid, double seconds, int64_t now_ns)
{
    d->begin_ns = now_ns;
    d->limit_ns = (int64_t)(seconds * 1e9);
    d->cpu_ns = os_process_cpu_ns(pid);
    d->at_ns = now_ns + d->limit_ns;
}

bool deadline_is_over(struct deadline *d, pid_t pid, int64_t now_ns)
{
    if (!d->at_ns || now_ns < d->at_ns)
        return false;
    int64_t gone_ns = now_ns - d->begin_ns, spent_ns = os_process_cpu_ns(pid) - d->cpu_ns;
    int64_t left_ns = d->limit_ns - spent_ns;
    bool works = spent_ns > gone_ns / BUSY_SHARE && left_ns > LEAST_LEFT_NS;
    if (!works || gone_ns > LONGEST_FACTOR * d->limit_ns)
        return true;
    d->at_ns = now_ns + left_ns;
    return false;
}

// --- memory and limits ---

// The size is sealed, because a worker that shrinks the memory would end the engine with SIGBUS.
int os_memfd(const char *name, size_t size, struct err *e)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && ftruncate(fd, (off_t)size) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
        return fd;
    err_set(e, "cannot make %zu bytes of shared memory: %s", size, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

FILE *os_unnamed_file(void)
{
    int fd = memfd_create("tilewalk", MFD_CLOEXEC);
    FILE *f = fd >= 0 ? fdopen(fd, "w+") : NULL;
    if (!f && fd >= 0)
        close(fd);
    return f;
}

static bool lower_limit(int resource, uint64_t bytes)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0)
        return false;
    limit.rlim_max = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(resource, &limit) == 0;
}

bool os_limit_memory(uint64_t bytes)
{
    // These pages of the stack are touched beforehand: it cannot grow once memory is at its limit,
    // and reporting that needs some stack.
    volatile char page[64 * 1024];
    for (size_t i = 0; i < sizeof page; i += 4096)
        page[i] = 0;
    return lower_limit(RLIMIT_AS, bytes);
}

bool os_has_memory(uint64_t bytes)
{
    void *tried = bytes <= SIZE_MAX ? mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                    : MAP_FAILED;
    return tried != MAP_FAILED && munmap(tried, (size_t)bytes) == 0;
}

bool os_limit_data(uint64_t bytes)
{
    return lower_limit(RLIMIT_DATA, bytes);
}

static bool is_low(int resource, rlim_t enough, rlim_t *limit)
{
    struct rlimit l;
    if (getrlimit(resource, &l) != 0)
        return false;
    *limit = l.rlim_cur;
    return l.rlim_cur < enough; // RLIM_INFINITY is the largest
}

const char *os_low_limits(char out[OS_LIMITS_SIZE])
{
    rlim_t limit;
    int length = 0;
    out[0] = '\0';
    if (is_low(RLIMIT_AS, (rlim_t)1 << 30, &limit))
        length = snprintf(out, OS_LIMITS_SIZE, "memory is limited to %llu MiB (ulimit -v)",
                          (unsigned long long)limit >> 20);
    if (is_low(RLIMIT_NOFILE, 64, &limit))
        snprintf(out + length, OS_LIMITS_SIZE - (size_t)length,
                 "%sopen files are limited to %llu (ulimit -n)", length ? ", " : "",
                 (unsigned long long)limit);
    return out;
}

// --- files with untrusted names ---

// Checks that an open file is a regular one and lies below one of `folders` (NULL: anywhere).
static bool is_allowed(int fd, const char *const *folders, struct err *e)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return err_set(e, "%s", strerror(errno));
    if (!S_ISREG(info.st_mode))
        return err_set(e, S_ISDIR(info.st_mode) ? "a folder, not a file" : "not a regular file");
    if (!folders)
        return true;
    char link[32], place[PATH_MAX], folder[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, place, PATH_MAX);
    if (length <= 0 || length >= PATH_MAX || place[0] != '/')
        return err_set(e, "where it lies cannot be found out (is /proc there?)");
    place[length] = '\0';
    for (; *folders; folders++) {
        size_t above = realpath(*folders, folder) ? strlen(folder) : 0;
        if (above && strncmp(place, folder, above) == 0 && (place[above] == '/' || above == 1))
            return true;
    }
    return err_set(e, "a link leads out of the space's folders");
}

// O_PATH opens nothing yet, so that the file can be checked before anything happens. The check is
// repeated on the opened file, because a link may have been changed in between.
int os_open_text(const char *path, const char *const *folders, struct err *e)
{
    int seen = open(path, O_PATH | O_CLOEXEC);
    if (seen < 0) {
        err_set(e, "%s", strerror(errno));
        return -1;
    }
    bool allowed = is_allowed(seen, folders, e);
    int fd = allowed ? open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
    if (allowed && fd < 0)
        err_set(e, "%s", strerror(errno));
    close(seen);
    if (fd >= 0 && !is_allowed(fd, folders, e)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

// --- files without a name ---

int os_open_nameless(const char *folder)
{
    return open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
}

bool os_give_name(int fd, const char *path)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

// --- streams, cores, the program itself ---

FILE *os_stream(ptrdiff_t (*put)(void *context, const char *bytes, size_t length), void *context,
                int mode)
{
    FILE *stream = fopencookie(context, "w", (cookie_io_functions_t){.write = put});
    if (!stream || setvbuf(stream, NULL, mode, BUFSIZ) != 0)
        abort(); // it only allocates
    return stream;
}

int os_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN); // more than 1024 cores
    return online > 0 ? (int)online : 1;
}

uint64_t os_seed(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) == (ssize_t)sizeof seed)
        return seed;
    return (uint64_t)(os_unix_time() * 1e9) ^ ((uint64_t)getpid() << 32);
}

bool os_terminal_size(int fd, int *rows, int *cols)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || !size.ws_row || !size.ws_col)
        return false;
    *rows = size.ws_row;
    *cols = size.ws_col;
    return true;
}

// dl_iterate_phdr passes the program itself first; its PT_INTERP names the loader.
static int find_loader(struct dl_phdr_info *program, size_t bytes, void *data)
{
    const char **loader = data;
    (void)bytes;
    for (int i = 0; i < program->dlpi_phnum; i++)
        if (program->dlpi_phdr[i].p_type == PT_INTERP)
            *loader = (const char *)(program->dlpi_addr + program->dlpi_phdr[i].p_vaddr);
    return 1; // no more
}

const char *os_loader(void)
{
    const char *loader = NULL;
    dl_iterate_phdr(find_loader, &loader);
    return loader;
}

// --- child processes ---

enum {
    CHILD_SOCKET = 3,
    CHILD_SHARED = 4,
    FIRST_HIGH_FD = 10, // above every descriptor with a fixed meaning in the child
};

// Everything the child needs between fork and exec. It may only make system calls there: another
// thread of the parent may have held the allocator's or any other lock at the moment of the fork.
struct launch {
    char **argv, **envp;
    pid_t parent;
    int input, output, socket, shared; // the child's, all high; `shared` may be -1
    int verdict, failure;              // a pipe: the parent reads whether exec succeeded
    int fd_limit;
    bool kept;  // by a keeper: os_spawn_kept
    bool talks; // over stdin and stdout: os_spawn_talker
};

static void close_fd(int *fd)
{
    if (*fd > 0)
        close(*fd);
    *fd = -1;
}

// Moves a descriptor up, out of the way of the child's fixed ones.
static bool lift(int *fd)
{
    int high = fcntl(*fd, F_DUPFD_CLOEXEC, FIRST_HIGH_FD);
    if (high < 0 && errno == EINVAL)
        errno = EMFILE; // the limit is not even that high
    close(*fd);
    *fd = high;
    return high >= 0;
}

// Makes a pipe (read end first) or a pair of sockets, both ends high.
static bool make_pair(bool is_pipe, int *first, int *second)
{
    int ends[2];
    if ((is_pipe ? pipe2(ends, O_CLOEXEC)
                 : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) != 0)
        return false;
    *first = ends[0];
    *second = ends[1];
    bool one = lift(first), other = lift(second);
    return one && other;
}

// Closes all descriptors from `first` on, at once or on exec.
static void close_others(int first, int limit, bool on_exec)
{
    if (close_range((unsigned)first, ~0u, on_exec ? CLOSE_RANGE_CLOEXEC : 0) == 0)
        return;
    for (int fd = first; fd < limit; fd++) // before Linux 5.11
        if (on_exec)
            fcntl(fd, F_SETFD, FD_CLOEXEC);
        else
            close(fd);
}

// The keeper: when a process dies, the kernel can end its direct child (PR_SET_PDEATHSIG), but not
// everything that descends from it. So the child stays as the keeper, and the program runs as its
// child: orphans below the keeper become its children (PR_SET_CHILD_SUBREAPER). Like everything
// between fork and exec it only makes system calls. Signals stay blocked, and it waits for them.

// Waits until the program has ended or the keeper has to (os_kill; the parent died). A program with
// a grace is asked to end first. Returns an exit status.
static int await_program(pid_t program, bool has_grace)
{
    sigset_t awaited;
    int64_t end_ns = 0; // of the grace
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, SIGTERM);
    for (;;) {
        siginfo_t info = {0};
        waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT);
        if (info.si_pid == program)
            return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
        if (info.si_pid) {
            waitpid(info.si_pid, NULL, 0);
            continue;
        }
        int64_t left_ns = end_ns - os_now_ns();
        struct timespec left = {left_ns / 1000000000, left_ns % 1000000000};
        if (end_ns && left_ns <= 0)
            return 128 + SIGTERM;
        bool asked =
            (end_ns ? sigtimedwait(&awaited, NULL, &left) : sigwaitinfo(&awaited, NULL)) == SIGTERM;
        if (asked && !has_grace)
            return 128 + SIGTERM;
        if (asked && !end_ns) {
            kill(-program, SIGTERM);
            end_ns = os_now_ns() + OS_GRACE_S * (int64_t)1000000000;
        }
    }
}

// Returns true in the process that is to become the program; false, with errno: there is none.
static bool stay_as_keeper(int fd_limit, bool has_grace)
{
    enum { MOST_ROUNDS = 1000 };
    pid_t keeper = getpid();
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        return false;
    pid_t program = _Fork();
    if (program < 0)
        return false;
    if (program == 0) {
        setsid();
        return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == keeper;
    }
    close_others(STDERR_FILENO + 1, fd_limit, false);
    int status = await_program(program, has_grace);
    kill(-program, SIGKILL); // its number is still taken: it was not reaped
    // Each dead process leaves its children to the keeper: kill until there are none. A process
    // that hangs in the kernel must not hold this up for ever.
    for (int round = 0; round < MOST_ROUNDS; round++) {
        char list[4096];
        int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
        ssize_t got = fd >= 0 ? read(fd, list, sizeof list) : 0;
        pid_t pid = 0, reaped;
        for (ssize_t i = 0; i < got; i++)
            if (list[i] != ' ') {
                pid = pid * 10 + (list[i] - '0');
            } else {
                kill(pid, SIGKILL);
                pid = 0;
            }
        if (fd >= 0)
            close(fd);
        while ((reaped = waitpid(-1, NULL, WNOHANG)) > 0)
            continue;
        if (reaped < 0)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    _exit(status);
}

// Becomes the program, in the child, with all signals blocked. Returns only when something failed,
// with errno.
static void run_child(const struct launch *l)
{
    if (prctl(PR_SET_PDEATHSIG, l->kept ? SIGTERM : SIGKILL) != 0)
        return;
    if (getppid() != l->parent)
        _exit(127); // it died before the line above
    setsid();       // the terminal's ^C is for the parent alone

    // 1, not 0: a core_pattern that is a pipe ignores 0 and obeys 1 (core(5), fs/coredump.c).
    setrlimit(RLIMIT_CORE, &(struct rlimit){1, 1});

    if (dup2(l->talks ? l->socket : l->input, STDIN_FILENO) < 0 ||
        dup2(l->talks ? l->socket : l->output, STDOUT_FILENO) < 0 ||
        dup2(l->output, STDERR_FILENO) < 0 || (!l->talks && dup2(l->socket, CHILD_SOCKET) < 0))
        return;
    if (l->shared >= 0 && dup2(l->shared, CHILD_SHARED) < 0)
        return;
    close_others(l->talks         ? CHILD_SOCKET
                 : l->shared >= 0 ? CHILD_SHARED + 1
                                  : CHILD_SHARED,
                 l->fd_limit, true);
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &action, NULL); // fails for those that cannot be changed
    if (l->kept && !stay_as_keeper(l->fd_limit, l->talks))
        return;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(l->argv[0], l->argv, l->envp);
}

// Starts the child and waits until it has become the new program (which closes its end of the pipe)
// or has written why it could not. Returns 0 or an errno.
static int start(struct launch *l, struct child *c)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // no handler of ours may run in the child
    pid_t pid = fork();
    int error = errno;
    if (pid == 0) {
        run_child(l);
        error = errno;
        ssize_t ignored = write(l->failure, &error, sizeof error);
        (void)ignored;
        _exit(127);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (pid < 0)
        return error;
    c->pid = pid;
    close_fd(&l->failure);
    error = 0;
    ssize_t got;
    do
        got = read(l->verdict, &error, sizeof error);
    while (got < 0 && errno == EINTR);
    return got == sizeof error ? error : 0;
}

// Starts `argv`. The caller sets `envp`, `kept` and `talks` of `l`.
static bool spawn(struct launch l, struct child *c, const char *const *argv, int shared_fd,
                  struct err *e)
{
    // execve writes to neither array nor strings, but its type is older than const.
    l.argv = (char **)(uintptr_t)argv;
    l.parent = getpid();
    l.fd_limit = (int)sysconf(_SC_OPEN_MAX);
    l.input = l.output = l.socket = l.shared = l.verdict = l.failure = -1;
    *c = (struct child){.socket = -1, .stderr_fd = -1, .kept = l.kept};
    bool ready =
        make_pair(false, &c->socket, &l.socket) && make_pair(true, &c->stderr_fd, &l.output) &&
        make_pair(true, &l.verdict, &l.failure) && fcntl(c->stderr_fd, F_SETFL, O_NONBLOCK) == 0 &&
        (l.input = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0 && lift(&l.input);
    if (ready && shared_fd >= 0)
        ready = (l.shared = fcntl(shared_fd, F_DUPFD_CLOEXEC, FIRST_HIGH_FD)) >= 0;
    int error = ready ? start(&l, c) : errno;
    close_fd(&l.input);
    close_fd(&l.output);
    close_fd(&l.socket);
    close_fd(&l.shared);
    close_fd(&l.verdict);
    close_fd(&l.failure);
    if (!error)
        return true;
    os_kill(c, NULL);
    return err_set(e, "cannot start '%s': %s", argv[0], strerror(error));
}

bool os_spawn(struct child *c, const char *const *argv, const char *const *environment,
              int shared_fd, struct err *e)
{
    struct launch l = {.envp = environment ? (char **)(uintptr_t)environment : environ};
    return spawn(l, c, argv, shared_fd, e);
}

bool os_spawn_talker(struct child *c, const char *const *argv, struct err *e)
{
    return spawn((struct launch){.envp = environ, .talks = true}, c, argv, -1, e);
}

bool os_spawn_kept(struct child *c, const char *const *argv, struct err *e)
{
    return spawn((struct launch){.envp = environ, .kept = true}, c, argv, -1, e);
}

bool os_spawn_kept_talker(struct child *c, const char *const *argv, struct err *e)
{
    return spawn((struct launch){.envp = environ, .kept = true, .talks = true}, c, argv, -1, e);
}

static bool wait_child(struct child *c, int *status, int options)
{
    int how = 0;
    pid_t got;
    do
        got = waitpid(c->pid, &how, options);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return false;
    c->pid = 0;
    if (status)
        *status = how;
    return true;
}

void os_kill(struct child *c, int *status)
{
    if (c->pid > 0) {
        kill(c->pid, c->kept ? SIGTERM : SIGKILL);
        wait_child(c, status, 0);
    }
    close_fd(&c->socket);
    close_fd(&c->stderr_fd);
}

bool os_reap(struct child *c, int *status)
{
    return c->pid > 0 && wait_child(c, status, WNOHANG);
}

void os_adopt_orphans(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

bool os_signal_at_parent_death(int signal_number)
{
    int error = errno;
    pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, signal_number); // fails for no signal that there is
    bool lives = getppid() == parent;
    errno = error;
    return lives;
}
