// The log: one line per message, to stderr or a file, at four levels.
//
// It is safe from any thread, and several processes may append to one file. A message needs no
// newline; control characters in it are written out, so that a driver's text cannot break the line
// or steer a terminal. Errors that end an operation are returned in `struct err`; the log is for
// what happens beside the result.
#ifndef TILEWALK_BASE_LOG_H
#define TILEWALK_BASE_LOG_H

#include "base/err.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

void log_set_level(enum log_level level);          // default: LOG_LEVEL_WARNING
bool log_to_file(const char *path, struct err *e); // appends; NULL: back to stderr

void log_write(enum log_level level, const char *format, ...) ERR_PRINTF(2, 3);
#define log_error(...)   log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_write(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)    log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)   log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
