// Helpers of the store's tests: a folder for each test, sample records, and children to kill.
//
//     char *path = temp_path("x.db");           in a fresh folder; a heap string
//     struct store *s = must_open(path, STORE_WRITE);
//     int64_t id = must_create(s, "gemm");
//     int status = in_child(body, context);     waits; body's result is the exit status
//     temp_remove(path);
//
// Everything here asserts instead of returning errors. Assertions don't work in children: they
// return codes, made by CHILD_CHECK.
#ifndef TILEWALK_TESTS_STORE_HELP_H
#define TILEWALK_TESTS_STORE_HELP_H

#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

char *temp_path(const char *name);
void temp_remove(char *path); // the whole folder, and the string

struct store *must_open(const char *path, enum store_mode mode);
int64_t must_create(struct store *s, const char *name); // a session with two texts
struct session_record must_get(struct store *s, int64_t id, struct arena *a);
void must_put(struct store *s, int64_t session, int64_t ask, enum outcome outcome, double seconds);
int64_t count_rows(struct store *s, const char *table);

// Forks. `start` doesn't wait, `finish` waits and gives the exit status, or 128 + the signal.
pid_t start_child(int (*body)(void *context), void *context);
int finish_child(pid_t pid);
int in_child(int (*body)(void *context), void *context);

// Ends `body` in a child with the number of the line when the condition does not hold.
#define CHILD_CHECK(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

#define assert_contains(text, part)                                                                \
    do {                                                                                           \
        if (!strstr(text, part))                                                                   \
            fail_msg("'%s' lacks '%s'", text, part);                                               \
    } while (0)

#endif
