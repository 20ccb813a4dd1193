#include "program.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEANWHILE_MS 50 // between two looks at what runs beside it

static void become(const char *const *argv)
{
    char **words;
    memcpy(&words, &argv, sizeof words); // execvp is older than const
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    execvp(argv[0], words);
    _exit(127);
}

static bool wait_for(pid_t pid, int *status, void (*meanwhile)(void *context), void *context)
{
    for (;;) {
        pid_t got = waitpid(pid, status, meanwhile ? WNOHANG : 0);
        if (got == pid)
            return true;
        if (got < 0 && errno != EINTR)
            return false;
        if (got == 0) {
            meanwhile(context);
            poll(NULL, 0, MEANWHILE_MS);
        }
    }
}

bool program_run(const char *const *argv, void (*meanwhile)(void *context), void *context,
                 struct err *e)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    int status = 0;
    sigaction(SIGINT, &ignore, &interrupt); // Ctrl-C is the other program's
    sigaction(SIGQUIT, &ignore, &quit);
    pid_t pid = fork();
    if (pid == 0)
        become(argv);
    int error = errno;
    bool waited = pid > 0 && wait_for(pid, &status, meanwhile, context);
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    if (pid < 0)
        return err_set(e, "cannot start '%s': %s", argv[0], strerror(error));
    if (!waited || WIFSIGNALED(status))
        return err_set(e, "'%s' was ended by a signal", argv[0]);
    return WEXITSTATUS(status) == 0 ||
           err_set(e, "'%s' ended with exit code %d", argv[0], WEXITSTATUS(status));
}
