// Turns names of other programs into words that network files can hold. Internal to this folder.
#ifndef TILEWALK_IMPORT_WORDS_H
#define TILEWALK_IMPORT_WORDS_H

#include "base/str.h"

char words_plain(char c); // `c` if it is a letter, a digit, '.' or '-'; else '_'
// Appends a text that can stand in quotes; blanks are kept, and a long text is cut.
void words_add_plain(struct str *s, const char *text);
// Returns whether presets take weights of this type.
bool words_is_tuned(const char *type);
// Returns the element as which weights of this type are tuned: f16 for types that presets do not
// take.
const char *words_element(const char *type);

#endif
