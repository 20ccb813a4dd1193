// The program on a terminal: a pair of pseudo terminals of POSIX, no emulation behind it.
#include "campaign.h"

#include "patience.h"

#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_S 60
#define QUIET_MS   15 // without output: it waits for a key
#define BUSY_MS    400

// In the child: becomes the program, whose terminal is the other end.
static void become(struct attempt *a, const char *terminal, const char *const *words)
{
    const char *argv[32] = {getenv("TILEWALK_PROGRAM")};
    for (int i = 0; words[i] && i < 30; i++)
        argv[i + 1] = words[i];
    setsid();
    int fd = open(terminal, O_RDWR);
    ioctl(fd, TIOCSCTTY, 0);
    ioctl(fd, TIOCSWINSZ, &(struct winsize){.ws_row = 30, .ws_col = 100});
    for (int i = 0; i < 3; i++)
        dup2(fd, i);
    for (int i = 3; i < 64; i++)
        close(i);
    for (int i = 0; i < a->box->variables; i++)
        if (strchr(a->box->environment[i], '='))
            putenv(a->box->environment[i]);
        else
            unsetenv(a->box->environment[i]);
    setenv("TERM", "xterm-256color", 1);
    setenv("EDITOR", "true", 1);
    setenv("VISUAL", "true", 1);
    execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

// Reads what is drawn until nothing more comes. False: the other end is closed.
static bool drain(int fd)
{
    char frame[16384];
    int64_t end = os_now_ns() + BUSY_MS * 1000000ll;
    while (os_now_ns() < end) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, QUIET_MS) == 0)
            return true;
        ssize_t got = read(fd, frame, sizeof frame);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
            return false;
    }
    return true;
}

// The terminal is closed by now, so whatever runs there has been hung up.
static struct result wait_for_end(pid_t pid)
{
    struct patience p;
    int status;
    patience_begin(&p, getpid());
    while (waitpid(pid, &status, WNOHANG) != pid) {
        if (patience_spent_s(&p) > PATIENCE_S) {
            kill(pid, SIGKILL);
            fail_msg("waited %d s in vain for the workbench to end", PATIENCE_S);
        }
        rest_ms(2);
    }
    int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return (struct result){.code = code, .out = "", .err = ""};
}

static int open_terminal(char *name, size_t size)
{
    int fd = posix_openpt(O_RDWR | O_NOCTTY);
    if (fd < 0 || grantpt(fd) != 0 || unlockpt(fd) != 0)
        fail_msg("there are no pseudo terminals");
    snprintf(name, size, "%s", ptsname(fd));
    return fd;
}

// Arrows and the like are one key of several bytes: they go at once.
static size_t key_length(const char *keys, size_t left)
{
    bool sequence = keys[0] == 27 && left >= 3 && (keys[1] == '[' || keys[1] == 'O');
    return sequence ? 3 : 1;
}

void strike_keys(struct attempt *a, const char *const *words, const char *keys, size_t count)
{
    char name[64];
    int fd = open_terminal(name, sizeof name);
    note_command(words);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        become(a, name, words);
    bool there = drain(fd);
    for (size_t i = 0, n; there && i < count; i += n) {
        n = key_length(keys + i, count - i);
        there = write(fd, keys + i, n) == (ssize_t)n && drain(fd);
    }
    close(fd);
    struct result r = wait_for_end(pid);
    must_end_well(&r);
}
