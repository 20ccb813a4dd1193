// Commands: each has a file of its own, NAME.c, with a table of what it takes.
//
// These tables are the only place where commands and options are written down: parsing, --help, the
// manual page and the shell completions are all made from them (arguments.c, generate.c). A command
// gets its parsed arguments and returns an exit code.
#ifndef TILEWALK_CLI_COMMAND_H
#define TILEWALK_CLI_COMMAND_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct arguments;

enum option_type {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_WORD, // one of those that help shows: "auto|dark|light"
    OPTION_INTEGER,
    OPTION_REAL,
    OPTION_LIST,    // of NAME=VALUE, one each time it is given
    OPTION_REPEATED // of texts, one each time it is given
};

struct option {
    const char *name; // without the dashes
    enum option_type type;
    const char *value; // how help calls its value; NULL for flags
    const char *help;
    double low, high; // of numbers, inclusive
    bool hidden;      // for tests
};

struct command {
    const char *name, *operands, *help;
    int least, most;              // operands
    const struct option *options; // ends with a NULL name
    int (*run)(const struct command *self, const struct arguments *a);
    bool hidden;
    bool draws;        // screens, on the terminal itself (workbench.h)
    bool in_workbench; // on a terminal, the workbench runs and shows it (workbench.h)
};

extern const struct command *const commands[]; // NULL-terminated, in the order of help
const struct command *command_find(const char *name);

// What was given. Texts point into argv.
struct arguments {
    int operand_count;
    const char **operand;
    struct given *given;
    int given_count;
    char *const *word; // all of it, as it was given
    int word_count;
};

// `argv` holds what follows the command's name. Numbers are checked against their ranges.
bool arguments_parse(const struct command *c, int argc, char **argv, struct arguments *out,
                     struct err *e);
void arguments_finish(struct arguments *a);
bool arguments_flag(const struct arguments *a, const char *name);
const char *arguments_text(const struct arguments *a,
                           const char *name); // the last one given; NULL: none
int64_t arguments_integer(const struct arguments *a, const char *name, int64_t standard);
double arguments_real(const struct arguments *a, const char *name, double standard);
int arguments_list(const struct arguments *a, const char *name, const char **out,
                   int most); // all given, in order

void command_print_help(const struct command *c);
void command_print_overview(void);
bool generate(const char *what); // "man", "bash", "zsh", "fish" to stdout; false: unknown

#endif
