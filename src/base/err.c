#include "base/err.h"

#include "base/shown.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

int fail_with(const struct err *e, int code)
{
    char text[1400];
    struct str line = {0};
    fflush(stdout);
    shown_add(&line, err_format(e, text, sizeof text));
    fprintf(stderr, "tilewalk: %s\n", str_text(&line));
    str_finish(&line);
    return e->usage ? EXIT_USAGE : code;
}

static void set(struct err *e, const char *file, int line, const char *format, va_list args)
{
    if (!e)
        return;
    snprintf(e->file, sizeof e->file, "%s", file);
    e->line = line;
    e->usage = false;
    vsnprintf(e->text, sizeof e->text, format, args);
}

bool err_set(struct err *e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(e, "", 0, format, args);
    va_end(args);
    return false;
}

bool err_usage(struct err *e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(e, "", 0, format, args);
    va_end(args);
    if (e)
        e->usage = true;
    return false;
}

bool err_at(struct err *e, const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(e, file, line, format, args);
    va_end(args);
    return false;
}

bool err_prefix(struct err *e, const char *format, ...)
{
    if (!e)
        return false;
    char context[sizeof e->text], whole[sizeof e->text];
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof context, format, args);
    va_end(args);
    snprintf(whole, sizeof whole, "%s: %s", context, e->text);
    snprintf(e->text, sizeof e->text, "%s", whole);
    return false;
}

char *err_format(const struct err *e, char *out, size_t size)
{
    if (e->file[0] && e->line > 0)
        snprintf(out, size, "%s:%d: %s", e->file, e->line, e->text);
    else if (e->file[0])
        snprintf(out, size, "%s: %s", e->file, e->text);
    else
        snprintf(out, size, "%s", e->text);
    return out;
}

void log_write(const char *level, const char *format, ...)
{
    char text[2048];
    int length = snprintf(text, sizeof text, "tilewalk: %s: ", level);
    va_list args;
    va_start(args, format);
    vsnprintf(text + length, sizeof text - (size_t)length, format, args);
    va_end(args);
    struct str line = {0};
    shown_add(&line, text);
    str_add_char(&line, '\n');
    ssize_t ignored = write(STDERR_FILENO, line.text, line.length);
    (void)ignored; // there is no place for an error of the log itself
    str_finish(&line);
}
