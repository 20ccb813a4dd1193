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

// The only state that threads share without being handed it.
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

// A file gets the time, a terminal the program's name.
static size_t write_head(char *line, size_t size, enum log_level level)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    if (the_log.fd == STDERR_FILENO)
        return (size_t)snprintf(line, size, "tilewalk: %s: ", names[level]);
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    size_t length = strftime(line, size, "%Y-%m-%dT%H:%M:%SZ ", &utc);
    return length + (size_t)snprintf(line + length, size - length, "%s: ", names[level]);
}

// One write() a message: lines of several processes that append to one file do not mix. A driver's
// text may hold anything: a message stays one line and cannot steer a terminal.
static void write_line(enum log_level level, const char *format, va_list args)
{
    pthread_mutex_lock(&the_log.lock);
    if (level <= the_log.level) {
        char text[2048];
        size_t head = write_head(text, sizeof text, level);
        vsnprintf(text + head, sizeof text - head, format, args);
        struct str line = {0};
        shown_add(&line, text);
        str_add_char(&line, '\n');
        ssize_t ignored = write(the_log.fd, line.text, line.length);
        (void)ignored; // a log that cannot be written has nowhere to say so
        str_finish(&line);
    }
    pthread_mutex_unlock(&the_log.lock);
}

#define LOG_FUNCTION(name, level)                                                                  \
    void name(const char *format, ...)                                                             \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        write_line(level, format, args);                                                           \
        va_end(args);                                                                              \
    }

LOG_FUNCTION(log_error, LOG_LEVEL_ERROR)
LOG_FUNCTION(log_warning, LOG_LEVEL_WARNING)
LOG_FUNCTION(log_info, LOG_LEVEL_INFO)
LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG)
