// Words of other programs as words of network files. Of this folder only.
#ifndef TILEWALK_IMPORT_WORDS_H
#define TILEWALK_IMPORT_WORDS_H

#include "base/str.h"

char words_plain(char c);                              // a letter, a digit, '.', '-'; else '_'
void words_add_plain(struct str *s, const char *text); // for a text in quotes, blanks kept; cut
// Types of weights. Those that presets do not take are tuned as f16.
bool words_is_tuned(const char *type);
const char *words_element(const char *type);

#endif
