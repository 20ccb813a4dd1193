#include "terminal.h"

#include "base/os.h"
#include "bench.h"

#include <math.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET_MS        50
#define MOST_SETTLING_S 20

static void must(bool ok, const char *what)
{
    if (!ok)
        bench_fail(what, NULL);
}

void terminal_start(struct terminal *t, int rows, int cols,
                    void (*body)(struct terminal *t, void *context), void *context)
{
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
    int up[2], down[2];
    *t = (struct terminal){0};
    fflush(NULL);
    must(pipe(up) == 0 && pipe(down) == 0, "no pipe");
    t->pid = forkpty(&t->fd, NULL, NULL, &size);
    must(t->pid >= 0, "no pseudo-terminal");
    if (t->pid == 0) {
        close(up[0]);
        close(down[1]);
        t->reports = up[1];
        t->answers = down[0];
        setenv("TERM", "xterm-256color", 1);
        body(t, context);
        _exit(0);
    }
    close(up[1]);
    close(down[0]);
    t->reports = up[0];
    t->answers = down[1];
}

void terminal_end(struct terminal *t)
{
    kill(t->pid, SIGHUP);
    terminal_settle(t, MOST_SETTLING_S);
    close(t->fd);
    close(t->reports);
    close(t->answers);
    waitpid(t->pid, NULL, 0);
}

void terminal_send(struct terminal *t, const char *keys)
{
    must(write(t->fd, keys, strlen(keys)) == (ssize_t)strlen(keys), "the terminal takes no keys");
}

// Counts what comes; 0: the child is gone.
static size_t take_shown(struct terminal *t, char *bytes, size_t size)
{
    ssize_t n = read(t->fd, bytes, size);
    t->bytes += n > 0 ? n : 0;
    return n > 0 ? (size_t)n : 0;
}

static bool is_ready(int fd, int ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, ms) > 0;
}

static double seconds_since(int64_t start_ns)
{
    return (double)(os_now_ns() - start_ns) / 1e9;
}

void terminal_settle(struct terminal *t, double seconds)
{
    char bytes[65536];
    int64_t start = os_now_ns();
    while (seconds_since(start) < seconds && is_ready(t->fd, QUIET_MS) &&
           take_shown(t, bytes, sizeof bytes))
        ;
}

double terminal_wait_for(struct terminal *t, const char *text, double most)
{
    char bytes[65536 + 1];
    size_t kept = 0, length = strlen(text);
    int64_t start = os_now_ns();
    for (;;) {
        if (seconds_since(start) > most)
            return HUGE_VAL;
        if (!is_ready(t->fd, 20))
            continue;
        size_t n = take_shown(t, bytes + kept, sizeof bytes - 1 - kept);
        must(n > 0, "the program ended");
        bytes[kept + n] = '\0';
        if (strstr(bytes, text))
            return seconds_since(start);
        size_t all = kept + n;
        kept = all < length ? all : length; // the text may come in two pieces
        memmove(bytes, bytes + all - kept, kept);
    }
}

void terminal_report(struct terminal *t, const void *figures, size_t size)
{
    char byte;
    if (write(t->reports, figures, size) != (ssize_t)size || read(t->answers, &byte, 1) != 1)
        _exit(1); // nobody listens any more
}

void terminal_take(struct terminal *t, void *figures, size_t size)
{
    char bytes[65536];
    while (!is_ready(t->reports, 0))
        if (is_ready(t->fd, QUIET_MS) && !take_shown(t, bytes, sizeof bytes))
            break;
    must(read(t->reports, figures, size) == (ssize_t)size, "the child failed");
    terminal_settle(t, MOST_SETTLING_S);
    must(write(t->answers, "", 1) == 1, "the child failed");
}
