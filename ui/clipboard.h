// The terminal's clipboard: OSC 52, a control sequence that most terminals of today know.
#ifndef TILEWALK_UI_CLIPBOARD_H
#define TILEWALK_UI_CLIPBOARD_H

#include "base/str.h"

// Adds the bytes that put `text` into the clipboard of a terminal of this type. False, and nothing
// is added: it is an old type that would print them (or NULL), or the text is too long for most
// terminals.
bool clipboard_add(struct str *out, const char *terminal, const char *text);

#endif
