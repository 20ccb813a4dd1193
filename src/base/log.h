// The log: one line per message, to stderr or a file, at four levels.
//
// Safe from any thread, and several processes may append to one file. A message needs no newline;
// control characters in it become spaces, so that a driver's text cannot break the line or steer a
// terminal. Errors that end an operation travel in `struct err`; the log is for what happens beside
// the result.
#ifndef TILEWALK_BASE_LOG_H
#define TILEWALK_BASE_LOG_H

#include "base/err.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

void log_set_level(enum log_level level);          // default: LOG_LEVEL_WARNING
bool log_to_file(const char *path, struct err *e); // appends; NULL: back to stderr

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
