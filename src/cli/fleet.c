#include "cli/fleet.h"

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"
#include "cli/common.h"
#include "engine/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// --- the command lines ---

bool fleet_wanted(const struct arguments *a)
{
    return gpu_is_several(arguments_text(a, "device"));
}

static char *keep(struct fleet *f, char *word)
{
    f->made = mem_resize(f->made, (size_t)f->made_count + 1, sizeof *f->made);
    return f->made[f->made_count++] = word;
}

// Returns the number of words of the option that begins at `word`; 0: it is another one.
static int words_of(const char *word, const char *option)
{
    size_t length = strlen(option);
    if (strncmp(word, option, length) != 0)
        return 0;
    return word[length] == '=' ? 1 : word[length] ? 0 : 2;
}

bool fleet_init(struct fleet *f, const struct arguments *a, struct err *e)
{
    struct gpu_info *list;
    int count;
    const char *source = arguments_text(a, "source");
    *f = (struct fleet){.count = 0};
    if (source && !str_equal(source, "device"))
        return err_usage(e, "--device %s: '%s' is measured on no device",
                         arguments_text(a, "device"), source);
    if (!devices_list(&list, &count, e))
        return false;
    f->index = mem_zero((size_t)count + 1, sizeof *f->index);
    bool ok = gpu_choose_several(list, count, arguments_text(a, "device"), f->index, &f->count, e);
    free(list);
    f->words = mem_zero((size_t)f->count + 1, sizeof *f->words);
    for (int i = 0; i < f->count; i++) {
        int index = f->index[i];
        const char *folder = arguments_text(a, "export");
        const char **out = mem_zero((size_t)a->word_count + 5, sizeof *out);
        int n = 0;
        out[n++] = "tilewalk";
        out[n++] = "tune";
        out[n++] = keep(f, mem_printf("--device=%d", index));
        if (folder)
            out[n++] = keep(f, mem_printf("--export=%s/%d", folder, index));
        bool only_operands = false;
        for (int j = 0; j < a->word_count;) {
            const char *word = a->word[j];
            int ours = words_of(word, "--device") + words_of(word, "--export");
            only_operands |= str_equal(word, "--");
            if (!only_operands && ours)
                j += ours;
            else
                out[n++] = a->word[j++];
        }
        f->words[i] = out + 1;
    }
    return ok;
}

void fleet_finish(struct fleet *f)
{
    for (int i = 0; i < f->count; i++)
        free((void *)(uintptr_t)(f->words[i] - 1));
    for (int i = 0; i < f->made_count; i++)
        free(f->made[i]);
    free(f->words);
    free(f->made);
    free(f->index);
    *f = (struct fleet){.count = 0};
}

// --- the children ---

enum { PIPES = 2 }; // stdout, stderr

struct ship {
    pid_t pid; // 0: has ended
    int index;
    int end[PIPES];         // read ends; -1: closed
    struct str line[PIPES]; // up to the next newline
    int code;
};

static struct ship *ships; // for the signal handler
static volatile sig_atomic_t ship_count;

static void pass_on(int number)
{
    int error = errno;
    for (int i = 0; i < ship_count; i++)
        if (ships[i].pid)
            kill(ships[i].pid, number);
    errno = error;
}

static bool open_pipes(struct ship *s, int writing[PIPES])
{
    for (int i = 0; i < PIPES; i++) {
        int ends[2];
        if (pipe(ends) != 0)
            return false;
        fcntl(ends[0], F_SETFD, FD_CLOEXEC);
        fcntl(ends[1], F_SETFD, FD_CLOEXEC);
        s->end[i] = ends[0];
        writing[i] = ends[1];
    }
    return true;
}

// Starts a child. Signals are blocked meanwhile: a child that still has our handler would pass them
// on a second time, and a child whose number is not known yet would miss them.
static bool launch_child(struct ship *s, const char *program, const char *const *words,
                         struct err *e)
{
    int writing[PIPES] = {-1, -1};
    sigset_t signals;
    pid_t pid = -1;
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGHUP);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigprocmask(SIG_BLOCK, &held, &signals);
    if (open_pipes(s, writing))
        pid = fork();
    if (pid == 0) {
        // It has a group of its own: the terminal's Ctrl-C comes once, from us.
        const char *const *argv = words - 1;
        common_on_signals(SIG_DFL, 0);
        sigprocmask(SIG_SETMASK, &signals, NULL);
        signal(SIGPIPE, SIG_DFL);
        setpgid(0, 0);
        os_signal_at_parent_death(SIGTERM);
        dup2(writing[0], STDOUT_FILENO);
        dup2(writing[1], STDERR_FILENO);
        execv(program, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    if (pid > 0)
        s->pid = pid;
    else
        err_set(e, "cannot start a child: %s", strerror(errno));
    for (int i = 0; i < PIPES; i++)
        if (writing[i] >= 0)
            close(writing[i]);
    sigprocmask(SIG_SETMASK, &signals, NULL);
    return pid > 0;
}

// --- their output ---

static void print_line(const struct ship *s, int which, bool json)
{
    const char *line = str_text(&s->line[which]);
    FILE *to = which == 0 ? stdout : stderr;
    if (json && which == 0 && line[0] == '{') {
        struct str out = {0};
        struct json_writer w = json_begin(&out);
        json_add_int(&w, "device_index", s->index);
        json_add_raw(&w, NULL, line + 1); // the other members, and the end
        puts(str_text(&out));
        str_finish(&out);
    } else {
        fprintf(to, "[%d]%s%s\n", s->index, line[0] ? " " : "", line);
    }
    fflush(to);
}

static void take_output(struct ship *s, int which, bool json)
{
    char bytes[4096];
    ssize_t got = read(s->end[which], bytes, sizeof bytes);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    for (ssize_t i = 0; i < got; i++) {
        if (bytes[i] != '\n') {
            str_add_char(&s->line[which], bytes[i]);
            continue;
        }
        print_line(s, which, json);
        str_finish(&s->line[which]);
    }
    if (got > 0 && !(which == 0 && ferror(stdout)))
        return;
    if (got <= 0 && s->line[which].length)
        print_line(s, which, json);
    close(s->end[which]);
    s->end[which] = -1; // the reader is gone: the child sees that its own is
}

int fleet_run(const struct fleet *f, bool json)
{
    struct err e;
    char *program = path_program();
    struct ship *list = mem_zero((size_t)f->count, sizeof *list);
    int started = 0;
    bool ok = true;
    ships = list;
    fflush(NULL);
    signal(SIGPIPE, SIG_IGN); // seen as an error of stdout
    common_on_signals(pass_on, SA_RESTART);
    for (; ok && started < f->count; started++) {
        list[started] = (struct ship){.index = f->index[started], .end = {-1, -1}};
        ship_count = started + 1;
        ok = launch_child(&list[started], program, f->words[started], &e);
    }
    if (!ok)
        pass_on(SIGTERM);
    // The output is passed on until all pipes are closed.
    struct pollfd *fds = mem_zero((size_t)started * PIPES, sizeof *fds);
    for (int open = 1; open;) {
        open = 0;
        for (int i = 0; i < started * PIPES; i++) {
            fds[i] = (struct pollfd){.fd = list[i / PIPES].end[i % PIPES], .events = POLLIN};
            open += fds[i].fd >= 0;
        }
        if (!open || poll(fds, (nfds_t)(started * PIPES), -1) <= 0)
            continue;
        for (int i = 0; i < started * PIPES; i++)
            if (fds[i].fd >= 0 && fds[i].revents)
                take_output(&list[i / PIPES], i % PIPES, json);
    }
    free(fds);
    for (int i = 0; i < started; i++)
        if (list[i].pid) {
            int status;
            while (waitpid(list[i].pid, &status, 0) < 0 && errno == EINTR)
                ;
            list[i].pid = 0;
            list[i].code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        }
    common_on_signals(SIG_DFL, 0);
    ship_count = 0;
    int code = common_exit(ok, &e);
    for (int i = 0; i < started; i++) {
        if (ok && list[i].code && (!code || code == EXIT_NOTHING_VALID))
            code = list[i].code;
        for (int k = 0; k < PIPES; k++)
            str_finish(&list[i].line[k]);
    }
    free(list);
    free(program);
    return code;
}
