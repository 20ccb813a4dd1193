// What several commands need: the options they share, opening the database, naming sessions,
// writing values for people and for programs.
#ifndef TILEWALK_CLI_COMMON_H
#define TILEWALK_CLI_COMMON_H

#include "base/json.h"
#include "base/shown.h"
#include "cli/command.h"
#include "engine/engine.h"
#include "engine/speed.h"
#include "gpu/gpu.h"
#include "report/text.h"
#include "simulate/simulate.h"

#define OPTION_DB                                                                                  \
    {                                                                                              \
        "db", OPTION_TEXT, "FILE", "database (default: $TILEWALK_DB, else the user's data folder)" \
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
#define OPTION_DEVICE                                                                              \
    {                                                                                              \
        "device", OPTION_TEXT, "DEVICE",                                                           \
            "index or part of a name (default: the best one; see tilewalk devices)"                \
    }
#define OPTION_GLSLANG                                                                             \
    {                                                                                              \
        "glslang", OPTION_TEXT, "PROGRAM",                                                         \
            "path of a glslangValidator or glslc to compile with (default: $TILEWALK_GLSLANG, "    \
            "else the glslang that is built in)"                                                   \
    }
#define OPTION_SANDBOX                                                                             \
    {                                                                                              \
        "no-sandbox", OPTION_FLAG, NULL,                                                           \
            "let space files, templates and drivers do all that you may (also: "                   \
            "TILEWALK_SANDBOX=0)"                                                                  \
    }
#define OPTION_HELP                                                                                \
    {                                                                                              \
        "help", OPTION_FLAG, NULL, "show this text"                                                \
    }
#define OPTION_END                                                                                 \
    {                                                                                              \
        NULL                                                                                       \
    }

// The --set NAME=VALUE given, in `storage`, but for the values, which point into argv.
struct setting *common_settings(const struct arguments *a, struct arena *storage, int *count);

char *common_database(const struct arguments *a); // path of --db, else the standard one; heap
struct store *common_open(const struct arguments *a, enum store_mode mode, struct err *e);
// The user names no database, and the standard one is not there: there are no sessions.
bool common_nothing_yet(const struct arguments *a);
struct store *common_open_session(const struct arguments *a, int64_t id,
                                  struct err *e); // to read; nothing is made
// A session's own running time is that of its last change of state: brings that of one that has
// been running since, though its runner may have died, up to its last trial.
void common_take_ran(struct store *s, struct session_record *r);
// For people: what a database says within a line is shown within it (base/shown.h).
void common_show_record(struct arena *a, struct session_record *r);
bool common_session_id(const char *text, int64_t *id, struct err *e);
// Who runs what: a task of a network is paused, stopped and resumed with the whole of it.
bool common_take_network(struct store *s, int64_t *id, struct err *e);

// Whether lines for people keep to ASCII: the locale (main called setlocale) is not UTF-8.
bool common_ascii(void);

// JSON (docs/json.md). Of trials and sessions the members, into the object that is open;
// `final_race` may be NULL.
void json_trial(struct json_writer *w, const struct session_record *r, const struct trial_record *t,
                const struct retime_record *final_race);
void json_best(struct json_writer *w, const struct session_record *r, const struct trial_record *t,
               const struct retime_record *final_race); // the member "best"; `t` may be NULL
void json_session(struct json_writer *w, const struct session_record *r,
                  enum session_state runner_state);
// The members that say nothing of which card it is, nor of where it is.
void json_device_facts(struct json_writer *w, const struct gpu_info *i);
void json_device(struct json_writer *w, const struct gpu_info *i, const struct roof *roof);

// What is to be simulated: operands (recordings), --strategy, --trials, --repeats, --seed. The
// strings are those of `a`.
struct simulate_words common_simulation(const struct arguments *a);

#endif
