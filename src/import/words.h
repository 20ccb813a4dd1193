// Turns names of other programs into words that network files can hold. For this folder only.
#ifndef TILEWALK_IMPORT_WORDS_H
#define TILEWALK_IMPORT_WORDS_H

#include "base/str.h"

char words_plain(char c); // `c` if it is a letter, a digit, '.' or '-'; else '_'
// Appends a text that can stand in quotes; blanks are kept, and a long text is cut.
void words_add_plain(struct str *s, const char *text);
// Whether presets take weights of this type, and the element that such weights are tuned as: f16
// for types that presets do not take.
bool words_is_tuned(const char *type);
const char *words_element(const char *type);

#endif
