// Help and shell completions, made from the table of commands (command.h). The manual is made from
// it too (manual.h).
//
// Each function appends one whole text to `out`. Hidden commands and options are left out. The word
// that help shows for a value determines its completion: "PRESET|FILE" is the name of a shipped
// preset or a file, "RECORDING" a file too, "DIR" a folder, "STRATEGY" the name of a search
// strategy, "ID" a session that is there when it is completed (the scripts call `tilewalk
// completion sessions`, which no help shows). Words in small letters ("bash|zsh|fish") stand for
// themselves, others ("N") have no completion. The end of a word does not count: "ID[,...]".
//
// Presets are those that ship with the program when the text is made.
#ifndef TILEWALK_CLI_GENERATE_H
#define TILEWALK_CLI_GENERATE_H

#include "base/str.h"
#include "cli/command.h"

// Return the next option or command that is not hidden, the first behind NULL; NULL: there is none.
const struct option *option_next(const struct command *c, const struct option *previous);
const struct command *const *command_next(const struct command *const *previous);

void generate_bash(struct str *out);
void generate_zsh(struct str *out);
void generate_fish(struct str *out);

#endif
