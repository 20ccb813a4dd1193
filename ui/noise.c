#include "noise.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_HIGH_FD = 10 };

static int original = -1; // what descriptor 2 was
static int reader = -1;
static char pending[NOISE_LINE_SIZE - 1]; // read, but not yet a whole line
static size_t pending_length;

static int high_copy(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, FIRST_HIGH_FD);
}

void noise_capture(void)
{
    int ends[2];
    if (reader >= 0 || !isatty(STDERR_FILENO) || pipe(ends) != 0)
        return;
    fflush(stderr);
    original = high_copy(STDERR_FILENO);
    reader = high_copy(ends[0]);
    if (original >= 0 && reader >= 0) {
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        fcntl(ends[1], F_SETFL, O_NONBLOCK);
        dup2(ends[1], STDERR_FILENO);
    }
    close(ends[0]);
    close(ends[1]);
    pending_length = 0;
}

// Whoever wrote it, the terminal must not obey. No base/shown.h: we may be in a signal handler.
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

void noise_release(void)
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

int noise_fd(void)
{
    return reader;
}

// Takes the first `length` bytes, as text.
static const char *take(size_t length, char line[NOISE_LINE_SIZE])
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

const char *noise_line(char line[NOISE_LINE_SIZE])
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
