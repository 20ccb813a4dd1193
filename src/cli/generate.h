// What is made from the table of commands (command.h): the shell completions and the manual page.
//
// Each function appends one whole text to `out`. Hidden commands and options are left out. What can
// stand in a place is read off the word that help shows there: "PRESET|FILE" is the name of a
// shipped preset or a file, "RECORDING" a file too, "DIR" a folder, "STRATEGY" the name of a search
// strategy, "ID" a session that is there when it is completed (the scripts ask `tilewalk completion
// sessions`, which no help shows), words in small letters ("bash|zsh|fish") stand for themselves,
// and nothing is known of all others ("N"). What follows a word does not count: "ID[,...]".
//
// Presets are those that ship with the program when the text is made.
#ifndef TILEWALK_CLI_GENERATE_H
#define TILEWALK_CLI_GENERATE_H

#include "base/str.h"
#include "cli/command.h"

void generate_man(struct str *out);
void generate_bash(struct str *out);
void generate_zsh(struct str *out);
void generate_fish(struct str *out);

// What may stand in one place.
struct place_words {
    bool files, folders;
    struct str words; // separated by blanks; str_finish
};

struct place_words place_words(const char *shown); // "PRESET|FILE"; NULL: nothing

// Steps through what is not hidden: NULL begins and ends.
const struct option *option_next(const struct command *c, const struct option *previous);
const struct command *const *command_next(const struct command *const *previous);

#endif
