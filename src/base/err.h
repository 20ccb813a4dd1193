// Errors as values.
//
// A function that can fail returns false and fills `struct err`. The deepest function that knows
// the reason calls err_set (no place) or err_at (a place in a user's file); callers may add
// context with err_prefix; the program prints the result once, at the top, as
// `file:line: what (hint)`. Texts that are too long are cut.
//
//     if (!file_read(path, &text, &length, e))
//         return err_prefix(e, "preset '%s'", name);
#ifndef TILEWALK_BASE_ERR_H
#define TILEWALK_BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>

struct err {
    char file[256]; // "" when the error has no place
    int line;       // 0 when unknown
    char text[1024];
    bool usage; // the command line is wrong
};

#define ERR_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

// Both return false so that `return err_set(e, ...)` reads well. `e` may be NULL (the text is
// dropped); the arguments must not point into `e`.
bool err_set(struct err *e, const char *format, ...) ERR_PRINTF(2, 3);
bool err_at(struct err *e, const char *file, int line, const char *format, ...) ERR_PRINTF(4, 5);

// Like err_set, for a command line that cannot be understood: such an error ends the program with
// another exit code.
bool err_usage(struct err *e, const char *format, ...) ERR_PRINTF(2, 3);

// Puts "context: " before the text, keeps the rest, returns false.
bool err_prefix(struct err *e, const char *format, ...) ERR_PRINTF(2, 3);

// Writes `file:line: text`, `file: text` or `text` into `out`; always terminated. Returns `out`.
char *err_format(const struct err *e, char *out, size_t size);

// The exit codes of the program, on which scripts depend.
enum exit_code {
    EXIT_OK = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_NOTHING_VALID = 3,
    EXIT_HUP = 129,
    EXIT_INT = 130,
    EXIT_TERM = 143
};

// Prints `tilewalk: text` on stderr and returns `code`, or EXIT_USAGE for an error of usage.
int fail_with(const struct err *e, int code);

// The log is for what happens beside a result: a line on stderr, "tilewalk: warning: text", in one
// write, so that lines of several threads and processes do not mix. Control characters are written
// out, so that a driver's text cannot break the line or steer a terminal.
#define log_error(...)   log_write("error", __VA_ARGS__)
#define log_warning(...) log_write("warning", __VA_ARGS__)
void log_write(const char *level, const char *format, ...) ERR_PRINTF(2, 3);

#endif
