#include "base/spawner.h"

#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GRACE_NS ((int64_t)5000000000) // between asking a connection to end and killing it
#define LOOK_NS  5000000               // between two looks if it has ended

enum {
    MOST_BYTES = 48 * 1024, // of the words of a request
    MOST_WORDS = 100,       // of a command line
    MOST_FDS = 2
};

enum request_kind { REQUEST_SPAWN, REQUEST_OPEN_FILE, REQUEST_SIGNAL, REQUEST_STOP_GROUP };

// Words follow it, each ended by NUL.
struct request {
    enum request_kind kind;
    int command;
    pid_t pid;
    int number; // of a signal
};

struct message {
    enum { MESSAGE_REPLY, MESSAGE_ENDED } kind;
    bool ok;
    pid_t pid;
    int number;     // of a file; of an end: waitpid's status
    char text[512]; // the error
};

// --- messages with descriptors ---

// Sends the parts as one message. The descriptors stay the caller's. False: the other side is gone.
static bool send_message(int socket, struct iovec *parts, int count, const int *fds, int fd_count)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(MOST_FDS * sizeof(int))] = {0};
    struct msghdr m = {.msg_iov = parts, .msg_iovlen = (size_t)count};
    ssize_t sent;
    if (fd_count) {
        m.msg_control = control;
        m.msg_controllen = CMSG_SPACE((size_t)fd_count * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN((size_t)fd_count * sizeof(int));
        memcpy(CMSG_DATA(c), fds, (size_t)fd_count * sizeof(int));
    }
    do
        sent = sendmsg(socket, &m, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent >= 0;
}

// Waits for a message; `flags` are those of recvmsg. Returns its bytes; 0 or less when the other
// side is gone or, with MSG_DONTWAIT, no message is there yet. Received descriptors are the
// caller's, closed on exec; missing ones are -1.
static ssize_t receive_message(int socket, struct iovec *parts, int count, int flags,
                               int fds[MOST_FDS])
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(MOST_FDS * sizeof(int))];
    struct msghdr m = {.msg_iov = parts,
                       .msg_iovlen = (size_t)count,
                       .msg_control = control,
                       .msg_controllen = sizeof control};
    ssize_t got;
    do
        got = recvmsg(socket, &m, flags);
    while (got < 0 && errno == EINTR);
    fds[0] = fds[1] = -1;
    struct cmsghdr *c = got > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_type == SCM_RIGHTS)
        memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
    for (int i = 0; i < MOST_FDS; i++)
        if (fds[i] >= 0)
            fcntl(fds[i], F_SETFD, FD_CLOEXEC);
    return got;
}

// --- the process ---

struct started {
    pid_t pid; // not reaped yet, so that its number is not used again
    const struct spawner_command *command;
    bool ends; // it was asked to
};

struct service {
    int socket;
    const struct spawner_options *options;
    struct started *started;
    int count, capacity;
};

static int find_started(const struct service *s, pid_t pid)
{
    int i = 0;
    while (i < s->count && s->started[i].pid != pid)
        i++;
    return i < s->count ? i : -1;
}

// Waits until a process and its group have ended, orphans too, and reaps them. Returns false where
// they have not at `end_ns`. The number of the group stays taken while it has a member.
static bool await_group(pid_t leader, int64_t end_ns)
{
    for (;;) {
        while (waitpid(-leader, NULL, WNOHANG) > 0)
            continue;
        if (kill(-leader, 0) != 0)
            return true;
        if (os_now_ns() >= end_ns)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
}

// Ends the connections of a command (NULL: all), each with its process group. A program may hold
// something elsewhere that it gives back at SIGTERM (srun: its allocation, by a process of its own
// that outlives it).
static void end_connections(struct service *s, const struct spawner_command *command)
{
    int64_t end_ns = os_now_ns() + GRACE_NS;
    for (int i = 0; i < s->count; i++) {
        struct started *one = &s->started[i];
        one->ends =
            one->command->mode == SPAWNER_CONNECTION && (!command || one->command == command);
        if (one->ends)
            kill(-one->pid, SIGTERM); // it leads its group (os_spawn_talker)
    }
    for (int i = s->count - 1; i >= 0; i--) {
        struct started *one = &s->started[i];
        if (!one->ends)
            continue;
        if (!await_group(one->pid, end_ns)) {
            kill(-one->pid, SIGKILL);
            waitpid(one->pid, NULL, 0);
        }
        *one = s->started[--s->count];
    }
}

// Starts a command with `length` bytes of words, each ended by NUL.
static bool start(struct service *s, int index, const char *words, size_t length,
                  struct child *child, struct err *e)
{
    const char *argv[MOST_WORDS + 1];
    if (index < 0 || index >= s->options->count)
        return err_set(e, "there is no such command");
    const struct spawner_command *c = &s->options->command[index];
    int n = 0, own;
    for (; c->argv[n] && n < MOST_WORDS; n++)
        argv[n] = c->argv[n];
    own = n;
    const char *at = words;
    for (; at < words + length && n < MOST_WORDS; at += strlen(at) + 1)
        argv[n++] = at;
    argv[n] = NULL;
    if (at < words + length)
        return err_set(e, "the command line is too long");
    if (n > own && !c->allows)
        return err_set(e, "'%s' takes no words", argv[0]);
    if (n > own && !c->allows(argv + own, e))
        return false;
    bool ok = true;
    switch (c->mode) {
    case SPAWNER_CHILD: ok = os_spawn(child, argv, NULL, -1, e); break;
    case SPAWNER_CONNECTION:
        end_connections(s, c);
        ok = os_spawn_talker(child, argv, e);
        break;
    case SPAWNER_KEPT: ok = os_spawn_kept_talker(child, argv, e); break;
    case SPAWNER_TERMINAL: {
        sigset_t none;
        sigemptyset(&none);
        child->pid = fork();
        if (child->pid == 0) {
            sigprocmask(SIG_SETMASK, &none, NULL);
            execv(argv[0], (char **)(uintptr_t)argv);
            _exit(127);
        }
        ok = child->pid > 0 || err_set(e, "no process: %s", strerror(errno));
    }
    }
    if (ok) {
        MEM_GROW(s->started, s->count, s->capacity);
        s->started[s->count++] = (struct started){.pid = child->pid, .command = c};
    }
    return ok;
}

// Receives and answers a request. False: nobody is left who could ask.
static bool serve_next(struct service *s)
{
    char words[MOST_BYTES + 1];
    struct request q;
    struct iovec parts[] = {{&q, sizeof q}, {words, MOST_BYTES}};
    struct message m = {.kind = MESSAGE_REPLY};
    struct child child = {.socket = -1, .stderr_fd = -1};
    struct err e = {0};
    int fds[MOST_FDS];
    ssize_t got = receive_message(s->socket, parts, 2, 0, fds);
    if (got < (ssize_t)sizeof q)
        return false;
    size_t length = (size_t)got - sizeof q;
    words[length] = '\0';
    switch (q.kind) {
    case REQUEST_SPAWN:
        m.ok = start(s, q.command, words, length, &child, &e);
        if (m.ok && s->options->command[q.command].mode != SPAWNER_CONNECTION)
            m.pid = child.pid;
        break;
    case REQUEST_OPEN_FILE:
        if (s->options->open_file)
            child.socket = s->options->open_file(&m.number);
        m.ok = child.socket >= 0;
        break;
    case REQUEST_SIGNAL: m.ok = find_started(s, q.pid) >= 0 && kill(q.pid, q.number) == 0; break;
    case REQUEST_STOP_GROUP: m.ok = kill(0, SIGTSTP) == 0; break;
    }
    snprintf(m.text, sizeof m.text, "%s", e.text);
    int count = (child.socket >= 0) + (child.stderr_fd >= 0);
    fds[0] = child.socket;
    fds[1] = child.stderr_fd;
    send_message(s->socket, &(struct iovec){&m, sizeof m}, 1, fds, count);
    for (int i = 0; i < count; i++)
        close(fds[i]);
    return true;
}

static void on_child(int number)
{
    (void)number; // only wakes
}

static _Noreturn void serve(const struct spawner_options *o, int socket)
{
    struct service s = {.socket = socket, .options = o};
    struct sigaction wake = {.sa_handler = on_child};
    sigset_t all, waiting;
    // It must not stop while it has a request: all signals are blocked, except those of ended
    // children while it waits.
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    waiting = all;
    sigdelset(&waiting, SIGCHLD);
    sigaction(SIGCHLD, &wake, NULL);
    os_adopt_orphans();
    if (!o->keeps_terminal) {
        int null = open("/dev/null", O_RDWR);
        setsid();
        for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
            dup2(null, fd);
    }
    for (bool asked = true; asked;) {
        fd_set readable;
        FD_ZERO(&readable);
        FD_SET(s.socket, &readable);
        bool any = pselect(s.socket + 1, &readable, NULL, NULL, NULL, &waiting) > 0;
        // Reaps the children that have ended, and reports them. Never waits.
        struct message m = {.kind = MESSAGE_ENDED};
        while ((m.pid = waitpid(-1, &m.number, WNOHANG)) > 0) {
            int i = find_started(&s, m.pid);
            if (i < 0)
                continue; // an orphan of a connection
            enum spawner_mode mode = s.started[i].command->mode;
            s.started[i] = s.started[--s.count];
            if (mode != SPAWNER_CONNECTION)
                send_message(s.socket, &(struct iovec){&m, sizeof m}, 1, NULL, 0);
        }
        if (any)
            asked = serve_next(&s);
    }
    end_connections(&s, NULL);
    _exit(0);
}

// --- the side that asks ---

struct spawner {
    pid_t pid;
    int socket;            // to it
    bool waits;            // for its end
    bool gone;             // with all that it started
    struct message *ended; // ends that were not asked for yet
    int count, capacity;
};

struct spawner *spawner_create(const struct spawner_options *o, struct err *e)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) {
        err_set(e, "no socket for the spawner: %s", strerror(errno));
        return NULL;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        serve(o, ends[1]);
    }
    int error = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        err_set(e, "no process for the spawner: %s", strerror(error));
        return NULL;
    }
    struct spawner *s = mem_zero(1, sizeof *s);
    s->pid = pid;
    s->socket = ends[0];
    s->waits = o->keeps_terminal;
    return s;
}

void spawner_destroy(struct spawner *s)
{
    if (!s)
        return;
    close(s->socket);
    while (s->waits && waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    free(s->ended);
    free(s);
}

// Receives the next message and keeps it if it is an end. False: none, or the spawner is gone.
static bool take_message(struct spawner *s, struct message *m, int flags, int fds[MOST_FDS])
{
    ssize_t got = receive_message(s->socket, &(struct iovec){m, sizeof *m}, 1, flags, fds);
    s->gone |= got == 0 || (got < 0 && errno != EAGAIN);
    if (got != sizeof *m)
        return false;
    if (m->kind == MESSAGE_ENDED) {
        MEM_GROW(s->ended, s->count, s->capacity);
        s->ended[s->count++] = *m;
    }
    return true;
}

static bool take_end(struct spawner *s, pid_t pid, int *status)
{
    for (int i = 0; i < s->count; i++)
        if (s->ended[i].pid == pid) {
            *status = s->ended[i].number;
            s->ended[i] = s->ended[--s->count];
            return true;
        }
    return false;
}

// Sends a request and waits for the reply. False: the spawner is gone.
static bool ask(struct spawner *s, struct request q, const struct str *words, struct message *m,
                int fds[MOST_FDS])
{
    struct iovec parts[] = {{&q, sizeof q}, {words->text, words->length}};
    *m = (struct message){.ok = false};
    fds[0] = fds[1] = -1;
    if (!send_message(s->socket, parts, 2, NULL, 0))
        return false;
    do
        if (!take_message(s, m, 0, fds))
            return false;
    while (m->kind != MESSAGE_REPLY);
    return true;
}

bool spawner_spawn(struct spawner *s, int index, const char *const *words, struct child *c,
                   struct err *e)
{
    struct str text = {0};
    struct message m;
    int fds[MOST_FDS], ignored;
    for (int i = 0; words && words[i]; i++) {
        str_add(&text, words[i]);
        str_add_char(&text, '\0');
    }
    *c = (struct child){.socket = -1, .stderr_fd = -1};
    bool fits = text.length <= MOST_BYTES;
    bool answered =
        fits && ask(s, (struct request){REQUEST_SPAWN, .command = index}, &text, &m, fds);
    str_finish(&text);
    if (!fits)
        return err_set(e, "the command line is too long");
    if (!answered)
        return err_set(e, "cannot start anything: the process that does it is gone (start tilewalk "
                          "again)");
    if (!m.ok)
        return err_set(e, "%s", m.text);
    take_end(s, m.pid, &ignored); // of an earlier process with this number
    *c = (struct child){.pid = m.pid, .socket = fds[0], .stderr_fd = fds[1]};
    return true;
}

int spawner_open_file(struct spawner *s, int *number)
{
    struct message m;
    int fds[MOST_FDS];
    ask(s, (struct request){REQUEST_OPEN_FILE}, &(struct str){0}, &m, fds);
    *number = m.number;
    return fds[0];
}

bool spawner_signal(struct spawner *s, pid_t pid, int number)
{
    struct message m;
    int fds[MOST_FDS];
    struct request q = {REQUEST_SIGNAL, .pid = pid, .number = number};
    if (!s)
        return kill(pid, number) == 0;
    return ask(s, q, &(struct str){0}, &m, fds) && m.ok;
}

bool spawner_reap(struct spawner *s, struct child *c, int *status)
{
    struct message m;
    int fds[MOST_FDS];
    if (!s)
        return os_reap(c, status);
    while (take_message(s, &m, MSG_DONTWAIT, fds))
        continue;
    bool ended = c->pid > 0 && take_end(s, c->pid, status);
    if (c->pid > 0 && !ended && s->gone) {
        *status = SIGKILL;
        ended = true;
    }
    if (ended)
        c->pid = 0;
    return ended;
}

void spawner_kill(struct spawner *s, struct child *c)
{
    if (s && c->pid > 0) {
        spawner_signal(s, c->pid, SIGKILL);
        c->pid = 0;
    }
    os_kill(c, NULL);
}

void spawner_stop_group(struct spawner *s)
{
    struct message m;
    int fds[MOST_FDS];
    if (!s || !ask(s, (struct request){REQUEST_STOP_GROUP}, &(struct str){0}, &m, fds))
        kill(0, SIGTSTP);
}
