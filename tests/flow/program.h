// The real program, run as users and scripts do: an argv, an environment, signals, an exit code.
//
// A test gets a `struct box`: a folder of its own with home, database and scratch files. What the
// program prints and what is parsed from it live as long as the box; at the end whatever still runs
// is killed and the folder removed, also when the test failed.
//
//     static void test(void **state)
//     {
//         struct box *b = *state;
//         struct result r = RUN(b, "check", "mm1", "--device", "none", "--json");
//         assert_int_equal(r.code, 0);
//         assert_string_equal(text_of(json_of(b, r.out), "size"), "4152720");
//     }
//     FLOW_TEST(test) in the list of the test program
//
// No shell is involved, every wait is bounded (the test fails when it takes too long; patience.h
// says what counts), and the variables below are the only ones that differ from the environment of
// the test itself: TILEWALK_DB, HOME and the XDG folders point into the box.
#ifndef TILEWALK_TESTS_PROGRAM_H
#define TILEWALK_TESTS_PROGRAM_H

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#define EXIT_SKIPPED 77
#define XGBOOST      (getenv("TILEWALK_XGBOOST") != NULL) // the program was built with it
#define MOST_RUNNING 16

struct running {
    pid_t pid; // 0: it has ended
    FILE *out, *err;
};

struct box {
    char *folder;
    struct arena arena;
    const char *program;                  // NULL: the one that was built
    void (*prepare)(const struct box *b); // in the child, before the program starts; may be NULL
    struct running running[MOST_RUNNING];
    int started;
    char *environment[32]; // "NAME=value" or "NAME": unset
    int variables;
    cJSON **json;
    int jsons, json_capacity;
};

struct result {
    int code; // 128 + n when signal n ended the program
    const char *out, *err;
};

int box_setup(void **state);
int box_teardown(void **state);
int remove_folder(const char *path); // with all that is in it; 0 when it is gone
#define FLOW_TEST(name) cmocka_unit_test_setup_teardown(name, box_setup, box_teardown)

// Sets a variable for the runs that follow; NULL unsets it.
void box_set(struct box *b, const char *name, const char *value);
const char *box_get(const struct box *b, const char *name); // what was set; NULL: nothing
const char *box_path(struct box *b, const char *name);      // in the box's folder
const char *box_write(struct box *b, const char *name, const char *text);
char *box_read(struct box *b, const char *path);        // fails the test when it cannot
const char *flow_path(struct box *b, const char *name); // a file that lies beside these tests

struct result run_list(struct box *b, const char *const *arguments);
struct running *start_list(struct box *b, const char *const *arguments);
#define RUN(b, ...)   run_list((b), (const char *const[]){__VA_ARGS__, NULL})
#define START(b, ...) start_list((b), (const char *const[]){__VA_ARGS__, NULL})

const char *printed_so_far(struct box *b, const struct running *r);
// Returns what was written to a pseudo terminal by now, of whose ends the caller holds both.
char *read_terminal(struct box *b, int master, int slave);
void freeze(const struct running *r); // SIGSTOP; returns when it stands still
void send_signal(const struct running *r, int signal_number);
struct result finish(struct box *b, struct running *r); // waits for its end

// Calls `holds` until it is true, some hundred times a second; fails the test, naming `what`, when
// it never becomes true.
void wait_until(struct box *b, const char *what, bool (*holds)(struct box *b, void *context),
                void *context);
// Does the same; the failure also prints the last text of `seen`.
void wait_and_tell(struct box *b, const char *what, bool (*holds)(struct box *b, void *context),
                   const char *(*seen)(struct box *b, void *context), void *context);

// JSON. A member that is missing or has another type fails the test.
cJSON *json_of(struct box *b, const char *text); // exactly one value
int64_t count_trials(const char *out);           // trials in what a run said with --json
int json_lines(struct box *b, const char *text, cJSON ***lines); // every line parses
cJSON *member(const cJSON *object, const char *name);
const char *text_of(const cJSON *object, const char *name);
double number_of(const cJSON *object, const char *name);
bool is_null(const cJSON *object, const char *name);

void assert_ok(const struct result *r); // exit code 0

// Checks an error: exit code, nothing on stdout, and one line that holds every given word. A
// failure names the line of the test.
void assert_one_line(const char *text);
void assert_contains(const char *text, const char *part);
int count_parts(const char *text, const char *part); // how often the part stands in the text
#define assert_refused(r, code, part, other_part)                                                  \
    check_refused((r), (code), (part), (other_part), __LINE__)
void check_refused(const struct result *r, int code, const char *part, const char *other_part,
                   int line);

#endif
