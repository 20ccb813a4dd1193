#include "trial/dialer.h"

#include "base/mem.h"
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct reply {
    bool ok;
    char text[512]; // why not
};

// --- the process ---

static void answer(const struct dialer *d, struct child *started, int socket, int index)
{
    struct reply r = {.ok = false};
    struct err e = {0};
    struct child *c = &started[index];
    int fds[PASSING_MOST_FDS];
    os_kill(c, NULL);
    r.ok = os_spawn_talker(c, d->place[index].argv, &e);
    snprintf(r.text, sizeof r.text, "%s", e.text);
    fds[0] = c->socket;
    fds[1] = c->stderr_fd;
    passing_send(socket, &(struct iovec){&r, sizeof r}, 1, fds, r.ok ? 2 : 0);
    for (int i = 0; r.ok && i < 2; i++)
        close(fds[i]);
    c->socket = c->stderr_fd = -1;
}

// --- the run ---

bool dialer_begin(struct dialer *d, const struct dial_place *place, int count, struct err *e)
{
    int ends[2];
    *d = (struct dialer){.place = place, .count = count, .socket = -1};
    if (!passing_pair(ends))
        return err_set(e, "no socket to reach machines by: %s", strerror(errno));
    fflush(NULL);
    d->pid = fork();
    if (d->pid == 0) {
        close(ends[0]);
        int socket = ends[1];
        int index, fds[PASSING_MOST_FDS];
        struct child *started = mem_zero((size_t)d->count, sizeof *started);
        for (int i = 0; i < d->count; i++)
            started[i].socket = started[i].stderr_fd = -1;
        // Keeps nothing of the terminal, so that nobody who waits for its end waits for this
        // process.
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, NULL);
        setsid();
        int null = open("/dev/null", O_RDWR);
        for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
            dup2(null, fd);
        while (passing_receive(socket, &(struct iovec){&index, sizeof index}, 1, 0, fds) ==
               sizeof index)
            if (index >= 0 && index < d->count)
                answer(d, started, socket, index);
        for (int i = 0; i < d->count; i++)
            os_kill(&started[i], NULL);
        _exit(0);
    }
    close(ends[1]);
    d->socket = ends[0];
    return d->pid > 0 || err_set(e, "no process to reach machines by: %s", strerror(errno));
}

bool dialer_dial(struct dialer *d, int index, struct child *out, struct err *e)
{
    struct reply r;
    int fds[PASSING_MOST_FDS];
    if (!passing_send(d->socket, &(struct iovec){&index, sizeof index}, 1, NULL, 0) ||
        passing_receive(d->socket, &(struct iovec){&r, sizeof r}, 1, 0, fds) != sizeof r)
        return err_set(e, "the process that reaches machines is gone");
    if (!r.ok)
        return err_set(e, "%s", r.text);
    *out = (struct child){.socket = fds[0], .stderr_fd = fds[1]};
    return true;
}

void dialer_end(struct dialer *d)
{
    if (d->pid <= 0)
        return;
    close(d->socket);
    *d = (struct dialer){.socket = -1};
}
