// Helpers of several commands: the options they share, opening the database, naming sessions,
// writing values for people and for programs.
#ifndef TILEWALK_CLI_COMMON_H
#define TILEWALK_CLI_COMMON_H

#include "base/json.h"
#include "base/shown.h"
#include "cli/command.h"
#include "engine/engine.h"
#include "engine/network_summary.h"
#include "engine/speed.h"
#include "gpu/gpu.h"
#include "report/text.h"

enum { MOST_WORKERS = 64 }; // of --workers

#define OPTION_DB                                                                                  \
    {                                                                                              \
        "db", OPTION_TEXT, "FILE", "database (default: $TILEWALK_DB, else the user's data folder)" \
    }
#define OPTION_ANYWAY                                                                              \
    {                                                                                              \
        "anyway", OPTION_FLAG, NULL,                                                               \
            "also where the best is not shown to be faster than what is in use"                    \
    }
#define OPTION_JSON                                                                                \
    {                                                                                              \
        "json", OPTION_FLAG, NULL, "print JSON only"                                               \
    }
#define OPTION_SET                                                                                 \
    {                                                                                              \
        "set", OPTION_LIST, "NAME=VALUE",                                                          \
            "problem size, overriding the space file's; may be repeated"                           \
    }
#define OPTION_SHIPPED                                                                             \
    {                                                                                              \
        "shipped", OPTION_FLAG, NULL,                                                              \
            "take the preset or network that ships, although you have a copy of it (ops --copy)"   \
    }
#define OPTION_DEVICE                                                                              \
    {                                                                                              \
        "device", OPTION_TEXT, "DEVICE",                                                           \
            "index or part of a name (default: the best one; see tilewalk devices)"                \
    }
#define OPTION_GLSLANG                                                                             \
    {                                                                                              \
        "glslang", OPTION_TEXT, "PROGRAM",                                                         \
            "glslangValidator or glslc to compile with (default: $TILEWALK_GLSLANG, else built "   \
            "in)"                                                                                  \
    }
#define OPTION_SANDBOX                                                                             \
    {                                                                                              \
        "no-sandbox", OPTION_FLAG, NULL,                                                           \
            "let space files, templates and drivers do all that you may (TILEWALK_SANDBOX=0)"      \
    }
#define OPTION_FAULT                                                                               \
    {                                                                                              \
        "fault", OPTION_TEXT, "KIND@PHASE:N", "inject a fault", 0, 0, true                         \
    }
#define OPTION_END                                                                                 \
    {                                                                                              \
        NULL                                                                                       \
    }

// Returns the exit code of a command: EXIT_OK, or EXIT_FAILED once `e` is printed.
int common_exit(bool ok, const struct err *e);
void common_print(struct str *text);                        // to stdout, and frees it
const char *common_keep(struct arena *a, struct str *text); // moves a text into the arena
// Handles HUP, INT and TERM. `flags` are those of sigaction.
void common_on_signals(void (*handler)(int number), int flags);

// The --set NAME=VALUE given, in `storage`, but for the values, which point into argv.
struct setting *common_settings(const struct arguments *a, struct arena *storage, int *count);

// Returns the path of the preset, network or file of the first operand, in `storage`. Where there
// is a shipped one and the user's copy, says on stderr which of the two it is.
const char *common_space(const struct arguments *a, bool network, struct arena *storage,
                         struct err *e);

// The device of --device. Without --device `device` is NULL where no device can be chosen; a device
// that is named and not there is an error. `list` is heap.
struct device_choice {
    struct gpu_info *list;
    int count;
    const struct gpu_info *device; // NULL: none
};
bool common_choose_device(const struct arguments *a, struct device_choice *out, struct err *e);

char *common_database(const struct arguments *a); // path of --db, else the standard one; heap
struct store *common_open(const struct arguments *a, enum store_mode mode, struct err *e);
// Returns true where the user names no database and the standard one is not there.
bool common_nothing_yet(const struct arguments *a);
struct store *common_open_session(const struct arguments *a, int64_t id,
                                  struct err *e); // to read; no database is made
// Moves the running time of a session that is running up to its last trial: the stored time is that
// of the last change of state, and the runner may have died.
void common_take_ran(struct store *s, struct session_record *r);
// Lets the paused session of the first operand go on where its process waits for that, or has been
// asked to pause and has not done so yet. `waited` says whether it did.
bool common_continue(const struct arguments *a, bool *waited, struct err *e);
// Escapes the texts of a record for people (base/shown.h).
void common_show_record(struct arena *a, struct session_record *r);
bool common_session_id(const char *text, int64_t *id, struct err *e);
// Replaces the session of a task by its network, which is paused, stopped and resumed as a whole.
bool common_take_network(struct store *s, int64_t *id, struct err *e);

// Facts in which two sessions may differ.
enum {
    FACT_PROBLEM = 1 << 0,
    FACT_DEVICE = 1 << 1,
    FACT_DRIVER = 1 << 2,
    FACT_SOURCE = 1 << 3,
    FACT_SPACE = 1 << 4,
    FACT_SETTINGS = 1 << 5,
    FACT_OBJECTIVE = 1 << 6,
    FACT_TIMING = 1 << 7,
    FACT_FILES = 1 << 8, // versions of the space's files
    FACTS_ALL = (1 << 9) - 1,
};
// Fails where two sessions differ in one of `facts`: "sessions 1 and 2 PURPOSE: they have different
// devices (A and B)".
bool common_alike(const struct session_record *a, const struct session_record *b, unsigned facts,
                  const char *purpose, struct err *e);

bool common_ascii(void); // lines for people keep to ASCII: the locale is not UTF-8

// JSON (docs/reference/json.md). Trials and sessions are written as members of the object that is
// open; `final_race` may be NULL.
void json_trial(struct json_writer *w, const struct session_record *r, const struct trial_record *t,
                const struct retime_record *final_race);
void json_best(struct json_writer *w, const struct session_record *r, const struct trial_record *t,
               const struct retime_record *final_race); // the member "best"; `t` may be NULL
void json_session(struct json_writer *w, const struct session_record *r,
                  enum session_state runner_state);
// Writes the members that identify neither the card nor its place.
void json_device_facts(struct json_writer *w, const struct gpu_info *i);

// Texts and JSON of a network that is tuned. Add the members "tasks", "latency" and "sum_of_parts"
// (docs/reference/json.md), those of a whole run, and those of EVENT_ROUND, to the object that is
// open.
void network_add_json(struct json_writer *w, const struct network_summary *n);
void network_add_whole(struct json_writer *w, const struct whole_record *r);
void network_add_round(struct json_writer *w, const struct event *event);
void network_print_table(const struct network_summary *n); // its tasks and the whole
void network_print_round(const struct event *event);

// False: the session's best was compared with a kernel in use, and is not shown to be faster. What
// other people read is written then only with --anyway.
bool common_check_verdict(const struct arguments *a, struct store *store, int64_t session,
                          struct err *e);

#endif
