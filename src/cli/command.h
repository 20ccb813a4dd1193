// Commands, each with a table of its options.
//
// These tables are the only place where commands and options are written down. Parsing, --help, the
// manual page and the shell completions are all made from them (arguments.c, generate.c). A command
// gets its parsed arguments and returns an exit code.
#ifndef TILEWALK_CLI_COMMAND_H
#define TILEWALK_CLI_COMMAND_H

#include "base/err.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct arguments;

enum option_type {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_WORD, // one of the words in `value`: "auto|dark|light"
    OPTION_INTEGER,
    OPTION_REAL,
    OPTION_LIST,    // NAME=VALUE; may be given several times
    OPTION_REPEATED // a text; may be given several times
};

struct option {
    const char *name; // without the dashes
    enum option_type type;
    const char *value; // its value's name in help; NULL for flags
    const char *help;
    double low, high; // range of numbers, inclusive
    bool hidden;      // left out of help: for tests, or an old spelling
    // The options that an old spelling stands for, "as=table out=*", where * is its own value. "":
    // it is gone, and `help` says what to use instead.
    const char *now;
};

struct command {
    const char *name, *operands, *help;
    int least, most;              // number of operands
    const struct option *options; // ends with a NULL name
    int (*run)(const struct command *self, const struct arguments *a);
    bool hidden;
    bool draws;        // draws screens on the terminal itself (workbench.h)
    bool in_workbench; // is run and shown by the workbench on a terminal (workbench.h)
};

extern const struct command *const commands[]; // NULL-terminated, in the order of help

// The command line. Texts point into argv.
struct arguments {
    int operand_count;
    const char **operand;
    struct given *given;
    int given_count;
    char *const *word; // the whole of it
    int word_count;
    struct arena arena; // values that old spellings stand for
};

// `argv` follows the command's name. Numbers are checked against their ranges.
bool arguments_parse(const struct command *c, int argc, char **argv, struct arguments *out,
                     struct err *e);
void arguments_finish(struct arguments *a);
bool arguments_flag(const struct arguments *a, const char *name); // also: an option was given
// Return the last value given. The text is NULL where there is none.
const char *arguments_text(const struct arguments *a, const char *name);
int64_t arguments_integer(const struct arguments *a, const char *name, int64_t standard);
double arguments_real(const struct arguments *a, const char *name, double standard);
// Returns the number of all values given, which are in `out`, in order.
int arguments_list(const struct arguments *a, const char *name, const char **out, int most);

void command_print_help(const struct command *c);
void command_print_overview(void);
// Prints the completions for "bash", "zsh" or "fish"; returns false for another word.
bool generate(const char *what);

#endif
