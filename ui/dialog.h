// Dialogs: a form over the frame, which always shows the command line that does the same.
//
// A dialog is a list of fields, a few lines of preview, and the words of a command line, which are
// made anew after every edit. Enter on the first button (or ctrl-x or F10 anywhere) runs it; Esc
// leaves and changes nothing; Tab and arrows move; Space toggles and picks. `y` on the button row
// copies the command line.
//
//     static const struct dialog_kind kind = {"Export", "Export", false, words, NULL};
//     struct dialog *d = dialog_open(app, &kind);
//     dialog_add_text(d, "folder", "Folder", "export");
//     dialog_add_choice(d, "what", "What", choices, 0);
//     dialog_add_check(d, "verify", "Verify again before writing", true);
//
// Questions ("Delete session 3 ...?") are dialogs without fields.
#ifndef TILEWALK_UI_DIALOG_H
#define TILEWALK_UI_DIALOG_H

#include "keys.h"
#include "screen.h"

#include <stddef.h>

struct app;
struct dialog;
struct job_record;

#define DIALOG_MOST_WORDS 64

// Fills in the words of the command line, without "tilewalk"; NULL-terminated, all NULL before.
// Texts that are made for it live in the dialog (dialog_text). Returns an error to show instead
// when the fields do not make sense, else NULL.
typedef const char *dialog_words(struct dialog *d, void *context,
                                 const char *words[DIALOG_MOST_WORDS]);

struct dialog_kind {
    const char *title, *button;
    // A question about what cannot be taken back: the button that has the focus at first is the one
    // that changes nothing.
    bool is_question;
    dialog_words *words;
    // Called after every edit and move, before the words are made anew (to refresh a preview); may
    // be NULL.
    void (*changed)(struct app *app, struct dialog *d, void *context);
    // The dialog stays, with its fields, until the run that it started has a session.
    bool waits;
    // Gets the end of the command, in the place of the app; NULL: the app has it.
    void (*on_end)(void *app, const struct job_record *job);
};

// Puts an empty dialog over the app, in the place of another one. `kind` outlives it.
struct dialog *dialog_open(struct app *app, const struct dialog_kind *kind);
void dialog_destroy(struct dialog *d); // NULL is fine
// Makes the context of its functions, all zero, and keeps a text: both live as long as the dialog.
void *dialog_context(struct dialog *d, size_t size);
const char *dialog_keep(struct dialog *d, const char *text);
void dialog_add_text(struct dialog *d, const char *name, const char *label, const char *value);
void dialog_add_choice(struct dialog *d, const char *name, const char *label,
                       const char *const *choices, int chosen); // NULL-terminated; copied
void dialog_add_check(struct dialog *d, const char *name, const char *label, bool on);
// A check of the name DIALOG_FOLD shows and hides the folded fields. dialog_fold_last folds the
// field that was added last: all of it, or, of a choice, all but its first `seen` words and the one
// that is chosen. Hidden fields keep their values.
#define DIALOG_FOLD "fold"
void dialog_fold_last(struct dialog *d, int seen);
bool dialog_is_folded(const struct dialog *d);
void dialog_set_text(struct dialog *d, const char *name, const char *value);
void dialog_add_line(struct dialog *d, const char *text);    // plain text above the buttons
void dialog_set_preview(struct dialog *d, const char *text); // lines; replaces the last
// Takes note of the dry run whose output is to be the preview. False: it is the newest already.
bool dialog_asks_preview(struct dialog *d, const char *command);
// Takes the output of a dry run, or why it failed; not of an older one than the newest.
void dialog_end_preview(struct dialog *d, const char *command, const char *text, bool ok);
const char *dialog_value(const struct dialog *d, const char *name); // text, or the choice's text
bool dialog_is_on(const struct dialog *d, const char *name);
bool dialog_has(const struct dialog *d, const char *name); // there is a field of that name
const char *dialog_text(struct dialog *d, const char *format, ...)
    __attribute__((format(printf, 2, 3))); // lives until the words are made again

// Returns the name of the field with the focus; "": a button has it.
const char *dialog_focus(const struct dialog *d);
bool dialog_waits(const struct dialog *d);           // for its run
void dialog_fail(struct dialog *d, const char *why); // of that run: the fields can be mended

bool dialog_takes_text(const struct dialog *d); // the focus is on a text field
void dialog_draw(struct app *app, struct dialog *d, const struct pane *whole);
// False: the dialog is finished (destroy it).
bool dialog_key(struct app *app, struct dialog *d, int32_t key);

// --- the dialogs (dialogs.c) ---

// `a` is ACT_STOP, ACT_BUDGET, ACT_RESUME, ACT_NOTE, ACT_EXPORT or ACT_DUPLICATE.
void open_session_dialog(struct app *app, enum action a);
// `changed`: for the open session's space file as it is now; else for any space, that one first.
void open_new_session(struct app *app, bool changed);
void ask_command(struct app *app, const char *const *words); // before it is run
// Asks before the file `path` of a preset or a network that ships is copied to `copy`.
void ask_copy(struct app *app, const char *path, const char *copy);

#endif
