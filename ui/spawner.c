#include "spawner.h"

#include "base/mem.h"
#include "base/os.h"
#include "base/sandbox.h"
#include "base/str.h"
#include "term.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEANWHILE_MS 50 // between two looks at what runs beside it

const char *editor_of(const struct ui_config *c)
{
    const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");
    if (c->editor[0])
        return c->editor;
    if (visual && *visual)
        return visual;
    return editor && *editor ? editor : "vi";
}

void editor_become(const struct ui_config *c, const char *path, int line)
{
    char place[32];
    snprintf(place, sizeof place, "+%d", line);
    // The shell splits the editor's words, as it does for other programs that start one.
    char *command = mem_printf("exec %s \"$@\"", editor_of(c));
    if (line > 0)
        execlp("sh", "sh", "-c", command, "sh", place, path, (char *)NULL);
    else
        execlp("sh", "sh", "-c", command, "sh", path, (char *)NULL);
    _exit(127);
}

// Runs the editor to its end; Ctrl-C belongs to it meanwhile.
static bool editor_edit(const char *path, int line, void (*meanwhile)(void *context), void *context)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    struct child editor = {.pid = spawner_edit(path, line)};
    bool ok = editor.pid > 0;
    int status = 0;
    while (ok && !spawner_reap(&editor, &status)) {
        meanwhile(context);
        poll(NULL, 0, MEANWHILE_MS);
    }
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    return ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool editor_run(const char *path, int line, void (*meanwhile)(void *context), void *context)
{
    term_lend();
    bool ok = (line > 0 && editor_edit(path, line, meanwhile, context)) ||
              editor_edit(path, 0, meanwhile, context);
    term_take_back();
    return ok;
}

enum {
    MOST_BYTES = 48 * 1024, // of the words of a command line
    MOST_WORDS = 100,
    MOST_SCREENS = 1000
};

enum request_kind { REQUEST_SPAWN, REQUEST_EDIT, REQUEST_SIGNAL, REQUEST_STOP, REQUEST_SCREEN };

// Words follow it, each ended by NUL: the arguments of the program, or a path.
struct request {
    enum request_kind kind;
    pid_t pid;
    int number; // line, signal
};

struct message {
    enum { MESSAGE_REPLY, MESSAGE_ENDED } kind;
    bool ok;
    pid_t pid;
    int number;     // of a screen; of an end: waitpid's status
    char text[512]; // the error
};

// --- the helper process ---

struct service {
    int socket;
    const char *program;
    const struct ui_config *config;
    pid_t *started; // not reaped yet, so that their numbers are not used again
    int count, capacity;
};

static void remember(struct service *s, pid_t pid)
{
    MEM_GROW(s->started, s->count, s->capacity);
    s->started[s->count++] = pid;
}

static int find(const struct service *s, pid_t pid)
{
    int i = 0;
    while (i < s->count && s->started[i] != pid)
        i++;
    return i < s->count ? i : -1;
}

static void spawn(struct service *s, const char *words, size_t length, struct message *m,
                  int fds[PASSING_MOST_FDS])
{
    const char *argv[MOST_WORDS] = {s->program};
    struct child child;
    struct err e;
    int n = 1;
    bool refused = false;
    const char *at = words;
    for (; at < words + length && n < MOST_WORDS - 1; at += strlen(at) + 1) {
        refused |= str_equal(at, "--no-sandbox") && !sandbox_is_off();
        argv[n++] = at;
    }
    argv[n] = NULL;
    if (at < words + length)
        err_set(&e, "the command line is too long");
    else if (refused)
        err_set(&e, "--no-sandbox is for a workbench that was started with it");
    else
        m->ok = os_spawn(&child, argv, NULL, -1, &e);
    if (!m->ok) {
        snprintf(m->text, sizeof m->text, "%s", e.text);
        return;
    }
    remember(s, child.pid);
    m->pid = child.pid;
    fds[0] = child.socket;
    fds[1] = child.stderr_fd;
}

// Receives and answers a request. False: the workbench is gone.
static bool serve_next(struct service *s)
{
    char words[MOST_BYTES + 1];
    struct request q;
    struct iovec parts[] = {{&q, sizeof q}, {words, MOST_BYTES}};
    int fds[PASSING_MOST_FDS];
    ssize_t got = passing_receive(s->socket, parts, 2, 0, fds);
    if (got < (ssize_t)sizeof q)
        return false;
    size_t length = (size_t)got - sizeof q;
    words[length] = '\0';
    struct message m = {.kind = MESSAGE_REPLY};
    fds[0] = fds[1] = -1;
    switch (q.kind) {
    case REQUEST_SPAWN: spawn(s, words, length, &m, fds); break;
    case REQUEST_EDIT: {
        int line = q.number;
        m.pid = fork();
        if (m.pid == 0) {
            sigset_t none;
            close(s->socket);
            sigemptyset(&none);
            sigprocmask(SIG_SETMASK, &none, NULL);
            editor_become(s->config, words, line);
        }
        m.ok = m.pid > 0;
        if (m.ok)
            remember(s, m.pid);
    } break;
    case REQUEST_SIGNAL: m.ok = find(s, q.pid) >= 0 && kill(q.pid, q.number) == 0; break;
    case REQUEST_STOP: m.ok = kill(0, SIGTSTP) == 0; break;
    case REQUEST_SCREEN:
        for (m.number = 1; m.number < MOST_SCREENS; m.number++) {
            char name[64];
            snprintf(name, sizeof name, "tilewalk-screen-%d.txt", m.number);
            fds[0] = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            if (fds[0] >= 0 || errno != EEXIST)
                break;
        }
        m.ok = fds[0] >= 0;
        break;
    }
    int count = (fds[0] >= 0) + (fds[1] >= 0);
    passing_send(s->socket, &(struct iovec){&m, sizeof m}, 1, fds, count);
    for (int i = 0; i < count; i++)
        close(fds[i]);
    return true;
}

static void on_child(int number)
{
    (void)number; // only wakes
}

// --- the workbench's side ---

static struct {
    pid_t pid;             // 0: not begun
    int socket;            // to it
    bool gone;             // with all that it started
    struct message *ended; // ends that were not asked for yet
    int count, capacity;
} spawner;

bool spawner_begin(const char *program, const struct ui_config *config, struct err *e)
{
    int ends[2];
    if (!passing_pair(ends))
        return err_set(e, "no socket for the spawner: %s", strerror(errno));
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        // The workbench ends this process, which must not stop while it has a request: all signals
        // are blocked, except those of ended children while it waits.
        struct service s =
            (struct service){.socket = ends[1], .program = program, .config = config};
        struct sigaction wake = {.sa_handler = on_child};
        sigset_t all, waiting;
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, NULL);
        waiting = all;
        sigdelset(&waiting, SIGCHLD);
        sigaction(SIGCHLD, &wake, NULL);
        for (bool asked = true; asked;) {
            fd_set readable;
            FD_ZERO(&readable);
            FD_SET(s.socket, &readable);
            bool any = pselect(s.socket + 1, &readable, NULL, NULL, NULL, &waiting) > 0;
            struct message m = {.kind = MESSAGE_ENDED};
            while ((m.pid = waitpid(-1, &m.number, WNOHANG)) > 0) {
                s.started[find(&s, m.pid)] = s.started[s.count - 1];
                s.count--;
                passing_send(s.socket, &(struct iovec){&m, sizeof m}, 1, NULL, 0);
            }
            if (any)
                asked = serve_next(&s);
        }
        _exit(0);
    }
    int error = errno;
    close(ends[1]);
    if (pid > 0) {
        spawner.pid = pid;
        spawner.socket = ends[0];
        return true;
    }
    close(ends[0]);
    return err_set(e, "no process for the spawner: %s", strerror(error));
}

void spawner_end(void)
{
    if (!spawner.pid)
        return;
    close(spawner.socket);
    while (waitpid(spawner.pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    free(spawner.ended);
    memset(&spawner, 0, sizeof spawner);
}

// Receives the next message and keeps it if it is an end. False: none, or the helper is gone.
static bool take(struct message *m, int flags, int fds[PASSING_MOST_FDS])
{
    ssize_t got = passing_receive(spawner.socket, &(struct iovec){m, sizeof *m}, 1, flags, fds);
    spawner.gone |= got == 0 || (got < 0 && errno != EAGAIN);
    if (got != sizeof *m)
        return false;
    if (m->kind == MESSAGE_ENDED) {
        MEM_GROW(spawner.ended, spawner.count, spawner.capacity);
        spawner.ended[spawner.count++] = *m;
    }
    return true;
}

static bool take_end(pid_t pid, int *status)
{
    for (int i = 0; i < spawner.count; i++)
        if (spawner.ended[i].pid == pid) {
            *status = spawner.ended[i].number;
            spawner.ended[i] = spawner.ended[--spawner.count];
            return true;
        }
    return false;
}

// Sends a request and waits for the reply. False: the helper is gone.
static bool ask(struct request q, const struct str *words, struct message *m,
                int fds[PASSING_MOST_FDS])
{
    struct iovec parts[] = {{&q, sizeof q}, {NULL, 0}};
    if (words)
        parts[1] = (struct iovec){words->text, words->length};
    *m = (struct message){.ok = false};
    fds[0] = fds[1] = -1;
    if (!spawner.pid || !passing_send(spawner.socket, parts, 2, NULL, 0))
        return false;
    do
        if (!take(m, 0, fds))
            return false;
    while (m->kind != MESSAGE_REPLY);
    return true;
}

// The same for a request that starts a process, whose number may be that of an end that was kept.
static bool ask_to_start(struct request q, const struct str *words, struct message *m,
                         int fds[PASSING_MOST_FDS])
{
    int ignored;
    bool answered = ask(q, words, m, fds);
    if (answered && m->ok)
        take_end(m->pid, &ignored);
    return answered;
}

bool spawner_spawn(struct child *c, const char *const *argv, struct err *e)
{
    struct str words = {0};
    struct message m;
    int fds[PASSING_MOST_FDS];
    if (!spawner.pid)
        return os_spawn(c, argv, NULL, -1, e);
    for (int i = 1; argv[i]; i++) {
        str_add(&words, argv[i]);
        str_add_char(&words, '\0');
    }
    *c = (struct child){.socket = -1, .stderr_fd = -1};
    bool fits = words.length <= MOST_BYTES;
    bool answered = fits && ask_to_start((struct request){.kind = REQUEST_SPAWN}, &words, &m, fds);
    str_finish(&words);
    if (!fits)
        return err_set(e, "the command line is too long");
    if (!answered)
        return err_set(e, "cannot start anything: the process that does it is gone (start the "
                          "workbench again)");
    if (!m.ok)
        return err_set(e, "%s", m.text);
    *c = (struct child){.pid = m.pid, .socket = fds[0], .stderr_fd = fds[1]};
    return true;
}

pid_t spawner_edit(const char *path, int line)
{
    struct str words = {0};
    struct message m;
    int fds[PASSING_MOST_FDS];
    struct request q = {.kind = REQUEST_EDIT, .number = line};
    str_add(&words, *path == '/' ? "" : "./"); // no option, whatever it begins with
    str_add(&words, path);
    bool ok = ask_to_start(q, &words, &m, fds) && m.ok;
    str_finish(&words);
    return ok ? m.pid : -1;
}

bool spawner_signal(pid_t pid, int signal_number)
{
    struct message m;
    int fds[PASSING_MOST_FDS];
    struct request q = {.kind = REQUEST_SIGNAL, .pid = pid, .number = signal_number};
    if (!spawner.pid)
        return kill(pid, signal_number) == 0;
    return ask(q, NULL, &m, fds) && m.ok;
}

bool spawner_reap(struct child *c, int *status)
{
    struct message m;
    int fds[PASSING_MOST_FDS];
    if (!spawner.pid)
        return os_reap(c, status);
    while (take(&m, MSG_DONTWAIT, fds))
        continue;
    bool ended = c->pid > 0 && take_end(c->pid, status);
    if (c->pid > 0 && !ended && spawner.gone) {
        *status = SIGKILL;
        ended = true;
    }
    if (ended)
        c->pid = 0;
    return ended;
}

void spawner_kill(struct child *c)
{
    if (spawner.pid && c->pid > 0) {
        spawner_signal(c->pid, SIGKILL);
        c->pid = 0;
    }
    os_kill(c, NULL);
}

void spawner_stop_group(void)
{
    struct message m;
    int fds[PASSING_MOST_FDS];
    if (!ask((struct request){.kind = REQUEST_STOP}, NULL, &m, fds))
        kill(0, SIGTSTP);
}

int spawner_new_screen_file(int *n)
{
    struct message m;
    int fds[PASSING_MOST_FDS];
    bool ok = ask((struct request){.kind = REQUEST_SCREEN}, NULL, &m, fds) && m.ok;
    *n = m.number;
    return ok ? fds[0] : -1;
}
