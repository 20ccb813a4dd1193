#include "signals.h"

#include "base/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { FIRST_HIGH_FD = 10 };

// --- captured stderr ---

static int original = -1; // a copy of descriptor 2 as it was
static int reader = -1;
static char pending[STDERR_LINE_SIZE - 1]; // read, but not yet a whole line
static size_t pending_length;

void stderr_capture(void)
{
    int ends[2];
    if (reader >= 0 || !isatty(STDERR_FILENO) || pipe(ends) != 0)
        return;
    fflush(stderr);
    original = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, FIRST_HIGH_FD);
    reader = fcntl(ends[0], F_DUPFD_CLOEXEC, FIRST_HIGH_FD);
    if (original >= 0 && reader >= 0) {
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        fcntl(ends[1], F_SETFL, O_NONBLOCK);
        dup2(ends[1], STDERR_FILENO);
    }
    close(ends[0]);
    close(ends[1]);
    pending_length = 0;
}

// Writes without control characters, which the terminal would obey. No base/shown.h, because a
// signal handler may call this.
static void write_out(char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if ((c < ' ' && c != '\n' && c != '\t') || c >= 0x7f)
            bytes[i] = c < 0x80 ? ' ' : '?';
    }
    ssize_t ignored = write(STDERR_FILENO, bytes, length);
    (void)ignored;
}

void stderr_release(void)
{
    char bytes[512];
    ssize_t got;
    if (original < 0 || reader < 0)
        return;
    dup2(original, STDERR_FILENO);
    write_out(pending, pending_length);
    while ((got = read(reader, bytes, sizeof bytes)) > 0)
        write_out(bytes, (size_t)got);
    close(original);
    close(reader);
    original = reader = -1;
    pending_length = 0;
}

int stderr_fd(void)
{
    return reader;
}

// Takes the first `length` bytes, as text.
static const char *take(size_t length, char line[STDERR_LINE_SIZE])
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)pending[i];
        line[i] = c < ' ' || c == 127 ? ' ' : pending[i];
    }
    line[length] = '\0';
    if (length && pending[length - 1] == '\n')
        line[length - 1] = '\0';
    pending_length -= length;
    memmove(pending, pending + length, pending_length);
    return line;
}

const char *stderr_line(char line[STDERR_LINE_SIZE])
{
    if (reader < 0)
        return NULL;
    ssize_t got = read(reader, pending + pending_length, sizeof pending - pending_length);
    if (got > 0)
        pending_length += (size_t)got;
    const char *end = memchr(pending, '\n', pending_length);
    if (end)
        return take((size_t)(end - pending) + 1, line);
    return pending_length == sizeof pending ? take(pending_length, line) : NULL;
}

// --- signals ---

enum { CRASH_STACK_BYTES = 64 * 1024 };

static const int reported[] = {SIGHUP, SIGINT, SIGTERM, SIGWINCH, SIGTSTP, SIGCONT};
static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static struct termios settings; // as they were found
static int signal_pipe[2] = {-1, -1};
static char reset[512];              // bytes that restore the terminal's state
static volatile size_t reset_length; // 0: the screen is not up

void signals_restore_terminal(void)
{
    // A process in the background would be stopped here and could not end.
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGTTOU, &ignore, &before);
    tcsetattr(STDIN_FILENO, TCSANOW, &settings); // waits for nothing, whatever the terminal does
    sigaction(SIGTTOU, &before, NULL);
}

void signals_emergency(void)
{
    size_t length = reset_length;
    int error = errno;
    if (length) {
        reset_length = 0;
        ssize_t ignored = write(STDOUT_FILENO, reset, length);
        (void)ignored;
        signals_restore_terminal();
    }
    stderr_release();
    errno = error;
}

static void on_crash(int number)
{
    signals_emergency();
    raise(number); // which has its default action now (SA_RESETHAND)
}

static void on_signal(int number)
{
    int error = errno;
    char byte = (char)number;
    ssize_t ignored = write(signal_pipe[1], &byte, 1);
    (void)ignored;
    errno = error;
}

// Sets a handler; a signal that is ignored from the start (nohup) stays ignored.
static void handle(int number, void (*handler)(int number), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, before;
    sigfillset(&action.sa_mask);
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

bool signals_begin(struct err *e)
{
    if (tcgetattr(STDIN_FILENO, &settings) != 0)
        return err_set(e, "standard input is no terminal: %s", strerror(errno));
    if (pipe(signal_pipe) != 0)
        return err_set(e, "no pipe for signals: %s", strerror(errno));
    for (int i = 0; i < 2; i++) {
        fcntl(signal_pipe[i], F_SETFD, FD_CLOEXEC);
        fcntl(signal_pipe[i], F_SETFL, O_NONBLOCK);
    }
    // A handler needs a stack of its own where the stack is used up.
    static _Alignas(16) char stack[CRASH_STACK_BYTES];
    stack_t wanted = {.ss_sp = stack, .ss_size = sizeof stack}, now;
    if (sigaltstack(NULL, &now) == 0 && now.ss_flags & SS_DISABLE)
        sigaltstack(&wanted, NULL);
    for (size_t i = 0; i < COUNT(reported); i++)
        handle(reported[i], on_signal, SA_RESTART);
    for (size_t i = 0; i < COUNT(crashes); i++)
        handle(crashes[i], on_crash, (int)(SA_RESETHAND | SA_ONSTACK | SA_NODEFER));
    return true;
}

void signals_end(void)
{
    if (signal_pipe[0] < 0)
        return;
    for (size_t i = 0; i < COUNT(reported); i++)
        handle(reported[i], SIG_DFL, 0);
    for (size_t i = 0; i < COUNT(crashes); i++)
        handle(crashes[i], SIG_DFL, 0);
    close(signal_pipe[0]);
    close(signal_pipe[1]);
    signal_pipe[0] = signal_pipe[1] = -1;
}

void signals_arm(const char *bytes, size_t length)
{
    size_t fits = length < sizeof reset ? length : sizeof reset;
    memcpy(reset, bytes, fits);
    reset_length = fits;
}

int signals_fd(void)
{
    return signal_pipe[0];
}

int signals_next(void)
{
    char byte;
    return signal_pipe[0] >= 0 && read(signal_pipe[0], &byte, 1) == 1 ? byte : 0;
}

void signals_stop(struct spawner *s)
{
    handle(SIGTSTP, SIG_DFL, 0);
    handle(SIGCONT, SIG_DFL, 0); // it is waited for here
    spawner_stop_group(s);       // returns when the group is continued
    handle(SIGTSTP, on_signal, SA_RESTART);
    handle(SIGCONT, on_signal, SA_RESTART);
}
