#include "trial/slot.h"

#include "base/err.h"
#include "trial/confine.h"
#include "trial/source.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST_LINE = 1000, RESULT_BYTES = 1 << 20 };
#define MS_NS    ((int64_t)1000000)
#define GRACE_NS (1000 * MS_NS)  // between asking a worker to end and killing it
#define STUCK_NS (30000 * MS_NS) // after SIGKILL: a worker that is still there is stuck
#define LOOK_NS  (5 * MS_NS)     // between two checks if it has ended

void slot_init(struct slot *s, int index)
{
    *s = (struct slot){.index = index, .child = {.socket = -1, .stderr_fd = -1}};
    link_init(&s->link, -1, RESULT_BYTES);
}

bool slot_start(struct slot *s, const char *program, int shared_fd, struct err *e)
{
    const char *const argv[] = {program, WORKER_COMMAND, NULL};
    const char **environment = confine_environment();
    bool ok = os_spawn(&s->child, argv, environment, shared_fd, e);
    free(environment);
    if (ok)
        slot_take(s, &s->child);
    return ok;
}

void slot_take(struct slot *s, const struct child *c)
{
    s->child = *c;
    int flags = fcntl(s->child.socket, F_GETFL);
    fcntl(s->child.socket, F_SETFL, flags | O_NONBLOCK);
    link_init(&s->link, s->child.socket, RESULT_BYTES);
    s->state = SLOT_STARTING;
    s->phase = PHASE_START;
    s->spawns++;
    s->log_closed = s->killed = false;
    s->last_line[0] = '\0';
}

bool slot_send(struct slot *s, char *text)
{
    bool ok = link_queue(&s->link, text);
    free(text);
    link_flush(&s->link); // reading finds out when the worker has gone
    return ok;
}

static void end_line(struct slot *s, void (*log)(void *, int, const char *), void *context)
{
    if (s->line.length == 0)
        return;
    snprintf(s->last_line, sizeof s->last_line, "%s", str_text(&s->line));
    if (log)
        log(context, s->index, str_text(&s->line));
    str_finish(&s->line);
}

void slot_read_log(struct slot *s, void (*log)(void *context, int worker, const char *line),
                   void *context)
{
    enum { READS_AT_ONCE = 16 };
    char bytes[4096];
    for (int i = 0; i < READS_AT_ONCE && !s->log_closed; i++) {
        ssize_t n = read(s->child.stderr_fd, bytes, sizeof bytes);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        for (ssize_t k = 0; k < n; k++) {
            if (bytes[k] == '\n' || s->line.length == LONGEST_LINE)
                end_line(s, log, context);
            if (bytes[k] != '\n' && bytes[k] != '\0')
                str_add_char(&s->line, bytes[k]);
        }
        s->log_closed = n <= 0;
    }
    if (s->log_closed)
        end_line(s, log, context);
}

int slot_fds(const struct slot *s, struct pollfd out[SLOT_FDS])
{
    int n = 0;
    if (s->state == SLOT_EMPTY)
        return 0;
    if (s->state != SLOT_ENDING)
        out[n++] =
            (struct pollfd){.fd = s->child.socket,
                            .events = (short)(POLLIN | (link_has_output(&s->link) ? POLLOUT : 0))};
    if (!s->log_closed)
        out[n++] = (struct pollfd){.fd = s->child.stderr_fd, .events = POLLIN};
    return n;
}

int64_t slot_wake_ns(const struct slot *s, int64_t now_ns)
{
    if (s->state == SLOT_EMPTY)
        return s->start_ns;
    if (s->state == SLOT_ENDING)
        return now_ns + LOOK_NS;
    return s->deadline.at_ns ? s->deadline.at_ns : SLOT_NEVER;
}

static void send_kill(struct slot *s, int64_t now_ns)
{
    s->kill_ns = now_ns;
    if (s->child.pid > 0)
        kill(s->child.pid, SIGKILL);
    s->killed = true;
}

void slot_kill(struct slot *s, int64_t now_ns)
{
    slot_let_end(s, now_ns);
    send_kill(s, now_ns);
}

void slot_let_end(struct slot *s, int64_t now_ns)
{
    s->state = SLOT_ENDING;
    s->kill_ns = now_ns + GRACE_NS;
}

bool slot_reap(struct slot *s, int64_t now_ns, char *how, size_t size)
{
    static const struct {
        int number;
        const char *name;
    } known[] = {{SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
                 {SIGILL, "SIGILL"},   {SIGKILL, "SIGKILL"}, {SIGSEGV, "SIGSEGV"},
                 {SIGSYS, "SIGSYS"},   {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"}};
    int status = 0;
    if (!s->killed && now_ns >= s->kill_ns)
        send_kill(s, now_ns);
    if (!os_reap(&s->child, &status))
        return false;
    if (!WIFSIGNALED(status)) {
        snprintf(how, size, "exited with status %d", WEXITSTATUS(status));
        return true;
    }
    const char *name = strsignal(WTERMSIG(status));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].number == WTERMSIG(status))
            name = known[i].name;
    snprintf(how, size, "was killed by %s", name);
    return true;
}

bool slot_is_stuck(const struct slot *s, int64_t now_ns)
{
    return s->state == SLOT_ENDING && now_ns > s->kill_ns + STUCK_NS;
}

void slot_clear(struct slot *s)
{
    os_kill(&s->child, NULL);
    link_finish(&s->link);
    str_finish(&s->line);
    s->state = SLOT_EMPTY;
    s->phase = PHASE_NONE;
    s->deadline.at_ns = 0;
}

// A process that hangs in the kernel is left alone, as a wait for it would hang, too.
void slot_finish(struct slot *s)
{
    enum { LOOKS = 400 };
    int status;
    send_kill(s, os_now_ns());
    for (int i = 0; i < LOOKS && s->child.pid > 0 && !os_reap(&s->child, &status); i++)
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    if (s->child.pid > 0) {
        log_warning("worker %d (process %d) cannot be killed", s->index, (int)s->child.pid);
        s->child.pid = 0;
    }
    slot_clear(s);
}
