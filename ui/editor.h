// The user's editor, on the terminal.
#ifndef TILEWALK_UI_EDITOR_H
#define TILEWALK_UI_EDITOR_H

#include "config.h"

// The command that starts the user's editor: that of workbench.conf, else $VISUAL, $EDITOR, vi. It
// may be several words ("code --wait").
const char *editor_of(const struct ui_config *c);
// Opens `path` at `line` (0: anywhere; also when the editor fails with +LINE, which not all know)
// and waits for its end; `meanwhile` is called some times a second. False: it failed.
bool editor_run(const char *path, int line, void (*meanwhile)(void *context), void *context);
// Replaces the calling process, a new one of starter.h's, by the editor.
_Noreturn void editor_become(const struct ui_config *c, const char *path, int line);

#endif
