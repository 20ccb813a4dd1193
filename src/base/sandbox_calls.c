#include "base/sandbox_calls.h"

#include <errno.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Of clone, out of <linux/sched.h>, which POSIX's <sched.h> has no room beside.
#define FLAG_THREAD     0x00010000u
#define FLAGS_NAMESPACE 0x7e020080u // all CLONE_NEW...

#define MASK_TYPE 0xfu        // of a socket, without what SOCK_CLOEXEC and SOCK_NONBLOCK add
#define MASK_INT  0xffffffffu // what the kernel looks at of an argument of 64 bits

// What any program that computes needs, and what drivers ask of a device. What is not here is
// missing (ENOSYS), as on an older kernel, which programs have to bear: sockets but pairs of them,
// namespaces, mounts, keys, modules, clocks, tracing, other processes' memory, io_uring, bpf, ...
static const char calm[] =
    // files and folders
    "access chdir close close_range dup dup2 dup3 faccessat faccessat2 fadvise64 fallocate fchdir "
    "fcntl fdatasync flock fstat fstatfs fsync ftruncate getcwd getdents getdents64 ioctl lseek "
    "lstat memfd_create newfstatat open openat openat2 pipe pipe2 pread64 preadv preadv2 pwrite64 "
    "pwritev pwritev2 read readahead readlink readlinkat readv sendfile stat statfs statx "
    "sync_file_range umask write writev "
    // what may be waited for
    "epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 "
    "getpeername getsockname getsockopt poll ppoll pselect6 recvfrom recvmsg select sendmsg sendto "
    "setsockopt shutdown timerfd_create timerfd_gettime timerfd_settime "
    // memory
    "brk get_mempolicy madvise map_shadow_stack mbind mincore mlock mlock2 mlockall mmap mprotect "
    "mremap mseal msync munlock munlockall munmap pkey_alloc pkey_free pkey_mprotect set_mempolicy "
    // threads
    "exit futex futex_requeue futex_wait futex_waitv futex_wake get_robust_list getcpu membarrier "
    "rseq sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr "
    "sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity sched_yield "
    "set_robust_list set_tid_address "
    // time
    "clock_getres clock_gettime clock_nanosleep getitimer gettimeofday nanosleep setitimer time "
    "timer_create timer_delete timer_getoverrun timer_gettime timer_settime times "
    // its own signals
    "pause restart_syscall rt_sigaction rt_sigpending rt_sigprocmask rt_sigreturn rt_sigsuspend "
    "rt_sigtimedwait sigaltstack "
    // itself
    "arch_prctl capget exit_group getegid geteuid getgid getgroups getpgid getpgrp getpid getppid "
    "getpriority getrandom getresgid getresuid getrlimit getrusage getsid gettid getuid kcmp "
    "landlock_add_rule landlock_create_ruleset landlock_restrict_self prctl seccomp setrlimit "
    "sysinfo uname ";

// Of a process that starts others.
static const char starting[] =
    "execve execveat fork kill setpgid setsid tgkill tkill vfork wait4 waitid ";

// Of a process that keeps a database. Landlock knows nothing of modes and owners, which SQLite, of
// root, passes on to what it puts beside one.
static const char keeping[] = "fchmod fchown mkdir mkdirat rename renameat renameat2 rmdir unlink "
                              "unlinkat ";

// Of the sanitizers, which look for leaks in the end.
#ifdef __SANITIZE_ADDRESS__
static const char leak_search[] = "clone personality ptrace sched_setscheduler wait4 waitid ";
#else
static const char leak_search[] = "";
#endif

// Not only missing: whoever tries shall hear that it was refused.
static const char refused[] = "bind connect execve execveat fork process_vm_readv "
                              "process_vm_writev ptrace socket vfork ";

// Sent to itself, as abort() does, by whoever starts nothing.
static const char *const signals[] = {"kill", "tgkill"};

enum { NAME_SIZE = 32 };

// The next word of a list, each followed by a space. False at the end.
static bool next_name(const char **list, char name[NAME_SIZE])
{
    size_t length = strcspn(*list, " ");
    if (length == 0)
        return false;
    memcpy(name, *list, length);
    name[length] = '\0';
    *list += length + 1;
    return true;
}

static bool is_in(const char *name, const char *list)
{
    char other[NAME_SIZE];
    while (next_name(&list, other))
        if (strcmp(name, other) == 0)
            return true;
    return false;
}

// A filter in the making. Its calls do nothing after the first error.
struct filter {
    scmp_filter_ctx context;
    int error; // an errno
};

static void note(struct filter *f, int result)
{
    if (result < 0 && !f->error)
        f->error = -result;
}

static void begin(struct filter *f, uint32_t otherwise)
{
    *f = (struct filter){.context = seccomp_init(otherwise)};
    if (!f->context) {
        f->error = ENOMEM;
        return;
    }
    note(f, seccomp_attr_set(f->context, SCMP_FLTATR_CTL_TSYNC, 1));
    seccomp_attr_set(f->context, SCMP_FLTATR_CTL_OPTIMIZE, 2); // a tree, not a list
    // Kernels before 5.16 would else slow down memory for those who are filtered: times are what
    // all is about. Those before 4.17 know neither the slowing down nor this.
    seccomp_attr_set(f->context, SCMP_FLTATR_CTL_SSB, 1);
}

// `only` may be NULL: whatever its arguments are. What this machine or the library does not know by
// that name cannot be called.
static void add(struct filter *f, uint32_t action, const char *name,
                const struct scmp_arg_cmp *only)
{
    int number = seccomp_syscall_resolve_name(name);
    if (!f->error && number != __NR_SCMP_ERROR)
        note(f, seccomp_rule_add_array(f->context, action, number, only ? 1 : 0, only));
}

static int finish(struct filter *f)
{
    if (!f->error)
        note(f, seccomp_load(f->context));
    seccomp_release(f->context);
    return f->error;
}

static void add_all(struct filter *f, uint32_t action, const char *list)
{
    char name[NAME_SIZE];
    while (next_name(&list, name))
        add(f, action, name, NULL);
}

static int limit_to_lists(bool starts, bool keeps_files)
{
    struct filter f;
    struct scmp_arg_cmp itself = SCMP_A0(SCMP_CMP_EQ, 0);
    begin(&f, SCMP_ACT_ERRNO(ENOSYS));
    add_all(&f, SCMP_ACT_ALLOW, calm);
    add_all(&f, SCMP_ACT_ALLOW, leak_search);
    add(&f, SCMP_ACT_ALLOW, "prlimit64", &itself);
    if (keeps_files)
        add_all(&f, SCMP_ACT_ALLOW, keeping);
    if (starts) {
        struct scmp_arg_cmp same_namespaces = SCMP_A0(SCMP_CMP_MASKED_EQ, FLAGS_NAMESPACE, 0);
        add_all(&f, SCMP_ACT_ALLOW, starting);
        if (!is_in("clone", leak_search))
            add(&f, SCMP_ACT_ALLOW, "clone", &same_namespaces);
    } else {
        struct scmp_arg_cmp thread = SCMP_A0(SCMP_CMP_MASKED_EQ, FLAG_THREAD, FLAG_THREAD);
        struct scmp_arg_cmp process = SCMP_A0(SCMP_CMP_MASKED_EQ, FLAG_THREAD, 0);
        struct scmp_arg_cmp self = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid());
        struct scmp_arg_cmp other = SCMP_A0(SCMP_CMP_NE, (scmp_datum_t)getpid());
        if (!is_in("clone", leak_search)) {
            add(&f, SCMP_ACT_ALLOW, "clone", &thread);
            add(&f, SCMP_ACT_ERRNO(EPERM), "clone", &process);
        }
        for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
            add(&f, SCMP_ACT_ALLOW, signals[i], &self);
            add(&f, SCMP_ACT_ERRNO(EPERM), signals[i], &other);
        }
    }
    // Of sockets only pairs, of streams: a pair of datagrams can send to any name.
    struct scmp_arg_cmp stream = SCMP_A1(SCMP_CMP_MASKED_EQ, MASK_TYPE, SOCK_STREAM);
    add(&f, SCMP_ACT_ALLOW, "socketpair", &stream);
    char name[NAME_SIZE];
    for (const char *list = refused; next_name(&list, name);)
        if (!is_in(name, leak_search) && !(starts && is_in(name, starting)))
            add(&f, SCMP_ACT_ERRNO(EPERM), name, NULL);
    return finish(&f);
}

int sandbox_limit_calls(bool starts, bool keeps_files, const unsigned long *request, size_t count)
{
    // A filter of its own, as the other one allows ioctl whatever its arguments are, and the
    // stricter answer counts.
    struct filter f;
    begin(&f, SCMP_ACT_ALLOW);
    for (size_t i = 0; i < count; i++) {
        struct scmp_arg_cmp same = SCMP_A1(SCMP_CMP_MASKED_EQ, MASK_INT, request[i]);
        add(&f, SCMP_ACT_ERRNO(EPERM), "ioctl", &same);
    }
    int error = finish(&f);
    return error ? error : limit_to_lists(starts, keeps_files);
}
