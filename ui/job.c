#include "job.h"

#include "base/mem.h"
#include "base/sandbox.h"
#include "base/spawner.h"
#include "term.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MOST_WORDS = 80,
    MOST_OUTPUT = 8 * 1024,
    LONGEST_LINE = 4 * 1024, // of a run; longer ones come in parts
    MOST_SCREENS = 1000,
    MEANWHILE_MS = 50 // between two calls of what runs beside the editor
};

// --- words ---

char *command_line(const char *const *words)
{
    struct str text = {0};
    str_add(&text, "tilewalk ");
    for (int i = 0; words[i]; i++) {
        if (i)
            str_add_char(&text, ' ');
        str_add_shell(&text, words[i]);
    }
    return str_take(&text);
}

// --- the spawner ---

static bool allows_command(const char *const *words, struct err *e)
{
    for (; *words; words++)
        if (str_equal(*words, "--no-sandbox") && !sandbox_is_off())
            return err_set(e, "--no-sandbox is for a workbench that was started with it");
    return true;
}

static bool allows_file(const char *const *words, struct err *e)
{
    int64_t line;
    if (words[0][0] == '+' && str_to_int(words[0] + 1, 1, INT_MAX, &line))
        words++;
    return (words[0] && !words[1] && (words[0][0] == '/' || str_starts(words[0], "./"))) ||
           err_set(e, "the editor gets a path");
}

static int open_screen_file(int *number)
{
    int fd = -1;
    for (*number = 1; *number < MOST_SCREENS; ++*number) {
        char name[64];
        snprintf(name, sizeof name, "tilewalk-screen-%d.txt", *number);
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    return fd;
}

struct spawner *jobs_spawner_create(const char *program, const struct ui_config *config,
                                    struct err *e)
{
    // The shell splits the editor's words, as it does for other programs that start one.
    char *line = mem_printf("exec %s \"$@\"", editor_of(config));
    const char *const run[] = {program, NULL}, *const edit[] = {"/bin/sh", "-c", line, "sh", NULL};
    const struct spawner_command commands[] = {
        [SPAWN_PROGRAM] = {SPAWNER_CHILD, run, allows_command},
        [SPAWN_EDITOR] = {SPAWNER_TERMINAL, edit, allows_file},
    };
    struct spawner *s =
        spawner_create(&(struct spawner_options){.command = commands,
                                                 .count = sizeof commands / sizeof *commands,
                                                 .keeps_terminal = true,
                                                 .open_file = open_screen_file},
                       e);
    free(line);
    return s;
}

const char *editor_of(const struct ui_config *c)
{
    const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");
    if (c->editor[0])
        return c->editor;
    if (visual && *visual)
        return visual;
    return editor && *editor ? editor : "vi";
}

// Runs the editor to its end; Ctrl-C belongs to it meanwhile.
static bool edit(struct spawner *s, const char *path, int line, void (*meanwhile)(void *context),
                 void *context)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    char *file = mem_printf("%s%s", *path == '/' ? "" : "./", path), place[32];
    snprintf(place, sizeof place, "+%d", line);
    const char *const words[] = {line > 0 ? place : file, line > 0 ? file : NULL, NULL};
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    struct child editor;
    bool ok = spawner_spawn(s, SPAWN_EDITOR, words, &editor, NULL);
    int status = 0;
    while (ok && !spawner_reap(s, &editor, &status)) {
        meanwhile(context);
        poll(NULL, 0, MEANWHILE_MS);
    }
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    free(file);
    return ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool editor_run(struct spawner *s, const char *path, int line, void (*meanwhile)(void *context),
                void *context)
{
    term_lend();
    bool ok = (line > 0 && edit(s, path, line, meanwhile, context)) ||
              edit(s, path, 0, meanwhile, context);
    term_take_back();
    return ok;
}

// --- starting ---

bool jobs_start(struct jobs *j, const struct job_record *job, const char *program,
                const char *const *words, struct err *e)
{
    struct child child;
    const char *argv[MOST_WORDS];
    int n = 0;
    if (j->pretend) {
        char *text = command_line(words);
        j->pretend(j->context, text);
        free(text);
        return true;
    }
    if (j->count == MOST_JOBS)
        return err_set(e, "%d commands are under way: wait for one of them", MOST_JOBS);
    argv[n++] = program;
    for (int i = 0; words[i]; i++) {
        if (n > MOST_WORDS - 3)
            return err_set(e, "the command line is too long");
        argv[n++] = words[i];
        if (i == 0 && job->is_run)
            argv[n++] = "--attached";
    }
    argv[n] = NULL;
    if (!(j->spawner ? spawner_spawn(j->spawner, SPAWN_PROGRAM, argv + 1, &child, e)
                     : os_spawn(&child, argv, NULL, -1, e)))
        return false;
    j->job[j->count] = *job;
    j->job[j->count].child = child;
    j->job[j->count++].words = command_line(words);
    return true;
}

// --- output ---

int jobs_fds(const struct jobs *j, struct pollfd *fds, int most)
{
    int n = 0;
    for (int i = 0; i < j->count; i++) {
        const struct child *c = &j->job[i].child;
        if (c->stderr_fd >= 0 && n < most)
            fds[n++] = (struct pollfd){.fd = c->stderr_fd, .events = POLLIN};
        if (c->socket >= 0 && n < most)
            fds[n++] = (struct pollfd){.fd = c->socket, .events = POLLIN};
    }
    return n;
}

// Reads what is there, and closes a descriptor that has ended. Never waits. -1: nothing is there.
static ssize_t read_some(int *fd, char *bytes, size_t size)
{
    struct pollfd p = {.fd = *fd, .events = POLLIN};
    if (*fd < 0 || poll(&p, 1, 0) <= 0)
        return -1;
    ssize_t got = read(*fd, bytes, size);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        close(*fd);
        *fd = -1;
    }
    return got > 0 ? got : -1;
}

// Takes the first line out of `text`, without its newline; heap; NULL: none is complete.
static char *take_line(struct str *text)
{
    const char *start = str_text(text), *end = strchr(start, '\n');
    if (!end && text->length < LONGEST_LINE)
        return NULL;
    size_t length = end ? (size_t)(end - start) : text->length;
    char *line = mem_printf("%.*s", (int)length, start);
    struct str rest = {0};
    str_add(&rest, start + length + (end != NULL));
    str_finish(text);
    *text = rest;
    return line;
}

static void add_bytes(struct str *out, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        str_add_char(out, bytes[i] ? bytes[i] : ' ');
}

static void report_lines(struct jobs *j, struct job_record *run)
{
    for (char *line; (line = take_line(&run->line)); free(line))
        if (j->on_line)
            j->on_line(j->context, run, line);
}

// --- ends ---

static void forget(struct jobs *j, struct job_record *job)
{
    spawner_kill(j->spawner, &job->child);
    free(job->words);
    str_finish(&job->output);
    str_finish(&job->line);
    str_finish(&job->received);
}

static void remember(struct jobs *j, const struct job_record *run)
{
    if (run->is_run && run->session)
        j->past[j->past_count++ % MOST_PAST] = (struct past_run){
            .session = run->session, .detached = run->detached, .exit_code = run->exit_code};
}

static bool step(struct jobs *j, struct job_record *job)
{
    int status;
    bool ended = spawner_reap(j->spawner, &job->child, &status); // before its last output is read
    char bytes[4096];
    ssize_t got;
    bool any = false;
    while ((got = read_some(&job->child.stderr_fd, bytes, sizeof bytes)) > 0) {
        // Keeps the end of the output: the reason of a failure comes last.
        size_t most = job->whole ? JOB_MOST_ANSWER : MOST_OUTPUT;
        add_bytes(&job->output, bytes, (size_t)got);
        if (job->output.length > most) {
            struct str kept = {0};
            str_add(&kept, job->output.text + job->output.length - most / 2);
            str_finish(&job->output);
            job->output = kept;
        }
        if (job->is_run) {
            add_bytes(&job->line, bytes, (size_t)got);
            report_lines(j, job);
        }
        any = true;
    }
    while ((got = read_some(&job->child.socket, bytes, sizeof bytes)) > 0) {
        add_bytes(&job->received, bytes, (size_t)got);
        any = true;
    }
    for (char *line; (line = take_line(&job->received)); free(line)) {
        if (str_starts(line, "session ") && str_to_int(line + 8, 1, INT64_MAX, &job->session) &&
            j->on_session)
            j->on_session(j->context, job);
        job->detached |= str_equal(line, "detached");
    }
    if (ended) {
        job->ended = true;
        job->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return any || ended;
}

bool jobs_step(struct jobs *j)
{
    bool any = false;
    for (int i = 0; i < j->count; i++)
        any |= step(j, &j->job[i]);
    for (int i = 0; i < j->count;)
        if (j->job[i].ended) {
            // Job `i` leaves the list first, because its owner may start another one.
            struct job_record job = j->job[i];
            j->count--;
            memmove(&j->job[i], &j->job[i + 1], (size_t)(j->count - i) * sizeof job);
            remember(j, &job);
            if (job.is_run && job.line.length) { // the last line needs no newline
                str_add_char(&job.line, '\n');
                report_lines(j, &job);
            }
            if (job.is_run && j->on_run_end)
                j->on_run_end(j->context, &job);
            if (!job.is_run && job.on_end)
                job.on_end(job.context, &job);
            forget(j, &job);
        } else
            i++;
    return any;
}

// --- runs ---

static bool is_ours(const struct job_record *job)
{
    return job->is_run && !job->ended && !job->detached;
}

int jobs_runs(const struct jobs *j)
{
    int n = 0;
    for (int i = 0; i < j->count; i++)
        n += is_ours(&j->job[i]);
    return n;
}

void jobs_move(struct jobs *to, struct jobs *from)
{
    while (from->count && to->count < MOST_JOBS) {
        to->job[to->count++] = from->job[0];
        memmove(&from->job[0], &from->job[1], (size_t)--from->count * sizeof from->job[0]);
    }
    for (int i = from->past_count > MOST_PAST ? from->past_count - MOST_PAST : 0;
         i < from->past_count; i++)
        to->past[to->past_count++ % MOST_PAST] = from->past[i % MOST_PAST];
    from->past_count = 0;
}

// --- leaving ---

void jobs_leave(struct jobs *j, bool let_go)
{
    for (int i = 0; i < j->count; i++)
        // SIGUSR1 kills a program that does not handle it yet: only a run with a session does.
        if (is_ours(&j->job[i]) && j->job[i].child.pid > 0 && !j->job[i].asked &&
            (!let_go || j->job[i].session)) {
            j->job[i].asked = true;
            spawner_signal(j->spawner, j->job[i].child.pid, let_go ? SIGUSR1 : SIGTERM);
        }
}

bool jobs_are_gone(const struct jobs *j)
{
    for (int i = 0; i < j->count; i++)
        if (!j->job[i].ended && !j->job[i].detached)
            return false;
    return true;
}

void jobs_finish(struct jobs *j)
{
    for (int i = 0; i < j->count; i++) {
        struct job_record *job = &j->job[i];
        if (job->detached) {
            remember(j, job);
            job->child.pid = 0; // it continues
        }
        forget(j, job);
    }
    j->count = 0;
}
