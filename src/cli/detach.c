#include "cli/detach.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// A byte means ready. None means that the child has ended: its exit code is ours.
static int wait_for_child(pid_t child, int pipe_end)
{
    char byte;
    int status = 0;
    ssize_t got;
    do
        got = read(pipe_end, &byte, 1);
    while (got < 0 && errno == EINTR);
    close(pipe_end);
    if (got == 1)
        return 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

bool detach(struct detach *d, struct err *e)
{
    int ends[2];
    if (pipe(ends) != 0)
        return err_set(e, "cannot detach: %s", strerror(errno));
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    pid_t child = fork();
    if (child < 0)
        return err_set(e, "cannot detach: %s", strerror(errno));
    if (child > 0) {
        close(ends[1]);
        d->is_parent = true;
        d->exit_code = wait_for_child(child, ends[0]);
        return true;
    }
    close(ends[0]);
    d->ready_pipe = ends[1];
    setsid();
    return true;
}

// Heap.
static char *log_path(int64_t session, const char *database)
{
    char hash[33], *real = realpath(database, NULL);
    const char *known = real ? real : database;
    hash_hex(known, strlen(known), hash);
    char *name = mem_printf("session-%" PRId64 "-%.8s.log", session, hash);
    char *path = path_user_state(name);
    free(name);
    free(real);
    return path;
}

static int open_log(const char *path, bool is_new)
{
    struct err ignored;
    char *folder = path_folder(path);
    file_make_folders(folder, &ignored);
    free(folder);
    return open(path, O_WRONLY | O_CREAT | O_APPEND | (is_new ? O_TRUNC : 0), 0644);
}

void detach_ready(struct detach *d, int64_t session, const char *database, bool is_new)
{
    if (d->ready_pipe < 0)
        return;
    char *path = log_path(session, database);
    int log = open_log(path, is_new), error = errno, null = open("/dev/null", O_RDWR);
    if (log >= 0)
        fprintf(stderr, "session %" PRId64 " runs in the background; log: %s\n", session, path);
    else
        fprintf(stderr, "session %" PRId64 " runs in the background, without a log: %s: %s\n",
                session, path, strerror(error));
    fflush(NULL);
    log = log >= 0 ? log : dup(null);
    dup2(null, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    close(log);
    close(null);
    if (write(d->ready_pipe, "r", 1) != 1)
        perror("tilewalk: the parent is gone");
    close(d->ready_pipe);
    d->ready_pipe = -1;
    free(path);
}
