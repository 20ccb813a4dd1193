#define _GNU_SOURCE // the Linux calls of a sandbox are here; all others are in os.c
#include "base/sandbox.h"

#include "base/mem.h"
#include "base/sandbox_calls.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct sandbox_path {
    enum sandbox_right right;
    char *path;
};

void sandbox_allow(struct sandbox *s, enum sandbox_right right, const char *path)
{
    if (!path || !*path)
        return;
    MEM_GROW(s->path, s->count, s->capacity);
    s->path[s->count++] = (struct sandbox_path){right, mem_strdup(path)};
}

void sandbox_allow_list(struct sandbox *s, enum sandbox_right right, const char *paths)
{
    char *rest, *copy = mem_strdup(paths ? paths : "");
    for (char *one = strtok_r(copy, ":", &rest); one; one = strtok_r(NULL, ":", &rest))
        sandbox_allow(s, right, one);
    free(copy);
}

void sandbox_finish(struct sandbox *s)
{
    for (int i = 0; i < s->count; i++)
        free(s->path[i].path);
    free(s->path);
    *s = (struct sandbox){0};
}

bool sandbox_is_off(void)
{
    return str_equal(getenv("TILEWALK_SANDBOX"), "0");
}

// --- landlock ---

// Of <linux/landlock.h> at its version 7 (Linux 6.15); the header of the system may be older.
#define FS_EXECUTE     (UINT64_C(1) << 0)
#define FS_WRITE_FILE  (UINT64_C(1) << 1)
#define FS_READ_FILE   (UINT64_C(1) << 2)
#define FS_READ_DIR    (UINT64_C(1) << 3)
#define FS_REMOVE_DIR  (UINT64_C(1) << 4)
#define FS_REMOVE_FILE (UINT64_C(1) << 5)
#define FS_MAKE_DIR    (UINT64_C(1) << 7)
#define FS_MAKE_REG    (UINT64_C(1) << 8)
#define FS_REFER       (UINT64_C(1) << 13)
#define FS_TRUNCATE    (UINT64_C(1) << 14)
#define FS_IOCTL_DEV   (UINT64_C(1) << 15)
#define OF_FILES       (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

#define CREATE_VERSION    1u
#define RULE_PATH_BENEATH 1

struct ruleset_attributes {
    uint64_t handled_fs, handled_net, scoped;
};

struct path_beneath {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

static const uint64_t rights_of[] = {
    [SANDBOX_READ] = FS_READ_FILE | FS_READ_DIR,
    [SANDBOX_WRITE] = FS_READ_FILE | FS_READ_DIR | FS_WRITE_FILE | FS_TRUNCATE | FS_MAKE_REG |
                      FS_MAKE_DIR | FS_REMOVE_FILE | FS_REMOVE_DIR | FS_REFER,
    [SANDBOX_DEVICE] = FS_READ_FILE | FS_READ_DIR | FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV,
    [SANDBOX_RUN] = FS_READ_FILE | FS_READ_DIR | FS_EXECUTE,
    [SANDBOX_LIST] = FS_READ_DIR,
};

// All that a kernel of this version can forbid.
static struct ruleset_attributes all_of(int version)
{
    static const int fs_bits[] = {13, 13, 14, 15, 15, 16};
    const int known = (int)(sizeof fs_bits / sizeof *fs_bits);
    int bits = fs_bits[version < known ? version : known - 1];
    return (struct ruleset_attributes){
        .handled_fs = (UINT64_C(1) << bits) - 1,
        .handled_net = version >= 4 ? 3 : 0, // TCP: bind, connect
        .scoped = version >= 6 ? 3 : 0,      // abstract sockets, signals
    };
}

static enum sandbox_part enter_landlock(const struct sandbox *s, bool for_all)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);
    if (version < 1)
        return errno == ENOSYS || errno == EOPNOTSUPP ? SANDBOX_ABSENT : SANDBOX_REFUSED;
    struct ruleset_attributes all = all_of((int)version);
    // Older kernels take no more than they know, unless it is zero.
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);
    if (ruleset < 0)
        return SANDBOX_REFUSED;
    fcntl(ruleset, F_SETFD, FD_CLOEXEC);
    for (int i = 0; i < s->count; i++) {
        struct stat info;
        int fd = open(s->path[i].path, O_PATH | O_CLOEXEC);
        struct path_beneath rule = {.allowed = rights_of[s->path[i].right] & all.handled_fs,
                                    .parent = fd};
        if (!(fd < 0)) {
            if (fstat(fd, &info) == 0 && !S_ISDIR(info.st_mode))
                rule.allowed &= OF_FILES;
            syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0);
            // else: not allowed
            close(fd);
        }
    }
    bool ok = syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    close(ruleset);
    return ok && for_all ? SANDBOX_HOLDS : SANDBOX_REFUSED;
}

// --- the rest ---

// Of root's capabilities those with which it gets at files that are others', and makes them theirs.
#define FILE_CAPABILITIES                                                                          \
    (UINT64_C(1) << CAP_CHOWN | UINT64_C(1) << CAP_DAC_OVERRIDE |                                  \
     UINT64_C(1) << CAP_DAC_READ_SEARCH | UINT64_C(1) << CAP_FOWNER)

// OpenBLAS starts threads when it is loaded, and ends them before a fork, to start them anew when
// it computes. Landlock does not take in threads that are there.
static bool end_threads(void)
{
    int count = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    if (child > 0)
        waitpid(child, NULL, 0);
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *one; threads && (one = readdir(threads));)
        count += one->d_name[0] != '.';
    if (threads)
        closedir(threads);
    return count <= 1; // without /proc we trust
}

static enum sandbox_part enter_seccomp(const struct sandbox *s)
{
    // What is typed into the terminal by these is obeyed by the shell that started us.
    static const unsigned long typing[] = {TIOCSTI, TIOCLINUX};
    if (prctl(PR_GET_SECCOMP) < 0 && errno == EINVAL)
        return SANDBOX_ABSENT;
    const size_t requests = sizeof typing / sizeof *typing;
    bool ok = sandbox_limit_calls(s->starts, s->keeps_files, typing, requests) == 0;
    return ok ? SANDBOX_HOLDS : SANDBOX_REFUSED;
}

struct sandbox_state sandbox_enter(const struct sandbox *s)
{
    struct sandbox_state state = {SANDBOX_REFUSED, SANDBOX_REFUSED, SANDBOX_REFUSED};
    if (sandbox_is_off())
        return state;
    bool alone = end_threads();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        state.no_new_privs = SANDBOX_HOLDS;
    // What is limited cannot be unlimited again.
    struct rlimit files;
    const rlim_t most_files = 4096;
    setrlimit(RLIMIT_MSGQUEUE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_RTPRIO, &(struct rlimit){0, 0});
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max > most_files) {
        files.rlim_max = most_files;
        files.rlim_cur = files.rlim_cur < most_files ? files.rlim_cur : most_files;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    state.landlock = enter_landlock(s, alone);
    // Who has none, or may not drop what programs could gain, which no_new_privs prevents, is told
    // that by errors that nobody needs.
    uint64_t kept = s->keeps_files ? FILE_CAPABILITIES : 0;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    for (int i = 0; i < 64 && prctl(PR_CAPBSET_READ, i) >= 0; i++)
        if (!(kept >> i & 1))
            prctl(PR_CAPBSET_DROP, i);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capget, &header, data) == 0) {
        for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
            uint32_t part = (uint32_t)(kept >> 32 * i);
            data[i].permitted &= part;
            data[i].effective &= part;
            data[i].inheritable = 0;
        }
        syscall(SYS_capset, &header, data);
    }
    state.seccomp = enter_seccomp(s);
    return state;
}

struct sandbox_state sandbox_try(const struct sandbox *s)
{
    struct sandbox_state state = {SANDBOX_REFUSED, SANDBOX_REFUSED, SANDBOX_REFUSED};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return state;
    pid_t child = fork();
    if (child == 0) {
        state = sandbox_enter(s);
        ssize_t ignored = write(ends[1], &state, sizeof state);
        (void)ignored;
        _exit(0);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], &state, sizeof state);
    (void)got;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return state;
}
