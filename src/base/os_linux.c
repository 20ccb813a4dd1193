#define _GNU_SOURCE // memfd, sched_getaffinity
#include "base/os.h"

#include "base/file.h"

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
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

// Sealed against a change of size: a worker that shrinks it would end the engine with SIGBUS.
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

// A stack cannot grow where memory is at its limit. What says so then needs some: this much is
// taken beforehand.
static __attribute__((noinline)) void touch_stack(void)
{
    volatile char page[64 * 1024];
    for (size_t i = 0; i < sizeof page; i += 4096)
        page[i] = 0;
}

bool os_limit_memory(uint64_t bytes)
{
    touch_stack();
    return lower_limit(RLIMIT_AS, bytes);
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

// Where an open file lies by now. False: it cannot be said.
static bool find_place(int fd, char out[PATH_MAX])
{
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, out, PATH_MAX);
    if (length <= 0 || length >= PATH_MAX)
        return false;
    out[length] = '\0';
    return out[0] == '/';
}

static bool lies_below(const char *place, const char *folder)
{
    char whole[PATH_MAX];
    if (!realpath(folder, whole))
        return false;
    size_t length = strlen(whole);
    return strncmp(place, whole, length) == 0 && (place[length] == '/' || length == 1);
}

static bool is_allowed(int fd, const char *const *folders, struct err *e)
{
    char place[PATH_MAX];
    if (!folders)
        return true;
    if (!find_place(fd, place))
        return err_set(e, "where it lies cannot be found out (is /proc there?)");
    for (; *folders; folders++)
        if (lies_below(place, *folders))
            return true;
    return err_set(e, "a link leads out of the space's folders");
}

static bool is_regular(int fd, struct err *e)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return err_set(e, "%s", strerror(errno));
    return S_ISREG(info.st_mode) ||
           err_set(e, S_ISDIR(info.st_mode) ? "a folder, not a file" : "not a regular file");
}

// With O_PATH nothing is opened yet, so that there is something to look at before anything happens.
// What is opened then is the same file, or, where a link was changed in between, looked at again.
int os_open_text(const char *path, const char *const *folders, struct err *e)
{
    int seen = open(path, O_PATH | O_CLOEXEC), fd = -1;
    if (seen < 0) {
        err_set(e, "%s", strerror(errno));
        return -1;
    }
    if (is_regular(seen, e) && is_allowed(seen, folders, e)) {
        fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd < 0)
            err_set(e, "%s", strerror(errno));
    }
    close(seen);
    if (fd >= 0 && (!is_regular(fd, e) || !is_allowed(fd, folders, e))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

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

// Not getrusage: its maximum counts what the process was before exec, a copy of its parent.
bool os_peak_memory(uint64_t *bytes)
{
    char *text;
    if (!file_read("/proc/self/status", &text, NULL, NULL))
        return false;
    const char *line = strstr(text, "VmHWM:");
    unsigned long long kib = 0;
    bool ok = line && sscanf(line, "VmHWM: %llu kB", &kib) == 1;
    free(text);
    *bytes = kib * 1024;
    return ok;
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

// The program itself comes first.
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
