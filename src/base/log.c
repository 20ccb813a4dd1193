#include "base/log.h"

#include "base/shown.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// This is the only state that threads share without being passed it.
static struct {
    pthread_mutex_t lock;
    enum log_level level;
    int fd;
} the_log = {PTHREAD_MUTEX_INITIALIZER, LOG_LEVEL_WARNING, STDERR_FILENO};

void log_set_level(enum log_level level)
{
    pthread_mutex_lock(&the_log.lock);
    the_log.level = level;
    pthread_mutex_unlock(&the_log.lock);
}

bool log_to_file(const char *path, struct err *e)
{
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : STDERR_FILENO;
    if (fd < 0)
        return err_set(e, "cannot write the log '%s': %s", path, strerror(errno));
    pthread_mutex_lock(&the_log.lock);
    if (the_log.fd != STDERR_FILENO)
        close(the_log.fd);
    the_log.fd = fd;
    pthread_mutex_unlock(&the_log.lock);
    return true;
}

// A message is one write(), so that lines of several processes that append to one file do not mix.
void log_write(enum log_level level, const char *format, ...)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    pthread_mutex_lock(&the_log.lock);
    if (level <= the_log.level) {
        char text[2048], head[32] = "tilewalk: "; // a file gets the time, a terminal the program
        time_t now = time(NULL);
        struct tm utc;
        if (the_log.fd != STDERR_FILENO)
            strftime(head, sizeof head, "%Y-%m-%dT%H:%M:%SZ ", gmtime_r(&now, &utc));
        size_t length = (size_t)snprintf(text, sizeof text, "%s%s: ", head, names[level]);
        va_list args;
        va_start(args, format);
        vsnprintf(text + length, sizeof text - length, format, args);
        va_end(args);
        struct str line = {0};
        shown_add(&line, text);
        str_add_char(&line, '\n');
        ssize_t ignored = write(the_log.fd, line.text, line.length);
        (void)ignored; // there is no place for an error of the log itself
        str_finish(&line);
    }
    pthread_mutex_unlock(&the_log.lock);
}
