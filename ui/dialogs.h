// What the files of the dialogs share, for them alone. Each dialog asks something, and makes a
// command line of the answers.
//
//   dialogs.c         questions; budget, note, resume
//   dialogs_export.c  export, with a preview
//   dialogs_new.c     new sessions: again, or of any space
#ifndef TILEWALK_UI_DIALOGS_H
#define TILEWALK_UI_DIALOGS_H

#include "app.h"
#include "dialog.h"

// What a dialog is about; freed with it.
struct topic {
    int64_t id;
    int64_t trials;     // spent
    char previewed[64]; // what the preview of an export was made for
};

struct topic *dialog_topic(const struct session_row *row);
void dialog_open(struct app *app, struct dialog *d);
const char *dialog_number(struct dialog *d, int64_t n); // a word
bool dialog_is_count(const char *text);                 // 1, 2, ...
// A line on the session; of the open one there is newer news than the list's.
void dialog_describe(struct app *app, struct dialog *d, const struct session_row *row);
// A line if a session other than `but` runs on the device (NULL: on any): runs that share one
// disturb each other's times.
void dialog_warn_of_others(struct app *app, struct dialog *d, const char *device, int64_t but);

#endif
