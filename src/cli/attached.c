#include "cli/attached.h"

#include "base/os.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PARENT_SOCKET = 3 };

// A parent that does not listen any more is no reason to end.
static void tell(const char *line)
{
    ssize_t ignored = write(PARENT_SOCKET, line, strlen(line));
    (void)ignored;
}

static void let_go(int number)
{
    int error = errno;
    (void)number;
    os_signal_at_parent_death(0);
    tell("detached\n");
    errno = error;
}

bool attached_check(struct err *e)
{
    struct stat st;
    if (fstat(PARENT_SOCKET, &st) != 0 || !S_ISSOCK(st.st_mode))
        return err_usage(e, "--attached is for the workbench: descriptor %d is no socket",
                         PARENT_SOCKET);
    signal(SIGPIPE, SIG_IGN);
    return true;
}

// TERM takes the place of KILL before the session is announced, and USR1 is caught by then.
void attached_begin(int64_t session)
{
    char line[64];
    struct sigaction action = {.sa_handler = let_go};
    sigemptyset(&action.sa_mask);
    bool parent_lives = os_signal_at_parent_death(SIGTERM);
    sigaction(SIGUSR1, &action, NULL);
    snprintf(line, sizeof line, "session %" PRId64 "\n", session);
    tell(line);
    if (!parent_lives)
        raise(SIGTERM);
}
